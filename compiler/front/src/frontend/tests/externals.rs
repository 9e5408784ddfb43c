//! Which externals a stencil needs, what they are used as, and what the text tells of them.

use std::fmt::Write;

use expect_test::{Expect, expect};

use crate::config::Config;
use crate::diag::Diagnostics;
use crate::frontend::externals::{self, ExternalKind};
use crate::frontend::{Names, Program, parse};
use crate::project::Project;

fn program(files: &[(&str, &str)]) -> Program {
    let main = files[0].0.to_owned();
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).into())).collect();
    parse(&Project { files, main, stencil: None }, &mut Diagnostics::default())
}

/// A line for each external: its name, kind, and the value that the text tells.
fn check(files: &[(&str, &str)], stencil: Option<&str>, expected: &Expect) {
    let mut text = String::new();
    let (program, config) = (program(files), Config::default());
    for it in externals::of(&program, &Names::new(&program, &config), stencil) {
        let kind = match &it.kind {
            ExternalKind::Namespace(members) => {
                let members: Vec<_> =
                    members.iter().map(|(name, kind)| format!("{name}: {kind:?}")).collect();
                format!("Namespace {{ {} }}", members.join(", "))
            }
            kind => format!("{kind:?}"),
        };
        let given = it.given.map_or_else(String::new, |value| format!(" = {value:?}"));
        let _ = writeln!(text, "{}: {kind}{given}", it.name);
    }
    expected.assert_eq(&text);
}

#[test]
fn the_kind_of_an_external_is_what_it_is_used_as() {
    let text = "
MODE = 3
def s(q: FloatField, out: FloatField):
    from __externals__ import flux, switch, other, order, mode, level, edge, east, i_end, weight, config, shift, unused
    with computation(PARALLEL), interval(level, -1):
        out = flux(q, weight)
        if __INLINED(switch):
            out = 0.0
        if not other and order < 5:
            out = q[shift, 0, 0]
        elif mode == MODE:
            out = 1.0 if config.flag else config.scale * q
        with horizontal(region[edge, :], region[i_end - 1 : east + 1, :], region[:, 0:1]):
            out = config.nested.n + 2.0
";
    check(
        &[("main.py", text)],
        None,
        &expect![[r#"
            flux: Function { n_args: 2 }
            switch: Bool
            other: Bool
            order: Int
            mode: Int
            level: Int
            edge: Position(I)
            east: Position(I)
            i_end: Position(I)
            weight: Float
            config: Namespace { flag: Bool, nested: Namespace({"n": Float}), scale: Float }
            shift: Int
            unused: Float
        "#]],
    );
}

#[test]
fn externals_are_found_in_every_function_that_is_reached_and_in_no_other() {
    let main = "
import lib.corners as corners
from lib.flux import flux as f
def s(q: FloatField):
    from __externals__ import a
    with computation(PARALLEL), interval(...):
        q = f(q, corners.fill(q)) + a
def other(q: FloatField):
    from __externals__ import not_needed
    with computation(PARALLEL), interval(...):
        q = not_needed
";
    let corners = "@function\ndef fill(q):\n    from __externals__ import grid\n    return q if grid > 3 else -q\n\
                   @function\ndef more(q):\n    from __externals__ import never\n    return never\n";
    let flux = "@function\ndef inner(q, order):\n    return q if order > 3 else q[-1, 0, 0]\n\
                @function\ndef flux(q, b):\n    from __externals__ import iord\n    return inner(q, iord) + b\n";
    check(
        &[("main.py", main), ("lib/corners.py", corners), ("lib/flux.py", flux)],
        Some("s"),
        &expect![[r#"
            grid: Int
            iord: Int
            a: Float
        "#]],
    );
}

#[test]
fn what_the_text_tells_is_taken_from_decorators_and_calls() {
    let text = "
import numpy as np
from types import SimpleNamespace
SWITCH = {\"c\": True, \"d\": I[0] - 1}
@gtscript.function
def double(q):
    from __externals__ import factor
    return factor * q
@gtscript.stencil(backend=\"numpy\", externals={\"a\": 2, \"b\": np.float32(0.5), **SWITCH})
def s(q: FloatField):
    from __externals__ import a, b, c, d, e, f
    with computation(PARALLEL), interval(...):
        q = f(q) * a * b + c + d + e.x
def build(factory, unknown):
    extra = {\"a\": 3, \"e\": SimpleNamespace(x=1.5)}
    factory.from_dims_halo(func=s, externals={\"a\": 4, \"f\": double, \"factor\": unknown})
    return gtscript.stencil(definition=s, backend=\"numpy\", externals=extra)
";
    check(
        &[("main.py", text)],
        Some("s"),
        &expect![[r#"
            factor: Float
            a: Float = Int(2)
            b: Float = Typed(Float32(0.5))
            c: Float = Bool(true)
            d: Float = Axis { axis: I, index: Some(0), offset: -1 }
            e: Namespace { x: Float } = Namespace({"x": Float(1.5)})
            f: Function { n_args: 1 } = Function("double")
        "#]],
    );
}

#[test]
fn functions_that_could_be_meant_are_listed_by_name_then_by_place() {
    let main = "@function\ndef two(a, b):\n    return a\n@function\ndef one(a):\n    return a\ndef plain(a, b):\n    return a\n";
    let lib = "@function\ndef fill_corners_x(a, b):\n    return a\n@function\ndef with_default(a, b=1.0):\n    return a\n";
    let program = program(&[
        ("model/main.py", main),
        ("model/corners.py", lib),
        ("far/away.py", &lib.replace("fill", "f")),
    ]);
    assert_eq!(
        externals::candidates(&program, "fill_corners_func", 2),
        [
            "model.corners.fill_corners_x",
            "far.away.f_corners_x",
            "two",
            "model.corners.with_default",
            "far.away.with_default"
        ]
    );
}

#[test]
fn a_name_that_functions_hand_on_in_circles_is_followed_once() {
    // Following every call of each body again, to the depth that is followed, would take for ever.
    let calls = "    x = f(flag, 1) + g(flag, 1)\n".repeat(60);
    let text = format!(
        "@function\ndef f(flag, n):\n{calls}    return n if flag else 0\n@function\ndef g(flag, n):\n{calls}    return n\n\
         def s(q: FloatField):\n    from __externals__ import on\n    with computation(PARALLEL), interval(...):\n        q = f(on, 1)\n"
    );
    check(
        &[("main.py", &text)],
        None,
        &expect![[r#"
            on: Bool
        "#]],
    );
}
