//! Graphs as files: what DaCe was found to load, validate, compile and run stays as it is, and reads back.
//!
//! `UPDATE_EXPECT=1 cargo test -p isobar-tests sdfg_files::` writes the files anew; `cargo xtask dace` then
//! shows whether DaCe still agrees.

use isobar_compiler::config::Config;
use isobar_compiler::pipeline::{NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::sdfg::file::import::from_json;
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_compiler::sdfg::validate::validate;
use isobar_compiler::space::Domain;
use isobar_equivalence::compare::ReferenceRun;
use isobar_equivalence::journey::Level;
use isobar_tests::generate::{Features, stencil};
use isobar_tests::{GALLERY, compiled, launch, root};

#[test]
fn the_files_of_the_gallery_are_those_that_dace_ran() {
    for name in GALLERY {
        let compilation = compiled(name, 64);
        let graph = compilation.levels.sdfg.as_ref().expect("it compiled");
        for (form, suffix) in [(ControlFlowStyle::Regions, "native"), (ControlFlowStyle::Flat, "flat")] {
            let path = root().join(format!("tests/golden/sdfg/{name}.{suffix}.sdfg"));
            // Without the places in the text, which each comment above would move.
            let file = format!("{}\n", to_json(graph, &[], form));
            if std::env::var_os("UPDATE_EXPECT").is_some() {
                std::fs::write(&path, &file).expect("the folder is there");
            }
            // The lines are long, so that a report of differences would not help.
            let kept = std::fs::read_to_string(&path).expect("the file is kept");
            assert!(kept == file, "{name}.{suffix}.sdfg is another one now");
        }
    }
}

#[test]
fn a_graph_that_was_read_from_a_file_does_the_same() {
    for name in GALLERY {
        let compilation = compiled(name, 64);
        let graph = compilation.levels.sdfg.as_ref().expect("it compiled");
        let sources: Vec<(&str, &str)> = compilation.front.sources().collect();
        let oir = compilation.front.oir.as_ref().expect("it compiled");
        let launch = launch(&compilation, Domain::new(5, 4, 4));
        let reference = ReferenceRun::of(oir, &launch);
        for form in [ControlFlowStyle::Regions, ControlFlowStyle::Flat] {
            let file = to_json(graph, &sources, form);
            let read = from_json(&file).unwrap_or_else(|why| panic!("{name}, {form:?}: {why}"));
            assert_eq!(validate(&read), Vec::<String>::new(), "{name}, {form:?}");
            let found = reference.divergence("import", &Level::Sdfg(&read), &[1]);
            assert_eq!(found, None, "{name}, {form:?}");
        }
    }
}

isobar_testing::over_seeds! {
    generated_graphs_read_back: 0..60 in 4 shards of generated;
}

fn generated(seeds: &[u64]) {
    for &seed in seeds {
        let generated = stencil(seed, Features::ALL);
        let project = Project::of_one("main.py", &generated.text);
        let compilation = route::compile(&project, &Config::default(), &mut NoHook);
        let Some(graph) = &compilation.levels.sdfg else { panic!("seed {seed} does not compile") };
        for form in [ControlFlowStyle::Regions, ControlFlowStyle::Flat] {
            let file = to_json(graph, &[], form);
            let read = from_json(&file)
                .unwrap_or_else(|why| panic!("seed {seed}, {form:?}: {why}\n{}", generated.text));
            assert_eq!(validate(&read), Vec::<String>::new(), "seed {seed}, {form:?}");
            assert!(to_json(&read, &[], form) == file, "seed {seed}, {form:?}");
        }
    }
}
