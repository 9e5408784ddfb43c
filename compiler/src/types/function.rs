//! The built-in functions of the language.

use std::fmt;

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    Abs,
    Min,
    Max,
    Mod,
    /// C++'s `std::min`: where the operands are unordered, the first.
    MinC,
    /// C++'s `std::max`: where the operands are unordered, the first.
    MaxC,
    /// C's remainder: the sign of the dividend.
    ModC,
    Sqrt,
    Exp,
    Log,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Cbrt,
    Gamma,
    Erf,
    Erfc,
    Floor,
    Ceil,
    Trunc,
    /// To nearest, ties to even; the result keeps the float type.
    Round,
    /// To nearest, ties away from zero.
    RoundAwayFromZero,
    IsNan,
    IsInf,
    IsFinite,
}

impl Function {
    /// All functions.
    pub const ALL: [Function; 35] = [
        Function::Abs,
        Function::Min,
        Function::Max,
        Function::Mod,
        Function::MinC,
        Function::MaxC,
        Function::ModC,
        Function::Sqrt,
        Function::Exp,
        Function::Log,
        Function::Log10,
        Function::Sin,
        Function::Cos,
        Function::Tan,
        Function::Asin,
        Function::Acos,
        Function::Atan,
        Function::Sinh,
        Function::Cosh,
        Function::Tanh,
        Function::Asinh,
        Function::Acosh,
        Function::Atanh,
        Function::Cbrt,
        Function::Gamma,
        Function::Erf,
        Function::Erfc,
        Function::Floor,
        Function::Ceil,
        Function::Trunc,
        Function::Round,
        Function::RoundAwayFromZero,
        Function::IsNan,
        Function::IsInf,
        Function::IsFinite,
    ];

    /// The functions that a stencil can call.
    pub fn builtins() -> impl Iterator<Item = Function> {
        Self::ALL.into_iter().filter(|it| !it.is_of_c())
    }

    /// The name in the IRs' text; that of a [builtin](Self::builtins) is also the language's.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Function::Abs => "abs",
            Function::Min => "min",
            Function::Max => "max",
            Function::Mod => "mod",
            Function::MinC => "min_c",
            Function::MaxC => "max_c",
            Function::ModC => "mod_c",
            Function::Sqrt => "sqrt",
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Log10 => "log10",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Tan => "tan",
            Function::Asin => "asin",
            Function::Acos => "acos",
            Function::Atan => "atan",
            Function::Sinh => "sinh",
            Function::Cosh => "cosh",
            Function::Tanh => "tanh",
            Function::Asinh => "asinh",
            Function::Acosh => "acosh",
            Function::Atanh => "atanh",
            Function::Cbrt => "cbrt",
            Function::Gamma => "gamma",
            Function::Erf => "erf",
            Function::Erfc => "erfc",
            Function::Floor => "floor",
            Function::Ceil => "ceil",
            Function::Trunc => "trunc",
            Function::Round => "round",
            Function::RoundAwayFromZero => "round_away_from_zero",
            Function::IsNan => "isnan",
            Function::IsInf => "isinf",
            Function::IsFinite => "isfinite",
        }
    }

    /// The function of that name in the IRs' text.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// What a stencil calls by that name.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        Self::from_name(name).filter(|it| !it.is_of_c())
    }

    /// What stands in the text of a stencil that calls it.
    #[must_use]
    pub fn written(self) -> &'static str {
        match self {
            Function::MinC => Function::Min.name(),
            Function::MaxC => Function::Max.name(),
            Function::ModC => Function::Mod.name(),
            it => it.name(),
        }
    }

    /// Whether it stands for a builtin that was compiled with C's arithmetic.
    fn is_of_c(self) -> bool {
        matches!(self, Function::MinC | Function::MaxC | Function::ModC)
    }

    /// How many arguments it takes, exactly.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Function::Min
            | Function::Max
            | Function::Mod
            | Function::MinC
            | Function::MaxC
            | Function::ModC => 2,
            _ => 1,
        }
    }

    /// Whether it asks about a float and answers with a bool.
    #[must_use]
    pub fn is_predicate(self) -> bool {
        matches!(self, Function::IsNan | Function::IsInf | Function::IsFinite)
    }

    /// Whether integers stay integers; every other function takes them to floats first.
    #[must_use]
    pub fn keeps_integers(self) -> bool {
        use Function::{Abs, Ceil, Floor, Max, MaxC, Min, MinC, Mod, ModC, Trunc};
        matches!(self, Abs | Min | Max | Mod | MinC | MaxC | ModC | Floor | Ceil | Trunc)
    }

    /// Whether its bits depend on an approximation, so that there must be one definition for all back ends.
    #[must_use]
    pub fn is_transcendental(self) -> bool {
        use Function::{
            Acos, Acosh, Asin, Asinh, Atan, Atanh, Cbrt, Cos, Cosh, Erf, Erfc, Exp, Gamma, Log, Log10, Sin,
            Sinh, Tan, Tanh,
        };
        matches!(
            self,
            Exp | Log
                | Log10
                | Sin
                | Cos
                | Tan
                | Asin
                | Acos
                | Atan
                | Sinh
                | Cosh
                | Tanh
                | Asinh
                | Acosh
                | Atanh
                | Cbrt
                | Gamma
                | Erf
                | Erfc
        )
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
