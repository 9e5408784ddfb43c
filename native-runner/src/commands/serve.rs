//! `isobar serve` — the page and the runner on one address.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use isobar_protocol::limits::Limits;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use zeroize::Zeroizing;

use super::{Outcome, Usage, print, say};
use crate::auth::{Auth, Hosts};
use crate::cli::ServeArgs;
use crate::config::{Environment, Tools};
use crate::jobs::folder::{self, Folder};
use crate::state::AppState;

/// Where nobody says another one.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);
/// How many ports after that one are tried.
const PORTS: u16 = 50;
/// Connections get this long to take in that the runner ends.
const FAREWELL: Duration = Duration::from_secs(2);

pub(crate) fn serve(args: &ServeArgs, environment: &Environment) -> Result<Outcome, Usage> {
    let wanted = args.bind.unwrap_or(ADDRESS);
    if !wanted.ip().is_loopback() && !args.allow_remote {
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
    folder::clear(&environment.temporary);
    let mut limits = limits(args)?;
    if let Some(less) = crate::limits::room_for_files(&mut limits) {
        say(&less);
    }
    let listener = listen(args.bind)?;
    let address =
        listener.local_addr().map_err(|error| Usage::Wrong(format!("cannot listen on {wanted}: {error}")))?;
    let token = Zeroizing::new(crate::random::token());
    let hosts = Hosts::new(address, &args.host);
    let state = AppState::new(Auth::new(&token), hosts, limits, Tools::find(environment));

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Usage::Wrong(format!("cannot start: {error}")))?;
    let url = Zeroizing::new(format!("http://{}/#token={}\n", reachable(address), *token));
    print(&url);
    say(
        "Open this address in a browser. Its token is for you alone and changes at each start; Ctrl+C ends the runner.",
    );
    for backend in state.backends.iter().filter(|it| !it.available) {
        say(&format!("The back end {} cannot run here: {}.", backend.name, backend.detail));
    }
    if !crate::assets::has_page() {
        say(
            "This program was built without the page: `cargo xtask play` builds both. The API works as it is.",
        );
    }
    say(&format!("Jobs: {}.", state.confined.told()));
    let _opened = args.open.then(|| open(url.trim_end(), environment));
    // From here on there is its hash alone.
    drop((token, url));
    let served = runtime.block_on(run(listener, state));
    runtime.shutdown_timeout(FAREWELL);
    served.map_err(|error| Usage::Wrong(format!("cannot serve: {error}")))?;
    Ok(Outcome::Fine)
}

async fn run(listener: TcpListener, state: AppState) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (app, limits) = (crate::app(state.clone()), state.limits);
    let (ended, mut is_ended) = tokio::sync::watch::channel(false);
    let farewell = async move {
        stop_asked().await;
        state.jobs.close().await;
        let _ = ended.send(true);
    };
    tokio::select! {
        () = crate::server::serve(listener, app, limits, farewell) => {}
        // Connections that stay open must not keep the runner.
        () = async { let _ = is_ended.wait_for(|it| *it).await; tokio::time::sleep(FAREWELL).await } => {}
    }
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
    if let Some(mib) = args.job_memory {
        limits.job_memory_bytes = mib.saturating_mul(1024 * 1024);
    }
    if let Some(seconds) = args.job_time {
        limits.run_ms = seconds.saturating_mul(1000);
    }
    Ok(limits)
}

/// Opens `url` in a browser. Its token must not stand in the list of processes, so what the browser is told to
/// open is a file that only its owner can read, and that leads there; it is removed when the answer is dropped.
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
