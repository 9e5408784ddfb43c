//! Printed levels read back: the gallery as text, and the text as the same level again.

use isobar_compiler::diag::outline::ListingFault;
use isobar_compiler::pipeline::Stage;
use isobar_compiler::schedule::passes::{PASSES, PassCx, Target};
use isobar_compiler::{gtir, oir, schedule};
use isobar_tests::levels::{CODE, loops_read_back};
use isobar_tests::{GALLERY, compiled};

#[test]
fn gtir_and_oir_of_the_gallery_read_back() {
    for name in GALLERY {
        for precision in [32, 64] {
            let compilation = compiled(name, precision);

            let text = &compilation.listing(Stage::GTIR).unwrap().text;
            let typed = readable(gtir::parse::parse(text), text);
            assert_eq!(gtir::print::listing(&typed).text, *text, "{name}");
            assert_eq!(gtir::validate::validate(&typed), Vec::<String>::new(), "{name}\n{text}");

            let text = &compilation.listing(Stage::OIR).unwrap().text;
            let ordered = readable(oir::parse::parse(text), text);
            let extents = oir::analysis::extents(&ordered);
            let caches = oir::analysis::caches::caches(&ordered);
            assert_eq!(oir::print::listing_with_facts(&ordered, &extents, &caches).text, *text, "{name}");
            assert_eq!(oir::validate::validate(&ordered), Vec::<String>::new(), "{name}\n{text}");
        }
    }
}

#[test]
fn schedule_trees_of_the_gallery_read_back_after_every_pass() {
    for name in GALLERY {
        for precision in [32, 64] {
            let compilation = compiled(name, precision);
            let explicit = compilation.levels.tree.as_ref().expect("it compiled");
            let mut scheduled = schedule::from_tree::lower(explicit);
            reads_back(&scheduled, name);
            let mut cx = PassCx::new(Target::CPU);
            for pass in PASSES {
                pass.apply(&mut scheduled, &mut cx, None);
                reads_back(&scheduled, name);
            }
        }
    }
}

#[test]
fn programs_of_loops_of_the_gallery_read_back_after_every_pass() {
    for name in GALLERY {
        for precision in [32, 64] {
            let compilation = compiled(name, precision);
            let graph = compilation.levels.sdfg.as_ref().expect("it compiled");
            for code in CODE {
                loops_read_back(graph, code()).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            }
        }
    }
}

fn reads_back(tree: &schedule::Tree, name: &str) {
    let text = schedule::print::listing(tree).text;
    let again = readable(schedule::parse::parse(&text), &text);
    assert_eq!(schedule::print::listing(&again).text, text, "{name}");
    assert_eq!(schedule::validate::validate(&again), Vec::<String>::new(), "{name}\n{text}");
}

fn readable<T>(read: Result<T, ListingFault>, text: &str) -> T {
    read.unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}
