//! A project and a configuration in, every level out; the only state.

use std::sync::Arc;

use crate::config::Config;
use crate::frontend::ParsedFiles;
use crate::frontend::program::SourceFile;
use crate::pipeline::{Compilation, Hook, behind, route};
use crate::project::Project;

/// Remembers parsed files and the last compilations: after an edit one file is parsed, and asking again costs nothing.
#[derive(Debug, Default)]
pub struct Session {
    files: ParsedFiles,
    /// The latest last.
    known: Vec<CachedCompilation>,
}

#[derive(Clone, Debug)]
struct CachedCompilation {
    files: Vec<Arc<SourceFile>>,
    main: String,
    stencil: Option<String>,
    config: Config,
    compilation: Arc<Compilation>,
    /// Whether the way behind the OIR was open.
    is_whole: bool,
}

impl CachedCompilation {
    fn answers(&self, project: &Project, files: &[Arc<SourceFile>], config: &Config) -> bool {
        self.is_whole == behind::is_open() && self.is_of(project, files) && self.is_as(config)
    }

    /// Whether all levels up to the passes of OIR would be the same, and are there.
    fn answers_up_to_oir(&self, project: &Project, files: &[Arc<SourceFile>], config: &Config) -> bool {
        let up_to_oir = |it: &Config| Config { passes: it.passes.for_passes(route::is_of_oir), ..it.clone() };
        let passes = &config.passes;
        // A compilation that ends there has nothing behind it, and a trace is of the whole way.
        let goes_on = !passes.trace && passes.for_passes(route::is_of_oir).stop_after.is_none();
        goes_on
            && !self.compilation.has_errors()
            && self.compilation.levels.optimized.is_some()
            && self.is_of(project, files)
            && Self { config: up_to_oir(&self.config), ..self.clone() }.is_as(&up_to_oir(config))
    }

    fn is_of(&self, project: &Project, files: &[Arc<SourceFile>]) -> bool {
        // The same text of the same file is one file in memory.
        let are_same = || self.files.iter().zip(files).all(|(known, file)| Arc::ptr_eq(known, file));
        self.files.len() == files.len()
            && self.main == project.main
            && self.stencil == project.stencil
            && are_same()
    }

    fn is_as(&self, config: &Config) -> bool {
        self.config == *config || !self.reads_levels() && self.is_same_but_for_levels(config)
    }

    /// Whether the number of levels decides anything: runs on other domains need no other compilation if not.
    fn reads_levels(&self) -> bool {
        self.compilation.externals.iter().any(|it| it.name == "k_end")
    }

    fn is_same_but_for_levels(&self, config: &Config) -> bool {
        self.config == Config { levels: self.config.levels, ..config.clone() }
    }
}

/// How many compilations are remembered: the text before an edit, and after it is undone.
const REMEMBERED: usize = 8;

impl Session {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles a project, or returns its compilation if that is remembered. If only the levels up to the
    /// passes of OIR are the same, the others are compiled. The hook sees no step that is remembered.
    pub fn compile(&mut self, project: &Project, config: &Config, hook: &mut dyn Hook) -> Arc<Compilation> {
        let files = self.files.of(project);
        if let Some(at) = self.known.iter().position(|it| it.answers(project, &files, config)) {
            let known = self.known.remove(at);
            let compilation = Arc::clone(&known.compilation);
            self.known.push(known);
            return compilation;
        }
        let half = self.known.iter().rev().find(|it| it.answers_up_to_oir(project, &files, config));
        let compilation = Arc::new(match half {
            Some(half) => route::compile_behind_oir(&half.compilation, project, config, hook),
            None => route::compile_files(project, files.clone(), config, hook),
        });
        if self.known.len() == REMEMBERED {
            self.known.remove(0);
        }
        let (main, stencil) = (project.main.clone(), project.stencil.clone());
        let (config, remembered) = (config.clone(), Arc::clone(&compilation));
        let is_whole = behind::is_open();
        self.known.push(CachedCompilation {
            files,
            main,
            stencil,
            config,
            compilation: remembered,
            is_whole,
        });
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
    fn an_edit_parses_one_file_and_its_undoing_none() {
        let mut session = Session::new();
        let first = session.files.of(&project(LIB));
        let edited = session.files.of(&project("x = 1\n"));
        assert!(!Arc::ptr_eq(&first[0], &edited[0]), "the text of lib.py is another one");
        assert!(Arc::ptr_eq(&first[1], &edited[1]), "main.py stayed as it was");
        let undone = session.files.of(&project(LIB));
        assert!(first.iter().zip(&undone).all(|(one, other)| Arc::ptr_eq(one, other)));
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
            |it: &Compilation| it.levels.definition.as_ref().map(|it| crate::defir::print::listing(it).text);
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
        assert_eq!(found.remarks, fresh.remarks);

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
