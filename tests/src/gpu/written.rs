//! Stencils that people wrote: the gallery, the kernels of the benchmarks, the conformance pages, and those
//! of checkouts.

use std::path::PathBuf;

use anyhow::Result;
use isobar_compiler::pass::GpuModel;
use isobar_compiler::space::Domain;

use crate::agree::subject::Subject;
use crate::conformance::blocks;
use crate::emulation::Called;
use crate::native::{Layout, shape_of_seed};
use crate::root;

/// A few points, and rows that blocks do not divide.
const DOMAINS: [Domain; 2] = [Domain { i: 5, j: 4, k: 6 }, Domain { i: 37, j: 17, k: 5 }];

/// Ours, and all stencils below these folders that compile.
///
/// # Errors
///
/// When a folder cannot be read.
pub fn subjects(checkouts: &[PathBuf], libraries: &[PathBuf]) -> Result<Vec<Subject>> {
    let domain = DOMAINS[0];
    let mut all = Subject::of_folder("gallery", &root().join("static/gallery"), domain)?;
    all.extend(Subject::of_folder("kernels", &root().join("tests/kernels"), domain)?);
    let mut pages: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/conformance"))? {
        pages.push(entry?.path());
    }
    pages.sort();
    for page in pages.iter().filter(|it| it.extension().is_some_and(|it| it == "md")) {
        let file = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for block in blocks(&std::fs::read_to_string(page)?) {
            all.extend(Subject::of_block(&format!("{file}:{}", block.line), block)?);
        }
    }
    for folder in checkouts {
        all.extend(Subject::of_checkout(folder, libraries, domain)?);
    }
    all.retain(|it| !it.compile().has_errors());
    Ok(all)
}

/// Returns the calls of a stencil: on two domains or as its page says, in two layouts. Its launches have the
/// form that the compiler chooses. Where `is_forced` is set, each number asks for the next form, and for the
/// next model after all forms.
///
/// # Errors
///
/// Where it does not compile.
pub fn called(subject: &Subject, number: u64, is_forced: bool) -> Result<Called> {
    let mut subject = subject.clone();
    if is_forced {
        let models = [GpuModel::H100, GpuModel::WEBGPU, GpuModel::LAVAPIPE];
        shape_of_seed(number, &models, &mut subject.config.passes);
    }
    // A page says on which domain.
    let domains = if subject.block.is_some() { &DOMAINS[..1] } else { &DOMAINS };
    Called::of(number, &subject, domains, &[Layout::Fortran, Layout::C])
}
