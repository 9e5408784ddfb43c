//! What is written by hand is what the stencils mean, so that its speed says something.

use std::path::Path;
use std::process::Command;

use isobar_testing::skip;
use isobar_tests::kernels::KERNELS;
use isobar_tests::kernels::compiled::Compiled;

#[test]
fn each_kernel_by_hand_computes_what_its_stencil_means() {
    if Command::new("cc").arg("--version").output().is_err() {
        return skip("kernels by hand", "there is no C compiler `cc`");
    }
    if !cfg!(target_arch = "x86_64") {
        return skip("kernels by hand", "they ask for stores of x86-64 by name");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("by_hand");
    std::fs::create_dir_all(&folder).unwrap();
    for kernel in &KERNELS {
        for precision in [64, 32] {
            let compiled = Compiled::new(kernel, precision, &folder).unwrap();
            compiled.check().unwrap();
        }
    }
}
