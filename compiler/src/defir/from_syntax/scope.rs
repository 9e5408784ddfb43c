//! What the names of one body mean: of the stencil, or of a function that is being inlined.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Builder;
use crate::config::External;
use crate::defir::nodes::{Field, Scalar};
use crate::diag::Span;
use crate::diag::catalog::names as catalog;
use crate::entity::Handle;
use crate::frontend::constants::{Evaluated, Opaque};
use crate::frontend::evaluate::{self, Environment};
use crate::frontend::modules::{FunctionInfo, ScopeId};
use crate::frontend::program::for_each_external;
use crate::frontend::syntax::{Expr, ExprKind, Stmt, StmtKind};

/// A name of a body.
#[derive(Clone, Debug)]
pub(super) enum Local {
    Field(Handle<Field>),
    Scalar(Handle<Scalar>),
    /// An external, or a function's parameter that stands for a constant.
    Known(Evaluated),
    /// An external that was imported and has no value.
    Missing {
        imported: Span,
    },
}

/// Where the results of a function go.
#[derive(Clone, Debug)]
pub(super) struct Results {
    pub(super) targets: Vec<Handle<Field>>,
}

/// One body with its names.
#[derive(Debug)]
pub(super) struct Frame<'p> {
    pub(super) locals: BTreeMap<String, Local>,
    /// Every name that the body assigns somewhere.
    pub(super) assigned: BTreeSet<&'p str>,
    pub(super) scope: ScopeId,
    /// Names of the file that are bound before this place are seen first.
    pub(super) position: u32,
    /// The calls that led here, from inside out.
    pub(super) calls: Vec<Span>,
    /// Starts the names of temporaries: `flux_2`.
    pub(super) prefix: Option<String>,
    /// In a function: what `return` assigns.
    pub(super) results: Option<Results>,
    /// Missing externals that were read.
    missing_used: RefCell<BTreeSet<String>>,
}

impl<'p> Frame<'p> {
    pub(super) fn of_body(function: FunctionInfo<'p>, calls: Vec<Span>, prefix: Option<String>) -> Self {
        let mut assigned = BTreeSet::new();
        assigned_names(&function.def.body, &mut assigned);
        Self {
            locals: BTreeMap::new(),
            assigned,
            scope: function.scope,
            position: function.def.span.start,
            calls,
            prefix,
            results: None,
            missing_used: RefCell::new(BTreeSet::new()),
        }
    }

    /// Imported externals without a value that nothing read.
    pub(super) fn missing_unused(&self) -> Vec<(&str, Span)> {
        let used = self.missing_used.borrow();
        let missing = self.locals.iter().filter_map(|(name, local)| match local {
            Local::Missing { imported } if !used.contains(name) => Some((name.as_str(), *imported)),
            _ => None,
        });
        missing.collect()
    }
}

/// Every name that `body` assigns, at any depth.
pub(super) fn assigned_names<'p>(body: &'p [Stmt], names: &mut BTreeSet<&'p str>) {
    fn target<'p>(expr: &'p Expr, names: &mut BTreeSet<&'p str>) {
        match &expr.kind {
            ExprKind::Name(name) => {
                names.insert(name);
            }
            ExprKind::Subscript(value, _) => target(value, names),
            ExprKind::Tuple(parts) => parts.iter().for_each(|it| target(it, names)),
            _ => {}
        }
    }
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.iter().for_each(|it| target(it, names)),
            StmtKind::AugAssign { target: it, .. } | StmtKind::AnnAssign { target: it, .. } => {
                target(it, names)
            }
            StmtKind::If { then, otherwise, .. } => {
                assigned_names(then, names);
                assigned_names(otherwise, names);
            }
            StmtKind::While { body, .. } | StmtKind::With { body, .. } => assigned_names(body, names),
            _ => {}
        }
    }
}

impl<'p> Builder<'_, 'p> {
    /// Binds what the body imports from `__externals__`, wherever the import stands.
    pub(super) fn import_externals(&mut self, body: &'p [Stmt]) {
        for_each_external(body, &mut |alias, import| {
            let name = &alias.name;
            if alias.alias.is_some() {
                self.report(catalog::renamed_external(&name.name, import));
            }
            let local = match self.external(&name.name, name.span) {
                Some(value) => Local::Known(value),
                None => Local::Missing { imported: name.span },
            };
            let bound = alias.alias.as_ref().unwrap_or(name);
            self.frame_mut().locals.insert(bound.name.clone(), local);
        });
    }

    /// The external of that name: as given, or one of the axis offsets of a single tile.
    fn external(&self, name: &str, span: Span) -> Option<Evaluated> {
        if let Some(given) = self.config.externals.get(name) {
            return Some(self.names.external(given, span));
        }
        Some(self.names.external(&External::of_single_tile(name)?, span))
    }

    /// The compile-time value of an expression of the present body.
    pub(super) fn evaluate(&self, expr: &Expr, allows_calls: bool) -> Evaluated {
        let frame = self.frame();
        let locals = |name: &str| self.local_constant(name, expr.span);
        let environment =
            Environment { scope: frame.scope, position: frame.position, locals: &locals, allows_calls };
        evaluate::expression(self.names, &environment, expr)
    }

    /// A local name as a constant; `None` where the name is none of the body's.
    fn local_constant(&self, name: &str, span: Span) -> Option<Evaluated> {
        let frame = self.frame();
        let at_run_time = |what| Some(Err(Opaque { why: format!("`{name}` is {what}"), span: Some(span) }));
        match frame.locals.get(name) {
            Some(Local::Known(value)) => Some(value.clone()),
            Some(Local::Field(_)) => at_run_time("a field"),
            Some(Local::Scalar(_)) => at_run_time("a scalar parameter"),
            Some(Local::Missing { .. }) => {
                frame.missing_used.borrow_mut().insert(name.to_owned());
                at_run_time("an external without a value")
            }
            None if frame.assigned.contains(name) => at_run_time("a variable"),
            None => None,
        }
    }

    /// Reports that a missing external was read.
    pub(super) fn missing_external(&mut self, name: &str, used: Span, imported: Span) {
        self.frame().missing_used.borrow_mut().insert(name.to_owned());
        self.report(catalog::missing_external(name, used, imported));
    }

    /// A name of the body that is spelled almost like `name`.
    pub(super) fn similar_name(&self, name: &str) -> Option<String> {
        if self.n_reports > 20 {
            return None;
        }
        let frame = self.frame();
        let known = frame.locals.keys().map(String::as_str).chain(frame.assigned.iter().copied());
        known
            .map(|it| (distance(name, it), it))
            .filter(|&(distance, it)| distance <= 1.max(name.len().min(it.len()) / 4))
            .min()
            .map(|(_, it)| it.to_owned())
    }
}

/// How many letters must be inserted, removed or replaced; at most 9.
pub(super) fn distance(a: &str, b: &str) -> usize {
    const FAR: usize = 9;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len() > 64 || b.len() > 64 || a.len().abs_diff(b.len()) >= FAR {
        return FAR;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()].min(FAR)
}
