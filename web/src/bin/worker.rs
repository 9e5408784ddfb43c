//! The program of the page's worker: a loop around the compiler.

#[cfg(target_arch = "wasm32")]
mod worker {
    use isobar_parts::second_part;
    use isobar_worker_first::worker::{SecondPartEntries, start as start_with};
    use isobar_worker_second::worker::second as entries;

    second_part!(worker, SecondPartEntries, entries);

    pub(super) fn start() {
        start_with(load);
    }
}

fn main() {
    // Elsewhere there is no worker, and a build of the whole workspace wants a program all the same.
    #[cfg(target_arch = "wasm32")]
    worker::start();
}
