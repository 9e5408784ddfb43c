//! A domain that ranks cut has the bits of one rank: tiles however their outer halo is filled, and the faces of a cube.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::call::run::NoControl;
use isobar_compiler::config::Config;
use isobar_program::compile::compile;
use isobar_program::decomposition::{RankGrid, Topology};
use isobar_program::interpret::{HaloFill, MOST_BYTES, ProgramInputs, ProgramInstance, StencilInterpreter};
use isobar_runtime::executors::{Executor, OwnedSetting, interpreters, rayon, wgpu};
use isobar_runtime::programs::{CodeSetting, CutProgram, ProgramRefusal, RankSource};
use serde_json::{Value as Json, json};

/// A step that looks around each point in a way of its own, and one that is another at the edges of a tile.
const STENCILS: &str = "
def lap(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q[-1, -1, 0] + q[1, 0, 0] + q[0, -1, 0] + q[2, 1, 0] - 4.0 * q

def step(q: Field[float], l: Field[float], a: float):
    from __externals__ import i_start, j_end

    with computation(PARALLEL), interval(...):
        q = q + a * l
        with horizontal(region[i_start, :], region[:, j_end]):
            q = q - 0.5 * l
";

const HALO: i64 = 2;

/// A field of a tile with a halo of two points.
fn field(role: &str, staggered: &str) -> Json {
    let size = |axis: &str| format!("{axis}+{}", 2 * HALO + i64::from(staggered.contains(axis)));
    let mut it =
        json!({"role": role, "dtype": "float64", "axes": "IJK", "shape": [size("I"), size("J"), "K"]});
    if !staggered.is_empty() {
        it["staggered"] = json!(staggered);
    }
    it
}

fn document(fields: &Json, body: &Json) -> String {
    json!({
        "isobar_program": 1, "name": "model", "files": {"main.py": STENCILS}, "grid": {"halo": HALO},
        "fields": fields,
        "scalars": {"a": {"role": "argument", "dtype": "float64"}},
        "stencils": {"lap": {"function": "main.lap"}, "step": {"function": "main.step"}},
        "body": body,
    })
    .to_string()
}

/// Diffusion with a statement between the phases of an exchange.
fn steps() -> String {
    let exchange = |phase: &str| json!({"exchange": ["q"], "width": HALO, "phase": phase});
    document(
        &json!({"q": field("argument", ""), "l": field("local", "")}),
        &json!([
            {"for": "it", "range": [3], "body": [
                exchange("start"),
                {"fill": "l", "with": 0.0},
                exchange("wait"),
                {"call": "lap", "args": {"q": "q", "out": "l"}},
                {"call": "step", "args": {"q": "q", "l": "l", "a": "a"}}]},
            exchange("update")]),
    )
}

/// Two fields whose exchanges stand behind each other, with calls of one beside the exchange of the other.
fn overlapping_steps() -> String {
    let update = |q: &str| json!({"exchange": [q], "width": HALO});
    let lap = |q: &str, l: &str| json!({"call": "lap", "args": {"q": q, "out": l}});
    let step = |q: &str, l: &str| json!({"call": "step", "args": {"q": q, "l": l, "a": "a"}});
    document(
        &json!({"q": field("argument", ""), "w": field("argument", ""),
            "l": field("local", ""), "m": field("local", "")}),
        &json!([
            {"fill": "l", "with": 0.0},
            {"fill": "m", "with": 0.0},
            {"for": "it", "range": [3], "body": [
                update("q"), update("w"),
                lap("w", "m"), step("w", "m"), {"swap": ["l", "m"]},
                lap("q", "l"), step("q", "l"),
                update("w"),
                {"if": "a > 0", "then": [lap("w", "m"), {"copy": "m", "to": "l"}]},
                step("w", "l")]}]),
    )
}

/// An array whose elements all differ.
fn numbered(shape: &[usize], first: f64) -> Array {
    let n: usize = shape.iter().product();
    let number = |it: usize| first + f64::from(u32::try_from(it).expect("tests are small")) * 0.37;
    Array::over(Elements::Float64((0..n).map(number).collect()), shape)
}

fn inputs(fields: &[(&str, Vec<usize>)]) -> ProgramInputs {
    let mut at = 0.0;
    let fields = fields.iter().map(|(name, shape)| {
        at += 1000.0;
        ((*name).to_owned(), numbered(shape, at))
    });
    let scalars = BTreeMap::from([("a".to_owned(), ScalarInput::Float(0.07))]);
    ProgramInputs { fields: fields.collect(), scalars }
}

/// All fields behind a run on the only rank.
fn on_one(text: &str, domain: [i64; 3], fill: HaloFill, mut inputs: ProgramInputs) -> ProgramInputs {
    let mut compiled = compile("model.json", text, Config::default());
    let program = compiled.program.take().unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    let made = ProgramInstance::new(&program, &mut compiled.fronts, domain, fill, MOST_BYTES);
    let mut instance = made.expect("the domain is fine");
    instance.run_with(&mut inputs, &mut StencilInterpreter, &mut NoControl).expect("the run is fine");
    inputs
}

fn bits(inputs: &ProgramInputs) -> BTreeMap<String, Vec<u8>> {
    inputs.fields.iter().map(|(name, it)| (name.clone(), it.to_c_order_le_bytes())).collect()
}

/// Holds fields against others, and tells the first element that differs.
fn hold(found: &ProgramInputs, expected: &ProgramInputs, case: &dyn std::fmt::Debug) {
    for (name, it) in &found.fields {
        for index in it.indices() {
            let [one, other] = [it, &expected.fields[name]].map(|it| it.get(&index));
            let [one, other] = [one, other].map(|it| it.digits().to_string());
            assert_eq!(one, other, "{case:?}: `{name}` at {index:?} of {:?}", it.shape);
        }
    }
}

fn cut(
    text: &str,
    (domain, grid): ([i64; 3], RankGrid),
    code: &CodeSetting,
    inputs: &mut ProgramInputs,
) -> Result<(), ProgramRefusal> {
    let source = RankSource::Document("model.json", text);
    let mut program = CutProgram::new(source, &Config::default(), (domain, grid), code, true)?;
    program.run(inputs, &|| 0.0).map(|_| ())
}

fn on(executor: Arc<dyn Executor>) -> CodeSetting {
    let setting = OwnedSetting { temporary: std::env::temp_dir(), ..OwnedSetting::embedded(1) };
    Some((executor, setting))
}

/// The interpreter, and back ends.
fn codes() -> [CodeSetting; 3] {
    [None, on(Arc::new(interpreters::Numpy)), on(Arc::new(rayon::Rayon))]
}

fn tile(fill: HaloFill, layout: [u32; 2]) -> RankGrid {
    RankGrid { topology: Topology::Tile(fill), layout }
}

fn told(refused: &ProgramRefusal) -> Vec<String> {
    refused.diagnostics.iter().map(|it| format!("{}: {}", it.code, it.message)).collect()
}

#[test]
fn ranks_that_cut_a_tile_have_its_bits() {
    let (text, domain) = (steps(), [12, 8, 3]);
    for fill in HaloFill::ALL.map(|it| it.0) {
        let given = inputs(&[("q", vec![16, 12, 3])]);
        let expected = on_one(&text, domain, fill, given.clone());
        assert_ne!(bits(&expected), bits(&given));
        for code in codes() {
            for layout in [[1, 1], [2, 1], [1, 2], [3, 2], [2, 4], [6, 4]] {
                let mut found = given.clone();
                cut(&text, (domain, tile(fill, layout)), &code, &mut found).unwrap();
                hold(&found, &expected, &(fill, layout, &code));
            }
        }
    }
}

#[test]
fn ranks_that_compute_while_messages_are_on_their_way_have_the_same_bits() {
    let (text, domain) = (overlapping_steps(), [12, 8, 3]);
    for fill in HaloFill::ALL.map(|it| it.0) {
        let given = inputs(&[("q", vec![16, 12, 3]), ("w", vec![16, 12, 3])]);
        let expected = on_one(&text, domain, fill, given.clone());
        for code in codes() {
            for layout in [[1, 1], [2, 1], [3, 2], [6, 4]] {
                let mut found = given.clone();
                cut(&text, (domain, tile(fill, layout)), &code, &mut found).unwrap();
                hold(&found, &expected, &(fill, layout, &code));
            }
        }
    }
}

#[test]
fn ranks_share_a_gpu() {
    if let Err(why) = wgpu::check() {
        return isobar_testing::skip("ranks on a GPU", why);
    }
    let code = on(Arc::new(wgpu::Wgpu));
    let text = steps();
    let given = inputs(&[("q", vec![16, 12, 3])]);
    let expected = on_one(&text, [12, 8, 3], HaloFill::Periodic, given.clone());
    let mut found = given;
    cut(&text, ([12, 8, 3], tile(HaloFill::Periodic, [2, 1])), &code, &mut found).unwrap();
    hold(&found, &expected, &"tile");
    let given = inputs(&[("q", vec![16, 16, 2, 6])]);
    let [expected, found] = [None, code].map(|code| {
        let mut given = given.clone();
        let grid = RankGrid { topology: Topology::Cube, layout: [1, 1] };
        cut(&text, ([12, 12, 2], grid), &code, &mut given).unwrap();
        given
    });
    hold(&found, &expected, &"cube");
}

#[test]
fn staggered_fields_and_fields_with_data_are_exchanged_as_on_one_rank() {
    let mut more = field("argument", "J");
    more["shape"] = json!(["I+4", "J+5", "K", 2]);
    let fields = json!({"q": field("argument", "IJ"), "u": field("argument", "I"), "w": more});
    let exchange = json!([{"exchange": ["q", "w"], "width": 1}, {"exchange": ["u"], "width": 2}]);
    let (text, domain) = (document(&fields, &exchange), [6, 4, 2]);
    let given = inputs(&[("q", vec![11, 9, 2]), ("u", vec![11, 8, 2]), ("w", vec![10, 9, 2, 2])]);
    for fill in HaloFill::ALL.map(|it| it.0) {
        let expected = on_one(&text, domain, fill, given.clone());
        for layout in [[1, 1], [3, 1], [1, 2], [3, 2]] {
            let mut found = given.clone();
            cut(&text, (domain, tile(fill, layout)), &None, &mut found).unwrap();
            hold(&found, &expected, &(fill, layout));
        }
    }
}

#[test]
fn faces_of_a_cube_have_one_result_however_they_are_cut() {
    let (text, domain) = (steps(), [12, 12, 2]);
    let given = inputs(&[("q", vec![16, 16, 2, 6])]);
    let mut expected = None;
    for code in codes() {
        for n in [1, 2, 3] {
            let mut found = given.clone();
            let grid = RankGrid { topology: Topology::Cube, layout: [n, n] };
            cut(&text, (domain, grid), &code, &mut found).unwrap();
            hold(&found, expected.get_or_insert_with(|| found.clone()), &(n, &code));
        }
    }
    assert_ne!(expected.map(|it| bits(&it)), Some(bits(&given)));
}

#[test]
fn a_field_that_several_ranks_have_is_one_value_or_refused() {
    let column = json!({"role": "argument", "dtype": "float64", "axes": "K", "shape": ["K"]});
    let fields = json!({"q": field("argument", ""), "z": column});
    let text = document(&fields, &json!([{"fill": "z", "with": "a"}, {"exchange": ["q"], "width": 1}]));
    let mut given = inputs(&[("q", vec![8, 8, 2]), ("z", vec![2])]);
    cut(&text, ([4, 4, 2], tile(HaloFill::Periodic, [2, 2])), &None, &mut given).unwrap();
    assert_eq!(given.fields["z"].to_c_order_le_bytes(), 0.07_f64.to_le_bytes().repeat(2));
    // Two columns that do not grow with the domain: each rank stores its own there.
    let columns = json!({"role": "argument", "dtype": "float64", "axes": "IJK", "shape": [2, "J", "K"], "origin": [0, 0, 0]});
    let mut document: Json = serde_json::from_str(&document(
        &json!({"q": field("argument", ""), "z": columns}),
        &json!([{"call": "few", "args": {"q": "z", "l": "q", "a": "a"}}]),
    ))
    .expect("it is JSON");
    document["stencils"]["few"] = json!({"function": "main.step", "domain": [2, "J", "K"]});
    let run = |layout| {
        let mut given = inputs(&[("q", vec![8, 8, 2]), ("z", vec![2, 4, 2])]);
        let text = document.to_string();
        cut(&text, ([4, 4, 2], tile(HaloFill::Periodic, layout)), &None, &mut given).map_err(|it| told(&it))
    };
    assert_eq!(run([1, 2]), Ok(()));
    assert_eq!(
        run([2, 1]),
        Err(vec!["P18: several ranks have one part of `z`, and wrote it differently".to_owned()])
    );
}

#[test]
fn runs_on_ranks_that_cannot_be_are_told() {
    let text = steps();
    let told_of = |text: &str, domain, grid, shape: Vec<usize>| {
        let mut given = inputs(&[("q", shape)]);
        let before = bits(&given);
        let refused = cut(text, (domain, grid), &None, &mut given).unwrap_err();
        assert_eq!(bits(&given), before);
        told(&refused)
    };
    let periodic = |layout| tile(HaloFill::Periodic, layout);
    assert_eq!(
        told_of(&text, [12, 8, 3], periodic([5, 1]), vec![16, 12, 3]),
        ["P18: 12 points along I are not cut into 5 equal parts"]
    );
    assert_eq!(
        told_of(&text, [12, 8, 3], periodic([12, 1]), vec![16, 12, 3])[0],
        "P17: the exchange of `q` is refused: it is 2 points wide, and a rank has 1 along I"
    );
    assert_eq!(
        told_of(&text, [12, 8, 3], periodic([2, 1]), vec![10, 12, 3]),
        [
            "P18: `q` is an array of float64 with the shape [10, 12, 3], and the program needs float64 and [16, 12, 3]"
        ]
    );
    assert_eq!(
        told_of(&text, [12, 8, 3], periodic([64, 64]), vec![16, 12, 3]),
        ["P18: the layout has 4096 ranks, and 1024 are the most"]
    );
    let cube = RankGrid { topology: Topology::Cube, layout: [1, 1] };
    assert_eq!(
        told_of(&text, [12, 8, 3], cube, vec![16, 12, 3, 6]),
        ["P18: faces of a cube are square, and these have 12x8 points on 1x1 ranks"]
    );
    let asked = document(&json!({"q": field("argument", "")}), &json!([{"host": "ask", "writes": ["q"]}]));
    assert_eq!(
        told_of(&asked, [4, 4, 1], periodic([1, 1]), vec![8, 8, 1]),
        ["P17: the callback `ask` is refused: this compiler calls nothing outside of a program"]
    );
    // All ranks end there.
    let trap = document(
        &json!({"q": field("argument", "")}),
        &json!([{"exchange": ["q"], "width": 1}, {"trap": "too hot"}, {"exchange": ["q"], "width": 1}]),
    );
    assert_eq!(told_of(&trap, [4, 4, 1], periodic([2, 2]), vec![8, 8, 1]), ["P20: too hot"]);
}
