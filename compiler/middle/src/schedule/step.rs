//! One step of a schedule as it is written in a document: a transformation and the loops it is about. A
//! [`Pin`] is a choice that passes leave as it is.

use std::fmt;

use super::nodes::{Loop, Placement, Tree};
use super::transform::refusal::Refusal;
use super::visit::place::Path;
use crate::diag::StmtId;
use crate::space::{Affine, Axis, Symbol, names};

/// A loop, by its variable and a statement inside: `k@s3`, and `k@s3#2` where the statement stands in several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRef {
    pub variable: Symbol,
    pub stmt: StmtId,
    /// Counted from 1, in the order of the text.
    pub copy: usize,
}

/// How loops of different ranges are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// They stay apart.
    Equal,
    /// The merged loop has all iterations, and each body is limited to its own.
    Limited,
    /// The same, with the limits inside of the loops of each body.
    Inside,
    /// The merged loop has the positions of the compute domain; those beside it stay loops of their own, before it.
    Domain,
}

/// A change of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The second loop continues the first, behind which it stands.
    Merge { first: LoopRef, second: LoopRef, ranges: Ranges },
    /// The loop and the one inside change places.
    Swap(LoopRef),
    /// The loop is cut before the child that holds a statement.
    Distribute { at: LoopRef, before: LoopRef },
    /// The loop becomes two.
    Split { at: LoopRef, position: Affine },
    /// The loop is split at the bounds of the regions inside.
    Peel(LoopRef),
    /// A loop that runs once is removed.
    Drop(LoopRef),
    /// The neighbours from the first to the last loop run tile by tile.
    Tile { axis: Axis, size: i64, first: LoopRef, last: LoopRef },
    /// The neighbours from the first to the last loop run position by position, each ahead of those behind it.
    Roll { axis: Axis, first: LoopRef, last: LoopRef },
    /// The last of the neighbours itself computes the values that it reads from those before it.
    Recompute { first: LoopRef, last: LoopRef },
    /// The loop itself computes the elements that it reads of an array that loops before it wrote.
    Repeat { container: String, owner: LoopRef },
    /// The values that the sweeps inside write into a field and read again get an array of their own.
    Copy { container: String, owner: LoopRef },
    /// Each iteration has its own array.
    Contract { container: String, owner: LoopRef },
    /// A loop without an order becomes one over tiles of so many positions, and one over these.
    Cut { at: LoopRef, size: i64 },
    /// Where on a GPU an array of iterations lives.
    Reside { container: String, place: Residence },
    /// The threads of a block wait for each other before or behind the loop.
    Barrier { side: Side, at: LoopRef },
    /// The hardware that carries out the loop.
    Place(Placement, LoopRef),
}

/// Where on a GPU an array lives, by the names that a document has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Residence {
    Register,
    Shared,
    Scratch,
    /// In an output.
    Over(String),
}

/// On which side of a loop something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    Behind,
}

/// A choice that passes leave as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pin {
    /// The loops around a statement do not continue those before them.
    Apart(StmtId),
    /// The loops around a statement are not tiled.
    Whole(StmtId),
    /// The regions in the loops around a statement stay tests.
    Guarded(StmtId),
}

impl Pin {
    /// The statement.
    #[must_use]
    pub fn stmt(self) -> StmtId {
        match self {
            Pin::Apart(stmt) | Pin::Whole(stmt) | Pin::Guarded(stmt) => stmt,
        }
    }
}

impl LoopRef {
    /// The loop at `path`, which holds a statement.
    #[must_use]
    pub fn of(tree: &Tree, path: &Path) -> Option<Self> {
        let node = tree.node(path)?;
        let stmt = node.first_origin()?.stmt;
        let variable = tree.loop_at(path)?.variable.clone();
        let mut copy = 0;
        let mut is_found = false;
        tree.each_loop(&mut |at, it| {
            if !is_found && it.variable == variable && holds(it, stmt) {
                copy += 1;
                is_found = at == path;
            }
        });
        is_found.then_some(Self { variable, stmt, copy })
    }

    /// Finds the path of the loop.
    ///
    /// # Errors
    ///
    /// When there is no such loop.
    pub fn find(&self, tree: &Tree) -> Result<Path, Refusal> {
        let mut copy = 0;
        let mut found = None;
        tree.each_loop(&mut |at, it| {
            if found.is_none() && it.variable == self.variable && holds(it, self.stmt) {
                copy += 1;
                if copy == self.copy {
                    found = Some(at.clone());
                }
            }
        });
        found.ok_or_else(|| Refusal::new(format!("there is no loop {self}")))
    }
}

fn holds(it: &Loop, stmt: StmtId) -> bool {
    let mut is_held = false;
    for child in &it.children {
        child.walk(&mut |it| is_held |= it.origin().is_some_and(|it| it.stmt == stmt));
    }
    is_held
}

impl fmt::Display for LoopRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.variable, self.stmt)?;
        if self.copy == 1 { Ok(()) } else { write!(f, "#{}", self.copy) }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Merge { first, second, ranges: Ranges::Equal } => write!(f, "merge {first} {second}"),
            Step::Merge { first, second, ranges: Ranges::Limited } => {
                write!(f, "merge {first} {second} limited")
            }
            Step::Merge { first, second, ranges: Ranges::Inside } => {
                write!(f, "merge {first} {second} limited inside")
            }
            Step::Merge { first, second, ranges: Ranges::Domain } => {
                write!(f, "merge {first} {second} in domain")
            }
            Step::Swap(outer) => write!(f, "swap {outer}"),
            Step::Distribute { at, before } => write!(f, "distribute {at} before {before}"),
            Step::Split { at, position } => write!(f, "split {at} at {position}"),
            Step::Peel(at) => write!(f, "peel {at}"),
            Step::Drop(at) => write!(f, "drop {at}"),
            Step::Tile { axis, size, first, last } => {
                write!(f, "tile {} {size} {first} .. {last}", axis.position_name())
            }
            Step::Roll { axis, first, last } => {
                write!(f, "roll {} {first} .. {last}", axis.position_name())
            }
            Step::Recompute { first, last } => write!(f, "recompute {first} .. {last}"),
            Step::Repeat { container, owner } => write!(f, "repeat {container} in {owner}"),
            Step::Copy { container, owner } => write!(f, "copy {container} in {owner}"),
            Step::Contract { container, owner } => write!(f, "contract {container} in {owner}"),
            Step::Cut { at, size } => write!(f, "cut {at} by {size}"),
            Step::Reside { container, place } => match place {
                Residence::Register => write!(f, "place {container} register"),
                Residence::Shared => write!(f, "place {container} shared"),
                Residence::Scratch => write!(f, "place {container} scratch"),
                Residence::Over(output) => write!(f, "place {container} over {output}"),
            },
            Step::Barrier { side: Side::Before, at } => write!(f, "barrier before {at}"),
            Step::Barrier { side: Side::Behind, at } => write!(f, "barrier behind {at}"),
            Step::Place(placement, at) => write!(f, "{} {at}", word(*placement)),
        }
    }
}

fn word(placement: Placement) -> &'static str {
    match placement {
        Placement::Sequential => "sequential",
        Placement::Threads => "threads",
        Placement::Simd => "simd",
        Placement::Grid => "grid",
        Placement::Block => "block",
    }
}

/// Reads a loop as it is written.
#[must_use]
pub fn loop_ref(text: &str) -> Option<LoopRef> {
    let (variable, rest) = text.split_once('@')?;
    let (stmt, copy) = rest.split_once('#').unwrap_or((rest, "1"));
    let stmt = StmtId(stmt.strip_prefix('s')?.parse().ok()?);
    let copy = copy.parse().ok().filter(|&it| it >= 1)?;
    let is_name = !variable.is_empty() && variable.chars().all(|it| it.is_ascii_lowercase() || it == '_');
    is_name.then(|| LoopRef { variable: Symbol::new(variable), stmt, copy })
}

/// Reads a step as it is written.
///
/// # Errors
///
/// A sentence that says what was expected.
pub fn parse(line: &str) -> Result<Step, String> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let words: Vec<&str> = rest.split_whitespace().collect();
    let at = |text: &str| {
        loop_ref(text)
            .ok_or_else(|| format!("`{text}` is no loop: write it as `k@s3`, the loop over k around s3"))
    };
    let shape = |how: &str| format!("`{how}` was expected");
    match (verb, words.as_slice()) {
        ("merge", [first, second]) => {
            Ok(Step::Merge { first: at(first)?, second: at(second)?, ranges: Ranges::Equal })
        }
        ("merge", [first, second, "limited"]) => {
            Ok(Step::Merge { first: at(first)?, second: at(second)?, ranges: Ranges::Limited })
        }
        ("merge", [first, second, "limited", "inside"]) => {
            Ok(Step::Merge { first: at(first)?, second: at(second)?, ranges: Ranges::Inside })
        }
        ("merge", [first, second, "in", "domain"]) => {
            Ok(Step::Merge { first: at(first)?, second: at(second)?, ranges: Ranges::Domain })
        }
        ("merge", _) => Err(shape("merge k@s0 k@s1")),
        ("swap", [outer]) => Ok(Step::Swap(at(outer)?)),
        ("swap", _) => Err(shape("swap k@s0")),
        ("distribute", [outer, "before", inner]) => {
            Ok(Step::Distribute { at: at(outer)?, before: at(inner)? })
        }
        ("distribute", _) => Err(shape("distribute k@s0 before j@s1")),
        ("split", [outer, "at", ..]) => {
            let position = rest.split_once(" at ").and_then(|(_, it)| crate::space::parse::affine(it));
            let position = position.ok_or_else(|| shape("split k@s0 at K - 1"))?;
            let is_known = |it: &Symbol| names::is_size(it) || names::is_variable(it);
            if let Some((symbol, _)) = position.terms().find(|(it, _)| !is_known(it)) {
                return Err(format!("`{symbol}` is neither a size of the domain nor the variable of a loop"));
            }
            Ok(Step::Split { at: at(outer)?, position })
        }
        ("split", _) => Err(shape("split k@s0 at K - 1")),
        ("peel", [outer]) => Ok(Step::Peel(at(outer)?)),
        ("peel", _) => Err(shape("peel i@s0")),
        ("drop", [outer]) => Ok(Step::Drop(at(outer)?)),
        ("drop", _) => Err(shape("drop k@s0")),
        ("tile", [axis, size, first, "..", last]) => {
            let axis = Axis::ALL.into_iter().find(|it| it.position_name() == *axis);
            let size = size.parse().ok().filter(|&it: &i64| it >= 1);
            match axis.zip(size) {
                Some((axis, size)) => Ok(Step::Tile { axis, size, first: at(first)?, last: at(last)? }),
                None => Err(shape("tile j 32 k@s0 .. k@s7")),
            }
        }
        ("tile", _) => Err(shape("tile j 32 k@s0 .. k@s7")),
        ("roll", [axis, first, "..", last]) => {
            match Axis::ALL.into_iter().find(|it| it.position_name() == *axis) {
                Some(axis) => Ok(Step::Roll { axis, first: at(first)?, last: at(last)? }),
                None => Err(shape("roll j j@s0 .. j@s7")),
            }
        }
        ("roll", _) => Err(shape("roll j j@s0 .. j@s7")),
        ("recompute", [first, "..", last]) => Ok(Step::Recompute { first: at(first)?, last: at(last)? }),
        ("recompute", _) => Err(shape("recompute j@s0 .. j@s7")),
        ("repeat", [container, "in", owner]) => {
            Ok(Step::Repeat { container: (*container).to_owned(), owner: at(owner)? })
        }
        ("repeat", _) => Err(shape("repeat flux in k@s0")),
        ("copy", [container, "in", owner]) => {
            Ok(Step::Copy { container: (*container).to_owned(), owner: at(owner)? })
        }
        ("copy", _) => Err(shape("copy x in j@s0")),
        ("contract", [container, "in", owner]) => {
            Ok(Step::Contract { container: (*container).to_owned(), owner: at(owner)? })
        }
        ("contract", _) => Err(shape("contract flux in j_tile@s0")),
        ("cut", [it, "by", size]) => match size.parse().ok().filter(|&it: &i64| it >= 1) {
            Some(size) => Ok(Step::Cut { at: at(it)?, size }),
            None => Err(shape("cut i@s0 by 32")),
        },
        ("cut", _) => Err(shape("cut i@s0 by 32")),
        ("place", [container, place @ ..]) => {
            let place = match place {
                ["register"] => Residence::Register,
                ["shared"] => Residence::Shared,
                ["scratch"] => Residence::Scratch,
                ["over", output] => Residence::Over((*output).to_owned()),
                _ => return Err(shape("place flux shared")),
            };
            Ok(Step::Reside { container: (*container).to_owned(), place })
        }
        ("place", _) => Err(shape("place flux shared")),
        ("barrier", ["before", it]) => Ok(Step::Barrier { side: Side::Before, at: at(it)? }),
        ("barrier", ["behind", it]) => Ok(Step::Barrier { side: Side::Behind, at: at(it)? }),
        ("barrier", _) => Err(shape("barrier before j@s3")),
        (verb, [it]) => {
            let all = [
                Placement::Sequential,
                Placement::Threads,
                Placement::Simd,
                Placement::Grid,
                Placement::Block,
            ];
            match all.into_iter().find(|&it| word(it) == verb) {
                Some(placement) => Ok(Step::Place(placement, at(it)?)),
                None => Err(unknown(verb)),
            }
        }
        (verb, _) => Err(unknown(verb)),
    }
}

fn unknown(verb: &str) -> String {
    let all = "merge, swap, distribute, split, peel, drop, tile, roll, recompute, repeat, copy, contract, cut, place, barrier, threads, simd, grid, block, sequential";
    format!("there is no step `{verb}`: there are {all}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_back_as_it_is_written() {
        for text in [
            "merge k@s0 k@s12",
            "merge k@s0 k@s1 limited",
            "merge k@s0 k@s1 limited inside",
            "merge i@s0 i@s1 in domain",
            "swap k@s0#2",
            "distribute k@s0 before j@s3",
            "split k@s0 at K - 1",
            "split k@s0 at 1",
            "peel i@s4",
            "drop k@s1",
            "tile j 32 k@s0 .. k@s7",
            "roll j j@s0 .. j@s7",
            "recompute j@s0 .. j@s7",
            "repeat flux in k@s3",
            "copy x in j@s0",
            "contract flux in j_tile@s0",
            "cut i@s0 by 32",
            "place upper shared",
            "place x register",
            "place rhs over u_new",
            "place flux scratch",
            "barrier before j@s3",
            "barrier behind j@s3#2",
            "threads j_tile@s0",
            "simd i@s3#4",
            "grid j_tile@s0",
            "block j@s0",
            "sequential k@s2",
        ] {
            assert_eq!(parse(text).map(|it| it.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_is_no_step_says_what_was_expected() {
        for (text, expected) in [
            ("fuse k@s0", "there is no step `fuse`"),
            ("", "there is no step ``"),
            ("merge k@s0", "`merge k@s0 k@s1` was expected"),
            ("merge k s0", "`k` is no loop"),
            ("tile j 0 k@s0 .. k@s7", "`tile j 32 k@s0 .. k@s7` was expected"),
            ("split k@s0 at k k", "`split k@s0 at K - 1` was expected"),
            ("cut i@s0 by 0", "`cut i@s0 by 32` was expected"),
            ("place x", "`place flux shared` was expected"),
            ("barrier j@s0", "`barrier before j@s3` was expected"),
            ("simd i@s0#0", "`i@s0#0` is no loop"),
        ] {
            let found = parse(text).expect_err(text);
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }
}
