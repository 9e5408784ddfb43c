//! Inputs that the comment lines of a text describe: `# @input q bell(...)`, `# @scalar dt = 0.1`.

use isobar_ground::space::Domain;
use isobar_reference::inputs::{Directives, Generator, fill};

use super::ProgramInputs;
use super::arrays::shape;
use crate::analysis::interface::read;
use crate::nodes::{ContainerRole, ProgramIr};
use crate::scalar::nodes::ScalarRole;

/// Makes the fields and scalars that are not given: those that the lines describe, and zeros for fields that are only
/// written.
pub fn make_inputs(program: &ProgramIr, directives: &Directives, domain: Domain, inputs: &mut ProgramInputs) {
    let read = read(program);
    for (handle, container) in program.containers.iter() {
        let is_input = matches!(container.role, ContainerRole::Argument | ContainerRole::Constant);
        if !is_input || inputs.fields.contains_key(&container.name) {
            continue;
        }
        let zeros = (!read.contains(&handle)).then_some(&Generator::Constant(0.0));
        if let Some(generator) = directives.input(&container.name).or(zeros) {
            let shape = shape(container, domain);
            let array = fill(generator, container.dtype, container.axes, &shape, container.origin, domain);
            inputs.fields.insert(container.name.clone(), array);
        }
    }
    for scalar in program.scalars.values().filter(|it| it.role == ScalarRole::Argument) {
        let told = directives.scalars.iter().find(|it| it.name == scalar.name);
        if let Some(told) = told.filter(|_| !inputs.scalars.contains_key(&scalar.name)) {
            inputs.scalars.insert(scalar.name.clone(), told.value);
        }
    }
}
