//! Calls that were checked before, found again by their arguments.
//!
//! A call is checked once for its arrays (their addresses, shapes, strides, types), its domain and its
//! origins. These values form a row of words. A later call with the same words is the same call, even if the
//! arrays have other owners by then. Plans hold no references: no array lives longer than its owners want.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use isobar_runtime::executable::CheckedCall;
use rustc_hash::FxBuildHasher;

/// So many calls of one stencil are known at a time.
const MOST: usize = 4096;

/// A checked call. It is one caller's at a time.
pub(crate) type Plan = Arc<Mutex<CheckedCall>>;

/// The last call of a caller with a fixed frame, by the words of its arguments.
#[derive(Default)]
pub(crate) struct Last {
    call: Mutex<Option<(Box<[u64]>, Plan)>>,
}

impl Last {
    pub(crate) fn get(&self, words: &[u64]) -> Option<Plan> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        call.as_ref().filter(|(known, _)| **known == *words).map(|(_, plan)| Arc::clone(plan))
    }

    pub(crate) fn set(&self, words: &[u64], plan: &Plan) {
        *self.call.lock().unwrap_or_else(PoisonError::into_inner) = Some((words.into(), Arc::clone(plan)));
    }
}

/// The checked calls of a stencil.
#[derive(Default)]
pub(crate) struct Plans {
    known: Mutex<HashMap<Box<[u64]>, Plan, FxBuildHasher>>,
}

impl Plans {
    pub(crate) fn get(&self, words: &[u64]) -> Option<Plan> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(words).cloned()
    }

    pub(crate) fn insert(&self, words: &[u64], plan: &Plan) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            // A program that never calls twice with the same arrays.
            known.clear();
        }
        known.insert(words.into(), Arc::clone(plan));
    }
}
