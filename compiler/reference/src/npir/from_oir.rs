//! OIR to NPIR: branches and loops become masks, executions become blocks of whole-array statements.
//!
//! A condition is evaluated once, into a mask, before either branch: what the branches change does not
//! change who takes them. A `while` inside an `if`, or the other way round, combines the masks.

use std::collections::BTreeSet;

use super::nodes::{
    Access, Block, Expr, Field, Local, Param, ParamKind, Scalar, Stencil, Stmt, StmtKind, Target,
    VerticalPass,
};
use crate::diag::Span;
use crate::entity::{Arena, Handle, SideTable};
use crate::expr::ExprKind;
use crate::oir::analysis::extents::Extents;
use crate::oir::nodes as oir;
use crate::space::{Extent, Interval, LoopOrder};
use crate::types::DType;

/// The stencil as operations on whole arrays. `extents` are those of `stencil`.
#[must_use]
pub fn lower(stencil: &oir::Stencil, extents: &Extents) -> Stencil {
    let mut lowering = Lowering::new(stencil, extents);
    let mut passes = Vec::new();
    for vertical_loop in &stencil.vertical_loops {
        let order = vertical_loop.order;
        for section in vertical_loop.sections.iter().filter(|it| !it.executions.is_empty()) {
            let interval = section.interval;
            let blocks = section.executions.iter().map(|&it| lowering.block(it, order, interval)).collect();
            passes.push(VerticalPass { order, interval, blocks });
        }
    }
    lowering.npir.passes = passes;
    lowering.npir
}

struct Lowering<'a> {
    stencil: &'a oir::Stencil,
    extents: &'a Extents,
    npir: Stencil,
    fields: SideTable<oir::Field, Handle<Field>>,
    scalars: SideTable<oir::Scalar, Handle<Scalar>>,
    locals: SideTable<oir::Local, Handle<Local>>,
    /// All that have a name.
    names: BTreeSet<String>,
    /// Of the block at hand: the fields whose values from before it are read.
    kept: Vec<Handle<oir::Field>>,
    n_masks: usize,
}

impl<'a> Lowering<'a> {
    fn new(stencil: &'a oir::Stencil, extents: &'a Extents) -> Self {
        let mut npir = Stencil { name: stencil.name.clone(), span: stencil.span, ..Stencil::default() };
        let (mut fields, mut scalars, mut locals) =
            (SideTable::default(), SideTable::default(), SideTable::default());
        for (handle, it) in stencil.fields.iter() {
            let oir::Field { name, axes, data_dims, dtype, is_temporary, span } = it.clone();
            let extent = extents.true_fields.get(handle).copied().unwrap_or(Extent::ZERO).union(Extent::ZERO);
            fields.insert(
                handle,
                npir.fields.push(Field {
                    name,
                    axes,
                    data_dims,
                    dtype,
                    is_temporary,
                    extent,
                    kept_as: None,
                    span,
                }),
            );
        }
        for (handle, it) in stencil.scalars.iter() {
            let oir::Scalar { name, dtype, span } = it.clone();
            scalars.insert(handle, npir.scalars.push(Scalar { name, dtype, span }));
        }
        for (handle, it) in stencil.locals.iter() {
            let oir::Local { name, dtype, span } = it.clone();
            locals.insert(handle, npir.locals.push(Local { name, dtype, is_mask: false, span }));
        }
        npir.params = stencil
            .params
            .iter()
            .map(|it| Param {
                what: match it.what {
                    oir::ParamKind::Field(field) => ParamKind::Field(fields[field]),
                    oir::ParamKind::Scalar(scalar) => ParamKind::Scalar(scalars[scalar]),
                },
                is_keyword_only: it.is_keyword_only,
                default: it.default,
                is_optional: it.is_optional,
            })
            .collect();
        let names = names(&npir.fields, &npir.scalars, &npir.locals);
        Self { stencil, extents, npir, fields, scalars, locals, names, kept: Vec::new(), n_masks: 0 }
    }

    fn block(
        &mut self,
        execution: Handle<oir::HorizontalExecution>,
        order: LoopOrder,
        interval: Interval,
    ) -> Block {
        self.kept = kept(&self.stencil.executions[execution], order, interval);
        for field in self.kept.clone() {
            let field = self.fields[field];
            if self.npir.fields[field].kept_as.is_none() {
                let name = self.unused_name(&format!("{}_old", self.npir.fields[field].name));
                self.npir.fields[field].kept_as = Some(name);
            }
        }
        let extent = self.extents.executions.get(execution).copied().unwrap_or(Extent::ZERO);
        let mut body = Vec::new();
        self.statements(&self.stencil.executions[execution].body, None, &mut body);
        Block { extent, kept: self.kept.iter().map(|&it| self.fields[it]).collect(), body }
    }

    fn statements(&mut self, body: &[oir::Stmt], within: Option<Handle<Local>>, out: &mut Vec<Stmt>) {
        for stmt in body {
            let origin = &stmt.origin;
            let mut push = |kind: StmtKind| out.push(Stmt { kind, origin: origin.clone() });
            match &stmt.kind {
                oir::StmtKind::Assign { target, index, value, .. } => push(StmtKind::Assign {
                    target: match *target {
                        oir::Target::Field(field) => Target::Field(self.fields[field]),
                        oir::Target::Local(local) => Target::Local(self.locals[local]),
                    },
                    // The element to write is told by values of the moment, as all of the statement is.
                    index: index.map_reads(&mut |access, index| self.read(access, index)),
                    value: self.expr(value),
                    mask: within,
                }),
                oir::StmtKind::If { condition, then, otherwise } => {
                    let mask = self.new_mask("mask", origin.span());
                    push(StmtKind::Mask { mask, within, condition: self.expr(condition) });
                    self.statements(then, Some(mask), out);
                    if !otherwise.is_empty() {
                        let rest = self.new_mask("rest", origin.span());
                        let kind = StmtKind::Rest { mask: rest, within, of: mask };
                        out.push(Stmt { kind, origin: origin.clone() });
                        self.statements(otherwise, Some(rest), out);
                    }
                }
                oir::StmtKind::While { condition, body } => {
                    let active = self.new_mask("active", origin.span());
                    let condition = self.expr(condition);
                    let mut inner = Vec::new();
                    self.statements(body, Some(active), &mut inner);
                    push(StmtKind::While { active, within, condition, body: inner });
                }
                oir::StmtKind::Region { region, body } => {
                    let mut inner = Vec::new();
                    self.statements(body, within, &mut inner);
                    push(StmtKind::Region { region: *region, body: inner });
                }
            }
        }
    }

    fn unused_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }

    fn new_mask(&mut self, word: &str, span: Span) -> Handle<Local> {
        self.n_masks += 1;
        let name = self.unused_name(&format!("{word}_{}", self.n_masks));
        self.npir.locals.push(Local { name, dtype: DType::Bool, is_mask: true, span })
    }

    fn expr(&self, expr: &oir::Expr) -> Expr {
        expr.map_reads(&mut |access, index| self.read(access, index))
    }

    fn read(&self, access: &oir::Access, index: Option<&oir::Index>) -> ExprKind<Access> {
        let access = match *access {
            oir::Access::Field { field, offset } => {
                let is_of_level = offset.k == 0 && index.is_none_or(|it| it.level_offset() == Some(0));
                let is_kept = !is_of_level && self.kept.contains(&field);
                let field = self.fields[field];
                if is_kept { Access::Kept { field, offset } } else { Access::Field { field, offset } }
            }
            oir::Access::Scalar(scalar) => Access::Scalar(self.scalars[scalar]),
            oir::Access::Local(local) => Access::Local(self.locals[local]),
        };
        match index {
            None => ExprKind::Access(access),
            Some(index) => {
                let index = index.map_reads(&mut |access, index| self.read(access, index));
                ExprKind::Element(access, Box::new(index))
            }
        }
    }
}

/// The fields that a parallel execution reads at other levels than the one at hand, and writes: it means
/// what they held before.
fn kept(
    execution: &oir::HorizontalExecution,
    order: LoopOrder,
    interval: Interval,
) -> Vec<Handle<oir::Field>> {
    if order != LoopOrder::Parallel {
        return Vec::new();
    }
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    execution.each_touch(&mut |touch| {
        let Some(field) = touch.what.field() else { return };
        // On its one level, only a level that is found at run time may be one that was written.
        let is_other = touch.offset.k != 0 && !interval.is_one_level() || !touch.is_level_known;
        if touch.is_write {
            written.insert(field);
        } else if is_other {
            read.insert(field);
        }
    });
    read.intersection(&written).copied().collect()
}

fn names(fields: &Arena<Field>, scalars: &Arena<Scalar>, locals: &Arena<Local>) -> BTreeSet<String> {
    let fields = fields.iter().map(|(_, it)| &it.name);
    let scalars = scalars.iter().map(|(_, it)| &it.name);
    fields.chain(scalars).chain(locals.iter().map(|(_, it)| &it.name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::npir::{print::listing, validate::validate};
    use crate::oir::analysis::extents::extents;
    use crate::oir::parse::parse;

    fn check(text: &str, expected: Expect) {
        let stencil = parse(text).expect("the text is OIR");
        let lowered = lower(&stencil, &extents(&stencil));
        assert_eq!(validate(&lowered), Vec::<String>::new());
        expected.assert_eq(&listing(&lowered).text);
    }

    #[test]
    fn branches_inside_loops_combine_their_masks() {
        check(
            "
stencil masks
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      if a > 0.0
        while b < a
          if b > 1.0
            b = b + a
          else
            b = b + 1.0
      elif a < -1.0
        b = 0.0
",
            expect![[r#"
                stencil masks
                field a: float64[IJK]
                field b: float64[IJK]
                mask mask_1
                mask active_2
                mask mask_3
                mask rest_4
                mask rest_5
                mask mask_6

                parallel [start, end)
                  block i[0,0] j[0,0]
                    mask_1 = a > 0.0
                    while active_2 = b < a where mask_1
                      mask_3 = b > 1.0 where active_2
                      b = b + a where mask_3
                      rest_4 = not mask_3 where active_2
                      b = b + 1.0 where rest_4
                    rest_5 = not mask_1
                    mask_6 = a < -1.0 where rest_5
                    b = 0.0 where mask_6
            "#]],
        );
    }

    #[test]
    fn a_region_inside_a_branch_stays_a_slice() {
        check(
            "
stencil edge
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      if a > 0.0
        region i[start, start+1) j[, )
          b = a
",
            expect![[r#"
                stencil edge
                field a: float64[IJK]
                field b: float64[IJK]
                mask mask_1

                parallel [start, end)
                  block i[0,0] j[0,0]
                    mask_1 = a > 0.0
                    region i[start, start+1) j[, )
                      b = a where mask_1
            "#]],
        );
    }

    #[test]
    fn what_a_parallel_block_reads_at_other_levels_and_writes_is_copied_before() {
        check(
            "
stencil shift
field a: float64[IJK]
field a_old: float64[IJK]
parallel
  [start+1, end)
    x0
      a = a[0,0,-1] + a
      a_old = a
forward
  [start+1, end)
    x1
      a = a[0,0,-1]
",
            expect![[r#"
                stencil shift
                field a: float64[IJK]
                field a_old: float64[IJK]

                parallel [start+1, end)
                  block i[0,0] j[0,0]
                    a_old_2 = copy of a
                    a = a_old_2[0,0,-1] + a
                    a_old = a

                forward [start+1, end)
                  block i[0,0] j[0,0]
                    a = a[0,0,-1]
            "#]],
        );
    }
}
