//! The stencils that are compared.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use isobar_compiler::config::Config;
use isobar_compiler::diag::Diagnostics;
use isobar_compiler::frontend;
use isobar_compiler::inputs::directive;
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;

use super::kept::Kept;
use crate::conformance::{self, Block};
use crate::corpus::{Checkout, Trial};
use crate::generate::{self, Features};

/// A stencil with all that decides its meaning.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Where it comes from, as the table of results groups it.
    pub origin: String,
    /// The name in reports: a path and a name.
    pub name: String,
    pub project: Project,
    pub stencil: String,
    /// The width of literals: 32 or 64.
    pub precision: u32,
    pub config: Config,
    pub domain: Domain,
    /// The block of a conformance page that it is, which says what its inputs are.
    pub block: Option<Block>,
}

/// The imports that the stencils of conformance pages take for granted.
const PRELUDE: &str = "from gt4py.cartesian import gtscript\nfrom gt4py.cartesian.gtscript import *\nfrom ndsl.dsl.typing import *\nimport numpy as np\n";

/// The origin of the stencils of conformance pages.
const CONFORMANCE: &str = "conformance";

impl Subject {
    /// A stencil of a text that says itself which externals it takes.
    #[must_use]
    pub fn of_text(
        origin: &str,
        name: &str,
        text: &str,
        stencil: &str,
        precision: u32,
        domain: Domain,
    ) -> Self {
        let mut project = Project::of_one("main.py", text);
        project.stencil = Some(stencil.to_owned());
        let mut config = Config::with_precision(precision);
        let (directives, _) = directive::read(text, project.main_id().unwrap_or_default());
        config.externals = directives.external_values();
        Self {
            origin: origin.to_owned(),
            name: name.to_owned(),
            project,
            stencil: stencil.to_owned(),
            precision,
            config,
            domain,
            block: None,
        }
    }

    /// The stencils of conformance pages, but those that are more than a text: with modules beside them, or
    /// options that gt4py does not have.
    ///
    /// # Errors
    ///
    /// When a page cannot be read.
    pub fn of_pages(folder: &Path) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for path in files(folder, "md")? {
            let page = std::fs::read_to_string(&path)?;
            let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            for block in conformance::blocks(&page) {
                let is_plain = block.modules.is_empty() && block.minmax.is_none() && block.modulo.is_none();
                // Isobar and not gt4py decides which calls are refused and which runs stop, so such blocks
                // are left out.
                let is_run = ["refused", "stops"].iter().all(|it| block.lines_of(it).next().is_none());
                if is_plain && is_run && block.halo == 0 {
                    found.extend(Self::of_block(&format!("{file}:{}", block.line), block)?);
                }
            }
        }
        Ok(found)
    }

    /// A stencil of a conformance page; `None` for a text without one, which is no subject.
    ///
    /// # Errors
    ///
    /// When the block's options cannot be read.
    pub fn of_block(name: &str, block: Block) -> Result<Option<Self>> {
        let text = if block.text.starts_with(PRELUDE) {
            block.text.clone()
        } else {
            format!("{PRELUDE}{}", block.text)
        };
        let block = Block { text, ..block };
        let project = Project::of_one("main.py", &block.text);
        let parsed = frontend::parse(&project, &mut Diagnostics::default());
        let mut config = conformance::config(&block)?;
        let (directives, _) = directive::read(&block.text, project.main_id().unwrap_or_default());
        config.externals.extend(directives.external_values());
        let first = || parsed.stencils().first().map(|it| it.name.to_string());
        let Some(stencil) = directives.stencil.clone().or_else(first) else { return Ok(None) };
        Ok(Some(Self {
            origin: CONFORMANCE.to_owned(),
            name: name.to_owned(),
            project,
            stencil,
            precision: block.precision,
            config,
            domain: Domain::new(5, 4, 6),
            block: Some(block),
        }))
    }

    /// A stencil that was compared, from what is kept of it.
    ///
    /// # Errors
    ///
    /// When it was of a conformance page, and is not one any more.
    pub fn of_kept(kept: &Kept) -> Result<Self> {
        if kept.origin == CONFORMANCE {
            let block = Block { text: kept.text.clone(), precision: kept.precision, ..Block::default() };
            return Self::of_block(&kept.name, block)?.context("a text without a stencil");
        }
        let [i, j, k] = kept.domain;
        let domain = Domain::new(i, j, k);
        Ok(Self::of_text(&kept.origin, &kept.name, &kept.text, &kept.stencil, kept.precision, domain))
    }

    /// Returns the generated stencil of a seed. Four seeds in a row go from few features to all. It is in
    /// double or in single precision. Its regions may be larger than its domain.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self::of_seed_with(seed, |it| it)
    }

    /// The same with features that are not theirs.
    #[must_use]
    pub fn of_seed_with(seed: u64, change: impl FnOnce(Features) -> Features) -> Self {
        let (kind, features) = match seed % 4 {
            0 => ("exact", Features::EXACT),
            1 => ("plain", Features::PLAIN),
            2 => ("computed", Features::COMPUTED),
            _ => ("all", Features::ALL),
        };
        let precision = if seed % 8 < 6 { 64 } else { 32 };
        let domain = if seed % 5 < 4 { Domain::new(5, 4, 6) } else { Domain::new(4, 6, 3) };
        let made = generate::stencil(seed, change(features));
        let name = format!("{kind}:{seed}:{precision}");
        Self::of_text("generated", &name, &made.text, &made.stencil, precision, domain)
    }

    /// The first `count` generated stencils.
    #[must_use]
    pub fn generated(count: u64) -> Vec<Self> {
        (0..count).map(Self::of_seed).collect()
    }

    /// Every stencil of the Python files in a folder of our own, in double and in single precision.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn of_folder(origin: &str, folder: &Path, domain: Domain) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for path in files(folder, "py")? {
            let text = std::fs::read_to_string(&path)?;
            let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let parsed = frontend::parse(&Project::of_one("main.py", &text), &mut Diagnostics::default());
            for stencil in parsed.stencils() {
                for precision in [64, 32] {
                    let name = format!("{file}:{}:{precision}", stencil.name);
                    found.push(Self::of_text(origin, &name, &text, &stencil.name, precision, domain));
                }
            }
        }
        Ok(found)
    }

    /// Every stencil below a folder that others wrote, with externals that let it compile.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn of_checkout(root: &Path, libraries: &[PathBuf], domain: Domain) -> Result<Vec<Self>> {
        let mut trial = Trial::new(Checkout::read(root, libraries)?);
        let mut found = Vec::new();
        for (file, stencil) in trial.stencils() {
            let (project, config) = trial.project(&file, &stencil);
            found.push(Self {
                origin: root.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                name: format!("{file}:{stencil}"),
                project,
                stencil,
                precision: 64,
                config,
                domain,
                block: None,
            });
        }
        Ok(found)
    }

    /// Whether the text of the main file has a `while`, be it in another stencil.
    #[must_use]
    pub fn has_while(&self) -> bool {
        let text = self.project.main_id().map_or("", |it| self.project.text(it));
        text.lines().any(|it| it.trim_start().starts_with("while "))
    }

    /// All levels of it.
    #[must_use]
    pub fn compile(&self) -> Compilation {
        route::compile(&self.project, &self.config, &mut NoHook)
    }
}

/// The files of a folder with that ending, by name.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<_> = entries.filter_map(|it| it.ok().map(|it| it.path())).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == ending));
    files.sort();
    Ok(files)
}
