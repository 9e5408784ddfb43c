//! Programs that read arrays, call an exported stencil, and write the arrays, in each language.

use std::fmt::Write as _;

use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::call::signature::{Param, ParamKind, Signature};
use isobar_compiler::space::AxisSet;
use isobar_compiler::types::DType;

use super::spelled;

/// A language that calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
    Fortran,
    Python,
    Rust,
}

pub const LANGUAGES: [Language; 5] =
    [Language::C, Language::Cpp, Language::Fortran, Language::Python, Language::Rust];

/// The stencil and the call that a program is made for.
#[derive(Clone, Copy, Debug)]
pub struct Driver<'a> {
    /// The project and the stencil, as they are called there.
    pub project: &'a str,
    pub stencil: &'a str,
    pub signature: &'a Signature,
    pub launch: &'a Launch,
    /// How it answers what a program asks for, in its language.
    pub answer: Option<&'a Answering>,
}

/// How a program answers, in its language.
#[derive(Clone, Copy, Debug)]
pub struct Answering {
    pub definitions: &'static str,
    /// The arguments behind those of the parameters.
    pub arguments: &'static str,
}

/// A parameter as it is passed.
enum Passed<'a> {
    Field(usize, AxisSet, &'a FieldArgument),
    Scalar(String, DType),
    /// A field that no statement uses.
    Nothing,
}

impl<'a> Driver<'a> {
    fn passed(&self) -> Vec<Passed<'a>> {
        let mut n_fields = 0;
        let each = self.signature.params.iter().zip(&self.launch.arguments);
        each.map(|(param, argument)| match (&param.kind, argument) {
            (ParamKind::Field { axes, .. }, Argument::Field(field)) => {
                n_fields += 1;
                Passed::Field(n_fields - 1, *axes, field)
            }
            (ParamKind::Field { .. }, _) => Passed::Nothing,
            (kind, Argument::Scalar(value)) => Passed::Scalar(spelled(*value), kind.dtype()),
            (kind, _) => Passed::Scalar(spelled(zero(kind.dtype())), kind.dtype()),
        })
        .collect()
    }

    /// The last field that is written and has several elements along its first dimension.
    fn last_written(&self) -> usize {
        let params = self.signature.params.iter().zip(&self.launch.arguments);
        let fields = params.filter_map(|(param, it)| match it {
            Argument::Field(field) => Some((param, field)),
            Argument::Scalar(_) | Argument::Unused => None,
        });
        let is_meant = |(param, field): (&Param, &FieldArgument)| {
            param.access.is_written() && field.array.shape.first().is_some_and(|&n| n > 1)
        };
        fields.map(is_meant).collect::<Vec<_>>().iter().rposition(|&it| it).unwrap_or(0)
    }

    fn fields(&self) -> Vec<(AxisSet, &'a FieldArgument)> {
        let only = |it| match it {
            Passed::Field(_, axes, field) => Some((axes, field)),
            Passed::Scalar(..) | Passed::Nothing => None,
        };
        self.passed().into_iter().filter_map(only).collect()
    }

    /// The arguments in order, each spelled by one of these.
    fn arguments(
        &self,
        field: impl Fn(usize) -> String,
        scalar: impl Fn(&str, DType) -> String,
        nothing: &str,
    ) -> Vec<String> {
        self.passed()
            .into_iter()
            .map(|it| match it {
                Passed::Field(at, ..) => field(at),
                Passed::Scalar(value, dtype) => scalar(&value, dtype),
                Passed::Nothing => nothing.to_owned(),
            })
            .collect()
    }

    fn definitions(&self) -> &'static str {
        self.answer.map_or("", |it| it.definitions)
    }

    fn answered(&self, arguments: Vec<String>) -> String {
        let answer = self.answer.map(|it| it.arguments.to_owned());
        joined(arguments.into_iter().chain(answer))
    }

    fn domain(&self) -> String {
        let it = self.launch.domain;
        format!("{}, {}, {}", it.i, it.j, it.k)
    }
}

fn zero(dtype: DType) -> isobar_compiler::types::Value {
    isobar_compiler::types::Value::Int64(0).cast(dtype)
}

/// The index of the first point of the compute domain along each dimension.
fn origin(axes: AxisSet, field: &FieldArgument) -> Vec<i64> {
    let mut origin: Vec<i64> = axes.iter().map(|axis| field.origin[axis.index()]).collect();
    origin.resize(field.array.shape.len(), 0);
    origin
}

fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|it| it.to_string()).collect::<Vec<_>>().join(", ")
}

/// The text of a program.
#[must_use]
pub fn driver(language: Language, it: &Driver<'_>) -> String {
    match language {
        Language::C => c(it),
        Language::Cpp => cpp(it),
        Language::Fortran => fortran(it),
        Language::Python => python(it),
        Language::Rust => rust(it),
    }
}

const LOAD: &str = "
static void *load(int at, size_t bytes)
{
  char name[32];
  snprintf(name, sizeof name, \"%d.in\", at);
  FILE *file = fopen(name, \"rb\");
  char *data = (char *)malloc(bytes + 64);
  if (file == NULL || data == NULL || fread(data, 1, bytes, file) != bytes) abort();
  fclose(file);
  return data;
}

static void store(int at, const void *data, size_t bytes)
{
  char name[32];
  snprintf(name, sizeof name, \"%d.out\", at);
  FILE *file = fopen(name, \"wb\");
  if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) abort();
}
";

fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "int8_t",
        DType::Int16 => "int16_t",
        DType::Int32 => "int32_t",
        DType::Int64 => "int64_t",
        DType::Float32 => "float",
        DType::Float64 => "double",
    }
}

fn c_value(value: &str, dtype: DType) -> String {
    format!("({}){value}", c_type(dtype))
}

/// It calls with scratch, during which nothing is allocated, and is refused what no call may ask.
fn c(it: &Driver<'_>) -> String {
    let mut text = format!(
        "#include <stdbool.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include \"{}.h\"\n\n\
         static int n_allocated;\nextern void *__libc_malloc(size_t);\n\
         void *malloc(size_t n) {{ ++n_allocated; return __libc_malloc(n); }}\n{LOAD}\n{}\nint main(void)\n{{\n",
        it.project,
        it.definitions()
    );
    for (at, (axes, field)) in it.fields().into_iter().enumerate() {
        let dtype = field.array.dtype();
        let _ = writeln!(
            text,
            "  {0} *data_{at} = load({at}, {1});\n  isobar_field f{at} = {{sizeof f{at}, ISOBAR_{2}, {3}, 0, data_{at} + {4}, {{{5}}}, {{{6}}}, {{{7}}}}};",
            c_type(dtype),
            field.array.elements.bytes(),
            dtype.name().to_ascii_uppercase(),
            field.array.shape.len(),
            field.array.first,
            joined(&field.array.shape),
            joined(&field.array.strides),
            joined(origin(axes, field)),
        );
    }
    let of_bytes = |text: &dyn Fn(usize, usize) -> String| -> String {
        it.fields()
            .iter()
            .enumerate()
            .map(|(at, (_, field))| text(at, field.array.elements.bytes()))
            .collect()
    };
    let fields = it.passed().into_iter().filter_map(|it| match it {
        Passed::Field(at, ..) => Some(format!("&f{at}")),
        Passed::Nothing => Some("NULL".to_owned()),
        Passed::Scalar(..) => None,
    });
    let fields = joined(fields);
    let arguments = it.answered(it.arguments(|at| format!("&f{at}"), c_value, "NULL"));
    let _ = write!(
        text,
        "  isobar_call call = ISOBAR_CALL_INIT;\n  isobar_error error = ISOBAR_ERROR_INIT;\n\
         \x20 const int64_t domain[3] = {{{domain}}};\n  memcpy(call.domain, domain, sizeof domain);\n  call.threads = 1;\n\
         \x20 /* What is refused writes nothing. */\n\
         \x20 call.abi = 99;\n  if ({name}_run(&call, {arguments}, &error) != ISOBAR_VERSION) return 10;\n  call.abi = ISOBAR_ABI;\n\
         \x20 f0.dtype = 77;\n  if ({name}_run(&call, {arguments}, &error) != ISOBAR_WRONG_CALL || strcmp(error.code, \"C01\") != 0) return 11;\n  f0.dtype = ISOBAR_{dtype};\n\
         \x20 f0.rank += 1;\n  if ({name}_run(&call, {arguments}, &error) != ISOBAR_WRONG_CALL || strcmp(error.code, \"C02\") != 0) return 12;\n  f0.rank -= 1;\n\
         \x20 call.domain[0] = 1000;\n  if ({name}_run(&call, {arguments}, NULL) != ISOBAR_WRONG_CALL) return 13;\n  call.domain[0] = domain[0];\n\
         \x20 f0.data = (char *)f0.data + 1;\n  if (sizeof *data_0 > 1 && ({name}_run(&call, {arguments}, &error) != ISOBAR_WRONG_CALL || strcmp(error.code, \"A02\") != 0)) return 14;\n  f0.data = (char *)f0.data - 1;\n\
         \x20 const isobar_field last = f{last};\n  f{last}.stride[0] = 0;\n  if ({name}_run(&call, {arguments}, &error) != ISOBAR_WRONG_CALL || strcmp(error.code, \"C08\") != 0) return 15;\n  f{last} = last;\n\
         \x20 f0.origin[0] = -1000;\n  if ({name}_run(&call, {arguments}, &error) != ISOBAR_WRONG_CALL || strcmp(error.code, \"C03\") != 0) return 16;\n  f0.origin[0] = {origin0};\n\
         \x20 f0.stride[0] = INT64_MAX / 2;\n  if ({name}_run(&call, {arguments}, &error) != ISOBAR_WRONG_CALL) return 17;\n  f0.stride[0] = {stride0};\n\
         \x20 call.scratch_bytes = {name}_scratch(&call, {fields});\n  if (call.scratch_bytes == UINT64_MAX) return 18;\n\
         \x20 char *scratch = malloc(call.scratch_bytes + 1);\n  call.scratch = scratch + 1;\n\
         \x20 call.domain[2] = 0;\n  if ({name}_run(&call, {arguments}, &error) != ISOBAR_OK) return 19;\n  call.domain[2] = domain[2];\n\
         \x20 const int32_t stop = 1;\n  call.cancel = &stop;\n  if ({name}_run(&call, {arguments}, &error) != ISOBAR_CANCELLED) return 20;\n  call.cancel = NULL;\n\
         \x20 /* OpenMP takes memory of its own for the first call of a thread. */\n{saved}\x20 if ({name}_run(&call, {arguments}, &error) != ISOBAR_OK) return 21;\n{restored}\
         \x20 const int before = n_allocated;\n  const int32_t status = {name}_run(&call, {arguments}, &error);\n\
         \x20 if (status != ISOBAR_OK) {{\n    fprintf(stderr, \"%d %s %s\\n\", status, error.code, error.message);\n    return 1;\n  }}\n\
         \x20 if (n_allocated != before) fprintf(stdout, \"%d allocations\\n\", n_allocated - before);\n",
        domain = it.domain(),
        name = it.stencil,
        dtype = it.fields()[0].1.array.dtype().name().to_ascii_uppercase(),
        last = it.last_written(),
        origin0 = origin(it.fields()[0].0, it.fields()[0].1)[0],
        stride0 = it.fields()[0].1.array.strides[0],
        saved = of_bytes(&|at, n| format!("  void *saved_{at} = memcpy(malloc({n}), data_{at}, {n});\n")),
        restored = of_bytes(&|at, n| format!("  memcpy(data_{at}, saved_{at}, {n});\n")),
    );
    for (at, (_, field)) in it.fields().into_iter().enumerate() {
        let _ = writeln!(text, "  store({at}, data_{at}, {});", field.array.elements.bytes());
    }
    text.push_str("  return 0;\n}\n");
    text
}

fn cpp(it: &Driver<'_>) -> String {
    let mut text = format!(
        "#include <cstdio>\n#include <cstdlib>\n\n#include \"{}.hpp\"\n{LOAD}\n{}\nint main()\n{{\n",
        it.project,
        it.definitions()
    );
    for (at, (axes, field)) in it.fields().into_iter().enumerate() {
        let (dtype, rank) = (c_type(field.array.dtype()), field.array.shape.len());
        // One of them has an origin of its own, the others are given one.
        let _ = writeln!(
            text,
            "  {dtype} *data_{at} = static_cast<{dtype} *>(load({at}, {0}));\n  isobar::view<{dtype}, {rank}> v{at}(data_{at} + {1}, {{{2}}}, {{{3}}});\n  auto f{at} = isobar::at(v{at}, {{{4}}});",
            field.array.elements.bytes(),
            field.array.first,
            joined(&field.array.shape),
            joined(&field.array.strides),
            joined(origin(axes, field)),
        );
    }
    let arguments = it.answered(it.arguments(|at| format!("f{at}"), c_value, "nullptr"));
    let _ = writeln!(
        text,
        "  isobar::call call({0});\n  call.flags = 1;\n  try {{\n    {1}::{2}({arguments}, call);\n    return 2;\n  }} catch (const isobar::error &error) {{\n    if (error.status() != ISOBAR_WRONG_CALL) return 3;\n  }}\n  call.flags = 0;\n  {1}::{2}({arguments}, call);",
        it.domain(),
        it.project,
        it.stencil
    );
    for (at, (_, field)) in it.fields().into_iter().enumerate() {
        let _ = writeln!(text, "  store({at}, data_{at}, {});", field.array.elements.bytes());
    }
    text.push_str("  return 0;\n}\n");
    text
}

fn fortran_type(dtype: DType) -> (&'static str, &'static str) {
    match dtype {
        DType::Bool => ("logical", "c_bool"),
        DType::Int8 => ("integer", "c_int8_t"),
        DType::Int16 => ("integer", "c_int16_t"),
        DType::Int32 => ("integer", "c_int32_t"),
        DType::Int64 => ("integer", "c_int64_t"),
        DType::Float32 => ("real", "c_float"),
        DType::Float64 => ("real", "c_double"),
    }
}

/// Arrays are sections: it takes those that lie so, and none that are transposed.
fn fortran(it: &Driver<'_>) -> String {
    let mut text = format!(
        "{}program main\n  use {}\n{}  use, intrinsic :: iso_c_binding\n  implicit none\n  integer :: unit\n  integer(c_int32_t) :: status\n  type(isobar_error) :: error\n",
        it.definitions(),
        it.project,
        if it.answer.is_some() { "  use answering\n" } else { "" },
    );
    let (mut sections, mut parents) = (Vec::new(), Vec::new());
    for (at, (_, field)) in it.fields().into_iter().enumerate() {
        let (kind, of) = fortran_type(field.array.dtype());
        let rank = field.array.shape.len();
        let _ = writeln!(text, "  {kind}({of}), allocatable :: f{at}({})", vec![":"; rank].join(","));
        let shape = field.array.shape.iter().enumerate();
        let parent = shape.clone().map(|(at, n)| if at == 0 { (2 * n).to_string() } else { n.to_string() });
        parents.push(format!("f{at}({})", joined(parent)));
        let section = shape.map(|(at, n)| match at {
            0 => format!("1:{}:2", 2 * n),
            1 => format!("{n}:1:-1"),
            _ => ":".to_owned(),
        });
        sections.push(format!("f{at}({})", joined(section)));
    }
    for (at, parent) in parents.iter().enumerate() {
        let _ = writeln!(
            text,
            "  allocate({parent})\n  open(newunit=unit, file=\"{at}.in\", access=\"stream\", form=\"unformatted\", status=\"old\")\n  read(unit) f{at}\n  close(unit)"
        );
    }
    let fields = it.signature.params.iter().zip(&it.launch.arguments);
    let fields = fields.filter(|(param, _)| matches!(param.kind, ParamKind::Field { .. }));
    let origins: Vec<[i64; 3]> = fields
        .map(|(_, argument)| match argument {
            Argument::Field(field) => field.origin,
            Argument::Scalar(_) | Argument::Unused => [0; 3],
        })
        .collect();
    let _ = writeln!(text, "  status = {}_run(&", it.stencil);
    let arguments = it.arguments(
        |at| sections[at].clone(),
        |value, dtype| match dtype {
            DType::Bool => format!("logical(.{value}., c_bool)"),
            _ => format!("{value}_{}", fortran_type(dtype).1),
        },
        "",
    );
    let names = isobar_compiler::export::parameter_names(it.signature);
    for (name, argument) in names.iter().zip(arguments).filter(|it| !it.1.is_empty()) {
        let _ = writeln!(text, "      {name}={argument}, &");
    }
    if let Some(answer) = it.answer {
        let _ = writeln!(text, "      {}, &", answer.arguments);
    }
    let _ = writeln!(
        text,
        "      domain=[integer(c_int64_t) :: {}], &\n      origins=reshape([integer(c_int64_t) :: {}], [3, {}]), error=error)\n  if (status /= isobar_ok) then\n    print *, isobar_message(error)\n    error stop 1\n  end if",
        it.domain(),
        joined(origins.iter().flatten()),
        origins.len()
    );
    for at in 0..parents.len() {
        let _ = writeln!(
            text,
            "  open(newunit=unit, file=\"{at}.out\", access=\"stream\", form=\"unformatted\", status=\"replace\")\n  write(unit) f{at}\n  close(unit)"
        );
    }
    text.push_str("end program main\n");
    text
}

fn python(it: &Driver<'_>) -> String {
    let mut text = format!("import numpy as np\n\nimport {}\n\n{}", it.project, it.definitions());
    let mut origins = String::new();
    for (at, (axes, field)) in it.fields().into_iter().enumerate() {
        let size = i64::try_from(field.array.dtype().size_bytes()).unwrap_or(0);
        let _ = writeln!(
            text,
            "d{at} = np.fromfile(\"{at}.in\", dtype=\"{0}\")\nf{at} = np.ndarray(({1},), \"{0}\", d{at}, {2}, ({3},))",
            field.array.dtype().name(),
            joined(&field.array.shape),
            i64::try_from(field.array.first).unwrap_or(0) * size,
            joined(field.array.strides.iter().map(|it| it * size)),
        );
        let own: Vec<i64> = axes.iter().map(|axis| field.origin[axis.index()]).collect();
        origins += &format!("\"{}\": ({},), ", param_name(it, at), joined(own));
    }
    let arguments = it.answered(it.arguments(
        |at| format!("f{at}"),
        |value, dtype| match (dtype, value) {
            (DType::Bool, "true") => "True".to_owned(),
            (DType::Bool, _) => "False".to_owned(),
            _ => value.to_owned(),
        },
        "None",
    ));
    let _ = writeln!(
        text,
        "try:\n    {0}.{1}({arguments}, threads=-1, origin={{{origins}}})\n    raise SystemExit(2)\nexcept {0}.Error as error:\n    assert error.status == 2, error\n{0}.{1}({arguments}, domain=({2}), origin={{{origins}}})",
        it.project,
        it.stencil,
        it.domain()
    );
    for at in 0..it.fields().len() {
        let _ = writeln!(text, "d{at}.tofile(\"{at}.out\")");
    }
    text
}

/// The name of a field in its project, by its number among the fields.
fn param_name(it: &Driver<'_>, at: usize) -> String {
    let names = isobar_compiler::export::parameter_names(it.signature);
    let all = it.signature.params.iter().zip(names);
    let all = all.zip(&it.launch.arguments);
    let mut fields = all.filter(|(_, argument)| matches!(argument, Argument::Field(_))).map(|it| it.0);
    fields.nth(at).map(|it| it.1).unwrap_or_default()
}

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

fn rust(it: &Driver<'_>) -> String {
    let mut text =
        format!("use {}::{{Options, View, ViewMut}};\n\n{}fn main() {{\n", it.project, it.definitions());
    let all = it.signature.params.iter().zip(&it.launch.arguments);
    let fields = all.filter(|(_, argument)| matches!(argument, Argument::Field(_)));
    let written: Vec<bool> = fields.map(|(param, _)| param.access.is_written()).collect();
    for (at, (axes, field)) in it.fields().into_iter().enumerate() {
        let dtype = field.array.dtype();
        let (kind, lent) = if written[at] { ("ViewMut", "&mut ") } else { ("View", "&") };
        let read = match dtype {
            DType::Bool => "bytes.iter().map(|it| *it != 0).collect()".to_owned(),
            _ => format!(
                "bytes.chunks({}).map(|it| {}::from_le_bytes(it.try_into().unwrap())).collect()",
                dtype.size_bytes(),
                rust_type(dtype)
            ),
        };
        let _ = writeln!(
            text,
            "    let bytes = std::fs::read(\"{at}.in\").unwrap();\n    #[allow(unused_mut)]\n    let mut d{at}: Vec<{0}> = {read};\n    #[allow(unused_mut)]\n    let mut f{at} = {kind}::new({lent}d{at}, {1}, &[{2}], &[{3}]).unwrap().at(&[{4}]);\n    assert!(View::new(&[0_f64; 4], 0, &[3], &[2]).is_err());",
            rust_type(dtype),
            field.array.first,
            joined(&field.array.shape),
            joined(&field.array.strides),
            joined(origin(axes, field)),
        );
    }
    let arguments = it.answered(it.arguments(
        |at| if written[at] { format!("&mut f{at}") } else { format!("&f{at}") },
        |value, dtype| match dtype {
            DType::Bool => value.to_owned(),
            _ => format!("{value} as {}", rust_type(dtype)),
        },
        "None",
    ));
    let _ = writeln!(
        text,
        "    let options = Options {{ domain: Some([{}]), threads: 3 }};\n    {}::{}({arguments}, &options).unwrap();",
        it.domain(),
        it.project,
        it.stencil
    );
    for (at, (_, field)) in it.fields().into_iter().enumerate() {
        let bytes = match field.array.dtype() {
            DType::Bool => "u8::from(*it)",
            _ => "it.to_le_bytes()",
        };
        let collected = match field.array.dtype() {
            DType::Bool => format!("d{at}.iter().map(|it| {bytes}).collect()"),
            _ => format!("d{at}.iter().flat_map(|it| {bytes}).collect()"),
        };
        let _ = writeln!(
            text,
            "    let out: Vec<u8> = {collected};\n    std::fs::write(\"{at}.out\", out).unwrap();"
        );
    }
    text.push_str("}\n");
    text
}
