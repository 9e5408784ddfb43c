//! The actions that remedy a problem.

use leptos::prelude::*;

use crate::bridge::page;
use crate::state::App;
use crate::state::drawer::DrawerList;

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
        let main = self.project.main.get_untracked();
        let place = self
            .compilation
            .defaults
            .with_untracked(|it| it.stencils.iter().find(|it| it.file == main && it.name == name).cloned());
        if let Some(place) = place {
            self.pick_stencil(&place);
        }
    }
}
