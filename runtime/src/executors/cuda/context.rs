//! The context of a thread: the driver has one for each, and a program that uses another GPU goes on using that.

use cudarc::driver::result::ctx;
use cudarc::driver::sys::CUcontext;

use super::gpu::Gpu;

/// What the context of this thread was. It is that again when this is dropped, on the same thread.
#[derive(Debug)]
pub struct KeptContext {
    /// Its address; 0 where there was none.
    before: usize,
}

impl KeptContext {
    /// None where the driver does not tell; it has to be there.
    pub(super) fn now() -> Option<Self> {
        let before = ctx::get_current().ok()?;
        Some(Self { before: before.map_or(0, |it| it.expose_provenance()) })
    }
}

impl Gpu {
    /// Keeps the context of this thread: what is done on the GPU before this is dropped does not change it.
    #[must_use]
    pub fn keep_context(&self) -> Option<KeptContext> {
        KeptContext::now()
    }
}

impl Drop for KeptContext {
    #[expect(unsafe_code, reason = "the driver is called here")]
    fn drop(&mut self) {
        let before: CUcontext = std::ptr::with_exposed_provenance_mut(self.before);
        let now = ctx::get_current().map(|it| it.unwrap_or(std::ptr::null_mut()));
        if now.is_ok_and(|it| it != before) {
            // SAFETY: it was the context of this thread, or none. That its owner destroyed it since is an error of the
            // driver's, which changes nothing.
            let _ = unsafe { ctx::set_current(before) };
        }
    }
}
