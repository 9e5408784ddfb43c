//! Stencils run twice: by the interpreter, and as a program made of the generated file and a `main`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isobar_compiler::c::{ArgumentKind, CArtifact, COptions, FLAGS, generate};
use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::debug::{NoControl, Stop, run};
use isobar_compiler::diag::Diagnostics;
use isobar_compiler::loops::ready;
use isobar_compiler::oir::analysis::extents::extents;
use isobar_compiler::oir::analysis::program_order;
use isobar_compiler::oir::nodes::{ParamKind, Stencil};
use isobar_compiler::schedule::passes::{PASSES, PassCx, Target};
use isobar_compiler::space::Domain;
use isobar_compiler::types::Value;
use isobar_compiler::{gtir, oir, schedule, sdfg, tree};

/// Points around the domain that every array has.
const HALO: i64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    All,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// k contiguous.
    C,
    /// i contiguous.
    Fortran,
}

pub(super) fn compare(text: &str, domain: Domain, passes: Passes) {
    let stencil = stencil(text);
    for order in [Order::Fortran, Order::C] {
        let (fresh, artifact) = prepared(&stencil, domain, order, passes);
        let mut expected = fresh.clone();
        run(&stencil, &extents(&stencil), &mut expected, &mut NoControl).expect("it ends");
        // No field is small enough to stay in the caches.
        let all: &[&str] = &["-O3", "-march=native", "-DISOBAR_STREAM_FROM=0.0"];
        let flags = if passes == Passes::All { all } else { &["-O0"] };
        let program = compile(&artifact, flags);
        let expected: Vec<Vec<u8>> = fields(&expected).map(|it| it.array.elements.to_le_bytes()).collect();
        for threads in [1, 2] {
            let output = execute(&program, &artifact, &fresh, threads);
            assert_eq!(output.said, "0 0 0 0 0", "{text}{}", artifact.listing.text);
            let place = format!("{text}{domain} {order:?} {passes:?} {threads} threads");
            assert!(output.fields == expected, "{place}\n{}", artifact.listing.text);
        }
    }
}

/// Both must end with the same trap.
pub(super) fn compare_traps(text: &str, domain: Domain) {
    let stencil = stencil(text);
    for passes in [Passes::All, Passes::None] {
        let (fresh, artifact) = prepared(&stencil, domain, Order::Fortran, passes);
        let ended = run(&stencil, &extents(&stencil), &mut fresh.clone(), &mut NoControl);
        let Err(Stop::Trap(trap)) = ended else { panic!("the interpreter ended well: {text}") };
        let program = compile(&artifact, &["-O3", "-march=native"]);
        for threads in [1, 2] {
            let output = execute(&program, &artifact, &fresh, threads);
            let [i, j, k] = trap.cell;
            let expected = format!("1 {} {i} {j} {k}", trap.origin.stmt.0);
            assert_eq!(
                output.said, expected,
                "{text}{passes:?}, {threads} threads\n{}",
                artifact.listing.text
            );
        }
    }
}

pub(super) fn stencil(text: &str) -> Stencil {
    let typed = gtir::parse::parse(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let mut diagnostics = Diagnostics::default();
    let lowered = oir::from_gtir::lower(&typed, &mut diagnostics);
    lowered.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"))
}

/// Arrays with distinct values, and the C for the stencil.
pub(super) fn prepared(
    stencil: &Stencil,
    domain: Domain,
    order: Order,
    passes: Passes,
) -> (Launch, CArtifact) {
    let mut scheduled = schedule::from_tree::lower(&tree::from_oir::lower(stencil, &extents(stencil)));
    if passes == Passes::All {
        let mut cx = PassCx::new(Target::CPU);
        for pass in PASSES {
            pass.apply(&mut scheduled, &mut cx, None);
        }
    }
    let mut graph = sdfg::from_schedule::lower(&scheduled);
    graph.order = program_order(stencil);
    assert_eq!(
        sdfg::validate::validate(&graph),
        Vec::<String>::new(),
        "{}",
        sdfg::print::listing(&graph).text
    );
    let artifact = generate(&ready(&graph, &isobar_compiler::target::Target::c(None)), &COptions::default());
    let arguments = stencil.params.iter().map(|param| match param.what {
        ParamKind::Scalar(scalar) => {
            Argument::Scalar(Value::Float64(2.5).cast(stencil.scalars[scalar].dtype))
        }
        ParamKind::Field(field) => {
            let field = &stencil.fields[field];
            let size = |n: i64| usize::try_from(n + 2 * HALO).expect("small");
            let points = field.axes.iter().map(|axis| size(domain.along(axis)));
            let shape: Vec<usize> = points.chain(field.data_dims.iter().map(|&it| it as usize)).collect();
            let n: usize = shape.iter().product();
            let mut elements = Elements::zeros(field.dtype, n);
            for at in 0..n {
                let value = ((at * 37 + field.name.len() * 11) % 101) as f64 - 20.0;
                elements.set(at, Value::Float64(value / 2.0).cast(field.dtype));
            }
            let array = match order {
                Order::C => Array::from_c_order(elements, &shape),
                Order::Fortran => Array::from_fortran_order(elements, &shape),
            };
            let mut origin = [0; 3];
            field.axes.iter().for_each(|axis| origin[axis.index()] = HALO);
            Argument::Field(FieldArgument { array: array.expect("as many as the shape says"), origin })
        }
    });
    (Launch { domain, arguments: arguments.collect() }, artifact)
}

pub(super) fn fields(launch: &Launch) -> impl Iterator<Item = &FieldArgument> {
    launch.arguments.iter().filter_map(|it| match it {
        Argument::Field(it) => Some(it),
        Argument::Scalar(_) | Argument::Unused => None,
    })
}

/// The output of the child program.
pub(super) struct Output {
    /// Status, statement, i, j, k.
    pub(super) said: String,
    pub(super) fields: Vec<Vec<u8>>,
}

/// Reads for each field its size in bytes, the offset of its start in bytes, its strides and its levels
/// beside the domain. Then come the number of data dimensions, the strides along them, and the bytes. For
/// each scalar it reads eight bytes. Writes status and trap in a line, then all fields.
pub(super) const MAIN: &str = r#"
#include <stdio.h>
static void get(void *to, size_t n) { if (n > 0 && fread(to, n, 1, stdin) != 1) exit(9); }
int main(void)
{
  int64_t head[6];
  get(head, sizeof head);
  const int64_t n_fields = head[4], n_scalars = head[5];
  isobar_field fields[16];
  char *memory[16];
  int64_t bytes[16];
  static double values[16];
  const void *scalars[16];
  for (int64_t at = 0; at < n_fields; ++at) {
    int64_t shape[8];
    get(shape, sizeof shape);
    bytes[at] = shape[0];
    /* As large as it is, so that an address sanitizer sees what goes beyond. */
    memory[at] = malloc((size_t)shape[0]);
    int64_t *const data = malloc((size_t)shape[7] * sizeof *data + 1);
    get(data, (size_t)shape[7] * sizeof *data);
    get(memory[at], (size_t)shape[0]);
    fields[at] = (isobar_field){memory[at] + shape[1], {shape[2], shape[3], shape[4]}, data, shape[5], shape[6]};
  }
  for (int64_t at = 0; at < n_scalars; ++at) {
    get(&values[at], sizeof values[at]);
    scalars[at] = &values[at];
  }
  isobar_trap trap = {0, 0, 0, 0};
  volatile int64_t progress = 0;
  isobar_call call = {{head[0], head[1], head[2]}, fields, scalars, (int32_t)head[3], &progress, NULL, &trap, NULL, 0, NULL};
  const int32_t status = isobar_run(&call);
  printf("%d %d %lld %lld %lld\n", (int)status, (int)trap.statement, (long long)trap.i, (long long)trap.j, (long long)trap.k);
  for (int64_t at = 0; at < n_fields; ++at) fwrite(memory[at], (size_t)bytes[at], 1, stdout);
  return 0;
}
"#;

pub(super) fn execute(program: &Path, artifact: &CArtifact, launch: &Launch, threads: i64) -> Output {
    let mut input = Vec::new();
    let mut put = |number: i64| input.extend(number.to_le_bytes());
    [launch.domain.i, launch.domain.j, launch.domain.k, threads].into_iter().for_each(&mut put);
    let is_field = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Field { .. });
    put(artifact.arguments.iter().filter(|it| is_field(&it.kind)).count() as i64);
    put(artifact.arguments.iter().filter(|it| !is_field(&it.kind)).count() as i64);
    let axes = artifact.arguments.iter().filter_map(|it| match it.kind {
        ArgumentKind::Field { axes, .. } => Some(axes),
        ArgumentKind::Scalar => None,
    });
    for (field, axes) in fields(launch).zip(axes) {
        let bytes = field.array.elements.to_le_bytes();
        let size = field.array.dtype().size_bytes();
        let data = field.data_strides(axes);
        let mut put = |number: i64| input.extend(number.to_le_bytes());
        put(bytes.len() as i64);
        put(field.start(axes) * size as i64);
        for number in field.strides(axes) {
            put(number);
        }
        field.levels_beside(axes, launch.domain).into_iter().for_each(&mut put);
        put(data.len() as i64);
        data.iter().copied().for_each(put);
        input.extend(bytes);
    }
    for argument in &launch.arguments {
        if let Argument::Scalar(value) = argument {
            input.extend(value.bits().to_le_bytes());
        }
    }
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("the program ends").stdout;
    writer.join().expect("the writer ends").expect("the program reads");
    let line = output.iter().position(|&it| it == b'\n').expect("it says how it ended");
    let said = String::from_utf8_lossy(&output[..line]).into_owned();
    let mut rest = &output[line + 1..];
    let mut after = Vec::new();
    for field in fields(launch) {
        let (own, others) = rest.split_at(field.array.elements.to_le_bytes().len());
        after.push(own.to_vec());
        rest = others;
    }
    Output { said, fields: after }
}

pub(super) fn has_compiler() -> bool {
    Command::new("cc").arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success())
}

pub(super) fn compile(artifact: &CArtifact, flags: &[&str]) -> PathBuf {
    let text = format!("{}{MAIN}", artifact.listing.text);
    let stem = format!("generated_c_{}_{}", std::process::id(), fingerprint(&text, flags));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(stem);
    if program.exists() {
        return program;
    }
    let source = program.with_extension("c");
    std::fs::write(&source, &text).expect("the directory can be written");
    let output = Command::new("cc")
        .args(FLAGS)
        .args(["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"])
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg("-lm")
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    program
}

/// A number that tells texts apart (FNV-1a).
pub(super) fn fingerprint(text: &str, flags: &[&str]) -> u64 {
    let bytes = text.bytes().chain(flags.iter().flat_map(|it| it.bytes()));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
