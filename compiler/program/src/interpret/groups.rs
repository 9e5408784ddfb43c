//! A group of statements as one launch of code.

use isobar_ground::call::launch::{Argument, FieldArgument, Launch};
use isobar_ground::call::run::Control;
use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::types::Value;

use super::arrays::absent;
use super::runner::{GroupParam, GroupStop, StencilRunner, StencilStop};
use super::{ProgramInstance, ProgramStop};
use crate::nodes::{ProgramStmt, ProgramStmtKind};

impl ProgramInstance {
    /// Whether each range of a group has points. Code of a group counts on that.
    pub(super) fn has_points(&self, body: &[ProgramStmt]) -> bool {
        body.iter().all(|it| match &it.kind {
            ProgramStmtKind::Call(call) => {
                self.program.stencils[call.stencil].domain.iter().all(|it| it.on(self.domain) > 0)
            }
            _ => true,
        })
    }

    /// Runs the code of a group on the arrays of the program.
    pub(super) fn launch_group(
        &mut self,
        (number, body): (usize, &[ProgramStmt]),
        params: &[GroupParam],
        scalars: &[Vec<Option<Value>>],
        (runner, control): (&mut dyn StencilRunner, &mut dyn Control),
    ) -> Result<(), ProgramStop> {
        if let Some(device) = runner.device() {
            let ended = self.start_group(number, params, scalars, (device, control));
            return ended.map_err(|stop| self.group_stop(body, stop));
        }
        let mut arguments = Vec::with_capacity(params.len());
        for param in params {
            arguments.push(match *param {
                GroupParam::Container(handle) => {
                    self.begin(handle);
                    let container = &self.program.containers[handle];
                    let array = std::mem::replace(&mut self.arrays[handle.index()], absent(container.dtype));
                    Argument::Field(FieldArgument { array, origin: container.origin })
                }
                GroupParam::Scalar { statement, param } => {
                    let value = scalars.get(statement).and_then(|it| it.get(param).copied().flatten());
                    value.map_or(Argument::Unused, Argument::Scalar)
                }
            });
        }
        let mut launch = Launch { domain: self.domain, arguments };
        let result = runner.run_group(number, &mut launch, control);
        for (param, argument) in params.iter().zip(launch.arguments) {
            if let (GroupParam::Container(handle), Argument::Field(field)) = (param, argument) {
                self.arrays[handle.index()] = field.array;
            }
        }
        result.map_err(|stop| self.group_stop(body, stop))
    }

    fn group_stop(&self, body: &[ProgramStmt], GroupStop { stop, statement }: GroupStop) -> ProgramStop {
        let StencilStop::Fault { why, statement: place } = stop else { return ProgramStop::Cancelled };
        let stmt = statement.and_then(|it| body.get(it)).or(body.first());
        let span = stmt.map_or_else(Span::default, |it| it.span);
        let why = match stmt.map(|it| &it.kind) {
            Some(ProgramStmtKind::Call(call)) if statement.is_some() => {
                format!("`{}` ended: {why}", self.program.stencils[call.stencil].name)
            }
            _ => format!("a group of calls ended: {why}"),
        };
        let told = catalog::ended(&why, span);
        ProgramStop::Fault(vec![match place {
            Some(place) => told.also(place, "by this statement"),
            None => told,
        }])
    }
}
