//! Each event, and its effects on the passes.

use std::sync::Arc;

use isobar_protocol::passes::{PassDiff, PassStep};
use isobar_protocol::worker::AnswerBody;

use super::event::{PassesEffect, PassesEvent};
use super::state::{OpenList, PassesLook, PassesQuestion, PassesState, ToldDecisions};
use crate::picks::Pick;
use crate::remarks::RemarkEntry;
use crate::run::WorkerGone;

impl PassesState {
    /// Takes an event, and tells what the page has to do now.
    pub fn take(&mut self, event: PassesEvent) -> Vec<PassesEffect> {
        match event {
            PassesEvent::Toggled(stage) => self.change(stage, |look| {
                look.open = if look.open.is_some() { None } else { Some(OpenList::default()) };
            }),
            PassesEvent::ListOpened(stage) => self.change(stage, |look| {
                look.open.get_or_insert_default();
            }),
            PassesEvent::Picked(stage, pick) => self.change(stage, |look| {
                let list = look.open.get_or_insert_default();
                if pick == Pick::AfterAll && list.pick != pick {
                    list.around = None;
                }
                list.pick = pick;
            }),
            PassesEvent::SideChosen(stage, side) => self.change(stage, |look| look.side = side),
            PassesEvent::Due if self.is_asked() => self.question = PassesQuestion::AskedAndDue,
            PassesEvent::Due => return self.ask(),
            PassesEvent::Rested { opened, has_errors, entries } => {
                self.told.take(opened, has_errors, entries);
            }
            PassesEvent::Said(revision, said) => {
                if let AnswerBody::Passes { steps, around } = *said {
                    self.answered(revision, steps, &around);
                }
                return self.ask_again();
            }
            PassesEvent::Gone(how) => {
                if how != WorkerGone::Stopped {
                    self.trouble = Some(how);
                }
                return self.ask_again();
            }
        }
        Vec::new()
    }

    fn change(&mut self, stage: &str, change: impl FnOnce(&mut PassesLook)) {
        if let Some((_, look)) = self.looks.iter_mut().find(|it| it.0 == stage) {
            change(look);
        }
    }

    fn ask(&mut self) -> Vec<PassesEffect> {
        self.question = PassesQuestion::Asked;
        vec![PassesEffect::Ask(self.looked_at().unwrap_or_default())]
    }

    fn ask_again(&mut self) -> Vec<PassesEffect> {
        match std::mem::take(&mut self.question) {
            PassesQuestion::AskedAndDue => self.ask(),
            PassesQuestion::None | PassesQuestion::Asked => Vec::new(),
        }
    }

    fn answered(&mut self, revision: u64, steps: Vec<PassStep>, around: &[PassDiff]) {
        self.trouble = None;
        self.revision = revision;
        self.steps = Arc::new(steps);
        for (stage, look) in &mut self.looks {
            let Some(list) = &mut look.open else { continue };
            let found = around.iter().find(|it| it.of.stage == *stage);
            if list.around.as_deref() != found {
                list.around = found.cloned().map(Arc::new);
            }
        }
    }
}

impl ToldDecisions {
    fn take(&mut self, opened: u64, has_errors: bool, entries: Vec<RemarkEntry>) {
        // A text with errors does not get as far as its remarks: those of the text before it stay, and say so.
        self.are_stale = self.opened == opened && has_errors && !self.entries.is_empty();
        if self.are_stale {
            return;
        }
        self.opened = opened;
        if *self.entries != entries {
            self.entries = Arc::new(entries);
        }
        self.count += 1;
    }
}
