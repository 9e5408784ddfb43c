//! A store makes each value once, for the first caller that asks for its key, and shares it with all others.
//!
//! [`Store`] holds values in memory. [`file`] holds some of them on disk as well, for other processes.

pub mod file;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use isobar_compiler::diag::Diagnostic;

use crate::failure::Failure;

/// Values of one store at most: a model calls a stencil with a few kinds of fields and domains.
const MAX_VALUES: usize = 64;

/// Values by key, the last one used in front.
#[derive(Debug)]
pub(crate) struct Store<K, V, E = Failure> {
    values: Mutex<Vec<Arc<StoreEntry<K, V, E>>>>,
}

/// The value of one key, or the reason why there is none.
#[derive(Debug)]
pub(crate) struct StoreEntry<K, V, E = Failure> {
    pub(crate) key: K,
    value: OnceLock<Result<V, E>>,
}

/// A reason why a value cannot be made.
pub(crate) trait StoreError: Clone {
    /// Whether the next try would end the same.
    fn lasts(&self) -> bool;
}

impl StoreError for Failure {
    fn lasts(&self) -> bool {
        !matches!(self, Failure::OutOfMemory)
    }
}

impl StoreError for Vec<Diagnostic> {
    fn lasts(&self) -> bool {
        true
    }
}

impl<K, V> StoreEntry<K, V> {
    /// The value.
    ///
    /// # Errors
    ///
    /// Why it cannot be made.
    pub(crate) fn get(&self) -> Result<&V, Failure> {
        let missing = || Failure::Machine("a stored value was not made".to_owned());
        self.value.get().ok_or_else(missing)?.as_ref().map_err(Clone::clone)
    }
}

impl<K, V, E> Default for Store<K, V, E> {
    fn default() -> Self {
        Self { values: Mutex::default() }
    }
}

impl<K: PartialEq, V, E: StoreError> Store<K, V, E> {
    /// The value of a key, made by the first caller that asks. Callers that ask for the same key meanwhile
    /// wait.
    ///
    /// # Errors
    ///
    /// Why it cannot be made. The reason is stored as well, unless another try may end otherwise.
    pub(crate) fn get(
        &self,
        key: K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<Arc<StoreEntry<K, V, E>>, E> {
        let found = {
            let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
            let found = match values.iter().position(|it| it.key == key) {
                Some(at) => values.remove(at),
                None => Arc::new(StoreEntry { key, value: OnceLock::new() }),
            };
            values.insert(0, Arc::clone(&found));
            // Callers that still use a value that leaves the store hold it.
            values.truncate(MAX_VALUES);
            found
        };
        let made = found.value.get_or_init(|| make(&found.key));
        if let Err(why) = made {
            if !why.lasts() {
                let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
                values.retain(|it| !Arc::ptr_eq(it, &found));
            }
            return Err(why.clone());
        }
        Ok(found)
    }

    /// Removes all values but those of some keys.
    pub(crate) fn retain(&self, is_retained: impl Fn(&K) -> bool) {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| is_retained(&it.key));
    }
}

impl<K: PartialEq, V: Clone, E: StoreError> Store<K, V, E> {
    /// A copy of the value of a key; see [`get`](Self::get).
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get).
    pub(crate) fn value(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<V, E> {
        let stored = self.get(key, make)?;
        // It was made just now, or before.
        stored.value.get().map_or_else(|| unreachable!("a value that was found was made"), Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_value_is_made_once_for_all_callers() {
        let (store, made) = (Store::<usize, usize>::default(), AtomicUsize::new(0));
        let twice = |&it: &usize| {
            made.fetch_add(1, Ordering::Relaxed);
            Ok(2 * it)
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for turn in 0..100 {
                        let key = turn % 10;
                        assert_eq!(*store.get(key, twice).unwrap().get().unwrap(), 2 * key);
                    }
                });
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn values_that_were_not_used_for_long_leave() {
        let store = Store::<usize, usize>::default();
        let first = store.get(0, |_| Ok(7)).unwrap();
        for key in 1..=MAX_VALUES {
            store.get(key, |&it| Ok(it)).unwrap();
        }
        assert_eq!(Arc::strong_count(&first), 1);
        assert_eq!(*first.get().unwrap(), 7);
        assert_eq!(*store.get(0, |_| Ok(8)).unwrap().get().unwrap(), 8);
        assert_eq!(*store.get(MAX_VALUES, |_| Err(Failure::OutOfMemory)).unwrap().get().unwrap(), MAX_VALUES);
    }

    #[test]
    fn a_reason_is_stored_unless_it_is_a_lack_of_memory() {
        let store = Store::<usize, usize>::default();
        for made in [Err(Failure::Code("x".to_owned())), Ok(1)] {
            assert!(matches!(store.get(1, |_| made), Err(Failure::Code(_))));
        }
        assert!(matches!(store.get(2, |_| Err(Failure::OutOfMemory)), Err(Failure::OutOfMemory)));
        assert_eq!(*store.get(2, |_| Ok(3)).unwrap().get().unwrap(), 3);
    }

    #[test]
    fn values_that_are_not_retained_leave() {
        let store = Store::<usize, usize>::default();
        for key in 0..4 {
            store.get(key, |&it| Ok(it)).unwrap();
        }
        store.retain(|it| *it >= 2);
        assert_eq!(*store.get(1, |_| Ok(9)).unwrap().get().unwrap(), 9);
        assert_eq!(*store.get(3, |_| Ok(9)).unwrap().get().unwrap(), 3);
    }
}
