//! The generated code behind a function of the interface: its files, what it takes, and where it may end early.

use std::collections::BTreeMap;

use super::program::{self, CallerStatement};
use super::touched::{FieldHulls, touched};
use super::{CompiledStencil, ExportedCode, File, StencilCode, filled};
use crate::c::{ArgumentKind, CArtifact};
use crate::diag::{LineIndex, Listing, Span};
use crate::pipeline::whole::WholeProgram;

/// Generated code with what a call needs to know of it.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) files: Vec<File>,
    /// The files that are compiled beside that of the function itself; they include the others.
    pub(super) compiled: Vec<String>,
    /// In the order in which the code takes each kind.
    pub(super) arguments: Vec<KernelArgument>,
    pub(super) traps: Vec<TrapPlace>,
    pub(super) hulls: FieldHulls,
    /// The answers to calls that the code refuses before it writes anything, as cases of a `switch`.
    pub(super) refusals: String,
    /// Facts for callers beside the parameters, a line each.
    pub(super) notes: Vec<String>,
    /// The statements that it leaves to its caller.
    pub(super) of_caller: Vec<CallerStatement>,
}

/// An argument of generated code, by the name of its parameter.
#[derive(Debug)]
pub(super) struct KernelArgument {
    pub(super) name: String,
    pub(super) is_field: bool,
}

/// A statement that may end a run, by its number in the generated code.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrapPlace {
    pub(super) number: u32,
    pub(super) span: Span,
    pub(super) why: &'static str,
}

/// Why a statement of a stencil ends a run.
pub(super) const IN_STENCIL: &str =
    "an index that is computed here leaves its field, or a `while` does not end";

impl Kernel {
    pub(super) fn of(name: &str, source: &CompiledStencil<'_>) -> Self {
        match &source.code {
            ExportedCode::Stencil(code) => Self::of_stencil(name, code),
            ExportedCode::Program(code) => Self::of_program(name, code, &source.sources),
        }
    }

    fn of_stencil(name: &str, code: &StencilCode<'_>) -> Self {
        let (files, compiled) = files_of(name, code.artifact, &code.of_one_thread);
        let arguments = code.artifact.arguments.iter().map(|it| KernelArgument {
            name: it.name.clone(),
            is_field: matches!(it.kind, ArgumentKind::Field { .. }),
        });
        Self {
            files,
            compiled,
            arguments: arguments.collect(),
            traps: traps_of(&code.artifact.listing, 0),
            hulls: touched(code.oir, code.extents),
            refusals: String::new(),
            notes: Vec::new(),
            of_caller: Vec::new(),
        }
    }

    fn of_program(name: &str, code: &WholeProgram, sources: &[(&str, &str)]) -> Self {
        let of_caller = program::caller_statements(code);
        let program::ProgramText { file, of_one_thread, groups, arguments, traps } =
            program::text(name, code, &of_caller, sources);
        let (mut files, mut compiled) = (vec![file, of_one_thread], Vec::new());
        let path = format!("src/one_thread/{name}.c");
        files.push(File::new(&*path, one_thread(name)));
        compiled.push(path);
        for group in groups {
            let (own, its) = files_of(&group.name, group.artifact, &group.of_one_thread);
            files.extend(own);
            compiled.extend(its);
            let path = format!("src/{}.c", group.name);
            let kernel = format!("kernels/{}.c", group.name);
            let text = include_str!("texts/group.c");
            files.push(File::new(&*path, filled(text, &[("NAME", &group.name), ("KERNEL", &kernel)])));
            compiled.push(path);
        }
        let (hulls, refusals) = (program::hulls(code), program::refusals(name, code));
        let notes = program::notes(code, &of_caller);
        Self { files, compiled, arguments, traps, hulls, refusals, notes, of_caller }
    }
}

/// The files of generated code that have no function of the interface, and those of them that are compiled.
fn files_of(name: &str, artifact: &CArtifact, of_one_thread: &CArtifact) -> (Vec<File>, Vec<String>) {
    let text = format!("{}\n{}", artifact.listing.text, artifact.workspace);
    let path = format!("src/one_thread/{name}.c");
    let files = vec![
        File::new(format!("src/kernels/{name}.c"), text),
        File::new(&*path, one_thread(name)),
        File::new(format!("src/kernels/one_thread/{name}.c"), of_one_thread.listing.text.as_str()),
    ];
    (files, vec![path])
}

fn one_thread(name: &str) -> String {
    filled(include_str!("texts/one_thread.c"), &[("NAME", name)])
}

/// The statements of a stencil that may end a run. Their numbers in the generated code start at `first`.
pub(super) fn traps_of(listing: &Listing, first: u32) -> Vec<TrapPlace> {
    if !listing.text.contains("isobar_raised") {
        return Vec::new();
    }
    let mut all = BTreeMap::new();
    for node in &listing.nodes {
        if let ([stmt], Some(span)) = (node.stmts.as_slice(), node.spans.first()) {
            all.entry(stmt.0).or_insert(*span);
        }
    }
    all.into_iter().map(|(stmt, span)| TrapPlace { number: first + stmt, span, why: IN_STENCIL }).collect()
}

/// The rows of the table of statements: number, line, column, the last part of the file's name, and the reason.
pub(super) fn trap_rows(traps: &[TrapPlace], sources: &[(&str, &str)]) -> String {
    let indices: Vec<LineIndex> = sources.iter().map(|it| LineIndex::new(it.1)).collect();
    let mut text = String::new();
    for TrapPlace { number, span, why } in traps {
        let file = usize::from(span.file.0);
        let (Some(&(name, source)), Some(index)) = (sources.get(file), indices.get(file)) else { continue };
        let at = index.line_col(source, span.start);
        text += &format!(
            "  {{{number}, {}, {}, \"{}\", \"{why}\"}},\n",
            at.line,
            at.col,
            super::c::harmless(name)
        );
    }
    text
}
