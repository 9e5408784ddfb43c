//! Functions of the host that generated code calls: threads of the run, reports of traps, functions of single
//! numbers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use cranelift_codegen::ir::types::{F32, F64, I64};
use cranelift_codegen::ir::{AbiParam, Signature, Type};
use isobar_compiler::diag::StmtId;
use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::expr::evaluate::{self, Element as _};
use isobar_compiler::loops::nodes::Function;
use isobar_compiler::types::math;
use isobar_compiler::types::{BinaryPrimitive, DType, Primitive, UnaryPrimitive, Value};
use serde::{Deserialize, Serialize};

use super::translate::ParallelLoop;
use super::wide::end_stream;

/// Something of the host that generated code calls.
///
/// Their addresses are filled in when code is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) enum Import {
    Helper(HostHelper),
    /// Reports that the run must end.
    Raise,
    /// Reports that for lanes of wide code.
    RaiseLanes,
    /// Runs a function at all positions, on all threads.
    Launch,
    /// Whether a cell comes behind one at which the run must end.
    IsBehind,
}

/// A function of single numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) enum HostHelper {
    /// The remainder of floats of this type.
    Mod(DType),
    /// C's.
    ModC(DType),
    /// The nearest whole number, of two the one that is farther from zero.
    RoundAwayFromZero(DType),
    IntPower,
    Divide,
    Modulo,
    ModuloOfC,
}

impl Import {
    /// Its name in the text of the code.
    pub(super) fn name(self) -> String {
        match self {
            Import::Raise => "isobar_raise".to_owned(),
            Import::RaiseLanes => "isobar_raise_lanes".to_owned(),
            Import::Launch => "isobar_launch".to_owned(),
            Import::IsBehind => "isobar_is_behind".to_owned(),
            Import::Helper(HostHelper::Mod(dtype)) => format!("isobar_mod_{dtype}"),
            Import::Helper(HostHelper::ModC(dtype)) => format!("isobar_mod_c_{dtype}"),
            Import::Helper(HostHelper::RoundAwayFromZero(dtype)) => format!("isobar_round_{dtype}"),
            Import::Helper(HostHelper::IntPower) => "isobar_power_i64".to_owned(),
            Import::Helper(HostHelper::Divide) => "isobar_div_i64".to_owned(),
            Import::Helper(HostHelper::Modulo) => "isobar_mod_i64".to_owned(),
            Import::Helper(HostHelper::ModuloOfC) => "isobar_mod_c_i64".to_owned(),
        }
    }

    /// Arguments and result, as both sides have them; a change here changes the function below that is
    /// called.
    pub(super) fn signature(self, mut signature: Signature) -> Signature {
        let (arguments, result): (Vec<Type>, Option<Type>) = match self {
            Import::Raise => (vec![I64; 6], None),
            Import::IsBehind => (vec![I64; 6], Some(I64)),
            Import::RaiseLanes | Import::Launch => (vec![I64; 3], None),
            Import::Helper(helper) => {
                let (n, of) = match helper {
                    HostHelper::Mod(dtype) | HostHelper::ModC(dtype) => (2, float_type(dtype)),
                    HostHelper::RoundAwayFromZero(dtype) => (1, float_type(dtype)),
                    HostHelper::IntPower
                    | HostHelper::Divide
                    | HostHelper::Modulo
                    | HostHelper::ModuloOfC => (2, I64),
                };
                (vec![of; n], Some(of))
            }
        };
        signature.params.extend(arguments.into_iter().map(AbiParam::new));
        signature.returns.extend(result.into_iter().map(AbiParam::new));
        signature
    }

    /// Where it is in this process.
    pub(super) fn address(self) -> *const u8 {
        match self {
            Import::Raise => raise as *const u8,
            Import::RaiseLanes => raise_lanes as *const u8,
            Import::Launch => launch as *const u8,
            Import::IsBehind => is_behind as *const u8,
            Import::Helper(helper) => helper.address(),
        }
    }
}

/// The type of a float in registers.
fn float_type(dtype: DType) -> Type {
    if dtype == DType::Float32 { F32 } else { F64 }
}

impl HostHelper {
    /// The function that computes a primitive on operands of a type; none where instructions do.
    pub(super) fn of(op: Primitive, dtype: DType) -> Option<Self> {
        let is_float = dtype.is_float();
        match op {
            Primitive::Binary(BinaryPrimitive::FlooredRemainder) => {
                Some(if is_float { HostHelper::Mod(dtype) } else { HostHelper::Modulo })
            }
            Primitive::Binary(BinaryPrimitive::TruncatedRemainder) => {
                Some(if is_float { HostHelper::ModC(dtype) } else { HostHelper::ModuloOfC })
            }
            Primitive::Unary(UnaryPrimitive::NearestAway) if is_float => {
                Some(HostHelper::RoundAwayFromZero(dtype))
            }
            Primitive::Binary(
                BinaryPrimitive::Minimum
                | BinaryPrimitive::Maximum
                | BinaryPrimitive::Lesser
                | BinaryPrimitive::Greater,
            )
            | Primitive::Unary(
                UnaryPrimitive::Magnitude
                | UnaryPrimitive::SquareRoot
                | UnaryPrimitive::Floor
                | UnaryPrimitive::Ceiling
                | UnaryPrimitive::Truncation
                | UnaryPrimitive::Nearest
                | UnaryPrimitive::NearestAway,
            )
            | Primitive::Predicate(_) => None,
        }
    }

    /// Each is a function of C's calling convention around what the interpreter calls, so that the results
    /// are the same bits.
    fn address(self) -> *const u8 {
        extern "C" fn floored_f64(a: f64, b: f64) -> f64 {
            math::binary_f64(BinaryPrimitive::FlooredRemainder, a, b)
        }
        extern "C" fn floored_f32(a: f32, b: f32) -> f32 {
            math::binary_f32(BinaryPrimitive::FlooredRemainder, a, b)
        }
        extern "C" fn truncated_f64(a: f64, b: f64) -> f64 {
            math::binary_f64(BinaryPrimitive::TruncatedRemainder, a, b)
        }
        extern "C" fn truncated_f32(a: f32, b: f32) -> f32 {
            math::binary_f32(BinaryPrimitive::TruncatedRemainder, a, b)
        }
        extern "C" fn nearest_away_f64(a: f64) -> f64 {
            math::unary_f64(UnaryPrimitive::NearestAway, a)
        }
        extern "C" fn nearest_away_f32(a: f32) -> f32 {
            math::unary_f32(UnaryPrimitive::NearestAway, a)
        }
        extern "C" fn power(a: i64, b: i64) -> i64 {
            evaluate::integer_power(a, b)
        }
        extern "C" fn divide(a: i64, b: i64) -> i64 {
            a.divided_by(b)
        }
        extern "C" fn modulo(a: i64, b: i64) -> i64 {
            a.binary(BinaryPrimitive::FlooredRemainder, b)
        }
        extern "C" fn modulo_of_c(a: i64, b: i64) -> i64 {
            a.binary(BinaryPrimitive::TruncatedRemainder, b)
        }
        match self {
            HostHelper::Mod(DType::Float32) => floored_f32 as *const u8,
            HostHelper::Mod(_) => floored_f64 as *const u8,
            HostHelper::ModC(DType::Float32) => truncated_f32 as *const u8,
            HostHelper::ModC(_) => truncated_f64 as *const u8,
            HostHelper::RoundAwayFromZero(DType::Float32) => nearest_away_f32 as *const u8,
            HostHelper::RoundAwayFromZero(_) => nearest_away_f64 as *const u8,
            HostHelper::IntPower => power as *const u8,
            HostHelper::Divide => divide as *const u8,
            HostHelper::Modulo => modulo as *const u8,
            HostHelper::ModuloOfC => modulo_of_c as *const u8,
        }
    }
}

/// A statement that may have to end the run.
///
/// It holds the part that is the same for all cells. Code passes the position of a site and, beside it, the
/// cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TrapSite {
    /// Which loop over the levels it stands in, in the text.
    pub(super) sweep: u32,
    /// The statement with control flow around, which is finished at all points before the next one starts.
    pub(super) outermost: StmtId,
    pub(super) statement: StmtId,
}

/// A cell at which a run must end, in the order in which the text comes to it.
///
/// Fields are compared in the order in which they stand, and the lesser value comes first. So the order is by
/// sweep, by level in the order of the sweep, by statement, and then by cell. Threads may report in any
/// order: the least report is that of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrapReport {
    pub(super) sweep: u32,
    /// The level, with its sign changed where a sweep goes down; 0 where levels have no order.
    pub(super) turn: i64,
    pub(super) outermost: StmtId,
    /// As `[k, j, i]`, from the start of the compute domain.
    pub cell: [i64; 3],
    /// The statement that had to end the run.
    pub statement: StmtId,
}

impl TrapReport {
    /// The key that orders two of them.
    fn moment(&self) -> (u32, i64, StmtId, [i64; 3]) {
        (self.sweep, self.turn, self.outermost, self.cell)
    }
}

/// A function of generated code: frame, positions, the number of the thread.
///
/// Positions are those of the loops around a launch, then the launch's own. A step has none.
pub(super) type FunctionPointer = unsafe extern "C" fn(*const u64, *const i64, i64);

/// The number of the calling thread among the threads of the run. Each of these has memory of its own. Only
/// the calling thread launches.
const FIRST: usize = 0;

/// Threads that share the loops of a run.
pub trait Team: std::fmt::Debug + Sync {
    /// Runs `part` with each number below `total` once, in ranges; comes back when all is done. `part` gets a range
    /// and the number of its thread, which no other has at that time: 0 for the one that calls.
    fn share(&self, total: usize, part: &(dyn Fn(std::ops::Range<usize>, usize) + Sync));
}

/// One run, as generated code knows it.
#[repr(C)]
pub(super) struct Host<'a> {
    /// Other than 0 once something is reported. It stands first, since code reads it.
    pub(super) is_raised: AtomicU64,
    pub(super) sites: &'a [TrapSite],
    pub(super) launches: &'a [ParallelLoop],
    pub(super) functions: &'a SideTable<Function, FunctionPointer>,
    /// The words that all threads get: the address of this host, then one word for each array.
    pub(super) frame: *const u64,
    /// None where the run has one thread.
    pub(super) helpers: Option<&'a dyn Team>,
    /// The first in the order of the text, of all that has been reported so far.
    pub(super) raised: Mutex<Option<TrapReport>>,
}

impl<'a> Host<'a> {
    /// A run that has not started, without a frame.
    pub(super) fn new(
        sites: &'a [TrapSite],
        launches: &'a [ParallelLoop],
        functions: &'a SideTable<Function, FunctionPointer>,
        helpers: Option<&'a dyn Team>,
    ) -> Self {
        Self {
            is_raised: AtomicU64::new(0),
            sites,
            launches,
            functions,
            frame: std::ptr::null(),
            helpers,
            raised: Mutex::new(None),
        }
    }

    /// Runs the steps one after the other, up to one that has to end the run. Tells how many are done; the answer is
    /// whether to go on.
    pub(super) fn run(
        mut self,
        steps: &[(Handle<Function>, Option<u32>)],
        mut frame: Vec<u64>,
        progress: impl Fn(usize) -> bool,
    ) -> RunOutcome {
        self.frame = frame.as_ptr();
        // The code reads no word while it is written: it is entered below.
        frame[0] = (&raw const self) as u64;
        self.frame = frame.as_ptr();
        for (at, &(function, least_sweep)) in steps.iter().enumerate() {
            SharedHost(&self).enter(function, &[], FIRST);
            end_stream();
            let raised = *self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(raised) = raised {
                // A step behind this one may have to end the run in a sweep that stands before in the text.
                let is_first = least_sweep.is_none_or(|to_come| raised.sweep <= to_come);
                if is_first {
                    return RunOutcome::Raised(raised);
                }
            }
            if !progress(at + 1) && at + 1 < steps.len() {
                return RunOutcome::Cancelled;
            }
        }
        let raised = self.raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        raised.map_or(RunOutcome::Whole, RunOutcome::Raised)
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    Whole,
    Raised(TrapReport),
    /// The callback that is told of each step asked it to stop.
    Cancelled,
}

/// Notes that a run must end at a cell. The code goes on to the end of the step, where the report is looked
/// at. Until then, another thread may come to a cell that is earlier in the text.
#[expect(unsafe_code, reason = "generated code hands the host back to itself")]
extern "C" fn raise(host: *const Host<'_>, site: i64, turn: i64, i: i64, j: i64, k: i64) {
    // SAFETY: code passes on the first word of its frame, which is the host of the run, alive until code returns.
    let host = unsafe { &*host };
    let Some(site) = usize::try_from(site).ok().and_then(|it| host.sites.get(it)) else { return };
    let TrapSite { sweep, outermost, statement } = *site;
    let now = TrapReport { sweep, turn, outermost, cell: [k, j, i], statement };
    let mut raised = host.raised.lock().unwrap_or_else(PoisonError::into_inner);
    // Of several reports for one moment and cell, the first stays.
    if raised.is_none_or(|it| now.moment() < it.moment()) {
        *raised = Some(now);
    }
    host.is_raised.store(1, Ordering::Relaxed);
}

/// Whether the report that a `while` might make comes behind one that was made already. Then the loop need
/// not run. Reports that depend on its results come later still, so the first report of the run is never left
/// out.
#[expect(unsafe_code, reason = "generated code hands the host back to itself")]
extern "C" fn is_behind(host: *const Host<'_>, site: i64, turn: i64, i: i64, j: i64, k: i64) -> i64 {
    // SAFETY: as for `raise`.
    let host = unsafe { &*host };
    if host.is_raised.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    let Some(site) = usize::try_from(site).ok().and_then(|it| host.sites.get(it)) else { return 0 };
    let TrapSite { sweep, outermost, statement } = *site;
    let here = TrapReport { sweep, turn, outermost, cell: [k, j, i], statement };
    let raised = *host.raised.lock().unwrap_or_else(PoisonError::into_inner);
    i64::from(raised.is_some_and(|it| it.moment() < here.moment()))
}

/// Reports lanes of wide code. The words are the host, the statement, the turn, and the cell of the loop's
/// first iteration. The first lane is `at` points behind that cell along I. Each bit of `lanes` is a lane.
#[expect(unsafe_code, reason = "generated code hands the host back to itself")]
extern "C" fn raise_lanes(words: *const i64, at: i64, lanes: u64) {
    // SAFETY: code passes the address of these six words, which it wrote.
    let &[host, site, turn, i, j, k] = unsafe { &*words.cast::<[i64; 6]>() };
    for lane in (0..16).filter(|lane| lanes >> lane & 1 == 1) {
        raise(host as *const Host<'_>, site, turn, i + at + lane, j, k);
    }
}

/// Where a frame lies, for all threads.
#[derive(Clone, Copy)]
struct SharedHost<'h>(&'h Host<'h>);

// SAFETY: the frame is only read. The threads share the memory behind its addresses by design: the schedule
// gives each element that is written to one position of a launch.
#[expect(unsafe_code, reason = "generated code runs on all threads")]
unsafe impl Sync for SharedHost<'_> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "generated code runs on all threads")]
unsafe impl Send for SharedHost<'_> {}

impl SharedHost<'_> {
    #[expect(unsafe_code, reason = "this is where generated code is entered")]
    fn enter(self, function: Handle<Function>, at: &[i64], thread: usize) {
        // SAFETY: the code was made for this frame, from a valid graph: `Machine::run` asks its caller for that.
        unsafe { (self.0.functions[function])(self.0.frame, at.as_ptr(), thread as i64) }
    }
}

/// Runs a function at all positions of a launch, on all threads.
///
/// Positions are numbered with the last dimension fastest, and the team gets ranges of these numbers. Each
/// of its threads works its ranges off one position after the other, so neighbours along that dimension
/// stay with one thread.
///
/// ```text
/// which = 3:  ParallelLoop { function: 7, n_outer: 1, steps: [8, 8] }
/// words      [k, i_start, i_end, j_start, j_end]
/// function 7 at [k, i_start, j_start], [k, i_start, j_start + 8], …
/// ```
#[expect(unsafe_code, reason = "generated code hands the host back to itself")]
extern "C" fn launch(host: *const Host<'_>, which: i64, words: *const i64) {
    // SAFETY: as for `raise`.
    let host = unsafe { &*host };
    let Some(spread) = usize::try_from(which).ok().and_then(|it| host.launches.get(it)) else { return };
    let n_words = spread.n_outer + 2 * spread.steps.len();
    // SAFETY: code passes as many words as it pushed the steps of, on its own stack.
    let words = unsafe { std::slice::from_raw_parts(words, n_words) };
    let (outer, bounds) = words.split_at(spread.n_outer);
    // Rounded up: the last position may be less than a step before the end. An empty range has none.
    let count = |(bound, step): (&[i64], &i64)| {
        let length = (bound[1] - bound[0]).max(0);
        usize::try_from((length + step - 1) / step).unwrap_or(0)
    };
    let counts: smallvec::SmallVec<[usize; 3]> = bounds.chunks(2).zip(&spread.steps).map(count).collect();
    let total: usize = counts.iter().product();
    let shared = SharedHost(host);
    let run = |range: std::ops::Range<usize>, thread: usize| {
        let mut at: smallvec::SmallVec<[i64; 6]> = outer.into();
        at.resize(outer.len() + counts.len(), 0);
        for position in range {
            let mut rest = position;
            for dimension in (0..counts.len()).rev() {
                let here = (rest % counts[dimension]) as i64;
                at[outer.len() + dimension] = bounds[2 * dimension] + here * spread.steps[dimension];
                rest /= counts[dimension];
            }
            shared.enter(spread.function, &at, thread);
        }
        end_stream();
    };
    match host.helpers.filter(|_| total > 1) {
        Some(helpers) => helpers.share(total, &run),
        None => run(0..total, FIRST),
    }
}

/// A value as a word of a frame.
#[must_use]
pub fn word(value: Value) -> u64 {
    match value {
        Value::Bool(it) => u64::from(it),
        Value::Float32(it) => u64::from(it.to_bits()),
        Value::Float64(it) => it.to_bits(),
        other => other.as_i64().cast_unsigned(),
    }
}
