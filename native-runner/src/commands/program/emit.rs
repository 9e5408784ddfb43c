//! `emit` on programs: their level, and those of groups of calls.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use isobar_compiler::diag;
use isobar_compiler::diag::catalog::programs as catalog;
use isobar_compiler::front::stage::StageOrigin;
use isobar_compiler::inputs::Directives;
use isobar_compiler::pass::Device;
use isobar_compiler::pipeline::group::compile_group;
use isobar_compiler::pipeline::whole::{OnePiece, WholeOptions, compile_as_one, compile_whole};
use isobar_compiler::pipeline::{Compilation, NoHook, Stage, registry};
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_program::analysis::calls::aliases;
use isobar_program::group::group_calls;
use isobar_program::interpret::{Answers, HaloFill};
use isobar_program::localize::FieldKept;
use isobar_program::nodes::{ProgramIr, ProgramStmt, ProgramStmtKind, StencilCall};
use isobar_program::print::{listing, listing_with};
use isobar_protocol::compile::StageText;
use isobar_protocol::report::EmitReport;
use isobar_protocol::request::Request;

use super::super::emit::ask_passes;
use super::super::{Outcome, Usage, human, print, print_json};
use super::{OpenedProgram, ProgramSource, STAGE, refuse};
use crate::cli::{EmitArgs, Format, GraphFormat};
use crate::compile::on_large_stack;

/// `isobar emit --program FILE --stage program`
pub(in crate::commands) fn emit(path: &ProgramSource<'_>, args: &EmitArgs) -> Result<Outcome, Usage> {
    if args.stage != STAGE {
        return emit_groups(path, args);
    }
    if args.group.is_some() {
        return Err(Usage::Wrong(format!("--group is for stages behind `{STAGE}`")));
    }
    let mut opened = OpenedProgram::read(path, &args.shared, args.halo_points)?;
    let mut report = EmitReport { diagnostics: opened.told(), ..EmitReport::default() };
    let text = opened.compilation.program.as_ref().map(|it| listing(it).text);
    report.level =
        StageText { stage: STAGE.to_owned(), text: text.unwrap_or_default(), ..StageText::default() };
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            opened.say(&report.diagnostics);
            print(&report.level.text);
            for it in opened.compilation.kept.iter().filter(|_| args.remarks) {
                let FieldKept { name, role, why, span } = it;
                let place = opened.place(*span);
                print(&format!("{place}: `{name}` stays {role}: {why}\n"));
            }
        }
    }
    Ok(Outcome::of(&report.diagnostics))
}

/// The same for a level of the groups, the calls that become one piece of code.
fn emit_groups(path: &ProgramSource<'_>, args: &EmitArgs) -> Result<Outcome, Usage> {
    refuse(&[
        ("--print-changed", args.print_changed),
        ("--log", args.log.is_some()),
        ("--steps", args.steps),
        ("--lines", args.lines),
    ])?;
    let known: Vec<Stage> = registry::texts().map(|it| it.stage).filter(|&it| is_of_groups(it)).collect();
    let Some(stage) = known.iter().copied().find(|it| it.name() == args.stage) else {
        let names = known.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
        let why = format!("--program has the stages {STAGE}, {names}, and no `{}`", args.stage);
        return Err(Usage::Wrong(why));
    };
    let is_file = args.form == GraphFormat::Sdfg;
    if is_file && stage != Stage::SDFG || args.flat && !is_file {
        return Err(Usage::Wrong("--form sdfg is for --stage sdfg, and --flat for both".to_owned()));
    }
    let mut why_apart = Vec::new();
    if args.group.is_none() && (is_file || OnePiece::STAGES.contains(&stage)) {
        match emit_as_one(path, args, stage)? {
            Ok(outcome) => return Ok(outcome),
            Err(found) => why_apart = found,
        }
    }
    let mut opened = OpenedProgram::read(path, &args.shared, args.halo_points)?;
    let mut passes = opened.document.request.passes.clone();
    ask_passes(args, &mut passes)?;
    let request = Request { passes, ..opened.document.request.clone() };
    let options = request.config(&Directives::default()).passes;
    let mut report = EmitReport { diagnostics: opened.told(), ..EmitReport::default() };
    report.level.stage = stage.name().to_owned();
    let mut text = String::new();
    let mut missed = Vec::new();
    // A level of all groups stands in the text of the program. Code is a text of its own for each of them.
    let is_whole = !is_file && args.group.is_none() && registry::LEVELS.iter().any(|it| it.stage == stage);
    if let Some(mut program) = opened.compilation.program.take() {
        missed = group_calls(&mut program);
        let is_refused = is_file && args.group.is_none();
        let groups = if is_refused { Vec::new() } else { groups(&program, args.group)? };
        if is_refused {
            report.diagnostics.extend(opened.resolved(&why_apart));
        }
        let mut levels = BTreeMap::new();
        for (number, body) in groups {
            if args.group.is_none() && !is_file {
                let _ = writeln!(text, "==> group {number} <==");
            }
            let fronts = &mut opened.compilation.fronts;
            let made = on_large_stack(|| {
                let fronts = RefCell::new(fronts);
                let front_of = |call: &StencilCall| {
                    let stencil = &program.stencils[call.stencil];
                    fronts.borrow_mut().unified(stencil, &aliases(&program, call)).ok()
                };
                compile_group(&program, (number, body), &front_of, &options, &mut NoHook)
            });
            match made.unwrap_or_else(|_| Err("the compiler crashed".to_owned())) {
                Ok(group) => {
                    let level = level_of(&group.compilation, stage, is_file.then_some(args.flat));
                    text += &level;
                    levels.insert(number, level);
                    report.remarks.extend(opened.remarks(&group.compilation, stage, args.remarks));
                }
                Err(why) => {
                    let why = format!("its calls run one by one: {why}\n");
                    text += &why;
                    levels.insert(number, why);
                }
            }
            text.push('\n');
        }
        if is_whole {
            text = listing_with(&program, &levels).text;
        }
    }
    report.level.text = text.trim_end().to_owned() + "\n";
    let apart = opened.resolved(&why_apart);
    let no_single = apart.iter().map(|it| format!("the program is no single {stage}: {}\n", it.message));
    let alone = missed.iter().map(|(stmt, why)| {
        let place = opened.place(stmt.span);
        format!("{place}: stands for itself: {why}\n")
    });
    print_level(&opened, &report, args, &no_single.chain(alone).collect::<String>());
    Ok(Outcome::of(&report.diagnostics))
}

/// Emits a level of all of a program as one piece; the diagnostics tell why there is none.
fn emit_as_one(
    path: &ProgramSource<'_>,
    args: &EmitArgs,
    stage: Stage,
) -> Result<Result<Outcome, Vec<diag::Diagnostic>>, Usage> {
    let mut opened = OpenedProgram::read(path, &args.shared, args.halo_points)?;
    let mut passes = opened.document.request.passes.clone();
    ask_passes(args, &mut passes)?;
    let request = Request { passes, ..opened.document.request.clone() };
    let options = request.config(&Directives::default()).passes;
    let is_file = args.form == GraphFormat::Sdfg;
    if options.device != Device::Cpu {
        let why = "a whole program is one graph for processors: choose --group N, or no --target";
        return if is_file { Err(Usage::Wrong(why.to_owned())) } else { Ok(Err(Vec::new())) };
    }
    if opened.compilation.program.is_none() {
        return Ok(Err(Vec::new()));
    }
    let halo = args.halo.as_deref().or(opened.directives.halo.as_deref());
    let fill = halo.and_then(HaloFill::from_name).unwrap_or_default();
    let diagnostics = opened.told();
    let made = on_large_stack(|| {
        let whole = compile_whole(
            &mut opened.compilation,
            WholeOptions { passes: &options, fill, answers: Answers::None, only: request.domain },
        )?;
        compile_as_one(&whole, &options, &mut NoHook).map(|it| (whole, it.compilation))
    });
    let crashed = || Err(vec![catalog::run_input("the compiler crashed", "report it")]);
    let (whole, compilation) = match made.unwrap_or_else(|_| crashed()) {
        Ok(made) => made,
        Err(found) => return Ok(Err(found)),
    };
    let mut report = EmitReport { diagnostics, ..EmitReport::default() };
    report.level.stage = stage.name().to_owned();
    report.level.text = level_of(&compilation, stage, is_file.then_some(args.flat));
    for group in &whole.groups {
        report.remarks.extend(opened.remarks(&group.compilation, Stage::SCHEDULE, args.remarks));
    }
    report.remarks.extend(opened.remarks(&compilation, stage, args.remarks));
    print_level(&opened, &report, args, "");
    Ok(Ok(Outcome::of(&report.diagnostics)))
}

/// Prints a level. `apart` tells what is no part of it, behind the remarks.
fn print_level(opened: &OpenedProgram, report: &EmitReport, args: &EmitArgs, apart: &str) {
    match args.shared.format {
        Format::Json => print_json(report),
        Format::Human => {
            opened.say(&report.diagnostics);
            print(&report.level.text);
            if args.remarks {
                print(&human::remarks(&report.remarks));
                print(apart);
            }
        }
    }
}

/// Whether the stencils of a class have a stage, each for itself; or all stages are asked for.
pub(in crate::commands) fn is_of_stencils(stage: &str) -> bool {
    let of_stencils = || Stage::OF_STENCIL.iter().find(|it| it.name() == stage);
    stage == super::super::emit::ALL || of_stencils().is_some_and(|it| !is_of_groups(*it))
}

/// Whether a group of calls has a stage: the trees of its stencils are made one by one.
fn is_of_groups(stage: Stage) -> bool {
    let mut at = stage;
    loop {
        if at == Stage::TREE {
            return true;
        }
        match at.from() {
            StageOrigin::Passed(above) | StageOrigin::Lowered(above) => at = above,
            StageOrigin::Text => return false,
        }
    }
}

/// The groups of a program, or the one of a number.
fn groups(program: &ProgramIr, wanted: Option<usize>) -> Result<Vec<(usize, &[ProgramStmt])>, Usage> {
    let mut n_groups = 0;
    let mut groups: Vec<(usize, &[ProgramStmt])> = Vec::new();
    program.body.iter().for_each(|it| {
        it.walk(&mut |stmt| {
            if let ProgramStmtKind::Group { number, body } = &stmt.kind {
                n_groups += 1;
                if wanted.is_none_or(|it| it == *number) {
                    groups.push((*number, body));
                }
            }
        });
    });
    if groups.is_empty() {
        return Err(Usage::Wrong(match wanted {
            Some(number) => format!("there is no group {number}: the program has {n_groups} of them"),
            None => "no two calls of the program stand behind each other, so it has no group".to_owned(),
        }));
    }
    Ok(groups)
}

/// The text of a level, or the graph as a file.
fn level_of(compilation: &Compilation, stage: Stage, is_flat: Option<bool>) -> String {
    let Some(is_flat) = is_flat else {
        return compilation.listing(stage).map(|it| it.text.clone()).unwrap_or_default();
    };
    let sources: Vec<(&str, &str)> = compilation.front.sources().collect();
    let form = if is_flat { ControlFlowStyle::Flat } else { ControlFlowStyle::Regions };
    let graph = compilation.graph();
    graph.map(|it| format!("{:#}\n", to_json(it, &sources, form))).unwrap_or_default()
}
