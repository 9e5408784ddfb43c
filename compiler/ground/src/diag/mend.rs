//! Carries out fixes on a text: [`mend`] as they stand, [`mend_surely`] those that mend it.
//!
//! A fix is made from the wrong text, and other faults of this text may stand in its way. So [`mend_surely`]
//! has each result compiled. It leaves out a fix whose diagnostic stays, that adds an error, or that breaks
//! the syntax.

use super::catalog::syntax::SYNTAX;
use super::{Diagnostic, FileId, Fix, Severity, TextEdit};

/// The text of `file` with as many of the fixes as go together, and how many these are.
///
/// Of two fixes that change the same place, the first one counts. It also counts where one inserts at the
/// edge of the text that the other replaces. The other fix shows again when the new text is compiled. A fix
/// of another file is left out.
#[must_use]
pub fn mend<'f>(text: &str, file: FileId, fixes: impl IntoIterator<Item = &'f Fix>) -> (String, usize) {
    let mut taken: Vec<&TextEdit> = Vec::new();
    let mut count = 0;
    for fix in fixes {
        let is_possible = fix.edits.iter().all(|it| {
            let is_here =
                it.span.file == file && text.get(it.span.start as usize..it.span.end as usize).is_some();
            is_here && !taken.iter().any(|other| touch(it, other))
        });
        if is_possible && !fix.edits.is_empty() {
            taken.extend(&fix.edits);
            count += 1;
        }
    }
    taken.sort_by_key(|it| it.span);
    let mut mended = String::new();
    let mut done = 0;
    for edit in taken {
        mended += text.get(done..edit.span.start as usize).unwrap_or_default();
        mended += &edit.text;
        done = edit.span.end as usize;
    }
    mended += text.get(done..).unwrap_or_default();
    (mended, count)
}

/// The part of a diagnostic that is needed to carry out its fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: String,
    pub message: String,
    pub is_error: bool,
    /// The first byte of its place, where that is in the text that is mended.
    pub start: Option<u32>,
    /// Its first fix, where that changes this text alone.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Of a diagnostic of the compiler.
    #[must_use]
    pub fn of(found: &Diagnostic, file: FileId) -> Self {
        let place = found.primary.as_ref().map(|it| it.span).filter(|it| it.file == file);
        let is_here = |it: &&Fix| it.edits.iter().all(|it| it.span.file == file);
        Self {
            code: found.code.to_string(),
            message: found.message.clone(),
            is_error: found.severity == Severity::Error,
            start: place.map(|it| it.start),
            fix: found.fixes.first().filter(is_here).cloned(),
        }
    }

    fn is_syntax(&self) -> bool {
        self.is_error && self.code == SYNTAX.0
    }
}

/// The result of mending a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MendedText {
    pub text: String,
    pub carried_out: usize,
    /// Fixes that were tried and would not have mended it.
    pub left_out: usize,
}

/// A fix may bring to light what another one can mend; each round mends one thing at each place.
const MOST_ROUNDS: usize = 20;
/// So many texts are compiled in one round.
const MOST_TRIALS: usize = 64;

/// Carries out the fixes that `check` gives for a text, again and again, as far as each of them mends it.
///
/// # Errors
///
/// Those of `check`.
pub fn mend_surely<E>(
    text: &str,
    file: FileId,
    mut check: impl FnMut(&str) -> Result<Vec<Finding>, E>,
) -> Result<MendedText, E> {
    let mut mended = MendedText { text: text.to_owned(), ..MendedText::default() };
    let mut found = check(text)?;
    for _ in 0..MOST_ROUNDS {
        let fixable: Vec<&Finding> = found.iter().filter(|it| it.fix.is_some()).collect();
        let mut round =
            Round { text: &mended.text, file, found: &found, taken: Vec::new(), trials: 0, best: None };
        round.take(&fixable, &mut check)?;
        let Some((text, next)) = round.best else {
            mended.left_out = fixable.len();
            break;
        };
        mended.carried_out += round.taken.len();
        mended.text = text;
        found = next;
    }
    Ok(mended)
}

/// One text, and those of its fixes that go together.
struct Round<'f> {
    text: &'f str,
    file: FileId,
    found: &'f [Finding],
    taken: Vec<&'f Finding>,
    trials: usize,
    /// The text with those taken, and its findings.
    best: Option<(String, Vec<Finding>)>,
}

impl<'f> Round<'f> {
    /// Takes as many of `wanted` as mend the text: all of them, or of each half as many as do.
    fn take<E>(
        &mut self,
        wanted: &[&'f Finding],
        check: &mut impl FnMut(&str) -> Result<Vec<Finding>, E>,
    ) -> Result<(), E> {
        if wanted.is_empty() || self.trials == MOST_TRIALS {
            return Ok(());
        }
        self.trials += 1;
        // Those that others overlap wait for the next round.
        let mut all = self.taken.clone();
        for it in wanted {
            let fixes = || all.iter().chain([it]).filter_map(|it| it.fix.as_ref());
            if mend(self.text, self.file, fixes()).1 == all.len() + 1 {
                all.push(it);
            }
        }
        if all.len() == self.taken.len() {
            return Ok(());
        }
        let (text, _) = mend(self.text, self.file, all.iter().filter_map(|it| it.fix.as_ref()));
        let next = check(&text)?;
        if self.is_better(&all, &next) {
            self.taken = all;
            self.best = Some((text, next));
            return Ok(());
        }
        if let [_] = wanted {
            return Ok(());
        }
        let (first, second) = wanted.split_at(wanted.len() / 2);
        self.take(first, check)?;
        self.take(second, check)
    }

    /// Whether a text with these fixes has fewer findings. Each of their diagnostics must be gone, and there
    /// may be no more errors, nor syntax errors, than before.
    fn is_better(&self, fixed: &[&Finding], next: &[Finding]) -> bool {
        let before = self.best.as_ref().map_or(self.found, |it| &it.1);
        let errors = |all: &[Finding]| all.iter().filter(|it| it.is_error).count();
        let syntax = |all: &[Finding]| all.iter().filter(|it| it.is_syntax()).count();
        errors(next) <= errors(before)
            && syntax(next) <= syntax(before)
            && fixed.iter().all(|it| self.is_gone(it, fixed, next))
    }

    fn is_gone(&self, fixed: &Finding, all: &[&Finding], next: &[Finding]) -> bool {
        let Some(start) = fixed.start else {
            let says_so = |it: &&Finding| it.code == fixed.code && it.message == fixed.message;
            return next.iter().filter(says_so).count() < self.found.iter().filter(says_so).count();
        };
        // Text that was inserted right there may stand before or behind the place of the diagnostic.
        let edits = || all.iter().filter_map(|it| it.fix.as_ref()).flat_map(|it| &it.edits);
        let moved = |is_before: &dyn Fn(&TextEdit) -> bool| {
            edits().filter(|it| is_before(it)).fold(i64::from(start), |at, it| {
                at + i64::try_from(it.text.len()).unwrap_or(0) - i64::from(it.span.end - it.span.start)
            })
        };
        let (low, high) =
            (moved(&|it| it.span.end <= start && it.span.start < start), moved(&|it| it.span.end <= start));
        let (low, high) = (low.min(high), low.max(high));
        let was = self.found.iter().filter(|it| it.code == fixed.code && it.start == fixed.start).count();
        let is_there = |it: &&Finding| {
            it.code == fixed.code && it.start.is_some_and(|it| (low..=high).contains(&i64::from(it)))
        };
        next.iter().filter(is_there).count() < was
    }
}

fn touch(one: &TextEdit, other: &TextEdit) -> bool {
    one.span.start <= other.span.end && other.span.start <= one.span.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;

    fn fix(edits: &[(u32, u32, &str)]) -> Fix {
        let edit = |&(start, end, text): &(u32, u32, &str)| {
            TextEdit::replace(Span::new(FileId(0), start, end), text)
        };
        Fix { title: String::new(), edits: edits.iter().map(edit).collect() }
    }

    #[test]
    fn fixes_that_touch_each_other_wait_for_the_next_time() {
        let fixes =
            [fix(&[(6, 7, "z")]), fix(&[(0, 1, "("), (2, 2, ")")]), fix(&[(1, 4, "")]), fix(&[(9, 99, "")])];
        assert_eq!(mend("a + b + c", FileId(0), &fixes), ("( )+ b z c".to_owned(), 2));
        assert_eq!(mend("a + b + c", FileId(1), &fixes), ("a + b + c".to_owned(), 0));
    }

    /// Says of each `x` that it is wrong; of `(` that it breaks the syntax; of `y` as much as `n` errors.
    fn check(text: &str, meant: &str, n: usize) -> Vec<Finding> {
        let mut found = Vec::new();
        for (at, letter) in (0..).zip(text.chars()) {
            let mut add = |code: &str, fix| {
                let (code, message) = (code.to_owned(), format!("`{letter}` is wrong"));
                found.push(Finding { code, message, is_error: true, start: Some(at), fix });
            };
            match letter {
                'x' => add("E07", Some(fix(&[(at, at + 1, meant)]))),
                '(' => add("E00", None),
                'y' => (0..n).for_each(|_| add("E08", None)),
                _ => {}
            }
        }
        found
    }

    fn mended(text: &str, meant: &str, n: usize) -> (String, usize, usize) {
        let done = mend_surely(text, FileId(0), |it| Ok::<_, ()>(check(it, meant, n))).unwrap();
        (done.text, done.carried_out, done.left_out)
    }

    #[test]
    fn a_fix_that_mends_nothing_or_breaks_something_is_left_out() {
        assert_eq!(mended("a x b x", "z", 0), ("a z b z".to_owned(), 2, 0));
        assert_eq!(mended("a x b x", "x", 0), ("a x b x".to_owned(), 0, 2), "the diagnostic stays");
        assert_eq!(mended("a x b x", "(", 0), ("a x b x".to_owned(), 0, 2), "the syntax breaks");
        assert_eq!(mended("a x b x", "y", 2), ("a x b x".to_owned(), 0, 2), "two errors for one");
        assert_eq!(mended("a x b x", "y", 1), ("a y b y".to_owned(), 2, 0), "another error shows instead");
    }

    #[test]
    fn a_good_fix_is_carried_out_beside_a_bad_one() {
        // The one fix is right at the first place only.
        let check = |text: &str| {
            let mut found = check(text, "z", 0);
            if let Some(second) = found.get_mut(1) {
                second.fix = Some(fix(&[(second.start.unwrap(), second.start.unwrap() + 1, "(")]));
            }
            Ok::<_, ()>(found)
        };
        let done = mend_surely("x x", FileId(0), check).unwrap();
        assert_eq!((done.text.as_str(), done.carried_out), ("z z", 2), "alone the second one is another fix");
        let bad = |text: &str| {
            let mut found = super::tests::check(text, "z", 0);
            if let Some(last) = found.last_mut().filter(|it| it.start > Some(1)) {
                last.fix = Some(fix(&[(2, 3, "(")]));
            }
            Ok::<_, ()>(found)
        };
        let done = mend_surely("x x", FileId(0), bad).unwrap();
        assert_eq!((done.text.as_str(), done.carried_out, done.left_out), ("z x", 1, 1));
    }
}
