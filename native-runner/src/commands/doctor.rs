//! `isobar doctor` — whether this machine has what a runner needs, and what to do where not.

use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::report::{Check, CheckState, DoctorReport};

use super::{Outcome, Usage, print, print_json};
use crate::cli::{DoctorArgs, Format};
use crate::config::Environment;
use crate::doctor::examine;

pub(crate) fn doctor(args: &DoctorArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let checks = examine(environment, args.bind);
    let wrong = checks.iter().filter(|it| it.state == CheckState::Wrong);
    let diagnostics: Vec<Diagnostic> = wrong
        .map(|it| Diagnostic::without_place("R11", format!("{}: {}", it.name, it.found), &it.help))
        .collect();
    let outcome = Outcome::of(&diagnostics);
    match args.format {
        Format::Json => print_json(&DoctorReport { diagnostics, checks }),
        Format::Human => print(&told(&checks)),
    }
    Ok(outcome)
}

fn told(checks: &[Check]) -> String {
    let row = |it: &Check| {
        let state = match it.state {
            CheckState::Fine => "fine",
            CheckState::Warning => "warning",
            CheckState::Wrong => "wrong",
        };
        let help = if it.help.is_empty() { String::new() } else { format!("{:27}{}\n", "", it.help) };
        format!("{state:<9}{:<18}{}\n{help}", it.name, it.found)
    };
    checks.iter().map(row).collect()
}
