//! How much of the code is explanation, and where that is too little.

use super::sources::Source;

/// A folder and the share of its lines that are comments, in per cent.
#[derive(Debug)]
pub(super) struct Share {
    /// A folder below the root; the empty one is everything.
    pub(super) folder: &'static str,
    pub(super) least: usize,
    /// The share that it must not fall below as long as `least` is not reached.
    pub(super) today: Option<usize>,
}

/// The shares that folders must reach.
pub(super) const SHARES: &[Share] = &[
    Share { folder: "", least: 10, today: None },
    Share { folder: "compiler/code/src/loops", least: 15, today: None },
    Share { folder: "runtime/src", least: 15, today: None },
    Share { folder: "codegen/src", least: 15, today: None },
];

/// The figure of each row that has a folder, and what is wrong.
pub(super) fn check(sources: &[&Source], shares: &[Share]) -> (Vec<String>, Vec<String>) {
    let (mut figures, mut findings) = (Vec::new(), Vec::new());
    for share in shares {
        let mut all = Lines::default();
        for source in sources.iter().filter(|it| it.name.starts_with(share.folder)) {
            all.add(&source.text);
        }
        if all.lines == 0 {
            continue;
        }
        let name = if share.folder.is_empty() { "all sources" } else { share.folder };
        let tenths = all.comments * 1000 / all.lines;
        let figure = format!("{name}: {}.{} % of {} lines are comments", tenths / 10, tenths % 10, all.lines);
        let least = share.today.unwrap_or(share.least);
        if tenths < least * 10 {
            findings.push(format!("{}:1: {figure}, and {least} % are the least", share.folder));
        }
        if share.today.is_some() && tenths >= share.least * 10 {
            findings.push(format!(
                "xtask/src/tidy/documentation.rs:1: {figure}: `today` of its row can go, {} % are reached",
                share.least
            ));
        }
        figures.push(figure);
    }
    (figures, findings)
}

/// Lines that are not blank, outside of tests: those say by their names what they are about.
#[derive(Debug, Default)]
struct Lines {
    lines: usize,
    comments: usize,
}

impl Lines {
    fn add(&mut self, text: &str) {
        let code = text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(before, _)| before);
        for line in code.lines().map(str::trim).filter(|it| !it.is_empty()) {
            self.lines += 1;
            self.comments += usize::from(line.starts_with("//"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::sources;
    use super::*;

    fn findings(text: &str, share: Share) -> Vec<String> {
        let all = sources("compiler", &[("a", text)]);
        check(&all.files.iter().collect::<Vec<_>>(), &[share]).1
    }

    #[test]
    fn too_few_comments_are_found_and_tests_do_not_count() {
        let half = "// one\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    fn g() {}\n    fn h() {}\n}\n";
        assert_eq!(findings(half, Share { folder: "", least: 50, today: None }), [""; 0]);
        assert_eq!(findings(half, Share { folder: "", least: 51, today: None }).len(), 1);
    }

    #[test]
    fn a_share_that_is_reached_needs_no_other_figure() {
        let share = |least, today| Share { folder: "", least, today: Some(today) };
        assert_eq!(findings("// one\nfn f() {}\n", share(60, 40)), [""; 0]);
        assert_eq!(findings("// one\nfn f() {}\n", share(60, 55)).len(), 1);
        assert_eq!(findings("// one\nfn f() {}\n", share(50, 40)).len(), 1);
    }
}
