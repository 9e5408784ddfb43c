//! A project and a configuration in, every level out; the only state.

use std::sync::Arc;

use crate::config::Config;
use crate::pipeline::{Compilation, Hook, route};
use crate::project::Project;

/// Remembers the last compilations, so that asking again costs nothing.
#[derive(Debug, Default)]
pub struct Session {
    /// The latest last.
    known: Vec<(Project, Config, Arc<Compilation>)>,
}

/// How many compilations are remembered: the text before an edit, and after it is undone.
const REMEMBERED: usize = 8;

impl Session {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles, or remembers; the hook sees no step of what is remembered.
    pub fn compile(&mut self, project: &Project, config: &Config, hook: &mut dyn Hook) -> Arc<Compilation> {
        if let Some(at) = self.known.iter().position(|(p, c, _)| p == project && c == config) {
            let known = self.known.remove(at);
            let compilation = Arc::clone(&known.2);
            self.known.push(known);
            return compilation;
        }
        let compilation = Arc::new(route::compile(project, config, hook));
        if self.known.len() == REMEMBERED {
            self.known.remove(0);
        }
        self.known.push((project.clone(), config.clone(), Arc::clone(&compilation)));
        compilation
    }
}
