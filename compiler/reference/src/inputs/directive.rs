//! Reads the run directives: all comment lines `# @word ...` of a text.
//!
//! A line that cannot be read is left out with a warning. It never keeps a stencil from compiling, since such
//! comments may mean something different where the text comes from.

use std::collections::BTreeMap;

use super::step::{Halo, StepDirective};
use super::{Generator, parse};
use crate::call::launch::ScalarInput;
use crate::config::External;
use crate::diag::catalog::directive as say;
use crate::diag::{Diagnostic, FileId, Span};
use crate::space::{Axis, Domain};

/// The directives of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directives {
    pub title: Option<String>,
    /// One entry per line.
    pub about: Vec<String>,
    /// The stencil to open.
    pub stencil: Option<String>,
    pub domain: Option<[i64; 3]>,
    /// One per name, in the order of the text; so are the lists below.
    pub inputs: Vec<InputDirective>,
    pub scalars: Vec<ScalarDirective>,
    pub externals: Vec<ExternalDirective>,
    /// Between which values scalars are of interest, by name.
    pub ranges: BTreeMap<String, [f64; 2]>,
    /// The updates of fields between time steps, in the order of the text.
    pub steps: Vec<StepDirective>,
    /// The values that exchanges of a program store in halos: `none`, `periodic` or `zero-gradient`.
    pub halo: Option<String>,
    /// The plots to show, the first one first.
    pub plots: Vec<Plot>,
    /// The loops that passes must not change in some way.
    pub keeps: Vec<KeepDirective>,
}

impl Directives {
    /// The generator for a field.
    #[must_use]
    pub fn input(&self, field: &str) -> Option<&Generator> {
        self.inputs.iter().find(|it| it.field == field).map(|it| &it.generator)
    }

    /// The externals, as [`Config`](crate::config::Config) holds them.
    #[must_use]
    pub fn external_values(&self) -> BTreeMap<String, External> {
        self.externals.iter().map(|it| (it.name.clone(), it.value.clone())).collect()
    }
}

/// `# @input q bell(at_i=0.4)`
#[derive(Clone, Debug, PartialEq)]
pub struct InputDirective {
    pub field: String,
    pub generator: Generator,
    pub span: Span,
}

/// `# @scalar alpha = 0.025`
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarDirective {
    pub name: String,
    pub value: ScalarInput,
    pub span: Span,
}

/// `# @external i_start = I[0]`
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalDirective {
    pub name: String,
    pub value: External,
    pub span: Span,
}

/// `# @plot q_out k=10`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    pub field: String,
    /// The level to show, from the first of the domain.
    pub k: Option<i64>,
    pub span: Span,
}

/// `# @keep whole`, above the statement that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepDirective {
    pub keep: LoopProperty,
    pub span: Span,
    /// The line of the statement.
    pub below: Span,
}

/// A property that passes must preserve of the loops around a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopProperty {
    /// They do not continue those before them.
    Apart,
    /// They are not tiled.
    Whole,
    /// Regions in them stay tests.
    Guarded,
}

/// The words that a directive can begin with.
const WORDS: [&str; 11] =
    ["title", "about", "stencil", "domain", "input", "scalar", "external", "plot", "step", "halo", "keep"];

/// Reads all directives of a text, with a warning (D01) for each line that is left out.
#[must_use]
pub fn read(text: &str, file: FileId) -> (Directives, Vec<Diagnostic>) {
    let mut directives = Directives::default();
    let mut warnings = Vec::new();
    // The `keep` directives for the next line that is neither empty nor a comment.
    let mut waiting: Vec<(LoopProperty, Span)> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let here = start;
        start += line.len();
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let before = line.len() - line.trim_start().len();
        let span = Span::new(file, position(here + before), position(here + line.trim_end().len()));
        let Some((word, rest)) = directive_of(line) else {
            let said = line.trim();
            if !said.is_empty() && !said.starts_with('#') {
                directives.keeps.extend(waiting.drain(..).map(|(keep, at)| KeepDirective {
                    keep,
                    span: at,
                    below: span,
                }));
            }
            continue;
        };
        if word == "keep" {
            match keep(rest) {
                Ok(keep) => waiting.push((keep, span)),
                Err(why) => warnings.push(say::ignored(word, &why, span)),
            }
        } else if WORDS.contains(&word) {
            if let Err(why) = directives.take(word, rest, span) {
                warnings.push(say::ignored(word, &why, span));
            }
        } else if let Some(meant) = WORDS.into_iter().find(|it| are_one_slip_apart(it, word)) {
            warnings.push(say::misspelt(word, meant, span));
        }
    }
    let lonely =
        waiting.into_iter().map(|(_, span)| say::ignored("keep", "no statement stands below it", span));
    warnings.extend(lonely);
    (directives, warnings)
}

/// The word and the rest of a line `# @word rest`. A commented-out decorator,
/// `# @stencil(...)` or `# @gtscript.function`, is none.
fn directive_of(line: &str) -> Option<(&str, &str)> {
    let after = line.trim().strip_prefix('#')?.trim_start().strip_prefix('@')?;
    let (word, rest) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
    let is_word = !word.is_empty() && word.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    is_word.then_some((word, rest.trim()))
}

impl Directives {
    fn take(&mut self, word: &str, rest: &str, span: Span) -> Result<(), String> {
        match word {
            "title" => once(&mut self.title, text(rest)?),
            "about" => {
                self.about.push(text(rest)?);
                Ok(())
            }
            "stencil" => once(&mut self.stencil, path(rest)?),
            "domain" => once(&mut self.domain, domain(rest)?),
            "input" => {
                let (field, rest) = rest
                    .split_once(char::is_whitespace)
                    .ok_or("a field and a generator are expected: `q constant(0)`")?;
                let field = name(field)?;
                is_new(&field, self.inputs.iter().map(|it| &it.field))?;
                self.inputs.push(InputDirective { field, generator: parse::generator(rest)?, span });
                Ok(())
            }
            "scalar" => {
                let (name, value) = assignment(rest, "alpha = 0.5")?;
                is_new(&name, self.scalars.iter().map(|it| &it.name))?;
                let (value, range) = with_range(value)?;
                let value =
                    scalar(value).ok_or_else(|| format!("`{value}` is not a number, `true` or `false`"))?;
                if let Some(range) = range {
                    self.ranges.insert(name.clone(), range);
                }
                self.scalars.push(ScalarDirective { name, value, span });
                Ok(())
            }
            "external" => {
                let (name, value) = assignment(rest, "i_start = I[0]")?;
                is_new(&name, self.externals.iter().map(|it| &it.name))?;
                let value = external(value).ok_or_else(|| {
                    format!(
                        "`{value}` is not a number, `true`, `false`, `None` or a position such as `I[-1] + 1`"
                    )
                })?;
                self.externals.push(ExternalDirective { name, value, span });
                Ok(())
            }
            "halo" if ["none", "periodic", "zero-gradient"].contains(&rest) => {
                once(&mut self.halo, rest.to_owned())
            }
            "halo" => Err("`none`, `periodic` or `zero-gradient` is expected".to_owned()),
            "step" => {
                let step = step(rest, span)?;
                is_new(&step.field, self.steps.iter().map(|it| &it.field))?;
                self.steps.push(step);
                Ok(())
            }
            _ => {
                let (field, level) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let k = level_of(level.trim())?;
                self.plots.push(Plot { field: name(field)?, k, span });
                Ok(())
            }
        }
    }
}

/// `q = q_out periodic`, `h closed`
fn step(rest: &str, span: Span) -> Result<StepDirective, String> {
    let (rest, halo) = match rest.rsplit_once(char::is_whitespace) {
        Some((before, "periodic")) => (before, Halo::Periodic),
        Some((before, "closed")) => (before, Halo::Closed),
        _ => (rest, Halo::Kept),
    };
    let (field, from) = match rest.split_once('=') {
        Some((field, from)) => (field, Some(name(from.trim())?)),
        None => (rest, None),
    };
    let field = name(field.trim()).map_err(|why| format!("{why}; write `q = q_out` or `q periodic`"))?;
    Ok(StepDirective { field, from, halo, span })
}

/// `0.025 from 0 to 0.1`: the value, and the range that stands behind it.
fn with_range(text: &str) -> Result<(&str, Option<[f64; 2]>), String> {
    let Some((value, range)) = text.split_once(" from ") else { return Ok((text, None)) };
    let ends = range
        .split_once(" to ")
        .and_then(|(low, high)| Some([parse::number(low.trim())?, parse::number(high.trim())?]));
    let is_range = |it: &[f64; 2]| it[0] < it[1] && it.iter().all(|it| it.is_finite());
    let ends = ends.filter(is_range);
    ends.map(|it| (value.trim(), Some(it)))
        .ok_or_else(|| format!("`from {range}` is not a range such as `from 0 to 1`"))
}

fn keep(rest: &str) -> Result<LoopProperty, String> {
    match rest {
        "apart" => Ok(LoopProperty::Apart),
        "whole" => Ok(LoopProperty::Whole),
        "guarded" => Ok(LoopProperty::Guarded),
        _ => Err("`apart`, `whole` or `guarded` is expected".to_owned()),
    }
}

fn once<T>(slot: &mut Option<T>, value: T) -> Result<(), String> {
    if slot.is_some() {
        return Err("it is given twice, and the first one counts".to_owned());
    }
    *slot = Some(value);
    Ok(())
}

fn is_new<'n>(name: &str, mut known: impl Iterator<Item = &'n String>) -> Result<(), String> {
    if known.any(|it| it == name) {
        return Err(format!("`{name}` is given twice, and the first one counts"));
    }
    Ok(())
}

fn text(rest: &str) -> Result<String, String> {
    if rest.is_empty() { Err("its text is missing".to_owned()) } else { Ok(rest.to_owned()) }
}

fn name(text: &str) -> Result<String, String> {
    let is_letter = |it: char| it == '_' || it.is_alphabetic();
    if text.starts_with(is_letter) && text.chars().all(|it| is_letter(it) || it.is_numeric()) {
        return Ok(text.to_owned());
    }
    Err(if text.is_empty() { "a name is missing".to_owned() } else { format!("`{text}` is not a name") })
}

/// A name, or several with dots between them.
fn path(text: &str) -> Result<String, String> {
    text.split('.').try_for_each(|it| name(it).map(drop)).map(|()| text.to_owned()).map_err(
        |why| match text {
            "" => why,
            _ => format!("`{text}` is not a name"),
        },
    )
}

fn domain(rest: &str) -> Result<[i64; 3], String> {
    let sizes: Option<Vec<i64>> = rest
        .split(|it: char| it.is_whitespace() || it == ',' || it == 'x')
        .filter(|it| !it.is_empty())
        .map(|it| it.parse().ok().filter(|n| (0..=Domain::MAX_ALONG_AXIS).contains(n)))
        .collect();
    let sizes = sizes.and_then(|it| <[i64; 3]>::try_from(it).ok());
    sizes.ok_or_else(|| {
        format!("three numbers of points from 0 to {} are expected: `64 64 40`", Domain::MAX_ALONG_AXIS)
    })
}

fn assignment<'t>(rest: &'t str, example: &str) -> Result<(String, &'t str), String> {
    let expected = || format!("a name, `=` and a value are expected: `{example}`");
    let (left, value) = rest.split_once('=').ok_or_else(expected)?;
    Ok((name(left.trim())?, value.trim()))
}

fn scalar(text: &str) -> Option<ScalarInput> {
    match text {
        "true" | "True" => Some(ScalarInput::Bool(true)),
        "false" | "False" => Some(ScalarInput::Bool(false)),
        _ => match text.replace('_', "").parse() {
            Ok(value) => Some(ScalarInput::Int(value)),
            Err(_) => parse::number(text).map(ScalarInput::Float),
        },
    }
}

fn external(text: &str) -> Option<External> {
    if matches!(text, "None" | "none" | "null") {
        return Some(External::None);
    }
    match scalar(text) {
        Some(ScalarInput::Bool(value)) => Some(External::Bool(value)),
        Some(ScalarInput::Int(value)) => Some(External::Int(value)),
        Some(ScalarInput::Float(value)) => Some(External::Float(value)),
        Some(ScalarInput::Typed(_)) | None => axis_index(text),
    }
}

/// `I[0]`, `J[-1] + 2`
fn axis_index(text: &str) -> Option<External> {
    let axis = Axis::ALL.into_iter().find(|it| text.starts_with(it.name()))?;
    let (index, shift) = text[1..].trim_start().strip_prefix('[')?.split_once(']')?;
    let shift = shift.trim();
    let offset = match shift.strip_prefix(['+', '-']) {
        None if shift.is_empty() => 0,
        None => return None,
        Some(digits) if digits.trim().starts_with(|it: char| it.is_ascii_digit()) => {
            let size: i64 = digits.trim().parse().ok()?;
            if shift.starts_with('-') { -size } else { size }
        }
        Some(_) => return None,
    };
    Some(External::Axis { axis, index: Some(index.trim().parse().ok()?), offset })
}

fn level_of(text: &str) -> Result<Option<i64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.strip_prefix('k').and_then(|it| it.trim_start().strip_prefix('='));
    let level = number.and_then(|it| it.trim().parse().ok()).filter(|it| *it >= 0);
    level.map(Some).ok_or_else(|| format!("`{text}` is not a level such as `k=10`"))
}

/// Whether one letter was added, left out, replaced, or swapped with the next.
fn are_one_slip_apart(one: &str, other: &str) -> bool {
    let (a, b) = (one.as_bytes(), other.as_bytes());
    let same_start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same_start..], &b[same_start..]);
    let same_end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&a[..a.len() - same_end], &b[..b.len() - same_end]) {
        ([_], [] | [_]) | ([], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = FileId(0);

    fn directives(text: &str) -> Directives {
        let (directives, warnings) = read(text, FILE);
        assert_eq!(warnings, []);
        directives
    }

    /// The part of the text that is warned about, with the warning.
    fn warnings(text: &str) -> Vec<String> {
        let told = |it: &Diagnostic| {
            let span = it.primary.as_ref().unwrap().span;
            format!("{} {}: {}", it.code, &text[span.start as usize..span.end as usize], it.message)
        };
        read(text, FILE).1.iter().map(told).collect()
    }

    #[test]
    fn the_gallery_is_read_without_a_warning() {
        let entries = [
            include_str!("../../../../static/gallery/copy_scale.py"),
            include_str!("../../../../static/gallery/horizontal_diffusion.py"),
            include_str!("../../../../static/gallery/vertical_advection.py"),
            include_str!("../../../../static/gallery/ppm_transport.py"),
            include_str!("../../../../static/gallery/column_physics.py"),
        ];
        for entry in entries {
            let read = directives(entry);
            assert!(read.title.is_some() && !read.about.is_empty() && !read.plots.is_empty());
            assert_eq!(read.domain, Some([64, 64, 40]));
            let stencil = read.stencil.unwrap();
            assert!(entry.contains(&format!("\ndef {stencil}(")), "{stencil}");
            for input in &read.inputs {
                assert!(entry.contains(&format!("{}: FloatField", input.field)), "{}", input.field);
            }
        }
    }

    #[test]
    fn what_is_kept_is_told_above_its_statement() {
        let text = "# @keep whole\n\n    # why\n    a = b  # so\n# @keep guarded\nc = d";
        let read = directives(text);
        let below = |it: &KeepDirective| &text[it.below.start as usize..it.below.end as usize];
        let found: Vec<_> = read.keeps.iter().map(|it| (it.keep, below(it))).collect();
        assert_eq!(found, [(LoopProperty::Whole, "a = b  # so"), (LoopProperty::Guarded, "c = d")]);
        assert_eq!(
            warnings("# @keep calm\na = b\n# @keep whole\n"),
            [
                "D01 # @keep calm: this `@keep` line is ignored: `apart`, `whole` or `guarded` is expected",
                "D01 # @keep whole: this `@keep` line is ignored: no statement stands below it",
            ]
        );
    }

    #[test]
    fn all_directives_are_read() {
        let read = directives(
            "# @title A  title \n#@about One.\n  # @about Two.\nx = 1  # @title no\n# @stencil s\n# @domain 6, 5x4\n\
             # @input q constant(1)\n# @scalar n = 3\n# @scalar a = -2.5e-1\n# @scalar b = true\n# @plot q\n# @plot r k=7\n",
        );
        assert_eq!(read.title.as_deref(), Some("A  title"));
        assert_eq!(read.about, ["One.", "Two."]);
        assert_eq!(read.stencil.as_deref(), Some("s"));
        assert_eq!(read.domain, Some([6, 5, 4]));
        assert_eq!(read.input("q"), Some(&Generator::Constant(1.0)));
        assert_eq!(read.input("r"), None);
        let scalars: Vec<_> = read.scalars.iter().map(|it| (it.name.as_str(), it.value)).collect();
        let expected =
            [("n", ScalarInput::Int(3)), ("a", ScalarInput::Float(-0.25)), ("b", ScalarInput::Bool(true))];
        assert_eq!(scalars, expected);
        let plots: Vec<_> = read.plots.iter().map(|it| (it.field.as_str(), it.k)).collect();
        assert_eq!(plots, [("q", None), ("r", Some(7))]);
    }

    #[test]
    fn externals_are_numbers_truths_nothing_and_positions() {
        let value = |text: &str| directives(&format!("# @external x = {text}")).externals[0].value.clone();
        assert_eq!(value("3"), External::Int(3));
        assert_eq!(value("3.0"), External::Float(3.0));
        assert_eq!(value("False"), External::Bool(false));
        assert_eq!(value("None"), External::None);
        let position = |axis, index, offset| External::Axis { axis, index: Some(index), offset };
        assert_eq!(value("I[0]"), position(Axis::I, 0, 0));
        assert_eq!(value("J[-1]+1"), position(Axis::J, -1, 1));
        assert_eq!(value("I[ 0 ] - 32767"), position(Axis::I, 0, -32767));
    }

    #[test]
    fn a_stencil_may_be_named_by_its_path() {
        let read = read("# @stencil Model.make.s\n", FILE);
        assert_eq!((read.0.stencil.as_deref(), read.1), (Some("Model.make.s"), Vec::new()));
    }

    #[test]
    fn a_bad_line_is_left_out_with_a_warning_at_its_place() {
        let text = "x = 1\n# @domain 1 2\n  # @input q bell(\n# @plot q k=-1\n";
        assert_eq!(
            warnings(text),
            [
                "D01 # @domain 1 2: this `@domain` line is ignored: three numbers of points from 0 to 1048576 are expected: `64 64 40`",
                "D01 # @input q bell(: this `@input` line is ignored: an argument is missing",
                "D01 # @plot q k=-1: this `@plot` line is ignored: `k=-1` is not a level such as `k=10`",
            ]
        );
        assert_eq!(read(text, FILE).0, Directives::default());
    }

    #[test]
    fn every_kind_of_bad_line_is_warned_about() {
        for line in [
            "title",
            "about",
            "stencil",
            "stencil a b",
            "stencil a..b",
            "stencil .a",
            "stencil a.",
            "domain",
            "domain 1 2 3 4",
            "domain -1 2 3",
            "domain 9999999 1 1",
            "input",
            "input q",
            "input 3 1",
            "scalar a",
            "scalar a = ",
            "scalar a = x",
            "scalar = 1",
            "scalar a = inf",
            "external a = I",
            "external a = I[0",
            "external a = I[0] *",
            "external a = I[0] + -1",
            "external a = [1]",
            "plot",
            "plot q i=1",
            "title a\n# @title b",
            "input q 1\n# @input q 2",
            "scalar a=1\n# @scalar a=1",
        ] {
            assert_eq!(warnings(&format!("# @{line}")).len(), 1, "{line}");
        }
    }

    #[test]
    fn other_comments_are_left_alone() {
        let text = "# @gtscript.function\n# @stencil(backend=b)\n# @param q the field\n# @\n# mail me @input\n\
                    '# @title x'\n# @todo\n";
        assert_eq!(read(text, FILE), (Directives::default(), Vec::new()));
    }

    #[test]
    fn a_slip_in_the_word_is_pointed_out() {
        for slip in ["inputs", "inptu", "inpt", "imput"] {
            assert_eq!(
                warnings(&format!("# @{slip} q 1")),
                [format!("D01 # @{slip} q 1: `@{slip}` is no directive")]
            );
        }
    }

    #[test]
    fn any_text_is_read_without_falling_over() {
        for text in [
            "# @",
            "#@input",
            "# @input é bell()",
            "# @external x = I[é]",
            "# @plot é k",
            "\u{feff}# @title x",
        ] {
            assert!(read(text, FILE).1.len() <= 1);
        }
    }
}
