//! The runners of a program's stencils, and what they answer.

use std::sync::Arc;

use isobar_ground::call::array::{Array, Elements};
use isobar_ground::call::launch::Launch;
use isobar_ground::call::run::{Control, Stop};
use isobar_ground::diag::Span;
use isobar_ground::entity::Handle;
use isobar_ground::types::{DType, Value};
use isobar_reference::front::Front;
use isobar_reference::{debug, numpy};

use super::arrays::ElementBox;
use super::callback::Callback;
use crate::nodes::Container;

/// Runs the stencils that a program calls.
pub trait StencilRunner {
    /// Runs a stencil on the arrays of a call. In `front`, parameters that are one field are one parameter.
    ///
    /// # Errors
    ///
    /// Why it ended early. The arrays then hold what was computed so far.
    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        control: &mut dyn Control,
    ) -> Result<(), StencilStop>;

    /// The parameters of the code of a group, by its number, where there is such code.
    fn group(&mut self, _number: usize) -> Option<Arc<[GroupParam]>> {
        None
    }

    /// Runs the code of a group that has some.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    fn run_group(
        &mut self,
        _number: usize,
        _launch: &mut Launch,
        _control: &mut dyn Control,
    ) -> Result<(), GroupStop> {
        let stop = StencilStop::Fault { why: "it has no code".to_owned(), statement: None };
        Err(GroupStop { stop, statement: None })
    }

    /// Answers a callback of the program.
    ///
    /// # Errors
    ///
    /// Why the run ends here.
    fn host(&mut self, _callback: &mut Callback<'_>) -> Result<(), StencilStop> {
        Err(StencilStop::Fault { why: "nobody answers it".to_owned(), statement: None })
    }

    /// The device that runs its stencils and keeps the elements of fields, where they are not on the host.
    fn device(&mut self) -> Option<&mut dyn DeviceRunner> {
        None
    }

    /// The carrier of messages between the ranks of a program.
    fn transport(&mut self) -> Option<&mut dyn Transport> {
        None
    }

    /// Whether each run starts with locals that hold NaN, or the smallest integer. Otherwise a local that is written before
    /// each read may start with values of the run before.
    fn forgets_locals(&self) -> bool {
        true
    }

    /// Whether calls are faster where neighbours along I lie side by side. A run then copies the fields of the caller that lie
    /// otherwise, once, and stores them at its end.
    fn prefers_rows(&self) -> bool {
        false
    }
}

/// Why a stencil ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StencilStop {
    Cancelled,
    Fault {
        /// In one sentence.
        why: String,
        /// The statement at fault, in the stencil's text.
        statement: Option<Span>,
    },
}

/// Runs stencils as `debug` does, which defines their meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct StencilInterpreter;

impl StencilRunner for StencilInterpreter {
    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        let (oir, extents) = front.reference().expect("a stencil that was accepted has an OIR");
        debug::run(oir, extents, launch, control).map_err(StencilStop::from)
    }
}

/// Runs stencils as operations on whole arrays, with the bits of `debug`.
#[derive(Clone, Copy, Debug, Default)]
pub struct StencilsOnArrays;

impl StencilRunner for StencilsOnArrays {
    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        match front.npir() {
            Some(npir) => numpy::run(npir, launch, control).map_err(StencilStop::from),
            None => StencilInterpreter.run(front, launch, control),
        }
    }
}

impl From<Stop> for StencilStop {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => StencilStop::Cancelled,
            Stop::Trap(trap) => {
                let statement = Some(trap.origin.span());
                StencilStop::Fault { why: Stop::Trap(trap).to_string(), statement }
            }
        }
    }
}

/// Runs stencils on a device, which has memory for each container.
///
/// The arrays of a launch tell shapes and strides. Their elements are those of the containers beside the launch, by the
/// positions of the arguments. An argument without a container has its elements in its own array.
pub trait DeviceRunner {
    /// Begins a run of an instance, whose last run has this number. Answers the number of the new run. Elements of any other
    /// run are forgotten.
    fn begin_run(&mut self, last: Option<u64>) -> u64;

    /// Gives a container memory, with the elements of its array where these are newer.
    ///
    /// # Errors
    ///
    /// Why the device has no such memory.
    fn send(&mut self, container: Handle<Container>, array: &Array) -> Result<(), StencilStop>;

    /// Stores the elements of a container in its array, where those of the device are newer.
    ///
    /// # Errors
    ///
    /// Why a call that was started did not end, or the device cannot be read.
    fn bring(&mut self, container: Handle<Container>, array: &mut Array) -> Result<(), StencilStop>;

    /// Notes that the array of a container has newer elements.
    fn is_newer_here(&mut self, container: Handle<Container>);

    /// Notes that no statement reads the elements that a container has now. It may take over the memory of `before`, which has
    /// ended.
    fn begins(&mut self, container: Handle<Container>, before: Option<Handle<Container>>);

    /// Copies the elements of boxes, all of one type, to a message on the device, and answers its number. The containers were
    /// sent. None where the device copies no such elements.
    ///
    /// # Errors
    ///
    /// Why the device does not copy them.
    fn gather(
        &mut self,
        dtype: DType,
        boxes: &[(Handle<Container>, ElementBox)],
    ) -> Result<Option<u64>, StencilStop>;

    /// Stores the elements of a message, which is over then. The containers were sent.
    ///
    /// # Errors
    ///
    /// As for [`gather`](Self::gather).
    fn scatter(&mut self, message: u64, boxes: &[(Handle<Container>, ElementBox)])
    -> Result<(), StencilStop>;

    /// The elements of a message, which is over then.
    ///
    /// # Errors
    ///
    /// Why the device cannot be read.
    fn read(&mut self, message: u64) -> Result<Elements, StencilStop>;

    /// Sends elements as a message; none where the device copies no such elements.
    ///
    /// # Errors
    ///
    /// Why the device has no such memory.
    fn message(&mut self, elements: &Elements) -> Result<Option<u64>, StencilStop>;

    /// Stores a value in all elements of a box. The container was sent. False where the device copies no such elements.
    ///
    /// # Errors
    ///
    /// Why the device does not store it.
    fn fill(
        &mut self,
        container: Handle<Container>,
        its: &ElementBox,
        value: Value,
    ) -> Result<bool, StencilStop>;

    /// Exchanges the elements of two containers.
    fn swaps(&mut self, one: Handle<Container>, other: Handle<Container>);

    /// Starts a stencil, as [`StencilRunner::run`] runs one. Where it may end early, this waits for its end.
    ///
    /// # Errors
    ///
    /// Why it did not begin, or ended early.
    fn start(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        containers: &[Option<Handle<Container>>],
        control: &mut dyn Control,
    ) -> Result<(), StencilStop>;

    /// Starts the code of a group.
    ///
    /// # Errors
    ///
    /// As for [`start`](Self::start).
    fn start_group(
        &mut self,
        number: usize,
        launch: &mut Launch,
        containers: &[Option<Handle<Container>>],
        control: &mut dyn Control,
    ) -> Result<(), GroupStop>;

    /// Waits until all that was started is over.
    ///
    /// # Errors
    ///
    /// Why something did not end.
    fn wait(&mut self) -> Result<(), StencilStop>;
}

/// A parameter of the code of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupParam {
    /// All of a container; its origin is that of the compute domain.
    Container(Handle<Container>),
    /// The scalar that a call of the group has for a parameter, both by position; that of a fill has the position 0.
    Scalar { statement: usize, param: usize },
}

/// Why the code of a group ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupStop {
    pub stop: StencilStop,
    /// The statement of the group at fault, by position.
    pub statement: Option<usize>,
}

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
