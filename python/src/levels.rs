//! Requests that nobody calls: what is wrong with a text, and its levels.

use isobar_compiler::config::Config;
use isobar_compiler::inputs::Directives;
use isobar_compiler::pipeline::registry::texts;
use isobar_compiler::pipeline::{NoHook, route};
use isobar_compiler::project::Project;
use isobar_protocol::compile::Compiled;
use isobar_protocol::request::Request;
use isobar_runtime::machine::DetectedMachine;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The project and the configuration of a request document, on this machine.
pub(crate) fn read(request: &str) -> PyResult<(Project, Config)> {
    let wrong = |why: String| PyValueError::new_err(why);
    let request: Request = serde_json::from_str(request).map_err(|why| wrong(why.to_string()))?;
    let main = request.main_file().ok_or_else(|| wrong("the request has no main file".to_owned()))?;
    let files = request.files.iter().map(|(name, text)| (name.clone(), text.as_str().into()));
    let project = Project { files: files.collect(), main: main.to_owned(), stencil: request.stencil.clone() };
    let mut config = request.config(&Directives::default());
    config.passes.machine.get_or_insert_with(|| DetectedMachine::here().machine);
    Ok((project, config))
}

/// Compiles a request; answers with what was found, and with the levels and texts of these stages, as JSON.
#[pyfunction]
pub(crate) fn compiled(py: Python<'_>, request: &str, stages: Vec<String>) -> PyResult<String> {
    let (project, config) = read(request)?;
    if let Some(stage) = stages.iter().find(|&stage| !texts().any(|it| it.stage.name() == stage)) {
        let all: Vec<&str> = texts().map(|it| it.stage.name()).collect();
        return Err(PyValueError::new_err(format!(
            "there is no stage `{stage}`; there are {}",
            all.join(", ")
        )));
    }
    let found = py.detach(|| {
        let compilation = route::compile(&project, &config, &mut NoHook);
        let wanted = texts().filter(|it| stages.iter().any(|stage| stage == it.stage.name()));
        let wanted = wanted.filter_map(|it| Some((it.stage, compilation.text(it)?)));
        let compiled = Compiled::new(&compilation.front, &compilation.notes, wanted, Vec::new());
        Compiled { steps: compilation.schedule_steps(), ..compiled }
    });
    serde_json::to_string(&found).map_err(|why| PyValueError::new_err(why.to_string()))
}
