//! The journey as text: every level of the gallery.
//!
//! `UPDATE_EXPECT=1 cargo test -p isobar-tests snapshots::` writes them anew;
//! read the difference as if someone else had written it.

use expect_test::expect_file;
use isobar_compiler::pipeline::Stage;
use isobar_tests::{GALLERY, compiled, root};

#[test]
fn every_level_of_the_gallery_looks_as_it_did() {
    for name in GALLERY {
        let compilation = compiled(name, 64);
        for &stage in Stage::OF_STENCIL {
            let path = root().join(format!("tests/snapshots/{name}.{stage}.txt"));
            expect_file![path].assert_eq(&compilation.listing(stage).unwrap().text);
        }
    }
}

#[test]
fn two_compilations_give_the_same_bytes() {
    for name in GALLERY {
        for precision in [32, 64] {
            let [first, second] = [(); 2].map(|()| compiled(name, precision));
            assert!(first.listings().eq(second.listings()), "{name}");
        }
    }
}

#[test]
fn every_level_links_every_statement_back_to_the_text() {
    for name in GALLERY {
        let compilation = compiled(name, 64);
        for &stage in Stage::OF_STENCIL {
            let listing = compilation.listing(stage).unwrap();
            let n_lines = u32::try_from(listing.text.lines().count()).unwrap();
            assert!(listing.nodes.iter().any(|it| !it.stmts.is_empty()), "{name}: {stage} has no links");
            for node in &listing.nodes {
                assert!(
                    node.lines.start <= node.lines.end && node.lines.end <= n_lines,
                    "{name}: {stage}: {node:?}"
                );
                for span in &node.spans {
                    assert!(
                        compilation
                            .front
                            .file(span.file)
                            .is_some_and(|(_, text)| span.end as usize <= text.len())
                    );
                }
            }
        }
    }
}
