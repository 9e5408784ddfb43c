//! The reasons why a stencil cannot be prepared, or why its run fails.

use isobar_compiler::backend::kernel::call::Refused;
use isobar_compiler::diag::StmtId;

/// Why a run ended early.
#[derive(Clone, Debug)]
pub enum Failure {
    Cancelled,
    OutOfMemory,
    Trap {
        message: String,
        statement: StmtId,
        cell: [i64; 3],
    },
    /// The C compiler refused the code, with this message.
    Code(String),
    Machine(String),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::OutOfMemory => Failure::OutOfMemory,
            Refused::Other(why) => Failure::Machine(why),
        }
    }
}
