//! The ways of runs, from what happens to what the page does.

use isobar_protocol::field::{Difference, FieldInfo};
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::lesson::{FieldMismatch, LessonResult, Verdict};
use isobar_protocol::limits::TAB_POINTS;
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::why::Why;
use isobar_protocol::worker::{AnswerBody, Which};

use super::*;

type Effects = Vec<RunEffect<&'static str>>;

/// The page: it has the runs, and answers what only it knows.
struct Page {
    runs: Runs<&'static str>,
    facts: RunFacts,
}

impl Page {
    fn new() -> Self {
        let facts = RunFacts { domain: [4, 4, 4], precision: 64, revision: 1, now_ms: 100.0 };
        let mut page = Self { runs: Runs::default(), facts };
        page.take(RunEvent::TextChanged(1));
        page.take(RunEvent::Compiled { is_newest: true, has_errors: false, has_steps: true });
        page
    }

    /// Returns the effects of an event. A run is told its facts at once.
    fn take(&mut self, event: RunEvent<&'static str>) -> Effects {
        let mut all = Vec::new();
        let mut open = vec![event];
        while let Some(event) = open.pop() {
            for effect in self.runs.take(event) {
                match effect {
                    RunEffect::Prepare(ticket) => open.push(RunEvent::Prepared(ticket, self.facts)),
                    other => all.push(other),
                }
            }
        }
        all
    }

    fn say(&mut self, ticket: Ticket, said: AnswerBody) -> Effects {
        self.take(RunEvent::Said(ticket, Box::new(said), "bits", 142.4))
    }

    /// Asks for a run, and has the compiler answer; the ticket of its first question.
    fn asked(&mut self, plan: RunPlan) -> Ticket {
        let effects = self.take(RunEvent::Asked(plan));
        assert_eq!(effects.last(), Some(&RunEffect::AwaitCompiler));
        ticket(&self.take(RunEvent::Answered))
    }

    /// Has the result in the picture of a run whose fields are on their way to the keeper.
    fn shown(&mut self, effects: &Effects) -> Effects {
        let effects = self.say(ticket(effects), AnswerBody::Stored);
        let Some(RunEffect::Show(generation)) = effects.last() else { panic!("{effects:?}") };
        self.take(RunEvent::Seen(*generation))
    }

    /// A whole run in this tab.
    fn run_here(&mut self) -> Effects {
        let ticket = self.asked(RunPlan::Here("numpy".to_owned()));
        let effects = self.say(ticket, ran());
        self.shown(&effects)
    }

    fn heard(&mut self, ticket: Ticket, event: EventKind) -> Effects {
        self.take(RunEvent::Heard(ticket, Box::new(event)))
    }

    /// A job that has a name.
    fn named_job(&mut self, plan: RunPlan) -> Ticket {
        let ticket = self.asked(plan);
        let ticket = self::ticket(&self.take(RunEvent::Reached(ticket)));
        assert_eq!(self.take(RunEvent::JobNamed(ticket, "j1".to_owned())), []);
        ticket
    }

    fn cause(&self) -> &Cause {
        &self.runs.failure().expect("a failure").cause
    }
}

/// The last question.
fn ticket(effects: &Effects) -> Ticket {
    let of = |it: &RunEffect<_>| match it {
        RunEffect::Ask(ticket, _)
        | RunEffect::Store(ticket, ..)
        | RunEffect::Compare(ticket)
        | RunEffect::Reach(ticket)
        | RunEffect::Submit(ticket, _)
        | RunEffect::Fetch(ticket, ..)
        | RunEffect::Record(ticket, _)
        | RunEffect::Wait(ticket, _) => Some(*ticket),
        _ => None,
    };
    effects.iter().rev().find_map(of).unwrap_or_else(|| panic!("no question: {effects:?}"))
}

fn fields() -> Vec<FieldInfo> {
    vec![FieldInfo { name: "q".to_owned(), ..FieldInfo::default() }]
}

fn ran() -> AnswerBody {
    let timings = vec![MeasuredStep { step: "run".to_owned(), ms: 2.0, bytes: Some(8) }];
    AnswerBody::Ran { fields: fields(), timings, calls: Vec::new(), gpu: None }
}

fn stepped(step: u64) -> AnswerBody {
    AnswerBody::Stepped { step, fields: fields(), ms: 1.0 }
}

fn difference(differing: u64) -> AnswerBody {
    let (worst, worst_values) = (None, None);
    let name = "q".to_owned();
    let one = Difference { name, cells: 64, differing, max_ulp: None, max_abs: 0.0, worst, worst_values };
    AnswerBody::Compared { differences: vec![one] }
}

fn ended(reason: EndReason) -> EventKind {
    EventKind::Ended { reason, problem: None }
}

fn working(backend: &str) -> Phase {
    Phase::Working(backend.to_owned())
}

fn done(backend: &str) -> Phase {
    Phase::Done(backend.to_owned())
}

#[test]
fn a_run_waits_for_the_compiler_then_for_its_worker_and_until_it_is_seen() {
    let mut page = Page::new();
    let effects = page.take(RunEvent::Asked(RunPlan::Here("numpy".to_owned())));
    let runs = Notice::Runs("numpy".to_owned());
    assert_eq!(effects, [RunEffect::Say(runs), RunEffect::AwaitCompiler]);
    assert_eq!(page.runs.phase(), working("numpy"));
    let effects = page.take(RunEvent::Answered);
    let ask = TabAsk::Run { backend: "numpy".to_owned(), domain: [4, 4, 4] };
    let asked = ticket(&effects);
    assert_eq!(effects, [RunEffect::Ask(asked, ask), RunEffect::Remind(asked)]);
    page.take(RunEvent::Progress(1, 4));
    let progress = page.runs.progress.clone().expect("it is told");
    assert_eq!((progress.activity, progress.steps), (Activity::InThisTab("numpy".to_owned()), Some((1, 4))));
    let effects = page.say(asked, ran());
    let took = Notice::Took { backend: "numpy".to_owned(), ms: 42.0 };
    assert_eq!(effects[0], RunEffect::Say(took));
    assert_eq!(effects[1], RunEffect::Store(ticket(&effects), Which::A, fields(), "bits"));
    assert_eq!(page.runs.results.a, None, "the one before stays until the keeper has this one");
    let effects = page.say(ticket(&effects), AnswerBody::Stored);
    assert_eq!(effects, [RunEffect::Look(Which::A, fields()), RunEffect::Show(1)]);
    assert_eq!(page.runs.phase(), working("numpy"), "until it is seen");
    assert_eq!(page.take(RunEvent::Seen(1)), []);
    assert_eq!(page.runs.phase(), done("numpy"));
    assert_eq!(page.runs.progress.as_ref().map(|it| &it.activity), Some(&Activity::Done("numpy".to_owned())));
    let a = page.runs.results.a.as_ref().expect("a result");
    assert_eq!((a.revision, a.precision, &a.machine), (1, 64, &Machine::Here(None)));
    assert_eq!(page.runs.results.measures.timings[0].part, RunPart::Here("numpy".to_owned()));
}

#[test]
fn a_second_run_is_refused_while_one_goes_on() {
    let mut page = Page::new();
    page.asked(RunPlan::Here("numpy".to_owned()));
    assert_eq!(page.take(RunEvent::Asked(RunPlan::Measure)), []);
    assert_eq!(page.runs.phase(), working("numpy"));
}

#[test]
fn a_run_that_waits_for_the_compiler_stops_at_once() {
    let mut page = Page::new();
    page.take(RunEvent::Asked(RunPlan::Here("numpy".to_owned())));
    assert_eq!(page.take(RunEvent::StopAsked), [RunEffect::Say(Notice::Stopped)]);
    assert_eq!(page.runs.phase(), Phase::Cancelled);
    assert_eq!(page.take(RunEvent::Answered), [], "nobody waits any more");
    assert_eq!(page.runs.phase(), Phase::Cancelled);
}

#[test]
fn a_run_in_this_tab_is_stopped_with_its_worker() {
    let mut page = Page::new();
    page.run_here();
    let before = page.runs.results.clone();
    let asked = page.asked(RunPlan::Here("debug".to_owned()));
    assert_eq!(page.runs.results.measures, Measures::default());
    assert_eq!(page.take(RunEvent::StopAsked), [RunEffect::StopWorker]);
    assert_eq!(page.take(RunEvent::StopAsked), [], "once is enough: there is another worker now");
    assert_eq!(page.runs.phase(), working("debug"), "until the worker has ended");
    assert_eq!(page.take(RunEvent::Gone(asked, WorkerGone::Stopped)), [RunEffect::Say(Notice::Stopped)]);
    assert_eq!(page.runs.phase(), Phase::Cancelled);
    assert_eq!(page.runs.results.measures, before.measures, "those of the result that is shown");
    assert_eq!(page.runs.results.a, before.a);
}

#[test]
fn a_run_that_gives_way_is_followed_by_the_one_that_is_chosen() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Here("debug".to_owned()));
    assert!(!page.runs.is_long());
    page.take(RunEvent::TookLong(asked));
    assert!(page.runs.is_long());
    assert_eq!(page.take(RunEvent::InsteadAsked), [RunEffect::StopWorker]);
    let effects = page.take(RunEvent::Gone(asked, WorkerGone::Stopped));
    assert_eq!(effects, [RunEffect::Say(Notice::Stopped), RunEffect::RunChosen]);
    assert_eq!(page.take(RunEvent::InsteadAsked), [RunEffect::RunChosen], "where nothing runs");
}

#[test]
fn too_many_points_are_refused_before_the_worker_is_asked() {
    let mut page = Page::new();
    page.facts.domain = [TAB_POINTS, 2, 1];
    page.take(RunEvent::Asked(RunPlan::Here("numpy".to_owned())));
    assert_eq!(page.take(RunEvent::Answered), [RunEffect::Say(Notice::WithoutResult)]);
    assert_eq!(page.cause(), &Cause::TooManyPoints(2 * TAB_POINTS));
}

#[test]
fn the_end_of_a_run_of_another_text_is_dropped() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Here("numpy".to_owned()));
    assert_eq!(page.take(RunEvent::Forgotten), [RunEffect::StopWorker]);
    assert_eq!((page.runs.phase(), &page.runs.progress), (Phase::Empty, &None));
    assert_eq!(page.say(asked, ran()), [RunEffect::Say(Notice::Stopped)]);
    assert_eq!((page.runs.phase(), &page.runs.results.a), (Phase::Empty, &None));
    assert_eq!(page.say(asked, ran()), [], "it is told once");

    let asked = page.asked(RunPlan::Here("numpy".to_owned()));
    page.take(RunEvent::Forgotten);
    let next = page.asked(RunPlan::Here("numpy".to_owned()));
    assert_eq!(page.take(RunEvent::Gone(asked, WorkerGone::Stopped)), [], "the next one is told about");
    let effects = page.say(next, ran());
    page.shown(&effects);
    assert_eq!(page.runs.phase(), done("numpy"));
}

#[test]
fn a_worker_that_falls_over_is_replaced_and_told_of() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Here("numpy".to_owned()));
    let effects = page.take(RunEvent::Gone(asked, WorkerGone::Crashed("unreachable".to_owned())));
    assert_eq!(effects, [RunEffect::MakeReady, RunEffect::Say(Notice::WithoutResult)]);
    let (message, advice) = ("unreachable".to_owned(), Advice::AnotherText);
    assert_eq!(page.cause(), &Cause::FellOver { message, advice });

    let asked = page.asked(RunPlan::Here("numpy".to_owned()));
    assert_eq!(page.runs.failure(), None, "a new run forgets why the last one failed");
    let effects = page.take(RunEvent::Gone(asked, WorkerGone::NotLoaded("404".to_owned())));
    assert_eq!(effects, [RunEffect::Say(Notice::WithoutResult)], "it is not started over and over");
    assert_eq!(page.cause(), &Cause::NotLoaded("404".to_owned()));
}

#[test]
fn a_keeper_that_falls_over_takes_the_results_with_it() {
    let mut page = Page::new();
    page.run_here();
    let asked = page.asked(RunPlan::Here("numpy".to_owned()));
    let effects = page.say(asked, ran());
    let generation = page.runs.results.generation;
    let effects = page.take(RunEvent::Gone(ticket(&effects), WorkerGone::Crashed("memory".to_owned())));
    assert_eq!(effects, [RunEffect::MakeReady, RunEffect::Say(Notice::WithoutResult)]);
    let (message, advice) = ("memory".to_owned(), Advice::SmallerDomain);
    assert_eq!(page.cause(), &Cause::FellOver { message, advice });
    assert_eq!((&page.runs.results.a, page.runs.results.generation), (&None, generation + 1));
}

#[test]
fn a_keeper_that_falls_over_while_it_is_looked_at_is_told_of_unless_a_run_goes_on() {
    let crashed = || RunEvent::KeeperGone(WorkerGone::Crashed("memory".to_owned()));
    let mut page = Page::new();
    page.run_here();
    assert_eq!(page.take(crashed()), [RunEffect::MakeReady, RunEffect::Say(Notice::ResultsLost)]);
    assert_eq!((page.runs.phase(), &page.runs.progress), (Phase::Failed, &None));
    assert_eq!(page.runs.results.measures, Measures::default());

    let asked = page.asked(RunPlan::Here("numpy".to_owned()));
    assert_eq!(page.take(crashed()), [RunEffect::MakeReady]);
    let effects = page.say(asked, ran());
    let effects = page.say(ticket(&effects), AnswerBody::Stored);
    page.take(crashed());
    assert_eq!(effects.len(), 2);
    let generation = page.runs.results.generation;
    assert_eq!(page.take(RunEvent::Seen(generation)), [RunEffect::Say(Notice::WithoutResult)]);
    assert_eq!(page.cause(), &Cause::FellOverDrawing);
}

#[test]
fn a_check_runs_twice_and_compares() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Check("numpy".to_owned()));
    let effects = page.say(asked, ran());
    let effects = page.shown(&effects);
    assert_eq!(effects[0], RunEffect::Say(Notice::Runs("debug".to_owned())));
    assert_eq!(page.runs.phase(), working("debug"));
    let effects = page.say(ticket(&effects), ran());
    assert_eq!(page.runs.results.measures.timings.len(), 2);
    let effects = page.shown(&effects);
    assert_eq!(effects, [RunEffect::Compare(ticket(&effects))]);
    assert_eq!(page.runs.progress.as_ref().map(|it| &it.activity), Some(&Activity::Compares));
    let (here, backend) = ("numpy".to_owned(), "debug".to_owned());
    let compared = RunEffect::Say(Notice::Compared { here, backend, cells: 3 });
    assert_eq!(page.say(ticket(&effects), difference(3)), [compared, RunEffect::LookAtDifference]);
    assert_eq!(page.runs.phase(), done("debug"));
    assert!(!page.runs.results.is_comparison_old(1) && page.runs.results.is_comparison_old(2));
}

#[test]
fn a_check_that_is_stopped_while_it_draws_runs_no_further() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Check("numpy".to_owned()));
    let effects = page.say(asked, ran());
    assert_eq!(page.take(RunEvent::StopAsked), []);
    assert_eq!(page.shown(&effects), [RunEffect::Say(Notice::Stopped)]);
    assert_eq!(page.runs.phase(), Phase::Cancelled);
    assert!(page.runs.results.a.is_some(), "what it has drawn stays");
}

#[test]
fn a_run_on_the_runner_tells_of_its_job_and_fetches_the_fields() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Remote("rayon".to_owned()));
    assert_eq!(page.runs.progress.as_ref().map(|it| &it.activity), Some(&Activity::AsksRunner));
    let effects = page.take(RunEvent::Reached(asked));
    let job = JobAsk::Run { backend: "rayon".to_owned(), domain: [4, 4, 4] };
    let asked = ticket(&effects);
    assert_eq!(effects, [RunEffect::Submit(asked, job)]);
    page.take(RunEvent::JobNamed(asked, "j1".to_owned()));
    page.heard(asked, EventKind::Field { field: FieldInfo::default() });
    page.heard(asked, EventKind::Restarted { was_running: true });
    page.heard(asked, EventKind::Field { field: fields().remove(0) });
    page.heard(asked, EventKind::Timing { name: "run".to_owned(), ms: 1.0, bytes: None });
    let text = "near".to_owned();
    let said = RunEffect::Say(Notice::Text(text.clone()));
    assert_eq!(page.heard(asked, EventKind::Log { text }), [said]);
    page.heard(asked, ended(EndReason::Ok));
    let effects = page.take(RunEvent::Followed(asked));
    let asked = ticket(&effects);
    assert_eq!(effects, [RunEffect::Fetch(asked, "j1".to_owned(), fields())]);
    page.take(RunEvent::Fetching(asked, "q".to_owned()));
    assert_eq!(page.runs.progress.as_ref().map(|it| &it.activity), Some(&Activity::Fetches("q".to_owned())));
    let effects = page.take(RunEvent::Fetched(asked, "bytes", Some(8)));
    assert_eq!(effects, [RunEffect::Store(ticket(&effects), Which::B, fields(), "bytes")]);
    assert_eq!(page.shown(&effects), [RunEffect::Say(Notice::RanRemote("rayon".to_owned()))]);
    let b = page.runs.results.b.as_ref().expect("a result");
    assert_eq!(b.machine, Machine::Runner(Some(8)));
    assert_eq!(page.runs.results.measures.timings[0].part, RunPart::Runner("rayon".to_owned()));
}

#[test]
fn a_job_is_cancelled_by_its_name() {
    let mut page = Page::new();
    let asked = page.named_job(RunPlan::Remote("rayon".to_owned()));
    let cancel = || [RunEffect::Say(Notice::AskedToStop), RunEffect::Cancel("j1".to_owned())];
    assert_eq!(page.take(RunEvent::StopAsked), cancel());
    assert_eq!(page.take(RunEvent::StopAsked), cancel(), "the first word may be lost");
    page.heard(asked, ended(EndReason::Cancelled));
    assert_eq!(page.take(RunEvent::Followed(asked)), [RunEffect::Say(Notice::Stopped)]);
    assert_eq!(page.runs.phase(), Phase::Cancelled);
}

#[test]
fn a_job_that_has_no_name_yet_is_cancelled_when_it_has() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Remote("rayon".to_owned()));
    let asked = ticket(&page.take(RunEvent::Reached(asked)));
    assert_eq!(page.take(RunEvent::StopAsked), []);
    let effects = page.take(RunEvent::JobNamed(asked, "j1".to_owned()));
    assert_eq!(effects, [RunEffect::Say(Notice::AskedToStop), RunEffect::Cancel("j1".to_owned())]);

    let mut page = Page::new();
    let asked = page.asked(RunPlan::Remote("rayon".to_owned()));
    let asked = ticket(&page.take(RunEvent::Reached(asked)));
    page.take(RunEvent::Forgotten);
    let effects = page.take(RunEvent::JobNamed(asked, "j1".to_owned()));
    assert_eq!(effects, [RunEffect::Cancel("j1".to_owned())], "nor does one of another text go on");
    assert_eq!(page.heard(asked, ended(EndReason::Cancelled)), []);
    assert_eq!(page.take(RunEvent::Followed(asked)), [RunEffect::Say(Notice::Stopped)]);
    assert_eq!(page.runs.phase(), Phase::Empty);
}

#[test]
fn a_run_that_is_stopped_before_the_runner_answers_submits_nothing() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Remote("rayon".to_owned()));
    page.take(RunEvent::StopAsked);
    assert_eq!(page.take(RunEvent::Reached(asked)), [RunEffect::Say(Notice::Stopped)]);
}

#[test]
fn a_trap_of_the_runner_comes_before_the_kind_of_end() {
    let trap = |message: &str, cell| EventKind::Trap { message: message.to_owned(), diagnostic: None, cell };
    let cause = |events: Vec<EventKind>| {
        let mut page = Page::new();
        let asked = page.named_job(RunPlan::Remote("rayon".to_owned()));
        for event in events {
            page.heard(asked, event);
        }
        page.take(RunEvent::Followed(asked));
        page.cause().clone()
    };
    let (message, cell) = ("no end".to_owned(), Some([1, 2, 3]));
    assert_eq!(cause(vec![trap("no end", cell), ended(EndReason::Trap)]), Cause::Trap { message, cell });
    assert_eq!(cause(vec![trap("", None), ended(EndReason::Limit)]), Cause::Ended(EndReason::Limit));
    assert_eq!(cause(vec![]), Cause::Unexpected);
}

#[test]
fn a_runner_that_is_lost_ends_the_run() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Compare("numpy".to_owned(), "rayon".to_owned()));
    let effects = page.say(asked, ran());
    let effects = page.shown(&effects);
    assert_eq!(page.runs.phase(), working("rayon"));
    page.take(RunEvent::RunnerFailed(ticket(&effects), RunnerTrouble::Lost));
    assert_eq!((page.runs.phase(), page.cause()), (Phase::Failed, &Cause::RunnerLost));
    assert!(page.runs.results.a.is_some(), "the result of this tab stays");
}

#[test]
fn a_failure_is_old_once_the_text_is_another() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Here("numpy".to_owned()));
    page.say(asked, AnswerBody::Failed { why: Why::NoGpu });
    assert!(!page.runs.is_failure_old());
    page.take(RunEvent::TextChanged(2));
    assert!(page.runs.is_failure_old());
    assert_eq!(page.cause(), &Cause::Worker { why: Why::NoGpu, cell: None });
}

#[test]
fn a_measurement_leaves_the_measures_of_the_result_that_is_shown() {
    let mut page = Page::new();
    page.run_here();
    let before = page.runs.results.measures.clone();
    let asked = page.named_job(RunPlan::Measure);
    page.heard(asked, EventKind::Progress { done: 1, total: 2 });
    assert_eq!(page.runs.progress.as_ref().map(|it| &it.activity), Some(&Activity::Rounds));
    page.heard(asked, EventKind::Timing { name: "run".to_owned(), ms: 1.0, bytes: None });
    page.heard(asked, ended(EndReason::Crash));
    page.take(RunEvent::Followed(asked));
    assert_eq!(page.cause(), &Cause::Ended(EndReason::Crash));
    assert_eq!(page.runs.results.measures, before);
}

#[test]
fn steps_follow_each_other_while_they_play() {
    let mut page = Page::new();
    let effects = page.take(RunEvent::PlayAsked);
    let asked = ticket(&effects);
    assert_eq!(page.runs.phase(), Phase::Empty, "a step is no run");
    let effects = page.say(asked, stepped(1));
    assert_eq!(page.shown(&effects), [RunEffect::Record(Ticket(3), 1)]);
    assert_eq!((page.runs.phase(), page.runs.clock.step), (done("numpy"), Some(1)));
    let effects = page.take(RunEvent::Recorded(Ticket(3), 110.0));
    let RunEffect::Wait(frame, ms) = effects[0] else { panic!("{effects:?}") };
    assert!((29.9..30.1).contains(&ms), "{ms}");
    assert!(page.runs.clock.is_playing());
    let effects = page.take(RunEvent::FrameDue(frame));
    assert!(matches!(effects[0], RunEffect::Ask(_, TabAsk::Step { restart: false, count: 1, .. })));
    page.take(RunEvent::TextChanged(2));
    assert!(!page.runs.clock.is_playing());
    page.say(ticket(&effects), stepped(2));
    assert_eq!(page.runs.clock.step, Some(1), "another text has the picture now");
    assert_eq!(page.runs.phase(), done("numpy"));
    assert_eq!(page.take(RunEvent::FrameDue(frame)), []);
}

#[test]
fn a_step_that_takes_long_is_stopped_as_a_run_is() {
    let mut page = Page::new();
    let asked = ticket(&page.take(RunEvent::StepAsked));
    assert_eq!(page.take(RunEvent::StopAsked), [], "nothing runs that could be seen");
    page.take(RunEvent::TookLong(asked));
    assert_eq!((page.runs.phase(), page.runs.is_long()), (working("numpy"), true));
    assert_eq!(page.take(RunEvent::StopAsked), [RunEffect::StopWorker]);
    let effects = page.take(RunEvent::Gone(asked, WorkerGone::Stopped));
    assert_eq!(effects, [RunEffect::Say(Notice::Stopped)]);
    assert_eq!(page.runs.phase(), Phase::Cancelled);
}

#[test]
fn a_run_takes_the_place_of_a_step() {
    let mut page = Page::new();
    let step = ticket(&page.take(RunEvent::StepAsked));
    let asked = page.asked(RunPlan::Here("numpy".to_owned()));
    assert_eq!(page.say(step, stepped(1)), []);
    assert_eq!(page.runs.results.a, None);
    let effects = page.say(asked, ran());
    page.shown(&effects);
    assert_eq!((page.runs.phase(), page.runs.clock.step), (done("numpy"), None));

    let step = ticket(&page.take(RunEvent::StepAsked));
    let stored = ticket(&page.say(step, stepped(1)));
    page.asked(RunPlan::Here("numpy".to_owned()));
    assert_eq!(page.say(stored, AnswerBody::Stored), [RunEffect::Look(Which::A, fields())]);
    assert_eq!(page.runs.results.a.as_ref().and_then(|it| it.step), Some(1), "as the keeper has it");
    assert_eq!(page.runs.phase(), working("numpy"));
}

#[test]
fn a_scalar_that_changes_takes_the_steps_again() {
    let mut page = Page::new();
    page.run_here();
    let ask = |effects: &Effects| match &effects[0] {
        RunEffect::Ask(_, TabAsk::Step { restart, count, .. }) => (*restart, *count),
        _ => panic!("{effects:?}"),
    };
    let effects = page.take(RunEvent::Slid);
    assert_eq!(ask(&effects), (true, 1), "a single run is the first step");
    assert_eq!(page.take(RunEvent::Slid), [], "the step that is taken comes first");
    let effects = page.say(ticket(&effects), stepped(3));
    let recorded = ticket(&page.shown(&effects));
    let effects = page.take(RunEvent::Recorded(recorded, 0.0));
    assert_eq!(ask(&effects), (true, 3));
}

#[test]
fn what_is_opened_runs_when_it_is_compiled() {
    let compiled = |is_newest, has_steps| RunEvent::Compiled { is_newest, has_errors: false, has_steps };
    let mut page = Page::new();
    page.take(RunEvent::RunWhenCompiled(Some(FIRST_STEPS)));
    assert_eq!(page.take(compiled(false, true)), []);
    assert_eq!(page.take(compiled(true, true)).len(), 2);
    assert!(page.runs.clock.is_playing() && !page.runs.clock.is_awaited());

    let mut page = Page::new();
    page.take(RunEvent::RunWhenCompiled(Some(FIRST_STEPS)));
    page.take(RunEvent::PauseAsked);
    assert_eq!(page.take(compiled(true, true)).len(), 2);
    assert!(!page.runs.clock.is_playing(), "a pause leaves one step of it");

    let mut page = Page::new();
    page.take(RunEvent::RunWhenCompiled(None));
    assert_eq!(page.take(compiled(true, false)).last(), Some(&RunEffect::AwaitCompiler));
    assert_eq!(page.runs.phase(), working("numpy"));
}

#[test]
fn a_lesson_that_is_passed_shows_its_result_and_is_passed_without_one() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Lesson);
    let verdicts = vec![Verdict { is_passed: true, ..Verdict::default() }];
    let checked = LessonResult { verdicts, shown: None };
    let effects = page.take(RunEvent::Checked(asked, Box::new(checked.clone()), ["", ""]));
    assert_eq!(effects[0], RunEffect::Judge(Box::new(checked), 1));
    assert_eq!(effects[1], RunEffect::Say(Notice::Passed));
    let gone = WorkerGone::Crashed("unreachable".to_owned());
    let effects = page.take(RunEvent::Gone(ticket(&effects), gone));
    assert_eq!(effects, [RunEffect::MakeReady, RunEffect::Say(Notice::Passed)]);
    assert_eq!(page.runs.phase(), done("check"));
}

#[test]
fn a_lesson_that_is_not_passed_shows_both_results() {
    let mut page = Page::new();
    let asked = page.asked(RunPlan::Lesson);
    let (found, expected) = (fields(), fields());
    let shown = FieldMismatch { field: "q".to_owned(), cell: [1, 2, 3], found, expected, domain: [2, 2, 2] };
    let checked = LessonResult { shown: Some(shown), ..LessonResult::default() };
    let effects = page.take(RunEvent::Checked(asked, Box::new(checked), ["mine", "theirs"]));
    assert_eq!(effects.last(), Some(&RunEffect::Store(ticket(&effects), Which::A, fields(), "mine")));
    let effects = page.shown(&effects);
    assert_eq!(effects, [RunEffect::Store(ticket(&effects), Which::B, fields(), "theirs")]);
    assert_eq!(page.shown(&effects), [RunEffect::LookAtMismatch("q".to_owned(), 3)]);
    assert_eq!(page.runs.phase(), done("check"));
}
