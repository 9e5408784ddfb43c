//! A run that goes on from one time step to the next.

use isobar_ground::call::launch::{Argument, Launch};
use isobar_ground::call::run::{NoControl, Stop};
use isobar_ground::pass::Timer;
use isobar_protocol::fields::{self, ResultField};
use isobar_protocol::request::Request;
use isobar_protocol::why::Why;
use isobar_protocol::worker::AnswerBody;
use isobar_reference::inputs::step;
use isobar_reference::{debug, numpy};

use super::{Compiler, DEBUG, StencilCall};

/// A run between two steps.
#[derive(Debug)]
pub(super) struct PausedRun {
    /// The request that the run began with, without its scalars.
    of: Request,
    call: StencilCall,
    step: u64,
}

/// Where a run is after some steps.
#[derive(Debug)]
pub struct StepResult {
    /// The steps since the beginning.
    pub step: u64,
    /// The fields that are written.
    pub fields: Vec<ResultField>,
    /// The mean time of one step, in milliseconds.
    pub ms: f64,
}

impl Compiler {
    /// Takes `count` steps, from the beginning where it is told to or where more than scalars differ from before. It
    /// runs `debug` where the request asks for it, and else `numpy`.
    ///
    /// # Errors
    ///
    /// The answer that says why there is no result; the run is over then.
    pub fn step(
        &mut self,
        request: &Request,
        restart: bool,
        count: u64,
        clock: &dyn Fn() -> f64,
    ) -> Result<StepResult, AnswerBody> {
        let of = Request { scalars: std::collections::BTreeMap::new(), ..request.clone() };
        let before = self.stepping.take().filter(|it| !restart && it.of == of);
        let mut stepping = match before {
            Some(mut it) => {
                it.set_scalars(request)?;
                it
            }
            None => {
                let mut call = self.begin(request, &mut Timer::new(clock))?;
                if let Some(signature) = &call.front.signature {
                    step::begin(&call.front.directives.steps, signature, &mut call.launch);
                }
                PausedRun { of, call, step: 0 }
            }
        };
        let since = clock();
        for _ in 0..count {
            stepping.advance(request.backend.as_deref() == Some(DEBUG))?;
        }
        #[expect(clippy::cast_precision_loss, reason = "a time that is shown")]
        let ms = (clock() - since) / count.max(1) as f64;
        let stepped = StepResult { step: stepping.step, fields: stepping.written(), ms };
        self.stepping = Some(stepping);
        Ok(stepped)
    }
}

impl PausedRun {
    fn set_scalars(&mut self, request: &Request) -> Result<(), AnswerBody> {
        let StencilCall { front, launch } = &mut self.call;
        let wrong = |found: &[_]| super::refused(front, Why::ScalarUnusable, found);
        let mut scalars: std::collections::BTreeMap<_, _> =
            front.directives.scalars.iter().map(|it| (it.name.clone(), it.value)).collect();
        scalars.extend(request.scalar_inputs().map_err(|it| wrong(&it))?);
        match &front.signature {
            Some(signature) => launch.set_scalars(signature, &scalars).map_err(|it| wrong(&it)),
            None => Ok(()),
        }
    }

    fn advance(&mut self, is_debug: bool) -> Result<(), AnswerBody> {
        let StencilCall { front, launch } = &mut self.call;
        let ended = match (front.npir(), front.reference()) {
            (Some(npir), _) if !is_debug => numpy::run(npir, launch, &mut NoControl),
            (_, Some((oir, extents))) => debug::run(oir, extents, launch, &mut NoControl),
            _ => return Err(super::refused(front, Why::HasErrors, &front.notes.diagnostics)),
        };
        match ended {
            Ok(()) => {}
            Err(Stop::Cancelled) => return Err(self.call.refused(Why::Stopped, &[])),
            Err(Stop::Trap(trap)) => {
                let step = Some(self.step + 1);
                return Err(self.call.trapped(trap.message.into(), step, &trap.origin, trap.cell));
            }
        }
        if let Some(signature) = &front.signature {
            step::advance(&front.directives.steps, signature, launch);
        }
        self.step += 1;
        Ok(())
    }

    /// Copies of the fields that are written.
    fn written(&self) -> Vec<ResultField> {
        let StencilCall { front, launch } = &self.call;
        let Some(signature) = &front.signature else { return Vec::new() };
        let arguments = signature.params.iter().zip(&launch.arguments);
        let copied =
            arguments.map(
                |(param, argument)| {
                    if param.access.is_written() { argument.clone() } else { Argument::Unused }
                },
            );
        fields::written(signature, Launch { domain: launch.domain, arguments: copied.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DECAY: &str = "# @domain 2 1 1\n# @input q constant(1)\n# @scalar rate = 0.5 from 0 to 1\n\
        # @step q = q_out\n\
        from gt4py.cartesian.gtscript import Field, PARALLEL, computation, interval\n\n\
        def decay(q: Field[float], q_out: Field[float], rate: float):\n    \
        with computation(PARALLEL), interval(...):\n        q_out = q * rate\n";

    fn request(rate: Option<f64>) -> Request {
        Request {
            files: [("main.py".to_owned(), DECAY.to_owned())].into(),
            scalars: rate.map(|it| ("rate".to_owned(), json!(it))).into_iter().collect(),
            ..Request::default()
        }
    }

    fn value(compiler: &mut Compiler, rate: Option<f64>, restart: bool, count: u64) -> (u64, f64) {
        let found = compiler.step(&request(rate), restart, count, &|| 0.0).unwrap();
        (found.step, found.fields[0].info.statistics.max.unwrap())
    }

    #[test]
    fn a_run_goes_on_and_takes_another_scalar_on_its_way() {
        let mut compiler = Compiler::default();
        assert_eq!(value(&mut compiler, None, true, 1), (1, 0.5));
        assert_eq!(value(&mut compiler, None, false, 2), (3, 0.125));
        assert_eq!(value(&mut compiler, Some(1.0), false, 1), (4, 0.125));
        assert_eq!(value(&mut compiler, None, false, 1), (5, 0.0625), "the line's own value holds again");
        assert_eq!(value(&mut compiler, None, true, 1), (1, 0.5));
        let other = Request { domain: Some([1, 1, 1]), ..request(None) };
        assert_eq!(compiler.step(&other, false, 1, &|| 0.0).unwrap().step, 1, "another domain begins anew");
    }
}
