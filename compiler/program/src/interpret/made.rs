//! Inputs that the comment lines of a text describe: `# @input q bell(...)`, `# @scalar dt = 0.1`.

use std::collections::BTreeSet;

use isobar_ground::entity::Handle;
use isobar_ground::space::Domain;
use isobar_reference::inputs::{Directives, Generator, fill};

use super::ProgramInputs;
use super::arrays::shape;
use crate::nodes::{Container, ContainerRole, ProgramIr, ProgramStmtKind};
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

/// The containers that some statement reads.
fn read(program: &ProgramIr) -> BTreeSet<Handle<Container>> {
    let mut found = BTreeSet::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| match &stmt.kind {
            ProgramStmtKind::Call(call) => {
                let used = call.used_fields(program).filter(|it| it.1.access.is_read());
                found.extend(used.map(|it| it.2.container));
            }
            ProgramStmtKind::Copy { from, .. } => drop(found.insert(from.container)),
            ProgramStmtKind::Swap(one, other) => found.extend([one.container, other.container]),
            ProgramStmtKind::Exchange(it) => found.extend(it.fields.iter().map(|it| it.container)),
            ProgramStmtKind::Host { reads, .. } => found.extend(reads.iter().map(|it| it.container)),
            _ => {}
        });
    });
    found
}
