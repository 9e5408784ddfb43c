//! How a stencil is called from Python: arguments by position or name, arrays where they lie, origins, a domain.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Instant;

use isobar_compiler::call::signature::{AccessKind, ParamKind};
use isobar_compiler::diag::similar;
use isobar_runtime::Device;
use isobar_runtime::executable::{Arguments, CheckedCall as Checked, Executable, Refusal};
use isobar_runtime::executors::cuda::context::ContextGuard;
use isobar_runtime::executors::cuda::gpu::Gpu;
use isobar_runtime::failure::Failure;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::arrays::{describe, hold_dimensions, lent};
use crate::attended::attended;
use crate::failures::{Elsewhere, failed, refused};
use crate::forks::{Keeps, refuse_forked};
use crate::gpu::{OnGpu, on_gpu, on_host};
use crate::plans::{Last, Plan, Plans};
use crate::scalars::scalar;

/// A parameter as calls look for it.
struct Param {
    /// As Python interns it: names of keywords are found by their address.
    interned: Py<PyString>,
    name: String,
    is_field: bool,
    is_used: bool,
    is_written: bool,
    /// The places of its axes among I, J and K.
    axes: Vec<usize>,
}

/// A compiled stencil that can be called, with its parameters and the plans of earlier calls.
pub(crate) struct Callable {
    pub(crate) executable: Executable,
    /// In the order of the definition.
    params: Vec<Param>,
    /// So many of them may be given by position.
    n_positional: usize,
    plans: Plans,
    /// The resource that a forked process does not inherit.
    keeps: Keeps,
    /// A call with so many points may take long.
    long_from: i64,
    /// Where its arrays have to lie, unless that is the host.
    on: Option<OnDevice>,
    /// Set when it is dropped, and dropped last: what is freed before changes the context of the thread.
    after: Option<ContextGuard>,
}

impl Drop for Callable {
    fn drop(&mut self) {
        self.after = self.on.as_ref().and_then(|on| on.gpu.keep_context());
    }
}

/// A GPU, as arrays are asked for and lent.
struct OnDevice {
    gpu: Arc<Gpu>,
    device: Arc<dyn Device>,
}

/// Where the compute domain begins and how large it is, as somebody said it; zero words where nobody did.
#[derive(Default)]
pub(crate) struct Frame {
    domain: Option<[i64; 3]>,
    /// Of all fields that have none of their own.
    all: Option<Vec<i64>>,
    /// By position among the parameters.
    own: Vec<(usize, Vec<i64>)>,
}

/// A call that is over.
pub(crate) struct FinishedCall {
    pub(crate) seconds: f64,
    /// Points along I, J and K.
    pub(crate) domain: [i64; 3],
    /// Whether there was no such call before.
    pub(crate) is_new: bool,
}

/// An array that somebody passes.
enum PassedArray<'py> {
    Host(Bound<'py, PyUntypedArray>),
    Gpu(OnGpu<'py>),
}

/// The arguments of one call: by position among the parameters.
struct CallArguments<'py> {
    fields: Vec<(usize, PassedArray<'py>)>,
    scalars: Vec<(usize, Bound<'py, PyAny>)>,
    /// Origins that arrays know of themselves.
    of_arrays: Vec<(usize, Vec<i64>)>,
}

thread_local! {
    static WORDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Callable {
    pub(crate) fn new(
        py: Python<'_>,
        executable: Executable,
        n_positional: usize,
        (keeps, long_from): (Keeps, i64),
    ) -> Self {
        let signature = executable.signature();
        let params = signature.params.iter().map(|it| {
            let axes = match it.kind {
                ParamKind::Field { axes, .. } => axes.iter().map(|it| it.index()).collect(),
                ParamKind::Scalar { .. } => Vec::new(),
            };
            Param {
                interned: PyString::intern(py, &it.name).unbind(),
                name: it.name.clone(),
                is_field: matches!(it.kind, ParamKind::Field { .. }),
                is_used: it.access != AccessKind::None,
                is_written: it.access.is_written(),
                axes,
            }
        });
        let params: Vec<Param> = params.collect();
        // On the host nobody looks for a GPU.
        let on = executable.device().filter(|_| keeps == Keeps::Cuda);
        let on = on.and_then(|device| Some(OnDevice { gpu: Gpu::here().ok()?, device }));
        let plans = Plans::default();
        Self { executable, params, n_positional, plans, keeps, long_from, on, after: None }
    }

    fn position(&self, name: &Bound<'_, PyAny>) -> Option<usize> {
        let same = self.params.iter().position(|it| it.interned.as_ptr() == name.as_ptr());
        same.or_else(|| {
            let name = name.cast::<PyString>().ok()?.to_str().ok()?;
            self.params.iter().position(|it| it.name == name)
        })
    }

    fn no_such(&self, name: &Bound<'_, PyAny>) -> PyErr {
        let own = &self.executable.signature().name;
        let written = name.to_string();
        let known = self.params.iter().map(|it| it.name.as_str()).chain(CALL);
        let meant = similar(&written, known).map(|it| format!("; did you mean `{}`?", it.name));
        PyTypeError::new_err(format!("`{own}` has no parameter `{written}`{}", meant.unwrap_or_default()))
    }

    /// A frame of `domain` and `origin` as GT4Py's calls have them.
    pub(crate) fn frame(
        &self,
        domain: Option<&Bound<'_, PyAny>>,
        origin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Frame> {
        let mut frame = Frame::default();
        if let Some(domain) = domain.filter(|it| !it.is_none()) {
            let given = integers(domain, "domain")?;
            let told = || {
                PyValueError::new_err(format!(
                    "the domain has {} sizes, and needs 3: along I, J and K",
                    given.len()
                ))
            };
            frame.domain = Some(<[i64; 3]>::try_from(given.as_slice()).map_err(|_| told())?);
        }
        let Some(origin) = origin.filter(|it| !it.is_none()) else { return Ok(frame) };
        let Ok(origins) = origin.cast::<PyDict>() else {
            frame.all = Some(integers(origin, "origin")?);
            return Ok(frame);
        };
        for (name, at) in origins {
            let all = intern!(origin.py(), "_all_");
            if name.is(all) || name.eq(all)? {
                frame.all = Some(integers(&at, "origin")?);
            } else if let Some(position) = self.position(&name) {
                frame.own.push((position, integers(&at, "origin")?));
            } else {
                return Err(self.no_such(&name));
            }
        }
        frame.own.sort_by_key(|it| it.0);
        Ok(frame)
    }

    fn given<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<CallArguments<'py>> {
        if args.len() > self.n_positional {
            let name = &self.executable.signature().name;
            return Err(PyTypeError::new_err(format!(
                "`{name}` takes {} arguments by position, and was given {}",
                self.n_positional,
                args.len()
            )));
        }
        let n = self.params.len();
        let mut given =
            CallArguments { fields: Vec::with_capacity(n), scalars: Vec::new(), of_arrays: Vec::new() };
        for (at, value) in args.iter().enumerate() {
            self.take(at, value, &mut given)?;
        }
        if let Some(kwargs) = kwargs {
            for (name, value) in kwargs {
                let at = self.position(&name).ok_or_else(|| self.no_such(&name))?;
                if at < args.len() {
                    return Err(PyTypeError::new_err(format!("`{}` is given twice", self.params[at].name)));
                }
                self.take(at, value, &mut given)?;
            }
            given.fields.sort_by_key(|it| it.0);
            given.scalars.sort_by_key(|it| it.0);
        }
        Ok(given)
    }

    fn take<'py>(&self, at: usize, value: Bound<'py, PyAny>, given: &mut CallArguments<'py>) -> PyResult<()> {
        let param = &self.params[at];
        if !param.is_field {
            if !value.is_none() {
                given.scalars.push((at, value));
            }
            return Ok(());
        }
        // The argument of an unused parameter is ignored.
        if value.is_none() || !param.is_used {
            return Ok(());
        }
        let array = match (value.cast_exact::<PyUntypedArray>(), &self.on) {
            (Ok(_), Some(_)) => return Err(on_host(&param.name)),
            (Ok(array), None) => PassedArray::Host(array.clone()),
            (Err(_), Some(on)) => {
                hold_dimensions(&param.name, &param.axes, &value)?;
                let mut array = on_gpu(&param.name, &value, &on.gpu)?;
                given.of_arrays.extend(array.origin.take().map(|it| (at, it)));
                PassedArray::Gpu(array)
            }
            (Err(_), None) => PassedArray::Host(foreign(at, param, &value, given)?),
        };
        given.fields.push((at, array));
        Ok(())
    }

    /// Checks a call.
    #[expect(unsafe_code, reason = "the memory is the caller's")]
    fn check<'a>(&self, given: &'a CallArguments<'_>, frame: &'a Frame) -> PyResult<Checked> {
        let mut arguments = Arguments { domain: frame.domain, ..Arguments::default() };
        for (at, array) in &given.fields {
            let param = &self.params[*at];
            // SAFETY: the caller holds the arrays during the call. A plan is used only for a call with the
            // same arrays.
            let buffer = unsafe {
                match (array, &self.on) {
                    (PassedArray::Gpu(array), Some(OnDevice { gpu, device })) => {
                        array.lent(&param.name, gpu, device, param.is_written)
                    }
                    (PassedArray::Host(array), _) => lent(&param.name, array, param.is_written),
                    (PassedArray::Gpu(_), None) => {
                        let told =
                            format!("`{}` lies on a GPU, and the stencil runs on the processor", param.name);
                        Err(Elsewhere::new_err(told))
                    }
                }
            }?;
            let own =
                |them: &'a [(usize, Vec<i64>)]| them.iter().find(|it| it.0 == *at).map(|it| it.1.as_slice());
            let buffer = match (own(&frame.own), &frame.all) {
                (Some(origin), _) => buffer.with_origin(origin),
                (None, Some(all)) if all.len() == 3 => {
                    let of_axes: Vec<i64> = param.axes.iter().map(|&it| all[it]).collect();
                    buffer.with_origin(&of_axes)
                }
                (None, Some(all)) => buffer.with_origin(all),
                (None, None) => match own(&given.of_arrays) {
                    Some(origin) => buffer.with_origin(origin),
                    None => buffer,
                },
            };
            arguments.fields.insert(param.name.clone(), buffer);
        }
        for (at, value) in &given.scalars {
            let name = &self.params[*at].name;
            arguments.scalars.insert(name.clone(), scalar(name, value)?);
        }
        self.executable.bind(arguments).map_err(|why| refused(why, &self.executable))
    }

    /// Checks a call for good; answers what it holds as well.
    pub(crate) fn bind(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        frame: &Frame,
    ) -> PyResult<(Checked, Vec<Lender>)> {
        let given = self.given(args, kwargs)?;
        let checked = self.check(&given, frame)?;
        let lender = |(at, array): (usize, PassedArray<'_>)| match array {
            PassedArray::Host(array) => Lender { at, object: array.into_any().unbind(), words: Vec::new() },
            PassedArray::Gpu(array) => {
                let mut words = Vec::new();
                array.describe(&mut words);
                Lender { at, object: array.object.unbind(), words }
            }
        };
        Ok((checked, given.fields.into_iter().map(lender).collect()))
    }

    /// The streams that have to be waited for before these arrays are used, each once.
    fn streams<'a, 'py: 'a>(arrays: impl Iterator<Item = &'a PassedArray<'py>>) -> Vec<u64> {
        let mut streams = Vec::new();
        for array in arrays {
            if let PassedArray::Gpu(OnGpu { stream: Some(stream), .. }) = array
                && !streams.contains(stream)
            {
                streams.push(*stream);
            }
        }
        streams
    }

    /// Runs a checked call, behind what is still written on these streams.
    #[expect(unsafe_code, reason = "streams of others are named by numbers")]
    fn run(&self, checked: &mut Checked, streams: &[u64]) -> Result<(), Failure> {
        let _kept = self.on.as_ref().and_then(|on| on.gpu.keep_context());
        for &stream in streams {
            if let Some(on) = &self.on {
                // SAFETY: the lender of an array vouches for the stream that it names.
                unsafe { on.gpu.wait_for(stream) }?;
            }
        }
        self.executable.run(checked)
    }

    /// Calls it: checked where there was no such call before. Answers for how long it ran.
    ///
    /// A caller whose frame is fixed lends what it called last: such a call compares the arrays, and looks nothing up.
    pub(crate) fn call(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        (frame, last): (&Frame, Option<&Last>),
    ) -> PyResult<FinishedCall> {
        refuse_forked(self.keeps)?;
        let given = self.given(args, kwargs)?;
        let mut words = WORDS.take();
        words.clear();
        Self::words(&given, &mut words);
        let found = match last.and_then(|it| it.get(&words)) {
            Some(plan) => Ok((plan, false)),
            None => {
                let n_words = words.len();
                frame.words(&mut words);
                let found = self.plan(&given, frame, &words);
                if let (Some(last), Ok((plan, _))) = (last, &found) {
                    last.set(&words[..n_words], plan);
                }
                found
            }
        };
        WORDS.set(words);
        let (plan, is_new) = found?;
        let mut own = None;
        let mut held = match plan.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
            // Another thread calls with the same arrays at this moment.
            Err(TryLockError::WouldBlock) => {
                own = Some(self.check(&given, frame)?);
                None
            }
        };
        let checked: &mut Checked = match (&mut held, &mut own) {
            (Some(held), _) => held,
            (None, Some(own)) => own,
            (None, None) => return Ok(FinishedCall { seconds: 0.0, domain: [0; 3], is_new: false }),
        };
        for (at, value) in &given.scalars {
            let input = scalar(&self.params[*at].name, value)?;
            let set = checked.set_scalar(*at, input);
            set.map_err(|why| refused(Refusal::Diagnostics(vec![why]), &self.executable))?;
        }
        let domain = checked.launch().domain;
        let streams = Self::streams(given.fields.iter().map(|it| &it.1));
        let (ran, seconds) = attended(py, domain.points() >= self.long_from, || {
            let begun = Instant::now();
            (self.run(checked, &streams), begun.elapsed().as_secs_f64())
        })?;
        ran.map_err(|why| failed(why, &self.executable))?;
        Ok(FinishedCall { seconds, domain: [domain.i, domain.j, domain.k], is_new })
    }

    fn plan(&self, given: &CallArguments<'_>, frame: &Frame, words: &[u64]) -> PyResult<(Plan, bool)> {
        if let Some(plan) = self.plans.get(words) {
            return Ok((plan, false));
        }
        let plan = Arc::new(Mutex::new(self.check(given, frame)?));
        self.plans.insert(words, &plan);
        Ok((plan, true))
    }

    /// All that decides what is checked, beside the frame: which arguments there are, and how arrays lie.
    fn words(given: &CallArguments<'_>, words: &mut Vec<u64>) {
        for (at, array) in &given.fields {
            words.push(*at as u64);
            match array {
                PassedArray::Host(array) => describe(array, words),
                PassedArray::Gpu(array) => array.describe(words),
            }
        }
        words.push(u64::MAX);
        words.extend(given.scalars.iter().map(|it| it.0 as u64));
        words.push(u64::MAX);
        for (at, origin) in &given.of_arrays {
            words.push(*at as u64);
            list(Some(origin), words);
        }
    }
}

impl Frame {
    /// Where the domain is, as it decides what is checked.
    fn words(&self, words: &mut Vec<u64>) {
        words.push(u64::MAX);
        list(self.domain.as_ref().map(<[i64; 3]>::as_slice), words);
        list(self.all.as_deref(), words);
        for (at, origin) in &self.own {
            words.push(*at as u64);
            list(Some(origin), words);
        }
    }
}

/// Integers as words, with how many there are.
fn list(given: Option<&[i64]>, words: &mut Vec<u64>) {
    words.push(given.map_or(u64::MAX, |it| it.len() as u64));
    words.extend(given.unwrap_or_default().iter().map(|&it| it as u64));
}

/// An object that lends an array to a bound call.
pub(crate) struct Lender {
    /// Its position among the parameters.
    at: usize,
    object: Py<PyAny>,
    /// The description of the lent array when the call was bound. Only arrays on a GPU are asked again.
    words: Vec<u64>,
}

/// A call whose arguments are checked and fixed. It keeps their arrays alive.
#[pyclass(frozen, module = "isobar._native")]
pub(crate) struct BoundCall {
    checked: Mutex<Checked>,
    /// Dropped behind the call, whose code it has.
    callable: Arc<Callable>,
    lenders: Vec<Lender>,
    may_be_long: bool,
}

impl BoundCall {
    pub(crate) fn of(callable: &Arc<Callable>, checked: Checked, lenders: Vec<Lender>) -> Self {
        let may_be_long = checked.launch().domain.points() >= callable.long_from;
        Self { checked: Mutex::new(checked), callable: Arc::clone(callable), lenders, may_be_long }
    }

    /// Asks arrays on a GPU again, because at each call their owners name the stream that may still write
    /// them.
    fn asked<'py>(&self, py: Python<'py>) -> PyResult<Vec<PassedArray<'py>>> {
        let Some(on) = &self.callable.on else { return Ok(Vec::new()) };
        let mut words = Vec::new();
        let ask = |it: &Lender| {
            let name = &self.callable.params[it.at].name;
            let array = on_gpu(name, it.object.bind(py), &on.gpu)?;
            words.clear();
            array.describe(&mut words);
            if words != it.words {
                return Err(PyValueError::new_err(format!(
                    "`{name}` lies elsewhere than when the call was bound: bind it again"
                )));
            }
            Ok(PassedArray::Gpu(array))
        };
        self.lenders.iter().map(ask).collect()
    }
}

#[pymethods]
impl BoundCall {
    /// Calls the stencil; other threads of Python run meanwhile.
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py)
    }

    /// Calls the stencil; other threads of Python run meanwhile.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        refuse_forked(self.callable.keeps)?;
        let arrays = self.asked(py)?;
        let streams = Callable::streams(arrays.iter());
        let ran = attended(py, self.may_be_long, || {
            let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
            self.callable.run(&mut checked, &streams)
        })?;
        ran.map_err(|why| failed(why, &self.callable.executable))
    }

    /// The points along I, J and K.
    #[getter]
    fn domain(&self, py: Python<'_>) -> (i64, i64, i64) {
        py.detach(|| {
            let checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
            let domain = checked.launch().domain;
            (domain.i, domain.j, domain.k)
        })
    }
}

/// Keywords of a call beside the parameters of its stencil.
const CALL: [&str; 4] = ["domain", "origin", "validate_args", "exec_info"];

/// An array of somebody else's: of a type derived from NumPy's, or by one of the protocols; its memory, not a copy.
fn foreign<'py>(
    at: usize,
    param: &Param,
    value: &Bound<'py, PyAny>,
    given: &mut CallArguments<'py>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = value.py();
    hold_dimensions(&param.name, &param.axes, value)?;
    let package = py.import(intern!(py, "isobar._arrays"))?;
    let (array, origin): (Bound<'py, PyUntypedArray>, Option<Vec<i64>>) =
        package.call_method1(intern!(py, "array_of"), (&param.name, value, param.is_written))?.extract()?;
    given.of_arrays.extend(origin.map(|it| (at, it)));
    Ok(array)
}

/// A sequence of integers.
fn integers(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<i64>> {
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let all: PyResult<Vec<i64>> = tuple.iter_borrowed().map(|it| it.extract()).collect();
        return all.map_err(|_| {
            PyTypeError::new_err(format!("`{what}` is {value}, which is no tuple of integers"))
        });
    }
    let all: PyResult<Vec<i64>> = value.try_iter().and_then(|it| it.map(|it| it?.extract()).collect());
    all.map_err(|_| PyTypeError::new_err(format!("`{what}` is {value}, which is no tuple of integers")))
}
