//! `isobar lsp` — an editor's language server, on standard input and output.

use lsp_server::Connection;

use super::{Outcome, Usage};
use crate::cli::LspArgs;
use crate::compile;
use crate::language::{self, Options};

pub(crate) fn lsp(args: &LspArgs) -> Result<Outcome, Usage> {
    let options = Options {
        modules: args.modules.clone(),
        precision: args.precision.as_ref().and_then(|it| it.parse().ok()).unwrap_or(64),
    };
    let (connection, threads) = Connection::stdio();
    // Deep nesting costs stack here as everywhere.
    let served =
        compile::on_large_stack(move || language::serve(&connection, options)).map_err(Usage::Wrong)?;
    served.map_err(Usage::Wrong)?;
    threads.join().map_err(|error| Usage::Wrong(error.to_string()))?;
    Ok(Outcome::Fine)
}
