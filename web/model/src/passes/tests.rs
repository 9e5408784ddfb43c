//! Passes, from what is picked to what is asked and shown.

use std::sync::Arc;

use isobar_protocol::compile::StageText;
use isobar_protocol::passes::{Moment, PassDiff, PassOutcome, PassStep};
use isobar_protocol::worker::AnswerBody;

use super::*;
use crate::difference::DiffView;
use crate::picks::Pick;
use crate::remarks::{DecisionKind, RemarkEntry};
use crate::run::WorkerGone;

fn passes() -> PassesState {
    PassesState::new(["gtir", "oir"])
}

fn pass(name: &str) -> Pick {
    Pick::Pass(name.to_owned())
}

fn moment(stage: &str, pass: Option<&str>) -> Moment {
    Moment { stage: stage.to_owned(), pass: pass.map(str::to_owned) }
}

fn ask(moments: &[Moment]) -> Vec<PassesEffect> {
    vec![PassesEffect::Ask(moments.to_vec())]
}

fn answer(around: &[Moment]) -> PassesEvent {
    let step = PassStep {
        stage: "oir".to_owned(),
        pass: "oir/prune".to_owned(),
        went: PassOutcome::Changed,
        removed: 1,
        added: 0,
    };
    let text = StageText { stage: "oir".to_owned(), text: String::new(), nodes: Vec::new() };
    let around =
        around.iter().map(|it| PassDiff { of: it.clone(), text: text.clone(), marks: String::new() });
    PassesEvent::Said(3, Box::new(AnswerBody::Passes { steps: vec![step], around: around.collect() }))
}

fn entry(text: &str) -> RemarkEntry {
    RemarkEntry {
        shown: DecisionKind::Applied,
        pass: "oir/prune".to_owned(),
        text: Some(text.to_owned()),
        places: Vec::new(),
        links: Vec::new(),
        traffic: None,
    }
}

#[test]
fn the_moments_of_open_lists_are_looked_at() {
    let mut passes = passes();
    assert_eq!(passes.looked_at(), None);
    passes.take(PassesEvent::Toggled("oir"));
    assert_eq!(passes.looked_at(), Some(Vec::new()));
    passes.take(PassesEvent::Picked("oir", pass("oir/prune")));
    passes.take(PassesEvent::Picked("gtir", Pick::BeforeAll));
    assert_eq!(passes.looked_at(), Some(vec![moment("gtir", None), moment("oir", Some("oir/prune"))]));
    passes.take(PassesEvent::ListOpened("oir"));
    assert_eq!(passes.look("oir").map(PassesLook::pick), Some(pass("oir/prune")));
    passes.take(PassesEvent::Toggled("oir"));
    passes.take(PassesEvent::Toggled("oir"));
    assert_eq!(passes.look("oir").map(PassesLook::pick), Some(Pick::AfterAll));
}

#[test]
fn a_question_waits_for_the_answer_to_the_one_before() {
    let mut passes = passes();
    let pruned = moment("oir", Some("oir/prune"));
    passes.take(PassesEvent::Picked("oir", pass("oir/prune")));
    assert_eq!(passes.take(PassesEvent::Due), ask(std::slice::from_ref(&pruned)));
    assert!(passes.is_asked());
    passes.take(PassesEvent::Picked("oir", Pick::BeforeAll));
    assert_eq!(passes.take(PassesEvent::Due), []);
    assert_eq!(passes.take(PassesEvent::Due), []);
    assert_eq!(passes.take(answer(&[pruned])), ask(&[moment("oir", None)]));
    assert_eq!(passes.take(answer(&[moment("oir", None)])), []);
    assert!(!passes.is_asked() && passes.revision == 3 && passes.steps.len() == 1);
}

#[test]
fn a_level_is_shown_around_its_pick_until_another_answer_comes() {
    let mut passes = passes();
    let around = |passes: &PassesState| passes.look("oir").and_then(PassesLook::around);
    passes.take(PassesEvent::Picked("oir", pass("oir/prune")));
    passes.take(PassesEvent::Due);
    passes.take(answer(&[moment("oir", Some("oir/prune"))]));
    let shown = around(&passes).expect("the answer has it");
    passes.take(PassesEvent::Picked("oir", pass("oir/fuse")));
    assert!(around(&passes).is_some_and(|it| Arc::ptr_eq(&it, &shown)));
    passes.take(PassesEvent::Due);
    passes.take(answer(&[moment("oir", Some("oir/prune"))]));
    assert!(around(&passes).is_some_and(|it| Arc::ptr_eq(&it, &shown)), "nothing is drawn anew");
    passes.take(PassesEvent::Picked("oir", Pick::AfterAll));
    assert_eq!(around(&passes), None);
}

#[test]
fn a_worker_that_ends_is_told_of_unless_it_was_stopped() {
    let mut passes = passes();
    passes.take(PassesEvent::Due);
    assert_eq!(passes.take(PassesEvent::Gone(WorkerGone::Stopped)), []);
    assert_eq!(passes.trouble, None);
    passes.take(PassesEvent::Due);
    passes.take(PassesEvent::Due);
    let crashed = WorkerGone::Crashed("unreachable".to_owned());
    assert_eq!(passes.take(PassesEvent::Gone(crashed.clone())), ask(&[]));
    assert_eq!(passes.trouble, Some(crashed));
    passes.take(answer(&[]));
    assert_eq!(passes.trouble, None);
}

#[test]
fn the_side_of_a_level_stays_chosen() {
    let mut passes = passes();
    passes.take(PassesEvent::SideChosen("oir", DiffView::Before));
    passes.take(PassesEvent::Toggled("oir"));
    passes.take(PassesEvent::Toggled("oir"));
    assert_eq!(passes.look("oir").map(|it| it.side), Some(DiffView::Before));
}

#[test]
fn decisions_stay_over_errors_of_the_same_stencil_and_say_so() {
    let mut passes = passes();
    let rested = |opened, has_errors, entries: &[RemarkEntry]| {
        let entries = entries.to_vec();
        PassesEvent::Rested { opened, has_errors, entries }
    };
    passes.take(rested(1, true, &[]));
    assert!(!passes.told.are_stale);
    passes.take(rested(1, false, &[entry("a")]));
    let first = passes.told.entries.clone();
    passes.take(rested(1, true, &[]));
    assert!(passes.told.are_stale && passes.told.entries.len() == 1);
    passes.take(rested(1, false, &[entry("a")]));
    assert!(!passes.told.are_stale && Arc::ptr_eq(&passes.told.entries, &first));
    assert_eq!(passes.told.count, 3);
    passes.take(rested(2, true, &[]));
    assert!(!passes.told.are_stale && passes.told.entries.is_empty());
}
