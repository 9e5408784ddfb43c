//! Names as the text has them: a local of a function that is inlined has a longer one in the levels.

use std::collections::BTreeMap;

use super::diagnostic::Diagnostic;

/// The name of a local of an inlined function in the text: `t` for `flux_2_t`.
#[must_use]
pub fn in_function(name: &str) -> Option<&str> {
    let parts: Vec<(usize, &str)> = name.match_indices('_').collect();
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let behind_a_number = parts.windows(2).rev().find(|it| is_number(&name[it[0].0 + 1..it[1].0]))?;
    let local = &name[behind_a_number[1].0 + 1..];
    (behind_a_number[0].0 > 0 && local.starts_with(|it: char| it == '_' || it.is_alphabetic()))
        .then_some(local)
}

/// Replaces these names by those of the text. Diagnostics that are equal then are told once.
#[must_use]
pub fn as_written(found: Vec<Diagnostic>, names: &BTreeMap<&str, &str>) -> Vec<Diagnostic> {
    if names.is_empty() {
        return found;
    }
    let mut told: Vec<Diagnostic> = Vec::with_capacity(found.len());
    for mut it in found {
        let labels = it.primary.iter_mut().chain(&mut it.secondary).map(|it| &mut it.text);
        let fixes = it
            .fixes
            .iter_mut()
            .flat_map(|it| std::iter::once(&mut it.title).chain(it.edits.iter_mut().map(|it| &mut it.text)));
        let texts = labels.chain(&mut it.help).chain(&mut it.notes).chain(fixes);
        for text in texts.chain([&mut it.message]) {
            *text = with(text, names);
        }
        if !told.contains(&it) {
            told.push(it);
        }
    }
    told
}

/// The text with each of the names as the whole of a word replaced.
fn with(text: &str, names: &BTreeMap<&str, &str>) -> String {
    let is_of_name = |it: char| it == '_' || it.is_alphanumeric();
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|it| !is_of_name(it)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        done.push_str(names.get(word).unwrap_or(&word));
        let end = behind.find(is_of_name).unwrap_or(behind.len());
        done.push_str(&behind[..end]);
        rest = &behind[end..];
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locals_of_functions_are_told_from_other_names() {
        assert_eq!(in_function("flux_2_t"), Some("t"));
        assert_eq!(in_function("flux_2_t_new"), Some("t_new"));
        assert_eq!(in_function("step_1_2_t"), Some("t"));
        for name in ["t", "t_2", "t_2_", "_2_t", "flux_t", "t_2_3"] {
            assert_eq!(in_function(name), None, "{name}");
        }
    }

    #[test]
    fn whole_words_are_replaced() {
        let names = BTreeMap::from([("f_1_t", "t")]);
        assert_eq!(
            with("`f_1_t` and `f_1_tt`, f_1_t = 0.0; x.f_1_t", &names),
            "`t` and `f_1_tt`, t = 0.0; x.t"
        );
    }
}
