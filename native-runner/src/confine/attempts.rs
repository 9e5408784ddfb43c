//! Ways out of a job's process, really tried: a promise that nobody tried to break may be none.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};

/// One way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// A file of the runner is read.
    Read,
    /// A file is written beside it.
    Write,
    /// The rights of a file of the runner are changed.
    Rights,
    /// Another program of this machine is reached over the network.
    Connect,
    /// A file is opened while code runs.
    Open,
    /// A program is started while code runs.
    Start,
    /// It is looked whether a file of the runner is there, and how long it is.
    Look,
    /// A file of the runner is read by a job with a GPU.
    ReadWithGpu,
    /// A datagram is sent to another program by a job with a GPU.
    Send,
}

impl Attempt {
    /// All of them.
    pub(super) const ALL: [Self; 9] = [
        Self::Rights,
        Self::Read,
        Self::Write,
        Self::Connect,
        Self::Open,
        Self::Start,
        Self::Look,
        Self::ReadWithGpu,
        Self::Send,
    ];

    /// As the runner asks for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Rights => "rights",
            Self::Connect => "connect",
            Self::Open => "open",
            Self::Start => "start",
            Self::Look => "look",
            Self::ReadWithGpu => "read-with-gpu",
            Self::Send => "send",
        }
    }

    /// The one of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Whether it is made in the second phase.
    pub(crate) fn is_while_running(self) -> bool {
        matches!(self, Self::Open | Self::Start)
    }

    /// Whether it is made by a job that speaks with a GPU, which may do more.
    pub(crate) fn has_gpu(self) -> bool {
        matches!(self, Self::ReadWithGpu | Self::Send)
    }

    /// In words.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Read => "a file of the runner can be read",
            Self::Write => "a file can be written outside of the job's folder",
            Self::Rights => "the rights of a file of the runner can be changed",
            Self::Connect => "another program can be reached over the network",
            Self::Open => "a file can be opened while code runs",
            Self::Start => "a program can be started while code runs",
            Self::Look => "it can be seen that a file of the runner is there",
            Self::ReadWithGpu => "a file of the runner can be read with a GPU",
            Self::Send => "another program can be sent a datagram with a GPU",
        }
    }

    /// Tries it; whether it worked. `target` is a file, or an address for a connection.
    pub(crate) fn works(self, target: &str) -> bool {
        match self {
            Self::Look => fs::symlink_metadata(target).is_ok(),
            Self::Send => UnixDatagram::unbound().is_ok_and(|it| it.send_to(b"here", target).is_ok()),
            Self::Read | Self::Open | Self::ReadWithGpu => fs::read(target).is_ok_and(|it| !it.is_empty()),
            Self::Write => fs::write(Path::new(target).with_extension("written"), "here").is_ok(),
            Self::Rights => fs::set_permissions(target, fs::Permissions::from_mode(0o644)).is_ok(),
            Self::Connect => TcpStream::connect(target).is_ok(),
            Self::Start => {
                let mut program = Command::new("/proc/self/exe");
                program.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                program.status().is_ok_and(|it| it.success())
            }
        }
    }
}
