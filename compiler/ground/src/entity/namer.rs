//! Identifiers for generated code.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Hands out identifiers of generated code, each once.
///
/// Every identifier comes through here. So all characters of an identifier are on the list of allowed ones,
/// and none means something to the target language.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Namer {
    taken: BTreeSet<String>,
}

impl Namer {
    /// A namer that never gives out the `reserved` words.
    #[must_use]
    pub fn new(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|&it| it.to_owned()).collect() }
    }

    /// An identifier that resembles `wanted` and has not been given out before.
    pub fn name(&mut self, wanted: &str) -> String {
        let stem = mangled(wanted);
        let mut name = stem.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            name = format!("{stem}_{number}");
            number += 1;
        }
        name
    }

    /// Identifiers for several things that belong together, `stem` and `stem` with each suffix.
    pub fn family(&mut self, wanted: &str, suffixes: &[&str]) -> String {
        let stem = mangled(wanted);
        let mut number = 0;
        loop {
            let name = if number == 0 { stem.clone() } else { format!("{stem}_{number}") };
            let all: Vec<String> = std::iter::once(name.clone())
                .chain(suffixes.iter().map(|it| format!("{name}{it}")))
                .collect();
            if all.iter().all(|it| !self.taken.contains(it)) {
                self.taken.extend(all);
                return name;
            }
            number += 1;
        }
    }
}

/// Letters, digits and single underscores stay; everything else becomes its code point.
///
/// Names of the implementation (`_x`, `isobar_x`) and of macros (all capitals) are
/// no names of ours.
fn mangled(wanted: &str) -> String {
    let mut name = String::new();
    for (at, letter) in wanted.chars().enumerate() {
        match letter {
            'a'..='z' | 'A'..='Z' => name.push(letter),
            '0'..='9' if at > 0 => name.push(letter),
            '_' if at > 0 => name.push('_'),
            _ => {
                if at == 0 {
                    name.push('v');
                }
                name.push_str(&format!("u{:x}_", u32::from(letter)));
            }
        }
    }
    let is_macro_like = name.len() > 1 && !name.contains(|it: char| it.is_ascii_lowercase());
    if name.is_empty() || name.starts_with("isobar") || is_macro_like || name.len() > MAX_LENGTH {
        name.truncate(MAX_LENGTH);
        name.insert_str(0, "v_");
    }
    name
}

/// Longer identifiers are cut; a number keeps them apart.
const MAX_LENGTH: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_stays() {
        let mut namer = Namer::new(&["exp"]);
        assert_eq!(namer.name("flux_i"), "flux_i");
        assert_eq!(namer.name("flux_i"), "flux_i_1");
        assert_eq!(namer.name("exp"), "exp_1");
    }

    #[test]
    fn no_character_gets_through_that_could_end_an_identifier() {
        let hostile = [
            "x;system(\"\")",
            "*/",
            "a\nb",
            "??/",
            "\u{202e}x",
            "größe",
            "",
            "1x",
            "_Exit",
            "NAN",
            "isobar_run",
        ];
        let mut namer = Namer::default();
        for text in hostile {
            let name = namer.name(text);
            assert!(name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_'), "{name}");
            assert!(name.starts_with(|it: char| it.is_ascii_alphabetic()), "{name}");
            assert!(!name.starts_with("isobar") && name != "NAN", "{name}");
        }
    }

    #[test]
    fn a_family_takes_all_its_names() {
        let mut namer = Namer::default();
        assert_eq!(namer.name("q_i"), "q_i");
        assert_eq!(namer.family("q", &["_i", "_j"]), "q_1");
        assert_eq!(namer.name("q_1_j"), "q_1_j_1");
    }
}
