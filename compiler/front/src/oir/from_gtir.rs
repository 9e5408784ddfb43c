//! The door from GTIR: makes one horizontal execution of each block, and finds how far each must run.

use crate::diag::Diagnostics;
use crate::diag::catalog::extents::written_beyond_domain;
use crate::entity::Handle;
use crate::gtir::nodes as gtir;

use super::analysis::extents::{Extents, extents};
use super::nodes::{
    Access, Field, HorizontalExecution, Param, ParamKind, Scalar, Section, Stencil, Stmt, Target,
    VerticalLoop,
};

/// Orders a stencil: each top-level statement becomes a horizontal execution, each interval a vertical loop.
///
/// `None` where a parameter is written and needed beyond the compute domain (E20).
pub fn lower(source: &gtir::Stencil, diagnostics: &mut Diagnostics) -> Option<Stencil> {
    let mut stencil = Stencil { name: source.name.clone(), span: source.span, ..Stencil::default() };
    for (_, field) in source.fields.iter() {
        let gtir::Field { name, axes, data_dims, dtype, is_temporary, span } = field.clone();
        stencil.fields.push(Field { name, axes, data_dims, dtype, is_temporary, span });
    }
    for (_, scalar) in source.scalars.iter() {
        let gtir::Scalar { name, dtype, span } = scalar.clone();
        stencil.scalars.push(Scalar { name, dtype, span });
    }
    stencil.params = source.params.iter().map(param).collect();

    for vertical_loop in &source.vertical_loops {
        let executions = vertical_loop
            .body
            .iter()
            .map(|block| stencil.executions.push(HorizontalExecution { body: vec![stmt(block)] }))
            .collect();
        let sections = vec![Section { interval: vertical_loop.interval, executions }];
        stencil.vertical_loops.push(VerticalLoop { order: vertical_loop.order, sections });
    }

    let extents = extents(&stencil);
    is_written_in_domain_only(&stencil, &extents, diagnostics).then_some(stencil)
}

/// E20: nothing may need a written parameter beyond the compute domain.
fn is_written_in_domain_only(stencil: &Stencil, extents: &Extents, diagnostics: &mut Diagnostics) -> bool {
    let is_beyond = |field: Handle<Field>| !extents.fields[field].is_zero();
    let beyond: Vec<_> =
        stencil.fields.iter().filter(|(field, it)| !it.is_temporary && is_beyond(*field)).collect();
    if beyond.is_empty() {
        return true;
    }
    let touches: Vec<_> = stencil
        .executions
        .iter()
        .flat_map(|(execution, it)| it.touches().into_iter().map(move |touch| (execution, touch)))
        .collect();
    let mut is_legal = true;
    for (field, declared) in beyond {
        let of_field = || touches.iter().filter(|(_, it)| it.what == Target::Field(field));
        let Some((_, write)) = of_field().find(|(_, it)| it.is_write) else { continue };
        let extent = extents.fields[field];
        is_legal = false;
        let mut reads: Vec<_> = of_field()
            .filter(|(execution, it)| {
                !it.is_write && !extents.executions[*execution].shifted(it.offset).is_zero()
            })
            .map(|(_, it)| it.span)
            .collect();
        reads.dedup();
        let found = written_beyond_domain(&declared.name, extent, write.span, &reads);
        diagnostics.push(found);
    }
    is_legal
}

/// The arenas of both levels hold the same entities in the same order.
fn same<A, B>(handle: Handle<A>) -> Handle<B> {
    Handle::new(handle.index())
}

fn param(param: &gtir::Param) -> Param {
    Param {
        what: match param.what {
            gtir::ParamKind::Field(field) => ParamKind::Field(same(field)),
            gtir::ParamKind::Scalar(scalar) => ParamKind::Scalar(same(scalar)),
        },
        is_keyword_only: param.is_keyword_only,
        default: param.default,
        is_optional: param.is_optional,
    }
}

fn stmt(source: &gtir::Stmt) -> Stmt {
    source.map(&mut |&target| Target::Field(same(target)), &mut |leaf| match *leaf {
        gtir::Access::Field { field, offset } => Access::Field { field: same(field), offset },
        gtir::Access::Scalar(scalar) => Access::Scalar(same(scalar)),
    })
}
