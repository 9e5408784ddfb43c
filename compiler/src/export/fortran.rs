//! Fortran: a module whose procedures take arrays of assumed shape, and the C that reads their descriptors.
//! Another module is shared by all projects of a program.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::c::{constant, described};
use super::{ABI, Binding, File, Project, Stencil, filled, listed};
use crate::c::c_type;
use crate::types::DType;

pub(super) const BINDING: Binding = Binding { name: "fortran", title: "Fortran", files, cmake, example };

fn files(project: &Project<'_>) -> Vec<File> {
    let mut interfaces = String::new();
    let mut shims = String::new();
    for it in &project.stencils {
        interfaces.push_str(&interface(it));
        shims.push_str(&shim(it));
    }
    let kinds = pointer_kinds(project);
    if !kinds.is_empty() {
        let _ = writeln!(
            interfaces,
            "  end interface\n\n  ! Lets `p` point to a field of an event, from 1 on, where type and rank are those; halo included.\n  interface {}_pointer",
            project.name
        );
        for kind in &kinds {
            interfaces.push_str(&pointer_interface(&project.name, *kind));
            shims.push_str(&pointer_shim(&project.name, *kind));
        }
    }
    let uses_caller = format!("  use {CALLER_MODULE}\n");
    let abi = ABI.to_string();
    let module = filled(
        include_str!("texts/module.f90"),
        &[
            ("NAME", project.name.as_str()),
            ("ABI", &abi),
            ("CALLER", if project.asks_caller() { &uses_caller } else { "" }),
            ("INTERFACES", interfaces.trim_end()),
        ],
    );
    let shared = filled(include_str!("texts/shared.f90"), &[("ABI", &abi)]);
    let c = filled(
        include_str!("texts/fortran.c"),
        &[
            ("NAME", project.name.as_str()),
            ("POINT", if kinds.is_empty() { "" } else { include_str!("texts/fortran_point.c") }),
            ("SHIMS", shims.trim_end()),
        ],
    );
    let mut files = vec![
        File::new(format!("fortran/{}.f90", shared_module()), shared),
        File::new(format!("fortran/{}.f90", project.name), module),
        File::new(format!("fortran/{}_descriptors.c", project.name), c),
    ];
    if project.asks_caller() {
        files.push(File::new(format!("fortran/{CALLER_MODULE}.f90"), include_str!("texts/caller.f90")));
    }
    files
}

/// The module of what all exported stencils share.
///
/// Its name has the version: projects of two versions in one program have two types of errors, and the compiler says so.
pub(super) fn shared_module() -> String {
    format!("isobar_abi_{ABI}")
}

/// The module of what programs leave to their caller.
pub(super) const CALLER_MODULE: &str = "isobar_caller_1";

/// The types and ranks of the fields of events.
fn pointer_kinds(project: &Project<'_>) -> BTreeSet<(DType, usize)> {
    let all = project.stencils.iter().flat_map(|it| &it.kernel.of_caller).flat_map(|it| &it.fields);
    all.map(|it| (it.dtype, it.rank)).collect()
}

fn pointer_name(project: &str, (dtype, rank): (DType, usize)) -> String {
    format!("{project}_pointer_{}_{rank}", dtype.name())
}

fn pointer_interface(project: &str, kind: (DType, usize)) -> String {
    let name = pointer_name(project, kind);
    let shape = match kind.1 {
        0 => String::new(),
        n => format!("({})", vec![":"; n].join(",")),
    };
    format!(
        "    subroutine {name}(event, at, p) bind(c, name=\"{name}\")\n      import :: c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_float, c_double, c_bool, isobar_event\n      type(isobar_event), intent(in) :: event\n      integer(c_int32_t), value :: at\n      {}, pointer, intent(out) :: p{shape}\n    end subroutine {name}\n\n",
        fortran_type(kind.0)
    )
}

fn pointer_shim(project: &str, kind: (DType, usize)) -> String {
    let name = pointer_name(project, kind);
    format!(
        "void {name}(const isobar_event *event, int32_t at, CFI_cdesc_t *p)\n{{\n  isobar_point(event, at, {}, {}, p);\n}}\n\n",
        constant(kind.0),
        kind.1
    )
}

/// As Fortran declares an element or a value of this type.
fn fortran_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "logical(c_bool)",
        DType::Int8 => "integer(c_int8_t)",
        DType::Int16 => "integer(c_int16_t)",
        DType::Int32 => "integer(c_int32_t)",
        DType::Int64 => "integer(c_int64_t)",
        DType::Float32 => "real(c_float)",
        DType::Float64 => "real(c_double)",
    }
}

/// The names of dummy arguments, with a line for each few of them: lines of Fortran end after 132 characters.
fn over_lines(names: impl IntoIterator<Item = String>, indent: &str) -> String {
    let mut text = String::new();
    let mut length = 0;
    for (at, it) in names.into_iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        if length + it.len() > 70 {
            let _ = write!(text, "&\n{indent}");
            length = 0;
        }
        length += it.len() + 2;
        text.push_str(&it);
    }
    text
}

const OPTIONS: [&str; 7] = ["domain", "origin", "origins", "threads", "scratch", "scratch_bytes", "error"];

fn interface(stencil: &Stencil<'_>) -> String {
    let mut text = String::new();
    let asked: &[&str] = if stencil.asks_caller() { &["answer", "user"] } else { &[] };
    let names = stencil.params.iter().map(|it| it.name.as_str()).chain(asked.iter().copied());
    let names = names.chain(OPTIONS).map(str::to_owned);
    for (name, what) in described(stencil) {
        let _ = writeln!(text, "    ! {name}: {what}");
    }
    let _ = writeln!(
        text,
        "    function {0}_run(&\n        {1}) &\n        result(isobar_status) bind(c, name=\"{0}_fortran\")",
        stencil.name,
        over_lines(names, "        "),
    );
    let _ = writeln!(
        text,
        "      import :: c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_float, c_double, c_bool, isobar_error{}",
        if stencil.asks_caller() { ", c_funptr, c_ptr" } else { "" }
    );
    for it in &stencil.params {
        let declared = fortran_type(it.dtype());
        match it.field() {
            Some(field) => {
                let intent = match (field.is_used, field.is_written) {
                    (false, _) => "in), optional",
                    (true, true) => "inout)",
                    (true, false) => "in)",
                };
                let shape = match field.rank() {
                    0 => String::new(),
                    n => format!("({})", vec![":"; n].join(",")),
                };
                let _ = writeln!(text, "      {declared}, intent({intent} :: {}{shape}", it.name);
            }
            None => {
                let _ = writeln!(text, "      {declared}, value :: {}", it.name);
            }
        }
    }
    if stencil.asks_caller() {
        text.push_str("      type(c_funptr), value :: answer\n      type(c_ptr), value :: user\n");
    }
    let n_fields = stencil.n_fields().max(1);
    let _ = writeln!(
        text,
        "      integer(c_int64_t), intent(in), optional :: domain(3), origin(3), origins(3, {n_fields})"
    );
    text.push_str("      integer(c_int32_t), intent(in), optional :: threads\n");
    text.push_str("      integer(c_int8_t), intent(inout), optional :: scratch(*)\n");
    text.push_str("      integer(c_int64_t), intent(in), optional :: scratch_bytes\n");
    text.push_str("      type(isobar_error), intent(inout), optional :: error\n");
    text.push_str("      integer(c_int32_t) :: isobar_status\n");
    let _ = writeln!(text, "    end function {}_run\n", stencil.name);
    text
}

fn shim(stencil: &Stencil<'_>) -> String {
    let mut text = String::new();
    let mut params: Vec<String> = stencil
        .params
        .iter()
        .map(|it| match it.field() {
            Some(field) if field.rank() > 0 => format!("const CFI_cdesc_t *{}", it.name),
            // A field of one element is no array in Fortran.
            Some(_) => format!("void *{}", it.name),
            None => format!("{} {}", c_type(it.dtype()), it.name),
        })
        .collect();
    let options = [
        "const int64_t *domain",
        "const int64_t *origin",
        "const int64_t *origins",
        "const int32_t *threads",
        "void *scratch",
        "const int64_t *scratch_bytes",
        "isobar_error *error",
    ];
    if stencil.asks_caller() {
        params.push("int32_t (*answer)(void *user, const isobar_event *event)".to_owned());
        params.push("void *user".to_owned());
    }
    params.extend(options.map(str::to_owned));
    let _ = writeln!(text, "int32_t {}_fortran({})\n{{", stencil.name, params.join(",\n    "));
    let _ = writeln!(
        text,
        "  isobar_call call;\n  isobar_describe_call(&call, domain, threads, scratch, scratch_bytes, error);"
    );
    for (at, (it, field)) in stencil.fields().enumerate() {
        if !field.is_used {
            let _ = writeln!(text, "  (void){};", it.name);
            continue;
        }
        let axes = listed(field.axes.iter().map(|it| it.index()));
        let _ = writeln!(text, "  isobar_field isobar_{at};");
        let _ = match field.rank() {
            0 => writeln!(
                text,
                "  isobar_describe_element(&isobar_{at}, {}, {});",
                constant(it.dtype()),
                it.name
            ),
            _ if field.axes.is_empty() => writeln!(
                text,
                "  if (!isobar_describe(&isobar_{at}, {0}, {2}, {1}, {3}, 0, NULL, origin, origins, {at})) return isobar_refuse(error, \"{1}\");",
                constant(it.dtype()),
                it.name,
                it.dtype().size_bytes(),
                field.rank()
            ),
            _ => writeln!(
                text,
                "  if (!isobar_describe(&isobar_{at}, {0}, {3}, {1}, {4}, {2}, (const int[]){{{axes}}}, origin, origins, {at})) return isobar_refuse(error, \"{1}\");",
                constant(it.dtype()),
                it.name,
                field.axes.len(),
                it.dtype().size_bytes(),
                field.rank()
            ),
        };
    }
    let mut at = 0;
    let arguments = stencil.params.iter().map(|it| match it.field() {
        Some(field) => {
            at += 1;
            if field.is_used { format!("&isobar_{}", at - 1) } else { "NULL".to_owned() }
        }
        None => it.name.clone(),
    });
    let caller = stencil.asks_caller().then(|| "&(const isobar_caller){answer, user}".to_owned());
    let arguments =
        listed(["&call".to_owned()].into_iter().chain(arguments).chain(caller).chain(["error".to_owned()]));
    let _ = writeln!(text, "  return {}_run({arguments});\n}}\n", stencil.name);
    text
}

fn cmake(project: &Project<'_>) -> String {
    let (mut source, mut module) = (String::new(), String::new());
    if project.asks_caller() {
        source = format!(" fortran/{CALLER_MODULE}.f90");
        module = format!("\n    \"${{CMAKE_CURRENT_BINARY_DIR}}/fortran/{CALLER_MODULE}.mod\"");
    }
    let values = [
        ("NAME", project.name.as_str()),
        ("SHARED", &shared_module()),
        ("CALLER", &source),
        ("CALLER_MOD", &module),
    ];
    filled(include_str!("texts/fortran.cmake"), &values)
}

fn example(project: &Project<'_>) -> String {
    let mut text = String::new();
    for stencil in &project.stencils {
        let arguments = stencil.params.iter().map(|it| it.name.clone());
        let answer = stencil.asks_caller().then_some(["c_funloc(answer)", "c_null_ptr"]);
        let answer = answer.into_iter().flatten().map(str::to_owned);
        let arguments = over_lines(arguments.chain(answer).chain(["error=error".to_owned()]), "    ");
        let _ = writeln!(
            text,
            "```fortran\nuse {0}\nuse, intrinsic :: iso_c_binding\ntype(isobar_error) :: error\n\
             if ({1}_run(&\n    {arguments}) /= isobar_ok) print *, isobar_message(error)\n```\n",
            project.name, stencil.name,
        );
    }
    if project.asks_caller() {
        let _ = writeln!(
            text,
            "`answer` is `integer(c_int32_t) function answer(user, event) bind(c)` with `type(c_ptr), value :: user` and `type(isobar_event), intent(in) :: event`.\n\
             `call {}_pointer(event, at, p)` lets a pointer of a field's type and rank point to it, and leaves others not associated.\n",
            project.name
        );
    }
    text.push_str(
        "Arrays may be sections with any strides: nothing is copied.\n`domain(3)` is the number of points along I, J, K, `origin(3)` how many points lie before the first of them in all fields, `origins(3, n)` the same for each field; all are `integer(c_int64_t)` and may be left out.\n`logical` fields are `logical(c_bool)`.\n",
    );
    text
}
