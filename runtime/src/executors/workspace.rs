//! Memory of temporaries that is kept from one call to the next.

use std::ffi::c_void;
use std::ptr::null_mut;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Pages of the processor's larger kind: what has several of them starts at one.
const LARGE_PAGE: usize = 2 << 20;

/// Pages that the system hands over when they are first touched, so that each lies near the thread that does it.
#[derive(Debug)]
pub(super) struct Workspace {
    mapping: *mut c_void,
    mapped: usize,
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the mapping is this workspace's alone, and belongs to no thread.
#[expect(unsafe_code, reason = "who calls a stencil may be on another thread the next time")]
unsafe impl Send for Workspace {}

impl Default for Workspace {
    fn default() -> Self {
        Self { mapping: null_mut(), mapped: 0, start: null_mut(), bytes: 0 }
    }
}

impl Workspace {
    /// Null where there is none.
    pub(super) fn start(&mut self) -> *mut u8 {
        self.start
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Makes it at least so large; what was there may be gone. `None` where there is no such memory.
    #[expect(unsafe_code, reason = "memory that nothing has touched comes from the system alone")]
    pub(super) fn reserve(&mut self, bytes: u64) -> Option<()> {
        let bytes = usize::try_from(bytes).ok()?;
        if bytes <= self.bytes {
            return Some(());
        }
        self.release();
        let is_large = bytes >= 2 * LARGE_PAGE;
        let mapped = if is_large { bytes.checked_add(LARGE_PAGE)? } else { bytes };
        // SAFETY: a mapping of its own, wherever the system puts it.
        let mapping = unsafe {
            mmap_anonymous(null_mut(), mapped, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let mapping = mapping.ok()?;
        let mut start = mapping.cast::<u8>();
        if is_large {
            start = start.wrapping_add(start.align_offset(LARGE_PAGE));
            // SAFETY: the range lies within the mapping above. Where the system has no larger pages, these do.
            let _ = unsafe { madvise(start.cast(), bytes, Advice::LinuxHugepage) };
        }
        *self = Self { mapping, mapped, start, bytes };
        Some(())
    }

    #[expect(unsafe_code, reason = "what came from the system goes back to it")]
    fn release(&mut self) {
        if !self.mapping.is_null() {
            // SAFETY: `mapping` is one of our own of that length, and no pointer into it outlives a call.
            let _ = unsafe { munmap(self.mapping, self.mapped) };
        }
        // Not `*self = default()`, which would drop what was just given back.
        (self.mapping, self.mapped, self.start, self.bytes) = (null_mut(), 0, null_mut(), 0);
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_and_starts_at_a_line_or_at_a_large_page() {
        let mut workspace = Workspace::default();
        assert!(workspace.start().is_null());
        for (bytes, alignment) in [(100, 64), (8 << 20, LARGE_PAGE)] {
            workspace.reserve(bytes).unwrap();
            assert!(workspace.bytes() >= bytes);
            assert_eq!(workspace.start().align_offset(alignment), 0);
        }
        let kept = workspace.start();
        workspace.reserve(1 << 20).unwrap();
        assert_eq!(workspace.start(), kept);
        assert!(workspace.reserve(u64::MAX).is_none());
        assert!(workspace.reserve(1 << 60).is_none());
    }
}
