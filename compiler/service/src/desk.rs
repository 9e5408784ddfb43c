//! Remembers the last text, and what the last texts that compiled told about their names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::analysis::Analysis;
use super::facts::Facts;
use super::scopes::SymbolKind;
use isobar_front::config::Config;
use isobar_front::project::Project;
use isobar_ground::diag::FileId;
use isobar_ground::pass::NoHook;
use isobar_reference::front::Fronts;

/// The only state of the service.
#[derive(Debug, Default)]
pub struct Desk {
    latest: Option<Analysis>,
}

impl Desk {
    /// The text as far as it is understood without compiling it: for what follows every key.
    pub fn read(&mut self, project: &Project, config: &Config) -> &Analysis {
        self.read_mut(project, config)
    }

    /// The text with what a front knows of it: of the project's stencil, and of the one around `at`.
    pub fn analyse(
        &mut self,
        fronts: &mut Fronts,
        project: &Project,
        config: &Config,
        at: Option<(FileId, u32)>,
    ) -> &Analysis {
        let front = fronts.front(project, config, &mut NoHook);
        let analysis = self.read_mut(project, config);
        analysis.selected.clone_from(&front.stencil);
        analysis.diagnostics.clone_from(&front.notes.diagnostics);
        learn(analysis, front.stencil.as_deref(), &front);
        let around = at.and_then(|(file, offset)| {
            let id = analysis.index.function_at(project, file, offset)?;
            let symbol = analysis.index.scopes.symbol(id);
            let is_here = symbol.kind == SymbolKind::Stencil && project.main_id() == Some(file);
            analysis.stencil_name(symbol).filter(|_| is_here).map(str::to_owned)
        });
        if let Some(name) = around.filter(|it| front.stencil.as_ref() != Some(it)) {
            let other = Project { stencil: Some(name.clone()), ..project.clone() };
            let front = fronts.front(&other, config, &mut NoHook);
            learn(analysis, Some(&name), &front);
        }
        analysis
    }

    fn read_mut(&mut self, project: &Project, config: &Config) -> &mut Analysis {
        let is_known = |it: &Analysis| {
            it.project.files == project.files && it.project.main == project.main && it.config == *config
        };
        let mut latest = match self.latest.take() {
            Some(latest) if is_known(&latest) => latest,
            before => {
                let mut next = Analysis::new(project, config);
                if let Some(before) = before {
                    let old = before.facts.into_iter();
                    next.facts = old.map(|(name, (facts, _))| (name, (facts, false))).collect();
                    next.selected = before.selected;
                    forget_those_that_are_gone(&mut next);
                }
                next
            }
        };
        latest.project.stencil.clone_from(&project.stencil);
        self.latest.insert(latest)
    }
}

fn learn(analysis: &mut Analysis, stencil: Option<&str>, front: &isobar_reference::front::Front) {
    let Some(stencil) = stencil else { return };
    if analysis.facts.get(stencil).is_some_and(|(_, is_present)| *is_present) {
        return;
    }
    if let Some(facts) = Facts::of(front, &analysis.index) {
        analysis.facts.insert(stencil.to_owned(), (Arc::new(facts), true));
    }
}

/// Stencils that the text does not have any more.
fn forget_those_that_are_gone(analysis: &mut Analysis) {
    let scopes = &analysis.index.scopes;
    let known = &analysis.stencils;
    let is_there = |name: &String| known.iter().any(|it| it.name == *name);
    let facts: BTreeMap<_, _> = std::mem::take(&mut analysis.facts);
    // While a line is broken, its stencil may look like a plain function.
    let is_broken = scopes.symbols.iter().all(|it| it.kind != SymbolKind::Stencil);
    analysis.facts = facts.into_iter().filter(|(name, _)| is_broken || is_there(name)).collect();
}
