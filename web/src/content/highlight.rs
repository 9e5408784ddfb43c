//! Colours for the texts of the stages: each language has its words, comments and strings.

use isobar_compiler::pipeline::Stage;

use crate::widgets::listing::{Painter, Token};

/// The lexical rules by which a language is coloured.
struct Language {
    keywords: &'static [&'static str],
    types: &'static [&'static str],
    /// The sign that begins a comment up to the end of the line.
    comment: &'static str,
    /// Whether `/*` begins a comment that `*/` ends, on whichever line.
    has_blocks: bool,
    /// Signs that begin and end a string.
    quotes: &'static str,
    /// Whether three quotes begin a string that may end on another line.
    has_docstrings: bool,
    /// Whether a line that begins with `#` speaks to the preprocessor.
    is_preprocessed: bool,
    /// Whether `@` begins an attribute, or a decorator.
    has_attributes: bool,
    /// Whether `%` begins a name.
    has_percent: bool,
    /// Words behind which the name stands that they define.
    definitions: &'static [&'static str],
}

/// The levels of the compiler: they share their words.
const LEVEL: Language = Language {
    keywords: &[
        "stencil",
        "field",
        "fields",
        "temporary",
        "temporaries",
        "scalar",
        "scalars",
        "parallel",
        "forward",
        "backward",
        "computation",
        "interval",
        "section",
        "vertical",
        "loop",
        "horizontal",
        "region",
        "execution",
        "if",
        "elif",
        "else",
        "while",
        "for",
        "in",
        "out",
        "inout",
        "return",
        "start",
        "end",
        "and",
        "or",
        "not",
        "map",
        "state",
        "tasklet",
        "memlet",
        "access",
        "container",
        "let",
        "function",
        "call",
        "param",
        "params",
        "domain",
        "with",
        "read",
        "write",
        "schedule",
        "sweep",
        "block",
        "program",
        "kernel",
        "stage",
        "barrier",
        "threads",
        "simd",
        "memory",
        "given",
        "shift",
        "along",
        "packed",
        "private",
        "shared",
        "step",
        "steps",
        "ascending",
        "descending",
        "keeping",
        "break",
        "on",
        "where",
    ],
    types: &[
        "float32", "float64", "int8", "int16", "int32", "int64", "bool", "I", "J", "K", "IJ", "IJK", "IK",
        "JK",
    ],
    comment: "# ",
    has_blocks: false,
    quotes: "\"",
    has_docstrings: false,
    is_preprocessed: false,
    has_attributes: false,
    has_percent: true,
    definitions: &["stencil", "program", "kernel", "function"],
};

const PYTHON: Language = Language {
    keywords: &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
        "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
        "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    ],
    types: &[
        "bool", "bytes", "complex", "dict", "float", "int", "list", "object", "set", "str", "tuple", "type",
    ],
    comment: "#",
    has_blocks: false,
    quotes: "\"'",
    has_docstrings: true,
    is_preprocessed: false,
    has_attributes: true,
    has_percent: false,
    definitions: &["def", "class"],
};

const C: Language = Language {
    keywords: &[
        "auto",
        "break",
        "case",
        "const",
        "constexpr",
        "continue",
        "default",
        "do",
        "else",
        "enum",
        "extern",
        "for",
        "goto",
        "if",
        "inline",
        "register",
        "restrict",
        "return",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "typedef",
        "typename",
        "union",
        "volatile",
        "while",
        "__restrict__",
        "__restrict",
        "__global__",
        "__device__",
        "__shared__",
        "__host__",
        "__forceinline__",
        "__launch_bounds__",
        "__syncthreads",
        "_Bool",
        "_Noreturn",
        "_Alignas",
        "true",
        "false",
        "NULL",
    ],
    types: &[
        "bool",
        "char",
        "double",
        "float",
        "int",
        "long",
        "short",
        "signed",
        "unsigned",
        "void",
        "size_t",
        "ptrdiff_t",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "isobar_call",
        "isobar_field",
        "isobar_trap",
        "dim3",
    ],
    comment: "//",
    has_blocks: true,
    quotes: "\"'",
    has_docstrings: false,
    is_preprocessed: true,
    has_attributes: false,
    has_percent: false,
    definitions: &[],
};

const WGSL: Language = Language {
    keywords: &[
        "alias",
        "break",
        "case",
        "const",
        "const_assert",
        "continue",
        "continuing",
        "default",
        "diagnostic",
        "discard",
        "else",
        "enable",
        "false",
        "fn",
        "for",
        "if",
        "let",
        "loop",
        "override",
        "requires",
        "return",
        "struct",
        "switch",
        "true",
        "var",
        "while",
        "read",
        "write",
        "read_write",
        "storage",
        "workgroup",
        "private",
        "function",
        "uniform",
    ],
    types: &[
        "array", "atomic", "bool", "f16", "f32", "f64", "i32", "i64", "u32", "u64", "mat2x2", "mat3x3",
        "mat4x4", "ptr", "vec2", "vec3", "vec4", "vec2u", "vec3u", "vec2i", "vec3i", "vec2f", "vec3f",
        "vec4f",
    ],
    comment: "//",
    has_blocks: true,
    quotes: "",
    has_docstrings: false,
    is_preprocessed: false,
    has_attributes: true,
    has_percent: false,
    definitions: &["fn", "struct"],
};

/// States behind a line: inside of a comment, or of a string with one of the two quotes.
const IN_COMMENT: u8 = 1;
const IN_DOUBLE: u8 = 2;
const IN_SINGLE: u8 = 3;

const COMMENT: &str = "tok-comment";
const STRING: &str = "tok-string";
const KEYWORD: &str = "tok-keyword";

/// The painter for the text of a stage.
#[must_use]
pub fn painter(stage: Stage) -> Painter {
    match stage.name() {
        "python" | "numpy" => Painter {
            tokens: |line, state| PYTHON.paint(line, state).0,
            after: Some(|line, state| PYTHON.paint(line, state).1),
        },
        "c" | "cuda" => Painter {
            tokens: |line, state| C.paint(line, state).0,
            after: Some(|line, state| C.paint(line, state).1),
        },
        "wgsl" => Painter {
            tokens: |line, state| WGSL.paint(line, state).0,
            after: Some(|line, state| WGSL.paint(line, state).1),
        },
        _ => Painter { tokens: |line, state| LEVEL.paint(line, state).0, after: None },
    }
}

impl Language {
    /// The tokens of a line, and the state behind it.
    fn paint(&self, line: &str, before: u8) -> (Vec<Token>, u8) {
        let mut tokens: Vec<Token> = Vec::new();
        let mut rest = line;
        let mut state = before;
        let is_directive = self.is_preprocessed && before == 0 && line.trim_start().starts_with('#');
        // The word behind which a name is defined.
        let mut last_word = "";
        while let Some(first) = rest.chars().next() {
            let (length, class) = if state != 0 {
                let end = match state {
                    IN_COMMENT => "*/",
                    IN_DOUBLE => "\"\"\"",
                    _ => "'''",
                };
                let class = if state == IN_COMMENT { COMMENT } else { STRING };
                match rest.find(end) {
                    Some(at) => {
                        state = 0;
                        (at + end.len(), class)
                    }
                    None => (rest.len(), class),
                }
            } else if self.has_blocks && rest.starts_with("/*") {
                match rest[2..].find("*/") {
                    Some(at) => (at + 4, COMMENT),
                    None => {
                        state = IN_COMMENT;
                        (rest.len(), COMMENT)
                    }
                }
            } else if rest.starts_with(self.comment) || rest == self.comment.trim_end() {
                (rest.len(), COMMENT)
            } else if self.quotes.contains(first) {
                self.string(rest, first, &mut state)
            } else if first == '#' && is_directive {
                (
                    1 + rest[1..].len()
                        - rest[1..].trim_start_matches(|it: char| it == ' ' || it.is_alphabetic()).len(),
                    KEYWORD,
                )
            } else if first == '<' && is_directive && last_word.is_empty() && rest.contains('>') {
                (rest.find('>').map_or(rest.len(), |it| it + 1), STRING)
            } else if first == '@' && self.has_attributes && rest[1..].starts_with(is_word_start) {
                (1 + length_of(&rest[1..], |it| is_word(it) || it == '.'), KEYWORD)
            } else if is_word_start(first) {
                let length = length_of(rest, is_word);
                let word = &rest[..length];
                let class = if self.keywords.contains(&word) {
                    KEYWORD
                } else if self.types.contains(&word) {
                    "tok-type"
                } else if self.definitions.contains(&last_word) {
                    "tok-def"
                } else {
                    ""
                };
                // `r"..."`: the letters belong to the string.
                let is_prefix = self.has_docstrings
                    && length <= 2
                    && rest[length..].starts_with(['"', '\''])
                    && word.chars().all(|it| "rRbBfFuU".contains(it));
                last_word = word;
                if is_prefix { (length, STRING) } else { (length, class) }
            } else if first == '%'
                && self.has_percent
                && rest[1..].starts_with(|it: char| it.is_ascii_alphanumeric())
            {
                (1 + length_of(&rest[1..], char::is_alphanumeric), "tok-name")
            } else if first.is_ascii_digit() {
                (number_length(rest), "tok-number")
            } else {
                if first != ' ' {
                    last_word = "";
                }
                (first.len_utf8(), "")
            };
            match tokens.last_mut() {
                // Signs between words are one token.
                Some(last) if last.class == class => last.length += length,
                _ => tokens.push(Token { length, class }),
            }
            rest = &rest[length..];
        }
        (tokens, state)
    }

    /// A string that begins here, as far as the line has it.
    fn string(&self, rest: &str, quote: char, state: &mut u8) -> (usize, &'static str) {
        let three = if quote == '"' { "\"\"\"" } else { "'''" };
        if self.has_docstrings && rest.starts_with(three) {
            return match rest[3..].find(three) {
                Some(at) => (at + 6, STRING),
                None => {
                    *state = if quote == '"' { IN_DOUBLE } else { IN_SINGLE };
                    (rest.len(), STRING)
                }
            };
        }
        let mut is_escaped = false;
        let end = rest.char_indices().skip(1).find(|&(_, it)| {
            let ends = it == quote && !is_escaped;
            is_escaped = it == '\\' && !is_escaped;
            ends
        });
        (end.map_or(rest.len(), |(at, _)| at + 1), STRING)
    }
}

fn is_word_start(it: char) -> bool {
    it.is_alphabetic() || it == '_'
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|it| !belongs(it)).unwrap_or(text.len())
}

/// With point and exponent: `1.5e-3`, `0x1p-3`.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    let end = text.char_indices().find(|&(_, it)| {
        let belongs = it.is_ascii_alphanumeric()
            || it == '.'
            || (matches!(it, '-' | '+') && matches!(before, 'e' | 'E' | 'p'));
        before = it;
        !belongs
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// How many lines of a generated text stand before what was made of the stencil: headers, helpers, classes.
///
/// `first` is the first line, from 0, that carries out a statement. The function around it begins at the margin, with
/// the comment and the attributes above it.
#[must_use]
pub fn prelude(stage: Stage, text: &str, first: Option<u32>) -> u32 {
    const FEWEST: usize = 8;
    if !["python", "numpy", "c", "cuda", "wgsl"].contains(&stage.name()) {
        return 0;
    }
    let Some(first) = first else { return 0 };
    let lines: Vec<&str> = text.lines().take(first as usize + 1).collect();
    let is_head = |line: &str| line.starts_with(is_word_start) || line.starts_with('@');
    let Some(mut head) = lines.iter().rposition(|it| is_head(it)) else { return 0 };
    let belongs = |line: &str| {
        ["//", "/*", " *", "#", "@", "__global__", "static"].iter().any(|it| line.starts_with(it))
    };
    while head > 0 && belongs(lines[head - 1]) && !lines[head - 1].starts_with("#e") {
        head -= 1;
    }
    if head < FEWEST { 0 } else { u32::try_from(head).unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coloured words of a text, each with the end of its class.
    fn coloured(language: &Language, text: &str) -> Vec<(String, &'static str)> {
        let mut state = 0;
        let mut found = Vec::new();
        for line in text.lines() {
            let (tokens, after) = language.paint(line, state);
            state = after;
            let mut at = 0;
            for token in tokens {
                let word = &line[at..at + token.length];
                at += token.length;
                if let Some(class) = token.class.strip_prefix("tok-") {
                    found.push((word.to_owned(), class));
                }
            }
            assert_eq!(at, line.len(), "{line}");
        }
        found
    }

    fn words(language: &Language, text: &str, class: &str) -> Vec<String> {
        coloured(language, text).into_iter().filter(|it| it.1 == class).map(|it| it.0).collect()
    }

    #[test]
    fn python_has_its_keywords_and_struct_is_a_module() {
        let text = "import struct\nfrom math import inf\n@np.vectorize\nclass Field:\n    def at(self, i):\n        return i";
        assert_eq!(
            words(&PYTHON, text, "keyword"),
            ["import", "from", "import", "@np.vectorize", "class", "def", "return"]
        );
        assert_eq!(words(&PYTHON, text, "def"), ["Field", "at"]);
    }

    #[test]
    fn a_docstring_goes_on_until_it_ends() {
        let text = "\"\"\"The class of\nfor and while\n\"\"\"\nfor it in 'a # b': # if";
        assert_eq!(words(&PYTHON, text, "keyword"), ["for", "in"]);
        assert_eq!(words(&PYTHON, text, "comment"), ["# if"]);
        assert_eq!(words(&PYTHON, "x = r'\\d' + \"a\\\"b\"", "string"), ["r'\\d'", "\"a\\\"b\""]);
    }

    #[test]
    fn c_colours_no_words_inside_of_comments() {
        let text = "/* How to call\n   for if while */ int i; // return\nfor (;;) {} /* a */ if";
        assert_eq!(words(&C, text, "keyword"), ["for", "if"]);
        assert_eq!(
            words(&C, text, "comment"),
            ["/* How to call", "   for if while */", "// return", "/* a */"]
        );
    }

    #[test]
    fn a_line_for_the_preprocessor_is_one() {
        let text = "#include <stdbool.h>\n  # pragma omp parallel for\n#define N 1\na < b; c > d;";
        assert_eq!(words(&C, text, "string"), ["<stdbool.h>"]);
        assert_eq!(words(&C, text, "number"), ["1"]);
        assert!(words(&C, text, "keyword")[0].starts_with("#include"));
        assert_eq!(words(&C, "a < b; # no", "keyword"), Vec::<String>::new());
    }

    #[test]
    fn wgsl_has_attributes_and_functions() {
        let text = "@group(0) @binding(1) var<storage, read> q: array<f64>;\nfn zero() -> u32 {";
        assert_eq!(words(&WGSL, text, "keyword"), ["@group", "@binding", "var", "storage", "read", "fn"]);
        assert_eq!(words(&WGSL, text, "def"), ["zero"]);
        assert_eq!(words(&WGSL, text, "type"), ["array", "f64", "u32"]);
    }

    #[test]
    fn a_level_divides_without_a_comment() {
        assert_eq!(
            coloured(&LEVEL, "for %3 = 1.5e-3 // 2 # two"),
            [("for", "keyword"), ("%3", "name"), ("1.5e-3", "number"), ("2", "number"), ("# two", "comment")]
                .map(|(word, class)| (word.to_owned(), class))
        );
    }

    #[test]
    fn no_character_is_lost() {
        for line in [
            "",
            "  a = b - 1.0 / c;",
            "\"open",
            "é % /* x */ #",
            "<b>&amp;</b>",
            "%7 = %x#!",
            "1e-",
            "\u{1f300}/",
            "#",
            "# é",
            "'''",
            "@",
            "\\\"'",
        ] {
            for language in [&LEVEL, &PYTHON, &C, &WGSL] {
                for state in 0..4 {
                    let length: usize = language.paint(line, state).0.iter().map(|it| it.length).sum();
                    assert_eq!(length, line.len(), "{line}");
                }
            }
        }
    }

    #[test]
    fn what_stands_before_the_function_of_the_first_statement_is_prelude() {
        let header = "#include <a.h>\n".repeat(9);
        let text = format!("{header}\n/* The run. */\nstatic void run(\n  int a) {{\n  a = 1;\n}}\n");
        assert_eq!(prelude(Stage::C, &text, Some(13)), 10);
        assert_eq!(prelude(Stage::C, &text, None), 0);
        assert_eq!(prelude(Stage::OIR, &text, Some(13)), 0);
        assert_eq!(
            prelude(Stage::C, "void run() {\n  a = 1;\n}\n", Some(1)),
            0,
            "a short one is not worth a fold"
        );
    }
}
