//! Results of gt4py that are committed: texts, and the hashes of what they must give.
//!
//! `tests/golden/agreed.jsonl` has a line about its making, then one for each stencil. Inputs are
//! made anew from the stencil's name. Only stencils whose every operation IEEE 754 decides are
//! kept, so that a hash is all that must be.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use isobar_compiler::call::array::Array;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::root;

/// A stencil and what gt4py made of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Where it comes from: `generated`, or the name of a folder.
    pub origin: String,
    /// Decides the inputs.
    pub name: String,
    pub stencil: String,
    pub precision: u32,
    pub domain: [i64; 3],
    /// gt4py's back end.
    pub backend: String,
    /// The written fields: types, shapes and hashes.
    pub outputs: BTreeMap<String, String>,
    /// The whole file.
    pub text: String,
}

/// The file of all of them.
#[must_use]
pub fn path() -> PathBuf {
    root().join("tests/golden/agreed.jsonl")
}

/// All that is kept, in the order of the file.
///
/// # Errors
///
/// When the file cannot be read.
pub fn all() -> Result<Vec<Kept>> {
    let text = std::fs::read_to_string(path()).with_context(|| path().display().to_string())?;
    // The first line says how it was made.
    text.lines().skip(1).map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// Type, shape, and a hash of the elements; any NaN is as good as any other.
#[must_use]
pub fn digest(array: &Array) -> String {
    let mut hash = Sha256::new();
    for at in array.indices() {
        let value = array.get(&at);
        let bits = if value.as_f64().is_nan() { f64::NAN.to_bits() } else { value.bits() };
        hash.update(bits.to_le_bytes());
    }
    let hash: String = hash.finalize()[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    let shape: Vec<String> = array.shape.iter().map(ToString::to_string).collect();
    format!("{} {} {hash}", array.dtype(), shape.join("x"))
}
