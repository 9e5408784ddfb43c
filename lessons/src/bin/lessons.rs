//! `cargo xtask lessons`: proves each lesson of a course, and tells how long its checks take.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use isobar_compiler::pipeline::Stage;
use isobar_lessons::course;
use isobar_lessons::folder::{self, Files, ReferenceTargets};
use isobar_lessons::glossary::Glossary;
use isobar_lessons::markdown::{self, Block};

/// No lesson's checks may take longer in a tab, where everything is slower than here by about this factor.
const MOST_MS: f64 = 2000.0;

fn main() -> ExitCode {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "static/lessons/first-course".to_owned());
    match proven(Path::new(&folder)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(findings) => {
            println!("{findings} findings");
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How much is wrong.
fn proven(home: &Path) -> Result<usize, String> {
    let read = |path: PathBuf| {
        fs::read_to_string(&path)
            .map(|it| it.replace("\r\n", "\n"))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    let course =
        course::read_course(&read(home.join("course.toml"))?).map_err(|it| format!("course.toml: {it}"))?;
    let around = around(home)?;
    let mut n = 0;
    for line in &course.lessons {
        let file = |name: &str| read(home.join(&line.folder).join(name));
        let files = Files {
            lesson: file("lesson.md")?,
            start: file("start.py")?,
            solution: file("solution.py")?,
            checks: file("checks.toml")?,
        };
        let since = Instant::now();
        let mut findings = folder::prove(&course, line, &files, &around);
        // Start and solution were both checked.
        let ms = since.elapsed().as_secs_f64() * 1000.0 / 2.0;
        if ms > MOST_MS {
            findings.push(format!("checks.toml: the checks take {ms:.0} ms, and {MOST_MS:.0} are allowed"));
        }
        println!("{:<24} {ms:>6.0} ms   {}", line.folder, if findings.is_empty() { "ok" } else { "not ok" });
        for finding in &findings {
            println!("    {finding}");
        }
        n += findings.len();
    }
    let listed: BTreeSet<&str> = course.lessons.iter().map(|it| it.folder.as_str()).collect();
    for entry in fs::read_dir(home).map_err(|error| error.to_string())?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !listed.contains(name.as_str()) {
            println!("    {name}: course.toml does not list it");
            n += 1;
        }
    }
    Ok(n)
}

/// Reads the glossary and the names that a lesson may use from the folder around the courses. A course that
/// lies elsewhere is checked against those of the playground.
fn around(home: &Path) -> Result<ReferenceTargets, String> {
    let beside = home.parent().map(Path::to_path_buf).unwrap_or_default();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/lessons");
    let lessons = if beside.join("glossary.toml").exists() { beside } else { own };
    let text =
        fs::read_to_string(lessons.join("glossary.toml")).map_err(|it| format!("glossary.toml: {it}"))?;
    let glossary = Glossary::read(&text).map_err(|it| format!("glossary.toml: {it}"))?;
    let names = |folder: PathBuf, ending: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
        names.filter_map(|it| it.strip_suffix(ending).map(str::to_owned)).collect()
    };
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut manual = BTreeMap::new();
    for page in names(docs.clone(), ".md") {
        let text = fs::read_to_string(docs.join(format!("{page}.md"))).map_err(|it| it.to_string())?;
        let ids = markdown::read(&text).into_iter().filter_map(|it| match it {
            Block::Heading { id, .. } => Some(id),
            _ => None,
        });
        manual.insert(page, ids.collect());
    }
    let around = ReferenceTargets {
        manual,
        figures: names(lessons.join("figures"), ".svg"),
        gallery: ["../gallery", "../gallery/programs"]
            .into_iter()
            .flat_map(|it| names(lessons.join(it), ".py"))
            .collect(),
        stages: Stage::OF_STENCIL.iter().map(|it| it.name().to_owned()).collect(),
        glossary,
    };
    for term in &around.glossary.terms {
        let (page, heading) = term.manual.split_once('#').unwrap_or((&term.manual, ""));
        let ids = around.manual.get(page);
        let is_there = ids.is_some_and(|it| heading.is_empty() || it.contains(heading));
        if !term.manual.is_empty() && !is_there {
            return Err(format!("glossary.toml: `{}` leads nowhere: {}", term.word, term.manual));
        }
    }
    Ok(around)
}
