//! The drawer below the text: which list it shows, how high it is, and whether it is shut.

use leptos::prelude::*;

use super::layout::PageLayout;
use crate::bridge::locale::t;
use crate::bridge::page;
use crate::bridge::storage::{self, Shelf};

const HEIGHT_KEY: &str = "isobar.drawer";
const SHUT_KEY: &str = "isobar.drawer-shut";

/// Its height at first, and how far it can be changed, as parts of the column.
pub const HEIGHT: f64 = 0.2;
pub const RANGE: [f64; 2] = [0.1, 0.7];

/// The lists of the drawer, which shows one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DrawerList {
    #[default]
    Problems,
    Inputs,
    Output,
}

impl DrawerList {
    pub const ALL: [DrawerList; 3] = [DrawerList::Problems, DrawerList::Inputs, DrawerList::Output];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DrawerList::Problems => "problems",
            DrawerList::Inputs => "inputs",
            DrawerList::Output => "output",
        }
    }

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            DrawerList::Problems => t!("state-below-problems"),
            DrawerList::Inputs => t!("state-below-inputs"),
            DrawerList::Output => t!("state-below-output"),
        }
    }
}

/// The drawer. Its height is the user's alone: what comes into it never moves the text above.
#[derive(Clone, Copy, Debug)]
pub struct Drawer {
    layout: PageLayout,
    /// Which of the lists beside the inputs; whether the inputs are shown is the layout's.
    other: RwSignal<DrawerList>,
    /// Its part of the column.
    pub height: RwSignal<f64>,
    pub is_shut: RwSignal<bool>,
}

impl Drawer {
    pub(crate) fn new(layout: PageLayout) -> Self {
        let kept = storage::load(Shelf::Lasting, HEIGHT_KEY).and_then(|it| it.parse::<f64>().ok());
        let height = kept.filter(|it| (RANGE[0]..=RANGE[1]).contains(it)).unwrap_or(HEIGHT);
        // A phone has no room for a list that nobody asked for.
        let is_shut = match storage::load(Shelf::Lasting, SHUT_KEY).as_deref() {
            Some(kept) => kept == "shut",
            None => page::is_narrow(),
        };
        Self {
            layout,
            other: RwSignal::default(),
            height: RwSignal::new(height),
            is_shut: RwSignal::new(is_shut),
        }
    }

    /// Moves its upper edge down by a part of the column.
    pub fn move_edge(self, by: f64) {
        self.set_height(self.height.get_untracked() - by);
    }

    /// Puts its height back.
    pub fn reset(self) {
        self.set_height(HEIGHT);
    }

    fn set_height(self, part: f64) {
        self.shut(false);
        self.height.set(part.clamp(RANGE[0], RANGE[1]));
        // Lost at the next visit where nothing is kept, which the project warns about.
        let _ = storage::save(Shelf::Lasting, HEIGHT_KEY, &self.height.get_untracked().to_string());
    }

    /// Shuts it, so that its names alone are left, or opens it again.
    pub fn shut(self, is_shut: bool) {
        if self.is_shut.get_untracked() != is_shut {
            self.is_shut.set(is_shut);
            // As with the height.
            let _ = storage::save(Shelf::Lasting, SHUT_KEY, if is_shut { "shut" } else { "open" });
        }
    }
}

impl Drawer {
    /// The list that the drawer shows.
    #[must_use]
    pub fn below(self) -> DrawerList {
        if self.layout.inputs_open.get() { DrawerList::Inputs } else { self.other.get() }
    }

    /// Shows one of its lists, and opens it.
    pub fn choose_below(self, below: DrawerList) {
        self.layout.inputs_open.set(below == DrawerList::Inputs);
        if below != DrawerList::Inputs {
            self.other.set(below);
        }
        self.shut(false);
    }

    /// Opens the drawer whenever its inputs are asked for from elsewhere.
    pub(crate) fn follow_inputs(self) {
        Effect::new(move |_| {
            if self.layout.inputs_open.get() {
                self.shut(false);
            }
        });
    }
}
