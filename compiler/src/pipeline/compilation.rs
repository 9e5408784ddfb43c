//! The results of one compilation.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::registry::{self, StageListing};
use super::schedule_variants::{variants, variants_of_gpu};
use super::{Levels, ScheduleVariant, Stage, route};
use crate::call::aliasing;
use crate::call::launch::{self, Call, Launch};
use crate::call::signature::Signature;
use crate::diag::catalog::call;
use crate::diag::{Diagnostic, FileId, Listing, Remark, Severity, Span, StmtId, Tombstone};
use crate::frontend::externals::ExternalUse;
use crate::frontend::missing::MissingModule;
use crate::frontend::program::SourceFile;
use crate::inputs::Directives;
use crate::oir::analysis::{TouchedPositions, touched, touches_of_params};
use crate::pass::{GpuModel, LogEntry, LogValue, MachineModel, Trace};

/// All levels that were reached, with the diagnostics and remarks on the way.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// In the order of the [`FileId`]s.
    pub files: Vec<Arc<SourceFile>>,
    /// Sorted by place; errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The stencils of the main file, in its order, each with its place. Stencils of the same name are called
    /// by their paths, as `Model.advect`.
    pub stencils: Vec<(String, Span)>,
    /// The stencil that was compiled, by its name in `stencils`.
    pub stencil: Option<String>,
    /// The names that the stencil and its functions import from `__externals__`, in order of the text, with
    /// their uses.
    pub externals: Vec<ExternalUse>,
    /// The modules that the stencil needs and that are not among the files, where there are errors.
    pub missing: Vec<MissingModule>,
    /// Known once the extents are.
    pub signature: Option<Signature>,
    /// Changes and refusals of the passes, in the order in which they ran.
    pub remarks: Vec<Remark>,
    /// Values that the passes measured.
    pub log: Vec<LogEntry>,
    /// Results of analyses, by the name of the level, then of the analysis; each as it was computed last.
    pub results: BTreeMap<&'static str, BTreeMap<&'static str, LogValue>>,
    /// The statements that passes removed.
    pub tombstones: Vec<Tombstone>,
    /// Whether the schedule records the steps that led to it.
    pub keeps_steps: bool,
    /// The levels before and after each pass, where the options ask for them.
    pub trace: Option<Trace>,
    /// The levels themselves.
    pub levels: Levels,
    /// Run directives of the main file's comment lines.
    pub directives: Directives,
}

impl Compilation {
    /// Whether an error was found.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|it| it.severity == Severity::Error)
    }

    /// A copy up to the passes of OIR, with the diagnostics, remarks and values up to there.
    #[must_use]
    pub fn up_to_oir(&self) -> Self {
        let oir = Stage::OIR.name();
        Self {
            files: self.files.clone(),
            stencils: self.stencils.clone(),
            stencil: self.stencil.clone(),
            externals: self.externals.clone(),
            signature: self.signature.clone(),
            remarks: self.remarks.iter().filter(|it| route::is_of_oir(it.pass)).cloned().collect(),
            log: self.log.iter().filter(|it| route::is_of_oir(it.pass)).cloned().collect(),
            results: self.results.get(oir).map(|it| (oir, it.clone())).into_iter().collect(),
            tombstones: self.tombstones.iter().filter(|it| route::is_of_oir(it.pass)).cloned().collect(),
            directives: self.directives.clone(),
            levels: self.levels.up_to_oir(),
            ..Self::default()
        }
    }

    /// A text, made when it is first asked for; `None` where its level was not reached.
    #[must_use]
    pub fn text(&self, text: &StageListing) -> Option<&Listing> {
        self.levels.text(text.stage, text.make)
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
        let tree = self.levels.schedule.as_ref().filter(|_| self.keeps_steps)?;
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
            let (_, text) = self.file(span.file)?;
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
        let chosen = self.levels.schedule.as_ref().filter(|_| self.keeps_steps);
        let both = self.levels.tree.as_ref().map(crate::schedule::from_tree::lower).zip(chosen);
        both.map(|(lowered, chosen)| variants(&lowered, chosen, machine)).unwrap_or_default()
    }

    /// Other schedules that may be faster on a GPU, of a compilation for one.
    #[must_use]
    pub fn gpu_variants(gpu: &GpuModel) -> Vec<ScheduleVariant> {
        variants_of_gpu(gpu)
    }

    /// Name and text of a file.
    #[must_use]
    pub fn file(&self, FileId(file): FileId) -> Option<(&str, &str)> {
        self.files.get(usize::from(file)).map(|it| (&*it.name, &*it.text))
    }

    /// Name and text of each file, in the order of the [`FileId`]s.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|it| (&*it.name, &*it.text))
    }

    /// Checks a call of this stencil.
    ///
    /// # Errors
    ///
    /// The faults of the call (codes C01 to C06 and C08), or of the text where it does not compile. One array
    /// for several parameters is a fault where one of these is written; see
    /// [`bind_shared`](Self::bind_shared).
    pub fn bind(&self, given: Call) -> Result<Launch, Vec<Diagnostic>> {
        let bound = self.bind_shared(given)?;
        self.signature.as_ref().map_or(Err(Vec::new()), |it| bound.apart(it))
    }

    /// Checks a call of this stencil, in which several parameters may be one array.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind).
    pub fn bind_shared(&self, call: Call) -> Result<BoundLaunch, Vec<Diagnostic>> {
        let (Some(signature), Some(oir), Some(extents)) =
            (&self.signature, &self.levels.oir, &self.levels.extents)
        else {
            return Err(self.diagnostics.clone());
        };
        bind(signature, &touches_of_params(oir, extents), call)
    }

    /// The facts that checks of calls need; none where the stencil does not compile.
    #[must_use]
    pub fn contract(&self) -> Option<Contract> {
        let (oir, extents) = (self.levels.oir.as_ref()?, self.levels.extents.as_ref()?);
        Some(Contract { signature: self.signature.clone()?, touches: touches_of_params(oir, extents) })
    }
}

/// The facts that calls of a stencil are checked against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    pub signature: Signature,
    touches: Vec<TouchedPositions>,
}

impl Contract {
    /// Checks a call, as [`Compilation::bind_shared`] does.
    ///
    /// # Errors
    ///
    /// The faults of the call (codes C01 to C06 and C08).
    pub fn bind_shared(&self, call: Call) -> Result<BoundLaunch, Vec<Diagnostic>> {
        bind(&self.signature, &self.touches, call)
    }

    /// Checks a call, as [`Compilation::bind`] does.
    ///
    /// # Errors
    ///
    /// The faults of the call (codes C01 to C06 and C08).
    pub fn bind(&self, call: Call) -> Result<Launch, Vec<Diagnostic>> {
        self.bind_shared(call)?.apart(&self.signature)
    }
}

fn bind(
    signature: &Signature,
    touches: &[TouchedPositions],
    call: Call,
) -> Result<BoundLaunch, Vec<Diagnostic>> {
    let mut launch = launch::bind(signature, call)?;
    let of_params = touched(touches, signature.params.len(), launch.domain);
    launch::check_touched(signature, &launch, &of_params)?;
    let shared = aliasing::shared(signature, &mut launch, &of_params)?;
    Ok(BoundLaunch { launch, shared })
}

/// A checked call.
#[derive(Clone, Debug)]
pub struct BoundLaunch {
    pub launch: Launch,
    /// Pairs of parameters, by position, that share one array, where at least one of the two is written. Such
    /// a call needs the stencil that [`back`](super::back) makes, without the second parameter of each pair.
    pub shared: Vec<[usize; 2]>,
}

impl BoundLaunch {
    /// The call; an error where two parameters share an array and at least one of them is written.
    fn apart(self, signature: &Signature) -> Result<Launch, Vec<Diagnostic>> {
        let name = |at: usize| signature.params[at].name.as_str();
        let wrong: Vec<_> = self.shared.iter().map(|it| call::one_array(name(it[0]), name(it[1]))).collect();
        if wrong.is_empty() { Ok(self.launch) } else { Err(wrong) }
    }
}
