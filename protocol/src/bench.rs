//! Measurements: how often a stencil was called, how long that took, and the copy that it is held against.

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, UnitStrideAxis};
use crate::request::Mode;
use crate::tune::Tuned;

/// The most memory that a job needs at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Inputs and outputs, halo included.
    pub fields_bytes: u64,
    /// Temporaries that all threads share.
    pub workspace_bytes: u64,
    /// Temporaries that each thread has for itself, of all threads together.
    pub scratch_bytes: u64,
    pub threads: u32,
    /// The memory that the job may have.
    pub allowed_bytes: u64,
}

impl Memory {
    #[must_use]
    pub fn asked_bytes(&self) -> u64 {
        self.fields_bytes.saturating_add(self.workspace_bytes).saturating_add(self.scratch_bytes)
    }
}

/// How fast a machine copies between two arrays that are larger than its caches, or a device within its own memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyRate {
    /// Read and written, together.
    pub bytes_per_s: f64,
    /// That copied at the same time; none where a device copied within its own memory.
    pub threads: u32,
}

impl CopyRate {
    /// The part of this rate that a call reaches if it moves so many bytes in so many milliseconds.
    #[must_use]
    pub fn part(&self, bytes: u64, ms: f64) -> Option<f64> {
        let part = gigabytes_per_second(bytes, ms)? * 1e9 / self.bytes_per_s;
        part.is_finite().then_some(part)
    }
}

/// Nothing where no time passed or nothing was moved.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a rate of some digits")]
pub fn gigabytes_per_second(bytes: u64, ms: f64) -> Option<f64> {
    (ms > 0.0 && bytes > 0).then(|| bytes as f64 / (ms * 1e6))
}

/// How long a step of the graph took, of those that a call does one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphStep {
    /// Counted from 1, as in the text of the stage `c`.
    pub step: u32,
    /// The fields that it writes, as the stencil calls them.
    pub writes: Vec<String>,
    /// The first and the last line of each of its pieces of the stencil, in the order of the file.
    pub lines: Vec<[u32; 2]>,
    /// The median of all calls that were measured.
    pub ms: f64,
}

impl GraphStep {
    /// `21-24, 30`
    #[must_use]
    pub fn lines(&self) -> String {
        let piece = |&[first, last]: &[u32; 2]| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        self.lines.iter().map(piece).collect::<Vec<_>>().join(", ")
    }
}

/// A statement of a program that ran, in the order of the level `program`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallStep {
    /// As the level writes it: `call apply(q=q, tendency=t, alpha=alpha)`.
    pub text: String,
    /// The number of statements around it.
    pub depth: u32,
    /// The function of the stencil that it calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stencil: Option<String>,
    /// Where the text says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<CallPlace>,
    /// How often it was carried out; 0 where it is a part of the code around it, or was never reached.
    pub count: u64,
    /// Of all times together, with the statements inside.
    pub ms: f64,
    /// The least bytes that it has to move each time; 0 where its parts tell theirs.
    pub bytes: u64,
}

impl CallStep {
    /// Bytes for each second, at least.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate of some digits")]
    pub fn bytes_per_s(&self) -> Option<f64> {
        let bytes = self.bytes as f64 * self.count as f64;
        (bytes > 0.0 && self.ms > 0.0).then(|| bytes / (self.ms / 1e3))
    }
}

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPlace {
    pub file: String,
    pub line: u32,
}

/// The results of `isobar bench` on one domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    pub stencil: String,
    pub domain: [i64; 3],
    pub threads: u32,
    pub mode: Mode,
    /// Every round calls each back end once, and copies once.
    pub rounds: u32,
    /// The least bytes that a call has to move: each input read once, each output written once.
    pub bytes: u64,
    /// Copying, with as many threads, between two arrays which together have as many bytes.
    pub copy: Samples,
    pub backends: Vec<BackendMeasurement>,
    /// Whether all back ends wrote the same bits, after as many calls.
    pub agree: bool,
}

/// The measurements of a back end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackendMeasurement {
    pub backend: String,
    /// The time to get ready, apart from the compiler's levels: nothing of it comes from the cache.
    pub ready: Vec<crate::report::MeasuredStep>,
    /// The call before the rounds, for which nothing was warm.
    pub first_ms: f64,
    pub calls: Samples,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gb_per_s: Option<f64>,
    /// The time of copying as a part of the time of a call: 1 is as fast as copying. Calls of a device are held against
    /// its own copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_copy: Option<f64>,
    /// A device's account of its calls; nothing of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_device: Option<OnDevice>,
    /// Where the time of a call went; nothing of back ends that do not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<GraphStep>,
    /// The schedule that was kept for it, where it has another than the compiler chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Tuned>,
    /// The same calls on arrays as others have them, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<OnLayout>,
}

/// The time of calls on arrays without room between rows that lie along one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnLayout {
    pub along: UnitStrideAxis,
    pub calls: Samples,
    /// The time on arrays of our own as a part of this one, both measured in turn: 1 is as fast, more is faster.
    pub of_own: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_copy: Option<f64>,
    pub layout: Layout,
}

/// The same calls by the clock of the device that they ran on. The time to launch them and to wait for them
/// is not counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnDevice {
    pub calls: Samples,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gb_per_s: Option<f64>,
    /// How fast it copies within its own memory.
    pub copy: CopyRate,
    /// The part of that rate that the calls reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_copy: Option<f64>,
}

impl OnDevice {
    /// None where the device tells no times.
    #[must_use]
    pub fn of(ms: Vec<f64>, bytes: u64, copy: CopyRate) -> Option<Self> {
        let calls = Samples::of(ms)?;
        let gb_per_s = gigabytes_per_second(bytes, calls.median_ms);
        Some(Self { gb_per_s, of_copy: copy.part(bytes, calls.median_ms), calls, copy })
    }
}

/// Times of the same work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    pub median_ms: f64,
    /// The median lies between these with 95 % confidence, whatever the distribution; the least and the greatest
    /// time where there are fewer than six.
    pub low_ms: f64,
    pub high_ms: f64,
    /// In the order of the rounds.
    pub ms: Vec<f64>,
}

impl Samples {
    /// None where there is no time.
    #[must_use]
    pub fn of(ms: Vec<f64>) -> Option<Self> {
        let mut sorted = ms.clone();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (&last, half) = (sorted.last()?, n / 2);
        let median_ms = if n % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) };
        let at = rank(n);
        Some(Self {
            median_ms,
            low_ms: sorted[at],
            high_ms: sorted.get(n - 1 - at).copied().unwrap_or(last),
            ms,
        })
    }
}

/// The number of samples to leave out on each side, so that the interval holds the median with 95 %
/// confidence. By the binomial distribution, fewer samples than that lie below the median with a probability
/// of at most 2.5 %.
#[expect(clippy::cast_precision_loss, reason = "a few thousand samples")]
fn rank(n: usize) -> usize {
    // log C(n, k) / 2^n, which does not underflow.
    let mut log = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    for k in 0..n / 2 {
        below += log.exp();
        if below > 0.025 {
            return k.saturating_sub(1);
        }
        log += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_leaves_out_as_many_as_tables_of_the_binomial_distribution_say() {
        // Ranks from 1 on: 6 and 1, 10 and 2, 31 and 10, 101 and 41.
        for (n, leaves_out) in [(1, 0), (5, 0), (6, 0), (9, 1), (10, 1), (31, 9), (101, 40)] {
            assert_eq!(rank(n), leaves_out, "{n}");
        }
    }

    #[test]
    fn samples_have_a_median_and_an_interval_whatever_their_number() {
        assert_eq!(Samples::of(Vec::new()), None);
        let one = Samples::of(vec![3.0]).expect("there is one");
        assert_eq!((one.low_ms, one.median_ms, one.high_ms), (3.0, 3.0, 3.0));
        let two = Samples::of(vec![4.0, 3.0]).expect("there are two");
        assert_eq!((two.low_ms, two.median_ms, two.high_ms, two.ms), (3.0, 3.5, 4.0, vec![4.0, 3.0]));
        let many = Samples::of((1..=31).rev().map(f64::from).collect()).expect("there are many");
        assert_eq!((many.low_ms, many.median_ms, many.high_ms), (10.0, 16.0, 22.0));
    }

    #[test]
    fn a_rate_needs_time_and_bytes() {
        assert_eq!(gigabytes_per_second(8_000_000, 2.0), Some(4.0));
        assert_eq!((gigabytes_per_second(0, 2.0), gigabytes_per_second(8, 0.0)), (None, None));
        let copy = CopyRate { bytes_per_s: 8e9, threads: 2 };
        assert_eq!(copy.part(8_000_000, 2.0), Some(0.5));
    }
}
