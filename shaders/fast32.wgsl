// Functions of singles as a device computes them, for texts that need not have the interpreter's bits.
//
// What the device leaves open is defined: powers of negative numbers, arguments where its own formula overflows.

// x ** y; of a negative number where the exponent is whole.
fn fast_pow(x: f32, y: f32) -> f32 {
  if y == 0.0f || x == 1.0f {
    return 1.0f;
  }
  if is_nan_f32(x) || is_nan_f32(y) {
    return f32_of_bits(0x7fc00000u);
  }
  let size = pow(abs(x), y);
  let is_whole = floor(y) == y;
  let is_odd = is_whole && floor(y * 0.5f) * 2.0f != y;
  if x < 0.0f && !is_whole && is_finite_f32(x) {
    return f32_of_bits(0x7fc00000u);
  }
  return select(size, -size, is_odd && (bitcast<u32>(x) >> 31u) != 0u);
}

// The logarithm to the base 10.
fn fast_log10(x: f32) -> f32 {
  return log2(x) * 0.30103f;
}

// The hyperbolic tangent, which is 1 where the quotient of exponentials would overflow.
fn fast_tanh(x: f32) -> f32 {
  return tanh(clamp(x, -20.0f, 20.0f));
}
