//! The compiler's decisions on a statement: remarks and tombstones, by source line, by pass, and by lit
//! statement.

use isobar_protocol::compile::{Remark, SourceRange, StageText, Tombstone};

use crate::links::{self, Links};

/// Which decisions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecisionKind {
    #[default]
    Applied,
    Missed,
    Removed,
}

impl DecisionKind {
    pub const ALL: [DecisionKind; 3] = [DecisionKind::Applied, DecisionKind::Missed, DecisionKind::Removed];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DecisionKind::Applied => "applied",
            DecisionKind::Missed => "missed",
            DecisionKind::Removed => "removed",
        }
    }
}

/// A remark, or a statement that is gone, as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RemarkEntry {
    pub shown: DecisionKind,
    pub pass: String,
    /// None where a statement is gone and nobody said why.
    pub text: Option<String>,
    /// Of the statements that it is about, the first one first.
    pub places: Vec<SourceRange>,
    pub links: Vec<String>,
    /// Bytes without and with it.
    pub traffic: Option<[f64; 2]>,
}

impl RemarkEntry {
    /// A sign for it, which is no colour alone.
    #[must_use]
    pub fn sign(&self) -> &'static str {
        match self.shown {
            DecisionKind::Applied => "✓",
            DecisionKind::Missed => "–",
            DecisionKind::Removed => "†",
        }
    }

    /// The pass without its level.
    #[must_use]
    pub fn pass_name(&self) -> &str {
        self.pass.split_once('/').map_or(&self.pass, |it| it.1)
    }

    /// The level of its pass.
    #[must_use]
    pub fn level(&self) -> Option<&str> {
        self.pass.split_once('/').map(|it| it.0)
    }

    /// The first line of the source that it is about.
    #[must_use]
    pub fn line(&self, file: &str) -> Option<u32> {
        self.places.iter().find(|it| it.file == file).map(|it| it.start.line)
    }
}

/// All remarks and tombstones. A remark that tells why a statement is gone is one with its tombstone.
#[must_use]
pub fn entries(remarks: &[Remark], tombstones: &[Tombstone]) -> Vec<RemarkEntry> {
    let mut all: Vec<RemarkEntry> = remarks.iter().map(of_remark).collect();
    for it in tombstones {
        let tells = |entry: &&mut RemarkEntry| {
            entry.pass == it.pass
                && it.reason.is_some()
                && it.reason == entry.text
                && entry.links.contains(&it.link)
        };
        match all.iter_mut().find(tells) {
            Some(told) => told.shown = DecisionKind::Removed,
            None => all.push(RemarkEntry {
                shown: DecisionKind::Removed,
                pass: it.pass.clone(),
                text: it.reason.clone(),
                places: vec![it.place.clone()],
                links: vec![it.link.clone()],
                traffic: None,
            }),
        }
    }
    all
}

fn of_remark(it: &Remark) -> RemarkEntry {
    RemarkEntry {
        shown: if it.applied { DecisionKind::Applied } else { DecisionKind::Missed },
        pass: it.pass.clone(),
        text: Some(it.message.clone()),
        places: it.places.clone(),
        links: it.links.clone(),
        traffic: it.traffic,
    }
}

/// Entries by pass, in the order in which the passes were heard of; each with its position among all.
#[must_use]
pub fn by_pass(entries: &[RemarkEntry], shown: DecisionKind) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (at, entry) in entries.iter().enumerate().filter(|it| it.1.shown == shown) {
        match groups.iter_mut().find(|it| it.0 == entry.pass) {
            Some(group) => group.1.push(at),
            None => groups.push((entry.pass.clone(), vec![at])),
        }
    }
    groups
}

/// The lines of a file that anything is said about, each thing once: each with the positions of its entries, the weightiest first.
#[must_use]
pub fn by_line(entries: &[RemarkEntry], file: &str) -> Vec<(u32, Vec<usize>)> {
    let mut lines: Vec<(u32, Vec<usize>)> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let mut seen: Vec<u32> =
            entry.places.iter().filter(|it| it.file == file).map(|it| it.start.line).collect();
        seen.sort_unstable();
        seen.dedup();
        for line in seen {
            match lines.iter_mut().find(|it| it.0 == line) {
                Some(found) => found.1.push(at),
                None => lines.push((line, vec![at])),
            }
        }
    }
    for (_, all) in &mut lines {
        // A pass that runs again may repeat a remark, which is listed once.
        let mut said: Vec<(DecisionKind, Option<&str>)> = Vec::new();
        all.retain(|&at| {
            let one = (entries[at].shown, entries[at].text.as_deref());
            let is_new = !said.contains(&one);
            said.push(one);
            is_new
        });
        all.sort_by_key(|&at| {
            let entry = &entries[at];
            let weight = match entry.shown {
                _ if entry.traffic.is_some() => 0,
                DecisionKind::Removed => 1,
                DecisionKind::Applied => 2,
                DecisionKind::Missed => 3,
            };
            (weight, at)
        });
    }
    lines.sort_unstable_by_key(|it| it.0);
    lines
}

/// The remarks of a pass beside the lines of a level: for each line, the sign of the weightiest and all of them.
#[must_use]
pub fn beside<'a>(
    text: &StageText,
    entries: &'a [RemarkEntry],
    pass: &str,
) -> Vec<(u32, &'static str, Vec<&'a RemarkEntry>)> {
    let mut lines: Vec<(u32, &'static str, Vec<&RemarkEntry>)> = Vec::new();
    for entry in entries.iter().filter(|it| it.pass == pass) {
        // It is told of the statement that it is about first; the others it lights.
        let Some(first) = entry.links.first() else { continue };
        for line in links::lines_of(text, &Links::from([first.clone()])) {
            match lines.iter_mut().find(|it| it.0 == line) {
                Some(found) => {
                    if entry.shown != DecisionKind::Missed {
                        found.1 = entry.sign();
                    }
                    found.2.push(entry);
                }
                None => lines.push((line, entry.sign(), vec![entry])),
            }
        }
    }
    lines.sort_unstable_by_key(|it| it.0);
    lines
}

#[cfg(test)]
mod tests {
    use isobar_protocol::diagnostic::Position;

    use super::*;

    fn place(line: u32) -> SourceRange {
        let at = |col| Position { line, col };
        SourceRange { file: "main.py".to_owned(), start: at(9), end: at(20) }
    }

    fn remark(pass: &str, applied: bool, line: u32, link: &str) -> Remark {
        Remark {
            pass: pass.to_owned(),
            applied,
            message: format!("says {pass}"),
            places: vec![place(line), place(line)],
            links: vec![link.to_owned()],
            traffic: None,
        }
    }

    fn tombstone(reason: Option<&str>) -> Tombstone {
        Tombstone {
            link: "s1".to_owned(),
            place: place(4),
            stage: "oir".to_owned(),
            pass: "oir/prune".to_owned(),
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn a_remark_that_tells_why_a_statement_is_gone_is_one_with_its_tombstone() {
        let remarks = [remark("oir/prune", true, 4, "s1")];
        let told = entries(&remarks, &[tombstone(Some("says oir/prune"))]);
        assert_eq!(told.iter().map(|it| it.shown).collect::<Vec<_>>(), [DecisionKind::Removed]);
        let untold = entries(&remarks, &[tombstone(None)]);
        assert_eq!(
            untold.iter().map(|it| it.shown).collect::<Vec<_>>(),
            [DecisionKind::Applied, DecisionKind::Removed]
        );
    }

    #[test]
    fn what_moves_bytes_comes_first_on_its_line_and_what_was_left_last() {
        let weighty = Remark { traffic: Some([138.29e6, 32.12e6]), ..remark("schedule/fuse", true, 4, "s1") };
        let mut again = remark("oir/a-again", false, 4, "s1");
        again.message = "says oir/a".to_owned();
        let remarks = [remark("oir/a", false, 4, "s1"), remark("oir/b", true, 4, "s1"), weighty, again];
        let all = entries(&remarks, &[tombstone(None)]);
        assert_eq!(by_line(&all, "main.py"), [(4, vec![2, 4, 1, 0])], "nothing is said twice");
        assert_eq!(by_line(&all, "lib.py"), []);
    }

    #[test]
    fn passes_are_listed_in_their_order_with_what_they_said() {
        let remarks =
            [remark("oir/b", true, 1, "s1"), remark("oir/a", true, 2, "s2"), remark("oir/b", true, 3, "s3")];
        let groups = by_pass(&entries(&remarks, &[]), DecisionKind::Applied);
        assert_eq!(groups, [("oir/b".to_owned(), vec![0, 2]), ("oir/a".to_owned(), vec![1])]);
        assert_eq!(by_pass(&entries(&remarks, &[]), DecisionKind::Missed), []);
    }

    #[test]
    fn a_remark_stands_beside_the_lines_of_its_first_statement() {
        use isobar_protocol::compile::Node;
        let node = |line: u32, link: &str| Node {
            id: String::new(),
            kind: String::new(),
            lines: [line, line + 1],
            parent: None,
            spans: Vec::new(),
            links: vec![link.to_owned()],
        };
        let nodes = vec![node(1, "s1"), node(2, "s2"), node(4, "s1")];
        let text = StageText { stage: "oir".to_owned(), text: String::new(), nodes };
        let mut fused = remark("oir/fuse", true, 4, "s1");
        fused.links.push("s2".to_owned());
        let all = entries(&[remark("oir/fuse", false, 4, "s1"), fused, remark("oir/a", true, 4, "s2")], &[]);
        let both = vec![&all[0], &all[1]];
        assert_eq!(beside(&text, &all, "oir/fuse"), [(1, "✓", both.clone()), (4, "✓", both)]);
    }
}
