//! A class that was compiled, with what its text says of a run.

use std::collections::BTreeMap;

use isobar_compiler::config::Config;
use isobar_compiler::diag;
use isobar_compiler::frontend::models::ModelChoice;
use isobar_compiler::inputs::{Directives, directive};
use isobar_program::compile::{ProgramCompilation, compile_class};
use isobar_program::from_class::ClassRequest;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::request::Request;

/// The domain of a class where nothing tells another one.
pub const USUAL_DOMAIN: [i64; 3] = [12, 12, 10];

/// The points of halos along I and J, as NDSL has them without a word.
pub const USUAL_HALO: u32 = 3;

/// A class that was compiled.
#[derive(Debug)]
pub struct OpenedClass {
    pub compilation: ProgramCompilation,
    pub directives: Directives,
    pub domain: [i64; 3],
}

impl OpenedClass {
    /// Compiles the class that was chosen. The request's externals are arguments of its constructor.
    #[must_use]
    pub fn of(request: &Request, choice: &ModelChoice, halo: u32) -> Self {
        let project = request.project();
        let text = project.files.get(&project.main).map_or("", |it| it);
        let (directives, _) = directive::read(text, project.main_id().unwrap_or_default());
        let domain = request.domain.or(directives.domain).unwrap_or(USUAL_DOMAIN);
        let given = request.constructor(&directives);
        let wanted = ClassRequest {
            class: &choice.class,
            method: &choice.method,
            given: &given,
            domain: domain.map(|it| u32::try_from(it).unwrap_or(0)),
            halo,
        };
        let config = request.config(&Directives::default());
        let config = Config { externals: BTreeMap::new(), ..config };
        Self { compilation: compile_class(&project, &wanted, config), directives, domain }
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
