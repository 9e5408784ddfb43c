//! Texts that say themselves how their stencils are built.

use expect_test::expect;

use super::{build, check, check_with};
use crate::config::{Config, External};
use crate::diag::render::render;
use crate::project::Project;

#[test]
fn the_values_of_a_decorator_stand_in_for_those_that_nobody_gives() {
    let source = "
import numpy as np
@gtscript.function
def double(q):
    from __externals__ import factor
    return factor * q
@gtscript.stencil(
    backend=\"numpy\",
    externals={\"flux\": double, \"factor\": 2.0, \"flag\": True},
    dtypes={\"dtype\": np.float32, float: np.float32},
)
def s(q: Field[\"dtype\"], n: \"dtype\"):
    from __externals__ import flux, flag
    with computation(PARALLEL), interval(...):
        if __INLINED(flag):
            q = flux(q) + n
";
    check(
        source,
        &expect![[r#"
            stencil s(q: float32[IJK], n: float32)
              temporary double_1_result: auto[IJK]
              computation parallel [start, end)
                double_1_result = float32(2.0) * q
                q = double_1_result + n
            W11 7:5 the argument `backend` has no effect here
        "#]],
    );
    // The configuration comes before the values that the text gives.
    let given = Config {
        externals: [("flag".to_owned(), External::Bool(false))].into(),
        dtypes: [("dtype".to_owned(), "float64".to_owned())].into(),
        ..Config::default()
    };
    check_with(
        &given,
        source,
        &expect![[r#"
            stencil s(q: float64[IJK], n: float64)
              computation parallel [start, end)
                pass
            W11 7:5 the argument `backend` has no effect here
        "#]],
    );
}

#[test]
fn a_test_with_its_stencil_inside_compiles_as_it_stands() {
    check(
        "
import numpy as np
from gt4py.cartesian import gtscript
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval
def test_call(backend):
    @gtscript.function
    def shift(q):
        return q[1, 0, 0]
    def definition(a: Field[float], b: Field[float]):
        from __externals__ import AMOUNT, func
        with computation(PARALLEL), interval(...):
            b = func(a) + AMOUNT
    stencil = gtscript.stencil(backend, definition, externals={\"func\": shift, \"AMOUNT\": 1}, literal_int_precision=32)
    stencil(np.zeros(3), np.zeros(3))
",
        &expect![[r#"
            stencil definition(a: float64[IJK], b: float64[IJK])
              temporary shift_1_result: auto[IJK]
              computation parallel [start, end)
                shift_1_result = a[1,0,0]
                b = shift_1_result + int32(1)
        "#]],
    );
}

#[test]
fn an_enumeration_is_an_integer_of_literal_precision() {
    check_with(
        &Config::with_precision(32),
        "
from enum import IntEnum
@gtscript.enum
class Scheme(IntEnum):
    UPWIND = 1
    CENTRED = 4
def s(q: FloatField, scheme: Scheme, other: Scheme = Scheme.CENTRED):
    with computation(PARALLEL), interval(...):
        if scheme == Scheme.UPWIND:
            q = 0.0
",
        &expect![[r#"
            stencil s(q: float32[IJK], scheme: int32, other: int32 = 4)
              computation parallel [start, end)
                if scheme == int32(1)
                  q = float32(0.0)
        "#]],
    );
}

#[test]
fn a_name_that_is_not_known_is_told_once() {
    check(
        "
from model.config import DT
from model import tools
def s(q: FloatField):
    from __externals__ import weight
    with computation(PARALLEL), interval(...):
        q = q * DT + weight
        q = q + DT + weight + tools.LIMIT
        q = tools.LIMIT + DT + lost
        q = lost
",
        &expect![[r#"
            E07 6:17 the value of `DT` is not known while compiling, because it comes from the module `model.config`, which is not among the files
            E06 6:22 the external `weight` has no value
            E07 7:31 the value of `tools.LIMIT` is not known while compiling, because it comes from the module `model`, which is not among the files
            E07 8:32 nothing is named `lost`
            E07 9:13 nothing is named `lost`
        "#]],
    );
}

#[test]
fn a_name_of_a_module_that_is_not_there_says_which_module() {
    check(
        "
import consts
import model.tools
import os
HALF = 0.5 * consts.HALF
WHOLE = consts.WHOLE
def s(q: FloatField, p: consts.Pressure):
    with computation(PARALLEL), interval(0, consts.LAST):
        q = consts.DT + model.tools.LIMIT + HALF + WHOLE + os.sep
        q = q[consts.OFFSET, 0, 0] + consts.slope(q) + random.random()
",
        &expect![[r#"
            E01 6:25 the type of parameter `p` is not a field or scalar type: it comes from the module `consts`, which is not among the files
            E10 7:45 a bound of the interval is not known while compiling, because it comes from the module `consts`, which is not among the files
            E07 8:13 the value of `consts.DT` is not known while compiling, because it comes from the module `consts`, which is not among the files
            E07 8:25 the value of `model.tools.LIMIT` is not known while compiling, because it comes from the module `model.tools`, which is not among the files
            E07 8:45 the value of `HALF` is not known while compiling, because it comes from the module `consts`, which is not among the files
            E07 8:52 the value of `WHOLE` is not known while compiling, because it comes from the module `consts`, which is not among the files
            E06 8:60 `os.sep` has no value: `sep` of the module `os` is not known
            E27 9:15 the offset along I is not known while compiling, because it comes from the module `consts`, which is not among the files
            E07 9:38 the value of `consts.slope` is not known while compiling, because it comes from the module `consts`, which is not among the files
            E41 9:56 no function is named `random.random`
        "#]],
    );
}

#[test]
fn a_signature_may_be_written_in_many_ways() {
    let dtypes =
        [("mine".to_owned(), "Field[IJ, float32]".to_owned()), ("my_t".to_owned(), "int32".to_owned())];
    check_with(
        &Config { dtypes: dtypes.into(), ..Config::default() },
        "
from __future__ import annotations
import numpy as np
from gt4py.cartesian import gtscript
from typing import Optional
Field3D = gtscript.Field[np.float64]
Plane = \"Field[IJ, np.float32]\"
DTYPE = \"float\"
def s(
    a: Field3D, b: \"Field[IJK, np.float32]\", c: Plane, /, d: gtscript.Field[(I, J), bool],
    e: FloatFieldK = None, f: DTYPE = 0.5, *, g: \"int\" = 2, h: np.int32 = 3, i: Bool = True, j: Int = 1,
    k: \"mine\", l: \"my_t\" = 1, m: Field[\"my_t\"],
) -> None:
    with computation(PARALLEL), interval(...):
        a = b
",
        &expect![[r#"
            stencil s(a: float64[IJK], b: float32[IJK], c: float32[IJ], d: bool[IJ], e: float64[K] = None, f: float64 = 0.5, *, g: int64 = 2, h: int32 = 3, i: bool = true, j: int64 = 1, k: float32[IJ], l: int32 = 1, m: int32[IJK])
              computation parallel [start, end)
                a = b
        "#]],
    );
}

#[test]
fn a_variable_that_a_function_changes_is_told_with_both_lines() {
    let project = Project::of_one(
        "main.py",
        "\
@function
def scaled(x):
    x *= 2.0
    x += 1.0
    return x

@function
def handed_on(y):
    return scaled(y)

@function
def both(x, y):
    x += 1.0
    y -= x
    return x

@function
def many(p, q, r, s, t):
    p += 1.0
    q += 1.0
    r += 1.0
    s += 1.0
    t += 1.0
    return p

def s(a: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = scaled(a)
        out = handed_on(y=a) + scaled(a + 0.0)
        out = both(a, out)
        out = many(a, a, a, a, out)
",
    );
    let (_, diagnostics) = build(&project, &Config::default());
    let files = |file| (project.name(file), project.text(file));
    expect![[r#"
        warning[W09]: `scaled` changes `a`, which is passed to it as `x`
          --> main.py:28:22
           |
         3 |     x *= 2.0
           |     - changed here
          ...
        28 |         out = scaled(a)
           |                      ^ `a` has the new value from here on
           |
           = help: to keep `a`, write `x = x * ...` in `scaled`
           = note: to show the change, return `x` and assign it: `a = scaled(...)`
        warning[W09]: `scaled` changes `a`, which is passed to it as `x`
          --> main.py:29:27
           |
         3 |     x *= 2.0
           |     - changed here
          ...
         9 |     return scaled(y)
           |                   - passed on here
          ...
        29 |         out = handed_on(y=a) + scaled(a + 0.0)
           |                           ^ `a` has the new value from here on
           |
           = help: to keep `a`, write `x = x * ...` in `scaled`
           = note: to show the change, return `x` and assign it: `a = scaled(...)`
        warning[W09]: `both` changes `a` and `out`, which are passed to it
          --> main.py:30:20
           |
        13 |     x += 1.0
           |     - changed here
        14 |     y -= x
           |     - changed here
          ...
        30 |         out = both(a, out)
           |                    ^ `a` has the new value from here on
           |                       --- and so has `out`
           |
           = help: to keep `a`, write `x = x + ...` in `both`
           = note: to show the change, return `x` and assign it: `a = both(...)`
        warning[W09]: `many` changes `a`, `a` and 3 more, which are passed to it
          --> main.py:31:20
           |
        19 |     p += 1.0
           |     - changed here
        20 |     q += 1.0
           |     - changed here
        21 |     r += 1.0
           |     - changed here
        22 |     s += 1.0
           |     - changed here
          ...
        31 |         out = many(a, a, a, a, out)
           |                    ^ `a` has the new value from here on
           |                       - and so has `a`
           |                          - and so has `a`
           |                             - and so has `a`
           |
           = help: to keep `a`, write `p = p + ...` in `many`
           = note: it changes `a`, `a`, `a`, `a`, `out`
           = note: to show the change, return `p` and assign it: `a = many(...)`
    "#]]
    .assert_eq(&diagnostics.iter().map(|it| render(it, &files)).collect::<String>());
}

#[test]
fn a_scalar_that_a_function_would_change_is_refused_with_its_call() {
    let project = Project::of_one(
        "main.py",
        "\
@function
def scaled(x):
    x *= 2.0
    return x

def s(a: FloatField, c: float):
    with computation(PARALLEL), interval(...):
        a = scaled(c)
",
    );
    let (_, diagnostics) = build(&project, &Config::default());
    let files = |file| (project.name(file), project.text(file));
    expect![[r#"
        error[E25]: `x` is a scalar parameter and cannot be assigned
         --> main.py:3:5
          |
        3 |     x *= 2.0
          |     ^ read-only
         ...
        6 | def s(a: FloatField, c: float):
          |                      - declared here
         ...
        8 |         a = scaled(c)
          |                    - passed here
          |
          = help: assign to a name of its own: `x_new = ...`
    "#]]
    .assert_eq(&diagnostics.iter().map(|it| render(it, &files)).collect::<String>());
}
