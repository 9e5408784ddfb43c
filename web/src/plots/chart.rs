//! How a chart is laid out: lines, bands and bars over two axes of numbers.

use super::colormap::ValueRange;
use super::plane::DrawingArea;
use super::scene::{Anchor, Dash, Direction, Font, Frame, Ink, Scene, SceneMark};
use super::ticks::{self, Ticks};

/// Lines, bands and bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The title above the chart. `note` is a second line for files, where nothing else tells it.
    pub title: String,
    pub note: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Series>,
    pub bands: Vec<Band>,
    pub bars: Vec<Bar>,
    /// A position on an axis that is pointed out.
    pub rules: Vec<Rule>,
}

/// An axis of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    pub name: String,
    /// As a file of values calls it, in every language; empty where that is the beginning of the name.
    pub column: &'static str,
    pub kind: AxisKind,
    pub direction: AxisDirection,
    /// From where to where; what is drawn decides where nothing is said.
    pub range: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AxisKind {
    #[default]
    Numbers,
    /// Positions of points, or steps.
    Whole,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AxisDirection {
    #[default]
    Onward,
    /// The first level stands at the top.
    Downward,
}

/// A line through points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    /// As a file of values calls it, in every language.
    pub column: String,
    pub points: Vec<[f64; 2]>,
    /// Which colour, counted from 0.
    pub number: usize,
    pub dash: Dash,
}

/// A band from the least to the greatest value.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    pub name: String,
    /// The name of the quantity between them in files of values, the same in every language.
    pub column: String,
    pub low: Vec<[f64; 2]>,
    pub high: Vec<[f64; 2]>,
    pub number: usize,
}

/// A bar from one position to another, from zero to a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub from: f64,
    pub to: f64,
    pub count: f64,
}

/// A line across the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    AtX(f64),
    AtY(f64),
}

/// Height over width.
const SHAPE: f64 = 0.7;

/// Lays a chart out.
#[must_use]
pub fn layout(chart: &Chart, room: DrawingArea) -> Scene {
    let unit = room.text / 16.0;
    let small = Font::plain(11.5 * unit);
    let (range_x, range_y) = (range(chart, 0), range(chart, 1));
    let height = ((room.width * SHAPE).min(room.height)).max(120.0 * unit);
    let at_y = axis_ticks(&chart.y, range_y, ticks::room_for(height, 38.0 * unit));
    let widest = at_y.labels.iter().map(|it| small.width_of(it)).fold(0.0, f64::max);
    let left = (widest + 30.0 * unit).ceil();
    let right = 14.0 * unit;
    let mut top = 2.0 * unit;
    let mut marks = Vec::new();
    let mut write = |at: [f64; 2], text: &str, anchor, font, ink| {
        marks.push(SceneMark::Text { at, text: text.to_owned(), anchor, font, ink });
    };
    if !chart.title.is_empty() {
        top += 13.0 * unit;
        let font = Font::bold(13.0 * unit);
        write([left, top], &font.fitted(&chart.title, room.width - left), Anchor::Start, font, Ink::Text);
    }
    if !chart.note.is_empty() {
        top += 16.0 * unit;
        write([left, top], &small.fitted(&chart.note, room.width - left), Anchor::Start, small, Ink::Soft);
    }
    top = legend(chart, [left, top], room.width - right, unit, &mut marks);
    top += 10.0 * unit;
    let frame = Frame { x: left, y: top, width: (room.width - left - right).max(60.0), height };

    let x = |value: f64| frame.x + placed(value, range_x, chart.x.direction) * frame.width;
    let y = |value: f64| {
        // Pixels count from above.
        frame.bottom() - placed(value, range_y, chart.y.direction) * frame.height
    };
    let at_x = axis_ticks(&chart.x, range_x, ticks::room_for(frame.width, 58.0 * unit));
    let line = |points: Vec<[f64; 2]>, ink, width, dash| SceneMark::Line { points, ink, width, dash };
    for (at, label) in at_x.at.iter().zip(&at_x.labels) {
        let x = x(*at);
        marks.push(line(vec![[x, frame.y], [x, frame.bottom()]], Ink::Grid, 1.0, Dash::Solid));
        marks.push(text([x, frame.bottom() + 15.0 * unit], label, Anchor::Middle, small));
    }
    for (at, label) in at_y.at.iter().zip(&at_y.labels) {
        let y = y(*at);
        marks.push(line(vec![[frame.x, y], [frame.right(), y]], Ink::Grid, 1.0, Dash::Solid));
        marks.push(text([frame.x - 7.0 * unit, y + 4.0 * unit], label, Anchor::End, small));
    }
    // Zero is where signs change: it is seen where it is in view.
    if chart.x.kind == AxisKind::Numbers && range_x.low < 0.0 && range_x.high > 0.0 {
        marks.push(line(vec![[x(0.0), frame.y], [x(0.0), frame.bottom()]], Ink::Axis, 1.0, Dash::Solid));
    }
    if chart.y.kind == AxisKind::Numbers && range_y.low < 0.0 && range_y.high > 0.0 {
        marks.push(line(vec![[frame.x, y(0.0)], [frame.right(), y(0.0)]], Ink::Axis, 1.0, Dash::Solid));
    }
    for band in &chart.bands {
        let finite = |points: &[[f64; 2]]| -> Vec<[f64; 2]> {
            let kept = points.iter().filter(|it| it[0].is_finite() && it[1].is_finite());
            kept.map(|it| [x(it[0]), y(it[1])]).collect()
        };
        let mut around = finite(&band.low);
        around.extend(finite(&band.high).into_iter().rev());
        marks.push(SceneMark::Area { points: around, ink: Ink::Series(band.number) });
    }
    for bar in &chart.bars {
        let (from, to) = (x(bar.from), x(bar.to));
        let gap = if to - from > 4.0 { 1.0 } else { 0.0 };
        let top = y(bar.count);
        let frame =
            Frame { x: from, y: top, width: (to - from - gap).max(0.5), height: frame.bottom() - top };
        marks.push(SceneMark::Bar { frame, ink: Ink::Series(0) });
    }
    for rule in &chart.rules {
        let points = match *rule {
            Rule::AtX(at) => vec![[x(at), frame.y], [x(at), frame.bottom()]],
            Rule::AtY(at) => vec![[frame.x, y(at)], [frame.right(), y(at)]],
        };
        marks.push(line(points, Ink::Text, 1.0, Dash::Dashed));
    }
    for series in &chart.lines {
        let points: Vec<[f64; 2]> = series.points.iter().map(|it| [x(it[0]), y(it[1])]).collect();
        let ink = Ink::Series(series.number);
        // A single point makes no line, and few points are seen as such.
        let finite = points.iter().filter(|it| it[0].is_finite() && it[1].is_finite());
        if points.len() <= 24 {
            marks.extend(finite.map(|it| SceneMark::Dot { at: *it, radius: 2.5 * unit, ink }));
        }
        marks.push(line(points, ink, 1.75 * unit, series.dash));
    }
    marks.push(line(
        vec![[frame.x, frame.y], [frame.x, frame.bottom()], [frame.right(), frame.bottom()]],
        Ink::Axis,
        1.0,
        Dash::Solid,
    ));
    let named = |name: &str, found: &Ticks| {
        let factor = found.factor();
        if factor.is_empty() { name.to_owned() } else { format!("{name}  {factor}") }
    };
    let name = Font::plain(12.0 * unit);
    let below = frame.bottom() + 32.0 * unit;
    marks.push(text(
        [frame.x + frame.width / 2.0, below],
        &named(&chart.x.name, &at_x),
        Anchor::Middle,
        name,
    ));
    let upward = Font { direction: Direction::Upward, ..name };
    marks.push(text(
        [13.0 * unit, frame.y + frame.height / 2.0],
        &named(&chart.y.name, &at_y),
        Anchor::Middle,
        upward,
    ));
    Scene { width: room.width, height: below + 10.0 * unit, marks }
}

fn text(at: [f64; 2], text: &str, anchor: Anchor, font: Font) -> SceneMark {
    SceneMark::Text { at, text: text.to_owned(), anchor, font, ink: Ink::Soft }
}

/// Draws what the lines are; answers where it ends.
fn legend(chart: &Chart, [left, top]: [f64; 2], right: f64, unit: f64, marks: &mut Vec<SceneMark>) -> f64 {
    let font = Font::plain(11.5 * unit);
    let lines = chart.lines.iter().map(|it| (&it.name, it.number, Some(it.dash)));
    let entries: Vec<_> = lines
        .chain(chart.bands.iter().map(|it| (&it.name, it.number, None)))
        .filter(|it| !it.0.is_empty())
        .collect();
    if entries.is_empty() {
        return top;
    }
    let (mut x, mut y) = (left, top + 18.0 * unit);
    for (name, number, dash) in entries {
        let width = 24.0 * unit + font.width_of(name) + 14.0 * unit;
        if x > left && x + width > right {
            x = left;
            y += 17.0 * unit;
        }
        let ink = Ink::Series(number);
        let middle = y - 4.0 * unit;
        let end = x + 18.0 * unit;
        marks.push(match dash {
            Some(dash) => {
                SceneMark::Line { points: vec![[x, middle], [end, middle]], ink, width: 1.75 * unit, dash }
            }
            None => {
                let (above, below) = (middle - 4.0 * unit, middle + 4.0 * unit);
                SceneMark::Area { points: vec![[x, above], [end, above], [end, below], [x, below]], ink }
            }
        });
        marks.push(text([end + 6.0 * unit, y], name, Anchor::Start, font));
        x += width;
    }
    y
}

/// How far along an axis a value lies, 0 to 1.
fn placed(value: f64, range: ValueRange, direction: AxisDirection) -> f64 {
    let part = range.position(value);
    match direction {
        AxisDirection::Onward => part,
        AxisDirection::Downward => 1.0 - part,
    }
}

fn axis_ticks(axis: &Axis, range: ValueRange, most: usize) -> Ticks {
    match axis.kind {
        AxisKind::Numbers => ticks::nice(range.low, range.high, most),
        #[expect(clippy::cast_possible_truncation, reason = "positions of points")]
        AxisKind::Whole => ticks::whole(range.low.ceil() as i64, range.high.floor() as i64, most),
    }
}

/// The range of an axis: the one that was asked for, or that of all values with a small margin.
fn range(chart: &Chart, axis: usize) -> ValueRange {
    let of = if axis == 0 { &chart.x } else { &chart.y };
    if let Some([low, high]) = of.range {
        return widened(ValueRange { low, high }, 0.0);
    }
    let lines = chart.lines.iter().flat_map(|it| &it.points);
    let bands = chart.bands.iter().flat_map(|it| it.low.iter().chain(&it.high));
    let mut values: Vec<f64> = lines.chain(bands).map(|it| it[axis]).collect();
    for bar in &chart.bars {
        values.extend(if axis == 0 { [bar.from, bar.to] } else { [0.0, bar.count] });
    }
    let found = ValueRange::of(&values);
    let is_tight = of.kind == AxisKind::Whole || !chart.bars.is_empty();
    widened(found, if is_tight { 0.0 } else { 0.04 })
}

/// A part more on both sides; where there is one value only, something around it.
fn widened(range: ValueRange, part: f64) -> ValueRange {
    let ValueRange { low, high } = range;
    if low < high {
        let more = (high / 2.0 - low / 2.0) * 2.0 * part;
        let wide = ValueRange { low: low - more, high: high + more };
        if wide.low.is_finite() && wide.high.is_finite() { wide } else { range }
    } else {
        let around = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        ValueRange { low: low - around, high: high + around }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: DrawingArea = DrawingArea { width: 400.0, height: 400.0, text: 16.0, density: 1.0 };

    fn profile() -> Chart {
        let points = |shift: f64| (0..40).map(|k| [f64::from(k) * 0.1 + shift, f64::from(k)]).collect();
        Chart {
            title: "q at i = 3, j = 4".to_owned(),
            x: Axis { name: "q (K)".to_owned(), ..Axis::default() },
            y: Axis {
                name: "k".to_owned(),
                kind: AxisKind::Whole,
                column: "",
                direction: AxisDirection::Downward,
                range: Some([0.0, 39.0]),
            },
            lines: vec![Series {
                name: "column".to_owned(),
                column: "column".to_owned(),
                points: points(0.0),
                number: 0,
                dash: Dash::Solid,
            }],
            bands: vec![Band {
                name: "all".to_owned(),
                column: "all".to_owned(),
                low: points(-1.0),
                high: points(1.0),
                number: 1,
            }],
            ..Chart::default()
        }
    }

    fn line_of(scene: &Scene) -> Vec<[f64; 2]> {
        let found = scene.marks.iter().find_map(|it| match it {
            SceneMark::Line { points, ink: Ink::Series(0), .. } if points.len() == 40 => Some(points.clone()),
            _ => None,
        });
        found.unwrap()
    }

    #[test]
    fn the_first_level_stands_at_the_top() {
        let scene = layout(&profile(), ROOM);
        let line = line_of(&scene);
        assert!(line[0][1] < line[39][1], "k grows downward");
        assert!(line[0][0] < line[39][0]);
    }

    #[test]
    fn a_chart_stays_within_its_room() {
        let scene = layout(&profile(), ROOM);
        assert!(
            line_of(&scene)
                .iter()
                .all(|[x, y]| (0.0..=400.0).contains(x) && (0.0..=scene.height).contains(y))
        );
    }

    #[test]
    fn bars_stand_on_zero() {
        let bars = vec![Bar { from: 0.0, to: 1.0, count: 4.0 }, Bar { from: 1.0, to: 2.0, count: 0.0 }];
        let scene = layout(&Chart { bars, ..Chart::default() }, ROOM);
        let heights: Vec<f64> = scene
            .marks
            .iter()
            .filter_map(|it| match it {
                SceneMark::Bar { frame, .. } => Some(frame.height),
                _ => None,
            })
            .collect();
        assert_eq!(heights.len(), 2);
        assert!(heights[0] > 100.0 && heights[1].abs() < 1e-9, "{heights:?}");
    }

    #[test]
    fn one_value_has_room_around_it() {
        let one = widened(ValueRange { low: 5.0, high: 5.0 }, 0.04);
        assert!(one.low < 5.0 && one.high > 5.0);
        assert_eq!(widened(ValueRange::NONE, 0.0), ValueRange { low: -1.0, high: 1.0 });
        let all = widened(ValueRange { low: -f64::MAX, high: f64::MAX }, 0.04);
        assert!(all.low.is_finite() && all.high.is_finite());
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let scene = layout(&Chart::default(), ROOM);
        assert!(scene.height.is_finite());
    }
}
