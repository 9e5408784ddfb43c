//! One array for several parameters means the same on all back ends, and what `debug` makes of the memory itself.

use std::path::Path;

use isobar_runner::backends::Backend;
use isobar_tests::native::Workplace;
use isobar_tests::shared::{HeldShared, hold_shared};

#[test]
fn generated_stencils_with_one_array_for_several_parameters_mean_the_same_everywhere() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shared-{}", std::process::id()));
    let workplace = Workplace::new(&folder).expect("a folder of the build");
    let mut all = HeldShared::default();
    for seed in 0..120 {
        let held = hold_shared(seed, Backend::RAYON, &workplace).unwrap_or_else(|wrong| panic!("{wrong:#}"));
        all.runs += held.runs;
        all.by_memory += held.by_memory;
        all.refused += held.refused;
    }
    assert!(all.runs > 60 && all.by_memory > 30 && all.runs > all.by_memory, "{all:?}");
}
