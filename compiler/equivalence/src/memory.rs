//! The values of a run: those of the caller, and those that the stencil keeps for itself.

use smallvec::SmallVec;

use super::program::{Container, ContainerKind, Program, Sum, Symbols};
use super::run::Stop;
use isobar_compiler::call::array::Elements;
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::space::{Axis, AxisSet, Domain, Ring, Symbol, names};
use isobar_compiler::types::{DType, Value};

/// All containers of a program, by number.
#[derive(Debug)]
pub(super) struct ContainerMemory {
    slots: Vec<ContainerElements>,
}

/// The elements of a container.
#[derive(Debug)]
pub(super) struct ContainerElements {
    elements: Elements,
    /// Where the element of the index 0 in all dimensions lies; outside of the array where the stencil does not touch it.
    start: i64,
    /// The length of each dimension, and how far apart neighbours along it lie.
    dimensions: SmallVec<[(i64, i64); 4]>,
    ring: Option<Ring>,
}

impl ContainerMemory {
    /// Takes the arrays out of the launch, and makes the containers that live as long as the run.
    pub(super) fn new(program: &Program, launch: &mut Launch) -> Result<Self, Stop> {
        // The sizes of containers that live as long as the run depend on no loop.
        let variables = vec![0; program.n_variables];
        let mut slots = Vec::with_capacity(program.containers.len());
        for container in &program.containers {
            let slot = match container.kind {
                ContainerKind::Argument(at) => {
                    ContainerElements::argument(container, launch, at, &variables)?
                }
                ContainerKind::Kept | ContainerKind::Register => {
                    ContainerElements::undefined(container, &variables)
                }
                ContainerKind::Private => ContainerElements::empty(container.dtype),
            };
            slots.push(slot);
        }
        Ok(Self { slots })
    }

    /// Gives the arrays back.
    pub(super) fn give_back(&mut self, program: &Program, launch: &mut Launch) {
        for (container, slot) in program.containers.iter().zip(&mut self.slots) {
            if let ContainerKind::Argument(at) = container.kind
                && let Some(Argument::Field(given)) = launch.arguments.get_mut(at)
            {
                given.array.elements = std::mem::replace(&mut slot.elements, Elements::zeros(DType::Bool, 0));
            }
        }
    }

    /// Forgets what a container holds.
    pub(super) fn renew(&mut self, program: &Program, container: usize, variables: &[i64]) {
        let (declared, slot) = (&program.containers[container], &mut self.slots[container]);
        if declared.shape.is_empty() && !slot.elements.is_empty() {
            slot.elements.set(0, Value::undefined(declared.dtype));
        } else {
            *slot = ContainerElements::undefined(declared, variables);
        }
    }

    pub(super) fn slot(&self, container: usize) -> &ContainerElements {
        &self.slots[container]
    }

    pub(super) fn slot_mut(&mut self, container: usize) -> &mut ContainerElements {
        &mut self.slots[container]
    }
}

impl ContainerElements {
    fn empty(dtype: DType) -> Self {
        Self { elements: Elements::zeros(dtype, 0), start: 0, dimensions: SmallVec::new(), ring: None }
    }

    /// Elements without gaps, the first dimension fastest, that nobody has written.
    fn undefined(container: &Container, variables: &[i64]) -> Self {
        let mut n = 1;
        let dimensions = container.shape.iter().enumerate().map(|(dimension, length)| {
            let (length, stride) = (length.at(variables).max(0), n);
            n *= Ring::places_along(container.ring, dimension).unwrap_or(length);
            (length, stride)
        });
        let dimensions = dimensions.collect();
        let mut elements = Elements::zeros(container.dtype, usize::try_from(n).unwrap_or(0));
        fill(&mut elements, Value::undefined(container.dtype));
        Self { elements, start: 0, dimensions, ring: container.ring }
    }

    /// An argument of the call.
    fn argument(
        container: &Container,
        launch: &mut Launch,
        at: usize,
        variables: &[i64],
    ) -> Result<Self, Stop> {
        let name = &container.name;
        match launch.arguments.get_mut(at) {
            Some(Argument::Scalar(value)) if container.shape.is_empty() => {
                let mut elements = Elements::zeros(value.dtype(), 1);
                elements.set(0, *value);
                Ok(Self { elements, start: 0, dimensions: SmallVec::new(), ring: None })
            }
            Some(Argument::Field(given)) => {
                let strides = &given.array.strides;
                if strides.len() != container.shape.len() || given.array.dtype() != container.dtype {
                    return Err(Stop::Fault(format!("`{name}` was passed as something else")));
                }
                let axes = AxisSet::of(&container.axes);
                let mut start = given.start(axes);
                let mut dimensions = SmallVec::new();
                for ((length, shift), &stride) in container.shape.iter().zip(&container.shift).zip(strides) {
                    start -= shift.at(variables) * stride;
                    dimensions.push((length.at(variables), stride));
                }
                let elements = std::mem::replace(&mut given.array.elements, Elements::zeros(DType::Bool, 0));
                Ok(Self { elements, start, dimensions, ring: None })
            }
            _ => Err(Stop::Fault(format!("`{name}` was not passed as what it is"))),
        }
    }

    /// Where the element at an index lies in memory; `None` where the container has no such element.
    pub(super) fn position(&self, index: &[i64]) -> Option<usize> {
        if index.len() != self.dimensions.len() {
            return None;
        }
        let mut position = self.start;
        for (dimension, (&at, &(length, stride))) in index.iter().zip(&self.dimensions).enumerate() {
            if at < 0 || at >= length {
                return None;
            }
            let place = Ring::places_along(self.ring, dimension).map_or(at, |places| at % places);
            position += place * stride;
        }
        usize::try_from(position).ok().filter(|&it| it < self.elements.len())
    }

    /// The length of each dimension.
    pub(super) fn lengths(&self) -> impl Iterator<Item = i64> {
        self.dimensions.iter().map(|it| it.0)
    }

    pub(super) fn get(&self, position: usize) -> Value {
        self.elements.get(position)
    }

    pub(super) fn set(&mut self, position: usize, value: Value) {
        self.elements.set(position, value);
    }
}

fn fill(elements: &mut Elements, value: Value) {
    match (elements, value) {
        (Elements::Bool(all), Value::Bool(it)) => all.fill(it),
        (Elements::Int8(all), Value::Int8(it)) => all.fill(it),
        (Elements::Int16(all), Value::Int16(it)) => all.fill(it),
        (Elements::Int32(all), Value::Int32(it)) => all.fill(it),
        (Elements::Int64(all), Value::Int64(it)) => all.fill(it),
        (Elements::Float32(all), Value::Float32(it)) => all.fill(it),
        (Elements::Float64(all), Value::Float64(it)) => all.fill(it),
        _ => {}
    }
}

/// Returns the values of the symbols that a call gives. These are the sizes of the domain, and the numbers of
/// levels that each argument's array has below and above it. The symbols of an argument are named after its
/// container.
pub(super) fn symbols_of_call<'c>(
    launch: &Launch,
    arguments: impl Iterator<Item = (&'c str, AxisSet, usize)>,
) -> Symbols {
    let mut symbols = Symbols::default();
    let Domain { i, j, k } = launch.domain;
    for (axis, n) in Axis::ALL.into_iter().zip([i, j, k]) {
        symbols.set(&Symbol::new(axis.name()), Sum::constant(n));
    }
    for (name, axes, at) in arguments {
        let Some(Argument::Field(given)) = launch.arguments.get(at) else { continue };
        let [below, above] = given.levels_beside(axes, launch.domain);
        symbols.set(&names::levels_below(name), Sum::constant(below));
        symbols.set(&names::levels_above(name), Sum::constant(above));
    }
    symbols
}
