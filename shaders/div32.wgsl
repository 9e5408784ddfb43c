// Quotients and roots of singles, rounded correctly with whatever quotient and root a device has.
//
// The standards allow 2.5 units in the last place. The device's own is taken as an estimate of an integer of 26 (25)
// bits, whose exact remainder corrects it. Subnormals are told and made by their bits, so that a device may flush them.

// a / b
fn div_f32(a: f32, b: f32) -> f32 {
  let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
  let x = bitcast<u32>(a) & 0x7fffffffu;
  let y = bitcast<u32>(b) & 0x7fffffffu;
  let is_nan = x > 0x7f800000u || y > 0x7f800000u;
  if is_nan || (x == 0u && y == 0u) || (x == 0x7f800000u && y == 0x7f800000u) {
    return f32_of_bits(0x7fc00000u);
  }
  if x == 0x7f800000u || y == 0u {
    return f32_of_bits(sign | 0x7f800000u);
  }
  if x == 0u || y == 0x7f800000u {
    return f32_of_bits(sign);
  }
  let dividend = mantissa_f32(x);
  let divisor = mantissa_f32(y);
  var m = dividend.m;
  var e = dividend.e - divisor.e + 127;
  if m < divisor.m {
    m <<= 1u;
    e -= 1;
  }
  let d = i32(divisor.m);
  var q = u32(f32(m) / f32(d) * 33554432.0f);
  // Both terms wrap; their difference is small.
  var r = i32((m << 25u) - q * divisor.m);
  let more = i32(f32(r) / f32(d));
  q += u32(more);
  r -= more * d;
  while r < 0 {
    r += d;
    q -= 1u;
  }
  while r >= d {
    r -= d;
    q += 1u;
  }
  return f32_of_bits(sign | rounded_f32(q | u32(r != 0), e));
}

// The square root.
fn sqrt_f32(a: f32) -> f32 {
  let bits = bitcast<u32>(a);
  let x = bits & 0x7fffffffu;
  if x == 0u || bits == 0x7f800000u {
    return a;
  }
  if x > 0x7f800000u || bits != x {
    return f32_of_bits(0x7fc00000u);
  }
  let it = mantissa_f32(x);
  let odd = (it.e - 127) & 1;
  let m = it.m << u32(odd);
  // The root of m 2^25, whose own root is 5792.6187...
  var q = u32(sqrt(f32(m)) * 5792.6187f);
  var r = i32((m << 25u) - q * q);
  while r < 0 {
    q -= 1u;
    r += i32(2u * q + 1u);
  }
  while r >= i32(2u * q + 1u) {
    r -= i32(2u * q + 1u);
    q += 1u;
  }
  return f32_of_bits(rounded_f32((q << 1u) | u32(r != 0), 127 + (it.e - 127 - odd) / 2));
}

// The bits of a single of 26 bits, of which the last one stands for all beyond, and a biased exponent.
fn rounded_f32(bits: u32, exponent: i32) -> u32 {
  if exponent >= 255 {
    return 0x7f800000u;
  }
  var q = bits;
  var e = exponent;
  if e < 1 {
    let shift = u32(min(1 - e, 27));
    q = (q >> shift) | u32((q & ((1u << shift) - 1u)) != 0u);
    e = 1;
  }
  return ((q + 1u + ((q >> 2u) & 1u)) >> 2u) + ((u32(e) - 1u) << 23u);
}
