//! What another program sees of the runtime.

mod dependencies;
mod embed;
