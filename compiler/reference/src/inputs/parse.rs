//! Reads one generator: `sum(bell(at_i=0.4), random(low=-0.1, high=0.1, seed=1))`.

use super::Generator;
use crate::space::Axis;

/// Generators within generators go at most this deep: the reader calls itself.
const MAX_DEPTH: usize = 16;

/// Reads a generator.
///
/// # Errors
///
/// One sentence that says what is wrong, and where it can, what to write.
pub fn generator(text: &str) -> Result<Generator, String> {
    let mut reader = Reader { rest: text, depth: 0 };
    let generator = reader.generator()?;
    match reader.rest.trim() {
        "" => Ok(generator),
        rest => Err(format!("`{rest}` follows the end of the generator")),
    }
}

/// Reads a number as Python writes it; only finite ones.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    let is_number = text.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it));
    let value: f64 = text.replace('_', "").parse().ok()?;
    (is_number && value.is_finite()).then_some(value)
}

/// An argument in its place or with its name.
struct Argument<'t> {
    name: Option<&'t str>,
    value: &'t str,
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn generator(&mut self) -> Result<Generator, String> {
        let word = self.word();
        if let Some(value) = number(word) {
            return Ok(Generator::Constant(value));
        }
        if !KINDS.contains(&word) {
            let named = if word.is_empty() {
                "a generator is missing".to_owned()
            } else {
                format!("there is no generator `{word}`")
            };
            return Err(format!("{named}: write a number, or one of {}", KINDS.join(", ")));
        }
        if !self.eat('(') {
            return Err(format!("`{word}` needs its arguments in parentheses"));
        }
        if matches!(word, "sum" | "product") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(format!("generators are nested more than {MAX_DEPTH} deep"));
            }
            let mut parts = vec![self.generator()?];
            while self.eat(',') {
                parts.push(self.generator()?);
            }
            self.depth -= 1;
            self.close()?;
            return Ok(if word == "sum" { Generator::Sum(parts) } else { Generator::Product(parts) });
        }
        Arguments::new(word, self.arguments()?).build()
    }

    fn arguments(&mut self) -> Result<Vec<Argument<'t>>, String> {
        let mut arguments = Vec::new();
        while !self.eat(')') {
            if !arguments.is_empty() && !self.eat(',') {
                return Err("`,` or `)` is missing after an argument".to_owned());
            }
            let word = self.word();
            let argument = if self.eat('=') {
                Argument { name: Some(word), value: self.word() }
            } else {
                Argument { name: None, value: word }
            };
            if argument.value.is_empty() {
                return Err("an argument is missing".to_owned());
            }
            arguments.push(argument);
        }
        Ok(arguments)
    }

    fn close(&mut self) -> Result<(), String> {
        if self.eat(')') { Ok(()) } else { Err("`)` is missing".to_owned()) }
    }

    /// The next name or number; empty before a sign or at the end.
    fn word(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let end =
            self.rest.find(|it: char| it.is_whitespace() || "(),=".contains(it)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn eat(&mut self, sign: char) -> bool {
        let Some(rest) = self.rest.trim_start().strip_prefix(sign) else {
            return false;
        };
        self.rest = rest;
        true
    }
}

const KINDS: [&str; 8] = ["constant", "linear", "wave", "bell", "random", "checker", "sum", "product"];

/// The names of a generator's arguments, in the order in which they may stand without.
fn parameters(kind: &str) -> &'static [&'static str] {
    match kind {
        "constant" => &["value"],
        "linear" => &["low", "high", "along"],
        "wave" => &["low", "high", "i", "j", "k"],
        "bell" => &["low", "high", "at_i", "at_j", "at_k", "width"],
        "random" => &["low", "high", "seed"],
        "checker" => &["low", "high", "cells"],
        _ => &[],
    }
}

struct Arguments<'t> {
    kind: &'t str,
    given: Vec<Argument<'t>>,
}

impl<'t> Arguments<'t> {
    fn new(kind: &'t str, given: Vec<Argument<'t>>) -> Self {
        Self { kind, given }
    }

    fn build(self) -> Result<Generator, String> {
        self.check_names()?;
        if self.kind == "constant" {
            let value = self.number("value")?.ok_or("`constant` needs a value: `constant(1.5)`")?;
            return Ok(Generator::Constant(value));
        }
        let low = self.number("low")?.unwrap_or(0.0);
        let high = self.number("high")?.unwrap_or(1.0);
        match self.kind {
            "linear" => Ok(Generator::Linear { low, high, along: self.axis("along")? }),
            "wave" => {
                let mut cycles = [self.number("i")?, self.number("j")?, self.number("k")?];
                if cycles == [None; 3] {
                    cycles[0] = Some(1.0);
                }
                Ok(Generator::Wave { low, high, cycles: cycles.map(|it| it.unwrap_or(0.0)) })
            }
            "bell" => {
                let mut at = [self.number("at_i")?, self.number("at_j")?, self.number("at_k")?];
                if at == [None; 3] {
                    at = [Some(0.5), Some(0.5), None];
                }
                let width = self.positive("width", 0.15)?;
                Ok(Generator::Bell { low, high, at, width })
            }
            "random" => {
                let seed = self.value("seed").unwrap_or("0");
                let seed =
                    seed.parse().map_err(|_| format!("the seed `{seed}` is not a whole number from 0 on"))?;
                Ok(Generator::Random { low, high, seed })
            }
            _ => Ok(Generator::Checker { low, high, cells: self.positive("cells", 8.0)? }),
        }
    }

    fn check_names(&self) -> Result<(), String> {
        let (kind, parameters) = (self.kind, parameters(self.kind));
        let mut seen: Vec<&str> = Vec::new();
        for (at, argument) in self.given.iter().enumerate() {
            let is_late = argument.name.is_none() && self.given[..at].iter().any(|it| it.name.is_some());
            if is_late {
                return Err(format!("`{}` has no name and stands after one that has", argument.value));
            }
            let name = match argument.name {
                Some(name) if parameters.contains(&name) => name,
                Some(name) => {
                    return Err(format!(
                        "`{kind}` has no argument `{name}`, it has {}",
                        parameters.join(", ")
                    ));
                }
                None => parameters.get(at).copied().ok_or_else(|| {
                    format!("`{kind}` has too many arguments, it has {}", parameters.join(", "))
                })?,
            };
            if seen.contains(&name) {
                return Err(format!("`{name}` is given twice"));
            }
            seen.push(name);
        }
        Ok(())
    }

    fn value(&self, name: &str) -> Option<&'t str> {
        let place = parameters(self.kind).iter().position(|&it| it == name)?;
        let named = self.given.iter().find(|it| it.name == Some(name));
        named.or_else(|| self.given.get(place).filter(|it| it.name.is_none())).map(|it| it.value)
    }

    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.value(name) else { return Ok(None) };
        number(text).map(Some).ok_or_else(|| format!("`{name}` is `{text}`, which is not a number"))
    }

    fn positive(&self, name: &str, default: f64) -> Result<f64, String> {
        match self.number(name)?.unwrap_or(default) {
            value if value > 0.0 => Ok(value),
            value => Err(format!("`{name}` is {value:?} and must be more than 0")),
        }
    }

    fn axis(&self, name: &str) -> Result<Axis, String> {
        let text = self.value(name).unwrap_or("i");
        Axis::ALL
            .into_iter()
            .find(|it| it.position_name() == text || it.name() == text)
            .ok_or_else(|| format!("`{name}` is `{text}`, and there are i, j and k"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> String {
        let read = generator(text).unwrap();
        assert_eq!(generator(&read.to_string()).as_ref(), Ok(&read), "{text}");
        read.to_string()
    }

    fn refusal(text: &str) -> String {
        generator(text).unwrap_err()
    }

    #[test]
    fn every_kind_is_read_and_printed() {
        for (given, printed) in [
            ("constant(1.5)", "constant(1.5)"),
            ("-2e-3", "constant(-0.002)"),
            ("linear(1, 2, k)", "linear(low=1.0, high=2.0, along=k)"),
            ("linear(along=J)", "linear(low=0.0, high=1.0, along=j)"),
            ("wave ( low = -1 , high = 1 , k = .5 )", "wave(low=-1.0, high=1.0, i=0.0, j=0.0, k=0.5)"),
            ("wave()", "wave(low=0.0, high=1.0, i=1.0, j=0.0, k=0.0)"),
            ("bell(at_k=1, width=0.3)", "bell(low=0.0, high=1.0, at_k=1.0, width=0.3)"),
            ("bell()", "bell(low=0.0, high=1.0, at_i=0.5, at_j=0.5, width=0.15)"),
            ("random(seed=18446744073709551615)", "random(low=0.0, high=1.0, seed=18446744073709551615)"),
            ("checker(cells=4)", "checker(low=0.0, high=1.0, cells=4.0)"),
            (
                "sum(1, product(2, wave(i=1)))",
                "sum(constant(1.0), product(constant(2.0), wave(low=0.0, high=1.0, i=1.0, j=0.0, k=0.0)))",
            ),
        ] {
            assert_eq!(round_trip(given), printed);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (given, said) in [
            (
                "",
                "a generator is missing: write a number, or one of constant, linear, wave, bell, random, checker, sum, product",
            ),
            (
                "gauss(1)",
                "there is no generator `gauss`: write a number, or one of constant, linear, wave, bell, random, checker, sum, product",
            ),
            (
                "inf",
                "there is no generator `inf`: write a number, or one of constant, linear, wave, bell, random, checker, sum, product",
            ),
            ("bell", "`bell` needs its arguments in parentheses"),
            ("bell(width=0)", "`width` is 0.0 and must be more than 0"),
            (
                "bell(1, 2, 3, 4, 5, 6, 7)",
                "`bell` has too many arguments, it has low, high, at_i, at_j, at_k, width",
            ),
            ("wave(x=1)", "`wave` has no argument `x`, it has low, high, i, j, k"),
            ("linear(low=1, 2)", "`2` has no name and stands after one that has"),
            ("linear(1, low=2)", "`low` is given twice"),
            ("linear(along=q)", "`along` is `q`, and there are i, j and k"),
            ("constant()", "`constant` needs a value: `constant(1.5)`"),
            ("constant(one)", "`value` is `one`, which is not a number"),
            ("random(seed=-1)", "the seed `-1` is not a whole number from 0 on"),
            ("linear(1", "`,` or `)` is missing after an argument"),
            ("linear(low=)", "an argument is missing"),
            ("sum(1, 2", "`)` is missing"),
            ("1 2", "`2` follows the end of the generator"),
        ] {
            assert_eq!(refusal(given), said, "{given}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_overflow() {
        let deep = "sum(".repeat(100_000);
        assert_eq!(refusal(&deep), "generators are nested more than 16 deep");
    }
}
