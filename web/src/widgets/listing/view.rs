//! A listing on the page: its lines are laid out here, and drawn by `window`.

use std::sync::Arc;

use js_sys::{Function, Object, Reflect};
use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html::{Div, Input};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, MouseEvent};

use super::find::{MOST_FOUND, find};
use super::laid::{OffScreen, Sizes, TextLayout};
use super::paint::Painter;
use super::window::{WindowProperties, replace};
use crate::bridge::locale::t;

/// Rows that are drawn above and below what can be seen.
const MARGIN: u32 = 24;

#[wasm_bindgen]
extern "C" {
    type ResizeObserver;

    #[wasm_bindgen(constructor)]
    fn new(callback: &Function) -> ResizeObserver;

    #[wasm_bindgen(method)]
    fn observe(this: &ResizeObserver, target: &Element);
}

/// How a line stands to another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineMark {
    /// Also where there is no other text.
    #[default]
    Same,
    Removed,
    Added,
    /// It stands for lines that are not shown.
    Fold,
}

impl LineMark {
    /// In the place of the line's number.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            LineMark::Same => ' ',
            LineMark::Removed => '−',
            LineMark::Added => '+',
            LineMark::Fold => '⋯',
        }
    }

    /// As style sheets and tests name it.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            LineMark::Same => None,
            LineMark::Removed => Some("removed"),
            LineMark::Added => Some("added"),
            LineMark::Fold => Some("fold"),
        }
    }
}

/// A note beside a line: the line from 0, a sign, and the words that a pointer on it brings up.
pub type LineNote = (u32, &'static str, String);

/// A text with lines that can be pointed at. Reads text and lit lines; tells pointer, clicks, and what is off screen.
///
/// By keyboard: arrows go from line to line, Enter is a click, Control+F searches, Control+A and C copy everything.
#[component]
pub fn Listing(
    /// The id of the element, and the beginning of those of its lines.
    id: String,
    label: Signal<String>,
    text: Signal<Arc<str>>,
    /// One for each line, where the text is compared with another.
    marks: Signal<Vec<LineMark>>,
    /// Lines to light, from 0, in order.
    lit: Signal<Vec<u32>>,
    notes: Signal<Vec<LineNote>>,
    painter: Painter,
    /// How many lines at the start are folded until somebody unfolds them.
    prelude: Signal<u32>,
    /// Whether long lines are broken.
    wraps: Signal<bool>,
    /// Whether the search is open.
    finds: RwSignal<bool>,
    /// The line the pointer rests on, or none any more.
    on_point: impl Fn(Option<u32>) + Copy + 'static,
    /// The line that was clicked.
    on_pick: impl Fn(u32) + Copy + 'static,
    /// Scrolls to the first lit line when this changes.
    follow: Signal<u32>,
    off_screen: RwSignal<OffScreen>,
) -> impl IntoView {
    let (node, all, window, probe) =
        (NodeRef::<Div>::new(), NodeRef::<Div>::new(), NodeRef::<Div>::new(), NodeRef::<Div>::new());
    let laid = StoredValue::new_local(TextLayout::default());
    // Counts layouts; each of them is drawn.
    let n_laid = RwSignal::new(0_u64);
    let sizes = RwSignal::new(Sizes::default());
    let is_unfolded = RwSignal::new(false);
    let active = RwSignal::new(None::<u32>);
    let is_all_chosen = RwSignal::new(false);
    let query = RwSignal::new(String::new());
    let current = RwSignal::new(0_usize);
    let hits =
        Memo::new(
            move |_| {
                if finds.get() { query.with(|query| text.with(|it| find(it, query))) } else { Vec::new() }
            },
        );
    let folded = Memo::new(move |_| if is_unfolded.get() { 0 } else { prelude.get() });

    let count = move || {
        let found = laid.with_value(|laid| lit.with_untracked(|it| laid.off_screen(it)));
        if off_screen.get_untracked() != found {
            off_screen.set(found);
        }
    };
    let id_of_lines = StoredValue::new(format!("{id}-line-"));

    // Draws the window anew, or what differs in it.
    let draw = move || {
        let (Some(all), Some(window)) = (all.get_untracked(), window.get_untracked()) else { return };
        laid.update_value(|laid| {
            if laid.is_hidden() {
                return;
            }
            let seen = laid.seen();
            let lines = laid.rows.lines(seen.start.saturating_sub(MARGIN)..seen.end + MARGIN);
            let lines: Vec<usize> = lines.filter(|&at| laid.rows.height(at) > 0).collect();
            let dress = WindowProperties {
                id: id_of_lines.get_value(),
                n_lines: laid.lines.len(),
                active: active.get_untracked(),
                current: current.get_untracked(),
            };
            let new: Vec<(usize, String)> = marks.with_untracked(|marks| {
                lit.with_untracked(|lit| {
                    notes.with_untracked(|notes| {
                        hits.with_untracked(|hits| {
                            lines
                                .into_iter()
                                .map(|at| (at, dress.html(laid, painter, at, marks, lit, notes, hits)))
                                .collect()
                        })
                    })
                })
            });
            let set = |element: &HtmlElement, name: &str, value: f64| {
                // Refused for names that are no properties only.
                let _ = element.style().set_property(name, &format!("{value}px"));
            };
            let row = laid.sizes.row;
            let first = new.first().map_or(0, |it| laid.rows.start(it.0));
            set(&all, "height", f64::from(laid.rows.n_rows()) * row);
            set(&window, "top", f64::from(first) * row);
            // Else the width would follow the lines that happen to be in view.
            let columns = if laid.columns == 0 { laid.widest } else { 0 };
            set(&all, "min-width", f64::from(u32::try_from(columns + 8).unwrap_or(0)) * laid.sizes.character);
            replace(&window, &mut laid.drawn, new);
        });
        count();
    };
    let scroll = move |line: u32, is_to_middle: bool| {
        let Some(node) = node.get_untracked() else { return };
        if line < folded.get_untracked() {
            is_unfolded.set(true);
        }
        let top = laid.try_update_value(|laid| {
            if laid.is_hidden() || laid.rows.height(line as usize) == 0 {
                laid.awaited = Some(line);
                return None;
            }
            let row = laid.sizes.row;
            let start = f64::from(laid.rows.start(line as usize)) * row;
            let end = f64::from(laid.rows.start(line as usize + 1)) * row;
            let middle = (start - laid.sizes.height / 2.0).max(0.0);
            match laid {
                _ if is_to_middle => Some(middle),
                _ if start < laid.top => Some(start),
                _ if end > laid.top + laid.sizes.height => Some(end - laid.sizes.height + row),
                _ => None,
            }
        });
        if let Some(top) = top.flatten() {
            #[expect(clippy::cast_possible_truncation, reason = "pixels of a page")]
            node.set_scroll_top(top as i32);
            laid.update_value(|it| it.top = f64::from(node.scroll_top()));
            draw();
        }
    };

    node.on_load(move |it| {
        offer(&it, text, lit);
        let measure = Closure::<dyn Fn()>::new(move || {
            let (Some(node), Some(probe)) = (node.get_untracked(), probe.get_untracked()) else { return };
            let of_probe = probe.get_bounding_client_rect();
            sizes.set(Sizes {
                width: f64::from(node.client_width()),
                height: f64::from(node.client_height()),
                row: of_probe.height(),
                character: of_probe.width() / f64::from(u32::try_from(PROBE.len()).unwrap_or(1)),
            });
        });
        ResizeObserver::new(measure.into_js_value().unchecked_ref()).observe(&it);
    });
    // Where lines stand.
    Effect::new(move |_| {
        let sizes = sizes.get();
        let (text, folded, wraps) = (text.get(), folded.get(), wraps.get());
        if sizes.height <= 0.0 {
            // Nobody sees it, and what was drawn is not kept for anybody.
            laid.update_value(|it| it.sizes = sizes);
            return;
        }
        let awaited = laid.try_update_value(|laid| {
            laid.take(text);
            let digits = laid.lines.len().checked_ilog10().map_or(1, |it| it + 1).max(2);
            if let Some(node) = node.get_untracked() {
                let node: &HtmlElement = &node;
                // Refused for names that are no properties only.
                let _ = node.style().set_property("--digits", &digits.to_string());
            }
            let room = sizes.width / sizes.character - f64::from(digits) - GUTTER;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a float that is clamped"
            )]
            let columns = if wraps { room.clamp(1.0, 10_000.0) as usize } else { 0 };
            laid.sizes = sizes;
            laid.lay(folded as usize, columns);
            laid.awaited.take()
        });
        n_laid.update(|it| *it += 1);
        if let Some(line) = awaited.flatten() {
            request_animation_frame(move || scroll(line, true));
        }
    });
    Effect::new(move |_| {
        n_laid.track();
        marks.track();
        lit.track();
        notes.track();
        hits.track();
        current.track();
        active.track();
        draw();
    });
    Effect::new(move |before: Option<u32>| {
        let now = follow.get();
        if before.is_some_and(|it| it != now)
            && let Some(line) = lit.with_untracked(|it| it.first().copied())
        {
            scroll(line, true);
        }
        now
    });

    let line_of = |event: &MouseEvent| {
        let target = event.target()?.dyn_into::<Element>().ok()?;
        let line = target.closest(".line").ok()??.get_attribute("data-line")?;
        line.parse::<u32>().ok()?.checked_sub(1)
    };
    let on_scroll = move |_| {
        let Some(node) = node.get_untracked() else { return };
        let needs = laid.try_update_value(|laid| {
            laid.top = f64::from(node.scroll_top());
            let seen = laid.rows.lines(laid.seen());
            let (first, last) = (laid.drawn.first().map(|it| it.0), laid.drawn.last().map(|it| it.0));
            first.is_none_or(|it| it > seen.start) || last.is_none_or(|it| it + 1 < seen.end)
        });
        if needs == Some(true) { draw() } else { count() }
    };
    let move_to = move |line: u32| {
        active.set(Some(line));
        scroll(line, false);
    };
    // The line that the keyboard is at, or where it begins.
    let here = move || {
        active.get_untracked().unwrap_or_else(|| {
            let first = lit.with_untracked(|it| it.first().copied());
            first.unwrap_or_else(|| {
                laid.with_value(|it| u32::try_from(it.rows.lines(it.seen()).start).unwrap_or(0))
            })
        })
    };
    let on_key = move |event: KeyboardEvent| {
        let is_mod = event.ctrl_key() || event.meta_key();
        let (last, page) = laid.with_value(|it| {
            let seen = it.rows.lines(it.seen()).len();
            (it.lines.len().saturating_sub(1), seen.saturating_sub(2).max(1))
        });
        let (last, page) = (u32::try_from(last).unwrap_or(0), u32::try_from(page).unwrap_or(1));
        let first = folded.get_untracked().min(last);
        let is_begun = active.get_untracked().is_some();
        let key = event.key();
        if !matches!(key.as_str(), "Control" | "Meta" | "Shift" | "c" | "C") {
            is_all_chosen.set(false);
        }
        match key.as_str() {
            "f" | "F" if is_mod && !event.alt_key() => finds.set(true),
            "a" | "A" if is_mod && !event.alt_key() => is_all_chosen.set(true),
            _ if is_mod || event.alt_key() => return,
            "ArrowDown" => move_to((here() + u32::from(is_begun)).min(last)),
            "ArrowUp" => move_to(here().saturating_sub(u32::from(is_begun)).max(first)),
            "PageDown" => move_to((here() + page).min(last)),
            "PageUp" => move_to(here().saturating_sub(page).max(first)),
            "Home" => move_to(first),
            "End" => move_to(last),
            "Enter" | " " => on_pick(here()),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let go_to_hit = move |at: usize| {
        current.set(at);
        if let Some(found) = hits.with_untracked(|it| it.get(at).copied()) {
            scroll(found.line, true);
        }
    };
    let step = move |by: isize| {
        let n = hits.with_untracked(Vec::len);
        if n > 0 {
            let at = current.get_untracked().min(n - 1);
            go_to_hit((at + n).saturating_add_signed(by) % n);
        }
    };
    let search = move |wanted: String| {
        query.set(wanted);
        let seen = laid.with_value(|it| it.rows.lines(it.seen()).start);
        let at = hits.with_untracked(|it| it.iter().position(|it| it.line as usize >= seen));
        go_to_hit(at.unwrap_or(0));
    };
    let close = move || {
        finds.set(false);
        if let Some(node) = node.get_untracked() {
            // It takes the focus, as its `tabindex` says.
            let _ = node.focus();
        }
    };
    let found = move || {
        let n = hits.with(Vec::len);
        match n {
            _ if query.with(String::is_empty) => String::new(),
            0 => t!("listing-not-found").to_owned(),
            n if n >= MOST_FOUND => t!("listing-and-more", at = current.get() + 1, of = n),
            n => t!("part-of", at = current.get().min(n - 1) + 1, of = n),
        }
    };
    let active_id = move || active.get().map(|it| format!("{}{}", id_of_lines.get_value(), it + 1));
    let is_folded = move || folded.get() > 0;
    let has_prelude = move || prelude.get() > 0;
    let prelude_text = move || {
        let (sign, n) = (if is_folded() { "▸" } else { "▾" }, prelude.get());
        format!("{sign} {}", t!("listing-prelude", count = n))
    };
    view! {
        <div class="listing-frame">
            <Show when=move || finds.get()>
                <FindBar query=query found=Signal::derive(found) on_search=search on_step=step on_close=close />
            </Show>
            <Show when=has_prelude>
                <button
                    type="button"
                    class="quiet prelude"
                    data-testid="prelude"
                    aria-expanded=move || if is_folded() { "false" } else { "true" }
                    title=t!("listing-prelude-about")
                    on:click=move |_| is_unfolded.update(|it| *it = !*it)
                >
                    {prelude_text}
                </button>
            </Show>
            <div
                class="listing"
                id=id
                role="listbox"
                aria-multiselectable="true"
                tabindex="0"
                aria-label=move || label.get()
                aria-activedescendant=active_id
                data-compared=move || marks.with(|it| !it.is_empty()).then_some("true")
                data-wraps=move || wraps.get().then_some("true")
                data-chosen=move || is_all_chosen.get().then_some("all")
                node_ref=node
                on:scroll=on_scroll
                on:mousemove=move |event| on_point(line_of(&event))
                on:mouseleave=move |_| on_point(None)
                on:click=move |event| if let Some(line) = line_of(&event) {
                    is_all_chosen.set(false);
                    active.set(Some(line));
                    on_pick(line);
                }
                on:keydown=on_key
                on:copy=move |event| if is_all_chosen.get_untracked()
                    && put_on_clipboard(&event, &text.get_untracked()) {
                        event.prevent_default();
                    }
                on:blur=move |_: FocusEvent| active.set(None)
            >
                <div class="listing-probe" aria-hidden="true" node_ref=probe>{PROBE}</div>
                <div class="listing-all" role="presentation" node_ref=all>
                    <div class="listing-window" role="presentation" node_ref=window></div>
                </div>
            </div>
        </div>
    }
}

/// The text by which the width of a character is measured.
const PROBE: &str = "0000000000";
/// Characters that the edge of a listing takes beside the digits of its numbers.
const GUTTER: f64 = 5.0;

/// The search of a listing.
#[component]
fn FindBar(
    query: RwSignal<String>,
    /// How many there are, in words.
    found: Signal<String>,
    on_search: impl Fn(String) + Copy + 'static,
    on_step: impl Fn(isize) + Copy + 'static,
    on_close: impl Fn() + Copy + 'static,
) -> impl IntoView {
    let input = NodeRef::<Input>::new();
    input.on_load(|it| {
        // It is in the document by then, and the next key is its own.
        queue_microtask(move || {
            let _ = it.focus();
            it.select();
        });
    });
    let on_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "Enter" => on_step(if event.shift_key() { -1 } else { 1 }),
            "Escape" => on_close(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    view! {
        <div class="listing-find" role="search" on:keydown=on_key>
            <input
                type="text"
                data-testid="find"
                aria-label=t!("listing-find")
                placeholder=t!("listing-find")
                autocomplete="off"
                spellcheck="false"
                node_ref=input
                prop:value=move || query.get()
                on:input:target=move |event| on_search(event.target().value())
            />
            <span class="muted" role="status" data-testid="found">{found}</span>
            <button type="button" class="quiet" aria-label=t!("listing-find-previous") title=t!("listing-find-previous") on:click=move |_| on_step(-1)>
                "↑"
            </button>
            <button type="button" class="quiet" aria-label=t!("listing-find-next") title=t!("listing-find-next") on:click=move |_| on_step(1)>
                "↓"
            </button>
            <button type="button" class="quiet" aria-label=t!("listing-find-close") title=t!("listing-find-close") on:click=move |_| on_close()>
                "✕"
            </button>
        </div>
    }
}

/// Puts a text on the clipboard of a copy that is under way; tells whether it did.
fn put_on_clipboard(event: &JsValue, text: &str) -> bool {
    let Ok(data) = Reflect::get(event, &"clipboardData".into()) else { return false };
    let set = Reflect::get(&data, &"setData".into()).ok().and_then(|it| it.dyn_into::<Function>().ok());
    set.is_some_and(|it| it.call2(&data, &"text/plain".into(), &text.into()).is_ok())
}

/// For the end-to-end tests and the console, who read the whole text: only a window of it is in the document.
fn offer(node: &HtmlElement, text: Signal<Arc<str>>, lit: Signal<Vec<u32>>) {
    let whole = Closure::<dyn Fn() -> String>::new(move || text.with_untracked(|it| it.to_string()));
    let lines = Closure::<dyn Fn() -> Vec<u32>>::new(move || {
        lit.with_untracked(|it| it.iter().map(|it| it + 1).collect())
    });
    let offered = Object::new();
    // Setting a key of a plain object, or of an element, has no way to fail.
    let _ = Reflect::set(&offered, &"text".into(), &whole.into_js_value());
    let _ = Reflect::set(&offered, &"lit".into(), &lines.into_js_value());
    let _ = Reflect::set(node, &"listing".into(), &offered);
}
