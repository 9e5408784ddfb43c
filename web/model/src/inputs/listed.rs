//! Scalars and externals, as they are shown and changed.

use std::collections::BTreeMap;

use isobar_protocol::compile::ScalarParam;
use isobar_protocol::worker::{DeclaredExternal, ExternalValueKind, ValueGiver};
use serde_json::{Value, json};

use crate::values::{self, ValueRefusal};

/// A scalar or an external.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueInput {
    pub name: String,
    /// None where the stencil does not take it: it is left over from an earlier text, and no run hears of it.
    pub taken: Option<TakenInput>,
    pub user: UserValue,
}

/// An input that the stencil takes.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenInput {
    pub of: InputType,
    /// The value unless the user sets another one, and its origin.
    pub own: Option<(String, ValueOrigin)>,
}

/// The values that an input can have.
#[derive(Clone, Debug, PartialEq)]
pub enum InputType {
    /// Those of a scalar of this type.
    Scalar(String),
    /// Those of an external that is used as this.
    External(ExternalValueKind),
}

/// The value that the user, or a link, has set.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum UserValue {
    #[default]
    None,
    Usable(String),
    /// One that cannot be used, and why.
    Refused(ValueRefusal),
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

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// A `# @scalar` or `# @external` line.
    Line,
    /// The `def` of the stencil.
    Default,
    /// The compiler, which knows some externals by name.
    Compiler,
    /// The page chose it, since neither text nor user has one.
    MadeUp,
}

impl InputType {
    fn read(&self, text: &str) -> Result<Value, ValueRefusal> {
        match self {
            InputType::Scalar(dtype) => values::scalar(text, dtype),
            InputType::External(_) => values::external(text),
        }
    }

    fn control(&self) -> InputControl {
        match self {
            InputType::Scalar(dtype) if dtype == "bool" => InputControl::Switch,
            InputType::External(ExternalValueKind::Condition) => InputControl::Switch,
            InputType::External(ExternalValueKind::Function(names)) => InputControl::Function(names.clone()),
            InputType::Scalar(_)
            | InputType::External(
                ExternalValueKind::Number
                | ExternalValueKind::WholeNumber
                | ExternalValueKind::Position
                | ExternalValueKind::Object,
            ) => InputControl::Text,
        }
    }

    /// Reads the user's value, or tells why it cannot be read.
    fn user_value(&self, chosen: Option<&Value>) -> UserValue {
        let Some(text) = chosen.map(values::spelled) else { return UserValue::None };
        match self.read(&text) {
            Ok(_) => UserValue::Usable(text),
            Err(refusal) => UserValue::Refused(refusal),
        }
    }
}

impl ValueInput {
    /// The user's value, if it can be used.
    #[must_use]
    pub fn chosen(&self) -> Option<&str> {
        match &self.user {
            UserValue::Usable(text) => Some(text),
            UserValue::None | UserValue::Refused(_) => None,
        }
    }

    /// The value unless the user sets another one, and its origin.
    #[must_use]
    pub fn own(&self) -> Option<&(String, ValueOrigin)> {
        self.taken.as_ref().and_then(|it| it.own.as_ref())
    }

    /// The value that a run takes.
    #[must_use]
    pub fn shown(&self) -> String {
        let own = || self.own().map(|(value, _)| value.as_str());
        self.chosen().or_else(own).unwrap_or_default().to_owned()
    }

    /// How its value is asked for.
    #[must_use]
    pub fn control(&self) -> InputControl {
        self.taken.as_ref().map(|it| it.of.control()).unwrap_or_default()
    }

    /// The control that can show the value: what is neither `True` nor `False` is written out.
    #[must_use]
    pub fn shown_in(&self) -> InputControl {
        match self.control() {
            InputControl::Switch if !matches!(&*self.shown(), "" | "True" | "False") => InputControl::Text,
            control => control,
        }
    }

    /// Whether the stencil takes it.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.taken.is_some()
    }

    /// Whether it is an integer scalar.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        let is_integer =
            |it: &TakenInput| matches!(&it.of, InputType::Scalar(dtype) if dtype.starts_with("int"));
        self.taken.as_ref().is_some_and(is_integer)
    }

    /// Whether it is a scalar of floating point.
    #[must_use]
    pub fn is_float(&self) -> bool {
        let is_float =
            |it: &TakenInput| matches!(&it.of, InputType::Scalar(dtype) if dtype.starts_with("float"));
        self.taken.as_ref().is_some_and(is_float)
    }

    /// Whether a run would ask for it in vain.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.is_taken() && self.own().is_none() && self.chosen().is_none()
    }

    /// Whether there is something to take back.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.user != UserValue::None
    }

    /// Reads a text that the user gives it; none where that is its own value, which takes the user's back.
    ///
    /// # Errors
    ///
    /// Which values are expected.
    pub fn read(&self, text: &str) -> Result<Option<Value>, ValueRefusal> {
        let Some(taken) = &self.taken else { return values::external(text).map(Some) };
        let value = taken.of.read(text)?;
        let own = taken.own.as_ref().and_then(|(own, _)| taken.of.read(own).ok());
        Ok(Some(value).filter(|it| own.as_ref() != Some(it)))
    }
}

/// A function as the value of an external, spelled.
#[must_use]
pub fn function(name: &str) -> String {
    values::spelled(&json!({ "function": name }))
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
        let own = line.or_else(default).or_else(made);
        taken(&param.name, InputType::Scalar(param.dtype.clone()), own, chosen)
    });
    let is_left = |name: &str| params.iter().all(|it| it.name != name);
    taken.chain(left(chosen, is_left)).collect()
}

/// The externals that a text imports or the values that a constructor takes, then those that the user set for an earlier one.
#[must_use]
pub fn externals(declared: &[DeclaredExternal], chosen: &BTreeMap<String, Value>) -> Vec<ValueInput> {
    let taken = declared.iter().map(|it| {
        let own = it.value.as_ref().map(|given| {
            let origin = match given.by {
                ValueGiver::Line => ValueOrigin::Line,
                ValueGiver::Default => ValueOrigin::Default,
                ValueGiver::Compiler => ValueOrigin::Compiler,
                ValueGiver::MadeUp => ValueOrigin::MadeUp,
            };
            (values::spelled(&given.value), origin)
        });
        taken(&it.name, InputType::External(it.wanted.clone()), own, chosen)
    });
    let is_left = |name: &str| declared.iter().all(|it| it.name != name);
    taken.chain(left(chosen, is_left)).collect()
}

fn taken(
    name: &str,
    of: InputType,
    own: Option<(String, ValueOrigin)>,
    chosen: &BTreeMap<String, Value>,
) -> ValueInput {
    let user = of.user_value(chosen.get(name));
    ValueInput { name: name.to_owned(), taken: Some(TakenInput { of, own }), user }
}

/// Values that were set for names which the text does not have any more.
fn left(
    chosen: &BTreeMap<String, Value>,
    is_left: impl Fn(&str) -> bool,
) -> impl Iterator<Item = ValueInput> {
    chosen.iter().filter(move |(name, _)| is_left(name)).map(|(name, value)| ValueInput {
        name: name.clone(),
        taken: None,
        user: UserValue::Usable(values::spelled(value)),
    })
}
