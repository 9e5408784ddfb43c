//! The meaning of the names in one body: that of the stencil, or of a function that is being inlined.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Builder;
use super::fixes::mentions;
use crate::defir::nodes::{Field, Scalar};
use crate::diag::Span;
use crate::diag::catalog::names as catalog;
use crate::entity::Handle;
use crate::frontend::Names;
use crate::frontend::constants::{Constant, Evaluation, Opaque};
use crate::frontend::evaluate::{self, Environment};
use crate::frontend::modules::{FunctionId, FunctionInfo, ScopeId};
use crate::frontend::program::for_each_external;
use crate::frontend::reaching::Moment;
use crate::frontend::syntax::{Expr, ExprKind, FunctionDef, Keyword, Stmt, StmtKind};

/// A name of a body.
#[derive(Clone, Debug)]
pub(super) enum Local {
    Field(Handle<Field>),
    Scalar(Handle<Scalar>),
    /// An external, or a function's parameter that stands for a constant.
    Known(Evaluation),
    /// An external that was imported and has no value.
    Missing {
        imported: Span,
    },
    /// A parameter whose type is not known, which is reported: its uses say nothing new.
    Faulty,
}

/// Where the results of a function go.
#[derive(Clone, Debug)]
pub(super) struct Results {
    pub(super) targets: Vec<Handle<Field>>,
}

/// The statements of a function and what they tell wherever it is called.
#[derive(Debug)]
pub(super) struct Body<'p> {
    pub(super) stmts: &'p [Stmt],
    /// Every name that it assigns somewhere, by whatever statement.
    pub(super) assigned: BTreeSet<&'p str>,
    /// Of these the names that some `=` assigns; the others are changed by `+=` and its like alone.
    pub(super) bound: BTreeSet<&'p str>,
    /// Where its statements pass a name, as it is, to what they call.
    pub(super) passed: BTreeMap<&'p str, Vec<CalleeParameter<'p>>>,
    /// Every name that it reads with an index behind it.
    pub(super) indexed: BTreeSet<&'p str>,
    /// Its `return`s, with what each gives back.
    pub(super) returns: Vec<(Span, Option<&'p Expr>)>,
    /// Names that it imports from `__externals__` and that stand nowhere else in the text of the function.
    idle: BTreeSet<&'p str>,
}

/// A name that is an argument of a call.
#[derive(Debug)]
pub(super) struct CalleeParameter<'p> {
    pub(super) callee: &'p Expr,
    pub(super) parameter: Parameter<'p>,
}

/// How a call names a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parameter<'p> {
    At(usize),
    Named(&'p str),
}

/// The caller's variable that a parameter is another name for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alias<'p> {
    pub(super) variable: &'p str,
    /// The argument.
    pub(super) span: Span,
}

/// One body with its names.
#[derive(Debug)]
pub(super) struct Frame<'p> {
    pub(super) locals: BTreeMap<&'p str, Local>,
    /// The function that is being inlined; `None` for the stencil.
    pub(super) function: Option<&'p FunctionDef>,
    /// In a function: the parameters that are variables of the caller.
    pub(super) aliases: BTreeMap<&'p str, Alias<'p>>,
    pub(super) scope: ScopeId,
    /// When the names of the file are read.
    pub(super) moment: Moment,
    /// When those of its annotations are read.
    pub(super) defined: u32,
    /// The calls that led here, from inside out.
    pub(super) calls: Vec<Span>,
    /// Starts the names of temporaries: `flux_2`.
    pub(super) prefix: Option<String>,
    /// In a function: what `return` assigns.
    pub(super) results: Option<Results>,
    pub(super) body: Rc<Body<'p>>,
    /// Missing externals that were read.
    missing_used: RefCell<BTreeSet<String>>,
}

impl Local {
    pub(super) fn is_function(&self) -> bool {
        matches!(self, Local::Known(Ok(Constant::Function(_))))
    }
}

/// An external that a body imports and does not use.
#[derive(Debug)]
pub(super) struct UnusedExternal<'f> {
    pub(super) name: &'f str,
    pub(super) imported: Span,
    pub(super) has_value: bool,
}

impl<'p> Body<'p> {
    fn of(function: FunctionInfo<'p>, names: &Names<'p>) -> Self {
        let stmts = &function.def.body;
        let text = names.text(function.def.span);
        let (mut assigned, mut bound, mut idle) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        assigned_names(stmts, &mut |name, by| {
            assigned.insert(name);
            if by == AssignmentKind::Assignment {
                bound.insert(name);
            }
        });
        let (mut indexed, mut passed) = (BTreeSet::new(), BTreeMap::new());
        for_each_value(stmts, &mut |value| {
            value.walk(&mut |it| match &it.kind {
                ExprKind::Subscript(value, _) => indexed.extend(value.as_name()),
                ExprKind::Call { .. } => passed_names(it, &mut passed),
                _ => {}
            });
        });
        for_each_external(stmts, &mut |alias, _| {
            let bound = &alias.alias.as_ref().unwrap_or(&alias.name).name;
            if mentions(text, bound).nth(1).is_none() {
                idle.insert(bound.as_str());
            }
        });
        let mut returns = Vec::new();
        find_returns(stmts, &mut returns);
        Self { stmts, assigned, bound, passed, indexed, returns, idle }
    }

    /// The values of the one `return`; empty where there is none.
    pub(super) fn results(&self) -> &'p [Expr] {
        match self.returns.as_slice() {
            [(_, Some(value)), ..] => value.parts(),
            _ => &[],
        }
    }
}

impl<'p> Frame<'p> {
    pub(super) fn of_body(
        function: FunctionInfo<'p>,
        moment: Moment,
        body: Rc<Body<'p>>,
        calls: Vec<Span>,
        prefix: Option<String>,
    ) -> Self {
        Self {
            locals: BTreeMap::new(),
            function: None,
            aliases: BTreeMap::new(),
            scope: function.scope,
            moment,
            defined: function.def.span.start,
            calls,
            prefix,
            results: None,
            body,
            missing_used: RefCell::new(BTreeSet::new()),
        }
    }

    /// The externals that the body imports from `__externals__` and does not use.
    ///
    /// An external with a value counts as used where its name stands anywhere else in the function. A branch
    /// that is dropped for this value may need it with another one.
    pub(super) fn unused_externals(&self) -> Vec<UnusedExternal<'p>> {
        let used = self.missing_used.borrow();
        let mut unused = Vec::new();
        for_each_external(self.body.stmts, &mut |alias, _| {
            let bound = &*alias.alias.as_ref().unwrap_or(&alias.name).name;
            let has_value = !matches!(self.locals.get(bound), Some(Local::Missing { .. }));
            let is_used = if has_value { !self.body.idle.contains(bound) } else { used.contains(bound) };
            if !is_used {
                unused.push(UnusedExternal { name: &alias.name.name, imported: alias.name.span, has_value });
            }
        });
        unused
    }
}

fn find_returns<'p>(body: &'p [Stmt], found: &mut Vec<(Span, Option<&'p Expr>)>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Return(value) => found.push((stmt.span, value.as_ref())),
            StmtKind::If { then, otherwise, .. } => {
                find_returns(then, found);
                find_returns(otherwise, found);
            }
            StmtKind::While { body, .. } | StmtKind::With { body, .. } => find_returns(body, found),
            _ => {}
        }
    }
}

/// By what statement a name is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AssignmentKind {
    Assignment,
    /// `+=` and its like.
    Update,
}

/// Tells every name that `body` assigns, at any depth.
fn assigned_names<'p>(body: &'p [Stmt], tell: &mut dyn FnMut(&'p str, AssignmentKind)) {
    fn target<'p>(expr: &'p Expr, by: AssignmentKind, tell: &mut dyn FnMut(&'p str, AssignmentKind)) {
        match &expr.kind {
            ExprKind::Name(name) => tell(name, by),
            ExprKind::Subscript(value, _) => target(value, by, tell),
            ExprKind::Tuple(parts) => parts.iter().for_each(|it| target(it, by, tell)),
            _ => {}
        }
    }
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => {
                targets.iter().for_each(|it| target(it, AssignmentKind::Assignment, tell))
            }
            StmtKind::AnnAssign { target: it, .. } => target(it, AssignmentKind::Assignment, tell),
            StmtKind::AugAssign { target: it, .. } => target(it, AssignmentKind::Update, tell),
            StmtKind::If { then, otherwise, .. } => {
                assigned_names(then, tell);
                assigned_names(otherwise, tell);
            }
            StmtKind::While { body, .. } | StmtKind::With { body, .. } => assigned_names(body, tell),
            _ => {}
        }
    }
}

/// Every value and condition that `body` computes, at any depth.
fn for_each_value<'p>(body: &'p [Stmt], visit: &mut dyn FnMut(&'p Expr)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { value, .. }
            | StmtKind::AugAssign { value, .. }
            | StmtKind::AnnAssign { value: Some(value), .. }
            | StmtKind::Return(Some(value))
            | StmtKind::Expr(value) => visit(value),
            StmtKind::If { test, then, otherwise } => {
                visit(test);
                for_each_value(then, visit);
                for_each_value(otherwise, visit);
            }
            StmtKind::While { test, body, .. } => {
                visit(test);
                for_each_value(body, visit);
            }
            StmtKind::With { body, .. } => for_each_value(body, visit),
            _ => {}
        }
    }
}

/// The names among the arguments of a call.
fn passed_names<'p>(call: &'p Expr, passed: &mut BTreeMap<&'p str, Vec<CalleeParameter<'p>>>) {
    let ExprKind::Call { function: callee, args, keywords } = &call.kind else { return };
    let by_position = args.iter().enumerate().map(|(at, it)| (Parameter::At(at), it));
    let named = |it: &'p Keyword| Some((Parameter::Named(&it.name.as_ref()?.name), &it.value));
    for (parameter, given) in by_position.chain(keywords.iter().filter_map(named)) {
        if let Some(name) = given.as_name() {
            passed.entry(name).or_default().push(CalleeParameter { callee, parameter });
        }
    }
}

impl<'p> Builder<'_, 'p> {
    /// Returns the analysed body of a function. It is analysed once, however often the function is called.
    pub(super) fn body(&mut self, id: FunctionId, function: FunctionInfo<'p>) -> Rc<Body<'p>> {
        Rc::clone(self.bodies.entry(id).or_insert_with(|| Rc::new(Body::of(function, self.names))))
    }

    /// Binds what the body imports from `__externals__`, wherever the import stands.
    pub(super) fn import_externals(&mut self, body: &'p [Stmt]) {
        for_each_external(body, &mut |alias, import| {
            let name = &alias.name;
            if alias.alias.is_some() {
                self.report(catalog::renamed_external(&name.name, import));
            }
            let given = self.given;
            let differs = given.differing.iter().find(|it| it.is_external && it.name == name.name);
            let local = match self.external(&name.name, name.span) {
                _ if let Some(it) = differs
                    && !self.config.externals.contains_key(&name.name) =>
                {
                    if self.told_externals.insert(name.name.clone()) {
                        self.report(catalog::differing_builds(&it.name, true, &it.builds, name.span));
                    }
                    Local::Faulty
                }
                Some(value) => Local::Known(value),
                None => Local::Missing { imported: name.span },
            };
            let bound = alias.alias.as_ref().unwrap_or(name);
            self.frame_mut().locals.insert(&bound.name, local);
        });
    }

    /// The external of that name: as given, as the text tells, or as NDSL gives it.
    pub(super) fn external(&self, name: &str, span: Span) -> Option<Evaluation> {
        if let Some(given) = self.config.externals.get(name) {
            return Some(self.names.external(given, span));
        }
        if let Some(told) = self.given.externals.get(name) {
            return Some(Ok(told.clone()));
        }
        Some(self.names.external(&self.config.external_of_ndsl(name)?, span))
    }

    /// The compile-time value of an expression of the present body.
    pub(super) fn evaluate(&self, expr: &Expr, allows_calls: bool) -> Evaluation {
        let frame = self.frame();
        let locals = |name: &str| self.local_constant(name, expr.span);
        let environment =
            Environment { scope: frame.scope, moment: frame.moment, locals: &locals, allows_calls };
        evaluate::expression(self.names, &environment, expr)
    }

    /// A local name as a constant; `None` where the name is none of the body's.
    fn local_constant(&self, name: &str, span: Span) -> Option<Evaluation> {
        let frame = self.frame();
        let at_run_time = |what| Some(Err(Opaque::new(format!("`{name}` is {what}"), span)));
        match frame.locals.get(name) {
            Some(Local::Known(value)) => Some(value.clone()),
            Some(Local::Field(_)) => at_run_time("a field"),
            Some(Local::Scalar(_)) => at_run_time("a scalar parameter"),
            Some(Local::Faulty) => at_run_time("a parameter without a type"),
            Some(Local::Missing { .. }) => {
                frame.missing_used.borrow_mut().insert(name.to_owned());
                at_run_time("an external without a value")
            }
            None if frame.body.assigned.contains(name) => at_run_time("a variable"),
            None => None,
        }
    }

    /// Reports that a missing external was read.
    pub(super) fn missing_external(&mut self, name: &str, wanted: ExpectedKind, used: Span, imported: Span) {
        self.frame().missing_used.borrow_mut().insert(name.to_owned());
        // A function's parameter may stand for it: then it is used where it was imported, too.
        let name = self.names.text(imported);
        for frame in &self.frames {
            let is_it = |it: &Local| matches!(it, Local::Missing { imported: at } if *at == imported);
            let names = frame.locals.iter().filter(|(_, it)| is_it(it)).map(|(name, _)| (*name).to_owned());
            frame.missing_used.borrow_mut().extend(names);
        }
        // One value is missing, however often it is used.
        if self.told_externals.insert(name.to_owned()) {
            let found = catalog::missing_external(name, wanted.example(), used, imported);
            self.report(match self.given.unknown.get(name) {
                Some((why, place)) => catalog::changed_at(found, *place)
                    .note(format!("its value where the stencil is built is not known, because {why}")),
                None => found,
            });
        }
    }
}

/// The kind of value that the use of an external without value asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExpectedKind {
    Number,
    Integer,
    Condition,
    Position,
    Function,
    Object,
}

impl ExpectedKind {
    /// A value of this kind, as the externals spell it.
    fn example(self) -> &'static str {
        match self {
            Self::Number => "1.0",
            Self::Integer => "1",
            Self::Condition => "true",
            Self::Position => r#"{"axis": "I", "index": 0, "offset": 0}"#,
            Self::Function => r#"{"function": "a_function"}"#,
            Self::Object => r#"{"namespace": {"a_member": 1.0}}"#,
        }
    }
}
