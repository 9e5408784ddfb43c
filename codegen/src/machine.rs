//! Machine code in this process.

use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::Module;
use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::loops::nodes::Function;
use isobar_compiler::types::math;

use super::host::{FunctionPointer, Host, RunOutcome, Team, TrapSite};
use super::object::{DeclarationCount, FunctionCode, Link, Object, processor};
use super::translate::ParallelLoop;

/// Machine code for one program and one shape. Threads may run it at the same time, each with a frame of its own.
#[derive(Debug)]
pub struct Machine {
    _code: CodeMemory,
    functions: SideTable<Function, FunctionPointer>,
    sites: Vec<TrapSite>,
    /// The loops that the threads share, by the number that code passes.
    launches: Vec<ParallelLoop>,
    /// By position in the program's steps: the function of each, and the least sweep of those behind it.
    steps: Vec<(Handle<Function>, Option<u32>)>,
}

/// The owner of the code's memory.
struct CodeMemory(Option<JITModule>);

impl std::fmt::Debug for CodeMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CodeMemory")
    }
}

// SAFETY: after it is finished, a module is never used again but to be dropped, by the one thread that drops it.
#[expect(unsafe_code, reason = "code is shared by the threads that run it")]
unsafe impl Send for CodeMemory {}
// SAFETY: as above; a reference to it gives access to nothing.
#[expect(unsafe_code, reason = "code is shared by the threads that run it")]
unsafe impl Sync for CodeMemory {}

impl Drop for CodeMemory {
    #[expect(unsafe_code, reason = "this is where generated code ends")]
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the functions are called through `Machine` only, which nobody holds any more.
            unsafe { module.free_memory() }
        }
    }
}

impl Machine {
    /// Loads code, to be called in this process.
    ///
    /// # Errors
    ///
    /// The message of the loader. Such an error is a fault of ours.
    pub fn load(object: &Object) -> Result<Self, String> {
        let Object { imports, tables, pieces, functions, sites, launches, steps, text: _ } = object;
        let mut builder = JITBuilder::with_isa(processor()?, cranelift_module::default_libcall_names());
        builder.symbol_lookup_fn(Box::new(|_| None));
        // One piece of memory: code calls its parts by how far they are, which is 2 GB at most.
        let arena = ArenaMemoryProvider::new_with_size(room(pieces));
        builder.memory_provider(Box::new(arena.map_err(|it| it.to_string())?));
        for import in imports {
            builder.symbol(import.name(), import.address());
        }
        for name in tables {
            let known = math::TABLES.iter().find(|it| it.name == name);
            let table = known.ok_or_else(|| format!("there is no table {name}"))?;
            builder.symbol(name, table.values.as_ptr().cast());
        }
        let mut module = JITModule::new(builder);
        let mut declared = DeclarationCount::default();
        for &import in imports {
            declared.import(&mut module, import)?;
        }
        for name in tables {
            declared.table(&mut module, name)?;
        }
        let mut ids = Vec::with_capacity(pieces.len());
        for piece in pieces {
            ids.push(declared.function(&mut module, &piece.name, 3)?);
        }
        for (piece, &id) in pieces.iter().zip(&ids) {
            let relocations = piece.links.iter().map(Link::relocation).collect::<Result<Vec<_>, _>>()?;
            let defined = module.define_function_bytes(id, piece.alignment, &piece.code, &relocations);
            defined.map_err(|it| it.to_string())?;
        }
        module.finalize_definitions().map_err(|it| it.to_string())?;
        let find = |(function, &at): (Handle<Function>, &usize)| {
            let id = ids.get(at).ok_or("a function has no code")?;
            Ok((function, code(module.get_finalized_function(*id))))
        };
        let functions = functions.iter().map(find).collect::<Result<_, &str>>()?;
        let (sites, launches, steps) = (sites.clone(), launches.clone(), steps.clone());
        Ok(Self { _code: CodeMemory(Some(module)), functions, sites, launches, steps })
    }

    /// Runs the steps one after the other, up to one that has to end the run. `progress` is told after each step how
    /// many are done, and answers whether to go on. `team` shares the loops; without one they run on this thread alone.
    ///
    /// The first word of the frame is for the host. Behind it, each array of the program has one word. It is
    /// the address of the element at the start of the compute domain, or a scalar as [`word`](crate::word)
    /// has it. For an array that each thread has for itself, it is the address of the first thread's.
    ///
    /// # Safety
    ///
    /// The arrays are those of the [`Shape`] that this code was made for. Each has elements of its
    /// container's type, and holds all that the stencil reaches from there with these strides. No element
    /// that is written is touched by others during the call, nor lies in two arrays of the frame. The memory
    /// that the run allocates is as large as the shape says, for as many threads as the team has.
    #[expect(unsafe_code, reason = "this is where generated code is entered")]
    pub unsafe fn run(
        &self,
        frame: Vec<u64>,
        team: Option<&dyn Team>,
        progress: impl Fn(usize) -> bool,
    ) -> RunOutcome {
        Host::new(&self.sites, &self.launches, &self.functions, team).run(&self.steps, frame, progress)
    }
}

/// The bytes that an arena takes for code: whole pages for each piece, with room for stubs of its calls.
/// Pages cost no memory before they are written.
fn room(pieces: &[FunctionCode]) -> usize {
    const PAGE: usize = if cfg!(target_arch = "x86_64") { 4 << 10 } else { 64 << 10 };
    const OF_LINK: usize = 24;
    let of_piece = |it: &FunctionCode| (it.code.len() + OF_LINK * it.links.len()).next_multiple_of(PAGE);
    PAGE + pieces.iter().map(of_piece).sum::<usize>()
}

/// Finished code as a function that can be called.
#[expect(unsafe_code, reason = "this is where generated code comes in")]
fn code(address: *const u8) -> FunctionPointer {
    // SAFETY: the function was defined with this signature, and its module stays until nobody can call it.
    unsafe { std::mem::transmute::<*const u8, FunctionPointer>(address) }
}
