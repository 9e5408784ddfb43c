//! How a field is looked at beside its plane: which view, in which colours, at which cell.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_page_model::findings::{
    AxisProfile, CellNeighbourhood, CellReadings, FieldSurvey, StepRecord, number,
};
use isobar_protocol::worker::{Across, AnswerBody, Ask, Plane, Which};
use js_sys::{ArrayBuffer, Float64Array};
use leptos::prelude::*;

use super::view::{FieldView, points_along};

/// The kind of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureKind {
    #[default]
    Plane,
    /// Values of a column.
    Profile,
    /// Values along a horizontal axis.
    Line,
    Histogram,
    /// From step to step.
    Time,
}

impl PictureKind {
    /// The kind that a link names, as [`PictureState::picture`] does.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "profile" => Some(PictureKind::Profile),
            "line-i" | "line-j" => Some(PictureKind::Line),
            "histogram" => Some(PictureKind::Histogram),
            "time" => Some(PictureKind::Time),
            _ => None,
        }
    }
}

/// More steps than a chart has pixels for: those before are forgotten.
const MOST_STEPS: usize = 20_000;

/// How it is looked at.
#[derive(Clone, Copy, Debug)]
pub struct PictureState {
    pub kind: RwSignal<PictureKind>,
    /// The axis of a line: `I` or `J`.
    pub line_along: RwSignal<Across>,
    /// Whether the halo is shown.
    pub has_halo: RwSignal<bool>,
    /// The name of a map; the one that suits where there is none.
    pub map: RwSignal<Option<String>>,
    /// The ends of a range that the user sets.
    pub fixed: RwSignal<[f64; 2]>,
    /// Whether a histogram is of all of the field.
    pub is_of_all: RwSignal<bool>,
    /// The cell that was chosen.
    pub cell: RwSignal<Option<[i64; 3]>>,
    pub whole: RwSignal<Option<Arc<FieldSurvey>>>,
    pub plane: RwSignal<Option<Arc<FieldSurvey>>>,
    pub line: RwSignal<Option<Arc<AxisProfile>>>,
    pub inspected: RwSignal<Option<Arc<CellReadings>>>,
    pub around: RwSignal<Option<Arc<CellNeighbourhood>>>,
    pub records: RwSignal<Arc<Vec<StepRecord>>>,
}

impl PictureState {
    pub(crate) fn new() -> Self {
        Self {
            kind: RwSignal::default(),
            line_along: RwSignal::new(Across::I),
            has_halo: RwSignal::default(),
            map: RwSignal::default(),
            fixed: RwSignal::new([0.0, 1.0]),
            is_of_all: RwSignal::default(),
            cell: RwSignal::default(),
            whole: RwSignal::default(),
            plane: RwSignal::default(),
            line: RwSignal::default(),
            inspected: RwSignal::default(),
            around: RwSignal::default(),
            records: RwSignal::default(),
        }
    }

    /// The kind of picture, as links name it; nothing for a plane.
    #[must_use]
    pub fn picture(self) -> Option<String> {
        let name = match self.kind.get() {
            PictureKind::Plane => return None,
            PictureKind::Profile => "profile",
            PictureKind::Line if self.line_along.get() == Across::J => "line-j",
            PictureKind::Line => "line-i",
            PictureKind::Histogram => "histogram",
            PictureKind::Time => "time",
        };
        Some(name.to_owned())
    }
}

/// The subject of a question: the result, the field, the element, and the count of results.
type Subject = (Which, String, u64, u64);

impl FieldView {
    /// The cell that is looked at: the chosen one, or the middle; on the plane that is shown.
    #[must_use]
    pub fn cursor(self) -> Option<[i64; 3]> {
        let field = self.shown_field()?;
        let across = self.across.get();
        let chosen = self.look.cell.get();
        let has_halo = self.look.has_halo.get();
        let mut cell = [0; 3];
        for axis in [Across::I, Across::J, Across::K] {
            let n = number(axis);
            let points = i64::try_from(points_along(&field, axis).unwrap_or(1)).unwrap_or(i64::MAX);
            let last = points.saturating_sub(1).max(0);
            cell[n] = if axis == across {
                i64::try_from(self.at.get()).unwrap_or(0).clamp(0, last)
            } else {
                match chosen {
                    Some(cell) if has_halo => cell[n],
                    Some(cell) => cell[n].clamp(0, last),
                    None => points / 2,
                }
            };
        }
        Some(cell)
    }

    /// Chooses a cell.
    pub fn choose_cell(self, cell: [i64; 3]) {
        let across = number(self.across.get_untracked());
        self.look.cell.set(Some(cell));
        if let Ok(at) = u64::try_from(cell[across])
            && at != self.at.get_untracked()
        {
            self.choose_at(at);
        }
    }

    /// Moves the cell along one axis.
    pub fn move_cell(self, axis: Across, at: i64) {
        if let Some(mut cell) = untrack(|| self.cursor()) {
            cell[number(axis)] = at;
            self.choose_cell(cell);
        }
    }

    fn subject(self) -> Option<Subject> {
        let field = self.shown_field()?;
        let element = self.element.get().min(field.n_elements().saturating_sub(1));
        Some((self.which.get(), field.name, element, self.run.generation.get()))
    }

    /// Asks for what the present view needs, whenever that changes.
    pub(crate) fn follow_look(self) {
        let look = self.look;
        // The chart over time is of the steps that were taken last.
        Effect::new(move |_| {
            if self.clock.step.with(Option::is_none) {
                look.records.set(Arc::default());
            }
        });
        let whole = Memo::new(move |_| self.subject());
        self.follow(
            whole,
            |(of, field, element, _)| Ask::Survey { of, field, element, plane: None },
            move |said| look.whole.set(said.and_then(|(said, _)| surveyed(said))),
        );
        let plane = Memo::new(move |_| {
            let is_wanted = look.kind.get() == PictureKind::Histogram && !look.is_of_all.get();
            let subject = self.subject().filter(|_| is_wanted)?;
            let across = self.across.get();
            let cell = self.cursor()?;
            let at = u64::try_from(cell[number(across)]).unwrap_or(0);
            Some((subject, across, at))
        });
        self.follow(
            plane,
            |((of, field, element, _), across, at)| {
                let plane = Plane { across, at, element, has_halo: false };
                Ask::Survey { of, field, element, plane: Some(plane) }
            },
            move |said| look.plane.set(said.and_then(|(said, _)| surveyed(said))),
        );
        let line = Memo::new(move |_| {
            let along = match look.kind.get() {
                PictureKind::Profile => Across::K,
                PictureKind::Line => look.line_along.get(),
                PictureKind::Plane | PictureKind::Histogram | PictureKind::Time => return None,
            };
            Some((self.subject()?, along, self.cursor()?))
        });
        self.follow(
            line,
            |((of, field, element, _), along, at)| Ask::Line { of, field, element, along, at },
            move |said| look.line.set(said.and_then(|(said, buffers)| lined(said, &buffers))),
        );
        let inspected = Memo::new(move |_| {
            look.cell.with(Option::is_some).then_some(())?;
            let (_, _, element, results) = self.subject()?;
            Some((self.cursor()?, element, results))
        });
        self.follow(
            inspected,
            |(at, element, _)| Ask::Cell { at, element },
            move |said| {
                let at = untrack(|| inspected.get()).map(|(at, ..)| at);
                let readings = said.and_then(|(said, _)| match said {
                    AnswerBody::Cell { readings } => Some(readings),
                    _ => None,
                });
                look.inspected
                    .set(at.zip(readings).map(|(at, readings)| Arc::new(CellReadings { at, readings })));
            },
        );
    }

    /// Asks for the cells around the chosen one, whenever that is another one.
    pub(crate) fn follow_around(self) {
        let look = self.look;
        let around = Memo::new(move |_| {
            look.cell.with(Option::is_some).then_some(())?;
            Some((self.subject()?, self.cursor()?))
        });
        self.follow(
            around,
            |((of, field, element, _), at)| Ask::Around { of, field, element, at },
            move |said| {
                let at = untrack(|| around.get()).map(|(_, at)| at);
                let values = said.and_then(|(said, buffers)| match said {
                    AnswerBody::Around { is_there } => {
                        let values = buffers.first().map(|it| Float64Array::new(it).to_vec())?;
                        Some(
                            values
                                .into_iter()
                                .zip(is_there)
                                .map(|(it, is_there)| is_there.then_some(it))
                                .collect(),
                        )
                    }
                    _ => None,
                });
                look.around
                    .set(at.zip(values).map(|(at, values)| Arc::new(CellNeighbourhood { at, values })));
            },
        );
    }

    /// Asks the keeper whenever `wanted` changes, and drops answers that come late.
    fn follow<K: Clone + PartialEq + Send + Sync + 'static>(
        self,
        wanted: Memo<Option<K>>,
        ask: fn(K) -> Ask,
        take: impl Fn(Option<(AnswerBody, Vec<ArrayBuffer>)>) + Copy + 'static,
    ) {
        let asked = StoredValue::new(0_u64);
        Effect::new(move |_| {
            asked.update_value(|it| *it += 1);
            let number = asked.get_value();
            let (Some(wanted), Some(worker)) = (wanted.get(), self.run.keeper()) else {
                take(None);
                return;
            };
            leptos::task::spawn_local(async move {
                let answer = worker.ask(ask(wanted), Vec::new()).await;
                if asked.get_value() == number {
                    // The view of the plane reports a worker that is gone.
                    take(answer.ok());
                }
            });
        });
    }

    /// Records a step for the chart over time. To be called when the results of the step are kept, and before
    /// those of the next one are. A step that is not later than the last one begins anew.
    pub async fn record_step(self, step: u64) {
        let Some(outcome) = self.run.a.get_untracked() else { return };
        let cell = untrack(|| self.cursor()).unwrap_or_default();
        let element = self.element.get_untracked();
        let mut values = BTreeMap::new();
        if let Some(worker) = self.run.keeper()
            && let Ok((AnswerBody::Cell { readings }, _)) =
                worker.ask(Ask::Cell { at: cell, element }, Vec::new()).await
        {
            values = readings.into_iter().filter_map(|it| Some((it.field, it.value?))).collect();
        }
        let statistics = outcome.fields.iter().map(|it| (it.name.clone(), it.statistics)).collect();
        self.look.records.update(|records| {
            let records = Arc::make_mut(records);
            if records.last().is_some_and(|it| it.step >= step) {
                records.clear();
            }
            if records.len() >= MOST_STEPS {
                records.remove(0);
            }
            records.push(StepRecord { step, statistics, cell, values });
        });
    }
}

fn surveyed(said: AnswerBody) -> Option<Arc<FieldSurvey>> {
    match said {
        AnswerBody::Survey { summary, histogram } => Some(Arc::new(FieldSurvey { summary, histogram })),
        _ => None,
    }
}

fn lined(said: AnswerBody, buffers: &[ArrayBuffer]) -> Option<Arc<AxisProfile>> {
    let AnswerBody::Line { line } = said else { return None };
    let values = buffers.first().map(|it| Float64Array::new(it).to_vec())?;
    let points = usize::try_from(line.points).ok()?;
    let row = |at: usize| values.get(at * points..(at + 1) * points).map(<[f64]>::to_vec);
    Some(Arc::new(AxisProfile { rows: [row(0)?, row(1)?, row(2)?, row(3)?], line }))
}
