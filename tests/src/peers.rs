//! A Python process that runs the same stencil with gt4py, a call at a time, when it is told to.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use isobar_compiler::call::array::Elements;
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::signature::{AccessKind, ParamKind, Signature};
use isobar_compiler::config::Config;
use isobar_compiler::pipeline::{Compilation, Stage};
use isobar_compiler::project::Project;
use isobar_compiler::space::{Axis, Domain};
use isobar_compiler::types::Value;
use serde_json::{Value as Json, json};

use crate::agree::handed;
use crate::kernels::Tolerance;
use crate::kernels::fields::{Agreement, Fields, compare};
use crate::root;

/// Others contract and have other mathematics.
pub const OF_PEERS: Tolerance = Tolerance::Close([1e-9, 2e-4]);

/// One process with its contestants.
#[derive(Debug)]
pub struct Peers {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    folder: PathBuf,
    /// Each contestant, with the seconds that building it took, or why it does not run.
    pub built: Vec<(String, Result<f64, String>)>,
}

/// The stencil that a process runs, and by which contestants.
#[derive(Debug)]
pub struct Job<'a> {
    /// The files, and the folder that has them.
    pub project: &'a Project,
    pub source: &'a Path,
    pub config: &'a Config,
    pub compilation: &'a Compilation,
    /// Fields in Fortran order, without gaps.
    pub launch: &'a Launch,
    pub threads: u32,
    /// Which time is measured: `wall` or `processor`.
    pub clock: &'static str,
    pub contestants: Vec<String>,
}

/// The Python of an environment that has gt4py with these back ends.
///
/// # Errors
///
/// The missing part, in a sentence.
pub fn python_of(environment: &Path, backends: &[&str]) -> Result<PathBuf> {
    let python = environment.join("bin/python");
    let place = environment.display();
    ensure!(
        python.exists(),
        "`--gt4py {place}`: this is no Python environment, there is no {}; `cargo xtask bench-env FOLDER` makes one, \
         FOLDER/venv",
        python.display()
    );
    let told = "from gt4py.cartesian import backend; print('back ends:', *backend.REGISTRY.names)";
    let said = Command::new(&python).args(["-c", told]).output();
    let said = said.with_context(|| format!("`--gt4py {place}`: its Python cannot be started"))?;
    let errors = String::from_utf8_lossy(&said.stderr);
    ensure!(
        said.status.success(),
        "`--gt4py {place}`: its Python has no gt4py: {}",
        errors.trim_end().lines().next_back().unwrap_or_default()
    );
    let output = String::from_utf8_lossy(&said.stdout);
    let names = output.lines().find_map(|it| it.strip_prefix("back ends: ")).unwrap_or_default();
    for backend in backends {
        ensure!(
            names.split(' ').any(|it| it == *backend),
            "gt4py has no back end `{backend}` there; it has {names}"
        );
    }
    Ok(python)
}

impl Peers {
    /// Starts the process, and waits until all are built; `tell` hears of each.
    ///
    /// # Errors
    ///
    /// When the process cannot be started, or ends.
    pub fn start(
        python: &Path,
        folder: &Path,
        cache: &Path,
        job: &Job<'_>,
        tell: &dyn Fn(&str, &Result<f64, String>),
    ) -> Result<Self> {
        // Files of another stencil must not count as results.
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        write(folder, job)?;
        let log = fs::File::create(folder.join("log"))?;
        let mut child = Command::new(python)
            .arg(root().join("tests/benches/peer.py"))
            .arg(folder)
            .env("OMP_NUM_THREADS", job.threads.to_string())
            .env("GT_CACHE_ROOT", cache)
            // The headers of the DaCe that it brings along ask for it.
            .env("GT4PY_EXTRA_COMPILE_ARGS", "-std=c++20")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} cannot be started", python.display()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("a process without pipes")
        };
        let stdout = BufReader::new(stdout);
        let mut peers = Self { child, stdin, stdout, folder: folder.to_owned(), built: Vec::new() };
        for name in &job.contestants {
            let answer: Json = serde_json::from_str(&peers.line()?)?;
            let built = match answer.get("built_s").and_then(Json::as_f64) {
                Some(seconds) => Ok(seconds),
                None => Err(answer.get("why").and_then(Json::as_str).unwrap_or("no reason").to_owned()),
            };
            tell(name, &built);
            peers.built.push((name.clone(), built));
        }
        Ok(peers)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            let last = log.lines().rfind(|it| !it.trim().is_empty()).unwrap_or_default();
            bail!("the Python process ended ({status}): {last}");
        }
        Ok(line)
    }

    /// The seconds of one call, which follows one that is not timed.
    ///
    /// # Errors
    ///
    /// When the process ended.
    pub fn call(&mut self, contestant: usize) -> Result<f64> {
        writeln!(self.stdin, "{contestant}")?;
        let line = self.line()?;
        line.trim().parse().with_context(|| format!("it answers {line:?}"))
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // It has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How what a contestant wrote in its first call agrees with what is meant, which lies as `launch` does; or what
/// differs.
///
/// # Errors
///
/// When its results cannot be read.
pub fn agreement(
    folder: &Path,
    contestant: usize,
    signature: &Signature,
    launch: &Launch,
    meant: &Fields,
) -> Result<Result<Agreement, String>> {
    let mut told = Agreement::Bits;
    for (at, meant) in meant.written() {
        let (param, Argument::Field(field)) = (&signature.params[at], &launch.arguments[at]) else {
            continue;
        };
        let bytes = fs::read(folder.join(format!("out_{contestant}_{}.bin", param.name)))?;
        let found = Elements::from_le_bytes(field.array.dtype(), &bytes);
        match compare(&found, meant, OF_PEERS) {
            Ok(it) => told = told.max(it),
            Err(why) => return Ok(Err(format!("`{}`: {why}", param.name))),
        }
    }
    Ok(Ok(told))
}

fn write(folder: &Path, job: &Job<'_>) -> Result<()> {
    let signature = job.compilation.front.signature.as_ref().context("it compiled")?;
    let (mut arguments, mut origins) = (Vec::new(), serde_json::Map::new());
    for (param, argument) in signature.params.iter().zip(&job.launch.arguments) {
        match (&param.kind, argument) {
            (ParamKind::Field { axes, .. }, Argument::Field(field)) => {
                fs::write(folder.join(format!("in_{}.bin", param.name)), field.array.elements.to_le_bytes())?;
                let origin: Vec<i64> = axes.iter().map(|axis| field.origin[axis.index()]).collect();
                origins.insert(param.name.clone(), json!(origin));
                let axes: String = axes.iter().map(Axis::name).collect();
                arguments.push(json!({
                    "kind": "field", "name": param.name, "dtype": field.array.dtype().name(), "axes": axes,
                    "shape": field.array.shape, "origin": origin, "is_written": param.access.is_written(),
                    "is_changed": param.access.is_written() && param.access != AccessKind::Write,
                }));
            }
            (_, Argument::Scalar(value)) => {
                let dtype = value.dtype().name();
                let value = match value {
                    Value::Float32(it) => f64::from(*it),
                    other => other.as_f64(),
                };
                arguments.push(json!({"kind": "scalar", "name": param.name, "dtype": dtype, "value": value}));
            }
            // It is not used.
            _ => {}
        }
    }
    let mut config = job.config.clone().for_domain(job.compilation.front.directives.domain);
    config.externals.extend(job.compilation.front.directives.external_values());
    let externals = handed::externals(&config, &job.compilation.front.externals);
    let stencil = job.project.stencil.as_ref().or(job.compilation.front.stencil.as_ref());
    let Domain { i, j, k } = job.launch.domain;
    let job_text = json!({
        "files": job.project.files.keys().collect::<Vec<_>>(), "main": job.project.main, "source": job.source,
        "roots": [], "stencil": stencil, "function": signature.name,
        "precision": 8 * config.literal_float.size_bytes(), "externals": externals, "domain": [i, j, k],
        "arguments": arguments, "origin": origins, "clock": job.clock, "contestants": job.contestants,
    });
    fs::write(folder.join("job.json"), job_text.to_string())?;
    let text = job.compilation.listing(Stage::NUMPY).map(|it| it.text.as_str()).unwrap_or_default();
    fs::write(folder.join("text.py"), text)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_environment_is_told_with_what_makes_one() {
        let told = python_of(Path::new("/nowhere"), &[]).unwrap_err().to_string();
        assert!(told.starts_with("`--gt4py /nowhere`: this is no Python environment"), "{told}");
        assert!(told.contains("cargo xtask bench-env"), "{told}");
    }
}
