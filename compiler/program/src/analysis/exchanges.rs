//! The order of the phases of exchanges.

use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::space::Axis;

use crate::nodes::{
    ContainerPart, ExchangeKind, ExchangePhase, HaloExchange, ProgramIr, ProgramStmt, ProgramStmtKind,
};

/// Two phases with the same key belong together.
type UpdaterKey = (Vec<ContainerPart>, ExchangeKind, u32);

/// Every phase that stands in a wrong order or below a condition.
#[must_use]
pub fn order_faults(program: &ProgramIr) -> Vec<Diagnostic> {
    let mut order = ExchangeOrder { program, open: Vec::new(), wrong: Vec::new() };
    order.body(&program.body, false);
    for (key, span) in std::mem::take(&mut order.open) {
        order.tell(&key.0, "has no `wait`", span);
    }
    order.wrong
}

struct ExchangeOrder<'p> {
    program: &'p ProgramIr,
    /// Those that were started, with their places.
    open: Vec<(UpdaterKey, Span)>,
    wrong: Vec<Diagnostic>,
}

impl ExchangeOrder<'_> {
    fn tell(&mut self, fields: &[ContainerPart], why: &str, span: Span) {
        self.wrong.push(catalog::exchange_order(&spelled(self.program, fields), why, span));
    }

    fn body(&mut self, body: &[ProgramStmt], is_conditional: bool) {
        for stmt in body {
            match &stmt.kind {
                // A run checks the order of phases between ranks: they may stand below conditions.
                ProgramStmtKind::Exchange(it) if it.plan.is_some() => {}
                ProgramStmtKind::Exchange(it) if is_conditional => {
                    let what = format!("the exchange of `{}`", spelled(self.program, &it.fields));
                    let why = "it stands below a condition, and all ranks must come to it in the same order";
                    self.wrong.push(catalog::unsupported(&what, why, stmt.span));
                }
                ProgramStmtKind::Exchange(it) => self.phase(it, stmt.span),
                ProgramStmtKind::For { body, .. } => {
                    let before = self.open.clone();
                    self.body(body, is_conditional);
                    self.same_behind(before);
                }
                ProgramStmtKind::While { body, .. } => self.body(body, true),
                ProgramStmtKind::If { then, otherwise, .. } => {
                    self.body(then, true);
                    self.body(otherwise, true);
                }
                _ => {}
            }
        }
    }

    /// An iteration leaves open what it found open: the next one finds the same.
    fn same_behind(&mut self, before: Vec<(UpdaterKey, Span)>) {
        let started: Vec<_> =
            self.open.iter().filter(|it| !before.iter().any(|b| b.0 == it.0)).cloned().collect();
        let ended: Vec<_> =
            before.iter().filter(|it| !self.open.iter().any(|o| o.0 == it.0)).cloned().collect();
        for (key, span) in started {
            self.tell(&key.0, "starts in each iteration, and its `wait` stands outside", span);
        }
        for (key, span) in ended {
            self.tell(&key.0, "starts outside of a loop that waits in each iteration", span);
        }
        self.open = before;
    }

    fn phase(&mut self, exchange: &HaloExchange, span: Span) {
        let key = (exchange.fields.clone(), exchange.kind, exchange.width);
        let at = self.open.iter().position(|it| it.0 == key);
        match (exchange.phase, at) {
            (ExchangePhase::Start, None) => self.open.push((key, span)),
            (ExchangePhase::Start, Some(_)) => self.tell(&exchange.fields, "starts twice", span),
            (ExchangePhase::Wait, Some(at)) => {
                self.open.remove(at);
            }
            (ExchangePhase::Wait, None) => self.tell(&exchange.fields, "waits and has not started", span),
            (ExchangePhase::Update, None) => {}
            (ExchangePhase::Update, Some(_)) => {
                self.tell(&exchange.fields, "starts again before its `wait`", span);
            }
        }
    }
}

/// The fields of an exchange, as messages name them.
pub(crate) fn spelled(program: &ProgramIr, fields: &[ContainerPart]) -> String {
    let names: Vec<String> = fields.iter().map(|it| it.spelled(program)).collect();
    names.join("`, `")
}

/// Fields whose halo is smaller than an exchange, or that have none.
#[must_use]
pub fn size_faults(program: &ProgramIr, exchange: &HaloExchange, span: Span) -> Vec<Diagnostic> {
    let width = i64::from(exchange.width);
    let mut wrong = Vec::new();
    for part in &exchange.fields {
        let container = &program.containers[part.container];
        let name = part.spelled(program);
        for axis in [Axis::I, Axis::J] {
            let Some(at) = container.axes.iter().position(|it| it == axis) else {
                let what = format!("the exchange of `{name}`");
                wrong.push(catalog::unsupported(&what, &format!("it has no axis {axis}"), span));
                continue;
            };
            let origin = container.origin[axis.index()];
            if origin < width {
                wrong.push(catalog::field_too_small(
                    &name,
                    "exchange",
                    axis.name(),
                    "start",
                    width - origin,
                    span,
                ));
            }
            let end = container.end_of_points(axis).moved(width);
            if let Some(lacks) = end.beyond(container.shape[at]).filter(|it| *it > 0) {
                wrong.push(catalog::field_too_small(&name, "exchange", axis.name(), "end", lacks, span));
            }
        }
    }
    wrong
}
