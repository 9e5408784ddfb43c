//! The modules that a stencil needs and that are not among the files.

use super::super::{Names, externals, missing as room, parse};
use crate::config::Config;
use crate::diag::Diagnostics;
use crate::project::Project;

/// Each missing module with what is needed of it.
fn missing(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter().map(|&(name, text)| (name.to_owned(), text.into()));
    let project = Project { files: files.collect(), main: "model/main.py".to_owned(), stencil: None };
    let program = parse(&project, &mut Diagnostics::default());
    let config = Config::default();
    let names = Names::new(&program, &config);
    let externals = externals::of(&program, &names, None);
    let told = |it: room::MissingModule| {
        let names: Vec<&str> = it.names.iter().map(String::as_str).collect();
        format!("{}: {}", it.path(), names.join(" "))
    };
    room::of(&program, &names, None, &externals).into_iter().map(told).collect()
}

fn stencil(head: &str, value: &str) -> String {
    format!(
        "{head}\ndef s(q: FloatField):\n    with computation(PARALLEL), interval(...):\n        q = {value}\n"
    )
}

fn alone(head: &str, value: &str) -> Vec<String> {
    missing(&[("model/main.py", &stencil(head, value))])
}

#[test]
fn what_is_called_or_read_from_a_module_is_named_with_it() {
    assert_eq!(alone("from a.b import f, g, unused", "f(q) + g(q)"), ["a/b.py: f g"]);
    assert_eq!(alone("from .other import f", "f(q)"), ["model/other.py: f"]);
    assert_eq!(alone("from a.b import C\nD = C * 2.0", "q * D"), ["a/b.py: C"]);
    assert_eq!(alone("from a.b import *", "f(q)"), ["a/b.py: f"]);
}

#[test]
fn a_name_behind_a_dot_is_of_a_module() {
    assert_eq!(alone("import a.b as m", "m.f(q)"), ["a/b.py: f"]);
    assert_eq!(alone("from a.b import m", "m.f(q) + m.C"), ["a/b/m.py: C f"]);
}

#[test]
fn what_is_known_or_not_needed_is_not_asked_for() {
    assert_eq!(alone("from ndsl.constants import GRAV\nfrom x import y", "q * GRAV"), [""; 0]);
    assert_eq!(alone("import numpy as np\nfrom x import FloatField", "q + nothing"), [""; 0]);
}

#[test]
fn a_function_of_another_file_may_need_further_ones() {
    let main = stencil("from model.basic import f", "f(q)");
    let basic = "from model.deep import g\n@function\ndef f(q):\n    return g(q)\n";
    assert_eq!(missing(&[("model/main.py", &main), ("model/basic.py", basic)]), ["model/deep.py: g"]);
}
