//! How the fields of a call lie in memory, and what a run makes of that.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The axis along which neighbours lie side by side in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitStrideAxis {
    I,
    J,
    K,
    /// Along none: there are gaps, or a data dimension.
    Apart,
}

impl UnitStrideAxis {
    /// As tables have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::I => "along i",
            Self::J => "along j",
            Self::K => "along k",
            Self::Apart => "apart",
        }
    }
}

/// How the code handles the strides of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrideHandling {
    /// The code has the strides of the caller.
    #[default]
    AsGiven,
    /// Loops along I and K are interchanged.
    Turned,
    /// Each call computes on copies, which lie along i.
    Copied,
    /// The fields were laid out along i when they were read, and are written back as they were.
    Read,
}

/// How the fields of a call lie, and what is made of that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Those that have points along i, by name.
    pub fields: BTreeMap<String, UnitStrideAxis>,
    pub way: StrideHandling,
    /// The fields that are copied, for each call or when they were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<String>,
    /// Bytes copied before a call, and bytes copied back after it.
    pub there_bytes: u64,
    pub back_bytes: u64,
    /// How many rows along j are copied at a time, where it is not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
}

impl Layout {
    /// Whether nothing has to be said of it: all fields lie as code of a CPU likes them.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.way == StrideHandling::AsGiven && self.fields.values().all(|it| *it == UnitStrideAxis::I)
    }

    /// The way in a few words, with the bytes copied.
    #[must_use]
    pub fn told(&self) -> String {
        let copies = || {
            let [there, back] =
                [self.there_bytes, self.back_bytes].map(|it| format!("{:.1} MB", it as f64 / 1e6));
            let slabs = match self.rows {
                None => String::new(),
                Some(1) => ", a row along j at a time".to_owned(),
                Some(n) => format!(", {n} rows along j at a time"),
            };
            format!("{there} there, {back} back{slabs}")
        };
        match self.way {
            StrideHandling::AsGiven => "as given".to_owned(),
            StrideHandling::Turned if self.copied.is_empty() => "loops turned".to_owned(),
            StrideHandling::Turned => format!("loops turned, and copies: {}", copies()),
            StrideHandling::Copied => format!("copied: {}", copies()),
            StrideHandling::Read => "laid out along i as they are read".to_owned(),
        }
    }

    /// `q`, `p` lie along k
    fn lie(&self) -> String {
        let mut parts = Vec::new();
        for lies in [UnitStrideAxis::K, UnitStrideAxis::J, UnitStrideAxis::Apart] {
            let of_these: Vec<String> =
                self.fields.iter().filter(|it| *it.1 == lies).map(|it| format!("`{}`", it.0)).collect();
            if !of_these.is_empty() {
                let verb = if of_these.len() == 1 { "lies" } else { "lie" };
                parts.push(format!("{} {verb} {}", of_these.join(", "), lies.name()));
            }
        }
        parts.join("; ")
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lie = self.lie();
        match self.way {
            _ if self.is_plain() => f.write_str("all fields lie along i"),
            StrideHandling::AsGiven => write!(f, "{lie}: calls compute on them as they are given"),
            StrideHandling::Turned | StrideHandling::Copied | StrideHandling::Read => {
                write!(f, "{lie}: {}", self.told())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(fields: &[(&str, UnitStrideAxis)], way: StrideHandling) -> Layout {
        let fields = fields.iter().map(|it| (it.0.to_owned(), it.1)).collect();
        Layout { fields, way, ..Layout::default() }
    }

    #[test]
    fn a_layout_is_told_in_a_sentence() {
        let plain = layout(&[("q", UnitStrideAxis::I)], StrideHandling::AsGiven);
        assert!(plain.is_plain());
        let mut it = layout(
            &[
                ("p", UnitStrideAxis::J),
                ("q", UnitStrideAxis::K),
                ("r", UnitStrideAxis::K),
                ("s", UnitStrideAxis::I),
            ],
            StrideHandling::Copied,
        );
        (it.there_bytes, it.back_bytes) = (2_000_000, 500_000);
        assert_eq!(
            it.to_string(),
            "`q`, `r` lie along k; `p` lies along j: copied: 2.0 MB there, 0.5 MB back"
        );
        assert!(!it.is_plain());
        let turned = layout(&[("q", UnitStrideAxis::K)], StrideHandling::Turned);
        assert_eq!(turned.to_string(), "`q` lies along k: loops turned");
    }

    #[test]
    fn a_layout_is_the_same_behind_its_json() {
        let mut it = layout(&[("q", UnitStrideAxis::Apart)], StrideHandling::AsGiven);
        it.copied.push("q".to_owned());
        let json = serde_json::to_string(&it).unwrap();
        assert_eq!(
            json,
            r#"{"fields":{"q":"apart"},"way":"as-given","copied":["q"],"there_bytes":0,"back_bytes":0}"#
        );
        assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), it);
    }
}
