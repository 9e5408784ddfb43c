//! The page's work for runs on the runner: it submits jobs, and passes on their events.

use isobar_page_model::run::{JobAsk, RunEvent, RunnerTrouble, Ticket};
use isobar_protocol::field::FieldInfo;
use isobar_protocol::request::Request;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::bridge::runner::{Runner, RunnerError};
use crate::state::App;
use crate::state::run::Buffers;
use crate::state::runner::RunnerLink;

impl App {
    /// Asks what the runner can do.
    pub(super) fn reach_runner(self, ticket: Ticket) {
        let Some(runner) = self.runner_of(ticket) else { return };
        spawn_local(async move {
            self.happened(match self.connection.connect(&runner).await {
                Ok(()) => RunEvent::Reached(ticket),
                Err(error) => self.runner_failed(ticket, error),
            });
        });
    }

    /// Has the runner do a job, and tells what it tells until its end.
    pub(super) fn submit_job(self, ticket: Ticket, job: JobAsk) {
        let Some(runner) = self.runner_of(ticket) else { return };
        let request = match job {
            JobAsk::Run { backend, domain } => Some(self.run_request(&backend, domain)),
            JobAsk::Measure { domain } => self.measure_request(domain),
        };
        let Some(request) = request else {
            return self.happened(RunEvent::RunnerFailed(ticket, RunnerTrouble::NothingToMeasure));
        };
        spawn_local(async move {
            let followed = self.follow_job(ticket, &runner, &request).await;
            self.happened(match followed {
                Ok(()) => RunEvent::Followed(ticket),
                Err(error) => self.runner_failed(ticket, error),
            });
        });
    }

    async fn follow_job(self, ticket: Ticket, runner: &Runner, request: &Request) -> Result<(), RunnerError> {
        let job = runner.submit(request).await?.job;
        self.happened(RunEvent::JobNamed(ticket, job.clone()));
        runner.follow(&job, |event| self.happened(RunEvent::Heard(ticket, Box::new(event)))).await
    }

    /// Fetches the elements of the written fields.
    pub(super) fn fetch_fields(self, ticket: Ticket, job: String, fields: Vec<FieldInfo>) {
        let Some(runner) = self.runner_of(ticket) else { return };
        spawn_local(async move {
            let fetched = self.fetched(ticket, &runner, &job, &fields).await;
            self.happened(match fetched {
                Ok(buffers) => RunEvent::Fetched(ticket, buffers, self.cores()),
                Err(error) => self.runner_failed(ticket, error),
            });
        });
    }

    async fn fetched(
        self,
        ticket: Ticket,
        runner: &Runner,
        job: &str,
        fields: &[FieldInfo],
    ) -> Result<Buffers, RunnerError> {
        let mut buffers = Vec::with_capacity(fields.len());
        for field in fields {
            self.happened(RunEvent::Fetching(ticket, field.name.clone()));
            buffers.push(runner.field(job, &field.name).await?);
        }
        Ok(buffers)
    }

    pub(super) fn cancel_job(self, job: String) {
        let Some(runner) = self.connection.runner() else { return };
        spawn_local(async move {
            if let Err(error) = runner.cancel(&job).await {
                self.connection.note(&error);
            }
        });
    }

    /// The cores of the runner, where it said so.
    fn cores(self) -> Option<u32> {
        self.connection.link.with_untracked(|it| match it {
            RunnerLink::Connected(found) => Some(found.cores),
            RunnerLink::None | RunnerLink::Idle | RunnerLink::Lost => None,
        })
    }

    /// The runner; where there is none, its run hears so.
    fn runner_of(self, ticket: Ticket) -> Option<Runner> {
        let runner = self.connection.runner();
        if runner.is_none() {
            self.happened(RunEvent::RunnerFailed(ticket, RunnerTrouble::None));
        }
        runner
    }

    fn runner_failed(self, ticket: Ticket, error: RunnerError) -> RunEvent<Buffers> {
        self.connection.note(&error);
        let trouble = match error {
            RunnerError::Lost => RunnerTrouble::Lost,
            RunnerError::Refused(problem) => RunnerTrouble::Refused(problem),
            RunnerError::Garbled(what) => RunnerTrouble::Garbled(what),
        };
        RunEvent::RunnerFailed(ticket, trouble)
    }
}
