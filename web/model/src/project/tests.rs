//! Events of the workspace, and the files and choices that follow.

use std::collections::BTreeMap;

use isobar_protocol::diagnostic::{Edit, Position};
use isobar_protocol::request::{Constants, Tile};
use isobar_protocol::share::State;
use serde_json::json;

use super::*;

const LET_GO: [ProjectEffect; 1] = [ProjectEffect::LetGoOfLink];

fn files(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    all.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn opened(state: State) -> ProjectState {
    let mut project = ProjectState::default();
    assert_eq!(project.take(ProjectEvent::Opened(Box::new(state))), []);
    project
}

fn of_files(all: &[(&str, &str)]) -> ProjectState {
    opened(State { files: files(all), ..State::default() })
}

/// Takes an event of the user, and tells whether it was an edit.
fn is_edit(project: &mut ProjectState, event: ProjectEvent) -> bool {
    let before = project.revision;
    let effects = project.take(event);
    let is_edit = project.revision != before;
    assert!(!is_edit || effects == LET_GO);
    is_edit
}

#[test]
fn a_typed_text_is_an_edit_unless_it_is_the_same() {
    let mut project = of_files(&[("main.py", "a"), ("b.py", "b")]);
    assert!(!is_edit(&mut project, ProjectEvent::Typed("a".to_owned())));
    assert!(is_edit(&mut project, ProjectEvent::Typed("c".to_owned())));
    assert_eq!((project.text(), project.text_of("b.py")), ("c", Some("b")));
    assert_eq!(project.request().files, files(&[("main.py", "c"), ("b.py", "b")]));
}

#[test]
fn a_workspace_opens_with_its_main_file_or_the_first() {
    let project = opened(State::default());
    assert_eq!((project.main(), project.shown(), project.text()), (MAIN, MAIN, ""));
    assert_eq!((project.revision, project.opened), (2, 1));
    let project = of_files(&[("b.py", "b"), ("c.py", "c")]);
    assert_eq!((project.main(), project.text()), ("b.py", "b"));
    assert_eq!(project.state().main.as_deref(), Some("b.py"));
    let main = Some("d.py".to_owned());
    let project = opened(State { main, files: files(&[("b.py", "b")]), ..State::default() });
    assert_eq!(project.names(), ["d.py", "b.py"]);
    assert_eq!(project.text(), "");
}

#[test]
fn choices_that_are_the_usual_ones_are_none() {
    let constants = Some(Constants::Ufs);
    let mut project = opened(State { precision: Some(64), constants, ..State::default() });
    let plain = State { files: files(&[(MAIN, "")]), ..State::default() };
    assert_eq!(project.state(), &plain);
    assert!(is_edit(&mut project, ProjectEvent::PrecisionChosen(32)));
    assert!(is_edit(&mut project, ProjectEvent::ConstantsChosen(Constants::Geos)));
    assert_eq!((project.precision(), project.n_model_choices()), (32, 1));
    assert_eq!(project.request().precision, Some(32));
    project.take(ProjectEvent::PrecisionChosen(64));
    project.take(ProjectEvent::ConstantsChosen(Constants::Ufs));
    project.take(ProjectEvent::TileChosen(Tile::Single));
    assert_eq!(project.state(), &plain);
}

#[test]
fn a_file_that_is_shown_is_no_edit_and_one_that_there_is_not_is_not_shown() {
    let mut project = of_files(&[("main.py", "a"), ("b.py", "b")]);
    let before = project.revision;
    assert_eq!(project.take(ProjectEvent::FileShown("b.py".to_owned())), []);
    project.take(ProjectEvent::FileShown("c.py".to_owned()));
    assert_eq!((project.shown(), project.main(), project.revision), ("b.py", MAIN, before));
}

#[test]
fn another_main_file_has_a_stencil_of_its_own() {
    let mut project = of_files(&[("main.py", "a"), ("b.py", "b")]);
    project.take(ProjectEvent::StencilChosen("s".to_owned()));
    assert_eq!((project.opened, project.state().stencil.as_deref()), (2, Some("s")));
    assert!(is_edit(&mut project, ProjectEvent::MainChosen("b.py".to_owned())));
    assert_eq!((project.main(), project.shown()), ("b.py", MAIN));
    assert_eq!(project.state().stencil, None);
    assert_eq!(project.names(), ["b.py", MAIN]);
    let (file, name) = (MAIN.to_owned(), "t".to_owned());
    assert!(is_edit(&mut project, ProjectEvent::StencilPicked { file, name }));
    assert_eq!((project.state().main.as_deref(), project.state().stencil.as_deref()), (None, Some("t")));
    project.take(ProjectEvent::StencilChosen(String::new()));
    assert_eq!(project.state().stencil, None);
}

#[test]
fn files_come_and_get_other_names() {
    let mut project = of_files(&[("main.py", "a")]);
    let (name, text) = ("b.py".to_owned(), "b".to_owned());
    assert!(is_edit(&mut project, ProjectEvent::FileAdded { name, text }));
    assert_eq!((project.shown(), project.text()), ("b.py", "b"));
    assert!(is_edit(&mut project, ProjectEvent::FilesAdded(files(&[("c.py", "c")]))));
    let (from, to) = ("b.py".to_owned(), "d.py".to_owned());
    assert!(is_edit(&mut project, ProjectEvent::FileRenamed { from, to }));
    assert_eq!((project.shown(), project.text(), project.main()), ("d.py", "b", MAIN));
    let (from, to) = (MAIN.to_owned(), "e.py".to_owned());
    project.take(ProjectEvent::FileRenamed { from, to });
    assert_eq!((project.shown(), project.main()), ("d.py", "e.py"));
    assert_eq!(project.state().files, files(&[("c.py", "c"), ("d.py", "b"), ("e.py", "a")]));
}

#[test]
fn a_file_that_goes_gives_way_to_the_main_one_and_the_last_one_stays() {
    let mut project = of_files(&[("main.py", "a"), ("b.py", "b")]);
    project.take(ProjectEvent::StencilChosen("s".to_owned()));
    let close =
        |name: &str, main: &str| ProjectEvent::FileClosed { name: name.to_owned(), main: main.to_owned() };
    assert!(is_edit(&mut project, close(MAIN, "b.py")));
    assert_eq!((project.shown(), project.main(), project.text()), ("b.py", "b.py", "b"));
    assert_eq!((project.state().stencil.as_deref(), project.names().len()), (None, 1));
    assert!(!is_edit(&mut project, close("b.py", "b.py")));
    assert!(!is_edit(&mut project, close("b.py", "gone.py")));
    assert_eq!(project.names(), ["b.py"]);
}

#[test]
fn files_that_take_the_place_of_others_begin_with_the_choices_of_before() {
    let gallery = Some("blur".to_owned());
    let mut project = opened(State { precision: Some(32), gallery, ..State::default() });
    project.take(ProjectEvent::DomainChosen([8, 8, 8]));
    project.take(ProjectEvent::PrecisionChosen(64));
    let replaced = ProjectEvent::Replaced { files: files(&[("b.py", "b")]), main: Some("b.py".to_owned()) };
    assert_eq!(project.take(replaced), LET_GO);
    let State { precision, domain, gallery, .. } = project.state();
    assert_eq!((*precision, *domain, gallery.as_deref()), (Some(32), None, None));
    assert_eq!((project.names(), project.opened), (vec!["b.py".to_owned()], 2));
}

#[test]
fn edits_of_other_files_are_carried_out_from_the_last_on() {
    let mut project = of_files(&[("main.py", "a"), ("b.py", "one two\nthree\n")]);
    let edit = |file: &str, line, start, end, text: &str| Edit {
        file: file.to_owned(),
        start: Position { line, col: start },
        end: Position { line, col: end },
        text: text.to_owned(),
    };
    let edits = vec![
        edit("b.py", 1, 1, 4, "eleven"),
        edit("b.py", 1, 5, 8, "twelve"),
        edit("b.py", 2, 1, 6, "é"),
        edit("gone.py", 1, 1, 1, "x"),
        edit(MAIN, 1, 1, 2, "the editor's own"),
    ];
    let before = project.revision;
    // They are the editor's work on names, which the link has to be told of no more than of an undone step.
    assert_eq!(project.take(ProjectEvent::OthersEdited(edits)), []);
    assert_eq!(project.text_of("b.py"), Some("eleven twelve\né\n"));
    assert_eq!((project.text(), project.revision), ("a", before + 3));
}

#[test]
fn values_are_compiled_with_where_the_compiler_reads_them() {
    let mut project = ProjectState::default();
    let scalar = |value| ProjectEvent::ScalarSet("a".to_owned(), value);
    let before = project.revision;
    assert_eq!(project.take(scalar(Some(json!(1.5)))), LET_GO);
    assert_eq!(project.take(ProjectEvent::DomainChosen([4, 4, 4])), LET_GO);
    assert_eq!(project.revision, before);
    let external = |value| ProjectEvent::ExternalSet("n".to_owned(), value);
    assert!(is_edit(&mut project, external(Some(json!(3)))));
    assert!(!is_edit(&mut project, external(Some(json!(3)))));
    let generator = |text: &str| ProjectEvent::GeneratorSet("q".to_owned(), Some(text.to_owned()));
    assert!(is_edit(&mut project, generator("bell()")));
    assert_eq!(project.request().init.map(|it| it.len()), Some(1));
    assert!(is_edit(&mut project, ProjectEvent::GeneratorSet("q".to_owned(), None)));
    assert_eq!(project.request().init, None);
    assert!(is_edit(&mut project, external(None)));
    assert!(!is_edit(&mut project, external(None)));
}

#[test]
fn an_external_that_cannot_be_read_is_kept_and_not_asked_with() {
    let mut project = ProjectState::default();
    project.take(ProjectEvent::ExternalSet("n".to_owned(), Some(json!([1]))));
    assert_eq!(project.state().externals.len(), 1);
    assert!(project.request().externals.is_empty());
}

#[test]
fn choices_that_were_written_into_the_text_are_its_own() {
    let mut project = ProjectState::default();
    for name in ["a", "b"] {
        project.take(ProjectEvent::ScalarSet(name.to_owned(), Some(json!(1))));
        project.take(ProjectEvent::GeneratorSet(name.to_owned(), Some("bell()".to_owned())));
    }
    project.take(ProjectEvent::DomainChosen([4, 4, 4]));
    let written = ["a".to_owned()];
    let event = ProjectEvent::WrittenDown { scalars: written.clone().into(), inputs: written.into() };
    assert_eq!(project.take(event), []);
    let State { domain, scalars, inputs, .. } = project.state();
    assert_eq!((*domain, scalars.len(), inputs.len()), (None, 1, 1));
}

#[test]
fn passes_are_left_out_one_by_one_and_put_back_at_once() {
    let mut project = ProjectState::default();
    let toggle = |pass: &str| ProjectEvent::PassToggled(pass.to_owned());
    assert!(is_edit(&mut project, toggle("a")) && is_edit(&mut project, toggle("b")));
    assert!(is_edit(&mut project, toggle("a")));
    assert_eq!(project.request().passes.skip, ["b"]);
    assert!(is_edit(&mut project, ProjectEvent::AllPassesWanted));
    assert!(project.state().skip.is_empty());
}
