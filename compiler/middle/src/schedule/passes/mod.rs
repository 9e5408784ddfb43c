//! The scheduling passes, in the order in which they run.

pub mod weigh_layouts;
pub mod merge_loops;
pub mod narrow_loops;
pub mod form_launches;
pub mod fuse_in_tiles;
pub mod sink_sequential_levels;
pub mod order_loops;
pub mod copy_results;
pub mod contract_temporaries;
pub mod place_arrays;
pub mod meet_in_domain;
pub mod peel_regions;
pub mod drop_unit_loops;
pub mod place_threads;
pub mod place_vectors;
pub mod place_grid;

use super::analysis::cost::Machine;
use super::nodes::Tree;
use super::step::LoopRef;
use super::transform::Path;
use super::{print, validate};
use crate::diag::{Listing, Origin};
use crate::pass::{Analyses, Device, GpuForm, GpuModel, Level, Pass, PassOptions, Pipeline};
use crate::space::Axis;

/// The target of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Whether there are cores to spread loops over.
    pub has_threads: bool,
    /// Whether the innermost loop may run in vector lanes.
    pub has_vectors: bool,
    /// Whether loops run on the grid and the blocks of a GPU.
    pub has_grid: bool,
    /// The axis along which neighbours lie side by side in memory.
    pub contiguous: Axis,
    /// The machine that costs are estimated for; without it, nothing is tiled or peeled.
    pub machine: Option<Machine>,
    /// The GPU, where there is one, and how its launches are formed, where that is told.
    pub gpu: Option<GpuModel>,
    pub gpu_form: Option<GpuForm>,
    /// Whether the tree keeps the steps that led to it.
    pub keeps_steps: bool,
    /// Whether the axes I and K of the loops are exchanged.
    pub is_turned: bool,
}

impl Target {
    /// Several cores with vector units, arrays contiguous along i.
    pub const CPU: Target = Target {
        has_threads: true,
        has_vectors: true,
        has_grid: false,
        contiguous: Axis::I,
        machine: Some(Machine::CPU),
        gpu: None,
        gpu_form: None,
        keeps_steps: false,
        is_turned: false,
    };

    /// A GPU, arrays contiguous along i.
    pub const GPU: Target = Target {
        has_threads: false,
        has_vectors: false,
        has_grid: true,
        contiguous: Axis::I,
        machine: None,
        gpu: Some(GpuModel::H100),
        gpu_form: None,
        keeps_steps: false,
        is_turned: false,
    };

    /// The target that the options of a compilation ask for.
    #[must_use]
    pub fn of(options: &PassOptions) -> Self {
        let target = match options.device {
            Device::Cpu => Self::CPU,
            Device::Gpu => Self::GPU,
        };
        // Tiles of rows are for rows that lie side by side.
        let machine = target.machine.clone().filter(|_| options.contiguous == Axis::I);
        let machine = machine.map(|it| options.machine.as_ref().map_or(it, Machine::of));
        let gpu = target.gpu.map(|it| options.gpu.unwrap_or(it));
        let gpu_form = options.gpu_form.filter(|_| gpu.is_some());
        Self { gpu, gpu_form, contiguous: options.contiguous, machine, keeps_steps: options.steps, ..target }
    }

    /// The same target for loops whose axes I and K are exchanged.
    #[must_use]
    pub fn turned(mut self) -> Self {
        self.machine.iter_mut().for_each(|it| it.domain.reverse());
        self.is_turned = true;
        self
    }
}

/// The name of the loop at a place of a block, where steps are kept.
fn named(tree: &Tree, cx: &PassCx, outer: &Path, at: usize) -> Option<LoopRef> {
    let path = outer.iter().copied().chain([at]).collect();
    named_at(tree, cx, &path)
}

/// The name of a loop, where steps are kept.
fn named_at(tree: &Tree, cx: &PassCx, path: &Path) -> Option<LoopRef> {
    cx.options.keeps_steps.then(|| LoopRef::of(tree, path)).flatten()
}

/// The context of the passes of this level.
pub type PassCx = crate::pass::PassCx<Tree>;

/// All passes, in order.
pub const PASSES: &[Pass<Tree>] = &[
    // Weighs the loops as they were lowered, before any choice.
    Pass { name: weigh_layouts::NAME, run: weigh_layouts::weigh_layouts, preserves: &[] },
    // Before loops are merged: these touch so few points that they need no company.
    Pass { name: narrow_loops::NAME, run: narrow_loops::narrow_loops, preserves: &[] },
    // Longer bodies give the later passes more to choose from.
    Pass { name: merge_loops::NAME, run: merge_loops::merge_loops, preserves: &[] },
    // Only for GPUs, and then instead of the three passes behind it.
    Pass { name: form_launches::NAME, run: form_launches::form_launches, preserves: &[] },
    // After merging, since loops that became one need no tiles to share their arrays.
    Pass { name: fuse_in_tiles::NAME, run: fuse_in_tiles::fuse_in_tiles, preserves: &[] },
    // Behind both, since only a single loop over rows can change places with the levels around it.
    Pass {
        name: sink_sequential_levels::NAME,
        run: sink_sequential_levels::sink_sequential_levels,
        preserves: &[],
    },
    // Orders the loops for other layouts than the usual one.
    Pass { name: order_loops::NAME, run: order_loops::order_loops, preserves: &[] },
    // When it is settled which loops hold which statements. The next pass makes the copies small.
    Pass { name: copy_results::NAME, run: copy_results::copy_results, preserves: &[] },
    Pass {
        name: contract_temporaries::NAME,
        run: contract_temporaries::contract_temporaries,
        preserves: &[],
    },
    // When arrays are as small as they get, and loops over levels are still loops.
    Pass { name: place_arrays::NAME, run: place_arrays::place_arrays, preserves: &[] },
    // Behind it, since arrays of a few rows are those of one front.
    Pass { name: meet_in_domain::NAME, run: meet_in_domain::meet_in_domain, preserves: &[] },
    // Copies of loops come late, so that no pass has to merge or tile each of them.
    Pass { name: peel_regions::NAME, run: peel_regions::peel_regions, preserves: &[] },
    Pass { name: drop_unit_loops::NAME, run: drop_unit_loops::drop_unit_loops, preserves: &[] },
    // Last, on the final shape: which loops run in parallel.
    Pass { name: place_threads::NAME, run: place_threads::place_threads, preserves: &[] },
    Pass { name: place_vectors::NAME, run: place_vectors::place_vectors, preserves: &[] },
    Pass { name: place_grid::NAME, run: place_grid::place_grid, preserves: &[] },
];

/// All passes of this level.
pub const PIPELINE: Pipeline<Tree> = Pipeline { passes: PASSES, needed: &[] };

impl Level for Tree {
    const NAME: &'static str = "schedule";
    type Options = Target;

    fn violations(&self) -> Vec<String> {
        validate::validate(self)
    }

    fn listing(&self, _: &mut Analyses<Self>) -> Listing {
        print::listing(self)
    }

    fn each_statement(&self, each: &mut dyn FnMut(&Origin)) {
        self.children.iter().for_each(|it| it.walk(&mut |it| it.origin().into_iter().for_each(&mut *each)));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::schedule::{parse::parse, print::listing, validate::validate};

    /// Declarations for the loops of a test.
    pub(in crate::schedule) const FIELDS: &str = "\
schedule test
field a: float64[I + 2, J + 2, K] shift [1, 1, 0] read
field b: float64[I, J, K] shift [0, 0, 0] read-write
field p: float64[I, J] shift [0, 0] read-write
scalar s: float64
field n: int64[I, 2] shift [0, 0] read
field m: float64[I + 1, 2] shift [0, 0] read-write
temporary t: float64[I, J + 2, K] shift [0, 1, 0] heap
local c: float64
";

    /// Runs a pass on loops as text, below [`FIELDS`]; answers the new loops and the remarks.
    pub(in crate::schedule) fn after(
        loops: &str,
        pass: fn(&mut Tree, &mut PassCx),
        target: Target,
    ) -> String {
        let mut tree = parse(&format!("{FIELDS}{loops}")).expect("the text is a schedule tree");
        assert_eq!(validate(&tree), Vec::<String>::new(), "before the pass");
        let mut cx = PassCx::new(target);
        pass(&mut tree, &mut cx);
        assert_eq!(validate(&tree), Vec::<String>::new(), "after the pass");
        let printed = listing(&tree).text;
        let mut found =
            printed.strip_prefix(FIELDS).expect("a pass changes loops alone").trim_start().to_owned();
        for remark in cx.remarks() {
            let word = if remark.is_applied { "applied" } else { "missed" };
            found.push_str(&format!("{word}: {}\n", remark.message));
        }
        found
    }
}
