//! Whether GPUs still work: after a job that did not end by itself, a small one is run before the next.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::limits::Limits;
use isobar_protocol::problem::Problem;
use isobar_protocol::request::Request;
use tokio::sync::{Mutex, watch};

use super::child::{self, Bounds};
use super::memory::MemoryClaim;
use super::started::WorkerPool;
use crate::backends::Backend;
use crate::problems;
use crate::wire::{Fields, Order};

/// Writes 2 everywhere.
const TEXT: &str = "\
# @input a constant(1)
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

def probe(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a + 1.0
";
const EXPECTED: f64 = 2.0;
const DOMAIN: [i64; 3] = [8, 8, 8];
const BYTES: usize = 8 * 8 * 8 * 8;

/// A driver starts and makes a kernel within this time.
const LONGEST_MS: u64 = 60_000;

/// The GPUs of this machine.
#[derive(Debug, Default)]
pub(crate) struct Gpus {
    is_suspect: AtomicBool,
    /// One probe at a time.
    probing: Mutex<()>,
}

impl Gpus {
    /// A job on a GPU is over.
    pub(super) fn ended(&self, reason: EndReason) {
        match reason {
            EndReason::Ok | EndReason::Error | EndReason::Trap => {}
            // It was in the middle of something.
            EndReason::Crash
            | EndReason::Limit
            | EndReason::Cancelled
            | EndReason::RunnerShutdown
            | EndReason::Interrupted => self.is_suspect.store(true, Ordering::SeqCst),
        }
    }

    /// Tries `backend` where the job before may have harmed its GPU.
    ///
    /// # Errors
    ///
    /// The next job is told this, and the one after it tries again.
    pub(super) async fn are_sound(
        &self,
        backend: Backend,
        waiting: &WorkerPool,
        limits: &Limits,
    ) -> Result<(), Problem> {
        let _alone = self.probing.lock().await;
        if !self.is_suspect.load(Ordering::SeqCst) {
            return Ok(());
        }
        let (reason, is_right) = probe(backend, waiting, limits).await;
        if reason == EndReason::Ok && is_right {
            self.is_suspect.store(false, Ordering::SeqCst);
            return Ok(());
        }
        let name = backend.name();
        tracing::error!(backend = name, "a GPU does not work after a job that did not end by itself");
        let detail = format!(
            "the GPU of `{name}` does not work since a job before did not end by itself; it is tried again before \
             the next job"
        );
        Err(problems::BACKEND_UNAVAILABLE.problem(detail))
    }
}

/// Runs a small stencil; answers how it ended, and whether its field is right.
async fn probe(backend: Backend, waiting: &WorkerPool, limits: &Limits) -> (EndReason, bool) {
    let request = Request {
        files: BTreeMap::from([("probe.py".to_owned(), TEXT.to_owned())]),
        backend: Some(backend.name().to_owned()),
        domain: Some(DOMAIN),
        init: Some(BTreeMap::new()),
        ..Request::default()
    };
    let order = Order::new(request, false, limits, waiting.tools());
    let bounds = Bounds { run_ms: LONGEST_MS, result_bytes: limits.kept_bytes, room: MemoryClaim::default() };
    let (_stop, stopped) = watch::channel(None);
    let mut is_right = false;
    let sink = |event: EventKind, bytes: Vec<u8>| {
        if let EventKind::Field { field } = event
            && field.name == "b"
        {
            let elements = bytes.as_chunks().0.iter().copied().map(f64::from_le_bytes);
            is_right = bytes.len() == BYTES && elements.map(f64::to_bits).all(|it| it == EXPECTED.to_bits());
        }
    };
    let (reason, _) = child::drive(waiting, "probe", order, Fields::None, bounds, stopped, sink).await;
    (reason, is_right)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use isobar_protocol::field::{FieldInfo, Statistics};

    use super::*;
    use crate::config::{Environment, Tools};
    use crate::jobs::{Jobs, Store};
    use crate::turns::Client;
    use crate::wire::{self, WorkerMessage};

    /// A runner whose processes write their names down, and end as the files in `folder` say.
    fn runner(folder: &Path) -> Jobs {
        let path = folder.join("worker");
        let text = format!(
            "#!/bin/sh\ncd {}\necho \"$2\" >> names\n[ -e crash ] && rm crash && kill -SEGV $$\n\
             [ -e broken ] && [ \"$2\" = probe ] && kill -SEGV $$\ncat said\ncat > /dev/null\n",
            folder.display()
        );
        fs::write(&path, text).expect("it is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("it is ours");
        let field = FieldInfo {
            name: "b".to_owned(),
            dtype: "float64".to_owned(),
            axes: "IJK".to_owned(),
            shape: vec![8; 3],
            origin: vec![0; 3],
            domain: vec![8; 3],
            statistics: Statistics::default(),
        };
        let mut said = Vec::new();
        let bytes: Vec<u8> = std::iter::repeat_n(EXPECTED.to_le_bytes(), BYTES / 8).flatten().collect();
        let ended = EventKind::Ended { reason: EndReason::Ok, problem: None };
        wire::write(&mut said, &WorkerMessage::Event(EventKind::Field { field }), &bytes)
            .expect("memory takes it");
        wire::write(&mut said, &WorkerMessage::Event(ended), &[]).expect("memory takes it");
        fs::write(folder.join("said"), said).expect("it is ours");
        let tools = Tools::find(&Environment {
            path: "/usr/bin:/bin".into(),
            temporary: folder.to_owned(),
            ..Environment::default()
        });
        let tools = Arc::new(Tools { worker: path, ..tools });
        Jobs::new(Limits::default(), WorkerPool::new(Arc::clone(&tools), 0), tools, Store::none())
    }

    async fn run(jobs: &Jobs, backend: &str) -> EndReason {
        let request = Request {
            files: BTreeMap::from([("main.py".to_owned(), TEXT.to_owned())]),
            backend: Some(backend.to_owned()),
            ..Request::default()
        };
        let tools = Tools::find(&Environment::default());
        let order = Order::new(request, false, &Limits::default(), &tools);
        let job = jobs.admit(Client::default(), order, Fields::None, None).await.expect("there is room");
        for _ in 0..4000 {
            if let Some(reason) = job.state().reason {
                return reason;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the job does not end");
    }

    #[tokio::test]
    async fn a_gpu_is_tried_after_a_crash_and_before_the_next_job() {
        let folder = tempfile::tempdir().expect("a folder");
        let jobs = runner(folder.path());
        let probes = || {
            let names = fs::read_to_string(folder.path().join("names")).unwrap_or_default();
            names.lines().map(|it| it == "probe").collect::<Vec<_>>()
        };
        let put = |name: &str| fs::write(folder.path().join(name), "").expect("it is ours");
        assert_eq!(run(&jobs, "wgpu").await, EndReason::Ok);
        put("crash");
        assert_eq!(run(&jobs, "wgpu").await, EndReason::Crash);
        // One on a processor needs no GPU.
        assert_eq!(run(&jobs, "rayon").await, EndReason::Ok);
        assert_eq!(probes(), [false; 3]);
        put("broken");
        assert_eq!(run(&jobs, "wgpu").await, EndReason::Error);
        assert_eq!(probes(), [false, false, false, true]);
        fs::remove_file(folder.path().join("broken")).expect("it is ours");
        assert_eq!(run(&jobs, "wgpu").await, EndReason::Ok);
        assert_eq!(run(&jobs, "wgpu").await, EndReason::Ok);
        assert_eq!(probes(), [false, false, false, true, true, false, false]);
    }
}
