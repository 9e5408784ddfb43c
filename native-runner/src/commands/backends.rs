//! `isobar backends` — what can run here, and why the rest cannot.

use isobar_protocol::job::{Backend, Capabilities};
use isobar_protocol::report::BackendsReport;

use super::client::Client;
use super::{Outcome, Usage, print, print_json};
use crate::cli::{BackendsArgs, Format};
use crate::config::{Environment, Tools};

pub(crate) fn backends(args: &BackendsArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let backends = match &args.runner {
        Some(url) => {
            let capabilities: Capabilities = Client::new(url, environment)?.get_json("/v1/capabilities")?;
            capabilities.backends
        }
        None => crate::executors::backends(&Tools::find(environment)),
    };
    match args.format {
        Format::Json => print_json(&BackendsReport { diagnostics: Vec::new(), backends }),
        Format::Human => {
            let row = |it: &Backend| {
                let state = if it.available { "can run" } else { "cannot run" };
                format!("{:<8}{state:<12}{}\n", it.name, it.detail)
            };
            print(&backends.iter().map(row).collect::<String>());
        }
    }
    Ok(Outcome::Fine)
}
