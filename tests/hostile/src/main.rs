//! The `isobar` command with a back end that is hostile: made code that breaks out where it can.
//!
//! While it is made it tries all of [`attempts::MAKING`], and tells what the system answered. When it runs, it makes the
//! one of [`attempts::RUNNING`] that the domain's points along I number, and behind those a crash of
//! [`attempts::CRASHES`].
#![expect(unsafe_code, reason = "system calls are made as a hostile program makes them")]

mod attempts;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use attempts::{CRASHES, MAKING, Places, RUNNING};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::pipeline::registry::Backend;
use isobar_compiler::pipeline::{ProgramKind, Stage};
use isobar_compiler::space::Domain;
use isobar_runner::backends::{Backends, Row};
use isobar_runner::config::Environment;
use isobar_runtime::events::{Event, Sink};
use isobar_runtime::executors::{Caller, Code, Executor, Failure, Prepared, Progress, Setting};
use isobar_runtime::plans::PlanHandle;

const ROW: Row = Row {
    of: &Backend { name: "hostile", device: "cpu", from: Stage::OIR, texts: &[] },
    codes: &[],
    artifact: None,
    executor: || Box::new(Hostile),
    needs: &[],
    check: |_| Ok("breaks out where it can".to_owned()),
    follows_schedules: false,
    nears_copying: false,
};

#[derive(Debug)]
struct Hostile;

impl Executor for Hostile {
    fn program(&self, _: Setting<'_>) -> ProgramKind {
        ProgramKind::Reference
    }

    fn workspace_bytes(&self, _: &PlanHandle, _: Domain, _: u32, _: &[Argument]) -> Option<u64> {
        Some(0)
    }

    fn prepare(&self, _: &PlanHandle, setting: Setting<'_>, sink: Sink<'_>) -> Result<Prepared, Failure> {
        let places = Arc::new(Places::of(setting.temporary, setting.cache));
        for (name, attempt) in MAKING {
            let answer = attempt(&places);
            sink(Event::Log { text: format!("{name}: {answer}") });
        }
        Ok(Prepared::of(Arc::new(Made(places))))
    }
}

struct Made(Arc<Places>);

impl Code for Made {
    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        Box::new(Running(Arc::clone(&self.0)))
    }
}

struct Running(Arc<Places>);

impl Caller for Running {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        let at = usize::try_from(launch.domain.i - 1).unwrap_or(0);
        if let Some((_, attempt)) = RUNNING.get(at) {
            attempt(&self.0);
        } else if let Some((_, crash)) = CRASHES.get(at - RUNNING.len()) {
            crash();
        }
        Ok(())
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::default()
    }
}

fn main() -> ExitCode {
    let names: Vec<&str> = match std::env::args().nth(1).as_deref() {
        Some("making") => MAKING.iter().map(|it| it.0).collect(),
        Some("attempts") => RUNNING.iter().map(|it| it.0).collect(),
        Some("crashes") => CRASHES.iter().map(|it| it.0).collect(),
        _ => Vec::new(),
    };
    if !names.is_empty() {
        return if attempts::told(&names) { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    let environment = Environment {
        path: std::env::var_os("PATH").unwrap_or_default(),
        cache: std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from),
        temporary: std::env::temp_dir(),
        program: std::env::current_exe().unwrap_or_else(|_| "isobar-hostile".into()),
        log: Some("warn".to_owned()),
        backends: Backends::default().with(&ROW),
        ..Environment::default()
    };
    isobar_runner::cli::main(&environment)
}
