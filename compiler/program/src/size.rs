//! Sizes that are an integer, or an axis of the compute domain and a number.

use std::fmt;

use isobar_ground::space::{Axis, Domain};

/// `7`, `I`, `J+7` or `K-1`.
///
/// Sizes along the same axis are a number apart for all domains, so most checks need no domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AffineSize {
    pub axis: Option<Axis>,
    pub offset: i64,
}

/// Numbers beyond this are no sizes: sums of several of them stay far from the end of 64 bits.
const MOST: i64 = 1 << 40;

impl AffineSize {
    /// A number.
    #[must_use]
    pub fn constant(offset: i64) -> Self {
        Self { axis: None, offset }
    }

    /// As many points as the compute domain has along an axis.
    #[must_use]
    pub fn along(axis: Axis) -> Self {
        Self { axis: Some(axis), offset: 0 }
    }

    /// A size as it is written.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut letters = text.chars();
        let axis =
            letters.next().and_then(|first| Axis::ALL.into_iter().find(|it| it.name().starts_with(first)));
        let number = if axis.is_some() { letters.as_str().trim_start() } else { text };
        let offset = match number.strip_prefix(['+', '-']) {
            None if axis.is_some() => return number.is_empty().then_some(Self { axis, offset: 0 }),
            None => digits(number)?,
            Some(magnitude) => {
                let magnitude = digits(magnitude.trim_start())?;
                if number.starts_with('-') { -magnitude } else { magnitude }
            }
        };
        Some(Self { axis, offset })
    }

    /// The number of points on a domain; negative where there are none.
    #[must_use]
    pub fn on(self, domain: Domain) -> i64 {
        self.axis.map_or(0, |it| domain.along(it)) + self.offset
    }

    /// How many points more than `other` it has on every domain; `None` where that depends on the domain.
    #[must_use]
    pub fn beyond(self, other: Self) -> Option<i64> {
        (self.axis == other.axis).then_some(self.offset - other.offset)
    }

    /// Whether it has no more points than `other` on any domain of at least these points along I, J, K.
    #[must_use]
    pub fn is_at_most(self, other: Self, least: [i64; 3]) -> bool {
        match (self.axis, other.axis) {
            (None, Some(axis)) => self.offset <= other.offset.saturating_add(least[axis.index()]),
            (one, another) => one == another && self.offset <= other.offset,
        }
    }

    /// As many points more.
    #[must_use]
    pub fn moved(self, by: i64) -> Self {
        Self { offset: self.offset.saturating_add(by), ..self }
    }

    /// Whether the number is one that sizes have.
    #[must_use]
    pub fn is_moderate(self) -> bool {
        (-MOST..=MOST).contains(&self.offset)
    }
}

fn digits(text: &str) -> Option<i64> {
    let is_number = text.bytes().all(|it| it.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

impl fmt::Display for AffineSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.axis, self.offset) {
            (None, offset) => write!(f, "{offset}"),
            (Some(axis), 0) => write!(f, "{axis}"),
            (Some(axis), offset) => write!(f, "{axis}{offset:+}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_or_an_axis_with_one() {
        for text in ["0", "12", "I", "J+7", "K-1", "-3"] {
            assert_eq!(AffineSize::parse(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        assert_eq!(AffineSize::parse(" I + 7 "), AffineSize::parse("I+7"));
        for text in ["", "I*2", "2*I", "I+J", "I+", "+-1", "N", "I7", "1.0", "I+7-1", "99999999999999999999"]
        {
            assert_eq!(AffineSize::parse(text), None, "{text}");
        }
    }
}
