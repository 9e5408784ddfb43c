//! Programs that leave callbacks and exchanges to their caller, in every language.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::Context as _;
use isobar_compiler::export::BINDINGS;
use isobar_compiler::space::Domain;
use isobar_compiler::types::Value;
use isobar_program::interpret::{Answers, Callback, HaloFill, ProgramStop};
use isobar_tests::exported::{Answering, LANGUAGES, Language, Lying, hold, run, write, write_arrays};
use isobar_tests::programs::WholeCase;
use serde_json::{Value as Json, json};

use crate::exported::{call, scratch_folder, tools};
use crate::exported_programs::{files, in_c, model};

/// The model of exported programs, with a callback in its loop.
fn asking_model() -> String {
    let mut model: Json = serde_json::from_str(&model()).expect("the model is JSON");
    let body = model["body"][2]["body"].as_array_mut().expect("the loop has a body");
    let callback = json!({"host": "limit.halve", "reads": ["q"], "writes": ["other"],
        "gives": {"c": "float64", "go": "bool"}, "exact": true});
    body.insert(7, callback);
    body[8]["if"] = json!("(it % 2 == 0 or go) and a > 0");
    body[8]["then"][0]["args"]["a"] = json!("t * 0.01 * c");
    model.to_string()
}

fn halved(callback: &mut Callback<'_>) -> Result<(), String> {
    assert_eq!(callback.name(), "limit.halve");
    let first = callback.array("q").expect("it reads this field").get(&[0, 0, 0]).as_f64();
    assert!(callback.array_mut("q").is_none() && callback.array("kept").is_none(), "it is not named");
    let other = callback.array_mut("other").expect("it writes this field");
    for index in other.indices() {
        let (at, value) = (other.position(&index), other.get(&index).as_f64());
        other.elements.set(at, Value::Float64(value * 0.5));
    }
    assert!(!callback.give("c", Value::Int64(1)), "it has another type");
    let is_given = callback.give("c", Value::Float64(0.5 + first * 2.0_f64.powi(-10)))
        & callback.give("go", Value::Bool(first < 0.0));
    is_given.then_some(()).ok_or_else(|| "no such scalar".to_owned())
}

fn asking() -> WholeCase {
    WholeCase::asking(&asking_model(), (HaloFill::Periodic, None), Answers::Exchanges)
        .expect("the model compiles")
}

fn scalars() -> BTreeMap<&'static str, Value> {
    BTreeMap::from([("a", Value::Float64(0.1)), ("n", Value::Int64(5))])
}

const fn answering(definitions: &'static str, arguments: &'static str) -> Answering {
    Answering { definitions, arguments }
}

/// How each language answers.
fn answer(language: Language) -> Answering {
    match language {
        Language::C => answering(
            include_str!("../src/exported/answers/answer.c"),
            "&(const isobar_caller){isobar_test_answer, NULL}",
        ),
        Language::Cpp => answering(include_str!("../src/exported/answers/answer.cpp"), "answer"),
        Language::Fortran => answering(
            include_str!("../src/exported/answers/answer.f90"),
            "answer=c_funloc(answer), user=c_null_ptr",
        ),
        Language::Python => answering(include_str!("../src/exported/answers/answer.py"), "answer=answer"),
        Language::Rust => answering(
            include_str!("../src/exported/answers/answer.rs.txt"),
            "&mut { let mut kept = Default::default(); move |event: &mut Event<'_>| answer(event, &mut kept) }",
        ),
    }
}

#[test]
fn each_language_answers_what_a_program_leaves_to_its_caller() {
    let Some(tools) = tools() else { return };
    let mut exported = asking();
    let home = scratch_folder("asking").unwrap();
    let project_folder = home.join("moved");
    write(&project_folder, &files(&exported, BINDINGS.iter().collect()).unwrap()).unwrap();
    let at = || {
        let mut cmake = tools.cmake();
        cmake.current_dir(&project_folder);
        cmake
    };
    run(at().args(["-S", ".", "-B", "build"])).unwrap();
    run(at().args(["--build", "build"])).unwrap();
    run(at().args(["--install", "build", "--prefix", "../prefix"])).unwrap();
    let prefix = home.join("prefix");
    for lying in [Lying::Sections, Lying::Transposed] {
        let own = home.join(format!("{lying:?}"));
        fs::create_dir_all(&own).unwrap();
        let launch = lying.of(&exported.launch(Domain::new(9, 6, 4), &scalars()));
        let meant = exported.meant_by(&launch, &mut halved).unwrap();
        write_arrays(&own, &launch).unwrap();
        for language in LANGUAGES {
            if language == Language::Fortran && lying == Lying::Transposed {
                continue;
            }
            let (signature, answer) = (&exported.whole.signature, answer(language));
            let names = ["model", "model"];
            let folders = [&*project_folder, &*prefix];
            call(&tools, language, signature, (&launch, Some(&answer)), names, &own, folders).unwrap();
            hold(&own, &meant).with_context(|| format!("{lying:?} {language:?}")).unwrap();
        }
    }
}

/// A run ends where the function of the caller says so, and the error names the statement.
#[test]
fn a_caller_ends_a_run_by_its_answer() {
    if tools().is_none() {
        return;
    }
    let text = json!({
        "isobar_program": 1, "name": "ends", "files": {"main.py": "\n"}, "grid": {"halo": 0},
        "fields": {"q": {"role": "argument", "dtype": "float64", "axes": "IJ", "shape": ["I", "J"], "origin": [0, 0]}},
        "scalars": {}, "stencils": {},
        "body": [{"fill": "q", "with": 1.0}, {"host": "log", "at": {"file": "main.py", "line": 2, "col": 1}},
            {"host": "limit", "gives": {"c": "float64", "go": "bool"}, "at": {"file": "main.py", "line": 1, "col": 1}},
            {"if": "go", "then": [{"fill": "q", "with": "c"}]}]});
    let case = WholeCase::asking(&text.to_string(), (HaloFill::None, None), Answers::Callbacks).unwrap();
    let main = "
#include <stdio.h>
#include <string.h>
#include \"ends.h\"

static int32_t stops(void *user, const isobar_event *event)
{
  const int n = *(int *)user += 1;
  if (strcmp(event->name, \"limit\") == 0) {
    *(double *)event->values[0] = 5.0;
    if (n > 3) *(bool *)event->values[1] = true;
    return 0;
  }
  return n == 1 && event->event == ISOBAR_EVENT_CALLBACK && event->n_fields == 0 && strcmp(event->name, \"log\") == 0;
}

int main(void)
{
  double data[6] = {0};
  int n = 0;
  const isobar_field q = {sizeof q, ISOBAR_FLOAT64, 2, 0, data, {3, 2}, {1, 3}, {0}};
  isobar_error error = ISOBAR_ERROR_INIT;
  printf(\"%d\\n\", ends_run(NULL, &q, NULL, &error));
  printf(\"%s %s %g\\n\", error.code, error.message, data[0]);
  const isobar_caller caller = {stops, &n};
  printf(\"%d\\n\", ends_run(NULL, &q, &caller, &error));
  printf(\"%s %s %s:%d %g %d\\n\", error.code, error.message, error.file, error.line, data[0], n);
  printf(\"%d\\n\", ends_run(NULL, &q, &caller, &error));
  printf(\"%s %s %s:%d %g %d\\n\", error.code, error.message, error.file, error.line, data[0], n);
  const int32_t last = ends_run(NULL, &q, &caller, &error);
  printf(\"%d %g %d\\n\", last, data[0], n);
  return 0;
}
";
    let home = scratch_folder("ends").unwrap();
    let said = in_c(&home, &files(&case, vec![&BINDINGS[0]]).unwrap(), "ends", main).unwrap();
    assert_eq!(
        said,
        "2\nA02 `ends` leaves statements to its caller, and the call has no function for them 0\n\
         3\nA03 the function of the caller ended the run here main.py:2 1 1\n\
         3\nA03 the function of the caller ended the run here, or did not give a number that it has to give main.py:1 1 3\n\
         0 5 5\n"
    );
}

/// Exchanges with a plan are refused, or told to the caller with its name.
#[test]
fn an_exchange_between_ranks_is_the_callers_with_the_name_of_its_plan() {
    let all = json!([[0, 2, 5, 1], [1, 0, 8, 1], [2, 0, 3, 1]]);
    let strips = json!([{"field": 0, "along": all}]);
    let text = json!({
        "isobar_program": 1, "name": "planned", "files": {"main.py": "\n"}, "grid": {"halo": 2},
        "fields": {"q": crate::exported_programs::field("argument", "IJK")},
        "scalars": {}, "stencils": {},
        "plans": {"to_the_west": {"tag": 1, "neighbours": [{"rank": 1, "send": strips, "receive": strips}]}},
        "body": [{"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "update", "plan": "to_the_west"}]})
    .to_string();
    let refused = WholeCase::asking(&text, (HaloFill::Periodic, None), Answers::Callbacks).unwrap_err();
    assert!(refused.contains("with `--halo caller`, a function of its caller exchanges"), "{refused}");
    let case = WholeCase::asking(&text, (HaloFill::None, None), Answers::Exchanges).unwrap();
    let files = files(&case, vec![&BINDINGS[0]]).unwrap();
    let text_of = |path: &str| &files.iter().find(|it| it.path == path).unwrap().text;
    let row = "| 0 | exchange, scalar of width 2 by the plan `to_the_west` | `q` |  |";
    assert!(text_of("README.md").contains(row));
    assert!(text_of("src/kernels/planned.c").contains("ISOBAR_UPDATE, 0, 0, 2, 1, 0, \"to_the_west\""));
}

/// A callback has to give what it names: no undefined number goes on.
#[test]
fn a_callback_that_gives_nothing_ends_the_run() {
    let mut case = asking();
    let launch = case.launch(Domain::new(5, 4, 3), &scalars());
    let ended = case.meant_by(&launch, &mut |_| Ok(()));
    let Err(ProgramStop::Fault(found)) = ended else { panic!("the run goes on") };
    assert_eq!(found[0].message, "the callback `limit.halve` ended: it gives `c` no value");
}

/// Two ranks in threads, whose function exchanges between them, have the bits of one rank.
#[test]
fn ranks_exchange_by_the_function_of_their_caller() {
    let Some(tools) = tools() else { return };
    let text = json!({
        "isobar_program": 1, "name": "diffuse", "files": {"main.py": crate::exported_programs::STENCILS},
        "grid": {"halo": 2},
        "fields": {"q": crate::exported_programs::field("argument", "IJK"), "l": crate::exported_programs::field("local", "IJK")},
        "scalars": {"n": {"role": "argument", "dtype": "int64"}},
        "stencils": {"lap": {"function": "main.lap", "domain": ["I", "J", "K"]},
            "step": {"function": "main.step", "domain": ["I", "J", "K"]}},
        "body": [{"for": "it", "range": [0, "n"], "body": [
            {"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "update"},
            {"call": "lap", "args": {"q": "q", "out": "l"}},
            {"call": "step", "args": {"q": "q", "l": "l", "a": 0.1}}]}]});
    let case = WholeCase::asking(&text.to_string(), (HaloFill::None, None), Answers::Exchanges).unwrap();
    let home = scratch_folder("exchanging").unwrap();
    let python = BINDINGS.iter().filter(|it| it.name == "python").collect();
    write(&home, &files(&case, python).unwrap()).unwrap();
    let readme = fs::read_to_string(home.join("README.md")).unwrap();
    let line = readme.lines().find(|it| it.contains("-shared")).unwrap().replace("-O3", "-O1");
    run(Command::new("sh").current_dir(&home).args(["-c", &line])).unwrap();
    fs::write(home.join("main.py"), include_str!("../src/exported/answers/ranks.py")).unwrap();
    let mut main = Command::new(&tools.python);
    main.current_dir(&home).arg("main.py").env("PYTHONPATH", home.join("python"));
    let library = home.join("libdiffuse.so");
    assert_eq!(run(main.env("DIFFUSE_LIBRARY", library)).unwrap(), "equal\n");
}
