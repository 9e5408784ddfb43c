//! The inputs of a run: taken from the caller, and given back.

use std::collections::BTreeSet;

use isobar_ground::call::launch::ScalarInput;
use isobar_ground::diag::Diagnostic;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::entity::Handle;
use isobar_ground::types::{DType, Value};

use super::arrays::{self, absent, shape};
use super::{ProgramInputs, ProgramInstance, StencilRunner};
use crate::nodes::{Container, ContainerRole};
use crate::scalar::evaluate::stored;
use crate::scalar::nodes::{ScalarRole, ScalarValue};

impl ProgramInstance {
    /// Takes the fields of the caller, in rows where the runner prefers that, and forgets locals.
    pub(super) fn take(
        &mut self,
        inputs: &mut ProgramInputs,
        runner: &mut dyn StencilRunner,
    ) -> Result<(), Vec<Diagnostic>> {
        let scalars = self.starting_scalars(inputs)?;
        let (in_rows, is_on_device) = (runner.prefers_rows(), runner.device().is_some());
        self.begin_on_device(runner);
        self.forget_locals(runner);
        for (handle, container) in self.program.containers.iter() {
            let array = &mut self.arrays[handle.index()];
            match container.role {
                ContainerRole::Argument | ContainerRole::Constant => {
                    if let Some(given) = inputs.fields.get_mut(&container.name) {
                        *array = std::mem::replace(given, absent(container.dtype));
                        // A device has all elements of an array, and stores all of them.
                        let is_copied = in_rows && !arrays::is_in_rows(array, container)
                            || is_on_device && !arrays::is_dense(array);
                        if is_copied {
                            let rows = arrays::in_rows(array, container);
                            self.lent.insert(handle, std::mem::replace(array, rows));
                        }
                    }
                }
                ContainerRole::Local | ContainerRole::State(_) => {}
            }
        }
        self.scalars = scalars;
        Ok(())
    }

    /// Stores the elements of copied fields where the caller has them; of `only` these, where some are named.
    pub(super) fn give_copies(&mut self, only: Option<&BTreeSet<Handle<Container>>>) {
        for (handle, own) in &mut self.lent {
            if self.written.contains(handle) && only.is_none_or(|it| it.contains(handle)) {
                arrays::copy(&self.arrays[handle.index()], own);
            }
        }
    }

    /// Takes the elements of copied fields from where the caller has them; of `only` these, where some are named.
    pub(super) fn take_copies(&mut self, only: Option<&BTreeSet<Handle<Container>>>) {
        for (handle, own) in &self.lent {
            if only.is_none_or(|it| it.contains(handle)) {
                arrays::copy(own, &mut self.arrays[handle.index()]);
            }
        }
    }

    /// Gives the fields back to the caller.
    pub(super) fn give_back(&mut self, inputs: &mut ProgramInputs) {
        for (handle, container) in self.program.containers.iter() {
            let array = &mut self.arrays[handle.index()];
            match container.role {
                ContainerRole::Argument | ContainerRole::Constant => {
                    if let Some(mut own) = self.lent.remove(&handle) {
                        if self.written.contains(&handle) {
                            arrays::copy(array, &mut own);
                        }
                        *array = own;
                    }
                    if let Some(given) = inputs.fields.get_mut(&container.name) {
                        *given = std::mem::replace(array, absent(container.dtype));
                    }
                }
                ContainerRole::Local | ContainerRole::State(_) => {}
            }
        }
    }

    /// The values of all scalars at the start of a run.
    fn starting_scalars(&self, inputs: &ProgramInputs) -> Result<Vec<Value>, Vec<Diagnostic>> {
        let program = &self.program;
        let mut wrong = Vec::new();
        let is_given = |role| matches!(role, ContainerRole::Argument | ContainerRole::Constant);
        for container in program.containers.values().filter(|it| is_given(it.role)) {
            let name = &container.name;
            let Some(given) = inputs.fields.get(name) else {
                let what = format!("the field `{name}` is not given");
                wrong.push(catalog::run_input(&what, &format!("pass an array for `{name}`")));
                continue;
            };
            let expected = shape(container, self.domain);
            if given.dtype() != container.dtype || given.shape != expected {
                let (is, needs) = (given.dtype(), container.dtype);
                let what =
                    format!("`{name}` is {is} {:?}, and the program needs {needs} {expected:?}", given.shape);
                wrong.push(catalog::run_input(
                    &what,
                    "pass an array with the type and the shape of the document",
                ));
            }
        }
        let mut values = self.scalars.clone();
        for (handle, scalar) in program.scalars.iter() {
            let name = &scalar.name;
            let slot = &mut values[handle.index()];
            match (scalar.role, inputs.scalars.get(name)) {
                (ScalarRole::Argument, Some(&input)) => match converted(input, scalar.dtype) {
                    Some(value) => *slot = value,
                    None => {
                        let what = format!("`{name}` has the type {}, and {input} is given", scalar.dtype);
                        wrong.push(catalog::run_input(&what, "pass a number that its type holds"));
                    }
                },
                (ScalarRole::Argument, None) => {
                    let what = format!("the scalar `{name}` is not given");
                    wrong.push(catalog::run_input(&what, &format!("pass a number for `{name}`")));
                }
                (ScalarRole::Local, _) => *slot = Value::undefined(scalar.dtype),
                (ScalarRole::Constant(_) | ScalarRole::State(_), _) => {}
            }
        }
        let is_field =
            |name: &str| program.containers.values().any(|it| is_given(it.role) && it.name == name);
        let is_scalar = |name: &str| {
            program.scalars.values().any(|it| it.role == ScalarRole::Argument && it.name == name)
        };
        let fields = inputs.fields.keys().filter(|it| !is_field(it));
        for other in fields.chain(inputs.scalars.keys().filter(|it| !is_scalar(it))) {
            let what = format!("the program takes no `{other}`");
            wrong.push(catalog::run_input(&what, "pass its arguments and constants only"));
        }
        if wrong.is_empty() { Ok(values) } else { Err(wrong) }
    }
}

/// An input in the type of its scalar.
fn converted(input: ScalarInput, dtype: DType) -> Option<Value> {
    let value = match input {
        ScalarInput::Typed(value) => return (value.dtype() == dtype).then_some(value),
        ScalarInput::Bool(it) => ScalarValue::Bool(it),
        ScalarInput::Int(it) => ScalarValue::Int(it),
        ScalarInput::Float(it) => ScalarValue::Float(it),
    };
    value.of().may_become(dtype).then(|| stored(value, dtype).ok())?
}
