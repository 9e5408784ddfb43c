//! The program of the page's worker: a loop around the compiler.

fn main() {
    isobar_web::worker::start();
}
