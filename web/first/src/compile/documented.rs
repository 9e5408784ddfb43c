//! Descriptions of parameters from the docstring of a stencil: a few words, and a unit.

use std::collections::BTreeMap;

use isobar_front::frontend::docstring::{about_parameter, docstring};
use isobar_front::frontend::program::{for_each_function, is_stencil};
use isobar_front::project::Project;
use isobar_protocol::worker::Documented;
use isobar_reference::front::Front;

/// More words than a title has room for.
const MOST_CHARACTERS: usize = 60;

/// Symbols of units; each may have a prefix and a power.
const SYMBOLS: [&str; 41] = [
    "m", "s", "g", "kg", "K", "Pa", "J", "W", "N", "C", "V", "T", "A", "mol", "rad", "sr", "deg", "degC",
    "degK", "°", "°C", "degree", "degrees", "%", "bar", "mb", "mbar", "h", "hr", "hour", "d", "day", "min",
    "sec", "L", "Hz", "ppm", "ppb", "DU", "psu", "1",
];
const PREFIXES: [&str; 9] = ["k", "h", "d", "c", "m", "u", "μ", "n", "M"];
/// Units that are written out.
const WORDS: [&str; 14] = [
    "kelvin", "kelvins", "pascal", "pascals", "meter", "meters", "metre", "metres", "second", "seconds",
    "percent", "radians", "hours", "days",
];

/// By the name of the parameter; only those that are described.
pub(super) fn of(front: &Front, project: &Project) -> BTreeMap<String, Documented> {
    let mut found = BTreeMap::new();
    let (Some(signature), Some(stencil)) = (&front.signature, &front.stencil) else {
        return found;
    };
    let main = project.main_id().and_then(|it| front.files.get(usize::from(it.0)));
    let name = stencil.rsplit('.').next().unwrap_or(stencil);
    let mut said = None;
    if let Some(main) = main {
        for_each_function(&main.syntax().body, &mut |def| {
            if said.is_none() && def.name.name == name && is_stencil(def) {
                said = docstring(def);
            }
        });
    }
    let Some(said) = said else { return found };
    for param in &signature.params {
        if let Some(about) = about_parameter(&said, &param.name) {
            found.insert(param.name.clone(), documented(&about));
        }
    }
    found
}

/// Reads `pressure at the layer's middle [Pa] (in)`.
fn documented(about: &str) -> Documented {
    let mut unit = String::new();
    let mut title = String::new();
    let mut rest = about;
    while let Some(start) = rest.find(['(', '[']) {
        let (before, inside) = rest.split_at(start);
        let close = if inside.starts_with('(') { ')' } else { ']' };
        let Some((note, after)) = inside[1..].split_once(close) else { break };
        title.push_str(before.trim_end());
        if is_unit(note) {
            if unit.is_empty() {
                note.trim().clone_into(&mut unit);
            }
        } else if !is_role(note) {
            title.push(' ');
            title.extend([&inside[..1], note, &inside[note.len() + 1..note.len() + 2]]);
        }
        rest = after;
    }
    title.push_str(rest);
    // The first thing that is said: what follows explains it.
    let first = title.split([';', '\n']).next().unwrap_or_default();
    let first = first.split(". ").next().unwrap_or_default();
    let mut title: String = first.trim().trim_end_matches(['.', ',', ':']).to_owned();
    // `rain in kg/m2`
    if unit.is_empty()
        && let Some((name, last)) = title.rsplit_once(" in ")
        && is_unit(last)
    {
        last.clone_into(&mut unit);
        title.truncate(name.len());
    }
    if title.chars().count() > MOST_CHARACTERS {
        let cut: String = title.chars().take(MOST_CHARACTERS).collect();
        let whole_words = cut.rsplit_once(' ').map_or(cut.as_str(), |it| it.0);
        title = format!("{} …", whole_words.trim_end_matches(','));
    }
    // A quantity without a dimension is shown without a unit.
    if unit == "1" {
        unit.clear();
    }
    Documented { title, unit }
}

/// Whether a note says which way a parameter goes: that is no part of its name.
fn is_role(note: &str) -> bool {
    let words = note.split([',', '/', ' ']).filter(|it| !it.is_empty());
    let mut words = words.peekable();
    words.peek().is_some()
        && words.all(|it| {
            ["in", "out", "inout", "input", "output", "optional", "unitless", "dimensionless", "none", "-"]
                .contains(&it.to_ascii_lowercase().as_str())
        })
}

/// Whether a note is a unit: `Pa`, `m/s`, `kg m-3`, `kg kg**-1`, `W m^-2`.
fn is_unit(note: &str) -> bool {
    let note = note.trim();
    if note.is_empty() || note.len() > 24 {
        return false;
    }
    let apart = note.replace("**", "^");
    let parts = apart.split([' ', '/', '*', '.', '·']).filter(|it| !it.is_empty());
    let mut n = 0;
    for part in parts {
        n += 1;
        let symbol = part.trim_end_matches(|it: char| it.is_ascii_digit() || "+-^⁻⁰¹²³⁴".contains(it));
        let symbol = if symbol.is_empty() { part } else { symbol };
        let is_prefixed = || {
            PREFIXES.iter().any(|it| symbol.strip_prefix(it).is_some_and(|it| SYMBOLS[..10].contains(&it)))
        };
        let is_word = || WORDS.contains(&symbol.to_ascii_lowercase().as_str());
        if !SYMBOLS.contains(&symbol) && !is_prefixed() && !is_word() {
            return false;
        }
    }
    n > 0
}

#[cfg(test)]
mod tests {
    use super::super::Compiler;
    use super::*;
    use isobar_protocol::request::Request;

    #[test]
    fn a_unit_is_found_in_brackets_and_parentheses() {
        for (about, title, unit) in [
            ("pressure (Pa)", "pressure", "Pa"),
            ("Pressure at the interfaces [Pa] (in)", "Pressure at the interfaces", "Pa"),
            ("x-wind on the D-grid (m/s), inout", "x-wind on the D-grid, inout", "m/s"),
            ("density (kg m-3)", "density", "kg m-3"),
            ("mixing ratio of vapour [kg kg**-1].", "mixing ratio of vapour", "kg kg**-1"),
            ("any field (in)", "any field", ""),
            ("how strong the diffusion is, 0 to 1 (in)", "how strong the diffusion is, 0 to 1", ""),
            ("layer depth (dp) in hPa", "layer depth (dp)", "hPa"),
            ("time step in seconds", "time step", "seconds"),
            ("points in a row", "points in a row", ""),
            ("fraction of cloud (1)", "fraction of cloud", ""),
            ("heat flux [W m^-2]; positive upward", "heat flux", "W m^-2"),
            ("height (km", "height (km", ""),
        ] {
            assert_eq!(documented(about), Documented { title: title.to_owned(), unit: unit.to_owned() });
        }
    }

    #[test]
    fn titles_end_with_a_whole_word() {
        let title = documented(&"long words ".repeat(20)).title;
        assert!(title.chars().count() <= MOST_CHARACTERS + 2, "{title}");
        let words = title.strip_suffix(" …").unwrap();
        assert!(words.split(' ').all(|it| it == "long" || it == "words"), "{title}");
    }

    #[test]
    fn parameters_are_documented_by_the_stencil_that_is_compiled() {
        let text = "@function\ndef f(q):\n    \"\"\"F.\n\n    Args:\n        q: of the function (K)\n    \"\"\"\n    \
            return q\ndef s(q: FloatField, p: FloatField):\n    \"\"\"S.\n\n    Args:\n        \
            q (inout): temperature (K)\n    \"\"\"\n    with computation(PARALLEL), interval(...):\n        \
            q = f(p)\n";
        let files = [("main.py".to_owned(), text.to_owned())].into();
        let (_, found) = Compiler::default().compile(&Request { files, ..Request::default() }, None, &|| 0.0);
        let wanted = Documented { title: "temperature".to_owned(), unit: "K".to_owned() };
        assert_eq!(found.documented, [("q".to_owned(), wanted)].into());
    }
}
