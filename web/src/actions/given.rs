//! Values that the user gives a run, for scalars and externals.

use std::collections::BTreeMap;

use isobar_page_model::inputs::{self, FieldInput, ValueInput};
use isobar_page_model::project::ProjectEvent;
use isobar_protocol::compile::FieldParam;
use leptos::prelude::*;
use serde_json::Value;

use crate::state::{App, sentences};

impl App {
    /// The scalars of the stencil, and those that are left of an earlier text.
    #[must_use]
    pub fn scalars(self) -> Vec<ValueInput> {
        self.compilation.signature.with(|signature| {
            // Before the first answer nothing is known to be left over.
            let Some(signature) = signature else { return Vec::new() };
            let (lines, made_up) =
                self.compilation.defaults.with(|it| (it.scalars.clone(), it.made.scalars.clone()));
            self.project.scalars.with(|chosen| inputs::scalars(&signature.scalars, &lines, &made_up, chosen))
        })
    }

    /// The externals that the text imports, and those that are left of an earlier text.
    #[must_use]
    pub fn externals(self) -> Vec<ValueInput> {
        if self.compilation.revision.get() == 0 {
            return Vec::new();
        }
        self.compilation
            .defaults
            .with(|defaults| self.project.externals.with(|it| inputs::externals(&defaults.externals, it)))
    }

    /// The fields of the stencil.
    #[must_use]
    pub fn field_inputs(self) -> Vec<FieldInput> {
        let signature = self.compilation.signature.get();
        let params = signature.as_ref().map(|it| it.fields.as_slice()).unwrap_or_default();
        self.compilation
            .defaults
            .with(|defaults| self.project.inputs.with(|it| inputs::fields(params, defaults, it)))
    }

    /// The scalars that a run request carries: no others than the stencil takes, and none that it would refuse.
    pub(super) fn usable_scalars(self) -> BTreeMap<String, Value> {
        untrack(|| {
            self.compilation.signature.with(|signature| {
                let params = signature.as_ref().map(|it| it.scalars.as_slice()).unwrap_or_default();
                self.project.scalars.with(|chosen| inputs::usable_scalars(params, chosen))
            })
        })
    }

    /// The externals of a request that a run carries: no others than the text asks for, where the compiler has said
    /// which those are.
    pub(super) fn usable_externals(self, mut externals: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        let revision = self.project.revision.get_untracked();
        if self.compilation.revision.get_untracked() == revision {
            self.compilation
                .defaults
                .with_untracked(|it| inputs::keep_declared(&mut externals, &it.externals));
        }
        externals
    }

    /// Sets a scalar; its own value takes the user's back.
    ///
    /// # Errors
    ///
    /// A message that tells which values are expected. The run is left as it was.
    pub fn choose_scalar(self, scalar: &ValueInput, text: &str) -> Result<(), String> {
        let value = scalar.read(text).map_err(|it| sentences::refusal(&it))?;
        self.project.happened(ProjectEvent::ScalarSet(scalar.name.clone(), value));
        Ok(())
    }

    /// Sets an external and compiles with it; its own value takes the user's back.
    ///
    /// # Errors
    ///
    /// A message that tells which values are expected. Everything is left as it was.
    pub fn choose_external(self, external: &ValueInput, text: &str) -> Result<(), String> {
        let value = external.read(text).map_err(|it| sentences::refusal(&it))?;
        self.project.happened(ProjectEvent::ExternalSet(external.name.clone(), value));
        Ok(())
    }

    /// Takes back what the user said of a scalar.
    pub fn reset_scalar(self, name: &str) {
        self.project.happened(ProjectEvent::ScalarSet(name.to_owned(), None));
    }

    /// Takes back what the user said of an external.
    pub fn reset_external(self, name: &str) {
        self.project.happened(ProjectEvent::ExternalSet(name.to_owned(), None));
    }

    /// Writes an `# @input` line for a field that has none into the text, below the other lines of a run.
    pub fn add_input_line(self, field: &FieldParam) {
        let text = self.project.text.with_untracked(|it| inputs::with_line(it, &inputs::line_of(field)));
        self.editor.show(&text);
        self.edit(text);
    }
}
