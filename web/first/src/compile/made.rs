//! Completes what a pasted text does not say, so that it runs: which stencil, on which domain, with which externals,
//! scalars and fields. All of it is told to the page, and travels from there in requests like what a person typed.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_front::config::External;
use isobar_front::frontend::externals::{ExternalKind, ExternalUse, made_up};
use isobar_ground::call::launch::ScalarInput;
use isobar_ground::call::signature::Signature;
use isobar_ground::diag::catalog::compile_time::{ASSERTION, NOT_EVALUABLE, WHICH_STENCIL};
use isobar_ground::diag::catalog::names::EXTERNAL;
use isobar_ground::diag::{Code, FileId, Severity, Span};
use isobar_ground::pass::Timer;
use isobar_protocol::compile::StepTime;
use isobar_protocol::request::Request;
use isobar_protocol::worker::GuessedInputs;
use isobar_reference::front::Front;
use isobar_reference::inputs::{self, Directives, InputDirective, ScalarDirective};

use super::{Compiler, defaults};

/// The domain where nobody names one.
pub(super) const DOMAIN: [i64; 3] = [32, 32, 20];

/// Whole numbers and switches to try for externals that no convention covers, one pair after the other.
const GUESSES: [(i64, bool); 6] = [(1, true), (1, false), (5, true), (10, true), (2, false), (0, false)];
/// How many functions are tried for the externals that are called.
const FUNCTIONS: usize = 3;

/// A request completed with everything that a run needs, and its front.
pub(super) struct CompletedRequest {
    pub(super) request: Request,
    pub(super) made: GuessedInputs,
    pub(super) front: Arc<Front>,
    /// The steps of `front`.
    pub(super) times: Vec<StepTime>,
}

/// Makes up generators and values for the fields and scalars of a signature that have none.
pub(super) fn of_signature(
    signature: &Signature,
    known: &Directives,
) -> (BTreeMap<String, String>, BTreeMap<String, serde_json::Value>) {
    let fields = inputs::made_up::fields(signature, known);
    let scalars = inputs::made_up::scalars(signature, known);
    (
        fields.into_iter().map(|(name, it)| (name, it.to_string())).collect(),
        scalars.into_iter().map(|(name, it)| (name, scalar(it))).collect(),
    )
}

impl Compiler {
    /// Compiles a request, and again with what it leaves out, where that is why it does not compile.
    pub(super) fn completed(&mut self, request: &Request, clock: &dyn Fn() -> f64) -> CompletedRequest {
        let mut request = request.clone();
        let mut made = GuessedInputs::default();
        let (mut front, mut times) = self.timed(&request, clock);
        if has_error(&front, &[WHICH_STENCIL])
            && let Some((first, _)) = front.stencils.first()
        {
            made.stencil = Some(first.clone());
            made.instead_of.clone_from(&request.stencil);
            request.stencil.clone_from(&made.stencil);
            (front, times) = self.timed(&request, clock);
        }
        if request.domain.is_none() && front.directives.domain.is_none() {
            made.domain = Some(DOMAIN);
            // The last level of the domain is all of it that a front may know.
            if front.externals.iter().any(|it| it.name == "k_end") {
                request.domain = made.domain;
                (front, times) = self.timed(&request, clock);
            }
        }
        if let Some((externals, found, took)) = self.with_externals(&request, &front, clock) {
            request.externals.extend(externals.iter().map(|(name, it)| (name.clone(), it.clone())));
            made.externals = externals;
            (front, times) = (found, took);
        }
        if let Some(signature) = &front.signature {
            if let Some([_, _, levels]) = &mut made.domain {
                *levels = (*levels).max(signature.min_levels);
            }
            let known = known(&front.directives, &request);
            (made.init, made.scalars) = of_signature(signature, &known);
        }
        let request = made.complete(request);
        CompletedRequest { request, made, front, times }
    }

    /// Finds values for the externals that have none, if the text does not compile without them. Takes the
    /// first set with which the text compiles. If there is none, takes the set that leaves the fewest errors.
    #[expect(clippy::type_complexity, reason = "the parts of an answer that the caller takes apart at once")]
    fn with_externals(
        &mut self,
        request: &Request,
        plain: &Arc<Front>,
        clock: &dyn Fn() -> f64,
    ) -> Option<(BTreeMap<String, serde_json::Value>, Arc<Front>, Vec<StepTime>)> {
        let config = request.config(&plain.directives);
        let lacking: Vec<&ExternalUse> = plain
            .externals
            .iter()
            .filter(|it| {
                it.given.is_none()
                    && !config.externals.contains_key(&it.name)
                    && config.external_of_ndsl(&it.name).is_none()
            })
            .collect();
        if lacking.is_empty() || !plain.has_errors() {
            return None;
        }
        let files = request.project();
        let functions: BTreeMap<&str, Vec<String>> = lacking
            .iter()
            .filter_map(|it| match it.kind {
                ExternalKind::Function { n_args } => {
                    Some((it.name.as_str(), defaults::functions_for(&it.name, n_args, plain, &files)))
                }
                _ => None,
            })
            .collect();
        let n_functions = functions.values().map(Vec::len).max().unwrap_or(0).clamp(1, FUNCTIONS);
        let mut best: Option<(usize, _)> = None;
        for (nth, (int, switch)) in (0..n_functions).flat_map(|it| GUESSES.map(|guess| (it, guess))) {
            let value = |it: &ExternalUse| {
                let of_files =
                    functions.get(it.name.as_str()).and_then(|them| them.get(nth).or(them.first()));
                let value = match of_files {
                    Some(path) => Some(External::Function(path.clone())),
                    None => made_up(&it.name, &it.kind, int, switch, &config),
                };
                Some((it.name.clone(), defaults::external(&value?)))
            };
            let externals: BTreeMap<_, _> = lacking.iter().filter_map(|it| value(it)).collect();
            let mut attempt = request.clone();
            attempt.externals.extend(externals.clone());
            let (found, times) = self.timed(&attempt, clock);
            let n_errors = found.notes.diagnostics.iter().filter(|it| it.severity == Severity::Error).count();
            // Other values help only where it is values that are refused.
            let may_help =
                has_error(&found, &[ASSERTION, NOT_EVALUABLE, EXTERNAL]) && found.missing.is_empty();
            if best.as_ref().is_none_or(|(least, _)| n_errors < *least) {
                best = Some((n_errors, (externals, found, times)));
            }
            if n_errors == 0 || !may_help {
                break;
            }
        }
        best.map(|(_, it)| it)
    }

    fn timed(&mut self, request: &Request, clock: &dyn Fn() -> f64) -> (Arc<Front>, Vec<StepTime>) {
        let mut timer = Timer::new(clock);
        let front = self.front(request, &mut timer);
        (front, StepTime::of(&timer.into_times()))
    }
}

fn has_error(front: &Front, codes: &[Code]) -> bool {
    front.notes.diagnostics.iter().any(|it| it.severity == Severity::Error && codes.contains(&it.code))
}

/// The text's directives, with a line for each name that the request gives a value.
pub(super) fn known(directives: &Directives, request: &Request) -> Directives {
    let mut known = directives.clone();
    let span = Span::new(FileId::default(), 0, 0);
    // Generators that cannot be read are skipped.
    let readable = request.init.iter().flatten();
    for (field, generator) in
        readable.filter_map(|(it, text)| Some((it, inputs::parse::generator(text).ok()?)))
    {
        known.inputs.push(InputDirective { field: field.clone(), generator, span });
    }
    for name in request.scalars.keys() {
        let value = ScalarInput::Int(0);
        known.scalars.push(ScalarDirective { name: name.clone(), value, span });
    }
    known
}

/// Why generators of the request cannot be read, by field.
pub(super) fn refused(request: &Request) -> BTreeMap<String, String> {
    let given = request.init.iter().flatten();
    given.filter_map(|(field, text)| Some((field.clone(), inputs::parse::generator(text).err()?))).collect()
}

/// As a request has it.
fn scalar(value: ScalarInput) -> serde_json::Value {
    defaults::external(&match value {
        ScalarInput::Typed(it) => External::Typed(it),
        ScalarInput::Bool(it) => External::Bool(it),
        ScalarInput::Int(it) => External::Int(it),
        ScalarInput::Float(it) => External::Float(it),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "
def first(q: FloatField, rarea: FloatFieldIJ, mask: BoolField, dt: float, out: FloatField):
    from __externals__ import hord, scheme, ratio
    with computation(PARALLEL), interval(...):
        compile_assert(scheme == 10)
        if mask and hord < 7:
            out = q * rarea * dt * ratio
        else:
            out = 0.0

def second(p: FloatField):
    with computation(PARALLEL), interval(...):
        p = p + 1.0
";

    fn request(text: &str) -> Request {
        Request { files: [("main.py".to_owned(), text.to_owned())].into(), ..Request::default() }
    }

    fn completed(request: &Request) -> CompletedRequest {
        Compiler::default().completed(request, &|| 0.0)
    }

    #[test]
    fn what_is_made_up_is_told_and_travels_in_the_request() {
        let CompletedRequest { request: asked, made, front, .. } = completed(&request(TEXT));
        assert!(!front.has_errors(), "{:?}", front.notes.diagnostics);
        assert_eq!(made.stencil.as_deref(), Some("first"));
        assert_eq!(made.domain, Some(DOMAIN));
        // By convention, by what is tried until the text accepts it, and by use.
        assert_eq!((&made.externals["hord"], &made.externals["scheme"]), (&json!(6), &json!(10)));
        assert_eq!(made.externals["ratio"], json!(0.5));
        assert_eq!(made.scalars, [("dt".to_owned(), json!(225.0))].into());
        assert_eq!(made.init.keys().collect::<Vec<_>>(), ["mask", "q", "rarea"]);
        assert_eq!(
            (asked.stencil, asked.externals, asked.scalars),
            (made.stencil, made.externals, made.scalars)
        );
        assert_eq!(asked.init, Some(made.init));
    }

    #[test]
    fn a_completed_request_leaves_nothing_to_make_up_and_runs() {
        let mut compiler = Compiler::default();
        let asked = completed(&request(TEXT)).request;
        let again = completed(&asked);
        assert_eq!(again.made, GuessedInputs::default());
        let asked = Request { domain: Some([4, 4, 3]), ..asked };
        let (fields, _) = compiler.run(&asked, &|| 0.0, &mut |_, _| {}).unwrap();
        assert_eq!((fields.len(), fields[0].info.statistics.nan), (1, 0));
    }

    #[test]
    fn what_somebody_gave_stays() {
        let given = Request {
            stencil: Some("first".to_owned()),
            externals: [("scheme".to_owned(), json!(10)), ("hord".to_owned(), json!(9))].into(),
            scalars: [("dt".to_owned(), json!(1.0))].into(),
            init: Some([("q".to_owned(), "constant(2)".to_owned())].into()),
            ..request(&format!("# @domain 4 4 4\n# @input mask constant(1)\n{TEXT}"))
        };
        let CompletedRequest { request: asked, made, .. } = completed(&given);
        assert_eq!((made.stencil, made.domain), (None, None));
        assert_eq!(made.externals.keys().collect::<Vec<_>>(), ["ratio"]);
        assert_eq!(made.scalars.len(), 0);
        assert_eq!(made.init.keys().collect::<Vec<_>>(), ["rarea"]);
        assert_eq!((&asked.externals["hord"], &asked.scalars["dt"]), (&json!(9), &json!(1.0)));
        assert_eq!(asked.init.unwrap()["q"], "constant(2)");
    }

    #[test]
    fn a_stencil_that_is_gone_gives_way_to_the_first() {
        let made = completed(&Request { stencil: Some("gone".to_owned()), ..request(TEXT) }).made;
        assert_eq!((made.stencil.as_deref(), made.instead_of.as_deref()), (Some("first"), Some("gone")));
        // Somebody picked another one meanwhile.
        let picked = Request { stencil: Some("second".to_owned()), ..request(TEXT) };
        assert_eq!(made.complete(picked).stencil.as_deref(), Some("second"));
    }

    #[test]
    fn a_generator_that_cannot_be_read_is_told_and_not_taken() {
        let init = Some([("q".to_owned(), "gauss(1)".to_owned())].into());
        let (_, defaults) = Compiler::default().compile(&Request { init, ..request(TEXT) }, None, &|| 0.0);
        assert!(defaults.refused["q"].starts_with("there is no generator `gauss`"));
        assert!(defaults.made.init.contains_key("q"), "another one stands in");
    }

    #[test]
    fn stencils_of_all_files_are_told_with_their_places() {
        let mut asked = request(TEXT);
        asked.main = Some("main.py".to_owned());
        asked.files.insert("a.py".to_owned(), TEXT.replace("second", "third"));
        let (_, defaults) = Compiler::default().compile(&asked, None, &|| 0.0);
        let told: Vec<_> =
            defaults.stencils.iter().map(|it| (it.file.as_str(), it.name.as_str(), it.lines)).collect();
        assert_eq!(
            told,
            [
                ("main.py", "first", [2, 9]),
                ("main.py", "second", [11, 13]),
                ("a.py", "first", [2, 9]),
                ("a.py", "third", [11, 13])
            ]
        );
    }
}
