//! Decides which memory of a GPU arrays live in.

use super::{PassCx, Target};
use crate::diag::Origin;
use crate::entity::Handle;
use crate::pass::GpuModel;
use crate::schedule::analysis::accesses::{AccessPaths, Accesses};
use crate::schedule::analysis::gpu::levels;
use crate::schedule::analysis::launch::elements;
use crate::schedule::nodes::{Container, ContainerKind, GpuMemory, Storage, Tree};
use crate::schedule::step::{Residence, Step};
use crate::schedule::transform::residence::reside;
use crate::schedule::visit::place::Path;
use crate::space::{Axis, names};

pub const NAME: &str = "schedule/place-arrays";

/// Gives each array that iterations have for themselves a place.
///
/// - **Precondition**: a valid schedule tree whose arrays are as small as they get, and whose launches have their shape.
/// - **Effect**: a few levels of a thread's own column become registers. A whole column waits in an output
///   where it may. Otherwise it lies in shared memory, as long as that lasts. The window of a tile lies in
///   shared memory. Arrays that do not fit have memory of their own.
/// - **Legality**: [`reside`].
/// - **Why**: shared memory is near, and there is little of it.
pub fn place_arrays(tree: &mut Tree, cx: &mut PassCx) {
    let Target { has_grid: true, gpu: Some(gpu), .. } = cx.options else { return };
    let uses = AccessPaths::of(tree);
    let counts = Accesses::of(&tree.children).counts();
    let mut own: Vec<Handle<Container>> = tree
        .containers
        .iter()
        .filter(|(_, it)| matches!(it.storage, Storage::Private(_)) && it.place.is_none())
        .map(|(handle, _)| handle)
        .collect();
    // Arrays that are used most often come first.
    own.sort_by_key(|it| std::cmp::Reverse(counts.get(it).copied().unwrap_or(0)));
    // Bytes of shared memory that are taken in each of the outermost nodes.
    let mut taken = vec![0; tree.children.len()];
    for container in own {
        let Some(home) = uses.paths(container).first().and_then(|it| it.first()).copied() else { continue };
        let (place, why) = chosen(tree, &gpu, container, uses.paths(container), &mut taken[home]);
        if !cx.may_change() {
            return;
        }
        if reside(tree, container, place).is_ok() {
            let origin = uses.paths(container).first().and_then(|it| tree.node(it)?.first_origin()).cloned();
            tell(tree, cx, container, (place, why, origin.as_ref()));
        }
    }
}

fn tell(
    tree: &mut Tree,
    cx: &mut PassCx,
    container: Handle<Container>,
    (place, why, origin): (GpuMemory, Option<String>, Option<&Origin>),
) {
    let it = &tree.containers[container];
    let (name, shown) = (it.name.clone(), names::of_stencil(&it.name).to_owned());
    let message = match place {
        GpuMemory::Register => format!("`{shown}` is in registers"),
        GpuMemory::Shared => format!("`{shown}` is in shared memory"),
        GpuMemory::Scratch => {
            let why = why.map_or_else(String::new, |it| format!(": {it}"));
            format!("`{shown}` has memory of its own, since it fits nowhere nearer{why}")
        }
        GpuMemory::Over(output) => {
            format!("`{shown}` waits in `{}`", names::of_stencil(&tree.containers[output].name))
        }
    };
    cx.applied(message, origin);
    if cx.options.keeps_steps {
        let place = match place {
            GpuMemory::Register => Residence::Register,
            GpuMemory::Shared => Residence::Shared,
            GpuMemory::Scratch => Residence::Scratch,
            GpuMemory::Over(output) => Residence::Over(tree.containers[output].name.clone()),
        };
        tree.steps.push(Step::Reside { container: name, place });
    }
}

/// The most elements of one array that a thread has in registers.
const MOST_IN_REGISTERS: i64 = 8;

/// The place of an array, and why it is none nearer.
fn chosen(
    tree: &Tree,
    gpu: &GpuModel,
    container: Handle<Container>,
    uses: &[Path],
    taken: &mut i64,
) -> (GpuMemory, Option<String>) {
    let it = &tree.containers[container];
    let Storage::Private(owner) = &it.storage else { return (GpuMemory::Scratch, None) };
    let threads = threads_that_own(tree, owner.name(), uses);
    let size = i64::try_from(it.dtype.size_bytes()).unwrap_or(8);
    let n = elements(it, Some(levels()));
    if threads.is_some() && elements(it, None).is_some_and(|n| n <= MOST_IN_REGISTERS) {
        return (GpuMemory::Register, None);
    }
    if threads.is_some() {
        let outputs = tree
            .containers
            .iter()
            .filter(|(_, it)| matches!(it.kind, ContainerKind::Field { is_read: false, is_written: true }));
        for (output, _) in outputs {
            let mut tried = tree.clone();
            if reside(&mut tried, container, GpuMemory::Over(output)).is_ok() {
                return (GpuMemory::Over(output), None);
            }
        }
    }
    let is_known = elements(it, None).is_some() || it.axes.has(Axis::K);
    let bytes = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
    // Columns wait for memory, so several of their blocks have to be there at the same time.
    let limit = match threads {
        Some(_) => bytes(gpu.shared_bytes_of_block).min(bytes(gpu.shared_bytes) / 5),
        None => bytes(gpu.shared_bytes_of_block),
    };
    let Some(n) = n.filter(|_| is_known) else {
        return (GpuMemory::Scratch, Some("only the run tells its length".to_owned()));
    };
    let needed = n * size * threads.unwrap_or(1);
    if *taken + needed <= limit {
        *taken += needed;
        return (GpuMemory::Shared, None);
    }
    let beside = if *taken > 0 { format!(" beside {taken} of others") } else { String::new() };
    let why = format!("{needed} bytes of shared memory for a block{beside} are more than {limit}");
    (GpuMemory::Scratch, Some(why))
}

/// The number of threads that each have an array that belongs to the iterations over a variable. There are as
/// many as a tile has positions; none where the array is a block's.
fn threads_that_own(tree: &Tree, owner: &str, uses: &[Path]) -> Option<i64> {
    let first = uses.first()?;
    let around: Vec<_> = (1..first.len()).filter_map(|depth| tree.loop_at(&first[..depth])).collect();
    let at = around.iter().position(|it| it.variable.name() == owner)?;
    let tiles = around.iter().filter(|it| it.variable == names::tile(it.axis) && it.axis != Axis::K);
    let threads: i64 = tiles.map(|it| it.step).product();
    // Behind the tiles stand the loops over their positions, which threads take.
    let last_tile = around.iter().rposition(|it| it.variable == names::tile(it.axis))?;
    let is_position = |axis: Axis| move |name: &str| name == axis.position_name();
    let is_thread = around[last_tile + 1..=at.max(last_tile)]
        .iter()
        .any(|it| is_position(Axis::I)(it.variable.name()) || is_position(Axis::J)(it.variable.name()));
    (at > last_tile && is_thread).then_some(threads)
}
