//! `isobar explain` — what a code means.

use isobar_compiler::diag::similar;

use super::{Outcome, Usage, print};
use crate::cli::ExplainArgs;

/// The manual's page of diagnostics: one part below `## CODE: title` for each code.
const MANUAL: &str = include_str!("../../../docs/diagnostics.md");

pub(crate) fn explain(args: &ExplainArgs) -> Result<Outcome, Usage> {
    let code = args.code.to_uppercase();
    match part(&code) {
        Some(part) => {
            print(part);
            Ok(Outcome::Fine)
        }
        None => {
            let known = codes();
            let meant =
                similar(&code, known.iter().copied()).map(|it| format!("; did you mean {}?", it.name));
            Err(Usage::Wrong(format!(
                "no diagnostic has the code `{}`{}",
                args.code,
                meant.unwrap_or_else(|| format!("; there are {}", known.join(", ")))
            )))
        }
    }
}

fn parts() -> impl Iterator<Item = (&'static str, &'static str)> {
    MANUAL.split("\n## ").skip(1).filter_map(|it| Some((it.split_once(':')?.0, it)))
}

fn codes() -> Vec<&'static str> {
    parts().map(|it| it.0).collect()
}

/// The manual's section on a code, in Markdown, beginning with its title.
#[must_use]
pub fn part(code: &str) -> Option<&'static str> {
    parts().find(|it| it.0 == code).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_with_all_that_is_said_about_it() {
        let part = part("E16").expect("it is in the manual");
        assert!(part.starts_with("E16: ") && part.contains("```python"), "{part}");
        assert!(!part.contains("\n## "));
        assert!(codes().len() > 60, "{:?}", codes());
    }
}
