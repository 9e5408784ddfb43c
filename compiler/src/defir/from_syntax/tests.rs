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
fn a_literal_takes_the_configured_precision_and_a_typed_constant_keeps_its_own() {
    let source = "
import numpy as np
A = 0.5
B = np.float64(0.25)
def s(q: FloatField, n: Int = 2):
    with computation(PARALLEL), interval(...):
        q = A * q + B + 3.0 + n + 1
";
    let expected = expect![[r#"
        stencil s(q: float32[IJK], n: int32 = 2int32)
          computation parallel [start, end)
            q = 0.5float32 * q + 0.25 + 3.0float32 + n + 1int32
    "#]];
    check_with(
        &Config {
            externals: [("x".to_owned(), External::Typed(Value::Float32(1.0)))].into(),
            ..Config::with_precision(32)
        },
        source,
        &expected,
    );
}

#[test]
fn an_unknown_name_is_said_with_a_likely_one() {
    check(
        "
def s(alpha: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = alhpa + 1.0
",
        &expect![[r#"
            error[E07]: nothing is named `alhpa`
             --> main.py:3:15
              |
            3 |         out = alhpa + 1.0
              |               ^^^^^ not known here
              |
              = help: assign `alhpa` before it is read, make it a parameter, or define it at the top of the file
        "#]],
    );
}

#[test]
fn the_gallery_is_understood() {
    let config = Config { externals: [("iord".to_owned(), External::Int(3))].into(), ..Config::default() };
    for name in GALLERY {
        let text = built(&Project::of_one("main.py", &gallery(name)), &config);
        assert!(text.starts_with("stencil ") && !text.contains("[E") && !text.contains("[W"), "{text}");
    }
}
