//! WebGPU, as the worker uses it: the browser's own interface, by name.
//!
//! The interface is young, and its Rust names are not settled; what is called here is what its standard says. Whatever
//! is missing is a sentence, and nothing else in the page changes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use isobar_compiler::call::launch::Argument;
use isobar_compiler::entity::SideTable;
use isobar_compiler::kernel::call::{ArrayArgument, CallRefusal, ended, places};
use isobar_compiler::loops::nodes;
use isobar_compiler::pass::Timer;
use isobar_compiler::pipeline::{Compilation, Hook};
use isobar_compiler::wgsl::elements::{sent, take};
use isobar_compiler::wgsl::plan::{BufferPlan, DeviceLimits, Plan, is_unit};
use isobar_compiler::wgsl::{self, Binding, Doubles, WgslOptions};
use isobar_protocol::compile::StepTime;
use isobar_protocol::why::Why;
use isobar_protocol::worker::{AnswerBody, OnGpu};
use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use isobar_worker_first::compile::{StencilCall, step};
use isobar_worker_first::worker::GpuRunResult;

/// `GPUBufferUsage`, as the standard numbers it.
const MAP_READ: u32 = 1;
const COPY_SRC: u32 = 4;
const COPY_DST: u32 = 8;
const STORAGE: u32 = 128;
/// `GPUMapMode.READ`
const READ: u32 = 1;

/// A device of the browser.
struct Gpu {
    device: JsValue,
    name: Option<String>,
    limits: JsValue,
    /// Why it went away, once it has.
    lost: Rc<RefCell<Option<String>>>,
}

/// Runs a call with doubles as pairs of words, which gives the bits of `debug`; `is_fast`, with singles in place of
/// doubles.
///
/// # Errors
///
/// The answer that says why there is no result.
pub async fn run(
    mut call: StencilCall,
    compilation: Arc<Compilation>,
    is_fast: bool,
    mut timer: Timer<fn() -> f64>,
) -> Result<GpuRunResult, AnswerBody> {
    let gpu = match Gpu::open().await {
        Ok(gpu) => gpu,
        Err(why) => return Err(call.refused(why, &[])),
    };
    match gpu.ran(&mut call, &compilation, (is_fast, &mut timer)).await {
        Ok(()) => {
            let timings = call.measured(StepTime::of(&timer.into_times()));
            Ok(GpuRunResult { fields: call.written(), timings, gpu: OnGpu { is_fast, name: gpu.name } })
        }
        Err(GpuRunError::Refused(why)) => Err(call.refused(why, &[])),
        Err(GpuRunError::At(said)) => Err(*said),
    }
}

/// Why there is no result.
enum GpuRunError {
    Refused(Why),
    At(Box<AnswerBody>),
}

impl From<Why> for GpuRunError {
    fn from(why: Why) -> Self {
        GpuRunError::Refused(why)
    }
}

impl From<CallRefusal> for GpuRunError {
    fn from(refused: CallRefusal) -> Self {
        GpuRunError::Refused(Why::Said(refused.to_string()))
    }
}

impl Gpu {
    /// The browser's first choice.
    async fn open() -> Result<Self, Why> {
        let gpu = get(&get(&js_sys::global(), "navigator"), "gpu");
        if gpu.is_undefined() {
            return Err(Why::NoWebGpu);
        }
        let adapter = awaited(&gpu, "requestAdapter", &[]).await?;
        if adapter.is_null() || adapter.is_undefined() {
            return Err(Why::NoGpu);
        }
        let limits = get(&adapter, "limits");
        let required = object(&[]);
        for name in [
            "maxStorageBuffersPerShaderStage",
            "maxStorageBufferBindingSize",
            "maxBufferSize",
            "maxComputeWorkgroupStorageSize",
        ] {
            set(&required, name, &get(&limits, name));
        }
        let wanted = object(&[("requiredLimits", required)]);
        let device = awaited(&adapter, "requestDevice", &[wanted]).await?;
        let info = get(&adapter, "info");
        let words = ["vendor", "architecture", "description"].map(|it| get(&info, it).as_string());
        let mut words: Vec<String> = words.into_iter().flatten().filter(|it| !it.is_empty()).collect();
        words.dedup();
        let name = (!words.is_empty()).then(|| words.join(" "));
        let lost = Rc::new(RefCell::new(None));
        let note = Rc::clone(&lost);
        let on_loss = Closure::once_into_js(move |it: JsValue| {
            let message = get(&it, "message").as_string().unwrap_or_default();
            *note.borrow_mut() = Some(message);
        });
        // It is told by a promise that the device keeps.
        let _ = call(&get(&device, "lost"), "then", &[on_loss]);
        let limits = get(&device, "limits");
        Ok(Self { device, name, limits, lost })
    }

    fn limit(&self, name: &str) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "limits are whole numbers"
        )]
        let limit = get(&self.limits, name).as_f64().map_or(0, |it| it as u64);
        limit
    }

    /// Carries out a call, and leaves in its fields what the kernels wrote.
    async fn ran(
        &self,
        call_: &mut StencilCall,
        compilation: &Compilation,
        (is_fast, timer): (bool, &mut Timer<fn() -> f64>),
    ) -> Result<(), GpuRunError> {
        let (Some(kernels), Some(signature)) = (compilation.kernels(), &compilation.front.signature) else {
            return Err(Why::HasErrors.into());
        };
        if call_.launch.domain.points() == 0 {
            return Ok(());
        }
        let places = places(kernels, signature);
        let buffers = self.limit("maxStorageBuffersPerShaderStage");
        let options = WgslOptions {
            doubles: if is_fast { Doubles::Singles } else { Doubles::Pairs },
            keeps: !is_fast,
            divides: !is_fast,
            buffers: u32::try_from(buffers).unwrap_or(8),
            shared_bytes: u32::try_from(self.limit("maxComputeWorkgroupStorageSize")).unwrap_or(16 << 10),
            is_unit: is_unit(&places, &call_.launch),
            levels: u32::try_from(call_.launch.domain.k).ok(),
        };
        timer.begin(step("wgsl"));
        let artifact = wgsl::generate(kernels, &options);
        timer.end(step("wgsl"));
        let n_buffers = artifact.bindings.len() as u64;
        if n_buffers > buffers {
            return Err(Why::TooManyArrays { arrays: n_buffers, most: buffers }.into());
        }
        let most = DeviceLimits {
            bytes: self.limit("maxStorageBufferBindingSize").min(self.limit("maxBufferSize")),
            blocks: u32::try_from(self.limit("maxComputeWorkgroupsPerDimension")).unwrap_or(65_535),
        };
        let plan = Plan::of(kernels, &artifact, &places, &call_.launch, most)?;

        timer.begin(step("pipelines"));
        for scope in ["validation", "out-of-memory"] {
            call(&self.device, "pushErrorScope", &[scope.into()])?;
        }
        let code = object(&[("code", artifact.listing.text.as_str().into())]);
        let module = call(&self.device, "createShaderModule", &[code])?;
        let layout = self.layout(&artifact.bindings)?;
        let mut of_pipelines = vec![("bindGroupLayouts", Array::of1(&layout).into())];
        if artifact.immediate_bytes > 0 {
            of_pipelines.push(("immediateSize", artifact.immediate_bytes.into()));
        }
        let of_pipelines = call(&self.device, "createPipelineLayout", &[object(&of_pipelines)])?;
        let mut pipelines = Vec::new();
        for it in &artifact.entries {
            let stage = object(&[("module", module.clone()), ("entryPoint", it.name.as_str().into())]);
            let wanted = object(&[("layout", of_pipelines.clone()), ("compute", stage)]);
            pipelines.push(awaited(&self.device, "createComputePipelineAsync", &[wanted]).await?);
        }
        timer.end(step("pipelines"));

        timer.begin(step("upload"));
        let bytes_of = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
        let slots = vec![u32::MAX; kernels.places.len()];
        let mut held = Vec::new();
        for (at, binding) in artifact.bindings.iter().enumerate() {
            let bytes = match binding {
                Binding::Sizes => bytes_of(&plan.words),
                Binding::Tables => artifact.tables.entries.iter().flat_map(|it| it.to_le_bytes()).collect(),
                Binding::Traps => bytes_of(&slots),
                Binding::Arrays { .. } => {
                    let none = BufferPlan::default();
                    let packed = plan.buffers.get(&at).unwrap_or(&none);
                    self.packed(packed, call_, &places, &options, kernels)
                }
            };
            held.push(self.buffer(&bytes)?);
        }
        let entries = Array::new();
        for (at, buffer) in held.iter().enumerate() {
            let resource = object(&[("buffer", buffer.clone())]);
            entries.push(&object(&[("binding", number(at)), ("resource", resource)]));
        }
        let group = object(&[("layout", layout), ("entries", entries.into())]);
        let group = call(&self.device, "createBindGroup", &[group])?;
        timer.end(step("upload"));

        let name = if is_fast { "webgpu-fast" } else { "webgpu" };
        timer.begin(step(name));
        let encoder = call(&self.device, "createCommandEncoder", &[])?;
        let pass = call(&encoder, "beginComputePass", &[])?;
        call(&pass, "setBindGroup", &[0.into(), group])?;
        if artifact.immediate_bytes > 0 && !get(&pass, "setImmediates").is_function() {
            return Err(Why::NoImmediates.into());
        }
        for it in &plan.launches {
            call(&pass, "setPipeline", &[pipelines[it.kernel].clone()])?;
            if artifact.immediate_bytes > 0 {
                let mut positions = it.positions.clone();
                positions.resize(usize::try_from(artifact.immediate_bytes / 4).unwrap_or(0), 0);
                let words = js_sys::Int32Array::from(positions.as_slice());
                call(&pass, "setImmediates", &[0.into(), words.into()])?;
            }
            call(&pass, "dispatchWorkgroups", &it.blocks.map(JsValue::from))?;
        }
        call(&pass, "end", &[])?;
        let commands = call(&encoder, "finish", &[])?;
        let queue = get(&self.device, "queue");
        call(&queue, "submit", &[Array::of1(&commands).into()])?;
        awaited(&queue, "onSubmittedWorkDone", &[]).await?;
        timer.end(step(name));
        for _ in 0..2 {
            let error = awaited(&self.device, "popErrorScope", &[]).await?;
            if !error.is_null() && !error.is_undefined() {
                let message = get(&error, "message").as_string().unwrap_or_default();
                return Err(Why::GpuRefused { name: None, said: short(&message) }.into());
            }
        }
        if let Some(why) = self.lost.borrow().as_ref() {
            return Err(Why::GpuLost(short(why)).into());
        }

        timer.begin(step("download"));
        let at = artifact.bindings.iter().position(|it| *it == Binding::Traps);
        if let Some(at) = at.filter(|_| !slots.is_empty()) {
            let bytes = self.read(&held[at], 4 * slots.len()).await?;
            let word = |it: &[u8]| u32::from_le_bytes([it[0], it[1], it[2], it[3]]);
            let slots: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
            if let Some((statement, cell)) = ended(kernels, &slots, call_.launch.domain) {
                let mut origin = None;
                for kernel in &kernels.kernels {
                    kernel.walk(&mut |item| {
                        isobar_compiler::loops::visit::each_origin(std::slice::from_ref(item), &mut |it| {
                            if it.stmt == statement {
                                origin.get_or_insert_with(|| it.clone());
                            }
                        });
                    });
                }
                return Err(match origin {
                    Some(origin) => {
                        GpuRunError::At(Box::new(call_.trapped(Why::IndexLeaves, None, &origin, cell)))
                    }
                    None => GpuRunError::Refused(Why::IndexLeaves),
                });
            }
        }
        for (binding, packed) in plan.buffers.iter().filter(|it| it.1.is_written && !it.1.is_own) {
            let bytes = self.read(&held[*binding], usize::try_from(packed.bytes).unwrap_or(0)).await?;
            for it in &packed.arrays {
                let position = places.get(it.array).map(|it| it.position);
                let argument = position.and_then(|it| call_.launch.arguments.get_mut(it));
                let Some(Argument::Field(field)) = argument else { continue };
                let size = usize::try_from(options.element_bytes(field.array.dtype())).unwrap_or(8);
                let first = usize::try_from(it.first).unwrap_or(0) * size;
                take(&mut field.array.elements, bytes.get(first..).unwrap_or_default(), &options);
            }
        }
        timer.end(step("download"));
        // The tab has it back at once, and not when somebody collects what nobody uses.
        call(&self.device, "destroy", &[])?;
        Ok(())
    }

    fn layout(&self, bindings: &[Binding]) -> Result<JsValue, Why> {
        let entries = Array::new();
        for (at, binding) in bindings.iter().enumerate() {
            let is_read = match binding {
                Binding::Sizes | Binding::Tables => true,
                Binding::Traps => false,
                Binding::Arrays { is_written, .. } => !is_written,
            };
            let kind = if is_read { "read-only-storage" } else { "storage" };
            let buffer = object(&[("type", kind.into())]);
            // `GPUShaderStage.COMPUTE`
            entries.push(&object(&[("binding", number(at)), ("visibility", 4.into()), ("buffer", buffer)]));
        }
        call(&self.device, "createBindGroupLayout", &[object(&[("entries", entries.into())])])
    }

    /// The initial bytes of a buffer of arrays: the elements of the call's fields, and zeros elsewhere.
    fn packed(
        &self,
        packed: &BufferPlan,
        call: &StencilCall,
        places: &SideTable<nodes::Array, ArrayArgument>,
        options: &WgslOptions,
        kernels: &isobar_compiler::kernel::Kernels,
    ) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(packed.bytes).unwrap_or(0)];
        for it in packed.arrays.iter().filter(|_| !packed.is_own) {
            let argument = places.get(it.array).and_then(|it| call.launch.arguments.get(it.position));
            let Some(Argument::Field(field)) = argument else { continue };
            let size = options.element_bytes(kernels.program.arrays[it.array].dtype);
            let first = usize::try_from(it.first * size).unwrap_or(0);
            let own = sent(&field.array.elements, options);
            let n = own.len().min(bytes.len().saturating_sub(first));
            bytes[first..first + n].copy_from_slice(&own[..n]);
        }
        bytes
    }

    /// A buffer with these bytes.
    fn buffer(&self, bytes: &[u8]) -> Result<JsValue, Why> {
        let size = bytes.len().next_multiple_of(4).max(16);
        let usage = STORAGE | COPY_SRC | COPY_DST;
        let wanted = object(&[("size", number(size)), ("usage", usage.into())]);
        let buffer = call(&self.device, "createBuffer", &[wanted])?;
        if !bytes.is_empty() {
            let mut whole = bytes.to_vec();
            whole.resize(bytes.len().next_multiple_of(4), 0);
            let data = Uint8Array::from(whole.as_slice());
            call(&get(&self.device, "queue"), "writeBuffer", &[buffer.clone(), 0.into(), data.into()])?;
        }
        Ok(buffer)
    }

    async fn read(&self, buffer: &JsValue, n: usize) -> Result<Vec<u8>, Why> {
        let size = n.next_multiple_of(4).max(4);
        let wanted = object(&[("size", number(size)), ("usage", (MAP_READ | COPY_DST).into())]);
        let back = call(&self.device, "createBuffer", &[wanted])?;
        let encoder = call(&self.device, "createCommandEncoder", &[])?;
        let copied = [buffer.clone(), 0.into(), back.clone(), 0.into(), number(size)];
        call(&encoder, "copyBufferToBuffer", &copied)?;
        let commands = call(&encoder, "finish", &[])?;
        call(&get(&self.device, "queue"), "submit", &[Array::of1(&commands).into()])?;
        awaited(&back, "mapAsync", &[READ.into()]).await?;
        let range = call(&back, "getMappedRange", &[])?;
        let mut bytes = Uint8Array::new(&range).to_vec();
        call(&back, "unmap", &[])?;
        call(&back, "destroy", &[])?;
        bytes.truncate(n);
        Ok(bytes)
    }
}

fn number(n: usize) -> JsValue {
    #[expect(clippy::cast_precision_loss, reason = "no buffer has so many bytes")]
    let number = n as f64;
    number.into()
}

fn object(entries: &[(&str, JsValue)]) -> JsValue {
    let object: JsValue = Object::new().into();
    entries.iter().for_each(|(name, value)| set(&object, name, value));
    object
}

fn set(object: &JsValue, name: &str, value: &JsValue) {
    // A plain object takes everything.
    let _ = Reflect::set(object, &name.into(), value);
}

fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

/// Calls a method; what it throws is told.
fn call(object: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue, Why> {
    let method = get(object, name).dyn_into::<Function>();
    let method = method.map_err(|_| Why::GpuLacks(name.to_owned()))?;
    let all: Array = arguments.iter().collect();
    Reflect::apply(&method, object, &all).map_err(|it| said(name, &it))
}

async fn awaited(object: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue, Why> {
    let promise: Promise = call(object, name, arguments)?.unchecked_into();
    JsFuture::from(promise).await.map_err(|it| said(name, &it))
}

fn said(name: &str, error: &JsValue) -> Why {
    let message = get(error, "message").as_string().unwrap_or_default();
    Why::GpuRefused { name: Some(name.to_owned()), said: short(&message) }
}

/// Its first lines: what a browser says of a shader may be long.
fn short(message: &str) -> String {
    message.lines().take(6).collect::<Vec<_>>().join(" ").chars().take(600).collect()
}
