//! A call of a stencil on the arrays of a program.

use std::sync::Arc;

use isobar_ground::call::launch::{Argument, FieldArgument, Launch};
use isobar_ground::call::run::Control;
use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::space::{Axis, Domain};
use isobar_ground::types::Value;

use super::arrays::{absent, gather, scatter};
use super::runner::{StencilRunner, StencilStop};
use super::{ProgramInstance, ProgramStop};
use crate::analysis::calls::aliases;
use crate::nodes::{ContainerPart, ProgramIr, StencilCall};

/// The index of the first point of a parameter's range in its array; 0 along an axis that it lacks.
pub(super) fn origin(program: &ProgramIr, call: &StencilCall, at: usize) -> [i64; 3] {
    let stencil = &program.stencils[call.stencil];
    let Some(part) = call.field(at) else { return [0; 3] };
    let container = &program.containers[part.container];
    let own = stencil.params.get(at).map_or(stencil.origin, |it| stencil.origin_of(&it.name));
    let mut origin = [0; 3];
    for axis in container.axes.iter().map(Axis::index) {
        origin[axis] = container.origin[axis] + own[axis];
    }
    origin
}

/// How a call has the elements of an argument.
enum Lent {
    /// All of a container, whose array is with the call meanwhile.
    Whole(ContainerPart),
    /// A copy, which is stored afterwards where the call writes it.
    Copy { of: ContainerPart, is_written: bool },
}

impl ProgramInstance {
    /// Runs a call. `scalars` has the value of each parameter that is one.
    pub(super) fn call(
        &mut self,
        call: &StencilCall,
        scalars: &[Option<Value>],
        span: Span,
        (runner, control): (&mut dyn StencilRunner, &mut dyn Control),
    ) -> Result<(), ProgramStop> {
        let pairs = aliases(&self.program, call);
        let front = self.fronts.get(&(call.stencil, pairs.clone())).map(Arc::clone);
        let front = front.expect("each call was prepared with the pairs that it has");
        let used: Vec<(usize, ContainerPart, bool)> = call
            .used_fields(&self.program)
            .filter(|it| pairs.iter().all(|pair| pair[1] != it.0))
            .map(|(at, param, part)| {
                let is_written = param.access.is_written() || pairs.iter().any(|it| it[0] == at);
                (at, part.clone(), is_written)
            })
            .collect();
        used.iter().for_each(|it| self.begin(it.1.container));
        let n = self.program.stencils[call.stencil].params.len();
        let mut arguments: Vec<Argument> = (0..n)
            .map(|at| scalars.get(at).copied().flatten().map_or(Argument::Unused, Argument::Scalar))
            .collect();
        if let Some(device) = runner.device() {
            let ended = self.start_call(call, (&front, &used), arguments, (device, control));
            return ended.map_err(|stop| self.call_stop(call, stop, span));
        }
        let mut lent: Vec<Option<Lent>> = (0..n).map(|_| None).collect();
        // Copies first, while all arrays are there.
        for (n, (at, part, is_written)) in used.iter().enumerate() {
            let is_again = used[..n].iter().any(|it| it.1 == *part);
            if part.data_index.is_empty() && !is_again {
                lent[*at] = Some(Lent::Whole(part.clone()));
                continue;
            }
            let container = &self.program.containers[part.container];
            let array = gather(&self.arrays[part.container.index()], container, part);
            arguments[*at] =
                Argument::Field(FieldArgument { array, origin: origin(&self.program, call, *at) });
            lent[*at] = Some(Lent::Copy { of: part.clone(), is_written: *is_written });
        }
        for (at, it) in lent.iter().enumerate() {
            if let Some(Lent::Whole(part)) = it {
                let dtype = self.program.containers[part.container].dtype;
                let array = std::mem::replace(&mut self.arrays[part.container.index()], absent(dtype));
                arguments[at] =
                    Argument::Field(FieldArgument { array, origin: origin(&self.program, call, at) });
            }
        }
        let [i, j, k] = self.program.stencils[call.stencil].domain.map(|it| it.on(self.domain));
        let mut launch = Launch { domain: Domain::new(i, j, k), arguments };
        let result = runner.run(&front, &mut launch, control);
        for (it, argument) in lent.into_iter().zip(launch.arguments) {
            let (Some(it), Argument::Field(field)) = (it, argument) else { continue };
            match it {
                Lent::Whole(part) => self.arrays[part.container.index()] = field.array,
                Lent::Copy { of, is_written: true } => {
                    let container = &self.program.containers[of.container];
                    scatter(&mut self.arrays[of.container.index()], container, &of, &field.array);
                }
                Lent::Copy { is_written: false, .. } => {}
            }
        }
        result.map_err(|stop| self.call_stop(call, stop, span))
    }

    /// Why a call ended the run.
    fn call_stop(&self, call: &StencilCall, stop: StencilStop, span: Span) -> ProgramStop {
        let StencilStop::Fault { why, statement } = stop else { return ProgramStop::Cancelled };
        let why = format!("`{}` ended: {why}", self.program.stencils[call.stencil].name);
        let told = catalog::ended(&why, span);
        ProgramStop::Fault(vec![match statement {
            Some(place) => told.also(place, "by this statement"),
            None => told,
        }])
    }
}
