//! Why the worker has no result, as data: the page says it in the language of its reader.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fields::NotThere;

/// Why there is no result. Shown, it is English.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A message of another source, such as a diagnostic or the browser.
    Said(String),
    /// The text has errors, which stand beside this.
    HasErrors,
    Stopped,
    /// The fields take so many MiB, and a tab has so many.
    TooLarge {
        needed: u64,
        most: u64,
    },
    ScalarIsNoNumber,
    ScalarUnusable,
    NotCallable,
    /// The generator of a field, and what is wrong with it.
    Generator {
        field: String,
        text: String,
        said: String,
    },
    /// A statement ended the run: its line, and the time step where there are several.
    Trap {
        line: u32,
        step: Option<u64>,
        said: Box<Why>,
    },
    /// A kernel of a GPU left its field, or does not end.
    IndexLeaves,
    NoWebGpu,
    NoGpu,
    /// The browser's interface lacks this.
    GpuLacks(String),
    /// It refused this, with its words.
    GpuRefused {
        name: Option<String>,
        said: String,
    },
    GpuLost(String),
    TooManyArrays {
        arrays: u64,
        most: u64,
    },
    NoImmediates,
    /// A field or a plane of it cannot be shown.
    NotShown {
        field: String,
        said: String,
    },
    /// A field is in one of the two results only.
    InOneOnly(String),
    NothingToCompare,
    /// The second part of the worker's program did not come.
    PartMissing,
}

impl From<String> for Why {
    fn from(said: String) -> Self {
        Why::Said(said)
    }
}

impl From<NotThere> for Why {
    fn from(NotThere(said): NotThere) -> Self {
        Why::Said(said)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Why::Said(said) => said,
            Why::HasErrors => "the text has errors",
            Why::Stopped => "the run was stopped",
            Why::TooLarge { needed, most } => {
                return write!(
                    f,
                    "the fields of this run take {needed} MiB, and a tab has {most} MiB for them; choose a smaller domain"
                );
            }
            Why::ScalarIsNoNumber => "a scalar is no number",
            Why::ScalarUnusable => "a scalar cannot be used",
            Why::NotCallable => "the stencil cannot be called so",
            Why::Generator { field, text, said } => {
                return write!(f, "the generator `{text}` of `{field}` is not understood: {said}");
            }
            Why::Trap { line, step: None, said } => return write!(f, "line {line}: {said}"),
            Why::Trap { line, step: Some(step), said } => {
                return write!(f, "line {line}: {said} in step {step}");
            }
            Why::IndexLeaves => "an index that is computed here leaves its field, or a `while` does not end",
            Why::NoWebGpu => {
                "this browser has no WebGPU; its own pages tell how to turn it on, and Chrome, Edge, Firefox and Safari \
                 of today have it on most machines"
            }
            Why::NoGpu => "this browser has WebGPU, and finds no GPU for it on this machine",
            Why::GpuLacks(name) => return write!(f, "the WebGPU of this browser has no `{name}`"),
            Why::GpuRefused { name: None, said } => return write!(f, "the GPU refused: {said}"),
            Why::GpuRefused { name: Some(name), said } => {
                return write!(f, "the GPU refused `{name}`: {said}");
            }
            Why::GpuLost(said) => return write!(f, "the GPU was lost: {said}"),
            Why::TooManyArrays { arrays, most } => {
                return write!(
                    f,
                    "the stencil has {arrays} kinds of arrays, and this GPU lets a kernel use {most} buffers"
                );
            }
            Why::NoImmediates => {
                "this stencil needs a launch for each level, which this browser cannot tell kernels apart by; its \
                 immediates are missing"
            }
            Why::NotShown { field, said } => return write!(f, "`{field}` cannot be shown: {said}"),
            Why::InOneOnly(field) => {
                return write!(f, "`{field}` is in one of the two results only; run both again");
            }
            Why::NothingToCompare => "there are no two results to compare yet",
            Why::PartMissing => {
                "a part of the compiler could not be loaded; it is asked for again when it is needed"
            }
        };
        f.write_str(text)
    }
}
