//! A project and a configuration in, every level out; the only state.

use std::sync::Arc;

use crate::config::Config;
use crate::front::memory::Recent;
use crate::front::{Front, Fronts};
use crate::pass::PassOptions;
use crate::pipeline::{Compilation, Hook, route};
use crate::project::Project;

/// Remembers the last fronts and what was compiled from them: asking again costs nothing.
#[derive(Debug, Default)]
pub struct Session {
    pub fronts: Fronts,
    known: Recent<CachedCompilation>,
}

#[derive(Debug)]
struct CachedCompilation {
    front: Arc<Front>,
    options: PassOptions,
    compilation: Arc<Compilation>,
}

impl Session {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles a project, or returns its compilation if that is remembered. If only its front is the same,
    /// the levels behind it are compiled. The hook sees no step that is remembered.
    pub fn compile(&mut self, project: &Project, config: &Config, hook: &mut dyn Hook) -> Arc<Compilation> {
        let front = self.fronts.front(project, config, hook);
        self.compile_front(front, project, &config.passes, hook)
    }

    /// As [`compile`](Self::compile), from a front of the project.
    pub fn compile_front(
        &mut self,
        front: Arc<Front>,
        project: &Project,
        options: &PassOptions,
        hook: &mut dyn Hook,
    ) -> Arc<Compilation> {
        let is_known = |it: &CachedCompilation| Arc::ptr_eq(&it.front, &front) && it.options == *options;
        if let Some(known) = self.known.find(is_known) {
            return Arc::clone(&known.compilation);
        }
        let compilation = Arc::new(route::compile_front(Arc::clone(&front), project, options, hook));
        let remembered = Arc::clone(&compilation);
        self.known.add(CachedCompilation { front, options: options.clone(), compilation: remembered });
        compilation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::Device;
    use crate::pipeline::{NoHook, Step, StepKind};

    const MAIN: &str = "from lib import f\ndef s(q: Field[float]):\n    with computation(PARALLEL), interval(...):\n        q = f(q)\n";
    const LIB: &str = "@function\ndef f(q):\n    return q + 1.0\n";

    fn project(lib: &str) -> Project {
        let mut project = Project::of_one("main.py", MAIN);
        project.files.insert("lib.py".to_owned(), lib.into());
        project
    }

    #[test]
    fn another_domain_is_another_compilation_only_where_its_levels_are_read() {
        let on = |levels| Config { levels: Some(levels), ..Config::default() };
        let mut session = Session::new();
        let first = session.compile(&project(LIB), &on(4), &mut NoHook);
        assert!(Arc::ptr_eq(&first, &session.compile(&project(LIB), &on(5), &mut NoHook)));
        let of_levels = Project::of_one(
            "main.py",
            "def s(q: Field[float]):\n    from __externals__ import k_end\n    with computation(FORWARD), interval(...):\n        q = float(k_end)\n",
        );
        let four = session.compile(&of_levels, &on(4), &mut NoHook);
        let five = session.compile(&of_levels, &on(5), &mut NoHook);
        let text =
            |it: &Compilation| it.front.definition.as_ref().map(|it| crate::defir::print::listing(it).text);
        assert_ne!(text(&four), text(&five));
    }

    #[test]
    fn another_schedule_keeps_the_levels_above_it() {
        #[derive(Default)]
        struct Doors(Vec<&'static str>);
        impl Hook for Doors {
            fn begin(&mut self, step: Step) {
                if step.kind == StepKind::Door {
                    self.0.push(step.name);
                }
            }
        }
        let mut session = Session::new();
        session.compile(&project(LIB), &Config::default(), &mut NoHook);
        let mut for_gpu = Config::default();
        for_gpu.passes.device = Device::Gpu;
        let mut doors = Doors::default();
        let found = session.compile(&project(LIB), &for_gpu, &mut doors);
        assert_eq!(doors.0, ["tree", "schedule", "sdfg", "loops"]);
        let fresh = Session::new().compile(&project(LIB), &for_gpu, &mut NoHook);
        let texts =
            |it: &Compilation| it.listings().map(|(stage, it)| (stage, it.text.clone())).collect::<Vec<_>>();
        assert_eq!(texts(&found), texts(&fresh));
        assert_eq!(found.notes.remarks, fresh.notes.remarks);

        let mut without = Config::default();
        without.passes.skip.insert("oir/fold-constants".to_owned());
        let mut doors = Doors::default();
        session.compile(&project(LIB), &without, &mut doors);
        assert!(doors.0.contains(&"oir"), "a pass of OIR is another OIR");
    }

    #[test]
    fn what_was_compiled_is_remembered_until_anything_differs() {
        let mut session = Session::new();
        let config = Config::default();
        let first = session.compile(&project(LIB), &config, &mut NoHook);
        assert!(Arc::ptr_eq(&first, &session.compile(&project(LIB), &config, &mut NoHook)));
        let other = session.compile(&project(LIB), &Config::with_precision(32), &mut NoHook);
        assert!(!Arc::ptr_eq(&first, &other));
        let broken =
            session.compile(&project("@function\ndef f(q):\n    return q +\n"), &config, &mut NoHook);
        assert!(broken.has_errors(), "what is wrong in a file that is needed is told");
    }
}
