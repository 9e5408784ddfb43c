//! Bounds, intervals, regions, axes, sums and sizes read back from their text.

use std::collections::BTreeMap;

use super::{Affine, Axis, AxisSet, Bound, Interval, Region, Side, Size, Symbol};

/// A bound as `start`, `end-1`.
#[must_use]
pub fn bound(text: &str) -> Option<Bound> {
    let (make, rest): (fn(i32) -> Bound, &str) = match text.strip_prefix("start") {
        Some(rest) => (Bound::start, rest),
        None => (Bound::end, text.strip_prefix("end")?),
    };
    if rest.is_empty() { Some(make(0)) } else { rest.parse().ok().map(make) }
}

/// An interval as `[start, end-1)`.
#[must_use]
pub fn interval(text: &str) -> Option<Interval> {
    let (start, end) = text.strip_prefix('[')?.strip_suffix(')')?.split_once(", ")?;
    Some(Interval::new(bound(start)?, bound(end)?))
}

/// A region as `i[start, start+1) j[, )`.
#[must_use]
pub fn region(text: &str) -> Option<Region> {
    let (i, j) = text.split_once(" j")?;
    Some(Region { i: side(i.strip_prefix('i')?)?, j: side(j)? })
}

fn side(text: &str) -> Option<Side> {
    let (start, end) = text.strip_prefix('[')?.strip_suffix(')')?.split_once(", ")?;
    let optional = |text: &str| if text.is_empty() { Some(None) } else { bound(text).map(Some) };
    Some(Side { start: optional(start)?, end: optional(end)? })
}

/// Axes as `IJK`.
#[must_use]
pub fn axes(text: &str) -> Option<AxisSet> {
    let axis = |name: char| Axis::ALL.into_iter().find(|it| it.name().starts_with(name));
    let axes: Vec<Axis> = text.chars().map(axis).collect::<Option<_>>()?;
    let set = AxisSet::of(&axes);
    (set.to_string() == text).then_some(set)
}

/// A sum as `-i + 2*j - 1`. Each symbol stands in one term, and one term at most is a number.
#[must_use]
pub fn affine(text: &str) -> Option<Affine> {
    let (mut terms, mut constant) = (BTreeMap::new(), None);
    let mut rest = text.trim();
    loop {
        let is_first = terms.is_empty() && constant.is_none();
        let (sign, unsigned) = match rest.strip_prefix('-') {
            Some(unsigned) => ("-", unsigned),
            None if is_first => ("", rest),
            None => ("", rest.strip_prefix('+')?),
        };
        let (term, after) = unsigned.split_at(unsigned.find(['+', '-']).unwrap_or(unsigned.len()));
        let number = |digits: &str| format!("{sign}{}", digits.trim()).parse::<i64>().ok();
        let is_new = match term.split_once('*') {
            Some((factor, name)) => terms.insert(symbol(name)?, number(factor)?).is_none(),
            None => match number(term) {
                Some(it) => constant.replace(it).is_none(),
                None => terms.insert(symbol(term)?, number("1")?).is_none(),
            },
        };
        if !is_new {
            return None;
        }
        rest = after;
        if rest.is_empty() {
            return Some(Affine::of(terms, constant.unwrap_or(0)));
        }
    }
}

fn symbol(text: &str) -> Option<Symbol> {
    let name = text.trim();
    let is_name = name.starts_with(|it: char| it.is_alphabetic() || it == '_')
        && name.chars().all(|it| it.is_alphanumeric() || it == '_');
    is_name.then(|| Symbol::new(name))
}

/// A size as `min(I + 2, max(J, 1))`.
#[must_use]
pub fn size(text: &str) -> Option<Size> {
    let parts = |name: &str| text.trim().strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
    match (parts("min"), parts("max")) {
        (Some(""), _) | (_, Some("")) => None,
        (Some(parts), _) => sizes(parts).map(Size::Min),
        (_, Some(parts)) => sizes(parts).map(Size::Max),
        (None, None) => affine(text).map(Size::Affine),
    }
}

/// Sizes as `I, J + 2`; none in an empty text.
#[must_use]
pub fn sizes(text: &str) -> Option<Vec<Size>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let mut depth = 0;
    let parts = text.split(|it: char| {
        depth += i32::from(it == '(') - i32::from(it == ')');
        it == ',' && depth == 0
    });
    parts.map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in ["[start, end)", "[start+2, start+3)", "[end-1, end)", "[start-4, end+2)"] {
            assert_eq!(interval(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        for text in ["i[start, start+1) j[, )", "i[, end-1) j[end-1, end+3)"] {
            assert_eq!(region(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        for text in ["IJK", "IJ", "K", ""] {
            assert_eq!(axes(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        for text in ["0", "-7", "k", "i - 1", "-I + 2*J + 3", "I - 4*__q_I_stride", "-9223372036854775808"] {
            assert_eq!(affine(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        for text in ["K", "min(I + 2, J)", "max(min(I, J - 1), 0)"] {
            assert_eq!(size(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        assert_eq!(sizes("I, max(J, K), 3").map(|it| it.len()), Some(3));
        assert_eq!(sizes(""), Some(Vec::new()));
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(bound("middle"), None);
        assert_eq!(interval("[start, end]"), None);
        assert_eq!(region("i[start, end)"), None);
        assert_eq!(axes("JI"), None);
        for text in ["", "+ 1", "i j", "i +", "i + i", "1 + 2", "i*2", "i * ", "--1", "9223372036854775808"] {
            assert_eq!(affine(text), None, "{text}");
        }
        for text in ["min(I", "min()", "max(I,)", "min(I), J", "I, J"] {
            assert_eq!(size(text), None, "{text}");
        }
        assert_eq!(sizes("I,, J"), None);
    }
}
