//! The data of the Program IR.

use isobar_ground::call::signature::{Param, ParamKind};
use isobar_ground::diag::Span;
use isobar_ground::entity::{Arena, Handle, Spelled};
use isobar_ground::space::{Axis, AxisSet, Reach};
use isobar_ground::types::{DType, Value};

use crate::plan::ExchangePlan;
use crate::scalar::{ScalarExpr, ScalarVariable};
use crate::size::AffineSize;

/// A model step: statements over containers and scalars, which run one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramIr {
    pub name: String,
    pub grid: ProgramGrid,
    pub containers: Arena<Container>,
    pub scalars: Arena<ScalarVariable>,
    pub stencils: Arena<ProgramStencil>,
    /// Of exchanges between ranks.
    pub plans: Arena<ExchangePlan>,
    pub body: Vec<ProgramStmt>,
}

/// The grid around the compute domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramGrid {
    pub halo: u32,
    /// Whether each edge of the tile is this domain's own.
    pub edges: [bool; 4],
}

/// The names of [`ProgramGrid::edges`].
pub const EDGES: [&str; 4] = ["west", "east", "south", "north"];

/// An array of a program. Containers differ in identity: two of them share no element.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    pub name: String,
    pub role: ContainerRole,
    pub dtype: DType,
    pub axes: AxisSet,
    /// For each of the axes.
    pub shape: Vec<AffineSize>,
    /// The sizes of the dimensions behind the axes.
    pub data_dims: Vec<u32>,
    /// The axes along which its points lie between those of the compute domain: it has one more of them there.
    pub staggered: AxisSet,
    /// The index of the first point of the compute domain along I, J, K; 0 along an axis that it lacks.
    pub origin: [i64; 3],
    pub span: Span,
}

/// Whose a container is, and when it has values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContainerRole {
    /// The caller's; read and written.
    Argument,
    /// The caller's; only read.
    Constant,
    /// The program's, kept between runs; starts with this value.
    State(Value),
    /// The program's, undefined when a run starts.
    Local,
}

/// A stencil on a range.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramStencil {
    pub name: String,
    /// A module and a name in it.
    pub function: String,
    /// Values as JSON writes them, by name, in the order of the document.
    pub externals: Vec<(String, String)>,
    /// The first point of the range, counted from the start of the compute domain.
    pub origin: [i64; 3],
    /// Parameters with another first point.
    pub origins: Vec<(String, [i64; 3])>,
    /// Points along I, J, K.
    pub domain: [AffineSize; 3],
    /// In the order of the definition.
    pub params: Vec<Param>,
    /// Fewer levels than this leave an interval empty or reversed.
    pub min_levels: i64,
    pub span: Span,
}

/// A container, or a part of it at some index of its data dimensions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContainerPart {
    pub container: Handle<Container>,
    /// Of the first data dimensions; empty for the whole container.
    pub data_index: Vec<u32>,
}

/// A statement with its place: its `at`, or its entry of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramStmt {
    pub kind: ProgramStmtKind,
    pub span: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramStmtKind {
    Call(StencilCall),
    /// The bounds are computed once. The variable keeps its last value behind the loop.
    For {
        variable: Handle<ScalarVariable>,
        range: [ScalarExpr; 3],
        body: Vec<ProgramStmt>,
    },
    While {
        condition: ScalarExpr,
        limit: u64,
        body: Vec<ProgramStmt>,
    },
    If {
        condition: ScalarExpr,
        then: Vec<ProgramStmt>,
        otherwise: Vec<ProgramStmt>,
    },
    Let {
        variable: Handle<ScalarVariable>,
        value: ScalarExpr,
    },
    /// All elements of one to the other.
    Copy {
        from: ContainerPart,
        to: ContainerPart,
    },
    Fill {
        target: ContainerPart,
        value: ScalarExpr,
    },
    /// Each has the elements of the other one behind it.
    Swap(ContainerPart, ContainerPart),
    Exchange(HaloExchange),
    /// A callback of the caller's.
    Host {
        name: String,
        reads: Vec<ContainerPart>,
        writes: Vec<ContainerPart>,
        gives: Vec<Handle<ScalarVariable>>,
        /// Whether it touches no field that it does not name.
        is_exact: bool,
    },
    /// Statements that may run as one piece of code, which the pass `group-calls` puts together. They stay in order.
    Group {
        number: usize,
        body: Vec<ProgramStmt>,
    },
    /// Says that a run came here.
    Mark(String),
    /// Ends the run with a message.
    Trap(String),
}

/// A call of a stencil.
#[derive(Clone, Debug, PartialEq)]
pub struct StencilCall {
    pub stencil: Handle<ProgramStencil>,
    /// For each parameter, in order; none where it is left out.
    pub arguments: Vec<Option<CallArgument>>,
}

/// The argument of a call for one parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum CallArgument {
    Field(ContainerPart),
    Scalar(ScalarExpr),
}

/// An exchange of halos, or a phase of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloExchange {
    pub fields: Vec<ContainerPart>,
    pub kind: ExchangeKind,
    /// Points of the halo on each side of I and J.
    pub width: u32,
    pub phase: ExchangePhase,
    /// By which this rank sends to others and receives of them; none where the domain is the only one.
    pub plan: Option<Handle<ExchangePlan>>,
}

/// How the values of neighbours are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExchangeKind {
    Scalar,
    /// A pair, whose components turn between faces.
    Vector,
    /// A pair whose shared edge has one value.
    Interface,
}

/// The phase of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExchangePhase {
    /// Takes the values that neighbours need.
    Start,
    /// Stores those that arrived.
    Wait,
    /// Both.
    Update,
}

impl HaloExchange {
    /// Whether two phases are of one exchange.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.fields, self.kind, self.width, self.plan)
            == (&other.fields, other.kind, other.width, other.plan)
    }
}

impl ExchangeKind {
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Scalar, "scalar"), (Self::Vector, "vector"), (Self::Interface, "interface")];

    /// As the document spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|it| it.0 == self).map_or("", |it| it.1)
    }
}

impl ExchangePhase {
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Start, "start"), (Self::Wait, "wait"), (Self::Update, "update")];

    /// As the document spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|it| it.0 == self).map_or("", |it| it.1)
    }
}

impl Spelled for Container {
    const PREFIX: &'static str = "c";
}
impl Spelled for ProgramStencil {
    const PREFIX: &'static str = "t";
}

impl ContainerRole {
    /// As the document spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ContainerRole::Argument => "argument",
            ContainerRole::Constant => "constant",
            ContainerRole::State(_) => "state",
            ContainerRole::Local => "local",
        }
    }
}

impl Container {
    /// The kind of a parameter that takes all points of the array.
    #[must_use]
    pub fn param_kind(&self) -> ParamKind {
        let mut reach = [Reach::ZERO; 3];
        for (axis, size) in self.axes.iter().zip(&self.shape) {
            let number = |it: i64| i32::try_from(it).unwrap_or(i32::MAX);
            let before = self.origin[axis.index()];
            reach[axis.index()] = Reach::new(-number(before), number(size.offset - before));
        }
        ParamKind::Field {
            axes: self.axes,
            data_dims: self.data_dims.clone(),
            dtype: self.dtype,
            boundary: reach,
            reach,
        }
    }

    /// The index behind its last own point along I or J. Its halo starts there.
    #[must_use]
    pub fn end_of_points(&self, axis: Axis) -> AffineSize {
        AffineSize::along(axis).moved(self.origin[axis.index()] + i64::from(self.staggered.has(axis)))
    }
}

impl ContainerPart {
    /// Whether they share some elements, and not all.
    #[must_use]
    pub fn overlaps_in_part(&self, other: &Self) -> bool {
        let n = self.data_index.len().min(other.data_index.len());
        self.container == other.container
            && self.data_index[..n] == other.data_index[..n]
            && self.data_index.len() != other.data_index.len()
    }

    /// As texts spell it: `tracers[0]`.
    #[must_use]
    pub fn spelled(&self, program: &ProgramIr) -> String {
        let name = &program.containers[self.container].name;
        let index: Vec<String> = self.data_index.iter().map(ToString::to_string).collect();
        if index.is_empty() { name.clone() } else { format!("{name}[{}]", index.join(", ")) }
    }

    /// The data dimensions that are left.
    #[must_use]
    pub fn data_dims<'p>(&self, program: &'p ProgramIr) -> &'p [u32] {
        program.containers[self.container].data_dims.get(self.data_index.len()..).unwrap_or_default()
    }
}

impl ProgramStencil {
    /// The first point of a parameter's range, counted from the start of the compute domain.
    #[must_use]
    pub fn origin_of(&self, param: &str) -> [i64; 3] {
        self.origins.iter().find(|it| it.0 == param).map_or(self.origin, |it| it.1)
    }
}

impl StencilCall {
    /// The part that is passed for a parameter, by its position.
    #[must_use]
    pub fn field(&self, at: usize) -> Option<&ContainerPart> {
        match self.arguments.get(at)? {
            Some(CallArgument::Field(it)) => Some(it),
            Some(CallArgument::Scalar(_)) | None => None,
        }
    }

    /// The fields that the stencil uses, by the position of their parameters.
    pub fn used_fields<'c>(
        &'c self,
        program: &'c ProgramIr,
    ) -> impl Iterator<Item = (usize, &'c Param, &'c ContainerPart)> {
        let params = program.stencils[self.stencil].params.iter().enumerate();
        let used = params.filter(|(_, it)| it.access.is_read() || it.access.is_written());
        used.filter_map(|(at, param)| Some((at, param, self.field(at)?)))
    }
}

impl ProgramStmt {
    /// The bodies inside, in order.
    #[must_use]
    pub fn blocks(&self) -> Vec<&[ProgramStmt]> {
        match &self.kind {
            ProgramStmtKind::For { body, .. }
            | ProgramStmtKind::While { body, .. }
            | ProgramStmtKind::Group { body, .. } => vec![body],
            ProgramStmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<ProgramStmt>> {
        match &mut self.kind {
            ProgramStmtKind::For { body, .. }
            | ProgramStmtKind::While { body, .. }
            | ProgramStmtKind::Group { body, .. } => vec![body],
            ProgramStmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }

    /// The fields that the statement itself touches, without those inside.
    #[must_use]
    pub fn own_parts<'p>(&'p self, program: &'p ProgramIr) -> Vec<&'p ContainerPart> {
        match &self.kind {
            ProgramStmtKind::Call(call) => call.used_fields(program).map(|it| it.2).collect(),
            ProgramStmtKind::Copy { from, to } => vec![from, to],
            ProgramStmtKind::Fill { target, .. } => vec![target],
            ProgramStmtKind::Swap(one, other) => vec![one, other],
            ProgramStmtKind::Exchange(it) => it.fields.iter().collect(),
            ProgramStmtKind::Host { reads, writes, .. } => reads.iter().chain(writes).collect(),
            ProgramStmtKind::For { .. }
            | ProgramStmtKind::While { .. }
            | ProgramStmtKind::If { .. }
            | ProgramStmtKind::Let { .. }
            | ProgramStmtKind::Group { .. }
            | ProgramStmtKind::Mark(_)
            | ProgramStmtKind::Trap(_) => Vec::new(),
        }
    }

    /// Calls `each` for this statement and each one inside.
    pub fn walk<'p>(&'p self, each: &mut dyn FnMut(&'p ProgramStmt)) {
        each(self);
        self.blocks().into_iter().flatten().for_each(|it| it.walk(each));
    }
}
