//! Compiles variants of a stencil from its optimised OIR. All variants take the same lowerings and passes.

use std::sync::Arc;

use super::{Compilation, Hook, Pipelines, Variant, lowering};
use crate::diag::Diagnostic;
use crate::front::Front;
use crate::pass::PassOptions;
use crate::pipeline::variant::ArrayOrder;
use crate::project::Project;
use crate::schedule::turn::TurnRefusal;

/// Why a stencil has no such variant.
#[derive(Clone, Debug)]
pub enum NoVariant {
    /// C08: a statement reads a neighbour of the element that it writes, and the call decides which
    /// neighbour.
    Aliases(Vec<Diagnostic>),
    /// Its loops over levels cannot become loops over rows.
    Order(TurnRefusal),
}

/// Compiles a variant of a stencil from its front. `options` are those of the stencil as it is written.
///
/// # Errors
///
/// Why there is no such variant.
pub fn back(
    front: &Arc<Front>,
    options: &PassOptions,
    variant: &Variant,
    hook: &mut dyn Hook,
) -> Result<Compilation, NoVariant> {
    let options = PassOptions {
        schedule: None,
        skip: variant.skip.clone(),
        machine: variant.machine.clone(),
        turned: variant.order == ArrayOrder::AlongK,
        steps: false,
        trace: false,
        ..options.clone()
    };
    let mut front = Arc::clone(front);
    if !variant.aliases.is_empty() {
        let unified = front.unified(&variant.aliases, &options, hook).map_err(NoVariant::Aliases)?;
        front = Arc::new(unified);
    }
    if options.turned {
        front = Arc::new(front.turned());
    }
    lowering::lower(front, &Pipelines::of(&options), &Project::default(), &options, hook)
        .map_err(NoVariant::Order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::pass::{CodeGenerator, Device, Step, StepKind};
    use crate::pipeline::{ProgramKind, route};

    const TEXT: &str = "def s(a: Field[float], b: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        t = a[1, 0, 0] + b
        out = t * b
";

    /// The doors and passes that ran, and those whose result was held to its rules.
    #[derive(Default)]
    struct Counted {
        ran: Vec<Step>,
        validated: Vec<Step>,
    }

    impl Hook for Counted {
        fn end(&mut self, step: Step) {
            // The first door reads files, and has no level.
            if matches!(step.kind, StepKind::Door | StepKind::Pass) && step.name != "frontend" {
                self.ran.push(step);
            }
        }

        fn validated(&mut self, step: Step) {
            self.validated.push(step);
        }
    }

    #[test]
    fn every_door_and_every_pass_is_validated_on_the_way_to_each_target() {
        let native = |vector_bits| (Device::Cpu, CodeGenerator::Native { vector_bits });
        for (device, code) in
            [(Device::Cpu, CodeGenerator::C), native(256), native(512), (Device::Gpu, CodeGenerator::C)]
        {
            let mut config = Config::default();
            (config.passes.device, config.passes.code) = (device, code);
            let mut counted = Counted::default();
            let front = route::compile(&Project::of_one("main.py", TEXT), &config, &mut counted);
            assert!(front.is_whole(), "{:?}", front.notes.diagnostics);
            assert!(counted.ran.len() > 20, "{:?}", counted.ran);
            assert_eq!(counted.ran, counted.validated);
            let own = Variant::of(&config.passes, ProgramKind::Kernels);
            for variant in [own.along_k(), own.with_aliases(&[[0, 2]]), own.with_aliases(&[[1, 2]]).along_k()]
            {
                let mut counted = Counted::default();
                let made = back(&front.front, front.options(), &variant, &mut counted);
                assert!(made.expect("there is such a variant").is_whole(), "{variant:?}");
                counted.validated.retain(|it| it.name != "unify");
                assert_eq!(counted.ran, counted.validated, "{variant:?}");
            }
        }
    }
}
