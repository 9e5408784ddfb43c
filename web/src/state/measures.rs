//! The measurements of a run, and how fast it was.

use isobar_protocol::bench::{CopyRate, GraphStep, Memory, gigabytes_per_second};
use isobar_protocol::tune::Tuned;

use crate::bridge::locale::t;

/// A time that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    pub name: String,
    pub ms: f64,
    /// The bytes that it had to move at least, if known.
    pub bytes: Option<u64>,
    /// The part that ran: `numpy in this tab`.
    pub part: String,
}

/// The measurements of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Step by step.
    pub timings: Vec<Timing>,
    /// The most memory that it needed at a time.
    pub memory: Option<Memory>,
    /// The copy rate that its own rate is compared with.
    pub copy: Option<CopyRate>,
    /// Where the time of the call went.
    pub steps: Vec<GraphStep>,
    /// The tuned schedule that was kept for it, if it differs from the compiler's choice.
    pub tuned: Option<Tuned>,
}

impl Measures {
    /// How fast a step moved what it had to, in words.
    #[must_use]
    pub fn rate(&self, step: &Timing) -> Option<String> {
        let bytes = step.bytes?;
        let rate = t!("state-run-rate", rate = gigabytes_per_second(bytes, step.ms)?);
        let part = self.copy.and_then(|it| Some((it.part(bytes, step.ms)?, it.threads)));
        Some(match part {
            Some((part, 0)) => t!("state-run-rate-gpu", rate = rate, part = 100.0 * part),
            Some((part, _)) => t!("state-run-rate-copying", rate = rate, part = 100.0 * part),
            None => rate,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_told_where_bytes_and_time_are_known() {
        let step = |ms, bytes| Timing { name: "run".to_owned(), ms, bytes, part: String::new() };
        let mut measures = Measures::default();
        assert_eq!(measures.rate(&step(2.0, None)), None);
        assert_eq!(measures.rate(&step(0.0, Some(1))), None);
        assert_eq!(measures.rate(&step(2.0, Some(8_000_000))).as_deref(), Some("4.0 GB/s"));
        measures.copy = Some(CopyRate { bytes_per_s: 8e9, threads: 2 });
        let rate = measures.rate(&step(2.0, Some(8_000_000)));
        assert_eq!(rate.as_deref(), Some("4.0 GB/s, 50 % of copying"));
    }
}
