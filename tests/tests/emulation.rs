//! CUDA text on a CPU leaves the bits of `debug`.

use isobar_compiler::space::Domain;
use isobar_tests::emulation::{Program, Text, has_compiler};
use isobar_tests::{GALLERY, compiled, launch};

#[test]
fn the_kernels_of_the_gallery_leave_the_bits_of_debug() {
    if !has_compiler() {
        println!("skipped: there is no `g++`");
        return;
    }
    let compilations: Vec<_> =
        GALLERY.iter().flat_map(|name| [64, 32].map(|precision| compiled(name, precision))).collect();
    let texts = compilations.iter().enumerate();
    let texts = texts.map(|(at, it)| Text::of(it, at % 3 == 0).unwrap()).collect();
    let folder = std::env::temp_dir().join(format!("isobar-emulated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut program = Program::new(texts, &folder).unwrap();
    for (at, compilation) in compilations.iter().enumerate() {
        for domain in [Domain::new(5, 4, 4), Domain::new(1, 1, 4), Domain::new(70, 37, 13)] {
            let launch = launch(compilation, domain);
            let is_other = program.gives_the_bits_of_debug(at, &launch, &[1, 2]);
            assert!(!is_other.unwrap_or_else(|why| panic!("{}: {why:#}", GALLERY[at / 2])));
        }
    }
    drop(program);
    std::fs::remove_dir_all(&folder).unwrap();
}
