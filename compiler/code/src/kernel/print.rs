//! Kernels as text.
//!
//! The first lines declare the names in statements, as at the level of [loops](crate::loops::print).
//! For each array that a run makes, they also tell the kind of device memory in which it lives.
//! Then come kernels, and the actions of the host:
//!
//! ```text
//! kernel kernel_1 of step 1:
//!   block j_tile in [0, J) step 8            blocks, the slowest first
//!   block i_tile in [0, I) step 32
//!   32 threads i from i_tile - 1             threads of a block, the fastest first
//!   8 threads j from j_tile - 1
//!   for k in [0, K) ascending:               the same for all threads of the block
//!     stage j in [j_tile - 1, j_tile + 9), i in [i_tile - 1, i_tile + 33):
//!       laplacian[i - i_tile + 1, j - j_tile + 1] = q[i + 1, j, k] - q[i, j, k]
//!     barrier
//!   each thread:                             what each computes for itself
//!   first thread:                            what one does for the block
//! host:
//!   launch kernel_1
//! ```

use itertools::Itertools;

use super::nodes::{ArrayMemory, BlockStep, Host, Kernel, Kernels, Stage};
use crate::diag::Listing;
use crate::loops::nodes::{Item, Positions};
use crate::loops::print::Printer;

/// All of it, linked to the source.
#[must_use]
pub fn listing(kernels: &Kernels) -> Listing {
    let mut printer = Printer::of(&kernels.program);
    printer.open("kernels", []);
    printer.names();
    for (at, it) in kernels.program.arrays.iter() {
        if let (Some(memory), Some(name)) = (kernels.memory(at), &it.name)
            && it.is_own()
        {
            printer.line(&format!("memory {name} = {}", word(memory)));
        }
    }
    for it in &kernels.kernels {
        kernel(&mut printer, it);
    }
    printer.line("");
    printer.line("host:");
    printer.indented(|printer| kernels.host.iter().for_each(|it| host(printer, kernels, it)));
    printer.close();
    printer.finish()
}

fn word(memory: ArrayMemory) -> &'static str {
    match memory {
        ArrayMemory::Global => "global",
        ArrayMemory::Shared => "shared by a block",
        ArrayMemory::Registers => "registers of a thread",
        ArrayMemory::SharedByThread => "shared memory of a thread",
        ArrayMemory::Scratch => "global memory of a thread",
    }
}

fn kernel(printer: &mut Printer<'_>, it: &Kernel) {
    let Kernel { name, step, outer, grid, threads, body, .. } = it;
    printer.line("");
    printer.open("kernel", []);
    let outer = if outer.is_empty() { String::new() } else { format!("({})", outer.iter().join(", ")) };
    printer.line(&format!("kernel {name}{outer} of step {}:", step + 1));
    printer.indented(|printer| {
        for it in grid {
            printer.line(&format!("block {}", range(it)));
        }
        for it in threads {
            let step = if it.step == 1 { String::new() } else { format!(" step {}", it.step) };
            let axis = it.axis.position_name();
            printer.line(&format!("{} threads {axis} from {}{step}", it.count, it.base));
        }
        body.iter().for_each(|it| piece(printer, it));
    });
    printer.close();
}

fn piece(printer: &mut Printer<'_>, it: &BlockStep) {
    match it {
        BlockStep::Stage(Stage { positions, items }) => {
            let positions = positions.iter().map(|(_, it)| range(it)).join(", ");
            block(printer, "stage", &format!("stage {positions}:"), items);
        }
        BlockStep::Barrier => printer.line("barrier"),
        BlockStep::For { positions, is_descending, body, .. } => {
            let order = if *is_descending { "descending" } else { "ascending" };
            printer.line(&format!("for {} {order}:", range(positions)));
            printer.indented(|printer| body.iter().for_each(|it| piece(printer, it)));
        }
        BlockStep::If { branches, otherwise } => {
            for (at, arm) in branches.iter().enumerate() {
                printer.open("if", [&arm.origin]);
                let keyword = if at == 0 { "if" } else { "elif" };
                let condition = printer.expression(&arm.condition);
                printer.line(&format!("{keyword} {condition}:"));
                printer.close();
                printer.indented(|printer| arm.body.iter().for_each(|it| piece(printer, it)));
            }
            if !otherwise.is_empty() {
                printer.line("else:");
                printer.indented(|printer| otherwise.iter().for_each(|it| piece(printer, it)));
            }
        }
        BlockStep::Each(items) => block(printer, "each", "each thread:", items),
        BlockStep::Once(items) => block(printer, "once", "first thread:", items),
    }
}

fn block(printer: &mut Printer<'_>, kind: &'static str, head: &str, items: &[Item]) {
    printer.open(kind, []);
    printer.line(head);
    printer.block(items);
    printer.close();
}

fn host(printer: &mut Printer<'_>, kernels: &Kernels, it: &Host) {
    match it {
        Host::Launch(at) => printer.line(&format!("launch {}", kernels.kernels[*at].name)),
        Host::For { positions, is_descending, body } => {
            let order = if *is_descending { "descending" } else { "ascending" };
            printer.line(&format!("for {} {order}:", range(positions)));
            printer.indented(|printer| body.iter().for_each(|it| host(printer, kernels, it)));
        }
    }
}

/// `i in [0, I) step 32`
fn range(it: &Positions) -> String {
    crate::loops::print::positions(it)
}
