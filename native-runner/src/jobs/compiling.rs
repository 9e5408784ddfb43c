//! Compilations for clients: each in a process of its own, which is ended with its client.
//!
//! A compilation past its turn goes on behind the others, and makes room where even that room is full.

use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use isobar_protocol::compile::Compiled;
use isobar_protocol::limits::Limits;
use isobar_protocol::request::Request;
use rustix::process::Signal;
use tokio::sync::mpsc;

use super::child::{feed, in_short, listen};
use super::started::{WorkerPool, WorkerProcess};
use crate::compile::{crashed, refused};
use crate::error::ApiError;
use crate::turns::{Client, Rules, Turns};
use crate::wire::{self, Fields, Order, WorkerMessage};

/// A compilation past its turn yields the processors to others.
const NICE: i32 = 10;

/// The turns of compilations: as many at a time as there are cores, and as many again past their turn.
pub(crate) fn turns(limits: &Limits, cores: u32) -> Turns {
    let places = cores.max(2) as usize;
    let turn = Some(Duration::from_millis(limits.compile_turn_ms));
    // A compilation past its turn may be sent away.
    Turns::new(Rules { places, beside: places, turn, least_rate: u64::MAX })
}

/// Compiles for a client, in a process of its own. The process is bounded in time and memory, and ends with
/// its client. A crash of the compiler costs only this answer.
///
/// # Errors
///
/// 503 where no compiler becomes free in time; 504.
pub(crate) async fn guarded(
    request: Request,
    client: &Client,
    waiting: &WorkerPool,
    limits: &Limits,
    turns: &Turns,
) -> Result<Compiled, ApiError> {
    let limit_ms = limits.compile_ms;
    let limit = Duration::from_millis(limit_ms);
    let free = tokio::time::timeout(limit, turns.take(client)).await;
    let Ok(place) = free else { return Err(ApiError::CompilersBusy { limit_ms }) };
    let compiled = tokio::select! {
        compiled = tokio::time::timeout(limit, compile(waiting, request, limits)) => compiled,
        () = place.is_sent_away() => {
            return Err(ApiError::CompileMadeRoom { turn_ms: limits.compile_turn_ms });
        }
    };
    match compiled {
        Err(_) => Err(ApiError::CompileTimedOut { limit_ms }),
        Ok(Ok(compiled)) => Ok(*compiled),
        // The log has the last words of the process.
        Ok(Err(status)) => {
            let how = if status.and_then(|it| it.signal()) == Some(Signal::XCPU.as_raw()) {
                return Err(ApiError::CompileTimedOut { limit_ms });
            } else {
                "its process ended early, perhaps for want of memory"
            };
            Ok(refused("R07", crashed(how), "report this stencil: the fault is the compiler's"))
        }
    }
}

/// Has `request` compiled in a process of its own, which is over when this returns, and when this future is dropped.
async fn compile(
    waiting: &WorkerPool,
    request: Request,
    limits: &Limits,
) -> Result<Box<Compiled>, Option<ExitStatus>> {
    let Ok(WorkerProcess { group, mut child, stdin, mut stdout, stderr, folder }) = waiting.take("compile")
    else {
        return Err(None);
    };
    let mut order = Order::to_compile(request, limits, waiting.tools());
    folder.path().clone_into(&mut order.temporary);
    "compile".clone_into(&mut order.job);
    let Ok(head) = wire::head(&order, 0) else { return Err(None) };
    // It asks for no memory.
    let (_grants, granted) = mpsc::channel(1);
    let feeding = tokio::spawn(feed(stdin, head, Fields::None, granted));
    let last_words = tokio::spawn(listen(stderr));
    let said = {
        let mut reading = pin!(wire::read_compiled(&mut stdout));
        match tokio::time::timeout(Duration::from_millis(limits.compile_turn_ms), reading.as_mut()).await {
            Ok(said) => said,
            Err(_) => {
                group.yields(NICE);
                reading.await
            }
        }
    };
    let compiled = match said {
        Ok(WorkerMessage::Compiled(compiled)) => Ok(compiled),
        _ => {
            let ended = tokio::time::timeout(Duration::from_secs(5), child.wait()).await;
            Err(ended.ok().and_then(Result::ok))
        }
    };
    drop(group);
    let _ = child.wait().await;
    feeding.abort();
    if let Err(status) = compiled {
        let last_words = tokio::time::timeout(Duration::from_secs(1), last_words).await;
        let last_words = last_words.ok().and_then(Result::ok).unwrap_or_default();
        tracing::error!(?status, "a compiler's process died: {}", in_short(&last_words));
    }
    compiled
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Instant;

    use super::*;
    use crate::config::{Environment, Tools};

    fn waiting(worker: &Path) -> WorkerPool {
        let tools = Tools::find(&Environment {
            path: "/usr/bin:/bin".into(),
            temporary: std::env::temp_dir(),
            ..Environment::default()
        });
        WorkerPool::new(Arc::new(Tools { worker: worker.to_owned(), ..tools }), 0)
    }

    #[tokio::test]
    async fn a_client_learns_that_no_compiler_is_free() {
        let limits = Limits { compile_ms: 10, ..Limits::default() };
        let turns = turns(&limits, 1);
        let client = Client::default();
        let held = [turns.take(&client).await, turns.take(&client).await];
        let busy = guarded(Request::default(), &client, &waiting(Path::new("")), &limits, &turns).await;
        let error = busy.expect_err("there is no compiler");
        assert!(matches!(error, ApiError::CompilersBusy { limit_ms: 10 }), "{error}");
        assert_eq!(error.problem().status, 503);
        drop(held);
    }

    /// Compiles nothing, and never ends; in `begun` is a line for each.
    fn endless(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("endless");
        let text = format!("#!/bin/sh\necho begun >> {}/begun\nexec sleep 1000\n", folder.display());
        std::fs::write(&path, text).expect("it is ours");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("it is ours");
        path
    }

    #[tokio::test]
    async fn compilations_that_never_end_let_others_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let (waiting, limits) =
            (waiting(&endless(folder.path())), Limits { compile_turn_ms: 200, ..Limits::default() });
        let turns = turns(&limits, 2);
        let compile = || {
            let (waiting, turns) = (waiting.clone(), turns.clone());
            async move { guarded(Request::default(), &Client::default(), &waiting, &limits, &turns).await }
        };
        let begun =
            || std::fs::read_to_string(folder.path().join("begun")).unwrap_or_default().lines().count();
        let clock = Instant::now();
        // Two hold both places, two come in beside them, and two more take the places of the first.
        let mut all = tokio::task::JoinSet::new();
        for n in 1..=6 {
            all.spawn(compile());
            while begun() < n {
                assert!(clock.elapsed() < Duration::from_secs(30), "{n} do not get in");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        assert!(clock.elapsed() >= Duration::from_millis(2 * limits.compile_turn_ms));
        for _ in 0..2 {
            let ended = all.join_next().await.expect("there are six").expect("nothing panics");
            let error = ended.expect_err("it made room");
            assert!(matches!(error, ApiError::CompileMadeRoom { turn_ms: 200 }), "{error}");
            let problem = error.problem();
            assert_eq!((problem.status, problem.code.as_str()), (504, "timed-out"));
        }
    }
}
