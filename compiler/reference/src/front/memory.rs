//! A memory of parsed files and of the last fronts.

use std::sync::Arc;

use super::{Front, front_of_files, is_of_oir};
use crate::config::Config;
use crate::frontend::ParsedFiles;
use crate::frontend::program::SourceFile;
use crate::pass::Hook;
use crate::project::Project;

/// Remembers parsed files and the last fronts: after an edit one file is parsed, and asking again costs nothing.
#[derive(Debug, Default)]
pub struct Fronts {
    files: ParsedFiles,
    known: Recent<CachedFront>,
}

#[derive(Debug)]
struct CachedFront {
    files: Vec<Arc<SourceFile>>,
    main: String,
    stencil: Option<String>,
    /// With the options of the passes of OIR alone.
    config: Config,
    front: Arc<Front>,
}

impl CachedFront {
    fn answers(&self, project: &Project, files: &[Arc<SourceFile>], config: &Config) -> bool {
        // The same text of the same file is one file in memory.
        let are_same = || self.files.iter().zip(files).all(|(known, file)| Arc::ptr_eq(known, file));
        self.files.len() == files.len()
            && self.main == project.main
            && self.stencil == project.stencil
            && are_same()
            && (self.config == *config || !self.reads_levels() && self.is_same_but_for_levels(config))
    }

    /// Whether the number of levels decides anything: runs on other domains need no other compilation if not.
    fn reads_levels(&self) -> bool {
        self.front.externals.iter().any(|it| it.name == "k_end")
    }

    fn is_same_but_for_levels(&self, config: &Config) -> bool {
        self.config == Config { levels: self.config.levels, ..config.clone() }
    }
}

/// The last values of some work. The one that was not asked for longest is forgotten first.
#[derive(Debug)]
pub struct Recent<T> {
    /// The latest last.
    known: Vec<T>,
}

/// How many values are remembered: those of the text before an edit, and after it is undone.
const REMEMBERED: usize = 8;

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

impl<T> Recent<T> {
    /// The first value that fits, which is the latest then.
    pub fn find(&mut self, fits: impl FnMut(&T) -> bool) -> Option<&T> {
        let at = self.known.iter().position(fits)?;
        let found = self.known.remove(at);
        self.known.push(found);
        self.known.last()
    }

    /// Remembers a value.
    pub fn add(&mut self, value: T) {
        if self.known.len() == REMEMBERED {
            self.known.remove(0);
        }
        self.known.push(value);
    }
}

impl Fronts {
    /// The front of a project. The hook sees no step that is remembered.
    pub fn front(&mut self, project: &Project, config: &Config, hook: &mut dyn Hook) -> Arc<Front> {
        let files = self.files.of(project);
        let config = Config { passes: config.passes.for_passes(is_of_oir), ..config.clone() };
        if let Some(known) = self.known.find(|it| it.answers(project, &files, &config)) {
            return Arc::clone(&known.front);
        }
        let front = Arc::new(front_of_files(project, files.clone(), &config, hook));
        // A hook that has seen enough ends a compilation early.
        if hook.is_over() {
            return front;
        }
        let (main, stencil) = (project.main.clone(), project.stencil.clone());
        self.known.add(CachedFront { files, main, stencil, config, front: Arc::clone(&front) });
        front
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "from lib import f\ndef s(q: Field[float]):\n    with computation(PARALLEL), interval(...):\n        q = f(q)\n";
    const LIB: &str = "@function\ndef f(q):\n    return q + 1.0\n";

    fn project(lib: &str) -> Project {
        let mut project = Project::of_one("main.py", MAIN);
        project.files.insert("lib.py".to_owned(), lib.into());
        project
    }

    #[test]
    fn an_edit_parses_one_file_and_its_undoing_none() {
        let mut fronts = Fronts::default();
        let first = fronts.files.of(&project(LIB));
        let edited = fronts.files.of(&project("x = 1\n"));
        assert!(!Arc::ptr_eq(&first[0], &edited[0]), "the text of lib.py is another one");
        assert!(Arc::ptr_eq(&first[1], &edited[1]), "main.py stayed as it was");
        let undone = fronts.files.of(&project(LIB));
        assert!(first.iter().zip(&undone).all(|(one, other)| Arc::ptr_eq(one, other)));
    }
}
