//! The few texts that quick storage has; the database has all.

/// More texts than these are in the database alone.
const MOST_RECENT: usize = 5;

/// The names of those texts, the last one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recent(Vec<String>);

impl Recent {
    /// Reads the list as it is kept, and puts this text in front.
    #[must_use]
    pub fn with(kept: &str, id: &str) -> Self {
        let before = kept.split(' ').filter(|it| !it.is_empty() && *it != id);
        Self(std::iter::once(id).chain(before).map(str::to_owned).collect())
    }

    /// Leaves out those that are too many.
    pub fn forget_old(&mut self) -> Vec<String> {
        self.0.split_off(self.0.len().min(MOST_RECENT))
    }

    /// All but the last one.
    #[must_use]
    pub fn others(&self) -> &[String] {
        self.0.get(1..).unwrap_or_default()
    }

    /// The list as it is kept.
    #[must_use]
    pub fn kept(&self) -> String {
        self.0.join(" ")
    }
}
