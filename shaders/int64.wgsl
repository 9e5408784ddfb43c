// Integers of 64 bits as two words, for devices that have none: `x` is the low word, `y` the high one with the sign.
//
// Everything wraps. The names are those of `native64.wgsl`, so that a text does not depend on which of them it gets;
// operators have a function each.

// The integer, as a value of run time.
fn i64_of_bits(bits: vec2<u32>) -> vec2<u32> {
  return bits ^ vec2<u32>(zero());
}

// The sum.
fn add_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

// The difference.
fn sub_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

// The number less than 0 by as much.
fn neg_i64(a: vec2<u32>) -> vec2<u32> {
  return sub_i64(vec2<u32>(0u, 0u), a);
}

// The 64 bits of a product of words, from four products of half words.
fn mul_wide(a: u32, b: u32) -> vec2<u32> {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let low = a_low * b_low;
  let cross = a_low * b_high;
  let other = a_high * b_low;
  let middle = (low >> 16u) + (cross & 0xffffu) + (other & 0xffffu);
  let high = a_high * b_high + (cross >> 16u) + (other >> 16u) + (middle >> 16u);
  return vec2<u32>((middle << 16u) | (low & 0xffffu), high);
}

// The product.
fn mul_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = mul_wide(a.x, b.x);
  return vec2<u32>(low.x, low.y + a.x * b.y + a.y * b.x);
}

// Whether a < b, both without signs.
fn less_u64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}

// Whether a < b.
fn less_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return less_u64(vec2<u32>(a.x, a.y ^ 0x80000000u), vec2<u32>(b.x, b.y ^ 0x80000000u));
}

// Whether a == b.
fn equal_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return ((a.x ^ b.x) | (a.y ^ b.y)) == 0u;
}

// Whether any bit is set.
fn is_true_i64(a: vec2<u32>) -> bool {
  return (a.x | a.y) != 0u;
}

// Bits moved up by less than 64, zeros from below.
fn shl_64(a: vec2<u32>, by: u32) -> vec2<u32> {
  let n = by & 31u;
  let low = a.x << n;
  let high = (a.y << n) | ((a.x >> 1u) >> (31u - n));
  return select(vec2<u32>(low, high), vec2<u32>(0u, low), by >= 32u);
}

// Bits moved down by less than 64, zeros from above.
fn shr_64(a: vec2<u32>, by: u32) -> vec2<u32> {
  let n = by & 31u;
  let high = a.y >> n;
  let low = (a.x >> n) | ((a.y << 1u) << (31u - n));
  return select(vec2<u32>(low, high), vec2<u32>(high, 0u), by >= 32u);
}

// How many zeros stand above the first bit; 64 where there is none.
fn clz_64(a: vec2<u32>) -> u32 {
  return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

// The quotient (`xy`) and the remainder (`zw`) of magnitudes of at most 2^63, bit by bit; the divisor is not 0.
fn divide_u64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  var n = 64u - clz_64(a);
  var rest = shl_64(a, min(64u - n, 63u));
  var remainder = vec2<u32>(0u, 0u);
  var quotient = vec2<u32>(0u, 0u);
  while n > 0u {
    remainder = vec2<u32>((remainder.x << 1u) | (rest.y >> 31u), (remainder.y << 1u) | (remainder.x >> 31u));
    rest = vec2<u32>(rest.x << 1u, (rest.y << 1u) | (rest.x >> 31u));
    quotient = vec2<u32>(quotient.x << 1u, (quotient.y << 1u) | (quotient.x >> 31u));
    if !less_u64(remainder, b) {
      remainder = sub_i64(remainder, b);
      quotient.x |= 1u;
    }
    n -= 1u;
  }
  return vec4<u32>(quotient, remainder);
}

// Without the sign; that of the lowest wraps to itself.
fn abs_i64(a: vec2<u32>) -> vec2<u32> {
  return select(a, neg_i64(a), (a.y >> 31u) != 0u);
}

// The quotient without its fraction; 0 of a division by zero.
fn div_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  if !is_true_i64(b) {
    return vec2<u32>(0u, 0u);
  }
  let quotient = divide_u64(abs_i64(a), abs_i64(b)).xy;
  return select(quotient, neg_i64(quotient), ((a.y ^ b.y) >> 31u) != 0u);
}

// The truncated remainder, with the sign of the dividend; 0 of a division by zero.
fn mod_c_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  if !is_true_i64(b) {
    return vec2<u32>(0u, 0u);
  }
  let remainder = divide_u64(abs_i64(a), abs_i64(b)).zw;
  return select(remainder, neg_i64(remainder), (a.y >> 31u) != 0u);
}

// The floored remainder, with the sign of the divisor; 0 of a division by zero.
fn mod_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let remainder = mod_c_i64(a, b);
  let is_moved = is_true_i64(remainder) && ((remainder.y ^ b.y) >> 31u) != 0u;
  return select(remainder, add_i64(remainder, b), is_moved);
}

// The smaller.
fn min_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, less_i64(b, a));
}

// The larger.
fn max_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, less_i64(a, b));
}

// A power, wrapping. A negative exponent gives the real power without its fraction, and 0 of the base 0.
fn power_i64(base: vec2<u32>, exponent: vec2<u32>) -> vec2<u32> {
  let is_unit = (base.x == 1u && base.y == 0u) || (base.x & base.y) == 0xffffffffu;
  if (exponent.y >> 31u) != 0u && !is_unit {
    return vec2<u32>(0u, 0u);
  }
  var result = vec2<u32>(1u, 0u);
  var square = base;
  var rest = exponent;
  while is_true_i64(rest) {
    if (rest.x & 1u) != 0u {
      result = mul_i64(result, square);
    }
    square = mul_i64(square, square);
    rest = shr_64(rest, 1u);
  }
  return result;
}

// The same number.
fn i64_of_i32(a: i32) -> vec2<u32> {
  return vec2<u32>(bitcast<u32>(a), bitcast<u32>(a >> 31u));
}

// Toward zero; NaN is 0, and what does not fit is the nearest that does.
fn i64_of_f32(x: f32) -> vec2<u32> {
  let bits = bitcast<u32>(x);
  let e = (bits >> 23u) & 0xffu;
  let is_negative = (bits >> 31u) != 0u;
  if e < 127u || (bits & 0x7fffffffu) > 0x7f800000u {
    return vec2<u32>(0u, 0u);
  }
  if e >= 190u {
    return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), is_negative);
  }
  let m = vec2<u32>((bits & 0x007fffffu) | 0x00800000u, 0u);
  var whole = vec2<u32>(0u, 0u);
  if e >= 150u {
    whole = shl_64(m, e - 150u);
  } else {
    whole = shr_64(m, 150u - e);
  }
  return select(whole, neg_i64(whole), is_negative);
}

// The nearest single, ties to even.
fn f32_of_i64(a: vec2<u32>) -> f32 {
  let magnitude = abs_i64(a);
  if !is_true_i64(magnitude) {
    return f32_of_bits(0u);
  }
  let shift = clz_64(magnitude);
  let m = shl_64(magnitude, shift);
  // 26 bits, of which the last one stands for all beyond.
  let q = (m.y >> 6u) | u32(((m.y & 0x3fu) | m.x) != 0u);
  return f32_of_bits((a.y & 0x80000000u) | rounded_f32(q, 190 - i32(shift)));
}

// The integer as an index; what is no index is -1, which is none either.
fn index_of_i64(a: vec2<u32>) -> i32 {
  return select(-1, bitcast<i32>(a.x), a.y == 0u && (a.x >> 31u) == 0u);
}
