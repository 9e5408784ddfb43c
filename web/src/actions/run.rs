//! Runs: the page tells their model what happens, and does what follows.

mod effects;
mod remote;

use isobar_page_model::run::{HERE, RunEvent, RunPlan, RunTarget};
use leptos::prelude::*;

use crate::bridge::asker::WorkerEnd;
use crate::state::App;
use crate::state::layout::Tab;
use crate::state::run::Buffers;

impl App {
    /// Tells the runs what happened, and does what follows from it.
    pub(super) fn happened(self, event: RunEvent<Buffers>) {
        self.run.post(event);
        while let Some(effects) = self.run.take_next(self.project.revision.get_untracked()) {
            for effect in effects {
                self.serve_run(effect);
            }
            self.run.taken();
        }
    }

    /// Tells the runs of edits, and of the compiler's answers. Starts the workers of runs as soon as the compiler, for
    /// whom the user waits, has answered.
    pub(super) fn follow_runs(self) {
        Effect::new(move |_| self.happened(RunEvent::TextChanged(self.project.revision.get())));
        Effect::new(move |_| {
            self.project.revision.track();
            self.compilation.revision.track();
            // Not tracked alone: a memo that nobody reads depends on nothing.
            self.compilation.trouble.with(|_| ());
            if self.compilation.is_answered() {
                self.happened(RunEvent::Answered);
            }
        });
        Effect::new(move |was_ready: Option<bool>| {
            let has_answered =
                self.compilation.revision.get() > 0 || self.compilation.trouble.with(Option::is_some);
            let is_ready = was_ready == Some(true);
            if has_answered && !is_ready {
                self.make_ready();
            }
            has_answered || is_ready
        });
    }

    /// Forgets results that belong to another text.
    pub(super) fn forget_results(self) {
        self.happened(RunEvent::Forgotten);
    }

    /// Shows the results of the run that is asked for: a narrow page shows one view at a time.
    fn show_results(self) {
        self.layout.tab.set(Tab::Result);
    }

    /// Runs what is chosen, where it is chosen.
    pub fn run_chosen(self) {
        self.show_results();
        match self.run.place.get_untracked() {
            RunTarget::Here => self.run_here(),
            RunTarget::Runner => self.run_on_runner(),
        }
    }

    /// Chooses where the next run is, as `here:numpy` or `runner:rayon`.
    pub fn choose_target(self, target: &str) {
        match target.split_once(':') {
            Some(("here", name)) => {
                let backend = HERE.into_iter().find(|it| *it == name).unwrap_or(HERE[0]);
                self.happened(RunEvent::BackendChosen(backend));
                self.happened(RunEvent::TargetChosen(RunTarget::Here));
            }
            Some(("runner", name)) => {
                self.connection.backend.set(name.to_owned());
                self.happened(RunEvent::TargetChosen(RunTarget::Runner));
            }
            _ => {}
        }
    }

    /// Ends the run in this tab, which takes long, and runs something faster in its place when it has ended.
    pub fn run_instead(self, target: &str) {
        self.choose_target(target);
        self.happened(RunEvent::InsteadAsked);
    }

    /// Whether one of the results that were compared is of another text.
    #[must_use]
    pub fn is_comparison_old(self) -> bool {
        self.run.is_comparison_old(self.project.revision.get())
    }

    /// Runs the chosen back end in this tab.
    pub fn run_here(self) {
        self.ask_run(RunPlan::Here(self.backend_here()));
    }

    /// Runs the chosen back end of this tab and `debug`, and compares all fields, bit by bit.
    pub fn check(self) {
        self.show_results();
        self.ask_run(RunPlan::Check(self.backend_here()));
    }

    /// Runs the chosen back end on the runner.
    pub fn run_on_runner(self) {
        self.show_results();
        self.ask_run(RunPlan::Remote(self.connection.backend.get_untracked()));
    }

    /// Runs both and compares all fields, bit by bit.
    pub fn compare(self) {
        self.show_results();
        self.ask_run(RunPlan::Compare(self.backend_here(), self.connection.backend.get_untracked()));
    }

    fn backend_here(self) -> String {
        self.run.backend.get_untracked().to_owned()
    }

    /// Asks for a run. One that goes on goes on.
    pub(super) fn ask_run(self, plan: RunPlan) {
        self.happened(RunEvent::Asked(plan));
    }

    /// Ends what runs; tells whether anything did.
    pub(super) fn stop_what_runs(self) -> bool {
        let is_running = untrack(|| self.run.is_working());
        self.stop();
        is_running
    }

    /// Ends what runs.
    pub fn stop(self) {
        self.happened(RunEvent::StopAsked);
    }

    /// Takes note that the keeper fell over while it was looked at: the results went with it.
    pub(super) fn lose_results(self, gone: WorkerEnd) {
        self.happened(RunEvent::KeeperGone(gone.into()));
    }
}
