//! Fields, and the lines of a text that give them values.

use std::collections::BTreeMap;

use isobar_protocol::compile::FieldParam;
use isobar_protocol::worker::Defaults;

/// Where the values of a field come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldSource {
    /// The generator of an `# @input` line.
    Line(String),
    /// It is written before it is read.
    Zeros,
    /// The user's generator replaces that of the text, or the default one. A string says why it cannot be read.
    Chosen(String, Option<String>),
    /// The default generator: neither the text nor the user names one.
    MadeUp(String),
    /// It is read, and nothing gives it values.
    Missing,
    /// Nothing uses it.
    Unused,
}

/// A field parameter, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldInput {
    pub param: FieldParam,
    pub source: FieldSource,
}

/// The fields of a stencil; `chosen` are the user's generators.
#[must_use]
pub fn fields(
    params: &[FieldParam],
    defaults: &Defaults,
    chosen: &BTreeMap<String, String>,
) -> Vec<FieldInput> {
    let source = |param: &FieldParam| {
        let name = &param.name;
        match (defaults.inputs.get(name), chosen.get(name), param.access.as_str()) {
            (_, _, "none") => FieldSource::Unused,
            (_, Some(text), _) => FieldSource::Chosen(text.clone(), defaults.refused.get(name).cloned()),
            (Some(generator), None, _) => FieldSource::Line(generator.clone()),
            (None, None, "write") => FieldSource::Zeros,
            (None, None, _) => {
                let made = defaults.made.init.get(name);
                made.map_or(FieldSource::Missing, |it| FieldSource::MadeUp(it.clone()))
            }
        }
    };
    params.iter().map(|param| FieldInput { source: source(param), param: param.clone() }).collect()
}

/// An `# @input` line for a field that has none.
#[must_use]
pub fn line_of(field: &FieldParam) -> String {
    let generator = match field.axes.as_str() {
        "K" => "linear(low=0, high=1, along=k)",
        _ => "bell(low=0, high=1, at_i=0.5, at_j=0.5, width=0.15)",
    };
    format!("# @input {} {generator}", field.name)
}

/// The text with a further line of a run: below the others, or at its top.
#[must_use]
pub fn with_line(text: &str, line: &str) -> String {
    let is_of_run =
        |it: &str| it.trim_start().strip_prefix('#').is_some_and(|it| it.trim_start().starts_with('@'));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = lines.iter().take_while(|it| it.trim().is_empty() || it.trim_start().starts_with('#'));
    let at = head.enumerate().filter(|(_, it)| is_of_run(it)).last().map_or(0, |(at, _)| at + 1);
    let (before, after) = (lines[..at].concat(), lines[at..].concat());
    let edge = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{edge}{line}\n{after}")
}
