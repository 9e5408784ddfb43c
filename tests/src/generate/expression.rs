//! Expressions of a wanted kind, from what a place may read.

use super::Features;
use super::function::Function;
use super::random::Random;

/// The type of an expression's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Float,
    Int,
    Bool,
}

/// The axes that a variable has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Axes {
    Ijk,
    Ij,
    I,
    J,
    K,
    /// A scalar, an external, a constant, or a parameter that is read at the centre alone.
    #[default]
    None,
    /// No axes, only elements.
    Table,
}

/// Something that can be read, and how far from the point.
#[derive(Clone, Debug, Default)]
pub(super) struct Readable {
    pub name: String,
    pub kind: Kind,
    pub axes: Axes,
    /// Whether it may be read beside the point along I and J.
    pub beside: bool,
    /// The K offsets at which it may be read.
    pub levels: (i32, i32),
    /// The K offsets at which a computed level is sure to be there; `None` where levels must not be computed.
    pub computed: Option<(i32, i32)>,
    /// Whether any level may be read by its number.
    pub absolute: bool,
    /// The size of its data dimension; 0 without one.
    pub elements: usize,
}

impl Readable {
    /// One value for all points.
    pub(super) fn scalar(name: &str, kind: Kind) -> Self {
        Self { name: name.to_owned(), kind, axes: Axes::None, ..Self::default() }
    }
}

/// Where an expression stands.
#[derive(Clone, Debug)]
pub(super) struct Scope<'a> {
    pub readable: &'a [Readable],
    pub functions: &'a [Function],
    pub features: Features,
    /// Whether functions of the text may be called: not in the condition of an `if`.
    pub calls: bool,
    /// Whether an argument may be more than a name: what it is put into must not be read beside
    /// the point within the same block.
    pub calls_with_expressions: bool,
    /// Whether `K` may be read.
    pub level_number: bool,
}

const FLOATS: [&str; 9] = ["0.1", "0.5", "2.0", "1.25", "0.75", "3.0", "1e-3", "0.3333", "10.0"];
const INTS: [&str; 5] = ["1", "2", "3", "5", "7"];
const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

impl Scope<'_> {
    /// An expression of that kind; `depth` bounds its size.
    pub(super) fn expression(&self, random: &mut Random, kind: Kind, depth: u32) -> String {
        match kind {
            Kind::Float => self.float(random, depth),
            Kind::Int => self.int(random, depth),
            Kind::Bool => self.bool(random, depth),
        }
    }

    /// A read of a variable of that kind, or a literal where there is none.
    pub(super) fn read(&self, random: &mut Random, kind: Kind) -> String {
        let has_elements = |it: &Readable| it.elements > 0;
        let fits = |it: &&Readable| it.kind == kind && (self.features.computed || !has_elements(it));
        let fitting: Vec<&Readable> = self.readable.iter().filter(fits).collect();
        if fitting.is_empty() || random.chance(10) {
            return literal(random, kind);
        }
        let variable = *random.pick(&fitting);
        if self.features.computed
            && let Some(text) = self.computed_access(random, variable)
        {
            return text;
        }
        access(random, variable)
    }

    /// A read whose place an integer tells at run time; always of variables with data dimensions.
    fn computed_access(&self, random: &mut Random, variable: &Readable) -> Option<String> {
        let name = &variable.name;
        // Remainders are never negative, so that they are indices.
        let index = |random: &mut Random, n: usize| match random.below(3) {
            0 => format!("({}) % {n}", self.plain_int(random)),
            _ => random.below(n).to_string(),
        };
        if variable.axes == Axes::Table {
            return Some(format!("{name}.A[{}]", index(random, variable.elements)));
        }
        if variable.elements > 0 {
            let (i, j) = (beside(random, variable), beside(random, variable));
            let element = index(random, variable.elements);
            return Some(if (i, j) == (0, 0) && random.chance(30) {
                format!("{name}.A[{element}]")
            } else {
                format!("{name}[{i}, {j}, 0][{element}]")
            });
        }
        if variable.axes != Axes::Ijk || !random.chance(25) {
            return None;
        }
        let (low, high) = variable.computed?;
        match random.below(3) {
            0 if variable.absolute => Some(format!("{name}.at(K={})", index(random, 3))),
            1 if high > 0 => Some(format!("{name}[0, 0, ({}) % 2]", self.plain_int(random))),
            2 if low < 0 => Some(format!("{name}[0, 0, ({}) % 2 - 1]", self.plain_int(random))),
            _ => Some(format!("{name}[0, 0, 0 * {}]", self.plain_int(random))),
        }
    }

    /// An integer without any computed index in it.
    fn plain_int(&self, random: &mut Random) -> String {
        let plain = Scope { features: Features { computed: false, ..self.features }, ..self.clone() };
        plain.read(random, Kind::Int)
    }

    fn float(&self, random: &mut Random, depth: u32) -> String {
        if depth == 0 {
            return self.read(random, Kind::Float);
        }
        let choice = random.below(if self.features.transcendental { 26 } else { 21 });
        let mut sub = |kind| self.expression(random, kind, depth - 1);
        match choice {
            0..=2 => format!("({} + {})", sub(Kind::Float), sub(Kind::Float)),
            3..=5 => format!("({} - {})", sub(Kind::Float), sub(Kind::Float)),
            6..=8 => format!("({} * {})", sub(Kind::Float), sub(Kind::Float)),
            9 => format!("({} / (abs({}) + 0.5))", sub(Kind::Float), sub(Kind::Float)),
            10 => format!("min({}, {})", sub(Kind::Float), sub(Kind::Float)),
            11 => format!("max({}, {})", sub(Kind::Float), sub(Kind::Float)),
            12 => format!("sqrt(abs({}))", sub(Kind::Float)),
            13 => {
                let argument = sub(Kind::Float);
                let name = random.pick(&["abs", "floor", "ceil", "trunc", "round", "-", "+"]);
                format!("{name}({argument})")
            }
            14 => format!("mod({}, abs({}) + 0.5)", sub(Kind::Float), sub(Kind::Float)),
            15 => {
                let (condition, then, otherwise) = (sub(Kind::Bool), sub(Kind::Float), sub(Kind::Float));
                format!("({then} if {condition} else {otherwise})")
            }
            16 => format!("({} * {})", sub(Kind::Int), sub(Kind::Float)),
            17 => format!("({} + {})", sub(Kind::Float), sub(Kind::Int)),
            18 => {
                let argument = sub(Kind::Float);
                let name = random.pick(&["float32", "float64", "float"]);
                format!("{name}({argument})")
            }
            19 | 20 => self.call(random, depth).unwrap_or_else(|| self.read(random, Kind::Float)),
            21 => format!("exp(min({}, 3.0))", sub(Kind::Float)),
            22 => {
                let argument = sub(Kind::Float);
                let name = random.pick(&["log", "log10"]);
                format!("{name}(abs({argument}) + 0.1)")
            }
            23 => {
                let argument = sub(Kind::Float);
                let name = random.pick(&["sin", "cos", "tanh", "atan", "erf", "erfc", "cbrt", "asinh"]);
                format!("{name}({argument})")
            }
            24 => {
                let base = sub(Kind::Float);
                let exponent = random.pick(&["0.75", "1.5", "-0.5", "2.0"]);
                format!("((abs({base}) + 0.1) ** {exponent})")
            }
            _ => format!("({} ** 2)", sub(Kind::Float)),
        }
    }

    fn int(&self, random: &mut Random, depth: u32) -> String {
        if depth == 0 {
            return self.read(random, Kind::Int);
        }
        let choice = random.below(if self.level_number { 11 } else { 10 });
        let mut sub = |kind| self.expression(random, kind, depth - 1);
        match choice {
            0 | 1 => format!("({} + {})", sub(Kind::Int), sub(Kind::Int)),
            2 => format!("({} - {})", sub(Kind::Int), sub(Kind::Int)),
            3 => format!("({} * 3)", sub(Kind::Int)),
            4 => format!("min({}, {})", sub(Kind::Int), sub(Kind::Int)),
            5 => format!("max({}, {})", sub(Kind::Int), sub(Kind::Int)),
            6 => format!("({} % 5)", sub(Kind::Int)),
            7 => format!("abs(-{})", sub(Kind::Int)),
            8 => {
                let argument = sub(Kind::Float);
                let name = random.pick(&["int32", "int64", "int"]);
                format!("{name}(min(max({argument}, -50.0), 50.0))")
            }
            9 => {
                let (condition, then, otherwise) = (sub(Kind::Bool), sub(Kind::Int), sub(Kind::Int));
                format!("({then} if {condition} else {otherwise})")
            }
            _ => "K".to_owned(),
        }
    }

    fn bool(&self, random: &mut Random, depth: u32) -> String {
        if depth == 0 {
            let comparison = random.pick(&COMPARISONS);
            return format!(
                "{} {comparison} {}",
                self.read(random, Kind::Float),
                self.read(random, Kind::Float)
            );
        }
        let choice = random.below(8);
        let mut sub = |kind| self.expression(random, kind, depth - 1);
        match choice {
            0 | 1 => {
                let (left, right) = (sub(Kind::Float), sub(Kind::Float));
                format!("{left} {} {right}", random.pick(&COMPARISONS))
            }
            2 => {
                let (left, right) = (sub(Kind::Int), sub(Kind::Int));
                format!("{left} {} {right}", random.pick(&COMPARISONS))
            }
            3 => format!("({} and {})", sub(Kind::Bool), sub(Kind::Bool)),
            4 => format!("({} or {})", sub(Kind::Bool), sub(Kind::Bool)),
            5 => format!("(not ({}))", sub(Kind::Bool)),
            6 => {
                let argument = sub(Kind::Float);
                let name = random.pick(&["isnan", "isinf", "isfinite"]);
                format!("{name}({argument})")
            }
            _ => {
                let flags: Vec<_> = self.readable.iter().filter(|it| it.kind == Kind::Bool).collect();
                if flags.is_empty() {
                    return sub(Kind::Bool);
                }
                let flag = *random.pick(&flags);
                access(random, flag)
            }
        }
    }

    /// A call of a function of the text with one result.
    fn call(&self, random: &mut Random, depth: u32) -> Option<String> {
        let fitting: Vec<_> = self.functions.iter().filter(|it| it.results == 1).collect();
        if !self.calls || fitting.is_empty() {
            return None;
        }
        let function = *random.pick(&fitting);
        let arguments = self.arguments(random, function, depth)?;
        Some(format!("{}({arguments})", function.name))
    }

    /// Arguments for a function of the text.
    pub(super) fn arguments(&self, random: &mut Random, function: &Function, depth: u32) -> Option<String> {
        let mut arguments = Vec::new();
        for reads_beside in &function.reads_beside {
            let fields: Vec<_> = self
                .readable
                .iter()
                .filter(|it| {
                    it.kind == Kind::Float
                        && it.axes == Axes::Ijk
                        && it.elements == 0
                        && (it.beside || !reads_beside)
                })
                .collect();
            let is_bare = !self.calls_with_expressions || random.chance(60);
            if is_bare && !fields.is_empty() {
                arguments.push(random.pick(&fields).name.clone());
            } else if self.calls_with_expressions || !reads_beside {
                // A variable that is read at the centre alone, like an output, must not reach an argument
                // that is read beside it.
                let beside: Vec<Readable> =
                    self.readable.iter().filter(|it| it.beside || it.axes == Axes::None).cloned().collect();
                let inner = Scope {
                    readable: if *reads_beside { &beside } else { self.readable },
                    calls: false,
                    ..self.clone()
                };
                let argument = inner.float(random, depth.min(2).saturating_sub(1).max(1));
                let is_name = argument.chars().all(|it| it.is_alphanumeric() || "_.-".contains(it));
                // A scalar or a literal alone has no points beside it.
                let is_point = *reads_beside && is_name && !fields.iter().any(|it| it.name == argument);
                arguments.push(if is_point { format!("({argument} + a)") } else { argument });
            } else {
                return None;
            }
        }
        Some(arguments.join(", "))
    }
}

fn literal(random: &mut Random, kind: Kind) -> String {
    match kind {
        Kind::Float => (*random.pick(&FLOATS)).to_owned(),
        Kind::Int => (*random.pick(&INTS)).to_owned(),
        Kind::Bool => (*random.pick(&["True", "False"])).to_owned(),
    }
}

/// A variable at the point or beside it, in one of the notations.
fn access(random: &mut Random, variable: &Readable) -> String {
    let name = &variable.name;
    let (i, j) = (beside(random, variable), beside(random, variable));
    let k = if random.chance(35) { random.between(variable.levels.0, variable.levels.1) } else { 0 };
    match variable.axes {
        Axes::None | Axes::Table => name.clone(),
        Axes::Ijk if (i, j, k) == (0, 0, 0) && random.chance(70) => name.clone(),
        Axes::Ijk if random.chance(10) && i != 0 => format!("{name}[{}]", shifted("I", i)),
        Axes::Ijk if random.chance(10) && k != 0 => format!("{name}[{}]", shifted("K", k)),
        Axes::Ijk => format!("{name}[{i}, {j}, {k}]"),
        Axes::Ij if (i, j) == (0, 0) => name.clone(),
        Axes::Ij => format!("{name}[{i}, {j}]"),
        Axes::I if i == 0 => name.clone(),
        Axes::I => format!("{name}[{i}]"),
        Axes::J if j == 0 => name.clone(),
        Axes::J => format!("{name}[{j}]"),
        Axes::K if k == 0 => name.clone(),
        Axes::K => format!("{name}[{k}]"),
    }
}

/// An offset along I or J.
fn beside(random: &mut Random, variable: &Readable) -> i32 {
    if variable.beside && random.chance(45) { random.between(-2, 2) } else { 0 }
}

fn shifted(axis: &str, by: i32) -> String {
    if by < 0 { format!("{axis} - {}", -by) } else { format!("{axis} + {by}") }
}
