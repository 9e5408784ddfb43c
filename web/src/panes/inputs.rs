//! The inputs of the next run: scalars, externals, fields.

pub mod model;

use isobar_page_model::inputs::{
    FieldInput, FieldSource, InputControl, UserValue, ValueInput, ValueOrigin, function,
};
use leptos::prelude::*;

use self::model::Model;
use crate::bridge::locale::t;
use crate::content::inputs::{extent, shape};
use crate::state::{App, sentences, use_app};
use crate::widgets::prose::prose;

/// Scalars or externals: they are shown alike, and changed by other actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputKind {
    Scalar,
    External,
}

impl InputKind {
    fn name(self) -> &'static str {
        match self {
            InputKind::Scalar => "scalar",
            InputKind::External => "external",
        }
    }
}

/// A section below the editor that opens on demand. Reads signature, directives and the user's values; changes those.
#[component]
pub fn Inputs() -> impl IntoView {
    let app = use_app();
    let is_open = app.layout.inputs_open;
    let scalars = Memo::new(move |_| app.scalars());
    let externals = Memo::new(move |_| app.externals());
    let fields = Memo::new(move |_| app.field_inputs());
    let count = |of: &[ValueInput]| of.iter().filter(|it| it.is_taken()).count();
    let summary = move || {
        let (fields, scalars, externals) =
            (fields.with(Vec::len), scalars.with(|it| count(it)), externals.with(|it| count(it)));
        let words = [
            (fields > 0).then(|| t!("n-fields", count = fields)),
            (scalars > 0).then(|| t!("n-scalars", count = scalars)),
            (externals > 0).then(|| match app.compilation.is_program() {
                true => t!("n-constructor", count = externals),
                false => t!("n-externals", count = externals),
            }),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    // Of a class, they are arguments of its constructor.
    let of_externals = Signal::derive(move || match app.compilation.is_program() {
        true => t!("inputs-constructor"),
        false => t!("inputs-externals"),
    });
    let of_scalars = Signal::derive(|| t!("scalars"));
    let of_both = move |test: fn(&ValueInput) -> bool| {
        let count = |of: &Vec<ValueInput>| of.iter().filter(|it| test(it)).count();
        scalars.with(count) + externals.with(count)
    };
    let changed = move || of_both(ValueInput::is_changed) + app.project.n_model_choices();
    let missing = move || {
        let n_fields = fields.with(|it| it.iter().filter(|it| it.source == FieldSource::Missing).count());
        of_both(ValueInput::is_missing) + n_fields
    };
    view! {
        <section class="pane pane-inputs" aria-label=t!("inputs") data-testid="inputs">
            <h2 class="pane-head">
                <button
                    type="button"
                    class="quiet disclosure"
                    data-testid="inputs-toggle"
                    aria-expanded=move || if is_open.get() { "true" } else { "false" }
                    aria-controls="inputs-body"
                    on:click=move |_| is_open.update(|it| *it = !*it)
                >
                    <span class="disclosure-sign" aria-hidden="true">{move || if is_open.get() { "▾" } else { "▸" }}</span>
                    {t!("inputs")}
                </button>
                <span class="muted head-note">{summary}</span>
                {move || (changed() > 0).then(|| view! { <span class="mark">{t!("inputs-changed", count = changed())}</span> })}
                {move || (missing() > 0).then(|| view! { <span class="mark mark-warn">{t!("inputs-missing", count = missing())}</span> })}
            </h2>
            <div class="inputs" id="inputs-body" hidden=move || !is_open.get()>
                <ValueList title=of_scalars kind=InputKind::Scalar rows=scalars />
                <ValueList title=of_externals kind=InputKind::External rows=externals />
                <Model />
                <FieldTable rows=fields />
                <p class="muted inputs-none" hidden=move || !summary().is_empty()>
                    {t!("inputs-none")}
                </p>
            </div>
        </section>
    }
}

#[component]
fn ValueList(title: Signal<&'static str>, kind: InputKind, rows: Memo<Vec<ValueInput>>) -> impl IntoView {
    let opened = use_app().project.opened;
    let names = Memo::new(move |_| {
        let opened = opened.get();
        rows.with(|it| it.iter().map(|it| (opened, it.name.clone())).collect::<Vec<_>>())
    });
    view! {
        <Show when=move || !names.with(Vec::is_empty)>
            <h3>{title}</h3>
            <ul class="values">
                // Keyed, so that an answer of the compiler leaves alone what is being typed, and another stencil does not.
                <For each=move || names.get() key=Clone::clone let((_, name))>
                    <ValueRow kind=kind name=name rows=rows />
                </For>
            </ul>
        </Show>
    }
}

/// One value with its message. Typed text that cannot be read stays here until it is corrected or taken back.
#[component]
fn ValueRow(kind: InputKind, name: String, rows: Memo<Vec<ValueInput>>) -> impl IntoView {
    let app = use_app();
    let wanted = name.clone();
    let row = Memo::new(move |_| {
        rows.with(|it| it.iter().find(|it| it.name == wanted).cloned()).unwrap_or_default()
    });
    let refused = RwSignal::new(None::<(String, String)>);
    let text = move || {
        refused
            .with(|it| it.as_ref().map(|(text, _)| text.clone()))
            .unwrap_or_else(|| row.with(ValueInput::shown))
    };
    let problem = move || {
        refused.with(|it| it.as_ref().map(|(_, why)| why.clone())).or_else(|| {
            row.with(|it| match &it.user {
                UserValue::Refused(refusal) => Some(sentences::refusal(refusal)),
                UserValue::None | UserValue::Usable(_) => None,
            })
        })
    };
    let control = Memo::new(move |_| row.with(ValueInput::shown_in));
    let choose = move |text: String| {
        let row = row.get_untracked();
        let is_chosen = match kind {
            InputKind::Scalar => app.choose_scalar(&row, &text),
            InputKind::External => app.choose_external(&row, &text),
        };
        refused.set(is_chosen.err().map(|why| (text, why)));
    };
    let reset = move |_| {
        refused.set(None);
        let name = row.with_untracked(|it| it.name.clone());
        match kind {
            InputKind::Scalar => app.reset_scalar(&name),
            InputKind::External => app.reset_external(&name),
        }
    };
    let is_taken = move || row.with(ValueInput::is_taken);
    let is_changed = move || row.with(ValueInput::is_changed) || refused.with(Option::is_some);
    let id = format!("{}-{name}", kind.name());
    let control_id = id.clone();
    let note_id = format!("note-{id}");
    let note = move || {
        row.with(|row| {
            if !row.is_taken() {
                return t!("inputs-left").to_owned();
            }
            let is_chosen = row.chosen().is_some();
            match (row.own(), is_chosen) {
                // A line has no way to name a function.
                (None, false) if matches!(row.control(), InputControl::Function(_)) => {
                    t!("inputs-choose-function").to_owned()
                }
                (None, false) => {
                    t!("inputs-no-value", line = format!("# @{} {} = …", kind.name(), row.name))
                }
                (None, true) => t!("inputs-here").to_owned(),
                (Some((_, origin)), false) => match origin {
                    ValueOrigin::MadeUp => t!("inputs-made-up"),
                    ValueOrigin::Line => t!("inputs-from-text"),
                    ValueOrigin::Default => t!("inputs-from-default"),
                    ValueOrigin::Compiler => t!("inputs-from-compiler"),
                }
                .to_owned(),
                (Some((value, origin)), true) => match origin {
                    ValueOrigin::MadeUp => t!("inputs-here-made-up", value = value),
                    ValueOrigin::Line => t!("inputs-here-text", value = value),
                    ValueOrigin::Default => t!("inputs-here-default", value = value),
                    ValueOrigin::Compiler => t!("inputs-here-compiler", value = value),
                },
            }
        })
    };
    view! {
        <li class="value" class:value-left=move || !is_taken()>
            <label class="value-name" for=id.clone()>
                <code>{name.clone()}</code>
                <span class="muted">{move || row.with(|it| it.taken.as_ref().and_then(|it| sentences::input_type(&it.of)))}</span>
            </label>
            {move || match control.get() {
                InputControl::Text => {
                    view! {
                        <input
                            id=control_id.clone()
                            type="text"
                            class="value-text"
                            spellcheck="false"
                            autocomplete="off"
                            autocapitalize="off"
                            data-testid=format!("input-{control_id}")
                            prop:value=text
                            disabled=move || !is_taken()
                            aria-invalid=move || problem().is_some().then_some("true")
                            aria-describedby=format!("note-{control_id}")
                            on:change:target=move |event| {
                                choose(event.target().value());
                                // As it is spelled everywhere, where it could be read.
                                event.target().set_value(&untrack(text));
                            }
                        />
                    }
                    .into_any()
                }
                InputControl::Switch => switch(&control_id, text, is_taken, choose).into_any(),
                InputControl::Function(names) => {
                    function_choice(&control_id, names, text, is_taken, choose).into_any()
                }
            }}
            <button
                type="button"
                class="quiet"
                data-testid=format!("reset-{id}")
                title=t!("inputs-reset-about")
                aria-label=t!("inputs-reset-name", name = &name)
                hidden=move || !is_changed()
                on:click=reset
            >
                {move || if is_taken() { t!("reset") } else { t!("inputs-remove") }}
            </button>
            <span class="value-note" id=note_id>
                {move || match problem() {
                    Some(why) => {
                        view! { <span class="value-problem" role="alert" data-testid=format!("problem-{id}")>{why}</span> }.into_any()
                    }
                    None => view! { <span class="muted">{note}</span> }.into_any(),
                }}
            </span>
        </li>
    }
}

/// `True` or `False`.
fn switch(
    id: &str,
    text: impl Fn() -> String + Copy + Send + 'static,
    is_taken: impl Fn() -> bool + Copy + Send + 'static,
    choose: impl Fn(String) + Copy + Send + 'static,
) -> impl IntoView {
    view! {
        <span class="value-switch">
            <input
                id=id.to_owned()
                type="checkbox"
                role="switch"
                data-testid=format!("input-{id}")
                prop:checked=move || text() == "True"
                // Neither, where it has no value yet.
                prop:indeterminate=move || text().is_empty()
                disabled=move || !is_taken()
                aria-describedby=format!("note-{id}")
                on:change:target=move |event| {
                    choose(if event.target().checked() { "True" } else { "False" }.to_owned());
                }
            />
            <code aria-hidden="true">{text}</code>
        </span>
    }
}

/// One of the functions of the files, the likeliest first.
fn function_choice(
    id: &str,
    names: Vec<String>,
    text: impl Fn() -> String + Copy + Send + 'static,
    is_taken: impl Fn() -> bool + Copy + Send + 'static,
    choose: impl Fn(String) + Copy + Send + 'static,
) -> impl IntoView {
    let options: Vec<_> = names.into_iter().map(|it| (function(&it), it)).collect();
    let known: Vec<String> = options.iter().map(|(value, _)| value.clone()).collect();
    view! {
        <select
            id=id.to_owned()
            class="value-text"
            data-testid=format!("input-{id}")
            disabled=move || !is_taken()
            aria-describedby=format!("note-{id}")
            on:change:target=move |event| choose(event.target().value())
        >
            {options
                .into_iter()
                .map(|(value, name)| {
                    let of_option = value.clone();
                    view! { <option value=value selected=move || text() == of_option>{name}</option> }
                })
                .collect_view()}
            // The present value, if it is no function that is known here; without a value, a prompt.
            {move || {
                let text = text();
                (!known.contains(&text))
                    .then(|| {
                        let shown = if text.is_empty() { t!("choose-one").to_owned() } else { text.clone() };
                        view! { <option value=text disabled selected>{shown}</option> }
                    })
            }}
        </select>
    }
}

#[component]
fn FieldTable(rows: Memo<Vec<FieldInput>>) -> impl IntoView {
    view! {
        <Show when=move || !rows.with(Vec::is_empty)>
            <h3>{t!("fields")}</h3>
            <ul class="values">{move || rows.get().into_iter().map(field).collect_view()}</ul>
        </Show>
    }
}

fn field(row: FieldInput) -> impl IntoView {
    let app = use_app();
    let FieldInput { param, source } = row;
    let extent = extent(&param);
    let name = param.name.clone();
    let source = match source {
        FieldSource::Line(text) => generator(app, name, text, GeneratorSource::OfText).into_any(),
        FieldSource::MadeUp(text) => generator(app, name, text, GeneratorSource::MadeUp).into_any(),
        FieldSource::Chosen(text, refused) => {
            generator(app, name, text, GeneratorSource::Here(refused)).into_any()
        }
        FieldSource::Zeros => view! { <span class="muted">{t!("inputs-written")}</span> }.into_any(),
        FieldSource::Unused => view! { <span class="muted">{t!("inputs-unused")}</span> }.into_any(),
        FieldSource::Missing => {
            let param = param.clone();
            view! {
                <span class="value-problem">{prose(&t!("inputs-needs-line", line = format!("# @input {name} …")))}</span>
                " "
                <button type="button" on:click=move |_| app.add_input_line(&param)>{t!("inputs-add-line")}</button>
            }
            .into_any()
        }
    };
    view! {
        <li class="field-input" data-testid=format!("input-field-{}", param.name)>
            <span class="value-name">
                <code>{param.name.clone()}</code>
                <span class="muted">{param.dtype.clone()}" "{shape(&param)}", "{param.access.clone()}</span>
            </span>
            <span class="muted" title=t!("inputs-halo-about")>{extent}</span>
            <span class="field-source">{source}</span>
        </li>
    }
}

/// The source of a generator.
enum GeneratorSource {
    OfText,
    MadeUp,
    /// The user, and why the generator cannot be read.
    Here(Option<String>),
}

/// The generator of a field, which can be typed over.
fn generator(app: App, name: String, text: String, said: GeneratorSource) -> impl IntoView {
    let (of_change, of_reset) = (name.clone(), name.clone());
    let (is_own, note, problem) = match said {
        GeneratorSource::OfText => (false, t!("inputs-from-text"), None),
        GeneratorSource::MadeUp => (false, t!("inputs-by-name"), None),
        GeneratorSource::Here(problem) => (true, t!("inputs-here"), problem),
    };
    let is_wrong = problem.is_some();
    let note_id = format!("note-generator-{name}");
    view! {
        <span class="field-generator">
            <input
                type="text"
                id=format!("generator-{name}")
                class="value-text"
                spellcheck="false"
                autocomplete="off"
                autocapitalize="off"
                aria-label=t!("inputs-values", name = &name)
                aria-invalid=is_wrong.then_some("true")
                aria-describedby=note_id.clone()
                data-testid=format!("generator-{name}")
                value=text
                on:change:target=move |event| app.choose_generator(&of_change, &event.target().value())
            />
            <span id=note_id>
                {match problem {
                    Some(why) => view! { <span class="value-problem" role="alert">{why}</span> }.into_any(),
                    None => view! { <span class="muted">{note}</span> }.into_any(),
                }}
            </span>
            {is_own.then(|| view! {
                <button
                    type="button"
                    class="quiet"
                    aria-label=t!("inputs-values-reset", name = &name)
                    data-testid=format!("reset-generator-{name}")
                    on:click=move |_| app.choose_generator(&of_reset, "")
                >
                    {t!("reset")}
                </button>
            })}
        </span>
    }
}
