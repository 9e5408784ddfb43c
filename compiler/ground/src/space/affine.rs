//! Sums of symbols: sizes of loops and arrays, and indices into them.

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A named integer: the size of an axis, or the variable of a loop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct Symbol(Arc<str>);

impl From<Symbol> for String {
    fn from(symbol: Symbol) -> Self {
        symbol.name().to_owned()
    }
}

impl From<String> for Symbol {
    fn from(name: String) -> Self {
        Self::new(&name)
    }
}

impl Symbol {
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `constant + Σ factor · symbol`; no factor is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "(Vec<(Symbol, i64)>, i64)", from = "(Vec<(Symbol, i64)>, i64)")]
pub struct Affine {
    /// In order of name, each once. Most sums have one, and there are many sums.
    terms: SmallVec<[(Symbol, i64); 2]>,
    constant: i64,
}

impl From<Affine> for (Vec<(Symbol, i64)>, i64) {
    fn from(Affine { terms, constant }: Affine) -> Self {
        (terms.into_vec(), constant)
    }
}

impl From<(Vec<(Symbol, i64)>, i64)> for Affine {
    fn from((terms, constant): (Vec<(Symbol, i64)>, i64)) -> Self {
        Self::of(terms, constant)
    }
}

impl Affine {
    /// A number.
    #[must_use]
    pub fn constant(constant: i64) -> Self {
        Self { terms: SmallVec::new(), constant }
    }

    /// A symbol.
    #[must_use]
    pub fn symbol(symbol: &Symbol) -> Self {
        Self::beside(symbol, 0)
    }

    /// A symbol and a distance from it: `i + 1`.
    #[must_use]
    pub fn beside(symbol: &Symbol, distance: i64) -> Self {
        Self { terms: smallvec![(symbol.clone(), 1)], constant: distance }
    }

    /// Symbols with their factors, and a number; a factor of zero leaves its symbol out.
    #[must_use]
    pub fn of(terms: impl IntoIterator<Item = (Symbol, i64)>, constant: i64) -> Self {
        let mut sum = Self::constant(constant);
        for (symbol, factor) in terms {
            sum.put(&symbol, factor);
        }
        sum
    }

    /// The number that is added to the symbols.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.constant
    }

    /// The factor of `symbol`, 0 where it does not occur.
    #[must_use]
    pub fn factor(&self, symbol: &Symbol) -> i64 {
        self.position(symbol).map_or(0, |at| self.terms[at].1)
    }

    /// The symbols with their factors, in order of name.
    pub fn terms(&self) -> impl Iterator<Item = (&Symbol, i64)> {
        self.terms.iter().map(|(symbol, factor)| (symbol, *factor))
    }

    /// The number, where there is no symbol.
    #[must_use]
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The same sum with `symbol` replaced by `by`.
    #[must_use]
    pub fn substituted(&self, symbol: &Symbol, by: &Affine) -> Self {
        let factor = self.factor(symbol);
        if factor == 0 {
            return self.clone();
        }
        let mut rest = self.clone();
        rest.put(symbol, 0);
        (0..factor.unsigned_abs()).fold(rest, |sum, _| if factor > 0 { &sum + by } else { &sum - by })
    }

    /// The value, where `value_of` knows every symbol.
    pub fn evaluated(&self, mut value_of: impl FnMut(&Symbol) -> Option<i64>) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (symbol, factor)| {
            sum.checked_add(factor.checked_mul(value_of(symbol)?)?)
        })
    }

    /// The same sum with a number added.
    #[must_use]
    pub fn moved(mut self, distance: i64) -> Self {
        self.constant += distance;
        self
    }

    /// `self - other`, where that is a number whatever the symbols are.
    #[must_use]
    pub fn distance_from(&self, other: &Self) -> Option<i64> {
        (self.terms == other.terms).then(|| self.constant - other.constant)
    }

    fn combined(&self, other: &Self, sign: i64) -> Self {
        let mut sum = self.clone().moved(sign * other.constant);
        for (symbol, factor) in &other.terms {
            sum.put(symbol, self.factor(symbol) + sign * factor);
        }
        sum
    }

    /// Where the term of `symbol` is, else where it would be.
    fn position(&self, symbol: &Symbol) -> Result<usize, usize> {
        self.terms.binary_search_by(|(it, _)| it.cmp(symbol))
    }

    /// Gives `symbol` this factor; 0 takes it away.
    fn put(&mut self, symbol: &Symbol, factor: i64) {
        match self.position(symbol) {
            Ok(at) if factor == 0 => drop(self.terms.remove(at)),
            Ok(at) => self.terms[at].1 = factor,
            Err(_) if factor == 0 => {}
            Err(at) => self.terms.insert(at, (symbol.clone(), factor)),
        }
    }
}

impl Add for &Affine {
    type Output = Affine;
    fn add(self, other: &Affine) -> Affine {
        self.combined(other, 1)
    }
}

impl Sub for &Affine {
    type Output = Affine;
    fn sub(self, other: &Affine) -> Affine {
        self.combined(other, -1)
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for &(ref symbol, factor) in &self.terms {
            let sign = match (is_first, factor < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            f.write_str(sign)?;
            match factor.unsigned_abs() {
                1 => write!(f, "{symbol}")?,
                magnitude => write!(f, "{magnitude}*{symbol}")?,
            }
            is_first = false;
        }
        match (is_first, self.constant) {
            (true, constant) => write!(f, "{constant}"),
            (false, 0) => Ok(()),
            (false, constant) if constant < 0 => write!(f, " - {}", constant.unsigned_abs()),
            (false, constant) => write!(f, " + {constant}"),
        }
    }
}

/// A bound of a loop or the size of an array: a sum, or the least or greatest of several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Size {
    Affine(Affine),
    Min(Vec<Size>),
    Max(Vec<Size>),
}

impl Size {
    /// The value, where `value_of` knows every symbol.
    pub fn evaluated(&self, value_of: &mut impl FnMut(&Symbol) -> Option<i64>) -> Option<i64> {
        match self {
            Size::Affine(sum) => sum.evaluated(&mut *value_of),
            Size::Min(parts) => {
                parts.iter().map(|it| it.evaluated(value_of)).collect::<Option<Vec<_>>>()?.into_iter().min()
            }
            Size::Max(parts) => {
                parts.iter().map(|it| it.evaluated(value_of)).collect::<Option<Vec<_>>>()?.into_iter().max()
            }
        }
    }
}

impl Size {
    /// The same size with a number added.
    #[must_use]
    pub fn moved(&self, distance: i64) -> Self {
        let all = |parts: &[Size]| parts.iter().map(|it| it.moved(distance)).collect();
        match self {
            Size::Affine(sum) => Size::Affine(sum.clone().moved(distance)),
            Size::Min(parts) => Size::Min(all(parts)),
            Size::Max(parts) => Size::Max(all(parts)),
        }
    }

    /// Calls `each` for the symbols that occur, which may be more than once.
    pub fn each_symbol(&self, each: &mut dyn FnMut(&Symbol)) {
        match self {
            Size::Affine(sum) => sum.terms().for_each(|(symbol, _)| each(symbol)),
            Size::Min(parts) | Size::Max(parts) => parts.iter().for_each(|it| it.each_symbol(each)),
        }
    }
}

impl From<Affine> for Size {
    fn from(sum: Affine) -> Self {
        Size::Affine(sum)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, parts) = match self {
            Size::Affine(sum) => return write!(f, "{sum}"),
            Size::Min(parts) => ("min", parts),
            Size::Max(parts) => ("max", parts),
        };
        write!(f, "{name}(")?;
        for (at, part) in parts.iter().enumerate() {
            write!(f, "{}{part}", if at == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}
