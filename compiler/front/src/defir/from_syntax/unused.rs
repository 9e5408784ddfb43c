//! Warns of parameters that a stencil never mentions, and of temporaries that it never reads.
//!
//! A misspelt output is both: `out1 = q` leaves `out` alone. All of the text counts, also what is decided away.
//! A result of a function may go unread, since the function may change its arguments. So may a part of a tuple.

use std::collections::{BTreeMap, BTreeSet};

use super::Builder;
use super::fixes::mentions;
use crate::diag::catalog::warnings;
use crate::diag::{Span, similar};
use crate::frontend::constants::Constant;
use crate::frontend::modules::FunctionInfo;
use crate::frontend::syntax::{Expr, ExprKind, Stmt, StmtKind};

impl Builder<'_, '_> {
    /// Warns of each temporary that the text assigns and never reads (W13), and has a hint for each idle parameter.
    pub(super) fn tell_unused(&mut self, function: FunctionInfo<'_>) {
        let def = function.def;
        let text = self.names.text(def.span);
        let is_function = |it: &Expr| match &it.kind {
            ExprKind::Call { function, .. } => {
                function.as_dotted().is_some()
                    && matches!(self.evaluate(function, false), Ok(Constant::Function(_)))
            }
            _ => false,
        };
        let mut uses =
            NameUses { assigned: BTreeMap::new(), read: BTreeSet::new(), is_function: &is_function };
        uses.of(&def.body);
        let NameUses { assigned, read, .. } = uses;
        let params: Vec<&str> = def.params.iter().map(|it| it.name.name.as_str()).collect();
        let is_ours = |name: &str| !params.contains(&name) && !name.starts_with('_');
        for (&name, &span) in assigned.iter().filter(|(name, _)| is_ours(name)) {
            if !read.contains(name) {
                // A parameter that is assigned already is hardly what was meant.
                let meant = similar(name, params.iter().copied().filter(|it| !assigned.contains_key(it)));
                self.report(warnings::never_read(name, span, meant.as_ref()));
            }
        }
        // A field that may be left out is one that is not always used.
        let expected =
            def.params.iter().filter(|it| !matches!(it.default, Some(Expr { kind: ExprKind::None, .. })));
        for name in expected.map(|it| &it.name).filter(|it| !it.name.starts_with('_')) {
            if mentions(text, &name.name).nth(1).is_none() {
                self.report(warnings::never_used(&name.name, name.span));
            }
        }
    }
}

/// The names that the statements of a body assign, each with its first place, and those that they read.
struct NameUses<'p, 'f> {
    assigned: BTreeMap<&'p str, Span>,
    read: BTreeSet<&'p str>,
    is_function: &'f dyn Fn(&Expr) -> bool,
}

impl<'p> NameUses<'p, '_> {
    fn of(&mut self, body: &'p [Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { targets, value } => {
                    let mut is_called = false;
                    value.walk(&mut |it| is_called |= (self.is_function)(it));
                    if !is_called {
                        targets.iter().for_each(|it| self.assign(it));
                    }
                    self.read(value);
                }
                StmtKind::AugAssign { target, value, .. } => {
                    self.assign(target);
                    self.read(value);
                }
                StmtKind::AnnAssign { target, value, .. } => {
                    self.assign(target);
                    value.iter().for_each(|it| self.read(it));
                }
                _ => stmt.each_own_expr(&mut |it| self.read(it)),
            }
            stmt.blocks().into_iter().for_each(|it| self.of(it));
        }
    }

    fn assign(&mut self, target: &'p Expr) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.assigned.entry(name).or_insert(target.span);
            }
            ExprKind::Subscript(value, index) => {
                self.assign(value);
                self.read(index);
            }
            ExprKind::Tuple(_) => {}
            _ => self.read(target),
        }
    }

    fn read(&mut self, expr: &'p Expr) {
        expr.walk(&mut |it| self.read.extend(it.as_name()));
    }
}
