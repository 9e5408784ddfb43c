// Extrema, remainders and rounding of singles, and what `float32` has beside.
//
// min, max: NaN if either is; of equals the first. mod: floored, the sign of the divisor. min_c, max_c: the first if
// either is NaN. NaN is told by its bits, since `a != b` is false for it on some compilers.

// Whether it is not a number.
fn is_nan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

// Whether it is infinite.
fn is_infinite_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

// Whether it is neither infinite nor NaN.
fn is_finite_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}

// The smaller of two; NaN if either is; of equals the first.
fn min_f32(a: f32, b: f32) -> f32 {
  return select(select(a, b, b < a), b, is_nan_f32(b));
}

// The larger of two; NaN if either is; of equals the first.
fn max_f32(a: f32, b: f32) -> f32 {
  return select(select(a, b, a < b), b, is_nan_f32(b));
}

// The second where it is smaller, else the first, as C++ has it.
fn min_c_f32(a: f32, b: f32) -> f32 {
  return select(a, b, b < a);
}

// The second where it is larger, else the first, as C++ has it.
fn max_c_f32(a: f32, b: f32) -> f32 {
  return select(a, b, a < b);
}

// x ** 2, which is defined as the product.
fn square_f32(x: f32) -> f32 {
  return x * x;
}

// The nearest integer, ties away from zero; keeps the sign.
fn round_away_from_zero_f32(x: f32) -> f32 {
  let toward_zero = trunc(x);
  let sign = bitcast<u32>(x) & 0x80000000u;
  let away = toward_zero + bitcast<f32>(0x3f800000u | sign);
  return select(toward_zero, away, abs(x - toward_zero) >= 0.5f);
}

// The truncated remainder, exact: the division of the mantissas, eight bits at a time.
fn fmod_f32(a: f32, b: f32) -> f32 {
  let sign = bitcast<u32>(a) & 0x80000000u;
  let x = bitcast<u32>(a) & 0x7fffffffu;
  let y = bitcast<u32>(b) & 0x7fffffffu;
  if y == 0u || x >= 0x7f800000u || y > 0x7f800000u {
    return f32_of_bits(0x7fc00000u);
  }
  if x < y {
    return a;
  }
  let dividend = mantissa_f32(x);
  let divisor = mantissa_f32(y);
  var m = dividend.m % divisor.m;
  var n = dividend.e - divisor.e;
  while n > 0 {
    let step = min(n, 8);
    m = (m << u32(step)) % divisor.m;
    n -= step;
  }
  if m == 0u {
    return bitcast<f32>(sign);
  }
  let shift = countLeadingZeros(m) - 8u;
  m <<= shift;
  let e = divisor.e - i32(shift);
  if e < 1 {
    return bitcast<f32>(sign | (m >> u32(1 - e)));
  }
  return bitcast<f32>(sign | ((u32(e) - 1u) << 23u) + m);
}

// A mantissa with its leading bit at bit 23, and the exponent that belongs to it: subnormals have one below 1.
struct Mantissa32 {
  m: u32,
  e: i32,
}

// The bits are those of the magnitude of a finite single that is not 0.
fn mantissa_f32(magnitude: u32) -> Mantissa32 {
  let m = magnitude & 0x007fffffu;
  let e = i32(magnitude >> 23u);
  if e != 0 {
    return Mantissa32(m | 0x00800000u, e);
  }
  let shift = countLeadingZeros(m) - 8u;
  return Mantissa32(m << shift, 1 - i32(shift));
}

// The floored remainder, with the sign of the divisor, of zeros too.
fn mod_f32(a: f32, b: f32) -> f32 {
  let truncated = fmod_f32(a, b);
  let moved = truncated + b;
  let floored = select(moved, truncated, (truncated < 0.0f) == (b < 0.0f));
  let none = bitcast<f32>(bitcast<u32>(b) & 0x80000000u);
  return select(select(floored, none, truncated == 0.0f), truncated, is_nan_f32(truncated));
}
