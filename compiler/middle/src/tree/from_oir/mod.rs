//! OIR to Tree IR: containers get shapes, accesses get indices, executions get loops.
//!
//! Nothing is moved. Loops before the first section give a value to temporaries that are read where they may
//! not be written. A parallel section becomes one vertical loop for each execution, since each is finished on
//! all levels before the next starts. A sequential section becomes one vertical loop around all its
//! executions.

mod elements;
mod uses;

use std::collections::BTreeMap;

use self::uses::Uses;
use super::nodes::{
    Access, Assign, Container, ContainerKind, Expr, HorizontalLoop, If, Node, RegionScope, Subscript, Tree,
    VerticalLoop, While, position_symbol, size_symbol,
};
use super::visit::accesses;
use crate::diag::Origin;
use crate::entity::{Handle, SideTable};
use crate::expr::{ExprKind, Vertical};
use crate::oir::analysis::definite_assignment::{UndefinedRead, reads_undefined};
use crate::oir::analysis::extents::Extents;
use crate::oir::nodes as oir;
use crate::space::{
    Affine, Axis, AxisSet, Bound, Extent, Interval, Level, LoopOrder, Offset, Reach, Size, names,
};
use crate::types::{DType, Value};

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
    uses: Uses,
    tree: Tree,
    fields: SideTable<oir::Field, Handle<Container>>,
    scalars: SideTable<oir::Scalar, Handle<Container>>,
    locals: SideTable<oir::Local, Handle<Container>>,
    /// While an execution is lowered: the copy of each field that it reads where it means old values.
    old_values: BTreeMap<Handle<oir::Field>, Handle<Container>>,
}

impl<'a> Lowering<'a> {
    fn new(stencil: &'a oir::Stencil, extents: &'a Extents) -> Self {
        let tree = Tree { name: stencil.name.clone(), span: stencil.span, ..Tree::default() };
        Self {
            stencil,
            extents,
            uses: Uses::of(stencil),
            tree,
            fields: SideTable::default(),
            scalars: SideTable::default(),
            locals: SideTable::default(),
            old_values: BTreeMap::new(),
        }
    }

    /// Arguments in the order of the signature, then temporaries, then locals.
    fn declare(&mut self) {
        for param in &self.stencil.params {
            match param.what {
                oir::ParamKind::Field(field) => self.declare_field(field),
                oir::ParamKind::Scalar(scalar) => {
                    if self.uses.scalars.contains(&scalar) {
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
                self.declare_field(field);
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

    fn declare_field(&mut self, field: Handle<oir::Field>) {
        let (is_read, is_written) = (self.uses.read.contains(&field), self.uses.written.contains(&field));
        if !is_read && !is_written {
            return;
        }
        let it = &self.stencil.fields[field];
        let horizontal = self.extents.true_fields.get(field).copied().unwrap_or(Extent::ZERO);
        let levels = self.uses.levels(field);
        // Then any level that the array has may be touched, and the caller tells which levels these are.
        let has_told_levels = !it.is_temporary && self.uses.levels_found.contains(&field);
        let name = names::of_container(&it.name);
        let (below, above) = (names::levels_below(&name), names::levels_above(&name));
        // The shape covers the compute domain too, so that an empty extent needs no care downstream.
        let reaches: Vec<(Axis, Reach)> = it
            .axes
            .iter()
            .map(|axis| {
                (axis, if axis == Axis::K { levels } else { horizontal.along(axis) }.union(Reach::ZERO))
            })
            .collect();
        let mut shape: Vec<Size> = Vec::new();
        let mut shift = Vec::new();
        for (axis, reach) in reaches {
            let size = size_symbol(axis);
            if axis == Axis::K && has_told_levels {
                shape.push(Affine::of([(below.clone(), 1), (size, 1), (above.clone(), 1)], 0).into());
                shift.push(Affine::symbol(&below));
            } else {
                shape.push(Affine::beside(&size, i64::from(reach.hi) - i64::from(reach.lo)).into());
                shift.push(Affine::constant(-i64::from(reach.lo)));
            }
        }
        for &size in &it.data_dims {
            shape.push(Affine::constant(size.into()).into());
            shift.push(Affine::constant(0));
        }
        let kind = if it.is_temporary {
            ContainerKind::Temporary
        } else {
            ContainerKind::Field { is_read, is_written }
        };
        let container = Container { name, dtype: it.dtype, kind, axes: it.axes, shape, shift, span: it.span };
        self.fields.insert(field, self.tree.containers.push(container));
    }

    /// Gives temporaries that may be read where no statement wrote them a start value that says so. The
    /// interpreter gives that value to all temporaries.
    fn undefined(&mut self) -> Vec<Node> {
        let (stencil, extents) = (self.stencil, self.extents);
        let mut fill = |it: UndefinedRead<'_>| {
            let container = self.fields[it.field];
            let (dtype, span) = (self.tree.containers[container].dtype, it.origin.span());
            let value = Expr { kind: ExprKind::Literal(Value::undefined(dtype)), dtype, span };
            let point = self.point(container);
            let field = &stencil.fields[it.field];
            let assigns = self.for_each_element(&field.data_dims, it.origin, &mut |element| {
                let index = point.iter().chain(element).cloned().collect();
                let target = Access { container, index };
                Assign { target, value: value.clone(), origin: it.origin.clone() }
            });
            let all = self.extents.true_fields.get(it.field).copied().unwrap_or(Extent::ZERO);
            let all = all.union(Extent::ZERO);
            let columns = it.written.map_or_else(|| vec![rectangle(all)], |it| around(it, all));
            let children = columns.into_iter().map(|it| plane(it, assigns.clone())).collect();
            let (order, (start, end)) = if field.axes.has(Axis::K) {
                let levels = self.uses.levels(it.field);
                (LoopOrder::Parallel, positions(Axis::K, levels.union(Reach::ZERO)))
            } else {
                // Written once, at the first level.
                (LoopOrder::Forward, (Affine::constant(0).into(), Affine::constant(1).into()))
            };
            Node::VerticalLoop(VerticalLoop { order, start, end, children })
        };
        reads_undefined(stencil, extents).into_iter().map(&mut fill).collect()
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

    /// Copies the fields that a parallel execution reads at other levels than it writes. It means their
    /// values from before, and its levels run in no order.
    fn keep_old_values(
        &mut self,
        execution: Handle<oir::HorizontalExecution>,
        interval: Interval,
        out: &mut Vec<Node>,
    ) {
        let touches = self.stencil.executions[execution].touches();
        let mut beside = BTreeMap::new();
        for touch in touches.iter().filter(|it| !it.is_write) {
            // In an interval of one level, only a level that is found at run time may be one that was
            // written.
            let is_other = touch.is_of_other_level() && !interval.is_one_level() || !touch.is_level_known;
            if let (Some(field), true) = (touch.what.field(), is_other) {
                beside.entry(field).or_insert_with(|| touch.origin.clone());
            }
        }
        beside.retain(|&field, _| touches.iter().any(|it| it.is_write && it.what.field() == Some(field)));
        for (field, origin) in beside {
            let original = self.fields[field];
            let mut copy = self.tree.containers[original].clone();
            copy.kind = ContainerKind::Temporary;
            copy.name = self.unused_name(&format!("{}_old", copy.name));
            let (dtype, span) = (copy.dtype, copy.span);
            let copy = self.tree.containers.push(copy);
            let point = self.point(original);
            let data_dims = &self.stencil.fields[field].data_dims;
            let assigns = self.for_each_element(data_dims, &origin, &mut |element| {
                let index: Vec<Subscript> = point.iter().chain(element).cloned().collect();
                let source = Access { container: original, index: index.clone() };
                let value = Expr { kind: ExprKind::Access(source), dtype, span };
                Assign { target: Access { container: copy, index }, value, origin: origin.clone() }
            });
            let reach = self.extents.true_fields.get(field).copied().unwrap_or(Extent::ZERO);
            let (start, end) = self.all_levels(original);
            let children = vec![plane(rectangle(reach), assigns)];
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

    fn execution(&mut self, execution: Handle<oir::HorizontalExecution>) -> Node {
        let stencil = self.stencil;
        let extent = self.extents.executions.get(execution).copied().unwrap_or(Extent::ZERO);
        Node::HorizontalLoop(HorizontalLoop {
            i: positions(Axis::I, extent.i),
            j: positions(Axis::J, extent.j),
            children: self.statements(&stencil.executions[execution].body),
        })
    }

    fn statements(&mut self, statements: &[oir::Stmt]) -> Vec<Node> {
        let mut nodes = Vec::new();
        for stmt in statements {
            self.statement(stmt, &mut nodes);
        }
        nodes
    }

    fn statement(&mut self, stmt: &oir::Stmt, out: &mut Vec<Node>) {
        let origin = stmt.origin.clone();
        match &stmt.kind {
            oir::StmtKind::Assign { target, index, value, .. } => {
                let value = self.expression(value);
                let target = match *target {
                    oir::Target::Field(field) => {
                        self.element(self.fields[field], Offset::CENTRE, Some(index))
                    }
                    oir::Target::Local(local) => Access { container: self.locals[local], index: Vec::new() },
                };
                out.push(Node::Assign(Assign { target, value, origin }));
            }
            oir::StmtKind::If { condition, then, otherwise } => {
                let (condition, first) = self.condition(condition, &origin);
                out.extend(first);
                let (then, otherwise) = (self.statements(then), self.statements(otherwise));
                out.push(Node::If(If { condition, then, otherwise, origin }));
            }
            oir::StmtKind::While { condition, body } => {
                let (condition, first) = self.condition(condition, &origin);
                out.extend(first.clone());
                let mut body = self.statements(body);
                body.extend(first);
                out.push(Node::While(While { condition, body, origin }));
            }
            oir::StmtKind::Region { region, body } => {
                let children = self.statements(body);
                out.push(Node::Region(RegionScope { region: *region, children, origin }));
            }
        }
    }

    /// Lowers a condition. If it finds an element at run time, a statement of its own has to evaluate it
    /// before. Only statements are checked and can end the run.
    fn condition(&mut self, condition: &oir::Expr, origin: &Origin) -> (Expr, Option<Node>) {
        let value = self.expression(condition);
        let mut is_checked = false;
        accesses(&value, &mut |it| is_checked |= it.index.iter().any(|it| it.found.is_some()));
        if !is_checked {
            return (value, None);
        }
        let span = origin.span();
        let container = self.tree.containers.push(Container {
            name: self.unused_name("condition"),
            dtype: DType::Bool,
            kind: ContainerKind::Local,
            axes: AxisSet::of(&[]),
            shape: Vec::new(),
            shift: Vec::new(),
            span,
        });
        let target = Access { container, index: Vec::new() };
        let condition = Expr { kind: ExprKind::Access(target.clone()), dtype: DType::Bool, span };
        (condition, Some(Node::Assign(Assign { target, value, origin: origin.clone() })))
    }

    fn expression(&self, expr: &oir::Expr) -> Expr {
        expr.map_reads(&mut |access, index| {
            ExprKind::Access(match *access {
                oir::Access::Field { field, offset } => {
                    let is_here = offset.k == 0 && index.is_none_or(|it| it.level_offset() == Some(0));
                    let old = self.old_values.get(&field).copied().filter(|_| !is_here);
                    self.element(old.unwrap_or(self.fields[field]), offset, index)
                }
                oir::Access::Scalar(scalar) => Access { container: self.scalars[scalar], index: Vec::new() },
                oir::Access::Local(local) => Access { container: self.locals[local], index: Vec::new() },
            })
        })
    }

    /// The one place where an offset becomes an index.
    fn element(&self, container: Handle<Container>, offset: Offset, element: Option<&oir::Index>) -> Access {
        let it = &self.tree.containers[container];
        let along = |(axis, shift): (Axis, &Affine)| {
            let beside = |by: i32| &Affine::beside(&position_symbol(axis), by.into()) + shift;
            match element.map(|it| &it.vertical) {
                Some(Vertical::Offset(by)) if axis == Axis::K => beside(offset.k + by).into(),
                Some(Vertical::Above(by)) if axis == Axis::K => {
                    Subscript::found(beside(0), self.expression(by))
                }
                Some(Vertical::At(level)) if axis == Axis::K => {
                    Subscript::found(shift.clone(), self.expression(level))
                }
                _ => beside(offset.along(axis)).into(),
            }
        };
        let data = |at: &oir::Expr| match at.kind {
            // Validated: it is one of the elements.
            ExprKind::Literal(at) => Affine::constant(at.as_i64()).into(),
            _ => Subscript::found(Affine::constant(0), self.expression(at)),
        };
        let points = it.axes.iter().zip(&it.shift).map(along);
        let index = points.chain(element.iter().flat_map(|it| &it.data).map(data)).collect();
        Access { container, index }
    }

    /// The index of the point itself, without that of an element of data.
    fn point(&self, container: Handle<Container>) -> Vec<Subscript> {
        self.element(container, Offset::CENTRE, None).index
    }

    /// The levels that a container has, as positions.
    fn all_levels(&self, container: Handle<Container>) -> (Size, Size) {
        let it = &self.tree.containers[container];
        let dimension = it.axes.iter().position(|axis| axis == Axis::K);
        match dimension.map(|at| (&it.shape[at], &it.shift[at])) {
            Some((Size::Affine(size), shift)) => {
                ((&Affine::constant(0) - shift).into(), (size - shift).into())
            }
            _ => positions(Axis::K, Reach::ZERO),
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

/// Statements at the points of a plane.
fn plane([i, j]: Rectangle, children: Vec<Node>) -> Node {
    Node::HorizontalLoop(HorizontalLoop { i, j, children })
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::oir::{analysis::extents, parse::parse};
    use crate::tree::{print::listing, validate::validate};

    fn check(text: &str, expected: &Expect) {
        let stencil = parse(text).expect("it is OIR");
        let tree = lower(&stencil, &extents(&stencil));
        assert_eq!(validate(&tree), Vec::<String>::new());
        expected.assert_eq(&listing(&tree).text);
    }

    #[test]
    fn integers_of_run_time_and_data_dimensions_are_parts_of_an_index() {
        check(
            "
stencil elements
field a: float64[IJK]
field v: float64[IJK][3,2]
field w: float32[][20]
field n: int32[IJ]
temporary t: float64[IJK]
forward
  [start, end)
    x0
      t = a.up(n) + a[1,0,0].at(K - 1) * float64(w.A[n])
    x1
      v.up(1).A[2, n] = t.at(n) + v[0,0,-1].A[0, 1]
",
            &expect![[r#"
                tree elements
                field a: float64[I + 1, J, K + __a_K_above + __a_K_below] shift [0, 0, __a_K_below] read
                field v: float64[I, J, K + 1, 3, 2] shift [0, 0, 0, 0, 0] read-write
                field w: float32[20] shift [0] read
                field n: int32[I, J] shift [0, 0] read
                temporary t: float64[I, J, K] shift [0, 0, 0]

                forward k in [0, K):
                  for j in [0, J), i in [0, I):
                    t[i, j, k] = a[i, j, __a_K_below + k + {n[i, j]}] + a[i + 1, j, __a_K_below + {k - 1}] * float64(w[{n[i, j]}])
                  for j in [0, J), i in [0, I):
                    v[i, j, k + 1, 2, {n[i, j]}] = t[i, j, {n[i, j]}] + v[i, j, k - 1, 0, 1]
            "#]],
        );
    }

    #[test]
    fn old_values_are_kept_on_all_levels_that_may_be_read() {
        check(
            "
stencil old
field a: float64[IJK]
field v: float64[IJ][20]
field n: int64[IJ]
parallel
  [start, start+1)
    x0
      a = a.up(n)
    x1
      a = a[0,0,-1] + v.A[3]
",
            &expect![[r#"
                tree old
                field a: float64[I, J, K + __a_K_above + __a_K_below] shift [0, 0, __a_K_below] read-write
                field v: float64[I, J, 20] shift [0, 0, 0] read
                field n: int64[I, J] shift [0, 0] read
                temporary a_old: float64[I, J, K + __a_K_above + __a_K_below] shift [0, 0, __a_K_below]

                parallel k in [-__a_K_below, K + __a_K_above):
                  for j in [0, J), i in [0, I):
                    a_old[i, j, __a_K_below + k] = a[i, j, __a_K_below + k]

                parallel k in [0, 1):
                  for j in [0, J), i in [0, I):
                    a[i, j, __a_K_below + k] = a_old[i, j, __a_K_below + k + {n[i, j]}]

                parallel k in [0, 1):
                  for j in [0, J), i in [0, I):
                    a[i, j, __a_K_below + k] = a[i, j, __a_K_below + k - 1] + v[i, j, 3]
            "#]],
        );
    }

    #[test]
    fn a_condition_that_finds_an_element_is_a_statement() {
        check(
            "
stencil conditions
field a: float64[IJK]
field b: float64[IJK]
temporary many: float64[IJ][40]
parallel
  [start, end)
    x0
      if a.at(0) > 0.0
        b = 1.0
      elif a.at(1) > 0.0
        b = 2.0
    x1
      while b < a.at(2)
        b = b + 1.0
forward
  [start, end)
    x2
      b = many.A[K]
",
            &expect![[r#"
                tree conditions
                field a: float64[I, J, K + __a_K_above + __a_K_below] shift [0, 0, __a_K_below] read
                field b: float64[I, J, K] shift [0, 0, 0] read-write
                temporary many: float64[I, J, 40] shift [0, 0, 0]
                local element: int64
                local condition: bool
                local condition_2: bool
                local condition_3: bool

                forward k in [0, 1):
                  for j in [0, J), i in [0, I):
                    element = 0
                    while element < 32:
                      many[i, j, {element}] = NaN
                      many[i, j, 1 + {element}] = NaN
                      many[i, j, 2 + {element}] = NaN
                      many[i, j, 3 + {element}] = NaN
                      many[i, j, 4 + {element}] = NaN
                      many[i, j, 5 + {element}] = NaN
                      many[i, j, 6 + {element}] = NaN
                      many[i, j, 7 + {element}] = NaN
                      many[i, j, 8 + {element}] = NaN
                      many[i, j, 9 + {element}] = NaN
                      many[i, j, 10 + {element}] = NaN
                      many[i, j, 11 + {element}] = NaN
                      many[i, j, 12 + {element}] = NaN
                      many[i, j, 13 + {element}] = NaN
                      many[i, j, 14 + {element}] = NaN
                      many[i, j, 15 + {element}] = NaN
                      element = element + 16
                    many[i, j, 32] = NaN
                    many[i, j, 33] = NaN
                    many[i, j, 34] = NaN
                    many[i, j, 35] = NaN
                    many[i, j, 36] = NaN
                    many[i, j, 37] = NaN
                    many[i, j, 38] = NaN
                    many[i, j, 39] = NaN

                parallel k in [0, K):
                  for j in [0, J), i in [0, I):
                    condition = a[i, j, __a_K_below + {0}] > 0.0
                    if condition:
                      b[i, j, k] = 1.0
                    else:
                      condition_2 = a[i, j, __a_K_below + {1}] > 0.0
                      if condition_2:
                        b[i, j, k] = 2.0

                parallel k in [0, K):
                  for j in [0, J), i in [0, I):
                    condition_3 = b[i, j, k] < a[i, j, __a_K_below + {2}]
                    while condition_3:
                      b[i, j, k] = b[i, j, k] + 1.0
                      condition_3 = b[i, j, k] < a[i, j, __a_K_below + {2}]

                forward k in [0, K):
                  for j in [0, J), i in [0, I):
                    b[i, j, k] = many[i, j, {k}]
            "#]],
        );
    }

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
      p = p + float64(u) if n > int8(0) else 0.0
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
                u[i, j, k] = float32(NaN)

            parallel k in [0, K):
              for j in [0, J), i in [0, I):
                n[i, j, k] = int8(-128)

            parallel k in [0, K):
              for j in [0, J), i in [0, I):
                t[i + 1, j, k] = b[i, j, k]"#]]
        .assert_eq(text.split("\n\n").take(6).collect::<Vec<_>>().join("\n\n").as_str());
    }
}
