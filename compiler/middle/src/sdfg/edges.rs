//! The edges of a state, found by the nodes at their ends.

use std::sync::OnceLock;

use smallvec::SmallVec;

use super::nodes::{Edge, Memlet, Node};
use crate::entity::Handle;

/// The edges of a state in the order of their creation.
///
/// They are used as a list. The edges at a node are looked up when they are first asked for. Any change but a
/// new edge or another memlet forgets them.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    all: Vec<Edge>,
    /// By the index of a node, the positions of the edges at it.
    ends: OnceLock<Vec<NodeEdges>>,
}

#[derive(Clone, Debug, Default)]
struct NodeEdges {
    into: SmallVec<[u32; 2]>,
    out_of: SmallVec<[u32; 2]>,
}

impl Edges {
    pub fn push(&mut self, edge: Edge) {
        if let Some(ends) = self.ends.get_mut() {
            add(ends, self.all.len(), &edge);
        }
        self.all.push(edge);
    }

    /// Takes the edge at a position out.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn remove(&mut self, at: usize) -> Edge {
        self.ends.take();
        self.all.remove(at)
    }

    /// Drops every edge that `is_kept` does not want.
    pub fn retain(&mut self, is_kept: impl FnMut(&Edge) -> bool) {
        let n_edges = self.all.len();
        self.all.retain(is_kept);
        if self.all.len() != n_edges {
            self.ends.take();
        }
    }

    /// The memlets of the edges.
    pub fn memlets_mut(&mut self) -> impl Iterator<Item = &mut Memlet> {
        self.all.iter_mut().filter_map(|it| it.memlet.as_mut())
    }

    pub(super) fn ending_at(&self, node: Handle<Node>) -> impl Iterator<Item = &Edge> {
        self.ends(node).map_or(&[][..], |it| &it.into).iter().map(|&it| &self.all[it as usize])
    }

    pub(super) fn starting_at(&self, node: Handle<Node>) -> impl Iterator<Item = &Edge> {
        self.ends(node).map_or(&[][..], |it| &it.out_of).iter().map(|&it| &self.all[it as usize])
    }

    fn ends(&self, node: Handle<Node>) -> Option<&NodeEdges> {
        let all = self.ends.get_or_init(|| {
            let mut ends = Vec::new();
            self.all.iter().enumerate().for_each(|(position, edge)| add(&mut ends, position, edge));
            ends
        });
        all.get(node.index())
    }
}

fn add(ends: &mut Vec<NodeEdges>, position: usize, edge: &Edge) {
    let position = u32::try_from(position).unwrap_or(u32::MAX);
    let last = edge.source.index().max(edge.target.index());
    if ends.len() <= last {
        ends.resize_with(last + 1, NodeEdges::default);
    }
    ends[edge.target.index()].into.push(position);
    ends[edge.source.index()].out_of.push(position);
}

impl std::ops::Deref for Edges {
    type Target = [Edge];

    fn deref(&self) -> &[Edge] {
        &self.all
    }
}

impl std::ops::DerefMut for Edges {
    fn deref_mut(&mut self) -> &mut [Edge] {
        self.ends.take();
        &mut self.all
    }
}

impl FromIterator<Edge> for Edges {
    fn from_iter<I: IntoIterator<Item = Edge>>(edges: I) -> Self {
        Self { all: edges.into_iter().collect(), ends: OnceLock::new() }
    }
}

impl From<Vec<Edge>> for Edges {
    fn from(all: Vec<Edge>) -> Self {
        Self { all, ends: OnceLock::new() }
    }
}

impl IntoIterator for Edges {
    type Item = Edge;
    type IntoIter = std::vec::IntoIter<Edge>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}

impl<'e> IntoIterator for &'e mut Edges {
    type Item = &'e mut Edge;
    type IntoIter = std::slice::IterMut<'e, Edge>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<'e> IntoIterator for &'e Edges {
    type Item = &'e Edge;
    type IntoIter = std::slice::Iter<'e, Edge>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(source: usize, target: usize) -> Edge {
        let (source, target) = (Handle::new(source), Handle::new(target));
        Edge { source, source_connector: None, target, target_connector: None, memlet: None }
    }

    #[test]
    fn edges_are_found_at_their_ends_after_every_change() {
        let mut edges = Edges::default();
        [edge(0, 1), edge(0, 2), edge(1, 2)].into_iter().for_each(|it| edges.push(it));
        let ends = |edges: &Edges, node| {
            let at = |it: &Edge| (it.source.index(), it.target.index());
            let node = Handle::new(node);
            (
                edges.ending_at(node).map(at).collect::<Vec<_>>(),
                edges.starting_at(node).map(at).collect::<Vec<_>>(),
            )
        };
        assert_eq!(ends(&edges, 2), (vec![(0, 2), (1, 2)], vec![]));
        edges.retain(|it| it.source.index() != 1);
        assert_eq!(ends(&edges, 2), (vec![(0, 2)], vec![]));
        edges.iter_mut().for_each(|it| it.target = Handle::new(3));
        assert_eq!(ends(&edges, 2), (vec![], vec![]));
        assert_eq!(ends(&edges, 3), (vec![(0, 3), (0, 3)], vec![]));
        assert_eq!(ends(&edges, 7), (vec![], vec![]), "a node without edges");
    }
}
