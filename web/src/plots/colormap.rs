//! Numbers as colours.

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// A scale of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colormap {
    /// Sequential, its lightness rises evenly: for values.
    #[default]
    Viridis,
    /// Diverging, blue below and red above the middle: for differences, with a range centred on zero.
    RdBu,
}

/// Viridis (S. van der Walt and N. Smith) at eleven even steps.
const VIRIDIS: [Rgb; 11] = [
    [0x44, 0x01, 0x54],
    [0x48, 0x24, 0x75],
    [0x41, 0x44, 0x87],
    [0x35, 0x5f, 0x8d],
    [0x2a, 0x78, 0x8e],
    [0x21, 0x91, 0x8c],
    [0x22, 0xa8, 0x84],
    [0x44, 0xbf, 0x70],
    [0x7a, 0xd1, 0x51],
    [0xbd, 0xdf, 0x26],
    [0xfd, 0xe7, 0x25],
];

/// `RdBu` (C. Brewer), from blue to red.
const RDBU: [Rgb; 11] = [
    [0x05, 0x30, 0x61],
    [0x21, 0x66, 0xac],
    [0x43, 0x93, 0xc3],
    [0x92, 0xc5, 0xde],
    [0xd1, 0xe5, 0xf0],
    [0xf7, 0xf7, 0xf7],
    [0xfd, 0xdb, 0xc7],
    [0xf4, 0xa5, 0x82],
    [0xd6, 0x60, 0x4d],
    [0xb2, 0x18, 0x2b],
    [0x67, 0x00, 0x1f],
];

impl Colormap {
    /// As the page names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Colormap::Viridis => "viridis",
            Colormap::RdBu => "RdBu",
        }
    }

    /// The colour at `t` of the way from the low to the high end; outside of 0 to 1 it is that of the nearest end.
    #[must_use]
    pub fn at(self, t: f64) -> Rgb {
        let steps = match self {
            Colormap::Viridis => &VIRIDIS,
            Colormap::RdBu => &RDBU,
        };
        let last = steps.len() - 1;
        let position = t.clamp(0.0, 1.0) * 10.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10")]
        let below = (position as usize).min(last - 1);
        #[expect(clippy::cast_precision_loss, reason = "0 to 9")]
        let part = position - below as f64;
        let mut colour = [0; 3];
        for (channel, out) in colour.iter_mut().enumerate() {
            let (low, high) = (f64::from(steps[below][channel]), f64::from(steps[below + 1][channel]));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
            {
                *out = (low + (high - low) * part).round() as u8;
            }
        }
        colour
    }
}

/// The numbers that the two ends of a scale stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// From the least to the greatest finite value; 0 to 0 where there is none.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let finite = || values.iter().copied().filter(|it| it.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        if low <= high { Self { low, high } } else { Self { low: 0.0, high: 0.0 } }
    }

    /// The smallest range with zero in its middle that holds this one.
    #[must_use]
    pub fn centred(self) -> Self {
        let far = self.low.abs().max(self.high.abs());
        Self { low: -far, high: far }
    }

    /// How far between the ends a value lies: 0 at the low, 1 at the high end; the middle where both ends are equal.
    #[must_use]
    pub fn position(self, value: f64) -> f64 {
        // Halves first: the width of a range of doubles may be more than a double can hold.
        let width = self.high / 2.0 - self.low / 2.0;
        if width > 0.0 { (value / 2.0 - self.low / 2.0) / width } else { 0.5 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE L* of a colour.
    fn lightness([r, g, b]: Rgb) -> f64 {
        let linear = |it: u8| {
            let it = f64::from(it) / 255.0;
            if it <= 0.04045 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) }
        };
        let y = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        if y > 0.008856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
    }

    #[test]
    fn viridis_gets_lighter_all_the_way() {
        let light: Vec<f64> =
            (0..=100).map(|it| lightness(Colormap::Viridis.at(f64::from(it) / 100.0))).collect();
        assert!(light.windows(2).all(|it| it[0] <= it[1] + 0.4), "{light:?}");
        assert!(light[0] < 16.0 && light[100] > 90.0);
    }

    #[test]
    fn the_diverging_map_is_lightest_in_the_middle_and_as_dark_at_both_ends() {
        let at = |t| lightness(Colormap::RdBu.at(t));
        assert!(at(0.5) > 96.0);
        assert!((at(0.0) - at(1.0)).abs() < 3.0);
        assert_eq!(Colormap::RdBu.at(0.5), [0xf7; 3]);
    }

    #[test]
    fn values_outside_take_the_colour_of_the_nearest_end() {
        assert_eq!(Colormap::Viridis.at(-7.0), VIRIDIS[0]);
        assert_eq!(Colormap::Viridis.at(f64::INFINITY), VIRIDIS[10]);
    }

    #[test]
    fn ranges_are_of_finite_values() {
        let range = Range::of(&[f64::NAN, -1.0, 3.0, f64::INFINITY]);
        assert_eq!(range, Range { low: -1.0, high: 3.0 });
        let middle = |range: Range, value: f64| (range.position(value) - 0.5).abs() < 1e-12;
        assert!(middle(range, 1.0));
        assert_eq!(range.centred(), Range { low: -3.0, high: 3.0 });
        assert!(middle(Range::of(&[]), 5.0));
        assert!(middle(Range { low: -f64::MAX, high: f64::MAX }, 0.0));
    }
}
