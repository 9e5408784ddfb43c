//! The inputs of a run: scalars, externals and fields of the stencil, and the origins of their values.

use std::collections::BTreeMap;

use isobar_protocol::compile::{FieldParam, ScalarParam};
use isobar_protocol::worker::{DeclaredExternal, ExternalValueKind};
use serde_json::{Value, json};

use super::values;
use crate::bridge::locale::t;

/// A scalar or an external, as it is shown and changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueInput {
    pub name: String,
    /// The type of a scalar, or what an external is used as.
    pub dtype: Option<String>,
    pub control: InputControl,
    /// The value unless the user sets another one, and its origin.
    pub own: Option<(String, ValueOrigin)>,
    /// The user's value, if it can be used.
    pub chosen: Option<String>,
    /// Why the value of the user or of a link cannot be used.
    pub problem: Option<String>,
    /// Whether the stencil takes it. Otherwise it is left over from an earlier text, and no run hears of it.
    pub is_taken: bool,
}

/// How a value is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InputControl {
    #[default]
    Text,
    /// `True` or `False`.
    Switch,
    /// One of these functions of the files.
    Function(Vec<String>),
}

impl InputControl {
    /// That of an external which is used as this.
    #[must_use]
    pub fn of_external(wanted: &ExternalValueKind) -> Self {
        match wanted {
            ExternalValueKind::Condition => InputControl::Switch,
            ExternalValueKind::Function(names) => InputControl::Function(names.clone()),
            ExternalValueKind::Number
            | ExternalValueKind::WholeNumber
            | ExternalValueKind::Position
            | ExternalValueKind::Object => InputControl::Text,
        }
    }
}

/// The use of an external, in a word; nothing if it may be anything.
#[must_use]
pub fn kind(wanted: &ExternalValueKind) -> Option<&'static str> {
    match wanted {
        ExternalValueKind::Number => None,
        ExternalValueKind::WholeNumber => Some(t!("state-inputs-whole-number")),
        ExternalValueKind::Condition => Some(t!("state-inputs-bool")),
        ExternalValueKind::Position => Some(t!("state-inputs-position")),
        ExternalValueKind::Object => Some(t!("state-inputs-object")),
        ExternalValueKind::Function(_) => Some(t!("state-inputs-function")),
    }
}

/// A function as the value of an external, spelled.
#[must_use]
pub fn function(name: &str) -> String {
    values::spelled(&json!({ "function": name }))
}

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// A `# @scalar` or `# @external` line.
    Line,
    /// The `def` of the stencil.
    Default,
    /// The compiler, which knows some externals by name.
    Compiler,
    /// Nobody: it is made up.
    MadeUp,
}

/// Where the values of a field come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldSource {
    /// The generator of an `# @input` line.
    Line(String),
    /// It is written before it is read.
    Zeros,
    /// The user's generator, in place of the text's or of one that is made up, and why it cannot be read.
    Chosen(String, Option<String>),
    /// A generator that is made up.
    MadeUp(String),
    /// It is read, and nothing gives it values.
    Missing,
    /// Nothing uses it.
    Unused,
}

/// A field parameter, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldInput {
    pub param: FieldParam,
    pub source: FieldSource,
}

impl ValueInput {
    /// The value that a run takes.
    #[must_use]
    pub fn shown(&self) -> String {
        self.chosen.clone().or_else(|| self.own.as_ref().map(|(value, _)| value.clone())).unwrap_or_default()
    }

    /// The control that can show the value: what is neither `True` nor `False` is written out.
    #[must_use]
    pub fn shown_in(&self) -> InputControl {
        match &self.control {
            InputControl::Switch if !matches!(&*self.shown(), "" | "True" | "False") => InputControl::Text,
            it => it.clone(),
        }
    }

    /// Whether a run would ask for it in vain.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.is_taken && self.own.is_none() && self.chosen.is_none()
    }

    /// Whether there is something to take back.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.chosen.is_some() || self.problem.is_some()
    }
}

/// The scalars of a signature, then those that the user set for an earlier text.
#[must_use]
pub fn scalars(
    params: &[ScalarParam],
    of_lines: &BTreeMap<String, Value>,
    made_up: &BTreeMap<String, Value>,
    chosen: &BTreeMap<String, Value>,
) -> Vec<ValueInput> {
    let taken = params.iter().map(|param| {
        let line = of_lines.get(&param.name).map(|it| (values::spelled(it), ValueOrigin::Line));
        let default = || Some((values::spelled(param.default.as_ref()?), ValueOrigin::Default));
        let made = || Some((values::spelled(made_up.get(&param.name)?), ValueOrigin::MadeUp));
        ValueInput {
            name: param.name.clone(),
            dtype: Some(param.dtype.clone()),
            control: if param.dtype == "bool" { InputControl::Switch } else { InputControl::Text },
            own: line.or_else(default).or_else(made),
            is_taken: true,
            ..said(chosen.get(&param.name), |text| values::scalar(text, &param.dtype))
        }
    });
    let is_left = |name: &str| params.iter().all(|it| it.name != name);
    taken.chain(left(chosen, is_left)).collect()
}

/// Reads the user's value, or tells why it cannot be read.
#[must_use]
pub fn said(chosen: Option<&Value>, read: impl Fn(&str) -> Result<Value, String>) -> ValueInput {
    let text = chosen.map(values::spelled);
    let problem = text.as_deref().and_then(|it| read(it).err());
    ValueInput { chosen: text.filter(|_| problem.is_none()), problem, ..ValueInput::default() }
}

/// Values that were set for names which the text does not have any more.
pub fn left(
    chosen: &BTreeMap<String, Value>,
    is_left: impl Fn(&str) -> bool,
) -> impl Iterator<Item = ValueInput> {
    chosen.iter().filter(move |(name, _)| is_left(name)).map(|(name, value)| ValueInput {
        name: name.clone(),
        chosen: Some(values::spelled(value)),
        ..ValueInput::default()
    })
}

/// Those of the user's scalars that a run can use.
#[must_use]
pub fn usable(params: &[ScalarParam], chosen: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let read = |param: &ScalarParam| {
        let value = values::scalar(&values::spelled(chosen.get(&param.name)?), &param.dtype).ok()?;
        Some((param.name.clone(), value))
    };
    params.iter().filter_map(read).collect()
}

/// Leaves those out that the text does not declare.
pub fn keep_declared(externals: &mut BTreeMap<String, Value>, declared: &[DeclaredExternal]) {
    externals.retain(|name, _| declared.iter().any(|it| it.name == *name));
}

/// The text with a further line of a run: below the others, or at its top.
#[must_use]
pub fn with_line(text: &str, line: &str) -> String {
    let is_of_run =
        |it: &str| it.trim_start().strip_prefix('#').is_some_and(|it| it.trim_start().starts_with('@'));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = lines.iter().take_while(|it| it.trim().is_empty() || it.trim_start().starts_with('#'));
    let at = head.enumerate().filter(|(_, it)| is_of_run(it)).last().map_or(0, |(at, _)| at + 1);
    let (before, after) = (lines[..at].concat(), lines[at..].concat());
    let edge = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    format!("{before}{edge}{line}\n{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn param(name: &str, dtype: &str, default: Option<Value>) -> ScalarParam {
        ScalarParam { name: name.to_owned(), dtype: dtype.to_owned(), access: "read".to_owned(), default }
    }

    fn map(entries: &[(&str, Value)]) -> BTreeMap<String, Value> {
        entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn a_line_goes_before_a_default_and_the_user_before_both() {
        let params = [
            param("a", "float64", Some(json!(1.0))),
            param("b", "int32", Some(json!(2))),
            param("c", "bool", None),
        ];
        let found = scalars(&params, &map(&[("a", json!(0.5))]), &BTreeMap::new(), &map(&[("b", json!(7))]));
        assert_eq!(found[0].own, Some(("0.5".to_owned(), ValueOrigin::Line)));
        assert_eq!(
            (found[1].own.clone(), found[1].shown()),
            (Some(("2".to_owned(), ValueOrigin::Default)), "7".to_owned())
        );
        assert!(found[2].is_missing() && !found[2].is_changed());
    }

    #[test]
    fn what_the_stencil_does_not_take_is_shown_and_never_sent() {
        let params = [param("n", "int32", None)];
        let chosen = map(&[("n", json!(0.5)), ("gone", json!(1))]);
        let found = scalars(&params, &BTreeMap::new(), &BTreeMap::new(), &chosen);
        assert!(found[0].problem.is_some() && found[0].is_missing());
        assert!(!found[1].is_taken && found[1].shown() == "1");
        assert_eq!(usable(&params, &chosen), BTreeMap::new());
        assert_eq!(usable(&params, &map(&[("n", json!(3)), ("gone", json!(1))])), map(&[("n", json!(3))]));
    }

    #[test]
    fn a_switch_shows_no_other_values_than_its_two() {
        let valued = |text: &str| ValueInput {
            control: InputControl::Switch,
            chosen: Some(text.to_owned()),
            ..ValueInput::default()
        };
        assert_eq!(valued("False").shown_in(), InputControl::Switch);
        assert_eq!(valued("2").shown_in(), InputControl::Text);
        assert_eq!(ValueInput { chosen: None, ..valued("") }.shown_in(), InputControl::Switch);
    }

    #[test]
    fn an_external_that_the_text_does_not_import_is_not_sent() {
        let declared = [DeclaredExternal { name: "order".to_owned(), ..DeclaredExternal::default() }];
        let mut externals = map(&[("order", json!(5)), ("gone", json!(1))]);
        keep_declared(&mut externals, &declared);
        assert_eq!(externals, map(&[("order", json!(5))]));
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
}
