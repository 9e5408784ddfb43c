//! The report: tables to read, and all of it as JSON.

use std::fmt::Write as _;
use std::fs;

use isobar_compiler::c;
use isobar_tests::kernels::compiled::{Compiled, StageTime, cc_version};
use isobar_tests::kernels::fields::Layout;
use isobar_tests::kernels::{EXACT, FLAGS, FUSED};
use serde::Serialize;

use crate::clock::Clock;
use crate::measure::{GENERATED, Measured};

/// The numbers of a run, and where they come from.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    date: Option<String>,
    machine: Machine,
    cc: String,
    flags_by_hand: Vec<String>,
    flags_contracted: &'static str,
    flags_generated: Vec<String>,
    repeats: usize,
    clock: Clock,
    pub(crate) peaks: Vec<Peak>,
    compiled: Vec<Stages>,
    pub(crate) measured: Vec<Measured>,
}

#[derive(Debug, Serialize)]
struct Machine {
    processor: String,
    processors: usize,
    caches: Vec<String>,
    /// Whether large arrays lie in large pages, which is asked of the C library from outside.
    tunables: String,
}

/// How fast the machine computes: billions of operations per second, without and with contraction.
#[derive(Debug, Serialize)]
pub(crate) struct Peak {
    pub(crate) precision: u32,
    pub(crate) threads: u32,
    pub(crate) gflop_s: [f64; 2],
}

#[derive(Debug, Serialize)]
struct Stages {
    kernel: &'static str,
    dtype: String,
    stages: Vec<StageTime>,
}

impl Machine {
    fn of_here() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let caches = (0..8).filter_map(|index| {
            let read = |what: &str| {
                fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}"))
            };
            let (level, kind, size) = (read("level").ok()?, read("type").ok()?, read("size").ok()?);
            Some(format!("L{} {} {}", level.trim(), kind.trim().to_lowercase(), size.trim()))
        });
        Self {
            processor: model.map_or("unknown", |it| it.1).to_owned(),
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            caches: caches.collect(),
            tunables: std::env::var("GLIBC_TUNABLES").unwrap_or_default(),
        }
    }
}

impl Report {
    pub(crate) fn new(date: Option<String>, repeats: usize, clock: Clock) -> Self {
        let owned = |flags: &[&str]| flags.iter().map(|&it| it.to_owned()).collect();
        let mut by_hand: Vec<String> = owned(&FLAGS);
        by_hand.push(EXACT.to_owned());
        Self {
            date,
            machine: Machine::of_here(),
            cc: cc_version(),
            flags_by_hand: by_hand,
            flags_contracted: FUSED,
            flags_generated: owned(&c::FLAGS),
            repeats,
            clock,
            peaks: Vec::new(),
            compiled: Vec::new(),
            measured: Vec::new(),
        }
    }

    pub(crate) fn compiled(&mut self, it: &Compiled) {
        let dtype = format!("f{}", it.precision);
        self.compiled.push(Stages { kernel: it.kernel.name, dtype, stages: it.stages.clone() });
    }

    /// Billions of operations per second that the machine does without contraction.
    pub(crate) fn peak(&self, measured: &Measured) -> Option<f64> {
        let is_it =
            |it: &&Peak| format!("f{}", it.precision) == measured.dtype && it.threads == measured.threads;
        self.peaks.iter().find(is_it).map(|it| it.gflop_s[0])
    }

    /// All tables.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let Machine { processor, processors, caches, tunables } = &self.machine;
        let date = self.date.as_deref().unwrap_or("today");
        let _ = writeln!(
            text,
            "{date}, {processor}, {processors} processors, {}; {}",
            caches.join(", "),
            self.cc
        );
        let _ =
            writeln!(text, "{} rounds, {} time, GLIBC_TUNABLES={tunables}", self.repeats, self.clock.name());
        for it in &self.peaks {
            let [exact, fused] = it.gflop_s;
            let _ = writeln!(
                text,
                "f{}, {}: {exact:.0} GFLOP/s, contracted {fused:.0}",
                it.precision,
                threads(it.threads)
            );
        }
        let mut settings: Vec<_> = self.measured.iter().map(setting).collect();
        settings.dedup();
        settings.sort();
        settings.dedup();
        for at in &settings {
            let here: Vec<&Measured> = self.measured.iter().filter(|it| setting(it) == *at).collect();
            let Some(first) = here.first() else { continue };
            let [i, j, k] = first.domain;
            let _ = writeln!(text, "\n## {}, {i}x{j}x{k}, {}\n", first.dtype, threads(first.threads));
            table(&mut text, &here);
            layouts(&mut text, &here);
            self.roofline(&mut text, &here);
        }
        self.stages(&mut text);
        text
    }

    fn roofline(&self, text: &mut String, here: &[&Measured]) {
        let _ = writeln!(text, "\n| kernel | FLOP/B | roof GFLOP/s | by hand | of roof | openmp | of roof |");
        let _ = writeln!(text, "|---|---:|---:|---:|---:|---:|---:|");
        for it in here.iter().filter(|it| it.operations > 0.0) {
            let (Some(peak), Some(copy)) = (self.peak(it), it.copy()) else { continue };
            let roof = peak.min(it.operations / copy / 1e6);
            let reached = |name| it.median(name).map(|ms| it.operations / ms / 1e6);
            let _ = write!(text, "| {} | {:.2} | {roof:.1} ", it.kernel, it.intensity());
            for name in ["by hand", "openmp"] {
                let _ = match reached(name) {
                    Some(speed) => write!(text, "| {speed:.1} | {:.2} ", speed / roof),
                    None => write!(text, "| | "),
                };
            }
            let _ = writeln!(text, "|");
        }
    }

    fn stages(&self, text: &mut String) {
        let Some(first) = self.compiled.first() else { return };
        let names: Vec<&str> = first.stages.iter().map(|it| it.stage.as_str()).collect();
        let _ = writeln!(text, "\n## Compile time in ms, cold\n");
        let _ = writeln!(text, "| kernel | {} | sum |", names.join(" | "));
        let _ = writeln!(text, "|---|{}---:|", "---:|".repeat(names.len()));
        for it in &self.compiled {
            let _ = write!(text, "| {} {} |", it.kernel, it.dtype);
            for name in &names {
                let ms: f64 = it.stages.iter().filter(|it| it.stage == *name).map(|it| it.ms).sum();
                let _ = write!(text, " {ms:.2} |");
            }
            let sum: f64 = it.stages.iter().map(|it| it.ms).sum();
            let _ = writeln!(text, " {sum:.0} |");
        }
    }
}

impl Measured {
    /// Operations for each byte that must be moved.
    pub(crate) fn intensity(&self) -> f64 {
        self.operations / to_float(self.bytes)
    }
}

fn to_float(n: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let float = n as f64;
    float
}

/// By type, size and threads.
fn setting(it: &Measured) -> (String, [i64; 3], u32) {
    (it.dtype.clone(), it.domain, it.threads)
}

fn threads(n: u32) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}

/// Our back ends that generate code for the processor.
const OURS: [&str; 2] = ["openmp", "rayon"];

fn table(text: &mut String, here: &[&Measured]) {
    let ours: Vec<&str> =
        OURS.into_iter().filter(|name| here.iter().any(|it| it.median(name).is_some())).collect();
    let mut columns = vec!["kernel", "MB", "copy", "by hand", "contracted"];
    for name in &ours {
        columns.extend([name, "GB/s", "of copy", "of hand", "of gt4py"]);
    }
    columns.extend(["best of gt4py", "numpy"]);
    let _ = writeln!(text, "| {} |", columns.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(columns.len() - 1));
    for it in here {
        let ms =
            |name: &str| match it.contestants.iter().find(|it| it.name == name).and_then(|it| it.ms.as_ref())
            {
                Some(ms) => format!("{:.2} ({:.2} to {:.2})", ms.median, ms.interval[0], ms.interval[1]),
                None => String::new(),
            };
        let gt4py = it.best_of_gt4py();
        let mut cells = vec![
            it.kernel.to_owned(),
            format!("{:.1}", to_float(it.bytes) / 1e6),
            plain(it.copy()),
            ms("by hand"),
            plain(it.median("by hand, contracted")),
        ];
        for name in &ours {
            let own = it.median(name);
            let times = |other: Option<f64>| Some(other? / own?);
            cells.push(ms(name));
            cells.push(own.map(|ms| format!("{:.1}", to_float(it.bytes) / ms / 1e6)).unwrap_or_default());
            cells.extend(
                [it.copy(), it.median("by hand"), gt4py.map(|it| it.1)].map(|other| plain(times(other))),
            );
        }
        cells.push(gt4py.map(|(name, ms)| format!("{ms:.2} {name}")).unwrap_or_default());
        cells.push(plain(it.median("numpy")));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    let peers = |it: &str| it.starts_with("gt4py ") || it == "numpy text";
    if here.iter().any(|it| it.contestants.iter().any(|it| peers(&it.name))) {
        text.push('\n');
        for it in here {
            for peer in it.contestants.iter().filter(|it| peers(&it.name)) {
                let ms = peer.ms.as_ref().map(|it| format!("{:.2} ms, ", it.median)).unwrap_or_default();
                let _ = writeln!(text, "- {}, {}: {ms}{}", it.kernel, peer.name, peer.said);
            }
        }
    }
}

/// Writes how fast our back ends are on fields of callers, in milliseconds. In brackets is the time of the
/// hand-written version on fields of the same layout, divided by ours. Where that version does not know the
/// layout, its time on its own layout takes the place.
fn layouts(text: &mut String, here: &[&Measured]) {
    let all: Vec<Layout> = [Layout::AlongI, Layout::AlongK]
        .into_iter()
        .filter(|layout| here.iter().any(|it| it.median(&format!("openmp {}", layout.told())).is_some()))
        .collect();
    if all.is_empty() {
        return;
    }
    let mut columns = vec!["kernel".to_owned(), "by hand".to_owned()];
    columns.extend(all.iter().map(|it| format!("by hand {}", it.told())));
    for name in GENERATED {
        columns.push(name.to_owned());
        columns.extend(all.iter().map(|it| format!("{name} {}", it.told())));
    }
    let _ = writeln!(text, "\n| {} |", columns.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(columns.len() - 1));
    for it in here {
        let by_hand = it.median("by hand");
        let mut cells = vec![it.kernel.to_owned(), plain(by_hand)];
        cells.extend(all.iter().map(|layout| plain(it.median(&format!("by hand {}", layout.told())))));
        for name in GENERATED {
            let mut cell = |name: &str, hand: Option<f64>| {
                let told = it.median(name).map(|ms| {
                    let ratio = hand.map(|hand| format!(" ({:.2})", hand / ms)).unwrap_or_default();
                    format!("{ms:.2}{ratio}")
                });
                cells.push(told.unwrap_or_default());
            };
            cell(name, by_hand);
            for layout in &all {
                let hand = it.median(&format!("by hand {}", layout.told())).or(by_hand);
                cell(&format!("{name} {}", layout.told()), hand);
            }
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}

fn plain(it: Option<f64>) -> String {
    it.map(|it| format!("{it:.2}")).unwrap_or_default()
}

/// One measurement in a line, while others go on.
pub(crate) fn line(it: &Measured) -> String {
    let [i, j, k] = it.domain;
    let mut line = format!("{} {} {i}x{j}x{k} {}:", it.kernel, it.dtype, threads(it.threads));
    for contestant in &it.contestants {
        let _ = match &contestant.ms {
            Some(ms) => write!(line, " {} {:.3}", contestant.name, ms.median),
            None => write!(line, " {} failed", contestant.name),
        };
        if !contestant.said.is_empty() && contestant.said != "same bits" {
            let _ = write!(line, " [{}]", contestant.said);
        }
        line.push(';');
    }
    line
}
