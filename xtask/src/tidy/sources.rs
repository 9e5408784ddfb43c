//! The sources of a crate as modules, and what each of them names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Result;

use super::imports::{self, Import};
use crate::page::files_below;
use crate::process::root;

/// The folder of the compiler, which has several crates. They are read as one, so that the table has one row for a module.
const COMPILER: &str = "compiler";

/// The crates of the compiler that have its modules: the compiler passes all of them on.
const FLOORS: [&str; 5] = ["ground", "front", "reference", "middle", "code"];

/// The crates that use the compiler; each is a module of its own name here.
const ABOVE: [&str; 3] = ["equivalence", "program", "service"];

/// A module by its path below the crate's root, which is `[]`.
pub(super) type Module = Vec<String>;

/// One file that is compiled when nothing is tested.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) module: Module,
    /// Its path below the root of the repository.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) imports: Vec<Import>,
}

/// The sources of one crate, without those for tests alone.
#[derive(Debug)]
pub(super) struct Sources {
    /// The crate's folder.
    pub(super) folder: String,
    pub(super) files: Vec<Source>,
    /// All modules of the crate, to tell a module from an item.
    modules: BTreeSet<Module>,
    by_module: BTreeMap<Module, usize>,
}

impl Sources {
    /// Reads `folder/src`, and the crates inside the folder with it.
    pub(super) fn read(folder: &str) -> Result<Self> {
        let mut texts = read(folder, &[])?;
        if folder == COMPILER {
            for floor in FLOORS {
                texts.extend(read(&format!("{folder}/{floor}"), &[])?);
            }
            for name in ABOVE {
                texts.extend(read(&format!("{folder}/{name}"), &[name.to_owned()])?);
            }
        }
        Ok(Self::of(folder, texts))
    }

    /// Those of modules, names of files and texts.
    pub(super) fn of(folder: &str, mut texts: Vec<(Module, String, String)>) -> Self {
        let modules = texts.iter().map(|(module, ..)| module.clone()).collect();
        let for_tests: Vec<Module> =
            texts.iter().flat_map(|(module, _, text)| imports::test_modules(text, module)).collect();
        texts.retain(|(module, ..)| !for_tests.iter().any(|it| module.starts_with(it)));
        let files: Vec<Source> = texts
            .into_iter()
            .map(|(module, name, text)| {
                let own =
                    ABOVE.iter().find(|it| folder == COMPILER && module.first().is_some_and(|at| at == *it));
                let imports = match own {
                    Some(own) => imports::of(&text.replace("crate::", &format!("crate::{own}::")), &module),
                    None => imports::of(&text, &module),
                };
                Source { imports, module, name, text }
            })
            .collect();
        let by_module = files.iter().enumerate().map(|(at, it)| (it.module.clone(), at)).collect();
        Self { folder: folder.to_owned(), files, modules, by_module }
    }

    /// The module of this crate that `import` names; none for another crate.
    pub(super) fn target<'a>(&self, import: &'a Import) -> Option<&'a [String]> {
        let own_crate = if self.folder == "native-runner" { "runner" } else { &self.folder };
        let is_own = match import.path.first()?.as_str() {
            "crate" => true,
            first => first
                .strip_prefix("isobar_")
                .is_some_and(|it| it == own_crate || self.folder == COMPILER && FLOORS.contains(&it)),
        };
        is_own.then(|| self.nearest_module(&import.path[1..]))
    }

    /// The longest start of `path` that is a module: what is left names an item of it.
    fn nearest_module<'a>(&self, path: &'a [String]) -> &'a [String] {
        (0..=path.len()).rev().map(|n| &path[..n]).find(|it| self.modules.contains(*it)).unwrap_or(&[])
    }

    /// The modules that a file depends on: where what it names is defined, behind whatever passes it on.
    ///
    /// That a module passes on what is below it, is no dependency.
    pub(super) fn dependencies(&self, source: &Source) -> BTreeSet<Module> {
        let mut found = BTreeSet::new();
        for import in &source.imports {
            let Some(path) = self.inside(source, import) else { continue };
            let definition = self.definition(&path, 8);
            let is_facade = import.is_passed_on && definition.starts_with(&source.module);
            if definition != source.module && !is_facade {
                found.insert(definition);
            }
        }
        found
    }

    /// The path below the crate's root; none for another crate. A path may begin with a module below its own.
    fn inside(&self, source: &Source, import: &Import) -> Option<Module> {
        if self.target(import).is_some() {
            return Some(import.path[1..].to_vec());
        }
        let path: Module = source.module.iter().chain(&import.path).cloned().collect();
        path.get(..=source.module.len()).is_some_and(|it| self.modules.contains(it)).then_some(path)
    }

    /// The module that defines what `path` names. It looks behind at most `n_doors` modules that pass it on.
    fn definition(&self, path: &[String], n_doors: usize) -> Module {
        let module = self.nearest_module(path);
        let Some(item) = path.get(module.len()).filter(|_| n_doors > 0) else { return module.to_vec() };
        let Some(source) = self.by_module.get(module).map(|&at| &self.files[at]) else {
            return module.to_vec();
        };
        let passed_on = || source.imports.iter().filter(|it| it.is_passed_on);
        let by_name = passed_on().find(|it| it.name == *item).and_then(|it| self.inside(source, it));
        let behind = by_name.or_else(|| {
            if defines(&source.text, item) {
                return None;
            }
            let folders = passed_on().filter(|it| it.name == "*").filter_map(|it| self.inside(source, it));
            let mut found = folders
                .filter(|it| self.by_module.get(it).is_some_and(|&at| defines(&self.files[at].text, item)));
            found.next().map(|it| it.into_iter().chain([item.clone()]).collect())
        });
        behind.map_or_else(|| module.to_vec(), |it| self.definition(&it, n_doors - 1))
    }
}

/// The modules of the crate in `folder`, its names of files and its texts; the modules stand below `above`.
fn read(folder: &str, above: &[String]) -> Result<Vec<(Module, String, String)>> {
    let src = root().join(folder).join("src");
    let mut texts = Vec::new();
    for file in files_below(&src)? {
        if file.extension().is_some_and(|it| it == "rs") {
            let below = file.strip_prefix(&src)?;
            let name = format!("{folder}/src/{}", below.display());
            let module = above.iter().cloned().chain(module_of(below)).collect();
            texts.push((module, name, fs::read_to_string(&file)?));
        }
    }
    Ok(texts)
}

/// Whether a text defines an item of this name.
fn defines(text: &str, item: &str) -> bool {
    let kinds = ["struct", "enum", "fn", "trait", "const", "static", "type", "union", "macro_rules!"];
    kinds.iter().any(|kind| {
        let definition = format!("{kind} {item}");
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        text.match_indices(&definition).any(|(at, _)| !text[at + definition.len()..].starts_with(is_part))
    })
}

/// `oir/passes/merge.rs` is `[oir, passes, merge]`; `lib.rs` and `main.rs` are the crate's root, `[]`.
fn module_of(file: &Path) -> Module {
    let mut module: Module = file
        .with_extension("")
        .components()
        .map(|it| it.as_os_str().to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|it| it == "mod")
        || matches!(module.as_slice(), [it] if it == "lib" || it == "main")
    {
        module.pop();
    }
    module
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A crate of modules and their texts.
    pub(in crate::tidy) fn sources(folder: &str, texts: &[(&str, &str)]) -> Sources {
        let module = |it: &str| it.split('/').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        let texts = texts.iter().map(|(name, text)| (module(name), format!("{name}.rs"), (*text).to_owned()));
        Sources::of(folder, texts.collect())
    }

    fn dependencies(sources: &Sources, name: &str) -> Vec<String> {
        let source = sources.files.iter().find(|it| it.name == format!("{name}.rs")).expect("it is there");
        sources.dependencies(source).iter().map(|it| it.join("/")).collect()
    }

    #[test]
    fn files_become_modules() {
        assert_eq!(module_of(Path::new("oir/passes/mod.rs")), ["oir", "passes"]);
        assert_eq!(module_of(Path::new("lib.rs")), [""; 0]);
        assert_eq!(module_of(Path::new("oir/print.rs")), ["oir", "print"]);
    }

    #[test]
    fn a_file_depends_on_what_defines_an_item_and_not_on_what_passes_it_on() {
        let all = sources(
            "compiler",
            &[
                ("oir", "pub use nodes::Node;\npub use print::*;\nuse crate::space;\n"),
                ("oir/nodes", "pub struct Node;"),
                ("oir/print", "use super::Node;\npub fn print() {}"),
                ("space", ""),
                ("other", "use crate::oir::{self, Node, print};\n"),
            ],
        );
        assert_eq!(dependencies(&all, "oir"), ["space"]);
        assert_eq!(dependencies(&all, "oir/print"), ["oir/nodes"]);
        assert_eq!(dependencies(&all, "other"), ["oir", "oir/nodes", "oir/print"]);
    }
}
