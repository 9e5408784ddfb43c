//! The signature of a stencil, from the facts of OIR and GTIR.

use crate::call::signature::{AccessKind, Param, ParamKind, Signature};
use crate::gtir;
use crate::oir::analysis::access::{self, access_kinds, used_scalars};
use crate::oir::analysis::extents::Extents;
use crate::oir::nodes as oir;
use crate::space::{Axis, Extent, Reach};

/// The signature: extents and access kinds of OIR, bounds along K of GTIR.
#[must_use]
pub(super) fn signature(gtir: &gtir::nodes::Stencil, oir: &oir::Stencil, extents: &Extents) -> Signature {
    let levels = gtir::analysis::k_boundary::k_boundaries(gtir);
    let kinds = access_kinds(oir, extents);
    let used = used_scalars(oir);
    let params = oir.params.iter().zip(&gtir.params).map(|(param, typed)| match (param.what, typed.what) {
        (oir::ParamKind::Field(field), gtir::nodes::ParamKind::Field(typed_field)) => {
            let it = &oir.fields[field];
            let along_k = levels.get(typed_field).copied().unwrap_or(Reach::ZERO);
            let reaches = |extent: Option<&Extent>| {
                let extent = extent.copied().unwrap_or(Extent::ZERO);
                [extent.along(Axis::I), extent.along(Axis::J), along_k]
            };
            Param {
                name: it.name.clone(),
                kind: ParamKind::Field {
                    axes: it.axes,
                    data_dims: it.data_dims.clone(),
                    dtype: it.dtype,
                    boundary: reaches(extents.fields.get(field)),
                    reach: reaches(extents.true_fields.get(field)),
                },
                access: kinds.get(field).copied().map_or(AccessKind::None, access_kind),
                is_keyword_only: param.is_keyword_only,
                span: it.span,
            }
        }
        (oir::ParamKind::Scalar(scalar), _) => {
            let it = &oir.scalars[scalar];
            Param {
                name: it.name.clone(),
                kind: ParamKind::Scalar { dtype: it.dtype, default: param.default },
                access: if used.get(scalar) == Some(&true) { AccessKind::Read } else { AccessKind::None },
                is_keyword_only: param.is_keyword_only,
                span: it.span,
            }
        }
        (oir::ParamKind::Field(_), gtir::nodes::ParamKind::Scalar(_)) => {
            unreachable!("OIR keeps the parameters of GTIR in their order")
        }
    });
    let min_levels = gtir::analysis::min_levels::min_levels(gtir);
    Signature { name: oir.name.clone(), params: params.collect(), min_levels }
}

/// Adapts the signature to an OIR in which each pair of parameters is one field. The first parameter then
/// reaches as far as both did, and the second is not used.
pub(super) fn unify_params(
    signature: &mut Signature,
    oir: &oir::Stencil,
    extents: &Extents,
    pairs: &[[usize; 2]],
) {
    for &[kept, other] in pairs {
        if let ParamKind::Field { boundary: more, reach: farther, .. } = signature.params[other].kind.clone()
            && let ParamKind::Field { boundary, reach, .. } = &mut signature.params[kept].kind
        {
            for axis in Axis::ALL.map(Axis::index) {
                boundary[axis] = boundary[axis].union(more[axis]);
                reach[axis] = reach[axis].union(farther[axis]);
            }
        }
    }
    let kinds = access_kinds(oir, extents);
    for (param, known) in oir.params.iter().zip(&mut signature.params) {
        if let oir::ParamKind::Field(field) = param.what {
            known.access = kinds.get(field).copied().map_or(AccessKind::None, access_kind);
        }
    }
}

fn access_kind(kind: access::AccessKind) -> AccessKind {
    match kind {
        access::AccessKind::None => AccessKind::None,
        access::AccessKind::Read => AccessKind::Read,
        access::AccessKind::Write => AccessKind::Write,
        access::AccessKind::ReadWrite => AccessKind::ReadWrite,
    }
}
