//! The arguments and sizes that a call passes to kernels, and the place at which a run had to end.

use std::collections::BTreeMap;
use std::fmt;

use super::cell::NONE;
use super::nodes::{ArrayMemory, Host, Kernel, Kernels};
use crate::call::launch::{Argument, Launch};
use crate::call::signature::{ParamKind, Signature};
use crate::diag::StmtId;
use crate::entity::{Handle, SideTable};
use crate::loops::nodes::{Array, Positions, Side, Storage, SymbolMeaning};
use crate::space::{Affine, Axis, AxisSet, Domain, Size, Symbol};

/// The argument of a call for an array of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayArgument {
    /// Its position in the launch.
    pub position: usize,
    /// Of a field.
    pub axes: Option<AxisSet>,
}

/// Why a device cannot carry out a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallRefusal {
    /// There is no memory for it, whatever the device has.
    OutOfMemory,
    /// A sentence that says what stands in the way, and what to do.
    Other(String),
}

impl CallRefusal {
    /// The domain is too large; `what` says for what.
    #[must_use]
    pub fn too_large(what: &str) -> Self {
        Self::Other(format!("the domain {what}"))
    }
}

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallRefusal::OutOfMemory => f.write_str("no device has so much memory"),
            CallRefusal::Other(why) => f.write_str(why),
        }
    }
}

/// The arguments for the program's arrays; none for what a run allocates.
#[must_use]
pub fn places(kernels: &Kernels, signature: &Signature) -> SideTable<Array, ArrayArgument> {
    let arguments = &kernels.program.arguments;
    let place = |(handle, array): (Handle<Array>, &Array)| {
        let name = &array.stencil_name;
        let is_passed = arguments.contains(&handle);
        let position = signature.params.iter().position(|it| is_passed && it.name == *name)?;
        let axes = match signature.params[position].kind {
            ParamKind::Field { axes, .. } => Some(axes),
            ParamKind::Scalar { .. } => None,
        };
        Some((handle, ArrayArgument { position, axes }))
    };
    kernels.program.arrays.iter().filter_map(place).collect()
}

/// The statement and the cell at which a run has to end, by what its kernels left in the slots.
#[must_use]
pub fn ended(kernels: &Kernels, slots: &[u32], domain: Domain) -> Option<(StmtId, [i64; 3])> {
    let raised = kernels.places.iter().zip(slots).filter(|(_, number)| **number != NONE);
    let told = raised.map(|(place, &number)| {
        let [i, j, k] = place.cell_of(number, kernels.halo, domain);
        let (columns, rows) = (domain.i + 2 * kernels.halo, domain.j + 2 * kernels.halo);
        // Where levels have no order, the number begins with the level itself.
        let has_turns = place.trap.turn != Affine::default();
        let turn = if has_turns { i64::from(number) / (columns * rows) } else { 0 };
        ((place.trap.sweep, turn, place.trap.outermost, k, j, i), (place.trap.statement, [i, j, k]))
    });
    // Of equal ones the first.
    told.reduce(|first, next| if next.0 < first.0 { next } else { first }).map(|it| it.1)
}

/// Returns the bytes that a run on a domain allocates, before anything is known of its fields. None where
/// that is beyond any memory. A thread's arrays count once for each point of a level.
#[must_use]
pub fn bytes_without_fields(kernels: &Kernels, domain: Domain) -> Option<u64> {
    let size = |symbol: &Symbol| match kernels.program.symbols.get(symbol) {
        Some(SymbolMeaning::Size(axis)) => Some(domain.along(*axis)),
        // A field without further levels.
        Some(SymbolMeaning::Levels { .. }) => Some(0),
        // A block starts anywhere; how large its arrays are does not depend on that.
        Some(SymbolMeaning::Position(_)) | None => {
            Some(Axis::ALL.into_iter().find(|it| it.name() == symbol.name()).map_or(0, |it| domain.along(it)))
        }
    };
    let mut all = 4 * kernels.places.len() as u64;
    for (at, it) in kernels.program.arrays.iter().filter(|(_, it)| it.is_own()) {
        let times = match kernels.memory(at) {
            Some(ArrayMemory::Global) => 1,
            Some(ArrayMemory::Scratch) => domain.i.checked_mul(domain.j)?,
            Some(ArrayMemory::Shared | ArrayMemory::SharedByThread | ArrayMemory::Registers) | None => {
                continue;
            }
        };
        let mut elements = times;
        for length in kernels.program.places(at) {
            elements = elements.checked_mul(length.evaluated(&mut |it| size(it))?.max(0))?;
        }
        let bytes = u64::try_from(elements).ok()?.checked_mul(it.dtype.size_bytes() as u64)?;
        all = all.checked_add(bytes)?;
    }
    Some(all)
}

/// How an array lies in memory.
#[derive(Clone, Debug, Default)]
pub struct ArrayLayout {
    /// Per dimension, in elements.
    pub strides: Vec<i64>,
    /// From its first element to where index 0 is along every axis.
    pub start: i64,
    /// Those below the domain, and above it.
    pub levels: [i64; 2],
    /// That it reaches.
    pub elements: i64,
}

/// The values of a program's sizes in a call, and the launches that follow from them.
#[derive(Debug)]
pub struct Sizes<'k> {
    kernels: &'k Kernels,
    pub domain: Domain,
    /// One for each array of the program.
    pub layouts: SideTable<Array, ArrayLayout>,
    /// Of the loops of the host around a launch.
    positions: BTreeMap<Symbol, i64>,
}

impl<'k> Sizes<'k> {
    /// Those of a call. `has_memory` tells which of the arrays that a run makes have memory at all.
    ///
    /// # Errors
    ///
    /// Where an array is beyond any memory, or the domain has more cells than a word tells apart.
    pub fn of(
        kernels: &'k Kernels,
        places: &SideTable<Array, ArrayArgument>,
        call: &Launch,
        has_memory: impl Fn(Handle<Array>) -> bool,
    ) -> Result<Self, CallRefusal> {
        let domain = call.domain;
        if !kernels.can_number(domain) {
            return Err(CallRefusal::too_large(
                "has more cells than a run can tell apart that may have to end at one of them",
            ));
        }
        let layouts = kernels.program.arrays.handles().map(|it| (it, ArrayLayout::default())).collect();
        let mut sizes = Self { kernels, domain, layouts, positions: BTreeMap::new() };
        for (array, place) in places.iter() {
            let ArrayArgument { position, axes: Some(axes) } = *place else { continue };
            let Some(Argument::Field(field)) = call.arguments.get(position) else { continue };
            let strides = field.strides(axes);
            let of_axes = axes.iter().map(|axis| strides[axis.index()]);
            let strides = of_axes.chain(field.data_strides(axes).iter().copied()).collect();
            let (start, levels) = (field.start(axes), field.levels_beside(axes, domain));
            let elements = elements_of(&field.array);
            sizes.layouts.insert(array, ArrayLayout { strides, start, levels, elements });
        }
        for (handle, array) in kernels.program.arrays.iter() {
            if array.storage != Storage::Caller && has_memory(handle) {
                let own = sizes.own(handle, array).ok_or(CallRefusal::OutOfMemory)?;
                sizes.layouts.insert(handle, own);
            }
        }
        Ok(sizes)
    }

    /// The layout of an array that a run makes: without gaps, the first dimension fastest.
    fn own(&self, at: Handle<Array>, array: &Array) -> Option<ArrayLayout> {
        let (mut strides, mut start, mut n) = (Vec::new(), 0_i64, 1_i64);
        for (length, shift) in self.kernels.program.places(at).zip(&array.shift) {
            strides.push(n);
            if array.storage == Storage::Heap {
                let shift = shift.evaluated(|it| self.value(it))?;
                start = start.checked_add(shift.checked_mul(n)?)?;
            }
            n = n.checked_mul(length.evaluated(&mut |it| self.value(it))?.max(0))?;
        }
        let start = start.checked_add(i64::try_from(self.kernels.program.decisions.row_start(at)).ok()?)?;
        Some(ArrayLayout { strides, start, levels: [0; 2], elements: n })
    }

    /// The value of a symbol in a bound or a size. Such a symbol is a size of the domain, levels of an array,
    /// or a position of a loop around. None for a position that only a kernel has.
    fn value(&self, symbol: &Symbol) -> Option<i64> {
        match self.kernels.program.symbols.get(symbol) {
            Some(&SymbolMeaning::Size(axis)) => Some(self.domain.along(axis)),
            Some(&SymbolMeaning::Levels { array, side }) => Some(self.levels(array, side)),
            Some(SymbolMeaning::Position(_)) => self.position(symbol),
            None => {
                let axis = Axis::ALL.into_iter().find(|it| it.name() == symbol.name());
                axis.map(|it| self.domain.along(it))
            }
        }
    }

    /// The levels of a field's array below the domain, or above it.
    #[must_use]
    pub fn levels(&self, array: Handle<Array>, side: Side) -> i64 {
        let [below, above] = self.layouts[array].levels;
        match side {
            Side::Below => below,
            Side::Above => above,
        }
    }

    /// Nothing is known of a field that is not made yet.
    #[must_use]
    pub fn stride(&self, array: Handle<Array>, dimension: usize) -> i64 {
        self.layouts[array].strides.get(dimension).copied().unwrap_or(0)
    }

    /// Of a loop of the host around the launch at hand.
    #[must_use]
    pub fn position(&self, symbol: &Symbol) -> Option<i64> {
        self.positions.get(symbol).copied()
    }

    fn bound(&self, it: &Size) -> Result<i64, CallRefusal> {
        let unknown =
            || CallRefusal::Other("a bound of a kernel depends on what the host does not know".to_owned());
        it.evaluated(&mut |it| self.value(it)).ok_or_else(unknown)
    }

    /// How many positions a loop has.
    fn turns(&self, it: &Positions) -> Result<i64, CallRefusal> {
        let (start, end, step) = (self.bound(&it.start)?, self.bound(&it.end)?, it.step.max(1));
        Ok(end.saturating_sub(start).max(0).saturating_add(step - 1) / step)
    }

    /// Carries out what the host does: loops are written out, and `launch` gets the launches in order.
    ///
    /// # Errors
    ///
    /// Those of `launch`, and where a bound is not known.
    pub fn walk(
        &mut self,
        host: &[Host],
        launch: &mut impl FnMut(&Self, usize) -> Result<(), CallRefusal>,
    ) -> Result<(), CallRefusal> {
        for it in host {
            match it {
                Host::Launch(kernel) => launch(self, *kernel)?,
                Host::For { positions, is_descending, body } => {
                    let (start, n) = (self.bound(&positions.start)?, self.turns(positions)?);
                    for turn in 0..n {
                        let turn = if *is_descending { n - 1 - turn } else { turn };
                        self.positions.insert(positions.variable.clone(), start + turn * positions.step);
                        self.walk(body, launch)?;
                    }
                    self.positions.remove(&positions.variable);
                }
            }
        }
        Ok(())
    }

    /// The blocks of a kernel along x, y, z, at most so many; none where a loop of its grid is empty.
    ///
    /// # Errors
    ///
    /// Where there are more than can be.
    pub fn blocks(&self, kernel: &Kernel, most: [u32; 3]) -> Result<Option<[u32; 3]>, CallRefusal> {
        let mut blocks = [1_u32; 3];
        // The last one is the fastest.
        for ((it, count), most) in kernel.grid.iter().rev().zip(&mut blocks).zip(most) {
            let n = self.turns(it)?;
            let fits = u32::try_from(n).ok().filter(|it| *it <= most);
            *count = fits.ok_or_else(|| {
                CallRefusal::too_large(&format!(
                    "needs {n} blocks along an axis, and the GPU has {most} at most"
                ))
            })?;
        }
        Ok(if blocks.contains(&0) { None } else { Some(blocks) })
    }
}

/// How many elements of memory an array reaches; those of one on a device are not at hand.
fn elements_of(array: &crate::call::array::Array) -> i64 {
    let reach = array.shape.iter().zip(&array.strides).fold(1_i64, |reach, (&n, stride)| {
        let last = i64::try_from(n).unwrap_or(i64::MAX).saturating_sub(1).max(0);
        reach.saturating_add(last.saturating_mul((*stride).max(0)))
    });
    let reach = reach.saturating_add(i64::try_from(array.first).unwrap_or(i64::MAX));
    reach.max(i64::try_from(array.elements.len()).unwrap_or(i64::MAX))
}
