//! Object graphs: texts of methods with the values that they name, to programs.

use expect_test::{Expect, expect};
use isobar_front::config::Config;
use serde_json::{Value as Json, json};

use super::{STENCILS, halo_field};
use crate::compile::compile;
use crate::print::listing;

/// The line of the function of a name, from 1.
fn line_of(text: &str, name: &str) -> usize {
    let at = text.lines().position(|it| it.trim_start().starts_with(&format!("def {name}(")));
    at.unwrap_or_else(|| panic!("there is no `{name}`")) + 1
}

/// A graph with one object of a class `Model`, whose methods are those of the text, and a sub-object of another class.
fn graph(text: &str, args: &Json) -> Json {
    let names: Vec<&str> =
        text.lines().filter_map(|it| it.trim_start().strip_prefix("def ")?.split('(').next()).collect();
    let outer = json!({"math": {"module": "math"}, "LIMIT": 3, "Float": {"builtin": "float64"}, "Mode": {"object": "mode"},
        "log": {"host": "log"}, "dace_nounroll": {"builtin": "identity"}, "nothing": {"builtin": "nothing"}});
    let mut functions = json!({});
    let mut methods = json!({});
    for name in names {
        functions[format!("f.{name}")] =
            json!({"file": "model.py", "line": line_of(text, name), "names": outer});
        methods[name] = json!(format!("f.{name}"));
    }
    let stencil = |function: &str, params: Json| json!({"stencil": {"function": format!("main.{function}"), "domain": ["I", "J", "K"]}, "params": params});
    json!({
        "isobar_objects": 1, "name": "Model", "files": {"main.py": STENCILS, "model.py": text}, "grid": {"halo": 1},
        "fields": {"q": halo_field(), "r": halo_field(), "tmp": {"role": "local", "like": "q"},
            "tracers": {"role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I+2", "J+2", "K", 2], "origin": [1, 1, 0]}},
        "scalars": {"dt": {"role": "argument", "dtype": "float64"}, "n": {"role": "argument", "dtype": "int64"}},
        "stencils": {"lap": stencil("lap", json!(["q", "out"])), "step": stencil("step", json!(["q", "l", "a"])),
            "add": stencil("add", json!(["q", "by"])), "copy": stencil("copy", json!(["a", "b"]))},
        "objects": {
            "model": {"class": "model.Model", "methods": methods, "attributes": {
                "lap": {"stencil": "lap"}, "step": {"stencil": "step"}, "add": {"stencil": "add"}, "copy": {"stencil": "copy"},
                "tmp": {"field": "tmp"}, "tracers": {"field": "tracers"}, "order": 5, "damping": null, "name": "model",
                "steps": [{"stencil": "add"}, {"stencil": "add"}], "timer": {"timer": true}, "weights": [0.5, 0.25],
                "named": {"dict": [["vapor", {"field": "tracers", "data_index": [0]}], ["ice", {"field": "tracers", "data_index": [1]}]]},
                "halo": {"exchange": ["q"], "kind": "scalar", "width": 1}, "odd": {"unknown": "numpy.ndarray"}}},
            "mode": {"class": "model.Mode", "attributes": {"fast": true}}},
        "functions": functions,
        "entry": {"function": "f.__call__", "object": "model", "args": args}})
}

fn arguments() -> Json {
    json!([{"field": "q"}, {"field": "r"}, {"scalar": "dt"}, {"scalar": "n"}])
}

/// The statements of the program, or what is told of the graph.
fn read(text: &str) -> String {
    let compilation = compile("graph.json", &graph(text, &arguments()).to_string(), Config::default());
    match &compilation.program {
        Some(program) => listing(program).text.split_once("\n\n").unwrap().1.to_owned(),
        None => compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect(),
    }
}

fn check(body: &str, expected: &Expect) {
    expected.assert_eq(&read(&format!("class Model:\n    def __call__(self, q, r, dt, n):\n{body}")));
}

#[test]
fn a_step_of_a_model_is_its_calls_with_all_that_is_known_folded() {
    check(
        "
        \"\"\"A step.\"\"\"
        tmp = self.tmp
        half = dt / 2
        with self.timer.clock(\"advection\"):
            if self.order == 5 and self.damping is None:
                self.lap(q, tmp)
            else:
                self.copy(q, tmp)
        self.step(q, l=tmp, a=half * self.weights[1])
        self.finish(r)

    def finish(self, q, by=LIMIT):
        self.add(q, by=math.sqrt(4.0) + by)
        if Mode.fast:
            return
        self.add(q)
",
        &expect![[r#"
            let half_1 = dt / 2
            mark "advection"
            call lap(q=q, out=tmp)
            call step(q=q, l=tmp, a=half_1 * 0.25)
            call add(q=r, by=5.0)
        "#]],
    );
}

#[test]
fn loops_over_numbers_stay_loops_unless_their_body_picks_something() {
    check(
        "
        for it in range(n):
            self.halo.update()
            if it == n - 1:
                self.add(q, by=it * dt)
        for it in dace_nounroll(range(LIMIT)):
            self.add(r)
        for at in range(2):
            self.steps[at](r, by=self.weights[at])
        for it in range(n):
            for by in self.weights:
                part = self.steps[0]
                part(q, by=by)
            for at in range(2):
                self.steps[at](q, by=self.weights[at])
        for name, tracer in self.named.items():
            self.copy(tracer, q)
        for at, tracer in enumerate(self.named.values()):
            self.add(tracer, by=at)
        self.copy(self.tracers.data[:, :, :, 1], r)
",
        &expect![[r#"
            for it_1 in range(0, n, 1)
              exchange update scalar 1 of q
              if it_1 == n - 1
                call add(q=q, by=it_1 * dt)
            for it_1 in range(0, 3, 1)
              call add(q=r)
            call add(q=r, by=0.5)
            call add(q=r, by=0.25)
            for it_1 in range(0, n, 1)
              call add(q=q, by=0.5)
              call add(q=q, by=0.25)
              call add(q=q, by=0.5)
              call add(q=q, by=0.25)
            call copy(a=tracers[0], b=q)
            call copy(a=tracers[1], b=q)
            call add(q=tracers[0], by=0)
            call add(q=tracers[1], by=1)
            call copy(a=tracers[1], b=r)
        "#]],
    );
}

#[test]
fn numbers_that_a_run_changes_are_scalars_of_the_program() {
    check(
        "
        total = 0
        for it in range(n):
            total = total + 1
            self.add(q, by=total)
        if dt > 1.0:
            by = 1.0
        else:
            by = self.twice(dt + 1.0)
        self.add(q, by=by)
        total += 2
        self.add(q, by=total if total > 3 else 0)

    def twice(self, x):
        return x * 2
",
        &expect![[r#"
            let total_1 = 0
            for it_1 in range(0, n, 1)
              let total_1 = total_1 + 1
              call add(q=q, by=total_1)
            if dt > 1.0
              let by_1 = 1.0
            else
              let x_2 = dt + 1.0
              let by_1 = x_2 * 2
            call add(q=q, by=by_1)
            let total_1 = total_1 + 2
            call add(q=q, by=total_1 if total_1 > 3 else 0)
        "#]],
    );
}

#[test]
fn arithmetic_of_whole_arrays_is_a_stencil_on_all_elements() {
    check(
        "
        total = q[:, :, :] + 2
        self.copy(total * r, r)
        total -= dt
        q -= total
        self.tmp[:, :, :] = q
        r[:] = dt
",
        &expect![[r#"
            call whole_1(a=q, b=float(2), out=whole_1_result)
            call whole_2(a=whole_1_result, b=r, out=whole_2_result)
            call copy(a=whole_2_result, b=r)
            call whole_3(a=whole_1_result, b=float(dt), out=whole_1_result)
            call whole_4(a=q, b=whole_1_result, out=q)
            copy q to tmp
            fill r with dt
        "#]],
    );
}

#[test]
fn what_no_program_says_is_refused_with_the_chain_of_calls() {
    let body = "
        self.inner(q)

    def inner(self, q):
        self.order = 3
";
    let told = read(&format!("class Model:\n    def __call__(self, q, r, dt, n):\n{body}"));
    assert!(told.contains("error[P17]: the assignment of the attribute `order` is refused"), "{told}");
    assert!(told.contains("model.py:7:9") && told.contains("self.inner(q)"), "{told}");
    assert!(told.contains("called here"), "{told}");
    for (body, sentence) in [
        ("self.missing(q)", "`.missing` is refused: `model.Model` has no such attribute that is known"),
        ("self.lap(q, self.odd)", "something else (numpy.ndarray) for `out` of `lap` is refused"),
        ("self.lap(q, r, 1)", "it has more arguments than parameters"),
        ("while dt > 0:\n            self.add(q)", "`while` is refused: programs need a limit"),
        ("if q:\n            self.add(q)", "the condition is refused: it is the field `q`"),
        (
            "if dt > 0:\n            x = q\n        else:\n            x = r\n        self.add(x)",
            "decides what `x` is",
        ),
        ("if dt > 0:\n            return\n        self.add(q)", "a condition of run time stands around it"),
        (
            "x = q\n        for it in range(n):\n            self.add(x)\n            x = r",
            "the iteration before decides what `x` is",
        ),
        ("self.copy(self.tracers.view[:], r)", "`.view` is refused: it is the part inside of its halo"),
        ("self.copy(q ** 2, r)", "`**` on whole arrays is refused"),
        ("self.copy(q + self.tracers, r)", "the two sides differ in type or shape"),
        ("raise ValueError('no')", "`raise` is refused: the method comes here whatever a run computes"),
        ("self.steps[n](q)", "an element of a list is refused: `n` tells at run time which one"),
        ("self.weights[7]", "the element 7 is refused: the list has 2"),
        ("self.add(q, by=1 // 0)", "`(1 // 0)` is refused: a divisor is zero"),
        ("self.__call__(q, r, dt, n)", "methods call each other without end"),
        (
            "for at in range(1000):\n            for other in range(1000):\n                self.steps[at * 0 + other * 0](q)",
            "statements when it is written out",
        ),
        ("q[0, 0, 0] = 1.0", "elements of fields are written by stencils alone"),
        ("with log('x'):\n            self.add(q)", "it is no clock of a timer"),
        ("self.add(q, by=odd)", "`odd` is refused: nothing says what it is"),
    ] {
        let told = read(&format!("class Model:\n    def __call__(self, q, r, dt, n):\n        {body}\n"));
        assert!(told.contains(sentence), "{body}: {told}");
    }
}

#[test]
fn a_raise_below_a_condition_of_run_time_is_a_trap_and_a_callback_a_host() {
    check(
        "
        if n > LIMIT:
            raise ValueError(\"too many\")
        nothing(q, key=1)
        self.add(q, by=Float(n))
",
        &expect![[r#"
            if n > 3
              trap "raise ValueError(\"too many\")"
            call add(q=q, by=float(n))
        "#]],
    );
    let told = read("class Model:\n    def __call__(self, q, r, dt, n):\n        log(q)\n");
    assert_eq!(told, "host host_1(reads(q), writes(q), gives())\n");
}

#[test]
fn a_graph_that_is_none_is_told() {
    for (damage, sentence) in [
        (json!({"isobar_objects": 2}), "missing field `name`"),
        (
            json!({"isobar_objects": 1, "name": "m", "files": {}, "entry": {"function": "f"}}),
            "the graph has no text of it",
        ),
        (
            json!({"isobar_objects": 1, "name": "m", "files": {}, "entry": {"function": "f"},
                "functions": {"f": {"file": "x.py", "line": 1}}}),
            "the graph lacks its file",
        ),
        (
            json!({"isobar_objects": 1, "name": "m", "files": {"x.py": "a = 1\n"}, "entry": {"function": "f"},
                "functions": {"f": {"file": "x.py", "line": 1}}}),
            "its file has no `def` in its line",
        ),
    ] {
        let compilation = compile("graph.json", &damage.to_string(), Config::default());
        let told: String = compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect();
        assert!(compilation.program.is_none() && told.contains(sentence), "{told}");
    }
}
