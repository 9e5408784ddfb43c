//! NVRTC: CUDA C++ to machine code of NVIDIA's GPUs, in this process. It needs neither a toolkit nor a GPU.
//!
//! It is loaded at the first request. The code is for one architecture (a CUBIN), and the driver does not
//! compile it once more. So the code that runs is the code that was inspected here.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::figures::{Figures, figures};
use super::library::{Functions, NvrtcStatus};
use super::places::{LIBRARIES, NAMED, NvrtcSearch, WHEEL};

/// These options decide the bits. No operations are fused but those that a text names, and all others follow
/// IEEE 754. The last option has the log tell registers, spills and shared bytes.
pub const OPTIONS: [&str; 6] =
    ["--std=c++17", SEPARATE, "--prec-div=true", "--prec-sqrt=true", "--ftz=false", "--ptxas-options=-v"];

const SEPARATE: &str = "--fmad=false";

/// For runs that may differ from the interpreter in the last bits: products and sums become one operation.
pub const FUSED: &str = "--fmad=true";

/// For arrays with 2^31 elements or more.
pub const WIDE: &str = "--define-macro=ISOBAR_WIDE";

/// For calls whose fields all have neighbours along i side by side.
pub const UNIT: &str = "--define-macro=ISOBAR_UNIT";

/// The name of the text in messages.
const SOURCE: &CStr = c"stencil.cu";

/// The least version that supports the texts and options used here.
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
    /// NVRTC refuses the text, which is a fault of ours; this is its log.
    #[error("NVRTC refuses the text:\n{0}")]
    Refused(String),
    #[error("NVRTC fails: {0}")]
    Failed(String),
}

/// NVRTC, as this process has loaded it.
#[derive(Debug)]
pub struct Nvrtc {
    functions: Functions,
    version: (i32, i32),
    /// The path of the library; none where the loader found it by its name.
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
    /// The NVRTC that the environment leads to. It stays loaded until the process ends.
    ///
    /// # Errors
    ///
    /// Why there is none, and how to get it.
    pub fn here() -> Result<&'static Self, NvrtcError> {
        static HERE: OnceLock<Result<Nvrtc, NvrtcError>> = OnceLock::new();
        HERE.get_or_init(|| Self::load(&NvrtcSearch::of_environment())).as_ref().map_err(Clone::clone)
    }

    fn load(places: &NvrtcSearch) -> Result<Self, NvrtcError> {
        let library = places.library();
        let functions = match (&library, &places.named) {
            (Some(library), _) => Functions::of(library).map_err(NvrtcError::Unloadable)?,
            (None, Some(named)) => return Err(NvrtcError::NotThere(named.clone())),
            // The loader's folders may have one.
            (None, None) => {
                let found = LIBRARIES.iter().find_map(|it| Functions::of(Path::new(it)).ok());
                found.ok_or(NvrtcError::Missing)?
            }
        };
        let version = functions.version().map_err(failed)?;
        if version < LEAST { Err(NvrtcError::Old(version)) } else { Ok(Self { functions, version, library }) }
    }

    /// Major and minor.
    #[must_use]
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// The path of the library; none where the loader found it by its name.
    #[must_use]
    pub fn library(&self) -> Option<&Path> {
        self.library.as_deref()
    }

    /// Compiles a text for an architecture, such as `sm_90`. All its kernels are one module.
    ///
    /// # Errors
    ///
    /// Why there is no code.
    pub fn compile(&self, text: &str, arch: &str, more: &[&str]) -> Result<Cubin, NvrtcError> {
        let archs = self.functions.archs().map_err(failed)?;
        if !archs.iter().any(|it| arch.strip_prefix("sm_") == Some(&it.to_string())) {
            return Err(NvrtcError::UnknownArch { version: self.version, arch: arch.to_owned() });
        }
        let zero = |_| NvrtcError::Refused("a zero in the text".to_owned());
        let text = CString::new(text).map_err(zero)?;
        let program = self.functions.program(&text, SOURCE).map_err(failed)?;
        let is_fused = more.contains(&FUSED);
        let common = OPTIONS.iter().filter(|&&it| !(is_fused && it == SEPARATE));
        let options = std::iter::once(format!("--gpu-architecture={arch}"))
            .chain(common.chain(more).map(|&it| it.to_owned()))
            .map(|it| CString::new(it).map_err(zero))
            .collect::<Result<Vec<_>, _>>()?;
        let compiled = program.compile(&options);
        let log = String::from_utf8_lossy(&program.log().map_err(failed)?).into_owned();
        match compiled {
            Ok(()) => {}
            Err(it) if it.is_about_the_text() => return Err(NvrtcError::Refused(log)),
            Err(it) => return Err(NvrtcError::Failed(format!("{it:?}\n{log}"))),
        }
        let code = program.cubin().map_err(failed)?;
        Ok(Cubin { code, figures: figures(&log), log })
    }
}

fn failed(why: NvrtcStatus) -> NvrtcError {
    NvrtcError::Failed(format!("its answer is {}", why.0))
}
