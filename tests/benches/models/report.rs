//! The report: tables to read.

use std::fmt::Write as _;

use isobar_runner::backends::Backend;
use isobar_tests::kernels::fields::{Agreement, Layout};

use crate::measure::{LAYOUTS, Measured, told};

/// One stencil in a line, while others go on.
pub(crate) fn line(it: &Measured) -> String {
    let mut line = format!("{}: copy {:.3}", it.stencil, it.copy().unwrap_or_default());
    for contestant in &it.contestants {
        let ms = contestant.ms.as_ref().map_or(f64::NAN, |it| it.median);
        let _ = write!(line, "; {} {} {ms:.3}", contestant.backend, contestant.layout);
    }
    for peer in &it.gt4py {
        let _ = match &peer.ms {
            Some(ms) => write!(line, "; {} {:.3}", peer.backend, ms.median),
            None => write!(line, "; {} not measured", peer.backend),
        };
        if let Some(agreement) = peer.agreement.or(peer.differs.as_deref()) {
            let _ = write!(line, " ({agreement})");
        }
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
    beside(&mut text, all, backends);
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

/// The back end of gt4py whose arrays lie along k.
const ALONG_K: &str = "gt:cpu_kfirst";

/// GT4Py's times, and through them ours on each layout; then what it does not do, and what it does otherwise.
fn beside(text: &mut String, all: &[Measured], backends: &[Backend]) {
    let Some(first) = all.iter().find(|it| !it.gt4py.is_empty()) else { return };
    let theirs: Vec<&str> = first.gt4py.iter().map(|it| it.backend.as_str()).collect();
    let of_k = theirs.contains(&ALONG_K) && theirs.len() > 1;
    let mut columns = vec!["stencil".to_owned()];
    columns.extend(theirs.iter().map(|it| format!("`{it}`")));
    for backend in backends {
        columns.extend(LAYOUTS.iter().map(|it| format!("{} {}", backend.name(), told(*it))));
        if of_k {
            columns.push(format!("along k of `{ALONG_K}`"));
        }
    }
    let _ = writeln!(text, "| {} |", columns.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(columns.len() - 1));
    let n_ratios = columns.len() - 1 - theirs.len();
    let mut ratios = vec![Vec::new(); n_ratios];
    for it in all {
        let mut row = Vec::new();
        for backend in backends {
            let ours = |layout| it.median(backend.name(), layout);
            let through = |theirs: Option<f64>, layout| Some(theirs? / ours(layout)?);
            row.extend(LAYOUTS.map(|layout| through(it.best_of_gt4py(), layout)));
            if of_k {
                row.push(through(it.of_gt4py(ALONG_K), Some(Layout::AlongK)));
            }
        }
        for (all, ratio) in ratios.iter_mut().zip(&row) {
            all.extend(*ratio);
        }
        let times = theirs.iter().map(|backend| plain(it.of_gt4py(backend)));
        let cells: Vec<String> = times.chain(row.into_iter().map(plain)).collect();
        let _ = writeln!(text, "| `{}` | {} |", it.stencil, cells.join(" | "));
    }
    let mean = |all: &Vec<f64>| {
        let sum: f64 = all.iter().map(|it| it.ln()).sum();
        (!all.is_empty()).then(|| (sum / all.len() as f64).exp())
    };
    let least = |all: &Vec<f64>| all.iter().copied().min_by(f64::total_cmp);
    let blank = " |".repeat(theirs.len());
    for (name, cells) in [
        ("geometric mean", ratios.iter().map(|it| plain(mean(it))).collect::<Vec<_>>()),
        ("least", ratios.iter().map(|it| plain(least(it))).collect()),
    ] {
        let _ = writeln!(text, "| {name} |{blank} {} |", cells.join(" | "));
    }
    let _ = writeln!(
        text,
        "\nms of gt4py's back ends, each on arrays that lie as it prefers, and the time of the best of them through ours \
         on each layout: 1 is as fast, more is for us. {}\n",
        agreed(all)
    );
    let mut told = String::new();
    for it in all {
        for peer in &it.gt4py {
            if let Some(why) = &peer.why_not {
                let _ = writeln!(told, "- `{}` is not measured with `{}`: {why}", it.stencil, peer.backend);
            }
            if let Some(differs) = &peer.differs {
                let _ = writeln!(
                    told,
                    "- `{}` computes something else with `{}`: {differs}",
                    it.stencil, peer.backend
                );
            }
        }
    }
    if !told.is_empty() {
        let _ = writeln!(text, "{told}");
    }
}

/// How many of their results are ours.
fn agreed(all: &[Measured]) -> String {
    let peers = || all.iter().flat_map(|it| &it.gt4py);
    let count = |told: &str| peers().filter(|it| it.agreement == Some(told)).count();
    let [bits, close] = [Agreement::Bits, Agreement::Close].map(|it| count(it.told()));
    let differ = peers().filter(|it| it.differs.is_some()).count();
    format!("Of their results {bits} have our bits, {close} are close, and {differ} differ.")
}

fn plain(it: Option<f64>) -> String {
    it.map(|it| format!("{it:.2}")).unwrap_or_default()
}
