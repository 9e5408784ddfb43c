//! The primitive operations: what a back end implements.
//!
//! A primitive takes numbers of one element type and is one operation in whatever a back end writes. Its result is
//! prescribed to the bit, by IEEE 754 or by [`super::math`], so there is nothing to choose. Beside the operators there
//! are no others: a [builtin](super::math::builtins) is one of them, or a formula whose
//! [steps](super::math::record::Op) are operations on doubles.

/// An operation beside the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Primitive {
    Unary(UnaryPrimitive),
    Binary(BinaryPrimitive),
    Predicate(Predicate),
}

/// Of one number, with a result of its type. An integer is its own floor, and whatever else rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryPrimitive {
    /// Without the sign; that of the lowest integer wraps to itself.
    Magnitude,
    /// Of floats, rounded correctly; NaN below zero.
    SquareRoot,
    Floor,
    Ceiling,
    /// Toward zero.
    Truncation,
    /// To the nearest integer, of two the even one.
    Nearest,
    /// To the nearest integer, of two the one that is farther from zero.
    NearestAway,
}

/// Of two numbers, with a result of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryPrimitive {
    /// The smaller; NaN where either is, and of equals the first.
    Minimum,
    /// The larger; NaN where either is, and of equals the first.
    Maximum,
    /// The remainder with the sign of the divisor; of integers 0 where that is 0.
    FlooredRemainder,
    /// The second where it is smaller, else the first: C++'s `std::min`. So the first where either is NaN.
    Lesser,
    /// The second where it is larger, else the first: C++'s `std::max`. So the first where either is NaN.
    Greater,
    /// The remainder with the sign of the dividend, as C has it; of integers 0 where the divisor is 0.
    TruncatedRemainder,
}

/// A question about a number. All integers are finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Predicate {
    Nan,
    Infinite,
    Finite,
}

impl Primitive {
    /// Those of each kind, one after the other.
    pub fn all() -> impl Iterator<Item = Primitive> {
        let unary = UnaryPrimitive::ALL.into_iter().map(Primitive::Unary);
        let binary = BinaryPrimitive::ALL.into_iter().map(Primitive::Binary);
        unary.chain(binary).chain(Predicate::ALL.into_iter().map(Primitive::Predicate))
    }

    /// In texts: what generated code calls it, where its language has no name for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Primitive::Unary(it) => it.name(),
            Primitive::Binary(it) => it.name(),
            Primitive::Predicate(it) => it.name(),
        }
    }

    #[must_use]
    pub const fn arity(self) -> usize {
        match self {
            Primitive::Unary(_) | Primitive::Predicate(_) => 1,
            Primitive::Binary(_) => 2,
        }
    }

    /// Whether it takes a division, or about as long.
    #[must_use]
    pub const fn divides(self) -> bool {
        match self {
            Primitive::Unary(it) => matches!(it, UnaryPrimitive::SquareRoot),
            Primitive::Binary(it) => it.is_remainder(),
            Primitive::Predicate(_) => false,
        }
    }
}

impl UnaryPrimitive {
    pub const ALL: [UnaryPrimitive; 7] = [
        UnaryPrimitive::Magnitude,
        UnaryPrimitive::SquareRoot,
        UnaryPrimitive::Floor,
        UnaryPrimitive::Ceiling,
        UnaryPrimitive::Truncation,
        UnaryPrimitive::Nearest,
        UnaryPrimitive::NearestAway,
    ];

    /// See [`Primitive::name`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            UnaryPrimitive::Magnitude => "abs",
            UnaryPrimitive::SquareRoot => "sqrt",
            UnaryPrimitive::Floor => "floor",
            UnaryPrimitive::Ceiling => "ceil",
            UnaryPrimitive::Truncation => "trunc",
            UnaryPrimitive::Nearest => "round",
            UnaryPrimitive::NearestAway => "round_away_from_zero",
        }
    }

    /// Whether it gives a whole number, which an integer is already.
    #[must_use]
    pub const fn is_rounding(self) -> bool {
        match self {
            UnaryPrimitive::Magnitude | UnaryPrimitive::SquareRoot => false,
            UnaryPrimitive::Floor
            | UnaryPrimitive::Ceiling
            | UnaryPrimitive::Truncation
            | UnaryPrimitive::Nearest
            | UnaryPrimitive::NearestAway => true,
        }
    }
}

impl BinaryPrimitive {
    pub const ALL: [BinaryPrimitive; 6] = [
        BinaryPrimitive::Minimum,
        BinaryPrimitive::Maximum,
        BinaryPrimitive::FlooredRemainder,
        BinaryPrimitive::Lesser,
        BinaryPrimitive::Greater,
        BinaryPrimitive::TruncatedRemainder,
    ];

    /// See [`Primitive::name`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            BinaryPrimitive::Minimum => "min",
            BinaryPrimitive::Maximum => "max",
            BinaryPrimitive::FlooredRemainder => "mod",
            BinaryPrimitive::Lesser => "min_c",
            BinaryPrimitive::Greater => "max_c",
            BinaryPrimitive::TruncatedRemainder => "mod_c",
        }
    }

    /// The operation that C's arithmetic has in its place.
    #[must_use]
    pub const fn of_c(self) -> BinaryPrimitive {
        match self {
            BinaryPrimitive::Minimum | BinaryPrimitive::Lesser => BinaryPrimitive::Lesser,
            BinaryPrimitive::Maximum | BinaryPrimitive::Greater => BinaryPrimitive::Greater,
            BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder => {
                BinaryPrimitive::TruncatedRemainder
            }
        }
    }

    /// Whether it is what is left of a division; the others are extrema.
    #[must_use]
    pub const fn is_remainder(self) -> bool {
        match self {
            BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder => true,
            BinaryPrimitive::Minimum
            | BinaryPrimitive::Maximum
            | BinaryPrimitive::Lesser
            | BinaryPrimitive::Greater => false,
        }
    }
}

impl Predicate {
    pub const ALL: [Predicate; 3] = [Predicate::Nan, Predicate::Infinite, Predicate::Finite];

    /// See [`Primitive::name`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Predicate::Nan => "isnan",
            Predicate::Infinite => "isinf",
            Predicate::Finite => "isfinite",
        }
    }

    /// The answer for every integer.
    #[must_use]
    pub const fn of_integers(self) -> bool {
        matches!(self, Predicate::Finite)
    }
}
