//! A stencil that is ready to be called.

use std::sync::{Arc, Mutex, PoisonError};

use isobar_compiler::backend::launch::ScalarInput;
use isobar_compiler::backend::signature::ParamKind;
use isobar_compiler::inputs::Directives;
use isobar_compiler::pipeline::Stage;
use isobar_compiler::project::Project;
use isobar_compiler::types::Value;
use isobar_protocol::compile::{Remark, Signature};
use isobar_protocol::diagnostic::Places;
use isobar_protocol::request::Request;
use isobar_runtime::executable::{self, Arguments, Executable, OwnedSetting, Refusal};
use isobar_runtime::executors::Executor;
use isobar_runtime::executors::interpreters::{Debug, Numpy};
use isobar_runtime::executors::rayon::Rayon;
use isobar_runtime::failure::Failure;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use pyo3::{create_exception, intern};

use crate::arrays::lent;

create_exception!(
    isobar,
    Refused,
    PyException,
    "What does not compile, or does not fit: JSON of its diagnostics."
);
create_exception!(isobar, Trapped, PyException, "A run that ended before its end: JSON of where.");
create_exception!(isobar, Failed, PyException, "The machine refuses.");

/// A stencil with its back end.
#[pyclass(frozen, module = "isobar._native")]
pub(crate) struct Stencil {
    executable: Executable,
}

/// A call whose arguments are checked and fixed; it keeps their arrays alive.
#[pyclass(frozen, module = "isobar._native")]
pub(crate) struct BoundCall {
    executable: Executable,
    bound: Mutex<executable::Bound>,
    _arrays: Vec<Py<PyAny>>,
}

#[pymethods]
impl Stencil {
    /// Compiles a request document, for a back end with so many threads.
    #[new]
    fn new(py: Python<'_>, request: &str, backend: &str, threads: u32) -> PyResult<Self> {
        let wrong = |why: String| PyValueError::new_err(why);
        let request: Request = serde_json::from_str(request).map_err(|why| wrong(why.to_string()))?;
        let main = request.main_file().ok_or_else(|| wrong("the request has no main file".to_owned()))?;
        let files = request.files.iter().map(|(name, text)| (name.clone(), text.as_str().into()));
        let project =
            Project { files: files.collect(), main: main.to_owned(), stencil: request.stencil.clone() };
        let config = request.config(&Directives::default());
        let mut setting = OwnedSetting::embedded(threads);
        let executor = executor(backend, &mut setting)?;
        let made = py.detach(|| Executable::new(&project, config, executor, setting, &|_| ()));
        made.map(|executable| Self { executable }).map_err(|why| refused(why, &project))
    }

    /// What it takes, as JSON.
    fn signature(&self) -> String {
        let signature = self.executable.signature().map(Signature::new);
        serde_json::to_string(&signature).unwrap_or_default()
    }

    /// What was decided while it was compiled, and why, as JSON.
    fn remarks(&self) -> String {
        let compilation = self.executable.compilation();
        let places = Places::new(compilation.sources());
        let remarks: Vec<Remark> = compilation.remarks.iter().map(|it| Remark::new(it, &places)).collect();
        serde_json::to_string(&remarks).unwrap_or_default()
    }

    /// The text of a stage.
    fn text(&self, stage: &str) -> PyResult<Option<String>> {
        let known = Stage::ALL.iter().find(|it| it.name() == stage);
        let known = known.ok_or_else(|| {
            let all: Vec<&str> = Stage::ALL.iter().map(|it| it.name()).collect();
            PyValueError::new_err(format!("there is no stage `{stage}`; there are {}", all.join(", ")))
        })?;
        Ok(self.executable.compilation().listing(*known).map(|it| it.text.clone()))
    }

    /// Checks a call, and fixes it.
    #[expect(unsafe_code, reason = "the memory is NumPy's")]
    fn bind(
        &self,
        fields: &Bound<'_, PyDict>,
        scalars: &Bound<'_, PyDict>,
        domain: Option<[i64; 3]>,
        origins: &Bound<'_, PyDict>,
    ) -> PyResult<BoundCall> {
        let mut arguments = Arguments { domain, ..Arguments::default() };
        let mut arrays = Vec::new();
        let written = |name: &str| {
            let param = self.executable.signature().and_then(|it| it.param(name));
            param.is_some_and(|it| matches!(it.kind, ParamKind::Field { .. }) && it.access.is_written())
        };
        for (name, array) in fields {
            let name: String = name.extract()?;
            let array = array.cast::<PyUntypedArray>()?;
            // SAFETY: the call keeps the array.
            let buffer = unsafe { lent(&name, array, written(&name)) }?;
            let origin = origins.get_item(&name)?.map(|it| it.extract::<Vec<i64>>()).transpose()?;
            let buffer = match origin {
                Some(origin) => buffer.with_origin(&origin),
                None => buffer,
            };
            arrays.push(array.clone().into_any().unbind());
            arguments.fields.insert(name, buffer);
        }
        for (name, value) in scalars {
            let name: String = name.extract()?;
            let input = scalar(&name, &value)?;
            arguments.scalars.insert(name, input);
        }
        let bound = self.executable.bind(arguments).map_err(|why| refused(why, &Project::default()))?;
        Ok(BoundCall { executable: self.executable.clone(), bound: Mutex::new(bound), _arrays: arrays })
    }
}

#[pymethods]
impl BoundCall {
    /// Calls the stencil; other threads of Python run meanwhile.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        let ran = py.detach(|| {
            let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
            self.executable.run(&mut bound)
        });
        ran.map_err(failed)
    }

    /// The points along I, J and K.
    fn domain(&self) -> [i64; 3] {
        let bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        let domain = bound.launch().domain;
        [domain.i, domain.j, domain.k]
    }
}

fn executor(backend: &str, setting: &mut OwnedSetting) -> PyResult<Arc<dyn Executor>> {
    Ok(match backend {
        "debug" => Arc::new(Debug),
        "numpy" => Arc::new(Numpy),
        "rayon" => Arc::new(Rayon),
        other => {
            let _ = setting;
            return Err(PyValueError::new_err(format!("there is no back end `{other}` here")));
        }
    })
}

fn scalar(name: &str, value: &Bound<'_, PyAny>) -> PyResult<ScalarInput> {
    if let Ok(it) = value.cast::<PyBool>() {
        return Ok(ScalarInput::Bool(it.is_true()));
    }
    if value.cast::<PyInt>().is_ok() {
        return Ok(ScalarInput::Int(value.extract()?));
    }
    // NumPy's numbers know their type; its `float64` is a number of Python's too.
    let dtype = value.getattr(intern!(value.py(), "dtype")).ok();
    let dtype: Option<String> =
        dtype.and_then(|it| it.getattr(intern!(value.py(), "name")).ok()?.extract().ok());
    match dtype.as_deref() {
        None if value.cast::<PyFloat>().is_ok() => Ok(ScalarInput::Float(value.extract()?)),
        Some("float64") => Ok(ScalarInput::Typed(Value::Float64(value.extract()?))),
        Some("float32") => Ok(ScalarInput::Typed(Value::Float32(value.extract()?))),
        Some("int64") => Ok(ScalarInput::Typed(Value::Int64(value.extract()?))),
        Some("int32") => Ok(ScalarInput::Typed(Value::Int32(value.extract()?))),
        Some("int16") => Ok(ScalarInput::Typed(Value::Int16(value.extract()?))),
        Some("int8") => Ok(ScalarInput::Typed(Value::Int8(value.extract()?))),
        Some("bool") => Ok(ScalarInput::Typed(Value::Bool(value.extract()?))),
        _ => {
            let kind = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("`{name}` is a scalar, and was given a {kind}")))
        }
    }
}

/// What does not compile, or does not fit.
fn refused(why: Refusal, project: &Project) -> PyErr {
    match why {
        Refusal::Diagnostics(found) => {
            let places = Places::new(project.files.iter().map(|(name, text)| (name.as_str(), &**text)));
            let told: Vec<_> = found.iter().map(|it| places.diagnostic(it)).collect();
            Refused::new_err(serde_json::to_string(&told).unwrap_or_default())
        }
        Refusal::Elsewhere { field, is_on, runs_on } => PyValueError::new_err(format!(
            "`{field}` lies on {is_on}, and the back end runs on {runs_on}: nothing is copied there unasked"
        )),
        Refusal::Failure(why) => failed(why),
    }
}

fn failed(why: Failure) -> PyErr {
    match why {
        Failure::Cancelled => Failed::new_err("the run was told to end"),
        Failure::OutOfMemory => {
            pyo3::exceptions::PyMemoryError::new_err("a stencil's temporaries do not fit into memory")
        }
        Failure::Trap { message, cell, .. } => {
            Trapped::new_err(serde_json::json!({"message": message, "cell": cell}).to_string())
        }
        Failure::Code(why) | Failure::Machine(why) => Failed::new_err(why),
    }
}
