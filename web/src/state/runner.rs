//! The runner that serves this page, if one does.

use isobar_protocol::job::Capabilities;
use leptos::prelude::*;

use crate::bridge::page;
use crate::bridge::runner::{Runner, RunnerError};
use crate::bridge::storage::{self, Shelf};

const KEY: &str = "isobar.token";

/// The connection to the runner.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunnerLink {
    /// The page is served without one.
    #[default]
    None,
    /// There is a token; nothing was asked yet.
    Idle,
    Connected(Box<Capabilities>),
    /// It stopped answering.
    Lost,
}

impl RunnerLink {
    /// As the end-to-end tests read it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            RunnerLink::None => "none",
            RunnerLink::Idle => "idle",
            RunnerLink::Connected(_) => "connected",
            RunnerLink::Lost => "lost",
        }
    }
}

/// The connection, and the back end that is chosen there.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    pub link: RwSignal<RunnerLink>,
    pub backend: RwSignal<String>,
    /// Whether the browser has no network.
    pub is_offline: RwSignal<bool>,
    token: StoredValue<Option<String>>,
}

impl Connection {
    pub(crate) fn new() -> Self {
        let is_offline = RwSignal::new(false);
        page::on_network(move |is_there| is_offline.set(!is_there));
        Self {
            is_offline,
            link: RwSignal::default(),
            backend: RwSignal::new("rayon".to_owned()),
            token: StoredValue::new(None),
        }
    }

    /// Takes the token out of the address, where everybody could read it, and keeps it for this tab.
    pub(crate) fn take_token(self) {
        let fragment = page::fragment();
        let (tokens, rest): (Vec<&str>, Vec<&str>) =
            fragment.split('&').partition(|it| it.starts_with("token="));
        let given = tokens.first().and_then(|it| it.strip_prefix("token=")).filter(|it| !it.is_empty());
        if let Some(token) = given {
            // Where the tab keeps nothing, the token lives until the next load.
            let _ = storage::save(Shelf::Tab, KEY, token);
        }
        if !tokens.is_empty() {
            page::set_fragment(&rest.join("&"));
        }
        let token = given.map(str::to_owned).or_else(|| storage::load(Shelf::Tab, KEY));
        // A new token comes from a runner that was started anew.
        if token.is_some() && (given.is_some() || self.link.with_untracked(|it| *it == RunnerLink::None)) {
            self.link.set(RunnerLink::Idle);
        }
        self.token.set_value(token);
    }

    /// Whether a run on a runner can be asked for.
    #[must_use]
    pub fn is_there(self) -> bool {
        self.link.with(|it| *it != RunnerLink::None)
    }

    pub(crate) fn runner(self) -> Option<Runner> {
        self.token.get_value().map(Runner::new)
    }

    /// Asks what the runner can do, unless that is known.
    pub(crate) async fn connect(self, runner: &Runner) -> Result<(), RunnerError> {
        if self.link.with_untracked(|it| matches!(it, RunnerLink::Connected(_))) {
            return Ok(());
        }
        let found = runner.capabilities().await.inspect_err(|error| self.note(error))?;
        self.link.set(RunnerLink::Connected(Box::new(found)));
        Ok(())
    }

    /// Remembers that the runner is gone, if that is what the error says.
    pub(crate) fn note(self, error: &RunnerError) {
        if *error == RunnerError::Lost {
            self.link.set(RunnerLink::Lost);
        }
    }

    /// Back ends to choose from: those that can run there, or the usual one before anything is known.
    #[must_use]
    pub fn backends(self) -> Vec<String> {
        self.link.with(|link| match link {
            RunnerLink::Connected(found) => {
                found.backends.iter().filter(|it| it.available).map(|it| it.name.clone()).collect()
            }
            RunnerLink::None | RunnerLink::Idle | RunnerLink::Lost => vec!["rayon".to_owned()],
        })
    }
}
