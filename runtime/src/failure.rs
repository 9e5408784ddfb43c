//! The reasons why a stencil cannot be prepared, or why its run fails.

use isobar_compiler::diag::StmtId;
use isobar_compiler::kernel::call::CallRefusal;

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

impl From<CallRefusal> for Failure {
    fn from(refused: CallRefusal) -> Self {
        match refused {
            CallRefusal::OutOfMemory => Failure::OutOfMemory,
            CallRefusal::Other(why) => Failure::Machine(why),
        }
    }
}
