//! Statements that would depend on the order in which points are visited, and targets that cannot be written.

use crate::diag::{Code, Diagnostic, Span};
use crate::space::{AxisSet, LoopOrder, Offset};

/// A region reads, beside the point, a field that was written before outside any region.
pub const REGION_READS_BESIDE: Code = Code("E15");
/// An assignment reads its target beside the point.
///
/// The assignment runs at every point at once, so a neighbour may or may not
/// have been updated when it is read.
pub const SELF_READ_BESIDE: Code = Code("E18");
/// A parameter is written, and read beside the point, in one computation.
pub const WRITTEN_AND_READ_BESIDE: Code = Code("E19");
/// A `while` body writes a field and reads it beside the point.
pub const WHILE_READS_BESIDE: Code = Code("E22");
/// A temporary is read at another point where no value of it can be.
///
/// Either the same `if` writes it, or no other statement uses it. Or the value would come from ever farther
/// points with each level, or from a level that does not exist.
pub const TEMPORARY_OUT_OF_REACH: Code = Code("E23");
/// The target has no element of its own at each point that writes it.
///
/// A field without I or J would be written by a whole plane at once. A field without K would be written by
/// all levels at once, unless the levels come one after the other.
pub const TARGET_LACKS_AXES: Code = Code("E24");

pub fn region_reads_beside(name: &str, offset: Offset, read: Span, write: Span) -> Diagnostic {
    Diagnostic::error(
        REGION_READS_BESIDE,
        format!("a horizontal region reads `{name}` at {offset}, and `{name}` was written before"),
        read,
        "the neighbour is outside the region",
    )
    .also(write, "written here, outside any region")
    .help(format!("read a field that the stencil does not write instead of `{name}`"))
}

pub fn region_reads_beside_itself(name: &str, offset: Offset, read: Span, write: Span) -> Diagnostic {
    Diagnostic::error(
        REGION_READS_BESIDE,
        format!("`{name}` is read at {offset} inside the region that writes it"),
        read,
        "may see the old or the new value",
    )
    .also(write, "written here")
    .help(format!("assign `{name}` in a `with horizontal` of its own, before this one"))
}

pub fn self_read_beside(name: &str, offset: Offset, read: Span, write: Span) -> Diagnostic {
    Diagnostic::error(
        SELF_READ_BESIDE,
        format!("`{name}` is read at {offset} by the assignment that writes it"),
        read,
        "may see the old or the new value",
    )
    .also(write, "written here, at all points in parallel")
    .help(format!("keep the old values first: `old = {name}`, then read `old{offset}`"))
}

/// The advice where the field of such a fault is a parameter.
///
/// A copy of it does not help: no value of a parameter that is written can be needed beyond the compute domain (E20).
pub fn of_parameter(found: Diagnostic, name: &str) -> Diagnostic {
    found.help(format!(
        "write another parameter, as `{name}_new = ...`: one that is written cannot be read beside the point"
    ))
}

pub fn written_and_read_beside(name: &str, offset: Offset, read: Span, write: Span) -> Diagnostic {
    Diagnostic::error(
        WRITTEN_AND_READ_BESIDE,
        format!("`{name}` is read at {offset} in the computation that writes it"),
        read,
        "the neighbour may be outside the compute domain, where nothing is written",
    )
    .also(write, "written here")
    .help(format!(
        "compute the value in a temporary, read that at {offset}, and assign `{name}` from it; \
         for old values, write another parameter, as `{name}_new = ...`"
    ))
}

pub fn while_reads_beside(name: &str, offset: Offset, read: Span, write: Span) -> Diagnostic {
    Diagnostic::error(
        WHILE_READS_BESIDE,
        format!("a `while` loop reads `{name}` at {offset} and writes it"),
        read,
        "each point runs its own number of iterations",
    )
    .also(write, "written here")
    .help(format!("keep the old values before the loop: `old = {name}`, then read `old{offset}`"))
}

pub fn read_beside_in_same_branch(name: &str, offset: Offset, read: Span, write: Span) -> Diagnostic {
    Diagnostic::error(
        TEMPORARY_OUT_OF_REACH,
        format!("`{name}` is read at {offset} inside the `if` that writes it"),
        read,
        "the neighbour may not have taken this branch",
    )
    .also(write, "written here")
    .help(format!("assign `{name}` before the `if`"))
}

pub fn used_in_one_statement(name: &str, offset: Offset, read: Span) -> Diagnostic {
    Diagnostic::error(
        TEMPORARY_OUT_OF_REACH,
        format!("`{name}` is read at {offset}, and no other statement uses it"),
        read,
        "its other levels have no value here",
    )
    .help(format!("assign `{name}` in a computation of its own, before this one"))
}

pub fn recurrence_beside(name: &str, offset: Offset, read: Span, lag: Span, order: LoopOrder) -> Diagnostic {
    Diagnostic::error(
        TEMPORARY_OUT_OF_REACH,
        format!(
            "the read of `{name}` at {offset} needs one more neighbour for each level of the {order} sweep"
        ),
        read,
        "this point depends on its neighbour",
    )
    .also(lag, "and here on another level, so the neighbour on its own, and so on")
    .help("compute what is read beside the point in a computation of its own, before the sweep")
}

/// `levels` beyond the start (`is_low`) or the end.
pub fn temporary_beyond_levels(name: &str, is_low: bool, levels: i32, span: Span) -> Diagnostic {
    let (where_to, limit) = if is_low {
        ("below the first", format!("interval({levels}, None)"))
    } else {
        ("above the last", format!("interval(0, -{levels})"))
    };
    let unit = if levels == 1 { "level" } else { "levels" };
    Diagnostic::error(
        TEMPORARY_OUT_OF_REACH,
        format!("the temporary `{name}` is read {levels} {unit} {where_to}, where it does not exist"),
        span,
        "a temporary has the levels of the compute domain",
    )
    .help(format!(
        "limit the statement to the levels that have such a neighbour, as in `{limit}`, or by an `if`"
    ))
}

pub fn target_lacks_axes(name: &str, axes: AxisSet, order: LoopOrder, span: Span) -> Diagnostic {
    let help = if axes == AxisSet::IJ {
        "use `computation(FORWARD)` or `computation(BACKWARD)`, where the levels come one after the other"
    } else {
        "assign a field with the axes IJK, or IJ in a FORWARD or BACKWARD computation"
    };
    Diagnostic::error(
        TARGET_LACKS_AXES,
        format!("`{name}` has the axes {axes} and cannot be assigned in a {order} computation"),
        span,
        "many points share one element",
    )
    .help(help)
}
