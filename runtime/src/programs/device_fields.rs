//! The fields of a program in the memory of a device, and the calls that it carries out meanwhile.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isobar_compiler::call::array::{Array, Elements, c_strides};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::entity::Handle;
use isobar_compiler::types::{DType, Value};
use isobar_program::interpret::ElementBox;
use isobar_program::nodes::Container;

use crate::boxes::{BoxCopy, BoxDimension};
use crate::bytes::{bytes_of, with_bytes};
use crate::device::{Device, DeviceMemory, DeviceSequence, Ticket};
use crate::executors::{Prepared, SequenceAddition};
use crate::failure::Failure;

/// The most calls that are not over: each has buffers of its own.
const MOST_CALLS: usize = 64;

/// The most memories of messages that wait for others.
const MOST_SPARE: usize = 16;

/// The most numbers that are kept for fills.
const MOST_CONSTANTS: usize = 64;

/// The side of a copy that is a box of a container; on the other one, elements lie close together in C order.
#[derive(Clone, Copy, Debug)]
enum BoxSide {
    From,
    To,
}

/// The copy between a box and the elements of a message from `at` on.
fn copy_of(its: &ElementBox, side: BoxSide, at: usize) -> BoxCopy {
    let dense = c_strides(&its.shape);
    let all = its.shape.iter().zip(&its.strides).zip(dense);
    let dimensions = all.map(|((&n, &stride), dense)| match side {
        BoxSide::From => BoxDimension { n, from: stride, to: dense },
        BoxSide::To => BoxDimension { n, from: dense, to: stride },
    });
    let dimensions = dimensions.collect();
    match side {
        BoxSide::From => BoxCopy { from: its.start, to: at, dimensions },
        BoxSide::To => BoxCopy { from: at, to: its.start, dimensions },
    }
}

/// The place of a memory in this process, which tells it from others.
fn address(memory: &dyn DeviceMemory) -> usize {
    std::ptr::from_ref(memory).addr()
}

/// The memory of each container of a program.
pub(super) struct DeviceFields {
    device: Arc<dyn Device>,
    fields: BTreeMap<Handle<Container>, DeviceField>,
    /// The number of the run whose elements these are.
    run: Option<u64>,
    /// Calls that were started, in order.
    under_way: VecDeque<Box<dyn Ticket>>,
    /// Elements on their way, by number.
    messages: BTreeMap<u64, FieldMessage>,
    n_messages: u64,
    /// Whether a copy may not be over.
    is_copying: bool,
    /// Memory of messages that are over.
    spare: Vec<Box<dyn DeviceMemory>>,
    /// Calls and copies that the device has not begun, where it takes them together.
    sequence: Option<Box<dyn DeviceSequence>>,
    /// The addresses of the memories that these touch.
    collected: BTreeSet<usize>,
    /// Memory that only these may still use.
    retired: Vec<Box<dyn DeviceMemory>>,
    /// Numbers that fields are filled with, by type and bytes: each is sent once.
    constants: BTreeMap<(DType, Vec<u8>), Box<dyn DeviceMemory>>,
}

/// Elements on their way between containers.
struct FieldMessage {
    dtype: DType,
    n: usize,
    memory: Box<dyn DeviceMemory>,
}

/// A container on the device.
struct DeviceField {
    memory: Box<dyn DeviceMemory>,
    newer: NewerElements,
}

/// Where the newer elements of a container are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NewerElements {
    Here,
    OnDevice,
    /// Both sides have the same ones, or no statement reads them.
    Neither,
}

impl fmt::Debug for DeviceFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceFields").field("device", &self.device).finish_non_exhaustive()
    }
}

impl DeviceFields {
    pub(super) fn new(device: Arc<dyn Device>) -> Self {
        let sequence = device.sequence();
        Self {
            device,
            sequence,
            collected: BTreeSet::new(),
            retired: Vec::new(),
            constants: BTreeMap::new(),
            fields: BTreeMap::new(),
            run: None,
            under_way: VecDeque::new(),
            messages: BTreeMap::new(),
            n_messages: 0,
            is_copying: false,
            spare: Vec::new(),
        }
    }

    /// Begins a run; elements of any but the last one are forgotten.
    pub(super) fn begin_run(&mut self, last: Option<u64>) -> u64 {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        // A run that ended early may leave some.
        self.sequence.iter_mut().for_each(|it| it.forget());
        self.collected.clear();
        if last.is_none() || last != self.run {
            self.fields.clear();
        }
        self.retired.clear();
        self.messages.clear();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        self.run = Some(number);
        number
    }

    pub(super) fn send(&mut self, container: Handle<Container>, array: &Array) -> Result<(), Failure> {
        let bytes = bytes_of(&array.elements);
        let is_sufficient = |it: &DeviceField| it.memory.bytes() >= bytes.len();
        let mut field = match self.fields.remove(&container) {
            Some(known) if is_sufficient(&known) => {
                // A call that was collected may read what is there.
                if known.newer == NewerElements::Here
                    && self.collected.contains(&address(&*known.memory))
                    && let Err(why) = self.submit()
                {
                    self.fields.insert(container, known);
                    return Err(why);
                }
                known
            }
            known => {
                self.retired.extend(known.map(|it| it.memory));
                DeviceField { memory: self.device.allocate(bytes.len())?, newer: NewerElements::Here }
            }
        };
        if field.newer == NewerElements::Here {
            field.memory.write(0, bytes)?;
            field.newer = NewerElements::Neither;
        }
        self.fields.insert(container, field);
        Ok(())
    }

    /// Has the device begin with all that was collected.
    fn submit(&mut self) -> Result<(), Failure> {
        let Some(sequence) = &mut self.sequence else { return Ok(()) };
        let submitted = sequence.submit();
        self.collected.clear();
        // Freeing memory waits for the device.
        self.retired.clear();
        match submitted? {
            Some(ticket) => self.keep_ticket(ticket),
            None => Ok(()),
        }
    }

    fn submit_if_full(&mut self) -> Result<(), Failure> {
        match self.sequence.as_ref().is_some_and(|it| it.is_full()) {
            true => self.submit(),
            false => Ok(()),
        }
    }

    fn keep_ticket(&mut self, ticket: Box<dyn Ticket>) -> Result<(), Failure> {
        self.under_way.push_back(ticket);
        match self.under_way.len() > MOST_CALLS {
            true => self.under_way.pop_front().map_or(Ok(()), Ticket::wait),
            false => Ok(()),
        }
    }

    pub(super) fn bring(&mut self, container: Handle<Container>, array: &mut Array) -> Result<(), Failure> {
        let is_newer = |it: &&DeviceField| it.newer == NewerElements::OnDevice;
        if self.fields.get(&container).filter(is_newer).is_none() {
            return Ok(());
        }
        self.submit()?;
        self.wait_for_calls()?;
        if let Some(field) = self.fields.get_mut(&container) {
            with_bytes(&mut array.elements, |bytes| field.memory.read(0, bytes))?;
            field.newer = NewerElements::Neither;
            // Copies that were started before are over.
            self.is_copying = false;
        }
        Ok(())
    }

    pub(super) fn is_newer_here(&mut self, container: Handle<Container>) {
        if let Some(field) = self.fields.get_mut(&container) {
            field.newer = NewerElements::Here;
        }
    }

    pub(super) fn begins(&mut self, container: Handle<Container>, before: Option<Handle<Container>>) {
        if let Some(field) = before.and_then(|it| self.fields.remove(&it)) {
            let replaced = self.fields.insert(container, field);
            self.retired.extend(replaced.map(|it| it.memory));
        }
        if let Some(field) = self.fields.get_mut(&container) {
            field.newer = NewerElements::Neither;
        }
    }

    /// Memory for a message: that of one which is over, where it suffices.
    fn memory_for(&mut self, dtype: DType, n: usize) -> Result<Box<dyn DeviceMemory>, Failure> {
        let bytes = n.checked_mul(dtype.size_bytes()).ok_or(Failure::OutOfMemory)?;
        let fitting = self.spare.iter().enumerate().filter(|it| it.1.bytes() >= bytes);
        match fitting.min_by_key(|it| it.1.bytes()).map(|it| it.0) {
            Some(at) => Ok(self.spare.swap_remove(at)),
            None => self.device.allocate(bytes),
        }
    }

    fn put_away(&mut self, message: FieldMessage) {
        self.spare.push(message.memory);
        if self.spare.len() > MOST_SPARE {
            let oldest = self.spare.remove(0);
            self.retired.push(oldest);
        }
    }

    fn keep(&mut self, message: FieldMessage) -> u64 {
        self.n_messages += 1;
        self.messages.insert(self.n_messages, message);
        self.n_messages
    }

    fn taken(&mut self, number: u64) -> Result<FieldMessage, Failure> {
        self.messages.remove(&number).ok_or_else(|| Failure::Machine("there is no such message".to_owned()))
    }

    pub(super) fn gather(
        &mut self,
        dtype: DType,
        boxes: &[(Handle<Container>, ElementBox)],
    ) -> Result<Option<u64>, Failure> {
        if !self.device.copies_boxes(dtype.size_bytes()) {
            return Ok(None);
        }
        let n = boxes.iter().map(|it| it.1.n()).sum();
        let memory = self.memory_for(dtype, n)?;
        let mut at = 0;
        for (container, it) in boxes {
            let copy = copy_of(it, BoxSide::From, at);
            self.copy(*container, (&*memory, BoxSide::To), dtype.size_bytes(), &copy)?;
            at += it.n();
        }
        self.submit_if_full()?;
        Ok(Some(self.keep(FieldMessage { dtype, n, memory })))
    }

    pub(super) fn scatter(
        &mut self,
        message: u64,
        boxes: &[(Handle<Container>, ElementBox)],
    ) -> Result<(), Failure> {
        let message = self.taken(message)?;
        let mut at = 0;
        for (container, it) in boxes {
            let copy = copy_of(it, BoxSide::To, at);
            let size = message.dtype.size_bytes();
            self.copy(*container, (&*message.memory, BoxSide::From), size, &copy)?;
            self.is_newer_there(*container);
            at += it.n();
        }
        self.put_away(message);
        self.submit_if_full()
    }

    pub(super) fn read(&mut self, message: u64) -> Result<Elements, Failure> {
        self.submit()?;
        let message = self.taken(message)?;
        let mut elements = Elements::zeros(message.dtype, message.n);
        with_bytes(&mut elements, |bytes| message.memory.read(0, bytes))?;
        self.put_away(message);
        Ok(elements)
    }

    pub(super) fn message(&mut self, elements: &Elements) -> Result<Option<u64>, Failure> {
        let (dtype, n) = (elements.dtype(), elements.len());
        if !self.device.copies_boxes(dtype.size_bytes()) {
            return Ok(None);
        }
        let mut memory = self.memory_for(dtype, n)?;
        // It may be that of a message which is on its way.
        if self.collected.contains(&address(&*memory)) {
            self.submit()?;
        }
        memory.write(0, bytes_of(elements))?;
        Ok(Some(self.keep(FieldMessage { dtype, n, memory })))
    }

    pub(super) fn fill(
        &mut self,
        container: Handle<Container>,
        its: &ElementBox,
        value: Value,
    ) -> Result<bool, Failure> {
        let dtype = value.dtype();
        if !self.device.copies_boxes(dtype.size_bytes()) {
            return Ok(false);
        }
        let mut copy = copy_of(its, BoxSide::To, 0);
        copy.dimensions.iter_mut().for_each(|it| it.from = 0);
        let one = Elements::filled(value, 1);
        let key = (dtype, bytes_of(&one).to_vec());
        let memory = match self.constants.remove(&key) {
            Some(known) => known,
            None => {
                if self.constants.len() == MOST_CONSTANTS {
                    self.retired.extend(self.constants.pop_first().map(|it| it.1));
                }
                let mut memory = self.device.allocate(key.1.len())?;
                memory.write(0, &key.1)?;
                memory
            }
        };
        let copied = self.copy(container, (&*memory, BoxSide::From), dtype.size_bytes(), &copy);
        self.constants.insert(key, memory);
        copied?;
        self.is_newer_there(container);
        self.submit_if_full()?;
        Ok(true)
    }

    /// Copies between a container and another memory, which is on the `side` of the copy that is named.
    fn copy(
        &mut self,
        container: Handle<Container>,
        (other, side): (&dyn DeviceMemory, BoxSide),
        size: usize,
        copy: &BoxCopy,
    ) -> Result<(), Failure> {
        let Some(field) = self.fields.get(&container) else {
            return Err(Failure::Machine("a field was not sent to the device".to_owned()));
        };
        let (from, to) = match side {
            BoxSide::From => (other, &*field.memory),
            BoxSide::To => (&*field.memory, other),
        };
        match &mut self.sequence {
            Some(sequence) => {
                self.collected.extend([address(from), address(to)]);
                sequence.copy_box(from, to, size, copy)
            }
            None => {
                self.is_copying = true;
                self.device.copy_box(from, to, size, copy)
            }
        }
    }

    fn is_newer_there(&mut self, container: Handle<Container>) {
        if let Some(field) = self.fields.get_mut(&container) {
            field.newer = NewerElements::OnDevice;
        }
    }

    pub(super) fn swaps(&mut self, one: Handle<Container>, other: Handle<Container>) {
        let fields = [one, other].map(|it| self.fields.remove(&it));
        for (at, field) in [other, one].into_iter().zip(fields) {
            if let Some(field) = field {
                self.fields.insert(at, field);
            }
        }
    }

    /// Waits for all calls and copies.
    pub(super) fn wait(&mut self) -> Result<(), Failure> {
        let mut ended = self.submit().and_then(|()| self.wait_for_calls());
        // A copy has no ticket; a read comes behind it.
        if std::mem::take(&mut self.is_copying)
            && let Some(field) = self.fields.values().find(|it| it.memory.bytes() > 0)
        {
            ended = ended.and(field.memory.read(0, &mut [0]));
        }
        ended
    }

    fn wait_for_calls(&mut self) -> Result<(), Failure> {
        let mut ended = Ok(());
        for ticket in std::mem::take(&mut self.under_way) {
            ended = ended.and(ticket.wait());
        }
        ended
    }

    /// Starts a call on these containers, by the positions of its arguments. Other fields are in the arrays of the launch.
    /// `written` are the positions that it writes.
    pub(super) fn start(
        &mut self,
        prepared: &mut Prepared,
        launch: &mut Launch,
        containers: &[Option<Handle<Container>>],
        written: &dyn Fn(usize) -> bool,
    ) -> Result<(), Failure> {
        let mut copies: BTreeMap<usize, Box<dyn DeviceMemory>> = BTreeMap::new();
        for (at, (argument, container)) in launch.arguments.iter().zip(containers).enumerate() {
            if let (Argument::Field(field), None) = (argument, container) {
                let bytes = bytes_of(&field.array.elements);
                let mut memory = self.device.allocate(bytes.len())?;
                memory.write(0, bytes)?;
                copies.insert(at, memory);
            }
        }
        let memories: Vec<Option<&dyn DeviceMemory>> = containers
            .iter()
            .enumerate()
            .map(|(at, container)| match container {
                Some(container) => self.fields.get(container).map(|it| &*it.memory),
                None => copies.get(&at).map(|it| &**it),
            })
            .collect();
        if let Some(sequence) = self.sequence.as_mut().filter(|_| !prepared.may_trap() && copies.is_empty()) {
            let added = prepared.add(launch, &memories, &mut **sequence);
            let added = match added {
                Ok(SequenceAddition::AfterSubmission) => {
                    let ticket = sequence.submit()?;
                    self.under_way.extend(ticket);
                    self.collected.clear();
                    prepared.add(launch, &memories, &mut **sequence)
                }
                other => other,
            };
            self.collected.extend(memories.into_iter().flatten().map(address));
            self.were_written(containers, written);
            added?;
            return self.submit_if_full();
        }
        if let Some(sequence) = &mut self.sequence {
            let ticket = sequence.submit()?;
            self.under_way.extend(ticket);
            self.collected.clear();
        }
        let started = prepared.start(launch, &memories);
        self.were_written(containers, written);
        let ticket = started?;
        if prepared.may_trap() || !copies.is_empty() {
            let mut ended = ticket.wait();
            for (at, memory) in copies.iter().filter(|it| written(*it.0)) {
                if let Argument::Field(field) = &mut launch.arguments[*at] {
                    let brought = with_bytes(&mut field.array.elements, |bytes| memory.read(0, bytes));
                    ended = ended.and(brought);
                }
            }
            return ended;
        }
        self.keep_ticket(ticket)
    }

    /// The device has the newer elements of the containers that a call writes.
    fn were_written(&mut self, containers: &[Option<Handle<Container>>], written: &dyn Fn(usize) -> bool) {
        for (at, container) in containers.iter().enumerate() {
            if let Some(container) = container.filter(|_| written(at)) {
                self.is_newer_there(container);
            }
        }
    }
}
