//! A plane of values as pixels: each cell a square of one colour, the unusual ones a pattern.

use super::colormap::{Colormap, Range, Rgb};

/// The pixels of a picture, row by row from the top: red, green, blue, opacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

/// How cells become pixels.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub map: Colormap,
    pub range: Range,
    /// Pixels along each edge of a cell.
    pub cell: u32,
    /// Whether the first row of values stands at the bottom, as j does, or at the top, as the first level does.
    pub rows: Rows,
    /// The two colours of the patterns: NaN is hatched, infinity cross-hatched. No colour differs enough from a
    /// whole map.
    pub pattern: [Rgb; 2],
}

/// Where the first row of values stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    Upward,
    Downward,
}

/// Paints `width * height` values.
#[must_use]
pub fn paint(values: &[f64], width: usize, height: usize, style: &Style) -> Pixels {
    let cell = style.cell.max(1) as usize;
    let mut rgba = Vec::with_capacity(width * height * cell * cell * 4);
    for y in 0..height * cell {
        let row = match style.rows {
            Rows::Upward => height - 1 - y / cell,
            Rows::Downward => y / cell,
        };
        for x in 0..width * cell {
            let value = values.get(row * width + x / cell).copied().unwrap_or(f64::NAN);
            let [r, g, b] = if value.is_finite() {
                style.map.at(style.range.position(value))
            } else {
                pattern(value, x, y, style)
            };
            rgba.extend([r, g, b, 255]);
        }
    }
    let size = |n: usize| u32::try_from(n * cell).unwrap_or(u32::MAX);
    Pixels { width: size(width), height: size(height), rgba }
}

/// Stripes run on from cell to cell, so that they are seen where cells are small.
fn pattern(value: f64, x: usize, y: usize, style: &Style) -> Rgb {
    const PERIOD: usize = 6;
    let is_rising = (x + y) % PERIOD < 2;
    let is_falling = (x + PERIOD - y % PERIOD) % PERIOD < 2;
    let is_ink = is_rising || (value.is_infinite() && is_falling);
    style.pattern[usize::from(is_ink)]
}

/// The cell under a pixel, as column and row of the values.
#[must_use]
pub fn cell_at(x: f64, y: f64, width: usize, height: usize, rows: Rows) -> Option<(usize, usize)> {
    if !(0.0..1.0).contains(&x) || !(0.0..1.0).contains(&y) || width == 0 || height == 0 {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a whole number of cells"
    )]
    let of = |part: f64, n: usize| ((part * n as f64) as usize).min(n - 1);
    let row = match rows {
        Rows::Upward => height - 1 - of(y, height),
        Rows::Downward => of(y, height),
    };
    Some((of(x, width), row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(cell: u32, rows: Rows) -> Style {
        let range = Range { low: 0.0, high: 1.0 };
        Style { map: Colormap::Viridis, range, cell, rows, pattern: [[255; 3], [0; 3]] }
    }

    fn pixel(pixels: &Pixels, x: usize, y: usize) -> &[u8] {
        &pixels.rgba[(y * pixels.width as usize + x) * 4..][..3]
    }

    #[test]
    fn cells_are_squares_with_the_first_row_below() {
        let pixels = paint(&[0.0, 1.0, 1.0, 1.0], 2, 2, &style(3, Rows::Upward));
        assert_eq!((pixels.width, pixels.height, pixels.rgba.len()), (6, 6, 6 * 6 * 4));
        assert_eq!(pixel(&pixels, 0, 5), Colormap::Viridis.at(0.0));
        assert_eq!(pixel(&pixels, 2, 3), Colormap::Viridis.at(0.0));
        assert_eq!(pixel(&pixels, 3, 5), Colormap::Viridis.at(1.0));
        assert_eq!(pixel(&pixels, 0, 2), Colormap::Viridis.at(1.0));
    }

    #[test]
    fn nan_is_a_pattern_of_two_colours() {
        let pixels = paint(&[f64::NAN], 1, 1, &style(12, Rows::Downward));
        let ink = pixels.rgba.chunks(4).filter(|it| it[0] == 0).count();
        assert_eq!(ink, 12 * 12 / 3);
        let crossed = paint(&[f64::INFINITY], 1, 1, &style(12, Rows::Downward));
        assert!(crossed.rgba.chunks(4).filter(|it| it[0] == 0).count() > ink);
    }

    #[test]
    fn an_empty_plane_has_no_pixels() {
        assert!(paint(&[], 0, 3, &style(2, Rows::Upward)).rgba.is_empty());
    }

    #[test]
    fn the_cell_under_the_pointer_is_the_one_that_was_painted() {
        assert_eq!(cell_at(0.0, 0.99, 4, 4, Rows::Upward), Some((0, 0)));
        assert_eq!(cell_at(0.99, 0.0, 4, 4, Rows::Upward), Some((3, 3)));
        assert_eq!(cell_at(0.5, 0.0, 4, 4, Rows::Downward), Some((2, 0)));
        assert_eq!(cell_at(1.0, 0.0, 4, 4, Rows::Downward), None);
    }
}
