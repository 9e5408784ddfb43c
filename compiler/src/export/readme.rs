//! How a project is built and called, for who opens its folder.

use std::fmt::Write as _;

use super::c::described;
use super::{Project, build, fortran};

pub(super) fn text(project: &Project<'_>) -> String {
    let name = &project.name;
    let upper = name.to_ascii_uppercase();
    let mut text = format!(
        "# {name}\n\nStencils that Isobar compiled: C without dependencies but OpenMP, and what calls it from other languages.\nAll paths in this folder are relative: move it wherever it is needed.\n"
    );
    for stencil in &project.stencils {
        let _ = writeln!(text, "\n## {}\n\n| parameter | |\n|---|---|", stencil.name);
        for (name, what) in described(stencil) {
            let _ = writeln!(text, "| `{name}` | {what} |");
        }
        if !stencil.kernel.notes.is_empty() {
            let _ = writeln!(text, "\n{}", stencil.kernel.notes.join("\n"));
        }
    }
    let _ = write!(
        text,
        "\n## Build\n\n```sh\ncmake -S . -B build && cmake --build build --parallel\ncmake --install build --prefix PREFIX\n```\n\n\
         It is optimised for the processor of the machine that builds: `-D{upper}_ARCH=` builds for any of its kind, `-D{upper}_ARCH=x86-64-v3` for that level.\n\
         `-DBUILD_SHARED_LIBS=OFF` makes a static library.\n\
         Afterwards `find_package({name})` has the target `{name}::{name}`, with `CMAKE_PREFIX_PATH=PREFIX`, and `pkg-config --cflags --libs {name}` the flags, with `PKG_CONFIG_PATH=PREFIX/lib/pkgconfig`.\n\
         `add_subdirectory` works as well.\n\nWithout CMake:\n\n```sh\n{}\n```\n",
        build::line(project)
    );
    if project.has("fortran") {
        let shared = fortran::shared_module();
        let (mut source, mut object) = (String::new(), String::new());
        if project.asks_caller() {
            source = format!(" fortran/{}.f90", fortran::CALLER_MODULE);
            object = format!(" {}.o", fortran::CALLER_MODULE);
        }
        let _ = write!(
            text,
            "\nand for Fortran, with its own compiler:\n\n```sh\ngcc -O3 -march=native -fPIC -I include -c fortran/{name}_descriptors.c\ngfortran -O2 -c fortran/{shared}.f90{source} fortran/{name}.f90\ngfortran PROGRAM.f90 {shared}.o{object} {name}.o {name}_descriptors.o -L. -l{name}\n```\n"
        );
    }
    let bits = if project.is_fast {
        "Exported with `--mode fast`: last bits may differ from those of `isobar run --backend debug`, and between compilers."
    } else {
        "The results have the bits of `isobar run --backend debug`, with any number of threads: the code brings its own elementary functions, and the flags above keep compilers from changing the arithmetic."
    };
    let _ = write!(text, "\n## Results\n\n{bits}\n\n## Calls\n");
    for binding in &project.bindings {
        let _ = write!(text, "\n### {}\n\n{}", binding.title, (binding.example)(project));
    }
    text.push_str(RULES);
    text
}

const RULES: &str = "
## Rules of a call

An array is used where it lies: nothing is copied, whatever its strides are.
Strides count elements, may be negative, and may be 0 along a dimension of a field that is only read.
The origin is the index of the first point of the compute domain; what lies before it is the halo.
Without a domain it is the largest that fits all fields.
Several threads may call at a time, each with its own arrays and its own `scratch`.

Nothing is written where a call is refused. Its code says why:

| code | |
|---|---|
| C01 | the elements have another type than the stencil declares |
| C02 | another number of dimensions, or another size of a data dimension |
| C03 | the origin leaves no room for what is read before the domain |
| C04 | the array ends before what is used, or the domain is none |
| C05 | the domain has too few levels |
| C06 | a field is missing |
| C08 | two fields share elements and one of them is written, or one element stands at several points |
| A01 | header and library have different versions |
| A02 | an option, a device, an alignment or a `scratch` that does not do |

`A03` ends a run in which an index that is computed leaves its field, a `while` does not end, or a number of a program has no value. It names file, line and point.
`A04` is memory that could not be had, `A05` a call that was cancelled.
After `A03` and `A05` the fields that are written are in an unknown state.
";
