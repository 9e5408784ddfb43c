//! Calls of GTScript functions: their statements are put before the statement that calls.

use std::rc::Rc;

use super::Builder;
use super::computation::Call;
use super::scope::{Alias, Body, Frame, Local, Results};
use super::updates::Usage;
use crate::defir::nodes::{Expr, Field, Stmt};
use crate::diag::catalog::{functions as catalog, names, signature, statements};
use crate::diag::{Span, similar};
use crate::entity::Handle;
use crate::frontend::constants::Constant;
use crate::frontend::modules::{FunctionId, FunctionInfo};
use crate::frontend::syntax::{self as tree, ExprKind, FunctionDef};
use crate::space::AxisSet;
use crate::types::DType;

/// How many calls may stand inside one another.
const MAX_CALLS: usize = 64;

/// The meaning of a parameter in the inlined body.
enum Argument<'p> {
    /// Another name for a constant, or for a variable of the caller.
    Alias(Local, Option<Alias<'p>>),
    /// A temporary that holds the value; `None` where the value had an error.
    Value(Option<Expr>, Span),
}

impl<'p> Builder<'_, 'p> {
    /// A call inside an expression: its one result.
    pub(super) fn call_value(&mut self, id: FunctionId, call: Call<'p>, out: &mut Vec<Stmt>) -> Option<Expr> {
        let (function, body) = self.callable(id, call.span)?;
        let n_results = body.results().len();
        if n_results != 1 {
            self.report(catalog::several_results(&function.def.name.name, n_results, call.span));
            return None;
        }
        let results = self.inline(
            id,
            (function, body),
            call,
            |this, prefix| {
                let name = [prefix, "_result"].concat();
                Some(vec![this.temporary(name, AxisSet::IJK, None, call.span)])
            },
            out,
        )?;
        Some(Self::read(*results.first()?, call.span))
    }

    /// A call that is the whole right-hand side: its results go to the targets.
    pub(super) fn call_into(
        &mut self,
        id: FunctionId,
        call: Call<'p>,
        targets: &'p [tree::Expr],
        declaration: Option<(AxisSet, Option<DType>)>,
        out: &mut Vec<Stmt>,
    ) {
        let built = self.callable(id, call.span).and_then(|(function, body)| {
            let results = body.results().len();
            if results != targets.len() {
                self.report(match targets {
                    [_] => catalog::several_results(&function.def.name.name, results, call.span),
                    _ => statements::counts_differ(targets.len(), results, call.span),
                });
                return None;
            }
            // The caller's names are declared in the caller's body, after the arguments were read.
            if targets.iter().all(|it| it.as_name().is_some() && self.whole_vector(it).is_none()) {
                let results = |this: &mut Self, _: &str| {
                    targets.iter().map(|it| this.target(it, declaration)).collect()
                };
                return self.inline(id, (function, body), call, results, out).map(drop);
            }
            // Elements are found, and assigned, when the results are known.
            let fresh = |this: &mut Self, prefix: &str| {
                let name = [prefix, "_result"].concat();
                Some(
                    targets
                        .iter()
                        .map(|it| this.temporary(name.clone(), AxisSet::IJK, None, it.span))
                        .collect(),
                )
            };
            let results = self.inline(id, (function, body), call, fresh, out)?;
            for (target, result) in targets.iter().zip(results) {
                let aim = self.aim(target, declaration, out)?;
                self.emit(aim, target.span, Self::read(result, call.span), call.span, out);
            }
            Some(())
        });
        if built.is_none() {
            targets.iter().for_each(|it| self.declare_after_error(it));
        }
    }

    /// The function, if it may be called here.
    fn callable(&mut self, id: FunctionId, span: Span) -> Option<(FunctionInfo<'p>, Rc<Body<'p>>)> {
        let function = self.names.function(id);
        let body = self.body(id, function);
        let FunctionDef { name, variadic, .. } = function.def;
        let problem = if function.is_stencil {
            catalog::stencil_called(&name.name, span, name.span)
        } else if !function.is_gtscript {
            self.undecorated(function, span)
        } else if let Some(statement) = self.condition_of {
            catalog::call_in_condition(&name.name, statement, span)
        } else if self.entered.contains(&id) {
            catalog::recursion(&name.name, span, name.span)
        } else if self.entered.len() >= MAX_CALLS {
            catalog::calls_too_deep(&name.name, MAX_CALLS, span)
        } else if let Some(variadic) = variadic.first() {
            signature::variadic(&variadic.name, variadic.span)
        } else {
            match body.returns.as_slice() {
                [(_, Some(_))] => return Some((function, body)),
                [(at, None)] => catalog::return_without_value(*at),
                them => catalog::return_count(&name.name, them.len(), name.span, them.get(1).map(|it| it.0)),
            }
        };
        self.report(problem);
        None
    }

    fn inline(
        &mut self,
        id: FunctionId,
        (function, body): (FunctionInfo<'p>, Rc<Body<'p>>),
        call: Call<'p>,
        targets: impl FnOnce(&mut Self, &str) -> Option<Vec<Handle<Field>>>,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Handle<Field>>> {
        let def = function.def;
        let arguments = self.bind(id, function, &body, call, out)?;
        let count = self.calls.entry(&def.name.name).or_insert(0);
        *count += 1;
        let prefix = format!("{}_{count}", def.name.name);

        let mut calls = vec![call.span];
        calls.extend(&self.frame().calls);
        let mut frame = Frame::of_body(function, function.moment(), body, calls, Some(prefix.clone()));
        let mut is_whole = true;
        frame.function = Some(def);
        for (param, argument) in arguments {
            let local = match argument {
                Argument::Alias(local, alias) => {
                    frame.aliases.extend(alias.map(|it| (param.name.name.as_str(), it)));
                    local
                }
                Argument::Value(value, span) => {
                    let wanted = [&*prefix, "_", &param.name.name].concat();
                    let field = self.temporary(wanted, AxisSet::IJK, None, span);
                    match value {
                        Some(value) => self.emit(field.into(), span, value, span, out),
                        None => is_whole = false,
                    }
                    Local::Field(field)
                }
            };
            frame.locals.insert(&param.name.name, local);
        }
        let targets = targets(self, &prefix)?;
        frame.results = Some(Results { targets: targets.clone() });

        let condition_of = self.condition_of.take();
        let element = self.element.take();
        self.entered.push(id);
        self.frames.push(frame);
        self.import_externals(&def.body);
        self.stmts(&def.body, out);
        self.leave_frame();
        self.entered.pop();
        self.element = element;
        self.condition_of = condition_of;
        is_whole.then_some(targets)
    }

    /// Binds each parameter to its argument, in the order of the signature.
    fn bind(
        &mut self,
        id: FunctionId,
        function: FunctionInfo<'p>,
        body: &Body<'p>,
        call: Call<'p>,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<(&'p tree::Param, Argument<'p>)>> {
        let def = function.def;
        let name = &def.name;
        let fail = |this: &mut Self, why: &str, span| {
            this.report(catalog::bad_call(why, span, name.span));
            None
        };
        let mut given: Vec<Option<&'p tree::Expr>> = vec![None; def.params.len()];
        let by_position = def.params.iter().filter(|it| !it.is_keyword_only).count();
        for (position, argument) in call.args.iter().enumerate() {
            if matches!(argument.kind, ExprKind::Starred(_)) {
                return fail(self, "an argument is unpacked with `*`", argument.span);
            }
            if position >= by_position {
                let why = format!("`{}` takes {by_position} arguments by position", name.name);
                return fail(self, &why, argument.span);
            }
            given[position] = Some(argument);
        }
        for keyword in call.keywords {
            let Some(key) = &keyword.name else {
                return fail(self, "arguments are unpacked with `**`", keyword.span);
            };
            let Some(position) = def.params.iter().position(|it| it.name.name == key.name) else {
                let known = def.params.iter().map(|it| it.name.name.as_str());
                let similar = similar(&key.name, known);
                let found =
                    catalog::unknown_keyword(&name.name, &key.name, key.span, name.span, similar.as_ref());
                self.report(found);
                return None;
            };
            if given[position].replace(&keyword.value).is_some() {
                return fail(self, &format!("`{}` is passed twice", key.name), key.span);
            }
        }
        let functions = self.functions_among(def, call);
        let mut bound = Vec::new();
        for (param, given) in def.params.iter().zip(given) {
            let name = &*param.name.name;
            // A number has no points beside it: where they are read, it is a value at every point.
            let is_number = || given.is_none_or(|it| self.is_known_number(it));
            let is_value = body.bound.contains(name) || body.indexed.contains(name) && is_number();
            let usage = |this: &mut Self| match is_value {
                true => Usage::Assigns,
                false => this.usage(id, name, &functions),
            };
            let argument = match (given, &param.default) {
                (Some(given), _) => self.argument(given, is_value, usage, out),
                (None, Some(default)) => {
                    let usage = usage(self);
                    self.default_argument(function, default, usage)
                }
                (None, None) => {
                    let why = format!("the parameter `{name}` of `{}` is not passed", def.name.name);
                    return fail(self, &why, call.span);
                }
            };
            bound.push((param, argument));
        }
        Some(bound)
    }

    /// Whether an argument is a number that is known while compiling.
    fn is_known_number(&self, given: &tree::Expr) -> bool {
        self.evaluate(given, false).is_ok_and(|it| {
            matches!(it, Constant::Int(_) | Constant::Float(_) | Constant::Bool(_) | Constant::Typed(_))
        })
    }

    /// The argument for one parameter.
    ///
    /// A bare name becomes an alias where the function does not assign the parameter. A constant becomes one
    /// only where the function does not change it either, and a function always. Every other argument is
    /// evaluated into a value. `usage` is computed for constants only.
    fn argument(
        &mut self,
        given: &'p tree::Expr,
        is_value: bool,
        usage: impl FnOnce(&mut Self) -> Usage,
        out: &mut Vec<Stmt>,
    ) -> Argument<'p> {
        if let Some(variable) = given.as_name() {
            let value = self.evaluate(given, false);
            // A function can only be handed on, and constants keep being constants.
            let is_kept = match &value {
                Ok(Constant::Function(_)) => true,
                Ok(_) => usage(self) == Usage::Reads,
                Err(_) => !is_value,
            };
            match (self.local(variable), value) {
                (Some(local), _) if is_kept => {
                    let alias = matches!(local, Local::Field(_) | Local::Scalar(_));
                    let alias = alias.then_some(Alias { variable, span: given.span });
                    return Argument::Alias(local.clone(), alias);
                }
                (None, Ok(value)) if is_kept && !matches!(value, Constant::Axis(_)) => {
                    return Argument::Alias(Local::Known(Ok(value)), None);
                }
                _ => {}
            }
        } else if given.as_dotted().is_some()
            && let Ok(value @ (Constant::Function(_) | Constant::Namespace(_))) = self.evaluate(given, false)
        {
            return Argument::Alias(Local::Known(Ok(value)), None);
        }
        Argument::Value(self.expr(given, out), given.span)
    }

    fn default_argument(
        &mut self,
        function: FunctionInfo<'p>,
        default: &'p tree::Expr,
        usage: Usage,
    ) -> Argument<'p> {
        let FunctionInfo { def, scope, .. } = function;
        let environment = crate::frontend::evaluate::Environment::module(scope, def.span.start);
        let value = crate::frontend::evaluate::expression(self.names, &environment, default);
        match value {
            Ok(value) if usage == Usage::Reads => Argument::Alias(Local::Known(Ok(value)), None),
            Ok(value) => Argument::Value(self.constant(value, "the default", default.span), default.span),
            Err(opaque) => {
                let why = format!("a default is not known while compiling, because {}", opaque.why);
                let found = catalog::bad_call(&why, default.span, def.name.span);
                self.report(names::changed_at(found, opaque.change_place()));
                Argument::Value(None, default.span)
            }
        }
    }
}
