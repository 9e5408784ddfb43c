//! The launches of a program before its run, for those who make code for their sizes.

use isobar_ground::call::run::NoControl;
use isobar_ground::call::signature::ParamKind;
use isobar_ground::types::Value;

use super::{ProgramInputs, ProgramInstance, ProgramStop, StencilRunner};
use crate::nodes::{ProgramStmt, ProgramStmtKind, StencilCall};

impl ProgramInstance {
    /// Hands each call and each group to `runner` once, with the arrays of a run and with zeros for scalars. The runner
    /// may look at the launches, and makes what depends on their sizes; it changes no array.
    ///
    /// # Errors
    ///
    /// As for [`run_with`](Self::run_with).
    pub fn rehearse(
        &mut self,
        inputs: &mut ProgramInputs,
        runner: &mut dyn StencilRunner,
    ) -> Result<(), ProgramStop> {
        self.take(inputs, runner).map_err(ProgramStop::Fault)?;
        let body = std::mem::take(&mut self.program.body);
        let result = self.rehearse_body(&body, runner);
        self.program.body = body;
        self.begun.clear();
        self.give_back(inputs);
        result
    }

    fn rehearse_body(
        &mut self,
        body: &[ProgramStmt],
        runner: &mut dyn StencilRunner,
    ) -> Result<(), ProgramStop> {
        for stmt in body {
            match &stmt.kind {
                ProgramStmtKind::Call(call) => {
                    let zeros = self.zeros(call);
                    self.call(call, &zeros, stmt.span, (runner, &mut NoControl))?;
                }
                ProgramStmtKind::Group { number, body } if self.has_points(body) => {
                    if let Some(params) = runner.group(*number) {
                        let zeros: Vec<_> = body.iter().map(|it| self.zeros_of(it)).collect();
                        self.launch_group((*number, body), &params, &zeros, (runner, &mut NoControl))?;
                        continue;
                    }
                }
                _ => {}
            }
            for block in stmt.blocks() {
                self.rehearse_body(block, runner)?;
            }
        }
        Ok(())
    }

    fn zeros_of(&self, stmt: &ProgramStmt) -> Vec<Option<Value>> {
        match &stmt.kind {
            ProgramStmtKind::Call(call) => self.zeros(call),
            ProgramStmtKind::Fill { target, .. } => {
                vec![Some(Value::zero(self.program.containers[target.container].dtype))]
            }
            _ => Vec::new(),
        }
    }

    fn zeros(&self, call: &StencilCall) -> Vec<Option<Value>> {
        let params = self.program.stencils[call.stencil].params.iter();
        let zero = |kind: &ParamKind| match kind {
            ParamKind::Scalar { dtype, .. } => Some(Value::zero(*dtype)),
            ParamKind::Field { .. } => None,
        };
        params.map(|it| zero(&it.kind)).collect()
    }
}
