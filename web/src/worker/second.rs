//! The second part of the worker's program. It holds the levels behind the OIR and everything made from them,
//! the answers to the editor, the checks of lessons, and GPU runs.
//!
//! A visitor waits only for the first part. The second comes when it is asked for, at the latest a moment
//! after the first answer. Only the table of entries leads there, and only the program's loader leads to the
//! table.

use std::future::Future;
use std::pin::Pin;

use isobar_compiler::pass::Timer;
use isobar_compiler::pipeline::behind;
use isobar_protocol::why::Why;
use isobar_protocol::worker::{AnswerBody, Ask};

use super::{WorkerMemory, WorkerReply, checked};
use crate::compile::StencilCall;
use crate::gpu::{self, GpuRunResult};

/// A run on a GPU, under way.
pub(super) type GpuRunFuture = Pin<Box<dyn Future<Output = Result<GpuRunResult, AnswerBody>>>>;

/// Begins one; the second says whether doubles may be singles.
pub(super) type RunOnGpu = fn(StencilCall, bool, Timer<fn() -> f64>) -> GpuRunFuture;

/// The entries of the second part.
#[derive(Debug)]
pub struct SecondPartEntries {
    /// Answers what only the second part can.
    pub(super) answer: fn(&mut WorkerMemory, Ask) -> WorkerReply,
    /// Runs on a GPU of the browser.
    pub(super) run_on_gpu: RunOnGpu,
}

/// The second part, from within it.
#[must_use]
pub fn second() -> &'static SecondPartEntries {
    static SECOND: SecondPartEntries = SecondPartEntries {
        answer: answered,
        run_on_gpu: |call, is_fast, timer| Box::pin(gpu::run(call, is_fast, timer)),
    };
    behind::open();
    &SECOND
}

fn answered(memory: &mut WorkerMemory, ask: Ask) -> WorkerReply {
    let said = match ask {
        Ask::Passes { request, moments } => {
            let (steps, around) = memory.compiler.passes(request, &moments);
            AnswerBody::Passes { steps, around }
        }
        Ask::Graph { request } => AnswerBody::Graph { text: memory.compiler.graph(&request) },
        Ask::Service { request, file, query } => {
            AnswerBody::Told { told: memory.compiler.tell(&request, &file, &query) }
        }
        Ask::Check { task } => match memory.compiler.check(&task) {
            Ok(outcome) => return checked(outcome),
            Err(why) => AnswerBody::Failed { why: why.into() },
        },
        Ask::Compile { .. }
        | Ask::Run { .. }
        | Ask::Step { .. }
        | Ask::Store { .. }
        | Ask::Slice { .. }
        | Ask::Survey { .. }
        | Ask::Line { .. }
        | Ask::Cell { .. }
        | Ask::Around { .. }
        | Ask::Archive { .. }
        | Ask::Compare => AnswerBody::Failed { why: Why::Said("the first part answers this".to_owned()) },
    };
    (said, Vec::new())
}
