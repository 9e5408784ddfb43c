//! The compiler as the worker uses it: requests in, wire types out.

use isobar_protocol::compile::{Compiled, StepTime};
use isobar_protocol::request::Request;
use isobar_protocol::worker::{Defaults, Said};

use crate::fields::Kept;

/// A compiler with its memory of what it compiled last.
#[derive(Debug, Default)]
pub struct Compiler {}

impl Compiler {
    /// Compiles the request's text.
    pub fn compile(&mut self, request: &Request, clock: &dyn Fn() -> f64) -> (Compiled, Defaults) {
        let _ = (request, clock);
        (Compiled::default(), Defaults::default())
    }

    /// Runs `debug`.
    ///
    /// # Errors
    ///
    /// The answer that says why there is no result.
    pub fn run(
        &mut self,
        request: &Request,
        clock: &dyn Fn() -> f64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(Vec<Kept>, Vec<StepTime>), Said> {
        let _ = (request, clock, progress);
        Err(Said::Failed { message: "nothing can be run yet".to_owned() })
    }
}
