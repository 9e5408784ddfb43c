//! Inputs, from what is known and chosen to what is shown and sent.

use std::collections::BTreeMap;

use isobar_protocol::compile::{FieldParam, ScalarParam};
use isobar_protocol::worker::{DeclaredExternal, Defaults, ExternalValueKind, GuessedInputs};
use serde_json::{Value, json};

use super::*;

fn param(name: &str, dtype: &str, default: Option<Value>) -> ScalarParam {
    ScalarParam { name: name.to_owned(), dtype: dtype.to_owned(), access: "read".to_owned(), default }
}

fn map(entries: &[(&str, Value)]) -> BTreeMap<String, Value> {
    entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn texts(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn external(name: &str, wanted: ExternalValueKind) -> DeclaredExternal {
    DeclaredExternal { name: name.to_owned(), wanted, ..DeclaredExternal::default() }
}

#[test]
fn a_line_goes_before_a_default_and_the_user_before_both() {
    let params = [
        param("a", "float64", Some(json!(1.0))),
        param("b", "int32", Some(json!(2))),
        param("c", "bool", None),
    ];
    let found = scalars(&params, &map(&[("a", json!(0.5))]), &BTreeMap::new(), &map(&[("b", json!(7))]));
    assert_eq!(found[0].own(), Some(&("0.5".to_owned(), ValueOrigin::Line)));
    assert_eq!(found[1].own(), Some(&("2".to_owned(), ValueOrigin::Default)));
    assert_eq!(found[1].shown(), "7");
    assert!(found[2].is_missing() && !found[2].is_changed());
    let found = scalars(&params[2..], &BTreeMap::new(), &map(&[("c", json!(true))]), &BTreeMap::new());
    assert_eq!(found[0].own(), Some(&("True".to_owned(), ValueOrigin::MadeUp)));
}

#[test]
fn what_the_stencil_does_not_take_is_shown_and_never_sent() {
    let params = [param("n", "int32", None)];
    let chosen = map(&[("n", json!(0.5)), ("gone", json!(1))]);
    let found = scalars(&params, &BTreeMap::new(), &BTreeMap::new(), &chosen);
    assert!(matches!(found[0].user, UserValue::Refused(_)) && found[0].is_missing());
    assert!(!found[1].is_taken() && found[1].shown() == "1" && found[1].is_changed());
    assert_eq!(usable_scalars(&params, &chosen), BTreeMap::new());
    let usable = usable_scalars(&params, &map(&[("n", json!(3)), ("gone", json!(1))]));
    assert_eq!(usable, map(&[("n", json!(3))]));
}

#[test]
fn a_switch_shows_no_other_values_than_its_two() {
    let valued = |user: UserValue| {
        let of = InputType::External(ExternalValueKind::Condition);
        ValueInput { taken: Some(TakenInput { of, own: None }), user, ..ValueInput::default() }
    };
    assert_eq!(valued(UserValue::Usable("False".to_owned())).shown_in(), InputControl::Switch);
    assert_eq!(valued(UserValue::Usable("2".to_owned())).shown_in(), InputControl::Text);
    assert_eq!(valued(UserValue::None).shown_in(), InputControl::Switch);
}

#[test]
fn an_own_value_takes_the_users_back() {
    let found = scalars(&[param("a", "float64", Some(json!(1.0)))], &map(&[]), &map(&[]), &map(&[]));
    assert_eq!(found[0].read("2"), Ok(Some(json!(2.0))));
    assert_eq!(found[0].read("1"), Ok(None));
    assert!(found[0].read("x").is_err() && found[0].is_float());
}

#[test]
fn externals_are_those_of_the_text_and_those_that_are_left() {
    let declared = [
        external("order", ExternalValueKind::WholeNumber),
        external("f", ExternalValueKind::Function(vec![])),
    ];
    let chosen = map(&[("order", json!([1])), ("gone", json!(2))]);
    let found = externals(&declared, &chosen);
    assert_eq!(found.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["order", "f", "gone"]);
    assert!(matches!(found[0].user, UserValue::Refused(_)));
    assert_eq!(found[1].control(), InputControl::Function(vec![]));
    assert!(!found[2].is_taken());
    assert_eq!(readable(&chosen), map(&[("gone", json!(2))]));
}

#[test]
fn an_external_that_the_text_does_not_import_is_not_sent() {
    let declared = [external("order", ExternalValueKind::Number)];
    let mut externals = map(&[("order", json!(5)), ("gone", json!(1))]);
    keep_declared(&mut externals, &declared);
    assert_eq!(externals, map(&[("order", json!(5))]));
}

#[test]
fn a_field_has_the_users_generator_else_that_of_its_line_else_one_that_is_made_up() {
    let field = |name: &str, access: &str| FieldParam {
        name: name.to_owned(),
        dtype: "float64".to_owned(),
        axes: "IJK".to_owned(),
        data_dims: Vec::new(),
        access: access.to_owned(),
        boundary: [[0, 0]; 3],
    };
    let params =
        [field("a", "read"), field("b", "read"), field("c", "read"), field("d", "read"), field("e", "write")];
    let made = GuessedInputs { init: texts(&[("c", "made")]), ..GuessedInputs::default() };
    let inputs = texts(&[("a", "line"), ("b", "line")]);
    let defaults = Defaults { inputs, made, refused: texts(&[("a", "why")]), ..Defaults::default() };
    let chosen = texts(&[("a", "mine")]);
    let sources: Vec<_> = fields(&params, &defaults, &chosen).into_iter().map(|it| it.source).collect();
    let expected = [
        FieldSource::Chosen("mine".to_owned(), Some("why".to_owned())),
        FieldSource::Line("line".to_owned()),
        FieldSource::MadeUp("made".to_owned()),
        FieldSource::Missing,
        FieldSource::Zeros,
    ];
    assert_eq!(sources, expected);
    assert_eq!(fields(&[field("f", "none")], &defaults, &chosen)[0].source, FieldSource::Unused);
    assert_eq!(usable_inputs(&chosen, &defaults.refused), texts(&[]));
}

#[test]
fn values_of_the_user_are_not_counted_as_made_up() {
    let scalars = map(&[("a", json!(1)), ("b", json!(2))]);
    let made = GuessedInputs { scalars, init: texts(&[("q", "bell()")]), ..GuessedInputs::default() };
    assert_eq!(n_made_up(&made, &map(&[("b", json!(3))])), [1, 1, 0]);
}

#[test]
fn a_line_of_a_run_is_added_below_the_others() {
    assert_eq!(with_line("x = 1\n", "# @input q 1"), "# @input q 1\nx = 1\n");
    assert_eq!(
        with_line("# @title t\n# other\n\nx = 1 # @no\n", "# L"),
        "# @title t\n# L\n# other\n\nx = 1 # @no\n"
    );
    assert_eq!(with_line("# @title t", "# L"), "# @title t\n# L\n");
}
