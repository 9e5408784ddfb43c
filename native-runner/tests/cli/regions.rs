//! Temporaries of regions, whose values go from one block of a region to another.

use super::*;

/// Corners, edges with a statement between them, a branch, and a sweep.
const REGIONS: &str = "\
# @input a random(low=0, high=1, seed=1)
# @input b constant(2)
# @input c constant(3)
from gt4py.cartesian.gtscript import FORWARD, I, J, PARALLEL, Field, computation, horizontal, interval, region


def regions(a: Field[float], b: Field[float], c: Field[float]):
    with computation(PARALLEL), interval(...):
        with horizontal(region[I[0], J[-1]]):
            t = a + 1.0
        with horizontal(region[I[0], J[-1]]):
            b = t * 2.0
        with horizontal(region[I[-1], :]):
            u = a * 3.0
        c = a
        with horizontal(region[I[-1], :]):
            c = u + c
        with horizontal(region[:, J[0]]):
            if a > 0.5:
                v = a
            else:
                v = 0.25
        with horizontal(region[:, J[0]]):
            b = b + v
    with computation(FORWARD):
        with interval(0, 1):
            with horizontal(region[I[0] + 1, :]):
                w = a
            with horizontal(region[I[0] + 1, :]):
                c = w
        with interval(1, None):
            with horizontal(region[I[0] + 1, :]):
                w = w[0, 0, -1] + a
            with horizontal(region[I[0] + 1, :]):
                c = w
";

#[test]
fn a_value_of_a_region_is_there_in_the_same_region_on_every_back_end() {
    let path = file("regions.py", REGIONS.as_bytes());
    // No temporary is read where it has no value.
    let checked = json(&isobar(&["check", &path, "--format", "json"]));
    assert_eq!(checked["diagnostics"], serde_json::json!([]));
    for domain in ["6,5,3", "1,1,2", "2,1,2"] {
        let compared = isobar(&["compare", &path, "--backends", "numpy,rayon", "--domain", domain]);
        let told = format!("{}{}", text(&compared.stdout), text(&compared.stderr));
        assert!(compared.status.success() && told.contains("rayon: the bits of `debug`"), "{domain}: {told}");
    }
    let passes = isobar(&["compare", &path, "--passes", "--domain", "4,3,2"]);
    assert!(passes.status.success(), "{}{}", text(&passes.stdout), text(&passes.stderr));
}
