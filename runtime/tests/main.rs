//! What another program sees of the runtime.

mod dependencies;
mod elsewhere;
mod embed;
mod faults;
mod places;
mod sharing;
