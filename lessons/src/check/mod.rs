//! The checks of a lesson: its requirements for a learner's stencil, and the messages where one is not met.
//!
//! All checks are deterministic and run where the compiler does, in the tab or in CI. A message names both
//! the found and the expected value. For a field it also names the first wrong cell. No message says only
//! that something is wrong.

mod fields;
mod property;
mod shape;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_compiler::diag::Severity;
use isobar_compiler::inputs::{Directives, directive};
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::project::Project;
use isobar_compiler::session::Session;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::fields::ResultField;
use isobar_protocol::lesson::{Task, Verdict};
use isobar_protocol::request::Request;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::toml::{self, TomlError};

/// A `checks.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    #[serde(rename = "check", default)]
    pub checks: Vec<Check>,
}

/// One check, as the file has it. Keys that its kind does not know are refused by the kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Check {
    /// The subject of the check, in the lesson's words.
    pub title: String,
    /// Printed beside the message of a failed check.
    #[serde(default)]
    pub hint: String,
    #[serde(flatten)]
    pub kind: Kind,
}

/// The kinds of check, with their keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// The text has no errors, and no warnings unless they are allowed.
    Compiles {
        #[serde(default)]
        warnings: bool,
    },
    /// The text gives this diagnostic.
    Diagnostic { code: String },
    /// The fields are those of the solution.
    Field(fields::Fields),
    /// All of these words stand in the code.
    Uses { words: Vec<String> },
    /// None of these words stands in the code.
    Avoids { words: Vec<String> },
    /// A level has at least and at most so many nodes of a kind.
    Ir {
        count: shape::Counted,
        #[serde(default)]
        least: Option<u64>,
        #[serde(default)]
        most: Option<u64>,
    },
    /// The bytes moved or the operations computed by the schedule are predicted to stay within a bound.
    Cost {
        of: shape::Costly,
        most: f64,
        #[serde(default)]
        domain: Option<[i64; 3]>,
    },
    /// The result keeps a law.
    Property(property::Property),
    /// The learner's answer to a question.
    Answer(Answer),
    /// A quiz is answered rightly.
    Quiz { id: String },
}

/// A number within a tolerance, or one of several texts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub id: String,
    #[serde(default)]
    pub number: Option<f64>,
    #[serde(default)]
    pub within: f64,
    /// Any of them does; capital letters and space are all the same.
    #[serde(default)]
    pub texts: Vec<String>,
}

/// The verdicts of all checks, with the two fields of the first check that failed over a field.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub verdicts: Vec<Verdict>,
    pub pictures: Option<Pictures>,
}

/// Two results that differ.
#[derive(Clone, Debug)]
pub struct Pictures {
    pub domain: [i64; 3],
    pub field: String,
    pub cell: [u64; 3],
    pub found: Vec<ResultField>,
    pub expected: Vec<ResultField>,
}

/// Why a check failed.
#[derive(Clone, Debug, Default)]
struct CheckFailure {
    message: String,
    line: Option<u32>,
    pictures: Option<Box<Pictures>>,
    /// Whether the checks behind it would say the same.
    ends: bool,
}

impl CheckFailure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    fn last(message: impl Into<String>) -> Self {
        Self { ends: true, ..Self::new(message) }
    }
}

/// Reads a `checks.toml`.
///
/// # Errors
///
/// Where it is not of its form.
pub fn read(text: &str) -> Result<Checks, TomlError> {
    toml::read(text)
}

/// Holds a text against what a lesson asks.
///
/// # Errors
///
/// Where the lesson itself is at fault, and not what the learner wrote.
pub fn check(session: &mut Session, task: &Task) -> Result<Outcome, String> {
    let checks = read(&task.checks).map_err(|it| format!("checks.toml: {it}"))?;
    let mut request = task.request.clone();
    // The page's choice of passes for this text is not part of the task.
    request.passes = isobar_protocol::request::Passes::default();
    let solution = Request {
        files: [("main.py".to_owned(), task.solution.clone())].into(),
        main: Some("main.py".to_owned()),
        ..Request::default()
    };
    let mut desk = Desk { session, request, solution, task };
    let mut outcome = Outcome::default();
    for check in checks.checks {
        let result = desk.look(&check.kind)?;
        let verdict = |failed: Option<&CheckFailure>| Verdict {
            title: check.title.clone(),
            kind: name(&check.kind).to_owned(),
            is_passed: failed.is_none(),
            message: failed.map(|it| it.message.clone()).unwrap_or_default(),
            hint: if failed.is_some() { check.hint.clone() } else { String::new() },
            line: failed.and_then(|it| it.line),
        };
        match result {
            Ok(()) => outcome.verdicts.push(verdict(None)),
            Err(failed) => {
                outcome.verdicts.push(verdict(Some(&failed)));
                if outcome.pictures.is_none() {
                    outcome.pictures = failed.pictures.map(|it| *it);
                }
                if failed.ends {
                    break;
                }
            }
        }
    }
    Ok(outcome)
}

fn name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Compiles { .. } => "compiles",
        Kind::Diagnostic { .. } => "diagnostic",
        Kind::Field(_) => "field",
        Kind::Uses { .. } => "uses",
        Kind::Avoids { .. } => "avoids",
        Kind::Ir { .. } => "ir",
        Kind::Cost { .. } => "cost",
        Kind::Property(_) => "property",
        Kind::Answer(_) => "answer",
        Kind::Quiz { .. } => "quiz",
    }
}

/// The learner's text beside the solution's.
struct Desk<'a> {
    session: &'a mut Session,
    request: Request,
    solution: Request,
    task: &'a Task,
}

type Look = Result<Result<(), CheckFailure>, String>;

impl Desk<'_> {
    fn look(&mut self, kind: &Kind) -> Look {
        Ok(match kind {
            Kind::Compiles { warnings } => self.compiles(*warnings),
            Kind::Diagnostic { code } => self.shows(code),
            Kind::Field(it) => return fields::look(self, it),
            Kind::Uses { words } => words::uses(self.text(), words),
            Kind::Avoids { words } => words::avoids(self.text(), words),
            Kind::Ir { count, least, most } => match self.sound() {
                Ok(compilation) => shape::counted(&compilation, *count, *least, *most),
                Err(failed) => Err(failed),
            },
            Kind::Cost { of, most, domain } => match self.sound() {
                Ok(compilation) => shape::cost(&compilation, *of, *most, *domain),
                Err(failed) => Err(failed),
            },
            Kind::Property(it) => return property::look(self, it),
            Kind::Answer(it) => answered(it, self.task.answers.get(&it.id)),
            Kind::Quiz { id } => match self.task.answers.get(id).map(String::as_str) {
                Some("right") => Ok(()),
                Some(_) => {
                    Err(CheckFailure::new("the chosen answer is not the right one yet: read it once more"))
                }
                None => Err(CheckFailure::new("nothing is chosen yet: the question stands in the text")),
            },
        })
    }

    fn text(&self) -> &str {
        self.request.main_file().and_then(|it| self.request.files.get(it)).map_or("", String::as_str)
    }

    fn compile(&mut self, is_solution: bool, externals: &BTreeMap<String, Value>) -> Arc<Compilation> {
        let mut request = if is_solution { self.solution.clone() } else { self.request.clone() };
        request.externals.extend(externals.iter().map(|(name, value)| (name.clone(), value.clone())));
        let main = request.main_file().unwrap_or_default().to_owned();
        let files = request.files.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
        let project = Project { files, main, stencil: request.stencil.clone() };
        self.session.compile(&project, &request.config(&Directives::default()), &mut NoHook)
    }

    /// The learner's text, where it compiles.
    fn sound(&mut self) -> Result<Arc<Compilation>, CheckFailure> {
        let compilation = self.compile(false, &BTreeMap::new());
        match first(&compilation, Severity::Error) {
            Some(found) => Err(not_sound(&found)),
            None if compilation.front.signature.is_none() => Err(CheckFailure::last(
                "there is no stencil in the text: it is a `def` with `with computation(...)`",
            )),
            None => Ok(compilation),
        }
    }

    fn compiles(&mut self, may_warn: bool) -> Result<(), CheckFailure> {
        let compilation = self.sound()?;
        match first(&compilation, Severity::Warning).filter(|_| !may_warn) {
            Some(found) => {
                let message =
                    format!("line {} has a warning: {} ({})", found.start.line, found.message, found.code);
                Err(CheckFailure { line: Some(found.start.line), ..CheckFailure::new(message) })
            }
            None => Ok(()),
        }
    }

    fn shows(&mut self, code: &str) -> Result<(), CheckFailure> {
        let compilation = self.compile(false, &BTreeMap::new());
        let found: Vec<String> = compilation.notes.diagnostics.iter().map(|it| it.code.to_string()).collect();
        if found.iter().any(|it| it == code) {
            return Ok(());
        }
        let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
        Err(CheckFailure::new(format!("the text is to show the problem {code}; it shows {found}")))
    }
}

/// The first diagnostic that is as grave.
fn first(compilation: &Compilation, severity: Severity) -> Option<Diagnostic> {
    let found = compilation.notes.diagnostics.iter().find(|it| it.severity == severity)?;
    Some(SpanResolver::new(compilation.front.sources()).diagnostic(found))
}

fn not_sound(found: &Diagnostic) -> CheckFailure {
    let help = found.help.as_ref().map(|it| format!("; help: {it}")).unwrap_or_default();
    let message = format!("line {} has an error: {} ({}){help}", found.start.line, found.message, found.code);
    CheckFailure { line: Some(found.start.line), ..CheckFailure::last(message) }
}

fn answered(wanted: &Answer, given: Option<&String>) -> Result<(), CheckFailure> {
    let Some(given) = given.map(|it| it.trim()).filter(|it| !it.is_empty()) else {
        return Err(CheckFailure::new("nothing is answered yet: the box stands in the text"));
    };
    if let Some(number) = wanted.number {
        let Ok(found) = given.replace(',', ".").parse::<f64>() else {
            return Err(CheckFailure::new(format!("`{given}` is no number")));
        };
        if (found - number).abs() <= wanted.within.abs() {
            return Ok(());
        }
        let side = if found < number { "more" } else { "less" };
        return Err(CheckFailure::new(format!("{given} was answered; it is {side} than that")));
    }
    let alike = |it: &str| {
        it.to_lowercase().chars().filter(|it| !it.is_whitespace() && *it != '`').collect::<String>()
    };
    if wanted.texts.iter().any(|it| alike(it) == alike(given)) {
        return Ok(());
    }
    Err(CheckFailure::new(format!("`{given}` is not it; look once more at what the task names")))
}

/// The directives of a hidden run: those of the solution, with the inputs and scalars of the check in their
/// place.
fn directives_of(
    solution: &Compilation,
    inputs: &BTreeMap<String, String>,
    scalars: &Map<String, Value>,
) -> Result<Directives, String> {
    let mut text = String::new();
    for (field, generator) in inputs {
        text.push_str(&format!("# @input {field} {generator}\n"));
    }
    for (name, value) in scalars {
        text.push_str(&format!("# @scalar {name} = {value}\n"));
    }
    let (mut directives, warnings) = directive::read(&text, isobar_compiler::diag::FileId(0));
    if let Some(warning) = warnings.first() {
        return Err(format!("checks.toml: {}", warning.message));
    }
    let own = &solution.front.directives;
    let are_new = |name: &String| !inputs.contains_key(name);
    directives.inputs.extend(own.inputs.iter().filter(|it| are_new(&it.field)).cloned());
    directives.scalars.extend(own.scalars.iter().filter(|it| !scalars.contains_key(&it.name)).cloned());
    Ok(directives)
}

impl Kind {
    /// Whether it looks at what was answered, and not at the text.
    #[must_use]
    pub fn is_question(&self) -> bool {
        matches!(self, Kind::Answer(_) | Kind::Quiz { .. })
    }
}

/// The expected answers, by question.
///
/// # Errors
///
/// Where the checks are not of their form.
pub fn answers(checks: &str) -> Result<BTreeMap<String, String>, TomlError> {
    let all = read(checks)?.checks.into_iter().filter_map(|it| match it.kind {
        Kind::Answer(Answer { id, number, texts, .. }) => {
            let said = number.map(|it| it.to_string()).or_else(|| texts.first().cloned());
            Some((id, said.unwrap_or_default()))
        }
        _ => None,
    });
    Ok(all.collect())
}
