//! Checks of the compiled stencil: the number of nodes of a kind, and the predicted cost of the schedule.

use isobar_compiler::oir::nodes::{Stencil, StmtKind};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::schedule::analysis::cost;
use isobar_compiler::schedule::nodes::{ContainerKind, Node, Storage};
use isobar_compiler::space::LoopOrder;
use serde::Deserialize;

use super::CheckFailure;

/// The node that is counted, with its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Counted {
    /// Temporaries of the text, before any pass.
    #[serde(rename = "gtir.temporary")]
    GtirTemporary,
    #[serde(rename = "oir.vertical_loop")]
    VerticalLoop,
    #[serde(rename = "oir.parallel")]
    Parallel,
    #[serde(rename = "oir.forward")]
    Forward,
    #[serde(rename = "oir.backward")]
    Backward,
    #[serde(rename = "oir.section")]
    Section,
    #[serde(rename = "oir.horizontal_execution")]
    HorizontalExecution,
    /// Temporary fields that are left after all passes of the OIR.
    #[serde(rename = "oir.temporary")]
    Temporary,
    #[serde(rename = "oir.region")]
    Region,
    /// Outermost nests of loops after all passes of the schedule.
    #[serde(rename = "schedule.nest")]
    Nest,
    /// Arrays of temporaries that live in memory.
    #[serde(rename = "schedule.array")]
    Array,
    #[serde(rename = "kernels.kernel")]
    Kernel,
}

impl Counted {
    /// As a sentence names them.
    fn title(self) -> &'static str {
        match self {
            Counted::GtirTemporary => "temporaries in the text",
            Counted::VerticalLoop => "vertical loops in the OIR",
            Counted::Parallel => "PARALLEL loops in the OIR",
            Counted::Forward => "FORWARD loops in the OIR",
            Counted::Backward => "BACKWARD loops in the OIR",
            Counted::Section => "sections in the OIR",
            Counted::HorizontalExecution => "horizontal executions in the OIR",
            Counted::Temporary => "temporary fields in the OIR after its passes",
            Counted::Region => "regions in the OIR",
            Counted::Nest => "loop nests in the schedule",
            Counted::Array => "temporary arrays in memory in the schedule",
            Counted::Kernel => "GPU kernels",
        }
    }

    fn of(self, compilation: &Compilation) -> Option<u64> {
        let levels = &compilation.levels;
        let oir = compilation.front.optimized.as_ref()?;
        let loops = |order: LoopOrder| oir.vertical_loops.iter().filter(|it| it.order == order).count();
        let n = match self {
            Counted::GtirTemporary => {
                compilation.front.oir.as_ref()?.fields.iter().filter(|(_, it)| it.is_temporary).count()
            }
            Counted::VerticalLoop => oir.vertical_loops.len(),
            Counted::Parallel => loops(LoopOrder::Parallel),
            Counted::Forward => loops(LoopOrder::Forward),
            Counted::Backward => loops(LoopOrder::Backward),
            Counted::Section => oir.vertical_loops.iter().map(|it| it.sections.len()).sum(),
            Counted::HorizontalExecution => {
                oir.vertical_loops.iter().flat_map(|it| &it.sections).map(|it| it.executions.len()).sum()
            }
            Counted::Temporary => {
                oir.fields.iter().filter(|(_, it)| it.is_temporary && is_used(oir, &it.name)).count()
            }
            Counted::Region => regions(oir),
            Counted::Nest => {
                levels.schedule.as_ref()?.children.iter().filter(|it| matches!(it, Node::Loop(_))).count()
            }
            Counted::Array => levels
                .schedule
                .as_ref()?
                .containers
                .iter()
                .filter(|(_, it)| it.kind == ContainerKind::Temporary && it.storage == Storage::Heap)
                .count(),
            Counted::Kernel => compilation.kernels()?.kernels.len(),
        };
        u64::try_from(n).ok()
    }
}

/// Whether a statement still writes the field: passes leave it in the table.
fn is_used(oir: &Stencil, name: &str) -> bool {
    let mut found = false;
    for (_, execution) in oir.executions.iter() {
        for stmt in &execution.body {
            stmt.walk(&mut |it| {
                if let StmtKind::Assign { target, .. } = &it.kind {
                    found |= target.field().is_some_and(|field| oir.fields[field].name == name);
                }
            });
        }
    }
    found
}

fn regions(oir: &Stencil) -> usize {
    let mut n = 0;
    for (_, execution) in oir.executions.iter() {
        for stmt in &execution.body {
            stmt.walk(&mut |it| n += usize::from(matches!(it.kind, StmtKind::Region { .. })));
        }
    }
    n
}

pub(super) fn counted(
    compilation: &Compilation,
    what: Counted,
    least: Option<u64>,
    most: Option<u64>,
) -> Result<(), CheckFailure> {
    let Some(found) = what.of(compilation) else {
        return Err(CheckFailure::new(format!(
            "there are no {} to count: the text did not come so far",
            what.title()
        )));
    };
    let bound = match (least, most) {
        (Some(least), _) if found < least => format!("at least {least}"),
        (_, Some(most)) if found > most => format!("at most {most}"),
        _ => return Ok(()),
    };
    Err(CheckFailure::new(format!("there are {found} {}, and {bound} are expected", what.title())))
}

/// The predicted cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Costly {
    /// Bytes between memory and cache for each point of the domain.
    BytesPerPoint,
    /// Additions, multiplications and so on for each point of the domain.
    OperationsPerPoint,
}

pub(super) fn cost(
    compilation: &Compilation,
    what: Costly,
    most: f64,
    domain: Option<[i64; 3]>,
) -> Result<(), CheckFailure> {
    let Some(tree) = &compilation.levels.schedule else {
        return Err(CheckFailure::new("there is no schedule to cost: the text did not come so far"));
    };
    let usual = cost::Machine::CPU;
    let machine = cost::Machine { domain: domain.unwrap_or(usual.domain), ..usual };
    let points: f64 =
        machine.domain.iter().map(|it| f64::from(i32::try_from(*it).unwrap_or(i32::MAX))).product();
    let found = cost::cost(tree, &machine);
    let (found, unit) = match what {
        Costly::BytesPerPoint => (found.bytes / points, "bytes between memory and cache"),
        Costly::OperationsPerPoint => (found.operations / points, "operations"),
    };
    if found <= most {
        return Ok(());
    }
    let [i, j, k] = machine.domain;
    Err(CheckFailure::new(format!(
        "on {i}×{j}×{k} points the schedule is predicted to take {found:.1} {unit} for each point, and {most} are allowed"
    )))
}
