//! Puts the entries that a job's process made into the cache, which belongs to the runner. Entries are taken
//! only until code of the client runs in that process, because from then on the code could forge them.

use std::path::PathBuf;

use isobar_compiler::pass::MachineModel;
use isobar_compiler::space::Domain;
use isobar_protocol::bench::CopyRate;
use isobar_protocol::job::EventKind;
use isobar_protocol::request::Request;
use isobar_runtime::cache::{self, HandedEntry};
use isobar_runtime::copying;

use crate::backends::{Backend, CCompiler};
use crate::compile::ConfiguredProject;
use crate::config::Tools;
use crate::tuned::{self, For};
use crate::wire::Order;

/// Entries of one job.
const MOST_ENTRIES: usize = 256;
/// One of them.
const MOST_BYTES: u64 = 256 << 20;

/// The cache, as one job may add to it.
#[derive(Debug)]
pub(super) struct Keeping {
    root: Option<PathBuf>,
    /// The machine that the runner is on.
    machine: MachineModel,
    /// Whether it copies between arrays of the host.
    is_of_host: bool,
    threads: u32,
    left: usize,
    has_told: bool,
    /// Whether code of the client runs. From then on, its process is not trusted to measure the machine.
    runs: bool,
    /// The search for schedules that was asked for; it tells once.
    searched: Option<Box<Searched>>,
}

/// The values that make up the key of a schedule, except for the domain, which may be that of the given
/// arrays.
#[derive(Debug)]
struct Searched {
    request: Request,
    source: ConfiguredProject,
    backend: Backend,
    cc: Result<CCompiler, String>,
}

impl Keeping {
    pub(super) fn of(order: &Order, tools: &Tools) -> Self {
        let request = &order.request;
        let backends = tools.backends.all_of(request).unwrap_or_default();
        Self {
            root: order.cache.clone(),
            machine: (&order.machine).into(),
            is_of_host: request.bench.is_none() && !backends.iter().any(|it| it.is_on_gpu()),
            threads: order.threads,
            left: MOST_ENTRIES,
            has_told: false,
            runs: false,
            searched: match (&request.tune, backends.as_slice()) {
                (Some(_), &[backend]) => Some(Box::new(Searched {
                    request: request.clone(),
                    source: ConfiguredProject::of(request),
                    backend,
                    cc: order.cc.clone(),
                })),
                _ => None,
            },
        }
    }

    /// So many bytes an entry has at most.
    pub(super) fn most_bytes(&self) -> u64 {
        if self.left > 0 { MOST_BYTES } else { 0 }
    }

    /// Code runs now: nothing more is taken.
    pub(super) fn ends(&mut self) {
        self.left = 0;
        self.runs = true;
    }

    /// Puts an entry in; answers what there is to say, once.
    pub(super) async fn take(&mut self, handed: HandedEntry, code: Vec<u8>) -> Option<String> {
        let Some(root) = self.root.clone().filter(|_| self.left > 0) else {
            tracing::warn!("a job handed over code for the cache when none is taken");
            return None;
        };
        self.left -= 1;
        let put = move || cache::take(&root, &handed, (!code.is_empty()).then_some(&code));
        let done = tokio::task::spawn_blocking(put).await.unwrap_or_else(|why| Err(why.to_string()));
        let why = done.err()?;
        tracing::warn!("compiled code is not kept: {why}");
        (!std::mem::replace(&mut self.has_told, true)).then(|| cache::not_kept(&why))
    }

    /// Keeps what is told of this machine and of schedules; answers the event as it is told on.
    pub(super) async fn heard(&mut self, event: EventKind) -> (EventKind, Option<String>) {
        let Some(root) = self.root.clone() else { return (event, None) };
        match event {
            EventKind::Copy { copy } => {
                let CopyRate { bytes_per_s, threads } = copy;
                let is_ours = self.is_of_host && threads == self.threads && !self.runs;
                if is_ours {
                    let machine = self.machine.clone();
                    let rate = copying::CopyRate { bytes_per_s, threads };
                    let _ = tokio::task::spawn_blocking(move || copying::keep(&root, &machine, rate)).await;
                }
                (EventKind::Copy { copy }, None)
            }
            EventKind::Tuning { mut tuning } => {
                let Some(searched) = self.searched.take() else {
                    tracing::warn!("a job told of a schedule that nobody asked it for");
                    return (EventKind::Tuning { tuning }, None);
                };
                let threads = self.threads;
                let settled = tokio::task::spawn_blocking(move || {
                    let Searched { request, source, backend, cc } = &*searched;
                    let [i, j, k] = tuning.domain;
                    let domain = Domain { i, j, k };
                    let key = For { request, source, backend: *backend, threads, cc, domain }.key();
                    let done = tuned::settle(&root, &key, &mut tuning);
                    (tuning, done)
                });
                match settled.await {
                    Ok((tuning, done)) => {
                        let log = done.err().map(|why| format!("the schedule is not kept: {why}"));
                        (EventKind::Tuning { tuning }, log)
                    }
                    Err(why) => (EventKind::Log { text: format!("the schedule is not kept: {why}") }, None),
                }
            }
            other => (other, None),
        }
    }
}
