//! The files of the page as a host serves them. They are named after their contents, listed for the service
//! worker, and compressed in advance.
//!
//! The files that `index.html` starts with lie in one folder, whose name is a hash of all in it. So two
//! versions never share an address, and a browser may keep such a file for good. Every path inside of the
//! folder stays as it was written.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use super::{Files, Profile};
use crate::install;
use crate::process::{program, run, target_dir};

/// The page itself.
pub(super) const INDEX: &str = "index.html";
/// The service worker, whose address must not change.
const SERVICE_WORKER: &str = "sw.js";
/// Endings of files that become smaller; the others are packed already, or hardly there.
const PACKED: [&str; 10] = ["css", "ftl", "html", "js", "json", "md", "py", "svg", "toml", "wasm"];
/// Smaller files are not worth a second one: a packet has 1,400 bytes.
const LEAST_BYTES: usize = 1_400;

/// Puts the files that `is_versioned` into a folder named after what is in them, and names them so in `index.html`.
pub(super) fn versioned(files: Files, is_versioned: impl Fn(&str) -> bool) -> Result<Files> {
    let mut hasher = Sha256::new();
    for (name, bytes) in files.iter().filter(|it| is_versioned(it.0)) {
        hasher.update(format!("{name}\0{}\0", bytes.len()));
        hasher.update(bytes);
    }
    let folder = format!("v-{}", hex(&hasher.finalize()));
    let index = files.get(INDEX).context("there is no index.html")?;
    let mut index = String::from_utf8(index.clone()).context("index.html")?;
    let mut placed = Files::new();
    for (name, bytes) in files {
        if is_versioned(&name) {
            for start in ["=\"", "=\"./"] {
                index = index.replace(&format!("{start}{name}\""), &format!("{start}{folder}/{name}\""));
            }
            placed.insert(format!("{folder}/{name}"), bytes);
        } else {
            placed.insert(name, bytes);
        }
    }
    placed.insert(INDEX.to_owned(), index.into_bytes());
    Ok(placed)
}

/// Tells the service worker the version, and each file with its hash.
pub(super) fn tell_service_worker(files: &mut Files) -> Result<()> {
    const LINE: &str = "const [VERSION, FILES] = [\"\", {}];\n";
    let template = files.get(SERVICE_WORKER).context("there is no sw.js")?;
    let template = String::from_utf8(template.clone()).context("sw.js")?;
    ensure!(template.matches(LINE).count() == 1, "static/sw.js: it has no line `{}`", LINE.trim_end());
    let mut list = String::from("{\n");
    for (name, bytes) in files.iter().filter(|it| it.0 != SERVICE_WORKER) {
        ensure!(!name.contains(['"', '\\']), "dist/{name}: such a name cannot be served");
        let _ = writeln!(list, "  \"{name}\": \"{}\",", hex(&Sha256::digest(bytes)));
    }
    let version = hex(&Sha256::digest(&list));
    let told = format!("const [VERSION, FILES] = [\"{version}\", {list}}}];\n");
    files.insert(SERVICE_WORKER.to_owned(), template.replace(LINE, &told).into_bytes());
    Ok(())
}

/// The first 16 digits: enough for names that must differ, not for what somebody could want to forge.
fn hex(hash: &[u8]) -> String {
    hash[..8].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Adds `NAME.br` and `NAME.gz` beside each file that becomes smaller.
///
/// Compressed files are kept by their hash: the best compression takes a minute.
pub(super) fn compressed(files: &mut Files, profile: Profile) -> Result<()> {
    let is_packed = |name: &str, bytes: &[u8]| {
        bytes.len() >= LEAST_BYTES
            && PACKED.iter().any(|it| name.rsplit_once('.').is_some_and(|name| name.1 == *it))
    };
    let chosen: Vec<String> =
        files.iter().filter(|(name, bytes)| is_packed(name, bytes)).map(|it| it.0.clone()).collect();
    let all: Vec<&[u8]> = chosen.iter().map(|name| files[name].as_slice()).collect();
    let packed = packed(&all, profile)?;
    for (name, packed) in chosen.into_iter().zip(packed) {
        for (ending, bytes) in [("br", packed.brotli), ("gz", packed.gzip)] {
            if bytes.len() < files[&name].len() {
                files.insert(format!("{name}.{ending}"), bytes);
            }
        }
    }
    Ok(())
}

/// A file in both of its packed forms.
struct Packed {
    brotli: Vec<u8>,
    gzip: Vec<u8>,
}

/// Compresses files, or takes them from those that are kept.
fn packed(all: &[&[u8]], profile: Profile) -> Result<Vec<Packed>> {
    let (folder, how) = match profile {
        Profile::Quick => ("xtask/compressed-quickly", "--quick"),
        Profile::Release => ("xtask/compressed", "--best"),
    };
    let kept = target_dir().join(folder);
    fs::create_dir_all(&kept)?;
    let paths: Vec<PathBuf> = all.iter().map(|bytes| kept.join(hex(&Sha256::digest(bytes)))).collect();
    let is_missing =
        |path: &PathBuf| !path.with_extension("gz").is_file() || !path.with_extension("br").is_file();
    let missing: Vec<_> = paths.iter().zip(all).filter(|it| is_missing(it.0)).collect();
    if !missing.is_empty() {
        for (path, bytes) in &missing {
            fs::write(path, bytes)?;
        }
        // Node has the compressors of their own authors, and is here for the editor's parts anyway.
        let mut command = program("node");
        command.arg(install::npm_dir().join("compress.mjs")).arg(how).args(missing.iter().map(|it| it.0));
        run(&mut command, "compress what is new")?;
    }
    for (path, _) in missing {
        fs::remove_file(path)?;
    }
    let read = |path: &PathBuf| -> Result<Packed> {
        Ok(Packed {
            brotli: fs::read(path.with_extension("br"))?,
            gzip: fs::read(path.with_extension("gz"))?,
        })
    };
    paths.iter().map(read).collect()
}

/// Writes into the page how large its programs are, unpacked and packed, so that it can tell how far it is.
pub(super) fn tell_sizes(files: &mut Files, profile: Profile) -> Result<()> {
    const PLACE: &str = "<html lang=\"en\"";
    let mut told = PLACE.to_owned();
    for (attribute, name) in
        [("data-page-bytes", "isobar-web_bg.wasm"), ("data-worker-bytes", "worker_bg.wasm")]
    {
        let bytes = files.get(name).with_context(|| format!("there is no {name}"))?;
        let on_the_wire = packed(&[bytes], profile)?[0].brotli.len();
        let _ = write!(told, " {attribute}=\"{} {on_the_wire}\"", bytes.len());
    }
    let index = String::from_utf8(files.get(INDEX).context("there is no index.html")?.clone())?;
    ensure!(index.contains(PLACE), "static/index.html: it has no `{PLACE}`");
    files.insert(INDEX.to_owned(), index.replacen(PLACE, &told, 1).into_bytes());
    Ok(())
}

/// A style sheet with all that it imports, and scripts, without what only people need.
pub(super) fn minified(files: &mut Files) -> Result<()> {
    let esbuild = install::npm_dir().join("node_modules/.bin/esbuild");
    let made = target_dir().join("xtask/minified");
    let sheet = made.join("main.css");
    let mut command = program(&esbuild);
    command.arg("static/style/main.css").args(["--bundle", "--minify", "--log-level=warning"]);
    run(command.arg(format!("--outfile={}", sheet.display())), "make one style sheet of all")?;
    files.retain(|name, _| !name.starts_with("style/"));
    files.insert("style/main.css".to_owned(), fs::read(sheet)?);
    // The service worker has a line that is still to be written.
    let is_script =
        |name: &str| name.ends_with(".js") && name != SERVICE_WORKER && !name.starts_with("snippets/");
    for (name, bytes) in files.iter_mut().filter(|it| is_script(it.0)) {
        let (from, to) = (made.join(name).with_extension("in.js"), made.join(name));
        fs::write(&from, &*bytes)?;
        let mut command = program(&esbuild);
        command.arg(&from).args(["--minify", "--format=esm", "--target=es2022", "--log-level=warning"]);
        run(command.arg(format!("--outfile={}", to.display())), &format!("make {name} smaller"))?;
        *bytes = fs::read(to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> Files {
        all.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn text<'a>(files: &'a Files, name: &str) -> &'a str {
        std::str::from_utf8(&files[name]).expect("it is text")
    }

    const PAGE: &str =
        "<link href=\"style/main.css\"><script src=\"./boot.js\"></script><link href=\"icon.svg\">";

    #[test]
    fn what_the_page_starts_with_is_named_after_what_is_in_it() {
        let made = |boot: &str| {
            let all = [(INDEX, PAGE), ("boot.js", boot), ("style/main.css", "b"), ("icon.svg", "c")];
            versioned(files(&all), |it| !["index.html", "icon.svg"].contains(&it)).expect("there is an index")
        };
        let first = made("a");
        let folder = first.keys().find_map(|it| it.strip_suffix("/boot.js")).expect("it is placed");
        assert!(folder.len() == 18 && folder.starts_with("v-"), "{folder}");
        let expected = format!(
            "<link href=\"{folder}/style/main.css\"><script src=\"./{folder}/boot.js\"></script><link href=\"icon.svg\">"
        );
        assert_eq!(text(&first, INDEX), expected);
        assert!(first.contains_key("icon.svg"));
        assert_eq!(first, made("a"));
        assert_ne!(first.keys().collect::<Vec<_>>(), made("another").keys().collect::<Vec<_>>());
    }

    #[test]
    fn the_service_worker_knows_every_file_but_itself() {
        let mut all = files(&[
            (INDEX, "a"),
            (SERVICE_WORKER, "// about\nconst [VERSION, FILES] = [\"\", {}];\nserve();\n"),
        ]);
        tell_service_worker(&mut all).expect("it has its line");
        let told = text(&all, SERVICE_WORKER);
        assert!(told.starts_with("// about\nconst [VERSION, FILES] = [\""), "{told}");
        assert!(told.ends_with(", {\n  \"index.html\": \"ca978112ca1bbdca\",\n}];\nserve();\n"), "{told}");
        assert!(tell_service_worker(&mut all).is_err(), "told twice");
    }
}
