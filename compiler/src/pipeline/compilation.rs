//! The results of one compilation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::lowering::lower_tree;
use super::registry::{self, StageListing};
use super::schedule_variants::{variants, variants_of_gpu};
use super::{Levels, ScheduleVariant, Stage, route};
use crate::diag::{Listing, Severity, StmtId};
use crate::front::Front;
use crate::front::texts::KeptTexts;
use crate::kernel::{self, Kernels};
use crate::pass::{CodeGenerator, Device, GpuModel, MachineModel, NoHook, Notes, PassOptions, Trip, check};
use crate::project::Project;
use crate::target::{MAX_THREADS, Target};
use crate::{c, cuda, loops};

/// A stencil through all levels, with the diagnostics and remarks of the whole way.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// The text, and the levels up to the optimised OIR.
    pub front: Arc<Front>,
    /// Of the whole way.
    pub notes: Notes,
    /// The levels behind the OIR.
    pub levels: Levels,
    /// Made when it is first asked for.
    c: OnceLock<c::CArtifact>,
    /// Made when they are first asked for. In a compilation for a CPU, they are compiled separately from the
    /// OIR on.
    kernels: OnceLock<Option<Kernels>>,
    /// Made when it is first asked for.
    cuda: OnceLock<cuda::CudaArtifact>,
    texts: KeptTexts,
}

impl Compilation {
    /// A front with the levels behind it, and the notes of the whole way.
    pub(super) fn new(front: Arc<Front>, notes: Notes, levels: Levels) -> Self {
        Self { front, notes, levels, ..Self::default() }
    }

    /// Whether an error was found.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.notes.diagnostics.iter().any(|it| it.severity == Severity::Error)
    }

    /// Kernels for a GPU, whichever device the levels are made for; `None` where not all passes ran.
    #[must_use]
    pub fn kernels(&self) -> Option<&Kernels> {
        let made = || self.loops_for_gpu().map(|it| lower_kernels(&it));
        self.kernels.get_or_init(|| if self.levels.is_whole { made() } else { None }).as_ref()
    }

    /// CUDA C++ of the kernels; `None` where there are none.
    #[must_use]
    pub fn cuda(&self) -> Option<&cuda::CudaArtifact> {
        let kernels = self.kernels()?;
        Some(self.cuda.get_or_init(|| cuda::generate(kernels)))
    }

    /// C for the machine of the compilation; `None` where not all passes ran, or for a GPU.
    #[must_use]
    pub fn c(&self) -> Option<&c::CArtifact> {
        let program = self.program_of_c()?;
        Some(self.c.get_or_init(|| c::generate(program, &c::COptions::default())))
    }

    /// The same C for calls with one thread; made at each call.
    #[must_use]
    pub fn c_of_one_thread(&self) -> Option<c::CArtifact> {
        let options = c::COptions { has_threads: false, ..c::COptions::default() };
        Some(c::generate(self.program_of_c()?, &options))
    }

    fn program_of_c(&self) -> Option<&loops::Program> {
        let options = &self.levels.options;
        let is_for_c = options.device == Device::Cpu && options.code == CodeGenerator::C;
        self.levels.loops.as_ref().filter(|_| self.levels.is_whole && is_for_c)
    }

    /// The program of loops for such code; `None` where not all passes ran, or for a GPU.
    #[must_use]
    pub fn loops_for(&self, code: CodeGenerator) -> Option<Cow<'_, loops::Program>> {
        let options = &self.levels.options;
        if options.code == code && options.device == Device::Cpu {
            return self.levels.loops.as_ref().filter(|_| self.levels.is_whole).map(Cow::Borrowed);
        }
        let flow = self.levels.sdfg.as_ref().filter(|_| self.levels.is_whole)?;
        let options = PassOptions { device: Device::Cpu, code, ..options.clone() };
        let mut hook = NoHook;
        let mut trip = Trip::new(&mut hook, &options, Notes::default());
        let mut program = loops::lower(flow);
        check("loops", || loops::validate::validate(&program), || loops::print::listing(&program));
        let target = Target::of(&options);
        trip.passes(&loops::passes::PIPELINE, &mut program, target).then_some(Cow::Owned(program))
    }

    /// The program of loops for a GPU. Steps that a person wrote are for a processor. So a program for a GPU
    /// beside one for a processor goes without them.
    fn loops_for_gpu(&self) -> Option<Cow<'_, loops::Program>> {
        let options = &self.levels.options;
        if options.device == Device::Gpu {
            return self.levels.loops.as_ref().map(Cow::Borrowed);
        }
        let options = PassOptions {
            device: Device::Gpu,
            schedule: None,
            steps: false,
            trace: false,
            ..options.clone()
        };
        let front = Arc::clone(&self.front);
        if front.of_calls.is_some() {
            let other = lower_tree(&front, self.levels.tree.clone()?, &options, &mut NoHook);
            return other.levels.loops.filter(|_| other.levels.is_whole).map(Cow::Owned);
        }
        let other = route::compile_front(front, &Project::default(), &options, &mut NoHook);
        other.levels.loops.filter(|_| other.levels.is_whole).map(Cow::Owned)
    }

    /// A text, made when it is first asked for; `None` where its level was not reached.
    #[must_use]
    pub fn text(&self, text: &StageListing) -> Option<&Listing> {
        self.texts.kept(text.stage, || (text.make)(self))
    }

    /// The text of one of [`Stage::ALL`]; the text of a level shows it after its passes.
    #[must_use]
    pub fn listing(&self, stage: Stage) -> Option<&Listing> {
        self.text(registry::texts().find(|it| it.stage == stage)?)
    }

    /// The texts of all stages that were reached. Each is made when the iterator gets to it.
    pub fn listings(&self) -> impl Iterator<Item = (Stage, &Listing)> {
        registry::texts().filter_map(|it| Some((it.stage, self.text(it)?)))
    }

    /// The schedule as a document that reproduces it. `None` where it was not reached, or its steps were not
    /// kept.
    #[must_use]
    pub fn schedule_steps(&self) -> Option<String> {
        let tree = self.levels.schedule.as_ref().filter(|_| self.levels.options.steps)?;
        let mut lines = BTreeMap::new();
        for child in &tree.children {
            child.walk(&mut |it| {
                if let Some(origin) = it.origin() {
                    lines.entry(origin.stmt).or_insert(origin.span());
                }
            });
        }
        let said = |stmt: StmtId| {
            let span = lines.get(&stmt)?;
            let (_, text) = self.front.file(span.file)?;
            let start = span.start as usize;
            let number = text.get(..start)?.matches('\n').count() + 1;
            let first = text.get(start..)?.lines().next()?.trim();
            Some(format!("line {number}: {first}"))
        };
        Some(crate::schedule::document::text(tree, &said))
    }

    /// The schedule as a document with all choices of its passes. Its loops stay as they are, and the passes
    /// of the graph fuse it as before. `None` as for [`schedule_steps`](Self::schedule_steps).
    #[must_use]
    pub fn schedule_document(&self) -> Option<String> {
        self.schedule_steps().map(|it| it + "auto graph\n")
    }

    /// Other schedules that may be faster on a machine; none where the steps of this one were not kept.
    #[must_use]
    pub fn schedule_variants(&self, machine: &MachineModel) -> Vec<ScheduleVariant> {
        let chosen = self.levels.schedule.as_ref().filter(|_| self.levels.options.steps);
        let both = self.levels.tree.as_ref().map(crate::schedule::from_tree::lower).zip(chosen);
        both.map(|(lowered, chosen)| variants(&lowered, chosen, machine)).unwrap_or_default()
    }

    /// Other schedules that may be faster on a GPU, of a compilation for one.
    #[must_use]
    pub fn gpu_variants(gpu: &GpuModel) -> Vec<ScheduleVariant> {
        variants_of_gpu(gpu)
    }
}

/// Kernels of a program of loops.
fn lower_kernels(program: &loops::Program) -> Kernels {
    let kernels = kernel::lower(program, MAX_THREADS);
    check(
        "kernels",
        || kernel::validate::validate(&kernels, MAX_THREADS),
        || kernel::print::listing(&kernels),
    );
    kernels
}
