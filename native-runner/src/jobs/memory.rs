//! The memory that jobs have together: one that asks for more than is left waits until others end.
//!
//! A job asks once its fields are known and before they are made, and asks once, so that no two wait for each other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The memory of all jobs. Cheap to copy.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: u64,
    line: Mutex<MemoryQueue>,
}

#[derive(Debug, Default)]
struct MemoryQueue {
    /// More than there is where a job grew.
    taken: u64,
    /// In the order in which they asked, each with its bytes.
    waiting: VecDeque<(u64, oneshot::Sender<MemoryGrant>)>,
}

/// The bytes of one job; others have them when this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryGrant {
    bytes: u64,
    of: Memory,
}

impl Memory {
    /// So many bytes for all.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self(Arc::new(Shared { most, line: Mutex::default() }))
    }

    fn line(&self) -> MutexGuard<'_, MemoryQueue> {
        self.0.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for so many bytes, behind those who asked before. A job that asks for more than there is waits for all of it.
    pub(crate) async fn take(&self, bytes: u64) -> MemoryGrant {
        let (go, mut given) = oneshot::channel();
        self.line().waiting.push_back((bytes.min(self.0.most), go));
        self.serve();
        match (&mut given).await {
            Ok(share) => share,
            // The line lives as long as this memory.
            Err(_) => MemoryGrant { bytes: 0, of: self.clone() },
        }
    }

    /// Whether so many bytes are there at once.
    pub(crate) fn has(&self, bytes: u64) -> bool {
        let mut line = self.line();
        line.waiting.retain(|it| !it.1.is_closed());
        line.waiting.is_empty() && line.taken.saturating_add(bytes.min(self.0.most)) <= self.0.most
    }

    fn serve(&self) {
        while let Some((go, share)) = self.next() {
            // Where it is not waited for any more, it is free again.
            drop(go.send(share));
        }
    }

    fn next(&self) -> Option<(oneshot::Sender<MemoryGrant>, MemoryGrant)> {
        let mut line = self.line();
        line.waiting.retain(|it| !it.1.is_closed());
        let bytes = line.waiting.front()?.0;
        if line.taken.saturating_add(bytes) > self.0.most {
            return None;
        }
        line.taken += bytes;
        let (_, go) = line.waiting.pop_front()?;
        Some((go, MemoryGrant { bytes, of: self.clone() }))
    }
}

impl MemoryGrant {
    /// The job needs so many bytes after all. It has them at once, and who comes next waits for them.
    pub(crate) fn becomes(&mut self, bytes: u64) {
        let bytes = bytes.min(self.of.0.most);
        {
            let mut line = self.of.line();
            line.taken = line.taken.saturating_sub(self.bytes).saturating_add(bytes);
        }
        self.bytes = bytes;
        self.of.serve();
    }
}

/// The part of the memory of all that a job may take. The default is no limit at all.
#[derive(Debug, Default)]
pub struct MemoryClaim {
    of: Option<Memory>,
    share: Option<MemoryGrant>,
}

impl MemoryClaim {
    pub(crate) fn of(memory: &Memory) -> Self {
        Self { of: Some(memory.clone()), share: None }
    }

    /// Whether so many bytes need not be waited for.
    pub(crate) fn has(&self, bytes: u64) -> bool {
        self.share.is_some() || self.of.as_ref().is_none_or(|it| it.has(bytes))
    }

    /// Waits for so many bytes. A job that has some already goes on with these instead, and waits for nobody.
    pub(crate) async fn take(&mut self, bytes: u64) {
        match (&mut self.share, &self.of) {
            (Some(share), _) => share.becomes(bytes),
            (None, Some(of)) => self.share = Some(of.take(bytes).await),
            (None, None) => {}
        }
    }
}

impl Drop for MemoryGrant {
    fn drop(&mut self) {
        let mut line = self.of.line();
        line.taken = line.taken.saturating_sub(self.bytes);
        drop(line);
        self.of.serve();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn is_given(memory: &Memory, bytes: u64) -> bool {
        tokio::time::timeout(Duration::from_millis(20), memory.take(bytes)).await.is_ok()
    }

    #[tokio::test]
    async fn two_large_jobs_wait_for_each_other_and_small_ones_do_not() {
        let memory = Memory::new(12);
        let mut large = memory.take(8).await;
        assert!(!memory.has(8) && !is_given(&memory, 8).await);
        assert!(memory.has(4) && is_given(&memory, 4).await);
        // Nobody passes one that waits, so that a large one waits no longer than those before it.
        let waits = {
            let memory = memory.clone();
            tokio::spawn(async move { memory.take(100).await })
        };
        tokio::task::yield_now().await;
        assert!(!is_given(&memory, 1).await);
        large.becomes(10);
        drop(large);
        let all = tokio::time::timeout(Duration::from_secs(20), waits).await.expect("it has its turn");
        assert!(!is_given(&memory, 1).await);
        drop(all);
        assert!(is_given(&memory, 12).await);
    }
}
