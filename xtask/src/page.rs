//! `cargo xtask page`: builds the page into `dist/`, without Trunk and without the wasm-bindgen command.
//!
//! `static/index.html` and `Trunk.toml` stay the one description of the page. This file reads the same
//! `data-trunk` links and patterns as Trunk, so both make the same page. Then it names files after their
//! contents and compresses them (`publish`). It puts the first example's text into the page (`first`), and
//! tells the service worker which files there are (`publish`). It also lists all packages of the page with
//! their licences (`licences`).

mod first;
mod licences;
mod publish;

use crate::build::{Built, build, lint};
use crate::install;
use crate::process::{output, patient_cargo, program, root, run, say, target_dir};
use anyhow::{Context, Error, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::thread;

/// How the page's programs are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Quick to build and quick enough to use, large, with names in its stack traces.
    Quick,
    /// The page that is published: small, optimised as a whole and once more.
    Release,
}

/// The files of the page by their path in `dist/`.
type Files = BTreeMap<String, Vec<u8>>;

/// Builds the page into `dist/`; files that did not change are not touched. Answers how the lints went of the crates that
/// were built for it.
pub(crate) fn page(profile: Profile) -> Result<Built> {
    install::wasm_target()?;
    install::npm_packages()?;
    editor()?;

    let home = root().join("static");
    let html = fs::read_to_string(home.join("index.html")).context("static/index.html")?;
    let links = Link::all_of(&html)?;
    let programs: Vec<&Link> = links.iter().filter(|link| link.get("rel") == "rust").collect();
    // The programs take longer, and less than two processors at their end.
    let built = thread::scope(|scope| {
        let making = scope.spawn(glue);
        let mut built = compile(&programs, profile)?;
        built.add(making.join().unwrap_or_else(|_| bail!("what builds the glue panicked"))?);
        Ok::<_, Error>(built)
    })?;
    // Each is taken apart and made smaller by programs of one thread.
    let bound_folders = thread::scope(|scope| {
        let making: Vec<_> = programs.iter().map(|&link| scope.spawn(move || bound(link, profile))).collect();
        let made =
            making.into_iter().map(|it| it.join().unwrap_or_else(|_| bail!("what makes the glue panicked")));
        made.collect::<Result<Vec<_>>>()
    })?;

    let mut files = Files::new();
    for link in &links {
        let href = link.get("href");
        match link.get("rel") {
            "copy-dir" => add_folder(&mut files, &home.join(href), &link.target())?,
            "copy-file" => add_file(&mut files, &home.join(href), &link.target())?,
            "rust" => {}
            rel => bail!("static/index.html: `cargo xtask page` cannot build a link of rel=\"{rel}\""),
        }
    }
    for folder in &bound_folders {
        add_folder(&mut files, folder, "")?;
    }
    let html = first::filled(&finished(&html, &links)?)?;
    // The page's program imports them, which a browser would see late.
    let imported = files.keys().filter(|it| it.starts_with("snippets/") && it.ends_with(".js"));
    let preloads: String =
        imported.map(|it| format!("  <link rel=\"modulepreload\" href=\"./{it}\" />\n  ")).collect();
    let html = html.replacen("</head>", &format!("{preloads}</head>"), 1);
    files.insert(publish::INDEX.into(), html.into_bytes());
    publish::minified(&mut files)?;
    publish::tell_sizes(&mut files, profile)?;
    // Programs are, and what the page starts with says so; what it asks for by name later keeps its name.
    let stays = |it: &&Link<'_>| it.get("rel") != "rust" && it.get("data-versioned").is_empty();
    let staying: Vec<String> = links.iter().filter(stays).map(Link::target).collect();
    let is_below = |name: &str, href: &str| {
        name.strip_prefix(href).is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    let stays = |name: &str| name == publish::INDEX || staying.iter().any(|it| is_below(name, it));
    let mut files = publish::versioned(files, |it| !stays(it))?;
    files.insert(licences::FILE.into(), licences::licences()?);
    publish::tell_service_worker(&mut files)?;
    publish::compressed(&mut files, profile)?;
    let changed = write_all(&files, &root().join("dist"))?;
    say(&format!("the page is in dist/: {} files, {changed} of them new or changed", files.len()));
    Ok(built)
}

/// Bundles the editor and the catalogues; without them the page's crate does not compile, not even for its tests.
pub(crate) fn editor() -> Result<()> {
    let dir = install::npm_dir();
    // The last one that is made.
    let bundle = dir.join("dist/de.ftl");
    let mut sources = vec![dir.join("package-lock.json"), dir.join("build.mjs")];
    sources.extend(files_below(&dir.join("src"))?);
    sources.extend(files_below(&root().join("static/locales"))?);
    if !is_older(&bundle, &sources) {
        return Ok(());
    }
    run(
        program("node").arg("web/editor/build.mjs"),
        "bundle the editor and what the page says into web/editor/dist",
    )
}

fn is_older(made: &Path, sources: &[PathBuf]) -> bool {
    let time = |file: &Path| file.metadata().and_then(|it| it.modified()).ok();
    let Some(made) = time(made) else { return true };
    sources.iter().any(|source| time(source).is_none_or(|it| it > made))
}

fn compile(programs: &[&Link], profile: Profile) -> Result<Built> {
    // The tests, which take longer, are built beside it.
    let mut command = patient_cargo();
    command.args(["build", "--locked", "--package", "isobar-web", "--target", "wasm32-unknown-unknown"]);
    for link in programs {
        command.args(["--bin", link.get("data-bin")]);
    }
    command.args(["--profile", cargo_profile(programs[0], profile), "--features", "in-two-parts"]);
    // One set of flags for every wasm build here, whatever the user's environment says for native code. A
    // program that can be split says where its parts refer to each other. Views of one type make a smaller
    // page.
    command.env("RUSTFLAGS", "--cfg erase_components -Clink-arg=--emit-relocs");
    match profile {
        Profile::Quick => lint(&mut command),
        // As `rustc` optimises it: the compiler that lints keeps some of its passes off.
        Profile::Release => {}
    }
    build(&mut command, "compile the page and its worker to WebAssembly")
}

/// Takes programs apart and writes the JavaScript that starts them.
const GLUE: &str = "isobar-glue";

/// Builds [`GLUE`], in the folder of the tests: in that of the page it would wait for the page.
fn glue() -> Result<Built> {
    let mut command = patient_cargo();
    command.args(["build", "--locked", "--package", GLUE]);
    lint(&mut command);
    build(&mut command, "build what makes the page's glue")
}

/// The profile that compiles the quick page: `Cargo.toml` has it.
const QUICK: &str = "quick-wasm";

fn cargo_profile<'a>(link: &Link<'a>, profile: Profile) -> &'a str {
    match profile {
        Profile::Quick => QUICK,
        Profile::Release => link.get("data-cargo-profile-release"),
    }
}

/// A folder with one program's glue and optimised module, made anew only when the compiled program changed.
fn bound(link: &Link<'_>, profile: Profile) -> Result<PathBuf> {
    let name = link.get("data-bin");
    let folder = cargo_profile(link, profile);
    let compiled = target_dir().join("wasm32-unknown-unknown").join(folder).join(name).with_extension("wasm");
    let module = fs::read(&compiled).with_context(|| format!("{}", compiled.display()))?;
    let stamp = {
        let mut hasher = DefaultHasher::new();
        // The version of this program's own work on the module, which decides the result too.
        const HOW: u32 = 2;
        (env!("CARGO_PKG_VERSION"), HOW, link.text, &module).hash(&mut hasher);
        // They are copied beside the glue.
        for bundle in ["editor.js", "locale.js"] {
            fs::read(install::npm_dir().join("dist").join(bundle))?.hash(&mut hasher);
        }
        format!("{:016x}", hasher.finish())
    };
    let out = target_dir().join("xtask/page").join(folder).join(name);
    let stamp_file = target_dir().join("xtask/page").join(folder).join(format!("{name}.stamp"));
    if fs::read_to_string(&stamp_file).is_ok_and(|it| it == stamp) {
        return Ok(out);
    }
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    let mut glue = program(target_dir().join("debug").join(GLUE));
    glue.arg(name).arg(&compiled).arg(&out);
    match profile {
        Profile::Quick => glue.arg("--names"),
        Profile::Release => &mut glue,
    };
    say(&format!("take {name} apart, and write the JavaScript that starts it: wasm-split, wasm-bindgen"));
    let later = output(&mut glue)?;
    if profile == Profile::Release {
        let later = later.lines().map(PathBuf::from);
        for file in later.chain([out.join(format!("{name}_bg.wasm"))]) {
            let mut command = program("node");
            command.arg(install::npm_dir().join("node_modules/.bin/wasm-opt"));
            command.arg(format!("-O{}", link.get("data-wasm-opt")));
            command.args(link.get("data-wasm-opt-params").split_whitespace());
            command.arg("--strip-debug").arg(&file).arg("--output").arg(&file);
            let part = file.file_stem().unwrap_or_default().to_string_lossy();
            run(&mut command, &format!("make {part} smaller"))?;
        }
    }
    fs::write(stamp_file, stamp)?;
    Ok(out)
}

/// `index.html` without its `data-trunk` links, and with the boot script and the preloads as Trunk puts them.
fn finished(html: &str, links: &[Link<'_>]) -> Result<String> {
    let config = fs::read_to_string(root().join("Trunk.toml")).context("Trunk.toml")?;
    let pattern = |key: &str| {
        let start = format!("{key} = '");
        let line = config.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix('\''));
        line.with_context(|| format!("Trunk.toml: no line `{key} = '...'`"))
    };
    let mut finished = html.to_owned();
    for link in links {
        let is_main = link.get("rel") == "rust" && link.get("data-type") != "worker";
        let replacement = if is_main {
            let name = link.get("data-bin");
            format!("{}\n    {}", pattern("pattern_preload")?, pattern("pattern_script")?)
                .replace("{base}", base(&config))
                .replace("{js}", &format!("{name}.js"))
                .replace("{wasm}", &format!("{name}_bg.wasm"))
        } else {
            String::new()
        };
        finished = finished.replace(link.text, &replacement);
    }
    // The comment that speaks about the links goes with them, and so do the lines that they leave empty.
    if let (Some(start), Some(end)) = (finished.find("<!--"), finished.find("-->")) {
        finished.replace_range(start..end + "-->".len(), "");
    }
    let lines: Vec<&str> = finished.lines().filter(|line| !line.trim().is_empty()).collect();
    Ok(lines.join("\n") + "\n")
}

fn base(config: &str) -> &str {
    config.lines().find_map(|line| line.strip_prefix("public_url = \"")?.strip_suffix('"')).unwrap_or("/")
}

/// One `<link data-trunk ... />` of `index.html`.
#[derive(Debug)]
struct Link<'a> {
    text: &'a str,
    attributes: BTreeMap<&'a str, &'a str>,
}

impl<'a> Link<'a> {
    fn all_of(html: &'a str) -> Result<Vec<Self>> {
        let mut links = Vec::new();
        for line in html.lines().map(str::trim).filter(|line| line.starts_with("<link data-trunk")) {
            ensure!(line.ends_with("/>"), "static/index.html: a data-trunk link stands on one line: {line}");
            let mut attributes = BTreeMap::new();
            let mut rest = line;
            while let Some((before, after)) = rest.split_once("=\"") {
                let name = before.rsplit(' ').next().unwrap_or(before);
                let Some((value, after)) = after.split_once('"') else {
                    bail!("static/index.html: a quotation mark is missing in {line}");
                };
                attributes.insert(name, value);
                rest = after;
            }
            links.push(Self { text: line, attributes });
        }
        let is_program = |it: &Self| it.get("rel") == "rust";
        ensure!(links.iter().any(is_program), "static/index.html has no link of rel=\"rust\"");
        Ok(links)
    }

    /// Where in `dist/` the file or folder goes: below `data-target-path`, where the link has that.
    fn target(&self) -> String {
        let href = self.get("href");
        match self.get("data-target-path") {
            "" => href.to_owned(),
            folder => format!("{folder}/{}", href.rsplit('/').next().unwrap_or(href)),
        }
    }

    /// The attribute's value, empty when it is not there.
    fn get(&self, name: &str) -> &'a str {
        self.attributes.get(name).copied().unwrap_or_default()
    }
}

fn add_file(files: &mut Files, file: &Path, name: &str) -> Result<()> {
    let bytes = fs::read(file).with_context(|| format!("{}", file.display()))?;
    match files.insert(name.to_owned(), bytes) {
        // Both programs carry the same snippets.
        Some(before) if before != files[name] => bail!("two different files want to be dist/{name}"),
        _ => Ok(()),
    }
}

fn add_folder(files: &mut Files, folder: &Path, name: &str) -> Result<()> {
    for file in files_below(folder)? {
        let below = file.strip_prefix(folder)?.components().map(|it| it.as_os_str().to_string_lossy());
        let parts: Vec<_> = [name.into()].into_iter().chain(below).filter(|it| !it.is_empty()).collect();
        add_file(files, &file, &parts.join("/"))?;
    }
    Ok(())
}

/// Every file below `folder`, sorted.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Makes `dist` hold exactly `files` and tells how many it wrote.
fn write_all(files: &Files, dist: &Path) -> Result<usize> {
    fs::create_dir_all(dist)?;
    for stale in files_below(dist)? {
        let name = stale.strip_prefix(dist)?.to_string_lossy().replace('\\', "/");
        if !files.contains_key(&name) {
            fs::remove_file(&stale)?;
            // With the last file of a version go its folders; one that has files refuses.
            let mut folders = stale.ancestors().skip(1).take_while(|it| *it != dist);
            while folders.next().is_some_and(|it| fs::remove_dir(it).is_ok()) {}
        }
    }
    let mut changed = 0;
    for (name, bytes) in files {
        let path = dist.join(name);
        // Times stay as they are where nothing changed, so that the runner is not built again for nothing.
        if fs::read(&path).is_ok_and(|it| it == *bytes) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, bytes).with_context(|| format!("{}", path.display()))?;
        changed += 1;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = "<head>\n  <!-- about\n  links -->\n  <link data-trunk rel=\"copy-file\" href=\"boot.js\" />\n  \
        <link data-trunk rel=\"rust\" data-bin=\"worker\" data-type=\"worker\" />\n  \
        <link data-trunk rel=\"rust\" data-bin=\"isobar-web\" data-wasm-opt-params=\"--a --b\" />\n</head>\n";

    #[test]
    fn links_are_read_with_their_attributes() {
        let links = Link::all_of(HTML).expect("the text is well formed");
        assert_eq!(links.len(), 3);
        assert_eq!(links[0].get("href"), "boot.js");
        assert_eq!(links[2].get("data-wasm-opt-params"), "--a --b");
        assert_eq!(links[2].get("data-type"), "");
    }

    #[test]
    fn a_file_goes_where_its_link_says() {
        let link =
            |text: &'static str| Link::all_of(text).expect("the text is well formed").remove(0).target();
        let program = "\n<link data-trunk rel=\"rust\" />";
        let beside =
            format!("<link data-trunk href=\"../docs/a.md\" data-target-path=\"manual\" />{program}");
        assert_eq!(link(beside.leak()), "manual/a.md");
        let plain = format!("<link data-trunk href=\"boot.js\" />{program}");
        assert_eq!(link(plain.leak()), "boot.js");
    }

    #[test]
    fn a_page_without_a_program_is_refused() {
        assert!(Link::all_of("<link data-trunk rel=\"copy-file\" href=\"a\" />").is_err());
    }

    #[test]
    fn the_finished_page_has_the_boot_script_and_no_trunk_links() {
        let links = Link::all_of(HTML).expect("the text is well formed");
        let page = finished(HTML, &links).expect("Trunk.toml has the patterns");
        assert!(page.contains("<script type=\"module\" src=\"./boot.js\"></script>"), "{page}");
        assert!(page.contains("href=\"./isobar-web.js\""), "{page}");
        assert!(!page.contains("data-trunk"), "{page}");
    }
}
