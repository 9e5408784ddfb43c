//! Names of a program in C: symbols, sums, elements.

use std::collections::BTreeSet;

use super::streams::{StreamBuffer, Streams};
use crate::c_family::binding::{ATOM, TERNARY};
use crate::c_family::expression::{self, PrecedenceText, Wording, at_least};
use crate::elements::{self, Indices};
use crate::entity::Handle;
use crate::expr::Expr;
use crate::loops::nodes::{
    Array, DimensionIndex, Element, Integer, Local, Program, Read, Strides, SymbolMeaning,
};
use crate::space::{Affine, Size, Symbol};
use crate::types::DType;

/// The names of a program.
#[derive(Clone, Copy)]
pub(super) struct Words<'p> {
    pub(super) program: &'p Program,
    /// Locals with one value for each lane of a strip.
    pub(super) lanes: &'p BTreeSet<Handle<Local>>,
    pub(super) streams: &'p Streams,
    /// Whether operands that are evaluated in any case call shared functions, which the file has once.
    pub(super) is_sharing: bool,
}

impl Words<'_> {
    pub(super) fn expr(self, expr: &Expr<Read>) -> String {
        let mut wording = if self.is_sharing { Wording::sharing() } else { Wording::default() };
        wording.text(expr, &mut |read, dtype| self.read(read, dtype)).0
    }

    fn read(self, read: &Read, dtype: DType) -> PrecedenceText {
        match read {
            Read::Local(local) => (self.local(*local), ATOM),
            Read::Sum(sum) => match dtype {
                DType::Int64 => self.affine(sum),
                other => {
                    let operand = at_least(self.affine(sum), ATOM);
                    (format!("({}){operand}", expression::c_type(other)), ATOM - 1)
                }
            },
            // Any byte but 0 is true.
            Read::Element(element) if dtype == DType::Bool => {
                (format!("({} != 0)", at_least(self.element(element), TERNARY)), ATOM)
            }
            Read::Element(element) => self.element(element),
        }
    }

    pub(super) fn local(self, local: Handle<Local>) -> String {
        let name = &self.program.locals[local].name;
        if self.lanes.contains(&local) { format!("{name}[lane]") } else { name.clone() }
    }

    pub(super) fn symbol(self, symbol: &Symbol) -> String {
        match self.program.symbols.get(symbol) {
            Some(SymbolMeaning::Size(axis)) => axis.name().to_owned(),
            Some(&SymbolMeaning::Levels { array, side }) => {
                let name = self.program.arrays[array].name.as_deref().unwrap_or_default();
                format!("{name}_{}", side.name())
            }
            Some(SymbolMeaning::Position(name)) => name.clone(),
            None => symbol.name().to_owned(),
        }
    }

    pub(super) fn affine(self, sum: &Affine) -> PrecedenceText {
        expression::affine(sum, 0, &mut |symbol| self.symbol(symbol))
    }

    pub(super) fn size(self, size: &Size) -> PrecedenceText {
        expression::size(size, &mut |symbol| self.symbol(symbol))
    }

    pub(super) fn element(self, element: &Element) -> PrecedenceText {
        let array = &self.program.arrays[element.array];
        let name = array.name.clone().unwrap_or_default();
        if array.is_scalar() {
            return (name, ATOM);
        }
        if self.streams.arrays.contains(&element.array) {
            let along = match element.index.first() {
                Some(DimensionIndex::Known(sum)) => self.affine(sum).0,
                Some(DimensionIndex::Found { .. }) | None => String::new(),
            };
            let text = match self.streams.form {
                StreamBuffer::Row => format!("{name}_to[({along} - i_row) * {name}_step]"),
                StreamBuffer::Piece => format!("{name}_row[{along} - i_block]"),
            };
            return (text, ATOM);
        }
        let terms = elements::terms(&mut { self }, element, array);
        let text = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        (format!("{name}[{text}]"), ATOM)
    }
}

impl Indices for Words<'_> {
    const ATOM: u8 = ATOM;
    const DIFFERENCE: u8 = TERNARY;
    const FACTOR: u8 = ATOM;
    const MASKED: u8 = ATOM;

    fn affine(&mut self, sum: &Affine) -> PrecedenceText {
        Words::affine(*self, sum)
    }

    fn integer(&self, integer: Handle<Integer>) -> String {
        self.program.integers[integer].name.clone()
    }

    fn stride(&mut self, at: Handle<Array>, dimension: usize) -> String {
        let array = &self.program.arrays[at];
        if dimension == 0 && array.strides == Strides::Packed {
            return "1".to_owned();
        }
        format!("{}{}", array.name.as_deref().unwrap_or_default(), array.suffix(dimension))
    }
}
