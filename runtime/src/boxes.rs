//! Boxes of elements that a device copies between two memories.

use crate::failure::Failure;

/// A dimension of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxDimension {
    pub n: usize,
    /// The distance of neighbours in elements, where they come from.
    pub from: i64,
    /// The same where they come to.
    pub to: i64,
}

/// A copy of elements whose places form a box on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoxCopy {
    /// The position of the first element, where it comes from.
    pub from: usize,
    /// The same where it comes to.
    pub to: usize,
    /// The last one is the fastest.
    pub dimensions: Vec<BoxDimension>,
}

impl BoxCopy {
    /// The dimensions that kernels know.
    pub(crate) const DIMENSIONS: usize = 4;

    /// The number of elements.
    #[must_use]
    pub fn n(&self) -> usize {
        self.dimensions.iter().map(|it| it.n).product()
    }

    /// The same copy as copies that kernels know, each with its dimensions where `to` is closest first.
    pub(crate) fn for_kernels(&self) -> Vec<Self> {
        let mut dimensions: Vec<BoxDimension> =
            self.dimensions.iter().copied().filter(|it| it.n != 1).collect();
        dimensions.sort_by_key(|it| std::cmp::Reverse((it.to.unsigned_abs(), it.from.unsigned_abs())));
        let mut all = vec![Self { dimensions, ..self.clone() }];
        while all.iter().any(|it| it.dimensions.len() > Self::DIMENSIONS) {
            all = all.iter().flat_map(Self::without_first).collect();
        }
        all
    }

    /// One copy for each point of the first dimension.
    fn without_first(&self) -> Vec<Self> {
        let Some((first, rest)) = self.dimensions.split_first() else { return vec![self.clone()] };
        let at = |start: usize, n: usize, distance: i64| {
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            let distance = isize::try_from(n.saturating_mul(distance)).unwrap_or(isize::MAX);
            start.saturating_add_signed(distance)
        };
        let one = |n: usize| Self {
            from: at(self.from, n, first.from),
            to: at(self.to, n, first.to),
            dimensions: rest.to_vec(),
        };
        (0..first.n).map(one).collect()
    }

    /// Holds that both memories, of so many elements, have all elements of the box.
    ///
    /// # Errors
    ///
    /// Where one of them has fewer.
    pub(crate) fn fits(&self, from_elements: usize, to_elements: usize) -> Result<(), Failure> {
        let reaches = |first: usize, distance: &dyn Fn(&BoxDimension) -> i64, elements: usize| {
            let first = i128::try_from(first).unwrap_or(i128::MAX);
            let (mut least, mut most) = (first, first);
            for it in &self.dimensions {
                let last = i128::from(distance(it)) * (it.n.max(1) - 1) as i128;
                least += last.min(0);
                most += last.max(0);
            }
            least >= 0 && most < elements as i128
        };
        let is_inside = self.n() == 0
            || reaches(self.from, &|it| it.from, from_elements) && reaches(self.to, &|it| it.to, to_elements);
        is_inside.then_some(()).ok_or_else(|| {
            Failure::Machine(
                "a copy on the device leaves its memory: this is a fault of the program".to_owned(),
            )
        })
    }

    /// The numbers of a kernel: for each dimension, the fastest first, its points and both distances.
    pub(crate) fn fastest_first(&self) -> impl Iterator<Item = (u64, i64, i64)> {
        let known = self.dimensions.iter().rev().map(|it| (it.n as u64, it.from, it.to));
        known.chain(std::iter::repeat((1, 0, 0))).take(Self::DIMENSIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of all elements on both sides.
    fn places(copy: &BoxCopy) -> Vec<(i64, i64)> {
        let mut all = vec![(copy.from as i64, copy.to as i64)];
        for it in &copy.dimensions {
            let steps = 0..it.n as i64;
            all = all
                .iter()
                .flat_map(|at| steps.clone().map(move |n| (at.0 + n * it.from, at.1 + n * it.to)))
                .collect();
        }
        all.sort_unstable();
        all
    }

    fn dimension(n: usize, from: i64, to: i64) -> BoxDimension {
        BoxDimension { n, from, to }
    }

    #[test]
    fn copies_for_kernels_have_the_same_elements() {
        let dimensions = vec![
            dimension(2, 600, 1),
            dimension(3, -40, 2),
            dimension(1, 7, 7),
            dimension(2, 0, 12),
            dimension(5, 1, 24),
            dimension(2, 5, 6),
        ];
        let copy = BoxCopy { from: 200, to: 11, dimensions };
        let parts = copy.for_kernels();
        assert!(parts.iter().all(|it| it.dimensions.len() <= BoxCopy::DIMENSIONS) && parts.len() > 1);
        let mut found: Vec<_> = parts.iter().flat_map(places).collect();
        found.sort_unstable();
        assert_eq!(found, places(&copy));
        assert_eq!(BoxCopy { dimensions: Vec::new(), ..copy }.for_kernels().len(), 1);
    }

    #[test]
    fn a_copy_beyond_its_memory_is_refused() {
        let copy = BoxCopy { from: 3, to: 0, dimensions: vec![dimension(4, -1, 2)] };
        assert!(copy.fits(4, 7).is_ok());
        assert!(copy.fits(3, 7).is_err() && copy.fits(4, 6).is_err());
        let below = BoxCopy { from: 2, ..copy.clone() };
        assert!(below.fits(4, 7).is_err());
        assert!(BoxCopy { dimensions: vec![dimension(0, 9, 9)], ..copy }.fits(0, 0).is_ok());
    }
}
