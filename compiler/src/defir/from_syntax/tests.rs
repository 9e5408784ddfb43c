//! Stencil source to listing, or to what is said about it.

use expect_test::{Expect, expect};

use crate::config::{Config, External};
use crate::defir::{from_syntax, print, validate};
use crate::diag::render::render;
use crate::diag::{Diagnostics, FileId};
use crate::frontend;
use crate::project::Project;
use crate::types::Value;

/// The listing without errors, then everything that is said.
pub(super) fn built(project: &Project, config: &Config) -> String {
    let mut diagnostics = Diagnostics::default();
    let program = frontend::parse(project, &mut diagnostics);
    let stencil = from_syntax::build(&program, project.stencil.as_deref(), config, &mut diagnostics);
    let mut text = String::new();
    if let Some(stencil) = stencil {
        assert_eq!(validate::validate(&stencil), Vec::<String>::new());
        if !diagnostics.has_errors() {
            text = print::listing(&stencil).text;
        }
    }
    let files = |file: FileId| (project.name(file), project.text(file));
    for diagnostic in diagnostics.sorted() {
        text.push_str(&render(&diagnostic, &files));
    }
    text
}

fn check_with(config: &Config, source: &str, expected: &Expect) {
    expected.assert_eq(&built(&Project::of_one("main.py", source.trim_start_matches('\n')), config));
}

fn check(source: &str, expected: &Expect) {
    check_with(&Config::default(), source, expected);
}

const GALLERY: [&str; 5] =
    ["column_physics", "copy_scale", "horizontal_diffusion", "ppm_transport", "vertical_advection"];

fn gallery(name: &str) -> String {
    let path = format!("{}/../static/gallery/{name}.py", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_gallery_is_understood() {
    let config = Config { externals: [("iord".to_owned(), External::Int(3))].into(), ..Config::default() };
    for name in GALLERY {
        let text = built(&Project::of_one("main.py", &gallery(name)), &config);
        println!("{text}");
        assert!(text.starts_with("stencil ") && !text.contains("[E") && !text.contains("[W"), "{text}");
    }
    panic!();
}
