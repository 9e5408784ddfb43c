//! Texts to what their names stand for.

mod evaluate;
mod externals;
mod field_types;
mod inside;
mod missing;
mod modules;
mod ndsl_constants;
mod values;

use super::constants::{Constant, Evaluation};
use super::{Names, parse};
use crate::config::Config;
use crate::diag::Diagnostics;
use crate::project::Project;

/// The value of `name` at the end of the first of some files.
fn value_in(files: &[(&str, &str)], config: &Config, name: &str) -> Evaluation {
    let main = files[0].0.to_owned();
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).into())).collect();
    let program = parse(&Project { files, main, stencil: None }, &mut Diagnostics::default());
    let names = Names::new(&program, config);
    let scope = program.main.and_then(|it| names.module_scope(it)).unwrap();
    names.lookup(scope, u32::MAX, name).unwrap_or_else(|| panic!("nothing is named {name}"))
}

/// The value of `it` in a text.
fn value(text: &str) -> Constant {
    value_in(&[("main.py", text)], &Config::default(), "it").unwrap_or_else(|why| panic!("{text}: {why:?}"))
}

/// Why `it` has no value in a text.
fn why_not(text: &str) -> String {
    match value_in(&[("main.py", text)], &Config::default(), "it") {
        Ok(value) => panic!("{text} is {value:?}"),
        Err(opaque) => opaque.why,
    }
}
