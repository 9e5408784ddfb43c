//! OIR to Tree IR: containers get shapes, accesses get indices, executions get loops.
//!
//! Nothing is moved; what runs before the first section makes explicit what a temporary holds that is read
//! and may not be written. A parallel section becomes one vertical loop for each
//! execution, since each is finished on all levels before the next starts; a
//! sequential section becomes one vertical loop around all its executions.

use std::collections::{BTreeMap, BTreeSet};

use super::nodes::{
    Access, Assign, Container, ContainerKind, Expr, HorizontalLoop, If, Node, RegionScope, Tree,
    VerticalLoop, While, position_symbol, size_symbol,
};
use crate::entity::{Handle, SideTable};
use crate::expr::ExprKind;
use crate::oir::analysis::definite_assignment::{Undefined, reads_undefined};
use crate::oir::analysis::extents::Extents;
use crate::oir::nodes as oir;
use crate::space::{Affine, Axis, Bound, Extent, Interval, Level, LoopOrder, Offset, Reach, Size, names};
use crate::types::Value;

/// The stencil as loops over containers. Parameters that no statement uses get no container.
#[must_use]
pub fn lower(stencil: &oir::Stencil, extents: &Extents) -> Tree {
    let mut lowering = Lowering::new(stencil, extents);
    lowering.declare();
    let mut children = lowering.undefined();
    for vertical_loop in &stencil.vertical_loops {
        for section in &vertical_loop.sections {
            lowering.section(vertical_loop.order, section, &mut children);
        }
    }
    lowering.tree.children = children;
    lowering.tree
}

struct Lowering<'a> {
    stencil: &'a oir::Stencil,
    extents: &'a Extents,
    tree: Tree,
    fields: SideTable<oir::Field, Handle<Container>>,
    scalars: SideTable<oir::Scalar, Handle<Container>>,
    locals: SideTable<oir::Local, Handle<Container>>,
    /// While an execution is lowered: the copy to read instead, where old values are meant.
    old_values: BTreeMap<Handle<oir::Field>, Handle<Container>>,
}

impl<'a> Lowering<'a> {
    fn new(stencil: &'a oir::Stencil, extents: &'a Extents) -> Self {
        let tree = Tree { name: stencil.name.clone(), span: stencil.span, ..Tree::default() };
        Self {
            stencil,
            extents,
            tree,
            fields: SideTable::default(),
            scalars: SideTable::default(),
            locals: SideTable::default(),
            old_values: BTreeMap::new(),
        }
    }

    /// Arguments in the order of the signature, then temporaries, then locals.
    fn declare(&mut self) {
        let uses = Uses::of(self.stencil);
        let levels = level_reach(self.stencil);
        for param in &self.stencil.params {
            match param.what {
                oir::ParamKind::Field(field) => self.declare_field(field, &uses, &levels),
                oir::ParamKind::Scalar(scalar) => {
                    if uses.scalars.contains(&scalar) {
                        let oir::Scalar { ref name, dtype, span } = self.stencil.scalars[scalar];
                        let name = names::of_container(name);
                        let (axes, kind) = (crate::space::AxisSet::of(&[]), ContainerKind::Scalar);
                        let container =
                            Container { name, dtype, kind, axes, shape: vec![], shift: vec![], span };
                        self.scalars.insert(scalar, self.tree.containers.push(container));
                    }
                }
            }
        }
        for (field, it) in self.stencil.fields.iter() {
            if it.is_temporary {
                self.declare_field(field, &uses, &levels);
            }
        }
        for (local, it) in self.stencil.locals.iter() {
            let oir::Local { ref name, dtype, span } = *it;
            let name = names::of_container(name);
            let (axes, kind) = (crate::space::AxisSet::of(&[]), ContainerKind::Local);
            let container = Container { name, dtype, kind, axes, shape: vec![], shift: vec![], span };
            self.locals.insert(local, self.tree.containers.push(container));
        }
    }

    fn declare_field(
        &mut self,
        field: Handle<oir::Field>,
        uses: &Uses,
        levels: &SideTable<oir::Field, Reach>,
    ) {
        let (is_read, is_written) = (uses.read.contains(&field), uses.written.contains(&field));
        if !is_read && !is_written {
            return;
        }
        let it = &self.stencil.fields[field];
        let horizontal = self.extents.true_fields.get(field).copied().unwrap_or(Extent::ZERO);
        let levels = levels.get(field).copied().unwrap_or(Reach::ZERO);
        // What is owned covers the compute domain too, so that an empty extent needs no care downstream.
        let reaches: Vec<(Axis, Reach)> = it
            .axes
            .iter()
            .map(|axis| {
                (axis, if axis == Axis::K { levels } else { horizontal.along(axis) }.union(Reach::ZERO))
            })
            .collect();
        let shape = reaches
            .iter()
            .map(|(axis, reach)| {
                Affine::beside(&size_symbol(*axis), i64::from(reach.hi) - i64::from(reach.lo)).into()
            })
            .collect();
        let shift = reaches.iter().map(|(_, reach)| -i64::from(reach.lo)).collect();
        let kind = if it.is_temporary {
            ContainerKind::Temporary
        } else {
            ContainerKind::Field { is_read, is_written }
        };
        let container = Container {
            name: names::of_container(&it.name),
            dtype: it.dtype,
            kind,
            axes: it.axes,
            shape,
            shift,
            span: it.span,
        };
        self.fields.insert(field, self.tree.containers.push(container));
    }

    /// Temporaries that may be read where no statement wrote them start with the value that says so,
    /// which the interpreter gives to all of them.
    fn undefined(&self) -> Vec<Node> {
        let levels = level_reach(self.stencil);
        let fill = |it: Undefined<'_>| {
            let container = self.fields[it.field];
            let (dtype, span) = (self.tree.containers[container].dtype, it.origin.span());
            let value = Expr { kind: ExprKind::Literal(Value::undefined(dtype)), dtype, span };
            let target = self.field_access(container, Offset::CENTRE);
            let assign = Assign { target, value, origin: it.origin.clone() };
            let all = self.extents.true_fields.get(it.field).copied().unwrap_or(Extent::ZERO);
            let all = all.union(Extent::ZERO);
            let columns = it.written.map_or_else(|| vec![rectangle(all)], |it| around(it, all));
            let children = columns.into_iter().map(|it| plane(it, assign.clone())).collect();
            let (order, (start, end)) = if self.stencil.fields[it.field].axes.has(Axis::K) {
                let levels = levels.get(it.field).copied().unwrap_or(Reach::ZERO);
                (LoopOrder::Parallel, positions(Axis::K, levels.union(Reach::ZERO)))
            } else {
                // Written once, at the first level.
                (LoopOrder::Forward, (Affine::constant(0).into(), Affine::constant(1).into()))
            };
            Node::VerticalLoop(VerticalLoop { order, start, end, children })
        };
        reads_undefined(self.stencil, self.extents).into_iter().map(fill).collect()
    }

    fn section(&mut self, order: LoopOrder, section: &oir::Section, out: &mut Vec<Node>) {
        let (start, end) = levels(section.interval);
        if order == LoopOrder::Parallel {
            for &execution in &section.executions {
                self.keep_old_values(execution, section.interval, out);
                let children = vec![self.execution(execution)];
                out.push(Node::VerticalLoop(VerticalLoop {
                    order,
                    start: start.clone(),
                    end: end.clone(),
                    children,
                }));
                self.old_values.clear();
            }
        } else if !section.executions.is_empty() {
            let children = section.executions.iter().map(|&it| self.execution(it)).collect();
            out.push(Node::VerticalLoop(VerticalLoop { order, start, end, children }));
        }
    }

    /// A parallel execution that reads a field at other levels than it writes means
    /// the values from before: they are copied first, since levels run in no order.
    fn keep_old_values(
        &mut self,
        execution: Handle<oir::HorizontalExecution>,
        interval: Interval,
        out: &mut Vec<Node>,
    ) {
        if interval.is_one_level() {
            return;
        }
        let body = &self.stencil.executions[execution].body;
        let mut beside = BTreeMap::new();
        reads(body, &mut |access, stmt| {
            if let oir::Access::Field { field, offset } = access
                && offset.k != 0
            {
                beside.entry(*field).or_insert_with(|| stmt.origin.clone());
            }
        });
        let mut written = Vec::new();
        writes(body, &mut |target, _| {
            if let oir::Target::Field(field) = target {
                written.push(*field);
            }
        });
        beside.retain(|field, _| written.contains(field));
        for (field, origin) in beside {
            let original = self.fields[field];
            let mut copy = self.tree.containers[original].clone();
            copy.kind = ContainerKind::Temporary;
            copy.name = self.unused_name(&format!("{}_old", copy.name));
            let (dtype, span) = (copy.dtype, copy.span);
            let copy = self.tree.containers.push(copy);
            let target = Access { container: copy, index: self.index(original, Offset::CENTRE) };
            let source = Access { container: original, index: target.index.clone() };
            let value = Expr { kind: ExprKind::Access(source), dtype, span };
            let reach = self.extents.true_fields.get(field).copied().unwrap_or(Extent::ZERO);
            let levels =
                level_reach(self.stencil).get(field).copied().unwrap_or(Reach::ZERO).union(Reach::ZERO);
            let (start, end) = positions(Axis::K, levels);
            let children = vec![plane(rectangle(reach), Assign { target, value, origin })];
            out.push(Node::VerticalLoop(VerticalLoop { order: LoopOrder::Parallel, start, end, children }));
            self.old_values.insert(field, copy);
        }
    }

    fn unused_name(&self, wanted: &str) -> String {
        let is_used = |name: &str| self.tree.containers.iter().any(|(_, it)| it.name == name);
        let mut name = wanted.to_owned();
        let mut number = 1;
        while is_used(&name) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }

    fn execution(&self, execution: Handle<oir::HorizontalExecution>) -> Node {
        let extent = self.extents.executions.get(execution).copied().unwrap_or(Extent::ZERO);
        Node::HorizontalLoop(HorizontalLoop {
            i: positions(Axis::I, extent.i),
            j: positions(Axis::J, extent.j),
            children: self.statements(&self.stencil.executions[execution].body),
        })
    }

    fn statements(&self, statements: &[oir::Stmt]) -> Vec<Node> {
        statements.iter().map(|it| self.statement(it)).collect()
    }

    fn statement(&self, stmt: &oir::Stmt) -> Node {
        let origin = stmt.origin.clone();
        match &stmt.kind {
            oir::StmtKind::Assign { target, value, .. } => {
                let target = match *target {
                    oir::Target::Field(field) => self.field_access(self.fields[field], Offset::CENTRE),
                    oir::Target::Local(local) => Access { container: self.locals[local], index: Vec::new() },
                };
                Node::Assign(Assign { target, value: self.expression(value), origin })
            }
            oir::StmtKind::If { condition, then, otherwise } => Node::If(If {
                condition: self.expression(condition),
                then: self.statements(then),
                otherwise: self.statements(otherwise),
                origin,
            }),
            oir::StmtKind::While { condition, body } => Node::While(While {
                condition: self.expression(condition),
                body: self.statements(body),
                origin,
            }),
            oir::StmtKind::Region { region, body } => {
                Node::Region(RegionScope { region: *region, children: self.statements(body), origin })
            }
        }
    }

    fn expression(&self, expr: &oir::Expr) -> Expr {
        expr.map_accesses(&mut |access| match *access {
            oir::Access::Field { field, offset } => {
                let old = self.old_values.get(&field).copied().filter(|_| offset.k != 0);
                self.field_access(old.unwrap_or(self.fields[field]), offset)
            }
            oir::Access::Scalar(scalar) => Access { container: self.scalars[scalar], index: Vec::new() },
            oir::Access::Local(local) => Access { container: self.locals[local], index: Vec::new() },
        })
    }

    fn field_access(&self, container: Handle<Container>, offset: Offset) -> Access {
        Access { container, index: self.index(container, offset) }
    }

    /// The one place where an offset becomes an index.
    fn index(&self, container: Handle<Container>, offset: Offset) -> Vec<Affine> {
        let it = &self.tree.containers[container];
        it.axes
            .iter()
            .zip(&it.shift)
            .map(|(axis, shift)| {
                Affine::beside(&position_symbol(axis), shift + i64::from(offset.along(axis)))
            })
            .collect()
    }
}

/// What the statements touch.
#[derive(Default)]
struct Uses {
    read: BTreeSet<Handle<oir::Field>>,
    written: BTreeSet<Handle<oir::Field>>,
    scalars: BTreeSet<Handle<oir::Scalar>>,
}

impl Uses {
    fn of(stencil: &oir::Stencil) -> Self {
        let mut uses = Self::default();
        for section in stencil.vertical_loops.iter().flat_map(|it| &it.sections) {
            for &execution in &section.executions {
                let body = &stencil.executions[execution].body;
                reads(body, &mut |access, _| match *access {
                    oir::Access::Field { field, .. } => drop(uses.read.insert(field)),
                    oir::Access::Scalar(scalar) => drop(uses.scalars.insert(scalar)),
                    oir::Access::Local(_) => {}
                });
                writes(body, &mut |target, _| {
                    if let oir::Target::Field(field) = *target {
                        uses.written.insert(field);
                    }
                });
            }
        }
        uses
    }
}

fn reads<'a>(statements: &'a [oir::Stmt], each: &mut impl FnMut(&'a oir::Access, &'a oir::Stmt)) {
    for stmt in statements {
        match &stmt.kind {
            oir::StmtKind::Assign { value, .. } => value.accesses(&mut |it| each(it, stmt)),
            oir::StmtKind::If { condition, then, otherwise } => {
                condition.accesses(&mut |it| each(it, stmt));
                reads(then, each);
                reads(otherwise, each);
            }
            oir::StmtKind::While { condition, body } => {
                condition.accesses(&mut |it| each(it, stmt));
                reads(body, each);
            }
            oir::StmtKind::Region { body, .. } => reads(body, each),
        }
    }
}

fn writes<'a>(statements: &'a [oir::Stmt], each: &mut impl FnMut(&'a oir::Target, &'a oir::Stmt)) {
    for stmt in statements {
        match &stmt.kind {
            oir::StmtKind::Assign { target, .. } => each(target, stmt),
            oir::StmtKind::If { then, otherwise, .. } => {
                writes(then, each);
                writes(otherwise, each);
            }
            oir::StmtKind::While { body, .. } | oir::StmtKind::Region { body, .. } => writes(body, each),
        }
    }
}

/// Positions along i and j, half-open.
type Rectangle = [(Size, Size); 2];

fn rectangle(extent: Extent) -> Rectangle {
    [positions(Axis::I, extent.i), positions(Axis::J, extent.j)]
}

/// The columns of `outer` that are not of `inner`.
fn around(inner: Extent, outer: Extent) -> Vec<Rectangle> {
    let before =
        |from: i32, to: i32| (Affine::constant(from.into()).into(), Affine::constant(to.into()).into());
    let behind = |axis: Axis, from: i32, to: i32| {
        let beyond = |distance: i32| Affine::beside(&size_symbol(axis), distance.into()).into();
        (beyond(from), beyond(to))
    };
    let (i, j) = (positions(Axis::I, inner.i), positions(Axis::J, outer.j));
    let mut found = Vec::new();
    if outer.i.lo < inner.i.lo {
        found.push([before(outer.i.lo, inner.i.lo), j.clone()]);
    }
    if inner.i.hi < outer.i.hi {
        found.push([behind(Axis::I, inner.i.hi, outer.i.hi), j]);
    }
    if outer.j.lo < inner.j.lo {
        found.push([i.clone(), before(outer.j.lo, inner.j.lo)]);
    }
    if inner.j.hi < outer.j.hi {
        found.push([i, behind(Axis::J, inner.j.hi, outer.j.hi)]);
    }
    found
}

/// One assignment at the points of a plane.
fn plane([i, j]: Rectangle, assign: Assign) -> Node {
    Node::HorizontalLoop(HorizontalLoop { i, j, children: vec![Node::Assign(assign)] })
}

/// Positions `lo .. n + hi` along an axis.
fn positions(axis: Axis, reach: Reach) -> (Size, Size) {
    (
        Affine::constant(i64::from(reach.lo)).into(),
        Affine::beside(&size_symbol(axis), i64::from(reach.hi)).into(),
    )
}

fn levels(interval: Interval) -> (Size, Size) {
    let position = |bound: Bound| match bound.level {
        Level::Start => Affine::constant(i64::from(bound.offset)).into(),
        Level::End => Affine::beside(&size_symbol(Axis::K), i64::from(bound.offset)).into(),
    };
    (position(interval.start), position(interval.end))
}

/// How far beyond the compute domain's levels each field is touched.
fn level_reach(stencil: &oir::Stencil) -> SideTable<oir::Field, Reach> {
    let mut reaches = SideTable::default();
    let mut touch = |field: Handle<oir::Field>, interval: Interval, k: i32| {
        let lo = match interval.start.level {
            Level::Start => interval.start.offset + k,
            Level::End => 0,
        };
        let hi = match interval.end.level {
            Level::Start => 0,
            Level::End => interval.end.offset + k,
        };
        let reach = Reach::new(lo.min(0), hi.max(0));
        let known = reaches.get(field).copied().unwrap_or(Reach::ZERO);
        reaches.insert(field, known.union(reach));
    };
    for section in stencil.vertical_loops.iter().flat_map(|it| &it.sections) {
        for &execution in &section.executions {
            let body = &stencil.executions[execution].body;
            reads(body, &mut |access, _| {
                if let oir::Access::Field { field, offset } = access {
                    touch(*field, section.interval, offset.k);
                }
            });
            writes(body, &mut |target, _| {
                if let oir::Target::Field(field) = target {
                    touch(*field, section.interval, 0);
                }
            });
        }
    }
    reaches
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::oir::{analysis::extents, parse::parse};
    use crate::tree::{print::listing, validate::validate};

    #[test]
    fn what_is_read_and_may_not_be_written_is_filled_first() {
        // `t` is read beside its columns, on a domain of one; `u` at a level, `p` and `n` anywhere.
        let stencil = parse(
            "
stencil fill
field b: float64[IJK]
temporary t: float64[IJK]
temporary u: float32[IJK]
temporary p: float64[IJ]
temporary n: int8[IJK]
parallel
  [start, end)
    x0
      t = b
    x1
      region i[end-1, end) j[, start+1)
        b = t[-1,2,0]
  [start+1, end)
    x2
      u = float32(b)
forward
  [start, end)
    x3
      p = p + float64(u) if n > 0int8 else 0.0
",
        )
        .expect("it is OIR");
        let tree = lower(&stencil, &extents(&stencil));
        assert_eq!(validate(&tree), Vec::<String>::new());
        let text = listing(&tree).text;
        expect![[r#"
            tree fill
            field b: float64[I, J, K] shift [0, 0, 0] read-write
            temporary t: float64[I + 1, J + 2, K] shift [1, 0, 0]
            temporary u: float32[I, J, K] shift [0, 0, 0]
            temporary p: float64[I, J] shift [0, 0]
            temporary n: int8[I, J, K] shift [0, 0, 0]

            parallel k in [0, K):
              for j in [0, J + 2), i in [-1, 0):
                t[i + 1, j, k] = NaN
              for j in [J, J + 2), i in [0, I):
                t[i + 1, j, k] = NaN

            forward k in [0, 1):
              for j in [0, J), i in [0, I):
                p[i, j] = NaN

            parallel k in [0, K):
              for j in [0, J), i in [0, I):
                u[i, j, k] = NaNfloat32

            parallel k in [0, K):
              for j in [0, J), i in [0, I):
                n[i, j, k] = -128int8

            parallel k in [0, K):
              for j in [0, J), i in [0, I):
                t[i + 1, j, k] = b[i, j, k]"#]]
        .assert_eq(text.split("\n\n").take(6).collect::<Vec<_>>().join("\n\n").as_str());
    }
}
