//! Statements, from which vertical loops are made.

use super::Features;
use super::expression::{Axes, Kind, Readable, Scope};
use super::function::Function;
use super::random::Random;

/// The role of a variable in a stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Input,
    /// Read and written at its point alone.
    Output,
    Temporary,
}

/// A field or temporary.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub dtype: &'static str,
    pub axes: Axes,
    pub role: Role,
    /// The size of its data dimension; 0 without one.
    pub elements: usize,
}

impl Variable {
    pub(super) fn kind(&self) -> Kind {
        match self.dtype {
            "bool" => Kind::Bool,
            it if it.starts_with("int") => Kind::Int,
            _ => Kind::Float,
        }
    }
}

/// The order of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Parallel,
    Forward,
    Backward,
}

/// A vertical loop while its statements are made.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub random: &'a mut Random,
    pub features: Features,
    pub order: Order,
    /// How many levels are surely there before and after each level of the interval.
    pub room: (i32, i32),
    /// Whether a bound of the interval is known at run time alone.
    pub is_run_time: bool,
    pub variables: &'a [Variable],
    pub scalars: &'a [Readable],
    pub functions: &'a [Function],
    /// The names that this loop assigns, all of them known before its first statement.
    pub targets: Vec<String>,
    /// Externals that are integers, for `__INLINED`.
    pub switches: &'a [String],
    pub lines: Vec<String>,
    /// How many counters there are in the whole stencil.
    pub counters: &'a mut usize,
    /// The temporaries that only some points assign.
    pub partial: &'a mut Vec<String>,
}

impl Body<'_> {
    /// Returns the variables that a block which assigns `targets` may read.
    fn readable(&self, targets: &[&str], in_region: bool) -> Vec<Readable> {
        let to_output = targets.iter().all(|it| {
            self.variables.iter().any(|variable| variable.name == **it && variable.role == Role::Output)
        });
        let mut found = self.scalars.to_vec();
        for variable in self.variables {
            let is_target_here = targets.contains(&variable.name.as_str());
            let is_target = self.targets.contains(&variable.name);
            let (beside, levels) = match variable.role {
                // Where a bound is known at run time alone, nobody knows how large a halo must be.
                Role::Input if self.is_run_time => (true, (0, 0)),
                Role::Input => (true, (-1, 1)),
                // An output that reached a temporary would be needed beside the point.
                Role::Output if !to_output => continue,
                Role::Output => (false, self.levels_of_written(is_target, (-1, 1))),
                Role::Temporary => {
                    // GT4Py wants those that it declares in an earlier loop left alone.
                    let beside = !is_target_here && !in_region && !is_target;
                    (beside, self.levels_of_written(is_target, (-self.room.0.min(1), self.room.1.min(1))))
                }
            };
            found.push(Readable {
                name: variable.name.clone(),
                kind: variable.kind(),
                axes: variable.axes,
                beside,
                levels,
                // GT4Py does not look at where such a read may reach, and what a loop assigns is not read so in it.
                computed: (!is_target).then(|| (-self.room.0.min(1), self.room.1.min(1))),
                absolute: variable.role == Role::Input,
                elements: variable.elements,
            });
        }
        found
    }

    /// Returns the K offsets for reads of a variable that is assigned somewhere in the stencil. Where this
    /// loop assigns it, they only reach levels behind the sweep. Outputs are read inside the domain alone, so
    /// that the first values of a halo do not matter.
    fn levels_of_written(&self, is_target: bool, otherwise: (i32, i32)) -> (i32, i32) {
        let inside = (-self.room.0.min(1), self.room.1.min(1));
        let within = (otherwise.0.max(inside.0), otherwise.1.min(inside.1));
        match (is_target, self.order) {
            (false, _) => within,
            (true, Order::Parallel) => (0, 0),
            (true, Order::Forward) => (within.0, 0),
            (true, Order::Backward) => (0, within.1),
        }
    }

    fn scope<'s>(&'s self, readable: &'s [Readable], in_block: bool) -> Scope<'s> {
        Scope {
            readable,
            functions: self.functions,
            features: self.features,
            calls: true,
            calls_with_expressions: !in_block,
            level_number: self.features.level_number,
        }
    }

    fn variable(&self, name: &str) -> &Variable {
        self.variables.iter().find(|it| it.name == name).expect("targets are variables")
    }

    fn expression(&mut self, targets: &[&str], kind: Kind, in_block: bool, in_region: bool) -> String {
        let readable = self.readable(targets, in_region);
        let mut random = self.random.clone();
        let depth = 1 + u32::from(random.chance(70)) + u32::from(random.chance(35));
        let text = self.scope(&readable, in_block).expression(&mut random, kind, depth);
        *self.random = random;
        text
    }

    fn condition(&mut self, targets: &[&str], in_region: bool) -> String {
        let readable = self.readable(targets, in_region);
        let mut random = self.random.clone();
        let scope = Scope { calls: false, ..self.scope(&readable, true) };
        let text = scope.expression(&mut random, Kind::Bool, 1);
        *self.random = random;
        text
    }

    /// One assignment to one of `targets`, at that indentation.
    fn assignment(&mut self, targets: &[&str], indent: usize, in_block: bool, in_region: bool) {
        let target = (*self.random.pick(targets)).to_owned();
        let variable = self.variable(&target).clone();
        // The block's other targets must not be read beside the point either.
        let of_block: Vec<&str> = if in_block { targets.to_vec() } else { vec![&target] };
        let value = self.expression(&of_block, variable.kind(), in_block, in_region);
        let pad = "    ".repeat(indent);
        let is_number = variable.kind() != Kind::Bool;
        let operator = if is_number && variable.role != Role::Input && self.random.chance(15) {
            if variable.kind() == Kind::Int { "+=" } else { self.random.clone().pick(&["+=", "-=", "*="]) }
        } else {
            "="
        };
        let is_field = variable.axes == Axes::Ijk;
        let (order, elsewhere) = (self.order, self.writes_elsewhere());
        let subscript = match order {
            _ if variable.elements > 0 => format!("[0, 0, 0][{}]", self.random.below(variable.elements)),
            Order::Forward if is_field && elsewhere && self.room.1 > 0 => "[0, 0, 1]".to_owned(),
            Order::Backward if is_field && elsewhere && self.room.0 > 0 => "[0, 0, -1]".to_owned(),
            _ if is_field && self.random.chance(8) => "[0, 0, 0]".to_owned(),
            _ => String::new(),
        };
        self.lines.push(format!("{pad}{target}{subscript} {operator} {value}"));
    }

    /// The first value of a temporary, whose type it decides.
    pub(super) fn first_value(&mut self, name: &str, kind: Kind) -> String {
        let value = self.expression(&[name], kind, false, false);
        match kind {
            // Of one type whatever is in it, so that later values are converted to a known one.
            Kind::Float => format!("float64({value})"),
            Kind::Int => format!("int64({value})"),
            Kind::Bool => value,
        }
    }

    fn writes_elsewhere(&mut self) -> bool {
        self.features.computed && self.random.chance(12)
    }

    /// One block.
    pub(super) fn statement(&mut self, indent: usize) {
        let role = |name: &String| self.variable(name).role;
        let (outputs, temporaries): (Vec<String>, Vec<String>) =
            self.targets.iter().cloned().partition(|it| role(it) == Role::Output);
        // A block assigns outputs or temporaries, never both.
        let of_one = if temporaries.is_empty() || (!outputs.is_empty() && self.random.chance(55)) {
            &outputs
        } else {
            &temporaries
        };
        let targets: Vec<&str> = of_one.iter().map(String::as_str).collect();
        if targets.is_empty() {
            return;
        }
        if self.features.partial && self.random.chance(30) {
            return self.partly(&targets, indent);
        }
        let pad = "    ".repeat(indent);
        match self.random.below(100) {
            0..50 => self.assignment(&targets, indent, false, false),
            50..70 => {
                let condition = self.condition(&targets, false);
                self.lines.push(format!("{pad}if {condition}:"));
                self.block(&targets, indent + 1, false);
                if self.random.chance(40) {
                    let condition = self.condition(&targets, false);
                    self.lines.push(format!("{pad}elif {condition}:"));
                    self.block(&targets, indent + 1, false);
                }
                if self.random.chance(60) {
                    self.lines.push(format!("{pad}else:"));
                    self.block(&targets, indent + 1, false);
                }
            }
            70..80 => {
                let region = region(self.random);
                self.lines.push(format!("{pad}with horizontal({region}):"));
                self.block(&targets, indent + 1, true);
            }
            80..87 => self.two_results(&targets, indent),
            87..92 if !self.switches.is_empty() => {
                let switch = self.random.pick(self.switches).clone();
                self.lines.push(format!("{pad}if __INLINED({switch} > 1):"));
                self.assignment(&targets, indent + 1, true, false);
                self.lines.push(format!("{pad}else:"));
                self.assignment(&targets, indent + 1, true, false);
            }
            92.. if self.features.loops => self.repeat(&targets, indent),
            _ => self.assignment(&targets, indent, false, false),
        }
    }

    /// A temporary that some points assign, and what reads it: where the same conditions hold, or others.
    fn partly(&mut self, targets: &[&str], indent: usize) {
        let is_number =
            |it: &&&str| self.variable(it).kind() == Kind::Float && self.variable(it).elements == 0;
        let floats: Vec<&str> = targets.iter().filter(is_number).copied().collect();
        if floats.is_empty() {
            return self.assignment(targets, indent, false, false);
        }
        let name = format!("p{}", self.partial.len());
        self.partial.push(name.clone());
        let conditions = [self.condition(targets, false), self.condition(targets, false)];
        for _ in 0..self.random.between(1, 2) {
            let value = self.expression(targets, Kind::Float, true, true);
            self.guarded(&conditions, indent, &format!("{name} = float64({value})"));
        }
        for _ in 0..self.random.between(1, 3) {
            if self.random.chance(40) {
                self.assignment(targets, indent, true, true);
            }
            let target = *self.random.pick(&floats);
            let value = read_partly(self.random, &name);
            self.guarded(&conditions, indent, &format!("{target} = {target} + {value}"));
        }
    }

    /// A statement under some of the conditions, in a loop, or as it is.
    fn guarded(&mut self, conditions: &[String; 2], mut indent: usize, statement: &str) {
        for _ in 0..self.random.between(0, 2) {
            let pad = "    ".repeat(indent);
            let guard = match self.random.below(10) {
                0..4 => format!("if {}:", conditions[0]),
                4..7 => format!("if {}:", conditions[1]),
                7 => {
                    let then = self.random.pick(conditions).clone();
                    self.lines.push(format!("{pad}if {then}:"));
                    self.lines.push(format!("{pad}    {statement}"));
                    "else:".to_owned()
                }
                8 if self.features.loops => {
                    let counter = format!("n{}", self.counters);
                    *self.counters += 1;
                    self.lines.push(format!("{pad}{counter} = 0"));
                    self.lines.push(format!("{pad}while {counter} < 2:"));
                    self.lines.push(format!("{pad}    {counter} = {counter} + 1"));
                    indent += 1;
                    continue;
                }
                _ => continue,
            };
            self.lines.push(format!("{pad}{guard}"));
            indent += 1;
        }
        self.lines.push(format!("{}{statement}", "    ".repeat(indent)));
    }

    fn block(&mut self, targets: &[&str], indent: usize, in_region: bool) {
        for _ in 0..self.random.between(1, 2) {
            if !in_region && self.random.chance(12) {
                let condition = self.condition(targets, in_region);
                self.lines.push(format!("{}if {condition}:", "    ".repeat(indent)));
                self.assignment(targets, indent + 1, true, in_region);
            } else {
                self.assignment(targets, indent, true, in_region);
            }
        }
    }

    /// `a, b = f(...)`, or two values.
    fn two_results(&mut self, targets: &[&str], indent: usize) {
        let floats: Vec<String> = targets
            .iter()
            .filter(|it| self.variable(it).kind() == Kind::Float && self.variable(it).elements == 0)
            .map(|it| (*it).to_owned())
            .collect();
        let fitting: Vec<Function> = self.functions.iter().filter(|it| it.results == 2).cloned().collect();
        if floats.len() < 2 || fitting.is_empty() {
            return self.assignment(targets, indent, false, false);
        }
        let pad = "    ".repeat(indent);
        let function = self.random.pick(&fitting).clone();
        let readable = self.readable(&[&floats[0], &floats[1]], false);
        let mut random = self.random.clone();
        let arguments = self.scope(&readable, false).arguments(&mut random, &function, 1);
        *self.random = random;
        match arguments {
            Some(arguments) => {
                let line = format!("{pad}{}, {} = {}({arguments})", floats[0], floats[1], function.name);
                self.lines.push(line);
            }
            None => self.assignment(targets, indent, false, false),
        }
    }

    /// A `while` with a counter of its own.
    fn repeat(&mut self, targets: &[&str], indent: usize) {
        let pad = "    ".repeat(indent);
        let counter = format!("n{}", self.counters);
        *self.counters += 1;
        let bound = self.random.between(1, 4);
        self.lines.push(format!("{pad}{counter} = 0"));
        self.lines.push(format!("{pad}while {counter} < {bound}:"));
        // No I and J offsets of anything that is written in it; functions would be repeated too.
        self.lines.push(format!("{pad}    {counter} = {counter} + 1"));
        for _ in 0..self.random.between(1, 2) {
            self.assignment(targets, indent + 1, true, false);
        }
    }
}

/// A read of a temporary that some points do not assign, which hands nothing on of what nobody has written.
pub(super) fn read_partly(random: &mut Random, name: &str) -> String {
    let limit = random.pick(&["0.5", "0.0", "-1.0", "1.0"]);
    if random.chance(20) { name.to_owned() } else { format!("({name} if {name} > {limit} else 0.25)") }
}

/// A region in one of the notations.
fn region(random: &mut Random) -> String {
    let mut spec = |axis: &str| {
        let start = |random: &mut Random| shifted(&format!("{axis}[0]"), random.between(-1, 2));
        let end = |random: &mut Random| shifted(&format!("{axis}[-1]"), random.between(-2, 1));
        match random.below(7) {
            0 | 1 => ":".to_owned(),
            2 => start(random),
            3 => end(random),
            4 => format!("{}:", start(random)),
            5 => format!(": {}", end(random)),
            _ => format!("{axis}[0] : {}", end(random)),
        }
    };
    let one = format!("region[{}, {}]", spec("I"), spec("J"));
    if random.chance(25) { format!("{one}, region[I[-1], :]") } else { one }
}

fn shifted(position: &str, by: i32) -> String {
    match by {
        0 => position.to_owned(),
        by if by < 0 => format!("{position} - {}", -by),
        by => format!("{position} + {by}"),
    }
}
