//! Kernels as one module.

mod entry;
mod pieces;
mod places;
mod statements;

use std::collections::BTreeSet;

use super::expression::Wording;
use super::memory::{ArrayPlacement, buffers, lives, named};
use super::names::Names;
use super::prelude::Prelude;
use super::{Binding, Doubles, Param, WgslArtifact, WgslOptions};
use crate::braces::Braces;
use crate::diag::{ListingWriter, Origin};
use crate::emit::formula::broken;
use crate::emit::paste;
use crate::entity::{Handle, SideTable};
use crate::expr::Expr;
use crate::kernel::Kernels;
use crate::kernel::nodes::Kernel;
use crate::loops::nodes::{Array, Read};
use crate::space::Axis;

/// Longer statements are broken.
const WIDTH: usize = 104;

/// Names of the components of block and thread numbers, along each dimension.
const COMPONENTS: [&str; 3] = ["x", "y", "z"];

/// Names that a kernel's text uses beside its own variables.
#[derive(Clone, Debug, Default)]
struct WgslNameUses {
    params: BTreeSet<Param>,
    /// Positions of the host's loops.
    outer: BTreeSet<usize>,
    /// Arrays of a thread.
    own: BTreeSet<Handle<Array>>,
    /// Whether it needs the number of the thread in its block.
    thread: bool,
    /// Of the thread, and of the block, in the launch.
    of_all: [bool; 2],
}

/// Writes the module.
pub(super) fn module(kernels: &Kernels, options: &WgslOptions) -> WgslArtifact {
    let names = Names::of(kernels);
    let lives = lives(kernels, options);
    let has_traps = !kernels.places.is_empty();
    // Sizes, tables, and traps, beside arrays.
    let n_beside = 2 + usize::from(has_traps);
    let most = usize::try_from(options.buffers).unwrap_or(usize::MAX).saturating_sub(n_beside).max(1);
    let buffers = buffers(kernels, &lives, options, most);
    let of_array = kernels
        .program
        .arrays
        .handles()
        .filter_map(|array| {
            let at = buffers.iter().position(|it| it.arrays.contains(&array))?;
            let name = match buffers[at].arrays.len() {
                1 => names.arrays[array].clone(),
                _ => names.shared[at].clone(),
            };
            Some((array, name))
        })
        .collect();
    let draft = || Printer {
        kernels,
        options,
        names: &names,
        lives: &lives,
        of_array: &of_array,
        kernel: 0,
        used: WgslNameUses::default(),
        wording: Wording::new(*options),
        writer: ListingWriter::new(),
        slot: 0,
        turns: Vec::new(),
        n_listed: 0,
    };
    // The names that a kernel uses are known only once it is written. So each kernel is written twice.
    let mut first = draft();
    let mut used = Vec::new();
    for kernel in 0..kernels.kernels.len() {
        first.kernel = kernel;
        first.body();
        used.push(std::mem::take(&mut first.used));
    }
    let mut params: Vec<Param> = Axis::ALL.map(Param::Size).into();
    for it in used.iter().flat_map(|it| &it.params) {
        if !params.contains(it) {
            params.push(it.clone());
        }
    }
    let prelude = Prelude::of(&first.wording.needs, options);
    let mut printer = draft();
    let has_tables = !prelude.tables.entries.is_empty();
    let n_outer = kernels.kernels.iter().map(|it| it.outer.len()).max().unwrap_or(0);
    let mut bindings = vec![Binding::Sizes];
    if has_tables {
        bindings.push(Binding::Tables);
    }
    if has_traps {
        bindings.push(Binding::Traps);
    }
    bindings.extend(buffers.iter().map(|it| Binding::Arrays {
        arrays: it.arrays.clone(),
        is_written: it.is_written,
        is_own: it.is_own,
    }));
    for (at, it) in bindings.iter().enumerate() {
        let (access, name, of) = match it {
            Binding::Sizes => ("read", "sizes".to_owned(), "array<u32>".to_owned()),
            Binding::Tables => {
                let of = if options.doubles == Doubles::Native { "f64" } else { "vec2<u32>" };
                ("read", "tables".to_owned(), format!("array<{of}>"))
            }
            Binding::Traps => ("read_write", "traps".to_owned(), "array<atomic<u32>>".to_owned()),
            Binding::Arrays { arrays, is_written, .. } => {
                let access = if *is_written { "read_write" } else { "read" };
                let name = arrays.first().and_then(|it| of_array.get(*it)).cloned().unwrap_or_default();
                let of = options.element_type(kernels.program.arrays[arrays[0]].dtype);
                (access, name, format!("array<{of}>"))
            }
        };
        printer.writer.line(format_args!("@group(0) @binding({at}) var<storage, {access}> {name}: {of};"));
    }
    if n_outer > 0 {
        printer.writer.line("");
        printer.writer.line("// Of the loops of the host around a launch.");
        printer.writer.line("struct Launch {");
        for at in 0..n_outer {
            printer.writer.line(format_args!("  position_{at}: i32,"));
        }
        printer.writer.line("}");
        printer.writer.line("var<immediate> launch: Launch;");
    }
    printer.shared_arrays();
    for text in &prelude.texts {
        printer.writer.line("");
        paste(&mut printer.writer, text);
    }
    let mut entries = Vec::new();
    for (kernel, used) in used.iter().enumerate() {
        printer.kernel = kernel;
        entries.push(printer.entry(used, &params));
    }
    WgslArtifact {
        listing: printer.writer.finish(),
        options: *options,
        bindings,
        params,
        tables: prelude.tables,
        entries,
        lives,
        immediate_bytes: 4 * u32::try_from(n_outer).unwrap_or(0),
    }
}

/// The word of the block of sizes at which a parameter stands: the first word is 0.
fn word_of(params: &[Param], options: &WgslOptions, kernels: &Kernels, wanted: &Param) -> usize {
    let before = params.iter().take_while(|it| *it != wanted);
    1 + before.map(|it| it.words(kernels, options)).sum::<usize>()
}

struct Printer<'p> {
    kernels: &'p Kernels,
    options: &'p WgslOptions,
    names: &'p Names,
    lives: &'p SideTable<Array, ArrayPlacement>,
    /// The buffer in which an array lies.
    of_array: &'p SideTable<Array, String>,
    /// The one at hand.
    kernel: usize,
    used: WgslNameUses,
    wording: Wording,
    writer: ListingWriter,
    /// Of the next place where a run may have to end.
    slot: usize,
    /// The counters of the `while` around, from outside in.
    turns: Vec<String>,
    n_listed: usize,
}

impl Braces for Printer<'_> {
    fn writer(&mut self) -> &mut ListingWriter {
        &mut self.writer
    }

    fn open<'a>(&mut self, kind: &'static str, origins: impl IntoIterator<Item = &'a Origin>) {
        self.writer.open(format!("w{}", self.n_listed), kind, origins);
        self.n_listed += 1;
    }

    fn statement(&mut self, text: &str) {
        for part in broken(text, 0, WIDTH) {
            self.writer.line(part);
        }
    }

    fn asked(text: String) -> String {
        text
    }

    fn condition(&mut self, expr: &Expr<Read>) -> String {
        self.expr(expr).0
    }
}

impl<'p> Printer<'p> {
    fn at_hand(&self) -> &'p Kernel {
        &self.kernels.kernels[self.kernel]
    }

    /// Arrays of a block, each once.
    fn shared_arrays(&mut self) {
        let mut is_first = true;
        for (at, it) in self.lives.iter() {
            let users: Vec<&Kernel> =
                self.kernels.kernels.iter().filter(|it| named(it).contains(&at)).collect();
            let n = match it {
                ArrayPlacement::Block(n) => *n,
                // One kernel makes it.
                ArrayPlacement::BlockByThread(n) => {
                    let most = users.iter().map(|it| u64::from(it.n_threads().max(1))).max();
                    n.saturating_mul(most.unwrap_or(1))
                }
                _ => continue,
            };
            if users.is_empty() {
                continue;
            }
            if is_first {
                self.writer.line("");
                self.writer.line("// Arrays of a block.");
                is_first = false;
            }
            let of = self.options.element_type(self.kernels.program.arrays[at].dtype);
            let name = &self.names.arrays[at];
            self.writer.line(format_args!("var<workgroup> {name}: array<{of}, {n}>;"));
        }
    }
}
