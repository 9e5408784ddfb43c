//! A stencil that is ready to be called.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use isobar_compiler::pipeline::Stage;
use isobar_protocol::compile::{Remark, Signature};
use isobar_protocol::diagnostic::SpanResolver;
use isobar_runtime::events::{CallLayout, LayoutTreatment};
use isobar_runtime::executable::{Executable, OwnedSetting, Refusal};
use isobar_runtime::executors::cuda::{self, Cuda};
use isobar_runtime::executors::interpreters::{Debug, Numpy};
use isobar_runtime::executors::openmp::{self, Openmp};
use isobar_runtime::executors::rayon::{self, Rayon};
use isobar_runtime::executors::{Executor, Mode, Relayout};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::attended::long_from;
use crate::call::{BoundCall, Callable, Frame};
use crate::failures::{Unavailable, diagnosed, unavailable};
use crate::forks::{self, Keeps};
use crate::levels::read;
use crate::plans::Last;

/// A stencil with its back end.
#[pyclass(frozen, weakref, module = "isobar._native")]
pub(crate) struct Stencil {
    callable: Arc<Callable>,
}

/// A stencil whose domain and origins are fixed.
#[pyclass(frozen, module = "isobar._native")]
pub(crate) struct Frozen {
    callable: Arc<Callable>,
    frame: Frame,
    last: Last,
    /// The stencil as Python has it, which says what a failure is called.
    #[pyo3(get)]
    stencil: Py<PyAny>,
}

/// The options of a compilation: back end, threads, mode, folders and tools.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CompileOptions {
    backend: String,
    threads: u32,
    /// `reproducible` or `fast`.
    mode: String,
    /// Whether fields may be copied into rows.
    copies: bool,
    cache: Option<PathBuf>,
    temporary: PathBuf,
    /// Where programs are looked for, and the C compiler that is named.
    path: String,
    cc: Option<String>,
    n_positional: usize,
}

#[pymethods]
impl Stencil {
    /// Compiles a request document; `wanted` is a dictionary with back end, threads, mode, folders.
    #[new]
    fn new(py: Python<'_>, request: &str, wanted: CompileOptions) -> PyResult<Self> {
        let (project, config) = read(request)?;
        let (executor, setting) = ready(&wanted)?;
        let made = py.detach(|| Executable::new(&project, config, executor, setting, &|_| ()));
        let executable = made.map_err(|why| match why {
            Refusal::Diagnostics(found) => {
                diagnosed(&found, project.files.iter().map(|(name, text)| (name.as_str(), &**text)))
            }
            Refusal::Elsewhere { .. } => PyValueError::new_err("no field is given yet"),
            Refusal::Failure(why) => unavailable(why),
        })?;
        let of_backend = (keeps(&wanted.backend), long_from(&wanted.backend));
        Ok(Self { callable: Arc::new(Callable::new(py, executable, wanted.n_positional, of_backend)) })
    }

    /// The parameters of the stencil, as JSON.
    fn signature(&self) -> String {
        let signature = Signature::new(self.callable.executable.signature());
        serde_json::to_string(&signature).unwrap_or_default()
    }

    /// Whether it was compiled in this process.
    fn is_compiled(&self) -> bool {
        self.callable.executable.is_compiled()
    }

    /// The number of bytes that a call with so many points along I, J and K allocates beside its arrays.
    fn workspace_bytes(&self, py: Python<'_>, domain: [i64; 3]) -> Option<u64> {
        py.detach(|| self.callable.executable.workspace_bytes(domain))
    }

    /// The decisions of the compilation and their reasons, as JSON.
    fn remarks(&self) -> String {
        let compilation = self.callable.executable.compilation();
        let places = SpanResolver::new(compilation.front.sources());
        let remarks: Vec<Remark> =
            compilation.notes.remarks.iter().map(|it| Remark::new(it, &places)).collect();
        serde_json::to_string(&remarks).unwrap_or_default()
    }

    /// The text of a stage; none where the stencil has no such one.
    fn text(&self, py: Python<'_>, stage: &str) -> PyResult<Option<String>> {
        let known = Stage::OF_STENCIL.iter().find(|it| it.name() == stage);
        let known = known.ok_or_else(|| {
            let all: Vec<&str> = Stage::OF_STENCIL.iter().map(|it| it.name()).collect();
            PyValueError::new_err(format!("there is no stage `{stage}`; there are {}", all.join(", ")))
        })?;
        let compilation = self.callable.executable.compilation();
        Ok(py.detach(|| compilation.listing(*known).map(|it| it.text.clone())))
    }

    /// Calls it, with arguments by position and by name, as the definition has them. Answers whether there was no call
    /// with such arrays before.
    #[pyo3(signature = (args, kwargs=None, domain=None, origin=None))]
    fn call(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        domain: Option<&Bound<'_, PyAny>>,
        origin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let frame = self.callable.frame(domain, origin)?;
        Ok(self.callable.call(py, args, kwargs, (&frame, None))?.is_new)
    }

    /// The same; answers for how many seconds it ran, and the domain.
    #[pyo3(signature = (args, kwargs=None, domain=None, origin=None))]
    fn timed_call(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        domain: Option<&Bound<'_, PyAny>>,
        origin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(f64, (i64, i64, i64))> {
        let frame = self.callable.frame(domain, origin)?;
        let ran = self.callable.call(py, args, kwargs, (&frame, None))?;
        Ok((ran.seconds, ran.domain.into()))
    }

    /// Fixes domain and origins; `stencil` is this one as Python has it.
    #[pyo3(signature = (stencil, domain=None, origin=None))]
    fn freeze(
        &self,
        stencil: Py<PyAny>,
        domain: Option<&Bound<'_, PyAny>>,
        origin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Frozen> {
        let frame = self.callable.frame(domain, origin)?;
        Ok(Frozen { callable: Arc::clone(&self.callable), frame, last: Last::default(), stencil })
    }

    /// How a call handles the layout of its arrays. Returns the way, the copied fields, the bytes copied
    /// before and after the call, and the rows copied at a time.
    #[pyo3(signature = (args, kwargs=None, domain=None, origin=None))]
    fn layout(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        domain: Option<&Bound<'_, PyAny>>,
        origin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<CopySummary> {
        let frame = self.callable.frame(domain, origin)?;
        let (checked, _arrays) = self.callable.bind(args, kwargs, &frame)?;
        let found = self.callable.executable.layout(&checked).map_err(unavailable)?;
        let CallLayout { way, copied, there_bytes, back_bytes, rows, .. } = found;
        let way = match way {
            LayoutTreatment::AsGiven => "as given",
            LayoutTreatment::Turned => "turned",
            LayoutTreatment::Copied => "copied",
        };
        Ok((way, copied, there_bytes, back_bytes, rows))
    }

    /// Checks a call, and fixes all of it.
    #[pyo3(signature = (args, kwargs=None, domain=None, origin=None))]
    fn bind(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        domain: Option<&Bound<'_, PyAny>>,
        origin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<BoundCall> {
        let frame = self.callable.frame(domain, origin)?;
        let (checked, lenders) = self.callable.bind(args, kwargs, &frame)?;
        Ok(BoundCall::of(&self.callable, checked, lenders))
    }
}

#[pymethods]
impl Frozen {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        // No function of Python stands around it: that would cost a good part of the call.
        let call = || self.callable.call(py, args, kwargs, (&self.frame, Some(&self.last))).map(drop);
        let called = catch_unwind(AssertUnwindSafe(call));
        called.unwrap_or_else(|panic| Err(panicked(&*panic))).map_err(|why| self.named(py, why))
    }
}

impl Frozen {
    /// The failure as the package calls it.
    fn named(&self, py: Python<'_>, why: PyErr) -> PyErr {
        let named = || {
            let captured = self.stencil.bind(py).getattr(intern!(py, "_captured"))?;
            let package = py.import(intern!(py, "isobar.stencil"))?;
            package.call_method1(intern!(py, "of_call"), (why.value(py), captured))
        };
        let named = named().map_or_else(|failure| failure, PyErr::from_value);
        named.set_cause(py, None);
        named
    }
}

/// A bug of ours, as where a function of Python catches it.
fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
    PanicException::new_err(words.unwrap_or("a panic without words").to_owned())
}

/// How a call handles its arrays: the way, the copied fields, the bytes copied before and after, the rows at
/// a time.
type CopySummary = (&'static str, Vec<String>, u64, u64, Option<u64>);

/// A look-up in the store of compiled code: whether the code is there, its key, the most similar key, and the
/// differences.
type Explained = (bool, String, Option<String>, Vec<&'static str>);

/// Looks up whether the code of a request is stored. Returns this, its key, the most similar stored key, and
/// the differences between the two; none where the back end stores nothing.
#[pyfunction]
pub(crate) fn cache_explain(
    py: Python<'_>,
    request: &str,
    wanted: CompileOptions,
) -> PyResult<Option<Explained>> {
    let (project, config) = read(request)?;
    let (executor, setting) = ready(&wanted)?;
    let found = py.detach(|| Executable::explain(&project, config, &*executor, &setting));
    Ok(found.map(|it| (it.is_hit, it.key, it.nearest, it.differs)))
}

/// A back end and its settings.
pub(crate) fn ready(wanted: &CompileOptions) -> PyResult<(Arc<dyn Executor>, OwnedSetting)> {
    let mut setting = OwnedSetting::embedded(wanted.threads);
    setting.mode = if wanted.mode == "fast" { Mode::Fast } else { Mode::Reproducible };
    setting.relayout = if wanted.copies { Relayout::ByCost } else { Relayout::Never };
    setting.cache.clone_from(&wanted.cache);
    setting.temporary.clone_from(&wanted.temporary);
    let executor: Arc<dyn Executor> = match wanted.backend.as_str() {
        "debug" => Arc::new(Debug),
        "numpy" => Arc::new(Numpy),
        "rayon" => Arc::new(Rayon),
        "openmp" => {
            forks::uses(Keeps::Openmp);
            let found = openmp::find_compiler(wanted.cc.as_deref(), wanted.path.as_ref());
            setting.cc = Ok(found.map_err(Unavailable::new_err)?);
            Arc::new(Openmp)
        }
        "cuda" => {
            cuda::check().map_err(Unavailable::new_err)?;
            forks::uses(Keeps::Cuda);
            Arc::new(Cuda::new())
        }
        other => return Err(Unavailable::new_err(format!("there is no back end `{other}`"))),
    };
    Ok((executor, setting))
}

/// The resource of a back end that a forked process lacks.
fn keeps(backend: &str) -> Keeps {
    match backend {
        "openmp" => Keeps::Openmp,
        "cuda" => Keeps::Cuda,
        _ => Keeps::Nothing,
    }
}

/// The state of each back end on this machine: its name, whether it can run, and with which tools or why not.
#[pyfunction]
pub(crate) fn backends(path: &str, cc: Option<&str>) -> Vec<(String, bool, String)> {
    let told = |name: &str, found: Result<String, String>| {
        let (is_there, said) = found.map_or_else(|why| (false, why), |it| (true, it));
        (name.to_owned(), is_there, said)
    };
    let cuda = cuda::check();
    if cuda.is_ok() {
        forks::uses(Keeps::Cuda);
    }
    vec![
        told("rayon", rayon::check()),
        told("openmp", openmp::find_compiler(cc, path.as_ref()).map(|it| it.version)),
        told("numpy", Ok("whole arrays at a time, interpreted".to_owned())),
        told("debug", Ok("point by point, interpreted: the meaning of a stencil".to_owned())),
        told("cuda", cuda),
    ]
}
