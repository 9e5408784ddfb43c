//! The stages that are open, side by side.

/// Most stages side by side: more cannot be read.
pub const MOST_STAGES: usize = 3;

/// The stages that are open, at least one, and which of them the next chosen one replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenStages<S> {
    stages: Vec<S>,
    /// The position of one of them.
    active: usize,
}

impl<S: Copy + PartialEq> OpenStages<S> {
    /// This stage alone.
    #[must_use]
    pub fn one(stage: S) -> Self {
        Self { stages: vec![stage], active: 0 }
    }

    /// As many of these as can be open, the first one active; none where there are none.
    #[must_use]
    pub fn of(stages: impl IntoIterator<Item = S>) -> Option<Self> {
        let stages: Vec<S> = stages.into_iter().take(MOST_STAGES).collect();
        (!stages.is_empty()).then_some(Self { stages, active: 0 })
    }

    #[must_use]
    pub fn stages(&self) -> &[S] {
        &self.stages
    }

    /// The stage that the next chosen one replaces.
    #[must_use]
    pub fn active(&self) -> S {
        self.stages[self.active]
    }

    /// Where a stage is open.
    #[must_use]
    pub fn place(&self, stage: S) -> Option<usize> {
        self.stages.iter().position(|it| *it == stage)
    }

    #[must_use]
    pub fn is_full(&self) -> bool {
        self.stages.len() >= MOST_STAGES
    }

    /// The next chosen stage replaces this one, where it is open.
    pub fn activate(&mut self, stage: S) {
        self.active = self.place(stage).unwrap_or(self.active);
    }

    /// Brings a stage into view, in place of the active one unless it is open already.
    pub fn choose(&mut self, stage: S) {
        match self.place(stage) {
            Some(at) => self.active = at,
            None => self.stages[self.active] = stage,
        }
    }

    /// Opens one stage more: the next on the journey through `all` after the active one that is not open.
    pub fn add(&mut self, all: &[S]) {
        if self.is_full() {
            return;
        }
        let from = self.active();
        let start = all.iter().position(|it| *it == from).unwrap_or(0);
        let next = all.iter().cycle().skip(start + 1).take(all.len()).find(|it| !self.stages.contains(it));
        if let Some(&next) = next {
            self.stages.push(next);
            self.active = self.stages.len() - 1;
        }
    }

    /// Closes a stage; the last one stays.
    pub fn close(&mut self, stage: S) {
        if self.stages.iter().any(|it| *it != stage) {
            self.stages.retain(|it| *it != stage);
            self.active = self.active.min(self.stages.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 5] = ["definition", "gtir", "oir", "npir", "tree"];

    #[test]
    fn a_chosen_stage_replaces_the_active_one_unless_it_is_open() {
        let mut open = OpenStages::one("oir");
        open.choose("tree");
        assert_eq!(open.stages(), ["tree"]);
        open.add(&ALL);
        assert_eq!((open.stages(), open.active()), (&["tree", "definition"][..], "definition"));
        open.choose("tree");
        assert_eq!((open.stages().len(), open.active()), (2, "tree"));
        open.choose("npir");
        assert_eq!(open.stages(), ["npir", "definition"]);
        open.activate("definition");
        open.activate("gtir");
        assert_eq!(open.active(), "definition");
    }

    #[test]
    fn three_stages_at_most_and_one_at_least_are_open() {
        let mut open = OpenStages::one("oir");
        (0..9).for_each(|_| open.add(&ALL));
        assert_eq!(open.stages(), ["oir", "npir", "tree"]);
        assert!(open.is_full());
        for stage in ALL {
            open.close(stage);
        }
        assert_eq!((open.stages(), open.active()), (&["tree"][..], "tree"));
        assert_eq!(OpenStages::<&str>::of([]), None);
        assert_eq!(OpenStages::of(ALL).map(|it| it.stages().to_vec()), Some(ALL[..3].to_vec()));
    }
}
