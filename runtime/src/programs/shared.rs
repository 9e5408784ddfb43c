//! Code that the programs of a process share: ranks that are threads, and instances of one class, have the same stencils.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use isobar_compiler::pipeline::Compilation;

use crate::executors::{Code, Prepared};
use crate::failure::Failure;

/// The code of a stencil, or of a group of calls.
#[derive(Clone)]
pub(super) struct SharedCode {
    pub(super) compilation: Arc<Compilation>,
    pub(super) code: Arc<dyn Code>,
}

impl SharedCode {
    pub(super) fn new(compilation: Arc<Compilation>, prepared: &Prepared) -> Self {
        Self { compilation, code: prepared.code() }
    }
}

/// A place for code, which somebody makes. It is there as long as a program has it.
#[derive(Default)]
pub(super) struct CodeCell {
    made: Mutex<Option<Result<SharedCode, Failure>>>,
    changed: Condvar,
}

impl fmt::Debug for CodeCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeCell").finish_non_exhaustive()
    }
}

/// The cells of all programs, by what decides their code.
static CELLS: Mutex<BTreeMap<String, Weak<CodeCell>>> = Mutex::new(BTreeMap::new());

/// A cell, and who fills it.
pub(super) enum Claim {
    /// The caller has to fill it.
    Mine(MakingCode),
    /// It is filled, or somebody else is about to fill it.
    Theirs(Arc<CodeCell>),
}

/// The cell of a key. The first who asks has to fill it.
pub(super) fn claim(key: String) -> Claim {
    let mut cells = unpoisoned(&CELLS);
    if let Some(known) = cells.get(&key).and_then(Weak::upgrade) {
        return Claim::Theirs(known);
    }
    cells.retain(|_, it| it.strong_count() > 0);
    let cell = Arc::new(CodeCell::default());
    cells.insert(key, Arc::downgrade(&cell));
    Claim::Mine(MakingCode { cell, is_done: false })
}

/// Fills a cell; one that is dropped leaves a failure there, so that nobody waits in vain.
pub(super) struct MakingCode {
    cell: Arc<CodeCell>,
    is_done: bool,
}

impl MakingCode {
    pub(super) fn cell(&self) -> Arc<CodeCell> {
        Arc::clone(&self.cell)
    }

    pub(super) fn done(mut self, made: Result<SharedCode, Failure>) {
        self.is_done = true;
        self.cell.fill(made);
    }
}

impl Drop for MakingCode {
    fn drop(&mut self) {
        if !self.is_done {
            self.cell.fill(Err(Failure::Machine("its compilation did not end".to_owned())));
        }
    }
}

impl CodeCell {
    fn fill(&self, made: Result<SharedCode, Failure>) {
        *unpoisoned(&self.made) = Some(made);
        self.changed.notify_all();
    }

    /// The code, once it is there. No thread that others need to make code may wait here.
    pub(super) fn wait(&self) -> Result<SharedCode, Failure> {
        let made = unpoisoned(&self.made);
        let made = self.changed.wait_while(made, |it| it.is_none()).unwrap_or_else(PoisonError::into_inner);
        made.clone().unwrap_or_else(|| Err(Failure::Machine("its compilation did not end".to_owned())))
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
