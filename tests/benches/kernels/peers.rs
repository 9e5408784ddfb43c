//! A Python process that runs the same stencil, a call at a time, when it is told to.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use isobar_compiler::backend::array::Elements;
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::signature::{AccessKind, ParamKind};
use isobar_compiler::config::External;
use isobar_compiler::pipeline::{Compilation, Stage};
use isobar_compiler::space::{Axis, Domain};
use isobar_compiler::types::Value;
use isobar_tests::root;
use serde_json::{Value as Json, json};

use crate::clock::Clock;

/// What one process runs.
#[derive(Debug)]
pub(crate) struct Peers {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Each contestant, with the seconds that building it took, or why it does not run.
    pub(crate) built: Vec<(String, Result<f64, String>)>,
}

/// What is to run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) text: &'a Path,
    pub(crate) compilation: &'a Compilation,
    /// Fields in Fortran order, without gaps.
    pub(crate) launch: &'a Launch,
    pub(crate) precision: u32,
    pub(crate) threads: u32,
    pub(crate) clock: Clock,
    pub(crate) contestants: Vec<String>,
}

impl Peers {
    /// Starts the process, and waits until all are built.
    pub(crate) fn start(python: &Path, folder: &Path, cache: &Path, job: &Job<'_>) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        write(folder, job)?;
        let log = fs::File::create(folder.join("log"))?;
        let mut child = Command::new(python)
            .arg(root().join("tests/benches/kernels/peer.py"))
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
        let mut peers = Self { child, stdin, stdout: BufReader::new(stdout), built: Vec::new() };
        for name in &job.contestants {
            let answer: Json = serde_json::from_str(&peers.line()?)?;
            let built = match answer.get("built_s").and_then(Json::as_f64) {
                Some(seconds) => Ok(seconds),
                None => Err(answer.get("why").and_then(Json::as_str).unwrap_or("no reason").to_owned()),
            };
            peers.built.push((name.clone(), built));
        }
        Ok(peers)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            bail!("the Python process ended; its folder has a log");
        }
        Ok(line)
    }

    /// The seconds of one call.
    pub(crate) fn call(&mut self, contestant: usize) -> Result<f64> {
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

/// What a contestant wrote in its first call.
pub(crate) fn results(
    folder: &Path,
    contestant: usize,
    compilation: &Compilation,
    launch: &Launch,
) -> Result<Vec<Elements>> {
    let signature = compilation.signature.as_ref().context("it compiled")?;
    let mut results = Vec::new();
    for (param, argument) in signature.params.iter().zip(&launch.arguments) {
        if let (Argument::Field(field), true) = (argument, param.access.is_written()) {
            let bytes = fs::read(folder.join(format!("out_{contestant}_{}.bin", param.name)))?;
            results.push(Elements::from_le_bytes(field.array.dtype(), &bytes));
        }
    }
    Ok(results)
}

fn write(folder: &Path, job: &Job<'_>) -> Result<()> {
    let signature = job.compilation.signature.as_ref().context("it compiled")?;
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
            _ => bail!("`{}` is not used by the kernel", param.name),
        }
    }
    let externals = job.compilation.directives.external_values();
    let externals = externals.iter().map(|(name, value)| (name.clone(), external(value)));
    let Domain { i, j, k } = job.launch.domain;
    let job_text = json!({
        "stencil": signature.name, "precision": job.precision, "source": job.text,
        "externals": externals.collect::<serde_json::Map<_, _>>(), "domain": [i, j, k], "arguments": arguments,
        "origin": origins, "clock": job.clock, "contestants": job.contestants,
    });
    fs::write(folder.join("job.json"), job_text.to_string())?;
    let text = job.compilation.listing(Stage::NUMPY).map(|it| it.text.as_str()).unwrap_or_default();
    fs::write(folder.join("text.py"), text)?;
    Ok(())
}

fn external(value: &External) -> Json {
    match value {
        External::Bool(it) => json!(it),
        External::Int(it) => json!(it),
        External::Float(it) => json!(it),
        External::Axis { axis, index, offset } => {
            json!({"axis": axis.name(), "index": index, "offset": offset})
        }
        _ => Json::Null,
    }
}
