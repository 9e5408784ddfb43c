//! Runs each example of the help, unchanged, in a folder that has its files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;

use isobar_protocol::share::{self, State};

use super::*;

/// Small, with one field that it reads and writes, so that what a run writes is all that another one takes.
const DIFFUSION: &str = "\
# @domain 8 7 6
# @input q random(low=0, high=1, seed=1)
# @scalar weight = 0.1
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval


def diffusion(q: Field[float], weight: float):
    with computation(PARALLEL), interval(...):
        mean = 0.5
        q = q + weight * (mean - q)
";

const MODEL: &str = "\
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

SPEED = 0.5


def advect(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q - SPEED * (q - q[-1, 0, 0])
";

/// Files that examples name, beside those that earlier ones leave.
fn folder() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    write("diffusion.py", DIFFUSION);
    write("model.py", MODEL);
    write("steps.py", include_str!("../../../static/gallery/programs/diffusion_steps.py"));
    write("lib/speeds.py", "SPEED = 0.5\n");
    write("stencils/one.py", DIFFUSION);
    write("stencils/other.py", &DIFFUSION.replace("diffusion", "other"));
    write("scalars.json", "{\"weight\": 0.2}");
    let request =
        serde_json::json!({"files": {"a.py": DIFFUSION}, "main": "a.py", "domain": [4, 3, 2], "init": {}});
    write("request.json", &request.to_string());
    let field = serde_json::json!({
        "role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I", "J", "K"], "origin": [0, 0, 0]});
    let call = serde_json::json!({"call": "diffusion", "args": {"q": "q", "weight": "weight / 2"}});
    let program = serde_json::json!({
        "isobar_program": 1, "name": "step", "files": {"main.py": DIFFUSION}, "fields": {"q": field},
        "scalars": {"weight": {"role": "argument", "dtype": "float64"}},
        "stencils": {"diffusion": {"function": "main.diffusion"}},
        "body": [call, call]});
    write("step.json", &program.to_string());
    // In the place of a browser.
    write("bin/xdg-open", "#!/bin/sh\n");
    let browser = home.path().join("bin/xdg-open");
    std::fs::set_permissions(browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    home
}

/// The commands, as the help of all lists them.
fn commands() -> Vec<String> {
    let help = text(&isobar(&["--help"]).stdout);
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let names = list.lines().take_while(|it| it.starts_with("  "));
    let names = names.filter_map(|it| it.strip_prefix("  ")?.split(' ').next().map(str::to_owned));
    names.filter(|it| !it.is_empty() && it != "help").collect()
}

/// The lines below `Examples:` in the help of a command.
fn examples(command: &str) -> Vec<String> {
    let help = text(&isobar(&[command, "--help"]).stdout);
    let lines = help.lines().filter_map(|it| it.strip_prefix("  isobar "));
    lines.map(|it| format!("isobar {it}")).collect()
}

/// The back ends that an example names.
fn back_ends_of(line: &str) -> impl Iterator<Item = &str> {
    let names = line.split(" --backend").skip(1);
    let names = names.filter_map(|it| it.trim_start_matches('s').split_ascii_whitespace().next());
    names.flat_map(|it| it.split(','))
}

fn shell(line: &str, home: &Path) -> Command {
    let mut shell = Command::new("sh");
    let own = Path::new(env!("CARGO_BIN_EXE_isobar")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [home.join("bin"), own.to_owned()].into_iter().chain(std::env::split_paths(&path));
    shell
        .args(["-c", line])
        .current_dir(home)
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .stdin(Stdio::null());
    shell
}

/// A runner prints its address, answers there, and goes on.
fn hold_serving(line: &str, home: &Path) {
    let line = line.replace("127.0.0.1:9187", "127.0.0.1:0");
    let mut child = shell(&format!("exec {line} --allow-root --no-state --bind 127.0.0.1:0"), home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut told = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut told).unwrap();
    let (_, address) = told.trim().split_once("http://").unwrap();
    let address = address.split('/').next().unwrap();
    let mut asked = TcpStream::connect(address).unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    asked.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    asked.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 "), "{line}: {answer}");
    assert!(child.try_wait().unwrap().is_none(), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The same example with a small domain, few rounds, a runner of this test, and a link of this test.
fn adapted(command: &str, example: &str, address: &str) -> String {
    let mut line = example.replace("http://127.0.0.1:8787/", "https://example.org/");
    for domain in ["128,128,80", "512,512,80", "64,64,20"] {
        line = line.replace(domain, "8,7,6");
    }
    let files = BTreeMap::from([("main.py".to_owned(), DIFFUSION.to_owned())]);
    let link = share::encode(&State { files, ..State::default() });
    line = line.replace("http://127.0.0.1:8787", address).replace("s=2...", &link);
    if line.starts_with("isobar tune") && !line.contains("--export") {
        line += " --candidates 1";
    }
    if command == "bench" && !line.contains("--repeats") {
        line += " --repeats 3";
    }
    line
}

#[test]
fn each_example_of_a_help_ends_as_it_should() {
    let found = json(&isobar(&["backends", "--format", "json"]));
    let here = found["backends"].as_array().unwrap().iter().filter(|it| it["available"] == true);
    let here: BTreeSet<&str> = here.filter_map(|it| it["name"].as_str()).collect();
    let runner = remote::serve();
    let (address, token) = runner.1.split_once("/#token=").unwrap();
    let mut n_examples = 0;
    for command in commands() {
        let examples = examples(&command);
        let home = folder();
        if !examples.is_empty() {
            // Later examples take what a run leaves.
            let first = "isobar run diffusion.py --backend debug --init --out in.npz";
            assert_eq!(shell(first, home.path()).output().unwrap().status.code(), Some(0));
        }
        for example in examples {
            n_examples += 1;
            if command == "serve" {
                hold_serving(&example, home.path());
                continue;
            }
            let line = adapted(&command, &example, address);
            let output = shell(&line, home.path()).env("ISOBAR_TOKEN", token).output().unwrap();
            let is_kept = || {
                let kept = json(&shell("isobar cache --format json", home.path()).output().unwrap());
                let kept = kept["tuned"].as_array().map(Vec::as_slice).unwrap_or_default();
                kept.iter().any(|it| it["backend"] == "openmp")
            };
            let expected = match back_ends_of(&line).all(|it| here.contains(it)) {
                false => 1,
                // A schedule that is no faster is not kept, and then there is nothing to export.
                true if line.contains("--export") && !is_kept() => 2,
                true => 0,
            };
            let told = format!("{line}\n{}{}", text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(expected), "{told}");
        }
    }
    assert!(n_examples > 20, "{n_examples}");
}

#[test]
fn a_command_takes_what_its_help_has_and_nothing_else() {
    let export = text(&isobar(&["export", "--help"]).stdout);
    for option in ["--fields", "--scalars", "--origin", "--out ", "--runner", "--no-tuned"] {
        assert!(!export.contains(option), "{option}");
        let mut arguments = vec!["export", "a.py", "-o", "a", option.trim_end()];
        if option != "--no-tuned" {
            arguments.push("1,1,1");
        }
        let output = isobar(&arguments);
        let told = text(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains("this command has no option"), "{told}");
    }
    assert!(export.contains("--stencil") && export.contains("--mode") && export.contains("--domain"));
    let check = text(&isobar(&["check", "--help"]).stdout);
    assert!(check.contains("--externals") && !check.contains("--fields") && !check.contains("--mode"));
    let run = text(&isobar(&["run", "--help"]).stdout);
    for option in ["--domain", "--fields", "--out", "--runner", "--no-tuned", "--mode"] {
        assert!(run.contains(option), "{option}");
    }
}
