//! Elements that are found at run time, and those of data dimensions.

use isobar_compiler::space::Domain;
use isobar_testing::Shard;

use super::compare_python;
use super::harness::{Passes, compare, compare_traps, has_compiler};

/// Levels of the caller's fields, which have some beside the domain, and of a temporary, which has none.
const LEVELS: &str = "
stencil levels
field a: float64[IJK]
field n: int32[IJK]
field column: float64[K]
field out: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = a * 2.0
  out = a.up(max(int32(-3), min(int32(3), n))) + column.at(max(int32(-3), min(int32(2), n)))
parallel [start, end)
  out = out + t.at(max(int32(0), min(int32(1), n))) - t.at(K)
  out = out + a[1,0,0].up(max(int32(-2), min(int32(1), n.at(0)))) if a > 3.0 else out * a.at(-3)
";

/// A parallel loop reads at other levels what it writes: the values from before.
const OLD_VALUES: &str = "
stencil old_values
field a: float64[IJK]
field v: float32[IJK][2,10]
field n: int64[IJ]
temporary t: float64[IJK]
parallel [start, end)
  a = a.up(max(-3, min(3, n))) + 1.0
  t = a
parallel [start, end)
  t = t + t.at(max(0, min(1, n)))
  v.A[1, 3] = v.up(max(-3, min(3, n))).A[1, 3] * float32(0.5)
parallel [start, start+1)
  if a > 0.0
    a = a + t
    v.A[0, 0] = v.at(0).A[0, 0] + v.A[1, 9] + float32(a.at(0))
";

/// Sweeps write other levels than their own.
const WRITES: &str = "
stencil writes
field a: float64[IJK]
field b: float64[IJK]
field c: float64[IJK]
field n: int16[IJ]
temporary t: float64[IJK]
temporary u: float32[IJK]
parallel [start, end)
  t = a
forward [start, end)
  b.up(1) = a + b
  c.up(max(int16(-3), min(int16(3), n))) = b + c.at(max(int16(-3), min(int16(2), n)))
backward [start+1, end)
  t.up(-1) = t + a
  u.at(max(int16(0), min(int16(1), n))) = float32(t)
backward [start, end)
  c.up(-2) = c.up(max(int16(-3), min(int16(3), n))) - float64(u)
  b = t if b.at(0) > 2.0 else float64(n)
";

/// Data dimensions with numbers and integers of run time, of fields, a table, planes and temporaries.
const DATA: &str = "
stencil data
field v: float64[IJK][3,2]
field x: float64[IJK][3]
field w: float32[][4]
field one: float32[IJ][1]
field n: int32[IJ]
field out: float64[IJK]
temporary t: float64[IJK][2]
temporary many: float32[IJ][50]
temporary few: float64[IJK][2,3]
parallel [start, end)
  t.A[0] = v.A[2, 0] * float64(w.A[max(int32(0), min(int32(3), n))])
  t.A[1] = t.A[0] + v.A[max(int32(0), min(int32(2), n)), 1] + x[1,-1,0].A[max(int32(0), min(int32(2), n))]
  few.A[1, 2] = 4.5
forward [start, end)
  many.A[max(int32(0), min(int32(49), n))] = one.A[max(int32(0), min(int32(0), n))] + w.A[3]
  out = t.A[max(int32(0), min(int32(1), n))] + float64(many.A[max(int32(0), min(int32(49), n + int32(1)))])
  v.A[max(int32(0), min(int32(2), n)), 0] = out + few.A[1, max(int32(0), min(int32(2), n))]
  v.up(1).A[1, 1] = t.A[0] if n > int32(0) else 2.0
";

/// Conditions that find elements, in branches and loops.
const CONDITIONS: &str = "
stencil conditions
field a: float64[IJK]
field b: float64[IJK]
field n: int64[IJK]
temporary c: int64[IJK]
parallel [start, end)
  c = 0
  if a.at(max(-3, min(2, n))) > 3.0
    b = 1.0
  elif a.at(0) > b.at(1)
    b = 2.0
  else
    b = a
  while a.at(max(0, min(1, c))) > float64(c)
    c = c + 1
forward [start, end)
  while b.up(max(0, min(c, 1))) < 5.0
    b.up(max(0, min(c, 1))) = b.up(max(0, min(c, 1))) + 2.0
";

#[test]
fn elements_found_at_run_time_are_those_of_the_interpreter() {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    for text in [LEVELS, OLD_VALUES, WRITES, DATA, CONDITIONS] {
        for domain in [Domain::new(6, 5, 4), Domain::new(1, 2, 3), Domain::new(0, 3, 2)] {
            for passes in [Passes::All, Passes::None] {
                compare(text, domain, passes);
            }
        }
    }
}

const PYTHON: &str = "
# @input q random(low=0.5, high=1.5, seed=1)
# @input v random(low=0.5, high=1.5, seed=2)
# @input w random(low=0.5, high=1.5, seed=3)
# @input n random(low=0, high=2.99, seed=4)
# @input out constant(0)
# @domain 9, 7, 5
from gt4py.cartesian.gtscript import *

def elements(
    q: Field[float],
    v: Field[IJK, (float, (3, 2))],
    w: GlobalTable[(float, (4,))],
    n: Field[IJ, int],
    out: Field[float],
):
    with computation(PARALLEL), interval(0, -2):
        t = q[0, 0, n] * w.A[n + 1]
    with computation(PARALLEL), interval(-2, None):
        t = q.at(K=n) + v[1, 0, 0][n, 1]
    with computation(FORWARD), interval(0, -1):
        out = t.at(K=n) + v[0, 0, 0][2, 0]
        out[0, 0, 1] = out * 0.5 + q
    with computation(BACKWARD), interval(...):
        if out.at(K=n) > 1.0:
            out = out - 0.25 * out.at(K=n)
";

#[test]
fn elements_of_both_precisions_are_those_of_the_interpreter() {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    for bits in [64, 32] {
        compare_python("elements", PYTHON, bits, Domain::new(9, 7, 5));
    }
}

isobar_testing::shards! {
    an_element_that_does_not_exist_ends_the_run_where_the_interpreter_ends_it: 4 shards of missing_elements;
}

fn missing_elements(shard: Shard) {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    let declared = "
stencil faults
field a: float64[IJK]
field v: float64[IJK][3,2]
field w: float32[][4]
field n: int64[IJ]
field b: float64[IJK]
temporary t: float64[IJK]
parallel [start, end)
  t = a
  b = v.A[0, 0] + float64(w.A[0]) + float64(n)
";
    let bodies = [
        // Above and below all levels of an array, and of a temporary.
        "parallel [start, end)\n  b = a.up(n)\n",
        "parallel [start, end)\n  b = a.at(n + 4) + a.up(3)\n",
        "parallel [start, end)\n  b = t.up(n)\n",
        "parallel [start, end)\n  b = t.at(-1)\n",
        // A data dimension.
        "parallel [start, end)\n  b = v.A[n, 0]\n",
        "parallel [start, end)\n  b = v.A[1, n]\n  t = float64(w.A[n])\n",
        // Written elements.
        "forward [start, end)\n  b.up(n) = a\n",
        "backward [start, end)\n  b.at(n) = a\n",
        "backward [start, end)\n  t.up(K) = a\n",
        "forward [start, end)\n  v.A[0, n] = a\n",
        // Both arms are evaluated, and what finds an element may not exist either.
        "parallel [start, end)\n  b = a.up(n) if a > 1000.0 else a\n",
        "parallel [start, end)\n  b = a.at(int64(a.at(n)))\n",
        // Later statements, conditions, and statements in branches and loops.
        "parallel [start, end)\n  b = a.at(0)\n  b = b.at(n)\n  b = a.at(n + 1)\n",
        "parallel [start, end)\n  if a.at(n) > 0.0\n    b = 1.0\n",
        "parallel [start, end)\n  if a > 0.0\n    b = a.at(n)\n  else\n    b = a.at(3 - n)\n",
        "parallel [start, end)\n  while b > a.up(n)\n    b = b - 1.0\n",
        "forward [start, end)\n  t = t.at(n)\n  b = a.up(n)\n",
    ];
    for body in shard.of(bodies) {
        compare_traps(&format!("{declared}{body}"), Domain::new(6, 5, 4));
    }
}

#[test]
fn of_several_places_where_the_run_must_end_the_first_of_the_text_is_told() {
    if !has_compiler() {
        return isobar_testing::skip("generated C", "there is no C compiler `cc`");
    }
    let declared = "
stencil several
field a: float64[IJK]
field b: float64[IJK]
field c: float64[IJK]
field d: float64[IJK]
";
    let orders = ["parallel", "forward", "backward"];
    for (first, second) in orders.iter().flat_map(|it| orders.iter().map(move |other| (it, other))) {
        let text = format!(
            "{declared}{first} [start, end)\n  b = a.at(K + 2)\n{second} [start, end)\n  if a > 1000.0\n    c = 1.0\n  \
             else\n    c = a.at(K - 2)\n    c = a.at(7 - 2 * K)\n  d = b + a.at(K + 1)\n"
        );
        compare_traps(&text, Domain::new(4, 3, 4));
    }
}
