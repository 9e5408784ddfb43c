//! The code of groups in the tree of a program: that of each group behind all passes, with the values of its scalars.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use isobar_program::interpret::GroupParam;
use isobar_program::nodes::{CallArgument, ProgramStmt, ProgramStmtKind};
use isobar_program::scalar::nodes::{ScalarExprKind, ScalarRole};

use super::StatementsOfGroup;
use super::schedule::{Building, ScalarPlace};
use crate::call::signature::ParamKind;
use crate::diag::{Origin, Span, StmtId};
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::schedule::nodes::{Container, Expr, GpuMemory, Node};
use crate::space::names;

impl Building<'_> {
    /// The code of a group: first all scalars of its statements, in order.
    pub(super) fn group(
        &mut self,
        (number, body): (usize, &[ProgramStmt]),
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Option<()> {
        let whole = self.whole;
        let group = &whole.groups[number];
        let compilation = &group.compilation;
        let (Some(own), Some(signature)) = (&compilation.levels.schedule, &compilation.front.signature)
        else {
            self.refuse("a group of calls", "its schedule was not made", span);
            return None;
        };
        let params: Vec<(GroupParam, Option<Handle<Container>>)> = group
            .params
            .iter()
            .zip(&signature.params)
            .map(|(it, param)| {
                let name = names::of_container(&param.name);
                (*it, own.containers.find(|it| it.name == name))
            })
            .collect();
        let mut of_group: BTreeMap<Handle<Container>, Handle<Container>> = BTreeMap::new();
        for (position, stmt) in body.iter().enumerate() {
            self.reach_statement();
            if let ProgramStmtKind::Let { variable, value } = &stmt.kind {
                self.assign(*variable, value, stmt.span, nodes)?;
            }
            for (param, container) in &params {
                let (GroupParam::Scalar { statement, param }, Some(container)) = (*param, *container) else {
                    continue;
                };
                if statement != position {
                    continue;
                }
                let place = self.scalar_of_group(stmt, param, &own.containers[container], nodes)?;
                of_group.insert(container, place.container);
            }
        }
        for (param, container) in params {
            if let (GroupParam::Container(handle), Some(container)) = (param, container) {
                of_group.insert(container, self.own(handle));
            }
        }
        let n_before = self.tree.containers.len();
        for (handle, it) in own.containers.iter() {
            if let Entry::Vacant(entry) = of_group.entry(handle) {
                let name = self.unused(&it.name);
                entry.insert(self.tree.containers.push(Container { name, ..it.clone() }));
            }
        }
        for it in self.tree.containers.values_mut().skip(n_before) {
            if let Some(GpuMemory::Over(output)) = &mut it.place {
                *output = of_group[output];
            }
        }
        let first = self.n_statements;
        let mut children = own.children.clone();
        for node in &mut children {
            node.each_access_mut(&mut |access| access.container = of_group[&access.container]);
        }
        let mut n_statements = 0;
        children.iter_mut().for_each(|it| renumber(it, first, &mut n_statements));
        self.order.append(&compilation.front.order(), first);
        self.n_statements += n_statements;
        self.groups.push(StatementsOfGroup { group: number, first, n: n_statements });
        nodes.extend(children);
        Some(())
    }

    /// The container that a group reads as one of its scalars, with its value.
    fn scalar_of_group(
        &mut self,
        stmt: &ProgramStmt,
        param: usize,
        of: &Container,
        nodes: &mut Vec<Node>,
    ) -> Option<ScalarPlace> {
        let program = &self.whole.program;
        let span = stmt.span;
        let given = match &stmt.kind {
            ProgramStmtKind::Fill { value, .. } => Some(value),
            ProgramStmtKind::Call(call) => {
                let default = &program.stencils[call.stencil].params.get(param)?.kind;
                match (call.arguments.get(param)?, default) {
                    (Some(CallArgument::Scalar(expr)), _) => Some(expr),
                    (None, ParamKind::Scalar { default: Some(value), .. }) => {
                        let place = self.run_value(&of.name, of.dtype, span);
                        let kind = ExprKind::Literal(*value);
                        nodes.push(self.give(place, Expr { kind, dtype: value.dtype(), span }, span));
                        return Some(place);
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        // Nothing changes a scalar of the caller's, so the group reads that itself.
        if let Some(ScalarExprKind::Variable(it)) = given.map(|it| &it.kind)
            && program.scalars[*it].role == ScalarRole::Argument
            && program.scalars[*it].dtype == of.dtype
        {
            return self.scalars.get(it).copied();
        }
        let value = self.lowered(span, |it| it.stored(given.ok_or("a scalar has no value")?, of.dtype))?;
        let place = self.run_value(&of.name, of.dtype, span);
        nodes.push(self.give(place, value, span));
        Some(place)
    }
}

/// Adds to the numbers of all statements, and counts them.
fn renumber(node: &mut Node, first: u32, n_statements: &mut u32) {
    let origin = match node {
        Node::If(it) => Some(&mut it.origin),
        Node::While(it) => Some(&mut it.origin),
        Node::Region(it) => Some(&mut it.origin),
        Node::Assign(it) => Some(&mut it.origin),
        Node::Loop(_) | Node::Where(_) | Node::Barrier => None,
    };
    if let Some(origin) = origin {
        *n_statements = (*n_statements).max(origin.stmt.0 + 1);
        *origin = Origin::new(StmtId(first + origin.stmt.0), origin.spans());
    }
    node.blocks_mut().into_iter().flatten().for_each(|it| renumber(it, first, n_statements));
}
