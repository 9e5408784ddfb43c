//! Programs of calls that a seed decides.

use serde_json::{Value as Json, json};

/// The stencils of generated programs.
pub(super) const STENCILS: &str = "
def lap(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a[-1, 0, 0] + a[1, 0, 0] + a[0, -1, 0] + a[0, 1, 0] - 4.0 * a

def step(a: Field[float], b: Field[float], by: float):
    with computation(PARALLEL), interval(...):
        b = b + by * a

def two(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        t = a[1, 0, 0] * 0.5 - a
        b = t[-1, 0, 0] + t[0, 1, 0]

def masked(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        if a > 0.0:
            b = a[0, -1, 0]
        else:
            b = -a

def edges(a: Field[float], b: Field[float]):
    from __externals__ import i_start, j_end
    with computation(PARALLEL), interval(...):
        with horizontal(region[i_start - 1, :], region[:, j_end + 1]):
            b = a + 1.0

def all_of_it(a: Field[float], b: Field[float]):
    from __externals__ import i_start
    with computation(PARALLEL), interval(...):
        b = a[0, 1, 0]
        with horizontal(region[i_start : i_start + 2, :]):
            b = b * a[1, 0, 0]

def up(a: Field[float], b: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            b = a
        with interval(1, None):
            b = b[0, 0, -1] * 0.25 + a

def down(a: Field[float], b: Field[float]):
    with computation(BACKWARD):
        with interval(-1, None):
            b = a
        with interval(0, -1):
            b = b[0, 0, 1] - a

def above(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(1, None):
        b = a[0, 0, -1] + a

def column(a: Field[float], p: Field[IJ, float]):
    with computation(FORWARD):
        with interval(0, 1):
            p = a
        with interval(1, None):
            p = p + a

def plane(p: Field[IJ, float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = b * 0.5 + p[1, 0]

def found(a: Field[float], b: Field[float], at: int):
    with computation(PARALLEL), interval(...):
        b = a.at(K=at) + b

def add(b: Field[float], by: float = 1.5):
    with computation(PARALLEL), interval(...):
        b = b + by
";

/// The functions with their parameters beside `a` and `b`.
const FUNCTIONS: [&str; 14] = [
    "lap",
    "step",
    "two",
    "masked",
    "edges",
    "all_of_it",
    "up",
    "down",
    "above",
    "column",
    "plane",
    "found",
    "add",
    "lap",
];

/// Fields on all axes: two arguments, a state, two locals, and the parts of an argument.
const FIELDS: [&str; 5] = ["q", "r", "s", "l", "m"];

/// Numbers that look random and are the same for the same seed.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap_or(0)]
    }
}

/// A program of some statements. Its locals have values from the start, so that all reads are of numbers.
#[must_use]
pub fn generated(seed: u64) -> String {
    let mut draw = Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    draw.below(2);
    let field = |role: &str| {
        json!({"role": role, "dtype": "float64", "axes": "IJK",
            "shape": ["I+6", "J+6", "K+1"], "origin": [3, 3, 0]})
    };
    let plane =
        json!({"role": "local", "dtype": "float64", "axes": "IJ", "shape": ["I+6", "J+6"], "origin": [3, 3]});
    let tracers = json!({"role": "argument", "dtype": "float64", "axes": "IJK",
        "shape": ["I+6", "J+6", "K+1", 2], "origin": [3, 3, 0]});
    let mut stencils = json!({});
    for n in 0..10 {
        let function = draw.one(&FUNCTIONS);
        let (origin, domain) = match draw.below(8) {
            0 => (json!([-1, -1, 0]), json!(["I+2", "J+2", "K"])),
            1 => (json!([0, 0, 0]), json!(["I-1", "J-1", "K"])),
            2 => (json!([0, 0, 0]), json!(["I", "J", "K+1"])),
            3 => (json!([-1, 0, 0]), json!([1, "J", "K"])),
            4 if !matches!(function, "plane" | "add") => {
                (json!({"_all_": [0, 0, 0], "a": [1, -1, 0]}), json!(["I", "J", "K"]))
            }
            _ => (json!([0, 0, 0]), json!(["I", "J", "K"])),
        };
        stencils[format!("t{n}")] =
            json!({"function": format!("main.{function}"), "origin": origin, "domain": domain});
    }
    let mut body = Vec::new();
    for name in ["l", "m", "p"] {
        // Some locals are covered by the statements alone, and some by a fill.
        body.push(json!({"fill": name, "with": 0.25}));
    }
    for _ in 0..2 {
        body.extend(statements(&mut draw, &stencils, 2));
        // All ranks come to an exchange, so none stands below a condition.
        body.push(json!({"exchange": [draw.one(&FIELDS)], "width": 1 + draw.below(3)}));
        body.extend(statements(&mut draw, &stencils, 1));
    }
    json!({
        "isobar_program": 1, "name": "generated", "files": {"main.py": STENCILS}, "grid": {"halo": 3},
        "fields": {"q": field("argument"), "r": field("argument"), "s": field("state"), "l": field("local"),
            "m": field("local"), "p": plane, "tracers": tracers},
        "scalars": {"a": {"role": "argument", "dtype": "float64"}, "it": {"role": "state", "dtype": "int64", "init": 1}},
        "stencils": stencils,
        "body": body,
    })
    .to_string()
}

fn statements(draw: &mut Draw, stencils: &Json, depth: u64) -> Vec<Json> {
    let n = 2 + draw.below(5);
    (0..n).map(|_| statement(draw, stencils, depth)).collect()
}

fn part(draw: &mut Draw) -> Json {
    match draw.below(8) {
        0 => json!({"view": "tracers", "data_index": [draw.below(2)]}),
        _ => json!(draw.one(&FIELDS)),
    }
}

fn statement(draw: &mut Draw, stencils: &Json, depth: u64) -> Json {
    match draw.below(if depth > 0 { 20 } else { 17 }) {
        0 => json!({"copy": draw.one(&FIELDS), "to": draw.one(&FIELDS)}),
        1 => json!({"fill": draw.one(&FIELDS), "with": draw.below(3)}),
        2 => json!({"let": "it", "be": "it + 1"}),
        3 => json!({"swap": [draw.one(&FIELDS), draw.one(&FIELDS)]}),
        17 => {
            let body = statements(draw, stencils, depth - 1);
            json!({"for": format!("n{depth}"), "range": [0, draw.below(3)], "body": body})
        }
        18 | 19 => {
            let [then, other] = [0, 1].map(|_| statements(draw, stencils, depth - 1));
            json!({"if": "it % 2 == 0", "then": then, "else": other})
        }
        _ => {
            let name = format!("t{}", draw.below(10));
            let (one, mut other) = (part(draw), part(draw));
            // Shifted against each other, one field cannot be both.
            while stencils[&name]["origin"].is_object() && one == other {
                other = part(draw);
            }
            let function = stencils[&name]["function"].as_str().unwrap_or_default();
            let args = match function {
                "main.step" => json!({"a": one, "b": other, "by": "a / (it + 1)"}),
                "main.column" => json!({"a": one, "p": "p"}),
                "main.plane" => json!({"p": "p", "b": other}),
                "main.found" => json!({"a": one, "b": other, "at": "it % 2 * 0"}),
                "main.add" => json!({"b": other}),
                _ => json!({"a": one, "b": other}),
            };
            json!({"call": name, "args": args})
        }
    }
}
