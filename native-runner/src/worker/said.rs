//! Messages of a job's process to its runner, in order, and in few writes: each write wakes the runner and
//! the readers of the events.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use isobar_compiler::call::array::Array;
use isobar_protocol::job::EventKind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::{stdin, stdout};

use super::{send, stop};
use crate::wire::{self, WorkerMessage};

/// Messages that are not written yet.
static WAITS: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The buffer is written when it holds this much,
const MOST_BYTES: usize = 32 * 1024;
/// or after this time. The buffer of a silent process is checked less often.
const SOON: Duration = Duration::from_millis(2);
const RARELY: Duration = Duration::from_millis(64);

fn waits() -> MutexGuard<'static, Vec<u8>> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells something with these bytes.
pub(super) fn send(said: &WorkerMessage, bytes: &[u8]) {
    let mut waits = waits();
    let head = wire::head(said, bytes.len() as u64);
    let mut done = head.map(|it| waits.extend(it));
    if !may_wait(said) || !bytes.is_empty() || waits.len() >= MOST_BYTES {
        done = done.and_then(|()| flush(&mut waits)).and_then(|()| write_all(bytes));
    }
    heard(done);
}

/// Tells an event; of a field, with its array.
pub(super) fn event(event: EventKind, field: Option<&Array>) {
    let said = WorkerMessage::Event(event);
    let Some(array) = field else { return send(&said, &[]) };
    let mut waits = waits();
    let head = wire::head(&said, send::bytes(array)).map(|it| waits.extend(it));
    let mut parts = send::parts(array);
    let done = head.and_then(|()| flush(&mut waits));
    heard(done.and_then(|()| parts.try_for_each(|it| write_all(&it))));
}

/// Where nobody listens any more, nobody needs the work either.
fn heard(done: io::Result<()>) {
    if done.is_err() {
        stop();
    }
}

/// Whether it is soon enough when the next look is: nothing is done on the word that a step began or ended.
fn may_wait(said: &WorkerMessage) -> bool {
    match said {
        WorkerMessage::Event(event) => matches!(
            event,
            EventKind::Stage { .. }
                | EventKind::Timing { .. }
                | EventKind::Progress { .. }
                | EventKind::Memory { .. }
                | EventKind::Layout { .. }
                | EventKind::Steps { .. }
                | EventKind::Calls { .. }
                | EventKind::Copy { .. }
        ),
        WorkerMessage::Entry(_) => true,
        WorkerMessage::Needs { .. } | WorkerMessage::Runs | WorkerMessage::Compiled(_) => false,
    }
}

fn flush(waits: &mut Vec<u8>) -> io::Result<()> {
    write_all(waits)?;
    waits.clear();
    Ok(())
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            Err(why) => return Err(why.into()),
        }
    }
    Ok(())
}

/// The most that was asked for.
static ASKED: AtomicU64 = AtomicU64::new(0);
/// How often the runner said yes.
static GRANTS: Mutex<u64> = Mutex::new(0);
static GRANTED: Condvar = Condvar::new();

/// Waits until this job may take so many bytes for fields and temporaries, in all.
pub(super) fn ask(bytes: u64) {
    if ASKED.fetch_max(bytes, Ordering::SeqCst) >= bytes {
        return;
    }
    send(&WorkerMessage::Needs { bytes }, &[]);
    let grants = GRANTS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_missing = |grants: &mut u64| *grants == 0;
    let mut grants = GRANTED.wait_while(grants, is_missing).unwrap_or_else(PoisonError::into_inner);
    *grants -= 1;
}

/// Takes a word of the runner; ends this process where it is none.
fn hears() {
    let mut word = [0];
    match rustix::io::read(stdin(), &mut word) {
        Ok(1) if word[0] == wire::GRANTED => {
            *GRANTS.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            GRANTED.notify_one();
        }
        Err(Errno::INTR) => {}
        Ok(_) | Err(_) => stop(),
    }
}

/// Writes what waits, hears what the runner says, and ends this process when its runner is gone: then the end of
/// standard input comes.
pub(super) fn watch() {
    let mut pause = SOON;
    loop {
        let mut input = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
        let timeout = Timespec::try_from(pause).ok();
        match poll(&mut input, timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => hears(),
            Err(_) => stop(),
        }
        let mut waits = waits();
        pause = if waits.is_empty() { (2 * pause).min(RARELY) } else { SOON };
        heard(flush(&mut waits));
    }
}
