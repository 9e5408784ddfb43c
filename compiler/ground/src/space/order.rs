//! Which of two sizes is the greater, as far as it can be seen.

use super::{Affine, Axis, Size};

/// Whether `left` is at most `right` on every domain that has a point.
#[must_use]
pub fn is_at_most(left: &Size, right: &Size) -> bool {
    match (left, right) {
        (Size::Max(parts), _) => parts.iter().all(|it| is_at_most(it, right)),
        (_, Size::Min(parts)) => parts.iter().all(|it| is_at_most(left, it)),
        (Size::Min(parts), _) => parts.iter().any(|it| is_at_most(it, right)),
        (_, Size::Max(parts)) => parts.iter().any(|it| is_at_most(left, it)),
        (Size::Affine(left), Size::Affine(right)) => is_at_least_zero(&(right - left)),
    }
}

/// The smaller of two: one of them where it can be seen which.
#[must_use]
pub fn least(left: &Size, right: &Size) -> Size {
    if is_at_most(left, right) {
        left.clone()
    } else if is_at_most(right, left) {
        right.clone()
    } else {
        Size::Min(vec![left.clone(), right.clone()])
    }
}

/// The greater of two: one of them where it can be seen which.
#[must_use]
pub fn greatest(left: &Size, right: &Size) -> Size {
    if is_at_most(left, right) {
        right.clone()
    } else if is_at_most(right, left) {
        left.clone()
    } else {
        Size::Max(vec![left.clone(), right.clone()])
    }
}

/// Sizes of the domain are at least 1; nothing is known of other symbols.
fn is_at_least_zero(sum: &Affine) -> bool {
    let is_size = |name: &str| Axis::ALL.iter().any(|axis| axis.name() == name);
    let can_only_grow = sum.terms().all(|(symbol, factor)| factor > 0 && is_size(symbol.name()));
    can_only_grow && sum.offset() + sum.terms().map(|(_, factor)| factor).sum::<i64>() >= 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::parse::size;

    fn of(text: &str) -> Size {
        size(text).expect(text)
    }

    #[test]
    fn a_domain_has_at_least_one_point_along_each_axis() {
        for (left, right) in [
            ("1", "K"),
            ("0", "I + J - 2"),
            ("j_tile", "j_tile + 1"),
            ("max(1, K)", "K"),
            ("K", "max(2, K)"),
            ("min(K, 3)", "K"),
            ("min(1, J)", "1"),
        ] {
            assert!(is_at_most(&of(left), &of(right)), "{left} <= {right}");
        }
        for (left, right) in [("2", "K"), ("I", "J"), ("0", "j_tile"), ("K", "min(K, 3)"), ("K + 1", "K")] {
            assert!(!is_at_most(&of(left), &of(right)), "{left} <= {right}");
        }
    }

    #[test]
    fn of_two_that_cannot_be_compared_both_stay() {
        assert_eq!(least(&of("J"), &of("j_tile + 4")).to_string(), "min(J, j_tile + 4)");
        assert_eq!(greatest(&of("-1"), &of("K")).to_string(), "K");
        assert_eq!(least(&of("K - 1"), &of("K")).to_string(), "K - 1");
    }
}
