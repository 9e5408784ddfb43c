//! Decides how a compiler gets the text of the program: as one that takes long, and in how many parts.
//!
//! ```text
//! program s(a, b)                          program s(a, b)
//!                                          long text
//!                                          text in 5 parts
//! ```
//!
//! In a long text, loops in lanes share one copy of each function of mathematics. Each part has the loops of one step
//! that threads share.

use super::super::analysis::operations::n_operations;
use super::super::nodes::Program;
use super::PassCx;

/// As options and remarks call it.
pub const NAME: &str = "loops/plan-compilation";

/// Marks a program whose text is long, and one whose steps are parts.
///
/// - **Precondition**: the program is as code generators get it.
/// - **Effect**: [`Decisions::is_long`](super::super::nodes::Decisions::is_long) and
///   [`Decisions::n_parts`](super::super::nodes::Decisions::n_parts).
/// - **Legality**: always; what is computed stays the same.
/// - **Why**: the target's [`compilation`](crate::target::Target::compilation).
pub fn plan_compilation(program: &mut Program, cx: &mut PassCx) {
    let Some(limits) = cx.options.compilation.value else { return };
    if n_operations(program) >= limits.long_from && cx.may_change() {
        program.decisions.set_long();
    }
    let n_spread = program.steps.iter().filter(|it| it.is_spread).count();
    if n_spread >= limits.parts_from && cx.may_change() {
        program.decisions.set_parts(n_spread);
    }
}
