//! One kernel at one size: everybody takes turns.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use isobar_compiler::call::array::Elements;
use isobar_compiler::call::launch::Launch;
use isobar_compiler::space::Domain;
use isobar_tests::agree::handed;
use isobar_tests::kernels::Tolerance;
use isobar_tests::kernels::compiled::{Compiled, Native};
use isobar_tests::kernels::fields::{Fields, Layout};
use isobar_tests::peers::{self, Job, OF_PEERS, Peers};
use serde::Serialize;

use crate::baseline::{Baseline, Copy};
use crate::clock::Clock;
use crate::statistics::Summary;

/// Back ends of gt4py that run here.
const GT4PY: [&str; 4] = ["numpy", "gt:cpu_ifirst", "gt:cpu_kfirst", "dace:cpu"];

/// The text that this compiler makes for NumPy.
const NUMPY_TEXT: &str = "numpy text";

/// Whose result all others are held against.
const MEANT: &str = "openmp";

/// So long before each turn where there are threads.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(20);

/// Those of our back ends that are measured on layouts of callers.
pub(crate) const GENERATED: [&str; 2] = ["openmp", "rayon"];

/// Seconds that all calls of one contestant may take. A slower contestant takes fewer turns.
const PATIENCE: f64 = 12.0;

/// Where and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) domain: Domain,
    pub(crate) threads: u32,
    pub(crate) repeats: usize,
    pub(crate) layouts: &'a [Layout],
    pub(crate) clock: Clock,
    /// Pythons: one with gt4py, and one with NumPy.
    pub(crate) gt4py: Option<&'a Path>,
    pub(crate) numpy: Option<&'a Path>,
    pub(crate) folder: &'a Path,
}

/// The measurement of one kernel.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) kernel: &'static str,
    pub(crate) domain: [i64; 3],
    pub(crate) dtype: String,
    pub(crate) threads: u32,
    /// Bytes that a call has to move, and operations that it has to compute.
    pub(crate) bytes: u64,
    pub(crate) operations: f64,
    pub(crate) contestants: Vec<Contestant>,
}

/// The result of one contestant.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Contestant {
    pub(crate) name: String,
    pub(crate) ms: Option<Summary>,
    /// How its result agrees with that of the back end `openmp`, or why it has none.
    pub(crate) said: String,
    /// Where others built it, the seconds that took; much less where they had kept it.
    pub(crate) built_s: Option<f64>,
}

impl Measured {
    pub(crate) fn median(&self, name: &str) -> Option<f64> {
        self.contestants.iter().find(|it| it.name == name)?.ms.as_ref().map(|it| it.median)
    }

    /// The best of gt4py with its default options.
    pub(crate) fn best_of_gt4py(&self) -> Option<(&str, f64)> {
        let of_gt4py = self.contestants.iter().filter_map(|it| {
            let name = it.name.strip_prefix("gt4py ").filter(|it| !it.contains(' '))?;
            Some((name, it.ms.as_ref()?.median))
        });
        of_gt4py.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The faster of the two copies.
    pub(crate) fn copy(&self) -> Option<f64> {
        let both = ["copy, cached", "copy, streamed"].iter().filter_map(|it| self.median(it));
        both.min_by(f64::total_cmp)
    }
}

/// Somebody who is called.
enum Who<'a> {
    Native(&'a Native),
    /// One of our back ends, by number.
    Ours(usize),
    Copy(Copy),
    /// The hand-written version, or one of our back ends by number, on fields of this layout, by number.
    HandOn(&'a Native, usize),
    OursOn(usize, usize),
    /// By process and number.
    Peer(usize, usize),
}

impl Who<'_> {
    /// Restores the fields that its calls both change and read.
    fn restore(&self, fields: &mut Fields, laid: &mut [Fields]) {
        match self {
            Who::HandOn(_, at) | Who::OursOn(_, at) => laid[*at].restore(),
            _ => fields.restore(),
        }
    }

    /// Which of our back ends it is.
    fn number(&self) -> usize {
        match self {
            Who::Ours(number) => *number,
            _ => 0,
        }
    }
}

struct Turn<'a> {
    who: Who<'a>,
    /// It takes part in every so many rounds.
    every: usize,
    times: Vec<f64>,
    told: Contestant,
}

impl<'a> Turn<'a> {
    fn new(name: &str, who: Who<'a>) -> Self {
        let told = Contestant { name: name.to_owned(), ms: None, said: String::new(), built_s: None };
        Self { who, every: 1, times: Vec::new(), told }
    }
}

pub(crate) fn measure(
    compiled: &Compiled,
    baseline: &Baseline,
    given: &Launch,
    setting: &Setting<'_>,
) -> Result<Measured> {
    let bytes = compiled.traffic_bytes(setting.domain);
    let signature = &compiled.signature;
    let mut fields = Fields::aligned(given, signature);
    let mut arrays = baseline.to_copy(bytes);
    let mut turns = vec![
        Turn::new("copy, cached", Who::Copy(Copy::Plain)),
        Turn::new("copy, streamed", Who::Copy(Copy::Streamed)),
        Turn::new("by hand", Who::Native(&compiled.hand)),
        Turn::new("by hand, contracted", Who::Native(&compiled.fused)),
    ];
    let mut ours = compiled.back_ends(setting.threads)?;
    turns.extend(ours.iter().enumerate().map(|(number, (name, _))| Turn::new(name, Who::Ours(number))));
    let mut laid: Vec<Fields> =
        setting.layouts.iter().map(|it| Fields::of_layout(given, signature, *it)).collect();
    for (at, layout) in setting.layouts.iter().enumerate() {
        let on = |name: &str| format!("{name} {}", layout.told());
        // Rows along i may start anywhere.
        let by_hand = match layout {
            Layout::AlongI => Some(&compiled.hand),
            Layout::AlongK => compiled.hand_along_k.as_ref(),
        };
        turns.extend(by_hand.map(|it| Turn::new(&on("by hand"), Who::HandOn(it, at))));
        for (number, (name, _)) in ours.iter().enumerate().filter(|it| GENERATED.contains(&it.1.0)) {
            turns.push(Turn::new(&on(name), Who::OursOn(number, at)));
        }
    }
    let mut processes = Vec::new();
    for (python, names, prefix) in
        [(setting.numpy, vec![NUMPY_TEXT.to_owned()], ""), (setting.gt4py, gt4py(compiled), "gt4py ")]
    {
        let Some(python) = python else { continue };
        let folder = setting.folder.join(format!("peers-{}", prefix.trim()));
        let source = setting.folder.join("peers-source");
        handed::write_files(&compiled.project, &source)?;
        let job = Job {
            project: &compiled.project,
            source: &source,
            config: &compiled.config,
            compilation: &compiled.compilation,
            launch: given,
            threads: setting.threads,
            clock: setting.clock.name(),
            contestants: names,
        };
        let process = Peers::start(python, &folder, &setting.folder.join("gt4py"), &job, &|_, _| ())?;
        let meant = meant(compiled, given)?;
        for (number, (name, built)) in process.built.iter().enumerate() {
            let mut turn = Turn::new(&format!("{prefix}{name}"), Who::Peer(processes.len(), number));
            match built {
                Ok(seconds) => {
                    turn.told.built_s = Some(*seconds);
                    let agreement = peers::agreement(&folder, number, signature, given, &meant)?;
                    turn.told.said = agreement.map_or_else(|why| why, |it| it.told().to_owned());
                }
                Err(why) => turn.told.said.clone_from(why),
            }
            turns.push(turn);
        }
        processes.push(process);
    }

    // The result of `openmp` is that of the interpreter, as was checked at a smaller size.
    let mut meant: Vec<(usize, Elements)> = Vec::new();
    let mut call = |who: &Who<'_>, fields: &mut Fields, laid: &mut [Fields]| -> Result<f64> {
        let done = match who {
            Who::Native(native) => {
                setting.clock.time(|| native.call(signature, &mut fields.launch, setting.threads))
            }
            Who::Ours(number) => {
                let ran = setting.clock.time(|| ours[*number].1.run(&mut fields.launch));
                ran.map_err(|why| format!("{why:?}"))
            }
            Who::HandOn(native, at) => {
                let launch = &mut laid[*at].launch;
                setting.clock.time(|| native.call(signature, launch, setting.threads))
            }
            Who::OursOn(number, at) => {
                let ran = setting.clock.time(|| ours[*number].1.run(&mut laid[*at].launch));
                ran.map_err(|why| format!("{why:?}"))
            }
            Who::Copy(how) => setting.clock.time(|| baseline.copy(*how, &mut arrays, setting.threads)),
            Who::Peer(process, number) => return processes[*process].call(*number),
        };
        done.map_err(|why| anyhow::anyhow!(why))
    };
    fields.spoil();
    let openmp = turns.iter().find(|it| it.told.name == MEANT).context("it is one of ours")?;
    call(&openmp.who, &mut fields, &mut laid)?;
    let meant_by = openmp.who.number();
    meant.extend(fields.written().map(|(at, it)| (at, it.clone())));
    for turn in &mut turns {
        if matches!(&turn.who, Who::Peer(..)) && turn.told.built_s.is_none() {
            continue;
        }
        fields.spoil();
        laid.iter_mut().for_each(Fields::spoil);
        let begun = Instant::now();
        call(&turn.who, &mut fields, &mut laid)?;
        let took = begun.elapsed().as_secs_f64() * 2.0;
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "they are few"
        )]
        {
            turn.every = ((took * setting.repeats as f64 / PATIENCE).ceil() as usize)
                .clamp(1, setting.repeats.div_ceil(5));
        }
        let tolerance = match &turn.who {
            Who::Native(it) if std::ptr::eq(*it, &raw const compiled.fused) => OF_PEERS,
            Who::Native(_) => compiled.kernel.tolerance,
            Who::Ours(_) => Tolerance::Bits,
            Who::Copy(_) | Who::Peer(..) => continue,
            Who::HandOn(_, at) | Who::OursOn(_, at) => {
                fields.spoil();
                call(&Who::Ours(meant_by), &mut fields, &mut laid)?;
                turn.told.said =
                    laid[*at].compare_with(&fields, given).err().unwrap_or_else(|| "same bits".to_owned());
                continue;
            }
        };
        turn.told.said = match fields.compare(&meant, tolerance) {
            Ok(it) => it.told().to_owned(),
            Err(why) => why,
        };
    }
    let mut order: Vec<usize> = (0..turns.len()).collect();
    let mut seed = 1;
    for round in 0..setting.repeats {
        // Each round has another order.
        shuffle(&mut order, &mut seed);
        for &at in &order {
            let turn = &mut turns[at];
            if round % turn.every != 0 || matches!(&turn.who, Who::Peer(..)) && turn.told.built_s.is_none() {
                continue;
            }
            // The threads of OpenMP look for work for a while after a call, and would take the processor from others'.
            if setting.threads > 1 {
                std::thread::sleep(PAUSE);
            }
            // A process of Python does both calls itself.
            if !matches!(turn.who, Who::Peer(..)) {
                turn.who.restore(&mut fields, &mut laid);
                call(&turn.who, &mut fields, &mut laid)?;
                turn.who.restore(&mut fields, &mut laid);
            }
            turn.times.push(call(&turn.who, &mut fields, &mut laid)? * 1e3);
        }
    }
    let contestants = turns.into_iter().map(|turn| Contestant { ms: Summary::of(&turn.times), ..turn.told });
    let Domain { i, j, k } = setting.domain;
    #[expect(clippy::cast_precision_loss, reason = "no domain has so many points")]
    let operations = setting.domain.points() as f64 * compiled.kernel.operations;
    Ok(Measured {
        kernel: compiled.kernel.name,
        domain: [i, j, k],
        dtype: format!("f{}", compiled.precision),
        threads: setting.threads,
        bytes,
        operations,
        contestants: contestants.collect(),
    })
}

fn gt4py(compiled: &Compiled) -> Vec<String> {
    GT4PY.iter().chain(compiled.kernel.peers).map(|&it| it.to_owned()).collect()
}

/// Returns the fields that `openmp` computes, where they lie as they are given.
fn meant(compiled: &Compiled, given: &Launch) -> Result<Fields> {
    let mut launch = given.clone();
    let mut ours = compiled.back_ends(1)?;
    let (_, openmp) = ours.iter_mut().find(|(name, _)| *name == MEANT).context("it is one of ours")?;
    openmp.run(&mut launch).map_err(|why| anyhow::anyhow!("{why:?}"))?;
    Ok(Fields::of(launch, &compiled.signature))
}

/// Another order, which `seed` decides.
fn shuffle(order: &mut [usize], seed: &mut u64) {
    for last in (1..order.len()).rev() {
        // Knuth's generator for 64 bits. Its upper bits are good.
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (*seed >> 33) % (last as u64 + 1);
        order.swap(last, usize::try_from(at).unwrap_or_default());
    }
}
