//! Expressions from text to value, and back to text.

use isobar_ground::diag::Span;
use isobar_ground::entity::Arena;
use isobar_ground::types::Value;

use super::from_python::ScalarReader;
use super::nodes::{ScalarRole, ScalarValue, ScalarVariable};
use super::print::printed;
use super::{ScalarExpr, evaluate};

/// The scalars of all tests, with their values.
fn scalars() -> (Arena<ScalarVariable>, Vec<Value>) {
    let all = [
        ("n", Value::Int64(7)),
        ("m", Value::Int32(-2)),
        ("x", Value::Float64(2.5)),
        ("s", Value::Float32(0.1)),
        ("flag", Value::Bool(true)),
        ("top", Value::Int64(i64::MAX)),
        ("nan", Value::Float64(f64::NAN)),
    ];
    let variable = |(name, value): (&str, Value)| ScalarVariable {
        name: name.to_owned(),
        dtype: value.dtype(),
        role: ScalarRole::Argument,
        span: Span::default(),
    };
    (all.into_iter().map(variable).collect(), all.map(|it| it.1).to_vec())
}

fn read(text: &str) -> Result<ScalarExpr, String> {
    let reader = ScalarReader { scalars: &scalars().0, text, span: Span::default() };
    reader.read().map_err(|it| format!("{}: {}", it.code, it.message))
}

/// The value as Python prints it, or why there is none.
fn value(text: &str) -> String {
    let (scalars, values) = scalars();
    let expr = match read(text) {
        Ok(it) => it,
        Err(why) => return why,
    };
    // The printed text reads back as the same expression.
    let again = printed(&expr, &scalars);
    assert_eq!(read(&again).as_ref(), Ok(&expr), "{text} is printed {again}");
    match evaluate(&expr, &|it| ScalarValue::read(values[it.index()])) {
        Ok(found) => {
            assert_eq!(found.of(), expr.of, "{text}");
            match found {
                ScalarValue::Bool(it) => if it { "True" } else { "False" }.to_owned(),
                ScalarValue::Single(it) => format!("float32({it:?})"),
                other => other.value().digits().to_string(),
            }
        }
        Err(wrong) => format!("{} has no value: {}", printed(&wrong.expr, &scalars), wrong.reason),
    }
}

/// Values of CPython 3.12, and of NumPy 2 for `float32`.
#[test]
fn values_are_those_of_python() {
    for (text, expected) in [
        ("1 + 2 * 3 ** 2", "19"),
        ("-2 ** 2", "-4"),
        ("2 ** -1", "0.5"),
        ("2 ** 3 ** 2", "512"),
        ("(2 ** 3) ** 2", "64"),
        ("7 / 2", "3.5"),
        ("n // m", "-4"),
        ("n % m", "-1"),
        ("-7 // 2 + -7 % 2", "-3"),
        ("7.5 // -2", "-4.0"),
        ("7.5 % -2", "-0.5"),
        ("1 < 2 < 3 != 3", "False"),
        ("1 < n <= 7 == 7.0", "True"),
        ("9007199254740993 == 9007199254740992.0", "False"),
        ("top / 1 == top", "False"),
        ("flag + flag", "2"),
        ("-flag", "-1"),
        ("not n", "False"),
        ("flag and n > 8", "False"),
        ("0 or n", "7"),
        ("n and m and 0", "0"),
        ("n if x > 2 else m", "7"),
        ("n if n < 0 else m if m > 0 else 5", "5"),
        ("abs(m) + abs(-3)", "5"),
        ("min(n, m, 3) - max(1, 2)", "-4"),
        ("min(nan, x)", "NaN"),
        ("min(x, nan)", "2.5"),
        ("max(x, nan, 3.0)", "3.0"),
        ("int(-2.7)", "-2"),
        ("int(flag)", "1"),
        ("round(2.5) + round(3.5) + round(-0.5)", "6"),
        ("floor(-0.5)", "-1"),
        ("float(n) / 2", "3.5"),
        ("sqrt(2)", "1.4142135623730951"),
        ("exp(0)", "1.0"),
        ("log(1.0)", "0.0"),
        ("float32(0.1)", "float32(0.1)"),
        ("float(float32(0.1))", "0.10000000149011612"),
        ("s + float32(0.2)", "float32(0.3)"),
        ("float64(s) * 2", "0.20000000298023224"),
        ("int32(2.9)", "2"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-9223372036854775808 % -1", "0"),
        ("1e999", "inf"),
        ("-float(\"inf\") < float(\"nan\")", "False"),
        ("bool(nan)", "True"),
        ("bool(0.0)", "False"),
        ("1_000 + 0x10", "1016"),
        ("(n - 1) - (m - 2)", "10"),
        ("n - (m - 2)", "11"),
        ("x / (2 / 4)", "5.0"),
        ("not (flag and not flag)", "True"),
        ("(n if flag else m) + 1", "8"),
        ("(1 < 2) == True", "True"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

/// Where Python raises an exception, and where its integers have more than 64 bits.
#[test]
fn an_expression_without_a_value_tells_which_part_has_none() {
    for (text, expected) in [
        ("1 + (top + 1)", "top + 1 has no value: an integer leaves 64 bits"),
        ("top * 2", "top * 2 has no value: an integer leaves 64 bits"),
        ("-(-9223372036854775808)", "--9223372036854775808 has no value: an integer leaves 64 bits"),
        ("abs(-9223372036854775808)", "abs(-9223372036854775808) has no value: an integer leaves 64 bits"),
        ("-9223372036854775808 // -1", "-9223372036854775808 // -1 has no value: an integer leaves 64 bits"),
        ("10 ** 19", "10 ** 19 has no value: an integer leaves 64 bits"),
        ("n ** m", "n ** m has no value: a negative exponent gives no integer"),
        ("n / 0", "n / 0 has no value: a divisor is zero"),
        ("x % 0.0", "x % 0.0 has no value: a divisor is zero"),
        ("x / -0.0", "x / -0.0 has no value: a divisor is zero"),
        ("0.0 ** -1.0", "0.0 ** -1.0 has no value: a divisor is zero"),
        ("(-8.0) ** 0.5", "(-8.0) ** 0.5 has no value: a power of a negative number is complex"),
        ("10.0 ** 400", "10.0 ** 400 has no value: a power leaves double precision"),
        ("sqrt(-1.0)", "sqrt(-1.0) has no value: the function has no finite value there"),
        ("log(0)", "log(0) has no value: the function has no finite value there"),
        ("exp(1000)", "exp(1000) has no value: the function has no finite value there"),
        ("int(nan)", "int(nan) has no value: NaN is no integer"),
        ("round(1e19)", "round(1e19) has no value: an integer leaves 64 bits"),
        ("int8(128)", "int8(128) has no value: an integer does not fit its type"),
        ("float32(1e300)", "float32(1e300) has no value: a number leaves single precision"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    assert_eq!(value("n < 0 and 1 / 0 > 1"), "False", "what is not reached is not computed");
    assert_eq!(value("1 if flag else 1 // 0"), "1");
}

#[test]
fn what_has_no_type_or_no_meaning_is_refused() {
    for (text, expected) in [
        ("nn + 1", "P02: there is no scalar `nn`"),
        ("cos(1)", "P02: there is no function `cos`"),
        ("1 +", "P09: `1 +` is no scalar expression: Python does not read it"),
        ("n; m", "P09: `n; m` is no scalar expression: Python does not read it"),
        ("n & 1", "P09: `n & 1` is no scalar expression: it has no operator `&`"),
        ("~n", "P09: `~n` is no scalar expression: it has no operations on bits"),
        ("n is m", "P09: `n is m` is no scalar expression: it has no comparison `is`"),
        ("None", "P09: `None` is no scalar expression: `None` is no number"),
        ("[n]", "P09: `[n]` is no scalar expression: it holds something that is no number"),
        ("n[0]", "P09: `n[0]` is no scalar expression: it holds something that is no number"),
        ("(k := 1)", "P09: `(k := 1)` is no scalar expression: it holds something that is no number"),
        ("min(1)", "P09: `min(1)` is no scalar expression: `min` takes two arguments or more"),
        ("round(x, 2)", "P09: `round(x, 2)` is no scalar expression: `round` takes one argument"),
        ("math.exp(x)", "P09: `math.exp(x)` is no scalar expression: it calls something that is no name"),
        (
            "9223372036854775808",
            "P09: `9223372036854775808` is no scalar expression: the integer 9223372036854775808 leaves 64 bits",
        ),
        ("s * 2", "P10: `s * 2`: a float32 meets a number of type int"),
        ("s < x", "P10: `s < x`: a float32 meets a number of type float"),
        ("s ** s", "P10: `s ** s`: `**` has no meaning in single precision here"),
        ("exp(s)", "P10: `exp(s)`: `exp` computes in double precision"),
        (
            "n if flag else x",
            "P10: `n if flag else x`: the type of the conditional would depend on the run: int or float",
        ),
        ("min(n, x)", "P10: `min(n, x)`: the type of `min` would depend on the run: int or float"),
        ("n or x", "P10: `n or x`: the type of `or` would depend on the run: int or float"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}
