//! `isobar config` — what decides how things run here, and where each value is from.

use isobar_protocol::report::{ConfigReport, ConfigValue};

use super::{Outcome, Usage, print, print_json};
use crate::cli::{ConfigArgs, Format};
use crate::config::{Environment, Tools};
use crate::document::shown;

pub(crate) fn config(args: &ConfigArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let report = ConfigReport { diagnostics: Vec::new(), values: values(environment) };
    match args.format {
        Format::Json => print_json(&report),
        Format::Human => {
            let line = |it: &ConfigValue| format!("{:<18}{}  ({})\n", it.name, it.value, it.from);
            print(&report.values.iter().map(line).collect::<String>());
        }
    }
    Ok(Outcome::Fine)
}

fn values(environment: &Environment) -> Vec<ConfigValue> {
    let tools = Tools::find(environment);
    let limits = crate::limits::of_this_machine();
    let value = |name: &str, value: String, from: &str| ConfigValue {
        name: name.to_owned(),
        value,
        from: from.to_owned(),
    };
    let (cc, version) = match &tools.cc {
        Ok(cc) => (shown(&cc.program), cc.version.clone()),
        Err(reason) => ("none".to_owned(), reason.clone()),
    };
    let cache = tools.cache.as_deref().map_or("none".to_owned(), shown);
    let state = environment.state.as_deref().map_or("none".to_owned(), shown);
    let machine = &tools.machine;
    let from = |name: &str| tools.machine_from.get(name).map_or("", String::as_str);
    let caches: Vec<String> = machine.caches.iter().map(|it| format!("{}/{}", it.bytes, it.cores)).collect();
    let token = if environment.token.is_some() { "set" } else { "not set" };
    vec![
        value("cc", cc, if environment.cc.is_some() { "CC" } else { "PATH" }),
        value("cc_version", version, "the compiler"),
        value("cache", cache, "XDG_CACHE_HOME, or .cache in HOME"),
        value("state", state, "XDG_STATE_HOME, or .local/state in HOME"),
        value("temporary", shown(&tools.temporary), "TMPDIR, or the system"),
        value("token", token.to_owned(), "ISOBAR_TOKEN"),
        value("log", environment.log.clone().unwrap_or_else(|| "not set".to_owned()), "ISOBAR_LOG"),
        value("job_memory_bytes", limits.job_memory_bytes.to_string(), "8 GiB, or 3/4 of the memory"),
        value("cores", machine.cores.to_string(), from("cores")),
        value("caches", caches.join(" "), from("caches")),
        value("line_bytes", machine.line_bytes.to_string(), from("line_bytes")),
        value("vector_bytes", machine.vector_bytes.to_string(), from("vector_bytes")),
    ]
}
