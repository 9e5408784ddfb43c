//! Arrays that do not lie along i: whether loops are turned for them, or fields copied into rows.
//!
//! Generated loops have their lanes along i, where neighbours lie side by side in our own fields. Callers
//! have other fields: those of NumPy lie along k. There are three ways, and each call takes the one expected
//! to be fastest:
//!
//! - **as they are given**: the code has the strides of the caller;
//! - **turned**: I and K change places, and the lanes lie along k ([`isobar_compiler::schedule::turn`]). This
//!   needs a stencil whose levels have no order;
//! - **copied** ([`copies`]): the fields that do not lie along i are copied by blocks before the call, and
//!   back after it. Where rows along j are independent, a call copies and computes some rows after the others
//!   ([`slabs`]).

mod blocks;
mod copies;
mod own;
mod slabs;

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::call::signature::{Param, ParamKind, Signature};
use isobar_compiler::pass::MachineModel;
use isobar_compiler::schedule::analysis::cost::{Cost, Machine};
use isobar_compiler::space::Domain;
use serde::{Deserialize, Serialize};

pub(super) use self::copies::bytes;
use self::copies::{Move, moves};
pub use self::copies::{along, in_rows};
use self::slabs::{SlabSizes, Slabs};
use super::pool::RunThreads;
use super::{Caller, Code, Failure, OwnedSetting, Progress, Relayout, Setting};
use crate::events::{self, Event, Sink};
use crate::plans::PlanHandle;
use crate::store::{Store, StoreEntry};

/// A maker of code for the arrays of one order.
pub(super) trait CodeMaker: Copy + Send + Sync + 'static {
    /// Makes the code of a plan.
    ///
    /// # Errors
    ///
    /// Where there is nothing to run, or the machine refuses.
    fn code(self, plan: &PlanHandle, setting: Setting<'_>, sink: Sink<'_>) -> Result<Arc<dyn Code>, Failure>;
}

/// The code of a plan for arrays of any order.
///
/// # Errors
///
/// Those of [`CodeMaker::code`].
pub(super) fn code(
    maker: impl CodeMaker,
    plan: &PlanHandle,
    setting: Setting<'_>,
    sink: Sink<'_>,
) -> Result<Arc<dyn Code>, Failure> {
    let code = maker.code(plan, setting, sink)?;
    if setting.relayout == Relayout::Never {
        return Ok(code);
    }
    let of_stencil = plan.ready_plan()?;
    let machine = plan.variant().machine.clone();
    Ok(Arc::new(AnyOrder {
        maker,
        code,
        alone: of_stencil.has_rows_apart.then(OnceLock::new),
        signature: of_stencil.contract.signature.clone(),
        plan: plan.clone(),
        along_k: plan.along_k(),
        code_along_k: OnceLock::new(),
        setting: OwnedSetting::of(setting),
        near: RunThreads::beside(setting.threads, setting.is_embedded),
        stream_from: machine
            .as_ref()
            .map_or(MachineModel::STREAM_FROM_BYTES, MachineModel::stream_from_bytes),
        machine,
        ways: Store::default(),
    }))
}

/// The code of a stencil, and the choice of a plan and of copies for each call.
struct AnyOrder<M> {
    maker: M,
    /// For arrays as the plan has them.
    code: Arc<dyn Code>,
    /// The same for one thread, made when a call first needs it; for stencils that may be called slab by
    /// slab.
    alone: Option<OnceLock<Result<Arc<dyn Code>, Failure>>>,
    signature: Signature,
    plan: PlanHandle,
    /// The machine of the schedule.
    machine: Option<MachineModel>,
    setting: OwnedSetting,
    near: RunThreads,
    /// Copies of at least so many bytes use non-temporal stores: caches would not hold them until they are
    /// read.
    stream_from: u64,
    /// The plan with the axes I and K exchanged.
    along_k: PlanHandle,
    /// Made when a call first needs it.
    code_along_k: OnceLock<Result<Arc<dyn Code>, Failure>>,
    /// By the arrays of a call: choosing takes longer than many a call.
    ways: Store<TreatmentKey, CallTreatment>,
}

/// How a call is made.
enum CallTreatment {
    AsGiven,
    Copied(Vec<Option<Move>>),
    /// Slab by slab: with copies of some rows along j after the others.
    InSlabs(Slabs),
    /// With copies of the fields that lie along neither of the two axes.
    Turned(Vec<Option<Move>>),
}

/// A way by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum TreatmentKind {
    AsGiven,
    Copied,
    InSlabs,
    Turned,
}

impl CallTreatment {
    fn name(&self) -> TreatmentKind {
        match self {
            CallTreatment::AsGiven => TreatmentKind::AsGiven,
            CallTreatment::Copied(_) => TreatmentKind::Copied,
            CallTreatment::InSlabs(_) => TreatmentKind::InSlabs,
            CallTreatment::Turned(_) => TreatmentKind::Turned,
        }
    }
}

impl<M: CodeMaker> AnyOrder<M> {
    /// Chooses the way of a launch. `moves` are the copies that the code for arrays along i needs. A choice
    /// that another process stored is taken as it is.
    fn way(&self, launch: &Launch, moves: Vec<Option<Move>>) -> CallTreatment {
        if moves.is_empty() {
            return CallTreatment::AsGiven;
        }
        let Some(section) = self.plan.section() else { return self.best_way(launch, moves) };
        let mut made = None;
        let chosen: Result<TreatmentKind, Infallible> =
            section.get_or_make("way", &TreatmentKey::of(launch).in_words(), || {
                let way = made.insert(self.best_way(launch, moves.clone()));
                Ok(way.name())
            });
        let Ok(chosen) = chosen;
        if let Some(way) = made {
            return way;
        }
        match chosen {
            TreatmentKind::AsGiven => CallTreatment::AsGiven,
            TreatmentKind::Copied => CallTreatment::Copied(moves),
            TreatmentKind::InSlabs => {
                self.slabs(launch, self.sizes()).map_or(CallTreatment::Copied(moves), CallTreatment::InSlabs)
            }
            TreatmentKind::Turned => CallTreatment::Turned(self.moves_of_turned(launch)),
        }
    }

    /// The copies that the turned code needs.
    fn moves_of_turned(&self, launch: &Launch) -> Vec<Option<Move>> {
        let arguments = turned_outlines(&self.signature.params, &launch.arguments);
        let params = self.signature.turned().params;
        copies::moves(&params, self.setting.relayout, launch.domain.turned(), &arguments)
    }

    fn best_way(&self, launch: &Launch, moves: Vec<Option<Move>>) -> CallTreatment {
        let how = self.setting.relayout;
        if how == Relayout::Slabs {
            return self
                .slabs(launch, SlabSizes { of_slab: 1, of_thread: 1 })
                .map_or(CallTreatment::Copied(moves), CallTreatment::InSlabs);
        }
        if how == Relayout::Copies {
            return CallTreatment::Copied(moves);
        }
        let domain = launch.domain.turned();
        let still_moved = self.along_k.is_whole().then(|| self.moves_of_turned(launch));
        if how == Relayout::Turns {
            return still_moved.map_or(CallTreatment::Copied(moves), CallTreatment::Turned);
        }
        let machine = |Domain { i, j, k }: Domain| {
            let of_model = self.machine.as_ref().map_or(Machine::CPU, Machine::of);
            Machine { domain: [i, j, k], ..of_model }
        };
        let here = machine(launch.domain);
        let Some(expected) = self.plan.cost_of_call(&here) else { return CallTreatment::Copied(moves) };
        let cost_here = expected.cost;
        // Copies move whole fields. A call on fields as given moves only the points that it uses.
        let bytes = APART * cost_here.bytes * expected.touched_part;
        let as_given = Cost { bytes, operations: APART * cost_here.operations };
        let as_given = as_given.time(&here);
        let copied = cost_here.time(&here) + time_of(&moves, &here);
        let slabs = self.slabs(launch, self.sizes()).map(|it| (it.time(cost_here.operations, &here), it));
        let slabs = slabs.filter(|it| it.0 < copied);
        let copied = slabs.as_ref().map_or(copied, |it| it.0);
        let turned = still_moved.and_then(|still| {
            let there = machine(domain);
            let expected = self.along_k.cost_of_call(&there)?;
            Some((expected.cost.time(&there) + time_of(&still, &there), still))
        });
        match turned {
            Some((time, still)) if time <= copied.min(as_given) => CallTreatment::Turned(still),
            _ if as_given < copied => CallTreatment::AsGiven,
            _ => slabs.map_or(CallTreatment::Copied(moves), |it| CallTreatment::InSlabs(it.1)),
        }
    }

    /// The sizes of the slabs that are expected to be fastest.
    fn sizes(&self) -> SlabSizes {
        SlabSizes { of_slab: self.slab_bytes(), of_thread: THREAD_BYTES }
    }

    /// The slabs of a call.
    fn slabs(&self, launch: &Launch, sizes: SlabSizes) -> Option<Slabs> {
        self.alone.as_ref().and_then(|_| Slabs::of(&self.signature.params, launch, sizes))
    }

    /// The bytes of the second cache that copies of a slab may take: half of it. The rest is for temporaries,
    /// and for reads of the next slab.
    fn slab_bytes(&self) -> u64 {
        let known = self.machine.as_ref().and_then(MachineModel::core_cache_bytes);
        known.unwrap_or(MachineModel::CORE_CACHE_BYTES) / 2
    }

    /// Code for one thread.
    fn code_alone(&self, sink: Sink<'_>) -> Result<Arc<dyn Code>, Failure> {
        let missing = || Failure::Machine("rows are not apart from each other".to_owned());
        let alone = self.alone.as_ref().ok_or_else(missing)?;
        let make = || match self.setting.threads {
            1 => Ok(Arc::clone(&self.code)),
            // Embedded, so that no thread of this process is moved.
            _ => {
                let setting = Setting { threads: 1, is_embedded: true, ..self.setting.borrow() };
                self.maker.code(&self.plan, setting, sink)
            }
        };
        alone.get_or_init(make).clone()
    }

    /// Code for arrays whose neighbours along K lie side by side.
    fn code_along_k(&self, sink: Sink<'_>) -> Result<Arc<dyn Code>, Failure> {
        let make = || self.maker.code(&self.along_k, self.setting.borrow(), sink);
        self.code_along_k.get_or_init(make).clone()
    }
}

/// The factor by which bytes and arithmetic take longer where neighbours along i lie apart. Most of each line
/// that is read is of no use then, and nothing runs in lanes.
const APART: f64 = 4.0;

/// Waking a thread to copy fewer bytes costs more than it brings. The thread comes after some 50
/// microseconds, in which another one has copied as much.
const THREAD_BYTES: u64 = 1 << 20;

/// The expected time of the copies of some fields, in nanoseconds of one core.
fn time_of(moves: &[Option<Move>], machine: &Machine) -> f64 {
    // Each copy reads and writes.
    let bytes: f64 = moves.iter().flatten().map(|it| 2.0 * it.bytes() as f64 * it.times()).sum();
    bytes / machine.bytes_per_ns
}

/// The arguments of a turned call, as far as shapes and strides tell them: without elements.
fn turned_outlines(params: &[Param], arguments: &[Argument]) -> Vec<Argument> {
    let each = params.iter().zip(arguments).map(|it| match it {
        (Param { kind: ParamKind::Field { axes, .. }, .. }, Argument::Field(field)) => {
            let mut outline = outline(field);
            outline.turn(*axes);
            Argument::Field(outline)
        }
        (_, other) => other.clone(),
    });
    each.collect()
}

/// A field without elements.
fn outline(FieldArgument { array, origin }: &FieldArgument) -> FieldArgument {
    let elements = Elements::zeros(array.dtype(), 0);
    let array = Array { elements, first: 0, shape: array.shape.clone(), strides: array.strides.clone() };
    FieldArgument { array, origin: *origin }
}

/// The arguments of a call on copies, without elements.
fn copied_outlines(arguments: &[Argument], moves: &[Option<Move>]) -> Vec<Argument> {
    let none = std::iter::repeat(&None);
    let each = arguments.iter().zip(moves.iter().chain(none)).map(|(given, it)| match (it, given) {
        (Some(it), _) => Argument::Field(it.outline()),
        (None, Argument::Field(field)) => Argument::Field(outline(field)),
        (None, other) => other.clone(),
    });
    each.collect()
}

impl<M: CodeMaker> Code for AnyOrder<M> {
    fn fit(&self, launch: &Launch, sink: Sink<'_>) -> Result<(), Failure> {
        let Launch { domain, arguments } = launch;
        let wanted = moves(&self.signature.params, self.setting.relayout, *domain, arguments);
        let tell = |way, moves: &[Option<Move>]| {
            sink(Event::Layout(copies::layout(&self.signature.params, arguments, way, moves)));
        };
        match self.way(launch, wanted) {
            CallTreatment::AsGiven => {
                tell(events::LayoutTreatment::AsGiven, &[]);
                self.code.fit(launch, sink)
            }
            CallTreatment::Copied(moves) => {
                tell(events::LayoutTreatment::Copied, &moves);
                let arguments = copied_outlines(arguments, &moves);
                self.code.fit(&Launch { domain: *domain, arguments }, sink)
            }
            CallTreatment::InSlabs(slabs) => {
                let params = &self.signature.params;
                sink(Event::Layout(slabs.layout(params, arguments)));
                self.code_alone(sink)?.fit(&slabs.launch(arguments), sink)
            }
            CallTreatment::Turned(moves) => {
                tell(events::LayoutTreatment::Turned, &moves);
                let arguments = turned_outlines(&self.signature.params, arguments);
                let arguments = copied_outlines(&arguments, &moves);
                self.code_along_k(sink)?.fit(&Launch { domain: domain.turned(), arguments }, sink)
            }
        }
    }

    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        let caller = Arc::clone(&self.code).caller();
        let progress = caller.progress();
        let (kept, slabs) = (CopyStore::default(), slabs::SlabCaller::default());
        Box::new(AnyOrderCaller { code: self, caller, turned: None, last: None, kept, slabs, progress })
    }
}

/// The state of one caller.
struct AnyOrderCaller<M> {
    code: Arc<AnyOrder<M>>,
    caller: Box<dyn Caller>,
    /// The caller of turned code, made when a call first needs it.
    turned: Option<Box<dyn Caller>>,
    /// How the last call was made, for others like it.
    last: Option<Arc<StoreEntry<TreatmentKey, CallTreatment>>>,
    kept: CopyStore,
    slabs: slabs::SlabCaller,
    progress: Arc<Progress>,
}

/// The inputs that decide the way of a call: the layouts of all fields, also of those that need no copy in
/// their given order.
struct TreatmentKey {
    domain: Domain,
    fields: Vec<Option<FieldArgument>>,
}

impl PartialEq for TreatmentKey {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |one: &Option<FieldArgument>, other: &Option<FieldArgument>| match (one, other) {
            (Some(one), Some(other)) => {
                one.origin == other.origin
                    && one.array.shape == other.array.shape
                    && one.array.strides == other.array.strides
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.domain == other.domain
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(one, other)| is_same(one, other))
    }
}

impl TreatmentKey {
    fn of(launch: &Launch) -> Self {
        let outline = |it: &Argument| match it {
            Argument::Field(field) => Some(outline(field)),
            Argument::Scalar(_) | Argument::Unused => None,
        };
        Self { domain: launch.domain, fields: launch.arguments.iter().map(outline).collect() }
    }

    /// The same for other processes.
    fn in_words(&self) -> impl Serialize {
        let Domain { i, j, k } = self.domain;
        let of_field = |it: &FieldArgument| (it.origin, it.array.shape.clone(), it.array.strides.clone());
        let fields: Vec<_> = self.fields.iter().map(|it| it.as_ref().map(of_field)).collect();
        ([i, j, k], fields)
    }

    fn is_like(&self, launch: &Launch) -> bool {
        self.domain == launch.domain
            && self.fields.iter().zip(&launch.arguments).all(|it| match it {
                (Some(known), Argument::Field(field)) => {
                    known.origin == field.origin
                        && known.array.shape == field.array.shape
                        && known.array.strides == field.array.strides
                }
                (None, Argument::Field(_)) | (Some(_), _) => false,
                (None, _) => true,
            })
    }
}

/// The copies of the last calls, for others like them, as far as all of them are few bytes. The memory of
/// larger ones goes to the next call that needs some.
#[derive(Default)]
struct CopyStore {
    /// In the order of their last use, the latest at the end.
    sets: Vec<CopySet>,
}

struct CopySet {
    moves: Vec<Option<Move>>,
    bytes: u64,
    own: own::FieldCopies,
}

/// The most bytes of copies that one caller keeps.
const KEPT_BYTES: u64 = 2 << 20;

impl CopyStore {
    /// Returns the copies for these moves, which become the last of the sets.
    fn find(&mut self, moves: &[Option<Move>]) -> Result<&mut CopySet, Failure> {
        match self.sets.iter().position(|it| it.moves == moves) {
            Some(at) if at + 1 == self.sets.len() => {}
            Some(at) => {
                let found = self.sets.remove(at);
                self.sets.push(found);
            }
            None => {
                let bytes: u64 = moves.iter().flatten().map(|it| it.bytes() as u64).sum();
                // Old copies are released first, so that both never exist at once. Large copies are not kept.
                while bytes <= KEPT_BYTES
                    && self.sets.iter().map(|it| it.bytes).sum::<u64>() + bytes > KEPT_BYTES
                    && !self.sets.is_empty()
                {
                    self.sets.remove(0);
                }
                let pooled_from = usize::try_from(KEPT_BYTES).unwrap_or(usize::MAX);
                let own = own::fields(moves, pooled_from)?;
                self.sets.push(CopySet { moves: moves.to_vec(), bytes, own });
            }
        }
        self.sets.last_mut().ok_or_else(|| Failure::Machine("nothing was copied".to_owned()))
    }
}

impl<M: CodeMaker> Caller for AnyOrderCaller<M> {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        let params = &self.code.signature.params;
        if copies::are_in_rows(params, &launch.arguments) {
            return self.caller.run(launch);
        }
        if self.last.as_ref().is_none_or(|it| !it.key.is_like(launch)) {
            let found = self.code.ways.get(TreatmentKey::of(launch), |_| {
                let wanted = moves(params, self.code.setting.relayout, launch.domain, &launch.arguments);
                Ok(self.code.way(launch, wanted))
            });
            self.last = Some(found?);
        }
        let Self { code, caller, turned, last, kept, slabs, progress } = self;
        match last.as_ref().and_then(|it| it.get().ok()) {
            None | Some(CallTreatment::AsGiven) => caller.run(launch),
            Some(CallTreatment::Copied(moves)) => kept.run(&mut **caller, moves, launch, code),
            Some(CallTreatment::InSlabs(it)) => {
                let code_alone = code.code_alone(&|_| ())?;
                slabs.run(it, launch, (&code_alone, &code.near), progress)
            }
            Some(CallTreatment::Turned(moves)) => {
                let turned = match turned {
                    Some(known) => known,
                    None => turned.insert(code.code_along_k(&|_| ())?.caller()),
                };
                turn(params_of(code), launch);
                let ran = if moves.is_empty() {
                    turned.run(launch)
                } else {
                    kept.run(&mut **turned, moves, launch, code)
                };
                turn(params_of(code), launch);
                progress.take_from(&turned.progress());
                ran
            }
        }
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

fn params_of<M>(code: &AnyOrder<M>) -> &[Param] {
    &code.signature.params
}

/// Exchanges I and K of a launch; no element is moved.
fn turn(params: &[Param], launch: &mut Launch) {
    launch.domain = launch.domain.turned();
    for (param, argument) in params.iter().zip(&mut launch.arguments) {
        if let (ParamKind::Field { axes, .. }, Argument::Field(field)) = (&param.kind, argument) {
            // A turn uses only the number of axes, which it does not change, so that a second turn restores
            // the field.
            field.turn(*axes);
        }
    }
}

impl CopyStore {
    /// Runs the call with copies in the place of the fields that are moved.
    fn run<M>(
        &mut self,
        caller: &mut dyn Caller,
        moves: &[Option<Move>],
        launch: &mut Launch,
        AnyOrder { near, stream_from, .. }: &AnyOrder<M>,
    ) -> Result<(), Failure> {
        let CopySet { bytes, own, .. } = self.find(moves)?;
        let is_streamed = *bytes >= *stream_from;
        for ((it, copy), argument) in moves.iter().zip(&mut own.fields).zip(&mut launch.arguments) {
            if let (Some(it), Some(copy), Argument::Field(given)) = (it, copy, argument) {
                if it.is_needed() {
                    it.copy_there(given, copy, is_streamed, near);
                }
                std::mem::swap(given, copy);
            }
        }
        let ran = caller.run(launch);
        // Where the run ended early, results written by then stay. A field that was not copied there is not
        // copied back. The run may have written only a part of such a copy, and the rest holds nothing.
        for ((it, given), argument) in moves.iter().zip(&mut own.fields).zip(&mut launch.arguments) {
            if let (Some(it), Some(given), Argument::Field(copy)) = (it, given, argument) {
                std::mem::swap(given, copy);
                let (given, copy) = (copy, given);
                if it.is_written() && (ran.is_ok() || it.is_needed()) {
                    it.copy_back(copy, given, near);
                }
            }
        }
        if self.sets.last().is_some_and(|it| it.bytes > KEPT_BYTES)
            && let Some(CopySet { own: own::FieldCopies { fields, memory }, .. }) = self.sets.pop()
        {
            own::give_back(fields, memory);
        }
        ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executors::prepare_compiled;
    use crate::executors::rayon::Rayon;
    use isobar_compiler::call::launch::Call;
    use isobar_compiler::config::Config;
    use isobar_compiler::pipeline::{NoHook, route};
    use isobar_compiler::project::Project;
    use isobar_compiler::types::{DType, Value};

    const TEXT: &str = "def s(a: Field[float], p: Field[JK, float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = a + p
";

    /// Elements that number their places in memory. The last dimension is contiguous, or the first.
    fn array(shape: &[usize], is_last_first: bool) -> Array {
        let n: usize = shape.iter().product();
        let mut elements = Elements::zeros(DType::Float64, n);
        (0..n).for_each(|at| elements.set(at, Value::Float64(at as f64)));
        let mut array = Array::zeros(DType::Float64, shape);
        if is_last_first {
            array = Array::from_c_order(elements, shape).expect("as many as the shape says");
        } else {
            array.elements = elements;
        }
        array
    }

    #[test]
    fn calls_with_other_arrays_find_their_own_elements() {
        let project = Project::of_one("main.py", TEXT);
        let compilation = route::compile(&project, &Config::default(), &mut NoHook);
        let all = [Relayout::Never, Relayout::ByCost, Relayout::Copies, Relayout::Slabs, Relayout::Turns];
        for relayout in all {
            let setting = Setting { relayout, ..Setting::embedded() };
            let mut prepared = prepare_compiled(&Rayon, &compilation, setting, &|_| ()).unwrap();
            // `p` has no rows, so that it needs no copy in its given order. The second time it has another
            // shape.
            for (shape, first) in [([8, 16], [0, 0]), ([13, 21], [4, 3]), ([8, 16], [0, 0])] {
                let [a, out] = [array(&[24, 8, 16], true), array(&[24, 8, 16], true)];
                let p = array(&shape, false);
                let meant = |i: usize, j: usize, k: usize| {
                    let p = p.get(&[j + first[0], k + first[1]]).as_f64();
                    a.get(&[i, j, k]).as_f64() + p
                };
                let meant: Vec<f64> = a.indices().map(|index| meant(index[0], index[1], index[2])).collect();
                let mut call = Call { domain: Some([24, 8, 16]), ..Call::default() };
                for (name, array) in [("a", &a), ("p", &p), ("out", &out)] {
                    call.fields.insert(name.to_owned(), array.clone());
                }
                call.origin.insert("p".to_owned(), first.map(|it| it as i64).to_vec());
                let mut launch = compilation.front.bind(call).unwrap();
                prepared.run(&mut launch).unwrap();
                let Argument::Field(found) = &launch.arguments[2] else { panic!("it is a field") };
                let found: Vec<f64> = a.indices().map(|it| found.array.get(&it).as_f64()).collect();
                let is_same = found.iter().zip(&meant).all(|(one, other)| one.to_bits() == other.to_bits());
                assert!(is_same, "{relayout:?} {shape:?}");
            }
        }
    }
}
