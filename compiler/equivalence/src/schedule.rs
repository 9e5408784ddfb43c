//! The schedule tree, run as it stands.

use super::machine;
use super::memory::symbols_of_call;
use super::program::{
    Assign, Container, ContainerKind, Element, ElementExpr, ElementIndex, If, IterationOrder, Leaf, Loop,
    Measures, Program, RangeGuard, RegionScope, Stage, Step, Sum, Symbols, While, used,
};
use super::run::{Options, Stop, Writers};
use isobar_compiler::call::launch::Launch;
use isobar_compiler::diag::ProgramOrder;
use isobar_compiler::expr::ExprKind;
use isobar_compiler::schedule::nodes::{self as schedule, Node, Placement, Storage, Tree};
use isobar_compiler::space::order::{greatest, least};
use isobar_compiler::space::{Affine, Symbol, names};

/// Runs a schedule tree. `params` are the names of the arguments of `launch`, whose arrays are updated in place.
/// `order` is that of the text, by which the first of several places is found where the run must end.
///
/// # Errors
///
/// When a fault of the stencil or of the tree ended the run early.
pub fn run(
    tree: &Tree,
    params: &[&str],
    order: &ProgramOrder,
    launch: &mut Launch,
    options: &Options,
) -> Result<Writers, Stop> {
    if launch.domain.points() == 0 {
        return Ok(Writers::default());
    }
    let program = prepared(tree, params, launch)?;
    machine::run(&program, order, launch, options)
}

fn prepared(tree: &Tree, params: &[&str], launch: &Launch) -> Result<Program, Stop> {
    let argument = |it: &schedule::Container| {
        let is_argument =
            matches!(it.kind, schedule::ContainerKind::Field { .. } | schedule::ContainerKind::Scalar);
        let at = params.iter().position(|name| *name == names::of_stencil(&it.name));
        is_argument.then_some(at).flatten()
    };
    let arguments = tree.containers.iter().filter_map(|(_, it)| Some((&*it.name, it.axes, argument(it)?)));
    let symbols = symbols_of_call(launch, arguments);
    let mut lowering = Lowering { tree, symbols, program: Program::default() };
    for (_, it) in tree.containers.iter() {
        let kind = match (it.kind, &it.storage, argument(it)) {
            (_, _, Some(at)) => ContainerKind::Argument(at),
            (schedule::ContainerKind::Field { .. } | schedule::ContainerKind::Scalar, ..) => {
                return Err(Stop::Fault(format!("`{}` is no parameter of the stencil", it.name)));
            }
            (_, Storage::Register, None) => ContainerKind::Register,
            (_, Storage::Private(_), None) => ContainerKind::Private,
            (_, Storage::Caller | Storage::Heap, None) => ContainerKind::Kept,
        };
        let (name, dtype, axes) = (it.name.clone(), it.dtype, it.axes.iter().collect());
        let (shape, shift) = match kind {
            // Its loop gives it its measures.
            ContainerKind::Private => Measures::default(),
            _ => lowering.symbols.measures(&it.shape, &it.shift)?,
        };
        let ring = it.ring;
        lowering.program.containers.push(Container {
            name,
            dtype,
            kind,
            axes,
            shape,
            shift,
            ring,
            is_shared: false,
        });
    }
    for (place, node) in tree.children.iter().enumerate() {
        let step = lowering.step(node)?;
        lowering.program.stages.push(Stage { parts: vec![(place, vec![step])] });
    }
    lowering.program.place_registers();
    Ok(lowering.program)
}

/// Whether a node is a stage over the same positions as another one.
fn is_stage_like(node: &Node, first: &schedule::Loop) -> bool {
    let Node::Loop(it) = node else { return false };
    let inner = |it: &schedule::Loop| match it.children.as_slice() {
        [Node::Loop(only)] if only.placement == Placement::Block => Some(only.variable.clone()),
        _ => None,
    };
    it.placement == Placement::Block && it.variable == first.variable && inner(it) == inner(first)
}

/// The stages between two barriers as threads run them: each does all of them at its position before, or after, another
/// thread does any. So what needs a barrier and has none shows.
///
/// ```text
/// block i in [-1, I + 1): a            block i in [-1, I + 1):
/// block i in [0, I): b          is       a
///                                        where i in [0, I): b
/// ```
fn by_thread(stages: &[&Node]) -> Option<Node> {
    let loops: Vec<&schedule::Loop> = stages
        .iter()
        .map(|it| if let Node::Loop(it) = it { Some(it) } else { None })
        .collect::<Option<_>>()?;
    let first = loops.first().filter(|_| loops.len() > 1)?;
    let bounds = loops.iter().map(|it| (it.start.clone(), it.end.clone()));
    let (start, end) = bounds.reduce(|a, b| (least(&a.0, &b.0), greatest(&a.1, &b.1)))?;
    let children = match first.children.as_slice() {
        [Node::Loop(only)] if only.placement == Placement::Block => {
            // The limits of the outer loop go where the inner one's are.
            let inner: Vec<Node> = loops
                .iter()
                .filter_map(|it| match it.children.as_slice() {
                    [Node::Loop(inner)] => Some(Node::Loop(schedule::Loop {
                        children: vec![limited(it, inner.children.clone())],
                        ..inner.clone()
                    })),
                    _ => None,
                })
                .collect();
            vec![by_thread(&inner.iter().collect::<Vec<_>>())?]
        }
        _ => loops.iter().map(|it| limited(it, it.children.clone())).collect(),
    };
    Some(Node::Loop(schedule::Loop { start, end, children, ..(*first).clone() }))
}

/// Nodes where a loop has its positions.
fn limited(it: &schedule::Loop, children: Vec<Node>) -> Node {
    let (variable, start, end) = (it.variable.clone(), it.start.clone(), it.end.clone());
    Node::Where(schedule::Where { variable, start, end, children })
}

struct Lowering<'t> {
    tree: &'t Tree,
    symbols: Symbols,
    program: Program,
}

impl Lowering<'_> {
    fn steps(&mut self, nodes: &[Node]) -> Result<Vec<Step>, Stop> {
        let mut steps = Vec::new();
        let mut rest = nodes;
        while let Some((node, behind)) = rest.split_first() {
            rest = behind;
            match node {
                // Steps between two barriers end before those behind them anyway, so a barrier needs no step.
                Node::Barrier => {}
                Node::Loop(it) if it.placement == Placement::Block => {
                    let n = behind.iter().take_while(|node| is_stage_like(node, it)).count();
                    let interval: Vec<&Node> = std::iter::once(node).chain(&behind[..n]).collect();
                    rest = &behind[n..];
                    match by_thread(&interval) {
                        Some(all) => steps.push(self.step(&all)?),
                        None => steps.push(self.step(node)?),
                    }
                }
                _ => steps.push(self.step(node)?),
            }
        }
        Ok(steps)
    }

    fn step(&mut self, node: &Node) -> Result<Step, Stop> {
        Ok(match node {
            Node::Loop(it) => self.looped(it)?,
            Node::If(it) => Step::If(If {
                branches: vec![(self.code(&it.condition)?, self.steps(&it.then)?)],
                otherwise: self.steps(&it.otherwise)?,
                origin: Some(it.origin.clone()),
            }),
            Node::While(it) => Step::While(While {
                condition: self.code(&it.condition)?,
                body: self.steps(&it.body)?,
                origin: it.origin.clone(),
            }),
            Node::Region(it) => Step::Region(RegionScope {
                region: it.region,
                body: self.steps(&it.children)?,
                origin: it.origin.clone(),
            }),
            Node::Where(it) => Step::Within(RangeGuard {
                variable: self.symbols.sum(&Affine::symbol(&it.variable))?,
                start: self.symbols.bound(&it.start)?,
                end: self.symbols.bound(&it.end)?,
                body: self.steps(&it.children)?,
            }),
            Node::Barrier => return Err(Stop::Fault("a barrier is no step".to_owned())),
            Node::Assign(it) => Step::Assign(Assign {
                target: self.element(&it.target)?,
                value: self.code(&it.value)?,
                origin: it.origin.clone(),
            }),
        })
    }

    fn looped(&mut self, it: &schedule::Loop) -> Result<Step, Stop> {
        let (start, end) = (self.symbols.bound(&it.start)?, self.symbols.bound(&it.end)?);
        let variable = self.program.n_variables;
        self.program.n_variables += 1;
        let outer = self.symbols.set(&it.variable, Sum::variable(variable));
        let mut body = self.steps(&it.children)?;
        let fresh = self.private_arrays(&it.variable, &body)?;
        if !fresh.is_empty() {
            body.insert(0, Step::Fresh(fresh));
        }
        self.symbols.restore(&it.variable, outer);
        let order = match it.order {
            schedule::Order::Parallel => IterationOrder::Parallel,
            schedule::Order::Ascending => IterationOrder::Ascending,
            schedule::Order::Descending => IterationOrder::Descending,
        };
        let (axis, stride) = (it.axis, it.step);
        Ok(Step::Loop(Loop { variable, axis, start, end, stride, order, repeats: false, body }))
    }

    /// The arrays that each iteration of a loop has for itself; these get the size that they have there.
    fn private_arrays(&mut self, variable: &Symbol, body: &[Step]) -> Result<Vec<usize>, Stop> {
        let mut fresh = Vec::new();
        let mut is_used = None;
        for (handle, it) in self.tree.containers.iter() {
            if !matches!(&it.storage, Storage::Private(owner) if owner == variable) {
                continue;
            }
            // Other loops may have the same variable.
            let is_used = is_used.get_or_insert_with(|| used(body, self.program.containers.len()));
            if is_used[handle.index()] {
                let measures = self.symbols.measures(&it.shape, &it.shift)?;
                let container = &mut self.program.containers[handle.index()];
                (container.shape, container.shift) = measures;
                fresh.push(handle.index());
            }
        }
        Ok(fresh)
    }

    fn element(&self, access: &schedule::Access) -> Result<Element, Stop> {
        let at = |it: &schedule::Subscript| {
            let found = it.found.as_ref().map(|it| self.code(it).map(Box::new)).transpose()?;
            Ok(ElementIndex { known: self.symbols.sum(&it.known)?, found })
        };
        let index = access.index.iter().map(at).collect::<Result<_, Stop>>()?;
        Ok(Element { container: access.container.index(), index })
    }

    fn code(&self, expr: &schedule::Expr) -> Result<ElementExpr, Stop> {
        // The leaf cannot fail where it stands.
        let mut wrong = None;
        let code = expr.map_reads(&mut |access, _| match self.element(access) {
            Ok(element) => ExprKind::Access(Leaf::Element(element)),
            Err(why) => {
                wrong.get_or_insert(why);
                ExprKind::Access(Leaf::Sum(Sum::constant(0)))
            }
        });
        wrong.map_or(Ok(code), Err)
    }
}
