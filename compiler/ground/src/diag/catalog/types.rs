//! Faults of types: an operator or a condition meets an operand that it does not take.

use crate::diag::{Code, Diagnostic, Span, TextEdit};
use crate::types::{BinaryOp, DType};

/// A condition is not of type bool.
///
/// The language has no truth of numbers: whether `if flag:` means "not zero" or
/// "one" is for the author to say.
pub const CONDITION_NOT_BOOL: Code = Code("E36");
/// Numbers where logic is asked for, or logic where numbers are.
///
/// `and`, `or` and `not` take bools only; a sign, and arithmetic on two bools, takes numbers.
pub const LOGIC_AND_NUMBERS: Code = Code("E37");

/// `of` names the construct: `if`, `while`, a ternary.
/// `is_simple` where the condition needs no parentheses to be compared.
pub fn condition_not_bool(of: &str, dtype: DType, span: Span, is_simple: bool) -> Diagnostic {
    Diagnostic::error(
        CONDITION_NOT_BOOL,
        format!("the condition of {of} has the type {dtype}, and must be bool"),
        span,
        format!("this is {dtype}"),
    )
    .help("compare it, as in `flag != 0`")
    .fix("compare it with 0", compared_with_zero(span, is_simple))
}

/// `x` as `x != 0`.
fn compared_with_zero(span: Span, is_simple: bool) -> Vec<TextEdit> {
    if is_simple {
        return vec![TextEdit::behind(span, " != 0")];
    }
    vec![TextEdit::before(span, "("), TextEdit::behind(span, ") != 0")]
}

/// `is_simple` where the operand needs no parentheses to be compared.
pub fn logic_on_numbers(operator: &str, dtype: DType, span: Span, is_simple: bool) -> Diagnostic {
    Diagnostic::error(
        LOGIC_AND_NUMBERS,
        format!("`{operator}` takes bools, and this operand has the type {dtype}"),
        span,
        format!("this is {dtype}"),
    )
    .help("compare it, as in `x != 0`")
    .fix("compare it with 0", compared_with_zero(span, is_simple))
}

pub fn arithmetic_on_bools(op: BinaryOp, span: Span) -> Diagnostic {
    Diagnostic::error(
        LOGIC_AND_NUMBERS,
        format!("`{op}` takes numbers, and both operands are bool"),
        span,
        "both sides are bool",
    )
    .help("use `and` or `or`, or make a number of one side, as in `int(flag)`")
}

pub fn sign_of_bool(sign: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        LOGIC_AND_NUMBERS,
        format!("`{sign}` takes a number, and its operand is bool"),
        span,
        "this is bool",
    )
    .help("use `not`, or make a number of it, as in `int(flag)`")
}

pub fn function_of_bool(function: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        LOGIC_AND_NUMBERS,
        format!("`{function}` takes a number, and its argument is bool"),
        span,
        "this is bool",
    )
    .help("make a number of it, as in `float(flag)`")
}
