//! `debug` and `openmp` give the same bits for the stencils of the gallery, at the size of a real tile.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isobar_runner::npz;
use isobar_testing::Shard;

/// More than a file of results holds.
const LIMIT: u64 = 1 << 28;

/// Runs a stencil on 64 x 64 x 64 points, inputs as the file's own lines make them; gives the file of its results.
fn run(source: &Path, stencil: &str, backend: &str, precision: &str, threads: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("agreement");
    std::fs::create_dir_all(&folder).unwrap();
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

fn agree(stencil: &str, shard: Shard) {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/gallery");
    agree_on(&gallery.join(format!("{stencil}.py")), stencil, shard);
}

fn agree_on(source: &Path, stencil: &str, shard: Shard) {
    if !has_compiler() {
        return isobar_testing::skip(stencil, "there is no C compiler");
    }
    for precision in shard.of(["64", "32"]) {
        let meant = run(source, stencil, "debug", precision, "1");
        let fields = npz::read(&meant, LIMIT).unwrap();
        assert!(!fields.is_empty(), "{stencil} writes a field");
        for threads in ["1", "2"] {
            let found = run(source, stencil, "openmp", precision, threads);
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
    agree("copy_scale", Shard::WHOLE);
}

#[test]
fn horizontal_diffusion() {
    agree("horizontal_diffusion", Shard::WHOLE);
}

#[test]
fn vertical_advection() {
    agree("vertical_advection", Shard::WHOLE);
}

isobar_testing::shards! {
    column_physics: 2 shards of physics;
}

#[test]
fn ppm_transport() {
    agree("ppm_transport", Shard::WHOLE);
}

fn physics(shard: Shard) {
    agree("column_physics", shard);
}

/// Levels and elements that are found at run time, and data dimensions.
const ELEMENTS: &str = "
# @input q random(low=0.5, high=1.5, seed=1)
# @input v random(low=0.5, high=1.5, seed=2)
# @input w random(low=0.5, high=1.5, seed=3)
# @input kept constant(0)
# @input n random(low=0, high=2.99, seed=4)
# @input out constant(0)
from gt4py.cartesian.gtscript import *

def elements(
    q: Field[float],
    v: Field[IJK, (float, (3, 2))],
    w: GlobalTable[(float, (4,))],
    kept: Field[IJK, (float, (2,))],
    n: Field[IJ, int],
    out: Field[float],
):
    with computation(PARALLEL), interval(0, -2):
        t = q[0, 0, n] * w.A[n + 1]
    with computation(PARALLEL), interval(-2, None):
        t = q.at(K=n) + v[1, 0, 0][n, 1]
    with computation(FORWARD), interval(0, -1):
        out = t.at(K=n) + v[0, 0, 0][2, 0]
        out[0, 0, 1] = out * 0.5 + q
        kept[0, 0, 0][0] = out
        kept[0, 0, 0][n - n + 1] = t
    with computation(BACKWARD), interval(...):
        if out.at(K=n) > 1.0:
            out = out - 0.25 * out.at(K=n)
";

#[test]
fn elements() {
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("elements.py");
    std::fs::write(&source, ELEMENTS).unwrap();
    agree_on(&source, "elements", Shard::WHOLE);
}
