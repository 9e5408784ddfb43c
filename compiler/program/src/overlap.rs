//! Exchanges between ranks while other statements run.
//!
//! - **Precondition**: a valid program, whose calls stand in groups where they are to be one piece of code.
//! - **Effect**: an exchange between ranks starts as early as its values are there, and waits as late as nothing touches its fields.
//!   An `update` that has something to do meanwhile becomes a `start` and a `wait`. All ranks keep the order of starts,
//!   and for messages of one tag that of waits. Each field has the same values wherever a statement touches it.
//! - **Why**: a rank computes while messages of others are on their way.

use std::collections::BTreeSet;

use isobar_ground::entity::Handle;

use crate::analysis::calls::written_in;
use crate::interpret::Answers;
use crate::nodes::{Container, ExchangePhase, HaloExchange, ProgramIr, ProgramStmt, ProgramStmtKind};

/// Moves the phases of exchanges between ranks: those that have a plan, or all where callers answer them.
pub fn overlap_exchanges(program: &mut ProgramIr, answers: Answers) {
    let mut body = std::mem::take(&mut program.body);
    Overlap { program, answers }.body(&mut body);
    program.body = body;
}

/// The phases that move.
struct Overlap<'p> {
    program: &'p ProgramIr,
    answers: Answers,
}

impl Overlap<'_> {
    fn body(&self, body: &mut Vec<ProgramStmt>) {
        for stmt in body.iter_mut().filter(|it| !matches!(it.kind, ProgramStmtKind::Group { .. })) {
            stmt.blocks_mut().into_iter().for_each(|it| self.body(it));
        }
        let phases: Vec<ProgramStmt> =
            std::mem::take(body).into_iter().flat_map(|it| self.in_phases(it)).collect();
        *body = phases;
        for at in 0..body.len() {
            if self.phase_of(&body[at]) == Some(ExchangePhase::Start) {
                self.rise(body, at);
            }
        }
        for at in (0..body.len()).rev() {
            if self.phase_of(&body[at]) == Some(ExchangePhase::Wait) {
                self.sink(body, at);
            }
        }
        self.join_phases(body);
    }

    /// An exchange between ranks.
    fn between_ranks<'s>(&self, stmt: &'s ProgramStmt) -> Option<&'s HaloExchange> {
        match &stmt.kind {
            ProgramStmtKind::Exchange(it) if it.plan.is_some() || self.answers == Answers::Exchanges => {
                Some(it)
            }
            _ => None,
        }
    }

    fn phase_of(&self, stmt: &ProgramStmt) -> Option<ExchangePhase> {
        self.between_ranks(stmt).map(|it| it.phase)
    }

    fn tag(&self, stmt: &ProgramStmt) -> Option<u32> {
        self.between_ranks(stmt).and_then(|it| it.plan).map(|it| self.program.plans[it].tag)
    }

    /// An `update` as two statements.
    fn in_phases(&self, stmt: ProgramStmt) -> Vec<ProgramStmt> {
        let Some(exchange) = self.between_ranks(&stmt).filter(|it| it.phase == ExchangePhase::Update) else {
            return vec![stmt];
        };
        let phase = |phase| {
            let kind = ProgramStmtKind::Exchange(HaloExchange { phase, ..exchange.clone() });
            ProgramStmt { kind, span: stmt.span }
        };
        vec![phase(ExchangePhase::Start), phase(ExchangePhase::Wait)]
    }

    /// Two phases with nothing between them are one `update`.
    fn join_phases(&self, body: &mut Vec<ProgramStmt>) {
        let mut at = 1;
        while at < body.len() {
            let joined = match (self.between_ranks(&body[at - 1]), self.between_ranks(&body[at])) {
                (Some(start), Some(wait)) => {
                    (start.phase, wait.phase) == (ExchangePhase::Start, ExchangePhase::Wait)
                        && start.is_same(wait)
                }
                _ => false,
            };
            if joined {
                body.remove(at);
                if let ProgramStmtKind::Exchange(it) = &mut body[at - 1].kind {
                    it.phase = ExchangePhase::Update;
                }
            }
            at += 1;
        }
    }

    /// Moves a `start` before the statements that leave its values as they are.
    fn rise(&self, body: &mut [ProgramStmt], mut at: usize) {
        let own = fields(self.program, &body[at]);
        while let Some(before) = at.checked_sub(1) {
            let other = &body[before];
            let stays = match self.phase_of(other) {
                Some(phase) => phase != ExchangePhase::Wait,
                None => !lets_pass(other),
            };
            if stays || !written_in(self.program, std::slice::from_ref(other)).is_disjoint(&own) {
                return;
            }
            body.swap(before, at);
            at = before;
        }
    }

    /// Moves a `wait` behind the statements that do not touch its fields.
    fn sink(&self, body: &mut [ProgramStmt], mut at: usize) {
        let own = fields(self.program, &body[at]);
        while let Some(other) = body.get(at + 1) {
            let stays = match self.phase_of(other) {
                Some(ExchangePhase::Start) => false,
                // Messages of one tag are told apart by their order.
                Some(_) => self.tag(other) == self.tag(&body[at]),
                None => !lets_pass(other),
            };
            if stays || !fields(self.program, other).is_disjoint(&own) {
                return;
            }
            body.swap(at, at + 1);
            at += 1;
        }
    }
}

/// Whether messages may be on their way while a statement runs: it calls no code of others, and ends no run.
fn lets_pass(stmt: &ProgramStmt) -> bool {
    let mut passes = true;
    stmt.walk(&mut |it| {
        passes &= !matches!(
            it.kind,
            ProgramStmtKind::Exchange(_)
                | ProgramStmtKind::Host { .. }
                | ProgramStmtKind::Trap(_)
                | ProgramStmtKind::Mark(_)
        );
    });
    passes
}

/// The fields that a statement touches, and those inside it.
fn fields(program: &ProgramIr, stmt: &ProgramStmt) -> BTreeSet<Handle<Container>> {
    let mut found = BTreeSet::new();
    stmt.walk(&mut |it| found.extend(it.own_parts(program).into_iter().map(|it| it.container)));
    found
}
