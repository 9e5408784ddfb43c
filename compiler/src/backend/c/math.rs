//! The mathematics that generated C carries: which functions it calls, and their text.
//!
//! The transcendental functions are printed from their definitions in [`crate::types::math`], the
//! others are pasted from the headers in `math/`; generated code contains those that it needs, so
//! that it is one file without dependencies.

use std::collections::BTreeSet;

use super::formula;
use crate::types::math::real::Table;
use crate::types::math::record::Definition;
use crate::types::{DType, Function, math};

/// Flags that the bits and the speed of the headers rest on.
///
/// The first keeps the C compiler from fusing a multiplication with an addition, which changes
/// bits. The others change none, as nobody reads `errno` or floating-point exceptions; without
/// them gcc won't vectorise a loop with a square root or a select.
pub const FLAGS: [&str; 3] = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"];

/// Something that generated code calls by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Callee {
    /// A built-in function; `%` is [`Function::Mod`].
    Function(Function),
    /// `**`
    Pow,
    /// `** 2`, of floats.
    Square,
}

/// The C function for `callee` on operands of one type; `None` where an integer is its own result
/// (`floor` and the like) or the function wants its operand as a float first.
#[must_use]
pub fn name(callee: Callee, dtype: DType) -> Option<String> {
    let suffix = match dtype {
        DType::Bool | DType::Int8 => "i8",
        DType::Int16 => "i16",
        DType::Int32 => "i32",
        DType::Int64 => "i64",
        DType::Float32 => "f32",
        DType::Float64 => "f64",
    };
    let function = match callee {
        Callee::Function(function) => function,
        Callee::Pow => return Some(format!("isobar_pow_{suffix}")),
        Callee::Square => return Some(format!("isobar_square_{suffix}")),
    };
    if !dtype.is_float() {
        use Function::{Abs, Max, MaxC, Min, MinC, Mod, ModC};
        return match function {
            // Without NaN, both rules are one.
            Min | MinC => Some(format!("isobar_min_{suffix}")),
            Max | MaxC => Some(format!("isobar_max_{suffix}")),
            Abs | Mod | ModC => Some(format!("isobar_{function}_{suffix}")),
            _ => None,
        };
    }
    // The standard library has these, and IEEE 754 prescribes their bits.
    let exact = match function {
        Function::Abs => "fabs",
        Function::Sqrt => "sqrt",
        Function::Floor => "floor",
        Function::Ceil => "ceil",
        Function::Trunc => "trunc",
        Function::IsNan | Function::IsInf | Function::IsFinite => return Some(function.name().to_owned()),
        _ => return Some(format!("isobar_{function}_{suffix}")),
    };
    Some(if dtype == DType::Float32 { format!("{exact}f") } else { exact.to_owned() })
}

/// What defines the functions used, each once, every one after what it needs.
#[must_use]
pub fn sections(used: impl IntoIterator<Item = (Callee, DType)>) -> Vec<String> {
    let used: BTreeSet<(Callee, DType)> = used.into_iter().collect();
    let mut sections = Vec::new();
    let mut paste = |is_used: bool, text: &str| {
        if is_used {
            sections.push(text.to_owned());
        }
    };
    paste(!used.is_empty(), include_str!("math/bits.h"));
    paste(used.iter().any(|(_, dtype)| !dtype.is_float()), include_str!("math/int.h"));
    paste(used.iter().any(|it| is_selecting(*it)), include_str!("math/select.h"));
    paste(used.iter().any(|it| it.0 == Callee::Square), include_str!("math/square.h"));

    let functions: Vec<_> = used
        .iter()
        .filter_map(|&(callee, dtype)| Some((definition(callee, dtype)?, name(callee, dtype)?)))
        .collect();
    let mut tables: Vec<&Table> = Vec::new();
    for table in functions.iter().flat_map(|(definition, _)| definition.tables()) {
        if !tables.iter().any(|it| it.name == table.name) {
            tables.push(table);
        }
    }
    sections.extend(tables.into_iter().map(formula::table));
    sections.extend(functions.into_iter().map(|(definition, name)| formula::function(definition, &name)));
    sections
}

/// How a transcendental function of floats is computed; none for any other.
pub(super) fn definition(callee: Callee, dtype: DType) -> Option<&'static Definition> {
    match callee {
        Callee::Function(function) => math::definition(function, dtype),
        Callee::Pow => math::power_definition(dtype),
        Callee::Square => None,
    }
}

/// Whether it is one of the functions of floats that pick or round.
fn is_selecting((callee, dtype): (Callee, DType)) -> bool {
    use Function::{Max, MaxC, Min, MinC, Mod, ModC, Round, RoundAwayFromZero};
    let Callee::Function(function) = callee else { return false };
    dtype.is_float() && matches!(function, Min | Max | Mod | MinC | MaxC | ModC | Round | RoundAwayFromZero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_function_has_a_name_that_its_sections_define() {
        for function in Function::ALL {
            for dtype in [DType::Float32, DType::Float64] {
                let callee = Callee::Function(function);
                let name = name(callee, dtype).expect("all functions take floats");
                let text = sections([(callee, dtype)]).concat();
                let stem = name.trim_end_matches("f32").trim_end_matches("f64");
                let is_ours = name.starts_with("isobar_");
                assert!(!is_ours || text.contains(stem), "{name}");
            }
        }
    }

    #[test]
    fn sections_come_once_and_after_what_they_need() {
        let f64 = DType::Float64;
        let used = [(Callee::Pow, f64), (Callee::Function(Function::Exp), f64), (Callee::Pow, DType::Int32)];
        let order: Vec<_> =
            sections(used).iter().filter_map(|it| it.lines().nth(1).map(str::to_owned)).collect();
        assert_eq!(order.len(), 7, "{order:?}");
        assert!(order[2].starts_with("static const double isobar_inverses[128]"), "{order:?}");
        assert!(order[5].contains("isobar_exp_f64(double x)"), "{order:?}");
        assert!(order[6].contains("isobar_pow_f64(double x, double y)"), "{order:?}");
        assert!(sections([]).is_empty());
    }
}
