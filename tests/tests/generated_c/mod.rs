//! Generated C gives the bits of the interpreter: small stencils, each with another shape of control flow.
//!
//! A child program is made of the generated file and a `main` that reads and writes arrays. It runs the
//! stencil with every scheduling pass, as a run is compiled. It also runs it with no pass and without
//! optimisation. Each runs on one thread and on two, with neighbours along i side by side and far apart.

mod elements;
mod harness;

use std::io::Write as _;
use std::process::{Command, Stdio};

use isobar_compiler::c::{ArgumentKind, FLAGS};
use isobar_compiler::call::launch::bind;
use isobar_compiler::config::Config;
use isobar_compiler::debug::{NoControl, run};
use isobar_compiler::expr::parse::spelled;
use isobar_compiler::oir::analysis::extents::extents;
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_compiler::types::Function;
use isobar_compiler::{inputs, pipeline};
use isobar_testing::Shard;

use harness::{
    Order, Passes, compare, compare_traps, compile, execute, fields, has_compiler, prepared, stencil,
};

const COPY: &str = "
stencil copy
field a: float64[IJK]
field b: float64[IJK]
scalar f: float64
parallel [start, end)
  b = a * f
";

const DIFFUSION: &str = "
stencil diffusion
field q: float32[IJK]
field out: float32[IJK]
temporary lap: float32[IJK]
temporary flux: float32[IJK]
parallel [start, end)
  lap = q[1,0,0] + q[-1,0,0] + q[0,1,0] + q[0,-1,0] - float32(4.0) * q
  flux = lap[1,0,0] - lap
  flux = float32(0.0) if flux * (q[1,0,0] - q) > float32(0.0) else flux
  out = q - float32(0.1) * (flux - flux[-1,0,0])
";

const SOLVER: &str = "
stencil solver
field a: float64[IJK]
field b: float64[IJK]
field k_only: float64[K]
temporary c: float64[IJK]
forward [start, start+1)
  c = a / 3.0
  b = b * k_only
forward [start+1, end)
  c = a / (3.0 - c[0,0,-1])
  b = (b - b[0,0,-1] * k_only) / (3.0 - c[0,0,-1])
backward [start, end-1)
  b = b - c * b[0,0,1]
";

const SHIFT: &str = "
stencil shift
field a: float64[IJK]
parallel [start+1, end)
  a = a[0,0,-1]
";

const BRANCHES: &str = "
stencil branches
field a: float64[IJK]
field b: float64[IJK]
field plane: float64[IJ]
parallel [start, end)
  b = plane
  if a < 2.0
    a = 5.0
    b = b + 1.0
  elif a < 30.0 and b > 0.5
    b = 2.0
  else
    b = exp(a * -0.01) ** 1.5
";

const COUNT: &str = "
stencil count
field a: float64[IJK]
field n: float64[IJK]
temporary c: int64[IJK]
parallel [start, end)
  c = 0
  n = 0.0
  while float64(c) < a
    c = c + 1
    n = n + 1.0
";

const FOREVER: &str = "
stencil forever
field a: float64[IJK]
parallel [start, end)
  while a >= 3.0
    a = 4.0
";

const EDGES: &str = "
stencil edges
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = a
  region i[start-1, start) j[, )
    t = 50.0
  region i[end-1, end) j[start, start+1)
    t = 2.0
  region i[end, end+4) j[, )
    t = 3.0
  b = t[-1,0,0] + t[1,0,0]
";

const INTEGERS: &str = "
stencil integers
field a: float64[IJK]
field b: float64[IJK]
temporary m: int32[IJK]
temporary n: int8[IJK]
parallel [start, end)
  m = int32(a * 1e8)
  n = int8(m * m + int32(7))
  m = m % int32(-5)
  b = float64(n) + float64(m) + float64(int64(a / 0.0))
";

/// Each temporary is read where nothing wrote it; `far` on a domain of one column along i only.
const UNDEFINED: &str = "
stencil undefined
field a: float64[IJK]
field b: float64[IJK]
field c: float64[IJK]
temporary some: float64[IJK]
temporary edge: float64[IJK]
temporary far: float64[IJK]
temporary level: float32[IJK]
temporary n: int32[IJK]
temporary is_hot: bool[IJK]
temporary plane: float64[IJ]
parallel [start, end)
  if a > 10.0
    some = a
    n = int32(3)
    is_hot = true
  region i[start, start+1) j[, )
    edge = a
  far = a
  b = edge if a < 5.0 else some
  region i[end-1, end) j[, )
    b = far[-1,0,0]
  c = float64(n) if is_hot else float64(n) * 2.0
parallel [start+1, end)
  level = float32(a)
forward [start, end)
  if a > 25.0
    plane = a
  c = c + plane
  b = b + float64(level)
";

#[test]
fn generated_c_has_the_bits_of_the_interpreter() {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    for text in [COPY, DIFFUSION, SOLVER, SHIFT, BRANCHES, COUNT, EDGES, INTEGERS, UNDEFINED] {
        for domain in [Domain::new(6, 5, 4), Domain::new(1, 2, 3), Domain::new(0, 3, 2)] {
            for passes in [Passes::All, Passes::None] {
                compare(text, domain, passes);
            }
        }
    }
}

isobar_testing::shards! {
    the_gallery_has_the_bits_of_the_interpreter: 4 shards of gallery;
}

fn gallery(shard: Shard) {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    let names =
        ["copy_scale", "horizontal_diffusion", "vertical_advection", "ppm_transport", "column_physics"];
    for (name, bits) in shard.of(names.into_iter().flat_map(|it| [64, 32].map(|bits| (it, bits)))) {
        compare_gallery(name, bits, Domain::new(13, 9, 7));
    }
}

#[test]
fn fields_and_temporaries_may_be_called_as_positions_and_sizes_are() {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    let text = "
# @input I random(seed=1)
# @input i random(seed=2)
# @input k_ random(seed=3)
# @scalar j = 0.5
from gt4py.cartesian.gtscript import *

def places(I: Field[float], i: Field[float], k_: Field[float], K: Field[float], j: float):
    with computation(FORWARD), interval(...):
        k = I[1, 0, 0] + i
        J = k[-1, 0, 0] * k_
        K = J + k * j
";
    compare_python("places", text, 64, Domain::new(5, 4, 3));
}

fn compare_gallery(name: &str, bits: u32, domain: Domain) {
    let path = format!("{}/../static/gallery/{name}.py", env!("CARGO_MANIFEST_DIR"));
    compare_python(name, &std::fs::read_to_string(path).expect("the gallery is there"), bits, domain);
}

/// The inputs are those that the text itself describes.
pub(crate) fn compare_python(name: &str, text: &str, bits: u32, domain: Domain) {
    let project = Project::of_one("main.py", text);
    let compilation =
        pipeline::route::compile(&project, &Config::with_precision(bits), &mut pipeline::NoHook);
    assert!(!compilation.has_errors(), "{:?}", compilation.notes.diagnostics);
    let signature = compilation.front.signature.as_ref().expect("there is no error");
    let (oir, extents) = (
        compilation.front.oir.as_ref().expect("no error"),
        compilation.front.extents.as_ref().expect("no error"),
    );
    let artifact = compilation.c().expect("no error");
    let call = inputs::call::call_for(signature, &compilation.front.directives, domain);
    let fresh = bind(signature, call).expect("the call fits");
    let mut expected = fresh.clone();
    run(oir, extents, &mut expected, &mut NoControl).expect("it ends");
    let expected: Vec<Vec<u8>> = fields(&expected).map(|it| it.array.elements.to_le_bytes()).collect();
    // Small as the fields are, what is written past the caches by large ones is here too.
    let program = compile(artifact, &["-O3", "-march=native", "-DISOBAR_STREAM_FROM=0.0"]);
    for threads in [1, 2] {
        let output = execute(&program, artifact, &fresh, threads);
        assert_eq!(output.said, "0 0 0 0 0", "{name} in {bits} bits");
        let names = artifact.arguments.iter().filter(|it| matches!(it.kind, ArgumentKind::Field { .. }));
        for ((found, expected), argument) in output.fields.iter().zip(&expected).zip(names) {
            assert!(
                found == expected,
                "{name} in {bits} bits on {threads} threads: `{}` differs",
                argument.name
            );
        }
    }
}

#[test]
fn a_loop_that_does_not_end_is_reported_with_its_place() {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    compare_traps(FOREVER, Domain::new(5, 4, 3));
}

/// The names of all macros that are known at the end of a C file.
fn macros(text: &str) -> Vec<String> {
    let mut cc = Command::new("cc");
    cc.args(["-dM", "-E", "-x", "c", "-"]).args(FLAGS).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut cc = cc.spawn().expect("the C compiler was found before");
    cc.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("it reads all");
    let out = cc.wait_with_output().expect("it ends");
    assert!(out.status.success());
    let defined = String::from_utf8(out.stdout).expect("it is text");
    let name = |line: &str| line.strip_prefix("#define ")?.split([' ', '(']).next().map(str::to_owned);
    let names: Vec<String> = defined.lines().filter_map(name).collect();
    assert!(names.iter().any(|it| it == "__STDC__"), "{names:?}");
    names
}

#[test]
fn a_field_may_have_any_name_that_the_generated_file_uses() {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    // Everything that a file can hold: loops that may be endless, mathematics, integers, regions, temporaries.
    let every = "
stencil every
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
temporary n: int32[IJK]
forward [start, end)
  t = exp(a) ** 1.5
  n = int32(t) % int32(3)
  region i[start, start+1) j[, )
    t = floor(t)
  while t > 2.0
    t = t * 0.5
parallel [start, end)
  b = t[1,0,0] + float64(n)
";
    let domain = Domain::new(4, 3, 2);
    let (_, artifact) = prepared(&stencil(every), domain, Order::Fortran, Passes::All);
    let text: String = artifact
        .listing
        .text
        .split("/*")
        .map(|it| it.split_once("*/").map_or(it, |(_, code)| code))
        .collect();
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    // The text's own names, and those that mean something between lines of a level.
    let own = [
        "a", "b", "t", "n", "every", "exp", "floor", "while", "if", "else", "for", "pass", "true", "false",
        "and", "or", "not", "in", "I", "J", "K",
    ];
    let mut names: Vec<&str> = text
        .split(|it| !is_part(it))
        .filter(|it| it.starts_with(|it: char| it.is_ascii_alphabetic()) && !own.contains(it))
        .collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() > 80, "{names:?}");
    // Macros of the headers are not in the text, and a field may have their names too.
    let macros = macros(&artifact.listing.text);
    let is_plain = |it: &&str| {
        let is_word = own.contains(it) || Function::from_name(it).is_some();
        it.starts_with(|it: char| it.is_ascii_lowercase()) && !is_word
    };
    names.extend(macros.iter().map(String::as_str).filter(is_plain));
    names.sort_unstable();
    names.dedup();
    for names in names.chunks(8) {
        let mut text = every.to_owned();
        for name in names {
            text = text.replace("temporary t:", &format!("field {name}: float64[IJK]\ntemporary t:"));
            text.push_str(&format!("  b = b + {}[1,0,0]\n", spelled(name)));
        }
        compare_once(&text, domain);
    }
}

/// As [`compare`] does, in one way only and not optimised.
fn compare_once(text: &str, domain: Domain) {
    let stencil = stencil(text);
    let (fresh, artifact) = prepared(&stencil, domain, Order::Fortran, Passes::All);
    let mut expected = fresh.clone();
    run(&stencil, &extents(&stencil), &mut expected, &mut NoControl).expect("it ends");
    let output = execute(&compile(&artifact, &["-O0"]), &artifact, &fresh, 2);
    let expected: Vec<Vec<u8>> = fields(&expected).map(|it| it.array.elements.to_le_bytes()).collect();
    assert_eq!(output.said, "0 0 0 0 0", "{text}");
    assert!(output.fields == expected, "{text}\n{}", artifact.listing.text);
}
