//! `with computation(...)`, intervals and regions.

use crate::diag::{Code, Diagnostic, Similar, Span, TextEdit};
use crate::space::{Axis, AxisSet, LoopOrder};
use crate::types::DType;

/// A statement stands outside every computation.
///
/// A statement has no levels to run on unless a computation gives it some.
pub const TOP_LEVEL: Code = Code("E08");
/// A `with` is not one computation with one interval.
///
/// The order of the levels and the range of levels are what a computation is, so each of them is
/// said once.
pub const MALFORMED_WITH: Code = Code("E09");
/// An interval is not a range of levels.
///
/// It holds its first bound and does not hold the second one, and it is never empty: a statement
/// that runs nowhere is a mistake.
pub const INTERVAL: Code = Code("E10");
/// The intervals of a computation are not listed in the order in which they run.
///
/// The text reads in the order in which things happen.
pub const INTERVAL_ORDER: Code = Code("E11");
/// Two intervals of one computation overlap.
///
/// A level in two intervals of one computation would run twice, which the text does not show.
pub const INTERVAL_OVERLAP: Code = Code("E12");
/// A `with` stands inside a horizontal region.
///
/// A region is one rectangle; two inside each other are the rectangle in which they meet.
pub const WITH_IN_REGION: Code = Code("E13");
/// A horizontal region is not a rectangle of columns.
///
/// Places are relative to the edges of the compute domain, since its size is not known while
/// compiling.
pub const REGION: Code = Code("E14");

pub fn statement_at_top_level(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        TOP_LEVEL,
        format!("{what} stands outside every computation"),
        span,
        "not inside a computation",
    )
    .help("move it into a `with computation(PARALLEL), interval(...):`")
}

/// `what` is the whole sentence.
pub fn malformed_with(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error(MALFORMED_WITH, what, span, "")
        .help("write `with computation(PARALLEL), interval(...):`, or blocks `with interval(...):` inside one `with computation(...):`")
}

/// `written` is what an item of a `with` is or calls; its last name stands at `span`.
pub fn misspelt_item(written: &str, span: Span, similar: &Similar) -> Diagnostic {
    let what = format!("`{written}` is no computation, interval or horizontal region");
    Diagnostic::error(MALFORMED_WITH, what, span, "not known here").did_you_mean(similar, span)
}

/// `written` means `word` under another name.
pub fn renamed_item(written: &str, word: &str, span: Span) -> Diagnostic {
    let what = format!("`{written}` is `{word}` by another name");
    Diagnostic::error(MALFORMED_WITH, what, span, "GT4Py knows it by its own name alone")
        .help(format!("write `{word}`"))
        .fix(format!("write `{word}`"), [TextEdit::replace(span, word)])
}

/// `with computation:`
pub fn item_not_called(word: &str, span: Span) -> Diagnostic {
    let example = match word {
        "computation" => "computation(PARALLEL)",
        "interval" => "interval(...)",
        _ => "horizontal(region[...])",
    };
    Diagnostic::error(MALFORMED_WITH, format!("`{word}` is not called"), span, "nothing is passed")
        .help(format!("write `{example}`"))
}

/// `with PARALLEL, interval(...):`
pub fn order_alone(order: &str, span: Span) -> Diagnostic {
    let whole = format!("computation({order})");
    Diagnostic::error(MALFORMED_WITH, format!("`{order}` stands outside a computation"), span, "an order")
        .help(format!("write `{whole}`"))
        .fix(format!("write `{whole}`"), [TextEdit::replace(span, whole)])
}

/// A function that is decorated as a stencil, at `decorator`.
pub fn no_computation(name: &str, span: Span, decorator: Span) -> Diagnostic {
    Diagnostic::error(
        MALFORMED_WITH,
        format!("the stencil `{name}` has no computation"),
        span,
        "computes nothing",
    )
    .also(decorator, "decorated as a stencil here")
    .help("put its statements into a `with computation(PARALLEL), interval(...):`")
}

pub fn unknown_order(span: Span, similar: Option<&Similar>) -> Diagnostic {
    let found =
        Diagnostic::error(MALFORMED_WITH, "the order of a computation is not known", span, "not an order")
            .help("write `PARALLEL`, `FORWARD` or `BACKWARD`");
    match similar {
        Some(similar) => found.did_you_mean(similar, span),
        None => found,
    }
}

/// `interval(-1)`: the one level is `level`, which is below 0.
pub fn single_level_from_the_end(level: i32, span: Span) -> Diagnostic {
    let found = bad_interval("a single level is counted from the start", span);
    let end = match level {
        ..-1 => (level + 1).to_string(),
        -1.. => "None".to_owned(),
    };
    let found = match level {
        ..-1 => found.help(format!("write `interval({level}, {end})` for this level")),
        -1.. => found.help("write `interval(-1, None)` for the last level"),
    };
    found.fix("write the end of the interval", [TextEdit::behind(span, format!(", {end}"))])
}

/// `interval(None, n)`
pub fn interval_from_none(span: Span) -> Diagnostic {
    bad_interval("an interval starts at a level, not at `None`", span)
        .help("write `interval(0, n)` to start at the first level")
        .fix("write `0`", [TextEdit::replace(span, "0")])
}

/// `why` is the whole sentence.
pub fn bad_interval(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(INTERVAL, why, span, "").help(
        "write `interval(...)` for all levels, or `interval(start, end)` with integers: \
         those below 0 count from the end, `None` is the end",
    )
}

/// `interval(n + 1, None)`, where `n` is known only while the stencil runs.
pub fn interval_bound_arithmetic(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        INTERVAL,
        format!("a bound of the interval computes with `{name}`, which is known only while the stencil runs"),
        span,
        "only the name itself can stand here",
    )
    .help(format!("compute it before: pass a scalar or a field with the axes IJ instead of `{name}`"))
}

/// A bound is read from a field that has a value on each level.
pub fn interval_bound_axes(name: &str, axes: AxisSet, span: Span) -> Diagnostic {
    Diagnostic::error(
        INTERVAL,
        format!("`{name}` has the axes {axes} and bounds an interval"),
        span,
        "one level for each column is needed",
    )
    .help("a bound is an integer, a scalar parameter, or a field or temporary with the axes IJ")
}

/// A bound is read at another column, or at an offset that is none.
pub fn interval_bound_beside(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        INTERVAL,
        format!("`{name}` bounds an interval with the value of another column"),
        span,
        "an offset along I or J",
    )
    .help(format!(
        "write `{name}` or `{name}[0, 0]`; copy the neighbour's value into a field of its own before"
    ))
}

/// A field that bounds an interval is assigned inside it.
pub fn interval_bound_written(name: &str, span: Span, written: Span) -> Diagnostic {
    Diagnostic::error(
        INTERVAL,
        format!("`{name}` bounds an interval and is assigned within it"),
        span,
        "its value here decides which levels run",
    )
    .also(written, "assigned here, while they run")
    .help(format!(
        "keep the bound in another field: write `levels: Field[IJ, int] = {name}` in a FORWARD computation before, \
         and `interval(0, levels)`"
    ))
}

/// A bound that is known only while the stencil runs is no number.
pub fn interval_bound_type(name: &str, dtype: DType, span: Span) -> Diagnostic {
    Diagnostic::error(
        INTERVAL,
        format!("`{name}` has the type {dtype} and bounds an interval"),
        span,
        "a level is an integer",
    )
    .help(format!("declare `{name}` as an integer"))
}

pub fn intervals_out_of_order(order: LoopOrder, interval: Span, before: Span) -> Diagnostic {
    let (runs, wanted) = match order {
        LoopOrder::Backward => ("from the last level down", "with the higher levels first"),
        LoopOrder::Forward | LoopOrder::Parallel => {
            ("from the first level up", "with the lower levels first")
        }
    };
    Diagnostic::error(
        INTERVAL_ORDER,
        format!("the intervals are not in the order in which they run: {runs}"),
        interval,
        "runs before the one above it",
    )
    .also(before, "listed before")
    .help(format!("list the intervals {wanted}"))
}

pub fn intervals_overlap(interval: Span, before: Span) -> Diagnostic {
    Diagnostic::error(
        INTERVAL_OVERLAP,
        "two intervals of one computation overlap",
        interval,
        "has levels in common",
    )
    .also(before, "with this one")
    .help("end the one where the other starts, or write two `with computation(...)`")
}

pub fn with_in_region(span: Span) -> Diagnostic {
    Diagnostic::error(WITH_IN_REGION, "a `with` stands inside a horizontal region", span, "nested")
        .help("close the region first; two regions are intersected by writing their intersection")
}

/// `why` is the whole sentence.
pub fn bad_region(why: &str, span: Span) -> Diagnostic {
    Diagnostic::error(REGION, why, span, "").help(
        "write `region[i, j]`, each a slice or a single place: `I[0]` is the first column, `I[-1]` the last, \
         `I[0] + 1` one further, `:` all",
    )
}

/// `I[2]`, where only 0 and -1 may be written; `edit` counts from these.
pub fn region_index(axis: Axis, span: Span, edit: Option<TextEdit>) -> Diagnostic {
    bad_region(&format!("`{axis}[...]` takes 0 for the first and -1 for the last point"), span)
        .help(format!("write `{axis}[0] + 2` for the third point, `{axis}[-1] - 1` for the last but one"))
        .fix("count from the first or the last point", edit)
}

/// `region[I[0]]`: one entry stands at `entry`.
pub fn region_of_one_axis(span: Span, entry: Option<Span>) -> Diagnostic {
    bad_region("a region has two entries, along I and along J", span)
        .fix("take all points along J", entry.map(|it| TextEdit::behind(it, ", :")))
}

pub fn region_of_wrong_axis(wanted: Axis, got: Axis, span: Span) -> Diagnostic {
    Diagnostic::error(
        REGION,
        format!("the place along {wanted} is given along {got}"),
        span,
        format!("a place along {wanted} is needed"),
    )
    .help(format!("write `{wanted}[0]` or `{wanted}[-1]` here; the first entry of a region is along I, the second along J"))
}
