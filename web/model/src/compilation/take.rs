//! Each event, and its effects on the compiler.

use isobar_protocol::request::Request;
use isobar_protocol::worker::AnswerBody;

use super::answer::{Freshness, n_errors};
use super::event::{CompileFacts, CompilerEffect, CompilerEvent};
use super::state::{CompilerFailure, CompilerState, CompilerTrouble, CompilerWorker, PendingCompilation};

impl CompilerState {
    /// Takes an event, and tells what the page has to do now, in this order.
    pub fn take(&mut self, event: CompilerEvent) -> Vec<CompilerEffect> {
        let mut out = Vec::new();
        match event {
            CompilerEvent::Began => self.start(&mut out),
            CompilerEvent::TextChanged => self.compile(&mut out),
            CompilerEvent::StagesWanted(stages) => {
                self.wanted = stages;
                self.compile_missing(&mut out);
            }
            CompilerEvent::SafeModeBegan => self.is_safe = true,
            CompilerEvent::SafeModeLeft => {
                self.is_safe = false;
                self.try_again(&mut out);
            }
            CompilerEvent::RetryAsked => self.try_again(&mut out),
            CompilerEvent::Prepared(facts) => self.ask(*facts, &mut out),
            CompilerEvent::Loading(loading) => self.loading = loading,
            // Where it waits for a change, nothing else would say so.
            CompilerEvent::Ready => self.loading = None,
            CompilerEvent::Whole => {
                if let Some(worker) = &mut self.worker {
                    worker.half.clear();
                }
                self.compile(&mut out);
            }
            CompilerEvent::Said(revision, said) => self.said(revision, *said, &mut out),
            CompilerEvent::Refused(message) => {
                self.worker = None;
                let over = self.trouble.take().and_then(|it| it.over);
                self.trouble = Some(CompilerTrouble { failure: CompilerFailure::NotLoaded(message), over });
            }
            CompilerEvent::Crashed(message) => self.crashed(message, &mut out),
            CompilerEvent::TookTooLong(number) => self.give_up(number, &mut out),
        }
        out
    }

    /// Compiles the newest edit, unless compiling waits.
    fn compile(&self, out: &mut Vec<CompilerEffect>) {
        if !self.is_safe {
            out.push(CompilerEffect::Prepare);
        }
    }

    /// Asks for the wanted stages that have no text of the newest answer. While a question is under way nothing is
    /// asked: its answer comes here again.
    fn compile_missing(&self, out: &mut Vec<CompilerEffect>) {
        let worker = self.worker.as_ref();
        let is_half = |name: &str| worker.is_some_and(|it| it.half.iter().any(|half| half == name));
        let mut waiting = self.stages.iter().filter(|(_, view)| view.freshness == Freshness::Waiting);
        let is_asked = worker.is_some_and(|it| it.asked.is_some());
        if !is_asked && waiting.any(|(name, _)| self.wanted.contains(name) && !is_half(name)) {
            self.compile(out);
        }
    }

    fn start(&mut self, out: &mut Vec<CompilerEffect>) {
        self.worker = Some(CompilerWorker::default());
        out.push(CompilerEffect::Start);
    }

    fn try_again(&mut self, out: &mut Vec<CompilerEffect>) {
        if let Some(trouble) = &mut self.trouble {
            trouble.over = None;
        }
        self.compile(out);
    }

    fn ask(&mut self, facts: CompileFacts, out: &mut Vec<CompilerEffect>) {
        let CompileFacts { request, revision } = facts;
        let stages = self.wanted.iter().map(|it| (*it).to_owned()).collect();
        let request = Request { stages: Some(stages), ..request };
        if self.trouble.as_ref().is_some_and(|it| it.over.as_ref() == Some(&request)) {
            return;
        }
        let worker = self.worker.get_or_insert_with(|| {
            out.push(CompilerEffect::Start);
            CompilerWorker::default()
        });
        if let Some(asked) = &mut worker.asked {
            asked.is_due = true;
            return;
        }
        self.n_asked += 1;
        let number = self.n_asked;
        out.push(CompilerEffect::Ask { revision, request: Box::new(request.clone()) });
        out.push(CompilerEffect::Remind(number));
        worker.asked = Some(PendingCompilation { number, request, is_due: false });
    }

    fn said(&mut self, revision: u64, said: AnswerBody, out: &mut Vec<CompilerEffect>) {
        let Some(worker) = &mut self.worker else { return };
        let Some(asked) = worker.asked.take() else { return };
        self.loading = None;
        worker.has_answered = true;
        // An answer for an older edit is dropped: the newest text is asked for at once.
        if asked.is_due {
            if let Some(trouble) = &mut self.trouble {
                trouble.over = None;
            }
            return self.compile(out);
        }
        self.trouble = None;
        let stages = asked.request.stages.unwrap_or_default();
        if let AnswerBody::Compiled { compiled, defaults, is_half } = said {
            let mut compiled = *compiled;
            if is_half {
                worker.half.clone_from(&stages);
            }
            let has_errors = n_errors(&compiled.diagnostics) > 0;
            for (name, view) in &mut self.stages {
                if stages.iter().all(|it| it != name) {
                    // The shown text may be older. The stage is asked for when it is opened.
                    view.freshness = Freshness::Waiting;
                    continue;
                }
                let at = compiled.stages.iter().position(|it| it.stage == *name);
                let text = at.map(|at| compiled.stages.swap_remove(at));
                view.take(revision, text, has_errors, is_half);
            }
            self.answer.take(revision, compiled, *defaults);
        }
        // Other stages may have been opened meanwhile.
        self.compile_missing(out);
    }

    fn crashed(&mut self, message: String, out: &mut Vec<CompilerEffect>) {
        let Some(worker) = self.worker.take() else { return };
        let has_trapped = worker.asked.is_some() && message.contains("unreachable");
        if worker.has_answered || has_trapped {
            self.start_over(CompilerFailure::Crashed(message), worker.asked, out);
        } else {
            out.push(CompilerEffect::Stop);
            let over = worker.asked.map(|it| it.request);
            self.trouble = Some(CompilerTrouble { failure: CompilerFailure::NotLoaded(message), over });
        }
    }

    fn give_up(&mut self, number: u64, out: &mut Vec<CompilerEffect>) {
        let is_stuck = |it: &CompilerWorker| it.asked.as_ref().is_some_and(|it| it.number == number);
        if let Some(worker) = self.worker.take_if(|it| is_stuck(it)) {
            self.start_over(CompilerFailure::TookTooLong, worker.asked, out);
        }
    }

    /// Makes another worker ready for the next edit, which may have come already.
    fn start_over(
        &mut self,
        failure: CompilerFailure,
        asked: Option<PendingCompilation>,
        out: &mut Vec<CompilerEffect>,
    ) {
        let is_due = asked.as_ref().is_some_and(|it| it.is_due);
        self.trouble = Some(CompilerTrouble { failure, over: asked.map(|it| it.request) });
        self.start(out);
        if is_due { self.compile(out) } else { self.compile_missing(out) }
    }
}
