//! No circle across rooms, and no large one inside of one: the picture of `ARCHITECTURE.md` is a tower.
//!
//! A circle is a strongly connected component of what depends on what: everybody in it needs everybody.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{Module, Sources};
use crate::rooms::rooms;

/// Files that need each other are read together; these are as many as one keeps in mind.
const MOST_FILES: usize = 6;

/// Folders that hold rooms, and are none themselves.
const HOUSES: [&str; 3] = ["backend", "executors", "panes"];

/// A circle that is known, and why it is not broken up yet.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) folder: &'static str,
    /// Rooms that need each other; of one room: files inside of it that do.
    pub(super) rooms: &'static [&'static str],
    /// How many files at most, where it is one room.
    pub(super) n_files: usize,
    pub(super) reason: &'static str,
}

/// The circles of today. A row that finds none is an error, so the list can only become shorter.
pub(super) const KNOWN: &[Known] = &[
    Known {
        folder: "codegen",
        rooms: &["host", "translate", "wide"],
        n_files: 0,
        reason: "wide code is another body of a loop that `translate` makes, and is written as methods of its \
            `Translation`; `ParallelLoop` and `end_stream` can move to `host`",
    },
    Known {
        folder: "native-runner",
        rooms: &["cli", "commands", "document"],
        n_files: 0,
        reason: "the arguments of each command are declared in `cli`, which also starts the command",
    },
];

/// The faults in one crate: circles that `known` does not name, and rows of it that name none.
pub(super) fn check(sources: &Sources, known: &[Known]) -> Vec<String> {
    let folder = &sources.folder;
    let known: Vec<&Known> = known.iter().filter(|it| it.folder == *folder).collect();
    let mut is_used = vec![false; known.len()];
    let mut findings = Vec::new();
    let is_one_room = rooms().any(|it| it.folder == *folder && it.at.is_empty());
    for rooms in circles(&between_rooms(sources)).into_iter().filter(|_| !is_one_room) {
        let is_known = |it: &&Known| rooms.iter().all(|room| it.rooms.contains(&room.as_str()));
        match known.iter().position(|it| it.rooms.len() > 1 && is_known(it)) {
            Some(at) => is_used[at] = true,
            None => {
                let arrows = arrows(sources, &rooms);
                findings.push(format!(
                    "{folder}/src:1: rooms that need each other: {}; {arrows}",
                    rooms.join(", ")
                ));
            }
        }
    }
    for files in circles(&inside_rooms(sources)).into_iter().filter(|it| it.len() > MOST_FILES) {
        let modules: Vec<String> = files.iter().map(|it| it.join("::")).collect();
        let room = room_of(&files[0]);
        match known.iter().position(|it| it.rooms == [room.as_str()] && files.len() <= it.n_files) {
            Some(at) => is_used[at] = true,
            None => findings.push(format!(
                "{folder}/src/{room}:1: {} files that need each other, and {MOST_FILES} may: {}",
                files.len(),
                modules.join(", ")
            )),
        }
    }
    for (row, _) in known.iter().zip(is_used).filter(|(_, is_used)| !is_used) {
        findings.push(format!(
            "xtask/src/tidy/circles.rs:1: `{}` of {folder} is no such circle any more, so its row can go ({})",
            row.rooms.join(", "),
            row.reason
        ));
    }
    findings
}

/// The nodes that each node depends on.
type Graph<T> = BTreeMap<T, BTreeSet<T>>;

/// The room of a module: its first name, or two where the first is of a folder of rooms.
fn room_of(module: &[String]) -> String {
    let depth = if module.first().is_some_and(|it| HOUSES.contains(&it.as_str())) { 2 } else { 1 };
    module[..depth.min(module.len())].join("/")
}

/// Which room needs which. The crate's root, which lists them, is none.
fn between_rooms(sources: &Sources) -> Graph<String> {
    let mut graph = Graph::new();
    for source in sources.files.iter().filter(|it| !it.module.is_empty()) {
        let room = room_of(&source.module);
        let needed = sources.dependencies(source).into_iter().filter(|it| !it.is_empty());
        let needed: Vec<String> = needed.map(|it| room_of(&it)).filter(|it| *it != room).collect();
        graph.entry(room).or_insert_with(BTreeSet::new).extend(needed);
    }
    graph
}

/// Which file needs which of the same room.
fn inside_rooms(sources: &Sources) -> Graph<Module> {
    let of = |module: &Module| room_of(module);
    let files = sources.files.iter().filter(|it| !it.module.is_empty());
    files
        .map(|it| {
            let needed = sources.dependencies(it);
            (it.module.clone(), needed.into_iter().filter(|other| of(other) == of(&it.module)).collect())
        })
        .collect()
}

/// The imports between rooms of a circle, one example for each pair.
fn arrows(sources: &Sources, rooms: &[String]) -> String {
    let mut found = BTreeMap::new();
    for source in &sources.files {
        let from = room_of(&source.module);
        for target in sources.dependencies(source) {
            let to = room_of(&target);
            if from != to && rooms.contains(&from) && rooms.contains(&to) {
                let example = format!("{} -> {}", source.module.join("::"), target.join("::"));
                found.entry((from.clone(), to)).or_insert(example);
            }
        }
    }
    found.into_values().collect::<Vec<_>>().join(", ")
}

/// The sets of two or more nodes in which each node reaches all others.
fn circles<T: Ord + Clone>(graph: &Graph<T>) -> Vec<Vec<T>> {
    let reached: BTreeMap<&T, BTreeSet<&T>> = graph.keys().map(|it| (it, reachable(graph, it))).collect();
    let mut done = BTreeSet::new();
    let mut found = Vec::new();
    for node in graph.keys() {
        let circle: Vec<T> = reached[node]
            .iter()
            .filter(|it| reached.get(**it).is_some_and(|back| back.contains(node)))
            .map(|it| (*it).clone())
            .collect();
        if circle.len() > 1 && done.insert(circle[0].clone()) {
            found.push(circle);
        }
    }
    found
}

/// All that `from` needs, and what that needs; `from` itself where it is needed by what it needs.
fn reachable<'a, T: Ord>(graph: &'a Graph<T>, from: &T) -> BTreeSet<&'a T> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&T> = graph.get(from).into_iter().flatten().collect();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(graph.get(node).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::sources;
    use super::*;

    const ROW: Known = Known { folder: "compiler", rooms: &["a", "b"], n_files: 0, reason: "as a test" };

    #[test]
    fn rooms_that_need_each_other_are_found_with_the_imports_that_do_it() {
        let all = sources(
            "compiler",
            &[("a", "use crate::c;"), ("b/x", "use crate::a;"), ("c", "use crate::b::x;")],
        );
        let findings = check(&all, &[]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].contains("need each other: a, b, c; a -> c, b::x -> a, c -> b::x"),
            "{findings:?}"
        );
    }

    #[test]
    fn a_tower_has_no_circle() {
        let all = sources("compiler", &[("a", ""), ("b", "use crate::a;"), ("c", "use crate::{a, b};")]);
        assert_eq!(check(&all, &[]), [""; 0]);
    }

    #[test]
    fn a_known_circle_is_let_through_until_it_is_gone() {
        let circle = sources("compiler", &[("a", "use crate::b;"), ("b", "use crate::a;")]);
        assert_eq!(check(&circle, &[ROW]), [""; 0]);
        let tower = sources("compiler", &[("a", "use crate::b;"), ("b", "")]);
        let findings = check(&tower, &[ROW]);
        assert!(findings.len() == 1 && findings[0].contains("no such circle any more"), "{findings:?}");
    }

    #[test]
    fn seven_files_of_a_room_may_not_need_each_other() {
        let names = ["r/a", "r/b", "r/c", "r/d", "r/e", "r/f", "r/g"];
        let around = |n: usize| {
            let text = |at: usize| format!("use crate::{};", names[(at + 1) % n].replace('/', "::"));
            let texts: Vec<String> = (0..n).map(text).collect();
            let files: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
            check(&sources("compiler", &files), &[])
        };
        assert_eq!(around(6), [""; 0]);
        assert_eq!(around(7).len(), 1);
    }
}
