//! The levels of a program as texts.
//!
//! A link of a node names a call and a statement of its stencil: `p3.s0`. So a line of a stencil lights up in each of
//! its calls. A call lights up in all levels of the code that it is a part of. Any other statement is linked by its
//! number alone: `p4`.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_compiler::diag::StmtId;
use isobar_compiler::front::Front;
use isobar_compiler::pipeline::Stage;
use isobar_compiler::pipeline::group::GroupCompilation;
use isobar_compiler::pipeline::whole::{OnePiece, WholeProgram};
use isobar_program::nodes::{ProgramIr, ProgramStmt, ProgramStmtKind, StencilCall};
use isobar_program::print::listing;
use isobar_protocol::compile::{Remark, StageText};
use isobar_protocol::diagnostic::SpanResolver;

/// A stencil of a program, and its calls by their numbers in the order of the text.
pub(super) struct StencilOfProgram {
    name: String,
    front: Arc<Front>,
    pub(super) calls: Vec<usize>,
    /// The statements of its text.
    statements: Vec<u32>,
}

impl StencilOfProgram {
    pub(super) fn new(name: &str, front: Arc<Front>) -> Self {
        let written = front.listing(Stage::DEFINITION).map(|it| &*it.nodes).unwrap_or_default();
        let statements = written.iter().flat_map(|it| it.stmts.iter().map(|it| it.0)).collect();
        Self { name: name.to_owned(), front, calls: Vec::new(), statements }
    }

    /// A level of the stencil, with links of each of its calls.
    fn stage(&self, stage: Stage, places: &SpanResolver<'_>) -> Option<StageText> {
        let mut text = StageText::new(stage.name(), self.front.listing(stage)?, places);
        for node in &mut text.nodes {
            let own: Vec<u32> = node.links.iter().filter_map(|it| number(it)).collect();
            node.links = self.calls.iter().flat_map(|&it| own.iter().map(move |s| link(it, *s))).collect();
        }
        Some(text)
    }
}

/// A program, and all that its texts are made of.
pub(super) struct ProgramTexts<'a> {
    pub(super) program: &'a ProgramIr,
    pub(super) places: SpanResolver<'a>,
    pub(super) stencils: Vec<StencilOfProgram>,
    /// The code of calls that are one piece, each with its number and that of its first call.
    pub(super) groups: Vec<(usize, usize, GroupCompilation)>,
    /// All of it as one piece, where it is that on some levels.
    pub(super) one: Option<(WholeProgram, OnePiece)>,
}

impl ProgramTexts<'_> {
    /// The text of a stage: that of the program, of its stencils, or of its groups.
    pub(super) fn stage(&self, stage: Stage) -> Option<StageText> {
        if stage == Stage::PROGRAM {
            return Some(self.of_program());
        }
        if let Some((whole, piece)) = self.one.as_ref().filter(|_| OnePiece::STAGES.contains(&stage)) {
            return self.of_one_piece(stage, whole, piece);
        }
        let mut all = StageText { stage: stage.name().to_owned(), ..StageText::default() };
        for stencil in &self.stencils {
            if let Some(text) = stencil.stage(stage, &self.places) {
                append(&mut all, text, &stencil.name);
            }
        }
        if all.text.is_empty() {
            for (number, base, group) in &self.groups {
                let Some(listing) = group.compilation.listing(stage) else { continue };
                let mut text = StageText::new(stage.name(), listing, &self.places);
                for node in &mut text.nodes {
                    node.links = links_of(group, *base, &node.links);
                }
                append(&mut all, text, &format!("group {number}"));
            }
        }
        (!all.text.is_empty()).then_some(all)
    }

    fn of_program(&self) -> StageText {
        let mut text = StageText::new(Stage::PROGRAM.name(), &listing(self.program), &self.places);
        for node in &mut text.nodes {
            let own = node.links.iter().filter_map(|it| number(it));
            node.links = own.flat_map(|it| self.of_program_statement(it as usize)).collect();
        }
        text
    }

    /// A level of all of the program. Its statements are those of its groups, and its own.
    fn of_one_piece(&self, stage: Stage, whole: &WholeProgram, piece: &OnePiece) -> Option<StageText> {
        let mut text = StageText::new(stage.name(), piece.compilation.listing(stage)?, &self.places);
        let (numbers, firsts) = (statements(self.program), firsts_of_groups(&whole.program));
        let of_group = |stmt: StmtId| {
            let (group, stmt) = piece.in_group(stmt)?;
            let of_group = &whole.groups[group].statements;
            let (own, _) = of_group.in_stencil(stmt, [0; 3])?;
            let at = firsts.get(&group)? + of_group.statement_of(stmt)?;
            Some(link(*numbers.get(at)?, own.0))
        };
        for node in &mut text.nodes {
            let stmts = node.links.iter().filter_map(|it| number(it)).map(StmtId);
            let links = stmts.flat_map(|stmt| match piece.of_program(stmt).and_then(|at| numbers.get(at)) {
                Some(&own) => self.of_program_statement(own),
                None => of_group(stmt).into_iter().collect(),
            });
            node.links = links.collect();
        }
        Some(text)
    }

    /// The links of a statement of the program: those of all statements of its stencil, or its own.
    fn of_program_statement(&self, number: usize) -> Vec<String> {
        match self.stencils.iter().find(|it| it.calls.contains(&number)) {
            Some(it) => it.statements.iter().map(|s| link(number, *s)).collect(),
            None => vec![format!("p{number}")],
        }
    }

    /// The decisions about the code of all groups.
    pub(super) fn remarks(&self) -> Vec<Remark> {
        let of_group = |(_, base, group): &(usize, usize, GroupCompilation)| {
            let all = group.compilation.notes.remarks.iter().map(|it| Remark::new(it, &self.places));
            all.map(|it| Remark { links: links_of(group, *base, &it.links), ..it }).collect::<Vec<_>>()
        };
        self.groups.iter().flat_map(of_group).collect()
    }
}

fn link(call: usize, statement: u32) -> String {
    format!("p{call}.s{statement}")
}

/// The links of statements of a group, as those of its calls.
fn links_of(group: &GroupCompilation, base: usize, links: &[String]) -> Vec<String> {
    let of_call = |it: &String| {
        let stmt = StmtId(number(it)?);
        let (own, _) = group.statements.in_stencil(stmt, [0; 3])?;
        Some(link(base + group.statements.statement_of(stmt)?, own.0))
    };
    links.iter().filter_map(of_call).collect()
}

/// The number of a statement's name.
fn number(name: &str) -> Option<u32> {
    name.strip_prefix('s')?.parse().ok()
}

/// Puts a text behind another one, with a title between them.
fn append(all: &mut StageText, text: StageText, title: &str) {
    let line = |text: &str| u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if !all.text.is_empty() {
        all.text.push('\n');
    }
    all.text.push_str(&format!("==> {title} <==\n"));
    let (first, n_before) = (line(&all.text), all.nodes.len());
    all.nodes.extend(text.nodes.into_iter().map(|mut it| {
        it.lines = it.lines.map(|it| it + first);
        it.parent = it.parent.map(|it| it + n_before);
        it.id = format!("{title}.{}", it.id);
        it
    }));
    all.text.push_str(&text.text);
}

/// The numbers of all statements in the order of the text. Groups have numbers too, but are no statements of it.
fn statements(program: &ProgramIr) -> Vec<usize> {
    let (mut next, mut found) = (0, Vec::new());
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if !matches!(stmt.kind, ProgramStmtKind::Group { .. }) {
                found.push(next);
            }
            next += 1;
        });
    });
    found
}

/// How many statements stand before the first one of each group.
fn firsts_of_groups(program: &ProgramIr) -> BTreeMap<usize, usize> {
    let (mut n_statements, mut found) = (0, BTreeMap::new());
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| match &stmt.kind {
            ProgramStmtKind::Group { number, .. } => drop(found.insert(*number, n_statements)),
            _ => n_statements += 1,
        });
    });
    found
}

/// The calls of a program, and its groups with the numbers of their first statements.
pub(super) type Numbered<'p> = (Vec<(usize, &'p StencilCall)>, Vec<(usize, usize, &'p [ProgramStmt])>);

pub(super) fn numbered(program: &ProgramIr) -> Numbered<'_> {
    fn visit<'p>(body: &'p [ProgramStmt], next: &mut usize, found: &mut Numbered<'p>) {
        for stmt in body {
            let own = *next;
            *next += 1;
            match &stmt.kind {
                ProgramStmtKind::Call(call) => found.0.push((own, call)),
                ProgramStmtKind::Group { number, body } => found.1.push((*number, *next, body)),
                _ => {}
            }
            stmt.blocks().into_iter().for_each(|it| visit(it, next, found));
        }
    }
    let mut found = (Vec::new(), Vec::new());
    visit(&program.body, &mut 0, &mut found);
    found
}
