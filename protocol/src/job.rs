//! Jobs of the runner and the events that they send.

use serde::{Deserialize, Serialize};

use crate::bench::{Benchmark, CallStep, CopyRate, GraphStep, Memory};
use crate::diagnostic::Diagnostic;
use crate::field::FieldInfo;
use crate::layout::Layout;
use crate::problem::Problem;
use crate::request::Machine;
use crate::tune::{Tuned, Tuning};

/// This runner, and its abilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Capabilities {
    pub product: String,
    pub version: String,
    pub backends: Vec<Backend>,
    pub stages: Vec<String>,
    pub cores: u32,
    /// The machine that schedules of its runs are made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// How jobs are confined, in words.
    pub sandbox: String,
    pub limits: crate::limits::Limits,
    pub jobs_waiting: u32,
    /// Whether jobs outlive a runner that is ended without notice.
    #[serde(default)]
    pub jobs_kept: bool,
}

/// A back end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backend {
    pub name: String,
    /// `cpu` or `gpu`.
    pub device: String,
    pub available: bool,
    /// Why it cannot run here, or what it found: `gcc 12.2.0`.
    pub detail: String,
}

/// The answer to `POST /v1/jobs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobTicket {
    pub job: String,
}

/// The answer to `POST /v1/uploads`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadTicket {
    /// Goes into `fields` of a request.
    pub upload: String,
    pub bytes: u64,
}

/// An event of a job. `seq` counts from 0 without gaps; `t_ms` is the time since the job was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub seq: u64,
    pub t_ms: f64,
    #[serde(flatten)]
    pub what: EventKind,
}

/// An event of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    Accepted {
        job: String,
    },
    /// A runner was started that takes up a job of the one before. Its events count anew.
    Restarted {
        /// Whether it worked when that one ended, and not only waited.
        was_running: bool,
    },
    Queued {
        position: u32,
        of: u32,
    },
    /// A step of the work began or ended. Its time is told as a `Timing`.
    Stage {
        name: String,
        state: StageState,
        cached: bool,
    },
    Diagnostic {
        diagnostic: Diagnostic,
    },
    /// Parts of the run that are finished; the last one is told in any case.
    Progress {
        done: u64,
        total: u64,
    },
    /// How long a step took, under its name; `cache` is a `cc` that was not needed, `total` the whole job.
    Timing {
        name: String,
        ms: f64,
        /// The least bytes that a `run` has to move: each input read once, each output written once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
    },
    /// The most memory that the job needs at a time, before it is called.
    Memory {
        memory: Memory,
    },
    /// The copy that the rate of a `run` is held against.
    Copy {
        copy: CopyRate,
    },
    /// How the fields of the call lie, and what is made of that.
    Layout {
        layout: Layout,
    },
    /// The measurements, where the request asked for them.
    Benchmark {
        benchmark: Box<Benchmark>,
    },
    /// Where the time of the call went, step by step of the graph.
    Steps {
        steps: Vec<GraphStep>,
    },
    /// Where the time of a program went, statement by statement.
    Calls {
        calls: Vec<CallStep>,
    },
    /// A schedule that was kept is taken in the place of the compiler's own.
    Tuned {
        tuned: Tuned,
    },
    /// The schedules that were found, where the request asked for a faster one.
    Tuning {
        tuning: Box<Tuning>,
    },
    /// A written field is ready to be fetched.
    Field {
        field: FieldInfo,
    },
    /// The run stopped itself at a cell.
    Trap {
        message: String,
        diagnostic: Option<Diagnostic>,
        cell: Option<[i64; 3]>,
    },
    Log {
        text: String,
    },
    Ended {
        reason: EndReason,
        problem: Option<Problem>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageState {
    Begun,
    Ended,
}

/// Why a job is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Ok,
    Cancelled,
    Limit,
    Trap,
    Crash,
    RunnerShutdown,
    Error,
    /// Runners were ended without notice while the job worked, and it is not tried again.
    Interrupted,
}

/// The state of a job, for those who come late.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobState {
    pub job: String,
    /// `queued`, `running` or `ended`.
    pub state: String,
    pub reason: Option<EndReason>,
    pub fields: Vec<FieldInfo>,
}
