//! The lines of a listing that are in the document.

use web_sys::HtmlElement;

use super::find::SearchMatch;
use super::laid::TextLayout;
use super::paint::{Hit, Painter, escaped, line_html};
use super::rows::{breaks, hang};
use super::view::{LineMark, LineNote};
use crate::bridge::locale::t;
use crate::widgets::quotes::plain;

/// The properties that all lines of a window share.
pub(super) struct WindowProperties {
    pub(super) id: String,
    pub(super) n_lines: usize,
    pub(super) active: Option<u32>,
    pub(super) current: usize,
}

impl WindowProperties {
    #[expect(clippy::too_many_arguments, reason = "what is known of a line comes from as many signals")]
    pub(super) fn html(
        &self,
        laid: &mut TextLayout,
        painter: Painter,
        at: usize,
        marks: &[LineMark],
        lit: &[u32],
        notes: &[LineNote],
        hits: &[SearchMatch],
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
            html.push_str(&format!(" data-note=\"{sign}\" title=\"{}\"", escaped(&plain(said))));
        }
        html.push('>');
        // The sign beside the line is drawn by the style sheet, which nobody reads aloud.
        let said = match mark {
            LineMark::Removed => Some(t!("listing-removed")),
            LineMark::Added => Some(t!("listing-added")),
            LineMark::Same | LineMark::Fold => None,
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
pub(super) fn replace(window: &HtmlElement, before: &mut Vec<(usize, String)>, new: Vec<(usize, String)>) {
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
