//! Generated programs against a model of their own: plain arrays, and each stencil as a loop over copies.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Run, all, document};
use crate::interpret::HaloFill;
use crate::parse::parse;
use crate::print::listing;
use crate::validate::validate;

/// Halo points of every field on each side of I and J.
const HALO: i64 = 2;

/// Numbers that look random and are the same for the same seed.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

const FIELDS: [&str; 4] = ["q", "r", "s", "l"];

/// A program of a few statements over four fields: two arguments, a state and a local.
pub(super) fn generated(seed: u64) -> Json {
    let mut draw = Draw(seed);
    draw.below(2);
    let field = |role: &str| {
        json!({"role": role, "dtype": "float64", "axes": "IJK",
            "shape": ["I+4", "J+4", "K+1"], "origin": [HALO, HALO, 0]})
    };
    let mut stencils = json!({});
    for n in 0..6 {
        let function = draw.one(&["lap", "shift", "add", "copy", "lower", "step"]);
        // Ranges that stay inside of the halo with what the stencils read beside the point.
        let grow = i64::try_from(draw.below(3)).unwrap() - 1;
        let size = |axis: &str| json!(format!("{axis}{:+}", 2 * grow));
        let domain = if grow < 0 { json!(["I-1", "J-1", "K"]) } else { json!([size("I"), size("J"), "K+1"]) };
        let start = if grow < 0 { 0 } else { -grow };
        stencils[format!("t{n}")] =
            json!({"function": format!("main.{function}"), "origin": [start, start, 0], "domain": domain});
    }
    let mut body = vec![json!({"fill": "l", "with": 0.25})];
    for _ in 0..3 {
        body.extend(statements(&mut draw, &stencils, 3));
        let fields = [draw.one(&FIELDS), draw.one(&FIELDS)];
        body.push(json!({"exchange": fields, "width": 1 + draw.below(2)}));
    }
    document(json!({
        "grid": {"halo": HALO},
        "fields": {"q": field("argument"), "r": field("argument"), "s": field("state"), "l": field("local")},
        "scalars": {"it": {"role": "state", "dtype": "int64", "init": 1}},
        "stencils": stencils,
        "body": body}))
}

fn statements(draw: &mut Draw, stencils: &Json, depth: u64) -> Vec<Json> {
    let n = 1 + draw.below(4);
    (0..n).map(|_| statement(draw, stencils, depth)).collect()
}

fn statement(draw: &mut Draw, stencils: &Json, depth: u64) -> Json {
    match draw.below(if depth > 0 { 12 } else { 9 }) {
        0 => json!({"copy": draw.one(&FIELDS), "to": draw.one(&FIELDS)}),
        1 => json!({"fill": draw.one(&FIELDS), "with": draw.below(3)}),
        2 => json!({"swap": [draw.one(&FIELDS), draw.one(&FIELDS)]}),
        3 => json!({"let": "it", "be": "it + 1"}),
        9 => {
            let body = statements(draw, stencils, depth - 1);
            json!({"for": format!("n{depth}"), "range": [0, draw.below(4)], "body": body})
        }
        10 | 11 => {
            let [then, other] = [0, 1].map(|_| statements(draw, stencils, depth - 1));
            json!({"if": "it % 2 == 0", "then": then, "else": other})
        }
        _ => {
            let name = format!("t{}", draw.below(6));
            let [one, other] = [0, 1].map(|_| draw.one(&FIELDS));
            let args = match stencils[&name]["function"].as_str().unwrap() {
                "main.lap" => json!({"q": one, "out": other}),
                "main.add" => json!({"q": one, "by": "it / 2"}),
                "main.step" => json!({"q": one, "l": other, "a": 0.5}),
                _ => json!({"a": one, "b": other}),
            };
            json!({"call": name, "args": args})
        }
    }
}

/// The same program on plain arrays.
struct Model {
    sizes: [i64; 3],
    fields: BTreeMap<String, Vec<f64>>,
    it: i64,
}

impl Model {
    fn position(&self, [i, j, k]: [i64; 3]) -> usize {
        let [_, nj, nk] = [self.sizes[0] + 4, self.sizes[1] + 4, self.sizes[2] + 1];
        usize::try_from(((i + HALO) * nj + j + HALO) * nk + k).unwrap()
    }

    fn run(&mut self, stencils: &Json, body: &Json) {
        for stmt in body.as_array().unwrap() {
            let name = |key: &str| stmt[key].as_str().map(str::to_owned);
            if let Some(from) = name("copy") {
                let copied = self.fields[&from].clone();
                self.fields.insert(name("to").unwrap(), copied);
            } else if let Some(filled) = name("fill") {
                self.fields.get_mut(&filled).unwrap().fill(stmt["with"].as_f64().unwrap());
            } else if let Some(swapped) = stmt["swap"].as_array() {
                let [one, other] = [0, 1].map(|at: usize| swapped[at].as_str().unwrap().to_owned());
                let kept = self.fields[&one].clone();
                let moved = self.fields.insert(other, kept).unwrap();
                self.fields.insert(one, moved);
            } else if let Some(exchanged) = stmt["exchange"].as_array() {
                let width = stmt["width"].as_i64().unwrap();
                exchanged.iter().for_each(|it| self.exchange(it.as_str().unwrap(), width));
            } else if name("let").is_some() {
                self.it += 1;
            } else if name("for").is_some() {
                for _ in 0..stmt["range"][1].as_i64().unwrap() {
                    self.run(stencils, &stmt["body"]);
                }
            } else if name("if").is_some() {
                self.run(stencils, &stmt[if self.it % 2 == 0 { "then" } else { "else" }]);
            } else {
                self.call(&stencils[stmt["call"].as_str().unwrap()], &stmt["args"]);
            }
        }
    }

    /// Halos of a periodic domain, on all levels of the arrays.
    fn exchange(&mut self, name: &str, width: i64) {
        let [ni, nj, nk] = self.sizes;
        let before = self.fields[name].clone();
        let mut after = before.clone();
        for i in -width..ni + width {
            for j in -width..nj + width {
                for k in 0..=nk {
                    let from = [i.rem_euclid(ni), j.rem_euclid(nj), k];
                    after[self.position([i, j, k])] = before[self.position(from)];
                }
            }
        }
        self.fields.insert(name.to_owned(), after);
    }

    /// A stencil: every right-hand side is read before anything is stored, or per level in a sweep.
    fn call(&mut self, stencil: &Json, args: &Json) {
        let start = stencil["origin"][0].as_i64().unwrap();
        let sizes = [0, 1, 2].map(|at: usize| {
            let text = stencil["domain"][at].as_str().unwrap();
            self.sizes[at] + text[1..].parse::<i64>().unwrap_or(0)
        });
        let arg = |key: &str| args[key].as_str().unwrap().to_owned();
        let function = stencil["function"].as_str().unwrap();
        let (read, written) = match function {
            "main.lap" => (arg("q"), arg("out")),
            "main.add" => (arg("q"), arg("q")),
            "main.step" => (arg("l"), arg("q")),
            _ => (arg("a"), arg("b")),
        };
        for k in 0..sizes[2] {
            let (before, own) = (self.fields[&read].clone(), self.fields[&written].clone());
            let mut after = own.clone();
            for i in start..start + sizes[0] {
                for j in start..start + sizes[1] {
                    let at = |offset: [i64; 3]| {
                        before[self.position([i + offset[0], j + offset[1], k + offset[2]])]
                    };
                    let here = own[self.position([i, j, k])];
                    let value = match function {
                        "main.lap" => {
                            let beside = at([-1, 0, 0]) + at([1, 0, 0]) + at([0, -1, 0]) + at([0, 1, 0]);
                            beside - 4.0 * at([0; 3])
                        }
                        "main.shift" => at([-1, 0, 0]),
                        "main.add" => here + self.it as f64 / 2.0,
                        "main.copy" => at([0; 3]),
                        "main.step" => here + 0.5 * at([0; 3]),
                        _ if k == 0 => here,
                        _ => at([0, 0, -1]) + here,
                    };
                    after[self.position([i, j, k])] = value;
                }
            }
            self.fields.insert(written.clone(), after);
        }
    }
}

/// Bits; those of NaN depend on the machine.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|it| if it.is_nan() { f64::NAN.to_bits() } else { it.to_bits() }).collect()
}

#[test]
fn generated_programs_do_what_a_model_of_plain_arrays_does() {
    let mut n_calls = 0;
    for seed in 0..300 {
        let program = generated(seed);
        for sizes in [[1, 1, 1], [3, 2, 2]] {
            let mut run = Run::with_warnings(&program, sizes, HaloFill::Periodic);
            run.set("q", |at| (at % 7) as f64 - 2.0).set("r", |at| (at % 5) as f64 / 4.0);
            let text = listing(run.instance.program()).text;
            let again = parse(&text).unwrap_or_else(|it| panic!("{it}\n{text}"));
            assert_eq!((listing(&again).text, validate(&again)), (text, Vec::new()), "seed {seed}");

            let mut model = Model { sizes, fields: BTreeMap::new(), it: 1 };
            for name in ["q", "r"] {
                model.fields.insert(name.to_owned(), run.field(name));
            }
            model.fields.insert("s".to_owned(), vec![0.0; model.fields["q"].len()]);
            // State survives the first run, and the local does not.
            for _ in 0..2 {
                model.fields.insert("l".to_owned(), vec![f64::NAN; model.fields["q"].len()]);
                model.run(&program["stencils"], &program["body"]);
                n_calls += run.run().unwrap().n_calls;
                for (name, expected) in [("q", &model.fields["q"]), ("r", &model.fields["r"])] {
                    assert_eq!(bits(&run.field(name)), bits(expected), "seed {seed} `{name}` on {sizes:?}");
                }
                let state = all(run.instance.state("s").unwrap());
                assert_eq!(bits(&state), bits(&model.fields["s"]), "seed {seed} on {sizes:?}");
            }
        }
    }
    assert!(n_calls > 2000, "{n_calls}");
}
