//! Both answers side by side.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use isobar_compiler::call::array::Array;
use isobar_compiler::types::Value;
use isobar_runner::npz;
use serde::Deserialize;

use super::prepare::{Ours, Prepared};
use crate::ulp;

/// More bytes than the results of any case.
const LIMIT: u64 = 1 << 26;

/// How far one of our functions may be from gt4py's, in units in the last place, in one call.
fn ulps_per_call(call: &str) -> u64 {
    // gt4py calls C's own, which errs by up to 2.5 units. Ours errs by up to 1 on the other side of the exact
    // value.
    if call.starts_with("erfc ") { 4 } else { 2 }
}

/// A line of `results.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct Theirs {
    pub id: String,
    /// `ran`, `accepted` (there was nothing to run), `refused`, `failed` while running, or `not loaded`.
    pub outcome: String,
    #[serde(default)]
    pub backend: String,
    #[serde(default)]
    pub why: String,
    /// Our functions against NumPy's, by name and type: the largest distance of all calls.
    #[serde(default)]
    pub ulps: BTreeMap<String, u64>,
}

/// The verdict on both answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The same bits.
    Agrees {
        backend: String,
        functions: BTreeMap<String, u64>,
    },
    /// They differ where a decision of ours says so.
    Deviates {
        row: &'static str,
    },
    BothRefuse,
    OnlyWeRefuse {
        why: String,
    },
    OnlyTheyRefuse {
        why: String,
    },
    Differs {
        backend: String,
        how: String,
    },
    /// Nothing to compare: gt4py cannot run it, or all of it is undefined.
    ProvesNothing {
        why: String,
    },
    WeCrash {
        what: String,
    },
}

/// Messages of gt4py that show a decision of ours: a part of the message, and the decision.
const DEVIATIONS: [(&str, &str); 2] = [
    (
        "Illegal write and read with horizontal offset",
        "a temporary of an earlier loop may be assigned and read beside the point in one loop",
    ),
    ("Found recursive imports", "an external that is imported and not used is accepted"),
];

/// Where our results are others by decision, and which warning says so.
const DECISIONS: [(&str, &str); 2] = [
    ("W03", "W03: two integers divide in the precision of float literals"),
    ("W04", "W04: an offset along I or J counts beside a level of run time"),
];

impl Verdict {
    /// Compares the two answers to one case.
    ///
    /// # Errors
    ///
    /// When gt4py's results cannot be read.
    pub fn of(prepared: &Prepared, theirs: &Theirs) -> Result<Self> {
        let accepts = matches!(theirs.outcome.as_str(), "ran" | "accepted" | "failed");
        let refuses = theirs.outcome == "refused";
        let nothing = || Verdict::ProvesNothing { why: format!("{}: {}", theirs.outcome, theirs.why) };
        Ok(match &prepared.ours {
            Ours::Crashed(what) => Verdict::WeCrash { what: what.clone() },
            Ours::Refused { .. } if refuses => Verdict::BothRefuse,
            Ours::Refused { .. } if accepts && prepared.is_of_page => {
                Verdict::Deviates { row: "a conformance page says that it is refused" }
            }
            Ours::Refused { code, message } if accepts => {
                Verdict::OnlyWeRefuse { why: format!("{code} {message}") }
            }
            Ours::Ran(_) | Ours::NotRun(_) if refuses => match deviation(prepared, &theirs.why) {
                Some(row) => Verdict::Deviates { row },
                None => Verdict::OnlyTheyRefuse { why: theirs.why.clone() },
            },
            Ours::NotRun(why) if theirs.outcome == "ran" => differs(theirs, format!("we do not run: {why}")),
            Ours::Ran(ours) if theirs.outcome == "ran" => {
                let bytes = std::fs::read(prepared.folder.join("out.npz"))?;
                let arrays = npz::read(&bytes, LIMIT).map_err(anyhow::Error::msg)?;
                compare(prepared, ours, &arrays, theirs)?
            }
            Ours::Refused { .. } | Ours::Ran(_) | Ours::NotRun(_) => nothing(),
        })
    }

    /// The column of the table.
    #[must_use]
    pub fn column(&self) -> &'static str {
        match self {
            Verdict::Agrees { .. } => "agree",
            Verdict::Deviates { .. } => "deviation",
            Verdict::BothRefuse => "both refuse",
            Verdict::OnlyWeRefuse { .. } => "we refuse",
            Verdict::OnlyTheyRefuse { .. } => "they refuse",
            Verdict::Differs { .. } => "differ",
            Verdict::ProvesNothing { .. } => "no proof",
            Verdict::WeCrash { .. } => "we crash",
        }
    }
}

/// The decision that explains why gt4py refuses what we accept.
fn deviation(prepared: &Prepared, why: &str) -> Option<&'static str> {
    if prepared.warnings.contains(&"W07") {
        return Some("W07: old values everywhere, then stored");
    }
    DEVIATIONS.iter().find(|(part, _)| why.contains(part)).map(|(_, row)| *row)
}

fn compare(
    prepared: &Prepared,
    ours: &BTreeMap<String, Array>,
    arrays: &BTreeMap<String, Array>,
    theirs: &Theirs,
) -> Result<Verdict> {
    let mut compared = 0;
    for (name, found) in ours {
        let expected = arrays.get(&format!("out_{name}")).with_context(|| format!("no `{name}`"));
        let Ok(expected) = expected else {
            return Ok(differs(theirs, format!("gt4py does not write `{name}`")));
        };
        let defined = arrays.get(&format!("defined_{name}"));
        if found.shape != expected.shape || found.dtype() != expected.dtype() {
            let how = format!("`{name}`: {:?} instead of {:?}", found.shape, expected.shape);
            return Ok(differs(theirs, how));
        }
        for at in expected.indices() {
            if defined.is_some_and(|it| it.get(&at).as_i64() == 0) {
                continue;
            }
            compared += 1;
            let (found, expected) = (found.get(&at), expected.get(&at));
            if !is_same(found, expected) {
                if let Some((_, row)) = DECISIONS.iter().find(|(code, _)| prepared.warnings.contains(code)) {
                    return Ok(Verdict::Deviates { row });
                }
                let distance = ulp::distance(found, expected);
                let how =
                    format!("{name}{at:?} is {found}, {expected} with {}: {distance} ULP", theirs.backend);
                return Ok(differs(theirs, how));
            }
        }
    }
    if compared == 0 {
        return Ok(Verdict::ProvesNothing { why: "all of it is undefined".to_owned() });
    }
    if let Some((call, ulps)) = theirs.ulps.iter().find(|(call, ulps)| **ulps > ulps_per_call(call)) {
        return Ok(differs(theirs, format!("{call} is {ulps} ULP from NumPy's")));
    }
    Ok(Verdict::Agrees { backend: theirs.backend.clone(), functions: theirs.ulps.clone() })
}

fn differs(theirs: &Theirs, how: String) -> Verdict {
    Verdict::Differs { backend: theirs.backend.clone(), how }
}

/// The same bits; any NaN is as good as any other.
fn is_same(one: Value, other: Value) -> bool {
    let both_nan = one.as_f64().is_nan() && other.as_f64().is_nan();
    one.dtype() == other.dtype() && (both_nan || one.bits() == other.bits())
}
