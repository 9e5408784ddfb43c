//! The compiler's decisions in words, and the statements that are gone from a level.

use isobar_compiler::pipeline::Stage;
use isobar_page_model::links::Links;
use isobar_page_model::remarks::{self, DecisionKind, RemarkEntry};
use isobar_protocol::compile::{StageText, Tombstone, bytes};

use crate::bridge::locale::{decimal, t};

/// The name of a kind of decisions.
#[must_use]
pub fn title(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::Applied => t!("state-remarks-applied"),
        DecisionKind::Missed => t!("state-remarks-missed"),
        DecisionKind::Removed => t!("state-remarks-removed"),
    }
}

/// The sentence of an entry.
#[must_use]
pub fn text(entry: &RemarkEntry) -> String {
    entry.text.clone().unwrap_or_else(|| t!("state-remarks-gone").to_owned())
}

/// Bytes without and with an entry, as people read them.
#[must_use]
pub fn traffic(entry: &RemarkEntry) -> Option<String> {
    entry.traffic.map(|[before, after]| decimal(format!("{} → {}", bytes(before), bytes(after))))
}

/// The remarks of a pass beside the lines of a level: for each line, the sign of the weightiest and all
/// texts.
#[must_use]
pub fn beside(level: &StageText, entries: &[RemarkEntry], pass: &str) -> Vec<(u32, &'static str, String)> {
    let said = |entry: &RemarkEntry| match traffic(entry) {
        Some(traffic) => format!("{} ({traffic})", text(entry)),
        None => text(entry),
    };
    let lines = remarks::beside(level, entries, pass).into_iter();
    lines
        .map(|(line, sign, of_line)| {
            (line, sign, of_line.into_iter().map(said).collect::<Vec<_>>().join("\n"))
        })
        .collect()
}

/// Why none of these statements is at a level: what passes on the way there removed.
#[must_use]
pub fn gone<'a>(tombstones: &'a [Tombstone], links: &Links, stage: Stage) -> Vec<&'a Tombstone> {
    let is_meant = |it: &&Tombstone| {
        links.contains(&it.link)
            && Stage::from_name(&it.stage).is_some_and(|level| stage.shows_passes_of(level))
    };
    tombstones.iter().filter(is_meant).collect()
}

#[cfg(test)]
mod tests {
    use isobar_protocol::compile::{Remark, SourceRange};
    use isobar_protocol::diagnostic::Position;

    use super::*;

    #[test]
    fn bytes_are_told_as_people_read_them() {
        let remark = Remark {
            pass: "schedule/fuse".to_owned(),
            applied: true,
            message: "fused".to_owned(),
            places: Vec::new(),
            links: Vec::new(),
            traffic: Some([138.29e6, 32.12e6]),
        };
        let all = remarks::entries(&[remark], &[]);
        assert_eq!(traffic(&all[0]).as_deref(), Some("138.29 MB → 32.12 MB"));
        assert_eq!(text(&all[0]), "fused");
    }

    #[test]
    fn a_statement_is_missed_from_the_level_that_removed_it_on() {
        let at = Position::default();
        let tombstones = [Tombstone {
            link: "s1".to_owned(),
            place: SourceRange { file: "main.py".to_owned(), start: at, end: at },
            stage: "oir".to_owned(),
            pass: "oir/prune".to_owned(),
            reason: None,
        }];
        let links: Links = ["s1".to_owned()].into();
        for stage in Stage::ALL {
            let is_before = [Stage::PROGRAM, Stage::DEFINITION, Stage::GTIR, Stage::PYTHON].contains(&stage);
            assert_eq!(gone(&tombstones, &links, stage).is_empty(), is_before, "{stage}");
        }
        assert!(gone(&tombstones, &["s2".to_owned()].into(), Stage::C).is_empty());
    }
}
