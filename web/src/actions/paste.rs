//! A text that was pasted runs as it stands: which of its stencils, what is made up for it, and what it misses.

use std::collections::BTreeMap;

use isobar_page_model::offsets::Offsets;
use isobar_page_model::project::ProjectEvent;
use isobar_page_model::{inputs, values};
use isobar_protocol::diagnostic::Position;
use isobar_protocol::worker::StencilPlace;
use leptos::prelude::*;

use crate::state::{App, head};

impl App {
    /// The user's generators that can be read.
    pub(super) fn usable_inputs(self) -> BTreeMap<String, String> {
        self.compilation.defaults.with_untracked(|defaults| {
            self.project.inputs.with_untracked(|it| inputs::usable_inputs(it, &defaults.refused))
        })
    }

    /// How many fields, scalars and externals are made up.
    #[must_use]
    pub fn n_made_up(self) -> [usize; 3] {
        self.compilation
            .defaults
            .with(|defaults| self.project.scalars.with(|it| inputs::n_made_up(&defaults.made, it)))
    }

    /// Sets the generator of a field; an empty one takes the user's back.
    pub fn choose_generator(self, field: &str, text: &str) {
        let text = text.trim();
        let own = self
            .compilation
            .defaults
            .with_untracked(|it| it.inputs.get(field).or_else(|| it.made.init.get(field)).cloned());
        let is_set = self.project.inputs.with_untracked(|it| it.contains_key(field));
        let is_own = text.is_empty() || own.as_deref() == Some(text) && !is_set;
        let generator = (!is_own).then(|| text.to_owned());
        self.project.happened(ProjectEvent::GeneratorSet(field.to_owned(), generator));
    }

    /// Picks a stencil of the files: it is compiled, and the caret goes there.
    pub fn pick_stencil(self, place: &StencilPlace) {
        self.take_stencil(place);
        self.show_file(&place.file);
        let offset = self.project.text.with_untracked(|text| Offsets::new(text).offset(place.at));
        self.editor.put_caret(offset);
    }

    /// Picks the stencil of a function that a program calls.
    pub fn open_stencil(self, name: &str) {
        let known = self.compilation.defaults.with_untracked(|it| {
            it.stencils.iter().find(|it| it.name == name || it.name.ends_with(&format!(".{name}"))).cloned()
        });
        if let Some(place) = known {
            self.pick_stencil(&place);
        }
    }

    /// Picks the stencil that the caret was moved into. A program stays: its stencils light up in its levels. No caret picks
    /// a class: many a model's class is no program by itself.
    pub(super) fn follow_caret(self, at: Position) {
        if untrack(|| self.compilation.is_program()) {
            return;
        }
        // While a text is being written its stencils are not known; where it came whole, the first one is taken.
        if self.compilation.revision.get_untracked() != self.project.revision.get_untracked() {
            return;
        }
        let shown = self.project.shown.get_untracked();
        let around = self.compilation.defaults.with_untracked(|it| {
            let is_around = |it: &&StencilPlace| {
                !it.is_class && it.file == shown && (it.lines[0]..=it.lines[1]).contains(&at.line)
            };
            (it.stencils.len() > 1).then(|| it.stencils.iter().find(is_around).cloned()).flatten()
        });
        if let Some(place) = around {
            self.take_stencil(&place);
        }
    }

    fn take_stencil(self, place: &StencilPlace) {
        let main = self.project.main.get_untracked();
        let is_it = self.compilation.stencil.with_untracked(|it| it.as_deref() == Some(&*place.name));
        if main == place.file && is_it {
            return;
        }
        let (file, name) = (place.file.clone(), place.name.clone());
        self.project.happened(ProjectEvent::StencilPicked { file, name });
    }

    /// The stencil that is compiled, among those of all files.
    #[must_use]
    pub fn picked(self) -> Option<usize> {
        let main = self.project.main.get();
        let stencil = self.compilation.stencil.get()?;
        self.compilation
            .defaults
            .with(|it| it.stencils.iter().position(|it| it.file == main && it.name == stencil))
    }

    /// Writes what is made up, and what the user chose in its place, into the text: from then on it is the text's own.
    pub fn write_down(self) {
        let made = self.compilation.defaults.with_untracked(|it| it.made.clone());
        let mut lines: Vec<(&str, String)> = Vec::new();
        if let Some(stencil) = self.compilation.stencil.get_untracked()
            && self.compilation.stencils.with_untracked(|it| it.len() > 1)
            && self.own_lines("stencil").is_empty()
        {
            lines.push(("stencil", stencil));
        }
        let has_domain = self.compilation.defaults.with_untracked(|it| it.domain.is_some());
        if !has_domain {
            let [i, j, k] = untrack(|| self.domain());
            lines.push(("domain", format!("{i} {j} {k}")));
        }
        let of_user =
            |name: &String, value: &serde_json::Value, chosen: Memo<BTreeMap<String, serde_json::Value>>| {
                chosen.with_untracked(|it| values::spelled(it.get(name).unwrap_or(value)))
            };
        for (name, value) in &made.externals {
            // A function or an object has no spelling in a line.
            if !value.is_object() || value.get("axis").is_some() {
                lines
                    .push(("external", format!("{name} = {}", of_user(name, value, self.project.externals))));
            }
        }
        for (name, value) in &made.scalars {
            lines.push(("scalar", format!("{name} = {}", of_user(name, value, self.project.scalars))));
        }
        let mut inputs = made.init.clone();
        let has_line =
            |name: &String| self.compilation.defaults.with_untracked(|it| it.inputs.contains_key(name));
        inputs.extend(self.usable_inputs().into_iter().filter(|(name, _)| !has_line(name)));
        lines.extend(inputs.iter().map(|(name, generator)| ("input", format!("{name} {generator}"))));
        let main = self.project.main.get_untracked();
        self.show_file(&main);
        let text = self.project.text.with_untracked(|it| head::plus(it, &lines));
        let scalars = made.scalars.into_keys().collect();
        let inputs = inputs.into_keys().collect();
        self.project.happened(ProjectEvent::WrittenDown { scalars, inputs });
        self.write_text(text);
    }

    fn own_lines(self, word: &str) -> Vec<head::HeadLine> {
        let all = self.project.text.with_untracked(|it| head::lines(it));
        all.into_iter().filter(|it| it.word == word).collect()
    }

    /// Writes a stencil that calls a function, where the files have functions alone.
    pub fn write_stencil_for(self, name: &str) {
        let sketch = self
            .compilation
            .defaults
            .with_untracked(|it| it.functions.iter().find(|it| it.name == name).cloned());
        let Some(sketch) = sketch else { return };
        let results: Vec<String> = match sketch.results {
            1 => vec![free("out", &sketch.params)],
            n => (1..=n).map(|it| free(&format!("out{it}"), &sketch.params)).collect(),
        };
        let params: Vec<String> =
            sketch.params.iter().chain(&results).map(|it| format!("{it}: Field[float]")).collect();
        let stencil = format!(
            "\n\ndef call_{name}({}):\n    with computation(PARALLEL), interval(...):\n        {} = {name}({})\n",
            params.join(", "),
            results.join(", "),
            sketch.params.join(", ")
        );
        let text = self.project.text.with_untracked(|it| format!("{}{stencil}", it.trim_end()));
        self.write_text(text);
    }
}

/// A name that none of these has.
fn free(name: &str, taken: &[String]) -> String {
    let mut name = name.to_owned();
    while taken.contains(&name) {
        name.push('_');
    }
    name
}
