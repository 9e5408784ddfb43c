//! Other schedules than the one that the passes chose, for measuring which one is faster.

use std::collections::BTreeSet;

use crate::pass::{GpuForm, GpuModel, MachineModel};
use crate::schedule::nodes::{Node, Order, Tree};
use crate::schedule::passes::{
    contract_temporaries, fuse_in_tiles, meet_in_domain, merge_loops, peel_regions, sink_sequential_levels,
};
use crate::schedule::step::{LoopRef, Pin, Ranges, Step};
use crate::schedule::transform::Path;
use crate::space::{Axis, names};

/// A change to the choices of the passes: a document that is applied before them, and passes that are left
/// out.
///
/// The result is a schedule like any other. Its steps are a document that reproduces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleVariant {
    /// A description in the words of a document.
    pub what: String,
    /// A document that ends with `auto`.
    pub document: String,
    /// The passes that do not run after the document.
    pub skip: Vec<&'static str>,
    /// The machine that the passes choose for, where it is not the given one.
    pub machine: Option<MachineModel>,
    /// The GPU that the passes choose for, where it is not the given one.
    pub gpu: Option<GpuModel>,
    /// The form of launches that is asked for, if any.
    pub gpu_form: Option<GpuForm>,
}

impl ScheduleVariant {
    fn of_document(what: String, lines: &[String]) -> Self {
        let lines = lines.iter().map(|it| format!("{it}\n")).collect::<String>();
        let document = lines + "auto\n";
        Self { what, document, skip: Vec::new(), machine: None, gpu: None, gpu_form: None }
    }

    /// Merges and tiles loops as the steps say, and in no other way. Pins stay.
    fn of_steps(what: String, pins: &BTreeSet<Pin>, steps: &[Step]) -> Self {
        let pins = pins.iter().map(ToString::to_string);
        let lines: Vec<String> = pins.chain(steps.iter().map(ToString::to_string)).collect();
        Self { skip: vec![merge_loops::NAME, fuse_in_tiles::NAME], ..Self::of_document(what, &lines) }
    }
}

/// Threads that a block has at most, where that is fewer than the passes choose.
const THREADS: [u32; 2] = [128, 64];

/// Other schedules for a GPU: each form of a launch that is legal, and smaller blocks.
pub(super) fn variants_of_gpu(gpu: &GpuModel) -> Vec<ScheduleVariant> {
    let forms = || GpuForm::ALL.map(Some).into_iter().chain([None]);
    let found = std::iter::once(gpu.threads_of_block).chain(THREADS);
    let of_size = |threads: u32| {
        forms().map(move |form| {
            let form_in_words = form.map(|it| format!("form {}", it.name()));
            let size = (threads < gpu.threads_of_block).then(|| format!("blocks of {threads} threads"));
            let what: Vec<String> = form_in_words.into_iter().chain(size).collect();
            ScheduleVariant {
                gpu: Some(GpuModel { threads_of_block: threads, ..*gpu }),
                gpu_form: form,
                ..ScheduleVariant::of_document(what.join(", "), &[])
            }
        })
    };
    // The choice of the passes has no description, and is no other schedule.
    found
        .filter(|it| *it <= gpu.threads_of_block)
        .flat_map(of_size)
        .filter(|it| !it.what.is_empty())
        .collect()
}

/// Rows of a tile.
const ROWS: [i64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Points of a row, and levels, of a block.
const POINTS: [i64; 2] = [64, 128];
const LEVELS: [i64; 2] = [4, 16];

/// Returns the variants that are worth a trial, without duplicates. The first of each kind come first, then
/// the second of each kind, and so on.
///
/// `lowered` is the tree as it was lowered. `chosen` is the same tree after the passes, with its steps. Some
/// variants give the same schedule in the end, and some steps are refused when they are applied.
pub(super) fn variants(lowered: &Tree, chosen: &Tree, machine: &MachineModel) -> Vec<ScheduleVariant> {
    let is_fused = |it: &&Step| matches!(it, Step::Tile { .. } | Step::Roll { .. });
    let fused: Vec<Step> = chosen.steps.iter().filter(is_fused).cloned().collect();
    // The steps of the first pass, which precede all others.
    let merged: Vec<Step> =
        chosen.steps.iter().take_while(|it| matches!(it, Step::Merge { .. })).cloned().collect();
    let mut tree = lowered.clone();
    tree.pins.clone_from(&chosen.pins);
    for step in &merged {
        // The passes applied the steps in this order, so that none should be refused.
        if step.clone().apply(&mut tree).is_err() {
            return Vec::new();
        }
    }
    let kinds = [
        other_groups(&tree, &merged, &fused),
        without_passes(),
        limited(&tree, &merged, &fused),
        other_machines(machine),
        kept_apart(chosen),
        blocks(&tree, &merged, &fused),
        guarded(chosen),
    ];
    let mut queues: Vec<_> = kinds.into_iter().map(Vec::into_iter).collect();
    let mut all: Vec<ScheduleVariant> = Vec::new();
    loop {
        let round: Vec<ScheduleVariant> = queues.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            return all;
        }
        for it in round {
            if !all.iter().any(|known| {
                (&known.document, &known.skip, &known.machine) == (&it.document, &it.skip, &it.machine)
            }) {
                all.push(it);
            }
        }
    }
}

/// Runs each group of the passes in other tiles, row by row instead of in tiles or vice versa, or not as a
/// group. Also offers groups that the passes did not choose.
fn other_groups(tree: &Tree, merged: &[Step], fused: &[Step]) -> Vec<ScheduleVariant> {
    let mut found = Vec::new();
    let mut offer = |what: String, fused: Vec<Step>| {
        let mut trial = tree.clone();
        if fused.iter().all(|it| it.clone().apply(&mut trial).is_ok()) {
            let steps: Vec<Step> = merged.iter().cloned().chain(fused).collect();
            found.push(ScheduleVariant::of_steps(what, &tree.pins, &steps));
        }
    };
    for (at, step) in fused.iter().enumerate() {
        let others = match step {
            Step::Tile { axis: Axis::I, first, last, .. } => of_points(first, last),
            Step::Tile { first, last, .. } | Step::Roll { first, last, .. } => of_rows(first, last),
            _ => continue,
        };
        for other in others.into_iter().filter(|it| it != step) {
            let mut steps = fused.to_vec();
            steps[at] = other.clone();
            offer(format!("{other} for {}", shortly(step)), steps);
        }
        let mut steps = fused.to_vec();
        steps.remove(at);
        offer(format!("no {step}"), steps);
    }
    // Candidates: the children of one loop over levels, each such loop, and all loops together.
    let known: BTreeSet<String> = fused.iter().map(ToString::to_string).collect();
    for (first, last) in possible_groups(tree) {
        // Row by row, and two sizes: a candidate is rarely worth more trials.
        let some = of_rows(&first, &last).into_iter().take(3);
        for step in some.filter(|it| !known.contains(&it.to_string())) {
            offer(format!("{step} and no other"), vec![step.clone()]);
            let beside = fused.iter().filter(|it| !touches(it, &first, &last)).cloned();
            offer(step.to_string(), beside.chain([step.clone()]).collect());
        }
    }
    found
}

/// A group row by row, and in tiles. The sizes that most likely give another result come first.
fn of_rows(first: &LoopRef, last: &LoopRef) -> Vec<Step> {
    let (axis, ends) = (Axis::J, || (first.clone(), last.clone()));
    let tile = |size: i64| {
        let (first, last) = ends();
        Step::Tile { axis, size, first, last }
    };
    let (from, to) = ends();
    let roll = Step::Roll { axis, first: from, last: to };
    let sizes = [8, 32, 2, 16, 4, 64, 1];
    debug_assert!(ROWS.iter().all(|it| sizes.contains(it)), "each size has its place");
    std::iter::once(roll).chain(sizes.into_iter().map(tile)).collect()
}

/// A group in tiles of parts of rows, in several sizes.
fn of_points(first: &LoopRef, last: &LoopRef) -> Vec<Step> {
    let tile = |size| Step::Tile { axis: Axis::I, size, first: first.clone(), last: last.clone() };
    [32, 64, 16, 128, 8].map(tile).to_vec()
}

/// A step without its loops, as `tile j 8` or `roll j`.
fn shortly(step: &Step) -> String {
    match step {
        Step::Tile { axis, size, .. } => format!("tile {} {size}", axis.position_name()),
        Step::Roll { axis, .. } => format!("roll {}", axis.position_name()),
        other => other.to_string(),
    }
}

/// Whether the statements of a group overlap those of another group.
fn touches(step: &Step, first: &LoopRef, last: &LoopRef) -> bool {
    match step {
        Step::Tile { first: from, last: to, .. } | Step::Roll { first: from, last: to, .. } => {
            [from.stmt, to.stmt].iter().any(|it| (first.stmt..=last.stmt).contains(it))
                || (from.stmt..=to.stmt).contains(&first.stmt)
        }
        _ => false,
    }
}

/// The children of each parallel loop over levels, each outermost loop, and all outermost loops together.
fn possible_groups(tree: &Tree) -> Vec<(LoopRef, LoopRef)> {
    let name = |path: &[usize]| LoopRef::of(tree, &path.to_vec());
    let mut found = Vec::new();
    for (at, node) in tree.children.iter().enumerate() {
        let Node::Loop(levels) = node else { continue };
        if levels.axis == Axis::K && levels.order == Order::Parallel && levels.children.len() > 1 {
            found.extend(name(&[at, 0]).zip(name(&[at, levels.children.len() - 1])));
        }
        found.extend(name(&[at]).zip(name(&[at])));
    }
    if tree.children.len() > 1 {
        found.extend(name(&[0]).zip(name(&[tree.children.len() - 1])));
    }
    found
}

/// Blocks along i and k around the outermost loops, and along i around loops that run in tiles of rows or row
/// by row.
fn blocks(tree: &Tree, merged: &[Step], fused: &[Step]) -> Vec<ScheduleVariant> {
    let mut tree = tree.clone();
    for step in fused {
        if step.clone().apply(&mut tree).is_err() {
            return Vec::new();
        }
    }
    let mut places: Vec<(Path, &[Axis])> = Vec::new();
    for (at, node) in tree.children.iter().enumerate() {
        if matches!(node, Node::Loop(_)) {
            places.push((vec![at], &[Axis::I, Axis::K]));
        }
    }
    tree.each_loop(&mut |path, it| {
        if path.len() > 1 && [names::front(Axis::J), names::tile(Axis::J)].contains(&it.variable) {
            places.push((path.clone(), &[Axis::I]));
        }
    });
    let mut found = Vec::new();
    for (path, axes) in places {
        let Some(at) = LoopRef::of(&tree, &path) else { continue };
        for &axis in axes {
            for size in if axis == Axis::K { LEVELS } else { POINTS } {
                let step = Step::Tile { axis, size, first: at.clone(), last: at.clone() };
                if step.clone().apply(&mut tree.clone()).is_ok() {
                    let steps: Vec<Step> =
                        merged.iter().chain(fused).cloned().chain([step.clone()]).collect();
                    found.push(ScheduleVariant::of_steps(step.to_string(), &tree.pins, &steps));
                }
            }
        }
    }
    found
}

/// Keeps loops apart that were merged, one statement at a time.
fn kept_apart(chosen: &Tree) -> Vec<ScheduleVariant> {
    let second = |it: &Step| match it {
        Step::Merge { second, .. } => Some(second.stmt),
        _ => None,
    };
    let stmts: BTreeSet<_> = chosen.steps.iter().filter_map(second).collect();
    stmts.into_iter().map(|it| pinned(chosen, Pin::Apart(it))).collect()
}

/// Keeps the regions of loops that were peeled as tests, one statement at a time.
fn guarded(chosen: &Tree) -> Vec<ScheduleVariant> {
    let peeled = |it: &Step| match it {
        Step::Peel(at) => Some(at.stmt),
        _ => None,
    };
    let stmts: BTreeSet<_> = chosen.steps.iter().filter_map(peeled).collect();
    stmts.into_iter().map(|it| pinned(chosen, Pin::Guarded(it))).collect()
}

fn pinned(chosen: &Tree, pin: Pin) -> ScheduleVariant {
    let all: Vec<String> = chosen.pins.iter().chain([&pin]).map(ToString::to_string).collect();
    ScheduleVariant::of_document(pin.to_string(), &all)
}

/// Merges neighbouring loops over levels that stayed apart because their ranges differ: each pair, and all of
/// them. Offers each with the tiles that the passes then choose, and with the chosen tiles.
fn limited(tree: &Tree, merged: &[Step], fused: &[Step]) -> Vec<ScheduleVariant> {
    let merge = |tree: &Tree, at: usize, ranges: Ranges| {
        let is_over_levels = |at: usize| matches!(&tree.children[at], Node::Loop(it) if it.axis == Axis::K);
        let (first, second) = (LoopRef::of(tree, &vec![at])?, LoopRef::of(tree, &vec![at + 1])?);
        (is_over_levels(at) && is_over_levels(at + 1)).then_some(Step::Merge { first, second, ranges })
    };
    let both = |what: String, limited: &[Step]| {
        let steps: Vec<Step> = merged.iter().chain(limited).cloned().collect();
        let open = ScheduleVariant {
            skip: vec![merge_loops::NAME],
            ..ScheduleVariant::of_steps(what.clone(), &tree.pins, &steps)
        };
        let mut trial = tree.clone();
        let is_legal = limited.iter().chain(fused).all(|it| it.clone().apply(&mut trial).is_ok());
        let steps: Vec<Step> = steps.iter().chain(fused).cloned().collect();
        let as_is = ScheduleVariant::of_steps(format!("{what}, in the same tiles"), &tree.pins, &steps);
        std::iter::once(open).chain((is_legal && !fused.is_empty()).then_some(as_is))
    };
    let mut found = Vec::new();
    for at in 1..tree.children.len() {
        let step = merge(tree, at - 1, Ranges::Limited);
        if let Some(step) = step.filter(|it| it.clone().apply(&mut tree.clone()).is_ok()) {
            found.extend(both(step.to_string(), std::slice::from_ref(&step)));
        }
    }
    let (mut all, mut steps, mut at) = (tree.clone(), Vec::new(), 0);
    while at + 1 < all.children.len() {
        let step = merge(&all, at, Ranges::Limited);
        match step.filter(|it| it.clone().apply(&mut all).is_ok()) {
            Some(step) => steps.push(step),
            None => at += 1,
        }
    }
    if steps.len() > 1 {
        found.splice(0..0, both("loops over levels merged, limited".to_owned(), &steps));
    }
    found
}

/// Leaves out one of the passes that decide by expected costs.
fn without_passes() -> Vec<ScheduleVariant> {
    let of = |name: &'static str| ScheduleVariant {
        skip: vec![name],
        ..ScheduleVariant::of_document(format!("without {name}"), &[])
    };
    [
        fuse_in_tiles::NAME,
        merge_loops::NAME,
        peel_regions::NAME,
        sink_sequential_levels::NAME,
        contract_temporaries::NAME,
        meet_in_domain::NAME,
    ]
    .map(of)
    .to_vec()
}

/// The choice of the passes for a machine with more or less cache, or other cores.
fn other_machines(machine: &MachineModel) -> Vec<ScheduleVariant> {
    let caches = |times: u64, of: u64| {
        let mut other = machine.clone();
        other.caches.iter_mut().for_each(|it| it.bytes = it.bytes * times / of);
        let what =
            if of == 1 { format!("{times} times the caches") } else { format!("1/{of} of the caches") };
        (what, other)
    };
    let cores = |n: u32| (format!("for {n} cores"), MachineModel { cores: n, ..machine.clone() });
    let all = [caches(1, 2), caches(2, 1), caches(1, 4), caches(4, 1), cores(1), cores(8), caches(1, 16)];
    let other = all.into_iter().filter(|(_, it)| it != machine);
    other
        .map(|(what, it)| ScheduleVariant { machine: Some(it), ..ScheduleVariant::of_document(what, &[]) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::pass::Cache;
    use crate::pipeline::{Compilation, NoHook, route};
    use crate::project::Project;

    const TEXT: &str = "\
def s(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        lap = (q[1, 0, 0] + q[-1, 0, 0] + q[0, 1, 0] + q[0, -1, 0]) - 4.0 * q
        fx = lap[1, 0, 0] - lap
        fx = 0.0 if fx * (q[1, 0, 0] - q) > 0.0 else fx
        fy = lap[0, 1, 0] - lap
        fy = 0.0 if fy * (q[0, 1, 0] - q) > 0.0 else fy
        out = q - (fx - fx[-1, 0, 0] + fy - fy[0, -1, 0])
";

    fn machine() -> MachineModel {
        let cache = |bytes| Cache { bytes, cores: 1 };
        MachineModel {
            cores: 2,
            caches: vec![cache(48 << 10), cache(1 << 20)],
            line_bytes: 64,
            vector_bytes: 32,
        }
    }

    fn compiled(document: &str, variant: Option<&ScheduleVariant>) -> Compilation {
        compiled_from(TEXT, document, variant)
    }

    fn compiled_from(text: &str, document: &str, variant: Option<&ScheduleVariant>) -> Compilation {
        let mut project = Project::of_one("main.py", text);
        let mut config = Config::default();
        config.passes.steps = true;
        config.passes.machine = Some(variant.and_then(|it| it.machine.clone()).unwrap_or_else(machine));
        if !document.is_empty() {
            project.files.insert("main.schedule".to_owned(), document.into());
            config.passes.schedule = Some("main.schedule".to_owned());
        }
        config.passes.skip = variant.iter().flat_map(|it| &it.skip).map(|&it| it.to_owned()).collect();
        route::compile(&project, &config, &mut NoHook)
    }

    /// A sweep down and one up, with an array between them.
    const SOLVER: &str = "\
def s(a: Field[float], b: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            t = a / 2.0
        with interval(1, None):
            t = a / (2.0 - t[0, 0, -1])
    with computation(BACKWARD):
        with interval(-1, None):
            b = t
        with interval(0, -1):
            b = t - 0.5 * b[0, 0, 1]
";

    #[test]
    fn a_variant_is_the_document_that_comes_of_it() {
        let of_stages = [
            "tile j 8 j@s0 .. ",
            "no roll j j@s0 .. ",
            "keep apart s",
            "tile i 64 j_front@s0",
            "without schedule/fuse-in-tiles",
            "1/2 of the caches",
            "for 8 cores",
        ];
        let of_sweeps = [
            "tile j 8 k@s0 .. k@s3 for tile j 1",
            "merge k@s0 k@s1 limited",
            "loops over levels merged, limited, in the same tiles",
        ];
        for (text, all_expected, least) in [(TEXT, &of_stages[..], 8), (SOLVER, &of_sweeps, 8)] {
            let chosen = compiled_from(text, "", None);
            let variants = chosen.schedule_variants(&machine());
            let mut codes = BTreeSet::new();
            for variant in &variants {
                let made = compiled_from(text, &variant.document, Some(variant));
                assert!(!made.has_errors(), "{}: {:?}", variant.what, made.notes.diagnostics);
                let document = made.schedule_document().expect("its steps were kept");
                // Compiles the document alone, for the machine itself, with all passes.
                let again = compiled_from(text, &document, None);
                assert_eq!(again.notes.diagnostics, [], "{}", variant.what);
                // The size from which stores bypass the caches depends on the machine, not on the schedule.
                let code = |it: &Compilation| -> String {
                    let text = it.c().expect("it was reached").listing.text.clone();
                    text.lines().filter(|it| !it.contains("define ISOBAR_STREAM_FROM")).collect()
                };
                assert_eq!(code(&made), code(&again), "{}: {document}", variant.what);
                codes.insert(code(&again));
            }
            assert!(codes.len() > least, "{} of {}", codes.len(), variants.len());
            let said: Vec<&str> = variants.iter().map(|it| it.what.as_str()).collect();
            for expected in all_expected {
                assert!(said.iter().any(|it| it.starts_with(expected)), "{expected}: {said:?}");
            }
        }
    }

    #[test]
    fn loops_with_other_ranges_may_be_one() {
        let text = "\
def s(q: Field[float], out: Field[float]):
    with computation(PARALLEL):
        with interval(0, 1):
            out = q + q[0, 0, 1]
        with interval(1, None):
            out = q - q[0, 0, -1]
";
        let variants = compiled_from(text, "", None).schedule_variants(&machine());
        let limited = variants.iter().find(|it| it.what == "merge k@s0 k@s1 limited");
        let limited = limited.unwrap_or_else(|| panic!("it is among {variants:?}"));
        let made = compiled_from(text, &limited.document, Some(limited));
        let again = compiled_from(text, &made.schedule_document().expect("its steps were kept"), None);
        assert_eq!((made.notes.diagnostics.len(), again.c()), (0, made.c()));
        let tree = again.levels.schedule.expect("it was reached");
        assert_eq!(tree.children.len(), 1);
    }

    #[test]
    fn the_document_of_what_passes_chose_gives_its_code() {
        let chosen = compiled("", None);
        let again = compiled(&chosen.schedule_document().expect("its steps were kept"), None);
        assert_eq!(again.c(), chosen.c());
        assert_eq!(compiled("", None).schedule_variants(&machine()), chosen.schedule_variants(&machine()));
    }
}
