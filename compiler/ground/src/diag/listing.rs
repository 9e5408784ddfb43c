//! A level as text whose lines know their nodes, and whose nodes know their source.

use std::fmt::{self, Write as _};
use std::ops::Range;

use super::{Origin, Span, StmtId};

/// The text of one level, with the nodes that its lines show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Ends with a newline unless empty.
    pub text: String,
    /// In order of their first line; a parent stands before its children.
    pub nodes: Vec<ListedNode>,
}

/// A node of an IR, as it stands in a [`Listing`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedNode {
    /// Unique within the level, as spelled in the text where it is spelled: `x3`.
    pub id: String,
    /// The kind of node in the level's words: `assign`, `horizontal-execution`, `map`.
    pub kind: &'static str,
    /// Lines of the text, from 0, half-open.
    pub lines: Range<u32>,
    /// Position of the node around it in [`Listing::nodes`].
    pub parent: Option<usize>,
    /// The places of the source that asked for it; empty where its children's places are meant.
    pub spans: Vec<Span>,
    /// The statements that it carries out; empty where its children's are meant.
    pub stmts: Vec<StmtId>,
}

/// Writes a [`Listing`] line by line.
#[derive(Debug, Default)]
pub struct ListingWriter {
    listing: Listing,
    open: Vec<usize>,
    indent: usize,
    lines: u32,
}

impl ListingWriter {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a node: lines and nodes up to the matching [`close`](Self::close) belong to it.
    pub fn open<'a>(
        &mut self,
        id: impl Into<String>,
        kind: &'static str,
        origins: impl IntoIterator<Item = &'a Origin>,
    ) {
        let (mut spans, mut stmts) = (Vec::new(), Vec::new());
        for origin in origins {
            for &span in origin.spans() {
                if !spans.contains(&span) {
                    spans.push(span);
                }
            }
            if !stmts.contains(&origin.stmt) {
                stmts.push(origin.stmt);
            }
        }
        let parent = self.open.last().copied();
        self.open.push(self.listing.nodes.len());
        let lines = self.lines..self.lines;
        self.listing.nodes.push(ListedNode { id: id.into(), kind, lines, parent, spans, stmts });
    }

    /// Closes the node that was opened last.
    ///
    /// # Panics
    ///
    /// When no node is open.
    pub fn close(&mut self) {
        let node = self.open.pop().expect("each `close` matches an `open`");
        self.listing.nodes[node].lines.end = self.lines;
    }

    /// Writes one line at the present indent; an empty one is not indented.
    pub fn line(&mut self, text: impl fmt::Display) {
        let all = &mut self.listing.text;
        let line = all.len();
        for _ in 0..self.indent {
            all.push_str("  ");
        }
        let start = all.len();
        // A string takes all that it is given.
        let _ = write!(all, "{text}");
        debug_assert!(!all[start..].contains('\n'), "one line at a time");
        if all.len() == start {
            all.truncate(line);
        }
        all.push('\n');
        self.lines += 1;
    }

    /// Lines from here on stand one step further in.
    pub fn indent(&mut self) {
        self.indent += 1;
    }

    /// Takes back one [`indent`](Self::indent).
    ///
    /// # Panics
    ///
    /// When there is none to take back.
    pub fn dedent(&mut self) {
        self.indent = self.indent.checked_sub(1).expect("each `dedent` matches an `indent`");
    }

    /// Writes what `body` writes, one step further in.
    pub fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.indent += 1;
        body(self);
        self.indent -= 1;
    }

    /// The finished listing.
    ///
    /// # Panics
    ///
    /// When a node is still open.
    #[must_use]
    pub fn finish(self) -> Listing {
        assert!(self.open.is_empty(), "each `open` is closed");
        self.listing
    }
}
