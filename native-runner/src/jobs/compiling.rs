//! Compilations for clients: each in a process of its own, which is ended with its client.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use isobar_protocol::compile::Compiled;
use isobar_protocol::limits::Limits;
use isobar_protocol::request::Request;
use rustix::process::Signal;
use tokio::sync::Semaphore;

use super::child::{feed, in_short, listen};
use super::started::{Started, Waiting};
use crate::compile::{crashed, refused};
use crate::error::ApiError;
use crate::wire::{self, Fields, Order, Said};

/// Compiles for a client, in a process of its own: bounded in time and memory, ended with its client, and a crash of the
/// compiler costs this answer and nothing else.
///
/// # Errors
///
/// 503 where no compiler becomes free in time; 504.
pub(crate) async fn guarded(
    request: Request,
    waiting: &Waiting,
    limits: &Limits,
    slots: Arc<Semaphore>,
) -> Result<Compiled, ApiError> {
    let limit_ms = limits.compile_ms;
    let limit = Duration::from_millis(limit_ms);
    let free = tokio::time::timeout(limit, slots.acquire_owned()).await;
    let Ok(permit) = free else { return Err(ApiError::CompilersBusy { limit_ms }) };
    let _permit = permit.map_err(|error| ApiError::internal(&error))?;
    match tokio::time::timeout(limit, compile(waiting, request, limits)).await {
        Err(_) => Err(ApiError::CompileTimedOut { limit_ms }),
        Ok(Ok(compiled)) => Ok(*compiled),
        // What it said is in the log.
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
    waiting: &Waiting,
    request: Request,
    limits: &Limits,
) -> Result<Box<Compiled>, Option<ExitStatus>> {
    let Ok(Started { group, mut child, stdin, mut stdout, stderr, folder }) = waiting.take("compile") else {
        return Err(None);
    };
    let mut order = Order::to_compile(request, limits, waiting.tools());
    folder.path().clone_into(&mut order.temporary);
    "compile".clone_into(&mut order.job);
    let Ok(head) = wire::head(&order, 0) else { return Err(None) };
    let feeding = tokio::spawn(feed(stdin, head, Fields::None));
    let last_words = tokio::spawn(listen(stderr));
    let said = wire::read_compiled(&mut stdout).await;
    let compiled = match said {
        Ok(Said::Compiled(compiled)) => Ok(compiled),
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
    use super::*;

    #[tokio::test]
    async fn a_client_learns_that_no_compiler_is_free() {
        let busy = {
            let tools = crate::config::Tools::find(&crate::config::Environment::default());
            let limits = Limits { compile_ms: 10, ..Limits::default() };
            guarded(
                Request::default(),
                &Waiting::new(Arc::new(tools), 0),
                &limits,
                Arc::new(Semaphore::new(0)),
            )
            .await
        };
        let error = busy.expect_err("there is no compiler");
        assert!(matches!(error, ApiError::CompilersBusy { limit_ms: 10 }), "{error}");
        assert_eq!(error.problem().status, 503);
    }
}
