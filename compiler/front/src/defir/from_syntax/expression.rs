//! Expressions: names to what they read, constants to typed literals.

use super::Builder;
use super::computation::{Call, literal};
use super::scope::{ExpectedKind, Local};
use crate::config::Arithmetic;
use crate::defir::nodes::{Access, Expr, Index, Stmt};
use crate::diag::catalog::{compile_time, expressions as catalog, functions, names};
use crate::diag::{Span, similar};
use crate::expr::ExprKind as IrKind;
use crate::frontend::builtins::is_python_module;
use crate::frontend::constants::{Constant, Opaque};
use crate::frontend::modules::{ClassId, EnumFault, FunctionId};
use crate::frontend::spelling;
use crate::frontend::syntax::{self as tree, Comparison, ExprKind, Logical, Operator, Sign};
use crate::space::{Axis, Offset};
use crate::types::{BinaryOp, BinaryPrimitive, DType, Function, Primitive, UnaryOp, Value};

impl<'p> Builder<'_, 'p> {
    /// Builds an expression. Functions that it calls are inlined to `out`, before the statement
    /// that holds it. `None` after an error, which is reported.
    pub(super) fn expr(&mut self, expr: &'p tree::Expr, out: &mut Vec<Stmt>) -> Option<Expr> {
        let span = expr.span;
        self.count_part(span);
        if self.is_too_large {
            return None;
        }
        let built = |kind| Some(Expr { kind, dtype: (), span });
        match &expr.kind {
            ExprKind::Missing => None,
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Attribute(value, name)
                if name.name == "T"
                    && !self.is_constant(expr)
                    && value.as_name().is_none_or(|it| self.local(it).is_some()) =>
            {
                self.transposed(value, span, out)
            }
            ExprKind::Attribute(value, name) => self.attribute(expr, value, &name.name),
            ExprKind::Subscript(value, index) => self.subscript(value, index, span, out),
            ExprKind::Call { function, args, keywords } => {
                self.call(function, Call { args, keywords, span }, out)
            }
            ExprKind::Int(it) => self.constant(Constant::Int(*it), "", span),
            ExprKind::BigInt(text) => {
                self.report(catalog::literal_too_large(text, self.literal_int, span));
                None
            }
            ExprKind::Float(it) => self.constant(Constant::Float(*it), "", span),
            ExprKind::Bool(it) => self.constant(Constant::Bool(*it), "", span),
            ExprKind::None => self.unusable("`None`", span),
            ExprKind::Str(_) => self.unusable("a string", span),
            ExprKind::Unary(sign, operand) => {
                let operand = self.expr(operand, out);
                let op = match sign {
                    Sign::Plus => UnaryOp::Plus,
                    Sign::Minus => UnaryOp::Minus,
                    Sign::Not => UnaryOp::Not,
                    Sign::Invert => {
                        self.report(catalog::operator_not_in_language("`~`", span));
                        return None;
                    }
                };
                let operand = operand?;
                if let (UnaryOp::Minus, IrKind::Literal(value)) = (op, &operand.kind)
                    && let Some(value) = negated(*value)
                {
                    return built(IrKind::Literal(value));
                }
                built(IrKind::Unary(op, Box::new(operand)))
            }
            ExprKind::Binary(Operator::MatMul, left, right) => self.product(expr, left, right, out),
            ExprKind::Binary(op, left, right) => {
                if let Some(edit) = self.logical_operator(*op, left, right, span) {
                    let what = format!("`{}`", op.symbol());
                    self.report(catalog::operator_replaced(&what, span, Some(edit)));
                    return None;
                }
                let (left, right) = (self.expr(left, out), self.expr(right, out));
                let op = self.operator(*op, span)?;
                Some(self.binary(op, left?, right?, span))
            }
            ExprKind::Logical(op, operands) => {
                let op = match op {
                    Logical::And => BinaryOp::And,
                    Logical::Or => BinaryOp::Or,
                };
                let operands: Vec<Option<Expr>> = operands.iter().map(|it| self.expr(it, out)).collect();
                let operands: Vec<Expr> = operands.into_iter().collect::<Option<_>>()?;
                operands.into_iter().reduce(|left, right| {
                    let span = left.span.to(right.span);
                    Expr { kind: IrKind::Binary(op, Box::new(left), Box::new(right)), dtype: (), span }
                })
            }
            ExprKind::Compare(first, rest) => {
                let left = self.expr(first, out);
                let [(op, second)] = rest.as_slice() else {
                    let edits = self.unchained(span, rest);
                    self.report(catalog::chained_comparison(span, edits));
                    return None;
                };
                let right = self.expr(second, out);
                let op = match op {
                    Comparison::Eq => BinaryOp::Eq,
                    Comparison::Ne => BinaryOp::Ne,
                    Comparison::Lt => BinaryOp::Lt,
                    Comparison::Le => BinaryOp::Le,
                    Comparison::Gt => BinaryOp::Gt,
                    Comparison::Ge => BinaryOp::Ge,
                    Comparison::Is | Comparison::IsNot | Comparison::In | Comparison::NotIn => {
                        let what = format!("`{}`", op.symbol());
                        let edit = self.equality(*op, first, second);
                        self.report(catalog::operator_replaced(&what, span, edit));
                        return None;
                    }
                };
                built(IrKind::Binary(op, Box::new(left?), Box::new(right?)))
            }
            ExprKind::Ternary { test, then, otherwise } => {
                let then = self.expr(then, out);
                let condition = self.expr(test, out);
                let otherwise = self.expr(otherwise, out);
                built(IrKind::Ternary {
                    condition: Box::new(condition?),
                    then: Box::new(then?),
                    otherwise: Box::new(otherwise?),
                })
            }
            ExprKind::Other(what @ ("complex number" | "bytes" | "f-string"), _) => self.unusable(
                match *what {
                    "complex number" => "a complex number",
                    "bytes" => "a bytes literal",
                    _ => "an f-string",
                },
                span,
            ),
            ExprKind::Tuple(_) => self.refuse_operator("a tuple in an expression", span),
            ExprKind::List(_) => self.refuse_operator("a list", span),
            ExprKind::Dict(_) => self.refuse_operator("a dict", span),
            ExprKind::Ellipsis => self.refuse_operator("`...` in an expression", span),
            ExprKind::Slice { .. } => self.refuse_operator("a slice", span),
            ExprKind::Starred(_) => self.refuse_operator("`*` before a value", span),
            ExprKind::Other(what, _) => {
                let article = if what.starts_with(['a', 'e']) { "an" } else { "a" };
                self.refuse_operator(&format!("{article} {what}"), span)
            }
        }
    }

    /// Reports a name whose value is not known while compiling: once, at the first place that wants it.
    fn report_opaque(&mut self, name: &str, opaque: &Opaque, span: Span) {
        if self.told_opaque.insert(name.to_owned()) {
            let told = match opaque.is_change {
                true => names::changed_symbol(name, &opaque.why, span, opaque.span),
                false => names::opaque_symbol(name, &opaque.why, span, opaque.span),
            };
            self.report(told);
        }
    }

    fn unusable(&mut self, what: &str, span: Span) -> Option<Expr> {
        self.report(catalog::unusable_literal(what, span));
        None
    }

    fn refuse_operator(&mut self, what: &str, span: Span) -> Option<Expr> {
        self.report(catalog::operator_not_in_language(what, span));
        None
    }

    /// An operation, in the arithmetic that the options ask for.
    pub(super) fn binary(&self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let kind = match op {
            BinaryOp::Mod if self.config.modulo == Arithmetic::C => {
                let remainder = Primitive::Binary(BinaryPrimitive::TruncatedRemainder);
                IrKind::Call(Function::of_primitive(remainder), vec![left, right])
            }
            _ => IrKind::Binary(op, Box::new(left), Box::new(right)),
        };
        Expr { kind, dtype: (), span }
    }

    pub(super) fn operator(&mut self, op: Operator, span: Span) -> Option<BinaryOp> {
        Some(match op {
            Operator::Add => BinaryOp::Add,
            Operator::Sub => BinaryOp::Sub,
            Operator::Mul => BinaryOp::Mul,
            Operator::Div => BinaryOp::Div,
            Operator::Mod => BinaryOp::Mod,
            Operator::Pow => BinaryOp::Pow,
            Operator::MatMul => {
                self.report(catalog::operator_not_in_language("`@=`", span));
                return None;
            }
            Operator::FloorDiv
            | Operator::BitAnd
            | Operator::BitOr
            | Operator::BitXor
            | Operator::ShiftLeft
            | Operator::ShiftRight => {
                self.report(catalog::operator_not_in_language(&format!("`{}`", op.symbol()), span));
                return None;
            }
        })
    }

    /// A name that is read.
    pub(super) fn name(&mut self, name: &str, span: Span) -> Option<Expr> {
        match self.local(name).cloned() {
            Some(Local::Field(field)) if self.stencil.fields[field].data_dims.is_empty() => {
                return Some(self.access(field, Offset::CENTRE, span));
            }
            Some(Local::Field(field)) => return self.element_of(field, Offset::CENTRE, Index::HERE, span),
            Some(Local::Scalar(scalar)) => {
                return Some(Expr { kind: IrKind::Access(Access::Scalar(scalar)), dtype: (), span });
            }
            Some(Local::Faulty) => return None,
            Some(Local::Known(Ok(value))) => return self.constant(value, name, span),
            Some(Local::Known(Err(opaque))) => {
                self.unusable_external(name, &opaque.why, span);
                return None;
            }
            Some(Local::Missing { imported }) => {
                self.missing_external(name, ExpectedKind::Number, span, imported);
                return None;
            }
            None => {}
        }
        let frame = self.frame();
        if frame.body.assigned.contains(name) {
            self.report(names::read_before_assignment(name, span));
            return None;
        }
        match self.names.lookup(frame.scope, frame.moment, name) {
            Some(Ok(value)) => self.constant(value, name, span),
            Some(Err(opaque)) => {
                self.report_opaque(name, &opaque, span);
                None
            }
            None => {
                let similar = self.similar_name(name);
                self.report(names::unknown_symbol(name, span, similar.as_ref()));
                None
            }
        }
    }

    /// A constant as an expression; `name` is what it is called in a message.
    pub(super) fn constant(&mut self, value: Constant, name: &str, span: Span) -> Option<Expr> {
        Some(match value {
            Constant::Bool(it) => literal(Value::Bool(it), span),
            Constant::Int(it) | Constant::Member(it) => {
                let value = Value::Int64(it).cast(self.literal_int);
                if value.as_i64() != it {
                    self.report(catalog::literal_too_large(&it.to_string(), self.literal_int, span));
                    return None;
                }
                literal(value, span)
            }
            Constant::Float(it) => literal(Value::Float64(it).cast(self.literal_float), span),
            Constant::Typed(it) => literal(it, span),
            Constant::Axis(Axis::K) => Expr { kind: IrKind::Position(Axis::K), dtype: (), span },
            Constant::Axis(axis) => {
                self.report(names::axis_as_value(axis.name(), span));
                return None;
            }
            Constant::None => return self.unusable("`None`", span),
            Constant::Str(_) => return self.unusable("a string", span),
            Constant::Unsupported(what) => {
                self.unusable_external(name, &format!("it is {what}"), span);
                return None;
            }
            other => {
                self.report(names::not_a_value(name, other.describe(), span));
                return None;
            }
        })
    }

    fn attribute(&mut self, whole: &'p tree::Expr, value: &'p tree::Expr, attribute: &str) -> Option<Expr> {
        if let Some(Local::Field(_)) = value.as_name().and_then(|it| self.local(it)) {
            let field = value.as_name().unwrap_or_default();
            self.report(catalog::attribute_of_field(field, attribute, whole.span));
            return None;
        }
        if value.as_name().is_some_and(|it| self.is_faulty(it)) {
            return None;
        }
        if let Some(value) = self.constants.get(&whole.span) {
            return self.constant(value.clone(), "", whole.span);
        }
        let Some(dotted) = whole.as_dotted().map(|it| it.join(".")) else {
            self.report(catalog::operator_not_in_language(
                &format!("`.{attribute}` of an expression"),
                whole.span,
            ));
            return None;
        };
        let owner = self.evaluate(value, false);
        let found = match &owner {
            // The whole says it with its own place.
            Ok(Constant::Foreign(_)) | Err(_) => self.evaluate(whole, false),
            Ok(owner) => self.names.attribute(owner, attribute, whole.span),
        };
        match found {
            Ok(found) => {
                if let Ok(Constant::Class(class)) = owner {
                    self.check_enum(class, whole.span);
                } else if self.is_of_file(whole) && is_number(&found) {
                    self.constants.insert(whole.span, found.clone());
                }
                self.constant(found, &dotted, whole.span)
            }
            Err(opaque) => {
                let root = dotted.split('.').next().unwrap_or_default().to_owned();
                if let Some((at, similar)) = self.missing_attribute(whole, &|it| !is_type(it)) {
                    let (why, span) = (&opaque.why, whole.span);
                    self.report(names::missing_attribute(&dotted, why, span, at, similar.as_ref()));
                    return None;
                }
                match self.local(&root).cloned() {
                    Some(Local::Missing { imported }) => {
                        self.missing_external(&root, ExpectedKind::Object, whole.span, imported);
                    }
                    Some(Local::Known(_)) => {
                        self.report(names::unusable_external(&dotted, &opaque.why, whole.span));
                    }
                    _ => self.report_opaque(&dotted, &opaque, whole.span),
                }
                None
            }
        }
    }

    /// Reports, once for each external, that its value is of no use.
    fn unusable_external(&mut self, name: &str, why: &str, span: Span) {
        if self.told_externals.insert(name.to_owned()) {
            self.report(names::unusable_external(name, why, span));
        }
    }

    /// Members are read of enumerations of integers only, and each has a name of its own.
    pub(super) fn check_enum(&mut self, class: ClassId, span: Span) {
        // The faults of a decorated enumeration are reported at its definition.
        if self.names.is_marked_enum(class) {
            return;
        }
        let (name, defined) = self.names.class_name(class);
        match self.names.enum_fault(class) {
            Some(EnumFault::NotOfIntegers) => self.report(names::not_an_int_enum(name, span, defined)),
            Some(EnumFault::NamedTwice(other)) => {
                self.report(names::duplicate_enum(name, span, defined, other));
            }
            None => {}
        }
    }

    /// The GTScript function or stencil that a call means, if it means one of the files.
    pub(super) fn called_function(&mut self, function: &tree::Expr) -> Option<FunctionId> {
        if let Some(Constant::Function(id)) = self.constants.get(&function.span) {
            return Some(*id);
        }
        if function.as_name().is_some_and(is_builtin_call) {
            return None;
        }
        function.as_dotted()?;
        let Ok(found @ Constant::Function(id)) = self.evaluate(function, false) else { return None };
        let info = self.names.function(id);
        if info.is_gtscript {
            self.refuse_async(info.def);
        }
        if self.is_of_file(function) {
            self.constants.insert(function.span, found);
        }
        Some(id)
    }

    /// Whether a dotted name starts with a name of the file, and so means the same in every call of the function.
    fn is_of_file(&self, dotted: &tree::Expr) -> bool {
        match &dotted.kind {
            ExprKind::Name(name) => {
                self.local(name).is_none() && !self.frame().body.assigned.contains(name.as_str())
            }
            ExprKind::Attribute(value, _) => self.is_of_file(value),
            _ => false,
        }
    }

    fn is_constant(&self, expr: &tree::Expr) -> bool {
        self.evaluate(expr, false).is_ok()
    }

    fn call(&mut self, function: &'p tree::Expr, call: Call<'p>, out: &mut Vec<Stmt>) -> Option<Expr> {
        if let ExprKind::Attribute(value, name) = &function.kind
            && name.name == "at"
            && let Some(field) = self.field_named(value)
        {
            return self.at(field, call, out);
        }
        if let Some(name) = function.as_name() {
            if let Some(builtin) = Function::builtin(name) {
                return self.builtin(builtin, call, out);
            }
            if let Some(dtype) = self.cast_of(name) {
                let [operand] = self.arguments(name, 1, call, out)?.try_into().ok()?;
                return Some(Expr {
                    kind: IrKind::Cast(dtype, Box::new(operand)),
                    dtype: (),
                    span: call.span,
                });
            }
            if name == "__INLINED" {
                self.report(compile_time::inlined_in_expression(call.span));
                return None;
            }
        }
        if let Some(id) = self.called_function(function) {
            return self.call_value(id, call, out);
        }
        self.refuse_call(function, call.args, call.span);
        None
    }

    fn refuse_call(&mut self, function: &'p tree::Expr, args: &[tree::Expr], span: Span) {
        let Some(dotted) = function.as_dotted() else {
            match &function.kind {
                ExprKind::Other(what, _) => {
                    self.report(catalog::operator_not_in_language(&format!("a {what}"), function.span));
                }
                _ => self.report(functions::expression_called(function.span)),
            }
            return;
        };
        if let ([field, .., attribute], Some(Local::Field(_))) = (&dotted[..], self.local(dotted[0])) {
            self.report(catalog::attribute_of_field(field, attribute, span));
            return;
        }
        let written = dotted.join(".");
        if let Some(ExprKind::Other(what, _)) = args.iter().map(|it| &it.kind).find(|it| is_repetition(it)) {
            // The called function, such as `sum`, would reduce the elements of the comprehension. The
            // language has none.
            self.refuse_operator(&format!("a {what}"), span);
            return;
        }
        let last = dotted.last().copied().unwrap_or_default();
        match self.evaluate(function, false) {
            Ok(Constant::Numeric(name)) if dotted.len() > 1 && is_builtin_call(name) => {
                self.report(functions::qualified_builtin(&written, name, span, function.span));
            }
            Ok(Constant::Element(_)) if dotted.len() > 1 && is_builtin_call(last) => {
                self.report(functions::qualified_builtin(&written, last, span, function.span));
            }
            Ok(value) => self.report(functions::not_callable(&written, value.describe(), span)),
            Err(_)
                if let ExprKind::Attribute(module, _) = &function.kind
                    && !is_builtin_call(last)
                    && matches!(self.evaluate(module, false), Ok(Constant::Foreign(it)) if is_python_module(&it)) =>
            {
                let similar = similar(last, spelling::callable());
                let callee = function.span;
                self.report(functions::python_function(&written, span, callee, similar.as_ref()));
            }
            Err(_) if dotted.len() > 1 && is_builtin_call(last) => {
                self.report(functions::qualified_builtin(&written, last, span, function.span));
            }
            Err(opaque) => match self.local(dotted[0]).cloned() {
                Some(Local::Missing { imported }) => {
                    let name = dotted[0].to_owned();
                    let wanted = if dotted.len() > 1 { ExpectedKind::Object } else { ExpectedKind::Function };
                    self.missing_external(&name, wanted, span, imported);
                }
                Some(Local::Faulty) => {}
                Some(Local::Field(_)) => self.report(functions::not_callable(&written, "a field", span)),
                Some(Local::Scalar(_)) => self.report(functions::not_callable(&written, "a scalar", span)),
                Some(Local::Known(_)) => self.report(names::unusable_external(&written, &opaque.why, span)),
                None => {
                    let frame = self.frame();
                    let is_known = self.names.lookup(frame.scope, frame.moment, dotted[0]).is_some();
                    if is_known {
                        self.report_opaque(&written, &opaque, span);
                    } else {
                        let similar = self.similar_function(&written);
                        let callee = function.span;
                        self.report(functions::unknown_function(&written, span, callee, similar.as_ref()));
                    }
                }
            },
        }
    }

    fn builtin(&mut self, function: Function, call: Call<'p>, out: &mut Vec<Stmt>) -> Option<Expr> {
        let arguments = self.arguments(function.name(), function.arity(), call, out)?;
        let meaning = self.config.meaning_of(function);
        Some(Expr { kind: IrKind::Call(meaning, arguments), dtype: (), span: call.span })
    }

    /// The arguments of a builtin.
    fn arguments(
        &mut self,
        name: &str,
        arity: usize,
        call: Call<'p>,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Expr>> {
        if let Some(keyword) = call.keywords.first() {
            self.report(catalog::keyword_of_builtin(name, keyword.span));
            return None;
        }
        let arguments: Vec<Option<Expr>> = call.args.iter().map(|it| self.expr(it, out)).collect();
        let has_starred = call.args.iter().any(|it| matches!(it.kind, ExprKind::Starred(_)));
        if call.args.len() != arity && !has_starred {
            let nested = self.nested_calls(name, call.args, call.span);
            self.report(catalog::wrong_arity(name, arity, call.args.len(), call.span, nested));
            return None;
        }
        arguments.into_iter().collect()
    }

    /// The type that a call of this name converts to.
    fn cast_of(&self, name: &str) -> Option<DType> {
        match name {
            "int" => Some(self.literal_int),
            "float" => Some(self.literal_float),
            "int32" | "i32" => Some(DType::Int32),
            "int64" | "i64" => Some(DType::Int64),
            "float32" | "f32" => Some(DType::Float32),
            "float64" | "f64" => Some(DType::Float64),
            _ => None,
        }
    }
}

/// `-value`, so that a negative constant reads as one; `None` where that is an error or wraps.
fn negated(value: Value) -> Option<Value> {
    match value {
        Value::Float32(it) => Some(Value::Float32(-it)),
        Value::Float64(it) => Some(Value::Float64(-it)),
        Value::Int32(it) => it.checked_neg().map(Value::Int32),
        Value::Int64(it) => it.checked_neg().map(Value::Int64),
        Value::Bool(_) | Value::Int8(_) | Value::Int16(_) => None,
    }
}

fn is_type(value: &Constant) -> bool {
    matches!(value, Constant::Element(_) | Constant::Field(_))
}

/// Whether it goes through values one by one: a comprehension.
fn is_repetition(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Other(what, _) if what.ends_with("comprehension") || *what == "generator expression")
}

fn is_number(value: &Constant) -> bool {
    matches!(value, Constant::Bool(_) | Constant::Int(_) | Constant::Float(_) | Constant::Typed(_))
}

/// Whether a call of that name means a builtin, whatever else has the name.
fn is_builtin_call(name: &str) -> bool {
    Function::builtin(name).is_some()
        || matches!(
            name,
            "int" | "float" | "int32" | "i32" | "int64" | "i64" | "float32" | "f32" | "float64" | "f64"
        )
}
