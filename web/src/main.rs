//! The program of the page.

use isobar_web::app::mount;
use isobar_web::app::second::panes;
use isobar_web::second_part;
use isobar_web::widgets::later::{Loading, Panes};

second_part!(page, Panes, panes);

/// The panes of the second part; what is absent is told by whoever wants one of them.
fn panes_of_second() -> Loading {
    Box::pin(async { load().await.ok() })
}

fn main() {
    mount(panes_of_second);
}
