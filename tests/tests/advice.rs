//! The help of a diagnostic leads to a text that compiles: the pages of `tests/advice`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use isobar_compiler::diag::{Diagnostic, Severity};
use isobar_compiler::pipeline::{NoHook, route};
use isobar_compiler::project::Project;
use isobar_tests::advice::{Constructor, constructors};
use isobar_tests::conformance::{Block, blocks, call, config};
use isobar_tests::root;

/// A text that a diagnostic is about, and the texts that its help leads to.
struct Case {
    /// `rules.md:6, self_read_beside`
    place: String,
    /// `rules::self_read_beside`
    constructor: String,
    wrong: Block,
    mended: Vec<Block>,
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<_> =
        std::fs::read_dir(root().join("tests/advice")).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let mut cases: Vec<Case> = Vec::new();
    for path in paths.iter().filter(|it| it.extension().is_some_and(|it| it == "md")) {
        let module = path.file_stem().unwrap().to_string_lossy();
        let mut heading = String::new();
        for block in blocks(&std::fs::read_to_string(path).unwrap()) {
            if block.heading == heading {
                cases.last_mut().unwrap().mended.push(block);
                continue;
            }
            block.heading.clone_into(&mut heading);
            cases.push(Case {
                place: format!("{module}.md:{}, {heading}", block.line),
                constructor: format!("{module}::{}", heading.split(',').next().unwrap()),
                wrong: block,
                mended: Vec::new(),
            });
        }
    }
    cases
}

/// The lists of the page that says what has no case.
#[derive(Default)]
struct Exceptions {
    /// Constructors, with the reasons.
    constructors: BTreeMap<String, String>,
    /// Words that people type in another place than the text of a stencil.
    words: BTreeSet<String>,
}

fn exceptions() -> Exceptions {
    let page = std::fs::read_to_string(root().join("tests/advice/README.md")).unwrap();
    let (mut heading, mut found) = ("", Exceptions::default());
    for line in page.lines() {
        heading = line.strip_prefix("## ").unwrap_or(heading);
        let Some((entry, reason)) = line.strip_prefix("- `").and_then(|it| it.split_once("`: ")) else {
            continue;
        };
        if heading.starts_with("Constructors") {
            found.constructors.insert(entry.to_owned(), reason.to_owned());
        } else if heading.starts_with("Words") {
            found.words.insert(entry.to_owned());
        }
    }
    found
}

/// The diagnostics of a text, and of its call where it describes one.
fn said(block: &Block) -> Vec<Diagnostic> {
    let mut project = Project::of_one("main.py", &block.text);
    project.files.extend(block.modules.iter().map(|(name, text)| (name.clone(), text.as_str().into())));
    project.stencil = block.lines_of("@stencil").next().map(str::to_owned);
    let compilation = route::compile(&project, &config(block).unwrap(), &mut NoHook);
    let mut found = compilation.notes.diagnostics.clone();
    if compilation.has_errors() || compilation.front.directives.domain.is_none() {
        return found;
    }
    let call = call(block, &compilation, compilation.front.signature.as_ref().unwrap()).unwrap();
    found.extend(compilation.front.bind(call).err().into_iter().flatten());
    found
}

#[test]
fn what_a_help_says_can_be_typed_in() {
    let (constructors, exceptions) = (constructors().unwrap(), exceptions());
    let mut wrong = String::new();
    let (mut shown, mut typed_elsewhere) = (BTreeMap::<String, BTreeSet<String>>::new(), BTreeSet::new());
    let cases = cases();
    let mut n_mended = 0;
    for case in &cases {
        n_mended += case.mended.len();
        let mut faults = Vec::new();
        match constructors.get(&case.constructor) {
            Some(constructor) => {
                let shown = shown.entry(case.constructor.clone()).or_default();
                check(case, constructor, &exceptions.words, shown, &mut typed_elsewhere, &mut faults);
            }
            None => faults.push("no constructor with a help has this name".to_owned()),
        }
        for it in faults {
            let _ = writeln!(wrong, "{}: {it}", case.place);
        }
    }
    for (name, constructor) in &constructors {
        let (shown, is_exempt) = (shown.get(name), exceptions.constructors.contains_key(name));
        match shown {
            Some(_) if is_exempt => {
                let _ = writeln!(wrong, "{name} has a case, and is listed as one without");
            }
            None if !is_exempt => {
                let _ = writeln!(wrong, "{name} has no case: {:?}", constructor.helps);
            }
            Some(shown) => {
                for it in constructor.helps.iter().filter(|it| !shown.contains(*it)) {
                    let _ = writeln!(wrong, "{name}: no case shows `{it}`");
                }
            }
            None => {}
        }
    }
    for name in exceptions.constructors.keys().filter(|it| !constructors.contains_key(*it)) {
        let _ = writeln!(wrong, "{name} is listed, and no constructor with a help has this name");
    }
    for word in exceptions.words.difference(&typed_elsewhere) {
        let _ = writeln!(wrong, "`{word}` is listed, and no help says it");
    }
    assert!(wrong.is_empty(), "of {} cases with {n_mended} mended texts:\n{wrong}", cases.len());
}

fn check(
    case: &Case,
    constructor: &Constructor,
    words_elsewhere: &BTreeSet<String>,
    shown: &mut BTreeSet<String>,
    typed_elsewhere: &mut BTreeSet<String>,
    faults: &mut Vec<String>,
) {
    let found = said(&case.wrong);
    let is_of = |it: &&Diagnostic| {
        let help = it.help.as_deref().unwrap_or_default();
        constructor.may_say(it.code.0, &it.message) && constructor.templates_of(help).next().is_some()
    };
    let Some(diagnostic) = found.iter().find(is_of) else {
        let told: Vec<String> =
            found.iter().map(|it| format!("{} {}: {:?}", it.code, it.message, it.help)).collect();
        return faults.push(format!("it is not said, but {told:#?}"));
    };
    let help = diagnostic.help.as_deref().unwrap_or_default();
    shown.extend(constructor.templates_of(help).map(str::to_owned));
    if case.mended.is_empty() {
        faults.push("there is no mended text".to_owned());
    }
    let others = found.iter().map(|it| it.code.0).filter(|it| *it != diagnostic.code.0);
    for block in &case.mended {
        let expected = block.diagnostics();
        let expected: BTreeSet<&str> = expected.iter().map(|it| it.2.as_str()).collect();
        let after = said(block);
        let codes: BTreeSet<&str> = after.iter().map(|it| it.code.0).collect();
        for it in &after {
            let is_allowed = expected.contains(it.code.0) || others.clone().any(|code| code == it.code.0);
            if it.severity == Severity::Error || !is_allowed {
                faults.push(format!("`{help}` leads to {} {} in line {}", it.code, it.message, block.line));
            }
        }
        for it in expected.difference(&codes) {
            faults.push(format!("{it} is not said in line {}", block.line));
        }
    }
    for snippet in help.split('`').skip(1).step_by(2) {
        if words_elsewhere.contains(snippet) {
            typed_elsewhere.insert(snippet.to_owned());
        } else if !case.mended.iter().any(|it| has(it, snippet)) {
            faults.push(format!("no mended text has `{snippet}` of `{help}`"));
        }
    }
}

/// Whether a text, or what stands beside it, has what a help says in backticks.
fn has(block: &Block, snippet: &str) -> bool {
    if snippet.starts_with("{\"") {
        let wanted: BTreeMap<String, serde_json::Value> = serde_json::from_str(snippet).unwrap();
        let mut given = block.values_of("external");
        given.extend(block.values_of("dtype"));
        let given: Vec<_> =
            given.iter().map(|it| (it.0, serde_json::from_str::<serde_json::Value>(it.1).unwrap())).collect();
        return wanted.iter().all(|(name, value)| given.contains(&(name.as_str(), value.clone())));
    }
    let wanted = snippet.replace("--stencil ", "@stencil ");
    let text: Vec<&str> = block
        .text
        .lines()
        .flat_map(|it| {
            if it.starts_with("# @") { it } else { it.split('#').next().unwrap_or_default() }.lines()
        })
        .flat_map(words)
        .collect();
    let wanted = words(&wanted);
    (0..=text.len()).any(|at| starts(&text[at..], &wanted))
}

/// Words, numbers and signs, one by one, with `...` as one of them.
fn words(text: &str) -> Vec<&str> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '.' if rest.starts_with("...") => 3,
            it if is_word(it) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            it => it.len_utf8(),
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

/// Whether a text starts with what a help says: `...` is any text, `n` is any word.
fn starts(text: &[&str], wanted: &[&str]) -> bool {
    match (wanted, text) {
        ([], _) => true,
        (["...", wanted @ ..], _) => (0..=text.len()).any(|it| starts(&text[it..], wanted)),
        ([first, wanted @ ..], [word, text @ ..]) => {
            let is_any = *first == "n" && word.starts_with(|it: char| it.is_alphanumeric());
            (is_any || first == word) && starts(text, wanted)
        }
        ([_, ..], []) => false,
    }
}

#[test]
fn tests_that_stand_for_a_case_exist() {
    for (name, reason) in exceptions().constructors {
        let parts: Vec<&str> = reason.split('`').skip(1).step_by(2).collect();
        let [test, file] = parts.as_slice() else {
            assert!(parts.is_empty(), "{name}: {reason}");
            continue;
        };
        let source = std::fs::read_to_string(root().join(file)).unwrap();
        assert!(source.contains(&format!("fn {test}(")), "{name}: there is no `{test}` in {file}");
    }
}
