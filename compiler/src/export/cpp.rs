//! C++17: a header that takes whatever looks like `std::mdspan`.

use std::fmt::Write as _;

use super::c::described;
use super::{Binding, File, Project, Stencil, listed};
use crate::c::c_type;
use crate::types::DType;

pub(super) const BINDING: Binding =
    Binding { name: "cpp", title: "C++", files, cmake: |_| String::new(), example };

fn files(project: &Project<'_>) -> Vec<File> {
    let guard = format!("{}_STENCIL_HPP", project.name.to_ascii_uppercase());
    let mut text = format!(
        "// Stencils that Isobar compiled, for C++17 and later. README.md says how they are called.\n#ifndef {guard}\n#define {guard}\n\n#include \"{}.h\"\n\n",
        project.name
    );
    text.push_str(include_str!("texts/view.hpp"));
    if project.asks_caller() {
        text.push_str(include_str!("texts/caller.hpp"));
    }
    let _ = writeln!(text, "\nnamespace {} {{\n", project.name);
    for it in &project.stencils {
        text.push_str(&function(it));
    }
    let _ = writeln!(text, "}} // namespace {}\n\n#endif", project.name);
    vec![File::new(format!("include/{}.hpp", project.name), text)]
}

/// As C++ declares a value of this type.
fn cpp_type(dtype: DType) -> String {
    match dtype {
        DType::Bool | DType::Float32 | DType::Float64 => c_type(dtype).to_owned(),
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => format!("std::{}", c_type(dtype)),
    }
}

fn function(stencil: &Stencil<'_>) -> String {
    let mut text = String::new();
    let fields: Vec<usize> = stencil.fields().enumerate().map(|(at, _)| at).collect();
    for (name, what) in described(stencil) {
        let _ = writeln!(text, "// {name}: {what}");
    }
    text.push_str("// Throws isobar::error.\n");
    if !fields.is_empty() {
        let _ = writeln!(text, "template <{}>", listed(fields.iter().map(|at| format!("class Field{at}"))));
    } else {
        text.push_str("inline ");
    }
    let mut n_fields = 0;
    let params = stencil.params.iter().map(|it| match it.field() {
        Some(_) => {
            n_fields += 1;
            format!("const Field{} &{}", n_fields - 1, it.name)
        }
        None => format!("{} {}", cpp_type(it.dtype()), it.name),
    });
    let answer = stencil.asks_caller().then(|| "const isobar::answer &answer".to_owned());
    let params: Vec<String> =
        params.chain(answer).chain(["const isobar::call &call = {}".to_owned()]).collect();
    let _ = writeln!(text, "void {}({})\n{{", stencil.name, listed(params));
    for (at, (it, field)) in stencil.fields().enumerate() {
        if !field.is_used {
            let _ = writeln!(text, "  (void){};", it.name);
            continue;
        }
        let _ = writeln!(
            text,
            "  const isobar_field isobar_{at} = isobar::detail::field<{}, {}, {}>({});",
            cpp_type(it.dtype()),
            field.rank(),
            field.is_written,
            it.name,
        );
    }
    let mut at = 0;
    let arguments = stencil.params.iter().map(|it| match it.field() {
        Some(field) => {
            at += 1;
            if field.is_used { format!("&isobar_{}", at - 1) } else { "nullptr".to_owned() }
        }
        None => it.name.clone(),
    });
    let caller = stencil.asks_caller().then(|| "&caller".to_owned());
    let arguments =
        listed(["&call".to_owned()].into_iter().chain(arguments).chain(caller).chain(["&error".to_owned()]));
    if stencil.asks_caller() {
        text.push_str("  isobar::detail::answering answering{answer, nullptr};\n");
        text.push_str("  const isobar_caller caller{isobar::detail::answering::of, &answering};\n");
    }
    text.push_str("  isobar_error error = ISOBAR_ERROR_INIT;\n");
    let _ = writeln!(text, "  const int status = {}_run({arguments});", stencil.name);
    if stencil.asks_caller() {
        text.push_str("  if (answering.thrown) std::rethrow_exception(answering.thrown);\n");
    }
    text.push_str("  if (status != ISOBAR_OK) throw isobar::error(status, error);\n}\n\n");
    text
}

fn example(project: &Project<'_>) -> String {
    let mut text = String::new();
    for stencil in &project.stencils {
        let _ = writeln!(text, "```cpp\n#include \"{}.hpp\"\n", project.name);
        for (it, field) in stencil.fields() {
            let _ = writeln!(
                text,
                "isobar::view<{}, {}> {}(data, {{/* shape */}}, {{/* strides */}}, {{/* origin */}});",
                cpp_type(it.dtype()),
                field.rank(),
                it.name
            );
        }
        let answer = stencil.asks_caller().then_some("[&](const isobar_event &event) { /* ... */ }");
        let arguments = listed(stencil.params.iter().map(|it| it.name.as_str()).chain(answer));
        let _ = writeln!(text, "{}::{}({arguments});\n```\n", project.name, stencil.name);
    }
    text.push_str("Instead of `isobar::view`, whatever has `data_handle()`, `extent(r)`, `stride(r)` and `rank()` will do: `std::mdspan`, that of Kokkos.\n`isobar::at(span, {3, 3, 0})` gives it an origin.\n");
    text
}
