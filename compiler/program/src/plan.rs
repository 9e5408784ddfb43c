//! The plan of an exchange between ranks: the strips that one rank sends, and those that it receives.
//!
//! ```text
//! plan u_v tag 4
//!   rank 2
//!     send 0 [0 3 12 +, 1 12 3 -, 2 0 11 +]        a strip of the first field: dimension, first index, points, direction
//!     receive 0 [0 3 12 +, 1 15 3 +, 2 0 11 +]
//! ```
//!
//! A message has the elements of its strips one behind the other, each with its last dimension fastest. Where faces of a
//! cube are turned to each other, a strip has its dimensions in another order, or backwards, and may be negated.

use std::sync::Arc;

use isobar_ground::diag::Span;
use isobar_ground::entity::{Handle, Spelled};

use crate::nodes::{ContainerPart, ProgramIr};

/// The messages of one rank in an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangePlan {
    pub name: String,
    /// The number by which ranks tell the messages of exchanges apart.
    pub tag: u32,
    pub neighbours: Arc<[Neighbour]>,
    pub span: Span,
}

/// The messages to and from another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub rank: u32,
    pub sent: Vec<HaloStrip>,
    pub received: Vec<HaloStrip>,
}

/// A box of a field, in the order of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloStrip {
    /// The field, among those of the exchange.
    pub field: usize,
    /// From the slowest to the fastest of the message.
    pub along: Vec<StripDimension>,
    pub is_negated: bool,
}

/// A dimension of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripDimension {
    /// The dimension of the array.
    pub dimension: usize,
    /// The index of the first point; where the strip runs backwards, the highest.
    pub first: usize,
    pub n: usize,
    pub is_backwards: bool,
}

impl Spelled for ExchangePlan {
    const PREFIX: &'static str = "x";
}

impl HaloStrip {
    /// Its elements.
    #[must_use]
    pub fn n_elements(&self) -> usize {
        self.along.iter().fold(1, |n, it| n.saturating_mul(it.n))
    }

    /// Why it is no box of a field with this shape.
    fn fault(&self, shape: &[usize]) -> Option<String> {
        let mut dimensions: Vec<usize> = self.along.iter().map(|it| it.dimension).collect();
        dimensions.sort_unstable();
        if !dimensions.iter().copied().eq(0..shape.len()) {
            return Some(format!(
                "a strip has the dimensions {dimensions:?}, and the field has {}",
                shape.len()
            ));
        }
        self.along.iter().find_map(|it| {
            let size = shape[it.dimension];
            let ends = if it.is_backwards {
                it.first < size && it.n.checked_sub(1).is_some_and(|behind| behind <= it.first)
            } else {
                it.n > 0 && it.first.checked_add(it.n).is_some_and(|end| end <= size)
            };
            let StripDimension { dimension, first, n, .. } = it;
            (!ends).then(|| format!("{n} points from {first} along dimension {dimension} leave its {size}"))
        })
    }
}

impl Neighbour {
    /// The elements that it receives, and those that it sends.
    #[must_use]
    pub fn lengths(&self) -> [usize; 2] {
        [&self.received, &self.sent]
            .map(|it| it.iter().map(HaloStrip::n_elements).fold(0, usize::saturating_add))
    }
}

/// Why an exchange of fields cannot follow its plan: their shapes are those of `shape_of`.
#[must_use]
pub fn plan_fault(
    program: &ProgramIr,
    fields: &[ContainerPart],
    plan: Handle<ExchangePlan>,
    shape_of: &dyn Fn(&ContainerPart) -> Vec<usize>,
) -> Option<String> {
    let Some(plan) = program.plans.get(plan) else { return Some("it has no plan".to_owned()) };
    if let Some(part) = fields.iter().find(|it| !it.data_index.is_empty()) {
        return Some(format!("`{}` is a part of a field", part.spelled(program)));
    }
    let shapes: Vec<Vec<usize>> = fields.iter().map(shape_of).collect();
    plan.neighbours.iter().find_map(|neighbour| {
        for strip in neighbour.sent.iter().chain(&neighbour.received) {
            let Some(part) = fields.get(strip.field) else {
                return Some(format!("there is no field {} in it", strip.field));
            };
            if let Some(why) = strip.fault(&shapes[strip.field]) {
                return Some(format!("of `{}`, {why}", part.spelled(program)));
            }
            let dtype = program.containers[part.container].dtype;
            if strip.is_negated && !dtype.is_float() {
                return Some(format!("`{}` is {dtype}, which has no sign to turn", part.spelled(program)));
            }
            if dtype != program.containers[fields[0].container].dtype {
                return Some("its fields differ in type".to_owned());
            }
        }
        None
    })
}
