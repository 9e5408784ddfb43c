//! A group of a program as one stencil: its calls become one tree, which takes the way of every stencil's tree.
//!
//! Locals of the program that a group alone touches, and writes before it reads them, become temporaries.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use isobar_program::interpret::GroupParam;
use isobar_program::nodes::{
    CallArgument, Container as ProgramContainer, ContainerPart, ContainerRole, ProgramIr, ProgramStmt,
    ProgramStmtKind, StencilCall,
};
use isobar_program::scalar::ScalarExpr;
use isobar_program::size::AffineSize;

use super::lowering::lower_tree;
use super::{Compilation, Hook};
use crate::call::signature::{AccessKind, Param, ParamKind, Signature};
use crate::diag::{Origin, ProgramOrder, Span, StmtId};
use crate::entity::{Arena, Handle};
use crate::front::Front;
use crate::oir::analysis::extents::extents;
use crate::pass::{Level as _, PassOptions};
use crate::space::{Affine, AxisSet, Symbol, names};
use crate::tree;
use crate::tree::coverage::covered;
use crate::tree::nodes::{Container, ContainerKind, Node, Tree};
use crate::tree::splice::{ContainerElements, FieldPlacement, Splice, StencilPlacement};
use crate::tree::visit::accesses;
use crate::types::DType;

/// A compiled group.
#[derive(Debug)]
pub struct GroupCompilation {
    pub compilation: Arc<Compilation>,
    /// In the order of the signature.
    pub params: Vec<GroupParam>,
    pub statements: GroupStatements,
}

/// Where the numbers of each statement's own statements start, and its position in the group.
#[derive(Clone, Debug, Default)]
pub struct GroupStatements(Vec<GroupStatement>);

/// A statement of a group among those of its code.
#[derive(Clone, Copy, Debug)]
struct GroupStatement {
    first: u32,
    position: usize,
    /// The first position of its range.
    origin: [i64; 3],
}

impl GroupStatements {
    /// The statement of the group that a statement of its code belongs to, by position.
    #[must_use]
    pub fn statement_of(&self, stmt: StmtId) -> Option<usize> {
        Some(self.found(stmt)?.position)
    }

    /// The number that a statement has in its own stencil, and a point of the domain as a point of its range.
    #[must_use]
    pub fn in_stencil(&self, stmt: StmtId, cell: [i64; 3]) -> Option<(StmtId, [i64; 3])> {
        let it = self.found(stmt)?;
        let [i, j, k] = it.origin;
        Some((StmtId(stmt.0 - it.first), [cell[0] - i, cell[1] - j, cell[2] - k]))
    }

    fn found(&self, stmt: StmtId) -> Option<GroupStatement> {
        self.0.iter().rev().find(|it| it.first <= stmt.0).copied()
    }
}

/// A group of a program as one tree, which is not lowered yet.
#[derive(Debug)]
pub struct JoinedGroup {
    front: Arc<Front>,
    tree: Tree,
    /// In the order of the signature.
    pub params: Vec<GroupParam>,
    pub statements: GroupStatements,
}

impl JoinedGroup {
    /// The name of its code.
    #[must_use]
    pub fn name(&self) -> &str {
        self.front.signature.as_ref().map_or("", |it| &it.name)
    }

    /// The parameters of its code.
    #[must_use]
    pub fn signature(&self) -> Option<&Signature> {
        self.front.signature.as_ref()
    }

    /// The text that decides its code, together with its files. Names of containers decide nothing, so equal statements on
    /// other fields have the same text.
    #[must_use]
    pub fn text(&self) -> String {
        let listing = tree::print::listing(&self.tree).text;
        let containers = self.tree.containers.iter().map(|(handle, it)| (it.name.as_str(), handle.index()));
        let names: BTreeMap<&str, usize> = containers.collect();
        let mut text = String::new();
        for it in self.front.signature.iter().flat_map(|it| &it.params) {
            let number = names.get(it.name.as_str());
            let _ = writeln!(text, "{number:?} {:?} {:?}", it.kind, it.access);
        }
        let is_of_name = |it: char| it.is_alphanumeric() || it == '_';
        // Behind the line with the name of the tree.
        let mut rest = listing.split_once('\n').map_or("", |it| it.1);
        while !rest.is_empty() {
            let word = rest.find(|it| !is_of_name(it)).unwrap_or(rest.len());
            match names.get(&rest[..word]) {
                Some(number) => drop(write!(text, "container {number}")),
                None => text.push_str(&rest[..word]),
            }
            let between = rest[word..].find(is_of_name).map_or(rest.len(), |it| word + it);
            text.push_str(&rest[word..between]);
            rest = &rest[between..];
        }
        let _ = write!(text, "\n{:?}", self.front.order());
        text
    }

    /// The files of its places, as names and texts.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.front.sources()
    }

    /// Lowers it for the device of the options.
    #[must_use]
    pub fn lowered(&self, options: &PassOptions, hook: &mut dyn Hook) -> Compilation {
        lower_tree(&self.front, self.tree.clone(), options, hook)
    }
}

/// Compiles a group of a program for the device of the options. `front_of` has the stencil of each call.
///
/// # Errors
///
/// Why its statements cannot be one stencil.
pub fn compile_group(
    program: &ProgramIr,
    group: (usize, &[ProgramStmt]),
    front_of: &dyn Fn(&StencilCall) -> Option<Arc<Front>>,
    options: &PassOptions,
    hook: &mut dyn Hook,
) -> Result<GroupCompilation, String> {
    let joined = join_group(program, group, front_of)?;
    let compilation = Arc::new(joined.lowered(options, hook));
    Ok(GroupCompilation { compilation, params: joined.params, statements: joined.statements })
}

/// Joins the statements of a group to one tree. `front_of` has the stencil of each call.
///
/// # Errors
///
/// Why they cannot be one stencil.
pub fn join_group(
    program: &ProgramIr,
    (number, body): (usize, &[ProgramStmt]),
    front_of: &dyn Fn(&StencilCall) -> Option<Arc<Front>>,
) -> Result<JoinedGroup, String> {
    let mut trees = Vec::with_capacity(body.len());
    for stmt in body {
        trees.push(match &stmt.kind {
            ProgramStmtKind::Call(call) => Some(CallTree::of(front_of(call))?),
            _ => None,
        });
    }
    let name = identifier(&format!("{}_group_{number}", program.name));
    let group = GroupTree { program, name: &name, body, trees: &trees };
    // The first tree tells what the second one declares.
    let whole = group.spliced(&BTreeSet::new(), &BTreeMap::new())?;
    let access = accessed(&whole.tree);
    let covered = covered(&whole.tree);
    let elsewhere = touched_outside(program, number);
    let locals = whole.containers.iter().filter(|&(container, handle)| {
        let is_local = program.containers[*container].role == ContainerRole::Local;
        let is_read = access.get(handle).is_some_and(|it| it.is_read);
        is_local && !elsewhere.contains(container) && (covered.contains(handle) || !is_read)
    });
    let locals: BTreeSet<_> = locals.map(|it| *it.0).collect();
    let of_program = whole
        .containers
        .iter()
        .map(|(container, handle)| (*container, access.get(handle).copied().unwrap_or_default()));
    let spliced = group.spliced(&locals, &of_program.collect())?;
    let files = trees.iter().flatten().next().map(|it| it.front.files.clone()).unwrap_or_default();
    let signature = Signature { name: name.clone(), params: spliced.signature, min_levels: 0 };
    let front = Arc::new(Front::of_calls(files, signature, spliced.order));
    let SplicedGroup { tree, params, statements, .. } = spliced;
    Ok(JoinedGroup { front, tree, params, statements: GroupStatements(statements) })
}

/// The loops of a call, as its stencil alone has them.
struct CallTree {
    front: Arc<Front>,
    tree: Tree,
    n_statements: u32,
}

impl CallTree {
    fn of(front: Option<Arc<Front>>) -> Result<Self, String> {
        let front = front.ok_or("a call has no stencil")?;
        let Some(optimized) = front.optimized.as_ref().filter(|_| front.is_whole) else {
            return Err("a stencil was not compiled through all passes".to_owned());
        };
        let tree = tree::from_oir::lower(optimized, &extents(optimized));
        let mut n_statements = 0;
        let mut count = |origin: &Origin| n_statements = n_statements.max(origin.stmt.0 + 1);
        front.oir.iter().chain([optimized]).for_each(|it| it.each_statement(&mut count));
        Ok(Self { front, tree, n_statements })
    }
}

/// A group on its way to one tree.
struct GroupTree<'a> {
    program: &'a ProgramIr,
    name: &'a str,
    body: &'a [ProgramStmt],
    /// Of each statement that is a call.
    trees: &'a [Option<CallTree>],
}

/// Whether statements read and write a container.
#[derive(Clone, Copy, Debug, Default)]
struct TreeAccess {
    is_read: bool,
    is_written: bool,
}

struct SplicedGroup {
    tree: Tree,
    params: Vec<GroupParam>,
    signature: Vec<Param>,
    order: ProgramOrder,
    statements: Vec<GroupStatement>,
    /// Of each container of the program that is touched.
    containers: BTreeMap<Handle<ProgramContainer>, Handle<Container>>,
}

/// The scalar of a statement's parameter. Where several parameters have the same value, they share one.
struct GroupScalar<'a> {
    /// How many statements before it give a scalar another value.
    n_lets: usize,
    expr: Option<&'a ScalarExpr>,
    dtype: DType,
    handle: Handle<Container>,
}

impl<'a> GroupTree<'a> {
    fn spliced(
        &self,
        locals: &BTreeSet<Handle<ProgramContainer>>,
        access: &BTreeMap<Handle<ProgramContainer>, TreeAccess>,
    ) -> Result<SplicedGroup, String> {
        let mut declared = GroupDeclarations { group: self, names: BTreeSet::new(), made: Arena::default() };
        let (mut params, mut signature) = (Vec::new(), Vec::new());
        let mut containers = BTreeMap::new();
        let touched = touched_in(self.program, self.body);
        for &handle in touched.difference(locals) {
            let access =
                access.get(&handle).copied().unwrap_or(TreeAccess { is_read: true, is_written: true });
            let (own, param) = declared.field(handle, access);
            containers.insert(handle, own);
            params.push(GroupParam::Container(handle));
            signature.push(param);
        }
        let mut scalars: Vec<GroupScalar<'a>> = Vec::new();
        let mut of_statements: Vec<BTreeMap<usize, Handle<Container>>> = Vec::new();
        let mut n_lets = 0;
        for (position, stmt) in self.body.iter().enumerate() {
            let mut own = BTreeMap::new();
            n_lets += usize::from(matches!(stmt.kind, ProgramStmtKind::Let { .. }));
            for (param, name, dtype, expr) in self.scalars_of(position) {
                let is_same = |it: &&GroupScalar<'_>| {
                    it.n_lets == n_lets && it.dtype == dtype && expr.is_some() && it.expr == expr
                };
                let known = scalars.iter().find(is_same).map(|it| it.handle);
                let handle = known.unwrap_or_else(|| {
                    let (handle, of_signature) = declared.scalar(&name, dtype, stmt.span);
                    params.push(GroupParam::Scalar { statement: position, param });
                    signature.push(of_signature);
                    scalars.push(GroupScalar { n_lets, expr, dtype, handle });
                    handle
                });
                own.insert(param, handle);
            }
            of_statements.push(own);
        }
        for &handle in touched.intersection(locals) {
            containers.insert(handle, declared.temporary(handle));
        }
        let mut splice = Splice::new(self.name, declared.made);
        let (mut order, mut statements, mut first) = (ProgramOrder::default(), Vec::new(), 0);
        for (position, (stmt, scalars)) in self.body.iter().zip(&of_statements).enumerate() {
            let elements = |it: &ContainerPart| ContainerElements {
                container: containers[&it.container],
                data_index: it.data_index.clone(),
            };
            let origin = Origin::new(StmtId(first), &[stmt.span]);
            let mut at = GroupStatement { first, position, origin: [0; 3] };
            let added = match &stmt.kind {
                ProgramStmtKind::Call(call) => {
                    let Some(tree) = &self.trees[position] else { continue };
                    let place = self.placement(call, &containers, scalars, first);
                    at.origin = place.origin;
                    order.append(&tree.front.order(), first);
                    first += tree.n_statements;
                    splice.stencil(&tree.tree, &place)
                }
                ProgramStmtKind::Copy { from, to } if from != to => {
                    first += 1;
                    splice.copy(&elements(from), &elements(to), &origin)
                }
                ProgramStmtKind::Fill { target, .. } => {
                    first += 1;
                    splice.fill(&elements(target), scalars[&0], &origin)
                }
                _ => continue,
            };
            added.map_err(|it| it.to_string())?;
            statements.push(at);
        }
        Ok(SplicedGroup { tree: splice.finish(), params, signature, order, statements, containers })
    }

    /// The scalars that a statement's code reads: the position of each parameter, its name, its type and its expression.
    fn scalars_of(&self, position: usize) -> Vec<(usize, String, DType, Option<&'a ScalarExpr>)> {
        match &self.body[position].kind {
            ProgramStmtKind::Fill { target, value } => {
                let container = &self.program.containers[target.container];
                vec![(0, format!("{}_value", container.name), container.dtype, Some(value))]
            }
            ProgramStmtKind::Call(call) => {
                let Some(tree) = &self.trees[position] else { return Vec::new() };
                let params = self.program.stencils[call.stencil].params.iter().zip(&call.arguments);
                let is_used = |name: &str| {
                    let name = names::of_container(name);
                    tree.tree
                        .containers
                        .values()
                        .any(|it| it.kind == ContainerKind::Scalar && it.name == name)
                };
                let scalars = params.enumerate().filter_map(|(at, (param, argument))| {
                    let ParamKind::Scalar { dtype, .. } = param.kind else { return None };
                    let expr = match argument {
                        Some(CallArgument::Scalar(expr)) => Some(expr),
                        Some(CallArgument::Field(_)) | None => None,
                    };
                    is_used(&param.name).then(|| (at, param.name.clone(), dtype, expr))
                });
                scalars.collect()
            }
            _ => Vec::new(),
        }
    }

    fn placement(
        &self,
        call: &StencilCall,
        containers: &BTreeMap<Handle<ProgramContainer>, Handle<Container>>,
        scalars: &BTreeMap<usize, Handle<Container>>,
        first_statement: u32,
    ) -> StencilPlacement {
        let stencil = &self.program.stencils[call.stencil];
        let mut place = StencilPlacement {
            origin: stencil.origin,
            domain: stencil.domain.map(affine),
            fields: BTreeMap::new(),
            scalars: BTreeMap::new(),
            first_statement,
        };
        for (at, param) in stencil.params.iter().enumerate() {
            let name = names::of_container(&param.name);
            if let Some(part) = call.field(at) {
                if let Some(&container) = containers.get(&part.container) {
                    let origin = stencil.origin_of(&param.name);
                    let field = FieldPlacement { container, origin, data_index: part.data_index.clone() };
                    place.fields.insert(name, field);
                }
            } else if let Some(&scalar) = scalars.get(&at) {
                place.scalars.insert(name, scalar);
            }
        }
        place
    }
}

/// The containers of a group's tree, in their order.
struct GroupDeclarations<'g, 'a> {
    group: &'g GroupTree<'a>,
    names: BTreeSet<String>,
    made: Arena<Container>,
}

impl GroupDeclarations<'_, '_> {
    /// A name of the signature whose container has a name of its own.
    fn unused(&mut self, wanted: &str) -> String {
        let wanted = identifier(wanted);
        let mut name = wanted.clone();
        let mut number = 1;
        while !self.names.insert(names::of_container(&name)) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }

    fn field(&mut self, handle: Handle<ProgramContainer>, access: TreeAccess) -> (Handle<Container>, Param) {
        let it = &self.group.program.containers[handle];
        let name = self.unused(&it.name);
        let TreeAccess { is_read, is_written } = access;
        let kind = ContainerKind::Field { is_read, is_written };
        let container = self.container(&name, it, kind);
        let access = if is_written { AccessKind::ReadWrite } else { AccessKind::Read };
        (container, Param { name, kind: it.param_kind(), access, is_keyword_only: false, span: it.span })
    }

    fn temporary(&mut self, handle: Handle<ProgramContainer>) -> Handle<Container> {
        let it = &self.group.program.containers[handle];
        let name = self.unused(&it.name);
        self.container(&name, it, ContainerKind::Temporary)
    }

    fn container(&mut self, name: &str, it: &ProgramContainer, kind: ContainerKind) -> Handle<Container> {
        let origin = it.axes.iter().map(|axis| Affine::constant(it.origin[axis.index()]));
        let data = it.data_dims.iter().map(|&size| Affine::constant(size.into()).into());
        self.made.push(Container {
            name: names::of_container(name),
            dtype: it.dtype,
            kind,
            axes: it.axes,
            shape: it.shape.iter().map(|&size| affine(size).into()).chain(data).collect(),
            shift: origin.chain(it.data_dims.iter().map(|_| Affine::constant(0))).collect(),
            span: it.span,
        })
    }

    fn scalar(&mut self, wanted: &str, dtype: DType, span: Span) -> (Handle<Container>, Param) {
        let name = self.unused(wanted);
        let container = self.made.push(Container {
            name: names::of_container(&name),
            dtype,
            kind: ContainerKind::Scalar,
            axes: AxisSet::of(&[]),
            shape: Vec::new(),
            shift: Vec::new(),
            span,
        });
        let kind = ParamKind::Scalar { dtype, default: None };
        (container, Param { name, kind, access: AccessKind::Read, is_keyword_only: false, span })
    }
}

fn affine(size: AffineSize) -> Affine {
    match size.axis {
        Some(axis) => Affine::beside(&Symbol::new(axis.name()), size.offset),
        None => Affine::constant(size.offset),
    }
}

/// Letters, digits and underscores alone.
fn identifier(name: &str) -> String {
    let letters = name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' });
    let name: String = letters.collect();
    if name.starts_with(|it: char| it.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// How the statements of a tree use each container.
fn accessed(tree: &Tree) -> BTreeMap<Handle<Container>, TreeAccess> {
    let mut found: BTreeMap<_, TreeAccess> = BTreeMap::new();
    let mut visit = |node: &Node| {
        if let Some(expr) = node.expression() {
            accesses(expr, &mut |it| found.entry(it.container).or_default().is_read = true);
        }
        if let Some(target) = node.target() {
            found.entry(target.container).or_default().is_written = true;
            for index in target.index.iter().filter_map(|it| it.found.as_ref()) {
                accesses(index, &mut |it| found.entry(it.container).or_default().is_read = true);
            }
        }
    };
    tree.children.iter().for_each(|it| it.walk(&mut visit));
    found
}

/// The containers that statements touch.
fn touched_in(program: &ProgramIr, body: &[ProgramStmt]) -> BTreeSet<Handle<ProgramContainer>> {
    body.iter().flat_map(|it| it.own_parts(program)).map(|it| it.container).collect()
}

/// The containers that statements outside of a group touch.
fn touched_outside(program: &ProgramIr, number: usize) -> BTreeSet<Handle<ProgramContainer>> {
    fn visit(
        program: &ProgramIr,
        number: usize,
        body: &[ProgramStmt],
        found: &mut BTreeSet<Handle<ProgramContainer>>,
    ) {
        for stmt in body {
            if matches!(stmt.kind, ProgramStmtKind::Group { number: own, .. } if own == number) {
                continue;
            }
            found.extend(stmt.own_parts(program).into_iter().map(|it| it.container));
            stmt.blocks().into_iter().for_each(|it| visit(program, number, it, found));
        }
    }
    let mut found = BTreeSet::new();
    visit(program, number, &program.body, &mut found);
    found
}
