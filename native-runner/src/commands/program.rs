//! `--program`, and classes: several stencils in the place of one.

mod emit;
mod export;
mod run;

use std::collections::BTreeMap;
use std::path::Path;

use isobar_compiler::config::Config;
use isobar_compiler::diag;
use isobar_compiler::frontend::models::ModelChoice;
use isobar_compiler::inputs::Directives;
use isobar_compiler::pipeline::{Compilation, Stage, route};
use isobar_compiler::project::Project;
use isobar_program::compile::{ProgramCompilation, compile, compile_class};
use isobar_program::from_class::ClassRequest;
use isobar_protocol::compile::Remark;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::field::FieldInfo;
use isobar_protocol::request::Request;
use serde_json::{Map, Value};

use super::{Usage, human, say};
use crate::cli::Shared;
use crate::compile::{ConfiguredProject, on_large_stack};
use crate::document::{Document, shown};

pub(super) use emit::{emit, is_of_stencils};
pub(super) use export::export;
pub(super) use run::{grid, on_ranks, run};

/// The written fields of a run.
pub(super) type WrittenFields = Vec<(FieldInfo, Vec<u8>)>;

/// The stage that a program has.
pub(super) const STAGE: &str = "program";

/// Where a program comes from.
pub(super) enum ProgramSource<'a> {
    /// A document, or an object graph.
    Document(&'a Path),
    /// A class of a Python file, and the method that is the program.
    Class(&'a Path, ModelChoice),
}

impl<'a> ProgramSource<'a> {
    /// The class that is meant by `--stencil`, or by the file's `# @stencil` line; `None` where that is a stencil.
    pub(super) fn class(file: Option<&'a Path>, shared: &Shared) -> Result<Option<Self>, Usage> {
        let Some(file) = file.filter(|_| shared.request.is_none()) else { return Ok(None) };
        let document = Document::read(Some(file), shared)?;
        let project = ConfiguredProject::of(&document.request).project;
        let choice = project.stencil.as_ref().and_then(|it| ModelChoice::of(&project, it));
        Ok(choice.map(|it| Self::Class(file, it)))
    }
}

/// Options that say something about one stencil only.
fn refuse(options: &[(&str, bool)]) -> Result<(), Usage> {
    match options.iter().find(|it| it.1) {
        Some((option, _)) => Err(Usage::Wrong(format!("{option} is for a stencil, and not for --program"))),
        None => Ok(()),
    }
}

/// A class, and all that its programs are made of.
struct ClassText {
    project: Project,
    /// Of its stencils.
    config: Config,
    choice: ModelChoice,
    /// Arguments of the constructor.
    given: Map<String, Value>,
    halo: u32,
    /// Which edges of its tile the domain has: west, east, south, north.
    edges: [bool; 4],
}

/// The options of a class beside its text.
#[derive(Clone, Copy, Debug)]
struct ClassOptions {
    halo_points: Option<u32>,
    edges: [bool; 4],
}

impl From<Option<u32>> for ClassOptions {
    /// With all edges of its tile.
    fn from(halo_points: Option<u32>) -> Self {
        Self { halo_points, edges: [true; 4] }
    }
}

impl ClassText {
    /// The class on a domain.
    fn on(&self, domain: [u32; 3]) -> ClassRequest<'_> {
        let ModelChoice { class, method } = &self.choice;
        ClassRequest { class, method, given: &self.given, domain, halo: self.halo, edges: self.edges }
    }
}

/// A program whose file is read and compiled.
struct OpenedProgram {
    /// Its files are those of the document, and the document itself.
    document: Document,
    compilation: ProgramCompilation,
    /// The comment lines of a class that describe its run.
    directives: Directives,
    /// None of a document.
    class: Option<ClassText>,
}

/// The domain that a class is printed for, where nothing tells another one.
const USUAL_DOMAIN: [i64; 3] = [12, 12, 10];

/// The points of a halo that NDSL has without a word.
const USUAL_HALO: u32 = 3;

impl OpenedProgram {
    fn read(
        source: &ProgramSource<'_>,
        shared: &Shared,
        of_class: impl Into<ClassOptions>,
    ) -> Result<Self, Usage> {
        let ClassOptions { halo_points, edges } = of_class.into();
        if let ProgramSource::Document(_) = source {
            refuse(&[
                ("--stencil", shared.stencil.is_some()),
                ("--module", !shared.modules.is_empty()),
                ("--externals", shared.externals.is_some()),
                ("--halo-points", halo_points.is_some()),
            ])?;
        }
        refuse(&[
            ("--tile", shared.tile.is_some()),
            ("--schedule", shared.schedule.is_some()),
            ("--machine", shared.machine.is_some()),
            ("--skip", !shared.skip.is_empty()),
            ("--mode", shared.mode.is_some()),
            ("--no-tuned", shared.no_tuned),
            ("--origin", shared.origin.is_some()),
            ("--runner", shared.runner.is_some()),
            ("--request", shared.request.is_some()),
        ])?;
        let path = match source {
            ProgramSource::Document(path) | ProgramSource::Class(path, _) => path,
        };
        let mut document = Document::read(Some(path), shared)?;
        let request = &mut document.request;
        let name = request.main.clone().unwrap_or_default();
        let text = request.files.get(&name).cloned().unwrap_or_default();
        let mut described = Directives::default();
        let mut class_text = None;
        let compilation = match source {
            ProgramSource::Document(_) => compile(&name, &text, request.config(&described)),
            ProgramSource::Class(_, choice) => {
                let source =
                    ConfiguredProject::of(&Request { externals: BTreeMap::new(), ..request.clone() });
                described = source.directives;
                request.domain = request.domain.or(described.domain);
                let domain = request.domain.unwrap_or(USUAL_DOMAIN);
                let Ok(points) = domain.map(u32::try_from).into_iter().collect::<Result<Vec<_>, _>>() else {
                    return Err(Usage::Wrong("a domain has no negative number of points".to_owned()));
                };
                let domain = [points[0], points[1], points[2]];
                let text = class_text.insert(ClassText {
                    project: source.project,
                    // Of a class, they are arguments of its constructor.
                    config: Config { externals: BTreeMap::new(), ..source.config },
                    choice: choice.clone(),
                    given: request.constructor(&described),
                    halo: halo_points.unwrap_or(USUAL_HALO),
                    edges,
                });
                let compiled = || compile_class(&text.project, &text.on(domain), text.config.clone());
                on_large_stack(compiled).map_err(|_| Usage::Wrong("the compiler crashed".to_owned()))?
            }
        };
        let files = compilation.fronts.project().files.iter();
        request.files.extend(files.map(|(name, text)| (name.clone(), text.to_string())));
        Ok(Self { document, compilation, directives: described, class: class_text })
    }

    /// The diagnostics of the compilation.
    fn told(&mut self) -> Vec<Diagnostic> {
        let found = std::mem::take(&mut self.compilation.diagnostics);
        self.resolved(&found)
    }

    fn resolved(&self, found: &[diag::Diagnostic]) -> Vec<Diagnostic> {
        let resolver = self.resolver();
        found.iter().map(|it| resolver.diagnostic(it)).collect()
    }

    fn resolver(&self) -> SpanResolver<'_> {
        let (name, text) = &self.compilation.document;
        let files = self.compilation.fronts.project().files.iter().map(|(name, text)| (&**name, &**text));
        SpanResolver::new(files.chain([(name.as_str(), text.as_str())]))
    }

    /// The remarks of the passes up to a stage, where they are asked for.
    fn remarks(&self, compilation: &Compilation, stage: Stage, is_asked: bool) -> Vec<Remark> {
        let is_wanted = |pass: &str| route::level_of(pass).is_some_and(|it| stage.shows_passes_of(it));
        let places = self.resolver();
        let all = compilation.notes.remarks.iter().map(|it| Remark::new(it, &places));
        all.filter(|it| is_asked && is_wanted(&it.pass)).collect()
    }

    /// File and line of a place.
    fn place(&self, span: diag::Span) -> String {
        let (name, text) = self.compilation.file(span.file);
        let before = text.get(..span.start as usize).unwrap_or_default();
        format!("{}:{}", shown(Path::new(name)), before.matches('\n').count() + 1)
    }

    fn say(&self, found: &[Diagnostic]) {
        let text = human::diagnostics(found, &self.document.request);
        if !text.is_empty() {
            say(text.trim_end());
        }
    }
}
