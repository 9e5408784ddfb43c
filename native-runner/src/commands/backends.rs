//! `isobar backends` — what can run here, and why the rest cannot.

use std::collections::BTreeMap;

use isobar_protocol::job::{Backend, Capabilities};
use isobar_protocol::report::BackendsReport;
use isobar_protocol::request::{Cache, Machine};

use super::client::Client;
use super::{Outcome, Usage, print, print_json};
use crate::cli::{BackendsArgs, Format};
use crate::config::{Environment, Tools};

pub(crate) fn backends(args: &BackendsArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let (backends, machine, machine_from) = match &args.runner {
        Some(url) => {
            let capabilities: Capabilities = Client::new(url, environment)?.get_json("/v1/capabilities")?;
            (capabilities.backends, capabilities.machine, BTreeMap::new())
        }
        None => {
            let tools = Tools::find(environment);
            (tools.backends.described(&tools.found()), Some(tools.machine), tools.machine_from)
        }
    };
    match args.format {
        Format::Json => {
            let diagnostics = Vec::new();
            print_json(&BackendsReport { diagnostics, backends, machine, machine_from });
        }
        Format::Human => {
            let row = |it: &Backend| {
                let state = if it.available { "can run" } else { "cannot run" };
                format!("{:<8}{state:<12}{}\n", it.name, it.detail)
            };
            print(&backends.iter().map(row).collect::<String>());
            if let Some(machine) = &machine {
                print(&format!(
                    "\nschedules of runs are made for this machine:\n{}",
                    told(machine, &machine_from)
                ));
            }
        }
    }
    Ok(Outcome::Fine)
}

fn told(machine: &Machine, from: &BTreeMap<String, String>) -> String {
    let cache = |it: &Cache| match it.cores {
        0 | 1 => format!("{} KiB", it.bytes / 1024),
        n => format!("{} KiB for {n} cores", it.bytes / 1024),
    };
    let caches = machine.caches.iter().map(cache).collect::<Vec<_>>().join(", ");
    let values = [
        ("cores", machine.cores.to_string()),
        ("caches", caches),
        ("line_bytes", machine.line_bytes.to_string()),
        ("vector_bytes", machine.vector_bytes.to_string()),
    ];
    let rows = values.map(|(name, value)| {
        let from = from.get(name).map(|it| format!("  ({it})")).unwrap_or_default();
        format!("  {name:<14}{value}{from}\n")
    });
    rows.concat()
}
