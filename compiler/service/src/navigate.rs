//! Where a name is defined, and everywhere that it is used.

use super::analysis::Analysis;
use super::index::Occurrence;
use super::scopes::{OccurrenceRole, SymbolKind};
use isobar_ground::diag::{FileId, Span};

/// Where the name at a place is defined; an external where the text gives its value, else where it is imported.
#[must_use]
pub fn definition(analysis: &Analysis, file: FileId, offset: u32) -> Vec<Span> {
    let (index, scopes) = (&analysis.index, &analysis.index.scopes);
    let is_here = |span: &Span| span.file == file && span.start <= offset && offset <= span.end;
    if let Some((_, target)) = index.modules.iter().find(|(span, _)| is_here(span)) {
        return vec![Span::new(*target, 0, 0)];
    }
    let Some(found) = index.at(file, offset) else { return Vec::new() };
    let id = scopes.behind(found.symbol);
    let symbol = scopes.symbol(id);
    let place = match symbol.kind {
        SymbolKind::External => {
            let of_text =
                index.occurrences_of(id).find(|it| it.role == OccurrenceRole::Directive).map(|it| it.span);
            of_text.or_else(|| symbol.bindings.first().copied())
        }
        // Of two definitions the last one holds.
        SymbolKind::Stencil | SymbolKind::Function | SymbolKind::PlainFunction | SymbolKind::Class => {
            symbol.bindings.last().copied()
        }
        _ => symbol.bindings.first().copied(),
    };
    place.into_iter().collect()
}

/// Everywhere that the name at a place is written, its definition too, in the order of files and text.
#[must_use]
pub fn references(analysis: &Analysis, file: FileId, offset: u32) -> Vec<Occurrence> {
    let Some(found) = analysis.index.at(file, offset) else { return Vec::new() };
    analysis.index.occurrences_of(found.symbol).copied().collect()
}
