//! The tests of the command and of the HTTP server from outside, as one program: linking happens once.
//!
//! `cargo test -p isobar-runner --test main http::` runs those of one module. `cargo xtask tidy` finds a file that is
//! missing here.

mod agreement;
mod bad_input;
mod budgets;
mod check_folder;
mod cli;
mod confined;
mod faults;
mod hostile;
mod http;
mod injected;
mod jobs;
mod keeping;
mod kept;
mod library;
mod load;
mod limits;
mod lsp;
mod measured;
mod observed;
mod prepared;
mod rows;
mod served;
mod soak;
mod team;
mod threads;
mod traps;
mod tuned;
