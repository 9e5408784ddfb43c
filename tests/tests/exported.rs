//! An exported project is built as its README says, moved, and found by CMake and pkg-config. Each language
//! calls it on arrays of any strides. Its results have the bits of `debug`, and elements that belong to
//! nobody stay what they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::signature::Signature;
use isobar_compiler::config::Config;
use isobar_compiler::export::{BINDINGS, MANIFEST};
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_tests::exported::{
    Answering, Driver, LANGUAGES, Language, Lying, Tools, driver, files, files_with, hold, run, write,
    write_arrays,
};
use isobar_tests::{gallery_text, launch, root, run_debug};
use serde_json::Value as Json;

/// Two stencils, with names that are words of other languages, and every kind of parameter.
const MIXED: &str = "
# @domain 5 4 6
# @input Q random(low=-1, high=1, seed=1)
# @input q random(low=-1, high=1, seed=2)
# @input mask random(low=0, high=2, seed=3)
# @input do random(low=-3, high=3, seed=4)
# @input end random(low=-1, high=1, seed=5)
# @scalar module = 3
# @scalar switch = true
# @scalar namespace = 0.25
import numpy as np
from gt4py.cartesian.gtscript import BACKWARD, FORWARD, IJ, K, PARALLEL, Field, computation, horizontal, interval, region, I, J

def template(Q: Field[float], q: Field[IJ, np.float32], mask: Field[IJ, bool], do: Field[np.int64],
             end: Field[(float, (3,))], out: Field[np.int16], module: np.int32, switch: bool, namespace: float):
    with computation(PARALLEL), interval(...):
        out = module
        if mask and switch:
            do = do + module
            Q = Q[0, 0, 0] + end[0, 0, 0][1] * namespace
        with horizontal(region[I[0], :]):
            Q = end[1, 0, 0][2] + q

def function(Q: Field[float], out: Field[float], unused: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            out = Q
        with interval(1, None):
            out = out[0, 0, -1] + Q[1, -1, 0]
";

/// A project that is exported as one library.
struct Case {
    name: &'static str,
    /// Of the project, where it is not that of the stencil.
    project: Option<&'static str>,
    text: String,
    stencils: &'static [&'static str],
    domain: Domain,
}

fn cases() -> Vec<Case> {
    let gallery = |name: &'static str, stencils: &'static [&'static str], domain| Case {
        name,
        project: None,
        text: gallery_text(name),
        stencils,
        domain,
    };
    vec![
        gallery("horizontal_diffusion", &["horizontal_diffusion"], Domain::new(19, 7, 5)),
        gallery("thomas", &["ground_heat"], Domain::new(9, 5, 6)),
        gallery("column_physics", &["column_physics"], Domain::new(6, 5, 12)),
        gallery("cloud_base", &["cloud_base"], Domain::new(9, 4, 10)),
        gallery("ppm_transport", &["ppm_transport"], Domain::new(11, 9, 4)),
        Case {
            name: "mixed",
            project: Some("class"),
            text: MIXED.to_owned(),
            stencils: &["template", "function"],
            domain: Domain::new(5, 4, 6),
        },
    ]
}

impl Case {
    fn compiled(&self) -> Vec<Compilation> {
        let one = |stencil: &&str| {
            let mut project = Project::of_one("main.py", &self.text);
            project.stencil = Some((*stencil).to_owned());
            let compilation = route::compile(&project, &Config::default(), &mut NoHook);
            assert!(!compilation.has_errors(), "{}: {:#?}", self.name, compilation.notes.diagnostics);
            compilation
        };
        self.stencils.iter().map(one).collect()
    }
}

pub(crate) fn scratch_folder(name: &str) -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exported").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The tools; where one is missing, that is said, and is a failure where they were installed for this.
pub(crate) fn tools() -> Option<Tools> {
    match Tools::find() {
        Ok(tools) => Some(tools),
        Err(why) if std::env::var_os("ISOBAR_EXPORT_TOOLS").is_some() => panic!("{why:#}"),
        Err(why) => {
            isobar_testing::skip(
                "a project of other languages",
                format_args!("{why:#}; `cargo xtask test exported` installs it"),
            );
            None
        }
    }
}

#[test]
fn an_export_is_the_same_every_time_and_has_no_path_of_this_machine() {
    for case in cases() {
        let compilations = case.compiled();
        let made = files(case.project, &compilations).unwrap();
        assert_eq!(made, files(case.project, &case.compiled()).unwrap(), "{}", case.name);
        let home = std::env::var_os("HOME").unwrap_or_else(|| "/nowhere".into());
        let machine = [root().canonicalize().unwrap(), std::env::temp_dir(), home.into()];
        for file in &made {
            for path in &machine {
                assert!(!file.text.contains(&path.display().to_string()), "{}", file.path);
            }
            assert!(file.text.is_ascii(), "{}", file.path);
            let is_fortran = Path::new(&file.path).extension().is_some_and(|it| it == "f90");
            assert!(!is_fortran || file.text.lines().all(|it| it.len() <= 132), "{}", file.path);
        }
    }
}

#[test]
fn an_export_has_the_languages_that_are_asked_for_and_no_others() {
    // A part of a path that only files of the language have.
    let own = [("cpp", ".hpp"), ("fortran", "fortran/"), ("python", "python/"), ("rust", "rust/")];
    let case = &cases()[0];
    let compilations = case.compiled();
    for binding in &BINDINGS {
        let made = files_with(vec![binding], case.project, &compilations).unwrap();
        // The functions that all of them call.
        assert!(made.iter().any(|it| it.path == "include/horizontal_diffusion.h"), "{}", binding.name);
        for (language, part) in own {
            let is_there = made.iter().any(|it| it.path.contains(part));
            assert_eq!(is_there, language == binding.name, "{language} with {} alone", binding.name);
        }
    }
}

#[test]
fn cmake_gives_the_flags_that_the_line_for_gcc_has() {
    // CMake has properties for these.
    let by_name = ["-std=gnu11", "-fopenmp", "-fPIC", "-fvisibility=hidden"];
    for case in cases() {
        let made = files(case.project, &case.compiled()).unwrap();
        let text = |path: &str| made.iter().find(|it| it.path == path).unwrap().text.clone();
        let (readme, cmake) = (text("README.md"), text("CMakeLists.txt"));
        let line = readme.lines().find(|it| it.starts_with("gcc ") && it.contains("-shared")).unwrap();
        let flags: Vec<&str> =
            line.split(' ').filter(|it| it.starts_with("-f") || it.starts_with("-O")).collect();
        assert!(flags.len() > by_name.len() + 4, "{line}");
        for flag in flags.into_iter().filter(|it| !by_name.contains(it)) {
            assert!(cmake.split([' ', ')', '\n']).any(|it| it == flag), "{}: {flag}", case.name);
        }
    }
}

#[test]
fn each_language_gives_the_bits_of_debug_on_arrays_as_they_lie() {
    let Some(tools) = tools() else { return };
    for case in cases() {
        check(&tools, &case).unwrap();
    }
}

fn check(tools: &Tools, case: &Case) -> Result<()> {
    let compilations = case.compiled();
    let home = scratch_folder(case.name)?;
    write(&home.join("first"), &files(case.project, &compilations).map_err(anyhow::Error::msg)?)?;
    fs::rename(home.join("first"), home.join("moved"))?;
    let project_folder = home.join("moved");
    let manifest: Json = serde_json::from_str(&fs::read_to_string(project_folder.join(MANIFEST))?)?;
    let text = |it: &Json| it.as_str().map(str::to_owned).context("a name is a text");
    let project = text(&manifest["name"])?;
    let stencils = manifest["stencils"].as_array().context("a manifest lists stencils")?;

    // As the README says, and moved once more where it was installed.
    run(tools.cmake().current_dir(&project_folder).args(["-S", ".", "-B", "build"]))?;
    run(tools.cmake().current_dir(&project_folder).args(["--build", "build"]))?;
    run(tools.cmake().current_dir(&project_folder).args(["--install", "build", "--prefix", "../installed"]))?;
    fs::rename(home.join("installed"), home.join("prefix"))?;
    fs::remove_dir_all(project_folder.join("build"))?;
    let prefix = home.join("prefix");
    no_path_of_here(&prefix, &home)?;
    for (compilation, stencil) in compilations.iter().zip(stencils) {
        let stencil = text(stencil)?;
        let launch = launch(compilation, case.domain);
        for lying in [Lying::Sections, Lying::Transposed] {
            let own = home.join(format!("{stencil}-{lying:?}"));
            fs::create_dir_all(&own)?;
            let launch = lying.of(&launch);
            let mut meant = launch.clone();
            run_debug(compilation, &mut meant);
            write_arrays(&own, &launch)?;
            for language in LANGUAGES {
                if language == Language::Fortran && lying == Lying::Transposed {
                    continue;
                }
                let told = format!("{} {stencil} {lying:?} {language:?}", case.name);
                call(
                    tools,
                    language,
                    compilation.front.signature.as_ref().context("it compiled")?,
                    (&launch, None),
                    [&project, &stencil],
                    &own,
                    [&project_folder, &prefix],
                )?;
                hold(&own, &meant).with_context(|| told)?;
            }
        }
    }
    // Without CMake.
    let readme = fs::read_to_string(project_folder.join("README.md"))?;
    let line = readme
        .lines()
        .find(|it| it.starts_with("gcc ") && it.contains("-shared"))
        .context("there is a line for gcc")?;
    run(Command::new("sh").current_dir(&project_folder).args(["-c", &format!("{line} -Werror -Wall")]))?;
    assert!(project_folder.join(format!("lib{project}.so")).is_file());
    Ok(())
}

/// Components of an array of structures, which lie between each other; an index that leaves its field.
const PLACES: &str = "
#include <string.h>
#include <stdio.h>
#include \"cloud_base.h\"

static isobar_field field(int dtype, int rank, void *data, int64_t step)
{
  isobar_field made = {sizeof made, dtype, rank, 0, data, {3, 2, 4}, {step, 3 * step, 6 * step}, {0}};
  return made;
}

int main(void)
{
  static double both[24][2];
  static int64_t levels[6];
  static double base[6];
  isobar_error error = ISOBAR_ERROR_INIT;
  isobar_field qc = field(ISOBAR_FLOAT64, 3, &both[0][0], 2), p = field(ISOBAR_FLOAT64, 3, &both[0][1], 2);
  isobar_field level = field(ISOBAR_INT64, 2, levels, 1), p_base = field(ISOBAR_FLOAT64, 2, base, 1);
  /* Two fields that are read may share elements. */
  if (cloud_base_run(NULL, &qc, &qc, &level, &p_base, &error) != ISOBAR_OK) return 1;
  if (cloud_base_run(NULL, &qc, &p, &level, &p_base, &error) != ISOBAR_OK) return 2;
  /* What is written lies among the elements of what is read, and shares none of them. */
  p_base = field(ISOBAR_FLOAT64, 2, &both[0][1], 2);
  if (cloud_base_run(NULL, &qc, &qc, &level, &p_base, &error) != ISOBAR_OK) return 3;
  if (cloud_base_run(NULL, &qc, &p, &level, &p_base, &error) != ISOBAR_WRONG_CALL || strcmp(error.code, \"C08\") != 0) return 4;
  p_base = field(ISOBAR_FLOAT64, 2, &both[1][0], 2);
  if (cloud_base_run(NULL, &qc, &p, &level, &p_base, &error) != ISOBAR_WRONG_CALL || strcmp(error.code, \"C08\") != 0) return 5;
  if (cloud_base_run(NULL, &qc, &p, NULL, &p_base, &error) != ISOBAR_WRONG_CALL || strcmp(error.code, \"C06\") != 0) return 6;
  puts(error.message);
  error.size = 4;
  if (cloud_base_run(NULL, &qc, &p, &level, &p_base, &error) != ISOBAR_VERSION) return 7;
  return 0;
}
";

/// Reads a level that is found at run time, which may not be there.
const TRAP: &str = "
from gt4py.cartesian.gtscript import PARALLEL, Field, IJ, computation, interval
import numpy as np

def at_level(q: Field[float], n: Field[IJ, np.int32], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q.at(K=n)
";

const TRAPPED: &str = "
#include <stdio.h>
#include \"at_level.h\"

int main(void)
{
  static double q[24], out[24];
  static int32_t n[6] = {0, 1, 3, 2, 4, 0};
  isobar_field of_q = {sizeof of_q, ISOBAR_FLOAT64, 3, 0, q, {3, 2, 4}, {1, 3, 6}, {0}};
  isobar_field of_out = of_q, of_n = {sizeof of_n, ISOBAR_INT32, 2, 0, n, {3, 2}, {1, 3}, {0}};
  of_out.data = out;
  isobar_error error = ISOBAR_ERROR_INIT;
  if (at_level_run(NULL, &of_q, &of_n, &of_out, &error) != ISOBAR_TRAP) return 1;
  printf(\"%s %s:%d %d %d %d\\n\", error.code, error.file, error.line, (int)error.cell[0], (int)error.cell[1], (int)error.cell[2]);
  return 0;
}
";

/// Builds a library of one text with the README's line, and a program beside it; answers what the program printed.
fn in_c(home: &Path, name: &str, text: &str, program: &str) -> Result<String> {
    let compilation = route::compile(&Project::of_one("main.py", text), &Config::default(), &mut NoHook);
    anyhow::ensure!(!compilation.has_errors(), "{:#?}", compilation.notes.diagnostics);
    write(home, &files(None, &[compilation]).map_err(anyhow::Error::msg)?)?;
    let readme = fs::read_to_string(home.join("README.md"))?;
    let line = readme.lines().find(|it| it.contains("-shared")).context("there is a line for gcc")?;
    fs::write(home.join("main.c"), program)?;
    let then = format!("{line} && gcc -I include main.c -L. -l{name} -o main");
    run(Command::new("sh").current_dir(home).args(["-c", &then]))?;
    run(Command::new("./main").current_dir(home).env("LD_LIBRARY_PATH", home))
}

#[test]
fn fields_may_lie_among_each_other_and_share_nothing_that_is_written() {
    if tools().is_none() {
        return;
    }
    let home = scratch_folder("places").unwrap();
    let said = in_c(&home, "cloud_base", &gallery_text("cloud_base"), PLACES).unwrap();
    assert_eq!(said, "field `level` is used by the stencil and was not passed\n");
}

#[test]
fn a_run_that_ends_early_names_its_statement() {
    if tools().is_none() {
        return;
    }
    let home = scratch_folder("trap").unwrap();
    assert_eq!(in_c(&home, "at_level", TRAP, TRAPPED).unwrap(), "A03 main.py:7 1 1 0\n");
}

/// A program that calls the stencils of two projects, which share an error and its constants.
const BOTH: [(&str, &str); 3] = [
    (
        "main.f90",
        "program main
  use doubled
  use halved
  use, intrinsic :: iso_c_binding
  implicit none
  real(c_double) :: q(3, 2, 2), out(3, 2, 2)
  type(isobar_error) :: error
  q = 4
  if (doubled_run(q, out, error=error) /= isobar_ok) error stop isobar_message(error)
  if (halved_run(out, q, error=error) /= isobar_ok) error stop isobar_message(error)
  if (halved_run(out(1:2, :, :), q, domain=[3_c_int64_t, 2_c_int64_t, 2_c_int64_t], error=error) /= isobar_wrong_call) error stop
  print '(i0,1x,i0,1x,a)', int(out(3, 2, 2)), int(q(1, 1, 1)), isobar_message(error)
end program main
",
    ),
    (
        "main.c",
        "#include <stdio.h>
#include \"halved.h\"
#include \"doubled.h\"
int main(void)
{
  double q[1] = {4}, out[1];
  isobar_field from = {sizeof from, ISOBAR_FLOAT64, 3, 0, q, {1, 1, 1}, {1, 1, 1}, {0}}, to = from;
  isobar_error error = ISOBAR_ERROR_INIT;
  to.data = out;
  if (doubled_run(NULL, &from, &to, &error) != ISOBAR_OK || halved_run(NULL, &to, &from, &error) != ISOBAR_OK) return 1;
  printf(\"%g %g\\n\", out[0], q[0]);
  return 0;
}
",
    ),
    (
        "main.cpp",
        "#include <cstdio>
#include \"doubled.hpp\"
#include \"halved.hpp\"
int main()
{
  double q[1] = {4}, out[1];
  isobar::view<double, 3> from(q, {1, 1, 1}, {1, 1, 1}), to(out, {1, 1, 1}, {1, 1, 1});
  doubled::doubled(from, to);
  halved::halved(to, from);
  std::printf(\"%g %g\\n\", out[0], q[0]);
}
",
    ),
];

#[test]
fn two_projects_are_one_program_in_every_language() {
    let Some(tools) = tools() else { return };
    let home = scratch_folder("two").unwrap();
    for (name, formula) in [("doubled", "q * 2.0"), ("halved", "q * 0.5")] {
        let text = format!(
            "from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval\n\ndef {name}(q: Field[float], out: Field[float]):\n    with computation(PARALLEL), interval(...):\n        out = {formula}\n"
        );
        let compilation = route::compile(&Project::of_one("main.py", &text), &Config::default(), &mut NoHook);
        assert!(!compilation.has_errors(), "{:#?}", compilation.notes.diagnostics);
        write(&home.join(name), &files(None, &[compilation]).unwrap()).unwrap();
    }
    // Both in one build, where nothing hides the symbols of a static library; and both found where they are installed.
    let installed = "for it in doubled halved; do cmake -S $it -B build-$it && cmake --build build-$it && cmake --install build-$it --prefix prefix; done";
    in_shell(&tools, &home, installed).unwrap();
    for (way, is_static, finds) in [
        ("beside", true, "add_subdirectory(../doubled doubled)\nadd_subdirectory(../halved halved)"),
        ("found", false, "find_package(doubled 1 REQUIRED)\nfind_package(halved 1 REQUIRED)"),
    ] {
        let own = home.join(way);
        fs::create_dir_all(&own).unwrap();
        let mut consumer = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(consumer LANGUAGES C CXX Fortran)\nset(CMAKE_CXX_STANDARD 17)\n{finds}\n"
        );
        for (file, program) in BOTH {
            fs::write(own.join(file), program).unwrap();
            let (target, of) = (file.replace('.', "_"), if file.ends_with("f90") { "_fortran" } else { "" });
            consumer += &format!(
                "add_executable({target} {file})\ntarget_link_libraries({target} PRIVATE doubled::doubled{of} halved::halved{of})\n"
            );
        }
        fs::write(own.join("CMakeLists.txt"), consumer).unwrap();
        let shared = if is_static { "OFF" } else { "ON" };
        let said = in_shell(
            &tools,
            &own,
            &format!(
                "cmake -S . -B build -DBUILD_SHARED_LIBS={shared} -DCMAKE_PREFIX_PATH=$PWD/../prefix && cmake --build build && for it in build/main_*; do test -d $it || $it; done"
            ),
        )
        .unwrap();
        let said: Vec<&str> = said.lines().filter(|it| it.starts_with("8 4")).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said.iter().any(|it| it.starts_with("8 4 C04: ")), "{said:?}");
    }
    // Without CMake, by the lines of both READMEs.
    let mut lines = String::new();
    for name in ["doubled", "halved"] {
        let readme = fs::read_to_string(home.join(name).join("README.md")).unwrap();
        let of_project = readme.lines().filter(|it| it.starts_with("gcc ") || it.starts_with("gfortran -O2"));
        lines += &format!("(cd {name}\n{}\n)\n", of_project.collect::<Vec<_>>().join("\n"));
    }
    lines += "gfortran beside/main.f90 -Idoubled -Ihalved doubled/*.o halved/halved*.o -Ldoubled -Lhalved -ldoubled -lhalved -o main_f\nLD_LIBRARY_PATH=doubled:halved ./main_f";
    let said = in_shell(&tools, &home, &lines).unwrap();
    assert!(said.starts_with("8 4 C04: "), "{said}");
}

/// The output of a shell that finds the tools.
fn in_shell(tools: &Tools, folder: &Path, lines: &str) -> Result<String> {
    let mut shell = tools.cmake();
    let variables: Vec<_> =
        shell.get_envs().filter_map(|(name, it)| Some((name.to_owned(), it?.to_owned()))).collect();
    shell = Command::new("sh");
    run(shell.current_dir(folder).args(["-e", "-c", lines]).envs(variables))
}

/// The blocks of a page in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("\n```{language}\n");
    page.split(&fence).skip(1).filter_map(|it| Some(it.split_once("\n```")?.0.to_owned() + "\n")).collect()
}

#[test]
fn the_page_about_bindings_does_what_it_says() {
    let Some(tools) = tools() else { return };
    let home = scratch_folder("page").unwrap();
    let page = fs::read_to_string(root().join("docs/bindings.md")).unwrap();
    let [stencil, python] = <[String; 2]>::try_from(blocks(&page, "python")).unwrap();
    let compilation =
        route::compile(&Project::of_one("smooth.py", &stencil), &Config::default(), &mut NoHook);
    assert!(!compilation.has_errors(), "{:#?}", compilation.notes.diagnostics);
    write(&home.join("smooth"), &files(None, &[compilation]).unwrap()).unwrap();
    fs::create_dir_all(home.join("caller/src")).unwrap();
    fs::write(home.join("main.py"), python).unwrap();
    let programs = [
        ("c", "main.c"),
        ("cpp", "main.cpp"),
        ("fortran", "main.f90"),
        ("toml", "caller/Cargo.toml"),
        ("rust", "caller/src/main.rs"),
    ];
    for (language, file) in programs {
        fs::write(home.join(file), blocks(&page, language).concat()).unwrap();
    }
    // The project is there already.
    let lines: String = blocks(&page, "sh").concat().replace("isobar export", "true isobar export");
    let mut shell = Command::new("sh");
    shell.current_dir(&home).args(["-e", "-c", &lines]).env("CARGO_TARGET_DIR", home.join("target"));
    let path = tools.cmake().get_envs().find_map(|it| (it.0 == "PATH").then(|| it.1.unwrap().to_owned()));
    let printed = run(shell.env("PATH", path.unwrap())).unwrap();
    let results: Vec<&str> = printed.lines().filter(|it| it.starts_with("2 ")).collect();
    assert_eq!(results, ["2 65"; 5], "{printed}");
}

/// Installed files can be moved: CMake's and pkg-config's files have relative paths alone.
fn no_path_of_here(prefix: &Path, home: &Path) -> Result<()> {
    for folder in ["lib/cmake", "lib/pkgconfig", "include", "python"] {
        let mut folders = vec![prefix.join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(text) = fs::read_to_string(&path) {
                    assert!(!text.contains(&home.display().to_string()), "{}", path.display());
                }
            }
        }
    }
    Ok(())
}

/// Builds a program that calls the stencil, and runs it.
pub(crate) fn call(
    tools: &Tools,
    language: Language,
    signature: &Signature,
    (launch, answer): (&Launch, Option<&Answering>),
    [project, stencil]: [&str; 2],
    folder: &Path,
    [project_folder, prefix]: [&Path; 2],
) -> Result<()> {
    let text = driver(language, &Driver { project, stencil, signature, launch, answer });
    let library = prefix.join("lib");
    match language {
        Language::C => {
            fs::write(folder.join("main.c"), text)?;
            let mut find = Command::new("pkg-config");
            find.args(["--cflags", "--libs", project]).env("PKG_CONFIG_PATH", library.join("pkgconfig"));
            let flags = run(&mut find)?;
            let mut gcc = Command::new("gcc");
            gcc.current_dir(folder).args(["-std=gnu11", "-Wall", "-Werror", "-O1", "main.c", "-o", "main_c"]);
            run(gcc.args(flags.split_whitespace()))?;
            let said = run(Command::new("./main_c").current_dir(folder).env("LD_LIBRARY_PATH", &library))?;
            assert_eq!(said, "", "with scratch nothing is allocated");
        }
        Language::Cpp | Language::Fortran => {
            let (file, enabled, target) = match language {
                Language::Cpp => ("main.cpp", "CXX", project.to_owned()),
                _ => ("main.f90", "Fortran", format!("{project}_fortran")),
            };
            let own = folder.join(enabled);
            fs::create_dir_all(&own)?;
            fs::write(own.join(file), text)?;
            let consumer = format!(
                "cmake_minimum_required(VERSION 3.16)\nproject(consumer LANGUAGES C {enabled})\nset(CMAKE_CXX_STANDARD 17)\nfind_package({project} 1 REQUIRED)\nadd_executable(main {file})\ntarget_link_libraries(main PRIVATE {project}::{target})\n"
            );
            fs::write(own.join("CMakeLists.txt"), consumer)?;
            let mut configure = tools.cmake();
            configure.current_dir(&own).args(["-S", ".", "-B", "build"]).env("CMAKE_PREFIX_PATH", prefix);
            run(&mut configure)?;
            run(tools.cmake().current_dir(&own).args(["--build", "build"]))?;
            run(Command::new(own.join("build/main")).current_dir(folder))?;
        }
        Language::Python => {
            fs::write(folder.join("main.py"), text)?;
            let mut python = Command::new(&tools.python);
            run(python.current_dir(folder).arg("main.py").env("PYTHONPATH", prefix.join("python")))?;
        }
        Language::Rust => {
            let own = folder.join("rust");
            fs::create_dir_all(own.join("src"))?;
            fs::write(own.join("src/main.rs"), text)?;
            let manifest = format!(
                "[package]\nname = \"main\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\n{project} = {{ path = \"../../moved/rust\" }}\n\n[workspace]\n"
            );
            fs::write(own.join("Cargo.toml"), manifest)?;
            // The crate compiles the C once for all that call it.
            let target = project_folder.with_file_name("rust-target");
            let mut cargo = Command::new("cargo");
            cargo.current_dir(&own).args(["build", "--quiet", "--offline"]).env("CARGO_TARGET_DIR", &target);
            run(&mut cargo)?;
            run(Command::new(target.join("debug/main")).current_dir(folder))?;
        }
    }
    Ok(())
}
