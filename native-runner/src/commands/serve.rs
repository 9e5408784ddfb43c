//! `isobar serve` — the page and the runner on one address.

use std::io::{ErrorKind, IsTerminal};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::panic::catch_unwind;
use std::time::Duration;

use isobar_protocol::limits::Limits;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use zeroize::Zeroizing;

use super::{Outcome, Usage, print, say};
use crate::auth::{Auth, Hosts, PublicUrl, token_file};
use crate::cli::ServeArgs;
use crate::config::{Environment, Tools};
use crate::document::shown;
use crate::jobs::Store;
use crate::jobs::folder::{self, Folder};
use crate::jobs::store::RecoveredJobs;
use crate::state::AppState;

/// Where nobody says another one.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);
/// How many ports after that one are tried.
const PORTS: u16 = 50;
/// Connections of those who read figures.
const FIGURES_AT_ONCE: u64 = 16;
/// Connections get this long to take in that the runner ends.
const FAREWELL: Duration = Duration::from_secs(2);

pub(crate) fn serve(args: &ServeArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let wanted = args.bind.unwrap_or(ADDRESS);
    let is_remote = |it: &SocketAddr| !it.ip().is_loopback() && !args.allow_remote;
    if is_remote(&wanted) {
        return Err(Usage::Wrong(format!(
            "{} can be reached from other machines: the connection is not encrypted, so the token can be read on \
             the way, and whoever has it can use this machine; forward a port with ssh instead, or say --allow-remote",
            wanted.ip()
        )));
    }
    if rustix::process::geteuid().is_root() && !args.allow_root {
        return Err(Usage::Wrong(
            "this is root: jobs of whoever has the token would run with what they are left of root's rights; start it \
             as an ordinary user, or say --allow-root where there is no other, as in a container"
                .to_owned(),
        ));
    }
    // Nobody reads its memory, or its token out of it, not even a process of the same user.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    if let Some(metrics) = args.metrics.filter(is_remote) {
        return Err(Usage::Wrong(format!(
            "{} can be reached from other machines, and figures are answered without a token; name a loopback address, \
             or say --allow-remote",
            metrics.ip()
        )));
    }
    let token = Zeroizing::new(match &args.token_file {
        Some(path) => token_file::read_or_make(path)
            .map_err(|why| Usage::Wrong(format!("the token file {} is refused: {why}", shown(path))))?,
        None => crate::random::token(),
    });
    folder::clear(&environment.temporary);
    let mut limits = limits(args)?;
    if let Some(less) = crate::limits::room_for_files(&mut limits) {
        say(&less);
    }
    let listener = listen(args.bind)?;
    let metrics = args.metrics.map(figures).transpose()?;
    let address =
        listener.local_addr().map_err(|error| Usage::Wrong(format!("cannot listen on {wanted}: {error}")))?;
    let public = args.public_url.as_deref().map(str::parse::<PublicUrl>).transpose();
    let public = public.map_err(|why| Usage::Wrong(format!("--public-url is refused: {why}")))?;
    let hosts = Hosts::new(address, &args.host).behind(public.clone());
    let (store, found) = store(args, environment);
    let state = AppState::with_store(Auth::new(&token), hosts, limits, Tools::find(environment), store);

    if args.require_sandbox.unwrap_or(!address.ip().is_loopback()) {
        state.holds_jobs().map_err(|why| {
            Usage::Wrong(format!(
                "jobs are not confined here as they should be: {why}; `isobar doctor` says what this machine lacks, and \
                 --require-sandbox=false serves all the same"
            ))
        })?;
        tell(args, "Each way out of a job was tried, and none leads out.");
    }

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Usage::Wrong(format!("cannot start: {error}")))?;
    let page = match &public {
        Some(url) => url.to_string(),
        None => format!("http://{}/", reachable(address)),
    };
    let url = Zeroizing::new(format!("{page}#token={}", *token));
    // The output of a service goes into a log, which must not hold the token; the token is in the file.
    let is_shown = args.token_file.is_none() || std::io::stdout().is_terminal();
    if is_shown {
        print(&Zeroizing::new(format!("{}\n", *url)));
    } else {
        print(&format!("{page}\n"));
    }
    if args.log.is_none() {
        let changes = if args.token_file.is_none() { " and changes at each start" } else { "" };
        say(&format!(
            "Open this address in a browser. Its token is for you alone{changes}; Ctrl+C ends the runner."
        ));
    }
    for backend in state.backends.iter().filter(|it| !it.available) {
        tell(args, &format!("The back end {} cannot run here: {}.", backend.name, backend.detail));
    }
    if !crate::assets::has_page() {
        tell(
            args,
            "This program was built without the page: `cargo xtask play` builds both. The API works as it is.",
        );
    }
    tell(args, &format!("Jobs: {}.", state.confined.told()));
    let _opened = args.open.then(|| open(&url, environment));
    // From here on there is its hash alone.
    drop((token, url));
    let drain = Duration::from_secs(args.drain);
    let served = runtime.block_on(run(listener, metrics, state, found, drain));
    runtime.shutdown_timeout(FAREWELL);
    served.map_err(|error| Usage::Wrong(format!("cannot serve: {error}")))?;
    Ok(Outcome::Fine)
}

/// Prints a line once: into the log if there is one, otherwise as plain text.
fn tell(args: &ServeArgs, line: &str) {
    if args.log.is_some() { tracing::info!("{line}") } else { say(line) }
}

/// Where jobs are kept, and those of the runner before. Without it the runner works all the same.
fn store(args: &ServeArgs, environment: &Environment) -> (Store, RecoveredJobs) {
    let folder = match &args.state {
        Some(folder) => std::path::absolute(folder).ok(),
        None => environment.state.clone(),
    };
    let Some(folder) = folder.filter(|_| !args.no_state) else {
        return (Store::none(), RecoveredJobs::default());
    };
    let opened = catch_unwind(|| Store::open(&folder));
    match opened.unwrap_or_else(|_| Err(format!("{} is damaged", shown(&folder)))) {
        Ok((store, found)) => {
            if let Some(warning) = &found.warning {
                tracing::warn!("{warning}");
            }
            if !found.jobs.is_empty() {
                tracing::info!(jobs = found.jobs.len(), "jobs of the runner before are taken up");
            }
            (store, found)
        }
        Err(why) => {
            tracing::warn!("jobs are not kept, and end with the runner: {why}");
            (Store::none(), RecoveredJobs::default())
        }
    }
}

/// The listener of figures: exactly there, or not at all.
fn figures(address: SocketAddr) -> Result<TcpListener, Usage> {
    let failed = |error| Usage::Wrong(format!("cannot answer figures on {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

async fn run(
    listener: TcpListener,
    metrics: Option<TcpListener>,
    state: AppState,
    found: RecoveredJobs,
    drain: Duration,
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    state.jobs.take_up(found);
    state.waiting.open();
    if let Some(metrics) = metrics {
        let address = metrics.local_addr()?;
        tracing::info!("figures are answered on http://{address}/metrics");
        let hosts = Hosts::new(address, &[]);
        let app = crate::figures(state.clone(), hosts);
        let limits = Limits { connections: FIGURES_AT_ONCE, ..state.limits };
        let listener = tokio::net::TcpListener::from_std(metrics)?;
        tokio::spawn(crate::server::serve(listener, app, limits, std::future::pending()));
    }
    let (app, limits) = (crate::app(state.clone()), state.limits);
    let (ended, mut is_ended) = tokio::sync::watch::channel(false);
    let farewell = async move {
        stop_asked().await;
        let working = state.jobs.working();
        if working > 0 {
            let seconds = drain.as_secs();
            tracing::info!(
                working,
                seconds,
                "ending; jobs that work have this long, a second signal ends them"
            );
        }
        let hurry = async {
            tokio::select! {
                () = tokio::time::sleep(drain) => {}
                () = stop_asked() => {}
            }
        };
        state.jobs.close(hurry).await;
        state.waiting.close();
        let _ = ended.send(true);
    };
    tokio::select! {
        () = crate::server::serve(listener, app, limits, farewell) => {}
        // Connections that stay open must not keep the runner.
        () = async { let _ = is_ended.wait_for(|it| *it).await; tokio::time::sleep(FAREWELL).await } => {}
    }
    crate::telemetry::lines::settle();
    Ok(())
}

/// Ends when the user or the system asks the runner to end.
async fn stop_asked() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}

/// The port that is asked for; where none is, ours or the next free one.
fn listen(asked: Option<SocketAddr>) -> Result<TcpListener, Usage> {
    let wanted = asked.unwrap_or(ADDRESS);
    let last = wanted.port().saturating_add(PORTS);
    let mut address = wanted;
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => {
                if address != wanted {
                    say(&format!("port {} is taken, so this is {}", wanted.port(), address.port()));
                }
                return Ok(listener);
            }
            Err(error)
                if error.kind() == ErrorKind::AddrInUse && asked.is_none() && address.port() < last =>
            {
                address.set_port(address.port() + 1);
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                return Err(Usage::Wrong(format!(
                    "another program listens on {address}: end it, or choose another port with --bind; port 0 is any \
                     that is free"
                )));
            }
            Err(error) => return Err(Usage::Wrong(format!("cannot listen on {address}: {error}"))),
        }
    }
}

/// An address that a browser on this machine can open.
fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    SocketAddr::from(([127, 0, 0, 1], address.port()))
}

fn limits(args: &ServeArgs) -> Result<Limits, Usage> {
    let mut limits = crate::limits::of_this_machine();
    if let Some(all) = args.connections {
        limits.connections = all;
    }
    match args.connections_per_address {
        Some(of_one) if of_one >= limits.connections => {
            return Err(Usage::Wrong(format!(
                "one address may not have all {} connections: give fewer with --connections-per-address",
                limits.connections
            )));
        }
        Some(of_one) => limits.connections_per_address = of_one,
        None => {
            limits.connections_per_address = limits.connections_per_address.min(limits.connections - 1);
        }
    }
    if let Some(jobs) = args.jobs {
        limits.jobs_at_once = jobs.max(1);
    }
    let bytes = |mib: u64| mib.saturating_mul(1024 * 1024);
    if let Some(mib) = args.job_memory {
        limits.job_memory_bytes = bytes(mib);
    }
    if let Some(mib) = args.memory {
        limits.jobs_memory_bytes = bytes(mib);
        limits.job_memory_bytes = limits.job_memory_bytes.min(limits.jobs_memory_bytes);
    }
    if let Some(seconds) = args.job_time {
        limits.run_ms = seconds.saturating_mul(1000);
    }
    Ok(limits)
}

/// Opens `url` in a browser. Its token must not appear in the list of processes. So the browser opens a file
/// that only its owner can read, and that file leads to the address. The file is removed when the answer is
/// dropped.
fn open(url: &str, environment: &Environment) -> Option<Folder> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = folder::make(&environment.temporary).and_then(|folder| {
        let file = folder.path().join("isobar.html");
        std::fs::write(
            &file,
            format!(
                "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Isobar</title>\
                 <meta name=\"referrer\" content=\"no-referrer\">\
                 <meta http-equiv=\"refresh\" content=\"0; url={url}\">\
                 <a href=\"{url}\">Isobar</a></html>\n"
            ),
        )?;
        std::process::Command::new(program)
            .arg(&file)
            .env("PATH", &environment.path)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()?;
        Ok(folder)
    });
    match started {
        Ok(folder) => Some(folder),
        Err(error) => {
            say(&format!("no browser could be opened ({program}: {error}): open the address yourself"));
            None
        }
    }
}
