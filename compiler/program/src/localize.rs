//! Fields of the caller, and state, that become locals: those that no caller reads behind a run.
//!
//! - **Precondition**: a valid program, and the fields that are results.
//! - **Effect**: an argument or a state that is no result becomes a local, where each run writes every element of it before
//!   it reads that. Its caller no longer gives it.
//! - **Why**: a local needs no memory of its own, and none where one piece of code has all of its calls.

use std::collections::BTreeSet;

use isobar_ground::diag::Span;
use isobar_ground::entity::Handle;

use crate::analysis::calls::written;
use crate::analysis::element_boxes::StencilElements;
use crate::analysis::unwritten::read_first;
use crate::nodes::{Container, ContainerRole, ProgramIr, ProgramStmtKind};

/// A field that is no result and stays what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldKept {
    pub name: String,
    /// `argument` or `state`.
    pub role: &'static str,
    pub why: &'static str,
    /// The statement that is the reason.
    pub span: Span,
}

/// Makes locals of the fields that are no results. Answers those that the program writes and that stay, with the reason.
pub fn localize(
    program: &mut ProgramIr,
    elements: &StencilElements,
    results: &BTreeSet<Handle<Container>>,
) -> Vec<FieldKept> {
    let written = written(program);
    let is_own = |it: &Container| matches!(it.role, ContainerRole::Argument | ContainerRole::State(_));
    let private = program
        .containers
        .iter()
        .filter(|(handle, it)| is_own(it) && !results.contains(handle) && written.contains(handle));
    let private: BTreeSet<_> = private.map(|it| it.0).collect();
    let mut kept = Vec::new();
    let first = read_first(program, elements, &private);
    let hosts = callbacks(program);
    for &container in &private {
        let host = hosts.iter().find(|it| it.touched.as_ref().is_none_or(|it| it.contains(&container)));
        let (why, span) = if let Some(host) = host {
            ("a callback may read it", host.span)
        } else if let Some(&span) = first.get(&container) {
            ("it may be read before this run has written it", span)
        } else {
            program.containers[container].role = ContainerRole::Local;
            continue;
        };
        let Container { name, role, .. } = &program.containers[container];
        kept.push(FieldKept { name: name.clone(), role: role.name(), why, span });
    }
    kept
}

/// A callback, with the fields that it touches; any where they are not known.
struct Callback {
    touched: Option<BTreeSet<Handle<Container>>>,
    span: Span,
}

fn callbacks(program: &ProgramIr) -> Vec<Callback> {
    let mut found = Vec::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if let ProgramStmtKind::Host { reads, writes, is_exact, .. } = &stmt.kind {
                let touched = reads.iter().chain(writes).map(|it| it.container).collect();
                found.push(Callback { touched: is_exact.then_some(touched), span: stmt.span });
            }
        });
    });
    found
}
