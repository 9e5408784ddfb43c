//! The capabilities of targets, as data: passes decide by them, and nothing else reads them.
//!
//! Passes do not infer a machine from the width of its vectors. Each measured fact about a machine is a
//! capability with a name and a reason. The figures are in `docs/benchmarks/loops.md`.

use crate::pass::{CodeGenerator, Device, MachineModel, PassOptions};

/// A fact about a target, and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability<T> {
    pub value: T,
    /// One sentence without a final dot: remarks end with it.
    pub reason: &'static str,
}

impl<T> Capability<T> {
    const fn new(value: T, reason: &'static str) -> Self {
        Self { value, reason }
    }
}

/// A target of code generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub name: &'static str,
    /// Bits of the widest vectors that code has; 0 where they are not known.
    pub vector_bits: u32,
    /// How the lanes of a loop run a branch or a `while`.
    pub divergence: Capability<Divergence>,
    /// How loops are split at functions that take long.
    pub fission: Capability<Fission>,
    /// How the last iterations of a row run, if they fill no vector.
    pub remainder: Capability<Remainder>,
    /// How rows that nothing reads soon are stored.
    pub stores: Capability<NonTemporal>,
    /// Such rows are stored past the caches if all fields together have at least so many bytes.
    pub stream_from: Capability<u64>,
    /// How far ahead rows are prefetched; none where code cannot.
    pub prefetch: Capability<Option<Prefetch>>,
    /// Whether lanes hold integers of 8 and 16 bits.
    pub has_narrow_lanes: Capability<bool>,
    /// Whether lanes of one loop hold elements of several sizes, each in vectors of its own length.
    pub has_mixed_lanes: Capability<bool>,
    /// Whether a loop in lanes may hold something that ends the run at one of its points.
    pub has_ending_lanes: Capability<bool>,
    /// Whether a loop with one position at most becomes a block without a counter.
    pub has_blocks: Capability<bool>,
    /// From where on a text is long and has parts; none where no compiler reads a text.
    pub compilation: Capability<Option<TextLimits>>,
    /// Bytes of a cache line.
    pub line_bytes: u32,
    /// Blocks and threads of a launch; none where loops over a grid are plain loops.
    pub grid: Capability<Option<Grid>>,
}

/// How lanes run code that is not the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// A `while` in a loop of lanes is strip-mined: its iterations are loops over a strip of so many.
    Strips { width: u32 },
    /// Under masks, in the loop itself.
    Masks,
}

/// How loops are split at functions that take long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fission {
    /// They are not.
    Whole,
    /// Into loops over a strip of so many iterations, one behind the other.
    Strips { width: u32 },
    /// Within a loop of lanes: some vectors pass one part before the next part begins.
    Vectors,
}

/// How the last iterations of a row run, if they fill no vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remainder {
    /// A loop of its own, as the compiler of the target makes it.
    Loop,
    /// Loops run in blocks of so many bytes, and the last block overlaps the one before. This needs
    /// `least_loops` of these loops in one iteration of a loop around, or `least_operations` operations in
    /// all.
    Blocks { bytes: i64, least_loops: usize, least_operations: usize },
    /// The last vector overlaps the one before, where iterations may run twice.
    Overlap,
    /// A vector under a mask.
    Mask,
}

/// How rows are stored past the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonTemporal {
    /// From an array of so many elements, in which they are computed before.
    Rows { elements: u32 },
    /// From an array of so many bytes, for loops that store one row and for others.
    Registers { one: i64, several: i64, elements: u32 },
    /// Vector by vector, as they are computed.
    Vectors,
}

/// How far ahead rows are prefetched: the fewer operations an iteration has, the sooner it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// In iterations.
    pub least: usize,
    pub most: usize,
    /// Operations for each point of a row that take as long as memory does to answer while it is busy.
    pub operations: usize,
}

/// From where on the text of a program is more than one compiler should do at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// A text of so many operations is long: a compiler takes more than some tenths of a second.
    pub long_from: usize,
    /// A text with so many steps that threads share can be compiled in parts.
    pub parts_from: usize,
}

/// The limits of a launch on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Along each of three axes.
    pub blocks: [u32; 3],
    /// In one block.
    pub threads: u32,
}

/// Threads that a block of a GPU may have everywhere.
pub const MAX_THREADS: u32 = 256;

/// Points of a row that are stored together. They fill no whole number of pages, since rows of whole pages
/// share the sets of the first cache.
const ROW_ELEMENTS: u32 = 672;

/// Iterations of a strip: several vectors hide each other's latency, and few iterations wait for the others.
const STRIP: u32 = 32;

/// Operations from which on a program is long for a C compiler: it takes the better part of a second for each copy.
const LONG_PROGRAM: usize = 1000;

/// Where nothing is known of the caches.
const STREAM_FROM: u64 = 16 << 20;

impl Target {
    /// The target that the options of a compilation ask for.
    #[must_use]
    pub fn of(options: &PassOptions) -> Self {
        let machine = options.machine.as_ref();
        match (options.device, options.code) {
            (Device::Gpu, _) => Self::kernels(MAX_THREADS),
            (Device::Cpu, CodeGenerator::C) => Self::c(machine),
            (Device::Cpu, CodeGenerator::Native { vector_bits }) => Self::native(vector_bits, machine),
        }
    }

    /// C, which a compiler translates for this machine where it is known.
    #[must_use]
    pub fn c(machine: Option<&MachineModel>) -> Self {
        let vector_bits = machine.map_or(0, |it| it.vector_bytes * 8);
        let fission = match vector_bits {
            256 => Capability::new(
                Fission::Strips { width: STRIP },
                "with vectors of 256 bits, short loops have more iterations of a function in flight than a long body",
            ),
            _ => Capability::new(Fission::Whole, "no gain of split loops is known for these vectors"),
        };
        let remainder = if vector_bits >= 512 {
            Capability::new(
                Remainder::Blocks { bytes: 64, least_loops: 4, least_operations: LONG_PROGRAM },
                "a C compiler splits each row into peel, main and remainder loop; with 32 vector registers whole blocks cost less",
            )
        } else {
            Capability::new(Remainder::Loop, "with fewer than 32 vector registers blocks gain nothing")
        };
        let stores = if vector_bits == 256 {
            Capability::new(
                NonTemporal::Registers { one: 256, several: 512, elements: ROW_ELEMENTS },
                "half of the vector registers hold what is stored next, and a line is stored as it is computed",
            )
        } else {
            Capability::new(
                NonTemporal::Rows { elements: ROW_ELEMENTS },
                "rows are stored as whole lines from the first cache",
            )
        };
        Self {
            name: "c",
            vector_bits,
            divergence: Capability::new(
                Divergence::Strips { width: STRIP },
                "a C compiler makes no vector loop of a loop with a `while` inside",
            ),
            fission,
            remainder,
            stores,
            stream_from: stream_from(machine),
            prefetch: Capability::new(Some(prefetch(vector_bits)), PREFETCH),
            has_narrow_lanes: Capability::new(true, "a C compiler widens them"),
            has_mixed_lanes: Capability::new(
                false,
                "a C compiler makes as many lanes as the narrowest element has in a vector, which most rows do not fill",
            ),
            has_ending_lanes: Capability::new(
                false,
                "a C compiler makes no vector loop of a loop that may report the end of the run",
            ),
            has_blocks: Capability::new(true, "a C compiler sees the position without a loop around it"),
            compilation: Capability::new(
                Some(TextLimits { long_from: 500, parts_from: 4 }),
                "a C compiler takes more than some tenths of a second, and several work at the same time",
            ),
            line_bytes: 64,
            grid: Capability::new(None, "C has no grid of blocks"),
        }
    }

    /// Machine code with vectors of so many bits, for this machine where it is known.
    #[must_use]
    pub fn native(vector_bits: u32, machine: Option<&MachineModel>) -> Self {
        let is_wide = vector_bits >= 256;
        Self {
            name: "native",
            vector_bits,
            divergence: Capability::new(Divergence::Masks, "each vector instruction takes a mask or a blend"),
            fission: match vector_bits {
                256 => Capability::new(
                    Fission::Vectors,
                    "with 16 vector registers, several vectors of one function are in flight only where it stands alone",
                ),
                _ => Capability::new(Fission::Whole, "there are registers enough for a whole body"),
            },
            remainder: match vector_bits {
                256 => Capability::new(
                    Remainder::Overlap,
                    "masked loads and stores are slow without mask registers",
                ),
                512.. => Capability::new(Remainder::Mask, "mask registers cost nothing"),
                _ => Capability::new(Remainder::Loop, "the last iterations run one by one"),
            },
            stores: Capability::new(NonTemporal::Vectors, "a whole line is stored by few instructions"),
            stream_from: stream_from(machine),
            prefetch: Capability::new(is_wide.then(|| prefetch(vector_bits)), PREFETCH),
            has_narrow_lanes: Capability::new(false, "no vector operations on 8 or 16 bits are made here"),
            has_mixed_lanes: Capability::new(true, "bytes of memory become masks as they are read"),
            has_ending_lanes: Capability::new(true, "a vector reports the first of its points"),
            has_blocks: Capability::new(false, "the test of a bound costs less than other code would"),
            compilation: Capability::new(None, "no compiler reads a text"),
            line_bytes: 64,
            grid: Capability::new(None, "a processor has no grid of blocks"),
        }
    }
}

impl Target {
    /// Kernels of a GPU, whose blocks have so many threads at most.
    #[must_use]
    pub fn kernels(threads: u32) -> Self {
        const THREADS: &str = "threads run side by side, and the compiler of the kernel sees to the rest";
        Self {
            name: "kernels",
            vector_bits: 0,
            divergence: Capability::new(Divergence::Masks, THREADS),
            fission: Capability::new(Fission::Whole, THREADS),
            remainder: Capability::new(Remainder::Loop, THREADS),
            stores: Capability::new(NonTemporal::Vectors, THREADS),
            stream_from: Capability::new(u64::MAX, "stores of a kernel pass its first cache anyway"),
            prefetch: Capability::new(None, "other threads run while one waits for memory"),
            has_narrow_lanes: Capability::new(true, "a thread has whole registers"),
            has_mixed_lanes: Capability::new(true, "a thread has whole registers"),
            has_ending_lanes: Capability::new(true, "each thread reports for itself"),
            has_blocks: Capability::new(false, THREADS),
            compilation: Capability::new(None, "a kernel is short"),
            line_bytes: 128,
            grid: Capability::new(
                Some(Grid { blocks: [65_535; 3], threads }),
                "a launch has blocks of threads",
            ),
        }
    }
}

const PREFETCH: &str = "hardware follows a row, and is late for the first lines of the next one";

/// With vectors of 512 bits an iteration of many operations is shorter than memory takes. With others it is longer, and
/// what is prefetched too early displaces what is read in between.
fn prefetch(vector_bits: u32) -> Prefetch {
    Prefetch { least: if vector_bits >= 512 { 2 } else { 1 }, most: 6, operations: 48 }
}

/// More than half of the last cache is lost when the next call comes. Rows that the call reads and rows that
/// it writes share the cache.
fn stream_from(machine: Option<&MachineModel>) -> Capability<u64> {
    match machine.map(MachineModel::last_cache_bytes) {
        Some(bytes) if bytes > 0 => {
            Capability::new(bytes / 2, "half of the last cache is left from one call to the next")
        }
        _ => Capability::new(STREAM_FROM, "the caches of the machine are not known"),
    }
}
