//! Which field is looked at, from where; and the values that are seen there.

use std::sync::Arc;
use std::time::Duration;

use isobar_compiler::pipeline::Stage;
use isobar_page_model::findings::number;
use isobar_page_model::open::OpenStages;
use isobar_page_model::run::{RunEvent, RunResult};
use isobar_protocol::field::FieldInfo;
use isobar_protocol::share::View;
use isobar_protocol::worker::{Across, AnswerBody, Ask, Plane, Slice, Which};
use js_sys::{ArrayBuffer, Float64Array};
use leptos::prelude::*;

use super::clock::Clock;
use super::compilation::Compilation;
use super::layout::PageLayout;
use super::look::{PictureKind, PictureState};
use super::run::{Buffers, Run};
use super::why;

/// The range that the colours span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourRange {
    /// The values that are shown.
    #[default]
    Plane,
    /// The whole field, so that levels can be compared.
    Field,
    /// The values that are shown, with zero in the middle.
    Symmetric,
    /// The range that the user gives.
    Fixed,
}

impl ColourRange {
    /// As links and selects name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ColourRange::Plane => "plane",
            ColourRange::Field => "field",
            ColourRange::Symmetric => "symmetric",
            ColourRange::Fixed => "fixed",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [ColourRange::Plane, ColourRange::Field, ColourRange::Symmetric, ColourRange::Fixed]
            .into_iter()
            .find(|it| it.name() == name)
    }
}

/// A plane of values, as the worker sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPlane {
    pub slice: Slice,
    pub values: Arc<Vec<f64>>,
}

/// The view of the fields.
#[derive(Clone, Copy, Debug)]
pub struct FieldView {
    pub(crate) run: Run,
    pub(crate) clock: Clock,
    compilation: Compilation,
    layout: PageLayout,
    pub which: RwSignal<Which>,
    pub field: RwSignal<Option<String>>,
    pub across: RwSignal<Across>,
    /// Position along that axis.
    pub at: RwSignal<u64>,
    /// The number of the element of the data dimensions.
    pub element: RwSignal<u64>,
    pub span: RwSignal<ColourRange>,
    /// Views beside the plane, colours, and the cell that is looked at.
    pub look: PictureState,
    pub shown: RwSignal<Option<Arc<FieldPlane>>>,
    /// Why there is nothing to show of what is looked at.
    pub refused: RwSignal<Option<String>>,
    /// Counts the questions, so that a late plane is dropped.
    asked: StoredValue<u64>,
    /// Whether a link or the user chose a position, which the next result then keeps.
    is_chosen: StoredValue<bool>,
}

impl FieldView {
    pub(crate) fn new(run: Run, clock: Clock, compilation: Compilation, layout: PageLayout) -> Self {
        Self {
            run,
            clock,
            compilation,
            layout,
            which: RwSignal::default(),
            field: RwSignal::default(),
            across: RwSignal::default(),
            at: RwSignal::default(),
            element: RwSignal::default(),
            span: RwSignal::default(),
            look: PictureState::new(),
            shown: RwSignal::default(),
            refused: RwSignal::default(),
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

impl FieldView {
    /// The result that is looked at; the difference is described by its first part.
    #[must_use]
    pub fn outcome(self) -> Option<Arc<RunResult>> {
        match self.which.get() {
            Which::A | Which::Difference | Which::Relative | Which::Ulp => self.run.a.get(),
            Which::B => self.run.b.get(),
        }
    }

    /// The field that is looked at.
    #[must_use]
    pub fn shown_field(self) -> Option<FieldInfo> {
        let outcome = self.outcome()?;
        let name = self.field.get();
        let chosen = outcome.fields.iter().find(|it| Some(&it.name) == name.as_ref());
        chosen.or_else(|| outcome.fields.first()).cloned()
    }

    pub fn choose_field(self, name: String) {
        self.field.set(Some(name));
        let plot = |name: &str| {
            self.compilation
                .defaults
                .with_untracked(|it| it.plots.iter().find(|it| it.field == name).cloned())
        };
        if self.across.get_untracked() == Across::K {
            let k = self.field.get_untracked().and_then(|it| plot(&it)).and_then(|it| it.k);
            if let Some(k) = k {
                self.at.set(k);
            }
        }
    }

    /// Looks along another axis, through the cell that is looked at, which is the middle where none was chosen.
    pub fn choose_across(self, across: Across) {
        if self.across.get_untracked() == across {
            return;
        }
        let cell = untrack(|| self.cursor()).unwrap_or_default();
        if self.look.cell.with_untracked(Option::is_some) {
            self.look.cell.set(Some(cell));
        }
        self.across.set(across);
        self.choose_at(u64::try_from(cell[number(across)]).unwrap_or(0));
    }

    /// Chooses what to show of a new result: what was looked at before, else what the text's `# @plot` says.
    pub(crate) fn look_at_result(self, which: Which, fields: &[FieldInfo]) {
        let view = self;
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

    /// Asks for the plane that is looked at, whenever that changes.
    pub(crate) fn follow_planes(self, tell: impl Fn(RunEvent<Buffers>) + Copy + Send + Sync + 'static) {
        let wanted = Memo::new(move |_| {
            let field = self.shown_field()?;
            let across = self.across.get();
            let last = points_along(&field, across).unwrap_or(1).saturating_sub(1);
            let at = self.at.get().min(last);
            let element = self.element.get().min(field.n_elements().saturating_sub(1));
            let has_halo = self.look.has_halo.get();
            // Another result has other values at the same place.
            let results = self.run.generation.get();
            Some((self.which.get(), field.name, Plane { across, at, element, has_halo }, results))
        });
        Effect::new(move |_| {
            let Some((of, field, plane, results)) = wanted.get() else {
                self.shown.set(None);
                return;
            };
            let Some(worker) = self.run.keeper() else { return };
            let asked = self.asked.get_value() + 1;
            self.asked.set_value(asked);
            leptos::task::spawn_local(async move {
                let answer = worker.ask(Ask::Slice { of, field, plane }, Vec::new()).await;
                if self.asked.get_value() != asked {
                    return;
                }
                let (shown, refused) = match answer {
                    Ok((AnswerBody::Slice { slice }, buffers)) => {
                        let values = Arc::new(buffers.first().map(values_of).unwrap_or_default());
                        (Some(Arc::new(FieldPlane { slice, values })), None)
                    }
                    Ok((AnswerBody::Failed { why }, _)) => (None, Some(why::in_words(&why))),
                    Ok(_) => (None, None),
                    Err(gone) => {
                        tell(RunEvent::KeeperGone(gone.into()));
                        (None, None)
                    }
                };
                self.shown.set(shown);
                self.refused.set(refused);
                // The canvas draws when all signals have come to rest.
                set_timeout(move || tell(RunEvent::Seen(results)), Duration::ZERO);
            });
        });
    }

    pub(crate) fn restore(self, view: &View) {
        if let Some(open) = OpenStages::of(view.stages.iter().filter_map(|it| Stage::from_name(it))) {
            self.layout.open.set(open);
        }
        self.field.set(view.field.clone());
        self.which.set(Which::A);
        self.across.set(view.across.unwrap_or_default());
        self.at.set(view.at.unwrap_or_default());
        self.is_chosen.set_value(view.at.is_some());
        let look = self.look;
        look.kind.set(
            view.picture
                .as_deref()
                .map_or(PictureKind::Plane, |it| PictureKind::from_name(it).unwrap_or_default()),
        );
        look.line_along.set(if view.picture.as_deref() == Some("line-j") { Across::J } else { Across::I });
        let ends = view.range_ends.filter(|[low, high]| low.is_finite() && high.is_finite() && low <= high);
        let span = view.range.as_deref().and_then(ColourRange::from_name).unwrap_or_default();
        // A fixed range without its ends is none.
        self.span.set(if span == ColourRange::Fixed && ends.is_none() { ColourRange::Plane } else { span });
        look.fixed.set(ends.unwrap_or([0.0, 1.0]));
        look.map.set(view.map.clone());
        look.cell.set(view.cell);
    }

    pub(crate) fn shared(self) -> View {
        let stages = self.layout.open.with(|it| it.stages().iter().map(|it| it.name().to_owned()).collect());
        let has_field = self.field.with(Option::is_some);
        View {
            stages,
            field: self.field.get(),
            which: None,
            across: Some(self.across.get()).filter(|it| *it != Across::K),
            at: has_field.then(|| self.at.get()),
            picture: self.look.picture(),
            range: Some(self.span.get())
                .filter(|it| *it != ColourRange::Plane)
                .map(|it| it.name().to_owned()),
            range_ends: (self.span.get() == ColourRange::Fixed)
                .then(|| self.look.fixed.get())
                .filter(|it| it.iter().all(|it| it.is_finite())),
            map: self.look.map.get(),
            cell: self.look.cell.get(),
            ..View::default()
        }
    }
}

fn values_of(buffer: &ArrayBuffer) -> Vec<f64> {
    Float64Array::new(buffer).to_vec()
}
