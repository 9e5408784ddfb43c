//! From text to all levels: `cargo bench -p isobar-tests --bench compile`.

use criterion::{Criterion, criterion_group, criterion_main};
use isobar_compiler::config::Config;
use isobar_compiler::pipeline::{NoHook, route};
use isobar_compiler::project::Project;
use isobar_tests::{GALLERY, gallery_text};

fn compile(c: &mut Criterion) {
    let mut group = c.benchmark_group("text-to-all-levels");
    for name in GALLERY {
        let project = Project::of_one(&format!("{name}.py"), &gallery_text(name));
        let config = Config::default();
        group.bench_function(name, |b| {
            b.iter(|| route::compile(&project, &config, &mut NoHook).listings().count())
        });
    }
    group.finish();
}

criterion_group!(benches, compile);
criterion_main!(benches);
