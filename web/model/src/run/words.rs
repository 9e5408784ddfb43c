//! The sentences about runs, as data: the page has their words.

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProgress {
    pub activity: Activity,
    /// Steps done and all steps, where that is known.
    pub steps: Option<(u64, u64)>,
}

/// The present activity of a run, or its last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It begins on this back end.
    Begins(String),
    InThisTab(String),
    Compares,
    AsksRunner,
    /// A place in the runner's queue.
    Waits {
        position: u32,
        of: u32,
    },
    /// The runner's name of a stage.
    Stage(String),
    Works,
    Rounds,
    /// A field comes from the runner.
    Fetches(String),
    Done(String),
    Stopped,
    WithoutResult,
}

/// A sentence of the status line.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    Runs(String),
    Took {
        backend: String,
        ms: f64,
    },
    RanRemote(String),
    Compared {
        here: String,
        backend: String,
        cells: u64,
    },
    Stopped,
    AskedToStop,
    WithoutResult,
    ResultsLost,
    Measured,
    Passed,
    NotPassed,
    /// The runner's own words.
    Text(String),
}
