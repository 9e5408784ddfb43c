//! A document to the Program IR: names resolved, types checked, groups put in where they are named.
//!
//! `declarations` makes scalars and stencils, `fields` containers, `statements` the body, and `calls` the arguments of
//! statements. Each goes on behind a fault, so that all faults of a document show at once.

mod calls;
mod declarations;
mod fields;
mod scopes;
mod statements;

use std::collections::{BTreeMap, BTreeSet};

use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Diagnostics, LineCol, LineIndex, Span};
use isobar_ground::entity::Handle;

use self::scopes::ScalarScope;
pub(crate) use self::scopes::ends;
use crate::document::ReadDocument;
use crate::document::nodes::PlaceEntry;
use crate::document::places::PathStep;
use crate::nodes::{Container, ContainerPart, ProgramIr};
use crate::stencils::ProgramFronts;

/// The program of a document, as far as it is understood.
#[derive(Debug)]
pub struct Elaborated {
    /// Valid where no fault is an error.
    pub program: ProgramIr,
    pub found: Diagnostics,
    /// The fields that the caller reads behind a run; none where these are all.
    pub results: Option<BTreeSet<Handle<Container>>>,
}

/// Makes the program of a document.
#[must_use]
pub fn elaborate(read: &ReadDocument, fronts: &mut ProgramFronts) -> Elaborated {
    let mut elaboration = Elaboration {
        read,
        fronts,
        found: Diagnostics::default(),
        program: ProgramIr { name: read.document.name.clone(), ..ProgramIr::default() },
        views: BTreeMap::new(),
        broken: BTreeSet::new(),
        lines: BTreeMap::new(),
        scope: ScalarScope::default(),
        groups: Vec::new(),
        n_statements: 0,
        depth: 0,
    };
    elaboration.declarations();
    let body = elaboration.body(&read.document.body, &[PathStep::Name("body")]);
    elaboration.program.body = body;
    let results = elaboration.results();
    Elaborated { program: elaboration.program, found: elaboration.found, results }
}

struct Elaboration<'a> {
    read: &'a ReadDocument,
    fronts: &'a mut ProgramFronts,
    found: Diagnostics,
    program: ProgramIr,
    /// Parts of containers with names of their own.
    views: BTreeMap<&'a str, ContainerPart>,
    /// Stencils that do not compile.
    broken: BTreeSet<&'a str>,
    /// The lines of files that places name.
    lines: BTreeMap<&'a str, LineIndex>,
    scope: ScalarScope,
    /// The groups around the statement, from outside in.
    groups: Vec<&'a str>,
    n_statements: usize,
    /// The bodies around the statement.
    depth: usize,
}

/// A path in the document, which lends the names.
type DocumentPath<'a> = [PathStep<'a>];

impl<'a> Elaboration<'a> {
    /// The bytes of an entry.
    fn span(&self, path: &DocumentPath<'_>) -> Span {
        let bytes = &self.read.places.find(path).bytes;
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(self.read.file, byte(bytes.start), byte(bytes.end))
    }

    /// The bytes of an entry of an entry.
    fn span_of(&self, path: &DocumentPath<'_>, steps: &[PathStep<'_>]) -> Span {
        let all: Vec<PathStep<'_>> = path.iter().chain(steps).cloned().collect();
        self.span(&all)
    }

    /// The place of an entry of a statement; that of the statement, where it names one in a file.
    fn entry(&self, (path, span): (&DocumentPath<'_>, Span), steps: &[PathStep<'_>]) -> Span {
        if span.file == self.read.file { self.span_of(path, steps) } else { span }
    }

    fn tell(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// The value, or a fault that is told.
    fn or_tell<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|it| self.tell(it)).ok()
    }

    /// The place that an `at` names; the entry itself where it names none.
    fn place(&mut self, at: Option<&'a PlaceEntry>, path: &DocumentPath<'_>) -> Span {
        let own = self.span(path);
        let Some(at) = at else { return own };
        let project = self.fronts.project();
        let Some(file) = project.file_id(&at.file) else {
            let known: Vec<&str> = project.files.keys().map(String::as_str).collect();
            let span = self.span_of(path, &[PathStep::Name("at"), PathStep::Name("file")]);
            let unknown = catalog::unknown("file", &at.file, known, span);
            self.tell(unknown);
            return own;
        };
        let text = project.text(file);
        let index = self.lines.entry(&at.file).or_insert_with(|| LineIndex::new(text));
        let start = index.offset(text, LineCol { line: at.line, col: at.col });
        let line = text.get(start as usize..).and_then(|it| it.lines().next()).unwrap_or_default();
        let end = start.saturating_add(u32::try_from(line.trim_end().len()).unwrap_or(0));
        Span::new(file, start, end)
    }
}
