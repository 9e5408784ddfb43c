//! The operator's view: a line for each request and each job, and figures for Prometheus.
//!
//! Lines and labels consist of fixed words, numbers, and names that the runner gave. They hold no token, no
//! text of a client, no path as it was sent, and no whole address.

pub(crate) mod lines;
pub mod metrics;

use std::net::IpAddr;
use std::time::{Duration, Instant};

use isobar_protocol::job::EndReason;

pub use metrics::metrics;

/// Of all lines about requests and jobs, for filters.
pub const NOTES: &str = "isobar_runner::note";

/// A request, noted when this is dropped: its answer was sent, or its client went away.
#[derive(Debug)]
pub(crate) struct RequestNote {
    begun: Instant,
    method: &'static str,
    route: &'static str,
    from: Option<IpAddr>,
    /// A name that the runner gave.
    pub job: Option<String>,
    answered: Option<(u16, Duration)>,
    pub bytes: u64,
}

impl RequestNote {
    pub(crate) fn new(method: &'static str, route: &'static str, from: Option<IpAddr>) -> Self {
        Self { begun: Instant::now(), method, route, from, job: None, answered: None, bytes: 0 }
    }

    /// The head of the answer is there.
    pub(crate) fn answered(&mut self, status: u16) {
        self.answered = Some((status, self.begun.elapsed()));
    }
}

impl Drop for RequestNote {
    fn drop(&mut self) {
        let status = self.answered.map(|it| it.0);
        metrics().request(self.method, self.route, self.answered);
        tracing::info!(
            target: "isobar_runner::note::request",
            method = self.method,
            route = self.route,
            status,
            head_ms = self.answered.map(|it| milliseconds(it.1)),
            ms = milliseconds(self.begun.elapsed()),
            bytes = self.bytes,
            from = self.from.map(shortened),
            job = self.job.as_deref(),
            "request"
        );
    }
}

/// A job that is over.
#[derive(Debug)]
pub(crate) struct JobNote<'a> {
    pub job: &'a str,
    pub backend: &'a str,
    pub reason: EndReason,
    /// The kind of its problem.
    pub code: Option<&'a str>,
    pub waited: Duration,
    /// None where it never worked.
    pub worked: Option<Duration>,
    pub result_bytes: u64,
    pub starts: u32,
}

impl<'a> JobNote<'a> {
    /// Of a job that is not taken up again.
    pub(crate) fn interrupted(job: &'a str, starts: u32) -> Self {
        let code = Some("interrupted");
        let (waited, worked, result_bytes) = (Duration::ZERO, None, 0);
        let reason = EndReason::Interrupted;
        Self { job, backend: "unknown", reason, code, waited, worked, result_bytes, starts }
    }

    pub(crate) fn write(&self) {
        metrics().job(self.backend, reason(self.reason), self.worked);
        tracing::info!(
            target: "isobar_runner::note::job",
            job = self.job,
            backend = self.backend,
            reason = reason(self.reason),
            code = self.code,
            waited_ms = milliseconds(self.waited),
            worked_ms = self.worked.map(milliseconds),
            result_bytes = self.result_bytes,
            starts = self.starts,
            "job"
        );
    }
}

/// A reason as it stands on the wire.
fn reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Ok => "ok",
        EndReason::Cancelled => "cancelled",
        EndReason::Limit => "limit",
        EndReason::Trap => "trap",
        EndReason::Crash => "crash",
        EndReason::RunnerShutdown => "runner_shutdown",
        EndReason::Error => "error",
        EndReason::Interrupted => "interrupted",
    }
}

fn milliseconds(time: Duration) -> f64 {
    // Microseconds are enough, and a line stays short.
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// The network of an address, `/24` or `/48`: enough to tell sources apart, too little to name a person.
fn shortened(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}::/48")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_cut_to_its_network() {
        for (address, network) in [
            ("192.0.2.77", "192.0.2.0/24"),
            ("::ffff:192.0.2.77", "192.0.2.0/24"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
            ("::1", "0:0:0::/48"),
        ] {
            assert_eq!(shortened(address.parse().expect("an address")), network);
        }
    }

    #[test]
    fn reasons_are_those_of_the_wire() {
        use EndReason::{Cancelled, Crash, Error, Interrupted, Limit, Ok, RunnerShutdown, Trap};
        for it in [Ok, Cancelled, Limit, Trap, Crash, RunnerShutdown, Error, Interrupted] {
            let wire = serde_json::to_value(it).expect("a word");
            assert_eq!(wire, reason(it));
        }
    }
}
