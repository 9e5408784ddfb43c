//! Exchanges between ranks: messages are packed as the plan says, and unpacked when they arrive.

use isobar_ground::call::array::{Array, Elements};
use isobar_ground::types::DType;

use super::ProgramInstance;
use super::arrays::ElementBox;
use super::messages::MessageBoxes;
use super::runner::{RankMessage, StencilRunner, StencilStop};
use crate::nodes::HaloExchange;
use crate::plan::{HaloStrip, Neighbour};

/// Where a strip lies in an array, in the order of the message.
fn box_of(array: &Array, strip: &HaloStrip) -> ElementBox {
    let mut index = vec![0; array.shape.len()];
    strip.along.iter().for_each(|it| index[it.dimension] = it.first);
    let stride = |at: usize, is_backwards: bool| {
        let stride = array.strides[at];
        if is_backwards { -stride } else { stride }
    };
    ElementBox {
        start: array.position(&index),
        shape: strip.along.iter().map(|it| it.n).collect(),
        strides: strip.along.iter().map(|it| stride(it.dimension, it.is_backwards)).collect(),
    }
}

/// Changes the sign of the elements of strips that turn.
fn turn(elements: &mut Elements, strips: &[HaloStrip]) {
    let mut at = 0;
    for strip in strips {
        let end = at + strip.n_elements();
        if strip.is_negated {
            negate(elements, at..end);
        }
        at = end;
    }
}

impl ProgramInstance {
    /// The boxes of strips.
    fn boxes_of(&mut self, exchange: &HaloExchange, strips: &[HaloStrip]) -> MessageBoxes {
        let mut boxes = MessageBoxes::with_capacity(strips.len());
        for strip in strips {
            let container = exchange.fields[strip.field].container;
            self.begin(container);
            boxes.push((container, box_of(&self.arrays[container.index()], strip)));
        }
        boxes
    }

    /// The messages of an exchange that has a plan.
    pub(super) fn packed(
        &mut self,
        exchange: &HaloExchange,
        neighbours: &[Neighbour],
        runner: &mut dyn StencilRunner,
    ) -> Result<Vec<RankMessage>, StencilStop> {
        let boxes: Vec<_> = neighbours.iter().map(|it| self.boxes_of(exchange, &it.sent)).collect();
        let all = self.picked_apart(&boxes, self.dtype_of(exchange), runner)?;
        let packed = neighbours.iter().zip(all).map(|(neighbour, mut sent)| {
            turn(&mut sent, &neighbour.sent);
            let [n_received, _] = neighbour.lengths();
            RankMessage { rank: neighbour.rank, sent, n_received }
        });
        Ok(packed.collect())
    }

    /// Holds what arrived against a plan. Answers why it does not fit.
    pub(super) fn check_arrived(
        &self,
        exchange: &HaloExchange,
        neighbours: &[Neighbour],
        arrived: &[Elements],
    ) -> Result<(), String> {
        let dtype = self.dtype_of(exchange);
        if arrived.len() != neighbours.len() {
            return Err(format!("{} of {} messages arrived", arrived.len(), neighbours.len()));
        }
        for (neighbour, elements) in neighbours.iter().zip(arrived) {
            let [expected, _] = neighbour.lengths();
            if (elements.dtype(), elements.len()) != (dtype, expected) {
                let (is, n) = (elements.dtype(), elements.len());
                return Err(format!(
                    "rank {} sent {n} elements of {is}, and {expected} of {dtype} are expected: the ranks run different \
                     programs, or their exchanges in another order",
                    neighbour.rank
                ));
            }
        }
        Ok(())
    }

    /// Stores what arrived.
    pub(super) fn unpack(
        &mut self,
        exchange: &HaloExchange,
        neighbours: &[Neighbour],
        arrived: Vec<Elements>,
        runner: &mut dyn StencilRunner,
    ) -> Result<(), StencilStop> {
        let messages = neighbours.iter().zip(arrived).map(|(neighbour, mut elements)| {
            turn(&mut elements, &neighbour.received);
            (elements, self.boxes_of(exchange, &neighbour.received))
        });
        let messages = messages.collect();
        self.store_apart(messages, self.dtype_of(exchange), runner)
    }

    fn dtype_of(&self, exchange: &HaloExchange) -> DType {
        let first = exchange.fields.first();
        first.map_or(DType::Float64, |it| self.program.containers[it.container].dtype)
    }
}

fn negate(elements: &mut Elements, range: std::ops::Range<usize>) {
    match elements {
        Elements::Float64(it) => it[range].iter_mut().for_each(|it| *it = -*it),
        Elements::Float32(it) => it[range].iter_mut().for_each(|it| *it = -*it),
        other => unreachable!("no plan turns the sign of {}", other.dtype()),
    }
}
