//! The arrays of a program: how each is declared, where the locals lie, and how much memory a call needs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use isobar_program::analysis::lifetimes::{SharedMemory, shared_memory};
use isobar_program::interpret::GroupParam;
use isobar_program::nodes::{Container, ContainerRole, ProgramStmt, ProgramStmtKind};
use isobar_program::size::AffineSize;

use super::super::listed;
use super::driver::Driver;
use crate::entity::Handle;
use crate::pipeline::whole::{WholeProgram, given, touched};
use crate::space::Domain;

/// A size as C writes it.
pub(super) fn size(it: AffineSize) -> String {
    match (it.axis, it.offset) {
        (None, offset) => format!("INT64_C({offset})"),
        (Some(axis), 0) => axis.name().to_string(),
        (Some(axis), offset) if offset < 0 => format!("{axis} - {}", offset.unsigned_abs()),
        (Some(axis), offset) => format!("{axis} + {offset}"),
    }
}

/// Plans the memory of locals for a domain of usual proportions: which ones share it does not decide what is computed.
fn plan(code: &WholeProgram) -> SharedMemory {
    let [i, j, k] = code.only.unwrap_or([64, 64, 80]);
    let domain = Domain::new(i, j, k);
    let containers = |it: &[GroupParam]| -> BTreeSet<Handle<Container>> {
        let of = |it: &GroupParam| match it {
            GroupParam::Container(handle) => Some(*handle),
            GroupParam::Scalar { .. } => None,
        };
        it.iter().filter_map(of).collect()
    };
    let groups = code.groups.iter().enumerate().map(|(number, it)| (number, containers(&it.params)));
    let elements = |it: &Container| {
        let along = it.shape.iter().map(|size| usize::try_from(size.on(domain)).unwrap_or(0));
        along.chain(it.data_dims.iter().map(|&it| it as usize)).fold(1, usize::saturating_mul)
    };
    shared_memory(&code.program, &groups.collect(), &elements, &|it| code.undefined.contains(&it))
}

impl Driver<'_, '_> {
    /// The declarations of all arrays, with the memory of the program's own.
    pub(super) fn arrays(&self) -> String {
        let program = &self.code.program;
        let mut text = String::new();
        let declared = |text: &mut String, at: usize, it: &Container| {
            let mut axis = [-1_i64; 3];
            for (at, of) in it.axes.iter().enumerate() {
                axis[of.index()] = i64::try_from(at).unwrap_or(-1);
            }
            let shape =
                it.shape.iter().map(|it| size(*it)).chain(it.data_dims.iter().map(ToString::to_string));
            let shape = listed(shape);
            let shape = if shape.is_empty() { "0".to_owned() } else { shape };
            let _ = writeln!(
                text,
                "  a[{at}] = (isobar_array){{.bytes = {}, .rank = {}, .n_axes = {}, .axis = {{{}}}, .shape = {{{shape}}}, .origin = {{{}}}}};",
                it.dtype.size_bytes(),
                it.axes.len() + it.data_dims.len(),
                it.axes.len(),
                listed(axis),
                listed(it.origin),
            );
        };
        let touched = touched(program);
        let plan = plan(self.code);
        let mut n_given = 0;
        for (handle, it) in program.containers.iter() {
            let at = handle.index();
            declared(&mut text, at, it);
            if it.role != ContainerRole::Local && touched.contains(&handle) {
                let _ = writeln!(text, "  isobar_take(&a[{at}], &call->fields[{n_given}]);");
                n_given += 1;
            }
        }
        debug_assert_eq!(n_given, self.n_given_fields());
        let n = program.containers.len();
        for (at, handle) in self.held_arrays.iter().enumerate() {
            declared(&mut text, n + at, &program.containers[*handle]);
        }
        let of_groups: BTreeSet<usize> = self.arrays_of_statements();
        for memory in 0..plan.sizes.len() {
            let _ = writeln!(text, "  {{");
            let _ = writeln!(text, "    uint64_t most = 0;");
            let tenants: Vec<usize> =
                (0..n).filter(|it| plan.memory_of[*it] == Some(memory) && of_groups.contains(it)).collect();
            for it in &tenants {
                let _ = writeln!(text, "    most = isobar_most_of(most, isobar_pack(&a[{it}]));");
            }
            let _ = writeln!(
                text,
                "    char *const start = (char *)((uintptr_t)memory + isobar_place(&size, most));"
            );
            for it in &tenants {
                let _ = writeln!(text, "    a[{it}].data = start;");
            }
            let _ = writeln!(text, "    (void)start;\n  }}");
        }
        let is_alone = |it: &usize| {
            let local =
                program.containers.iter().nth(*it).is_some_and(|it| it.1.role == ContainerRole::Local);
            local && plan.memory_of[*it].is_none() && of_groups.contains(it)
        };
        for at in (0..n).filter(is_alone).chain(n..n + self.held_arrays.len()) {
            let _ = writeln!(
                text,
                "  a[{at}].data = (char *)((uintptr_t)memory + isobar_place(&size, isobar_pack(&a[{at}])));"
            );
        }
        text
    }

    /// The fields of the caller that the code takes.
    pub(super) fn n_given_fields(&self) -> usize {
        let touched = touched(&self.code.program);
        given(&self.code.program).filter(|it| touched.contains(&it.0)).count()
    }

    /// The locals that stand as arrays: those that groups take, and those that other statements touch.
    pub(super) fn arrays_of_statements(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for group in 0..self.groups.len() {
            found.extend(self.params(group, true).into_iter().filter_map(|it| match it {
                GroupParam::Container(handle) => Some(handle.index()),
                GroupParam::Scalar { .. } => None,
            }));
        }
        fn alone<'p>(body: &'p [ProgramStmt], each: &mut dyn FnMut(&'p ProgramStmt)) {
            for stmt in body.iter().filter(|it| !matches!(it.kind, ProgramStmtKind::Group { .. })) {
                each(stmt);
                stmt.blocks().into_iter().for_each(|it| alone(it, each));
            }
        }
        alone(&self.code.program.body, &mut |stmt| {
            found.extend(stmt.own_parts(&self.code.program).into_iter().map(|it| it.container.index()));
        });
        found
    }

    /// The most memory that the arrays and one group need.
    pub(super) fn needed(&self) -> String {
        let mut text = String::new();
        text += "  const int64_t K = call->domain[2];\n  (void)K;\n  isobar_array a[ISOBAR_ARRAYS];\n  isobar_field fields[ISOBAR_FIELDS];\n";
        text += "  const uint64_t size = isobar_arrays(call, a, NULL);\n  uint64_t most = 0;\n  isobar_call own = *call;\n  own.fields = fields;\n";
        for (group, it) in self.groups.iter().enumerate() {
            for (at, field) in self.params(group, true).iter().enumerate() {
                if let GroupParam::Container(handle) = field {
                    let _ = writeln!(text, "  isobar_lend(&a[{}], K, &fields[{at}]);", handle.index());
                }
            }
            let _ = writeln!(text, "  most = isobar_most_of(most, {}_workspace(&own));", it.name);
        }
        text += "  return size >= ISOBAR_BEYOND || most >= ISOBAR_BEYOND ? UINT64_MAX : size + most;\n";
        text
    }

    /// How much memory a call needs, with that for a start at a cache line.
    pub(super) fn workspace(&self) -> String {
        let mut text = "static uint64_t isobar_workspace(const isobar_call *call)\n{\n".to_owned();
        let [i, j, k] = self.code.only.unwrap_or(self.code.least);
        let test = if self.code.only.is_some() { "!=" } else { "<" };
        let _ = writeln!(
            text,
            "  if (call->domain[0] {test} {i} || call->domain[1] {test} {j} || call->domain[2] {test} {k}) return 0;"
        );
        text += "  const uint64_t needed = isobar_needed(call);\n  return needed == 0 || needed >= ISOBAR_BEYOND ? needed : needed + 63;\n}\n";
        text
    }
}
