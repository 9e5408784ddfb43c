//! Sums of symbols, in whatever language.

use crate::space::{Affine, Symbol};

/// The outermost operator of a sum's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outermost {
    /// A name, or a number that is not negative.
    None,
    /// A negative number, or a name behind `-`.
    Minus,
    /// A name that is multiplied.
    Times,
    Plus,
}

/// The text of a sum, plus `distance`; `name` spells a symbol.
pub fn sum(sum: &Affine, distance: i64, name: &mut dyn FnMut(&Symbol) -> String) -> (String, Outermost) {
    let mut text = String::new();
    let mut outermost = Outermost::None;
    let mut n_terms = 0;
    for (symbol, factor) in sum.terms() {
        let sign = match (n_terms, factor < 0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        text.push_str(sign);
        outermost = match factor {
            _ if n_terms > 0 => Outermost::Plus,
            1 => Outermost::None,
            -1 => Outermost::Minus,
            _ => Outermost::Times,
        };
        match factor.unsigned_abs() {
            1 => {}
            magnitude => text.push_str(&format!("{magnitude} * ")),
        }
        text.push_str(&name(symbol));
        n_terms += 1;
    }
    let constant = sum.offset() + distance;
    match (n_terms, constant) {
        (0, _) => (constant.to_string(), if constant < 0 { Outermost::Minus } else { Outermost::None }),
        (_, 0) => (text, outermost),
        (_, _) if constant < 0 => (format!("{text} - {}", constant.unsigned_abs()), Outermost::Plus),
        (_, _) => (format!("{text} + {constant}"), Outermost::Plus),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_operator_is_told() {
        let of = |terms: &[(&str, i64)], offset: i64| {
            let terms = terms.iter().map(|&(name, factor)| (Symbol::new(name), factor));
            sum(&Affine::of(terms, offset), 0, &mut |it| it.name().to_owned())
        };
        assert_eq!(of(&[], 0), ("0".to_owned(), Outermost::None));
        assert_eq!(of(&[], -3), ("-3".to_owned(), Outermost::Minus));
        assert_eq!(of(&[("I", 1)], 0), ("I".to_owned(), Outermost::None));
        assert_eq!(of(&[("I", -1)], 0), ("-I".to_owned(), Outermost::Minus));
        assert_eq!(of(&[("I", -2)], 0), ("-2 * I".to_owned(), Outermost::Times));
        assert_eq!(of(&[("I", 1), ("J", -2)], -1), ("I - 2 * J - 1".to_owned(), Outermost::Plus));
    }
}
