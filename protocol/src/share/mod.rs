//! Share links: a small file format that lives in the fragment of an address.
//!
//! `#s=` and one character for the version, then base64url of the deflated
//! JSON of a [`State`]. Equal states give equal links; a link carries text and
//! views and never an order: opening one starts nothing but a compilation.
//!
//! | version | deflated |
//! |---|---|
//! | `1` | as it is |
//! | `2` | behind the words of `dictionary-2.txt`, which is never changed: other words are another version |

pub mod around;
pub mod decode;
pub mod deflate;
pub mod encode;
pub mod zip;

use std::collections::{BTreeMap, BTreeSet};

use crate::request::{Arithmetic, Constants, Tile};
use crate::worker::{Across, Which};
use serde::{Deserialize, Serialize};

pub use decode::{decode, kept, read};
pub use encode::encode;

/// The version that this page writes.
pub const VERSION: char = '2';

/// Words of stencils and states, the commonest last: what is near is cheap to refer to.
const DICTIONARY_2: &[u8] = include_bytes!("dictionary-2.txt");

/// The dictionary of links of a version. Links of a later version are tried with the newest one known.
fn dictionary(version: char) -> &'static [u8] {
    if version == '1' { &[] } else { DICTIONARY_2 }
}

/// All that a link restores. Values that equal their default are left out.
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
    /// The treatment of NaN by `min` and `max`; as in NumPy where it is missing.
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
    /// Generators by field, instead of the text's own `# @input` lines.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
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

/// The view of the page: stages, field and picture.
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
    /// The kind of picture where it is not a plane: `profile`, `line-i`, `line-j`, `histogram`, `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The range of the colours where it is not that of the plane: `field`, `symmetric`, `fixed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// The ends of a fixed range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_ends: Option<[f64; 2]>,
    /// The name of a colour map that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<String>,
    /// The cell that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<[i64; 3]>,
    /// As in [`State::unknown`].
    #[serde(flatten)]
    pub unknown: BTreeMap<String, serde_json::Value>,
}

impl State {
    /// All but the texts, for a file beside them: `workspace.json`.
    #[must_use]
    pub fn workspace(&self) -> String {
        let settings = Self { files: BTreeMap::new(), ..self.clone() };
        // As in `encode`: this cannot fail.
        serde_json::to_string_pretty(&settings).unwrap_or_default() + "\n"
    }
}

impl View {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests;
