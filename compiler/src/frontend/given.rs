//! What the text itself tells of how a stencil is built: `externals={...}` and `dtypes={...}` of a decorator, or of a
//! call that is handed the stencil. So a test or a script compiles as it stands.

use std::collections::BTreeMap;

use super::bindings::Build;
use super::constants::{Constant, ElementType, FieldType};
use super::evaluate::{self, Environment};
use super::makers::MEANT;
use super::modules::{FunctionId, Names};
use super::syntax::{Expr, ExprKind, Keyword};
use crate::config::{Config, External};
use crate::types::DType;

/// The arguments that tell something.
/// What stands in for what nobody else gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Those whose values are known without running the text.
    pub externals: BTreeMap<String, Constant>,
    /// As [`Config::dtypes`].
    pub dtypes: BTreeMap<String, String>,
    pub literal_int: Option<DType>,
    pub literal_float: Option<DType>,
}

/// What the decorators of a stencil, then the calls in its file, tell; what is told first holds.
#[must_use]
pub fn of(names: &Names<'_>, stencil: FunctionId) -> Given {
    let mut given = Given::default();
    let info = names.function(stencil);
    let environment = Environment::module(info.scope, info.def.span.start);
    for decorator in &info.def.decorators {
        if let ExprKind::Call { keywords, .. } = &decorator.kind {
            given.take(names, &environment, keywords);
        }
    }
    for Build { scope, call } in handed(names, stencil) {
        let environment = Environment::module(scope, call.span.start);
        let ExprKind::Call { function, keywords, .. } = &call.kind else { continue };
        given.take(names, &environment, keywords);
        // `stencil(externals={...})(f)`
        if let ExprKind::Call { keywords, .. } = &function.kind {
            given.take(names, &environment, keywords);
        }
    }
    given
}

/// The calls of its file that are handed a stencil, in order of the text.
pub(super) fn handed<'p>(names: &Names<'p>, stencil: FunctionId) -> Vec<Build<'p>> {
    let is_handed = |Build { scope, call }: &&Build<'p>| {
        let ExprKind::Call { args, keywords, .. } = &call.kind else { return false };
        let environment = Environment::module(*scope, call.span.start);
        let is_stencil = |it: &Expr| match it.as_dotted() {
            Some(_) => match evaluate::expression(names, &environment, it) {
                Ok(Constant::Function(id)) => id == stencil,
                _ => false,
            },
            None => false,
        };
        args.iter().chain(keywords.iter().map(|it| &it.value)).any(is_stencil)
    };
    names.builds(stencil.file).iter().filter(is_handed).copied().collect()
}

impl Given {
    fn take(&mut self, names: &Names<'_>, environment: &Environment<'_>, keywords: &[Keyword]) {
        for Keyword { name, value, .. } in keywords {
            let Some(name) = name else { continue };
            if !MEANT.contains(&&*name.name) {
                continue;
            }
            match (&*name.name, evaluate::expression(names, environment, value)) {
                ("externals", Ok(Constant::Dict(entries))) => {
                    for (key, value) in entries.iter() {
                        if let (Constant::Str(key), false) = (key, matches!(value, Constant::Unsupported(_)))
                        {
                            self.externals.entry(key.to_string()).or_insert_with(|| value.clone());
                        }
                    }
                }
                ("dtypes", Ok(Constant::Dict(entries))) => {
                    for (key, value) in entries.iter() {
                        if let (Some(key), Some(value)) = (type_text(key), type_text(value)) {
                            self.dtypes.entry(key).or_insert(value);
                        }
                    }
                }
                ("literal_int_precision", Ok(Constant::Int(bits @ (32 | 64)))) => {
                    let wanted = if bits == 32 { DType::Int32 } else { DType::Int64 };
                    self.literal_int.get_or_insert(wanted);
                }
                ("literal_float_precision", Ok(Constant::Int(bits @ (32 | 64)))) => {
                    let wanted = if bits == 32 { DType::Float32 } else { DType::Float64 };
                    self.literal_float.get_or_insert(wanted);
                }
                _ => {}
            }
        }
    }

    /// The configuration with what it does not say itself.
    #[must_use]
    pub fn complete(&self, config: &Config) -> Config {
        let mut config = config.clone();
        for (key, value) in &self.dtypes {
            config.dtypes.entry(key.clone()).or_insert_with(|| value.clone());
        }
        config
    }
}

/// A type as the dtypes of a configuration write it.
fn type_text(value: &Constant) -> Option<String> {
    let element = |it: &ElementType| match it {
        ElementType::Fixed(dtype) => dtype.name().to_owned(),
        ElementType::Float => "float".to_owned(),
        ElementType::Int => "int".to_owned(),
        ElementType::Named(name) => name.to_string(),
    };
    match value {
        Constant::Element(it) => Some(element(it)),
        Constant::Str(it) => Some(it.to_string()),
        Constant::Field(FieldType { axes, element: of, data_dims, is_table }) => {
            let sizes: String = data_dims.iter().map(|it| format!("{it},")).collect();
            Some(match (is_table, data_dims.is_empty()) {
                (true, _) => format!("GlobalTable[({}, ({sizes}))]", element(of)),
                (false, true) => format!("Field[{axes}, {}]", element(of)),
                (false, false) => format!("Field[{axes}, ({}, ({sizes}))]", element(of)),
            })
        }
        _ => None,
    }
}

/// The constant as a value that a request may hold; `None` for what only the text has.
#[must_use]
pub fn as_external(names: &Names<'_>, value: &Constant) -> Option<External> {
    Some(match value {
        Constant::Bool(it) => External::Bool(*it),
        Constant::Int(it) | Constant::Member(it) => External::Int(*it),
        Constant::Float(it) => External::Float(*it),
        Constant::Typed(it) => External::Typed(*it),
        Constant::None => External::None,
        Constant::Axis(axis) => External::Axis { axis: *axis, index: None, offset: 0 },
        Constant::Position(it) => External::Axis { axis: it.axis, index: Some(it.index), offset: it.offset },
        Constant::Function(id) => External::Function(names.function(*id).def.name.name.clone()),
        Constant::Namespace(members) => {
            let members =
                members.iter().filter_map(|(name, it)| Some((name.clone(), as_external(names, it)?)));
            External::Namespace(members.collect())
        }
        _ => return None,
    })
}
