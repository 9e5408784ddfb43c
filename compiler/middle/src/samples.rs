//! Small schedule trees, made by hand for the tests of this level and of its code generators.

use crate::diag::{FileId, Origin, Span, StmtId};
use crate::entity::Handle;
use crate::expr::{self, ExprKind};
use crate::schedule::nodes::{
    Access, Assign, Container, ContainerKind, Expr, If, Loop, Node, Order, Placement, RegionScope, Storage,
    Tree, While,
};
use crate::space::{Affine, Axis, AxisSet, Bound, Region, Side, Size, Symbol};
use crate::types::{BinaryOp, DType, Value};

const F64: DType = DType::Float64;

/// A tree from its text.
pub fn parsed(text: &str) -> Tree {
    crate::schedule::parse::parse(text).expect("the text is a schedule tree")
}

#[derive(Debug)]
pub struct Builder {
    pub tree: Tree,
    n_stmts: u32,
}

impl Builder {
    fn new(name: &str) -> Self {
        Self { tree: Tree { name: name.to_owned(), ..Tree::default() }, n_stmts: 0 }
    }

    fn container(
        &mut self,
        name: &str,
        kind: ContainerKind,
        storage: Storage,
        axes: AxisSet,
        halo: i64,
    ) -> Handle<Container> {
        let along = |axis: Axis| {
            let halo = if axis == Axis::K { 0 } else { 2 * halo };
            Size::Affine(Affine::beside(&Symbol::new(axis.name()), halo))
        };
        self.tree.containers.push(Container {
            name: name.to_owned(),
            dtype: F64,
            kind,
            axes,
            shape: axes.iter().map(along).collect(),
            shift: axes.iter().map(|axis| Affine::constant(if axis == Axis::K { 0 } else { halo })).collect(),
            storage,
            ring: None,
            place: None,
            span: Span::default(),
        })
    }

    fn field(&mut self, name: &str, is_read: bool, is_written: bool, halo: i64) -> Handle<Container> {
        self.container(
            name,
            ContainerKind::Field { is_read, is_written },
            Storage::Caller,
            AxisSet::IJK,
            halo,
        )
    }

    fn temporary(&mut self, name: &str, halo: i64) -> Handle<Container> {
        self.container(name, ContainerKind::Temporary, Storage::Heap, AxisSet::IJK, halo)
    }

    fn local(&mut self, name: &str) -> Handle<Container> {
        self.container(name, ContainerKind::Local, Storage::Register, AxisSet::of(&[]), 0)
    }

    fn scalar(&mut self, name: &str) -> Handle<Container> {
        self.container(name, ContainerKind::Scalar, Storage::Caller, AxisSet::of(&[]), 0)
    }

    fn at(&self, container: Handle<Container>, offset: [i64; 3]) -> Access {
        let it = &self.tree.containers[container];
        let index = it.axes.iter().enumerate().map(|(dimension, axis)| {
            let symbol = Symbol::new(axis.position_name());
            (&Affine::beside(&symbol, offset[axis.index()]) + &it.shift[dimension]).into()
        });
        Access { container, index: index.collect() }
    }

    fn read(&self, container: Handle<Container>, offset: [i64; 3]) -> Expr {
        expr_of(ExprKind::Access(self.at(container, offset)), F64)
    }

    fn origin(&mut self) -> Origin {
        self.n_stmts += 1;
        let at = 10 * self.n_stmts;
        Origin::new(StmtId(self.n_stmts - 1), &[Span::new(FileId(0), at, at + 5)])
    }

    fn assign(&mut self, target: Handle<Container>, value: Expr) -> Node {
        let origin = self.origin();
        Node::Assign(Assign { target: self.at(target, [0, 0, 0]), value, origin })
    }
}

fn expr_of(kind: ExprKind<Access>, dtype: DType) -> Expr {
    expr::Expr { kind, dtype, span: Span::default() }
}

fn number(value: f64) -> Expr {
    expr_of(ExprKind::Literal(Value::Float64(value)), F64)
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let dtype = if op.is_comparison() { DType::Bool } else { F64 };
    expr_of(ExprKind::Binary(op, Box::new(left), Box::new(right)), dtype)
}

fn add(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Add, left, right)
}

fn mul(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Mul, left, right)
}

fn over(axis: Axis, halo: i64, order: Order, placement: Placement, children: Vec<Node>) -> Node {
    Node::Loop(Loop {
        variable: Symbol::new(axis.position_name()),
        axis,
        start: Affine::constant(-halo).into(),
        end: Affine::beside(&Symbol::new(axis.name()), halo).into(),
        step: 1,
        order,
        placement,
        children,
    })
}

fn nest(halo: i64, children: Vec<Node>) -> Node {
    let i = over(Axis::I, halo, Order::Parallel, Placement::Simd, children);
    let j = over(Axis::J, halo, Order::Parallel, Placement::Sequential, vec![i]);
    over(Axis::K, 0, Order::Parallel, Placement::Threads, vec![j])
}

/// One statement.
pub fn copy_scale() -> Tree {
    let mut b = Builder::new("copy_scale");
    let (q_in, q_out) = (b.field("q_in", true, false, 0), b.field("q_out", false, true, 0));
    let factor = b.scalar("factor");
    let value = mul(b.read(factor, [0; 3]), b.read(q_in, [0; 3]));
    let body = b.assign(q_out, value);
    b.tree.children = vec![nest(0, vec![body])];
    b.tree
}

/// A temporary with a halo between two nests, and a local inside the second.
pub fn laplacian() -> Tree {
    let mut b = Builder::new("laplacian");
    let (q, out) = (b.field("q", true, false, 2), b.field("out", false, true, 0));
    let lap = b.temporary("lap", 1);
    let flux = b.local("flux");
    let star = |b: &Builder, of| {
        let sum = add(b.read(of, [1, 0, 0]), b.read(of, [-1, 0, 0]));
        add(add(sum, b.read(of, [0, 1, 0])), b.read(of, [0, -1, 0]))
    };
    let first = star(&b, q);
    let first = b.assign(lap, add(first, mul(number(-4.0), b.read(q, [0; 3]))));
    let second = star(&b, lap);
    let second = b.assign(flux, second);
    let third = b.assign(out, add(b.read(q, [0; 3]), mul(number(0.1), b.read(flux, [0; 3]))));
    b.tree.children = vec![nest(1, vec![first]), nest(0, vec![second, third])];
    b.tree
}

/// Control flow at each point: a region, a branch with three ways and a loop.
pub fn columns() -> Tree {
    let mut b = Builder::new("columns");
    let (q, out) = (b.field("q", true, true, 0), b.field("out", false, true, 0));
    let (x, n) = (b.local("x"), b.local("n"));
    b.tree.containers[n].dtype = DType::Int64;
    let zero = |b: &Builder, c| binary(BinaryOp::Gt, b.read(c, [0; 3]), number(0.0));
    let start = b.assign(x, b.read(q, [0; 3]));
    let clear = Node::Assign(Assign {
        target: b.at(n, [0; 3]),
        value: expr_of(ExprKind::Literal(Value::Int64(0)), DType::Int64),
        origin: b.origin(),
    });
    let edge = b.assign(x, number(7.5));
    let edge = Node::Region(RegionScope {
        region: Region { i: Side { start: None, end: Some(Bound::start(1)) }, j: Side::default() },
        children: vec![edge],
        origin: b.origin(),
    });
    let halve = b.assign(x, mul(number(0.5), b.read(x, [0; 3])));
    let counter = expr_of(ExprKind::Access(b.at(n, [0; 3])), DType::Int64);
    let one = expr_of(ExprKind::Literal(Value::Int64(1)), DType::Int64);
    let count = Node::Assign(Assign {
        target: b.at(n, [0; 3]),
        value: expr_of(ExprKind::Binary(BinaryOp::Add, Box::new(counter), Box::new(one)), DType::Int64),
        origin: b.origin(),
    });
    let newton = Node::While(While {
        condition: binary(BinaryOp::Gt, b.read(x, [0; 3]), number(1.0)),
        body: vec![halve, count],
        origin: b.origin(),
    });
    let (high, middle, low) =
        (b.assign(out, number(1.0)), b.assign(out, b.read(x, [0; 3])), b.assign(out, number(-1.0)));
    let inner =
        Node::If(If { condition: zero(&b, q), then: vec![middle], otherwise: vec![low], origin: b.origin() });
    let branch =
        Node::If(If { condition: zero(&b, x), then: vec![high], otherwise: vec![inner], origin: b.origin() });
    let cast =
        expr_of(ExprKind::Cast(F64, Box::new(expr_of(ExprKind::Access(b.at(n, [0; 3])), DType::Int64))), F64);
    let last = b.assign(q, add(b.read(x, [0; 3]), cast));
    b.tree.children = vec![nest(0, vec![start, clear, edge, newton, branch, last])];
    b.tree
}

/// A sweep upward in each row of columns.
pub fn sweep() -> Tree {
    let mut b = Builder::new("sweep");
    let (q, out) = (b.field("q", true, false, 0), b.field("out", true, true, 0));
    let value = add(b.read(out, [0, 0, -1]), b.read(q, [0; 3]));
    let step = b.assign(out, value);
    let i = over(Axis::I, 0, Order::Parallel, Placement::Simd, vec![step]);
    let k = Node::Loop(Loop {
        variable: Symbol::new("k"),
        axis: Axis::K,
        start: Affine::constant(1).into(),
        end: Affine::symbol(&Symbol::new("K")).into(),
        step: 1,
        order: Order::Ascending,
        placement: Placement::Sequential,
        children: vec![i],
    });
    b.tree.children = vec![over(Axis::J, 0, Order::Parallel, Placement::Threads, vec![k])];
    b.tree
}

/// All of them.
pub fn all() -> Vec<Tree> {
    vec![copy_scale(), laplacian(), columns(), sweep()]
}
