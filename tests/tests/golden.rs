//! The debug back end against results that another implementation computed.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use isobar_compiler::call::launch::Argument;
use isobar_compiler::debug::{self, NoControl};
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::project::Project;
use isobar_compiler::session::Session;
use isobar_tests::golden::{Case, cases};

fn compile(case: &Case) -> Result<Arc<Compilation>> {
    let mut project = Project::of_one("main.py", &case.source()?);
    project.stencil = Some(case.stencil.clone());
    let compilation = Session::new().compile(&project, &case.config()?, &mut NoHook);
    if compilation.has_errors() {
        let told: Vec<_> =
            compilation.notes.diagnostics.iter().map(|it| format!("{}: {}", it.code, it.message)).collect();
        bail!("it does not compile:\n{}", told.join("\n"));
    }
    Ok(compilation)
}

fn check_results(case: &Case) -> Result<()> {
    let compilation = compile(case)?;
    let arrays = case.arrays()?;
    let mut launch = compilation.front.bind(case.call(&arrays)).map_err(|it| {
        anyhow::anyhow!("{}", it.iter().map(|it| it.message.as_str()).collect::<Vec<_>>().join("\n"))
    })?;
    let (oir, extents) = (
        compilation.front.oir.as_ref().context("no OIR")?,
        compilation.front.extents.as_ref().context("no extents")?,
    );
    debug::run(oir, extents, &mut launch, &mut NoControl)?;

    let signature = compilation.front.signature.as_ref().context("no signature")?;
    let arguments = signature.params.iter().zip(&launch.arguments);
    let fields: BTreeMap<_, _> = arguments
        .filter_map(|(param, argument)| match argument {
            Argument::Field(field) => Some((param.name.as_str(), &field.array)),
            Argument::Scalar(_) | Argument::Unused => None,
        })
        .collect();
    for name in case.tolerance.keys() {
        let found = fields.get(name.as_str()).with_context(|| format!("`{name}` is unused"))?;
        case.compare(name, found, &arrays)?;
    }
    Ok(())
}

#[expect(clippy::unwrap_used, reason = "it is a part of tests")]
fn all(check: fn(&Case) -> Result<()>) {
    let cases = cases().unwrap();
    assert!(cases.len() > 30);
    let wrong: Vec<_> = cases
        .iter()
        .filter_map(|case| {
            // A case that panics is one wrong case among others.
            let outcome = std::panic::catch_unwind(|| check(case));
            let outcome = outcome.unwrap_or_else(|_| Err(anyhow::anyhow!("it panics")));
            outcome.err().map(|it| format!("{}: {it:#}", case.file))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn results_are_those_of_another_implementation() {
    all(check_results);
}
