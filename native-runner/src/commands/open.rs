//! `isobar open` — the files of a link of the page, as files.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use isobar_protocol::share::around::quoted;
use isobar_protocol::share::zip::WORKSPACE;
use isobar_protocol::share::{self, State};

use super::{Outcome, Usage, print, say};
use crate::cli::OpenArgs;

pub(crate) fn open(args: &OpenArgs) -> Result<Outcome, Usage> {
    let wrong = |why: &dyn std::fmt::Display| Usage::Wrong(format!("the link could not be opened: {why}"));
    let fragment = args.link.split_once('#').map_or(args.link.as_str(), |it| it.1);
    let fragment = fragment.split('&').find(|it| it.starts_with("s=")).unwrap_or(fragment);
    let opened = share::decode(fragment).map_err(|it| wrong(&it))?;
    for note in &opened.notes {
        say(&format!("note: {note}"));
    }
    let state = opened.state;
    if state.files.keys().any(|it| it.eq_ignore_ascii_case(WORKSPACE)) {
        return Err(wrong(&format!(
            "one of its files is called `{WORKSPACE}`, which holds its settings here"
        )));
    }
    let workspace = state.workspace();
    let files = state.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let files: Vec<_> = files.chain([(WORKSPACE, workspace.as_str())]).collect();
    let unwritable = |path: &Path, error| Usage::Unwritable { path: path.display().to_string(), error };
    fs::create_dir_all(&args.output).map_err(|error| unwritable(&args.output, error))?;
    for (name, text) in files {
        let path = args.output.join(name);
        write(&args.output, name, text, args.force).map_err(|error| unwritable(&path, error))?;
        print(&format!("{}\n", path.display()));
    }
    say(&format!("run it: {}", command(&state, &args.output)));
    Ok(Outcome::Fine)
}

/// Writes a file below the folder; its name was checked to be a path below it (`names::file`).
///
/// A link on the way to it, or in its place, may lead elsewhere: it is refused.
fn write(folder: &Path, name: &str, text: &str, is_forced: bool) -> io::Result<()> {
    let mut path = folder.to_owned();
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        let found = path.symlink_metadata().ok();
        if found.as_ref().is_some_and(fs::Metadata::is_symlink) {
            return Err(io::Error::other("a symbolic link is in its place"));
        }
        if parts.peek().is_some() && found.is_none() {
            fs::create_dir(&path)?;
        }
    }
    let mut options = OpenOptions::new();
    options.write(true);
    let options = if is_forced { options.create(true).truncate(true) } else { options.create_new(true) };
    let error = match options.open(&path).and_then(|mut file| file.write_all(text.as_bytes())) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            io::Error::new(error.kind(), "there is such a file already; `--force` writes over it")
        }
        other => return other,
    };
    Err(error)
}

/// The command that runs what was written.
fn command(state: &State, folder: &Path) -> String {
    let main = state.main.as_deref().unwrap_or("main.py");
    let mut command = format!("isobar run {} --init", quoted(&folder.join(main).to_string_lossy()));
    if let Some(stencil) = &state.stencil {
        let _ = write!(command, " --stencil {}", quoted(stencil));
    }
    if let Some([i, j, k]) = state.domain {
        let _ = write!(command, " --domain {i},{j},{k}");
    }
    if let Some(precision) = state.precision {
        let _ = write!(command, " --precision {precision}");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(files: &[(&str, &str)]) -> State {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        State { files, ..State::default() }
    }

    fn opened(state: &State, output: &Path, force: bool) -> Result<Outcome, Usage> {
        let link = format!("https://example.org/isobar/#token=abc&{}", share::encode(state));
        open(&OpenArgs { link, output: output.to_owned(), force })
    }

    #[test]
    fn the_files_of_a_link_are_written_into_a_folder() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("new/folder");
        let state = State { precision: Some(32), ..state(&[("main.py", "x"), ("lib/two.py", "y")]) };
        opened(&state, &folder, false).unwrap();
        assert_eq!(fs::read_to_string(folder.join("lib/two.py")).unwrap(), "y");
        assert_eq!(fs::read_to_string(folder.join(WORKSPACE)).unwrap(), "{\n  \"precision\": 32\n}\n");
        assert!(opened(&state, &folder, false).unwrap_err().to_string().contains("--force"));
        opened(&state, &folder, true).unwrap();
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("inside");
        let names =
            ["../out.py", "/out.py", "a/../../out.py", "a//b.py", "..", "a\\b.py", "a\n.py", "main.py"];
        opened(&state(&names.map(|it| (it, "x"))), &folder, false).unwrap();
        let mut found: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
        found.sort();
        assert_eq!(found, ["main.py", WORKSPACE]);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        assert!(opened(&state(&[("Workspace.JSON", "x")]), &folder, true).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_in_the_way_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let (folder, elsewhere) = (home.path().join("inside"), home.path().join("elsewhere"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join("lib")).unwrap();
        std::os::unix::fs::symlink(elsewhere.join("new.py"), folder.join("main.py")).unwrap();
        for name in ["lib/two.py", "main.py"] {
            assert!(opened(&state(&[(name, "x")]), &folder, true).is_err(), "{name}");
        }
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    #[test]
    fn the_command_is_one_that_a_shell_takes() {
        let state = State {
            main: Some("it's.py".to_owned()),
            stencil: Some("a; rm -rf b".to_owned()),
            domain: Some([8, 8, 4]),
            ..State::default()
        };
        let expected = r"isobar run 'my/it'\''s.py' --init --stencil 'a; rm -rf b' --domain 8,8,4";
        assert_eq!(command(&state, Path::new("my")), expected);
    }
}
