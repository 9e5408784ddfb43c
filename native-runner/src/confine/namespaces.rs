//! A PID namespace for a job, so that all that it started ends with it; and no capabilities.
//!
//! The process that the runner started stays outside and waits. Inside, the first process waits too and is nothing
//! else: signals and orphans are its business. The second one is the job's.

use std::fs;
use std::os::fd::AsFd;
use std::ptr;

use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getgid, getuid, kill_process,
    set_parent_process_death_signal, setrlimit, wait,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, unshare_unsafe,
};

use super::calls::{end, let_crashes_be};

const NAMESPACES: UnshareFlags =
    UnshareFlags::NEWUSER.union(UnshareFlags::NEWPID).union(UnshareFlags::NEWNS).union(UnshareFlags::NEWIPC);

/// Behind this number an exit status tells the signal that ended a process, as shells have it.
const BY_SIGNAL: i32 = 128;

/// Goes on in a process of its own, in a PID namespace of its own: this function returns there alone. Where the
/// machine allows none, it answers why, and nothing has changed.
///
/// The process has one thread, and has opened nothing.
///
/// # Errors
///
/// The reason.
#[expect(unsafe_code, reason = "processes are forked here")]
pub(crate) fn alone() -> Result<(), String> {
    let (user, group) = (getuid(), getgid());
    // SAFETY: no file descriptors are shared with another thread, as there is none.
    unsafe { unshare_unsafe(NAMESPACES) }
        .map_err(|why| format!("the kernel allows no user namespace ({why})"))?;
    // The same user as outside, who is somebody there.
    let _ = fs::write("/proc/self/setgroups", "deny");
    let _ = fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()));
    let _ = fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()));
    // SAFETY: this process has one thread, so that whatever is locked is this thread's.
    match unsafe { libc::fork() } {
        0 => {}
        -1 => {
            // The namespace has no first process, and nothing can be started in it.
            end(1);
        }
        first => stand_for(first),
    }
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    own_processes();
    // SAFETY: as above.
    match unsafe { libc::fork() } {
        0 => {
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            Ok(())
        }
        -1 => end(1),
        job => first_of_all(job),
    }
}

/// Mounts a `/proc` that shows only the processes of the namespace, under their numbers in it: drivers of
/// GPUs look for their own threads there. Where the machine forbids this, as within some containers, the old
/// one stays.
#[expect(unsafe_code, reason = "the system is asked for mounts")]
fn own_processes() {
    let (nothing, no_data) = (ptr::null(), ptr::null());
    // SAFETY: all texts end with a zero, and live longer than the calls.
    unsafe {
        // Nobody outside sees what is mounted here.
        libc::mount(nothing, c"/".as_ptr(), nothing, libc::MS_REC | libc::MS_PRIVATE, no_data);
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), flags, no_data);
    }
}

/// The process that stays outside: it ends in the same way as the first process inside.
fn stand_for(first: i32) -> ! {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let status = lets_go_and_waits(first);
    if let Some(signal) = Signal::from_named_raw(status - BY_SIGNAL) {
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _ = setrlimit(Resource::Core, none);
        let_crashes_be();
        let _ = kill_process(rustix::process::getpid(), signal);
    }
    end(status)
}

/// The first process of a namespace: when it ends, all others do.
fn first_of_all(job: i32) -> ! {
    end(lets_go_and_waits(job))
}

/// Waits for a process, and answers with its exit status. Only the job holds its pipes, so that a reader sees
/// their end when the job is over.
fn lets_go_and_waits(process: i32) -> i32 {
    if let Ok(nothing) = fs::File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(nothing.as_fd());
        let _ = rustix::stdio::dup2_stdout(nothing.as_fd());
        let _ = rustix::stdio::dup2_stderr(nothing.as_fd());
    }
    let Some(job) = Pid::from_raw(process) else { return 1 };
    loop {
        // Orphans come here, too.
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == job => {
                return status
                    .exit_status()
                    .or_else(|| status.terminating_signal().map(|it| BY_SIGNAL + it))
                    .unwrap_or(1);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return 1,
        }
    }
}

/// Gives up every right beyond those of the user, for good.
pub(super) fn drop_capabilities() -> Result<(), String> {
    let told = |why: Errno| why.to_string();
    for capability in CapabilitySet::all() {
        match remove_capability_from_bounding_set(capability) {
            // An older kernel does not know all of them. A process without the right to drop one has none.
            Ok(()) | Err(Errno::INVAL | Errno::PERM) => {}
            Err(why) => return Err(told(why)),
        }
    }
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(told)
}
