//! A program as machine code in this process.

use std::collections::BTreeMap;

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, FuncRef};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, isa::OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module};
use isobar_compiler::backend::code::Program;

use super::host::{Code, Import, Site};
use super::shape::Shape;
use super::translate::{Shared, Spread, translate};

/// Machine code for one program and one shape.
pub(super) struct Machine {
    /// Owns the code.
    module: Option<JITModule>,
    /// By position in the program's functions.
    pub(super) functions: Vec<Code>,
    pub(super) sites: Vec<Site>,
    pub(super) launches: Vec<Spread>,
    /// The text of each function before it became machine code.
    pub(super) text: String,
}

impl Drop for Machine {
    #[expect(unsafe_code, reason = "this is where generated code ends")]
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
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

/// Whether machine code can be made here.
///
/// # Errors
///
/// Why not.
pub(super) fn check() -> Result<String, String> {
    Ok(processor()?.triple().to_string())
}

impl Machine {
    /// Makes code of a program for arrays of this shape.
    ///
    /// # Errors
    ///
    /// What the code generator says; that is a fault of ours.
    pub(super) fn new(
        program: &Program,
        shape: &Shape,
        max_turns: u64,
        keeps_text: bool,
    ) -> Result<Self, String> {
        let isa = processor()?;
        let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        builder.symbol_lookup_fn(Box::new(|_| None));
        let all = imports(program);
        for &import in &all {
            builder.symbol(import.name(), import.address());
        }
        let mut module = JITModule::new(builder);
        let mut imported: BTreeMap<Import, FuncId> = BTreeMap::new();
        for import in all {
            let signature = import.signature(module.make_signature());
            let declared = module.declare_function(&import.name(), Linkage::Import, &signature);
            imported.insert(import, declared.map_err(|it| it.to_string())?);
        }
        let mut signature = module.make_signature();
        signature.params.extend([AbiParam::new(I64); 3]);
        let config = module.target_config();
        let mut shared = Shared { program, shape, sites: Vec::new(), launches: Vec::new(), max_turns };
        let mut buffers = FunctionBuilderContext::new();
        let mut context = Context::new();
        let (mut ids, mut text) = (Vec::new(), String::new());
        for function in &program.functions {
            let declared = module.declare_function(&function.name, Linkage::Local, &signature);
            let id = declared.map_err(|it| it.to_string())?;
            context.func.signature = signature.clone();
            let builder = FunctionBuilder::new(&mut context.func, &mut buffers);
            let mut import = |builder: &mut FunctionBuilder<'_>, import: Import| -> FuncRef {
                module.declare_func_in_func(imported[&import], builder.func)
            };
            translate(builder, &mut shared, &mut import, function, config);
            if keeps_text {
                text.push_str(&format!("; {}\n{}\n", function.name, context.func.display()));
            }
            module.define_function(id, &mut context).map_err(|it| format!("{it:?}"))?;
            module.clear_context(&mut context);
            ids.push(id);
        }
        module.finalize_definitions().map_err(|it| it.to_string())?;
        let functions = ids.into_iter().map(|id| code(module.get_finalized_function(id))).collect();
        let Shared { sites, launches, .. } = shared;
        Ok(Self { module: Some(module), functions, sites, launches, text })
    }
}

#[expect(unsafe_code, reason = "this is where generated code comes in")]
fn code(address: *const u8) -> Code {
    // SAFETY: the function was defined with this signature, and its module stays until nobody can call it.
    unsafe { std::mem::transmute::<*const u8, Code>(address) }
}

/// What functions of a program may call.
fn imports(program: &Program) -> Vec<Import> {
    use super::host::Helper;
    use isobar_compiler::expr::ExprKind;
    use isobar_compiler::types::{BinaryOp, DType, Function};
    let mut all = std::collections::BTreeSet::from([Import::Raise, Import::Launch]);
    program.each_expr(&mut |expr| {
        expr.walk(&mut |it| {
            let helpers: &[Helper] = match &it.kind {
                ExprKind::Binary(BinaryOp::Pow, left, _) if left.dtype.is_float() => {
                    &[Helper::Power(left.dtype)]
                }
                ExprKind::Binary(BinaryOp::Mod, left, _) if left.dtype.is_float() => {
                    &[Helper::Float(Function::Mod, left.dtype)]
                }
                ExprKind::Binary(BinaryOp::Pow, ..) => &[Helper::IntPower],
                ExprKind::Binary(BinaryOp::Mod, ..) => &[Helper::Modulo],
                ExprKind::Binary(BinaryOp::Div, ..) => &[Helper::Divide],
                ExprKind::Call(function, arguments) => {
                    let dtype = arguments.first().map_or(DType::Float64, |it| it.dtype);
                    if dtype.is_float() {
                        &[Helper::Float(*function, dtype)]
                    } else {
                        &[Helper::Modulo, Helper::ModuloOfC]
                    }
                }
                _ => &[],
            };
            all.extend(helpers.iter().map(|&it| Import::Helper(it)));
        });
    });
    all.into_iter().collect()
}
