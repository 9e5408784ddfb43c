//! How a picture of a plane is laid out: title, axes, the raster, and a bar of its colours.

use std::sync::Arc;

use super::colormap::{Colormap, ValueRange, category};
use super::raster::RowDirection;
use super::scene::{Anchor, Direction, Font, Frame, Ink, Scene, SceneMark};
use super::ticks::{self, Ticks};
use crate::bridge::locale::t;

/// A plane to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    pub values: Arc<Vec<f64>>,
    pub width: usize,
    pub height: usize,
    /// The positions of the first column and of the first row.
    pub first: [i64; 2],
    /// Points of the compute domain along columns and rows: what lies around them is halo.
    pub domain: [i64; 2],
    /// The names of the horizontal and of the vertical axis.
    pub names: [&'static str; 2],
    pub rows: RowDirection,
    pub shape: CellShape,
    pub map: Colormap,
    pub range: ValueRange,
    /// The title above the picture. `note` is a second line for files, where nothing else tells it.
    pub title: String,
    pub note: String,
    /// The quantity that the colours stand for.
    pub quantity: String,
    /// How many values lie below and above the range.
    pub clipped: [usize; 2],
    /// Light or dark: the patterns follow the page.
    pub is_dark: bool,
}

/// Whether cells are squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellShape {
    /// Both axes are distances.
    Square,
    /// A height is no distance: the picture has a handy shape.
    Free,
}

/// The room for a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawingArea {
    /// In pixels of the page.
    pub width: f64,
    /// Of the picture without its axes, at most.
    pub height: f64,
    /// The size of the page's text in pixels: 16, unless the reader wants it larger.
    pub text: f64,
    /// Pixels of the screen to one of the page.
    pub density: f64,
}

/// Where everything stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaneLayout {
    pub scene: Scene,
    pub frame: Frame,
    /// Pixels of the screen along the two edges of a cell.
    pub cell: [u32; 2],
}

/// Less room than that is none.
const LEAST_ROOM: f64 = 40.0;
/// Height over width of a picture whose axes are no distances.
const FREE_SHAPE: f64 = 0.62;
/// A picture that is longer than this in one direction is stretched in the other.
const LONGEST_SHAPE: f64 = 4.0;

/// Lays a picture out.
#[must_use]
pub fn layout(plane: &Plane, room: DrawingArea) -> PlaneLayout {
    // Before it is known how much room there is, nothing has a place.
    if plane.width == 0 || plane.height == 0 || room.width < LEAST_ROOM {
        return PlaneLayout::default();
    }
    let unit = room.text / 16.0;
    let small = Font::plain(11.5 * unit);
    let at_rows = at_axis(plane.first[1], plane.height, 6);
    let widest = at_rows.labels.iter().map(|it| small.width_of(it)).fold(0.0, f64::max);
    let left = (widest + 28.0 * unit).ceil();
    let right = 10.0 * unit;
    let mut top = 2.0 * unit;
    let mut marks = Vec::new();
    let mut write = |at: [f64; 2], text: &str, anchor, font, ink| {
        marks.push(SceneMark::Text { at, text: text.to_owned(), anchor, font, ink });
    };
    if !plane.title.is_empty() {
        top += 13.0 * unit;
        let font = Font::bold(13.0 * unit);
        write([left, top], &font.fitted(&plane.title, room.width - left), Anchor::Start, font, Ink::Text);
    }
    if !plane.note.is_empty() {
        top += 16.0 * unit;
        write([left, top], &small.fitted(&plane.note, room.width - left), Anchor::Start, small, Ink::Soft);
    }
    top += 9.0 * unit;

    let (frame, cell) = framed(plane, room, [left, top], right);
    let at_columns = at_axis(plane.first[0], plane.width, ticks::room_for(frame.width, 44.0 * unit));
    marks.push(SceneMark::Edge { frame: outset(frame), ink: Ink::Axis });
    let (step_x, step_y) = (frame.width / plane.width as f64, frame.height / plane.height as f64);
    for (at, label) in at_columns.at.iter().zip(&at_columns.labels) {
        let x = frame.x + (at - plane.first[0] as f64 + 0.5) * step_x;
        marks.push(tick([x, frame.bottom() + 1.0], [x, frame.bottom() + 5.0 * unit]));
        marks.push(text([x, frame.bottom() + 17.0 * unit], label, Anchor::Middle, small));
    }
    for (at, label) in at_rows.at.iter().zip(&at_rows.labels) {
        let from_top = match plane.rows {
            RowDirection::Upward => plane.height as f64 - (at - plane.first[1] as f64 + 0.5),
            RowDirection::Downward => at - plane.first[1] as f64 + 0.5,
        };
        let y = frame.y + from_top * step_y;
        marks.push(tick([frame.x - 1.0, y], [frame.x - 5.0 * unit, y]));
        marks.push(text([frame.x - 8.0 * unit, y + 4.0 * unit], label, Anchor::End, small));
    }
    let name = Font { weight: super::scene::Weight::Plain, ..Font::plain(12.0 * unit) };
    let below = frame.bottom() + 33.0 * unit;
    marks.push(text([frame.x + frame.width / 2.0, below], plane.names[0], Anchor::Middle, name));
    let upward = Font { direction: Direction::Upward, ..name };
    let aside = [13.0 * unit, frame.y + frame.height / 2.0];
    marks.push(text(aside, plane.names[1], Anchor::Middle, upward));
    if let Some(domain) = domain_of(plane, frame, [step_x, step_y]) {
        // Light and dark, so that it is seen on every colour.
        marks.push(SceneMark::Edge { frame: outset(domain), ink: Ink::Ground });
        marks.push(SceneMark::Edge { frame: domain, ink: Ink::Text });
    }

    let bar = Frame {
        x: frame.x,
        y: below + 12.0 * unit,
        width: frame.width.max(160.0 * unit).min(room.width - left - right).max(1.0),
        height: 11.0 * unit,
    };
    let bottom = colour_bar(plane, bar, unit, &mut marks);
    let width = (frame.right().max(bar.right()) + right).max(left + 200.0 * unit);
    PlaneLayout {
        scene: Scene { width: width.min(room.width.max(width)), height: bottom, marks },
        frame,
        cell,
    }
}

/// Numbers along an axis of positions.
fn at_axis(first: i64, points: usize, most: usize) -> Ticks {
    let last = first.saturating_add(i64::try_from(points).unwrap_or(i64::MAX)).saturating_sub(1);
    ticks::whole(first, last, most)
}

fn tick(from: [f64; 2], to: [f64; 2]) -> SceneMark {
    SceneMark::Line { points: vec![from, to], ink: Ink::Axis, width: 1.0, dash: super::scene::Dash::Solid }
}

fn text(at: [f64; 2], text: &str, anchor: Anchor, font: Font) -> SceneMark {
    SceneMark::Text { at, text: text.to_owned(), anchor, font, ink: Ink::Soft }
}

/// Half a pixel around, so that the edge covers nothing.
fn outset(frame: Frame) -> Frame {
    Frame { x: frame.x - 0.5, y: frame.y - 0.5, width: frame.width + 1.0, height: frame.height + 1.0 }
}

/// Returns the frame of the raster, and the pixels of the screen for a cell. Cells have whole numbers of
/// pixels if there are enough, so that all cells are alike.
fn framed(plane: &Plane, room: DrawingArea, [left, top]: [f64; 2], right: f64) -> (Frame, [u32; 2]) {
    let (columns, rows) = (plane.width as f64, plane.height as f64);
    let most_wide = (room.width - left - right).max(48.0);
    let is_square = match plane.shape {
        CellShape::Square => (1.0 / LONGEST_SHAPE..=LONGEST_SHAPE).contains(&(columns / rows)),
        CellShape::Free => false,
    };
    let (wide, high) = if is_square {
        let edge = (most_wide / columns).min(room.height / rows);
        (edge * columns, edge * rows)
    } else {
        (most_wide, (most_wide * FREE_SHAPE).min(room.height))
    };
    let whole = |length: f64, n: f64| {
        let pixels = (length * room.density / n).floor();
        // With less than two pixels for a cell, rounding would take too much of the room.
        if pixels >= 2.0 { (pixels * n / room.density, pixels) } else { (length, 1.0) }
    };
    let ((width, cell_x), (height, cell_y)) = if is_square {
        let (width, cell) = whole(wide, columns);
        let height = if cell >= 2.0 { cell * rows / room.density } else { high };
        ((width, cell), (height, cell))
    } else {
        (whole(wide, columns), whole(high, rows))
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels of a screen")]
    let cell = [cell_x as u32, cell_y as u32];
    (Frame { x: left, y: top, width, height }, cell)
}

/// Where the compute domain lies in the picture; `None` where it is all of it.
fn domain_of(plane: &Plane, frame: Frame, [step_x, step_y]: [f64; 2]) -> Option<Frame> {
    let [columns, rows] = [plane.width, plane.height].map(|it| it as f64);
    let [first_column, first_row] = plane.first.map(|it| -(it as f64));
    let [wide, high] = plane.domain.map(|it| it as f64);
    if plane.first == [0, 0] && wide >= columns && high >= rows {
        return None;
    }
    let from_top = match plane.rows {
        RowDirection::Upward => rows - first_row - high,
        RowDirection::Downward => first_row,
    };
    Some(Frame {
        x: frame.x + first_column * step_x,
        y: frame.y + from_top * step_y,
        width: wide * step_x,
        height: high * step_y,
    })
}

/// Draws the bar; answers where it ends.
fn colour_bar(plane: &Plane, bar: Frame, unit: f64, marks: &mut Vec<SceneMark>) -> f64 {
    let small = Font::plain(11.5 * unit);
    let ValueRange { low, high } = plane.range;
    let mut bottom = bar.bottom() + 16.0 * unit;
    if plane.map == Colormap::Categories {
        let n = (high - low).clamp(0.0, 11.0).round() + 1.0;
        let wide = (bar.width / n).min(48.0 * unit);
        let mut value = low;
        let mut x = bar.x;
        while value <= high && value - low < 12.0 {
            let frame = Frame { x, width: wide - 2.0 * unit, ..bar };
            marks.push(SceneMark::Swatch { frame, colour: category(value) });
            marks.push(SceneMark::Edge { frame: outset(frame), ink: Ink::Axis });
            let label = super::number::short(value, 4);
            marks.push(text([x + frame.width / 2.0, bottom - 2.0 * unit], &label, Anchor::Middle, small));
            x += wide;
            value += 1.0;
        }
    } else if low < high {
        marks.push(SceneMark::Ramp { frame: bar, stops: plane.map.stops() });
        marks.push(SceneMark::Edge { frame: outset(bar), ink: Ink::Axis });
        for (side, x, to) in [(0, bar.x - 1.5, -1.0), (1, bar.right() + 1.5, 1.0)] {
            if plane.clipped[side] > 0 {
                // A point at the end says that there is more beyond.
                let away = x + to * 6.0 * unit;
                let points =
                    vec![[x, bar.y], [away, bar.y + bar.height / 2.0], [x, bar.bottom()], [x, bar.y]];
                marks.push(SceneMark::Line {
                    points,
                    ink: Ink::Axis,
                    width: 1.0,
                    dash: super::scene::Dash::Solid,
                });
            }
        }
        let most = ticks::room_for(bar.width, 58.0 * unit).min(8);
        let found = ticks::nice(low, high, most);
        for (at, label) in found.at.iter().zip(&found.labels) {
            let x = bar.x + plane.range.position(*at) * bar.width;
            marks.push(tick([x, bar.bottom() + 1.0], [x, bar.bottom() + 4.0 * unit]));
            marks.push(text([x, bottom], label, Anchor::Middle, small));
        }
        let factor = found.factor();
        let quantity = [plane.quantity.as_str(), factor.as_str()].into_iter().filter(|it| !it.is_empty());
        let quantity = quantity.collect::<Vec<_>>().join("  ");
        if !quantity.is_empty() {
            bottom += 16.0 * unit;
            marks.push(text([bar.x + bar.width / 2.0, bottom], &quantity, Anchor::Middle, small));
        }
    } else {
        // One colour, since there is one value.
        let frame = Frame { width: 28.0 * unit, ..bar };
        marks.push(SceneMark::Swatch { frame, colour: plane.map.at(0.5) });
        marks.push(SceneMark::Edge { frame: outset(frame), ink: Ink::Axis });
        let label = t!("plots-everywhere", value = super::number::short(low, 6));
        marks.push(text([frame.right() + 8.0 * unit, bar.y + 10.0 * unit], &label, Anchor::Start, small));
        bottom = bar.bottom();
    }
    bottom + 6.0 * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(width: usize, height: usize, shape: CellShape) -> Plane {
        Plane {
            values: Arc::default(),
            width,
            height,
            first: [0, 0],
            domain: [width as i64, height as i64],
            names: ["i", "j"],
            rows: RowDirection::Upward,
            shape,
            map: Colormap::Viridis,
            range: ValueRange { low: -1.0, high: 1.0 },
            title: "q".to_owned(),
            note: String::new(),
            quantity: "q (K)".to_owned(),
            clipped: [0, 0],
            is_dark: false,
        }
    }

    const ROOM: DrawingArea = DrawingArea { width: 430.0, height: 480.0, text: 16.0, density: 1.0 };

    fn texts(layout: &PlaneLayout) -> Vec<String> {
        let text = |it: &SceneMark| match it {
            SceneMark::Text { text, .. } => Some(text.clone()),
            _ => None,
        };
        layout.scene.marks.iter().filter_map(text).collect()
    }

    #[test]
    fn a_picture_has_axes_with_names_and_numbers_and_a_bar() {
        let found = texts(&layout(&plane(64, 64, CellShape::Square), ROOM));
        for wanted in ["q", "i", "j", "0", "20", "60", "−1.0", "0.5", "q (K)"] {
            assert!(found.iter().any(|it| it == wanted), "{wanted} is not in {found:?}");
        }
    }

    #[test]
    fn cells_have_whole_pixels_of_the_screen_and_stay_in_the_room() {
        for density in [1.0, 1.5, 2.0] {
            for (columns, rows) in [(64, 64), (128, 128), (7, 5), (96, 24), (1, 1), (300, 10), (2000, 1500)] {
                for shape in [CellShape::Square, CellShape::Free] {
                    let room = DrawingArea { density, ..ROOM };
                    let found = layout(&plane(columns, rows, shape), room);
                    assert!(found.frame.right() <= room.width, "{columns} {rows}");
                    assert!(found.frame.height <= room.height + 1.0);
                    if found.cell[0] > 1 {
                        let pixels = f64::from(found.cell[0]) * columns as f64;
                        assert!((found.frame.width * density - pixels).abs() < 1e-6);
                    }
                }
            }
        }
    }

    #[test]
    fn a_halo_has_negative_positions_and_the_domain_a_frame() {
        let halo = Plane { first: [-2, -2], domain: [8, 8], ..plane(12, 12, CellShape::Square) };
        let found = layout(&halo, ROOM);
        assert!(texts(&found).iter().any(|it| it == "−2"));
        let edges = |it: &PlaneLayout| {
            it.scene.marks.iter().filter(|it| matches!(it, SceneMark::Edge { .. })).count()
        };
        assert_eq!(edges(&found), edges(&layout(&plane(12, 12, CellShape::Square), ROOM)) + 2);
    }

    #[test]
    fn a_field_of_one_value_says_so_and_a_mask_has_a_colour_for_each() {
        let constant = Plane { range: ValueRange::NONE, ..plane(4, 4, CellShape::Square) };
        assert!(texts(&layout(&constant, ROOM)).contains(&"0 everywhere".to_owned()));
        let mask = Plane {
            map: Colormap::Categories,
            range: ValueRange { low: 0.0, high: 1.0 },
            ..plane(4, 4, CellShape::Square)
        };
        let swatches = |it: &PlaneLayout| {
            it.scene.marks.iter().filter(|it| matches!(it, SceneMark::Swatch { .. })).count()
        };
        assert_eq!(swatches(&layout(&mask, ROOM)), 2);
    }

    #[test]
    fn without_room_nothing_is_drawn() {
        assert_eq!(
            layout(&plane(4, 4, CellShape::Square), DrawingArea { width: 0.0, ..ROOM }),
            PlaneLayout::default()
        );
        let narrow = layout(&plane(4, 4, CellShape::Square), DrawingArea { width: 41.0, ..ROOM });
        let bars = narrow.scene.marks.iter().filter_map(|it| match it {
            SceneMark::Ramp { frame, .. } => Some(frame.width),
            _ => None,
        });
        assert!(bars.into_iter().all(|it| it > 0.0));
    }

    #[test]
    fn larger_text_takes_more_room() {
        let large = layout(&plane(30, 30, CellShape::Square), DrawingArea { text: 32.0, ..ROOM });
        let plain = layout(&plane(30, 30, CellShape::Square), ROOM);
        assert!(large.frame.x > plain.frame.x && large.frame.width < plain.frame.width);
    }
}
