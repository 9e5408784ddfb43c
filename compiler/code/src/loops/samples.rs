//! The loops of small schedules, and the C that is generated for them, for the tests of this module.

use expect_test::Expect;

use crate::c::{COptions, generate};
use crate::sdfg::from_schedule::lower;
use crate::target::Target;
use isobar_middle::samples;

use super::ready;

/// Compares the C of loops, without the declarations at the start of the function.
pub(super) fn check(loops: &str, expected: &Expect) {
    let tree = samples::parsed(&format!(
        "\
schedule same
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] read-write
field p: float64[K] shift [0] read
scalar s: float64
temporary t: float64[I, J, K] shift [0, 0, 0] heap
local c: float64
threads j in [0, J) parallel:
{loops}"
    ));
    let text = generate(&ready(&lower(&tree), &Target::c(None)), &COptions::default()).listing.text;
    let function = &text[text.find("void step_1_at").expect("there is a step")..];
    let function = &function[..function.find("\n}").expect("functions end")];
    // Other tests check prefetches.
    let mut is_fetched = false;
    let is_loop = |it: &&str| {
        let ends_fetch = std::mem::replace(&mut is_fetched, it.contains("ISOBAR_FETCH"));
        !ends_fetch && !is_fetched && !it.contains("run->")
    };
    let lines = function.lines().skip(2).filter(is_loop);
    let lines: Vec<&str> = lines.map(|it| it.strip_prefix("  ").unwrap_or(it)).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}
