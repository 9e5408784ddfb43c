//! A stencil that is compiled when somebody has to look into it.

use std::fmt;
use std::sync::OnceLock;

use isobar_compiler::pipeline::Compilation;

/// A stencil: compiled, or how it would be.
pub struct Source {
    compilation: OnceLock<Compilation>,
    compile: Box<dyn Fn() -> Compilation + Send + Sync>,
}

impl Source {
    /// One that is compiled when it is first asked for.
    pub fn later(compile: impl Fn() -> Compilation + Send + Sync + 'static) -> Self {
        Self { compilation: OnceLock::new(), compile: Box::new(compile) }
    }

    /// Every level of it.
    pub fn compilation(&self) -> &Compilation {
        self.compilation.get_or_init(&self.compile)
    }

    /// Whether it is compiled.
    pub fn is_compiled(&self) -> bool {
        self.compilation.get().is_some()
    }
}

impl From<Compilation> for Source {
    fn from(compilation: Compilation) -> Self {
        Self { compilation: compilation.into(), compile: Box::new(Compilation::default) }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("is_compiled", &self.is_compiled()).finish_non_exhaustive()
    }
}
