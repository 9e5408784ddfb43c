//! Values of scalars and externals, as people write them and as a request has them.

use serde_json::{Map, Number, Value, json};

/// Why a text is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRefusal {
    /// Empty where there is none.
    pub text: String,
    pub wanted: WantedValue,
}

/// The values that are expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedValue {
    /// Of a scalar of this type.
    Bool(String),
    Float(String),
    /// Of this type, which has a least and a most value.
    Whole(String, [i64; 2]),
    /// Any that an external can have.
    External,
}

/// As Python would say it: `0.025`, `True`, `None`, `I[-1] + 1`, `float32(0.1)`.
#[must_use]
pub fn spelled(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(it) => if *it { "True" } else { "False" }.to_owned(),
        Value::Number(it) => it.to_string(),
        Value::String(it) => it.clone(),
        Value::Object(object) => {
            position(object).or_else(|| typed(object)).unwrap_or_else(|| value.to_string())
        }
        Value::Array(_) => value.to_string(),
    }
}

fn position(object: &Map<String, Value>) -> Option<String> {
    let axis = object.get("axis")?.as_str()?;
    let Some(index) = object.get("index") else { return Some(axis.to_owned()) };
    let offset = object.get("offset").map_or(Some(0), Value::as_i64)?;
    let shift = match offset {
        0 => String::new(),
        1.. => format!(" + {offset}"),
        _ => format!(" - {}", offset.unsigned_abs()),
    };
    Some(format!("{axis}[{index}]{shift}"))
}

fn typed(object: &Map<String, Value>) -> Option<String> {
    Some(format!("{}({})", object.get("dtype")?.as_str()?, spelled(object.get("value")?)))
}

/// Reads the value of a scalar parameter of this type.
///
/// # Errors
///
/// Which values are expected.
pub fn scalar(text: &str, dtype: &str) -> Result<Value, ValueRefusal> {
    let text = text.trim();
    let number = match text.split_once('(') {
        // `float32(0.1)`, where it is this very type
        Some((name, rest)) if name.trim() == dtype => rest.strip_suffix(')').unwrap_or(rest).trim(),
        _ => text,
    };
    let read = match dtype {
        "bool" => truth(number).map(Value::Bool),
        "float64" => float(number),
        // A larger value would become infinite.
        "float32" => float(number).filter(|it| it.as_f64().is_none_or(|it| it.abs() <= f64::from(f32::MAX))),
        _ => whole(number).filter(|it| range(dtype).contains(it)).map(Value::from),
    };
    read.ok_or_else(|| {
        let of_type = dtype.to_owned();
        let wanted = match dtype {
            "bool" => WantedValue::Bool(of_type),
            "float64" | "float32" => WantedValue::Float(of_type),
            _ => WantedValue::Whole(of_type, [*range(dtype).start(), *range(dtype).end()]),
        };
        ValueRefusal { text: text.to_owned(), wanted }
    })
}

/// Reads the value of an external.
///
/// # Errors
///
/// Which values are expected.
pub fn external(text: &str) -> Result<Value, ValueRefusal> {
    let text = text.trim();
    let value = match text {
        "None" | "none" | "null" => Some(Value::Null),
        _ if text.starts_with('{') => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => truth(text)
            .map(Value::Bool)
            .or_else(|| whole(text).map(Value::from))
            .or_else(|| float(text))
            .or_else(|| of_type(text))
            .or_else(|| axis(text)),
    };
    value.ok_or_else(|| ValueRefusal { text: text.to_owned(), wanted: WantedValue::External })
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "True" | "true" => Some(true),
        "False" | "false" => Some(false),
        _ => None,
    }
}

fn whole(text: &str) -> Option<i64> {
    text.replace('_', "").parse().ok()
}

/// A float keeps being one: `3.0` is no `3`, which an external would tell apart.
fn float(text: &str) -> Option<Value> {
    match text {
        "nan" | "inf" | "-inf" => return Some(text.into()),
        _ => {}
    }
    let is_number = text.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it));
    let value: f64 = text.replace('_', "").parse().ok().filter(|_| is_number)?;
    Number::from_f64(value).map(Value::Number)
}

fn range(dtype: &str) -> std::ops::RangeInclusive<i64> {
    match dtype {
        "int8" => i8::MIN.into()..=i8::MAX.into(),
        "int16" => i16::MIN.into()..=i16::MAX.into(),
        "int32" => i32::MIN.into()..=i32::MAX.into(),
        _ => i64::MIN..=i64::MAX,
    }
}

/// `float32(0.1)`
fn of_type(text: &str) -> Option<Value> {
    let (dtype, rest) = text.split_once('(')?;
    let dtype = dtype.trim();
    let is_known = matches!(dtype, "bool" | "int8" | "int16" | "int32" | "int64" | "float32" | "float64");
    let value = scalar(rest.strip_suffix(')')?, dtype).ok().filter(|_| is_known)?;
    Some(json!({ "dtype": dtype, "value": value }))
}

/// `I[0]`, `J[-1] + 2`, `K`
fn axis(text: &str) -> Option<Value> {
    let axis = ["I", "J", "K"].into_iter().find(|it| text.starts_with(it))?;
    let rest = text[1..].trim_start();
    if rest.is_empty() {
        return Some(json!({ "axis": axis }));
    }
    let (index, shift) = rest.strip_prefix('[')?.split_once(']')?;
    let index: i64 = index.trim().parse().ok()?;
    let shift = shift.trim();
    let offset = match shift.strip_prefix(['+', '-']) {
        None if shift.is_empty() => 0,
        None => return None,
        Some(digits) => {
            let size = i64::from(digits.trim().parse::<u32>().ok()?);
            if shift.starts_with('-') { -size } else { size }
        }
    };
    Some(json!({ "axis": axis, "index": index, "offset": offset }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_is_read_by_its_type() {
        assert_eq!(scalar(" 0.5 ", "float64"), Ok(json!(0.5)));
        assert_eq!(scalar("3", "float32"), Ok(json!(3.0)));
        assert_eq!(scalar("1_000", "int16"), Ok(json!(1000)));
        assert_eq!(scalar("nan", "float64"), Ok(json!("nan")));
        assert_eq!(scalar("true", "bool"), Ok(json!(true)));
        assert_eq!(scalar("float32(0.5)", "float32"), Ok(json!(0.5)));
    }

    #[test]
    fn what_does_not_fit_a_type_is_refused_with_what_would() {
        let refused = |text: &str, wanted| Err(ValueRefusal { text: text.to_owned(), wanted });
        assert_eq!(scalar(" x", "float64"), refused("x", WantedValue::Float("float64".to_owned())));
        assert_eq!(scalar("", "bool"), refused("", WantedValue::Bool("bool".to_owned())));
        assert_eq!(scalar("128", "int8"), refused("128", WantedValue::Whole("int8".to_owned(), [-128, 127])));
        assert_eq!(external("x"), refused("x", WantedValue::External));
        for (text, dtype) in [
            ("0.5", "int64"),
            ("1e39", "float32"),
            ("1e400", "float64"),
            ("--1", "int32"),
            ("infinity", "float64"),
        ] {
            assert!(scalar(text, dtype).is_err(), "{text}");
        }
    }

    #[test]
    fn externals_are_spelled_as_they_are_read() {
        for text in [
            "3",
            "3.0",
            "-2.5",
            "True",
            "None",
            "nan",
            "-inf",
            "I[0]",
            "J[-1] + 2",
            "K[1] - 1",
            "K",
            "float32(0.5)",
        ] {
            assert_eq!(external(text).map(|it| spelled(&it)), Ok(text.to_owned()));
        }
        let function = json!({ "function": "corners.fill" });
        assert_eq!(external(&spelled(&function)), Ok(function));
    }

    #[test]
    fn what_is_no_external_is_refused() {
        for text in ["", "x", "I[0", "I[0] *", "I[0] + -1", "[1]", "float16(1)", "int8(300)", "{1}", "\u{e9}"]
        {
            assert!(external(text).is_err(), "{text}");
        }
    }
}
