//! The features of the kernel that confine jobs.

use std::fs;

use isobar_protocol::report::{Check, CheckState};
use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};

use super::check;

/// The interfaces of Landlock that are asked for, oldest first, each with its number.
const INTERFACES: [(ABI, u32); 6] =
    [(ABI::V1, 1), (ABI::V2, 2), (ABI::V3, 3), (ABI::V4, 4), (ABI::V5, 5), (ABI::V6, 6)];

pub(super) fn examine() -> [Check; 3] {
    [landlock(), seccomp(), namespaces()]
}

fn landlock() -> Check {
    let help =
        "jobs can read all files of the runner's user; use Linux 5.13 or later with `landlock` in its `lsm=`";
    let (name, newest) = ("Landlock", newest());
    match newest {
        0 => check(name, CheckState::Warning, "the kernel does not offer it", help),
        // The network came with the fourth.
        1..4 => {
            let help = "jobs are kept from files, and not from connections; use Linux 6.7 or later";
            check(name, CheckState::Warning, format!("interface {newest}"), help)
        }
        _ => check(name, CheckState::Fine, format!("interface {newest}, or later"), help),
    }
}

/// The newest interface whose rules the kernel supports in full; 0 where it supports none. The test confines
/// nothing.
fn newest() -> u32 {
    let takes = |abi: ABI| {
        let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let rules = rules.handle_access(AccessFs::from_all(abi))?;
        let rules = if abi >= ABI::V4 { rules.handle_access(AccessNet::from_all(abi))? } else { rules };
        let rules = if abi >= ABI::V6 { rules.scope(Scope::from_all(abi))? } else { rules };
        rules.create().map(|_| ())
    };
    INTERFACES.iter().take_while(|(abi, _)| takes(*abi).is_ok()).last().map_or(0, |it| it.1)
}

fn seccomp() -> Check {
    let help = "jobs can ask the kernel for anything; use a kernel with CONFIG_SECCOMP_FILTER";
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    let has_filters = actions.split_whitespace().any(|it| it == "kill_process");
    // A kernel without the list may have filters all the same: each process tells whether it is under one.
    let is_known = fs::read_to_string("/proc/self/status").is_ok_and(|it| it.contains("\nSeccomp:"));
    match (has_filters, is_known) {
        (true, _) => check("seccomp", CheckState::Fine, "filters are there", help),
        (false, true) => {
            check("seccomp", CheckState::Fine, "the kernel knows it, and does not list filters", help)
        }
        (false, false) => check("seccomp", CheckState::Warning, "the kernel does not offer it", help),
    }
}

fn namespaces() -> Check {
    let help = "processes that a job leaves are ended by other means, and jobs can look which files are there; allow user namespaces (sysctl \
        user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)";
    let number = |path: &str| fs::read_to_string(path).ok().and_then(|it| it.trim().parse::<u64>().ok());
    let has_them = fs::exists("/proc/self/ns/user").unwrap_or(false);
    let most = number("/proc/sys/user/max_user_namespaces");
    let is_refused = number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0)
        || number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1);
    match (has_them, most, is_refused) {
        (true, None | Some(1..), false) => {
            check("user namespaces", CheckState::Fine, "no setting refuses them", help)
        }
        (true, Some(0), _) | (true, _, true) => {
            check("user namespaces", CheckState::Warning, "a setting refuses them", help)
        }
        (false, ..) => check("user namespaces", CheckState::Warning, "the kernel does not offer them", help),
    }
}
