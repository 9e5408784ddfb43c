//! A program on ranks that cut its domain: each rank is a thread, with its part of the caller's fields.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::run::NoControl;
use isobar_compiler::config::Config;
use isobar_compiler::diag::Diagnostic;
use isobar_compiler::diag::catalog::programs as catalog;
use isobar_compiler::project::Project;
use isobar_compiler::space::{Axis, Domain};
use isobar_program::compile::{ProgramCompilation, ProgramOptions, compile, compile_class};
use isobar_program::decomposition::{RankGrid, planned};
use isobar_program::from_class::ClassRequest;
use isobar_program::group::group_calls;
use isobar_program::interpret::{
    Answers, Callback, HaloFill, MOST_BYTES, ProgramBytes, ProgramInputs, ProgramInstance, ProgramReport,
    ProgramStop, StatementMeasure, StencilInterpreter, StencilRunner,
};
use isobar_program::nodes::{Container, ContainerRole, ProgramIr, ProgramStmtKind};
use isobar_program::overlap::overlap_exchanges;

use isobar_program::stencils::SharedStencils;

use super::executable::{HostedCode, RunSurroundings, refusal};
use super::{ProgramCode, ProgramRefusal, RankThread, Ranks};
use crate::executors::{Executor, OwnedSetting};

/// Interpreters go as deep as expressions are nested.
const STACK_BYTES: usize = 64 << 20;

/// Each rank is a thread.
const MOST_RANKS: u32 = 1024;

/// A program that is ready to run on all ranks of a grid.
#[derive(Debug)]
pub struct CutProgram {
    grid: RankGrid,
    /// The program of one rank, on the whole domain: a field of a cube has its faces as last dimension.
    whole: ProgramIr,
    domain: Domain,
    ranks: Vec<RankProgram>,
    /// One for each set of edges that ranks have.
    compilations: Vec<ProgramCompilation>,
    /// Of all ranks.
    bytes: ProgramBytes,
}

#[derive(Debug)]
struct RankProgram {
    instance: ProgramInstance,
    code: Option<ProgramCode>,
    compilation: usize,
    tile: usize,
    place: [usize; 2],
}

/// The code of a back end: its executor, and where it works. `debug` has none.
pub type CodeSetting = Option<(Arc<dyn Executor>, OwnedSetting)>;

/// The text that the program of each rank is made of.
#[derive(Clone, Copy, Debug)]
pub enum RankSource<'a> {
    /// A document, by its name and its text.
    Document(&'a str, &'a str),
    /// A class. Each rank evaluates the constructor for its own domain and edges, and not for those of the request.
    Class(&'a Project, &'a ClassRequest<'a>),
}

impl RankSource<'_> {
    /// The program of a rank.
    fn compiled(self, of_rank: [i64; 3], options: ProgramOptions) -> ProgramCompilation {
        match self {
            Self::Document(name, text) => compile(name, text, options),
            Self::Class(project, request) => {
                let domain = of_rank.map(|it| u32::try_from(it).unwrap_or(0));
                let own = ClassRequest { domain, edges: options.edges, ..request.clone() };
                compile_class(project, &own, options)
            }
        }
    }

    /// The files of a diagnostic that is about no place in them.
    fn files(self) -> Vec<(String, String)> {
        match self {
            Self::Document(name, text) => vec![(name.to_owned(), text.to_owned())],
            Self::Class(project, _) => {
                project.files.iter().map(|(name, text)| (name.clone(), text.to_string())).collect()
            }
        }
    }
}

/// How a run went.
#[derive(Debug)]
pub struct CutReport {
    /// Of each rank.
    pub reports: Vec<ProgramReport>,
    /// Of the statements of the first rank.
    pub measures: Vec<StatementMeasure>,
}

impl CutProgram {
    /// Compiles the program of each rank, and makes its code. `domain` has the points of a tile, or of a face.
    ///
    /// # Errors
    ///
    /// The faults of the text, those of the domain and its parts, and what the back end cannot do.
    pub fn new(
        source: RankSource<'_>,
        config: &Config,
        (domain, grid): ([i64; 3], RankGrid),
        code: &CodeSetting,
        joins_calls: bool,
    ) -> Result<Self, ProgramRefusal> {
        let refused = |what: &str, help: &str| ProgramRefusal {
            diagnostics: vec![catalog::run_input(what, help)],
            files: source.files(),
        };
        if domain.iter().any(|it| !(1..=Domain::MAX_ALONG_AXIS).contains(it)) {
            let [i, j, k] = domain;
            let help = format!("give from 1 to {} points along each axis", Domain::MAX_ALONG_AXIS);
            return Err(refused(&format!("the domain is {i}x{j}x{k}"), &help));
        }
        let n_ranks = grid.n_ranks();
        if n_ranks > MOST_RANKS {
            let what = format!("the layout has {n_ranks} ranks, and {MOST_RANKS} are the most");
            return Err(refused(&what, "give fewer ranks along I and J"));
        }
        let of_rank = grid.domain_of_rank(domain);
        let of_rank =
            of_rank.map_err(|why| refused(&why, "give a domain that the ranks cut into equal parts"))?;
        let [i, j, k] = of_rank;
        let rank_domain = Domain::new(i, j, k);
        let [i, j, k] = domain;
        let mut compiled: BTreeMap<[bool; 4], usize> = BTreeMap::new();
        let mut compilations: Vec<ProgramCompilation> = Vec::new();
        let shared = SharedStencils::default();
        let (mut ranks, mut bytes) = (Vec::new(), ProgramBytes::default());
        for rank in 0..n_ranks {
            let edges = grid.edges_of_rank(rank, [true; 4]);
            let at = *compiled.entry(edges).or_insert_with(|| {
                let options = ProgramOptions { config: config.clone(), edges, shared: shared.clone() };
                compilations.push(source.compiled(of_rank, options));
                compilations.len() - 1
            });
            let compilation = &mut compilations[at];
            let Some(program) = &compilation.program else {
                let told = compilation.diagnostics.clone();
                return Err(refusal(compilation, told));
            };
            let hosts = hosts(program);
            let mut program = planned(program, &grid, rank, rank_domain)
                .and_then(|it| if hosts.is_empty() { Ok(it) } else { Err(hosts) })
                .map_err(|it| refusal(compilation, it))?;
            let mut code = code.as_ref().map(|(it, setting)| {
                ProgramCode::new(Arc::clone(it), setting.clone(), config.passes.clone())
            });
            if joins_calls && code.as_ref().is_some_and(ProgramCode::joins_calls) {
                group_calls(&mut program);
            }
            // The interpreter keeps the order of the text.
            if code.is_some() {
                overlap_exchanges(&mut program, Answers::Callbacks);
            }
            let own = ProgramBytes::of(&program, rank_domain);
            bytes.given = bytes.given.saturating_add(own.given);
            bytes.own = bytes.own.saturating_add(own.own);
            if bytes.sum() > MOST_BYTES {
                let what = format!("the fields of all ranks take more than {MOST_BYTES} bytes");
                return Err(refused(&what, "give a smaller domain"));
            }
            let fronts = &mut compilation.fronts;
            let made = ProgramInstance::with_callbacks(&program, fronts, of_rank, HaloFill::None, MOST_BYTES);
            let instance = made.map_err(|it| refusal(compilation, it))?;
            if let Some(code) = &mut code {
                code.prepare(&instance).map_err(|why| refused(&why, "run it on another back end"))?;
            }
            let (tile, place) = grid.tile_and_place(rank);
            let (tile, place) = (tile as usize, place.map(|it| it as usize));
            ranks.push(RankProgram { instance, code, compilation: at, tile, place });
        }
        let Some(first) = ranks.first() else { return Err(refused("there are no ranks", "give a layout")) };
        let mut whole = first.instance.program().clone();
        if grid.n_tiles() > 1 {
            for handle in whole.containers.handles().collect::<Vec<_>>() {
                let it = &mut whole.containers[handle];
                if it.axes.has(Axis::I) || it.axes.has(Axis::J) {
                    it.data_dims.push(grid.n_tiles());
                }
            }
        }
        let domain = Domain::new(i, j, k);
        bytes.given = bytes.given.saturating_add(ProgramBytes::of(&whole, domain).given);
        Ok(Self { grid, whole, domain, ranks, compilations, bytes })
    }

    /// The program with the fields that a run is given. On a cube, those with an axis I or J have the six faces as their
    /// last dimension.
    #[must_use]
    pub fn whole(&self) -> &ProgramIr {
        &self.whole
    }

    /// The bytes of the caller's fields with their parts on the ranks, and of the fields that ranks have for themselves.
    #[must_use]
    pub fn bytes(&self) -> ProgramBytes {
        self.bytes
    }

    /// The program of the first rank, whose statements a run measures.
    #[must_use]
    pub fn first(&self) -> Option<&ProgramIr> {
        self.ranks.first().map(|it| it.instance.program())
    }

    /// The compute domain of a rank.
    #[must_use]
    pub fn domain_of_rank(&self) -> [i64; 3] {
        let [i, j] =
            [Axis::I, Axis::J].map(|it| self.domain.along(it) / i64::from(self.grid.layout[it.index()]));
        [i, j, self.domain.along(Axis::K)]
    }

    /// The arguments that a run may write.
    pub fn results(&self) -> impl Iterator<Item = &Container> {
        let written: Vec<String> = self
            .ranks
            .iter()
            .take(1)
            .flat_map(|it| it.instance.results())
            .map(|it| it.name.clone())
            .collect();
        self.whole.containers.values().filter(move |it| written.contains(&it.name))
    }

    /// The warnings about the document.
    #[must_use]
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.compilations.first().map(|it| it.diagnostics.clone()).unwrap_or_default()
    }

    /// Runs the program once on all ranks, and stores the parts of each in the caller's fields. `now` tells milliseconds.
    ///
    /// # Errors
    ///
    /// Inputs that do not fit, and the reason why the first rank that ended early did so. The fields are as before then.
    pub fn run(
        &mut self,
        inputs: &mut ProgramInputs,
        now: &(dyn Fn() -> f64 + Sync),
    ) -> Result<CutReport, ProgramRefusal> {
        self.check(inputs)?;
        let n = u32::try_from(self.ranks.len()).unwrap_or(u32::MAX);
        let mailboxes = Ranks::new(n);
        let parts: Vec<ProgramInputs> = self.ranks.iter().map(|it| self.part(inputs, it)).collect();
        // In the order in which ranks ended: the others may have ended for lack of messages.
        let ended = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for ((rank, it), mut part) in (0..n).zip(&mut self.ranks).zip(parts) {
                let (ended, mailboxes) = (&ended, &mailboxes);
                let work = move || {
                    let mut transport = RankThread::new(mailboxes.clone(), rank);
                    // A rank that crashed sends nothing more, and others must not wait for it.
                    let answer = catch_unwind(AssertUnwindSafe(|| it.run(&mut part, &mut transport, now)));
                    let crashed = || {
                        let help = "report this program: the fault is the compiler's";
                        ProgramStop::Fault(vec![catalog::run_input("a rank crashed", help)])
                    };
                    let answer = answer.unwrap_or_else(|_| Err(crashed()));
                    ended.lock().unwrap_or_else(PoisonError::into_inner).push((rank, part, answer));
                    mailboxes.end(rank);
                };
                let name = format!("rank {rank}");
                let thread = thread::Builder::new().name(name).stack_size(STACK_BYTES);
                // A rank that has no thread sends nothing, and the others are told.
                if thread.spawn_scoped(scope, work).is_err() {
                    mailboxes.end(rank);
                }
            }
        });
        let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((rank, _, Err(stop))) = ended.iter().find(|it| it.2.is_err()) {
            let told = match stop {
                ProgramStop::Fault(told) => told.clone(),
                ProgramStop::Cancelled => vec![catalog::run_input("the run was cancelled", "run it again")],
            };
            let compilation = self.ranks[*rank as usize].compilation;
            return Err(refusal(&self.compilations[compilation], told));
        }
        ended.sort_by_key(|it| it.0);
        if ended.len() != self.ranks.len() {
            return Err(self.refused("a rank has no thread", "give a layout with fewer ranks"));
        }
        self.gather(inputs, &ended.iter().map(|it| &it.1).collect::<Vec<_>>())?;
        let mut answer = CutReport { reports: Vec::new(), measures: Vec::new() };
        for (rank, _, ended) in ended {
            if let Ok((report, measures)) = ended {
                answer.reports.push(report);
                if rank == 0 {
                    answer.measures = measures;
                }
            }
        }
        Ok(answer)
    }

    fn refused(&self, what: &str, help: &str) -> ProgramRefusal {
        refusal(&self.compilations[0], vec![catalog::run_input(what, help)])
    }

    /// Inputs that have no part for each rank; ranks tell the others.
    fn check(&self, inputs: &ProgramInputs) -> Result<(), ProgramRefusal> {
        for it in given(&self.whole) {
            let Some(array) = inputs.fields.get(&it.name) else { continue };
            let shape = shape_of(it, self.domain);
            if array.shape != shape || array.dtype() != it.dtype {
                let what = format!(
                    "`{}` is an array of {} with the shape {:?}, and the program needs {} and {shape:?}",
                    it.name,
                    array.dtype(),
                    array.shape,
                    it.dtype
                );
                return Err(self.refused(&what, "give the field of all ranks, with the halo around it"));
            }
        }
        Ok(())
    }

    /// The box of a field that a rank has, in the whole: its start and its shape.
    fn part_box(&self, it: &Container, rank: &RankProgram) -> (Vec<usize>, Vec<usize>) {
        let (mut start, mut shape) = (Vec::new(), Vec::new());
        for (axis, size) in it.axes.iter().zip(&it.shape) {
            let whole = usize::try_from(size.on(self.domain)).unwrap_or(0);
            let Some(at) = self.cut_axis(it, axis) else {
                start.push(0);
                shape.push(whole);
                continue;
            };
            let points = self.points_of_rank(at);
            start.push(rank.place[at] * points);
            shape.push(whole - (self.grid.layout[at] as usize - 1) * points);
        }
        for &n in &it.data_dims {
            start.push(0);
            shape.push(n as usize);
        }
        if self.has_faces(it) {
            start.pop();
            shape.pop();
            start.push(rank.tile);
            shape.push(1);
        }
        (start, shape)
    }

    fn has_faces(&self, it: &Container) -> bool {
        self.grid.n_tiles() > 1 && (it.axes.has(Axis::I) || it.axes.has(Axis::J))
    }

    /// Whether several ranks have one part of a field: it lacks an axis along which they cut, or the faces.
    fn is_shared(&self, it: &Container) -> bool {
        let axes = [Axis::I, Axis::J].into_iter().zip(self.grid.layout);
        let lacks = |(axis, ranks): (Axis, u32)| ranks > 1 && self.cut_axis(it, axis).is_none();
        self.grid.n_tiles() > 1 && !self.has_faces(it) || axes.into_iter().any(lacks)
    }

    fn points_of_rank(&self, axis: usize) -> usize {
        let whole = self.domain.along([Axis::I, Axis::J][axis]);
        usize::try_from(whole / i64::from(self.grid.layout[axis])).unwrap_or(0)
    }

    /// 0 for I and 1 for J, where a field grows with the domain along it.
    fn cut_axis(&self, it: &Container, axis: Axis) -> Option<usize> {
        let at = it.axes.iter().position(|other| other == axis)?;
        (axis != Axis::K && it.shape[at].axis == Some(axis)).then_some(axis.index())
    }

    fn part(&self, inputs: &ProgramInputs, rank: &RankProgram) -> ProgramInputs {
        let part = |(name, whole): (&String, &Array)| {
            let it = given(&self.whole).find(|it| it.name == *name);
            let part = it.and_then(|it| {
                let (start, mut shape) = self.part_box(it, rank);
                let elements = whole.c_order(whole.position(&start), &shape);
                if self.has_faces(it) {
                    shape.pop();
                }
                Array::from_c_order(elements, &shape)
            });
            // Ranks tell of a field that the program does not take.
            (name.clone(), part.unwrap_or_else(|| Array::zeros(whole.dtype(), &[])))
        };
        ProgramInputs { fields: inputs.fields.iter().map(part).collect(), scalars: inputs.scalars.clone() }
    }

    /// Stores what the ranks have written. Each gives its own points, and the halo where it has an edge of the tile.
    fn gather(&self, inputs: &mut ProgramInputs, parts: &[&ProgramInputs]) -> Result<(), ProgramRefusal> {
        for it in self.results() {
            let Some(whole) = inputs.fields.get_mut(&it.name) else { continue };
            // Ranks that have one part of a field must agree on it.
            let mut shared: BTreeMap<Vec<usize>, Elements> = BTreeMap::new();
            for (rank, part) in self.ranks.iter().zip(parts) {
                let Some(array) = part.fields.get(&it.name) else { continue };
                let (at, held) = self.part_box(it, rank);
                let (mut from, mut n) = (vec![0; held.len()], held.clone());
                for (dimension, axis) in it.axes.iter().enumerate() {
                    let Some(cut) = self.cut_axis(it, axis) else { continue };
                    let origin = usize::try_from(it.origin[axis.index()]).unwrap_or(0);
                    let is_last = rank.place[cut] + 1 == self.grid.layout[cut] as usize;
                    let first = if rank.place[cut] == 0 { 0 } else { origin };
                    let end = if is_last { held[dimension] } else { origin + self.points_of_rank(cut) };
                    from[dimension] = first.min(end);
                    n[dimension] = end.saturating_sub(first);
                }
                if self.is_shared(it) {
                    let mine = array.c_order(array.first, &array.shape);
                    let same = shared.entry(at.clone()).or_insert_with(|| mine.clone());
                    if same.to_le_bytes() != mine.to_le_bytes() {
                        let what =
                            format!("several ranks have one part of `{}`, and wrote it differently", it.name);
                        return Err(self.refused(&what, "run it on one rank, or give it the axes I and J"));
                    }
                }
                let to: Vec<usize> = at.iter().zip(&from).map(|(at, from)| at + from).collect();
                let strides = whole.strides.clone();
                let start = whole.position(&to);
                let (mut from, mut source) = (from, array.strides.clone());
                if self.has_faces(it) {
                    from.pop();
                    source.push(0);
                }
                whole.copy_box((start, &strides), (array, array.position(&from), &source), &n);
            }
        }
        Ok(())
    }
}

impl RankProgram {
    fn run(
        &mut self,
        part: &mut ProgramInputs,
        transport: &mut RankThread,
        now: &(dyn Fn() -> f64 + Sync),
    ) -> Result<(ProgramReport, Vec<StatementMeasure>), ProgramStop> {
        let mut host = |_: &mut Callback<'_>| Err("no run of the command line answers it".to_owned());
        let around = RunSurroundings { host: &mut host, transport: Some(transport) };
        let runner: &mut dyn StencilRunner = match &mut self.code {
            Some(code) => code,
            None => &mut StencilInterpreter,
        };
        let mut runner = HostedCode { code: runner, around };
        self.instance.run_measured(part, &mut runner, &mut NoControl, &|| now())
    }
}

/// The fields that a run is given.
fn given(program: &ProgramIr) -> impl Iterator<Item = &Container> {
    let is_given = |it: &&Container| matches!(it.role, ContainerRole::Argument | ContainerRole::Constant);
    program.containers.values().filter(is_given)
}

/// The callbacks of a program, which nothing answers here.
fn hosts(program: &ProgramIr) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if let ProgramStmtKind::Host { name, .. } = &stmt.kind {
                let why = "this compiler calls nothing outside of a program";
                wrong.push(catalog::unsupported(&format!("the callback `{name}`"), why, stmt.span));
            }
        });
    });
    wrong
}

fn shape_of(it: &Container, domain: Domain) -> Vec<usize> {
    let of_axes = it.shape.iter().map(|it| usize::try_from(it.on(domain)).unwrap_or(0));
    of_axes.chain(it.data_dims.iter().map(|&it| it as usize)).collect()
}
