//! The top level of a stencil: computations and their intervals.

use super::Builder;
use super::decorators::last_ident;
use super::scope::{ExpectedKind, Local};
use super::statement::AssignmentTarget;
use super::types::{DeclaredType, PythonTypes};
use super::vector::every_element;
use crate::defir::nodes::{Access, Computation, Expr, Index, Stmt, StmtKind};
use crate::diag::catalog::{compile_time, computations as catalog, data, names};
use crate::diag::{Similar, Span, similar};
use crate::expr::ExprKind as IrKind;
use crate::frontend::constants::Constant;
use crate::frontend::program::{HEADS, ORDERS, is_externals};
use crate::frontend::syntax::{self as tree, ExprKind, Keyword, WithItem};
use crate::space::{Axis, AxisSet, Bound, Interval, Level, LoopOrder};

const NOT_AN_ITEM: &str = "an item of this `with` is no computation, interval or horizontal region";

/// The farthest that a bound may be from the end it counts from.
const MAX_BOUND: i64 = 1 << 20;

/// The levels of an `interval(...)`: static ones, and what bounds them further while the stencil runs.
#[derive(Clone, Debug)]
struct IntervalLevels {
    interval: Interval,
    from: Option<Expr>,
    to: Option<Expr>,
}

impl From<Interval> for IntervalLevels {
    fn from(interval: Interval) -> Self {
        Self { interval, from: None, to: None }
    }
}

/// One bound of an interval.
enum IntervalEdge {
    Static(Bound),
    RunTime(Expr),
}

/// The items of a `with`, by what they are.
#[derive(Default)]
struct Items<'p> {
    computation: Vec<Call<'p>>,
    interval: Vec<Call<'p>>,
    horizontal: Vec<Call<'p>>,
    /// Whether one was none of these; it is reported.
    has_other: bool,
}

/// A call as an item of a `with`.
#[derive(Clone, Copy)]
pub(super) struct Call<'p> {
    pub(super) args: &'p [tree::Expr],
    pub(super) keywords: &'p [Keyword],
    pub(super) span: Span,
}

/// Whether it is an assertion, which may stand outside of all computations.
fn is_compile_assert(expr: &tree::Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if function.as_name() == Some("compile_assert"))
}

impl<'p> Builder<'_, 'p> {
    pub(super) fn stencil_body(&mut self, body: &'p [tree::Stmt]) {
        for stmt in body {
            match &stmt.kind {
                tree::StmtKind::Expr(it) if matches!(it.kind, ExprKind::Str(_) | ExprKind::Missing) => {}
                tree::StmtKind::Pass => {}
                tree::StmtKind::Expr(it) if is_compile_assert(it) => self.expression_statement(it),
                tree::StmtKind::ImportFrom { module, .. } if is_externals(module) => {}
                tree::StmtKind::ImportFrom { module, .. } if module.ends_with("__gtscript__") => {}
                tree::StmtKind::Import(_) | tree::StmtKind::ImportFrom { .. } => {
                    self.report(names::import_in_body(stmt.span));
                }
                tree::StmtKind::With { items, body } => self.computation(items, body, stmt.span),
                tree::StmtKind::AnnAssign { target, annotation, value } => {
                    self.declaration(target, annotation, value.as_ref(), stmt.span);
                }
                other => {
                    let span = first_line_of(stmt);
                    self.report(catalog::statement_at_top_level(describe(other), span));
                }
            }
        }
    }

    /// `t: Field[IJK, float] = 0.0` before the computations.
    fn declaration(
        &mut self,
        target: &'p tree::Expr,
        annotation: &'p tree::Expr,
        value: Option<&'p tree::Expr>,
        span: Span,
    ) {
        let Some(name) = target.as_name() else {
            self.report(compile_time::bad_temporary_type(
                "the target of a declaration is not a name",
                target.span,
            ));
            return;
        };
        let (dtype, data_dims) = match self.annotation(annotation, PythonTypes::Literal) {
            Ok(DeclaredType::Field(it, dtype)) if it.axes == AxisSet::IJK => (dtype, it.data_dims),
            Ok(DeclaredType::Field(it, _)) if it.is_table => {
                let why = "a table is a parameter: a temporary has all three axes";
                self.report(compile_time::bad_temporary_type(why, annotation.span));
                return;
            }
            Ok(DeclaredType::Field(it, _)) => {
                self.report(data::declared_with_axes(name, it.axes, annotation.span));
                return;
            }
            Ok(DeclaredType::Scalar(_)) => {
                let why = "a temporary declared before the computations is a field with all three axes";
                self.report(compile_time::bad_temporary_type(why, annotation.span));
                return;
            }
            Err(why) => {
                if let Some(why) = why {
                    let why = format!("the type of the temporary is not known: {}", why.why);
                    self.report(compile_time::bad_temporary_type(&why, annotation.span));
                }
                return;
            }
        };
        if self.local(name).is_some() {
            let why = format!("`{name}` is declared already");
            self.report(compile_time::bad_temporary_type(&why, target.span));
            return;
        }
        let field = self.temporary(name.to_owned(), AxisSet::IJK, Some(dtype), target.span);
        self.stencil.fields[field].data_dims.clone_from(&data_dims);
        self.frame_mut().locals.insert(name, Local::Field(field));
        let Some(value) = value else { return };
        let Ok(constant) = self.evaluate(value, false) else {
            let why = "the initial value of a declared temporary is not a constant";
            self.report(compile_time::bad_temporary_type(why, value.span));
            return;
        };
        let Some(value) = self.constant(constant, name, value.span) else { return };
        let mut body = Vec::new();
        for element in every_element(&data_dims) {
            let index = Index { data: self.element_index(&element, target.span), ..Index::HERE };
            self.emit(AssignmentTarget { field, index }, target.span, value.clone(), span, &mut body);
        }
        let (order, interval) = (LoopOrder::Parallel, Interval::FULL);
        self.stencil.computations.push(Computation { order, interval, from: None, to: None, span, body });
    }

    fn items(&mut self, items: &'p [WithItem]) -> Items<'p> {
        let mut found = Items::default();
        for item in items {
            if let Some(target) = &item.target {
                self.report(catalog::malformed_with(
                    "an item of this `with` has a name behind `as`",
                    target.span,
                ));
            }
            let place = match self.head(&item.context) {
                Some("computation") => &mut found.computation,
                Some("interval") => &mut found.interval,
                Some("horizontal") => &mut found.horizontal,
                _ => {
                    found.has_other = true;
                    continue;
                }
            };
            if let ExprKind::Call { args, keywords, .. } = &item.context.kind {
                place.push(Call { args, keywords, span: item.context.span });
            }
        }
        found
    }

    /// Which of the language's words an item of a `with` calls; a slip is told, and taken for what it must have meant.
    fn head(&mut self, item: &'p tree::Expr) -> Option<&'static str> {
        let span = item.span;
        let (callee, call) = match &item.kind {
            ExprKind::Missing => return None,
            ExprKind::Call { function, args, keywords } => (&**function, Some((args, keywords))),
            _ => (item, None),
        };
        let named = last_ident(callee);
        let word_of = |name: &str| HEADS.into_iter().find(|it| *it == name);
        let exact = named.and_then(|(name, _)| word_of(name));
        let (Some((name, at)), Some((args, keywords))) = (named, call) else {
            let order = named.and_then(|(name, _)| ORDERS.into_iter().find(|it| *it == name));
            self.report(match (exact, order) {
                (Some(word), _) => catalog::item_not_called(word, span),
                (None, Some(order)) => catalog::order_alone(order, span),
                (None, None) => catalog::malformed_with(NOT_AN_ITEM, span),
            });
            return None;
        };
        if exact.is_some() {
            return exact;
        }
        let written = self.names.text(callee.span);
        if let Ok(Constant::Word(word)) = self.evaluate(callee, false)
            && let Some(word) = word_of(word)
        {
            self.report(catalog::renamed_item(written, word, callee.span));
            return Some(word);
        }
        let is_order = |it: &tree::Expr| last_ident(it).is_some_and(|(it, _)| ORDERS.contains(&it));
        let takes_order = args.iter().chain(keywords.iter().map(|it| &it.value)).any(is_order);
        let similar = match takes_order {
            true => Some(Similar { name: "computation".to_owned(), is_alone: true }),
            false => similar(name, HEADS),
        };
        match similar {
            Some(similar) => {
                self.report(catalog::misspelt_item(written, at, &similar));
                word_of(&similar.name)
            }
            None => {
                self.report(catalog::malformed_with(NOT_AN_ITEM, span));
                None
            }
        }
    }

    fn computation(&mut self, items: &'p [WithItem], body: &'p [tree::Stmt], span: Span) {
        let found = self.items(items);
        let span = items.first().map_or(span, |first| first.context.span);
        let [computation] = found.computation.as_slice() else {
            if !found.computation.is_empty() {
                self.report(catalog::malformed_with(
                    "a `with` has two computations",
                    found.computation[1].span,
                ));
            } else if !found.has_other {
                self.report(catalog::malformed_with(
                    "an interval or region stands outside a computation",
                    span,
                ));
            }
            return;
        };
        let order = self.order_of(*computation);
        self.order = order.unwrap_or(LoopOrder::Parallel);
        match found.interval.as_slice() {
            [interval] => {
                let range = self.interval(*interval);
                self.block(range, interval.span, &found.horizontal, body);
            }
            [_, second, ..] => {
                self.report(catalog::malformed_with("a `with` has two intervals", second.span));
            }
            [] if found.has_other => {}
            [] => self.nested_intervals(computation.span, &found.horizontal, body),
        }
    }

    fn order_of(&mut self, call: Call<'p>) -> Option<LoopOrder> {
        let written = match (call.args, call.keywords) {
            ([order], []) => Some(order),
            ([], [keyword]) if keyword.name.as_ref().is_some_and(|it| it.name == "order") => {
                Some(&keyword.value)
            }
            _ => None,
        };
        let order = written.and_then(|it| it.as_dotted()).and_then(|it| match it.last().copied() {
            Some("PARALLEL") => Some(LoopOrder::Parallel),
            Some("FORWARD") => Some(LoopOrder::Forward),
            Some("BACKWARD") => Some(LoopOrder::Backward),
            _ => None,
        });
        if order.is_none() && !written.is_some_and(|it| matches!(it.kind, ExprKind::Missing)) {
            let renamed = written.and_then(|it| match self.evaluate(it, false) {
                Ok(Constant::Word(word)) => ORDERS.into_iter().find(|it| *it == word),
                _ => None,
            });
            let similar = match renamed {
                Some(order) => Some(Similar { name: order.to_owned(), is_alone: true }),
                None => written.and_then(tree::Expr::as_name).and_then(|it| similar(it, ORDERS)),
            };
            self.report(catalog::unknown_order(written.map_or(call.span, |it| it.span), similar.as_ref()));
        }
        order
    }

    /// `with interval(...)` blocks inside one computation.
    fn nested_intervals(&mut self, computation: Span, outer: &[Call<'p>], body: &'p [tree::Stmt]) {
        let mut before: Option<(Interval, Span)> = None;
        let mut has_interval = false;
        for stmt in body {
            let span = first_line_of(stmt);
            let (items, inner) = match &stmt.kind {
                tree::StmtKind::With { items, body } => (items, body),
                tree::StmtKind::Expr(it) if matches!(it.kind, ExprKind::Str(_) | ExprKind::Missing) => {
                    continue;
                }
                tree::StmtKind::ImportFrom { module, .. } if is_externals(module) => continue,
                _ => {
                    let what = if has_interval {
                        "a statement stands between the intervals of a computation"
                    } else {
                        "a computation has no interval"
                    };
                    self.report(catalog::malformed_with(what, if has_interval { span } else { computation }));
                    return;
                }
            };
            let found = self.items(items);
            if let Some(second) = found.computation.first() {
                self.report(catalog::malformed_with(
                    "a computation stands inside a computation",
                    second.span,
                ));
                continue;
            }
            let [interval] = found.interval.as_slice() else {
                if found.interval.len() > 1 {
                    self.report(catalog::malformed_with(
                        "a `with` has two intervals",
                        found.interval[1].span,
                    ));
                } else if !found.has_other {
                    self.report(catalog::malformed_with("a computation has no interval", computation));
                }
                continue;
            };
            has_interval = true;
            let range = self.interval(*interval);
            let regions: Vec<Call<'p>> = outer.iter().chain(&found.horizontal).copied().collect();
            if let Some(range) = range {
                // Where a bound is known at run time only, so is the order.
                let is_static = range.from.is_none() && range.to.is_none();
                if let Some((earlier, span)) = before
                    && is_static
                {
                    self.check_sequence(earlier, span, range.interval, interval.span);
                }
                before = is_static.then_some((range.interval, interval.span));
                self.block(Some(range), interval.span, &regions, inner);
            } else {
                self.block(None, interval.span, &regions, inner);
            }
        }
        if !has_interval && body.is_empty() {
            self.report(catalog::malformed_with("a computation has no interval", computation));
        }
    }

    /// Intervals are listed in execution order and do not overlap.
    fn check_sequence(&mut self, earlier: Interval, earlier_span: Span, range: Interval, span: Span) {
        let (is_before, is_apart) = match self.order {
            LoopOrder::Backward => (range.start > earlier.start, range.end <= earlier.start),
            LoopOrder::Parallel | LoopOrder::Forward => {
                (range.start < earlier.start, earlier.end <= range.start)
            }
        };
        if is_apart {
            return;
        }
        if is_before {
            self.report(catalog::intervals_out_of_order(self.order, span, earlier_span));
        } else {
            self.report(catalog::intervals_overlap(span, earlier_span));
        }
    }

    fn block(
        &mut self,
        levels: Option<IntervalLevels>,
        span: Span,
        regions: &[Call<'p>],
        body: &'p [tree::Stmt],
    ) {
        let mut built = Vec::new();
        match regions {
            [] => self.stmts(body, &mut built),
            [horizontal, rest @ ..] => {
                if let Some(second) = rest.first() {
                    self.report(catalog::with_in_region(second.span));
                }
                self.region(*horizontal, body, horizontal.span, &mut built);
            }
        }
        let order = self.order;
        let IntervalLevels { interval, from, to } = levels.unwrap_or(Interval::FULL.into());
        self.check_bounds_are_kept(from.iter().chain(&to), &built);
        self.stencil.computations.push(Computation { order, interval, from, to, span, body: built });
    }

    /// `interval(...)`
    fn interval(&mut self, call: Call<'p>) -> Option<IntervalLevels> {
        let values: Vec<&tree::Expr> =
            call.args.iter().chain(call.keywords.iter().map(|it| &it.value)).collect();
        let fail = |this: &mut Self, why: &str, span| {
            this.report(catalog::bad_interval(why, span));
            None
        };
        match values.as_slice() {
            [all] if matches!(all.kind, ExprKind::Ellipsis) => Some(Interval::FULL.into()),
            [one] => {
                let IntervalEdge::Static(bound) = self.bound(one, Level::Start)? else {
                    return fail(self, "a single level is known while compiling", one.span);
                };
                if bound.level == Level::End {
                    self.report(catalog::single_level_from_the_end(bound.offset, one.span));
                    return None;
                }
                Some(Interval::new(bound, Bound { offset: bound.offset + 1, ..bound }).into())
            }
            [start, end] => {
                if matches!(start.kind, ExprKind::None) {
                    self.report(catalog::interval_from_none(start.span));
                    return None;
                }
                let (start, end) = (self.bound(start, Level::Start), self.bound(end, Level::End));
                let (start_bound, from) = match start? {
                    IntervalEdge::Static(bound) => (bound, None),
                    IntervalEdge::RunTime(level) => (Bound::start(0), Some(level)),
                };
                let (end_bound, to) = match end? {
                    IntervalEdge::Static(bound) => (bound, None),
                    IntervalEdge::RunTime(level) => (Bound::end(0), Some(level)),
                };
                let is_empty = match (start_bound.level, end_bound.level) {
                    (Level::Start, Level::End) => false,
                    (Level::End, Level::Start) => true,
                    _ => start_bound.offset >= end_bound.offset,
                };
                if is_empty {
                    return fail(self, "the interval is empty or runs backward", call.span);
                }
                Some(IntervalLevels { interval: Interval::new(start_bound, end_bound), from, to })
            }
            _ => fail(self, "an interval has one or two bounds", call.span),
        }
    }

    fn bound(&mut self, expr: &'p tree::Expr, side: Level) -> Option<IntervalEdge> {
        if matches!(expr.kind, ExprKind::Missing) {
            return None;
        }
        if let Some(name) = self.run_time_name(expr) {
            return self.run_time_bound(name, expr).map(IntervalEdge::RunTime);
        }
        let (level, offset) = match self.evaluate(expr, false) {
            Ok(Constant::None) if side == Level::End => (Level::End, 0),
            Ok(Constant::Position(it)) if it.axis == Axis::K => {
                let level = if it.index >= 0 { Level::Start } else { Level::End };
                (level, it.index.saturating_add(it.offset))
            }
            Ok(value) => match value.as_int() {
                Some(it) => (if it >= 0 { Level::Start } else { Level::End }, it),
                None => {
                    let why = format!("a bound of the interval is {} and not an integer", value.describe());
                    self.report(catalog::bad_interval(&why, expr.span));
                    return None;
                }
            },
            Err(opaque) => {
                if !self.is_missing_external(expr, ExpectedKind::Integer) && !self.is_unknown_name(expr) {
                    let why = format!(
                        "a bound of the interval is not known while compiling, because {}",
                        opaque.why
                    );
                    let found = catalog::bad_interval(&why, expr.span);
                    self.report(names::changed_at(found, opaque.change_place()));
                }
                return None;
            }
        };
        match i32::try_from(offset) {
            Ok(short) if offset.abs() <= MAX_BOUND => {
                Some(IntervalEdge::Static(Bound { level, offset: short }))
            }
            _ => {
                self.report(catalog::bad_interval(
                    "a bound of the interval is beyond every domain",
                    expr.span,
                ));
                None
            }
        }
    }

    /// The field or scalar that an expression reads somewhere: it has a value only while the stencil runs.
    fn run_time_name<'e>(&self, expr: &'e tree::Expr) -> Option<&'e str> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let has_value =
                    matches!(self.local(name), Some(Local::Field(_) | Local::Scalar(_) | Local::Faulty));
                has_value.then_some(name.as_str())
            }
            ExprKind::Subscript(value, _) | ExprKind::Unary(_, value) | ExprKind::Attribute(value, _) => {
                self.run_time_name(value)
            }
            ExprKind::Binary(_, left, right) => {
                self.run_time_name(left).or_else(|| self.run_time_name(right))
            }
            ExprKind::Call { args, .. } => args.iter().find_map(|it| self.run_time_name(it)),
            _ => None,
        }
    }

    /// A scalar, or an element of a plane: `n`, `n[0, 0]`, `n[0, 0][c]`.
    fn run_time_bound(&mut self, name: &str, expr: &'p tree::Expr) -> Option<Expr> {
        let mut base = expr;
        while let ExprKind::Subscript(value, _) = &base.kind {
            base = value;
        }
        if base.as_name().is_none() {
            self.report(catalog::interval_bound_arithmetic(name, expr.span));
            return None;
        }
        if let Some(field) = self.field_named(base) {
            let axes = self.stencil.fields[field].axes;
            if axes != AxisSet::IJ {
                self.report(catalog::interval_bound_axes(name, axes, expr.span));
                return None;
            }
        }
        let mut before = Vec::new();
        let bound = self.expr(expr, &mut before)?;
        let (IrKind::Access(leaf) | IrKind::Element(leaf, _)) = &bound.kind else { return None };
        if let Access::Field { offset, .. } = leaf
            && offset.is_horizontal()
        {
            self.report(catalog::interval_bound_beside(name, expr.span));
            return None;
        }
        Some(bound)
    }

    /// Refuses an interval whose body assigns a field that bounds it: its levels would depend on the progress
    /// of the loop.
    fn check_bounds_are_kept<'e>(&mut self, bounds: impl Iterator<Item = &'e Expr>, body: &[Stmt]) {
        let mut fields = Vec::new();
        for bound in bounds {
            bound.accesses(&mut |leaf| {
                if let Access::Field { field, .. } = leaf {
                    fields.push((*field, bound.span));
                }
            });
        }
        for (field, span) in fields {
            let mut written = None;
            for stmt in body {
                stmt.walk(&mut |it| {
                    if let StmtKind::Assign { target, target_span, .. } = it.kind
                        && target == field
                    {
                        written.get_or_insert(target_span);
                    }
                });
            }
            if let Some(written) = written {
                let name = self.stencil.fields[field].name.clone();
                self.report(catalog::interval_bound_written(&name, span, written));
            }
        }
    }

    /// Whether the expression is a name that nothing has, which is then reported as such.
    pub(super) fn is_unknown_name(&mut self, expr: &tree::Expr) -> bool {
        let Some(name) = expr.as_name() else { return false };
        let frame = self.frame();
        if self.local(name).is_some()
            || frame.body.assigned.contains(name)
            || self.names.lookup(frame.scope, frame.moment, name).is_some()
        {
            return false;
        }
        self.name(name, expr.span);
        true
    }

    /// Whether the expression is the name of an external without value, which is then reported as such.
    pub(super) fn is_missing_external(&mut self, expr: &tree::Expr, wanted: ExpectedKind) -> bool {
        let Some(name) = expr.as_name() else { return false };
        match self.local(name) {
            Some(&Local::Missing { imported }) => {
                self.missing_external(name, wanted, expr.span, imported);
                true
            }
            _ => false,
        }
    }
}

/// A literal as an expression of the IR.
pub(super) fn literal(value: crate::types::Value, span: Span) -> Expr {
    Expr { kind: IrKind::Literal(value), dtype: (), span }
}

/// Where a statement starts, without the block below it.
pub(super) fn first_line_of(stmt: &tree::Stmt) -> Span {
    match &stmt.kind {
        tree::StmtKind::With { items, .. } => items.first().map_or(stmt.span, |it| it.context.span),
        tree::StmtKind::If { test, .. } | tree::StmtKind::While { test, .. } => test.span,
        tree::StmtKind::Function(def) => def.name.span,
        tree::StmtKind::Class(def) => def.name.span,
        tree::StmtKind::For { .. } | tree::StmtKind::Other { .. } | tree::StmtKind::Try { .. } => {
            Span { end: stmt.span.end.min(stmt.span.start.saturating_add(3)), ..stmt.span }
        }
        _ => stmt.span,
    }
}

/// A statement for a message: "an assignment".
fn describe(stmt: &tree::StmtKind) -> &'static str {
    match stmt {
        tree::StmtKind::Assign { .. } | tree::StmtKind::AugAssign { .. } => "an assignment",
        tree::StmtKind::If { .. } => "an `if`",
        tree::StmtKind::While { .. } => "a `while`",
        tree::StmtKind::Return(_) => "a `return`",
        tree::StmtKind::Function(_) => "a `def`",
        tree::StmtKind::Class(_) => "a `class`",
        _ => "a statement",
    }
}
