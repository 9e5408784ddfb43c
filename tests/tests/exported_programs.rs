//! Exported programs: one function that does what the interpreter does, in every language.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use isobar_compiler::call::launch::Argument;
use isobar_compiler::export::{self, BINDINGS, Binding, CompiledStencil, ExportedCode, File};
use isobar_compiler::pipeline::NoHook;
use isobar_compiler::space::Domain;
use isobar_compiler::types::{DType, Value};
use isobar_program::interpret::HaloFill;
use isobar_tests::exported::{Driver, LANGUAGES, Language, Lying, driver, hold, run, write, write_arrays};
use isobar_tests::programs::{WholeCase, generated, hold_as_one, hold_case_as_one};
use serde_json::{Value as Json, json};

use crate::exported::{call, scratch_folder, tools};

pub(crate) const STENCILS: &str = "
import numpy as np
from gt4py.cartesian.gtscript import FORWARD, IJ, K, PARALLEL, Field, computation, interval

def lap(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q

def step(q: Field[float], l: Field[float], a: float):
    with computation(PARALLEL), interval(...):
        q = q + a * l

def down(q: Field[float], total: Field[IJ, float], weight: Field[K, float]):
    with computation(FORWARD):
        with interval(0, 1):
            total = q * weight
        with interval(1, None):
            total = total + q * weight

def count(steps: Field[IJ, np.int32], n: np.int32):
    with computation(FORWARD), interval(0, 1):
        steps = steps + n
";

pub(crate) fn field(role: &str, axes: &str) -> Json {
    let halo = axes.contains('I');
    let shape: Vec<String> =
        axes.chars().map(|it| if halo && it != 'K' { format!("{it}+4") } else { it.to_string() }).collect();
    let origin: Vec<u32> = axes.chars().map(|it| if halo && it != 'K' { 2 } else { 0 }).collect();
    json!({"role": role, "dtype": "float64", "axes": axes, "shape": shape, "origin": origin})
}

/// A model with each kind of statement that code carries out.
pub(crate) fn model() -> String {
    let tracer = |at: u32| json!({"view": "tracers", "data_index": [at]});
    let mut tracers = field("argument", "IJK");
    tracers["shape"] = json!(["I+4", "J+4", "K", 2]);
    let mut steps = field("argument", "IJ");
    steps["dtype"] = json!("int32");
    json!({
        "isobar_program": 1, "name": "model", "files": {"main.py": STENCILS}, "grid": {"halo": 2},
        "fields": {
            "q": field("argument", "IJK"), "weight": field("constant", "K"), "kept": field("state", "IJK"),
            "one": field("local", "IJK"), "other": field("local", "IJK"), "late": field("local", "IJK"),
            "tracers": tracers, "steps": steps, "total": field("argument", "IJ")},
        "scalars": {"a": {"role": "argument", "dtype": "float64"}, "n": {"role": "argument", "dtype": "int64"},
            "third": {"role": "constant", "dtype": "float64", "value": 0.25}},
        "stencils": {
            "lap": {"function": "main.lap", "domain": ["I", "J", "K"]},
            "wide": {"function": "main.lap", "origin": [-1, -1, 0], "domain": ["I+2", "J+2", "K"]},
            "step": {"function": "main.step", "domain": ["I", "J", "K"]},
            "down": {"function": "main.down", "domain": ["I", "J", "K"]},
            "count": {"function": "main.count", "domain": ["I", "J", 1]}},
        "body": [
            {"fill": "one", "with": "a * third"},
            {"fill": "other", "with": 0.0},
            {"for": "it", "range": [0, "n"], "body": [
                {"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "start"},
                {"exchange": [tracer(1)], "kind": "scalar", "width": 1, "phase": "update"},
                {"call": "step", "args": {"q": "q", "l": "kept", "a": "-a"}},
                {"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "wait"},
                {"call": "wide", "args": {"q": "q", "out": "one"}},
                {"let": "t", "be": "a / (it + 1)"},
                {"call": "lap", "args": {"q": "one", "out": "other"}},
                {"if": "it % 2 == 0 and a > 0",
                    "then": [{"call": "step", "args": {"q": "q", "l": "other", "a": "t * 0.01"}}, {"swap": ["one", "other"]}],
                    "else": [{"call": "step", "args": {"q": "q", "l": tracer(1), "a": "t if it > 2 else -t"}}]},
                {"copy": "one", "to": tracer(0)},
                {"swap": ["kept", "q"]},
                {"mark": "turn"}]},
            {"let": "left", "be": "n"},
            {"while": "left > 0", "limit": 100, "body": [
                {"let": "left", "be": "left - 2"},
                {"call": "count", "args": {"steps": "steps", "n": "left"}}]},
            {"copy": "q", "to": "late"},
            {"call": "down", "args": {"q": "late", "total": "total", "weight": "weight"}},
            {"call": "lap", "args": {"q": "late", "out": tracer(1)}}]
    })
    .to_string()
}

pub(crate) fn files(case: &WholeCase, bindings: Vec<&'static Binding>) -> Result<Vec<File>, String> {
    let files = case.compilation.fronts.project().files.iter();
    let (name, text) = &case.compilation.document;
    let stencil = CompiledStencil {
        signature: &case.whole.signature,
        code: ExportedCode::Program(&case.whole),
        sources: files.map(|it| (&**it.0, &**it.1)).chain([(name.as_str(), text.as_str())]).collect(),
    };
    export::files(&export::Request {
        name: None,
        bindings,
        stencils: vec![stencil],
        is_fast: false,
        generator: "test",
    })
}

#[test]
fn each_language_runs_a_program_with_the_bits_of_the_interpreter() {
    let Some(tools) = tools() else { return };
    let mut exported = WholeCase::of(&model(), HaloFill::Periodic).unwrap();
    let home = scratch_folder("program").unwrap();
    write(&home.join("moved"), &files(&exported, BINDINGS.iter().collect()).unwrap()).unwrap();
    let project_folder = home.join("moved");
    run(tools.cmake().current_dir(&project_folder).args(["-S", ".", "-B", "build"])).unwrap();
    run(tools.cmake().current_dir(&project_folder).args(["--build", "build"])).unwrap();
    run(tools.cmake().current_dir(&project_folder).args(["--install", "build", "--prefix", "../prefix"]))
        .unwrap();
    let prefix = home.join("prefix");
    let scalars = BTreeMap::from([("a", Value::Float64(0.1)), ("n", Value::Int64(5))]);
    let domain = Domain::new(9, 6, 4);
    for lying in [Lying::Sections, Lying::Transposed] {
        let own = home.join(format!("{lying:?}"));
        fs::create_dir_all(&own).unwrap();
        let launch = lying.of(&exported.launch(domain, &scalars));
        let meant = exported.meant(&launch).unwrap();
        write_arrays(&own, &launch).unwrap();
        for language in LANGUAGES {
            if language == Language::Fortran && lying == Lying::Transposed {
                continue;
            }
            let signature = &exported.whole.signature;
            let names = ["model", "model"];
            call(&tools, language, signature, (&launch, None), names, &own, [&project_folder, &prefix])
                .unwrap();
            hold(&own, &meant).with_context(|| format!("{lying:?} {language:?}")).unwrap();
        }
    }
}

/// Builds the sources of a project and a main program in C, and runs it where it lies.
pub(crate) fn in_c(folder: &Path, files: &[File], name: &str, main: &str) -> Result<String> {
    write(folder, files)?;
    fs::write(folder.join("main.c"), main)?;
    let readme = fs::read_to_string(folder.join("README.md"))?;
    let line = readme.lines().find(|it| it.contains("-shared")).context("there is a line for gcc")?;
    let line = line.replace("-O3", "-O1").replace(&format!("-o lib{name}.so"), "main.c -o main");
    let line = line.replace(" -shared", "").replace(" -march=native", "") + " -Wall -Werror";
    run(Command::new("sh").current_dir(folder).args(["-c", &line]))?;
    run(Command::new("./main").current_dir(folder).env("OMP_NUM_THREADS", "2"))
}

#[test]
fn generated_programs_are_exported_with_the_bits_of_the_interpreter() {
    if tools().is_none() {
        return;
    }
    let home = scratch_folder("generated").unwrap();
    for seed in 0..3 {
        hold_generated(&home, seed).unwrap_or_else(|why| panic!("seed {seed}: {why:#}"));
    }
}

fn hold_generated(home: &Path, seed: u64) -> Result<()> {
    let text = generated(seed);
    let exported = WholeCase::of(&text, HaloFill::Periodic).map_err(anyhow::Error::msg)?;
    hold_in_c(&home.join(seed.to_string()), exported, Domain::new(9, 7, 4)).with_context(|| text)
}

/// Runs a program in C, and holds its bits against those of the interpreter.
fn hold_in_c(own: &Path, mut exported: WholeCase, domain: Domain) -> Result<()> {
    let files = files(&exported, vec![&BINDINGS[0]]).map_err(anyhow::Error::msg)?;
    let scalars = BTreeMap::from([("a", Value::Float64(0.1))]);
    let launch = exported.launch(domain, &scalars);
    let meant = exported.meant(&launch).map_err(|it| anyhow::anyhow!("{it:?}"))?;
    fs::create_dir_all(own)?;
    write_arrays(own, &launch)?;
    let name = exported.whole.signature.name.clone();
    let main = driver(
        Language::C,
        &Driver {
            project: &name,
            stencil: &name,
            signature: &exported.whole.signature,
            launch: &launch,
            answer: None,
        },
    );
    let said = in_c(own, &files, &name, &main)?;
    anyhow::ensure!(said.is_empty(), "{said}");
    hold(own, &meant)
}

/// A model with three layers of soil and a table of nine levels, on a domain of any number of levels.
fn model_with_soil() -> String {
    let mut soil = field("argument", "IJK");
    soil["shape"] = json!(["I+4", "J+4", 3]);
    let mut warmth = soil.clone();
    warmth["role"] = json!("local");
    let table =
        |role: &str| json!({"role": role, "dtype": "float64", "axes": "K", "shape": [9], "origin": [0]});
    json!({
        "isobar_program": 1, "name": "soil", "files": {"main.py": STENCILS}, "grid": {"halo": 2},
        "fields": {
            "q": field("argument", "IJK"), "soil": soil, "warmth": warmth, "depth": table("argument"),
            "kept": table("state"), "total": field("argument", "IJ"), "sum": field("argument", "IJ")},
        "scalars": {"a": {"role": "argument", "dtype": "float64"}},
        "stencils": {
            "lap": {"function": "main.lap", "domain": ["I", "J", 3]},
            "step": {"function": "main.step", "domain": ["I", "J", 3]},
            "down": {"function": "main.down", "domain": ["I", "J", 3]},
            "all": {"function": "main.down", "domain": ["I", "J", "K"]}},
        "body": [
            {"fill": "warmth", "with": "a"},
            {"call": "lap", "args": {"q": "soil", "out": "warmth"}},
            {"call": "step", "args": {"q": "soil", "l": "warmth", "a": "a"}},
            {"exchange": ["soil"], "kind": "scalar", "width": 1, "phase": "update"},
            {"call": "lap", "args": {"q": "soil", "out": "warmth"}},
            {"call": "down", "args": {"q": "warmth", "total": "sum", "weight": "depth"}},
            {"copy": "depth", "to": "kept"},
            {"call": "all", "args": {"q": "q", "total": "total", "weight": "kept"}}]
    })
    .to_string()
}

#[test]
fn fields_of_a_fixed_size_are_exported_for_one_domain() {
    let has_tools = tools().is_some();
    let home = scratch_folder("soil").unwrap();
    // More levels than layers of the soil, and fewer.
    for [i, j, k] in [[9, 7, 5], [4, 5, 2], [3, 3, 9]] {
        let of = || WholeCase::on(&model_with_soil(), HaloFill::Periodic, Some([i, j, k])).unwrap();
        let domain = Domain::new(i, j, k);
        hold_case_as_one(of(), domain, &BTreeMap::from([("a", Value::Float64(0.1))]), 1).unwrap();
        if has_tools {
            hold_in_c(&home.join(k.to_string()), of(), domain).unwrap();
        }
    }
}

/// Expressions of a double, an integer, a truth value and a single, each with the name of its type.
const EXPRESSIONS: [(&str, &str); 44] = [
    ("a + 2 * n", "float64"),
    ("n // 3", "int64"),
    ("-n // 3", "int64"),
    ("n % -4", "int64"),
    ("-n % 4", "int64"),
    ("n ** 5", "int64"),
    ("n / 3", "float64"),
    ("9223372036854775807 / (n + 2)", "float64"),
    ("a // 0.3", "float64"),
    ("-a // 0.3", "float64"),
    ("a % 0.3", "float64"),
    ("-a % 0.3", "float64"),
    ("a ** 2.5", "float64"),
    ("2 ** -3", "float64"),
    ("-a ** 2", "float64"),
    ("exp(a) + log(a) * sqrt(a)", "float64"),
    ("abs(-n)", "int64"),
    ("abs(-a)", "float64"),
    ("min(n, 3, 5)", "int64"),
    ("max(a, 0.5, -1.0)", "float64"),
    ("round(2.5) + round(3.5) + round(-a)", "int64"),
    ("floor(-a) + int(-a * 10)", "int64"),
    ("bool(n)", "bool"),
    ("not b", "bool"),
    ("b and a > 0", "bool"),
    ("n or 3", "int64"),
    ("0 and n", "int64"),
    ("n if b else -n", "int64"),
    ("a if not b else -a", "float64"),
    ("1 < n <= 7 != 8", "bool"),
    ("n == 7.0", "bool"),
    ("n < 7.5", "bool"),
    ("7.5 >= n", "bool"),
    ("float(\"nan\") != n", "bool"),
    ("float(\"nan\") >= n", "bool"),
    ("9007199254740993 > 9007199254740992.0", "bool"),
    ("float32(a) * s + s", "float32"),
    ("-s / float32(3)", "float32"),
    ("int32(a * 100)", "int64"),
    ("float(s) * a", "float64"),
    ("True + True", "int64"),
    ("+b", "int64"),
    ("float(\"inf\")", "float64"),
    ("-9223372036854775808 + n", "int64"),
];

/// Expressions without a value, for which a run ends.
const WITHOUT_VALUE: [&str; 14] = [
    "1 / (n - 7)",
    "n // (n - 7)",
    "n % (n - 7)",
    "9223372036854775807 + n",
    "-9223372036854775807 - n",
    "9223372036854775807 * n",
    "n ** 63",
    "n ** -n",
    "log(a - a)",
    "sqrt(-a)",
    "a / (a - a)",
    "a % 0.0",
    "int(a / 1e-300 * 1e300)",
    "(-a) ** 0.5",
];

#[test]
fn scalars_of_exported_programs_follow_the_rules_of_the_interpreter() {
    if tools().is_none() {
        return;
    }
    let results = |at: usize, dtype: &str| json!({"role": "argument", "dtype": dtype, "axes": "IJ", "shape": ["I", "J"], "origin": [0, 0], "at": {"file": "main.py", "line": at + 1, "col": 1}});
    let mut fields = json!({"none": results(0, "float64")});
    let mut body = Vec::new();
    for (at, (expression, dtype)) in EXPRESSIONS.iter().enumerate() {
        fields[format!("r{at}")] = results(0, dtype);
        body.push(json!({"let": format!("x{at}"), "be": expression}));
        body.push(json!({"fill": format!("r{at}"), "with": format!("x{at}")}));
    }
    for (at, expression) in WITHOUT_VALUE.iter().enumerate() {
        let lost = json!({"let": format!("y{at}"), "be": expression, "at": {"file": "main.py", "line": at + 1, "col": 1}});
        body.push(json!({"if": format!("which == {at}"), "then": [lost, {"fill": "none", "with": 1.0}], "else": []}));
    }
    body.push(json!({"fill": "none", "with": "a"}));
    let text = json!({
        "isobar_program": 1, "name": "numbers", "files": {"main.py": "\n".repeat(40)}, "grid": {"halo": 0},
        "fields": fields,
        "scalars": {"a": {"role": "argument", "dtype": "float64"}, "n": {"role": "argument", "dtype": "int32"},
            "b": {"role": "argument", "dtype": "bool"}, "s": {"role": "argument", "dtype": "float32"},
            "which": {"role": "argument", "dtype": "int64"}},
        "stencils": {}, "body": body,
    });
    let mut exported = WholeCase::of(&text.to_string(), HaloFill::None).unwrap();
    let scalars = |which: i64| {
        BTreeMap::from([
            ("a", Value::Float64(1.7)),
            ("n", Value::Int32(7)),
            ("b", Value::Bool(true)),
            ("s", Value::Float32(0.3)),
            ("which", Value::Int64(which)),
        ])
    };
    let home = scratch_folder("scalars").unwrap();
    let launch = exported.launch(Domain::new(1, 1, 1), &scalars(-1));
    let meant = exported.meant(&launch).unwrap();
    let files = files(&exported, vec![&BINDINGS[0]]).unwrap();
    let mut main = "#include <stdio.h>\n#include \"numbers.h\"\nint main(void)\n{\n".to_owned();
    let fields: Vec<(usize, DType)> = meant
        .arguments
        .iter()
        .enumerate()
        .filter_map(|(at, it)| match it {
            Argument::Field(it) => Some((at, it.array.dtype())),
            Argument::Scalar(_) | Argument::Unused => None,
        })
        .collect();
    for (at, dtype) in &fields {
        main += &format!(
            "  unsigned char d{at}[8] __attribute__((aligned(8))) = {{0}};\n  isobar_field f{at} = {{sizeof f{at}, ISOBAR_{}, 2, 0, d{at}, {{1, 1}}, {{1, 1}}, {{0}}}};\n",
            dtype.name().to_ascii_uppercase()
        );
    }
    let passed: Vec<String> = fields.iter().map(|it| format!("&f{}", it.0)).collect();
    main += &format!(
        "  for (int which = -1; which < {}; ++which) {{\n    isobar_error error = ISOBAR_ERROR_INIT;\n    const int32_t status = numbers_run(NULL, {}, 1.7, 7, true, 0.3f, which, &error);\n    printf(\"%d %s %d\\n\", status, error.code, error.line);\n    if (which >= 0) continue;\n",
        WITHOUT_VALUE.len(),
        passed.join(", ")
    );
    for (at, dtype) in &fields {
        let n = dtype.size_bytes();
        main +=
            &format!("    for (int at = 0; at < {n}; ++at) printf(\"%02x\", d{at}[at]);\n    puts(\"\");\n");
    }
    main += "  }\n  return 0;\n}\n";
    let said = in_c(&home, &files, "numbers", &main).unwrap();
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("0  0"));
    for (at, _) in &fields {
        let Argument::Field(it) = &meant.arguments[*at] else { continue };
        let bytes: String = it.array.elements.to_le_bytes().iter().map(|it| format!("{it:02x}")).collect();
        let name = &exported.whole.signature.params[*at].name;
        assert_eq!(lines.next(), Some(bytes.as_str()), "{name}");
    }
    for (at, expression) in WITHOUT_VALUE.iter().enumerate() {
        let line = format!("3 A03 {}", at + 1);
        assert_eq!(lines.next(), Some(line.as_str()), "{expression}");
        let launch = exported.launch(Domain::new(1, 1, 1), &scalars(i64::try_from(at).unwrap()));
        assert!(exported.meant(&launch).is_err(), "{expression}");
    }
}

#[test]
fn a_model_means_the_same_as_one_piece() {
    let scalars = BTreeMap::from([("a", Value::Float64(0.1)), ("n", Value::Int64(5))]);
    for (seed, fill) in [(1, HaloFill::Periodic), (2, HaloFill::ZeroGradient), (3, HaloFill::None)] {
        for domain in [Domain::new(9, 6, 4), Domain::new(2, 2, 2)] {
            hold_as_one(&model(), fill, domain, &scalars, seed).unwrap();
        }
    }
}

#[test]
fn scalars_of_a_program_as_one_piece_follow_the_rules_of_the_interpreter() {
    let results = |dtype: &str| json!({"role": "argument", "dtype": dtype, "axes": "IJ", "shape": ["I", "J"], "origin": [0, 0]});
    let (mut fields, mut body) = (json!({}), Vec::new());
    let mut refused = Vec::new();
    let document = |fields: &Json, body: &[Json]| {
        json!({"isobar_program": 1, "name": "numbers", "files": {"main.py": ""}, "grid": {"halo": 0},
            "fields": fields,
            "scalars": {"a": {"role": "argument", "dtype": "float64"}, "n": {"role": "argument", "dtype": "int32"},
                "b": {"role": "argument", "dtype": "bool"}, "s": {"role": "argument", "dtype": "float32"}},
            "stencils": {}, "body": body})
        .to_string()
    };
    for (at, (expression, dtype)) in EXPRESSIONS.iter().enumerate() {
        let name = format!("r{at}");
        let own = [
            json!({"let": format!("x{at}"), "be": expression}),
            json!({"fill": name, "with": format!("x{at}")}),
        ];
        let alone = document(&json!({ &name: results(dtype) }), &own);
        let case = WholeCase::of(&alone, HaloFill::None).unwrap();
        if let Err(why) = case.as_one(&mut NoHook) {
            refused.push((*expression, why.to_string()));
            continue;
        }
        fields[&name] = results(dtype);
        body.extend(own);
    }
    let names: Vec<&str> = refused.iter().map(|it| it.0).collect();
    assert_eq!(names, ["a // 0.3", "-a // 0.3"]);
    assert!(refused[0].1.contains("a schedule has no `//` of floats"), "{}", refused[0].1);
    let scalars = BTreeMap::from([
        ("a", Value::Float64(1.7)),
        ("n", Value::Int32(7)),
        ("b", Value::Bool(true)),
        ("s", Value::Float32(0.3)),
    ]);
    hold_as_one(&document(&fields, &body), HaloFill::None, Domain::new(1, 1, 1), &scalars, 1).unwrap();
}

#[test]
fn a_program_that_code_alone_cannot_run_is_not_exported() {
    let document = |fields: &Json, scalars: &Json, body: &Json| {
        json!({"isobar_program": 1, "name": "model", "files": {"main.py": STENCILS}, "grid": {"halo": 2},
            "fields": fields, "scalars": scalars,
            "stencils": {"step": {"function": "main.step", "domain": ["I", "J", "K"]}}, "body": body})
        .to_string()
    };
    let q = || json!({"q": field("argument", "IJK")});
    let host =
        document(&q(), &json!({}), &json!([{"host": "log", "reads": ["q"], "writes": [], "gives": {}}]));
    let mut fixed = q();
    fixed["table"] =
        json!({"role": "argument", "dtype": "float64", "axes": "K", "shape": [9], "origin": [0]});
    let fixed =
        document(&fixed, &json!({}), &json!([{"fill": "table", "with": 1.0}, {"fill": "q", "with": 1.0}]));
    for (text, why) in [
        (host, "the callback `log` is refused: this compiler calls nothing outside of a program"),
        (fixed, "code for every domain takes no field of a fixed size: `table` has 9 points along K"),
    ] {
        let refused = WholeCase::of(&text, HaloFill::None).err().unwrap();
        assert!(refused.contains(why), "{refused}");
    }
}

/// Calls a program on a domain that is too small, and one whose `while` does not end.
const ENDING: &str = "
#include <stdio.h>
#include \"model.h\"

int main(void)
{
  static double q[25 * 2];
  isobar_field of_q = {sizeof of_q, ISOBAR_FLOAT64, 3, 0, q, {5, 5, 2}, {1, 5, 25}, {2, 2, 0}};
  isobar_error error = ISOBAR_ERROR_INIT;
  const int32_t status = model_run(NULL, &of_q, 1, &error);
  printf(\"%d %s %s\\n\", status, error.code, error.message);
  of_q.shape[0] = 6, of_q.stride[1] = 6;
  static double more[30 * 2];
  of_q.data = more, of_q.stride[2] = 30;
  const int32_t ended = model_run(NULL, &of_q, 1000, &error);
  printf(\"%d %s %s:%d %s\\n\", ended, error.code, error.file, error.line, error.message);
  return model_run(NULL, &of_q, 3, &error);
}
";

#[test]
fn a_call_that_a_program_refuses_or_ends_says_why() {
    if tools().is_none() {
        return;
    }
    let text =
        json!({"isobar_program": 1, "name": "model", "files": {"main.py": STENCILS}, "grid": {"halo": 2},
        "fields": {"q": field("argument", "IJK"), "l": field("local", "IJK")},
        "scalars": {"n": {"role": "argument", "dtype": "int64"}},
        "stencils": {"lap": {"function": "main.lap", "origin": [1, 0, 0], "domain": ["I-1", "J", "K"]}},
        "body": [
            {"let": "left", "be": "n"},
            {"while": "left > 0", "limit": 10, "at": {"file": "main.py", "line": 5, "col": 1}, "body": [
                {"let": "left", "be": "left - 1"}]},
            {"call": "lap", "args": {"q": "q", "out": "l"}},
            {"copy": "l", "to": "q"}]})
        .to_string();
    let exported = WholeCase::of(&text, HaloFill::None).unwrap();
    let home = scratch_folder("ending").unwrap();
    let said = in_c(&home, &files(&exported, vec![&BINDINGS[0]]).unwrap(), "model", ENDING).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "2 C04 `model` needs at least 2 x 1 x 1 points, and the domain has 1 x 1 x 2",
            "3 A03 main.py:5 the `while` does not end within its limit, or its condition has no value",
        ]
    );
}
