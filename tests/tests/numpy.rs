//! The `numpy` back end gives the bits of `debug`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use isobar_compiler::call::run::{NoControl, Stop};
use isobar_compiler::debug;
use isobar_compiler::space::Domain;
use isobar_tests::against::numpy_gives_the_bits_of_debug;
use isobar_tests::agree::prepare::call;
use isobar_tests::agree::subject::Subject;
use isobar_tests::{GALLERY, compiled, compiled_text, launch};

/// The ordinary ones, and those on which regions and intervals meet.
const DOMAINS: [Domain; 5] = [
    Domain { i: 9, j: 4, k: 6 },
    Domain { i: 1, j: 1, k: 6 },
    Domain { i: 2, j: 3, k: 5 },
    Domain { i: 300, j: 2, k: 5 },
    Domain { i: 3, j: 1, k: 9 },
];

fn check(name: &str, text: &str, domains: &[Domain]) {
    let compilation = compiled_text(name, text, 64);
    for &domain in domains {
        let launch = launch(&compilation, domain);
        if let Err(wrong) = numpy_gives_the_bits_of_debug(&compilation, &launch) {
            panic!("{name} on {domain}: {wrong:#}\n{text}");
        }
    }
}

#[test]
fn the_gallery_has_the_bits_of_debug() {
    for name in GALLERY {
        for precision in [64, 32] {
            let compilation = compiled(name, precision);
            for domain in [Domain::new(13, 9, 7), Domain::new(1, 2, 5), Domain::new(270, 3, 5)] {
                let launch = launch(&compilation, domain);
                numpy_gives_the_bits_of_debug(&compilation, &launch).unwrap();
            }
        }
    }
}

isobar_testing::over_seeds! {
    generated_stencils_have_the_bits_of_debug: 0..150 in 2 shards of generated;
}

fn generated(seeds: &[u64]) {
    let n = seeds.len();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for subject in seeds.iter().map(|&it| Subject::of_seed(it)) {
        let compilation = subject.compile();
        let Some(signature) = &compilation.front.signature else { continue };
        for domain in DOMAINS {
            let subject = Subject { domain, ..subject.clone() };
            let Ok(launch) = compilation.front.bind(call(&subject, &compilation, signature).unwrap()) else {
                continue;
            };
            ran += 1;
            if let Err(why) = numpy_gives_the_bits_of_debug(&compilation, &launch) {
                let text = subject.project.text(subject.project.main_id().unwrap());
                wrong.push(format!("{} on {domain}: {why:#}\n{text}", subject.name));
                break;
            }
        }
    }
    assert!(ran >= n, "only {ran} runs");
    assert!(wrong.is_empty(), "{} of {n} differ, the first:\n{}", wrong.len(), wrong[0]);
}

#[test]
fn a_loop_with_two_counters_ends_at_each_point_when_its_own_condition_says() {
    check(
        "counters",
        "
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval
# @input a linear(low=0, high=9, along=i)
def counters(a: Field[float], m: Field[float], n: Field[float]):
    with computation(PARALLEL), interval(...):
        m = 0.0
        n = a
        while m < n:
            m = m + 1.0
            n = n - m * 0.5
",
        &DOMAINS,
    );
}

#[test]
fn a_branch_inside_a_loop_inside_a_branch_is_taken_where_all_three_say_so() {
    check(
        "branches",
        "
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval
# @input a linear(low=-3, high=9, along=i)
# @input b linear(low=-2, high=4, along=j)
def branches(a: Field[float], b: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = 1.0
        if a > 0.0:
            n = 0.0
            while n < a:
                n += 1.0
                if b > 1.0:
                    # Its own condition: who goes into the branch is known by then.
                    b = b - 2.0
                    out = out + n
                elif b < 0.0:
                    b = 3.0
                else:
                    out = out * 2.0
        else:
            out = b
",
        &DOMAINS,
    );
}

#[test]
fn a_region_longer_than_the_domain_is_all_of_it() {
    check(
        "regions",
        "
from gt4py.cartesian.gtscript import PARALLEL, Field, I, J, computation, horizontal, interval, region
# @input a linear(low=-3, high=9, along=i)
def regions(a: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        edge = a
        with horizontal(region[I[0] : I[0] + 40, :], region[I[-1] - 1 : I[-1] + 3, J[0]]):
            edge = a * 2.0
        with horizontal(region[I[0] - 2 : I[0] + 1, J[-1] : J[-1] + 5]):
            edge = edge + 100.0
        with horizontal(region[I[0] + 7, :]):
            edge = 7.0
        out = edge[-1, 0, 0] + edge[1, 0, 0] + edge
",
        &DOMAINS,
    );
}

#[test]
fn the_number_of_the_level_is_read_in_parallel_and_in_sweeps() {
    check(
        "levels",
        "
from gt4py.cartesian.gtscript import BACKWARD, PARALLEL, Field, K, computation, interval
# @input a linear(low=-3, high=9, along=i)
def levels(a: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = a * K
    with computation(BACKWARD), interval(1, None):
        out = out[0, 0, 0] + (K if K > 2 else -K)
",
        &DOMAINS,
    );
}

#[test]
fn a_plane_adds_up_over_the_levels_of_a_sweep() {
    check(
        "planes",
        "
from gt4py.cartesian.gtscript import FORWARD, IJ, PARALLEL, Field, computation, interval
# @input a linear(low=-3, high=9, along=k)
def planes(a: Field[float], total: Field[IJ, float], out: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            total = 0.0
    with computation(FORWARD):
        with interval(...):
            total = total + a
            if a > 0.0:
                total += 0.5
            out = total
    with computation(PARALLEL), interval(...):
        out = out + total
",
        &DOMAINS,
    );
}

#[test]
fn a_parallel_statement_reads_other_levels_as_they_were_before_it() {
    check(
        "shift",
        "
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval
# @input a linear(low=-3, high=9, along=k)
# @input out wave(low=-1, high=1, i=1)
def shift(a: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(1, None):
        a = a[0, 0, -1] * 2.0
        out = a + a[0, 0, -1]
    with computation(PARALLEL), interval(1, -1):
        if a > 0.0:
            out = out[0, 0, 1] - out[0, 0, -1]
",
        &DOMAINS,
    );
}

#[test]
fn of_two_traps_in_a_block_the_one_at_the_earlier_point_is_told() {
    // The first statement would stop at a later point than the second does.
    let text = "
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval
# @input a linear(low=-3, high=9, along=i)
# @input n linear(low=0, high=40, along=i)
# @input m linear(low=0, high=90, along=i)
# @input out constant(0)
def traps(a: Field[float], n: Field[float], m: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        if a > -100.0:
            out = a[0, 0, int(n)]
            out = out + a[0, 0, int(m)]
";
    let compilation = compiled_text("traps", text, 64);
    let (oir, extents) =
        (compilation.front.oir.as_ref().unwrap(), compilation.front.extents.as_ref().unwrap());
    for domain in [Domain::new(9, 4, 6), Domain::new(300, 2, 5)] {
        let given = launch(&compilation, domain);
        let stop = debug::run(oir, extents, &mut given.clone(), &mut NoControl).unwrap_err();
        assert!(matches!(stop, Stop::Trap(_)), "{stop}");
        numpy_gives_the_bits_of_debug(&compilation, &given).unwrap();
    }
}
