//! `isobar check` of a folder, run as a program.

use std::path::Path;
use std::process::Command;

const SHARED: &str = "
from gt4py.cartesian.gtscript import *

@function
def twice(x):
    return 2.0 * x
";

const MODEL: &str = "
from gt4py.cartesian.gtscript import *
from .shared import twice

def good(a: Field[float]):
    with computation(PARALLEL), interval(...):
        a = twice(a)

def bad(a: Field[float]):
    with computation(PARALLEL), interval(...):
        a = a[1, 0, 0]
";

#[test]
fn a_folder_ends_with_a_summary_and_its_files_find_each_other() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check_folder/model");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("__init__.py", ""), ("shared.py", SHARED), ("steps.py", MODEL)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_isobar")).arg("check").arg(&folder).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("3 files, 2 stencils, 1 accepted, in "), "{told}");
    assert!(told.ends_with("  E18: 1 stencil\n"), "{told}");
}

#[test]
fn fixes_of_a_whole_folder_are_refused_and_not_left_out_in_silence() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let output =
        Command::new(env!("CARGO_BIN_EXE_isobar")).args(["check", folder, "--fix"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--fix changes files that are named"));
}
