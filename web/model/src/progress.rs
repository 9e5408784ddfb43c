//! The progress of a learner: kept in this browser, exported and imported as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LearningProgress {
    /// The version of this form.
    pub version: u32,
    /// By `course/id`.
    pub lessons: BTreeMap<String, LessonProgress>,
}

/// The progress in a lesson.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    pub is_passed: bool,
    /// How often it was checked, and how many hints were taken.
    pub checks: u32,
    pub hints: u32,
    /// The learner's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// The answers by the name of their question; those of quizzes are `right` or `wrong`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
    /// The chosen options of quizzes, from 0.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub chosen: BTreeMap<String, usize>,
}

/// More hints than this show the solution.
pub const HINTS_TO_SOLUTION: u32 = 3;

impl LessonProgress {
    /// Whether the solution may be looked at.
    #[must_use]
    pub fn may_see_solution(&self) -> bool {
        self.is_passed || self.hints >= HINTS_TO_SOLUTION
    }
}

impl LearningProgress {
    /// As it is kept and handed out.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Reads progress from a text; none if the text is no such file.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let found: Self = serde_json::from_str(text).ok()?;
        (found.version == 1).then_some(found)
    }

    /// The kept progress, with the lessons that changed here since `before`.
    #[must_use]
    pub fn changes_since(&self, before: &Self, kept: Self) -> Self {
        let mut all = Self { version: self.version, ..kept };
        for (name, done) in &self.lessons {
            if before.lessons.get(name) != Some(done) || !all.lessons.contains_key(name) {
                all.lessons.insert(name.clone(), done.clone());
            }
        }
        all
    }

    /// Takes in what another browser knew: what was passed in one of the two is passed.
    pub fn merge(&mut self, other: Self) {
        for (name, theirs) in other.lessons {
            let ours = self.lessons.entry(name).or_default();
            let is_passed = ours.is_passed || theirs.is_passed;
            // A draft of one's own is not written over.
            let draft = ours.draft.take().or_else(|| theirs.draft.clone());
            if theirs.is_passed && !ours.is_passed {
                *ours = theirs;
            }
            ours.is_passed = is_passed;
            ours.draft = draft;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(is_passed: bool, draft: Option<&str>) -> LessonProgress {
        LessonProgress { is_passed, draft: draft.map(str::to_owned), ..LessonProgress::default() }
    }

    #[test]
    fn progress_survives_its_way_out_and_in() {
        let mut progress = LearningProgress { version: 1, ..LearningProgress::default() };
        progress.lessons.insert("a/b".to_owned(), done(true, Some("x")));
        assert_eq!(LearningProgress::from_json(&progress.to_json()), Some(progress));
        assert_eq!(LearningProgress::from_json("{}"), None);
        assert_eq!(LearningProgress::from_json("no"), None);
    }

    #[test]
    fn what_another_tab_wrote_stays_where_nothing_changed_here() {
        let of = |rows: &[(&str, &str)]| LearningProgress {
            version: 1,
            lessons: rows.iter().map(|(name, text)| ((*name).to_owned(), done(false, Some(text)))).collect(),
        };
        let before = of(&[("a", "1"), ("b", "1")]);
        let ours = of(&[("a", "2"), ("b", "1")]);
        let kept = of(&[("a", "1"), ("b", "theirs"), ("c", "theirs")]);
        let all = of(&[("a", "2"), ("b", "theirs"), ("c", "theirs")]);
        assert_eq!(ours.changes_since(&before, kept), all);
        assert_eq!(
            ours.changes_since(&before, LearningProgress::default()),
            ours,
            "storage that has nothing gets all"
        );
    }

    #[test]
    fn what_is_taken_in_takes_nothing_away() {
        let mut ours = LearningProgress { version: 1, ..LearningProgress::default() };
        ours.lessons.insert("a".to_owned(), done(true, Some("mine")));
        ours.lessons.insert("b".to_owned(), done(false, Some("mine")));
        let mut theirs = ours.clone();
        theirs.lessons.insert("a".to_owned(), done(false, Some("theirs")));
        theirs.lessons.insert("b".to_owned(), done(true, Some("theirs")));
        theirs.lessons.insert("c".to_owned(), done(true, None));
        ours.merge(theirs);
        assert_eq!(ours.lessons["a"], done(true, Some("mine")));
        assert_eq!(ours.lessons["b"], done(true, Some("mine")));
        assert_eq!(ours.lessons["c"], done(true, None));
    }

    #[test]
    fn the_solution_comes_after_passing_or_three_hints() {
        assert!(!done(false, None).may_see_solution());
        assert!(done(true, None).may_see_solution());
        assert!(LessonProgress { hints: 3, ..LessonProgress::default() }.may_see_solution());
    }
}
