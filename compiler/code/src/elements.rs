//! Where an element lies: what its index contributes along each dimension, in whatever language.

use crate::entity::Handle;
use crate::loops::nodes::{Array, DimensionIndex, Element, Integer};
use crate::space::{Affine, Ring};

/// Text, and how tightly its outermost operator binds.
type PrecedenceText = (String, u8);

/// The words of a language for indices, and how tightly it binds them.
pub(crate) trait Indices {
    /// A name.
    const ATOM: u8;
    /// `a - b`
    const DIFFERENCE: u8;
    /// How tightly an operand of `*`, and of `&`, must bind to need no parentheses.
    const FACTOR: u8;
    const MASKED: u8;

    fn affine(&mut self, sum: &Affine) -> PrecedenceText;

    /// The name of an integer that was found at run time.
    fn integer(&self, integer: Handle<Integer>) -> String;

    /// `1` where neighbours lie side by side.
    fn stride(&mut self, array: Handle<Array>, dimension: usize) -> String;
}

/// The terms whose sum is the distance of an element from where index 0 is along every axis.
pub(crate) fn terms<W: Indices>(words: &mut W, element: &Element, array: &Array) -> Vec<String> {
    let within =
        |(text, binding): PrecedenceText, least: u8| if binding < least { format!("({text})") } else { text };
    let mut terms = Vec::new();
    for (dimension, index) in element.index.iter().enumerate() {
        let position = match index {
            DimensionIndex::Known(sum) => words.affine(sum),
            DimensionIndex::Found { integer, shift } if *shift == Affine::default() => {
                (words.integer(*integer), W::ATOM)
            }
            DimensionIndex::Found { integer, shift } => {
                let shift = within(words.affine(shift), W::ATOM);
                (format!("{} - {shift}", words.integer(*integer)), W::DIFFERENCE)
            }
        };
        if position.0 == "0" {
            continue;
        }
        let position = match Ring::places_along(array.ring, dimension) {
            Some(places) => (format!("({} & {})", within(position, W::MASKED), places - 1), W::ATOM),
            None => position,
        };
        match words.stride(element.array, dimension) {
            stride if stride == "1" => terms.push(position.0),
            stride => terms.push(format!("{} * {stride}", within(position, W::FACTOR))),
        }
    }
    terms
}
