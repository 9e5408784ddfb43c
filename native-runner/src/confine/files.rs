//! Which files a job reaches: the kernel's Landlock, which needs no rights.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::Needs;

/// Programs and libraries, and what finds them.
const SYSTEM: [&str; 13] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
];

/// Files in which the C library and the C compiler look up properties of the machine.
const MACHINE: [&str; 5] = [
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/dev/urandom",
];

/// Files that drivers of GPUs read: how they are set up, where their libraries are, and what the machine has.
const READ_BY_GPUS: [&str; 16] = [
    "/etc/OpenCL",
    "/etc/drirc",
    "/etc/glvnd",
    "/etc/nvidia",
    "/etc/vulkan",
    "/proc/devices",
    "/proc/driver/nvidia",
    "/proc/driver/nvidia-caps",
    "/proc/driver/nvidia-uvm",
    "/proc/filesystems",
    "/proc/modules",
    "/proc/version",
    "/run/opengl-driver",
    "/sys/bus/pci",
    "/sys/dev/char",
    "/sys/devices",
];

/// The process itself, in a `/proc` that has its namespace alone: names of threads are written there.
const OWN_PROCESS: &str = "/proc/self";

/// Devices that drivers of GPUs speak with, by the beginnings of their names: those of NVIDIA, AMD and WSL.
const GPU_NODES: [&str; 3] = ["nvidia", "kfd", "dxg"];
/// The devices for pictures that compute; others have screens.
const RENDER: (&str, &str) = ("/dev/dri", "renderD");
/// Files that libraries open beside them.
const PLAIN_NODES: [&str; 2] = ["/dev/null", "/dev/zero"];

/// The devices of this machine that are GPUs.
fn nodes() -> Vec<PathBuf> {
    let among = |folder: &str, is_one: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
        let all = std::fs::read_dir(folder).into_iter().flatten().flatten();
        all.filter(|it| it.file_name().to_str().is_some_and(is_one)).map(|it| it.path()).collect()
    };
    let mut all = among("/dev", &|name| GPU_NODES.iter().any(|it| name.starts_with(it)));
    all.extend(among(RENDER.0, &|name| name.starts_with(RENDER.1)));
    all.extend(PLAIN_NODES.map(PathBuf::from));
    all
}

/// All that a job reads or writes.
pub(super) fn needed(needs: &Needs<'_>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = SYSTEM.iter().chain(&MACHINE).map(PathBuf::from).collect();
    all.extend(needs.read.iter().cloned());
    all.extend(["/dev/null".into(), needs.folder.to_owned()]);
    if needs.has_gpu {
        all.extend(READ_BY_GPUS.iter().map(PathBuf::from));
        all.extend(nodes());
        // All of it, for names of processes lead through its root; Landlock opens what is listed.
        all.push("/proc".into());
    }
    all
}

/// The newest that is asked for; what an older kernel does not know is left out.
const NEWEST: ABI = ABI::V6;

pub(super) fn restrict(needs: &Needs<'_>) -> Result<(), String> {
    let read = AccessFs::from_read(NEWEST);
    let all = AccessFs::from_all(NEWEST);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|it| it.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|it| it.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(|why| why.to_string())?;
    let mut rules: Vec<(PathBuf, BitFlags<AccessFs>)> = Vec::new();
    rules.extend(SYSTEM.iter().chain(&MACHINE).map(|it| (it.into(), read)));
    rules.extend(needs.read.iter().map(|it| (it.clone(), read)));
    rules.push((needs.folder.to_owned(), all));
    rules.push(("/dev/null".into(), all));
    if needs.has_gpu {
        rules.extend(READ_BY_GPUS.iter().map(|it| (it.into(), read)));
        let written = read | AccessFs::WriteFile | AccessFs::Truncate;
        rules.push((OWN_PROCESS.into(), written));
        rules.extend(nodes().into_iter().map(|it| (it, written | AccessFs::IoctlDev)));
    }
    let mut ruleset = ruleset;
    for (path, access) in rules {
        // Not every machine has all of them.
        let Ok(opened) = PathFd::new(&path) else { continue };
        let access = if is_folder(&path) { access } else { access & AccessFs::from_file(NEWEST) };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, access)).map_err(|why| why.to_string())?;
    }
    let status = ruleset.restrict_self().map_err(|why| why.to_string())?;
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err("the kernel has none".to_owned()),
    }
}

fn is_folder(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_with_a_gpu_has_no_terminal_and_no_folder_of_devices() {
        let folder = Path::new("job");
        let needs = |has_gpu| Needs { folder, read: Vec::new(), has_gpu, has_compiler: false };
        let all = needed(&needs(true));
        for path in &all {
            for other in ["/dev/tty", "/dev/ptmx", "/dev/pts/0", "/dev/sda", "/dev/mem", "/dev/dri/card0"] {
                assert!(!Path::new(other).starts_with(path), "{}", path.display());
            }
            for other in ["/etc/passwd", "/etc/shadow", "/run/secrets/key", "/run/dbus/socket"] {
                assert!(!Path::new(other).starts_with(path), "{}", path.display());
            }
        }
        assert!(all.contains(&PathBuf::from("/dev/zero")));
        assert!(!needed(&needs(false)).iter().any(|it| it.starts_with("/proc/driver")));
    }
}
