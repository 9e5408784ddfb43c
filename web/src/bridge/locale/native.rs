//! The English messages where there is no browser: tests read what the page would say.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use fluent_bundle::types::{FluentNumber, FluentNumberOptions};
use fluent_bundle::{FluentArgs, FluentBundle, FluentResource, FluentValue};

use super::MessageValue;

/// The folder of all catalogues.
pub(super) fn home() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../static/locales"))
}

/// The files of a language, each with its name, sorted.
pub(super) fn files(language: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(home().join(language)).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|it| {
            let name = it.file_name().to_string_lossy().into_owned();
            Some((name, fs::read_to_string(it.path()).ok()?))
        })
        .collect();
    files.sort();
    files
}

/// A number as a message writes it.
#[cfg(test)]
pub(super) fn number_of(it: f64) -> String {
    number(&FluentValue::from(it)).unwrap_or_default()
}

/// Numbers as the browser writes them in English, but for thousands separators, which the page asks for nowhere.
fn number(value: &FluentValue<'_>) -> Option<String> {
    let FluentValue::Number(FluentNumber { value, options }) = value else { return None };
    let FluentNumberOptions { minimum_fraction_digits, maximum_fraction_digits, .. } = options;
    let least = minimum_fraction_digits.unwrap_or(0);
    let most = maximum_fraction_digits.unwrap_or_else(|| least.max(3));
    let mut text = String::new();
    let _ = write!(text, "{value:.most$}");
    while text.contains('.') && text.ends_with('0') && text.len() - text.find('.')? - 1 > least {
        text.pop();
    }
    Some(text.trim_end_matches('.').to_owned())
}

/// The messages of a language, and what is wrong with its files.
pub(super) fn bundle(language: &str) -> (FluentBundle<FluentResource>, Vec<String>) {
    let mut wrong = Vec::new();
    let tag = language.parse().unwrap_or_default();
    let mut bundle = FluentBundle::new(vec![tag]);
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(|value, _| number(value)));
    if let Err(why) = bundle.add_builtins() {
        wrong.push(why.to_string());
    }
    for (name, text) in files(language) {
        let resource = FluentResource::try_new(text).unwrap_or_else(|(read, errors)| {
            wrong.extend(errors.iter().map(|it| format!("{language}/{name}: {it}")));
            read
        });
        if let Err(errors) = bundle.add_resource(resource) {
            wrong.extend(errors.iter().map(|it| format!("{language}/{name}: {it}")));
        }
    }
    (bundle, wrong)
}

/// The message of a key; the key itself where there is none.
pub(super) fn said(
    bundle: &FluentBundle<FluentResource>,
    key: &str,
    args: &[(&str, MessageValue<'_>)],
) -> (String, Vec<String>) {
    let Some(pattern) = bundle.get_message(key).and_then(|it| it.value()) else {
        return (key.to_owned(), vec![format!("there is no message `{key}`")]);
    };
    let mut named = FluentArgs::new();
    for (name, value) in args {
        match value {
            MessageValue::Number(it) => named.set(*name, *it),
            MessageValue::Text(it) => named.set(*name, it.as_ref()),
        }
    }
    let mut errors = Vec::new();
    let text = bundle.format_pattern(pattern, Some(&named), &mut errors).into_owned();
    (text, errors.iter().map(ToString::to_string).collect())
}

thread_local! {
    static ENGLISH: FluentBundle<FluentResource> = bundle("en").0;
}

pub(super) fn text(key: &str, args: &[(&str, MessageValue<'_>)]) -> String {
    ENGLISH.with(|it| said(it, key, args).0)
}
