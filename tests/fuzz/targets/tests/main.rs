//! Each target takes our own texts, all inputs that broke it once, and mutations of both.
//!
//! `cargo xtask fuzz` looks for further inputs with coverage. A copy of one that breaks a target in
//! `tests/fuzz/corpus/TARGET` is tried here from then on.

use std::panic::catch_unwind;

use isobar_fuzz_targets::mutate::mutated;
use isobar_fuzz_targets::seeds::of_target;
use isobar_fuzz_targets::{TARGETS, Target};
use isobar_testing::Shard;

/// Longer inputs are shortened in a message.
const MOST_TOLD: usize = 2_000;

isobar_testing::shards! {
    stencils_of_ours_are_taken: 8 shards of stencils;
    texts_of_ours_are_edited: 8 shards of texts;
    notations_links_and_requests_of_ours_are_read: 2 shards of others;
}

isobar_testing::over_seeds! {
    mutated_stencils_are_taken: 0..12_000 in 8 shards of mutated_stencils;
    mutated_texts_are_edited: 0..3_000 in 4 shards of mutated_texts;
    mutated_notations_are_read: 0..8_000 in 2 shards of mutated_notations;
    mutated_requests_are_read: 0..12_000 in 2 shards of mutated_requests;
    mutated_links_are_read: 0..4_000 in 2 shards of mutated_links;
}

fn target(name: &str) -> Target {
    *TARGETS.iter().find(|it| it.name == name).expect("it is one of the five")
}

/// Gives an input to a target; where that panics, the message of the test names the input.
fn hold(target: Target, input: &[u8]) {
    if catch_unwind(|| (target.hold)(input)).is_err() {
        let text = String::from_utf8_lossy(input);
        let told: String = text.chars().take(MOST_TOLD).collect();
        let end = if told.len() < text.len() { "…" } else { "" };
        panic!("`{}` panics, as told above, with these {} bytes:\n{told}{end}", target.name, input.len());
    }
}

fn own(name: &str, shard: Shard) {
    let inputs = of_target(name).expect("our texts are there");
    shard.of(&inputs).for_each(|it| hold(target(name), it));
}

fn stencils(shard: Shard) {
    own("stencil", shard);
}

fn texts(shard: Shard) {
    own("editor", shard);
}

fn others(shard: Shard) {
    ["notation", "link", "request"].iter().for_each(|it| own(it, shard));
}

fn mutations(name: &str, seeds: &[u64]) {
    let inputs = of_target(name).expect("our texts are there");
    seeds.iter().for_each(|&it| hold(target(name), &mutated(&inputs, it)));
}

fn mutated_stencils(seeds: &[u64]) {
    mutations("stencil", seeds);
}

fn mutated_texts(seeds: &[u64]) {
    mutations("editor", seeds);
}

fn mutated_notations(seeds: &[u64]) {
    mutations("notation", seeds);
}

fn mutated_requests(seeds: &[u64]) {
    mutations("request", seeds);
}

fn mutated_links(seeds: &[u64]) {
    mutations("link", seeds);
}

#[test]
fn a_seed_mutates_in_the_same_way_each_time_and_another_in_another_way() {
    let inputs = of_target("stencil").expect("our texts are there");
    let all: std::collections::BTreeSet<_> = (0..50).map(|it| mutated(&inputs, it)).collect();
    assert!(all.len() > 45, "{} of 50 mutations are different", all.len());
    assert_eq!(mutated(&inputs, 7), mutated(&inputs, 7));
}
