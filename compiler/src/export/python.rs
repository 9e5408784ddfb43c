//! Python: a module of its own, on `ctypes`, for whatever has `__array_interface__`.

use std::fmt::Write as _;

use super::c::described;
use super::{ABI, Binding, File, Project, filled, listed};

pub(super) const BINDING: Binding = Binding { name: "python", title: "Python", files, cmake, example };

fn files(project: &Project<'_>) -> Vec<File> {
    let mut functions = String::new();
    for stencil in &project.stencils {
        let params = listed(stencil.params.iter().map(|it| it.name.as_str()));
        let asks = stencil.asks_caller();
        let answer = if asks { ", answer" } else { "" };
        let _ = write!(
            functions,
            "\n\ndef {}({params}, *{answer}, domain=None, origin=None, threads=0):\n    \"\"\"Run the stencil on arrays as they lie.\n\n    Args:\n",
            stencil.name
        );
        for (name, what) in described(stencil) {
            let _ = writeln!(functions, "        {name}: {what}");
        }
        if asks {
            functions.push_str("        answer: takes each `Event`, and returns a dict of the numbers that a callback gives\n");
        }
        functions.push_str(
            "        domain: points along I, J, K; the largest that fits without\n        origin: index of the first of them, for all fields, or a dict with one for each\n        threads: how many; all without\n    \"\"\"\n",
        );
        let mut rows = String::new();
        for it in &stencil.params {
            let _ = match it.field() {
                Some(field) => writeln!(
                    rows,
                    "            (\"{0}\", {0}, \"{1}\", ({2}), {3}),",
                    it.name,
                    it.dtype().name(),
                    field.axes.iter().map(|it| format!("{},", it.index())).collect::<String>(),
                    if field.is_written { "True" } else { "False" },
                ),
                None => writeln!(
                    rows,
                    "            (\"{0}\", {0}, \"{1}\", None, False),",
                    it.name,
                    it.dtype().name()
                ),
            };
        }
        let _ = writeln!(
            functions,
            "    {}(\n        \"{}_run\",\n        [\n{rows}        ],\n        domain,\n        origin,\n        threads,\n{}    )",
            if asks { "_run_asking" } else { "_run" },
            stencil.name,
            if asks { "        answer,\n" } else { "" },
        );
    }
    let text = filled(
        include_str!("texts/module.py"),
        &[
            ("NAME", project.name.as_str()),
            ("UPPER", &project.name.to_ascii_uppercase()),
            ("ABI", &ABI.to_string()),
            ("CALLER", if project.asks_caller() { include_str!("texts/caller.py") } else { "" }),
            ("FUNCTIONS", functions.trim_start_matches('\n').trim_end()),
        ],
    );
    vec![File::new(format!("python/{}.py", project.name), text)]
}

fn cmake(project: &Project<'_>) -> String {
    format!("install(FILES python/{}.py DESTINATION python)\n", project.name)
}

fn example(project: &Project<'_>) -> String {
    let mut text = String::new();
    for stencil in &project.stencils {
        let answer = stencil.asks_caller().then_some("answer=answer");
        let params = listed(stencil.params.iter().map(|it| it.name.as_str()).chain(answer));
        let _ =
            writeln!(text, "```python\nimport {0}\n\n{0}.{1}({params})\n```\n", project.name, stencil.name);
    }
    let _ = writeln!(
        text,
        "The module finds the library beside itself, in `../build` and in `../lib`, or where `{}_LIBRARY` says.\nFields are NumPy arrays with any strides, and whatever else has `__array_interface__`; a call that is refused raises `Error`.",
        project.name.to_ascii_uppercase()
    );
    text
}
