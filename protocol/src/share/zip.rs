//! A workspace as a zip archive: its files, and `workspace.json` with the settings.

use super::State;
use crate::zip::{Method, TooLarge, Writer};

/// The name of the settings beside the files.
pub const WORKSPACE: &str = "workspace.json";

/// The whole archive. The same state gives the same bytes.
#[must_use]
pub fn archive(state: &State) -> Vec<u8> {
    packed(files_of(state))
}

/// Several workspaces in one archive, each in its folder.
#[must_use]
pub fn archive_of_all(all: &[(String, State)]) -> Vec<u8> {
    let in_folder = |folder: &str, (name, text): (String, String)| (format!("{folder}/{name}"), text);
    packed(all.iter().flat_map(|(folder, state)| files_of(state).map(move |it| in_folder(folder, it))))
}

/// The files of a workspace, and its settings.
fn files_of(state: &State) -> impl Iterator<Item = (String, String)> {
    // A file of that name is the user's own, and says more than the settings do.
    let has_own = state.files.contains_key(WORKSPACE);
    let own = (!has_own).then(|| (WORKSPACE.to_owned(), state.workspace()));
    state.files.iter().map(|(name, text)| (name.clone(), text.clone())).chain(own)
}

fn packed(files: impl Iterator<Item = (String, String)>) -> Vec<u8> {
    let mut writer = Writer::default();
    // Texts of a page are far below the limits of the format.
    let written = files.map(|(name, text)| writer.add(&name, text.as_bytes(), Method::Deflated));
    let written: Result<(), TooLarge> = written.collect();
    written.and_then(|()| writer.finish()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_the_files_and_the_settings() {
        let files = [("lib/ü.py", "y = 2\n"), ("main.py", "x = 1\n")];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let made = archive(&State { files, precision: Some(32), ..State::default() });
        assert!(made.starts_with(b"PK\x03\x04") && made[made.len() - 22..].starts_with(b"PK\x05\x06"));
        let count = |part: &[u8]| made.windows(part.len()).filter(|it| *it == part).count();
        assert_eq!(
            (count(b"PK\x01\x02"), count("lib/ü.py".as_bytes()), count(WORKSPACE.as_bytes())),
            (3, 2, 2)
        );
    }

    #[test]
    fn texts_are_in_folders_of_their_own() {
        let of = |text: &str| State {
            files: [("main.py".to_owned(), text.to_owned())].into(),
            ..State::default()
        };
        let made = archive_of_all(&[("1-a".to_owned(), of("x = 1\n")), ("2-b".to_owned(), of("x = 2\n"))]);
        for name in ["1-a/main.py", "1-a/workspace.json", "2-b/main.py", "2-b/workspace.json"] {
            let count = made.windows(name.len()).filter(|it| *it == name.as_bytes()).count();
            assert_eq!(count, 2, "{name}");
        }
    }
}
