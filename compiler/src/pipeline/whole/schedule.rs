//! A whole program as one schedule tree: the trees of its groups, after all passes, with its statements around them.
//!
//! | of the program | becomes |
//! |---|---|
//! | an argument, a constant, state | a field or a scalar of the caller; state that is a scalar is a field of one element |
//! | a local | a temporary |
//! | a group | its own tree, with the values of its scalars before it |
//! | `for` | a `while` over a counter: the variable keeps its last value |
//! | a copy, a fill, a swap | loops over all points |
//! | an exchange on the only domain | loops over the boxes of each halo |
//!
//! Nothing here is scheduled anew: the order of statements is that of the program.

use std::collections::{BTreeMap, BTreeSet};

use isobar_program::nodes::{Container as ProgramContainer, HaloExchange, ProgramStmt, ProgramStmtKind};
use isobar_program::scalar::nodes::{ScalarExpr, ScalarRole, ScalarVariable};
use isobar_program::size::AffineSize;

use super::scalars::ScalarLowering;
use super::{StatementsOfGroup, WholeProgram, given, kept_scalars, touched};
use crate::diag::catalog::programs as catalog;
use crate::diag::{Diagnostic, Origin, ProgramOrder, Span, StmtId};
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::schedule::nodes::{
    Access, Assign, Container, ContainerKind, Expr, If, Node, Storage, Tree, While,
};
use crate::space::{Affine, AxisSet, Symbol, names};
use crate::types::{BinaryOp, DType, Value};

/// A program as one tree.
#[derive(Debug)]
pub(super) struct ProgramTree {
    pub(super) tree: Tree,
    /// When the statements of groups run.
    pub(super) order: ProgramOrder,
    pub(super) groups: Vec<StatementsOfGroup>,
    /// The statements that are no ones of groups, each with the program's.
    pub(super) own_statements: BTreeMap<StmtId, usize>,
}

/// Builds the tree of a program.
///
/// # Errors
///
/// The statements that no tree has, each with the reason.
pub(super) fn program_tree(whole: &WholeProgram) -> Result<ProgramTree, Vec<Diagnostic>> {
    let mut building = Building {
        whole,
        tree: Tree { name: whole.program.name.clone(), ..Tree::default() },
        names: BTreeSet::new(),
        fields: BTreeMap::new(),
        scalars: BTreeMap::new(),
        held: Vec::new(),
        order: ProgramOrder::default(),
        groups: Vec::new(),
        n_statements: 0,
        current: 0,
        n_reached: 0,
        own_statements: BTreeMap::new(),
        refused: Vec::new(),
    };
    building.declare();
    building.tree.children = building.statements(&whole.program.body);
    let Building { tree, order, groups, own_statements, refused, .. } = building;
    if refused.is_empty() { Ok(ProgramTree { tree, order, groups, own_statements }) } else { Err(refused) }
}

/// An element that a scalar of the program is.
#[derive(Clone, Copy)]
pub(super) struct ScalarPlace {
    pub(super) container: Handle<Container>,
    /// Whether it is an array of one element.
    is_array: bool,
}

pub(super) struct Building<'w> {
    pub(super) whole: &'w WholeProgram,
    pub(super) tree: Tree,
    /// The names of containers.
    names: BTreeSet<String>,
    pub(super) fields: BTreeMap<Handle<ProgramContainer>, Handle<Container>>,
    pub(super) scalars: BTreeMap<Handle<ScalarVariable>, ScalarPlace>,
    /// The fields that exchanges which have begun keep their values in.
    pub(super) held: Vec<(HaloExchange, Vec<Handle<Container>>)>,
    pub(super) order: ProgramOrder,
    pub(super) groups: Vec<StatementsOfGroup>,
    pub(super) n_statements: u32,
    /// The statement of the program that is lowered now: how many stand before it. Groups are none.
    current: usize,
    /// How many statements of the program were reached.
    n_reached: usize,
    own_statements: BTreeMap<StmtId, usize>,
    refused: Vec<Diagnostic>,
}

/// The size in symbols.
pub(super) fn affine(size: AffineSize) -> Affine {
    match size.axis {
        Some(axis) => Affine::beside(&Symbol::new(axis.name()), size.offset),
        None => Affine::constant(size.offset),
    }
}

impl Building<'_> {
    pub(super) fn unused(&mut self, wanted: &str) -> String {
        let wanted = names::of_container(wanted);
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let mut all = std::iter::once(wanted.clone()).chain(numbered);
        let name = all.find(|it| !self.names.contains(it)).unwrap_or_default();
        self.names.insert(name.clone());
        name
    }

    /// Arguments come in the order of the signature.
    fn declare(&mut self) {
        let whole = self.whole;
        let touched = touched(&whole.program);
        let mut access = whole.signature.params.iter().map(|it| it.access);
        for (handle, it) in given(&whole.program) {
            let access = access.next().filter(|_| touched.contains(&handle));
            let Some(access) = access else { continue };
            let kind = ContainerKind::Field { is_read: access.is_read(), is_written: access.is_written() };
            let own = self.field(it, kind, Storage::Caller);
            self.fields.insert(handle, own);
        }
        for (handle, it) in kept_scalars(&whole.program) {
            let kind = ContainerKind::Field { is_read: true, is_written: true };
            let mut of = self.value(&it.name, it.dtype, kind, Storage::Caller, it.span);
            of.shape = vec![Affine::constant(1).into()];
            of.shift = vec![Affine::constant(0)];
            let container = self.tree.containers.push(of);
            self.scalars.insert(handle, ScalarPlace { container, is_array: true });
        }
        for (handle, it) in whole.program.scalars.iter() {
            let (kind, storage) = match it.role {
                ScalarRole::Argument => (ContainerKind::Scalar, Storage::Caller),
                ScalarRole::Local => (ContainerKind::Temporary, Storage::Heap),
                ScalarRole::Constant(_) | ScalarRole::State(_) => continue,
            };
            let of = self.value(&it.name, it.dtype, kind, storage, it.span);
            let container = self.tree.containers.push(of);
            self.scalars.insert(handle, ScalarPlace { container, is_array: false });
        }
    }

    /// The container of a field; a local is declared when a statement needs it.
    pub(super) fn own(&mut self, handle: Handle<ProgramContainer>) -> Handle<Container> {
        if let Some(&known) = self.fields.get(&handle) {
            return known;
        }
        let whole = self.whole;
        let own = self.field(&whole.program.containers[handle], ContainerKind::Temporary, Storage::Heap);
        self.fields.insert(handle, own);
        own
    }

    pub(super) fn field(
        &mut self,
        it: &ProgramContainer,
        kind: ContainerKind,
        storage: Storage,
    ) -> Handle<Container> {
        let origin = it.axes.iter().map(|axis| Affine::constant(it.origin[axis.index()]));
        let data = it.data_dims.iter().map(|&size| Affine::constant(size.into()).into());
        let name = self.unused(&it.name);
        self.tree.containers.push(Container {
            name,
            dtype: it.dtype,
            kind,
            axes: it.axes,
            shape: it.shape.iter().map(|&size| affine(size).into()).chain(data).collect(),
            shift: origin.chain(it.data_dims.iter().map(|_| Affine::constant(0))).collect(),
            storage,
            ring: None,
            place: None,
            span: it.span,
        })
    }

    /// One value, which is not declared yet.
    fn value(
        &mut self,
        name: &str,
        dtype: DType,
        kind: ContainerKind,
        storage: Storage,
        span: Span,
    ) -> Container {
        Container {
            name: self.unused(name),
            dtype,
            kind,
            axes: AxisSet::of(&[]),
            shape: Vec::new(),
            shift: Vec::new(),
            storage,
            ring: None,
            place: None,
            span,
        }
    }

    /// A value of the whole run.
    pub(super) fn run_value(&mut self, name: &str, dtype: DType, span: Span) -> ScalarPlace {
        let of = self.value(name, dtype, ContainerKind::Temporary, Storage::Heap, span);
        ScalarPlace { container: self.tree.containers.push(of), is_array: false }
    }

    pub(super) fn origin(&mut self, span: Span) -> Origin {
        let stmt = StmtId(self.n_statements);
        self.n_statements += 1;
        self.own_statements.insert(stmt, self.current);
        Origin::new(stmt, &[span])
    }

    pub(super) fn refuse(&mut self, what: &str, why: &str, span: Span) {
        let what = format!("{what} of a program as one piece");
        self.refused.push(catalog::unsupported(&what, why, span));
    }

    /// An expression that `lower` makes; none where it was refused.
    pub(super) fn lowered(
        &mut self,
        span: Span,
        lower: impl FnOnce(&ScalarLowering<'_>) -> Result<Expr, String>,
    ) -> Option<Expr> {
        let made = lower(&ScalarLowering { value_of: &|it| self.variable(it, span), span });
        made.map_err(|why| self.refuse("an expression", &why, span)).ok()
    }

    /// The value of a variable, in its own type.
    fn variable(&self, variable: Handle<ScalarVariable>, span: Span) -> Expr {
        let it = &self.whole.program.scalars[variable];
        let kind = match (it.role, self.scalars.get(&variable)) {
            (ScalarRole::Constant(value), _) => ExprKind::Literal(value),
            (_, Some(&place)) => ExprKind::Access(self.element(place)),
            (_, None) => ExprKind::Literal(Value::undefined(it.dtype)),
        };
        Expr { kind, dtype: it.dtype, span }
    }

    fn element(&self, place: ScalarPlace) -> Access {
        let index = if place.is_array { vec![Affine::constant(0).into()] } else { Vec::new() };
        Access { container: place.container, index }
    }

    pub(super) fn read(&self, place: ScalarPlace, span: Span) -> Expr {
        let dtype = self.tree.containers[place.container].dtype;
        Expr { kind: ExprKind::Access(self.element(place)), dtype, span }
    }

    pub(super) fn give(&mut self, place: ScalarPlace, value: Expr, span: Span) -> Node {
        let origin = self.origin(span);
        Node::Assign(Assign { target: self.element(place), value, origin })
    }

    fn statements(&mut self, body: &[ProgramStmt]) -> Vec<Node> {
        let mut nodes = Vec::new();
        for stmt in body {
            let outer = self.current;
            if !matches!(stmt.kind, ProgramStmtKind::Group { .. }) {
                self.reach_statement();
            }
            // A statement that is not lowered was refused.
            self.statement(stmt, &mut nodes);
            self.current = outer;
        }
        nodes
    }

    pub(super) fn reach_statement(&mut self) {
        self.current = self.n_reached;
        self.n_reached += 1;
    }

    fn statement(&mut self, stmt: &ProgramStmt, nodes: &mut Vec<Node>) -> Option<()> {
        let span = stmt.span;
        match &stmt.kind {
            ProgramStmtKind::Group { number, body } => self.group((*number, body), span, nodes)?,
            ProgramStmtKind::Let { variable, value } => self.assign(*variable, value, span, nodes)?,
            ProgramStmtKind::For { variable, range, body } => {
                self.for_loop(*variable, range, body, span, nodes)?;
            }
            ProgramStmtKind::While { condition, body, .. } => {
                let condition = self.lowered(span, |it| it.truth(condition))?;
                let origin = self.origin(span);
                let body = self.statements(body);
                nodes.push(Node::While(While { condition, body, origin }));
            }
            ProgramStmtKind::If { condition, then, otherwise } => {
                let condition = self.lowered(span, |it| it.truth(condition))?;
                let origin = self.origin(span);
                let (then, otherwise) = (self.statements(then), self.statements(otherwise));
                nodes.push(Node::If(If { condition, then, otherwise, origin }));
            }
            ProgramStmtKind::Copy { from, to } if from != to => {
                let origin = self.origin(span);
                let from = from.clone();
                self.own(from.container);
                self.each_element(to, span, nodes, &|building, target| {
                    let value = building.value_at(building.beside(&target, to, &from), span);
                    vec![Node::Assign(Assign { target, value, origin: origin.clone() })]
                })?;
            }
            ProgramStmtKind::Fill { target, value } => {
                let dtype = self.whole.program.containers[target.container].dtype;
                let value = self.lowered(span, |it| it.stored(value, dtype))?;
                let place = self.run_value("filled", dtype, span);
                nodes.push(self.give(place, value, span));
                let origin = self.origin(span);
                self.each_element(target, span, nodes, &|building, target| {
                    let value = building.read(place, span);
                    vec![Node::Assign(Assign { target, value, origin: origin.clone() })]
                })?;
            }
            ProgramStmtKind::Swap(one, other) if one != other => self.swap(one, other, span, nodes)?,
            ProgramStmtKind::Exchange(exchange) => self.exchange(exchange, span, nodes)?,
            ProgramStmtKind::Trap(_) => self.refuse("a trap", "a schedule ends no run", span),
            ProgramStmtKind::Host { .. } => self.refuse("a callback", "a schedule calls nothing", span),
            // Calls stand in groups.
            ProgramStmtKind::Copy { .. }
            | ProgramStmtKind::Swap(..)
            | ProgramStmtKind::Mark(_)
            | ProgramStmtKind::Call(_) => {}
        }
        Some(())
    }

    pub(super) fn assign(
        &mut self,
        variable: Handle<ScalarVariable>,
        value: &ScalarExpr,
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Option<()> {
        let dtype = self.whole.program.scalars[variable].dtype;
        let value = self.lowered(span, |it| it.stored(value, dtype))?;
        let place = *self.scalars.get(&variable)?;
        nodes.push(self.give(place, value, span));
        Some(())
    }

    /// The bounds are computed once, and the variable keeps its last value.
    fn for_loop(
        &mut self,
        variable: Handle<ScalarVariable>,
        range: &[ScalarExpr; 3],
        body: &[ProgramStmt],
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Option<()> {
        let of = self.whole.program.scalars[variable].clone();
        let mut bounds = Vec::new();
        for (expr, name) in range.iter().zip(["at", "to", "by"]) {
            let value = self.lowered(span, |it| it.stored(expr, DType::Int64))?;
            // The first one is counted, and the others stay where they are no numbers.
            let is_kept = name == "at" || !matches!(value.kind, ExprKind::Literal(_));
            bounds.push(if is_kept {
                let place = self.run_value(&format!("{}_{name}", of.name), DType::Int64, span);
                nodes.push(self.give(place, value, span));
                (Some(place), self.read(place, span))
            } else {
                (None, value)
            });
        }
        let [(counter, at), (_, to), (_, by)] = <[_; 3]>::try_from(bounds).ok()?;
        let counter = counter?;
        let (holds, first, next) = {
            let it = ScalarLowering { value_of: &|it| self.variable(it, span), span };
            let is_before = it.operation(BinaryOp::Lt, at.clone(), to.clone());
            let is_behind = it.operation(BinaryOp::Gt, at.clone(), to);
            let holds = match range[2].as_int() {
                Some(0) => it.literal(Value::Bool(false)),
                Some(by) if by > 0 => is_before,
                Some(_) => is_behind,
                None => {
                    let zero = it.literal(Value::Int64(0));
                    let up = it.operation(BinaryOp::Gt, by.clone(), zero.clone());
                    let down = it.operation(BinaryOp::Lt, by.clone(), zero);
                    let up = it.operation(BinaryOp::And, up, is_before);
                    let down = it.operation(BinaryOp::And, down, is_behind);
                    it.operation(BinaryOp::Or, up, down)
                }
            };
            (holds, it.cast(at.clone(), of.dtype), it.operation(BinaryOp::Add, at, by))
        };
        let origin = self.origin(span);
        let mut inside = Vec::new();
        let place = *self.scalars.get(&variable)?;
        inside.push(self.give(place, first, span));
        inside.extend(self.statements(body));
        inside.push(self.give(counter, next, span));
        nodes.push(Node::While(While { condition: holds, body: inside, origin }));
        Some(())
    }
}
