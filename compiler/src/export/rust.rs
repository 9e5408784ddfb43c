//! Rust: a crate without dependencies that compiles the C, or links what was built.

use std::fmt::Write as _;

use super::c::{described, source_paths};
use super::{Binding, File, Project, Stencil, build, filled, listed};
use crate::types::DType;

pub(super) const BINDING: Binding =
    Binding { name: "rust", title: "Rust", files, cmake: |_| String::new(), example };

fn files(project: &Project<'_>) -> Vec<File> {
    let upper = project.name.to_ascii_uppercase();
    let quoted = |all: &[&str]| listed(all.iter().map(|it| format!("\"{it}\"")));
    let [of_all, of_gcc] = build::flags(project);
    let sources = source_paths(project).into_iter().map(|it| format!("\"{it}\""));
    let externs: String = project.stencils.iter().map(external).collect();
    let functions: String = project.stencils.iter().map(function).collect();
    let values = [
        ("NAME", project.name.as_str()),
        ("UPPER", &upper),
        ("FLAGS", &quoted(&of_all)),
        ("GCC_FLAGS", &quoted(&of_gcc)),
        ("SOURCES", &listed(sources)),
        ("EXTERNS", externs.trim_end()),
        ("CALLER", if project.asks_caller() { include_str!("texts/caller.rs.txt") } else { "" }),
        ("FUNCTIONS", functions.trim_end()),
    ];
    let file = |path: &str, text: &str| File::new(format!("rust/{path}"), filled(text, &values));
    vec![
        file("Cargo.toml", include_str!("texts/Cargo.toml.txt")),
        file("build.rs", include_str!("texts/build.rs.txt")),
        file("src/lib.rs", include_str!("texts/lib.rs.txt")),
    ]
}

/// As Rust declares an element or a value of this type.
fn rust_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "i8",
        DType::Int16 => "i16",
        DType::Int32 => "i32",
        DType::Int64 => "i64",
        DType::Float32 => "f32",
        DType::Float64 => "f64",
    }
}

fn external(stencil: &Stencil<'_>) -> String {
    let params = stencil.params.iter().map(|it| match it.field() {
        Some(_) => format!("{}: *const Field", it.name),
        None => format!("{}: {}", it.name, rust_type(it.dtype())),
    });
    let params = listed(
        ["call: *const CallOptions".to_owned()]
            .into_iter()
            .chain(params)
            .chain(stencil.asks_caller().then(|| "caller: *const Caller".to_owned()))
            .chain(["error: *mut Report".to_owned()]),
    );
    format!("    fn {}_run({params}) -> i32;\n", stencil.name)
}

fn function(stencil: &Stencil<'_>) -> String {
    let mut text = "/// Runs the stencil on arrays as they lie.\n///\n".to_owned();
    for (name, what) in described(stencil) {
        let _ = writeln!(text, "/// - `{name}`: {}", what.replace('[', "(").replace(']', ")"));
    }
    text.push_str("///\n/// # Errors\n///\n/// What does not fit, or what ended the run.\n");
    text.push_str("#[allow(clippy::too_many_arguments)]\n");
    let params = stencil.params.iter().map(|it| match it.field() {
        Some(field) if !field.is_used => {
            format!("{}: Option<&View<'_, {}>>", it.name, rust_type(it.dtype()))
        }
        Some(field) if field.is_written => {
            format!("{}: &mut ViewMut<'_, {}>", it.name, rust_type(it.dtype()))
        }
        Some(_) => format!("{}: &View<'_, {}>", it.name, rust_type(it.dtype())),
        None => format!("{}: {}", it.name, rust_type(it.dtype())),
    });
    let answer = stencil.asks_caller().then(|| "answer: &mut Answer<'_>".to_owned());
    let params = listed(params.chain(answer).chain(["options: &Options".to_owned()]));
    let _ = writeln!(text, "pub fn {}({params}) -> Result<(), Error> {{", stencil.name);
    text.push_str("    let (call, mut report) = (options.call(), Report::new());\n");
    if stencil.asks_caller() {
        text.push_str("    let mut asking = Answering::new(answer);\n    let caller = asking.caller();\n");
    }
    let arguments = stencil.params.iter().map(|it| match it.field() {
        Some(field) if !field.is_used => {
            format!("{}.map_or(std::ptr::null(), |it| &it.field as *const Field)", it.name)
        }
        Some(_) => format!("&{}.field", it.name),
        None => it.name.clone(),
    });
    let caller = stencil.asks_caller().then(|| "&caller".to_owned());
    let arguments = listed(
        ["&call".to_owned()].into_iter().chain(arguments).chain(caller).chain(["&mut report".to_owned()]),
    );
    text.push_str("    // SAFETY: each view lies within a slice that is lent for the call, and the library checks all else.\n");
    let _ = writeln!(text, "    let status = unsafe {{ {}_run({arguments}) }};", stencil.name);
    text.push_str(if stencil.asks_caller() {
        "    asking.result(report, status)\n}\n\n"
    } else {
        "    report.result(status)\n}\n\n"
    });
    text
}

fn example(project: &Project<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "```toml\n[dependencies]\n{} = {{ path = \"PATH/rust\" }}\n```\n", project.name);
    for stencil in &project.stencils {
        let arguments = stencil.params.iter().map(|it| match it.field() {
            Some(field) if !field.is_used => "None".to_owned(),
            Some(field) if field.is_written => format!("&mut {}", it.name),
            Some(_) => format!("&{}", it.name),
            None => it.name.clone(),
        });
        let answer = stencil.asks_caller().then(|| "&mut |event| Ok(())".to_owned());
        let arguments = listed(arguments.chain(answer).chain(["&Options::default()".to_owned()]));
        let _ = writeln!(text, "```rust\nuse {0}::{{Options, View, ViewMut}};\n", project.name);
        for (it, field) in stencil.fields() {
            let (kind, lent) = if field.is_written { ("ViewMut", "&mut ") } else { ("View", "&") };
            let _ = writeln!(
                text,
                "let {}{} = {kind}::new({lent}data, first, &shape, &strides)?; // .at(&origin)",
                if field.is_written { "mut " } else { "" },
                it.name
            );
        }
        let _ = writeln!(text, "{}::{}({arguments})?;\n```\n", project.name, stencil.name);
    }
    let _ = writeln!(
        text,
        "The crate compiles the C with `CC`, or `cc`; where `{}_LIB_DIR` is set, it links the library of that folder.",
        project.name.to_ascii_uppercase()
    );
    text
}
