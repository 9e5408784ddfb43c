//! Ranks that are threads of one process.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use isobar_compiler::call::array::Elements;
use isobar_compiler::types::DType;
use isobar_program::interpret::{RankMessage, Transport};

/// The ranks of one run, which are threads: their messages lie in memory.
#[derive(Clone, Debug)]
pub struct Ranks(Arc<SharedMailboxes>);

/// Sender, receiver and tag of a message.
type MessageKey = (u32, u32, u32);

#[derive(Debug)]
struct SharedMailboxes {
    n: u32,
    messages: Mutex<Mailboxes>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Mailboxes {
    /// The messages that are not received yet, in the order of sending.
    sent: BTreeMap<MessageKey, VecDeque<Elements>>,
    /// The messages that ranks wait for.
    awaited: BTreeMap<u32, MessageKey>,
    /// The ranks that have ended.
    ended: BTreeSet<u32>,
}

impl Mailboxes {
    fn is_empty(&self, key: MessageKey) -> bool {
        self.sent.get(&key).is_none_or(VecDeque::is_empty)
    }

    /// Whether no rank that goes on can send anything.
    fn is_stuck(&self, n: u32) -> bool {
        let mut going = (0..n).filter(|it| !self.ended.contains(it));
        going.all(|it| self.awaited.get(&it).is_some_and(|key| self.is_empty(*key)))
    }
}

impl Ranks {
    /// `n` ranks.
    #[must_use]
    pub fn new(n: u32) -> Self {
        let (messages, changed) = (Mutex::default(), Condvar::new());
        Self(Arc::new(SharedMailboxes { n, messages, changed }))
    }

    fn messages(&self) -> MutexGuard<'_, Mailboxes> {
        self.0.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a rank sends nothing any more. Ranks that wait for it get a failure.
    pub fn end(&self, rank: u32) {
        self.messages().ended.insert(rank);
        self.0.changed.notify_all();
    }

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// Where there is no such rank.
    pub fn send(&self, from: u32, to: u32, tag: u32, message: Elements) -> Result<(), String> {
        if to >= self.0.n {
            return Err(format!("there is no rank {to}, there are {}", self.0.n));
        }
        self.messages().sent.entry((from, to, tag)).or_default().push_back(message);
        self.0.changed.notify_all();
        Ok(())
    }

    /// Waits for a message.
    ///
    /// # Errors
    ///
    /// Where the sender has ended, and where all ranks wait for each other.
    pub fn receive(&self, from: u32, to: u32, tag: u32) -> Result<Elements, String> {
        let key = (from, to, tag);
        let mut messages = self.messages();
        loop {
            if let Some(message) = messages.sent.get_mut(&key).and_then(VecDeque::pop_front) {
                messages.awaited.remove(&to);
                return Ok(message);
            }
            messages.awaited.insert(to, key);
            let why = if messages.ended.contains(&from) || from >= self.0.n {
                Some(format!("rank {from} has ended, and rank {to} waits for it"))
            } else if messages.is_stuck(self.0.n) {
                Some(format!("all ranks wait for each other, rank {to} for a message of rank {from}"))
            } else {
                None
            };
            if let Some(why) = why {
                messages.awaited.remove(&to);
                // The others find it out as well.
                messages.ended.insert(to);
                self.0.changed.notify_all();
                return Err(why);
            }
            messages = self.0.changed.wait(messages).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A rank that is a thread, as programs send and receive.
#[derive(Debug)]
pub struct RankThread {
    ranks: Ranks,
    rank: u32,
    /// The messages that exchanges wait for, with the type of their elements; no key where none arrive.
    started: BTreeMap<u64, Vec<(Option<MessageKey>, DType)>>,
    n_started: u64,
}

impl RankThread {
    /// One of the ranks.
    #[must_use]
    pub fn new(ranks: Ranks, rank: u32) -> Self {
        Self { ranks, rank, started: BTreeMap::new(), n_started: 0 }
    }
}

impl Transport for RankThread {
    fn start(&mut self, tag: u32, messages: Vec<RankMessage>) -> Result<u64, String> {
        let mut expected = Vec::with_capacity(messages.len());
        for RankMessage { rank, sent, n_received } in messages {
            expected.push(((n_received > 0).then_some((rank, self.rank, tag)), sent.dtype()));
            if !sent.is_empty() {
                self.ranks.send(self.rank, rank, tag, sent)?;
            }
        }
        self.n_started += 1;
        self.started.insert(self.n_started, expected);
        Ok(self.n_started)
    }

    fn finish(&mut self, started: u64) -> Result<Vec<Elements>, String> {
        let expected = self.started.remove(&started).unwrap_or_default();
        let arrived = expected.into_iter().map(|(key, dtype)| match key {
            Some((from, to, tag)) => self.ranks.receive(from, to, tag),
            None => Ok(Elements::zeros(dtype, 0)),
        });
        arrived.collect()
    }
}
