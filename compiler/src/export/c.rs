//! The interface in C, and what stands between it and the generated code.

use std::fmt::Write as _;

use super::kernel::trap_rows;
use super::touched::Hull;
use super::{BINDINGS, Binding, File, Project, Stencil, filled, listed};
use crate::c::c_type;
use crate::space::{Axis, Bound, Level, Region};
use crate::types::DType;

const ABI: &str = include_str!("texts/abi.h");
const CALLER: &str = include_str!("texts/caller_abi.h");
const CHECKS: &str = include_str!("texts/checks.h");

pub(super) const BINDING: Binding =
    Binding { name: "c", title: "C", files: |_| Vec::new(), cmake: |_| String::new(), example };

/// The sources in C, which all other languages call.
pub(super) fn sources(project: &Project<'_>) -> Vec<File> {
    let mut files = vec![File::new(format!("include/{}.h", project.name), header(project))];
    files.push(File::new("src/isobar_checks.h", CHECKS));
    for it in &project.stencils {
        files.push(File::new(format!("src/{}.c", it.name), source(project, it)));
        files.extend(it.kernel.files.iter().cloned());
    }
    files
}

/// The files that are compiled; they include the others.
pub(super) fn source_paths(project: &Project<'_>) -> Vec<String> {
    let of = |it: &Stencil<'_>| {
        std::iter::once(format!("src/{}.c", it.name)).chain(it.kernel.compiled.clone()).collect::<Vec<_>>()
    };
    project.stencils.iter().flat_map(of).collect()
}

/// As the interface names the type.
pub(super) fn constant(dtype: DType) -> String {
    format!("ISOBAR_{}", dtype.name().to_ascii_uppercase())
}

/// The name of each parameter, and its description: `float64 [I, J, K], written`.
pub(super) fn described(stencil: &Stencil<'_>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for it in &stencil.params {
        let dtype = it.dtype().name();
        let text = match it.field() {
            Some(field) => {
                let axes = field.axes.iter().map(|it| it.name().to_string());
                let data = field.data_dims.iter().map(ToString::to_string);
                let dimensions = listed(axes.chain(data));
                let access = match (field.is_used, it.param.access.is_read(), field.is_written) {
                    (false, ..) => "not used",
                    (true, true, true) => "read and written",
                    (true, _, true) => "written",
                    (true, _, false) => "read",
                };
                format!("{dtype} [{dimensions}], {access}")
            }
            None => dtype.to_owned(),
        };
        all.push((it.name.clone(), text));
    }
    all
}

fn header(project: &Project<'_>) -> String {
    let guard = format!("{}_STENCIL_H", project.name.to_ascii_uppercase());
    let mut text = String::new();
    let _ = writeln!(text, "/* Stencils that Isobar compiled. README.md says how they are called. */");
    let _ = writeln!(text, "#ifndef {guard}\n#define {guard}\n");
    text.push_str("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    text.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text.push_str(ABI);
    if project.asks_caller() {
        text.push_str(CALLER);
    }
    text.push('\n');
    for stencil in &project.stencils {
        let _ = writeln!(text, "/* Parameters of {}:", stencil.name);
        for (name, what) in described(stencil) {
            let _ = writeln!(text, "   {name}: {what}");
        }
        if stencil.asks_caller() {
            text.push_str("   caller: carries out the statements that README.md lists\n");
        }
        text.push_str("   `error` may be NULL. The answer is one of ISOBAR_OK and its like. */\n");
        let _ = writeln!(text, "{};\n", prototype(stencil));
        let _ = writeln!(
            text,
            "/* Bytes of `scratch` with which such a call allocates nothing; UINT64_MAX where it would be refused. */"
        );
        let _ = writeln!(text, "{};\n", scratch_prototype(stencil));
    }
    text.push_str("#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    text
}

/// `ret name(a, b)` with a line for each few parameters.
fn function(head: &str, params: &[String]) -> String {
    let mut text = format!("{head}(");
    let indent = 4;
    let mut length = text.len();
    for (at, it) in params.iter().enumerate() {
        if at > 0 {
            text.push(',');
            if length + it.len() > 100 {
                let _ = write!(text, "\n{:indent$}", "");
                length = indent;
            } else {
                text.push(' ');
            }
        }
        text.push_str(it);
        length += it.len() + 2;
    }
    text.push(')');
    text
}

fn prototype(stencil: &Stencil<'_>) -> String {
    let mut params = vec!["const isobar_call *call".to_owned()];
    params.extend(stencil.params.iter().map(|it| match it.field() {
        Some(_) => format!("const isobar_field *{}", it.name),
        None => format!("{} {}", c_type(it.dtype()), it.name),
    }));
    params.extend(stencil.asks_caller().then(|| "const isobar_caller *caller".to_owned()));
    params.push("isobar_error *error".to_owned());
    function(&format!("int32_t {}_run", stencil.name), &params)
}

fn scratch_prototype(stencil: &Stencil<'_>) -> String {
    let mut params = vec!["const isobar_call *call".to_owned()];
    params.extend(stencil.fields().map(|(it, _)| format!("const isobar_field *{}", it.name)));
    function(&format!("uint64_t {}_scratch", stencil.name), &params)
}

fn source(project: &Project<'_>, stencil: &Stencil<'_>) -> String {
    let (fields, scalars) = stencil.passed();
    let given = listed(stencil.fields().map(|(it, _)| it.name.as_str()));
    let unused = stencil.scalars().filter(|it| !scalars.contains(&it.name.as_str()));
    let unused: String = unused.map(|it| format!("  (void){};\n", it.name)).collect();
    // C has no arrays without elements.
    let (n_fields, n_passed) = (stencil.n_fields().max(1), fields.len().max(1));
    let or_none = |text: String, none: &str| if text.is_empty() { none.to_owned() } else { text };
    let traps = trap_rows(&stencil.kernel.traps, &stencil.source.sources);
    let has_traps = if traps.is_empty() { "false" } else { "true" };
    let traps = or_none(traps, "  {0, 0, 0, \"\", \"\"},\n");
    let scalars = or_none(listed(scalars.iter().map(|it| format!("&{it}"))), "NULL");
    let (mut asked, mut event, mut passed) = (String::new(), String::new(), "&run");
    if stencil.asks_caller() {
        asked = format!(
            "  if (caller == NULL || caller->answer == NULL) {{\n    return isobar_fail(error, ISOBAR_WRONG_CALL, \"A02\", \"`{}` leaves statements to its caller, and the call has no function for them\");\n  }}\n",
            stencil.name
        );
        let most = stencil.kernel.of_caller.iter().map(|it| it.fields.len()).max().unwrap_or(0).max(1);
        let values = [("NAME", stencil.name.as_str()), ("MOST", &most.to_string())];
        event = filled(include_str!("texts/event.c"), &values);
        passed = "&((isobar_answered){.call = run, .caller = caller}).call";
    }
    filled(
        include_str!("texts/stencil.c"),
        &[
            ("NAME", &stencil.name),
            ("HEADER", &project.name),
            ("TABLES", &tables(stencil)),
            ("TRAPS", &traps),
            ("HAS_TRAPS", has_traps),
            ("RUN", &prototype(stencil)),
            ("SCRATCH", &scratch_prototype(stencil)),
            ("GIVEN", &or_none(given, "NULL")),
            ("N_FIELDS", &n_fields.to_string()),
            ("N_PASSED", &n_passed.to_string()),
            ("N_KERNEL", &fields.len().to_string()),
            ("ORDER", &or_none(listed(&fields), "0")),
            ("SCALARS", &scalars),
            ("UNUSED", &unused),
            ("OTHERS", &stencil.kernel.refusals),
            ("ASKED", &asked),
            ("PASSED", passed),
            ("EVENT", &event),
        ],
    )
}

/// The tables that the check of a call reads.
fn tables(stencil: &Stencil<'_>) -> String {
    let found = &stencil.kernel.hulls;
    let none = |it: Option<i32>| it.map_or_else(|| "ISOBAR_NONE".to_owned(), |it| it.to_string());
    let hull = |it: &Hull| {
        format!("{{{}, {}, {}, {}}}", none(it.start[0]), none(it.start[1]), none(it.end[0]), none(it.end[1]))
    };
    let bound = |it: Option<Bound>| match it {
        Some(Bound { level: Level::Start, offset }) => format!("{{0, {offset}}}"),
        Some(Bound { level: Level::End, offset }) => format!("{{1, {offset}}}"),
        None => "{0, ISOBAR_NONE}".to_owned(),
    };
    let mut text = "static const isobar_parameter isobar_fields[] = {\n".to_owned();
    for ((it, field), hulls) in stencil.fields().zip(&found.hulls) {
        let boundary = |axis: Axis| match &it.param.kind {
            crate::call::signature::ParamKind::Field { boundary, .. } => boundary[axis.index()],
            crate::call::signature::ParamKind::Scalar { .. } => crate::space::Reach::ZERO,
        };
        let _ = writeln!(
            text,
            "  {{\"{}\", {}, {}, {}, {}, {}, {}, {{{}}}, {{{}}}, {{{}}}, {{{}}}, {{{}}}}},",
            it.name,
            constant(it.dtype()),
            field.axes.len(),
            field.data_dims.len(),
            i32::from(field.is_used),
            i32::from(field.is_written),
            i32::from(hulls.is_some()),
            listed_or_zero(field.axes.iter().map(Axis::index)),
            listed_or_zero(field.data_dims),
            listed(Axis::ALL.map(|axis| boundary(axis).lo)),
            listed(Axis::ALL.map(|axis| boundary(axis).hi)),
            listed(hulls.unwrap_or_default().iter().map(hull)),
        );
    }
    if stencil.n_fields() == 0 {
        text.push_str("  {0},\n");
    }
    text.push_str("};\n\nstatic const isobar_touch isobar_touches[] = {\n");
    for (field, it) in &found.in_regions {
        let Region { i, j } = it.region;
        let _ = writeln!(
            text,
            "  {{{field}, {{{}}}, {{{}}}, {{{}}}, {{{}}}, {{{}}}, {}}},",
            listed(it.reach.map(|it| it.lo)),
            listed(it.reach.map(|it| it.hi)),
            listed([i.start, j.start, Some(it.interval.start)].map(bound)),
            listed([i.end, j.end, Some(it.interval.end)].map(bound)),
            listed(it.offset),
            i32::from(it.is_level_known),
        );
    }
    if found.in_regions.is_empty() {
        text.push_str("  {0},\n");
    }
    text.push_str("};\n\n");
    let _ = writeln!(
        text,
        "static const isobar_stencil isobar_description = {{\"{}\", {}, {}, {}, isobar_fields, isobar_touches}};",
        stencil.name,
        stencil.n_fields(),
        found.in_regions.len(),
        stencil.source.signature.min_levels,
    );
    text.trim_end().to_owned()
}

fn listed_or_zero<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let text = listed(items);
    if text.is_empty() { "0".to_owned() } else { text }
}

/// The last part of a file's name, in letters that end no string and no line.
pub(super) fn harmless(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    last.chars().map(|it| if is_plain(it) { it } else { '_' }).take(200).collect()
}

fn example(project: &Project<'_>) -> String {
    let mut text = String::new();
    for stencil in &project.stencils {
        let _ = writeln!(text, "```c\n#include <stdio.h>\n\n#include \"{}.h\"\n", project.name);
        for (it, field) in stencil.fields() {
            let shape = listed(
                std::iter::repeat_n("10", field.axes.len())
                    .map(str::to_owned)
                    .chain(field.data_dims.iter().map(ToString::to_string)),
            );
            let _ = writeln!(
                text,
                "isobar_field {0} = {{sizeof {0}, {1}, {2}, 0, {0}_data, {{{shape}}}, {{/* strides in elements */}}, {{/* origin */}}}};",
                it.name,
                constant(it.dtype()),
                field.rank(),
            );
        }
        let mut arguments = vec!["NULL".to_owned()];
        arguments.extend(stencil.params.iter().map(|it| match it.field() {
            Some(_) => format!("&{}", it.name),
            None => it.name.clone(),
        }));
        if stencil.asks_caller() {
            let _ = writeln!(
                text,
                "/* int32_t answer(void *user, const isobar_event *event) returns 0 to go on. */"
            );
            let _ = writeln!(text, "isobar_caller caller = {{answer, NULL}};");
            arguments.push("&caller".to_owned());
        }
        arguments.push("&error".to_owned());
        let _ = writeln!(text, "isobar_error error = ISOBAR_ERROR_INIT;");
        let _ = writeln!(text, "if ({}_run({}) != ISOBAR_OK) {{", stencil.name, listed(arguments));
        let _ = writeln!(text, "  fprintf(stderr, \"%s: %s\\n\", error.code, error.message);\n}}\n```\n");
    }
    debug_assert!(BINDINGS.len() > 1, "other languages call this one");
    text
}
