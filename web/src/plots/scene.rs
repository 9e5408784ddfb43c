//! A drawing of lines and words: one description for the page and for pixels, which `drawing` makes of it, and for SVG
//! files.

use std::fmt::Write;

use super::colormap::Rgb;

/// The role of a mark's colour. The page's style sheet and the palette of files say which colour that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Text,
    /// Of numbers and notes.
    Soft,
    Axis,
    Grid,
    /// The ground that the drawing stands on.
    Ground,
    /// A series, counted from 0.
    Series(usize),
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// In pixels.
    pub size: f64,
    pub weight: Weight,
    pub direction: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Plain,
    Bold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Level,
    /// From below to above.
    Upward,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frame {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    Solid,
    Dashed,
}

/// A mark of a scene; marks are drawn in order.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneMark {
    /// Through points; where one is not finite, the line is broken.
    Line {
        points: Vec<[f64; 2]>,
        ink: Ink,
        width: f64,
        dash: Dash,
    },
    /// A shade between points and back.
    Area {
        points: Vec<[f64; 2]>,
        ink: Ink,
    },
    Dot {
        at: [f64; 2],
        radius: f64,
        ink: Ink,
    },
    /// The edge of a rectangle.
    Edge {
        frame: Frame,
        ink: Ink,
    },
    Bar {
        frame: Frame,
        ink: Ink,
    },
    /// A rectangle of a map's own colour.
    Swatch {
        frame: Frame,
        colour: Rgb,
    },
    /// All colours of a map, from left to right.
    Ramp {
        frame: Frame,
        stops: Vec<(f64, Rgb)>,
    },
    Text {
        at: [f64; 2],
        text: String,
        anchor: Anchor,
        font: Font,
        ink: Ink,
    },
}

/// Marks on a ground of so many pixels of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    pub width: f64,
    pub height: f64,
    pub marks: Vec<SceneMark>,
}

/// Colours for files, which have no style sheet: those of the light page, whatever the page looks like.
pub const GROUND: &str = "#ffffff";
const SERIES: [&str; 6] = ["#0b5cad", "#b34700", "#00745a", "#a0477d", "#8a6100", "#2a7fb0"];
/// In files, where the page's font may not be known.
pub const FONT: &str = "system-ui, sans-serif";
/// How wide a character is on the average, to its size.
const CHARACTER: f64 = 0.58;
/// Of shades.
pub const OPACITY: f64 = 0.16;

impl Ink {
    /// As style sheets name it.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Ink::Text => "ink-text",
            Ink::Soft => "ink-soft",
            Ink::Axis => "ink-axis",
            Ink::Grid => "ink-grid",
            Ink::Ground => "ink-ground",
            Ink::Series(n) => match n % SERIES.len() {
                0 => "ink-series-1",
                1 => "ink-series-2",
                2 => "ink-series-3",
                3 => "ink-series-4",
                4 => "ink-series-5",
                _ => "ink-series-6",
            },
        }
    }

    /// In files.
    #[must_use]
    pub fn colour(self) -> &'static str {
        match self {
            Ink::Text => "#1b2130",
            Ink::Soft => "#4a5365",
            Ink::Axis => "#7b8494",
            Ink::Grid => "#e1e4ea",
            Ink::Ground => GROUND,
            Ink::Series(n) => SERIES[n % SERIES.len()],
        }
    }
}

impl Anchor {
    /// As elements name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

impl Font {
    #[must_use]
    pub fn plain(size: f64) -> Self {
        Self { size, weight: Weight::Plain, direction: Direction::Level }
    }

    #[must_use]
    pub fn bold(size: f64) -> Self {
        Self { weight: Weight::Bold, ..Self::plain(size) }
    }

    /// About how wide a text is; wide enough for numbers.
    #[must_use]
    pub fn width_of(self, text: &str) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few characters")]
        let n = text.chars().count() as f64;
        n * self.size * CHARACTER
    }
}

impl Font {
    /// As much of a text as there is room for.
    #[must_use]
    pub fn fitted(self, text: &str, room: f64) -> String {
        if self.width_of(text) <= room {
            return text.to_owned();
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few characters")]
        let n = (room / (self.size * CHARACTER)).max(1.0) as usize;
        let cut: String = text.chars().take(n.saturating_sub(1)).collect();
        format!("{}…", cut.trim_end())
    }
}

impl Frame {
    #[must_use]
    pub fn right(self) -> f64 {
        self.x + self.width
    }

    #[must_use]
    pub fn bottom(self) -> f64 {
        self.y + self.height
    }
}

/// The data of an SVG path through points.
#[must_use]
pub fn path(points: &[[f64; 2]]) -> String {
    let mut out = String::new();
    let mut is_broken = true;
    for [x, y] in points {
        if !x.is_finite() || !y.is_finite() {
            is_broken = true;
            continue;
        }
        // Writing to a string does not fail.
        let _ = write!(out, "{}{x:.2} {y:.2}", if is_broken { 'M' } else { 'L' });
        is_broken = false;
    }
    out
}

/// A colour as style sheets and files write it.
#[must_use]
pub fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text inside of a document.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A document may not hold most control characters; each becomes a space.
            it if it.is_control() => out.push(' '),
            it => out.push(it),
        }
    }
    out
}

/// Equal ramps have equal names, so that two drawings of a page do not mix theirs up.
#[must_use]
pub fn ramp_name(stops: &[(f64, Rgb)]) -> String {
    let ends = [stops.first(), stops.get(stops.len() / 2), stops.last()];
    ends.into_iter().flatten().fold("ramp".to_owned(), |out, (_, colour)| out + "-" + &hex(*colour)[1..])
}

/// How a text stands that is not level, as an element has it.
#[must_use]
pub fn turned(at: [f64; 2], font: Font) -> Option<String> {
    (font.direction == Direction::Upward).then(|| format!("rotate(-90 {:.2} {:.2})", at[0], at[1]))
}

impl Scene {
    /// A file of its own. `raster` is a picture below the marks, as an address, with its place.
    #[must_use]
    pub fn to_svg(&self, raster: Option<(&str, Frame)>) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.1}\" height=\"{1:.1}\" viewBox=\"0 0 {0:.1} {1:.1}\" \
             font-family=\"{FONT}\">\n<rect width=\"100%\" height=\"100%\" fill=\"{GROUND}\"/>\n",
            self.width, self.height
        );
        if let Some((address, frame)) = raster {
            out.push_str(&format!(
                "<image {} preserveAspectRatio=\"none\" image-rendering=\"pixelated\" href=\"{}\"/>\n",
                place(frame),
                escaped(address)
            ));
        }
        for mark in &self.marks {
            out.push_str(&tag(mark));
            out.push('\n');
        }
        out.push_str("</svg>\n");
        out
    }
}

fn place(frame: Frame) -> String {
    format!(
        "x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\"",
        frame.x, frame.y, frame.width, frame.height
    )
}

fn tag(mark: &SceneMark) -> String {
    match mark {
        SceneMark::Line { points, ink, width, dash } => {
            let dashes = if *dash == Dash::Dashed { " stroke-dasharray=\"5 4\"" } else { "" };
            format!(
                "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}/>",
                path(points),
                ink.colour()
            )
        }
        SceneMark::Area { points, ink } => {
            format!("<path d=\"{}\" fill=\"{}\" fill-opacity=\"{OPACITY}\"/>", path(points), ink.colour())
        }
        SceneMark::Dot { at, radius, ink } => format!(
            "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius}\" fill=\"{}\"/>",
            at[0],
            at[1],
            ink.colour()
        ),
        SceneMark::Edge { frame, ink } => {
            format!("<rect {} fill=\"none\" stroke=\"{}\"/>", place(*frame), ink.colour())
        }
        SceneMark::Bar { frame, ink } => format!("<rect {} fill=\"{}\"/>", place(*frame), ink.colour()),
        SceneMark::Swatch { frame, colour } => format!("<rect {} fill=\"{}\"/>", place(*frame), hex(*colour)),
        SceneMark::Ramp { frame, stops } => {
            let name = ramp_name(stops);
            let stops: String = stops
                .iter()
                .map(|(at, colour)| format!("<stop offset=\"{at:.4}\" stop-color=\"{}\"/>", hex(*colour)))
                .collect();
            format!(
                "<linearGradient id=\"{name}\">{stops}</linearGradient><rect {} fill=\"url(#{name})\"/>",
                place(*frame)
            )
        }
        SceneMark::Text { at, text, anchor, font, ink } => {
            let weight = if font.weight == Weight::Bold { " font-weight=\"600\"" } else { "" };
            let turned = turned(*at, *font).map(|it| format!(" transform=\"{it}\"")).unwrap_or_default();
            format!(
                "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"{}\" font-size=\"{:.2}\" fill=\"{}\"{weight}{turned}>{}</text>",
                at[0],
                at[1],
                anchor.name(),
                font.size,
                ink.colour(),
                escaped(text)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_where_a_point_is_missing() {
        assert_eq!(
            path(&[[0.0, 1.0], [2.0, 3.0], [4.0, f64::NAN], [5.0, 6.0]]),
            "M0.00 1.00L2.00 3.00M5.00 6.00"
        );
    }

    #[test]
    fn a_text_that_is_too_long_is_cut() {
        let font = Font::plain(10.0);
        assert_eq!(font.fitted("short", 100.0), "short");
        let cut = font.fitted("this is far too long for it", 100.0);
        assert!(cut.ends_with('…') && font.width_of(&cut) <= 100.0, "{cut}");
    }

    #[test]
    fn a_file_holds_its_texts_as_text() {
        let text = SceneMark::Text {
            at: [1.0, 2.0],
            text: "<script>\"&\u{1}".to_owned(),
            anchor: Anchor::Start,
            font: Font::plain(12.0),
            ink: Ink::Text,
        };
        let scene = Scene { width: 10.0, height: 10.0, marks: vec![text] };
        let file = scene.to_svg(Some(("data:image/png;base64,\"><a", Frame::default())));
        assert!(file.contains("&lt;script&gt;&quot;&amp; </text>"), "{file}");
        assert!(!file.contains("<script") && !file.contains("<a"), "{file}");
        assert!(file.ends_with("</svg>\n"));
    }

    #[test]
    fn ramps_of_different_maps_have_different_names() {
        use crate::plots::colormap::Colormap;
        let names: Vec<String> = Colormap::ALL.iter().map(|it| ramp_name(&it.stops())).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name}");
        }
    }
}
