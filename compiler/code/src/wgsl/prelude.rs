//! The definitions that a text carries: those of `shaders/` and of the functions of mathematics that it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::formula::{self, Tables};
use super::math::Callee;
use super::steps::InterpreterNeeds;
use super::{Doubles, WgslOptions};
use crate::types::DType;

/// A definition of `shaders/`, with the comment in front.
#[derive(Clone, Copy, Debug)]
struct Definition {
    name: &'static str,
    text: &'static str,
}

const EVERYWHERE: [&str; 5] = [
    include_str!("../../../../shaders/stages.wgsl"),
    include_str!("../../../../shaders/keep.wgsl"),
    include_str!("../../../../shaders/select.wgsl"),
    include_str!("../../../../shaders/casts.wgsl"),
    include_str!("../../../../shaders/div32.wgsl"),
];

const NATIVE: [&str; 2] =
    [include_str!("../../../../shaders/native64.wgsl"), include_str!("../../../../shaders/div64.wgsl")];

const PAIRS: [&str; 2] =
    [include_str!("../../../../shaders/int64.wgsl"), include_str!("../../../../shaders/soft64.wgsl")];

const FAST: [&str; 1] = [include_str!("../../../../shaders/fast32.wgsl")];

/// The definitions that a text may use, by name.
fn definitions(doubles: Doubles) -> &'static BTreeMap<&'static str, Definition> {
    static NATIVELY: OnceLock<BTreeMap<&str, Definition>> = OnceLock::new();
    static IN_PAIRS: OnceLock<BTreeMap<&str, Definition>> = OnceLock::new();
    let read = |files: &[&'static str]| {
        let all = EVERYWHERE.into_iter().chain(files.iter().copied()).flat_map(split);
        all.map(|it| (it.name, it)).collect()
    };
    match doubles {
        Doubles::Native => NATIVELY.get_or_init(|| read(&NATIVE)),
        Doubles::Pairs | Doubles::Singles => IN_PAIRS.get_or_init(|| read(&[&PAIRS[..], &FAST].concat())),
    }
}

/// The definitions of a file: empty lines are between them, and the first part is about the file.
fn split(file: &'static str) -> impl Iterator<Item = Definition> {
    file.split("\n\n").filter_map(|text| {
        let head = text.lines().find(|it| !it.starts_with("//"))?;
        let name = head.strip_prefix("fn ").or_else(|| head.strip_prefix("struct "))?;
        let name = &name[..name.find(|it: char| !is_of_word(it))?];
        Some(Definition { name, text: text.trim_end() })
    })
}

fn is_of_word(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

/// The words of a text that is not a comment.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|it| !it.trim_start().starts_with("//"));
    code.flat_map(|it| it.split(|it| !is_of_word(it))).filter(|it| !it.is_empty())
}

/// Whether `shaders/` defines it for texts with such doubles.
pub(super) fn is_defined(name: &str, doubles: Doubles) -> bool {
    definitions(doubles).contains_key(name)
}

/// Every name that `shaders/` gives.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    [Doubles::Native, Doubles::Pairs].into_iter().flat_map(|it| definitions(it).keys().copied())
}

/// The functions that a text calls: those of `shaders/` by name, and functions of mathematics, which are
/// printed.
#[derive(Clone, Debug, Default)]
pub struct PreludeFunctions {
    pub(super) names: BTreeSet<String>,
    pub(super) formulas: BTreeSet<(Callee, DType)>,
}

/// Definitions, each once, every one after what it needs, and the tables that they look up.
#[derive(Clone, Debug, Default)]
pub struct Prelude {
    pub texts: Vec<String>,
    pub tables: Tables,
}

impl Prelude {
    /// The prelude of a text with such needs.
    #[must_use]
    pub fn of(needs: &PreludeFunctions, options: &WgslOptions) -> Self {
        let mut all =
            PreludeBuilder { doubles: options.doubles, prelude: Self::default(), seen: BTreeSet::new() };
        for name in &needs.names {
            all.definition(name);
        }
        let mut followed = InterpreterNeeds::default();
        for &(callee, dtype) in &needs.formulas {
            let Some(definition) = callee.formula().and_then(|it| it.definition(dtype)) else { continue };
            let name = super::math::name_of_formula(callee, dtype);
            let tables = &mut all.prelude.tables;
            let text = match options.doubles {
                Doubles::Native => formula::function(definition, &name, options, tables),
                Doubles::Pairs | Doubles::Singles => followed.function(definition, &name, tables),
            };
            all.printed(text);
        }
        if let Some(text) = followed.text() {
            all.printed(text);
        }
        all.prelude
    }
}

struct PreludeBuilder {
    doubles: Doubles,
    prelude: Prelude,
    seen: BTreeSet<&'static str>,
}

impl PreludeBuilder {
    fn definition(&mut self, name: &str) {
        let Some(it) = definitions(self.doubles).get(name) else { return };
        if self.seen.insert(it.name) {
            self.needed_by(it.text);
            self.prelude.texts.push(format!("{}\n", it.text));
        }
    }

    /// A text that is not in `shaders/`, behind what it needs.
    fn printed(&mut self, text: String) {
        self.needed_by(&text);
        self.prelude.texts.push(text);
    }

    fn needed_by(&mut self, text: &str) {
        for word in words(text) {
            self.definition(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_file_is_its_head_or_a_definition() {
        for file in EVERYWHERE.iter().chain(&NATIVE).chain(&PAIRS).chain(&FAST) {
            let n_parts = file.split("\n\n").count();
            let n_heads =
                file.split("\n\n").take_while(|it| it.lines().all(|it| it.starts_with("//"))).count();
            assert_eq!(split(file).count() + n_heads, n_parts);
            assert!(n_heads > 0, "a file begins with what it is about");
            for it in split(file) {
                assert!(it.text.starts_with("// "), "`{}` says what it is", it.name);
            }
        }
    }

    #[test]
    fn definitions_come_once_and_after_what_they_need() {
        let needs = PreludeFunctions {
            names: ["mod_f64".to_owned(), "is_nan_f64".to_owned()].into(),
            ..PreludeFunctions::default()
        };
        for doubles in [Doubles::Native, Doubles::Pairs] {
            let options = WgslOptions { doubles, ..WgslOptions::default() };
            let texts = Prelude::of(&needs, &options).texts;
            let at = |name: &str| {
                let found: Vec<usize> =
                    (0..texts.len()).filter(|&it| texts[it].contains(&format!("fn {name}("))).collect();
                assert_eq!(found.len(), 1, "`{name}` of {doubles:?}");
                found[0]
            };
            assert!(at("is_nan_f64") < at("fmod_f64") || doubles == Doubles::Native);
            assert!(at("fmod_f64") < at("mod_f64"));
            assert!(texts.iter().all(|it| !it.contains("fn sqrt")), "nothing that is not needed");
        }
    }
}
