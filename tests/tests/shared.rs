//! One array for several parameters means the same on all back ends, and what `debug` makes of the memory itself.

use isobar_runner::backends::Backend;
use isobar_tests::native::Workplace;
use isobar_tests::shared::{HeldShared, hold_shared};

isobar_testing::over_seeds! {
    generated_stencils_with_one_array_for_several_parameters_mean_the_same_everywhere:
        0..120 in 8 shards of generated;
}

fn generated(seeds: &[u64]) {
    let workplace = Workplace::below(env!("CARGO_TARGET_TMPDIR"), "shared").expect("a folder of the build");
    let mut all = HeldShared::default();
    for &seed in seeds {
        let held = hold_shared(seed, Backend::RAYON, &workplace).unwrap_or_else(|wrong| panic!("{wrong:#}"));
        all.runs += held.runs;
        all.by_memory += held.by_memory;
        all.refused += held.refused;
    }
    let n = seeds.len() as u64;
    assert!(all.runs >= n / 4 && all.by_memory >= n / 16, "{all:?}");
}

#[test]
fn a_parameter_that_shares_no_element_with_what_is_written_keeps_its_values() {
    generated(&[51_686_036]);
}
