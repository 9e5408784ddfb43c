//! The search for NVRTC. A toolkit has it, and so has a wheel of Python's registry, which is all that is
//! needed here.
//!
//! The places, in this order:
//!
//! - the path that `ISOBAR_NVRTC` names, and then no other place;
//! - toolkits that the environment names, and those in the usual folders;
//! - environments of Python: the active one, the user's (`~/.local`), then those that programs on `PATH`
//!   belong to;
//! - the libraries that the loader finds by itself, by `LD_LIBRARY_PATH` or its own list.
//!
//! It is a search for files: nothing is loaded, and nothing is started.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable that names NVRTC's library, or its folder.
pub const NAMED: &str = "ISOBAR_NVRTC";

/// The wheel that has NVRTC.
pub const WHEEL: &str = "nvidia-cuda-nvrtc-cu12";

/// Names of the library, the best first. That of CUDA 12 serves more drivers.
pub(super) const LIBRARIES: [&str; 3] = ["libnvrtc.so.12", "libnvrtc.so", "libnvrtc.so.13"];

/// Where the library lies below the folder of Python's packages.
const IN_PACKAGES: [&str; 2] = ["nvidia/cuda_nvrtc/lib", "nvidia/cu13/lib"];

/// The places of the search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvrtcSearch {
    /// The value of [`NAMED`]: a library, or its folder. No other place counts then.
    pub named: Option<PathBuf>,
    /// Folders: the first one with a library wins. If none has one, the loader of libraries searches by
    /// itself.
    pub folders: Vec<PathBuf>,
}

impl NvrtcSearch {
    /// The places that the environment of this process tells: toolkits, and environments of Python.
    #[must_use]
    pub fn of_environment() -> Self {
        Self::of(&|name| env::var_os(name).filter(|it| !it.is_empty()))
    }

    fn of(variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| variable(name).map(PathBuf::from);
        let mut folders = Vec::new();
        let mut toolkits: Vec<PathBuf> =
            ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].iter().filter_map(|it| path(it)).collect();
        toolkits.push("/usr/local/cuda".into());
        toolkits.extend(listed(Path::new("/usr/local"), "cuda-12"));
        toolkits.push("/opt/cuda".into());
        for toolkit in toolkits {
            folders.extend(["lib64", "lib", "targets/x86_64-linux/lib"].map(|it| toolkit.join(it)));
        }
        // Environments, and the prefixes of programs on PATH, since some of these belong to a Python.
        let mut prefixes: Vec<PathBuf> =
            ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|it| path(it)).collect();
        prefixes.extend(path("HOME").map(|it| it.join(".local")));
        for folder in variable("PATH").iter().flat_map(env::split_paths) {
            prefixes.extend(folder.parent().map(Path::to_owned));
        }
        let mut seen = Vec::new();
        for prefix in prefixes {
            if seen.contains(&prefix) {
                continue;
            }
            let lib = prefix.join("lib");
            for python in listed(&lib, "python3") {
                for packages in ["site-packages", "dist-packages"] {
                    folders.extend(IN_PACKAGES.map(|it| python.join(packages).join(it)));
                }
            }
            seen.push(prefix);
        }
        Self { named: path(NAMED), folders }
    }

    /// The library, where one of these places has it.
    #[must_use]
    pub fn library(&self) -> Option<PathBuf> {
        let within = |folder: &Path| LIBRARIES.iter().map(|it| folder.join(it)).find(|it| it.is_file());
        match &self.named {
            Some(named) if named.is_dir() => within(named),
            Some(named) => Some(named.clone()).filter(|it| it.is_file()),
            None => self.folders.iter().find_map(|it| within(it)),
        }
    }
}

/// The entries of a folder whose names begin with `start`, in descending order.
fn listed(folder: &Path, start: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_one = |it: &fs::DirEntry| it.file_name().to_string_lossy().starts_with(start);
    let mut found: Vec<PathBuf> = entries.flatten().filter(is_one).map(|it| it.path()).collect();
    found.sort_by(|one, other| other.cmp(one));
    found
}

/// The variables for a process that runs kernels for this one and inherits no others.
#[must_use]
pub fn handed_down() -> Vec<(&'static str, OsString)> {
    let mut all: Vec<(&'static str, OsString)> = Vec::new();
    if let Some(library) = NvrtcSearch::of_environment().library() {
        all.push((NAMED, library.into()));
    }
    for name in ["LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        all.extend(env::var_os(name).map(|it| (name, it)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &Path)]) -> NvrtcSearch {
        let found =
            |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.as_os_str().to_owned());
        NvrtcSearch::of(&found)
    }

    #[test]
    fn a_wheel_in_an_environment_is_found_and_a_name_goes_before_it() {
        let home = tempfile::tempdir().unwrap();
        let in_wheel = home.path().join("lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib");
        let elsewhere = home.path().join("elsewhere");
        for folder in [&in_wheel, &elsewhere] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("libnvrtc.so.12"), b"").unwrap();
        }
        let of_wheel = Some(in_wheel.join("libnvrtc.so.12"));
        assert_eq!(places(&[("VIRTUAL_ENV", home.path())]).library(), of_wheel);
        assert_eq!(places(&[("PATH", &home.path().join("bin"))]).library(), of_wheel);
        let both = [("VIRTUAL_ENV", home.path()), (NAMED, &*elsewhere)];
        assert_eq!(places(&both).library(), Some(elsewhere.join("libnvrtc.so.12")));
        // A name that leads to nothing is not replaced by another place.
        let missing = elsewhere.join("nothing");
        assert_eq!(places(&[("VIRTUAL_ENV", home.path()), (NAMED, &*missing)]).library(), None);
    }
}
