//! GT4Py beside us: the same text, externals and inputs, built and called in a Python process of each stencil.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use isobar_compiler::call::launch::Launch;
use isobar_compiler::config::Config;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::project::Project;
use isobar_runner::backends::Prepared;
use isobar_tests::kernels::fields::{Agreement, Fields};
use isobar_tests::peers::{self, Job, Peers};
use serde::Serialize;

use crate::measure::every;
use crate::statistics::Summary;

/// So much of a reason is told.
const REASON_CHARS: usize = 160;

/// Where it is, and what of it is measured.
#[derive(Debug)]
pub(crate) struct Gt4py<'a> {
    pub(crate) python: PathBuf,
    pub(crate) backends: &'a [String],
    /// The folder that keeps its builds.
    pub(crate) cache: &'a Path,
    /// For the files of a call.
    pub(crate) folder: PathBuf,
    /// The files of the checkout as Python modules.
    pub(crate) source: PathBuf,
    pub(crate) threads: u32,
}

/// The result of a back end.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Beside {
    pub(crate) backend: String,
    pub(crate) ms: Option<Summary>,
    /// The seconds that building it took; much less where it was kept from before.
    pub(crate) built_s: Option<f64>,
    /// How its results agree with ours, where they do, and what differs where they do not.
    pub(crate) agreement: Option<&'static str>,
    pub(crate) differs: Option<String>,
    /// Why it was not measured.
    pub(crate) why_not: Option<String>,
}

/// The back ends that take turns with ours.
#[derive(Debug, Default)]
pub(crate) struct Theirs {
    process: Option<Peers>,
    turns: Vec<Turn>,
}

#[derive(Debug, Default)]
struct Turn {
    told: Beside,
    /// It takes part in every so many rounds; in none where it has none.
    every: Option<f64>,
    times: Vec<f64>,
}

impl Gt4py<'_> {
    /// Builds a stencil with all back ends, and holds what they compute against `ours`; what fails is told of each.
    pub(crate) fn start(
        &self,
        name: &str,
        project: &Project,
        config: &Config,
        compilation: &Compilation,
        given: &Launch,
        ours: &Prepared,
    ) -> Theirs {
        let built = RefCell::new(Vec::new());
        let started = self.try_start(name, project, config, compilation, given, &built);
        let built = built.into_inner();
        let mut turns = Vec::new();
        for (number, backend) in self.backends.iter().enumerate() {
            let mut told = Beside { backend: backend.clone(), ..Beside::default() };
            match (built.get(number), &started) {
                (Some(Ok(seconds)), Ok(_)) => {
                    told.built_s = Some(*seconds);
                    match self.agreement(number, compilation, given, ours) {
                        Ok(Ok(it)) => told.agreement = Some(it.told()),
                        Ok(Err(why)) => told.differs = Some(why),
                        Err(why) => told.why_not = Some(short(&format!("{why:#}"))),
                    }
                }
                (Some(Err(why)), _) => told.why_not = Some(short(why)),
                (_, Err(why)) => told.why_not = Some(short(&format!("{why:#}"))),
                (None, Ok(_)) => told.why_not = Some("no answer".to_owned()),
            }
            turns.push(Turn { told, ..Turn::default() });
        }
        Theirs { process: started.ok(), turns }
    }

    fn try_start(
        &self,
        name: &str,
        project: &Project,
        config: &Config,
        compilation: &Compilation,
        given: &Launch,
        built: &RefCell<Vec<Result<f64, String>>>,
    ) -> Result<Peers> {
        let job = Job {
            project,
            source: &self.source,
            config,
            compilation,
            launch: given,
            threads: self.threads,
            clock: "wall",
            contestants: self.backends.to_vec(),
        };
        let tell = |backend: &str, outcome: &Result<f64, String>| {
            match outcome {
                Ok(seconds) => eprintln!("  {name}: {backend} is built, {seconds:.1} s"),
                Err(why) => eprintln!("  {name}: {backend} is not built: {}", short(why)),
            }
            built.borrow_mut().push(outcome.clone());
        };
        Peers::start(&self.python, &self.folder, self.cache, &job, &tell)
    }

    /// Compares its results with those of ours, on fields that lie as they are given.
    fn agreement(
        &self,
        number: usize,
        compilation: &Compilation,
        given: &Launch,
        ours: &Prepared,
    ) -> Result<Result<Agreement, String>> {
        let signature = compilation.front.signature.as_ref().ok_or_else(|| anyhow!("no signature"))?;
        let mut launch = given.clone();
        let mut prepared = ours.clone();
        prepared.fit(&launch, &|_| ()).map_err(|why| anyhow!("{why:?}"))?;
        prepared.run(&mut launch).map_err(|why| anyhow!("{why:?}"))?;
        peers::agreement(&self.folder, number, signature, given, &Fields::of(launch, signature))
    }
}

impl Theirs {
    pub(crate) fn len(&self) -> usize {
        self.turns.len()
    }

    /// Calls each once, to learn how often it takes part.
    pub(crate) fn try_once(&mut self, repeats: usize) {
        for number in 0..self.turns.len() {
            if self.turns[number].told.why_not.is_none()
                && let Some(seconds) = self.call(number)
            {
                self.turns[number].every = Some(every(seconds, repeats));
            }
        }
    }

    /// The turn of one of them in a round, if it has one.
    pub(crate) fn take_turn(&mut self, number: usize, round: usize) {
        if self.turns[number].every.is_some_and(|it| round as f64 % it < 1.0)
            && let Some(seconds) = self.call(number)
        {
            self.turns[number].times.push(seconds * 1e3);
        }
    }

    /// The seconds of a call; what fails is not called again.
    fn call(&mut self, number: usize) -> Option<f64> {
        let process = self.process.as_mut()?;
        match process.call(number) {
            Ok(seconds) => Some(seconds),
            Err(why) => {
                let turn = &mut self.turns[number];
                (turn.every, turn.told.why_not) = (None, Some(short(&format!("{why:#}"))));
                None
            }
        }
    }

    pub(crate) fn into_told(self) -> Vec<Beside> {
        self.turns.into_iter().map(|it| Beside { ms: Summary::of(&it.times), ..it.told }).collect()
    }
}

/// The beginning of a reason, in one line.
fn short(why: &str) -> String {
    let line = why.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(REASON_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
