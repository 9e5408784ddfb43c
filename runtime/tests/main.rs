//! What another program sees of the runtime.

mod dependencies;
mod elsewhere;
mod embed;
mod places;
mod sharing;
