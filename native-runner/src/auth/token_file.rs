//! A token that is the same at each start: in a file that nobody else can read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::geteuid;

/// A token has so many characters at least: 128 bits as they stand in an address.
const LEAST: usize = 22;
const MOST: usize = 512;

/// Why a file has no token. The message never has anything of what is in it.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    #[error("it cannot be made: {0}")]
    Unmade(#[source] io::Error),
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    #[error("it is a link; name the file itself")]
    Link,
    #[error("it is no file")]
    NoFile,
    #[error("it belongs to somebody else")]
    Foreign,
    #[error(
        "others can read or change it (mode {mode:04o}); run `chmod 600` on it, or make a new token by removing it"
    )]
    Open { mode: u32 },
    #[error(
        "it has no token: one line of at least {LEAST} letters, digits, `-` or `_`; remove it, and a new one is made"
    )]
    NoToken,
}

/// The token of the file; one is made where there is no file.
///
/// # Errors
///
/// When the file is not the runner's alone, or has no token.
pub fn read_or_make(path: &Path) -> Result<String, TokenFileError> {
    match make(path) {
        Ok(token) => Ok(token),
        // Also where it is a link that leads nowhere.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(path),
        Err(error) => Err(TokenFileError::Unmade(error)),
    }
}

fn make(path: &Path) -> io::Result<String> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty() && !it.exists()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let token = crate::random::token();
    let written = file.write_all(format!("{token}\n").as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Half a token must not stay.
        let _ = std::fs::remove_file(path);
        return Err(error);
    }
    Ok(token)
}

fn read(path: &Path) -> Result<String, TokenFileError> {
    // The file is opened once, so that the checked file is the file read. A link is refused, and a pipe is
    // not waited for.
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| {
        let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
        if is_link { TokenFileError::Link } else { TokenFileError::Unreadable(error) }
    })?;
    check(&file)?;
    let mut text = String::new();
    let read = (&file).take(MOST as u64 + 2).read_to_string(&mut text);
    read.map_err(|_| TokenFileError::NoToken)?;
    let token = text.trim_end_matches(['\n', '\r']);
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    if (LEAST..=MOST).contains(&token.len()) && token.bytes().all(is_plain) {
        Ok(token.to_owned())
    } else {
        Err(TokenFileError::NoToken)
    }
}

fn check(file: &File) -> Result<(), TokenFileError> {
    let found = file.metadata().map_err(TokenFileError::Unreadable)?;
    let mode = found.mode() & 0o7777;
    if !found.is_file() {
        return Err(TokenFileError::NoFile);
    }
    if found.uid() != geteuid().as_raw() {
        return Err(TokenFileError::Foreign);
    }
    if mode & 0o077 != 0 {
        return Err(TokenFileError::Open { mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_token_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        let token = read_or_make(&path).expect("it is made");
        assert_eq!(path.metadata().expect("it is there").mode() & 0o7777, 0o600);
        assert_eq!(read_or_make(&path).expect("it is there"), token);
        assert!(token.len() >= LEAST);
        // Its folder is made with it, for its owner alone; below a file there is none.
        let below = folder.path().join("none/token");
        assert_eq!(read_or_make(&below).expect("a token"), read_or_make(&below).expect("the same"));
        let mode = folder.path().join("none").metadata().expect("a folder").mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(matches!(read_or_make(&below.join("token")), Err(TokenFileError::Unmade(_))));
    }

    #[test]
    fn what_others_can_read_or_change_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        read_or_make(&path).expect("it is made");
        for mode in [0o640, 0o604, 0o620, 0o666, 0o700 | 0o010] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("it is ours");
            let refused = read_or_make(&path).expect_err("others can use it");
            assert!(matches!(refused, TokenFileError::Open { mode: found } if found == mode), "{refused}");
        }
        fs::set_permissions(&path, Permissions::from_mode(0o400)).expect("it is ours");
        read_or_make(&path).expect("its owner may keep it from changes");
        let link = folder.path().join("link");
        symlink(&path, &link).expect("a link");
        assert!(matches!(read_or_make(&link), Err(TokenFileError::Link)));
        let nowhere = folder.path().join("nowhere");
        symlink(folder.path().join("none"), &nowhere).expect("a link");
        assert!(matches!(read_or_make(&nowhere), Err(TokenFileError::Link)));
        assert!(!folder.path().join("none").exists());
        assert!(matches!(read_or_make(folder.path()), Err(TokenFileError::NoFile)));
    }

    #[test]
    fn what_is_no_token_is_refused_and_never_repeated() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        let long = "x".repeat(MOST + 1);
        for text in ["", "\n", "secret", "secret secret secret secret secret", "ö".repeat(40).as_str(), &long]
        {
            fs::write(&path, text).expect("it is ours");
            fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
            let refused = read_or_make(&path).expect_err("this is no token");
            assert!(matches!(refused, TokenFileError::NoToken) && !refused.to_string().contains("secret"));
        }
        if geteuid().is_root() {
            fs::write(&path, "x".repeat(LEAST)).expect("it is ours");
            std::os::unix::fs::chown(&path, Some(65534), None).expect("root may give it away");
            assert!(matches!(read_or_make(&path), Err(TokenFileError::Foreign)));
        }
    }
}
