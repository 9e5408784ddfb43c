//! Ways out of a job's process, really tried: a promise that nobody tried to break may be none.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
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
}

impl Attempt {
    /// All of them.
    pub(super) const ALL: [Self; 6] =
        [Self::Rights, Self::Read, Self::Write, Self::Connect, Self::Open, Self::Start];

    /// As the runner asks for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Rights => "rights",
            Self::Connect => "connect",
            Self::Open => "open",
            Self::Start => "start",
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

    /// In words.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Read => "a file of the runner can be read",
            Self::Write => "a file can be written outside of the job's folder",
            Self::Rights => "the rights of a file of the runner can be changed",
            Self::Connect => "another program can be reached over the network",
            Self::Open => "a file can be opened while code runs",
            Self::Start => "a program can be started while code runs",
        }
    }

    /// Tries it; whether it worked. `target` is a file, or an address for a connection.
    pub(crate) fn works(self, target: &str) -> bool {
        match self {
            Self::Read | Self::Open => fs::read(target).is_ok_and(|it| !it.is_empty()),
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
