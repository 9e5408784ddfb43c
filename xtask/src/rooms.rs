//! The modules that each file may name: the table of the style guide, as data.
//!
//! `tidy.rs` checks every import against it. A room is named by its module path below `src/`; `*` stands for one
//! name, or for the rest of one. The first row that matches a file is its row. `tidy/table.rs` checks the table: each
//! row has a file, each entry an import that needs it, and no row speaks about whatever is left.

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Room {
    /// The crate's folder.
    pub(crate) folder: &'static str,
    /// The modules that this row speaks about, with all below them. `/.` at the end: without those below. The empty
    /// one is a crate that is one room.
    pub(crate) at: &'static str,
    /// The modules of the same crate that they may name, with all below them. Modules of the row's own `at`
    /// are allowed as well, except those behind a `!`. Other entries:
    ///
    /// - `FLOOR`: the crate's ground floor
    /// - `*`: everything, for rooms that see the whole trip, and for a crate's root
    /// - a path that ends in `/.`: the things that a module offers itself (or passes on), without those
    ///   below it
    pub(crate) may: &'static [&'static str],
    /// Crates, or modules of crates, that they never name.
    pub(crate) never: &'static [&'static str],
    /// Whether [`level!`] wrote it, which writes the same for all levels.
    pub(crate) is_of_level: bool,
}

/// The compiler's ground floor, lowest first: a room there uses itself and those before it.
pub(crate) const FLOOR: [&str; 5] = ["entity", "space", "types", "diag", "expr"];

/// A level that is lowered, the level it is lowered from, and the rows of its parts.
macro_rules! level {
    ($level:literal, $door:literal, [$($up:literal),*]) => {
        [
            // The door in knows its own room, the nodes and facts of the level above, and the options that decide.
            part(concat!($level, "/", $door), &["FLOOR", "config", $level, $($up),*]),
            part(
                concat!($level, "/analysis"),
                &["FLOOR", "pass", concat!($level, "/."), concat!($level, "/nodes"), concat!($level, "/visit")],
            ),
            part(concat!($level, "/passes"), &["FLOOR", $level, "pass"]),
            // All other modules: nodes, build, print, parse, validate, visit.
            part($level, &["FLOOR", concat!("!", $level, "/passes"), concat!("!", $level, "/from_*")]),
        ]
    };
}

const fn compiler(at: &'static str, may: &'static [&'static str]) -> Room {
    // No files, clock, threads or environment: `compiler/clippy.toml` names the functions, this the modules.
    Room {
        folder: "compiler",
        at,
        may,
        never: &["std::fs", "std::env", "std::net", "std::process", "std::thread", "std::time::Instant"],
        is_of_level: false,
    }
}

/// A row that all levels have.
const fn part(at: &'static str, may: &'static [&'static str]) -> Room {
    Room { is_of_level: true, ..compiler(at, may) }
}

/// The words of a call, which back ends share with their callers.
const CALL: [&str; 3] = ["call/array", "call/launch", "call/signature"];

/// Further modules, for back ends that run here.
const RUN: [&str; 2] = ["call/layout", "call/run"];

const COMPILER: &[Room] = &[
    compiler("entity", &[]),
    compiler("space", &[]),
    compiler("types", &["entity"]),
    compiler("diag", &["space", "types"]),
    compiler("expr", &["space", "types", "diag"]),
    compiler("pass", &["FLOOR"]),
    compiler("conventions", &["config"]),
    compiler("frontend", &["FLOOR", "project", "config", "conventions"]),
    compiler("inputs", &["FLOOR", "config", "conventions", CALL[0], CALL[1], CALL[2]]),
    compiler("config", &["FLOOR", "pass"]),
    compiler("project", &["FLOOR"]),
    // The abilities of a machine. The passes of the last level read them, and modules that choose a machine.
    compiler("target", &["FLOOR", "pass"]),
    // From the text to the optimised OIR, and the texts of the levels on that way.
    compiler(
        "front",
        &[
            "FLOOR", "pass", "config", "project", "frontend", "inputs", "call", "defir", "gtir", "oir",
            "npir", "debug", "numpy",
        ],
    ),
    // A back end is a folder; it starts from one level and does not know the others.
    compiler(
        "debug",
        &["FLOOR", CALL[0], CALL[1], RUN[0], RUN[1], "emit", "python", "oir/nodes", "oir/analysis"],
    ),
    compiler("numpy", &["FLOOR", CALL[0], CALL[1], RUN[0], RUN[1], "emit", "python", "npir/nodes"]),
    compiler(
        "c",
        &["FLOOR", "braces", "c_family", "elements", "emit", "loops/nodes", "loops/analysis", "loops/visit"],
    ),
    compiler(
        "kernel",
        &["FLOOR", CALL[0], CALL[1], CALL[2], "kernel", "loops/nodes", "loops/print", "loops/visit"],
    ),
    compiler("elements", &["FLOOR", "loops/nodes"]),
    compiler("braces", &["FLOOR", "loops/nodes"]),
    compiler(
        "cuda",
        &[
            "FLOOR",
            "braces",
            "c_family",
            "elements",
            "emit",
            "kernel/.",
            "kernel/nodes",
            "call/run",
            "loops/nodes",
            "loops/visit",
        ],
    ),
    compiler(
        "wgsl",
        &[
            "FLOOR",
            "braces",
            "elements",
            "emit",
            CALL[0],
            CALL[1],
            "kernel/.",
            "kernel/call",
            "kernel/nodes",
            "kernel/pack",
            "call/run",
            "loops/nodes",
            "loops/visit",
        ],
    ),
    // All back ends share the first with their callers, and code generators share the others.
    compiler("call", &["FLOOR"]),
    compiler("emit", &["FLOOR"]),
    compiler("c_family", &["FLOOR", "emit"]),
    compiler("python", &["FLOOR", "emit"]),
    // Trees for tests of this level and of code generators.
    compiler("samples", &["FLOOR", "schedule/nodes", "schedule/parse"]),
    // A call as other languages make it: a stencil's parameters, the elements that it touches, and the text
    // of the back end for C.
    compiler("export", &["FLOOR", CALL[2], "c", "c_family", "oir/nodes", "oir/analysis", "pipeline/whole"]),
    // The modules that see all levels, to compare them.
    compiler(
        "equivalence/compare",
        &["FLOOR", "call", "debug", "equivalence", "oir", "pass", "schedule", "tree"],
    ),
    compiler(
        "equivalence/journey",
        &[
            "FLOOR", "front", "kernel", "config", "loops", "oir", "pass", "pipeline", "project", "schedule",
            "sdfg", "target",
        ],
    ),
    // The meaning of the levels: each is run as it stands, and compared with the interpreter that defines the
    // meaning.
    compiler(
        "equivalence",
        &[
            "FLOOR",
            CALL[0],
            CALL[1],
            "kernel/nodes",
            "debug",
            "schedule/nodes",
            "sdfg/nodes",
            "loops/nodes",
            "loops/visit",
            "loops/parse",
        ],
    ),
    // Programs of several stencils: their document and level, and the interpreter that runs each call by `debug`.
    compiler(
        "program",
        &[
            "FLOOR", CALL[0], CALL[1], CALL[2], RUN[1], "config", "debug", "numpy", "front", "frontend",
            "inputs", "pass", "project",
        ],
    ),
    // Those who see the whole trip.
    compiler("pipeline", &["*"]),
    compiler("session", &["config", "front", "pass", "pipeline", "project"]),
    compiler(
        "service",
        &["FLOOR", "call", "config", "front", "frontend", "inputs", "oir", "pass", "project"],
    ),
    compiler("./.", &["*"]),
];

/// Further rows of the last level, which is made for a target. They stand before the rows of all levels.
const FOR_A_TARGET: &[Room] = &[
    compiler("loops/.", &["FLOOR", "pass", "sdfg/nodes", "target"]),
    compiler("loops/passes", &["FLOOR", "loops", "pass", "target"]),
];

static LEVELS: [[Room; 4]; 8] = [
    level!("defir", "from_*", ["frontend"]),
    level!("gtir", "from_*", ["defir/nodes", "defir/analysis", "defir/visit"]),
    level!("oir", "from_*", ["gtir/nodes", "gtir/analysis", "gtir/visit"]),
    level!("npir", "from_*", ["oir/nodes", "oir/analysis", "oir/visit"]),
    level!("tree", "from_*", ["oir/nodes", "oir/analysis", "oir/visit"]),
    level!("schedule", "from_*", ["tree/nodes", "tree/analysis", "tree/visit"]),
    level!("sdfg", "from_*", ["schedule/nodes", "schedule/analysis", "schedule/visit"]),
    level!("loops", "from_*", ["sdfg/nodes", "sdfg/analysis", "sdfg/visit"]),
];

/// The names of the levels, as [`LEVELS`] has them.
pub(crate) const LEVEL_NAMES: [&str; 8] =
    ["defir", "gtir", "oir", "npir", "tree", "schedule", "sdfg", "loops"];

const fn room(
    folder: &'static str,
    at: &'static str,
    may: &'static [&'static str],
    never: &'static [&'static str],
) -> Room {
    Room { folder, at, may, never, is_of_level: false }
}

/// The levels' modules: what crosses a wire is not a node.
const NODES: &[&str] = &[
    "isobar_compiler::defir",
    "isobar_compiler::gtir",
    "isobar_compiler::oir",
    "isobar_compiler::npir",
    "isobar_compiler::tree",
    "isobar_compiler::schedule",
    "isobar_compiler::sdfg",
    "isobar_compiler::loops",
];

/// Modules that the page's own thread leaves to the worker: all of the compiler but the names of its stages.
const COMPILING: &[&str] = &[
    "isobar_compiler::frontend",
    "isobar_compiler::defir",
    "isobar_compiler::gtir",
    "isobar_compiler::oir",
    "isobar_compiler::npir",
    "isobar_compiler::tree",
    "isobar_compiler::schedule",
    "isobar_compiler::sdfg",
    "isobar_compiler::loops",
    "isobar_compiler::call",
    "isobar_compiler::debug",
    "isobar_compiler::numpy",
    "isobar_compiler::kernel",
    "isobar_compiler::c",
    "isobar_compiler::cuda",
    "isobar_compiler::wgsl",
    "isobar_compiler::inputs",
    "isobar_compiler::pipeline::registry",
    "isobar_compiler::session",
    "isobar_lessons::check",
    "isobar_lessons::folder",
];

/// Never named by the first part of the worker: it would get into what a visitor waits for.
const BEFORE_THE_SCHEDULE: &[&str] = &[
    "isobar_compiler",
    "isobar_middle",
    "isobar_code",
    "isobar_program",
    "isobar_classes",
    "isobar_lessons",
    "isobar_service",
    "isobar_worker_second",
    "leptos",
];

/// Crates and modules that an embedding program links without: servers, command lines, editors, and the words
/// of the wire. The compiler's front end belongs to programs that have text.
const EMBEDDED: &[&str] = &[
    "isobar_protocol",
    "isobar_runner",
    "axum",
    "clap",
    "hyper",
    "lsp_server",
    "lsp_types",
    "tokio",
    "isobar_compiler::frontend",
    "isobar_compiler::session",
];

/// As [`EMBEDDED`]; what makes code knows no calls, threads or files either.
const MAKING_CODE: &[&str] = &[
    "isobar_protocol",
    "isobar_runner",
    "isobar_runtime",
    "axum",
    "clap",
    "tokio",
    "isobar_compiler::call::launch",
    "isobar_compiler::frontend",
    "isobar_compiler::pipeline",
    "isobar_compiler::session",
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
];

const CODEGEN: &[Room] = &[
    room("codegen", "shape", &[], MAKING_CODE),
    room("codegen", "lanes", &[], MAKING_CODE),
    room("codegen", "host", &["translate", "wide/."], MAKING_CODE),
    room("codegen", "wide", &["host", "lanes", "translate"], MAKING_CODE),
    room("codegen", "object", &["host", "shape", "translate", "wide/."], MAKING_CODE),
    room("codegen", "machine", &["host", "object", "translate"], MAKING_CODE),
    // Functions, loops and statements, and the parts of that.
    room("codegen", "translate", &["host", "lanes", "shape", "wide/."], MAKING_CODE),
    room("codegen", "control", &["host", "lanes", "translate"], MAKING_CODE),
    room("codegen", "memory", &["lanes", "translate"], MAKING_CODE),
    room("codegen", "expression", &["host", "lanes", "translate"], MAKING_CODE),
    room("codegen", "formula", &["lanes", "translate"], MAKING_CODE),
    room("codegen", "./.", &[], MAKING_CODE),
];

const RUNTIME: &[Room] = &[
    room("runtime", "events", &[], EMBEDDED),
    room("runtime", "machine", &[], EMBEDDED),
    room("runtime", "cache", &[], EMBEDDED),
    room("runtime", "copying", &["cache", "events"], EMBEDDED),
    room("runtime", "failure", &[], EMBEDDED),
    room("runtime", "store", &["cache", "failure"], EMBEDDED),
    room("runtime", "plans", &["failure", "store"], EMBEDDED),
    room("runtime", "bytes", &[], EMBEDDED),
    room("runtime", "boxes", &["failure"], EMBEDDED),
    room("runtime", "device", &["boxes", "copying", "failure"], EMBEDDED),
    room("runtime", "buffer", &["device", "failure"], EMBEDDED),
    room("runtime", "wanted", &[], EMBEDDED),
    room(
        "runtime",
        "executors",
        &[
            "boxes", "bytes", "cache", "copying", "device", "events", "failure", "machine", "plans", "store",
            "wanted",
        ],
        EMBEDDED,
    ),
    room(
        "runtime",
        "executable",
        &["buffer", "cache", "device", "events", "executors", "failure", "plans", "store"],
        EMBEDDED,
    ),
    room(
        "runtime",
        "programs",
        &["boxes", "buffer", "bytes", "cache", "device", "executors", "failure", "plans", "store"],
        EMBEDDED,
    ),
    room("runtime", "./.", &[], EMBEDDED),
];

/// The runner's ground floor: settings, limits, turns of clients, how failures are told, what its operator sees, and the
/// words of the job's process.
const RUNNER_FLOOR: [&str; 8] =
    ["config", "limits", "error", "problems", "random", "telemetry", "turns", "wire"];

macro_rules! runner {
    ($at:literal, [$($may:literal),*], $never:expr) => {
        room("native-runner", $at, &["FLOOR", $($may),*], $never)
    };
}

/// Never named by modules that read the texts of a course: they know no stencil.
const TEXTS: &[&str] =
    &["isobar_compiler", "isobar_protocol", "std::fs", "std::env", "std::net", "std::thread"];

/// Never named by modules that check a learner's text: they run in a browser too.
const CHECKING: &[&str] = &["std::fs", "std::env", "std::net", "std::process", "std::thread", "std::time"];

/// Never named by modules that Python imports: a program of Python has files, threads and the like of its
/// own.
const OF_PYTHON: &[&str] =
    &["isobar_runner", "std::fs", "std::env", "std::net", "std::process", "std::thread"];

/// Never named by the page's model: it draws nothing, asks nobody, and its tests are native.
const MODEL: &[&str] = &[
    "leptos",
    "web_sys",
    "js_sys",
    "isobar_compiler",
    "std::fs",
    "std::env",
    "std::net",
    "std::thread",
    "std::time::Instant",
];

/// A tab has no files and no clock.
const IN_A_TAB: &[&str] =
    &["leptos", "web_sys", "js_sys", "std::fs", "std::env", "std::net", "std::thread", "std::time::Instant"];

const OTHERS: &[Room] = &[
    room("protocol", "", &[], NODES),
    // A class of a request as a program.
    room("compiler/classes", "opened", &[], IN_A_TAB),
    room("compiler/classes", "texts", &[], IN_A_TAB),
    room("compiler/classes", "levels", &["opened", "texts"], IN_A_TAB),
    room("compiler/classes", "calls", &[], IN_A_TAB),
    room("compiler/classes", "run", &["calls", "opened"], IN_A_TAB),
    room("compiler/classes", "./.", &["*"], IN_A_TAB),
    // Courses: their texts for the page, their checks for its worker.
    room("lessons", "markdown", &[], TEXTS),
    room("lessons", "toml", &[], TEXTS),
    room("lessons", "course", &["markdown", "toml"], TEXTS),
    room("lessons", "glossary", &["toml"], TEXTS),
    room("lessons", "check", &["toml"], CHECKING),
    room("lessons", "folder", &["check", "course", "glossary", "markdown"], CHECKING),
    room("lessons", "bin", &["course", "folder", "glossary", "markdown"], &["std::net", "std::thread"]),
    room("lessons", "./.", &["*"], CHECKING),
    // The crate that Python imports: it knows calls and arrays, no file and no server.
    room("python", "arrays", &[], OF_PYTHON),
    room("python", "scalars", &[], OF_PYTHON),
    room("python", "plans", &[], OF_PYTHON),
    room("python", "failures", &[], OF_PYTHON),
    room("python", "dlpack", &[], OF_PYTHON),
    room("python", "gpu", &["arrays", "dlpack", "failures"], OF_PYTHON),
    room("python", "forks", &["failures"], OF_PYTHON),
    room("python", "attended", &[], OF_PYTHON),
    room("python", "caches", &[], OF_PYTHON),
    room("python", "levels", &[], OF_PYTHON),
    room(
        "python",
        "call",
        &["arrays", "attended", "failures", "forks", "gpu", "plans", "scalars"],
        OF_PYTHON,
    ),
    room("python", "ranks", &["arrays"], OF_PYTHON),
    room("python", "program", &["arrays", "failures", "ranks", "scalars", "stencil"], OF_PYTHON),
    room("python", "stencil", &["attended", "call", "failures", "forks", "levels", "plans"], OF_PYTHON),
    room("python", "./.", &["*"], OF_PYTHON),
    // The worker: its first part has no level behind the OIR, and neither part has a document.
    room("web/first", "compile", &[], BEFORE_THE_SCHEDULE),
    room("web/first", "worker", &["compile"], BEFORE_THE_SCHEDULE),
    room("web/first", "./.", &[], BEFORE_THE_SCHEDULE),
    room("web/second", "answers", &[], &["leptos", "web_sys"]),
    room("web/second", "programs", &[], &["leptos", "web_sys"]),
    room("web/second", "levels", &["answers", "programs"], &["leptos", "web_sys"]),
    room("web/second", "gpu", &[], &["leptos", "web_sys"]),
    room("web/second", "worker", &["gpu", "levels"], &["leptos"]),
    room("web/second", "./.", &[], &["leptos"]),
    // How the second part of either program is had.
    room("web/parts", "", &[], &["isobar_compiler", "leptos"]),
    room("web", "bin", &[], NODES),
    // The page as data: what each event makes of it.
    room("web/model", "", &[], MODEL),
    // The page.
    room("web", "files", &["bridge/locale"], &["isobar_compiler", "leptos", "web_sys"]),
    // Areas that change themselves alone, and the actions that cross them.
    room("web", "state", &["bridge"], COMPILING),
    room("web", "actions", &["state", "files", "bridge"], COMPILING),
    room("web", "bridge", &[], &["isobar_compiler", "leptos"]),
    // The column of results places panes; a pane does not know its neighbour.
    room("web", "panes/result", &["state", "panes", "bridge/locale", "widgets"], COMPILING),
    room("web", "panes/.", &[], COMPILING),
    room("web", "panes/*", &["state", "widgets", "plots", "content", "bridge/locale"], COMPILING),
    // The contents of panes, without signals and views.
    room("web", "content", &["state", "widgets", "plots", "bridge/locale"], COMPILING),
    room("web", "plots", &["bridge/locale"], COMPILING),
    room("web", "widgets", &["bridge/locale"], &["isobar_compiler", "isobar_protocol"]),
    room("web", "app", &["panes", "state", "widgets", "bridge/locale"], COMPILING),
    room("web", "./.", &["*"], COMPILING),
    // A route hands on: the state has the back ends, and it knows none of them.
    runner!(
        "routes",
        ["jobs", "document", "ready", "state", "assets", "auth"],
        &["std::thread", "isobar_compiler::debug", "isobar_compiler::numpy", "isobar_compiler::kernel"]
    ),
    runner!("jobs", ["backends", "compile", "confine", "tuned"], &["axum"]),
    // The module that confines a process: it knows no job, no stencil and no back end.
    runner!("confine", [], &["axum", "isobar_compiler", "isobar_runtime"]),
    // The rows of the back ends, and the words of the runtime.
    runner!("backends", [], &["axum", "isobar_compiler::frontend", "isobar_compiler::session"]),
    runner!("auth", [], &["isobar_compiler"]),
    runner!("config", ["backends"], &["axum"]),
    runner!("limits", [], &["isobar_compiler"]),
    runner!("error", [], &[]),
    runner!("problems", [], &[]),
    runner!("random", [], &[]),
    // Names and numbers of ours: it sees no request, no text and no field.
    runner!("telemetry", [], &["axum", "isobar_compiler"]),
    runner!("turns", [], &["axum", "isobar_compiler", "isobar_protocol"]),
    runner!("assets", [], &[]),
    runner!("cli", ["commands", "worker"], &[]),
    runner!(
        "commands",
        [
            "assets",
            "auth",
            "backends",
            "cli",
            "compile",
            "doctor",
            "document",
            "jobs",
            "language",
            "npz",
            "plan",
            "server",
            "state",
            "translate",
            "tuned"
        ],
        &[]
    ),
    runner!("compile", ["backends"], &[]),
    runner!("document", ["cli"], &[]),
    runner!("doctor", ["confine", "jobs"], &["axum", "isobar_compiler"]),
    runner!("language", [], &[]),
    runner!("npz", [], &[]),
    runner!("plan", ["compile", "backends", "npz"], &[]),
    runner!("ready", [], &["axum"]),
    runner!("server", ["assets", "auth"], &[]),
    runner!("state", ["auth", "confine", "jobs", "uploads"], &[]),
    // The words of the runtime as those of the wire.
    runner!("translate", ["backends"], &[]),
    runner!("tuned", ["compile", "backends"], &[]),
    runner!("uploads", [], &[]),
    runner!("wire", ["backends", "translate"], &[]),
    runner!("worker", ["compile", "confine", "backends", "plan", "translate", "tuned"], &[]),
    runner!("./.", ["*"], &[]),
];

/// The ground floor of a crate.
fn floor(folder: &str) -> &'static [&'static str] {
    match folder {
        "compiler" => &FLOOR,
        "native-runner" => &RUNNER_FLOOR,
        _ => &[],
    }
}

/// Every row, in the order in which they are tried.
pub(crate) fn rooms() -> impl Iterator<Item = &'static Room> {
    let levels = FOR_A_TARGET.iter().chain(LEVELS.as_flattened());
    levels.chain(COMPILER).chain(CODEGEN).chain(RUNTIME).chain(OTHERS)
}

/// The row of a module; none when the table does not know its room.
pub(crate) fn room_of(folder: &str, module: &[String]) -> Option<&'static Room> {
    rooms().find(|room| room.folder == folder && matches(room.at, module))
}

impl Room {
    /// Whether a module of this row, `from`, may name `target`, a module of the same crate.
    pub(crate) fn may_use(&self, from: &[String], target: &[String]) -> bool {
        // The file that gives the room its name may pass on what is behind any of its doors.
        let is_head = matches(&format!("{}/.", self.at), from);
        let is_barred =
            |it: &str| it.strip_prefix('!').is_some_and(|it| matches(it, target) && !matches(it, from));
        if !is_head && self.may.iter().any(|it| is_barred(it)) {
            return false;
        }
        is_own(self.at, from, target)
            || self.may.iter().any(|it| match *it {
                "*" => true,
                "FLOOR" => target.first().is_some_and(|room| floor(self.folder).contains(&room.as_str())),
                pattern => matches(pattern, target),
            })
    }

    /// The entry of `never` that `path`, as it is spelled in the source, falls under.
    pub(crate) fn refuses(&self, path: &[String]) -> Option<&'static str> {
        self.never.iter().copied().find(|never| {
            never.split("::").enumerate().all(|(i, name)| path.get(i).is_some_and(|it| it == name))
        })
    }
}

/// Whether `target` is below what the row's pattern stands for in `from`: with `panes/*`, the same pane.
fn is_own(at: &str, from: &[String], target: &[String]) -> bool {
    if at == "./." {
        return from == target;
    }
    let depth = at.split('/').filter(|it| !it.is_empty() && *it != ".").count();
    from.len() >= depth && target.len() >= depth && from[..depth] == target[..depth]
}

/// Whether `module` is what `pattern` names, or below it.
pub(crate) fn matches(pattern: &str, module: &[String]) -> bool {
    let (names, exact) = match pattern.strip_suffix("/.") {
        Some(names) => (names, true),
        None => (pattern, false),
    };
    let names: Vec<&str> = names.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    if exact && module.len() != names.len() || module.len() < names.len() {
        return false;
    }
    names.iter().zip(module).all(|(name, it)| match name.strip_suffix('*') {
        Some(start) => it.starts_with(start),
        None => it == name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('/').filter(|it| !it.is_empty()).map(str::to_owned).collect()
    }

    fn may(folder: &str, from: &str, target: &str) -> bool {
        let from = path(from);
        room_of(folder, &from).expect("the room is in the table").may_use(&from, &path(target))
    }

    #[test]
    fn a_door_uses_its_own_room_and_the_nodes_and_facts_of_the_level_above() {
        assert!(may("compiler", "oir/from_gtir", "oir/build"));
        assert!(may("compiler", "oir/from_gtir", "gtir/nodes"));
        assert!(may("compiler", "oir/from_gtir", "gtir/analysis/extents"));
        assert!(!may("compiler", "oir/from_gtir", "gtir/passes/fold"));
        assert!(!may("compiler", "oir/from_gtir", "defir/nodes"));
    }

    #[test]
    fn a_level_does_not_know_another_nor_its_own_passes() {
        assert!(may("compiler", "oir/print", "expr"));
        assert!(may("compiler", "oir/print", "oir/nodes"));
        assert!(!may("compiler", "oir/print", "gtir/nodes"));
        assert!(!may("compiler", "oir/print", "oir/passes"));
        assert!(may("compiler", "oir", "oir/passes"));
        assert!(!may("compiler", "oir/passes/merge", "debug"));
    }

    #[test]
    fn the_ground_floor_looks_down_only() {
        assert!(may("compiler", "diag/span", "types"));
        assert!(!may("compiler", "types/value", "diag"));
        assert!(!may("compiler", "space/axis", "oir"));
    }

    #[test]
    fn a_back_end_starts_from_one_level() {
        assert!(may("compiler", "c/write", "loops/nodes"));
        assert!(!may("compiler", "c/write", "loops/passes"));
        assert!(!may("compiler", "c/write", "oir/nodes"));
        assert!(!may("compiler", "c/write", "debug"));
        assert!(!may("compiler", "call/array", "oir"));
    }

    #[test]
    fn a_target_is_read_by_passes_of_the_last_level_and_not_by_who_writes_code() {
        assert!(may("compiler", "loops", "target"));
        assert!(may("compiler", "loops/passes/mask_lanes", "target"));
        assert!(!may("compiler", "loops/nodes", "target"));
        assert!(!may("compiler", "loops/passes/mask_lanes", "sdfg/nodes"));
        assert!(!may("compiler", "sdfg/passes/fuse", "target"));
        assert!(!may("compiler", "c/write", "target"));
    }

    #[test]
    fn a_pane_knows_neither_another_pane_nor_the_bridge() {
        assert!(may("web", "panes/ir", "state/compilation"));
        assert!(may("web", "panes/run/table", "panes/run/picture"));
        assert!(!may("web", "panes/ir", "panes/run"));
        assert!(!may("web", "panes/ir", "bridge/worker"));
        assert!(may("web", "panes/ir", "bridge/locale"));
        assert!(!may("web", "bridge/worker", "state"));
    }

    #[test]
    fn a_route_does_not_reach_an_executor_nor_a_job_http() {
        assert!(!may("native-runner", "routes/jobs", "backends"));
        assert!(may("native-runner", "routes/jobs", "jobs/queue"));
        let jobs = room_of("native-runner", &path("jobs/queue")).expect("the room is in the table");
        let axum = ["axum".to_owned(), "Json".to_owned()];
        assert_eq!(jobs.refuses(&axum), Some("axum"));
    }

    #[test]
    fn a_room_that_is_not_in_the_table_is_found_out() {
        assert!(room_of("native-runner", &path("helpers/strings")).is_none());
        assert!(room_of("web", &path("helpers")).is_none());
        assert!(room_of("compiler", &path("helpers/strings")).is_none());
    }
}
