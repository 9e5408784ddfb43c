//! Programs that travel in two parts: what a visitor waits for, and what comes a moment later.
//!
//! Each program says in its own file how its second part is had, so that neither has that of the other in it.

use std::future::Future;
use std::pin::Pin;

/// The second part could not be loaded; another attempt may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLoadError;

#[cfg(feature = "in-two-parts")]
impl From<wasm_split_helpers::SplitLoaderError> for PartLoadError {
    fn from(_: wasm_split_helpers::SplitLoaderError) -> Self {
        PartLoadError
    }
}

/// The entries of a second part, on their way.
pub type PartFuture<T> = Pin<Box<dyn Future<Output = Result<&'static T, PartLoadError>>>>;

/// How they are had: from the file of that part, or at once where the program is whole.
pub type PartLoader<T> = fn() -> PartFuture<T>;

/// Defines `load`, a [`PartLoader`] of the entries that a function of the second part tells. The file of that
/// part is named after `$part`.
#[macro_export]
macro_rules! second_part {
    ($part:ident, $of:ty, $entries:path) => {
        #[cfg(feature = "in-two-parts")]
        #[wasm_split_helpers::wasm_split($part, fallible)]
        fn second() -> Result<&'static $of, $crate::PartLoadError> {
            Ok($entries())
        }

        #[cfg(feature = "in-two-parts")]
        fn load() -> $crate::PartFuture<$of> {
            Box::pin(second())
        }

        #[cfg(not(feature = "in-two-parts"))]
        fn load() -> $crate::PartFuture<$of> {
            Box::pin(::std::future::ready(Ok($entries())))
        }
    };
}
