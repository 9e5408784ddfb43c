//! The second part, as the worker's loop calls it.

use std::sync::Arc;

use isobar_compiler::front::{Front, Fronts};
use isobar_compiler::pass::{Hook as _, NoHook, Timer};
use isobar_lessons::check::{Outcome, Pictures};
use isobar_protocol::compile::{Compiled, StepTime};
use isobar_protocol::lesson::{FieldMismatch, LessonResult};
use isobar_protocol::request::Request;
use isobar_protocol::why::Why;
use isobar_protocol::worker::{AnswerBody, Ask};
use isobar_worker_first::compile::{StencilCall, step};
use isobar_worker_first::worker::{GpuRunFuture, SecondPart, SecondPartEntries, WorkerReply, sent};

use crate::gpu;
use crate::levels::LaterStages;

/// The second part, from within it.
#[must_use]
pub fn second() -> &'static SecondPartEntries {
    static SECOND: SecondPartEntries = SecondPartEntries { start: || Box::new(LaterStages::default()) };
    &SECOND
}

impl SecondPart for LaterStages {
    fn compiled(
        &mut self,
        front: &Arc<Front>,
        request: &Request,
        times: Vec<StepTime>,
        clock: &dyn Fn() -> f64,
    ) -> Compiled {
        self.compiled(front, request, times, clock)
    }

    fn answer(&mut self, fronts: &mut Fronts, ask: Ask) -> WorkerReply {
        let said = match ask {
            Ask::Passes { request, moments } => {
                let (steps, around) = self.passes(fronts, request, &moments);
                AnswerBody::Passes { steps, around }
            }
            Ask::Graph { request } => AnswerBody::Graph { text: self.graph(fronts, &request) },
            Ask::Service { request, file, query } => {
                AnswerBody::Told { told: self.tell(fronts, &request, &file, &query) }
            }
            Ask::Check { task } => match self.check(&task) {
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

    fn run_on_gpu(
        &mut self,
        request: &Request,
        call: StencilCall,
        is_fast: bool,
        mut timer: Timer<fn() -> f64>,
    ) -> GpuRunFuture {
        timer.begin(step("compile"));
        let compilation = self.compilation_of(&call.front, request, &mut NoHook);
        timer.end(step("compile"));
        Box::pin(gpu::run(call, compilation, is_fast, timer))
    }
}

/// The verdicts of the checks. With them go the fields of the first check that failed over some: those found,
/// then those expected.
fn checked(Outcome { verdicts, pictures }: Outcome) -> WorkerReply {
    let Some(Pictures { domain, field, cell, found, expected }) = pictures else {
        return (AnswerBody::Checked { checked: LessonResult { verdicts, shown: None } }, Vec::new());
    };
    let (found, mut buffers) = sent(found);
    let (expected, more) = sent(expected);
    buffers.extend(more);
    let shown = Some(FieldMismatch { domain, field, cell, found, expected });
    (AnswerBody::Checked { checked: LessonResult { verdicts, shown } }, buffers)
}
