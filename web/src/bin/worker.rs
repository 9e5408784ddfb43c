//! The program of the page's worker: a loop around the compiler.

use isobar_web::second_part;
use isobar_web::worker::{Second, second as entries, start};

second_part!(worker, Second, entries);

fn main() {
    start(load);
}
