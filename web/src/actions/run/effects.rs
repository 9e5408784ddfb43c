//! The page's work for runs: it asks workers, shows their answers, and sets timers.

use std::rc::Rc;
use std::time::Duration;

use isobar_page_model::run::{RunEffect, RunEvent, RunFacts, TabAsk, Ticket, WorkerGone};
use isobar_protocol::worker::{Across, AnswerBody, Ask, Which};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::bridge::asker::{Asker, WorkerEnd};
use crate::bridge::page;
use crate::state::run::Buffers;
use crate::state::{App, sentences};

/// A run in this tab is asked about when it takes longer.
const LONG: Duration = Duration::from_secs(3);
/// A result that is not in the picture by then is not waited for.
const SEEN: Duration = Duration::from_secs(2);

impl App {
    pub(super) fn serve_run(self, effect: RunEffect<Buffers>) {
        match effect {
            RunEffect::Say(notice) => self.status.say(sentences::notice(&notice)),
            RunEffect::AwaitCompiler => {
                if self.compilation.is_answered() {
                    self.happened(RunEvent::Answered);
                }
            }
            RunEffect::Prepare(ticket) => self.happened(RunEvent::Prepared(ticket, self.run_facts())),
            RunEffect::Ask(ticket, ask) => self.ask_here(ticket, ask),
            RunEffect::Remind(ticket) => {
                set_timeout(move || self.happened(RunEvent::TookLong(ticket)), LONG);
            }
            RunEffect::StopWorker => {
                self.run.stop_worker();
                self.make_ready();
            }
            RunEffect::MakeReady => self.make_ready(),
            RunEffect::Store(ticket, which, fields, buffers) => {
                self.ask_worker(ticket, self.run.started_keeper(), Ask::Store { which, fields }, buffers);
            }
            RunEffect::Compare(ticket) => {
                self.ask_worker(ticket, self.run.started_keeper(), Ask::Compare, Vec::new());
            }
            RunEffect::Reach(ticket) => self.reach_runner(ticket),
            RunEffect::Submit(ticket, job) => self.submit_job(ticket, job),
            RunEffect::Fetch(ticket, job, fields) => self.fetch_fields(ticket, job, fields),
            RunEffect::Cancel(job) => self.cancel_job(job),
            RunEffect::Look(which, fields) => self.view.look_at_result(which, &fields),
            RunEffect::Show(generation) => {
                set_timeout(move || self.happened(RunEvent::Seen(generation)), SEEN);
            }
            RunEffect::LookAtDifference => self.view.which.set(Which::Difference),
            RunEffect::LookAtMismatch(field, at) => {
                self.view.field.set(Some(field));
                self.view.across.set(Across::K);
                self.view.at.set(at);
                self.view.which.set(Which::Difference);
            }
            RunEffect::Judge(checked, revision) => self.judge_lesson(*checked, revision),
            RunEffect::Record(ticket, step) => spawn_local(async move {
                self.view.record_step(step).await;
                self.happened(RunEvent::Recorded(ticket, page::now_ms()));
            }),
            RunEffect::Wait(frame, ms) => {
                let rest = Duration::from_secs_f64(ms / 1e3);
                set_timeout(move || self.happened(RunEvent::FrameDue(frame)), rest);
            }
            RunEffect::RunChosen => self.run_chosen(),
        }
    }

    fn run_facts(self) -> RunFacts {
        RunFacts {
            domain: untrack(|| self.domain()),
            precision: self.project.precision.get_untracked(),
            revision: self.project.revision.get_untracked(),
            now_ms: page::now_ms(),
        }
    }

    /// Starts the workers before they are needed, because the server of the page may be gone by then.
    pub(super) fn make_ready(self) {
        // One that the browser refuses now is asked for again, and told of, at the next run.
        drop(self.started_runner());
        drop(self.run.started_keeper());
    }

    fn started_runner(self) -> Result<Rc<Asker>, String> {
        self.run.started_runner(move |done, total| self.happened(RunEvent::Progress(done, total)))
    }

    /// Asks the worker that runs.
    fn ask_here(self, ticket: Ticket, ask: TabAsk) {
        let ask = match ask {
            TabAsk::Run { backend, domain } => Ask::Run { request: self.run_request(&backend, domain) },
            TabAsk::Step { backend, domain, restart, count } => {
                Ask::Step { request: self.run_request(backend, domain), restart, count }
            }
            TabAsk::Check => match self.lesson_task() {
                Some(task) => Ask::Check { task: Box::new(task) },
                None => return self.happened(RunEvent::Gone(ticket, WorkerGone::Stopped)),
            },
        };
        self.ask_worker(ticket, self.started_runner(), ask, Vec::new());
    }

    /// Asks a worker, and tells the runs what it answers.
    fn ask_worker(self, ticket: Ticket, worker: Result<Rc<Asker>, String>, ask: Ask, buffers: Buffers) {
        let worker = match worker {
            Ok(worker) => worker,
            Err(message) => return self.happened(RunEvent::Gone(ticket, WorkerGone::Refused(message))),
        };
        spawn_local(async move {
            let answer = worker.ask(ask, buffers).await;
            self.happened(event_of(ticket, answer));
        });
    }
}

fn event_of(ticket: Ticket, answer: Result<(AnswerBody, Buffers), WorkerEnd>) -> RunEvent<Buffers> {
    match answer {
        Ok((AnswerBody::Checked { checked }, mut buffers)) => {
            let found = checked.shown.as_ref().map_or(0, |it| it.found.len());
            let expected = buffers.split_off(found.min(buffers.len()));
            RunEvent::Checked(ticket, Box::new(checked), [buffers, expected])
        }
        Ok((said, buffers)) => RunEvent::Said(ticket, Box::new(said), buffers, page::now_ms()),
        Err(gone) => RunEvent::Gone(ticket, gone.into()),
    }
}
