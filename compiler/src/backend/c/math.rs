//! The mathematics that generated C carries: which functions it calls, and their text.
//!
//! The headers in `math/` mirror [`crate::types::math`] operation by operation; generated code
//! contains those that it needs, so that it is one file without dependencies.

use std::collections::BTreeSet;

use crate::types::{DType, Function};

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
    let Callee::Function(function) = callee else {
        return Some(format!("isobar_pow_{suffix}"));
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

/// The headers that define the functions used, each once, every one after those that it needs.
#[must_use]
pub fn sections(used: impl IntoIterator<Item = (Callee, DType)>) -> Vec<&'static str> {
    let mut sections = BTreeSet::new();
    for (callee, dtype) in used {
        sections.insert(Section::Bits);
        sections.extend(Section::defining(callee, dtype));
    }
    sections.into_iter().map(Section::text).collect()
}

/// Whether the functions used call through `isobar_math_table`, which must then be set first.
#[must_use]
pub fn needs_table(used: impl IntoIterator<Item = (Callee, DType)>) -> bool {
    used.into_iter().any(|(callee, dtype)| Section::defining(callee, dtype).contains(&Section::Tail))
}

/// A header. The order is one in which they can be pasted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Bits,
    Int,
    Select,
    DoubleDouble,
    Exp,
    Log,
    Pow,
    Tail,
}

impl Section {
    /// The section that defines what is called, after those that it needs, [`Section::Bits`] apart.
    fn defining(callee: Callee, dtype: DType) -> &'static [Section] {
        use Function::{
            Abs, Ceil, Exp, Floor, IsFinite, IsInf, IsNan, Log, Log10, Max, MaxC, Min, MinC, Mod, ModC,
            Round, RoundAwayFromZero, Sqrt, Trunc,
        };
        match callee {
            _ if !dtype.is_float() => &[Section::Int],
            Callee::Pow => &[Section::DoubleDouble, Section::Exp, Section::Log, Section::Pow],
            Callee::Function(Exp) => &[Section::DoubleDouble, Section::Exp],
            Callee::Function(Log | Log10) => &[Section::DoubleDouble, Section::Log],
            Callee::Function(Min | Max | Mod | MinC | MaxC | ModC | Round | RoundAwayFromZero) => {
                &[Section::Select]
            }
            Callee::Function(Abs | Sqrt | Floor | Ceil | Trunc | IsNan | IsInf | IsFinite) => &[],
            Callee::Function(_) => &[Section::Tail],
        }
    }

    fn text(self) -> &'static str {
        match self {
            Section::Bits => include_str!("math/bits.h"),
            Section::Int => include_str!("math/int.h"),
            Section::Select => include_str!("math/select.h"),
            Section::DoubleDouble => include_str!("math/double_double.h"),
            Section::Exp => include_str!("math/exp.h"),
            Section::Log => include_str!("math/log.h"),
            Section::Pow => include_str!("math/pow.h"),
            Section::Tail => include_str!("math/tail.h"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::math::TAIL;

    #[test]
    fn every_float_function_has_a_name_that_its_sections_define() {
        for function in Function::ALL {
            for dtype in [DType::Float32, DType::Float64] {
                let callee = Callee::Function(function);
                let name = name(callee, dtype).expect("all functions take floats");
                let text = sections([(callee, dtype)]).concat();
                let stem = name.trim_end_matches("f32").trim_end_matches("f64");
                let is_tail = TAIL.contains(&function) && text.contains(&format!("ISOBAR_TAIL({function})"));
                let is_ours = name.starts_with("isobar_");
                assert!(!is_ours || is_tail || text.contains(stem), "{name}");
                assert_eq!(needs_table([(callee, dtype)]), TAIL.contains(&function));
            }
        }
    }

    #[test]
    fn sections_come_once_and_after_what_they_need() {
        let f64 = DType::Float64;
        let used = [(Callee::Pow, f64), (Callee::Function(Function::Exp), f64), (Callee::Pow, DType::Int32)];
        let order: Vec<_> = sections(used).iter().filter_map(|it| it.lines().next()).collect();
        assert_eq!(order.len(), 6);
        assert!(order[0].contains("Mathematics of Isobar"), "{order:?}");
        assert!(order[5].starts_with("/* Powers"), "{order:?}");
        assert!(sections([]).is_empty());
    }

    #[test]
    fn the_table_has_the_order_of_the_tail() {
        let text = Section::Tail.text();
        let entries: Vec<_> = text
            .lines()
            .filter_map(|it| it.trim().strip_prefix("double (*"))
            .filter_map(|it| it.strip_suffix("_f64)(double);"))
            .collect();
        let expected: Vec<_> = TAIL.iter().map(|it| it.name()).collect();
        assert_eq!(entries, expected);
    }

    #[test]
    fn the_headers_hold_the_coefficients_of_the_compiler() {
        let ours = [include_str!("../../types/math/exp.rs"), include_str!("../../types/math/log.rs")];
        let headers = [Section::Exp.text(), Section::Log.text()];
        for (ours, header) in ours.iter().zip(headers) {
            let in_header: Vec<u64> = header
                .split(|it: char| !(it.is_ascii_alphanumeric() || it == '.' || it == '-'))
                .filter_map(|it| it.parse().ok())
                .map(f64::to_bits)
                .collect();
            let coefficients: Vec<f64> = ours
                .lines()
                .filter_map(|it| it.trim().strip_suffix(',')?.replace('_', "").parse().ok())
                .collect();
            assert!(coefficients.len() >= 18);
            for it in coefficients {
                assert!(in_header.contains(&it.to_bits()), "{it:?}");
            }
        }
    }
}
