//! Groups of statements that may run as one piece of code: calls, copies and fills, with scalars between them.
//!
//! - **Precondition**: a valid program.
//! - **Effect**: each longest run of such statements in a block becomes a `group`, where at least two of them touch
//!   fields. Its statements stay in order, so the interpreter does the same.
//! - **Why**: code that holds several calls shares what they load, and its locals need no memory of their own.

use isobar_ground::space::Axis;

use crate::nodes::{ContainerPart, ProgramIr, ProgramStmt, ProgramStmtKind, StencilCall};

/// The most elements of data at a point that a copy or a fill in a group has.
const MOST_ELEMENTS: u64 = 32;

/// Groups the statements of all blocks. Answers the statements with a reason that keeps them out.
pub fn group_calls(program: &mut ProgramIr) -> Vec<(ProgramStmt, String)> {
    with_groups(program, 2)
}

/// The same, where one statement that touches fields is a group too.
pub fn group_each_call(program: &mut ProgramIr) -> Vec<(ProgramStmt, String)> {
    with_groups(program, 1)
}

fn with_groups(program: &mut ProgramIr, fewest: usize) -> Vec<(ProgramStmt, String)> {
    let mut groups = Grouping { fewest, n_groups: 0, missed: Vec::new() };
    let body = std::mem::take(&mut program.body);
    program.body = groups.grouped(program, body);
    groups.missed
}

/// The groups so far.
struct Grouping {
    /// So many statements that touch fields make a group.
    fewest: usize,
    n_groups: usize,
    missed: Vec<(ProgramStmt, String)>,
}

impl Grouping {
    fn grouped(&mut self, program: &ProgramIr, body: Vec<ProgramStmt>) -> Vec<ProgramStmt> {
        let mut done = Vec::new();
        let mut open: Vec<ProgramStmt> = Vec::new();
        for mut stmt in body {
            for block in stmt.blocks_mut() {
                *block = self.grouped(program, std::mem::take(block));
            }
            match may_join(program, &stmt.kind) {
                Ok(()) => open.push(stmt),
                Err(why) => {
                    self.close(&mut open, &mut done);
                    if let Some(why) = why {
                        self.missed.push((stmt.clone(), why));
                    }
                    done.push(stmt);
                }
            }
        }
        self.close(&mut open, &mut done);
        done
    }

    /// Makes a group of the statements from the first to the last that touch fields.
    fn close(&mut self, open: &mut Vec<ProgramStmt>, done: &mut Vec<ProgramStmt>) {
        let touching = open.iter().enumerate().filter(|(_, it)| touches_fields(&it.kind)).map(|it| it.0);
        let touching: Vec<usize> = touching.collect();
        let (Some(first), Some(last)) = (touching.first(), touching.last()) else { return done.append(open) };
        if touching.len() < self.fewest {
            return done.append(open);
        }
        let behind = open.split_off(last + 1);
        let body = open.split_off(*first);
        done.append(open);
        let span = body.first().map_or_else(Default::default, |it| it.span);
        done.push(ProgramStmt { kind: ProgramStmtKind::Group { number: self.n_groups, body }, span });
        self.n_groups += 1;
        done.extend(behind);
    }
}

fn touches_fields(kind: &ProgramStmtKind) -> bool {
    matches!(kind, ProgramStmtKind::Call(_) | ProgramStmtKind::Copy { .. } | ProgramStmtKind::Fill { .. })
}

/// Whether a statement can be one of a group; the reason why not, where it is about its fields.
fn may_join(program: &ProgramIr, kind: &ProgramStmtKind) -> Result<(), Option<String>> {
    match kind {
        ProgramStmtKind::Call(call) => may_join_call(program, call).map_err(Some),
        ProgramStmtKind::Copy { from, to } => {
            may_join_whole(program, from).and_then(|()| may_join_whole(program, to)).map_err(Some)
        }
        ProgramStmtKind::Fill { target, .. } => may_join_whole(program, target).map_err(Some),
        ProgramStmtKind::Let { .. } | ProgramStmtKind::Mark(_) => Ok(()),
        ProgramStmtKind::For { .. }
        | ProgramStmtKind::While { .. }
        | ProgramStmtKind::If { .. }
        | ProgramStmtKind::Swap(..)
        | ProgramStmtKind::Exchange(_)
        | ProgramStmtKind::Host { .. }
        | ProgramStmtKind::Trap(_)
        | ProgramStmtKind::Group { .. } => Err(None),
    }
}

fn may_join_call(program: &ProgramIr, call: &StencilCall) -> Result<(), String> {
    let stencil = &program.stencils[call.stencil];
    for (axis, size) in Axis::ALL.into_iter().zip(stencil.domain) {
        if size.axis.is_some_and(|it| it != axis) {
            return Err(format!("the range of `{}` has {size} points along {axis}", stencil.name));
        }
    }
    call.used_fields(program).try_for_each(|(_, _, part)| grows_with_domain(program, part))
}

/// Whether the shape of a field is the compute domain and a halo.
fn grows_with_domain(program: &ProgramIr, part: &ContainerPart) -> Result<(), String> {
    let container = &program.containers[part.container];
    let other = container.axes.iter().zip(&container.shape).find(|(axis, size)| size.axis != Some(*axis));
    match other {
        Some((axis, size)) => Err(format!("`{}` has {size} points along {axis}", container.name)),
        None => Ok(()),
    }
}

fn may_join_whole(program: &ProgramIr, part: &ContainerPart) -> Result<(), String> {
    grows_with_domain(program, part)?;
    let container = &program.containers[part.container];
    if ![Axis::I, Axis::J].into_iter().all(|it| container.axes.has(it)) {
        return Err(format!("`{}` lacks I or J", container.name));
    }
    let n_elements = part.data_dims(program).iter().map(|&it| u64::from(it)).fold(1, u64::saturating_mul);
    if n_elements > MOST_ELEMENTS {
        return Err(format!("`{}` has {n_elements} elements at a point", container.name));
    }
    Ok(())
}
