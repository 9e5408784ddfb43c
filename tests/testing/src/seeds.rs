//! Loops over the seeds of generated cases: fixed seeds in shards, and a window that each tree chooses anew.
//!
//! `ISOBAR_SEED_WINDOW` is `FIRST..LAST`, which `cargo xtask` makes of the tree's hash. The runner
//! tells a failure in the window and does not count it, since any other change could bring it. A fixed seed keeps it then.

use std::ops::Range;

/// Seeds of a window where the variable names none.
const WINDOW: u64 = 10;

/// The size that `ISOBAR_SEEDS` speaks of: a loop with half as many fixed seeds gets half as many of those as well.
pub const SEEDS: u64 = 150;

/// The fixed seeds of a loop: those that its source names, or more, where `ISOBAR_SEEDS` asks for them.
#[must_use]
pub fn fixed(named: Range<u64>) -> Range<u64> {
    more(named, std::env::var("ISOBAR_SEEDS").ok().as_deref())
}

/// The seeds of the window, which the test `window_of_the_tree` takes.
#[must_use]
pub fn window(named: Range<u64>) -> Range<u64> {
    chosen(named, std::env::var("ISOBAR_SEED_WINDOW").ok().as_deref())
}

fn more(named: Range<u64>, asked: Option<&str>) -> Range<u64> {
    let Some(asked) = asked else { return named };
    let asked: u64 = asked.parse().unwrap_or_else(|_| panic!("ISOBAR_SEEDS={asked} is no number"));
    let n = named.end - named.start;
    named.start..named.start + n.max(asked.saturating_mul(n) / SEEDS)
}

fn chosen(named: Range<u64>, window: Option<&str>) -> Range<u64> {
    let Some(window) = window else { return named.end..named.end + WINDOW };
    let bounds =
        window.split_once("..").and_then(|(first, last)| Some(first.parse().ok()?..last.parse().ok()?));
    bounds.unwrap_or_else(|| panic!("ISOBAR_SEED_WINDOW={window} is not FIRST..LAST"))
}

/// Makes a module of tests that hold all seeds of a range: `name: 0..150 in 8 shards of function;`.
///
/// The function stands beside the module and takes the seeds as `&[u64]`. Besides one test for each shard there is
/// `window_of_the_tree`, which takes other seeds for each tree.
#[macro_export]
macro_rules! over_seeds {
    ($($(#[$about:meta])* $name:ident: $first:literal..$last:literal in $count:tt shards of $hold:ident;)+) => {
        $($(#[$about])*
        mod $name {
            $crate::each_shard! {
                $count,
                |shard| super::$hold(&shard.of($crate::seeds::fixed($first..$last)).collect::<Vec<u64>>())
            }

            #[test]
            fn window_of_the_tree() {
                super::$hold(&$crate::seeds::window($first..$last).collect::<Vec<u64>>());
            }
        })+
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_seeds_are_asked_for_and_never_fewer() {
        assert_eq!(more(0..150, None), 0..150);
        assert_eq!(more(0..150, Some("20000")), 0..20_000);
        assert_eq!(more(40_000..40_030, Some("300")), 40_000..40_060);
        assert_eq!(more(0..60, Some("10")), 0..60);
    }

    #[test]
    fn the_window_is_behind_the_fixed_seeds_or_the_one_that_is_named() {
        assert_eq!(chosen(0..150, None), 150..160);
        assert_eq!(chosen(0..150, Some("7000..7020")), 7_000..7_020);
    }
}
