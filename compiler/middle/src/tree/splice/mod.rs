//! The trees of several stencils as one tree, whose statements run one stencil after the other.
//!
//! Each stencil has a range of its own, and its parameters are containers that others may have too. Positions of the
//! whole count from the start of one compute domain:
//!
//! ```text
//! for k in [0, K):                          for k in [0, K + 1):
//!   for j in [0, J), i in [0, I):    ─▶       for j in [-1, J + 1), i in [-1, I + 1):
//!     out[i, j, k] = q[i + 1, j, k]             l[i + 3, j + 3, k] = q[i + 4, j + 3, k]
//! ```
//!
//! is a stencil on the range from -1 with `I + 2`, `J + 2` and `K + 1` points. Its fields have halos of 3 points.

mod elements;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::nodes::{
    Access, Assign, Container, ContainerKind, Expr, HorizontalLoop, If, Node, RegionScope, Subscript, Tree,
    VerticalLoop, While, position_symbol, size_symbol,
};
use crate::diag::{Origin, StmtId};
use crate::entity::{Arena, Handle};
use crate::expr::ExprKind;
use crate::space::{Affine, Axis, Bound, Level, Region, Side, Size, Symbol, names};
use crate::types::{BinaryOp, DType, Value};

pub use elements::ContainerElements;

/// A tree that grows by the trees of stencils.
#[derive(Clone, Debug)]
pub struct Splice {
    tree: Tree,
    names: BTreeSet<String>,
}

/// The range and the arguments of a stencil among others.
#[derive(Clone, Debug)]
pub struct StencilPlacement {
    /// The first position of its range.
    pub origin: [i64; 3],
    /// Points along I, J, K: a number, or the size along the same axis and a number.
    pub domain: [Affine; 3],
    /// By the names of its containers.
    pub fields: BTreeMap<String, FieldPlacement>,
    /// The same for its scalars.
    pub scalars: BTreeMap<String, Handle<Container>>,
    /// Added to the numbers of its statements, which are thereby different from those of other stencils.
    pub first_statement: u32,
}

/// The elements that a stencil has as one of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPlacement {
    pub container: Handle<Container>,
    /// The position that this field has at the first point of the stencil's range.
    pub origin: [i64; 3],
    /// The element of the first data dimensions; empty for the whole container.
    pub data_index: Vec<u32>,
}

/// Why a stencil cannot be part of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpliceRefusal(pub String);

impl fmt::Display for SpliceRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Splice {
    /// An empty tree over these containers.
    #[must_use]
    pub fn new(name: &str, containers: Arena<Container>) -> Self {
        let names = containers.iter().map(|(_, it)| it.name.clone()).collect();
        Self { tree: Tree { name: name.to_owned(), containers, ..Tree::default() }, names }
    }

    /// Adds the statements of a stencil behind those that are there.
    ///
    /// # Errors
    ///
    /// Where its range has no such form, or an argument is missing. The tree is as it was.
    pub fn stencil(&mut self, from: &Tree, at: &StencilPlacement) -> Result<(), SpliceRefusal> {
        let mut ends = [None; 3];
        for (axis, size) in Axis::ALL.into_iter().zip(&at.domain) {
            let beyond = size.distance_from(&Affine::symbol(&size_symbol(axis)));
            if beyond.is_none() && size.as_constant().is_none() {
                return Err(SpliceRefusal(format!("its range along {axis} has {size} points")));
            }
            ends[axis.index()] = beyond;
        }
        let missing = from.containers.values().find(|it| match it.kind {
            ContainerKind::Field { .. } => !at.fields.contains_key(&it.name),
            ContainerKind::Scalar => !at.scalars.contains_key(&it.name),
            ContainerKind::Temporary | ContainerKind::Local => false,
        });
        if let Some(missing) = missing {
            return Err(SpliceRefusal(format!("`{}` has no argument", missing.name)));
        }
        let mut placing = Placing { splice: self, from, at, ends, symbols: BTreeMap::new(), own: Vec::new() };
        placing.name_symbols();
        placing.declare();
        let placing = placing;
        let children = placing.nodes(&from.children);
        self.tree.children.extend(children);
        Ok(())
    }

    /// The tree.
    #[must_use]
    pub fn finish(self) -> Tree {
        self.tree
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
}

/// One stencil on its way into the tree.
struct Placing<'a> {
    splice: &'a mut Splice,
    from: &'a Tree,
    at: &'a StencilPlacement,
    /// By how many points the range is larger than the compute domain, where it grows with it.
    ends: [Option<i64>; 3],
    /// The values of the stencil's symbols.
    symbols: BTreeMap<Symbol, Affine>,
    /// For each of its containers, the one of the whole.
    own: Vec<Handle<Container>>,
}

impl Placing<'_> {
    /// Sizes are those of the range, positions count from its start, and each array has all levels of its container.
    fn name_symbols(&mut self) {
        for axis in Axis::ALL {
            let (origin, size) = (self.at.origin[axis.index()], &self.at.domain[axis.index()]);
            self.symbols.insert(size_symbol(axis), size.clone());
            let variable = position_symbol(axis);
            self.symbols.insert(variable.clone(), Affine::beside(&variable, -origin));
        }
        for (name, place) in &self.at.fields {
            let container = &self.splice.tree.containers[place.container];
            let Some(dimension) = container.axes.iter().position(|it| it == Axis::K) else { continue };
            let Size::Affine(levels) = &container.shape[dimension] else { continue };
            let below = container.shift[dimension].clone().moved(place.origin[Axis::K.index()]);
            let above = &(levels - &below) - &self.at.domain[Axis::K.index()];
            self.symbols.insert(names::levels_below(name), below);
            self.symbols.insert(names::levels_above(name), above);
        }
    }

    /// Temporaries and locals are the stencil's own.
    fn declare(&mut self) {
        for it in self.from.containers.values() {
            let handle = match it.kind {
                ContainerKind::Field { .. } => self.at.fields[&it.name].container,
                ContainerKind::Scalar => self.at.scalars[&it.name],
                ContainerKind::Temporary | ContainerKind::Local => {
                    let name = self.splice.unused_name(&it.name);
                    let axes = it.axes.iter().map(Some).chain(std::iter::repeat(None));
                    let shift = axes.zip(&it.shift).map(|(axis, shift)| {
                        self.affine(shift).moved(-axis.map_or(0, |it| self.at.origin[it.index()]))
                    });
                    let shift = shift.collect();
                    let shape = it.shape.iter().map(|it| self.size(it)).collect();
                    self.splice.tree.containers.push(Container { name, shape, shift, ..it.clone() })
                }
            };
            self.own.push(handle);
        }
    }

    fn affine(&self, sum: &Affine) -> Affine {
        let mut whole = Affine::constant(sum.offset());
        for (symbol, factor) in sum.terms() {
            let own = Affine::symbol(symbol);
            let value = self.symbols.get(symbol).unwrap_or(&own);
            for _ in 0..factor.unsigned_abs() {
                whole = if factor > 0 { &whole + value } else { &whole - value };
            }
        }
        whole
    }

    fn size(&self, size: &Size) -> Size {
        let all = |parts: &[Size]| parts.iter().map(|it| self.size(it)).collect();
        match size {
            Size::Affine(sum) => Size::Affine(self.affine(sum)),
            Size::Min(parts) => Size::Min(all(parts)),
            Size::Max(parts) => Size::Max(all(parts)),
        }
    }

    /// An end of a loop.
    fn position(&self, axis: Axis, size: &Size) -> Size {
        self.size(size).moved(self.at.origin[axis.index()])
    }

    fn range(&self, axis: Axis, (start, end): (&Size, &Size)) -> (Size, Size) {
        (self.position(axis, start), self.position(axis, end))
    }

    fn nodes(&self, nodes: &[Node]) -> Vec<Node> {
        nodes.iter().map(|it| self.node(it)).collect()
    }

    fn node(&self, node: &Node) -> Node {
        match node {
            Node::VerticalLoop(it) => {
                let (start, end) = self.range(Axis::K, (&it.start, &it.end));
                Node::VerticalLoop(VerticalLoop {
                    order: it.order,
                    start,
                    end,
                    children: self.nodes(&it.children),
                })
            }
            Node::HorizontalLoop(it) => Node::HorizontalLoop(HorizontalLoop {
                i: self.range(Axis::I, (&it.i.0, &it.i.1)),
                j: self.range(Axis::J, (&it.j.0, &it.j.1)),
                children: self.nodes(&it.children),
            }),
            Node::If(it) => Node::If(If {
                condition: self.expr(&it.condition),
                then: self.nodes(&it.then),
                otherwise: self.nodes(&it.otherwise),
                origin: self.origin(&it.origin),
            }),
            Node::While(it) => Node::While(While {
                condition: self.expr(&it.condition),
                body: self.nodes(&it.body),
                origin: self.origin(&it.origin),
            }),
            Node::Region(it) => Node::Region(RegionScope {
                region: self.region(it.region),
                children: self.nodes(&it.children),
                origin: self.origin(&it.origin),
            }),
            Node::Assign(it) => Node::Assign(Assign {
                target: self.access(&it.target),
                value: self.expr(&it.value),
                origin: self.origin(&it.origin),
            }),
        }
    }

    fn origin(&self, origin: &Origin) -> Origin {
        Origin::new(StmtId(self.at.first_statement + origin.stmt.0), origin.spans())
    }

    fn region(&self, region: Region) -> Region {
        Region { i: self.side(Axis::I, region.i), j: self.side(Axis::J, region.j) }
    }

    /// Bounds count from the ends of the range.
    fn side(&self, axis: Axis, side: Side) -> Side {
        let at = axis.index();
        let (origin, size) = (self.at.origin[at], self.at.domain[at].offset());
        let moved = |bound: Bound| {
            let beside = i64::from(bound.offset) + origin;
            let number = |it: i64| i32::try_from(it).unwrap_or(if it < 0 { i32::MIN } else { i32::MAX });
            match (bound.level, self.ends[at]) {
                (Level::Start, _) => Bound::start(number(beside)),
                (Level::End, Some(beyond)) => Bound::end(number(beside + beyond)),
                (Level::End, None) => Bound::start(number(beside + size)),
            }
        };
        Side { start: side.start.map(moved), end: side.end.map(moved) }
    }

    fn expr(&self, expr: &Expr) -> Expr {
        let mut moved = expr.map_accesses(&mut |it| self.access(it));
        self.count_from_range(&mut moved);
        moved
    }

    /// A position is worth its number within the range.
    fn count_from_range(&self, expr: &mut Expr) {
        let ExprKind::Position(axis) = expr.kind else {
            return expr.operands_mut().into_iter().for_each(|it| self.count_from_range(it));
        };
        let origin = self.at.origin[axis.index()];
        if origin != 0 {
            let literal = ExprKind::Literal(Value::Int64(origin));
            let first = Expr { kind: literal, dtype: DType::Int64, span: expr.span };
            expr.kind = ExprKind::Binary(BinaryOp::Sub, Box::new(expr.clone()), Box::new(first));
        }
    }

    fn access(&self, access: &Access) -> Access {
        let from = &self.from.containers[access.container];
        let container = self.own[access.container.index()];
        let found = |it: &Subscript| it.found.as_ref().map(|it| Box::new(self.expr(it)));
        let plain = |it: &Subscript| Subscript { known: self.affine(&it.known), found: found(it) };
        let ContainerKind::Field { .. } = from.kind else {
            return Access { container, index: access.index.iter().map(plain).collect() };
        };
        let place = &self.at.fields[&from.name];
        let whole = &self.splice.tree.containers[container];
        let along = from.axes.iter().zip(&access.index).zip(from.shift.iter().zip(&whole.shift));
        let points = along.map(|((axis, it), (shift, own))| {
            let position = &self.affine(&it.known) - &self.affine(shift);
            let known = (&position + own).moved(place.origin[axis.index()]);
            Subscript { known, found: found(it) }
        });
        let part = place.data_index.iter().map(|&it| Affine::constant(it.into()).into());
        let data = access.index.iter().skip(from.axes.len()).map(plain);
        Access { container, index: points.chain(part).chain(data).collect() }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::diag::Span;
    use crate::oir::analysis::extents::extents;
    use crate::oir::parse::parse;
    use crate::space::AxisSet;
    use crate::tree::from_oir;
    use crate::tree::print::listing;
    use crate::tree::validate::validate;

    /// The tree of a stencil alone.
    fn alone(text: &str) -> Tree {
        let stencil = parse(text).expect("it is OIR");
        from_oir::lower(&stencil, &extents(&stencil))
    }

    /// A field with halos of two points along I and J, two elements at a point, and one more level.
    fn whole(name: &str, data: &[i64]) -> Container {
        let along = [Axis::I, Axis::J, Axis::K].into_iter().zip([4, 4, 1]);
        let shape = along.map(|(axis, beyond)| Affine::beside(&size_symbol(axis), beyond).into());
        let data_dims = data.iter().map(|&it| Affine::constant(it).into());
        let shift = [2, 2, 0].into_iter().chain(data.iter().map(|_| 0)).map(Affine::constant);
        Container {
            name: name.to_owned(),
            dtype: DType::Float64,
            kind: ContainerKind::Field { is_read: true, is_written: true },
            axes: AxisSet::IJK,
            shape: shape.chain(data_dims).collect(),
            shift: shift.collect(),
            span: Span::default(),
        }
    }

    fn range(origin: [i64; 3], domain: [&str; 3]) -> StencilPlacement {
        let sizes = domain.map(|it| crate::space::parse::affine(it).expect(it));
        let (fields, scalars) = (BTreeMap::new(), BTreeMap::new());
        StencilPlacement { origin, domain: sizes, fields, scalars, first_statement: 0 }
    }

    /// One stencil on a range, whose fields `a` and `b` are the parts that are told.
    fn check(text: &str, mut at: StencilPlacement, parts: [(usize, [i64; 3], &[u32]); 2], expected: &Expect) {
        let mut containers = Arena::default();
        let handles = [containers.push(whole("q", &[])), containers.push(whole("r", &[2, 3]))];
        for (name, (container, origin, data_index)) in ["a", "b"].into_iter().zip(parts) {
            let data_index = data_index.to_vec();
            let place = FieldPlacement { container: handles[container], origin, data_index };
            at.fields.insert(name.to_owned(), place);
        }
        let mut splice = Splice::new("whole", containers);
        splice.stencil(&alone(text), &at).expect("it has a place");
        let tree = splice.finish();
        assert_eq!(validate(&tree), Vec::<String>::new());
        expected.assert_eq(&listing(&tree).text);
    }

    #[test]
    fn ranges_regions_and_positions_count_from_the_domain() {
        check(
            "
stencil one
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start+1, end)
    x0
      t = a[1,0,-1]
    x1
      b = t[0,-1,0] * float64(K)
      region i[start, start+1) j[end-1, )
        b = 0.0
",
            range([-1, 0, 1], ["I + 2", "J - 1", "K - 1"]),
            [(0, [-1, 0, 1], &[]), (1, [0, 1, 1], &[1, 2])],
            &expect![[r#"
                tree whole
                field q: float64[I + 4, J + 4, K + 1] shift [2, 2, 0] read-write
                field r: float64[I + 4, J + 4, K + 1, 2, 3] shift [2, 2, 0, 0, 0] read-write
                temporary t: float64[I + 2, J, K - 1] shift [1, 1, -1]

                parallel k in [2, K):
                  for j in [-1, J - 1), i in [-1, I + 1):
                    t[i + 1, j + 1, k - 1] = q[i + 3, j + 2, k - 1]

                parallel k in [2, K):
                  for j in [0, J - 1), i in [-1, I + 1):
                    r[i + 3, j + 3, k, 1, 2] = t[i + 1, j, k - 1] * float64(k - 1)
                    region i[start-1, start) j[end-2, ):
                      r[i + 3, j + 3, k, 1, 2] = 0.0
            "#]],
        );
    }

    #[test]
    fn a_range_of_a_number_of_points_has_its_ends_at_positions() {
        check(
            "
stencil two
field a: float64[IJK]
field b: float64[IJK]
forward
  [start, end)
    x0
      region i[end-1, ) j[, end)
        a = a.up(int64(b.at(0)))
",
            range([2, 0, 0], ["1", "J", "K + 1"]),
            [(0, [2, 0, 0], &[]), (0, [2, 0, 0], &[])],
            &expect![[r#"
                tree whole
                field q: float64[I + 4, J + 4, K + 1] shift [2, 2, 0] read-write
                field r: float64[I + 4, J + 4, K + 1, 2, 3] shift [2, 2, 0, 0, 0] read-write

                forward k in [0, K + 1):
                  for j in [0, J), i in [2, 3):
                    region i[start+2, ) j[, end):
                      q[i + 2, j + 2, k] = q[i + 2, j + 2, k + {int64(q[i + 2, j + 2, {0}])}]
            "#]],
        );
    }

    #[test]
    fn statements_and_temporaries_of_several_stencils_have_names_of_their_own() {
        let text = "
stencil three
field a: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = a
    x1
      a = t[1,0,0]
";
        let mut containers = Arena::default();
        let q = containers.push(whole("q", &[]));
        let mut splice = Splice::new("whole", containers);
        for first_statement in [0, 10] {
            let mut at = range([0, 0, 0], ["I", "J", "K"]);
            at.first_statement = first_statement;
            let place = FieldPlacement { container: q, origin: [0, 0, 0], data_index: Vec::new() };
            at.fields.insert("a".to_owned(), place);
            splice.stencil(&alone(text), &at).expect("it has a place");
        }
        let tree = splice.finish();
        let mut stmts = BTreeSet::new();
        let mut add = |it: &Node| stmts.extend(it.origin().map(|it| it.stmt.0));
        tree.children.iter().for_each(|it| it.walk(&mut add));
        assert!(stmts.iter().all(|&it| stmts.contains(&(it % 10 + 10))), "{stmts:?}");
        let names: Vec<&str> = tree.containers.values().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["q", "t", "t_2"]);
        assert_eq!(validate(&tree), Vec::<String>::new());
    }

    #[test]
    fn a_range_along_another_axis_and_a_missing_argument_are_refused() {
        let text = "
stencil four
field a: float64[IJK]
parallel
  [start, end)
    x0
      a = 1.0
";
        let mut containers = Arena::default();
        let q = containers.push(whole("q", &[]));
        let mut splice = Splice::new("whole", containers);
        let mut at = range([0, 0, 0], ["J", "J", "K"]);
        let refused = |splice: &mut Splice, at: &StencilPlacement| {
            splice.stencil(&alone(text), at).expect_err("it has no place").to_string()
        };
        assert_eq!(refused(&mut splice, &at), "its range along I has J points");
        at.domain[0] = Affine::symbol(&size_symbol(Axis::I));
        assert_eq!(refused(&mut splice, &at), "`a` has no argument");
        let place = FieldPlacement { container: q, origin: [0, 0, 0], data_index: Vec::new() };
        at.fields.insert("a".to_owned(), place);
        splice.stencil(&alone(text), &at).expect("now it has one");
    }

    #[test]
    fn copies_and_fills_go_over_all_elements_of_their_parts() {
        let mut containers = Arena::default();
        let q = containers.push(whole("q", &[]));
        let r = containers.push(whole("r", &[2, 3]));
        let value = containers.push(Container {
            name: "v".to_owned(),
            kind: ContainerKind::Scalar,
            axes: AxisSet::of(&[]),
            shape: Vec::new(),
            shift: Vec::new(),
            ..whole("v", &[])
        });
        let part =
            |container, data_index: &[u32]| ContainerElements { container, data_index: data_index.to_vec() };
        let mut splice = Splice::new("whole", containers);
        let origin = Origin::new(StmtId(0), &[Span::default()]);
        splice.copy(&part(r, &[1, 2]), &part(q, &[]), &origin).expect("both have I and J");
        splice.fill(&part(r, &[0]), value, &origin).expect("it has I and J");
        let tree = splice.finish();
        assert_eq!(validate(&tree), Vec::<String>::new());
        expect![[r#"

            parallel k in [0, K + 1):
              for j in [-2, J + 2), i in [-2, I + 2):
                q[i + 2, j + 2, k] = r[i + 2, j + 2, k, 1, 2]

            parallel k in [0, K + 1):
              for j in [-2, J + 2), i in [-2, I + 2):
                r[i + 2, j + 2, k, 0, 0] = v
                r[i + 2, j + 2, k, 0, 1] = v
                r[i + 2, j + 2, k, 0, 2] = v
        "#]]
        .assert_eq(listing(&tree).text.split_once("scalar v: float64\n").expect("it is declared").1);
    }
}
