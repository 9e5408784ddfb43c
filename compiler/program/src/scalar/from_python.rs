//! A text in Python's grammar to a typed expression.

use isobar_front::frontend::parse;
use isobar_front::frontend::syntax::{Comparison, Expr, ExprKind, Logical, Operator, Sign};
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::entity::{Arena, Handle};
use isobar_ground::types::DType;

use super::nodes::{
    ScalarComparison, ScalarExpr, ScalarExprKind, ScalarFunction, ScalarOperator, ScalarSign, ScalarType,
    ScalarValue, ScalarVariable,
};

/// Reads and types one text.
#[derive(Debug)]
pub struct ScalarReader<'a> {
    pub scalars: &'a Arena<ScalarVariable>,
    /// The text, for diagnostics.
    pub text: &'a str,
    pub span: Span,
}

type Typed = Result<ScalarExpr, Diagnostic>;

impl ScalarReader<'_> {
    /// The expression of the text.
    ///
    /// # Errors
    ///
    /// P02 for a name that is no scalar, P09 for another syntax, P10 for operands that do not fit.
    pub fn read(&self) -> Typed {
        let parsed = parse::expression(self.text, self.span);
        self.typed(&parsed.ok_or_else(|| self.syntax("Python does not read it"))?)
    }

    fn syntax(&self, why: &str) -> Diagnostic {
        catalog::scalar_syntax(self.text, why, self.span)
    }

    fn wrong(&self, why: &str, help: &str) -> Diagnostic {
        catalog::scalar_type(self.text, why, help, self.span)
    }

    /// A parsed expression, typed.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn typed(&self, expr: &Expr) -> Typed {
        let literal = |value| Ok(ScalarExpr::literal(value));
        match &expr.kind {
            ExprKind::Int(value) => literal(ScalarValue::Int(*value)),
            ExprKind::Float(value) => literal(ScalarValue::Float(*value)),
            ExprKind::Bool(value) => literal(ScalarValue::Bool(*value)),
            ExprKind::BigInt(digits) => Err(self.syntax(&format!("the integer {digits} leaves 64 bits"))),
            ExprKind::Name(name) => self.variable(name),
            ExprKind::Unary(sign, operand) => self.unary(*sign, operand),
            ExprKind::Binary(operator, left, right) => {
                let operator = self.operator(*operator)?;
                self.binary(operator, self.typed(left)?, self.typed(right)?)
            }
            ExprKind::Logical(logical, parts) => self.logical(*logical, parts),
            ExprKind::Compare(first, rest) => self.compare(first, rest),
            ExprKind::Ternary { test, then, otherwise } => self.conditional([test, then, otherwise]),
            ExprKind::Call { function, args, keywords } => match function.as_name() {
                Some(name) if keywords.is_empty() => self.call(name, args),
                Some(_) => Err(self.syntax("its functions take arguments by position")),
                None => Err(self.syntax("it calls something that is no name")),
            },
            ExprKind::None => Err(self.syntax("`None` is no number")),
            ExprKind::Missing
            | ExprKind::Attribute(..)
            | ExprKind::Subscript(..)
            | ExprKind::Ellipsis
            | ExprKind::Str(_)
            | ExprKind::Tuple(_)
            | ExprKind::List(_)
            | ExprKind::Dict(_)
            | ExprKind::Slice { .. }
            | ExprKind::Starred(_)
            | ExprKind::Other(..) => Err(self.syntax("it holds something that is no number")),
        }
    }

    fn variable(&self, name: &str) -> Typed {
        let found: Option<Handle<ScalarVariable>> = self.scalars.find(|it| it.name == name);
        let names = self.scalars.iter().map(|(_, it)| it.name.as_str());
        let variable = found.ok_or_else(|| catalog::unknown("scalar", name, names, self.span))?;
        let of = ScalarType::of(self.scalars[variable].dtype);
        Ok(ScalarExpr { kind: ScalarExprKind::Variable(variable), of })
    }

    fn unary(&self, sign: Sign, operand: &Expr) -> Typed {
        if let (Sign::Minus, ExprKind::BigInt(digits)) = (sign, &operand.kind)
            && digits == "9223372036854775808"
        {
            return Ok(ScalarExpr::literal(ScalarValue::Int(i64::MIN)));
        }
        let operand = self.typed(operand)?;
        let of = if operand.of == ScalarType::Bool { ScalarType::Int } else { operand.of };
        let (sign, of) = match sign {
            Sign::Plus => (ScalarSign::Plus, of),
            Sign::Minus => (ScalarSign::Minus, of),
            Sign::Not => (ScalarSign::Not, ScalarType::Bool),
            Sign::Invert => return Err(self.syntax("it has no operations on bits")),
        };
        Ok(ScalarExpr { kind: ScalarExprKind::Unary(sign, Box::new(operand)), of })
    }

    fn operator(&self, operator: Operator) -> Result<ScalarOperator, Diagnostic> {
        Ok(match operator {
            Operator::Add => ScalarOperator::Add,
            Operator::Sub => ScalarOperator::Sub,
            Operator::Mul => ScalarOperator::Mul,
            Operator::Div => ScalarOperator::Div,
            Operator::FloorDiv => ScalarOperator::FloorDiv,
            Operator::Mod => ScalarOperator::Mod,
            Operator::Pow => ScalarOperator::Pow,
            Operator::MatMul
            | Operator::BitAnd
            | Operator::BitOr
            | Operator::BitXor
            | Operator::ShiftLeft
            | Operator::ShiftRight => {
                return Err(self.syntax(&format!("it has no operator `{}`", operator.symbol())));
            }
        })
    }

    fn binary(&self, operator: ScalarOperator, left: ScalarExpr, right: ScalarExpr) -> Typed {
        let of = match (left.of, right.of) {
            (ScalarType::Single, ScalarType::Single) => {
                let is_plain = matches!(
                    operator,
                    ScalarOperator::Add | ScalarOperator::Sub | ScalarOperator::Mul | ScalarOperator::Div
                );
                if !is_plain {
                    let why = format!("`{}` has no meaning in single precision here", operator.symbol());
                    return Err(self.wrong(&why, "convert the operands first: `float(x)`"));
                }
                ScalarType::Single
            }
            (ScalarType::Single, other) | (other, ScalarType::Single) => return Err(self.precisions(other)),
            (one, other) if one.is_integral() && other.is_integral() => match operator {
                ScalarOperator::Div => ScalarType::Float,
                ScalarOperator::Pow if right.as_int().is_some_and(|it| it < 0) => ScalarType::Float,
                ScalarOperator::Add
                | ScalarOperator::Sub
                | ScalarOperator::Mul
                | ScalarOperator::FloorDiv
                | ScalarOperator::Mod
                | ScalarOperator::Pow => ScalarType::Int,
            },
            _ => ScalarType::Float,
        };
        Ok(ScalarExpr { kind: ScalarExprKind::Binary(operator, Box::new(left), Box::new(right)), of })
    }

    fn precisions(&self, other: ScalarType) -> Diagnostic {
        let help = "convert one of them: `float(x)` or `float32(x)`";
        self.wrong(&format!("a float32 meets a number of type {other}"), help)
    }

    /// The operands of one type, which is the result's.
    fn alike(&self, what: &str, parts: &[Expr]) -> Result<(Vec<ScalarExpr>, ScalarType), Diagnostic> {
        let parts = parts.iter().map(|it| self.typed(it)).collect::<Result<Vec<_>, _>>()?;
        let of = parts.first().map_or(ScalarType::Bool, |it| it.of);
        match parts.iter().find(|it| it.of != of) {
            Some(other) => Err(self.differ(what, [of, other.of])),
            None => Ok((parts, of)),
        }
    }

    fn differ(&self, what: &str, [one, other]: [ScalarType; 2]) -> Diagnostic {
        let why = format!("the type of {what} would depend on the run: {one} or {other}");
        self.wrong(&why, &format!("convert one of them, as `{}(x)`", one.max(other)))
    }

    fn logical(&self, logical: Logical, parts: &[Expr]) -> Typed {
        let (kind, name): (fn(_) -> _, _) = match logical {
            Logical::And => (ScalarExprKind::And, "`and`"),
            Logical::Or => (ScalarExprKind::Or, "`or`"),
        };
        let (parts, of) = self.alike(name, parts)?;
        Ok(ScalarExpr { kind: kind(parts), of })
    }

    fn compare(&self, first: &Expr, rest: &[(Comparison, Expr)]) -> Typed {
        let first = self.typed(first)?;
        let mut before = first.of;
        let mut typed = Vec::with_capacity(rest.len());
        for (comparison, right) in rest {
            let right = self.typed(right)?;
            let is_single = |it| it == ScalarType::Single;
            if is_single(before) != is_single(right.of) {
                return Err(self.precisions(if is_single(before) { right.of } else { before }));
            }
            let comparison = match comparison {
                Comparison::Eq => ScalarComparison::Eq,
                Comparison::Ne => ScalarComparison::Ne,
                Comparison::Lt => ScalarComparison::Lt,
                Comparison::Le => ScalarComparison::Le,
                Comparison::Gt => ScalarComparison::Gt,
                Comparison::Ge => ScalarComparison::Ge,
                Comparison::Is | Comparison::IsNot | Comparison::In | Comparison::NotIn => {
                    return Err(self.syntax(&format!("it has no comparison `{}`", comparison.symbol())));
                }
            };
            before = right.of;
            typed.push((comparison, right));
        }
        Ok(ScalarExpr { kind: ScalarExprKind::Compare(Box::new(first), typed), of: ScalarType::Bool })
    }

    fn conditional(&self, [test, then, otherwise]: [&Expr; 3]) -> Typed {
        let [test, then, otherwise] = [self.typed(test)?, self.typed(then)?, self.typed(otherwise)?];
        if then.of != otherwise.of {
            return Err(self.differ("the conditional", [then.of, otherwise.of]));
        }
        let of = then.of;
        let [test, then, otherwise] = [test, then, otherwise].map(Box::new);
        Ok(ScalarExpr { kind: ScalarExprKind::Conditional { test, then, otherwise }, of })
    }

    fn call(&self, name: &str, args: &[Expr]) -> Typed {
        let function = ScalarFunction::from_name(name)
            .ok_or_else(|| catalog::unknown("function", name, ScalarFunction::names(), self.span))?;
        if let (ScalarFunction::Cast(DType::Float64), [Expr { kind: ExprKind::Str(text), .. }]) =
            (function, args)
        {
            let value = match text.as_str() {
                "inf" => f64::INFINITY,
                "-inf" => f64::NEG_INFINITY,
                "nan" => f64::NAN,
                _ => return Err(self.syntax("`float` of a text knows \"inf\", \"-inf\" and \"nan\"")),
            };
            return Ok(ScalarExpr::literal(ScalarValue::Float(value)));
        }
        if matches!(function, ScalarFunction::Min | ScalarFunction::Max) {
            if args.len() < 2 {
                return Err(self.syntax(&format!("`{name}` takes two arguments or more")));
            }
            let (args, of) = self.alike(&format!("`{name}`"), args)?;
            return Ok(ScalarExpr { kind: ScalarExprKind::Call(function, args), of });
        }
        let [arg] = args else { return Err(self.syntax(&format!("`{name}` takes one argument"))) };
        let arg = self.typed(arg)?;
        let of = match function {
            ScalarFunction::Abs if arg.of == ScalarType::Bool => ScalarType::Int,
            ScalarFunction::Abs | ScalarFunction::Min | ScalarFunction::Max => arg.of,
            ScalarFunction::Round | ScalarFunction::Floor | ScalarFunction::Int => ScalarType::Int,
            ScalarFunction::Exp | ScalarFunction::Log | ScalarFunction::Sqrt => {
                if arg.of == ScalarType::Single {
                    let why = format!("`{name}` computes in double precision");
                    return Err(self.wrong(&why, &format!("write `{name}(float(x))`")));
                }
                ScalarType::Float
            }
            ScalarFunction::Bool => ScalarType::Bool,
            ScalarFunction::Cast(dtype) => ScalarType::of(dtype),
        };
        Ok(ScalarExpr { kind: ScalarExprKind::Call(function, vec![arg]), of })
    }
}
