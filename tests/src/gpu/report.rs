//! The whole: which devices there are, what was held, what was measured; as one document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bench::{Absent, Case};
use super::correct::Answer;

/// The document that `tests/gpu/verify` writes. A new field is optional; a field with another meaning is
/// another format.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    pub format: u32,
    /// The version of this program.
    pub isobar: String,
    /// As it was called.
    pub arguments: Vec<String>,
    /// Of the machine around: processor, system.
    pub host: BTreeMap<String, String>,
    pub devices: Vec<OfDevice>,
    pub correctness: Vec<Correctness>,
    pub benchmark: Vec<Case>,
    /// The work that was not done at all, and why.
    pub absent: Vec<Absent>,
    pub seconds: u64,
    /// Whether all that was held agrees, and all that was measured has the bits of `rayon`.
    pub is_fine: bool,
}

pub const FORMAT: u32 = 1;

/// A back end and its device; or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OfDevice {
    pub backend: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Model, driver, versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub about: BTreeMap<String, String>,
    /// The figures that schedules are made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
}

/// The figures of a GPU that schedules are made for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Model {
    pub multiprocessors: u32,
    pub clock_mhz: u32,
    pub bandwidth_gb: u32,
    pub l2_bytes: u64,
    pub shared_bytes_of_block: u64,
    pub threads_of_block: u32,
}

/// The results of one kind of stencils.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Correctness {
    pub backend: String,
    /// `kernels`, `gallery`, `generated`, `programs`, `hand-written CUDA`.
    pub what: String,
    /// Bits of floats.
    pub precision: u32,
    /// Stencils, and runs of them, that were held against `debug`.
    pub stencils: u64,
    pub runs: u64,
    /// Runs that another statement ends than with `debug`.
    pub other_traps: u64,
    pub failures: u64,
    /// The differences of the first failures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
}

/// So many failures are told.
const TOLD: usize = 10;

impl Correctness {
    /// Counts answers by the bits of their floats.
    #[must_use]
    pub fn of(backend: &str, what: &str, answers: &[Answer]) -> Vec<Self> {
        let mut all: BTreeMap<u32, Self> = BTreeMap::new();
        for it in answers {
            let sum = all.entry(it.precision).or_insert_with(|| Self {
                backend: backend.to_owned(),
                what: what.to_owned(),
                precision: it.precision,
                ..Self::default()
            });
            sum.stencils += 1;
            sum.runs += it.runs;
            sum.other_traps += it.other_traps;
            if let Some(wrong) = &it.wrong {
                sum.failures += 1;
                if sum.wrong.len() < TOLD {
                    sum.wrong.push(format!("{}: {wrong}", it.what));
                }
            }
        }
        all.into_values().rev().collect()
    }
}

impl Report {
    /// Returns the summary, which people read first.
    #[must_use]
    pub fn in_words(&self) -> String {
        let mut text = String::new();
        for it in &self.devices {
            let about = it.absent.as_ref().map_or_else(
                || {
                    it.about
                        .iter()
                        .map(|(name, value)| format!("{name} {value}"))
                        .collect::<Vec<_>>()
                        .join(", ")
                },
                |why| format!("absent: {why}"),
            );
            text += &format!("{:<6} {about}\n", it.backend);
        }
        for it in &self.correctness {
            text += &format!(
                "{:<6} {:<18} f{}  {} stencils, {} runs, {} failures\n",
                it.backend, it.what, it.precision, it.stencils, it.runs, it.failures
            );
        }
        for case in &self.benchmark {
            let [i, j, k] = case.domain;
            for it in &case.measured {
                let ms = it.device_ms.unwrap_or(it.call_ms);
                let percent =
                    it.of_copy.map_or(String::new(), |it| format!(", {:.0} % of copy", 100.0 * it.median));
                let rate = it.gb_per_s.map_or(String::new(), |it| format!(", {:.1} GB/s", it.median));
                let wrong = if it.wrong.is_some() { ", WRONG" } else { "" };
                text += &format!(
                    "{:<8} f{} {i}x{j}x{k}  {:<18} {:.4} ms ({:.4} to {:.4}){rate}{percent}{wrong}\n",
                    case.kernel, case.precision, it.who, ms.median, ms.min, ms.max
                );
            }
        }
        for it in &self.absent {
            text += &format!("absent: {}: {}\n", it.who, it.why);
        }
        text
    }
}
