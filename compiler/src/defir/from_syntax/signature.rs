//! The parameters of a stencil.

use super::types::{Declared, PythonTypes};
use super::{Builder, Local};
use crate::defir::nodes::{Field, Param, ParamDefault, ParamKind};
use crate::diag::catalog::{signature as catalog, syntax};
use crate::frontend::constants::Constant;
use crate::frontend::syntax::{self as tree, Expr, ExprKind, FunctionDef};
use crate::types::{DType, Value};

impl<'p> Builder<'_, 'p> {
    pub(super) fn signature(&mut self, def: &'p FunctionDef) {
        for name in &def.variadic {
            self.report(catalog::variadic(&name.name, name.span));
        }
        let mut declared: Vec<Option<(&'p tree::Param, Declared)>> = Vec::new();
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
                        let similar = self.similar_type_in(annotation);
                        let (name, span) = (&name.name, annotation.span);
                        self.report(catalog::not_a_parameter_type(name, &why.why, span, similar));
                    }
                    self.frame_mut().locals.insert(&name.name, Local::Faulty);
                }
            }
        }
        for (param, declared) in declared.into_iter().flatten() {
            self.parameter(param, declared);
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
