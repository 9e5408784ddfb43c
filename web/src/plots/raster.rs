//! A plane of values as pixels: each cell a rectangle of one colour, the unusual ones a pattern.

use super::colormap::{Colormap, Rgb, ValueRange};

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
    pub range: ValueRange,
    /// Pixels along the two edges of a cell.
    pub cell: [u32; 2],
    /// Whether the first row of values stands at the bottom, as j does, or at the top, as the first level does.
    pub rows: RowDirection,
    /// The two colours of the patterns: NaN is hatched, infinity cross-hatched. No colour differs enough from a
    /// whole map.
    pub pattern: [Rgb; 2],
    /// Pixels of a stripe.
    pub stripe: u32,
}

/// Where the first row of values stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowDirection {
    Upward,
    Downward,
}

/// The two colours of patterns on a light and on a dark page.
#[must_use]
pub fn pattern_colours(is_dark: bool) -> [Rgb; 2] {
    if is_dark { [[0x12, 0x16, 0x1f], [0xe7, 0xea, 0xf0]] } else { [[0xff, 0xff, 0xff], [0x1b, 0x21, 0x30]] }
}

/// Paints `width * height` values.
#[must_use]
pub fn paint(values: &[f64], width: usize, height: usize, style: &Style) -> Pixels {
    let [cell_x, cell_y] = style.cell.map(|it| it.max(1) as usize);
    let (pixels_x, pixels_y) = (width * cell_x, height * cell_y);
    let colours = Colours::new(style);
    let mut rgba = Vec::with_capacity(pixels_x * pixels_y * 4);
    for line in 0..height {
        let row = match style.rows {
            RowDirection::Upward => height - 1 - line,
            RowDirection::Downward => line,
        };
        let values = values.get(row * width..(row + 1) * width).unwrap_or_default();
        let has_pattern = values.iter().any(|it| !it.is_finite()) || values.len() < width;
        let start = rgba.len();
        for y in 0..cell_y {
            if y > 0 && !has_pattern {
                // One line of pixels is like the next.
                rgba.extend_from_within(start..start + pixels_x * 4);
                continue;
            }
            for column in 0..width {
                let value = values.get(column).copied().unwrap_or(f64::NAN);
                if value.is_finite() {
                    let [r, g, b] = colours.of(value);
                    for _ in 0..cell_x {
                        rgba.extend([r, g, b, 255]);
                    }
                } else {
                    for x in 0..cell_x {
                        let [r, g, b] = pattern(value, column * cell_x + x, line * cell_y + y, style);
                        rgba.extend([r, g, b, 255]);
                    }
                }
            }
        }
    }
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Pixels { width: size(pixels_x), height: size(pixels_y), rgba }
}

/// The colours of a map, looked up.
struct Colours {
    table: Vec<Rgb>,
    map: Colormap,
    range: ValueRange,
}

/// Steps of a map: more than a screen tells apart.
const STEPS: u32 = 1024;

impl Colours {
    fn new(style: &Style) -> Self {
        let table = (0..=STEPS).map(|it| style.map.at(f64::from(it) / f64::from(STEPS))).collect();
        Self { table, map: style.map, range: style.range }
    }

    fn of(&self, value: f64) -> Rgb {
        if self.map == Colormap::Categories {
            return super::colormap::category(value);
        }
        let part = self.range.position(value).clamp(0.0, 1.0) * f64::from(STEPS);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1024")]
        let step = part.round() as usize;
        self.table[step]
    }
}

/// Stripes run on from cell to cell, so that they are seen where cells are small.
fn pattern(value: f64, x: usize, y: usize, style: &Style) -> Rgb {
    let stripe = style.stripe.max(1) as usize;
    let period = 3 * stripe;
    let is_rising = (x + y) % period < stripe;
    let is_falling = (x + period - y % period) % period < stripe;
    let is_ink = is_rising || (value.is_infinite() && is_falling);
    style.pattern[usize::from(is_ink)]
}

/// The cell under a pixel, as column and row of the values.
#[must_use]
pub fn cell_at(x: f64, y: f64, width: usize, height: usize, rows: RowDirection) -> Option<(usize, usize)> {
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
        RowDirection::Upward => height - 1 - of(y, height),
        RowDirection::Downward => of(y, height),
    };
    Some((of(x, width), row))
}

/// Changes with the values and with nothing else (FNV-1a).
#[must_use]
pub fn fingerprint(values: &[f64], width: usize) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let bits = values.iter().map(|it| it.to_bits());
    for bits in std::iter::once(width as u64).chain(bits) {
        hash = (hash ^ bits).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 32;
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(cell: u32, rows: RowDirection) -> Style {
        let range = ValueRange { low: 0.0, high: 1.0 };
        Style { map: Colormap::Viridis, range, cell: [cell; 2], rows, pattern: [[255; 3], [0; 3]], stripe: 2 }
    }

    fn pixel(pixels: &Pixels, x: usize, y: usize) -> &[u8] {
        &pixels.rgba[(y * pixels.width as usize + x) * 4..][..3]
    }

    #[test]
    fn cells_are_squares_with_the_first_row_below() {
        let pixels = paint(&[0.0, 1.0, 1.0, 1.0], 2, 2, &style(3, RowDirection::Upward));
        assert_eq!((pixels.width, pixels.height, pixels.rgba.len()), (6, 6, 6 * 6 * 4));
        assert_eq!(pixel(&pixels, 0, 5), Colormap::Viridis.at(0.0));
        assert_eq!(pixel(&pixels, 2, 3), Colormap::Viridis.at(0.0));
        assert_eq!(pixel(&pixels, 3, 5), Colormap::Viridis.at(1.0));
        assert_eq!(pixel(&pixels, 0, 2), Colormap::Viridis.at(1.0));
    }

    #[test]
    fn cells_may_be_wider_than_high() {
        let wide = Style { cell: [4, 2], ..style(1, RowDirection::Downward) };
        let pixels = paint(&[0.0, 1.0, f64::NAN, 1.0], 2, 2, &wide);
        assert_eq!((pixels.width, pixels.height, pixels.rgba.len()), (8, 4, 8 * 4 * 4));
        assert_eq!(pixel(&pixels, 3, 1), Colormap::Viridis.at(0.0));
        assert_eq!(pixel(&pixels, 4, 0), Colormap::Viridis.at(1.0));
    }

    #[test]
    fn nan_is_a_pattern_of_two_colours() {
        let pixels = paint(&[f64::NAN], 1, 1, &style(12, RowDirection::Downward));
        let ink = pixels.rgba.chunks(4).filter(|it| it[0] == 0).count();
        assert_eq!(ink, 12 * 12 / 3);
        let crossed = paint(&[f64::INFINITY], 1, 1, &style(12, RowDirection::Downward));
        assert!(crossed.rgba.chunks(4).filter(|it| it[0] == 0).count() > ink);
    }

    #[test]
    fn an_empty_plane_has_no_pixels() {
        assert!(paint(&[], 0, 3, &style(2, RowDirection::Upward)).rgba.is_empty());
    }

    #[test]
    fn the_cell_under_the_pointer_is_the_one_that_was_painted() {
        assert_eq!(cell_at(0.0, 0.99, 4, 4, RowDirection::Upward), Some((0, 0)));
        assert_eq!(cell_at(0.99, 0.0, 4, 4, RowDirection::Upward), Some((3, 3)));
        assert_eq!(cell_at(0.5, 0.0, 4, 4, RowDirection::Downward), Some((2, 0)));
        assert_eq!(cell_at(1.0, 0.0, 4, 4, RowDirection::Downward), None);
    }

    #[test]
    fn the_fingerprint_follows_values_and_shape() {
        assert_eq!(fingerprint(&[1.0, 2.0], 2), fingerprint(&[1.0, 2.0], 2));
        assert_ne!(fingerprint(&[1.0, 2.0], 2), fingerprint(&[1.0, 2.0], 1));
        assert_ne!(fingerprint(&[1.0, 2.0], 2), fingerprint(&[2.0, 1.0], 2));
        assert_ne!(fingerprint(&[0.0], 1), fingerprint(&[-0.0], 1));
    }
}
