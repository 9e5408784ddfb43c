//! The parameters of a stencil, and how it uses them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::diag::Span;
use crate::space::{Axis, AxisSet, Domain, Reach};
use crate::types::{DType, Value};

/// The interface of a stencil: known once its extents are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// That of the stencil whose I and K change places.
    #[must_use]
    pub fn turned(&self) -> Self {
        let mut turned = self.clone();
        for param in &mut turned.params {
            if let ParamKind::Field { axes, boundary, reach, .. } = &mut param.kind {
                *axes = axes.turned();
                boundary.reverse();
                reach.reverse();
            }
        }
        turned
    }

    /// Returns the least number of bytes that a run has to move. Within the compute domain, each field counts
    /// once if it is read, and once if it is written.
    #[must_use]
    pub fn compulsory_bytes(&self, domain: Domain) -> u64 {
        let of = |param: &Param| match &param.kind {
            ParamKind::Field { axes, data_dims, dtype, .. } => {
                let times = u64::from(param.access.is_read()) + u64::from(param.access.is_written());
                let points = axes.iter().map(|axis| u64::try_from(domain.along(axis)).unwrap_or(0));
                let points = points.chain(data_dims.iter().map(|&size| u64::from(size)));
                points.fold(times * dtype.size_bytes() as u64, u64::saturating_mul)
            }
            ParamKind::Scalar { .. } => 0,
        };
        self.params.iter().map(of).fold(0, u64::saturating_add)
    }
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    pub kind: ParamKind,
    pub access: AccessKind,
    pub is_keyword_only: bool,
    pub span: Span,
}

/// The kind of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// The way in which a stencil uses a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_and_each_output_counts_once() {
        let param = |axes: &[Axis], data_dims: &[u32], dtype, access| Param {
            name: String::new(),
            kind: ParamKind::Field {
                axes: AxisSet::of(axes),
                data_dims: data_dims.to_vec(),
                dtype,
                boundary: <[Reach; 3]>::default(),
                reach: <[Reach; 3]>::default(),
            },
            access,
            is_keyword_only: false,
            span: Span::default(),
        };
        let signature = |params| Signature { name: String::new(), params, min_levels: 0 };
        let domain = Domain::new(4, 3, 2);
        let of = |it: Param| signature(vec![it]).compulsory_bytes(domain);
        assert_eq!(of(param(&Axis::ALL, &[], DType::Float64, AccessKind::Read)), 24 * 8);
        assert_eq!(of(param(&Axis::ALL, &[], DType::Float32, AccessKind::ReadWrite)), 2 * 24 * 4);
        assert_eq!(of(param(&[Axis::K], &[5], DType::Int8, AccessKind::Write)), 2 * 5);
        assert_eq!(of(param(&Axis::ALL, &[], DType::Float64, AccessKind::None)), 0);
    }
}
