//! Which moments of a level can be looked at: before its passes, after each of them, after all.

use isobar_protocol::passes::PassStep;

/// The moment that a pane shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// The level that goes on: what a pane shows where nobody picks.
    #[default]
    AfterAll,
    /// As it was lowered.
    BeforeAll,
    Pass(String),
}

/// Everything that can be picked in the pane of a level, in order.
#[must_use]
pub fn picks(stage: &str, steps: &[PassStep]) -> Vec<Pick> {
    let of_stage = steps.iter().filter(|it| it.stage == stage);
    let passes = of_stage.map(|it| Pick::Pass(it.pass.clone()));
    [Pick::BeforeAll].into_iter().chain(passes).chain([Pick::AfterAll]).collect()
}

/// The pick before or after `from`; of those that changed something, where `is_change` tells which did.
#[must_use]
pub fn next_pick(all: &[Pick], from: &Pick, by: isize, is_change: impl Fn(&str) -> bool) -> Option<Pick> {
    let mut at = all.iter().position(|it| it == from)?;
    loop {
        at = at.checked_add_signed(by)?;
        match all.get(at)? {
            Pick::Pass(pass) if !is_change(pass) => {}
            found => return Some(found.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(name: &str) -> Pick {
        Pick::Pass(name.to_owned())
    }

    #[test]
    fn passes_are_gone_through_one_by_one_or_from_change_to_change() {
        let all = [Pick::BeforeAll, pass("a"), pass("b"), pass("c"), Pick::AfterAll];
        assert_eq!(next_pick(&all, &Pick::AfterAll, -1, |_| true), Some(pass("c")));
        assert_eq!(next_pick(&all, &Pick::AfterAll, -1, |it| it == "a"), Some(pass("a")));
        assert_eq!(next_pick(&all, &pass("a"), 1, |it| it == "a"), Some(Pick::AfterAll));
        assert_eq!(next_pick(&all, &Pick::AfterAll, 1, |_| true), None);
    }
}
