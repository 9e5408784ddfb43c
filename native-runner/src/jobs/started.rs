//! Processes that are started before there is a job for them: starting one takes longer than many a job.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, kill_process_group, setpriority_pgrp};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::folder::{self, Folder};
use crate::config::Tools;

/// A field goes through it in a few parts.
const PIPE_BYTES: usize = 1024 * 1024;

/// How the C library gets memory for a process that lives for one job. Large pages are used where the system
/// has them, because getting small ones takes a third of a short job's time. All threads share one arena, and
/// no memory is returned before the end.
const MEMORY: &str = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1:glibc.malloc.mmap_threshold=33554432:\
    glibc.malloc.trim_threshold=1073741824:glibc.malloc.top_pad=2097152";

/// Threads of `openmp` spin for so many iterations, about half a millisecond: the usual time between steps.
/// With GCC's default they would spin a hundred times as long while fields are sent.
const AWAKE: &str = "30000";

/// A process that waits for an order, and the folder that is its own.
#[derive(Debug)]
pub(super) struct WorkerProcess {
    // Ended before its folder goes.
    pub group: Group,
    pub child: Child,
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub folder: Folder,
}

/// Ends the process and everything that it started when dropped.
#[derive(Debug)]
pub(super) struct Group(Option<Pid>);

impl Group {
    /// Others have the processors before it.
    pub(super) fn yields(&self, nice: i32) {
        // It is a kindness to others: where it fails, nothing is lost.
        let _ = self.0.map(|group| setpriority_pgrp(Some(group), nice));
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It fails where everything has ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl WorkerProcess {
    /// Starts one, with this name in the list of processes.
    pub(super) fn new(tools: &Tools, name: &str) -> io::Result<Self> {
        // It outlives the process, whatever ends that.
        let folder = folder::make(&tools.temporary)?;
        let mut child = command(tools, name, folder.path()).spawn()?;
        let group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                // Where so much is not allowed, results come in smaller parts.
                let _ = fcntl_setpipe_size(&stdout, PIPE_BYTES);
                Ok(Self { group, child, stdin, stdout, stderr, folder })
            }
            _ => Err(io::Error::other("the process has no pipes")),
        }
    }
}

/// The command has an empty environment except for the C compiler's needs and the places of a GPU's
/// libraries. Its process group is its own, so that it can be ended as a whole.
fn command(tools: &Tools, name: &str, folder: &Path) -> Command {
    let mut command = Command::new(&tools.worker);
    command
        .args(["worker", name])
        .env_clear()
        .env("PATH", &tools.path)
        .env("TMPDIR", folder)
        .env("LC_ALL", "C")
        .env("GLIBC_TUNABLES", MEMORY)
        .env("GOMP_SPINCOUNT", AWAKE)
        // Drivers of GPUs look there for a screen, and complain where there is no such folder.
        .env("XDG_RUNTIME_DIR", folder)
        .envs(tools.for_kernels.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Those that wait. Cheap to copy.
#[derive(Clone, Debug)]
pub struct WorkerPool(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    tools: Arc<Tools>,
    most: usize,
    is_open: AtomicBool,
    ready: Mutex<Ready>,
}

#[derive(Debug, Default)]
struct Ready {
    waiting: VecDeque<WorkerProcess>,
    /// Those that are being started: they have their place.
    n_starting: usize,
}

impl Pool {
    fn ready(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkerPool {
    /// Room for so many; none is started yet.
    #[must_use]
    pub fn new(tools: Arc<Tools>, most: usize) -> Self {
        Self(Arc::new(Pool { tools, most, is_open: AtomicBool::new(false), ready: Mutex::default() }))
    }

    /// The tools that the processes work with.
    #[must_use]
    pub fn tools(&self) -> &Tools {
        &self.0.tools
    }

    /// One that waited and is still there, else a new one. Another takes its place.
    pub(super) fn take(&self, name: &str) -> io::Result<WorkerProcess> {
        let mut found = None;
        while let Some(mut it) = self.pop() {
            if matches!(it.child.try_wait(), Ok(None)) {
                found = Some(it);
                break;
            }
        }
        self.fill();
        found.map_or_else(|| WorkerProcess::new(self.tools(), name), Ok)
    }

    fn pop(&self) -> Option<WorkerProcess> {
        self.0.ready().waiting.pop_front()
    }

    /// From now on there are as many as there is room for.
    pub(crate) fn open(&self) {
        self.0.is_open.store(true, Ordering::Relaxed);
        self.fill();
    }

    /// Starts as many as there is room for, beside what else is to be done.
    fn fill(&self) {
        if !self.0.is_open.load(Ordering::Relaxed) {
            return;
        }
        let pool = Arc::clone(&self.0);
        tokio::spawn(async move {
            loop {
                {
                    let mut ready = pool.ready();
                    let is_open = pool.is_open.load(Ordering::Relaxed);
                    if !is_open || ready.waiting.len() + ready.n_starting >= pool.most {
                        break;
                    }
                    ready.n_starting += 1;
                }
                let started = WorkerProcess::new(&pool.tools, "waiting");
                {
                    let mut ready = pool.ready();
                    ready.n_starting -= 1;
                    // Where none can be started now, the job will tell why.
                    let Ok(started) = started else { break };
                    ready.waiting.push_back(started);
                }
                tokio::task::yield_now().await;
            }
        });
    }

    /// Ends those that wait.
    pub(crate) fn close(&self) {
        self.0.is_open.store(false, Ordering::Relaxed);
        while self.pop().is_some() {}
    }
}
