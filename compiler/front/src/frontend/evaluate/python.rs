//! Functions and methods of Python and NumPy that go through sequences.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::numbers::{Number, binary, compare, convert, truth};
use super::{Environment, Evaluator};
use crate::frontend::constants::{Constant, ElementType, Evaluation, Opaque};
use crate::frontend::syntax::{
    Comparison, ComprehensionLoop, Expr, ExprKind, Foreign, Keyword, Operator, arguments,
};
use crate::types::{DType, Value};

/// The most elements that a loop may iterate over.
const LONGEST: usize = 1 << 16;

/// Python's functions of sequences, used where no name of the file hides them.
const OF_SEQUENCES: [&str; 11] =
    ["range", "sum", "sorted", "reversed", "enumerate", "zip", "list", "tuple", "dict", "any", "all"];

impl Evaluator<'_, '_> {
    /// Whether a name is that of one of Python's functions of sequences here.
    pub(super) fn means_python(&self, name: &str) -> bool {
        OF_SEQUENCES.contains(&name)
            && (self.environment.locals)(name).is_none()
            && self.names.lookup(self.environment.scope, self.environment.moment, name).is_none()
    }

    /// An argument; a generator is gone through at once.
    pub(super) fn argument(&self, expr: &Expr) -> Evaluation {
        match &expr.kind {
            ExprKind::Other("generator expression", Some(inner)) if self.environment.allows_calls => {
                let Foreign::Comprehension { element, value, loops } = &**inner else {
                    return self.expr(expr);
                };
                self.comprehension((element, value.as_ref()), loops, expr.span)
            }
            _ => self.expr(expr),
        }
    }

    /// The elements that a loop goes through.
    pub(super) fn sequence(&self, value: &Constant) -> Result<Vec<Constant>, String> {
        let parts = match value {
            Constant::Dict(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            other => match other.elements() {
                Some(parts) => parts.to_vec(),
                None => return Err(format!("{} is not a sequence that is known", other.describe())),
            },
        };
        if parts.len() > LONGEST { Err("the sequence is too long".to_owned()) } else { Ok(parts) }
    }

    /// A call of one of Python's functions of sequences.
    pub(super) fn python(
        &self,
        name: &str,
        args: &[Expr],
        keywords: &[Keyword],
        whole: &Expr,
    ) -> Option<Evaluation> {
        let fail = |why: String| Opaque::new(why, whole.span);
        let given: Vec<Constant> = match args.iter().map(|it| self.argument(it)).collect() {
            Ok(given) => given,
            Err(opaque) => return Some(Err(opaque)),
        };
        if !keywords.is_empty() && name != "dict" && !(name == "sum" || name == "enumerate") {
            return Some(Err(fail(format!("`{name}` is called with a keyword that is not known"))));
        }
        let found = match (name, given.as_slice()) {
            ("range", bounds) => range(bounds),
            ("sum", [values, rest @ ..]) => {
                let start = arguments(["start"], &[], keywords)[0].map(|it| self.expr(it));
                let start = match (rest, start) {
                    ([], None) => Ok(Constant::Int(0)),
                    ([start], None) => Ok(start.clone()),
                    ([], Some(start)) => start,
                    _ => Err(fail("`sum` takes a sequence and a start".to_owned())),
                };
                let start = match start {
                    Ok(start) => start,
                    Err(opaque) => return Some(Err(opaque)),
                };
                self.sequence(values).and_then(|it| sum(start, &it))
            }
            ("sorted", [values]) => self.sequence(values).and_then(sorted),
            ("reversed", [values]) if !matches!(values, Constant::Dict(_)) => {
                self.sequence(values).map(|it| list(it.into_iter().rev()))
            }
            ("enumerate", [values, rest @ ..]) => {
                let start = arguments(["start"], &[], keywords)[0].map(|it| self.expr(it));
                let first = match (rest, start) {
                    ([], None) => Some(0),
                    ([start], None) => start.as_int(),
                    ([], Some(Ok(start))) => start.as_int(),
                    _ => None,
                };
                let first = first.ok_or_else(|| "`enumerate` begins at an integer".to_owned());
                first.and_then(|first| {
                    let numbered = (first..).zip(self.sequence(values)?);
                    Ok(list(numbered.map(|(at, it)| Constant::Tuple([Constant::Int(at), it].into()))))
                })
            }
            ("zip", all @ [_, ..]) => {
                let all: Result<Vec<_>, String> = all.iter().map(|it| self.sequence(it)).collect();
                all.map(|all| {
                    let shortest = all.iter().map(Vec::len).min().unwrap_or_default();
                    list(
                        (0..shortest)
                            .map(|at| Constant::Tuple(all.iter().map(|it| it[at].clone()).collect())),
                    )
                })
            }
            ("list", []) => Ok(list(std::iter::empty())),
            ("list", [values]) => self.sequence(values).map(|it| Constant::List(it.into())),
            ("tuple", []) => Ok(Constant::Tuple(Arc::from([]))),
            ("tuple", [values]) => self.sequence(values).map(|it| Constant::Tuple(it.into())),
            ("any" | "all", [values]) => self.sequence(values).and_then(|it| {
                let holds: Option<Vec<bool>> = it.iter().map(truth).collect();
                let holds = holds.ok_or_else(|| "an element is neither true nor false".to_owned())?;
                Ok(Constant::Bool(if name == "any" {
                    holds.contains(&true)
                } else {
                    !holds.contains(&false)
                }))
            }),
            ("dict", [] | [Constant::Dict(_)]) => {
                let mut entries = match given.as_slice() {
                    [Constant::Dict(entries)] => entries.to_vec(),
                    _ => Vec::new(),
                };
                for Keyword { name, value, .. } in keywords {
                    let Some(name) = name else {
                        return Some(Err(fail("arguments are unpacked".to_owned())));
                    };
                    let key = Constant::Str(Arc::from(name.name.as_str()));
                    let value = self.expr(value);
                    let value = value.unwrap_or_else(|it| Constant::Unsupported(Arc::from(it.why)));
                    put(&mut entries, key, value);
                }
                Ok(Constant::Dict(entries.into()))
            }
            _ => Err(format!("`{name}` is called with values that are not known to it")),
        };
        Some(found.map_err(fail).and_then(|it| it.bounded(whole.span)))
    }

    /// `np.zeros(shape, dtype)`, `np.ones(shape, dtype)` and `np.full(shape, value, dtype)`.
    fn filled(
        &self,
        function: &str,
        shape: &Expr,
        rest: &[Expr],
        keywords: &[Keyword],
    ) -> Result<Result<Constant, String>, Opaque> {
        let (value, rest) = match (function, rest) {
            ("full", [value, rest @ ..]) => (Some(self.expr(value)?), rest),
            ("full", []) => return Ok(Err("`full` is called without a value".to_owned())),
            (_, rest) => (None, rest),
        };
        let dtype = match (rest, keywords) {
            ([], []) => None,
            ([dtype], []) => Some(self.element(dtype)?),
            ([], [keyword]) if keyword.name.as_ref().is_some_and(|it| it.name == "dtype") => {
                Some(self.element(&keyword.value)?)
            }
            _ => return Ok(Err("an array is made with values that are not known".to_owned())),
        };
        let value = value.unwrap_or(Constant::Float(if function == "ones" { 1.0 } else { 0.0 }));
        let shape = self.expr(shape)?;
        let sizes = match shape.elements() {
            Some(parts) => parts.iter().map(Constant::as_int).collect::<Option<Vec<i64>>>(),
            None => shape.as_int().map(|it| vec![it]),
        };
        let sizes = sizes.and_then(|it| it.into_iter().map(|it| usize::try_from(it).ok()).collect());
        let Some(sizes): Option<Vec<usize>> = sizes else {
            return Ok(Err("the shape of an array is not known".to_owned()));
        };
        let n = sizes.iter().fold(1_usize, |n, &it| n.saturating_mul(it));
        if sizes.is_empty() || !(1..=MOST_ELEMENTS).contains(&n) {
            return Ok(Err(format!("an array of {n} elements is not followed")));
        }
        let whole = sizes.iter().rev().fold(value, |value, &n| Constant::List(vec![value; n].into()));
        Ok(array(&whole, dtype))
    }

    /// A method that leaves its object alone, and functions of NumPy that make arrays.
    pub(super) fn method(
        &self,
        object: &Expr,
        method: &str,
        args: &[Expr],
        keywords: &[Keyword],
        whole: &Expr,
    ) -> Option<Evaluation> {
        let is_of_object = matches!(
            method,
            "get" | "items" | "keys" | "values" | "copy" | "tolist" | "item" | "index" | "count"
        );
        if !is_of_object && !matches!(method, "array" | "asarray" | "zeros" | "ones" | "full") {
            return None;
        }
        let value = self.expr(object).ok()?;
        let fail = |why: &str| Opaque::new(why, whole.span);
        let found = match (&value, method, args) {
            (Constant::Foreign(path), "array" | "asarray", [values]) if is_numpy(path) => {
                let mut dtype = None;
                for keyword in keywords {
                    match keyword.name.as_ref().map(|it| it.name.as_str()) {
                        Some("dtype") => match self.element(&keyword.value) {
                            Ok(it) => dtype = Some(it),
                            Err(opaque) => return Some(Err(opaque)),
                        },
                        _ => return Some(Err(fail("an array is made with a keyword that is not known"))),
                    }
                }
                let values = match self.argument(values) {
                    Ok(values) => values,
                    Err(opaque) => return Some(Err(opaque)),
                };
                array(&values, dtype).map_err(|why| fail(&why))
            }
            (Constant::Foreign(path), "zeros" | "ones" | "full", [shape, rest @ ..]) if is_numpy(path) => {
                match self.filled(method, shape, rest, keywords) {
                    Ok(found) => found.map_err(|why| fail(&why)),
                    Err(opaque) => return Some(Err(opaque)),
                }
            }
            (Constant::Dict(entries), "get", [key, rest @ ..]) if rest.len() < 2 && keywords.is_empty() => {
                let key = match self.expr(key) {
                    Ok(key) => key,
                    Err(opaque) => return Some(Err(opaque)),
                };
                match (entries.iter().find(|(it, _)| *it == key), rest) {
                    (Some((_, Constant::Unsupported(why))), _) => Err(fail(why)),
                    (Some((_, value)), _) => Ok(value.clone()),
                    (None, [default]) => self.expr(default),
                    (None, _) => Ok(Constant::None),
                }
            }
            (Constant::Dict(entries), "items", []) => {
                Ok(list(entries.iter().map(|(key, it)| Constant::Tuple([key.clone(), it.clone()].into()))))
            }
            (Constant::Dict(entries), "keys", []) => Ok(list(entries.iter().map(|(key, _)| key.clone()))),
            (Constant::Dict(entries), "values", []) => Ok(list(entries.iter().map(|(_, it)| it.clone()))),
            (Constant::Dict(_) | Constant::List(_) | Constant::Array(_), "copy", []) => Ok(value.clone()),
            (Constant::Array(parts), "tolist", []) => Ok(plain_list(parts)),
            (Constant::Typed(it), "item", []) => Ok(plain_number(*it)),
            (Constant::Tuple(parts) | Constant::List(parts), "index" | "count", [wanted]) => {
                let wanted = match self.expr(wanted) {
                    Ok(wanted) => wanted,
                    Err(opaque) => return Some(Err(opaque)),
                };
                let equal: Result<Vec<bool>, String> =
                    parts.iter().map(|it| compare(Comparison::Eq, it, &wanted)).collect();
                let counted = equal.map(|equal| match method {
                    "count" => Some(equal.iter().filter(|it| **it).count()),
                    _ => equal.iter().position(|it| *it),
                });
                match counted.map(|it| it.and_then(|it| i64::try_from(it).ok())) {
                    Ok(Some(number)) => Ok(Constant::Int(number)),
                    Ok(None) => Err(fail("the value is not among the elements")),
                    Err(why) => Err(fail(&why)),
                }
            }
            _ => return None,
        };
        Some(found.and_then(|it| it.bounded(whole.span)))
    }

    /// `[element for ... in ... if ...]`, or a dict of keys and values.
    pub(super) fn comprehension(
        &self,
        (element, value): (&Expr, Option<&Expr>),
        loops: &[ComprehensionLoop],
        span: crate::diag::Span,
    ) -> Evaluation {
        let bound = RefCell::new(BTreeMap::new());
        let outer = self.environment.locals;
        let locals = |name: &str| {
            let own: Option<Constant> = bound.borrow().get(name).cloned();
            own.map(Ok).or_else(|| outer(name))
        };
        let environment = Environment { locals: &locals, ..*self.environment };
        let inner = Evaluator { names: self.names, environment: &environment };
        let (mut found, mut entries) = (Vec::new(), Vec::new());
        inner.repeat(loops, &bound, &mut |it| {
            let one = it.expr(element)?;
            match value {
                Some(value) => put(&mut entries, one, it.expr(value)?),
                None => found.push(one),
            }
            if found.len().max(entries.len()) > LONGEST {
                return Err(Opaque::new("it holds too many values", span));
            }
            Ok(())
        })?;
        match value {
            Some(_) => Constant::Dict(entries.into()).bounded(span),
            None => Constant::List(found.into()).bounded(span),
        }
    }

    fn repeat(
        &self,
        loops: &[ComprehensionLoop],
        bound: &RefCell<BTreeMap<String, Constant>>,
        each: &mut dyn FnMut(&Self) -> Result<(), Opaque>,
    ) -> Result<(), Opaque> {
        let Some((first, rest)) = loops.split_first() else { return each(self) };
        let fail = |why: String| Opaque::new(why, first.iterable.span);
        let all = self.sequence(&self.argument(&first.iterable)?).map_err(fail)?;
        for it in all {
            self.names.count_run(first.iterable.span)?;
            unpack(&first.target, it, &mut |name, value| {
                bound.borrow_mut().insert(name.to_owned(), value);
                Ok(())
            })?;
            let mut holds = true;
            for condition in &first.conditions {
                holds = truth(&self.expr(condition)?)
                    .ok_or_else(|| Opaque::new("it is neither true nor false", condition.span))?;
                if !holds {
                    break;
                }
            }
            if holds {
                self.repeat(rest, bound, each)?;
            }
        }
        Ok(())
    }
}

/// Gives the names of a target the parts of a value.
pub(super) fn unpack<'t>(
    target: &'t Expr,
    value: Constant,
    bind: &mut dyn FnMut(&'t str, Constant) -> Result<(), Opaque>,
) -> Result<(), Opaque> {
    match &target.kind {
        ExprKind::Name(name) => bind(name, value),
        ExprKind::Tuple(targets) | ExprKind::List(targets) => {
            let parts = value.elements().filter(|it| it.len() == targets.len());
            let parts = parts.ok_or_else(|| {
                Opaque::new("it is unpacked from something that has other parts", target.span)
            })?;
            targets.iter().zip(parts.to_vec()).try_for_each(|(target, it)| unpack(target, it, bind))
        }
        _ => Err(Opaque::new("only names are given values here", target.span)),
    }
}

/// Puts a value into a dict; the last of several with one key holds, at the place of the first.
pub(super) fn put(entries: &mut Vec<(Constant, Constant)>, key: Constant, value: Constant) {
    match entries.iter_mut().find(|(it, _)| *it == key) {
        Some(entry) => entry.1 = value,
        None => entries.push((key, value)),
    }
}

fn is_numpy(path: &[String]) -> bool {
    matches!(path, [one] if one == "numpy")
}

pub(super) fn list(parts: impl Iterator<Item = Constant>) -> Constant {
    Constant::List(parts.collect())
}

fn range(bounds: &[Constant]) -> Result<Constant, String> {
    let bounds: Option<Vec<i64>> = bounds.iter().map(Constant::as_int).collect();
    let (start, end, step) = match bounds.as_deref() {
        Some([end]) => (0, *end, 1),
        Some([start, end]) => (*start, *end, 1),
        Some([start, end, step]) if *step != 0 => (*start, *end, *step),
        _ => return Err("`range` takes one to three integers".to_owned()),
    };
    let mut found = Vec::new();
    let mut at = start;
    while if step > 0 { at < end } else { at > end } {
        if found.len() == LONGEST {
            return Err("the sequence is too long".to_owned());
        }
        found.push(Constant::Int(at));
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    // It cannot be changed.
    Ok(Constant::Tuple(found.into()))
}

/// Python's `sum`. From 3.12 on it carries the parts of floats that are rounded away; where that makes a difference,
/// the value depends on the version.
fn sum(start: Constant, values: &[Constant]) -> Result<Constant, String> {
    let mut total = start.clone();
    for it in values {
        total = binary(Operator::Add, &total, it)?;
    }
    if let (Constant::Float(plain), Some(carried)) = (&total, carried(&start, values))
        && plain.to_bits() != carried.to_bits()
    {
        return Err("its last digit differs between versions of Python; add the values one by one".to_owned());
    }
    Ok(total)
}

/// The sum of numbers with the parts that are rounded away, after Neumaier.
fn carried(start: &Constant, values: &[Constant]) -> Option<f64> {
    let (mut total, mut rest) = (Number::of(start)?.as_f64(), 0.0);
    for it in values {
        let value = Number::of(it)?.as_f64();
        let next = total + value;
        rest += if total.abs() >= value.abs() { (total - next) + value } else { (value - next) + total };
        total = next;
    }
    Some(if rest != 0.0 && rest.is_finite() { total + rest } else { total })
}

fn sorted(mut values: Vec<Constant>) -> Result<Constant, String> {
    let mut fault = None;
    values.sort_by(|a, b| match (compare(Comparison::Lt, a, b), compare(Comparison::Lt, b, a)) {
        (Ok(true), _) => std::cmp::Ordering::Less,
        (Ok(false), Ok(true)) => std::cmp::Ordering::Greater,
        (Ok(false), Ok(false)) => std::cmp::Ordering::Equal,
        (Err(why), _) | (_, Err(why)) => {
            fault.get_or_insert(why);
            std::cmp::Ordering::Equal
        }
    });
    let is_number = values.iter().all(|it| Number::of(it).is_some_and(|it| !it.as_f64().is_nan()));
    match fault {
        Some(why) => Err(why),
        None if !is_number => Err("only numbers are sorted while compiling".to_owned()),
        None => Ok(Constant::List(values.into())),
    }
}

/// The most elements of an array that is made by its shape.
const MOST_ELEMENTS: usize = 4096;

/// An array with another element at these indices; none where there is no such element, or the value is none of its type.
pub(super) fn with_element(array: &Constant, indices: &[i64], value: &Constant) -> Option<Constant> {
    let Constant::Array(parts) = array else {
        let Constant::Typed(old) = array else { return None };
        return indices.is_empty().then(|| convert(&ElementType::Fixed(old.dtype()), value).ok()).flatten();
    };
    let (&first, rest) = indices.split_first()?;
    let length = i64::try_from(parts.len()).ok()?;
    let at = usize::try_from(if first < 0 { first + length } else { first }).ok()?;
    let mut parts = parts.to_vec();
    let part = parts.get_mut(at)?;
    *part = with_element(part, rest, value)?;
    Some(Constant::Array(parts.into()))
}

/// `np.array(values, dtype=...)`: its elements have one type.
fn array(values: &Constant, dtype: Option<ElementType>) -> Result<Constant, String> {
    fn numbers<'v>(value: &'v Constant, found: &mut Vec<&'v Constant>) {
        match value.elements() {
            Some(parts) => parts.iter().for_each(|it| numbers(it, found)),
            None => found.push(value),
        }
    }
    fn made(value: &Constant, element: &ElementType) -> Result<Constant, String> {
        match value.elements() {
            Some(parts) => {
                let parts: Result<Vec<Constant>, String> = parts.iter().map(|it| made(it, element)).collect();
                Ok(Constant::Array(parts?.into()))
            }
            None => convert(element, value),
        }
    }
    if values.elements().is_none() {
        return Err(format!("{} is no list of numbers", values.describe()));
    }
    let mut all = Vec::new();
    numbers(values, &mut all);
    let element = match dtype {
        Some(ElementType::Float) => DType::Float64,
        Some(ElementType::Int) => DType::Int64,
        Some(ElementType::Fixed(dtype)) => dtype,
        Some(ElementType::Named(name)) => return Err(format!("`{name}` is no type of NumPy")),
        None => {
            let of = |it: &&Constant| match it {
                Constant::Bool(_) => Some(DType::Bool),
                Constant::Int(_) => Some(DType::Int64),
                Constant::Float(_) => Some(DType::Float64),
                _ => None,
            };
            let types: Option<Vec<DType>> = all.iter().map(of).collect();
            let types = types.ok_or_else(|| "the type of the array is not known".to_owned())?;
            types.into_iter().max().ok_or_else(|| "the array is empty".to_owned())?
        }
    };
    // NumPy refuses rows of different lengths, and a truth value is converted to itself.
    if element == DType::Bool || !is_rectangular(values) {
        return Err("it is no array of numbers".to_owned());
    }
    made(values, &ElementType::Fixed(element))
}

fn is_rectangular(value: &Constant) -> bool {
    fn shape(value: &Constant) -> Option<Vec<usize>> {
        let Some(parts) = value.elements() else { return Some(Vec::new()) };
        let shapes: Option<Vec<Vec<usize>>> = parts.iter().map(shape).collect();
        let shapes = shapes?;
        let first = shapes.first().cloned().unwrap_or_default();
        let mut whole = vec![parts.len()];
        whole.extend(&first);
        shapes.iter().all(|it| *it == first).then_some(whole)
    }
    shape(value).is_some()
}

/// A number of NumPy as one of Python.
fn plain_number(value: Value) -> Constant {
    match value {
        Value::Bool(it) => Constant::Bool(it),
        it if it.dtype().is_int() => Constant::Int(it.as_i64()),
        it => Constant::Float(it.as_f64()),
    }
}

fn plain_list(parts: &[Constant]) -> Constant {
    list(parts.iter().map(|it| match it {
        Constant::Array(parts) => plain_list(parts),
        Constant::Typed(it) => plain_number(*it),
        other => other.clone(),
    }))
}
