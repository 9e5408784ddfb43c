//! The help of a problem in the words of the page.

use isobar_protocol::diagnostic::{Diagnostic, Remedy};

use crate::bridge::locale::t;

/// The help of a problem, as the page words it. Its own remedies replace the advice for other programs.
#[must_use]
pub fn help_of(problem: &Diagnostic) -> Option<String> {
    match &problem.remedy {
        // Only the domain tells it.
        Some(Remedy::GiveExternal(name)) if name == "k_end" => problem.help.clone(),
        Some(Remedy::GiveExternal(name)) => Some(t!("state-remedy-external", name = name)),
        Some(Remedy::GiveInput(name)) => Some(t!("state-remedy-input", name = name)),
        Some(Remedy::AddFile(name)) => Some(t!("state-remedy-file", name = name)),
        Some(Remedy::PickStencil(_)) => Some(t!("state-remedy-stencil").to_owned()),
        None => problem.help.clone(),
    }
}
