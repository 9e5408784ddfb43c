//! Share links: a small file format that lives in the fragment of an address.
//!
//! `#s=` and one character for the version, then base64url of the deflated
//! JSON of a [`State`]. Equal states give equal links; a link carries text and
//! views and never an order: opening one starts nothing but a compilation.

pub mod decode;
pub mod encode;

use std::collections::{BTreeMap, BTreeSet};

use isobar_protocol::request::{Arithmetic, Constants, Tile};
use isobar_protocol::worker::{Across, Which};
use serde::{Deserialize, Serialize};

pub use decode::{decode, kept, read};
pub use encode::encode;

/// The version that this page writes.
pub const VERSION: char = '1';

/// All that a link restores. What has its default is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Texts by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The file to start from; `main.py` where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stencil: Option<String>,
    /// 32; 64 where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<u32>,
    /// `UFS` where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constants: Option<Constants>,
    /// The whole tile where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<Tile>,
    /// What `min` and `max` do with NaN; as NumPy does where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minmax: Option<Arithmetic>,
    /// Which sign `%` has; the divisor's, as in NumPy, where it is missing.
    #[serde(rename = "mod", skip_serializing_if = "Option::is_none")]
    pub modulo: Option<Arithmetic>,
    /// Instead of the text's own `# @domain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<[i64; 3]>,
    /// Instead of the text's own `# @scalar` and `# @external` lines.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scalars: BTreeMap<String, serde_json::Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub externals: BTreeMap<String, serde_json::Value>,
    /// The passes that do not run.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub skip: BTreeSet<String>,
    /// The gallery entry that the text began as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gallery: Option<String>,
    #[serde(skip_serializing_if = "View::is_default")]
    pub ui: View,
    /// Keys of a later version: kept, and written back.
    #[serde(flatten)]
    pub unknown: BTreeMap<String, serde_json::Value>,
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The stages side by side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub which: Option<Which>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across: Option<Across>,
    /// Position along that axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

impl View {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
