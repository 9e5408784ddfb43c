//! The front half of a compilation: from the text to the optimised OIR.
//!
//! A [`Front`] is enough to run a stencil with the interpreters, and to answer an editor. All levels behind
//! the OIR start from it.

pub mod stage;
pub mod texts;
pub mod memory;
pub mod contract;
mod signature;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use self::contract::{BoundLaunch, Contract};
use self::signature::{signature, unify_params};
use self::texts::KeptTexts;
use crate::call::launch::{Call, Launch};
use crate::call::signature::Signature;
use crate::config::Config;
use crate::diag::catalog::{call, directive};
use crate::diag::written::{as_written, in_function};
use crate::diag::{Diagnostic, Diagnostics, FileId, ProgramOrder, Severity, Span, StmtId};
use crate::frontend::externals::ExternalUse;
use crate::frontend::missing::MissingModule;
use crate::frontend::program::SourceFile;
use crate::frontend::{self, Names, ParsedFiles, Program};
use crate::inputs::{self, Directives, KeepDirective, LoopProperty};
use crate::oir::analysis::element_boxes::elements_of_params;
use crate::oir::analysis::extents::{Extents, extents};
use crate::oir::analysis::{program_order, touches_of_params};
use crate::oir::passes::PinnedStmts;
use crate::pass::{Hook, Level as _, Notes, PassOptions, Trace, Trip, check};
use crate::project::Project;
use crate::space::FieldElements;
use crate::{defir, gtir, npir, oir};

pub use memory::Fronts;
pub use stage::Stage;

/// A stencil up to its optimised OIR. A level is missing where an error prevented it.
#[derive(Clone, Debug, Default)]
pub struct Front {
    /// In the order of the [`FileId`]s.
    pub files: Vec<Arc<SourceFile>>,
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
    /// Run directives of the main file's comment lines.
    pub directives: Directives,
    /// Known once the extents are.
    pub signature: Option<Signature>,
    pub definition: Option<defir::nodes::Stencil>,
    pub gtir: Option<gtir::nodes::Stencil>,
    /// The OIR as it was lowered, before any pass. The reference interpreter runs it.
    pub oir: Option<oir::nodes::Stencil>,
    /// The extents of [`oir`](Self::oir).
    pub extents: Option<Extents>,
    /// The OIR after its passes.
    pub optimized: Option<oir::nodes::Stencil>,
    /// Whether all passes of OIR ran. Nothing is made behind it before.
    pub is_whole: bool,
    /// Of a group of calls, which has no OIR of its own: when its statements run.
    pub of_calls: Option<ProgramOrder>,
    pub notes: Notes,
    /// Made when it is first asked for, since only one back end and users who look at it need it.
    npir: OnceLock<npir::Stencil>,
    /// Made when it is first asked for: only programs ask.
    elements: OnceLock<Vec<FieldElements>>,
    texts: KeptTexts,
}

/// Compiles the stencil of a project up to its optimised OIR, as far as its errors allow.
#[must_use]
pub fn front(project: &Project, config: &Config, hook: &mut dyn Hook) -> Front {
    front_of_files(project, ParsedFiles::default().of(project), config, hook)
}

/// As [`front`], with files that may be parsed already.
#[must_use]
pub fn front_of_files(
    project: &Project,
    files: Vec<Arc<SourceFile>>,
    config: &Config,
    hook: &mut dyn Hook,
) -> Front {
    let mut found = Diagnostics::default();
    let (directives, unread) = match project.main_id() {
        Some(main) => inputs::directive::read(project.text(main), main),
        None => (Directives::default(), Vec::new()),
    };
    found.extend(unread);
    let config = with_directives(config, &directives);
    let notes = Notes { trace: config.passes.trace.then(Trace::default), ..Notes::default() };
    let mut trip = Trip::new(hook, &config.passes, notes);

    let program = trip.door("frontend", || Program::new(project, files, &mut found));
    let stencils = program.stencils();
    let wanted = project.stencil.clone().or_else(|| {
        let wanted = directives.stencil.clone()?;
        (!frontend::named(&stencils, &wanted).is_empty()).then_some(wanted)
    });
    let stencils: Vec<_> = stencils.into_iter().map(|it| (it.name, it.span)).collect();

    let names = Names::new(&program, &config);
    let mut front = Front { directives, ..Front::default() };
    front.files.clone_from(&program.files);
    if wanted.is_some() || !stencils.is_empty() {
        let goes_on = front.lower(&program, &names, wanted.as_deref(), (&mut trip, &mut found));
        front.is_whole = goes_on.is_some() && front.passes_of_oir(&mut trip);
    }
    // In a file with several stencils, a line may be meant for another stencil.
    if let ([_], Some(signature)) = (stencils.as_slice(), &front.signature) {
        for step in &front.directives.steps {
            if let Some(why) = step.refusal(signature) {
                found.push(directive::ignored("step", &why, step.span));
            }
        }
    }
    front.notes = trip.notes;
    front.externals = frontend::externals::of(&program, &names, front.stencil.as_deref());
    front.stencils = stencils;
    front.notes.diagnostics = program.sound(front.as_written(found));
    if front.has_errors() {
        front.missing = frontend::missing::of(&program, &names, front.stencil.as_deref(), &front.externals);
    }
    front
}

impl Front {
    /// The front half of a stencil that has no text: its OIR as it was lowered, before its passes.
    #[must_use]
    pub fn of_oir(oir: oir::nodes::Stencil) -> Self {
        Self { oir: Some(oir), ..Self::default() }
    }

    /// The front of several calls that are one piece of code: their files, and a signature of all that they touch.
    #[must_use]
    pub fn of_calls(files: Vec<Arc<SourceFile>>, signature: Signature, order: ProgramOrder) -> Self {
        let stencil = Some(signature.name.clone());
        Self { files, stencil, signature: Some(signature), of_calls: Some(order), ..Self::default() }
    }

    /// When each statement runs as it is written.
    #[must_use]
    pub fn order(&self) -> ProgramOrder {
        let of_calls = || self.of_calls.clone().unwrap_or_default();
        self.oir.as_ref().map_or_else(of_calls, program_order)
    }

    /// Whether an error was found.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.notes.diagnostics.iter().any(|it| it.severity == Severity::Error)
    }

    /// The OIR as it was lowered, with its extents: the program of the interpreter.
    #[must_use]
    pub fn reference(&self) -> Option<(&oir::nodes::Stencil, &Extents)> {
        self.oir.as_ref().zip(self.extents.as_ref())
    }

    /// For each parameter, the elements that a run writes for sure, and those that it may read before.
    #[must_use]
    pub fn elements(&self) -> &[FieldElements] {
        self.elements.get_or_init(|| self.made_elements())
    }

    fn made_elements(&self) -> Vec<FieldElements> {
        let Some((oir, extents)) = self.reference() else { return Vec::new() };
        let mut all = elements_of_params(oir, extents);
        let of_param = |it: &oir::nodes::Param| match it.what {
            oir::nodes::ParamKind::Field(field) => all.remove(field).unwrap_or_default(),
            oir::nodes::ParamKind::Scalar(_) => FieldElements::default(),
        };
        oir.params.iter().map(of_param).collect()
    }

    /// The stencil as operations on whole arrays, after the passes of OIR; `None` where these were not
    /// reached.
    #[must_use]
    pub fn npir(&self) -> Option<&npir::Stencil> {
        if let Some(known) = self.npir.get() {
            return Some(known);
        }
        let optimized = self.optimized.as_ref()?;
        let lowered = npir::from_oir::lower(optimized, &extents(optimized));
        check("npir", || npir::validate::validate(&lowered), || npir::print::listing(&lowered));
        Some(self.npir.get_or_init(|| lowered))
    }

    /// The place of a statement.
    #[must_use]
    pub fn place(&self, stmt: StmtId) -> Option<Span> {
        let mut found = None;
        self.oir.as_ref()?.each_statement(&mut |it| {
            if it.stmt == stmt {
                found.get_or_insert(it.span());
            }
        });
        found
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

    /// The facts that checks of calls need; none where the stencil does not compile.
    #[must_use]
    pub fn contract(&self) -> Option<Contract> {
        let signature = self.signature.clone()?;
        if self.of_calls.is_some() {
            // Each call was checked against its own contract.
            return Some(Contract::new(signature, Vec::new()));
        }
        let (oir, extents) = self.reference()?;
        Some(Contract::new(signature, touches_of_params(oir, extents)))
    }

    /// Checks a call of this stencil.
    ///
    /// # Errors
    ///
    /// The faults of the call (codes C01 to C06 and C08), or of the text where it does not compile. One array
    /// for several parameters is a fault where one of these is written; see
    /// [`bind_shared`](Self::bind_shared).
    pub fn bind(&self, given: Call) -> Result<Launch, Vec<Diagnostic>> {
        self.contract().ok_or_else(|| self.notes.diagnostics.clone())?.bind(given)
    }

    /// Checks a call of this stencil, in which several parameters may be one array.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind).
    pub fn bind_shared(&self, call: Call) -> Result<BoundLaunch, Vec<Diagnostic>> {
        self.contract().ok_or_else(|| self.notes.diagnostics.clone())?.bind_shared(call)
    }

    /// Diagnostics with the names of the text, sorted by place.
    #[must_use]
    pub fn as_written(&self, found: Diagnostics) -> Vec<Diagnostic> {
        as_written(found.sorted(), &self.names_in_functions())
    }

    /// The locals of inlined functions, each with its name in the text.
    fn names_in_functions(&self) -> BTreeMap<&str, &str> {
        let fields = self.definition.iter().flat_map(|it| it.fields.iter().map(|(_, it)| it));
        let of_functions = fields.filter_map(|it| {
            let (_, text) = self.file(it.span.file)?;
            let text = text.get(it.span.start as usize..it.span.end as usize)?;
            let end = text.find(|it: char| it != '_' && !it.is_alphanumeric()).unwrap_or(text.len());
            let first = &text[..end];
            let is_local = it.is_temporary && first != it.name;
            let ends_so =
                || it.name.strip_suffix(first).is_some_and(|it| it.ends_with('_')) && !first.is_empty();
            let written = if is_local && ends_so() { Some(first) } else { in_function(&it.name) };
            Some((&*it.name, written.filter(|_| is_local)?))
        });
        of_functions.collect()
    }

    /// The stencil in which each pair of parameters, by position, is one array: see [`oir::unify`].
    ///
    /// # Errors
    ///
    /// C08, where a statement reads a neighbour of the element that it writes, and the call decides which
    /// neighbour.
    pub fn unified(
        &self,
        pairs: &[[usize; 2]],
        options: &PassOptions,
        hook: &mut dyn Hook,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut unified = self.without_passes();
        let (Some(oir), Some(signature)) = (&mut unified.oir, &mut unified.signature) else {
            return Err(self.notes.diagnostics.clone());
        };
        oir::unify::unify(oir, pairs).map_err(|refused| {
            let name = |at: usize| signature.params[at].name.as_str();
            let named = |&[one, other]: &[usize; 2]| {
                call::neighbour_found_at_run_time(name(one), name(other), refused.statement, refused.read)
            };
            pairs.iter().map(named).collect::<Vec<_>>()
        })?;
        let extents = extents(oir);
        let mut trip = Trip::new(hook, options, Notes::default());
        trip.validate(
            "unify",
            || oir::validate::validate(oir),
            || oir::print::listing_with_extents(oir, &extents),
        );
        unify_params(signature, oir, &extents, pairs);
        unified.extents = Some(extents);
        unified.is_whole = unified.passes_of_oir(&mut trip);
        unified.notes = trip.notes;
        Ok(unified)
    }

    /// The same stencil, for calls that exchange the axes I and K.
    #[must_use]
    pub fn turned(&self) -> Self {
        Self { signature: self.signature.as_ref().map(Signature::turned), ..self.clone() }
    }

    /// The same stencil after other passes of OIR. The hook sees them.
    #[must_use]
    pub fn again(&self, options: &PassOptions, hook: &mut dyn Hook) -> Self {
        let mut again = self.without_passes();
        let mut trip = Trip::new(hook, options, Notes::default());
        again.is_whole = again.passes_of_oir(&mut trip);
        again.notes = trip.notes;
        again
    }

    /// A copy with the OIR as it was lowered, and nothing behind it.
    fn without_passes(&self) -> Self {
        Self {
            files: self.files.clone(),
            stencils: self.stencils.clone(),
            stencil: self.stencil.clone(),
            externals: self.externals.clone(),
            directives: self.directives.clone(),
            signature: self.signature.clone(),
            definition: self.definition.clone(),
            gtir: self.gtir.clone(),
            oir: self.oir.clone(),
            extents: self.extents.clone(),
            ..Self::default()
        }
    }

    /// Lowers to the OIR, as far as there are no errors.
    fn lower(
        &mut self,
        program: &Program,
        names: &Names<'_>,
        wanted: Option<&str>,
        (trip, found): (&mut Trip<'_>, &mut Diagnostics),
    ) -> Option<()> {
        let config = names.config;
        let definition =
            trip.door("definition", || defir::from_syntax::build(program, names, wanted, found))?;
        // The name that distinguishes the stencil within the main file.
        let stencils = program.stencils().into_iter();
        let known = stencils.map(|it| (it.span, it.name)).find(|it| it.0 == definition.span);
        self.stencil = Some(known.map_or_else(|| definition.name.clone(), |it| it.1));
        trip.validate(
            "definition",
            || defir::validate::validate(&definition),
            || defir::print::listing(&definition),
        );
        let definition = &*self.definition.insert(definition);
        if found.has_errors() {
            // The part that was read is still typed and checked against the rules, so that all errors show at
            // once.
            let further = gtir::from_defir::faults_of_part(definition, config, found);
            found.extend(further);
            return None;
        }

        let typed = trip.door("gtir", || gtir::from_defir::lower(definition, config, found))?;
        trip.validate("gtir", || gtir::validate::validate(&typed), || gtir::print::listing(&typed));
        trip.show("gtir", &|| gtir::print::listing(&typed));
        let typed = &*self.gtir.insert(typed);

        let lowered = trip.door("oir", || oir::from_gtir::lower(typed, found))?;
        let extents = extents(&lowered);
        oir::analysis::definite_assignment::warn(&lowered, &extents, found);
        trip.validate(
            "oir",
            || oir::validate::validate(&lowered),
            || oir::print::listing_with_extents(&lowered, &extents),
        );
        self.signature = Some(signature(typed, &lowered, &extents));
        self.oir = Some(lowered);
        self.extents = Some(extents);
        (!found.has_errors()).then_some(())
    }

    /// Runs the passes of OIR, from the OIR as it was lowered. Returns whether the compilation goes on.
    fn passes_of_oir(&mut self, trip: &mut Trip<'_>) -> bool {
        let Some(mut optimized) = self.oir.clone() else { return false };
        let pinned = pinned(&optimized, &self.directives.keeps);
        let is_whole = trip.passes(&oir::passes::PIPELINE, &mut optimized, pinned);
        self.optimized = Some(optimized);
        is_whole
    }
}

/// Whether a pass changes the OIR.
#[must_use]
pub fn is_of_oir(pass: &str) -> bool {
    oir::passes::PASSES.iter().any(|it| it.name == pass)
}

/// Adds the number of levels and the externals of the text. Values of the configuration take precedence.
fn with_directives(config: &Config, directives: &Directives) -> Config {
    let mut config = config.clone().for_domain(directives.domain);
    for it in &directives.externals {
        config.externals.entry(it.name.clone()).or_insert_with(|| it.value.clone());
    }
    config
}

/// The statements that lines `# @keep apart` of the text refer to.
fn pinned(stencil: &oir::nodes::Stencil, keeps: &[KeepDirective]) -> PinnedStmts {
    let mut apart = BTreeSet::new();
    let lines: Vec<Span> =
        keeps.iter().filter(|it| it.keep == LoopProperty::Apart).map(|it| it.below).collect();
    if !lines.is_empty() {
        stencil.each_statement(&mut |origin| {
            let is_in = |line: &Span| {
                let here = origin.spans().iter().filter(|it| it.file == line.file);
                here.into_iter().any(|it| line.start <= it.start && it.start < line.end)
            };
            if lines.iter().any(is_in) {
                apart.insert(origin.stmt);
            }
        });
    }
    PinnedStmts { apart }
}
