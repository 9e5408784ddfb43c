//! Makes sure that there is a folder for the page: the runner builds without one, and says then how to build it.

fn main() {
    let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist");
    // A missing folder would make cargo run this script again on every build.
    if let Err(error) = std::fs::create_dir_all(&dist) {
        println!("cargo::warning=no folder for the page: {error}");
    }
    println!("cargo::rerun-if-changed=../dist");
    println!("cargo::rerun-if-changed=build.rs");
}
