//! Panes of the page's second part: what nobody sees at first, and what comes a moment later.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use leptos::prelude::*;

use crate::bridge::locale::t;

/// Makes a pane, which finds its inputs in the context.
pub type PaneMaker = fn() -> AnyView;

/// The panes of the second part by their names.
#[derive(Debug)]
pub struct Panes(pub &'static [(&'static str, PaneMaker)]);

/// The panes, on their way; `None` where they cannot be had at the moment.
pub type PanesFuture = Pin<Box<dyn Future<Output = Option<&'static Panes>>>>;

/// Gets them.
pub type PanesLoader = fn() -> PanesFuture;

/// The second part, as far as it is here.
#[derive(Clone, Copy, Debug)]
pub struct LazyPanes {
    panes: RwSignal<Option<&'static Panes>>,
    is_absent: RwSignal<bool>,
    is_coming: StoredValue<bool>,
    load: PanesLoader,
}

/// The delay before the second part is asked for, so that the first view is drawn before it. A wanted pane
/// does not wait.
const UNHURRIED: Duration = Duration::from_millis(1200);

impl LazyPanes {
    /// Asks for it in a moment, or sooner, when a pane is wanted.
    #[must_use]
    pub fn new(load: PanesLoader) -> Self {
        let second = Self {
            panes: RwSignal::new(None),
            is_absent: RwSignal::new(false),
            is_coming: StoredValue::new(false),
            load,
        };
        set_timeout(move || second.want(), UNHURRIED);
        second
    }

    fn want(self) {
        if self.is_coming.get_value() || self.panes.with_untracked(Option::is_some) {
            return;
        }
        self.is_coming.set_value(true);
        self.is_absent.set(false);
        leptos::task::spawn_local(async move {
            let found = (self.load)().await;
            self.is_coming.set_value(false);
            self.is_absent.set(found.is_none());
            self.panes.set(found);
        });
    }
}

/// The pane of this name, as soon as it is here.
#[component]
pub fn Later(
    name: &'static str,
    /// Whether it is wanted now; else it waits until the second part comes by itself.
    #[prop(into, default = true.into())]
    when: Signal<bool>,
) -> impl IntoView {
    let second = expect_context::<LazyPanes>();
    Effect::new(move |_| {
        if when.get() {
            second.want();
        }
    });
    move || match second.panes.get() {
        Some(Panes(all)) => all.iter().find(|it| it.0 == name).map(|(_, make)| make()),
        None if second.is_absent.get() && when.get() => Some(
            view! {
                <p class="muted" role="status">
                    {t!("part-missing")}
                    " "
                    <button type="button" on:click=move |_| second.want()>{t!("part-again")}</button>
                </p>
            }
            .into_any(),
        ),
        None => None,
    }
}
