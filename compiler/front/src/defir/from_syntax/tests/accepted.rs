//! The texts that the language accepts, and the IR that they become.

use expect_test::expect;

use super::{GALLERY, build, built, check, check_with, gallery, gallery_config};
use crate::config::{Config, External};
use crate::project::Project;
use crate::space::Axis;

#[test]
fn the_gallery_is_understood() {
    for name in GALLERY {
        let project = Project::of_one("main.py", &gallery(name));
        let (stencil, diagnostics) = build(&project, &gallery_config());
        assert_eq!(diagnostics, [], "{name}");
        assert_eq!(stencil.unwrap().name, name);
    }
}

#[test]
fn a_literal_takes_the_configured_precision_and_a_typed_constant_keeps_its_own() {
    let source = "
import numpy as np
from ndsl.constants import GRAV
A = 0.5
B = np.float64(0.25)
def s(q: FloatField, n: Int = 2):
    with computation(PARALLEL), interval(...):
        q = A * q + B + 3.0 + n + 1 - GRAV
";
    let expected = expect![[r#"
        stencil s(q: float32[IJK], n: int32 = 2)
          computation parallel [start, end)
            q = float32(0.5) * q + 0.25 + float32(3.0) + n + int32(1) - float32(9.80665)
    "#]];
    check_with(&Config::with_precision(32), source, &expected);
}

#[test]
fn a_constant_is_the_same_whatever_way_its_module_came() {
    for (import, name) in [
        ("from ndsl.constants import GRAV", "GRAV"),
        ("import ndsl.constants as constants", "constants.GRAV"),
        ("import ndsl.constants", "ndsl.constants.GRAV"),
        ("from ndsl import constants", "constants.GRAV"),
        ("import pace.util.constants as constants", "constants.GRAV"),
        ("import pace.util.constants as c\nGRAV = c.GRAV", "GRAV"),
    ] {
        let source = format!(
            "{import}\ndef s(q: FloatField):\n    with computation(PARALLEL), interval(...):\n        q = {name}\n"
        );
        check(
            &source,
            &expect![[r#"
                stencil s(q: float64[IJK])
                  computation parallel [start, end)
                    q = 9.80665
            "#]],
        );
    }
}

#[test]
fn what_only_running_a_known_module_would_tell_is_known_without() {
    let files = [
        (
            "main.py",
            "from ndsl.dsl.typing import Float, FloatField\nfrom ndsl.constants import GRAV, OWN, RDGAS\n\
             def s(q: FloatField, dt: Float):\n    with computation(PARALLEL), interval(...):\n        \
             q = q + dt * (GRAV + OWN + RDGAS)\n",
        ),
        ("ndsl/dsl/typing.py", "import os\nFloat = choose(os.getenv('P'))\nFloatField = Field[IJK, Float]\n"),
        (
            "ndsl/constants.py",
            "from ndsl.dsl.typing import Float\nVERSION = versions[chosen()]\nOWN = 0.25\nRDGAS = Float(1.0)\n\
             if VERSION == 'UFS':\n    GRAV = Float(9.0)\n",
        ),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.into()));
    let project = Project { files: files.into(), main: "main.py".to_owned(), stencil: None };
    // The definitions in the files come before the built-in constants.
    expect![[r#"
        stencil s(q: float32[IJK], dt: float32)
          computation parallel [start, end)
            q = q + dt * (float32(9.80665) + float32(0.25) + float32(1.0))
    "#]]
    .assert_eq(&built(&project, &Config::with_precision(32)));
}

#[test]
fn a_function_is_put_before_the_statement_that_calls_it() {
    check(
        "
@gtscript.function
def average(q, w, *, scale=0.5):
    q = q * w
    return scale * (q[-1, 0, 0] + q)

@function
def both(q):
    return average(q, 1.0), average(q + 1.0, q, scale=2.0)

def s(a: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        low, high = both(a)
        out = low + average(average(a, high), high)[0, 1, 0]
",
        &expect![[r#"
            stencil s(a: float64[IJK], out: float64[IJK])
              temporary low: auto[IJK]
              temporary high: auto[IJK]
              temporary average_1_q: auto[IJK]
              temporary average_1_w: auto[IJK]
              temporary average_1_result: auto[IJK]
              temporary average_2_q: auto[IJK]
              temporary average_2_scale: auto[IJK]
              temporary average_2_result: auto[IJK]
              temporary average_3_q: auto[IJK]
              temporary average_3_result: auto[IJK]
              temporary average_4_q: auto[IJK]
              temporary average_4_result: auto[IJK]
              computation parallel [start, end)
                average_1_q = a
                average_1_w = 1.0
                average_1_q = average_1_q * average_1_w
                average_1_result = 0.5 * (average_1_q[-1,0,0] + average_1_q)
                low = average_1_result
                average_2_q = a + 1.0
                average_2_scale = 2.0
                average_2_q = average_2_q * a
                average_2_result = average_2_scale * (average_2_q[-1,0,0] + average_2_q)
                high = average_2_result
                average_3_q = a
                average_3_q = average_3_q * high
                average_3_result = 0.5 * (average_3_q[-1,0,0] + average_3_q)
                average_4_q = average_3_result
                average_4_q = average_4_q * high
                average_4_result = 0.5 * (average_4_q[-1,0,0] + average_4_q)
                out = low + average_4_result[0,1,0]
        "#]],
    );
}

#[test]
fn a_result_in_one_branch_keeps_what_was_there() {
    check(
        "
@function
def limited(q, top):
    if q > top:
        return top

def s(a: FloatField, out: FloatField, top: float):
    with computation(PARALLEL), interval(...):
        out = a
        out = limited(a, top)
",
        &expect![[r#"
            stencil s(a: float64[IJK], out: float64[IJK], top: float64)
              computation parallel [start, end)
                out = a
                if a > top
                  out = top
        "#]],
    );
}

#[test]
fn the_axis_offsets_are_those_of_a_single_tile() {
    let text = "
def s(q: FloatField):
    from __externals__ import i_start, i_end, j_start, j_end, local_is, local_ie, local_js, local_je
    with computation(PARALLEL), interval(...):
        with horizontal(region[i_start, j_start], region[i_end, j_end]):
            q = 1.0
        with horizontal(region[local_is + 1, local_js + 1], region[local_ie - 1, local_je - 1]):
            q = 2.0
";
    let expected = expect![[r#"
        stencil s(q: float64[IJK])
          computation parallel [start, end)
            region i[start, start+1) j[start, start+1)
              q = 1.0
            region i[end-1, end) j[end-1, end)
              q = 1.0
            region i[start+1, start+2) j[start+1, start+2)
              q = 2.0
            region i[end-2, end-1) j[end-2, end-1)
              q = 2.0
    "#]];
    check(text, &expected);
}

#[test]
fn externals_decide_branches_and_regions() {
    let source = "
def s(a: FloatField, out: FloatField, extra: FloatField = None):
    from __externals__ import config, i_end, j_start, flux

    with computation(PARALLEL), interval(...):
        out = 0.0
        if __INLINED(config.order == 2 and 0 < config.nested.weight <= 1):
            out = config.nested.weight * flux(a)
        elif __INLINED(config.order > 2):
            out = extra
        with horizontal(region[i_end, :], region[:, j_start - 1:J[-1]], region[2:-1, -2]):
            out = 1.0

@function
def flux_x(q):
    return q[1, 0, 0] - q
";
    let namespace = External::Namespace(
        [
            ("order".to_owned(), External::Int(2)),
            ("nested".to_owned(), External::Namespace([("weight".to_owned(), External::Float(0.25))].into())),
        ]
        .into(),
    );
    let externals = [
        ("config".to_owned(), namespace),
        ("flux".to_owned(), External::Function("flux_x".to_owned())),
        ("j_start".to_owned(), External::Axis { axis: Axis::J, index: Some(0), offset: -32767 }),
    ];
    let config = Config { externals: externals.into(), ..Config::default() };
    check_with(
        &config,
        source,
        &expect![[r#"
        stencil s(a: float64[IJK], out: float64[IJK], extra: float64[IJK] = None)
          temporary flux_x_1_result: auto[IJK]
          computation parallel [start, end)
            out = 0.0
            flux_x_1_result = a[1,0,0] - a
            out = 0.25 * flux_x_1_result
            region i[end-1, end) j[, )
              out = 1.0
            region i[, ) j[start-32768, end-1)
              out = 1.0
            region i[start+2, end-1) j[end-2, end-1)
              out = 1.0
    "#]],
    );
}

#[test]
fn intervals_have_many_forms() {
    check(
        "
N = 2
def s(a: FloatField, out: FloatField):
    with computation(BACKWARD):
        with interval(-1, None):
            out = a
        with interval(N + 1, -1):
            out = a
        with interval(start=0, end=N):
            out = a
    with interval(N), computation(order=FORWARD), horizontal(region[:, :]):
        out = a
",
        &expect![[r#"
            stencil s(a: float64[IJK], out: float64[IJK])
              computation backward [end-1, end)
                out = a
              computation backward [start+3, end-1)
                out = a
              computation backward [start, start+2)
                out = a
              computation forward [start+2, start+3)
                region i[, ) j[, )
                  out = a
        "#]],
    );
}

#[test]
fn points_are_named_in_many_ways() {
    check(
        "
M = 1
OFFSETS = (1, 2)
def s(a: FloatField, ij: FloatFieldIJ, kf: FloatFieldK, out: FloatField):
    with computation(FORWARD), interval(...):
        t: float32 = a[...] + a[M + 1, -M, 0] + a[I + M] + a[J - 1, K + 1] + ij[0, 1] + kf[-1] + ij + kf
        u: FloatFieldIJ = 0.0
        u += t[0, 0, 0] * K + OFFSETS[1]
        out, v = u, not (t > 1 and u < 2 or t == u)
        if v:
            pass
        elif t != u:
            \"nothing\"
        else:
            out = -t ** 2 if v else +t % float(int32(u))
",
        &expect![[r#"
            stencil s(a: float64[IJK], ij: float64[IJ], kf: float64[K], out: float64[IJK])
              temporary t: float32[IJK]
              temporary u: float64[IJ]
              temporary v: auto[IJK]
              computation forward [start, end)
                t = a + a[2,-1,0] + a[1,0,0] + a[0,-1,1] + ij[0,1] + kf[-1] + ij + kf
                u = 0.0
                u = u + (t * K + 2)
                out = u
                v = not (t > 1 and u < 2 or t == u)
                if v
                  pass
                elif t != u
                  pass
                else
                  out = -t ** 2 if v else +t % float64(int32(u))
        "#]],
    );
}

#[test]
fn names_come_from_other_files() {
    let files = [
        (
            "main.py",
            "
import model.constants as constants
from .physics import *
from model import tools
from model.constants import UNKNOWN
import numpy as np

N = 1
@stencil
def s(a: Field[np.float32], out: \"Field[IJ, 'real']\", kind: tools.Kind = tools.Kind.WET):
    with computation(FORWARD), interval(...):
        out = tools.twice(a) + constants.HALF + LATE + tools.Kind.DRY + N + (1.0 if kind == tools.Kind.WET else 0.0)
N = 2
",
        ),
        ("model/constants.py", "from ndsl.constants import GRAV\nHALF = GRAV / 2\nUNKNOWN = open('x').read()\n"),
        (
            "model/tools.py",
            "
from enum import IntEnum
from .constants import HALF as H
from ..main import N as CIRCULAR
class Kind(IntEnum):
    DRY = 0
    WET = DRY + 1
@function
def twice(q):
    return 2 * q + H + CIRCULAR
",
        ),
        ("physics.py", "if True and not None:\n    LATE = 3\nelse:\n    LATE = 4\nLATE += 1\n"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.into()));
    let project = Project { files: files.into(), main: "main.py".to_owned(), stencil: None };
    let config =
        Config { dtypes: [("real".to_owned(), "np.float64".to_owned())].into(), ..Config::default() };
    expect![[r#"
        stencil s(a: float32[IJK], out: float64[IJ], kind: int64 = 1)
          temporary twice_1_result: auto[IJK]
          computation forward [start, end)
            twice_1_result = 2 * a + 4.903325 + 2
            out = twice_1_result + 4.903325 + 4 + 0 + 1 + (1.0 if kind == 1 else 0.0)
    "#]]
    .assert_eq(&built(&project, &config));
}

#[test]
fn the_evaluator_knows_pythons_arithmetic() {
    check(
        "
import math, sys
import numpy as np
from types import SimpleNamespace
class Options:
    a: int = 7 // 2
    b = -7 % 3
options = Options()
flags = SimpleNamespace(c=2 ** 10, d=1 if options.b > 1 else math.nan)
EPS = np.finfo(np.float32).eps
T = (1, (2.5, 3))
def s(out: FloatField):
    with computation(PARALLEL), interval(...):
        out = options.a + options.b + flags.c + flags.d
        out = EPS * np.pi + sys.float_info.epsilon + T[0]
        with horizontal(region[I[0] + abs_, :]):
            out = ROUNDED + BIG
ROUNDED = round(2.5) + int(-1.7) + max(1, 2.5, 2) + len(T)
BIG = math.sqrt(16) + np.float32(0.1) * 2
abs_ = min(3, 4)
",
        &expect![[r#"
            stencil s(out: float64[IJK])
              computation parallel [start, end)
                out = 3 + 2 + 1024 + 1
                out = float32(1.1920929e-7) * 3.141592653589793 + 2.220446049250313e-16 + 1
                region i[start+3, start+4) j[, )
                  out = 5.5 + float32(4.2)
        "#]],
    );
}

#[test]
fn a_declared_temporary_starts_with_its_value() {
    check(
        "
import numpy as np
def s(out: FloatField, *, n: int):
    t: Field[IJK, np.float32] = 1.5
    with computation(PARALLEL), interval(...):
        out = t + n
",
        &expect![[r#"
            stencil s(out: float64[IJK], *, n: int64)
              temporary t: float32[IJK]
              computation parallel [start, end)
                t = 1.5
              computation parallel [start, end)
                out = t + n
        "#]],
    );
}

#[test]
fn warnings_are_given_for_what_surprises() {
    check(
        "
def s(a: FloatField, b: FloatField):
    from __externals__ import never_used
    with computation(PARALLEL), interval(...):
        a, b = b, a
",
        &expect![[r#"
            stencil s(a: float64[IJK], b: float64[IJK])
              computation parallel [start, end)
                a = b
                b = a
            W08 2:31 the external `never_used` has no value and is not used
            W05 4:19 `a` has been assigned already when it is read here
        "#]],
    );
}

#[test]
fn a_number_that_a_function_reads_beside_the_point_is_a_field() {
    check(
        "
C = 0.5
@function
def beside(x, y=2.0):
    return x[1, 0, 0] + x + y[0, 1, 0]
def s(out: FloatField, alpha: float = None):
    with computation(PARALLEL), interval(...):
        out = beside(C)
",
        &expect![[r#"
            stencil s(out: float64[IJK], alpha: float64)
              temporary beside_1_x: auto[IJK]
              temporary beside_1_y: auto[IJK]
              computation parallel [start, end)
                beside_1_x = 0.5
                beside_1_y = 2.0
                out = beside_1_x[1,0,0] + beside_1_x + beside_1_y[0,1,0]
        "#]],
    );
}
