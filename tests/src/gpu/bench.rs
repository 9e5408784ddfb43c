//! How long kernels take on a GPU: back ends and CUDA by hand in turn, round after round, against its own copies.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::inputs::{self, Rows, Workers};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_protocol::bench::gigabytes_per_second;
use isobar_runner::backends::events::milliseconds;
use isobar_runner::backends::{Backend, Prepared, RunThreads, Setting, prepare_compiled};
use isobar_runtime::Device;
use isobar_runtime::device::DeviceMemory;
use isobar_runtime::executors::cuda::device::CudaDevice;
use isobar_runtime::executors::cuda::gpu::Gpu;
use isobar_runtime::executors::cuda::written::{self, HandWrittenModule, LaunchShape};
use serde::{Deserialize, Serialize};

use super::hand::{Given, Hand, Planned};
use super::{Stencil, model_of};
use crate::against::same_fields;

/// The least, the middle and the greatest of some figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// None where there are no figures.
    #[must_use]
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut all: Vec<f64> = figures.into_iter().filter(|it| it.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        let (n, (&min, &max)) = (all.len(), all.first().zip(all.last())?);
        let median = if n % 2 == 1 { all[n / 2] } else { f64::midpoint(all[n / 2 - 1], all[n / 2]) };
        Some(Self { min, median, max })
    }
}

/// A kernel of one element type on one domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    pub kernel: String,
    pub precision: u32,
    pub domain: [i64; 3],
    /// The least bytes that a call has to move: each input read once, each output written once.
    pub bytes: u64,
    pub rounds: u32,
    pub measured: Vec<Measured>,
    /// How many times as fast one is as another, round for round.
    pub ratios: Vec<Ratio>,
    /// The measurements that were not made, and why.
    pub absent: Vec<Absent>,
}

/// The measurements of a back end, or of CUDA by hand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub who: String,
    /// Of the kernels of a call, by the clock of the device.
    pub device_ms: Option<Spread>,
    /// From when a call begins until its end is known, by the clock of the host.
    pub call_ms: Spread,
    /// By the device's clock, or the host's where the device tells no time.
    pub gb_per_s: Option<Spread>,
    /// The same as a part of the fastest copy within the device's memory.
    pub of_copy: Option<Spread>,
    /// Copies, read and written.
    pub copy_gb_per_s: Option<Spread>,
    /// Whether one call leaves the bits of `rayon`; what differs where it does not.
    pub wrong: Option<String>,
}

/// 1 is as fast, 2 twice as fast.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ratio {
    pub of: String,
    pub to: String,
    pub speed: Spread,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Absent {
    pub who: String,
    pub why: String,
}

/// The name of CUDA by hand in reports.
pub const HAND: &str = "hand-written CUDA";

/// Threads that make the fields and compute what is expected.
const THREADS: u32 = 8;

/// CUDA by hand, with its fields on the GPU.
#[derive(Debug)]
pub struct OnGpu {
    planned: Planned,
    written: HandWrittenModule,
    memories: Vec<Box<dyn DeviceMemory>>,
}

impl OnGpu {
    /// Compiles a kernel, and puts its fields on the GPU.
    ///
    /// # Errors
    ///
    /// Where there is no GPU, or it does not take them.
    pub fn new(hand: &Hand, planned: Planned) -> Result<Self> {
        let device = CudaDevice(Gpu::here()?);
        let written =
            HandWrittenModule::new(&hand.text(), &[&planned.kernel]).map_err(|it| anyhow!("{it:?}"))?;
        let mut memories = Vec::new();
        for bytes in &planned.buffers {
            let put = device.allocate(bytes.len()).and_then(|mut memory| {
                memory.write(0, bytes)?;
                Ok(memory)
            });
            memories.push(put.map_err(|it| anyhow!("{it:?}"))?);
        }
        Ok(Self { planned, written, memories })
    }

    /// Launches it once; answers the milliseconds that the GPU took.
    ///
    /// # Errors
    ///
    /// The message of the driver.
    pub fn launch(&mut self) -> Result<f64> {
        let Planned { blocks, threads, shared_bytes, arguments, .. } = &self.planned;
        let shape = LaunchShape { blocks: *blocks, threads: *threads, shared_bytes: *shared_bytes };
        let mut memories: Vec<Option<&mut Box<dyn DeviceMemory>>> =
            self.memories.iter_mut().map(Some).collect();
        let mut given = Vec::new();
        for it in arguments {
            given.push(match *it {
                Given::Bits(bits) => written::KernelArgument::Bits(bits),
                Given::Buffer { at, byte } => {
                    let memory = memories.get_mut(at).and_then(Option::take);
                    let memory = memory.context("each buffer is one argument")?;
                    written::KernelArgument::Memory(memory.as_mut(), byte)
                }
            });
        }
        // SAFETY: `Hand::planned` made the arguments for this kernel. Its buffers have as much around the
        // domain as the kernel reads and writes, which the emulation of the same launch checks.
        #[expect(unsafe_code, reason = "kernels by hand are launched here")]
        let launched = unsafe { self.written.launch(0, shape, &mut given) };
        launched.map_err(|it| anyhow!("{it:?}"))
    }

    /// Takes what it left into a launch of the stencil.
    ///
    /// # Errors
    ///
    /// The message of the driver.
    pub fn bring(&self, launch: &mut Launch) -> Result<()> {
        let memory = &self.memories[self.planned.written()];
        let mut left = vec![0; memory.bytes()];
        memory.read(0, &mut left).map_err(|it| anyhow!("{it:?}"))?;
        self.planned.bring(&left, launch)
    }
}

/// A back end or CUDA by hand, with its times.
struct Contestant {
    who: String,
    work: Work,
    device: Option<Arc<dyn Device>>,
    device_ms: Vec<f64>,
    call_ms: Vec<f64>,
    wrong: Option<String>,
}

enum Work {
    Stencil { prepared: Prepared, launch: Launch },
    Hand(OnGpu),
}

impl Contestant {
    fn new(who: &str, work: Work, device: Option<Arc<dyn Device>>, wrong: Option<String>) -> Self {
        let (device_ms, call_ms) = (Vec::new(), Vec::new());
        Self { who: who.to_owned(), work, device, device_ms, call_ms, wrong }
    }

    fn call(&mut self) -> Result<()> {
        let begun = Instant::now();
        let told = match &mut self.work {
            Work::Stencil { prepared, launch } => {
                prepared.run(launch).map_err(|it| anyhow!("{it:?}"))?;
                None
            }
            Work::Hand(it) => Some(it.launch()?),
        };
        let by_host = milliseconds(begun.elapsed());
        let told = told.or_else(|| match &self.work {
            Work::Stencil { prepared, .. } => {
                let steps = prepared.progress().step_ms();
                (!steps.is_empty()).then(|| steps.iter().sum())
            }
            Work::Hand(_) => None,
        });
        self.call_ms.push(by_host);
        self.device_ms.extend(told);
        Ok(())
    }

    /// The times that count: of the device where it tells each.
    fn times(&self) -> &[f64] {
        if self.device_ms.len() == self.call_ms.len() { &self.device_ms } else { &self.call_ms }
    }

    fn measured(&self, bytes: u64) -> Measured {
        let rate = |ms: &f64| gigabytes_per_second(bytes, *ms);
        let copies = self.device.as_ref().and_then(|it| it.copies().ok());
        let best = copies.as_ref().map(|it| it.rate().bytes_per_s / 1e9);
        let rates = || self.times().iter().filter_map(rate);
        Measured {
            who: self.who.clone(),
            device_ms: Spread::of(self.device_ms.iter().copied()),
            call_ms: Spread::of(self.call_ms.iter().copied()).unwrap_or_default(),
            gb_per_s: Spread::of(rates()),
            of_copy: best.and_then(|best| Spread::of(rates().map(|it| it / best))),
            copy_gb_per_s: copies
                .and_then(|it| Spread::of(it.ms.iter().filter_map(|ms| gigabytes_per_second(it.bytes, *ms)))),
            wrong: self.wrong.clone(),
        }
    }
}

/// Measures a stencil on some back ends, and by hand where it is written and CUDA is among them.
///
/// # Errors
///
/// Where it cannot even be computed on the host. A back end that fails is told among those that are absent.
pub fn measure(
    stencil: &Stencil,
    precision: u32,
    domain: Domain,
    rounds: u32,
    backends: &[Backend],
) -> Result<Case> {
    let on_host = stencil.compiled(precision, None)?;
    let signature = on_host.front.signature.as_ref().context("there is no signature")?;
    let bytes = signature.compulsory_bytes(domain);
    let given = fields(&on_host, domain)?;
    let mut meant = given.clone();
    let rayon = Backend::RAYON.executor();
    let setting = Setting { threads: THREADS, ..Setting::embedded() };
    let done = prepare_compiled(&*rayon, &on_host, setting, &|_| ()).and_then(|mut it| it.run(&mut meant));
    done.map_err(|it| anyhow!("{it:?}"))?;
    let agreed = |found: &Launch| same(&on_host, &meant, found).err().map(|it| shortened(&it));

    let (mut contestants, mut absent) = (Vec::new(), Vec::new());
    let mut add = |who: &str, made: Result<Contestant>| match made {
        Ok(it) => contestants.push(it),
        Err(why) => absent.push(Absent { who: who.to_owned(), why: shortened(&why) }),
    };
    for &backend in backends {
        add(backend.name(), of_backend(backend, stencil, precision, &given, &agreed));
    }
    if let Some(hand) = Hand::of(stencil.name).filter(|_| backends.contains(&Backend::CUDA)) {
        let made = hand.planned(&on_host, &given, precision).and_then(|planned| {
            let mut on_gpu = OnGpu::new(hand, planned)?;
            on_gpu.launch()?;
            let mut found = given.clone();
            on_gpu.bring(&mut found)?;
            let device: Arc<dyn Device> = Arc::new(CudaDevice(Gpu::here()?));
            Ok(Contestant::new(HAND, Work::Hand(on_gpu), Some(device), agreed(&found)))
        });
        add(HAND, made);
    }
    drop((given, meant));

    // Calls that do not count: a graph is made of the second, and clocks rise.
    for _ in 0..3 {
        contestants.iter_mut().try_for_each(Contestant::call)?;
    }
    for it in &mut contestants {
        it.call_ms.clear();
        it.device_ms.clear();
    }
    for _ in 0..rounds {
        if !contestants.is_empty() {
            contestants.rotate_left(1);
        }
        contestants.iter_mut().try_for_each(Contestant::call)?;
    }
    contestants.sort_by(|one, other| one.who.cmp(&other.who));
    let mut ratios = Vec::new();
    for (of, to) in [("wgpu", "cuda"), ("cuda", HAND), ("wgpu", HAND)] {
        let find = |who: &str| contestants.iter().find(|it| it.who == who);
        let (Some(one), Some(other)) = (find(of), find(to)) else { continue };
        let speeds = one.times().iter().zip(other.times()).map(|(one, other)| other / one);
        ratios.extend(Spread::of(speeds).map(|speed| Ratio { of: of.into(), to: to.into(), speed }));
    }
    let measured = contestants.iter().map(|it| it.measured(bytes)).collect();
    let Domain { i, j, k } = domain;
    let (kernel, domain) = (stencil.name.to_owned(), [i, j, k]);
    Ok(Case { kernel, precision, domain, bytes, rounds, measured, ratios, absent })
}

/// A back end that has been called once, and whose fields stay on the GPU from then on.
fn of_backend(
    backend: Backend,
    stencil: &Stencil,
    precision: u32,
    given: &Launch,
    agreed: &dyn Fn(&Launch) -> Option<String>,
) -> Result<Contestant> {
    let executor = backend.executor();
    let compilation = stencil.compiled(precision, model_of(backend))?;
    let failed = |it| anyhow!("{it:?}");
    let mut prepared =
        prepare_compiled(&*executor, &compilation, Setting::embedded(), &|_| ()).map_err(failed)?;
    let mut launch = given.clone();
    prepared.run(&mut launch).map_err(failed)?;
    let wrong = agreed(&launch);
    launch.clone_from(given);
    prepared.keep(&launch).map_err(failed)?;
    let device = executor.device();
    Ok(Contestant::new(backend.name(), Work::Stencil { prepared, launch }, device, wrong))
}

/// The fields that the text itself describes, made on several threads.
fn fields(compilation: &Compilation, domain: Domain) -> Result<Launch> {
    let signature = compilation.front.signature.as_ref().context("there is no signature")?;
    let near = RunThreads::of(THREADS);
    let workers: &dyn Workers = &near;
    let call = inputs::call_with(
        signature,
        &compilation.front.directives,
        domain,
        Rows::AtLines { bytes: 128 },
        workers,
    );
    compilation.front.bind(call).map_err(|it| anyhow!("{it:#?}"))
}

/// Whether both hold the same, which is looked at closely only where their bytes differ.
fn same(compilation: &Compilation, meant: &Launch, found: &Launch) -> Result<()> {
    let is_same = meant.arguments.iter().zip(&found.arguments).all(|both| match both {
        (Argument::Field(meant), Argument::Field(found)) => {
            meant.array.elements.to_le_bytes() == found.array.elements.to_le_bytes()
        }
        _ => true,
    });
    if is_same { Ok(()) } else { same_fields(compilation, meant, found) }
}

fn shortened(why: &anyhow::Error) -> String {
    format!("{why:#}").chars().take(2000).collect()
}
