//! The parameters of a stencil.

use super::types::{Declared, PythonTypes};
use super::{Builder, Local};
use crate::defir::nodes::{Field, Param, ParamDefault, ParamKind};
use crate::diag::catalog::{signature as catalog, statements, syntax};
use crate::diag::{Similar, Span, TextEdit};
use crate::frontend::constants::Constant;
use crate::frontend::field_types;
use crate::frontend::syntax::{self as tree, Expr, ExprKind, FunctionDef};
use crate::types::{DType, Value};

impl<'p> Builder<'_, 'p> {
    pub(super) fn signature(&mut self, def: &'p FunctionDef) {
        self.refuse_async(def);
        for name in &def.variadic {
            self.report(catalog::variadic(&name.name, name.span));
        }
        let mut declared: Vec<Option<(&'p tree::Param, Declared)>> = Vec::new();
        // What is wrong with the types, with the parameters that it is wrong with.
        let mut faulty: Vec<(String, Vec<&'p tree::Param>)> = Vec::new();
        for (position, param) in def.params.iter().enumerate() {
            let name = &param.name;
            if let Some(first) = def.params[..position].iter().find(|it| it.name.name == name.name) {
                self.report(syntax::duplicate_parameter(&name.name, name.span, first.name.span));
                continue;
            }
            let Some(annotation) = &param.annotation else {
                if !name.name.is_empty() {
                    self.report(catalog::missing_annotation(&name.name, name.span));
                }
                self.frame_mut().locals.insert(&name.name, Local::Faulty);
                continue;
            };
            match self.annotation(annotation, PythonTypes::Double) {
                Ok(it) => declared.push(Some((param, it))),
                Err(why) => {
                    if let Some(why) = why {
                        match faulty.iter_mut().find(|it| it.0 == why.why) {
                            Some((_, params)) => params.push(param),
                            None => faulty.push((why.why, vec![param])),
                        }
                    }
                    self.frame_mut().locals.insert(&name.name, Local::Faulty);
                }
            }
        }
        for (why, params) in faulty {
            self.faulty_types(&why, &params);
        }
        for (param, declared) in declared.into_iter().flatten() {
            self.parameter(param, declared);
        }
    }

    /// One report for all parameters whose types are wrong for one reason, as a missing import is.
    fn faulty_types(&mut self, why: &str, params: &[&'p tree::Param]) {
        let annotations = || params.iter().filter_map(|it| Some((it, it.annotation.as_ref()?)));
        let places: Vec<(&str, Span)> =
            annotations().map(|(it, at)| (it.name.name.as_str(), at.span)).collect();
        let found = catalog::not_a_parameter_type(&places, why);
        if why == field_types::AXES_BEHIND {
            let edits: Vec<TextEdit> = annotations().flat_map(|it| self.axes_first(it.1)).collect();
            self.report(
                found
                    .help("write the axes first, as in `Field[IK, float]`")
                    .fix("write the axes first", edits),
            );
            return;
        }
        let meant: Option<Vec<(Span, Similar)>> =
            annotations().map(|it| self.similar_type_in(it.1)).collect();
        // One name is meant by all of them, or none is certain.
        let same = meant.filter(|it| it.iter().all(|other| other.1 == it[0].1));
        let found = match same.as_deref() {
            Some([first, rest @ ..]) => {
                let further: Vec<Span> = rest.iter().map(|it| it.0).collect();
                found.did_they_mean(&first.1, first.0, &further)
            }
            _ => found,
        };
        self.report(found);
    }

    /// A stencil or function waits for nothing.
    pub(super) fn refuse_async(&mut self, def: &FunctionDef) {
        for it in &def.asyncs {
            self.report(statements::asynchronous(&def.name.name, *it));
        }
    }

    fn parameter(&mut self, param: &'p tree::Param, declared: Declared) {
        let name = &param.name;
        let (what, local, default) = match declared {
            Declared::Field(it, dtype) => {
                self.taken.insert(name.name.clone());
                let field = self.stencil.fields.push(Field {
                    name: name.name.clone(),
                    axes: it.axes,
                    data_dims: it.data_dims,
                    dtype: Some(dtype),
                    is_temporary: false,
                    span: name.span,
                });
                let default = match &param.default {
                    None => ParamDefault::Required,
                    Some(default) => {
                        if !matches!(default.kind, ExprKind::None | ExprKind::Missing) {
                            self.report(catalog::field_default(&name.name, default.span));
                        }
                        ParamDefault::None
                    }
                };
                (ParamKind::Field(field), Local::Field(field), default)
            }
            Declared::Scalar(dtype) => {
                let scalar = self.scalar(&name.name, dtype, name.span);
                let default = match &param.default {
                    None => ParamDefault::Required,
                    Some(default) => self.scalar_default(&name.name, dtype, default),
                };
                (ParamKind::Scalar(scalar), Local::Scalar(scalar), default)
            }
        };
        self.stencil.params.push(Param { what, is_keyword_only: param.is_keyword_only, default });
        self.frame_mut().locals.insert(&name.name, local);
    }

    /// The default of a scalar, which must have its type: a Python number adapts to the
    /// width of the type, not to its kind.
    fn scalar_default(&mut self, name: &str, dtype: DType, default: &Expr) -> ParamDefault {
        let (value, given) = match self.evaluate(default, true) {
            Ok(Constant::Bool(it)) => ((dtype == DType::Bool).then_some(Value::Bool(it)), "a boolean"),
            Ok(Constant::Int(it) | Constant::Member(it)) => {
                let value = Value::Int64(it).cast(dtype);
                ((dtype.is_int() && value.as_i64() == it).then_some(value), "an integer")
            }
            Ok(Constant::Float(it)) => (dtype.is_float().then(|| Value::Float64(it).cast(dtype)), "a float"),
            Ok(Constant::Typed(it)) => ((it.dtype() == dtype).then_some(it), it.dtype().name()),
            // It has to be passed where a statement uses it.
            Ok(Constant::None) => return ParamDefault::Required,
            Ok(other) => (None, other.describe()),
            Err(_) => (None, "not known while compiling"),
        };
        match value {
            Some(value) => ParamDefault::Value(value),
            None => {
                if !matches!(default.kind, ExprKind::Missing) {
                    let edit = self.retyped(dtype, default);
                    self.report(catalog::default_of_wrong_type(name, dtype, given, default.span, edit));
                }
                ParamDefault::Required
            }
        }
    }
}
