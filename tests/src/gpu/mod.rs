//! Checks and measurements on a GPU, by a program that needs no other file: `tests/gpu/verify` calls it.
//!
//! Texts are part of the program. Each task runs in a process of its own. A fault that breaks a driver, or
//! the process with it, costs that answer alone and is reported as such.

pub mod bench;
pub mod correct;
pub mod hand;
pub mod report;
pub mod written;

use isobar_compiler::config::Config;
use isobar_compiler::pass::GpuModel;
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_runner::backends::Backend;

/// A stencil that people wrote.
#[derive(Clone, Copy, Debug)]
pub struct Stencil {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! gallery {
    ($name:literal, $file:literal) => {
        Stencil { name: $name, text: include_str!(concat!("../../../static/gallery/", $file, ".py")) }
    };
}

macro_rules! kernel {
    ($name:literal) => {
        Stencil { name: $name, text: include_str!(concat!("../../kernels/", $name, ".py")) }
    };
}

/// The gallery, under the names that measurements have for it.
pub const GALLERY: [Stencil; 5] = [
    gallery!("copy_scale", "copy_scale"),
    gallery!("hdiff", "horizontal_diffusion"),
    gallery!("vadv", "vertical_advection"),
    gallery!("ppm", "ppm_transport"),
    gallery!("physics", "column_physics"),
];

/// The other kernels that speed is measured by.
pub const KERNELS: [Stencil; 5] =
    [kernel!("chain"), kernel!("copy"), kernel!("lap5"), kernel!("lap7"), kernel!("tridiagonal")];

/// Those that are measured on GPUs.
pub const MEASURED: [&str; 5] = ["hdiff", "vadv", "chain", "ppm", "physics"];

/// Bits of literals and of `Float`.
pub const PRECISIONS: [u32; 2] = [64, 32];

/// The back ends that are held.
pub const BACKENDS: [Backend; 2] = [Backend::WGPU, Backend::CUDA];

/// A stencil by its name.
#[must_use]
pub fn stencil(name: &str) -> Option<&'static Stencil> {
    GALLERY.iter().chain(&KERNELS).find(|it| it.name == name)
}

impl Stencil {
    /// Compiled as for a run on this GPU.
    ///
    /// # Errors
    ///
    /// The errors of the stencil.
    pub fn compiled(&self, precision: u32, gpu: Option<GpuModel>) -> anyhow::Result<Compilation> {
        let project = Project::of_one(&format!("{}.py", self.name), self.text);
        let mut config = Config::with_precision(precision);
        config.passes.gpu = gpu;
        let compilation = route::compile(&project, &config, &mut NoHook);
        anyhow::ensure!(!compilation.has_errors(), "{}: {:#?}", self.name, compilation.notes.diagnostics);
        Ok(compilation)
    }
}

/// The GPU that a back end runs on, as schedules know it.
#[must_use]
pub fn model_of(backend: Backend) -> Option<GpuModel> {
    backend.executor().device()?.model()
}
