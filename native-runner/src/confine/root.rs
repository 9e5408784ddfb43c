//! A root of its own for a job: an empty folder, with what the job needs mounted in it under the same names.
//!
//! Landlock says which files are opened, and nothing about who looks whether a file is there, how long it is and whose.
//! A job cannot look for a file outside of its root.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use libc::c_ulong;
use rustix::fs::{Mode, OFlags};

use super::Needs;
use super::files::needed;

/// Goes on in a root that has nothing but what `needs` names. The process is alone in its namespaces, and has rights
/// within them.
///
/// # Errors
///
/// Why the machine does not allow it; the root is the old one then.
pub(super) fn enter(needs: &Needs<'_>) -> Result<(), String> {
    let told = |what: &str, why: std::io::Error| format!("{what}: {why}");
    let folder = opened(needs.folder).map_err(|why| told("the folder of the job", why))?;
    // The old one stays below until the new one is whole.
    let root = needs.folder;
    mount(c"tmpfs", root, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV, Some(c"size=1m,mode=755"))
        .map_err(|why| told("an empty folder", why))?;
    let built = build(root, needs, &folder).and_then(|()| pivot(root));
    if let Err(why) = built {
        leave(root);
        return Err(why.to_string());
    }
    std::env::set_current_dir(needs.folder).map_err(|why| told("the folder of the job", why))
}

/// Mounts what is needed below `root`.
fn build(root: &Path, needs: &Needs<'_>, folder: &OwnedFd) -> std::io::Result<()> {
    let mut paths: Vec<PathBuf> = needed(needs).into_iter().filter(|it| it.is_absolute()).collect();
    // A folder comes before what lies in it, which is there then.
    paths.sort();
    paths.dedup();
    let mut within: Option<&Path> = None;
    for path in &paths {
        if path == needs.folder || within.is_some_and(|it| path.starts_with(it)) {
            continue;
        }
        // Not every machine has all of them.
        let Ok(found) = path.metadata() else { continue };
        let place = place(root, path);
        if found.is_dir() {
            fs::create_dir_all(&place)?;
            within = Some(path);
        } else {
            place.parent().map_or(Ok(()), fs::create_dir_all)?;
            File::create_new(&place)?;
        }
        mount(&text(path)?, &place, None, libc::MS_BIND | libc::MS_REC, None)?;
    }
    let own = place(root, needs.folder);
    fs::create_dir_all(&own)?;
    let source = CString::new(format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
    mount(&source, &own, None, libc::MS_BIND, None)
}

/// Where a path lies below the new root.
fn place(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn opened(path: &Path) -> std::io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn text(path: &Path) -> std::io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

#[expect(unsafe_code, reason = "the system is asked for a mount")]
fn mount(
    source: &std::ffi::CStr,
    target: &Path,
    kind: Option<&std::ffi::CStr>,
    flags: c_ulong,
    data: Option<&std::ffi::CStr>,
) -> std::io::Result<()> {
    let target = text(target)?;
    let kind = kind.map_or(ptr::null(), |it| it.as_ptr());
    let data = data.map_or(ptr::null(), |it| it.as_ptr().cast());
    // SAFETY: all texts end with a zero, and live longer than the call.
    match unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, data) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Makes `root` the root, and lets go of the old one with all that is in it.
#[expect(unsafe_code, reason = "the system is asked to change the root")]
fn pivot(root: &Path) -> std::io::Result<()> {
    let before = std::env::current_dir();
    std::env::set_current_dir(root)?;
    // SAFETY: both texts end with a zero.
    if unsafe { libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) } != 0 {
        let why = std::io::Error::last_os_error();
        let _ = before.and_then(std::env::set_current_dir);
        return Err(why);
    }
    // The old root lies over the new one, in the place where this process is.
    // SAFETY: the text ends with a zero.
    if unsafe { libc::umount2(c".".as_ptr(), libc::MNT_DETACH) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    std::env::set_current_dir("/")
}

/// Takes the unfinished root away.
#[expect(unsafe_code, reason = "the system is asked to take a mount away")]
fn leave(root: &Path) {
    let Ok(root) = text(root) else { return };
    // SAFETY: the text ends with a zero.
    unsafe { libc::umount2(root.as_ptr(), libc::MNT_DETACH) };
}
