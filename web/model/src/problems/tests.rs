//! Diagnostics, from an answer to what is shown of it.

use super::*;

/// An answer to the newest edit: an error at `qq` in the first line, and one in the third.
fn facts(now_ms: f64, caret_line: u32) -> Box<ProblemFacts> {
    let at = |line, col| Position { line, col };
    let error = |line| {
        let (start, end) = (at(line, 1), at(line, 3));
        Diagnostic { file: "main.py".to_owned(), start, end, ..Diagnostic::without_place("E01", "wrong", "") }
    };
    Box::new(ProblemFacts {
        now_ms,
        answered: 2,
        revision: 2,
        diagnostics: Arc::new(vec![error(1), error(3)]),
        file: "main.py".to_owned(),
        text: "qq = 1\n\nrr = 2\n".to_owned(),
        caret: at(caret_line, 2),
    })
}

fn wait(ms: f64) -> Option<ProblemsEffect> {
    Some(ProblemsEffect::Wait(ms))
}

#[test]
fn problems_are_shown_when_the_keyboard_rests() {
    let mut problems = ProblemsState::default();
    assert_eq!(problems.take(ProblemsEvent::Changed(10.0)), wait(0.0), "nobody types");
    problems.take(ProblemsEvent::Typed(1000.0));
    assert_eq!(problems.take(ProblemsEvent::Changed(1050.0)), wait(100.0));
    assert_eq!(problems.take(ProblemsEvent::Changed(1500.0)), wait(0.0));
    problems.take(ProblemsEvent::Opened);
    assert_eq!(problems.take(ProblemsEvent::Changed(1510.0)), wait(0.0));
}

#[test]
fn those_of_the_word_that_is_typed_wait_for_a_longer_rest() {
    let mut problems = ProblemsState::default();
    problems.take(ProblemsEvent::Typed(1000.0));
    assert_eq!(problems.take(ProblemsEvent::Due(facts(1200.0, 1))), wait(800.0));
    assert_eq!((problems.shown.len(), problems.revision), (1, 2));
    assert_eq!(problems.take(ProblemsEvent::Due(facts(2000.0, 1))), None);
    assert_eq!(problems.shown.len(), 2);
}

#[test]
fn a_caret_that_leaves_its_word_lets_go_of_its_problems() {
    let mut problems = ProblemsState::default();
    problems.take(ProblemsEvent::Typed(1000.0));
    problems.take(ProblemsEvent::Due(facts(1200.0, 1)));
    assert_eq!(problems.take(ProblemsEvent::CaretMoved(1100.0)), None, "it is still typed");
    assert_eq!(problems.take(ProblemsEvent::CaretMoved(1300.0)), wait(0.0));
    assert_eq!(problems.take(ProblemsEvent::Due(facts(1300.0, 2))), None);
    assert_eq!(problems.shown.len(), 2);
    assert_eq!(problems.take(ProblemsEvent::CaretMoved(1400.0)), None, "nothing is held back");
}

#[test]
fn the_word_in_another_file_is_not_meant() {
    let mut problems = ProblemsState::default();
    problems.take(ProblemsEvent::Typed(1000.0));
    let elsewhere = ProblemFacts { file: "lib.py".to_owned(), ..*facts(1200.0, 1) };
    assert_eq!(problems.take(ProblemsEvent::Due(Box::new(elsewhere))), None);
    assert_eq!(problems.shown.len(), 2);
}

#[test]
fn all_are_shown_where_the_user_asks_for_them() {
    let mut problems = ProblemsState::default();
    problems.take(ProblemsEvent::Typed(1000.0));
    assert_eq!(problems.take(ProblemsEvent::AllWanted(facts(1001.0, 1))), None);
    let shown = problems.shown.clone();
    assert_eq!(shown.len(), 2);
    problems.take(ProblemsEvent::AllWanted(facts(1002.0, 1)));
    assert!(Arc::ptr_eq(&shown, &problems.shown), "nothing is drawn anew");
}

#[test]
fn an_answer_to_an_older_edit_shows_nothing() {
    let mut problems = ProblemsState::default();
    let old = ProblemFacts { answered: 1, ..*facts(0.0, 1) };
    assert_eq!(problems.take(ProblemsEvent::Due(Box::new(old))), None);
    assert!(problems.shown.is_empty());
}
