//! The decorators and functions that build stencils: their keyword arguments, and which of them have an
//! effect here.

use super::syntax::{Expr, Keyword};

/// The arguments that say what a stencil means.
pub(super) const MEANT: [&str; 4] =
    ["externals", "dtypes", "literal_int_precision", "literal_float_precision"];

/// A decorator or function that builds stencils.
#[derive(Debug)]
pub struct Maker {
    pub name: &'static str,
    /// The arguments that say what the stencil means, or how it is called.
    heeded: &'static [&'static str],
    /// Those that say how GT4Py builds it.
    idle: &'static [&'static str],
    /// Whether it hands further arguments on to a back end.
    pub(super) has_options: bool,
}

/// Those of GT4Py, by the signatures in its `gtscript.py`, and of NDSL, by `dsl/stencil.py`.
static MAKERS: [Maker; 5] = [
    Maker {
        name: "stencil",
        heeded: &["definition", "dtypes", "externals", "literal_float_precision", "literal_int_precision"],
        idle: &[
            "backend",
            "build_info",
            "cache_settings",
            "format_source",
            "name",
            "raise_if_not_cached",
            "rebuild",
        ],
        has_options: true,
    },
    Maker {
        name: "lazy_stencil",
        heeded: &["definition", "dtypes", "externals", "literal_float_precision", "literal_int_precision"],
        idle: &[
            "backend",
            "build_info",
            "check_syntax",
            "eager",
            "format_source",
            "name",
            "raise_if_not_cached",
            "rebuild",
        ],
        has_options: true,
    },
    Maker {
        name: "from_dims_halo",
        heeded: &["compute_dims", "compute_halos", "externals", "func"],
        idle: &["skip_passes"],
        has_options: false,
    },
    Maker {
        name: "from_origin_domain",
        heeded: &["domain", "externals", "func", "origin"],
        idle: &["skip_passes"],
        has_options: false,
    },
    Maker {
        name: "FrozenStencil",
        heeded: &["domain", "externals", "func", "origin"],
        idle: &["comm", "skip_passes", "stencil_config", "timing_collector"],
        has_options: false,
    },
];

/// The options of GT4Py's back ends.
const OPTIONS: [&str; 10] = [
    "add_profile_info",
    "cache_dir",
    "clean",
    "debug_mode",
    "device_sync",
    "extra_opt_flags",
    "ignore_np_errstate",
    "oir_pipeline",
    "opt_level",
    "verbose",
];

impl Maker {
    /// The maker that a call uses, as far as its name tells; `None` if it is no known maker.
    pub(super) fn of(function: &Expr) -> Option<&'static Maker> {
        let name = function.as_dotted()?.pop()?;
        MAKERS.iter().find(|it| it.name == name)
    }

    pub(super) fn known(&self) -> impl Iterator<Item = &'static str> {
        let options: &[&str] = if self.has_options { &OPTIONS } else { &[] };
        self.heeded.iter().chain(self.idle).chain(options).copied()
    }

    /// Whether the argument is one that says nothing here. An underscore marks what GT4Py keeps for itself.
    pub(super) fn is_idle(&self, name: &str) -> bool {
        let is_known = self.known().any(|it| it == name);
        is_known && !self.heeded.contains(&name) || self.has_options && name.starts_with('_')
    }

    /// The arguments that people pass, for a message.
    pub fn listed(&self) -> impl Iterator<Item = &'static str> {
        self.heeded.iter().chain(self.idle).copied()
    }
}

/// Whether a call may tell how a stencil is built.
pub(super) fn may_build(keywords: &[Keyword]) -> bool {
    keywords.iter().any(|it| it.name.as_ref().is_some_and(|it| MEANT.contains(&&*it.name)))
}
