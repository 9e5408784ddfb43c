//! The files that build and find a project: CMake, pkg-config, and a line for no tool at all.

use super::c::source_paths;
use super::{ABI, File, Project, filled};
use crate::c::GCC_FLAGS;

const CONFIG: &str = "\
# Found by find_package(@NAME@); all paths are relative to this file.
include(CMakeFindDependencyMacro)
if(NOT TARGET OpenMP::OpenMP_C)
  find_dependency(OpenMP COMPONENTS C)
endif()
include(\"${CMAKE_CURRENT_LIST_DIR}/@NAME@Targets.cmake\")
";

const PKG_CONFIG: &str = "\
prefix=${pcfiledir}/../..
libdir=${prefix}/lib
includedir=${prefix}/include

Name: @NAME@
Description: Stencils that Isobar compiled
Version: @ABI@.0.0
Cflags: -I${includedir}
Libs: -L${libdir} -l@NAME@
Libs.private: -fopenmp -lm
";

pub(super) fn files(project: &Project<'_>) -> Vec<File> {
    let sources = source_paths(project);
    let bindings: String = project.bindings.iter().map(|it| (it.cmake)(project)).collect();
    let [flags, gcc_flags] = flags(project).map(|it| it.join(" "));
    let upper = project.name.to_ascii_uppercase();
    let abi = ABI.to_string();
    let values = [
        ("NAME", project.name.as_str()),
        ("UPPER", upper.as_str()),
        ("ABI", abi.as_str()),
        ("SOURCES", &sources.join(" ")),
        ("FLAGS", &flags),
        ("GCC_FLAGS", &gcc_flags),
        ("BINDINGS", &bindings),
    ];
    vec![
        File::new("CMakeLists.txt", filled(include_str!("texts/CMakeLists.txt"), &values)),
        File::new(format!("cmake/{}Config.cmake", project.name), filled(CONFIG, &values)),
        File::new(format!("{}.pc", project.name), filled(PKG_CONFIG, &values)),
    ]
}

/// The flags for every compiler, without those for the language and OpenMP; then the flags that gcc alone
/// knows.
pub(super) fn flags(project: &Project<'_>) -> [Vec<&'static str>; 2] {
    let told = project.flags.iter().copied().filter(|it| !["-fopenmp", "-std=gnu11"].contains(it));
    let (of_gcc, of_all) = told.partition(|it| GCC_FLAGS.contains(it));
    [of_all, of_gcc]
}

/// The line that builds a shared library with gcc alone.
pub(super) fn line(project: &Project<'_>) -> String {
    let sources = source_paths(project);
    format!(
        "gcc {} -march=native -fPIC -shared -fvisibility=hidden -I include {} -o lib{}.so -lm",
        project.flags.join(" "),
        sources.join(" "),
        project.name
    )
}
