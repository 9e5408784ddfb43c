//! Data dimensions, tables, and levels that are computed while a stencil runs.

use itertools::Itertools;

use super::compile_time::TEMPORARY_TYPE;
use super::rules::{TARGET_LACKS_AXES, TEMPORARY_OUT_OF_REACH};
use super::statements::TARGET_IS_VIEW;
use crate::diag::{Code, Diagnostic, Span};
use crate::space::{Axis, AxisSet, Offset};
use crate::types::DType;

/// A parallel computation writes a field and reads a level of it that is computed while the stencil runs.
///
/// All levels run at once, so the other level may or may not have been written when it is read.
pub const COMPUTED_LEVEL_IN_PARALLEL: Code = Code("E21");
/// A level or a data index is not an integer.
///
/// There is no element between two others, and rounding is for the author to ask for.
pub const FLOAT_INDEX: Code = Code("E28");
/// An element of a data dimension is not named, or does not exist.
///
/// An expression computes one number at each point, so each use of a field with
/// data dimensions says which of its numbers is meant.
pub const DATA_INDEX: Code = Code("E30");
/// `.at(...)` is not called with a level.
///
/// `field.at(K=level)` reads an absolute level of the column, counted from the first of the compute domain.
pub const BAD_AT: Code = Code("E32");
/// An offset along I or J stands beside a level that is computed while the stencil runs.
///
/// GT4Py drops the horizontal offset without a word; here the neighbour's level is read.
pub const COMPUTED_LEVEL_BESIDE: Code = Code("W04");

/// `what` is what the number indexes: `the offset along K`, `the level`, `the data index`.
pub fn float_index(what: &str, dtype: DType, span: Span) -> Diagnostic {
    Diagnostic::error(
        FLOAT_INDEX,
        format!("{what} has the type {dtype}, and must be an integer"),
        span,
        format!("this is {dtype}"),
    )
    .help("say how it is rounded: `int(...)` cuts the fraction off, `int(floor(...))` rounds down")
}

/// A field with data dimensions of these sizes is used without naming an element.
pub fn data_index_missing(name: &str, axes: AxisSet, sizes: &[u32], span: Span) -> Diagnostic {
    Diagnostic::error(
        DATA_INDEX,
        format!("`{name}` has {} at each point, and none of them is named", numbers(sizes)),
        span,
        "its data index is missing",
    )
    .help(format!("write {}", example(name, axes, sizes)))
}

pub fn data_index_count(name: &str, axes: AxisSet, sizes: &[u32], given: usize, span: Span) -> Diagnostic {
    Diagnostic::error(
        DATA_INDEX,
        format!(
            "`{name}` has {}, and {given} data {} given",
            dimensions(sizes),
            if given == 1 { "index is" } else { "indices are" }
        ),
        span,
        format!(
            "{} needed",
            if sizes.len() == 1 { "one is".to_owned() } else { format!("{} are", sizes.len()) }
        ),
    )
    .help(format!("write {}", example(name, axes, sizes)))
}

pub fn data_index_out_of_range(name: &str, index: i64, size: u32, span: Span) -> Diagnostic {
    Diagnostic::error(
        DATA_INDEX,
        format!("`{name}` has {size} elements along this data dimension, and none at {index}"),
        span,
        "out of range",
    )
    .help(format!("write an index from 0 to {}", size.saturating_sub(1)))
}

/// `.A[...]`, `.T`, or a second index of a field that has no data dimensions; `written` as the user wrote it.
pub fn no_data_dimensions(name: &str, written: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        DATA_INDEX,
        format!("`{name}` has no data dimensions, and `{written}` asks for one"),
        span,
        "one number at each point",
    )
    .help(format!("write `{name}`, or declare it as `Field[IJK, (float, (n,))]`"))
}

/// A whole-vector assignment or product whose operands do not fit; `why` is the whole sentence.
pub fn vectors_differ(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(DATA_INDEX, why, span, "does not fit")
        .help("operands of a whole-vector assignment have the data dimensions of its target, or none")
}

const FIELD_FOR_TABLE: &str =
    "tables are inputs: assign a field with data dimensions, as `Field[IJK, (float, (n,))]`";

/// A table is assigned: it belongs to all points at once.
pub fn table_written(name: &str, span: Span, declared: Span) -> Diagnostic {
    Diagnostic::error(
        TARGET_LACKS_AXES,
        format!("`{name}` is a table and cannot be assigned"),
        span,
        "all points share its elements",
    )
    .also(declared, "declared here")
    .help(FIELD_FOR_TABLE)
}

/// `name.A[...] = ...`, with the axes of the field; none of a table.
pub fn element_view_as_target(name: &str, axes: AxisSet, span: Span) -> Diagnostic {
    let found =
        Diagnostic::error(TARGET_IS_VIEW, format!("`{name}.A[...]` can be read only"), span, "assigned here");
    if axes.is_empty() {
        return found.help(FIELD_FOR_TABLE);
    }
    found.help(format!("write `{}[...] = ...`", here(name, axes)))
}

/// `name.at(...) = ...`
pub fn at_as_target(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(TARGET_IS_VIEW, format!("`{name}.at(...)` can be read only"), span, "assigned here")
        .help(format!(
            "a statement writes the level it runs at: limit it with `interval(...)`, or write \
             `{name}[0, 0, n] = ...` with an offset in a FORWARD or BACKWARD computation"
        ))
}

/// `why` is the whole sentence.
pub fn bad_at(name: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(BAD_AT, why, span, "")
        .help(format!("write `{name}.at(K=level)`, with `ddim=[n]` behind it for a data dimension"))
}

/// `.at(...)` of a field that is the same on all levels; `sizes` are those of its data dimensions.
pub fn at_without_levels(name: &str, axes: AxisSet, sizes: &[u32], span: Span) -> Diagnostic {
    let value = if sizes.is_empty() { format!("`{name}`") } else { example(name, axes, sizes) };
    Diagnostic::error(BAD_AT, format!("`{name}` has no levels"), span, "")
        .help(format!("write {value}: it has one value for all levels"))
}

/// `field.at(K=K)`: the very level that the statement runs at; `sizes` are those of the data dimensions.
pub fn at_this_level(name: &str, axes: AxisSet, sizes: &[u32], span: Span) -> Diagnostic {
    let (value, element) = match sizes {
        [] => (name.to_owned(), ""),
        _ => (here(name, axes) + "[...]", "[...]"),
    };
    let above = axes.iter().map(|it| if it == Axis::K { "1" } else { "0" }).format(", ");
    Diagnostic::error(
        BAD_AT,
        format!("`{name}.at(K=K)` is the level that the statement runs at"),
        span,
        "no other level",
    )
    .help(format!("write `{value}`, or `{name}[{above}]{element}` for the level above"))
}

pub fn computed_level_in_parallel(name: &str, read: Span, write: Span) -> Diagnostic {
    Diagnostic::error(
        COMPUTED_LEVEL_IN_PARALLEL,
        format!("`{name}` is read at a computed level in the parallel computation that writes it"),
        read,
        "this level may or may not have been written",
    )
    .also(write, "written here, on all levels at once")
    .help("use `computation(FORWARD)` or `computation(BACKWARD)`, or write another field")
}

/// `offset` leaves the level out.
pub fn computed_level_beside(name: &str, offset: Offset, span: Span) -> Diagnostic {
    Diagnostic::warning(
        COMPUTED_LEVEL_BESIDE,
        format!("`{name}` is read beside the column at a computed level; GT4Py reads the column itself"),
        span,
        "offset along I or J, and a computed level",
    )
    .help(format!(
        "to read the same everywhere, copy first in a `with computation` of its own: `beside = {name}{offset}`, \
         then read `beside[0, 0, n]`"
    ))
}

/// `temporary[0, 0, 1] = ...` where no other vertical loop uses it.
pub fn level_of_local_temporary(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        TEMPORARY_OUT_OF_REACH,
        format!("`{name}` is assigned at another level, and only this computation uses it"),
        span,
        "its other levels have no value",
    )
    .help(format!("assign `{name}` on all levels in a `with computation` before this one"))
}

/// A temporary with data dimensions that nothing declares; it is assigned with so many data indices.
pub fn undeclared_data_temporary(name: &str, n_indices: usize, span: Span) -> Diagnostic {
    let sizes = match n_indices {
        ..2 => "n,".to_owned(),
        2.. => vec!["n"; n_indices].join(", "),
    };
    Diagnostic::error(
        TEMPORARY_TYPE,
        format!("`{name}` is assigned by element, and nothing says how many it has"),
        span,
        "not declared",
    )
    .help(format!("declare it before the first computation: `{name}: Field[IJK, (float, ({sizes}))] = 0.0`"))
}

/// A declaration at the top of a stencil with other axes than IJK.
pub fn declared_with_axes(name: &str, axes: AxisSet, span: Span) -> Diagnostic {
    Diagnostic::error(
        TEMPORARY_TYPE,
        format!("`{name}` is declared at the top of the stencil with the axes {axes}"),
        span,
        "only IJK is possible here",
    )
    .help(format!(
        "write `{name}: Field[IJK, ...]`, or declare a temporary without levels where it is first assigned, \
         in a FORWARD or BACKWARD computation"
    ))
}

/// "12 numbers".
fn numbers(sizes: &[u32]) -> String {
    let count = sizes.iter().fold(1_u64, |all, &it| all.saturating_mul(u64::from(it)));
    format!("{count} number{}", if count == 1 { "" } else { "s" })
}

/// "2 data dimensions (3, 4)".
fn dimensions(sizes: &[u32]) -> String {
    let s = if sizes.len() == 1 { "" } else { "s" };
    format!("{} data dimension{s} ({})", sizes.len(), sizes.iter().format(", "))
}

/// How the first element is read.
fn example(name: &str, axes: AxisSet, sizes: &[u32]) -> String {
    let index = sizes.iter().map(|_| "0").format(", ");
    if axes.is_empty() { format!("`{name}.A[{index}]`") } else { format!("`{}[{index}]`", here(name, axes)) }
}

/// A field at the point itself: `q[0, 0]`.
fn here(name: &str, axes: AxisSet) -> String {
    format!("{name}[{}]", axes.iter().map(|_| "0").format(", "))
}
