//! Statistics of many times of the same work.

use serde::Serialize;

/// The summary of times in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) n: usize,
    pub(crate) median: f64,
    /// In which the median of all times lies with 95 percent, whatever their distribution.
    pub(crate) interval: [f64; 2],
    pub(crate) quartiles: [f64; 2],
    pub(crate) least: f64,
}

impl Summary {
    /// None of no times.
    pub(crate) fn of(times: &[f64]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let last = n.checked_sub(1)?;
        let median = (sorted[last / 2] + sorted[n / 2]) / 2.0;
        // The number of times below the median is binomial: its deviation is half the root of n.
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "n is small"
        )]
        let beside = (0.98 * (n as f64).sqrt()).ceil() as usize;
        let low = (n / 2).saturating_sub(beside);
        let high = (last / 2 + beside).min(last);
        Some(Self {
            n,
            median,
            interval: [sorted[low], sorted[high]],
            quartiles: [sorted[last / 4], sorted[last - last / 4]],
            least: sorted[0],
        })
    }
}
