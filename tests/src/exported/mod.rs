//! Exported projects, built as their README says and called from each language on the caller's own arrays.

mod drivers;

pub use drivers::{Answering, Driver, LANGUAGES, Language, driver};

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::export::{self, BINDINGS, Binding, File};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::types::Value;

/// The files of a project with all bindings.
///
/// # Errors
///
/// Why it is not exported.
pub fn files(name: Option<&str>, compilations: &[Compilation]) -> Result<Vec<File>, String> {
    files_with(BINDINGS.iter().collect(), name, compilations)
}

/// The files of a project with these bindings.
///
/// # Errors
///
/// Why it is not exported.
pub fn files_with(
    bindings: Vec<&'static Binding>,
    name: Option<&str>,
    compilations: &[Compilation],
) -> Result<Vec<File>, String> {
    let source = |it: &'_ Compilation| -> Option<()> { it.c().map(drop) };
    if compilations.iter().any(|it| source(it).is_none()) {
        return Err("a stencil did not compile".to_owned());
    }
    let stencils = compilations.iter().filter_map(|it| {
        Some(export::CompiledStencil {
            signature: it.front.signature.as_ref()?,
            code: export::ExportedCode::Stencil(export::StencilCode {
                artifact: it.c()?,
                of_one_thread: it.c_of_one_thread()?,
                oir: it.front.oir.as_ref()?,
                extents: it.front.extents.as_ref()?,
            }),
            sources: it.front.sources().collect(),
        })
    });
    export::files(&export::Request {
        name,
        bindings,
        stencils: stencils.collect(),
        is_fast: false,
        generator: "test",
    })
}

/// Writes files below a folder that is not there yet.
///
/// # Errors
///
/// When they cannot be written.
pub fn write(folder: &Path, files: &[File]) -> Result<()> {
    for it in files {
        let path = folder.join(&it.path);
        fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        fs::write(&path, &it.text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// How the arrays of a caller lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lying {
    /// As sections of Fortran's arrays: every second element along the first dimension, the second one backwards.
    Sections,
    /// As NumPy's: neighbours along the last dimension lie side by side, and rows are apart.
    Transposed,
}

/// Elements that are nobody's: a call that touches them is found out.
const NOBODYS: u8 = 0x5a;

impl Lying {
    /// The same values, lying so among elements of nobody.
    #[must_use]
    pub fn of(self, launch: &Launch) -> Launch {
        let mut other = launch.clone();
        for argument in &mut other.arguments {
            if let Argument::Field(field) = argument {
                field.array = self.lay(&field.array);
            }
        }
        other
    }

    fn lay(self, old: &Array) -> Array {
        let rank = old.shape.len();
        let (mut strides, mut first, mut n) = (vec![0_i64; rank], 0_usize, 1_usize);
        match self {
            Lying::Sections => {
                for (at, (stride, size)) in strides.iter_mut().zip(&old.shape).enumerate() {
                    let step = if at == 0 { 2 } else { 1 };
                    *stride = i64::try_from(n * step).unwrap_or(0);
                    if at == 1 {
                        first += n * size.saturating_sub(1);
                        *stride = -*stride;
                    }
                    n *= size * step;
                }
            }
            Lying::Transposed => {
                for at in (0..rank).rev() {
                    strides[at] = i64::try_from(n).unwrap_or(0);
                    n *= old.shape[at] + if at + 1 == rank { 3 } else { 0 };
                }
            }
        }
        let dtype = old.dtype();
        let bytes = match dtype {
            // A byte of a truth value is 0 or 1.
            isobar_compiler::types::DType::Bool => vec![1; n],
            _ => vec![NOBODYS; n * dtype.size_bytes()],
        };
        let elements = Elements::from_le_bytes(dtype, &bytes);
        let mut new = Array { elements, first, shape: old.shape.clone(), strides };
        for index in old.indices() {
            let at = new.position(&index);
            new.elements.set(at, old.get(&index));
        }
        new
    }
}

/// Where the tools are.
#[derive(Clone, Debug)]
pub struct Tools {
    pub cmake: PathBuf,
    pub ninja: PathBuf,
    pub gfortran: PathBuf,
    pub python: PathBuf,
}

impl Tools {
    /// Those of the environment that `cargo xtask test` installs, or of the system; or what is missing.
    ///
    /// # Errors
    ///
    /// A sentence for each.
    pub fn find() -> Result<Self> {
        let environment = std::env::var_os("ISOBAR_EXPORT_TOOLS").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let find = |name: &str| {
            let own = environment.iter().map(|it| it.join("bin"));
            let found =
                own.chain(std::env::split_paths(&path)).map(|it| it.join(name)).find(|it| it.is_file());
            found.with_context(|| format!("there is no `{name}`"))
        };
        for name in ["gcc", "g++", "pkg-config"] {
            find(name)?;
        }
        let python = find("python3")?;
        run(Command::new(&python).args(["-c", "import numpy"])).context("there is no numpy")?;
        Ok(Self { cmake: find("cmake")?, ninja: find("ninja")?, gfortran: find("gfortran")?, python })
    }

    /// A command of CMake.
    #[must_use]
    pub fn cmake(&self) -> Command {
        let mut command = Command::new(&self.cmake);
        command
            .env("CMAKE_GENERATOR", "Ninja")
            .env("CMAKE_MAKE_PROGRAM", &self.ninja)
            .env("FC", &self.gfortran);
        let folder = self.ninja.parent().map(Path::as_os_str).unwrap_or_default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", [folder, OsStr::new(":"), &path].into_iter().collect::<std::ffi::OsString>());
        command
    }
}

/// Runs a command to its end; answers what it printed.
///
/// # Errors
///
/// When it fails, with all that it said.
pub fn run(command: &mut Command) -> Result<String> {
    let told = format!("{command:?}");
    let done = command.output().with_context(|| told.clone())?;
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    ensure!(done.status.success(), "{told}: {}\n{out}\n{err}", done.status);
    Ok(out.into_owned())
}

/// The value as all languages but Python spell it.
#[must_use]
pub(crate) fn spelled(value: Value) -> String {
    match value {
        Value::Bool(it) => it.to_string(),
        Value::Int8(it) => it.to_string(),
        Value::Int16(it) => it.to_string(),
        Value::Int32(it) => it.to_string(),
        Value::Int64(it) => it.to_string(),
        Value::Float32(it) => format!("{it:e}"),
        Value::Float64(it) => format!("{it:e}"),
    }
}

/// Writes the arrays of a launch as the drivers read them: `0.in` and so on.
///
/// # Errors
///
/// When they cannot be written.
pub fn write_arrays(folder: &Path, launch: &Launch) -> Result<()> {
    for (at, array) in arrays(launch).enumerate() {
        fs::write(folder.join(format!("{at}.in")), array.elements.to_le_bytes())?;
    }
    Ok(())
}

/// Checks that the drivers wrote the arrays of the launch, including the elements that belong to nobody.
///
/// # Errors
///
/// The first array that differs.
pub fn hold(folder: &Path, launch: &Launch) -> Result<()> {
    for (at, array) in arrays(launch).enumerate() {
        let found = fs::read(folder.join(format!("{at}.out")))?;
        let meant = array.elements.to_le_bytes();
        if found != meant {
            let size = array.dtype().size_bytes();
            let differing = found.chunks(size).zip(meant.chunks(size)).position(|(a, b)| a != b);
            bail!("array {at} differs at its element {differing:?} of {}", array.elements.len());
        }
        fs::remove_file(folder.join(format!("{at}.out")))?;
    }
    Ok(())
}

fn arrays(launch: &Launch) -> impl Iterator<Item = &Array> {
    launch.arguments.iter().filter_map(|it| match it {
        Argument::Field(field) => Some(&field.array),
        Argument::Scalar(_) | Argument::Unused => None,
    })
}
