//! Proofs about sizes, from known bounds of their symbols; and the simplest form of a size.

use super::{Affine, Axis, Size, Symbol};

/// Known bounds of symbols.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    /// From outside in: the bounds of one may mention those before it.
    ranges: Vec<(Symbol, SymbolBounds)>,
}

/// The known bounds of one symbol.
#[derive(Clone, Debug)]
struct SymbolBounds {
    least: Option<Size>,
    greatest: Option<Size>,
}

/// That a symbol is at least, or at most, a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolLimit {
    symbol: Symbol,
    is_least: bool,
    bound: Size,
}

impl SymbolLimit {
    /// The limit that holds where both hold; the first alone where they limit different things.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if (&self.symbol, self.is_least) != (&other.symbol, other.is_least) {
            return self;
        }
        let parts = vec![self.bound, other.bound];
        let bound = if self.is_least { Size::Max(parts) } else { Size::Min(parts) };
        Self { bound, ..self }
    }

    /// The limit that holds where this one or `other` holds; none where they limit different things.
    #[must_use]
    pub fn or(self, other: Self) -> Option<Self> {
        if (&self.symbol, self.is_least) != (&other.symbol, other.is_least) {
            return None;
        }
        let parts = vec![self.bound, other.bound];
        let bound = if self.is_least { Size::Min(parts) } else { Size::Max(parts) };
        Some(Self { bound, ..self })
    }
}

impl Assumptions {
    /// Nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// That the compute domain has a point: without one nothing runs.
    #[must_use]
    pub fn some_point() -> Self {
        let one = || SymbolBounds { least: Some(Affine::constant(1).into()), greatest: None };
        Self { ranges: Axis::ALL.iter().map(|axis| (Symbol::new(axis.name()), one())).collect() }
    }

    /// That `start <= symbol < end` besides.
    #[must_use]
    pub fn with(mut self, symbol: &Symbol, start: &Size, end: &Size) -> Self {
        let known = SymbolBounds { least: Some(start.clone()), greatest: Some(end.moved(-1)) };
        self.ranges.push((symbol.clone(), known));
        self
    }

    /// That `symbol` is at least `least` besides.
    #[must_use]
    pub fn with_least(mut self, symbol: &Symbol, least: i64) -> Self {
        let known = SymbolBounds { least: Some(Affine::constant(least).into()), greatest: None };
        self.ranges.push((symbol.clone(), known));
        self
    }

    /// The limit that `left <= right` sets on the innermost symbol of their difference. None where there is
    /// no symbol, or where its factor is not 1 or -1.
    #[must_use]
    pub fn limit(&self, left: &Affine, right: &Affine) -> Option<SymbolLimit> {
        let difference = right - left;
        let factor = |it: &Symbol| difference.factor(it);
        let (symbol, _) = self.ranges.iter().rev().find(|(it, _)| factor(it) != 0)?;
        // `symbol + rest >= 0` or `rest - symbol >= 0`.
        let rest = difference.substituted(symbol, &Affine::default());
        let (is_least, bound) = match factor(symbol) {
            1 => (true, &Affine::default() - &rest),
            -1 => (false, rest),
            _ => return None,
        };
        Some(SymbolLimit { symbol: symbol.clone(), is_least, bound: bound.into() })
    }

    /// That a limit holds besides.
    #[must_use]
    pub fn with_limit(mut self, limit: SymbolLimit) -> Self {
        let SymbolLimit { symbol, is_least, bound } = limit;
        let known = self.ranges.iter().rev().find(|it| it.0 == symbol).map(|it| it.1.clone());
        let mut known = known.unwrap_or(SymbolBounds { least: None, greatest: None });
        let (place, both): (_, fn(Vec<Size>) -> Size) =
            if is_least { (&mut known.least, Size::Max) } else { (&mut known.greatest, Size::Min) };
        *place = Some(match place.take() {
            Some(before) => both(vec![before, bound]),
            None => bound,
        });
        self.ranges.push((symbol, known));
        self
    }

    /// Whether `left` can be seen to be at most `right`.
    #[must_use]
    pub fn is_at_most(&self, left: &Size, right: &Size) -> bool {
        match (left, right) {
            (Size::Max(parts), _) => parts.iter().all(|it| self.is_at_most(it, right)),
            (_, Size::Min(parts)) => parts.iter().all(|it| self.is_at_most(left, it)),
            // One part of either side is enough, beside the whole of the other.
            (Size::Min(lefts), Size::Max(rights)) => {
                lefts.iter().any(|it| self.is_at_most(it, right))
                    || rights.iter().any(|it| self.is_at_most(left, it))
            }
            (Size::Min(parts), _) => parts.iter().any(|it| self.is_at_most(it, right)),
            (_, Size::Max(parts)) => parts.iter().any(|it| self.is_at_most(left, it)),
            (Size::Affine(left), Size::Affine(right)) => self.is_natural(&(right - left), self.ranges.len()),
        }
    }

    /// Whether a sum can be seen to be at least 0, with what is known of the first symbols.
    fn is_natural(&self, sum: &Affine, n_known: usize) -> bool {
        if let Some(number) = sum.as_constant() {
            return number >= 0;
        }
        // The innermost goes first, since its bounds may mention the others.
        for at in (0..n_known).rev() {
            let (symbol, known) = &self.ranges[at];
            let factor = sum.factor(symbol);
            let extreme = match factor.signum() {
                0 => continue,
                1 => &known.least,
                _ => &known.greatest,
            };
            let Some(extreme) = extreme else { return false };
            return self.is_natural_at(sum, symbol, extreme, at);
        }
        false
    }

    /// Whether the sum is at least 0 where `symbol` has its extreme value.
    fn is_natural_at(&self, sum: &Affine, symbol: &Symbol, extreme: &Size, n_known: usize) -> bool {
        let rises = sum.factor(symbol) > 0;
        match extreme {
            Size::Affine(value) => self.is_natural(&sum.substituted(symbol, value), n_known),
            // The least is at least the greatest of several: any of them will do. And so on.
            Size::Max(parts) if rises => parts.iter().any(|it| self.is_natural_at(sum, symbol, it, n_known)),
            Size::Min(parts) if !rises => parts.iter().any(|it| self.is_natural_at(sum, symbol, it, n_known)),
            Size::Min(parts) | Size::Max(parts) => {
                parts.iter().all(|it| self.is_natural_at(sum, symbol, it, n_known))
            }
        }
    }

    /// The same size with no part that another one decides: nested parts joined, dominated ones dropped, in order.
    #[must_use]
    pub fn simplified(&self, size: &Size) -> Size {
        let (parts, is_least) = match size {
            Size::Affine(sum) => return Size::Affine(sum.clone()),
            Size::Min(parts) => (parts, true),
            Size::Max(parts) => (parts, false),
        };
        let mut joined: Vec<Size> = Vec::new();
        for part in parts {
            match (self.simplified(part), is_least) {
                (Size::Min(more), true) | (Size::Max(more), false) => joined.extend(more),
                (one, _) => joined.push(one),
            }
        }
        joined.sort();
        joined.dedup();
        let decides = |one: &Size, other: &Size| {
            if is_least { self.is_at_most(one, other) } else { self.is_at_most(other, one) }
        };
        let mut kept: Vec<Size> = Vec::new();
        for part in joined {
            if kept.iter().any(|it| decides(it, &part)) {
                continue;
            }
            kept.retain(|it| !decides(&part, it));
            kept.push(part);
        }
        match (kept.len(), is_least) {
            (1, _) => kept.swap_remove(0),
            (_, true) => Size::Min(kept),
            (_, false) => Size::Max(kept),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::space::parse::size;

    fn read(text: &str) -> Size {
        size(text).expect("it is a size")
    }

    fn simple(text: &str) -> String {
        Assumptions::some_point().simplified(&read(text)).to_string()
    }

    #[test]
    fn nested_and_dominated_parts_are_dropped() {
        assert_eq!(simple("max(I, I + 1)"), "I + 1");
        assert_eq!(simple("min(min(I, J), max(3, 2), I)"), "min(3, I, J)");
        assert_eq!(simple("max(0, I - 1)"), "I - 1");
        assert_eq!(simple("min(max(1, I), max(K, J + K))"), "min(I, J + K)");
        assert_eq!(simple("max(2, I)"), "max(2, I)");
    }

    #[test]
    fn the_range_of_a_loop_bounds_what_counts_from_its_variable() {
        let tile = Assumptions::some_point().with(&Symbol::new("j_tile"), &read("0"), &read("J"));
        let row =
            tile.clone().with(&Symbol::new("j"), &read("max(0, j_tile - 1)"), &read("min(J, j_tile + 4)"));
        assert!(row.is_at_most(&read("0"), &read("j")));
        assert!(row.is_at_most(&read("j + 1"), &read("J")));
        assert!(row.is_at_most(&read("j - j_tile + 1"), &read("4")));
        assert!(row.is_at_most(&read("0"), &read("j - j_tile + 1")));
        assert!(!row.is_at_most(&read("j_tile"), &read("j")));
        assert!(!tile.is_at_most(&read("j"), &read("J")));
    }

    #[test]
    fn a_condition_limits_the_innermost_symbol() {
        let i = Assumptions::some_point().with(&Symbol::new("i"), &read("-1"), &read("I + 1"));
        assert!(!i.is_at_most(&read("i"), &read("I - 1")));
        let sum = |text: &str| crate::space::parse::affine(text).expect(text);
        let limit = |left: &str, right: &str| i.limit(&sum(left), &sum(right)).expect("it limits i");
        let in_domain = i.clone().with_limit(limit("0", "i")).with_limit(limit("i + 1", "I"));
        assert!(in_domain.is_at_most(&read("i"), &read("I - 1")));
        assert!(in_domain.is_at_most(&read("0"), &read("i")));
        assert!(!in_domain.is_at_most(&read("1"), &read("i")));
        let either = limit("3", "i").or(limit("I", "i")).expect("both are least values of i");
        assert!(i.clone().with_limit(either).is_at_most(&read("1"), &read("i")));
        assert_eq!(limit("3", "i").or(limit("i", "3")), None);
    }

    fn any_size() -> impl Strategy<Value = Size> {
        let affine = (-2..3_i64, -2..3_i64, -3..4_i64).prop_map(|(i, k, constant)| {
            Size::Affine(Affine::of([(Symbol::new("I"), i), (Symbol::new("k"), k)], constant))
        });
        affine.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 1..4).prop_map(Size::Min),
                proptest::collection::vec(inner, 1..4).prop_map(Size::Max),
            ]
        })
    }

    /// All values of `I` and `k` within the assumptions, as far as they are looked at.
    fn cases() -> impl Iterator<Item = (i64, i64)> {
        (1..7).flat_map(|i| (-1..i + 1).map(move |k| (i, k)))
    }

    fn value(size: &Size, (i, k): (i64, i64)) -> i64 {
        size.evaluated(&mut |it: &Symbol| match it.name() {
            "I" => Some(i),
            "k" => Some(k),
            _ => None,
        })
        .expect("all symbols are known")
    }

    fn assumed() -> Assumptions {
        Assumptions::some_point().with(&Symbol::new("k"), &read("-1"), &read("I + 1"))
    }

    proptest! {
        #[test]
        fn what_is_proven_holds_for_all_values(left in any_size(), right in any_size()) {
            if assumed().is_at_most(&left, &right) {
                for case in cases() {
                    prop_assert!(value(&left, case) <= value(&right, case), "{left} and {right} at {case:?}");
                }
            }
        }

        #[test]
        fn a_simplified_size_has_the_same_values_and_is_simple(size in any_size()) {
            let simple = assumed().simplified(&size);
            for case in cases() {
                prop_assert_eq!(value(&size, case), value(&simple, case), "{} and {} at {:?}", size, simple, case);
            }
            prop_assert_eq!(assumed().simplified(&simple), simple);
        }
    }
}
