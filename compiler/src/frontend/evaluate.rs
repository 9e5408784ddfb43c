//! The constant evaluator: Python's arithmetic on what is known while compiling.

use std::sync::Arc;

use super::constants::{AxisPosition, Constant, ElementType, Evaluated, Opaque};
use super::modules::{Names, ScopeId};
use super::syntax::{Comparison, Expr, ExprKind, Keyword, Logical, Operator, Sign, arguments};
use super::{field_types, parse};
use crate::diag::Span;
use crate::space::Axis;
use crate::types::math::{binary_f32, binary_f64, binary_int, log_to_base, pow_f32, pow_f64, unary_f64};
use crate::types::{BinaryPrimitive, DType, Function, Primitive, UnaryPrimitive, Value};

/// Where an expression stands, and which of the two languages it is written in.
pub struct Environment<'e> {
    pub scope: ScopeId,
    /// Names bound before this byte of the file are seen first.
    pub position: u32,
    /// Names of the body around, before those of the module.
    pub locals: &'e dyn Fn(&str) -> Option<Evaluated>,
    /// Module level allows calls and subscripts; `__INLINED(...)` does not.
    pub allows_calls: bool,
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("scope", &self.scope).finish_non_exhaustive()
    }
}

impl Environment<'_> {
    /// At module level.
    #[must_use]
    pub fn module(scope: ScopeId, position: u32) -> Self {
        Self { scope, position, locals: &|_| None, allows_calls: true }
    }
}

/// The value of an expression.
///
/// # Errors
///
/// Why it has none at compile time.
pub fn expression(names: &Names<'_>, environment: &Environment<'_>, expr: &Expr) -> Evaluated {
    Evaluator { names, environment }.expr(expr)
}

/// The most entries of a dict; each is compared with those before it.
const MAX_ENTRIES: usize = 256;

struct Evaluator<'e, 'p> {
    names: &'e Names<'p>,
    environment: &'e Environment<'e>,
}

impl Evaluator<'_, '_> {
    fn expr(&self, expr: &Expr) -> Evaluated {
        self.names.deeper(expr.span, || self.value_of(expr))
    }

    fn value_of(&self, expr: &Expr) -> Evaluated {
        let fail = |why: String| Opaque::new(why, expr.span);
        match &expr.kind {
            ExprKind::Int(it) => Ok(Constant::Int(*it)),
            ExprKind::Float(it) => Ok(Constant::Float(*it)),
            ExprKind::Bool(it) => Ok(Constant::Bool(*it)),
            ExprKind::None => Ok(Constant::None),
            ExprKind::Str(it) => Ok(Constant::Str(Arc::from(it.as_str()))),
            ExprKind::Name(name) => {
                if let Some(local) = (self.environment.locals)(name) {
                    return local;
                }
                let found = self.names.lookup(self.environment.scope, self.environment.position, name);
                found.unwrap_or_else(|| Err(fail(format!("nothing is named `{name}`"))))
            }
            ExprKind::Attribute(value, name) => {
                let value = self.expr(value)?;
                self.names.attribute(&value, &name.name, expr.span)
            }
            ExprKind::Tuple(parts) => {
                let parts: Result<Vec<Constant>, Opaque> = parts.iter().map(|it| self.expr(it)).collect();
                Constant::Tuple(parts?.into()).bounded(expr.span)
            }
            ExprKind::Dict(entries) if self.environment.allows_calls => self.dict(entries, expr.span),
            ExprKind::Unary(sign, operand) => unary(*sign, &self.expr(operand)?).map_err(fail),
            ExprKind::Binary(op, left, right) => {
                binary(*op, &self.expr(left)?, &self.expr(right)?).map_err(fail)
            }
            ExprKind::Logical(op, operands) => {
                let mut last = Constant::None;
                for operand in operands {
                    last = self.expr(operand)?;
                    let holds = truth(&last)
                        .ok_or_else(|| fail(format!("{} is neither true nor false", last.describe())))?;
                    if holds == (*op == Logical::Or) {
                        break;
                    }
                }
                Ok(last)
            }
            ExprKind::Compare(left, rest) => {
                let mut left = self.expr(left)?;
                for (op, right) in rest {
                    let right = self.expr(right)?;
                    if !compare(*op, &left, &right).map_err(fail)? {
                        return Ok(Constant::Bool(false));
                    }
                    left = right;
                }
                Ok(Constant::Bool(true))
            }
            ExprKind::Ternary { test, then, otherwise } => {
                let test = self.expr(test)?;
                match truth(&test) {
                    Some(true) => self.expr(then),
                    Some(false) => self.expr(otherwise),
                    None => Err(fail(format!("{} is neither true nor false", test.describe()))),
                }
            }
            ExprKind::Subscript(value, index) if self.environment.allows_calls => {
                self.subscript(&self.expr(value)?, index)
            }
            ExprKind::Call { function, args, keywords } if self.environment.allows_calls => {
                self.call(&self.expr(function)?, args, keywords, expr)
            }
            ExprKind::Subscript(..) => Err(fail("a subscript is not known while compiling".to_owned())),
            ExprKind::Call { .. } => Err(fail("a call is not known while compiling".to_owned())),
            ExprKind::BigInt(_) => Err(fail("the integer does not fit 64 bits".to_owned())),
            // One that changes while the file runs is bound to nothing that is known.
            ExprKind::List(parts) if self.environment.allows_calls => {
                let parts: Result<Vec<Constant>, Opaque> = parts.iter().map(|it| self.expr(it)).collect();
                Constant::Tuple(parts?.into()).bounded(expr.span)
            }
            ExprKind::Missing
            | ExprKind::List(_)
            | ExprKind::Ellipsis
            | ExprKind::Dict(_)
            | ExprKind::Slice { .. }
            | ExprKind::Starred(_)
            | ExprKind::Other(_) => Err(fail("it cannot be computed without running the file".to_owned())),
        }
    }

    fn dict(&self, entries: &[(Option<Expr>, Expr)], span: Span) -> Evaluated {
        let mut known: Vec<(Constant, Constant)> = Vec::new();
        for (key, value) in entries {
            let value = self.expr(value);
            match (key, value) {
                // What cannot be unpacked may hold anything, and hides nothing that is told.
                (None, Ok(Constant::Dict(inner))) => known.extend(inner.iter().cloned()),
                (None, _) => {}
                (Some(key), value) => {
                    let value = value.unwrap_or_else(|opaque| Constant::Unsupported(Arc::from(opaque.why)));
                    known.push((self.expr(key)?, value));
                }
            }
        }
        let is_large =
            |it: &Constant| matches!(it, Constant::Dict(_) | Constant::Tuple(_) | Constant::Namespace(_));
        if known.len() > MAX_ENTRIES || known.iter().any(|(key, _)| is_large(key)) {
            return Err(Opaque::new("the dict is too large", span));
        }
        // The last of several entries with one key holds.
        let mut entries: Vec<(Constant, Constant)> = Vec::new();
        for (key, value) in known {
            match entries.iter_mut().find(|(it, _)| *it == key) {
                Some(entry) => entry.1 = value,
                None => entries.push((key, value)),
            }
        }
        Constant::Dict(Arc::from(entries)).bounded(span)
    }

    fn subscript(&self, value: &Constant, index: &Expr) -> Evaluated {
        let fail = |why: String| Opaque::new(why, index.span);
        match value {
            Constant::Word("Field") => {
                field_types::field(&self.parts(index)?).map(Constant::Field).map_err(fail)
            }
            Constant::Word("GlobalTable") => {
                field_types::table(&self.parts(index)?).map(Constant::Field).map_err(fail)
            }
            Constant::Axis(axis) => match self.expr(index)?.as_int() {
                Some(index) => Ok(Constant::Position(AxisPosition { axis: *axis, index, offset: 0 })),
                None => Err(fail(format!("`{axis}[...]` takes an integer"))),
            },
            Constant::Tuple(parts) => {
                let position = self.expr(index)?.as_int();
                let position = position.and_then(|it| {
                    let length = i64::try_from(parts.len()).ok()?;
                    usize::try_from(if it < 0 { it + length } else { it }).ok()
                });
                match position.and_then(|it| parts.get(it)) {
                    Some(part) => Ok(part.clone()),
                    None => Err(fail("the tuple has no such element".to_owned())),
                }
            }
            Constant::Dict(entries) => {
                let key = self.expr(index)?;
                match entries.iter().find(|(it, _)| *it == key) {
                    Some((_, Constant::Unsupported(why))) => Err(fail(why.to_string())),
                    Some((_, value)) => Ok(value.clone()),
                    None => Err(fail("the dict has no such key".to_owned())),
                }
            }
            other => Err(fail(format!("{} cannot be subscripted here", other.describe()))),
        }
    }

    /// What stands between brackets, a tuple as its parts: those may nest once more than tuples elsewhere.
    fn parts(&self, index: &Expr) -> Result<Vec<Constant>, Opaque> {
        if let ExprKind::Tuple(parts) = &index.kind {
            return parts.iter().map(|it| self.expr(it)).collect();
        }
        // A name may stand for all of it: `Field[VECTOR]` with `VECTOR = (float, (4,))`.
        Ok(match self.expr(index)? {
            Constant::Tuple(parts) => parts.to_vec(),
            one => vec![one],
        })
    }

    fn element(&self, expr: &Expr) -> Result<ElementType, Opaque> {
        field_types::element(&self.expr(expr)?).map_err(|why| Opaque::new(why, expr.span))
    }

    fn call(&self, function: &Constant, args: &[Expr], keywords: &[Keyword], whole: &Expr) -> Evaluated {
        let fail = |why: String| Opaque::new(why, whole.span);
        // Where NDSL's own files are among the modules, its function is a plain one.
        let set_4d = Constant::Word("set_4d_field_size");
        let function = match function {
            Constant::Function(id) if self.names.function(*id).def.name.name == "set_4d_field_size" => {
                &set_4d
            }
            other => other,
        };
        match function {
            Constant::Word(name @ "set_4d_field_size") => {
                let [size, element] = arguments(["n", "dtype"], args, keywords);
                let (Some(size), Some(element)) = (size, element) else {
                    return Err(fail(format!("`{name}` takes a size and an element type")));
                };
                field_types::with_data(&self.expr(size)?, &self.expr(element)?)
                    .map(Constant::Field)
                    .map_err(fail)
            }
            Constant::Word("FieldBundleType.T") => {
                let [name, _] = arguments(["name", "do_markup"], args, keywords);
                match name.map(|it| self.expr(it)).transpose()? {
                    Some(Constant::Str(name)) => self.names.bundle(&name, whole.span),
                    _ => Err(fail("a bundle of fields is named by a string".to_owned())),
                }
            }
            Constant::Word("Axis") => match args {
                [name] => match self.expr(name)? {
                    Constant::Str(name) => match Axis::ALL.into_iter().find(|it| it.name() == &*name) {
                        Some(axis) => Ok(Constant::Axis(axis)),
                        None => Err(fail(format!("no axis is called `{name}`"))),
                    },
                    other => Err(fail(format!("an axis is named by a string, not by {}", other.describe()))),
                },
                _ => Err(fail("`Axis` takes a name".to_owned())),
            },
            Constant::Word("isinstance") => match args {
                [value, class] => is_instance(&self.expr(value)?, &self.expr(class)?)
                    .map(Constant::Bool)
                    .ok_or_else(|| fail("the type is not known while compiling".to_owned())),
                _ => Err(fail("`isinstance` takes a value and a type".to_owned())),
            },
            Constant::Word("SimpleNamespace") if args.is_empty() => {
                let mut members = std::collections::BTreeMap::new();
                for keyword in keywords {
                    if let Some(name) = &keyword.name {
                        members.insert(name.name.clone(), self.expr(&keyword.value)?);
                    }
                }
                Constant::Namespace(Arc::new(members)).bounded(whole.span)
            }
            Constant::Word("dataclasses.field") => {
                let [default, factory] = arguments(["default", "default_factory"], &[], keywords);
                match (default, factory) {
                    (Some(default), _) => self.expr(default),
                    (None, Some(factory)) => self.call(&self.expr(factory)?, &[], &[], whole),
                    (None, None) => Err(fail("the field has no default".to_owned())),
                }
            }
            Constant::Class(class) => {
                let args = args.iter().map(|it| self.expr(it)).collect::<Result<_, _>>()?;
                let mut named = Vec::new();
                for Keyword { name, value, .. } in keywords {
                    let name = name.as_ref().ok_or_else(|| fail("arguments are unpacked".to_owned()))?;
                    named.push((name.name.clone(), self.expr(value)?));
                }
                self.names.instance(*class, args, named, whole.span)
            }
            Constant::Element(element) => match args {
                [value] if keywords.is_empty() => convert(element, &self.expr(value)?).map_err(fail),
                _ => Err(fail("a conversion takes one value".to_owned())),
            },
            Constant::Numeric(name) => {
                let mut dtype = None;
                for keyword in keywords {
                    match keyword.name.as_ref().map(|it| it.name.as_str()) {
                        Some("dtype") => dtype = Some(self.element(&keyword.value)?),
                        _ => {
                            return Err(fail(format!("`{name}` is called with a keyword that is not known")));
                        }
                    }
                }
                let args: Result<Vec<Constant>, Opaque> = args.iter().map(|it| self.expr(it)).collect();
                let value = numeric(name, &args?).map_err(fail)?;
                match dtype {
                    Some(element) => convert(&element, &value).map_err(fail),
                    None => Ok(value),
                }
            }
            _ => Err(fail("a call cannot be computed without running the file".to_owned())),
        }
    }
}

/// The type that a string annotation or an entry of `dtypes` means.
///
/// # Errors
///
/// Why it means none.
pub fn type_text(
    names: &Names<'_>,
    environment: &Environment<'_>,
    text: &str,
    at: crate::diag::Span,
) -> Evaluated {
    let parsed = parse::expression(text, at);
    let parsed = parsed.ok_or_else(|| Opaque::new(format!("`{text}` is not a type"), at))?;
    // A type that is given from outside may name NumPy's, whatever the file imports.
    let numpy = |name: &str| {
        let is_numpy = matches!(name, "np" | "numpy")
            && names.lookup(environment.scope, environment.position, name).is_none();
        is_numpy.then(|| Ok(Constant::Foreign(Arc::from(["numpy".to_owned()]))))
    };
    let environment =
        &Environment { locals: &numpy, ..Environment::module(environment.scope, environment.position) };
    expression(names, environment, &parsed)
}

/// Whether Python takes a value for true; `None` where it cannot be said.
#[must_use]
pub fn truth(value: &Constant) -> Option<bool> {
    match value {
        Constant::Bool(it) => Some(*it),
        Constant::Int(it) | Constant::Member(it) => Some(*it != 0),
        Constant::Float(it) => Some(*it != 0.0),
        Constant::Typed(it) => Some(it.cast(DType::Bool) == Value::Bool(true)),
        Constant::None => Some(false),
        Constant::Str(it) => Some(!it.is_empty()),
        Constant::Tuple(it) => Some(!it.is_empty()),
        Constant::Function(_)
        | Constant::Class(_)
        | Constant::Object(_)
        | Constant::Namespace(_)
        | Constant::Module(_) => Some(true),
        _ => None,
    }
}

/// A number as the arithmetic sees it.
#[derive(Clone, Copy, Debug)]
enum Number {
    Int(i64),
    Float(f64),
    Typed(Value),
}

impl Number {
    fn of(value: &Constant) -> Option<Self> {
        match value {
            Constant::Bool(it) => Some(Number::Int(i64::from(*it))),
            Constant::Int(it) | Constant::Member(it) => Some(Number::Int(*it)),
            Constant::Float(it) => Some(Number::Float(*it)),
            Constant::Typed(it) => Some(Number::Typed(*it)),
            _ => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "Python converts in the same way")]
    fn as_f64(self) -> f64 {
        match self {
            Number::Int(it) => it as f64,
            Number::Float(it) => it,
            Number::Typed(it) => it.as_f64(),
        }
    }
}

/// The type in which two numbers meet: NumPy's rules, where a plain Python number adapts.
fn meet(left: Number, right: Number) -> Option<DType> {
    let with_python = |dtype: DType, is_float: bool| {
        if is_float && !dtype.is_float() { DType::Float64 } else { dtype }
    };
    match (left, right) {
        (Number::Typed(a), Number::Typed(b)) => Some(match (a.dtype(), b.dtype()) {
            (DType::Int64 | DType::Int32, DType::Float32) | (DType::Float32, DType::Int64 | DType::Int32) => {
                DType::Float64
            }
            (a, b) => a.max(b),
        }),
        (Number::Typed(it), other) | (other, Number::Typed(it)) => {
            Some(with_python(it.dtype(), matches!(other, Number::Float(_))))
        }
        _ => None,
    }
}

fn cast(number: Number, dtype: DType) -> Value {
    match number {
        Number::Int(it) => Value::Int64(it).cast(dtype),
        Number::Float(it) => Value::Float64(it).cast(dtype),
        Number::Typed(it) => it.cast(dtype),
    }
}

fn unary(sign: Sign, operand: &Constant) -> Result<Constant, String> {
    if sign == Sign::Not {
        return truth(operand)
            .map(|it| Constant::Bool(!it))
            .ok_or_else(|| format!("{} is neither true nor false", operand.describe()));
    }
    let number = Number::of(operand).ok_or_else(|| format!("{} is not a number", operand.describe()))?;
    match (sign, number) {
        (Sign::Plus, Number::Int(it)) => Ok(Constant::Int(it)),
        (Sign::Plus, _) => Ok(operand.clone()),
        (Sign::Minus, Number::Int(it)) => {
            it.checked_neg().map(Constant::Int).ok_or_else(|| "the integer does not fit 64 bits".to_owned())
        }
        (Sign::Minus, Number::Float(it)) => Ok(Constant::Float(-it)),
        (Sign::Minus, Number::Typed(it)) => Ok(Constant::Typed(match it {
            Value::Float32(it) => Value::Float32(-it),
            Value::Float64(it) => Value::Float64(-it),
            other => Value::Int64(other.as_i64().wrapping_neg()).cast(other.dtype()),
        })),
        (Sign::Invert, Number::Int(it)) => Ok(Constant::Int(!it)),
        (Sign::Invert, _) => Err("`~` takes an integer".to_owned()),
        (Sign::Not, _) => Err("handled above".to_owned()),
    }
}

/// `left op right` as Python computes it.
///
/// # Errors
///
/// Why there is no value.
pub fn binary(op: Operator, left: &Constant, right: &Constant) -> Result<Constant, String> {
    if let Some(moved) = move_position(op, left, right) {
        return moved;
    }
    let not_a_number = |it: &Constant| format!("{} is not a number", it.describe());
    let a = Number::of(left).ok_or_else(|| not_a_number(left))?;
    let b = Number::of(right).ok_or_else(|| not_a_number(right))?;
    if let Some(dtype) = meet(a, b) {
        let dtype = if op == Operator::Div && !dtype.is_float() { DType::Float64 } else { dtype };
        let (a, b) = (cast(a, dtype), cast(b, dtype));
        return match (a, b) {
            (Value::Float32(a), Value::Float32(b)) => {
                float32(op, a, b).map(|it| Constant::Typed(Value::Float32(it)))
            }
            (Value::Float64(a), Value::Float64(b)) => {
                float64(op, a, b).map(|it| Constant::Typed(Value::Float64(it)))
            }
            (a, b) => match integer(op, a.as_i64(), b.as_i64())? {
                Constant::Int(it) => Ok(Constant::Typed(Value::Int64(it).cast(dtype))),
                other => Ok(other),
            },
        };
    }
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => integer(op, a, b),
        (a, b) => float64(op, a.as_f64(), b.as_f64()).map(Constant::Float),
    }
}

/// `I[0] + 1`; `None` where no position is involved. Also `K + 1` of an axis alone is not a number.
fn move_position(op: Operator, left: &Constant, right: &Constant) -> Option<Result<Constant, String>> {
    let (position, shift) = match (left, right) {
        (Constant::Position(it), shift) => (*it, shift.as_int()),
        (shift, Constant::Position(it)) if op == Operator::Add => (*it, shift.as_int()),
        (_, Constant::Position(_)) => {
            return Some(Err("a position along an axis takes `+` and `-` of an integer".to_owned()));
        }
        _ => return None,
    };
    let shift = match op {
        Operator::Add => shift,
        Operator::Sub => shift.and_then(i64::checked_neg),
        _ => None,
    };
    Some(match shift.and_then(|it| position.offset.checked_add(it)) {
        Some(offset) => Ok(Constant::Position(AxisPosition { offset, ..position })),
        None => Err("a position along an axis takes `+` and `-` of an integer".to_owned()),
    })
}

const TOO_LARGE: &str = "the integer does not fit 64 bits";
const BY_ZERO: &str = "it divides by zero";

#[expect(clippy::cast_precision_loss, reason = "Python converts in the same way")]
fn integer(op: Operator, a: i64, b: i64) -> Result<Constant, String> {
    let value = match op {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mul => a.checked_mul(b),
        Operator::Div if b == 0 => return Err(BY_ZERO.to_owned()),
        Operator::Div => return Ok(Constant::Float(a as f64 / b as f64)),
        Operator::FloorDiv | Operator::Mod if b == 0 => return Err(BY_ZERO.to_owned()),
        Operator::FloorDiv => {
            let rounds_up = a.checked_rem(b).is_some_and(|it| it != 0) && (a < 0) != (b < 0);
            a.checked_div(b).map(|it| it - i64::from(rounds_up))
        }
        Operator::Mod => Some(binary_int(BinaryPrimitive::FlooredRemainder, a, b)),
        Operator::Pow if b < 0 => return float64(op, a as f64, b as f64).map(Constant::Float),
        Operator::Pow => u32::try_from(b).ok().and_then(|it| a.checked_pow(it)),
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::ShiftLeft => {
            u32::try_from(b).ok().filter(|&it| it < 63).and_then(|it| a.checked_mul(1_i64 << it))
        }
        Operator::ShiftRight => u32::try_from(b).ok().map(|it| a >> it.min(63)),
        Operator::MatMul => return Err("`@` takes matrices".to_owned()),
    };
    value.map(Constant::Int).ok_or_else(|| TOO_LARGE.to_owned())
}

fn float64(op: Operator, a: f64, b: f64) -> Result<f64, String> {
    Ok(match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mul => a * b,
        Operator::Div | Operator::FloorDiv | Operator::Mod if b == 0.0 => return Err(BY_ZERO.to_owned()),
        Operator::Div => a / b,
        Operator::FloorDiv => (a / b).floor(),
        Operator::Mod => binary_f64(BinaryPrimitive::FlooredRemainder, a, b),
        Operator::Pow => {
            if a == 0.0 && b < 0.0 {
                return Err(BY_ZERO.to_owned());
            }
            if a < 0.0 && b.fract() != 0.0 {
                return Err("a broken power of a negative number is not real".to_owned());
            }
            pow_f64(a, b)
        }
        other => return Err(format!("`{}` takes integers", other.symbol())),
    })
}

fn float32(op: Operator, a: f32, b: f32) -> Result<f32, String> {
    Ok(match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mul => a * b,
        Operator::Div => a / b,
        Operator::FloorDiv => (a / b).floor(),
        Operator::Mod => binary_f32(BinaryPrimitive::FlooredRemainder, a, b),
        Operator::Pow => pow_f32(a, b),
        other => return Err(format!("`{}` takes integers", other.symbol())),
    })
}

/// `left op right` as Python compares.
fn compare(op: Comparison, left: &Constant, right: &Constant) -> Result<bool, String> {
    use std::cmp::Ordering;
    let order = match (Number::of(left), Number::of(right)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => Some(a.cmp(&b)),
        (Some(a), Some(b)) => a.as_f64().partial_cmp(&b.as_f64()),
        _ => match op {
            Comparison::In | Comparison::NotIn => None,
            _ if matches!(
                (left, right),
                (Constant::Namespace(_) | Constant::Dict(_), Constant::Namespace(_) | Constant::Dict(_))
            ) =>
            {
                return Err("objects are not compared".to_owned());
            }
            _ if left == right => Some(Ordering::Equal),
            _ => match op {
                Comparison::Eq | Comparison::Is => return Ok(false),
                Comparison::Ne | Comparison::IsNot => return Ok(true),
                _ => return Err(format!("{} and {} have no order", left.describe(), right.describe())),
            },
        },
    };
    Ok(match op {
        Comparison::Eq | Comparison::Is => order == Some(Ordering::Equal),
        Comparison::Ne | Comparison::IsNot => order != Some(Ordering::Equal),
        Comparison::Lt => order == Some(Ordering::Less),
        Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Gt => order == Some(Ordering::Greater),
        Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Comparison::In | Comparison::NotIn => {
            let Constant::Tuple(parts) = right else {
                return Err(format!("{} has no elements", right.describe()));
            };
            let is_in = parts.iter().any(|it| compare(Comparison::Eq, left, it) == Ok(true));
            is_in == (op == Comparison::In)
        }
    })
}

/// `isinstance(value, class)`, as far as the values and types of Python itself go.
fn is_instance(value: &Constant, class: &Constant) -> Option<bool> {
    Some(match (value, class) {
        (_, Constant::Tuple(classes)) => {
            let each: Option<Vec<bool>> = classes.iter().map(|it| is_instance(value, it)).collect();
            each?.contains(&true)
        }
        (Constant::Bool(_), Constant::Element(ElementType::Int)) => true,
        (it, Constant::Element(ElementType::Fixed(DType::Bool))) => {
            plain(it).then_some(matches!(it, Constant::Bool(_)))?
        }
        (it, Constant::Element(ElementType::Int)) => plain(it).then_some(matches!(it, Constant::Int(_)))?,
        (it, Constant::Element(ElementType::Float)) => {
            plain(it).then_some(matches!(it, Constant::Float(_)))?
        }
        // A type is no object of NumPy's `dtype`, which wraps one.
        (Constant::Element(_), Constant::Word("dtype")) => false,
        (it, Constant::Word("dtype")) => plain(it).then_some(false)?,
        _ => return None,
    })
}

/// Whether it is a value of a type of Python itself.
fn plain(value: &Constant) -> bool {
    matches!(
        value,
        Constant::Bool(_)
            | Constant::Int(_)
            | Constant::Float(_)
            | Constant::None
            | Constant::Str(_)
            | Constant::Tuple(_)
            | Constant::Dict(_)
    )
}

/// A call of an element type: `np.float32(0.1)`, `int(2.5)`.
fn convert(element: &ElementType, value: &Constant) -> Result<Constant, String> {
    let number = match value {
        // `float("inf")`
        Constant::Str(text) => match text.trim().to_ascii_lowercase().as_str() {
            "inf" | "+inf" | "infinity" => Number::Float(f64::INFINITY),
            "-inf" | "-infinity" => Number::Float(f64::NEG_INFINITY),
            "nan" => Number::Float(f64::NAN),
            text => text.parse().map(Number::Float).map_err(|_| "the string is not a number".to_owned())?,
        },
        other => Number::of(other).ok_or_else(|| format!("{} is not a number", other.describe()))?,
    };
    match element {
        ElementType::Fixed(DType::Bool) => Ok(Constant::Bool(cast(number, DType::Bool) == Value::Bool(true))),
        ElementType::Fixed(dtype) => Ok(Constant::Typed(cast(number, *dtype))),
        ElementType::Float => Ok(Constant::Float(number.as_f64())),
        ElementType::Int => to_integer(number.as_f64().trunc()).or_else(|why| match number {
            Number::Int(it) => Ok(Constant::Int(it)),
            _ => Err(why),
        }),
        ElementType::Named(name) => Err(format!("`{name}` is not a type that can be called")),
    }
}

/// A whole float as a Python integer.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_integer(value: f64) -> Result<Constant, String> {
    // The first value beyond the range of 64 bits.
    const LIMIT: f64 = (1_u64 << 63) as f64;
    if (-LIMIT..LIMIT).contains(&value) { Ok(Constant::Int(value as i64)) } else { Err(TOO_LARGE.to_owned()) }
}

const MAGNITUDE: Primitive = Primitive::Unary(UnaryPrimitive::Magnitude);
const NEAREST: Primitive = Primitive::Unary(UnaryPrimitive::Nearest);
const FLOORED_REMAINDER: Primitive = Primitive::Binary(BinaryPrimitive::FlooredRemainder);

/// The comparison of an extremum with another value that makes that one better.
fn extremum(op: Primitive) -> Option<Comparison> {
    match op {
        Primitive::Binary(BinaryPrimitive::Minimum) => Some(Comparison::Lt),
        Primitive::Binary(BinaryPrimitive::Maximum) => Some(Comparison::Gt),
        Primitive::Unary(_) | Primitive::Binary(_) | Primitive::Predicate(_) => None,
    }
}

/// What Python rounds to an integer with.
fn to_integers(name: &str, op: Option<Primitive>) -> Option<fn(f64) -> f64> {
    match name {
        "int_floor" => Some(f64::floor),
        "int_ceil" => Some(f64::ceil),
        "int_trunc" => Some(f64::trunc),
        _ => (op == Some(NEAREST)).then_some(|x| unary_f64(UnaryPrimitive::Nearest, x)),
    }
}

/// A call of a numeric function.
fn numeric(name: &str, args: &[Constant]) -> Result<Constant, String> {
    let op = Function::builtin(name).and_then(Function::primitive);
    match (name, args) {
        (_, [first, rest @ ..])
            if let Some(better) = op.and_then(extremum)
                && !rest.is_empty() =>
        {
            let mut best = first;
            for it in rest {
                if compare(better, it, best)? {
                    best = it;
                }
            }
            Ok(best.clone())
        }
        ("pow", [base, exponent]) => binary(Operator::Pow, base, exponent),
        (_, [a, b]) if op == Some(FLOORED_REMAINDER) => binary(Operator::Mod, a, b),
        ("len", [Constant::Tuple(parts)]) => {
            i64::try_from(parts.len()).map(Constant::Int).map_err(|_| TOO_LARGE.to_owned())
        }
        (_, [it]) if op == Some(MAGNITUDE) => match Number::of(it) {
            Some(Number::Int(it)) => it.checked_abs().map(Constant::Int).ok_or_else(|| TOO_LARGE.to_owned()),
            Some(Number::Float(it)) => Ok(Constant::Float(it.abs())),
            Some(Number::Typed(value)) if value.as_f64() < 0.0 => unary(Sign::Minus, it),
            Some(Number::Typed(value)) => Ok(Constant::Typed(value)),
            None => Err(format!("{} is not a number", it.describe())),
        },
        (_, [it]) if let Some(rounded) = to_integers(name, op) => {
            let value = Number::of(it).ok_or_else(|| format!("{} is not a number", it.describe()))?;
            if let Number::Int(it) = value {
                return Ok(Constant::Int(it));
            }
            to_integer(rounded(value.as_f64()))
        }
        ("iinfo" | "finfo", [Constant::Element(element)]) => type_info(element),
        ("log", [it, base]) => {
            let plain = |it: &Constant| match Number::of(it) {
                Some(Number::Typed(_)) | None => None,
                Some(number) => Some(number.as_f64()),
            };
            if let (Some(x), Some(base)) = (plain(it), plain(base))
                && let Some(y) = log_to_base(x, base)
            {
                return Ok(Constant::Float(y));
            }
            let one = |it: &Constant| numeric("log", std::slice::from_ref(it));
            binary(Operator::Div, &one(it)?, &one(base)?)
        }
        ("square", [it]) => binary(Operator::Mul, it, it),
        (_, [a, b]) => {
            let of_two: fn(f64, f64) -> f64 = match name {
                "atan2" => libm::atan2,
                "hypot" => libm::hypot,
                "copysign" => libm::copysign,
                "fmod" => libm::fmod,
                _ => return Err(format!("`{name}` is called with a wrong number of values")),
            };
            let number =
                |it: &Constant| Number::of(it).ok_or_else(|| format!("{} is not a number", it.describe()));
            let (a, b) = (number(a)?, number(b)?);
            let value = of_two(a.as_f64(), b.as_f64());
            // NumPy's functions keep the type of what they are given.
            Ok(match meet(a, b) {
                Some(dtype) if dtype.is_float() => Constant::Typed(Value::Float64(value).cast(dtype)),
                _ => Constant::Float(value),
            })
        }
        ("radians" | "degrees" | "log2" | "expm1" | "log1p" | "exp2", [it]) => {
            let number = Number::of(it).ok_or_else(|| format!("{} is not a number", it.describe()))?;
            let value = number.as_f64();
            let value = match name {
                "radians" => value * (std::f64::consts::PI / 180.0),
                "degrees" => value * (180.0 / std::f64::consts::PI),
                "log2" => libm::log2(value),
                "exp2" => libm::exp2(value),
                "expm1" => libm::expm1(value),
                _ => libm::log1p(value),
            };
            Ok(match number {
                Number::Typed(it) if it.dtype().is_float() => {
                    Constant::Typed(Value::Float64(value).cast(it.dtype()))
                }
                _ => Constant::Float(value),
            })
        }
        (_, [it]) => {
            let function = Function::builtin(name).filter(|it| it.arity() == 1);
            let function = function.ok_or_else(|| format!("`{name}` is not known while compiling"))?;
            let number = Number::of(it).ok_or_else(|| format!("{} is not a number", it.describe()))?;
            let value = match number {
                Number::Typed(Value::Float32(it)) => Constant::Typed(Value::Float32(function.of_f32(it, it))),
                Number::Typed(it) => {
                    Constant::Typed(Value::Float64(function.of_f64(it.as_f64(), it.as_f64())))
                }
                it => Constant::Float(function.of_f64(it.as_f64(), it.as_f64())),
            };
            Ok(if function.is_predicate() { Constant::Bool(truth(&value) == Some(true)) } else { value })
        }
        _ => Err(format!("`{name}` is called with a wrong number of values")),
    }
}

fn type_info(element: &ElementType) -> Result<Constant, String> {
    let int = |min: i64, max: i64| vec![("min", Constant::Int(min)), ("max", Constant::Int(max))];
    let members = match element {
        ElementType::Fixed(DType::Int8) => int(i8::MIN.into(), i8::MAX.into()),
        ElementType::Fixed(DType::Int16) => int(i16::MIN.into(), i16::MAX.into()),
        ElementType::Fixed(DType::Int32) => int(i32::MIN.into(), i32::MAX.into()),
        ElementType::Fixed(DType::Int64) | ElementType::Int => int(i64::MIN, i64::MAX),
        ElementType::Fixed(DType::Float32) => {
            let typed = |it| Constant::Typed(Value::Float32(it));
            vec![
                ("eps", typed(f32::EPSILON)),
                ("max", typed(f32::MAX)),
                ("min", typed(f32::MIN)),
                ("tiny", typed(f32::MIN_POSITIVE)),
                ("smallest_normal", typed(f32::MIN_POSITIVE)),
            ]
        }
        ElementType::Fixed(DType::Float64) | ElementType::Float => {
            let typed = |it| Constant::Typed(Value::Float64(it));
            vec![
                ("eps", typed(f64::EPSILON)),
                ("max", typed(f64::MAX)),
                ("min", typed(f64::MIN)),
                ("tiny", typed(f64::MIN_POSITIVE)),
                ("smallest_normal", typed(f64::MIN_POSITIVE)),
            ]
        }
        ElementType::Fixed(DType::Bool) | ElementType::Named(_) => {
            return Err("the type has no limits".to_owned());
        }
    };
    Ok(Constant::Namespace(Arc::new(
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    )))
}

/// The axis that a name means, where it means one alone.
#[must_use]
pub fn as_axis(value: &Constant) -> Option<Axis> {
    match value {
        Constant::Axis(axis) => Some(*axis),
        _ => None,
    }
}
