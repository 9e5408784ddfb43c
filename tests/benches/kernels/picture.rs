//! The roofline as a picture: operations for each byte along the one axis, operations per second along the other.

use std::fmt::Write as _;

use crate::measure::Measured;
use crate::report::Report;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 480.0;
const MARGIN: f64 = 60.0;

/// Powers of two at the ends of both axes.
const INTENSITY: [i32; 2] = [-5, 6];
const SPEED: [i32; 2] = [0, 9];

fn along(value: f64, [low, high]: [i32; 2], length: f64) -> f64 {
    (value.log2() - f64::from(low)) / f64::from(high - low) * length
}

fn x(intensity: f64) -> f64 {
    MARGIN + along(intensity, INTENSITY, WIDTH - 2.0 * MARGIN)
}

fn y(speed: f64) -> f64 {
    HEIGHT - MARGIN - along(speed, SPEED, HEIGHT - 2.0 * MARGIN)
}

/// The first setting that was measured.
pub(crate) fn roofline(report: &Report) -> String {
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    axes(&mut text);
    let Some(first) = report.measured.iter().find(|it| it.operations > 0.0) else { return text + "</svg>\n" };
    let here: Vec<&Measured> = report
        .measured
        .iter()
        .filter(|it| {
            it.operations > 0.0
                && (&it.dtype, it.domain, it.threads) == (&first.dtype, first.domain, first.threads)
        })
        .collect();
    let copied = here.iter().filter_map(|it| Some(it.operations / it.intensity() / it.copy()? / 1e6));
    let bandwidth = copied.fold(0.0, f64::max);
    if let Some(peak) = report.peak(first) {
        let (start, ridge, end) = (2.0_f64.powi(INTENSITY[0]), peak / bandwidth, 2.0_f64.powi(INTENSITY[1]));
        // Where memory is slow enough for the ridge to lie beside the picture, the roof starts at its edge.
        let floor = (1.0 / bandwidth).max(start);
        let _ = writeln!(
            text,
            "<polyline fill=\"none\" stroke=\"#333\" stroke-width=\"2\" points=\"{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
            x(floor),
            y(floor * bandwidth),
            x(ridge),
            y(peak),
            x(end),
            y(peak)
        );
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\">{peak:.0} GFLOP/s; copy {bandwidth:.0} GB/s</text>",
            x(ridge) + 6.0,
            y(peak) - 6.0
        );
    }
    for it in here {
        for (name, colour) in [("by hand", "#888"), ("openmp", "#c33")] {
            let Some(ms) = it.median(name) else { continue };
            let (x, y) = (x(it.intensity()), y(it.operations / ms / 1e6));
            let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>");
            if name == "by hand" {
                let _ =
                    writeln!(text, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 7.0, y + 4.0, it.kernel);
            }
        }
    }
    let [i, j, k] = first.domain;
    let _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"24\">{}, {i}x{j}x{k}, threads: {}; grey: by hand, red: openmp</text>",
        first.dtype, first.threads
    );
    text + "</svg>\n"
}

fn axes(text: &mut String) {
    for power in INTENSITY[0]..=INTENSITY[1] {
        let x = x(2.0_f64.powi(power));
        let _ = writeln!(
            text,
            "<line x1=\"{x:.1}\" y1=\"{MARGIN}\" x2=\"{x:.1}\" y2=\"{}\" stroke=\"#eee\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - MARGIN,
            HEIGHT - MARGIN + 18.0,
            2.0_f64.powi(power)
        );
    }
    for power in SPEED[0]..=SPEED[1] {
        let y = y(2.0_f64.powi(power));
        let _ = writeln!(
            text,
            "<line x1=\"{MARGIN}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{y:.1}\" stroke=\"#eee\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - MARGIN,
            MARGIN - 6.0,
            y + 4.0,
            2.0_f64.powi(power)
        );
    }
    let _ = writeln!(
        text,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">operations for each byte</text>\
         <text x=\"16\" y=\"{}\" transform=\"rotate(-90 16 {})\" text-anchor=\"middle\">GFLOP/s</text>",
        WIDTH / 2.0,
        HEIGHT - 12.0,
        HEIGHT / 2.0,
        HEIGHT / 2.0
    );
}
