//! Expressions of methods: folded where all is known, and texts over the program's scalars where a run computes them.

use isobar_front::frontend::syntax::{Comparison, Expr, ExprKind, Logical, Operator, Sign};
use isobar_ground::diag::Span;
use isobar_ground::entity::Arena;

use super::values::{Builtin, ExchangeValue, ObjectValue};
use super::{ObjectReader, Reading};
use crate::scalar::evaluate;
use crate::scalar::from_python::ScalarReader;
use crate::scalar::nodes::ScalarValue;

impl ObjectReader<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Reading<ObjectValue> {
        let at = expr.span;
        match &expr.kind {
            ExprKind::None => Ok(ObjectValue::None),
            ExprKind::Bool(it) => Ok(ObjectValue::Bool(*it)),
            ExprKind::Int(it) => Ok(ObjectValue::Int(*it)),
            ExprKind::Float(it) => Ok(ObjectValue::Float(*it)),
            ExprKind::Str(it) => Ok(ObjectValue::Text(it.clone())),
            ExprKind::Name(name) => self.name(name, at),
            ExprKind::Attribute(of, attribute) => {
                let of = self.expr(of)?;
                self.attribute(of, &attribute.name, at)
            }
            ExprKind::Subscript(of, index) => {
                let of = self.expr(of)?;
                self.subscript(of, index, at)
            }
            ExprKind::Call { function, args, keywords } => self.called(function, args, keywords, at),
            ExprKind::Unary(sign, operand) => {
                let operand = self.operand(operand, if *sign == Sign::Not { "bool" } else { "float64" })?;
                self.unary(*sign, operand, at)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.operand(left, "float64")?, self.operand(right, "float64")?);
                self.binary(*op, left, right, at)
            }
            ExprKind::Logical(logical, parts) => self.logical(*logical, parts, at),
            ExprKind::Compare(first, rest) => {
                let mut left = self.expr(first)?;
                let mut all = ObjectValue::Bool(true);
                for (comparison, right) in rest {
                    let mut right = self.expr(right)?;
                    // A value of the caller's is never `None`.
                    if !matches!(comparison, Comparison::Is | Comparison::IsNot) {
                        let dtype =
                            if matches!((&left, &right), (ObjectValue::Int(_), _) | (_, ObjectValue::Int(_)))
                            {
                                "int64"
                            } else {
                                "float64"
                            };
                        left = self.free_number(left, dtype, at)?;
                        right = self.free_number(right, dtype, at)?;
                    }
                    let holds = self.compare(*comparison, &left, &right, at)?;
                    all = match (all, holds) {
                        (ObjectValue::Bool(true), it) | (it, ObjectValue::Bool(true)) => it,
                        (one, other) => {
                            self.computed(&[&one, &other], at, |it| format!("({} and {})", it[0], it[1]))?
                        }
                    };
                    left = right;
                }
                Ok(all)
            }
            ExprKind::Ternary { test, then, otherwise } => {
                let test = self.operand(test, "bool")?;
                match test.truth() {
                    Some(holds) => self.expr(if holds { then } else { otherwise }),
                    None => {
                        let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
                        self.computed(&[&then, &test, &otherwise], at, |it| {
                            format!("({} if {} else {})", it[0], it[1], it[2])
                        })
                    }
                }
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                let parts = parts.iter().map(|it| self.expr(it)).collect::<Reading<_>>()?;
                Ok(ObjectValue::Sequence(parts))
            }
            ExprKind::Dict(entries) => {
                let mut all = Vec::new();
                for (key, value) in entries {
                    let Some(key) = key else {
                        return Err(self.refused("`**`", "dictionaries are written out", at));
                    };
                    all.push((self.expr(key)?, self.expr(value)?));
                }
                Ok(ObjectValue::Table(all))
            }
            // A message, or what a callback gets: nothing else can use it.
            ExprKind::Other(what, _) => Ok(ObjectValue::Unknown(format!("programs have no {what}"))),
            ExprKind::BigInt(_)
            | ExprKind::Ellipsis
            | ExprKind::Slice { .. }
            | ExprKind::Starred(_)
            | ExprKind::Missing => Err(self.refused("the expression", "programs have no such value", at)),
        }
    }

    /// An operand, which is a number of this type where the caller gives it.
    pub(super) fn operand(&mut self, expr: &Expr, dtype: &str) -> Reading<ObjectValue> {
        let value = self.expr(expr)?;
        self.free_number(value, dtype, expr.span)
    }

    fn name(&self, name: &str, at: Span) -> Reading<ObjectValue> {
        let frame = self.frames.last();
        if let Some(value) = frame.and_then(|it| it.names.get(name)) {
            return Ok(value.clone());
        }
        let names = frame.and_then(|it| self.graph.functions.get(it.function)).map(|it| &it.names);
        if let Some(value) = names.and_then(|it| it.get(name)) {
            return Ok(ObjectValue::read(value));
        }
        if let Some(builtin) = Builtin::of_python(name) {
            return Ok(ObjectValue::Builtin(builtin));
        }
        match name {
            "__debug__" => Ok(ObjectValue::Bool(true)),
            _ => Err(self.refused(&format!("`{name}`"), "nothing says what it is", at)),
        }
    }

    fn attribute(&self, of: ObjectValue, name: &str, at: Span) -> Reading<ObjectValue> {
        match &of {
            ObjectValue::Object(object) => {
                let known = self.graph.objects.get(object);
                let value = known.and_then(|it| it.attributes.get(name)).map(ObjectValue::read);
                let method = known.and_then(|it| it.methods.get(name));
                let method =
                    method.map(|it| ObjectValue::Function { name: it.clone(), object: Some(object.clone()) });
                value.or(method).ok_or_else(|| {
                    let class = known.map_or("", |it| it.class.as_str());
                    let why = format!("`{class}` has no such attribute that is known");
                    self.refused(&format!("`.{name}`"), &why, at)
                })
            }
            ObjectValue::Math => match (name, Builtin::scalar(name)) {
                ("pi", _) => Ok(ObjectValue::Float(std::f64::consts::PI)),
                ("e", _) => Ok(ObjectValue::Float(std::f64::consts::E)),
                ("inf", _) => Ok(ObjectValue::Float(f64::INFINITY)),
                (_, Some(builtin)) => Ok(ObjectValue::Builtin(builtin)),
                _ => Err(self.refused(&format!("`{name}`"), "scalar expressions have no such function", at)),
            },
            // The array of a quantity is the quantity, here as well.
            ObjectValue::Free(_) if name == "data" => Ok(of),
            ObjectValue::Free(path) => Ok(ObjectValue::Free(format!("{path}.{name}"))),
            ObjectValue::Communicator => Ok(ObjectValue::Bound { of: Box::new(of), method: name.to_owned() }),
            // The array of a quantity is the quantity.
            ObjectValue::Field { .. } if name == "data" => Ok(of),
            ObjectValue::Field { .. } if matches!(name, "field" | "view") => {
                let why = "it is the part inside of its halo, and programs have whole fields: use `data`";
                Err(self.refused(&format!("`.{name}`"), why, at))
            }
            ObjectValue::Exchange(ExchangeValue { interface: Some(it), .. }) if name == "interface" => {
                Ok(match &**it {
                    ObjectValue::Exchange(_) => {
                        ObjectValue::Bound { of: it.clone(), method: "update".to_owned() }
                    }
                    host => host.clone(),
                })
            }
            ObjectValue::Exchange(it)
                if matches!(name, "start" | "wait" | "update") && it.kind != "interface" =>
            {
                Ok(ObjectValue::Bound { of: Box::new(of), method: name.to_owned() })
            }
            ObjectValue::Table(_) if matches!(name, "keys" | "values" | "items" | "get") => {
                Ok(ObjectValue::Bound { of: Box::new(of), method: name.to_owned() })
            }
            ObjectValue::Timer if matches!(name, "clock" | "start" | "stop") => {
                Ok(ObjectValue::Bound { of: Box::new(of), method: name.to_owned() })
            }
            other => Err(self.refused(&format!("`.{name}`"), &format!("of {}", other.kind()), at)),
        }
    }

    fn subscript(&mut self, of: ObjectValue, index: &Expr, at: Span) -> Reading<ObjectValue> {
        match of {
            ObjectValue::Sequence(values) if matches!(index.kind, ExprKind::Slice { .. }) => {
                self.slice(&values, index, at)
            }
            ObjectValue::Sequence(values) => {
                let number = match self.expr(index)? {
                    ObjectValue::Int(it) => it,
                    ObjectValue::Bool(it) => i64::from(it),
                    ObjectValue::Scalar(text) => {
                        let why = format!("`{text}` tells at run time which one");
                        return Err(self.needs_number("an element of a list", &why, at));
                    }
                    other => return Err(self.refused(&other.kind(), "it is no position in a list", at)),
                };
                let n = i64::try_from(values.len()).unwrap_or(i64::MAX);
                let position = if number < 0 { number + n } else { number };
                let found = usize::try_from(position).ok().and_then(|it| values.get(it));
                found.cloned().ok_or_else(|| {
                    self.refused(&format!("the element {number}"), &format!("the list has {n}"), at)
                })
            }
            ObjectValue::Table(entries) => {
                let key = self.expr(index)?;
                if matches!(key, ObjectValue::Scalar(_)) {
                    let why = "its key is a number of run time";
                    return Err(self.needs_number("an entry of a dictionary", why, at));
                }
                let found = entries.iter().find(|it| it.0 == key).map(|it| it.1.clone());
                found.ok_or_else(|| self.refused(&key.kind(), "the dictionary has no such key", at))
            }
            ObjectValue::Field { name, data_index } => self.view(name, data_index, index, at),
            ObjectValue::Free(_)
                if index
                    .parts()
                    .iter()
                    .any(|it| matches!(it.kind, ExprKind::Slice { .. } | ExprKind::Ellipsis)) =>
            {
                match self.free_field(of, at)? {
                    ObjectValue::Field { name, data_index } => self.view(name, data_index, index, at),
                    other => Err(self.refused("the subscript", &format!("of {}", other.kind()), at)),
                }
            }
            ObjectValue::Free(path) => match self.expr(index)? {
                ObjectValue::Text(key) => Ok(ObjectValue::Free(format!("{path}.{key}"))),
                other => Err(self.refused(&other.kind(), &format!("it is no key of `{path}`"), at)),
            },
            other => Err(self.refused("the subscript", &format!("of {}", other.kind()), at)),
        }
    }

    /// A part of a list.
    fn slice(&mut self, values: &[ObjectValue], index: &Expr, at: Span) -> Reading<ObjectValue> {
        let ExprKind::Slice { lower, upper, step: None } = &index.kind else {
            return Err(self.refused("the part of a list", "it has a step", at));
        };
        let n = i64::try_from(values.len()).unwrap_or(i64::MAX);
        let mut ends = [0, n];
        for (end, given) in ends.iter_mut().zip([lower, upper]) {
            let Some(given) = given else { continue };
            *end = match self.expr(given)? {
                ObjectValue::Int(it) if it < 0 => (it + n).max(0),
                ObjectValue::Int(it) => it.min(n),
                ObjectValue::None => *end,
                other => {
                    let why = format!("it ends at {}", other.kind());
                    return Err(self.needs_number("the part of a list", &why, at));
                }
            };
        }
        let [start, end] = ends.map(|it| usize::try_from(it).unwrap_or(0));
        Ok(ObjectValue::Sequence(values.get(start..end).unwrap_or_default().to_vec()))
    }

    /// `q.data[:, :, :, 3]` is an element of data; `q.view[:]` is the field.
    fn view(
        &mut self,
        name: String,
        mut data_index: Vec<u32>,
        index: &Expr,
        at: Span,
    ) -> Reading<ObjectValue> {
        for part in index.parts() {
            match &part.kind {
                ExprKind::Slice { lower: None, upper: None, step: None } | ExprKind::Ellipsis => {
                    if !data_index.is_empty() {
                        return Err(self.refused(
                            "the part of a field",
                            "only its last dimensions may be numbers",
                            at,
                        ));
                    }
                }
                ExprKind::Slice { .. } => {
                    return Err(self.refused("the part of a field", "it is cut along an axis", at));
                }
                _ => match self.expr(part)? {
                    ObjectValue::Int(it) => match u32::try_from(it) {
                        Ok(it) => data_index.push(it),
                        Err(_) => {
                            return Err(self.refused(&format!("the element {it}"), "it is negative", at));
                        }
                    },
                    ObjectValue::Scalar(text) => {
                        let why = format!("`{text}` tells at run time which one");
                        return Err(self.needs_number("the part of a field", &why, at));
                    }
                    other => return Err(self.refused(&other.kind(), "it is no position", at)),
                },
            }
        }
        Ok(ObjectValue::Field { name, data_index })
    }

    fn unary(&self, sign: Sign, operand: ObjectValue, at: Span) -> Reading<ObjectValue> {
        if sign == Sign::Not
            && let Some(holds) = operand.truth()
        {
            return Ok(ObjectValue::Bool(!holds));
        }
        self.computed(&[&operand], at, |it| match sign {
            Sign::Plus => format!("(+{})", it[0]),
            Sign::Minus => format!("(-{})", it[0]),
            Sign::Not => format!("(not {})", it[0]),
            Sign::Invert => format!("(~{})", it[0]),
        })
    }

    pub(super) fn binary(
        &mut self,
        op: Operator,
        left: ObjectValue,
        right: ObjectValue,
        at: Span,
    ) -> Reading<ObjectValue> {
        match (op, &left, &right) {
            (Operator::Add, ObjectValue::Sequence(one), ObjectValue::Sequence(other)) => {
                return Ok(ObjectValue::Sequence(one.iter().chain(other).cloned().collect()));
            }
            (Operator::Add, ObjectValue::Text(one), ObjectValue::Text(other)) => {
                return Ok(ObjectValue::Text(format!("{one}{other}")));
            }
            (_, ObjectValue::Field { .. }, _) | (_, _, ObjectValue::Field { .. }) => {
                return self.whole(op, (&left, &right), false, at);
            }
            _ => {}
        }
        self.computed(&[&left, &right], at, |it| format!("({} {} {})", it[0], op.symbol(), it[1]))
    }

    fn logical(&mut self, logical: Logical, parts: &[Expr], at: Span) -> Reading<ObjectValue> {
        let mut so_far: Option<ObjectValue> = None;
        for part in parts {
            let value = self.operand(part, "bool")?;
            let ends = match (logical, value.truth()) {
                (Logical::And, Some(holds)) => !holds,
                (Logical::Or, Some(holds)) => holds,
                (_, None) => false,
            };
            so_far = Some(match so_far {
                // A known value that decides nothing is left out.
                None => value.clone(),
                Some(before) if before.truth().is_some() => value.clone(),
                Some(before) => self.computed(&[&before, &value], at, |it| {
                    let word = if logical == Logical::And { "and" } else { "or" };
                    format!("({} {word} {})", it[0], it[1])
                })?,
            });
            if ends {
                break;
            }
        }
        Ok(so_far.unwrap_or(ObjectValue::None))
    }

    fn compare(
        &self,
        comparison: Comparison,
        left: &ObjectValue,
        right: &ObjectValue,
        at: Span,
    ) -> Reading<ObjectValue> {
        let unknown = [left, right].into_iter().find(|it| matches!(it, ObjectValue::Unknown(_)));
        if let Some(unknown) = unknown {
            return Err(self.refused("the comparison", &format!("one side is {}", unknown.kind()), at));
        }
        let is_number = |it: &ObjectValue| it.scalar_text().is_some() || matches!(it, ObjectValue::Float(_));
        let is_run_time = |it: &ObjectValue| matches!(it, ObjectValue::Scalar(_));
        match comparison {
            Comparison::Is | Comparison::IsNot => {
                // Numbers are never `None`, whatever a run computes.
                let is_one_none = [left, right].into_iter().any(|it| *it == ObjectValue::None);
                if !is_one_none && [left, right].into_iter().any(is_run_time) {
                    return Err(self.refused("`is`", "numbers of run time have no identity", at));
                }
                Ok(ObjectValue::Bool((left == right) == (comparison == Comparison::Is)))
            }
            Comparison::In | Comparison::NotIn => {
                let parts = self.listed(right, at)?;
                if is_run_time(left) || parts.iter().any(is_run_time) {
                    return Err(self.needs_number("`in`", "a run decides it", at));
                }
                Ok(ObjectValue::Bool(parts.contains(left) == (comparison == Comparison::In)))
            }
            Comparison::Eq | Comparison::Ne if !(is_number(left) && is_number(right)) => {
                Ok(ObjectValue::Bool((left == right) == (comparison == Comparison::Eq)))
            }
            _ => self
                .computed(&[left, right], at, |it| format!("({} {} {})", it[0], comparison.symbol(), it[1])),
        }
    }

    /// An expression of numbers: its value where all of them are known, and otherwise its text.
    pub(super) fn computed(
        &self,
        operands: &[&ObjectValue],
        at: Span,
        text: impl Fn(&[String]) -> String,
    ) -> Reading<ObjectValue> {
        let mut texts = Vec::with_capacity(operands.len());
        for operand in operands {
            let Some(text) = operand.scalar_text() else {
                let why = format!("{} is no finite number", operand.kind());
                return Err(self.refused("the expression", &why, at));
            };
            texts.push(text);
        }
        let text = text(&texts);
        if operands.iter().any(|it| matches!(it, ObjectValue::Scalar(_))) {
            return Ok(ObjectValue::Scalar(text));
        }
        let scalars = Arena::default();
        let read = ScalarReader { scalars: &scalars, text: &text, span: at }.read();
        let typed = read.map_err(|diagnostic| super::ReadStop { diagnostic, needs_number: false })?;
        let value = evaluate(&typed, &|_| ScalarValue::Int(0));
        match value {
            Ok(ScalarValue::Bool(it)) => Ok(ObjectValue::Bool(it)),
            Ok(ScalarValue::Int(it)) => Ok(ObjectValue::Int(it)),
            Ok(ScalarValue::Float(it)) => Ok(ObjectValue::Float(it)),
            // Its type would be lost.
            Ok(ScalarValue::Single(_)) => Ok(ObjectValue::Scalar(text)),
            Err(no_value) => Err(self.refused(&format!("`{text}`"), no_value.reason, at)),
        }
    }
}
