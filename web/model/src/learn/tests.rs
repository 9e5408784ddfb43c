//! The ways into a lesson, through it and out of it.

use isobar_lessons::course::{Course, Lesson, LessonHead};
use isobar_protocol::lesson::{LessonResult, Verdict};

use super::*;
use crate::progress::{LearningProgress, LessonProgress};
use crate::route::Route;

fn text(value: &str) -> String {
    value.to_owned()
}

/// The address names a view, while the editor has the user's own text.
fn gone(route: Route) -> LessonEvent {
    LessonEvent::Gone { route, presents: false, has_link: false, is_lesson: false }
}

fn lesson(folder: &str) -> Route {
    Route::Lesson { course: text("c"), folder: text(folder) }
}

fn files(folder: &str) -> OpenLesson {
    let head = LessonHead { id: folder.to_owned(), ..LessonHead::default() };
    OpenLesson {
        course: text("c"),
        folder: folder.to_owned(),
        lesson: Lesson { head, ..Lesson::default() },
        start: text("start"),
        ..OpenLesson::default()
    }
}

fn arrived(number: u64, lesson: Result<OpenLesson, String>) -> LessonEvent {
    LessonEvent::Arrived { number, lesson: Box::new(lesson) }
}

/// A lesson that is shown.
fn shown() -> Lessons {
    let mut lessons = Lessons::new(None);
    lessons.take(gone(lesson("one")));
    lessons.take(arrived(1, Ok(files("one"))));
    lessons
}

fn checked(is_passed: bool) -> LessonEvent {
    let verdicts = vec![Verdict { is_passed, ..Verdict::default() }];
    LessonEvent::Checked { result: LessonResult { verdicts, ..LessonResult::default() }, revision: 7 }
}

#[test]
fn a_lesson_is_read_and_shown_with_its_start() {
    let mut lessons = Lessons::new(None);
    assert_eq!(
        lessons.take(gone(lesson("one"))),
        [
            LessonEffect::ScrollToTop,
            LessonEffect::Pause,
            LessonEffect::ReadCourse(text("c")),
            LessonEffect::ReadLesson { course: text("c"), folder: text("one"), number: 1, looks_first: true },
        ]
    );
    assert_eq!((lessons.route.clone(), lessons.opened()), (lesson("one"), None));
    let effects = lessons.take(arrived(1, Ok(files("one"))));
    let opened = lessons.opened().expect("it is open");
    assert_eq!(effects, [LessonEffect::Show { lesson: opened, text: text("start") }]);
}

#[test]
fn a_draft_comes_back_in_place_of_the_start() {
    let mut lessons = shown();
    lessons.take(LessonEvent::Typed(text("mine")));
    lessons.take(gone(Route::Editor));
    lessons.take(gone(lesson("one")));
    let effects = lessons.take(arrived(3, Ok(files("one"))));
    assert!(matches!(effects.as_slice(), [LessonEffect::Show { text, .. }] if text == "mine"), "{effects:?}");
}

#[test]
fn a_lesson_that_is_open_is_not_read_again_while_its_text_is_there() {
    let mut lessons = shown();
    let again =
        |is_lesson| LessonEvent::Gone { route: lesson("one"), presents: false, has_link: false, is_lesson };
    let is_read = |effects: &[LessonEffect]| {
        effects.iter().any(|it| matches!(it, LessonEffect::ReadLesson { looks_first: false, .. }))
    };
    assert!(!is_read(&lessons.take(again(true))));
    // Another text was opened meanwhile.
    assert!(is_read(&lessons.take(again(false))));
}

#[test]
fn files_that_come_late_are_dropped() {
    let mut lessons = Lessons::new(None);
    lessons.take(gone(lesson("one")));
    lessons.take(gone(lesson("two")));
    assert_eq!(lessons.take(arrived(1, Ok(files("one")))), []);
    assert_eq!(lessons.take(arrived(1, Err(text("no file")))), []);
    assert_eq!((lessons.opened(), lessons.trouble.clone()), (None, None));
    lessons.take(gone(Route::Editor));
    assert_eq!(lessons.take(arrived(2, Ok(files("two")))), []);
    assert_eq!(lessons.opened(), None);
}

#[test]
fn a_file_that_cannot_be_read_is_told_until_another_view_is_named() {
    let mut lessons = Lessons::new(None);
    lessons.take(gone(lesson("one")));
    lessons.take(arrived(1, Err(text("no file"))));
    assert_eq!(lessons.trouble, Some(LessonTrouble::Unread(text("no file"))));
    lessons.take(gone(Route::Gallery(None)));
    assert_eq!((lessons.trouble.clone(), lessons.route.clone()), (None, Route::Gallery(None)));
    lessons.take(LessonEvent::CourseRead(Err(text("no course"))));
    assert_eq!(lessons.trouble, Some(LessonTrouble::Unread(text("no course"))));
    assert_eq!(lessons.course, None);
}

#[test]
fn who_leaves_gets_the_own_text_back_unless_a_link_brought_one() {
    for has_link in [false, true] {
        let mut lessons = shown();
        let left = LessonEvent::Gone { route: Route::Editor, presents: false, has_link, is_lesson: true };
        assert_eq!(
            lessons.take(left),
            [LessonEffect::ScrollToTop, LessonEffect::CloseTab, LessonEffect::Leave { has_link }]
        );
        assert_eq!(lessons.opened(), None);
    }
    let mut lessons = shown();
    assert_eq!(
        lessons.take(LessonEvent::LeftWithText { is_lesson: true }),
        [LessonEffect::CloseTab, LessonEffect::Leave { has_link: true }]
    );
    assert_eq!(lessons.route, Route::Editor);
    // The text is the user's own already.
    assert_eq!(lessons.take(LessonEvent::LeftWithText { is_lesson: false }), [LessonEffect::CloseTab]);
}

#[test]
fn an_example_opens_while_its_view_stays() {
    let mut lessons = Lessons::new(None);
    lessons.take(gone(Route::Gallery(None)));
    let effects = lessons.take(gone(Route::Gallery(Some(text("thomas")))));
    assert_eq!(effects.last(), Some(&LessonEffect::OpenExample(text("thomas"))));
    assert_eq!(lessons.route, Route::Gallery(None));
}

#[test]
fn the_list_asks_once_for_its_course_and_for_later_progress() {
    let mut lessons = Lessons::new(None);
    let effects = lessons.take(gone(Route::Learn));
    assert_eq!(effects[2..], [LessonEffect::ReadCourse(text("first-course")), LessonEffect::LookForProgress]);
    lessons.take(LessonEvent::CourseRead(Ok(Course::default())));
    assert_eq!(lessons.take(gone(Route::Learn)), [LessonEffect::ScrollToTop, LessonEffect::Pause]);
}

#[test]
fn a_manual_is_opened_at_its_page() {
    let mut lessons = Lessons::new(None);
    let effects = lessons.take(gone(Route::Manual(Some(text("codes")), None)));
    assert_eq!(effects.last(), Some(&LessonEffect::OpenManual(Some(text("codes")))));
}

#[test]
fn a_teacher_presents_until_the_editor_is_named_without() {
    let present = |route, presents| LessonEvent::Gone { route, presents, has_link: false, is_lesson: false };
    let mut lessons = Lessons::new(None);
    lessons.take(present(Route::Learn, true));
    assert!(lessons.presents);
    lessons.take(present(lesson("one"), false));
    assert!(lessons.presents, "lessons follow each other");
    lessons.take(present(Route::Editor, false));
    assert!(!lessons.presents);
}

#[test]
fn a_check_is_counted_and_passing_once_is_enough() {
    let mut lessons = shown();
    lessons.take(checked(true));
    let first = lessons.verdicts().expect("it was checked");
    assert_eq!((first.revision, first.number, first.result.is_passed()), (7, 1, true));
    lessons.take(checked(false));
    let second = lessons.verdicts().expect("it was checked");
    assert!(second.number == 2 && !second.result.is_passed());
    let done = lessons.done_in("c/one");
    assert!(done.is_passed && done.checks == 2 && done.may_see_solution());
    // The verdicts belong to the lesson: another one has none.
    lessons.take(gone(lesson("two")));
    lessons.take(arrived(2, Ok(files("two"))));
    assert_eq!(lessons.verdicts(), None);
}

#[test]
fn answers_hints_and_choices_are_noted_in_the_open_lesson_alone() {
    let mut lessons = Lessons::new(None);
    lessons.take(LessonEvent::HintTaken);
    assert_eq!(lessons.progress.lessons.len(), 0);
    let mut lessons = shown();
    lessons.take(LessonEvent::HintTaken);
    lessons.take(LessonEvent::Answered { question: text("why"), text: text("so") });
    lessons.take(LessonEvent::Chosen { question: text("which"), at: 2, is_right: false });
    let done = lessons.done_in("c/one");
    assert_eq!((done.hints, done.chosen["which"]), (1, 2));
    assert_eq!((done.answers["why"].as_str(), done.answers["which"].as_str()), ("so", "wrong"));
}

#[test]
fn a_lesson_begins_anew_and_stays_passed() {
    let mut lessons = shown();
    for event in [checked(true), LessonEvent::HintTaken, LessonEvent::SolutionAsked] {
        lessons.take(event);
    }
    assert!(lessons.shows_solution());
    assert_eq!(lessons.take(LessonEvent::Restarted), [LessonEffect::Put(text("start"))]);
    assert_eq!(lessons.done_in("c/one"), LessonProgress { is_passed: true, ..LessonProgress::default() });
    assert!(!lessons.shows_solution() && lessons.verdicts().is_none());
}

#[test]
fn progress_is_forgotten_found_and_taken_in() {
    let passed = LessonProgress { is_passed: true, ..LessonProgress::default() };
    let other = LearningProgress { version: 1, lessons: [(text("c/two"), passed.clone())].into() };
    let mut lessons = shown();
    lessons.take(checked(true));
    lessons.take(LessonEvent::LaterFound(other.clone()));
    assert!(lessons.done_in("c/one").is_passed && lessons.done_in("c/two").is_passed);
    assert_eq!(lessons.progress.version, 1);
    lessons.take(LessonEvent::Forgotten);
    assert_eq!((lessons.progress.lessons.len(), lessons.verdicts()), (0, None));
    lessons.take(LessonEvent::Imported(None));
    assert_eq!(lessons.trouble, Some(LessonTrouble::NoProgress));
    lessons.take(LessonEvent::Imported(Some(other)));
    assert_eq!((lessons.done_in("c/two"), lessons.trouble.clone()), (passed, None));
}
