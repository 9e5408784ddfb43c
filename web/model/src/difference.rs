//! A level around a pass as it is read: both texts, one of them, or what changed with little around it.

use isobar_protocol::compile::{Node, StageText};
use isobar_protocol::passes::PassDiff;

/// The part of a level that is shown around a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffView {
    /// Changed lines and their surroundings; a long unchanged stretch is one line.
    #[default]
    Changes,
    /// Every line of both.
    Whole,
    Before,
    After,
}

impl DiffView {
    pub const ALL: [DiffView; 4] = [DiffView::Changes, DiffView::Whole, DiffView::Before, DiffView::After];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DiffView::Changes => "changes",
            DiffView::Whole => "whole",
            DiffView::Before => "before",
            DiffView::After => "after",
        }
    }
}

/// How a line stands to the two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffMark {
    /// In both.
    Same,
    Removed,
    Added,
    /// It stands for lines that are not shown.
    Fold,
}

/// A text with a mark for each line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffText {
    pub text: StageText,
    pub marks: Vec<DiffMark>,
}

/// Lines that are kept on both sides of a change.
const CONTEXT: usize = 2;
/// A stretch of fewer lines is shown: saying that it is hidden takes a line as well.
const SHORTEST_FOLD: usize = 3;

/// A level around a pass, as `side` shows it; `stayed` says that so many lines are not shown.
#[must_use]
pub fn seen(around: &PassDiff, side: DiffView, stayed: impl Fn(usize) -> String) -> DiffText {
    let lines: Vec<&str> = around.text.text.lines().collect();
    let marks: Vec<DiffMark> = around.marks.chars().map(mark).collect();
    let is_shown: Vec<bool> = match side {
        DiffView::Changes => near_changes(&lines, &marks),
        DiffView::Whole => vec![true; lines.len()],
        DiffView::Before => marks.iter().map(|it| *it != DiffMark::Added).collect(),
        DiffView::After => marks.iter().map(|it| *it != DiffMark::Removed).collect(),
    };

    let mut made = DiffText::default();
    made.text.stage.clone_from(&around.text.stage);
    // Of each line of both, and of the end: the line in which it is shown, or the next one that is.
    let mut shown_at = Vec::with_capacity(lines.len() + 1);
    let mut folds = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let row = made.marks.len();
        if is_shown[at] {
            shown_at.push(row);
            push(&mut made, lines[at], marks[at]);
            at += 1;
            continue;
        }
        let n_hidden = is_shown[at..].iter().take_while(|it| !**it).count();
        shown_at.extend(std::iter::repeat_n(row, n_hidden));
        if side == DiffView::Changes {
            let indent = lines[at].len() - lines[at].trim_start().len();
            let told = stayed(n_hidden);
            push(&mut made, &format!("{:indent$}{told}", ""), DiffMark::Fold);
            folds.push((row, at, at + n_hidden));
        }
        at += n_hidden;
    }
    shown_at.push(made.marks.len());
    made.text.nodes = nodes(&around.text.nodes, &shown_at, &folds, &is_shown);
    made
}

fn push(made: &mut DiffText, line: &str, mark: DiffMark) {
    made.text.text.push_str(line);
    made.text.text.push('\n');
    made.marks.push(mark);
}

fn mark(sign: char) -> DiffMark {
    match sign {
        '-' => DiffMark::Removed,
        '+' => DiffMark::Added,
        _ => DiffMark::Same,
    }
}

/// Changed lines, some lines around them, and the heads of the blocks that they stand in.
fn near_changes(lines: &[&str], marks: &[DiffMark]) -> Vec<bool> {
    let is_changed = |at: usize| marks[at] != DiffMark::Same;
    let mut is_shown = vec![false; lines.len()];
    if !(0..lines.len()).any(is_changed) {
        return vec![true; lines.len()];
    }
    // The heads of the blocks around a line: positions, each deeper than the one before.
    let mut heads: Vec<(usize, usize)> = Vec::new();
    for at in 0..lines.len() {
        let indent = lines[at].len() - lines[at].trim_start().len();
        while heads.last().is_some_and(|head| head.1 >= indent) {
            heads.pop();
        }
        if is_changed(at) {
            heads.iter().for_each(|head| is_shown[head.0] = true);
            let end = (at + CONTEXT + 1).min(lines.len());
            is_shown[at.saturating_sub(CONTEXT)..end].fill(true);
        }
        heads.push((at, indent));
    }
    let mut at = 0;
    while at < lines.len() {
        let length = is_shown[at..].iter().take_while(|it| !**it).count();
        if length < SHORTEST_FOLD {
            is_shown[at..at + length].fill(true);
        }
        at += length.max(1);
    }
    is_shown
}

/// The nodes, at the lines where they are shown. Nodes hidden in a fold belong to the fold's line.
fn nodes(all: &[Node], shown_at: &[usize], folds: &[(usize, usize, usize)], is_shown: &[bool]) -> Vec<Node> {
    let line = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let mut made = Vec::new();
    for node in all {
        let (start, end) = (node.lines[0] as usize, (node.lines[1] as usize).min(is_shown.len()));
        if is_shown.get(start..end).is_none_or(|it| !it.contains(&true)) {
            continue;
        }
        // The line behind the last one that is shown, or that of the fold behind it.
        let last = shown_at[end - 1];
        let lines = [line(shown_at[start]), line((last + 1).min(shown_at[is_shown.len()]))];
        made.push(Node { lines, parent: None, ..node.clone() });
    }
    for &(row, start, end) in folds {
        let is_inside = |node: &&Node| start <= node.lines[0] as usize && node.lines[1] as usize <= end;
        let mut links: Vec<String> = all.iter().filter(is_inside).flat_map(|it| it.links.clone()).collect();
        links.sort();
        links.dedup();
        made.push(Node {
            id: String::new(),
            kind: "fold".to_owned(),
            lines: [line(row), line(row + 1)],
            parent: None,
            spans: Vec::new(),
            links,
        });
    }
    // Parents come before their children, which begin later or end sooner.
    made.sort_by_key(|it| (it.lines[0], u32::MAX - it.lines[1]));
    made
}

#[cfg(test)]
mod tests {
    use isobar_protocol::passes::Moment;

    use super::*;
    use crate::links;

    fn seen(around: &PassDiff, side: DiffView) -> DiffText {
        super::seen(around, side, |n| format!("{n} lines stayed"))
    }

    fn node(lines: [u32; 2], link: Option<&str>) -> Node {
        let links = link.map(str::to_owned).into_iter().collect();
        Node { id: String::new(), kind: String::new(), lines, parent: None, spans: Vec::new(), links }
    }

    /// A loop of nine statements; the eighth replaces the seventh.
    fn around() -> PassDiff {
        let mut text = "for k:\n".to_owned();
        let mut nodes = vec![node([0, 10], None)];
        for n in 1..10 {
            text.push_str(&format!("  s{n}\n"));
            nodes.push(node([n, n + 1], Some(&format!("s{n}"))));
        }
        let of = Moment { stage: "oir".to_owned(), pass: Some("oir/p".to_owned()) };
        let text = StageText { stage: "oir".to_owned(), text, nodes };
        PassDiff { of, text, marks: "       -+ ".to_owned() }
    }

    fn links_of(name: &str) -> links::Links {
        [name.to_owned()].into()
    }

    #[test]
    fn a_long_stretch_that_stayed_is_one_line_below_its_head() {
        let seen = seen(&around(), DiffView::Changes);
        assert_eq!(seen.text.text, "for k:\n  4 lines stayed\n  s5\n  s6\n  s7\n  s8\n  s9\n");
        assert_eq!(seen.marks[..2], [DiffMark::Same, DiffMark::Fold]);
        assert_eq!(
            seen.marks[2..],
            [DiffMark::Same, DiffMark::Same, DiffMark::Removed, DiffMark::Added, DiffMark::Same]
        );
    }

    #[test]
    fn lines_are_linked_where_they_are_shown() {
        let seen = seen(&around(), DiffView::Changes);
        assert_eq!(links::lines_of(&seen.text, &links_of("s7")), [4]);
        assert_eq!(links::lines_of(&seen.text, &links_of("s3")), [1], "what is hidden lights the fold");
        assert_eq!(links::at_line(&seen.text, 4), links_of("s7"));
        assert_eq!(links::at_line(&seen.text, 0).len(), 9, "the head means all below it");
    }

    #[test]
    fn before_and_after_are_without_what_is_of_the_other() {
        assert!(!seen(&around(), DiffView::Before).text.text.contains("s8"));
        let after = seen(&around(), DiffView::After);
        assert!(!after.text.text.contains("s7"));
        assert_eq!(links::lines_of(&after.text, &links_of("s9")), [8]);
        assert!(links::lines_of(&after.text, &links_of("s7")).is_empty());
        assert_eq!(seen(&around(), DiffView::Whole).marks.len(), 10);
    }

    #[test]
    fn a_pass_that_changed_nothing_shows_its_level() {
        let unchanged = PassDiff { marks: " ".repeat(10), ..around() };
        assert_eq!(seen(&unchanged, DiffView::Changes).text.text, around().text.text);
    }
}
