//! Exported projects: C with an interface of its own that other languages call, and the files that build it.
//!
//! Text in, files out: the caller writes them. The kernel is the text that the back end `c` makes. Around it
//! stand a check of each call ([`c`]), one file for each other language, and the files of build systems
//! ([`build`]). A further language is a module and a row of [`BINDINGS`].

mod names;
mod touched;
mod program;
mod kernel;
mod c;
mod cpp;
mod fortran;
mod python;
mod rust;
mod build;
mod readme;
mod manifest;

pub use manifest::{MANIFEST, ManifestEntry, hash_of, owned};

use std::fmt::Write as _;

use crate::c::CArtifact;
use crate::call::signature::{AccessKind, Param, ParamKind, Signature};
use crate::oir::analysis::Extents;
use crate::oir::nodes as oir;
use crate::pipeline::whole::WholeProgram;
use crate::space::AxisSet;
use crate::types::DType;
use kernel::Kernel;
use names::Names;

/// The version of the interface, as `abi.h` has it.
pub const ABI: u32 = 1;

/// The most dimensions that the interface has room for in a field.
const MOST_DIMENSIONS: usize = 8;

/// A project to export.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The name of the project; without it, that of its first stencil.
    pub name: Option<&'a str>,
    pub bindings: Vec<&'static Binding>,
    /// One at least.
    pub stencils: Vec<CompiledStencil<'a>>,
    /// Whether last bits may differ from those of `debug`.
    pub is_fast: bool,
    /// The program that exports, with its version.
    pub generator: &'a str,
}

/// A stencil or a program that compiled.
#[derive(Clone, Debug)]
pub struct CompiledStencil<'a> {
    pub signature: &'a Signature,
    pub code: ExportedCode<'a>,
    /// Name and text of each file, in the order of their numbers.
    pub sources: Vec<(&'a str, &'a str)>,
}

/// The code behind a function of the interface.
#[derive(Clone, Debug)]
pub enum ExportedCode<'a> {
    Stencil(StencilCode<'a>),
    Program(&'a WholeProgram),
}

/// The code of one stencil.
#[derive(Clone, Debug)]
pub struct StencilCode<'a> {
    pub artifact: &'a CArtifact,
    /// The same code for calls with one thread.
    pub of_one_thread: CArtifact,
    pub oir: &'a oir::Stencil,
    pub extents: &'a Extents,
}

impl ExportedCode<'_> {
    fn artifacts(&self) -> Vec<&CArtifact> {
        match self {
            ExportedCode::Stencil(code) => vec![code.artifact],
            ExportedCode::Program(code) => program::artifacts(code).collect(),
        }
    }
}

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Below the project's folder, with `/`.
    pub path: String,
    pub text: String,
}

impl File {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// A language that calls what was exported.
#[derive(Debug)]
pub struct Binding {
    /// As it is asked for.
    pub name: &'static str,
    pub title: &'static str,
    files: fn(&Project<'_>) -> Vec<File>,
    /// The lines of `CMakeLists.txt` that build and install it.
    cmake: fn(&Project<'_>) -> String,
    /// How it is called, for the README, in Markdown.
    example: fn(&Project<'_>) -> String,
}

/// Every language, in the order in which files are listed.
pub static BINDINGS: [Binding; 5] =
    [c::BINDING, cpp::BINDING, fortran::BINDING, python::BINDING, rust::BINDING];

impl Binding {
    /// The row of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        BINDINGS.iter().find(|it| it.name == name)
    }
}

/// The files of a project; the last one is its [`MANIFEST`], which lists the others.
///
/// # Errors
///
/// A sentence: what the interface cannot hold.
pub fn files(request: &Request<'_>) -> Result<Vec<File>, String> {
    let project = Project::of(request)?;
    let mut files = c::sources(&project);
    files.extend(build::files(&project));
    for it in &project.bindings {
        files.extend((it.files)(&project));
    }
    files.push(File::new("README.md", readme::text(&project)));
    let manifest = manifest::text(&project, request, &files);
    files.push(File::new(MANIFEST, manifest));
    Ok(files)
}

/// The names of a stencil's parameters in all languages, in their order.
#[must_use]
pub fn parameter_names(signature: &Signature) -> Vec<String> {
    let mut names = Names::default();
    signature.params.iter().map(|it| names.choose(&it.name)).collect()
}

/// A project with its names.
#[derive(Debug)]
struct Project<'a> {
    name: String,
    stencils: Vec<Stencil<'a>>,
    bindings: Vec<&'static Binding>,
    /// The flags that compilers of C need; without them the bits change.
    flags: Vec<&'static str>,
    is_fast: bool,
}

/// A stencil of a project.
#[derive(Debug)]
struct Stencil<'a> {
    name: String,
    params: Vec<Parameter<'a>>,
    source: &'a CompiledStencil<'a>,
    kernel: Kernel,
}

/// A parameter with the name that it has in all languages.
#[derive(Debug)]
struct Parameter<'a> {
    name: String,
    param: &'a Param,
}

/// A field as an interface describes it.
#[derive(Clone, Copy, Debug)]
struct FieldInterface<'a> {
    axes: AxisSet,
    data_dims: &'a [u32],
    is_used: bool,
    is_written: bool,
}

impl FieldInterface<'_> {
    fn rank(&self) -> usize {
        self.axes.len() + self.data_dims.len()
    }
}

impl Parameter<'_> {
    fn dtype(&self) -> DType {
        self.param.kind.dtype()
    }

    /// Its description as a field; none for a scalar.
    fn field(&self) -> Option<FieldInterface<'_>> {
        match &self.param.kind {
            ParamKind::Field { axes, data_dims, .. } => Some(FieldInterface {
                axes: *axes,
                data_dims,
                is_used: self.param.access != AccessKind::None,
                is_written: self.param.access.is_written(),
            }),
            ParamKind::Scalar { .. } => None,
        }
    }
}

impl Stencil<'_> {
    fn fields(&self) -> impl Iterator<Item = (&Parameter<'_>, FieldInterface<'_>)> {
        self.params.iter().filter_map(|it| Some((it, it.field()?)))
    }

    fn scalars(&self) -> impl Iterator<Item = &Parameter<'_>> {
        self.params.iter().filter(|it| it.field().is_none())
    }

    /// Whether it leaves statements to its caller.
    fn asks_caller(&self) -> bool {
        !self.kernel.of_caller.is_empty()
    }

    fn n_fields(&self) -> usize {
        self.fields().count()
    }

    /// Which fields, by their numbers, the generated code takes, in its order; and which scalars, by their names.
    fn passed(&self) -> (Vec<usize>, Vec<&str>) {
        let (mut fields, mut scalars) = (Vec::new(), Vec::new());
        for it in &self.kernel.arguments {
            if it.is_field {
                fields.extend(self.fields().position(|(own, _)| own.param.name == it.name));
            } else {
                let own = self.scalars().find(|own| own.param.name == it.name);
                scalars.extend(own.map(|it| it.name.as_str()));
            }
        }
        (fields, scalars)
    }
}

impl<'a> Project<'a> {
    fn of(request: &'a Request<'a>) -> Result<Self, String> {
        let first = request.stencils.first().ok_or("there is no stencil to export")?;
        let name = Names::default().choose(request.name.unwrap_or(&first.signature.name));
        let (mut names, mut stencils) = (Names::default(), Vec::new());
        for source in &request.stencils {
            let mut params = Vec::new();
            for (param, name) in source.signature.params.iter().zip(parameter_names(source.signature)) {
                if let ParamKind::Field { axes, data_dims, .. } = &param.kind
                    && axes.len() + data_dims.len() > MOST_DIMENSIONS
                {
                    return Err(format!(
                        "`{}` has more than 8 dimensions, which the interface cannot hold",
                        param.name
                    ));
                }
                params.push(Parameter { name, param });
            }
            let stencil = names.choose(&source.signature.name);
            if ["run", "scratch", "fortran", "kernel", "event"]
                .iter()
                .any(|it| name == format!("{stencil}_{it}"))
            {
                return Err(format!(
                    "`{name}` is the name of a function of this project: give it another one"
                ));
            }
            let kernel = Kernel::of(&stencil, source);
            stencils.push(Stencil { name: stencil, params, source, kernel });
        }
        Ok(Self {
            name,
            stencils,
            bindings: request.bindings.clone(),
            flags: flags(request),
            is_fast: request.is_fast,
        })
    }

    fn asks_caller(&self) -> bool {
        self.stencils.iter().any(Stencil::asks_caller)
    }

    fn has(&self, binding: &str) -> bool {
        self.bindings.iter().any(|it| it.name == binding)
    }
}

/// The flags of all stencils; one that reorders sums stays only where all have it.
fn flags(request: &Request<'_>) -> Vec<&'static str> {
    let artifacts = request.stencils.iter().flat_map(|it| it.code.artifacts());
    let all: Vec<Vec<&str>> = artifacts.map(|it| it.flags(request.is_fast)).collect();
    let is_reordering = |flag: &&str| crate::c::REORDERING_FLAGS.contains(flag);
    let mut flags: Vec<&'static str> = Vec::new();
    for flag in all.iter().flatten().copied() {
        let is_kept = !is_reordering(&flag) || all.iter().all(|it| it.contains(&flag));
        if is_kept && !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    flags
}

/// Fills in a text of ours: what stands between two `@` is a key.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (key, value) in values {
        text = text.replace(&format!("@{key}@"), value);
    }
    text
}

/// Numbers with commas between them.
fn listed<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for it in items {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{it}");
    }
    text
}

#[cfg(test)]
mod tests;
