//! Generated stencils through every level, every pass and every interpreter.

use std::path::Path;
use std::slice;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use isobar_compiler::call::run::NoControl;
use isobar_compiler::numpy;
use isobar_compiler::oir::Stencil;
use isobar_compiler::pass::{Cache, GpuForm, GpuModel, MachineModel};
use isobar_compiler::pipeline::{Compilation, Stage};
use isobar_compiler::schedule::analysis::cost::Machine;
use isobar_compiler::schedule::passes::Target;
use isobar_compiler::space::{Axis, Domain};
use isobar_compiler::{gtir, loops, oir, schedule, sdfg, target};
use isobar_equivalence::compare::{ReferenceRun, RunDifference, compare};
use isobar_equivalence::journey::{Journey, Level};
use isobar_equivalence::run::Stop;
use isobar_runner::backends::{Backend, Mode, Relayout, Setting, Vectors};

use crate::against::{native_gives_the_bits_of_debug, numpy_gives_the_bits_of_debug};
use crate::agree::prepare::call;
use crate::agree::subject::Subject;
use crate::generate::Features;

/// An ordinary domain; the smallest one; those that intervals and regions fill, overlap or exceed; and one of more
/// rows than a tile has.
pub(crate) const DOMAINS: [Domain; 8] = [
    Domain { i: 5, j: 4, k: 6 },
    Domain { i: 1, j: 1, k: 1 },
    Domain { i: 1, j: 3, k: 4 },
    Domain { i: 4, j: 1, k: 2 },
    Domain { i: 2, j: 2, k: 3 },
    Domain { i: 3, j: 7, k: 1 },
    Domain { i: 2, j: 70, k: 3 },
    Domain { i: 9, j: 2, k: 9 },
];

/// Rows of two tiles of eight points, and a rest.
const SEVERAL_TILES: Domain = Domain { i: 19, j: 3, k: 4 };

/// Returns a target whose schedule differs from that for a CPU with arrays contiguous along i. Seeds choose
/// other layouts, caches that hold a part of a row, and GPUs with each form of launches in turn.
fn other(seed: u64) -> &'static Target {
    let turn = usize::try_from(seed / 5).unwrap_or(0);
    match seed % 5 {
        1 => &FOR_LAYOUTS[0],
        2 => &FOR_LAYOUTS[1],
        4 => &FOR_CACHES[turn % FOR_CACHES.len()],
        _ => &FOR_GPUS[turn % FOR_GPUS.len()],
    }
}

/// Of eight columns of 80 levels they hold three arrays, six, and twelve.
static FOR_CACHES: [Target; 3] = [with_cache(16.0), with_cache(32.0), with_cache(64.0)];

/// A CPU with so many KiB of cache for each core.
const fn with_cache(kib: f64) -> Target {
    let machine = Machine { cache_bytes: kib * 1024.0, ..Machine::CPU };
    Target { machine: Some(machine), ..Target::CPU }
}

static FOR_LAYOUTS: [Target; 2] = [
    Target { contiguous: Axis::K, machine: None, ..Target::CPU },
    Target { contiguous: Axis::J, machine: None, ..Target::CPU },
];

static FOR_GPUS: LazyLock<Vec<Target>> = LazyLock::new(|| {
    let forms = GpuForm::ALL.map(Some).into_iter().chain([None]);
    let of_form = |gpu_form| GPUS.map(|gpu| Target { gpu: Some(gpu), gpu_form, ..Target::GPU });
    forms.flat_map(of_form).collect()
});

/// Large tiles, and such as small domains have several of.
const GPUS: [GpuModel; 3] = [
    GpuModel { threads_of_block: 4, ..GpuModel::H100 },
    GpuModel::H100,
    GpuModel { threads_of_block: 2, ..GpuModel::WEBGPU },
];

/// The targets of code: C and machine code, with the vectors that machines have.
pub const CODE: [fn() -> target::Target; 6] = [
    || target::Target::c(None),
    || target::Target::c(Some(&machine(32))),
    || target::Target::c(Some(&machine(64))),
    || target::Target::native(128, None),
    || target::Target::native(256, Some(&machine(32))),
    || target::Target::native(512, Some(&machine(64))),
];

/// A machine with vectors of so many bytes.
fn machine(vector_bytes: u32) -> MachineModel {
    let cache = |bytes, cores| Cache { bytes, cores };
    MachineModel {
        cores: 2,
        caches: vec![cache(32 << 10, 1), cache(1 << 20, 1), cache(32 << 20, 2)],
        vector_bytes,
        line_bytes: 64,
    }
}

/// Whether a graph's program of loops reads back as it was printed, and keeps the rules, after every pass.
///
/// # Errors
///
/// The pass, and what is wrong behind it.
pub fn loops_read_back(graph: &sdfg::nodes::Sdfg, code: target::Target) -> Result<(), String> {
    let mut program = loops::lower(graph);
    let mut cx = loops::passes::PassCx::new(code);
    let check = |step: &str, program: &loops::Program| {
        let text = loops::print::listing(program).text;
        let again =
            loops::parse::parse(&text).map_err(|it| format!("{step} does not read back: {it}\n{text}"))?;
        let printed = loops::print::listing(&again).text;
        let wrong = [program, &again].map(loops::validate::validate).concat();
        match (printed == text, wrong.is_empty()) {
            (true, true) => Ok(()),
            (false, _) => {
                Err(format!("{step} is printed otherwise after it was read back:\n{text}\n{printed}"))
            }
            (_, false) => Err(format!("{step} breaks rules: {}\n{text}", wrong.join("; "))),
        }
    };
    check("loops", &program)?;
    for pass in loops::passes::PASSES {
        pass.apply(&mut program, &mut cx, None);
        check(pass.name, &program)?;
    }
    Ok(())
}

/// Compares every level, every pass, machine code and `numpy` with the meaning of a seed's stencil. Runs on
/// two domains, and in two orders of the iterations that have none. The seed also chooses another target.
///
/// # Errors
///
/// A difference, with the step and the element; a validator's report; a level that does not read back.
pub fn hold(seed: u64) -> Result<Held> {
    // Of every third stencil, some points leave temporaries as they are.
    let subject = Subject::of_seed_with(seed, |it| Features { partial: seed.is_multiple_of(3), ..it });
    let domain = DOMAINS[usize::try_from(seed / 4).unwrap_or(0) % DOMAINS.len()];
    let compilation = subject.compile();
    let text = || subject.project.main_id().map_or("", |it| subject.project.text(it));
    let in_context = || format!("{} on {domain}:\n{}", subject.name, text());
    ensure!(!compilation.has_errors(), "{:#?}\n{}", compilation.notes.diagnostics, in_context());
    reads_back(&compilation).map_err(anyhow::Error::msg).with_context(in_context)?;
    let signature =
        compilation.front.signature.as_ref().context("a compilation without errors has a signature")?;
    let oir = compilation.front.oir.as_ref().context("a compilation without errors has an OIR")?;
    let mut held = Held::default();
    // Rows of several tiles, where tiles have parts of them.
    let usual = if seed % 5 == 4 { SEVERAL_TILES } else { DOMAINS[0] };
    for domain in [domain, usual] {
        let domain = Domain::new(domain.i, domain.j, domain.k.max(signature.min_levels));
        let on_domain = Subject { domain, ..subject.clone() };
        // A domain that is too small for the stencil is refused, and so is tested elsewhere.
        let Ok(launch) = compilation.front.bind(call(&on_domain, &compilation, signature)?) else { continue };
        held.runs += 1;
        let code = CODE[usize::try_from(seed).unwrap_or(0) % CODE.len()];
        let journey = Journey::to(oir, Target::CPU, code());
        let (_, found) = compare(&journey, &launch, &[seed, seed + 1]);
        let found = found.filter(|it| !held.is_other_trap(&it.what));
        ensure!(found.is_none(), "{}\n{}", found.map_or(String::new(), |it| it.to_string()), in_context());
        let nothing = Err(String::new());
        let setting = Setting {
            cc: &nothing,
            cache: None,
            temporary: Path::new(""),
            threads: 1,
            mode: Mode::Reproducible,
            vectors: Vectors::Widest,
            relayout: Relayout::ByCost,
            has_lines: false,
            is_embedded: false,
        };
        let native =
            native_gives_the_bits_of_debug(Backend::RAYON, &compilation, slice::from_ref(&launch), setting);
        held.other_traps += native.with_context(in_context)?.other_traps;
        if ReferenceRun::of(oir, &launch).end().is_some() {
            // The run ends; of several statements that would end it, `numpy` may tell another one.
            let npir = compilation.front.npir().context("a compilation without errors has an NPIR")?;
            let ended = numpy::run(npir, &mut launch.clone(), &mut NoControl);
            ensure!(ended.is_err(), "`numpy` does not end\n{}", in_context());
            continue;
        }
        numpy_gives_the_bits_of_debug(&compilation, &launch).with_context(in_context)?;
        let target = other(seed);
        let (_, found) = compare(&for_machine(oir, target), &launch, &[seed]);
        let found = found.filter(|it| !held.is_other_trap(&it.what));
        let found = found.map(|it| format!("for {target:?}: {it}"));
        ensure!(found.is_none(), "{}\n{}", found.unwrap_or_default(), in_context());
    }
    Ok(held)
}

/// The passes of a stencil to the usual code of a machine.
#[must_use]
pub fn for_machine(oir: &Stencil, machine: &Target) -> Journey {
    let code = match machine.has_grid {
        true => target::Target::kernels(target::MAX_THREADS),
        false => target::Target::c(None),
    };
    Journey::to(oir, machine.clone(), code)
}

const fn gpu(gpu: GpuModel, gpu_form: Option<GpuForm>) -> Target {
    Target { gpu: Some(gpu), gpu_form, ..Target::GPU }
}

/// The targets of kernels: GPUs that choose their forms, and each form wherever it is legal.
pub const TARGETS: [Target; 11] = [
    gpu(GpuModel::H100, None),
    gpu(GpuModel::H200, None),
    gpu(GpuModel::WEBGPU, None),
    gpu(GpuModel::LAVAPIPE, None),
    gpu(GpuModel::H100, Some(GpuForm::Points)),
    gpu(GpuModel::H100, Some(GpuForm::Recomputed)),
    gpu(GpuModel::H100, Some(GpuForm::Tiles)),
    gpu(GpuModel::WEBGPU, Some(GpuForm::Rolled)),
    gpu(GpuModel::H100, Some(GpuForm::Columns)),
    gpu(GpuModel::H100, Some(GpuForm::Sweeps)),
    gpu(GpuModel::WEBGPU, Some(GpuForm::Levels)),
];

/// Domains with more than one tile along each axis, and the smallest one.
const TILED: [Domain; 5] = [
    Domain { i: 70, j: 9, k: 3 },
    Domain { i: 5, j: 4, k: 6 },
    Domain { i: 33, j: 17, k: 5 },
    Domain { i: 1, j: 1, k: 1 },
    Domain { i: 130, j: 2, k: 2 },
];

/// Runs the kernels of a stencil with blocks and threads in any order, finds races, and holds what they leave against
/// what the stencil means.
///
/// # Errors
///
/// A difference or a race, with the text of the stencil, the GPU and the form.
pub fn hold_kernels(seed: u64) -> Result<Held> {
    let subject = Subject::of_seed_with(seed, |it| Features { partial: seed.is_multiple_of(3), ..it });
    let pick = |n: usize, salt: u64| usize::try_from(seed / salt).unwrap_or(0) % n;
    let (target, domain) = (&TARGETS[pick(TARGETS.len(), 1)], TILED[pick(TILED.len(), 3)]);
    let compilation = subject.compile();
    let text = || subject.project.main_id().map_or("", |it| subject.project.text(it));
    let told =
        |target: &Target| format!("{:?} {:?}", target.gpu.map(|it| it.multiprocessors), target.gpu_form);
    let in_context = || format!("{} on {domain} for {}:\n{}", subject.name, told(target), text());
    ensure!(!compilation.has_errors(), "{:#?}\n{}", compilation.notes.diagnostics, in_context());
    let signature =
        compilation.front.signature.as_ref().context("a compilation without errors has a signature")?;
    let oir = compilation.front.oir.as_ref().context("a compilation without errors has an OIR")?;
    let mut held = Held::default();
    let domain = Domain::new(domain.i, domain.j, domain.k.max(signature.min_levels));
    let on_domain = Subject { domain, ..subject.clone() };
    // A domain that is too small for the stencil is refused, and so is tested elsewhere.
    let Ok(launch) = compilation.front.bind(call(&on_domain, &compilation, signature)?) else {
        return Ok(held);
    };
    held.runs += 1;
    let reference = ReferenceRun::of(oir, &launch);
    let mut found = None;
    let journey = for_machine(oir, target);
    journey.go(None, &mut |step, level, _| {
        if let Some(level @ Level::Kernels(_)) = level {
            found = reference.divergence(step, &level, &[seed, seed + 1]);
        }
        found.is_none()
    });
    let found = found.filter(|it| !held.is_other_trap(&it.what));
    if let Some(found) = found {
        // Which step it comes from.
        let (_, first) = compare(&journey, &launch, &[seed, seed + 1]);
        let first = first.map_or(String::new(), |it| format!(" (first: {it})"));
        anyhow::bail!("{found}{first}\n{}", in_context());
    }
    Ok(held)
}

/// The result for a stencil that means the same at every level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub runs: u64,
    /// How often a level ends a run that has to end, but tells another statement.
    pub other_traps: u64,
}

impl Held {
    /// Passes do not compute values beyond the domain that nobody needs, so another point may be the first to end a run.
    fn is_other_trap(&mut self, what: &RunDifference) -> bool {
        let RunDifference::End { expected: Some(Stop::Trap(expected)), found: Some(Stop::Trap(found)) } =
            what
        else {
            return false;
        };
        let is_same_statement =
            expected.origin.stmt == found.origin.stmt && expected.message == found.message;
        self.other_traps += u64::from(!is_same_statement);
        true
    }
}

/// Whether GTIR, OIR and the schedule tree are, read back from their texts, what they were.
///
/// # Errors
///
/// The level that is not, and why.
pub fn reads_back(compilation: &Compilation) -> Result<(), String> {
    let same = |stage: Stage, again: Result<String, String>| {
        let text = compilation.listing(stage).map(|it| it.text.as_str()).unwrap_or_default();
        match again {
            Ok(again) if again == text => Ok(()),
            Ok(_) => Err(format!("{stage} is printed otherwise after it was read back")),
            Err(wrong) => Err(format!("{stage} does not read back: {wrong}")),
        }
    };
    let text = |stage: Stage| compilation.listing(stage).map(|it| it.text.as_str()).unwrap_or_default();
    let typed = gtir::parse::parse(text(Stage::GTIR)).map_err(|it| it.to_string());
    same(Stage::GTIR, typed.map(|it| gtir::print::listing(&it).text))?;
    let ordered = oir::parse::parse(text(Stage::OIR)).map_err(|it| it.to_string());
    let printed = |it: oir::nodes::Stencil| {
        let (extents, caches) = (oir::analysis::extents(&it), oir::analysis::caches::caches(&it));
        oir::print::listing_with_facts(&it, &extents, &caches).text
    };
    same(Stage::OIR, ordered.map(printed))?;
    let scheduled = schedule::parse::parse(text(Stage::SCHEDULE)).map_err(|it| it.to_string());
    same(Stage::SCHEDULE, scheduled.map(|it| schedule::print::listing(&it).text))?;
    match &compilation.levels.sdfg {
        Some(graph) => loops_read_back(graph, target::Target::c(compilation.levels.options.machine.as_ref())),
        None => Ok(()),
    }
}
