//! `cargo xtask nvrtc`: CUDA of our stencils as machine code, without a GPU.

use std::path::PathBuf;

use anyhow::Result;

use crate::process::{built, run};
use crate::registry;

/// Installs NVRTC where it is missing, and compiles.
pub(crate) fn nvrtc(generated: u32, first: u64, archs: &[String], paths: &[PathBuf]) -> Result<()> {
    let cuda = registry::cuda()?;
    let mut command = built("nvrtc")?;
    command.args(["--generated", &generated.to_string(), "--first", &first.to_string()]);
    for arch in archs {
        command.args(["--arch", arch]);
    }
    if let Some(disassembler) = &cuda.disassembler {
        command.arg("--disassembler").arg(disassembler);
    }
    command.args(paths).env("ISOBAR_NVRTC", &cuda.nvrtc);
    run(&mut command, "compile CUDA to machine code of GPUs")
}

/// The part that runs with all tests.
pub(crate) fn sample() -> Result<()> {
    nvrtc(5, 0, &["sm_80", "sm_90", "sm_100"].map(str::to_owned), &[])
}
