//! Scalars and expressions of them.

use std::fmt;

use isobar_ground::diag::Span;
use isobar_ground::entity::{Handle, Spelled};
use isobar_ground::types::{DType, Value};

/// A scalar of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarVariable {
    pub name: String,
    pub dtype: DType,
    pub role: ScalarRole,
    pub span: Span,
}

impl Spelled for ScalarVariable {
    const PREFIX: &'static str = "n";
}

/// Where a scalar has its value from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarRole {
    /// The caller's; keeps its value during a run.
    Argument,
    Constant(Value),
    /// The program's, kept between runs; starts with this value.
    State(Value),
    /// A loop or a `let` gives it.
    Local,
}

/// The types of expressions. Fields of other types widen when they are read: an `int32` is an `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScalarType {
    Bool,
    /// 64 bits, checked.
    Int,
    /// Double precision.
    Float,
    /// Single precision, which meets other numbers behind a conversion only.
    Single,
}

impl ScalarType {
    /// The type of a variable's value when it is read.
    #[must_use]
    pub fn of(dtype: DType) -> Self {
        match dtype {
            DType::Bool => ScalarType::Bool,
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => ScalarType::Int,
            DType::Float64 => ScalarType::Float,
            DType::Float32 => ScalarType::Single,
        }
    }

    /// The type of a variable that holds such values.
    #[must_use]
    pub fn dtype(self) -> DType {
        match self {
            ScalarType::Bool => DType::Bool,
            ScalarType::Int => DType::Int64,
            ScalarType::Float => DType::Float64,
            ScalarType::Single => DType::Float32,
        }
    }

    /// Whether Python takes it as an integer: `True + 1` is 2.
    #[must_use]
    pub fn is_integral(self) -> bool {
        matches!(self, ScalarType::Bool | ScalarType::Int)
    }

    /// Whether an assignment to such a variable keeps the value, or rounds it to another precision.
    #[must_use]
    pub fn may_become(self, dtype: DType) -> bool {
        match dtype {
            DType::Bool => self == ScalarType::Bool,
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => self == ScalarType::Int,
            DType::Float32 | DType::Float64 => self != ScalarType::Bool,
        }
    }
}

/// As Python spells it.
impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScalarType::Bool => "bool",
            ScalarType::Int => "int",
            ScalarType::Float => "float",
            ScalarType::Single => "float32",
        })
    }
}

/// The value of an expression.
#[derive(Clone, Copy, Debug)]
pub enum ScalarValue {
    Bool(bool),
    Int(i64),
    Float(f64),
    Single(f32),
}

impl ScalarValue {
    /// The type.
    #[must_use]
    pub fn of(self) -> ScalarType {
        match self {
            ScalarValue::Bool(_) => ScalarType::Bool,
            ScalarValue::Int(_) => ScalarType::Int,
            ScalarValue::Float(_) => ScalarType::Float,
            ScalarValue::Single(_) => ScalarType::Single,
        }
    }

    /// The value of a variable as expressions see it.
    #[must_use]
    pub fn read(value: Value) -> Self {
        match value {
            Value::Bool(it) => ScalarValue::Bool(it),
            Value::Float32(it) => ScalarValue::Single(it),
            Value::Float64(it) => ScalarValue::Float(it),
            Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) => {
                ScalarValue::Int(value.as_i64())
            }
        }
    }

    /// As a value of the language.
    #[must_use]
    pub fn value(self) -> Value {
        match self {
            ScalarValue::Bool(it) => Value::Bool(it),
            ScalarValue::Int(it) => Value::Int64(it),
            ScalarValue::Float(it) => Value::Float64(it),
            ScalarValue::Single(it) => Value::Float32(it),
        }
    }
}

/// Equal where the bits are.
impl PartialEq for ScalarValue {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

/// A typed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarExpr {
    pub kind: ScalarExprKind,
    pub of: ScalarType,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarExprKind {
    Literal(ScalarValue),
    Variable(Handle<ScalarVariable>),
    Unary(ScalarSign, Box<ScalarExpr>),
    Binary(ScalarOperator, Box<ScalarExpr>, Box<ScalarExpr>),
    /// `a < b < c` has two entries behind the first operand.
    Compare(Box<ScalarExpr>, Vec<(ScalarComparison, ScalarExpr)>),
    /// The operands, all of one type; the first that decides is the value.
    And(Vec<ScalarExpr>),
    Or(Vec<ScalarExpr>),
    Conditional {
        test: Box<ScalarExpr>,
        then: Box<ScalarExpr>,
        otherwise: Box<ScalarExpr>,
    },
    Call(ScalarFunction, Vec<ScalarExpr>),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarSign {
    Plus,
    Minus,
    Not,
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarOperator {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
}

impl ScalarOperator {
    /// As Python writes it.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            ScalarOperator::Add => "+",
            ScalarOperator::Sub => "-",
            ScalarOperator::Mul => "*",
            ScalarOperator::Div => "/",
            ScalarOperator::FloorDiv => "//",
            ScalarOperator::Mod => "%",
            ScalarOperator::Pow => "**",
        }
    }
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarComparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl ScalarComparison {
    /// As Python writes it.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            ScalarComparison::Eq => "==",
            ScalarComparison::Ne => "!=",
            ScalarComparison::Lt => "<",
            ScalarComparison::Le => "<=",
            ScalarComparison::Gt => ">",
            ScalarComparison::Ge => ">=",
        }
    }
}

/// A function of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarFunction {
    Abs,
    Min,
    Max,
    Round,
    Floor,
    Exp,
    Log,
    Sqrt,
    /// `int(x)`: toward zero.
    Int,
    /// `bool(x)`
    Bool,
    /// `float32(x)`, `int32(x)`: the value in that type, read again as an expression's type.
    Cast(DType),
}

impl ScalarFunction {
    /// The functions with names of their own.
    const NAMED: [(&'static str, ScalarFunction); 10] = [
        ("abs", ScalarFunction::Abs),
        ("min", ScalarFunction::Min),
        ("max", ScalarFunction::Max),
        ("round", ScalarFunction::Round),
        ("floor", ScalarFunction::Floor),
        ("exp", ScalarFunction::Exp),
        ("log", ScalarFunction::Log),
        ("sqrt", ScalarFunction::Sqrt),
        ("int", ScalarFunction::Int),
        ("bool", ScalarFunction::Bool),
    ];

    /// The function of that name. `float` is a conversion to double precision.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let named = Self::NAMED.iter().find(|it| it.0 == name).map(|it| it.1);
        let cast = if name == "float" { Some(DType::Float64) } else { DType::from_name(name) };
        named.or(cast.map(ScalarFunction::Cast))
    }

    /// The names of all functions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let casts = DType::ALL.into_iter().filter(|it| *it != DType::Bool).map(DType::name);
        Self::NAMED.iter().map(|it| it.0).chain(["float"]).chain(casts)
    }

    /// The canonical name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ScalarFunction::Cast(DType::Float64) => "float",
            ScalarFunction::Cast(dtype) => dtype.name(),
            other => Self::NAMED.iter().find(|it| it.1 == other).map_or("", |it| it.0),
        }
    }
}

impl ScalarExpr {
    /// A literal.
    #[must_use]
    pub fn literal(value: ScalarValue) -> Self {
        Self { kind: ScalarExprKind::Literal(value), of: value.of() }
    }

    /// The integer that it is, where it is a literal.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match &self.kind {
            ScalarExprKind::Literal(ScalarValue::Int(it)) => Some(*it),
            ScalarExprKind::Unary(ScalarSign::Minus, operand) => operand.as_int()?.checked_neg(),
            _ => None,
        }
    }

    /// The expressions directly inside, in order of evaluation.
    #[must_use]
    pub fn children(&self) -> Vec<&ScalarExpr> {
        match &self.kind {
            ScalarExprKind::Literal(_) | ScalarExprKind::Variable(_) => Vec::new(),
            ScalarExprKind::Unary(_, it) => vec![it],
            ScalarExprKind::Binary(_, left, right) => vec![left, right],
            ScalarExprKind::Compare(first, rest) => {
                std::iter::once(&**first).chain(rest.iter().map(|it| &it.1)).collect()
            }
            ScalarExprKind::And(parts) | ScalarExprKind::Or(parts) | ScalarExprKind::Call(_, parts) => {
                parts.iter().collect()
            }
            ScalarExprKind::Conditional { test, then, otherwise } => vec![test, then, otherwise],
        }
    }

    /// Calls `each` for every variable that it reads.
    pub fn each_variable(&self, each: &mut dyn FnMut(Handle<ScalarVariable>)) {
        if let ScalarExprKind::Variable(variable) = self.kind {
            each(variable);
        }
        self.children().into_iter().for_each(|it| it.each_variable(each));
    }
}
