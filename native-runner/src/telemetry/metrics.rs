//! Figures of this process: what was asked and done since its start, and what it holds now.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// The type of [`Metrics::text`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The cache is added up again after so long.
const CACHE_AGE: Duration = Duration::from_secs(15);

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfRequest {
    method: &'static str,
    route: &'static str,
    /// `2xx`, or `gone` where the client did not wait.
    class: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfRoute {
    route: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfJob {
    /// One that the runner knows.
    backend: String,
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfBackend {
    backend: String,
}

type Level = Gauge<i64, AtomicI64>;
type Times<S> = Family<S, Histogram, fn() -> Histogram>;

/// The figures of this process.
pub struct Metrics {
    registry: Registry,
    requests: Family<OfRequest, Counter<u64, AtomicU64>>,
    request_seconds: Times<OfRoute>,
    jobs: Family<OfJob, Counter<u64, AtomicU64>>,
    job_seconds: Times<OfBackend>,
    compile_seconds: Histogram,
    connections: Level,
    waiting: Level,
    working: Level,
    resident: Level,
    descriptors: Level,
    cache: Level,
    lines_lost: Counter<u64, AtomicU64>,
    cache_added_up: Mutex<Option<Instant>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// The state of the runner at a scrape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now<'a> {
    pub waiting: usize,
    pub working: usize,
    pub cache: Option<&'a Path>,
}

/// The figures of this process: there is one runner in it.
pub fn metrics() -> &'static Metrics {
    static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::new);
    &METRICS
}

/// A connection that is open, until this is dropped.
#[derive(Debug)]
pub(crate) struct Connection(());

impl Connection {
    pub(crate) fn open() -> Self {
        metrics().connections.inc();
        Self(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        metrics().connections.dec();
    }
}

/// From 1 ms to half an hour.
fn times() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 22))
}

impl Metrics {
    fn new() -> Self {
        let mut registry = Registry::default();
        let requests = Family::default();
        registry.register("isobar_requests", "Requests that were answered", requests.clone());
        let request_seconds = Times::<OfRoute>::new_with_constructor(times);
        let help = "Time from a request to the head of its answer";
        registry.register_with_unit("isobar_request", help, Unit::Seconds, request_seconds.clone());
        let jobs = Family::default();
        registry.register("isobar_jobs", "Jobs that are over", jobs.clone());
        let job_seconds = Times::<OfBackend>::new_with_constructor(times);
        registry.register_with_unit(
            "isobar_job",
            "Time that jobs worked",
            Unit::Seconds,
            job_seconds.clone(),
        );
        let compile_seconds = times();
        let help = "Time of compilations without a run";
        registry.register_with_unit("isobar_compile", help, Unit::Seconds, compile_seconds.clone());
        let lines_lost = Counter::default();
        let help = "Lines of the log that could not be written";
        registry.register("isobar_log_lines_lost", help, lines_lost.clone());
        let mut level = |name: &str, help: &str| {
            let level = Level::default();
            registry.register(name, help, level.clone());
            level
        };
        Self {
            connections: level("isobar_connections", "Connections that are open"),
            waiting: level("isobar_jobs_waiting", "Jobs that wait"),
            working: level("isobar_jobs_working", "Jobs that work"),
            resident: level(
                "process_resident_memory_bytes",
                "Resident memory of the runner, without its jobs",
            ),
            descriptors: level("process_open_fds", "Open descriptors of the runner"),
            cache: level("isobar_cache_bytes", "Compiled code that is kept"),
            requests,
            request_seconds,
            jobs,
            job_seconds,
            compile_seconds,
            lines_lost,
            registry,
            cache_added_up: Mutex::default(),
        }
    }

    pub(crate) fn request(
        &self,
        method: &'static str,
        route: &'static str,
        answered: Option<(u16, Duration)>,
    ) {
        let class = match answered.map(|it| it.0 / 100) {
            Some(1) => "1xx",
            Some(2) => "2xx",
            Some(3) => "3xx",
            Some(4) => "4xx",
            Some(_) => "5xx",
            None => "gone",
        };
        self.requests.get_or_create(&OfRequest { method, route, class }).inc();
        if let Some((_, time)) = answered {
            self.request_seconds.get_or_create(&OfRoute { route }).observe(time.as_secs_f64());
        }
    }

    pub(crate) fn job(&self, backend: &str, reason: &'static str, worked: Option<Duration>) {
        self.jobs.get_or_create(&OfJob { backend: backend.to_owned(), reason }).inc();
        if let Some(worked) = worked {
            let of = OfBackend { backend: backend.to_owned() };
            self.job_seconds.get_or_create(&of).observe(worked.as_secs_f64());
        }
    }

    pub(crate) fn lost_line(&self) {
        self.lines_lost.inc();
    }

    #[cfg(test)]
    pub(crate) fn lines_lost(&self) -> u64 {
        self.lines_lost.get()
    }

    pub(crate) fn compiled(&self, time: Duration) {
        self.compile_seconds.observe(time.as_secs_f64());
    }

    /// All figures as text. It reads files, and may take some time.
    pub(crate) fn text(&self, now: Now<'_>) -> String {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        self.waiting.set(count(now.waiting));
        self.working.set(count(now.working));
        self.resident.set(resident_bytes().unwrap_or(-1));
        // The folder itself is open while it is counted.
        let open = fs::read_dir("/proc/self/fd").map_or(-1, |it| count(it.count()) - 1);
        self.descriptors.set(open);
        let mut added_up = self.cache_added_up.lock().unwrap_or_else(PoisonError::into_inner);
        if added_up.is_none_or(|it| it.elapsed() > CACHE_AGE) {
            self.cache.set(now.cache.map_or(0, |it| i64::try_from(bytes_below(it)).unwrap_or(i64::MAX)));
            *added_up = Some(Instant::now());
        }
        drop(added_up);
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Resident memory of this process.
fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<i64>().ok()?.checked_mul(1024)
}

/// The bytes of all files below a folder; links are not followed.
fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_below(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_stands_in_the_text() {
        let metrics = Metrics::new();
        metrics.request("GET", "/v1/jobs/{id}", Some((404, Duration::from_millis(3))));
        metrics.request("POST", "/v1/jobs", None);
        metrics.job("rayon", "ok", Some(Duration::from_millis(30)));
        metrics.compiled(Duration::from_millis(5));
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("c")).expect("a folder");
        fs::write(folder.path().join("c/code"), [0; 1000]).expect("it is ours");
        let text = metrics.text(Now { waiting: 3, working: 2, cache: Some(folder.path()) });
        for line in [
            r#"isobar_requests_total{method="GET",route="/v1/jobs/{id}",class="4xx"} 1"#,
            r#"isobar_requests_total{method="POST",route="/v1/jobs",class="gone"} 1"#,
            r#"isobar_request_seconds_count{route="/v1/jobs/{id}"} 1"#,
            r#"isobar_jobs_total{backend="rayon",reason="ok"} 1"#,
            r#"isobar_job_seconds_bucket{le="0.032",backend="rayon"} 1"#,
            "isobar_compile_seconds_count 1",
            "isobar_jobs_waiting 3",
            "isobar_jobs_working 2",
            "isobar_cache_bytes 1000",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        let of = |name: &str| -> i64 {
            let line = text.lines().find_map(|it| it.strip_prefix(name)).expect("it is there");
            line.trim().parse().expect("a number")
        };
        assert!(of("process_resident_memory_bytes ") > 1 << 20 && of("process_open_fds ") >= 3);
    }
}
