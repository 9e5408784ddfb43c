// Doubles as two words, for devices that have none: `x` is the low word, `y` the high one with sign and exponent.
//
// Every result has the bits that IEEE 754 prescribes, with subnormals, infinities and signed zeros, rounded to
// nearest, ties to even; a NaN that is made is the positive quiet one. Only integers of 32 bits are used, so that no
// device can round or flush anything. The names are those of `native64.wgsl` where that has them.

// The double with these bits, as a value of run time.
fn f64_of_bits(bits: vec2<u32>) -> vec2<u32> {
  return bits ^ vec2<u32>(zero());
}

// The double that is not a number.
fn nan_f64() -> vec2<u32> {
  return vec2<u32>(0u, 0x7ff80000u);
}

// Whether it is not a number.
fn is_nan_f64(a: vec2<u32>) -> bool {
  return ((a.y & 0x7fffffffu) | u32(a.x != 0u)) > 0x7ff00000u;
}

// Whether it is infinite.
fn is_infinite_f64(a: vec2<u32>) -> bool {
  return (((a.y & 0x7fffffffu) ^ 0x7ff00000u) | a.x) == 0u;
}

// Whether it is neither infinite nor NaN.
fn is_finite_f64(a: vec2<u32>) -> bool {
  return (a.y & 0x7ff00000u) != 0x7ff00000u;
}

// With the other sign.
fn neg_f64(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x, a.y ^ 0x80000000u);
}

// Without the sign.
fn abs_f64(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x, a.y & 0x7fffffffu);
}

// Whether it is a zero, of either sign.
fn is_zero_f64(a: vec2<u32>) -> bool {
  return (a.x | (a.y << 1u)) == 0u;
}

// Whether a == b: zeros are equal, and NaN is equal to nothing.
fn equal_f64(a: vec2<u32>, b: vec2<u32>) -> bool {
  let is_same = (((a.x ^ b.x) | (a.y ^ b.y)) == 0u) & !is_nan_f64(a);
  return is_same | (is_zero_f64(a) & is_zero_f64(b));
}

// Where it stands among all doubles, as an integer without sign: zeros have a place each.
fn place_f64(a: vec2<u32>) -> vec2<u32> {
  return a ^ select(vec2<u32>(0u, 0x80000000u), vec2<u32>(0xffffffffu, 0xffffffffu), (a.y >> 31u) != 0u);
}

// Whether a < b; false with a NaN.
fn less_f64(a: vec2<u32>, b: vec2<u32>) -> bool {
  let is_ordered = !is_nan_f64(a) & !is_nan_f64(b) & !(is_zero_f64(a) & is_zero_f64(b));
  return is_ordered & less_u64(place_f64(a), place_f64(b));
}

// Whether a <= b; false with a NaN.
fn at_most_f64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return less_f64(a, b) | equal_f64(a, b);
}

// Bits moved down, and the last one set where any was lost.
fn shr_sticky_64(a: vec2<u32>, by: u32) -> vec2<u32> {
  let n = min(by, 63u);
  let moved = shr_64(a, n);
  let is_lost = !equal_i64(shl_64(moved, n), a);
  let all_lost = vec2<u32>(u32((a.x | a.y) != 0u), 0u);
  return select(vec2<u32>(moved.x | u32(is_lost), moved.y), all_lost, by >= 64u);
}

// A mantissa, and the biased exponent that belongs to it.
struct Mantissa64 {
  m: vec2<u32>,
  e: i32,
}

// The mantissa of a finite double that is not 0, with its leading bit at bit 52: subnormals have an exponent below 1.
fn mantissa_f64(a: vec2<u32>) -> Mantissa64 {
  let e = i32((a.y >> 20u) & 0x7ffu);
  let m = vec2<u32>(a.x, (a.y & 0x000fffffu) | select(0u, 0x00100000u, e != 0));
  let shift = clz_64(m) - 11u;
  return Mantissa64(shl_64(m, shift), max(e, 1) - i32(shift));
}

// The same where the exponent is at least 1; it is 1 where the leading bit is lower.
fn packed_f64(sign: u32, mantissa: vec2<u32>, e: i32) -> vec2<u32> {
  let m = add_i64(mantissa, vec2<u32>(3u + ((mantissa.x >> 3u) & 1u), 0u));
  // The leading bit adds one to the exponent, and so does a carry.
  let all = vec2<u32>((m.x >> 3u) | (m.y << 29u), (sign | (m.y >> 3u)) + ((u32(e) - 1u) << 20u));
  return select(all, vec2<u32>(0u, sign | 0x7ff00000u), e >= 2047);
}

// The double of a mantissa with its leading bit at bit 55, of which the last three bits are rounded off and the very
// last one stands for all beyond. `sign` is a high word's. Where the exponent is below 1 it becomes subnormal.
fn rounded_f64(sign: u32, mantissa: vec2<u32>, exponent: i32) -> vec2<u32> {
  let e = max(exponent, 1);
  return packed_f64(sign, shr_sticky_64(mantissa, u32(e - exponent)), e);
}

// a + b
fn add_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  // The larger magnitude first.
  let is_swapped = less_u64(abs_f64(a), abs_f64(b));
  let x = select(a, b, is_swapped);
  let y = select(b, a, is_swapped);
  let is_opposite = ((x.y ^ y.y) >> 31u) != 0u;
  let sign = x.y & 0x80000000u;
  let biased = i32((x.y >> 20u) & 0x7ffu);
  let below = i32((y.y >> 20u) & 0x7ffu);
  let mx = vec2<u32>(x.x, (x.y & 0x000fffffu) | select(0u, 0x00100000u, biased != 0));
  let my = vec2<u32>(y.x, (y.y & 0x000fffffu) | select(0u, 0x00100000u, below != 0));
  let e = max(biased, 1);
  let large = vec2<u32>(mx.x << 3u, (mx.y << 3u) | (mx.x >> 29u));
  let unmoved = vec2<u32>(my.x << 3u, (my.y << 3u) | (my.x >> 29u));
  let small = shr_sticky_64(unmoved, u32(e - max(below, 1)));
  // A difference is the sum with what complements the smaller one to 2^64.
  let term = select(small, neg_i64(small), is_opposite);
  let sum = add_i64(large, term);
  // A carry moves down, and what cancels moves up, though not below the least exponent.
  let carry = sum.y >> 24u;
  let down = vec2<u32>((sum.x >> carry) | ((sum.y << 1u) << (31u - carry)) | (sum.x & carry), sum.y >> carry);
  let shift = clamp(i32(clz_64(sum)) - 8, 0, e - 1);
  let result = packed_f64(sign, shl_64(down, u32(shift)), e + i32(carry) - shift);
  let is_none = is_opposite & !is_true_i64(sum);
  let finite = select(result, vec2<u32>(0u, 0u), is_none);
  let has_none = is_nan_f64(x) | ((below == 2047) & is_opposite);
  return select(finite, select(x, nan_f64(), has_none), biased == 2047);
}

// a - b
fn sub_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return add_f64(a, neg_f64(b));
}

// a * b
fn mul_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let sign = (a.y ^ b.y) & 0x80000000u;
  let one = mantissa_f64(a);
  let other = mantissa_f64(b);
  // 57 bits times 64: the upper half of the product has 57 bits, or 56.
  let x = shl_64(one.m, 4u);
  let y = shl_64(other.m, 11u);
  let low = mul_wide(x.x, y.x);
  let cross = mul_wide(x.x, y.y);
  let back = mul_wide(x.y, y.x);
  let high = mul_wide(x.y, y.y);
  let middle = add_i64(vec2<u32>(low.y, 0u), vec2<u32>(cross.x, 0u));
  let all = add_i64(middle, vec2<u32>(back.x, 0u));
  let upper = add_i64(high, add_i64(vec2<u32>(cross.y, 0u), vec2<u32>(back.y, 0u)));
  let m = add_i64(upper, vec2<u32>(all.y, 0u)) | vec2<u32>(u32((low.x | all.x) != 0u), 0u);
  let carry = m.y >> 24u;
  let moved = vec2<u32>((m.x >> carry) | ((m.y << 1u) << (31u - carry)) | (m.x & carry), m.y >> carry);
  let result = rounded_f64(sign, moved, one.e + other.e - 1023 + i32(carry));
  let is_zero = is_zero_f64(a) | is_zero_f64(b);
  let is_infinite = !is_finite_f64(a) | !is_finite_f64(b);
  let is_none = is_nan_f64(a) | is_nan_f64(b) | (is_zero & is_infinite);
  let special = select(vec2<u32>(0u, sign | select(0u, 0x7ff00000u, is_infinite)), nan_f64(), is_none);
  return select(result, special, is_zero | is_infinite);
}

// a / b, digit by digit.
fn div_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let sign = (a.y ^ b.y) & 0x80000000u;
  let dividend = mantissa_f64(a);
  let divisor = mantissa_f64(b);
  let is_less = u32(less_u64(dividend.m, divisor.m));
  var rest = vec2<u32>(dividend.m.x << is_less, (dividend.m.y << is_less) | ((dividend.m.x >> 31u) & is_less));
  var q = vec2<u32>(0u, 0u);
  for (var n = 0; n < 56; n++) {
    let fits = !less_u64(rest, divisor.m);
    rest = select(rest, sub_i64(rest, divisor.m), fits);
    rest = vec2<u32>(rest.x << 1u, (rest.y << 1u) | (rest.x >> 31u));
    q = vec2<u32>((q.x << 1u) | u32(fits), (q.y << 1u) | (q.x >> 31u));
  }
  q.x |= u32(is_true_i64(rest));
  let result = rounded_f64(sign, q, dividend.e - divisor.e + 1023 - i32(is_less));
  let is_none_by_none = is_zero_f64(a) & is_zero_f64(b);
  let is_both_infinite = !is_finite_f64(a) & !is_finite_f64(b);
  let is_none = is_nan_f64(a) | is_nan_f64(b) | is_none_by_none | is_both_infinite;
  let is_infinite = !is_finite_f64(a) | is_zero_f64(b);
  let is_special = is_infinite | !is_finite_f64(b) | is_zero_f64(a);
  let special = select(vec2<u32>(0u, sign | select(0u, 0x7ff00000u, is_infinite)), nan_f64(), is_none);
  return select(result, special, is_special);
}

// The square root, digit by digit.
fn sqrt_f64(a: vec2<u32>) -> vec2<u32> {
  if is_zero_f64(a) {
    return a;
  }
  if is_nan_f64(a) || (a.y >> 31u) != 0u {
    return nan_f64();
  }
  if !is_finite_f64(a) {
    return a;
  }
  let it = mantissa_f64(a);
  let odd = (it.e - 1023) & 1;
  // Two bits before the point, at the top; two more with each digit.
  var digits = shl_64(it.m, 10u + u32(odd));
  var rest = vec2<u32>(0u, 0u);
  var root = vec2<u32>(0u, 0u);
  for (var n = 0; n < 56; n++) {
    rest = vec2<u32>((rest.x << 2u) | (digits.y >> 30u), (rest.y << 2u) | (rest.x >> 30u));
    digits = vec2<u32>(digits.x << 2u, (digits.y << 2u) | (digits.x >> 30u));
    let trial = vec2<u32>((root.x << 2u) | 1u, (root.y << 2u) | (root.x >> 30u));
    root = vec2<u32>(root.x << 1u, (root.y << 1u) | (root.x >> 31u));
    if !less_u64(rest, trial) {
      rest = sub_i64(rest, trial);
      root.x |= 1u;
    }
  }
  root.x |= u32((rest.x | rest.y) != 0u);
  return rounded_f64(0u, root, 1023 + (it.e - 1023 - odd) / 2);
}

// Toward zero; keeps the sign.
fn trunc_f64(a: vec2<u32>) -> vec2<u32> {
  let e = (a.y >> 20u) & 0x7ffu;
  if e >= 1075u {
    return a;
  }
  if e < 1023u {
    return vec2<u32>(0u, a.y & 0x80000000u);
  }
  return a & shl_64(vec2<u32>(0xffffffffu, 0xffffffffu), 1075u - e);
}

// The next whole number toward minus infinity.
fn floor_f64(a: vec2<u32>) -> vec2<u32> {
  let whole = trunc_f64(a);
  if (a.y >> 31u) == 0u || (whole.x == a.x && whole.y == a.y) {
    return whole;
  }
  let e = (a.y >> 20u) & 0x7ffu;
  if e < 1023u {
    return vec2<u32>(0u, 0xbff00000u);
  }
  return add_i64(whole, shl_64(vec2<u32>(1u, 0u), 1075u - e));
}

// The next whole number toward infinity.
fn ceil_f64(a: vec2<u32>) -> vec2<u32> {
  return neg_f64(floor_f64(neg_f64(a)));
}

// The nearest integer, ties to the even one; keeps the sign.
fn round_f64(a: vec2<u32>) -> vec2<u32> {
  let sign = vec2<u32>(0u, a.y & 0x80000000u);
  let e = (a.y >> 20u) & 0x7ffu;
  if e >= 1075u {
    return a;
  }
  if e < 1022u {
    return sign;
  }
  let magnitude = abs_f64(a);
  if e == 1022u {
    let is_half = magnitude.x == 0u && magnitude.y == 0x3fe00000u;
    return sign | select(vec2<u32>(0u, 0x3ff00000u), vec2<u32>(0u, 0u), is_half);
  }
  let n = 1075u - e;
  let odd = shr_64(magnitude, n).x & 1u;
  // Half of the last bit that stays, or one less where that is even.
  let half = shl_64(vec2<u32>(1u, 0u), n - 1u);
  let moved = sub_i64(add_i64(magnitude, half), vec2<u32>(1u - odd, 0u));
  return sign | (moved & shl_64(vec2<u32>(0xffffffffu, 0xffffffffu), n));
}

// The nearest integer, ties away from zero; keeps the sign.
fn round_away_from_zero_f64(a: vec2<u32>) -> vec2<u32> {
  let sign = vec2<u32>(0u, a.y & 0x80000000u);
  let e = (a.y >> 20u) & 0x7ffu;
  if e >= 1075u {
    return a;
  }
  if e < 1022u {
    return sign;
  }
  if e == 1022u {
    return sign | vec2<u32>(0u, 0x3ff00000u);
  }
  let n = 1075u - e;
  let moved = add_i64(abs_f64(a), shl_64(vec2<u32>(1u, 0u), n - 1u));
  return sign | (moved & shl_64(vec2<u32>(0xffffffffu, 0xffffffffu), n));
}

// The smaller of two; NaN if either is; of equals the first.
fn min_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, less_f64(b, a) | is_nan_f64(b));
}

// The larger of two; NaN if either is; of equals the first.
fn max_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, less_f64(a, b) | is_nan_f64(b));
}

// The second where it is smaller, else the first, as C++ has it.
fn min_c_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, less_f64(b, a));
}

// The second where it is larger, else the first, as C++ has it.
fn max_c_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, less_f64(a, b));
}

// x ** 2, which is defined as the product.
fn square_f64(x: vec2<u32>) -> vec2<u32> {
  return mul_f64(x, x);
}

// The truncated remainder, exact: the division of the mantissas, bit by bit.
fn fmod_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let sign = a.y & 0x80000000u;
  if !is_finite_f64(a) || is_nan_f64(b) || is_zero_f64(b) {
    return nan_f64();
  }
  if less_u64(abs_f64(a), abs_f64(b)) {
    return a;
  }
  let dividend = mantissa_f64(a);
  let divisor = mantissa_f64(b);
  var m = dividend.m;
  var n = dividend.e - divisor.e;
  while true {
    if !less_u64(m, divisor.m) {
      m = sub_i64(m, divisor.m);
    }
    if n == 0 || !is_true_i64(m) {
      break;
    }
    m = vec2<u32>(m.x << 1u, (m.y << 1u) | (m.x >> 31u));
    n -= 1;
  }
  if !is_true_i64(m) {
    return vec2<u32>(0u, sign);
  }
  let shift = clz_64(m) - 8u;
  return rounded_f64(sign, shl_64(m, shift), divisor.e + 3 - i32(shift));
}

// The truncated remainder's floored like, with the sign of the divisor, of zeros too.
fn mod_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let truncated = fmod_f64(a, b);
  if is_nan_f64(truncated) {
    return truncated;
  }
  if is_zero_f64(truncated) {
    return vec2<u32>(0u, b.y & 0x80000000u);
  }
  if ((truncated.y ^ b.y) >> 31u) == 0u {
    return truncated;
  }
  return add_f64(truncated, b);
}

// The same number.
fn f64_of_f32(x: f32) -> vec2<u32> {
  let bits = bitcast<u32>(x);
  let sign = bits & 0x80000000u;
  let magnitude = bits & 0x7fffffffu;
  if magnitude == 0u {
    return vec2<u32>(0u, sign);
  }
  if magnitude >= 0x7f800000u {
    return select(vec2<u32>(0u, sign | 0x7ff00000u), nan_f64(), magnitude > 0x7f800000u);
  }
  let it = mantissa_f32(magnitude);
  let m = it.m & 0x007fffffu;
  return vec2<u32>(m << 29u, sign | (u32(it.e + 896) << 20u) | (m >> 3u));
}

// The nearest single, ties to even; infinite beyond the largest.
fn f32_of_f64(a: vec2<u32>) -> f32 {
  let sign = a.y & 0x80000000u;
  if is_nan_f64(a) {
    return f32_of_bits(0x7fc00000u);
  }
  if !is_finite_f64(a) || is_zero_f64(a) {
    return f32_of_bits(select(sign, sign | 0x7f800000u, !is_zero_f64(a)));
  }
  let it = mantissa_f64(a);
  // 26 bits of the 53, of which the last one stands for all beyond.
  let q = (it.m.y << 5u) | (it.m.x >> 27u) | u32((it.m.x & 0x07ffffffu) != 0u);
  return f32_of_bits(sign | rounded_f32(q, it.e - 896));
}

// The nearest double, ties to even.
fn f64_of_i64(a: vec2<u32>) -> vec2<u32> {
  let magnitude = abs_i64(a);
  if !is_true_i64(magnitude) {
    return vec2<u32>(0u, 0u);
  }
  let shift = clz_64(magnitude);
  return rounded_f64(a.y & 0x80000000u, shr_sticky_64(shl_64(magnitude, shift), 8u), 1086 - i32(shift));
}

// The same number.
fn f64_of_i32(a: i32) -> vec2<u32> {
  return f64_of_i64(i64_of_i32(a));
}

// Toward zero; NaN is 0, and what does not fit is the nearest that does.
fn i64_of_f64(a: vec2<u32>) -> vec2<u32> {
  let e = (a.y >> 20u) & 0x7ffu;
  let is_negative = (a.y >> 31u) != 0u;
  if e < 1023u || is_nan_f64(a) {
    return vec2<u32>(0u, 0u);
  }
  if e >= 1086u {
    return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), is_negative);
  }
  let m = vec2<u32>(a.x, (a.y & 0x000fffffu) | 0x00100000u);
  var whole = vec2<u32>(0u, 0u);
  if e >= 1075u {
    whole = shl_64(m, e - 1075u);
  } else {
    whole = shr_64(m, 1075u - e);
  }
  return select(whole, neg_i64(whole), is_negative);
}
