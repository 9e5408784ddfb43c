//! The mathematics that generated C and CUDA carry: which functions they call, and the text of these.
//!
//! The transcendental functions are printed from their definitions in [`crate::types::math`]. The others are
//! pasted from the headers in `math/`. Generated code contains the functions that it needs, so that it is one
//! file without dependencies.

use std::collections::BTreeSet;

use super::{Language, formula};
use crate::types::math::POWER;
use crate::types::math::builtins::Meaning;
use crate::types::math::formula::Formula;
use crate::types::math::real::Table;
use crate::types::{BinaryPrimitive, DType, Function, Primitive, UnaryPrimitive};

/// Flags that the bits and the speed of the headers rest on.
///
/// The first keeps the C compiler from fusing a multiplication with an addition, which changes
/// bits. The others change none, as nobody reads `errno` or floating-point exceptions; without
/// them gcc won't vectorise a loop with a square root or a select.
pub const FLAGS: [&str; 3] = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"];

/// Something that generated code calls by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Callee {
    /// An operation; `%` is one.
    Primitive(Primitive),
    /// A function that is a formula.
    Function(Function),
    /// `**`
    Pow,
    /// `** 2`, of floats.
    Square,
}

impl Callee {
    /// Returns the callee of calls of a function.
    #[must_use]
    pub fn of(function: Function) -> Self {
        match function.row().meaning {
            Meaning::Primitive(op) => Callee::Primitive(op),
            Meaning::Formula(_) => Callee::Function(function),
        }
    }

    fn formula(self) -> Option<&'static Formula> {
        match self {
            Callee::Function(function) => match function.row().meaning {
                Meaning::Formula(formula) => Some(formula),
                Meaning::Primitive(_) => None,
            },
            Callee::Pow => Some(&POWER),
            Callee::Primitive(_) | Callee::Square => None,
        }
    }
}

/// Returns the name of the C function for `callee` on operands of one type. `None` where an integer is its
/// own result (of rounding), or where the operand must be converted to a float first.
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
    let ours = |of: &str| Some(format!("isobar_{of}_{suffix}"));
    match callee {
        Callee::Primitive(op) if dtype.is_float() => Some(name_for_floats(op, dtype, suffix)),
        Callee::Primitive(op) => match op {
            // Without NaN, both rules are one.
            Primitive::Binary(BinaryPrimitive::Minimum | BinaryPrimitive::Lesser) => {
                ours(BinaryPrimitive::Minimum.name())
            }
            Primitive::Binary(BinaryPrimitive::Maximum | BinaryPrimitive::Greater) => {
                ours(BinaryPrimitive::Maximum.name())
            }
            Primitive::Binary(BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder)
            | Primitive::Unary(UnaryPrimitive::Magnitude) => ours(op.name()),
            Primitive::Unary(_) | Primitive::Predicate(_) => None,
        },
        Callee::Function(function) => ours(function.name()).filter(|_| dtype.is_float()),
        Callee::Pow => ours(POWER.name),
        Callee::Square => ours("square"),
    }
}

/// The same for what a file of C has once, for vector lanes: see [`shared`].
#[must_use]
pub fn shared_name(callee: Callee, dtype: DType) -> Option<String> {
    let is_formula = dtype.is_float() && callee.formula().is_some();
    name(callee, dtype).filter(|_| is_formula).map(|name| format!("{name}_shared"))
}

/// C functions that call those used, for vector lanes: gcc makes one vector function of each, where it would copy the
/// formula to every call. The copies are what it takes long for. clang makes no such functions, and copies.
#[must_use]
pub fn shared(used: impl IntoIterator<Item = (Callee, DType)>) -> Option<String> {
    let (mut functions, mut names) = (String::new(), String::new());
    for (callee, dtype) in used {
        let Some((name, shared)) = name(callee, dtype).zip(shared_name(callee, dtype)) else { continue };
        let ctype = if dtype == DType::Float32 { "float" } else { "double" };
        let (params, arguments) = match callee {
            Callee::Pow => (format!("{ctype} x, {ctype} y"), "x, y"),
            Callee::Primitive(_) | Callee::Function(_) | Callee::Square => (format!("{ctype} x"), "x"),
        };
        functions += &format!(
            "\
#pragma omp declare simd notinbranch
static __attribute__((noinline, const, unused)) {ctype} {shared}({params}) {{ return {name}({arguments}); }}
"
        );
        names += &format!("#define {shared} {name}\n");
    }
    (!functions.is_empty()).then(|| {
        format!(
            "\
/* The same for loops in vector lanes: one copy of each, which a C compiler makes a function of vectors. */
#if defined(__GNUC__) && !defined(__clang__)
{functions}#else
{names}#endif
"
        )
    })
}

/// The standard library has most, and IEEE 754 prescribes their bits.
fn name_for_floats(op: Primitive, dtype: DType, suffix: &str) -> String {
    let exact = match op {
        Primitive::Unary(UnaryPrimitive::Magnitude) => "fabs",
        Primitive::Unary(
            UnaryPrimitive::SquareRoot
            | UnaryPrimitive::Floor
            | UnaryPrimitive::Ceiling
            | UnaryPrimitive::Truncation,
        ) => op.name(),
        // Macros, for any type.
        Primitive::Predicate(question) => return question.name().to_owned(),
        Primitive::Unary(UnaryPrimitive::Nearest | UnaryPrimitive::NearestAway) | Primitive::Binary(_) => {
            return format!("isobar_{}_{suffix}", op.name());
        }
    };
    if dtype == DType::Float32 { format!("{exact}f") } else { exact.to_owned() }
}

/// Returns the definitions of the functions used, each once, and after the definitions that it needs. In C,
/// definitions that all functions need come first; in CUDA they are in the prelude of each file.
#[must_use]
pub fn sections(language: Language, used: impl IntoIterator<Item = (Callee, DType)>) -> Vec<String> {
    let used: BTreeSet<(Callee, DType)> = used.into_iter().collect();
    let mut sections = Vec::new();
    let mut paste = |is_used: bool, text: &str| {
        if is_used {
            sections.push(text.to_owned());
        }
    };
    paste(language == Language::C && !used.is_empty(), include_str!("math/bits.h"));
    paste(used.iter().any(|(_, dtype)| !dtype.is_float()), include_str!("math/int.h"));
    paste(used.iter().any(|it| is_selecting(*it)), include_str!("math/select.h"));
    paste(used.iter().any(|it| it.0 == Callee::Square), include_str!("math/square.h"));

    let functions: Vec<_> = used
        .iter()
        .filter_map(|&(callee, dtype)| Some((callee.formula()?.definition(dtype)?, name(callee, dtype)?)))
        .collect();
    let mut tables: Vec<&Table> = Vec::new();
    for table in functions.iter().flat_map(|(definition, _)| definition.tables()) {
        if !tables.iter().any(|it| it.name == table.name) {
            tables.push(table);
        }
    }
    sections.extend(tables.into_iter().map(|it| formula::table(language, it)));
    sections.extend(functions.into_iter().map(|(definition, name)| formula::function(definition, &name)));
    sections
}

/// Whether it is one of the functions of floats that pick or round.
fn is_selecting((callee, dtype): (Callee, DType)) -> bool {
    let Callee::Primitive(op) = callee else { return false };
    dtype.is_float()
        && match op {
            Primitive::Binary(_) => true,
            Primitive::Unary(op) => matches!(op, UnaryPrimitive::Nearest | UnaryPrimitive::NearestAway),
            Primitive::Predicate(_) => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_function_has_a_name_that_its_sections_define() {
        for function in Function::all() {
            for dtype in [DType::Float32, DType::Float64] {
                let callee = Callee::of(function);
                let name = name(callee, dtype).expect("all functions take floats");
                let text = sections(Language::C, [(callee, dtype)]).concat();
                let stem = name.trim_end_matches("f32").trim_end_matches("f64");
                let is_ours = name.starts_with("isobar_");
                assert!(!is_ours || text.contains(stem), "{name}");
            }
        }
    }

    #[test]
    fn sections_come_once_and_after_what_they_need() {
        let f64 = DType::Float64;
        let used = [
            (Callee::Pow, f64),
            (Callee::of(Function::from_name("exp").expect("a builtin")), f64),
            (Callee::Pow, DType::Int32),
        ];
        let order: Vec<_> = sections(Language::C, used)
            .iter()
            .filter_map(|it| it.lines().nth(1).map(str::to_owned))
            .collect();
        assert_eq!(order.len(), 7, "{order:?}");
        assert!(order[2].starts_with("static const double isobar_inverses[128]"), "{order:?}");
        assert!(order[5].contains("isobar_exp_f64(double x)"), "{order:?}");
        assert!(order[6].contains("isobar_pow_f64(double x, double y)"), "{order:?}");
        assert!(sections(Language::C, []).is_empty());
    }
}
