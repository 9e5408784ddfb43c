//! The effect of each pass on its level: the list of passes, and the level before and after one of them.

use isobar_ground::pass::{Difference, DifferenceMark, Trace};
use isobar_reference::front::Stage;
use serde::{Deserialize, Serialize};

use crate::compile::{Node, StageText};

/// A pass, as it went in one compilation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassStep {
    pub stage: String,
    /// With its level: `oir/merge-horizontal-executions`.
    pub pass: String,
    pub went: PassOutcome,
    /// Lines that are not in the level any more, and those that are new.
    pub removed: usize,
    pub added: usize,
}

/// The outcome of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassOutcome {
    Changed,
    Unchanged,
    /// The request leaves it out.
    Skipped,
    /// An earlier error prevents it, or a choice of the request.
    NotReached,
}

/// A pass of a level; without a name, the door to the level.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment {
    pub stage: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<String>,
}

/// A level around a pass: as it was before and as it was after, in one text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassDiff {
    pub of: Moment,
    /// The lines of both. Nodes have links and no places: these are those of any stage that has the same links.
    pub text: StageText,
    /// One sign for each line: `-`, `+`, or a space for what is in both.
    pub marks: String,
}

/// All passes with their levels, in their order, and the trace of a compilation that kept it.
#[derive(Clone, Copy, Debug)]
pub struct TracedPasses<'a> {
    pub passes: &'a [(Stage, &'static str)],
    pub trace: Option<&'a Trace>,
}

impl PassStep {
    /// All passes in their order; `skipped` are those that the compilation left out.
    #[must_use]
    pub fn all(traced: TracedPasses<'_>, skipped: impl Fn(&str) -> bool) -> Vec<Self> {
        let steps = traced.passes.iter().map(|&(stage, pass)| {
            let of = Moment { stage: stage.name().to_owned(), pass: Some(pass.to_owned()) };
            let (mut removed, mut added) = (0, 0);
            let went = match traced.difference(&of) {
                _ if skipped(pass) => PassOutcome::Skipped,
                None => PassOutcome::NotReached,
                Some(found) => {
                    removed = found.lines.iter().filter(|it| it.0 == DifferenceMark::Removed).count();
                    added = found.lines.iter().filter(|it| it.0 == DifferenceMark::Added).count();
                    if removed + added > 0 { PassOutcome::Changed } else { PassOutcome::Unchanged }
                }
            };
            Self { stage: of.stage, pass: pass.to_owned(), went, removed, added }
        });
        steps.collect()
    }
}

impl PassDiff {
    /// A level around a pass; `None` where that was not reached. A pass that was left out changed nothing.
    #[must_use]
    pub fn new(traced: TracedPasses<'_>, of: &Moment) -> Option<Self> {
        let found = traced.difference(of)?;
        let mut text = String::new();
        let mut marks = String::new();
        for (mark, line) in &found.lines {
            text.push_str(line);
            text.push('\n');
            marks.push(match mark {
                DifferenceMark::Same => ' ',
                DifferenceMark::Removed => '-',
                DifferenceMark::Added => '+',
            });
        }
        let nodes = found.nodes.iter().map(|it| Node {
            id: String::new(),
            kind: it.kind.to_owned(),
            lines: [it.lines.start, it.lines.end],
            parent: it.parent,
            spans: Vec::new(),
            links: it.stmts.iter().map(ToString::to_string).collect(),
        });
        let text = StageText { stage: of.stage.clone(), text, nodes: nodes.collect() };
        Some(Self { of: of.clone(), text, marks })
    }
}

impl TracedPasses<'_> {
    /// The change that a pass made. A pass that did not run is placed after the last earlier pass that did.
    fn difference(self, of: &Moment) -> Option<Difference> {
        let trace = self.trace?;
        let at = trace.steps.iter().position(|it| it.level == of.stage && it.pass == of.pass.as_deref());
        if let Some(at) = at {
            let after = trace.steps[at].after;
            let before = trace.before(at).map_or(after, |it| it.after);
            return Some(trace.difference(before, after));
        }
        let stage = Stage::from_name(&of.stage)?;
        let of_stage = self.passes.iter().filter(|it| it.0 == stage).map(|it| it.1);
        let earlier: Vec<&str> = of_stage.take_while(|it| Some(*it) != of.pass.as_deref()).collect();
        let is_earlier = |pass: Option<&str>| pass.is_none_or(|it| earlier.contains(&it));
        let stood = trace.steps.iter().rfind(|it| it.level == of.stage && is_earlier(it.pass))?;
        Some(trace.difference(stood.after, stood.after))
    }
}

#[cfg(test)]
mod tests {
    use isobar_compiler::pipeline::{NoHook, route};
    use isobar_front::config::Config;
    use isobar_front::project::Project;

    use super::*;

    /// The temporary is inlined, and removed later.
    const TEXT: &str = "def s(q: Field[float], r: Field[float]):\n    with computation(PARALLEL), interval(...):\n        t = q + 1.0\n        r = t[1, 0, 0] * 2.0\n";
    const INLINE: &str = "oir/inline-temporaries";

    /// The trace of a compilation that leaves out these passes.
    fn trace(skip: &[&str]) -> Trace {
        let mut config = Config::default();
        config.passes.trace = true;
        config.passes.skip = skip.iter().map(|it| (*it).to_owned()).collect();
        let compilation = route::compile(&Project::of_one("main.py", TEXT), &config, &mut NoHook);
        compilation.notes.trace.unwrap()
    }

    fn steps_of(trace: &Trace, skip: &[&str]) -> Vec<PassStep> {
        let passes: Vec<_> = route::passes().collect();
        PassStep::all(TracedPasses { passes: &passes, trace: Some(trace) }, |it| skip.contains(&it))
    }

    fn around(skip: &[&str], of: &Moment) -> PassDiff {
        let passes: Vec<_> = route::passes().collect();
        PassDiff::new(TracedPasses { passes: &passes, trace: Some(&trace(skip)) }, of).unwrap()
    }

    fn of(pass: Option<&str>) -> Moment {
        Moment { stage: "oir".to_owned(), pass: pass.map(str::to_owned) }
    }

    fn went(steps: &[PassStep], pass: &str) -> (PassOutcome, usize, usize) {
        let it = steps.iter().find(|it| it.pass == pass).unwrap();
        (it.went, it.removed, it.added)
    }

    #[test]
    fn every_pass_is_told_with_what_became_of_it() {
        let steps = steps_of(&trace(&[]), &[]);
        assert_eq!(steps.len(), route::passes().count());
        assert_eq!(went(&steps, INLINE).0, PassOutcome::Changed);
        assert_eq!(went(&steps, "oir/prune-regions"), (PassOutcome::Unchanged, 0, 0));
        let without = steps_of(&trace(&[INLINE]), &[INLINE]);
        assert_eq!(went(&without, INLINE).0, PassOutcome::Skipped);
        assert!(steps_of(&Trace::default(), &[]).iter().all(|it| it.went == PassOutcome::NotReached));
    }

    #[test]
    fn the_lines_around_a_pass_know_their_statements() {
        let around = around(&[], &of(Some(INLINE)));
        let lines: Vec<&str> = around.text.text.lines().collect();
        assert_eq!(around.marks.chars().count(), lines.len());
        let is_gone =
            |at: &usize| around.marks[*at..].starts_with('-') && lines[*at].contains("r = t[1,0,0]");
        let gone = (0..lines.len()).find(is_gone).unwrap();
        let at = u32::try_from(gone).unwrap();
        let node = around.text.nodes.iter().rfind(|it| (it.lines[0]..it.lines[1]).contains(&at)).unwrap();
        assert!(!node.links.is_empty(), "{} belongs to no statement", lines[gone]);
    }

    #[test]
    fn a_pass_that_was_left_out_changed_nothing() {
        let around = around(&[INLINE], &of(Some(INLINE)));
        assert!(around.marks.chars().all(|it| it == ' '));
        assert!(around.text.text.contains("t ="), "{}", around.text.text);
    }

    #[test]
    fn a_level_before_its_passes_is_as_it_was_lowered() {
        let around = around(&[], &of(None));
        assert!(around.marks.chars().all(|it| it == ' '));
        assert!(around.text.text.contains("t ="));
    }
}
