//! The constant evaluator, kind of expression by kind of expression.

use super::{value, value_in, why_not};
use crate::config::Config;
use crate::frontend::constants::Constant;
use crate::types::Value;

const IMPORTS: &str =
    "import math\nimport sys\nimport numpy as np\nfrom ndsl.dsl.typing import Float, Int, Bool\n";

/// Each expression on the left has the value of the one on the right, in kind and bits.
fn check(rows: &[(&str, Constant)]) {
    for (written, expected) in rows {
        let found = value(&format!("{IMPORTS}A = 3\nB = 2.5\nit = {written}\n"));
        let is_same = match (&found, expected) {
            (Constant::Float(one), Constant::Float(other)) => one.to_bits() == other.to_bits(),
            (one, other) => one == other,
        };
        assert!(is_same, "{written} is {found:?} and not {expected:?}");
    }
}

fn int(it: i64) -> Constant {
    Constant::Int(it)
}

fn float(it: f64) -> Constant {
    Constant::Float(it)
}

fn single(it: f32) -> Constant {
    Constant::Typed(Value::Float32(it))
}

fn double(it: f64) -> Constant {
    Constant::Typed(Value::Float64(it))
}

fn truth(it: bool) -> Constant {
    Constant::Bool(it)
}

#[test]
fn arithmetic_is_pythons() {
    check(&[
        ("A + 1", int(4)),
        ("A - B", float(0.5)),
        ("A * B", float(7.5)),
        ("A / 2", float(1.5)),
        ("-A // 2", int(-2)),
        ("-A % 2", int(1)),
        ("B // 1", float(2.0)),
        ("A ** 2", int(9)),
        ("2 ** -1", float(0.5)),
        ("-A", int(-3)),
        ("+B", float(2.5)),
        ("~A", int(-4)),
        ("6 & 3 | 8 ^ 1", int(11)),
        ("1 << 4 >> 1", int(8)),
        ("True + 1", int(2)),
    ]);
}

#[test]
fn a_typed_number_keeps_its_type_and_a_plain_one_adapts() {
    check(&[
        ("Float(1.5)", double(1.5)),
        ("np.float32(0.1)", single(0.1)),
        ("np.float32(1) / 3", single(1.0 / 3.0)),
        ("np.float32(1.5) + np.float64(1)", double(2.5)),
        ("np.int32(7)", Constant::Typed(Value::Int32(7))),
        ("np.int64(7) / 2", double(3.5)),
        ("Int(2) * 3", Constant::Typed(Value::Int64(6))),
        ("np.float_(2)", double(2.0)),
        ("np.int_(2)", Constant::Typed(Value::Int64(2))),
    ]);
}

#[test]
fn conversions_are_calls() {
    check(&[
        ("float(2)", float(2.0)),
        ("float('-inf')", float(f64::NEG_INFINITY)),
        ("int(-2.7)", int(-2)),
        ("bool(0.0)", truth(false)),
        ("Bool(1)", truth(true)),
        ("np.bool_(1)", truth(true)),
    ]);
}

#[test]
fn comparisons_and_conditions_are_pythons() {
    check(&[
        ("1 < A <= 3", truth(true)),
        ("A == 3.0", truth(true)),
        ("A != 3", truth(false)),
        ("A in (1, 3)", truth(true)),
        ("A not in (1, 3)", truth(false)),
        ("None is None", truth(true)),
        ("A > 1 and B > 5", truth(false)),
        ("0 or A", int(3)),
        ("not A", truth(false)),
        ("1.0 if A > 2 else 2.0", float(1.0)),
        ("'a' == 'a'", truth(true)),
    ]);
}

#[test]
fn tuples_and_dicts_are_there_to_be_indexed() {
    check(&[
        ("(1, 2.0)[1]", float(2.0)),
        ("(1, 2, 3)[-1]", int(3)),
        ("len((1, 2))", int(2)),
        ("{'a': 1, 'b': A}['b']", int(3)),
        ("{'a': 1, **{'a': 2}}['a']", int(2)),
        ("{1: unknown, 2: 5}[2]", int(5)),
    ]);
}

#[test]
fn functions_of_numbers_are_known() {
    check(&[
        ("abs(-A)", int(3)),
        ("min(A, B, 9)", float(2.5)),
        ("max(A, B)", int(3)),
        ("round(2.5)", int(2)),
        ("pow(A, 2)", int(9)),
        ("np.sqrt(4.0)", float(2.0)),
        ("np.sqrt(np.float32(2.0))", single(2.0_f32.sqrt())),
        ("np.exp(0.0)", float(1.0)),
        ("np.log(1.0)", float(0.0)),
        ("np.power(A, 2, dtype=np.float32)", single(9.0)),
        ("np.minimum(A, 1)", int(1)),
        ("math.floor(-B)", int(-3)),
        ("math.ceil(B)", int(3)),
        ("math.trunc(-B)", int(-2)),
        ("math.fabs(-B)", float(2.5)),
        ("math.pow(B, 2)", float(6.25)),
        ("math.log(9.0, 3.0)", float(2.0)),
        ("math.log2(8)", float(3.0)),
        ("math.radians(180)", float(std::f64::consts::PI)),
        ("math.hypot(3, 4)", float(5.0)),
        ("math.copysign(B, -1)", float(-2.5)),
        ("math.fmod(-7.0, 4.0)", float(-3.0)),
        ("np.arctan2(0.0, 1.0)", float(0.0)),
        ("math.isnan(math.nan)", truth(true)),
    ]);
}

#[test]
fn numbers_of_the_machine_are_known() {
    check(&[
        ("math.pi", float(std::f64::consts::PI)),
        ("np.pi", float(std::f64::consts::PI)),
        ("math.e", float(std::f64::consts::E)),
        ("math.inf", float(f64::INFINITY)),
        ("sys.float_info.epsilon", float(f64::EPSILON)),
        ("sys.float_info.max", float(f64::MAX)),
        ("np.iinfo(np.int32).max", int(i64::from(i32::MAX))),
        ("np.iinfo(int).min", int(i64::MIN)),
        ("np.finfo(np.float32).eps", single(f32::EPSILON)),
        ("np.finfo(Float).tiny", double(f64::MIN_POSITIVE)),
    ]);
}

#[test]
fn conditions_at_the_top_of_a_file_choose() {
    let text = "VERSION = 'B'\nif VERSION == 'A':\n    it = 1\nelif VERSION == 'B':\n    it = 2\nelse:\n    it = 3\n";
    assert_eq!(value(text), int(2));
    assert_eq!(value(&text.replace("= 'B'\n", "= 'C'\n")), int(3));
    let unknown = text.replace("= 'B'\n", "= choose()\n");
    assert!(why_not(&unknown).starts_with("it stands under a condition that is not known"));
}

#[test]
fn a_name_may_be_assigned_again_and_changed_in_place() {
    assert_eq!(value("it = 1\nit = it + 1\nit *= 5\n"), int(10));
    assert_eq!(value("a = b = 2\nc, d = a + 1, b\nit = c * d\n"), int(6));
    assert_eq!(value("a: float = 2.0\nit: int = 3\n"), int(3));
}

#[test]
fn classes_hold_constants() {
    let text = "
class Base:
    a = 1
    b = a + 1
class C(Base):
    a = 5
    class Inner:
        x = 2.5
it = (C.a, C.b, C.Inner.x)[INDEX]
";
    for (index, expected) in [("0", int(5)), ("1", int(2)), ("2", float(2.5))] {
        assert_eq!(value(&text.replace("INDEX", index)), expected);
    }
}

#[test]
fn objects_have_their_defaults_and_what_they_are_made_with() {
    let text = "
import dataclasses
from dataclasses import dataclass, field
@dataclass
class Inner:
    n: int = 7
@dataclass
class C:
    a: float
    b: int = 2
    c: Inner = field(default_factory=Inner)
    d: float = dataclasses.field(default=0.5)
one = C(1.5)
two = C(a=3.0, b=4)
it = EXPR
";
    for (expr, expected) in [
        ("one.a", float(1.5)),
        ("one.b", int(2)),
        ("one.c.n", int(7)),
        ("one.d", float(0.5)),
        ("two.a * two.b", float(12.0)),
        ("C(1.0, d=2.0).d", float(2.0)),
    ] {
        assert_eq!(value(&text.replace("EXPR", expr)), expected, "{expr}");
    }
    assert_eq!(why_not(&text.replace("EXPR", "C(1.0, e=2)")), "the object takes no `e`");
}

#[test]
fn a_number_of_an_object_that_is_passed_changes_nothing_of_it() {
    let text = "
from dataclasses import dataclass
@dataclass
class C:
    N = 3
    X = 0.5
    PARTS = [1, 2]
c = C()
class Model:
    def __init__(self, make):
        fill = make()
        fill(ARGUMENT, self)
it = c.X
";
    assert_eq!(value(&text.replace("ARGUMENT", "c.N")), float(0.5));
    // So does a name that holds the number.
    let held = text.replace("fill(ARGUMENT, self)", "size = (1, HELD)\n        fill(domain=size)");
    assert_eq!(value(&held.replace("HELD", "c.N")), float(0.5));
    let why = "`size`, which may be the same object, changes here";
    assert_eq!(why_not(&held.replace("HELD", "c.PARTS")), why);
    assert_eq!(why_not(&held.replace("HELD", "c.N, c")), why);
    for passed in ["c", "c.PARTS", "c.PARTS[0]", "c.UNKNOWN"] {
        assert_eq!(why_not(&text.replace("ARGUMENT", passed)), "it may be changed here", "{passed}");
    }
}

#[test]
fn arrays_that_loops_fill_have_their_elements() {
    let text = "
import numpy as np
class C:
    a = np.zeros(2)
    a[0] = 3.0
    a[-1] = a[0] * 2
    b = np.full((2, 2), 1, dtype=np.float32)
    for i in range(0, 2):
        b[i, i] = 6.0 / (a[i] ** (i + 1))
    n = np.ones(3, np.int32)
    n[1] = 2.9
    c = INDEX
it = C.c
";
    let single = |it: f32| Constant::Typed(Value::Float32(it));
    for (index, expected) in [
        ("a[1]", Constant::Typed(Value::Float64(6.0))),
        ("b[0, 0]", single(2.0)),
        ("b[1][1]", single(1.0 / 6.0)),
        ("b[0, 1]", single(1.0)),
        ("n[1]", Constant::Typed(Value::Int32(2))),
        ("n[2]", Constant::Typed(Value::Int32(1))),
    ] {
        assert_eq!(value(&text.replace("INDEX", index)), expected, "{index}");
    }
    for (from, to, why) in [
        ("a[-1] =", "a[2] =", "the array has no such element"),
        ("np.zeros(2)", "np.zeros(9999)", "an array of 9999 elements is not followed"),
        ("np.zeros(2)", "np.zeros(0)", "an array of 0 elements is not followed"),
        ("np.zeros(2)", "np.zeros(2, order='F')", "an array is made with values that are not known"),
    ] {
        assert_eq!(why_not(&text.replace(from, to).replace("INDEX", "a[1]")), why, "{to}");
    }
    // Names of types and functions are parts of no array.
    let typed = text.replace("np.zeros(2)", "np.zeros(2, dtype=Float)").replace("6.0 /", "Float(6.0) /");
    let typed =
        typed.replace("import numpy as np\n", "import numpy as np\nfrom ndsl.dsl.typing import Float\n");
    assert_eq!(value(&typed.replace("INDEX", "b[0, 0]")), single(2.0));
    // A name of the same array, or of a part of it, sees the change; a quotient of elements does not.
    let shared = "import numpy as np\na = np.ones(2)\nb = EXPR\na[0] = 5.0\nit = b[0]\n";
    assert_eq!(value(&shared.replace("EXPR", "[6.0 / a[1]]")), Constant::Typed(Value::Float64(6.0)));
    assert_eq!(why_not(&shared.replace("EXPR", "a")), "`a`, which may be the same object, changes here");
}

#[test]
fn what_only_making_an_object_would_tell_is_not_known() {
    let text = "
class C:
    a = 1
    b = 2
    def __init__(self, n):
        if n > 3:
            self.b = n
it = C(5).b
";
    assert_eq!(why_not(text), "the object cannot be made without running the file");
    assert_eq!(
        why_not(&text.replace("C(5)", "C()")),
        "it is set when the object is made, which needs the file to run"
    );
    assert_eq!(value(&text.replace("C(5).b", "C().a")), int(1));
}

#[test]
fn a_simple_namespace_is_an_object() {
    let text = "from types import SimpleNamespace\nc = SimpleNamespace(a=1, inner=SimpleNamespace(x=2.0))\nit = c.inner.x * c.a\n";
    assert_eq!(value(text), float(2.0));
}

#[test]
fn members_of_enumerations_are_integers() {
    let text = "
from enum import Enum, IntEnum, auto
class E(IntEnum):
    A = 3
    B = auto()
    C = A + 10
class F(Enum):
    X = 'x'
    Y = 2
it = EXPR
";
    for (expr, expected) in [
        ("E.A", Constant::Member(3)),
        ("E.B", Constant::Member(4)),
        ("E.C", Constant::Member(13)),
        ("E.B.value + 1", int(5)),
        ("E.A == 3", truth(true)),
        ("F.X == F.X", truth(true)),
        ("F.Y.value", int(2)),
    ] {
        assert_eq!(value(&text.replace("EXPR", expr)), expected, "{expr}");
    }
}

#[test]
fn anything_else_is_opaque_and_says_why() {
    for (written, why) in [
        ("compute(3)", "nothing is named `compute`"),
        ("[1, 2]\ndef more():\n    it.append(3)\nmore()", "it may be changed here"),
        ("f'{A}'", "it cannot be computed without running the file"),
        ("[x for x in y]", "nothing is named `y`"),
        ("{x for x in (1, 2)}", "it cannot be computed without running the file"),
        ("1 / 0", "it divides by zero"),
        ("2 ** 64", "the integer does not fit 64 bits"),
        ("(1, 2)[5]", "a tuple has no such element"),
        ("{'a': 1}['b']", "the dict has no key \"b\""),
        ("{'a': 1}[3]", "the dict has no key 3"),
        ("{'a': 1}[0.5]", "the dict has no such key"),
        ("np.linspace(0, 1, 3)", "`linspace` of the module `numpy` is not known"),
    ] {
        let text = format!("import numpy as np\nA = 1\ndef plain(x):\n    return x\nit = {written}\n");
        assert_eq!(why_not(&text), why, "{written}");
    }
    assert_eq!(why_not("while running():\n    it = 1\n"), "nothing is named `running`");
}

#[test]
fn the_types_of_ndsl_follow_the_precision() {
    let config = Config::with_precision(32);
    let found =
        value_in(&[("main.py", "from ndsl.dsl.typing import Float\nit = Float(0.1) * 2\n")], &config, "it");
    assert_eq!(found, Ok(single(0.2)));
}

#[test]
fn a_type_is_asked_for_as_in_python() {
    check(&[
        ("isinstance(2, int)", truth(true)),
        ("isinstance(True, (float, int))", truth(true)),
        ("isinstance(2.0, int)", truth(false)),
        ("isinstance(None, bool)", truth(false)),
        ("isinstance(np.float32, np.dtype)", truth(false)),
    ]);
    // NumPy's `float64` is a `float`, and its `int64` no `int`: better not to say.
    assert_eq!(
        why_not("import numpy as np\nit = isinstance(np.float64(2), float)"),
        "the type is not known while compiling"
    );
}

#[test]
fn what_is_computed_from_itself_has_no_value() {
    for (text, why) in [
        ("it = it2\nit2 = it\n", "it is computed from itself"),
        ("class C(IntEnum):\n    A = C.A\nit = C.A\n", "it is computed from itself"),
        (
            "class C(IntEnum):\n    A = D.B\nclass D(IntEnum):\n    B = C.A\nit = C.A\n",
            "it is computed from itself",
        ),
        ("class C(C):\n    pass\nit = C.x\n", "the class `C` has no attribute `x`"),
        ("class C(C.B):\n    pass\nit = C.x\n", "the class `C` has no attribute `x`"),
        (
            "class C(D.y):\n    pass\nclass D(C.y):\n    pass\nit = C().y\n",
            "the object has no attributes that are known without running it",
        ),
        (
            "FieldBundleType.register('a', FieldBundleType.T('a'))\nit = FieldBundleType.T('a')\n",
            "it is computed from itself",
        ),
    ] {
        assert_eq!(why_not(text), why, "{text}");
    }
}

/// A line of text for each number, which names the one before.
fn chain(first: &str, line: &str, length: usize) -> String {
    let lines =
        (1..=length).map(|it| line.replace("NEXT", &it.to_string()).replace("LAST", &(it - 1).to_string()));
    format!("{first}{}it = x{length}\n", lines.collect::<String>())
}

#[test]
fn a_chain_of_names_ends() {
    let too_long = "it is computed through too many other names";
    for line in ["xNEXT = xLAST + 1\n", "class C(IntEnum):\n    A = xLAST\nxNEXT = C.A\n"] {
        assert!(
            matches!(value(&chain("x0 = 1\n", line, 30)), Constant::Int(_) | Constant::Member(_)),
            "{line}"
        );
        assert_eq!(why_not(&chain("x0 = 1\n", line, 5000)), too_long, "{line}");
    }
    let deep = format!("xNEXT = {}xLAST\n", "-".repeat(200));
    assert_eq!(value(&chain("x0 = 1\n", &deep, 4)), int(1));
    assert_eq!(why_not(&chain("x0 = 1\n", &deep, 30)), too_long);
    assert_eq!(value(&chain("x0 = 1\n", "if xLAST:\n    xNEXT = 1\n", 30)), int(1));
    assert_eq!(
        why_not(&chain("x0 = 1\n", "if xLAST:\n    xNEXT = 1\n", 5000)),
        "it stands under a condition that is not known: it is computed through too many other names"
    );
}

#[test]
fn classes_that_inherit_in_many_ways_are_looked_at_once() {
    let line = "class xNEXT(xLAST, xLAST, xLAST):\n    pass\n";
    let text = chain("class x0:\n    y = 4\n", line, 20);
    assert_eq!(value(&format!("{text}x = it\nit = x.y\n")), int(4));
    // A member that is needed twice is computed once.
    let members: String = (1..40).map(|it| format!("    A{it} = C.A{0} + C.A{0}\n", it - 1)).collect();
    assert_eq!(
        value(&format!("class C(IntEnum):\n    A0 = 1\n{members}it = C.A39\n")),
        Constant::Member(1 << 39)
    );
}

#[test]
fn what_would_be_too_large_to_walk_through_has_no_value() {
    for line in ["xNEXT = (xLAST, xLAST)\n", "xNEXT = [xLAST, xLAST]\n"] {
        assert_eq!(why_not(&chain("x0 = 1\n", line, 20)), "it holds too many values", "{line}");
        assert!(value(&chain("x0 = 1\n", line, 10)).elements().is_some(), "{line}");
    }
    let text = chain("x0 = 1\n", "xNEXT = {1: xLAST, 2: xLAST}\n", 20);
    assert_eq!(
        why_not(&format!("{text}whole = it\nit = whole[1][1][2][1][2]\n")),
        "it holds too many values"
    );
    let line = "xNEXT = SimpleNamespace(a=xLAST, b=xLAST)\n";
    let text = chain("from types import SimpleNamespace\nx0 = 1\n", line, 20);
    assert_eq!(why_not(&text), "it holds too many values");
}
