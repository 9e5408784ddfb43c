//! Expressions of constructors.

use isobar_front::frontend::constants::{Constant, Opaque};
use isobar_front::frontend::evaluate::{Environment, binary, compare, expression, unary};
use isobar_front::frontend::syntax::{
    Comparison, ComprehensionLoop, Expr, ExprKind, Foreign, Logical, Operator, Sign,
};
use isobar_ground::diag::FileId;
use isobar_ground::diag::Span;

use super::values::Built;
use super::{Building, ObjectBuilder};

impl<'p> ObjectBuilder<'p> {
    pub(super) fn expr(&mut self, expr: &'p Expr) -> Building<Built<'p>> {
        self.named_expr(expr, None)
    }

    /// An expression; `wanted` is the name that the field or object of a call would have.
    pub(super) fn named_expr(&mut self, expr: &'p Expr, wanted: Option<&str>) -> Building<Built<'p>> {
        let at = expr.span;
        match &expr.kind {
            ExprKind::None => Ok(Built::NONE),
            ExprKind::Bool(it) => Ok(Built::bool(*it)),
            ExprKind::Int(it) => Ok(Built::int(*it)),
            ExprKind::Float(it) => Ok(Built::Constant(Constant::Float(*it))),
            ExprKind::Str(it) => Ok(Built::Constant(Constant::Str(it.as_str().into()))),
            ExprKind::Name(name) => Ok(self.lookup(name, at.file)),
            ExprKind::Attribute(of, name) => {
                let of = self.expr(of)?;
                self.attribute(&of, &name.name, at)
            }
            ExprKind::Subscript(of, index) => {
                let of = self.expr(of)?;
                self.subscript(&of, index, expr)
            }
            ExprKind::Call { function, args, keywords } => {
                self.called((function, args, keywords), wanted, expr)
            }
            ExprKind::Unary(sign, operand) => {
                let operand = self.expr(operand)?;
                self.unary(*sign, &operand, at)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                self.binary(*op, &left, &right, at)
            }
            ExprKind::Logical(logical, parts) => {
                let mut value = Built::NONE;
                for part in parts {
                    value = self.expr(part)?;
                    match self.truth(&value) {
                        Some(holds) if holds == (*logical == Logical::Or) => break,
                        Some(_) => {}
                        None => break,
                    }
                }
                Ok(value)
            }
            ExprKind::Compare(first, rest) => {
                let mut left = self.expr(first)?;
                for (comparison, right) in rest {
                    let right = self.expr(right)?;
                    if let (Built::Constant(Constant::Array(parts)), Built::Constant(number), [_]) =
                        (&left, &right, rest.as_slice())
                    {
                        let each =
                            parts.iter().map(|it| compare(*comparison, it, number).map(Constant::Bool));
                        return Ok(match each.collect::<Result<Vec<_>, _>>() {
                            Ok(all) => Built::Constant(Constant::Array(all.into())),
                            Err(why) => Built::Unknown(why),
                        });
                    }
                    match self.compared(*comparison, &left, &right) {
                        Some(true) => {}
                        Some(false) => return Ok(Built::bool(false)),
                        None => {
                            let unknown = if left.is_unknown() { left } else { right };
                            return Ok(match unknown {
                                it @ Built::Free(_) => it,
                                it => Built::Unknown(format!("a comparison of {}", it.kind())),
                            });
                        }
                    }
                    left = right;
                }
                Ok(Built::bool(true))
            }
            ExprKind::Ternary { test, then, otherwise } => {
                let holds = self.holds(test)?;
                self.named_expr(if holds { then } else { otherwise }, wanted)
            }
            ExprKind::Tuple(parts) => {
                let parts = self.parts(parts)?;
                Ok(Built::Tuple(parts))
            }
            ExprKind::List(parts) => {
                let parts = self.parts(parts)?;
                Ok(self.list(parts))
            }
            ExprKind::Dict(entries) => self.dictionary(entries),
            ExprKind::Other(
                "list comprehension" | "generator expression" | "dict comprehension",
                Some(inner),
            ) => {
                let Foreign::Comprehension { element, value, loops } = &**inner else {
                    return Ok(Built::Unknown("a comprehension".to_owned()));
                };
                let mut pairs = Vec::new();
                self.comprehend(loops, &mut |this| {
                    let first = this.expr(element)?;
                    let second = value.as_ref().map(|it| this.expr(it)).transpose()?;
                    pairs.push((first, second));
                    Ok(())
                })?;
                Ok(match value {
                    Some(_) => {
                        let table = self.table(Vec::new());
                        if let Built::Table(it) = table {
                            pairs.into_iter().for_each(|(key, value)| {
                                self.put(it, key, value.unwrap_or(Built::NONE));
                            });
                        }
                        table
                    }
                    None => {
                        let parts = pairs.into_iter().map(|it| it.0).collect();
                        self.list(parts)
                    }
                })
            }
            ExprKind::Starred(_) => Err(Self::refused("`*`", "arguments are written one by one", at)),
            ExprKind::Other(what, _) => Ok(Built::Unknown((*what).to_owned())),
            ExprKind::Ellipsis | ExprKind::Slice { .. } | ExprKind::BigInt(_) | ExprKind::Missing => {
                Ok(Built::Unknown("an expression that constructors do not have".to_owned()))
            }
        }
    }

    fn parts(&mut self, parts: &'p [Expr]) -> Building<Vec<Built<'p>>> {
        let mut all = Vec::new();
        for part in parts {
            match &part.kind {
                ExprKind::Starred(inner) => {
                    let inner = self.expr(inner)?;
                    all.extend(self.elements(&inner, part.span)?);
                }
                _ => all.push(self.expr(part)?),
            }
        }
        Ok(all)
    }

    fn dictionary(&mut self, entries: &'p [(Option<Expr>, Expr)]) -> Building<Built<'p>> {
        let table = self.table(Vec::new());
        let Built::Table(made) = table else { return Ok(table) };
        for (key, value) in entries {
            let told = self.expr(value)?;
            match (key, &told) {
                (Some(key), _) => {
                    let key = self.expr(key)?;
                    self.put(made, key, told);
                }
                (None, Built::Table(other)) => {
                    for (key, value) in self.tables[*other].clone() {
                        self.put(made, key, value);
                    }
                }
                (None, other) => return Err(Self::unknown("`**`", other, value.span)),
            }
        }
        Ok(table)
    }

    fn comprehend(
        &mut self,
        loops: &'p [ComprehensionLoop],
        each: &mut dyn FnMut(&mut Self) -> Building<()>,
    ) -> Building<()> {
        let Some((first, rest)) = loops.split_first() else { return each(self) };
        let all = self.expr(&first.iterable)?;
        for it in self.elements(&all, first.iterable.span)? {
            self.count(first.iterable.span)?;
            self.assign(&first.target, it)?;
            let mut is_meant = true;
            for condition in &first.conditions {
                is_meant = is_meant && self.holds(condition)?;
            }
            if is_meant {
                self.comprehend(rest, each)?;
            }
        }
        Ok(())
    }

    /// The elements of a list, a tuple, or the keys of a dictionary.
    pub(super) fn elements(&self, value: &Built<'p>, at: Span) -> Building<Vec<Built<'p>>> {
        match value {
            Built::Tuple(parts) => Ok(parts.clone()),
            Built::List(it) => Ok(self.lists[*it].clone()),
            Built::Table(it) => Ok(self.tables[*it].iter().map(|it| it.0.clone()).collect()),
            Built::Constant(it) if it.elements().is_some() => {
                Ok(it.elements().unwrap_or_default().iter().cloned().map(Built::Constant).collect())
            }
            Built::Constant(Constant::Dict(entries)) => {
                Ok(entries.iter().map(|it| Built::Constant(it.0.clone())).collect())
            }
            other => Err(Self::unknown("the loop", other, at)),
        }
    }

    /// The value of a name: a local, or a name of the file.
    fn lookup(&self, name: &str, file: FileId) -> Built<'p> {
        if let Some(frame) = self.frames.last() {
            for names in std::iter::once(&frame.names).chain(&frame.around) {
                if let Some(value) = names.borrow().get(name) {
                    return value.clone();
                }
            }
        }
        match self.top_name(file, name) {
            Some(Ok(found)) => Built::Constant(found),
            Some(Err(_)) | None => Built::Outside(name.to_owned()),
        }
    }

    pub(super) fn attribute(&mut self, of: &Built<'p>, name: &str, at: Span) -> Building<Built<'p>> {
        match of {
            Built::Object(object) => self.attribute_of(*object, name, at),
            Built::Helper(helper) => Ok(self.attribute_of_helper(helper, name)),
            Built::Super { of, class } => {
                let mut above = self.names.lineage(*class).skip(1);
                let known = above.find_map(|it| self.method_of(it, name).filter(|found| found.0 == it));
                let known = known.and_then(|it| self.function_of(it.1));
                Ok(match known {
                    Some(function) => Built::Method { function, of: *of },
                    None => Built::Outside(format!("super.{name}")),
                })
            }
            Built::Field(field) => Ok(match name {
                "data" => Built::Elements(field.clone()),
                "halo_spec" => Built::Bound { of: Box::new(of.clone()), method: name.to_owned() },
                _ => Built::Unknown(format!("`.{name}` of a field")),
            }),
            // The entries of a given dictionary are attributes too.
            Built::Table(it) if self.is_given.contains(it) && self.entry(*it, name).is_some() => {
                Ok(self.entry(*it, name).unwrap_or(Built::NONE))
            }
            // A list of the request stands for a quantity along K.
            Built::List(it) if matches!(name, "view" | "data" | "field") => {
                let parts: Option<Vec<Constant>> =
                    self.lists[*it].iter().map(|it| self.constant(it)).collect();
                Ok(match parts {
                    Some(parts) => Built::Constant(Constant::Array(parts.into())),
                    None => Built::Unknown(format!("`.{name}` of a list")),
                })
            }
            Built::Constant(Constant::Array(_)) if matches!(name, "any" | "all" | "max" | "min") => {
                Ok(Built::Bound { of: Box::new(of.clone()), method: name.to_owned() })
            }
            Built::List(_) | Built::Table(_) => {
                Ok(Built::Bound { of: Box::new(of.clone()), method: name.to_owned() })
            }
            Built::Constant(constant) => Ok(match self.names.attribute(constant, name, at) {
                Ok(found) => Built::Constant(found),
                Err(_) => Built::Outside(name.to_owned()),
            }),
            Built::Free(path) => Ok(Built::Free(format!("{path}.{name}"))),
            Built::Outside(_) => Ok(Built::Outside(name.to_owned())),
            Built::Exchange { .. } => Ok(Built::Unknown(format!("`.{name}` of a halo updater"))),
            Built::Unknown(why) => Ok(Built::Unknown(why.clone())),
            other => Err(Self::refused(&format!("`.{name}`"), &format!("of {}", other.kind()), at)),
        }
    }

    /// The entry of a dictionary under a text.
    fn entry(&self, table: usize, key: &str) -> Option<Built<'p>> {
        self.tables[table].iter().find(|it| it.0.as_text() == Some(key)).map(|it| it.1.clone())
    }

    fn attribute_of(&mut self, object: usize, name: &str, at: Span) -> Building<Built<'p>> {
        let class = self.objects[object].class;
        if let Some(value) = self.objects[object].attributes.get(name) {
            return Ok(value.clone());
        }
        if let Some((_, def)) = self.method_of(class, name)
            && let Some(function) = self.function_of(def)
        {
            let is = |word: &str| {
                def.decorators.iter().any(|it| it.as_dotted().is_some_and(|it| it.last() == Some(&word)))
            };
            if is("property") || is("cached_property") {
                return self.call_function(function, Some(object), (Vec::new(), Vec::new()), at);
            }
            return Ok(match is("staticmethod") {
                true => Built::Constant(Constant::Function(function)),
                false => Built::Method { function, of: object },
            });
        }
        if let Ok(found) = self.names.attribute(&Constant::Class(class), name, at) {
            return Ok(Built::Constant(found));
        }
        // A base that is not among the files may have it.
        Ok(match name {
            "make_local" => Built::Bound { of: Box::new(Built::Object(object)), method: name.to_owned() },
            _ => Built::Outside(name.to_owned()),
        })
    }

    fn subscript(&mut self, of: &Built<'p>, index: &'p Expr, whole: &'p Expr) -> Building<Built<'p>> {
        let at = whole.span;
        match of {
            Built::Tuple(_) | Built::List(_) if matches!(index.kind, ExprKind::Slice { .. }) => {
                self.slice(of, index, at)
            }
            Built::Tuple(_) | Built::List(_) => {
                let all = self.elements(of, at)?;
                let index = self.expr(index)?;
                if index.is_unknown() {
                    return Err(Self::unknown("the index", &index, at));
                }
                let place = self.place(&index, all.len());
                place.map(|it| all[it].clone()).ok_or_else(|| {
                    Self::refused("the index", &format!("there are {} elements", all.len()), at)
                })
            }
            Built::Table(table) => {
                let key = self.expr(index)?;
                let found = self.tables[*table].iter().find(|it| self.is_same(&it.0, &key) == Some(true));
                let found = found.map(|it| it.1.clone());
                found.ok_or_else(|| Self::refused("the key", "the dictionary does not have it", at))
            }
            Built::Free(path) => {
                let key = self.expr(index)?;
                Ok(match key.as_text() {
                    Some(key) => Built::Free(format!("{path}.{key}")),
                    None => Built::Unknown(format!("an element of `{path}`")),
                })
            }
            Built::Constant(Constant::Array(_))
                if matches!(index.kind, ExprKind::Slice { lower: None, upper: None, step: None }) =>
            {
                Ok(of.clone())
            }
            Built::Constant(Constant::Array(parts)) => {
                let index = self.expr(index)?;
                let place = self.place(&index, parts.len());
                Ok(place.map_or_else(
                    || Built::Unknown("an element of an array".to_owned()),
                    |it| Built::Constant(parts[it].clone()),
                ))
            }
            Built::Constant(_) => Ok(self.computed(whole)),
            Built::Field(_) | Built::Elements(_) => Ok(Built::Unknown("an element of a field".to_owned())),
            other => Ok(Built::Unknown(format!("an element of {}", other.kind()))),
        }
    }

    fn slice(&mut self, of: &Built<'p>, index: &'p Expr, at: Span) -> Building<Built<'p>> {
        let ExprKind::Slice { lower, upper, step: None } = &index.kind else {
            return Err(Self::refused("the part of a list", "it has a step", at));
        };
        let all = self.elements(of, at)?;
        let n = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let mut ends = [0, n];
        for (end, given) in ends.iter_mut().zip([lower, upper]) {
            let Some(given) = given else { continue };
            let value = self.expr(given)?;
            let Some(number) = value.as_int() else {
                return Err(Self::unknown("the part of a list", &value, at));
            };
            *end = if number < 0 { (number + n).max(0) } else { number.min(n) };
        }
        let [first, end] = ends.map(|it| usize::try_from(it).unwrap_or_default());
        let part = all.get(first..end.max(first)).unwrap_or_default().to_vec();
        Ok(if matches!(of, Built::Tuple(_)) { Built::Tuple(part) } else { self.list(part) })
    }

    fn unary(&self, sign: Sign, operand: &Built<'p>, at: Span) -> Building<Built<'p>> {
        if sign == Sign::Not {
            return Ok(match (self.truth(operand), operand) {
                (Some(it), _) => Built::bool(!it),
                (None, it @ Built::Free(_)) => it.clone(),
                (None, it) => Built::Unknown(format!("`not` of {}", it.kind())),
            });
        }
        match operand {
            Built::Constant(it) => match unary(sign, it) {
                Ok(it) => Ok(Built::Constant(it)),
                Err(why) => Err(Self::refused("the expression", &why, at)),
            },
            other => Ok(Built::Unknown(format!("it is computed of {}", other.kind()))),
        }
    }

    fn binary(&mut self, op: Operator, left: &Built<'p>, right: &Built<'p>, at: Span) -> Building<Built<'p>> {
        match (op, left, right) {
            (_, Built::Constant(one), Built::Constant(other)) => match binary(op, one, other) {
                Ok(it) => Ok(Built::Constant(it)),
                Err(why) => Err(Self::refused("the expression", &why, at)),
            },
            (Operator::Add, Built::Tuple(_) | Built::List(_), Built::Tuple(_) | Built::List(_)) => {
                let mut all = self.elements(left, at)?;
                all.extend(self.elements(right, at)?);
                Ok(if matches!(left, Built::Tuple(_)) { Built::Tuple(all) } else { self.list(all) })
            }
            (Operator::Mul, list @ (Built::Tuple(_) | Built::List(_)), number)
            | (Operator::Mul, number, list @ (Built::Tuple(_) | Built::List(_))) => {
                let Some(n) = number.as_int() else { return Err(Self::unknown("the product", number, at)) };
                let part = self.elements(list, at)?;
                let n = usize::try_from(n).unwrap_or_default();
                if n.saturating_mul(part.len()) > super::MOST_STEPS {
                    return Err(Self::refused("the product", "the list is too long", at));
                }
                let all = part.iter().cycle().take(n * part.len()).cloned().collect();
                Ok(if matches!(list, Built::Tuple(_)) { Built::Tuple(all) } else { self.list(all) })
            }
            (_, Built::Constant(_), other) | (_, other, _) => {
                Ok(Built::Unknown(format!("it is computed of {}", other.kind())))
            }
        }
    }

    /// A comparison; `None` where it is not known.
    fn compared(&self, op: Comparison, left: &Built<'p>, right: &Built<'p>) -> Option<bool> {
        match op {
            Comparison::Is | Comparison::IsNot if right.is_none() || left.is_none() => {
                let other = if right.is_none() { left } else { right };
                if other.is_unknown() {
                    return None;
                }
                Some(other.is_none() == (op == Comparison::Is))
            }
            Comparison::In | Comparison::NotIn if left.as_text().is_some() && right.as_text().is_some() => {
                let is_in = right.as_text()?.contains(left.as_text()?);
                Some(is_in == (op == Comparison::In))
            }
            Comparison::In | Comparison::NotIn => {
                let all = self.elements(right, Span::default()).ok()?;
                let mut is_in = false;
                for it in &all {
                    is_in |= self.is_same(it, left)?;
                }
                Some(is_in == (op == Comparison::In))
            }
            Comparison::Eq => self.is_same(left, right),
            Comparison::Ne => self.is_same(left, right).map(|it| !it),
            _ => match (left, right) {
                (Built::Constant(one), Built::Constant(other)) => compare(op, one, other).ok(),
                _ => None,
            },
        }
    }

    /// Whether two values are equal; `None` where that is not known.
    pub(super) fn is_same(&self, one: &Built<'p>, other: &Built<'p>) -> Option<bool> {
        match (one, other) {
            (Built::Constant(one), Built::Constant(other)) => compare(Comparison::Eq, one, other).ok(),
            (Built::Tuple(_) | Built::List(_), Built::Tuple(_) | Built::List(_)) => {
                let [one, other] = [one, other].map(|it| self.elements(it, Span::default()).ok());
                let (one, other) = (one?, other?);
                if one.len() != other.len() {
                    return Some(false);
                }
                let mut is_same = true;
                for (one, other) in one.iter().zip(&other) {
                    is_same &= self.is_same(one, other)?;
                }
                Some(is_same)
            }
            (Built::Field(one), Built::Field(other)) => Some(one == other),
            (one, other) if one.is_unknown() || other.is_unknown() => None,
            _ => Some(false),
        }
    }

    /// A value that needs nothing but constants.
    pub(super) fn computed(&self, expr: &Expr) -> Built<'p> {
        let locals = |name: &str| {
            let frame = self.frames.last()?;
            let all = std::iter::once(&frame.names).chain(&frame.around);
            let found = all.into_iter().find_map(|it| it.borrow().get(name).cloned())?;
            Some(self.constant(&found).ok_or_else(|| Opaque::because(found.kind())))
        };
        let Some(scope) = self.names.module_scope(expr.span.file) else {
            return Built::Unknown("it stands in no file".to_owned());
        };
        let environment = Environment { scope, moment: u32::MAX.into(), locals: &locals, allows_calls: true };
        match expression(self.names, &environment, expr) {
            Ok(found) => Built::Constant(found),
            Err(opaque) => Built::Unknown(opaque.why),
        }
    }

    /// A value as a constant, where it is one.
    pub(super) fn constant(&self, value: &Built<'p>) -> Option<Constant> {
        let all = |parts: &[Built<'p>]| parts.iter().map(|it| self.constant(it)).collect::<Option<Vec<_>>>();
        match value {
            Built::Constant(it) => Some(it.clone()),
            Built::Tuple(parts) => Some(Constant::Tuple(all(parts)?.into())),
            Built::List(it) => Some(Constant::List(all(&self.lists[*it])?.into())),
            Built::Table(it) => {
                let pairs = self.tables[*it].iter();
                let pairs = pairs.map(|(key, value)| Some((self.constant(key)?, self.constant(value)?)));
                Some(Constant::Dict(pairs.collect::<Option<Vec<_>>>()?.into()))
            }
            _ => None,
        }
    }
}
