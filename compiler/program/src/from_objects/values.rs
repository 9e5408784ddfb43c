//! The values of expressions while texts are read: what is known, and the text of what a run computes.

use serde_json::Value as Json;

use crate::document::nodes::{ArgumentEntry, ScalarText, ViewEntry};
use crate::scalar::nodes::ScalarFunction;

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ObjectValue {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// A list or a tuple.
    Sequence(Vec<ObjectValue>),
    /// A dictionary.
    Table(Vec<(ObjectValue, ObjectValue)>),
    /// A field, or an element of its first data dimensions.
    Field {
        name: String,
        data_index: Vec<u32>,
    },
    Stencil(String),
    Object(String),
    /// A function of the graph; with the object where it is a method.
    Function {
        name: String,
        object: Option<String>,
    },
    /// A number of run time, in Python's grammar over the scalars of the program.
    Scalar(String),
    /// A function that is known by its name: Python's own, or one of `math`.
    Builtin(Builtin),
    /// A module of Python's whose functions are known.
    Math,
    /// The method of a sequence, a table or an exchange.
    Bound {
        of: Box<ObjectValue>,
        method: String,
    },
    Exchange(ExchangeValue),
    /// An object whose `clock` makes marks.
    Timer,
    /// An object that exchanges halos of fields that it is given.
    Communicator,
    /// A function of the caller's that no text tells.
    Host {
        name: String,
        /// The fields that it touches, where they are known.
        fields: Option<Vec<ObjectValue>>,
    },
    /// A field or a number that the caller gives, by its path; its first use tells which.
    Free(String),
    /// Nothing is known of it but the reason.
    Unknown(String),
}

/// A halo updater.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExchangeValue {
    pub(super) fields: Vec<ObjectValue>,
    pub(super) kind: String,
    pub(super) width: u32,
    /// Its plan between ranks, by name.
    pub(super) plan: Option<String>,
    /// The exchange, or the callback, that gives a shared edge of a pair one value.
    pub(super) interface: Option<Box<ObjectValue>>,
}

/// A function that is known by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// One of the functions that scalar expressions have, by their name there.
    Scalar(&'static str),
    Range,
    Len,
    Enumerate,
    Zip,
    Tuple,
    /// Answers its argument.
    Identity,
    /// Does nothing.
    Nothing,
}

/// Other names under which Python and NumPy have functions of scalar expressions.
const OTHER_NAMES: [(&str, &str); 4] =
    [("fabs", "abs"), ("bool_", "bool"), ("Float", "float64"), ("Int", "int64")];

impl Builtin {
    /// The function that Python has under a name everywhere.
    pub(super) fn of_python(name: &str) -> Option<Self> {
        Some(match name {
            "range" => Self::Range,
            "len" => Self::Len,
            "enumerate" => Self::Enumerate,
            "zip" => Self::Zip,
            "list" | "tuple" => Self::Tuple,
            "abs" | "min" | "max" | "int" | "float" | "bool" | "round" => Self::scalar(name)?,
            _ => return None,
        })
    }

    /// A function of scalar expressions.
    pub(super) fn scalar(name: &str) -> Option<Self> {
        let meant = OTHER_NAMES.iter().find(|it| it.0 == name).map_or(name, |it| it.1);
        ScalarFunction::names().find(|it| *it == meant).map(Self::Scalar)
    }
}

impl ObjectValue {
    /// A value as the graph writes it: numbers, texts and lists as JSON, and all else as an object with one entry.
    pub(super) fn read(json: &Json) -> Self {
        match json {
            Json::Null => Self::None,
            Json::Bool(it) => Self::Bool(*it),
            Json::Number(it) => match (it.as_i64(), it.as_f64()) {
                (Some(it), _) => Self::Int(it),
                (None, Some(it)) => Self::Float(it),
                (None, None) => Self::Unknown(format!("the number {it} is too large")),
            },
            Json::String(it) => Self::Text(it.clone()),
            Json::Array(parts) => Self::Sequence(parts.iter().map(Self::read).collect()),
            Json::Object(entries) => {
                let known =
                    entries.iter().next().and_then(|(kind, value)| Self::tagged(kind, value, entries));
                known.unwrap_or_else(|| Self::Unknown("nothing says what it is".to_owned()))
            }
        }
    }

    fn tagged(kind: &str, value: &Json, entries: &serde_json::Map<String, Json>) -> Option<Self> {
        let name = || value.as_str().map(str::to_owned);
        let known = ["field", "exchange", "function", "host"]
            .into_iter()
            .find(|it| entries.contains_key(*it))
            .unwrap_or(kind);
        Some(match known {
            "float" => Self::Float(match value.as_str()? {
                "inf" => f64::INFINITY,
                "-inf" => f64::NEG_INFINITY,
                "nan" => f64::NAN,
                other => other.parse().ok()?,
            }),
            "dict" => {
                let pair = |it: &Json| Some((Self::read(it.get(0)?), Self::read(it.get(1)?)));
                Self::Table(value.as_array()?.iter().map(pair).collect::<Option<_>>()?)
            }
            "field" => {
                let index = entries.get("data_index").and_then(Json::as_array).cloned().unwrap_or_default();
                let number = |it: &Json| u32::try_from(it.as_u64()?).ok();
                let data_index = index.iter().map(number).collect::<Option<_>>()?;
                Self::Field { name: entries.get("field")?.as_str()?.to_owned(), data_index }
            }
            "exchange" => {
                let field = |it: &Json| match it {
                    Json::String(name) => Self::Field { name: name.clone(), data_index: Vec::new() },
                    other => Self::read(other),
                };
                let fields = entries.get("exchange")?.as_array()?.iter().map(field).collect();
                let kind = entries.get("kind").and_then(Json::as_str).unwrap_or("scalar").to_owned();
                let width = u32::try_from(entries.get("width")?.as_u64()?).ok()?;
                let plan = entries.get("plan").and_then(Json::as_str).map(str::to_owned);
                let interface = entries.get("interface").map(|it| Box::new(Self::read(it)));
                Self::Exchange(ExchangeValue { fields, kind, width, plan, interface })
            }
            "stencil" => Self::Stencil(name()?),
            "object" => Self::Object(name()?),
            "function" => {
                let object = entries.get("object").and_then(Json::as_str).map(str::to_owned);
                Self::Function { name: entries.get("function")?.as_str()?.to_owned(), object }
            }
            "free" => Self::Free(name()?),
            "communicator" => Self::Communicator,
            "scalar" => Self::Scalar(name()?),
            "host" => {
                let name = entries.get("host")?.as_str()?.to_owned();
                let fields = entries.get("fields").and_then(Json::as_array);
                Self::Host { name, fields: fields.map(|it| it.iter().map(Self::read).collect()) }
            }
            "module" if value == "math" => Self::Math,
            "builtin" => Self::Builtin(match value.as_str()? {
                "identity" => Builtin::Identity,
                "nothing" => Builtin::Nothing,
                other => Builtin::of_python(other).or_else(|| Builtin::scalar(other))?,
            }),
            "timer" => Self::Timer,
            "unknown" => Self::Unknown(name()?),
            _ => return None,
        })
    }

    /// The value in the form of the graph; `None` where only a run knows it.
    pub(super) fn json(&self) -> Option<Json> {
        Some(match self {
            Self::None => Json::Null,
            Self::Bool(it) => (*it).into(),
            Self::Int(it) => (*it).into(),
            Self::Float(it) if it.is_finite() => (*it).into(),
            Self::Float(it) => serde_json::json!({"float": it.to_string()}),
            Self::Text(it) => it.as_str().into(),
            Self::Sequence(parts) => Json::Array(parts.iter().map(Self::json).collect::<Option<_>>()?),
            Self::Table(entries) => {
                let pair = |(key, value): &(Self, Self)| Some(Json::Array(vec![key.json()?, value.json()?]));
                serde_json::json!({"dict": entries.iter().map(pair).collect::<Option<Vec<_>>>()?})
            }
            Self::Field { name, data_index } => serde_json::json!({"field": name, "data_index": data_index}),
            Self::Object(name) => serde_json::json!({"object": name}),
            _ => return None,
        })
    }

    /// The words of messages for it.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::None => "`None`".to_owned(),
            Self::Bool(it) => format!("`{it}`"),
            Self::Int(it) => format!("the number {it}"),
            Self::Float(it) => format!("the number {it:?}"),
            Self::Text(it) => format!("the text {it:?}"),
            Self::Sequence(_) => "a list".to_owned(),
            Self::Table(_) => "a dictionary".to_owned(),
            Self::Field { name, .. } => format!("the field `{name}`"),
            Self::Stencil(name) => format!("the stencil `{name}`"),
            Self::Object(name) => format!("the object `{name}`"),
            Self::Function { name, .. } => format!("the function `{name}`"),
            Self::Scalar(text) => format!("`{text}`, which a run computes"),
            Self::Builtin(_) => "a function".to_owned(),
            Self::Math => "a module".to_owned(),
            Self::Bound { method, .. } => format!("the method `{method}`"),
            Self::Exchange(_) => "a halo updater".to_owned(),
            Self::Timer => "a timer".to_owned(),
            Self::Communicator => "a communicator".to_owned(),
            Self::Free(path) => format!("`{path}`, which the caller gives"),
            Self::Host { name, .. } => format!("the callback `{name}`"),
            Self::Unknown(why) => format!("something else ({why})"),
        }
    }

    /// Whether Python counts it as true; `None` where a run decides, or nothing is known.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::None => Some(false),
            Self::Bool(it) => Some(*it),
            Self::Int(it) => Some(*it != 0),
            Self::Float(it) => Some(*it != 0.0),
            Self::Text(it) => Some(!it.is_empty()),
            Self::Sequence(parts) => Some(!parts.is_empty()),
            Self::Table(entries) => Some(!entries.is_empty()),
            Self::Scalar(_) | Self::Field { .. } | Self::Free(_) | Self::Unknown(_) => None,
            _ => Some(true),
        }
    }

    /// A number, or the text of one, for an expression of run time. `None` where it is no number, or not finite.
    pub(super) fn scalar_text(&self) -> Option<String> {
        match self {
            Self::Bool(true) => Some("True".to_owned()),
            Self::Bool(false) => Some("False".to_owned()),
            Self::Int(it) if *it < 0 => Some(format!("({it})")),
            Self::Int(it) => Some(it.to_string()),
            Self::Float(it) if it.is_finite() && it.is_sign_negative() => Some(format!("({it:?})")),
            Self::Float(it) if it.is_finite() => Some(format!("{it:?}")),
            Self::Scalar(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The same as an entry of a document.
    pub(super) fn scalar_entry(&self) -> Option<ScalarText> {
        Some(match self {
            Self::Bool(it) => ScalarText::Bool(*it),
            Self::Int(it) => ScalarText::Number((*it).into()),
            Self::Float(it) => ScalarText::Number(serde_json::Number::from_f64(*it)?),
            Self::Scalar(text) => ScalarText::Text(text.clone()),
            _ => return None,
        })
    }

    /// An argument of a call.
    pub(super) fn argument_entry(&self) -> Option<ArgumentEntry> {
        Some(match self {
            Self::Field { name, data_index } if data_index.is_empty() => ArgumentEntry::Text(name.clone()),
            Self::Field { name, data_index } => {
                ArgumentEntry::View(ViewEntry { view: name.clone(), data_index: data_index.clone() })
            }
            other => match other.scalar_entry()? {
                ScalarText::Text(text) => ArgumentEntry::Text(text),
                ScalarText::Bool(it) => ArgumentEntry::Bool(it),
                ScalarText::Number(it) => ArgumentEntry::Number(it),
            },
        })
    }
}
