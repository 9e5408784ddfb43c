//! Facts that are computed once and kept until a pass changes what they rest on.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::log::LogValue;

/// A fact about a whole `I`: its extents, what depends on what.
///
/// It may ask for others while it is computed; what it asked for are its requirements, and it falls with them.
pub trait Analysis<I>: 'static {
    /// As passes name it that keep it: `oir/extents`.
    const NAME: &'static str;
    type Fact: 'static;

    fn compute(ir: &I, known: &mut Analyses<I>) -> Self::Fact;

    /// The value that the results of a pipeline report of a fact, where there is something to report.
    #[must_use]
    fn told(_fact: &Self::Fact) -> Option<LogValue> {
        None
    }
}

/// The facts that are known about an `I` as it is.
pub struct Analyses<I> {
    known: BTreeMap<&'static str, CachedFact>,
    /// Those that are being computed, from outside in.
    open: Vec<&'static str>,
    /// The analyses that were computed since the last [`take_computed`](Self::take_computed), in order.
    computed: Vec<&'static str>,
    told: BTreeMap<&'static str, LogValue>,
    of: std::marker::PhantomData<fn(&I)>,
}

struct CachedFact {
    fact: Rc<dyn Any>,
    /// The analyses that it asked for.
    requires: BTreeSet<&'static str>,
}

impl<I> Default for Analyses<I> {
    fn default() -> Self {
        Self {
            known: BTreeMap::new(),
            open: Vec::new(),
            computed: Vec::new(),
            told: BTreeMap::new(),
            of: std::marker::PhantomData,
        }
    }
}

impl<I> std::fmt::Debug for Analyses<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.known.keys()).finish()
    }
}

impl<I> Analyses<I> {
    /// The fact about `ir`, which is the one that all facts here are about; computed where it is not known.
    pub fn get<A: Analysis<I>>(&mut self, ir: &I) -> Rc<A::Fact> {
        if let Some(known) = self.known.get(A::NAME).and_then(|it| Rc::clone(&it.fact).downcast().ok()) {
            self.require(A::NAME);
            return known;
        }
        self.open.push(A::NAME);
        // Analyses that are asked for meanwhile enter themselves here.
        self.known.insert(A::NAME, CachedFact { fact: Rc::new(()), requires: BTreeSet::new() });
        let fact = Rc::new(A::compute(ir, self));
        self.open.pop();
        if let Some(told) = A::told(&fact) {
            self.told.insert(A::NAME, told);
        }
        let erased: Rc<dyn Any> = Rc::clone(&fact) as Rc<dyn Any>;
        if let Some(known) = self.known.get_mut(A::NAME) {
            known.fact = erased;
        }
        self.computed.push(A::NAME);
        self.require(A::NAME);
        fact
    }

    /// The analysis that is being computed rests on `name`.
    fn require(&mut self, name: &'static str) {
        if let Some(known) = self.open.last().and_then(|it| self.known.get_mut(it)) {
            known.requires.insert(name);
        }
    }

    /// Forgets all facts but those named, and of these the ones that rest on a forgotten one.
    pub fn keep(&mut self, preserved: &[&str]) {
        self.known.retain(|name, _| preserved.contains(name));
        loop {
            let names: BTreeSet<&str> = self.known.keys().copied().collect();
            let n_known = self.known.len();
            self.known.retain(|_, it| it.requires.iter().all(|it| names.contains(it)));
            if self.known.len() == n_known {
                return;
            }
        }
    }

    /// Whether a fact of that name is known.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// The analyses that were computed since this was asked last, innermost first.
    pub(super) fn take_computed(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.computed)
    }

    /// Returns the values that analyses report, each as it was computed last.
    pub(super) fn results(self) -> BTreeMap<&'static str, LogValue> {
        self.told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Length;
    impl Analysis<Vec<i64>> for Length {
        const NAME: &'static str = "length";
        type Fact = usize;
        fn compute(ir: &Vec<i64>, _: &mut Analyses<Vec<i64>>) -> usize {
            ir.len()
        }
    }

    struct Mean;
    impl Analysis<Vec<i64>> for Mean {
        const NAME: &'static str = "mean";
        type Fact = i64;
        fn compute(ir: &Vec<i64>, known: &mut Analyses<Vec<i64>>) -> i64 {
            let n = i64::try_from(*known.get::<Length>(ir)).expect("small");
            ir.iter().sum::<i64>() / n
        }
        fn told(fact: &i64) -> Option<LogValue> {
            Some(LogValue::Integer(*fact))
        }
    }

    #[test]
    fn a_fact_is_computed_once_and_falls_with_what_it_rests_on() {
        let ir = vec![2, 4, 6];
        let mut known = Analyses::default();
        assert_eq!((*known.get::<Mean>(&ir), *known.get::<Mean>(&ir)), (4, 4));
        assert_eq!(known.take_computed(), ["length", "mean"]);
        known.keep(&["mean"]);
        assert!(!known.has("mean"), "it rests on the length, which nobody kept");
        known.get::<Length>(&ir);
        assert_eq!(known.take_computed(), ["length"]);
        known.get::<Mean>(&ir);
        assert_eq!(known.take_computed(), ["mean"], "the length was still known");
        known.keep(&["mean", "length"]);
        assert!(known.has("mean") && known.has("length"));
        assert_eq!(known.results().into_iter().collect::<Vec<_>>(), [("mean", LogValue::Integer(4))]);
    }
}
