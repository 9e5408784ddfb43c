//! Functions that change a variable of their caller.
//!
//! A parameter is another name for the caller's variable where the argument is a bare name and the function
//! never assigns the parameter with `=`. So `x *= 2.0` in the function changes the variable. GT4Py works so, and
//! published models are validated with it.

use std::collections::{BTreeMap, BTreeSet};

use super::Builder;
use super::computation::Call;
use super::scope::Parameter;
use crate::diag::Span;
use crate::diag::catalog::warnings::{self as catalog, ChangedArgument};
use crate::frontend::constants::{Constant, Opaque};
use crate::frontend::evaluate::{self, Environment};
use crate::frontend::modules::{FunctionId, FunctionInfo};
use crate::frontend::program::for_each_external;
use crate::frontend::syntax::{self as tree, FunctionDef};

/// The parameters of a call that are functions.
pub(super) type Functions<'p> = BTreeMap<&'p str, FunctionId>;

/// How a function uses a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// It only reads it.
    Reads,
    /// It changes it, and whatever variable it is another name for: with `+=` and its like, or in a function that it calls.
    Changes,
    /// It assigns it with `=`, so that the parameter is a variable of its own.
    Assigns,
}

/// The questions asked so far, so that functions that call each other twice are visited once.
type UsageQueries<'p> = BTreeSet<(FunctionId, &'p str, Functions<'p>)>;

impl<'p> Builder<'_, 'p> {
    /// How `function` uses its parameter `name`.
    pub(super) fn usage(&mut self, id: FunctionId, name: &'p str, functions: &Functions<'p>) -> Usage {
        self.usage_once(id, name, functions, &mut UsageQueries::new())
    }

    fn usage_once(
        &mut self,
        id: FunctionId,
        name: &'p str,
        functions: &Functions<'p>,
        asked: &mut UsageQueries<'p>,
    ) -> Usage {
        let function = self.names.function(id);
        let body = self.body(id, function);
        if body.bound.contains(name) {
            return Usage::Assigns;
        }
        if body.assigned.contains(name) {
            return Usage::Changes;
        }
        let Some(passed) = body.passed.get(name) else { return Usage::Reads };
        if !asked.insert((id, name, functions.clone())) {
            return Usage::Reads;
        }
        for it in passed {
            let Some(callee) = self.function_in(function, it.callee, functions) else { continue };
            let params = &self.names.function(callee).def.params;
            let parameter = match it.parameter {
                Parameter::At(position) => params.get(position),
                Parameter::Named(name) => params.iter().find(|it| it.name.name == name),
            };
            let Some(parameter) = parameter else { continue };
            // A function that this one hands on keeps its meaning under the other name.
            let handed_on = body.passed.iter().flat_map(|(name, places)| {
                let known = functions.get(name);
                places.iter().filter_map(move |place| Some((place, *known?)))
            });
            let of_callee = handed_on
                .filter(|(place, _)| place.callee.span == it.callee.span)
                .filter_map(|(place, known)| Some((name_of(place.parameter, params)?, known)));
            let of_callee: Functions<'p> = of_callee.collect();
            if self.usage_once(callee, &parameter.name.name, &of_callee, asked) == Usage::Changes {
                return Usage::Changes;
            }
        }
        Usage::Reads
    }

    /// The function that a name in the body of `function` means, wherever that is called.
    fn function_in(
        &self,
        function: FunctionInfo<'p>,
        callee: &'p tree::Expr,
        functions: &Functions<'p>,
    ) -> Option<FunctionId> {
        callee.as_dotted()?;
        let FunctionInfo { def, scope, .. } = function;
        let moment = function.moment();
        let locals = |name: &str| {
            if let Some(&known) = functions.get(name) {
                return Some(Ok(Constant::Function(known)));
            }
            let mut found = None;
            for_each_external(&def.body, &mut |alias, _| {
                if alias.alias.as_ref().unwrap_or(&alias.name).name == name {
                    found = self.external(&alias.name.name, alias.name.span);
                }
            });
            let is_parameter = || def.params.iter().any(|it| it.name.name == name);
            let unknown = || Err(Opaque::because(format!("`{name}` is a parameter")));
            found.or_else(|| is_parameter().then(unknown))
        };
        let environment = Environment { scope, moment, locals: &locals, allows_calls: false };
        match evaluate::expression(self.names, &environment, callee) {
            Ok(Constant::Function(id)) => Some(id),
            _ => None,
        }
    }

    /// The arguments of a call that are functions, by parameter.
    pub(super) fn functions_among(&self, def: &'p FunctionDef, call: Call<'p>) -> Functions<'p> {
        let by_position = def.params.iter().zip(call.args);
        let by_name = call.keywords.iter().filter_map(|it| {
            let name = &it.name.as_ref()?.name;
            Some((def.params.iter().find(|param| param.name.name == *name)?, &it.value))
        });
        let function = |given: &tree::Expr| match self.evaluate(given, false) {
            Ok(Constant::Function(id)) => Some(id),
            _ => None,
        };
        by_position
            .chain(by_name)
            .filter(|(_, given)| given.as_dotted().is_some())
            .filter_map(|(param, given)| Some((param.name.name.as_str(), function(given)?)))
            .collect()
    }

    /// Notes where an update in a function changes a variable of its caller.
    pub(super) fn note_update(&mut self, target: &tree::Expr, operator: tree::Operator) {
        let Some(written) = base_name(target) else { return };
        let Some((variable, mut places)) = self.variable_behind(written) else { return };
        let called = self.frames.len() - places.len();
        let call = self.frames.get(called).and_then(|it| it.calls.first().copied());
        let (Some(argument), Some(call)) = (places.pop(), call) else { return };
        let Some(function) = self.frame().function else { return };
        let Some(param) = function.params.iter().find(|it| it.name.name == written) else { return };
        let changes = self.changes.entry((call, function.name.span)).or_default();
        // The first statement tells for all of a parameter.
        if changes.iter().any(|it| it.param == param.name.name) {
            return;
        }
        changes.push(ChangedArgument {
            function: &function.name.name,
            param: &param.name.name,
            operator: operator.symbol(),
            variable,
            argument,
            update: target.span,
            passed_on: places,
        });
    }

    /// Warns of what functions change, once for each call.
    pub(super) fn tell_changes(&mut self) {
        for changes in std::mem::take(&mut self.changes).into_values() {
            if let [first, others @ ..] = changes.as_slice() {
                self.report(catalog::arguments_changed(first, others));
            }
        }
    }

    /// Follows a parameter that is an alias to the variable behind it, through all functions that pass it on.
    /// Returns the name of the variable and the arguments of the calls, innermost first. `None` if `written`
    /// is no such parameter.
    pub(super) fn variable_behind(&self, written: &str) -> Option<(&'p str, Vec<Span>)> {
        let mut places = Vec::new();
        let mut found: Option<&'p str> = None;
        for frame in self.frames.iter().rev() {
            let Some(alias) = frame.aliases.get(found.unwrap_or(written)) else { break };
            places.push(alias.span);
            found = Some(alias.variable);
        }
        Some((found?, places))
    }
}

/// The name of a parameter among those of a function.
fn name_of<'p>(parameter: Parameter<'p>, params: &'p [tree::Param]) -> Option<&'p str> {
    match parameter {
        Parameter::At(position) => params.get(position).map(|it| it.name.name.as_str()),
        Parameter::Named(name) => Some(name),
    }
}

/// The name that an update changes: `x` in `x[0, 0, -1] *= 2.0`.
fn base_name(target: &tree::Expr) -> Option<&str> {
    match &target.kind {
        tree::ExprKind::Name(name) => Some(name),
        tree::ExprKind::Subscript(value, _) => base_name(value),
        _ => None,
    }
}
