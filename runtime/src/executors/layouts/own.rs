//! The memory of copies: pages that the system hands over when they are first touched, large ones where there are some.

use std::slice;
use std::sync::{Arc, Mutex};

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::buffer::{Buffer, LentMemory};
use isobar_compiler::call::launch::FieldArgument;
use isobar_compiler::types::DType;

use super::copies::{LINE_BYTES, Move};
use crate::executors::Failure;
use crate::executors::workspace::Workspace;

/// The distance between the starts of copies of one shape, in cache lines, beside whole pages. Copies that
/// begin at the same place of their pages share the sets of the nearest cache.
const LINES_APART: usize = 5;

/// Memory of the large copies of earlier calls, for the next call of any stencil. Its pages need not be made
/// and cleared again, and those touched last are still in a cache.
static FREE: Mutex<Vec<Workspace>> = Mutex::new(Vec::new());

/// The most workspaces that are kept: as many as calls run at a time, in a model that runs its tiles on
/// threads.
const MOST_FREE: usize = 8;

/// Takes the smallest free memory of at least so many bytes, or else the largest that there is.
fn taken(bytes: usize) -> Workspace {
    // Does not wait for the lock: a forked child has it as it was, but not the thread that holds it.
    let Ok(mut free) = FREE.try_lock() else { return Workspace::default() };
    let fits = |it: &Workspace| it.bytes() >= bytes as u64;
    let of_fitting = (0..free.len()).filter(|&at| fits(&free[at])).min_by_key(|&at| free[at].bytes());
    match of_fitting.or_else(|| (0..free.len()).max_by_key(|&at| free[at].bytes())) {
        Some(at) => free.swap_remove(at),
        None => Workspace::default(),
    }
}

/// Returns the memory of copies, for any call that needs some next.
pub(super) fn give_back(fields: Vec<Option<FieldArgument>>, memory: Arc<CopyMemory>) {
    drop(fields);
    let (Ok(memory), Ok(mut free)) = (Arc::try_unwrap(memory), FREE.try_lock()) else { return };
    free.push(memory.workspace);
    if free.len() > MOST_FREE
        && let Some(at) = (0..free.len()).min_by_key(|&at| free[at].bytes())
    {
        free.swap_remove(at);
    }
}

/// Copies of fields, in memory of their own.
pub(super) struct FieldCopies {
    pub(super) fields: Vec<Option<FieldArgument>>,
    pub(super) memory: Arc<CopyMemory>,
}

/// Memory for each field that is copied, not initialised. From `pooled_from` bytes on, memory of earlier
/// calls is used.
///
/// # Errors
///
/// Where there is no such memory.
pub(super) fn fields(moves: &[Option<Move>], pooled_from: usize) -> Result<FieldCopies, Failure> {
    let mut bytes = 0_usize;
    let mut starts = Vec::with_capacity(moves.len());
    for (at, it) in moves.iter().enumerate() {
        let Some(it) = it else {
            starts.push(0);
            continue;
        };
        let beside = (1 + at % 8) * LINES_APART * LINE_BYTES;
        // The first point of a row lies at the start of a line.
        let size = it.dtype.size_bytes();
        let before = usize::try_from(it.origin[0]).unwrap_or(0) * size % LINE_BYTES;
        let start = bytes.next_multiple_of(LINE_BYTES) + beside + (LINE_BYTES - before) % LINE_BYTES;
        starts.push(start);
        bytes = start.checked_add(it.bytes()).ok_or(Failure::OutOfMemory)?;
    }
    let mut workspace = if bytes < pooled_from { Workspace::default() } else { taken(bytes) };
    workspace.reserve(bytes as u64).ok_or(Failure::OutOfMemory)?;
    let first = workspace.start();
    for (it, &start) in moves.iter().zip(&starts) {
        // Any bytes are a valid number, but only 0 and 1 are a valid `bool`.
        if let Some(it) = it.as_ref().filter(|it| it.dtype == DType::Bool) {
            clear(first.wrapping_add(start), it.bytes());
        }
    }
    let memory = Arc::new(CopyMemory { workspace });
    let each = moves.iter().zip(starts).map(|(it, start)| {
        let it = it.as_ref()?;
        let (strides, n) = it.layout();
        let elements = elements(it.dtype, first.wrapping_add(start), n, &memory);
        let strides = strides.into_iter().map(|it| i64::try_from(it).unwrap_or(i64::MAX)).collect();
        let array = Array { elements, first: 0, shape: it.shape.clone(), strides };
        Some(FieldArgument { array, origin: it.origin })
    });
    let fields = each.collect();
    Ok(FieldCopies { fields, memory })
}

#[expect(unsafe_code, reason = "memory of the system's is written here")]
fn clear(start: *mut u8, n: usize) {
    // SAFETY: so many bytes of the workspace lie there, and nobody else has it yet.
    unsafe { start.write_bytes(0, n) }
}

fn elements(dtype: DType, start: *mut u8, n: usize, memory: &Arc<CopyMemory>) -> Elements {
    if n == 0 {
        return Elements::zeros(dtype, 0);
    }
    match dtype {
        DType::Bool => Elements::Bool(part(start, n, memory)),
        DType::Int8 => Elements::Int8(part(start, n, memory)),
        DType::Int16 => Elements::Int16(part(start, n, memory)),
        DType::Int32 => Elements::Int32(part(start, n, memory)),
        DType::Int64 => Elements::Int64(part(start, n, memory)),
        DType::Float32 => Elements::Float32(part(start, n, memory)),
        DType::Float64 => Elements::Float64(part(start, n, memory)),
    }
}

fn part<T: std::fmt::Debug + Send + Sync + 'static>(
    start: *mut u8,
    n: usize,
    memory: &Arc<CopyMemory>,
) -> Buffer<T> {
    Buffer::lent(Box::new(CopyElements::<T> { start: start.cast(), n, _memory: Arc::clone(memory) }))
}

/// The memory of all copies of a call.
#[derive(Debug)]
pub(super) struct CopyMemory {
    workspace: Workspace,
}

// SAFETY: the mapping lives as long as this, which gives no reference to it away.
#[expect(unsafe_code, reason = "each part of it is some thread's own")]
unsafe impl Sync for CopyMemory {}

/// Elements of one copy, which no other one has.
#[derive(Debug)]
struct CopyElements<T> {
    start: *mut T,
    n: usize,
    _memory: Arc<CopyMemory>,
}

// SAFETY: the elements are this part's alone, and belong to no thread.
#[expect(unsafe_code, reason = "who calls a stencil may be on another thread the next time")]
unsafe impl<T: Send> Send for CopyElements<T> {}
// SAFETY: as above; what is shared is only read.
#[expect(unsafe_code, reason = "who calls a stencil may be on another thread the next time")]
unsafe impl<T: Sync> Sync for CopyElements<T> {}

impl<T: Send + Sync + std::fmt::Debug> LentMemory<T> for CopyElements<T> {
    #[expect(unsafe_code, reason = "memory of the system's becomes elements here")]
    fn elements(&self) -> &[T] {
        // SAFETY: so many elements lie there, aligned. Any bytes are values of their type; those of a `bool`
        // were cleared or copied.
        unsafe { slice::from_raw_parts(self.start, self.n) }
    }

    #[expect(unsafe_code, reason = "memory of the system's becomes elements here")]
    fn elements_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; nobody else has them.
        unsafe { slice::from_raw_parts_mut(self.start, self.n) }
    }

    fn start(&mut self) -> *mut T {
        self.start
    }
}
