//! Which externals a stencil needs, and what they are used as: a page shows the right control, a test guesses a value.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;

use super::constants::Constant;
use super::evaluate::{self, Environment};
use super::given;
use super::modules::{FunctionId, FunctionInfo, Names};
use super::program::{Program, for_each_external};
use super::syntax::{Comparison, Expr, ExprKind, Keyword, Logical, Sign, Stmt, StmtKind};
use crate::config::{Config, External};
use crate::conventions;
use crate::diag::Span;
use crate::space::Axis;

/// An external that a stencil imports, or a function that it reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalUse {
    pub name: String,
    /// The first import.
    pub span: Span,
    pub kind: ExternalKind,
    /// The value that the text itself tells where the stencil is built.
    pub given: Option<External>,
}

/// The way in which the text uses an external.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternalKind {
    /// It is called, with so many arguments.
    Function { n_args: usize },
    /// It bounds a region along this axis.
    Position(Axis),
    /// Attributes of it are used.
    Namespace(BTreeMap<String, ExternalKind>),
    /// It is compared with integers, or an offset, an index or a bound of an interval.
    Int,
    /// It is a condition.
    Bool,
    /// Every other use.
    Float,
}

/// The externals of the stencils that `stencil` means in the main file, each once, in order of files and
/// text.
///
/// Those of the functions that these stencils reach are included. Without a name, all stencils of the main
/// file are meant.
#[must_use]
pub fn of(program: &Program, names: &Names<'_>, stencil: Option<&str>) -> Vec<ExternalUse> {
    let config = names.config;
    let Some(main) = program.main else { return Vec::new() };
    let meant = given::meant(names, stencil);
    let build = meant.first().and_then(|(_, build)| *build);
    let is_meant = |it: &FunctionInfo<'_>| meant.iter().any(|(meant, _)| meant.span == it.def.name.span);
    let stencils = names.functions(main).filter(|(_, it)| is_meant(it)).map(|(id, _)| id);
    let mut reached: BTreeSet<FunctionId> = stencils.collect();
    let mut waiting: Vec<FunctionId> = reached.iter().copied().collect();
    let told =
        waiting.last().map(|&stencil| given::of(names, given::StencilPick { stencil, build }).externals);
    let told = told.unwrap_or_default();
    while let Some(id) = waiting.pop() {
        let info = names.function(id);
        let mut given = Vec::new();
        for_each_external(&info.def.body, &mut |alias, span| {
            let name = &alias.name.name;
            let value = config.externals.get(name).map(|it| names.external(it, span));
            if let Some(Constant::Function(id)) =
                value.and_then(Result::ok).or_else(|| told.get(name).cloned())
            {
                given.push(id);
            }
        });
        let found = functions_read(names, info);
        let found = found.into_iter().chain(given).filter(|&it| names.function(it).is_gtscript);
        waiting.extend(found.filter(|&it| reached.insert(it)));
    }

    let mut imports: BTreeMap<(Span, &str), FunctionId> = BTreeMap::new();
    for &id in &reached {
        for_each_external(&names.function(id).def.body, &mut |alias, _| {
            imports.insert((alias.name.span, &alias.name.name), id);
        });
    }
    let mut found: Vec<ExternalUse> = Vec::new();
    let mut evidence: BTreeMap<&str, Evidence> = BTreeMap::new();
    let mut followed = BTreeSet::new();
    for (&(span, name), &id) in &imports {
        let entry = evidence.entry(name).or_insert_with(|| {
            found.push(ExternalUse { name: name.to_owned(), span, kind: ExternalKind::Float, given: None });
            Evidence::default()
        });
        if followed.insert((id, name, name.to_owned())) {
            let path = name.to_owned();
            let info = names.function(id);
            let mut use_ =
                ExternalSearch { names, info, name, found: entry, depth: 0, path, followed: &mut followed };
            use_.stmts(&info.def.body);
        }
    }
    for it in &mut found {
        it.kind = evidence.remove(it.name.as_str()).unwrap_or_default().kind(&it.name);
        it.given = told.get(&it.name).and_then(|value| given::as_external(names, value));
    }
    found
}

/// The functions of the files that take `n_args` arguments, each as a path from the main file. Those that
/// resemble `name` come first, and those that are near the main file.
#[must_use]
pub fn candidates(program: &Program, name: &str, n_args: usize) -> Vec<String> {
    let words: Vec<&str> = name.split('_').filter(|it| it.len() > 2 && *it != "func").collect();
    let main = program.main_file();
    let mut found = Vec::new();
    for file in &program.files {
        let near =
            main.map_or(0, |it| it.module.iter().zip(&file.module).take_while(|(a, b)| a == b).count());
        let is_main = main.is_some_and(|it| it.id == file.id);
        // A file without such a word has no such function, and need not be parsed to know it.
        if !is_main && !file.text.contains("function") {
            continue;
        }
        for stmt in &file.syntax().body {
            let StmtKind::Function(def) = &stmt.kind else { continue };
            let required = def.params.iter().filter(|it| it.default.is_none()).count();
            if !def.is_function || !(required..=def.params.len()).contains(&n_args) {
                continue;
            }
            let alike = words.iter().filter(|it| def.name.name.contains(**it)).count();
            let path = match is_main {
                true => def.name.name.clone(),
                false => format!("{}.{}", file.module.join("."), def.name.name),
            };
            found.push((std::cmp::Reverse((alike, is_main, near)), path));
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The functions of the files that a body names.
fn functions_read(names: &Names<'_>, info: FunctionInfo<'_>) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    let environment = Environment::module(info.scope, info.def.span.start);
    for_each_expr(&info.def.body, &mut |expr| {
        // Only what is called or handed on is a function: most names are not.
        let ExprKind::Call { function, args, keywords } = &expr.kind else { return };
        let all = std::iter::once(&**function).chain(args).chain(keywords.iter().map(|it| &it.value));
        for it in all.filter(|it| it.as_dotted().is_some()) {
            if let Ok(Constant::Function(id)) = evaluate::expression(names, &environment, it) {
                found.insert(id);
            }
        }
    });
    found
}

/// Calls `each` for every expression below `body`, also inside others.
pub(super) fn for_each_expr<'p>(body: &'p [Stmt], each: &mut impl FnMut(&'p Expr)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                targets.iter().for_each(|it| it.walk(each));
                value.walk(each);
            }
            StmtKind::AugAssign { target, value, .. } => {
                target.walk(each);
                value.walk(each);
            }
            StmtKind::AnnAssign { target, value, .. } => {
                target.walk(each);
                value.iter().for_each(|it| it.walk(each));
            }
            StmtKind::If { test, then, otherwise } => {
                test.walk(each);
                for_each_expr(then, each);
                for_each_expr(otherwise, each);
            }
            StmtKind::While { test, body, .. } => {
                test.walk(each);
                for_each_expr(body, each);
            }
            StmtKind::With { items, body } => {
                items.iter().for_each(|it| it.context.walk(each));
                for_each_expr(body, each);
            }
            StmtKind::Return(Some(value)) | StmtKind::Expr(value) => value.walk(each),
            _ => {}
        }
    }
}

/// The evidence for the kind of an external.
#[derive(Clone, Debug, Default)]
struct Evidence {
    n_args: Option<usize>,
    axis: Option<Axis>,
    members: BTreeMap<String, Evidence>,
    is_int: bool,
    is_condition: bool,
    is_float: bool,
}

impl Evidence {
    fn kind(self, name: &str) -> ExternalKind {
        if let Some(n_args) = self.n_args {
            return ExternalKind::Function { n_args };
        }
        if let Some(axis) = self.axis {
            return ExternalKind::Position(axis);
        }
        if !self.members.is_empty() {
            let members = self.members.into_iter().map(|(name, it)| {
                let kind = it.kind(&name);
                (name, kind)
            });
            return ExternalKind::Namespace(members.collect());
        }
        match External::of_single_tile(name) {
            Some(External::Axis { axis, .. }) => ExternalKind::Position(axis),
            _ if self.is_int || matches!(name, "k_start" | "k_end") => ExternalKind::Int,
            // `if x` of a number asks whether it is zero; a condition that is also computed with is such a one.
            _ if self.is_condition && !self.is_float => ExternalKind::Bool,
            _ => ExternalKind::Float,
        }
    }
}

/// The use of an expression, as the code around it tells.
#[derive(Clone, Copy, Debug)]
enum UseContext {
    Value,
    Condition,
    Int,
    Bound(Axis),
}

/// How many calls the use of a name is followed through.
const MAX_CALLS: usize = 4;

/// Looks for uses of one name in one body.
struct ExternalSearch<'u, 'p> {
    names: &'u Names<'p>,
    info: FunctionInfo<'p>,
    name: &'u str,
    found: &'u mut Evidence,
    depth: usize,
    /// The name as the stencil that imports it would write it.
    path: String,
    /// The searches made so far: a name of a body, and the path that it stands for there.
    followed: &'u mut BTreeSet<(FunctionId, &'p str, String)>,
}

impl<'p> ExternalSearch<'_, 'p> {
    fn stmts(&mut self, body: &'p [Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { targets, value } => {
                    targets.iter().for_each(|it| self.expr(it, UseContext::Value));
                    self.expr(value, UseContext::Value);
                }
                StmtKind::AugAssign { target, value, .. } => {
                    self.expr(target, UseContext::Value);
                    self.expr(value, UseContext::Value);
                }
                StmtKind::AnnAssign { target, value, .. } => {
                    self.expr(target, UseContext::Value);
                    value.iter().for_each(|it| self.expr(it, UseContext::Value));
                }
                StmtKind::If { test, then, otherwise } => {
                    self.expr(test, UseContext::Condition);
                    self.stmts(then);
                    self.stmts(otherwise);
                }
                StmtKind::While { test, body, .. } => {
                    self.expr(test, UseContext::Condition);
                    self.stmts(body);
                }
                StmtKind::With { items, body } => {
                    items.iter().for_each(|it| self.expr(&it.context, UseContext::Value));
                    self.stmts(body);
                }
                StmtKind::Return(Some(value)) | StmtKind::Expr(value) => self.expr(value, UseContext::Value),
                _ => {}
            }
        }
    }

    /// The evidence for the name or the attribute of it that `expr` is.
    fn evidence(&mut self, expr: &Expr) -> Option<&mut Evidence> {
        let dotted = expr.as_dotted()?;
        let (first, rest) = dotted.split_first()?;
        if *first != self.name {
            return None;
        }
        let mut found = &mut *self.found;
        for member in rest {
            found = found.members.entry((*member).to_owned()).or_default();
        }
        Some(found)
    }

    fn expr(&mut self, expr: &'p Expr, role: UseContext) {
        if let Some(found) = self.evidence(expr) {
            match role {
                UseContext::Value => found.is_float = true,
                UseContext::Condition => found.is_condition = true,
                UseContext::Int => found.is_int = true,
                UseContext::Bound(axis) => found.axis = Some(axis),
            }
            return;
        }
        match &expr.kind {
            ExprKind::Unary(Sign::Not, operand) => self.expr(operand, UseContext::Condition),
            ExprKind::Unary(_, operand) => self.expr(operand, role),
            ExprKind::Binary(_, left, right) => {
                // `i_start + n`: a bound of a region is moved by integers.
                let moves = matches!(role, UseContext::Bound(_));
                self.expr(left, role);
                self.expr(right, if moves { UseContext::Int } else { role });
            }
            ExprKind::Logical(Logical::And | Logical::Or, operands) => {
                operands.iter().for_each(|it| self.expr(it, UseContext::Condition));
            }
            ExprKind::Compare(left, rest) => self.compare(left, rest),
            ExprKind::Ternary { test, then, otherwise } => {
                self.expr(test, UseContext::Condition);
                self.expr(then, role);
                self.expr(otherwise, role);
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) => parts.iter().for_each(|it| self.expr(it, role)),
            ExprKind::Attribute(value, _) => self.expr(value, UseContext::Value),
            ExprKind::Subscript(value, index) if value.as_name() == Some("region") => {
                for (part, axis) in index.parts().iter().zip([Axis::I, Axis::J]) {
                    self.expr(part, UseContext::Bound(axis));
                }
            }
            ExprKind::Subscript(value, index) => {
                self.expr(value, UseContext::Value);
                index.parts().iter().for_each(|it| self.expr(it, UseContext::Int));
            }
            ExprKind::Slice { lower, upper, step } => {
                [lower, upper, step].into_iter().flatten().for_each(|it| self.expr(it, role));
            }
            ExprKind::Call { function, args, keywords } => self.call(function, args, keywords),
            _ => {}
        }
    }

    fn call(&mut self, function: &'p Expr, args: &'p [Expr], keywords: &'p [Keyword]) {
        let all = || args.iter().chain(keywords.iter().map(|it| &it.value));
        if let Some(found) = self.evidence(function) {
            found.n_args = Some(args.len() + keywords.len());
            all().for_each(|it| self.expr(it, UseContext::Value));
            return;
        }
        let role = match function.as_dotted().and_then(|it| it.last().copied()) {
            // A level: `q.at(K=n)`.
            Some("interval" | "at") => UseContext::Int,
            Some("__INLINED" | "compile_assert") => UseContext::Condition,
            _ => UseContext::Value,
        };
        if !all().any(|it| self.evidence(it).is_some()) {
            all().for_each(|it| self.expr(it, role));
            return;
        }
        // A name that is handed on is what the function uses its parameter as.
        let environment = Environment::module(self.info.scope, self.info.def.span.start);
        let callee = match evaluate::expression(self.names, &environment, function) {
            Ok(Constant::Function(id)) if self.depth < MAX_CALLS => Some(id),
            _ => None,
        };
        for (position, argument) in args.iter().enumerate() {
            let params = callee.map(|it| &self.names.function(it).def.params);
            let param = params.and_then(|it| it.get(position)).map(|it| it.name.name.as_str());
            self.argument(argument, callee, param, role);
        }
        for Keyword { name, value, .. } in keywords {
            self.argument(value, callee, name.as_ref().map(|it| it.name.as_str()), role);
        }
    }

    fn argument(
        &mut self,
        argument: &'p Expr,
        callee: Option<FunctionId>,
        param: Option<&'p str>,
        role: UseContext,
    ) {
        let (Some(id), Some(name), true) = (callee, param, self.evidence(argument).is_some()) else {
            return self.expr(argument, role);
        };
        let members = argument.as_dotted().unwrap_or_default();
        let path = std::iter::once(self.path.as_str()).chain(members.into_iter().skip(1)).join(".");
        if !self.followed.insert((id, name, path.clone())) {
            return;
        }
        let (names, depth, info) = (self.names, self.depth + 1, self.names.function(id));
        let mut followed = std::mem::take(self.followed);
        if let Some(found) = self.evidence(argument) {
            ExternalSearch { names, info, name, found, depth, path, followed: &mut followed }
                .stmts(&info.def.body);
        }
        *self.followed = followed;
    }

    fn compare(&mut self, left: &'p Expr, rest: &'p [(Comparison, Expr)]) {
        let sides = || std::iter::once(left).chain(rest.iter().map(|(_, right)| right));
        let mut role = UseContext::Value;
        for side in sides() {
            if self.evidence(side).is_some() {
                continue;
            }
            let environment = Environment::module(self.info.scope, self.info.def.span.start);
            for part in side.parts() {
                match evaluate::expression(self.names, &environment, part) {
                    Ok(Constant::Int(_) | Constant::Member(_)) => role = UseContext::Int,
                    Ok(Constant::Bool(_) | Constant::None) => role = UseContext::Condition,
                    _ => {}
                }
            }
        }
        for side in sides() {
            // A side with arithmetic, such as `x + 1` in `x + 1 > 2`, takes only the role `Int` from others.
            let is_plain = side.as_dotted().is_some();
            self.expr(
                side,
                if is_plain || matches!(role, UseContext::Int) { role } else { UseContext::Value },
            );
        }
    }
}

/// Makes up a plausible value of an external; `None` for a function.
///
/// If models have a conventional value for the name and it fits the use, that value is taken. Otherwise the
/// use alone decides. `int` and `switch` are the values of integers and conditions that have no convention.
#[must_use]
pub fn made_up(name: &str, kind: &ExternalKind, int: i64, switch: bool, config: &Config) -> Option<External> {
    let usual = || conventions::number(name).or_else(|| number_of_ndsl(name, config));
    #[expect(clippy::cast_precision_loss, reason = "conventional integers are small")]
    Some(match (kind, usual()) {
        (ExternalKind::Function { .. }, _) => return None,
        (ExternalKind::Position(axis), _) => {
            let is_end = name.ends_with("end") || name.ends_with('e');
            External::Axis { axis: *axis, index: Some(if is_end { -1 } else { 0 }), offset: 0 }
        }
        (ExternalKind::Namespace(members), _) => {
            let made = |(member, kind): (&String, &ExternalKind)| {
                Some((member.clone(), made_up(member, kind, int, switch, config)?))
            };
            External::Namespace(members.iter().filter_map(made).collect())
        }
        (ExternalKind::Int, Some(it @ External::Int(_))) => it,
        (ExternalKind::Int, Some(External::Bool(it))) => External::Int(i64::from(it)),
        (ExternalKind::Int, _) => External::Int(int),
        (ExternalKind::Bool, Some(it @ External::Bool(_))) => it,
        (ExternalKind::Bool, Some(External::Int(it))) => External::Bool(it != 0),
        (ExternalKind::Bool, _) => External::Bool(switch),
        (ExternalKind::Float, Some(External::Int(it))) => External::Float(it as f64),
        (ExternalKind::Float, Some(it)) => it,
        (ExternalKind::Float, None) => External::Float(0.5),
    })
}

/// NDSL's constant of that name in any spelling: `tice` is `TICE`.
fn number_of_ndsl(name: &str, config: &Config) -> Option<External> {
    match super::ndsl_constants::value(&name.to_ascii_uppercase(), config)? {
        Constant::Int(it) => Some(External::Int(it)),
        Constant::Typed(it) => Some(External::Float(it.as_f64())),
        _ => None,
    }
}

/// A plausible value of an external that is used so; `None` for a function, which only the files have.
#[must_use]
pub fn guess(kind: &ExternalKind) -> Option<External> {
    Some(match kind {
        ExternalKind::Function { .. } => return None,
        ExternalKind::Position(axis) => External::Axis { axis: *axis, index: Some(0), offset: 0 },
        ExternalKind::Namespace(members) => {
            let members = members.iter().filter_map(|(name, kind)| Some((name.clone(), guess(kind)?)));
            External::Namespace(members.collect())
        }
        ExternalKind::Int => External::Int(1),
        ExternalKind::Bool => External::Bool(true),
        ExternalKind::Float => External::Float(0.5),
    })
}
