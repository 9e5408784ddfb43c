//! Guards the end of each allocation: an access behind it, or after it was freed, ends the process.
//!
//! Each allocation ends where its pages end, and the next page belongs to nobody. Freed addresses are never used again.
#![expect(unsafe_code, reason = "it is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};

/// So many addresses are reserved. Only those in use have memory.
const ROOM: usize = 4 << 40;

/// Smaller allocations have no guard; fields and workspaces are larger.
const LEAST: usize = 64;

const PAGE: usize = 4096;

/// The allocator of the system, and guarded memory inside of [`Fence::around`].
#[derive(Debug)]
pub struct Fence;

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

static ROOM_AT: OnceLock<usize> = OnceLock::new();
static NEXT: AtomicUsize = AtomicUsize::new(0);

impl Fence {
    /// Guards what this thread allocates in `work`, where the program uses this allocator.
    pub fn around<T>(work: impl FnOnce() -> T) -> T {
        let _ = ROOM_AT.get_or_init(|| {
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
            // SAFETY: new addresses, which nothing else uses.
            let room = unsafe { mmap_anonymous(ptr::null_mut(), ROOM, ProtFlags::empty(), flags) };
            room.map_or(0, |it| it as usize)
        });
        let before = IS_ON.replace(true);
        let made = work();
        IS_ON.set(before);
        made
    }

    /// Whether the memory at an address is guarded.
    fn has(at: *mut u8) -> bool {
        ROOM_AT.get().is_some_and(|&room| room > 0 && (room..room + ROOM).contains(&(at as usize)))
    }

    /// Pages for so many bytes, and one behind them that stays nobody's.
    fn guarded(layout: Layout) -> Option<*mut u8> {
        let room = ROOM_AT.get().copied().filter(|it| *it > 0)?;
        let pages = layout.size().checked_next_multiple_of(PAGE)?;
        let at = NEXT.fetch_add(pages + PAGE, Ordering::Relaxed);
        if at + pages + PAGE > ROOM || layout.align() > PAGE {
            return None;
        }
        let start = (room + at) as *mut c_void;
        // SAFETY: these pages are ours, and nobody else was given them.
        unsafe { mprotect(start, pages, MprotectFlags::READ | MprotectFlags::WRITE) }.ok()?;
        let size = layout.size().checked_next_multiple_of(layout.align())?;
        Some((room + at + pages - size) as *mut u8)
    }
}

// SAFETY: guarded memory is given out once, at an address that has the alignment; all other calls go to the system.
unsafe impl GlobalAlloc for Fence {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let is_guarded = layout.size() >= LEAST && IS_ON.try_with(Cell::get).unwrap_or(false);
        if let Some(at) = is_guarded.then(|| Self::guarded(layout)).flatten() {
            return at;
        }
        // SAFETY: as the caller holds it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if !Self::has(at) {
            // SAFETY: it came from there.
            return unsafe { System.dealloc(at, layout) };
        }
        let start = at as usize / PAGE * PAGE;
        let pages = layout.size().next_multiple_of(PAGE);
        if let Some(start) = NonNull::new(start as *mut c_void) {
            // SAFETY: the caller is done with it, and nobody gets these addresses again.
            unsafe {
                let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
                let _ = mmap_anonymous(start.as_ptr(), pages, ProtFlags::empty(), flags);
            }
        }
    }
}
