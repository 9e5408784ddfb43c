//! Nothing to call: the manifest gives each dependency one set of features.
//!
//! Cargo builds a dependency anew for each set of features, and each command asks for a set of its own. All crates that are
//! built for this machine depend on this one, so every command finds what another one built. The page is built without it.
