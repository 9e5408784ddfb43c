//! Exchanges between ranks that some ranks might leave out.

use std::collections::BTreeSet;

use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::entity::Handle;

use super::exchanges::spelled;
use crate::nodes::{ExchangePhase, HaloExchange, ProgramIr, ProgramStmt, ProgramStmtKind};
use crate::scalar::nodes::ScalarRole;
use crate::scalar::{ScalarExpr, ScalarVariable};

/// Every exchange with a plan below a condition that ranks may decide differently. Such a condition depends on the answer of a
/// callback, or on a scalar that each rank keeps. Callers give all ranks the same numbers.
#[must_use]
pub fn rank_faults(program: &ProgramIr) -> Vec<Diagnostic> {
    if program.plans.is_empty() {
        return Vec::new();
    }
    let mut wrong = halves(program);
    let own = program.scalars.iter().filter(|it| matches!(it.1.role, ScalarRole::State(_)));
    let mut search = RankSearch { differing: own.map(|it| it.0).collect(), grew: true };
    while std::mem::take(&mut search.grew) {
        search.body(&program.body, false, &mut |_| ());
    }
    search.body(&program.body, false, &mut |stmt| {
        if let ProgramStmtKind::Exchange(it) = &stmt.kind
            && it.plan.is_some()
        {
            let what = format!("the exchange of `{}`", spelled(program, &it.fields));
            let why = "it stands below a condition that ranks may decide differently, and all of them must come to it";
            wrong.push(catalog::unsupported(&what, why, stmt.span));
        }
    });
    wrong
}

/// Every exchange with a plan that starts nowhere in a program, or ends nowhere.
fn halves<'p>(program: &'p ProgramIr) -> Vec<Diagnostic> {
    let mut found: Vec<(&'p HaloExchange, Span, [bool; 2])> = Vec::new();
    let mut add = |stmt: &'p ProgramStmt| {
        let ProgramStmtKind::Exchange(exchange) = &stmt.kind else { return };
        if exchange.plan.is_none() || exchange.phase == ExchangePhase::Update {
            return;
        }
        let phase = usize::from(exchange.phase == ExchangePhase::Wait);
        match found.iter_mut().find(|it| it.0.is_same(exchange)) {
            Some(known) => known.2[phase] = true,
            None => {
                let mut phases = [false; 2];
                phases[phase] = true;
                found.push((exchange, stmt.span, phases));
            }
        }
    };
    program.body.iter().for_each(|it| it.walk(&mut add));
    let told = |(exchange, span, [starts, waits]): (&HaloExchange, Span, [bool; 2])| {
        let why = match (starts, waits) {
            (true, false) => "has no `wait`",
            (false, true) => "waits and has not started",
            _ => return None,
        };
        Some(catalog::exchange_order(&spelled(program, &exchange.fields), why, span))
    };
    found.into_iter().filter_map(told).collect()
}

struct RankSearch {
    /// The scalars that may differ from rank to rank.
    differing: BTreeSet<Handle<ScalarVariable>>,
    grew: bool,
}

impl RankSearch {
    fn differs(&self, expr: &ScalarExpr) -> bool {
        let mut differs = false;
        expr.each_variable(&mut |it| differs |= self.differing.contains(&it));
        differs
    }

    fn assign(&mut self, variable: Handle<ScalarVariable>, differs: bool) {
        self.grew |= differs && self.differing.insert(variable);
    }

    /// Calls `each` for the statements that some ranks may leave out.
    fn body(&mut self, body: &[ProgramStmt], is_left_out: bool, each: &mut dyn FnMut(&ProgramStmt)) {
        for stmt in body {
            if is_left_out {
                each(stmt);
            }
            let differs = match &stmt.kind {
                ProgramStmtKind::For { variable, range, .. } => {
                    let differs = range.iter().any(|it| self.differs(it));
                    self.assign(*variable, is_left_out || differs);
                    differs
                }
                ProgramStmtKind::While { condition, .. } | ProgramStmtKind::If { condition, .. } => {
                    self.differs(condition)
                }
                ProgramStmtKind::Let { variable, value } => {
                    let differs = is_left_out || self.differs(value);
                    self.assign(*variable, differs);
                    false
                }
                ProgramStmtKind::Host { gives, .. } => {
                    gives.iter().for_each(|it| self.assign(*it, true));
                    false
                }
                _ => false,
            };
            for block in stmt.blocks() {
                self.body(block, is_left_out || differs, each);
            }
        }
    }
}
