//! The names in the statements of a text: arrays, locals, integers and symbols.

use std::collections::{BTreeMap, BTreeSet};

use super::super::nodes::{
    Array, ArrayKind, Decisions, DimensionIndex, Element, Function, GpuAxis, GpuMemory, Integer, Local,
    Program, Read, Side, Step, Storage, Strides, SymbolMeaning,
};
use super::super::print::SUM;
use super::super::reserved::RESERVED;
use super::super::visit::each_read;
use crate::entity::{Arena, Handle, Namer};
use crate::expr::{ExprKind, Subscript};
use crate::space::{Affine, Axis, AxisSet, Ring, Symbol, parse as space};
use crate::types::DType;

/// The meaning of a name in an expression.
#[derive(Clone, Debug)]
pub(super) enum NameMeaning {
    Read(Read),
    /// An integer of run time.
    Integer(Handle<Integer>),
}

/// All names so far.
#[derive(Default)]
pub(super) struct Names {
    name: String,
    arguments: Vec<String>,
    /// The decisions of passes, as far as lines have told them.
    pub(super) decisions: Decisions,
    arrays: Arena<Array>,
    locals: Arena<Local>,
    integers: Arena<Integer>,
    symbols: BTreeMap<Symbol, SymbolMeaning>,
}

impl Names {
    /// Reads a line before the functions, by its first word.
    pub(super) fn declare(&mut self, word: &str, rest: &str) -> Result<(), String> {
        let expected = match word {
            "program" => "`program name(arguments)` was expected",
            "stream" => "`stream from 1000 bytes` was expected",
            "blocks" => "`blocks from 8 points` was expected",
            "long" => "`long text` was expected",
            "text" => "`text in 5 parts` was expected",
            "field" | "scalar" | "temporary" => "an array with its type was expected",
            "symbol" => "`symbol s = position name` was expected",
            "integer" => "`integer name` was expected",
            "local" => return self.local(rest).map(drop),
            _ => "a declaration was expected",
        };
        self.declared(word, rest).ok_or_else(|| expected.to_owned())
    }

    /// The same; none where the line is not what its first word promises.
    fn declared(&mut self, word: &str, rest: &str) -> Option<()> {
        match word {
            "program" => {
                let (name, arguments) = rest.strip_suffix(')')?.split_once('(')?;
                self.name = name.to_owned();
                self.arguments =
                    arguments.split(", ").filter(|it| !it.is_empty()).map(str::to_owned).collect();
            }
            "stream" => {
                let bytes = rest.strip_prefix("from ")?.strip_suffix(" bytes")?;
                self.decisions.set_stream_from(bytes.parse().ok()?);
            }
            "blocks" => {
                let points = rest.strip_prefix("from ")?.strip_suffix(" points")?;
                self.decisions.set_least_points(points.parse().ok()?);
            }
            "long" => match rest {
                "text" => self.decisions.set_long(),
                _ => return None,
            },
            "text" => {
                let parts = rest.strip_prefix("in ")?.strip_suffix(" parts")?;
                self.decisions.set_parts(parts.parse().ok()?);
            }
            "field" | "scalar" | "temporary" => {
                let array = array(&self.arrays, word, rest, &mut self.decisions)?;
                self.arrays.push(array);
            }
            "symbol" => {
                let (symbol, meaning) = rest.split_once(" = ")?;
                let (word, rest) = meaning.split_once(' ')?;
                let meaning = match word {
                    "position" => SymbolMeaning::Position(rest.to_owned()),
                    "levels" => {
                        let (side, array) = rest.split_once(' ')?;
                        let side = [Side::Below, Side::Above].into_iter().find(|it| it.name() == side)?;
                        SymbolMeaning::Levels { array: self.array(array)?, side }
                    }
                    _ => return None,
                };
                self.symbols.insert(Symbol::new(symbol), meaning);
            }
            "integer" => {
                self.integers.push(Integer { name: plain(rest).to_owned() });
            }
            _ => return None,
        }
        Some(())
    }

    /// A local with its type, `a: float64`; it may have been declared before.
    pub(super) fn local(&mut self, text: &str) -> Result<Handle<Local>, String> {
        let parsed = text.split_once(": ").and_then(|(name, it)| Some((plain(name), DType::from_name(it)?)));
        let (name, dtype) = parsed.ok_or_else(|| "`name: type` was expected".to_owned())?;
        match self.locals.find(|it| it.name == name) {
            Some(at) if self.locals[at].dtype == dtype => Ok(at),
            Some(_) => Err(format!("`{name}` has two types")),
            None => Ok(self.locals.push(Local { name: name.to_owned(), dtype, is_read: false })),
        }
    }

    /// An integer of run time.
    pub(super) fn integer(&self, name: &str) -> Option<Handle<Integer>> {
        self.integers.find(|it| it.name == plain(name))
    }

    /// An array that code can name; one that became a local has no name and is in no text.
    fn array(&self, name: &str) -> Option<Handle<Array>> {
        self.arrays.find(|it| it.name.as_deref() == Some(name))
    }

    /// The variable of a loop.
    ///
    /// It is named like its symbol, if no line before has told another name.
    pub(super) fn position(&mut self, symbol: &Symbol) {
        let name = symbol.name().to_owned();
        self.symbols.entry(symbol.clone()).or_insert(SymbolMeaning::Position(name));
    }

    /// Finds the meaning of a name, with the index in brackets behind it.
    ///
    /// Arrays come before locals, and locals before integers; no two of them have one name, as
    /// [`Self::namer`] makes sure of.
    pub(super) fn word(
        &self,
        name: &str,
        index: Vec<Subscript<NameMeaning>>,
    ) -> Result<(NameMeaning, DType), String> {
        if name == SUM {
            let sum = index.first().filter(|_| index.len() == 1).and_then(Subscript::as_known);
            let sum = sum.ok_or_else(|| format!("`{SUM}[k]` was expected"))?;
            return Ok((NameMeaning::Read(Read::Sum(sum.clone())), DType::Int64));
        }
        if let Some(array) = self.array(name) {
            let rank = self.arrays[array].shape.len();
            if index.len() != rank {
                return Err(format!("`{name}` has {rank} dimensions"));
            }
            let index = index.into_iter().map(at).collect::<Result<_, _>>()?;
            let read = Read::Element(Element { array, index });
            return Ok((NameMeaning::Read(read), self.arrays[array].dtype));
        }
        if !index.is_empty() {
            return Err(format!("there is no array `{name}`"));
        }
        if let Some(local) = self.locals.find(|it| it.name == name) {
            return Ok((NameMeaning::Read(Read::Local(local)), self.locals[local].dtype));
        }
        match self.integer(name) {
            Some(integer) => Ok((NameMeaning::Integer(integer), DType::Int64)),
            None => Err(format!("there is no `{name}`")),
        }
    }

    /// The whole program.
    pub(super) fn program(
        mut self,
        functions: Arena<Function>,
        steps: Vec<Step>,
        (n_loops, n_branches): (usize, usize),
    ) -> Result<Program, String> {
        for axis in Axis::ALL {
            self.symbols.insert(Symbol::new(axis.name()), SymbolMeaning::Size(axis));
        }
        let namer = self.namer(&functions)?;
        let argument = |name: &String| self.array(name).ok_or_else(|| format!("there is no array `{name}`"));
        let mut program = Program {
            name: self.name.clone(),
            arguments: self.arguments.iter().map(argument).collect::<Result<_, _>>()?,
            functions,
            steps,
            locals: self.locals,
            arrays: self.arrays,
            integers: self.integers,
            symbols: self.symbols,
            n_loops,
            n_branches,
            decisions: self.decisions,
            namer,
        };
        let mut read = BTreeSet::new();
        program.each_expr(&mut |it| {
            each_read(it, &mut |local| {
                read.insert(local);
            });
        });
        read.into_iter().for_each(|it| program.locals[it].is_read = true);
        Ok(program)
    }

    /// Makes the namer for names that passes add; all names of the text are taken.
    fn namer(&self, functions: &Arena<Function>) -> Result<Namer, String> {
        let mut namer = Namer::new(RESERVED);
        let twice = |name: &str| format!("the name `{name}` is taken");
        for array in self.arrays.values() {
            let wanted = array.name.as_deref().unwrap_or_default();
            let named = array.clone().with_name(wanted, &mut namer).name;
            if named.is_some_and(|it| it != wanted) {
                return Err(twice(wanted));
            }
        }
        let positions = self.symbols.values().filter_map(|it| match it {
            // Letters of positions are taken from the start.
            SymbolMeaning::Position(name) if !RESERVED.contains(&name.as_str()) => Some(name.as_str()),
            SymbolMeaning::Position(_) | SymbolMeaning::Size(_) | SymbolMeaning::Levels { .. } => None,
        });
        let locals = self.locals.values().map(|it| it.name.as_str());
        let integers = self.integers.values().map(|it| it.name.as_str());
        for name in
            positions.chain(locals).chain(integers).chain(functions.values().map(|it| it.name.as_str()))
        {
            if namer.name(name) != name {
                return Err(twice(name));
            }
        }
        Ok(namer)
    }
}

/// A name without the `$` that tells it from a word of the text.
fn plain(name: &str) -> &str {
    name.strip_prefix('$').unwrap_or(name)
}

/// An index into one dimension.
///
/// A number that is added to an integer of run time is kept with its sign changed: `{n} + 1` is `n` less the
/// shift -1.
fn at(it: Subscript<NameMeaning>) -> Result<DimensionIndex, String> {
    match it.found.map(|it| it.kind) {
        None => Ok(DimensionIndex::Known(it.known)),
        Some(ExprKind::Access(NameMeaning::Integer(integer))) => {
            Ok(DimensionIndex::Found { integer, shift: &Affine::default() - &it.known })
        }
        Some(_) => Err("an integer of run time was expected in braces".to_owned()),
    }
}

/// An array behind its first word.
///
/// ```text
/// field    a: float64[I + 2, J, K] shift [1, 0, 0] along IJK given read
/// scalar   s: float64
/// temporary t: float64[I, K] shift [0, 0] along IK packed heap keeping 4 in dimension 1 per thread
/// ```
fn array(before: &Arena<Array>, word: &str, text: &str, decisions: &mut Decisions) -> Option<Array> {
    let at = Handle::new(before.len());
    let (name, text) = text.split_once(": ")?;
    let name = plain(name).to_owned();
    let (typed, marks) = match text.split_once("] along ") {
        Some(_) => text.split_once("] along ")?,
        None => text.split_once(' ').unwrap_or((text, "")),
    };
    let (dtype, dimensions) = match typed.split_once('[') {
        Some((dtype, dimensions)) => (dtype, Some(dimensions.split_once("] shift [")?)),
        None => (typed, None),
    };
    let (mut axes, mut shape, mut shift) = (AxisSet::of(&[]), Vec::new(), Vec::new());
    let mut words = marks.split(' ').filter(|it| !it.is_empty()).peekable();
    let mut strides = Strides::Packed;
    if let Some((sizes, shifts)) = dimensions {
        shape = space::sizes(sizes)?;
        shift = shifts.split(", ").map(space::affine).collect::<Option<_>>()?;
        axes = match words.next()? {
            "none" => axes,
            letters => space::axes(letters)?,
        };
        strides = match words.next()? {
            "given" => Strides::Given,
            "packed" => Strides::Packed,
            _ => return None,
        };
    }
    let (kind, storage) = match word {
        "scalar" => (ArrayKind::Scalar, Storage::Caller),
        "field" => {
            let (is_read, is_written) = match words.next()? {
                "read-write" => (true, true),
                "read" => (true, false),
                "write" => (false, true),
                "unused" => (false, false),
                _ => return None,
            };
            (ArrayKind::Field { is_read, is_written }, Storage::Caller)
        }
        _ => {
            let storage = match words.next_if(|it| matches!(*it, "heap" | "private" | "register")) {
                Some("heap") => Storage::Heap,
                Some("private") => Storage::Private,
                Some(_) => Storage::Register,
                None => Storage::Caller,
            };
            (ArrayKind::Temporary, storage)
        }
    };
    let mut array = Array {
        stencil_name: name.clone(),
        name: Some(name),
        dtype: DType::from_name(dtype)?,
        kind,
        axes,
        shape,
        shift,
        strides,
        storage,
        ring: None,
        place: None,
        owner: None,
        is_per_thread: false,
    };
    while let Some(word) = words.next() {
        match word {
            "keeping" => {
                let places = words.next()?.parse().ok()?;
                let ("in", "dimension") = (words.next()?, words.next()?) else { return None };
                array.ring = Some(Ring { dimension: words.next()?.parse().ok()?, places });
            }
            "as" => {
                array.place = Some(match words.next()? {
                    "register" => GpuMemory::Register,
                    "shared" => GpuMemory::Shared,
                    "scratch" => GpuMemory::Scratch,
                    _ => return None,
                });
            }
            "over" => {
                let output = plain(words.next()?);
                let output = before.find(|it| it.name.as_deref() == Some(output))?;
                array.place = Some(GpuMemory::Over(output));
            }
            "of" => {
                array.owner = Some(match words.next()? {
                    "grid" => GpuAxis::Grid,
                    "block" => GpuAxis::Block,
                    _ => return None,
                });
            }
            "per" => array.is_per_thread = words.next()? == "thread",
            "rows" => {
                let "from" = words.next()? else { return None };
                decisions.set_row_start(at, words.next()?.parse().ok()?);
            }
            "streamed" => decisions.set_streamed(at),
            "for" => array.stencil_name = words.next()?.to_owned(),
            _ => return None,
        }
    }
    Some(array)
}
