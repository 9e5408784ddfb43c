//! The inputs that can be described in a line.

use std::fmt;

use crate::space::Axis;

/// A field given by a formula.
///
/// Positions are those of the compute domain, `x = (i + 0.5) / n`. The first and last points lie half a cell
/// from 0 and 1, and halo points lie outside. So the same line gives the same picture at every size, and the
/// halo continues it.
#[derive(Clone, Debug, PartialEq)]
pub enum Generator {
    /// The same value everywhere.
    Constant(f64),
    /// From `low` at 0 to `high` at 1.
    Linear { low: f64, high: f64, along: Axis },
    /// A sine between `low` and `high`, with so many cycles per axis over the domain.
    Wave { low: f64, high: f64, cycles: [f64; 3] },
    /// A Gaussian hill, `high` at its centre; along an axis without a centre it is the same everywhere.
    Bell { low: f64, high: f64, at: [Option<f64>; 3], width: f64 },
    /// Independent and uniform in `low .. high`; a function of the seed and the indices alone.
    Random { low: f64, high: f64, seed: u64 },
    /// A chequered plane, `cells` along I and along J.
    Checker { low: f64, high: f64, cells: f64 },
    /// Point by point, from left to right.
    Sum(Vec<Generator>),
    /// Point by point, from left to right.
    Product(Vec<Generator>),
}

/// As [`parse`](super::parse::generator) reads it.
impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, parts: &[Generator]| {
            write!(f, "{name}(")?;
            for (at, part) in parts.iter().enumerate() {
                write!(f, "{}{part}", if at == 0 { "" } else { ", " })?;
            }
            f.write_str(")")
        };
        match self {
            Generator::Constant(value) => write!(f, "constant({value:?})"),
            Generator::Linear { low, high, along } => {
                write!(f, "linear(low={low:?}, high={high:?}, along={})", along.position_name())
            }
            Generator::Wave { low, high, cycles: [i, j, k] } => {
                write!(f, "wave(low={low:?}, high={high:?}, i={i:?}, j={j:?}, k={k:?})")
            }
            Generator::Bell { low, high, at, width } => {
                write!(f, "bell(low={low:?}, high={high:?}")?;
                for (axis, at) in Axis::ALL.into_iter().zip(at) {
                    if let Some(at) = at {
                        write!(f, ", at_{}={at:?}", axis.position_name())?;
                    }
                }
                write!(f, ", width={width:?})")
            }
            Generator::Random { low, high, seed } => {
                write!(f, "random(low={low:?}, high={high:?}, seed={seed})")
            }
            Generator::Checker { low, high, cells } => {
                write!(f, "checker(low={low:?}, high={high:?}, cells={cells:?})")
            }
            Generator::Sum(parts) => list(f, "sum", parts),
            Generator::Product(parts) => list(f, "product", parts),
        }
    }
}
