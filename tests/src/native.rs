//! The back ends of the runner beside `debug`: generated stencils on domains, layouts and machines of all kinds.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};
use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::signature::{Param, ParamKind};
use isobar_compiler::pass::{Cache, Device, GpuForm, GpuModel, MachineModel, PassOptions};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::{Axis, Domain};
use isobar_runner::backends::{AvailableTools, Backend, CCompiler, Mode, Relayout, Setting, Vectors};
use isobar_runner::config::{Environment, Tools};

use crate::against::native_gives_the_bits_of_debug;
use crate::agree::prepare::call;
use crate::agree::subject::Subject;
use crate::generate::Features;
use crate::generate::random::Random;
use crate::levels::{DOMAINS, Held};

/// Domains with rows for vectors: some whole vectors and a rest, one point less than a whole vector, a single
/// row. One domain has more rows than a tile.
pub(crate) const WIDE: [Domain; 6] = [
    Domain { i: 37, j: 3, k: 4 },
    Domain { i: 16, j: 5, k: 3 },
    Domain { i: 15, j: 2, k: 5 },
    Domain { i: 70, j: 1, k: 2 },
    Domain { i: 19, j: 67, k: 2 },
    Domain { i: 65, j: 4, k: 3 },
];

/// Returns the parameters of a compiled stencil; none where it did not compile so far.
#[must_use]
pub fn params(compilation: &Compilation) -> &[Param] {
    compilation.front.signature.as_ref().map_or(&[], |it| &it.params)
}

/// How the arrays of a call lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Neighbours along the first dimension side by side.
    Fortran,
    /// Neighbours along the last dimension side by side.
    C,
    /// As [`Layout::Fortran`], with room behind each row that belongs to nobody.
    Padded,
    /// Every second field as [`Layout::C`].
    Mixed,
    /// Neighbours along J side by side.
    J,
    /// Every second field as [`Layout::C`], each from its last element to its first along some dimensions.
    Backwards,
    /// Fields that are only read have the same elements at all positions along one dimension.
    Broadcast,
}

impl Layout {
    /// Returns the layout of a seed. It always draws as many random numbers, so that later draws do not
    /// depend on the layout.
    pub(crate) fn of_seed(seed: u64, random: &mut Random) -> Self {
        let common = *random.pick(&[Layout::Fortran, Layout::C, Layout::Padded, Layout::Mixed]);
        match seed % 11 {
            3 => Layout::J,
            4 => Layout::Backwards,
            5 => Layout::Broadcast,
            _ => common,
        }
    }

    /// The same arrays, lying so; where elements are the same for all positions, they are those of the first.
    #[must_use]
    pub fn of(self, launch: &Launch, params: &[Param]) -> Launch {
        let mut other = launch.clone();
        for (at, (argument, param)) in other.arguments.iter_mut().zip(params).enumerate() {
            let Argument::Field(field) = argument else { continue };
            let ParamKind::Field { axes, .. } = &param.kind else { continue };
            let n = field.array.shape.len();
            let mut place = Place { order: (0..n).collect(), beside: 0, backwards: Vec::new(), same: None };
            match self {
                Layout::Fortran => {}
                Layout::C => place.order.reverse(),
                Layout::Padded => place.beside = 3,
                Layout::Mixed | Layout::Backwards if at % 2 == 1 => place.order.reverse(),
                Layout::Mixed | Layout::Backwards => {}
                Layout::J => {
                    if let Some(j) = axes.iter().position(|it| it == Axis::J) {
                        place.order.swap(0, j);
                    }
                }
                Layout::Broadcast if !param.access.is_written() && n > 0 => place.same = Some(at % n),
                Layout::Broadcast => {}
            }
            if self == Layout::Backwards {
                place.backwards = (0..n).filter(|dimension| (at / 2 + dimension) % 2 == 0).collect();
            }
            field.array = place.lay(&field.array);
        }
        other
    }
}

/// How the dimensions of an array lie.
struct Place {
    /// From the nearest to the farthest.
    order: Vec<usize>,
    /// So many elements of nobody behind each row.
    beside: usize,
    /// Along these the last element comes first.
    backwards: Vec<usize>,
    /// Along this one all elements are the first.
    same: Option<usize>,
}

impl Place {
    /// The same values, lying so.
    fn lay(&self, old: &Array) -> Array {
        let mut strides = vec![0; old.shape.len()];
        let mut n = 1;
        for &at in self.order.iter().filter(|at| self.same != Some(**at)) {
            strides[at] = n as i64;
            n *= old.shape[at] + if n == 1 { self.beside } else { 0 };
        }
        let mut first = 0;
        for &at in &self.backwards {
            first += strides[at] * old.shape[at].saturating_sub(1) as i64;
            strides[at] = -strides[at];
        }
        let first = usize::try_from(first).unwrap_or(0);
        let mut new =
            Array { elements: Elements::zeros(old.dtype(), n), first, shape: old.shape.clone(), strides };
        // From the last to the first, so that of those that share a place the first stays.
        let all: Vec<Vec<usize>> = old.indices().collect();
        for index in all.into_iter().rev() {
            let at = new.position(&index);
            new.elements.set(at, old.get(&index));
        }
        new
    }
}

/// A back end that makes code of schedules, by its name.
///
/// # Errors
///
/// When there is none.
pub fn named(name: &str) -> Result<Backend> {
    let is_one = |it: &Backend| it.follows_schedules() || it.is_on_gpu();
    let mut known = Backend::ALL.into_iter().filter(is_one);
    known
        .find(|it| it.name() == name)
        .with_context(|| format!("no back end `{name}` makes code of schedules"))
}

/// This machine, for which the schedules of runs are made.
#[must_use]
pub fn machine_of(tools: &Tools) -> MachineModel {
    (&tools.machine).into()
}

/// The tools and folders with which back ends get ready here; its files are removed with it.
#[derive(Debug)]
pub struct Workplace {
    cc: Result<CCompiler, String>,
    machine: MachineModel,
    folder: PathBuf,
    cache: PathBuf,
}

impl Workplace {
    /// In a new folder, and with the C compiler that `CC` or `PATH` tells.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made, or is there already.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let environment = Environment {
            path: std::env::var_os("PATH").unwrap_or_default(),
            cc: std::env::var("CC").ok(),
            ..Environment::default()
        };
        let cache = folder.join("cache");
        for it in [folder, &cache] {
            // Code is kept only where nobody else can write.
            DirBuilder::new().mode(0o700).create(it)?;
        }
        let tools = Tools::find(&environment);
        let machine = machine_of(&tools);
        Ok(Self { cc: tools.cc, machine, folder: folder.to_owned(), cache })
    }

    /// In a new folder below `folder`, another one for each call.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn below(folder: &str, name: &str) -> io::Result<Self> {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        Self::new(&Path::new(folder).join(format!("{name}-{}-{number}", std::process::id())))
    }

    /// In a folder of this process among those of the system for what is needed for a while.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn temporary() -> io::Result<Self> {
        Self::new(&std::env::temp_dir().join(format!("isobar-native-{}", std::process::id())))
    }

    /// Whether a back end can run here.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn check(&self, backend: Backend) -> Result<(), String> {
        backend.check(&AvailableTools { cc: &self.cc }).map_err(|why| why.to_string())
    }

    /// This machine, for which the schedules of runs are made.
    #[must_use]
    pub fn machine(&self) -> MachineModel {
        self.machine.clone()
    }

    /// A run whose bits are those of `debug`, on one thread. Compiled code is kept until [`Self::forget`].
    #[must_use]
    pub fn setting(&self) -> Setting<'_> {
        Setting {
            cc: &self.cc,
            cache: Some(&self.cache),
            temporary: &self.folder,
            threads: 1,
            mode: Mode::Reproducible,
            vectors: Vectors::Widest,
            relayout: Relayout::ByCost,
            has_lines: false,
            is_embedded: false,
        }
    }

    /// Removes compiled code.
    ///
    /// # Errors
    ///
    /// When it cannot be removed.
    pub fn forget(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.cache)?;
        DirBuilder::new().mode(0o700).create(&self.cache)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Files that stay behind lie in a folder that the system or the build empties.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Compares a back end with the meaning of a seed's stencil. The schedule is for a machine with large or with
/// tiny caches. The domains are a small one and one with rows of vectors, and 1, 2 and 7 threads run.
///
/// # Errors
///
/// The difference, with the seed, the text of the stencil, the domain, the layout and the threads.
pub fn hold_native(seed: u64, backend: Backend, workplace: &Workplace) -> Result<Held> {
    let mut subject = Subject::of_seed_with(seed, |it| Features { partial: seed.is_multiple_of(3), ..it });
    // Not the numbers that the text is made of.
    let mut random = Random::new(!seed);
    let layout = Layout::of_seed(seed, &mut random);
    let passes = &mut subject.config.passes;
    // Without a number of its own, so that what a seed is stays the same.
    let vector_bytes = if matches!(seed % 7, 1 | 6) { 32 } else { 64 };
    passes.machine = random.pick(&[None, Some(tiny_machine(seed, vector_bytes)), Some(one_core())]).clone();
    if layout == Layout::C && random.chance(50) {
        passes.contiguous = Axis::K;
    }
    // As for the GPU that is found, as for the one that is taken where none is, or in each form in turn.
    match seed % 4 {
        _ if !backend.is_on_gpu() => {}
        0 => passes.gpu = backend.executor().device().and_then(|it| it.model()),
        1 => {}
        _ => {
            let found = backend.executor().device().and_then(|it| it.model()).unwrap_or(GpuModel::H100);
            shape_of_seed(seed / 2, &[GpuModel::H100, GpuModel::WEBGPU, found], passes);
        }
    }
    let domains = [*random.pick(&DOMAINS), *random.pick(&WIDE)];
    if [Backend::WGPU, Backend::CUDA].contains(&backend) {
        // Kernels for these models fit into the least shared memory that there is.
        shape_of_seed(seed, &[GpuModel::WEBGPU, GpuModel::LAVAPIPE], passes);
    }
    let compilation = subject.compile();
    let text = subject.project.main_id().map_or("", |it| subject.project.text(it));
    let in_context = || format!("{} {layout:?}, {:?}\n{text}", subject.name, subject.config.passes);
    ensure!(!compilation.has_errors(), "{:#?}\n{}", compilation.notes.diagnostics, in_context());
    let signature =
        compilation.front.signature.as_ref().context("a compilation without errors has a signature")?;
    let mut launches = Vec::new();
    for domain in domains {
        let domain = Domain::new(domain.i, domain.j, domain.k.max(signature.min_levels));
        let on_domain = Subject { domain, ..subject.clone() };
        // A domain that is too small for the stencil is refused, and so is tested elsewhere.
        let Ok(launch) = compilation.front.bind(call(&on_domain, &compilation, signature)?) else { continue };
        launches.push(layout.of(&launch, &signature.params));
    }
    // Small fields are not copied unless that is asked for.
    let relayout = match seed % 5 {
        0 => Relayout::Copies,
        1 => Relayout::Turns,
        2 => Relayout::Slabs,
        _ => Relayout::ByCost,
    };
    let setting = Setting { relayout, ..workplace.setting() };
    native_gives_the_bits_of_debug(backend, &compilation, &launches, setting).with_context(in_context)
}

/// Makes a compilation one for a GPU, of each model and in each form in turn.
pub(crate) fn shape_of_seed(seed: u64, models: &[GpuModel], passes: &mut PassOptions) {
    let pick = |n: usize, by: u64| usize::try_from(seed / by % n as u64).unwrap_or(0);
    let form = pick(GpuForm::ALL.len() + 1, 1);
    passes.device = Device::Gpu;
    passes.gpu_form = GpuForm::ALL.get(form).copied();
    passes.gpu = Some(models[pick(models.len(), GpuForm::ALL.len() as u64 + 1)]);
}

/// Caches that a few rows fill, so that there are tiles and rings also on small domains. Some rows are
/// written past the caches: in pieces with vectors of 32 bytes, and otherwise as a whole.
///
/// Of parts of rows with all their levels, the smallest of these caches hold three arrays, and the largest eighteen.
fn tiny_machine(seed: u64, vector_bytes: u32) -> MachineModel {
    let second = [4, 64, 128][usize::try_from(seed / 2 % 3).unwrap_or(0)] << 10;
    let caches = vec![Cache { bytes: 1 << 10, cores: 1 }, Cache { bytes: second, cores: 1 }];
    MachineModel { cores: 4, caches, line_bytes: 64, vector_bytes }
}

/// A core of today by itself.
fn one_core() -> MachineModel {
    let caches = vec![Cache { bytes: 32 << 10, cores: 1 }, Cache { bytes: 1 << 20, cores: 1 }];
    MachineModel { cores: 1, caches, line_bytes: 64, vector_bytes: 32 }
}
