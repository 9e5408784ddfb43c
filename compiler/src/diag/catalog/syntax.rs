//! The text itself: syntax, size, files.

use crate::diag::{Code, Diagnostic, FileId, Span};

/// The text is not Python, or goes beyond a limit of the compiler.
///
/// What could be understood is still compiled, so that all errors show at once.
pub const SYNTAX: Code = Code("E00");

/// `message` is the parser's own sentence.
pub fn syntax_error(message: &str, span: Span) -> Diagnostic {
    let mut letters = message.trim_end_matches('.').chars();
    let message = letters.next().map_or_else(String::new, |it| it.to_lowercase().chain(letters).collect());
    let help = if message.contains("indent") {
        "indent the lines of a block equally, with spaces"
    } else if message.contains("Expected ':'") || message.contains("xpected `:`") {
        "write `:` at the end of this line"
    } else if message.contains("unterminated")
        || message.contains("unclosed")
        || message.contains("missing closing")
    {
        "close what was opened"
    } else {
        "the text up to here is read as Python 3.12; look at this place and just before it"
    };
    Diagnostic::error(SYNTAX, message, span, "here").help(help)
}

pub fn source_too_long(file: FileId, bytes: usize, limit: usize) -> Diagnostic {
    Diagnostic::error(
        SYNTAX,
        format!("the file has {bytes} bytes, and at most {limit} are read"),
        Span::new(file, 0, 0),
        "",
    )
    .help("split it into modules, or leave out what the stencil does not need")
}

pub fn nested_too_deeply(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error(
        SYNTAX,
        format!("blocks, brackets and operators nest deeper than {limit}"),
        span,
        "too deep here",
    )
    .help("give a part of the expression a name of its own, in a statement before")
}

pub fn too_many_files(files: usize, limit: usize) -> Diagnostic {
    Diagnostic::without_place(SYNTAX, format!("the project has {files} files, and at most {limit} are read"))
        .help("leave out what the stencil does not need")
}

pub fn main_file_missing<'a>(main: &str, files: impl Iterator<Item = &'a String>) -> Diagnostic {
    let files: Vec<String> = files.map(|it| format!("`{it}`")).collect();
    Diagnostic::without_place(SYNTAX, format!("the main file `{main}` is not among the files"))
        .help(format!("name one of {}", files.join(", ")))
}

pub fn duplicate_parameter(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(SYNTAX, format!("two parameters are named `{name}`"), span, "named again")
        .also(first, "first here")
        .help("rename one of them")
}
