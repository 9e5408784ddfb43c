//! Random stencils that are valid: every feature of the language, by a seed.
//!
//! A text is made so that nothing in it is undefined and no rule of the language is broken.
//! So a refusal is a bug, of the generator or of the compiler. A text keeps these rules:
//!
//! * Every temporary is assigned on all levels before anything else happens. Those of [`Features::partial`]
//!   are exempt: their first value is none.
//! * Inside a block, the variables that it assigns are not read beside the point.
//! * Outputs are read only where outputs are assigned.
//! * Divisors and arguments of partial functions are kept where they have a meaning.

mod expression;
mod function;
pub mod random;
mod statement;
mod stencil;

pub use stencil::{Generated, stencil};

/// The features that a generated stencil may have beside those that are always present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// `exp`, `log`, powers and the like, whose last bits differ between libraries.
    pub transcendental: bool,
    /// `while`
    pub loops: bool,
    /// The level's number, `K`.
    pub level_number: bool,
    /// Levels that are computed or absolute, other levels as targets, bounds known at run time,
    /// data dimensions, tables and temporaries that are planes.
    pub computed: bool,
    /// Temporaries that some points and levels do not assign, where they hold what nobody has written.
    pub partial: bool,
}

impl Features {
    /// Features whose results IEEE 754 decides to the bit.
    pub const EXACT: Self =
        Self { transcendental: false, loops: false, level_number: false, computed: false, partial: false };
    /// All that the older forms of the language have.
    pub const PLAIN: Self = Self { loops: true, level_number: true, transcendental: true, ..Self::EXACT };
    /// Everything, to the bit.
    pub const COMPUTED: Self = Self { loops: true, level_number: true, computed: true, ..Self::EXACT };
    /// Everything.
    pub const ALL: Self = Self { transcendental: true, ..Self::COMPUTED };
}
