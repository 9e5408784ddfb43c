//! Closes files and sockets of the program that started the runner, and leaves its terminal.

use std::fs::{self, File};
use std::os::fd::AsRawFd;

/// The three before are pipes to the runner.
const FIRST: u32 = 3;

/// Closes all descriptors but the first three, and leaves the terminal. The process has opened nothing yet.
///
/// # Errors
///
/// Where a descriptor may be left.
pub(crate) fn let_go() -> Result<(), String> {
    close_all()?;
    // Without one there is nothing to open.
    if let Ok(terminal) = File::open("/dev/tty") {
        leave(&terminal);
    }
    Ok(())
}

#[expect(unsafe_code, reason = "descriptors are closed that no value of this process stands for")]
fn close_all() -> Result<(), String> {
    // SAFETY: nothing was opened here, so that no value of this process has one of them.
    if unsafe { libc::syscall(libc::SYS_close_range, FIRST, u32::MAX, 0) } == 0 {
        return Ok(());
    }
    // Kernels before 5.9 have no such call.
    let open =
        fs::read_dir("/proc/self/fd").map_err(|why| format!("descriptors cannot be listed ({why})"))?;
    let names: Vec<_> = open.flatten().map(|it| it.file_name()).collect();
    for number in names.iter().filter_map(|it| it.to_str()?.parse::<i32>().ok()) {
        if number.unsigned_abs() >= FIRST {
            // SAFETY: as above; the folder that listed them is closed already.
            unsafe { libc::close(number) };
        }
    }
    Ok(())
}

#[expect(unsafe_code, reason = "the system is asked to take the terminal away")]
fn leave(terminal: &File) {
    // SAFETY: it is open.
    unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY) };
}
