//! Mistakes whose texts have to say what was meant: of one mistake, one text.

use expect_test::expect;

use super::{build, refusals};
use crate::config::Config;
use crate::diag::render::render;
use crate::project::Project;

#[test]
fn one_missing_type_of_many_parameters_is_told_once() {
    let text = "\
from nowhere import Foo
def s(a: Foo, b: Foo, c: Field[Foo], d: Field[IJ, Foo], e: Foo, f: FloatFeild, g: FloatFeild, h: 'Bar', i: 'Bar'):
    with computation(PARALLEL), interval(...):
        a = b + c + h
";
    let (_, found) = build(&Project::of_one("main.py", text), &Config::default());
    let shown: String = found.iter().map(|it| render(it, &|_| ("main.py", text))).collect();
    expect![[r#"
        error[E01]: the type of parameters `a`, `b` and 3 more is not a field or scalar type: it comes from the module `nowhere`, which is not among the files
         --> main.py:2:10
          |
        2 | def s(a: Foo, b: Foo, c: Field[Foo], d: Field[IJ, Foo], e: Foo, f: FloatFeild, g: FloatFeild, h: 'Bar', i: 'Bar'):
          |          ^^^ not a type of the language
          |                  --- of `b` too
          |                          ---------- of `c` too
          |                                         -------------- of `d` too
          |                                                            --- of `e` too
          |
          = help: write a field type as `Field[float]` or `FloatField`, or a scalar type as `float`, `int` or `bool`
        error[E01]: the type of parameters `f` and `g` is not a field or scalar type: nothing is named `FloatFeild`
         --> main.py:2:68
          |
        2 | def s(a: Foo, b: Foo, c: Field[Foo], d: Field[IJ, Foo], e: Foo, f: FloatFeild, g: FloatFeild, h: 'Bar', i: 'Bar'):
          |                                                                    ^^^^^^^^^^ not a type of the language
          |                                                                                   ---------- of `g` too
          |
          = help: did you mean `FloatField`?
          = fix: write `FloatField`
        error[E04]: the type "Bar" is not among the dtypes
         --> main.py:2:98
          |
        2 | def s(a: Foo, b: Foo, c: Field[Foo], d: Field[IJ, Foo], e: Foo, f: FloatFeild, g: FloatFeild, h: 'Bar', i: 'Bar'):
          |                                                                                                  ^^^^^ not known
          |                                                                                                            ----- and here
          |
          = help: give it a meaning in the dtypes, as `{"Bar": "float64"}`
    "#]].assert_eq(&shown);
}

#[test]
fn what_python_has_and_a_stencil_has_not_is_named() {
    let cases = [
        "out = a.shape[0]",
        "out = a.max()",
        "out = a.dtype",
        "yield a",
        "await a",
        "b == a",
        "x == a",
        "a < b",
        "a + b",
        "out = sum(a[i, 0, 0] for i in range(3))",
        "out = sum([a, b])",
        "out = {i: a for i in range(3)}",
        "out = {a for i in range(3)}",
        "[a for i in range(3)]",
        "out = [a for i in range(3)][0]",
        "out = np.int",
    ];
    expect![[r#"
        out = a.shape[0]
            E38 3:15 `.shape` of the field `a` is not part of the language
        out = a.max()
            E38 3:15 `.max` of the field `a` is not part of the language
        out = a.dtype
            E38 3:15 `.dtype` of the field `a` is not part of the language
        yield a
            E38 3:9 a yield is not part of the language
        await a
            E38 3:9 an await is not part of the language
        b == a
            E38 3:9 a comparison stands as a statement, and its value goes nowhere
        x == a
            E38 3:9 a comparison stands as a statement, and its value goes nowhere
        a < b
            E38 3:9 a comparison stands as a statement, and its value goes nowhere
        a + b
            E38 3:9 the value of this expression goes nowhere
        out = sum(a[i, 0, 0] for i in range(3))
            E38 3:15 a generator expression is not part of the language
        out = sum([a, b])
            E41 3:15 no function is named `sum`
        out = {i: a for i in range(3)}
            E38 3:15 a dict comprehension is not part of the language
        out = {a for i in range(3)}
            E38 3:15 a set comprehension is not part of the language
        [a for i in range(3)]
            E38 3:9 a list comprehension is not part of the language
        out = [a for i in range(3)][0]
            E38 3:15 a list comprehension is not part of the language
        out = np.int
            E07 3:15 the value of `np.int` is not known while compiling, because nothing is named `np`
    "#]]
    .assert_eq(&refusals("PARALLEL", &cases));
}

#[test]
fn what_stands_behind_a_name_is_named_and_what_to_type() {
    let text = "\
from typing import Optional
SIZES = {\"a\": 1.0, \"b\": {\"c\": 2.0}}
def s(q: Optional[Field[float]], r: Field[float] | None, t: Field[float]):
    with computation(PARALLEL), interval(...):
        t = SIZES[\"a\"] + SIZES[\"b\"][\"c\"] + nowhere.T
";
    let (_, found) = build(&Project::of_one("main.py", text), &Config::default());
    let said: String = found
        .iter()
        .map(|it| format!("{} {}\n  {}\n", it.code, it.message, it.help.as_deref().unwrap_or("")))
        .collect();
    expect![[r#"
        E01 the type of parameter `q` is not a field or scalar type: `Optional[...]` is none, write the type inside, and `= None` where it may be left out
          write a field type as `Field[float]` or `FloatField`, or a scalar type as `float`, `int` or `bool`
        E01 the type of parameter `r` is not a field or scalar type: `... | None` is none, write the type inside, and `= None` where it may be left out
          write a field type as `Field[float]` or `FloatField`, or a scalar type as `float`, `int` or `bool`
        E29 `SIZES` is a dict, and a stencil indexes fields
          give the element a name above the stencil, as `value = SIZES["a"]`, and read `value`
        E29 `SIZES` is a dict, and a stencil indexes fields
          give the element a name above the stencil, as `value = SIZES["b"]["c"]`, and read `value`
        E07 the value of `nowhere.T` is not known while compiling, because nothing is named `nowhere`
          add the file that defines it, write its value in place (`nowhere.T = 1.0`), or import it `from __externals__` and give it there
    "#]]
    .assert_eq(&said);
}
