//! The statements of a whole stencil.

use super::nodes::{Stencil, Stmt};

impl Stencil {
    /// Calls `each` for every statement, in order of execution.
    pub fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Stmt)) {
        for stmt in self.computations.iter().flat_map(|it| &it.body) {
            stmt.walk(each);
        }
    }
}
