//! The stencils of a program of calls, as code of a back end.

mod cut;
mod device_fields;
mod executable;
mod on_device;
mod ranks;
mod shared;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::run::Control;
use isobar_compiler::call::signature::Signature;
use isobar_compiler::front::Front;
use isobar_compiler::pass::PassOptions;
use isobar_compiler::pipeline::group::{GroupStatements, JoinedGroup, join_group};
use isobar_compiler::pipeline::{Compilation, NoHook, ProgramKind, Stage, Variant, back};
use isobar_program::interpret::{
    DeviceRunner, GroupParam, GroupStop, ProgramInputs, ProgramInstance, ProgramStop, StencilRunner,
    StencilStop,
};
use isobar_program::nodes::{ProgramStmt, ProgramStmtKind, StencilCall};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::cache::KeyParts;
use crate::executors::{Executor, OwnedSetting, Prepared, prepare};
use crate::failure::Failure;
use crate::plans::Plans;
use crate::store::file::StencilFile;
use device_fields::DeviceFields;
use shared::{CodeCell, CodeKey, SharedCode, claim};

pub use cut::{CodeSetting, CutProgram, CutReport, RankSource};
pub use executable::{ProgramArguments, ProgramExecutable, ProgramMemory, ProgramRefusal, RunSurroundings};
pub use ranks::{RankThread, Ranks};

/// The code of each stencil that a program calls.
pub struct ProgramCode {
    maker: CodeMaker,
    codes: Vec<StencilCode>,
    /// By the numbers of the groups.
    groups: BTreeMap<usize, GroupCode>,
    /// The fields of a program, where the back end runs on a device.
    device: Option<DeviceFields>,
}

/// The back end that makes the code, and how.
struct CodeMaker {
    executor: Arc<dyn Executor>,
    setting: OwnedSetting,
    options: PassOptions,
}

/// Digests of texts by their places in memory, with the texts, which stay there.
type FileDigests<'f> = BTreeMap<(usize, usize), ([u8; 32], &'f str)>;

/// The stencil of each statement of a group that is a call.
type CallFronts = Vec<Option<Arc<Front>>>;

/// The code of a group of calls.
struct GroupCode {
    plans: Arc<Plans>,
    statements: GroupStatements,
    params: Arc<[GroupParam]>,
    signature: Option<Signature>,
    fronts: CallFronts,
    prepared: Prepared,
    /// Keeps the code for other programs.
    _cell: Arc<CodeCell>,
}

struct StencilCode {
    plans: Arc<Plans>,
    front: Arc<Front>,
    prepared: Prepared,
    _cell: Arc<CodeCell>,
}

/// A group on its way to code.
struct GroupWithoutCode {
    number: usize,
    joined: Arc<JoinedGroup>,
    fronts: CallFronts,
    cell: Arc<CodeCell>,
}

impl fmt::Debug for ProgramCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramCode").field("n_stencils", &self.codes.len()).finish_non_exhaustive()
    }
}

impl ProgramCode {
    /// Code of a back end. `options` are those of all stencils. Where the back end runs on a device, the fields of a run
    /// stay there from call to call.
    #[must_use]
    pub fn new(executor: Arc<dyn Executor>, setting: OwnedSetting, mut options: PassOptions) -> Self {
        let device = executor.device();
        options.gpu = options.gpu.or_else(|| device.as_ref()?.model());
        let maker = CodeMaker { executor, setting, options };
        Self { maker, codes: Vec::new(), groups: BTreeMap::new(), device: device.map(DeviceFields::new) }
    }

    /// Whether the back end makes code of groups of calls.
    #[must_use]
    pub fn joins_calls(&self) -> bool {
        self.maker.joins_calls()
    }

    /// Prepares the groups of a program, and the stencils of its other calls, before the first run. All cores work at the
    /// same time. Answers the groups that have no code, each with the reason: their calls wait for the first run.
    ///
    /// # Errors
    ///
    /// The first stencil that the back end cannot prepare, with the reason.
    pub fn prepare(&mut self, instance: &ProgramInstance) -> Result<Vec<(usize, String)>, String> {
        let mut groups: Vec<(usize, &[ProgramStmt])> = Vec::new();
        let mut fronts: Vec<&Arc<Front>> = Vec::new();
        let joins_calls = self.joins_calls();
        outside_groups(&instance.program().body, joins_calls, &mut |stmt| match &stmt.kind {
            ProgramStmtKind::Group { number, body } => groups.push((*number, body.as_slice())),
            ProgramStmtKind::Call(call) => fronts.extend(instance.front_of(call)),
            _ => {}
        });
        let joined: Vec<_> = groups.par_iter().map(|it| joined_group(instance, *it)).collect();
        let (mut refused, mut whole) = (Vec::new(), Vec::new());
        for ((number, _), joined) in groups.into_iter().zip(joined) {
            match joined {
                Ok((joined, fronts)) => whole.push((number, joined, fronts)),
                Err(why) => refused.push((number, why)),
            }
        }
        let mut digests = FileDigests::new();
        let groups = whole.iter().map(|it| &it.1);
        let keys: Vec<CodeKey> =
            groups.map(|it| self.maker.key(&it.text(), it.sources(), &mut digests)).collect();
        let (mut all, mut making) = (Vec::new(), Vec::new());
        for ((number, joined, fronts), key) in whole.into_iter().zip(keys) {
            let (cell, order) = claim(key);
            making.extend(order.map(|it| (it, all.len())));
            all.push(GroupWithoutCode { number, joined: Arc::new(joined), fronts, cell });
        }
        let maker = &self.maker;
        making.into_par_iter().for_each(|(making, at)| making.done(maker.made_group(&all[at].joined)));
        for GroupWithoutCode { number, joined, fronts, cell } in all {
            match cell.wait() {
                Ok(SharedCode { plans, code }) => {
                    let (params, statements) = (joined.params.clone().into(), joined.statements.clone());
                    let prepared = Prepared::of(code);
                    let signature = joined.signature().cloned();
                    let group =
                        GroupCode { plans, statements, params, signature, fronts, prepared, _cell: cell };
                    self.groups.insert(number, group);
                }
                Err(failure) => refused.push((number, in_words(failure))),
            }
        }
        self.prepare_stencils(fronts)?;
        Ok(refused)
    }

    /// Makes the code for the sizes and strides of a run's arrays, before that run. Without it, the first call of each
    /// stencil makes its code.
    ///
    /// # Errors
    ///
    /// Inputs that do not fit, and code that cannot be made.
    pub fn fit(
        &mut self,
        instance: &mut ProgramInstance,
        inputs: &mut ProgramInputs,
    ) -> Result<(), ProgramStop> {
        instance.rehearse(inputs, &mut Fitting(self))
    }

    /// Prepares stencils. One that is not prepared waits for its first call.
    fn prepare_stencils<'a>(
        &mut self,
        fronts: impl IntoIterator<Item = &'a Arc<Front>>,
    ) -> Result<(), String> {
        let mut fronts: Vec<&Arc<Front>> =
            fronts.into_iter().filter(|it| self.position(it).is_none()).collect();
        fronts.sort_by_key(|it| Arc::as_ptr(it));
        fronts.dedup_by_key(|it| Arc::as_ptr(it));
        let (mut all, mut making, mut digests) = (Vec::new(), Vec::new(), FileDigests::new());
        for front in fronts {
            let (cell, order) = claim(self.maker.key(&text_of(front), front.sources(), &mut digests));
            making.extend(order.map(|it| (it, Arc::clone(front))));
            all.push((Arc::clone(front), cell));
        }
        let maker = &self.maker;
        making.into_par_iter().for_each(|(making, front)| making.done(maker.made(&front)));
        for (front, cell) in all {
            let name = front.stencil.as_deref().unwrap_or_default();
            let code = cell.wait().map_err(|why| format!("`{name}` has no code: {}", in_words(why)))?;
            let SharedCode { plans, code } = code;
            self.codes.push(StencilCode { plans, prepared: Prepared::of(code), front, _cell: cell });
        }
        Ok(())
    }

    /// The groups that have code, by their numbers. Code that was found on disk is compiled now.
    pub fn groups(&self) -> impl Iterator<Item = (usize, &Compilation)> {
        self.groups.iter().map(|(number, it)| (*number, &**it.plans.compilation()))
    }

    /// The number of groups that have code.
    #[must_use]
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// The number of stencils that have code of their own.
    #[must_use]
    pub fn n_stencils(&self) -> usize {
        self.codes.len()
    }

    /// How many groups and stencils were compiled in this process. All others were found on disk.
    #[must_use]
    pub fn n_compiled(&self) -> usize {
        let all = self.groups.values().map(|it| &it.plans).chain(self.codes.iter().map(|it| &it.plans));
        all.filter(|it| it.is_compiled()).count()
    }

    fn position(&self, front: &Arc<Front>) -> Option<usize> {
        self.codes.iter().position(|it| Arc::ptr_eq(&it.front, front))
    }

    fn code(&mut self, front: &Arc<Front>) -> Result<&mut StencilCode, Failure> {
        let at = match self.position(front) {
            Some(at) => at,
            None => {
                let (cell, order) =
                    claim(self.maker.key(&text_of(front), front.sources(), &mut FileDigests::new()));
                if let Some(order) = order {
                    order.done(self.maker.made(front));
                }
                let SharedCode { plans, code } = cell.wait()?;
                let (front, prepared) = (Arc::clone(front), Prepared::of(code));
                self.codes.push(StencilCode { plans, front, prepared, _cell: cell });
                self.codes.len() - 1
            }
        };
        Ok(&mut self.codes[at])
    }
}

impl GroupCode {
    /// Why its call ended the run.
    fn stop(&self, failure: Failure) -> GroupStop {
        match failure {
            Failure::Cancelled => GroupStop { stop: StencilStop::Cancelled, statement: None },
            Failure::Trap { message, statement, cell } => {
                let position = self.statements.statement_of(statement);
                let own = self.statements.in_stencil(statement, cell).unwrap_or((statement, cell));
                let (own, [i, j, k]) = own;
                let why = format!("{message}, in {own} at i={i}, j={j}, k={k}");
                let front = position.and_then(|it| self.fronts.get(it)?.as_ref());
                let statement = front.and_then(|it| it.place(own));
                GroupStop { stop: StencilStop::Fault { why, statement }, statement: position }
            }
            other => GroupStop { stop: not_made(other), statement: None },
        }
    }
}

impl StencilCode {
    /// Why its call ended the run.
    fn stop(&self, failure: Failure) -> StencilStop {
        match failure {
            Failure::Cancelled => StencilStop::Cancelled,
            Failure::Trap { message, statement, cell: [i, j, k] } => {
                let why = format!("{message}, in {statement} at i={i}, j={j}, k={k}");
                StencilStop::Fault { why, statement: self.front.place(statement) }
            }
            other => not_made(other),
        }
    }
}

impl CodeMaker {
    /// Whether the back end makes code of loops or kernels.
    fn joins_calls(&self) -> bool {
        let program = self.executor.program(self.setting.borrow());
        matches!(program, ProgramKind::Loops(_) | ProgramKind::Kernels)
    }

    /// The digest of all that decides the code of a stencil or a group: the back end, its text, and the files of its
    /// places.
    fn key<'f>(
        &self,
        text: &str,
        files: impl Iterator<Item = (&'f str, &'f str)>,
        digests: &mut FileDigests<'f>,
    ) -> CodeKey {
        // The folder decides nothing.
        let setting = OwnedSetting { temporary: PathBuf::new(), ..self.setting.clone() };
        let mut hasher = Sha256::new();
        hasher.update(format!("{:?}\n{setting:?}\n{:?}\n{text}\n", self.executor, self.options));
        for (name, text) in files {
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
            // Stencils of one program have the same files.
            let place = (text.as_ptr().addr(), text.len());
            let (digest, _) = digests.entry(place).or_insert_with(|| (Sha256::digest(text).into(), text));
            hasher.update(*digest);
        }
        hasher.finalize().into()
    }

    fn made(&self, front: &Arc<Front>) -> Result<SharedCode, Failure> {
        let Self { executor, setting, options, .. } = self;
        let variant = Variant::of(options, executor.program(setting.borrow()));
        let file = self.file((&text_of(front), front.sources()), front.stencil.as_deref());
        let (front, options) = (Arc::clone(front), options.clone());
        // No arrays are turned here, and no parameters are one: these variants alone are not there for all stencils.
        let compile = move || back(&front, &options, &variant, &mut NoHook).unwrap_or_default();
        self.prepared(Plans::made_by(compile, self.options.clone(), file))
    }

    fn made_group(&self, joined: &Arc<JoinedGroup>) -> Result<SharedCode, Failure> {
        let file = self.file((&joined.text(), joined.sources()), Some(joined.name()));
        let (joined, options) = (Arc::clone(joined), self.options.clone());
        let compile = move || joined.lowered(&options, &mut NoHook);
        self.prepared(Plans::made_by(compile, self.options.clone(), file))
    }

    fn prepared(&self, plans: Arc<Plans>) -> Result<SharedCode, Failure> {
        let prepared = prepare(&*self.executor, &plans, self.setting.borrow(), &|_| ())?;
        Ok(SharedCode::new(plans, &prepared))
    }

    /// Where other processes find plans and code of a text with the files of its places.
    fn file<'f>(
        &self,
        (text, files): (&str, impl Iterator<Item = (&'f str, &'f str)>),
        name: Option<&str>,
    ) -> Option<Arc<StencilFile>> {
        let OwnedSetting { cache, mode, vectors, relayout, .. } = &self.setting;
        let root = cache.as_ref().filter(|_| self.executor.stores_plans())?;
        let texts: Vec<&str> = files.flat_map(|it| [it.0, it.1]).collect();
        let flags = format!("part of a program {:?} {mode:?} {vectors:?} {relayout:?}", self.options);
        let parts = KeyParts::of_own_code(std::iter::once(text).chain(texts), flags);
        StencilFile::open(root, parts, name)
    }
}

/// The text that decides the code of a stencil.
fn text_of(front: &Front) -> String {
    let oir = front.listing(Stage::OIR).map_or("", |it| &it.text);
    format!("{:?}\n{oir}\n{:?}", front.signature, front.order())
}

/// Calls `each` for the statements of all blocks; for a group as one, where it is one piece of code.
fn outside_groups<'p>(body: &'p [ProgramStmt], joins_calls: bool, each: &mut dyn FnMut(&'p ProgramStmt)) {
    for stmt in body {
        each(stmt);
        if !joins_calls || !matches!(stmt.kind, ProgramStmtKind::Group { .. }) {
            stmt.blocks().into_iter().for_each(|it| outside_groups(it, joins_calls, each));
        }
    }
}

/// A group as one tree, and the stencil of each statement that is a call.
fn joined_group(
    instance: &ProgramInstance,
    (number, body): (usize, &[ProgramStmt]),
) -> Result<(JoinedGroup, CallFronts), String> {
    let front_of = |call: &StencilCall| instance.front_of(call).map(Arc::clone);
    let joined = join_group(instance.program(), (number, body), &front_of)?;
    let fronts = body.iter().map(|stmt| match &stmt.kind {
        ProgramStmtKind::Call(call) => front_of(call),
        _ => None,
    });
    Ok((joined, fronts.collect()))
}

/// Makes the code of stencils and groups for the sizes and strides of their launches, and runs nothing.
struct Fitting<'a>(&'a mut ProgramCode);

impl StencilRunner for Fitting<'_> {
    fn group(&mut self, number: usize) -> Option<Arc<[GroupParam]>> {
        self.0.group(number)
    }

    fn run_group(
        &mut self,
        number: usize,
        launch: &mut Launch,
        _control: &mut dyn Control,
    ) -> Result<(), GroupStop> {
        let fitted = self.0.groups.get(&number).map_or(Ok(()), |it| it.prepared.fit(launch, &|_| ()));
        fitted.map_err(|failure| GroupStop { stop: not_made(failure), statement: None })
    }

    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        _control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        let code = self.0.code(front).map_err(not_made)?;
        code.prepared.fit(launch, &|_| ()).map_err(not_made)
    }

    fn forgets_locals(&self) -> bool {
        self.0.forgets_locals()
    }

    fn prefers_rows(&self) -> bool {
        self.0.prefers_rows()
    }
}

fn not_made(failure: Failure) -> StencilStop {
    StencilStop::Fault { why: in_words(failure), statement: None }
}

impl StencilRunner for ProgramCode {
    fn group(&mut self, number: usize) -> Option<Arc<[GroupParam]>> {
        self.groups.get(&number).map(|it| Arc::clone(&it.params))
    }

    fn run_group(
        &mut self,
        number: usize,
        launch: &mut Launch,
        _control: &mut dyn Control,
    ) -> Result<(), GroupStop> {
        let Some(code) = self.groups.get_mut(&number) else {
            let stop = StencilStop::Fault { why: "it has no code".to_owned(), statement: None };
            return Err(GroupStop { stop, statement: None });
        };
        code.prepared.run(launch).map_err(|failure| code.stop(failure))
    }

    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        _control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        let code = self.code(front).map_err(not_made)?;
        code.prepared.run(launch).map_err(|failure| code.stop(failure))
    }

    fn forgets_locals(&self) -> bool {
        false
    }

    /// Loops run along I. Other arrays would be copied at each call.
    fn prefers_rows(&self) -> bool {
        self.maker.joins_calls()
    }

    fn device(&mut self) -> Option<&mut dyn DeviceRunner> {
        self.device.is_some().then_some(self)
    }
}

fn in_words(failure: Failure) -> String {
    match failure {
        Failure::Cancelled => "it was cancelled".to_owned(),
        Failure::OutOfMemory => "there is no memory for its temporaries".to_owned(),
        Failure::Trap { message, .. } => message,
        Failure::Code(said) => format!("the C compiler refused the code: {said}"),
        Failure::Machine(why) => why,
    }
}
