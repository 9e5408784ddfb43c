//! Loops and branches from states and the edges between them.
//!
//! The state at which a loop or a branch begins tells what it is; the edges say which states belong to it.

use super::{FileValue, SdfgImportError, condition, loop_region, state};
use crate::sdfg::nodes::{Block, BlockKind, Branch, ConditionalBlock, ControlFlowRegion, Sdfg, WhileLoop};

/// The blocks of a graph.
pub(super) fn region(file: &FileValue<'_>, sdfg: &Sdfg) -> Result<ControlFlowRegion, SdfgImportError> {
    let mut edges = Vec::new();
    for edge in file.get("edges").all()? {
        edges.push((edge.get("src").number()?, edge.get("dst").number()?));
    }
    let states = file.get("nodes").all()?;
    let mut flat = FlatReader { file, sdfg, n_left: states.len(), states, edges };
    flat.blocks(0, None)
}

/// The states of a graph, and the edges between them by position.
struct FlatReader<'f> {
    file: &'f FileValue<'f>,
    sdfg: &'f Sdfg,
    states: Vec<FileValue<'f>>,
    edges: Vec<(usize, usize)>,
    /// How many states may still be visited: none is twice, whatever the edges say.
    n_left: usize,
}

impl<'f> FlatReader<'f> {
    fn state(&mut self, at: usize) -> Result<&FileValue<'f>, SdfgImportError> {
        self.n_left = match self.n_left.checked_sub(1) {
            Some(left) => left,
            None => return self.file.fail("its edges run in circles that are no loops"),
        };
        match self.states.get(at) {
            Some(state) => Ok(state),
            None => self.file.fail(format!("there is no state {at}")),
        }
    }

    fn after(&self, at: usize) -> Vec<usize> {
        self.edges.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to).collect()
    }

    /// The one state that follows, where that is not the end.
    fn next(&self, at: usize, end: Option<usize>) -> Result<Option<usize>, SdfgImportError> {
        match self.after(at).as_slice() {
            [] if end.is_none() => Ok(None),
            [next] if Some(*next) == end => Ok(None),
            [next] => Ok(Some(*next)),
            _ => self.file.fail(format!("several edges leave state {at}, which begins no branch")),
        }
    }

    /// The blocks from a state on, up to `end`.
    fn blocks(&mut self, first: usize, end: Option<usize>) -> Result<ControlFlowRegion, SdfgImportError> {
        let mut blocks = Vec::new();
        let mut next = Some(first);
        while let Some(at) = next {
            let (block, last) = self.block(at)?;
            next = self.next(last, end)?;
            // A part without blocks has a state for itself, which is no block.
            let is_only = blocks.is_empty() && next.is_none();
            if !(is_only && block.label.ends_with("_body") && is_empty(&block)) {
                blocks.push(block);
            }
        }
        Ok(ControlFlowRegion::sequence(blocks))
    }

    /// The block that begins with a state, and its last state.
    fn block(&mut self, at: usize) -> Result<(Block, usize), SdfgImportError> {
        let sdfg = self.sdfg;
        let (label, entry, is_state) = {
            let file = self.state(at)?;
            let entry = file.get("attributes").get("_meta_isobar");
            (file.get("label").text()?.to_owned(), entry.value, entry.value.is_null())
        };
        let entry = FileValue { value: entry, place: format!("nodes[{at}].attributes._meta_isobar") };
        if is_state {
            let kind = BlockKind::State(state(&self.states[at], sdfg)?);
            return Ok((Block { label, kind }, at));
        }
        let part = |end: &str| label.strip_suffix(end).map(str::to_owned);
        if let Some(label) = part("_pick") {
            let (block, last) = self.conditional(at, &label, &entry)?;
            return Ok((Block { label, kind: BlockKind::Conditional(block) }, last));
        }
        if let Some(label) = part("_enter") {
            let [guard] = self.after(at)[..] else { return entry.fail("a loop has no guard") };
            self.state(guard)?;
            let (body, last) = self.body(guard)?;
            let block = loop_region(&entry.get("variable"), &entry, body)?;
            return Ok((Block { label, kind: BlockKind::Loop(block) }, last));
        }
        if let Some(label) = part("_guard") {
            let (body, last) = self.body(at)?;
            let (condition, origin) = condition(&entry, sdfg)?;
            return Ok((
                Block { label, kind: BlockKind::While(WhileLoop { condition, body, origin }) },
                last,
            ));
        }
        entry.fail("it begins neither a loop nor a branch")
    }

    /// The body that a guard repeats, and the state behind it.
    fn body(&mut self, guard: usize) -> Result<(ControlFlowRegion, usize), SdfgImportError> {
        let [first, last] = self.after(guard)[..] else {
            return self.file.fail(format!("state {guard} has not one way into the loop and one out of it"));
        };
        let body = self.blocks(first, Some(guard))?;
        self.state(last)?;
        Ok((body, last))
    }

    fn conditional(
        &mut self,
        at: usize,
        label: &str,
        entries: &FileValue<'_>,
    ) -> Result<(ConditionalBlock, usize), SdfgImportError> {
        let join = format!("{label}_join");
        let last = self.states.iter().position(|it| it.value["label"] == *join);
        let last = self.file.some(last, "a branch does not end")?;
        self.state(last)?;
        let ways = self.after(at);
        let mut block = ConditionalBlock { branches: Vec::new(), otherwise: None };
        for (number, entry) in entries.all()?.iter().enumerate() {
            let first = entry.some(ways.get(number).copied(), "no edge leads to the branch")?;
            let body = self.blocks(first, Some(last))?;
            let (condition, origin) = condition(entry, self.sdfg)?;
            block.branches.push(Branch { condition, body, origin });
        }
        match ways.get(block.branches.len()) {
            Some(way) if *way != last => block.otherwise = Some(self.blocks(*way, Some(last))?),
            _ => {}
        }
        Ok((block, last))
    }
}

fn is_empty(block: &Block) -> bool {
    matches!(&block.kind, BlockKind::State(state) if state.nodes.is_empty())
}
