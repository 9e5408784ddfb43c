//! The service on small texts; `$0` is the caret.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::completion::complete;
use super::desk::Desk;
use super::highlight::highlights;
use super::hover::hover;
use super::scopes::OccurrenceRole;
use super::signature::signature;
use super::{Analysis, Edit, analysis::applied, folding, format, navigate, rename};
use isobar_front::config::Config;
use isobar_front::project::Project;
use isobar_ground::diag::FileId;
use isobar_reference::front::Fronts;

const DIFFUSION: &str = include_str!("../../../static/gallery/horizontal_diffusion.py");
const ADVECTION: &str = include_str!("../../../static/gallery/vertical_advection.py");
const TRANSPORT: &str = include_str!("../../../static/gallery/ppm_transport.py");
const PHYSICS: &str = include_str!("../../../static/gallery/column_physics.py");

/// A project with the caret of its main file, which is the first.
struct Desktop {
    project: Project,
    at: (FileId, u32),
    desk: Desk,
    session: Fronts,
    config: Config,
}

impl Desktop {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut project = Project { main: files[0].0.to_owned(), ..Project::default() };
        let mut caret = None;
        for (name, text) in files {
            if let Some(at) = text.find("$0") {
                caret = Some((*name, at));
            }
            project.files.insert((*name).to_owned(), text.replace("$0", "").into());
        }
        let at = caret.map_or((FileId(0), 0), |(name, at)| (project.file_id(name).unwrap(), position(at)));
        let (desk, session) = (Desk::default(), Fronts::default());
        Self { project, at, desk, session, config: Config::default() }
    }

    fn analysis(&mut self) -> &Analysis {
        self.desk.analyse(&mut self.session, &self.project, &self.config, Some(self.at))
    }
}

fn on_hover(files: &[(&str, &str)]) -> String {
    let mut desktop = Desktop::new(files);
    let (file, offset) = desktop.at;
    let Some(found) = hover(desktop.analysis(), file, offset) else { return "nothing".to_owned() };
    let mut out = format!("{}\n", found.code);
    for (label, text) in &found.rows {
        let _ = writeln!(out, "{label}: {text}");
    }
    out + &found.about
}

#[expect(clippy::needless_pass_by_value, reason = "an expectation is made for one check")]
fn check_hover(text: &str, expected: Expect) {
    expected.assert_eq(&on_hover(&[("main.py", text)]));
}

const LAPLACIAN: &str = "\
from gt4py.cartesian.gtscript import *

N = 2 + 1

@function
def twice(x, *, factor=2.0):
    \"\"\"Make it larger.

    Args:
        x: what to make larger
    \"\"\"
    half = x * 0.5
    return factor * half * 2.0

def laplacian(q: Field[float], o: Field[IJ, float], p: Field[float], w: float = 1.0):
    from __externals__ import flag
    with computation(PARALLEL), interval(...):
        lap = q[1, 0, 0] + q[-1, 0, 0] - 2.0 * q
        p = twice(lap[0, 1, 0], factor=w) * N
";

fn laplacian_at(word: &str, number: usize) -> String {
    let at = LAPLACIAN.match_indices(word).nth(number).expect(word).0;
    format!("{}$0{}", &LAPLACIAN[..at], &LAPLACIAN[at..])
}

#[test]
fn a_field_tells_what_it_asks_of_its_caller() {
    check_hover(
        &laplacian_at("q[1", 0),
        expect![[r#"
        q: Field[IJK, float64]
        kind: input field
        extent: I -1 to +1, J 0 to +1, K 0
        halo: points: 1 on both sides along I, 0 before and 1 after along J
        first use: line 18, read
        last use: line 18, read
    "#]],
    );
}

#[test]
fn a_temporary_tells_how_long_it_lives() {
    check_hover(
        &laplacian_at("lap =", 0),
        expect![[r#"
            lap: Field[IJK, float64]
            kind: temporary
            extent: I 0, J 0 to +1, K 0
            lifetime: within one vertical loop; gone after the passes
            first use: line 18, written
            last use: line 19, read
        "#]],
    );
}

#[test]
fn a_local_of_a_function_is_known_through_its_caller() {
    check_hover(
        &laplacian_at("half *", 0),
        expect![[r#"
        half: Field[IJK, float64]
        kind: temporary of a function
        extent: I 0, J 0, K 0
        lifetime: within one vertical loop; a value at the point after the passes, which takes no memory
        first use: line 12, written
        last use: line 13, read
    "#]],
    );
}

#[test]
fn functions_scalars_constants_and_words_tell_what_they_are() {
    check_hover(
        &laplacian_at("twice(lap", 0),
        expect![[r#"
        def twice(x, *, factor=2.0)
        kind: function, inlined where it is called
        Make it larger.

        Args:
            x: what to make larger"#]],
    );
    check_hover(
        &laplacian_at("w) * N", 0),
        expect![[r#"
        w: float64 = 1.0
        kind: scalar parameter
    "#]],
    );
    check_hover(
        &laplacian_at("N\n", 0),
        expect![[r#"
        N = 3
        kind: constant
        value: a number
    "#]],
    );
    check_hover(
        &laplacian_at("flag", 0),
        expect![[r#"
        flag
        kind: external, given while the stencil is built
        value: none yet; give it with `# @external`
    "#]],
    );
    check_hover(
        &laplacian_at("interval", 0),
        expect![[r#"
        interval(start, end)
        The levels from `start` to before `end`. A negative number counts from the end, `None` is the end, and `interval(...)` is all levels."#]],
    );
    check_hover(
        &laplacian_at("x *", 0),
        expect![[r#"
        x
        kind: parameter of a function
        what to make larger"#]],
    );
}

#[test]
fn while_a_line_is_broken_the_last_text_that_compiled_is_told() {
    let mut desktop = Desktop::new(&[("main.py", LAPLACIAN)]);
    desktop.analysis();
    let broken = laplacian_at("lap =", 0).replace("lap[0, 1, 0]", "lap[0, ");
    let at = broken.find("$0").unwrap();
    desktop.project = Project::of_one("main.py", &broken.replace("$0", ""));
    desktop.at = (FileId(0), position(at));
    let found = hover(desktop.analysis(), FileId(0), position(at)).unwrap();
    assert_eq!(found.code, "lap: Field[IJK, float64]");
    assert!(found.rows.contains(&("as of", "the last text that compiled".to_owned())), "{found:?}");
    assert!(found.rows.iter().all(|(label, _)| *label != "first use"), "{found:?}");
}

/// The first labels of a completion, with how many there are.
fn completed(files: &[(&str, &str)]) -> (String, Vec<String>) {
    let mut desktop = Desktop::new(files);
    let (file, offset) = desktop.at;
    let found = complete(desktop.analysis(), file, offset);
    let typed = desktop.project.text(file)[found.span.start as usize..found.span.end as usize].to_owned();
    (typed, found.items.iter().map(|it| it.label.clone()).collect())
}

fn labels(text: &str) -> Vec<String> {
    completed(&[("main.py", text)]).1
}

fn body(line: &str) -> String {
    format!(
        "def f(q: Field[float], s: Field[IJ, float], k: Field[K, float], w: float):\n    from __externals__ import i_start, j_end\n    with computation(PARALLEL), interval(...):\n        tmp = q\n        {line}\n"
    )
}

#[test]
fn the_names_of_a_body_go_before_the_words_of_the_language() {
    let found = labels(&body("tmp = q + $0"));
    assert_eq!(found[..7], ["q", "s", "k", "w", "i_start", "j_end", "tmp"]);
    assert!(found.contains(&"sqrt".to_owned()) && !found.contains(&"f".to_owned()));
}

#[test]
fn an_index_has_as_many_offsets_as_its_field_has_axes() {
    assert_eq!(labels(&body("tmp = q[$0"))[..4], ["0, 0, 0", "-1, 0, 0", "0, -1, 0", "0, 0, -1"]);
    assert_eq!(labels(&body("tmp = s[$0]"))[..3], ["0, 0", "-1, 0", "0, -1"]);
    assert_eq!(labels(&body("tmp = k[$0]"))[..3], ["0", "-1", "1"]);
    assert_eq!(labels(&body("tmp = tmp[0, 1, $0]")), ["0, 1, 0"]);
    assert_eq!(labels(&body("tmp = q[0,-$0]")), ["0, -1, 0", "0, -2, 0"]);
}

#[test]
fn orders_intervals_and_regions_are_offered_where_they_stand() {
    assert_eq!(labels("def f(q):\n    with computation($0"), ["PARALLEL", "FORWARD", "BACKWARD"]);
    assert_eq!(labels("def f(q):\n    with computation(FORWARD), interval($0)")[..2], ["...", "0, 1"]);
    let found = labels(&body("with horizontal(region[$0])"));
    assert_eq!(found[..3], ["I[0], :", "I[-1], :", "i_start, :"]);
    assert!(found.contains(&":, j_end".to_owned()));
    let found = labels(&body("with horizontal(region[i_start, $0])"));
    assert_eq!(found[0], "i_start, J[0]");
    assert_eq!(labels(&body("with horizontal($0)"))[0], "region");
}

#[test]
fn what_a_module_has_is_offered_behind_its_import_and_its_dot() {
    let lib = ("lib/more.py", "A = 1\n\n@function\ndef upwind(c, *, limit):\n    return c\n");
    let (_, found) = completed(&[("main.py", "from lib.more import $0"), lib]);
    assert_eq!(found, ["A", "upwind"]);
    let (_, found) = completed(&[("main.py", "import lib.more as m\nx = m.u$0"), lib]);
    assert_eq!(found, ["A", "upwind"]);
    let (typed, found) = completed(&[("main.py", "from lib.m$0"), lib]);
    assert_eq!((typed.as_str(), found[0].as_str()), ("lib.m", "lib.more"));
    assert!(labels("from __externals__ import $0").contains(&"i_start".to_owned()));
    assert!(labels("from ndsl.constants import $0").contains(&"GRAV".to_owned()));
    assert!(labels("import math\nx = math.$0").contains(&"pi".to_owned()));
    assert_eq!(labels(&body("tmp = q.$0")), ["at"]);
}

#[test]
fn a_call_offers_the_arguments_that_are_missing() {
    let lib = ("lib.py", "@function\ndef upwind(c, q: FloatField, *, limit=1.0):\n    return c\n");
    let main = "from lib import upwind\ndef f(a: Field[float]):\n    with computation(PARALLEL), interval(...):\n        a = upwind(a, $0)\n";
    let (_, found) = completed(&[("main.py", main), lib]);
    assert_eq!(found[..3], ["q=", "limit=", "a"]);
    let (_, found) = completed(&[("main.py", &main.replace("$0", "limit=2.0, $0")), lib]);
    assert_eq!(found[0], "a");
}

#[test]
fn a_signature_offers_types_and_a_new_line_statements() {
    assert!(
        labels("Temp = Field[IJ, float]\ndef f(q: $0").starts_with(&["Temp".to_owned(), "Field".to_owned()])
    );
    assert_eq!(labels("def f($0"), [""; 0]);
    assert_eq!(labels("def f(q: FloatField):\n    $0\n")[0], "with computation(PARALLEL), interval(...):");
    assert_eq!(labels("def f(q: FloatField):\n    with $0\n")[0], "computation(PARALLEL)");
}

#[test]
fn comments_offer_directives_and_strings_nothing() {
    assert!(labels("# @$0").contains(&"domain".to_owned()));
    let text = format!("# @input $0\n{}", body(""));
    assert_eq!(labels(&text), ["q", "s", "k"]);
    assert_eq!(labels("# @keep $0"), ["apart", "whole", "guarded"]);
    assert_eq!(labels("# a$0"), [""; 0]);
    assert_eq!(labels("x = 'a$0'"), [""; 0]);
    assert_eq!(labels("x = 1.$0"), [""; 0]);
}

/// The marked places of all files, as `file:line` with the line's text.
fn places(desktop: &Desktop, spans: &[isobar_ground::diag::Span]) -> Vec<String> {
    let place = |it: &isobar_ground::diag::Span| {
        let text = desktop.project.text(it.file);
        let line = text[..it.start as usize].matches('\n').count();
        format!("{}:{}", desktop.project.name(it.file), text.lines().nth(line).unwrap_or("").trim())
    };
    spans.iter().map(place).collect()
}

fn defined(files: &[(&str, &str)]) -> Vec<String> {
    let mut desktop = Desktop::new(files);
    let (file, offset) = desktop.at;
    let found = navigate::definition(desktop.analysis(), file, offset);
    places(&desktop, &found)
}

const LIB: (&str, &str) =
    ("lib.py", "GRAV = 9.8\n\n@function\ndef upwind(c, *, limit=1.0):\n    return c * GRAV\n");
const MAIN: &str = "\
# @external dt = 0.5
# @input q constant(1)
from lib import GRAV as G, upwind
import lib

def f(q: FloatField, limit: float):
    from __externals__ import dt
    with computation(PARALLEL), interval(...):
        limiter = q * G * lib.GRAV
        q = upwind(limiter, limit=limit) * dt
";

fn main_at(word: &str, number: usize) -> String {
    let at = MAIN.match_indices(word).nth(number).expect(word).0;
    format!("{}$0{}", &MAIN[..at], &MAIN[at..])
}

#[test]
fn a_definition_is_found_through_imports_aliases_and_modules() {
    for (word, number, expected) in [
        ("upwind", 1, "lib.py:def upwind(c, *, limit=1.0):"),
        ("G *", 0, "lib.py:GRAV = 9.8"),
        ("GRAV\n", 0, "lib.py:GRAV = 9.8"),
        ("lib\n", 0, "lib.py:GRAV = 9.8"),
        ("limit=limit", 0, "lib.py:def upwind(c, *, limit=1.0):"),
        ("limit) *", 0, "main.py:def f(q: FloatField, limit: float):"),
        ("dt\n", 1, "main.py:# @external dt = 0.5"),
        ("limiter,", 0, "main.py:limiter = q * G * lib.GRAV"),
        ("q constant", 0, "main.py:def f(q: FloatField, limit: float):"),
    ] {
        assert_eq!(defined(&[("main.py", &main_at(word, number)), LIB]), [expected], "{word}");
    }
    assert_eq!(defined(&[("main.py", &main_at("interval", 0)), LIB]), [""; 0]);
}

#[test]
fn references_are_found_in_all_files_and_in_directives() {
    let mut desktop = Desktop::new(&[("main.py", &main_at("q *", 0)), LIB]);
    let (file, offset) = desktop.at;
    let found = navigate::references(desktop.analysis(), file, offset);
    let roles: Vec<OccurrenceRole> = found.iter().map(|it| it.role).collect();
    assert_eq!(
        roles,
        [OccurrenceRole::Directive, OccurrenceRole::Declaration, OccurrenceRole::Read, OccurrenceRole::Write]
    );
}

fn renamed(files: &[(&str, &str)], new: &str) -> Result<BTreeMap<String, String>, String> {
    let mut desktop = Desktop::new(files);
    let (file, offset) = desktop.at;
    let edits = rename::rename(desktop.analysis(), file, offset, new)?;
    let files = applied(&desktop.project, &edits).files;
    Ok(files.into_iter().map(|(name, text)| (name, text.to_string())).collect())
}

#[test]
fn a_name_is_renamed_everywhere() {
    let rename = |word, number, new| renamed(&[("main.py", &main_at(word, number)), LIB], new).unwrap();
    let files = rename("upwind", 0, "upstream");
    assert!(files["lib.py"].contains("def upstream(c"));
    assert_eq!(files["main.py"], MAIN.replace("upwind", "upstream"));
    let files = rename("q *", 0, "phi");
    assert_eq!(files["main.py"].matches("phi").count(), 4, "{}", files["main.py"]);
    let files = rename("limit=limit", 0, "bound");
    assert!(files["lib.py"].contains("*, bound=1.0") && files["main.py"].contains("bound=limit"));
    let files = rename("dt\n", 1, "step");
    assert!(files["main.py"].contains("# @external step = 0.5") && files["main.py"].ends_with("* step\n"));
    let files = rename("G *", 0, "gravity");
    assert!(files["main.py"].contains("GRAV as gravity") && files["main.py"].contains("q * gravity *"));
}

#[test]
fn a_name_that_cannot_be_is_refused_with_the_reason() {
    let refused = |word, new: &str| renamed(&[("main.py", &main_at(word, 0)), LIB], new).unwrap_err();
    assert_eq!(
        refused("limiter", "2x"),
        "`2x` is no name: letters, digits and `_`, not beginning with a digit"
    );
    assert_eq!(
        refused("limiter", "while"),
        "`while` is no name: letters, digits and `_`, not beginning with a digit"
    );
    assert_eq!(refused("limiter", "sqrt"), "`sqrt` is a word of the language");
    assert_eq!(refused("limiter", "q"), "`q` is already a parameter of `f`");
    assert_eq!(refused("limiter", "G"), "`G` is already an imported name of the file");
    assert_eq!(refused("dt\n", "i_start"), "`i_start` is already the name of another external");
    assert_eq!(refused("PARALLEL", "x"), "`PARALLEL` is a word of the language");
    assert_eq!(refused("=", "x"), "there is no name here");
    let text = "from far import thing$0\nx = thing\n";
    assert_eq!(renamed(&[("main.py", text)], "x2").unwrap_err(), "`thing` comes from outside of the files");
    let text = "class A:\n    b = 1\nx = A.b$0\n";
    assert!(renamed(&[("main.py", text)], "c").unwrap_err().contains("belongs to a class"));
}

#[test]
fn a_new_name_that_would_hide_another_is_refused() {
    let text = "A = 1\n@function\ndef f(x):\n    B$0 = x\n    return A + B\n";
    assert_eq!(renamed(&[("main.py", text)], "A").unwrap_err(), "`A` is already a constant of the file");
    let text = "A$0 = 1\n@function\ndef f(x):\n    b = x\n    return A + b\n";
    assert_eq!(renamed(&[("main.py", text)], "b").unwrap_err(), "`b` is already a variable of `f`");
}

#[test]
fn a_call_tells_which_argument_is_being_written() {
    let at = |call: &str| {
        let text = LAPLACIAN.replace("twice(lap[0, 1, 0], factor=w)", call);
        let mut desktop = Desktop::new(&[("main.py", &text)]);
        let (file, offset) = desktop.at;
        let found = signature(desktop.analysis(), file, offset)?;
        let active = found.active.and_then(|it| found.params.get(it)).map(|(start, end, _)| {
            found.label.chars().skip(*start as usize).take((end - start) as usize).collect::<String>()
        });
        Some((found.label, active))
    };
    let twice =
        |active: Option<&str>| Some(("twice(x, *, factor=2.0)".to_owned(), active.map(str::to_owned)));
    assert_eq!(at("twice($0"), twice(Some("x")));
    assert_eq!(at("twice(lap[0, 1, 0]$0)"), twice(Some("x")));
    assert_eq!(at("twice(lap[0, 1, 0], $0)"), twice(None));
    assert_eq!(at("twice(lap[0, 1, 0], factor=$0w)"), twice(Some("factor=2.0")));
    assert_eq!(at("min(1.0, $0"), Some(("min(a, b)".to_owned(), Some("b".to_owned()))));
    assert_eq!(at("lap$0"), None);
}

#[test]
fn every_word_of_a_stencil_has_its_colour() {
    let mut desktop = Desktop::new(&[("main.py", MAIN), LIB]);
    let main = desktop.project.main_id().unwrap();
    let text = desktop.project.text(main).to_owned();
    let all = highlights(desktop.analysis(), main);
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for it in &all {
        let word = &text[it.span.start as usize..it.span.end as usize];
        let words = found.entry(it.class.name()).or_default();
        if !words.contains(&word) {
            words.push(word);
        }
    }
    assert_eq!(found["field"], ["q", "limit"]);
    assert_eq!(found["scalar"], ["limit"]);
    assert_eq!(found["temporary"], ["limiter"]);
    assert_eq!(found["external"], ["dt"]);
    assert_eq!(found["constant"], ["GRAV", "G"]);
    assert_eq!(found["function"], ["upwind", "f"]);
    assert_eq!(found["module"], ["lib"]);
    assert_eq!(found["range"], ["interval"]);
    let written: Vec<&str> = all
        .iter()
        .filter(|it| it.is_written)
        .map(|it| &text[it.span.start as usize..it.span.end as usize])
        .collect();
    assert_eq!(written, ["limiter", "q"]);
}

/// Everything that can be asked, at one place.
fn ask_all(analysis: &Analysis, file: FileId, offset: u32) -> usize {
    let hovered = hover(analysis, file, offset).map_or(0, |it| it.rows.len());
    let helped = signature(analysis, file, offset).map_or(0, |it| it.params.len());
    let named = rename::prepare(analysis, file, offset).map_or(0, |it| it.1.len());
    let found = navigate::definition(analysis, file, offset).len();
    let used = navigate::references(analysis, file, offset).len();
    hovered + helped + named + found + used + complete(analysis, file, offset).items.len()
}

/// Asks at the ends of some tokens, which is where things change, and beyond the text.
fn ask_of(text: &str) {
    let project = Project::of_one("main.py", text);
    let analysis = Analysis::new(&project, &Config::default());
    let file = FileId(0);
    let pieces = highlights(&analysis, file);
    assert!(pieces.windows(2).all(|it| it[0].span.end <= it[1].span.start), "pieces meet in:\n{text}");
    assert!(folding::folds(&analysis, file).iter().all(|it| it.span.end as usize <= text.len()));
    check_format(text, &analysis);
    let ends: Vec<u32> = analysis.index.tokens[0].iter().flat_map(|it| [it.start, it.end]).collect();
    let end = position(text.len());
    for at in ends.into_iter().rev().step_by(11).chain([0, end, end + 7]) {
        ask_all(&analysis, file, at);
    }
}

fn check_format(text: &str, analysis: &Analysis) {
    let edits: Vec<Edit> = format::format(analysis, FileId(0));
    let once = applied(&analysis.project, &edits);
    let again = format::format(&Analysis::new(&once, &Config::default()), FileId(0));
    assert!(again.is_empty(), "formatted twice, this differs:\n{text}\n{again:?}");
}

#[test]
fn a_text_that_breaks_off_anywhere_is_answered() {
    for text in [DIFFUSION, ADVECTION, TRANSPORT, PHYSICS] {
        let ends = text.char_indices().map(|(at, _)| at);
        for at in ends.step_by(157) {
            ask_of(&text[..at]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_text_that_is_mutilated_is_answered(
        which in 0_usize..4,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..12, 0_usize..14), 1..4),
    ) {
        let pieces = ["", "(", ")", "[", "]", ":", "\n", "\n    ", "#", "'", "é", "\t", "\\\n", ","];
        let mut text = [DIFFUSION, ADVECTION, TRANSPORT, PHYSICS][which].to_owned();
        for (at, length, piece) in cuts {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(end) {
                text.replace_range(at..end, pieces[piece]);
            }
        }
        ask_of(&text);
    }

    #[test]
    fn whatever_is_renamed_compiles_to_the_same_levels(which in 0_usize..4, at in any::<prop::sample::Index>()) {
        let text = [DIFFUSION, ADVECTION, TRANSPORT, PHYSICS][which];
        let project = Project::of_one("main.py", text);
        let analysis = Analysis::new(&project, &Config::default());
        let all = &analysis.index.occurrences[0];
        let span = all[at.index(all.len())].span;
        let compile = |project: &Project| {
            isobar_reference::front::front(project, &Config::default(), &mut isobar_ground::pass::NoHook)
        };
        if let Ok(edits) = rename::rename(&analysis, FileId(0), span.start, "quite_new") {
            let (old, new) = (compile(&project), compile(&applied(&project, &edits)));
            prop_assert_eq!(&old.notes.diagnostics, &new.notes.diagnostics);
            let oir = |it: &isobar_reference::front::Front| it.listing(isobar_reference::front::Stage::OIR).map(|it| {
                it.text.lines().count()
            });
            prop_assert_eq!(oir(&old), oir(&new));
        }
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).expect("texts of tests are short")
}
