//! NVRTC: CUDA C++ to machine code of NVIDIA's GPUs, in this process. It needs neither a toolkit nor a GPU.

use std::ffi::{CStr, CString, c_char};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cudarc::nvrtc::result::{compile_program, create_program, destroy_program, get_program_log};
use cudarc::nvrtc::sys;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::figures::{Figures, figures};
use super::places::{NAMED, Places, WHEEL};

/// What decides the bits: no fused operations but those that a text names, and all others as IEEE 754 has them. The
/// last one has the log tell registers, spills and shared bytes.
pub const OPTIONS: [&str; 6] =
    ["--std=c++17", SEPARATE, "--prec-div=true", "--prec-sqrt=true", "--ftz=false", "--ptxas-options=-v"];

const SEPARATE: &str = "--fmad=false";

/// For runs that may differ from the interpreter in the last bits: products and sums become one operation.
pub const FUSED: &str = "--fmad=true";

/// For arrays with 2^31 elements or more.
pub const WIDE: &str = "--define-macro=ISOBAR_WIDE";

/// For calls of which all fields have neighbours along i side by side.
pub const UNIT: &str = "--define-macro=ISOBAR_UNIT";

/// What the text calls itself in messages.
const SOURCE: &CStr = c"stencil.cu";

/// The least version that knows all that is written here.
const LEAST: (i32, i32) = (12, 0);

/// Why there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NvrtcError {
    #[error(
        "no NVRTC: there is no `libnvrtc.so.12` in a toolkit, an environment of Python or the loader's folders; `pip \
         install {WHEEL}` has it, and {NAMED} may name its folder"
    )]
    Missing,
    #[error("no NVRTC: {NAMED} names `{}`, which is no such library", .0.display())]
    NotThere(PathBuf),
    #[error(
        "NVRTC does not load: {0}; `pip install {WHEEL}` has one that does, and {NAMED} may name its folder"
    )]
    Unloadable(String),
    #[error("NVRTC {}.{} is too old: {}.{} or newer is needed, and `pip install {WHEEL}` has it", .0.0, .0.1, LEAST.0, LEAST.1)]
    Old((i32, i32)),
    #[error("NVRTC {}.{} does not know {arch}: `pip install --upgrade {WHEEL}` has a newer one", .version.0, .version.1)]
    UnknownArch { version: (i32, i32), arch: String },
    /// It does not take the text, which is a fault of ours; this is what it says.
    #[error("NVRTC refuses the text:\n{0}")]
    Refused(String),
    #[error("NVRTC fails: {0}")]
    Failed(String),
}

/// NVRTC, as this process has loaded it.
#[derive(Debug)]
pub struct Nvrtc {
    version: (i32, i32),
    /// Where it was found; none where the loader knew it.
    library: Option<PathBuf>,
}

/// Machine code, and what NVRTC says of it.
#[derive(Clone, Debug)]
pub struct Cubin {
    pub code: Vec<u8>,
    pub log: String,
    /// Of each kernel, in the order of the text.
    pub figures: Vec<Figures>,
}

impl Nvrtc {
    /// The one that the environment leads to; it stays loaded until the process ends.
    ///
    /// # Errors
    ///
    /// Why there is none, and how to get it.
    pub fn here() -> Result<&'static Self, NvrtcError> {
        static HERE: OnceLock<Result<Nvrtc, NvrtcError>> = OnceLock::new();
        HERE.get_or_init(|| Self::load(&Places::of_environment())).as_ref().map_err(Clone::clone)
    }

    #[expect(unsafe_code, reason = "libraries are loaded and asked here")]
    fn load(places: &Places) -> Result<Self, NvrtcError> {
        let library = places.library();
        match (&library, &places.named) {
            (Some(library), _) => preload(library)?,
            (None, Some(named)) => return Err(NvrtcError::NotThere(named.clone())),
            (None, None) => {}
        }
        // SAFETY: it loads libraries of that name, which run no code of ours and are not unloaded while in use.
        if !unsafe { sys::is_culib_present() } {
            return Err(match library {
                Some(it) => NvrtcError::Unloadable(format!("`{}` is not known by its name", it.display())),
                None => NvrtcError::Missing,
            });
        }
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the library is there, and writes two integers.
        let told = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
        told.result().map_err(failed)?;
        let version = (major, minor);
        if version < LEAST { Err(NvrtcError::Old(version)) } else { Ok(Self { version, library }) }
    }

    /// Major and minor.
    #[must_use]
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// Where it was found; none where the loader knew it.
    #[must_use]
    pub fn library(&self) -> Option<&Path> {
        self.library.as_deref()
    }

    /// Compiles a text for an architecture, such as `sm_90`. All its kernels are one module.
    ///
    /// # Errors
    ///
    /// Why there is no code.
    #[expect(unsafe_code, reason = "NVRTC is called here")]
    pub fn compile(&self, text: &str, arch: &str, more: &[&str]) -> Result<Cubin, NvrtcError> {
        if !self.archs()?.iter().any(|it| arch.strip_prefix("sm_") == Some(&it.to_string())) {
            return Err(NvrtcError::UnknownArch { version: self.version, arch: arch.to_owned() });
        }
        let text = CString::new(text).map_err(|_| NvrtcError::Refused("a zero in the text".to_owned()))?;
        // Both strings live longer than the program.
        let program = Program(create_program(&text, Some(SOURCE)).map_err(failed)?);
        let mut options = vec![format!("--gpu-architecture={arch}")];
        let is_fused = more.contains(&FUSED);
        let common = OPTIONS.iter().filter(|&&it| !(is_fused && it == SEPARATE));
        options.extend(common.chain(more).map(|&it| it.to_owned()));
        // SAFETY: the program was made above and is destroyed at the end of this scope.
        let compiled = unsafe { compile_program(program.0, &options) };
        // SAFETY: as above.
        let log = unsafe { get_program_log(program.0) }.map_err(failed)?;
        let log: Vec<u8> = log.into_iter().map(c_char::cast_unsigned).take_while(|it| *it != 0).collect();
        let log = String::from_utf8_lossy(&log).into_owned();
        match compiled {
            Ok(()) => {}
            Err(it) if it.0 == sys::nvrtcResult::NVRTC_ERROR_COMPILATION => {
                return Err(NvrtcError::Refused(log));
            }
            Err(it) => return Err(NvrtcError::Failed(format!("{it:?}\n{log}"))),
        }
        let mut n = 0_usize;
        // SAFETY: as above; it writes one size.
        unsafe { sys::nvrtcGetCUBINSize(program.0, &raw mut n) }.result().map_err(failed)?;
        let mut code = vec![0_u8; n];
        // SAFETY: as above; it writes as many bytes as it has told.
        unsafe { sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()) }.result().map_err(failed)?;
        Ok(Cubin { code, figures: figures(&log), log })
    }

    /// The architectures that it knows: 90 for `sm_90`.
    #[expect(unsafe_code, reason = "NVRTC is called here")]
    fn archs(&self) -> Result<Vec<i32>, NvrtcError> {
        let mut n = 0;
        // SAFETY: it writes one integer.
        unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut n) }.result().map_err(failed)?;
        let mut archs = vec![0; usize::try_from(n).unwrap_or(0)];
        // SAFETY: it writes as many integers as it has told.
        unsafe { sys::nvrtcGetSupportedArchs(archs.as_mut_ptr()) }.result().map_err(failed)?;
        Ok(archs)
    }
}

/// Loads the library for good, so that whoever looks for it by its name finds this one.
#[expect(unsafe_code, reason = "libraries are loaded here")]
fn preload(library: &Path) -> Result<(), NvrtcError> {
    // SAFETY: NVRTC does nothing when it is loaded but set itself up.
    let loaded = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_GLOBAL) };
    mem::forget(loaded.map_err(|why| NvrtcError::Unloadable(why.to_string()))?);
    Ok(())
}

fn failed(why: cudarc::nvrtc::result::NvrtcError) -> NvrtcError {
    NvrtcError::Failed(format!("{:?}", why.0))
}

struct Program(sys::nvrtcProgram);

impl Drop for Program {
    #[expect(unsafe_code, reason = "NVRTC is called here")]
    fn drop(&mut self) {
        // SAFETY: it was made by `create_program`, and nobody else destroys it. That it cannot be is no harm.
        let _ = unsafe { destroy_program(self.0) };
    }
}
