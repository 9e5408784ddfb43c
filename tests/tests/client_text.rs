//! No text of a client becomes generated code, whatever files, stencils and fields are called.

use isobar_compiler::c::lines::{with_comments, with_directives, written};
use isobar_compiler::config::Config;
use isobar_compiler::pass::{Cache, MachineModel};
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_protocol::names;
use isobar_tests::agree::subject::Subject;
use isobar_tests::generate::random::Random;
use isobar_tests::{GALLERY, gallery_text, vocabulary};

/// Names that would be more than a name where they are written as they are.
const HOSTILE: [&str; 14] = [
    "m\r#include </etc/hostname>\r.py",
    "m\n#include </etc/hostname>\n.py",
    "m\"\n#pragma GCC poison double\n\".py",
    "m\\",
    "m\\\"; system(\"true\"); \".py",
    "*/ system(\"true\"); /*.py",
    "m\u{2028}#include <x>\u{2028}.py",
    "m\u{b}\u{c}#error x\u{b}.py",
    "m\0.py",
    "??/\r??=include <x>.py",
    "\u{1b}]0;x\u{7}.py",
    "'''\nimport os\n'''.py",
    "#{0}%s%n$(x)`x`.py",
    "größe.py",
];

/// Caches that a few rows fill, so that code for large fields is there too.
fn machines() -> [Config; 2] {
    let caches = vec![Cache { bytes: 1 << 10, cores: 1 }, Cache { bytes: 4 << 10, cores: 1 }];
    [32, 64].map(|vector_bytes| {
        let mut config = Config::default();
        let machine = MachineModel { cores: 4, caches: caches.clone(), line_bytes: 64, vector_bytes };
        config.passes.machine = Some(machine);
        config
    })
}

fn compiled(name: &str, text: &str, config: &Config) -> Compilation {
    route::compile(&Project::of_one(name, text), config, &mut NoHook)
}

/// The C of a compilation as it is emitted and compiled: plain, with comments, with directives. Its CUDA is held here.
fn texts(compilation: &Compilation) -> [String; 3] {
    let cuda = compilation.cuda().expect("the stencil compiles");
    vocabulary::check_cuda(&cuda.listing.text).unwrap_or_else(|why| panic!("{why}\n{}", cuda.listing.text));
    let artifact = compilation.c().expect("the stencil compiles");
    let text = &artifact.listing.text;
    let statements = written(&artifact.listing, compilation.front.sources());
    [text.clone(), with_comments(text, &statements), with_directives(text, &statements)]
}

/// Holds all generated text against that of the same stencil in a file of a plain name.
fn hold(name: &str, text: &str, config: &Config) {
    let (plain, hostile) = (compiled("main.py", text, config), compiled(name, text, config));
    let levels = |it: &Compilation| it.listings().map(|(_, it)| it.text.clone()).collect::<Vec<_>>();
    assert_eq!(levels(&plain), levels(&hostile), "{name:?}");
    assert_eq!(texts(&plain), texts(&hostile), "{name:?}");
    for text in texts(&hostile) {
        if let Err(why) = vocabulary::check(&text) {
            panic!("{why}; the file is {name:?}\n{text}");
        }
    }
}

/// A name of characters that mean something to a compiler, a shell, a terminal or a page.
fn random_name(random: &mut Random) -> String {
    const PARTS: [&str; 24] = [
        "\r",
        "\n",
        "\0",
        "\u{1b}[2J",
        "\u{9b}",
        "\u{2028}",
        "\u{85}",
        "\u{202e}",
        "\"",
        "'",
        "\\",
        "/*",
        "*/",
        "//",
        "#include <x>",
        "#line 1",
        "??/",
        "?>",
        "<script>",
        "{",
        "%s",
        "../",
        "é",
        "a",
    ];
    let n_parts = 1 + random.below(6);
    (0..n_parts).map(|_| *random.pick(&PARTS)).collect::<String>() + ".py"
}

#[test]
fn the_name_of_a_file_changes_no_generated_text() {
    let [machine, _] = machines();
    let [_, _, directed] = texts(&compiled("main.py", &gallery_text("copy_scale"), &machine));
    assert!(directed.contains("#line 23 \"0\"\n"), "{directed}");
    for name in HOSTILE {
        hold(name, &gallery_text("copy_scale"), &machine);
    }
    for name in GALLERY {
        for machine in machines() {
            hold(HOSTILE[0], &gallery_text(name), &machine);
        }
    }
}

isobar_testing::over_seeds! {
    random_names_of_files_change_no_generated_text: 0..60 in 8 shards of random_names;
}

fn random_names(seeds: &[u64]) {
    for &seed in seeds {
        let mut random = Random::new(!seed);
        let mut subject = Subject::of_seed(seed);
        let text = subject.project.main_id().map_or("", |it| subject.project.text(it));
        subject.config.passes.machine = random.pick(&machines()).passes.machine.clone();
        hold(&random_name(&mut random), text, &subject.config);
    }
}

#[test]
fn names_of_stencils_fields_and_temporaries_become_identifiers() {
    let names = [
        "größe",
        "ﬁeld",
        "変数",
        "__x__",
        "int",
        "system",
        "template",
        "threadIdx",
        "NAN",
        "isobar_run",
        "ISOBAR_FETCH",
        "step_1",
        "main",
    ];
    let [machine, _] = machines();
    for name in names {
        let text = format!(
            "def {name}({name}_a: FloatField, {name}: FloatField, {name}_s: float):\n    with computation(PARALLEL), interval(...):\n        \
             {name}_t = {name}_a[1, 0, 0] * {name}_s\n        {name} = {name}_t[0, 1, 0] + {name}_t\n"
        );
        let compilation = compiled("main.py", &text, &machine);
        assert!(!compilation.has_errors(), "{name}: {:?}", compilation.notes.diagnostics);
        for text in texts(&compilation) {
            vocabulary::check(&text).unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
        }
    }
}

#[test]
fn names_that_could_be_more_than_names_are_refused_at_the_door() {
    for name in &HOSTILE[..HOSTILE.len() - 2] {
        let is_harmless = !name.contains(|it: char| names::is_harmful(it) || it == '\\');
        assert_eq!(names::file(name).is_ok(), is_harmless, "{name:?}");
    }
    let mut random = Random::new(1);
    for _ in 0..5_000 {
        let name = random_name(&mut random);
        if names::file(&name).is_ok() {
            assert!(
                !name.chars().any(|it| it.is_control() || matches!(it, '\\' | '\u{2028}' | '\u{202e}')),
                "{name:?}"
            );
        }
    }
}
