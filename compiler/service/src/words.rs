//! The language's own words: how each is written, and its meaning in a sentence or two.

use std::sync::LazyLock;

/// Which kind of word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordKind {
    /// `computation`, `PARALLEL`, `__INLINED`: what a stencil is built of.
    Language,
    /// A function of numbers.
    Function,
    Type,
    Axis,
    /// `interval`, `horizontal`, `region`.
    Range,
}

/// A word of the language.
#[derive(Clone, Copy, Debug)]
pub struct LanguageWord {
    pub name: &'static str,
    pub kind: WordKind,
    /// As it is written: `min(a, b)`.
    pub form: &'static str,
    pub about: &'static str,
}

const fn word(kind: WordKind, name: &'static str, form: &'static str, about: &'static str) -> LanguageWord {
    LanguageWord { name, kind, form, about }
}

use WordKind::{Axis, Function, Language, Range, Type};

/// The words that have something to tell, by kind and in the order of a completion.
pub fn all() -> impl Iterator<Item = &'static LanguageWord> {
    BEFORE_FUNCTIONS.iter().chain(FUNCTIONS.iter()).chain(&BEHIND_FUNCTIONS)
}

/// A row of the table of builtins tells what there is to tell of one.
static FUNCTIONS: LazyLock<Vec<LanguageWord>> = LazyLock::new(|| {
    let rows = isobar_ground::types::Function::builtins().map(isobar_ground::types::Function::row);
    rows.map(|it| word(Function, it.name, it.form, it.about)).collect()
});

static BEFORE_FUNCTIONS: [LanguageWord; 48] = [
    word(
        Language,
        "computation",
        "computation(order)",
        "A vertical loop: the levels of its intervals in the given order. Stands in a `with`, together with \
         `interval(...)` or around `with interval(...)` blocks.",
    ),
    word(
        Language,
        "PARALLEL",
        "computation(PARALLEL)",
        "No order: each statement is finished on all points and levels before the next one starts. A level may \
         not depend on what the same block computes on another.",
    ),
    word(
        Language,
        "FORWARD",
        "computation(FORWARD)",
        "From the first level to the last: all statements are finished on one level before the next, so a level \
         may read what was computed on those before it.",
    ),
    word(
        Language,
        "BACKWARD",
        "computation(BACKWARD)",
        "From the last level to the first: all statements are finished on one level before the next, so a level \
         may read what was computed on those behind it.",
    ),
    word(
        Range,
        "interval",
        "interval(start, end)",
        "The levels from `start` to before `end`. A negative number counts from the end, `None` is the end, and \
         `interval(...)` is all levels.",
    ),
    word(
        Range,
        "horizontal",
        "horizontal(region[i, j], ...)",
        "Limits the statements of its `with` to rectangles of columns, one after the other.",
    ),
    word(
        Range,
        "region",
        "region[i, j]",
        "A rectangle of columns relative to the compute domain. Each side is a slice `a:b` or one value; `I[0]` is \
         the first column and `I[-1]` the last.",
    ),
    word(
        Language,
        "__INLINED",
        "__INLINED(condition)",
        "The condition of an `if` that is decided while compiling: the branch that is not taken does not exist.",
    ),
    word(
        Language,
        "compile_assert",
        "compile_assert(condition)",
        "Refuses the stencil while compiling where the condition does not hold.",
    ),
    word(
        Language,
        "function",
        "@gtscript.function",
        "Makes a function that stencils can call. It is always inlined, and has one `return`.",
    ),
    word(
        Language,
        "stencil",
        "@gtscript.stencil(backend=..., externals={...})",
        "Builds a stencil. Any function with a `with computation(...)` is one, decorated or not.",
    ),
    word(
        Language,
        "lazy_stencil",
        "@gtscript.lazy_stencil(backend=..., externals={...})",
        "Builds a stencil when it is called first.",
    ),
    word(
        Language,
        "lazy_function",
        "@lazy_function(...)",
        "Makes a function that stencils can call, when it is used first.",
    ),
    word(
        Language,
        "gtscript",
        "gtscript",
        "The language's own module; its words are known without an import too.",
    ),
    word(
        Language,
        "externals",
        "externals={...}",
        "The values that `from __externals__ import ...` finds while the stencil is built.",
    ),
    word(
        Axis,
        "I",
        "I",
        "The first horizontal axis. `I[0]` is the first column of the compute domain, `I[-1]` the last.",
    ),
    word(
        Axis,
        "J",
        "J",
        "The second horizontal axis. `J[0]` is the first row of the compute domain, `J[-1]` the last.",
    ),
    word(
        Axis,
        "K",
        "K",
        "The vertical axis. In an expression the current level, as an integer, 0 at the start of the compute domain.",
    ),
    word(Axis, "IJK", "Field[IJK, type]", "All three axes: a volume."),
    word(Axis, "IJ", "Field[IJ, type]", "The horizontal axes: a surface."),
    word(Axis, "IK", "Field[IK, type]", "The axes I and K."),
    word(Axis, "JK", "Field[JK, type]", "The axes J and K."),
    word(
        Type,
        "Field",
        "Field[axes, type]",
        "An array with a value at every point of its axes. `Field[float]` has all three; a tuple behind the type \
         gives further dimensions: `Field[IJK, (float, (4,))]`.",
    ),
    word(
        Type,
        "GlobalTable",
        "GlobalTable[(type, sizes)]",
        "An array without axes, the same at every point; read as `table.A[i]`.",
    ),
    word(Type, "FloatField", "FloatField", "NDSL: a field of floats on all three axes."),
    word(Type, "FloatFieldIJ", "FloatFieldIJ", "NDSL: a field of floats on the horizontal axes."),
    word(Type, "FloatFieldI", "FloatFieldI", "NDSL: a field of floats along I."),
    word(Type, "FloatFieldJ", "FloatFieldJ", "NDSL: a field of floats along J."),
    word(Type, "FloatFieldK", "FloatFieldK", "NDSL: a field of floats along K."),
    word(Type, "IntField", "IntField", "NDSL: a field of integers on all three axes."),
    word(Type, "IntFieldIJ", "IntFieldIJ", "NDSL: a field of integers on the horizontal axes."),
    word(Type, "BoolField", "BoolField", "NDSL: a field of booleans on all three axes."),
    word(Type, "BoolFieldIJ", "BoolFieldIJ", "NDSL: a field of booleans on the horizontal axes."),
    word(Type, "Float", "Float", "NDSL: the float of the configured precision."),
    word(Type, "Int", "Int", "NDSL: the integer of the configured precision."),
    word(Type, "Bool", "Bool", "NDSL: a boolean."),
    word(
        Type,
        "float",
        "float(x)",
        "In a signature a 64-bit float. As a call: `x` as a float of the precision of literals.",
    ),
    word(
        Type,
        "int",
        "int(x)",
        "In a signature a 64-bit integer. As a call: `x` as an integer of the precision of literals, cut toward zero.",
    ),
    word(Type, "bool", "bool", "True or false."),
    word(Type, "float32", "float32(x)", "A float of 32 bits. As a call: `x` rounded to one."),
    word(Type, "float64", "float64(x)", "A float of 64 bits. As a call: `x` as one."),
    word(Type, "int32", "int32(x)", "An integer of 32 bits. As a call: `x` cut toward zero."),
    word(Type, "int64", "int64(x)", "An integer of 64 bits. As a call: `x` cut toward zero."),
    word(Type, "f32", "f32(x)", "Another name of `float32`."),
    word(Type, "f64", "f64(x)", "Another name of `float64`."),
    word(Type, "i32", "i32(x)", "Another name of `int32`."),
    word(Type, "i64", "i64(x)", "Another name of `int64`."),
    word(
        Type,
        "set_4d_field_size",
        "set_4d_field_size(n, type)",
        "NDSL: the field type with a further dimension of `n` values.",
    ),
];

static BEHIND_FUNCTIONS: [LanguageWord; 5] = [
    word(Language, "True", "True", "The condition that holds."),
    word(Language, "False", "False", "The condition that does not hold."),
    word(
        Language,
        "None",
        "None",
        "In an interval the end of the domain; as a default a field that may be left out.",
    ),
    word(
        Language,
        "__externals__",
        "from __externals__ import name",
        "The values that are given while the stencil is built.",
    ),
    word(
        Language,
        "__gtscript__",
        "from __gtscript__ import name",
        "The words of the language; importing them is optional.",
    ),
];

/// The entry of a word.
#[must_use]
pub fn word_named(name: &str) -> Option<&'static LanguageWord> {
    all().find(|it| it.name == name)
}

/// Python's words that a body may use, with what they do there.
pub const KEYWORDS: [(&str, &str); 13] = [
    ("if", "a branch, at every point its own"),
    ("elif", "a further condition of an `if`"),
    ("else", "where no condition of the `if` holds"),
    ("while", "a loop, at every point its own"),
    ("with", "opens a computation, an interval or a region"),
    ("and", "whether both hold"),
    ("or", "whether one of both holds"),
    ("not", "whether it does not hold"),
    ("return", "the result of a function"),
    ("from", "imports names"),
    ("import", "imports names"),
    ("def", "a stencil or a function"),
    ("pass", "nothing"),
];

/// The meaning of an axis offset that NDSL gives as an external.
#[must_use]
pub fn axis_offset(name: &str) -> Option<&'static str> {
    Some(match name {
        "i_start" => "the first column of the tile along I",
        "i_end" => "the last column of the tile along I",
        "j_start" => "the first row of the tile along J",
        "j_end" => "the last row of the tile along J",
        "local_is" => "the first column of the compute domain along I",
        "local_ie" => "the last column of the compute domain along I",
        "local_js" => "the first row of the compute domain along J",
        "local_je" => "the last row of the compute domain along J",
        "k_start" => "the first level of the compute domain",
        "k_end" => "the last level of the compute domain",
        _ => return None,
    })
}

/// The names that [`axis_offset`] knows.
pub const AXIS_OFFSETS: [&str; 8] =
    ["i_start", "i_end", "j_start", "j_end", "local_is", "local_ie", "local_js", "local_je"];

/// Modules that are known without a file.
pub const MODULES: [(&str, &str); 8] = [
    ("gt4py.cartesian.gtscript", "The words of the language."),
    ("ndsl.dsl.gt4py", "The words of the language, as NDSL passes them on."),
    ("ndsl.dsl.typing", "NDSL's types of fields and scalars."),
    ("ndsl.constants", "NDSL's physical constants."),
    ("__externals__", "The values that are given while the stencil is built."),
    ("__gtscript__", "The words of the language; importing them is optional."),
    ("math", "Constants such as `math.pi`, for use outside of bodies."),
    ("numpy", "Types and constants, for use outside of bodies."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_front::config::Config;
    use isobar_front::frontend::builtins;

    #[test]
    fn every_builtin_function_has_its_words() {
        for function in isobar_ground::types::Function::builtins() {
            let name = function.name();
            let word = word_named(name).expect(name);
            assert_eq!(word.kind, Function, "{function}");
            assert_eq!(word.form.matches(',').count() + 1, function.arity(), "{function}");
        }
    }

    #[test]
    fn every_word_is_one_of_the_language() {
        for word in all().filter(|it| !it.name.starts_with("__")) {
            let is_python = matches!(word.name, "True" | "False" | "None");
            assert!(
                is_python || builtins::language_name(word.name, &Config::default()).is_some(),
                "{}",
                word.name
            );
        }
    }

    #[test]
    fn words_are_told_once_and_in_sentences() {
        for (at, word) in all().enumerate() {
            assert!(all().take(at).all(|it| it.name != word.name), "{}", word.name);
            assert!(word.about.ends_with('.'), "{}", word.name);
        }
    }

    #[test]
    fn every_constant_and_module_is_known() {
        let path = ["ndsl", "constants"].map(str::to_owned);
        for name in builtins::known_names(&path) {
            assert!(builtins::module_attribute(&path, name, &Config::default()).is_some(), "{name}");
        }
        for (name, _) in MODULES.iter().filter(|(it, _)| !it.starts_with("__g") && *it != "ndsl.constants") {
            let path: Vec<String> = name.split('.').map(str::to_owned).collect();
            assert!(builtins::is_builtin_module(&path), "{name}");
        }
    }

    #[test]
    fn every_axis_offset_is_a_known_external() {
        for name in AXIS_OFFSETS {
            assert!(
                axis_offset(name).is_some() && isobar_front::config::External::of_single_tile(name).is_some()
            );
        }
    }
}
