//! Faults that the interpreter of kernels must find: a missing barrier, a halo too narrow, a wrong place in
//! shared memory, blocks that meet.

use expect_test::expect;

use super::super::compare::{ReferenceRun, RunDifference};
use super::super::journey::Level;
use super::super::run::Stop;
use super::{launch, scheduled, stencil};
use isobar_compiler::kernel::nodes::{BlockStep, Kernels};
use isobar_compiler::kernel::{self, print, validate};
use isobar_compiler::loops::passes::{KERNELS, PassCx};
use isobar_compiler::space::Domain;
use isobar_compiler::target::Target;
use isobar_compiler::{loops, sdfg};

const MAX_THREADS: u32 = 256;

/// A point reads what its neighbours have computed of `a`.
const FLUXES: &str = "
stencil fluxes
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = a[1,0,0] - a[0,1,0]
  b = t[-1,0,0] + t[0,1,0]
";

const TILES: &str = "\
schedule fluxes
field a: float64[I + 4, J + 4, K] shift [2, 2, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[3, 3] shift [-i_tile + 1, -j_tile] along IJ in i_tile shared
grid k in [0, K) parallel:
  grid j_tile in [0, J) step 2 parallel:
    grid i_tile in [0, I) step 2 parallel:
      block j in [j_tile, min(J + 1, j_tile + 3)) parallel:
        block i in [i_tile - 1, min(I, i_tile + 2)) parallel:
          t[i - i_tile + 1, j - j_tile] = a[i + 3, j + 2, k] - a[i + 2, j + 3, k]
      barrier
      block j in [j_tile, min(J, j_tile + 2)) parallel:
        block i in [i_tile, min(I, i_tile + 2)) parallel:
          b[i, j, k] = t[i - i_tile, j - j_tile] + t[i - i_tile + 1, j - j_tile + 1]
";

/// The kernels of a schedule tree.
fn kernels(tree: &str) -> Kernels {
    let graph = sdfg::from_schedule::lower(&scheduled(tree));
    let mut program = loops::lower(&graph);
    let mut cx = PassCx::new(Target::kernels(MAX_THREADS));
    for pass in KERNELS.passes {
        pass.apply(&mut program, &mut cx, None);
    }
    kernel::lower(&program, MAX_THREADS)
}

/// Whether kernels do what a stencil means, and how they differ where they do not.
fn divergence(oir: &str, kernels: &Kernels) -> Option<RunDifference> {
    let stencil = stencil(oir);
    let launch = launch(&stencil, Domain::new(5, 4, 3));
    let reference = ReferenceRun::of(&stencil, &launch);
    reference.divergence("kernels", &Level::Kernels(kernels), &[1, 2, 3]).map(|it| it.what)
}

/// The message of the fault.
fn fault(oir: &str, kernels: &Kernels) -> String {
    match divergence(oir, kernels) {
        Some(RunDifference::End { found: Some(Stop::Fault(what)), .. }) => what,
        other => format!("{other:?}"),
    }
}

#[test]
fn tiles_with_a_halo_are_stages_with_a_barrier_between() {
    let kernels = kernels(TILES);
    assert_eq!(validate::validate(&kernels, MAX_THREADS), Vec::<String>::new());
    let text = print::listing(&kernels).text;
    let kernel = text.split_once("\n\n").map_or("", |it| it.1);
    expect![[r#"
        kernel kernel_1 of step 1:
          block k in [0, K)
          block j_tile in [0, J) step 2
          block i_tile in [0, I) step 2
          2 threads i from i_tile - 1
          2 threads j from j_tile
          stage j in [j_tile, min(J + 1, j_tile + 3)), i in [i_tile - 1, min(I, i_tile + 2)):
            t[i - i_tile + 1, j - j_tile] = a[i + 1, j, k] - a[i, j + 1, k]
          barrier
          stage j in [j_tile, min(J, j_tile + 2)), i in [i_tile, min(I, i_tile + 2)):
            b[i, j, k] = t[i - i_tile, j - j_tile] + t[i - i_tile + 1, j - j_tile + 1]

        host:
          launch kernel_1
    "#]]
    .assert_eq(kernel);
    assert_eq!(divergence(FLUXES, &kernels), None);
}

#[test]
fn a_barrier_that_is_not_there_is_found() {
    let mut kernels = kernels(TILES);
    kernels.kernels[0].body.retain(|it| !matches!(it, BlockStep::Barrier));
    expect!["two threads between two barriers write and read one element of `t` at i=0, j=0, k=0"]
        .assert_eq(&fault(FLUXES, &kernels));
}

#[test]
fn a_halo_that_is_too_narrow_is_found() {
    let narrow = TILES.replace("min(J + 1, j_tile + 3)", "min(J, j_tile + 2)");
    assert_eq!(narrow.matches("min(J, j_tile + 2)").count(), 2);
    assert!(matches!(divergence(FLUXES, &kernels(&narrow)), Some(RunDifference::Element(_))));
}

#[test]
fn a_place_in_shared_memory_that_is_another_ones_is_found() {
    let moved = TILES.replace("b[i, j, k] = t[i - i_tile, j", "b[i, j, k] = t[i - i_tile + 1, j");
    assert!(matches!(divergence(FLUXES, &kernels(&moved)), Some(RunDifference::Element(_))));
    // A place for two elements: two threads write it between the same barriers.
    let folded = TILES.replace("t[i - i_tile + 1, j - j_tile] =", "t[0, j - j_tile] =");
    expect!["two threads between two barriers write one element of `t` at i=0, j=0, k=0"]
        .assert_eq(&fault(FLUXES, &kernels(&folded)));
}

#[test]
fn blocks_that_meet_are_found() {
    // All blocks of a launch would have one array, which nobody orders them by.
    let heap = TILES
        .replace(
            "temporary t: float64[3, 3] shift [-i_tile + 1, -j_tile] along IJ in i_tile shared",
            "temporary t: float64[I + 1, J + 1, K] shift [1, 0, 0] heap",
        )
        .replace("t[i - i_tile + 1, j - j_tile] =", "t[i + 1, j, k] =")
        .replace("t[i - i_tile, j - j_tile]", "t[i, j, k]")
        .replace("t[i - i_tile + 1, j - j_tile + 1]", "t[i + 1, j + 1, k]");
    expect!["two blocks write one element of `t` at i=1, j=0, k=0"]
        .assert_eq(&fault(FLUXES, &kernels(&heap)));
}

#[test]
fn launches_one_after_the_other_need_no_barrier() {
    let tree = "\
schedule fluxes
field a: float64[I + 4, J + 4, K] shift [2, 2, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[I + 1, J + 1, K] shift [1, 0, 0] heap
for k in [0, K) ascending:
  grid j in [0, J + 1) parallel:
    grid i_tile in [-1, I) step 2 parallel:
      block i in [i_tile, min(I, i_tile + 2)) parallel:
        t[i + 1, j, k] = a[i + 3, j + 2, k] - a[i + 2, j + 3, k]
  grid j in [0, J) parallel:
    grid i_tile in [0, I) step 2 parallel:
      block i in [i_tile, min(I, i_tile + 2)) parallel:
        b[i, j, k] = t[i, j, k] + t[i + 1, j + 1, k]
";
    let kernels = kernels(tree);
    assert_eq!(validate::validate(&kernels, MAX_THREADS), Vec::<String>::new());
    let text = print::listing(&kernels).text;
    let host = text.rsplit_once("host:").map_or("", |it| it.1);
    let launched: Vec<&str> = host.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    assert_eq!(launched, ["for k in [0, K) ascending:", "launch kernel_1", "launch kernel_2"]);
    assert_eq!(divergence(FLUXES, &kernels), None);
}
