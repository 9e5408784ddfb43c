//! The program of the page.

#[cfg(target_arch = "wasm32")]
mod page {
    use isobar_parts::second_part;
    use isobar_web::app::mount;
    use isobar_web::app::second::panes;
    use isobar_web::widgets::later::{Panes, PanesFuture};

    second_part!(page, Panes, panes);

    /// Loads the panes of the second part. If that fails, each pane that is wanted says so.
    fn panes_of_second() -> PanesFuture {
        Box::pin(async { load().await.ok() })
    }

    pub(super) fn start() {
        mount(panes_of_second);
    }
}

fn main() {
    // Elsewhere there is nothing to mount, and a build of the whole workspace wants a program all the same.
    #[cfg(target_arch = "wasm32")]
    page::start();
}
