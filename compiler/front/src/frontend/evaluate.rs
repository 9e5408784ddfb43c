//! The constant evaluator: Python's arithmetic on what is known while compiling.

mod functions;
mod numbers;
mod python;
mod run;

use std::sync::Arc;

use super::bindings::BoundValue;
use super::constants::{AxisPosition, Constant, ElementType, Evaluation, Opaque};
use super::modules::{MachineAssumption, Names, ScopeId};
use super::reaching::Moment;
use super::syntax::{Expr, ExprKind, Foreign, Keyword, Logical, arguments};
use super::{builtins, field_types, parse};
use crate::diag::Span;
use crate::space::Axis;
use crate::types::DType;
use functions::numeric;
use numbers::convert;
pub use numbers::{binary, compare, truth, unary};
pub(super) use run::behind;

/// Where an expression stands, and which of the two languages it is written in.
pub struct Environment<'e> {
    pub scope: ScopeId,
    /// When it is computed: of the names of the file, those that are bound by then are seen.
    pub moment: Moment,
    /// Names of the body around, before those of the module.
    pub locals: &'e dyn Fn(&str) -> Option<Evaluation>,
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
    pub fn module(scope: ScopeId, moment: impl Into<Moment>) -> Self {
        Self { scope, moment: moment.into(), locals: &|_| None, allows_calls: true }
    }
}

/// The value of an expression.
///
/// # Errors
///
/// Why it has none at compile time.
pub fn expression(names: &Names<'_>, environment: &Environment<'_>, expr: &Expr) -> Evaluation {
    Evaluator { names, environment }.expr(expr)
}

/// The most entries of a dict; each is compared with those before it.
const MAX_ENTRIES: usize = 256;

struct Evaluator<'e, 'p> {
    names: &'e Names<'p>,
    environment: &'e Environment<'e>,
}

impl Evaluator<'_, '_> {
    fn expr(&self, expr: &Expr) -> Evaluation {
        self.names.deeper(expr.span, || self.value_of(expr))
    }

    /// An attribute, which may be a module on the way to a name of one that is not among the files.
    fn attribute(&self, object: &Expr, name: &str, span: Span) -> Evaluation {
        let object = match &object.kind {
            ExprKind::Attribute(outer, inner) => {
                self.names.deeper(object.span, || self.attribute(outer, &inner.name, object.span))
            }
            _ => self.expr(object),
        };
        self.names.attribute(&object?, name, span)
    }

    fn value_of(&self, expr: &Expr) -> Evaluation {
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
                let found = self.names.lookup(self.environment.scope, self.environment.moment, name);
                found.unwrap_or_else(|| Err(fail(format!("nothing is named `{name}`"))))
            }
            ExprKind::Attribute(value, name) => match self.attribute(value, &name.name, expr.span)? {
                Constant::Foreign(path) if !builtins::is_builtin_module(&path) => {
                    Err(builtins::not_known(&path, expr.span))
                }
                found => Ok(found),
            },
            ExprKind::Tuple(parts) => {
                let parts: Result<Vec<Constant>, Opaque> = parts.iter().map(|it| self.expr(it)).collect();
                Constant::Tuple(parts?.into()).bounded(expr.span)
            }
            ExprKind::Dict(entries) if self.environment.allows_calls => self.dict(entries, expr.span),
            ExprKind::Unary(sign, operand) => unary(*sign, &self.expr(operand)?).map_err(fail),
            ExprKind::Binary(op, left, right) => {
                let value = binary(*op, &self.expr(left)?, &self.expr(right)?).map_err(fail)?;
                if value.elements().is_some() { value.bounded(expr.span) } else { Ok(value) }
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
                if let Some(name) = function.as_name()
                    && self.means_python(name)
                    && let Some(value) = self.python(name, args, keywords, expr)
                {
                    return value;
                }
                if let ExprKind::Attribute(object, method) = &function.kind
                    && let Some(value) = self.method(object, &method.name, args, keywords, expr)
                {
                    return value;
                }
                self.call(&self.expr(function)?, args, keywords, expr)
            }
            ExprKind::Subscript(..) => Err(fail("a subscript is not known while compiling".to_owned())),
            ExprKind::Call { .. } => Err(fail("a call is not known while compiling".to_owned())),
            ExprKind::BigInt(_) => Err(fail("the integer does not fit 64 bits".to_owned())),
            // One that changes while the file runs is bound to nothing that is known.
            ExprKind::List(parts) if self.environment.allows_calls => {
                let parts: Result<Vec<Constant>, Opaque> = parts.iter().map(|it| self.expr(it)).collect();
                Constant::List(parts?.into()).bounded(expr.span)
            }
            ExprKind::Other("list comprehension" | "dict comprehension", Some(inner))
                if self.environment.allows_calls =>
            {
                match &**inner {
                    Foreign::Comprehension { element, value, loops } => {
                        self.comprehension((element, value.as_ref()), loops, expr.span)
                    }
                    _ => Err(fail("it cannot be computed without running the file".to_owned())),
                }
            }
            ExprKind::Missing
            | ExprKind::List(_)
            | ExprKind::Ellipsis
            | ExprKind::Dict(_)
            | ExprKind::Slice { .. }
            | ExprKind::Starred(_)
            | ExprKind::Other(..) => Err(fail("it cannot be computed without running the file".to_owned())),
        }
    }

    fn dict(&self, entries: &[(Option<Expr>, Expr)], span: Span) -> Evaluation {
        let mut known: Vec<(Constant, Constant)> = Vec::new();
        for (at, (key, value)) in entries.iter().enumerate() {
            let value = self.expr(value);
            match (key, value) {
                // A known dict adds its entries.
                (None, Ok(Constant::Dict(inner))) => known.extend(inner.iter().cloned()),
                // An unknown dict may hold any key, so it hides the entries before it. `axis_offsets` returns
                // only its own keys.
                (None, Err(_)) if self.is_of_axis_offsets(&entries[at].1) => {}
                (None, other) => {
                    let why = match other {
                        Err(opaque) => opaque.why,
                        Ok(other) => format!("{} is unpacked behind it", other.describe()),
                    };
                    for (_, value) in &mut known {
                        *value = Constant::Unsupported(Arc::from(why.as_str()));
                    }
                }
                (Some(key), value) => {
                    let value = value.unwrap_or_else(|opaque| Constant::Unsupported(Arc::from(opaque.why)));
                    known.push((self.expr(key)?, value));
                }
            }
        }
        let is_large =
            |it: &Constant| it.is_mutable() || matches!(it, Constant::Tuple(_) | Constant::Namespace(_));
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

    /// Whether an expression is a call of NDSL's `axis_offsets`, or a name for it: that gives places of regions alone,
    /// under names of its own.
    fn is_of_axis_offsets(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Call { function, .. } => {
                function.as_dotted().is_some_and(|it| it.last() == Some(&"axis_offsets"))
            }
            ExprKind::Name(name) => match self.names.bound(self.environment.scope, name).as_slice() {
                [(.., BoundValue::Value(value))] => {
                    value.as_name().is_none() && self.is_of_axis_offsets(value)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn subscript(&self, value: &Constant, index: &Expr) -> Evaluation {
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
            Constant::Tuple(parts) | Constant::List(parts) | Constant::Array(parts) => {
                if let (Constant::Array(_), ExprKind::Tuple(indices)) = (value, &index.kind) {
                    let mut part = value.clone();
                    for it in indices {
                        part = self.subscript(&part, it)?;
                    }
                    return Ok(part);
                }
                let position = self.expr(index)?.as_int();
                let position = position.and_then(|it| {
                    let length = i64::try_from(parts.len()).ok()?;
                    usize::try_from(if it < 0 { it + length } else { it }).ok()
                });
                match position.and_then(|it| parts.get(it)) {
                    Some(part) => Ok(part.clone()),
                    None => Err(fail(format!("{} has no such element", value.describe()))),
                }
            }
            Constant::Dict(entries) => {
                let key = self.expr(index)?;
                match entries.iter().find(|(it, _)| *it == key) {
                    Some((_, Constant::Unsupported(why))) => Err(fail(why.to_string())),
                    Some((_, value)) => Ok(value.clone()),
                    None => Err(fail(match &key {
                        Constant::Str(it) => format!("the dict has no key {it:?}"),
                        Constant::Int(it) => format!("the dict has no key {it}"),
                        _ => "the dict has no such key".to_owned(),
                    })),
                }
            }
            Constant::Word("os.environ") => Err(fail(
                "it is read from the environment, which is known when the program runs alone".to_owned(),
            )),
            other => Err(fail(format!("{} cannot be subscripted here", other.describe()))),
        }
    }

    /// The values between brackets, for a tuple its parts. These parts may nest one level deeper than tuples
    /// elsewhere.
    fn parts(&self, index: &Expr) -> Result<Vec<Constant>, Opaque> {
        if let ExprKind::Tuple(parts) = &index.kind {
            return parts.iter().map(|it| self.expr(it)).collect();
        }
        // A name may stand for all of it: `Field[VECTOR]` with `VECTOR = (float, (4,))`.
        Ok(match self.expr(index)? {
            Constant::Tuple(parts) | Constant::List(parts) => parts.to_vec(),
            one => vec![one],
        })
    }

    fn element(&self, expr: &Expr) -> Result<ElementType, Opaque> {
        field_types::element(&self.expr(expr)?).map_err(|why| Opaque::new(why, expr.span))
    }

    fn call(&self, function: &Constant, args: &[Expr], keywords: &[Keyword], whole: &Expr) -> Evaluation {
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
            Constant::Word("os.getenv") => {
                let [variable, default] = arguments(["key", "default"], args, keywords);
                let Some(Constant::Str(variable)) = variable.map(|it| self.expr(it)).transpose()? else {
                    return Err(fail("an environment variable is named by a string".to_owned()));
                };
                let Some(default) = default else {
                    return Err(fail(format!(
                        "the environment variable `{variable}` is known when the program runs alone"
                    )));
                };
                let value = self.expr(default)?;
                self.names.assume(whole.span, MachineAssumption::Unset { variable: variable.to_string() });
                Ok(value)
            }
            Constant::Function(id) => self.call_function(*id, args, keywords, whole),
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
                let args: Result<Vec<Constant>, Opaque> = args.iter().map(|it| self.argument(it)).collect();
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
) -> Evaluation {
    let parsed = parse::expression(text, at);
    let parsed = parsed.ok_or_else(|| Opaque::new(format!("`{text}` is not a type"), at))?;
    // A type that is given from outside may name NumPy's, whatever the file imports.
    let numpy = |name: &str| {
        let is_numpy = matches!(name, "np" | "numpy")
            && names.lookup(environment.scope, environment.moment, name).is_none();
        is_numpy.then(|| Ok(Constant::Foreign(Arc::from(["numpy".to_owned()]))))
    };
    let environment =
        &Environment { locals: &numpy, ..Environment::module(environment.scope, environment.moment) };
    expression(names, environment, &parsed)
}

/// `isinstance(value, class)`, as far as the values and types of Python itself go.
fn is_instance(value: &Constant, class: &Constant) -> Option<bool> {
    Some(match (value, class) {
        (_, Constant::Tuple(classes) | Constant::List(classes)) => {
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
            | Constant::List(_)
            | Constant::Dict(_)
    )
}

/// The axis that a name means, where it means one alone.
#[must_use]
pub fn as_axis(value: &Constant) -> Option<Axis> {
    match value {
        Constant::Axis(axis) => Some(*axis),
        _ => None,
    }
}
