//! Charts of what is known of a field: lines, bins, and what happens from step to step.

use isobar_page_model::findings::{AxisProfile, FieldSurvey, StepRecord, number};
use isobar_protocol::worker::Across;

use super::field::{letter, names};
use crate::bridge::locale::t;
use crate::plots::chart::{Axis, AxisDirection, AxisKind, Band, Bar, Chart, Rule, Series};
use crate::plots::scene::Dash;

/// A profile where the line goes along K, and else a line over its axis.
#[must_use]
pub fn line(lined: &AxisProfile, subject: &str, quantity: String) -> Chart {
    let along = lined.line.along;
    let is_profile = along == Across::K;
    let points = |row: usize| -> Vec<[f64; 2]> {
        let values = lined.rows[row].iter().enumerate();
        values.map(|(at, value)| if is_profile { [*value, at as f64] } else { [at as f64, *value] }).collect()
    };
    let at: Vec<String> = [Across::I, Across::J, Across::K]
        .into_iter()
        .filter(|it| *it != along)
        .map(|it| format!("{} = {}", letter(it), lined.line.at[number(it)]))
        .collect();
    let last = lined.line.points.saturating_sub(1) as f64;
    let positions = Axis {
        name: names()[number(along)].to_owned(),
        column: "",
        kind: AxisKind::Whole,
        direction: if is_profile { AxisDirection::Downward } else { AxisDirection::Onward },
        range: Some([0.0, last]),
    };
    let values = Axis { name: quantity, ..Axis::default() };
    let (x, y) = if is_profile { (values, positions) } else { (positions, values) };
    let other = if along == Across::I { "j" } else { "i" };
    let (mean, band) = if is_profile {
        (t!("chart-mean-level").to_owned(), t!("chart-band-level").to_owned())
    } else {
        (t!("chart-mean-over", axis = other), t!("chart-band-over", axis = other))
    };
    // A table of values calls them the same in every language.
    let (of_mean, of_band) = if is_profile {
        ("horizontal mean".to_owned(), "the level".to_owned())
    } else {
        (format!("mean over {other}"), format!("all {other}"))
    };
    let cell = lined.line.at[number(along)] as f64;
    Chart {
        title: format!("{subject}, {}", at.join(", ")),
        x,
        y,
        bands: vec![Band { name: band, column: of_band, low: points(2), high: points(3), number: 1 }],
        lines: vec![
            Series { name: mean, column: of_mean, points: points(1), number: 1, dash: Dash::Dashed },
            Series {
                name: at.join(", "),
                column: at.join(" "),
                points: points(0),
                number: 0,
                dash: Dash::Solid,
            },
        ],
        rules: vec![if is_profile { Rule::AtY(cell) } else { Rule::AtX(cell) }],
        ..Chart::default()
    }
}

#[must_use]
pub fn histogram(found: &FieldSurvey, title: String, quantity: String) -> Chart {
    let of = &found.histogram;
    let n = of.counts.len() as f64;
    let at = |bin: usize| of.low + (of.high / n - of.low / n) * bin as f64;
    let bars = of.counts.iter().enumerate();
    let bars =
        bars.map(|(bin, count)| Bar { from: at(bin), to: at(bin + 1), count: *count as f64 }).collect();
    Chart {
        title,
        x: Axis { name: quantity, ..Axis::default() },
        y: Axis { name: t!("chart-cells").to_owned(), kind: AxisKind::Whole, ..Axis::default() },
        bars,
        rules: found.summary.mean.map(Rule::AtX).into_iter().collect(),
        ..Chart::default()
    }
}

/// The steps of a run; `None` where there were none.
#[must_use]
pub fn time(records: &[StepRecord], field: &str, subject: &str, quantity: String) -> Option<Chart> {
    let last = records.last()?;
    let points = |of: &dyn Fn(&StepRecord) -> Option<f64>| -> Vec<[f64; 2]> {
        records.iter().map(|it| [it.step as f64, of(it).unwrap_or(f64::NAN)]).collect()
    };
    let statistics = |it: &StepRecord| it.statistics.get(field).copied();
    let low = points(&|it| statistics(it)?.min);
    let high = points(&|it| statistics(it)?.max);
    let mean = points(&|it| statistics(it)?.mean);
    // Values that were read in another cell are not part of this line.
    let value = points(&|it| it.values.get(field).copied().filter(|_| it.cell == last.cell));
    let [i, j, k] = last.cell;
    Some(Chart {
        title: t!("chart-step-title", subject = subject, step = last.step),
        x: Axis {
            name: t!("chart-step").to_owned(),
            column: "step",
            kind: AxisKind::Whole,
            ..Axis::default()
        },
        y: Axis { name: quantity, ..Axis::default() },
        bands: vec![Band {
            name: t!("chart-band").to_owned(),
            column: "the field".to_owned(),
            low,
            high,
            number: 1,
        }],
        lines: vec![
            Series {
                name: t!("chart-mean").to_owned(),
                column: "mean".to_owned(),
                points: mean,
                number: 1,
                dash: Dash::Dashed,
            },
            Series {
                name: t!("chart-at", i = i, j = j, k = k),
                column: format!("at ({i} {j} {k})"),
                points: value,
                number: 0,
                dash: Dash::Solid,
            },
        ],
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use isobar_protocol::field::Statistics;
    use isobar_protocol::picture::{Histogram, Line, Summary};
    use isobar_protocol::worker::Which;

    use super::*;

    fn lined(along: Across) -> AxisProfile {
        let line = Line { of: Which::A, field: "q".to_owned(), along, at: [3, 4, 1], points: 2 };
        AxisProfile { line, rows: [vec![1.0, 2.0], vec![1.5, 2.5], vec![0.0, 1.0], vec![3.0, 4.0]] }
    }

    #[test]
    fn a_profile_has_values_across_and_levels_downward() {
        let found = line(&lined(Across::K), "q", "q (K)".to_owned());
        assert_eq!(found.title, "q, i = 3, j = 4");
        assert_eq!((found.x.name.as_str(), found.y.direction), ("q (K)", AxisDirection::Downward));
        assert_eq!(found.lines[1].points, [[1.0, 0.0], [2.0, 1.0]]);
        assert_eq!(found.bands[0].high, [[3.0, 0.0], [4.0, 1.0]]);
        let along_i = line(&lined(Across::I), "q", "q".to_owned());
        assert_eq!(along_i.lines[1].points, [[0.0, 1.0], [1.0, 2.0]]);
        assert_eq!(along_i.title, "q, j = 4, k = 1");
    }

    #[test]
    fn bins_stand_side_by_side() {
        let found = FieldSurvey {
            summary: Summary { mean: Some(0.25), ..Summary::default() },
            histogram: Histogram { low: 0.0, high: 1.0, counts: vec![3, 1] },
        };
        let chart = histogram(&found, String::new(), String::new());
        assert_eq!(chart.bars[1], Bar { from: 0.5, to: 1.0, count: 1.0 });
        assert_eq!(chart.rules, [Rule::AtX(0.25)]);
    }

    #[test]
    fn steps_that_were_read_in_another_cell_leave_a_gap() {
        let record = |step: u64, cell: [i64; 3]| {
            let statistics = Statistics { mean: Some(step as f64), ..Statistics::default() };
            StepRecord {
                step,
                statistics: BTreeMap::from([("q".to_owned(), statistics)]),
                cell,
                values: BTreeMap::from([("q".to_owned(), 10.0)]),
            }
        };
        let records = [record(0, [0, 0, 0]), record(1, [1, 0, 0]), record(2, [1, 0, 0])];
        let found = time(&records, "q", "q", String::new()).unwrap();
        assert_eq!(format!("{:?}", found.lines[0].points[2]), "[2.0, 2.0]");
        assert!(found.lines[1].points[0][1].is_nan());
        assert_eq!(format!("{:?}", found.lines[1].points[1]), "[1.0, 10.0]");
        assert!(time(&[], "q", "q", String::new()).is_none());
    }
}
