//! The stable name of a kind of diagnostic.

use std::fmt;

/// `E..` the stencil, `C..` the call, `D..` the run directives in comments, `P..` programs, `W..` warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
