// Quotients and roots of doubles, rounded correctly, where a device has doubles and does not round these as it should.
//
// Digit by digit, on the bits: nothing of the device's own arithmetic on doubles takes part.

// Bits moved down, and the last one set where any was lost.
fn shr_sticky_u64(a: u64, by: u32) -> u64 {
  if by >= 64u {
    return select(0lu, 1lu, a != 0lu);
  }
  let moved = a >> by;
  return select(moved, moved | 1lu, (moved << by) != a);
}

// The bits of the double of a mantissa with its leading bit at bit 55, of which the last three are rounded off and the
// very last one stands for all beyond. Where the exponent is below 1 it becomes subnormal.
fn rounded_u64(mantissa: u64, exponent: i32) -> u64 {
  if exponent >= 2047 {
    return 0x7ff0000000000000lu;
  }
  var m = mantissa;
  var e = exponent;
  if e < 1 {
    m = shr_sticky_u64(m, u32(1 - e));
    e = 1;
  }
  return ((m + 3lu + ((m >> 3u) & 1lu)) >> 3u) + ((u64(e) - 1lu) << 52u);
}

// a / b
fn div_f64(a: f64, b: f64) -> f64 {
  let sign = (bitcast<u64>(a) ^ bitcast<u64>(b)) & 0x8000000000000000lu;
  let x = bitcast<u64>(a) & 0x7ffffffffffffffflu;
  let y = bitcast<u64>(b) & 0x7ffffffffffffffflu;
  let infinity = 0x7ff0000000000000lu;
  if x > infinity || y > infinity || (x == infinity && y == infinity) || (x == 0lu && y == 0lu) {
    return f64_of_bits(0x7ff8000000000000lu);
  }
  if x == infinity || y == 0lu {
    return f64_of_bits(sign | infinity);
  }
  if y == infinity || x == 0lu {
    return f64_of_bits(sign);
  }
  let dividend = mantissa_f64(x);
  let divisor = mantissa_f64(y);
  var rest = dividend.m;
  var e = dividend.e - divisor.e + 1023;
  if rest < divisor.m {
    rest <<= 1u;
    e -= 1;
  }
  var q = 0lu;
  for (var n = 0; n < 56; n++) {
    q <<= 1u;
    if rest >= divisor.m {
      rest -= divisor.m;
      q |= 1lu;
    }
    rest <<= 1u;
  }
  q |= select(0lu, 1lu, rest != 0lu);
  return f64_of_bits(sign | rounded_u64(q, e));
}

// The square root.
fn sqrt_f64(a: f64) -> f64 {
  let bits = bitcast<u64>(a);
  let x = bits & 0x7ffffffffffffffflu;
  if x == 0lu || bits == 0x7ff0000000000000lu {
    return a;
  }
  if x > 0x7ff0000000000000lu || bits != x {
    return f64_of_bits(0x7ff8000000000000lu);
  }
  let it = mantissa_f64(x);
  let odd = (it.e - 1023) & 1;
  var digits = it.m << (10u + u32(odd));
  var rest = 0lu;
  var root = 0lu;
  for (var n = 0; n < 56; n++) {
    rest = (rest << 2u) | (digits >> 62u);
    digits <<= 2u;
    let trial = (root << 2u) | 1lu;
    root <<= 1u;
    if rest >= trial {
      rest -= trial;
      root |= 1lu;
    }
  }
  root |= select(0lu, 1lu, rest != 0lu);
  return f64_of_bits(rounded_u64(root, 1023 + (it.e - 1023 - odd) / 2));
}
