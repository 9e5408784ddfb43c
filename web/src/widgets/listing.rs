//! A long text in lines, of which some are lit. Only the lines in view, and some around them, are in the document.
//!
//! A row has one height: a line that is too long for the pane is broken into rows here, and not by the browser, so
//! that it is known where each line stands before any of them is drawn.

mod find;
mod paint;
mod rows;

use std::ops::Range;
use std::sync::Arc;

use crate::bridge::locale::t;

use js_sys::{Function, Object, Reflect};
use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html::{Div, Input};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, MouseEvent};

use find::{Found, find};
use paint::{Hit, escaped, line_html};
pub use paint::{Painter, Token};
use rows::{Rows, breaks, hang};

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

/// How many lines are lit outside of what can be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffScreen {
    pub above: usize,
    pub below: usize,
}

/// How a line stands to another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Also where there is no other text.
    #[default]
    Same,
    Removed,
    Added,
    /// It stands for lines that are not shown.
    Fold,
}

impl Mark {
    /// In the place of the line's number.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Mark::Same => ' ',
            Mark::Removed => '−',
            Mark::Added => '+',
            Mark::Fold => '⋯',
        }
    }

    /// As style sheets and tests name it.
    fn name(self) -> Option<&'static str> {
        match self {
            Mark::Same => None,
            Mark::Removed => Some("removed"),
            Mark::Added => Some("added"),
            Mark::Fold => Some("fold"),
        }
    }
}

/// What is said beside a line, from 0: a sign, and the words that a pointer on it brings up.
pub type Note = (u32, &'static str, String);

/// How large things are, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sizes {
    width: f64,
    height: f64,
    row: f64,
    character: f64,
}

/// The text as it stands, and what of it is in the document.
#[derive(Debug, Default)]
struct Laid {
    text: Arc<str>,
    lines: Vec<Range<usize>>,
    rows: Rows,
    /// Characters of a row; 0 where lines are not broken.
    columns: usize,
    /// Characters of the longest line.
    widest: usize,
    /// The painter's state before each line, as far as somebody asked.
    states: Vec<u8>,
    drawn: Vec<(usize, String)>,
    sizes: Sizes,
    top: f64,
    /// A line to bring into view once there is a view.
    awaited: Option<u32>,
}

impl Laid {
    fn line(&self, at: usize) -> &str {
        self.lines.get(at).and_then(|it| self.text.get(it.clone())).unwrap_or_default()
    }

    fn is_hidden(&self) -> bool {
        self.sizes.height <= 0.0 || self.sizes.row <= 0.0
    }

    /// Takes a text.
    fn take(&mut self, text: Arc<str>) {
        if *self.text != *text {
            self.text = text;
            self.lines.clear();
            self.states.clear();
            let begin = self.text.as_ptr() as usize;
            self.lines.extend(self.text.lines().map(|it| {
                let start = it.as_ptr() as usize - begin;
                start..start + it.len()
            }));
            self.widest = self.lines.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        }
    }

    /// Finds where its lines stand; `folded` ones at the start take no rows, and a row has `columns` characters.
    fn lay(&mut self, folded: usize, columns: usize) {
        self.columns = columns;
        let height = |at: usize| match columns {
            _ if at < folded => 0,
            0 => 1,
            columns => u32::try_from(breaks(self.line(at), columns).len()).unwrap_or(0) + 1,
        };
        self.rows = Rows::new((0..self.lines.len()).map(height));
    }

    /// The painter's state before a line.
    fn state(&mut self, painter: Painter, line: usize) -> u8 {
        let Some(after) = painter.after else { return 0 };
        if self.states.is_empty() {
            self.states.push(0);
        }
        while self.states.len() <= line {
            let at = self.states.len() - 1;
            let state = after(self.line(at), self.states[at]);
            self.states.push(state);
        }
        self.states[line]
    }

    /// The rows that can be seen.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float of the browser's, clamped"
    )]
    fn seen(&self) -> Range<u32> {
        let first = (self.top / self.sizes.row).floor().max(0.0);
        let end = ((self.top + self.sizes.height) / self.sizes.row).ceil().max(first);
        first as u32..end as u32
    }

    fn off_screen(&self, lit: &[u32]) -> OffScreen {
        let mut found = OffScreen::default();
        if self.is_hidden() {
            // Nothing of a hidden listing is on screen, and none of it is missed.
            return found;
        }
        let (top, bottom) = (self.top, self.top + self.sizes.height);
        for &line in lit {
            let line = line as usize;
            let start = f64::from(self.rows.start(line)) * self.sizes.row;
            let end = f64::from(self.rows.start(line + 1)) * self.sizes.row;
            if end <= top {
                found.above += 1;
            } else if start >= bottom {
                found.below += 1;
            }
        }
        found
    }
}

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
    marks: Signal<Vec<Mark>>,
    /// Lines to light, from 0, in order.
    lit: Signal<Vec<u32>>,
    notes: Signal<Vec<Note>>,
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
    let laid = StoredValue::new_local(Laid::default());
    // Counts layouts, of which each is drawn.
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
            let dress = Dress {
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
            n if n >= find::MOST_FOUND => t!("listing-and-more", at = current.get() + 1, of = n),
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

/// What a character's width is measured by.
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

/// What all lines of a window have in common.
struct Dress {
    id: String,
    n_lines: usize,
    active: Option<u32>,
    current: usize,
}

impl Dress {
    #[expect(clippy::too_many_arguments, reason = "what is known of a line comes from as many signals")]
    fn html(
        &self,
        laid: &mut Laid,
        painter: Painter,
        at: usize,
        marks: &[Mark],
        lit: &[u32],
        notes: &[Note],
        hits: &[Found],
    ) -> String {
        let state = laid.state(painter, at);
        let line = laid.line(at);
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let mark = marks.get(at).copied().unwrap_or_default();
        let is_lit = lit.binary_search(&number).is_ok();
        let first = hits.partition_point(|it| it.line < number);
        let here = hits[first..].iter().take_while(|it| it.line == number).enumerate();
        let here: Vec<Hit> = here
            .map(|(of, it)| Hit { start: it.start, end: it.end, is_current: first + of == self.current })
            .collect();
        let (at_breaks, hang) = match laid.columns {
            0 => (Vec::new(), 0),
            columns => (breaks(line, columns), hang(line, columns)),
        };
        let mut html = format!(
            "<div class=\"line\" role=\"option\" id=\"{}{}\" aria-posinset=\"{}\" aria-setsize=\"{}\" \
             aria-selected=\"{is_lit}\" data-testid=\"stage-line\" data-line=\"{}\"",
            self.id,
            at + 1,
            at + 1,
            self.n_lines,
            at + 1,
        );
        if line.trim().is_empty() {
            html.push_str(&format!(" aria-label=\"{}\"", escaped(t!("listing-empty"))));
        }
        if is_lit {
            html.push_str(" data-lit=\"true\"");
        }
        if self.active == Some(number) {
            html.push_str(" data-active=\"true\"");
        }
        if let Some(name) = mark.name() {
            html.push_str(&format!(" data-mark=\"{name}\" data-sign=\"{}\"", mark.sign()));
        }
        if let Ok(of) = notes.binary_search_by_key(&number, |it| it.0) {
            let (_, sign, said) = &notes[of];
            html.push_str(&format!(
                " data-note=\"{sign}\" title=\"{}\"",
                escaped(&super::prose::plain(said))
            ));
        }
        html.push('>');
        // The sign beside the line is drawn by the style sheet, which nobody reads aloud.
        let said = match mark {
            Mark::Removed => Some(t!("listing-removed")),
            Mark::Added => Some(t!("listing-added")),
            Mark::Same | Mark::Fold => None,
        };
        if let Some(said) = said {
            html.push_str(&format!("<span class=\"visually-hidden\">{}: </span>", escaped(said)));
        }
        html.push_str(&line_html(line, &(painter.tokens)(line, state), &here, &at_breaks, hang));
        html.push_str("</div>");
        html
    }
}

/// Changes what differs between two windows; what is the same stays, with whatever is selected in it.
fn replace(window: &HtmlElement, before: &mut Vec<(usize, String)>, new: Vec<(usize, String)>) {
    let children = window.children();
    let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let same_start = before.iter().zip(&new).take_while(|(a, b)| a == b).count();
    // Scrolled down, lines are gone at the start: what is left is the beginning of the new window.
    let gone = match new.first() {
        Some(first) if same_start == 0 => before.iter().take_while(|it| it.0 < first.0).count(),
        _ => 0,
    };
    for _ in 0..gone {
        if let Some(element) = children.item(0) {
            element.remove();
        }
    }
    before.drain(..gone);
    let same_start = before.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, added) = (&before[same_start..], &new[same_start..]);
    // Scrolled up, the end of the new window is within the old one.
    let behind = match added.last() {
        Some(last) => old.iter().rev().take_while(|it| it.0 > last.0).count(),
        None => old.len(),
    };
    let old = &old[..old.len() - behind];
    let same_end = old.iter().rev().zip(added.iter().rev()).take_while(|(a, b)| a == b).count();
    for _ in 0..behind {
        if let Some(element) = children.item(children.length().saturating_sub(1)) {
            element.remove();
        }
    }
    for _ in 0..old.len() - same_end {
        if let Some(element) = children.item(index(same_start)) {
            element.remove();
        }
    }
    let html: String = added[..added.len() - same_end].iter().map(|it| it.1.as_str()).collect();
    // The text is escaped; the two calls fail for other positions only.
    let _ = match children.item(index(same_start)) {
        Some(next) => next.insert_adjacent_html("beforebegin", &html),
        None => window.insert_adjacent_html("beforeend", &html),
    };
    *before = new;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(text: &str, folded: usize, columns: usize) -> Laid {
        let mut laid = Laid {
            sizes: Sizes { width: 400.0, height: 40.0, row: 20.0, character: 8.0 },
            ..Laid::default()
        };
        laid.take(text.into());
        laid.lay(folded, columns);
        laid
    }

    #[test]
    fn what_is_lit_out_of_view_is_counted_by_its_side() {
        let mut laid = laid("a\nb\nc\nd\ne\n", 0, 0);
        laid.top = 20.0;
        assert_eq!(laid.seen(), 1..3);
        assert_eq!(laid.off_screen(&[0, 1, 2, 3, 4]), OffScreen { above: 1, below: 2 });
        laid.sizes.height = 0.0;
        assert_eq!(laid.off_screen(&[0, 4]), OffScreen::default(), "nothing of a hidden listing is missed");
    }

    #[test]
    fn folded_lines_take_no_rows_and_broken_ones_several() {
        let laid = laid(&format!("one\ntwo\n{}\nthree", "x".repeat(40)), 2, 20);
        assert_eq!(laid.rows.n_rows(), 4);
        assert_eq!(laid.line(2).len(), 40);
    }

    #[test]
    fn the_state_of_a_painter_goes_from_line_to_line() {
        let painter = Painter {
            tokens: |_, _| Vec::new(),
            after: Some(|line, state| {
                if line == "open" {
                    1
                } else if line == "close" {
                    0
                } else {
                    state
                }
            }),
        };
        let mut laid = laid("a\nopen\nb\nclose\nc", 0, 0);
        assert_eq!([4, 2, 1].map(|it| laid.state(painter, it)), [0, 1, 0]);
    }
}
