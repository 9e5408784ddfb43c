//! Tests of the interpreters: orders that matter, values that are not kept, faults, traps.

mod kernels;

use super::compare::{Decision, ReferenceRun, RunDifference, bisect, compare, parameters};
use super::journey::{Journey, Level};
use super::run::{Options, Stop};
use super::schedule;
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::diag::Diagnostics;
use isobar_compiler::loops::passes::hoist_invariants;
use isobar_compiler::oir::analysis::program_order;
use isobar_compiler::oir::nodes::{ParamKind, Stencil};
use isobar_compiler::pass::{Pass, Pipeline};
use isobar_compiler::pipeline::Pipelines;
use isobar_compiler::schedule::analysis::cost::Machine;
use isobar_compiler::schedule::passes::merge_loops::merge_loops;
use isobar_compiler::schedule::passes::peel_regions::peel_regions;
use isobar_compiler::schedule::passes::{PassCx, Target};
use isobar_compiler::schedule::{Tree, parse::parse};
use isobar_compiler::space::{Axis, Domain};
use isobar_compiler::types::Value;
use isobar_compiler::{gtir, oir, target};

/// Points around the domain that every array has.
const HALO: i64 = 3;

/// A stencil as GTIR, as OIR.
fn stencil(text: &str) -> Stencil {
    let typed = gtir::parse::parse(text).expect("the text is GTIR");
    let mut found = Diagnostics::default();
    oir::from_gtir::lower(&typed, &mut found).unwrap_or_else(|| panic!("it is not legal: {found:?}"))
}

fn noise(at: usize, name: &str) -> Value {
    let mixed = (at * 37 + name.len() * 11 + usize::from(name.as_bytes()[0])) % 101;
    Value::Float64(f64::from(u32::try_from(mixed).expect("it is small")) / 2.0 - 10.0)
}

/// Arrays of different values for the parameters of a stencil.
fn launch(stencil: &Stencil, domain: Domain) -> Launch {
    let arguments = stencil.params.iter().map(|param| match param.what {
        ParamKind::Scalar(scalar) => Argument::Scalar(Value::Int64(2).cast(stencil.scalars[scalar].dtype)),
        ParamKind::Field(field) => {
            let field = &stencil.fields[field];
            let sizes = field.axes.iter().map(|axis| domain.along(axis) + 2 * HALO);
            let sizes = sizes.chain(field.data_dims.iter().map(|&it| i64::from(it)));
            let shape: Vec<usize> = sizes.map(|it| usize::try_from(it).expect("it is small")).collect();
            let mut array = Array::zeros(field.dtype, &shape);
            for at in 0..array.elements.len() {
                array.elements.set(at, noise(at, &field.name).cast(field.dtype));
            }
            let origin = Axis::ALL.map(|axis| if field.axes.has(axis) { HALO } else { 0 });
            Argument::Field(FieldArgument { array, origin })
        }
    });
    Launch { domain, arguments: arguments.collect() }
}

/// Whether a schedule tree does what a stencil means, and how it differs where it does not.
fn divergence(oir: &str, tree: &str) -> Option<RunDifference> {
    let (stencil, tree) = (stencil(oir), scheduled(tree));
    let launch = launch(&stencil, Domain::new(5, 4, 4));
    let reference = ReferenceRun::of(&stencil, &launch);
    reference.divergence("schedule", &Level::Schedule(&tree), &[1, 2, 3]).map(|it| it.what)
}

fn scheduled(text: &str) -> Tree {
    parse(text).expect("the text is a schedule tree")
}

const SUMS: &str = "
stencil sums
field a: float64[IJK]
field b: float64[IJK]
forward [start+1, end)
  b = b[0,0,-1] + a
";

const SUMS_HEADER: &str = "\
schedule sums
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] read-write
";

#[test]
fn a_loop_that_is_parallel_by_mistake_is_found() {
    let nest = |order: &str| {
        format!(
            "{SUMS_HEADER}for k in [1, K) {order}:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = b[i, j, k - 1] + a[i, j, k]
"
        )
    };
    assert_eq!(divergence(SUMS, &nest("ascending")), None);
    let Some(RunDifference::Element(element)) = divergence(SUMS, &nest("parallel")) else {
        panic!("it is not found")
    };
    assert_eq!(element.field, "b");
    assert!(element.stmt.is_some());
    assert!(divergence(SUMS, &nest("descending")).is_some());
}

#[test]
fn a_register_forgets_what_an_iteration_of_its_loop_wrote() {
    let oir = "
stencil once
field a: float64[IJK]
field b: float64[IJK]
parallel [start, end)
  b = a
";
    // Only the first row writes what all read.
    let tree = "\
schedule once
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
local c: float64
for k in [0, K) parallel:
  for j in [0, J) ascending:
    for i in [0, I) parallel:
      region i[, ) j[start, start+1):
        c = a[i, j, k]
      region i[, ) j[start, start+1):
        b[i, j, k] = a[i, j, k]
      region i[, ) j[start+1, ):
        b[i, j, k] = c
";
    let Some(RunDifference::Element(element)) = divergence(oir, tree) else { panic!("it is not found") };
    assert!(element.found.as_f64().is_nan());
}

#[test]
fn a_tile_has_arrays_of_its_own() {
    let oir = "
stencil twice
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = a * 2.0
  b = t[0,1,0] - t
";
    let tiled = |rows: &str| {
        format!(
            "\
schedule twice
field a: float64[I, J + 1, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[I, 4] shift [0, -j_tile] along IJ in j_tile
for k in [0, K) parallel:
  threads j_tile in [0, J) step 3 parallel:
    for j in [j_tile, min(j_tile + {rows}, J + 1)) parallel:
      for i in [0, I) parallel:
        t[i, j - j_tile] = a[i, j, k] * 2.0
    for j in [j_tile, j_tile + 3) parallel:
      where j in [0, J):
        for i in [0, I) parallel:
          b[i, j, k] = t[i, j - j_tile + 1] - t[i, j - j_tile]
"
        )
    };
    assert_eq!(divergence(oir, &tiled("4")), None);
    // The values that the neighbouring tile wrote are not there.
    let Some(RunDifference::Element(element)) = divergence(oir, &tiled("3")) else {
        panic!("it is not found")
    };
    assert!(element.found.as_f64().is_nan());
}

#[test]
fn an_index_that_leaves_its_container_is_a_fault_of_ours() {
    let text = format!(
        "{SUMS_HEADER}for k in [0, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i, j, k + 1]
"
    );
    let Some(RunDifference::End { found: Some(Stop::Fault(what)), expected: None }) = divergence(SUMS, &text)
    else {
        panic!("it is not found")
    };
    assert_eq!(what, "`a`, which has 5, 4, 4 elements, has none at 0, 0, 4 at i=0, j=0, k=3");
}

#[test]
fn an_empty_domain_touches_nothing() {
    let stencil = stencil(SUMS);
    let mut launch = launch(&stencil, Domain::new(0, 4, 4));
    let before = launch.clone();
    let tree = scheduled(SUMS_HEADER);
    let params = parameters(&stencil);
    schedule::run(&tree, &params, &program_order(&stencil), &mut launch, &Options::default())
        .expect("it ends");
    let elements = |it: &Launch| match &it.arguments[1] {
        Argument::Field(field) => field.array.elements.clone(),
        _ => panic!("it is a field"),
    };
    assert_eq!(elements(&launch), elements(&before));
}

#[test]
fn a_run_stops_at_the_statement_and_cell_and_with_the_words_of_the_debug_back_end() {
    let declared = "
stencil faults
field a: float64[IJK]
field v: float64[IJK][3,2]
field w: float32[][4]
field n: int64[IJ]
field b: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = a
  b = v.A[0, 0] + float64(w.A[0]) + float64(n)
";
    for body in [
        "parallel [start, end)\n  b = a.up(n)\n",
        "parallel [start, end)\n  b = a.at(n + 4) + a.up(3)\n",
        "parallel [start, end)\n  b = a[1,0,0].at(n + 4) + a.up(3)\n",
        "parallel [start, end)\n  b = t.up(n)\n",
        "parallel [start, end)\n  b = t.at(-1)\n",
        "parallel [start, end)\n  b = v.A[n, 0]\n",
        "parallel [start, end)\n  b = v[0,-1,0].up(n).A[1, n]\n  t = float64(w.A[n])\n",
        "forward [start, end)\n  b.up(n) = a\n",
        "backward [start, end)\n  b.at(n) = a\n",
        "backward [start, end)\n  t.up(K) = a\n  b = t\n",
        "forward [start, end)\n  v.A[0, n] = a\n",
        "parallel [start, end)\n  b = a.up(n) if a > 1000.0 else a\n",
        "parallel [start, end)\n  b = a.at(int64(a.at(n)))\n",
        "parallel [start, end)\n  b = a.at(0)\n  b = b.at(n)\n  b = a.at(n + 1)\n",
        "parallel [start, end)\n  if a.at(n) > 0.0\n    b = 1.0\n",
        "parallel [start, end)\n  if a > 0.0\n    b = a.at(n)\n  else\n    b = a.at(3 - n)\n",
        "parallel [start, end)\n  while b > a.up(n)\n    b = b - 1.0\n",
        "forward [start, end)\n  t = t.at(n)\n  b = a.up(n)\n",
    ] {
        let stencil = stencil(&format!("{declared}{body}"));
        let launch = launch(&stencil, Domain::new(5, 4, 4));
        assert!(ReferenceRun::of(&stencil, &launch).end().is_some(), "it does not stop: {body}");
        let (_, found) = compare(&Journey::usual(&stencil), &launch, &[1, 2]);
        assert_eq!(found.map(|it| it.to_string()), None, "{body}");
    }
}

/// A pass with a fault: its second change makes a loop parallel whose iterations depend on each other.
fn spread_all_levels(tree: &mut Tree, cx: &mut PassCx) {
    for node in &mut tree.children {
        if let isobar_compiler::schedule::nodes::Node::Loop(it) = node
            && cx.may_change()
        {
            it.order = isobar_compiler::schedule::nodes::Order::Parallel;
            cx.applied(format!("levels from {} on have no order", it.start), None);
        }
    }
}

#[test]
fn bisection_finds_the_pass_and_the_change_that_is_wrong() {
    const FAULTY: &[Pass<Tree>] = &[
        Pass { name: "schedule/do-nothing", run: |_, _| {}, preserves: &[] },
        Pass { name: "schedule/spread-all-levels", run: spread_all_levels, preserves: &[] },
        Pass { name: "schedule/do-nothing-more", run: |_, _| {}, preserves: &[] },
    ];
    // The first loop has only one level, so nothing is wrong with it.
    let stencil = stencil(
        "
stencil sums
field a: float64[IJK]
field b: float64[IJK]
field c: float64[IJK]
forward [start, start+1)
  c = a
forward [start+1, end)
  b = b[0,0,-1] + a
forward [start, end)
  c = b
",
    );
    let launch = launch(&stencil, Domain::new(3, 2, 6));
    let usual = Pipelines::for_target(Target::CPU, target::Target::c(None));
    let pipelines = Pipelines { schedule: Pipeline { passes: FAULTY, needed: &[] }, ..usual };
    let (run, found) = bisect(&Journey::through(&stencil, pipelines), &launch, &[1, 2, 3]);
    let found = found.expect("a pass is wrong");
    assert_eq!(found.step, "schedule/spread-all-levels");
    let remark = Some("levels from 1 on have no order".to_owned());
    assert_eq!(found.decision, Some(Decision { number: 2, remark }));
    assert!(run.len() < 8, "{run:?}");
    assert!(found.to_string().contains("with its change 2 (levels from 1 on have no order)"), "{found}");
}

/// A stencil as a schedule, as it was lowered.
fn lowered(stencil: &Stencil) -> Tree {
    let extents = oir::analysis::extents(stencil);
    isobar_compiler::schedule::from_tree::lower(&isobar_compiler::tree::from_oir::lower(stencil, &extents))
}

/// Holds a schedule against its stencil, also on domains so small that bounds from both ends meet.
fn hold(stencil: &Stencil, tree: &Tree) {
    for domain in [Domain::new(5, 4, 4), Domain::new(1, 1, 3), Domain::new(2, 3, 3)] {
        let launch = launch(stencil, domain);
        let found =
            ReferenceRun::of(stencil, &launch).divergence("schedule", &Level::Schedule(tree), &[1, 2, 3]);
        assert!(found.is_none(), "{}", found.expect("just asked"));
    }
}

/// The schedule of a stencil as lowered, and the same after these steps; both hold against the stencil.
fn text_after(oir: &str, steps: &[&str]) -> (String, String) {
    let stencil = stencil(oir);
    let mut tree = lowered(&stencil);
    let before = isobar_compiler::schedule::print::listing(&tree).text;
    hold(&stencil, &tree);
    for step in steps {
        let step = isobar_compiler::schedule::step::parse(step).expect("it is a step");
        step.apply(&mut tree).unwrap_or_else(|it| panic!("{it}"));
        hold(&stencil, &tree);
    }
    (before, isobar_compiler::schedule::print::listing(&tree).text)
}

#[test]
fn a_region_is_the_same_as_a_test_at_each_point_and_as_a_loop_of_its_own() {
    let (tested, peeled) = text_after(
        "
stencil edges
field a: float64[IJK]
field b: float64[IJK]

parallel [start, end)
  region i[start, start+2) j[, )
    b = a
  region i[end-1, end) j[, )
    b = a + 1.0
",
        &["peel i@s0", "peel i@s2"],
    );
    assert!(tested.contains("region i[start, start+2)"), "{tested}");
    assert!(!peeled.contains("region"), "{peeled}");
}

#[test]
fn a_region_is_a_test_on_small_domains_and_a_loop_on_big_ones_with_equal_results() {
    let stencil = stencil(
        "
stencil edges
field a: float64[IJK]
field b: float64[IJK]

parallel [start, end)
  b = a
  region i[start, start+2) j[, )
    b = a * 2.0
",
    );
    let scheduled_for = |points: i64| {
        let machine = Machine { domain: [points, points, 4], ..Machine::CPU };
        let mut cx = PassCx::new(Target { machine: Some(machine), ..Target::CPU });
        let mut tree = lowered(&stencil);
        merge_loops(&mut tree, &mut cx);
        peel_regions(&mut tree, &mut cx);
        hold(&stencil, &tree);
        isobar_compiler::schedule::print::listing(&tree).text
    };
    let forms = [6, 128].map(|points| {
        let text = scheduled_for(points);
        (text.matches("for i in").count(), text.matches("region i[start, start+2)").count())
    });
    assert_eq!(forms, [(1, 1), (2, 0)]);
}

#[test]
fn a_sweep_is_the_same_with_its_first_and_last_level_apart() {
    let (whole, apart) = text_after(
        "
stencil sums
field a: float64[IJK]
field b: float64[IJK]

forward [start+1, end)
  b = b[0,0,-1] + a
",
        &["split k@s0 at 2", "split k@s0#2 at K - 1"],
    );
    let n_loops = |text: &str| text.matches("for k in").count();
    assert_eq!((n_loops(&whole), n_loops(&apart)), (1, 3), "{apart}");
}

/// A pass with a fault: its second change lets iterations run twice that must not.
fn overlap_all_rows(
    program: &mut isobar_compiler::loops::Program,
    cx: &mut isobar_compiler::loops::passes::PassCx,
) {
    use isobar_compiler::loops::nodes::{Decisions, Item, Lanes};

    fn mark(items: &[Item], decisions: &mut Decisions, cx: &mut isobar_compiler::loops::passes::PassCx) {
        for item in items {
            match item {
                Item::For(it) if it.axis == Axis::I && cx.may_change() => {
                    let lanes = decisions.lanes(it.id);
                    decisions.set_lanes(it.id, Lanes { is_masked: true, may_overlap: true, ..lanes });
                    cx.applied("the last vector overlaps the one before".to_owned(), []);
                }
                item => item.blocks().into_iter().for_each(|it| mark(it, decisions, cx)),
            }
        }
    }
    let isobar_compiler::loops::Program { functions, decisions, .. } = program;
    functions.values().for_each(|it| mark(&it.body, decisions, cx));
}

/// A pass with a fault that only vectors of 512 bits show.
fn overlap_wide_rows(
    program: &mut isobar_compiler::loops::Program,
    cx: &mut isobar_compiler::loops::passes::PassCx,
) {
    if cx.options.vector_bits >= 512 {
        overlap_all_rows(program, cx);
    }
}

#[test]
fn a_pass_that_is_wrong_for_one_width_of_vectors_is_found_in_the_code_of_that_width() {
    const FAULTY: &[Pass<isobar_compiler::loops::Program>] =
        &[Pass { name: "loops/overlap-wide-rows", run: overlap_wide_rows, preserves: &[] }];
    let stencil = stencil(
        "
stencil counts
field n: float64[IJK]
forward [start+1, end)
  n = n + 1.0
",
    );
    let launch = launch(&stencil, Domain::new(5, 4, 4));
    let first_wrong = |vector_bits: u32| {
        let usual = Pipelines::for_target(Target::CPU, target::Target::native(vector_bits, None));
        let pipelines = Pipelines { loops: Pipeline { passes: FAULTY, needed: &[] }, ..usual };
        bisect(&Journey::through(&stencil, pipelines), &launch, &[1, 2]).1.map(|it| it.step)
    };
    assert_eq!(first_wrong(256), None);
    assert_eq!(first_wrong(512).as_deref(), Some("loops/overlap-wide-rows"));
}

#[test]
fn a_pass_of_loops_with_a_fault_is_found_with_its_change() {
    const FAULTY: &[Pass<isobar_compiler::loops::Program>] = &[
        Pass { name: hoist_invariants::NAME, run: hoist_invariants::hoist_invariants, preserves: &[] },
        Pass { name: "loops/overlap-all-rows", run: overlap_all_rows, preserves: &[] },
    ];
    let stencil = stencil(
        "
stencil counts
field a: float64[IJK]
field b: float64[IJK]
field n: float64[IJK]
parallel [start, end)
  b = a[0,0,0] + 1.0
forward [start+1, end)
  n = n + b[0,0,-1]
",
    );
    let launch = launch(&stencil, Domain::new(5, 4, 4));
    let usual = Pipelines::for_target(Target::CPU, target::Target::c(None));
    let pipelines = Pipelines { loops: Pipeline { passes: FAULTY, needed: &[] }, ..usual };
    let (run, found) = bisect(&Journey::through(&stencil, pipelines), &launch, &[1, 2]);
    let found = found.expect("the pass is wrong");
    assert_eq!(found.step, "loops/overlap-all-rows");
    assert_eq!(
        found.decision,
        Some(Decision { number: 2, remark: Some("the last vector overlaps the one before".to_owned()) })
    );
    assert!(run.len() < 12, "{run:?}");
}
