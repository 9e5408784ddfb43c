//! `isobar tune`: it ends, keeps what is faster, and runs take what is kept.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use isobar_protocol::report::{
    BackendsReport, BenchReport, CacheReport, EmitReport, RunReport, TuneReport, TunedEntry,
};
use isobar_protocol::tune::Tuned;
use isobar_runtime::cache;
use serde::de::DeserializeOwned;

/// A cache of one test alone.
struct Cache {
    folder: PathBuf,
}

impl Cache {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tuned").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        Self { folder }
    }

    fn isobar(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args(arguments)
            .env("XDG_CACHE_HOME", &self.folder)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn report<T: DeserializeOwned>(&self, arguments: &[&str]) -> T {
        let output = self.isobar(&[arguments, &["--format", "json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Keeps a schedule as `isobar tune` does, whether or not it is faster.
    fn keep(&self, key: &str, document: &str) {
        let folder = self.folder.join("isobar/tuned");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        let tuned = Tuned {
            key: key.to_owned(),
            backend: "rayon".to_owned(),
            what: "by hand".to_owned(),
            domain: [24, 20, 6],
            ms: 1.0,
            default_ms: 2.0,
        };
        let entry = TunedEntry { stencil: "horizontal_diffusion".to_owned(), threads: 1, tuned };
        let told = serde_json::to_string(&entry).unwrap();
        let proof = cache::sign(&self.folder.join("isobar"), &format!("{told}\n{document}")).unwrap();
        let mut kept = serde_json::to_value(&entry).unwrap();
        kept["document"] = document.into();
        kept["proof"] = proof.into();
        fs::write(folder.join(format!("{key}.json")), kept.to_string()).unwrap();
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn hdiff() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/gallery/horizontal_diffusion.py");
    path.to_str().unwrap().to_owned()
}

const ON: [&str; 6] = ["--backend", "rayon", "--threads", "1", "--domain", "24,20,6"];

#[test]
fn what_is_kept_is_taken_exported_and_removed() {
    let (cache, hdiff) = (Cache::new("kept"), hdiff());
    let output = cache.file("fastest.schedule");
    let tune = [&["tune", &hdiff, "--candidates", "6", "--output", &output], &ON[..]].concat();
    let report: TuneReport = cache.report(&tune);
    let tuning = report.tuning.unwrap();
    assert_eq!((tuning.stencil.as_str(), tuning.domain), ("horizontal_diffusion", [24, 20, 6]));
    assert_eq!(tuning.candidates[0].what, "as the compiler chooses");
    assert!((5..=7).contains(&tuning.candidates.len()), "{}", tuning.candidates.len());
    assert!(tuning.untried > 0);
    for it in &tuning.candidates {
        assert!(it.agrees && it.calls.as_ref().unwrap().ms.len() >= 3, "{}", it.what);
        assert!(it.document.ends_with("auto graph\n"), "{}", it.document);
    }
    assert_eq!(tuning.is_kept, tuning.chosen.is_some());
    let fastest = &tuning.candidates[tuning.chosen.unwrap_or(0)];
    assert_eq!(fs::read_to_string(&output).unwrap(), fastest.document);

    let other = &tuning.candidates.last().unwrap().document;
    assert_ne!(*other, tuning.candidates[0].document);
    cache.keep(&tuning.key, other);
    let run = [&["run", &hdiff, "--init"], &ON[..]].concat();
    let with: RunReport = cache.report(&run);
    assert_eq!(with.tuned.unwrap().what, "by hand");
    assert!(!with.steps.is_empty() && with.steps.iter().all(|it| it.ms >= 0.0 && !it.lines.is_empty()));
    assert!(with.steps.last().unwrap().writes.contains(&"q_out".to_owned()), "{:?}", with.steps);
    let without: RunReport = cache.report(&[&run[..], &["--no-tuned"]].concat());
    assert!(without.tuned.is_none());
    assert_eq!(with.hashes, without.hashes);
    let shown = text(&cache.isobar(&run).stdout);
    assert!(shown.contains("rayon runs a schedule that `isobar tune` kept (by hand)"), "{shown}");
    assert!(shown.contains("step of the graph"), "{shown}");

    // About this size, and far from it.
    let run_on = |domain: &str| {
        let run = ["run", &hdiff, "--init", "--backend", "rayon", "--threads", "1", "--domain", domain];
        cache.report::<RunReport>(&run)
    };
    let near = run_on("30,17,7");
    assert!(near.tuned.is_some());
    assert!(run_on("60,20,6").tuned.is_none());
    let fast: RunReport = cache.report(&[&run[..], &["--mode", "fast"]].concat());
    assert!(fast.tuned.is_none());

    let bench = ["bench", &hdiff, "--backends", "rayon,numpy", "--repeats", "3"];
    let bench: BenchReport = cache.report(&[&bench[..], &ON[2..]].concat());
    let bench = bench.benchmark.unwrap();
    assert!(bench.agree && bench.backends[0].tuned.is_some() && bench.backends[1].tuned.is_none());
    assert!(!bench.backends[0].steps.is_empty() && bench.backends[1].steps.is_empty());

    let exported = cache.file("exported.schedule");
    let export = [&["tune", &hdiff, "--export", &exported], &ON[..]].concat();
    let report: TuneReport = cache.report(&export);
    assert!(report.output.is_some() && report.tuning.is_none());
    assert_eq!(fs::read_to_string(&exported).unwrap(), *other);
    // The document gives the same bits, and the same schedule again.
    let elsewhere: RunReport = cache.report(&[&run[..], &["--schedule", &exported]].concat());
    assert!(elsewhere.tuned.is_none());
    assert_eq!(elsewhere.hashes, without.hashes);
    let steps = ["emit", &hdiff, "--stage", "schedule", "--steps", "--schedule", &exported];
    let again: EmitReport = cache.report(&steps);
    assert_eq!(again.steps.unwrap() + "auto graph\n", *other);

    let listed: CacheReport = cache.report(&["cache"]);
    assert_eq!(listed.tuned.len(), 1);
    assert_eq!((listed.tuned[0].tuned.key.as_str(), listed.tuned[0].threads), (tuning.key.as_str(), 1));
    let cleared: CacheReport = cache.report(&["cache", "clear"]);
    assert_eq!(cleared.removed, Some(listed.entries.len() + 1));
    assert!(cache.report::<RunReport>(&run).tuned.is_none());
    assert_eq!(cache.isobar(&export).status.code(), Some(2));
}

#[test]
fn what_cannot_be_followed_any_more_is_told_and_not_taken() {
    let (cache, hdiff) = (Cache::new("old"), hdiff());
    let tune = [&["tune", &hdiff, "--candidates", "1"], &ON[..]].concat();
    let key = cache.report::<TuneReport>(&tune).tuning.unwrap().key;
    cache.keep(&key, "merge k@s70 k@s71\n");
    let run = [&["run", &hdiff, "--init"], &ON[..]].concat();
    let output = cache.isobar(&run);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("cannot be followed any more"), "{}", text(&output.stderr));
    assert!(cache.report::<RunReport>(&run).tuned.is_none());
    // A kept schedule does not count where other users could have written it.
    cache.keep(&key, "auto\n");
    assert!(cache.report::<RunReport>(&run).tuned.is_some());
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(cache.folder.join("isobar/tuned"), open).unwrap();
    assert!(cache.report::<RunReport>(&run).tuned.is_none());
}

#[test]
fn what_has_no_schedule_is_not_tuned() {
    let (cache, hdiff) = (Cache::new("refused"), hdiff());
    let schedule = cache.file("a.schedule");
    fs::write(&schedule, "auto\n").unwrap();
    for arguments in [
        &["tune", &hdiff, "--backend", "debug"][..],
        &["tune", &hdiff, "--backend", "fortran"],
        &["tune", &hdiff, "--backend", "rayon", "--schedule", &schedule],
        &["tune", &hdiff, "--backend", "rayon", "--candidates", "0"],
        &["tune"],
    ] {
        let output = cache.isobar(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    }
}

#[test]
fn forms_of_launches_are_tried_on_a_gpu() {
    let cache = Cache::new("gpu");
    let known: BackendsReport = cache.report(&["backends"]);
    if !known.backends.iter().any(|it| it.name == "wgpu" && it.available) {
        return isobar_testing::skip("forms of launches", "nothing runs `wgpu` here");
    }
    let hdiff = concat!(env!("CARGO_MANIFEST_DIR"), "/../static/gallery/horizontal_diffusion.py");
    let asked = ["--backend", "wgpu", "--domain", "24,20,6", "--candidates", "8", "--seconds", "20"];
    let report: TuneReport = cache.report(&[&["tune", hdiff], &asked[..]].concat());
    let found = report.tuning.unwrap();
    assert!(found.candidates.iter().all(|it| it.agrees), "{found:#?}");
    let forms: Vec<&str> = found.candidates.iter().map(|it| it.what.as_str()).collect();
    assert!(forms.contains(&"form T") || forms.contains(&"form R"), "{forms:?}");
    assert!(forms.len() > 2 && found.candidates.iter().all(|it| it.document.contains("grid ")), "{forms:?}");
    // The kept schedule is used, and gives the same bits.
    let key = &found.key;
    let other = found.candidates.iter().find(|it| it.what.starts_with("form ")).unwrap();
    cache.keep(key, &other.document);
    let run = ["run", hdiff, "--backend", "wgpu", "--domain", "24,20,6", "--init"];
    let kept: RunReport = cache.report(&run);
    assert_eq!(kept.tuned.map(|it| it.what).as_deref(), Some("by hand"));
    let free: RunReport = cache.report(&[&run[..], &["--no-tuned"]].concat());
    assert_eq!(kept.hashes, free.hashes);
    let document = cache.file("other.schedule");
    fs::write(&document, &other.document).unwrap();
    let named: RunReport = cache.report(&[&run[..], &["--schedule", &document]].concat());
    assert_eq!(named.hashes, free.hashes);
}
