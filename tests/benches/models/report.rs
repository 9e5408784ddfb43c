//! What is told: tables to read.

use std::fmt::Write as _;

use isobar_runner::backends::Backend;
use isobar_tests::kernels::fields::Layout;

use crate::measure::{LAYOUTS, Measured, told};

/// One stencil in a line, while others go on.
pub(crate) fn line(it: &Measured) -> String {
    let mut line = format!("{}: copy {:.3}", it.stencil, it.copy().unwrap_or_default());
    for contestant in &it.contestants {
        let ms = contestant.ms.as_ref().map_or(f64::NAN, |it| it.median);
        let _ = write!(line, "; {} {} {ms:.3}", contestant.backend, contestant.layout);
    }
    line
}

/// Tables to read.
pub(crate) fn report(all: &[Measured], backends: &[Backend]) -> String {
    let mut text = String::new();
    let mut columns = vec!["stencil".to_owned(), "fields".to_owned(), "MB".to_owned(), "copy".to_owned()];
    for backend in backends {
        columns.push(backend.name().to_owned());
        columns.push("of copy".to_owned());
        columns.extend(LAYOUTS.iter().skip(1).map(|it| told(*it).to_owned()));
    }
    let _ = writeln!(text, "| {} |", columns.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(columns.len() - 1));
    // Logarithms of ratios, by back end and layout.
    let mut sums = vec![vec![(0.0, 0_u32); LAYOUTS.len()]; backends.len()];
    for it in all {
        let mut cells = vec![
            format!("`{}`", it.stencil),
            it.fields.to_string(),
            format!("{:.1}", it.bytes as f64 / 1e6),
            it.copy().map(|it| format!("{it:.2}")).unwrap_or_default(),
        ];
        for (backend, sums) in backends.iter().zip(&mut sums) {
            let own = it.median(backend.name(), None);
            cells.push(own.map(|it| format!("{it:.2}")).unwrap_or_default());
            for (layout, sum) in LAYOUTS.iter().zip(sums.iter_mut()) {
                let ratio = match layout {
                    None => it.copy().zip(own).map(|(copy, own)| copy / own),
                    Some(_) => own.zip(it.median(backend.name(), *layout)).map(|(own, other)| own / other),
                };
                if let Some(ratio) = ratio {
                    *sum = (sum.0 + ratio.ln(), sum.1 + 1);
                }
                cells.push(ratio.map(|it| format!("{it:.2}")).unwrap_or_default());
            }
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    let mut cells = vec!["geometric mean".to_owned(), String::new(), String::new(), String::new()];
    for sums in &sums {
        cells.push(String::new());
        cells.extend(sums.iter().map(|&(sum, n)| format!("{:.2}", (sum / f64::from(n.max(1))).exp())));
    }
    let _ = writeln!(text, "| {} |", cells.join(" | "));
    let _ = writeln!(
        text,
        "\nms on arrays of our own, as a part of copying what has to be moved, and that through the time on the other \
         layouts: 1 is as fast, more is faster.\n"
    );
    for it in all {
        let ways: Vec<&str> = it
            .contestants
            .iter()
            .filter(|it| it.layout == Layout::AlongK.told())
            .flat_map(|it| it.way.iter().map(String::as_str))
            .collect();
        if let Some(way) = ways.first() {
            let _ = writeln!(text, "- `{}` along k: {way}", it.stencil);
        }
        for why in &it.apart {
            let _ = writeln!(text, "- `{}` not fused: {why}", it.stencil);
        }
    }
    text
}
