//! The passes of a level: what each did, the one that is looked at, and what it says.

use isobar_compiler::pipeline::Stage;
use isobar_page_model::difference::DiffView;
use isobar_page_model::picks::{Pick, next_pick, picks};
use isobar_protocol::passes::{PassOutcome, PassStep};
use leptos::ev::KeyboardEvent;
use leptos::html::Ul;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::bridge::locale::t;
use crate::plots::number;
use crate::state::{App, difference, remarks, use_app};
use crate::widgets::prose::prose;

/// A pass without its level, as the list and the chips name it.
fn short(pass: &str) -> &str {
    pass.split_once('/').map_or(pass, |it| it.1)
}

fn id_of(stage: Stage, pick: &Pick) -> String {
    match pick {
        Pick::BeforeAll => format!("pass-{stage}-before-all"),
        Pick::AfterAll => format!("pass-{stage}-after-all"),
        Pick::Pass(pass) => format!("pass-{stage}-{}", short(pass)),
    }
}

/// The result of a pass, as its row shows it.
fn went(step: &PassStep) -> String {
    match step.went {
        PassOutcome::Changed => format!("−{} +{}", step.removed, step.added),
        PassOutcome::Unchanged => t!("passes-unchanged").to_owned(),
        PassOutcome::Skipped => t!("passes-skipped").to_owned(),
        PassOutcome::NotReached => t!("passes-not-reached").to_owned(),
    }
}

/// The list of the stage that the context tells.
#[must_use]
pub fn later() -> AnyView {
    view! { <PassList stage=expect_context() /> }.into_any()
}

/// The list of passes, and what can be done with the picked one. Reads what became of them; picks and leaves out.
#[component]
pub fn PassList(stage: Stage) -> impl IntoView {
    let app = use_app();
    let passes = app.passes;
    let look = passes.look(stage);
    let all = Memo::new(move |_| passes.steps.with(|it| picks(stage.name(), it)));
    let list = NodeRef::<Ul>::new();
    let state = move || {
        let is_newest = passes.revision.get() == app.compilation.revision.get();
        if passes.is_asked.get() || !is_newest { "waiting" } else { "fresh" }
    };
    let pick = move |pick: Pick| app.passes.pick(stage, pick);
    // Keeps the picked row in view while the user moves through the passes.
    Effect::new(move |_| {
        let id = look.pick.with(|it| id_of(stage, it));
        all.track();
        let (true, Some(list)) = (look.is_open.get(), list.get()) else { return };
        request_animation_frame(move || {
            let Ok(Some(row)) = list.query_selector(&format!("#{id}")) else { return };
            let Ok(row) = row.dyn_into::<HtmlElement>() else { return };
            let (top, end) = (row.offset_top(), row.offset_top() + row.offset_height());
            if top < list.scroll_top() {
                list.set_scroll_top(top);
            } else if end > list.scroll_top() + list.client_height() {
                list.set_scroll_top(end - list.client_height());
            }
        });
    });
    let go = move |by: isize| {
        let from = look.pick.get_untracked();
        if let Some(next) = all.with_untracked(|all| next_pick(all, &from, by, |_| true)) {
            pick(next);
        }
    };
    let on_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "ArrowDown" => go(1),
            "ArrowUp" => go(-1),
            "Home" => pick(Pick::BeforeAll),
            "End" => pick(Pick::AfterAll),
            _ => return,
        }
        event.prevent_default();
    };
    let is_first = move || look.pick.with(|it| *it == Pick::BeforeAll);
    let is_last = move || look.pick.with(|it| *it == Pick::AfterAll);
    let rows = move || all.get().into_iter().map(|it| row(app, stage, it)).collect_view();
    view! {
        <div
            class="passes"
            id=format!("passes-{stage}")
            data-testid=format!("passes-{stage}")
            data-state=state
            hidden=move || !look.is_open.get()
        >
            <ul
                class="pass-list"
                role="listbox"
                tabindex="0"
                node_ref=list
                aria-label=t!("passes-of", stage = stage.title())
                aria-activedescendant=move || look.pick.with(|it| id_of(stage, it))
                on:keydown=on_key
            >
                {rows}
            </ul>
            {move || passes.trouble.get().map(|it| view! { <p class="pass-trouble" role="alert">{it}</p> })}
            <div class="pass-bar">
                <span class="joined">
                    <button
                        type="button"
                        aria-label=t!("passes-previous")
                        title=t!("passes-previous-about")
                        disabled=is_first
                        on:click=move |_| go(-1)
                    >
                        "‹"
                    </button>
                    <button type="button" aria-label=t!("passes-next") title=t!("passes-next-about") disabled=is_last on:click=move |_| go(1)>
                        "›"
                    </button>
                </span>
                <Show when=move || !is_last() && !is_first()>
                    <select
                        aria-label=t!("passes-side")
                        data-testid="pass-side"
                        on:change:target=move |event| {
                            let chosen = event.target().value();
                            let side = DiffView::ALL.into_iter().find(|it| it.name() == chosen);
                            passes.choose_side(stage, side.unwrap_or_default());
                        }
                    >
                        {DiffView::ALL
                            .map(|it| view! {
                                <option value=it.name() selected=move || look.side.get() == it>{difference::title(it)}</option>
                            })}
                    </select>
                    <Skip stage=stage />
                </Show>
                <span class="muted pass-note">
                    {move || look.pick.with(|it| match it {
                        Pick::AfterAll => t!("passes-pick"),
                        Pick::BeforeAll => t!("passes-before"),
                        Pick::Pass(_) => "",
                    })}
                </span>
            </div>
            <PassRemarks stage=stage />
        </div>
    }
}

/// One row of the list.
fn row(app: App, stage: Stage, pick: Pick) -> impl IntoView {
    let look = app.passes.look(stage);
    let name = match &pick {
        Pick::BeforeAll => t!("passes-before-all").to_owned(),
        Pick::AfterAll => t!("passes-after-all").to_owned(),
        Pick::Pass(pass) => short(pass).to_owned(),
    };
    let pass = match &pick {
        Pick::Pass(pass) => Some(pass.clone()),
        Pick::BeforeAll | Pick::AfterAll => None,
    };
    let step = Memo::new({
        let pass = pass.clone();
        move |_| pass.as_deref().and_then(|it| app.passes.step(it))
    });
    let took = {
        let pass = pass.clone();
        move || {
            let name = pass.as_ref()?;
            app.compilation
                .timings
                .with(|it| it.iter().find(|it| it.step == *name).map(|it| number::milliseconds(it.ms)))
        }
    };
    let went_name = move || {
        step.with(|it| {
            it.as_ref().map(|it| match it.went {
                PassOutcome::Changed => "changed",
                PassOutcome::Unchanged => "unchanged",
                PassOutcome::Skipped => "skipped",
                PassOutcome::NotReached => "not-reached",
            })
        })
    };
    let is_picked = Memo::new({
        let pick = pick.clone();
        move |_| look.pick.with(|it| *it == pick)
    });
    let is_whole = pass.is_none();
    view! {
        <li
            class="pass"
            role="option"
            id=id_of(stage, &pick)
            class:pass-whole=is_whole
            data-testid="pass"
            data-pass=pass
            data-went=went_name
            aria-selected=move || if is_picked.get() { "true" } else { "false" }
            on:click=move |_| app.passes.pick(stage, pick.clone())
        >
            <span class="pass-name">{name}</span>
            <span class="pass-time muted">{took}</span>
            <span class="pass-went">{move || step.with(|it| it.as_ref().map(went))}</span>
        </li>
    }
}

/// Leaves the picked pass out of what is compiled and run, or puts it back.
#[component]
fn Skip(stage: Stage) -> impl IntoView {
    let app = use_app();
    let look = app.passes.look(stage);
    let pass = move || {
        look.pick.with(|it| match it {
            Pick::Pass(pass) => Some(pass.clone()),
            Pick::BeforeAll | Pick::AfterAll => None,
        })
    };
    let is_skipped = move || pass().is_some_and(|pass| app.project.skipped.with(|it| it.contains(&pass)));
    view! {
        <button
            type="button"
            data-testid="pass-skip"
            title=t!("passes-skip-about")
            aria-pressed=move || if is_skipped() { "true" } else { "false" }
            on:click=move |_| if let Some(pass) = untrack(pass) {
                app.toggle_skip(&pass);
            }
        >
            {move || if is_skipped() { t!("passes-left-out") } else { t!("passes-leave-out") }}
        </button>
    }
}

/// The remarks of the picked pass. A click lights the lines that a remark is about.
#[component]
fn PassRemarks(stage: Stage) -> impl IntoView {
    let app = use_app();
    let look = app.passes.look(stage);
    let said = Memo::new(move |_| {
        let pick = look.pick.get();
        let Pick::Pass(pass) = pick else { return Vec::new() };
        app.passes.entries.with(|it| it.iter().filter(|it| it.pass == pass).cloned().collect())
    });
    view! {
        <Show when=move || !said.with(Vec::is_empty)>
            <ul class="pass-remarks" aria-label=t!("passes-remarks")>
                {move || said
                    .get()
                    .into_iter()
                    .map(|it| {
                        let line = it.line(&app.project.main.get());
                        let links: std::collections::BTreeSet<String> = it.links.iter().cloned().collect();
                        let pointed = links.clone();
                        view! {
                            <li>
                                <button
                                    type="button"
                                    class="remark"
                                    data-testid="pass-remark"
                                    data-shown=it.shown.name()
                                    on:mouseenter=move |_| app.point_at(Some(pointed.clone()))
                                    on:mouseleave=move |_| app.point_at(None)
                                    on:click=move |_| app.pin(links.clone())
                                >
                                    <span class="remark-sign" aria-hidden="true">{it.sign()}</span>
                                    <span class="visually-hidden">{remarks::title(it.shown)}": "</span>
                                    <span class="remark-text">
                                        {prose(&remarks::text(&it))}
                                        {remarks::traffic(&it).map(|it| view! { " " <span class="traffic">{it}</span> })}
                                        {line.map(|it| view! { " " <span class="muted">{t!("line-number", line = it)}</span> })}
                                    </span>
                                </button>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </Show>
    }
}

/// The passes that are left out, each with a way back. Reads and changes the project.
#[component]
pub fn Skipped() -> impl IntoView {
    let app = use_app();
    let skipped = app.project.skipped;
    view! {
        <Show when=move || skipped.with(|it| !it.is_empty())>
            <div class="skipped" role="group" aria-label=t!("passes-skipped-about") data-testid="skipped">
                <span>{t!("passes-without")}</span>
                {move || skipped
                    .get()
                    .into_iter()
                    .map(|pass| view! {
                        <button
                            type="button"
                            class="chip"
                            data-testid="skipped-pass"
                            data-pass=pass.clone()
                            aria-label=t!("passes-again-name", pass = &pass)
                            title=t!("passes-again")
                            on:click={
                                let pass = pass.clone();
                                move |_| app.toggle_skip(&pass)
                            }
                        >
                            {pass.clone()}" ✕"
                        </button>
                    })
                    .collect_view()}
                <Show when=move || skipped.with(|it| it.len() > 1)>
                    <button type="button" class="quiet" on:click=move |_| app.skip_nothing()>{t!("passes-all-again")}</button>
                </Show>
            </div>
        </Show>
    }
}

/// Why the lit statement is not in a stage. Reads what is lit; leads to the pass that removed it.
#[component]
pub fn Gone(
    stage: Stage,
    /// Whether any of its lines is lit.
    is_lit: Signal<bool>,
) -> impl IntoView {
    let app = use_app();
    let found = Memo::new(move |_| {
        let links = app.lit();
        if is_lit.get() || links.is_empty() {
            return Vec::new();
        }
        app.compilation.tombstones.with(|it| remarks::gone(it, &links, stage).into_iter().cloned().collect())
    });
    view! {
        <Show when=move || !found.with(Vec::is_empty)>
            <div class="gone" role="status" data-testid="gone">
                {move || {
                    let all = found.get();
                    let more = all.len().saturating_sub(1);
                    all.into_iter().next().map(|it| {
                        let (pass, of) = (it.pass.clone(), Stage::from_name(&it.stage));
                        let why = it.reason.map(|it| format!(": {it}")).unwrap_or_default();
                        let others = if more > 0 { t!("passes-more-gone", count = more) } else { String::new() };
                        let text = t!("passes-gone", pass = &it.pass) + &why + &others;
                        view! {
                            <span>{prose(&text)}</span>
                            <button
                                type="button"
                                class="quiet"
                                on:click=move |_| if let Some(of) = of {
                                    app.layout.choose_stage(of);
                                    app.passes.pick(of, Pick::Pass(pass.clone()));
                                }
                            >
                                {t!("passes-show")}
                            </button>
                        }
                    })
                }}
            </div>
        </Show>
    }
}
