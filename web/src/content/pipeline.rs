//! The work of a level's passes, in words.

use isobar_compiler::pipeline::Stage;
use isobar_page_model::journey::LevelSummary;
use isobar_protocol::compile::bytes;

use crate::bridge::locale::{decimal, t};
use crate::state::journey::about;

/// The caption below the name of a level.
#[must_use]
pub fn caption(leg: &LevelSummary) -> String {
    match (leg.traffic, leg.changed) {
        (Some([before, after]), _) => format!("{} → {}", short_bytes(before), short_bytes(after)),
        (None, 0) => String::new(),
        (None, n) => t!("stages-statements", count = n),
    }
}

/// Without a decimal: `138 MB`.
fn short_bytes(n: f64) -> String {
    let text = bytes(n);
    let whole = text.split_once(' ').and_then(|(number, unit)| {
        let number = number.parse::<f64>().ok().filter(|it| *it >= 10.0)?;
        Some(format!("{number:.0} {unit}"))
    });
    whole.unwrap_or_else(|| decimal(text))
}

/// All that is known of a level, in words.
#[must_use]
pub fn words(stage: Stage, leg: &LevelSummary, [i, j, k]: [i64; 3]) -> String {
    let mut words = format!("{}: {}", stage.title(), about(stage));
    if leg.changed > 0 {
        words.push_str(". ");
        words.push_str(&t!("stages-changed-by", count = leg.changed, passes = leg.passes.join(", ")));
    }
    if let Some([before, after]) = leg.traffic {
        words.push_str(". ");
        words.push_str(&t!(
            "stages-traffic",
            after = decimal(bytes(after)),
            before = decimal(bytes(before)),
            i = i,
            j = j,
            k = k,
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_is_short() {
        let mut leg = LevelSummary { changed: 1, ..LevelSummary::default() };
        assert_eq!(caption(&leg), "1 statement");
        leg.traffic = Some([138.29e6, 32.12e6]);
        assert_eq!(caption(&leg), "138 MB → 32 MB");
        assert_eq!(caption(&LevelSummary::default()), "");
    }
}
