//! Each event, and its effects on the workspace.

use std::collections::BTreeMap;

use isobar_protocol::diagnostic::Edit;
use isobar_protocol::share::State;

use super::event::{ProjectEffect, ProjectEvent};
use super::state::{MAIN, ProjectState, without_usual};
use crate::offsets::Offsets;

/// How far an event reaches.
enum Reach {
    /// Nothing has changed, or not the user changed it.
    None,
    /// The user's workspace is another one, and its compilation the same.
    Kept,
    /// The workspace and its compilation are another one.
    Compiled,
}

impl ProjectState {
    /// Takes an event, and tells what the page has to do now.
    pub fn take(&mut self, event: ProjectEvent) -> Vec<ProjectEffect> {
        let reach = self.reach(event);
        if let Reach::Compiled = reach {
            self.revision += 1;
        }
        match reach {
            Reach::None => Vec::new(),
            Reach::Kept | Reach::Compiled => vec![ProjectEffect::LetGoOfLink],
        }
    }

    fn reach(&mut self, event: ProjectEvent) -> Reach {
        match event {
            ProjectEvent::Opened(state) => {
                self.open(*state);
                return Reach::None;
            }
            ProjectEvent::Replaced { files, main } => {
                let before = self.as_opened.clone();
                self.open(State { files, main, stencil: None, gallery: None, ..before });
                return Reach::Kept;
            }
            ProjectEvent::Typed(text) => {
                return reach_of_change(&mut self.state.files, &self.shown, Some(text));
            }
            ProjectEvent::OthersEdited(edits) => {
                self.edit_others(edits);
                return Reach::None;
            }
            ProjectEvent::FileShown(name) => {
                if self.state.files.contains_key(&name) {
                    self.shown = name;
                }
                return Reach::None;
            }
            ProjectEvent::MainChosen(name) => {
                self.set_main(name);
                self.state.stencil = None;
            }
            ProjectEvent::FileAdded { name, text } => {
                self.state.files.insert(name.clone(), text);
                self.shown = name;
            }
            ProjectEvent::FilesAdded(files) => self.state.files.extend(files),
            ProjectEvent::FileRenamed { from, to } => self.rename(&from, to),
            ProjectEvent::FileClosed { name, main } => return self.close(&name, main),
            ProjectEvent::StencilChosen(name) => {
                self.state.stencil = Some(name).filter(|it| !it.is_empty());
                self.opened += 1;
            }
            ProjectEvent::StencilPicked { file, name } => {
                if self.main() != file {
                    self.set_main(file);
                }
                self.state.stencil = Some(name);
            }
            ProjectEvent::PrecisionChosen(bits) => self.state.precision = Some(bits),
            ProjectEvent::ConstantsChosen(set) => self.state.constants = Some(set),
            ProjectEvent::TileChosen(tile) => self.state.tile = Some(tile),
            ProjectEvent::MinmaxChosen(arithmetic) => self.state.minmax = Some(arithmetic),
            ProjectEvent::ModuloChosen(arithmetic) => self.state.modulo = Some(arithmetic),
            ProjectEvent::PassToggled(pass) => {
                if !self.state.skip.remove(&pass) {
                    self.state.skip.insert(pass);
                }
            }
            ProjectEvent::AllPassesWanted => self.state.skip.clear(),
            ProjectEvent::DomainChosen(domain) => {
                self.state.domain = Some(domain);
                return Reach::Kept;
            }
            ProjectEvent::ScalarSet(name, value) => {
                reach_of_change(&mut self.state.scalars, &name, value);
                return Reach::Kept;
            }
            ProjectEvent::ExternalSet(name, value) => {
                return reach_of_change(&mut self.state.externals, &name, value);
            }
            ProjectEvent::GeneratorSet(field, generator) => {
                return reach_of_change(&mut self.state.inputs, &field, generator);
            }
            ProjectEvent::WrittenDown { scalars, inputs } => {
                self.state.domain = None;
                self.state.scalars.retain(|name, _| !scalars.contains(name));
                self.state.inputs.retain(|name, _| !inputs.contains(name));
                return Reach::None;
            }
        }
        self.state = without_usual(std::mem::take(&mut self.state));
        Reach::Compiled
    }

    fn open(&mut self, state: State) {
        let mut state = without_usual(state);
        if state.main.is_none() && !state.files.contains_key(MAIN) {
            state.main = state.files.keys().next().cloned();
        }
        self.as_opened = State { files: BTreeMap::new(), ..state.clone() };
        self.state = state;
        self.shown = self.main().to_owned();
        self.state.files.entry(self.shown.clone()).or_default();
        self.revision += 1;
        self.opened += 1;
    }

    /// Carries out edits of files that are not shown; each is an edit of the workspace.
    fn edit_others(&mut self, mut edits: Vec<Edit>) {
        // From the last on, so that the places before stay where they are.
        edits.sort_by(|a, b| (&b.file, b.start).cmp(&(&a.file, a.start)));
        for edit in edits.into_iter().filter(|it| it.file != self.shown) {
            let Some(before) = self.state.files.get_mut(&edit.file) else { continue };
            if let Some(after) = edited(before, &edit) {
                *before = after;
                self.revision += 1;
            }
        }
    }

    fn set_main(&mut self, name: String) {
        self.state.main = Some(name).filter(|it| it != MAIN);
    }

    fn rename(&mut self, from: &str, to: String) {
        let is_main = self.main() == from;
        if let Some(text) = self.state.files.remove(from) {
            self.state.files.insert(to.clone(), text);
        }
        if self.shown == from {
            self.shown.clone_from(&to);
        }
        if is_main {
            self.state.main = Some(to);
        }
    }

    /// Takes a file out, but for the last one.
    fn close(&mut self, name: &str, main: String) -> Reach {
        if name == main || !self.state.files.contains_key(&main) {
            return Reach::None;
        }
        if self.main() != main {
            self.set_main(main.clone());
            self.state.stencil = None;
        }
        if self.shown == name {
            self.shown = main;
        }
        self.state.files.remove(name);
        Reach::Compiled
    }
}

/// Sets an entry, or takes it out; tells whether that is a change.
fn reach_of_change<T: PartialEq>(map: &mut BTreeMap<String, T>, name: &str, value: Option<T>) -> Reach {
    if map.get(name) == value.as_ref() {
        return Reach::None;
    }
    match value {
        Some(value) => drop(map.insert(name.to_owned(), value)),
        None => drop(map.remove(name)),
    }
    Reach::Compiled
}

/// The text after an edit; none where it has no such place.
fn edited(before: &str, edit: &Edit) -> Option<String> {
    let offsets = Offsets::new(before);
    let units: Vec<u16> = before.encode_utf16().collect();
    let (start, end) = (offsets.offset(edit.start), offsets.offset(edit.end));
    let (head, tail) = (units.get(..start)?, units.get(end..)?);
    Some(String::from_utf16_lossy(head) + &edit.text + &String::from_utf16_lossy(tail))
}
