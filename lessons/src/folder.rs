//! Proves a course: its texts can be read, its links hold, each solution passes, each start fails, in time.

use std::collections::{BTreeMap, BTreeSet};

use isobar_compiler::session::Session;
use isobar_protocol::lesson::{LessonResult, Task};
use isobar_protocol::request::Request;

use crate::check::{self, Outcome};
use crate::course::{self, Course, Lesson};
use crate::glossary::Glossary;
use crate::markdown::{Block, Inline};

/// The names outside of the course that its lessons may use.
#[derive(Clone, Debug, Default)]
pub struct ReferenceTargets {
    pub glossary: Glossary,
    /// Pages of the manual, and the ids of the headings of each.
    pub manual: BTreeMap<String, BTreeSet<String>>,
    /// Drawings, and entries of the gallery.
    pub figures: BTreeSet<String>,
    pub gallery: BTreeSet<String>,
    /// Names of the compiler's stages.
    pub stages: BTreeSet<String>,
}

/// The files of a lesson.
#[derive(Clone, Debug, Default)]
pub struct Files {
    pub lesson: String,
    pub start: String,
    pub solution: String,
    pub checks: String,
}

/// Lists the mistakes in a lesson that its author has to mend.
pub fn prove(course: &Course, line: &course::Line, files: &Files, around: &ReferenceTargets) -> Vec<String> {
    let lesson = match course::read_lesson(&files.lesson) {
        Ok(lesson) => lesson,
        Err(error) => return vec![format!("lesson.md: {error}")],
    };
    let mut findings = of_texts(course, line, &lesson, around);
    let right: BTreeMap<String, String> =
        lesson.quizzes().into_iter().map(|it| (it.id, "right".to_owned())).collect();
    match checked(&files.solution, files, &right) {
        Ok(outcome) => {
            let failed = outcome.verdicts.iter().filter(|it| !it.is_passed);
            findings.extend(failed.map(|it| format!("solution.py: {}: {}", it.title, it.message)));
            if outcome.verdicts.is_empty() {
                findings.push("checks.toml: there is no check".to_owned());
            }
        }
        Err(error) => findings.push(error),
    }
    // A start fails by its text alone, or where a lesson has nothing but questions, by having no answer.
    let is_of_questions =
        check::read(&files.checks).is_ok_and(|it| it.checks.iter().all(|it| it.kind.is_question()));
    let answers = if is_of_questions { BTreeMap::new() } else { right };
    match checked(&files.start, files, &answers) {
        Ok(outcome) => {
            let checked = LessonResult { verdicts: outcome.verdicts, shown: None };
            if checked.is_passed() {
                findings.push("start.py: it passes already".to_owned());
            }
            for verdict in checked.verdicts.iter().filter(|it| !it.is_passed && it.message.len() < 20) {
                findings.push(format!("start.py: `{}` says too little", verdict.title));
            }
        }
        Err(error) => findings.push(error),
    }
    findings
}

/// Holds a text against a lesson; questions are answered as the lesson wants, quizzes as told.
///
/// # Errors
///
/// Where the lesson is at fault.
pub fn checked(text: &str, files: &Files, quizzes: &BTreeMap<String, String>) -> Result<Outcome, String> {
    let mut answers = quizzes.clone();
    if !quizzes.is_empty() || text == files.solution {
        answers.extend(check::answers(&files.checks).map_err(|it| format!("checks.toml: {it}"))?);
    }
    let request = Request {
        files: [("main.py".to_owned(), text.to_owned())].into(),
        main: Some("main.py".to_owned()),
        ..Request::default()
    };
    let task = Task { request, solution: files.solution.clone(), checks: files.checks.clone(), answers };
    check::check(&mut Session::new(), &task)
}

/// The blocks that a lesson may have, beside those of Markdown.
const BLOCKS: [&str; 9] = ["task", "hint", "note", "peek", "quiz", "try", "more", "figure", "answer"];

fn of_texts(course: &Course, line: &course::Line, lesson: &Lesson, around: &ReferenceTargets) -> Vec<String> {
    let mut findings = Vec::new();
    let head = &lesson.head;
    if head.title != line.title || head.minutes != line.minutes {
        findings.push("lesson.md: title and minutes differ from those in course.toml".to_owned());
    }
    if !(5..=12).contains(&head.minutes) {
        findings.push(format!("lesson.md: {} minutes are not 5 to 12", head.minutes));
    }
    if head.goals.is_empty() {
        findings.push("lesson.md: it has no goals".to_owned());
    }
    if !["result", "stages"].contains(&head.layout.as_str()) {
        findings.push(format!("lesson.md: there is no layout `{}`", head.layout));
    }
    for stage in head.panes.iter().filter(|it| !around.stages.contains(*it)) {
        findings.push(format!("lesson.md: there is no stage `{stage}`"));
    }
    let here = course.lessons.iter().position(|it| it.folder == line.folder).unwrap_or(0);
    for need in &head.needs {
        let is_before = course.lessons[..here].iter().any(|it| it.folder.ends_with(need.as_str()));
        if !is_before {
            findings.push(format!("lesson.md: it needs `{need}`, which does not come before"));
        }
    }
    let mut seen = BTreeSet::new();
    let mut hints = 0;
    let mut tasks = 0;
    each_block(&lesson.blocks, &mut |block| {
        if let Block::Special { name, args, .. } = block {
            let arg = |key: &str| args.iter().find(|it| it.0 == key).map_or("", |it| it.1.as_str());
            hints += usize::from(name == "hint");
            tasks += usize::from(name == "task");
            if !BLOCKS.contains(&name.as_str()) {
                findings.push(format!("lesson.md: there is no block `::: {name}`"));
            }
            match name.as_str() {
                "peek" if !around.stages.contains(arg("stage")) => {
                    findings.push(format!("lesson.md: `::: peek` names no stage: `{}`", arg("stage")));
                }
                "figure" if !around.figures.contains(arg("name")) => {
                    findings.push(format!("lesson.md: there is no figure `{}`", arg("name")));
                }
                "quiz" | "answer" if arg("id").is_empty() || !seen.insert(arg("id").to_owned()) => {
                    findings.push(format!("lesson.md: `::: {name}` has no id of its own"));
                }
                _ => {}
            }
        }
        each_inline(block, &mut |inline| match inline {
            Inline::Term { word, .. } if around.glossary.term(word).is_none() => {
                findings.push(format!("lesson.md: the glossary has no word `{word}`"));
            }
            Inline::Link { to, .. } if !is_link(to, course, around) => {
                findings.push(format!("lesson.md: `{to}` leads nowhere"));
            }
            _ => {}
        });
    });
    if tasks == 0 {
        findings.push("lesson.md: it has no `::: task`".to_owned());
    }
    if hints < 2 {
        findings.push("lesson.md: it has fewer than two hints".to_owned());
    }
    for quiz in lesson.quizzes() {
        if quiz.options.len() < 2 || quiz.options.iter().filter(|it| it.0).count() != 1 {
            findings.push(format!("lesson.md: the quiz `{}` has not one right answer of several", quiz.id));
        }
    }
    findings
}

/// Whether a link of a lesson leads to something that the page has.
fn is_link(to: &str, course: &Course, around: &ReferenceTargets) -> bool {
    if to.starts_with("https://") {
        return true;
    }
    let Some(route) = to.strip_prefix("#/") else { return false };
    let parts: Vec<&str> = route.split('/').collect();
    match parts.as_slice() {
        ["learn"] | ["gallery"] | ["manual"] => true,
        ["learn", _, folder] => course.lessons.iter().any(|it| it.folder == *folder),
        ["gallery", name] => around.gallery.contains(*name),
        ["manual", page] => around.manual.contains_key(*page),
        ["manual", page, heading] => around.manual.get(*page).is_some_and(|it| it.contains(*heading)),
        _ => false,
    }
}

/// Calls back for each block, the outer ones first.
pub fn each_block<'b>(blocks: &'b [Block], each: &mut impl FnMut(&'b Block)) {
    fn visit<'b>(blocks: &'b [Block], each: &mut dyn FnMut(&'b Block)) {
        for block in blocks {
            each(block);
            match block {
                Block::Special { blocks, .. } | Block::Quote(blocks) => visit(blocks, each),
                Block::List { items, .. } => items.iter().for_each(|it| visit(it, each)),
                Block::Heading { .. }
                | Block::Paragraph(_)
                | Block::Code { .. }
                | Block::Table { .. }
                | Block::Rule => {}
            }
        }
    }
    visit(blocks, each);
}

fn each_inline<'b>(block: &'b Block, each: &mut impl FnMut(&'b Inline)) {
    fn visit<'b>(inlines: &'b [Inline], each: &mut dyn FnMut(&'b Inline)) {
        for inline in inlines {
            each(inline);
            match inline {
                Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Link { inner, .. } => {
                    visit(inner, each)
                }
                Inline::Text(_) | Inline::Code(_) | Inline::Term { .. } => {}
            }
        }
    }
    match block {
        Block::Heading { text, .. } | Block::Paragraph(text) => visit(text, each),
        Block::Table { head, rows } => {
            head.iter().chain(rows.iter().flatten()).for_each(|it| visit(it, each));
        }
        Block::Code { .. } | Block::List { .. } | Block::Quote(_) | Block::Rule | Block::Special { .. } => {}
    }
}
