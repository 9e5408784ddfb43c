//! Programs read back from their text, so that a test of a pass can start from one.
//!
//! [`print`](super::print) describes the text. The parser makes anew what the text does not tell:
//!
//! - Statements are numbered from 0 in the order of their lines, and their places are these lines.
//! - The statements tell which locals are read.
//! - The namer takes all names of the text. So a pass makes the names that it would make on the program
//!   itself.
//!
//! Arrays that no statement can name, since they became locals, are left out.

mod names;

use std::collections::BTreeSet;

use self::names::{NameMeaning, Names};
use super::nodes::{
    ArmOfStrip, Assign, BoundsCheck, Branch, BranchOfStrip, Declare, Element, For, Function, GpuAxis, If,
    Index, Integer, Item, Lanes, Launch, Positions, Program, Read, RowBuffer, SkippedArms, Step, Stores,
    StripPart, Strips, Target, Trap, While, WhileOfStrip, next_handle,
};
use super::print::{SKIP_ARM, SKIP_OTHERS};
use crate::diag::outline::{self, ListingFault, OutlineLine, outline};
use crate::diag::{Origin, Span, StmtId};
use crate::entity::{Arena, Handle};
use crate::expr::{self, Expr, ExprKind, Subscript};
use crate::space::{Affine, Axis, Size, Symbol, names as symbols, parse as space};

/// The result of reading, or the fault and its place.
type ParseResult<T> = outline::LineResult<T>;

/// Reads a program that [`listing`](super::print::listing) wrote. Statements are numbered in order,
/// and the place of a statement is its line in `text`.
///
/// # Errors
///
/// The first line that can't be read.
pub fn parse(text: &str) -> Result<Program, ListingFault> {
    let mut reader = Reader::default();
    reader.top(&outline(text)).map_err(|wrong| ListingFault::at(text, wrong))?;
    let Reader { names, functions, steps, n_loops, n_branches, .. } = reader;
    names
        .program(functions, steps, (n_loops, n_branches))
        .map_err(|message| ListingFault { line: 1, message })
}

/// The parts of the program that were read so far.
#[derive(Default)]
struct Reader {
    names: Names,
    functions: Arena<Function>,
    steps: Vec<Step>,
    n_stmts: u32,
    n_loops: usize,
    n_branches: usize,
}

impl Reader {
    /// The names, then the functions, then the steps.
    fn top(&mut self, lines: &[OutlineLine<'_>]) -> ParseResult<()> {
        for line in lines {
            let (word, rest) = line.text.split_once(' ').unwrap_or((line.text, ""));
            match word {
                "function" => self.function(rest, line)?,
                "step" => {
                    let step = self.step(rest);
                    self.steps.push(step.ok_or((line.span, "`step name` was expected".to_owned()))?);
                }
                _ => self.names.declare(word, rest).map_err(|message| (line.span, message))?,
            }
            if let Some(inner) = line.children.first().filter(|_| word != "function") {
                return Err((inner.span, "this line holds nothing".to_owned()));
            }
        }
        Ok(())
    }

    /// `function step_1_at(k, j) of step 1:`, and its body below. Only the lines behind it know it, which
    /// suffices: a function stands before those that launch it.
    fn function(&mut self, rest: &str, line: &OutlineLine<'_>) -> ParseResult<()> {
        let parsed = || {
            let (name, rest) = rest.split_once('(')?;
            let (positions, step) = rest.strip_suffix(':')?.split_once(") of step ")?;
            Some((name, variables(positions), step.parse().ok()?))
        };
        let (name, positions, step) =
            parsed().ok_or((line.span, "`function name(positions) of step 1:` was expected".to_owned()))?;
        positions.iter().for_each(|it| self.names.position(it));
        let body = self.block(&line.children)?;
        self.functions.push(Function { name: name.to_owned(), step, positions, body });
        Ok(())
    }

    /// A function by its name, as launches and steps tell it.
    fn function_named(&self, name: &str) -> Option<Handle<Function>> {
        self.functions.find(|it| it.name == name)
    }

    /// `name on all threads may stop in sweep 0, 2`
    fn step(&self, text: &str) -> Option<Step> {
        let (text, ending) = match text.split_once(" may stop in sweep ") {
            Some((text, sweeps)) => {
                (text, sweeps.split(", ").map(str::parse).collect::<Result<_, _>>().ok()?)
            }
            None => (text, BTreeSet::new()),
        };
        let (name, is_spread) = match text.strip_suffix(" on all threads") {
            Some(name) => (name, true),
            None => (text, false),
        };
        Some(Step { function: self.function_named(name)?, is_spread, ending })
    }

    /// Statements of one depth. One statement may be several lines: an `if` with its `elif`, or indices
    /// with their `check`.
    fn block(&mut self, lines: &[OutlineLine<'_>]) -> ParseResult<Vec<Item>> {
        let mut block = Vec::new();
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            rest = after;
            block.push(self.item(line, &mut rest)?);
        }
        Ok(block)
    }

    /// The statement at `line`; an `if` and a check take the lines that belong to them from `rest`.
    fn item(&mut self, line: &OutlineLine<'_>, rest: &mut &[OutlineLine<'_>]) -> ParseResult<Item> {
        let (word, behind) = line.text.split_once(' ').unwrap_or((line.text, ""));
        if line.text == "barrier" {
            return Ok(Item::Barrier);
        }
        let opened = || {
            let opened = line.text.strip_suffix(':').and_then(|it| it.split_once(' '));
            opened.map(|(_, it)| it).ok_or((line.span, "a `:` was expected at the end".to_owned()))
        };
        if behind.starts_with("= ") {
            return self.assign(line);
        }
        match word {
            "let" | "const" => self.declare(word, behind, line),
            "find" => self.checked(line, rest),
            "for" => self.for_loop(opened()?, line),
            "strips" => self.strips(opened()?, line),
            "launch" => self.launch(opened()?, line),
            "if" => self.branches(opened()?, line, rest),
            "while" => {
                let origin = self.origin(line);
                let condition = self.expr(opened()?, line.span)?;
                let (counter, trap, body) = self.turns(line, &origin)?;
                let body = self.block(body)?;
                Ok(Item::While(While { condition, origin, trap, counter, body }))
            }
            _ => self.assign(line),
        }
    }

    /// `b[i, j, k] = value`, or a local before the sign.
    fn assign(&mut self, line: &OutlineLine<'_>) -> ParseResult<Item> {
        let (target, value) = line
            .text
            .split_once(" = ")
            .ok_or((line.span, "a loop or a statement was expected".to_owned()))?;
        let origin = self.origin(line);
        let target = match self.word(target, line.span)?.kind {
            ExprKind::Access(NameMeaning::Read(Read::Element(element))) => Target::Element(element),
            ExprKind::Access(NameMeaning::Read(Read::Local(local))) => Target::Local(local),
            _ => return Err((line.span, format!("`{target}` cannot be assigned"))),
        };
        Ok(Item::Assign(Assign { target, value: self.expr(value, line.span)?, origin }))
    }

    /// `let x: float64`, or `const x: float64 = value`. The type is written with each declaration, so that
    /// a line can be read alone.
    fn declare(&mut self, word: &str, text: &str, line: &OutlineLine<'_>) -> ParseResult<Item> {
        let (name, value) = match text.split_once(" = ") {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let value = match value {
            Some(value) => Some((self.expr(value, line.span)?, self.origin(line))),
            None => None,
        };
        let local = self.names.local(name).map_err(|message| (line.span, message))?;
        Ok(Item::Declare(Declare { local, value, is_const: word == "const" }))
    }

    /// `find n in [0, K) = value`, more of them, and the `check` of them all.
    fn checked(&mut self, first: &OutlineLine<'_>, rest: &mut &[OutlineLine<'_>]) -> ParseResult<Item> {
        let (mut line, mut indices) = (first, Vec::new());
        while let Some(text) = line.text.strip_prefix("find ") {
            let parsed = text.split_once(" in [0, ").and_then(|(name, rest)| {
                let (size, value) = rest.split_once(") = ")?;
                Some((self.names.integer(name)?, space::size(size)?, value))
            });
            let (integer, size, value) =
                parsed.ok_or((line.span, "`find n in [0, K) = value` was expected".to_owned()))?;
            indices.push(Index { integer, value: self.expr(value, line.span)?, size });
            let (next, after) =
                rest.split_first().ok_or((line.span, "a `check` was expected behind it".to_owned()))?;
            (line, *rest) = (next, after);
        }
        let check = line.text.strip_prefix("check ").and_then(|it| it.strip_suffix(':'));
        let check = check.ok_or((line.span, "a `check` was expected".to_owned()))?;
        let (is_in_while, check) = match check.strip_prefix("in while ") {
            Some(check) => (true, check),
            None => (false, check),
        };
        let origin = self.origin(line);
        let trap = stop(check, origin.stmt).ok_or((line.span, STOP.to_owned()))?;
        let body = self.block(&line.children)?;
        Ok(Item::Checked(BoundsCheck { indices, trap, is_in_while, origin, body }))
    }

    /// A loop: `for i in [0, I) parallel simd:`. Its first lines tell which rows it prefetches and how it
    /// stores rows:
    ///
    /// ```text
    /// for k in [0, K) parallel:
    ///   prefetch a[i, j, k + 6]
    ///   …
    /// ```
    fn for_loop(&mut self, header: &str, line: &OutlineLine<'_>) -> ParseResult<Item> {
        let parsed = || {
            let (positions, marks) = positions(header)?;
            let axis = axis_of(&positions.variable)?;
            let it = For {
                id: Handle::new(self.n_loops),
                positions,
                axis,
                is_descending: false,
                is_parallel: false,
                is_simd: false,
                gpu: None,
                body: Vec::new(),
            };
            marked(it, marks)
        };
        let LoopHeader { mut it, lanes, is_once } =
            parsed().ok_or((line.span, "`for i in [start, end) order` was expected".to_owned()))?;
        self.n_loops += 1;
        if lanes != Lanes::default() {
            self.names.decisions.set_lanes(it.id, lanes);
        }
        if is_once {
            self.names.decisions.set_once(it.id);
        }
        self.names.position(&it.positions.variable);
        let mut lines = line.children.as_slice();
        while let Some((first, after)) = lines.split_first() {
            let (word, behind) = first.text.split_once(' ').unwrap_or((first.text, ""));
            match word {
                "prefetch" => {
                    let rows = self.elements(behind, first.span)?;
                    self.names.decisions.set_prefetched(it.id, rows);
                }
                "stream" => {
                    let stores = self.stores(behind, first.span)?;
                    self.names.decisions.set_stores(it.id, stores);
                }
                _ => break,
            }
            lines = after;
        }
        it.body = self.block(lines)?;
        Ok(Item::For(it))
    }

    /// `a[i, j], b[i, j] through a row of 8 elements`
    fn stores(&mut self, text: &str, span: Span) -> ParseResult<Stores> {
        let parsed = text.rsplit_once(" through ").and_then(|(rows, buffer)| {
            let row = buffer.strip_prefix("a row of ").and_then(|it| it.strip_suffix(" elements"));
            let registers = buffer.strip_prefix("registers of ").and_then(|it| it.strip_suffix(" bytes"));
            let buffer = match (row, registers) {
                (Some(elements), _) => RowBuffer::Row { elements: elements.parse().ok()? },
                (_, Some(bytes)) => RowBuffer::Registers { bytes: bytes.parse().ok()? },
                (None, None) => return None,
            };
            Some((rows, buffer))
        });
        let (rows, buffer) =
            parsed.ok_or((span, "`rows through a row of 8 elements` was expected".to_owned()))?;
        Ok(Stores { rows: self.elements(rows, span)?, buffer })
    }

    /// Elements of arrays in a list, `a[i, j], b[i, j]`.
    fn elements(&mut self, text: &str, span: Span) -> ParseResult<Vec<Element>> {
        // An index holds no bracket of its own.
        let ends = text.match_indices("], ").map(|(at, _)| at + 1).chain([text.len()]);
        let mut start = 0;
        ends.map(|end| {
            let one = text[std::mem::replace(&mut start, end)..end].trim_start_matches(", ");
            match self.word(one, span)?.kind {
                ExprKind::Access(NameMeaning::Read(Read::Element(element))) => Ok(element),
                _ => Err((span, format!("`{one}` is no element of an array"))),
            }
        })
        .collect()
    }

    /// `of 32 i in [0, I) keeping a: float64, b: bool`
    fn strips(&mut self, header: &str, line: &OutlineLine<'_>) -> ParseResult<Item> {
        let (header, kept) = match header.split_once(" keeping ") {
            Some((header, kept)) => (header, kept),
            None => (header, ""),
        };
        let parsed = || {
            let (width, header) = header.strip_prefix("of ")?.split_once(' ')?;
            let (positions, "") = positions(header)? else { return None };
            Some((width.parse().ok()?, positions))
        };
        let (width, positions) =
            parsed().ok_or((line.span, "`strips of 32 i in [start, end)` was expected".to_owned()))?;
        self.names.position(&positions.variable);
        let kept = kept.split(", ").filter(|it| !it.is_empty()).map(|it| self.names.local(it));
        let kept = kept.collect::<Result<_, _>>().map_err(|message| (line.span, message))?;
        let parts = self.parts(&line.children)?;
        Ok(Item::Strips(Strips { positions, width, kept, parts }))
    }

    /// Parts of a loop in strips: an `if` may be several lines, as it is among statements.
    fn parts(&mut self, lines: &[OutlineLine<'_>]) -> ParseResult<Vec<StripPart>> {
        let mut rest = lines;
        let mut parts = Vec::new();
        while let Some((line, after)) = rest.split_first() {
            rest = after;
            let condition = line.text.strip_prefix("if ").and_then(|it| it.strip_suffix(':'));
            parts.push(match condition {
                Some(condition) => StripPart::Branch(self.branch_of_strip(condition, line, &mut rest)?),
                None => self.part(line)?,
            });
        }
        Ok(parts)
    }

    fn branch_of_strip(
        &mut self,
        condition: &str,
        line: &OutlineLine<'_>,
        rest: &mut &[OutlineLine<'_>],
    ) -> ParseResult<BranchOfStrip> {
        let mut arms = vec![self.arm_of_strip(condition, line)?];
        let mut otherwise = Vec::new();
        while let Some((next, after)) = rest.split_first() {
            if next.text == "else:" {
                *rest = after;
                otherwise = self.parts(&next.children)?;
                break;
            }
            let elif = next.text.strip_prefix("elif ").and_then(|it| it.strip_suffix(':'));
            let Some(condition) = elif else { break };
            *rest = after;
            arms.push(self.arm_of_strip(condition, next)?);
        }
        Ok(BranchOfStrip { arms, otherwise })
    }

    fn arm_of_strip(&mut self, condition: &str, line: &OutlineLine<'_>) -> ParseResult<ArmOfStrip> {
        let origin = self.origin(line);
        let condition = self.expr(condition, line.span)?;
        Ok(ArmOfStrip { condition, origin, parts: self.parts(&line.children)? })
    }

    /// A part of a loop in strips: `lanes:` with statements below, or a `while` whose parts all are
    /// `lanes:`.
    fn part(&mut self, line: &OutlineLine<'_>) -> ParseResult<StripPart> {
        let Some(condition) = line.text.strip_prefix("while ").and_then(|it| it.strip_suffix(':')) else {
            return self.lanes(line).map(StripPart::Lanes);
        };
        let origin = self.origin(line);
        let condition = self.expr(condition, line.span)?;
        let (counter, trap, parts) = self.turns(line, &origin)?;
        let parts = parts.iter().map(|it| self.lanes(it)).collect::<Result<_, _>>()?;
        Ok(StripPart::While(Box::new(WhileOfStrip { condition, origin, trap, counter, parts })))
    }

    /// The statements below `lanes:`.
    fn lanes(&mut self, line: &OutlineLine<'_>) -> ParseResult<Vec<Item>> {
        match line.text {
            "lanes:" => self.block(&line.children),
            _ => Err((line.span, "`lanes:` was expected".to_owned())),
        }
    }

    /// The first line of a `while`, `turns n stop at ...`, and those behind it.
    fn turns<'l, 't>(
        &self,
        line: &'l OutlineLine<'t>,
        origin: &Origin,
    ) -> ParseResult<(Handle<Integer>, Trap, &'l [OutlineLine<'t>])> {
        let parsed = line.children.split_first().and_then(|(first, body)| {
            let (name, trap) = first.text.strip_prefix("turns ")?.split_once(' ')?;
            Some((self.names.integer(name)?, stop(trap, origin.stmt)?, body))
        });
        parsed.ok_or((line.span, format!("`turns n` was expected in it, and {STOP}")))
    }

    /// `launch step_1_at(k):`, with a line `over i in [0, I)` for each of its own positions below.
    fn launch(&mut self, header: &str, line: &OutlineLine<'_>) -> ParseResult<Item> {
        let parsed = header.split_once('(').and_then(|(name, outer)| {
            Some((self.function_named(name)?, variables(outer.strip_suffix(')')?)))
        });
        let (function, outer) =
            parsed.ok_or((line.span, "`launch function(positions)` was expected".to_owned()))?;
        let over = line.children.iter().map(|line| {
            let over = line.text.strip_prefix("over ").and_then(positions);
            let over = over.filter(|(_, rest)| rest.is_empty()).map(|(it, _)| it);
            over.ok_or((line.span, "`over i in [start, end)` was expected".to_owned()))
        });
        let positions = over.collect::<Result<Vec<Positions>, _>>()?;
        positions.iter().for_each(|it| self.names.position(&it.variable));
        Ok(Item::Launch(Launch { positions, function, outer }))
    }

    /// An `if`, and the `elif` and `else` that follow at the same depth.
    fn branches(
        &mut self,
        condition: &str,
        line: &OutlineLine<'_>,
        rest: &mut &[OutlineLine<'_>],
    ) -> ParseResult<Item> {
        let id = next_handle(&mut self.n_branches);
        let mut skipped = SkippedArms::default();
        let mut branches = vec![self.branch(condition, line, 0, &mut skipped)?];
        let mut otherwise = Vec::new();
        while let Some((next, after)) = rest.split_first() {
            if next.text == "else:" {
                *rest = after;
                otherwise = self.block(&next.children)?;
                break;
            }
            let elif = next.text.strip_prefix("elif ").and_then(|it| it.strip_suffix(':'));
            let Some(condition) = elif else { break };
            *rest = after;
            branches.push(self.branch(condition, next, branches.len(), &mut skipped)?);
        }
        if skipped != SkippedArms::default() {
            self.names.decisions.set_skipped(id, skipped);
        }
        Ok(Item::If(If { id, branches, otherwise }))
    }

    /// The arm at a place among those of a branch. Its first lines tell whether it is passed over where no lane
    /// takes it, and whether all others behind it are.
    fn branch(
        &mut self,
        condition: &str,
        line: &OutlineLine<'_>,
        at: usize,
        skipped: &mut SkippedArms,
    ) -> ParseResult<Branch> {
        let origin = self.origin(line);
        let condition = self.expr(condition, line.span)?;
        let mut lines = line.children.as_slice();
        while let Some((first, after)) = lines.split_first() {
            match first.text {
                SKIP_ARM => skipped.arms.insert(at),
                SKIP_OTHERS => skipped.others.insert(at),
                _ => break,
            };
            lines = after;
        }
        Ok(Branch { condition, origin, body: self.block(lines)? })
    }

    /// The next statement, at this line.
    fn origin(&mut self, line: &OutlineLine<'_>) -> Origin {
        let stmt = StmtId(self.n_stmts);
        self.n_stmts += 1;
        Origin::new(stmt, &[line.span])
    }

    /// An expression without integers of run time, which stand in indices only.
    fn expr(&self, text: &str, span: Span) -> ParseResult<Expr<Read>> {
        let mut integer = None;
        let expr = self.word(text, span)?.map_accesses(&mut |it| match it {
            NameMeaning::Read(it) => it.clone(),
            NameMeaning::Integer(it) => {
                integer = Some(*it);
                Read::Sum(Affine::default())
            }
        });
        match integer {
            Some(_) => Err((span, "an integer of run time stands in braces, in an index".to_owned())),
            None => Ok(expr),
        }
    }

    /// An expression in the notation of all levels, whose names are those of this text.
    fn word(&self, text: &str, span: Span) -> ParseResult<Expr<NameMeaning>> {
        let mut leaf = |name: &str, index: Vec<Subscript<NameMeaning>>| self.names.word(name, index);
        expr::parse::parse(text, span, &mut leaf).map_err(|message| (span, message))
    }
}

/// The message where a trap was expected.
const STOP: &str = "`stop at [i, j, k] in sweep 0 turn k of 1` was expected";

/// A trap behind its statement: the cell, the sweep of the text, the level in its order, and the outermost
/// statement.
fn stop(text: &str, statement: StmtId) -> Option<Trap> {
    let (cell, rest) = text.strip_prefix("stop at [")?.split_once("] in sweep ")?;
    let (sweep, rest) = rest.split_once(" turn ")?;
    let (turn, outermost) = rest.split_once(" of ")?;
    let cell: Vec<Affine> = cell.split(", ").map(space::affine).collect::<Option<_>>()?;
    Some(Trap {
        statement,
        sweep: sweep.parse().ok()?,
        turn: space::affine(turn)?,
        outermost: StmtId(outermost.parse().ok()?),
        cell: cell.try_into().ok()?,
    })
}

/// Symbols in a list.
fn variables(text: &str) -> Vec<Symbol> {
    text.split(", ").filter(|it| !it.is_empty()).map(Symbol::new).collect()
}

/// `i in [0, I) step 2`, and the rest of the text.
fn positions(text: &str) -> Option<(Positions, &str)> {
    let (name, rest) = text.split_once(" in [")?;
    let (range, rest) = rest.rsplit_once(')')?;
    let [start, end] = <[Size; 2]>::try_from(space::sizes(range)?).ok()?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let (step, rest) = match rest.strip_prefix("step ") {
        Some(rest) => {
            let (step, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            (step.parse().ok()?, rest)
        }
        None => (1, rest),
    };
    Some((Positions { variable: Symbol::new(name), start, end, step }, rest))
}

/// A loop before its body, and what passes decided about it.
struct LoopHeader {
    it: For,
    lanes: Lanes,
    is_once: bool,
}

/// A loop, by the words behind its bounds.
fn marked(mut it: For, marks: &str) -> Option<LoopHeader> {
    let (words, block) = match marks.split_once(" in blocks of ") {
        Some((words, block)) => (words, Some(block.parse().ok()?)),
        None => (marks, None),
    };
    let (mut lanes, mut is_once) = (Lanes { block, ..Lanes::default() }, false);
    let (order, words) = words.split_once(' ').unwrap_or((words, ""));
    match order {
        "parallel" => it.is_parallel = true,
        "ascending" => {}
        "descending" => it.is_descending = true,
        _ => return None,
    }
    for word in words.split(' ').filter(|it| !it.is_empty()) {
        match word {
            "grid" => it.gpu = Some(GpuAxis::Grid),
            "block" => it.gpu = Some(GpuAxis::Block),
            "simd" => it.is_simd = true,
            "masked" => lanes.is_masked = true,
            "overlapping" => lanes.may_overlap = true,
            "split" => lanes.is_split = true,
            "once" => is_once = true,
            _ => return None,
        }
    }
    Some(LoopHeader { it, lanes, is_once })
}

/// The axis that a variable of a loop counts along.
pub fn axis_of(variable: &Symbol) -> Option<Axis> {
    let counts = |axis: &Axis| {
        let axis = *axis;
        variable.name() == axis.position_name()
            || [symbols::tile(axis), symbols::front(axis)].contains(variable)
    };
    Axis::ALL.into_iter().find(counts)
}
