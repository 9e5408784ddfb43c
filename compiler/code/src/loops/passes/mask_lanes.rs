//! Marks the loops whose iterations are lanes, and how lanes run code that differs between them.
//!
//! Where the target has masks, a branch or a `while` inside runs for the lanes that take part, and the others
//! wait. The target also decides how the last iterations of a row run.
//!
//! ```text
//! for i in [0, I) parallel:                for i in [0, I) parallel masked:
//!   while x > 1.0:                           while x > 1.0:
//!     x = x / 2.0                              x = x / 2.0
//! ```

use std::collections::BTreeSet;

use super::super::analysis::repeat::may_repeat;
use super::super::nodes::{
    Assign, DimensionIndex, Element, For, Item, Lanes, Program, Read, Target as Written,
};
use super::super::visit::{any, each_origin, walk};
use super::PassCx;
use super::hoist_invariants::is_long;
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::Expr;
use crate::space::{Axis, Symbol};
use crate::target::{Divergence, Fission, Remainder, Target};
use crate::types::DType;

/// As options and remarks call it.
pub const NAME: &str = "loops/mask-lanes";

/// Marks the loops whose iterations are lanes under masks.
///
/// - **Precondition**: locals are declared.
/// - **Effect**: [`Decisions::lanes`](super::super::nodes::Decisions::lanes); a loop without that mark runs its iterations one by one.
/// - **Legality**: [`may_be_masked`] for lanes; [`may_repeat`] for points that the last vector computes
///   twice.
/// - **Why**: vectors compute several points in the time of one.
pub fn mask_lanes(program: &mut Program, cx: &mut PassCx) {
    if cx.options.divergence.value != Divergence::Masks {
        return;
    }
    let mut found = Vec::new();
    program.functions.values().for_each(|it| mark(program, &it.body, &mut found, cx));
    found.into_iter().for_each(|(of, lanes)| program.decisions.set_lanes(of, lanes));
}

/// Marks loops from outside in, and does not search inside of a marked loop. A row with a `while` is tried
/// even if the schedule gave it no lanes, since masks let its points wait for each other.
fn mark(program: &Program, items: &[Item], found: &mut Vec<(Handle<For>, Lanes)>, cx: &mut PassCx) {
    for item in items {
        if let Item::For(it) = item {
            let has_while = any(&it.body, &mut |it| matches!(it, Item::While(_)));
            if it.is_simd || it.is_parallel && it.axis == Axis::I && has_while {
                let mut origins: Vec<Origin> = Vec::new();
                each_origin(&it.body, &mut |it| origins.push(it.clone()));
                match may_be_masked(program, it, &cx.options) {
                    Ok(()) if cx.may_change() => {
                        found.push((it.id, lanes(program, it, &cx.options)));
                        if has_while {
                            let reason = cx.options.divergence.reason;
                            cx.applied(format!("the `while` runs in lanes under masks: {reason}"), &origins);
                        }
                        // Lanes hold no lanes.
                        continue;
                    }
                    Ok(()) => {}
                    Err(blocked) => {
                        let axis = it.axis.position_name();
                        cx.missed(
                            format!("points along {axis} are no lanes: {}", blocked.reason()),
                            &origins,
                        );
                    }
                }
            }
        }
        item.blocks().into_iter().for_each(|it| mark(program, it, found, cx));
    }
}

/// Decides how the lanes of a loop run. Each function that takes long gets a loop of its own if something
/// else takes long too, a division at least. A function alone has nothing to be apart from.
fn lanes(program: &Program, it: &For, target: &Target) -> Lanes {
    let (mut has_functions, mut n_long) = (false, 0);
    walk(&it.body, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.walk(&mut |it| {
                has_functions |= it.is_transcendental();
                n_long += usize::from(is_long(it));
            });
        });
    });
    Lanes {
        is_masked: true,
        may_overlap: target.remainder.value == Remainder::Overlap && may_repeat(program, it),
        is_split: target.fission.value == Fission::Vectors && has_functions && n_long > 1,
        block: None,
    }
}

/// Why iterations of a loop are no lanes.
///
/// The reasons are for the author of a stencil, so they speak of points and conditions, not of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    Order,
    Narrow,
    Indices,
    Shared,
    Guards,
    Inside,
}

impl Blocked {
    fn reason(self) -> &'static str {
        match self {
            Blocked::Order => "the loop goes down, or in steps",
            Blocked::Narrow => "lanes have no integers of 8 or 16 bits here",
            Blocked::Indices => "elements do not lie one step apart from point to point",
            Blocked::Shared => "a value is assigned that all points share",
            Blocked::Guards => "a condition on the position guards elements that need not exist",
            Blocked::Inside => "there is another loop inside, or an index that is checked",
        }
    }
}

/// Whether iterations of a loop can be lanes.
///
/// Returns the first obstacle. A local must be the point's own, declared in the body. Lanes run at the same
/// time, so a local that all points share would have several values at once.
fn may_be_masked(program: &Program, it: &For, target: &Target) -> Result<(), Blocked> {
    if it.is_descending || it.positions.step != 1 {
        return Err(Blocked::Order);
    }
    let is_held =
        |dtype: DType| target.has_narrow_lanes.value || !matches!(dtype, DType::Int8 | DType::Int16);
    let symbol = &it.positions.variable;
    let mut own_locals = BTreeSet::new();
    walk(&it.body, &mut |item| {
        if let Item::Declare(declare) = item {
            own_locals.insert(declare.local);
        }
    });
    let mut blocked = None;
    let mut block = |is_blocked: bool, by: Blocked| {
        if is_blocked && blocked.is_none() {
            blocked = Some(by);
        }
    };
    walk(&it.body, &mut |item| {
        item.each_expr(&mut |expr: &Expr<Read>| {
            expr.walk(&mut |it| block(!is_held(it.dtype), Blocked::Narrow));
            expr.accesses(&mut |it| {
                block(matches!(it, Read::Element(it) if comes_round(program, it, symbol)), Blocked::Indices);
            });
        });
        match item {
            Item::Assign(Assign { target: Written::Element(element), .. }) => {
                let is_along = moves(element, symbol) && !comes_round(program, element, symbol);
                block(!is_along, Blocked::Indices);
            }
            Item::Assign(Assign { target: Written::Local(local), .. }) => {
                block(!own_locals.contains(local), Blocked::Shared);
            }
            Item::Declare(it) => block(!is_held(program.locals[it.local].dtype), Blocked::Narrow),
            Item::If(it) => it.branches.iter().for_each(|it| {
                it.condition.accesses(&mut |read| {
                    block(matches!(read, Read::Sum(sum) if sum.factor(symbol) != 0), Blocked::Guards);
                });
            }),
            Item::While(_) => {}
            Item::For(_) | Item::Strips(_) | Item::Launch(_) | Item::Checked(_) | Item::Barrier => {
                block(true, Blocked::Inside)
            }
        }
    });
    blocked.map_or(Ok(()), Err)
}

/// Whether the element is another one at each position.
fn moves(element: &Element, symbol: &Symbol) -> bool {
    element.index.iter().any(|at| match at {
        DimensionIndex::Known(sum) => sum.factor(symbol) != 0,
        DimensionIndex::Found { shift, .. } => shift.factor(symbol) != 0,
    })
}

/// Whether elements wrap around a ring along the lanes, so that neighbours need not lie side by side.
fn comes_round(program: &Program, element: &Element, symbol: &Symbol) -> bool {
    let ring = program.arrays[element.array].ring;
    ring.is_some_and(|ring| match &element.index[ring.dimension] {
        DimensionIndex::Known(sum) => sum.factor(symbol) != 0,
        DimensionIndex::Found { .. } => true,
    })
}
