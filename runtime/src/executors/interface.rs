//! The interface of generated C (`abi.h`) in memory: for generated code, and for code that a benchmark
//! measures beside it.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::AtomicI64;

use isobar_compiler::call::array::Elements;
use isobar_compiler::call::launch::FieldArgument;
use isobar_compiler::for_elements;
use isobar_compiler::space::{AxisSet, Domain};
use isobar_compiler::types::Value;

use super::cancel::Cancel;
use super::team::{Parallel, on_places};
use super::workspace::Workspace;

#[repr(C)]
#[derive(Debug)]
struct Field {
    data: *mut c_void,
    stride: [i64; 3],
    data_stride: *const i64,
    below: i64,
    above: i64,
}

/// The statement that ended a run, and where.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Trap {
    pub(super) statement: i32,
    pub(super) i: i64,
    pub(super) j: i64,
    pub(super) k: i64,
}

#[repr(C)]
struct Call {
    domain: [i64; 3],
    fields: *const Field,
    scalars: *const *const c_void,
    threads: i32,
    progress: *mut i64,
    cancel: *const i32,
    trap: *mut Trap,
    workspace: *mut c_void,
    workspace_bytes: u64,
    times: *mut f64,
}

type Function = unsafe extern "C" fn(*const Call) -> i32;

/// The threads of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallThreads {
    pub(super) number: u32,
    /// Whether each has a processor of its own, where there are as many.
    pub(super) are_placed: bool,
}

/// The entry of a library that was loaded. It stays loaded until the process ends: the threads of OpenMP outlive
/// a call and stand in code of the library's own dependencies.
#[derive(Clone, Copy, Debug)]
pub(super) struct LibraryEntry {
    function: Function,
    /// `GOMP_parallel`, which runs a function on the threads of OpenMP; none where the library does not use
    /// OpenMP.
    team: Option<Parallel>,
}

impl LibraryEntry {
    /// Loads a library.
    ///
    /// The file is of this user's own making. Either it was compiled from text that our generator made, in a
    /// folder that nobody else can write. Or it is a programmer's own kernel, which includes `abi.h`. It has
    /// no initialisers.
    #[expect(unsafe_code, reason = "this is where compiled code comes in")]
    pub(super) fn load(library: &Path, entry: &str) -> Result<Self, libloading::Error> {
        // SAFETY: see above.
        let library = unsafe { libloading::Library::new(library) }?;
        // SAFETY: `abi.h` declares the entry with this type; `Call` mirrors its argument field by field.
        let function = *unsafe { library.get::<Function>(entry.as_bytes()) }?;
        // SAFETY: both libraries of OpenMP, GCC's and LLVM's, have it with this type.
        let team = unsafe { library.get::<Parallel>(b"GOMP_parallel") }.ok().map(|it| *it);
        std::mem::forget(library);
        Ok(Self { function, team })
    }
}

/// The arguments of a call, in the order in which the code lists fields and scalars, each kind by itself.
#[derive(Debug, Default)]
pub(super) struct CArguments<'l> {
    fields: Vec<Field>,
    /// Boxed, so that the addresses in `fields` stay valid.
    data_strides: Vec<Box<[i64]>>,
    scalars: Vec<u64>,
    /// The arrays are lent for as long as this lives.
    arrays: PhantomData<&'l mut FieldArgument>,
}

impl<'l> CArguments<'l> {
    /// Adds a field.
    pub(super) fn field(&mut self, field: &'l mut FieldArgument, axes: AxisSet, domain: Domain) {
        let stride = field.strides(axes);
        let [below, above] = field.levels_beside(axes, domain);
        let of_data: Box<[i64]> = field.data_strides(axes).into();
        let data_stride = of_data.as_ptr();
        self.data_strides.push(of_data);
        let start = field.start(axes);
        let data = start_of(&mut field.array.elements, start);
        self.fields.push(Field { data, stride, data_stride, below, above });
    }

    pub(super) fn scalar(&mut self, value: Value) {
        self.scalars.push(in_memory(value));
    }

    /// Calls code with all arguments that were added, which are those that it asks for. Returns the status of
    /// the code. `times` has room for one more than there are steps, or for none.
    ///
    /// # Errors
    ///
    /// The trap that ended it.
    #[expect(unsafe_code, reason = "this is where compiled code is entered")]
    pub(super) fn call(
        &self,
        code: LibraryEntry,
        domain: Domain,
        threads: CallThreads,
        progress: Option<&AtomicI64>,
        workspace: &mut Workspace,
        times: &mut [f64],
    ) -> Result<i32, Trap> {
        let scalars: Vec<*const c_void> =
            self.scalars.iter().map(|it| std::ptr::from_ref(it).cast()).collect();
        let mut trap = Trap::default();
        // Held until the call is over.
        let cancel = Cancel::current();
        let call = Call {
            domain: [domain.i, domain.j, domain.k],
            fields: self.fields.as_ptr(),
            scalars: scalars.as_ptr(),
            threads: i32::try_from(threads.number).unwrap_or(1),
            progress: progress.map_or(std::ptr::null_mut(), AtomicI64::as_ptr),
            cancel: cancel.as_ref().map_or(std::ptr::null(), Cancel::address),
            trap: &raw mut trap,
            workspace: workspace.start().cast(),
            workspace_bytes: workspace.bytes(),
            times: if times.is_empty() { std::ptr::null_mut() } else { times.as_mut_ptr() },
        };
        // SAFETY: all pointers of `call` point to live memory for the whole of this call. `bind` checked the
        // launch: with these strides, each array holds every element that the domain and the stencil's
        // extents reach. Generated code guards run-time indices. Code that a programmer wrote for a stencil
        // reaches no other elements, which its tests check. The workspace is the caller's own. No array that
        // is written lies in another one, and nothing else touches them until the call returns.
        let run = || unsafe { (code.function)(&raw const call) };
        let status = if threads.are_placed { on_places(threads.number, code.team, run) } else { run() };
        if status == 1 { Err(trap) } else { Ok(status) }
    }
}

/// The address of the element at `start`. An array need not hold the first point of the compute domain: then
/// nothing is accessed there.
pub(super) fn start_of(elements: &mut Elements, start: i64) -> *mut c_void {
    let start = isize::try_from(start).unwrap_or(isize::MAX);
    for_elements!(elements, it => it.as_mut_ptr().wrapping_offset(start).cast())
}

/// A value as it lies in memory, followed by zeros.
fn in_memory(value: Value) -> u64 {
    let mut bytes = [0; 8];
    let mut put = |it: &[u8]| bytes[..it.len()].copy_from_slice(it);
    match value {
        Value::Bool(it) => put(&[u8::from(it)]),
        Value::Int8(it) => put(&it.to_ne_bytes()),
        Value::Int16(it) => put(&it.to_ne_bytes()),
        Value::Int32(it) => put(&it.to_ne_bytes()),
        Value::Int64(it) => put(&it.to_ne_bytes()),
        Value::Float32(it) => put(&it.to_ne_bytes()),
        Value::Float64(it) => put(&it.to_ne_bytes()),
    }
    u64::from_ne_bytes(bytes)
}
