// Numbers of 64 bits on devices that have them: `f64`, `i64` and `u64` are types of the language.
//
// What the language leaves open is written out here: NaN is told by its bits, since `a != b` is false for it on some
// compilers, a fused operation is not fused everywhere, and conversions saturate by themselves.

// The double with these bits, as a value of run time.
fn f64_of_bits(bits: u64) -> f64 {
  return bitcast<f64>(bits ^ u64(zero()));
}

// A zero that no compiler knows.
fn zero_f64() -> f64 {
  return bitcast<f64>(u64(zero()));
}

// The integer with these bits, as a value of run time.
fn i64_of_bits(bits: u64) -> i64 {
  return bitcast<i64>(bits ^ u64(zero()));
}

// Whether it is not a number.
fn is_nan_f64(x: f64) -> bool {
  return (bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;
}

// Whether it is infinite.
fn is_infinite_f64(x: f64) -> bool {
  return (bitcast<u64>(x) & 0x7ffffffffffffffflu) == 0x7ff0000000000000lu;
}

// Whether it is neither infinite nor NaN.
fn is_finite_f64(x: f64) -> bool {
  return (bitcast<u64>(x) & 0x7ffffffffffffffflu) < 0x7ff0000000000000lu;
}

// The smaller of two; NaN if either is; of equals the first.
fn min_f64(a: f64, b: f64) -> f64 {
  return select(select(a, b, b < a), b, is_nan_f64(b));
}

// The larger of two; NaN if either is; of equals the first.
fn max_f64(a: f64, b: f64) -> f64 {
  return select(select(a, b, a < b), b, is_nan_f64(b));
}

// The second where it is smaller, else the first, as C++ has it.
fn min_c_f64(a: f64, b: f64) -> f64 {
  return select(a, b, b < a);
}

// The second where it is larger, else the first, as C++ has it.
fn max_c_f64(a: f64, b: f64) -> f64 {
  return select(a, b, a < b);
}

// x ** 2, which is defined as the product.
fn square_f64(x: f64) -> f64 {
  return x * x;
}

// The nearest integer, ties away from zero; keeps the sign.
fn round_away_from_zero_f64(x: f64) -> f64 {
  let toward_zero = trunc(x);
  let sign = bitcast<u64>(x) & 0x8000000000000000lu;
  let away = toward_zero + bitcast<f64>(0x3ff0000000000000lu | sign);
  return select(toward_zero, away, abs(x - toward_zero) >= 0.5lf);
}

// A mantissa with its leading bit at bit 52, and the exponent that belongs to it in `e`: subnormals have one below 1.
struct Mantissa64 {
  m: u64,
  e: i32,
}

// The bits above are those of the magnitude of a finite double that is not 0.
fn mantissa_f64(magnitude: u64) -> Mantissa64 {
  var m = magnitude & 0x000ffffffffffffflu;
  var e = i32(magnitude >> 52u);
  if e != 0 {
    return Mantissa64(m | 0x0010000000000000lu, e);
  }
  e = 1;
  while m < 0x0010000000000000lu {
    m <<= 1u;
    e -= 1;
  }
  return Mantissa64(m, e);
}

// The truncated remainder, exact: the division of the mantissas, eleven bits at a time.
fn fmod_f64(a: f64, b: f64) -> f64 {
  let sign = bitcast<u64>(a) & 0x8000000000000000lu;
  let x = bitcast<u64>(a) & 0x7ffffffffffffffflu;
  let y = bitcast<u64>(b) & 0x7ffffffffffffffflu;
  if y == 0lu || x >= 0x7ff0000000000000lu || y > 0x7ff0000000000000lu {
    return f64_of_bits(0x7ff8000000000000lu);
  }
  if x < y {
    return a;
  }
  let dividend = mantissa_f64(x);
  let divisor = mantissa_f64(y);
  var m = dividend.m % divisor.m;
  var n = dividend.e - divisor.e;
  while n > 0 {
    let step = min(n, 11);
    m = (m << u32(step)) % divisor.m;
    n -= step;
  }
  if m == 0lu {
    return bitcast<f64>(sign);
  }
  var e = divisor.e;
  while m < 0x0010000000000000lu {
    m <<= 1u;
    e -= 1;
  }
  if e < 1 {
    return bitcast<f64>(sign | (m >> u32(1 - e)));
  }
  return bitcast<f64>(sign | ((u64(e) - 1lu) << 52u) + m);
}

// The floored remainder, with the sign of the divisor, of zeros too.
fn mod_f64(a: f64, b: f64) -> f64 {
  let truncated = fmod_f64(a, b);
  let moved = truncated + b;
  let floored = select(moved, truncated, (truncated < 0.0lf) == (b < 0.0lf));
  let none = bitcast<f64>(bitcast<u64>(b) & 0x8000000000000000lu);
  return select(select(floored, none, truncated == 0.0lf), truncated, is_nan_f64(truncated));
}

// a * b - product exactly, given the rounded product, by splitting both factors into halves of 26 bits (T. J. Dekker,
// 1971): what is called fused need not be.
fn product_error(a: f64, b: f64, product: f64) -> f64 {
  let a_scaled = 134217729.0lf * a;
  let b_scaled = 134217729.0lf * b;
  let a_high = a_scaled - (a_scaled - a);
  let b_high = b_scaled - (b_scaled - b);
  let a_low = a - a_high;
  let b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// Toward zero; NaN is 0, and what does not fit is the nearest that does.
fn i64_of_f64(x: f64) -> i64 {
  if !(abs(x) >= 1.0lf) {
    return 0li;
  }
  if abs(x) >= 9223372036854775808.0lf {
    return i64_of_bits(select(0x8000000000000000lu, 0x7ffffffffffffffflu, x > 0.0lf));
  }
  return i64(x);
}

// As a double's.
fn i64_of_f32(x: f32) -> i64 {
  return i64_of_f64(f64(x));
}

// The quotient without its fraction; 0 of a division by zero.
fn div_i64(a: i64, b: i64) -> i64 {
  if b == 0li {
    return 0li;
  }
  if b == -1li {
    return 0li - a;
  }
  return a / b;
}

// The truncated remainder, with the sign of the dividend; 0 of a division by zero.
fn mod_c_i64(a: i64, b: i64) -> i64 {
  if b == 0li || b == -1li {
    return 0li;
  }
  return a - a / b * b;
}

// The floored remainder, with the sign of the divisor; 0 of a division by zero.
fn mod_i64(a: i64, b: i64) -> i64 {
  let remainder = mod_c_i64(a, b);
  return select(remainder, remainder + b, remainder != 0li && (remainder < 0li) != (b < 0li));
}

// Without the sign; that of the lowest wraps to itself.
fn abs_i64(a: i64) -> i64 {
  return select(a, 0li - a, a < 0li);
}

// The smaller.
fn min_i64(a: i64, b: i64) -> i64 {
  return select(a, b, b < a);
}

// The larger.
fn max_i64(a: i64, b: i64) -> i64 {
  return select(a, b, a < b);
}

// A power, wrapping. A negative exponent gives the real power without its fraction, and 0 of the base 0.
fn power_i64(base: i64, exponent: i64) -> i64 {
  let is_unit = base == 1li || base == -1li;
  if exponent < 0li && !is_unit {
    return 0li;
  }
  var result = 1li;
  var square = base;
  var rest = bitcast<u64>(exponent);
  while rest != 0lu {
    if (rest & 1lu) != 0lu {
      result *= square;
    }
    square *= square;
    rest >>= 1u;
  }
  return result;
}

// Whether any bit is set.
fn is_true_i64(a: i64) -> bool {
  return a != 0li;
}

// The same number, put together from its words: Mesa takes `i64(a) < 0` of an integer of 32 bits for false.
fn i64_of_i32(a: i32) -> i64 {
  return bitcast<i64>(u64(bitcast<u32>(a)) | (u64(bitcast<u32>(a >> 31u)) << 32u));
}

// The integer as an index; what is no index is -1, which is none either.
fn index_of_i64(a: i64) -> i32 {
  return select(-1, i32(a), a >= 0li && a <= 0x7fffffffli);
}

// The integer as a double, of which no compiler knows whether it is zero.
fn f64_of_i32(a: i32) -> f64 {
  return f64(a ^ bitcast<i32>(zero()));
}

// The same of a long one.
fn f64_of_i64(a: i64) -> f64 {
  return f64(a ^ i64(zero()));
}

// The same as a single.
fn f32_of_i64(a: i64) -> f32 {
  return f32(a ^ i64(zero()));
}
