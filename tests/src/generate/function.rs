//! Functions of a generated text.

use super::Features;
use super::expression::{Axes, Kind, Readable, Scope};
use super::random::Random;

/// A function that stencils of the text may call.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub name: String,
    /// For each parameter, whether it is read beside the point.
    pub reads_beside: Vec<bool>,
    /// How many values it returns.
    pub results: usize,
    pub text: String,
}

/// A function called `name`; it may call the ones before it.
pub(super) fn function(
    random: &mut Random,
    name: &str,
    features: Features,
    constants: &[Readable],
    before: &[Function],
) -> Function {
    let reads_beside: Vec<bool> = (0..random.between(1, 3)).map(|_| random.chance(40)).collect();
    let results = if random.chance(25) { 2 } else { 1 };
    let mut readable: Vec<Readable> = constants.to_vec();
    let mut parameters = Vec::new();
    for (number, &beside) in reads_beside.iter().enumerate() {
        let name = format!("x{number}");
        // Without offsets the name alone: an argument may be a plane.
        let axes = if beside { Axes::Ijk } else { Axes::None };
        readable.push(Readable { name: name.clone(), axes, beside, ..Readable::default() });
        parameters.push(name);
    }
    // Only those that read nothing beside the point: what goes into them need not be known then.
    let callable: Vec<Function> =
        before.iter().filter(|it| it.results == 1 && !it.reads_beside.contains(&true)).cloned().collect();
    let mut lines = Vec::new();
    let local = |random: &mut Random, lines: &mut Vec<String>, readable: &mut Vec<Readable>, name: &str| {
        let scope = Scope {
            readable,
            functions: &callable,
            features,
            calls: true,
            calls_with_expressions: true,
            level_number: false,
        };
        let value = scope.expression(random, Kind::Float, 2);
        if random.chance(35) {
            let outer = Scope { calls: false, ..scope.clone() };
            let condition = outer.expression(random, Kind::Bool, 1);
            let otherwise = outer.expression(random, Kind::Float, 2);
            lines.push(format!("    if {condition}:"));
            lines.push(format!("        {name} = {value}"));
            lines.push("    else:".to_owned());
            lines.push(format!("        {name} = {otherwise}"));
        } else {
            lines.push(format!("    {name} = {value}"));
        }
        readable.push(Readable::scalar(name, Kind::Float));
    };
    for number in 0..results {
        local(random, &mut lines, &mut readable, &format!("r{number}"));
    }
    let returned: Vec<String> = (0..results).map(|number| format!("r{number}")).collect();
    let mut text = format!("@function\ndef {name}({}):\n", parameters.join(", "));
    text += &lines.join("\n");
    text += &format!("\n    return {}\n", returned.join(", "));
    Function { name: name.to_owned(), reads_beside, results, text }
}
