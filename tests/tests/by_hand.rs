//! Hand-written kernels compute what the stencils mean, so that their speed says something.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::path::Path;
use std::process::Command;

use isobar_testing::{Shard, skip};
use isobar_tests::kernels::KERNELS;
use isobar_tests::kernels::compiled::Compiled;

isobar_testing::shards! {
    each_kernel_by_hand_computes_what_its_stencil_means: 8 shards of kernels;
}

fn kernels(shard: Shard) {
    if Command::new("cc").arg("--version").output().is_err() {
        return skip("kernels by hand", "there is no C compiler `cc`");
    }
    if !cfg!(target_arch = "x86_64") {
        return skip("kernels by hand", "they ask for stores of x86-64 by name");
    }
    // Shards are processes beside each other, and what is compiled has the same names in each.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("by_hand-{}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    let cases = KERNELS.iter().flat_map(|kernel| [64, 32].map(|precision| (kernel, precision)));
    for (kernel, precision) in shard.of(cases) {
        let compiled = Compiled::new(kernel, precision, &folder).unwrap();
        compiled.check().unwrap();
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
