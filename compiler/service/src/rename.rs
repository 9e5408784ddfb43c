//! Gives a name of the files another name, everywhere, or says why not.

use super::analysis::{Analysis, Edit, applied};
use super::index::Index;
use super::scopes::{Symbol, SymbolId, SymbolKind};
use super::words::word_named;
use isobar_front::config::External;
use isobar_front::frontend::tokens::{TokenKind, tokens};
use isobar_front::frontend::{Names, builtins, parse};
use isobar_ground::diag::{Diagnostics, FileId, Span};

/// Returns the name that can be renamed at a place: its span and its text.
///
/// # Errors
///
/// The message says why nothing can be renamed.
pub fn prepare(analysis: &Analysis, file: FileId, offset: u32) -> Result<(Span, String), String> {
    let scopes = &analysis.index.scopes;
    let Some(found) = analysis.index.at(file, offset) else {
        let text = analysis.project.text(file);
        let token = analysis.index.token_at(file, offset).filter(|it| it.kind == TokenKind::Name);
        return Err(match token.map(|it| it.text(text)) {
            Some(name) if is_word(analysis, name) => format!("`{name}` is a word of the language"),
            Some(name) => format!("where `{name}` comes from is not known"),
            None => "there is no name here".to_owned(),
        });
    };
    let symbol = scopes.symbol(found.symbol);
    let name = &symbol.name;
    let is_in_class = symbol.owner.is_some_and(|it| scopes.symbol(it).kind == SymbolKind::Class);
    if is_in_class {
        return Err(format!("`{name}` belongs to a class: objects may use it in places that are not known"));
    }
    match symbol.kind {
        SymbolKind::Foreign | SymbolKind::Module(_) if !is_alias(analysis, symbol) => {
            return Err(format!("`{name}` comes from outside of the files"));
        }
        SymbolKind::External if analysis.config.externals.contains_key(name) => {
            return Err(format!("the value of `{name}` is given beside the text, by this name"));
        }
        SymbolKind::Function | SymbolKind::PlainFunction if is_given(analysis, name) => {
            return Err(format!("an external that is given beside the text names the function `{name}`"));
        }
        _ => {}
    }
    Ok((found.span, analysis.text_of(found.span).to_owned()))
}

/// The edits that rename what is at a place, over all files.
///
/// # Errors
///
/// Why the name cannot be that.
pub fn rename(analysis: &Analysis, file: FileId, offset: u32, new: &str) -> Result<Vec<Edit>, String> {
    let (_, old) = prepare(analysis, file, offset)?;
    let new = new.trim();
    if new == old {
        return Ok(Vec::new());
    }
    let is_name = {
        let all = tokens(new);
        let words = all.iter().filter(|it| !matches!(it.kind, TokenKind::Newline));
        words.clone().count() == 1
            && words.clone().all(|it| it.kind == TokenKind::Name && it.text(new) == new)
    };
    if !is_name {
        return Err(format!("`{new}` is no name: letters, digits and `_`, not beginning with a digit"));
    }
    if is_word(analysis, new) {
        return Err(format!("`{new}` is a word of the language"));
    }
    let Some(found) = analysis.index.at(file, offset) else { return Ok(Vec::new()) };
    let symbol = found.symbol;
    let names = analysis.names();
    if let Some(other) = clash(analysis, &names, symbol, new) {
        let other = describe(analysis, other);
        return Err(format!("`{new}` is already {other}"));
    }
    let is_external = analysis.index.scopes.symbol(symbol).kind == SymbolKind::External;
    if is_external && analysis.external(new).is_some() {
        return Err(format!("`{new}` is already the name of another external"));
    }
    let edits: Vec<Edit> = analysis
        .index
        .occurrences_of(symbol)
        .map(|it| Edit { span: it.span, text: new.to_owned() })
        .collect();
    if !means_the_same(analysis, &edits) {
        return Err(format!("with `{new}` some place of the text would mean something else"));
    }
    Ok(edits)
}

/// A symbol that is called `new` already, where this one is bound or used.
fn clash(analysis: &Analysis, names: &Names<'_>, symbol: SymbolId, new: &str) -> Option<SymbolId> {
    let (index, scopes) = (&analysis.index, &analysis.index.scopes);
    let own = (0..scopes.scopes.len()).filter(|&it| scopes.names_in(it).any(|(_, id)| id == symbol));
    let used =
        index.occurrences_of(symbol).map(|it| index.scope_at(&analysis.project, it.span.file, it.span.start));
    own.chain(used).find_map(|scope| scopes.lookup(scope, new, names))
}

/// Whether every name of the files stands for what it stood for before the edits.
fn means_the_same(analysis: &Analysis, edits: &[Edit]) -> bool {
    let project = applied(&analysis.project, edits);
    let program = parse(&project, &mut Diagnostics::default());
    let index = Index::new(&project, &program, &Names::new(&program, &analysis.config));
    // Symbols are numbered in the order of the trees, which the edits leave as it is.
    let meaning = |index: &Index| -> Vec<Vec<_>> {
        let of_file = |it: &Vec<super::index::Occurrence>| it.iter().map(|it| (it.symbol, it.role)).collect();
        index.occurrences.iter().map(of_file).collect()
    };
    meaning(&analysis.index) == meaning(&index)
}

fn is_word(analysis: &Analysis, name: &str) -> bool {
    word_named(name).is_some() || builtins::language_name(name, &analysis.config).is_some()
}

/// Whether the name is what stands behind `as`.
fn is_alias(analysis: &Analysis, symbol: &Symbol) -> bool {
    symbol.bindings.first().is_some_and(|span| {
        let before = analysis.project.text(span.file).get(..span.start as usize).unwrap_or("");
        before.trim_end().ends_with(" as")
    })
}

fn is_given(analysis: &Analysis, name: &str) -> bool {
    let is_it =
        |it: &External| matches!(it, External::Function(path) if path.rsplit('.').next() == Some(name));
    analysis.config.externals.values().any(is_it)
}

/// `a parameter of `f``
fn describe(analysis: &Analysis, id: SymbolId) -> String {
    let scopes = &analysis.index.scopes;
    let symbol = scopes.symbol(id);
    let kind = match symbol.kind {
        SymbolKind::Stencil => "a stencil",
        SymbolKind::Function | SymbolKind::PlainFunction => "a function",
        SymbolKind::Class => "a class",
        SymbolKind::Parameter | SymbolKind::Argument => "a parameter",
        SymbolKind::Temporary | SymbolKind::Local => "a variable",
        SymbolKind::External => "an external",
        SymbolKind::Constant | SymbolKind::Member => "a constant",
        SymbolKind::Module(_) => "a module",
        SymbolKind::Alias(_) | SymbolKind::Foreign => "an imported name",
    };
    match symbol.owner {
        Some(owner) => format!("{kind} of `{}`", scopes.symbol(owner).name),
        None => format!("{kind} of the file"),
    }
}
