//! Values that the user gives a run, for scalars and externals.

use std::collections::BTreeMap;

use isobar_protocol::compile::FieldParam;
use leptos::prelude::*;
use serde_json::Value;

use crate::state::inputs::{
    FieldInput, FieldSource, InputControl, ValueInput, ValueOrigin, keep_declared, kind, left, said, scalars,
    usable, with_line,
};
use crate::state::{App, values};

impl App {
    /// The scalars of the stencil, and those that are left of an earlier text.
    #[must_use]
    pub fn scalars(self) -> Vec<ValueInput> {
        self.compilation.signature.with(|signature| {
            // Before the first answer nothing is known to be left over.
            let Some(signature) = signature else { return Vec::new() };
            let (lines, made_up) =
                self.compilation.defaults.with(|it| (it.scalars.clone(), it.made.scalars.clone()));
            self.project.scalars.with(|chosen| scalars(&signature.scalars, &lines, &made_up, chosen))
        })
    }

    /// The externals that the text imports, and those that are left of an earlier text.
    #[must_use]
    pub fn externals(self) -> Vec<ValueInput> {
        if self.compilation.revision.get() == 0 {
            return Vec::new();
        }
        let declared = self.compilation.defaults.with(|it| it.externals.clone());
        self.project.externals.with(|chosen| {
            let taken = declared.iter().map(|it| ValueInput {
                name: it.name.clone(),
                dtype: kind(&it.wanted).map(str::to_owned),
                control: InputControl::of_external(&it.wanted),
                own: it.value.as_ref().map(|given| {
                    let origin = match (given.is_of_text, given.is_made_up) {
                        (true, _) => ValueOrigin::Line,
                        (false, true) => ValueOrigin::MadeUp,
                        (false, false) => ValueOrigin::Compiler,
                    };
                    (values::spelled(&given.value), origin)
                }),
                is_taken: true,
                ..said(chosen.get(&it.name), values::external)
            });
            let is_left = |name: &str| declared.iter().all(|it| it.name != name);
            taken.chain(left(chosen, is_left)).collect()
        })
    }

    /// The fields of the stencil.
    #[must_use]
    pub fn field_inputs(self) -> Vec<FieldInput> {
        let fields = self.compilation.signature.with(|it| it.as_ref().map(|it| it.fields.clone()));
        let chosen = self.project.inputs.get();
        self.compilation.defaults.with(|defaults| {
            let fields = fields.unwrap_or_default().into_iter();
            let source = |param: &FieldParam| match (defaults.inputs.get(&param.name), param.access.as_str())
            {
                (_, "none") => FieldSource::Unused,
                _ if chosen.contains_key(&param.name) => {
                    let refused = defaults.refused.get(&param.name).cloned();
                    FieldSource::Chosen(chosen.get(&param.name).cloned().unwrap_or_default(), refused)
                }
                (Some(generator), _) => FieldSource::Line(generator.clone()),
                (None, "write") => FieldSource::Zeros,
                (None, _) => defaults
                    .made
                    .init
                    .get(&param.name)
                    .map_or(FieldSource::Missing, |it| FieldSource::MadeUp(it.clone())),
            };
            fields.map(|param| FieldInput { source: source(&param), param }).collect()
        })
    }

    /// The scalars that a run request carries: no others than the stencil takes, and none that it would refuse.
    pub(super) fn usable_scalars(self) -> BTreeMap<String, Value> {
        untrack(|| {
            self.compilation.signature.with(|signature| {
                let params = signature.as_ref().map(|it| it.scalars.as_slice()).unwrap_or_default();
                self.project.scalars.with(|chosen| usable(params, chosen))
            })
        })
    }

    /// The externals of a request that a run carries: no others than the text asks for, where the compiler has said
    /// which those are.
    pub(super) fn usable_externals(self, mut externals: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        let revision = self.project.revision.get_untracked();
        if self.compilation.revision.get_untracked() == revision {
            self.compilation.defaults.with_untracked(|it| keep_declared(&mut externals, &it.externals));
        }
        externals
    }

    /// Sets a scalar; its own value takes the user's back.
    ///
    /// # Errors
    ///
    /// A message that tells which values are expected. The run is left as it was.
    pub fn choose_scalar(self, scalar: &ValueInput, text: &str) -> Result<(), String> {
        let value = values::scalar(text, scalar.dtype.as_deref().unwrap_or_default())?;
        let dtype = scalar.dtype.as_deref().unwrap_or_default();
        let is_own =
            scalar.own.as_ref().is_some_and(|(own, _)| values::scalar(own, dtype).as_ref() == Ok(&value));
        self.project.changed();
        self.project.scalars.update(|it| {
            it.remove(&scalar.name);
            if !is_own {
                it.insert(scalar.name.clone(), value);
            }
        });
        Ok(())
    }

    /// Sets an external and compiles with it; its own value takes the user's back.
    ///
    /// # Errors
    ///
    /// A message that tells which values are expected. Everything is left as it was.
    pub fn choose_external(self, external: &ValueInput, text: &str) -> Result<(), String> {
        let value = values::external(text)?;
        let is_own =
            external.own.as_ref().is_some_and(|(own, _)| values::external(own).as_ref() == Ok(&value));
        let name = external.name.clone();
        self.change_externals(move |it| {
            it.remove(&name);
            if !is_own {
                it.insert(name, value);
            }
        });
        Ok(())
    }

    /// Takes back what the user said of a scalar.
    pub fn reset_scalar(self, name: &str) {
        self.project.changed();
        self.project.scalars.update(|it| drop(it.remove(name)));
    }

    /// Takes back what the user said of an external.
    pub fn reset_external(self, name: &str) {
        self.change_externals(|it| drop(it.remove(name)));
    }

    fn change_externals(self, change: impl FnOnce(&mut BTreeMap<String, Value>)) {
        let before = self.project.externals.get_untracked();
        let mut after = before.clone();
        change(&mut after);
        if after != before {
            self.project.changed();
            self.project.externals.set(after);
            self.project.revision.update(|it| *it += 1);
        }
    }

    /// Writes an `# @input` line for a field that has none into the text, below the other lines of a run.
    pub fn add_input_line(self, field: &FieldParam) {
        let generator = match field.axes.as_str() {
            "K" => "linear(low=0, high=1, along=k)",
            _ => "bell(low=0, high=1, at_i=0.5, at_j=0.5, width=0.15)",
        };
        let text = self.project.text.get_untracked();
        let text = with_line(&text, &format!("# @input {} {generator}", field.name));
        self.editor.show(&text);
        self.edit(text);
    }
}
