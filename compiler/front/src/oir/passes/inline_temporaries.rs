//! Computes temporaries where they are read.

pub(super) mod facts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use self::facts::{Definition, Facts, FieldRead};
use super::PassCx;
use crate::entity::Handle;
use crate::expr::{ExprKind, Index, Vertical};
use crate::oir::analysis::weight::{reads_level, weight_at_points};
use crate::oir::nodes::{Access, Expr, Field, Stencil, Stmt};
use crate::oir::visit::may_end_run;
use crate::space::{Axis, LoopOrder, Offset};

pub const NAME: &str = "oir/inline-temporaries";

/// The largest weight and number of loads of a temporary that is computed at two places rather than stored.
const CHEAP: (u32, usize) = (4, 3);

/// Limits for a temporary that is read at more places, all in the same column. They are the number of places,
/// the weight and the number of loads.
const CHEAPER: (usize, u32, usize) = (4, 2, 2);

/// No expression that is put in the place of a read is made of more parts.
const LARGEST: usize = 80;

/// Replaces each read of a temporary by the expression that computes it, at the offset of the read.
///
/// - **Precondition**: valid OIR; temporaries that can be are locals already.
/// - **Effect**: temporaries that nothing reads, which pruning drops.
/// - **Legality**: [`Inlining::value`]; every refusal becomes a remark.
/// - **Why**: a temporary costs an array and the traffic to fill and read it. So [`Inlining::pays`] asks for
///   one place of use, or for few with little to compute again. Wide chains are left to tiles, which compute
///   each element once and still keep it at hand.
pub fn inline_temporaries(stencil: &mut Stencil, cx: &mut PassCx) {
    let facts = Facts::of(stencil);
    let mut inlining = Inlining { stencil, facts: &facts, values: BTreeMap::new(), budget: facts.size + 64 };
    for definition in &facts.definitions {
        let Some(field) = definition.target.field().filter(|&it| stencil.fields[it].is_temporary) else {
            continue;
        };
        let Some(reads) = facts.reads.get(&field) else { continue };
        let name = &stencil.fields[field].name;
        let found = inlining.value(field, definition, reads);
        match found.and_then(|it| inlining.pays(&it.expr, reads).map(|()| it)) {
            Ok(value) if cx.may_change() => {
                let uses = reads.iter().map(|it| &it.origin);
                let message = format!("`{name}` is computed where it is read, and not stored");
                cx.applied(message, std::iter::once(&definition.origin).chain(uses));
                inlining.budget -= growth(&value.expr, reads).min(inlining.budget);
                inlining.values.insert(field, value);
            }
            Ok(_) => {}
            Err(blocked) => cx.missed(
                format!("`{name}` is not computed where it is read: {blocked}"),
                [&definition.origin],
            ),
        }
    }
    let values = inlining.values;
    if values.is_empty() {
        return;
    }
    for (_, execution) in stencil.executions.iter_mut() {
        execution.body.iter_mut().for_each(|it| replace_in(it, &values, &stencil.fields));
    }
}

/// The expression that replaces a temporary.
#[derive(Clone, Debug)]
struct InlinedValue {
    expr: Expr,
    /// The first statement that it was computed by: what it reads may not be written after that.
    since: usize,
}

struct Inlining<'a> {
    stencil: &'a Stencil,
    facts: &'a Facts,
    values: BTreeMap<Handle<Field>, InlinedValue>,
    /// By how many parts the stencil may still grow, so that long chains do not explode.
    budget: usize,
}

/// Why a temporary is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Several statements assign it, or one that some points skip, or only a part of it.
    NotOneAssignment,
    /// A sweep may read it at levels that it has not come to.
    Sweep,
    ReadBefore,
    /// Regions may reach beyond where it is computed.
    Region,
    /// Each iteration would compute it again.
    Loop,
    /// It takes the run to know which element is read.
    FoundLevel,
    /// It tells itself which element of something is read or written.
    FindsElement,
    /// Some level that is read is none of those where it is computed.
    OtherLevels,
    /// It reads a value at the point that has no single expression.
    Local,
    MayEndRun,
    /// It depends on the position itself.
    Position,
    Overwritten(String),
    Costly,
    TooLarge,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Blocked::NotOneAssignment => "it takes more than one assignment at every point to compute it",
            Blocked::Sweep => "it is computed in a sweep",
            Blocked::ReadBefore => "it is read before it is computed",
            Blocked::Region => "it is read in a region",
            Blocked::Loop => "it is read in a loop",
            Blocked::FoundLevel => "it is read at a level that is found at run time",
            Blocked::FindsElement => "an element is found with it",
            Blocked::OtherLevels => "it is read at levels where it is not computed",
            Blocked::Local => "it depends on a value at the point that is assigned several times",
            Blocked::MayEndRun => "what computes it may end the run",
            Blocked::Position => "it depends on the position",
            Blocked::Overwritten(name) => {
                return write!(f, "`{name}`, which it depends on, is written in between");
            }
            Blocked::Costly => "computing it at each place costs more than storing it",
            Blocked::TooLarge => "the expressions would become too large",
        })
    }
}

impl Inlining<'_> {
    /// Returns the expression that can replace `field` wherever it is read.
    ///
    /// # Errors
    ///
    /// The reason why there is none.
    fn value(
        &self,
        field: Handle<Field>,
        definition: &Definition,
        reads: &[FieldRead],
    ) -> Result<InlinedValue, Blocked> {
        let is_whole = definition.is_whole && self.facts.writes.get(&field).is_some_and(|it| it.len() == 1);
        if !is_whole || !self.stencil.fields[field].data_dims.is_empty() {
            return Err(Blocked::NotOneAssignment);
        }
        if definition.order != LoopOrder::Parallel {
            return Err(Blocked::Sweep);
        }
        for read in reads {
            let blocked = [
                (read.at <= definition.at, Blocked::ReadBefore),
                (read.offset.is_none(), Blocked::FoundLevel),
                (read.is_in_region, Blocked::Region),
                (read.is_in_loop, Blocked::Loop),
            ];
            if let Some((_, blocked)) = blocked.into_iter().find(|(is_so, _)| *is_so) {
                return Err(blocked);
            }
            let k = read.offset.map_or(0, |it| it.k);
            if !self.facts.is_within(read.interval, k, definition.interval) {
                return Err(Blocked::OtherLevels);
            }
        }
        let mut value = InlinedValue { expr: definition.value.clone(), since: definition.since };
        self.expand(&mut value)?;
        if may_end_run(&value.expr) {
            return Err(Blocked::MayEndRun);
        }
        // An index that is found at run time must not become a literal, since a literal may not lead out of a
        // field.
        if matches!(value.expr.kind, ExprKind::Literal(_)) && reads.iter().any(|it| it.finds) {
            return Err(Blocked::FindsElement);
        }
        let mut blocked = None;
        value.expr.walk(&mut |it| match &it.kind {
            ExprKind::Position(axis) => {
                let is_moved = reads.iter().any(|it| it.offset.is_some_and(|it| it.along(*axis) != 0));
                blocked = blocked.take().or(is_moved.then_some(Blocked::Position));
            }
            ExprKind::Access(Access::Field { field, .. })
            | ExprKind::Element(Access::Field { field, .. }, _) => {
                let is_written = reads.iter().any(|it| self.facts.is_written(*field, value.since, it));
                let overwritten = || Blocked::Overwritten(self.stencil.fields[*field].name.clone());
                blocked = blocked.take().or_else(|| is_written.then(overwritten));
            }
            _ => {}
        });
        blocked.map_or(Ok(value), Err)
    }

    /// Puts in what stands for the temporaries and locals that the expression reads.
    fn expand(&self, value: &mut InlinedValue) -> Result<(), Blocked> {
        replace(&mut value.expr, &self.values, &self.stencil.fields);
        let mut read = Vec::new();
        let mut locals = BTreeSet::new();
        value.expr.accesses(&mut |it| match it {
            Access::Field { field, .. } => read.push(*field),
            Access::Local(local) => drop(locals.insert(*local)),
            Access::Scalar(_) => {}
        });
        if locals.is_empty() {
            return if size(&value.expr) > LARGEST { Err(Blocked::TooLarge) } else { Ok(()) };
        }
        let mut expressions = BTreeMap::new();
        for local in locals {
            let definition = self.facts.of_local(local).ok_or(Blocked::Local)?;
            let mut inner = InlinedValue { expr: definition.value.clone(), since: definition.since };
            self.expand(&mut inner)?;
            value.since = value.since.min(inner.since);
            expressions.insert(local, inner.expr);
        }
        replace_locals(&mut value.expr, &expressions);
        if size(&value.expr) > LARGEST { Err(Blocked::TooLarge) } else { Ok(()) }
    }

    /// Whether computing it at each place is cheaper than storing it once.
    fn pays(&self, expr: &Expr, reads: &[FieldRead]) -> Result<(), Blocked> {
        if growth(expr, reads) > self.budget {
            return Err(Blocked::TooLarge);
        }
        // Equal reads of one execution are computed once, since they are shared.
        let places: BTreeSet<_> = reads.iter().map(|it| (it.execution, it.offset)).collect();
        let mut loads = BTreeSet::new();
        expr.accesses(&mut |it| {
            if matches!(it, Access::Field { .. }) && !reads_level(self.stencil, it) {
                loads.insert(*it);
            }
        });
        let pays = match (places.len(), weight_at_points(self.stencil, expr), loads.len()) {
            (1, _, _) | (_, 0 | 1, 0 | 1) => true,
            (2, weight, n_loads) => weight <= CHEAP.0 && n_loads <= CHEAP.1,
            // Beside the point, tiles and rows of stages keep it at hand.
            (n_places, weight, n_loads) => {
                let in_column = |it: &FieldRead| it.offset.is_some_and(|it| it.i == 0 && it.j == 0);
                n_places <= CHEAPER.0
                    && weight <= CHEAPER.1
                    && n_loads <= CHEAPER.2
                    && reads.iter().all(in_column)
            }
        };
        if pays { Ok(()) } else { Err(Blocked::Costly) }
    }
}

/// How many parts of an expression are added.
fn growth(expr: &Expr, reads: &[FieldRead]) -> usize {
    (size(expr) - 1) * reads.len().saturating_sub(1)
}

/// How many parts an expression is made of.
fn size(expr: &Expr) -> usize {
    let mut size = 0;
    expr.walk(&mut |_| size += 1);
    size
}

type Fields = crate::entity::Arena<Field>;

fn replace_in(stmt: &mut Stmt, values: &BTreeMap<Handle<Field>, InlinedValue>, fields: &Fields) {
    stmt.exprs_mut().for_each(|it| replace(it, values, fields));
    for body in stmt.bodies_mut() {
        body.iter_mut().for_each(|it| replace_in(it, values, fields));
    }
}

/// Replaces the reads of what has a value by that value, as seen from where it is read.
fn replace(expr: &mut Expr, values: &BTreeMap<Handle<Field>, InlinedValue>, fields: &Fields) {
    if let ExprKind::Access(Access::Field { field, offset }) = expr.kind
        && let Some(value) = values.get(&field)
    {
        let mut moved = value.expr.clone();
        shift(&mut moved, offset, fields);
        expr.kind = moved.kind;
        return;
    }
    expr.operands_mut().into_iter().for_each(|it| replace(it, values, fields));
}

fn replace_locals(expr: &mut Expr, values: &BTreeMap<Handle<crate::oir::nodes::Local>, Expr>) {
    if let ExprKind::Access(Access::Local(local)) = expr.kind {
        if let Some(value) = values.get(&local) {
            expr.kind = value.kind.clone();
        }
        return;
    }
    expr.operands_mut().into_iter().for_each(|it| replace_locals(it, values));
}

/// The same expression at another point.
fn shift(expr: &mut Expr, by: Offset, fields: &Fields) {
    let moved = |access: &mut Access, k: i32| {
        if let Access::Field { field, offset } = access {
            let axes = fields[*field].axes;
            let along = |axis: Axis, by: i32| if axes.has(axis) { by } else { 0 };
            offset.i += along(Axis::I, by.i);
            offset.j += along(Axis::J, by.j);
            offset.k += along(Axis::K, k);
        }
    };
    match &mut expr.kind {
        ExprKind::Access(access) => moved(access, by.k),
        ExprKind::Element(access, index) => {
            moved(access, 0);
            let Access::Field { field, .. } = access else { return };
            let Index { vertical: Vertical::Offset(k), .. } = &mut **index else { return };
            *k += if fields[*field].axes.has(Axis::K) { by.k } else { 0 };
        }
        _ => expr.operands_mut().into_iter().for_each(|it| shift(it, by, fields)),
    }
}

#[cfg(test)]
mod tests;
