//! A program as machine code in this process.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, GlobalValue};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::print_errors::pretty_error;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, isa::OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{DataId, FuncId, Linkage, Module, ModuleReloc};
use isobar_compiler::loops::Program;
use isobar_compiler::types::math::real::Table;
use isobar_compiler::types::math::record::Definition;

use super::Vectors;
use super::host::{Code, Host, Import, Raised, Site, Team};
use super::shape::Shape;
use super::translate::{Links, Shared, Spread, definitions, translate};
use super::wide;

/// Machine code for one program and one shape. Threads may run it at the same time, each with a frame of its own.
#[derive(Debug)]
pub struct Machine {
    _code: CodeMemory,
    /// By position in the program's functions.
    functions: Vec<Code>,
    sites: Vec<Site>,
    /// What loops that the threads share are called, by the number that code passes.
    launches: Vec<Spread>,
    /// By position in the program's steps: the function of each, and the least sweep of those behind it.
    steps: Vec<(usize, Option<u32>)>,
    /// The text of each function before it became machine code; empty where it was not asked for.
    pub text: String,
}

/// What owns the code.
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

/// What may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// After so many turns at one cell, a `while` loop counts as endless and ends the run with a trap.
    pub max_turns: u64,
    /// Whether a product and a sum may be rounded once, which changes bits.
    pub may_fuse: bool,
    pub vectors: Vectors,
    /// Whether the text of the code is kept.
    pub keeps_text: bool,
}

impl Drop for CodeMemory {
    #[expect(unsafe_code, reason = "this is where generated code ends")]
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: the functions are called through `Machine` only, which nobody holds any more.
            unsafe { module.free_memory() }
        }
    }
}

/// The processor of this machine.
fn processor() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let set = [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ];
    for (name, value) in set {
        flags.set(name, value).map_err(|it| it.to_string())?;
    }
    let builder = cranelift_native::builder().map_err(str::to_owned)?;
    builder.finish(settings::Flags::new(flags)).map_err(|it| it.to_string())
}

/// The widest vectors that code has here. Wide code is called as C functions of Unix are.
fn vectors_of(isa: &OwnedTargetIsa, vectors: Vectors) -> Option<wide::Isa> {
    wide::known(vectors).filter(|_| isa.default_call_conv() == CallConv::SystemV)
}

/// Bits of the vectors that code has here.
pub fn vector_bits(vectors: Vectors) -> u32 {
    let isa = processor().ok().and_then(|isa| vectors_of(&isa, vectors));
    isa.map_or(128, |it| 8 * u32::try_from(it.bytes()).unwrap_or(16))
}

/// Whether machine code can be made here, and with which vectors.
///
/// The sentence names the processor and the bits, for whoever lists back ends:
/// `x86_64-…, vectors of 512 bits (AVX-512)`.
///
/// # Errors
///
/// Why not.
pub fn check() -> Result<String, String> {
    let isa = processor()?;
    let vectors = match vectors_of(&isa, Vectors::Widest) {
        Some(wide::Isa::Avx512) => "512 bits (AVX-512)",
        Some(wide::Isa::Avx2) => "256 bits (AVX2)",
        None => "128 bits",
    };
    Ok(format!("{}, vectors of {vectors}", isa.triple()))
}

impl Machine {
    /// Makes code of a program for arrays of this shape. `makers` share the functions; without them they are made on this
    /// thread alone.
    ///
    /// # Errors
    ///
    /// What the code generator says; that is a fault of ours.
    pub fn new(
        program: &Program,
        shape: &Shape,
        Options { max_turns, may_fuse, vectors, keeps_text }: Options,
        makers: Option<&dyn Team>,
    ) -> Result<Self, String> {
        let isa = processor()?;
        // Of 64-bit processors, those of Intel's kind alone may lack it.
        let is_x86 = isa.triple().architecture.to_string() == "x86_64";
        let has_fused =
            !is_x86 || isa.isa_flags().iter().any(|it| it.name == "has_fma" && it.as_bool() == Some(true));
        let wide_vectors = vectors_of(&isa, vectors);
        let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        builder.symbol_lookup_fn(Box::new(|_| None));
        let all = imports(program);
        for &import in &all {
            builder.symbol(import.name(), import.address());
        }
        let tables = program.functions.iter().flat_map(|it| definitions(&it.body));
        let tables: BTreeMap<&str, &'static Table> =
            tables.flat_map(Definition::tables).map(|it| (it.name, it)).collect();
        for (name, table) in &tables {
            builder.symbol(*name, table.values.as_ptr().cast());
        }
        let mut module = JITModule::new(builder);
        let mut links = Joined { has_fused, wide_vectors, ..Joined::default() };
        for import in all {
            let signature = import.signature(module.make_signature());
            let declared = module.declare_function(&import.name(), Linkage::Import, &signature);
            links.functions.insert(import, declared.map_err(|it| it.to_string())?);
        }
        for name in tables.into_keys() {
            let declared = module.declare_data(name, Linkage::Import, false, false);
            links.tables.insert(name, declared.map_err(|it| it.to_string())?);
        }
        let mut signature = module.make_signature();
        signature.params.extend([AbiParam::new(I64); 3]);
        let config = module.target_config();
        let streams = shape.field_bytes(program) >= program.stream_from;
        let mut shared =
            Shared { program, shape, sites: Vec::new(), launches: Vec::new(), max_turns, may_fuse, streams };
        let mut buffers = FunctionBuilderContext::new();
        let mut wide = Vec::new();
        let (mut contexts, mut text) = (Vec::with_capacity(program.functions.len()), String::new());
        for function in &program.functions {
            let declared = module.declare_function(&function.name, Linkage::Local, &signature);
            let id = declared.map_err(|it| it.to_string())?;
            let mut context = Context::new();
            context.func.signature = signature.clone();
            let builder = FunctionBuilder::new(&mut context.func, &mut buffers);
            let mut linking = Linking {
                module: &mut module,
                joined: &links,
                wide: &mut wide,
                texts: Vec::new(),
                keeps_text,
                failed: None,
            };
            translate(builder, &mut shared, &mut linking, function, config);
            if let Some(why) = linking.failed {
                return Err(why);
            }
            if keeps_text {
                text.push_str(&format!("; {}\n{}\n", function.name, context.func.display()));
                // Of functions that are called by number, in that order.
                linking.texts.iter().for_each(|it| text.push_str(it));
            }
            contexts.push((id, context));
        }
        // The long part, of which functions need nothing of each other.
        let isa = module.isa();
        each(makers, &mut contexts, |(_, context)| {
            let done = context.compile(isa, &mut ControlPlane::default());
            done.map(|_| ()).map_err(|error| pretty_error(error.func, error.inner))
        })?;
        let mut ids = Vec::with_capacity(contexts.len());
        for (id, context) in contexts {
            let code = context.compiled_code().ok_or("a function was not compiled")?;
            let relocations: Vec<ModuleReloc> = code
                .buffer
                .relocs()
                .iter()
                .map(|it| ModuleReloc::from_mach_reloc(it, &context.func, id))
                .collect();
            let alignment = u64::from(code.buffer.alignment);
            let defined = module.define_function_bytes(id, alignment, code.code_buffer(), &relocations);
            defined.map_err(|it| it.to_string())?;
            ids.push(id);
        }
        // Its constants are aligned within it, at multiples of 32 at most.
        for (id, code) in wide {
            module.define_function_bytes(id, 64, &code, &[]).map_err(|it| it.to_string())?;
        }
        module.finalize_definitions().map_err(|it| it.to_string())?;
        let functions = ids.into_iter().map(|id| code(module.get_finalized_function(id))).collect();
        let Shared { sites, launches, .. } = shared;
        let steps = program.steps.iter().enumerate();
        let steps = steps.map(|(at, step)| (step.function, program.least_sweep_after(at))).collect();
        Ok(Self { _code: CodeMemory(Some(module)), functions, sites, launches, steps, text })
    }

    /// Runs the steps one after the other, up to one that has to end the run, which is the answer. `progress` is told
    /// after each step how many are done. `team` shares the loops; without one they run on this thread alone.
    ///
    /// The frame has a first word for the host, and then one for each array of the program: the address of the element
    /// at the start of the compute domain, or a scalar as [`word`](crate::word) has it. Of what each thread has for
    /// itself it is that of the first thread.
    ///
    /// # Safety
    ///
    /// The arrays are those of the [`Shape`] that this code was made for: each holds all elements that the stencil
    /// reaches from there with these strides, of its container's type, and none that is written is touched by others
    /// during the call, nor lies in two arrays of the frame. What the run allocates is as large as the shape says,
    /// for as many threads as the team has.
    #[expect(unsafe_code, reason = "this is where generated code is entered")]
    pub unsafe fn run(
        &self,
        frame: Vec<u64>,
        team: Option<&dyn Team>,
        progress: impl Fn(usize),
    ) -> Option<Raised> {
        Host::new(&self.sites, &self.launches, &self.functions, team).run(&self.steps, frame, progress)
    }
}

/// Does the work on each of them; the team shares it.
///
/// Each slot is locked once, by the thread whose range it is in; the locks are there since a team lends its
/// closure to several threads.
fn each<T: Send>(
    team: Option<&dyn Team>,
    all: &mut [T],
    work: impl Fn(&mut T) -> Result<(), String> + Sync,
) -> Result<(), String> {
    let Some(team) = team.filter(|_| all.len() > 1) else { return all.iter_mut().try_for_each(work) };
    let failed = Mutex::new(Ok(()));
    let slots: Vec<Mutex<&mut T>> = all.iter_mut().map(Mutex::new).collect();
    team.share(slots.len(), &|range, _| {
        for slot in &slots[range] {
            let done = work(&mut slot.lock().unwrap_or_else(PoisonError::into_inner));
            if done.is_err() {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = done;
            }
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What a module knows of the host.
#[derive(Default)]
struct Joined {
    functions: BTreeMap<Import, FuncId>,
    tables: BTreeMap<&'static str, DataId>,
    has_fused: bool,
    wide_vectors: Option<wide::Isa>,
}

/// How one function is joined with the rest while it is translated.
struct Linking<'m> {
    module: &'m mut JITModule,
    joined: &'m Joined,
    /// Finished code, to be defined.
    wide: &'m mut Vec<(FuncId, Vec<u8>)>,
    /// What that does, where it is asked for.
    texts: Vec<String>,
    keeps_text: bool,
    failed: Option<String>,
}

impl Links for Linking<'_> {
    fn function(&mut self, of: &mut Function, import: Import) -> FuncRef {
        self.module.declare_func_in_func(self.joined.functions[&import], of)
    }

    fn table(&mut self, of: &mut Function, table: &'static Table) -> GlobalValue {
        self.module.declare_data_in_func(self.joined.tables[table.name], of)
    }

    fn has_fused(&self) -> bool {
        self.joined.has_fused
    }

    fn wide_vectors(&self) -> Option<wide::Isa> {
        self.joined.wide_vectors
    }

    fn wide(&mut self, of: &mut Function, body: &wide::Body) -> FuncRef {
        let mut signature = self.module.make_signature();
        signature.params.push(AbiParam::new(I64));
        let name = format!("isobar_loop_{}", self.wide.len());
        match self.module.declare_function(&name, Linkage::Local, &signature) {
            Ok(id) => {
                self.wide.push((id, wide::emit(body)));
                if self.keeps_text {
                    self.texts.push(format!("; {name}\n{body}\n"));
                }
                self.module.declare_func_in_func(id, of)
            }
            Err(why) => {
                self.failed = Some(why.to_string());
                self.module.declare_func_in_func(self.joined.functions[&Import::Raise], of)
            }
        }
    }
}

/// Finished code as a function that can be called.
#[expect(unsafe_code, reason = "this is where generated code comes in")]
fn code(address: *const u8) -> Code {
    // SAFETY: the function was defined with this signature, and its module stays until nobody can call it.
    unsafe { std::mem::transmute::<*const u8, Code>(address) }
}

/// What functions of a program may call.
///
/// All are declared before the first function is made, so that translating one needs no more than a
/// reference to them. Which operations are functions of the host is told by `Helper::of`; operators that
/// are none of its primitives stand here.
fn imports(program: &Program) -> Vec<Import> {
    use super::host::Helper;
    use isobar_compiler::expr::ExprKind;
    use isobar_compiler::types::{BinaryOp, BinaryPrimitive, Primitive};
    let mut all = std::collections::BTreeSet::from([Import::Raise, Import::RaiseLanes, Import::Launch]);
    program.each_expr(&mut |expr| {
        expr.walk(&mut |it| {
            let helper = match &it.kind {
                ExprKind::Binary(BinaryOp::Mod, left, _) => {
                    Helper::of(Primitive::Binary(BinaryPrimitive::FlooredRemainder), left.dtype)
                }
                ExprKind::Binary(BinaryOp::Pow, left, _) if !left.dtype.is_float() => Some(Helper::IntPower),
                ExprKind::Binary(BinaryOp::Div, left, _) if !left.dtype.is_float() => Some(Helper::Divide),
                ExprKind::Call(function, arguments) => {
                    arguments.first().and_then(|it| Helper::of(function.primitive()?, it.dtype))
                }
                _ => None,
            };
            all.extend(helper.map(Import::Helper));
        });
    });
    all.into_iter().collect()
}
