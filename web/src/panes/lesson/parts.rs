//! The parts of a lesson that one does something with.

use isobar_compiler::pipeline::Stage;
use isobar_lessons::course::Quiz;
use isobar_lessons::markdown::Block;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::journey::about;
use crate::state::use_app;
use crate::widgets::article::Prose;
use crate::widgets::figure::Figure;

/// A question with options; what was chosen is told at once.
#[component]
pub fn QuizBox(quiz: Quiz) -> impl IntoView {
    let app = use_app();
    let id = quiz.id.clone();
    let chosen = Memo::new(move |_| app.learn.done().chosen.get(&id).copied());
    let right = quiz.options.iter().position(|it| it.0);
    let is_right = move || chosen.get().is_some() && chosen.get() == right;
    let group = format!("quiz-{}", quiz.id);
    let options = quiz.options.clone().into_iter().enumerate().map(|(at, (_, blocks))| {
        let quiz = quiz.clone();
        let group = group.clone();
        let state = move || match chosen.get() {
            Some(it) if it == at => Some(if Some(at) == right { "right" } else { "wrong" }),
            _ => None,
        };
        view! {
            <label class="quiz-option" data-testid="quiz-option" data-state=state>
                <input
                    type="radio"
                    name=group
                    prop:checked=move || chosen.get() == Some(at)
                    on:change=move |_| app.choose_option(&quiz, at)
                />
                <Prose blocks=blocks />
            </label>
        }
    });
    let options = options.collect_view();
    let because = quiz.because.clone();
    view! {
        <fieldset class="lesson-quiz" data-testid="quiz">
            <legend>{t!("quiz")}</legend>
            <Prose blocks=quiz.question.clone() />
            {options}
            <div role="status">
                <Show when=move || chosen.get().is_some() && !is_right()>
                    <p class="warn">{t!("quiz-wrong")}</p>
                </Show>
                <Show when=is_right>
                    <div class="quiz-because"><strong class="ok">"✓ "{t!("quiz-right")}</strong><Prose blocks=because.clone() /></div>
                </Show>
            </div>
        </fieldset>
    }
}

/// A box for a number or a word, which a check looks at.
#[component]
pub fn AnswerBox(id: String, label: String) -> impl IntoView {
    let app = use_app();
    let name = id.clone();
    let given = Memo::new(move |_| app.learn.done().answers.get(&name).cloned().unwrap_or_default());
    view! {
        <label class="lesson-answer">
            <span>{label}</span>
            <input
                type="text"
                autocomplete="off"
                spellcheck="false"
                data-testid="answer"
                data-question=id.clone()
                prop:value=move || given.get()
                on:input:target=move |event| app.answer(&id, event.target().value())
            />
        </label>
    }
}

/// A drawing, fetched when the lesson is opened.
#[component]
pub fn Drawing(name: String) -> impl IntoView {
    let app = use_app();
    app.reference.load_figure(&name);
    view! { <Figure svg=Signal::derive(move || app.reference.figure(&name)) /> }
}

/// A level to look at.
#[component]
pub fn Peek(stage: String) -> impl IntoView {
    let app = use_app();
    let stage = Stage::from_name(&stage);
    stage.map(|stage| {
        view! {
            <p class="lesson-peek">
                <button
                    type="button"
                    on:click=move |_| {
                        app.layout.choose_stage(stage);
                        app.layout.lesson_shows_stages.set(true);
                    }
                >
                    {t!("peek-open", stage = stage.title())}
                </button>
                <span class="muted">{about(stage)}</span>
            </p>
        }
    })
}

/// A text to try out.
#[component]
pub fn Try(blocks: Vec<Block>) -> impl IntoView {
    let app = use_app();
    let code = blocks.iter().find_map(|it| match it {
        Block::Code { text, .. } => Some(text.clone()),
        _ => None,
    });
    view! {
        <section class="lesson-try" aria-label=t!("try")>
            <Prose blocks=blocks />
            {code.map(|code| view! {
                <button type="button" on:click=move |_| app.put_into_editor(&code)>{t!("lesson-put")}</button>
            })}
        </section>
    }
}
