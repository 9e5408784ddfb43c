//! `debug` and `openmp` give the same bits for the stencils of the gallery, at the size of a real tile.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isobar_runner::npz;

/// More than a file of results holds.
const LIMIT: u64 = 1 << 28;

/// Runs a stencil of the gallery on 64 x 64 x 64 points, inputs as the file's own lines make them; gives the file
/// of its results.
fn run(stencil: &str, backend: &str, precision: &str, threads: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("agreement");
    std::fs::create_dir_all(&folder).unwrap();
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/gallery").join(format!("{stencil}.py"));
    let out = folder.join(format!("{stencil}-{backend}-{precision}-{threads}.npz"));
    let output = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .arg("run")
        .arg(source)
        .args(["--backend", backend, "--precision", precision, "--threads", threads])
        .args(["--domain", "64,64,64", "--init", "--out"])
        .arg(&out)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{stencil}: {}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&out).unwrap();
    std::fs::remove_file(&out).unwrap();
    bytes
}

fn has_compiler() -> bool {
    Command::new("cc").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn agree(stencil: &str) {
    if !has_compiler() {
        println!("skipped: there is no C compiler `cc`");
        return;
    }
    for precision in ["64", "32"] {
        let meant = run(stencil, "debug", precision, "1");
        let fields = npz::read(&meant, LIMIT).unwrap();
        assert!(!fields.is_empty(), "{stencil} writes a field");
        for threads in ["1", "2"] {
            let found = run(stencil, "openmp", precision, threads);
            // The same arrays make the same bytes of a file.
            if found != meant {
                let others = npz::read(&found, LIMIT).unwrap();
                let differing: Vec<_> =
                    fields.iter().filter(|(name, it)| others.get(*name) != Some(it)).collect();
                let names: Vec<_> = differing.iter().map(|(name, _)| name).collect();
                panic!("{stencil} in {precision} bits on {threads} threads: {names:?} differ");
            }
        }
    }
}

#[test]
fn copy_scale() {
    agree("copy_scale");
}

#[test]
fn horizontal_diffusion() {
    agree("horizontal_diffusion");
}

#[test]
fn vertical_advection() {
    agree("vertical_advection");
}

#[test]
fn ppm_transport() {
    agree("ppm_transport");
}

#[test]
fn column_physics() {
    agree("column_physics");
}
