//! A program as machine code that lies nowhere yet: what is loaded, and what can be kept for other processes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, GlobalValue, LibCall};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::print_errors::pretty_error;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, isa::OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{DataId, FuncId, Linkage, Module, ModuleReloc, ModuleRelocTarget};
use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::loops::analysis::operations::definitions;
use isobar_compiler::loops::{Program, nodes};
use isobar_compiler::types::math::real::Table;
use isobar_compiler::types::math::record::Definition;
use serde::{Deserialize, Serialize};

use super::Vectors;
use super::host::{Import, Team, TrapSite};
use super::shape::Shape;
use super::translate::{Linker, ParallelLoop, ProgramContext, translate};
use super::wide;

/// Machine code of one program for one shape, before it is loaded.
#[derive(Debug, Serialize, Deserialize)]
pub struct Object {
    /// The functions of the host that code calls, and the tables that it reads. Links name them by number,
    /// from zero.
    pub(super) imports: Vec<Import>,
    pub(super) tables: Vec<String>,
    /// Numbered behind the imports.
    pub(super) pieces: Vec<FunctionCode>,
    /// The piece of each function of the program.
    pub(super) functions: SideTable<nodes::Function, usize>,
    pub(super) sites: Vec<TrapSite>,
    /// The loops that the threads share, by the number that code passes.
    pub(super) launches: Vec<ParallelLoop>,
    /// By position in the program's steps: the function of each, and the least sweep of those behind it.
    pub(super) steps: Vec<(Handle<nodes::Function>, Option<u32>)>,
    /// The text of each function before it became machine code; empty where it was not asked for.
    #[serde(skip)]
    pub text: String,
}

/// The code of a function.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct FunctionCode {
    pub(super) name: String,
    pub(super) alignment: u64,
    pub(super) code: Vec<u8>,
    pub(super) links: Vec<Link>,
}

/// A place in code that is filled in when it is loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Link {
    offset: u32,
    kind: LinkKind,
    target: LinkTarget,
    addend: i64,
}

/// The function or table whose address fills a place in.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum LinkTarget {
    Function(u32),
    Table(u32),
    /// A function of the system's library for what the processor has no instruction for, as Cranelift names it.
    Library(String),
}

/// How a place is filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum LinkKind {
    Absolute4,
    Absolute8,
    X86Relative4,
    X86Call4,
    Arm64Call,
}

impl LinkKind {
    const ALL: [(Self, Reloc); 5] = [
        (Self::Absolute4, Reloc::Abs4),
        (Self::Absolute8, Reloc::Abs8),
        (Self::X86Relative4, Reloc::X86PCRel4),
        (Self::X86Call4, Reloc::X86CallPCRel4),
        (Self::Arm64Call, Reloc::Arm64Call),
    ];
}

/// Functions and data have each their own numbers.
const TABLES: u32 = 1;

impl Link {
    fn of(made: &ModuleReloc) -> Result<Self, String> {
        let kind = LinkKind::ALL.iter().find(|it| it.1 == made.kind).map(|it| it.0);
        let target = match &made.name {
            &ModuleRelocTarget::User { namespace: TABLES, index } => Some(LinkTarget::Table(index)),
            &ModuleRelocTarget::User { index, .. } => Some(LinkTarget::Function(index)),
            ModuleRelocTarget::LibCall(it) => Some(LinkTarget::Library(it.to_string())),
            ModuleRelocTarget::KnownSymbol(_) | ModuleRelocTarget::FunctionOffset(..) => None,
        };
        let both = kind.zip(target).map(|(kind, target)| Self {
            offset: made.offset,
            kind,
            target,
            addend: made.addend,
        });
        both.ok_or_else(|| format!("code has a link of the kind {:?}, which is not known", made.kind))
    }

    /// As a loader takes it.
    pub(super) fn relocation(&self) -> Result<ModuleReloc, String> {
        let kind = LinkKind::ALL.iter().find(|it| it.0 == self.kind).map_or(Reloc::Abs8, |it| it.1);
        let name = match &self.target {
            &LinkTarget::Function(index) => ModuleRelocTarget::user(0, index),
            &LinkTarget::Table(index) => ModuleRelocTarget::user(TABLES, index),
            LinkTarget::Library(name) => {
                let known = name.parse::<LibCall>();
                ModuleRelocTarget::LibCall(known.map_err(|()| format!("{name} is no such function"))?)
            }
        };
        Ok(ModuleReloc { offset: self.offset, kind, name, addend: self.addend })
    }
}

/// The choices for making code.
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

/// The processor of this machine.
pub(super) fn processor() -> Result<OwnedTargetIsa, String> {
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
/// The sentence names the processor and the bits, for lists of back ends: `x86_64-…, vectors of 512 bits
/// (AVX-512)`.
///
/// # Errors
///
/// The reason why not.
pub fn check() -> Result<String, String> {
    let isa = processor()?;
    let vectors = match vectors_of(&isa, Vectors::Widest) {
        Some(wide::Isa::Avx512) => "512 bits (AVX-512)",
        Some(wide::Isa::Avx2) => "256 bits (AVX2)",
        None => "128 bits",
    };
    Ok(format!("{}, vectors of {vectors}", isa.triple()))
}

impl Object {
    /// Makes code of a program for arrays of this shape. `makers` share the functions; without them they are made on this
    /// thread alone.
    ///
    /// # Errors
    ///
    /// The message of the code generator. Such an error is a fault of ours.
    pub fn of(
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
        let builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        let mut module = JITModule::new(builder);
        let mut links = HostInterface { has_fused, wide_vectors, ..HostInterface::default() };
        let imports = imports(program);
        let tables = program.functions.values().flat_map(|it| definitions(&it.body));
        let tables: BTreeMap<&'static str, &'static Table> =
            tables.flat_map(Definition::tables).map(|it| (it.name, it)).collect();
        let mut declared = DeclarationCount::default();
        for &import in &imports {
            links.functions.insert(import, declared.import(&mut module, import)?);
        }
        for &name in tables.keys() {
            links.tables.insert(name, declared.table(&mut module, name)?);
        }
        let config = module.target_config();
        let signature = DeclarationCount::signature(&module);
        let streams = program.decisions.stream_from().is_some_and(|it| shape.field_bytes(program) >= it);
        let mut shared = ProgramContext {
            program,
            shape,
            sites: Vec::new(),
            launches: Vec::new(),
            max_turns,
            may_fuse,
            streams,
        };
        let mut buffers = FunctionBuilderContext::new();
        let mut pieces: Vec<FunctionCode> = Vec::new();
        let (mut contexts, mut text) = (Vec::with_capacity(program.functions.len()), String::new());
        for function in program.functions.values() {
            let id = declared.function(&mut module, &function.name, 3)?;
            let at = pieces.len();
            pieces.push(FunctionCode { name: function.name.clone(), ..FunctionCode::default() });
            let mut context = Context::new();
            context.func.signature = signature.clone();
            let builder = FunctionBuilder::new(&mut context.func, &mut buffers);
            let mut linking = FunctionLinker {
                module: &mut module,
                joined: &links,
                declared: &mut declared,
                pieces: &mut pieces,
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
            contexts.push((at, id, context));
        }
        // This part takes longest. Here functions need nothing of each other.
        let isa = module.isa();
        each(makers, &mut contexts, |(_, _, context)| {
            let done = context.compile(isa, &mut ControlPlane::default());
            done.map(|_| ()).map_err(|error| pretty_error(error.func, error.inner))
        })?;
        let mut functions = SideTable::default();
        for (function, (at, id, context)) in program.functions.handles().zip(contexts) {
            let code = context.compiled_code().ok_or("a function was not compiled")?;
            let relocations = code.buffer.relocs().iter();
            let relocations = relocations.map(|it| ModuleReloc::from_mach_reloc(it, &context.func, id));
            let piece = &mut pieces[at];
            piece.alignment = u64::from(code.buffer.alignment);
            piece.code = code.code_buffer().to_vec();
            piece.links = relocations.map(|it| Link::of(&it)).collect::<Result<_, _>>()?;
            functions.insert(function, at);
        }
        let ProgramContext { sites, launches, .. } = shared;
        let steps = program.steps.iter().enumerate();
        let steps = steps.map(|(at, step)| (step.function, program.least_sweep_after(at))).collect();
        let tables = tables.into_keys().map(str::to_owned).collect();
        Ok(Self { imports, tables, pieces, functions, sites, launches, steps, text })
    }
}

/// Counts the declarations of a module. Making code and loading it declare the same things in the same order:
/// imports, tables, pieces. So the numbers that code was linked with hold in every module that it is loaded
/// into.
#[derive(Debug, Default)]
pub(super) struct DeclarationCount {
    functions: u32,
    tables: u32,
}

impl DeclarationCount {
    /// That of all functions of a program.
    fn signature(module: &JITModule) -> cranelift_codegen::ir::Signature {
        let mut signature = module.make_signature();
        signature.params.extend([AbiParam::new(I64); 3]);
        signature
    }

    pub(super) fn import(&mut self, module: &mut JITModule, import: Import) -> Result<FuncId, String> {
        let signature = import.signature(module.make_signature());
        let declared = module.declare_function(&import.name(), Linkage::Import, &signature);
        self.next(declared.map_err(|it| it.to_string())?)
    }

    pub(super) fn table(&mut self, module: &mut JITModule, name: &str) -> Result<DataId, String> {
        let declared = module.declare_data(name, Linkage::Import, false, false);
        let declared = declared.map_err(|it| it.to_string())?;
        self.tables += 1;
        let is_next = declared.as_u32() == self.tables - 1;
        if is_next { Ok(declared) } else { Err(format!("the table {name} was declared twice")) }
    }

    /// A function that takes so many words.
    pub(super) fn function(
        &mut self,
        module: &mut JITModule,
        name: &str,
        n_words: usize,
    ) -> Result<FuncId, String> {
        let mut signature = module.make_signature();
        signature.params.extend(std::iter::repeat_n(AbiParam::new(I64), n_words));
        let declared = module.declare_function(name, Linkage::Local, &signature);
        self.next(declared.map_err(|it| it.to_string())?)
    }

    fn next(&mut self, id: FuncId) -> Result<FuncId, String> {
        self.functions += 1;
        let is_next = id.as_u32() == self.functions - 1;
        if is_next { Ok(id) } else { Err("a function was declared twice".to_owned()) }
    }
}

/// Does the work on each of them; the team shares it.
///
/// Each slot is locked once, by the thread whose range it is in. The locks are needed because a team lends
/// its closure to several threads.
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

/// The host as a module sees it: its functions and tables, and the abilities of its processor.
#[derive(Default)]
struct HostInterface {
    functions: BTreeMap<Import, FuncId>,
    tables: BTreeMap<&'static str, DataId>,
    has_fused: bool,
    wide_vectors: Option<wide::Isa>,
}

/// How one function is joined with the rest while it is translated.
struct FunctionLinker<'m> {
    module: &'m mut JITModule,
    joined: &'m HostInterface,
    declared: &'m mut DeclarationCount,
    /// All that was declared so far, for finished code to be put behind it.
    pieces: &'m mut Vec<FunctionCode>,
    /// The text of wide loops, where it is asked for.
    texts: Vec<String>,
    keeps_text: bool,
    failed: Option<String>,
}

impl Linker for FunctionLinker<'_> {
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
        let n_known = self.pieces.iter().filter(|it| !it.code.is_empty()).count();
        let name = format!("isobar_loop_{n_known}");
        match self.declared.function(self.module, &name, 1) {
            Ok(id) => {
                if self.keeps_text {
                    self.texts.push(format!("; {name}\n{body}\n"));
                }
                // Its constants are aligned within it, at multiples of 32 at most.
                let (alignment, links) = (64, Vec::new());
                self.pieces.push(FunctionCode { name, alignment, code: wide::emit(body), links });
                self.module.declare_func_in_func(id, of)
            }
            Err(why) => {
                self.failed = Some(why);
                self.module.declare_func_in_func(self.joined.functions[&Import::Raise], of)
            }
        }
    }
}

/// The functions of the host that a program may call.
///
/// All are declared before the first function is made, so that translating one needs no more than a reference
/// to them. `HostHelper::of` tells which primitives are functions of the host. Operators that are none of its
/// primitives stand here.
fn imports(program: &Program) -> Vec<Import> {
    use super::host::HostHelper;
    use isobar_compiler::expr::ExprKind;
    use isobar_compiler::types::{BinaryOp, BinaryPrimitive, Primitive};
    let mut all = std::collections::BTreeSet::from([
        Import::Raise,
        Import::RaiseLanes,
        Import::Launch,
        Import::IsBehind,
    ]);
    program.each_expr(&mut |expr| {
        expr.walk(&mut |it| {
            let helper = match &it.kind {
                ExprKind::Binary(BinaryOp::Mod, left, _) => {
                    HostHelper::of(Primitive::Binary(BinaryPrimitive::FlooredRemainder), left.dtype)
                }
                ExprKind::Binary(BinaryOp::Pow, left, _) if !left.dtype.is_float() => {
                    Some(HostHelper::IntPower)
                }
                ExprKind::Binary(BinaryOp::Div, left, _) if !left.dtype.is_float() => {
                    Some(HostHelper::Divide)
                }
                ExprKind::Call(function, arguments) => {
                    arguments.first().and_then(|it| HostHelper::of(function.primitive()?, it.dtype))
                }
                _ => None,
            };
            all.extend(helper.map(Import::Helper));
        });
    });
    all.into_iter().collect()
}
