//! A program of several stencils that is ready to be called.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use isobar_compiler::inputs::Directives;
use isobar_program::interpret::{Callback, HaloFill};
use isobar_protocol::request::Request;
use isobar_runtime::machine::DetectedMachine;
use isobar_runtime::programs::{
    ProgramArguments, ProgramExecutable, ProgramMemory, ProgramRefusal, RunSurroundings,
};
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::lent;
use crate::failures::diagnosed;
use crate::ranks::RankTransport;
use crate::scalars::scalar;
use crate::stencil::{CompileOptions, ready};

/// A program on its domain, with its state.
#[pyclass(frozen, module = "isobar._native")]
pub(crate) struct Program {
    executable: Mutex<ProgramExecutable>,
    text: String,
    document: String,
    fields: Vec<String>,
    /// The fields that it may write.
    written: BTreeSet<String>,
}

fn refused(why: &ProgramRefusal) -> PyErr {
    diagnosed(&why.diagnostics, why.files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
}

#[pymethods]
impl Program {
    /// Compiles a document or an object graph. `halo` names what exchanges store. `options` is a request with what it says
    /// of all stencils.
    #[new]
    fn new(
        py: Python<'_>,
        document: &str,
        wanted: CompileOptions,
        domain: [i64; 3],
        halo: &str,
        options: &str,
    ) -> PyResult<Self> {
        let fill = HaloFill::from_name(halo)
            .ok_or_else(|| PyValueError::new_err(format!("there is no halo `{halo}`")))?;
        let options: Request =
            serde_json::from_str(options).map_err(|why| PyValueError::new_err(why.to_string()))?;
        let mut config = options.config(&Directives::default());
        config.passes.machine = Some(DetectedMachine::here().machine);
        let (executor, setting) = ready(&wanted)?;
        let named = ("program.json", document);
        let made = py.detach(|| ProgramExecutable::new(named, config, (domain, fill), executor, setting));
        let executable = made.map_err(|why| refused(&why))?;
        let text = executable.text().to_owned();
        let document = executable.document().to_owned();
        let written = executable.written().map(str::to_owned).collect();
        let fields = executable.fields().map(str::to_owned).collect();
        Ok(Self { executable: Mutex::new(executable), text, document, fields, written })
    }

    /// The text of the program, with the groups of calls that are one piece of code.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of its fields behind its first run: given, state, locals, and locals with an array for each. Nothing while it
    /// runs.
    #[getter]
    fn memory(&self) -> Option<(u64, u64, u64, u64)> {
        let executable = self.executable.try_lock().ok()?;
        let ProgramMemory { given, state, locals, locals_alone } = executable.memory();
        Some((given, state, locals, locals_alone))
    }

    /// The names of the fields that a run is given.
    #[getter]
    fn fields(&self) -> Vec<&str> {
        self.fields.iter().map(String::as_str).collect()
    }

    /// The document that was compiled, as JSON.
    #[getter]
    fn document(&self) -> &str {
        &self.document
    }

    /// Runs it once, on NumPy's arrays and numbers by the names of the document. `host` answers callbacks by their names.
    /// `communicator` carries messages to other ranks. Answers the number of calls.
    #[pyo3(signature = (fields, scalars, host, communicator=None))]
    fn run(
        &self,
        py: Python<'_>,
        fields: &Bound<'_, PyDict>,
        scalars: &Bound<'_, PyDict>,
        host: Py<PyAny>,
        communicator: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let mut arguments = ProgramArguments::default();
        for (name, array) in fields {
            let name: String = name.extract()?;
            let array = array.cast::<PyUntypedArray>()?;
            // SAFETY: the dictionary holds the arrays until the run is over.
            #[expect(unsafe_code, reason = "the memory is NumPy's")]
            let buffer = unsafe { lent(&name, array, self.written.contains(&name)) }?;
            arguments.fields.insert(name, buffer);
        }
        for (name, value) in scalars {
            let name: String = name.extract()?;
            let value = scalar(&name, &value)?;
            arguments.scalars.insert(name, value);
        }
        let busy = || PyRuntimeError::new_err("the program runs already, in another thread");
        let mut raised = None;
        let mut answer = |callback: &mut Callback<'_>| {
            Python::attach(|py| match host.call1(py, (callback.name(),)) {
                Ok(_) => Ok(()),
                Err(error) => {
                    let why = error.value(py).to_string();
                    raised = Some(error);
                    Err(why)
                }
            })
        };
        let mut ranks = communicator.map(RankTransport::of).transpose()?;
        let ended = py.detach(|| {
            let executable = self.executable.try_lock();
            let mut executable = match executable {
                Ok(it) => it,
                Err(std::sync::TryLockError::Poisoned(it)) => PoisonError::into_inner(it),
                Err(std::sync::TryLockError::WouldBlock) => return None,
            };
            let transport = ranks.as_mut().map(RankTransport::transport);
            let around = RunSurroundings { host: &mut answer, transport };
            Some(executable.run(arguments, around))
        });
        if let Some(error) = ranks.as_mut().and_then(RankTransport::raised).or(raised) {
            return Err(error);
        }
        let report = ended.ok_or_else(busy)?.map_err(|why| refused(&why))?;
        Ok(report.n_calls)
    }
}
