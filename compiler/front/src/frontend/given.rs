//! The arguments in the text itself that say how a stencil is built.
//!
//! They are `externals={...}` and `dtypes={...}` of a decorator, or of a call that is passed the stencil. So
//! a test or a script compiles as it stands.

use std::collections::{BTreeMap, BTreeSet};

use super::bindings::BuildCall;
use super::constants::{Constant, ElementType, FieldType};
use super::evaluate::{self, Environment};
use super::makers::MEANT;
use super::modules::{FunctionId, Names};
use super::program::{StencilName, named};
use super::reaching::Moment;
use super::syntax::{Expr, ExprKind, Keyword};
use crate::config::{Config, External};
use crate::diag::Span;
use crate::types::DType;

/// Values from the text, used where the configuration gives none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextDefaults {
    /// Those whose values are known without running the text.
    pub externals: BTreeMap<String, Constant>,
    /// As [`Config::dtypes`].
    pub dtypes: BTreeMap<String, String>,
    pub literal_int: Option<DType>,
    pub literal_float: Option<DType>,
    /// Arguments that have different values in several builds.
    pub differing: Vec<DifferingArgument>,
    /// Externals of a build whose values are not known, with the reason, and the place where they may change.
    pub unknown: BTreeMap<String, (String, Option<Span>)>,
    /// Arguments whose values are not known, with the place and the reason.
    pub unknown_arguments: Vec<(String, Span, String)>,
}

/// An external, or another argument, that several builds of one stencil give different values.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferingArgument {
    /// The external, or the argument: `dtypes`.
    pub name: String,
    pub is_external: bool,
    /// The name, the place and the value of each build; no value where it is not known.
    pub builds: Vec<(String, Span, Option<String>)>,
}

/// A stencil that is meant, as one of its builds where it is chosen so.
#[derive(Clone, Copy, Debug)]
pub struct StencilPick<'n> {
    pub stencil: FunctionId,
    pub build: Option<&'n str>,
}

/// Returns the values that the decorators of a stencil give, then those of the calls in its file.
#[must_use]
pub fn of(names: &Names<'_>, StencilPick { stencil, build }: StencilPick<'_>) -> TextDefaults {
    let mut given = TextDefaults::default();
    let info = names.function(stencil);
    let environment = Environment::module(info.scope, info.def.span.start);
    for decorator in &info.def.decorators {
        if let ExprKind::Call { keywords, .. } = &decorator.kind {
            given.take(names, &environment, keywords);
        }
    }
    let mut told: Vec<(String, Span, TextDefaults)> = Vec::new();
    for it in handed(names, stencil) {
        let label = label(names, stencil, &it);
        if build.is_some_and(|wanted| wanted != label) {
            continue;
        }
        let environment = Environment::module(it.scope, it.call.span.start);
        let ExprKind::Call { function, keywords, .. } = &it.call.kind else { continue };
        let mut of_build = TextDefaults::default();
        of_build.take(names, &environment, keywords);
        // `stencil(externals={...})(f)`
        if let ExprKind::Call { keywords, .. } = &function.kind {
            of_build.take(names, &environment, keywords);
        }
        told.push((label, it.call.span, of_build));
    }
    given.merge(names, told);
    given
}

/// Names a build by the variable that holds it, or by the stencil with the line of the call.
fn label(names: &Names<'_>, stencil: FunctionId, build: &BuildCall<'_>) -> String {
    let is_alone = |name: &str| handed(names, stencil).iter().filter(|it| it.name == Some(name)).count() == 1;
    match build.name {
        Some(name) if is_alone(name) => name.to_owned(),
        name => {
            let name = name.unwrap_or(&names.function(stencil).def.name.name);
            let start = Span { start: 0, end: build.call.span.start, ..build.call.span };
            format!("{name}:{}", names.text(start).matches('\n').count() + 1)
        }
    }
}

/// The stencils that a name means in the main file, or all: a stencil's own name, or that of one of its builds.
#[must_use]
pub fn meant<'n>(names: &Names<'_>, wanted: Option<&'n str>) -> Vec<(StencilName, Option<&'n str>)> {
    let Some(main) = names.program.main else { return Vec::new() };
    let all = names.program.stencils();
    let Some(wanted) = wanted else { return all.into_iter().map(|it| (it, None)).collect() };
    let found = named(&all, wanted);
    if !found.is_empty() {
        return found.into_iter().map(|it| (it.clone(), None)).collect();
    }
    let is_built = |it: &StencilName| {
        let function = names.functions(main).find(|(_, info)| info.def.name.span == it.span);
        function.is_some_and(|(id, _)| handed(names, id).iter().any(|it| label(names, id, it) == wanted))
    };
    all.iter().filter(|it| is_built(it)).map(|it| (it.clone(), Some(wanted))).collect()
}

/// When the names of a stencil's body are read: as its decorator runs, or as a call builds it.
#[must_use]
pub fn moment(names: &Names<'_>, StencilPick { stencil, build }: StencilPick<'_>) -> Moment {
    let info = names.function(stencil);
    if !info.is_stencil || info.def.is_stencil {
        return info.moment();
    }
    let builds = handed(names, stencil);
    let meant = builds.iter().filter(|it| build.is_none_or(|wanted| wanted == label(names, stencil, it)));
    let places: Vec<u32> = meant.filter(|it| it.scope == info.scope).map(|it| it.call.span.start).collect();
    match (places.iter().min(), places.iter().max()) {
        (Some(&first), Some(&last)) if build.is_some() || places.len() == builds.len() => {
            Moment::between(first, last)
        }
        _ => Moment::after(info.def.span.end),
    }
}

/// The calls of its file that are handed a stencil, in order of the text.
pub(super) fn handed<'p>(names: &Names<'p>, stencil: FunctionId) -> Vec<BuildCall<'p>> {
    let is_handed = |BuildCall { scope, call, .. }: &&BuildCall<'p>| {
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

impl TextDefaults {
    /// Takes what builds tell where they agree, after what is known already.
    fn merge(&mut self, names: &Names<'_>, told: Vec<(String, Span, TextDefaults)>) {
        let keys = |of: fn(&TextDefaults) -> Vec<&String>| -> BTreeSet<String> {
            told.iter().flat_map(|(.., it)| of(it)).cloned().collect()
        };
        for name in keys(|it| it.externals.keys().chain(it.unknown.keys()).collect()) {
            if self.externals.contains_key(&name) {
                continue;
            }
            let values: Vec<(&String, Span, Option<&Constant>)> = told
                .iter()
                .filter(|(.., it)| it.externals.contains_key(&name) || it.unknown.contains_key(&name))
                .map(|(label, span, it)| (label, *span, it.externals.get(&name)))
                .collect();
            let first = values.first().and_then(|(.., it)| it.cloned());
            if values.iter().all(|(.., it)| it.is_some() && *it == first.as_ref()) {
                self.externals.extend(first.map(|it| (name.clone(), it)));
            } else if values.iter().all(|(.., it)| it.is_none()) {
                let why = told.iter().find_map(|(.., it)| it.unknown.get(&name));
                self.unknown.extend(why.map(|it| (name.clone(), it.clone())));
            } else {
                let shown = |it: &Constant| {
                    Some(match it {
                        Constant::Bool(true) => "True".to_owned(),
                        Constant::Bool(false) => "False".to_owned(),
                        Constant::Int(it) | Constant::Member(it) => it.to_string(),
                        Constant::Float(it) => format!("{it:?}"),
                        Constant::Typed(it) => it.to_string(),
                        Constant::Function(id) => format!("`{}`", names.function(*id).def.name.name),
                        other => other.describe().to_owned(),
                    })
                };
                let builds = values
                    .into_iter()
                    .map(|(label, span, it)| (label.clone(), span, it.and_then(shown)))
                    .collect();
                self.differing.push(DifferingArgument { name, is_external: true, builds });
            }
        }
        self.unknown_arguments.extend(told.iter().flat_map(|(.., it)| it.unknown_arguments.iter().cloned()));
        let mut other = |name: &str, of: &dyn Fn(&TextDefaults) -> Option<String>| {
            let values: Vec<(String, Span, Option<String>)> = told
                .iter()
                .filter_map(|(label, span, it)| Some((label.clone(), *span, Some(of(it)?))))
                .collect();
            if values.windows(2).any(|it| it[0].2 != it[1].2) {
                let name = name.to_owned();
                self.differing.push(DifferingArgument { name, is_external: false, builds: values });
                return false;
            }
            true
        };
        if other("dtypes", &|it| (!it.dtypes.is_empty()).then(|| format!("{:?}", it.dtypes))) {
            for (key, value) in told.iter().flat_map(|(.., it)| &it.dtypes) {
                self.dtypes.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        if other("literal_int_precision", &|it| it.literal_int.map(|it| it.to_string())) {
            self.literal_int = self.literal_int.or_else(|| told.iter().find_map(|(.., it)| it.literal_int));
        }
        if other("literal_float_precision", &|it| it.literal_float.map(|it| it.to_string())) {
            self.literal_float =
                self.literal_float.or_else(|| told.iter().find_map(|(.., it)| it.literal_float));
        }
    }

    fn take(&mut self, names: &Names<'_>, environment: &Environment<'_>, keywords: &[Keyword]) {
        for Keyword { name, value, .. } in keywords {
            let Some(name) = name else { continue };
            if !MEANT.contains(&&*name.name) {
                continue;
            }
            let (value_expr, value_span) = (value, value.span);
            match (&*name.name, evaluate::expression(names, environment, value)) {
                ("externals", Ok(Constant::Dict(entries))) => {
                    for (key, value) in entries.iter() {
                        match (key, value) {
                            (Constant::Str(key), Constant::Unsupported(why)) => {
                                let place = || {
                                    let entry = entry_of(value_expr, key)?;
                                    evaluate::expression(names, environment, entry).err()?.change_place()
                                };
                                self.unknown.insert(key.to_string(), (why.to_string(), place()));
                            }
                            (Constant::Str(key), value) => {
                                self.externals.entry(key.to_string()).or_insert_with(|| value.clone());
                            }
                            _ => {}
                        }
                    }
                }
                ("dtypes", Ok(Constant::Dict(entries))) => {
                    for (key, value) in entries.iter() {
                        match (type_text(key), type_text(value), value) {
                            (Some(key), Some(value), _) => {
                                self.dtypes.entry(key).or_insert(value);
                            }
                            // A name that only the dtypes know is told where it is used.
                            (Some(key), None, Constant::Unsupported(why))
                                if matches!(&*key, "float" | "int" | "bool") =>
                            {
                                let argument = (format!("dtypes[{key}]"), value_span, why.to_string());
                                self.unknown_arguments.push(argument);
                            }
                            _ => {}
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
                ("externals", _) => {}
                // A default would be a guess.
                (argument, found) => {
                    let why = match found {
                        Err(opaque) => opaque.why,
                        Ok(other) => format!("it is {}", other.describe()),
                    };
                    self.unknown_arguments.push((argument.to_owned(), value.span, why));
                }
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

/// Finds the entry of a key in a dict that is spelled out.
fn entry_of<'e>(dict: &'e Expr, key: &str) -> Option<&'e Expr> {
    let ExprKind::Dict(entries) = &dict.kind else { return None };
    let is_it = |it: &Expr| matches!(&it.kind, ExprKind::Str(it) if it == key);
    entries.iter().rev().find(|(it, _)| it.as_ref().is_some_and(is_it)).map(|(_, value)| value)
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
