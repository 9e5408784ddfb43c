//! Calls in methods: stencils, methods, functions that are known, and callbacks.

use isobar_front::frontend::syntax::{Expr, Keyword};
use isobar_ground::diag::Span;

use super::values::{Builtin, ExchangeValue, ObjectValue};
use super::{ObjectReader, Reading};
use crate::document::Entries;
use crate::document::nodes::{ArgumentEntry, ExchangeKindEntry, HostEntry, PhaseEntry, StatementEntry};

type NamedValues = Vec<(String, ObjectValue)>;

impl ObjectReader<'_> {
    pub(super) fn called(
        &mut self,
        function: &Expr,
        args: &[Expr],
        keywords: &[Keyword],
        at: Span,
    ) -> Reading<ObjectValue> {
        let callee = self.expr(function)?;
        let args = args.iter().map(|it| self.expr(it)).collect::<Reading<Vec<_>>>()?;
        let mut named: NamedValues = Vec::new();
        for keyword in keywords {
            let value = self.expr(&keyword.value)?;
            match (&keyword.name, value) {
                (Some(name), value) => named.push((name.name.clone(), value)),
                (None, ObjectValue::Table(entries)) => {
                    for (key, value) in entries {
                        let ObjectValue::Text(name) = key else {
                            return Err(self.refused(&key.kind(), "it is no name of an argument", at));
                        };
                        named.push((name, value));
                    }
                }
                (None, other) => return Err(self.refused(&other.kind(), "it is no dictionary", at)),
            }
        }
        match callee {
            ObjectValue::Stencil(name) => self.stencil(&name, args, named, at),
            ObjectValue::Object(name) => {
                let method = self.graph.objects.get(&name).and_then(|it| it.methods.get("__call__"));
                let Some(method) = method.cloned() else {
                    return Err(self.refused(&format!("the object `{name}`"), "it cannot be called", at));
                };
                self.enter(&ObjectValue::Function { name: method, object: Some(name) }, args, named, at)
            }
            it @ ObjectValue::Function { .. } => self.enter(&it, args, named, at),
            ObjectValue::Builtin(builtin) => self.builtin(builtin, args, named, at),
            ObjectValue::Bound { of, method } => self.bound(*of, &method, (args, named), at),
            ObjectValue::Host { name, fields } => self.host((&name, fields), (&args, &named), at),
            other => Err(self.refused(&other.kind(), "it cannot be called", at)),
        }
    }

    fn stencil(
        &mut self,
        name: &str,
        args: Vec<ObjectValue>,
        named: NamedValues,
        at: Span,
    ) -> Reading<ObjectValue> {
        let Some(stencil) = self.graph.stencils.get(name) else {
            return Err(self.refused(&format!("the stencil `{name}`"), "nothing has that name", at));
        };
        if args.len() > stencil.params.len() {
            let what = format!("the call of `{name}`");
            return Err(self.refused(&what, "it has more arguments than parameters", at));
        }
        let mut given = Vec::new();
        for (param, value) in stencil.params.iter().cloned().zip(args).chain(named) {
            let value = match value {
                ObjectValue::Free(path) => {
                    let position = stencil.params.iter().position(|it| *it == param);
                    let kind = position.and_then(|it| stencil.kinds.get(it)?.clone());
                    let Some(kind) = kind else {
                        let what = format!("`{param}` of `{name}`");
                        return Err(self.refused(&what, "the stencil does not say what it takes", at));
                    };
                    self.free(&path, &kind, at)?
                }
                value => value,
            };
            match value {
                // An argument that is left out.
                ObjectValue::None => {}
                value => match value.argument_entry() {
                    Some(entry) => given.push((param, entry)),
                    None => {
                        let what = format!("{} for `{param}` of `{name}`", value.kind());
                        return Err(self.refused(&what, "it is neither a field nor a number", at));
                    }
                },
            }
        }
        let entry = StatementEntry {
            call: Some(name.to_owned()),
            args: Some(Entries(given)),
            ..StatementEntry::default()
        };
        self.write(entry, at)?;
        Ok(ObjectValue::None)
    }

    fn builtin(
        &mut self,
        builtin: Builtin,
        args: Vec<ObjectValue>,
        named: NamedValues,
        at: Span,
    ) -> Reading<ObjectValue> {
        if builtin == Builtin::Nothing {
            return Ok(ObjectValue::None);
        }
        if let Some((name, _)) = named.first() {
            return Err(self.refused(&format!("the argument `{name}`"), "the function takes no names", at));
        }
        match (builtin, args.as_slice()) {
            (Builtin::Range, _) => self.range(args, at),
            (Builtin::Identity, [value]) => Ok(value.clone()),
            (Builtin::Len, [value]) => {
                let n = self.listed(value, at)?.len();
                Ok(ObjectValue::Int(i64::try_from(n).unwrap_or(i64::MAX)))
            }
            (Builtin::Tuple, [value]) => Ok(ObjectValue::Sequence(self.listed(value, at)?)),
            (Builtin::Enumerate, [value]) => {
                let pairs = (0..).zip(self.listed(value, at)?);
                let pairs = pairs.map(|(n, it)| ObjectValue::Sequence(vec![ObjectValue::Int(n), it]));
                Ok(ObjectValue::Sequence(pairs.collect()))
            }
            (Builtin::Zip, [first, rest @ ..]) => {
                let mut rows: Vec<Vec<ObjectValue>> =
                    self.listed(first, at)?.into_iter().map(|it| vec![it]).collect();
                for other in rest {
                    let column = self.listed(other, at)?;
                    rows.truncate(column.len());
                    rows.iter_mut().zip(column).for_each(|(row, it)| row.push(it));
                }
                Ok(ObjectValue::Sequence(rows.into_iter().map(ObjectValue::Sequence).collect()))
            }
            (Builtin::Scalar(name), _) => {
                let args = match args.as_slice() {
                    [list @ ObjectValue::Sequence(_)] if matches!(name, "min" | "max") => {
                        self.listed(list, at)?
                    }
                    _ => args,
                };
                let args = args
                    .into_iter()
                    .map(|it| self.free_number(it, "float64", at))
                    .collect::<Reading<Vec<_>>>()?;
                let operands: Vec<&ObjectValue> = args.iter().collect();
                self.computed(&operands, at, |it| format!("{name}({})", it.join(", ")))
            }
            _ => Err(self.refused("the call", "the function takes other arguments", at)),
        }
    }

    fn bound(
        &mut self,
        of: ObjectValue,
        method: &str,
        (args, named): (Vec<ObjectValue>, NamedValues),
        at: Span,
    ) -> Reading<ObjectValue> {
        match (of, method) {
            (ObjectValue::Exchange(exchange), _) => {
                self.exchange(exchange, method, at).map(|()| ObjectValue::None)
            }
            (ObjectValue::Communicator, _) => self.communicate(method, args, &named, at),
            (ObjectValue::Table(entries), "keys") => {
                Ok(ObjectValue::Sequence(entries.into_iter().map(|it| it.0).collect()))
            }
            (ObjectValue::Table(entries), "values") => {
                Ok(ObjectValue::Sequence(entries.into_iter().map(|it| it.1).collect()))
            }
            (ObjectValue::Table(entries), "items") => {
                let pairs = entries.into_iter().map(|(key, value)| ObjectValue::Sequence(vec![key, value]));
                Ok(ObjectValue::Sequence(pairs.collect()))
            }
            (ObjectValue::Table(entries), "get") => {
                let key = args.first().cloned().unwrap_or(ObjectValue::None);
                let found = entries.into_iter().find(|it| it.0 == key).map(|it| it.1);
                Ok(found.or_else(|| args.get(1).cloned()).unwrap_or(ObjectValue::None))
            }
            (ObjectValue::Timer, "clock") => Ok(match args.into_iter().next() {
                Some(label @ ObjectValue::Text(_)) => label,
                _ => ObjectValue::None,
            }),
            (ObjectValue::Timer, _) => Ok(ObjectValue::None),
            (other, _) => Err(self.refused(&other.kind(), "it has no such method", at)),
        }
    }

    /// `comm.halo_update(q, n_points=3)` and its like, as NDSL's communicators have them.
    fn communicate(
        &mut self,
        method: &str,
        args: Vec<ObjectValue>,
        named: &NamedValues,
        at: Span,
    ) -> Reading<ObjectValue> {
        let (kind, is_start, n_fields) = match method {
            "halo_update" => ("scalar", false, 1),
            "start_halo_update" => ("scalar", true, 1),
            "vector_halo_update" => ("vector", false, 2),
            "start_vector_halo_update" => ("vector", true, 2),
            _ => return Err(self.refused(&format!("`.{method}`"), "of a communicator", at)),
        };
        let by_name = |name: &str| named.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        let width = by_name("n_points").or_else(|| args.get(n_fields).cloned());
        let width = match width {
            Some(ObjectValue::Int(it)) => u32::try_from(it).ok(),
            None => Some(self.graph.grid.halo),
            Some(_) => None,
        };
        let Some(width) = width else {
            return Err(self.refused("the exchange", "its width is not known", at));
        };
        let names = ["quantity", "x_quantity", "y_quantity"];
        let mut given: Vec<ObjectValue> = args.into_iter().take(n_fields).collect();
        given.extend(names.into_iter().filter_map(by_name));
        let mut fields = Vec::new();
        for it in given {
            match it {
                ObjectValue::Sequence(parts) => fields.extend(parts),
                one => fields.push(one),
            }
        }
        let exchange = ExchangeValue { fields, kind: kind.to_owned(), width, plan: None, interface: None };
        self.exchange(exchange.clone(), if is_start { "start" } else { "update" }, at)?;
        Ok(if is_start { ObjectValue::Exchange(exchange) } else { ObjectValue::None })
    }

    fn exchange(&mut self, exchange: ExchangeValue, method: &str, at: Span) -> Reading<()> {
        let kind = match exchange.kind.as_str() {
            "vector" => ExchangeKindEntry::Vector,
            "interface" => ExchangeKindEntry::Interface,
            _ => ExchangeKindEntry::Scalar,
        };
        let phase = match method {
            "start" => PhaseEntry::Start,
            "wait" => PhaseEntry::Wait,
            _ => PhaseEntry::Update,
        };
        let mut fields = Vec::new();
        for it in exchange.fields {
            let it = self.free_field(it, at)?;
            let (ObjectValue::Field { .. }, Some(entry)) = (&it, it.argument_entry()) else {
                return Err(self.refused(&it.kind(), "halos of fields alone are exchanged", at));
            };
            fields.push(entry);
        }
        let entry = StatementEntry {
            exchange: Some(fields),
            kind: Some(kind),
            width: Some(exchange.width),
            phase: Some(phase),
            plan: exchange.plan,
            ..StatementEntry::default()
        };
        self.write(entry, at)
    }

    /// A callback, with arguments that are known. It reads the fields that it is given, and may write them. One that is known
    /// touches its fields and no others.
    fn host(
        &mut self,
        (callback, known_fields): (&str, Option<Vec<ObjectValue>>),
        (args, named): (&[ObjectValue], &NamedValues),
        at: Span,
    ) -> Reading<ObjectValue> {
        let json = |this: &Self, value: &ObjectValue| {
            value.json().ok_or_else(|| {
                this.refused(&format!("{} for a callback", value.kind()), "only a run knows its value", at)
            })
        };
        let mut entry = HostEntry { callback: callback.to_owned(), ..HostEntry::default() };
        for value in args {
            entry.args.push(json(self, value)?);
        }
        for (name, value) in named {
            entry.keywords.0.push((name.clone(), json(self, value)?));
        }
        let known = self.hosts.iter().find(|it| it.1 == entry).map(|it| it.0.clone());
        let name = known.unwrap_or_else(|| {
            let name = format!("host_{}", self.hosts.len() + 1);
            self.hosts.push((name.clone(), entry));
            name
        });
        // An object may hold any field.
        let is_plain = |it: &ObjectValue| {
            !matches!(it, ObjectValue::Object(_) | ObjectValue::Table(_) | ObjectValue::Sequence(_))
        };
        let is_exact = args.iter().chain(named.iter().map(|it| &it.1)).all(is_plain);
        let exact = (known_fields.is_some() && is_exact).then_some(true);
        let known_fields = known_fields.unwrap_or_default();
        let all = args.iter().chain(named.iter().map(|it| &it.1)).chain(&known_fields);
        let fields: Vec<ArgumentEntry> = all
            .filter(|it| matches!(it, ObjectValue::Field { .. }))
            .filter_map(ObjectValue::argument_entry)
            .collect();
        let entry = StatementEntry {
            host: Some(name),
            reads: Some(fields.clone()),
            writes: Some(fields),
            exact,
            ..StatementEntry::default()
        };
        self.write(entry, at)?;
        Ok(ObjectValue::Unknown("a callback answered it".to_owned()))
    }
}
