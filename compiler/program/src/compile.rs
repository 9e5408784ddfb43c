//! A document's text to a checked program with its stencils.

use isobar_front::config::Config;
use isobar_front::project::Project;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Diagnostics, FileId, Severity, Span, render};

use crate::analysis::calls::aliases;
use crate::analysis::element_boxes::StencilElements;
use crate::analysis::{exchanges, halo_validity, ranks, unwritten};
use crate::document::read;
use crate::from_class::ClassRequest;
use crate::from_document::{Elaborated, elaborate};
use crate::localize::{FieldKept, localize};
use crate::nodes::{ProgramIr, ProgramStmt, ProgramStmtKind};
use crate::stencils::{ProgramFronts, SharedStencils};
use crate::{from_class, from_objects};

/// A document, compiled.
#[derive(Debug)]
pub struct ProgramCompilation {
    /// None where there is an error.
    pub program: Option<ProgramIr>,
    pub fronts: ProgramFronts,
    /// In order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The fields that are no results, and that stay what they were.
    pub kept: Vec<FieldKept>,
    /// Name and text of the document, which stands behind the files of its stencils.
    pub document: (String, String),
}

/// The options of a program.
#[derive(Clone, Debug)]
pub struct ProgramOptions {
    /// Of all its stencils.
    pub config: Config,
    /// The edges of the tile that the domain has, in the order of [`EDGES`](crate::nodes::EDGES), of those of the document.
    pub edges: [bool; 4],
    /// The stencils of other programs.
    pub shared: SharedStencils,
}

impl From<Config> for ProgramOptions {
    fn from(config: Config) -> Self {
        Self { config, edges: [true; 4], shared: SharedStencils::default() }
    }
}

/// Compiles a document, or an object graph. `name` is what diagnostics call it.
///
/// # Panics
///
/// When a program without errors breaks a rule of the Program IR, which is a bug of this compiler.
#[must_use]
pub fn compile(name: &str, text: &str, options: impl Into<ProgramOptions>) -> ProgramCompilation {
    let options = options.into();
    if from_objects::is_graph(text) {
        return compile_graph(name, text, options);
    }
    compile_document(name, text, options)
}

/// Compiles the document of an object graph. Its entries are those that were made of the texts.
fn compile_graph(name: &str, text: &str, options: ProgramOptions) -> ProgramCompilation {
    let made = from_objects::document(text);
    let found = match made {
        Ok(document) => match serde_json::to_string_pretty(&document) {
            Ok(made) => return compile_document(name, &made, options),
            Err(error) => vec![catalog::unreadable(&error.to_string(), Span::default())],
        },
        Err(found) => found,
    };
    let fronts = ProgramFronts::new(from_objects::files(text), options.config, &options.shared);
    let document = (name.to_owned(), text.to_owned());
    ProgramCompilation { program: None, fronts, diagnostics: found, kept: Vec::new(), document }
}

/// Compiles a class of the files, whose constructor is evaluated.
#[must_use]
pub fn compile_class(
    project: &Project,
    request: &ClassRequest<'_>,
    options: impl Into<ProgramOptions>,
) -> ProgramCompilation {
    let options = ProgramOptions { edges: request.edges, ..options.into() };
    let name = format!("{}.json", request.class);
    let made =
        from_class::graph(project, &options.config, request).and_then(|it| from_objects::document_of(&it));
    let found = match made.map(|it| serde_json::to_string_pretty(&it)) {
        Ok(Ok(made)) => return compile_document(&name, &made, options),
        Ok(Err(error)) => vec![catalog::unreadable(&error.to_string(), Span::default())],
        Err(found) => found,
    };
    let files = project.files.iter().map(|(name, text)| (name.clone(), text.to_string()));
    let fronts = ProgramFronts::new(files, options.config, &options.shared);
    let document = (name, String::new());
    ProgramCompilation { program: None, fronts, diagnostics: found, kept: Vec::new(), document }
}

fn compile_document(name: &str, text: &str, options: ProgramOptions) -> ProgramCompilation {
    let ProgramOptions { config, edges, shared } = options;
    let document = (name.to_owned(), text.to_owned());
    let mut read = match read(text, FileId(0)) {
        Ok(read) => read,
        Err(diagnostics) => {
            let fronts = ProgramFronts::new([], config, &shared);
            return ProgramCompilation { program: None, fronts, diagnostics, kept: Vec::new(), document };
        }
    };
    read.document.grid.keep_edges(edges);
    let files = std::mem::take(&mut read.document.files.0);
    read.file = FileId(u16::try_from(files.len()).unwrap_or(u16::MAX));
    let mut fronts = ProgramFronts::new(files, config, &shared);
    let Elaborated { mut program, mut found, results } = elaborate(&read, &mut fronts);
    let mut kept = Vec::new();
    if !found.has_errors() {
        found.extend(exchanges::order_faults(&program));
        found.extend(ranks::rank_faults(&program));
        unify(&program, &mut fronts, &mut found);
        let elements = StencilElements::of(&program, &mut fronts);
        found.extend(unwritten::faults(&program, &elements));
        found.extend(halo_validity::faults(&program, &elements));
        kept = results.map(|it| localize(&mut program, &elements, &it)).unwrap_or_default();
    }
    let is_right = !found.has_errors();
    if cfg!(debug_assertions) && is_right {
        let violations = crate::validate::validate(&program);
        assert!(violations.is_empty(), "{violations:#?}");
    }
    let diagnostics = found.sorted();
    ProgramCompilation { program: is_right.then_some(program), fronts, diagnostics, kept, document }
}

/// Compiles the stencils of calls in which several parameters are one field.
fn unify(program: &ProgramIr, fronts: &mut ProgramFronts, found: &mut Diagnostics) {
    let mut unify = |stmt: &ProgramStmt| {
        let ProgramStmtKind::Call(call) = &stmt.kind else { return };
        if let Err(refused) = fronts.unified(&program.stencils[call.stencil], &aliases(program, call)) {
            found.extend(refused.into_iter().map(|it| it.also(stmt.span, "called here")));
        }
    };
    program.body.iter().for_each(|it| it.walk(&mut unify));
}

impl ProgramCompilation {
    /// Name and text of a file; the document's own where there is no such file.
    #[must_use]
    pub fn file(&self, file: FileId) -> (&str, &str) {
        let known = self.fronts.project().files.iter().nth(usize::from(file.0));
        known.map_or((&self.document.0, &self.document.1), |(name, text)| (name, text))
    }

    /// Whether there is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|it| it.severity == Severity::Error)
    }

    /// A diagnostic with its lines, for a terminal.
    #[must_use]
    pub fn rendered(&self, diagnostic: &Diagnostic) -> String {
        render::render(diagnostic, &|file| self.file(file))
    }
}
