//! The drawing of a view, and its values as text.

use std::fmt::Write;

use super::chart::{self, Chart};
use super::plane::Plane;

/// A drawing, of a plane or of a chart.
#[derive(Clone, Debug, PartialEq)]
pub enum PlotDrawing {
    Plane(Plane),
    Chart(Chart),
}

impl PlotDrawing {
    /// The values as a table: of a plane, a first row and a first column of positions, the rows as they are drawn.
    #[must_use]
    pub fn csv(&self) -> String {
        match self {
            PlotDrawing::Plane(plane) => plane_csv(plane),
            PlotDrawing::Chart(chart) => chart_csv(chart),
        }
    }
}

fn plane_csv(plane: &Plane) -> String {
    let [across, down] = plane.names.map(|it| it.split([',', ' ']).next().unwrap_or(it));
    let mut out = format!("{down}\\{across}");
    for column in 0..plane.width as i64 {
        // Writing to a string does not fail.
        let _ = write!(out, ",{}", plane.first[0] + column);
    }
    out.push('\n');
    for (row, values) in plane.values.chunks(plane.width.max(1)).enumerate() {
        let _ = write!(out, "{}", plane.first[1] + row as i64);
        for value in values {
            let _ = write!(out, ",{}", spelled(*value));
        }
        out.push('\n');
    }
    out
}

fn chart_csv(chart: &Chart) -> String {
    let mut out = String::new();
    if !chart.bars.is_empty() {
        out.push_str("from,to,count\n");
        for bar in &chart.bars {
            let _ = writeln!(out, "{},{},{}", spelled(bar.from), spelled(bar.to), bar.count);
        }
        return out;
    }
    // The positions are along the axis of whole numbers, the values along the other.
    let (at, value) = if chart.y.kind == chart::AxisKind::Whole { (1, 0) } else { (0, 1) };
    let axis = if at == 1 { &chart.y } else { &chart.x };
    let name = match axis.column {
        "" => axis.name.split([',', ' ']).next().unwrap_or_default(),
        column => column,
    };
    let bands = chart.bands.iter().flat_map(|it| {
        [(format!("least of {}", it.column), &it.low), (format!("greatest of {}", it.column), &it.high)]
    });
    let columns: Vec<_> = chart.lines.iter().map(|it| (it.column.clone(), &it.points)).chain(bands).collect();
    out.push_str(name);
    for (name, _) in &columns {
        let _ = write!(out, ",{}", name.replace([',', '"', '\n'], " "));
    }
    out.push('\n');
    let positions = columns.iter().map(|it| it.1).max_by_key(|it| it.len());
    for (row, point) in positions.into_iter().flatten().enumerate() {
        out.push_str(&spelled(point[at]));
        for (_, points) in &columns {
            let _ = write!(out, ",{}", points.get(row).map(|it| spelled(it[value])).unwrap_or_default());
        }
        out.push('\n');
    }
    out
}

/// So that it reads back to the same number.
fn spelled(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value}") }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::plots::chart::{Axis, AxisKind, Bar, Series};
    use crate::plots::colormap::{Colormap, ValueRange};
    use crate::plots::plane::CellShape;
    use crate::plots::raster::RowDirection;
    use crate::plots::scene::Dash;

    #[test]
    fn a_plane_is_a_table_with_positions() {
        let plane = Plane {
            values: Arc::new(vec![0.1, -0.0, f64::NAN, f64::INFINITY]),
            width: 2,
            height: 2,
            first: [-1, 0],
            domain: [1, 2],
            names: ["i", "k, downward"],
            rows: RowDirection::Downward,
            shape: CellShape::Free,
            map: Colormap::Viridis,
            range: ValueRange::NONE,
            title: String::new(),
            note: String::new(),
            quantity: String::new(),
            clipped: [0, 0],
            is_dark: false,
        };
        assert_eq!(PlotDrawing::Plane(plane).csv(), "k\\i,-1,0\n0,0.1,-0\n1,nan,inf\n");
    }

    #[test]
    fn a_chart_is_a_table_of_its_lines_or_bars() {
        let points = vec![[1.5, 0.0], [2.5, 1.0]];
        let profile = Chart {
            y: Axis { name: "k, downward".to_owned(), kind: AxisKind::Whole, ..Axis::default() },
            lines: vec![Series {
                name: "ab".to_owned(),
                column: "a, b".to_owned(),
                points,
                number: 0,
                dash: Dash::Solid,
            }],
            ..Chart::default()
        };
        assert_eq!(PlotDrawing::Chart(profile).csv(), "k,a  b\n0,1.5\n1,2.5\n");
        let bars = Chart { bars: vec![Bar { from: 0.0, to: 0.5, count: 3.0 }], ..Chart::default() };
        assert_eq!(PlotDrawing::Chart(bars).csv(), "from,to,count\n0,0.5,3\n");
    }
}
