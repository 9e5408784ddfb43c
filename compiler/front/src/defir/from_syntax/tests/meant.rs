//! Stencils that are none but for a slip, those with one name, and how they are built.

use expect_test::{Expect, expect};

use super::{build, check, said};
use crate::config::Config;
use crate::frontend::Program;
use crate::project::Project;

const HEAD: &str = "from gt4py.cartesian import gtscript\n";

/// Compares the diagnostics of the only stencil of each text.
#[track_caller]
fn told(cases: &[&str], expected: &Expect) {
    let mut text = String::new();
    for case in cases {
        let project = Project::of_one("main.py", case);
        let (_, found) = build(&project, &Config::default());
        text += &format!("{}\n", case.replace(HEAD, "").trim_end());
        for it in &found {
            text += &format!("-- {}", said(&project, std::slice::from_ref(it)));
            text += &it.help.as_ref().map(|it| format!("   {it}\n")).unwrap_or_default();
            for fix in &it.fixes {
                text += &format!("   fix: {}\n", fix.title);
            }
        }
    }
    expected.assert_eq(&text);
}

fn with(line: &str) -> String {
    format!("def s(a: FloatField):\n    with {line}:\n        a = 1.0\n")
}

#[test]
fn a_misspelt_computation_is_named_with_the_word_that_was_meant() {
    let cases = [
        "compution(PARALLEL), interval(...)",
        "computation(PARALEL), interval(...)",
        "computation(PARALLEL), intervall(...)",
        "compution(PARALEL), interval(...)",
        "loop(FORWARD), interval(...)",
        "computation, interval(...)",
        "computation(PARALLEL), interval",
        "PARALLEL, interval(...)",
        "gtscript.compuation(order=PARALLEL), interval(...)",
    ];
    let texts: Vec<String> = cases.iter().map(|it| with(it)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    told(
        &texts,
        &expect![[r#"
        def s(a: FloatField):
            with compution(PARALLEL), interval(...):
                a = 1.0
        -- E09 2:10 `compution` is no computation, interval or horizontal region
           did you mean `computation`?
           fix: write `computation`
        def s(a: FloatField):
            with computation(PARALEL), interval(...):
                a = 1.0
        -- E09 2:22 the order of a computation is not known
           did you mean `PARALLEL`?
           fix: write `PARALLEL`
        def s(a: FloatField):
            with computation(PARALLEL), intervall(...):
                a = 1.0
        -- E09 2:33 `intervall` is no computation, interval or horizontal region
           did you mean `interval`?
           fix: write `interval`
        def s(a: FloatField):
            with compution(PARALEL), interval(...):
                a = 1.0
        -- E09 2:10 `compution` is no computation, interval or horizontal region
           did you mean `computation`?
           fix: write `computation`
        -- E09 2:20 the order of a computation is not known
           did you mean `PARALLEL`?
           fix: write `PARALLEL`
        def s(a: FloatField):
            with loop(FORWARD), interval(...):
                a = 1.0
        -- E09 2:10 `loop` is no computation, interval or horizontal region
           did you mean `computation`?
           fix: write `computation`
        def s(a: FloatField):
            with computation, interval(...):
                a = 1.0
        -- E09 2:10 `computation` is not called
           write `computation(PARALLEL)`
        def s(a: FloatField):
            with computation(PARALLEL), interval:
                a = 1.0
        -- E09 2:33 `interval` is not called
           write `interval(...)`
        def s(a: FloatField):
            with PARALLEL, interval(...):
                a = 1.0
        -- E09 2:10 `PARALLEL` stands outside a computation
           write `computation(PARALLEL)`
           fix: write `computation(PARALLEL)`
        def s(a: FloatField):
            with gtscript.compuation(order=PARALLEL), interval(...):
                a = 1.0
        -- E09 2:19 `gtscript.compuation` is no computation, interval or horizontal region
           did you mean `computation`?
           fix: write `computation`
    "#]],
    );
    let nested = "def s(a: FloatField):\n    with computaton(FORWARD):\n        with intreval(...):\n            with horizontl(region[0, :]):\n                a = 1.0\n";
    told(
        &[nested],
        &expect![[r#"
        def s(a: FloatField):
            with computaton(FORWARD):
                with intreval(...):
                    with horizontl(region[0, :]):
                        a = 1.0
        -- E09 2:10 `computaton` is no computation, interval or horizontal region
           did you mean `computation`?
           fix: write `computation`
        -- E09 3:14 `intreval` is no computation, interval or horizontal region
           did you mean `interval`?
           fix: write `interval`
        -- E09 4:18 `horizontl` is no computation, interval or horizontal region
           did you mean `horizontal`?
           fix: write `horizontal`
    "#]],
    );
}

#[test]
fn a_word_of_the_language_by_another_name_is_told() {
    let alias = "from gt4py.cartesian.gtscript import computation as comp, PARALLEL as P, interval\n";
    let text = format!("{alias}{}", with("comp(P), interval(...)"));
    told(
        &[&text],
        &expect![[r#"
        from gt4py.cartesian.gtscript import computation as comp, PARALLEL as P, interval
        def s(a: FloatField):
            with comp(P), interval(...):
                a = 1.0
        -- E09 3:10 `comp` is `computation` by another name
           write `computation`
           fix: write `computation`
        -- E09 3:15 the order of a computation is not known
           did you mean `PARALLEL`?
           fix: write `PARALLEL`
    "#]],
    );
}

#[test]
fn a_function_decorated_as_a_stencil_has_a_computation() {
    let plain = "def s(a: Field[float]):\n    a = 1.0\n    if a > 0.0:\n        a = 2.0\n";
    let texts = [
        format!("{HEAD}@gtscript.stencil(backend=\"numpy\")\n{plain}"),
        format!("{HEAD}@gtscript.stencl(backend=\"numpy\")\n{plain}"),
        format!("from gt4py.cartesian.gtscript import lazy_stencil as lazy\n@lazy()\n{plain}"),
        format!("{HEAD}@gtscript.stencl\n{}", with("computation(PARALLEL), interval(...)")),
        format!("@stencl\n{}", with("computation(PARALLEL), interval(...)")),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    told(
        &texts,
        &expect![[r#"
        @gtscript.stencil(backend="numpy")
        def s(a: Field[float]):
            a = 1.0
            if a > 0.0:
                a = 2.0
        -- W11 2:19 the argument `backend` has no effect here
           a back end is chosen when the stencil is run, as with `isobar run --backend`
        -- E09 3:5 the stencil `s` has no computation
           put its statements into a `with computation(PARALLEL), interval(...):`
        @gtscript.stencl(backend="numpy")
        def s(a: Field[float]):
            a = 1.0
            if a > 0.0:
                a = 2.0
        -- E07 2:11 there is no decorator `gtscript.stencl`
           did you mean `stencil`?
           fix: write `stencil`
        -- E09 3:5 the stencil `s` has no computation
           put its statements into a `with computation(PARALLEL), interval(...):`
        from gt4py.cartesian.gtscript import lazy_stencil as lazy
        @lazy()
        def s(a: Field[float]):
            a = 1.0
            if a > 0.0:
                a = 2.0
        -- E09 3:5 the stencil `s` has no computation
           put its statements into a `with computation(PARALLEL), interval(...):`
        @gtscript.stencl
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0
        -- E07 2:11 there is no decorator `gtscript.stencl`
           did you mean `stencil`?
           fix: write `stencil`
        @stencl
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0
        -- E07 1:2 there is no decorator `stencl`
           did you mean `stencil`?
           fix: write `stencil`
    "#]],
    );
}

#[test]
fn other_peoples_functions_are_no_stencils() {
    for text in [
        "def f(a):\n    with open(a) as file, interval(3):\n        pass\n",
        "def f(a):\n    with compute(PARALLEL) as it:\n        it.run()\n",
        "def f(computation):\n    with computation:\n        pass\n",
        "def f():\n    with timer.interval(1.0), lock:\n        pass\n",
        "from numba import stencil\n@stencil\ndef f(a):\n    return a[0] + a[1]\n",
        "def stencil(f):\n    return f\n@stencil\ndef f(a):\n    return a\n",
        "@mylib.stencil(n=1)\ndef f(a):\n    return a\n",
        "@pytest.mark.stencils\ndef f(a):\n    return a\n",
        "@function\ndef f(a):\n    with compution(PARALLEL), interval(...):\n        b = a\n    return b\n",
    ] {
        let program = parsed(text);
        assert_eq!(program.stencils(), Vec::new(), "{text}");
    }
}

#[test]
fn a_misspelt_function_decorator_is_told_where_the_function_is_called() {
    let text = format!(
        "{HEAD}@gtscript.functon\ndef f(a):\n    return a\ndef s(a: FloatField):\n    with computation(PARALLEL), interval(...):\n        a = f(a)\n"
    );
    told(
        &[&text],
        &expect![[r#"
        @gtscript.functon
        def f(a):
            return a
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = f(a)
        -- E41 7:13 `f` is not a GTScript function
           did you mean `function`?
           fix: write `function`
    "#]],
    );
}

fn parsed(text: &str) -> Program {
    crate::frontend::parse(&Project::of_one("main.py", text), &mut crate::diag::Diagnostics::default())
}

const SAME_NAMES: &str = "
class X:
    def s(a: FloatField):
        with computation(PARALLEL), interval(...):
            a = 1.0

    class Inner:
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 2.0

def make(n):
    def s(a: FloatField):
        with computation(PARALLEL), interval(...):
            a = 3.0
    def other(a: FloatField):
        with computation(PARALLEL), interval(...):
            a = 4.0
    return s
";

#[test]
fn stencils_with_one_name_are_told_apart_by_their_paths() {
    let names = |text: &str| parsed(text).stencils().into_iter().map(|it| it.name).collect::<Vec<_>>();
    assert_eq!(names(SAME_NAMES), ["X.s", "X.Inner.s", "make.s", "other"]);
    let twice = "def s(a: FloatField):\n    with computation(PARALLEL), interval(...):\n        a = 1.0\n";
    assert_eq!(names(&[twice, twice].concat()), ["s"]);
    assert_eq!(names(&[SAME_NAMES, twice].concat()), ["X.s", "X.Inner.s", "make.s", "other", "s"]);
}

#[test]
fn a_stencil_is_named_by_its_path_or_by_an_end_of_it_that_no_other_has() {
    let chosen = |text: &str, name: &str| {
        let mut project = Project::of_one("main.py", text);
        project.stencil = Some(name.to_owned());
        let (stencil, found) = build(&project, &Config::default());
        let line = stencil.map(|it| text[..it.span.start as usize].lines().count());
        let said = found.iter().map(|it| format!("{}: {}", it.message, it.help.clone().unwrap_or_default()));
        line.map_or_else(|| said.collect(), |it| format!("line {it}"))
    };
    assert_eq!(chosen(SAME_NAMES, "X.s"), "line 3");
    assert_eq!(chosen(SAME_NAMES, "X.Inner.s"), "line 8");
    assert_eq!(chosen(SAME_NAMES, "Inner.s"), "line 8");
    assert_eq!(chosen(SAME_NAMES, "make.s"), "line 13");
    assert_eq!(chosen(SAME_NAMES, "other"), "line 16");
    assert_eq!(chosen(SAME_NAMES, "make.other"), "line 16");
    let ambiguous = "the main file has 3 stencils named `s`: name one of `X.s`, `X.Inner.s`, `make.s`";
    assert_eq!(chosen(SAME_NAMES, "s"), ambiguous);
    assert_eq!(chosen(SAME_NAMES, "X.t"), "the main file has no stencil named `X.t`: did you mean `X.s`?");
    let others =
        "the main file has no stencil named `er.s`: name one of `X.s`, `X.Inner.s`, `make.s`, `other`";
    assert_eq!(chosen(SAME_NAMES, "er.s"), others);
    let twice = "def s(a: FloatField):\n    with computation(PARALLEL), interval(...):\n        a = 1.0\n";
    // Of two at the top the last one wins, and a path goes before what ends with it.
    assert_eq!(chosen(&[SAME_NAMES, twice, twice].concat(), "s"), "line 23");
}

#[test]
fn an_external_function_without_a_value_is_told_once_and_first() {
    let calls = [
        "x, y = adv(a, a)",
        "x = adv(a)",
        "x, y = other(adv(a), a)",
        "x = 1.0 + other(adv(a), a)[0]",
        "x, y = (adv(a), adv(a))",
        "x = through(adv, a)",
        "x, y = 2.0 * adv(a)",
        "x: float = adv(a)",
        "x, y = nothing(a)",
        "x, y = a",
        "x, y = a + 1.0",
    ];
    let text = |call: &str| {
        format!(
            "@function\ndef other(a, b):\n    return a, b\n@function\ndef through(g, a):\n    return g(a)\ndef s(a: FloatField):\n    with computation(PARALLEL), interval(...):\n        from __externals__ import adv\n        {call}\n        x = 0.0\n        a = x\n"
        )
    };
    let mut shown = String::new();
    for call in calls {
        let project = Project::of_one("main.py", &text(call));
        let (_, found) = build(&project, &Config::default());
        // Nothing follows, such as that the import is not used.
        let is_told = |it: &crate::diag::Diagnostic| it.code.0.starts_with('E') || call.contains("adv, a");
        let errors: Vec<_> = found.into_iter().filter(is_told).collect();
        let help = errors.iter().filter_map(|it| it.help.clone()).next().unwrap_or_default();
        shown += &format!(
            "{call}\n    {}    {help}\n",
            said(&project, &errors).replace('\n', "\n    ").trim_end_matches("    ")
        );
    }
    expect![[r#"
        x, y = adv(a, a)
            E06 10:16 the external `adv` has no value
            give it a value in the externals, as `{"adv": {"function": "a_function"}}`
        x = adv(a)
            E06 10:13 the external `adv` has no value
            give it a value in the externals, as `{"adv": {"function": "a_function"}}`
        x, y = other(adv(a), a)
            E06 10:22 the external `adv` has no value
            give it a value in the externals, as `{"adv": {"function": "a_function"}}`
        x = 1.0 + other(adv(a), a)[0]
            E44 10:19 function `other` has 2 results and is called inside an expression
            assign the results first: `x1, x2 = other(...)`
        x, y = (adv(a), adv(a))
            E06 10:17 the external `adv` has no value
            give it a value in the externals, as `{"adv": {"function": "a_function"}}`
        x = through(adv, a)
            E06 6:12 the external `adv` has no value
            give it a value in the externals, as `{"adv": {"function": "a_function"}}`
        x, y = 2.0 * adv(a)
            E06 10:22 the external `adv` has no value
            give it a value in the externals, as `{"adv": {"function": "a_function"}}`
        x: float = adv(a)
            E06 10:20 the external `adv` has no value
            give it a value in the externals, as `{"adv": {"function": "a_function"}}`
        x, y = nothing(a)
            E41 10:16 no function is named `nothing`
            define it with `@function` above, import it, or import `nothing` from `__externals__`
        x, y = a
            E35 10:9 2 targets and 1 value
            write as many targets as there are values
        x, y = a + 1.0
            E35 10:9 2 targets and 1 value
            write as many targets as there are values
    "#]]
    .assert_eq(&shown);
}

#[test]
fn arguments_that_nothing_takes_are_told_with_the_likely_name() {
    let body = with("computation(PARALLEL), interval(...)");
    let texts = [
        format!("{HEAD}@gtscript.stencil(backnd=\"numpy\", extrenals={{}})\n{body}"),
        format!(
            "{HEAD}@gtscript.stencil(backend=\"numpy\", rebuild=True, _impl=1, device_sync=False)\n{body}"
        ),
        format!("{HEAD}@gtscript.lazy_stencil(backend=\"numpy\", egaer=True)\n{body}"),
        format!("{HEAD}{body}\nrun = gtscript.stencil(\"numpy\", s, literal_float_precison=32, zebra=1)\n"),
        format!("{HEAD}{body}\nrun = gtscript.stencil(bakend=\"numpy\")(s)\n"),
        format!("{body}\nrun = factory.from_dims_halo(func=s, compute_dim=[I], skip_passes=())\n"),
        format!("{HEAD}{body}\nother(s, zebra=1)\n"),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    told(
        &texts,
        &expect![[r#"
        @gtscript.stencil(backnd="numpy", extrenals={})
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0
        -- W10 2:19 `stencil` has no argument `backnd`
           did you mean `backend`?
           fix: write `backend`
        -- W10 2:35 `stencil` has no argument `extrenals`
           did you mean `externals`?
           fix: write `externals`
        @gtscript.stencil(backend="numpy", rebuild=True, _impl=1, device_sync=False)
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0
        -- W11 2:19 the arguments `_impl`, `backend`, `device_sync`, `rebuild` have no effect here
           a back end is chosen when the stencil is run, as with `isobar run --backend`
        @gtscript.lazy_stencil(backend="numpy", egaer=True)
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0
        -- W11 2:24 the argument `backend` has no effect here
           a back end is chosen when the stencil is run, as with `isobar run --backend`
        -- W10 2:41 `lazy_stencil` has no argument `egaer`
           did you mean `eager`?
           fix: write `eager`
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0

        run = gtscript.stencil("numpy", s, literal_float_precison=32, zebra=1)
        -- W10 6:36 `stencil` has no argument `literal_float_precison`
           did you mean `literal_float_precision`?
           fix: write `literal_float_precision`
        -- W10 6:63 `stencil` has no argument `zebra`
           leave it out; there are `definition`, `dtypes`, `externals`, `literal_float_precision`, `literal_int_precision`, `backend`, `build_info`, `cache_settings`, `format_source`, `name`, `raise_if_not_cached`, `rebuild`
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0

        run = gtscript.stencil(bakend="numpy")(s)
        -- W10 6:24 `stencil` has no argument `bakend`
           did you mean `backend`?
           fix: write `backend`
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0

        run = factory.from_dims_halo(func=s, compute_dim=[I], skip_passes=())
        -- W10 5:38 `from_dims_halo` has no argument `compute_dim`
           did you mean `compute_dims`?
           fix: write `compute_dims`
        -- W11 5:55 the argument `skip_passes` has no effect here
           a back end is chosen when the stencil is run, as with `isobar run --backend`
        def s(a: FloatField):
            with computation(PARALLEL), interval(...):
                a = 1.0

        other(s, zebra=1)
    "#]],
    );
}

#[test]
fn enumerations_are_checked_where_they_are_defined() {
    let text = "
from enum import Enum, IntEnum
from somewhere import Unknown

class Base(IntEnum):
    pass

@gtscript.enum
class Good(Base):
    A = 1

@gtscript.enum
class Perhaps(Unknown):
    A = 1

@gtscript.enum
class Bad(Enum):
    A = 1

@gtscript.enum
class Bare:
    A = 1

@gtscript.enum
class Good(IntEnum):
    B = 1

def s(a: FloatField):
    with computation(PARALLEL), interval(...):
        a = 1.0
";
    check(
        text,
        &expect![[r#"
        E55 16:7 the enumeration `Bad` is not one of integers
        E55 20:7 the enumeration `Bare` is not one of integers
        E55 24:7 two enumerations are named `Good`
    "#]],
    );
    let read = "
from enum import Enum

@gtscript.enum
class Bad(Enum):
    A = 1

def s(a: FloatField):
    with computation(PARALLEL), interval(...):
        a = Bad.A
";
    check(
        read,
        &expect![[r#"
        E55 4:7 the enumeration `Bad` is not one of integers
    "#]],
    );
}
