//! Draws schedules as somebody could write them, legal and hostile ones, and holds their results against `debug`.

use std::slice;

use anyhow::{Context, Result, bail, ensure};
use isobar_compiler::pass::{Device, PassOptions};
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::schedule::document::{self, ApplyOutcome};
use isobar_compiler::schedule::nodes::{ContainerKind, Tree};
use isobar_compiler::schedule::step::LoopRef;
use isobar_compiler::space::Domain;
use isobar_equivalence::compare::{ReferenceRun, RunDifference};
use isobar_equivalence::journey::Level;
use isobar_equivalence::run::Stop;
use isobar_runner::backends::{Backend, Setting};

use crate::against::native_gives_the_bits_of_debug;
use crate::agree::prepare::call;
use crate::agree::subject::Subject;
use crate::fence::Fence;
use crate::generate::Features;
use crate::generate::random::Random;
use crate::levels::{DOMAINS, Held};
use crate::native::WIDE;

/// The name of a document beside its stencil.
const FILE: &str = "main.schedule";

/// A document has so many steps at most; drawing it tries so many lines.
const MOST_STEPS: usize = 12;
const MOST_TRIES: usize = 60;

/// A stencil with a document for it.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub subject: Subject,
    pub device: Device,
    pub document: String,
    /// Whether a step of it was refused as it was drawn, so that all of it must be.
    pub is_refused: bool,
}

/// Draws the document of a seed. The tree takes each step; now and then the last one is refused.
///
/// # Errors
///
/// When the stencil does not compile.
pub fn drawn(seed: u64) -> Result<Drawn> {
    let mut subject = Subject::of_seed_with(seed, |it| Features { partial: seed.is_multiple_of(3), ..it });
    let mut random = Random::new(seed ^ 0x5c4e_d01e);
    let device = if random.chance(30) { Device::Gpu } else { Device::Cpu };
    let at_first = compiled(&mut subject, device, "")?;
    let mut tree = at_first.levels.schedule.clone().context("there is no schedule")?;
    let (mut document, mut n_steps, mut is_refused) = (String::new(), 0, false);
    let wanted = 1 + random.below(MOST_STEPS);
    for _ in 0..MOST_TRIES {
        if n_steps == wanted || is_refused {
            break;
        }
        let line = line(&tree, device, &mut random);
        let carried = document::parse(&line).ok().and_then(|it| {
            let mut after = tree.clone();
            // Faults of launches are reported only after all steps.
            let applied = it.lines.iter().all(|it| match &it.order {
                document::ScheduleCommand::Step(step) => step.clone().apply(&mut after).is_ok(),
                document::ScheduleCommand::Auto(_) | document::ScheduleCommand::Pin(_) => {
                    let one = document::Document { lines: vec![it.clone()] };
                    matches!(document::apply(&mut after, &one), ApplyOutcome::Whole { .. })
                }
            });
            applied.then_some(after)
        });
        match carried {
            Some(after) => {
                tree = after;
                n_steps += 1;
            }
            // Mostly another one is tried.
            None if random.chance(97) => continue,
            None => is_refused = true,
        }
        document += &line;
        document.push('\n');
    }
    if !is_refused && random.chance(25) {
        document += if random.chance(60) { "auto\n" } else { "auto graph\n" };
    }
    Ok(Drawn { subject, device, document, is_refused })
}

/// A compilation by a document.
fn compiled(subject: &mut Subject, device: Device, document: &str) -> Result<Compilation> {
    subject.project.files.insert(FILE.to_owned(), document.into());
    let mut config = subject.config.clone();
    config.passes = PassOptions { schedule: Some(FILE.to_owned()), device, ..config.passes };
    subject.config = config;
    let project: &Project = &subject.project;
    let found = route::compile(project, &subject.config, &mut NoHook);
    ensure!(found.front.oir.is_some(), "{:#?}", found.notes.diagnostics);
    Ok(found)
}

/// Compiles the document of a seed, and holds each level and a back end for a CPU against `debug`.
///
/// # Errors
///
/// An element that differs, an access outside of an array, or a refusal without its diagnostic.
pub fn hold(seed: u64, backend: Backend, setting: Setting<'_>) -> Result<Held> {
    let mut drawn = drawn(seed)?;
    let document = drawn.document.clone();
    let compilation = compiled(&mut drawn.subject, drawn.device, &document)?;
    let Drawn { subject, device, is_refused, .. } = &drawn;
    let text = || subject.project.main_id().map_or("", |it| subject.project.text(it));
    let in_context = || format!("{} for a {device:?}:\n{}\n{document}", subject.name, text());
    let told: Vec<String> =
        compilation.notes.diagnostics.iter().map(|it| format!("{} {}", it.code, it.message)).collect();
    if compilation.has_errors() {
        let is_told = told.iter().any(|it| it.starts_with("S01 ") || it.starts_with("S02 "));
        ensure!(is_told, "it is refused with {told:?}\n{}", in_context());
        // The proof of bounds stands behind all steps: what it refuses was let through by one.
        let is_proof = told.iter().any(|it| it.contains("is not seen to be in ["));
        ensure!(!is_proof, "{told:?}\n{}", in_context());
        let has_code = compilation.c().is_some();
        ensure!(!has_code, "there is code of what is refused\n{}", in_context());
        return Ok(Held::default());
    }
    ensure!(!is_refused, "a step that is refused alone is carried out with others\n{}", in_context());
    let signature =
        compilation.front.signature.as_ref().context("a compilation without errors has a signature")?;
    let mut random = Random::new(!seed);
    let mut held = Held::default();
    for domain in [*random.pick(&DOMAINS), *random.pick(&WIDE)] {
        let domain = Domain::new(domain.i, domain.j, domain.k.max(signature.min_levels));
        let on_domain = Subject { domain, ..subject.clone() };
        // A domain that is too small for the stencil is refused, and so is tested elsewhere.
        let Ok(launch) = compilation.front.bind(call(&on_domain, &compilation, signature)?) else { continue };
        held.runs += 1;
        let levels = &compilation.levels;
        let oir = compilation.front.oir.as_ref().context("there is no OIR")?;
        let reference = ReferenceRun::of(oir, &launch);
        let mut all = vec![
            ("schedule", Level::Schedule(levels.schedule.as_ref().context("no schedule")?)),
            ("sdfg", Level::Sdfg(levels.sdfg.as_ref().context("no SDFG")?)),
            ("loops", Level::Loops(levels.loops.as_ref().context("no loops")?)),
        ];
        let kernels = if *device == Device::Gpu { compilation.kernels() } else { None };
        all.extend(kernels.map(|it| ("kernels", Level::Kernels(it))));
        for (name, level) in all {
            if let Some(found) = reference.divergence(name, &level, &[seed]) {
                let is_other_trap = matches!(
                    &found.what,
                    RunDifference::End { expected: Some(Stop::Trap(_)), found: Some(Stop::Trap(_)) }
                );
                if !is_other_trap {
                    bail!("{found} on {domain}\n{}", in_context());
                }
            }
        }
        if *device == Device::Cpu {
            let one = slice::from_ref(&launch);
            let native =
                Fence::around(|| native_gives_the_bits_of_debug(backend, &compilation, one, setting));
            held.other_traps += native.with_context(in_context)?.other_traps;
        }
    }
    Ok(held)
}

/// A line that could stand next in a document.
fn line(tree: &Tree, device: Device, random: &mut Random) -> String {
    let mut loops = Vec::new();
    tree.each_loop(&mut |at, _| loops.extend(LoopRef::of(tree, at).map(|it| (at.clone(), it))));
    let names: Vec<&str> = tree
        .containers
        .iter()
        .filter(|(_, it)| it.kind != ContainerKind::Scalar || is_named(it.name.len()))
        .map(|(_, it)| it.name.as_str())
        .collect();
    if loops.is_empty() {
        return "auto".to_owned();
    }
    let (path, first) = random.pick(&loops).clone();
    let any = |random: &mut Random| random.pick(&loops).1.to_string();
    // Mostly the one behind it in the same block, or one of those.
    let mut behind: Vec<&LoopRef> = Vec::new();
    for (at, it) in &loops {
        let same = at.len() == path.len() && at[..at.len() - 1] == path[..path.len() - 1];
        if same && at.last() >= path.last() {
            behind.push(it);
        }
    }
    let next = match behind.get(1) {
        Some(next) if random.chance(80) => next.to_string(),
        _ => any(random),
    };
    let last = if random.chance(90) { random.pick(&behind).to_string() } else { any(random) };
    let container =
        if random.chance(97) && !names.is_empty() { (*random.pick(&names)).to_owned() } else { word(random) };
    let on_gpu = device == Device::Gpu;
    match random.below(if on_gpu { 28 } else { 22 }) {
        0 | 1 => {
            let how = *random.pick(&["", "", " limited", " limited inside", " in domain"]);
            format!("merge {first} {next}{how}")
        }
        2 | 3 => format!("swap {first}"),
        4 => format!("distribute {first} before {}", any(random)),
        5 | 6 => format!("split {first} at {}", position(&loops, random)),
        7 => format!("peel {first}"),
        8 => format!("drop {first}"),
        9 | 10 => format!("tile {} {} {first} .. {last}", axis(random), size(random)),
        11 => format!("roll {} {first} .. {last}", axis(random)),
        12 => format!("recompute {first} .. {last}"),
        13 => format!("repeat {container} in {first}"),
        14 => format!("copy {container} in {first}"),
        15 | 16 => format!("contract {container} in {first}"),
        17 => format!("cut {first} by {}", size(random)),
        18 => format!("keep {} {}", random.pick(&["apart", "whole", "guarded"]), first.stmt),
        19 => format!("{} {first}", random.pick(&["threads", "simd", "sequential"])),
        20 => format!("simd {first}"),
        21 => format!("threads {first}"),
        22 | 23 => format!("grid {first}"),
        24 | 25 => format!("block {first}"),
        26 => format!("barrier {} {first}", random.pick(&["before", "behind"])),
        _ => {
            let place = *random.pick(&["register", "shared", "scratch", "over"]);
            let output = if place == "over" { format!(" {}", random.pick(&names)) } else { String::new() };
            format!("place {container} {place}{output}")
        }
    }
}

/// Steps name a third of the scalars.
fn is_named(length: usize) -> bool {
    length.is_multiple_of(3)
}

fn axis(random: &mut Random) -> &'static str {
    ["i", "j", "k", "j", "i"][random.below(5)]
}

/// Sizes that people write, and now and then one that nobody should.
fn size(random: &mut Random) -> String {
    const HOSTILE: [&str; 8] = [
        "9223372036854775807",
        "4611686018427387904",
        "1048577",
        "1048576",
        "0",
        "-1",
        "99999999999999999999",
        "4294967296",
    ];
    if random.chance(10) {
        return (*random.pick(&HOSTILE)).to_owned();
    }
    random.pick(&[1, 1, 2, 2, 3, 4, 5, 8, 16, 32, 100]).to_string()
}

/// Positions that people split loops at, and now and then one that nobody should.
fn position(loops: &[(Vec<usize>, LoopRef)], random: &mut Random) -> String {
    const HOSTILE: [&str; 9] = [
        "9223372036854775807",
        "-9223372036854775808",
        "K + 9223372036854775807",
        "9223372036854775807*K",
        "system",
        "run",
        "__q_K_below",
        "16*I - 16*J",
        "1048577",
    ];
    match random.below(10) {
        0 => (*random.pick(&HOSTILE)).to_owned(),
        1 => word(random),
        2 => format!("{} + {}", random.pick(loops).1.variable, random.between(0, 3)),
        3 => random.pick(loops).1.variable.to_string(),
        4 => format!("2*{} - {}", random.pick(&["I", "J", "K"]), random.between(1, 9)),
        5 => format!("{} - {}", random.pick(&["I", "J", "K"]), random.pick(&["i", "j", "k", "I", "J"])),
        6 | 7 => random.between(-2, 4).to_string(),
        _ => format!("{} - {}", random.pick(&["I", "J", "K", "K"]), random.between(1, 4)),
    }
}

/// A name that means nothing here, or something in C.
fn word(random: &mut Random) -> String {
    (*random.pick(&["system", "int", "main", "x", "_", "I", "isobar_least", "é", "a b"])).to_owned()
}
