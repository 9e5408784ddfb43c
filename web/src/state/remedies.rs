//! The help of a problem in the words of the page, and the actions that the page offers.

use isobar_protocol::diagnostic::{Diagnostic, Remedy};
use leptos::prelude::*;

use super::App;
use super::drawer::DrawerList;
use crate::bridge::locale::t;
use crate::bridge::page;

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

impl App {
    /// Opens the inputs with the keyboard at one of them.
    pub fn ask_for(self, kind: &'static str, name: &str) {
        self.drawer.choose_below(DrawerList::Inputs);
        let id = format!("{kind}-{name}");
        // Once it is drawn.
        set_timeout(move || page::focus(&id), std::time::Duration::ZERO);
    }

    /// Picks a stencil by its name.
    pub fn pick_named(self, name: &str) {
        let main = untrack(|| self.project.main());
        let place = self
            .compilation
            .defaults
            .with_untracked(|it| it.stencils.iter().find(|it| it.file == main && it.name == name).cloned());
        if let Some(place) = place {
            self.pick_stencil(&place);
        }
    }
}
