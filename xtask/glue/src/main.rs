//! Takes a program of the page apart, and writes the JavaScript that starts it: wasm-split and wasm-bindgen.
//!
//! A program of its own: only the page needs it, and its libraries take longer to build than all other chores.
#![expect(clippy::print_stdout, reason = "the chores read from stdout what was made")]

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use wasm_bindgen_cli_support::Bindgen;

/// Writes what starts the program NAME, of MODULE, into the folder OUT. Prints the parts that are loaded later, a path
/// to a line.
fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (name, module, out, has_names) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [name, module, out] => (name, module, out, false),
        [name, module, out, "--names"] => (name, module, out, true),
        _ => bail!("isobar-glue NAME MODULE OUT [--names]"),
    };
    let module = std::fs::read(module).with_context(|| module.to_owned())?;
    let (first, later) = apart(name, &module, Path::new(out))?;
    Bindgen::new()
        .input_path(&first)
        .out_name(name)
        .web(true)?
        .typescript(false)
        .keep_debug(false)
        .remove_name_section(!has_names)
        .omit_default_module_path(false)
        // The parts that come later share the table of functions.
        .keep_lld_exports(true)
        .generate(out)
        .with_context(|| format!("wasm-bindgen on {name}"))?;
    later.iter().for_each(|it| println!("{}", it.display()));
    Ok(())
}

/// Splits a program where its functions say so. The first part starts, and goes to wasm-bindgen. It loads the
/// others later; they are in `out` with the script that loads them.
fn apart(name: &str, module: &[u8], out: &Path) -> Result<(PathBuf, Vec<PathBuf>)> {
    let first = out.with_file_name(format!("{name}.first.wasm"));
    let mut options = wasm_split_cli_support::Options::new(module);
    let (link, main) = (format!("./{name}-parts.js"), format!("./{name}.js"));
    options.output_dir = out;
    options.main_out_path = &first;
    options.link_name = &link;
    options.main_module = &main;
    let made = wasm_split_cli_support::transform(options);
    let made = made.map_err(|error| anyhow!("wasm-split on {name}: {error:?}"))?;
    Ok((first, made.split_modules))
}
