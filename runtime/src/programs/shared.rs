//! Code that the programs of a process share: ranks that are threads, and instances of one class, have the same stencils.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use isobar_program::stencils::SharedStencils;

use crate::executors::{Code, Prepared};
use crate::failure::Failure;
use crate::plans::Plans;

/// The code of a stencil, or of a group of calls.
#[derive(Clone)]
pub(super) struct SharedCode {
    pub(super) plans: Arc<Plans>,
    pub(super) code: Arc<dyn Code>,
}

impl SharedCode {
    pub(super) fn new(plans: Arc<Plans>, prepared: &Prepared) -> Self {
        Self { plans, code: prepared.code() }
    }
}

/// The place of some code. One thread makes the code; others wait for it. It lives as long as a program has it.
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

/// A digest of all that decides some code.
pub(super) type CodeKey = [u8; 32];

/// The stencils of all programs that embedders make.
pub(super) static STENCILS: LazyLock<SharedStencils> = LazyLock::new(SharedStencils::default);

/// The cells of all programs.
static CELLS: Mutex<BTreeMap<CodeKey, Weak<CodeCell>>> = Mutex::new(BTreeMap::new());

/// The cell of a key. The first caller gets the order to fill it, and all later ones none.
pub(super) fn claim(key: CodeKey) -> (Arc<CodeCell>, Option<MakingCode>) {
    let mut cells = unpoisoned(&CELLS);
    if let Some(known) = cells.get(&key).and_then(Weak::upgrade) {
        return (known, None);
    }
    cells.retain(|_, it| it.strong_count() > 0);
    let cell = Arc::new(CodeCell::default());
    cells.insert(key, Arc::downgrade(&cell));
    (Arc::clone(&cell), Some(MakingCode { cell, is_done: false }))
}

/// The order to fill a cell. A dropped order leaves a failure in the cell, which ends the wait of other threads.
pub(super) struct MakingCode {
    cell: Arc<CodeCell>,
    is_done: bool,
}

impl MakingCode {
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

    /// Waits for the code. A thread that makes code of other cells must not wait here.
    pub(super) fn wait(&self) -> Result<SharedCode, Failure> {
        let made = unpoisoned(&self.made);
        let made = self.changed.wait_while(made, |it| it.is_none()).unwrap_or_else(PoisonError::into_inner);
        made.clone().unwrap_or_else(|| Err(Failure::Machine("its compilation did not end".to_owned())))
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
