//! Random stencils: passes keep their meaning, and their text reads back.

use proptest::prelude::*;

use super::tests::{all_fields, run_oir_ended};
use super::*;
use crate::diag::Diagnostics;
use crate::oir;
use crate::oir::passes::{PASSES, PassCx};
use crate::space::Domain;
use crate::types::DType;
use isobar_front::gtir;
use isobar_middle::{schedule, tree};

const HEADER: &str = "
stencil random
field a: float64[IJK]
field b: float64[IJK]
field p: float64[IJ]
temporary t: float64[IJK]
temporary u: float64[IJK]
temporary m: bool[IJK]
temporary v: float64[IJK]

parallel [start, end)
  t = a
  u = a * 0.5
  m = a > 0.0
  v = a[1,0,0] - a
";

fn offset() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        2 => (-1..2_i32, -1..2_i32).prop_map(|(i, j)| format!("[{i},{j},0]")),
        1 => (-1..2_i32).prop_map(|k| format!("[0,0,{k}]")),
    ]
}

fn read() -> impl Strategy<Value = String> {
    prop_oneof![
        (prop_oneof![Just("a"), Just("t"), Just("u"), Just("v")], offset()).prop_map(|(name, offset)| {
            if offset == "[0,0,0]" { name.to_owned() } else { format!("{name}{offset}") }
        }),
        Just("b".to_owned()),
        Just("p".to_owned()),
        Just("1.5".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        read(),
        // Expressions that passes can fold, share, or hoist out of the loop over levels.
        Just("1.0 * a + 0.0".to_owned()),
        Just("(a - 0.5) * (t + 1.0)".to_owned()),
        Just("p * 0.5".to_owned()),
        (read(), prop_oneof![Just("+"), Just("-"), Just("*")], read())
            .prop_map(|(left, op, right)| format!("{left} {op} {right}")),
        (read(), read(), read())
            .prop_map(|(then, left, otherwise)| format!("{then} if {left} > 0.25 else {otherwise}")),
    ]
}

fn assign() -> impl Strategy<Value = String> {
    let target = prop_oneof![Just("b"), Just("t"), Just("u"), Just("v")];
    (target, value()).prop_map(|(target, value)| format!("{target} = {value}"))
}

fn region() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("i[start, start+1) j[, )"),
        Just("i[start-1, start) j[, )"),
        Just("i[end-1, end+1) j[start, end)"),
        Just("i[, ) j[end-2, end)"),
        Just("i[start-40, start-39) j[, )"),
        Just("i[start+1, start+2) j[end-1, )"),
    ]
}

/// The lines of one block.
fn block() -> impl Strategy<Value = String> {
    let body = || proptest::collection::vec(assign(), 1..3).prop_map(|it| it.join("\n    "));
    prop_oneof![
        4 => assign().prop_map(|it| format!("  {it}\n")),
        1 => (read(), body()).prop_map(|(read, body)| format!("  if {read} > 0.1\n    {body}\n")),
        1 => (read(), body(), body())
            .prop_map(|(read, then, otherwise)| format!("  if {read} > 0.1\n    {then}\n  else\n    {otherwise}\n")),
        1 => read().prop_map(|it| format!("  m = {it} > 0.1\n")),
        1 => (prop_oneof![Just("m"), Just("not m"), Just("a > 0.1")], body())
            .prop_map(|(condition, body)| format!("  if {condition}\n    {body}\n")),
        // It ends, since nothing but its last line assigns what it asks.
        1 => value().prop_map(|it| format!("  u = a\n  while u < 1.0\n    b = {it}\n    u = u + 0.5\n")),
        1 => (region(), body()).prop_map(|(region, body)| format!("  region {region}\n    {body}\n")),
    ]
}

fn vertical_loop() -> impl Strategy<Value = String> {
    let order = prop_oneof![2 => Just("parallel"), 1 => Just("forward"), 1 => Just("backward")];
    let interval = prop_oneof![Just("[start+1, end-1)"), Just("[start+1, start+2)")];
    (order, interval, proptest::collection::vec(block(), 1..5))
        .prop_map(|(order, interval, blocks)| format!("\n{order} {interval}\n{}", blocks.concat()))
}

fn stencil() -> impl Strategy<Value = String> {
    proptest::collection::vec(vertical_loop(), 1..4).prop_map(|loops| format!("{HEADER}{}", loops.concat()))
}

/// Statements that write `b`, as a whole or not.
fn writes_of_b() -> impl Strategy<Value = String> {
    let interval = prop_oneof![
        Just("[start, end)"),
        Just("[start, start+1)"),
        Just("[start+1, end)"),
        Just("[start, end-1)"),
        Just("[end-1, end)"),
    ];
    let body = prop_oneof![
        Just("  b = a\n"),
        Just("  if a > 0.1\n    b = a\n  else\n    b = p\n"),
        Just("  if a > 0.1\n    b = 1.0\n"),
        Just("  b = b + a\n"),
    ];
    let block = (interval, body).prop_map(|(interval, body)| format!("\nparallel {interval}\n{body}"));
    proptest::collection::vec(block, 1..4).prop_map(|it| it.concat())
}

/// The stencil as GTIR and OIR, where it is legal.
fn lowered(text: &str) -> Option<(gtir::Stencil, Stencil)> {
    let typed = gtir::parse::parse(text).expect("the text is GTIR");
    let mut found = Diagnostics::default();
    let is_legal = gtir::analysis::dependencies::check(&typed, &mut found)
        & gtir::analysis::recurrence::check(&typed, &mut found)
        & gtir::analysis::k_boundary::check(&typed, &mut found);
    let ordered = oir::from_gtir::lower(&typed, &mut found)?;
    is_legal.then_some((typed, ordered))
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn noise(name: &str, [i, j, k]: [i64; 3]) -> f64 {
    let seed = i * 7919 + j * 104_729 + k * 1_299_709 + i64::from(name.as_bytes()[0]);
    ((seed * seed).rem_euclid(2003)) as f64 / 1001.0 - 1.0
}

/// Temporaries that are written here and there, and read anywhere.
/// The last declaration of [`GAPS`].
const LAST_DECLARED: &str = "temporary v: float64[IJK]\n";

const GAPS: &str = "
stencil gaps
field a: float64[IJK]
field b: float64[IJK]
field p: float64[IJ]
temporary t: float64[IJK]
temporary u: float64[IJK]
temporary m: bool[IJK]
temporary v: float64[IJK]

parallel [start, end)
  t = a
forward [start+1, end)
  u = a
  if a > -5.0
    v = 1.0
";

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn passes_keep_the_meaning(text in stencil()) {
        let Some((_, mut optimized)) = lowered(&text) else { return Err(TestCaseError::reject("not legal")) };
        let domain = Domain::new(4, 3, 4);
        let expected = all_fields(&run_oir_ended(optimized.clone(), domain, noise));
        let mut cx = PassCx::new(Default::default());
        for pass in PASSES {
            pass.apply(&mut optimized, &mut cx, None);
            let listing = oir::print::listing(&optimized).text;
            prop_assert_eq!(oir::validate::validate(&optimized), Vec::<String>::new(), "{} {}", pass.name, listing);
            let found = all_fields(&run_oir_ended(optimized.clone(), domain, noise));
            prop_assert!(found == expected, "{} changed the result:\n{}", pass.name, listing);
        }
    }

    #[test]
    fn each_pass_alone_and_passes_in_any_order_keep_the_meaning(
        text in stencil(),
        order in proptest::collection::vec(0..PASSES.len(), 1..8),
    ) {
        let Some((_, lowered)) = lowered(&text) else { return Err(TestCaseError::reject("not legal")) };
        let domain = Domain::new(3, 2, 4);
        let expected = all_fields(&run_oir_ended(lowered.clone(), domain, noise));
        let alone = (0..PASSES.len()).map(|it| vec![it]);
        for sequence in alone.chain([order]) {
            let mut optimized = lowered.clone();
            let mut cx = PassCx::new(Default::default());
            let mut is_changed = false;
            for &at in &sequence {
                is_changed |= PASSES[at].apply(&mut optimized, &mut cx, None);
            }
            if !is_changed {
                continue;
            }
            let names: Vec<&str> = sequence.iter().map(|&it| PASSES[it].name).collect();
            let listing = oir::print::listing(&optimized).text;
            prop_assert_eq!(oir::validate::validate(&optimized), Vec::<String>::new(), "{:?} {}", names, listing);
            let found = all_fields(&run_oir_ended(optimized, domain, noise));
            prop_assert!(found == expected, "{names:?} changed the result:\n{listing}");
        }
    }

    #[test]
    fn what_is_read_undefined_was_foretold(text in stencil()) {
        // Nothing else gives NaN here.
        let text = text.replace(HEADER, GAPS);
        let Some((_, stencil)) = lowered(&text) else { return Err(TestCaseError::reject("not legal")) };
        let extents = oir::analysis::extents(&stencil);
        let foretold = oir::analysis::definite_assignment::reads_undefined(&stencil, &extents);
        // Once these have values, nothing may be left without.
        let zero = |it: &oir::analysis::definite_assignment::UndefinedRead<'_>| {
            let field = &stencil.fields[it.field];
            let zero = if field.dtype == DType::Bool { "false" } else { "0.0" };
            format!("  {} = {zero}\n", field.name)
        };
        let values: String = foretold.iter().map(zero).collect();
        let before = if values.is_empty() { values } else { format!("parallel [start, end)\n{values}") };
        let text = text.replace(LAST_DECLARED, &format!("{LAST_DECLARED}\n{before}"));
        let Some((_, stencil)) = lowered(&text) else { return Err(TestCaseError::reject("not legal")) };
        // Some regions reach points, on domains smaller than they are, that no assignment does.
        let extents = oir::analysis::extents(&stencil);
        if !oir::analysis::definite_assignment::reads_undefined(&stencil, &extents).is_empty() {
            return Err(TestCaseError::reject("still undefined"));
        }
        for domain in [Domain::new(4, 3, 4), Domain::new(1, 2, 3), Domain::new(2, 1, 3)] {
            let found = all_fields(&run_oir_ended(stencil.clone(), domain, noise));
            let numbers = found.iter().flat_map(|it| it.as_chunks().0).map(|it| f64::from_le_bytes(*it));
            let is_undefined = numbers.into_iter().any(f64::is_nan);
            prop_assert!(!is_undefined, "{domain}\n{text}");
        }
    }

    #[test]
    fn old_values_of_what_is_written_as_a_whole_change_nothing(text in stencil(), first in writes_of_b()) {
        let text = text.replace(HEADER, &[HEADER, &first].concat());
        let Some((_, stencil)) = lowered(&text) else { return Err(TestCaseError::reject("not legal")) };
        let extents = oir::analysis::extents(&stencil);
        let b = stencil.fields.find(|it| it.name == "b").expect("b");
        if oir::analysis::access_kinds(&stencil, &extents)[b] != oir::analysis::AccessKind::Write {
            return Ok(());
        }
        for domain in [Domain::new(3, 2, 4), Domain::new(1, 2, 3)] {
            let size = [domain.i, domain.j, domain.k];
            let other = |name: &str, cell: [i64; 3]| {
                let is_inside = cell.iter().zip(size).all(|(at, n)| (0..n).contains(at));
                if name == "b" && is_inside { 1e9 } else { noise(name, cell) }
            };
            let expected = all_fields(&run_oir_ended(stencil.clone(), domain, noise));
            let found = all_fields(&run_oir_ended(stencil.clone(), domain, other));
            prop_assert!(found == expected, "{domain}\n{text}");
        }
    }

    #[test]
    fn what_is_printed_reads_back(text in stencil()) {
        let typed = gtir::parse::parse(&text).expect("the text is GTIR");
        let printed = gtir::print::listing(&typed).text;
        let again = gtir::parse::parse(&printed).expect("what is printed is GTIR");
        prop_assert_eq!(&gtir::print::listing(&again).text, &printed);
        prop_assert_eq!(printed.trim(), text.trim());
        prop_assert_eq!(gtir::validate::validate(&typed), Vec::<String>::new());

        if let Some((_, ordered)) = lowered(&text) {
            let extents = oir::analysis::extents::extents(&ordered);
            let printed = oir::print::listing_with_extents(&ordered, &extents).text;
            let again = oir::parse::parse(&printed).expect("what is printed is OIR");
            prop_assert_eq!(oir::print::listing_with_extents(&again, &extents).text, printed);

            let mut scheduled = schedule::from_tree::lower(&tree::from_oir::lower(&ordered, &extents));
            let mut cx = schedule::passes::PassCx::new(schedule::passes::Target::CPU);
            for pass in schedule::passes::PASSES {
                pass.apply(&mut scheduled, &mut cx, None);
                let printed = schedule::print::listing(&scheduled).text;
                let again = schedule::parse::parse(&printed).expect("what is printed is a schedule tree");
                prop_assert_eq!(&schedule::print::listing(&again).text, &printed);
                prop_assert_eq!(schedule::validate::validate(&again), Vec::<String>::new(), "{}", printed);
            }
        }
    }
}
