//! Generated texts in Python, run by a real one, beside `debug`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::run::{NoControl, Stop};
use isobar_compiler::call::signature::{Param, ParamKind};
use isobar_compiler::debug;
use isobar_compiler::pipeline::{Compilation, Stage};
use isobar_compiler::types::Value;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::root;

/// Writes what one run of a text takes, and what should come of it; answers whether there is something to run.
///
/// # Errors
///
/// When the files cannot be written.
pub fn write_case(folder: &Path, stage: Stage, compilation: &Compilation, launch: &Launch) -> Result<bool> {
    let (Some(oir), Some(extents), Some(text), Some(signature)) = (
        &compilation.front.oir,
        &compilation.front.extents,
        compilation.listing(stage),
        &compilation.front.signature,
    ) else {
        return Ok(false);
    };
    let mut meant = launch.clone();
    let stops = match debug::run(oir, extents, &mut meant, &mut NoControl) {
        Ok(()) => false,
        // The texts loop on.
        Err(Stop::Trap(trap)) if trap.message.contains("while") => return Ok(false),
        Err(_) => true,
    };
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(folder.join("text.py"), &text.text)?;
    let mut arguments = Vec::new();
    let mut origin = serde_json::Map::new();
    for ((param, given), after) in signature.params.iter().zip(&launch.arguments).zip(&meant.arguments) {
        arguments.push(argument(param, given));
        let (Argument::Field(given), Argument::Field(after), ParamKind::Field { axes, .. }) =
            (given, after, &param.kind)
        else {
            continue;
        };
        fs::write(folder.join(format!("in_{}.bin", param.name)), given.array.to_c_order_le_bytes())?;
        fs::write(folder.join(format!("out_{}.bin", param.name)), after.array.to_c_order_le_bytes())?;
        let first: Vec<i64> = axes.iter().map(|axis| given.origin[axis.index()]).collect();
        origin.insert(param.name.clone(), json!(first));
    }
    let domain = launch.domain;
    let case = json!({
        "stage": stage.name(),
        "function": function_name(&text.text),
        "domain": [domain.i, domain.j, domain.k],
        "origin": origin,
        "stops": stops,
        "arguments": arguments,
    });
    fs::write(folder.join("case.json"), serde_json::to_vec_pretty(&case)?)?;
    Ok(true)
}

/// The name of the last function that the text defines at its margin.
fn function_name(text: &str) -> &str {
    let last = text.lines().filter_map(|it| it.strip_prefix("def ")).next_back().unwrap_or_default();
    last.split('(').next().unwrap_or_default()
}

fn argument(param: &Param, given: &Argument) -> Json {
    let keyword = param.is_keyword_only;
    match given {
        Argument::Field(field) => json!({
            "name": param.name,
            "kind": "field",
            "dtype": field.array.dtype().name(),
            "shape": field.array.shape,
            "keyword": keyword,
        }),
        Argument::Scalar(value) => {
            let value = match *value {
                Value::Bool(it) => json!(it),
                // As text, since JSON has no NaN.
                it if it.dtype().is_float() => json!(format!("{:?}", it.as_f64())),
                it => json!(it.as_i64()),
            };
            json!({"name": param.name, "kind": "scalar", "value": value, "keyword": keyword})
        }
        Argument::Unused => json!({"name": param.name, "kind": "unused", "keyword": keyword}),
    }
}

/// The outcome of one case.
#[derive(Debug, Deserialize)]
struct Outcome {
    case: String,
    wrong: Option<String>,
}

/// Runs all cases below a folder with a Python. Returns how many ran, and the faults by the name of the case.
///
/// # Errors
///
/// When there is no such Python, or its script fails.
pub fn run_all(python: &Path, folder: &Path) -> Result<(usize, BTreeMap<String, String>)> {
    let mut command = Command::new(python);
    command.arg(root().join("tests/texts/run_texts.py")).arg(folder);
    let output = command.output().with_context(|| {
        format!("{} cannot be started, and generated texts need a Python 3.11", python.display())
    })?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed: {told}", python.display());
    let mut wrong = BTreeMap::new();
    let mut ran = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let outcome: Outcome = serde_json::from_str(line).with_context(|| line.to_owned())?;
        ran += 1;
        if let Some(why) = outcome.wrong {
            wrong.insert(outcome.case, why);
        }
    }
    Ok((ran, wrong))
}
