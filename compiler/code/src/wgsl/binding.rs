//! How tightly the operators of WGSL bind: what binds less tightly than its surroundings need stands in parentheses.
//!
//! The language mixes fewer operators without parentheses than C: those on bits, shifts and logical ones stand alone.

/// `|`, `&`, `<<`, of bits and of truths: their operands are prefixed at most.
pub(super) const BITWISE: u8 = 1;
/// A relation does not stand in a list of arguments as it is: `f(a < b, c > d)` may be a template.
pub(super) const RELATION: u8 = 2;
pub(super) const ARGUMENT: u8 = 3;
pub(super) const SUM: u8 = 3;
pub(super) const PRODUCT: u8 = 4;
pub(super) const PREFIX: u8 = 5;
pub(super) const ATOM: u8 = 6;

/// A text and how tightly its outermost operator binds.
pub(super) type PrecedenceText = (String, u8);

/// The text, in parentheses where it binds less tightly than needed.
pub(super) fn at_least((text, binding): PrecedenceText, needed: u8) -> String {
    if binding < needed { format!("({text})") } else { text }
}

/// The call of a function.
pub(super) fn called(name: &str, arguments: impl IntoIterator<Item = PrecedenceText>) -> PrecedenceText {
    let arguments: Vec<String> = arguments.into_iter().map(|it| at_least(it, ARGUMENT)).collect();
    (format!("{name}({})", arguments.join(", ")), ATOM)
}
