//! Links between the lines of each level and the statements of the source.
//!
//! Nodes of all levels name the statements that they carry out by the same names. So the views exchange only
//! a set of such names, from the caret or from a line of a level. Every view looks up its own lines for it.

use std::collections::BTreeSet;

use isobar_protocol::compile::{Node, SourceRange, StageText};
use isobar_protocol::diagnostic::Position;

/// Names of statements.
pub type Links = BTreeSet<String>;

/// The statements at a place of the source.
///
/// The narrowest places win: a line in a loop means that line, not the loop. A statement counts where it is
/// written and where a call inlined it.
#[must_use]
pub fn at_place<'a>(stages: impl IntoIterator<Item = &'a StageText>, file: &str, at: Position) -> Links {
    let mut narrowest = u32::MAX;
    let mut links = Links::new();
    for node in stages.into_iter().flat_map(|it| &it.nodes).filter(|it| is_own(it)) {
        for place in node.spans.iter().filter(|it| it.file == file && covers_line(it, at.line)) {
            let height = place.end.line - place.start.line;
            if height < narrowest {
                narrowest = height;
                links.clear();
            }
            if height == narrowest {
                links.extend(node.links.iter().cloned());
            }
        }
    }
    links
}

/// A node of one statement: where several were merged, places and statements cannot be told apart.
fn is_own(node: &Node) -> bool {
    node.links.len() == 1
}

fn covers_line(place: &SourceRange, line: u32) -> bool {
    // An end in the first column ends the line before.
    let last = if place.end.col == 1 && place.end.line > place.start.line {
        place.end.line - 1
    } else {
        place.end.line
    };
    (place.start.line..=last).contains(&line)
}

/// The statements that a line of a level shows: those of the innermost node around it.
#[must_use]
pub fn at_line(stage: &StageText, line: u32) -> Links {
    let around = stage.nodes.iter().enumerate().filter(|(_, it)| (it.lines[0]..it.lines[1]).contains(&line));
    let Some((at, node)) = around.min_by_key(|(at, it)| (it.lines[1] - it.lines[0], usize::MAX - at)) else {
        return Links::new();
    };
    if !node.links.is_empty() {
        return node.links.iter().cloned().collect();
    }
    // Its children's are meant: they stand behind it, until the lines end.
    let children = stage.nodes[at..].iter().take_while(|it| it.lines[0] < node.lines[1]);
    children.flat_map(|it| it.links.iter().cloned()).collect()
}

/// The lines of a level, from 0, that carry out one of these statements, in order.
#[must_use]
pub fn lines_of(stage: &StageText, links: &Links) -> Vec<u32> {
    if links.is_empty() {
        return Vec::new();
    }
    let mut owner: Vec<Option<bool>> = Vec::new();
    // A parent stands before its children, so the innermost node with statements has the last word on a line.
    for node in stage.nodes.iter().filter(|it| !it.links.is_empty()) {
        let is_meant = node.links.iter().any(|it| links.contains(it));
        let end = node.lines[1] as usize;
        if owner.len() < end {
            owner.resize(end, None);
        }
        owner[(node.lines[0] as usize).min(end)..end].fill(Some(is_meant));
    }
    (0..).zip(owner).filter_map(|(line, is_meant)| (is_meant == Some(true)).then_some(line)).collect()
}

/// The first line of a level, from 0, that carries out any statement.
#[must_use]
pub fn first_line(stage: &StageText) -> Option<u32> {
    stage.nodes.iter().filter(|it| !it.links.is_empty()).map(|it| it.lines[0]).min()
}

/// Where the source asks for these statements.
#[must_use]
pub fn places_of<'a>(stages: impl IntoIterator<Item = &'a StageText>, links: &Links) -> Vec<SourceRange> {
    let mut places: Vec<SourceRange> = Vec::new();
    for node in stages.into_iter().flat_map(|it| &it.nodes).filter(|it| is_own(it)) {
        if node.links.iter().any(|it| links.contains(it)) {
            for place in &node.spans {
                if !places.contains(place) {
                    places.push(place.clone());
                }
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(first: u32, last: u32) -> SourceRange {
        SourceRange {
            file: "main.py".to_owned(),
            start: Position { line: first, col: 5 },
            end: Position { line: last, col: 9 },
        }
    }

    fn node(lines: [u32; 2], parent: Option<usize>, spans: Vec<SourceRange>, links: &[&str]) -> Node {
        let links = links.iter().map(|it| (*it).to_owned()).collect();
        Node { id: String::new(), kind: String::new(), lines, parent, spans, links }
    }

    /// `if` over lines 3 to 6 with two statements, one of them inlined from line 1.
    fn stage() -> StageText {
        let nodes = vec![
            node([0, 6], None, vec![], &[]),
            node([1, 5], Some(0), vec![place(3, 6)], &["s0"]),
            node([2, 3], Some(1), vec![place(4, 4)], &["s1"]),
            node([3, 4], Some(1), vec![place(1, 1), place(5, 5)], &["s2"]),
        ];
        StageText { stage: "oir".to_owned(), text: String::new(), nodes }
    }

    fn links(names: &[&str]) -> Links {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    fn at(line: u32) -> Links {
        at_place([&stage()], "main.py", Position { line, col: 1 })
    }

    #[test]
    fn the_caret_means_the_narrowest_statement() {
        assert_eq!(at(4), links(&["s1"]));
        assert_eq!(at(3), links(&["s0"]));
        assert_eq!(at(9), links(&[]));
    }

    #[test]
    fn an_inlined_statement_is_meant_where_it_is_written_and_where_it_is_called() {
        assert_eq!(at(1), links(&["s2"]));
        assert_eq!(at(5), links(&["s2"]));
    }

    #[test]
    fn a_block_lights_its_own_lines_and_not_those_of_its_body() {
        assert_eq!(lines_of(&stage(), &links(&["s0"])), [1, 4]);
        assert_eq!(lines_of(&stage(), &links(&["s1"])), [2]);
        assert_eq!(lines_of(&stage(), &links(&["s1", "s2"])), [2, 3]);
    }

    #[test]
    fn a_line_means_its_innermost_node_or_all_below_it() {
        assert_eq!(at_line(&stage(), 3), links(&["s2"]));
        assert_eq!(at_line(&stage(), 1), links(&["s0"]));
        assert_eq!(at_line(&stage(), 0), links(&["s0", "s1", "s2"]));
        assert_eq!(at_line(&stage(), 7), links(&[]));
    }

    #[test]
    fn the_first_line_is_that_of_the_first_statement() {
        assert_eq!(first_line(&stage()), Some(1));
        assert_eq!(first_line(&StageText { nodes: vec![node([0, 6], None, vec![], &[])], ..stage() }), None);
    }

    #[test]
    fn a_statement_leads_back_to_all_its_places() {
        assert_eq!(places_of([&stage()], &links(&["s2"])), [place(1, 1), place(5, 5)]);
    }
}
