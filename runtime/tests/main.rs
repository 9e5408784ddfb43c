//! The runtime as another program sees it.

mod dependencies;
mod elsewhere;
mod embed;
mod faults;
mod places;
mod sharing;
