//! Fixes: the text before, the text after, and nothing left to say.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::config::{Config, External};
use crate::diag::mend::mend;
use crate::diag::{FileId, Severity};
use crate::pipeline::{NoHook, route};
use crate::project::Project;

/// A stencil around statements: `a`, `b` and `out` are fields, `ij` and `kf` lack axes, `x` and `n` are scalars.
fn around(order: &str, statements: &str) -> String {
    let mut text = "def s(a: FloatField, b: FloatField, out: FloatField, ij: FloatFieldIJ, kf: FloatFieldK, x: float, n: int):\n"
        .to_owned();
    let _ = writeln!(text, "    with computation({order}), interval(...):");
    for line in statements.lines() {
        let _ = writeln!(text, "        {line}");
    }
    text
}

/// The text with every fix carried out, again and again; the codes before, and those that are left.
fn mended(source: &str) -> String {
    let config = Config {
        externals: [("n".to_owned(), External::Int(2)), ("unused".to_owned(), External::Int(2))].into(),
        ..Config::default()
    };
    let codes = |found: &crate::pipeline::Compilation| {
        // The statements stand in a stencil with more parameters than they need.
        let told = found.notes.diagnostics.iter().filter(|it| it.severity != Severity::Hint);
        let codes: Vec<&str> = told.map(|it| it.code.0).collect();
        codes.join(" ")
    };
    let mut text = source.to_owned();
    let mut found = route::compile(&Project::of_one("main.py", &text), &config, &mut NoHook);
    let before = codes(&found);
    for _ in 0..5 {
        let fixes = found.notes.diagnostics.iter().filter_map(|it| it.fixes.first());
        let (next, count) = mend(&text, FileId(0), fixes);
        if count == 0 {
            break;
        }
        text = next;
        found = route::compile(&Project::of_one("main.py", &text), &config, &mut NoHook);
    }
    format!("{before} -> {}\n{text}", codes(&found).as_str())
}

/// Statements of a computation, each with what became of it.
fn statements(order: &str, cases: &[&str], expected: &Expect) {
    let mut shown = String::new();
    for case in cases {
        let result = mended(&around(order, case));
        let (codes, text) = result.split_once('\n').unwrap_or_default();
        let _ = writeln!(shown, "{codes}");
        for line in text.lines().skip(2) {
            let _ = writeln!(shown, "    {}", line.strip_prefix("        ").unwrap_or(line));
        }
    }
    expected.assert_eq(&shown);
}

fn files(cases: &[&str], expected: &Expect) {
    let shown: String = cases.iter().map(|it| mended(it.trim_start_matches('\n')) + "\n").collect();
    expected.assert_eq(&shown);
}

#[test]
fn comparisons_are_joined_by_and() {
    statements(
        "PARALLEL",
        &[
            "out = 1.0 if 0.0 < a <= x < b else 0.0",
            "out = 1.0 if not 0.0 < a[1, 0, 0] < 2.0 else 0.0",
            "out = 1.0 if 0.0 < (a + b) < 2.0 else 0.0",
            "out = 1.0 if (a > 0.0)&(b > 0.0) else 0.0",
            "if (a > 0.0) | (b > 0.0):\n    out = a",
            "out = 1.0 if not (a > 0.0) & (b > 0.0) else 0.0",
            "out = 1.0 if a is not b else 0.0",
        ],
        &expect![[r#"
            E39 -> 
                out = 1.0 if 0.0 < a and a <= x and x < b else 0.0
            E39 -> 
                out = 1.0 if not (0.0 < a[1, 0, 0] and a[1, 0, 0] < 2.0) else 0.0
            E39 -> E39
                out = 1.0 if 0.0 < (a + b) < 2.0 else 0.0
            E38 -> E38
                out = 1.0 if (a > 0.0)&(b > 0.0) else 0.0
            E38 -> 
                if (a > 0.0) or (b > 0.0):
                    out = a
            E38 -> E38
                out = 1.0 if not (a > 0.0) & (b > 0.0) else 0.0
            E38 -> 
                out = 1.0 if a != b else 0.0
        "#]],
    );
}

#[test]
fn numbers_are_compared_with_zero() {
    statements(
        "PARALLEL",
        &[
            "if n:\n    out = a",
            "if (n % 2):\n    out = a",
            "out = a if not n and a > 0.0 else b",
            "out = a if abs(n) or n - 1 else b",
        ],
        &expect![[r#"
            E36 -> 
                if n != 0:
                    out = a
            E36 -> 
                if ((n % 2) != 0):
                    out = a
            E37 -> 
                out = a if not n != 0 and a > 0.0 else b
            E37 -> 
                out = a if abs(n) != 0 or (n - 1) != 0 else b
        "#]],
    );
}

#[test]
fn calls_are_written_as_the_language_has_them() {
    statements(
        "PARALLEL",
        &[
            "out = min(a, b, x)",
            "out = max(a, b + 1.0, x, 0.0,)",
            "out = max(a, (b), x)",
            "out = math.sin(a) + np.sqrt(b)",
            "out = sqtr(a)",
            "out = a + flot(n)",
        ],
        &expect![[r#"
            E40 -> 
                out = min(a, min(b, x))
            E40 -> 
                out = max(a, max(b + 1.0, max(x, 0.0)),)
            E40 -> E40
                out = max(a, (b), x)
            E41 E41 -> 
                out = sin(a) + sqrt(b)
            E41 -> 
                out = sqrt(a)
            E41 -> 
                out = a + float(n)
        "#]],
    );
}

#[test]
fn indices_have_one_offset_for_each_axis() {
    statements(
        "FORWARD",
        &["out = a[0, 1]", "out = ij[1, 0, 0]", "out = kf[0, 0, -1]", "out = ij[1, 0, 1]", "out = a[1]"],
        &expect![[r#"
            E26 -> 
                out = a[0, 1, 0]
            E26 -> 
                out = ij[1, 0]
            E26 -> 
                out = kf[-1]
            E26 -> E26
                out = ij[1, 0, 1]
            E26 -> E26
                out = a[1]
        "#]],
    );
}

#[test]
fn assignments_stand_alone() {
    statements(
        "PARALLEL",
        &["out = b = a * 2.0", "out = b = b + 1.0", "[out, b] = a, x"],
        &expect![[r#"
            E34 -> 
                out = a * 2.0
                b = a * 2.0
            E34 -> E34
                out = b = b + 1.0
            E34 -> 
                out, b = a, x
        "#]],
    );
}

#[test]
fn computations_and_regions_are_spelled_out() {
    files(
        &["
def s(a: FloatField, out: FloatField):
    with computation(forward):
        with interval(None, -1):
            out = a
        with interval(-1):
            with horizontal(region[I[1], :], region[I[0] : I[-2], J[-3] - 1]):
                out = a
            with horizontal(region[I[-1]]):
                out = a
"],
        &expect![[r#"
            E09 E10 E10 E14 E14 E14 E14 -> 
            def s(a: FloatField, out: FloatField):
                with computation(FORWARD):
                    with interval(0, -1):
                        out = a
                    with interval(-1, None):
                        with horizontal(region[I[0] + 1, :], region[I[0] : I[-1] - 1, J[-1] - 2 - 1]):
                            out = a
                        with horizontal(region[I[-1], :]):
                            out = a

        "#]],
    );
}

#[test]
fn types_defaults_and_names_are_put_right() {
    files(
        &["
from enum import IntEnum
import math
import numpy as np
class Kind(IntEnum):
    LINEAR = 1
HEAT = 3.0
def s(a: FloatFeild, out: Field[folat], q: Field[IJ, np.flaot32], *, w: float = 2, n: int = -3.0, f: bool = 1):
    with computation(PARALLEL), interval(...):
        out = a * HAET + math.PI if Kind.LINAER == 1 else w
"],
        &expect![[r#"
            E01 E01 E01 E03 E03 E03 E07 E06 E06 -> 
            from enum import IntEnum
            import math
            import numpy as np
            class Kind(IntEnum):
                LINEAR = 1
            HEAT = 3.0
            def s(a: FloatField, out: Field[float], q: Field[IJ, np.float32], *, w: float = 2.0, n: int = -3, f: bool = True):
                with computation(PARALLEL), interval(...):
                    out = a * HEAT + math.pi if Kind.LINEAR == 1 else w

        "#]],
    );
}

#[test]
fn types_that_numpy_had_once_are_those_of_python() {
    files(
        &["
import numpy as np
def s(a: Field[np.int], b: Field[IJ, np.float], c: np.bool, d: np.int, out: Field[np.float64, IJK]):
    with computation(PARALLEL), interval(...):
        t: np.int = 1
        out = float(a * t) + b
"],
        &expect![[r#"
            E01 E01 E01 E52 -> 
            import numpy as np
            def s(a: Field[int], b: Field[IJ, float], c: np.bool, d: int, out: Field[IJK, np.float64]):
                with computation(PARALLEL), interval(...):
                    t: int = 1
                    out = float(a * t) + b

        "#]],
    );
}

#[test]
fn statements_that_compare_or_wait_are_put_right() {
    files(
        &["
@gtscript.function
async def f(q):
    return q + 1.0
@gtscript.stencil
async def s(a: FloatField, out: FloatField):
    async with computation(PARALLEL), interval(...):
        out == f(a)
        a < out
"],
        &expect![[r#"
            E38 E38 E38 E38 -> E38
            @gtscript.function
            def f(q):
                return q + 1.0
            @gtscript.stencil
            def s(a: FloatField, out: FloatField):
                with computation(PARALLEL), interval(...):
                    out = f(a)
                    a < out

        "#]],
    );
}

#[test]
fn functions_and_externals_are_put_right() {
    files(
        &["
@gtscript.function
def upwind(c, q, *, limit=1.0):
    from __externals__ import unused
    f[0, 0, 0] = c * q
    return min(f, limit)
def s(a: FloatField, out: FloatField):
    from __externals__ import missing, n, unused
    with computation(PARALLEL), interval(...):
        out = upwnid(a, out, limti=2.0) + n
"],
        &expect![[r#"
            W08 W08 E41 -> 
            @gtscript.function
            def upwind(c, q, *, limit=1.0):
                f = c * q
                return min(f, limit)
            def s(a: FloatField, out: FloatField):
                from __externals__ import n
                with computation(PARALLEL), interval(...):
                    out = upwind(a, out, limit=2.0) + n

        "#]],
    );
}
