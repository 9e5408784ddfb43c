//! The statements of a body.

use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::entity::Handle;
use isobar_ground::types::DType;
use itertools::Itertools;

use super::scopes::ends;
use super::{DocumentPath, Elaboration};
use crate::document::nodes::{ScalarText, StatementEntry};
use crate::document::places::PathStep;
use crate::nodes::{ProgramStmt, ProgramStmtKind};
use crate::scalar::from_python::ScalarReader;
use crate::scalar::nodes::ScalarRole;
use crate::scalar::{ScalarExpr, ScalarValue, ScalarVariable};

/// A kind of statement: the entry that says it, those that it needs, and those that it may have.
struct StatementForm {
    word: &'static str,
    needs: &'static [&'static str],
    may: &'static [&'static str],
}

const fn form(
    word: &'static str,
    needs: &'static [&'static str],
    may: &'static [&'static str],
) -> StatementForm {
    StatementForm { word, needs, may }
}

const FORMS: [StatementForm; 13] = [
    form("call", &[], &["args"]),
    form("program", &[], &[]),
    form("for", &["range", "body"], &[]),
    form("while", &["body"], &["limit"]),
    form("if", &["then"], &["else"]),
    form("let", &["be"], &["dtype"]),
    form("copy", &["to"], &[]),
    form("fill", &["with"], &[]),
    form("swap", &[], &[]),
    form("exchange", &[], &["kind", "width", "phase", "plan"]),
    form("host", &[], &["reads", "writes", "gives", "exact"]),
    form("mark", &[], &[]),
    form("trap", &[], &[]),
];

/// The most statements behind all groups: each is checked, and a few groups can name each other many times.
const MOST_STATEMENTS: usize = 1 << 18;

/// The deepest nesting of loops, conditions and groups together. Recursion ends before the stack does.
const MOST_NESTING: usize = 64;

impl<'a> Elaboration<'a> {
    pub(super) fn body(&mut self, body: &'a [StatementEntry], path: &DocumentPath<'a>) -> Vec<ProgramStmt> {
        let mut made = Vec::with_capacity(body.len());
        if self.depth == MOST_NESTING {
            let why = format!("loops, conditions and groups nest {MOST_NESTING} deep at most");
            let told = catalog::unsupported("this body", &why, self.span(path));
            self.tell(told);
            return made;
        }
        self.depth += 1;
        for (at, entry) in body.iter().enumerate() {
            let path: Vec<PathStep<'a>> = path.iter().cloned().chain([PathStep::Index(at)]).collect();
            self.n_statements += 1;
            if self.n_statements == MOST_STATEMENTS {
                let why = format!("{MOST_STATEMENTS} statements are the most, with those of all groups");
                let told = catalog::unsupported("this document", &why, self.span(&path));
                self.tell(told);
            }
            if self.n_statements >= MOST_STATEMENTS {
                break;
            }
            let span = self.place(entry.at.as_ref(), &path);
            if !self.check_form(&path, span) {
                continue;
            }
            if let Some(group) = &entry.program {
                made.extend(self.group(group, span));
                continue;
            }
            if let Some(kind) = self.statement(entry, &path, span) {
                made.push(ProgramStmt { kind, span });
            }
        }
        self.depth -= 1;
        made
    }

    /// Whether the entries of a statement are those of one kind.
    fn check_form(&mut self, path: &DocumentPath<'_>, span: Span) -> bool {
        let place = self.read.places.find(path);
        let has = |word: &str| place.entries.iter().any(|it| it.0 == word);
        let forms = FORMS.iter().filter(|it| has(it.word)).collect_vec();
        let [form] = forms.as_slice() else {
            let words = forms.iter().map(|it| it.word).collect_vec();
            self.tell(catalog::not_one_statement(&words, span));
            return false;
        };
        let known = form.needs.iter().chain(form.may).copied().chain(["at"]).collect_vec();
        let mut wrong = Vec::new();
        for (entry, ..) in
            place.entries.iter().filter(|it| it.0 != form.word && !known.contains(&it.0.as_str()))
        {
            wrong.push(catalog::foreign_entry(entry, form.word, &known, span));
        }
        wrong.extend(
            form.needs.iter().filter(|it| !has(it)).map(|it| catalog::missing_entry(it, form.word, span)),
        );
        let is_right = wrong.is_empty();
        wrong.into_iter().for_each(|it| self.tell(it));
        is_right
    }

    /// The statements of a group, put in here.
    fn group(&mut self, name: &'a str, span: Span) -> Vec<ProgramStmt> {
        let programs = &self.read.document.programs;
        let Some(body) = programs.get(name) else {
            self.tell(catalog::unknown("group", name, programs.names(), span));
            return Vec::new();
        };
        if let Some(at) = self.groups.iter().position(|it| *it == name) {
            let names = self.groups[at..].iter().copied().chain([name]).collect_vec();
            self.tell(catalog::cycle(&names, span));
            return Vec::new();
        }
        self.groups.push(name);
        let made = self.body(body, &[PathStep::Name("programs"), PathStep::Name(name)]);
        self.groups.pop();
        made
    }

    fn statement(
        &mut self,
        entry: &'a StatementEntry,
        path: &DocumentPath<'a>,
        span: Span,
    ) -> Option<ProgramStmtKind> {
        let inner = |name| path.iter().cloned().chain([PathStep::Name(name)]).collect_vec();
        let at = (path, span);
        let kind = if let Some(stencil) = &entry.call {
            ProgramStmtKind::Call(self.call(stencil, entry.args.as_ref(), path, span)?)
        } else if let (Some(variable), Some(range), Some(body)) = (&entry.r#for, &entry.range, &entry.body) {
            self.for_loop(variable, range, body, at)?
        } else if let (Some(condition), Some(body)) = (&entry.r#while, &entry.body) {
            let limit = entry.limit.filter(|it| *it > 0);
            let limit = self.or_tell(limit.ok_or_else(|| catalog::no_limit(span)));
            let condition = self.scalar_expr(condition, self.entry(at, &[PathStep::Name("while")]));
            let before = self.scope.clone();
            let body = self.body(body, &inner("body"));
            // The condition may not hold the first time.
            self.scope = before;
            ProgramStmtKind::While { condition: condition?, limit: limit?, body }
        } else if let (Some(condition), Some(then)) = (&entry.r#if, &entry.then) {
            let condition = self.scalar_expr(condition, self.entry(at, &[PathStep::Name("if")]));
            let before = self.scope.clone();
            let then = self.body(then, &inner("then"));
            let behind_then = std::mem::replace(&mut self.scope, before);
            let otherwise = entry.r#else.as_ref().map_or_else(Vec::new, |it| self.body(it, &inner("else")));
            let behind_otherwise = self.scope.clone();
            self.scope.join((behind_then, ends(&then)), (behind_otherwise, ends(&otherwise)));
            ProgramStmtKind::If { condition: condition?, then, otherwise }
        } else if let (Some(name), Some(value)) = (&entry.r#let, &entry.be) {
            self.let_scalar(name, entry.dtype.as_deref(), value, at)?
        } else if let (Some(from), Some(to)) = (&entry.copy, &entry.to) {
            self.copy(from, to, at)?
        } else if let (Some(target), Some(value)) = (&entry.fill, &entry.with) {
            self.fill(target, value, at)?
        } else if let Some([one, other]) = &entry.swap {
            self.swap(one, other, at)?
        } else if let Some(fields) = &entry.exchange {
            self.exchange(fields, entry, at)?
        } else if let Some(name) = &entry.host {
            self.host(name, entry, at)?
        } else if let Some(label) = &entry.mark {
            ProgramStmtKind::Mark(label.clone())
        } else {
            ProgramStmtKind::Trap(entry.trap.clone()?)
        };
        Some(kind)
    }

    fn for_loop(
        &mut self,
        name: &'a str,
        range: &'a [ScalarText],
        body: &'a [StatementEntry],
        (path, span): (&DocumentPath<'a>, Span),
    ) -> Option<ProgramStmtKind> {
        let number = |it| Some(ScalarExpr::literal(ScalarValue::Int(it)));
        let at = |index| self.entry((path, span), &[PathStep::Name("range"), PathStep::Index(index)]);
        let places = [at(0), at(1), at(2)];
        let range = match range {
            [to] => [number(0), self.scalar_expr(to, places[0]), number(1)],
            [from, to] => [self.scalar_expr(from, places[0]), self.scalar_expr(to, places[1]), number(1)],
            [from, to, by] => [(from, 0), (to, 1), (by, 2)]
                .map(|(it, index): (_, usize)| self.scalar_expr(it, places[index])),
            _ => {
                let why = "a range has its end, its start and end, or these and a step";
                self.tell(catalog::scalar_syntax("range", why, span));
                [None, None, None]
            }
        };
        let variable = self.local(name, Some(DType::Int64), DType::Int64, span);
        let before = self.scope.clone();
        if let Some(variable) = variable {
            self.scope.assigned.insert(variable);
            self.scope.loops.push(variable);
        }
        let inner = path.iter().cloned().chain([PathStep::Name("body")]).collect_vec();
        let body = self.body(body, &inner);
        self.scope.loops.clone_from(&before.loops);
        let [Some(from), Some(to), Some(by)] = range else {
            self.scope = before;
            return None;
        };
        for it in [&from, &to, &by].into_iter().filter(|it| !it.of.is_integral()) {
            let text = self.printed(it);
            let help = "write `int(x)`, or a quotient as `n // 2`";
            self.tell(catalog::scalar_type(&text, "the bounds of a range are integers", help, span));
        }
        if by.as_int() == Some(0) {
            self.tell(catalog::scalar_type(
                "0",
                "a step of zero ends nowhere",
                "write 1 or another step",
                span,
            ));
        }
        let ends = [from.as_int(), to.as_int(), by.as_int()];
        let has_iteration =
            matches!(ends, [Some(from), Some(to), Some(by)] if by > 0 && from < to || by < 0 && from > to);
        if !has_iteration {
            self.scope = before;
        }
        Some(ProgramStmtKind::For { variable: variable?, range: [from, to, by], body })
    }

    fn let_scalar(
        &mut self,
        name: &'a str,
        dtype: Option<&str>,
        value: &'a ScalarText,
        (path, span): (&DocumentPath<'a>, Span),
    ) -> Option<ProgramStmtKind> {
        let place = self.entry((path, span), &[PathStep::Name("be")]);
        let value = self.scalar_expr(value, place);
        let given = match dtype {
            Some(it) => Some(self.dtype(it, path)?),
            None => None,
        };
        let value = value?;
        let variable = self.local(name, given, given.unwrap_or(value.of.dtype()), span)?;
        self.check_becomes(&value, self.program.scalars[variable].dtype, name, place);
        self.scope.assigned.insert(variable);
        Some(ProgramStmtKind::Let { variable, value })
    }

    /// The scalar that a statement gives a value; a new one where none has the name.
    pub(super) fn local(
        &mut self,
        name: &str,
        given: Option<DType>,
        dtype: DType,
        span: Span,
    ) -> Option<Handle<ScalarVariable>> {
        let Some(variable) = self.program.scalars.find(|it| it.name == name) else {
            let is_free = self.check_scalar_name(name, span);
            let variable = ScalarVariable { name: name.to_owned(), dtype, role: ScalarRole::Local, span };
            return is_free.then(|| self.program.scalars.push(variable));
        };
        let known = &self.program.scalars[variable];
        let refused = match known.role {
            ScalarRole::Argument => Some("scalar argument"),
            ScalarRole::Constant(_) => Some("constant"),
            ScalarRole::Local | ScalarRole::State(_) if self.scope.loops.contains(&variable) => {
                Some("variable of a loop around it")
            }
            ScalarRole::Local | ScalarRole::State(_) => None,
        };
        if let Some(role) = refused {
            self.tell(catalog::read_only(name, role, span));
            return None;
        }
        if let Some(given) = given.filter(|it| *it != known.dtype) {
            let told = catalog::other_type(name, known.dtype.name(), given.name(), span);
            self.tell(told);
            return None;
        }
        Some(variable)
    }

    /// A scalar expression whose variables have values here.
    pub(super) fn scalar_expr(&mut self, entry: &'a ScalarText, span: Span) -> Option<ScalarExpr> {
        match entry {
            ScalarText::Text(text) => self.scalar_text(text, span),
            ScalarText::Bool(it) => Some(ScalarExpr::literal(ScalarValue::Bool(*it))),
            // Digits beyond 64 bits are refused as an expression is, and become no float.
            ScalarText::Number(it) => self.scalar_text(&it.to_string(), span),
        }
    }

    pub(super) fn scalar_text(&mut self, text: &str, span: Span) -> Option<ScalarExpr> {
        let reader = ScalarReader { scalars: &self.program.scalars, text, span };
        let read = reader.read();
        let expr = self.or_tell(read)?;
        let mut without = Vec::new();
        expr.each_variable(&mut |it| {
            if !self.scope.assigned.contains(&it) {
                without.push(it);
            }
        });
        for it in without {
            let told = catalog::scalar_without_value(&self.program.scalars[it].name, span);
            self.tell(told);
        }
        Some(expr)
    }

    pub(super) fn printed(&self, expr: &ScalarExpr) -> String {
        crate::scalar::print::printed(expr, &self.program.scalars)
    }

    /// Whether an expression may be stored in something of a type.
    pub(super) fn check_becomes(&mut self, expr: &ScalarExpr, dtype: DType, name: &str, span: Span) {
        if !expr.of.may_become(dtype) {
            let why = format!("its type is {}, and that of `{name}` is {dtype}", expr.of);
            let told =
                catalog::scalar_type(&self.printed(expr), &why, "convert it, as `int(x)` or `x != 0`", span);
            self.tell(told);
        }
    }
}
