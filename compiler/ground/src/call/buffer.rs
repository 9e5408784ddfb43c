//! Elements side by side in memory: our own memory, or memory that a caller lends. In our own memory, a
//! chosen element can lie at the start of a cache line.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Memory of a caller, which is neither freed nor moved here.
///
/// Two of them may lend the same elements. A run then takes a reference to one at a time, and drops it before
/// it takes the next.
pub trait LentMemory<T>: fmt::Debug + Send + Sync {
    /// All elements, from the lowest address to the highest.
    fn elements(&self) -> &[T];

    /// The same, to be written.
    fn elements_mut(&mut self) -> &mut [T];

    /// The address of the first of them; no reference to an element is made.
    fn start(&mut self) -> *mut T;
}

/// A slice in memory of its own or in lent memory. In its own memory the slice may start anywhere in the
/// allocation, so that the chosen element starts a cache line. A copy keeps this alignment. A copy of lent
/// elements has memory of its own.
pub struct Buffer<T> {
    /// The lent elements; none where they are our own.
    lent: Option<Box<dyn LentMemory<T>>>,
    /// Unused elements lie before `start` and behind the last element, together less than a line.
    all: Vec<T>,
    start: usize,
    len: usize,
    /// Copies keep the distance of the first element from a multiple of this; 0 where any place will do.
    line_bytes: usize,
}

impl<T: Copy + Default> Buffer<T> {
    /// Returns `n` zeros. The one at `first` starts at a multiple of `line_bytes`. No page of them is touched
    /// where the system hands out zeros.
    #[must_use]
    pub fn zeros_at_line(n: usize, first: usize, line_bytes: usize) -> Self {
        let before = first.wrapping_mul(size_of::<T>()) % line_bytes.max(1);
        Self::zeros_beside(n, line_bytes, (line_bytes - before) % line_bytes.max(1))
    }

    /// As many zeros as there are elements, as far from a line as they.
    #[must_use]
    pub fn zeros_like(&self) -> Self {
        let beside = self.as_ptr().addr() % self.line_bytes.max(1);
        Self::zeros_beside(self.len, self.line_bytes, beside)
    }

    /// The first lies so many bytes behind the start of a line.
    fn zeros_beside(len: usize, line_bytes: usize, beside: usize) -> Self {
        let size = size_of::<T>();
        let all = vec![T::default(); len + room(size, line_bytes)];
        // The address is a multiple of the size, which divides a line.
        let found = all.as_ptr().addr() % line_bytes.max(1);
        let start = (beside + line_bytes - found) % line_bytes.max(1) / size;
        Self { lent: None, all, start, len, line_bytes }
    }

    /// All that was allocated, in bytes; nothing where the elements are somebody else's.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.all.len() * size_of::<T>()
    }
}

impl<T> Buffer<T> {
    /// Elements that somebody lends.
    #[must_use]
    pub fn lent(lent: Box<dyn LentMemory<T>>) -> Self {
        let len = lent.elements().len();
        Self { lent: Some(lent), all: Vec::new(), start: 0, len, line_bytes: 0 }
    }

    /// Whether the elements are somebody else's.
    #[must_use]
    pub fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// The address of the first element. Of lent ones no reference is made, so that another buffer may lend the same.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        match &mut self.lent {
            None => self.all.as_mut_ptr().wrapping_add(self.start),
            Some(lent) => lent.start(),
        }
    }
}

/// How many elements of `size` bytes there are beside those that are asked for.
pub(super) fn room(size: usize, line_bytes: usize) -> usize {
    (line_bytes / size).saturating_sub(1)
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.lent {
            None => &self.all[self.start..self.start + self.len],
            Some(lent) => lent.elements(),
        }
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.lent {
            None => &mut self.all[self.start..self.start + self.len],
            Some(lent) => lent.elements_mut(),
        }
    }
}

impl<T: Copy + Default> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        if self.line_bytes == 0 {
            return self.to_vec().into();
        }
        let mut other = self.zeros_like();
        other.copy_from_slice(self);
        other
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// Wherever they lie.
impl<T> From<Vec<T>> for Buffer<T> {
    fn from(all: Vec<T>) -> Self {
        Self { lent: None, start: 0, len: all.len(), all, line_bytes: 0 }
    }
}

impl<T> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Vec::from_iter(elements).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_lies_at_a_line_as_what_it_copies() {
        for (n, first) in [(0, 0), (1, 0), (5, 3), (1000, 3), (1000, 8), (300_000, 13)] {
            let mut buffer = Buffer::<f32>::zeros_at_line(n, first, 64);
            buffer.iter_mut().zip((0_u16..1000).cycle()).for_each(|(to, from)| *to = from.into());
            // Others lie between them, so that the copies have other places than they.
            let copies: Vec<_> = (1..9).map(|between| (buffer.clone(), vec![0_u8; 24 * between])).collect();
            for it in copies.iter().map(|it| &it.0).chain([&buffer]) {
                assert_eq!(*it, buffer);
                assert_eq!(it.as_ptr().wrapping_add(first).addr() % 64, 0, "{n} {first}");
                assert_eq!(it.bytes(), (n + 15) * 4);
            }
            assert!(buffer.zeros_like().iter().all(|it| it.to_bits() == 0));
        }
    }

    #[derive(Debug)]
    struct Borrowed(Vec<i32>);

    impl LentMemory<i32> for Borrowed {
        fn elements(&self) -> &[i32] {
            &self.0
        }

        fn elements_mut(&mut self) -> &mut [i32] {
            &mut self.0
        }

        fn start(&mut self) -> *mut i32 {
            self.0.as_mut_ptr()
        }
    }

    #[test]
    fn lent_elements_are_written_where_they_are_and_a_copy_is_its_own() {
        let lent = Borrowed(vec![1, 2, 3]);
        let address = lent.0.as_ptr().addr();
        let mut buffer = Buffer::lent(Box::new(lent));
        let copy = buffer.clone();
        buffer[1] = 7;
        assert_eq!((&buffer[..], &copy[..], buffer.bytes()), (&[1, 7, 3][..], &[1, 2, 3][..], 0));
        assert_eq!((buffer.as_mut_ptr().addr(), buffer.as_ptr().addr()), (address, address));
        assert_ne!(copy.as_ptr().addr(), address);
    }

    #[test]
    fn elements_that_are_given_stay_where_they_are() {
        let given = vec![1_i64, 2, 3];
        let address = given.as_ptr().addr();
        let buffer = Buffer::from(given);
        assert_eq!((buffer.as_ptr().addr(), &buffer[..], buffer.bytes()), (address, &[1, 2, 3][..], 24));
        assert_eq!(buffer.clone(), buffer);
        assert_eq!((0..3).collect::<Buffer<i8>>().len(), 3);
    }
}
