//! Which field is looked at, from where; and the values that are seen there.

use std::sync::Arc;
use std::time::Duration;

use isobar_protocol::field::FieldInfo;
use isobar_protocol::worker::{Across, Ask, Plane, Said, Slice, Which};
use js_sys::{ArrayBuffer, Float64Array};
use leptos::prelude::*;

use super::App;
use super::run::Outcome;
use crate::bridge::page;
use crate::share::View;

/// What the colours span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Span {
    /// The values that are shown.
    #[default]
    Plane,
    /// The whole field, so that levels can be compared.
    Field,
}

/// A plane of values, as the worker sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    pub slice: Slice,
    pub values: Vec<f64>,
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct FieldView {
    pub which: RwSignal<Which>,
    pub field: RwSignal<Option<String>>,
    pub across: RwSignal<Across>,
    /// Position along that axis.
    pub at: RwSignal<u64>,
    /// The number of the element of the data dimensions.
    pub element: RwSignal<u64>,
    pub span: RwSignal<Span>,
    pub shown: RwSignal<Option<Arc<Shown>>>,
    /// Why there is nothing to show of what is looked at.
    pub refused: RwSignal<Option<String>>,
    /// The count of results for which a plane was shown last.
    drawn: StoredValue<u64>,
    /// Counts the questions, so that a late plane is dropped.
    asked: StoredValue<u64>,
    /// Whether a link or the user chose a position, which the next result then keeps.
    is_chosen: StoredValue<bool>,
}

impl FieldView {
    pub(super) fn new() -> Self {
        Self {
            which: RwSignal::default(),
            field: RwSignal::default(),
            across: RwSignal::default(),
            at: RwSignal::default(),
            element: RwSignal::default(),
            span: RwSignal::default(),
            shown: RwSignal::default(),
            refused: RwSignal::default(),
            drawn: StoredValue::new(0),
            asked: StoredValue::new(0),
            is_chosen: StoredValue::new(false),
        }
    }

    /// Moves to a position along the present axis.
    pub fn choose_at(self, at: u64) {
        self.is_chosen.set_value(true);
        self.at.set(at);
    }
}

/// Points of a field's domain along an axis; `None` where it has no such axis.
#[must_use]
pub fn points_along(field: &FieldInfo, across: Across) -> Option<u64> {
    let letter = match across {
        Across::I => 'I',
        Across::J => 'J',
        Across::K => 'K',
    };
    let axis = field.axes.chars().position(|it| it == letter)?;
    field.domain.get(axis).copied()
}

impl App {
    /// The result that is looked at; the difference is described by its first part.
    #[must_use]
    pub fn outcome(self) -> Option<Arc<Outcome>> {
        match self.view.which.get() {
            Which::A | Which::Difference => self.run.a.get(),
            Which::B => self.run.b.get(),
        }
    }

    /// The field that is looked at.
    #[must_use]
    pub fn shown_field(self) -> Option<FieldInfo> {
        let outcome = self.outcome()?;
        let name = self.view.field.get();
        let chosen = outcome.fields.iter().find(|it| Some(&it.name) == name.as_ref());
        chosen.or_else(|| outcome.fields.first()).cloned()
    }

    pub fn choose_field(self, name: String) {
        self.view.field.set(Some(name));
        let plot = |name: &str| {
            self.compilation
                .defaults
                .with_untracked(|it| it.plots.iter().find(|it| it.field == name).cloned())
        };
        if self.view.across.get_untracked() == Across::K {
            let k = self.view.field.get_untracked().and_then(|it| plot(&it)).and_then(|it| it.k);
            if let Some(k) = k {
                self.view.at.set(k);
            }
        }
    }

    /// Looks along another axis, from the middle of the domain.
    pub fn choose_across(self, across: Across) {
        let points = untrack(|| self.shown_field()).and_then(|it| points_along(&it, across));
        self.view.across.set(across);
        self.view.choose_at(points.unwrap_or(1) / 2);
    }

    /// Chooses what to show of a new result: what was looked at before, else what the text's `# @plot` says.
    pub(super) fn look_at_result(self, which: Which, fields: &[FieldInfo]) {
        let view = self.view;
        let is_there = |name: &str| fields.iter().any(|it| it.name == name);
        let before = view.field.get_untracked().filter(|it| is_there(it));
        if before.is_none() {
            let plots = self.compilation.defaults.with_untracked(|it| it.plots.clone());
            let plot = plots.into_iter().find(|it| is_there(&it.field));
            view.field.set(
                plot.as_ref().map(|it| it.field.clone()).or_else(|| fields.first().map(|it| it.name.clone())),
            );
            if !view.is_chosen.get_value() {
                view.across.set(Across::K);
                let field = view.field.get_untracked();
                let found = fields.iter().find(|it| Some(&it.name) == field.as_ref());
                let points = found.and_then(|it| points_along(it, Across::K)).unwrap_or(1);
                view.at.set(plot.and_then(|it| it.k).unwrap_or(points / 2));
            }
        }
        view.which.set(which);
    }

    /// Waits until the newest result is in the picture: a run is done when it can be seen.
    pub(super) async fn seen(self) {
        let newest = self.run.generation.get_untracked();
        for _ in 0..200 {
            if self.view.drawn.get_value() >= newest {
                break;
            }
            page::sleep(Duration::from_millis(10)).await;
        }
        // The canvas draws when all signals have come to rest.
        page::sleep(Duration::ZERO).await;
    }

    /// Asks for the plane that is looked at, whenever that changes.
    pub(super) fn follow_results(self) {
        let wanted = Memo::new(move |_| {
            let field = self.shown_field()?;
            let across = self.view.across.get();
            let last = points_along(&field, across).unwrap_or(1).saturating_sub(1);
            let at = self.view.at.get().min(last);
            let element = self.view.element.get().min(field.n_elements().saturating_sub(1));
            // Another result has other values at the same place.
            let results = self.run.generation.get();
            Some((self.view.which.get(), field.name, Plane { across, at, element }, results))
        });
        Effect::new(move |_| {
            let Some((of, field, plane, results)) = wanted.get() else {
                self.view.shown.set(None);
                return;
            };
            let Some(worker) = self.run.keeper() else { return };
            let asked = self.view.asked.get_value() + 1;
            self.view.asked.set_value(asked);
            leptos::task::spawn_local(async move {
                let answer = worker.ask(Ask::Slice { of, field, plane }, Vec::new()).await;
                if self.view.asked.get_value() != asked {
                    return;
                }
                let (shown, refused) = match answer {
                    Ok((Said::Slice { slice }, buffers)) => {
                        let values = buffers.first().map(values_of).unwrap_or_default();
                        (Some(Arc::new(Shown { slice, values })), None)
                    }
                    Ok((Said::Failed { message }, _)) => (None, Some(message)),
                    Ok(_) => (None, None),
                    Err(gone) => {
                        self.lose_results(gone);
                        (None, None)
                    }
                };
                self.view.shown.set(shown);
                self.view.refused.set(refused);
                self.view.drawn.set_value(results);
            });
        });
    }

    pub(super) fn restore_view(self, view: &View) {
        use super::layout::{MOST_STAGES, Open};
        use isobar_compiler::pipeline::Stage;
        let stages: Vec<Stage> =
            view.stages.iter().filter_map(|it| Stage::from_name(it)).take(MOST_STAGES).collect();
        if !stages.is_empty() {
            self.layout.open.set(Open { stages, active: 0 });
        }
        self.view.field.set(view.field.clone());
        self.view.which.set(Which::A);
        self.view.across.set(view.across.unwrap_or_default());
        self.view.at.set(view.at.unwrap_or_default());
        self.view.is_chosen.set_value(view.at.is_some());
    }

    pub(super) fn shared_view(self) -> View {
        let stages = self.layout.open.with(|it| it.stages.iter().map(|it| it.name().to_owned()).collect());
        let has_field = self.view.field.with(Option::is_some);
        View {
            stages,
            field: self.view.field.get(),
            which: None,
            across: Some(self.view.across.get()).filter(|it| *it != Across::K),
            at: has_field.then(|| self.view.at.get()),
        }
    }
}

fn values_of(buffer: &ArrayBuffer) -> Vec<f64> {
    Float64Array::new(buffer).to_vec()
}
