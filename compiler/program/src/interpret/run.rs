//! The statements of a run, one after the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use isobar_ground::call::array::Elements;
use isobar_ground::call::run::Control;
use isobar_ground::call::signature::ParamKind;
use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::entity::Handle;
use isobar_ground::types::{DType, Value};

use super::callback::Callback;
use super::halos::halo_boxes;
use super::measure::{StatementClock, StatementMeasure};
use super::messages::{BoxMessage, MessageBoxes};
use super::{ProgramInstance, ProgramReport, ProgramStop, StencilRunner, StencilStop};
use crate::analysis::exchanges::spelled;
use crate::nodes::{
    CallArgument, Container, ContainerPart, ContainerRole, ExchangePhase, HaloExchange, ProgramStmt,
    ProgramStmtKind, StencilCall,
};
use crate::plan::Neighbour;
use crate::scalar::evaluate::{is_true, stored};
use crate::scalar::print::printed;
use crate::scalar::{ScalarExpr, ScalarValue, ScalarVariable, evaluate};

/// One run of a program.
pub(super) struct ProgramRun<'a> {
    instance: &'a mut ProgramInstance,
    runner: &'a mut dyn StencilRunner,
    control: &'a mut dyn Control,
    report: ProgramReport,
    /// Exchanges that were started, with what arrives.
    under_way: Vec<(HaloExchange, ArrivingValues)>,
    clock: Option<StatementClock<'a>>,
}

/// The values that arrive in the halos of an exchange.
enum ArrivingValues {
    /// Values of the domain itself, for each of the fields.
    Halos(Vec<(BoxMessage, MessageBoxes)>),
    /// Messages of other ranks: the number of the transport.
    Messages(u64),
}

/// Why an exchange with a plan cannot be carried out.
const NO_RANKS: &str = "this run has no other ranks";

type RunResult = Result<(), ProgramStop>;

impl<'a> ProgramRun<'a> {
    pub(super) fn new(
        instance: &'a mut ProgramInstance,
        runner: &'a mut dyn StencilRunner,
        control: &'a mut dyn Control,
    ) -> Self {
        let report = ProgramReport::default();
        Self { instance, runner, control, report, under_way: Vec::new(), clock: None }
    }

    /// Measures each statement from now on.
    pub(super) fn measured(mut self, now: &'a dyn Fn() -> f64) -> Self {
        self.clock = Some(StatementClock::new(&self.instance.program.body, now));
        self
    }

    /// The measures of all statements, in the order of the text.
    pub(super) fn measures(&mut self) -> Vec<StatementMeasure> {
        self.clock.take().map(StatementClock::measures).unwrap_or_default()
    }

    pub(super) fn report(self) -> ProgramReport {
        self.report
    }

    pub(super) fn program(&mut self) -> RunResult {
        let body = std::mem::take(&mut self.instance.program.body);
        let result = self.body(&body);
        self.instance.program.body = body;
        let ended = self.instance.end_on_device(self.runner);
        result?;
        ended.map_err(|stop| self.device_stop(stop, Span::default()))?;
        match self.under_way.first() {
            None => Ok(()),
            Some((exchange, _)) => {
                let fields = spelled(&self.instance.program, &exchange.fields);
                let why = "has no `wait` in this run";
                Err(ProgramStop::Fault(vec![catalog::exchange_order(&fields, why, Span::default())]))
            }
        }
    }

    fn body(&mut self, body: &[ProgramStmt]) -> RunResult {
        body.iter().try_for_each(|it| {
            let since = self.clock.as_ref().map(StatementClock::now);
            self.statement(it)?;
            if self.clock.is_some()
                && let Some(device) = self.runner.device()
            {
                // A statement takes as long as the work that it starts.
                let ended = device.wait();
                ended.map_err(|stop| self.device_stop(stop, it.span))?;
            }
            if let Some((clock, since)) = self.clock.as_mut().zip(since) {
                clock.ended(it, since);
            }
            Ok(())
        })
    }

    /// Why a call that was started before did not end.
    fn device_stop(&self, stop: StencilStop, span: Span) -> ProgramStop {
        match stop {
            StencilStop::Cancelled => ProgramStop::Cancelled,
            StencilStop::Fault { why, .. } => {
                let why = format!("a call on the device ended: {why}");
                ProgramStop::Fault(vec![catalog::ended(&why, span)])
            }
        }
    }

    fn statement(&mut self, stmt: &ProgramStmt) -> RunResult {
        let span = stmt.span;
        match &stmt.kind {
            ProgramStmtKind::Call(call) => self.call(call, span)?,
            ProgramStmtKind::For { variable, range, body } => self.for_loop(*variable, range, body, span)?,
            ProgramStmtKind::While { condition, limit, body } => {
                let mut n = 0;
                while is_true(self.value(condition, span)?) {
                    if n == *limit {
                        let why = format!("a `while` did not end within {limit} iterations");
                        return Err(ProgramStop::Fault(vec![catalog::ended(&why, span)]));
                    }
                    n += 1;
                    self.go_on()?;
                    self.body(body)?;
                }
            }
            ProgramStmtKind::If { condition, then, otherwise } => {
                let holds = is_true(self.value(condition, span)?);
                self.body(if holds { then } else { otherwise })?;
            }
            ProgramStmtKind::Let { variable, value } => {
                let dtype = self.instance.program.scalars[*variable].dtype;
                let value = self.stored(value, dtype, span)?;
                self.instance.scalars[variable.index()] = value;
            }
            ProgramStmtKind::Copy { from, to } => {
                let (from, to) = (self.instance.box_of(from), self.instance.box_of(to));
                let copied = self.picked(vec![from], span)?;
                self.store(copied, vec![to], span)?;
            }
            ProgramStmtKind::Fill { target, value } => {
                let dtype = self.instance.program.containers[target.container].dtype;
                let value = self.stored(value, dtype, span)?;
                let filled = self.instance.fill(target, value, self.runner);
                filled.map_err(|stop| self.instance.not_moved(target.container, stop, span))?;
            }
            ProgramStmtKind::Swap(one, other) if self.are_own(one, other) => {
                self.instance.swap([one, other].map(|it| it.container), self.runner);
            }
            ProgramStmtKind::Swap(one, other) => {
                let [one, other] = [one, other].map(|it| vec![self.instance.box_of(it)]);
                let (first, second) = (self.picked(one.clone(), span)?, self.picked(other.clone(), span)?);
                self.store(second, one, span)?;
                self.store(first, other, span)?;
            }
            ProgramStmtKind::Exchange(exchange) => self.exchange(exchange, span)?,
            ProgramStmtKind::Host { name, reads, writes, gives, is_exact } => {
                let containers = |parts: &[ContainerPart]| parts.iter().map(|it| it.container).collect();
                let mut named: BTreeSet<Handle<Container>> = containers(reads);
                let written: Option<BTreeSet<_>> = is_exact.then(|| containers(writes));
                // A field that it writes in part keeps its other elements.
                named.extend(writes.iter().map(|it| it.container));
                named.iter().for_each(|it| self.instance.begin(*it));
                let read = is_exact.then_some(&named);
                self.touched(read, &named).into_iter().try_for_each(|it| self.bring(it, span))?;
                self.instance.give_copies(read);
                let mut callback = Callback::new(name, (reads, writes), gives, self.instance);
                let answered = self.runner.host(&mut callback);
                let answered = answered.and_then(|()| match callback.missing() {
                    Some(it) => {
                        let why = format!("it gives `{it}` no value");
                        Err(StencilStop::Fault { why, statement: None })
                    }
                    None => Ok(()),
                });
                self.instance.take_copies(written.as_ref());
                self.touched(written.as_ref(), &named).into_iter().for_each(|it| self.is_changed(it));
                answered.map_err(|stop| match stop {
                    StencilStop::Cancelled => ProgramStop::Cancelled,
                    StencilStop::Fault { why, .. } => {
                        let why = format!("the callback `{name}` ended: {why}");
                        ProgramStop::Fault(vec![catalog::ended(&why, span)])
                    }
                })?;
            }
            ProgramStmtKind::Group { number, body } => self.group(*number, body)?,
            ProgramStmtKind::Mark(label) => self.mark(label),
            ProgramStmtKind::Trap(message) => {
                return Err(ProgramStop::Fault(vec![catalog::ended(message, span)]));
            }
        }
        Ok(())
    }

    /// Whether two parts are whole containers of the program's own, whose arrays can be exchanged.
    fn are_own(&self, one: &ContainerPart, other: &ContainerPart) -> bool {
        [one, other].into_iter().all(|it| {
            let role = self.instance.program.containers[it.container].role;
            it.data_index.is_empty() && matches!(role, ContainerRole::Local | ContainerRole::State(_))
        })
    }

    fn go_on(&mut self) -> RunResult {
        if self.control.progress(self.report.n_calls, 0) { Ok(()) } else { Err(ProgramStop::Cancelled) }
    }

    fn for_loop(
        &mut self,
        variable: Handle<ScalarVariable>,
        range: &[ScalarExpr; 3],
        body: &[ProgramStmt],
        span: Span,
    ) -> RunResult {
        let mut bounds = [0; 3];
        for (bound, expr) in bounds.iter_mut().zip(range) {
            *bound = self.value(expr, span)?.value().as_i64();
        }
        let [from, to, by] = bounds;
        if by == 0 {
            return Err(self.no_value(&range[2], "a step of zero ends nowhere", span));
        }
        let dtype = self.instance.program.scalars[variable].dtype;
        let mut at = from;
        while if by > 0 { at < to } else { at > to } {
            self.go_on()?;
            let value =
                stored(ScalarValue::Int(at), dtype).map_err(|why| self.no_value(&range[0], why, span))?;
            self.instance.scalars[variable.index()] = value;
            self.body(body)?;
            let Some(next) = at.checked_add(by) else { break };
            at = next;
        }
        Ok(())
    }

    fn value(&self, expr: &ScalarExpr, span: Span) -> Result<ScalarValue, ProgramStop> {
        let scalars = &self.instance.scalars;
        let value = evaluate(expr, &|it| ScalarValue::read(scalars[it.index()]));
        value.map_err(|it| self.no_value(&it.expr, it.reason, span))
    }

    fn stored(&self, expr: &ScalarExpr, dtype: DType, span: Span) -> Result<Value, ProgramStop> {
        let value = self.value(expr, span)?;
        stored(value, dtype).map_err(|why| self.no_value(expr, why, span))
    }

    fn no_value(&self, expr: &ScalarExpr, why: &str, span: Span) -> ProgramStop {
        let text = printed(expr, &self.instance.program.scalars);
        ProgramStop::Fault(vec![catalog::no_value(&text, why, span)])
    }

    fn mark(&mut self, label: &str) {
        match self.report.marks.iter_mut().find(|it| it.0 == label) {
            Some(known) => known.1 += 1,
            None => self.report.marks.push((label.to_owned(), 1)),
        }
    }

    fn call(&mut self, call: &StencilCall, span: Span) -> RunResult {
        let scalars = self.scalars_of(call, span)?;
        self.report.n_calls += 1;
        self.instance.call(call, &scalars, span, (self.runner, self.control))
    }

    /// The value of each parameter of a call that is a scalar.
    fn scalars_of(&self, call: &StencilCall, span: Span) -> Result<Vec<Option<Value>>, ProgramStop> {
        let params = &self.instance.program.stencils[call.stencil].params;
        let mut scalars = Vec::with_capacity(params.len());
        for (param, argument) in params.iter().zip(&call.arguments) {
            scalars.push(match (argument, &param.kind) {
                (Some(CallArgument::Scalar(expr)), kind) => Some(self.stored(expr, kind.dtype(), span)?),
                (None, ParamKind::Scalar { default, .. }) => *default,
                _ => None,
            });
        }
        Ok(scalars)
    }

    /// Runs a group as code where there is some, and else one statement after the other.
    fn group(&mut self, number: usize, body: &[ProgramStmt]) -> RunResult {
        let Some(params) = self.runner.group(number) else { return self.body(body) };
        if !self.instance.has_points(body) {
            return self.body(body);
        }
        // No scalar depends on a field. One that has no value ends the run where its statement stands.
        let before = self.instance.scalars.clone();
        let Ok(scalars) = self.scalars_of_group(body) else {
            self.instance.scalars = before;
            return self.body(body);
        };
        for stmt in body {
            match &stmt.kind {
                ProgramStmtKind::Call(_) => self.report.n_calls += 1,
                ProgramStmtKind::Mark(label) => self.mark(label),
                _ => {}
            }
        }
        self.instance.launch_group((number, body), &params, &scalars, (self.runner, self.control))
    }

    /// The scalars that the statements of a group have, each with its own. Those that a `let` gives a value keep it.
    fn scalars_of_group(&mut self, body: &[ProgramStmt]) -> Result<Vec<Vec<Option<Value>>>, ProgramStop> {
        let mut all = Vec::with_capacity(body.len());
        for stmt in body {
            all.push(match &stmt.kind {
                ProgramStmtKind::Call(call) => self.scalars_of(call, stmt.span)?,
                ProgramStmtKind::Fill { target, value } => {
                    let dtype = self.instance.program.containers[target.container].dtype;
                    vec![Some(self.stored(value, dtype, stmt.span)?)]
                }
                ProgramStmtKind::Let { .. } => {
                    self.statement(stmt)?;
                    Vec::new()
                }
                _ => Vec::new(),
            });
        }
        Ok(all)
    }

    /// Gives a container its newest elements.
    fn bring(&mut self, handle: Handle<Container>, span: Span) -> RunResult {
        let brought = self.instance.bring(handle, self.runner);
        brought.map_err(|stop| self.instance.not_moved(handle, stop, span))
    }

    fn is_changed(&mut self, handle: Handle<Container>) {
        self.instance.is_changed(handle, self.runner);
    }

    /// The containers that a callback touches, where a device has their elements: `only` these, or those that it has `named`
    /// and all but locals.
    fn touched(
        &mut self,
        only: Option<&BTreeSet<Handle<Container>>>,
        named: &BTreeSet<Handle<Container>>,
    ) -> Vec<Handle<Container>> {
        if self.runner.device().is_none() {
            return Vec::new();
        }
        let containers = self.instance.program.containers.iter();
        let is_touched = |(handle, container): &(Handle<Container>, &Container)| match only {
            Some(only) => only.contains(handle),
            None => container.role != ContainerRole::Local || named.contains(handle),
        };
        containers.filter(is_touched).map(|it| it.0).collect()
    }

    /// Takes the elements of boxes, all of one type.
    fn picked(&mut self, boxes: MessageBoxes, span: Span) -> Result<BoxMessage, ProgramStop> {
        let Some(&(first, _)) = boxes.first() else {
            return Ok(BoxMessage::Here(Elements::zeros(DType::Bool, 0)));
        };
        let dtype = self.instance.program.containers[first].dtype;
        let picked = self.instance.picked(&boxes, dtype, self.runner);
        picked.map_err(|stop| self.instance.not_moved(first, stop, span))
    }

    fn store(&mut self, message: BoxMessage, boxes: MessageBoxes, span: Span) -> RunResult {
        let Some(&(first, _)) = boxes.first() else { return Ok(()) };
        let stored = self.instance.store(message, &boxes, self.runner);
        stored.map_err(|stop| self.instance.not_moved(first, stop, span))
    }

    fn exchange(&mut self, exchange: &HaloExchange, span: Span) -> RunResult {
        let at = self.under_way.iter().position(|it| it.0.is_same(exchange));
        let arrived = match (exchange.phase, at) {
            (ExchangePhase::Start, None) => {
                let arriving = self.started(exchange, span)?;
                self.under_way.push((exchange.clone(), arriving));
                return Ok(());
            }
            (ExchangePhase::Update, None) => self.started(exchange, span)?,
            (ExchangePhase::Wait, Some(at)) => self.under_way.remove(at).1,
            (ExchangePhase::Start | ExchangePhase::Update, Some(_)) => {
                return Err(self.wrong_phase(exchange, "starts again before its `wait`", span));
            }
            (ExchangePhase::Wait, None) => {
                return Err(self.wrong_phase(exchange, "waits and has not started", span));
            }
        };
        match arrived {
            ArrivingValues::Halos(halos) => {
                halos.into_iter().try_for_each(|(message, boxes)| self.store(message, boxes, span))
            }
            ArrivingValues::Messages(number) => {
                let arrived =
                    self.runner.transport().map_or(Err(NO_RANKS.to_owned()), |it| it.finish(number));
                let neighbours = self.neighbours(exchange);
                let arrived = arrived
                    .and_then(|it| self.instance.check_arrived(exchange, &neighbours, &it).map(|()| it));
                let arrived = arrived.map_err(|why| self.not_exchanged(exchange, &why, span))?;
                let stored = self.instance.unpack(exchange, &neighbours, arrived, self.runner);
                stored.map_err(|stop| self.exchange_stop(exchange, stop, span))
            }
        }
    }

    fn started(&mut self, exchange: &HaloExchange, span: Span) -> Result<ArrivingValues, ProgramStop> {
        let Some(plan) = exchange.plan else { return self.arriving(exchange, span) };
        let neighbours = self.neighbours(exchange);
        let messages = self.instance.packed(exchange, &neighbours, self.runner);
        let messages = messages.map_err(|stop| self.exchange_stop(exchange, stop, span))?;
        let tag = self.instance.program.plans[plan].tag;
        let started = self.runner.transport().map_or(Err(NO_RANKS.to_owned()), |it| it.start(tag, messages));
        started.map(ArrivingValues::Messages).map_err(|why| self.not_exchanged(exchange, &why, span))
    }

    fn neighbours(&self, exchange: &HaloExchange) -> Arc<[Neighbour]> {
        exchange
            .plan
            .map_or_else(|| Arc::from([]), |it| Arc::clone(&self.instance.program.plans[it].neighbours))
    }

    fn wrong_phase(&self, exchange: &HaloExchange, why: &str, span: Span) -> ProgramStop {
        let fields = spelled(&self.instance.program, &exchange.fields);
        ProgramStop::Fault(vec![catalog::exchange_order(&fields, why, span)])
    }

    fn not_exchanged(&self, exchange: &HaloExchange, why: &str, span: Span) -> ProgramStop {
        let fields = spelled(&self.instance.program, &exchange.fields);
        ProgramStop::Fault(vec![catalog::ended(&format!("the exchange of `{fields}` ended: {why}"), span)])
    }

    /// Takes the values that arrive in the halos of the only domain.
    fn arriving(&mut self, exchange: &HaloExchange, span: Span) -> Result<ArrivingValues, ProgramStop> {
        let mut all = Vec::with_capacity(exchange.fields.len());
        for part in &exchange.fields {
            let handle = part.container;
            self.instance.begin(handle);
            let ProgramInstance { program, arrays, domain, fill, .. } = &*self.instance;
            let of = (&program.containers[handle], part);
            let boxes = halo_boxes(&arrays[handle.index()], of, *domain, exchange.width, *fill);
            let (from, to) = boxes.into_iter().map(|[from, to]| ((handle, from), (handle, to))).unzip();
            all.push((self.picked(from, span)?, to));
        }
        Ok(ArrivingValues::Halos(all))
    }

    fn exchange_stop(&self, exchange: &HaloExchange, stop: StencilStop, span: Span) -> ProgramStop {
        match stop {
            StencilStop::Cancelled => ProgramStop::Cancelled,
            StencilStop::Fault { why, .. } => self.not_exchanged(exchange, &why, span),
        }
    }
}
