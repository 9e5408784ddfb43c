//! Programs can do each action of the command too, by calls of the libraries below it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Launch, bind};
use isobar_compiler::config::Config;
use isobar_compiler::export::{self, BINDINGS};
use isobar_compiler::inputs::call_for;
use isobar_compiler::oir::nodes::Stencil;
use isobar_compiler::pipeline::registry::texts;
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::Domain;
use isobar_compiler::types::DType;
use isobar_equivalence::compare;
use isobar_equivalence::journey::Journey;
use isobar_protocol::compile::Compiled;
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::report::CheckState;
use isobar_protocol::request::{Bench, Request, Tune};
use isobar_protocol::share::{self, State};
use isobar_runner::auth::{Auth, Hosts};
use isobar_runner::config::{Environment, Tools};
use isobar_runner::doctor::examine;
use isobar_runner::jobs::child::{self, Bounds};
use isobar_runner::jobs::memory::MemoryClaim;
use isobar_runner::jobs::started::WorkerPool;
use isobar_runner::language::{self, Options};
use isobar_runner::state::AppState;
use isobar_runner::wire::{Fields, Order};
use isobar_runner::{cli, commands, limits};
use isobar_runtime::cache;
use isobar_runtime::executable::OwnedSetting;
use isobar_runtime::executors::rayon::Rayon;
use isobar_runtime::{Arguments, Buffer, Executable};
use lsp_server::{Connection, Message, Notification};
use serde_json::json;
use tower::ServiceExt;

const TEXT: &str = "\
# @domain 5 4 3
# @input q random(low=0, high=1, seed=1)
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

def smooth(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q + 0.25 * (q[-1, 0, 0] + q[1, 0, 0])
";

/// An action of the command, with a program that does the same.
type Action = (&'static str, fn());

const ACTIONS: [Action; 16] = [
    ("check", check),
    ("explain", explain),
    ("emit", emit),
    ("export", export),
    ("run", run),
    ("bench", bench),
    ("tune", tune),
    ("compare", compare),
    ("bisect", bisect),
    ("open", open),
    ("backends", backends),
    ("cache", keep),
    ("config", config),
    ("doctor", doctor),
    ("serve", serve),
    ("lsp", lsp),
];

#[test]
fn every_action_of_the_command_has_a_call_of_a_library() {
    let known: BTreeSet<String> = ACTIONS.iter().map(|it| it.0.to_owned()).collect();
    assert_eq!(cli::actions().into_iter().collect::<BTreeSet<_>>(), known);
    for (name, act) in ACTIONS {
        assert!(std::panic::catch_unwind(act).is_ok(), "{name}");
    }
}

fn compiled(text: &str) -> Arc<Compilation> {
    Arc::new(route::compile(&Project::of_one("main.py", text), &Config::default(), &mut NoHook))
}

fn tools() -> Tools {
    Tools::find(&Environment {
        path: std::env::var_os("PATH").unwrap_or_default(),
        temporary: std::env::temp_dir(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_isobar")),
        ..Environment::default()
    })
}

fn check() {
    assert!(!compiled(TEXT).has_errors());
    let broken = compiled(&TEXT.replace("q[1, 0, 0]", "nothing"));
    let found = Compiled::new(&broken.front, &broken.notes, [], Vec::new()).diagnostics;
    assert!(found.iter().any(|it| it.message.contains("nothing") && it.help.is_some()), "{found:?}");
}

fn explain() {
    assert!(commands::explain::part("E16").unwrap().starts_with("E16: "));
    assert_eq!(commands::explain::part("X99"), None);
}

fn emit() {
    let told = {
        let compilation = compiled(TEXT);
        let all = texts().filter_map(|it| Some((it.stage, compilation.text(it)?)));
        Compiled::new(&compilation.front, &compilation.notes, all, Vec::new())
    };
    let empty: Vec<_> = told.stages.iter().filter(|it| it.text.is_empty()).map(|it| &it.stage).collect();
    assert!(told.stages.len() > 8 && empty.is_empty(), "{empty:?}");
}

fn export() {
    let compilation = compiled(TEXT);
    let source = export::CompiledStencil {
        signature: compilation.front.signature.as_ref().unwrap(),
        code: export::ExportedCode::Stencil(export::StencilCode {
            artifact: compilation.c().unwrap(),
            of_one_thread: compilation.c_of_one_thread().unwrap(),
            oir: compilation.front.oir.as_ref().unwrap(),
            extents: compilation.front.extents.as_ref().unwrap(),
        }),
        sources: compilation.front.sources().collect(),
    };
    let request = export::Request {
        name: None,
        bindings: BINDINGS.iter().collect(),
        stencils: vec![source],
        is_fast: false,
        generator: "a program",
    };
    let files = export::files(&request).unwrap();
    assert!(files.iter().any(|it| it.path == "CMakeLists.txt"), "{files:?}");
}

fn run() {
    let project = Project::of_one("main.py", TEXT);
    let made =
        Executable::new(&project, Config::default(), Arc::new(Rayon), OwnedSetting::embedded(1), &|_| ());
    let stencil = made.unwrap();
    let field = || Buffer::host(Array::zeros(DType::Float64, &[7, 4, 3])).with_origin(&[1, 0, 0]);
    let fields = BTreeMap::from(["q", "out"].map(|name| (name.into(), field())));
    let mut bound = stencil.bind(Arguments { fields, ..Arguments::default() }).unwrap();
    stencil.run(&mut bound).unwrap();
}

/// Does what a request asks for, in a process of its own, as the command does; answers what it told.
fn driven(change: impl FnOnce(&mut Request)) -> Vec<EventKind> {
    let mut request: Request = serde_json::from_value(json!({
        "files": { "main.py": TEXT },
        "backend": "rayon",
        "init": {},
    }))
    .unwrap();
    change(&mut request);
    let (tools, limits) = (tools(), limits::of_this_machine());
    let order = Order::new(request, false, &limits, &tools);
    let (run_ms, result_bytes) = (limits.run_ms, limits.kept_bytes);
    let bounds = Bounds { run_ms, result_bytes, room: MemoryClaim::default() };
    let waiting = WorkerPool::new(Arc::new(tools), 0);
    let (_stop, stopped) = tokio::sync::watch::channel(None);
    let mut told = Vec::new();
    let driving =
        child::drive(&waiting, "library", order, Fields::None, bounds, stopped, |it, _| told.push(it));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (reason, problem) = runtime.block_on(driving);
    assert_eq!((reason, problem), (EndReason::Ok, None));
    told
}

fn bench() {
    let told = driven(|it| it.bench = Some(Bench { rounds: Some(5), ..Bench::default() }));
    assert!(told.iter().any(|it| matches!(it, EventKind::Benchmark { .. })), "{told:?}");
}

fn tune() {
    let told = driven(|it| it.tune = Some(Tune { candidates: Some(2), ..Tune::default() }));
    assert!(told.iter().any(|it| matches!(it, EventKind::Tuning { .. })), "{told:?}");
}

/// The stencil as OIR, and a call of it with the inputs that its comments name.
fn called(compilation: &Compilation) -> (&Stencil, Launch) {
    let signature = compilation.front.signature.as_ref().unwrap();
    let call = call_for(signature, &compilation.front.directives, Domain::new(5, 4, 3));
    (compilation.front.oir.as_ref().unwrap(), bind(signature, call).unwrap())
}

fn compare() {
    let compilation = compiled(TEXT);
    let (oir, launch) = called(&compilation);
    let (steps, found) = compare::compare(&Journey::usual(oir), &launch, &[1]);
    assert!(steps.len() > 8 && found.is_none(), "{steps:?} {found:?}");
}

fn bisect() {
    let compilation = compiled(TEXT);
    let (oir, launch) = called(&compilation);
    let (steps, found) = compare::bisect(&Journey::usual(oir), &launch, &[]);
    assert!(!steps.is_empty() && found.is_none(), "{steps:?} {found:?}");
}

fn open() {
    let files = BTreeMap::from([("main.py".to_owned(), TEXT.to_owned())]);
    let link = share::encode(&State { files, ..State::default() });
    assert_eq!(share::decode(&link).unwrap().state.files["main.py"], TEXT);
}

fn backends() {
    let tools = tools();
    let told = tools.backends.described(&tools.found());
    assert!(told.iter().any(|it| it.name == "rayon" && it.available), "{told:?}");
}

fn keep() {
    let folder = tempfile::tempdir().unwrap();
    let (project, config) = (Project::of_one("main.py", TEXT), Config::default());
    let setting = OwnedSetting { cache: Some(folder.path().to_owned()), ..OwnedSetting::embedded(1) };
    let explained = || Executable::explain(&project, config.clone(), &Rayon, &setting).unwrap();
    assert!(!explained().is_hit);
    Executable::new(&project, config.clone(), Arc::new(Rayon), setting.clone(), &|_| ()).unwrap();
    assert!(explained().is_hit);
    assert_eq!(cache::list(folder.path()).len(), 1);
    assert_eq!(cache::clear(folder.path()).unwrap(), 1);
    assert!(!explained().is_hit);
}

fn config() {
    let tools = tools();
    assert!(tools.cores > 0 && tools.machine_from.contains_key("cores"));
    assert!(limits::of_this_machine().job_memory_bytes > 0);
}

fn doctor() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment {
        path: std::env::var_os("PATH").unwrap_or_default(),
        cache: Some(folder.path().join("cache")),
        temporary: folder.path().join("none"),
        ..Environment::default()
    };
    let checks = examine(&environment, ([127, 0, 0, 1], 0).into());
    let state = |name: &str| checks.iter().find(|it| it.name == name).map(|it| it.state);
    assert_eq!(state("temporary folder"), Some(CheckState::Wrong), "{checks:?}");
    assert_eq!(state("cache folder"), Some(CheckState::Fine), "{checks:?}");
}

fn serve() {
    let hosts = Hosts::new(([127, 0, 0, 1], 8787).into(), &[]);
    let asked = axum::http::Request::get("/v1/capabilities")
        .header("host", "127.0.0.1:8787")
        .header("authorization", "Bearer secret")
        .body(Body::empty());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(async {
        let state = AppState::new(Auth::new("secret"), hosts, limits::of_this_machine(), tools());
        isobar_runner::app(state).oneshot(asked.unwrap()).await
    });
    assert_eq!(answer.unwrap().status(), 200);
}

fn lsp() {
    let (editor, server) = Connection::memory();
    let serving = std::thread::spawn(move || language::serve(&server, Options::default()));
    let say = |method: &str, params| {
        let said = Notification::new(method.to_owned(), params);
        editor.sender.send(Message::Notification(said)).unwrap();
    };
    let ask = |id: i32, method: &str, params| {
        let asked = lsp_server::Request::new(id.into(), method.to_owned(), params);
        editor.sender.send(Message::Request(asked)).unwrap();
        editor.receiver.iter().find(|it| matches!(it, Message::Response(_))).unwrap()
    };
    ask(1, "initialize", json!({ "capabilities": {} }));
    say("initialized", json!({}));
    ask(2, "shutdown", json!(null));
    say("exit", json!(null));
    serving.join().unwrap().unwrap();
}
