//! Writes the inputs that a fuzzer starts from: `seeds TARGET FOLDER`.

use std::path::Path;

use anyhow::{Result, bail};
use isobar_fuzz_targets::seeds;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, folder] = &arguments[..] else { bail!("usage: seeds TARGET FOLDER") };
    seeds::write(target, Path::new(folder))
}
