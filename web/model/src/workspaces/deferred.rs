//! Changes that are kept soon: once for all changes of a moment, and not later for those that follow.

/// The delay after which changes are kept. It counts from the first change, not from the last, so that a user
/// who types without a pause loses no more.
pub const LONGEST_MS: f64 = 250.0;

/// Something that is kept soon after each change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SaveDelay {
    /// The time of the first change that is not kept yet.
    since_ms: Option<f64>,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SaveEvent {
    /// There is a change, at this time.
    Changed(f64),
    /// The time has come that was waited for.
    Due,
}

/// The next thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveEffect {
    /// Tell when [`LONGEST_MS`] are over.
    Wait,
    /// Keep all changes, and wait no longer.
    Save,
}

impl SaveDelay {
    /// Takes an event, and tells what the page has to do now.
    pub fn take(&mut self, event: SaveEvent) -> Option<SaveEffect> {
        match (event, self.since_ms) {
            (SaveEvent::Changed(now), None) => {
                self.since_ms = Some(now);
                Some(SaveEffect::Wait)
            }
            // A timer that is due can be kept waiting by keys.
            (SaveEvent::Changed(now), Some(since)) if now - since <= LONGEST_MS => None,
            (SaveEvent::Changed(_) | SaveEvent::Due, _) => {
                self.since_ms = None;
                Some(SaveEffect::Save)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_kept_once_a_moment_after_the_first() {
        let mut delay = SaveDelay::default();
        assert_eq!(delay.take(SaveEvent::Changed(0.0)), Some(SaveEffect::Wait));
        assert_eq!(delay.take(SaveEvent::Changed(100.0)), None);
        assert_eq!(delay.take(SaveEvent::Due), Some(SaveEffect::Save));
        assert_eq!(delay.take(SaveEvent::Changed(300.0)), Some(SaveEffect::Wait));
    }

    #[test]
    fn keys_that_hold_the_timer_up_keep_nothing_waiting() {
        let mut delay = SaveDelay::default();
        delay.take(SaveEvent::Changed(0.0));
        assert_eq!(delay.take(SaveEvent::Changed(250.0)), None);
        assert_eq!(delay.take(SaveEvent::Changed(251.0)), Some(SaveEffect::Save));
        assert_eq!(delay.take(SaveEvent::Changed(252.0)), Some(SaveEffect::Wait));
    }
}
