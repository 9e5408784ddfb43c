//! Watches the steps of a compilation, as to time them: the compiler has no clock.

/// Is told when a step begins and ends; steps do not nest.
pub trait Hook {
    /// `step` is a door (`gtir`) or a pass (`oir/merge-horizontal-executions`).
    fn begin(&mut self, step: &'static str);
    fn end(&mut self, step: &'static str);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHook;

impl Hook for NoHook {
    fn begin(&mut self, _step: &'static str) {}
    fn end(&mut self, _step: &'static str) {}
}
