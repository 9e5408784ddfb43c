//! Values of a run that the request leaves out: the text's directives, and the externals that the text
//! imports.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_front::config::{Config, External, Tile};
use isobar_front::frontend::Program;
use isobar_front::frontend::externals::{ExternalKind, ExternalUse, candidates};
use isobar_front::frontend::models::{ModelClass, models_of};
use isobar_front::frontend::program::{SourceFile, for_each_function};
use isobar_front::frontend::syntax::StmtKind;
use isobar_front::project::Project;
use isobar_ground::call::launch::ScalarInput;
use isobar_ground::diag::Diagnostics;
use isobar_ground::types::Value;
use isobar_protocol::diagnostic::SpanResolver;
use isobar_protocol::worker::{
    DeclaredExternal, Defaults, ExternalValueKind, FunctionSketch, GivenValue, GuessedInputs, MissingModule,
    Plot, StencilPlace, ValueGiver,
};
use isobar_reference::front::Front;
use isobar_reference::inputs::Directives;
use serde_json::{Map, json};

/// The most functions that are offered for one external.
const MAX_FUNCTIONS: usize = 40;

/// The classes of the main file that may be programs.
fn classes(front: &Front, project: &Project, places: &SpanResolver<'_>) -> Vec<StencilPlace> {
    let main = front.files.iter().find(|it| *it.name == *project.main);
    let class = |it: ModelClass| {
        let (file, at, _) = places.of(it.span);
        let (_, first, last) = places.of(it.whole);
        StencilPlace { file, name: it.name, at, lines: [first.line, last.line], is_class: true }
    };
    main.map(|it| models_of(it)).unwrap_or_default().into_iter().map(class).collect()
}

/// The numbers and conditions that the constructor of a class takes, each with its value.
pub(super) fn of_constructor(class: &ModelClass, directives: &Directives) -> Vec<DeclaredExternal> {
    let declared = class.constructor.iter().filter_map(|param| {
        let line = directives.externals.iter().find(|it| it.name == param.name).map(|it| &it.value);
        let (value, by) = match (line, &param.default) {
            (Some(line), _) => (line, ValueGiver::Line),
            (None, Some(default)) => (default, ValueGiver::Default),
            // It is a scalar or a field of the program.
            (None, None) => return None,
        };
        let wanted = match value {
            External::Bool(_) => ExternalValueKind::Condition,
            External::Int(_) if !param.is_float => ExternalValueKind::WholeNumber,
            External::Int(_) | External::Float(_) => ExternalValueKind::Number,
            _ => return None,
        };
        let value = Some(GivenValue { value: external(value), by });
        Some(DeclaredExternal { name: param.name.clone(), value, wanted })
    });
    declared.collect()
}

/// Returns the text's own settings for a run on this part of a tile.
pub(super) fn of(front: &Front, project: &Project, tile: Tile, made: GuessedInputs) -> Defaults {
    let directives = &front.directives;
    let scalars = directives.scalars.iter().map(|it| {
        let value = match it.value {
            ScalarInput::Typed(value) => typed(value),
            ScalarInput::Bool(value) => value.into(),
            ScalarInput::Int(value) => value.into(),
            ScalarInput::Float(value) => number(value),
        };
        (it.name.clone(), value)
    });
    let places = SpanResolver::new(front.sources());
    let mut stencils = stencils(front, project, &places);
    let functions = if stencils.is_empty() { functions(front, project) } else { Vec::new() };
    stencils.extend(classes(front, project, &places));
    Defaults {
        // Only the worker that was asked with generators knows.
        refused: BTreeMap::new(),
        missing: missing(front, &places),
        functions,
        stencils,
        title: directives.title.clone().unwrap_or_default(),
        about: directives.about.join(" "),
        domain: directives.domain,
        plots: directives
            .plots
            .iter()
            .map(|it| Plot { field: it.field.clone(), k: it.k.and_then(|k| u64::try_from(k).ok()) })
            .collect(),
        inputs: directives.inputs.iter().map(|it| (it.field.clone(), it.generator.to_string())).collect(),
        scalars: scalars.collect(),
        documented: super::documented::of(front, project),
        ranges: directives.ranges.clone(),
        has_steps: !directives.steps.is_empty(),
        is_program: false,
        externals: front
            .externals
            .iter()
            .map(|it| DeclaredExternal {
                name: it.name.clone(),
                value: own_value(it, directives, tile, &made),
                wanted: wanted(it, front, project),
            })
            .collect(),
        made,
    }
}

/// The functions of the files that an external may be, the likeliest first.
pub(super) fn functions_for(name: &str, n_args: usize, front: &Front, project: &Project) -> Vec<String> {
    // Parsed already; what is wrong with the files is told of elsewhere.
    let files = front.files.clone();
    let program = Program::new(project, files, &mut Diagnostics::default());
    let mut functions = candidates(&program, name, n_args);
    functions.truncate(MAX_FUNCTIONS);
    functions
}

fn wanted(of: &ExternalUse, front: &Front, project: &Project) -> ExternalValueKind {
    match of.kind {
        ExternalKind::Function { n_args } => {
            ExternalValueKind::Function(functions_for(&of.name, n_args, front, project))
        }
        ExternalKind::Position(_) => ExternalValueKind::Position,
        ExternalKind::Namespace(_) => ExternalValueKind::Object,
        ExternalKind::Int => ExternalValueKind::WholeNumber,
        ExternalKind::Bool => ExternalValueKind::Condition,
        ExternalKind::Float => ExternalValueKind::Number,
    }
}

/// The value that the text gives, or that the compiler knows by itself.
fn own_value(
    of: &ExternalUse,
    directives: &Directives,
    tile: Tile,
    made: &GuessedInputs,
) -> Option<GivenValue> {
    let line = directives.externals.iter().find(|it| it.name == of.name).map(|it| &it.value);
    if let Some(value) = line.or(of.given.as_ref()) {
        return Some(GivenValue { value: external(value), by: ValueGiver::Line });
    }
    let config = Config { tile, ..Config::default() }.for_domain(directives.domain.or(made.domain));
    if let Some(known) = config.external_of_ndsl(&of.name) {
        return Some(GivenValue { value: external(&known), by: ValueGiver::Compiler });
    }
    let value = made.externals.get(&of.name)?.clone();
    Some(GivenValue { value, by: ValueGiver::MadeUp })
}

/// The stencils of all files, those of the main file first.
fn stencils(front: &Front, project: &Project, places: &SpanResolver<'_>) -> Vec<StencilPlace> {
    // A file without the word has no stencil, and is not read for it.
    let may_have = |it: &&Arc<SourceFile>| *it.name == *project.main || it.text.contains("computation");
    let mut files: Vec<_> = front.files.iter().filter(may_have).collect();
    files.sort_by_key(|it| *it.name != *project.main);
    let of_file = |it: &Arc<SourceFile>| {
        let places = it.stencils().into_iter().map(|it| {
            let (file, at, _) = places.of(it.span);
            let (_, first, last) = places.of(it.whole);
            StencilPlace { file, name: it.name, at, lines: [first.line, last.line], is_class: false }
        });
        places.collect::<Vec<_>>()
    };
    files.into_iter().flat_map(of_file).collect()
}

/// The functions of the main file that stencils may call.
fn functions(front: &Front, project: &Project) -> Vec<FunctionSketch> {
    let main = front.files.iter().find(|it| *it.name == *project.main);
    let mut found = Vec::new();
    if let Some(main) = main {
        for_each_function(&main.syntax().body, &mut |it| {
            if it.is_function {
                let params = it.params.iter().filter(|it| it.default.is_none());
                let results = it.body.iter().rev().find_map(|it| match &it.kind {
                    StmtKind::Return(Some(value)) => Some(value.parts().len()),
                    _ => None,
                });
                found.push(FunctionSketch {
                    name: it.name.name.clone(),
                    params: params.map(|it| it.name.name.clone()).collect(),
                    results: results.unwrap_or(1).max(1),
                });
            }
        });
    }
    found.truncate(MAX_FUNCTIONS);
    found
}

fn missing(front: &Front, places: &SpanResolver<'_>) -> Vec<MissingModule> {
    let told = front.missing.iter().map(|it| {
        let (file, at, _) = places.of(it.span);
        let names = it.names.iter().cloned().collect();
        MissingModule { module: it.module.clone(), path: it.path(), names, file, at }
    });
    told.collect()
}

/// As a request document has it; the way back is `Request::config`.
pub(super) fn external(value: &External) -> serde_json::Value {
    match value {
        External::Bool(it) => (*it).into(),
        External::Int(it) => (*it).into(),
        External::Float(it) => number(*it),
        External::Typed(it) => typed(*it),
        External::None => serde_json::Value::Null,
        External::Function(it) => json!({ "function": it }),
        External::Member { enumeration, member } => json!({ "enum": enumeration, "member": member }),
        External::Namespace(members) => {
            let members: Map<_, _> = members.iter().map(|(name, it)| (name.clone(), external(it))).collect();
            json!({ "namespace": members })
        }
        External::Axis { axis, index: Some(index), offset } => {
            json!({ "axis": axis.name(), "index": index, "offset": offset })
        }
        External::Axis { axis, index: None, .. } => json!({ "axis": axis.name() }),
        External::Unsupported(what) => what.as_str().into(),
    }
}

fn typed(value: Value) -> serde_json::Value {
    let number = match value {
        Value::Bool(it) => it.into(),
        Value::Float32(_) | Value::Float64(_) => number(value.as_f64()),
        Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) => value.as_i64().into(),
    };
    json!({ "dtype": value.dtype().to_string(), "value": number })
}

/// A JSON number. NaN and infinities, which JSON lacks, are spelled as text.
fn number(value: f64) -> serde_json::Value {
    serde_json::Number::from_f64(value).map_or_else(
        || {
            let sign = if value < 0.0 { "-" } else { "" };
            if value.is_nan() { "nan".into() } else { format!("{sign}inf").into() }
        },
        serde_json::Value::Number,
    )
}

#[cfg(test)]
mod tests {
    use super::super::Compiler;
    use super::*;
    use isobar_ground::space::Axis;
    use isobar_protocol::request::{self, Request};

    fn defaults(text: &str) -> Defaults {
        defaults_on(None, text)
    }

    fn defaults_on(tile: Option<request::Tile>, text: &str) -> Defaults {
        let files = [("main.py".to_owned(), text.to_owned())].into();
        Compiler::default().compile(&Request { files, tile, ..Request::default() }, None, &|| 0.0).1
    }

    fn given(of: &Defaults, name: &str) -> Option<GivenValue> {
        of.externals.iter().find(|it| it.name == name).expect("it is imported").value.clone()
    }

    #[test]
    fn inputs_and_scalars_are_those_of_the_lines() {
        let found =
            defaults("# @input q bell(at_i=0.4)\n# @scalar a = 0.5\n# @scalar n = 3\n# @scalar b = true\n");
        assert_eq!(found.inputs["q"], "bell(low=0.0, high=1.0, at_i=0.4, width=0.15)");
        assert_eq!(serde_json::to_string(&found.scalars).unwrap(), r#"{"a":0.5,"b":true,"n":3}"#);
    }

    #[test]
    fn every_line_of_the_help_is_understood() {
        let help = include_str!("../../../../static/help.html");
        let codes = || help.split("<code>").skip(1).filter_map(|it| it.split("</code>").next());
        let generators = help.split("class=\"generators\"").nth(1).and_then(|it| it.split("</ul>").next());
        let inputs = generators.unwrap().split("<code>").skip(1).filter_map(|it| it.split("</code>").next());
        let inputs = inputs.enumerate().map(|(at, it)| format!("# @input f{at} {it}"));
        let lines: Vec<String> =
            codes().filter(|it| it.starts_with("# @")).map(str::to_owned).chain(inputs).collect();
        assert!(lines.len() >= 16);
        let (_, unread) = isobar_reference::inputs::directive::read(
            &(lines.join("\n") + "\nq = 1.0\n"),
            isobar_ground::diag::FileId(0),
        );
        assert_eq!(unread, []);
    }

    #[test]
    fn externals_are_those_that_the_stencil_and_its_functions_import() {
        let text = "# @external order = 5\n# @external edge = I[-1] + 1\n# @external stranger = 1\n# @stencil first\n\
            @function\ndef f(q):\n    from __externals__ import order, missing\n    return q\n\
            def first(q: FloatField):\n    with computation(PARALLEL), interval(...):\n        \
            if order > 3:\n            from __externals__ import edge, i_start, order\n        q = f(q)\n\
            def second(q: FloatField):\n    from __externals__ import other\n    \
            with computation(PARALLEL), interval(...):\n        q = 0\n";
        let found = defaults(text);
        let names: Vec<_> = found.externals.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["order", "missing", "edge", "i_start"]);
        assert_eq!(given(&found, "order"), Some(GivenValue { value: 5.into(), by: ValueGiver::Line }));
        assert_eq!(given(&found, "missing"), None);
        let edge = json!({ "axis": "I", "index": -1, "offset": 1 });
        assert_eq!(given(&found, "edge"), Some(GivenValue { value: edge, by: ValueGiver::Line }));
        let start = json!({ "axis": "I", "index": 0, "offset": 0 });
        assert_eq!(given(&found, "i_start"), Some(GivenValue { value: start, by: ValueGiver::Compiler }));
    }

    #[test]
    fn an_edge_that_is_not_near_is_far_away() {
        let text = "def s(q: FloatField):\n    from __externals__ import i_end\n    \
            with computation(PARALLEL), interval(...):\n        with horizontal(region[i_end, :]):\n            q = 1.0\n";
        let found = defaults_on(Some(request::Tile::West), text);
        let far = json!({ "axis": "I", "index": -1, "offset": 32767 });
        assert_eq!(given(&found, "i_end"), Some(GivenValue { value: far, by: ValueGiver::Compiler }));
    }

    #[test]
    fn an_external_is_asked_for_as_the_text_uses_it() {
        let text = "@function\ndef limited(q, low):\n    return max(q, low)\n@function\ndef plain(q):\n    \
            return q\ndef s(q: FloatField):\n    \
            from __externals__ import flux, flag, order, factor, config, edge\n    \
            with computation(PARALLEL), interval(...):\n        if __INLINED(flag and order > 3):\n            \
            q = flux(q) * factor + config.eps\n        with horizontal(region[edge, :]):\n            q = 1.0\n";
        let found = defaults(text);
        let wanted = |name: &str| {
            found.externals.iter().find(|it| it.name == name).expect("it is imported").wanted.clone()
        };
        assert_eq!(wanted("flux"), ExternalValueKind::Function(vec!["plain".to_owned()]));
        assert_eq!(wanted("flag"), ExternalValueKind::Condition);
        assert_eq!(wanted("order"), ExternalValueKind::WholeNumber);
        assert_eq!(wanted("factor"), ExternalValueKind::Number);
        assert_eq!(wanted("config"), ExternalValueKind::Object);
        assert_eq!(wanted("edge"), ExternalValueKind::Position);
    }

    #[test]
    fn what_is_written_for_a_request_reads_back() {
        let all = [
            External::Bool(true),
            External::Int(-3),
            External::Float(3.0),
            External::Float(f64::INFINITY),
            External::Typed(Value::Float32(0.5)),
            External::None,
            External::Function("corners.fill".to_owned()),
            External::Member { enumeration: "E".to_owned(), member: "A".to_owned() },
            External::Namespace([("x".to_owned(), External::Int(1))].into()),
            External::Axis { axis: Axis::J, index: Some(-1), offset: 2 },
            External::Axis { axis: Axis::K, index: None, offset: 0 },
        ];
        for value in all {
            let externals = [("x".to_owned(), external(&value))].into();
            let request = Request { externals, ..Request::default() };
            assert_eq!(request.config(&Directives::default()).externals["x"], value);
        }
    }
}
