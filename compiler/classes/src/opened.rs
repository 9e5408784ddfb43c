//! A class or a document that was compiled, with what its text says of a run.

use std::collections::BTreeMap;

use isobar_compiler::config::Config;
use isobar_compiler::diag;
use isobar_compiler::frontend::models::ModelChoice;
use isobar_compiler::inputs::{Directives, directive};
use isobar_compiler::project::Project;
use isobar_program::compile::{ProgramCompilation, compile, compile_class};
use isobar_program::from_class::ClassRequest;
use isobar_program::interpret::HaloFill;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::request::{HaloValues, Request};

/// The domain of a class where nothing tells another one.
pub const USUAL_DOMAIN: [i64; 3] = [12, 12, 10];

/// The points of halos along I and J, as NDSL has them without a word.
pub const USUAL_HALO: u32 = 3;

/// The program that a request means in the place of a stencil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramChoice {
    Class(ModelChoice),
    /// The request's main file, which is a document or an object graph.
    Document,
}

impl ProgramChoice {
    /// The program of a project; `None` where it has a stencil. A main file whose name ends with `.json` is a document.
    #[must_use]
    pub fn of(project: &Project) -> Option<Self> {
        if project.main.ends_with(".json") {
            return Some(Self::Document);
        }
        ModelChoice::of(project, project.stencil.as_ref()?).map(Self::Class)
    }
}

/// A program that was compiled.
#[derive(Debug)]
pub struct OpenedClass {
    pub compilation: ProgramCompilation,
    pub directives: Directives,
    pub domain: [i64; 3],
}

impl OpenedClass {
    /// Compiles the program that was chosen. Of a class, the request's externals are arguments of its constructor.
    #[must_use]
    pub fn of(request: &Request, choice: &ProgramChoice, halo: u32) -> Self {
        let project = request.project();
        let text = project.files.get(&project.main).map_or("", |it| it);
        let choice = match choice {
            ProgramChoice::Class(choice) => choice,
            ProgramChoice::Document => {
                let directives = Directives::default();
                let compilation = compile(&project.main, text, request.config(&directives));
                let domain = request.domain.unwrap_or(USUAL_DOMAIN);
                return Self { compilation, directives, domain };
            }
        };
        let (directives, _) = directive::read(text, project.main_id().unwrap_or_default());
        let domain = request.domain.or(directives.domain).unwrap_or(USUAL_DOMAIN);
        let given = request.constructor(&directives);
        let wanted = ClassRequest {
            class: &choice.class,
            method: &choice.method,
            given: &given,
            domain: domain.map(|it| u32::try_from(it).unwrap_or(0)),
            halo,
            edges: [true; 4],
        };
        let config = request.config(&Directives::default());
        let config = Config { externals: BTreeMap::new(), ..config };
        Self { compilation: compile_class(&project, &wanted, config), directives, domain }
    }

    /// The values that exchanges store in halos: those of the request, or of the text.
    #[must_use]
    pub fn fill(&self, request: &Request) -> HaloFill {
        let of_text = self.directives.halo.as_deref().and_then(HaloFill::from_name);
        let asked = request.halo.map(|it| match it {
            HaloValues::None => HaloFill::None,
            HaloValues::Periodic => HaloFill::Periodic,
            HaloValues::ZeroGradient => HaloFill::ZeroGradient,
        });
        asked.or(of_text).unwrap_or_default()
    }

    /// Files, lines and columns of spans.
    #[must_use]
    pub fn places(&self) -> SpanResolver<'_> {
        let (name, text) = &self.compilation.document;
        let files = self.compilation.fronts.project().files.iter().map(|(name, text)| (&**name, &**text));
        SpanResolver::new(files.chain([(name.as_str(), text.as_str())]))
    }

    /// Diagnostics as callers read them.
    #[must_use]
    pub fn told(&self, found: &[diag::Diagnostic]) -> Vec<Diagnostic> {
        let places = self.places();
        found.iter().map(|it| places.diagnostic(it)).collect()
    }
}
