//! NVRTC's functions, from the library that was found, even if the loader knows others of that name.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

type Program = *mut c_void;

/// `NVRTC_ERROR_COMPILATION`: NVRTC refuses the text.
const REFUSED: c_int = 6;

/// The error code that a function returned: not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NvrtcStatus(pub c_int);

impl NvrtcStatus {
    pub(super) fn is_about_the_text(self) -> bool {
        self.0 == REFUSED
    }
}

/// The functions of NVRTC that are called here. The library is never unloaded.
#[derive(Debug)]
pub(super) struct Functions {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    n_archs: unsafe extern "C" fn(*mut c_int) -> c_int,
    archs: unsafe extern "C" fn(*mut c_int) -> c_int,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    log: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    cubin_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    cubin: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    destroy: unsafe extern "C" fn(*mut Program) -> c_int,
    _library: Library,
}

impl Functions {
    /// Loads a library, by its path or by a name that the loader knows.
    #[expect(unsafe_code, reason = "a library is loaded here")]
    pub(super) fn of(library: &Path) -> Result<Self, String> {
        // SAFETY: NVRTC does nothing when it is loaded but set itself up.
        let library = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|why| why.to_string())?;
        // SAFETY: the functions have these types in every version from 11.2 on, and live as long as the library,
        // which is kept beside them.
        unsafe {
            macro_rules! named {
                ($name:literal) => {
                    *library.get($name).map_err(|why| why.to_string())?
                };
            }
            Ok(Self {
                version: named!(b"nvrtcVersion"),
                n_archs: named!(b"nvrtcGetNumSupportedArchs"),
                archs: named!(b"nvrtcGetSupportedArchs"),
                create: named!(b"nvrtcCreateProgram"),
                compile: named!(b"nvrtcCompileProgram"),
                log_size: named!(b"nvrtcGetProgramLogSize"),
                log: named!(b"nvrtcGetProgramLog"),
                cubin_size: named!(b"nvrtcGetCUBINSize"),
                cubin: named!(b"nvrtcGetCUBIN"),
                destroy: named!(b"nvrtcDestroyProgram"),
                _library: library,
            })
        }
    }

    /// Major and minor.
    #[expect(unsafe_code, reason = "NVRTC is called here")]
    pub(super) fn version(&self) -> Result<(i32, i32), NvrtcStatus> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: it writes two integers.
        did(unsafe { (self.version)(&raw mut major, &raw mut minor) })?;
        Ok((major, minor))
    }

    /// The architectures that it knows: 90 for `sm_90`.
    #[expect(unsafe_code, reason = "NVRTC is called here")]
    pub(super) fn archs(&self) -> Result<Vec<i32>, NvrtcStatus> {
        let mut n = 0;
        // SAFETY: it writes one integer.
        did(unsafe { (self.n_archs)(&raw mut n) })?;
        let mut archs = vec![0; usize::try_from(n).unwrap_or(0)];
        // SAFETY: it writes as many integers as it has told.
        did(unsafe { (self.archs)(archs.as_mut_ptr()) })?;
        Ok(archs)
    }

    /// Makes a program from a text; messages call it `name`.
    #[expect(unsafe_code, reason = "NVRTC is called here")]
    pub(super) fn program(&self, text: &CStr, name: &CStr) -> Result<NvrtcProgram<'_>, NvrtcStatus> {
        let mut program = ptr::null_mut();
        // SAFETY: it copies both texts, and there are no headers.
        did(unsafe {
            (self.create)(&raw mut program, text.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null())
        })?;
        Ok(NvrtcProgram { of: self, program })
    }
}

/// A program that is being compiled.
pub(super) struct NvrtcProgram<'a> {
    of: &'a Functions,
    program: Program,
}

impl NvrtcProgram<'_> {
    /// Compiles the program. The log is read separately, also after an error.
    #[expect(unsafe_code, reason = "NVRTC is called here")]
    pub(super) fn compile(&self, options: &[CString]) -> Result<(), NvrtcStatus> {
        let options: Vec<*const c_char> = options.iter().map(|it| it.as_ptr()).collect();
        let n = c_int::try_from(options.len()).unwrap_or(0);
        // SAFETY: the program is there until this is dropped, and so many options are.
        did(unsafe { (self.of.compile)(self.program, n, options.as_ptr()) })
    }

    pub(super) fn log(&self) -> Result<Vec<u8>, NvrtcStatus> {
        let mut log = self.told(self.of.log_size, self.of.log)?;
        log.truncate(log.iter().position(|it| *it == 0).unwrap_or(log.len()));
        Ok(log)
    }

    pub(super) fn cubin(&self) -> Result<Vec<u8>, NvrtcStatus> {
        self.told(self.of.cubin_size, self.of.cubin)
    }

    #[expect(unsafe_code, reason = "NVRTC is called here")]
    fn told(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        bytes: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, NvrtcStatus> {
        let mut n = 0;
        // SAFETY: the program is there until this is dropped; it writes one size.
        did(unsafe { size(self.program, &raw mut n) })?;
        let mut told = vec![0_u8; n];
        // SAFETY: as above; it writes as many bytes as it has told.
        did(unsafe { bytes(self.program, told.as_mut_ptr().cast()) })?;
        Ok(told)
    }
}

impl Drop for NvrtcProgram<'_> {
    #[expect(unsafe_code, reason = "NVRTC is called here")]
    fn drop(&mut self) {
        // SAFETY: it was made by `program`, and nobody else destroys it. A failure to destroy it is no harm.
        let _ = unsafe { (self.of.destroy)(&raw mut self.program) };
    }
}

fn did(answer: c_int) -> Result<(), NvrtcStatus> {
    if answer == 0 { Ok(()) } else { Err(NvrtcStatus(answer)) }
}
