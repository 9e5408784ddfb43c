//! From a request to a checked launch, with the inputs made or read, and nothing allocated that is too much.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, Call, Launch, bind};
use isobar_compiler::call::signature::{ParamKind, Signature};
use isobar_compiler::diag::catalog::call;
use isobar_compiler::diag::{Diagnostic, FileId, Span};
use isobar_compiler::inputs::{self, Directives};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_compiler::types::DType;
use isobar_protocol::bench::Memory;
use isobar_protocol::request::{FieldsInput, InlineField, Request};

use crate::backends::events::CallLayout;
use crate::backends::{Executor, RunThreads, in_rows};
use crate::compile::{self, ConfiguredProject};
use crate::npz::{self, NpzError};

/// Why a request is not run.
#[derive(Debug)]
pub(crate) enum Refusal {
    Call(Vec<Diagnostic>),
    /// It needs more than it may have.
    Memory {
        asked: u64,
        allowed: u64,
    },
    /// There is nothing of it that could run, though it has no errors: its compilation was told to stop before.
    Unmade,
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        Refusal::Call(vec![diagnostic])
    }
}

/// The stencil that a call is planned for.
pub(crate) trait Callable {
    /// Its signature, as a back end calls it; none where it does not compile.
    fn signature(&self, executor: &dyn Executor) -> Option<Signature>;

    /// All of its levels. A stencil that was not compiled is compiled now.
    fn compilation(&self) -> &Arc<Compilation>;

    /// Checks a call, as [`Compilation::bind`] does.
    fn bind(&self, call: Call, executor: &dyn Executor) -> Result<Launch, Vec<Diagnostic>>;

    /// The bytes that a run allocates beside its arguments, from [`Executor::workspace_bytes`]. The first
    /// number is shared by all threads; the second adds the memory of each thread.
    fn workspace_bytes(
        &self,
        executor: &dyn Executor,
        domain: Domain,
        threads: u32,
        made: &[Argument],
    ) -> [Option<u64>; 2];
}

/// The executors of a launch, and the memory that they may use.
pub(crate) struct LaunchResources<'a> {
    /// Each has arguments of its own.
    pub executors: &'a [Box<dyn Executor>],
    pub threads: u32,
    pub allowed_bytes: u64,
    /// Whether copies are measured too. Their arrays are together as large as the bytes that a call moves at
    /// least.
    pub has_copies: bool,
    /// The number of further layouts of callers that each executor is measured on, one executor after the
    /// other.
    pub layouts: usize,
    /// Waits until so many bytes may be taken.
    pub asks: fn(u64),
}

impl LaunchResources<'_> {
    /// The memory of a run whose arguments have so many bytes; the arguments may not be made yet.
    fn needed(
        &self,
        stencil: &dyn Callable,
        domain: Domain,
        arguments: u64,
        made: &[Argument],
    ) -> Result<Memory, Refusal> {
        let mut each = Vec::with_capacity(self.executors.len());
        for it in self.executors {
            let known = stencil.workspace_bytes(&**it, domain, self.threads, made);
            // It is unknown where it exceeds all numbers, and where the executor has no code.
            let of_one_point = || stencil.workspace_bytes(&**it, Domain::new(1, 1, 1), 1, &[]);
            if known.contains(&None) && of_one_point().contains(&None) {
                return Err(Refusal::Unmade);
            }
            each.push(known.map(|it| it.unwrap_or(u64::MAX)));
        }
        // One of them works at a time.
        let [workspace_bytes, together] =
            each.into_iter().fold([0, 0], |[of_all, both], it| [of_all.max(it[0]), both.max(it[1])]);
        let signature = self.executors.first().and_then(|it| stencil.signature(&**it));
        let copies = signature.map_or(0, |it| it.compulsory_bytes(domain));
        // On other layouts fields may be copied as well.
        let of_layouts = if self.layouts > 0 { self.layouts + 1 } else { 0 };
        let fields = arguments.saturating_mul((self.executors.len() + of_layouts) as u64);
        let needed = Memory {
            fields_bytes: fields.saturating_add(if self.has_copies { copies } else { 0 }),
            workspace_bytes,
            scratch_bytes: together.saturating_sub(workspace_bytes),
            threads: self.threads,
            allowed_bytes: self.allowed_bytes,
        };
        self.admit(needed.asked_bytes())?;
        (self.asks)(needed.asked_bytes());
        Ok(needed)
    }

    fn admit(&self, asked: u64) -> Result<(), Refusal> {
        let allowed = self.allowed_bytes;
        if asked > allowed { Err(Refusal::Memory { asked, allowed }) } else { Ok(()) }
    }
}

/// A call that is planned.
pub(crate) struct Planned {
    pub launch: Launch,
    /// The memory of the call.
    pub memory: Memory,
    /// The layout of the fields as they were read, where they are laid out otherwise now.
    pub read: Option<CallLayout>,
}

/// The launch of a request, with its memory; `npz` holds its fields where they are not part of the request.
pub(crate) fn launch(
    request: &Request,
    source: &ConfiguredProject,
    stencil: &dyn Callable,
    npz: Option<Vec<u8>>,
    room: &LaunchResources<'_>,
) -> Result<Planned, Refusal> {
    let executor = room.executors.first().ok_or(Refusal::Unmade)?;
    let signature = &stencil.signature(&**executor).ok_or(Refusal::Unmade)?;
    let fields = given_fields(request, npz, room)?;
    let scalars = request.scalar_inputs().map_err(Refusal::Call)?;
    let mut call = Call { fields, scalars, domain: request.domain, origin: request.origin.clone() };
    let given: u64 = call.fields.values().map(bytes).sum();
    if let Some(generators) = &request.init {
        let directives = with_overrides(&source.directives, generators, signature, &call)?;
        let domain = domain_for(request, &directives, signature, &call)?;
        let rows = compile::rows(request);
        let made = inputs::bytes_with(signature, domain, rows);
        room.needed(stencil, domain, given.saturating_add(made), &[])?;
        let near = RunThreads::of(room.threads);
        fill_in(&mut call, inputs::call_with(signature, &directives, domain, rows, &near));
    }
    let mut launch = stencil.bind(call, &**executor).map_err(Refusal::Call)?;
    // Fields that were read from a file or a request belong to the runner. It may lay them out as back ends
    // prefer.
    let read = in_rows(&signature.params, &mut launch, &RunThreads::of(room.threads));
    let memory = needed(stencil, &launch, room)?;
    Ok(Planned { launch, memory, read })
}

/// The memory of a run with these arguments.
pub(crate) fn needed(
    stencil: &dyn Callable,
    launch: &Launch,
    room: &LaunchResources<'_>,
) -> Result<Memory, Refusal> {
    let bytes_of = |it: &Argument| match it {
        Argument::Field(field) => bytes(&field.array),
        Argument::Scalar(_) | Argument::Unused => 0,
    };
    let arguments = launch.arguments.iter().map(bytes_of).sum();
    room.needed(stencil, launch.domain, arguments, &launch.arguments)
}

fn bytes(array: &Array) -> u64 {
    array.elements.bytes() as u64
}

/// Takes missing fields and scalars from `made`, fields with their origins.
fn fill_in(call: &mut Call, made: Call) {
    call.domain = call.domain.or(made.domain);
    for (name, array) in made.fields {
        if call.fields.contains_key(&name) {
            continue;
        }
        // An origin that was given is checked against the array as any other.
        if let Some(origin) = made.origin.get(&name) {
            call.origin.entry(name.clone()).or_insert_with(|| origin.clone());
        }
        call.fields.insert(name, array);
    }
    for (name, value) in made.scalars {
        call.scalars.entry(name).or_insert(value);
    }
}

/// The directives of the text, with the generators of the request before them, and none for fields that are given.
fn with_overrides(
    directives: &Directives,
    generators: &BTreeMap<String, String>,
    signature: &Signature,
    given: &Call,
) -> Result<Directives, Refusal> {
    let mut directives = directives.clone();
    let names = || signature.params.iter().map(|it| it.name.as_str());
    for (name, text) in generators {
        if !names().any(|it| it == name) {
            return Err(call::no_such_parameter(&signature.name, name, names()).into());
        }
        let generator = inputs::parse::generator(text).map_err(|why| {
            let message = format!("the generator `{text}` of `{name}` is not understood: {why}");
            let help = "write one as in `# @input`: `constant(1)`, `linear(low=0, high=1, along=k)`";
            Refusal::from(Diagnostic::without_place(call::CANNOT_READ, message).help(help))
        })?;
        directives.inputs.retain(|it| it.field != *name);
        let span = Span::new(FileId::default(), 0, 0);
        directives.inputs.push(inputs::InputDirective { field: name.clone(), generator, span });
    }
    directives.inputs.retain(|it| !given.fields.contains_key(&it.field));
    Ok(directives)
}

/// The domain of the request or of the text; else the largest that fits the fields that are given.
fn domain_for(
    request: &Request,
    directives: &Directives,
    signature: &Signature,
    call: &Call,
) -> Result<Domain, Refusal> {
    let within = |[i, j, k]: [i64; 3]| {
        let is_domain = [i, j, k].iter().all(|it| (0..=Domain::MAX_ALONG_AXIS).contains(it));
        if is_domain { Ok(Domain::new(i, j, k)) } else { Err(call::domain_out_of_range([i, j, k]).into()) }
    };
    if let Some(domain) = request.domain.or(directives.domain.filter(|_| call.fields.is_empty())) {
        return within(domain);
    }
    // Binding the given fields alone finds what fits them.
    let given = Signature {
        params: signature.params.iter().filter(|it| call.fields.contains_key(&it.name)).cloned().collect(),
        ..signature.clone()
    };
    let alone = Call { scalars: BTreeMap::new(), ..call.clone() };
    match bind(&given, alone) {
        Ok(launch) if !launch.arguments.is_empty() => Ok(launch.domain),
        _ => within(directives.domain.unwrap_or([64, 64, 40])),
    }
}

/// The arrays of the request, or of the file that came with it.
pub(crate) fn given_fields(
    request: &Request,
    npz: Option<Vec<u8>>,
    room: &LaunchResources<'_>,
) -> Result<BTreeMap<String, Array>, Refusal> {
    let mut fields = BTreeMap::new();
    if let Some(npz) = npz {
        // The file and what is read from it are there at the same time.
        let (of_file, allowed) = (npz.len() as u64, room.allowed_bytes);
        room.admit(of_file)?;
        fields = npz::read(&npz, allowed - of_file).map_err(|why| match why {
            NpzError::Damaged(why) => Refusal::from(call::cannot_read("the input fields", &why)),
            NpzError::TooLarge { asked, .. } => {
                Refusal::Memory { asked: asked.saturating_add(of_file), allowed }
            }
        })?;
    }
    if let Some(FieldsInput::Inline(inline)) = &request.fields {
        let mut wrong = Vec::new();
        for (name, field) in inline {
            match array(field) {
                Ok(array) => drop(fields.insert(name.clone(), array)),
                Err(why) => wrong.push(call::cannot_read(&format!("field `{name}`"), &why)),
            }
        }
        if !wrong.is_empty() {
            return Err(Refusal::Call(wrong));
        }
    }
    Ok(fields)
}

fn array(field: &InlineField) -> Result<Array, String> {
    let dtype = DType::from_name(&field.dtype)
        .ok_or_else(|| format!("`{}` is no type of the language", field.dtype))?;
    let data = STANDARD.decode(&field.data).map_err(|error| format!("its data is no base64: {error}"))?;
    let shape: Option<Vec<usize>> = field.shape.iter().map(|&it| usize::try_from(it).ok()).collect();
    let elements = Elements::from_le_bytes(dtype, &data);
    let array = shape.and_then(|shape| Array::from_c_order(elements, &shape));
    array
        .filter(|_| data.len() % dtype.size_bytes() == 0)
        .ok_or_else(|| format!("its {} bytes do not fill the shape {:?} of {dtype}", data.len(), field.shape))
}

/// Whether a parameter is a field, for those who list what was written.
pub(crate) fn axes_of(kind: &ParamKind) -> Option<isobar_compiler::space::AxisSet> {
    match kind {
        ParamKind::Field { axes, .. } => Some(*axes),
        ParamKind::Scalar { .. } => None,
    }
}
