//! What runs an artifact with its inputs. This happens in a job's process only.

pub mod foreign;
pub mod interpreters;
pub mod openmp;

pub(crate) mod steps;

use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::signature::{Param, ParamKind};
use isobar_compiler::diag::StmtId;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_protocol::request::Request;

use crate::config::Tools;
use crate::error::ApiError;
use crate::wire::Order;

use steps::Sink;

/// A back end of this runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Debug,
    Numpy,
    Openmp,
}

impl Backend {
    pub const ALL: [Backend; 3] = [Backend::Debug, Backend::Numpy, Backend::Openmp];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Backend::Debug => "debug",
            Backend::Numpy => "numpy",
            Backend::Openmp => "openmp",
        }
    }

    /// The back end that a request names.
    ///
    /// # Errors
    ///
    /// When it names none, or one that is not known.
    pub fn of(request: &Request) -> Result<Self, ApiError> {
        let known: Vec<&'static str> = Self::ALL.iter().map(|it| it.name()).collect();
        let Some(name) = &request.backend else {
            return Err(ApiError::NoBackend { known });
        };
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| ApiError::UnknownBackend { name: name.clone(), known })
    }

    /// Whether it can run here.
    ///
    /// # Errors
    ///
    /// The reason why it cannot.
    pub fn check(self, tools: &Tools) -> Result<(), ApiError> {
        match (self, &tools.cc) {
            (Backend::Openmp, Err(reason)) => {
                Err(ApiError::BackendUnavailable { name: self.name().to_owned(), reason: reason.clone() })
            }
            (Backend::Debug | Backend::Numpy | Backend::Openmp, _) => Ok(()),
        }
    }

    /// What runs it.
    #[must_use]
    pub(crate) fn executor(self) -> Box<dyn Executor> {
        match self {
            Backend::Debug => Box::new(interpreters::Debug),
            Backend::Numpy => Box::new(interpreters::Numpy),
            Backend::Openmp => Box::new(openmp::Openmp),
        }
    }
}

/// All back ends, with what they found here or why they cannot run.
#[must_use]
pub fn backends(tools: &Tools) -> Vec<isobar_protocol::job::Backend> {
    let describe = |it: Backend| {
        let (available, detail) = match (it, &tools.cc) {
            (Backend::Debug, _) => (true, "interpreter, defines the meaning".to_owned()),
            (Backend::Numpy, _) => (true, "operations on whole arrays".to_owned()),
            (Backend::Openmp, Ok(cc)) => (true, cc.version.clone()),
            (Backend::Openmp, Err(reason)) => (false, reason.clone()),
        };
        isobar_protocol::job::Backend {
            name: it.name().to_owned(),
            device: "cpu".to_owned(),
            available,
            detail,
        }
    };
    Backend::ALL.into_iter().map(describe).collect()
}

/// One run.
pub(crate) struct Work<'a> {
    pub compilation: &'a Compilation,
    pub launch: &'a mut Launch,
    pub order: &'a Order,
    pub sink: Sink<'a>,
}

impl Work<'_> {
    /// What the run has to move at least: within the compute domain, each field that is read once, and
    /// each that is written once.
    pub(crate) fn traffic_bytes(&self) -> u64 {
        let Some(signature) = &self.compilation.signature else { return 0 };
        let domain = self.launch.domain;
        let of = |param: &Param| match &param.kind {
            ParamKind::Field { axes, data_dims, dtype, .. } => {
                let times = u64::from(param.access.is_read()) + u64::from(param.access.is_written());
                let points = axes.iter().map(|axis| u64::try_from(domain.along(axis)).unwrap_or(0));
                let points = points.chain(data_dims.iter().map(|&size| u64::from(size)));
                points.fold(times * dtype.size_bytes() as u64, u64::saturating_mul)
            }
            ParamKind::Scalar { .. } => 0,
        };
        signature.params.iter().map(of).fold(0, u64::saturating_add)
    }
}

/// Why a run ended before its end.
#[derive(Debug)]
pub(crate) enum Failure {
    Cancelled,
    OutOfMemory,
    Trap {
        message: String,
        statement: StmtId,
        cell: [i64; 3],
    },
    /// The C compiler refused; this is what it said.
    Code(String),
    Machine(String),
}

/// The contract with each back end.
pub(crate) trait Executor {
    /// What a run with so many threads allocates beside its arguments; `None` where that is beyond any memory.
    /// `arguments` are none where they are not made yet.
    fn workspace_bytes(
        &self,
        compilation: &Compilation,
        domain: Domain,
        threads: u32,
        arguments: &[Argument],
    ) -> Option<u64>;

    /// Runs; the arrays of the launch are updated in place.
    fn run(&self, work: Work<'_>) -> Result<(), Failure>;
}
