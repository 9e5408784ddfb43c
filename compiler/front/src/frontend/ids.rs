//! The handles of what files hold: by the file, and by the order in its text.

use crate::diag::FileId;

/// A function of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId {
    pub file: FileId,
    pub(super) index: u32,
}

/// A class of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId {
    pub file: FileId,
    pub(super) index: u32,
}

/// The names that one body binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeId {
    pub file: FileId,
    pub(super) index: u32,
}
