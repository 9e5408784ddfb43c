//! The check of calls of a stencil.

use serde::{Deserialize, Serialize};

use crate::call::aliasing;
use crate::call::launch::{self, Call, Launch};
use crate::call::signature::Signature;
use crate::diag::Diagnostic;
use crate::diag::catalog::call;
use crate::oir::analysis::{TouchedPositions, touched};

/// The facts that calls of a stencil are checked against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    pub signature: Signature,
    touches: Vec<TouchedPositions>,
}

impl Contract {
    pub(super) fn new(signature: Signature, touches: Vec<TouchedPositions>) -> Self {
        Self { signature, touches }
    }

    /// Checks a call in which several parameters may be one array.
    ///
    /// # Errors
    ///
    /// The faults of the call (codes C01 to C06 and C08).
    pub fn bind_shared(&self, call: Call) -> Result<BoundLaunch, Vec<Diagnostic>> {
        let mut launch = launch::bind(&self.signature, call)?;
        let of_params = touched(&self.touches, self.signature.params.len(), launch.domain);
        launch::check_touched(&self.signature, &launch, &of_params)?;
        let shared = aliasing::shared(&self.signature, &mut launch, &of_params)?;
        Ok(BoundLaunch { launch, shared })
    }

    /// Checks a call. One array for several parameters is a fault where one of these is written.
    ///
    /// # Errors
    ///
    /// The faults of the call (codes C01 to C06 and C08).
    pub fn bind(&self, call: Call) -> Result<Launch, Vec<Diagnostic>> {
        self.bind_shared(call)?.apart(&self.signature)
    }
}

/// A checked call.
#[derive(Clone, Debug)]
pub struct BoundLaunch {
    pub launch: Launch,
    /// Pairs of parameters, by position, that share one array, where at least one of the two is written. Such
    /// a call needs a variant of the stencil without the second parameter of each pair.
    pub shared: Vec<[usize; 2]>,
}

impl BoundLaunch {
    /// The call; an error where two parameters share an array and at least one of them is written.
    fn apart(self, signature: &Signature) -> Result<Launch, Vec<Diagnostic>> {
        let name = |at: usize| signature.params[at].name.as_str();
        let wrong: Vec<_> = self.shared.iter().map(|it| call::one_array(name(it[0]), name(it[1]))).collect();
        if wrong.is_empty() { Ok(self.launch) } else { Err(wrong) }
    }
}
