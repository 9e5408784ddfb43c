//! Changes to OIR that keep its meaning.

pub mod merge_horizontal_executions;
pub mod localize_temporaries;
pub mod prune_temporaries;
pub mod prune_regions;

use super::analysis::extents::{Extents, extents};
use super::nodes::Stencil;
use crate::diag::{Origin, Remark};

/// A pass with its name, as `--after` takes it.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    pub name: &'static str,
    pub run: fn(&mut Stencil, &mut PassCx),
}

/// In the order in which they run.
pub const PASSES: &[Pass] = &[
    // First what needs no work at all, so that nothing later looks at it.
    Pass { name: prune_regions::NAME, run: prune_regions::prune_regions },
    Pass { name: prune_temporaries::NAME, run: prune_temporaries::prune_temporaries },
    Pass {
        name: merge_horizontal_executions::NAME,
        run: merge_horizontal_executions::merge_horizontal_executions,
    },
    // After merging, when the uses of most temporaries have come together.
    Pass { name: localize_temporaries::NAME, run: localize_temporaries::localize_temporaries },
];

/// What a pass may use and what it tells.
#[derive(Clone, Debug, Default)]
pub struct PassCx {
    /// Of the stencil as it is; a pass that changes it computes them anew.
    pub extents: Extents,
    pub remarks: Vec<Remark>,
}

impl PassCx {
    /// The context of the first pass.
    #[must_use]
    pub fn new(stencil: &Stencil) -> Self {
        Self { extents: extents(stencil), remarks: Vec::new() }
    }

    /// Drops what the stencil does not use any more, and computes the extents anew.
    pub(super) fn changed(&mut self, stencil: &mut Stencil) {
        stencil.compact();
        self.extents = extents(stencil);
    }

    /// Tells what a pass did.
    pub(super) fn applied(&mut self, pass: &'static str, message: String, origin: Option<&Origin>) {
        self.remarks.push(Remark { pass, is_applied: true, message, origin: origin.cloned() });
    }

    /// Tells what a pass left, and why.
    pub(super) fn missed(&mut self, pass: &'static str, message: String, origin: Option<&Origin>) {
        self.remarks.push(Remark { pass, is_applied: false, message, origin: origin.cloned() });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::oir::{parse::parse, print::listing, validate::validate};

    /// Runs a pass on OIR as text; answers the new text and the remarks.
    pub(in crate::oir) fn after(text: &str, pass: fn(&mut Stencil, &mut PassCx)) -> String {
        let mut stencil = parse(text).expect("the text is OIR");
        assert_eq!(validate(&stencil), Vec::<String>::new(), "before the pass");
        let mut cx = PassCx::new(&stencil);
        pass(&mut stencil, &mut cx);
        assert_eq!(validate(&stencil), Vec::<String>::new(), "after the pass");
        let mut found = listing(&stencil).text;
        for remark in &cx.remarks {
            let word = if remark.is_applied { "applied" } else { "missed" };
            found.push_str(&format!("{word}: {}\n", remark.message));
        }
        found
    }
}
