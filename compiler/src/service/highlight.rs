//! Semantic tokens: the class of every piece of a text.

use super::analysis::{Analysis, Type};
use super::scopes::{Role, SymbolId, SymbolKind};
use super::words::{WordKind, word_named};
use crate::diag::{FileId, Span};
use crate::frontend::Names;
use crate::frontend::builtins;
use crate::frontend::constants::Constant;
use crate::frontend::tokens::TokenKind;

/// The class of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
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

impl Class {
    /// All of them, in the order in which a protocol numbers them.
    pub const ALL: [Class; 15] = [
        Class::Keyword,
        Class::Field,
        Class::Temporary,
        Class::Scalar,
        Class::External,
        Class::Constant,
        Class::Function,
        Class::Builtin,
        Class::Type,
        Class::Axis,
        Class::Range,
        Class::Module,
        Class::Number,
        Class::Comment,
        Class::String,
    ];

    /// As style sheets and protocols name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Keyword => "keyword",
            Class::Field => "field",
            Class::Temporary => "temporary",
            Class::Scalar => "scalar",
            Class::External => "external",
            Class::Constant => "constant",
            Class::Function => "function",
            Class::Builtin => "builtin",
            Class::Type => "type",
            Class::Axis => "axis",
            Class::Range => "range",
            Class::Module => "module",
            Class::Number => "number",
            Class::Comment => "comment",
            Class::String => "string",
        }
    }
}

/// A piece of text with what it is; it may go over several lines where it is a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    pub span: Span,
    pub class: Class,
    pub is_declaration: bool,
    pub is_written: bool,
}

/// The pieces of a file, in order; signs and names of nothing known have none.
#[must_use]
pub fn highlights(analysis: &Analysis, file: FileId) -> Vec<Highlight> {
    let names = analysis.names();
    let (index, text) = (&analysis.index, analysis.project.text(file));
    let Some(tokens) = index.tokens.get(usize::from(file.0)) else { return Vec::new() };
    let mut classes: Vec<Option<Option<Class>>> = vec![None; index.scopes.symbols.len()];
    let mut of_symbol = |id: SymbolId| -> Option<Class> {
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
            TokenKind::Keyword | TokenKind::Value => found.push(plain(Class::Keyword)),
            TokenKind::Number => found.push(plain(Class::Number)),
            TokenKind::String => found.push(plain(Class::String)),
            TokenKind::Comment => {
                let mut rest = span;
                if let Some(inside) = occurrences.peek().filter(|it| it.span.end <= token.end)
                    && let Some(class) = of_symbol(inside.symbol)
                {
                    let before = Span { end: inside.span.start, ..span };
                    found.push(Highlight { span: before, ..plain(Class::Comment) });
                    found.push(Highlight { span: inside.span, ..plain(class) });
                    rest.start = inside.span.end;
                }
                if rest.start < rest.end {
                    found.push(Highlight { span: rest, ..plain(Class::Comment) });
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
                        is_declaration: role == Some(Role::Declaration),
                        is_written: matches!(role, Some(Role::Write | Role::Declaration))
                            && matches!(class, Class::Field | Class::Temporary)
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
fn is_parameter(analysis: &Analysis, symbol: Option<SymbolId>, role: Option<Role>) -> bool {
    let kind = symbol.map(|it| analysis.index.scopes.symbol(it).kind);
    role == Some(Role::Declaration) && matches!(kind, Some(SymbolKind::Parameter | SymbolKind::Argument))
}

fn class_of(analysis: &Analysis, names: &Names<'_>, id: SymbolId) -> Option<Class> {
    let scopes = &analysis.index.scopes;
    let id = scopes.behind(id);
    let symbol = scopes.symbol(id);
    Some(match symbol.kind {
        SymbolKind::Stencil | SymbolKind::Function | SymbolKind::PlainFunction => Class::Function,
        SymbolKind::Class => Class::Type,
        SymbolKind::Parameter | SymbolKind::Argument => match analysis.types.get(&id) {
            Some(Type::Scalar(_)) => Class::Scalar,
            Some(Type::Field { .. }) | None => Class::Field,
        },
        SymbolKind::Temporary | SymbolKind::Local => Class::Temporary,
        SymbolKind::External => Class::External,
        SymbolKind::Constant => {
            let at = symbol.bindings.first()?;
            let value = names.module_scope(at.file).and_then(|it| names.lookup(it, u32::MAX, &symbol.name));
            match value {
                Some(Ok(Constant::Element(_) | Constant::Field(_) | Constant::Axes(_))) => Class::Type,
                Some(Ok(Constant::Function(_))) => Class::Function,
                _ => Class::Constant,
            }
        }
        SymbolKind::Member => Class::Constant,
        SymbolKind::Module(_) => Class::Module,
        SymbolKind::Alias(_) => return None,
        SymbolKind::Foreign => return class_of_word(analysis, &symbol.name).or(Some(Class::Constant)),
    })
}

/// The class of a name of the language; none for any other name.
pub(super) fn class_of_word(analysis: &Analysis, name: &str) -> Option<Class> {
    if let Some(word) = word_named(name) {
        return Some(match word.kind {
            WordKind::Language => Class::Keyword,
            WordKind::Function => Class::Builtin,
            WordKind::Type => Class::Type,
            WordKind::Axis => Class::Axis,
            WordKind::Range => Class::Range,
        });
    }
    Some(match builtins::language_name(name, &analysis.config)? {
        Constant::Element(_) | Constant::Field(_) | Constant::Axes(_) => Class::Type,
        Constant::Axis(_) => Class::Axis,
        Constant::Numeric(_) => Class::Builtin,
        Constant::Word(_) => Class::Keyword,
        _ => Class::Constant,
    })
}
