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

/// What the C library and the C compiler ask about the machine.
const MACHINE: [&str; 5] = [
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
    "/dev/urandom",
];

/// What drivers of GPUs read and write.
const OF_GPUS: [&str; 5] = ["/dev", "/proc", "/sys", "/etc", "/run"];

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
        rules.extend(
            OF_GPUS
                .iter()
                .map(|it| (it.into(), read | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev)),
        );
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
