//! A whole program as code: its calls stand in groups, and each group compiles like a stencil.
//!
//! Code of a program calls that of its groups. Its schedule and its graph are one, with the statements around the groups in them.

mod elements;
mod groups;
mod halos;
mod scalars;
mod schedule;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isobar_program::analysis::calls::{aliases, written};
use isobar_program::analysis::element_boxes::StencilElements;
use isobar_program::analysis::interface::scalar_params;
use isobar_program::analysis::unwritten::needing_values;
use isobar_program::compile::ProgramCompilation;
use isobar_program::group::group_each_call;
use isobar_program::interpret::{Answers, HaloFill, ProgramInstance};
use isobar_program::nodes::{
    Container, ContainerRole, HaloExchange, ProgramIr, ProgramStmt, ProgramStmtKind, StencilCall,
};
use isobar_program::overlap::overlap_exchanges;
use isobar_program::scalar::nodes::{ScalarRole, ScalarVariable};
use isobar_program::size::AffineSize;
use isobar_program::stencils::ProgramFronts;

use super::group::{GroupCompilation, compile_group};
use super::lowering::lower_schedule;
use super::{Compilation, Hook, NoHook};
use crate::call::signature::{AccessKind, Param, ParamKind, Signature};
use crate::diag::catalog::programs as catalog;
use crate::diag::{Diagnostic, Span, StmtId};
use crate::entity::Handle;
use crate::front::{Front, Stage};
use crate::pass::PassOptions;
use crate::space::{Axis, AxisSet, Domain, Reach};

/// A program whose groups are compiled.
#[derive(Debug)]
pub struct WholeProgram {
    pub program: ProgramIr,
    /// By their numbers.
    pub groups: Vec<GroupCompilation>,
    /// Its fields, then its scalars. State is a field that is read and written.
    pub signature: Signature,
    /// The values that its exchanges store in halos.
    pub fill: HaloFill,
    /// The statements that its callers answer.
    pub answers: Answers,
    /// The only domain that it is for, where there is one.
    pub only: Option<[i64; 3]>,
    /// The fewest points of a domain along I, J and K.
    pub least: [i64; 3],
    /// The locals that a run may read where nothing has written them.
    pub undefined: BTreeSet<Handle<Container>>,
}

/// All of a program as one piece.
#[derive(Debug)]
pub struct OnePiece {
    pub compilation: Compilation,
    groups: Vec<StatementsOfGroup>,
    own_statements: BTreeMap<StmtId, usize>,
}

/// The statements of a group among those of the program.
#[derive(Clone, Copy, Debug)]
struct StatementsOfGroup {
    group: usize,
    first: u32,
    n: u32,
}

impl OnePiece {
    /// The levels that a program has as one piece.
    pub const STAGES: [Stage; 3] = [Stage::SCHEDULE, Stage::SDFG, Stage::LOOPS];

    /// The group that a statement belongs to, and its number there; `None` for a statement of the program itself.
    #[must_use]
    pub fn in_group(&self, stmt: StmtId) -> Option<(usize, StmtId)> {
        let it = self.groups.iter().rev().find(|it| it.first <= stmt.0)?;
        let own = stmt.0 - it.first;
        (own < it.n).then_some((it.group, StmtId(own)))
    }

    /// For a statement of the program itself: how many of the program's stand before it. Groups are none.
    #[must_use]
    pub fn of_program(&self, stmt: StmtId) -> Option<usize> {
        self.own_statements.get(&stmt).copied()
    }
}

/// A domain on which a program is tried first.
const USUAL: [i64; 3] = [64, 64, 80];

/// The most points along each axis that a program may need at least.
const MOST_NEEDED: i64 = 64;

/// How a program is compiled as a whole.
#[derive(Clone, Copy, Debug)]
pub struct WholeOptions<'o> {
    pub passes: &'o PassOptions,
    /// The values that exchanges store in halos.
    pub fill: HaloFill,
    /// The statements that callers of the code answer.
    pub answers: Answers,
    /// The domain that it is for; without, it is for all that are large enough.
    pub only: Option<[i64; 3]>,
}

/// Compiles the groups of a program for the device of the options.
///
/// # Errors
///
/// The statements that code alone cannot carry out, each with the reason, and the faults of a domain.
pub fn compile_whole(
    compilation: &mut ProgramCompilation,
    options: WholeOptions<'_>,
) -> Result<WholeProgram, Vec<Diagnostic>> {
    let WholeOptions { passes, fill, answers, only } = options;
    let Some(mut program) = compilation.program.take() else { return Err(Vec::new()) };
    let fronts = &mut compilation.fronts;
    if let Some(only) = only {
        follow(&mut program, only);
    }
    ProgramInstance::check(&program, fronts, only.unwrap_or(USUAL), answers)?;
    let refused = refusals(&program, answers);
    if !refused.is_empty() {
        return Err(refused);
    }
    let missed = group_each_call(&mut program);
    let calls = missed.iter().filter(|it| matches!(it.0.kind, ProgramStmtKind::Call(_)));
    let told: Vec<Diagnostic> = calls.map(|(stmt, why)| unsupported("a call", why, stmt.span)).collect();
    if !told.is_empty() {
        return Err(told);
    }
    if answers == Answers::Exchanges {
        overlap_exchanges(&mut program, answers);
    }
    let least = match only {
        Some(only) => only,
        None => least_domain(&program, fronts, answers),
    };
    let groups = groups(&program, fronts, passes)?;
    let undefined = needing_values(&program, &StencilElements::of(&program, fronts));
    let signature = signature(&program, least[Axis::K.index()]);
    Ok(WholeProgram { program, groups, signature, fill, answers, only, least, undefined })
}

/// Compiles a program whose groups are compiled as one schedule tree, and one graph. No pass of schedules runs again.
///
/// A tree does not end a run: where an expression has no value, or a `while` goes beyond its limit, the interpreter
/// does. An exchange on a periodic domain takes that this has as many points as the halo is wide.
///
/// # Errors
///
/// The statements that no tree has, each with the reason.
pub fn compile_as_one(
    whole: &WholeProgram,
    options: &PassOptions,
    hook: &mut dyn Hook,
) -> Result<OnePiece, Vec<Diagnostic>> {
    let schedule::ProgramTree { tree, order, groups, own_statements } = schedule::program_tree(whole)?;
    let files = whole.groups.first().map(|it| it.compilation.front.files.clone()).unwrap_or_default();
    let front = Arc::new(Front::of_calls(files, whole.signature.clone(), order));
    Ok(OnePiece { compilation: lower_schedule(&front, tree, options, hook), groups, own_statements })
}

fn unsupported(what: &str, why: &str, at: Span) -> Diagnostic {
    catalog::unsupported(&format!("{what} of an exported program"), why, at)
}

/// States each size along an axis by the points of the one domain there: 9 levels are five more than 4.
fn follow(program: &mut ProgramIr, only: [i64; 3]) {
    let [i, j, k] = only;
    let domain = Domain::new(i, j, k);
    let along = |axis: Axis, size: &mut AffineSize| {
        *size = AffineSize { axis: Some(axis), offset: size.on(domain) - only[axis.index()] };
    };
    for it in program.containers.values_mut() {
        it.axes.iter().zip(&mut it.shape).for_each(|(axis, size)| along(axis, size));
    }
    for it in program.stencils.values_mut() {
        Axis::ALL.into_iter().zip(&mut it.domain).for_each(|(axis, size)| along(axis, size));
    }
}

/// Refuses fields of a fixed size, which code for every domain does not take, and exchanges without a rank to carry them out.
fn refusals(program: &ProgramIr, answers: Answers) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut visit = |stmt: &ProgramStmt| {
        if let ProgramStmtKind::Exchange(HaloExchange { plan: Some(_), .. }) = &stmt.kind
            && answers != Answers::Exchanges
        {
            let why =
                "code has no ranks of its own: with `--halo caller`, a function of its caller exchanges";
            found.push(unsupported("an exchange between ranks", why, stmt.span));
        }
    };
    program.body.iter().for_each(|it| it.walk(&mut visit));
    for it in program.containers.values().filter(|it| it.role != ContainerRole::Local) {
        let other = it.axes.iter().zip(&it.shape).find(|(axis, size)| size.axis != Some(*axis));
        if let Some((axis, size)) = other {
            found.push(catalog::fixed_size(&it.name, &size.to_string(), axis.name(), it.span));
        }
    }
    found
}

/// The smallest domain that the program runs on: every range has a point, and every array what is read of it.
fn least_domain(program: &ProgramIr, fronts: &mut ProgramFronts, answers: Answers) -> [i64; 3] {
    let mut runs = |domain: [i64; 3]| {
        let mut has_points = true;
        let mut visit = |stmt: &ProgramStmt| {
            if let ProgramStmtKind::Call(call) = &stmt.kind {
                let [i, j, k] = domain;
                let domain = Domain::new(i, j, k);
                has_points &= program.stencils[call.stencil].domain.iter().all(|it| it.on(domain) > 0);
            }
        };
        program.body.iter().for_each(|it| it.walk(&mut visit));
        has_points && ProgramInstance::check(program, fronts, domain, answers).is_ok()
    };
    let Some(n) = (1..=MOST_NEEDED).find(|&n| runs([n; 3])) else { return USUAL };
    let mut least = [n; 3];
    for axis in Axis::ALL {
        while least[axis.index()] > 1 {
            let mut smaller = least;
            smaller[axis.index()] -= 1;
            if !runs(smaller) {
                break;
            }
            least = smaller;
        }
    }
    least
}

/// The code of all groups, in their order.
fn groups(
    program: &ProgramIr,
    fronts: &mut ProgramFronts,
    options: &PassOptions,
) -> Result<Vec<GroupCompilation>, Vec<Diagnostic>> {
    let mut bodies: Vec<(usize, &ProgramStmt, &[ProgramStmt])> = Vec::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if let ProgramStmtKind::Group { number, body } = &stmt.kind {
                bodies.push((*number, stmt, body));
            }
        });
    });
    bodies.sort_by_key(|it| it.0);
    let fronts = RefCell::new(fronts);
    let front_of = |call: &StencilCall| {
        fronts.borrow_mut().unified(&program.stencils[call.stencil], &aliases(program, call)).ok()
    };
    let made = bodies.into_iter().map(|(number, stmt, body)| {
        let made = compile_group(program, (number, body), &front_of, options, &mut NoHook);
        made.map_err(|why| vec![unsupported("a group of calls", &why, stmt.span)])
    });
    made.collect()
}

/// The parameters of a program: its fields, then its scalars.
fn signature(program: &ProgramIr, least_levels: i64) -> Signature {
    let (touched, written) = (touched(program), written(program));
    let fields = given(program).map(|(handle, it)| {
        let access = match (touched.contains(&handle), written.contains(&handle)) {
            (false, _) => AccessKind::None,
            (true, false) => AccessKind::Read,
            (true, true) => AccessKind::ReadWrite,
        };
        Param { name: it.name.clone(), kind: it.param_kind(), access, is_keyword_only: false, span: it.span }
    });
    let kept = kept_scalars(program).map(|(_, it)| {
        let kind = ParamKind::Field {
            axes: AxisSet::of(&[]),
            data_dims: vec![1],
            dtype: it.dtype,
            boundary: [Reach::ZERO; 3],
            reach: [Reach::ZERO; 3],
        };
        let access = AccessKind::ReadWrite;
        Param { name: it.name.clone(), kind, access, is_keyword_only: false, span: it.span }
    });
    let params = fields.chain(kept).chain(scalar_params(program)).collect();
    Signature { name: program.name.clone(), params, min_levels: least_levels }
}

/// The containers that callers have, in their order.
pub(crate) fn given(program: &ProgramIr) -> impl Iterator<Item = (Handle<Container>, &Container)> {
    program.containers.iter().filter(|it| it.1.role != ContainerRole::Local)
}

/// The scalars that keep their values from run to run, in their order. Each is an array of one element of the caller's.
pub(crate) fn kept_scalars(
    program: &ProgramIr,
) -> impl Iterator<Item = (Handle<ScalarVariable>, &ScalarVariable)> {
    program.scalars.iter().filter(|it| matches!(it.1.role, ScalarRole::State(_)))
}

/// The points of a field before the domain and behind it, along each of its axes.
pub(crate) fn reach_of(it: &Container) -> impl Iterator<Item = (Axis, [i64; 2])> + '_ {
    it.axes.iter().zip(&it.shape).map(|(axis, size)| {
        let before = it.origin[axis.index()];
        (axis, [before, size.offset - before])
    })
}

/// The containers that some statement touches.
pub(crate) fn touched(program: &ProgramIr) -> BTreeSet<Handle<Container>> {
    let mut found = BTreeSet::new();
    let mut visit = |stmt: &ProgramStmt| {
        found.extend(stmt.own_parts(program).into_iter().map(|it| it.container));
    };
    program.body.iter().for_each(|it| it.walk(&mut visit));
    found
}
