// Integers of 32 bits and less: arithmetic that is defined for all operands, and the wrapping of narrow types.
//
// `int8`, `int16` and `int32` are words on a device; a narrow one is its own sign extension after each operation.

// The low 8 bits with their sign.
fn extend_i8(a: i32) -> i32 {
  return (a << 24u) >> 24u;
}

// The low 16 bits with their sign.
fn extend_i16(a: i32) -> i32 {
  return (a << 16u) >> 16u;
}

// The quotient without its fraction; 0 of a division by zero.
fn div_i32(a: i32, b: i32) -> i32 {
  if b == 0 {
    return 0;
  }
  if b == -1 {
    return 0 - a;
  }
  return a / b;
}

// The truncated remainder, with the sign of the dividend; 0 of a division by zero.
fn mod_c_i32(a: i32, b: i32) -> i32 {
  if b == 0 || b == -1 {
    return 0;
  }
  return a - a / b * b;
}

// The floored remainder, with the sign of the divisor; 0 of a division by zero.
fn mod_i32(a: i32, b: i32) -> i32 {
  let remainder = mod_c_i32(a, b);
  return select(remainder, remainder + b, remainder != 0 && (remainder < 0) != (b < 0));
}

// Without the sign; that of the lowest wraps to itself.
fn abs_i32(a: i32) -> i32 {
  return select(a, 0 - a, a < 0);
}

// The smaller.
fn min_i32(a: i32, b: i32) -> i32 {
  return select(a, b, b < a);
}

// The larger.
fn max_i32(a: i32, b: i32) -> i32 {
  return select(a, b, a < b);
}
