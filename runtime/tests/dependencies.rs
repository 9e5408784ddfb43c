//! The crates that a program links together with the runtime.

use std::process::Command;

/// Words in the names of crates of servers, command lines, language servers and wire formats of ours.
const NOT_BELOW: [&str; 8] =
    ["isobar-protocol", "isobar-runner", "axum", "hyper", "tokio", "tower", "clap", "lsp"];

#[test]
fn no_server_command_line_or_wire_format_lies_below_the_runtime() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--package", "isobar-runtime"])
        .args(["--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let told = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{told}");
    let text = String::from_utf8_lossy(&tree.stdout);
    let names: Vec<&str> = text.lines().filter_map(|it| it.split(' ').next()).collect();
    // The list is one of crates, and of the right one.
    assert!(names.contains(&"isobar-compiler") && names.contains(&"isobar-codegen"), "{text}");
    let wrong: Vec<&&str> =
        names.iter().filter(|name| NOT_BELOW.iter().any(|it| name.starts_with(it))).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
