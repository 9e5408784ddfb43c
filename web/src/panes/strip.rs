//! The strip at the bottom: what goes on, and where things run.

use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::runner::RunnerLink;
use crate::state::use_app;

/// One line. Reads status, connection, caret and times.
#[component]
pub fn Strip() -> impl IntoView {
    let app = use_app();
    let link = app.connection.link;
    let connection = move || match link.get() {
        RunnerLink::None => t!("strip-no-runner").to_owned(),
        RunnerLink::Idle => t!("strip-not-asked").to_owned(),
        RunnerLink::Connected(found) => {
            t!("strip-runner", product = found.product, version = found.version, cores = found.cores)
        }
        RunnerLink::Lost => t!("strip-lost").to_owned(),
    };
    let details = move || match link.get() {
        RunnerLink::Connected(found) => {
            let backends = found.backends.iter().map(|it| {
                let mark = if it.available { t!("strip-can-run") } else { t!("strip-cannot-run") };
                format!("{} ({}): {mark}, {}", it.name, it.device, it.detail)
            });
            format!("{}\n{}", found.sandbox, backends.collect::<Vec<_>>().join("\n"))
        }
        RunnerLink::None => t!("strip-start").to_owned(),
        RunnerLink::Idle | RunnerLink::Lost => String::new(),
    };
    let loading = move || {
        let [arrived, total] = app.compilation.loading.get()?;
        Some(t!("strip-loading", arrived = arrived, total = total))
    };
    view! {
        <footer class="strip">
            <span class="status" data-testid="status" role="status">{move || loading().unwrap_or_else(|| app.status.text.get())}</span>
            <Show when=move || app.connection.is_offline.get()>
                <span class="offline" data-testid="offline" title=t!("strip-offline-about")>{t!("strip-offline")}</span>
            </Show>
            <span
                class="connection"
                data-testid="connection"
                data-state=move || link.with(RunnerLink::name)
                title=details
            >
                {connection}
            </span>
            <span class="muted caret-place">
                {move || {
                    let at = app.compilation.caret.get();
                    t!("strip-caret", line = at.line.max(1), column = at.col.max(1))
                }}
            </span>
        </footer>
    }
}
