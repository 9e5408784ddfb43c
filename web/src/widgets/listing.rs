//! A long text in lines, of which some are lit; only the lines that change are made anew.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, MouseEvent};

/// Most lines that are shown at once: what is longer would make the page slow.
const MOST_LINES: usize = 20_000;

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

/// A line as it is shown.
type Line = (Mark, String);

/// A text with lines that can be pointed at. Reads text and lit lines; tells pointer, clicks, and what is off screen.
#[component]
pub fn Listing(
    label: Signal<String>,
    text: Signal<String>,
    /// One for each line, where the text is compared with another.
    marks: Signal<Vec<Mark>>,
    /// Lines to light, from 0, in order.
    lit: Signal<Vec<u32>>,
    /// What is said beside lines: a sign, and the words that a pointer on it brings up.
    notes: Signal<Vec<(u32, &'static str, String)>>,
    /// Turns a line into HTML, with all that is text escaped.
    paint: fn(&str) -> String,
    /// The line the pointer rests on, or none any more.
    on_point: impl Fn(Option<u32>) + Copy + 'static,
    /// The line that was clicked.
    on_pick: impl Fn(u32) + Copy + 'static,
    /// Scrolls to the first lit line when this changes.
    follow: Signal<u32>,
    off_screen: RwSignal<OffScreen>,
) -> impl IntoView {
    let node = NodeRef::<Div>::new();
    let shown = StoredValue::new(Vec::<Line>::new());
    let lit_now = StoredValue::new(Vec::<u32>::new());

    let count = move || {
        if let Some(node) = node.get_untracked() {
            let found = lit_now.with_value(|it| count_off_screen(&node, it));
            if off_screen.get_untracked() != found {
                off_screen.set(found);
            }
        }
    };
    Effect::new(move |_| {
        let Some(node) = node.get() else { return };
        let marks = marks.read();
        let lines: Vec<Line> = text.with(|it| {
            let marked = it.lines().take(MOST_LINES).enumerate();
            marked.map(|(at, it)| (marks.get(at).copied().unwrap_or_default(), it.to_owned())).collect()
        });
        shown.update_value(|before| {
            replace_lines(&node, before, &lines, paint);
            *before = lines;
        });
    });
    Effect::new(move |_| {
        let Some(node) = node.get() else { return };
        // New lines are unlit, so the text counts as well.
        text.track();
        marks.track();
        lit.with(|lines| {
            lit_now.update_value(|before| {
                for &line in before.iter() {
                    if let Some(element) = line_at(&node, line) {
                        // `data-lit` is a name that every element takes.
                        let _ = element.remove_attribute("data-lit");
                    }
                }
                for &line in lines {
                    if let Some(element) = line_at(&node, line) {
                        let _ = element.set_attribute("data-lit", "true");
                    }
                }
                before.clone_from(lines);
            });
        });
        request_animation_frame(count);
    });
    Effect::new(move |before: Option<Vec<u32>>| {
        let Some(node) = node.get() else { return Vec::new() };
        text.track();
        marks.track();
        for line in before.unwrap_or_default() {
            if let Some(element) = line_at(&node, line) {
                // As with `data-lit`.
                let _ = element.remove_attribute("data-note");
                let _ = element.remove_attribute("title");
            }
        }
        notes.with(|all| {
            for (line, sign, said) in all {
                if let Some(element) = line_at(&node, *line) {
                    let _ = element.set_attribute("data-note", sign);
                    let _ = element.set_attribute("title", said);
                }
            }
            all.iter().map(|it| it.0).collect()
        })
    });
    Effect::new(move |before: Option<u32>| {
        let now = follow.get();
        if before.is_some_and(|it| it != now) {
            let first = lit_now.with_value(|it| it.first().copied());
            if let Some(line) = first {
                scroll_to(node, line);
            }
        }
        now
    });

    let line_of = |event: &MouseEvent| {
        let target = event.target()?.dyn_into::<Element>().ok()?;
        let line = target.closest(".line").ok()??.get_attribute("data-line")?;
        line.parse::<u32>().ok()?.checked_sub(1)
    };
    view! {
        <div
            class="listing"
            role="group"
            tabindex="0"
            aria-label=move || label.get()
            data-compared=move || marks.with(|it| !it.is_empty()).then_some("true")
            node_ref=node
            on:scroll=move |_| count()
            on:mousemove=move |event| on_point(line_of(&event))
            on:mouseleave=move |_| on_point(None)
            on:click=move |event| if let Some(line) = line_of(&event) { on_pick(line) }
        ></div>
    }
}

/// Scrolls a listing so that `line` stands in its middle.
pub fn scroll_to(node: NodeRef<Div>, line: u32) {
    let Some(node) = node.get_untracked() else { return };
    if let Some(element) = line_at(&node, line) {
        let middle = element.offset_top() - node.client_height() / 2;
        node.set_scroll_top(middle.max(0));
    }
}

fn line_at(node: &HtmlElement, line: u32) -> Option<HtmlElement> {
    node.children().item(line)?.dyn_into().ok()
}

/// Changes what differs between two texts: their equal first and last lines stay.
fn replace_lines(node: &HtmlElement, before: &[Line], lines: &[Line], paint: fn(&str) -> String) {
    let same_start = before.iter().zip(lines).take_while(|(a, b)| a == b).count();
    let (old, new) = (&before[same_start..], &lines[same_start..]);
    let same_end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - same_end], &new[..new.len() - same_end]);
    let children = node.children();
    let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    for _ in old {
        if let Some(element) = children.item(index(same_start)) {
            element.remove();
        }
    }
    let html: String = new.iter().map(|it| line_html(it, paint)).collect();
    // The text is escaped by `paint`; the two calls fail for other positions only.
    let _ = match children.item(index(same_start)) {
        Some(next) => next.insert_adjacent_html("beforebegin", &html),
        None => node.insert_adjacent_html("beforeend", &html),
    };
    let is_moved = old.len() != new.len();
    let renumbered = if is_moved { same_start..lines.len() } else { same_start..same_start + new.len() };
    for at in renumbered {
        if let Some(element) = children.item(index(at)) {
            let _ = element.set_attribute("data-line", &(at + 1).to_string());
        }
    }
}

fn line_html((mark, line): &Line, paint: fn(&str) -> String) -> String {
    let indent = line.len() - line.trim_start().len();
    let (mut marked, mut said) = (String::new(), String::new());
    if let Some(name) = mark.name() {
        marked = format!(" data-mark=\"{name}\" data-sign=\"{}\"", mark.sign());
        if *mark != Mark::Fold {
            // The sign beside the line is drawn by the style sheet, which nobody reads aloud.
            said = format!("<span class=\"visually-hidden\">{name}: </span>");
        }
    }
    format!(
        "<div class=\"line\" data-testid=\"stage-line\" data-indent=\"{}\"{marked}>{said}{}</div>",
        indent.min(40),
        paint(line)
    )
}

fn count_off_screen(node: &HtmlElement, lit: &[u32]) -> OffScreen {
    let (top, height) = (node.scroll_top(), node.client_height());
    let mut found = OffScreen::default();
    if height == 0 {
        // Nothing of a hidden listing is on screen, and none of it is missed.
        return found;
    }
    for element in lit.iter().filter_map(|&line| line_at(node, line)) {
        let at = element.offset_top();
        if at + element.offset_height() <= top {
            found.above += 1;
        } else if at >= top + height {
            found.below += 1;
        }
    }
    found
}

/// Text as HTML shows it.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
