//! Our elementary functions, as a service on a pipe.
//!
//! A question is a line and the operands' bytes, one array after the other. The line has the function's name,
//! the number of elements and one element type for each operand, as `pow 120 float64 int64`. The answer is
//! the bytes of the result, which has the first operand's type.

use std::io::{BufRead, Write};

use anyhow::{Context, Result, bail};
use isobar_compiler::call::array::Elements;
use isobar_compiler::expr::evaluate;
use isobar_compiler::types::{BinaryOp, DType, Function, Value};

/// Answers until nobody asks any more.
///
/// # Errors
///
/// When a question is none.
pub fn serve(mut questions: impl BufRead, mut answers: impl Write) -> Result<()> {
    let mut line = String::new();
    while questions.read_line(&mut line)? > 0 {
        let mut words = line.split_whitespace();
        let name = words.next().context("a function")?.to_owned();
        let count: usize = words.next().context("a number of elements")?.parse()?;
        let mut operands = Vec::new();
        for word in words {
            let dtype = DType::ALL.into_iter().find(|it| it.name() == word).context("an element type")?;
            let mut bytes = vec![0; count * dtype.size_bytes()];
            questions.read_exact(&mut bytes)?;
            operands.push(Elements::from_le_bytes(dtype, &bytes));
        }
        let first = operands.first().context("an operand")?;
        let mut result = Elements::zeros(first.dtype(), count);
        for at in 0..count {
            let values: Vec<Value> = operands.iter().map(|it| it.get(at)).collect();
            result.set(at, call(&name, &values)?);
        }
        answers.write_all(&result.to_le_bytes())?;
        answers.flush()?;
        line.clear();
    }
    Ok(())
}

fn call(name: &str, operands: &[Value]) -> Result<Value> {
    match (name, operands) {
        ("pow", &[base, exponent]) => Ok(evaluate::binary(BinaryOp::Pow, base, exponent)),
        (_, &[operand]) => {
            let function = Function::from_name(name).with_context(|| format!("no function {name}"))?;
            Ok(evaluate::call(function, operand, None))
        }
        _ => bail!("{name} of {} operands", operands.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_answered_with_the_compilers_bits() {
        let mut question = b"exp 2 float64\n".to_vec();
        question.extend([0.0_f64, 1.0].iter().flat_map(|it| it.to_le_bytes()));
        question.extend(b"pow 1 float32 int64\n");
        question.extend(1.5_f32.to_le_bytes());
        question.extend(2_i64.to_le_bytes());
        let mut answer = Vec::new();
        serve(question.as_slice(), &mut answer).unwrap();
        let e = isobar_compiler::types::math::exp::exp(1.0_f64);
        let expected: Vec<u8> = [1.0_f64.to_le_bytes(), e.to_le_bytes()].concat();
        assert_eq!(answer, [expected, 2.25_f32.to_le_bytes().to_vec()].concat());
    }
}
