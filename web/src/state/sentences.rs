//! The sentences about runs and their inputs, in the reader's language.

use isobar_page_model::inputs::InputType;
use isobar_page_model::learn::LessonTrouble;
use isobar_page_model::run::{Activity, Advice, Cause, Failure, Machine, Measures, Notice, RunPart, Timing};
use isobar_page_model::values::{ValueRefusal, WantedValue};
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::job::EndReason;
use isobar_protocol::limits::TAB_POINTS;
use isobar_protocol::worker::ExternalValueKind;

use super::why;
use crate::bridge::locale::t;

/// Why a run ended without a result, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailureText {
    pub message: String,
    pub diagnostics: Vec<Diagnostic>,
    pub next: Vec<String>,
}

impl FailureText {
    #[must_use]
    pub fn of(failure: &Failure) -> Self {
        let (message, advice) = of_cause(&failure.cause);
        let next = advice.map(str::to_owned).into_iter().chain(failure.next.iter().cloned()).collect();
        Self { message, diagnostics: failure.diagnostics.clone(), next }
    }
}

/// The sentence, and advice on the next step.
fn of_cause(cause: &Cause) -> (String, Option<&'static str>) {
    let bare = |message: &str| (message.to_owned(), None);
    match cause {
        Cause::TooManyPoints(points) => (
            t!("state-run-too-many-points", points = *points, most = TAB_POINTS),
            Some(t!("state-run-too-many-points-next")),
        ),
        Cause::Worker { why, cell } => (at_cell(&why::in_words(why), *cell), None),
        Cause::Browser(message) => bare(message),
        Cause::FellOver { message, advice } => (
            t!("state-run-fell-over", why = message),
            Some(match advice {
                Advice::AnotherText => t!("state-run-fell-over-next-text"),
                Advice::SmallerDomain => t!("state-run-fell-over-next-domain"),
            }),
        ),
        Cause::NotLoaded(message) => {
            (t!("state-run-not-started", why = message), Some(t!("state-run-not-started-next")))
        }
        Cause::FellOverDrawing => {
            (t!("state-run-fell-over-drawing").to_owned(), Some(t!("state-run-fell-over-drawing-next")))
        }
        Cause::Unexpected => bare(t!("state-run-unexpected")),
        Cause::NoRunner => bare(t!("state-runner-none")),
        Cause::RunnerLost => (t!("state-runner-lost").to_owned(), Some(t!("state-runner-lost-next"))),
        Cause::RunnerGarbled(what) => {
            (t!("state-runner-garbled", what = what), Some(t!("state-runner-garbled-next")))
        }
        Cause::Runner { message, limit: None } => bare(message),
        Cause::Runner { message, limit: Some(limit) } => (
            t!(
                "state-runner-limit",
                message = message,
                name = &limit.name,
                unit = &limit.unit,
                allowed = limit.allowed,
                asked = limit.asked
            ),
            None,
        ),
        Cause::Trap { message, cell } => (at_cell(message, *cell), None),
        Cause::Ended(reason) => bare(match reason {
            EndReason::Limit => t!("state-runner-ended-limit"),
            EndReason::Trap => t!("state-runner-ended-trap"),
            EndReason::Crash => t!("state-runner-ended-crash"),
            EndReason::RunnerShutdown | EndReason::Interrupted => t!("state-runner-ended-shutdown"),
            EndReason::Ok | EndReason::Cancelled | EndReason::Error => t!("state-runner-ended-error"),
        }),
        Cause::NothingToMeasure => (t!("state-bench-none").to_owned(), Some(t!("state-bench-none-next"))),
        Cause::NotChecked(why) => (t!("state-learn-not-checked", why = why), None),
        Cause::LessonAtFault(why) => (t!("state-learn-at-fault", why = why::in_words(why)), None),
    }
}

fn at_cell(message: &str, cell: Option<[i64; 3]>) -> String {
    match cell {
        Some([i, j, k]) => t!("state-run-at-cell", message = message, cell = format!("{i}, {j}, {k}")),
        None => message.to_owned(),
    }
}

/// Why something about lessons could not be opened.
#[must_use]
pub fn lesson_trouble(trouble: LessonTrouble) -> String {
    match trouble {
        LessonTrouble::Unread(why) => why,
        LessonTrouble::NoProgress => t!("state-learn-no-progress").to_owned(),
    }
}

/// How far a run is.
#[must_use]
pub fn activity(activity: &Activity) -> String {
    match activity {
        Activity::Begins(backend) => t!("state-run-begins", backend = backend),
        Activity::InThisTab(backend) => t!("state-run-in-this-tab", backend = backend),
        Activity::Compares => t!("state-run-compares").to_owned(),
        Activity::AsksRunner => t!("state-runner-asked").to_owned(),
        Activity::Waits { position, of } => t!("state-runner-waits", position = *position, of = *of),
        Activity::Stage(name) => name.clone(),
        Activity::Works => t!("state-runner-works").to_owned(),
        Activity::Rounds => t!("state-bench-rounds").to_owned(),
        Activity::Fetches(field) => t!("state-runner-fetches", field = field),
        Activity::Done(backend) => t!("state-run-done", backend = backend),
        Activity::Stopped => t!("state-run-stopped").to_owned(),
        Activity::WithoutResult => t!("state-run-without-result").to_owned(),
    }
}

/// A sentence of the status line.
#[must_use]
pub fn notice(notice: &Notice) -> String {
    match notice {
        Notice::Runs(backend) => t!("state-run-runs", backend = backend),
        Notice::Took { backend, ms } => t!("state-run-took", backend = backend, ms = *ms),
        Notice::RanRemote(backend) => t!("state-run-ran-remote", backend = backend),
        Notice::Compared { here, backend, cells } => {
            t!("state-run-compared", here = here, backend = backend, cells = *cells)
        }
        Notice::Stopped => t!("state-run-said-stopped").to_owned(),
        Notice::AskedToStop => t!("state-run-asked-to-stop").to_owned(),
        Notice::WithoutResult => t!("state-run-said-without-result").to_owned(),
        Notice::ResultsLost => t!("state-run-results-lost").to_owned(),
        Notice::Measured => t!("state-bench-done").to_owned(),
        Notice::Passed => t!("state-learn-passed").to_owned(),
        Notice::NotPassed => t!("state-learn-not-passed").to_owned(),
        Notice::Text(text) => text.clone(),
    }
}

/// Where a run ran.
#[must_use]
pub fn machine(machine: &Machine) -> String {
    match machine {
        Machine::Here(gpu) => why::machine(gpu.as_ref()),
        Machine::Runner(Some(cores)) => t!("state-run-machine-cores", cores = *cores),
        Machine::Runner(None) => t!("state-run-machine-runner").to_owned(),
        Machine::Learner => t!("state-learn-machine-yours").to_owned(),
        Machine::Solution => t!("state-learn-machine-solution").to_owned(),
    }
}

/// The part that ran.
#[must_use]
pub fn part(part: &RunPart) -> String {
    match part {
        RunPart::Here(backend) => t!("state-run-part-here", backend = backend),
        RunPart::Runner(backend) => t!("state-run-part-runner", backend = backend),
    }
}

/// How fast a step moved what it had to.
#[must_use]
pub fn rate(measures: &Measures, step: &Timing) -> Option<String> {
    let (rate, part) = measures.rate(step)?;
    let rate = t!("state-run-rate", rate = rate);
    Some(match part {
        Some((part, 0)) => t!("state-run-rate-gpu", rate = rate, part = 100.0 * part),
        Some((part, _)) => t!("state-run-rate-copying", rate = rate, part = 100.0 * part),
        None => rate,
    })
}

/// Why a text is no value, with the values that are expected.
#[must_use]
pub fn refusal(refusal: &ValueRefusal) -> String {
    let text = &refusal.text;
    let wanted = match &refusal.wanted {
        WantedValue::Bool(dtype) => t!("state-values-bool", dtype = dtype),
        WantedValue::Float(dtype) => t!("state-values-float", dtype = dtype),
        WantedValue::Whole(dtype, ends) => {
            // As text: the ends of the widest type are no numbers of the browser.
            let [least, most] = ends.map(|it| it.to_string());
            t!("state-values-int", dtype = dtype, least = least, most = most)
        }
        WantedValue::External => t!("state-values-external").to_owned(),
    };
    if text.is_empty() {
        t!("state-values-missing", wanted = wanted)
    } else {
        t!("state-values-refused", text = text, wanted = wanted)
    }
}

/// The type of a scalar, or the use of an external in a word; nothing if it may be anything.
#[must_use]
pub fn input_type(of: &InputType) -> Option<String> {
    let kind = match of {
        InputType::Scalar(dtype) => return Some(dtype.clone()),
        InputType::External(kind) => kind,
    };
    let word = match kind {
        ExternalValueKind::Number => return None,
        ExternalValueKind::WholeNumber => t!("state-inputs-whole-number"),
        ExternalValueKind::Condition => t!("state-inputs-bool"),
        ExternalValueKind::Position => t!("state-inputs-position"),
        ExternalValueKind::Object => t!("state-inputs-object"),
        ExternalValueKind::Function(_) => t!("state-inputs-function"),
    };
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use isobar_page_model::values::scalar;
    use isobar_protocol::bench::CopyRate;
    use isobar_protocol::problem::LimitHit;

    use super::*;

    #[test]
    fn a_value_that_is_refused_is_told_with_what_would_do() {
        for (text, dtype, wanted) in [
            (
                "x",
                "float64",
                "`x` does not do: float64 takes a number such as `0.5` or `-1e3`, `nan` or `inf`",
            ),
            ("", "bool", "a value is missing: bool takes `True` or `False`"),
            ("1", "bool", "`1` does not do: bool takes `True` or `False`"),
            ("128", "int8", "`128` does not do: int8 takes a whole number from -128 to 127"),
        ] {
            let told = scalar(text, dtype).err().as_ref().map(refusal);
            assert_eq!(told.as_deref(), Some(wanted));
        }
    }

    #[test]
    fn a_rate_is_told_where_bytes_and_time_are_known() {
        let part = RunPart::Here("numpy".to_owned());
        let step = |ms, bytes| Timing { name: "run".to_owned(), ms, bytes, part: part.clone() };
        let mut measures = Measures::default();
        assert_eq!(rate(&measures, &step(2.0, None)), None);
        assert_eq!(rate(&measures, &step(0.0, Some(1))), None);
        assert_eq!(rate(&measures, &step(2.0, Some(8_000_000))).as_deref(), Some("4.0 GB/s"));
        measures.copy = Some(CopyRate { bytes_per_s: 8e9, threads: 2 });
        let rate = rate(&measures, &step(2.0, Some(8_000_000)));
        assert_eq!(rate.as_deref(), Some("4.0 GB/s, 50 % of copying"));
    }

    #[test]
    fn the_page_says_what_to_do_before_the_runner_does() {
        let (unit, name) = ("MB".to_owned(), "memory".to_owned());
        let limit = Some(LimitHit { name, unit, allowed: 1, asked: 2 });
        let mut failure = Failure::from(Cause::Runner { message: "too much".to_owned(), limit });
        failure.next.push("ask for less".to_owned());
        let text = FailureText::of(&failure);
        assert_eq!(text.message, "too much (memory: 1 MB allowed, 2 asked for)");
        assert_eq!(text.next, ["ask for less"]);
        let message = "unreachable".to_owned();
        let failure = Failure::from(Cause::FellOver { message, advice: Advice::AnotherText });
        assert_eq!(
            FailureText::of(&failure).next,
            ["your source is safe; change the domain or the text and run again"]
        );
        let trap = Cause::Trap { message: "no end".to_owned(), cell: Some([1, 2, 3]) };
        assert_eq!(FailureText::of(&trap.into()).message, "no end (at i, j, k = 1, 2, 3)");
    }
}
