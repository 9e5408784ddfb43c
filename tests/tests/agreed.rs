//! The debug back end against what gt4py made of the same stencils and inputs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use isobar_testing::Shard;
use isobar_tests::agree::kept::{self, Kept, digest};
use isobar_tests::agree::prepare::{Ours, ours};
use isobar_tests::agree::subject::Subject;

fn check(kept: &Kept) -> Result<(), String> {
    let fields = match Subject::of_kept(kept).and_then(|it| ours(&it)).map_err(|it| it.to_string())? {
        Ours::Ran(fields) => fields,
        other => return Err(format!("{other:?}")),
    };
    for (name, expected) in &kept.outputs {
        let found = fields.get(name).map(digest).unwrap_or_default();
        if found != *expected {
            return Err(format!("`{name}` is {found} instead of {expected}"));
        }
    }
    Ok(())
}

isobar_testing::shards! {
    hundreds_of_stencils_give_the_bits_that_gt4py_gives: 2 shards of hundreds;
}

fn hundreds(shard: Shard) {
    let all = kept::all().unwrap();
    assert!(all.len() >= 400, "only {} are kept", all.len());
    let wrong: Vec<_> = shard
        .of(&all)
        .filter_map(|it| {
            // A stencil that panics is one wrong stencil among others.
            let outcome = std::panic::catch_unwind(|| check(it));
            let outcome = outcome.unwrap_or_else(|_| Err("it panics".to_owned()));
            outcome.err().map(|why| format!("{} {}: {why}", it.origin, it.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
