//! Finds the fastest of several contestants. All are called in turn. After each heat the slower half is out.

use isobar_protocol::bench::Samples;

/// Rounds of each heat; those of the last are as many as `isobar bench` has.
const HEATS: [u32; 4] = [3, 5, 9, 31];
/// As many stay at least.
const FINALISTS: usize = 4;

/// More than this is not worth another schedule: of the median, and of the end of the interval in which it lies.
const WORTH: f64 = 0.98;
const CERTAIN: f64 = 0.99;

/// The times of all contestants, in the order of their rounds. One that is out has fewer times than the
/// first, which never is out.
#[derive(Debug, Default)]
pub(super) struct Times {
    ms: Vec<Vec<f64>>,
    /// The rounds before the last heat; none where it was not begun.
    before_final: Option<usize>,
}

/// Calls `n` contestants in turn, and tells how long each took. `begin` is asked before each round
/// whether it goes on.
pub(super) fn contest<E>(
    n: usize,
    mut begin: impl FnMut() -> bool,
    mut call: impl FnMut(usize) -> Result<f64, E>,
) -> Result<Times, E> {
    let mut times = Times { ms: vec![Vec::new(); n], before_final: None };
    let mut left: Vec<usize> = (0..n).collect();
    for (heat, rounds) in HEATS.into_iter().enumerate() {
        let is_last = heat + 1 == HEATS.len();
        // Nobody would be out behind it.
        if !is_last && left.len() <= FINALISTS {
            continue;
        }
        if is_last {
            times.before_final = times.ms.first().map(Vec::len);
        }
        for _ in 0..rounds {
            if !begin() {
                return Ok(times);
            }
            // Each comes first in some rounds, and behind each of the others.
            left.rotate_left(1);
            for &it in &left {
                let ms = call(it)?;
                times.ms[it].push(ms);
            }
        }
        if !is_last {
            left = times.faster_half(left);
        }
    }
    Ok(times)
}

impl Times {
    fn faster_half(&self, mut left: Vec<usize>) -> Vec<usize> {
        let stays = left.len().div_ceil(2).max(FINALISTS);
        let median = |it: usize| self.ratio(it).map_or(f64::INFINITY, |it| it.median_ms);
        left.sort_by(|&one, &other| median(one).total_cmp(&median(other)).then(one.cmp(&other)));
        let (mut in_front, behind) = (left[..stays].to_vec(), &left[stays..]);
        // The first always stays, because the others are compared with it.
        if behind.contains(&0) {
            in_front[stays - 1] = 0;
        }
        in_front.sort_unstable();
        in_front
    }

    pub(super) fn calls(&self, it: usize) -> Option<Samples> {
        Samples::of(self.ms[it].clone())
    }

    /// Of each round, the time of one as a part of that of the first: what disturbs a round disturbs both.
    pub(super) fn ratio(&self, it: usize) -> Option<Samples> {
        self.ratio_from(it, 0)
    }

    fn ratio_from(&self, it: usize, round: usize) -> Option<Samples> {
        let both = self.ms[it].iter().zip(&self.ms[0]).skip(round);
        Samples::of(both.filter(|both| *both.1 > 0.0).map(|(one, first)| one / first).collect())
    }

    /// All but the first, the fastest first: those of the last heat, then those that were out later.
    pub(super) fn ranking(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (1..self.ms.len()).collect();
        let median = |it: usize| self.ratio(it).map_or(f64::INFINITY, |it| it.median_ms);
        all.sort_by(|&one, &other| {
            let rounds = self.ms[other].len().cmp(&self.ms[one].len());
            rounds.then(median(one).total_cmp(&median(other))).then(one.cmp(&other))
        });
        all
    }

    /// The one that is faster than the first for certain, and worth it. The last heat alone decides: who came there
    /// was lucky, perhaps, in those before.
    pub(super) fn fastest(&self) -> Option<usize> {
        let from = self.before_final?;
        let of = |it: usize| self.ratio_from(it, from).filter(|it| it.ms.len() >= 6).map(|ratio| (it, ratio));
        let all = (1..self.ms.len()).filter_map(of);
        let best = all.min_by(|one, other| one.1.median_ms.total_cmp(&other.1.median_ms));
        best.filter(|(_, it)| it.median_ms < WORTH && it.high_ms < CERTAIN).map(|it| it.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// The times and numbers of calls of contestants of constant speed. Each call is slightly disturbed.
    fn held(ms: &[f64], most_rounds: usize) -> (Times, Vec<usize>) {
        let mut rounds = 0;
        let mut calls = vec![0; ms.len()];
        let begin = || {
            rounds += 1;
            rounds <= most_rounds
        };
        let mut n = 0_u32;
        let times = contest(ms.len(), begin, |it| {
            calls[it] += 1;
            n += 1;
            Ok::<_, Infallible>(ms[it] * (1.0 + f64::from(n % 7) / 1000.0))
        });
        (times.unwrap_or_default(), calls)
    }

    #[test]
    fn the_slower_half_is_out_after_each_heat_and_the_first_never_is() {
        let ms = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0];
        let (times, calls) = held(&ms, usize::MAX);
        // Eight of sixteen go on, then four. The first is among the four, and the fastest three take the
        // other places.
        assert_eq!(calls, [39, 8, 8, 8, 8, 39, 39, 39, 3, 3, 3, 3, 3, 3, 3, 3]);
        assert_eq!(times.fastest(), Some(7));
        assert_eq!(times.ranking()[..4], [7, 6, 5, 4]);
        assert!(times.ratio(7).is_some_and(|it| (it.median_ms - 2.0 / 9.0).abs() < 0.01));
    }

    #[test]
    fn what_is_no_faster_for_certain_is_not_chosen() {
        assert_eq!(held(&[1.0, 0.99, 1.2], usize::MAX).0.fastest(), None);
        assert_eq!(held(&[1.0, 0.9, 1.2], usize::MAX).0.fastest(), Some(1));
        // Three rounds say nothing.
        assert_eq!(held(&[1.0, 0.5], 3).0.fastest(), None);
        assert_eq!(held(&[1.0], usize::MAX).0.fastest(), None);
    }

    #[test]
    fn luck_before_the_last_heat_decides_nothing() {
        let mut calls = 0;
        let times = contest(
            6,
            || true,
            |it| {
                calls += 1;
                // The second is fast as long as all are there.
                Ok::<_, Infallible>(if it == 1 && calls <= 18 { 1.0 } else { 10.0 })
            },
        );
        let times = times.unwrap_or_default();
        assert_eq!((times.ranking()[0], times.fastest()), (1, None));
    }

    #[test]
    fn a_disturbed_round_disturbs_both() {
        let mut round = 0.0;
        let times = contest(
            2,
            || true,
            |it| {
                round += 0.5;
                Ok::<_, Infallible>(if it == 0 { 10.0 * round } else { 9.0 * round })
            },
        );
        let times = times.unwrap_or_default();
        let ratio = times.ratio(1).expect("there were rounds");
        assert!((0.8..1.0).contains(&ratio.median_ms), "{ratio:?}");
    }

    #[test]
    fn who_has_no_time_ends_between_two_rounds() {
        let (times, calls) = held(&[2.0, 1.0, 1.0, 1.0, 1.0], 4);
        assert_eq!(calls.iter().max(), Some(&4));
        assert_eq!(times.fastest(), None);
    }
}
