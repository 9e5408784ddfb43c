//! Machine code made in process gives the bits of the interpreter, with any number of threads and any strides; so does
//! C, of which the equivalence of generated stencils tells less, as compiling it takes long.

use std::path::Path;

use isobar_compiler::backend::array::{Array, Elements};
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_protocol::request::Mode;
use isobar_runner::config::{Environment, Tools};
use isobar_runner::executors::{Backend, Setting, Vectors};
use isobar_tests::against::native_gives_the_bits_of_debug;
use isobar_tests::agree::prepare;
use isobar_tests::agree::subject::Subject;
use isobar_tests::conformance::{self, blocks};
use isobar_tests::generate::Features;
use isobar_tests::kernels::fields::Fields;
use isobar_tests::{GALLERY, compiled, compiled_text, launch, root};

/// The C compiler of this machine; where there is none, that is said.
fn tools() -> Option<Tools> {
    let environment = Environment {
        path: std::env::var_os("PATH").unwrap_or_default(),
        cc: std::env::var("CC").ok(),
        ..Environment::default()
    };
    let tools = Tools::find(&environment);
    if let Err(why) = &tools.cc {
        eprintln!("skipped: {why}");
        return None;
    }
    Some(tools)
}

fn check(compilation: &Compilation, launch: &Launch) -> Result<(), String> {
    let nothing = Err(String::new());
    let setting = Setting {
        cc: &nothing,
        cache: None,
        temporary: Path::new(""),
        threads: 1,
        mode: Mode::Reproducible,
        vectors: Vectors::Widest,
        has_lines: false,
    };
    let done = native_gives_the_bits_of_debug(Backend::Rayon, compilation, launch, setting);
    done.map(|_| ()).map_err(|it| format!("{it:#}"))
}

/// The same arrays with neighbours along the last dimension side by side.
fn in_c_order(launch: &Launch) -> Launch {
    let mut other = launch.clone();
    for argument in &mut other.arguments {
        let Argument::Field(field) = argument else { continue };
        let old = field.array.clone();
        let elements = Elements::zeros(old.dtype(), old.elements.len());
        field.array = Array::from_c_order(elements, &old.shape).expect("as many as the shape says");
        for index in old.indices() {
            let at = index.iter().zip(&field.array.strides).map(|(at, stride)| at * stride).sum();
            field.array.elements.set(at, old.get(&index));
        }
    }
    other
}

#[test]
fn the_gallery_gives_the_bits_of_debug() {
    for name in GALLERY {
        for precision in [64, 32] {
            let compilation = compiled(name, precision);
            // Fewer columns than lanes, some more than that, and more rows than a tile has.
            for domain in
                [Domain::new(1, 1, 4), Domain::new(3, 2, 5), Domain::new(13, 9, 6), Domain::new(6, 70, 4)]
            {
                let given = launch(&compilation, domain);
                for given in [&given, &in_c_order(&given)] {
                    let done = check(&compilation, given);
                    assert_eq!(done, Ok(()), "{name} in {precision} bits on {domain}");
                }
            }
        }
    }
}

#[test]
fn the_stencils_of_the_conformance_pages_give_the_bits_of_debug() {
    let (mut wrong, mut count) = (String::new(), 0);
    for entry in std::fs::read_dir(root().join("tests/conformance")).expect("the pages are there") {
        let path = entry.expect("it is a page").path();
        if path.extension().is_none_or(|it| it != "md") {
            continue;
        }
        for block in blocks(&std::fs::read_to_string(&path).expect("it is text")) {
            let Ok(compilation) = conformance::compile(&block) else { continue };
            let (false, Some(signature)) = (compilation.has_errors(), &compilation.signature) else {
                continue;
            };
            let Ok(call) = conformance::call(&block, &compilation, signature) else { continue };
            let Ok(given) = compilation.bind(call) else { continue };
            count += 1;
            for given in [&given, &in_c_order(&given)] {
                if let Err(found) = check(&compilation, given) {
                    wrong.push_str(&format!("{}: {found}\n", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 100, "{count} stencils of the pages were run");
}

/// What is written past the caches: whole rows, of fields that no cache keeps.
#[test]
fn rows_of_large_fields_give_the_bits_of_debug() {
    let (name, domain) = (GALLERY[0], Domain::new(131, 128, 64));
    let compilation = compiled(name, 64);
    let signature = compilation.signature.as_ref().expect("it compiles");
    let given = Fields::aligned(&launch(&compilation, domain), signature).launch;
    assert_eq!(check(&compilation, &given), Ok(()), "{name} on {domain}");
}

/// Of stencils that handed on values between steps, or arrays between graphs, in a way that was lost, and some others.
const IN_C: [u64; 5] = [2, 11, 30, 243, 259];

#[test]
fn generated_stencils_give_the_bits_of_debug_in_c() {
    let Some(tools) = tools() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated_in_c");
    std::fs::create_dir_all(&folder).expect("a folder of the build");
    for seed in IN_C {
        let subject = Subject::of_seed_with(seed, |it| Features { partial: seed.is_multiple_of(3), ..it });
        let compilation = subject.compile();
        let signature = compilation.signature.as_ref().expect("it compiles");
        for domain in [Domain::new(5, 4, 6), Domain::new(2, 2, 3)] {
            let on_domain = Subject { domain, ..subject.clone() };
            let call = prepare::call(&on_domain, &compilation, signature).expect("inputs are made");
            let Ok(given) = compilation.bind(call) else { continue };
            let cache = folder.join("cache");
            let mode = Mode::Reproducible;
            let setting = Setting {
                cc: &tools.cc,
                cache: Some(&cache),
                temporary: &folder,
                threads: 1,
                mode,
                vectors: Vectors::Widest,
                has_lines: false,
            };
            let done = native_gives_the_bits_of_debug(Backend::Openmp, &compilation, &given, setting);
            assert_eq!(done.map(|_| ()).map_err(|it| format!("{it:#}")), Ok(()), "seed {seed} on {domain}");
        }
    }
}

#[test]
fn c_of_many_steps_is_compiled_in_parts_and_gives_the_bits_of_debug() {
    let Some(tools) = tools() else { return };
    let chain = std::fs::read_to_string(root().join("tests/kernels/chain.py")).expect("it is text");
    let is_statement = |it: &str| it.starts_with("        ") && it.contains(" = ");
    let apart = chain.lines().map(|it| match is_statement(it) {
        true => format!("        # @keep apart\n{it}\n"),
        false => format!("{it}\n"),
    });
    let compilation = compiled_text("chain", &apart.collect::<String>(), 64);
    let artifact = compilation.levels.artifact.as_ref().expect("there is C");
    assert!(artifact.n_parts > 4, "{} parts", artifact.n_parts);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("in_parts");
    std::fs::create_dir_all(&folder).expect("a folder of the build");
    let setting = Setting {
        cc: &tools.cc,
        cache: None,
        temporary: &folder,
        threads: 1,
        mode: Mode::Reproducible,
        has_lines: false,
        vectors: Vectors::Widest,
    };
    let given = launch(&compilation, Domain::new(9, 7, 5));
    let done = native_gives_the_bits_of_debug(Backend::Openmp, &compilation, &given, setting);
    assert_eq!(done.map(|_| ()).map_err(|it| format!("{it:#}")), Ok(()));
}
