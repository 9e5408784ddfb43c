//! The graph as plain states with conditions on the edges between them, for readers that know no loops and branches.

use serde_json::{Value, json};

use super::json::{Writer, code, condition, condition_entry, empty_state, loop_code, loop_entry};
use crate::sdfg::nodes::{Block, BlockKind, Branch, ConditionalBlock, ControlFlowRegion, Sdfg};

/// States and the edges between them, in the making.
#[derive(Debug, Default)]
pub(super) struct FlatGraph {
    pub(super) nodes: Vec<Value>,
    pub(super) edges: Vec<Value>,
}

/// Where control flow enters a part, and where it leaves it.
#[derive(Clone, Copy, Debug)]
struct FlatRegion {
    first: usize,
    last: usize,
}

impl Writer<'_> {
    /// The blocks of a graph, which are states.
    pub(super) fn flattened(&mut self, sdfg: &Sdfg, region: &ControlFlowRegion) -> FlatGraph {
        let mut flat = FlatGraph::default();
        self.flat_region(&mut flat, sdfg, "", region);
        for (at, node) in flat.nodes.iter_mut().enumerate() {
            node["id"] = json!(at);
        }
        flat
    }

    fn flat_region(
        &mut self,
        flat: &mut FlatGraph,
        sdfg: &Sdfg,
        label: &str,
        region: &ControlFlowRegion,
    ) -> FlatRegion {
        let mut whole: Option<FlatRegion> = None;
        for block in region.in_sequence() {
            let part = self.flat_block(flat, sdfg, block);
            whole = Some(match whole {
                None => part,
                Some(FlatRegion { first, last }) => {
                    flat.edge(last, part.first, None, None);
                    FlatRegion { first, last: part.last }
                }
            });
        }
        whole.unwrap_or_else(|| {
            let only = flat.empty(&format!("{label}_body"));
            FlatRegion { first: only, last: only }
        })
    }

    fn flat_block(&mut self, flat: &mut FlatGraph, sdfg: &Sdfg, block: &Block) -> FlatRegion {
        let label = &block.label;
        match &block.kind {
            BlockKind::State(state) => {
                flat.nodes.push(self.state(label, sdfg, state));
                let only = flat.nodes.len() - 1;
                FlatRegion { first: only, last: only }
            }
            BlockKind::Loop(it) => {
                let first = flat.empty(&format!("{label}_enter"));
                let mut entry = loop_entry(it);
                entry["variable"] = json!(it.variable.name());
                flat.note(first, entry);
                let guard = flat.empty(&format!("{label}_guard"));
                let [init, test, update] = loop_code(it);
                let variable = it.variable.name();
                flat.edge(first, guard, None, Some((variable, &init)));
                let body = self.flat_region(flat, sdfg, label, &it.body);
                flat.edge(guard, body.first, Some(&test), None);
                flat.edge(body.last, guard, None, Some((variable, &update)));
                let last = flat.empty(&format!("{label}_leave"));
                flat.edge(guard, last, Some(&format!("not ({test})")), None);
                FlatRegion { first, last }
            }
            BlockKind::While(it) => {
                let guard = flat.empty(&format!("{label}_guard"));
                flat.note(guard, condition_entry(&it.condition, &it.origin, &sdfg.containers));
                let test = condition(&it.condition, &sdfg.containers);
                let body = self.flat_region(flat, sdfg, label, &it.body);
                flat.edge(guard, body.first, Some(&test), None);
                flat.edge(body.last, guard, None, None);
                let last = flat.empty(&format!("{label}_leave"));
                flat.edge(guard, last, Some(&format!("not ({test})")), None);
                FlatRegion { first: guard, last }
            }
            BlockKind::Conditional(it) => self.flat_conditional(flat, sdfg, label, it),
        }
    }

    fn flat_conditional(
        &mut self,
        flat: &mut FlatGraph,
        sdfg: &Sdfg,
        label: &str,
        it: &ConditionalBlock,
    ) -> FlatRegion {
        let first = flat.empty(&format!("{label}_pick"));
        let entry = |it: &Branch| condition_entry(&it.condition, &it.origin, &sdfg.containers);
        flat.note(first, it.branches.iter().map(entry).collect());
        let mut ends = Vec::new();
        // The test that no branch so far is taken.
        let mut before = String::new();
        for (at, branch) in it.branches.iter().enumerate() {
            let test = condition(&branch.condition, &sdfg.containers);
            let body = self.flat_region(flat, sdfg, &format!("{label}_{at}"), &branch.body);
            flat.edge(first, body.first, Some(&format!("{before}({test})")), None);
            ends.push(body.last);
            before += &format!("(not ({test})) and ");
        }
        let otherwise = before.trim_end_matches(" and ");
        if let Some(region) = &it.otherwise {
            let body = self.flat_region(flat, sdfg, &format!("{label}_else"), region);
            flat.edge(first, body.first, Some(otherwise), None);
            ends.push(body.last);
        }
        let last = flat.empty(&format!("{label}_join"));
        if it.otherwise.is_none() {
            flat.edge(first, last, Some(otherwise), None);
        }
        for end in ends {
            flat.edge(end, last, None, None);
        }
        FlatRegion { first, last }
    }
}

impl FlatGraph {
    fn empty(&mut self, label: &str) -> usize {
        self.nodes.push(empty_state(label));
        self.nodes.len() - 1
    }

    /// Notes the entry from which our own reader makes the block that begins with this state.
    fn note(&mut self, state: usize, entry: Value) {
        self.nodes[state]["attributes"] = json!({ "_meta_isobar": entry });
    }

    fn edge(&mut self, from: usize, to: usize, test: Option<&str>, assigned: Option<(&str, &str)>) {
        let mut attributes = json!({});
        if let Some(test) = test {
            attributes["condition"] = code(test);
        }
        if let Some((variable, value)) = assigned {
            attributes["assignments"] = json!({ variable: value });
        }
        self.edges.push(json!({
            "type": "Edge", "src": from.to_string(), "dst": to.to_string(),
            "attributes": {"data": {"type": "InterstateEdge", "label": "", "attributes": attributes}},
        }));
    }
}
