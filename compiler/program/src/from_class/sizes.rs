//! Ranges that do not depend on the domain, found by the graph of another one.

use crate::document::nodes::SizeEntry;
use crate::from_objects::graph::ObjectGraph;

/// Makes numbers of the sizes of ranges that two domains have alike. The graph stays as it is where the other one has other
/// stencils or fields.
pub(super) fn keep_constant(
    graph: &mut ObjectGraph,
    domain: [u32; 3],
    other: &ObjectGraph,
    other_domain: [u32; 3],
) {
    let is_alike = graph.stencils.0.iter().map(|it| &it.0).eq(other.stencils.0.iter().map(|it| &it.0))
        && graph.fields.0.iter().map(|it| &it.0).eq(other.fields.0.iter().map(|it| &it.0));
    if !is_alike {
        return;
    }
    let keep = |own: &mut SizeEntry, other: &SizeEntry| {
        let sizes = (size_on(own, domain), size_on(other, other_domain));
        if let (Some(one), Some(two)) = sizes
            && one == two
        {
            *own = SizeEntry::Number(one);
        }
    };
    for ((_, own), (_, other)) in graph.stencils.0.iter_mut().zip(&other.stencils.0) {
        let sizes = own.stencil.domain.iter_mut().flatten().zip(other.stencil.domain.iter().flatten());
        sizes.for_each(|(own, other)| keep(own, other));
    }
}

/// The number that a size is on a domain.
fn size_on(size: &SizeEntry, domain: [u32; 3]) -> Option<i64> {
    match size {
        SizeEntry::Number(it) => Some(*it),
        SizeEntry::Text(text) => {
            let axis = ["I", "J", "K"].iter().position(|it| text.starts_with(it))?;
            let offset = if text.len() == 1 { 0 } else { text[1..].parse::<i64>().ok()? };
            Some(i64::from(domain[axis]) + offset)
        }
    }
}
