//! Measurements of passes and analyses: named points with structured values.

use std::collections::BTreeMap;
use std::fmt;

/// A place where a pass reports a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPoint {
    /// `traffic`, below the name of the pass.
    pub name: &'static str,
    /// The meaning of its values, with their unit.
    pub about: &'static str,
}

/// A value of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum LogValue {
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<LogValue>),
    Map(BTreeMap<String, LogValue>),
}

/// A value that was reported.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// The pass that was running.
    pub pass: &'static str,
    pub point: &'static LogPoint,
    pub value: LogValue,
}

impl LogValue {
    /// The same as JSON; NaN and the infinities, which JSON lacks, as `null`.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            LogValue::Bool(it) => (*it).into(),
            LogValue::Integer(it) => (*it).into(),
            LogValue::Number(it) => (*it).into(),
            LogValue::Text(it) => it.as_str().into(),
            LogValue::List(all) => all.iter().map(LogValue::to_json).collect::<Vec<_>>().into(),
            LogValue::Map(all) => {
                let entries = all.iter().map(|(name, it)| (name.clone(), it.to_json()));
                serde_json::Value::Object(entries.collect())
            }
        }
    }
}

impl fmt::Display for LogValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_json().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_json() {
        let value = LogValue::Map(BTreeMap::from([
            ("bytes".to_owned(), LogValue::Number(1.5)),
            (
                "fields".to_owned(),
                LogValue::List(vec![LogValue::Text("u".to_owned()), LogValue::Integer(-3)]),
            ),
            ("fits".to_owned(), LogValue::Bool(true)),
            ("share".to_owned(), LogValue::Number(f64::NAN)),
        ]));
        assert_eq!(value.to_string(), r#"{"bytes":1.5,"fields":["u",-3],"fits":true,"share":null}"#);
    }
}
