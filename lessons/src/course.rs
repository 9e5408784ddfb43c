//! The head of a course and the heads of its lessons.

use serde::{Deserialize, Serialize};

use crate::markdown::{self, Block};
use crate::toml::{self, TomlError};

/// A `course.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    pub title: String,
    /// One paragraph.
    pub about: String,
    pub language: String,
    /// Knowledge that the course assumes.
    #[serde(default)]
    pub prerequisites: Vec<String>,
    pub licence: String,
    /// In their order.
    #[serde(rename = "lesson")]
    pub lessons: Vec<Line>,
}

/// A lesson, as the list of a course names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Below that of the course; also the lesson's name in an address.
    pub folder: String,
    pub title: String,
    pub minutes: u32,
    /// The content of the lesson, in one line.
    pub about: String,
}

/// The head of a `lesson.md`, between two lines `+++`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LessonHead {
    /// Stays the same when a lesson is moved: progress is kept by it.
    pub id: String,
    pub title: String,
    pub minutes: u32,
    /// Abilities that the lesson teaches.
    pub goals: Vec<String>,
    /// `result` shows the picture beside the editor, `stages` the stages of the compiler.
    #[serde(default = "result")]
    pub layout: String,
    /// Stages to open, where the layout is `stages`.
    #[serde(default)]
    pub panes: Vec<String>,
    /// Ids of lessons that come before.
    #[serde(default)]
    pub needs: Vec<String>,
}

fn result() -> String {
    "result".to_owned()
}

/// A `lesson.md`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    pub head: LessonHead,
    pub blocks: Vec<Block>,
}

/// Reads a `course.toml`.
///
/// # Errors
///
/// Where it is not of its form.
pub fn read_course(text: &str) -> Result<Course, TomlError> {
    toml::read(text)
}

/// Reads a `lesson.md`.
///
/// # Errors
///
/// Where its head is not of its form.
pub fn read_lesson(text: &str) -> Result<Lesson, TomlError> {
    let whole = |message: &str| TomlError { line: 0, message: message.to_owned() };
    let rest = text.strip_prefix("+++\n").ok_or_else(|| whole("a lesson begins with a line `+++`"))?;
    let (head, body) = rest.split_once("\n+++\n").ok_or_else(|| whole("the head ends with a line `+++`"))?;
    Ok(Lesson { head: toml::read(head)?, blocks: markdown::read(body) })
}

impl Lesson {
    /// Each quiz by its id, with how many options it has and which are right.
    #[must_use]
    pub fn quizzes(&self) -> Vec<Quiz> {
        let specials = self.blocks.iter().filter_map(Quiz::of);
        specials.collect()
    }
}

/// A question with options; exactly one option is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Quiz {
    pub id: String,
    pub question: Vec<Block>,
    pub options: Vec<(bool, Vec<Block>)>,
    /// Shown once the right option is chosen.
    pub because: Vec<Block>,
}

impl Quiz {
    /// The quiz that a block is.
    #[must_use]
    pub fn of(block: &Block) -> Option<Self> {
        let Block::Special { name, args, blocks } = block else { return None };
        if name != "quiz" {
            return None;
        }
        let id = args.iter().find(|(key, _)| key == "id").map(|(_, id)| id.clone()).unwrap_or_default();
        let is_options = |it: &Block| matches!(it, Block::List { marks, .. } if !marks.is_empty());
        let at = blocks.iter().position(is_options)?;
        let Block::List { items, marks, .. } = &blocks[at] else { return None };
        let options = marks.iter().copied().zip(items.iter().cloned()).collect();
        Some(Self { id, question: blocks[..at].to_vec(), options, because: blocks[at + 1..].to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_has_a_head_and_a_body() {
        let text = "+++\nid = \"a\"\ntitle = \"A\"\nminutes = 5\ngoals = [\"see\"]\n+++\n# A\n\n::: quiz id=q\nWhich?\n\n- [ ] this\n- [x] that\n\nBecause.\n:::\n";
        let lesson = read_lesson(text).unwrap();
        assert_eq!((lesson.head.id.as_str(), lesson.head.layout.as_str()), ("a", "result"));
        let quizzes = lesson.quizzes();
        assert_eq!(quizzes.len(), 1);
        assert_eq!(quizzes[0].options.iter().map(|it| it.0).collect::<Vec<_>>(), [false, true]);
        assert_eq!((quizzes[0].question.len(), quizzes[0].because.len()), (1, 1));
        assert!(read_lesson("# no head").is_err());
    }
}
