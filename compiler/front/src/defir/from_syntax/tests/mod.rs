//! Stencil source to listing, or to what is said about it.

mod accepted;
mod changed;
mod elements;
mod meant;
mod misled;
mod refused;
mod robust;
mod told;

use std::fmt::Write;

use expect_test::Expect;

use crate::config::{Config, External};
use crate::defir::nodes::Stencil;
use crate::defir::{from_syntax, print, validate};
use crate::diag::catalog::warnings;
use crate::diag::{Diagnostic, Diagnostics, LineIndex, Severity};
use crate::frontend::{self, Names};
use crate::project::Project;

const GALLERY: [&str; 5] =
    ["column_physics", "copy_scale", "horizontal_diffusion", "ppm_transport", "vertical_advection"];

#[expect(clippy::disallowed_methods, reason = "a test reads the gallery")]
fn gallery(name: &str) -> String {
    let path = format!("{}/../../static/gallery/{name}.py", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// The externals that the stencils of the gallery need.
fn gallery_config() -> Config {
    Config { externals: [("iord".to_owned(), External::Int(3))].into(), ..Config::default() }
}

/// Builds a stencil, which must be valid, errors or not.
fn build(project: &Project, config: &Config) -> (Option<Stencil>, Vec<Diagnostic>) {
    let mut diagnostics = Diagnostics::default();
    let program = frontend::parse(project, &mut diagnostics);
    let stencil = from_syntax::build(
        &program,
        &Names::new(&program, config),
        project.stencil.as_deref(),
        &mut diagnostics,
    );
    if let Some(stencil) = &stencil {
        assert_eq!(validate::validate(stencil), Vec::<String>::new());
    }
    // The stencils of these tests have more parameters than they need.
    let is_idle = |it: &Diagnostic| it.code == warnings::UNUSED_NAME && it.severity == Severity::Hint;
    (stencil, diagnostics.sorted().into_iter().filter(|it| !is_idle(it)).collect())
}

/// One line for each diagnostic: code, place, message.
fn said(project: &Project, diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for it in diagnostics {
        let place = it.primary.as_ref().map_or_else(String::new, |label| {
            let source = project.text(label.span.file);
            let at = LineIndex::new(source).line_col(source, label.span.start);
            let file = project.name(label.span.file);
            let file = if file == project.main { String::new() } else { format!("{file}:") };
            format!(" {file}{}:{}", at.line, at.col)
        });
        let _ = writeln!(text, "{}{place} {}", it.code, it.message);
    }
    text
}

/// The listing, if there is no error, then one line for each diagnostic.
fn built(project: &Project, config: &Config) -> String {
    let (stencil, diagnostics) = build(project, config);
    let has_errors = diagnostics.iter().any(|it| it.code.0.starts_with('E'));
    let listing = stencil.filter(|_| !has_errors).map(|it| print::listing(&it).text).unwrap_or_default();
    listing + &said(project, &diagnostics)
}

fn check_with(config: &Config, source: &str, expected: &Expect) {
    expected.assert_eq(&built(&Project::of_one("main.py", source.trim_start_matches('\n')), config));
}

fn check(source: &str, expected: &Expect) {
    check_with(&Config::default(), source, expected);
}

/// A stencil around statements: `a`, `b` and `out` are fields, `ij` and `kf` lack axes, `x` and `n` are scalars.
fn around(order: &str, statements: &str) -> String {
    let mut text = "def s(a: FloatField, b: FloatField, out: FloatField, ij: FloatFieldIJ, kf: FloatFieldK, x: float, n: int):\n"
        .to_owned();
    let _ = writeln!(text, "    with computation({order}), interval(...):");
    for line in statements.lines() {
        let _ = writeln!(text, "        {line}");
    }
    text
}

/// Statements, each with what is said about it.
fn refusals(order: &str, cases: &[&str]) -> String {
    let mut text = String::new();
    for case in cases {
        let project = Project::of_one("main.py", &around(order, case));
        let (_, diagnostics) = build(&project, &Config::default());
        let _ =
            writeln!(text, "{case}\n    {}", said(&project, &diagnostics).trim_end().replace('\n', "\n    "));
    }
    text
}
