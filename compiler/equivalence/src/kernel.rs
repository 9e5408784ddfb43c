//! Kernels, run as they stand.
//!
//! Blocks run in any order, and so do the positions of a stage. Each access of memory that threads or blocks
//! share is compared with those before it. Two threads must not touch an element between the same two
//! barriers if one of them writes. The same holds for two blocks in one launch ([`races`](super::races)).
//! Arrays of a block and of a thread are undefined when it begins.

use super::loops::Lowering;
use super::machine;
use super::program::{If, IterationOrder, KernelStep, Program, Stage, Step, Sum, ThreadPosition, Threads};
use super::run::{Options, Stop, Writers};
use isobar_compiler::call::launch::Launch;
use isobar_compiler::diag::ProgramOrder;
use isobar_compiler::entity::Handle;
use isobar_compiler::kernel::nodes::{ArrayMemory, BlockStep, Host, Kernel, Kernels};
use isobar_compiler::loops::nodes::{Array, Item, Positions};
use isobar_compiler::loops::parse::axis_of;
use isobar_compiler::space::Axis;

/// Runs kernels. `params` are the names of the arguments of `launch`, whose arrays are updated in place. `order` is that
/// of the text, by which the first of several places is found where the run must end.
///
/// # Errors
///
/// When a fault of the stencil or of the kernels, a race among them, ended the run early.
pub fn run(
    source: &Kernels,
    params: &[&str],
    order: &ProgramOrder,
    launch: &mut Launch,
    options: &Options,
) -> Result<Writers, Stop> {
    if launch.domain.points() == 0 {
        return Ok(Writers::default());
    }
    let program = prepared(source, params, launch)?;
    machine::run(&program, order, launch, options)
}

fn prepared(source: &Kernels, params: &[&str], launch: &Launch) -> Result<Program, Stop> {
    let mut lowering = Lowering::new(&source.program, params, launch)?;
    for array in source.program.arrays.handles() {
        let container = &mut lowering.program.containers[lowering.arrays[array]];
        container.is_shared = matches!(source.memory(array), Some(ArrayMemory::Global | ArrayMemory::Shared));
    }
    let mut blocks = Blocks { source, lowering };
    for (at, it) in source.host.iter().enumerate() {
        let steps = blocks.host(it)?;
        blocks.lowering.program.stages.push(Stage { parts: vec![(at, steps)] });
    }
    let mut program = blocks.lowering.program;
    program.place_registers();
    Ok(program)
}

struct Blocks<'k> {
    source: &'k Kernels,
    lowering: Lowering<'k>,
}

impl Blocks<'_> {
    fn host(&mut self, it: &Host) -> Result<Vec<Step>, Stop> {
        match it {
            Host::Launch(kernel) => self.launch(&self.source.kernels[*kernel]),
            Host::For { positions, is_descending, body } => {
                let order =
                    if *is_descending { IterationOrder::Descending } else { IterationOrder::Ascending };
                self.looped(positions, order, |this| {
                    let steps: Result<Vec<Vec<Step>>, Stop> = body.iter().map(|it| this.host(it)).collect();
                    Ok(steps?.into_iter().flatten().collect())
                })
            }
        }
    }

    fn launch(&mut self, kernel: &Kernel) -> Result<Vec<Step>, Stop> {
        let mut steps = vec![Step::Kernel(KernelStep::Launch)];
        steps.extend(self.blocks(kernel, &kernel.grid)?);
        Ok(steps)
    }

    /// A block for each position.
    fn blocks(&mut self, kernel: &Kernel, grid: &[Positions]) -> Result<Vec<Step>, Stop> {
        let [first, rest @ ..] = grid else {
            let mut steps = self.pieces(kernel, &kernel.body)?;
            let fresh = self.fresh(&steps, ArrayMemory::Shared)?;
            steps.splice(0..0, [Step::Kernel(KernelStep::Block), fresh]);
            return Ok(steps);
        };
        self.looped(first, IterationOrder::Parallel, |this| this.blocks(kernel, rest))
    }

    /// Makes the arrays of the block anew that steps use, or those of a thread.
    fn fresh(&mut self, steps: &[Step], memory: ArrayMemory) -> Result<Step, Stop> {
        let source = self.source;
        let is_of_block = |array: Handle<Array>| source.memory(array) == Some(ArrayMemory::Shared);
        self.lowering.fresh(steps, |it| is_of_block(it) == (memory == ArrayMemory::Shared))
    }

    fn pieces(&mut self, kernel: &Kernel, pieces: &[BlockStep]) -> Result<Vec<Step>, Stop> {
        let mut steps = Vec::new();
        for piece in pieces {
            match piece {
                BlockStep::Barrier => steps.push(Step::Kernel(KernelStep::Barrier)),
                BlockStep::Stage(it) => {
                    let thread = kernel.threads.iter().map(|_| None).collect();
                    steps.extend(self.stage(kernel, &it.positions, thread, &it.items)?);
                }
                BlockStep::For { positions, axis: _, is_descending, body } => {
                    let order =
                        if *is_descending { IterationOrder::Descending } else { IterationOrder::Ascending };
                    steps.extend(self.looped(positions, order, |this| this.pieces(kernel, body))?);
                }
                BlockStep::If { branches, otherwise } => {
                    steps.push(Step::Kernel(KernelStep::Thread(Threads::All)));
                    let origin = branches.first().map(|it| it.origin.clone());
                    let arms: Result<Vec<_>, Stop> = branches
                        .iter()
                        .map(|it| Ok((self.lowering.code(&it.condition)?, self.pieces(kernel, &it.body)?)))
                        .collect();
                    let otherwise = self.pieces(kernel, otherwise)?;
                    steps.push(Step::If(If { branches: arms?, otherwise, origin }));
                }
                BlockStep::Each(items) => {
                    steps.push(Step::Kernel(KernelStep::Thread(Threads::All)));
                    steps.extend(self.lowering.items(items)?);
                }
                BlockStep::Once(items) => {
                    let first = kernel.threads.iter().map(|_| None).collect();
                    steps.push(Step::Kernel(KernelStep::Thread(Threads::At(first))));
                    let own = self.lowering.items(items)?;
                    steps.push(self.fresh(&own, ArrayMemory::Scratch)?);
                    steps.extend(own);
                }
            }
        }
        Ok(steps)
    }

    /// The positions of a stage, each on its thread.
    fn stage(
        &mut self,
        kernel: &Kernel,
        positions: &[(Axis, Positions)],
        mut thread: Vec<Option<ThreadPosition>>,
        items: &[Item],
    ) -> Result<Vec<Step>, Stop> {
        let [(axis, first), rest @ ..] = positions else {
            let own = self.lowering.items(items)?;
            let fresh = self.fresh(&own, ArrayMemory::Scratch)?;
            let mut steps = vec![Step::Kernel(KernelStep::Thread(Threads::At(thread))), fresh];
            steps.extend(own);
            return Ok(steps);
        };
        let along = kernel.threads.iter().position(|it| it.axis == *axis);
        let along = along.ok_or_else(|| Stop::Fault(format!("no threads along {axis:?}")))?;
        let threads = &kernel.threads[along];
        let base: Sum = self.lowering.symbols.sum(&threads.base)?;
        self.looped(first, IterationOrder::Parallel, |this| {
            let variable = this.lowering.program.n_variables - 1;
            let count = i64::from(threads.count);
            thread[along] = Some(ThreadPosition { variable, base, step: threads.step, count });
            this.stage(kernel, rest, thread, items)
        })
    }

    fn looped(
        &mut self,
        positions: &Positions,
        order: IterationOrder,
        body: impl FnOnce(&mut Self) -> Result<Vec<Step>, Stop>,
    ) -> Result<Vec<Step>, Stop> {
        let axis = axis_of(&positions.variable).unwrap_or(Axis::J);
        let begun = self.lowering.begin(positions)?;
        let body = body(self);
        Ok(vec![Step::Loop(self.lowering.finish(begun, positions, axis, order, body?))])
    }
}
