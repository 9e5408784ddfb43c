//! The parameters of a stencil.

use super::types::{DeclaredType, PythonTypes};
use super::{Builder, Local};
use crate::defir::nodes::{Field, Param, ParamDefault, ParamKind};
use crate::diag::catalog::{names, signature as catalog, statements, syntax};
use crate::diag::{Similar, Span, TextEdit};
use crate::frontend::constants::{Constant, Opaque};
use crate::frontend::field_types;
use crate::frontend::syntax::{self as tree, Expr, ExprKind, FunctionDef};
use crate::types::{DType, Value};

impl<'p> Builder<'_, 'p> {
    pub(super) fn signature(&mut self, def: &'p FunctionDef) {
        self.refuse_async(def);
        for name in &def.variadic {
            self.report(catalog::variadic(&name.name, name.span));
        }
        let mut declared: Vec<Option<(&'p tree::Param, DeclaredType)>> = Vec::new();
        // Each fault of a type, with the parameters that have it.
        let mut faulty: Vec<(String, Option<Span>, Vec<&'p tree::Param>)> = Vec::new();
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
                        let place = why.change_place();
                        match faulty.iter_mut().find(|it| (it.0.as_str(), it.1) == (&why.why, place)) {
                            Some((.., params)) => params.push(param),
                            None => faulty.push((why.why, place, vec![param])),
                        }
                    }
                    self.frame_mut().locals.insert(&name.name, Local::Faulty);
                }
            }
        }
        for (why, place, params) in faulty {
            self.faulty_types(&why, place, &params);
        }
        for (param, declared) in declared.into_iter().flatten() {
            self.parameter(param, declared);
        }
    }

    /// One report for all parameters whose types are wrong for one reason, as a missing import is.
    fn faulty_types(&mut self, why: &str, place: Option<Span>, params: &[&'p tree::Param]) {
        let annotations = || params.iter().filter_map(|it| Some((it, it.annotation.as_ref()?)));
        let places: Vec<(&str, Span)> =
            annotations().map(|(it, at)| (it.name.name.as_str(), at.span)).collect();
        let found = names::changed_at(catalog::not_a_parameter_type(&places, why), place);
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

    fn parameter(&mut self, param: &'p tree::Param, declared: DeclaredType) {
        let name = &param.name;
        let (what, local, default) = match declared {
            DeclaredType::Field(it, dtype) => {
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
            DeclaredType::Scalar(dtype) => {
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
        let evaluated = self.evaluate(default, true);
        let place = evaluated.as_ref().err().and_then(Opaque::change_place);
        let (value, given) = match evaluated {
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
                    let found = catalog::default_of_wrong_type(name, dtype, given, default.span, edit);
                    self.report(names::changed_at(found, place));
                }
                ParamDefault::Required
            }
        }
    }
}
