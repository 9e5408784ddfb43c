//! The parameters of the call in which the caret stands.

use super::analysis::Analysis;
use super::scopes::{SymbolId, SymbolKind};
use super::words::{WordKind, word_named};
use isobar_front::frontend::docstring::{about_parameter, docstring};
use isobar_front::frontend::syntax::FunctionDef;
use isobar_front::frontend::tokens::{Token, TokenKind};
use isobar_ground::diag::FileId;

/// A call that is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// `limited(flux, slope, *, factor=1.0)`
    pub label: String,
    /// Where each parameter stands in the label, in characters, with what is said about it.
    pub params: Vec<(u32, u32, String)>,
    /// The parameter that the caret is at.
    pub active: Option<usize>,
    pub about: String,
}

/// A call whose bracket is open at a place.
#[derive(Clone, Debug)]
pub(super) struct OpenCall<'t> {
    /// The word before the bracket: where it begins, and its letters.
    pub(super) at: u32,
    pub(super) name: &'t str,
    pub(super) bracket: &'t str,
    /// Commas between the bracket and the caret.
    pub(super) n_before: usize,
    /// `name=` right before the caret's argument.
    pub(super) keyword: Option<&'t str>,
    /// Names that stand as `name=` in it.
    pub(super) given: Vec<&'t str>,
}

/// The innermost bracket that is open at a place, with the word before it.
pub(super) fn open_call<'t>(text: &'t str, tokens: &[Token], offset: u32) -> Option<OpenCall<'t>> {
    let before = &tokens[..tokens.partition_point(|it| it.start < offset)];
    // A word that the caret stands in or behind is not finished.
    let mut depth = 0_usize;
    for (at, token) in before.iter().enumerate().rev() {
        match token.kind {
            TokenKind::Close if token.end <= offset => depth += 1,
            TokenKind::Open if depth > 0 => depth -= 1,
            TokenKind::Open => {
                let named = at.checked_sub(1).map(|it| before[it]).filter(|it| it.kind == TokenKind::Name);
                let inside = &before[at + 1..];
                let mut call = OpenCall {
                    at: named.map_or(token.start, |it| it.start),
                    name: named.map_or("", |it| it.text(text)),
                    bracket: token.text(text),
                    n_before: 0,
                    keyword: None,
                    given: Vec::new(),
                };
                call.read(text, inside);
                return Some(call);
            }
            // A statement's end inside of brackets is none; outside there is no call.
            TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

impl<'t> OpenCall<'t> {
    fn read(&mut self, text: &'t str, inside: &[Token]) {
        let mut depth = 0_usize;
        for (at, token) in inside.iter().enumerate() {
            match token.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth = depth.saturating_sub(1),
                TokenKind::Sign if depth == 0 => match token.text(text) {
                    "," => {
                        self.n_before += 1;
                        self.keyword = None;
                    }
                    "=" => {
                        let name = at.checked_sub(1).map(|it| inside[it]);
                        if let Some(name) = name.filter(|it| it.kind == TokenKind::Name) {
                            self.keyword = Some(name.text(text));
                            self.given.push(name.text(text));
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

/// The signature of the innermost call around a place.
#[must_use]
pub fn signature(analysis: &Analysis, file: FileId, offset: u32) -> Option<Signature> {
    let text = analysis.project.text(file);
    let call = open_call(text, analysis.index.tokens.get(usize::from(file.0))?, offset)?;
    if call.bracket == "{" || call.name.is_empty() {
        return None;
    }
    if let Some(found) = analysis.index.at(file, call.at).filter(|_| call.bracket == "(") {
        let id = analysis.index.scopes.behind(found.symbol);
        if is_callable(analysis, id) {
            return of_function(analysis, id, &call);
        }
    }
    of_word(&call)
}

pub(super) fn is_callable(analysis: &Analysis, id: SymbolId) -> bool {
    let kind = analysis.index.scopes.symbol(id).kind;
    matches!(kind, SymbolKind::Stencil | SymbolKind::Function | SymbolKind::PlainFunction)
}

fn of_function(analysis: &Analysis, id: SymbolId, call: &OpenCall<'_>) -> Option<Signature> {
    let def = analysis.function(id)?;
    let about = docstring(def).unwrap_or_default();
    let mut signature = Signature { label: format!("{}(", def.name.name), ..Signature::default() };
    signature.params = write_params(analysis, def, &mut signature.label)
        .into_iter()
        .zip(&def.params)
        .map(|((start, end), param)| {
            (start, end, about_parameter(&about, &param.name.name).unwrap_or_default())
        })
        .collect();
    signature.label.push(')');
    signature.active = match call.keyword {
        Some(keyword) => def.params.iter().position(|it| it.name.name == keyword),
        None => {
            let is_positional = def.params.get(call.n_before).is_some_and(|it| !it.is_keyword_only);
            is_positional.then_some(call.n_before)
        }
    };
    signature.about = about.lines().next().unwrap_or("").to_owned();
    Some(signature)
}

/// A word of the language, whose form is its signature.
fn of_word(call: &OpenCall<'_>) -> Option<Signature> {
    let word = word_named(call.name)?;
    if word.kind == WordKind::Axis || !word.form.starts_with(word.name) {
        return None;
    }
    let open = word.form.find(call.bracket)?;
    let close = word.form.rfind(if call.bracket == "(" { ')' } else { ']' })?;
    let mut params = Vec::new();
    let mut start = open + 1;
    let mut depth = 0_usize;
    for (at, sign) in word.form.char_indices().skip(open + 1) {
        match sign {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' if at < close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (sign == ',' || at == close) {
            let part = &word.form[start..at];
            let from = start + part.len() - part.trim_start().len();
            let place = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
            params.push((place(from), place(at), String::new()));
            start = at + 1;
        }
    }
    let active = Some(call.n_before).filter(|it| *it < params.len());
    let (label, about) = (word.form.to_owned(), word.about.to_owned());
    Some(Signature { label, params, active, about })
}

/// `def name(q: FloatField, *, factor=1.0)` in one line.
pub(super) fn shown(analysis: &Analysis, def: &FunctionDef) -> String {
    let mut label = format!("def {}(", def.name.name);
    write_params(analysis, def, &mut label);
    label + ")"
}

/// Writes the parameters of a function; where each of them stands, in characters.
fn write_params(analysis: &Analysis, def: &FunctionDef, label: &mut String) -> Vec<(u32, u32)> {
    let mut is_keyword_only = false;
    let mut places = Vec::new();
    for (at, param) in def.params.iter().enumerate() {
        if at > 0 {
            label.push_str(", ");
        }
        if param.is_keyword_only && !is_keyword_only {
            is_keyword_only = true;
            label.push_str("*, ");
        }
        let start = characters(label);
        label.push_str(&shown_param(analysis, param));
        places.push((start, characters(label)));
    }
    places
}

fn shown_param(analysis: &Analysis, param: &isobar_front::frontend::syntax::Param) -> String {
    let one_line = |span| analysis.text_of(span).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown = param.name.name.clone();
    if let Some(annotation) = &param.annotation {
        shown += ": ";
        shown += &one_line(annotation.span);
    }
    if let Some(default) = &param.default {
        shown += if param.annotation.is_some() { " = " } else { "=" };
        shown += &one_line(default.span);
    }
    shown
}

fn characters(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}
