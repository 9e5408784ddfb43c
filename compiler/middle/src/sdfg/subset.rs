//! Arithmetic on ranges of indices: union, propagation over a loop, and proofs about two ranges.

use std::sync::LazyLock;

use super::nodes::{MapParam, Range, Volume};
use crate::space::assume::Assumptions;
use crate::space::{Affine, Size, Symbol};

/// `size` with `symbol` at its least (`low`) or greatest value (`high`), whichever makes it smaller
/// when `towards` is [`BoundDirection::Low`] and larger when it is [`BoundDirection::High`].
fn at_the_end(size: &Size, symbol: &Symbol, low: &Size, high: &Size, towards: BoundDirection) -> Size {
    match size {
        Size::Affine(sum) => {
            let takes_low = (sum.factor(symbol) > 0) == (towards == BoundDirection::Low);
            substituted(sum, symbol, if takes_low { low } else { high })
        }
        Size::Min(parts) => {
            Size::Min(parts.iter().map(|it| at_the_end(it, symbol, low, high, towards)).collect())
        }
        Size::Max(parts) => {
            Size::Max(parts.iter().map(|it| at_the_end(it, symbol, low, high, towards)).collect())
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BoundDirection {
    Low,
    High,
}

fn substituted(sum: &Affine, symbol: &Symbol, by: &Size) -> Size {
    let factor = sum.factor(symbol);
    if factor == 0 {
        return Size::Affine(sum.clone());
    }
    match by {
        Size::Affine(by) => Size::Affine(sum.substituted(symbol, by)),
        Size::Min(parts) | Size::Max(parts) => {
            let parts = parts.iter().map(|it| substituted(sum, symbol, it)).collect();
            // A negative factor turns the least into the greatest.
            if matches!(by, Size::Min(_)) == (factor > 0) { Size::Min(parts) } else { Size::Max(parts) }
        }
    }
}

/// Whether `symbol` occurs in `size`.
#[must_use]
pub fn mentions(size: &Size, symbol: &Symbol) -> bool {
    match size {
        Size::Affine(sum) => sum.factor(symbol) != 0,
        Size::Min(parts) | Size::Max(parts) => parts.iter().any(|it| mentions(it, symbol)),
    }
}

/// `size + distance`.
#[must_use]
pub fn moved(size: &Size, distance: i64) -> Size {
    size.moved(distance)
}

/// The indices that the range covers while `symbol` runs through `over`.
#[must_use]
pub fn propagated(range: &Range, symbol: &Symbol, over: &Range) -> Range {
    let last = moved(&over.end, -1);
    Range {
        start: SOME_POINT.simplified(&at_the_end(
            &range.start,
            symbol,
            &over.start,
            &last,
            BoundDirection::Low,
        )),
        end: SOME_POINT.simplified(&at_the_end(&range.end, symbol, &over.start, &last, BoundDirection::High)),
    }
}

/// The range without indices that can be seen to lie outside of `0..size`.
#[must_use]
pub fn clipped(range: Range, size: &Size) -> Range {
    let zero = Size::Affine(Affine::constant(0));
    let start = if is_at_most(&range.start, &zero) { zero } else { range.start };
    let end = if is_at_most(size, &range.end) { size.clone() } else { range.end };
    Range { start, end }
}

/// The indices that the subset covers in all iterations of a map.
#[must_use]
pub fn propagated_over(subset: &[Range], params: &[MapParam]) -> Vec<Range> {
    // From the innermost parameter out, since its range may depend on those before it.
    params.iter().rev().fold(subset.to_vec(), |subset, param| {
        subset.iter().map(|range| propagated(range, &param.symbol, &param.range)).collect()
    })
}

/// The volume of all iterations of a map, given that of one.
#[must_use]
pub fn volume_over(volume: &Volume, params: &[MapParam]) -> Volume {
    let terms = volume.terms.iter().map(|(number, ranges)| {
        let outer = params.iter().map(|param| param.range.clone());
        (*number, outer.chain(ranges.iter().cloned()).collect())
    });
    Volume { terms: terms.collect(), is_bound: volume.is_bound }
}

/// The smallest subset that holds both.
#[must_use]
pub fn union(left: &[Range], right: &[Range]) -> Vec<Range> {
    left.iter()
        .zip(right)
        .map(|(left, right)| Range {
            start: least([&left.start, &right.start]),
            end: greatest([&left.end, &right.end]),
        })
        .collect()
}

/// The volume of both.
#[must_use]
pub fn sum(left: &Volume, right: &Volume) -> Volume {
    let mut total = left.clone();
    total.is_bound |= right.is_bound;
    for (number, ranges) in &right.terms {
        match total.terms.iter_mut().find(|(_, it)| it == ranges) {
            Some((sum, _)) => *sum += number,
            None => total.terms.push((*number, ranges.clone())),
        }
    }
    total
}

/// Nothing runs on a domain without a point.
static SOME_POINT: LazyLock<Assumptions> = LazyLock::new(Assumptions::some_point);

fn least(parts: [&Size; 2]) -> Size {
    SOME_POINT.simplified(&Size::Min(parts.map(Clone::clone).to_vec()))
}

fn greatest(parts: [&Size; 2]) -> Size {
    SOME_POINT.simplified(&Size::Max(parts.map(Clone::clone).to_vec()))
}

/// Whether `left` can be seen to be at most `right`, whatever the symbols are, on a domain with a point.
#[must_use]
pub fn is_at_most(left: &Size, right: &Size) -> bool {
    SOME_POINT.is_at_most(left, right)
}

/// Whether the two can be seen to have no element in common.
#[must_use]
pub fn are_disjoint(left: &[Range], right: &[Range]) -> bool {
    left.iter()
        .zip(right)
        .any(|(left, right)| is_at_most(&left.end, &right.start) || is_at_most(&right.end, &left.start))
}

/// Whether the first can be seen to hold the second.
#[must_use]
pub fn holds(outer: &[Range], inner: &[Range]) -> bool {
    outer.len() == inner.len()
        && outer.iter().zip(inner).all(|(outer, inner)| {
            is_at_most(&outer.start, &inner.start) && is_at_most(&inner.end, &outer.end)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sym(name: &str) -> Symbol {
        Symbol::new(name)
    }

    fn at(symbol: &str, distance: i64) -> Affine {
        Affine::beside(&sym(symbol), distance)
    }

    #[test]
    fn a_point_covers_the_range_of_its_loop() {
        let over = Range::new(Affine::constant(-1).into(), at("I", 1).into());
        let range = propagated(&Range::point(&at("i", 3)), &sym("i"), &over);
        assert_eq!((range.start.to_string(), range.end.to_string()), ("2".into(), "I + 4".into()));
    }

    #[test]
    fn a_bound_with_alternatives_stays_one() {
        let start = Size::Max(vec![Affine::constant(0).into(), at("I", -1).into()]);
        let over = Range::new(start, at("I", 0).into());
        let range = propagated(&Range::point(&at("i", 1)), &sym("i"), &over);
        assert_eq!((range.start.to_string(), range.end.to_string()), ("I".into(), "I + 1".into()));
    }

    #[test]
    fn neighbouring_levels_are_disjoint() {
        let (here, above) = ([Range::point(&at("k", 0))], [Range::point(&at("k", 1))]);
        assert!(are_disjoint(&here, &above));
        assert!(!are_disjoint(&here, &here));
        assert!(!are_disjoint(&here, &[Range::point(&at("i", 1))]));
    }
}
