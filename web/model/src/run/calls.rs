//! The statements of a program that are shown after its run.

use isobar_protocol::bench::CallStep;

/// No more statements than these are shown: those that took most of the time.
const MOST: usize = 200;

/// The rows of the tree of calls.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRows<'a> {
    /// In the order of the text.
    pub shown: Vec<&'a CallStep>,
    pub left_out: usize,
}

impl<'a> CallRows<'a> {
    /// The rows of a run.
    #[must_use]
    pub fn of(all: &'a [CallStep]) -> Self {
        let mut longest: Vec<usize> = (0..all.len()).collect();
        longest.sort_by(|one, other| all[*other].ms.total_cmp(&all[*one].ms));
        longest.truncate(MOST);
        longest.sort_unstable();
        let left_out = all.len() - longest.len();
        Self { shown: longest.into_iter().map(|it| &all[it]).collect(), left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_statements_are_shown_in_the_order_of_the_text() {
        let step = |ms, depth| CallStep { ms, depth, count: 1, ..CallStep::default() };
        let all = [step(3.0, 0), step(1.0, 1), step(2.0, 1), step(4.0, 0)];
        let rows = CallRows::of(&all);
        assert_eq!((rows.shown.len(), rows.left_out), (4, 0));
        assert_eq!(rows.shown.iter().map(|it| it.ms).collect::<Vec<_>>(), [3.0, 1.0, 2.0, 4.0]);
        let many: Vec<CallStep> = (0..300).map(|it| step(f64::from(it % 7), 0)).collect();
        let rows = CallRows::of(&many);
        assert_eq!((rows.shown.len(), rows.left_out), (200, 100));
        assert!(rows.shown.iter().all(|it| it.ms >= 2.0));
        assert_eq!(CallRows::of(&[]).shown.len(), 0);
    }
}
