//! Where along one dimension of a container an element lies.

use std::fmt::{self, Display};

use super::Expr;
use super::print::{LeafSpelling, text_in_loops};
use crate::space::{Affine, Symbol};

/// An index into one dimension, 0 at its start.
///
/// An index of symbols alone lies within the dimension, whatever their values. If an index with an integer of
/// run time lies outside, the run ends with a trap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subscript<A> {
    /// The part that symbols give.
    pub known: Affine,
    /// The other part: an integer that is found at run time, added to `known`.
    pub found: Option<Box<Expr<A>>>,
}

impl<A> Subscript<A> {
    /// An integer of run time, beside a place that symbols tell.
    #[must_use]
    pub fn found(known: Affine, found: Expr<A>) -> Self {
        Self { known, found: Some(Box::new(found)) }
    }

    /// The index, where symbols alone tell it.
    #[must_use]
    pub fn as_known(&self) -> Option<&Affine> {
        self.found.is_none().then_some(&self.known)
    }

    /// The index, where it is a number.
    #[must_use]
    pub fn as_constant(&self) -> Option<i64> {
        self.as_known()?.as_constant()
    }

    /// The number beside `variable`, where symbols alone give the index and `variable` has the factor 1.
    ///
    /// Other symbols in the index are the same for all accesses to a dimension.
    #[must_use]
    pub fn distance_from(&self, variable: &Symbol) -> Option<i64> {
        let known = self.as_known()?;
        (known.factor(variable) == 1).then(|| known.offset())
    }

    /// The same index with the leaves of its integer replaced.
    pub fn map_accesses<B>(&self, leaf: &mut impl FnMut(&A) -> B) -> Subscript<B> {
        let found = self.found.as_ref().map(|it| Box::new(it.map_accesses(leaf)));
        Subscript { known: self.known.clone(), found }
    }
}

impl<A> From<Affine> for Subscript<A> {
    fn from(known: Affine) -> Self {
        Self { known, found: None }
    }
}

/// The index as `k + 1`, and `k + 1 + {n}` with an integer of run time.
pub fn spelled<'a, A>(it: &'a Subscript<A>, spell: &'a LeafSpelling<'a, A>) -> impl Display + 'a {
    fmt::from_fn(move |f| match &it.found {
        None => it.known.fmt(f),
        Some(found) if it.known == Affine::constant(0) => write!(f, "{{{}}}", text_in_loops(found, spell)),
        Some(found) => write!(f, "{} + {{{}}}", it.known, text_in_loops(found, spell)),
    })
}
