//! Numbers as colours.

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// A scale of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colormap {
    /// Sequential, its lightness rises evenly: for values.
    #[default]
    Viridis,
    /// The same for all common kinds of colour vision.
    Cividis,
    Magma,
    Grey,
    /// Diverging, blue below and red above the middle: for signed values and differences, with a range centred on
    /// zero.
    RdBu,
    /// The same from purple to orange.
    PuOr,
    /// A colour for each whole number: for masks and kinds.
    Categories,
}

/// S. van der Walt and N. Smith, at eleven even steps.
const VIRIDIS: [u32; 11] = [
    0x0044_0154,
    0x0048_2475,
    0x0041_4487,
    0x0035_5f8d,
    0x002a_788e,
    0x0021_918c,
    0x0022_a884,
    0x0044_bf70,
    0x007a_d151,
    0x00bd_df26,
    0x00fd_e725,
];

/// J. R. Nuñez, C. R. Anderton and R. S. Renslow.
const CIVIDIS: [u32; 17] = [
    0x0000_224e,
    0x0000_2e6a,
    0x001a_386f,
    0x0032_436d,
    0x0043_4e6c,
    0x0053_5a6d,
    0x0061_656f,
    0x006f_7073,
    0x007d_7c78,
    0x008c_8878,
    0x009b_9476,
    0x00ab_a072,
    0x00bc_ae6c,
    0x00cd_bb63,
    0x00de_c958,
    0x00f0_d846,
    0x00fe_e838,
];

const MAGMA: [u32; 17] = [
    0x0000_0004,
    0x000a_0822,
    0x001d_1147,
    0x0036_106b,
    0x0051_127c,
    0x006a_1c81,
    0x0083_2681,
    0x009c_2e7f,
    0x00b7_3779,
    0x00d0_416f,
    0x00e7_5263,
    0x00f5_6b5c,
    0x00fc_8961,
    0x00fe_a772,
    0x00fe_c488,
    0x00fd_e2a3,
    0x00fc_fdbf,
];

const GREY: [u32; 2] = [0x0014_1414, 0x00fa_fafa];

/// C. Brewer, from blue to red.
const RDBU: [u32; 11] = [
    0x0005_3061,
    0x0021_66ac,
    0x0043_93c3,
    0x0092_c5de,
    0x00d1_e5f0,
    0x00f7_f7f7,
    0x00fd_dbc7,
    0x00f4_a582,
    0x00d6_604d,
    0x00b2_182b,
    0x0067_001f,
];

/// C. Brewer, from purple to orange.
const PUOR: [u32; 11] = [
    0x002d_004b,
    0x0054_2788,
    0x0080_73ac,
    0x00b2_abd2,
    0x00d8_daeb,
    0x00f7_f7f7,
    0x00fe_e0b6,
    0x00fd_b863,
    0x00e0_8214,
    0x00b3_5806,
    0x007f_3b08,
];

/// Colours that are told apart, after M. Okabe and K. Ito and after P. Tol; the first is quiet, as "false" is.
const CATEGORIES: [u32; 12] = [
    0x00d5_d9e0,
    0x0000_72b2,
    0x00e6_9f00,
    0x0000_9e73,
    0x00cc_79a7,
    0x0056_b4e9,
    0x00d5_5e00,
    0x00f0_e442,
    0x0033_2288,
    0x0088_2255,
    0x0044_aa99,
    0x0099_9933,
];

/// A field counts as signed if the smaller of its two sides of zero reaches this part of the larger.
/// Otherwise a few small values below zero would take half of the colours.
const SIGNED_PART: f64 = 0.2;

/// The properties of a field that decide its colour map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColormapCriteria<'a> {
    pub dtype: &'a str,
    /// Whether zero is where two results agree.
    pub is_difference: bool,
    /// The range of all values of the field that can be shown.
    pub range: ValueRange,
    /// Whether all values are whole numbers.
    pub is_whole: bool,
}

impl Colormap {
    pub const ALL: [Colormap; 7] = [
        Colormap::Viridis,
        Colormap::Cividis,
        Colormap::Magma,
        Colormap::Grey,
        Colormap::RdBu,
        Colormap::PuOr,
        Colormap::Categories,
    ];

    /// As the page names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Colormap::Viridis => "viridis",
            Colormap::Cividis => "cividis",
            Colormap::Magma => "magma",
            Colormap::Grey => "grey",
            Colormap::RdBu => "RdBu",
            Colormap::PuOr => "PuOr",
            Colormap::Categories => "categories",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The map that suits a field.
    #[must_use]
    pub fn suited(kind: ColormapCriteria<'_>) -> Self {
        let ValueRange { low, high } = kind.range;
        #[expect(clippy::cast_precision_loss, reason = "a dozen")]
        let is_few = kind.is_whole && high - low < CATEGORIES.len() as f64;
        let is_of_integers = kind.dtype == "bool" || kind.dtype.starts_with("int");
        let is_mask = kind.is_whole && kind.range == ValueRange { low: 0.0, high: 1.0 };
        if kind.is_difference {
            Colormap::RdBu
        } else if kind.dtype == "bool" || (is_of_integers && is_few) || is_mask {
            Colormap::Categories
        } else if low < 0.0 && high > 0.0 && low.abs().min(high) >= SIGNED_PART * low.abs().max(high) {
            Colormap::RdBu
        } else {
            Colormap::Viridis
        }
    }

    /// Whether its middle means zero.
    #[must_use]
    pub fn is_diverging(self) -> bool {
        match self {
            Colormap::RdBu | Colormap::PuOr => true,
            Colormap::Viridis
            | Colormap::Cividis
            | Colormap::Magma
            | Colormap::Grey
            | Colormap::Categories => false,
        }
    }

    fn steps(self) -> &'static [u32] {
        match self {
            Colormap::Viridis => &VIRIDIS,
            Colormap::Cividis => &CIVIDIS,
            Colormap::Magma => &MAGMA,
            Colormap::Grey => &GREY,
            Colormap::RdBu => &RDBU,
            Colormap::PuOr => &PUOR,
            Colormap::Categories => &CATEGORIES,
        }
    }

    /// The colour at `t` of the way from the low to the high end. Outside of 0 to 1 it is that of the nearest
    /// end.
    #[must_use]
    pub fn at(self, t: f64) -> Rgb {
        let steps = self.steps();
        let last = steps.len() - 1;
        #[expect(clippy::cast_precision_loss, reason = "at most 16")]
        let position = t.clamp(0.0, 1.0) * last as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 16")]
        let below = (position as usize).min(last - 1);
        #[expect(clippy::cast_precision_loss, reason = "at most 15")]
        let part = position - below as f64;
        let (low, high) = (rgb(steps[below]), rgb(steps[below + 1]));
        std::array::from_fn(|channel| {
            let (low, high) = (f64::from(low[channel]), f64::from(high[channel]));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
            let mixed = (low + (high - low) * part).round() as u8;
            mixed
        })
    }

    /// The colour of a value; `None` for what is not finite.
    #[must_use]
    pub fn of(self, value: f64, range: ValueRange) -> Option<Rgb> {
        if !value.is_finite() {
            return None;
        }
        Some(match self {
            Colormap::Categories => category(value),
            Colormap::Viridis
            | Colormap::Cividis
            | Colormap::Magma
            | Colormap::Grey
            | Colormap::RdBu
            | Colormap::PuOr => self.at(range.position(value)),
        })
    }

    /// The colours of a strip from its low to its high end, at as many even steps as make no difference to the eye.
    #[must_use]
    pub fn stops(self) -> Vec<(f64, Rgb)> {
        let last = self.steps().len() - 1;
        #[expect(clippy::cast_precision_loss, reason = "at most 16")]
        let part = |at: usize| at as f64 / last as f64;
        (0..=last).map(|at| (part(at), rgb(self.steps()[at]))).collect()
    }
}

/// The colour of a whole number; a dozen are told apart.
#[must_use]
pub fn category(value: f64) -> Rgb {
    #[expect(clippy::cast_possible_truncation, reason = "cut to a dozen")]
    let number = value.round().rem_euclid(CATEGORIES.len() as f64) as usize;
    rgb(CATEGORIES[number.min(CATEGORIES.len() - 1)])
}

fn rgb(colour: u32) -> Rgb {
    let [_, r, g, b] = colour.to_be_bytes();
    [r, g, b]
}

/// The numbers that the two ends of a scale stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRange {
    pub low: f64,
    pub high: f64,
}

impl ValueRange {
    /// Where there is nothing to show.
    pub const NONE: ValueRange = ValueRange { low: 0.0, high: 0.0 };

    /// From the least to the greatest finite value; 0 to 0 where there is none.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let finite = || values.iter().copied().filter(|it| it.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        if low <= high { Self { low, high } } else { Self::NONE }
    }

    /// The smallest range with zero in its middle that holds this one.
    #[must_use]
    pub fn centred(self) -> Self {
        let far = self.low.abs().max(self.high.abs());
        // Zero less zero would have a sign.
        if far == 0.0 { Self::NONE } else { Self { low: -far, high: far } }
    }

    /// How far between the ends a value lies: 0 at the low, 1 at the high end; the middle where both ends are equal.
    #[must_use]
    pub fn position(self, value: f64) -> f64 {
        // Halves first: the width of a range of doubles may be more than a double can hold.
        let width = self.high / 2.0 - self.low / 2.0;
        if width > 0.0 { (value / 2.0 - self.low / 2.0) / width } else { 0.5 }
    }

    /// How many finite values lie below and above it.
    #[must_use]
    pub fn clipped(self, values: &[f64]) -> [usize; 2] {
        let count =
            |is_out: &dyn Fn(f64) -> bool| values.iter().filter(|it| it.is_finite() && is_out(**it)).count();
        [count(&|it| it < self.low), count(&|it| it > self.high)]
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

    fn light(map: Colormap) -> Vec<f64> {
        (0..=200).map(|it| lightness(map.at(f64::from(it) / 200.0))).collect()
    }

    #[test]
    fn sequential_maps_get_lighter_all_the_way() {
        for (map, low, high) in [
            (Colormap::Viridis, 16.0, 90.0),
            (Colormap::Cividis, 15.0, 90.0),
            (Colormap::Magma, 1.0, 97.0),
            (Colormap::Grey, 7.0, 97.0),
        ] {
            let light = light(map);
            // Rounding to bytes may cost a part of a step.
            assert!(light.windows(2).all(|it| it[0] <= it[1] + 0.4), "{map:?}");
            assert!(light.windows(21).all(|it| it[0] < it[20]), "{map:?}");
            assert!(light[0] < low && light[200] > high, "{map:?}");
        }
    }

    #[test]
    fn diverging_maps_are_lightest_in_the_middle_and_about_as_dark_at_both_ends() {
        for (map, apart) in [(Colormap::RdBu, 3.0), (Colormap::PuOr, 25.0)] {
            let light = light(map);
            assert!(light[100] > 96.0);
            assert!(light[..=100].windows(2).all(|it| it[0] <= it[1] + 0.4), "{map:?}");
            assert!(light[100..].windows(2).all(|it| it[0] + 0.4 >= it[1]), "{map:?}");
            assert!((light[0] - light[200]).abs() < apart, "{map:?} {} {}", light[0], light[200]);
            assert_eq!(map.at(0.5), [0xf7; 3]);
        }
    }

    #[test]
    fn categories_are_all_different() {
        for one in 0..12 {
            for other in 0..one {
                assert_ne!(category(f64::from(one)), category(f64::from(other)));
            }
        }
        assert_eq!(category(12.0), category(0.0));
        assert_eq!(category(-1.0), category(11.0));
    }

    #[test]
    fn values_outside_take_the_colour_of_the_nearest_end() {
        assert_eq!(Colormap::Viridis.at(-7.0), [0x44, 0x01, 0x54]);
        assert_eq!(Colormap::Viridis.at(f64::INFINITY), [0xfd, 0xe7, 0x25]);
        assert_eq!(Colormap::Viridis.of(f64::NAN, ValueRange::NONE), None);
    }

    #[test]
    fn a_field_is_shown_by_the_map_that_suits_it() {
        let suited = |dtype, low, high, is_whole| {
            Colormap::suited(ColormapCriteria {
                dtype,
                is_difference: false,
                range: ValueRange { low, high },
                is_whole,
            })
        };
        assert_eq!(suited("float64", 0.0, 3.5, false), Colormap::Viridis);
        assert_eq!(suited("float64", -2.0, 3.5, false), Colormap::RdBu);
        assert_eq!(suited("float64", -0.1, 1.1, false), Colormap::Viridis, "a little below zero is no sign");
        assert_eq!(suited("float32", 0.0, 1.0, true), Colormap::Categories, "a mask");
        assert_eq!(suited("bool", 0.0, 0.0, true), Colormap::Categories);
        assert_eq!(suited("int32", -2.0, 5.0, true), Colormap::Categories);
        assert_eq!(suited("int32", -200.0, 500.0, true), Colormap::RdBu);
        assert_eq!(suited("float64", 0.0, 0.0, true), Colormap::Viridis);
        let difference = ColormapCriteria {
            dtype: "int8",
            is_difference: true,
            range: ValueRange { low: 0.0, high: 1.0 },
            is_whole: true,
        };
        assert_eq!(Colormap::suited(difference), Colormap::RdBu);
    }

    #[test]
    fn ranges_are_of_finite_values() {
        let range = ValueRange::of(&[f64::NAN, -1.0, 3.0, f64::INFINITY]);
        assert_eq!(range, ValueRange { low: -1.0, high: 3.0 });
        let middle = |range: ValueRange, value: f64| (range.position(value) - 0.5).abs() < 1e-12;
        assert!(middle(range, 1.0));
        assert_eq!(range.centred(), ValueRange { low: -3.0, high: 3.0 });
        assert!(middle(ValueRange::of(&[]), 5.0));
        assert!(middle(ValueRange { low: -f64::MAX, high: f64::MAX }, 0.0));
        assert_eq!(range.clipped(&[-2.0, -1.0, 3.5, f64::NAN, 9.0, f64::INFINITY]), [1, 2]);
    }

    #[test]
    fn nothing_has_a_negative_zero() {
        let none = ValueRange::of(&[0.0, -0.0]).centred();
        assert!(none.low.is_sign_positive() && none.high.is_sign_positive());
    }
}
