//! Statements of methods.

use std::collections::BTreeSet;

use isobar_front::frontend::syntax::{Expr, ExprKind, Operator, Stmt, StmtKind};
use isobar_ground::diag::Span;

use super::values::ObjectValue;
use super::{Names, ObjectReader, Reading};
use crate::document::nodes::{ScalarText, StatementEntry};

/// Where a block of statements goes on.
pub(super) enum BodyFlow {
    Next,
    /// A `return`, with its value.
    Return(ObjectValue),
}

/// The most iterations of a loop that are written out.
const MOST_ITERATIONS: i64 = 1000;

impl ObjectReader<'_> {
    pub(super) fn body(&mut self, body: &[Stmt]) -> Reading<BodyFlow> {
        for stmt in body {
            if let flow @ BodyFlow::Return(_) = self.statement(stmt)? {
                return Ok(flow);
            }
        }
        Ok(BodyFlow::Next)
    }

    fn statement(&mut self, stmt: &Stmt) -> Reading<BodyFlow> {
        let at = stmt.span;
        match &stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Str(_) | ExprKind::Ellipsis, .. }) | StmtKind::Pass => {}
            StmtKind::Expr(expr) => drop(self.expr(expr)?),
            StmtKind::Assign { targets, value } => {
                let value = self.expr(value)?;
                for target in targets {
                    self.assign(target, value.clone(), at)?;
                }
            }
            StmtKind::AnnAssign { target, value: Some(value), .. } => {
                let value = self.expr(value)?;
                self.assign(target, value, at)?;
            }
            StmtKind::AnnAssign { value: None, .. } => {}
            StmtKind::AugAssign { target, op, value } => self.augmented(target, *op, value, at)?,
            StmtKind::If { test, then, otherwise } => return self.condition(test, then, otherwise, at),
            StmtKind::For { target, iterable, body, otherwise } if otherwise.is_empty() => {
                return self.for_loop(target, iterable, body, at);
            }
            StmtKind::While { test, body, otherwise } if otherwise.is_empty() => {
                self.while_loop(test, body, at)?;
            }
            StmtKind::With { items, body } => {
                for it in items {
                    match self.expr(&it.context)? {
                        ObjectValue::Text(label) if it.target.is_none() => {
                            let mark = StatementEntry { mark: Some(label), ..StatementEntry::default() };
                            self.write(mark, at)?;
                        }
                        ObjectValue::None if it.target.is_none() => {}
                        other => {
                            let why = "it is no clock of a timer";
                            return Err(self.refused(&format!("`with` {}", other.kind()), why, at));
                        }
                    }
                }
                return self.body(body);
            }
            StmtKind::Return(value) => {
                if self.n_scopes() > 0 {
                    return Err(self.needs_number(
                        "`return`",
                        "a condition of run time stands around it",
                        at,
                    ));
                }
                let value = value.as_ref().map_or(Ok(ObjectValue::None), |it| self.expr(it))?;
                return Ok(BodyFlow::Return(value));
            }
            StmtKind::Other { what: "raise", .. } => {
                if self.frames.iter().all(|it| it.n_scopes == 0) {
                    let why = "the method comes here whatever a run computes";
                    return Err(self.refused("`raise`", why, at));
                }
                let text = self.source(at).to_owned();
                self.write(StatementEntry { trap: Some(text), ..StatementEntry::default() }, at)?;
            }
            StmtKind::Other { what, .. } => {
                return Err(self.refused(&format!("`{what}`"), "programs have no such statement", at));
            }
            StmtKind::For { .. } | StmtKind::While { .. } => {
                return Err(self.refused("a loop with `else`", "programs have no such statement", at));
            }
            StmtKind::Function(_)
            | StmtKind::Class(_)
            | StmtKind::Import(_)
            | StmtKind::ImportFrom { .. } => {
                return Err(self.refused("a definition in a method", "write it outside", at));
            }
            StmtKind::Try { .. } => {
                return Err(self.refused("`try`", "a run ends at its first fault", at));
            }
        }
        Ok(BodyFlow::Next)
    }

    /// The text of a place.
    fn source(&self, at: Span) -> &str {
        let file = self.files.get(usize::from(at.file.0));
        file.and_then(|it| it.text.get(at.start as usize..at.end as usize)).unwrap_or_default()
    }

    fn assign(&mut self, target: &Expr, value: ObjectValue, at: Span) -> Reading<()> {
        match &target.kind {
            ExprKind::Name(name) => self.bind(name, value, at),
            ExprKind::Tuple(targets) | ExprKind::List(targets) => match value {
                ObjectValue::Sequence(values) if values.len() == targets.len() => {
                    targets.iter().zip(values).try_for_each(|(target, value)| self.assign(target, value, at))
                }
                other => {
                    let why = format!("{} does not have {} parts", other.kind(), targets.len());
                    Err(self.refused("the assignment", &why, at))
                }
            },
            ExprKind::Attribute(_, attribute) => {
                let what = format!("the assignment of the attribute `{}`", attribute.name);
                Err(self.refused(&what, "what an object holds is fixed while its program runs", at))
            }
            ExprKind::Subscript(..) => self.store(target, &value, at),
            _ => Err(self.refused("the assignment", "its target is no name", at)),
        }
    }

    /// `q[:, :, :] = r` and `q[:] = 0.0` are a copy and a fill of the whole field.
    fn store(&mut self, target: &Expr, value: &ObjectValue, at: Span) -> Reading<()> {
        let ExprKind::Subscript(_, index) = &target.kind else { return Ok(()) };
        let is_whole = |it: &Expr| {
            matches!(it.kind, ExprKind::Slice { lower: None, upper: None, step: None } | ExprKind::Ellipsis)
        };
        if !index.parts().iter().all(is_whole) {
            return Err(self.refused(
                "the assignment",
                "elements of fields are written by stencils alone",
                at,
            ));
        }
        let field = self.expr(target)?;
        let (Some(to), ObjectValue::Field { .. }) = (field.argument_entry(), &field) else {
            return Err(self.refused("the assignment", &format!("of {}", field.kind()), at));
        };
        let entry = match value {
            ObjectValue::Field { .. } => {
                StatementEntry { copy: value.argument_entry(), to: Some(to), ..StatementEntry::default() }
            }
            other => {
                let Some(with) = other.scalar_entry() else {
                    return Err(self.refused("the assignment", &format!("of {}", other.kind()), at));
                };
                StatementEntry { fill: Some(to), with: Some(with), ..StatementEntry::default() }
            }
        };
        self.write(entry, at)
    }

    /// Gives the variables of a loop that is written out their values, which are known.
    fn iterate(&mut self, target: &Expr, value: ObjectValue, at: Span) -> Reading<()> {
        match (&target.kind, value) {
            (ExprKind::Name(name), value) if !matches!(value, ObjectValue::Scalar(_)) => {
                self.set(name, value);
                Ok(())
            }
            (ExprKind::Tuple(targets) | ExprKind::List(targets), ObjectValue::Sequence(values))
                if targets.len() == values.len() =>
            {
                targets.iter().zip(values).try_for_each(|(target, value)| self.iterate(target, value, at))
            }
            (_, value) => self.assign(target, value, at),
        }
    }

    /// Gives a local a value. Numbers of run time, and those that change in a condition or a loop of run time, are
    /// scalars of the program.
    fn bind(&mut self, name: &str, value: ObjectValue, at: Span) -> Reading<()> {
        let is_computed = matches!(value, ObjectValue::Scalar(_));
        let known = self.frames.last().and_then(|it| it.names.get(name)).cloned();
        let own = self.scalar_of(name);
        let is_own = matches!(&known, Some(ObjectValue::Scalar(text)) if *text == own);
        if !is_computed && !is_own && (self.n_scopes() == 0 || value.scalar_text().is_none()) {
            self.set(name, value);
            return Ok(());
        }
        let Some(entry) = value.scalar_entry() else {
            let why = "it was a number of run time before";
            return Err(self.refused(&format!("{} as `{name}`", value.kind()), why, at));
        };
        self.let_scalar(&own, entry, at)?;
        self.set(name, ObjectValue::Scalar(own));
        Ok(())
    }

    pub(super) fn let_scalar(&mut self, name: &str, value: ScalarText, at: Span) -> Reading<()> {
        let entry =
            StatementEntry { r#let: Some(name.to_owned()), be: Some(value), ..StatementEntry::default() };
        self.write(entry, at)
    }

    /// The scalar of the program that holds a local of a method. Each call of a method has its own.
    pub(super) fn scalar_of(&self, local: &str) -> String {
        let number = self.frames.last().map_or(0, |it| it.number);
        let mut name = format!("{local}_{number}");
        // A document has one space of names.
        while self.graph.scalars.get(&name).is_some() || self.graph.fields.get(&name).is_some() {
            name.push('_');
        }
        name
    }

    /// How many conditions and loops of run time stand around, within the function.
    fn n_scopes(&self) -> usize {
        self.frames.last().map_or(0, |it| it.n_scopes)
    }

    fn set(&mut self, name: &str, value: ObjectValue) {
        if let Some(frame) = self.frames.last_mut() {
            frame.names.insert(name.to_owned(), value);
        }
    }

    fn augmented(&mut self, target: &Expr, op: Operator, value: &Expr, at: Span) -> Reading<()> {
        let (left, right) = (self.operand(target, "float64")?, self.operand(value, "float64")?);
        // An array is changed where it lies: other names of it see that.
        if matches!(left, ObjectValue::Field { .. }) {
            return self.whole(op, (&left, &right), true, at).map(drop);
        }
        let value = self.binary(op, left, right, at)?;
        self.assign(target, value, at)
    }

    fn condition(&mut self, test: &Expr, then: &[Stmt], otherwise: &[Stmt], at: Span) -> Reading<BodyFlow> {
        let value = self.operand(test, "bool")?;
        if let Some(holds) = value.truth() {
            return self.body(if holds { then } else { otherwise });
        }
        let Some(condition) = value.scalar_entry() else {
            let why = format!("it is {}, which is neither true nor false", value.kind());
            return Err(self.refused("the condition", &why, test.span));
        };
        self.fix(&[then, otherwise], at)?;
        let before = self.frames.last().map(|it| it.names.clone()).unwrap_or_default();
        let (first, behind_first) = self.scope(then)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.names.clone_from(&before);
        }
        let (second, _) = self.scope(otherwise)?;
        self.join(&behind_first);
        let entry = StatementEntry {
            r#if: Some(condition),
            then: Some(first),
            r#else: (!second.is_empty()).then_some(second),
            ..StatementEntry::default()
        };
        self.write(entry, at)?;
        Ok(BodyFlow::Next)
    }

    /// The statements of a block of run time, and the names behind it.
    fn scope(&mut self, body: &[Stmt]) -> Reading<(Vec<StatementEntry>, Names)> {
        self.frames.last_mut().into_iter().for_each(|it| it.n_scopes += 1);
        self.out.push(Vec::new());
        let flow = self.body(body);
        let block = self.out.pop().unwrap_or_default();
        self.frames.last_mut().into_iter().for_each(|it| it.n_scopes -= 1);
        flow?;
        Ok((block, self.frames.last().map(|it| it.names.clone()).unwrap_or_default()))
    }

    /// Behind a condition, names have the value that both ways leave.
    fn join(&mut self, other: &Names) {
        let Some(frame) = self.frames.last_mut() else { return };
        let names: BTreeSet<String> = frame.names.keys().chain(other.keys()).cloned().collect();
        for name in names {
            if frame.names.get(&name) != other.get(&name) {
                let why = format!("a condition of run time decides what `{name}` is");
                frame.names.insert(name, ObjectValue::Unknown(why));
            }
        }
    }

    /// Forgets what statements of a loop give other values: the iteration before decides them, until they are given.
    fn forget(&mut self, body: &[Stmt]) {
        let mut assigned = BTreeSet::new();
        names_assigned(body, true, &mut assigned);
        let Some(frame) = self.frames.last_mut() else { return };
        for (name, value) in &mut frame.names {
            if assigned.contains(name) && !matches!(value, ObjectValue::Scalar(_)) {
                *value = ObjectValue::Unknown(format!("the iteration before decides what `{name}` is"));
            }
        }
    }

    /// Makes scalars of the numbers that statements of run time may change.
    fn fix(&mut self, blocks: &[&[Stmt]], at: Span) -> Reading<()> {
        let mut assigned = BTreeSet::new();
        blocks.iter().for_each(|it| names_assigned(it, false, &mut assigned));
        for name in assigned {
            let Some(value) = self.frames.last().and_then(|it| it.names.get(&name)).cloned() else {
                continue;
            };
            if matches!(value, ObjectValue::Scalar(_)) {
                let own = self.scalar_of(&name);
                // An expression of other scalars keeps the value that it has here.
                if value != ObjectValue::Scalar(own.clone())
                    && let Some(entry) = value.scalar_entry()
                {
                    self.let_scalar(&own, entry, at)?;
                    self.set(&name, ObjectValue::Scalar(own));
                }
            } else if value.scalar_text().is_some()
                && let Some(entry) = value.scalar_entry()
            {
                let own = self.scalar_of(&name);
                self.let_scalar(&own, entry, at)?;
                self.set(&name, ObjectValue::Scalar(own));
            }
        }
        Ok(())
    }

    fn for_loop(&mut self, target: &Expr, iterable: &Expr, body: &[Stmt], at: Span) -> Reading<BodyFlow> {
        let values = match self.expr(iterable)? {
            ObjectValue::Bound { of, method } if method == "range" => match *of {
                ObjectValue::Sequence(bounds) => return self.range_loop(target, &bounds, body, at),
                other => return Err(self.refused(&other.kind(), "it is no range", at)),
            },
            ObjectValue::Sequence(values) => values,
            ObjectValue::Table(entries) => entries.into_iter().map(|it| it.0).collect(),
            other => {
                return Err(self.refused("the loop", &format!("it is over {}", other.kind()), iterable.span));
            }
        };
        self.written_out(target, values, body, at)
    }

    /// The iterations of a loop one after the other.
    fn written_out(
        &mut self,
        target: &Expr,
        values: Vec<ObjectValue>,
        body: &[Stmt],
        at: Span,
    ) -> Reading<BodyFlow> {
        for value in values {
            self.count(at)?;
            self.iterate(target, value, at)?;
            if let flow @ BodyFlow::Return(_) = self.body(body)? {
                return Ok(flow);
            }
        }
        Ok(BodyFlow::Next)
    }

    /// A loop over numbers stays a loop, unless its body needs to know them.
    fn range_loop(
        &mut self,
        target: &Expr,
        bounds: &[ObjectValue],
        body: &[Stmt],
        at: Span,
    ) -> Reading<BodyFlow> {
        let numbers: Option<Vec<i64>> = bounds
            .iter()
            .map(|it| match it {
                ObjectValue::Int(it) => Some(*it),
                _ => None,
            })
            .collect();
        let numbers = numbers.map(|it| range_of(&it));
        let known = numbers.flatten();
        if let Some(all) = known.as_ref().filter(|it| it.len() <= 1) {
            return self.written_out(target, ints(all), body, at);
        }
        let before = (
            self.frames.clone(),
            self.out.clone(),
            self.n_statements,
            self.whole_arrays.clone(),
            self.free.clone(),
        );
        match self.kept_loop(target, bounds, body, (known.is_some(), at)) {
            Ok(()) => Ok(BodyFlow::Next),
            Err(stop) => {
                let Some(all) = known else { return Err(stop) };
                (self.frames, self.out, self.n_statements, self.whole_arrays, self.free) = before;
                // The first reason is about the text as it is written.
                self.written_out(target, ints(&all), body, at)
                    .map_err(|it| if stop.needs_number { it } else { stop })
            }
        }
    }

    /// `has_iterations` where it has some for sure.
    fn kept_loop(
        &mut self,
        target: &Expr,
        bounds: &[ObjectValue],
        body: &[Stmt],
        (has_iterations, at): (bool, Span),
    ) -> Reading<()> {
        let Some(name) = target.as_name() else {
            return Err(self.refused("the loop", "its variable is no name", target.span));
        };
        let range: Option<Vec<ScalarText>> = bounds.iter().map(ObjectValue::scalar_entry).collect();
        let Some(range) = range else {
            return Err(self.refused("the loop", "its range is none of numbers", at));
        };
        self.fix(&[body], at)?;
        self.forget(body);
        let variable = self.scalar_of(name);
        let before = self.frames.last().map(|it| it.names.clone()).unwrap_or_default();
        self.set(name, ObjectValue::Scalar(variable.clone()));
        let (block, behind) = self.scope(body)?;
        if !has_iterations {
            if let Some(frame) = self.frames.last_mut() {
                frame.names = before;
            }
            self.join(&behind);
        }
        self.set(name, ObjectValue::Scalar(variable.clone()));
        let entry = StatementEntry {
            r#for: Some(variable),
            range: Some(range),
            body: Some(block),
            ..StatementEntry::default()
        };
        self.write(entry, at)
    }

    fn while_loop(&mut self, test: &Expr, body: &[Stmt], at: Span) -> Reading<()> {
        self.fix(&[body], at)?;
        let value = self.expr(test)?;
        if value.truth() == Some(false) {
            return Ok(());
        }
        match value.truth() {
            None if value.scalar_entry().is_some() => {
                let why = "programs need a limit of its iterations; write a `for` over a range with an `if`";
                Err(self.refused("`while`", why, at))
            }
            _ => Err(self.refused("`while`", "its condition is no number of run time", at)),
        }
    }

    /// A range of numbers, as `range` makes it.
    pub(super) fn range(&mut self, args: Vec<ObjectValue>, at: Span) -> Reading<ObjectValue> {
        let n = args.len();
        let args =
            args.into_iter().map(|it| self.free_number(it, "int64", at)).collect::<Reading<Vec<_>>>()?;
        let mut args = args.into_iter();
        let bounds = match (n, args.next(), args.next(), args.next()) {
            (1, Some(end), ..) => vec![ObjectValue::Int(0), end, ObjectValue::Int(1)],
            (2, Some(start), Some(end), _) => vec![start, end, ObjectValue::Int(1)],
            (3, Some(start), Some(end), Some(step)) => vec![start, end, step],
            _ => return Err(self.refused("`range`", "it takes from one to three numbers", at)),
        };
        Ok(ObjectValue::Bound { of: Box::new(ObjectValue::Sequence(bounds)), method: "range".to_owned() })
    }

    /// The values of a range that is known.
    pub(super) fn listed(&self, value: &ObjectValue, at: Span) -> Reading<Vec<ObjectValue>> {
        match value {
            ObjectValue::Sequence(values) => Ok(values.clone()),
            ObjectValue::Table(entries) => Ok(entries.iter().map(|it| it.0.clone()).collect()),
            ObjectValue::Bound { of, method } if method == "range" => {
                let ObjectValue::Sequence(bounds) = &**of else { return Ok(Vec::new()) };
                let number = |it: &ObjectValue| match it {
                    ObjectValue::Int(it) => Some(*it),
                    _ => None,
                };
                let numbers: Option<Vec<i64>> = bounds.iter().map(number).collect();
                match numbers.and_then(|it| range_of(&it)) {
                    Some(all) => Ok(ints(&all)),
                    None => Err(self.needs_number("the range", "a run decides how long it is", at)),
                }
            }
            other => Err(self.refused(&other.kind(), "it is no list", at)),
        }
    }
}

/// The numbers of a range; `None` where there are too many to write them out.
fn range_of(bounds: &[i64]) -> Option<Vec<i64>> {
    let [start, end, step] = bounds else { return None };
    let mut all = Vec::new();
    let mut at = *start;
    while *step > 0 && at < *end || *step < 0 && at > *end {
        all.push(at);
        if i64::try_from(all.len()).unwrap_or(i64::MAX) > MOST_ITERATIONS {
            return None;
        }
        at = at.checked_add(*step)?;
    }
    Some(all)
}

fn ints(all: &[i64]) -> Vec<ObjectValue> {
    all.iter().map(|&it| ObjectValue::Int(it)).collect()
}

/// The names that statements give values; with `has_loops` also the variables of loops.
fn names_assigned(body: &[Stmt], has_loops: bool, found: &mut BTreeSet<String>) {
    fn target(expr: &Expr, found: &mut BTreeSet<String>) {
        match &expr.kind {
            ExprKind::Name(name) => drop(found.insert(name.clone())),
            ExprKind::Tuple(parts) | ExprKind::List(parts) => parts.iter().for_each(|it| target(it, found)),
            _ => {}
        }
    }
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.iter().for_each(|it| target(it, found)),
            StmtKind::AugAssign { target: it, .. } | StmtKind::AnnAssign { target: it, .. } => {
                target(it, found)
            }
            StmtKind::For { target: it, .. } if has_loops => target(it, found),
            _ => {}
        }
        stmt.blocks().into_iter().for_each(|it| names_assigned(it, has_loops, found));
    }
}
