//! A compiled variant of a stencil, as back ends take it: no back end uses a compilation.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Compilation, Contract, ProgramKind};
use crate::call::signature::{Param, ParamKind};
use crate::diag::ProgramOrder;
use crate::kernel::Kernels;
use crate::oir::analysis::extents::Extents;
use crate::pass::PassOptions;
use crate::schedule::analysis::cost::{Cost, Machine, cost, touched_part};
use crate::sdfg::nodes::Sdfg;
use crate::space::{Axis, Side};
use crate::tree::{Tree, nodes::Node};
use crate::{loops, npir, oir};

/// The facts of a variant that calls need, without its program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the stencil in lists; its path where several stencils have one name.
    pub stencil: String,
    /// The contract of this variant: with its axes, and without the second parameter of each alias.
    pub contract: Contract,
    /// Decides which of several traps a run reports.
    pub order: ProgramOrder,
    /// Whether rows along J are independent of each other and of their position. Then rows may be called one
    /// after the other.
    pub has_rows_apart: bool,
}

impl Plan {
    /// The plan of a compiled variant; `None` where it does not compile.
    #[must_use]
    pub fn of(compilation: &Compilation) -> Option<Self> {
        let contract = compilation.front.contract().filter(|_| !compilation.has_errors())?;
        let stencil = compilation.front.stencil.clone().unwrap_or_else(|| contract.signature.name.clone());
        let tree = compilation.levels.tree.as_ref().filter(|_| compilation.front.of_calls.is_none());
        let has_rows_apart = tree.is_some_and(|it| has_rows_apart(it, &contract));
        let order = compilation.front.order();
        Some(Self { stencil, contract, order, has_rows_apart })
    }
}

fn has_rows_apart(tree: &Tree, contract: &Contract) -> bool {
    let is_apart = |it: &Param| match &it.kind {
        ParamKind::Field { axes, .. } if it.access.is_written() => {
            axes.has(Axis::J) && it.kind.halo(Axis::J) == (0, 0)
        }
        ParamKind::Field { .. } | ParamKind::Scalar { .. } => true,
    };
    let mut has_regions = false;
    for node in &tree.children {
        node.walk(&mut |it| {
            has_regions |= matches!(it, Node::Region(it) if it.region.j != Side::default());
        });
    }
    !has_regions && contract.signature.params.iter().all(is_apart)
}

/// The OIR as it was lowered, with its extents.
#[derive(Clone, Debug)]
pub struct Reference {
    pub stencil: oir::nodes::Stencil,
    pub extents: Extents,
}

/// The program of a variant; clones share it.
#[derive(Clone, Debug)]
pub enum Program {
    Reference(Arc<Reference>),
    Arrays(Arc<npir::Stencil>),
    Loops(Arc<loops::Program>),
    Kernels(Arc<Kernels>),
}

impl Program {
    /// The program of a compiled variant; `None` where not all passes up to it ran.
    #[must_use]
    pub fn of(compilation: &Compilation, kind: ProgramKind) -> Option<Self> {
        Some(match kind {
            ProgramKind::Reference => {
                let (stencil, extents) = compilation.front.reference()?;
                Self::Reference(Arc::new(Reference { stencil: stencil.clone(), extents: extents.clone() }))
            }
            ProgramKind::Arrays => Self::Arrays(Arc::new(compilation.front.npir()?.clone())),
            ProgramKind::Loops(code) => {
                let loops = compilation.loops_for(code);
                Self::Loops(Arc::new(loops.map(Cow::into_owned)?))
            }
            ProgramKind::Kernels => Self::Kernels(Arc::new(compilation.kernels()?.clone())),
        })
    }
}

/// The expected cost of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallCost {
    pub cost: Cost,
    /// The fraction of its traffic that belongs to points that are used. Gaps between them are moved as well.
    pub touched_part: f64,
}

impl Compilation {
    /// The graph of a stencil without errors.
    #[must_use]
    pub fn graph(&self) -> Option<&Sdfg> {
        self.levels.sdfg.as_ref().filter(|_| !self.has_errors())
    }

    /// The options of the passes.
    #[must_use]
    pub fn options(&self) -> &PassOptions {
        &self.levels.options
    }

    /// Whether all passes ran, so that code can be made.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.levels.is_whole
    }

    /// The expected cost of a call on a machine; `None` where there is no schedule.
    #[must_use]
    pub fn cost_of_call(&self, machine: &Machine) -> Option<CallCost> {
        let schedule = self.levels.schedule.as_ref()?;
        Some(CallCost { cost: cost(schedule, machine), touched_part: touched_part(schedule, machine) })
    }
}
