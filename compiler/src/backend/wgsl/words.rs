//! The words that nothing of a text may be called: those of the language, and those of `shaders/`.

use super::prelude;

/// Words that mean something in WGSL, are kept for later, or are called by what is printed.
const OF_WGSL: &[&str] = &[
    // Keywords.
    "alias", "break", "case", "const", "const_assert", "continue", "continuing", "default", "diagnostic", "discard",
    "else", "enable", "false", "fn", "for", "if", "let", "loop", "override", "requires", "return", "struct", "switch",
    "true", "var", "while",
    // Kept for later.
    "NULL", "Self", "abstract", "active", "alignas", "alignof", "as", "asm", "asm_fragment", "async", "attribute",
    "auto", "await", "become", "cast", "catch", "class", "co_await", "co_return", "co_yield", "coherent",
    "column_major", "common", "compile", "compile_fragment", "concept", "const_cast", "consteval", "constexpr",
    "constinit", "crate", "debugger", "decltype", "delete", "demote", "demote_to_helper", "do", "dynamic_cast",
    "enum", "explicit", "export", "extends", "extern", "external", "fallthrough", "filter", "final", "finally",
    "friend", "from", "fxgroup", "get", "goto", "groupshared", "highp", "impl", "implements", "import", "inline",
    "instanceof", "interface", "layout", "lowp", "macro", "macro_rules", "match", "mediump", "meta", "mod", "module",
    "move", "mut", "mutable", "namespace", "new", "nil", "noexcept", "noinline", "nointerpolation", "non_coherent",
    "noncoherent", "noperspective", "null", "nullptr", "of", "operator", "package", "packoffset", "partition", "pass",
    "patch", "pixelfragment", "precise", "precision", "premerge", "priv", "protected", "pub", "public", "readonly",
    "ref", "regardless", "register", "reinterpret_cast", "require", "resource", "restrict", "self", "set", "shared",
    "sizeof", "smooth", "snorm", "static", "static_assert", "static_cast", "std", "subroutine", "super", "target",
    "template", "this", "thread_local", "throw", "trait", "try", "type", "typedef", "typeid", "typename", "typeof",
    "union", "unless", "unorm", "unsafe", "unsized", "use", "using", "varying", "virtual", "volatile", "wgsl", "where",
    "with", "writeonly", "yield",
    // Types, and what makes them.
    "array", "atomic", "bool", "f16", "f32", "f64", "i32", "i64", "u32", "u64", "ptr", "vec2", "vec3", "vec4", "mat2x2",
    "mat3x3", "mat4x4", "texture_2d", "sampler", "function", "private", "workgroup", "uniform", "storage", "immediate",
    "read", "write", "read_write", "push_constant", "handle",
    // Functions that texts call.
    "bitcast", "select", "min", "max", "clamp", "abs", "floor", "ceil", "trunc", "round", "sqrt", "pow", "exp", "log",
    "log2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "countLeadingZeros", "atomicMin",
    "atomicLoad", "workgroupBarrier", "storageBarrier", "all", "any",
    // What a text itself names.
    "sizes", "tables", "traps", "position", "block_id", "thread_id", "launch", "place",
];

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    OF_WGSL.iter().copied().chain(prelude::names())
}
