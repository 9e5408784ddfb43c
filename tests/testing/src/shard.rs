//! Shards: one loop over independent cases as several tests, which run beside each other.

/// One of several tests that share a list of cases. They take the cases in turn, so that each gets cheap and dear ones.
#[derive(Clone, Copy, Debug)]
pub struct Shard {
    /// From 0, below `count`.
    pub number: usize,
    pub count: usize,
}

impl Shard {
    /// All cases at once.
    pub const WHOLE: Self = Self { number: 0, count: 1 };

    /// The cases of this shard, in their order.
    pub fn of<T>(self, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        cases.into_iter().skip(self.number).step_by(self.count)
    }
}

/// Makes a module with one test for each shard: `name: 4 shards of function;`.
///
/// The function stands beside the module and takes a [`Shard`].
#[macro_export]
macro_rules! shards {
    ($($(#[$about:meta])* $name:ident: $count:tt shards of $hold:ident;)+) => {
        $($(#[$about])*
        mod $name {
            $crate::each_shard! { $count, |shard| super::$hold(shard) }
        })+
    };
}

/// The tests of [`shards!`] and [`over_seeds!`](crate::over_seeds).
#[doc(hidden)]
#[macro_export]
macro_rules! each_shard {
    (2, |$shard:ident| $hold:expr) => {
        $crate::each_shard! { @ 2, |$shard| $hold, shard_1 0, shard_2 1 }
    };
    (3, |$shard:ident| $hold:expr) => {
        $crate::each_shard! { @ 3, |$shard| $hold, shard_1 0, shard_2 1, shard_3 2 }
    };
    (4, |$shard:ident| $hold:expr) => {
        $crate::each_shard! { @ 4, |$shard| $hold, shard_1 0, shard_2 1, shard_3 2, shard_4 3 }
    };
    (6, |$shard:ident| $hold:expr) => {
        $crate::each_shard! {
            @ 6, |$shard| $hold, shard_1 0, shard_2 1, shard_3 2, shard_4 3, shard_5 4, shard_6 5
        }
    };
    (8, |$shard:ident| $hold:expr) => {
        $crate::each_shard! {
            @ 8, |$shard| $hold,
            shard_1 0, shard_2 1, shard_3 2, shard_4 3, shard_5 4, shard_6 5, shard_7 6, shard_8 7
        }
    };
    (16, |$shard:ident| $hold:expr) => {
        $crate::each_shard! {
            @ 16, |$shard| $hold,
            shard_1 0, shard_2 1, shard_3 2, shard_4 3, shard_5 4, shard_6 5, shard_7 6, shard_8 7,
            shard_9 8, shard_10 9, shard_11 10, shard_12 11, shard_13 12, shard_14 13, shard_15 14, shard_16 15
        }
    };
    (@ $count:literal, |$shard:ident| $hold:expr, $($test:ident $number:literal),+) => {
        $(#[test]
        fn $test() {
            let $shard = $crate::Shard { number: $number, count: $count };
            $hold
        })+
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_each_case_once() {
        for count in [1, 3, 8] {
            let mut all: Vec<u64> = (0..count).flat_map(|number| Shard { number, count }.of(5..25)).collect();
            all.sort_unstable();
            assert_eq!(all, (5..25).collect::<Vec<_>>());
        }
    }
}
