//! The keyword arguments of the calls and decorators that build stencils: which exist, and which have an
//! effect here.

use super::bindings::BuildCall;
use super::constants::Constant;
use super::evaluate::{self, Environment};
use super::given::handed;
pub use super::makers::Maker;
use super::modules::{FunctionId, Names};
use super::syntax::{Expr, ExprKind, Ident, Keyword};
use crate::diag::{FileId, Similar, Span, similar};

/// A keyword argument that its callee does not have.
#[derive(Debug)]
pub struct UnknownArgument<'p> {
    pub maker: &'static Maker,
    pub name: &'p Ident,
    pub similar: Option<Similar>,
}

/// The unknown arguments of a stencil's decorators and of the calls that are handed it, in order of the text.
#[must_use]
pub fn unknown<'p>(names: &Names<'p>, stencil: FunctionId) -> Vec<UnknownArgument<'p>> {
    let info = names.function(stencil);
    let decorators = info.def.decorators.iter().map(|call| BuildCall { scope: info.scope, call, name: None });
    let mut found = Vec::new();
    for (maker, keywords) in decorators.chain(handed(names, stencil)).flat_map(|it| made(names, it)) {
        let given = || keywords.iter().filter_map(|it| it.name.as_ref());
        for name in given() {
            let is_known = maker.known().any(|it| it == name.name);
            if is_known || maker.is_idle(&name.name) {
                continue;
            }
            let is_given = |it: &&str| given().any(|given| given.name == **it);
            let similar = similar(&name.name, maker.known().filter(|it| !is_given(it)));
            found.push(UnknownArgument { maker, name, similar });
        }
    }
    found
}

/// The arguments of a file that say nothing here, each once, and where the first one stands.
#[must_use]
pub fn idle<'p>(names: &Names<'p>, file: FileId) -> Option<(Vec<&'p str>, Span)> {
    let stencils = names.functions(file).filter(|(_, it)| it.is_stencil);
    let decorators = stencils.flat_map(|(_, it)| {
        it.def.decorators.iter().map(|call| BuildCall { scope: it.scope, call, name: None })
    });
    let calls = names.builds(file).iter().copied();
    let mut found: Vec<&'p Ident> = Vec::new();
    for (maker, keywords) in decorators.chain(calls).flat_map(|it| made(names, it)) {
        found.extend(keywords.iter().filter_map(|it| it.name.as_ref()).filter(|it| maker.is_idle(&it.name)));
    }
    let first = found.iter().map(|it| it.span).min()?;
    let mut names: Vec<&'p str> = found.into_iter().map(|it| &*it.name).collect();
    names.sort_unstable();
    names.dedup();
    Some((names, first))
}

/// The makers of stencils in a call, each with its keywords: `stencil(...)`, and the inner call of
/// `stencil(...)(f)`.
fn made<'p>(
    names: &Names<'p>,
    BuildCall { scope, call, .. }: BuildCall<'p>,
) -> impl Iterator<Item = (&'static Maker, &'p [Keyword])> {
    let environment = Environment::module(scope, call.span.start);
    // Others have a `stencil` too.
    let is_of_gtscript =
        move |it: &Expr| matches!(evaluate::expression(names, &environment, it), Ok(Constant::Word(_)));
    let inner = match &call.kind {
        ExprKind::Call { function, .. } if matches!(function.kind, ExprKind::Call { .. }) => {
            Some(&**function)
        }
        _ => None,
    };
    [Some(call), inner].into_iter().flatten().filter_map(move |it| match &it.kind {
        ExprKind::Call { function, keywords, .. } => {
            let maker = Maker::of(function)?;
            (!maker.has_options || is_of_gtscript(function)).then_some((maker, keywords.as_slice()))
        }
        _ => None,
    })
}
