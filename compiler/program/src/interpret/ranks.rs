//! Exchanges between ranks: messages are packed as the plan says, and unpacked when they arrive.

use isobar_ground::call::array::{Array, Elements, c_strides};
use isobar_ground::types::DType;

use super::ProgramInstance;
use crate::nodes::HaloExchange;
use crate::plan::{HaloStrip, Neighbour};

/// Carries messages between the ranks of a program. Two ranks get each other's messages with one tag in the order in which
/// they were sent.
pub trait Transport {
    /// Sends a message to each neighbour, and lets one of each arrive. It waits for nothing. Answers a number for
    /// [`finish`](Self::finish). A message without elements is not sent, and none is received where no elements arrive.
    ///
    /// # Errors
    ///
    /// Why nothing can be sent.
    fn start(&mut self, tag: u32, messages: Vec<RankMessage>) -> Result<u64, String>;

    /// Waits for what arrives, in the order of the messages. All that was sent has left then.
    ///
    /// # Errors
    ///
    /// Why something did not arrive.
    fn finish(&mut self, started: u64) -> Result<Vec<Elements>, String>;
}

/// A message to a neighbour, and the length of its answer. All elements have one type.
#[derive(Clone, Debug, PartialEq)]
pub struct RankMessage {
    pub rank: u32,
    pub sent: Elements,
    /// The number of elements that arrive.
    pub n_received: usize,
}

/// Where a strip lies in an array: its start, its shape, and its strides, in the order of the message.
struct StripBox {
    start: usize,
    shape: Vec<usize>,
    strides: Vec<i64>,
}

impl StripBox {
    fn of(array: &Array, strip: &HaloStrip) -> Self {
        let mut index = vec![0; array.shape.len()];
        strip.along.iter().for_each(|it| index[it.dimension] = it.first);
        let stride = |at: usize, is_backwards: bool| {
            let stride = array.strides[at];
            if is_backwards { -stride } else { stride }
        };
        Self {
            start: array.position(&index),
            shape: strip.along.iter().map(|it| it.n).collect(),
            strides: strip.along.iter().map(|it| stride(it.dimension, it.is_backwards)).collect(),
        }
    }
}

/// A message as an array of one dimension.
fn message(elements: Elements) -> Array {
    let n = elements.len();
    Array { elements, first: 0, shape: vec![n], strides: vec![1] }
}

impl ProgramInstance {
    /// The messages of an exchange that has a plan.
    pub(super) fn packed(&self, exchange: &HaloExchange, neighbours: &[Neighbour]) -> Vec<RankMessage> {
        let array_of = |strip: &HaloStrip| &self.arrays[exchange.fields[strip.field].container.index()];
        let packed = |neighbour: &Neighbour| {
            let [n_received, n_sent] = neighbour.lengths();
            let mut sent = message(Elements::zeros(self.dtype_of(exchange), n_sent));
            let mut at = 0;
            for strip in &neighbour.sent {
                let from = array_of(strip);
                let StripBox { start, shape, strides } = StripBox::of(from, strip);
                sent.copy_box((at, &c_strides(&shape)), (from, start, &strides), &shape);
                let end = at + strip.n_elements();
                if strip.is_negated {
                    negate(&mut sent.elements, at..end);
                }
                at = end;
            }
            RankMessage { rank: neighbour.rank, sent: sent.elements, n_received }
        };
        neighbours.iter().map(packed).collect()
    }

    /// Stores what arrived. Answers why it cannot.
    pub(super) fn unpack(
        &mut self,
        exchange: &HaloExchange,
        neighbours: &[Neighbour],
        arrived: Vec<Elements>,
    ) -> Result<(), String> {
        let dtype = self.dtype_of(exchange);
        if arrived.len() != neighbours.len() {
            return Err(format!("{} of {} messages arrived", arrived.len(), neighbours.len()));
        }
        for (neighbour, elements) in neighbours.iter().zip(&arrived) {
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
        for (neighbour, elements) in neighbours.iter().zip(arrived) {
            let mut received = message(elements);
            let mut at = 0;
            for strip in &neighbour.received {
                let end = at + strip.n_elements();
                if strip.is_negated {
                    negate(&mut received.elements, at..end);
                }
                let to = &mut self.arrays[exchange.fields[strip.field].container.index()];
                let StripBox { start, shape, strides } = StripBox::of(to, strip);
                to.copy_box((start, &strides), (&received, at, &c_strides(&shape)), &shape);
                at = end;
            }
        }
        Ok(())
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
