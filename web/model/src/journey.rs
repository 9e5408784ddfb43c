//! The way of the text through the levels: the work of the passes on each.

use std::collections::BTreeSet;

use isobar_protocol::compile::{Remark, Tombstone};

/// Points of the domain that the compiler predicts traffic for.
const PREDICTED_FOR: [f64; 3] = [128.0, 128.0, 80.0];

/// The work of the passes of a level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelSummary {
    /// The number of statements that a pass changed or removed.
    pub changed: usize,
    /// The passes that did so, without their level.
    pub passes: Vec<String>,
    /// Bytes that the stencil moves, before all of these passes and after.
    pub traffic: Option<[f64; 2]>,
}

/// Collects the work of the passes of `stage`, for a domain of these points. The compiler predicts traffic
/// for one domain; for another it is taken to grow with the number of points.
#[must_use]
pub fn leg(stage: &str, remarks: &[Remark], tombstones: &[Tombstone], domain: [i64; 3]) -> LevelSummary {
    let is_here = |pass: &str| pass.split_once('/').is_some_and(|it| it.0 == stage);
    let mut statements = BTreeSet::new();
    let mut leg = LevelSummary::default();
    let acted = remarks.iter().filter(|it| it.applied && is_here(&it.pass));
    for it in acted {
        statements.extend(it.links.iter().map(String::as_str));
        note(&mut leg.passes, &it.pass);
        if let Some([before, after]) = it.traffic {
            let first = leg.traffic.map_or(before, |it| it[0]);
            leg.traffic = Some([first, after]);
        }
    }
    for it in tombstones.iter().filter(|it| it.stage == stage) {
        statements.insert(it.link.as_str());
        note(&mut leg.passes, &it.pass);
    }
    leg.changed = statements.len();
    #[expect(clippy::cast_precision_loss, reason = "a prediction, shown with two digits")]
    let scale = domain.iter().zip(PREDICTED_FOR).fold(1.0, |all, (&n, of)| all * n.max(1) as f64 / of);
    leg.traffic = leg.traffic.map(|it| it.map(|bytes| bytes * scale));
    leg
}

fn note(passes: &mut Vec<String>, pass: &str) {
    let short = pass.split_once('/').map_or(pass, |it| it.1);
    if passes.iter().all(|it| it != short) {
        passes.push(short.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(pass: &str, links: &[&str], traffic: Option<[f64; 2]>) -> Remark {
        Remark {
            pass: pass.to_owned(),
            applied: true,
            message: String::new(),
            places: Vec::new(),
            links: links.iter().map(|it| (*it).to_owned()).collect(),
            traffic,
        }
    }

    #[test]
    fn a_leg_counts_statements_once_and_scales_what_it_predicts() {
        let remarks = [
            remark("schedule/merge", &["s1", "s2"], Some([8e6, 4e6])),
            remark("schedule/merge", &["s2"], Some([4e6, 2e6])),
            remark("oir/prune", &["s9"], None),
        ];
        let found = leg("schedule", &remarks, &[], [64, 128, 80]);
        assert_eq!((found.changed, found.passes), (2, vec!["merge".to_owned()]));
        assert_eq!(found.traffic, Some([4e6, 1e6]));
        assert_eq!(leg("tree", &remarks, &[], [64, 128, 80]), LevelSummary::default());
    }
}
