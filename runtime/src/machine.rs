//! This machine, as schedules know it: its cores, caches and vectors, as reported by the system.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use isobar_compiler::pass::{Cache, GpuModel, MachineModel};

/// A machine, and the source of each value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedMachine {
    pub machine: MachineModel,
    pub from: BTreeMap<String, String>,
}

/// Common values, for a system that reports none.
const CACHES: [Cache; 2] = [Cache { bytes: 32 << 10, cores: 1 }, Cache { bytes: 1 << 20, cores: 1 }];
pub const LINE_BYTES: u32 = 64;
const VECTOR_BYTES: u32 = 16;
const TAKEN: &str = "not told by the system, a common value";

impl DetectedMachine {
    /// This machine.
    #[must_use]
    pub fn here() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::below(Path::new("/"), u32::try_from(cores).unwrap_or(1))
    }

    /// The machine according to the files of the system below `root`.
    #[must_use]
    pub fn below(root: &Path, cores: u32) -> Self {
        let mut from = BTreeMap::new();
        let mut note = |name: &str, source: &str| drop(from.insert(name.to_owned(), source.to_owned()));
        note("cores", "the threads that this process may run at the same time");
        let told = caches(root);
        note("caches", if told.is_some() { "/sys/devices/system/cpu/cpu0/cache" } else { TAKEN });
        let (caches, line) = told.unwrap_or((CACHES.to_vec(), None));
        note("line_bytes", if line.is_some() { "/sys/devices/system/cpu/cpu0/cache" } else { TAKEN });
        let vector = vector_bytes(root);
        note("vector_bytes", if vector.is_some() { "/proc/cpuinfo" } else { TAKEN });
        let machine = MachineModel {
            cores: cores.max(1),
            caches,
            line_bytes: line.unwrap_or(LINE_BYTES),
            vector_bytes: vector.unwrap_or(VECTOR_BYTES),
        };
        Self { machine, from }
    }
}

/// Describes in a few words the GPU that schedules are made for.
#[must_use]
pub fn gpu_in_words(gpu: &GpuModel) -> String {
    let GpuModel { multiprocessors, shared_bytes_of_block, threads_of_block, bandwidth_gb, .. } = gpu;
    format!(
        "schedules for {multiprocessors} multiprocessors, blocks of {threads_of_block} threads and {} KiB, {bandwidth_gb} \
         GB/s",
        shared_bytes_of_block >> 10
    )
}

/// The data caches of the first core, and the size of their lines in bytes.
fn caches(root: &Path) -> Option<(Vec<Cache>, Option<u32>)> {
    let folder = root.join("sys/devices/system/cpu/cpu0/cache");
    let mut found: BTreeMap<u32, Cache> = BTreeMap::new();
    let mut line = None;
    for index in 0..16 {
        let told = |name: &str| {
            let text = fs::read_to_string(folder.join(format!("index{index}/{name}"))).ok()?;
            Some(text.trim().to_owned())
        };
        if !told("type").is_some_and(|it| it == "Data" || it == "Unified") {
            continue;
        }
        let (Some(level), Some(bytes)) =
            (told("level").and_then(|it| it.parse().ok()), told("size").and_then(|it| bytes(&it)))
        else {
            continue;
        };
        let cores = told("shared_cpu_list").and_then(|it| count(&it)).unwrap_or(1).max(1);
        line = line.or_else(|| told("coherency_line_size")?.parse().ok().filter(|&it| it > 0));
        found.insert(level, Cache { bytes, cores });
    }
    (!found.is_empty()).then(|| (found.into_values().collect(), line))
}

/// `48K`, `32M`, `65536`
fn bytes(text: &str) -> Option<u64> {
    let unit = |letter: char, factor: u64| Some((text.strip_suffix(letter)?, factor));
    let (number, factor) =
        unit('K', 1 << 10).or_else(|| unit('M', 1 << 20)).or_else(|| unit('G', 1 << 30)).unwrap_or((text, 1));
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|&it| it > 0)
}

/// The number of cores in a list such as `0-3,8,10-11`.
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0_u32, |n, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        n.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// The widest vector that the processor names.
fn vector_bytes(root: &Path) -> Option<u32> {
    let text = fs::read_to_string(root.join("proc/cpuinfo")).ok()?;
    let line = text.lines().find(|it| it.starts_with("flags") || it.starts_with("Features"))?;
    let has = |flag: &str| line.split_whitespace().any(|it| it == flag);
    let known = [("avx512f", 64), ("avx", 32), ("sse2", 16), ("asimd", 16)];
    known.into_iter().find(|(flag, _)| has(flag)).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_read_from_the_files_of_its_system() {
        let root = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it is ours");
            fs::write(path, text).expect("it is ours");
        };
        let caches = [
            ("Data", "1", "48K", "0,4"),
            ("Instruction", "1", "32K", "0,4"),
            ("Unified", "3", "32M", "0-7"),
            ("Unified", "2", "1024K", "0,4"),
        ];
        for (at, (kind, level, size, shared)) in caches.into_iter().enumerate() {
            let cache = format!("sys/devices/system/cpu/cpu0/cache/index{at}");
            put(&format!("{cache}/type"), &format!("{kind}\n"));
            put(&format!("{cache}/level"), level);
            put(&format!("{cache}/size"), size);
            put(&format!("{cache}/shared_cpu_list"), shared);
            put(&format!("{cache}/coherency_line_size"), "128");
        }
        put("proc/cpuinfo", "model name : any\nflags\t\t: fpu sse2 avx avx2\n");
        let found = DetectedMachine::below(root.path(), 8);
        let cache = |bytes, cores| Cache { bytes, cores };
        let caches = vec![cache(48 << 10, 2), cache(1 << 20, 2), cache(32 << 20, 8)];
        assert_eq!(found.machine, MachineModel { cores: 8, caches, line_bytes: 128, vector_bytes: 32 });
        assert!(found.from.values().all(|it| it != TAKEN));
    }

    #[test]
    fn a_system_that_tells_nothing_gives_a_common_machine() {
        let root = tempfile::tempdir().expect("a folder");
        let found = DetectedMachine::below(root.path(), 0);
        assert_eq!(found.machine.cores, 1);
        assert_eq!((found.machine.caches.as_slice(), found.machine.vector_bytes), (&CACHES[..], 16));
        assert_eq!(found.from.values().filter(|it| *it == TAKEN).count(), 3);
    }

    #[test]
    fn sizes_and_lists_are_read_or_refused() {
        let sizes = ["48K", "2M", "64", "", "K", "0K", "x"].map(bytes);
        assert_eq!(sizes, [Some(48 << 10), Some(2 << 20), Some(64), None, None, None, None]);
        let lists = ["0", "0-3,8,10-11", "3-0", "", "a"].map(count);
        assert_eq!(lists, [Some(1), Some(7), None, None, None]);
    }
}
