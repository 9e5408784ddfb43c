//! The back ends of this runner by name, and what runs each: an executor of the runtime.

use isobar_protocol::request::Request;
pub use isobar_runtime::events;
pub use isobar_runtime::executors::{
    CCompiler, Executor, Failure, Mode, Near, Prepared, Progress, Setting, Vectors, foreign,
};
use isobar_runtime::executors::{interpreters, openmp, rayon};

use crate::config::Tools;
use crate::error::ApiError;

/// A back end of this runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Debug,
    Numpy,
    Rayon,
    Openmp,
}

impl Backend {
    pub const ALL: [Backend; 4] = [Backend::Debug, Backend::Numpy, Backend::Rayon, Backend::Openmp];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Backend::Debug => "debug",
            Backend::Numpy => "numpy",
            Backend::Rayon => "rayon",
            Backend::Openmp => "openmp",
        }
    }

    /// The back end that a request names; machine code made in process where it names none.
    ///
    /// # Errors
    ///
    /// When it names one that is not known.
    pub fn of(request: &Request) -> Result<Self, ApiError> {
        request.backend.as_deref().map_or(Ok(Backend::Rayon), Self::named)
    }

    /// The back ends that a request measures, or the one that it runs.
    ///
    /// # Errors
    ///
    /// When it names one that is not known.
    pub fn all_of(request: &Request) -> Result<Vec<Self>, ApiError> {
        match &request.bench {
            Some(bench) if !bench.backends.is_empty() => {
                let mut found = Vec::new();
                for name in &bench.backends {
                    let it = Self::named(name)?;
                    if !found.contains(&it) {
                        found.push(it);
                    }
                }
                Ok(found)
            }
            _ => Self::of(request).map(|it| vec![it]),
        }
    }

    fn named(name: &str) -> Result<Self, ApiError> {
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| ApiError::UnknownBackend { name: name.to_owned(), known: Self::names() })
    }

    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|it| it.name()).collect()
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
            (Backend::Rayon, _) => rayon::check()
                .map(|_| ())
                .map_err(|reason| ApiError::BackendUnavailable { name: self.name().to_owned(), reason }),
            (Backend::Debug | Backend::Numpy | Backend::Openmp, _) => Ok(()),
        }
    }

    /// Whether it runs loops as a schedule says.
    #[must_use]
    pub fn follows_schedules(self) -> bool {
        match self {
            Backend::Rayon | Backend::Openmp => true,
            Backend::Debug | Backend::Numpy => false,
        }
    }

    /// What runs it.
    #[must_use]
    pub fn executor(self) -> Box<dyn Executor> {
        match self {
            Backend::Debug => Box::new(interpreters::Debug),
            Backend::Numpy => Box::new(interpreters::Numpy),
            Backend::Rayon => Box::new(rayon::Rayon),
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
            (Backend::Rayon, _) => match rayon::check() {
                Ok(processor) => (true, format!("machine code made in process, {processor}")),
                Err(reason) => (false, reason),
            },
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
