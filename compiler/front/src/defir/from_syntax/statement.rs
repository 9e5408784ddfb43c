//! Statements inside an interval and inside functions.

use super::Builder;
use super::computation::{Call, first_line_of};
use super::decorators::last_ident;
use super::scope::{ExpectedKind, Local};
use super::types::{DeclaredType, PythonTypes};
use super::vector::every_element;
use crate::defir::nodes::{Access, Expr, Field, Index, Stmt, StmtKind};
use crate::diag::catalog::{
    compile_time, computations, data, expressions, functions, names, rules, statements as catalog,
};
use crate::diag::{Diagnostic, Span, similar};
use crate::entity::Handle;
use crate::expr::{ExprKind as IrKind, Vertical};
use crate::frontend::evaluate::truth;
use crate::frontend::program::is_externals;
use crate::frontend::syntax::{self as tree, ExprKind};
use crate::space::{Axis, AxisSet, LoopOrder, Offset};
use crate::types::DType;

/// The element that an assignment writes.
pub(super) struct AssignmentTarget {
    pub(super) field: Handle<Field>,
    pub(super) index: Index,
}

impl From<Handle<Field>> for AssignmentTarget {
    fn from(field: Handle<Field>) -> Self {
        Self { field, index: Index::HERE }
    }
}

/// The type and axes that an annotation gives a temporary.
type Declaration = (AxisSet, Option<DType>);

impl<'p> Builder<'_, 'p> {
    /// Builds statements in order; those that failed are missing from `out`.
    pub(super) fn stmts(&mut self, body: &'p [tree::Stmt], out: &mut Vec<Stmt>) {
        for stmt in body {
            if self.is_too_large {
                return;
            }
            self.stmt(stmt, out);
        }
    }

    fn stmt(&mut self, stmt: &'p tree::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        match &stmt.kind {
            tree::StmtKind::Assign { targets, value } => match targets.as_slice() {
                [target] => self.assign(target, value, span, out),
                _ => {
                    let edit = self.separate_assignments(targets, span);
                    self.report(catalog::chained_assignment(span, edit));
                    targets.iter().for_each(|it| self.declare_after_error(it));
                }
            },
            tree::StmtKind::AugAssign { target, op, value } => self.augmented(target, *op, value, span, out),
            tree::StmtKind::AnnAssign { target, annotation, value } => {
                self.annotated(target, annotation, value.as_ref(), span, out);
            }
            tree::StmtKind::If { test, then, otherwise } => self.branch(test, then, otherwise, span, out),
            tree::StmtKind::While { test, body, otherwise } => {
                if let Some(otherwise) = otherwise.first() {
                    self.report(catalog::statement_not_in_language("`else` of a `while`", otherwise.span));
                }
                let condition = self.condition(test, "while", out);
                let origin = self.origin(header(span, test));
                let mut built = Vec::new();
                self.stmts(body, &mut built);
                if let Some(condition) = condition {
                    out.push(Stmt { kind: StmtKind::While { condition, body: built }, origin });
                }
            }
            tree::StmtKind::With { items, body } => self.with(items, body, span, out),
            tree::StmtKind::ImportFrom { level: 0, module, .. } if is_externals(module) => {}
            tree::StmtKind::Import(_) | tree::StmtKind::ImportFrom { .. } => {
                self.report(names::import_in_body(span));
            }
            tree::StmtKind::Expr(expr) => self.expression_statement(expr),
            tree::StmtKind::Pass => {}
            tree::StmtKind::Return(value) if self.frame().results.is_some() => {
                self.give_back(value.as_ref(), span, out);
            }
            tree::StmtKind::Return(_) => {
                self.report(catalog::statement_not_in_language("`return` in a stencil", span));
            }
            tree::StmtKind::Function(_) => self.refuse("`def` in a computation", stmt),
            tree::StmtKind::Class(_) => self.refuse("`class` in a computation", stmt),
            tree::StmtKind::Try { .. } => self.refuse("`try`", stmt),
            tree::StmtKind::For { .. } => self.refuse("`for`", stmt),
            tree::StmtKind::Other { what, .. } => self.refuse(&format!("`{what}`"), stmt),
        }
    }

    fn refuse(&mut self, what: &str, stmt: &tree::Stmt) {
        self.report(catalog::statement_not_in_language(what, first_line_of(stmt)));
    }

    pub(super) fn expression_statement(&mut self, expr: &'p tree::Expr) {
        match &expr.kind {
            ExprKind::Str(_) | ExprKind::Missing => {}
            ExprKind::Call { function, args, .. } => match function.as_name() {
                Some("compile_assert") => self.compile_assert(args, expr),
                _ => match self.called_function(function) {
                    Some(id) => {
                        let name = self.names.function(id).def.name.name.clone();
                        self.report(functions::bare_call(&name, expr.span));
                    }
                    None => {
                        self.report(catalog::statement_not_in_language("a call as a statement", expr.span))
                    }
                },
            },
            ExprKind::Compare(left, rest) => {
                let sign = match rest.as_slice() {
                    [(tree::Comparison::Eq, right)] => self.equals_sign(left, right),
                    _ => None,
                };
                self.report(catalog::bare_comparison(expr.span, sign));
            }
            ExprKind::Other(what, _) => {
                let article = if what.starts_with(['a', 'e']) { "an" } else { "a" };
                self.report(expressions::operator_not_in_language(&format!("{article} {what}"), expr.span));
            }
            _ => self.report(catalog::bare_expression(expr.span)),
        }
    }

    fn compile_assert(&mut self, args: &'p [tree::Expr], whole: &tree::Expr) {
        let [condition] = args else {
            self.report(compile_time::not_evaluable(
                "compile_assert",
                "it takes one condition",
                whole.span,
                None,
            ));
            return;
        };
        if self.decide(condition, "compile_assert") == Some(false) {
            self.report(compile_time::assertion_failed(&tree_text(condition), condition.span));
        }
    }

    /// A condition that must be known while compiling; what is wrong is reported.
    fn decide(&mut self, condition: &'p tree::Expr, what: &str) -> Option<bool> {
        match self.evaluate(condition, false) {
            Ok(value) => {
                let holds = truth(&value);
                if holds.is_none() {
                    let why = format!("{} is neither true nor false", value.describe());
                    self.report(compile_time::not_evaluable(what, &why, condition.span, None));
                }
                holds
            }
            Err(opaque) => {
                let mut is_told = false;
                condition.walk(&mut |it| {
                    is_told |= it.as_name().is_some_and(|it| matches!(self.local(it), Some(Local::Faulty)));
                });
                if !is_told && !self.names_missing_external(condition, ExpectedKind::Condition) {
                    let at = opaque.span.filter(|_| !opaque.is_change);
                    let found = compile_time::not_evaluable(what, &opaque.why, condition.span, at);
                    self.report(names::changed_at(found, opaque.change_place()));
                }
                None
            }
        }
    }

    /// Whether a name in the expression is an external without value; the first is reported.
    fn names_missing_external(&mut self, expr: &'p tree::Expr, wanted: ExpectedKind) -> bool {
        match &expr.kind {
            ExprKind::Name(_) => self.is_missing_external(expr, wanted),
            ExprKind::Attribute(it, _) => self.names_missing_external(it, ExpectedKind::Object),
            ExprKind::Unary(_, it) => self.names_missing_external(it, wanted),
            ExprKind::Binary(_, a, b) => {
                self.names_missing_external(a, ExpectedKind::Number)
                    || self.names_missing_external(b, ExpectedKind::Number)
            }
            ExprKind::Logical(_, parts) | ExprKind::Tuple(parts) => {
                parts.iter().any(|it| self.names_missing_external(it, wanted))
            }
            ExprKind::Compare(left, rest) => {
                self.names_missing_external(left, ExpectedKind::Integer)
                    || rest.iter().any(|(_, it)| self.names_missing_external(it, ExpectedKind::Integer))
            }
            _ => false,
        }
    }

    fn branch(
        &mut self,
        test: &'p tree::Expr,
        then: &'p [tree::Stmt],
        otherwise: &'p [tree::Stmt],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if let ExprKind::Call { function, args, .. } = &test.kind
            && function.as_name() == Some("__INLINED")
        {
            let decided = match args.as_slice() {
                [condition] => self.decide(condition, "__INLINED"),
                _ => {
                    let why = "it takes one condition";
                    self.report(compile_time::not_evaluable("__INLINED", why, test.span, None));
                    None
                }
            };
            match decided {
                Some(true) => self.stmts(then, out),
                Some(false) => self.stmts(otherwise, out),
                // Names of both branches are known afterwards, so that one error stays one.
                None => {
                    self.stmts(then, out);
                    self.stmts(otherwise, out);
                }
            }
            return;
        }
        let condition = self.condition(test, "if", out);
        let origin = self.origin(header(span, test));
        let (mut built_then, mut built_otherwise) = (Vec::new(), Vec::new());
        self.stmts(then, &mut built_then);
        self.stmts(otherwise, &mut built_otherwise);
        if let Some(condition) = condition {
            let kind = StmtKind::If { condition, then: built_then, otherwise: built_otherwise };
            out.push(Stmt { kind, origin });
        }
    }

    fn condition(&mut self, test: &'p tree::Expr, of: &'static str, out: &mut Vec<Stmt>) -> Option<Expr> {
        let before = self.condition_of.replace(of);
        let condition = self.expr(test, out);
        self.condition_of = before;
        condition
    }

    fn with(&mut self, items: &'p [tree::WithItem], body: &'p [tree::Stmt], span: Span, out: &mut Vec<Stmt>) {
        let is_function = self.frame().results.is_some();
        let mut horizontal = None;
        let mut misplaced = None;
        for item in items {
            let at = item.context.span;
            let (name, call) = match &item.context.kind {
                ExprKind::Call { function, args, keywords } => {
                    let name = function.as_dotted().and_then(|it| it.last().copied());
                    (name, Some(Call { args, keywords, span: at }))
                }
                _ => (None, None),
            };
            match (name, call) {
                (Some("horizontal"), Some(call)) if items.len() == 1 => horizontal = Some(call),
                (Some("computation" | "interval"), _) if is_function => {
                    misplaced.get_or_insert(functions::computation_in_function(at));
                }
                _ if self.is_in_region => {
                    misplaced.get_or_insert(computations::with_in_region(at));
                }
                (Some("computation"), _) => {
                    let what = "a computation stands inside a computation";
                    misplaced.get_or_insert(computations::malformed_with(what, at));
                }
                (Some("interval"), _) => {
                    let what = "an interval stands inside an interval";
                    misplaced.get_or_insert(computations::malformed_with(what, at));
                }
                (name, call) => {
                    let callee = match &item.context.kind {
                        ExprKind::Call { function, .. } => function,
                        _ => &item.context,
                    };
                    let similar = name.filter(|_| call.is_some()).and_then(|it| similar(it, ["horizontal"]));
                    let found = match (similar, last_ident(callee)) {
                        (Some(similar), Some((name, span))) => {
                            computations::misspelt_item(name, span, &similar)
                        }
                        (_, Some(("horizontal", _))) => computations::item_not_called("horizontal", at),
                        _ => computations::malformed_with("this `with` is no horizontal region", at),
                    };
                    misplaced.get_or_insert(found);
                }
            }
        }
        if let Some(misplaced) = misplaced {
            self.report(misplaced);
            // The names that its body assigns are known behind it all the same.
            self.stmts(body, out);
        } else if let Some(horizontal) = horizontal {
            let span = Span { end: horizontal.span.end, ..span };
            self.region(horizontal, body, span, out);
        }
    }

    fn assign(&mut self, target: &'p tree::Expr, value: &'p tree::Expr, span: Span, out: &mut Vec<Stmt>) {
        match &target.kind {
            ExprKind::Tuple(targets) => self.assign_several(targets, value, span, out),
            _ => self.assign_one(target, value, None, span, out),
        }
    }

    fn assign_several(
        &mut self,
        targets: &'p [tree::Expr],
        value: &'p tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if let ExprKind::Call { function, args, keywords } = &value.kind
            && let Some(id) = self.called_function(function)
        {
            let call = Call { args, keywords, span: value.span };
            self.call_into(id, call, targets, None, out);
            return;
        }
        let ExprKind::Tuple(values) = &value.kind else {
            // A fault in the value itself is reported first: the value may be meant to have as many results.
            let is_field = value.as_name().is_some_and(|it| matches!(self.local(it), Some(Local::Field(_))));
            if is_field || self.expr(value, &mut Vec::new()).is_some() {
                self.report(catalog::counts_differ(targets.len(), 1, span));
            }
            for target in targets {
                self.declare_after_error(target);
            }
            return;
        };
        if values.len() != targets.len() {
            self.report(catalog::counts_differ(targets.len(), values.len(), span));
            for target in targets {
                self.declare_after_error(target);
            }
            return;
        }
        for (position, (target, value)) in targets.iter().zip(values).enumerate() {
            if matches!(target.kind, ExprKind::Tuple(_)) {
                self.report(catalog::bad_target("a tuple stands inside a tuple of targets", target.span));
                continue;
            }
            for earlier in &targets[..position] {
                if let Some(name) = earlier.as_name()
                    && let Some(read) = first_use(value, name)
                {
                    self.report(catalog::sequential_tuple(name, read, earlier.span));
                }
            }
            self.assign_one(target, value, None, span, out);
        }
    }

    /// One assignment; a call of a GTScript function on the right assigns its result directly.
    fn assign_one(
        &mut self,
        target: &'p tree::Expr,
        value: &'p tree::Expr,
        declaration: Option<Declaration>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if let ExprKind::Call { function, args, keywords } = &value.kind
            && let Some(id) = self.called_function(function)
        {
            let call = Call { args, keywords, span: value.span };
            self.call_into(id, call, std::slice::from_ref(target), declaration, out);
            return;
        }
        if self.whole_vector(target).is_some() {
            return self.assign_vector(target, value, span, out);
        }
        if matches!(target.kind, ExprKind::List(_)) {
            // The value may be a tuple, which would be wrong only because of the list.
            self.target(target, declaration);
            return;
        }
        let value = self.expr(value, out);
        let Some(aim) = self.aim(target, declaration, out) else { return };
        if let Some(value) = value {
            self.emit(aim, target.span, value, span, out);
        }
    }

    fn augmented(
        &mut self,
        target: &'p tree::Expr,
        written: tree::Operator,
        value: &'p tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if matches!(target.kind, ExprKind::Tuple(_) | ExprKind::List(_)) {
            self.report(catalog::bad_target("several targets are updated at once", target.span));
            return;
        }
        if let Some(mut problem) = self.read_only(target) {
            let behind = target.as_name().and_then(|it| self.variable_behind(it));
            for span in behind.into_iter().flat_map(|it| it.1) {
                problem = problem.also(span, "passed here");
            }
            self.report(problem);
            return;
        }
        let elements = match self.whole_vector(target) {
            Some(field) => every_element(&self.stencil.fields[field].data_dims).map(Some).collect(),
            None => vec![None],
        };
        if self.shape(value).is_none() {
            return;
        }
        for element in elements {
            // The old value is read first, so an update of an unknown name is a read of it.
            let before = std::mem::replace(&mut self.element, element.clone());
            let old = self.expr(target, out);
            let value = self.expr(value, out);
            self.element = before;
            let op = self.operator(written, span);
            let Some(mut aim) = self.aim_of_update(target, None, out) else { return };
            if let Some(element) = &element {
                aim.index.data = self.element_index(element, span);
            }
            self.note_update(target, written);
            if let (Some(old), Some(value), Some(op)) = (old, value, op) {
                let value = self.binary(op, old, value, span);
                self.emit(aim, target.span, value, span, out);
            }
        }
    }

    fn annotated(
        &mut self,
        target: &'p tree::Expr,
        annotation: &'p tree::Expr,
        value: Option<&'p tree::Expr>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let fail = |this: &mut Self, why: &str, span| {
            this.report(compile_time::bad_temporary_type(why, span));
            this.declare_after_error(target);
        };
        let Some(name) = target.as_name() else {
            return fail(self, "the target of a declaration is not a name", target.span);
        };
        let Some(value) = value else {
            return fail(self, "a temporary is declared without a value", span);
        };
        let before = match self.local(name) {
            Some(&Local::Field(field)) => Some(field),
            Some(_) => {
                return fail(self, &format!("`{name}` is declared after it was first assigned"), target.span);
            }
            None => None,
        };
        let declaration = match self.annotation(annotation, PythonTypes::Literal) {
            Ok(DeclaredType::Scalar(dtype)) => (AxisSet::IJK, Some(dtype)),
            Ok(DeclaredType::Field(it, _)) if !it.data_dims.is_empty() || it.is_table => {
                let why = "a temporary with data dimensions is declared before the computations";
                return fail(self, why, annotation.span);
            }
            Ok(DeclaredType::Field(it, dtype)) if matches!(it.axes, AxisSet::IJ | AxisSet::IJK) => {
                (it.axes, Some(dtype))
            }
            Ok(DeclaredType::Field(it, _)) => {
                let why = format!("a temporary with the axes {} is declared by assigning it", it.axes);
                return fail(self, &why, annotation.span);
            }
            Err(why) => {
                if let Some(why) = why {
                    let why = format!("the type of the temporary is not known: {}", why.why);
                    let found = compile_time::bad_temporary_type(&why, annotation.span);
                    self.report(match self.similar_type_in(annotation) {
                        Some((at, similar)) => found.did_you_mean(&similar, at),
                        None => found,
                    });
                }
                self.declare_after_error(target);
                return;
            }
        };
        let Some(field) = before else { return self.assign_one(target, value, Some(declaration), span, out) };
        let Field { axes, dtype, is_temporary, .. } = &self.stencil.fields[field];
        if !is_temporary || (*axes, *dtype) != declaration {
            return fail(self, &format!("`{name}` is declared after it was first assigned"), target.span);
        }
        // The same declaration again says nothing new: `if a: low: IntFieldIJ = 0` and `else: low: IntFieldIJ = 1`.
        self.assign_one(target, value, None, span, out);
    }

    /// `return`: the values are assigned, one after the other.
    fn give_back(&mut self, value: Option<&'p tree::Expr>, span: Span, out: &mut Vec<Stmt>) {
        let Some(results) = self.frame().results.clone() else { return };
        let Some(value) = value else { return };
        for (&target, value) in results.targets.iter().zip(value.parts()) {
            if let Some(value) = self.expr(value, out) {
                self.emit(target.into(), span, value, span, out);
            }
        }
    }

    /// Appends an assignment.
    pub(super) fn emit(
        &mut self,
        aim: AssignmentTarget,
        target_span: Span,
        value: Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let AssignmentTarget { field: target, index } = aim;
        let origin = self.origin(span);
        out.push(Stmt { kind: StmtKind::Assign { target, index, target_span, value }, origin });
    }

    /// Why a name cannot be assigned, if it cannot.
    fn read_only(&self, target: &tree::Expr) -> Option<Diagnostic> {
        let name = target.as_name()?;
        match self.local(name)? {
            Local::Scalar(scalar) => {
                let declared = self.stencil.scalars[*scalar].span;
                Some(catalog::target_read_only(name, "a scalar parameter", target.span, Some(declared)))
            }
            Local::Known(_) => Some(catalog::target_read_only(name, "a constant", target.span, None)),
            Local::Missing { imported } => {
                Some(catalog::target_read_only(name, "an external", target.span, Some(*imported)))
            }
            Local::Field(_) | Local::Faulty => None,
        }
    }

    /// The field that a target without index names, declared if it is new; what is wrong is reported.
    pub(super) fn target(
        &mut self,
        target: &'p tree::Expr,
        declaration: Option<Declaration>,
    ) -> Option<Handle<Field>> {
        Some(self.aim(target, declaration, &mut Vec::new())?.field)
    }

    /// Resolves a target and declares it if it is new. Faults are reported.
    pub(super) fn aim(
        &mut self,
        target: &'p tree::Expr,
        declaration: Option<Declaration>,
        out: &mut Vec<Stmt>,
    ) -> Option<AssignmentTarget> {
        if self.frame().results.is_some()
            && let Some(problem) = indexed_local(target)
        {
            self.report(problem);
            return None;
        }
        self.aim_of_update(target, declaration, out)
    }

    /// The same for `+=` and its like, whose targets may have an index in functions too.
    fn aim_of_update(
        &mut self,
        target: &'p tree::Expr,
        declaration: Option<Declaration>,
        out: &mut Vec<Stmt>,
    ) -> Option<AssignmentTarget> {
        let fail = |this: &mut Self, problem: Diagnostic| {
            this.report(problem);
            None
        };
        match &target.kind {
            ExprKind::Missing => None,
            ExprKind::Name(name) => {
                if let Some(problem) = self.read_only(target) {
                    return fail(self, problem);
                }
                let field = match self.local(name) {
                    Some(&Local::Field(field)) => field,
                    Some(Local::Faulty) => return None,
                    _ => self.declare(name, declaration, target.span),
                };
                Some(self.check_axes(field, target.span)?.into())
            }
            ExprKind::Subscript(value, index) => match &value.kind {
                ExprKind::Name(name) => {
                    if let Some(problem) = self.read_only(value) {
                        return fail(self, problem);
                    }
                    if self.is_faulty(name) {
                        return None;
                    }
                    let Some(&Local::Field(field)) = self.local(name) else {
                        return fail(self, names::read_before_assignment(name, value.span));
                    };
                    self.check_axes(field, target.span)?;
                    self.place_to_write(field, index, target.span, out)
                }
                ExprKind::Subscript(inner, at) => {
                    let Some(name) = inner.as_name() else {
                        let why = "an index of an expression is assigned";
                        return fail(self, catalog::bad_target(why, target.span));
                    };
                    if let Some(problem) = self.read_only(inner) {
                        return fail(self, problem);
                    }
                    if self.is_faulty(name) {
                        return None;
                    }
                    let Some(&Local::Field(field)) = self.local(name) else {
                        return fail(
                            self,
                            data::undeclared_data_temporary(name, index.parts().len(), target.span),
                        );
                    };
                    self.check_axes(field, target.span)?;
                    let aim = self.place_to_write(field, at, target.span, out)?;
                    let data = self.data_index(field, index, "[...][...]", target.span, out)?;
                    Some(AssignmentTarget { field, index: Index { data, ..aim.index } })
                }
                ExprKind::Attribute(inner, attribute) if attribute.name == "A" => {
                    let name = inner.as_name().unwrap_or("this");
                    let axes = match self.local(name) {
                        Some(&Local::Field(field)) => self.stencil.fields[field].axes,
                        _ => AxisSet::IJK,
                    };
                    fail(self, data::element_view_as_target(name, axes, target.span))
                }
                ExprKind::Call { function, .. }
                    if let ExprKind::Attribute(inner, attribute) = &function.kind
                        && attribute.name == "at" =>
                {
                    let name = inner.as_name().unwrap_or("this");
                    fail(self, data::at_as_target(name, target.span))
                }
                _ => fail(self, catalog::bad_target("an index of an expression is assigned", target.span)),
            },
            ExprKind::Call { function, .. } => match &function.kind {
                ExprKind::Attribute(inner, attribute) if attribute.name == "at" => {
                    let name = inner.as_name().unwrap_or("this");
                    fail(self, data::at_as_target(name, target.span))
                }
                _ => fail(self, catalog::bad_target("a call is assigned", target.span)),
            },
            ExprKind::List(_) => {
                let edits = self.without_brackets(target.span);
                fail(self, catalog::list_target(target.span, edits))
            }
            ExprKind::Starred(_) => {
                fail(self, catalog::bad_target("a starred name is assigned", target.span))
            }
            ExprKind::Attribute(..) => {
                fail(self, catalog::bad_target("an attribute is assigned", target.span))
            }
            _ => fail(self, catalog::bad_target("this cannot be assigned", target.span)),
        }
    }

    /// The element of a column that an index in a target means.
    fn place_to_write(
        &mut self,
        field: Handle<Field>,
        index: &'p tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<AssignmentTarget> {
        let (offset, mut place) = self.pointed(field, index, out)?;
        let name = self.stencil.fields[field].name.clone();
        if offset.is_horizontal() {
            self.report(catalog::target_offset(&name, span));
            return None;
        }
        if let Vertical::Offset(by) = &mut place.vertical {
            *by = offset.k;
        }
        if place.level_offset() != Some(0) && self.order == LoopOrder::Parallel {
            self.report(catalog::target_level_in_parallel(&name, span));
            return None;
        }
        Some(AssignmentTarget { field, index: place })
    }

    /// A field that is assigned has the axes along which the statement runs at once.
    fn check_axes(&mut self, field: Handle<Field>, span: Span) -> Option<Handle<Field>> {
        let Field { name, axes, data_dims, span: declared, .. } = &self.stencil.fields[field];
        if axes.is_empty() && !data_dims.is_empty() {
            let problem = data::table_written(name, span, *declared);
            self.report(problem);
            return None;
        }
        let has_columns = axes.has(Axis::I) && axes.has(Axis::J);
        if has_columns && (axes.has(Axis::K) || self.order != LoopOrder::Parallel) {
            return Some(field);
        }
        let problem = rules::target_lacks_axes(name, *axes, self.order, span);
        self.report(problem);
        None
    }

    /// A new temporary of the present body.
    pub(super) fn declare(
        &mut self,
        name: &'p str,
        declaration: Option<Declaration>,
        span: Span,
    ) -> Handle<Field> {
        let (axes, dtype) = declaration.unwrap_or((AxisSet::IJK, None));
        let wanted = match &self.frame().prefix {
            Some(prefix) => [prefix, "_", name].concat(),
            None => name.to_owned(),
        };
        let field = self.temporary(wanted, axes, dtype, span);
        self.frame_mut().locals.insert(name, Local::Field(field));
        field
    }

    /// Makes the names of a failed assignment known, so that their uses are not reported too.
    pub(super) fn declare_after_error(&mut self, target: &'p tree::Expr) {
        if let ExprKind::Name(name) = &target.kind
            && self.local(name).is_none()
        {
            self.declare(name, None, target.span);
        }
    }

    /// A read of `field` where the statement runs.
    pub(super) fn read(field: Handle<Field>, span: Span) -> Expr {
        Expr { kind: IrKind::Access(Access::Field { field, offset: Offset::CENTRE }), dtype: (), span }
    }
}

/// The error for a target with an index in a function.
fn indexed_local(target: &tree::Expr) -> Option<Diagnostic> {
    let ExprKind::Subscript(value, index) = &target.kind else { return None };
    match &value.kind {
        ExprKind::Name(name) => {
            let is_centre =
                index.parts().iter().all(|it| matches!(it.kind, ExprKind::Int(0) | ExprKind::Ellipsis));
            let index = Span { start: value.span.end, ..target.span };
            Some(functions::subscripted_local(name, target.span, is_centre.then_some(index)))
        }
        ExprKind::Subscript(inner, _) => {
            Some(functions::subscripted_local(inner.as_name()?, target.span, None))
        }
        _ => None,
    }
}

/// The first line of a compound statement: from its keyword to the end of its test.
fn header(span: Span, test: &tree::Expr) -> Span {
    Span { end: test.span.end.max(span.start), ..span }
}

/// Where `expr` first reads `name`.
fn first_use(expr: &tree::Expr, name: &str) -> Option<Span> {
    let any = |parts: &[&tree::Expr]| parts.iter().find_map(|it| first_use(it, name));
    match &expr.kind {
        ExprKind::Name(it) => (it == name).then_some(expr.span),
        ExprKind::Subscript(it, _) | ExprKind::Unary(_, it) => first_use(it, name),
        ExprKind::Binary(_, a, b) => first_use(a, name).or_else(|| first_use(b, name)),
        ExprKind::Logical(_, parts) => parts.iter().find_map(|it| first_use(it, name)),
        ExprKind::Compare(left, rest) => {
            first_use(left, name).or_else(|| rest.iter().find_map(|(_, it)| first_use(it, name)))
        }
        ExprKind::Ternary { test, then, otherwise } => any(&[then, test, otherwise]),
        ExprKind::Call { args, keywords, .. } => {
            args.iter().chain(keywords.iter().map(|it| &it.value)).find_map(|it| first_use(it, name))
        }
        _ => None,
    }
}

/// A condition as text, as far as compile-time conditions go.
fn tree_text(expr: &tree::Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Attribute(value, name) => format!("{}.{}", tree_text(value), name.name),
        ExprKind::Int(it) => it.to_string(),
        ExprKind::Float(it) => format!("{it:?}"),
        ExprKind::Bool(true) => "True".to_owned(),
        ExprKind::Bool(false) => "False".to_owned(),
        ExprKind::None => "None".to_owned(),
        ExprKind::Binary(op, a, b) => format!("{} {} {}", tree_text(a), op.symbol(), tree_text(b)),
        ExprKind::Compare(left, rest) => {
            let rest = rest.iter().map(|(op, it)| format!(" {} {}", op.symbol(), tree_text(it)));
            format!("{}{}", tree_text(left), rest.collect::<String>())
        }
        ExprKind::Logical(op, parts) => {
            let parts: Vec<String> = parts.iter().map(tree_text).collect();
            parts.join(match op {
                tree::Logical::And => " and ",
                tree::Logical::Or => " or ",
            })
        }
        ExprKind::Unary(tree::Sign::Not, it) => format!("not {}", tree_text(it)),
        ExprKind::Unary(tree::Sign::Minus, it) => format!("-{}", tree_text(it)),
        _ => "...".to_owned(),
    }
}
