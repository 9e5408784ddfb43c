//! Finds accesses that may lie outside of their arrays.
//!
//! The proof knows sizes of the domain, ranges of loops, and conditions on positions. It does not know the steps of the
//! schedule, so it finds a step that is wrong.

use std::collections::{BTreeMap, BTreeSet};

use super::super::nodes::{
    Array, Branch, DimensionIndex, Element, Integer, Item, Positions, Program, Read, Storage, StripPart,
    Target,
};
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::space::assume::{Assumptions, SymbolLimit};
use crate::space::{Affine, Size};
use crate::types::{BinaryOp, UnaryOp, Value};

/// An access that the proof does not place inside its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfBoundsAccess {
    /// As the stencil calls it.
    pub array: String,
    /// The index, counted from the start of the array.
    pub index: String,
    /// The index has to be less than this.
    pub size: Size,
    /// The statement; none where it cannot be told.
    pub origin: Option<Origin>,
}

/// Positions that each call has: a call without them is refused.
///
/// Arrays that tell their number of levels have an entry. The key is the stencil's name and the dimension, the value half-open
/// ranges.
#[derive(Clone, Debug, Default)]
pub struct GuaranteedPositions {
    ranges: BTreeMap<(String, usize), BTreeSet<(Size, Size)>>,
}

impl GuaranteedPositions {
    /// The positions that a program touches before any step of a schedule. Each call is held against these.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut held = Self::default();
        let mut seek = GuaranteeSearch { program, loops: Vec::new(), held: &mut held };
        for step in &program.steps {
            if let Some(function) = program.functions.get(step.function) {
                seek.block(&function.body);
            }
        }
        held
    }
}

struct GuaranteeSearch<'p, 'h> {
    program: &'p Program,
    loops: Vec<&'p Positions>,
    held: &'h mut GuaranteedPositions,
}

impl<'p> GuaranteeSearch<'p, '_> {
    fn block(&mut self, items: &'p [Item]) {
        for item in items {
            item.each_element(&mut |it| self.element(it));
            let n_outer = self.loops.len();
            let mut inner = item.blocks();
            match item {
                Item::For(it) => self.loops.push(&it.positions),
                Item::Strips(it) => self.loops.push(&it.positions),
                Item::Launch(it) => {
                    self.loops.extend(&it.positions);
                    inner.extend(self.program.functions.get(it.function).map(|it| it.body.as_slice()));
                }
                Item::Assign(_)
                | Item::Declare(_)
                | Item::Checked(_)
                | Item::If(_)
                | Item::While(_)
                | Item::Barrier => {}
            }
            inner.into_iter().for_each(|it| self.block(it));
            self.loops.truncate(n_outer);
        }
    }

    fn element(&mut self, element: &Element) {
        let Some(array) = self.program.arrays.get(element.array) else { return };
        if array.storage != Storage::Caller || array.level_symbols().next().is_none() {
            return;
        }
        for (dimension, at) in element.index.iter().enumerate() {
            let DimensionIndex::Known(sum) = at else { continue };
            let variable = sum.terms().find_map(|(it, factor)| {
                let around = self.loops.iter().find(|around| around.variable == *it)?;
                Some((*around, factor))
            });
            let range = match variable {
                None => (sum.clone().into(), sum.clone().moved(1).into()),
                Some((around, 1)) => {
                    let distance = sum - &Affine::symbol(&around.variable);
                    let Some(distance) = distance.as_constant() else { continue };
                    (around.start.moved(distance), around.end.moved(distance))
                }
                Some(_) => continue,
            };
            let name = (array.stencil_name.clone(), dimension);
            self.held.ranges.entry(name).or_default().insert(range);
        }
    }
}

/// All accesses that the proof does not place inside their arrays.
///
/// The program is one before its passes. `known` limits its symbols, and `held` has positions of the caller's arrays.
#[must_use]
pub fn outside(program: &Program, held: &GuaranteedPositions, known: &Assumptions) -> Vec<OutOfBoundsAccess> {
    let mut proof = Proof { program, held, found: Vec::new(), integers: BTreeMap::new(), origin: None };
    for step in &program.steps {
        if let Some(function) = program.functions.get(step.function) {
            proof.block(&function.body, known);
        }
    }
    proof.found
}

struct Proof<'p> {
    program: &'p Program,
    held: &'p GuaranteedPositions,
    found: Vec<OutOfBoundsAccess>,
    /// A check holds each integer of run time below this size.
    integers: BTreeMap<Handle<Integer>, &'p Size>,
    /// The statement that the proof looks at.
    origin: Option<&'p Origin>,
}

impl<'p> Proof<'p> {
    fn block(&mut self, items: &'p [Item], known: &Assumptions) {
        items.iter().for_each(|it| self.item(it, known));
    }

    fn item(&mut self, item: &'p Item, known: &Assumptions) {
        match item {
            Item::Assign(it) => {
                self.origin = Some(&it.origin);
                self.expr(&it.value, known);
                if let Target::Element(element) = &it.target {
                    self.element(element, known);
                }
            }
            Item::Declare(it) => {
                if let Some((value, origin)) = &it.value {
                    self.origin = Some(origin);
                    self.expr(value, known);
                }
            }
            Item::Checked(it) => {
                self.origin = Some(&it.origin);
                for index in &it.indices {
                    self.expr(&index.value, known);
                }
                let outer = self.integers.clone();
                self.integers.extend(it.indices.iter().map(|it| (it.integer, &it.size)));
                self.block(&it.body, known);
                self.integers = outer;
            }
            Item::For(it) => self.block(&it.body, &within(known, [&it.positions])),
            Item::Strips(it) => {
                let known = within(known, [&it.positions]);
                it.parts.iter().for_each(|it| self.part(it, &known));
            }
            Item::Launch(it) => {
                if let Some(function) = self.program.functions.get(it.function) {
                    self.block(&function.body, &within(known, &it.positions));
                }
            }
            Item::If(it) => {
                let mut known = known.clone();
                for Branch { condition, origin, body } in &it.branches {
                    self.origin = Some(origin);
                    self.expr(condition, &known);
                    self.block(body, &assume(&known, condition, true));
                    known = assume(&known, condition, false);
                }
                self.block(&it.otherwise, &known);
            }
            Item::While(it) => {
                self.origin = Some(&it.origin);
                self.expr(&it.condition, known);
                self.block(&it.body, known);
            }
            Item::Barrier => {}
        }
    }

    fn part(&mut self, part: &'p StripPart, known: &Assumptions) {
        match part {
            StripPart::Lanes(items) => self.block(items, known),
            StripPart::While(it) => {
                self.origin = Some(&it.origin);
                self.expr(&it.condition, known);
                it.parts.iter().for_each(|it| self.block(it, known));
            }
            StripPart::Branch(it) => {
                it.arms.iter().for_each(|it| self.expr(&it.condition, known));
                it.arms().flatten().for_each(|it| self.part(it, known));
            }
        }
    }

    fn expr(&mut self, expr: &'p Expr<Read>, known: &Assumptions) {
        expr.accesses(&mut |read| {
            if let Read::Element(element) = read {
                self.element(element, known);
            }
        });
    }

    /// Whether each call has this position.
    fn is_held(&self, array: &Array, dimension: usize, at: &Affine, known: &Assumptions) -> bool {
        if array.storage != Storage::Caller {
            return false;
        }
        let ranges = self.held.ranges.get(&(array.stencil_name.clone(), dimension));
        ranges.into_iter().flatten().any(|(start, end)| {
            known.is_at_most(start, &at.clone().into()) && known.is_at_most(&at.clone().moved(1).into(), end)
        })
    }

    fn element(&mut self, element: &Element, known: &Assumptions) {
        let Some(array) = self.program.arrays.get(element.array) else { return };
        let zero = Affine::default();
        let dimensions = array.shape.iter().zip(&array.shift).enumerate();
        for (at, (dimension, (size, shift))) in element.index.iter().zip(dimensions) {
            // The array of an iteration counts from its own start.
            let shift = if array.storage == Storage::Private { &zero } else { shift };
            let (is_inside, index) = match at {
                DimensionIndex::Known(sum) => {
                    let index = sum + shift;
                    let next = index.clone().moved(1).into();
                    let is_inside = known.is_at_most(&zero.clone().into(), &index.clone().into())
                        && known.is_at_most(&next, size);
                    (is_inside || self.is_held(array, dimension, sum, known), index.to_string())
                }
                DimensionIndex::Found { integer, .. } => {
                    let checked = self.integers.get(integer);
                    let is_inside = checked.is_some_and(|it| known.is_at_most(it, size));
                    (
                        is_inside,
                        self.program.integers.get(*integer).map(|it| it.name.clone()).unwrap_or_default(),
                    )
                }
            };
            if !is_inside {
                let (array, size) = (array.stencil_name.clone(), size.clone());
                self.found.push(OutOfBoundsAccess { array, index, size, origin: self.origin.cloned() });
            }
        }
    }
}

/// Adds the ranges of loops.
fn within<'a>(known: &Assumptions, loops: impl IntoIterator<Item = &'a Positions>) -> Assumptions {
    loops.into_iter().fold(known.clone(), |known, it| {
        let start = without(&it.start, false, &|part| known.is_at_most(&it.end, part));
        let end = without(&it.end, true, &|part| known.is_at_most(part, &it.start));
        known.with(&it.variable, &start, &end)
    })
}

/// Drops alternatives of a bound that leave its loop no position. Loops that were split have such.
///
/// `i < max(a, b)` is `i < a` where `b` is at most the start. `max` offers alternatives in an end, `min` in a start.
fn without(bound: &Size, of_end: bool, is_empty: &dyn Fn(&Size) -> bool) -> Size {
    let (parts, is_choice) = match bound {
        Size::Affine(_) => return bound.clone(),
        Size::Min(parts) => (parts, !of_end),
        Size::Max(parts) => (parts, of_end),
    };
    let mut left: Vec<Size> = parts.iter().map(|it| without(it, of_end, is_empty)).collect();
    if is_choice && !left.iter().all(is_empty) {
        left.retain(|it| !is_empty(it));
    }
    match bound {
        _ if left.len() == 1 => left.swap_remove(0),
        Size::Min(_) => Size::Min(left),
        Size::Affine(_) | Size::Max(_) => Size::Max(left),
    }
}

/// Adds the tests of positions in a condition that holds, or does not hold.
fn assume(known: &Assumptions, condition: &Expr<Read>, holds: bool) -> Assumptions {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => assume(known, inner, !holds),
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right)
            if holds == (*op == BinaryOp::And) =>
        {
            assume(&assume(known, left, holds), right, holds)
        }
        _ => match limit(known, condition, holds) {
            Some(limit) => known.clone().with_limit(limit),
            None => known.clone(),
        },
    }
}

/// The limit that tests of one position set.
fn limit(known: &Assumptions, condition: &Expr<Read>, holds: bool) -> Option<SymbolLimit> {
    use BinaryOp::{And, Ge, Gt, Le, Lt, Or};
    let ExprKind::Binary(op, left, right) = &condition.kind else { return None };
    if matches!(op, And | Or) {
        let is_either = holds == (*op == Or);
        return match (limit(known, left, holds), limit(known, right, holds)) {
            (Some(left), Some(right)) if is_either => left.or(right),
            (Some(left), Some(right)) => Some(left.and(right)),
            (one, other) if !is_either => one.or(other),
            _ => None,
        };
    }
    let (left, right) = (sum(left)?, sum(right)?);
    let (less, greater, is_strict) = match (op, holds) {
        (Lt, true) | (Ge, false) => (left, right, true),
        (Le, true) | (Gt, false) => (left, right, false),
        (Gt, true) | (Le, false) => (right, left, true),
        (Ge, true) | (Lt, false) => (right, left, false),
        _ => return None,
    };
    known.limit(&less.moved(i64::from(is_strict)), &greater)
}

/// The sum that an expression is.
fn sum(expr: &Expr<Read>) -> Option<Affine> {
    match &expr.kind {
        ExprKind::Access(Read::Sum(sum)) => Some(sum.clone()),
        ExprKind::Literal(Value::Int64(number)) => Some(Affine::constant(*number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::parse::parse;

    /// Proves a body in loops over the whole domain, and answers the accesses that are left.
    fn found(body: &str) -> Vec<String> {
        let text = format!(
            "\
program s(a, b)
field a: float64[I + 2, J, K] shift [1, 0, 0] along IJK given read
field b: float64[I, J, K] shift [0, 0, 0] along IJK given write
temporary t: float64[34] shift [-i_tile + 1] along I packed private per thread
integer n

function step_1_at(k, j) of step 1:
{body}
function step_1() of step 1:
  launch step_1_at():
    over k in [0, K)
    over j in [0, J)

step step_1 on all threads
"
        );
        let program = parse(&text).expect("it is a program");
        let all = outside(&program, &GuaranteedPositions::default(), &Assumptions::some_point());
        all.into_iter().map(|it| format!("{}: {} < {}", it.array, it.index, it.size)).collect()
    }

    #[test]
    fn what_lies_inside_for_all_domains_is_seen() {
        for body in [
            "  for i in [0, I) parallel:\n    b[i, j, k] = a[i - 1, j, k] + a[i + 1, j, k]\n",
            "  for i_tile in [0, I) step 32 parallel:\n    for i in [i_tile - 1, min(I + 1, i_tile + 33)) parallel:\n      t[i - i_tile + 1] = a[i, j, k]\n",
            "  for i in [0, I) parallel:\n    if int[k] >= int[1]:\n      b[i, j, k - 1] = a[i, j, k]\n",
            "  for i in [-1, I + 1) parallel:\n    if int[i] >= int[0] and int[i] < int[I]:\n      b[i, j, k] = a[i, j, k]\n",
            "  for i_tile in [0, I + 2) step 4 parallel:\n    for i in [i_tile, min(max(I - 2, i_tile), min(I + 2, i_tile + 4))) parallel:\n      b[i, j, k] = a[i, j, k]\n",
            "  for i in [-1, I + 1) parallel:\n    if int[i] < int[I] and (int[i] >= int[0] or int[i] >= int[I]):\n      b[i, j, k] = a[i, j, k]\n",
            "  for i in [0, I + 1) parallel:\n    if int[i] < int[0] or int[i] < int[2*I - 3] and int[i] < int[I]:\n      b[i, j, k] = a[i, j, k]\n",
            "  for i in [max(-1, min(0, I)), I) parallel:\n    b[i, j, k] = a[i, j, k]\n",
            "  for i in [max(0, min(K - j, I + 2)), max(I, max(0, min(K - j, I + 2)))) parallel:\n    b[i, j, k] = a[i, j, k]\n",
        ] {
            assert_eq!(found(body), Vec::<String>::new(), "{body}");
        }
    }

    #[test]
    fn what_may_lie_outside_is_told() {
        for (body, expected) in [
            ("  for i in [0, I) parallel:\n    b[i, j, k] = a[i - 2, j, k]\n", "a: i - 1 < I + 2"),
            ("  for i in [0, I + 1) parallel:\n    b[i, j, k] = a[i, j, k]\n", "b: i < I"),
            ("  for i in [0, I) parallel:\n    b[i, j, k] = a[i, j, k + 1]\n", "a: k + 1 < K"),
            (
                "  for i in [0, I) parallel:\n    if int[k] >= int[1]:\n      b[i, j, k - 2] = 1.0\n",
                "b: k - 2 < K",
            ),
            (
                "  for i_tile in [0, I) step 64 parallel:\n    for i in [i_tile, min(I, i_tile + 64)) parallel:\n      t[i - i_tile + 1] = a[i, j, k]\n",
                "t: i - i_tile + 1 < 34",
            ),
        ] {
            assert_eq!(found(body), [expected], "{body}");
        }
    }
}
