//! The stages that are open, side by side.

use isobar_compiler::pipeline::Stage;

/// Most stages side by side: more cannot be read.
pub const MOST_STAGES: usize = 3;

/// The stages that are open, and which of them the next chosen one replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenStages {
    pub stages: Vec<Stage>,
    pub active: usize,
}

impl Default for OpenStages {
    fn default() -> Self {
        Self { stages: vec![Stage::OIR], active: 0 }
    }
}

impl OpenStages {
    /// Brings a stage into view, in place of the active one unless it is open already.
    pub fn choose(&mut self, stage: Stage) {
        match self.stages.iter().position(|it| *it == stage) {
            Some(at) => self.active = at,
            None => match self.stages.get_mut(self.active) {
                Some(slot) => *slot = stage,
                None => self.stages.push(stage),
            },
        }
    }

    /// Opens one stage more: the next on the journey after the active one that is not open.
    pub fn add(&mut self) {
        if self.stages.len() >= MOST_STAGES {
            return;
        }
        let from = self.stages.get(self.active).copied().unwrap_or(Stage::DEFINITION);
        let start = Stage::ALL.iter().position(|it| *it == from).unwrap_or(0);
        let next = Stage::ALL.iter().cycle().skip(start + 1).find(|it| !self.stages.contains(it));
        if let Some(&next) = next {
            self.stages.push(next);
            self.active = self.stages.len() - 1;
        }
    }

    /// Closes a stage; the last one stays.
    pub fn close(&mut self, stage: Stage) {
        if self.stages.len() > 1 {
            self.stages.retain(|it| *it != stage);
            self.active = self.active.min(self.stages.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_stage_replaces_the_active_one_unless_it_is_open() {
        let mut open = OpenStages::default();
        open.choose(Stage::WGSL);
        assert_eq!(open.stages, [Stage::WGSL]);
        open.add();
        assert_eq!(open.stages, [Stage::WGSL, Stage::DEFINITION]);
        open.choose(Stage::WGSL);
        assert_eq!((open.stages.len(), open.active), (2, 0));
        open.choose(Stage::SDFG);
        assert_eq!(open.stages, [Stage::SDFG, Stage::DEFINITION]);
    }

    #[test]
    fn three_stages_at_most_and_one_at_least_are_open() {
        let mut open = OpenStages::default();
        (0..9).for_each(|_| open.add());
        assert_eq!(open.stages, [Stage::OIR, Stage::NPIR, Stage::TREE]);
        for stage in Stage::ALL {
            open.close(stage);
        }
        assert_eq!((open.stages.len(), open.active), (1, 0));
    }
}
