//! The meaning of annotations, on parameters and on temporaries.

use super::Builder;
use crate::diag::Span;
use crate::diag::catalog::signature as catalog;
use crate::frontend::constants::{Constant, ElementType, Evaluation, FieldType, Opaque};
use crate::frontend::evaluate::{self, Environment};
use crate::frontend::syntax::{Expr, ExprKind};
use crate::types::DType;

/// The declared type of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DeclaredType {
    Field(FieldType, DType),
    Scalar(DType),
}

/// How Python's `float` and `int` are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PythonTypes {
    /// Always 64 bit: on parameters.
    Double,
    /// As literals: on temporaries and casts.
    Literal,
}

/// Why `Optional[Field]`, `Union[Field, None]` and `Field | None` declare no type.
fn said_optional(expr: &Expr) -> Option<Opaque> {
    let said = match &expr.kind {
        ExprKind::Subscript(of, _) => match of.as_dotted()?.last()? {
            it @ (&"Optional" | &"Union") => format!("{it}[...]"),
            _ => return None,
        },
        ExprKind::Binary(_, _, right) if matches!(right.kind, ExprKind::None) => "... | None".to_owned(),
        _ => return None,
    };
    Some(Opaque::because(format!(
        "`{said}` is none, write the type inside, and `= None` where it may be left out"
    )))
}

impl Builder<'_, '_> {
    /// The type that an annotation declares.
    ///
    /// # Errors
    ///
    /// Why it declares none; `None` where that is reported already.
    pub(super) fn annotation(
        &mut self,
        expr: &Expr,
        python: PythonTypes,
    ) -> Result<DeclaredType, Option<Opaque>> {
        let value = match &expr.kind {
            ExprKind::Str(text) => self.string_annotation(text, expr.span)?,
            ExprKind::Missing => return Err(None),
            _ => {
                let frame = self.frame();
                let environment = Environment::module(frame.scope, frame.defined);
                match (evaluate::expression(self.names, &environment, expr), expr.as_name()) {
                    (Ok(value), _) => value,
                    // A name that only the dtypes know, written without quotes.
                    (Err(_), Some(name)) if self.config.dtypes.contains_key(name) => {
                        Constant::Element(ElementType::Named(name.into()))
                    }
                    (Err(_), _) if let Some(said) = said_optional(expr) => return Err(Some(said)),
                    (Err(opaque), _) => return Err(Some(opaque)),
                }
            }
        };
        self.declared(&value, python, expr.span)
    }

    fn string_annotation(&mut self, text: &str, span: Span) -> Result<Constant, Option<Opaque>> {
        if self.config.dtypes.contains_key(text)
            || DType::from_name(text).is_some()
            || matches!(text, "float" | "int")
        {
            return Ok(Constant::Element(ElementType::Named(text.into())));
        }
        match self.type_text(text, span) {
            Ok(value) => Ok(value),
            Err(_) if text.chars().all(|it| it.is_alphanumeric() || it == '_') => {
                let similar = self.similar_type(text);
                self.report_together(catalog::unknown_dtype(text, span, similar));
                Err(None)
            }
            Err(opaque) => Err(Some(opaque)),
        }
    }

    fn type_text(&self, text: &str, span: Span) -> Evaluation {
        let frame = self.frame();
        let environment = Environment::module(frame.scope, frame.defined);
        evaluate::type_text(self.names, &environment, text, span)
    }

    fn declared(
        &mut self,
        value: &Constant,
        python: PythonTypes,
        span: Span,
    ) -> Result<DeclaredType, Option<Opaque>> {
        match value {
            Constant::Element(ElementType::Named(name)) => {
                // A name may mean a whole field type.
                if let Some(text) = self.config.dtypes.get(&**name)
                    && !matches!(&**name, "float" | "int")
                {
                    return match self.type_text(&text.clone(), span) {
                        Ok(Constant::Element(ElementType::Named(_))) | Err(_) => {
                            let similar = self.similar_type(text);
                            self.report_together(catalog::unknown_dtype(text, span, similar));
                            Err(None)
                        }
                        Ok(value) => self.declared(&value, python, span),
                    };
                }
                Ok(DeclaredType::Scalar(
                    self.element(&ElementType::Named(name.clone()), python, span).ok_or(None)?,
                ))
            }
            Constant::Element(element) => {
                Ok(DeclaredType::Scalar(self.element(element, python, span).ok_or(None)?))
            }
            Constant::Field(field) => {
                let dtype = self.element(&field.element, python, span).ok_or(None)?;
                Ok(DeclaredType::Field(field.clone(), dtype))
            }
            // `T = "float"`
            Constant::Str(text) => match self.string_annotation(text, span)? {
                Constant::Str(_) => Err(Some(Opaque::because("it is a string".to_owned()))),
                value => self.declared(&value, python, span),
            },
            Constant::Class(class) if self.names.is_int_enum(*class) => {
                Ok(DeclaredType::Scalar(self.literal_int))
            }
            other => Err(Some(Opaque::because(format!("it is {}", other.describe())))),
        }
    }

    /// The type of an element; an unknown name is reported.
    fn element(&mut self, element: &ElementType, python: PythonTypes, span: Span) -> Option<DType> {
        let double = python == PythonTypes::Double;
        Some(match element {
            ElementType::Fixed(dtype) => *dtype,
            ElementType::Float if double => DType::Float64,
            ElementType::Int if double => DType::Int64,
            ElementType::Float => self.literal_float,
            ElementType::Int => self.literal_int,
            ElementType::Named(name) => {
                if let Some(text) = self.config.dtypes.get(&**name) {
                    return match self.type_text(&text.clone(), span) {
                        Ok(Constant::Element(
                            element @ (ElementType::Fixed(_) | ElementType::Float | ElementType::Int),
                        )) => self.element(&element, python, span),
                        _ => {
                            let similar = self.similar_type(text);
                            self.report_together(catalog::unknown_dtype(text, span, similar));
                            None
                        }
                    };
                }
                match &**name {
                    "float" => DType::Float64,
                    "int" => DType::Int64,
                    name => match DType::from_name(name) {
                        Some(dtype) => dtype,
                        None => {
                            let similar = self.similar_type(name);
                            self.report_together(catalog::unknown_dtype(name, span, similar));
                            return None;
                        }
                    },
                }
            }
        })
    }
}
