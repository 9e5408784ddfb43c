//! Functions that the tests across rooms share: the gallery, compilations, inputs, comparisons.

pub mod advice;
pub mod against;
pub mod agree;
pub mod checklist;
pub mod conformance;
pub mod corpus;
pub mod dace;
pub mod emulation;
pub mod exported;
pub mod fence;
pub mod generate;
pub mod golden;
pub mod gpu;
pub mod kernels;
pub mod levels;
pub mod manual;
pub mod native;
pub mod peers;
pub mod programs;
pub mod schedules;
pub mod shared;
pub mod texts;
pub mod ulp;
pub mod vocabulary;

use std::path::{Path, PathBuf};

use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::signature::ParamKind;
use isobar_compiler::config::Config;
use isobar_compiler::debug::{self, Control};
use isobar_compiler::inputs;
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;

/// The stencils of the gallery, in its order.
pub const GALLERY: [&str; 5] =
    ["copy_scale", "horizontal_diffusion", "vertical_advection", "ppm_transport", "column_physics"];

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of a gallery stencil.
///
/// # Panics
///
/// When there is none of that name.
#[must_use]
pub fn gallery_text(name: &str) -> String {
    let path = root().join("static/gallery").join(format!("{name}.py"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A gallery stencil, compiled with literals of 32 or 64 bits.
///
/// # Panics
///
/// When it does not compile.
#[must_use]
pub fn compiled(name: &str, precision: u32) -> Compilation {
    compiled_text(name, &gallery_text(name), precision)
}

/// A text, compiled with literals of 32 or 64 bits.
///
/// # Panics
///
/// When it does not compile.
#[must_use]
pub fn compiled_text(name: &str, text: &str, precision: u32) -> Compilation {
    let project = Project::of_one(&format!("{name}.py"), text);
    let compilation = route::compile(&project, &Config::with_precision(precision), &mut NoHook);
    assert!(!compilation.has_errors(), "{name} does not compile: {:#?}", compilation.notes.diagnostics);
    compilation
}

/// A launch with the inputs that the text itself describes.
///
/// # Panics
///
/// When they do not fit.
#[must_use]
pub fn launch(compilation: &Compilation, domain: Domain) -> Launch {
    let signature = compilation.front.signature.as_ref().expect("it compiled");
    let call = inputs::call_for(signature, &compilation.front.directives, domain);
    compilation.front.bind(call).unwrap_or_else(|wrong| panic!("{wrong:#?}"))
}

/// Runs the reference interpreter on a launch.
///
/// # Panics
///
/// When it stops.
pub fn run_debug(compilation: &Compilation, launch: &mut Launch) {
    struct GoOn;
    impl Control for GoOn {
        fn progress(&mut self, _done: u64, _total: u64) -> bool {
            true
        }
    }
    let (oir, extents) = (
        compilation.front.oir.as_ref().expect("it compiled"),
        compilation.front.extents.as_ref().expect("it compiled"),
    );
    debug::run(oir, extents, launch, &mut GoOn).unwrap_or_else(|stop| panic!("{stop:?}"));
}

/// The fields that the stencil writes, by name.
#[must_use]
pub fn written<'a>(compilation: &'a Compilation, launch: &'a Launch) -> Vec<(&'a str, &'a Array)> {
    let signature = compilation.front.signature.as_ref().expect("it compiled");
    let written =
        signature.params.iter().zip(&launch.arguments).filter_map(|(param, argument)| match argument {
            Argument::Field(field)
                if param.access.is_written() && matches!(param.kind, ParamKind::Field { .. }) =>
            {
                Some((param.name.as_str(), &field.array))
            }
            Argument::Field(_) | Argument::Scalar(_) | Argument::Unused => None,
        });
    written.collect()
}
