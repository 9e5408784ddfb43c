//! Statements of constructors.

use std::rc::Rc;

use isobar_front::frontend::constants::Constant;
use isobar_front::frontend::evaluate::binary;
use isobar_front::frontend::syntax::{Expr, ExprKind, Stmt, StmtKind};
use isobar_ground::diag::Span;

use super::values::Built;
use super::{Building, ObjectBuilder};

/// How a statement ends.
pub(super) enum BuildFlow<'p> {
    Next,
    Break,
    Continue,
    Return(Built<'p>),
}

impl<'p> ObjectBuilder<'p> {
    pub(super) fn block(&mut self, body: &'p [Stmt]) -> Building<BuildFlow<'p>> {
        for stmt in body {
            match self.stmt(stmt)? {
                BuildFlow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(BuildFlow::Next)
    }

    fn stmt(&mut self, stmt: &'p Stmt) -> Building<BuildFlow<'p>> {
        let at = stmt.span;
        self.count(at)?;
        match &stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Str(_) | ExprKind::Ellipsis, .. })
            | StmtKind::Pass
            | StmtKind::AnnAssign { value: None, .. }
            // It ends the program where it does not hold.
            | StmtKind::Other { what: "assert" | "global" | "nonlocal", .. } => {}
            StmtKind::Expr(expr) => drop(self.expr(expr)?),
            StmtKind::Assign { targets, value } => {
                let wanted = targets.iter().find_map(target_name);
                let value = self.named_expr(value, wanted)?;
                for target in targets {
                    self.assign(target, value.clone())?;
                }
            }
            StmtKind::AnnAssign { target, value: Some(value), .. } => {
                let value = self.named_expr(value, target_name(target))?;
                self.assign(target, value)?;
            }
            StmtKind::AugAssign { target, op, value } => {
                let (old, by) = (self.expr(target)?, self.expr(value)?);
                let new = match (&old, &by) {
                    (Built::List(list), _) => {
                        let more = self.elements(&by, at)?;
                        self.lists[*list].extend(more);
                        return Ok(BuildFlow::Next);
                    }
                    (Built::Constant(one), Built::Constant(other)) => {
                        let made = binary(*op, one, other);
                        Built::Constant(made.map_err(|why| Self::refused("the assignment", &why, at))?)
                    }
                    _ => Built::Unknown(format!("it is computed of {}", by.kind())),
                };
                self.assign(target, new)?;
            }
            StmtKind::If { test, then, otherwise } => {
                let holds = self.holds(test)?;
                return self.block(if holds { then } else { otherwise });
            }
            StmtKind::For { target, iterable, body, otherwise } => {
                let all = self.expr(iterable)?;
                for it in self.elements(&all, iterable.span)? {
                    self.count(at)?;
                    self.assign(target, it)?;
                    match self.block(body)? {
                        BuildFlow::Next | BuildFlow::Continue => {}
                        BuildFlow::Break => return Ok(BuildFlow::Next),
                        flow @ BuildFlow::Return(_) => return Ok(flow),
                    }
                }
                return self.block(otherwise);
            }
            StmtKind::While { test, body, otherwise } => {
                while self.holds(test)? {
                    self.count(at)?;
                    match self.block(body)? {
                        BuildFlow::Next | BuildFlow::Continue => {}
                        BuildFlow::Break => return Ok(BuildFlow::Next),
                        flow @ BuildFlow::Return(_) => return Ok(flow),
                    }
                }
                return self.block(otherwise);
            }
            StmtKind::Return(value) => {
                let name = self.frames.last().and_then(|it| it.result_name.clone());
                let value = value.as_ref().map_or(Ok(Built::NONE), |it| self.named_expr(it, name.as_deref()))?;
                return Ok(BuildFlow::Return(value));
            }
            StmtKind::Function(def) => {
                let frame = self.frames.last().cloned();
                let Some(frame) = frame else { return Ok(BuildFlow::Next) };
                self.set(&def.name.name, Built::Local { def, frame });
            }
            StmtKind::Import(names) | StmtKind::ImportFrom { names, .. } => {
                for it in names {
                    let bound = it.alias.as_ref().unwrap_or(&it.name);
                    let last = it.name.name.rsplit('.').next().unwrap_or_default();
                    self.set(&bound.name, Built::Outside(last.to_owned()));
                }
            }
            StmtKind::Other { what: "raise", .. } => {
                let why = format!("it comes to `{}`", self.program.text(at));
                return Err(Self::refused("the constructor", &why, at));
            }
            StmtKind::Other { what: "break", .. } => return Ok(BuildFlow::Break),
            StmtKind::Other { what: "continue", .. } => return Ok(BuildFlow::Continue),
            StmtKind::With { .. } | StmtKind::Try { .. } | StmtKind::Class(_) | StmtKind::Other { .. } => {
                return Err(Self::refused("the statement", "constructors are not followed through it", at));
            }
        }
        Ok(BuildFlow::Next)
    }

    /// Whether a condition holds.
    pub(super) fn holds(&mut self, test: &'p Expr) -> Building<bool> {
        let value = self.expr(test)?;
        self.truth(&value).ok_or_else(|| Self::unknown("the condition", &value, test.span))
    }

    /// Whether Python counts a value as true; `None` where that is not known.
    pub(super) fn truth(&self, value: &Built<'p>) -> Option<bool> {
        match value {
            Built::Constant(Constant::Unsupported(_)) => None,
            Built::Constant(it) => isobar_front::frontend::evaluate::truth(it),
            Built::List(it) => Some(!self.lists[*it].is_empty()),
            Built::Table(it) => Some(!self.tables[*it].is_empty()),
            Built::Tuple(it) => Some(!it.is_empty()),
            Built::Field(_) | Built::Elements(_) => None,
            it if it.is_unknown() => None,
            _ => Some(true),
        }
    }

    /// Gives a local a value.
    pub(super) fn set(&mut self, name: &str, value: Built<'p>) {
        if let Some(frame) = self.frames.last() {
            Rc::clone(&frame.names).borrow_mut().insert(name.to_owned(), value);
        }
    }

    pub(super) fn assign(&mut self, target: &'p Expr, value: Built<'p>) -> Building<()> {
        let at = target.span;
        match &target.kind {
            ExprKind::Name(name) => {
                self.set(name, value);
                Ok(())
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                let values = self.elements(&value, at)?;
                if values.len() != targets.len() {
                    let why = format!("{} values for {} names", values.len(), targets.len());
                    return Err(Self::refused("the assignment", &why, at));
                }
                targets.iter().zip(values).try_for_each(|(target, it)| self.assign(target, it))
            }
            ExprKind::Attribute(of, name) => match self.expr(of)? {
                Built::Object(it) => {
                    self.objects[it].attributes.insert(name.name.clone(), value);
                    Ok(())
                }
                // Settings of the framework change nothing that is stood in for.
                Built::Outside(_) | Built::Unknown(_) | Built::Helper(super::BuildHelper::Setting(_)) => {
                    Ok(())
                }
                other => Err(Self::refused(
                    &format!("the assignment of `.{}`", name.name),
                    &format!("of {}", other.kind()),
                    at,
                )),
            },
            ExprKind::Subscript(of, index) => self.store(of, index, value, at),
            _ => Err(Self::refused("the assignment", "its target is no name", at)),
        }
    }

    /// `list[n] = value`, `table[key] = value`, and `field.data[:] = 1.0` for a whole field.
    fn store(&mut self, of: &'p Expr, index: &'p Expr, value: Built<'p>, at: Span) -> Building<()> {
        let object = self.expr(of)?;
        match &object {
            Built::List(list) => {
                let index = self.expr(index)?;
                let Some(place) = self.place(&index, self.lists[*list].len()) else {
                    return Err(Self::refused("the assignment", "the list has no such element", at));
                };
                self.lists[*list][place] = value;
                Ok(())
            }
            Built::Table(table) => {
                let key = self.expr(index)?;
                self.put(*table, key, value);
                Ok(())
            }
            Built::Elements(name) | Built::Field(name) => {
                let is_whole = |it: &Expr| {
                    let all = ExprKind::Slice { lower: None, upper: None, step: None };
                    it.kind == all || it.kind == ExprKind::Ellipsis
                };
                let number = match &value {
                    Built::Constant(it) => super::finish::number(it),
                    _ => None,
                };
                let (true, Some(number)) = (index.parts().iter().all(is_whole), number) else {
                    let why = "a field of the constructor gets one number for all of its elements";
                    return Err(Self::refused("the assignment", why, at));
                };
                if let Some((_, field)) = self.fields.iter_mut().find(|it| it.0 == *name) {
                    field.init = Some(number);
                }
                Ok(())
            }
            other => Err(Self::unknown("the assignment", other, at)),
        }
    }

    /// Adds or replaces an entry of a dictionary.
    pub(super) fn put(&mut self, table: usize, key: Built<'p>, value: Built<'p>) {
        let place = self.tables[table].iter().position(|it| self.is_same(&it.0, &key) == Some(true));
        match place {
            Some(place) => self.tables[table][place].1 = value,
            None => self.tables[table].push((key, value)),
        }
    }

    /// The position of an index in a list.
    pub(super) fn place(&self, index: &Built<'p>, n: usize) -> Option<usize> {
        let (index, length) = (index.as_int()?, i64::try_from(n).ok()?);
        let place = usize::try_from(if index < 0 { index + length } else { index }).ok()?;
        (place < n).then_some(place)
    }
}

/// The name that an assignment gives to what it makes: `self._lap` is `lap`.
fn target_name(target: &Expr) -> Option<&str> {
    match &target.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attribute(_, name) => Some(&name.name),
        _ => None,
    }
}
