//! Files that come, go, and get other names.

use std::collections::BTreeMap;

use isobar_page_model::project::ProjectEvent;
use isobar_protocol::diagnostic::Position;
use isobar_protocol::names;
use leptos::prelude::*;

use crate::bridge::drops::{self as bridge, DroppedFiles};
use crate::bridge::locale::t;
use crate::files::{self, ImportedFiles, MOST_FILES, has_stencil, is_module, main_of, take};
use crate::state::App;
use crate::state::layout::Tab;

impl App {
    /// Shows a file in the editor.
    pub fn show_file(self, name: &str) {
        if self.project.shown.get_untracked() == name {
            return;
        }
        let Some(text) = untrack(|| self.project.text_of(name)) else { return };
        self.project.happened(ProjectEvent::FileShown(name.to_owned()));
        self.editor.open_file(name, &text);
    }

    /// Shows a place of a file, with the caret there.
    pub fn reveal_in(self, file: &str, at: Position) {
        self.show_file(file);
        self.reveal(at);
    }

    /// Compiles the file that is shown, or another one.
    pub fn make_main(self, name: &str) {
        self.project.happened(ProjectEvent::MainChosen(name.to_owned()));
    }

    /// Adds a file, and shows it.
    ///
    /// # Errors
    ///
    /// Why there can be none of that name.
    pub fn add_file(self, name: &str, text: &str) -> Result<(), String> {
        self.check_name(name, None)?;
        if self.project.names.with_untracked(Vec::len) >= MOST_FILES {
            return Err(t!("state-files-most", most = MOST_FILES));
        }
        self.project.happened(ProjectEvent::FileAdded { name: name.to_owned(), text: text.to_owned() });
        self.editor.open_file(name, text);
        Ok(())
    }

    /// Adds an empty file with a name that is free.
    pub fn add_empty_file(self) {
        let names = self.project.names.get_untracked();
        let free = (1..).map(|it| format!("module{it}.py")).find(|it| !names.contains(it));
        match self.add_file(&free.unwrap_or_default(), "") {
            Ok(()) => self.files.renaming.set(Some(self.project.shown.get_untracked())),
            Err(why) => self.files.notes.set(vec![why]),
        }
    }

    /// Gives a file another name.
    ///
    /// # Errors
    ///
    /// Why it cannot have that one.
    pub fn rename_file(self, name: &str, to: &str) -> Result<(), String> {
        if name == to {
            return Ok(());
        }
        self.check_name(to, Some(name))?;
        let is_shown = self.project.shown.with_untracked(|it| it == name);
        self.project.happened(ProjectEvent::FileRenamed { from: name.to_owned(), to: to.to_owned() });
        if is_shown {
            self.editor.name_file(to);
        }
        Ok(())
    }

    /// Takes a file out of the workspace, but for the last one.
    pub fn close_file(self, name: &str) {
        let names = self.project.names.get_untracked();
        let Some(next) = names.iter().find(|it| *it != name).cloned() else { return };
        let mut main = self.project.main.get_untracked();
        if main == name {
            let with_stencil = names
                .iter()
                .filter(|it| *it != name)
                .find(|it| untrack(|| self.project.text_of(it)).is_some_and(|text| has_stencil(&text)));
            main = with_stencil.unwrap_or(&next).clone();
        }
        let is_shown = self.project.shown.with_untracked(|it| it == name);
        self.project.happened(ProjectEvent::FileClosed { name: name.to_owned(), main: main.clone() });
        if is_shown {
            self.editor.open_file(&main, &self.project.text.get_untracked());
        }
    }

    /// Asks for files, or for a folder, and adds them.
    pub fn choose_files(self, of_folder: bool) {
        leptos::task::spawn_local(async move {
            let read = bridge::chosen(of_folder).await;
            if !read.is_empty() {
                self.take_files(read);
            }
        });
    }

    /// Takes files that were dropped or chosen. They are added to a text of the visitor; an example gives way to them.
    fn take_files(self, read: DroppedFiles) {
        let before = untrack(|| self.project.state()).files;
        let is_example = untrack(|| self.is_example());
        // A folder or an archive is a workspace of its own; one file joins the text of the visitor.
        let is_bundle =
            read.len() > 1 || read.iter().any(|(name, _)| name.contains('/') || name.ends_with(".zip"));
        let missing = self.compilation.defaults.with_untracked(|it| it.missing.clone());
        let kept = if is_example || is_bundle { BTreeMap::new() } else { before };
        let n_bytes = kept.values().map(String::len).sum();
        let read = files::read(read);
        let is_asked_for = |name: &String| missing.iter().any(|it| is_module(name, &it.module));
        if !is_example && read.files.keys().any(is_asked_for) {
            self.files.notes.set(read.notes);
            self.files.offered.set_value(read.files);
            self.take_offered();
            return;
        }
        let ImportedFiles { files, mut notes } = take(read, kept.len(), n_bytes);
        if files.is_empty() {
            if notes.is_empty() {
                notes.push(t!("state-files-none-dropped").to_owned());
            }
            self.files.notes.set(notes);
            return;
        }
        notes.insert(0, t!("state-files-added", n = files.len()));
        let main = main_of(&files).map(str::to_owned);
        let mut all = kept;
        all.extend(files);
        if !is_example && is_bundle {
            self.write_now();
            self.workspaces.begin();
        }
        self.leave_linked();
        self.project.happened(ProjectEvent::Replaced { files: all, main });
        let (shown, text) = untrack(|| (self.project.shown.get(), self.project.text.get()));
        self.editor.open_file(&shown, &text);
        self.forget_results();
        self.layout.tab.set(Tab::Code);
        self.files.notes.set(notes);
    }

    /// Takes those of the offered files that are modules which are missing; what these need comes with the next answer.
    fn take_offered(self) {
        let missing = self.compilation.defaults.with_untracked(|it| it.missing.clone());
        let names = self.project.names.get_untracked();
        let found: Vec<(String, String)> = self.files.offered.with_value(|offered| {
            let of_module = |module: &str| {
                let fits = offered.iter().filter(|(name, _)| is_module(name, module));
                // The longest path is the surest.
                fits.max_by_key(|(name, _)| common_end(name, module))
            };
            let found = missing.iter().filter_map(|it| of_module(&it.module));
            found
                .map(|(name, text)| (name.clone(), text.clone()))
                .filter(|it| !names.contains(&it.0))
                .collect()
        });
        let found: BTreeMap<String, String> =
            found.into_iter().take(MOST_FILES.saturating_sub(names.len())).collect();
        if found.is_empty() {
            return;
        }
        let names: Vec<String> = found.keys().map(|it| format!("`{it}`")).collect();
        let told = t!("state-files-added-names", names = names.join(", "));
        self.files.notes.update(|it| it.push(told));
        self.project.happened(ProjectEvent::FilesAdded(found));
    }

    /// Takes offered files after each answer that misses further ones.
    pub(super) fn follow_missing(self) {
        Effect::new(move |_| {
            self.compilation.revision.track();
            untrack(|| self.take_offered());
        });
        Effect::new(move |_| {
            self.project.opened.track();
            self.files.offered.set_value(BTreeMap::new());
        });
    }

    /// Whether the workspace is an example as it came.
    fn is_example(self) -> bool {
        let name = self.name_of_text();
        let is_empty = self.project.text.with(|it| it.trim().is_empty());
        self.project.names.get().len() == 1 && (is_empty || !name.is_own)
    }

    fn check_name(self, name: &str, own: Option<&str>) -> Result<(), String> {
        names::file(name).map_err(|_| t!("state-files-no-name", name = names::visible(name)))?;
        if !name.ends_with(".py") {
            return Err(t!("state-files-not-python", name = name));
        }
        let is_taken = self.project.names.get_untracked().iter().any(|it| it == name && Some(name) != own);
        if is_taken { Err(t!("state-files-taken", name = name)) } else { Ok(()) }
    }

    /// Keeps the editor in step with the names of files and the state of the head, and takes what is dropped.
    pub(super) fn attach_files(self) {
        Effect::new(move |_| {
            self.project.opened.track();
            let shown = self.project.shown.get_untracked();
            self.editor.name_file(&shown);
        });
        Effect::new(move |_| self.editor.fold_head(self.head.is_folded.get()));
        bridge::on_drop(move |held| self.files.are_held.set(held), move |read| self.take_files(read));
    }
}

/// How many parts from the end a path and a module have in common.
fn common_end(path: &str, module: &str) -> usize {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    path.rsplit('/').zip(module.rsplit('.')).take_while(|(a, b)| a == b).count()
}
