//! The strip at the bottom: what goes on, and where things run.

use leptos::prelude::*;

use crate::plots::number;
use crate::state::runner::Link;
use crate::state::use_app;

/// One line. Reads status, connection, caret and times.
#[component]
pub fn Strip() -> impl IntoView {
    let app = use_app();
    let link = app.connection.link;
    let connection = move || match link.get() {
        Link::None => "No runner: everything runs in this tab".to_owned(),
        Link::Idle => "Runner: not asked yet".to_owned(),
        Link::Connected(found) => {
            format!("Runner: {} {}, {} cores", found.product, found.version, found.cores)
        }
        Link::Lost => "Runner: stopped answering".to_owned(),
    };
    let details = move || match link.get() {
        Link::Connected(found) => {
            let backends = found.backends.iter().map(|it| {
                let mark = if it.available { "can run" } else { "cannot run" };
                format!("{} ({}): {mark}, {}", it.name, it.device, it.detail)
            });
            format!("{}\n{}", found.sandbox, backends.collect::<Vec<_>>().join("\n"))
        }
        Link::None => "Start one with `isobar serve` and open the address that it prints".to_owned(),
        Link::Idle | Link::Lost => String::new(),
    };
    view! {
        <footer class="strip">
            <span class="status" data-testid="status" role="status">{move || app.run.status.get()}</span>
            <span class="connection" data-testid="connection" data-state=move || link.with(Link::name) title=details>
                {connection}
            </span>
            <span class="muted compile-time" title="From the question to the worker's answer">
                {move || app.compilation.round_trip_ms.get().map(|it| format!("compiled in {}", number::milliseconds(it)))}
            </span>
            <span class="muted caret-place">
                {move || {
                    let at = app.compilation.caret.get();
                    format!("Ln {} Col {}", at.line.max(1), at.col.max(1))
                }}
            </span>
        </footer>
    }
}
