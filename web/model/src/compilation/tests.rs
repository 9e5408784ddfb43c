//! The ways of questions to the compiler, from what happens to what the page does.

use std::sync::Arc;

use isobar_protocol::compile::{Compiled, StageText};
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::request::Request;
use isobar_protocol::worker::{AnswerBody, Defaults};

use super::*;

type Effects = Vec<CompilerEffect>;

/// The page: it has the compiler, and tells of its text.
struct Page {
    compiler: CompilerState,
    revision: u64,
}

impl Page {
    /// A page whose first question is asked.
    fn new() -> Self {
        let mut page = Self { compiler: CompilerState::new(["definition", "oir", "c"]), revision: 1 };
        assert_eq!(page.take(CompilerEvent::Began), [CompilerEffect::Start]);
        assert_eq!(
            page.take(CompilerEvent::StagesWanted(vec!["definition", "oir"])),
            [page.question(), CompilerEffect::Remind(1)]
        );
        page
    }

    /// The same, and the answer is there.
    fn answered() -> Self {
        let mut page = Self::new();
        assert_eq!(page.say(compiled(&["definition", "oir"])), []);
        page
    }

    fn request(&self) -> Request {
        Request { main: Some(format!("text {}", self.revision)), ..Request::default() }
    }

    /// The question about the newest text.
    fn question(&self) -> CompilerEffect {
        let stages = self.compiler.wanted.iter().map(|it| (*it).to_owned()).collect();
        let request = Box::new(Request { stages: Some(stages), ..self.request() });
        CompilerEffect::Ask { revision: self.revision, request }
    }

    /// Returns the effects of an event. The page tells of its text at once.
    fn take(&mut self, event: CompilerEvent) -> Effects {
        let mut all = Vec::new();
        let mut open = vec![event];
        while let Some(event) = open.pop() {
            for effect in self.compiler.take(event) {
                match effect {
                    CompilerEffect::Prepare => {
                        let (request, revision) = (self.request(), self.revision);
                        let facts = CompileFacts { request, revision };
                        open.push(CompilerEvent::Prepared(Box::new(facts)));
                    }
                    other => all.push(other),
                }
            }
        }
        all
    }

    fn edit(&mut self) -> Effects {
        self.revision += 1;
        self.take(CompilerEvent::TextChanged)
    }

    fn say(&mut self, said: AnswerBody) -> Effects {
        self.take(CompilerEvent::Said(self.revision, Box::new(said)))
    }

    fn crash(&mut self, message: &str) -> Effects {
        self.take(CompilerEvent::Crashed(message.to_owned()))
    }

    fn freshness(&self) -> [Freshness; 3] {
        ["definition", "oir", "c"].map(|it| self.compiler.stage(it).freshness)
    }
}

fn body(stages: &[&str], diagnostics: Vec<Diagnostic>, is_half: bool) -> AnswerBody {
    let text = |name: &&str| StageText {
        stage: (*name).to_owned(),
        text: format!("text of {name}"),
        nodes: Vec::new(),
    };
    let stages = stages.iter().map(text).collect();
    let compiled = Compiled { diagnostics, stages, ..Compiled::default() };
    AnswerBody::Compiled { compiled: Box::new(compiled), defaults: Box::new(Defaults::default()), is_half }
}

fn compiled(stages: &[&str]) -> AnswerBody {
    body(stages, Vec::new(), false)
}

fn refused(stages: &[&str]) -> AnswerBody {
    body(stages, vec![Diagnostic::without_place("E01", "wrong", "mend it")], false)
}

#[test]
fn an_edit_is_asked_about_and_its_answer_is_shown() {
    let mut page = Page::answered();
    assert_eq!(page.freshness(), [Freshness::Fresh, Freshness::Fresh, Freshness::Waiting]);
    assert!(page.compiler.is_answered(1) && !page.compiler.is_answered(2));
    assert_eq!(page.edit(), [page.question(), CompilerEffect::Remind(2)]);
    assert_eq!(page.say(compiled(&["definition", "oir"])), []);
    assert_eq!((page.compiler.answer.revision, page.compiler.answer.count), (2, 2));
    assert_eq!(page.compiler.stage("oir").revision, 2);
}

#[test]
fn edits_that_come_meanwhile_are_asked_about_once_and_the_late_answer_is_dropped() {
    let mut page = Page::new();
    assert_eq!(page.edit(), []);
    assert_eq!(page.edit(), []);
    let effects = page.take(CompilerEvent::Said(1, Box::new(compiled(&["oir"]))));
    assert_eq!(effects, [page.question(), CompilerEffect::Remind(2)]);
    assert_eq!(page.compiler.answer.revision, 0);
    assert_eq!(page.say(compiled(&["definition", "oir"])), []);
    assert_eq!(page.compiler.answer.revision, 3);
}

#[test]
fn a_text_with_errors_leaves_the_stages_of_before_and_says_so() {
    let mut page = Page::answered();
    page.edit();
    page.say(refused(&["definition"]));
    assert_eq!(page.freshness(), [Freshness::Fresh, Freshness::Stale, Freshness::Waiting]);
    let oir = page.compiler.stage("oir");
    assert_eq!((oir.revision, &*oir.text.text), (1, "text of oir"));
    assert_eq!(n_errors(&page.compiler.answer.diagnostics), 1);
    assert_eq!(oir.answered(), Some(&oir.text));
    assert_eq!(page.compiler.stage("c").answered(), None);

    let mut page = Page::new();
    page.say(refused(&[]));
    assert_eq!(page.freshness(), [Freshness::Refused, Freshness::Refused, Freshness::Waiting]);
}

#[test]
fn a_stage_that_is_opened_is_asked_for_unless_it_is_there() {
    let mut page = Page::answered();
    assert_eq!(page.take(CompilerEvent::StagesWanted(vec!["definition"])), []);
    let effects = page.take(CompilerEvent::StagesWanted(vec!["definition", "c"]));
    assert_eq!(effects, [page.question(), CompilerEffect::Remind(2)]);
    // While that is under way, another one waits for the answer.
    assert_eq!(page.take(CompilerEvent::StagesWanted(vec!["definition", "oir", "c"])), []);
    let effects = page.say(compiled(&["definition", "c"]));
    assert_eq!(effects, [page.question(), CompilerEffect::Remind(3)]);
    assert_eq!(page.freshness(), [Freshness::Fresh, Freshness::Waiting, Freshness::Fresh]);
}

#[test]
fn half_an_answer_is_asked_for_again_when_the_program_is_whole() {
    let mut page = Page::new();
    assert_eq!(page.say(body(&["definition"], Vec::new(), true)), []);
    assert_eq!(page.freshness(), [Freshness::Fresh, Freshness::Waiting, Freshness::Waiting]);
    assert_eq!(page.take(CompilerEvent::Whole), [page.question(), CompilerEffect::Remind(2)]);
    page.say(compiled(&["definition", "oir"]));
    assert_eq!(page.freshness(), [Freshness::Fresh, Freshness::Fresh, Freshness::Waiting]);
}

#[test]
fn a_request_that_the_compiler_fell_over_is_tried_again_after_an_edit_or_on_demand() {
    let mut page = Page::answered();
    page.edit();
    assert_eq!(page.crash("boom"), [CompilerEffect::Start]);
    assert_eq!(page.compiler.failure(), Some(&CompilerFailure::Crashed("boom".to_owned())));
    // Nothing more will be said about it.
    assert!(page.compiler.is_answered(2));
    assert_eq!(page.take(CompilerEvent::TextChanged), []);
    assert_eq!(page.take(CompilerEvent::RetryAsked), [page.question(), CompilerEffect::Remind(3)]);
    assert!(!page.compiler.is_answered(2));
    assert_eq!(page.crash("unreachable executed"), [CompilerEffect::Start]);
    assert_eq!(page.edit(), [page.question(), CompilerEffect::Remind(4)]);
    page.say(compiled(&["definition", "oir"]));
    assert_eq!(page.compiler.failure(), None);
}

#[test]
fn an_edit_that_came_before_a_crash_is_asked_about_at_once() {
    let mut page = Page::answered();
    page.edit();
    page.edit();
    assert_eq!(page.crash("boom"), [CompilerEffect::Start, page.question(), CompilerEffect::Remind(3)]);
}

#[test]
fn a_question_that_takes_too_long_is_given_up() {
    let mut page = Page::answered();
    page.edit();
    assert_eq!(page.take(CompilerEvent::TookTooLong(1)), []);
    assert_eq!(page.take(CompilerEvent::TookTooLong(2)), [CompilerEffect::Start]);
    assert_eq!(page.compiler.failure(), Some(&CompilerFailure::TookTooLong));
    assert_eq!(page.take(CompilerEvent::TookTooLong(2)), []);
}

#[test]
fn a_program_that_does_not_start_is_started_again_by_the_next_edit() {
    let mut page = Page::new();
    // Before it said a word, it was not the text that it fell over.
    assert_eq!(page.crash("404"), [CompilerEffect::Stop]);
    assert_eq!(page.compiler.failure(), Some(&CompilerFailure::NotLoaded("404".to_owned())));
    assert!(page.compiler.is_answered(1));
    assert_eq!(page.take(CompilerEvent::TextChanged), []);
    assert_eq!(page.edit(), [CompilerEffect::Start, page.question(), CompilerEffect::Remind(2)]);
    assert_eq!(page.take(CompilerEvent::Refused("no workers".to_owned())), []);
    assert_eq!(page.compiler.failure(), Some(&CompilerFailure::NotLoaded("no workers".to_owned())));
    let effects = page.take(CompilerEvent::RetryAsked);
    assert_eq!(effects, [CompilerEffect::Start, page.question(), CompilerEffect::Remind(3)]);

    // A trap is the text's even if it was the first.
    let mut page = Page::new();
    assert_eq!(page.crash("RuntimeError: unreachable"), [CompilerEffect::Start]);
}

#[test]
fn in_safe_mode_nothing_is_asked_until_the_user_wants_it() {
    let mut page = Page { compiler: CompilerState::new(["definition", "oir", "c"]), revision: 1 };
    page.take(CompilerEvent::SafeModeBegan);
    assert_eq!(page.take(CompilerEvent::Began), [CompilerEffect::Start]);
    assert_eq!(page.take(CompilerEvent::StagesWanted(vec!["definition"])), []);
    assert_eq!(page.edit(), []);
    assert_eq!(page.take(CompilerEvent::SafeModeLeft), [page.question(), CompilerEffect::Remind(1)]);
}

#[test]
fn the_program_on_its_way_is_told_of_until_it_speaks() {
    let mut page = Page::new();
    page.take(CompilerEvent::Loading(Some([300, 900])));
    assert_eq!(page.compiler.loading, Some([300, 900]));
    page.say(compiled(&["definition", "oir"]));
    assert_eq!(page.compiler.loading, None);
    page.take(CompilerEvent::Loading(Some([900, 900])));
    page.take(CompilerEvent::Ready);
    assert_eq!(page.compiler.loading, None);
}

#[test]
fn parts_of_an_answer_that_are_as_before_stay_the_same_allocation() {
    let mut page = Page::answered();
    let before = page.compiler.answer.clone();
    page.edit();
    let compiled = Box::new(Compiled { stencils: vec!["s".to_owned()], ..Compiled::default() });
    let defaults = Box::new(Defaults::default());
    page.say(AnswerBody::Compiled { compiled, defaults, is_half: false });
    let after = &page.compiler.answer;
    assert!(Arc::ptr_eq(&before.defaults, &after.defaults));
    assert!(Arc::ptr_eq(&before.diagnostics, &after.diagnostics));
    assert!(!Arc::ptr_eq(&before.stencils, &after.stencils));
}
