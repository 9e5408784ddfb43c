//! How often each statement of a run was carried out, and how long it took.

use std::collections::BTreeMap;

use crate::nodes::ProgramStmt;

/// The measures of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatementMeasure {
    pub count: u64,
    /// Of all times together, with the statements inside.
    pub ms: f64,
}

/// Measures statements while they run.
pub(super) struct StatementClock<'a> {
    /// Tells milliseconds.
    now: &'a dyn Fn() -> f64,
    /// The numbers of statements, in the order of the text, by their places in memory: a run moves none.
    numbers: BTreeMap<usize, usize>,
    measures: Vec<StatementMeasure>,
}

impl<'a> StatementClock<'a> {
    pub(super) fn new(body: &[ProgramStmt], now: &'a dyn Fn() -> f64) -> Self {
        let mut numbers = BTreeMap::new();
        body.iter().for_each(|it| {
            it.walk(&mut |stmt| {
                let number = numbers.len();
                numbers.insert(std::ptr::from_ref(stmt).addr(), number);
            });
        });
        let measures = vec![StatementMeasure::default(); numbers.len()];
        Self { now, numbers, measures }
    }

    pub(super) fn now(&self) -> f64 {
        (self.now)()
    }

    pub(super) fn ended(&mut self, stmt: &ProgramStmt, since: f64) {
        let ms = self.now() - since;
        if let Some(&number) = self.numbers.get(&std::ptr::from_ref(stmt).addr()) {
            self.measures[number].count += 1;
            self.measures[number].ms += ms;
        }
    }

    pub(super) fn measures(self) -> Vec<StatementMeasure> {
        self.measures
    }
}
