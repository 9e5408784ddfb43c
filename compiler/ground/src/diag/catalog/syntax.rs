//! The text itself: syntax, size, files.

use crate::diag::{Code, Diagnostic, FileId, Span, TextEdit};

/// The text is not Python, or goes beyond a limit of the compiler.
///
/// The parts that could be understood are still compiled, so that all errors show at once.
pub const SYNTAX: Code = Code("E00");

/// The kind of a fault of the syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxFault {
    /// A line is indented more than its block.
    IndentedLine,
    /// A block is not indented, or not as the lines above.
    Indentation,
    /// A string does not end.
    Unclosed,
    Other,
}

/// `message` is the parser's own sentence.
pub fn syntax_error(fault: SyntaxFault, message: &str, span: Span) -> Diagnostic {
    let mut letters = message.trim_end_matches('.').chars();
    let message = letters.next().map_or_else(String::new, |it| it.to_lowercase().chain(letters).collect());
    let help = match fault {
        SyntaxFault::IndentedLine | SyntaxFault::Indentation => {
            "indent the lines of a block equally, with spaces"
        }
        SyntaxFault::Unclosed => "close what was opened",
        SyntaxFault::Other => {
            "the text up to here is read as Python 3.12; look at this place and just before it"
        }
    };
    Diagnostic::error(SYNTAX, message, span, "here").help(help)
}

/// The bytes of the file are no text in UTF-8; `is_binary` where little of it is.
pub fn not_utf8(span: Span, is_binary: bool) -> Diagnostic {
    let found = Diagnostic::error(SYNTAX, "the file is not UTF-8", span, "no character of UTF-8");
    if is_binary {
        return found.help("it looks like UTF-16 or a binary file: save it as UTF-8 if it is text");
    }
    found
        .help("save it as UTF-8")
        .note("other encodings, as Latin-1, are not read, whatever a line with `coding:` says")
}

/// `name` is "a no-break space", `first` the character at the first of the `spans`; `meant` is empty where it stands
/// in vain.
pub fn lookalike(name: &str, first: char, meant: &str, spans: &[Span], edits: Vec<TextEdit>) -> Diagnostic {
    let code = format!("U+{:04X}", u32::from(first));
    let (message, label) = match meant {
        " " => (format!("{name} ({code}) is no space to Python"), "looks like a space".to_owned()),
        "" => (format!("{name} ({code}) stands here and does not show"), "does not show".to_owned()),
        meant => {
            (format!("{name} `{first}` ({code}) is no `{meant}` to Python"), format!("looks like `{meant}`"))
        }
    };
    let help = match meant {
        " " => "write a plain space".to_owned(),
        "" => "remove it".to_owned(),
        meant => format!("write `{meant}`"),
    };
    let title = if spans.len() > 1 { format!("{help}, here and in the other places") } else { help.clone() };
    let found =
        at_all(spans, "and here", |span| Diagnostic::error(SYNTAX, message.as_str(), span, label.as_str()));
    found
        .help(help)
        .note("text that comes from a web page or a document often holds such characters")
        .fix(title, edits)
}

/// How many further places of one fault are shown.
const MOST_SHOWN: usize = 4;

/// A diagnostic at the first of several places, with the others behind it.
fn at_all(spans: &[Span], also: &str, make: impl FnOnce(Span) -> Diagnostic) -> Diagnostic {
    let mut spans = spans.iter().copied();
    let mut found = make(spans.next().unwrap_or_default());
    let left = spans.len().saturating_sub(MOST_SHOWN);
    for it in spans.take(MOST_SHOWN) {
        found = found.also(it, also);
    }
    match left {
        0 => found,
        1 => found.note("and in one more place"),
        n => found.note(format!("and in {n} more places")),
    }
}

/// A character that Python has no use for, and that looks like none that it has.
pub fn unknown_character(character: char, span: Span) -> Diagnostic {
    let code = u32::from(character);
    let shown = if character.is_control() { String::new() } else { format!(" `{character}`") };
    Diagnostic::error(
        SYNTAX,
        format!("the character{shown} (U+{code:04X}) means nothing here"),
        span,
        "not Python",
    )
    .help("remove it, or write it in a comment")
}

/// `open` are the brackets with their places, from outside in; `end` is where the statement ends.
pub fn never_closed(open: &[(&str, Span)], closer: &str, end: Span) -> Diagnostic {
    let (bracket, at) = open.last().copied().unwrap_or(("(", end));
    let found = Diagnostic::error(SYNTAX, format!("this `{bracket}` is never closed"), at, "opened here");
    let outer = open.iter().rev().skip(1).take(MOST_SHOWN);
    let found = outer.fold(found, |found, (_, at)| found.also(*at, "nor is this one"));
    found.also(end, format!("`{closer}` is missing here at the latest")).help(format!("write `{closer}`"))
}

/// `open` at `opened` and `close` at `closed` are of two kinds; `meant` would close the first.
pub fn closed_by(open: &str, close: &str, meant: &str, opened: Span, closed: Span) -> Diagnostic {
    Diagnostic::error(SYNTAX, format!("`{close}` closes a `{open}`"), closed, format!("`{meant}` is needed"))
        .also(opened, "opened here")
        .help(format!("write `{meant}`, or close the `{open}` before"))
}

pub fn closes_nothing(bracket: &str, span: Span) -> Diagnostic {
    Diagnostic::error(SYNTAX, format!("this `{bracket}` closes nothing"), span, "nothing is open here")
        .help("remove it, or open it before")
}

/// `if a = 0.0:`
pub fn assignment_in_condition(spans: &[Span], edits: Vec<TextEdit>) -> Diagnostic {
    at_all(spans, "and here", |span| {
        Diagnostic::error(SYNTAX, "`=` assigns, and a condition compares", span, "compares nothing")
    })
    .help("write `==`")
    .fix("write `==`", edits)
}

/// `word` starts the line.
pub fn colon_missing(word: &str, span: Span, edits: Vec<TextEdit>) -> Diagnostic {
    Diagnostic::error(
        SYNTAX,
        format!("the line of this `{word}` ends without `:`"),
        span,
        "`:` is missing here",
    )
    .help("write `:` at the end of this line")
    .fix("write `:`", edits)
}

pub fn else_if(span: Span, edits: Vec<TextEdit>) -> Diagnostic {
    Diagnostic::error(SYNTAX, "`else if` is one word in Python", span, "two words")
        .help("write `elif`")
        .fix("write `elif`", edits)
}

/// An operator as other languages write it.
pub fn foreign_operator(written: &str, meant: &str, spans: &[Span], edits: Vec<TextEdit>) -> Diagnostic {
    at_all(spans, "and here", |span| {
        Diagnostic::error(SYNTAX, format!("`{written}` is no operator of Python"), span, "not Python")
    })
    .help(format!("write `{meant}`"))
    .fix(format!("write `{meant}`"), edits)
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

pub fn name_too_long(span: Span, limit: usize) -> Diagnostic {
    let bytes = span.end - span.start;
    Diagnostic::error(
        SYNTAX,
        format!("a name has {bytes} bytes, and at most {limit} are read"),
        span,
        "this name",
    )
    .help("give it a shorter name")
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
