//! Formulas: functions over [`Real`](super::real::Real), which compute and are recorded.

use std::sync::OnceLock;

use super::pow;
use super::record::{Definition, Number, Recorder};
use crate::types::DType;

/// A function of floats that is one formula in each precision.
#[derive(Debug)]
pub struct Formula {
    /// In texts, generated ones too.
    pub name: &'static str,
    pub params: &'static [&'static str],
    /// How it is computed, in a sentence or two.
    pub method: &'static str,
    /// Computes in double precision. A function of one parameter does not look at the second.
    pub double: fn(f64, f64) -> f64,
    /// Computes in single precision, rounded once.
    pub single: fn(f32, f32) -> f32,
    /// Loops over many numbers, for functions that are called often: the result of each element of the second
    /// slice.
    pub loops: Option<ArrayLoops>,
    /// Its steps in double and in single precision.
    pub(super) recorded: [RecordedSteps; 2],
}

/// Computes for many numbers, in both precisions.
#[derive(Clone, Copy, Debug)]
pub struct ArrayLoops {
    pub double: fn(&mut [f64], &[f64]),
    pub single: fn(&mut [f32], &[f32]),
}

/// How the steps are recorded, and the steps once they are.
pub(super) struct RecordedSteps {
    pub(super) record: for<'r> fn(&[Number<'r>]) -> Number<'r>,
    pub(super) steps: OnceLock<Definition>,
}

impl std::fmt::Debug for RecordedSteps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordedSteps").finish_non_exhaustive()
    }
}

impl Formula {
    /// The steps for numbers of a type; none for integers.
    #[must_use]
    pub fn definition(&self, dtype: DType) -> Option<&Definition> {
        let of = match dtype {
            DType::Float64 => &self.recorded[0],
            DType::Float32 => &self.recorded[1],
            DType::Bool | DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => return None,
        };
        Some(of.steps.get_or_init(|| {
            let recorder = Recorder::default();
            let params: Vec<_> = (0..self.params.len()).map(|at| recorder.param(at, dtype)).collect();
            let result = (of.record)(&params);
            recorder.finish(self.name, dtype, self.method, self.params.to_vec(), result)
        }))
    }
}

/// A formula of its name, its parameters, and the functions that define it in double and in single precision.
macro_rules! formula {
    ($name:literal, [$x:ident], $double:path, $single:path, loops: $loops:expr, $method:literal $(,)?) => {
        $crate::types::math::formula::Formula {
            name: $name,
            params: &[stringify!($x)],
            method: $method,
            double: |$x, _| $double($x),
            single: |$x, _| $crate::types::math::narrow($single(f64::from($x))),
            loops: $loops,
            recorded: formula!(@recorded |it| $double(it[0]), |it| $single(it[0])),
        }
    };
    ($name:literal, [$x:ident, $y:ident], $double:path, $single:path, $method:literal $(,)?) => {
        $crate::types::math::formula::Formula {
            name: $name,
            params: &[stringify!($x), stringify!($y)],
            method: $method,
            double: |$x, $y| $double($x, $y),
            single: |$x, $y| $crate::types::math::narrow($single(f64::from($x), f64::from($y))),
            loops: None,
            recorded: formula!(@recorded |it| $double(it[0], it[1]), |it| $single(it[0], it[1])),
        }
    };
    (@recorded $double:expr, $single:expr) => {
        [
            $crate::types::math::formula::RecordedSteps {
                record: $double,
                steps: std::sync::OnceLock::new(),
            },
            $crate::types::math::formula::RecordedSteps {
                record: $single,
                steps: std::sync::OnceLock::new(),
            },
        ]
    };
}
pub(super) use formula;

/// `**` of floats.
pub static POWER: Formula = formula!(
    "pow",
    [x, y],
    pow::pow,
    pow::pow_single,
    "exp(y log |x|) with a logarithm of some 68 bits; the special cases are those of C99"
);
