//! Fixes on texts that are wrong in whatever way: carried out, they never make one worse.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::fmt::Write;
use std::path::PathBuf;

use isobar_compiler::config::Config;
use isobar_compiler::diag::mend::{Finding, mend, mend_surely};
use isobar_compiler::diag::{Diagnostic, FileId, Severity};
use isobar_compiler::frontend::parse::faults;
use isobar_compiler::pipeline::{NoHook, route};
use isobar_compiler::project::Project;
use isobar_tests::conformance::blocks;
use isobar_tests::{GALLERY, gallery_text, root};

/// The texts of the repository: the gallery, the stencils of the comparison with GT4Py, and those of the manual.
fn corpus() -> Vec<String> {
    let mut texts: Vec<String> = GALLERY.iter().map(|it| gallery_text(it)).collect();
    let of_folder = |folder: &str, ending: &str| {
        let paths = std::fs::read_dir(root().join(folder)).unwrap().map(|it| it.unwrap().path());
        let mut paths: Vec<PathBuf> =
            paths.filter(|it| it.extension().is_some_and(|it| it == ending)).collect();
        paths.sort();
        paths.into_iter().map(|it| std::fs::read_to_string(it).unwrap()).collect::<Vec<_>>()
    };
    texts.extend(of_folder("tests/agree/stencils", "py"));
    let pages = of_folder("tests/conformance", "md");
    texts.extend(pages.iter().flat_map(|it| blocks(it)).map(|it| it.text));
    texts
}

/// Returns the diagnostics of all stencils of a text, each fault once.
fn said(text: &str) -> Vec<Diagnostic> {
    let mut project = Project::of_one("main.py", text);
    let config = Config::default();
    let first = route::compile(&project, &config, &mut NoHook);
    if first.front.stencil.is_some() || first.front.stencils.len() < 2 {
        return first.notes.diagnostics;
    }
    let mut found = Vec::new();
    for (name, _) in &first.front.stencils {
        project.stencil = Some(name.clone());
        for it in route::compile(&project, &config, &mut NoHook).notes.diagnostics {
            if !found.contains(&it) {
                found.push(it);
            }
        }
    }
    found
}

fn errors(text: &str) -> usize {
    said(text).iter().filter(|it| it.severity == Severity::Error).count()
}

/// Numbers that look random, and are the same for the same seed (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((it ^ (it >> 31)) % u64::try_from(n.max(1)).unwrap()).unwrap()
    }
}

/// Right texts, each with the text that people write by mistake instead.
const SLIPS: [(&str, &str); 30] = [
    ("==", "="),
    ("= ", "=\u{a0}"),
    ("    ", "\u{a0}   "),
    (" - ", " \u{2212} "),
    ("(", ""),
    (")", ""),
    ("]", ""),
    (")", "]"),
    (":\n", "\n"),
    (",", ""),
    ("elif", "else if"),
    (" and ", " && "),
    (" if ", " if not "),
    ("float", "folat"),
    ("FloatField", "FloatFeild"),
    ("FloatField", "Field[np.int]"),
    ("FloatField", "Field[np.float64, IK]"),
    ("Field[float]", "Field[np.float]"),
    ("np.float64", "np.flaot64"),
    (", 0]", "]"),
    ("[0, ", "["),
    ("PARALLEL", "PARALEL"),
    ("min(", "min(1.0, "),
    (" < ", " < 0.0 < "),
    (" = ", " == "),
    (" = ", " = q = "),
    ("def ", "async def "),
    ("> 0.0", ""),
    ("0.0", "0"),
    ("interval(...)", "interval(-1)"),
];

/// A text with one to three slips, and now and then a character more or less.
fn mutated(text: &str, numbers: &mut Numbers) -> String {
    let mut text = text.to_owned();
    for _ in 0..=numbers.below(3) {
        let (right, wrong) = SLIPS[numbers.below(SLIPS.len())];
        let places: Vec<usize> = text.match_indices(right).map(|it| it.0).collect();
        if let Some(&at) = places.get(numbers.below(places.len())) {
            text.replace_range(at..at + right.len(), wrong);
        }
    }
    if numbers.below(4) == 0 {
        let places: Vec<usize> = text.char_indices().map(|it| it.0).collect();
        let at = places[numbers.below(places.len())];
        match numbers.below(2) {
            0 => drop(text.remove(at)),
            _ => text.insert(at, ['(', '=', 'x', '\n', '[', '.'][numbers.below(6)]),
        }
    }
    text
}

isobar_testing::over_seeds! {
    all_fixes_of_a_text_together_never_add_an_error: 0..3000 in 8 shards of all_fixes;
    a_fix_that_is_offered_breaks_no_syntax: 0..3000 in 4 shards of offered_fixes;
}

/// A text for each seed.
fn texts(seeds: &[u64]) -> impl Iterator<Item = String> {
    let corpus = corpus();
    seeds.iter().map(move |&seed| {
        let mut numbers = Numbers(seed);
        let which = numbers.below(corpus.len());
        mutated(&corpus[which], &mut numbers)
    })
}

fn all_fixes(seeds: &[u64]) {
    let (mut wrong, mut carried_out) = (String::new(), 0);
    for text in texts(seeds) {
        let check = |text: &str| {
            let found = said(text);
            Ok::<_, ()>(found.iter().map(|it| Finding::of(it, FileId(0))).collect())
        };
        let mended = mend_surely(&text, FileId(0), check).unwrap();
        carried_out += mended.carried_out;
        if mended.carried_out == 0 {
            assert_eq!(mended.text, text, "nothing was carried out");
            continue;
        }
        let (before, after) = (errors(&text), errors(&mended.text));
        if after > before || faults(&mended.text) > faults(&text) {
            let _ = writeln!(wrong, "{before} errors, then {after}:\n{text}\n{}\n", mended.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(carried_out >= seeds.len() / 20, "{carried_out} fixes: nothing was shown");
}

fn offered_fixes(seeds: &[u64]) {
    let mut offered = 0;
    for text in texts(seeds) {
        for found in said(&text) {
            for fix in &found.fixes {
                offered += 1;
                let (mended, count) = mend(&text, FileId(0), [fix]);
                assert_eq!(count, 1, "a fix of a file changes that file");
                assert!(
                    faults(&mended) <= faults(&text),
                    "{}: {}\n{text}\n{mended}",
                    found.message,
                    fix.title
                );
            }
        }
    }
    assert!(offered >= seeds.len() / 20, "{offered} fixes: nothing was shown");
}
