//! Values of fields as pages write them: formulas, and lists along axes.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};

/// A position, by the letters of its indices: `i`, `j`, `k` from the first point of the domain, `c` and `d` the
/// data index.
pub(super) type Position = BTreeMap<char, i64>;

/// The values that stand behind `=`.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Formula(String),
    /// Rows along the first letter, entries along the second; one row where there is one letter.
    List {
        along: Vec<char>,
        rows: Vec<Vec<f64>>,
        starts: [i64; 2],
    },
}

impl Values {
    /// Reads `name = ...` or `name(i, j) = ...`; the name comes with it.
    pub(super) fn parse(left: &str, right: &str) -> Result<(String, Self)> {
        let Some((name, along)) = left.split_once('(') else {
            return Ok((left.to_owned(), Values::Formula(right.to_owned())));
        };
        let along: Vec<char> = along.chars().filter(|it| it.is_ascii_lowercase()).collect();
        ensure!(matches!(along.len(), 1 | 2), "`{left}` names one axis or two");
        let lines: Vec<&str> = if along.len() == 2 { right.split('/').collect() } else { vec![right] };
        let mut starts = [0; 2];
        let mut rows = Vec::new();
        for line in lines {
            let parts: Vec<&str> = line.split('|').collect();
            let mut row = Vec::new();
            for (position, part) in parts.iter().enumerate() {
                if position == 1 && parts.len() == 3 {
                    starts[along.len() - 1] = -i64::try_from(row.len())?;
                }
                for word in part.split([' ', ',']).filter(|it| !it.is_empty()) {
                    row.push(formula(word, &Position::new())?);
                }
            }
            rows.push(row);
        }
        Ok((name.trim().to_owned(), Values::List { along, rows, starts }))
    }

    /// Whether it is a list along the axis of that letter.
    pub(super) fn names(&self, letter: char) -> bool {
        matches!(self, Values::List { along, .. } if along.contains(&letter))
    }

    /// The value at a position; `None` where a list has none.
    pub(super) fn at(&self, position: &Position) -> Result<Option<f64>> {
        match self {
            Values::Formula(text) => formula(text, position).map(Some),
            Values::List { along, rows, starts } => {
                let index = |letter: &char, start: i64| {
                    let at = position.get(letter).with_context(|| format!("no axis `{letter}`"))? - start;
                    Ok::<usize, anyhow::Error>(usize::try_from(at).unwrap_or(usize::MAX))
                };
                let (row, entry) = match along.as_slice() {
                    [one] => (0, index(one, starts[0])?),
                    [first, second] => (index(first, starts[0])?, index(second, starts[1])?),
                    _ => bail!("one axis or two"),
                };
                Ok(rows.get(row).and_then(|it| it.get(entry)).copied())
            }
        }
    }
}

/// A formula with `+ - * / %`, comparisons (1 or 0), parentheses, and the letters of a position.
fn formula(text: &str, position: &Position) -> Result<f64> {
    let mut reader = Reader { rest: text.trim(), position };
    let value = reader.comparison().with_context(|| format!("in `{text}`"))?;
    ensure!(reader.rest.is_empty(), "`{}` is left of `{text}`", reader.rest);
    Ok(value)
}

struct Reader<'r> {
    rest: &'r str,
    position: &'r Position,
}

impl Reader<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(sign) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn comparison(&mut self) -> Result<f64> {
        let left = self.sum()?;
        for (sign, holds) in [
            ("<=", (|a, b| a <= b) as fn(f64, f64) -> bool),
            (">=", |a, b| a >= b),
            ("<", |a, b| a < b),
            (">", |a, b| a > b),
        ] {
            if self.takes(sign) {
                let right = self.sum()?;
                return Ok(if holds(left, right) { 1.0 } else { 0.0 });
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<f64> {
        let mut value = self.product()?;
        loop {
            if self.takes("+") {
                value += self.product()?;
            } else if self.takes("-") {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64> {
        let mut value = self.factor()?;
        loop {
            if self.takes("*") {
                value *= self.factor()?;
            } else if self.takes("/") {
                value /= self.factor()?;
            } else if self.takes("%") {
                value = value.rem_euclid(self.factor()?);
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<f64> {
        if self.takes("-") {
            return Ok(-self.factor()?);
        }
        if self.takes("(") {
            let value = self.comparison()?;
            ensure!(self.takes(")"), "a `)` is missing");
            return Ok(value);
        }
        let is_part = |(at, it): (usize, char)| {
            let after_exponent = matches!(it, '+' | '-')
                && self.rest[..at].ends_with('e')
                && self.rest.starts_with(|it: char| it.is_ascii_digit());
            it.is_ascii_alphanumeric() || it == '.' || after_exponent
        };
        let length = self.rest.char_indices().take_while(|it| is_part(*it)).count();
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest.trim_start();
        match word {
            "nan" | "NaN" => Ok(f64::NAN),
            "inf" => Ok(f64::INFINITY),
            "True" => Ok(1.0),
            "False" => Ok(0.0),
            _ => {
                let letter = word.chars().next().filter(|it| word.len() == 1 && it.is_ascii_lowercase());
                if let Some(letter) = letter {
                    let value = self.position.get(&letter).with_context(|| format!("no axis `{letter}`"))?;
                    #[expect(clippy::cast_precision_loss, reason = "positions are small")]
                    return Ok(*value as f64);
                }
                word.parse().with_context(|| format!("`{word}` is no number"))
            }
        }
    }
}
