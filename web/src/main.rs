//! The program of the page.

fn main() {
    isobar_web::app::mount();
}
