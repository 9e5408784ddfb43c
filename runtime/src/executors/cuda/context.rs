//! The context of a thread: the driver has one for each, and a program that uses another GPU goes on using that.

use cudarc::driver::result::ctx;
use cudarc::driver::sys::CUcontext;

use super::gpu::Gpu;

/// The context that this thread had. Dropping this, on the same thread, restores it.
#[derive(Debug)]
pub struct ContextGuard {
    /// Its address; 0 where there was none.
    before: usize,
}

impl ContextGuard {
    /// None where the driver does not tell. The driver has to be loaded.
    pub(super) fn now() -> Option<Self> {
        let before = ctx::get_current().ok()?;
        Some(Self { before: before.map_or(0, |it| it.expose_provenance()) })
    }
}

impl Gpu {
    /// Keeps the context of this thread: dropping the result restores it after work on the GPU.
    #[must_use]
    pub fn keep_context(&self) -> Option<ContextGuard> {
        ContextGuard::now()
    }
}

impl Drop for ContextGuard {
    #[expect(unsafe_code, reason = "the driver is called here")]
    fn drop(&mut self) {
        let before: CUcontext = std::ptr::with_exposed_provenance_mut(self.before);
        let now = ctx::get_current().map(|it| it.unwrap_or(std::ptr::null_mut()));
        if now.is_ok_and(|it| it != before) {
            // SAFETY: it was the context of this thread, or none. If its owner has destroyed it since, the
            // driver returns an error, and nothing changes.
            let _ = unsafe { ctx::set_current(before) };
        }
    }
}
