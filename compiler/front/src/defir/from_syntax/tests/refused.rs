//! The texts that the language refuses, and their diagnostics.

use std::collections::BTreeSet;

use expect_test::expect;

use super::{around, build, check, check_with, refusals, said};
use crate::config::{Config, External};
use crate::diag::render::render;
use crate::project::Project;

#[test]
fn an_error_shows_its_line_and_what_to_write() {
    let project = Project::of_one(
        "main.py",
        "def s(alpha: FloatField, out: FloatField):\n    with computation(PARALLEL), interval(...):\n        out = alpah + 1.0\n",
    );
    let (_, diagnostics) = build(&project, &Config::default());
    let files = |file| (project.name(file), project.text(file));
    expect![[r#"
        error[E07]: nothing is named `alpah`
         --> main.py:3:15
          |
        3 |         out = alpah + 1.0
          |               ^^^^^ not known here
          |
          = help: did you mean `alpha`?
          = fix: write `alpha`
    "#]]
    .assert_eq(&diagnostics.iter().map(|it| render(it, &files)).collect::<String>());
}

#[test]
fn every_syntax_error_is_told_and_the_rest_is_understood() {
    check(
        "
def s(a: FloatField, out: FloatField)
    with computation(PARALLEL), interval(...):
        out = a +
        out = (a
        out = b
",
        &expect![[r#"
            E00 1:38 the line of this `def` ends without `:`
            E00 3:18 expected an expression
            E00 4:15 this `(` is never closed
            E07 5:15 nothing is named `b`
        "#]],
    );
}

#[test]
fn limits_are_told() {
    check(
        &format!("x = {}1\n", "(".repeat(5000)),
        &expect![[r#"
            E00 1:133 blocks, brackets and operators nest deeper than 256
        "#]],
    );
    check(
        &"#".repeat((1 << 20) + 1),
        &expect![[r#"
            E00 1:1 the file has 1048577 bytes, and at most 1048576 are read
        "#]],
    );
    let mut functions = "@function\ndef f0(q):\n    return q + 1\n".to_owned();
    for n in 1..20 {
        functions += &format!("@function\ndef f{n}(q):\n    return f{}(q) + f{}(q)\n", n - 1, n - 1);
    }
    functions +=
        "def s(a: FloatField):\n    with computation(PARALLEL), interval(...):\n        a = f19(a)\n";
    check(
        &functions,
        &expect![[r#"
        E90 63:13 the stencil has more than 20000 statements after inlining
    "#]],
    );
}

#[test]
fn signatures() {
    check(
        "
def s(a, b: what.Is, c: 3, *args, d: float = 2, e: FloatField = 1.0, f: Field[\"real\"], g: \"real\", h: int = 2.5, i: bool = 0, a: float, **kw):
    with computation(PARALLEL), interval(...):
        e = 1.0
",
        &expect![[r#"
            E01 1:7 parameter `a` has no type
            E01 1:13 the type of parameter `b` is not a field or scalar type: nothing is named `what`
            E01 1:25 the type of parameter `c` is not a field or scalar type: it is a number
            E02 1:29 `args` collects an unknown number of arguments
            E03 1:46 the default of `d` is an integer, and the parameter is declared float64
            E03 1:65 field `e` has a default other than `None`
            E04 1:73 the type "real" is not among the dtypes
            E03 1:108 the default of `h` is a float, and the parameter is declared int64
            E03 1:123 the default of `i` is an integer, and the parameter is declared bool
            E00 1:126 two parameters are named `a`
            E02 1:138 `kw` collects an unknown number of arguments
        "#]],
    );
}

#[test]
fn literals_keep_their_kind() {
    let dtypes = |float: &str, int: &str| {
        let dtypes = [("float".to_owned(), float.to_owned()), ("int".to_owned(), int.to_owned())];
        Config { dtypes: dtypes.into(), ..Config::default() }
    };
    let text = around("PARALLEL", "out = a + 1.5 + 1");
    check_with(
        &dtypes("flot32", "np.float64"),
        &text,
        &expect![[r#"
        E04 the dtypes make literals of `int` "np.float64", which is no such type
        E04 the dtypes make literals of `float` "flot32", which is no such type
    "#]],
    );
    let project = Project::of_one("main.py", &text);
    for (float, int) in [("np.float32", "int32"), ("Float", "Int"), ("numpy.float64", "np.int64")] {
        assert_eq!(build(&project, &dtypes(float, int)).1, [], "{float} {int}");
    }
}

#[test]
fn imports_and_externals() {
    let config = Config {
        externals: [
            ("text".to_owned(), External::Unsupported("a string".to_owned())),
            ("gone".to_owned(), External::Function("nowhere.f".to_owned())),
            ("box".to_owned(), External::Namespace([].into())),
        ]
        .into(),
        ..Config::default()
    };
    check_with(
        &config,
        "
from elsewhere import THERE, g
FILE = open('x')
def s(a: FloatField):
    import math
    from __externals__ import missing as m, text, gone, box
    with computation(PARALLEL), interval(...):
        from numpy import sin
        a = m + text + gone(a) + box.inside
        a = THERE + FILE + g(a) + FILE.attribute + s
",
        &expect![[r#"
            E05 4:5 a body imports from `__externals__` only
            E05 5:5 the external `missing` is renamed
            E05 7:9 a body imports from `__externals__` only
            E06 8:13 the external `missing` has no value
            E06 8:17 the external `text` cannot be used: it is a string
            E06 8:24 the external `gone` cannot be used: no function or class `nowhere.f` is in the files
            E06 8:34 `box.inside` has no value: the object has no attribute `inside`
            E07 9:13 the value of `THERE` is not known while compiling, because it comes from the module `elsewhere`, which is not among the files
            E07 9:21 the value of `FILE` is not known while compiling, because nothing is named `open`
            E07 9:28 the value of `g` is not known while compiling, because it comes from the module `elsewhere`, which is not among the files
            E07 9:35 the value of `FILE.attribute` is not known while compiling, because nothing is named `open`
            E07 9:52 `s` is a function and not a number
        "#]],
    );
}

#[test]
fn top_level_and_computations() {
    check(
        "
def s(a: FloatField):
    x = 1
    for i in range(3):
        a = 1
    with computation(PARALLEL):
        a = 1
    with interval(...):
        a = 1
    with computation(SIDEWAYS), interval(...):
        a = 1
    with computation(PARALLEL), interval(0, 1), interval(1, 2):
        a = 1
    with computation(PARALLEL), computation(FORWARD), interval(...):
        a = 1
    with computation(PARALLEL), something(), interval(...):
        a = 1
    with computation(PARALLEL):
        with interval(0, 1):
            a = 1
        a = 2
    with computation(PARALLEL), interval(...):
        with interval(...):
            a = 1
        with open('x') as f:
            a = 1
",
        &expect![[r#"
            E08 2:5 an assignment stands outside every computation
            E08 3:5 a statement stands outside every computation
            E09 5:10 a computation has no interval
            E09 7:10 an interval or region stands outside a computation
            E09 9:22 the order of a computation is not known
            E09 11:49 a `with` has two intervals
            E09 13:33 a `with` has two computations
            E09 15:33 an item of this `with` is no computation, interval or horizontal region
            E09 20:9 a statement stands between the intervals of a computation
            E09 22:14 an interval stands inside an interval
            E09 24:14 this `with` is no horizontal region
        "#]],
    );
}

#[test]
fn intervals() {
    let bad = [
        "-1",
        "None, 2",
        "K[2], -1",
        "K[0:2]",
        "1, 1",
        "-1, 1",
        "3, 2",
        "n + 1, None",
        "0, n",
        "0, ij[0, 0]",
        "0.5, 2",
        "1, 2, 3",
        "",
        "0, unknown",
        "0, 10 ** 12",
    ];
    let mut text = String::new();
    for bounds in bad {
        let source = format!(
            "def s(a: FloatField, ij: IntFieldIJ, n: int):\n    with computation(FORWARD), interval({bounds}):\n        a = 1\n"
        );
        let project = Project::of_one("main.py", &source);
        let (_, diagnostics) = build(&project, &Config::default());
        text += &format!("{bounds}\n    {}", said(&project, &diagnostics));
    }
    expect![[r#"
        -1
            E10 2:41 a single level is counted from the start
        None, 2
            E10 2:41 an interval starts at a level, not at `None`
        K[2], -1
            E10 2:41 a bound of the interval is not known while compiling, because a subscript is not known while compiling
        K[0:2]
            E10 2:41 a bound of the interval is not known while compiling, because a subscript is not known while compiling
        1, 1
            E10 2:32 the interval is empty or runs backward
        -1, 1
            E10 2:32 the interval is empty or runs backward
        3, 2
            E10 2:32 the interval is empty or runs backward
        n + 1, None
            E10 2:41 a bound of the interval computes with `n`, which is known only while the stencil runs
        0, n
            0, ij[0, 0]
            0.5, 2
            E10 2:41 a bound of the interval is a number and not an integer
        1, 2, 3
            E10 2:32 an interval has one or two bounds

            E10 2:32 an interval has one or two bounds
        0, unknown
            E07 2:44 nothing is named `unknown`
        0, 10 ** 12
            E10 2:44 a bound of the interval is beyond every domain
    "#]].assert_eq(&text);
}

#[test]
fn sequences_of_intervals() {
    check(
        "
def s(a: FloatField):
    with computation(FORWARD):
        with interval(1, None):
            a = 1
        with interval(0, 1):
            a = 1
    with computation(PARALLEL):
        with interval(0, 2):
            a = 1
        with interval(1, None):
            a = 1
    with computation(BACKWARD):
        with interval(0, 1):
            a = 1
        with interval(1, None):
            a = 1
",
        &expect![[r#"
            E11 5:14 the intervals are not in the order in which they run: from the first level up
            E12 10:14 two intervals of one computation overlap
            E11 15:14 the intervals are not in the order in which they run: from the last level down
        "#]],
    );
}

#[test]
fn regions() {
    let cases = [
        "with horizontal(region[I[0], :]):\n    with horizontal(region[:, J[0]]):\n        out = a",
        "with horizontal(region[I[0]]):\n    out = a",
        "with horizontal(region[J[0], :]):\n    out = a",
        "with horizontal(region[I[2], :]):\n    out = a",
        "with horizontal(region[I[0:2], :]):\n    out = a",
        "with horizontal(region[I[0] + 3 : I[0], :]):\n    out = a",
        "with horizontal(region[I[0] * 2, :]):\n    out = a",
        "with horizontal(region[a, :]):\n    out = a",
        "with horizontal(region[0:4:2, :]):\n    out = a",
        "with horizontal():\n    out = a",
        "with horizontal(a):\n    out = a",
    ];
    expect![[r#"
        with horizontal(region[I[0], :]):
            with horizontal(region[:, J[0]]):
                out = a
            E13 4:13 a `with` stands inside a horizontal region
        with horizontal(region[I[0]]):
            out = a
            E14 3:32 a region has two entries, along I and along J
        with horizontal(region[J[0], :]):
            out = a
            E14 3:32 the place along I is given along J
        with horizontal(region[I[2], :]):
            out = a
            E14 3:34 `I[...]` takes 0 for the first and -1 for the last point
        with horizontal(region[I[0:2], :]):
            out = a
            E14 3:32 `I[...]` takes 0 or -1 and no slice
        with horizontal(region[I[0] + 3 : I[0], :]):
            out = a
            E14 3:32 the region ends before it starts
        with horizontal(region[I[0] * 2, :]):
            out = a
            E14 3:32 a bound of the region is not known while compiling, because a subscript is not known while compiling
        with horizontal(region[a, :]):
            out = a
            E14 3:32 a bound of the region is not known while compiling, because `a` is a field
        with horizontal(region[0:4:2, :]):
            out = a
            E14 3:36 a region has no step
        with horizontal():
            out = a
            E14 3:14 `horizontal` names no region
        with horizontal(a):
            out = a
            E14 3:25 `horizontal` takes regions
    "#]].assert_eq(&refusals("PARALLEL", &cases));
}

#[test]
fn targets() {
    let cases = [
        "out[1, 0, 0] = a",
        "out[0, 0, 1] = a",
        "ij = 1.0",
        "kf = 1.0",
        "x = 1.0",
        "x += 1.0",
        "out.A[0] = 1",
        "out.at(K=0) = 1",
        "out = b = a",
        "[out, b] = a, b",
        "*out, b = a, b",
        "out.value = a",
        "out, b = a",
        "out, b = a, b, a",
        "t[0, 0, 0] = a",
        "t += 1",
        "t: int",
        "out[0, 0, 0]: int = 1",
        "t = 1\nt: float = 2.0",
        "t: Field[IK, float] = 1.0",
        "t: nonsense = 1.0",
        "t: FloatFieldIJ = 1.0",
        "out[0, 0, 0][1] = a",
    ];
    expect![[r#"
        out[1, 0, 0] = a
            E16 3:9 `out` is assigned at another column
        out[0, 0, 1] = a
            E17 3:9 `out` is assigned at another level in a parallel computation
        ij = 1.0
            E24 3:9 `ij` has the axes IJ and cannot be assigned in a parallel computation
        kf = 1.0
            E24 3:9 `kf` has the axes K and cannot be assigned in a parallel computation
        x = 1.0
            E25 3:9 `x` is a scalar parameter and cannot be assigned
        x += 1.0
            E25 3:9 `x` is a scalar parameter and cannot be assigned
        out.A[0] = 1
            E31 3:9 `out.A[...]` can be read only
        out.at(K=0) = 1
            E00 3:9 invalid assignment target
        out = b = a
            E34 3:9 one value is assigned to several targets
        [out, b] = a, b
            E34 3:9 a list is assigned
        *out, b = a, b
            E34 3:9 a starred name is assigned
        out.value = a
            E34 3:9 an attribute is assigned
        out, b = a
            E35 3:9 2 targets and 1 value
        out, b = a, b, a
            E35 3:9 2 targets and 3 values
        t[0, 0, 0] = a
            E07 3:9 `t` is read before it is assigned
        t += 1
            E07 3:9 `t` is read before it is assigned
        t: int
            E52 3:9 a temporary is declared without a value
        out[0, 0, 0]: int = 1
            E52 3:9 the target of a declaration is not a name
        t = 1
        t: float = 2.0
            E52 4:9 `t` is declared after it was first assigned
        t: Field[IK, float] = 1.0
            E52 3:12 a temporary with the axes IK is declared by assigning it
        t: nonsense = 1.0
            E52 3:12 the type of the temporary is not known: nothing is named `nonsense`
        t: FloatFieldIJ = 1.0
            E24 3:9 `t` has the axes IJ and cannot be assigned in a parallel computation
        out[0, 0, 0][1] = a
            E30 3:9 `out` has no data dimensions, and `out[...][...]` asks for one
    "#]]
    .assert_eq(&refusals("PARALLEL", &cases));
}

#[test]
fn indices() {
    let cases = [
        "out = a[1, 0]",
        "out = ij[0, 0, 0]",
        "out = kf[0, 0]",
        "out = a[I + 1, I - 1]",
        "out = a[K, J]",
        "out = a[I * 2]",
        "out = a[I + 1 + I]",
        "out = ij[K + 1]",
        "out = a[b, 0, 0]",
        "out = a[0.5, 0, 0]",
        "out = a[0:1, 0, 0]",
        "out = (a + b)[1, 0, 0]",
        "out = x[0, 0, 0]",
        "out = a[0, 0, 0][1]",
        "out = a.A[1]",
        "out = I + 1",
        "out = a[100000, 0, 0]",
        "out = sqrt(a)[1, 0, 0]",
    ];
    expect![[r#"
        out = a[1, 0]
            E26 3:17 `a` has 3 axes (IJK) and is indexed with 2
        out = ij[0, 0, 0]
            E26 3:18 `ij` has 2 axes (IJ) and is indexed with 3
        out = kf[0, 0]
            E26 3:18 `kf` has 1 axis (K) and is indexed with 2
        out = a[I + 1, I - 1]
            E27 3:24 the axis I is given twice
        out = a[K, J]
            E27 3:20 the axis J is out of order
        out = a[I * 2]
            E27 3:17 this is not an axis, nor an axis plus or minus an integer
        out = a[I + 1 + I]
            E27 3:17 this is not an axis, nor an axis plus or minus an integer
        out = ij[K + 1]
            E27 3:18 `ij` has no axis K
        out = a[b, 0, 0]
            E27 3:17 the offset along I is not known while compiling, because `b` is a field
        out = a[0.5, 0, 0]
            E27 3:17 the offset along I is a float and not an integer
        out = a[0:1, 0, 0]
            E29 3:17 a slice stands in the index of a field
        out = (a + b)[1, 0, 0]
            E29 3:15 an expression is indexed, and only fields have points beside them
        out = x[0, 0, 0]
            E29 3:15 the scalar `x` is indexed, and only fields have points beside them
        out = a[0, 0, 0][1]
            E30 3:15 `a` has no data dimensions, and `a[...][...]` asks for one
        out = a.A[1]
            E30 3:15 `a` has no data dimensions, and `a.A[...]` asks for one
        out = I + 1
            E33 3:15 `I` is read as a value
        out = a[100000, 0, 0]
            E27 3:17 the offset 100000 is beyond 32768
        out = sqrt(a)[1, 0, 0]
            E29 3:15 an expression is indexed, and only fields have points beside them
    "#]]
    .assert_eq(&refusals("PARALLEL", &cases));
}

#[test]
fn expressions() {
    let cases = [
        "out = a // 2",
        "out = a & b",
        "out = ~a",
        "out = a is b",
        "out = a if a in b else b",
        "out = a < b < x",
        "out = min(a, b, x)",
        "out = sqrt()",
        "out = sqrt(x=a)",
        "out = 1j",
        "out = 'text'",
        "out = f'{a}'",
        "out = None",
        "out = [a for a in b]",
        "out = (c := a)",
        "out = lambda: 1",
        "out = 99999999999999999999",
        "out = math.sin(a)",
        "out = gtscript.sin(a)",
        "out = np.float64(a)",
        "out = sine(a)",
        "out = sqr(a)",
        "out = Float(a)",
        "out = a(b)",
        "out = t + 1\nt = 1",
        "out = __INLINED(1) + 1",
        "out = a @ b",
        "out = a.T",
        "out = a.shape",
    ];
    expect![[r#"
        out = a // 2
            E38 3:15 `//` is not part of the language
        out = a & b
            E38 3:15 `&` is not part of the language
        out = ~a
            E38 3:15 `~` is not part of the language
        out = a is b
            E38 3:15 `is` is not part of the language
        out = a if a in b else b
            E38 3:20 `in` is not part of the language
        out = a < b < x
            E39 3:15 comparisons are chained
        out = min(a, b, x)
            E40 3:15 `min` takes 2 arguments, and 3 are given
        out = sqrt()
            E40 3:15 `sqrt` takes 1 argument, and 0 are given
        out = sqrt(x=a)
            E40 3:20 `sqrt` takes no keywords
        out = 1j
            E53 3:15 a complex number stands in an expression
        out = 'text'
            E53 3:15 a string stands in an expression
        out = f'{a}'
            E53 3:15 an f-string stands in an expression
        out = None
            E53 3:15 `None` stands in an expression
        out = [a for a in b]
            E38 3:15 a list comprehension is not part of the language
        out = (c := a)
            E38 3:16 an assignment expression is not part of the language
        out = lambda: 1
            E38 3:15 a lambda is not part of the language
        out = 99999999999999999999
            E53 3:15 99999999999999999999 does not fit int64
        out = math.sin(a)
            E41 3:15 `math.sin` runs in Python, not in a stencil
        out = gtscript.sin(a)
            E41 3:15 `gtscript.sin` runs in Python, not in a stencil
        out = np.float64(a)
            E41 3:15 `np.float64` runs in Python, not in a stencil
        out = sine(a)
            E41 3:15 no function is named `sine`
        out = sqr(a)
            E41 3:15 no function is named `sqr`
        out = Float(a)
            E41 3:15 `Float` is a type and cannot be called here
        out = a(b)
            E41 3:15 `a` is a field and cannot be called here
        out = t + 1
        t = 1
            E07 3:15 `t` is read before it is assigned
        out = __INLINED(1) + 1
            E50 3:15 `__INLINED` is part of a larger expression
        out = a @ b
            E30 3:15 `@` joins operands with the sizes [] and []
        out = a.T
            E30 3:15 `a` has no data dimensions, and `a.T` asks for one
        out = a.shape
            E38 3:15 `.shape` of the field `a` is not part of the language
    "#]]
    .assert_eq(&refusals("PARALLEL", &cases));
}

#[test]
fn statements() {
    let cases = [
        "for i in range(3):\n    out = a",
        "while a > 1:\n    break",
        "while a > 1:\n    out = a\nelse:\n    out = b",
        "assert a",
        "return a",
        "try:\n    out = a\nexcept E:\n    out = b",
        "def f():\n    pass",
        "class C:\n    pass",
        "print(a)",
        "a + b",
        "compile_assert(1 > 2)",
        "compile_assert(a > 2)",
        "if __INLINED(a > 2):\n    out = a",
        "if __INLINED(sqrt(4) > 2):\n    out = a",
        "if __INLINED(1 > 2) and x > 1.0:\n    out = a",
        "import math",
        "del a",
        "match a:\n    case 1:\n        out = a",
    ];
    expect![[r#"
        for i in range(3):
            out = a
            E38 3:9 `for` is not part of the language
        while a > 1:
            break
            E38 4:13 `break` is not part of the language
        while a > 1:
            out = a
        else:
            out = b
            E38 6:13 `else` of a `while` is not part of the language
        assert a
            E38 3:9 `assert` is not part of the language
        return a
            E38 3:9 `return` in a stencil is not part of the language
        try:
            out = a
        except E:
            out = b
            E38 3:9 `try` is not part of the language
        def f():
            pass
            E38 3:13 `def` in a computation is not part of the language
        class C:
            pass
            E38 3:15 `class` in a computation is not part of the language
        print(a)
            E38 3:9 a call as a statement is not part of the language
        a + b
            E38 3:9 the value of this expression goes nowhere
        compile_assert(1 > 2)
            E51 3:24 the assertion `1 > 2` does not hold
        compile_assert(a > 2)
            E50 3:24 the condition of `compile_assert` is not known while compiling, because `a` is a field
        if __INLINED(a > 2):
            out = a
            E50 3:22 the condition of `__INLINED` is not known while compiling, because `a` is a field
        if __INLINED(sqrt(4) > 2):
            out = a
            E50 3:22 the condition of `__INLINED` is not known while compiling, because a call is not known while compiling
        if __INLINED(1 > 2) and x > 1.0:
            out = a
            E50 3:12 `__INLINED` is part of a larger expression
        import math
            E05 3:9 a body imports from `__externals__` only
        del a
            E38 3:9 `del` is not part of the language
        match a:
            case 1:
                out = a
            E38 3:9 `match` is not part of the language
    "#]].assert_eq(&refusals("PARALLEL", &cases));
}

#[test]
fn functions() {
    check(
        "
def plain(q):
    return q
@function
def none(q):
    t = q
@function
def two(q):
    if q > 0:
        return q
    return -q
@function
def pair(q):
    return q, q
@function
def bare(q):
    return
@function
def again(q):
    return again(q)
@function
def indexed(q):
    t = q
    t[0, 0, 0] = 1
    return t
@function
def looping(q):
    with computation(FORWARD), interval(...):
        q = 1
    return q
@function
def inner(q):
    with interval(...):
        t = q
    return t
@function
def good(q, w=1.0, *, e=2.0):
    return q * w * e
def s(a: FloatField, out: FloatField):
    with computation(PARALLEL), interval(...):
        out = plain(a)
        out = none(a)
        out = two(a)
        out = pair(a)
        out = 1.0 + pair(a)
        out, t, u = pair(a)
        out = bare(a)
        out = again(a)
        out = indexed(a)
        out = looping(a)
        out = inner(a)
        good(a)
        out = good()
        out = good(a, a, a)
        out = good(a, z=1)
        out = good(a, q=a)
        out = good(*a)
        out = good(**a)
        out = s(a)
        if good(a) > 1.0:
            out = a
        while good(a) > 1.0:
            out = a
",
        &expect![[r#"
            E43 4:5 function `none` has no `return`, and needs exactly one
            E43 10:5 function `two` has 2 `return`s, and needs exactly one
            E43 16:5 a function returns nothing
            E47 19:12 function `again` calls itself
            E48 23:5 a function assigns to `t` by index
            E49 27:10 a function holds a computation or interval
            E49 32:10 a function holds a computation or interval
            E41 40:15 `plain` is not a GTScript function
            E44 43:15 function `pair` has 2 results and is called inside an expression
            E44 44:21 function `pair` has 2 results and is called inside an expression
            E35 45:21 3 targets and 2 values
            E46 51:9 the result of `good` goes nowhere
            E42 52:15 the parameter `q` of `good` is not passed
            E42 53:26 `good` takes 2 arguments by position
            E42 54:23 `good` has no parameter `z`
            E42 55:23 `q` is passed twice
            E42 56:20 an argument is unpacked with `*`
            E42 57:20 arguments are unpacked with `**`
            E41 58:15 `s` is a stencil and cannot be called here
            E45 59:12 function `good` is called in the condition of `if`
            E45 61:15 function `good` is called in the condition of `while`
        "#]],
    );
}

#[test]
fn which_stencil_is_meant_must_be_clear() {
    check(
        "x = 1\n",
        &expect![[r#"
        E91 the main file has no stencil
    "#]],
    );
    let two =
        "def s(a: FloatField):\n    with computation(PARALLEL), interval(...):\n        a = 1.0\n".repeat(2);
    let two = two.replacen("def s(", "def r(", 1);
    check(
        &two,
        &expect![[r#"
        E91 the main file has 2 stencils
    "#]],
    );
    let named = |name: &str| {
        let project = Project { stencil: Some(name.to_owned()), ..Project::of_one("main.py", &two) };
        super::built(&project, &Config::default())
    };
    expect![[r#"
        stencil r(a: float64[IJK])
          computation parallel [start, end)
            a = 1.0
        E91 the main file has no stencil named `q`
    "#]]
    .assert_eq(&(named("r") + &named("q")));
    let project = Project { main: "other.py".to_owned(), ..Project::of_one("main.py", &two) };
    expect![[r#"
        E00 the main file `other.py` is not among the files
    "#]]
    .assert_eq(&super::built(&project, &Config::default()));
}

/// The codes of this level, each raised by a test of this file.
#[test]
fn every_code_has_a_test() {
    let tests = include_str!("refused.rs").to_owned() + include_str!("accepted.rs");
    let missing: BTreeSet<String> = (0..=53)
        .map(|it| format!("E{it:02}"))
        .filter(|it| {
            !matches!(
                it.as_str(),
                "E15" | "E18" | "E19" | "E20" | "E21" | "E22" | "E23" | "E28" | "E30" | "E32" | "E36" | "E37"
            )
        })
        .chain(["E90", "E91", "W05", "W08"].map(str::to_owned))
        .filter(|it| !tests.contains(&format!("{it} ")))
        .collect();
    assert_eq!(missing, BTreeSet::new());
}
