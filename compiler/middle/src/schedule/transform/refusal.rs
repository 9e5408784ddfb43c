//! Why a transformation was not carried out.

use std::fmt;

use crate::diag::Origin;
use crate::schedule::nodes::{Container, Node};
use crate::space::names::of_stencil;

/// The reason, as one sentence, and the statements that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Lower-case, without a final dot, in the stencil's own names.
    pub reason: String,
    pub origins: Vec<Origin>,
}

impl Refusal {
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), origins: Vec::new() }
    }

    /// The same reason, about the first statement of a node.
    #[must_use]
    pub fn about(mut self, node: &Node) -> Self {
        self.origins.extend(node.first_origin().cloned());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The name of a container in the stencil.
#[must_use]
pub fn name_of(container: &Container) -> &str {
    of_stencil(&container.name)
}
