//! `licences.txt`: whose code the page has in it beside its own, and under which terms, with the texts that they ask
//! to be handed on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::install;
use crate::process::{cargo, root};

/// The file's name in `dist/`.
pub(super) const FILE: &str = "licences.txt";

/// Files of a package that hold its terms begin so, in small letters.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// A package that is in the page.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    /// The expression of SPDX that it gives.
    terms: String,
    texts: Vec<String>,
}

/// The whole file.
pub(super) fn licences() -> Result<Vec<u8>> {
    let mut all = crates()?;
    all.extend(npm_packages()?);
    Ok(told(&all).into_bytes())
}

fn told(all: &BTreeSet<Package>) -> String {
    let mut out =
        String::from("Isobar is licensed under MIT OR Apache-2.0. The page has these packages in it:\n\n");
    let mut by_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for it in all {
        let name = format!("{} {}", it.name, it.version);
        let _ = writeln!(out, "{name:<40} {}", it.terms);
        for text in &it.texts {
            by_text.entry(text.trim()).or_default().push(name.clone());
        }
    }
    for (text, names) in by_text {
        let _ = write!(out, "\n{}\n{}:\n\n{text}\n", "-".repeat(80), names.join(", "));
    }
    out
}

/// The crates that the page's programs are made of.
fn crates() -> Result<BTreeSet<Package>> {
    let mut command = cargo();
    command.args(["metadata", "--locked", "--format-version", "1"]);
    command.args(["--filter-platform", "wasm32-unknown-unknown"]);
    let output = command.output().context("cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|it| (text(&it["id"]), it)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|it| (text(&it["id"]), it)).collect();
    let page = packages.iter().find(|(_, it)| it["name"] == "isobar-web").context("no package isobar-web")?.0;
    let mut seen = BTreeSet::new();
    let mut next = vec![page.clone()];
    let mut all = BTreeSet::new();
    while let Some(id) = next.pop() {
        let (Some(package), Some(node)) = (packages.get(&id), nodes.get(&id)) else { continue };
        // Packages that run while compiling are not in the page.
        let is_macro =
            list(&package["targets"]).iter().any(|it| list(&it["kind"]).contains(&"proc-macro".into()));
        if is_macro || !seen.insert(id) {
            continue;
        }
        let is_used = |it: &Value| list(&it["dep_kinds"]).iter().any(|it| it["kind"].is_null());
        next.extend(list(&node["deps"]).iter().filter(|it| is_used(it)).map(|it| text(&it["pkg"])));
        // Without a source it is our own.
        if let Some(dir) =
            Path::new(&text(&package["manifest_path"])).parent().filter(|_| !package["source"].is_null())
        {
            let (name, version, terms) =
                (text(&package["name"]), text(&package["version"]), text(&package["license"]));
            all.insert(Package { name, version, terms, texts: texts(dir)? });
        }
    }
    Ok(all)
}

/// The packages that the editor's bundle is made of.
fn npm_packages() -> Result<BTreeSet<Package>> {
    let home = install::npm_dir();
    let lock = fs::read(home.join("package-lock.json")).context("package-lock.json")?;
    let lock: Value = serde_json::from_slice(&lock).context("package-lock.json")?;
    let mut all = BTreeSet::new();
    for (path, it) in lock["packages"].as_object().into_iter().flatten() {
        let Some(name) = path.strip_prefix("node_modules/").filter(|_| it["dev"] != true) else { continue };
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        all.insert(Package {
            name: name.to_owned(),
            version: text("version"),
            terms: text("license"),
            texts: texts(&home.join(path))?,
        });
    }
    Ok(all)
}

/// The terms that lie in a package.
fn texts(dir: &Path) -> Result<Vec<String>> {
    let said = || dir.strip_prefix(root()).unwrap_or(dir).display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).with_context(said)? {
        let path = entry.with_context(said)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && NAMES.iter().any(|it| name.starts_with(it)) {
            found.push(path);
        }
    }
    found.sort();
    found.iter().map(|it| fs::read_to_string(it).with_context(|| it.display().to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_several_share_stands_once() {
        let of = |name: &str, text: &str| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            terms: "MIT".to_owned(),
            texts: vec![text.to_owned()],
        };
        let out = told(&[of("a", "Do as you like.\n"), of("b", "Do as you like.")].into());
        assert_eq!(out.matches("Do as you like.").count(), 1, "{out}");
        assert!(out.contains("a 1.0.0, b 1.0.0:\n"), "{out}");
    }

    #[test]
    fn what_the_page_is_made_of_is_found_with_its_terms() -> Result<()> {
        let all = crates()?;
        let names: BTreeSet<&str> = all.iter().map(|it| it.name.as_str()).collect();
        assert!(names.contains("leptos") && names.contains("wasm-bindgen"), "{names:?}");
        assert!(!names.contains("serde_derive"), "that runs while it is compiled");
        assert!(all.iter().all(|it| !it.terms.is_empty()), "{all:?}");
        Ok(())
    }
}
