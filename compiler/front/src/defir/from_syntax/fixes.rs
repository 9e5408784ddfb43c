//! Edits of the text that certainly mend an error, and the names that misspelt ones were meant to be.
//!
//! The span of a node excludes the parentheses around it. So each edit checks the text between the spans, and
//! is left out where that text is not fully understood.

use itertools::Itertools;

use super::{Builder, Local};
use crate::diag::{Similar, Span, TextEdit, similar};
use crate::frontend::builtins::is_python_module;
use crate::frontend::constants::Constant;
use crate::frontend::program::is_externals;
use crate::frontend::spelling;
use crate::frontend::syntax::{self as tree, Alias, Comparison, ExprKind, Operator, Sign, StmtKind};
use crate::space::{Axis, AxisSet};
use crate::types::DType;

/// After so many reports names are no longer compared: the text is no stencil then.
const MAX_COMPARED: usize = 20;

impl<'p> Builder<'_, 'p> {
    /// The text from the end of one place to the start of another.
    fn between(&self, one: Span, other: Span) -> &'p str {
        self.names.text(Span { start: one.end, end: other.start, ..one })
    }

    /// The text of the file before and after a place.
    fn around(&self, span: Span) -> (&'p str, &'p str) {
        let after = Span { start: span.end, end: self.names.end_of(span.file), ..span };
        (self.names.text(Span { start: 0, end: span.start, ..span }), self.names.text(after))
    }

    /// `a < b < c` as `a < b and b < c`.
    pub(super) fn unchained(&self, span: Span, rest: &[(Comparison, tree::Expr)]) -> Vec<TextEdit> {
        let mut edits = Vec::new();
        for ((_, middle), (op, next)) in rest.iter().tuple_windows() {
            if self.between(middle.span, next.span).trim() != op.symbol() {
                return Vec::new();
            }
            edits.push(TextEdit::behind(middle.span, format!(" and {}", self.names.text(middle.span))));
        }
        // `not` would take the first pair alone.
        if self.around(span).0.trim_end().ends_with("not") {
            edits.insert(0, TextEdit::before(span, "("));
            edits.push(TextEdit::behind(span, ")"));
        }
        edits
    }

    /// `min(a, b, c)` as `min(a, min(b, c))`.
    pub(super) fn nested_calls(&self, name: &str, args: &[tree::Expr], call: Span) -> Vec<TextEdit> {
        let Some((last, inner)) = args.split_last().filter(|it| it.1.len() > 1) else { return Vec::new() };
        let is_plain = args.iter().tuple_windows().all(|(a, b)| self.between(a.span, b.span).trim() == ",");
        let end = self.between(last.span, Span { start: call.end, ..call });
        let has_starred = args.iter().any(|it| matches!(it.kind, ExprKind::Starred(_)));
        if !is_plain || has_starred || !matches!(end.trim(), ")" | ",)") {
            return Vec::new();
        }
        let opened = inner.iter().skip(1).map(|it| TextEdit::before(it.span, format!("{name}(")));
        let closed = TextEdit::behind(last.span, ")".repeat(inner.len() - 1));
        opened.chain([closed]).collect()
    }

    /// `&` and `|` between conditions as `and` and `or`.
    pub(super) fn logical_operator(
        &self,
        op: Operator,
        left: &tree::Expr,
        right: &tree::Expr,
        span: Span,
    ) -> Option<TextEdit> {
        let word = match op {
            Operator::BitAnd => "and",
            Operator::BitOr => "or",
            _ => return None,
        };
        if !is_condition(left) || !is_condition(right) || !self.stands_alone(span) {
            return None;
        }
        let gap = self.between(left.span, right.span);
        let at = gap.find(op.symbol()).filter(|_| !gap.contains('#'))?;
        let start = left.span.end + u32::try_from(at).ok()?;
        let spaced = |text: &str, is_before: bool| {
            let next = if is_before { text.chars().next_back() } else { text.chars().next() };
            if next.is_some_and(char::is_whitespace) { "" } else { " " }
        };
        let text = format!("{}{word}{}", spaced(&gap[..at], true), spaced(&gap[at + 1..], false));
        Some(TextEdit::replace(Span { start, end: start + 1, ..span }, text))
    }

    /// `is` and `is not` as `==` and `!=`.
    pub(super) fn equality(&self, op: Comparison, left: &tree::Expr, right: &tree::Expr) -> Option<TextEdit> {
        let (written, meant) = match op {
            Comparison::Is => ("is", "=="),
            Comparison::IsNot => ("is not", "!="),
            _ => return None,
        };
        let gap = self.between(left.span, right.span);
        if matches!(right.kind, ExprKind::None) || gap.split_whitespace().join(" ") != written {
            return None;
        }
        let span = Span { start: left.span.end, end: right.span.start, ..left.span };
        Some(TextEdit::replace(span, format!(" {meant} ")))
    }

    /// The `==` of a comparison that stands as a statement, where what is left of it can be assigned.
    pub(super) fn equals_sign(&self, left: &tree::Expr, right: &tree::Expr) -> Option<Span> {
        let name = match &left.kind {
            ExprKind::Subscript(value, _) => value.as_name()?,
            _ => left.as_name()?,
        };
        if !matches!(self.local(name), Some(Local::Field(_)) | None) {
            return None;
        }
        let gap = self.between(left.span, right.span);
        let at = gap.find("==").filter(|_| gap.trim() == "==")?;
        let start = left.span.end + u32::try_from(at).ok()?;
        Some(Span { start, end: start + 2, ..left.span })
    }

    /// `Field[float, IK]` as `Field[IK, float]`.
    pub(super) fn axes_first(&self, annotation: &tree::Expr) -> Vec<TextEdit> {
        let ExprKind::Subscript(_, index) = &annotation.kind else { return Vec::new() };
        let [element, axes] = index.parts() else { return Vec::new() };
        if self.between(element.span, axes.span).trim() != "," {
            return Vec::new();
        }
        let text = |it: &tree::Expr| self.names.text(it.span);
        vec![TextEdit::replace(element.span, text(axes)), TextEdit::replace(axes.span, text(element))]
    }

    /// Whether nothing around an expression binds tighter than `or`.
    fn stands_alone(&self, span: Span) -> bool {
        let (before, after) = self.around(span);
        let (before, after) = (before.trim_end_matches([' ', '\t']), after.trim_start_matches([' ', '\t']));
        let is_opened =
            ["(", "=", "if", "elif", "while", "return", ","].iter().any(|it| before.ends_with(it));
        is_opened && (after.is_empty() || after.starts_with([')', ':', ',', '\n', '\r', '#']))
    }

    /// An index with as many offsets as there are axes, where those that are too many or missing are 0.
    pub(super) fn zero_offsets(&self, axes: AxisSet, index: &tree::Expr) -> Option<TextEdit> {
        let parts = index.parts();
        let is_plain = parts.iter().tuple_windows().all(|(a, b)| self.between(a.span, b.span).trim() == ",");
        if !is_plain {
            return None;
        }
        if axes == AxisSet::IJK && parts.len() == 2 {
            return Some(TextEdit::behind(parts[1].span, ", 0"));
        }
        if parts.len() != 3 || axes.is_empty() {
            return None;
        }
        let mut kept = Vec::new();
        for (axis, part) in Axis::ALL.into_iter().zip(parts) {
            match part.kind {
                _ if axes.has(axis) => kept.push(self.names.text(part.span)),
                ExprKind::Int(0) => {}
                _ => return None,
            }
        }
        let span = parts[0].span.to(parts[2].span);
        Some(TextEdit::replace(span, kept.join(", ")))
    }

    /// `a = b = value` as one assignment below the other.
    pub(super) fn separate_assignments(&self, targets: &[tree::Expr], span: Span) -> Option<TextEdit> {
        let names: Vec<&str> = targets.iter().map(tree::Expr::as_name).collect::<Option<_>>()?;
        let whole = self.names.text(span);
        let (before, after) = self.around(span);
        let indent = &before[before.rfind('\n').map_or(0, |it| it + 1)..];
        let is_line = indent.trim().is_empty() && after.starts_with(['\n', '\r']) || after.is_empty();
        if whole.contains(['\n', '#']) || !is_line || names.iter().any(|it| mentions(whole, it).count() != 1)
        {
            return None;
        }
        let start = Span { start: targets.last()?.span.end, end: span.end, ..span };
        let assigned = self.names.text(start);
        let lines = names.iter().map(|name| format!("{name}{assigned}")).join(&format!("\n{indent}"));
        Some(TextEdit::replace(span, lines))
    }

    /// `[x, y]` as `x, y`.
    pub(super) fn without_brackets(&self, span: Span) -> Vec<TextEdit> {
        let inside = self.names.text(span).strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let is_tuple = inside.is_some_and(|it| it.contains(',') && !it.contains(['\n', '#']));
        if !is_tuple {
            return Vec::new();
        }
        let (first, last) = (Span { end: span.start + 1, ..span }, Span { start: span.end - 1, ..span });
        vec![TextEdit::replace(first, ""), TextEdit::replace(last, "")]
    }

    /// Takes a name out of its import.
    pub(super) fn without_import(&self, body: &'p [tree::Stmt], name: Span) -> Option<TextEdit> {
        let (names, statement) = import_of(body, name)?;
        let position = names.iter().position(|it| it.name.span == name)?;
        if let [_] = names {
            let (before, after) = self.around(statement);
            let line = before.rfind('\n').map_or(0, |it| it + 1);
            let rest = after.find('\n').map_or(after.len(), |it| it + 1);
            if !before[line..].trim().is_empty() || !after[..rest].trim().is_empty() {
                return None;
            }
            let start = u32::try_from(line).ok()?;
            let end = statement.end + u32::try_from(rest).ok()?;
            return Some(TextEdit::replace(Span { start, end, ..statement }, ""));
        }
        let span = |it: &Alias| it.alias.as_ref().map_or(it.name.span, |alias| it.name.span.to(alias.span));
        let removed = match names.get(position + 1) {
            Some(next) => Span { end: next.name.span.start, ..name },
            None => Span {
                start: span(names.get(position.checked_sub(1)?)?).end,
                end: span(&names[position]).end,
                ..name
            },
        };
        (!self.names.text(removed).contains('#')).then(|| TextEdit::replace(removed, ""))
    }

    /// A default of another type as one of the declared type, where it is the same number.
    pub(super) fn retyped(&self, dtype: DType, value: &tree::Expr) -> Option<TextEdit> {
        let literal = match &value.kind {
            ExprKind::Unary(Sign::Minus, operand) => operand,
            _ => value,
        };
        match (&literal.kind, dtype) {
            (ExprKind::Int(_), it) if it.is_float() && self.is_decimal(literal.span) => {
                Some(TextEdit::behind(literal.span, ".0"))
            }
            (ExprKind::Int(it @ (0 | 1)), DType::Bool) if literal.span == value.span => {
                Some(TextEdit::replace(value.span, if *it == 1 { "True" } else { "False" }))
            }
            (ExprKind::Float(_), it) if it.is_int() => {
                let digits = self.names.text(literal.span).strip_suffix(".0")?;
                let is_integer = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
                is_integer.then(|| TextEdit::replace(literal.span, digits))
            }
            _ => None,
        }
    }

    fn is_decimal(&self, span: Span) -> bool {
        self.names.text(span).bytes().all(|it| it.is_ascii_digit())
    }

    /// A name that may be read here and is spelled almost like `name`.
    pub(super) fn similar_name(&self, name: &str) -> Option<Similar> {
        if self.n_reports > MAX_COMPARED {
            return None;
        }
        let frame = self.frame();
        let own = frame.locals.keys().copied().chain(frame.body.assigned.iter().copied());
        let constants = self.names.visible(frame.scope);
        let constants = constants.into_iter().filter(|it| self.is_number(it));
        similar(name, own.chain(constants))
    }

    fn is_number(&self, name: &str) -> bool {
        let frame = self.frame();
        matches!(
            self.names.lookup(frame.scope, frame.moment, name),
            Some(Ok(Constant::Bool(_)
                | Constant::Int(_)
                | Constant::Float(_)
                | Constant::Typed(_)
                | Constant::Member(_)
                | Constant::Namespace(_)))
        )
    }

    /// A function that may be called here and is spelled almost like `name`.
    pub(super) fn similar_function(&self, name: &str) -> Option<Similar> {
        if self.n_reports > MAX_COMPARED {
            return None;
        }
        let frame = self.frame();
        let is_function = |it: &&str| {
            matches!(self.names.lookup(frame.scope, frame.moment, it), Some(Ok(Constant::Function(id)))
                if self.names.function(id).is_gtscript)
        };
        let visible = self.names.visible(frame.scope);
        let imported = frame.locals.iter().filter(|(_, local)| local.is_function()).map(|it| *it.0);
        let mut known: Vec<&str> = spelling::callable().collect();
        known.extend(visible.iter().copied().filter(is_function));
        known.extend(imported);
        similar(name, known)
    }

    /// A type that is spelled almost like `name`.
    pub(super) fn similar_type(&self, name: &str) -> Option<Similar> {
        let scope = self.frame().scope;
        let visible = self.names.visible(scope);
        let is_type = |it: &&str| {
            matches!(
                self.names.lookup(scope, u32::MAX, it),
                Some(Ok(Constant::Element(_) | Constant::Field(_)))
            )
        };
        let known = spelling::types();
        let known = known.iter().map(String::as_str).chain(self.config.dtypes.keys().map(String::as_str));
        similar(name, known.chain(visible.iter().copied().filter(is_type)))
    }

    /// For the first name of an annotation that means nothing: the place of the name, and a type that is
    /// spelled almost so.
    pub(super) fn similar_type_in(&self, annotation: &tree::Expr) -> Option<(Span, Similar)> {
        match &annotation.kind {
            ExprKind::Name(name) => {
                let frame = self.frame();
                let is_known = self.names.lookup(frame.scope, frame.moment, name).is_some();
                if is_known { None } else { Some((annotation.span, self.similar_type(name)?)) }
            }
            ExprKind::Subscript(value, index) => {
                self.similar_type_in(value).or_else(|| self.similar_type_in(index))
            }
            ExprKind::Tuple(parts) => parts.iter().find_map(|it| self.similar_type_in(it)),
            ExprKind::Attribute(value, attribute) => {
                if let Some(name) = python_type(&attribute.name)
                    && matches!(self.evaluate(value, false), Ok(Constant::Foreign(it)) if is_numpy(&it))
                {
                    return Some((annotation.span, Similar { name: name.to_owned(), is_alone: true }));
                }
                let (at, similar) = self.missing_attribute(annotation, &|it| !is_value(it))?;
                Some((at, similar?))
            }
            _ => None,
        }
    }

    /// The span of the attribute in `value.attribute`, where `value` is known and has no such attribute. With
    /// it comes the most similar attribute that `value` has and that `wanted` accepts, if any.
    pub(super) fn missing_attribute(
        &self,
        whole: &tree::Expr,
        wanted: &dyn Fn(&Constant) -> bool,
    ) -> Option<(Span, Option<Similar>)> {
        let ExprKind::Attribute(value, attribute) = &whole.kind else { return None };
        match self.evaluate(value, false) {
            // Its names are not known.
            Ok(Constant::Foreign(path)) if !is_python_module(&path) => None,
            Ok(value) => {
                let mut known = self.names.attributes(&value);
                if known.contains(&attribute.name) {
                    return None;
                }
                // A type of Python that the module had once is no slip for a number.
                let is_wanted = |name: &str| {
                    python_type(&attribute.name).is_none()
                        && self.names.attribute(&value, name, attribute.span).is_ok_and(|it| wanted(&it))
                };
                known.retain(|it| is_wanted(it));
                Some((attribute.span, similar(&attribute.name, known.iter().map(String::as_str))))
            }
            Err(_) => self.missing_attribute(value, &|_| true),
        }
    }
}

/// `int` of `np.int`: NumPy had names of its own for Python's types, and has them no more.
fn python_type(name: &str) -> Option<&'static str> {
    ["int", "float", "bool"].into_iter().find(|it| *it == name)
}

fn is_numpy(path: &[String]) -> bool {
    matches!(path, [name] if name == "numpy" || name == "cupy")
}

/// Whether it can stand in an expression.
fn is_value(value: &Constant) -> bool {
    matches!(
        value,
        Constant::Bool(_)
            | Constant::Int(_)
            | Constant::Float(_)
            | Constant::Typed(_)
            | Constant::Member(_)
            | Constant::Numeric(_)
    )
}

/// Whether an expression is certainly a bool.
fn is_condition(expr: &tree::Expr) -> bool {
    match &expr.kind {
        ExprKind::Compare(..) | ExprKind::Logical(..) | ExprKind::Bool(_) | ExprKind::Unary(Sign::Not, _) => {
            true
        }
        ExprKind::Binary(Operator::BitAnd | Operator::BitOr, left, right) => {
            is_condition(left) && is_condition(right)
        }
        _ => false,
    }
}

/// The import of externals that has the name at `name`, with its place.
fn import_of(body: &[tree::Stmt], name: Span) -> Option<(&[Alias], Span)> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::ImportFrom { module, names, .. } if is_externals(module) => {
            names.iter().any(|it| it.name.span == name).then_some((names.as_slice(), stmt.span))
        }
        StmtKind::If { then, otherwise, .. } => import_of(then, name).or_else(|| import_of(otherwise, name)),
        StmtKind::While { body, .. } | StmtKind::With { body, .. } => import_of(body, name),
        _ => None,
    })
}

/// Where a text has `name` as a word of its own.
pub(super) fn mentions<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_letter = |it: char| it == '_' || it.is_alphanumeric();
    text.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        !text[..at].ends_with(is_letter) && !text[at + name.len()..].starts_with(is_letter)
    })
}
