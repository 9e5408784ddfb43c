//! Checks of all catalogues against each other, and against the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{LANGUAGES, MessageValue, decimal, native, t};

type Names = BTreeSet<String>;

/// The messages of a language: each key with the names of what is filled in.
fn messages(language: &str) -> BTreeMap<String, Names> {
    let mut found = BTreeMap::new();
    for (file, text) in native::files(language) {
        let mut at: Option<String> = None;
        for line in text.lines().filter(|it| !it.starts_with('#')) {
            if let Some((key, _)) = line.split_once('=').filter(|_| line.starts_with(char::is_alphabetic)) {
                let key = key.trim().to_owned();
                let is_new = found.insert(key.clone(), Names::new()).is_none();
                assert!(is_new, "{language}/{file}: `{key}` stands twice");
                at = Some(key);
            }
            if let Some(names) = at.as_ref().and_then(|it| found.get_mut(it)) {
                names.extend(line.split('$').skip(1).map(|it| word(it).to_owned()));
            }
        }
    }
    found
}

/// The name at the start of a text.
fn word(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_ascii_alphanumeric() && it != '_' && it != '-');
    &text[..end.unwrap_or(text.len())]
}

fn sources(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path, ending));
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A message that a source asks for: where, its key, and what it fills in.
struct Use {
    place: String,
    key: String,
    /// `None` where the source does not tell.
    names: Option<Names>,
}

/// Returns the text up to the bracket that closes the one before `text`, without nested brackets and quoted
/// strings.
fn outermost(text: &str) -> String {
    let (mut depth, mut is_quoted, mut plain) = (0, false, String::new());
    let mut chars = text.chars();
    while let Some(it) = chars.next() {
        match it {
            '\\' if is_quoted => drop(chars.next()),
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            _ if depth == 0 => plain.push(it),
            _ => {}
        }
    }
    plain
}

/// All uses of messages in the page's sources.
fn uses() -> Vec<Use> {
    let mut found = Vec::new();
    for (folder, ending, call) in [("src", "rs", "t!("), ("editor/src", "js", "text(")] {
        for path in sources(&here(folder), ending) {
            // These two speak about keys.
            if path.ends_with("bridge/locale.rs") || path.ends_with("locale/tests.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("it was just listed");
            for (at, _) in text.match_indices(call) {
                let is_name = |it: char| it.is_alphanumeric() || "_.#".contains(it);
                let line = text[..at].rfind('\n').map_or(0, |it| it + 1);
                if text[..at].ends_with(is_name) || text[line..at].contains("//") {
                    continue;
                }
                let rest = text[at + call.len()..].trim_start();
                let place = format!("{}:{}", path.display(), text[..at].matches('\n').count() + 1);
                let Some((key, after)) = rest.strip_prefix('"').and_then(|it| it.split_once('"')) else {
                    assert!(ending == "js", "{place}: a key is a literal");
                    continue;
                };
                let names = (ending == "rs").then(|| {
                    let plain = outermost(after).replace("==", "").replace("=>", "").replace("!=", "");
                    let before = plain.split('=').rev().skip(1);
                    let name =
                        |it: &str| it.trim().rsplit([',', ' ', '\n']).next().unwrap_or_default().to_owned();
                    before.map(name).collect()
                });
                found.push(Use { place, key: key.to_owned(), names });
            }
        }
    }
    found
}

#[test]
fn every_catalogue_is_read_without_a_fault() {
    for (language, _) in LANGUAGES {
        let (_, wrong) = native::bundle(language);
        assert_eq!(wrong, [""; 0]);
    }
}

#[test]
fn the_languages_are_those_of_the_folders_and_of_the_page() {
    let mut folders: Vec<String> = fs::read_dir(native::home())
        .expect("it is there")
        .flatten()
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    let mut all = LANGUAGES.map(|it| it.0);
    all.sort_unstable();
    assert_eq!(folders, all);
    let script = fs::read_to_string(here("editor/src/locale.js")).expect("it is there");
    let spelled = LANGUAGES.map(|it| format!("\"{}\"", it.0)).join(", ");
    assert!(script.contains(&format!("const LANGUAGES = [{spelled}];")), "locale.js has other languages");
    let page = fs::read_to_string(here("../static/index.html")).expect("it is there");
    for language in all.into_iter().filter(|it| *it != "en") {
        assert!(page.contains(&format!("dist/{language}.ftl\"")), "the page is built without {language}");
    }
}

#[test]
fn every_language_has_the_same_messages_with_the_same_names() {
    let english = messages("en");
    for (language, _) in LANGUAGES {
        let other = messages(language);
        let is_missing = |it: &&String| !other.contains_key(*it);
        let missing: Vec<_> = english.keys().filter(is_missing).collect();
        assert!(missing.is_empty(), "{language} lacks {missing:?}");
        for (key, names) in &other {
            assert_eq!(
                Some(names),
                english.get(key),
                "{language}: `{key}` fills in other things than in English"
            );
        }
    }
}

#[test]
fn every_message_that_is_asked_for_is_there_and_every_other_one_is_not() {
    let mut english = messages("en");
    // The formatter of numbers asks for it.
    let mut unused: BTreeSet<String> = english.keys().cloned().collect();
    unused.remove("number-decimal");
    for it in uses() {
        let Some(names) = english.get_mut(&it.key) else { panic!("{}: there is no `{}`", it.place, it.key) };
        if let Some(given) = &it.names {
            assert_eq!(given, names, "{}: `{}` is given other names than it has", it.place, it.key);
        }
        unused.remove(&it.key);
    }
    assert!(unused.is_empty(), "nobody asks for {unused:?}");
}

#[test]
fn every_message_can_be_written() {
    for (language, _) in LANGUAGES {
        let (bundle, _) = native::bundle(language);
        for (key, names) in messages(language) {
            for number in [0.0, 1.0, 2.0, 1234.5] {
                let args: Vec<_> =
                    names.iter().map(|it| (it.as_str(), MessageValue::Number(number))).collect();
                let (text, wrong) = native::said(&bundle, &key, &args);
                assert!(wrong.is_empty(), "{language}: `{key}`: {wrong:?}");
                assert!(!text.trim().is_empty(), "{language}: `{key}` says nothing");
                // The table of keys is made as HTML.
                assert!(!text.contains(['<', '&']), "{language}: `{key}` has a sign of HTML");
            }
        }
    }
}

/// Literals that are shown and are the same in every language: names, signs, keys, and text for machines.
const SAME: [&str; 24] = [
    "Isobar",
    "ArrowDown",
    "ArrowLeft",
    "ArrowRight",
    "ArrowUp",
    "Control",
    "Meta",
    "Shift",
    "Delete",
    "End",
    "Enter",
    "Escape",
    "Home",
    "PageDown",
    "PageUp",
    "ms",
    ".npz",
    "True",
    "False",
    "horizontal mean",
    "the level",
    "the field",
    "mean over {other}",
    "all {other}",
];

/// Attributes that are read aloud or shown.
const SHOWN: [&str; 6] = ["title", "aria-label", "aria-description", "placeholder", "alt", "label"];

/// The literals of a source without its tests, each with its line, and with what stands before it.
fn literals(text: &str) -> Vec<(usize, &str, &str)> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(step) = text[at..].find(['"', '/', '\'', '#']) {
        let start = at + step;
        let rest = &text[start..];
        at = start + 1;
        if rest.starts_with("//") {
            at = start + rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("'\"'") {
            at = start + 3;
        } else if rest.starts_with("#[") {
            at = start + rest.find("]\n").unwrap_or(rest.len());
        } else if rest.starts_with('"') {
            let mut end = start + 1;
            while !text[end..].starts_with('"') {
                end += if text[end..].starts_with('\\') { 2 } else { 1 };
                while !text.is_char_boundary(end) {
                    end += 1;
                }
            }
            let line = text[..start].matches('\n').count() + 1;
            found.push((line, text[..start].trim_end(), &text[start + 1..end]));
            at = end + 1;
        }
    }
    found
}

/// Whether a literal is words that somebody reads.
fn is_said(before: &str, literal: &str) -> bool {
    if before.ends_with("t!(") || SAME.contains(&literal) {
        return false;
    }
    let attribute = before.strip_suffix('=').filter(|it| it.ends_with(|it: char| it.is_ascii_alphanumeric()));
    let attribute = attribute.map(|it| it.rsplit([' ', '\n', '(']).next().unwrap_or_default());
    if attribute.is_some_and(|it| !SHOWN.contains(&it)) {
        return false;
    }
    // Placeholders are no words, and neither is text with signs or digits in it, as in `repeat(2, 1fr)`.
    let mut plain = literal.to_owned();
    while let Some(start) = plain.find('{') {
        let end = plain[start..].find('}').map_or(plain.len(), |it| start + it + 1);
        plain.replace_range(start..end, "0");
    }
    let words = plain.split([' ', ',', '.', ':', ';', '?', '!', '…', '→', '←']).filter(|it| it.len() > 1);
    // Words of capitals alone are names.
    let is_word = |it: &&str| {
        it.chars().all(char::is_alphabetic) && it.contains(char::is_lowercase) && !["NaN", "Inf"].contains(it)
    };
    let words: Vec<&str> = words.filter(is_word).collect();
    let is_node = attribute.is_some() || before.ends_with('>') && !before.ends_with("=>");
    let is_sentence = plain.contains(' ') || words.iter().any(|it| it.starts_with(char::is_uppercase));
    !words.is_empty() && (is_node || is_sentence)
}

#[test]
fn no_view_says_anything_that_no_catalogue_has() {
    let mut paths = vec![here("src/app.rs")];
    paths.extend(["src/panes", "src/content", "src/widgets"].iter().flat_map(|it| sources(&here(it), "rs")));
    // It names what style sheets colour.
    paths.retain(|it| !it.ends_with("content/highlight.rs"));
    let mut found = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("it was just listed");
        let said = literals(&text).into_iter().filter(|(_, before, it)| is_said(before, it));
        found.extend(said.map(|(line, _, it)| format!("{}:{line}: {it}", path.display())));
    }
    assert!(found.is_empty(), "these stand in no catalogue:\n{}", found.join("\n"));
}

#[test]
fn words_are_told_from_what_only_a_machine_reads() {
    let said = |source: &str| {
        let found = literals(source);
        found.into_iter().filter(|(_, before, it)| is_said(before, it)).map(|it| it.2.to_owned()).collect()
    };
    let none: Vec<String> = Vec::new();
    let said: &dyn Fn(&str) -> Vec<String> = &said;
    assert_eq!(said("view! { <p class=\"a b\">\"Run\"</p> }"), ["Run"]);
    assert_eq!(said("view! { <p title=\"run it\">{t!(\"bar-run\")}</p> }"), ["run it"]);
    assert_eq!(said("let it = \"two words\"; // \"a comment\""), ["two words"]);
    assert_eq!(said("match it { \"passed\" => format!(\"min({x:.0}px, 100vw - 2rem)\") }"), none);
    assert_eq!(said("#[expect(lint, reason = \"a good one\")]\nfn f() { g(\"Isobar\") }"), none);
}

#[test]
fn numbers_are_written_as_in_the_browser() {
    let said = native::number_of;
    assert_eq!(said(1234.0), "1234");
    assert_eq!(said(0.5), "0.5");
    assert_eq!(said(1.0 / 3.0), "0.333");
    assert_eq!(decimal("1.5e-3".to_owned()), "1.5e-3");
}

#[test]
fn a_key_that_nobody_wrote_stands_for_itself() {
    assert_eq!(super::text("no-such-key"), "no-such-key");
    assert_eq!(t!("direction"), "ltr");
}
