//! The outcome of a case in one DaCe.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use isobar_compiler::call::array::Elements;
use serde_json::Value as Json;

use super::prepare::Case;
use crate::ulp::distance_at;

/// Results of functions may differ by so many units in the last place of the largest value of their field.
/// DaCe calls the functions of the system's library, and differences travel.
const BOUND: u64 = 64;

/// How far a case came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Bit for bit, or within the bound where functions are used: by so many units at most.
    Agreed { ulp: u64 },
    /// A field has another value.
    Differs(String),
    /// It did not come to its end; the step that failed, and what was said.
    Failed { step: &'static str, why: String },
}

/// Reads the outcome of a case in one form.
///
/// # Errors
///
/// When there is no result at all.
pub fn fate(case: &Case, form: &str, results: &Path) -> Result<Fate> {
    let folder = results.join(format!("{}-{form}", case.id));
    let Ok(text) = fs::read_to_string(folder.join("told.json")) else {
        let why = "its process ended without a word".to_owned();
        return Ok(Fate::Failed { step: "run", why });
    };
    let told: Json = serde_json::from_str(&text)?;
    for (step, key) in
        [("load", "loaded"), ("validate", "validated"), ("compile", "compiled"), ("run", "ran")]
    {
        if told[key] != true {
            let why = told["error"].as_str().unwrap_or_default().to_owned();
            return Ok(Fate::Failed { step, why });
        }
    }
    let mut most = 0;
    for (name, expected) in &case.expected {
        let path = folder.join(name);
        if !path.exists() {
            // The graph does not have what the stencil does not use.
            continue;
        }
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        let found = Elements::from_le_bytes(expected.dtype(), &bytes);
        let ordered = Elements::from_le_bytes(expected.dtype(), &expected.to_c_order_le_bytes());
        let is_larger = |it: f64, than: f64| it.is_finite() && it.abs() > than;
        let mut largest = ordered.get(0);
        for at in 0..ordered.len() {
            if is_larger(ordered.get(at).as_f64(), largest.as_f64().abs()) {
                largest = ordered.get(at);
            }
        }
        for at in 0..ordered.len() {
            let (one, other) = (ordered.get(at), found.get(at));
            if one == other || (one.as_f64().is_nan() && other.as_f64().is_nan()) {
                continue;
            }
            let ulp = distance_at(one, other, largest).max(1);
            most = most.max(ulp);
            if case.is_exact || ulp > BOUND {
                return Ok(Fate::Differs(format!("`{name}` has {other} at {at}, and should have {one}")));
            }
        }
    }
    Ok(Fate::Agreed { ulp: most })
}
