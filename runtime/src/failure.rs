//! What goes wrong while a stencil gets ready or runs.

use isobar_compiler::backend::kernel::call::Refused;
use isobar_compiler::diag::StmtId;

/// Why a run ended before its end.
#[derive(Clone, Debug)]
pub enum Failure {
    Cancelled,
    OutOfMemory,
    Trap {
        message: String,
        statement: StmtId,
        cell: [i64; 3],
    },
    /// The C compiler refused; this is what it said.
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
