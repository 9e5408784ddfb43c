//! Whole stencils.

use super::Features;
use super::expression::{Axes, Kind, Readable};
use super::function::function;
use super::random::Random;
use super::statement::{Body, Order, Role, Variable, read_partly};

/// A generated text.
#[derive(Clone, Debug)]
pub struct Generated {
    pub text: String,
    /// The name of its stencil.
    pub stencil: String,
}

const HEADER: &str = "\
from gt4py.cartesian.gtscript import *
from gt4py.cartesian.gtscript import GlobalTable

";

/// Types of fields, the common ones more often.
const DTYPES: [&str; 8] =
    ["float64", "float64", "float64", "float64", "float32", "float32", "int32", "int64"];

/// The stencil of that seed.
#[must_use]
pub fn stencil(seed: u64, features: Features) -> Generated {
    let mut random = Random::new(seed);
    let random = &mut random;
    let mut directives = String::new();
    let mut constants = Vec::new();
    let mut module = String::new();
    for number in 0..random.between(0, 2) {
        let name = format!("CONSTANT_{number}");
        module += &format!("{name} = {}\n", random.pick(&["0.125", "2.5", "-1.0", "0.3", "1.0 / 7.0"]));
        constants.push(Readable::scalar(&name, Kind::Float));
    }
    let mut externals = Vec::new();
    let mut switches = Vec::new();
    for number in 0..random.between(0, 2) {
        let name = format!("EXTERNAL_{number}");
        let is_switch = random.chance(50);
        let value = if is_switch { *random.pick(&["1", "2"]) } else { *random.pick(&["0.7", "1.5"]) };
        directives += &format!("# @external {name} = {value}\n");
        if is_switch {
            switches.push(name.clone());
        }
        externals.push(Readable::scalar(&name, if is_switch { Kind::Int } else { Kind::Float }));
    }

    let mut functions = Vec::new();
    for number in 0..random.between(0, 3) {
        let name = format!("function_{number}");
        functions.push(function(random, &name, features, &constants, &functions));
    }

    let mut variables = parameters(random, features);
    let mut scalars = constants.clone();
    let mut signature: Vec<String> = variables.iter().map(|it| declared(random, it)).collect();
    for (name, kind, dtype) in
        [("s", Kind::Float, "float"), ("m", Kind::Int, "int"), ("on", Kind::Bool, "bool")]
    {
        if random.chance(45) {
            scalars.push(Readable::scalar(name, kind));
            signature.push(format!("{name}: {dtype}"));
        }
    }
    scalars.extend(externals.iter().cloned());

    let mut lines = Vec::new();
    if !externals.is_empty() {
        let names: Vec<&str> = externals.iter().map(|it| it.name.as_str()).collect();
        lines.push(format!("    from __externals__ import {}", names.join(", ")));
    }
    let (mut counters, mut partial) = (0, Vec::new());
    define_temporaries(random, features, &mut variables, &scalars, &functions, &mut counters, &mut lines);
    if features.computed && random.chance(40) {
        lines.push("    with computation(FORWARD), interval(0, 1):".to_owned());
        lines.push("        sheet: Field[IJ, float64] = 0.5 * a".to_owned());
        variables.push(Variable {
            name: "sheet".to_owned(),
            dtype: "float64",
            axes: Axes::Ij,
            role: Role::Temporary,
            elements: 0,
        });
    }
    for _ in 0..random.between(1, 3) {
        let order = *random.pick(&[Order::Parallel, Order::Parallel, Order::Forward, Order::Backward]);
        computation(
            random,
            features,
            order,
            &variables,
            &scalars,
            &functions,
            &switches,
            &mut counters,
            &mut partial,
            &mut lines,
        );
    }
    // Nothing is made in vain.
    let temporaries: Vec<String> =
        variables.iter().filter(|it| it.role == Role::Temporary).map(|it| it.name.clone()).collect();
    if !temporaries.is_empty() {
        lines.push("    with computation(PARALLEL), interval(...):".to_owned());
        for name in temporaries {
            lines.push(format!("        out = out + {name}"));
        }
    }

    if !partial.is_empty() && random.chance(60) {
        lines.push("    with computation(PARALLEL), interval(...):".to_owned());
        for name in partial {
            lines.push(format!("        out = out + {}", read_partly(random, &name)));
        }
    }

    let mut text = directives + HEADER + &module;
    for it in &functions {
        text += &format!("\n\n{}", it.text);
    }
    text += &format!("\n\ndef generated({}):\n{}\n", signature.join(", "), lines.join("\n"));
    Generated { text, stencil: "generated".to_owned() }
}

/// Fields of all shapes.
fn parameters(random: &mut Random, features: Features) -> Vec<Variable> {
    let mut variables = Vec::new();
    let mut add =
        |name: String, dtype, axes, role| variables.push(Variable { name, dtype, axes, role, elements: 0 });
    add("a".to_owned(), "float64", Axes::Ijk, Role::Input);
    for number in 0..random.between(0, 3) {
        let dtype = if random.chance(10) { "bool" } else { random.pick(&DTYPES) };
        add(format!("in{number}"), dtype, Axes::Ijk, Role::Input);
    }
    for (name, axes) in [("plane", Axes::Ij), ("column", Axes::K), ("row", Axes::I), ("line", Axes::J)] {
        if random.chance(25) {
            add(name.to_owned(), *random.pick(&DTYPES[..6]), axes, Role::Input);
        }
    }
    add("out".to_owned(), "float64", Axes::Ijk, Role::Output);
    for number in 0..random.between(0, 2) {
        let dtype = if random.chance(10) { "bool" } else { random.pick(&DTYPES) };
        add(format!("out{number}"), dtype, Axes::Ijk, Role::Output);
    }
    if random.chance(30) {
        add("out_plane".to_owned(), "float64", Axes::Ij, Role::Output);
    }
    if features.computed {
        let with_elements = [
            ("vector", Axes::Ijk, Role::Input, 3),
            ("out_vector", Axes::Ijk, Role::Output, 2),
            ("table", Axes::Table, Role::Input, 4),
        ];
        for (name, axes, role, elements) in with_elements {
            if random.chance(50) {
                variables.push(Variable { name: name.to_owned(), dtype: "float64", axes, role, elements });
            }
        }
        // How far a loop goes in each column.
        variables.push(Variable {
            name: "index_top".to_owned(),
            dtype: "int64",
            axes: Axes::Ij,
            role: Role::Input,
            elements: 0,
        });
    }
    variables
}

fn declared(random: &mut Random, variable: &Variable) -> String {
    let Variable { name, dtype, axes, elements, .. } = variable;
    let dtype = match *dtype {
        "float64" if random.chance(30) => "float",
        "bool" => "bool",
        it => it,
    };
    match axes {
        Axes::Ij => format!("{name}: Field[IJ, {dtype}]"),
        Axes::K => format!("{name}: Field[K, {dtype}]"),
        Axes::I => format!("{name}: Field[I, {dtype}]"),
        Axes::J => format!("{name}: Field[J, {dtype}]"),
        Axes::Table => format!("{name}: GlobalTable[({dtype}, ({elements},))]"),
        Axes::Ijk if *elements > 0 => format!("{name}: Field[({dtype}, ({elements},))]"),
        Axes::Ijk | Axes::None => format!("{name}: Field[{dtype}]"),
    }
}

/// A first computation that assigns every temporary on all levels.
fn define_temporaries(
    random: &mut Random,
    features: Features,
    variables: &mut Vec<Variable>,
    scalars: &[Readable],
    functions: &[super::function::Function],
    counters: &mut usize,
    lines: &mut Vec<String>,
) {
    let count = random.between(0, 3);
    if count == 0 {
        return;
    }
    // Levels are not computed where what is read is assigned in the same computation.
    let features = Features { computed: false, ..features };
    lines.push("    with computation(PARALLEL), interval(...):".to_owned());
    for number in 0..count {
        let name = format!("t{number}");
        let dtype = match random.below(10) {
            0 => "bool",
            1 | 2 => "int64",
            _ => "float64",
        };
        let mut body = Body {
            random,
            features,
            order: Order::Parallel,
            room: (0, 0),
            is_run_time: false,
            variables,
            scalars,
            functions,
            targets: Vec::new(),
            switches: &[],
            lines: Vec::new(),
            counters,
            partial: &mut Vec::new(),
        };
        let kind =
            Variable { name: String::new(), dtype, axes: Axes::Ijk, role: Role::Temporary, elements: 0 }
                .kind();
        let value = body.first_value(&name, kind);
        lines.push(format!("        {name} = {value}"));
        variables.push(Variable { name, dtype, axes: Axes::Ijk, role: Role::Temporary, elements: 0 });
    }
}

#[expect(clippy::too_many_arguments, reason = "what all statements of a stencil may use")]
fn computation(
    random: &mut Random,
    features: Features,
    order: Order,
    variables: &[Variable],
    scalars: &[Readable],
    functions: &[super::function::Function],
    switches: &[String],
    counters: &mut usize,
    partial: &mut Vec<String>,
    lines: &mut Vec<String>,
) {
    // Bounds and the levels before and after; in the order of execution.
    let mut sections: Vec<(&str, (i32, i32))> = match random.below(if features.computed { 7 } else { 5 }) {
        0 | 1 => vec![("...", (0, 0))],
        2 => vec![("0, 1", (0, 1)), ("1, None", (1, 0))],
        3 => vec![("0, -1", (0, 1)), ("-1, None", (1, 0))],
        5 => vec![("0, index_top", (0, 0))],
        6 => vec![("index_top, None", (0, 0))],
        _ => vec![("0, 1", (0, 1)), ("1, -1", (1, 1)), ("-1, None", (1, 0))],
    };
    if sections.len() == 3 && random.chance(30) {
        sections.remove(0);
    }
    if order == Order::Backward {
        sections.reverse();
    }
    let name = match order {
        Order::Parallel => "PARALLEL",
        Order::Forward => "FORWARD",
        Order::Backward => "BACKWARD",
    };
    let is_single = sections.len() == 1;
    if is_single {
        lines.push(format!("    with computation({name}), interval({}):", sections[0].0));
    } else {
        lines.push(format!("    with computation({name}):"));
    }
    for (bounds, room) in sections {
        let indent = if is_single { 2 } else { 3 };
        if !is_single {
            lines.push(format!("        with interval({bounds}):"));
        }
        let may_assign = |it: &&Variable| match it.role {
            Role::Input => false,
            Role::Output => it.axes == Axes::Ijk || order != Order::Parallel,
            Role::Temporary => it.axes == Axes::Ijk || order != Order::Parallel,
        };
        let mut targets: Vec<String> =
            variables.iter().filter(may_assign).map(|it| it.name.clone()).collect();
        targets.retain(|_| random.chance(70));
        if targets.is_empty() {
            targets.push("out".to_owned());
        }
        let mut body = Body {
            random,
            features,
            order,
            room,
            is_run_time: bounds.contains("index_top"),
            variables,
            scalars,
            functions,
            targets,
            switches,
            lines: Vec::new(),
            counters,
            partial,
        };
        for _ in 0..body.random.between(1, 4) {
            body.statement(indent);
        }
        let made = body.lines;
        lines.extend(made);
    }
}
