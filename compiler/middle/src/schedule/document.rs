//! A schedule as a document: steps that a person can read, change, keep and apply again.
//!
//! One step to a line; `#` begins a comment. `auto` lets the passes choose from there on, `auto graph` the
//! passes of the graph alone. `keep` pins a choice that passes would make otherwise. A document lists all
//! steps that were done to a tree. So applying the one that a compilation printed gives the same tree.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::analysis::launch;
use super::nodes::{Node, Placement, Tree};
use super::step::{Pin, Step, parse as parse_step};
use super::transform::Refusal;
use super::validate::rules;
use crate::diag::{FileId, StmtId};

/// A document, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    pub lines: Vec<DocumentLine>,
}

/// A line that says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLine {
    /// Bytes of the text, from where to where.
    pub at: std::ops::Range<usize>,
    pub order: ScheduleCommand,
}

/// The order that a line gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleCommand {
    Step(Step),
    /// These passes choose what is still open.
    Auto(OpenChoices),
    Pin(Pin),
}

/// The choices that a document leaves to passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpenChoices {
    /// Neither loops nor maps.
    Nothing,
    /// Which maps of the graph become one.
    Graph,
    /// Loops too.
    All,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableLine {
    pub at: std::ops::Range<usize>,
    pub message: String,
}

/// Reads a document; reports every line that cannot be read.
///
/// # Errors
///
/// The faults, line by line.
pub fn parse(text: &str) -> Result<Document, Vec<UnreadableLine>> {
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let said = line.split('#').next().unwrap_or_default();
        // A copy of a loop is `k@s3#2`: there the sign is no comment.
        let said = if said.ends_with(char::is_alphanumeric) && said.contains('@') {
            uncommented(line)
        } else {
            said
        };
        let words = said.trim();
        let from = start + (said.len() - said.trim_start().len());
        let at = from..from + words.len();
        start += line.len();
        if words.is_empty() {
            continue;
        }
        match order(words) {
            Ok(order) => lines.push(DocumentLine { at, order }),
            Err(message) => wrong.push(UnreadableLine { at, message }),
        }
    }
    if wrong.is_empty() { Ok(Document { lines }) } else { Err(wrong) }
}

/// A line up to its comment, which begins with a `#` behind a space.
fn uncommented(line: &str) -> &str {
    line.find(" #").map_or(line, |at| &line[..at])
}

fn order(words: &str) -> Result<ScheduleCommand, String> {
    match words {
        "auto" => return Ok(ScheduleCommand::Auto(OpenChoices::All)),
        "auto graph" => return Ok(ScheduleCommand::Auto(OpenChoices::Graph)),
        _ => {}
    }
    let Some(pin) = words.strip_prefix("keep ") else { return parse_step(words).map(ScheduleCommand::Step) };
    let expected = || "`keep apart s3`, `keep whole s3` or `keep guarded s3` was expected".to_owned();
    let (what, stmt) = pin.split_once(' ').ok_or_else(expected)?;
    let stmt =
        stmt.trim().strip_prefix('s').and_then(|it| it.parse().ok()).map(StmtId).ok_or_else(expected)?;
    match what {
        "apart" => Ok(ScheduleCommand::Pin(Pin::Apart(stmt))),
        "whole" => Ok(ScheduleCommand::Pin(Pin::Whole(stmt))),
        "guarded" => Ok(ScheduleCommand::Pin(Pin::Guarded(stmt))),
        _ => Err(expected()),
    }
}

/// The result of applying a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// Every line was carried out; `open` is left to the passes.
    Whole { open: OpenChoices },
    /// This line was refused, and those behind it were not carried out.
    Refused { line: std::ops::Range<usize>, refusal: Refusal },
}

/// As [`apply`], for a GPU: no loop may be left to the cores of a CPU, or to their lanes.
pub fn apply_for_gpu(tree: &mut Tree, document: &Document) -> ApplyOutcome {
    for DocumentLine { at, order } in &document.lines {
        if let ScheduleCommand::Step(Step::Place(placement @ (Placement::Threads | Placement::Simd), _)) =
            order
        {
            let what = if *placement == Placement::Threads { "the cores of a CPU" } else { "lanes of a CPU" };
            let reason = format!("loops are given to {what}, and this is compiled for a GPU");
            return ApplyOutcome::Refused { line: at.clone(), refusal: Refusal::new(reason) };
        }
    }
    apply(tree, document)
}

/// Carries out a document, line by line, up to the one that would change the meaning.
pub fn apply(tree: &mut Tree, document: &Document) -> ApplyOutcome {
    let mut open = OpenChoices::Nothing;
    for DocumentLine { at, order } in &document.lines {
        let refused = |refusal: Refusal| ApplyOutcome::Refused { line: at.clone(), refusal };
        match order {
            ScheduleCommand::Auto(OpenChoices::All) if has_launch(tree) => {
                let reason = "`auto` forms launches itself, and there are loops of a grid already";
                return refused(Refusal::new(reason));
            }
            ScheduleCommand::Auto(to) => open = open.max(*to),
            ScheduleCommand::Pin(pin) => {
                if !has_statement(tree, pin.stmt()) {
                    return refused(Refusal::new(format!("there is no statement {}", pin.stmt())));
                }
                tree.pins.insert(*pin);
            }
            ScheduleCommand::Step(step) if open != OpenChoices::Nothing => {
                return refused(Refusal::new(format!(
                    "`{step}` stands behind `auto`, which leaves nothing open"
                )));
            }
            ScheduleCommand::Step(step) => {
                if let Err(refusal) = step.clone().apply(tree) {
                    return refused(refusal);
                }
                // Steps refuse illegal changes; a tree that breaks a rule all the same is not run.
                if let Some(fault) = rules(tree).into_iter().next() {
                    return refused(Refusal::new(format!("it leaves no schedule: {fault}")));
                }
            }
        }
    }
    // Loops are given to a grid one by one, so a fault between them shows when all are placed.
    let wrong = launch::faults(tree).into_iter().next();
    if let Some((reason, DocumentLine { at, .. })) = wrong.zip(document.lines.last()) {
        return ApplyOutcome::Refused { line: at.clone(), refusal: Refusal::new(reason) };
    }
    ApplyOutcome::Whole { open }
}

/// Whether a document has begun to form a launch.
fn has_launch(tree: &Tree) -> bool {
    let mut is_any = false;
    for child in &tree.children {
        child.walk(&mut |it| {
            is_any |= match it {
                Node::Loop(it) => matches!(it.placement, Placement::Grid | Placement::Block),
                Node::Barrier => true,
                _ => false,
            }
        });
    }
    is_any
}

fn has_statement(tree: &Tree, stmt: StmtId) -> bool {
    let mut is_there = false;
    for child in &tree.children {
        child.walk(&mut |it| is_there |= it.origin().is_some_and(|it| it.stmt == stmt));
    }
    is_there
}

/// The statements of a file, each with the place where it, or a call that brings it, is written.
#[must_use]
pub fn statements_in(tree: &Tree, file: FileId) -> BTreeSet<(u32, StmtId)> {
    let mut found = BTreeSet::new();
    for child in &tree.children {
        child.walk(&mut |it| {
            let Some(origin) = it.origin() else { return };
            let here = origin.spans().iter().filter(|it| it.file == file);
            found.extend(here.map(|it| (it.start, origin.stmt)));
        });
    }
    found
}

/// The document that leads from the tree as it was lowered to this one. `said` gives the text of a statement.
#[must_use]
pub fn text(tree: &Tree, said: &dyn Fn(StmtId) -> Option<String>) -> String {
    let mut text = format!("# The schedule of {}: each step, in order.\n", tree.name);
    let mut stmts = BTreeSet::new();
    for child in &tree.children {
        child.walk(&mut |it| {
            if let (Node::Assign(_) | Node::If(_) | Node::While(_) | Node::Region(_), Some(origin)) =
                (it, it.origin())
            {
                stmts.insert(origin.stmt);
            }
        });
    }
    for stmt in stmts {
        if let Some(said) = said(stmt) {
            let _ = writeln!(text, "#   {stmt}  {said}");
        }
    }
    text.push('\n');
    for pin in &tree.pins {
        let _ = writeln!(text, "{pin}");
    }
    for step in &tree.steps {
        let _ = writeln!(text, "{step}");
    }
    text
}

impl std::fmt::Display for Pin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self {
            Pin::Apart(_) => "apart",
            Pin::Whole(_) => "whole",
            Pin::Guarded(_) => "guarded",
        };
        write!(f, "keep {what} {}", self.stmt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::parse::parse as tree;
    use crate::schedule::print::listing;

    const TREE: &str = "\
schedule chain
field a: float64[I, J + 2, K] shift [0, 1, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[I, J + 2, K] shift [0, 1, 0] heap

for k in [0, K) parallel:
  for j in [-1, J + 1) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = a[i, j + 1, k] * 2.0

for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j, k] + t[i, j + 2, k]
";

    #[test]
    fn a_document_is_carried_out_step_by_step() {
        let text_of = "merge k@s0 k@s1\ntile j 8 j@s0 .. j@s1\nthreads k@s0 # all levels\nsimd i@s1\n";
        let document = parse(text_of).expect("it can be read");
        let mut scheduled = tree(TREE).expect("it is a tree");
        assert_eq!(apply(&mut scheduled, &document), ApplyOutcome::Whole { open: OpenChoices::Nothing });
        expect_test::expect![[r#"
            schedule chain
            field a: float64[I, J + 2, K] shift [0, 1, 0] read
            field b: float64[I, J, K] shift [0, 0, 0] write
            temporary t: float64[I, 10] shift [0, -j_tile + 1] along IJ in j_tile

            threads k in [0, K) parallel:
              for j_tile in [0, J) step 8 parallel:
                for j in [j_tile - 1, min(J + 1, j_tile + 9)) parallel:
                  for i in [0, I) parallel:
                    t[i, j - j_tile + 1] = a[i, j + 1, k] * 2.0
                for j in [j_tile, min(J, j_tile + 8)) parallel:
                  simd i in [0, I) parallel:
                    b[i, j, k] = t[i, j - j_tile] + t[i, j - j_tile + 2]
        "#]]
        .assert_eq(&listing(&scheduled).text);
        // The printed document reads back, and gives the same tree again.
        let again = parse(&text(&scheduled, &|_| None)).expect("it can be read");
        let mut other = tree(TREE).expect("it is a tree");
        assert_eq!(apply(&mut other, &again), ApplyOutcome::Whole { open: OpenChoices::Nothing });
        assert_eq!(listing(&other).text, listing(&scheduled).text);
    }

    #[test]
    fn an_illegal_step_is_refused_with_its_reason() {
        let refused = |text: &str| {
            let mut scheduled = tree(TREE).expect("it is a tree");
            match apply(&mut scheduled, &parse(text).expect("it can be read")) {
                ApplyOutcome::Refused { line, refusal } => format!("{}: {refusal}", &text[line]),
                ApplyOutcome::Whole { .. } => "nothing".to_owned(),
            }
        };
        for (text, expected) in [
            ("merge j@s0 j@s1\n", "merge j@s0 j@s1: j@s1 does not stand right behind j@s0"),
            (
                "merge k@s0 k@s1\nmerge j@s0 j@s1 limited\n",
                "merge j@s0 j@s1 limited: `t` must be finished beside the point before this loop may start",
            ),
            ("# ok\n  simd k@s0 # no\n", "simd k@s0: a loop stands inside"),
            ("threads k@s0\nthreads j@s0\n", "threads j@s0: a loop around is given to threads already"),
            ("contract t in k@s0\n", "contract t in k@s0: `t` is used outside of the loop over `k`"),
            ("keep apart s9\n", "keep apart s9: there is no statement s9"),
            ("auto\nsimd i@s0\n", "simd i@s0: `simd i@s0` stands behind `auto`, which leaves nothing open"),
            (
                "auto graph\nsimd i@s0\n",
                "simd i@s0: `simd i@s0` stands behind `auto`, which leaves nothing open",
            ),
            ("swap k@s4\n", "swap k@s4: there is no loop k@s4"),
        ] {
            assert_eq!(refused(text), expected);
        }
    }

    #[test]
    fn every_line_that_cannot_be_read_is_told() {
        let text = "merge k@s0\n\nauto\nkeep calm\nsimd i@s0#2 # a copy\n";
        let wrong = parse(text).expect_err("two lines are wrong");
        let told: Vec<(&str, &str)> =
            wrong.iter().map(|it| (&text[it.at.clone()], it.message.as_str())).collect();
        assert_eq!(
            told,
            [
                ("merge k@s0", "`merge k@s0 k@s1` was expected"),
                ("keep calm", "`keep apart s3`, `keep whole s3` or `keep guarded s3` was expected"),
            ]
        );
    }
}
