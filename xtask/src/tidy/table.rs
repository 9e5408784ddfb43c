//! The table of rooms holds itself to what it asks of others: no row and no entry without use, no catch-all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::sources::{Source, Sources};
use crate::process::root;
use crate::rooms::{LEVEL_NAMES, Room, matches, room_of, rooms};

const TABLE: &str = "xtask/src/rooms.rs:1";

/// How many of the other rooms of its crate a row with `*` uses at least, in per cent. Below, a list says more.
const WHOLE_TRIP: usize = 40;

/// Everything that is wrong with the table, given the sources that it speaks about.
pub(super) fn check(all: &[Sources]) -> Vec<String> {
    let mut uses = Uses::default();
    for sources in all {
        for source in &sources.files {
            if let Some(room) = room_of(&sources.folder, &source.module) {
                uses.add(room, sources, source);
            }
        }
    }
    let mut findings = BTreeSet::new();
    for room in rooms() {
        let Some(sources) = all.iter().find(|it| it.folder == room.folder) else {
            findings.insert(format!("{TABLE}: `{}` has no sources", room.folder));
            continue;
        };
        findings.extend(uses.dead(room, sources));
        findings.extend(uses.catch_all(room, sources));
        findings.extend(room.never.iter().filter_map(|it| unknown(room, it, all)));
    }
    findings.into_iter().collect()
}

/// The uses of the rows. Rows of levels, which are one row in the text, count together.
#[derive(Debug, Default)]
struct Uses {
    /// Of each row the entries of `may` that an import needs.
    entries: BTreeMap<Key, BTreeSet<String>>,
    /// Of each row the other rooms that it names.
    rooms: BTreeMap<Key, BTreeSet<String>>,
}

/// A row: its crate and its pattern, in which a level is `<level>`.
type Key = (&'static str, String);

fn key(room: &Room) -> Key {
    (room.folder, if room.is_of_level { general(room.at) } else { room.at.to_owned() })
}

/// A path with the name of its level left out.
fn general(path: &str) -> String {
    let (sign, path) = path.strip_prefix('!').map_or(("", path), |it| ("!", it));
    let (first, rest) = path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let first = if LEVEL_NAMES.contains(&first) { "<level>" } else { first };
    rest.map_or_else(|| format!("{sign}{first}"), |rest| format!("{sign}{first}/{rest}"))
}

fn entry(room: &Room, entry: &str) -> String {
    if room.is_of_level { general(entry) } else { entry.to_owned() }
}

impl Uses {
    fn add(&mut self, room: &'static Room, sources: &Sources, source: &Source) {
        let used = self.entries.entry(key(room)).or_default();
        let others = self.rooms.entry(key(room)).or_default();
        for target in source.imports.iter().filter_map(|it| sources.target(it)) {
            let Some(first) = target.first().filter(|_| target != source.module) else { continue };
            others.insert(first.clone());
            let needed = room.may.iter().filter(|it| matches(it.trim_start_matches('!'), target));
            used.extend(needed.map(|it| entry(room, it)));
        }
    }

    /// Rows that no file has, and entries that no import needs.
    fn dead(&self, room: &Room, sources: &Sources) -> Vec<String> {
        let Some(used) = self.entries.get(&key(room)) else {
            return vec![format!(
                "{TABLE}: no file of {} is `{}`, so its row can go",
                room.folder,
                key(room).1
            )];
        };
        let is_dead = |it: &&&str| match **it {
            "*" | "FLOOR" => false,
            // A barred module must exist; the purpose of the entry is that nothing names it.
            barred if barred.starts_with('!') => {
                let is_there = sources.files.iter().any(|it| matches(&barred[1..], &it.module));
                !is_there && !room.is_of_level
            }
            it => !used.contains(&entry(room, it)),
        };
        let dead = room.may.iter().filter(is_dead);
        dead.map(|it| {
            let row = key(room).1;
            format!(
                "{TABLE}: `{row}` of {} does not use `{}`, so the entry can go",
                room.folder,
                entry(room, it)
            )
        })
        .collect()
    }

    /// A row that speaks about whatever is left, or allows everything and uses little of it.
    fn catch_all(&self, room: &Room, sources: &Sources) -> Option<String> {
        // A crate that is one room has one row.
        if room.at.is_empty() && rooms().filter(|it| it.folder == room.folder).count() > 1 {
            let left: BTreeSet<&str> = sources
                .files
                .iter()
                .filter(|it| room_of(room.folder, &it.module).is_some_and(|it| std::ptr::eq(it, room)))
                .filter_map(|it| it.module.first().map(String::as_str))
                .collect();
            let left: Vec<&str> = left.into_iter().collect();
            return Some(format!(
                "{TABLE}: a row of {} speaks about whatever is left; name its rooms: {}",
                room.folder,
                left.join(", ")
            ));
        }
        if !room.may.contains(&"*") || room.at == "./." {
            return None;
        }
        let all: BTreeSet<&str> =
            sources.files.iter().filter_map(|it| Some(it.module.first()?.as_str())).collect();
        let own = room.at.split('/').next().unwrap_or_default();
        let used: Vec<&str> = self.rooms.get(&key(room)).into_iter().flatten().map(String::as_str).collect();
        let n_used = used.iter().filter(|it| **it != own).count();
        (n_used * 100 < all.len().saturating_sub(1) * WHOLE_TRIP).then(|| {
            format!(
                "{TABLE}: `{}` of {} may use everything, and uses {n_used} of {} rooms: list them: {}",
                room.at,
                room.folder,
                all.len() - 1,
                used.join(", ")
            )
        })
    }
}

/// The fault of an entry of `never`: it names no module of the compiler, and no crate that the workspace has.
///
/// A crate that the room's own does not depend on yet counts: the entry is there so that it never does.
fn unknown(room: &Room, never: &str, all: &[Sources]) -> Option<String> {
    let mut names = never.split("::");
    let is_known = match (names.next(), names.next()) {
        (Some("std"), _) => true,
        (Some("isobar_compiler"), Some(module)) => all
            .iter()
            .filter(|it| it.folder == "compiler")
            .any(|it| it.files.iter().any(|it| it.module.first().is_some_and(|it| it == module))),
        (Some(name), _) => {
            let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap_or_default();
            let is_it = |line: &str| {
                line.split(['.', ' ', '=']).next().is_some_and(|it| it.replace('-', "_") == name)
            };
            manifest.lines().any(is_it)
        }
        (None, _) => false,
    };
    (!is_known).then(|| {
        format!(
            "{TABLE}: `{}` of {} never names `{never}`, which is not there to be named",
            room.at, room.folder
        )
    })
}
