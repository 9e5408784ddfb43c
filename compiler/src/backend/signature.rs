//! What a stencil takes, and what it does with it.

use std::fmt;

use crate::diag::Span;
use crate::space::{Axis, AxisSet, Reach};
use crate::types::{DType, Value};

/// The interface of a stencil: known once its extents are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    /// In the order of the definition.
    pub params: Vec<Param>,
    /// Fewer levels than this leave an interval empty or reversed.
    pub min_levels: i64,
}

impl Signature {
    /// The parameter of that name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|it| it.name == name)
    }
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    pub kind: ParamKind,
    pub access: AccessKind,
    pub is_keyword_only: bool,
    pub span: Span,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamKind {
    Field {
        axes: AxisSet,
        /// The sizes of the dimensions behind the axes.
        data_dims: Vec<u32>,
        dtype: DType,
        /// Per axis: positions `lo` to `n + hi` must be there for a call to be accepted; GT4Py's rule.
        boundary: [Reach; 3],
        /// Per axis: no position beyond `lo` to `n + hi` is touched, whatever the size of the
        /// domain. Wider than the boundary where a region near one edge reads toward the other.
        reach: [Reach; 3],
    },
    Scalar {
        dtype: DType,
        default: Option<Value>,
    },
}

impl ParamKind {
    /// The type of the elements or of the value.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            ParamKind::Field { dtype, .. } | ParamKind::Scalar { dtype, .. } => *dtype,
        }
    }

    /// How many points before and after the compute domain along `axis` an array should have
    /// for any domain to be accepted; never negative.
    #[must_use]
    pub fn halo(&self, axis: Axis) -> (i64, i64) {
        match self {
            ParamKind::Field { axes, boundary, reach, .. } if axes.has(axis) => {
                let reach = boundary[axis.index()].union(reach[axis.index()]);
                (i64::from(reach.lo.min(0)).abs(), i64::from(reach.hi.max(0)))
            }
            ParamKind::Field { .. } | ParamKind::Scalar { .. } => (0, 0),
        }
    }
}

/// What a stencil does with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// No statement uses it: it may be left out.
    None,
    Read,
    /// Every element of the compute domain is written before any is read.
    Write,
    ReadWrite,
}

impl AccessKind {
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, AccessKind::Read | AccessKind::ReadWrite)
    }

    #[must_use]
    pub fn is_written(self) -> bool {
        matches!(self, AccessKind::Write | AccessKind::ReadWrite)
    }
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::None => "none",
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::ReadWrite => "read-write",
        })
    }
}
