//! Cargo compiles a dependency anew for each set of features: `xtask/features` gives each of them the features of all.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// The crate that takes the page's programs apart. It is built with the page, and shares no dependencies.
const GLUE: &str = "isobar-glue";

/// All crates but [`GLUE`], as `cargo xtask` builds them.
const WORKSPACE: [&str; 3] = ["--workspace", "--exclude", GLUE];

fn cargo(arguments: &[&str]) -> String {
    let ran = Command::new(env!("CARGO")).args(arguments).arg("--locked").output().unwrap();
    assert!(ran.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// Each dependency with its features, in the tree of a build.
fn features(which: &[&str], edges: &str) -> BTreeSet<String> {
    let tree = ["tree", "--offline", "--prefix", "none", "--format", "{p} [{f}]", "--edges", edges];
    let listed = cargo(&[&tree, which].concat());
    let lines = listed.lines().map(|it| it.trim_end_matches(" (*)").replace(" (proc-macro)", ""));
    // A crate of the workspace has its folder behind the version.
    lines.filter(|it| !it.contains('(')).collect()
}

/// The names of all crates of the workspace.
fn members() -> Vec<String> {
    let metadata = cargo(&["metadata", "--offline", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect()
}

/// The name and version in a line of [`features`].
fn dependency(line: &str) -> &str {
    line.split(" [").next().unwrap()
}

#[test]
fn a_crate_alone_is_built_with_the_features_of_the_whole_workspace() {
    let all = features(&WORKSPACE, "normal,build,dev");
    let shared: BTreeSet<&str> = all.iter().map(|it| dependency(it)).collect();
    let programs = ("all programs".to_owned(), features(&WORKSPACE, "normal,build"));
    let alone = members().into_iter().filter(|it| it != GLUE).map(|it| {
        let features = features(&["--package", &it], "normal,build,dev");
        (it, features)
    });
    for (name, built) in [programs].into_iter().chain(alone) {
        let rebuilt: Vec<_> = built.difference(&all).filter(|it| shared.contains(dependency(it))).collect();
        assert!(rebuilt.is_empty(), "`xtask/features` lacks features: {name} compiles anew {rebuilt:?}");
    }
}
