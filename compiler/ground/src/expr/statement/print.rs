//! Statements as text, one to a line.

use std::collections::BTreeMap;
use std::fmt;

use super::{Stmt, StmtKind};
use crate::diag::{ListingWriter, StmtId};
use crate::expr::Expr;
use crate::expr::print::{self, LeafSpelling};

/// Writes statements; what they are called is the level's to say.
pub struct StmtPrinter<'a, T, A> {
    target: &'a LeafSpelling<'a, T>,
    access: &'a LeafSpelling<'a, A>,
    /// How often each statement was met: one that was copied has several nodes.
    seen: BTreeMap<StmtId, u32>,
}

impl<T, A> std::fmt::Debug for StmtPrinter<'_, T, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StmtPrinter").field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl<'a, T, A> StmtPrinter<'a, T, A> {
    /// `target` and `access` spell what is assigned and read.
    pub fn new(target: &'a LeafSpelling<'a, T>, access: &'a LeafSpelling<'a, A>) -> Self {
        Self { target, access, seen: BTreeMap::new() }
    }

    /// Writes statements one step further in, each as a node with an id. The ids are those of the statements
    /// up to OIR: `s0`, `s1`, ..., and `s0.1` for a copy of `s0`.
    pub fn body<D>(&mut self, body: &[Stmt<T, A, D>], out: &mut ListingWriter) {
        out.indent();
        if body.is_empty() {
            out.line("pass");
        }
        body.iter().for_each(|it| self.stmt(it, "", out));
        out.dedent();
    }

    /// `el` makes an `elif` of an `if`.
    fn stmt<D>(&mut self, stmt: &Stmt<T, A, D>, el: &str, out: &mut ListingWriter) {
        let name = stmt.origin.stmt;
        let times = self.seen.entry(name).or_default();
        let id = if *times == 0 { name.to_string() } else { format!("{name}.{times}") };
        *times += 1;
        let kind = match stmt.kind {
            StmtKind::Assign { .. } => "assign",
            StmtKind::If { .. } => "if",
            StmtKind::While { .. } => "while",
            StmtKind::Region { .. } => "region",
        };
        out.open(id, kind, [&stmt.origin]);
        match &stmt.kind {
            StmtKind::Assign { target, index, value, .. } => {
                let target = fmt::from_fn(|f| (self.target)(target, f));
                let index = print::index(index, self.access);
                out.line(format_args!("{target}{index} = {}", self.expr(value)));
            }
            StmtKind::If { condition, then, otherwise } => {
                out.line(format_args!("{el}if {}", self.expr(condition)));
                self.body(then, out);
                match otherwise.as_slice() {
                    [] => {}
                    [only @ Stmt { kind: StmtKind::If { .. }, .. }] => self.stmt(only, "el", out),
                    _ => {
                        out.line("else");
                        self.body(otherwise, out);
                    }
                }
            }
            StmtKind::While { condition, body } => {
                out.line(format_args!("while {}", self.expr(condition)));
                self.body(body, out);
            }
            StmtKind::Region { region, body } => {
                out.line(format_args!("region {region}"));
                self.body(body, out);
            }
        }
        out.close();
    }

    fn expr<'e, D>(&self, expr: &'e Expr<A, D>) -> impl fmt::Display + 'e
    where
        'a: 'e,
    {
        print::text(expr, self.access)
    }
}
