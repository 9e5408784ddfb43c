//! The statements of a program with their measures, as callers read them.

use std::collections::BTreeMap;

use isobar_compiler::space::Domain;
use isobar_program::analysis::traffic::compulsory_bytes;
use isobar_program::interpret::StatementMeasure;
use isobar_program::nodes::{ProgramIr, ProgramStmt, ProgramStmtKind};
use isobar_program::print::listing;
use isobar_protocol::bench::{CallPlace, CallStep};
use isobar_protocol::diagnostic::SpanResolver;

/// The statements of a program with the measures of a run, in the order of the text.
#[must_use]
pub fn call_steps(
    program: &ProgramIr,
    measures: &[StatementMeasure],
    domain: [i64; 3],
    places: &SpanResolver<'_>,
) -> Vec<CallStep> {
    let [i, j, k] = domain;
    let mut rows = Rows {
        program,
        domain: Domain::new(i, j, k),
        measures,
        places,
        texts: texts(program),
        rows: Vec::new(),
    };
    rows.add(&program.body, 0);
    rows.rows
}

/// The first line of each statement in the level, by its number.
fn texts(program: &ProgramIr) -> BTreeMap<u32, String> {
    let listing = listing(program);
    let lines: Vec<&str> = listing.text.lines().collect();
    let of_node = listing.nodes.iter().filter_map(|it| {
        let line = lines.get(it.lines.start as usize)?;
        Some((it.stmts.first()?.0, line.trim().to_owned()))
    });
    of_node.collect()
}

struct Rows<'a> {
    program: &'a ProgramIr,
    domain: Domain,
    measures: &'a [StatementMeasure],
    places: &'a SpanResolver<'a>,
    texts: BTreeMap<u32, String>,
    rows: Vec<CallStep>,
}

impl Rows<'_> {
    fn add(&mut self, body: &[ProgramStmt], depth: u32) {
        for stmt in body {
            let number = self.rows.len();
            let stencil = match &stmt.kind {
                ProgramStmtKind::Call(call) => {
                    let function = &self.program.stencils[call.stencil].function;
                    function.rsplit('.').next().map(str::to_owned)
                }
                _ => None,
            };
            let (file, start, _) = self.places.of(stmt.span);
            let text = u32::try_from(number).ok().and_then(|it| self.texts.get(&it).cloned());
            let measure = self.measures.get(number).copied().unwrap_or_default();
            self.rows.push(CallStep {
                text: text.unwrap_or_default(),
                depth,
                stencil,
                place: (!file.is_empty()).then_some(CallPlace { file, line: start.line }),
                count: measure.count,
                ms: measure.ms,
                bytes: compulsory_bytes(self.program, stmt, self.domain),
            });
            stmt.blocks().into_iter().for_each(|it| self.add(it, depth + 1));
        }
    }
}
