//! The ranks of a program: threads of this process, or those of a communicator of Python's.

use std::collections::BTreeMap;

use isobar_compiler::call::array::Elements;
use isobar_program::interpret::{RankMessage, Transport};
use isobar_runtime::programs::{RankThread, Ranks as ThreadRanks};
use numpy::{PyArray1, PyUntypedArray};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::lent;

/// The mailboxes of ranks that are threads of this process.
#[pyclass(frozen, module = "isobar._native")]
pub(crate) struct Ranks(ThreadRanks);

#[pymethods]
impl Ranks {
    #[new]
    fn new(n: u32) -> Self {
        Self(ThreadRanks::new(n))
    }

    /// Says that a rank sends nothing any more.
    fn end(&self, rank: u32) {
        self.0.end(rank);
    }

    /// Sends the elements of an array, in C order.
    fn send(&self, sender: u32, receiver: u32, tag: u32, array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
        self.0.send(sender, receiver, tag, elements_of(array)?).map_err(PyRuntimeError::new_err)
    }

    /// Waits for a message, which is an array of one dimension.
    fn receive<'py>(
        &self,
        py: Python<'py>,
        sender: u32,
        receiver: u32,
        tag: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrived = py.detach(|| self.0.receive(sender, receiver, tag));
        Ok(array_of(py, arrived.map_err(PyRuntimeError::new_err)?))
    }
}

fn elements_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<Elements> {
    // SAFETY: the elements are copied before the array can go.
    #[expect(unsafe_code, reason = "the memory is NumPy's")]
    let buffer = unsafe { lent("message", array, false) }?;
    let array = buffer.array().ok_or_else(|| PyTypeError::new_err("a message is an array of the host"))?;
    Ok(array.c_order(array.first, &array.shape))
}

fn array_of(py: Python<'_>, elements: Elements) -> Bound<'_, PyAny> {
    isobar_compiler::for_elements!(elements, it => PyArray1::from_slice(py, &it).into_any())
}

/// The carrier of the messages of a program's exchanges.
pub(crate) enum RankTransport {
    Threads(RankThread),
    Communicator(CommunicatorTransport),
}

impl RankTransport {
    /// `communicator` has `Isend` and `Irecv` as those of mpi4py; one of `isobar.ranks` is known by its mailboxes.
    pub(crate) fn of(communicator: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = communicator.py();
        let Some(mailboxes) = communicator.getattr_opt(intern!(py, "_isobar_ranks"))? else {
            let communicator = communicator.clone().unbind();
            let transport =
                CommunicatorTransport { communicator, started: BTreeMap::new(), n_started: 0, raised: None };
            return Ok(Self::Communicator(transport));
        };
        let (ranks, rank): (Bound<'_, Ranks>, u32) = mailboxes.extract()?;
        Ok(Self::Threads(RankThread::new(ranks.get().0.clone(), rank)))
    }

    /// The exception of the communicator that ended the run.
    pub(crate) fn raised(&mut self) -> Option<PyErr> {
        match self {
            Self::Threads(_) => None,
            Self::Communicator(it) => it.raised.take(),
        }
    }

    pub(crate) fn transport(&mut self) -> &mut dyn Transport {
        match self {
            Self::Threads(it) => it,
            Self::Communicator(it) => it,
        }
    }
}

/// Messages through a communicator of Python's.
pub(crate) struct CommunicatorTransport {
    communicator: Py<PyAny>,
    started: BTreeMap<u64, StartedMessages>,
    n_started: u64,
    raised: Option<PyErr>,
}

struct StartedMessages {
    sent: Vec<Py<PyAny>>,
    /// The requests with the arrays that they fill; none where no element arrives.
    received: Vec<(Option<Py<PyAny>>, Py<PyAny>)>,
}

impl CommunicatorTransport {
    /// The answer of Python; an exception is kept for the caller.
    fn attempt<T>(&mut self, act: impl FnOnce(Python<'_>, &mut Self) -> PyResult<T>) -> Result<T, String> {
        Python::attach(|py| {
            act(py, self).map_err(|error| {
                let why = error.value(py).to_string();
                self.raised = Some(error);
                why
            })
        })
    }
}

impl Transport for CommunicatorTransport {
    fn start(&mut self, tag: u32, messages: Vec<RankMessage>) -> Result<u64, String> {
        self.attempt(|py, this| {
            let communicator = this.communicator.bind(py);
            let mut started = StartedMessages { sent: Vec::new(), received: Vec::new() };
            // Messages that arrive have their places before anything is sent.
            for it in &messages {
                let array = array_of(py, Elements::zeros(it.sent.dtype(), it.n_received));
                if it.n_received == 0 {
                    started.received.push((None, array.unbind()));
                    continue;
                }
                let named = PyDict::new(py);
                named.set_item(intern!(py, "source"), it.rank)?;
                named.set_item(intern!(py, "tag"), tag)?;
                let request = communicator.call_method(intern!(py, "Irecv"), (&array,), Some(&named))?;
                started.received.push((Some(request.unbind()), array.unbind()));
            }
            for it in messages.into_iter().filter(|it| !it.sent.is_empty()) {
                let named = PyDict::new(py);
                named.set_item(intern!(py, "dest"), it.rank)?;
                named.set_item(intern!(py, "tag"), tag)?;
                let array = array_of(py, it.sent);
                let request = communicator.call_method(intern!(py, "Isend"), (&array,), Some(&named))?;
                // The array may be read until the request is over.
                started.sent.extend([request.unbind(), array.unbind()]);
            }
            this.n_started += 1;
            this.started.insert(this.n_started, started);
            Ok(this.n_started)
        })
    }

    fn finish(&mut self, started: u64) -> Result<Vec<Elements>, String> {
        self.attempt(|py, this| {
            let Some(started) = this.started.remove(&started) else { return Ok(Vec::new()) };
            for it in started.sent.chunks(2) {
                it[0].bind(py).call_method0(intern!(py, "wait"))?;
            }
            let mut arrived = Vec::with_capacity(started.received.len());
            for (request, array) in &started.received {
                if let Some(request) = request {
                    request.bind(py).call_method0(intern!(py, "wait"))?;
                }
                arrived.push(elements_of(array.bind(py).cast::<PyUntypedArray>()?)?);
            }
            Ok(arrived)
        })
    }
}
