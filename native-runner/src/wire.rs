//! Messages between the runner and a job's process: frames of a document and, beside it, bytes.
//!
//! `u32` length of the JSON document, `u64` length of the bytes, both little-endian, then both.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use isobar_protocol::compile::Compiled;
use isobar_protocol::job::EventKind;
use isobar_protocol::limits::Limits;
use isobar_protocol::request::{Machine, Request};
use isobar_runtime::cache::HandedEntry;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::backends::{CCompiler, Relayout, Setting, Vectors};
use crate::config::Tools;
use crate::translate;

/// The one frame that a job's process is sent; the bytes are the `.npz` with input fields, or none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The job's name, for those who look at the list of processes.
    pub job: String,
    pub request: Request,
    /// Whether the bytes beside it are input fields.
    pub has_fields: bool,
    pub memory_bytes: u64,
    pub processor_seconds: u64,
    pub threads: u32,
    /// The machine that the job runs on, even if its schedule is made for another.
    pub machine: Machine,
    pub cache: Option<PathBuf>,
    /// The folder of the job, for its owner alone.
    pub temporary: PathBuf,
    /// Further paths that the job may read, beside that folder and those of the system.
    pub readable: Vec<PathBuf>,
    /// Whether it compiles and answers with the levels, and runs nothing.
    pub compiles: bool,
    /// The C compiler, or why there is none.
    pub cc: Result<CCompiler, String>,
    /// The parts of the sandbox that have to hold its process.
    pub promised: Vec<String>,
}

impl Order {
    /// An order for `request` within `limits`. The schedule is for this machine, unless the request names
    /// another.
    #[must_use]
    pub fn new(mut request: Request, has_fields: bool, limits: &Limits, tools: &Tools) -> Self {
        let most = u32::try_from(limits.threads).unwrap_or(u32::MAX).max(1);
        let threads = request.options.threads.unwrap_or(tools.cores).clamp(1, most);
        if request.passes.machine.is_none() {
            request.passes.machine = Some(tools.machine.clone());
        }
        let seconds = limits.run_ms.div_ceil(1000).saturating_add(5);
        Self {
            job: String::new(),
            request,
            has_fields,
            memory_bytes: limits.job_memory_bytes,
            // Whatever it asks for, it shares these.
            processor_seconds: seconds.saturating_mul(u64::from(tools.cores)),
            threads,
            machine: tools.machine.clone(),
            cache: tools.cache.clone(),
            temporary: tools.temporary.clone(),
            readable: tools.readable(),
            compiles: false,
            cc: tools.cc.clone(),
            promised: tools.promised.clone(),
        }
    }

    /// An order to compile alone.
    #[must_use]
    pub fn to_compile(request: Request, limits: &Limits, tools: &Tools) -> Self {
        let request = Request { tune: None, bench: None, ..request };
        Self {
            compiles: true,
            memory_bytes: limits.job_memory_bytes.min(COMPILE_BYTES),
            processor_seconds: limits.compile_ms.div_ceil(1000).saturating_add(1),
            threads: 1,
            cache: None,
            ..Self::new(request, false, limits, tools)
        }
    }

    /// The tools and limits of its back end.
    #[must_use]
    pub fn setting(&self) -> Setting<'_> {
        Setting {
            cc: &self.cc,
            cache: self.cache.as_deref(),
            temporary: &self.temporary,
            threads: self.threads,
            mode: translate::mode(self.request.options.mode),
            vectors: Vectors::Widest,
            relayout: Relayout::ByCost,
            has_lines: self.request.options.lines,
            is_embedded: false,
        }
    }
}

/// A message of a job's process to the process that started it. Bytes may follow it.
#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerMessage {
    /// With the bytes of a field, where it announces one.
    Event(EventKind),
    /// An entry for the cache with its code, or without code an entry that was found there.
    Entry(HandedEntry),
    /// So many bytes it is about to take for fields and temporaries; it waits for [`GRANTED`] on standard input.
    Needs { bytes: u64 },
    /// From now on code runs that was made here: the runner accepts no more entries for the cache.
    Runs,
    /// The result of a compilation.
    Compiled(Box<Compiled>),
}

/// The message that grants a job's process the memory it asked for.
pub const GRANTED: u8 = b'g';

/// The compiler takes no more memory.
const COMPILE_BYTES: u64 = 2 << 30;

/// A document is never longer.
const MOST_JSON_BYTES: usize = 64 * 1024 * 1024;
/// An event that a job's process tells is never longer; [`Limits::event_bytes`] may keep less of it.
const MOST_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// So many bytes beside a document are made room for before they are there.
const MOST_AT_ONCE: u64 = 16 * 1024 * 1024;

/// The bytes beside an order.
#[derive(Clone, Debug, Default)]
pub enum Fields {
    #[default]
    None,
    Memory(Vec<u8>),
    /// Read as the job's process takes it, so that jobs that wait hold no memory.
    File {
        file: Arc<File>,
        bytes: u64,
    },
}

impl Fields {
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        match self {
            Fields::None => 0,
            Fields::Memory(bytes) => bytes.len() as u64,
            Fields::File { bytes, .. } => *bytes,
        }
    }

    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Fields::None)
    }
}

/// The part of a frame before its bytes.
///
/// # Errors
///
/// When the document is too long.
pub fn head<T: Serialize>(document: &T, bytes: u64) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(document)?;
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    let mut out = Vec::with_capacity(json.len() + 12);
    out.extend(length.to_le_bytes());
    out.extend(bytes.to_le_bytes());
    out.extend(json);
    Ok(out)
}

/// Writes one frame.
///
/// # Errors
///
/// Those of `out`.
pub fn write<T: Serialize>(out: &mut impl Write, document: &T, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&head(document, bytes.len() as u64)?)?;
    out.write_all(bytes)?;
    out.flush()
}

/// Reads one frame.
///
/// # Errors
///
/// Those of `from`, and when it is no frame.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<(T, Vec<u8>)> {
    let mut head = [0; 12];
    from.read_exact(&mut head)?;
    let (json, bytes) = lengths(head)?;
    let mut document = vec![0; json];
    from.read_exact(&mut document)?;
    let mut data = Vec::new();
    if from.take(bytes).read_to_end(&mut data)? as u64 != bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((serde_json::from_slice(&document)?, data))
}

/// Reads what a job's process says; it is not trusted, so at most `most` bytes are taken.
///
/// # Errors
///
/// Those of `from`, and when it is no frame or too long.
pub async fn read_said(
    from: &mut (impl AsyncRead + Unpin),
    most: u64,
) -> io::Result<(WorkerMessage, Vec<u8>)> {
    read_within(from, MOST_EVENT_BYTES, most).await
}

/// Reads what a process says that compiles: all levels may be in it.
///
/// # Errors
///
/// Those of `from`, and when it is no frame or too long.
pub async fn read_compiled(from: &mut (impl AsyncRead + Unpin)) -> io::Result<WorkerMessage> {
    Ok(read_within(from, MOST_JSON_BYTES, 0).await?.0)
}

async fn read_within(
    from: &mut (impl AsyncRead + Unpin),
    most_json: usize,
    most: u64,
) -> io::Result<(WorkerMessage, Vec<u8>)> {
    let mut head = [0; 12];
    from.read_exact(&mut head).await?;
    let (json, bytes) = lengths(head)?;
    if json > most_json {
        return Err(io::Error::other("this is no event"));
    }
    if bytes > most {
        return Err(io::Error::other(TooMuch { asked: bytes, allowed: most }));
    }
    let mut document = vec![0; json];
    from.read_exact(&mut document).await?;
    // Memory beyond this is taken only as the bytes arrive, because the sender may announce any size.
    let mut data = Vec::with_capacity(usize::try_from(bytes.min(MOST_AT_ONCE)).unwrap_or(0));
    if from.take(bytes).read_to_end(&mut data).await? as u64 != bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((serde_json::from_slice(&document)?, data))
}

/// A frame with more bytes than are taken.
#[derive(Debug, thiserror::Error)]
#[error("{asked} bytes of results, and {allowed} are kept")]
pub struct TooMuch {
    pub asked: u64,
    pub allowed: u64,
}

fn lengths(head: [u8; 12]) -> io::Result<(usize, u64)> {
    let [a, b, c, d, bytes @ ..] = head;
    let json = u32::from_le_bytes([a, b, c, d]) as usize;
    if json > MOST_JSON_BYTES {
        return Err(io::Error::other("this is no frame"));
    }
    Ok((json, u64::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_as_it_was_and_a_cut_one_does_not() {
        let mut frame = Vec::new();
        let event = EventKind::Progress { done: 3, total: 7 };
        write(&mut frame, &event, &[1, 2, 3]).expect("memory takes it");
        let read_back: (EventKind, Vec<u8>) = read(&mut frame.as_slice()).expect("our own frame");
        assert_eq!(read_back, (event, vec![1, 2, 3]));
        for length in 0..frame.len() {
            assert!(read::<EventKind>(&mut &frame[..length]).is_err(), "{length}");
        }
        assert!(read::<EventKind>(&mut [255; 64].as_slice()).is_err());
    }

    #[tokio::test]
    async fn of_a_longer_event_nothing_is_read() {
        let read_back = async |bytes: usize| {
            let said = WorkerMessage::Event(EventKind::Log { text: "x".repeat(bytes) });
            let frame = head(&said, 0).expect("memory takes it");
            let mut left = frame.as_slice();
            let is_read = read_said(&mut left, 0).await.is_ok();
            (is_read, frame.len() - left.len())
        };
        assert!(read_back(MOST_EVENT_BYTES - 100).await.0);
        assert_eq!(read_back(MOST_EVENT_BYTES + 1).await, (false, 12));
    }
}
