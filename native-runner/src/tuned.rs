//! Schedules that `isobar tune` found to be faster, kept for runs of the same stencil on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use isobar_compiler::space::Domain;
use isobar_protocol::report::TunedEntry;
use isobar_protocol::request::{Options, Request};
use isobar_protocol::tune::{Candidate, Tuned, Tuning};
use isobar_runtime::cache;
use serde::{Deserialize, Serialize};

use crate::backends::{AvailableTools, Backend, CCompiler};
use crate::compile::ConfiguredProject;

/// A schedule with its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredSchedule {
    #[serde(flatten)]
    pub entry: TunedEntry,
    /// The schedule as `--schedule` takes it.
    pub document: String,
    /// The signature that shows that the runner wrote the file.
    #[serde(default)]
    pub proof: String,
}

impl StoredSchedule {
    /// The text that the proof signs.
    fn claim(&self) -> String {
        format!("{}\n{}", serde_json::to_string(&self.entry).unwrap_or_default(), self.document)
    }

    /// Whether a file under a key holds the schedule that was kept under that key.
    fn is_of(&self, root: &Path, key: &str) -> bool {
        self.entry.tuned.key == key && cache::is_signed(root, &self.claim(), &self.proof)
    }
}

/// The values that decide whether a schedule is for a run: those that decide the code, without the schedule
/// itself. The number of threads and the domain count as well, each size of the domain as the nearest power
/// of two.
pub(crate) struct For<'a> {
    pub request: &'a Request,
    pub source: &'a ConfiguredProject,
    pub backend: Backend,
    pub threads: u32,
    pub cc: &'a Result<CCompiler, String>,
    pub domain: Domain,
}

impl For<'_> {
    pub(crate) fn key(&self) -> String {
        let Self { request, source, backend, threads, cc, domain } = self;
        let main = &source.project.main;
        // Values that are in the key otherwise, or that a schedule does not depend on, are left out.
        let rest = Request {
            files: request
                .files
                .iter()
                .filter(|it| it.0 != main)
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect(),
            main: None,
            stencil: source.project.stencil.clone(),
            backend: Some(backend.name().to_owned()),
            domain: None,
            origin: Default::default(),
            scalars: Default::default(),
            fields: None,
            init: None,
            out: None,
            options: Options { mode: request.options.mode, threads: Some(*threads), ..Options::default() },
            stages: None,
            bench: None,
            tune: None,
            ..(*request).clone()
        };
        let rest = serde_json::to_string(&rest).unwrap_or_default();
        let text = request.files.get(main).map_or("", String::as_str);
        let tools = backend.tools(&AvailableTools { cc });
        let [i, j, k] = near(*domain);
        let domain = format!("{i} {j} {k}");
        let processor = cache::processor();
        let parts = [text, &rest, &tools, &domain, &processor, env!("CARGO_PKG_VERSION")];
        cache::hash(&parts.map(str::as_bytes))
    }
}

/// Each size as the nearest power of two: 91 to 181 are 128.
pub(crate) fn near(Domain { i, j, k }: Domain) -> [i64; 3] {
    [i, j, k].map(|size| {
        let below = 1_i64 << size.max(1).ilog2();
        // Of the two around it, by their ratios: the middle is the root of two from each.
        if i128::from(size) * i128::from(size) > 2 * i128::from(below) * i128::from(below) {
            2 * below
        } else {
            below
        }
    })
}

/// Whether a request takes what was kept: it does, unless it says how loops run, or that it does not.
pub(crate) fn is_wanted(request: &Request, backend: Backend) -> bool {
    let passes = &request.passes;
    backend.may_be_tuned()
        && request.options.tuned != Some(false)
        && passes.schedule.is_none()
        && passes.stop_after.is_none()
        && passes.limit.is_none()
}

fn file(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.json"))
}

/// The schedule kept under a key. A schedule that cannot be read, or that somebody else could have put there,
/// is ignored.
pub(crate) fn find(root: &Path, key: &str) -> Option<StoredSchedule> {
    let text = fs::read(file(&root.join(cache::OF_TUNED), key)).ok()?;
    cache::private(root, cache::OF_TUNED).ok()?;
    serde_json::from_slice::<StoredSchedule>(&text).ok().filter(|it| it.is_of(root, key))
}

/// Keeps a schedule, in the place of another one for the same.
pub(crate) fn keep(root: &Path, mut kept: StoredSchedule) -> Result<(), String> {
    let folder = cache::private(root, cache::OF_TUNED)?;
    kept.proof = cache::sign(root, &kept.claim()).ok_or("no key to sign it with can be made")?;
    let text = serde_json::to_vec_pretty(&kept).map_err(|error| error.to_string())?;
    cache::put(&folder, &file(&folder, &kept.entry.tuned.key), &text).map_err(|error| error.to_string())
}

/// The most bytes of a schedule that is kept.
const MOST_BYTES: usize = 1 << 20;

/// Keeps what a search chose under the key of what was asked; where it chose nothing, what was kept before is no longer
/// right. Answers why it is not kept.
///
/// The code of a client ran in the process that tells it, and could say anything. So the key is not believed, and a
/// schedule is held against its rules whenever it is taken.
pub(crate) fn settle(root: &Path, key: &str, tuning: &mut Tuning) -> Result<(), String> {
    if tuning.key != key {
        return Err("it is told of something that was not asked".to_owned());
    }
    let median = |it: &Candidate| it.calls.as_ref().map_or(0.0, |it| it.median_ms);
    let chosen = tuning.chosen.and_then(|it| tuning.candidates.get(it));
    let (Some(chosen), Some(own)) = (chosen, tuning.candidates.first()) else {
        return forget(root, key).map_err(|error| error.to_string());
    };
    if chosen.document.len() > MOST_BYTES {
        return Err("it is too long".to_owned());
    }
    let tuned = Tuned {
        key: key.to_owned(),
        backend: tuning.backend.clone(),
        what: chosen.what.clone(),
        domain: tuning.domain,
        ms: median(chosen),
        default_ms: median(own),
    };
    let entry = TunedEntry { stencil: tuning.stencil.clone(), threads: tuning.threads, tuned };
    keep(root, StoredSchedule { entry, document: chosen.document.clone(), proof: String::new() })?;
    tuning.is_kept = true;
    Ok(())
}

/// Removes what was kept under a key, where something was.
pub(crate) fn forget(root: &Path, key: &str) -> std::io::Result<()> {
    cache::absent(fs::remove_file(file(&root.join(cache::OF_TUNED), key)))
}

/// All that is kept, by stencil, and of one by back end and domain.
pub(crate) fn list(root: &Path) -> Vec<TunedEntry> {
    let Ok(files) = fs::read_dir(root.join(cache::OF_TUNED)) else { return Vec::new() };
    let read = |it: fs::DirEntry| {
        let key = it.path().file_stem()?.to_str()?.to_owned();
        find(root, &key).map(|it| it.entry)
    };
    let mut found: Vec<TunedEntry> = files.flatten().filter_map(read).collect();
    let place = |it: &TunedEntry| {
        let Tuned { backend, domain, key, .. } = &it.tuned;
        (it.stencil.clone(), backend.clone(), *domain, it.threads, key.clone())
    };
    found.sort_by_key(place);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_protocol::request::Mode;

    const TEXT: &str =
        "def s(q: Field[float]):\n    with computation(PARALLEL), interval(...):\n        q = 1.0\n";

    fn key(change: impl FnOnce(&mut Request), backend: Backend, domain: [i64; 3]) -> String {
        let mut request = Request::default();
        request.files.insert("a.py".to_owned(), TEXT.to_owned());
        change(&mut request);
        let [i, j, k] = domain;
        let (source, cc) = (ConfiguredProject::of(&request), Err("none".to_owned()));
        let domain = Domain::new(i, j, k);
        For { request: &request, source: &source, backend, threads: 2, cc: &cc, domain }.key()
    }

    #[test]
    fn a_size_counts_as_the_nearest_power_of_two() {
        let of = |i, j, k| near(Domain::new(i, j, k));
        assert_eq!(of(128, 90, 91), [128, 64, 128]);
        assert_eq!(of(1, 0, 3), [1, 1, 4]);
        assert_eq!(of(181, 182, 80), [128, 256, 64]);
    }

    #[test]
    fn what_decides_the_code_decides_the_key_and_the_rest_does_not() {
        let plain = key(|_| (), Backend::OPENMP, [128, 128, 80]);
        let same = [
            key(|it| it.domain = Some([120, 128, 80]), Backend::OPENMP, [120, 128, 80]),
            key(|it| drop(it.scalars.insert("a".to_owned(), 1.into())), Backend::OPENMP, [128, 128, 80]),
            key(|it| it.options.threads = Some(7), Backend::OPENMP, [128, 128, 80]),
            key(
                |it| it.files = [("b.py".to_owned(), TEXT.to_owned())].into(),
                Backend::OPENMP,
                [128, 128, 80],
            ),
        ];
        assert!(same.iter().all(|it| *it == plain), "{same:?}");
        let others = [
            key(|_| (), Backend::RAYON, [128, 128, 80]),
            key(|_| (), Backend::OPENMP, [64, 128, 80]),
            key(|it| it.options.mode = Mode::Fast, Backend::OPENMP, [128, 128, 80]),
            key(|it| it.precision = Some(32), Backend::OPENMP, [128, 128, 80]),
            key(|it| it.passes.skip.push("oir/prune-regions".to_owned()), Backend::OPENMP, [128, 128, 80]),
            key(|it| it.files.values_mut().for_each(|it| it.push('#')), Backend::OPENMP, [128, 128, 80]),
        ];
        for (at, it) in others.iter().enumerate() {
            assert!(*it != plain && !others[..at].contains(it), "{at}");
        }
    }

    #[test]
    fn a_schedule_is_kept_listed_and_forgotten() {
        let home = tempfile::tempdir().expect("a folder");
        let root = home.path().join("isobar");
        let tuned = Tuned { key: "ab".to_owned(), ms: 1.0, default_ms: 2.0, ..Tuned::default() };
        let entry = TunedEntry { stencil: "s".to_owned(), threads: 1, tuned };
        let kept =
            StoredSchedule { entry: entry.clone(), document: "auto\n".to_owned(), proof: String::new() };
        assert_eq!((find(&root, "ab"), list(&root)), (None, Vec::new()));
        keep(&root, kept.clone()).expect("the folder is ours");
        let unsigned = find(&root, "ab").map(|it| StoredSchedule { proof: String::new(), ..it });
        assert_eq!((unsigned, list(&root)), (Some(kept), vec![entry]));
        forget(&root, "ab").expect("the folder is ours");
        forget(&root, "ab").expect("what is gone is gone");
        assert_eq!(list(&root), []);
    }

    #[test]
    fn what_the_runner_did_not_keep_is_not_taken() {
        let home = tempfile::tempdir().expect("a folder");
        let root = home.path().join("isobar");
        let tuned = Tuned { key: "ab".to_owned(), ms: 1.0, default_ms: 2.0, ..Tuned::default() };
        let entry = TunedEntry { stencil: "s".to_owned(), threads: 1, tuned };
        keep(&root, StoredSchedule { entry, document: "auto\n".to_owned(), proof: String::new() })
            .expect("it is ours");
        let path = |key: &str| file(&root.join(cache::OF_TUNED), key);
        let text = fs::read_to_string(path("ab")).expect("it was kept");
        // Another document, no proof, and the file of another key.
        fs::write(path("ab"), text.replace("auto", "cut i@s0 by 8")).expect("it is ours");
        assert_eq!(find(&root, "ab"), None);
        fs::write(path("ab"), text.replace("\"proof\"", "\"other\"")).expect("it is ours");
        assert_eq!(find(&root, "ab"), None);
        fs::write(path("cd"), &text).expect("it is ours");
        assert_eq!((find(&root, "cd"), list(&root)), (None, Vec::new()));
        fs::write(path("ab"), &text).expect("it is ours");
        assert!(find(&root, "ab").is_some());
    }

    #[test]
    fn a_search_is_kept_under_the_key_of_what_was_asked() {
        let home = tempfile::tempdir().expect("a folder");
        let root = home.path().join("isobar");
        let candidate = |document: &str| Candidate { document: document.to_owned(), ..Candidate::default() };
        let told = |key: &str, document: &str| Tuning {
            key: key.to_owned(),
            candidates: vec![candidate(""), candidate(document)],
            chosen: Some(1),
            ..Tuning::default()
        };
        let (asked, other) = ("a".repeat(64), "b".repeat(64));
        assert!(settle(&root, &asked, &mut told(&other, "auto")).is_err());
        assert!(settle(&root, &asked, &mut told(&asked, &"#".repeat(MOST_BYTES + 1))).is_err());
        assert_eq!(list(&root), []);
        let mut tuning = told(&asked, "auto");
        assert_eq!(settle(&root, &asked, &mut tuning), Ok(()));
        assert!(tuning.is_kept && find(&root, &asked).is_some());
    }

    #[test]
    fn who_says_how_loops_run_takes_nothing_else() {
        let wanted = |change: fn(&mut Request)| {
            let mut request = Request::default();
            change(&mut request);
            is_wanted(&request, Backend::RAYON)
        };
        assert!(wanted(|_| ()) && wanted(|it| it.options.tuned = Some(true)));
        assert!(!wanted(|it| it.options.tuned = Some(false)));
        assert!(!wanted(|it| it.passes.schedule = Some("a".to_owned())));
        assert!(!is_wanted(&Request::default(), Backend::DEBUG));
    }
}
