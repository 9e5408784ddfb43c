//! Events of runs, and the work that they make for the page. `B` is the type of a field's elements.

use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::EventKind;
use isobar_protocol::lesson::LessonResult;
use isobar_protocol::problem::Problem;
use isobar_protocol::worker::{AnswerBody, Which};

use super::plan::{RunFacts, RunPlan};
use super::state::{RunTarget, Ticket};
use super::words::Notice;

/// Something that happened.
#[derive(Debug)]
pub enum RunEvent<B> {
    // The user, and the page in the user's place.
    /// A run is asked for. One that goes on goes on.
    Asked(RunPlan),
    StopAsked,
    /// The run that goes on is to give way to the one that is chosen now.
    InsteadAsked,
    /// Where the next run is.
    TargetChosen(RunTarget),
    /// The back end of the next run in this tab.
    BackendChosen(&'static str),
    /// Another text is opened.
    Forgotten,
    /// The text, or a choice, is another edit.
    TextChanged(u64),

    // Time steps.
    StepAsked,
    RestartAsked,
    PlayAsked,
    PauseAsked,
    /// A scalar changed by a slider.
    Slid,
    /// The text that is opened runs once it is compiled, and plays up to this step where there is one.
    RunWhenCompiled(Option<u64>),
    /// The next picture may be shown.
    FrameDue(Ticket),
    /// A step is in the chart over time.
    Recorded(Ticket, f64),

    // The compiler.
    /// It has spoken on the newest text, or will not.
    Answered,
    /// Its last answer, and whether that is on the newest text.
    Compiled {
        is_newest: bool,
        has_errors: bool,
        has_steps: bool,
    },

    // The page's own answers.
    Prepared(Ticket, RunFacts),
    /// A result of this count, or a later one, is in the picture.
    Seen(u64),

    // Workers of this tab.
    /// An answer, and the time.
    Said(Ticket, Box<AnswerBody>, B, f64),
    /// Parts of the run in this tab that are finished, and all parts.
    Progress(u64, u64),
    TookLong(Ticket),
    Gone(Ticket, WorkerGone),
    /// The keeper fell over while its results were looked at.
    KeeperGone(WorkerGone),
    /// The learner's and the solution's fields are apart.
    Checked(Ticket, Box<LessonResult>, [B; 2]),

    // The runner.
    Reached(Ticket),
    JobNamed(Ticket, String),
    Heard(Ticket, Box<EventKind>),
    /// The job has told all.
    Followed(Ticket),
    Fetching(Ticket, String),
    /// The elements of all fields, and the runner's cores.
    Fetched(Ticket, B, Option<u32>),
    RunnerFailed(Ticket, RunnerTrouble),
}

/// Why a worker will not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerGone {
    /// It was stopped on purpose.
    Stopped,
    /// Its program did not start, with this message.
    NotLoaded(String),
    /// It fell over, with this message.
    Crashed(String),
    /// The browser refused to start it, with this message.
    Refused(String),
}

/// Why the runner does no job.
#[derive(Clone, Debug, PartialEq)]
pub enum RunnerTrouble {
    /// There is none.
    None,
    Lost,
    Refused(Box<Problem>),
    Garbled(String),
    /// No back end is left to measure.
    NothingToMeasure,
}

/// A question to the worker of this tab that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabAsk {
    Run { backend: String, domain: [i64; 3] },
    Step { backend: &'static str, domain: [i64; 3], restart: bool, count: u64 },
    Check,
}

/// A job for the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobAsk {
    Run { backend: String, domain: [i64; 3] },
    Measure { domain: [i64; 3] },
}

/// Something that the page has to do.
#[derive(Debug, PartialEq)]
pub enum RunEffect<B> {
    Say(Notice),
    /// Look whether the compiler has answered; tell so then, or later.
    AwaitCompiler,
    /// Tell what a run would be of.
    Prepare(Ticket),
    /// Ask the worker that runs.
    Ask(Ticket, TabAsk),
    /// Tell when this has taken long.
    Remind(Ticket),
    /// End the worker in the midst of its run, and start others.
    StopWorker,
    /// Start the workers that are missing.
    MakeReady,
    /// Have the keeper keep these fields.
    Store(Ticket, Which, Vec<FieldInfo>, B),
    Compare(Ticket),
    /// Ask the runner what it can do.
    Reach(Ticket),
    Submit(Ticket, JobAsk),
    /// Fetch the fields of a job.
    Fetch(Ticket, String, Vec<FieldInfo>),
    Cancel(String),
    /// Choose what to show of a new result.
    Look(Which, Vec<FieldInfo>),
    /// Tell when the result of this count is in the picture.
    Show(u64),
    LookAtDifference,
    /// Look at the cell where a learner's field is another one.
    LookAtMismatch(String, u64),
    /// Take the findings of a lesson's checks in this edit.
    Judge(Box<LessonResult>, u64),
    /// Put a step into the chart over time.
    Record(Ticket, u64),
    /// Tell after so many milliseconds.
    Wait(Ticket, f64),
    /// Run what is chosen, where it is chosen.
    RunChosen,
}
