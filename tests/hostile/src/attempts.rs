//! The attempts of a hostile program, by system calls alone.

use std::ffi::{CStr, CString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::c_long;

/// The knowledge of a hostile program: paths, and the process that started all.
#[derive(Debug)]
pub(crate) struct Places {
    own: CString,
    cached: CString,
    key: CString,
    runner: i32,
    memory: CString,
    environment: CString,
}

impl Places {
    pub(crate) fn of(folder: &Path, cache: Option<&Path>) -> Self {
        // The name of the folder has the number of the process that made it.
        let name = folder.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let runner = name.split('-').nth(2).and_then(|it| it.parse().ok()).unwrap_or(1);
        let text = |it: &Path| CString::new(it.as_os_str().as_bytes()).unwrap_or_default();
        let cache = cache.unwrap_or(folder);
        Self {
            own: text(&folder.join("written")),
            cached: text(&cache.join("c/planted.so")),
            key: text(&cache.join("key")),
            runner,
            memory: text(Path::new(&format!("/proc/{runner}/mem"))),
            environment: text(Path::new(&format!("/proc/{runner}/environ"))),
        }
    }
}

/// An attempt, by name; it answers what the system says: 0 or more where it works.
pub(crate) type Attempt = (&'static str, fn(&Places) -> c_long);

macro_rules! call {
    ($number:ident $(, $argument:expr)*) => {{
        // SAFETY: it is hostile.
        let answer = unsafe { libc::syscall(libc::$number $(, $argument)*) };
        if answer < 0 { -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(1)) } else { answer }
    }};
}

const WRITE: i32 = libc::O_CREAT | libc::O_WRONLY;

fn open(path: &CString, flags: i32) -> c_long {
    call!(SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0o600)
}

/// Asks whether it is there, how long it is, and whose.
fn look(path: &CStr) -> c_long {
    let mut found = [0_u8; 256];
    call!(SYS_newfstatat, libc::AT_FDCWD, path.as_ptr(), found.as_mut_ptr(), 0)
}

fn fork() -> c_long {
    call!(SYS_clone, libc::SIGCHLD, 0, 0, 0, 0)
}

/// A process that reads from another one's memory.
fn read_memory(pid: i32) -> c_long {
    let mut own = [0_u8; 8];
    let local = libc::iovec { iov_base: own.as_mut_ptr().cast(), iov_len: 8 };
    let remote = libc::iovec { iov_base: 0x1000 as *mut _, iov_len: 8 };
    call!(SYS_process_vm_readv, pid, &raw const local, 1, &raw const remote, 1, 0)
}

/// While it is made: by the compiler, if that were hostile.
pub(crate) const MAKING: [Attempt; 17] = [
    ("read /etc/passwd", |_| open(&CString::from(c"/etc/passwd"), libc::O_RDONLY)),
    ("read a home", |_| open(&CString::from(c"/root"), libc::O_RDONLY)),
    ("read the key of the cache", |it| open(&it.key, libc::O_RDONLY)),
    ("write into the cache", |it| open(&it.cached, WRITE)),
    ("read the memory of the runner", |it| open(&it.memory, libc::O_RDONLY)),
    ("read the environment of the runner", |it| open(&it.environment, libc::O_RDONLY)),
    ("copy the memory of the runner", |it| read_memory(it.runner)),
    ("trace the runner", |it| call!(SYS_ptrace, libc::PTRACE_ATTACH, it.runner, 0, 0)),
    ("signal the runner", |it| call!(SYS_kill, it.runner, libc::SIGTERM)),
    ("a socket", |_| call!(SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0)),
    ("a socket of this machine", |_| call!(SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0)),
    ("a process", |_| fork()),
    ("a program", |_| call!(SYS_execve, c"/bin/true".as_ptr(), 0, 0)),
    ("look at /etc/passwd", |_| look(c"/etc/passwd")),
    ("look at what users have", |_| look(c"/home")),
    ("look at the key of the cache", |it| look(&it.key)),
    ("a mount", |_| call!(SYS_mount, c"none".as_ptr(), c"/".as_ptr(), c"tmpfs".as_ptr(), 0, 0)),
];

/// While it runs. The name is that of the system call, as the runner logs it.
pub(crate) const RUNNING: [Attempt; 26] = [
    ("clone", |_| fork()),
    ("execve", |_| call!(SYS_execve, c"/bin/true".as_ptr(), 0, 0)),
    ("openat", |_| open(&CString::from(c"/etc/passwd"), libc::O_RDONLY)),
    ("openat", |it| open(&it.own, WRITE)),
    ("openat", |it| open(&it.cached, WRITE)),
    ("openat", |it| open(&it.key, libc::O_RDONLY)),
    ("openat", |it| open(&it.memory, libc::O_RDONLY)),
    ("openat", |it| open(&it.environment, libc::O_RDONLY)),
    ("socket", |_| call!(SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0)),
    ("socket", |_| call!(SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0)),
    ("connect", |_| call!(SYS_connect, 0, 0, 0)),
    ("kill", |it| call!(SYS_kill, it.runner, libc::SIGKILL)),
    ("kill", |_| call!(SYS_kill, -1, libc::SIGKILL)),
    ("tgkill", |_| call!(SYS_tgkill, 1, 1, libc::SIGKILL)),
    ("process_vm_readv", |it| read_memory(it.runner)),
    ("ptrace", |it| call!(SYS_ptrace, libc::PTRACE_ATTACH, it.runner, 0, 0)),
    ("mount", |_| call!(SYS_mount, c"none".as_ptr(), c"/".as_ptr(), c"tmpfs".as_ptr(), 0, 0)),
    ("unshare", |_| call!(SYS_unshare, libc::CLONE_NEWUSER)),
    ("bpf", |_| call!(SYS_bpf, 0, 0, 0)),
    ("userfaultfd", |_| call!(SYS_userfaultfd, 0)),
    ("keyctl", |_| call!(SYS_keyctl, 0, 0, 0)),
    ("memfd_create", |_| call!(SYS_memfd_create, c"x".as_ptr(), 0)),
    ("seccomp", |_| call!(SYS_seccomp, 1, 0, 0)),
    ("rt_sigaction", |_| call!(SYS_rt_sigaction, libc::SIGSYS, 0, 0, 8)),
    ("prlimit64", |_| {
        let all = libc::rlimit64 { rlim_cur: u64::MAX, rlim_max: u64::MAX };
        call!(SYS_prlimit64, 0, libc::RLIMIT_AS, &raw const all, 0)
    }),
    ("unlinkat", |it| call!(SYS_unlinkat, libc::AT_FDCWD, it.cached.as_ptr(), 0)),
];

/// A crash while it runs, with the signal that ends it.
pub(crate) type Crash = (&'static str, fn());

/// Crashes. None of them attempts anything.
pub(crate) const CRASHES: [Crash; 5] = [
    ("signal 11", || {
        // SAFETY: it is hostile.
        unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) }
    }),
    ("signal 6", || std::process::abort()),
    ("signal 4", || raise(libc::SIGILL)),
    ("signal 7", || raise(libc::SIGBUS)),
    ("signal 8", || raise(libc::SIGFPE)),
];

fn raise(signal: i32) {
    // SAFETY: it ends this process, as is meant.
    unsafe { libc::raise(signal) };
}

pub(crate) fn told(names: &[&str]) -> bool {
    names.iter().all(|it| writeln!(std::io::stdout(), "{it}").is_ok())
}
