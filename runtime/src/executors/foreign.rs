//! Code that was not generated behind the interface of generated code (`abi.h`): what a benchmark measures beside it.
//!
//! It is a programmer's own, as a test is; no request leads here.

use std::path::Path;

use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::signature::{ParamKind, Signature};

use super::interface::{CArguments, CallThreads, LibraryEntry};
use super::workspace::Workspace;

/// A library with an entry that has the type of generated code's.
#[derive(Clone, Copy, Debug)]
pub struct ForeignLibrary {
    code: LibraryEntry,
}

impl ForeignLibrary {
    /// Loads a library that has this entry. It stays loaded until the process ends, as its threads do.
    ///
    /// # Errors
    ///
    /// A sentence.
    pub fn load(library: &Path, entry: &str) -> Result<Self, String> {
        let code =
            LibraryEntry::load(library, entry).map_err(|error| format!("{}: {error}", library.display()))?;
        Ok(Self { code })
    }

    /// Calls it. `order` has the positions of the parameters that it takes, each once, as it takes them: fields and
    /// scalars each in their own order.
    ///
    /// # Errors
    ///
    /// The status that it ended with, in a sentence.
    pub fn call(
        &self,
        signature: &Signature,
        order: &[usize],
        launch: &mut Launch,
        threads: u32,
    ) -> Result<(), String> {
        let domain = launch.domain;
        let mut arguments: Vec<Option<&mut Argument>> = launch.arguments.iter_mut().map(Some).collect();
        let mut passed = CArguments::default();
        for &at in order {
            let param = &signature.params[at];
            let is_passed = match (&param.kind, arguments[at].take()) {
                (&ParamKind::Field { axes, .. }, Some(Argument::Field(field))) => {
                    passed.field(field, axes, domain);
                    true
                }
                (ParamKind::Scalar { .. }, Some(Argument::Scalar(value))) => {
                    passed.scalar(*value);
                    true
                }
                _ => false,
            };
            if !is_passed {
                return Err(format!("`{}` was not passed", param.name));
            }
        }
        let threads = CallThreads { number: threads, are_placed: true };
        match passed.call(self.code, domain, threads, None, &mut Workspace::default(), &mut []) {
            Ok(0) => Ok(()),
            Ok(2) => Err("it found no memory".to_owned()),
            Ok(status) => Err(format!("it ended with status {status}")),
            Err(_) => Err("it ended at a statement".to_owned()),
        }
    }
}
