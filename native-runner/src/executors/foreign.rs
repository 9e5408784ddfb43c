//! Code that was not generated behind the interface of generated code (`abi.h`): what a benchmark measures beside it.
//!
//! It is a programmer's own, as a test is; no request leads here.

use std::ffi::c_void;
use std::path::Path;

use isobar_compiler::backend::array::Elements;
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::signature::{ParamKind, Signature};
use isobar_compiler::for_elements;

/// A library with an entry that has the type of generated code's.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    entry: Entry,
}

type Entry = unsafe extern "C" fn(*const CCall) -> i32;

#[repr(C)]
struct CField {
    data: *mut c_void,
    stride: [i64; 3],
    data_stride: *const i64,
    below: i64,
    above: i64,
}

#[repr(C)]
#[derive(Default)]
struct CTrap {
    statement: i32,
    i: i64,
    j: i64,
    k: i64,
}

#[repr(C)]
struct CCall {
    domain: [i64; 3],
    fields: *const CField,
    scalars: *const *const c_void,
    threads: i32,
    progress: *mut i64,
    cancel: *const i32,
    trap: *mut CTrap,
    times: *mut f64,
}

impl Foreign {
    /// Loads a library that has this entry. It stays loaded until the process ends, as its threads do.
    ///
    /// # Errors
    ///
    /// A sentence.
    #[expect(unsafe_code, reason = "this is where the code of a benchmark comes in")]
    pub fn load(library: &Path, entry: &str) -> Result<Self, String> {
        let failed = |error: libloading::Error| format!("{}: {error}", library.display());
        // SAFETY: the file is the caller's own, made from a text that includes `abi.h`; it has no initialisers.
        let library = unsafe { libloading::Library::new(library) }.map_err(failed)?;
        // SAFETY: `abi.h`, which the text includes, declares the entry with this type.
        let entry = *unsafe { library.get::<Entry>(entry.as_bytes()) }.map_err(failed)?;
        std::mem::forget(library);
        Ok(Self { entry })
    }

    /// Calls it. `order` has the positions of the parameters that it takes, as it takes them: fields and scalars
    /// each in their own order.
    ///
    /// # Errors
    ///
    /// The status that it ended with, in a sentence.
    #[expect(unsafe_code, reason = "this is where the code of a benchmark is entered")]
    pub fn call(
        &self,
        signature: &Signature,
        order: &[usize],
        launch: &mut Launch,
        threads: u32,
    ) -> Result<(), String> {
        let domain = launch.domain;
        let (mut fields, mut values, mut data_strides) = (Vec::new(), Vec::new(), Vec::new());
        for &at in order {
            match (&signature.params[at].kind, &mut launch.arguments[at]) {
                (&ParamKind::Field { axes, .. }, Argument::Field(field)) => {
                    let signed = |it: usize| i64::try_from(it).unwrap_or(i64::MAX);
                    let of_data: Box<[i64]> = field.data_strides(axes).iter().map(|&it| signed(it)).collect();
                    let [below, above] = field.levels_beside(axes, domain);
                    let (stride, start) = (field.strides(axes).map(signed), field.start(axes));
                    let data = for_elements!(&mut field.array.elements, it => start_of(it, start))
                        .ok_or_else(|| "a field has no elements".to_owned())?;
                    fields.push(CField { data, stride, data_stride: of_data.as_ptr(), below, above });
                    data_strides.push(of_data);
                }
                (ParamKind::Scalar { .. }, Argument::Scalar(value)) => {
                    values.push(Elements::filled(*value, 1))
                }
                _ => return Err(format!("`{}` was not passed", signature.params[at].name)),
            }
        }
        let address = |it: &Elements| for_elements!(it, it => it.as_ptr().cast());
        let scalars: Vec<*const c_void> = values.iter().map(address).collect();
        let mut trap = CTrap::default();
        let call = CCall {
            domain: [domain.i, domain.j, domain.k],
            fields: fields.as_ptr(),
            scalars: scalars.as_ptr(),
            threads: i32::try_from(threads).unwrap_or(1),
            progress: std::ptr::null_mut(),
            cancel: std::ptr::null(),
            trap: &raw mut trap,
            times: std::ptr::null_mut(),
        };
        // SAFETY: all pointers of `call` point to live memory for the whole of this call. The launch was checked by
        // `bind`: each array holds every element that the stencil reaches, and the code of a benchmark, which is
        // written for that stencil and compared with the interpreter, reaches no other.
        match unsafe { (self.entry)(&raw const call) } {
            0 => Ok(()),
            2 => Err("it found no memory".to_owned()),
            status => Err(format!("it ended with status {status}")),
        }
    }
}

/// The address of the element at `start`; `None` where there is no such element.
fn start_of<T>(elements: &mut [T], start: usize) -> Option<*mut c_void> {
    elements.get_mut(start..).map(|it| it.as_mut_ptr().cast())
}
