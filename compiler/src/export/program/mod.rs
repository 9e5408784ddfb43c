//! Whole programs: the code of their groups, and C that calls it in the order of the program.
//!
//! Calls stand in groups. State is the caller's: an argument that is read and written, of one element where it is a scalar.
//! Locals lie in the memory of the call.

mod arrays;
mod driver;
mod events;
mod expressions;

pub(super) use events::{CallerStatement, caller_statements};
use isobar_program::interpret::{Answers, HaloFill};
use isobar_program::nodes::{Container, ContainerRole, ProgramStmt, ProgramStmtKind};
use isobar_program::scalar::nodes::ScalarRole;

use super::File;
use super::kernel::{KernelArgument, TrapPlace};
use super::touched::{FieldHulls, Hull};
use crate::c::CArtifact;
use crate::entity::Handle;
use crate::pipeline::whole::{WholeProgram, given, kept_scalars, reach_of, touched};
use crate::types::Value;

/// The code of a group, and the function that it becomes.
pub(super) struct GroupText<'a> {
    pub(super) name: String,
    pub(super) artifact: &'a CArtifact,
    pub(super) of_one_thread: CArtifact,
}

/// The code of a program.
pub(super) struct ProgramText<'a> {
    pub(super) file: File,
    pub(super) of_one_thread: File,
    pub(super) groups: Vec<GroupText<'a>>,
    pub(super) arguments: Vec<KernelArgument>,
    pub(super) traps: Vec<TrapPlace>,
}

/// The elements that a call touches: all of each field.
pub(super) fn hulls(code: &WholeProgram) -> FieldHulls {
    let touched = touched(&code.program);
    let of = |(handle, it): (Handle<Container>, &Container)| {
        let mut hulls = [Hull::default(); 3];
        for (axis, [before, behind]) in reach_of(it) {
            let number = |it: i64| i32::try_from(it).ok();
            hulls[axis.index()] = Hull { start: [number(-before), None], end: [None, number(behind)] };
        }
        touched.contains(&handle).then_some(hulls)
    };
    let kept = kept_scalars(&code.program).map(|_| Some([Hull::default(); 3]));
    FieldHulls { hulls: given(&code.program).map(of).chain(kept).collect(), in_regions: Vec::new() }
}

/// Facts for callers beside the parameters, a line each.
pub(super) fn notes(code: &WholeProgram, of_caller: &[CallerStatement]) -> Vec<String> {
    let points = |[i, j, k]: [i64; 3]| format!("{i} x {j} x {k} points along I, J and K");
    let mut notes = vec![match code.only {
        Some(only) => format!("This is a program of several stencils. It was made for {}.", points(only)),
        None => format!("This is a program of several stencils. It needs {} at least.", points(code.least)),
    }];
    let mut has_exchanges = false;
    let mut visit = |stmt: &ProgramStmt| has_exchanges |= matches!(stmt.kind, ProgramStmtKind::Exchange(_));
    code.program.body.iter().for_each(|it| it.walk(&mut visit));
    if has_exchanges && code.answers != Answers::Exchanges {
        notes.push(match code.fill {
            HaloFill::None => "Its exchanges store nothing: halos stay as the caller has them.".to_owned(),
            HaloFill::Periodic => "Its exchanges fill halos from the opposite edge.".to_owned(),
            HaloFill::ZeroGradient => "Its exchanges fill halos from the nearest points.".to_owned(),
        });
    }
    let kept = |name: &str, first: Value| {
        format!(
            "`{name}` is kept from call to call: pass the same array again. It starts with {}.",
            expressions::spelled(first)
        )
    };
    for (_, it) in given(&code.program) {
        if let ContainerRole::State(first) = it.role {
            notes.push(kept(&it.name, first));
        }
    }
    for (_, it) in kept_scalars(&code.program) {
        if let ScalarRole::State(first) = it.role {
            notes.push(kept(&it.name, first));
        }
    }
    notes.extend(events::notes(of_caller));
    notes
}

/// The answers to calls on other domains.
pub(super) fn refusals(name: &str, code: &WholeProgram) -> String {
    let refused = |case: u32, error: &str, why: &str| {
        format!(
            "  case {case}:\n    return isobar_fail(error, ISOBAR_WRONG_CALL, \"{error}\", \"`{name}` {why}, and the domain has %lld x %lld x %lld\",\n                       (long long)domain[0], (long long)domain[1], (long long)domain[2]);\n"
        )
    };
    let points = |[i, j, k]: [i64; 3]| format!("{i} x {j} x {k} points");
    match code.only {
        Some(only) => refused(6, "C04", &format!("was made for {}", points(only))),
        None => refused(5, "C04", &format!("needs at least {}", points(code.least))),
    }
}

/// The code of a program that has this name in all languages.
pub(super) fn text<'a>(
    name: &str,
    code: &'a WholeProgram,
    of_caller: &[CallerStatement],
    sources: &[(&str, &str)],
) -> ProgramText<'a> {
    let groups = code.groups.iter().enumerate().filter_map(|(number, it)| {
        Some(GroupText {
            name: format!("{name}_group_{number}"),
            artifact: it.compilation.c()?,
            of_one_thread: it.compilation.c_of_one_thread()?,
        })
    });
    let groups: Vec<GroupText<'a>> = groups.collect();
    let touched = touched(&code.program);
    let fields = given(&code.program).filter(|it| touched.contains(&it.0)).map(|it| (&it.1.name, true));
    let scalars = code.program.scalars.values().filter(|it| it.role == ScalarRole::Argument);
    let kept = kept_scalars(&code.program).map(|it| (&it.1.name, true));
    let arguments = fields.chain(kept).chain(scalars.map(|it| (&it.name, false)));
    let arguments =
        arguments.map(|(name, is_field)| KernelArgument { name: name.clone(), is_field }).collect();
    let named = |is_one_thread| driver::Named { name, of_caller, sources, is_one_thread };
    let file = driver::text(code, &groups, named(false));
    let of_one_thread = driver::text(code, &groups, named(true));
    ProgramText {
        file: File::new(format!("src/kernels/{name}.c"), format!("{}\n{}", file.text, file.workspace)),
        of_one_thread: File::new(format!("src/kernels/one_thread/{name}.c"), of_one_thread.text),
        groups,
        arguments,
        traps: file.traps,
    }
}

/// The code of all groups.
pub(super) fn artifacts(code: &WholeProgram) -> impl Iterator<Item = &CArtifact> {
    code.groups.iter().filter_map(|it| it.compilation.c())
}
