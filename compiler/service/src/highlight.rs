//! Semantic tokens: the class of every piece of a text.

use super::analysis::{Analysis, Type};
use super::scopes::{OccurrenceRole, SymbolId, SymbolKind};
use super::words::{WordKind, word_named};
use isobar_front::frontend::Names;
use isobar_front::frontend::builtins;
use isobar_front::frontend::constants::Constant;
use isobar_front::frontend::tokens::TokenKind;
use isobar_ground::diag::{FileId, Span};

/// The class of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HighlightClass {
    Keyword,
    /// A field parameter.
    Field,
    Temporary,
    Scalar,
    External,
    Constant,
    Function,
    /// A function of the language.
    Builtin,
    Type,
    Axis,
    /// `interval`, `horizontal`, `region`.
    Range,
    Module,
    Number,
    Comment,
    String,
}

impl HighlightClass {
    /// All of them, in the order in which a protocol numbers them.
    pub const ALL: [HighlightClass; 15] = [
        HighlightClass::Keyword,
        HighlightClass::Field,
        HighlightClass::Temporary,
        HighlightClass::Scalar,
        HighlightClass::External,
        HighlightClass::Constant,
        HighlightClass::Function,
        HighlightClass::Builtin,
        HighlightClass::Type,
        HighlightClass::Axis,
        HighlightClass::Range,
        HighlightClass::Module,
        HighlightClass::Number,
        HighlightClass::Comment,
        HighlightClass::String,
    ];

    /// As style sheets and protocols name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            HighlightClass::Keyword => "keyword",
            HighlightClass::Field => "field",
            HighlightClass::Temporary => "temporary",
            HighlightClass::Scalar => "scalar",
            HighlightClass::External => "external",
            HighlightClass::Constant => "constant",
            HighlightClass::Function => "function",
            HighlightClass::Builtin => "builtin",
            HighlightClass::Type => "type",
            HighlightClass::Axis => "axis",
            HighlightClass::Range => "range",
            HighlightClass::Module => "module",
            HighlightClass::Number => "number",
            HighlightClass::Comment => "comment",
            HighlightClass::String => "string",
        }
    }
}

/// A piece of text with what it is; it may go over several lines where it is a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    pub span: Span,
    pub class: HighlightClass,
    pub is_declaration: bool,
    pub is_written: bool,
}

/// The pieces of a file, in order; signs and names of nothing known have none.
#[must_use]
pub fn highlights(analysis: &Analysis, file: FileId) -> Vec<Highlight> {
    let names = analysis.names();
    let (index, text) = (&analysis.index, analysis.project.text(file));
    let Some(tokens) = index.tokens.get(usize::from(file.0)) else { return Vec::new() };
    let mut classes: Vec<Option<Option<HighlightClass>>> = vec![None; index.scopes.symbols.len()];
    let mut of_symbol = |id: SymbolId| -> Option<HighlightClass> {
        *classes[id.0].get_or_insert_with(|| class_of(analysis, &names, id))
    };
    let mut occurrences = index.occurrences[usize::from(file.0)].iter().peekable();
    let mut found = Vec::new();
    for token in tokens {
        let span = Span::new(file, token.start, token.end);
        let plain = |class| Highlight { span, class, is_declaration: false, is_written: false };
        while occurrences.peek().is_some_and(|it| it.span.start < token.start) {
            occurrences.next();
        }
        match token.kind {
            TokenKind::Keyword | TokenKind::Value => found.push(plain(HighlightClass::Keyword)),
            TokenKind::Number => found.push(plain(HighlightClass::Number)),
            TokenKind::String => found.push(plain(HighlightClass::String)),
            TokenKind::Comment => {
                let mut rest = span;
                if let Some(inside) = occurrences.peek().filter(|it| it.span.end <= token.end)
                    && let Some(class) = of_symbol(inside.symbol)
                {
                    let before = Span { end: inside.span.start, ..span };
                    found.push(Highlight { span: before, ..plain(HighlightClass::Comment) });
                    found.push(Highlight { span: inside.span, ..plain(class) });
                    rest.start = inside.span.end;
                }
                if rest.start < rest.end {
                    found.push(Highlight { span: rest, ..plain(HighlightClass::Comment) });
                }
            }
            TokenKind::Name => {
                let occurrence = occurrences.peek().filter(|it| it.span == span);
                let class = match occurrence {
                    Some(it) => of_symbol(it.symbol),
                    None => class_of_word(analysis, token.text(text)),
                };
                let role = occurrence.map(|it| it.role);
                if let Some(class) = class {
                    found.push(Highlight {
                        span,
                        class,
                        is_declaration: role == Some(OccurrenceRole::Declaration),
                        is_written: matches!(role, Some(OccurrenceRole::Write | OccurrenceRole::Declaration))
                            && matches!(class, HighlightClass::Field | HighlightClass::Temporary)
                            && !is_parameter(analysis, occurrence.map(|it| it.symbol), role),
                    });
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether it is the declaration of a parameter, which writes nothing.
fn is_parameter(analysis: &Analysis, symbol: Option<SymbolId>, role: Option<OccurrenceRole>) -> bool {
    let kind = symbol.map(|it| analysis.index.scopes.symbol(it).kind);
    role == Some(OccurrenceRole::Declaration)
        && matches!(kind, Some(SymbolKind::Parameter | SymbolKind::Argument))
}

fn class_of(analysis: &Analysis, names: &Names<'_>, id: SymbolId) -> Option<HighlightClass> {
    let scopes = &analysis.index.scopes;
    let id = scopes.behind(id);
    let symbol = scopes.symbol(id);
    Some(match symbol.kind {
        SymbolKind::Stencil | SymbolKind::Function | SymbolKind::PlainFunction => HighlightClass::Function,
        SymbolKind::Class => HighlightClass::Type,
        SymbolKind::Parameter | SymbolKind::Argument => match analysis.types.get(&id) {
            Some(Type::Scalar(_)) => HighlightClass::Scalar,
            Some(Type::Field { .. }) | None => HighlightClass::Field,
        },
        SymbolKind::Temporary | SymbolKind::Local => HighlightClass::Temporary,
        SymbolKind::External => HighlightClass::External,
        SymbolKind::Constant => {
            let at = symbol.bindings.first()?;
            let value = names.module_scope(at.file).and_then(|it| names.lookup(it, u32::MAX, &symbol.name));
            match value {
                Some(Ok(Constant::Element(_) | Constant::Field(_) | Constant::Axes(_))) => {
                    HighlightClass::Type
                }
                Some(Ok(Constant::Function(_))) => HighlightClass::Function,
                _ => HighlightClass::Constant,
            }
        }
        SymbolKind::Member => HighlightClass::Constant,
        SymbolKind::Module(_) => HighlightClass::Module,
        SymbolKind::Alias(_) => return None,
        SymbolKind::Foreign => {
            return class_of_word(analysis, &symbol.name).or(Some(HighlightClass::Constant));
        }
    })
}

/// The class of a name of the language; none for any other name.
pub(super) fn class_of_word(analysis: &Analysis, name: &str) -> Option<HighlightClass> {
    if let Some(word) = word_named(name) {
        return Some(match word.kind {
            WordKind::Language => HighlightClass::Keyword,
            WordKind::Function => HighlightClass::Builtin,
            WordKind::Type => HighlightClass::Type,
            WordKind::Axis => HighlightClass::Axis,
            WordKind::Range => HighlightClass::Range,
        });
    }
    Some(match builtins::language_name(name, &analysis.config)? {
        Constant::Element(_) | Constant::Field(_) | Constant::Axes(_) => HighlightClass::Type,
        Constant::Axis(_) => HighlightClass::Axis,
        Constant::Numeric(_) => HighlightClass::Builtin,
        Constant::Word(_) => HighlightClass::Keyword,
        _ => HighlightClass::Constant,
    })
}
