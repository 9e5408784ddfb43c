//! What is made for each shape of arrays that a stencil is called with: kept, and shared by its callers.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Failure;

/// So many shapes of one stencil are kept: a model has one for each kind of field and of domain that it calls it with.
const MOST: usize = 64;

/// What was made for each shape, the one that was asked for last in front.
#[derive(Debug)]
pub(super) struct Shapes<S, T> {
    known: Mutex<Vec<Arc<Made<S, T>>>>,
}

/// What was made for one shape, or why it could not be.
#[derive(Debug)]
pub(super) struct Made<S, T> {
    pub(super) shape: S,
    made: OnceLock<Result<T, Failure>>,
}

impl<S, T> Made<S, T> {
    /// What was made.
    ///
    /// # Errors
    ///
    /// Why it could not be.
    pub(super) fn get(&self) -> Result<&T, Failure> {
        let missing = || Failure::Machine("nothing was made for these arrays".to_owned());
        self.made.get().ok_or_else(missing)?.as_ref().map_err(Clone::clone)
    }
}

impl<S, T> Default for Shapes<S, T> {
    fn default() -> Self {
        Self { known: Mutex::default() }
    }
}

impl<S: PartialEq, T> Shapes<S, T> {
    /// What there is for this shape; made where it is the first like it. Others who ask for the same meanwhile wait for
    /// it, and nobody else does.
    ///
    /// # Errors
    ///
    /// Why it cannot be made; that is kept as well, but where there was no memory, of which there may be more later.
    pub(super) fn get(
        &self,
        shape: S,
        make: impl FnOnce(&S) -> Result<T, Failure>,
    ) -> Result<Arc<Made<S, T>>, Failure> {
        let found = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let found = match known.iter().position(|it| it.shape == shape) {
                Some(at) => known.remove(at),
                None => Arc::new(Made { shape, made: OnceLock::new() }),
            };
            known.insert(0, Arc::clone(&found));
            // Whoever still runs what is let go of here holds it.
            known.truncate(MOST);
            found
        };
        found.made.get_or_init(|| make(&found.shape));
        match found.get() {
            Ok(_) => Ok(found),
            Err(why) => {
                if matches!(why, Failure::OutOfMemory) {
                    let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                    known.retain(|it| !Arc::ptr_eq(it, &found));
                }
                Err(why)
            }
        }
    }

    /// Lets go of what was made for all other shapes.
    pub(super) fn keep(&self, is_kept: impl Fn(&S) -> bool) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| is_kept(&it.shape));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_shape_is_made_once_whoever_asks() {
        let (shapes, made) = (Shapes::<usize, usize>::default(), AtomicUsize::new(0));
        let twice = |&it: &usize| {
            made.fetch_add(1, Ordering::Relaxed);
            Ok(2 * it)
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for turn in 0..100 {
                        let shape = turn % 10;
                        assert_eq!(*shapes.get(shape, twice).unwrap().get().unwrap(), 2 * shape);
                    }
                });
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn those_that_nobody_asks_for_any_more_are_let_go_of() {
        let shapes = Shapes::<usize, usize>::default();
        let first = shapes.get(0, |_| Ok(7)).unwrap();
        for shape in 1..=MOST {
            shapes.get(shape, |&it| Ok(it)).unwrap();
        }
        assert_eq!(Arc::strong_count(&first), 1);
        assert_eq!(*first.get().unwrap(), 7);
        assert_eq!(*shapes.get(0, |_| Ok(8)).unwrap().get().unwrap(), 8);
        assert_eq!(*shapes.get(MOST, |_| Err(Failure::OutOfMemory)).unwrap().get().unwrap(), MOST);
    }

    #[test]
    fn why_it_cannot_be_made_is_kept_but_for_want_of_memory() {
        let shapes = Shapes::<usize, usize>::default();
        for made in [Err(Failure::Code("x".to_owned())), Ok(1)] {
            assert!(matches!(shapes.get(1, |_| made), Err(Failure::Code(_))));
        }
        assert!(matches!(shapes.get(2, |_| Err(Failure::OutOfMemory)), Err(Failure::OutOfMemory)));
        assert_eq!(*shapes.get(2, |_| Ok(3)).unwrap().get().unwrap(), 3);
    }

    #[test]
    fn what_is_of_no_use_any_more_is_let_go_of() {
        let shapes = Shapes::<usize, usize>::default();
        for shape in 0..4 {
            shapes.get(shape, |&it| Ok(it)).unwrap();
        }
        shapes.keep(|it| *it >= 2);
        assert_eq!(*shapes.get(1, |_| Ok(9)).unwrap().get().unwrap(), 9);
        assert_eq!(*shapes.get(3, |_| Ok(9)).unwrap().get().unwrap(), 3);
    }
}
