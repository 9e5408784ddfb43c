//! The ways of the shown text into storage.

use super::*;

fn facts(revision: u64) -> WriteFacts {
    WriteFacts { revision, has_link: false, fresh_id: "new".to_owned() }
}

fn text(value: &str) -> String {
    value.to_owned()
}

fn remember(id: &str) -> WorkspaceEffect {
    WorkspaceEffect::Remember(text(id))
}

fn write(id: &str) -> WorkspaceEffect {
    WorkspaceEffect::Write(WriteTarget::Own(text(id)))
}

/// The effects of becoming a copy, and of writing it.
fn copied() -> [WorkspaceEffect; 3] {
    [remember("new"), WorkspaceEffect::Claim(text("new")), write("new")]
}

/// A text of this name, which nobody has claimed.
fn taken(id: &str) -> WorkspaceState {
    let mut state = WorkspaceState::default();
    assert_eq!(state.take(WorkspaceEvent::Taken(text(id))), [remember(id)]);
    state
}

fn claimed(state: &mut WorkspaceState, name: &str, is_ours: bool) -> Vec<WorkspaceEffect> {
    state.take(WorkspaceEvent::Claimed { name: text(name), is_ours, facts: facts(1) })
}

fn changed(state: &mut WorkspaceState, revision: u64) -> Vec<WorkspaceEffect> {
    state.take(WorkspaceEvent::Changed(facts(revision)))
}

#[test]
fn a_change_is_written_by_the_tab_that_has_the_text() {
    let mut state = taken("t1");
    assert_eq!(claimed(&mut state, "t1", true), []);
    assert_eq!(changed(&mut state, 2), [write("t1")]);
}

#[test]
fn a_change_waits_until_it_is_known_which_tab_has_the_text() {
    let mut state = taken("t1");
    assert_eq!(changed(&mut state, 2), []);
    // The answer about a text that was left.
    assert_eq!(claimed(&mut state, "t0", true), []);
    assert_eq!(claimed(&mut state, "t1", true), [write("t1")]);
    assert!(!state.is_copy);
    let mut state = taken("t1");
    changed(&mut state, 2);
    assert_eq!(claimed(&mut state, "t1", false), copied());
    assert!(state.is_copy && state.id() == "new");
}

#[test]
fn a_page_that_ends_writes_a_copy_of_the_text_that_waits() {
    let mut state = taken("t1");
    assert_eq!(state.take(WorkspaceEvent::Ending(facts(2))), copied());
    assert!(state.is_copy);
    assert_eq!(state.take(WorkspaceEvent::CopyNoticed), []);
    assert!(!state.is_copy);
    // It is this tab's from then on.
    assert_eq!(state.take(WorkspaceEvent::Ending(facts(3))), [write("new")]);
}

#[test]
fn a_text_that_nobody_changed_is_not_written_over_a_later_one() {
    let mut state = taken("t1");
    state.take(WorkspaceEvent::Undecided(1));
    assert_eq!(changed(&mut state, 1), []);
    assert_eq!(claimed(&mut state, "t1", true), []);
    assert_eq!(changed(&mut state, 1), []);
    assert_eq!(state.take(WorkspaceEvent::Decided(facts(1))), [write("t1")]);
    assert_eq!(state.take(WorkspaceEvent::Decided(facts(1))), []);
}

#[test]
fn a_text_of_another_tab_is_a_copy_once_the_database_was_looked_into() {
    let mut state = taken("t1");
    state.take(WorkspaceEvent::Undecided(1));
    claimed(&mut state, "t1", false);
    assert_eq!(state.take(WorkspaceEvent::Decided(facts(1))), copied());
    assert!(state.is_copy);
}

#[test]
fn the_text_of_a_link_is_written_apart_once_it_is_changed() {
    let mut state = taken("t1");
    state.take(WorkspaceEvent::LinkShown);
    state.take(WorkspaceEvent::OwnerUnknown);
    assert_eq!(state.claimed_name(), LINKED);
    claimed(&mut state, LINKED, true);
    let unchanged = WriteFacts { has_link: true, ..facts(2) };
    assert_eq!(state.take(WorkspaceEvent::Changed(unchanged)), []);
    assert_eq!(changed(&mut state, 3), [WorkspaceEffect::Write(WriteTarget::Link)]);
    assert!(state.is_linked());
}

#[test]
fn the_text_of_a_link_that_another_tab_has_stays_there_until_it_is_changed() {
    let mut state = taken("t1");
    state.take(WorkspaceEvent::LinkShown);
    state.take(WorkspaceEvent::Undecided(1));
    claimed(&mut state, LINKED, false);
    assert_eq!(state.take(WorkspaceEvent::Decided(facts(1))), []);
    assert_eq!(changed(&mut state, 2), copied());
    assert!(state.is_copy && !state.is_linked());
}

#[test]
fn the_text_of_a_lesson_is_no_workspace_and_the_link_behind_it_stays() {
    let mut state = taken("t1");
    claimed(&mut state, "t1", true);
    state.take(WorkspaceEvent::LinkShown);
    state.take(WorkspaceEvent::LessonShown);
    assert!(state.is_lesson() && state.is_linked());
    assert_eq!(changed(&mut state, 2), []);
    state.take(WorkspaceEvent::LessonLeft);
    assert!(!state.is_lesson() && state.is_linked());
    state.take(WorkspaceEvent::LessonShown);
    state.take(WorkspaceEvent::LinkLeft);
    state.take(WorkspaceEvent::LessonLeft);
    assert!(!state.is_linked());
    assert_eq!(changed(&mut state, 3), [write("t1")]);
}

#[test]
fn a_new_text_is_this_tabs_and_one_of_the_list_its_own_or_a_copy() {
    let mut state = taken("t1");
    state.take(WorkspaceEvent::Undecided(1));
    let effects = state.take(WorkspaceEvent::Begun(text("t2")));
    assert_eq!(effects, [remember("t2"), WorkspaceEffect::Claim(text("t2"))]);
    assert_eq!(changed(&mut state, 1), [write("t2")]);
    let effects = state.take(WorkspaceEvent::Opened { id: text("t3"), is_copy: true });
    assert_eq!((effects, state.is_copy), (vec![remember("t3")], true));
    assert_eq!(changed(&mut state, 2), [write("t3")]);
}

#[test]
fn a_later_state_of_the_same_text_leaves_its_name() {
    let mut state = taken("t1");
    state.take(WorkspaceEvent::FirstVisit);
    assert!(state.is_first);
    assert_eq!(state.take(WorkspaceEvent::LaterFound { id: text("t1"), is_copy: false }), []);
    assert!(!state.is_first);
    let effects = state.take(WorkspaceEvent::LaterFound { id: text("t2"), is_copy: true });
    assert_eq!((effects, state.is_copy), (vec![remember("t2")], true));
}

#[test]
fn the_browser_is_asked_once_to_keep_what_the_database_has() {
    let mut state = taken("t1");
    let written = |is_kept, is_lasting| WorkspaceEvent::Written { is_kept, is_lasting };
    assert_eq!(state.take(written(true, false)), []);
    assert!(!state.is_unkept && !state.is_lasting);
    assert_eq!(state.take(written(true, true)), [WorkspaceEffect::AskToStay]);
    assert_eq!(state.take(written(true, true)), []);
    assert_eq!(state.take(written(false, false)), []);
    assert!(state.is_unkept);
    state.take(WorkspaceEvent::KeptAside(true));
    assert!(!state.is_unkept);
}

#[test]
fn quick_storage_has_the_last_few_texts() {
    let mut recent = Recent::with("a b  c d", "c");
    assert_eq!((recent.kept().as_str(), recent.forget_old()), ("c a b d", Vec::new()));
    let mut recent = Recent::with("a b c d e f", "g");
    assert_eq!(recent.forget_old(), ["e", "f"]);
    assert_eq!(recent.others(), ["a", "b", "c", "d"]);
    assert_eq!(Recent::with("", "a").others(), [""; 0]);
}
