//! The state that all requests share.

use std::sync::Arc;

use isobar_protocol::job::Backend;
use isobar_protocol::limits::Limits;

use crate::auth::{Auth, Hosts};
use crate::config::Tools;
use crate::confine::{Confined, try_to_break_out};
use crate::jobs::compiling;
use crate::jobs::started::WorkerPool;
use crate::jobs::{Jobs, Store};
use crate::turns::Turns;
use crate::uploads::Uploads;

/// So many processes wait for jobs.
const MOST_WAITING: usize = 16;

/// Cheap to copy.
#[derive(Clone, Debug)]
pub struct AppState(Arc<Shared>);

/// The parts of [`AppState`].
#[derive(Debug)]
pub struct Shared {
    pub auth: Auth,
    pub hosts: Hosts,
    pub limits: Limits,
    pub tools: Arc<Tools>,
    pub backends: Vec<Backend>,
    pub jobs: Jobs,
    pub uploads: Uploads,
    /// Processes that wait for jobs and compilations.
    pub waiting: WorkerPool,
    /// The parts of the sandbox that hold jobs here.
    pub confined: Confined,
    /// The places of compilations for clients.
    pub(crate) compiling: Turns,
}

impl AppState {
    /// A runner that answers to `hosts` and accepts `auth`.
    #[must_use]
    pub fn new(auth: Auth, hosts: Hosts, limits: Limits, tools: Tools) -> Self {
        Self::with_store(auth, hosts, limits, tools, Store::none())
    }

    /// Such a runner, whose jobs are kept in `store`.
    #[must_use]
    pub fn with_store(auth: Auth, hosts: Hosts, limits: Limits, tools: Tools, store: Store) -> Self {
        let confined = Confined::here(&tools.worker, &tools.temporary);
        let tools = Arc::new(Tools { promised: confined.held.clone(), ..tools });
        let n_waiting = usize::try_from(limits.jobs_at_once).unwrap_or(1).min(MOST_WAITING);
        let waiting = WorkerPool::new(Arc::clone(&tools), n_waiting);
        let backends = tools.backends.described(&tools.found());
        let jobs = Jobs::new(limits, waiting.clone(), Arc::clone(&tools), store);
        let uploads = Uploads::new(limits);
        let compiling = compiling::turns(&limits, tools.cores);
        Self(Arc::new(Shared {
            auth,
            hosts,
            limits,
            tools,
            backends,
            jobs,
            uploads,
            waiting,
            confined,
            compiling,
        }))
    }
}

impl AppState {
    /// Whether every part of the sandbox is there and holds against test processes that try to break out.
    ///
    /// # Errors
    ///
    /// The missing parts, or the first way out.
    pub(crate) fn holds_jobs(&self) -> Result<(), String> {
        self.confined.is_whole()?;
        try_to_break_out(&self.tools.worker, &self.tools.temporary)
    }
}

impl std::ops::Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}
