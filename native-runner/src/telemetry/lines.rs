//! A thread writes the lines of the log, so that no request waits for a reader.
//!
//! A log that cannot be written ends nothing. The thread counts the lines that are lost.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use super::metrics;

/// So many lines wait at most.
const MOST_WAITING: usize = 4096;
/// At its end, the runner waits so long for the lines.
const PATIENCE: Duration = Duration::from_secs(1);

enum Message {
    Line(Vec<u8>),
    /// Answered when all lines before are written.
    Settle(SyncSender<()>),
}

/// Where lines go: to standard error.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    sender: SyncSender<Message>,
}

static LINES: OnceLock<Lines> = OnceLock::new();

impl Lines {
    /// The lines of this process. Without their thread, all are lost and counted.
    pub(crate) fn of_process() -> Self {
        LINES.get_or_init(|| Self::to(io::stderr)).clone()
    }

    fn to<W: Write>(make: impl FnOnce() -> W + Send + 'static) -> Self {
        let (sender, messages) = sync_channel(MOST_WAITING);
        let _ = thread::Builder::new()
            .name("lines of the log".to_owned())
            .spawn(move || write_all(&messages, make()));
        Self { sender }
    }
}

/// Waits a moment for the lines that are left.
pub(crate) fn settle() {
    let Some(lines) = LINES.get() else { return };
    let (sender, answer) = sync_channel(1);
    if lines.sender.try_send(Message::Settle(sender)).is_ok() {
        let _ = answer.recv_timeout(PATIENCE);
    }
}

fn write_all(messages: &Receiver<Message>, mut into: impl Write) {
    for message in messages {
        match message {
            Message::Line(line) => {
                if into.write_all(&line).and_then(|()| into.flush()).is_err() {
                    metrics().lost_line();
                }
            }
            Message::Settle(answer) => drop(answer.send(())),
        }
    }
}

/// One line, which is sent when this is dropped.
#[derive(Debug)]
pub(crate) struct Line {
    sender: SyncSender<Message>,
    bytes: Vec<u8>,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let line = std::mem::take(&mut self.bytes);
        if !line.is_empty() && self.sender.try_send(Message::Line(line)).is_err() {
            metrics().lost_line();
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { sender: self.sender.clone(), bytes: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Never done.
    struct Stuck;

    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            loop {
                thread::park();
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_who_does_not_read() {
        let lines = Lines::to(|| Stuck);
        let before = metrics().lines_lost();
        for _ in 0..2 * MOST_WAITING {
            let _ = lines.make_writer().write_all(b"a line\n");
        }
        assert!(metrics().lines_lost() >= before + MOST_WAITING as u64 - 1);
    }
}
