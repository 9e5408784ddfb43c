//! Programs that travel in two parts: what a visitor waits for, and what comes a moment later.
//!
//! Each program says in its own file how its second part is had, so that neither has that of the other in it.

use std::future::Future;
use std::pin::Pin;

/// The second part could not be loaded; another attempt may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent;

#[cfg(feature = "in-two-parts")]
impl From<wasm_split_helpers::SplitLoaderError> for Absent {
    fn from(_: wasm_split_helpers::SplitLoaderError) -> Self {
        Absent
    }
}

/// The entries of a second part, on their way.
pub type Loading<T> = Pin<Box<dyn Future<Output = Result<&'static T, Absent>>>>;

/// How they are had: from the file of that part, or at once where the program is whole.
pub type Load<T> = fn() -> Loading<T>;

/// Defines `load`, a [`Load`] of the entries that a function of the second part tells. The file of that part is named
/// after `$part`.
#[macro_export]
macro_rules! second_part {
    ($part:ident, $of:ty, $entries:path) => {
        #[cfg(feature = "in-two-parts")]
        #[wasm_split_helpers::wasm_split($part, fallible)]
        fn second() -> Result<&'static $of, $crate::parts::Absent> {
            Ok($entries())
        }

        #[cfg(feature = "in-two-parts")]
        fn load() -> $crate::parts::Loading<$of> {
            Box::pin(second())
        }

        #[cfg(not(feature = "in-two-parts"))]
        fn load() -> $crate::parts::Loading<$of> {
            Box::pin(::std::future::ready(Ok($entries())))
        }
    };
}
