//! Arrays in the buffers that a device binds: one in each where there are enough buffers, otherwise several
//! in one.
//!
//! A device binds few buffers at a time, and distinguishes buffers that are only read. So temporaries of a
//! type share a buffer first, then fields of a type that are only read, then those that are written.

use crate::entity::Handle;
use crate::loops::nodes::Array;

/// An array that has to lie in memory of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedArray<C> {
    pub array: Handle<Array>,
    /// The class of its elements there; all arrays of a buffer have one class.
    pub class: C,
    pub is_written: bool,
    /// Whether the run makes it.
    pub is_own: bool,
}

/// A buffer, and what lies in it, one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBuffer<C> {
    pub class: C,
    pub is_written: bool,
    pub is_own: bool,
    pub arrays: Vec<Handle<Array>>,
}

/// Packs arrays into at most `most` buffers, where that is possible.
#[must_use]
pub fn pack<C: Copy + PartialEq>(items: &[PackedArray<C>], most: usize) -> Vec<PackedBuffer<C>> {
    // Which arrays share a buffer with arrays of their kind: more of them at each step.
    let together: [fn(&PackedArray<C>) -> bool; 4] =
        [|_| false, |it| it.is_own, |it| it.is_own || !it.is_written, |_| true];
    let mut packed = Vec::new();
    for is_together in together {
        packed = with(items, is_together);
        if packed.len() <= most {
            break;
        }
    }
    packed
}

fn with<C: Copy + PartialEq>(
    items: &[PackedArray<C>],
    is_together: fn(&PackedArray<C>) -> bool,
) -> Vec<PackedBuffer<C>> {
    let mut buffers: Vec<(bool, PackedBuffer<C>)> = Vec::new();
    for it in items {
        let shares = is_together(it);
        let alike = buffers.iter_mut().find(|(shared, other)| {
            let same =
                (other.class == it.class, other.is_written == it.is_written, other.is_own == it.is_own);
            shares && *shared && same == (true, true, true)
        });
        match alike {
            Some((_, buffer)) => buffer.arrays.push(it.array),
            None => {
                let &PackedArray { array, class, is_written, is_own } = it;
                buffers.push((shares, PackedBuffer { class, is_written, is_own, arrays: vec![array] }));
            }
        }
    }
    buffers.into_iter().map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items() -> Vec<PackedArray<char>> {
        let item = |array, class, is_written, is_own| {
            let array = Handle::new(array);
            PackedArray { array, class, is_written, is_own }
        };
        vec![
            item(0, 'd', false, false),
            item(1, 'd', false, false),
            item(2, 's', false, false),
            item(3, 'd', true, false),
            item(4, 'd', true, false),
            item(5, 'd', true, true),
            item(6, 'd', true, true),
        ]
    }

    fn packed(most: usize) -> Vec<Vec<usize>> {
        let numbers = |it: PackedBuffer<char>| it.arrays.into_iter().map(Handle::index).collect();
        pack(&items(), most).into_iter().map(numbers).collect()
    }

    #[test]
    fn arrays_share_a_buffer_where_there_are_too_few() {
        assert_eq!(packed(7).len(), 7);
        assert_eq!(packed(6), [vec![0], vec![1], vec![2], vec![3], vec![4], vec![5, 6]]);
        assert_eq!(packed(5), [vec![0, 1], vec![2], vec![3], vec![4], vec![5, 6]]);
        assert_eq!(packed(4), [vec![0, 1], vec![2], vec![3, 4], vec![5, 6]]);
        // There are not fewer kinds.
        assert_eq!(packed(1), packed(4));
    }
}
