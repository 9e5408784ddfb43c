// Functions of singles as a device computes them, for texts that need not have the interpreter's bits.
//
// A function of the language that has one here, `fast_` in front of its name, is that one in such a text. What a
// device leaves open is defined: powers of negative numbers, and arguments at which its own formula overflows.

// e to the power of x.
fn fast_exp(x: f32) -> f32 {
  return exp(x);
}

// The natural logarithm.
fn fast_log(x: f32) -> f32 {
  return log(x);
}

// The logarithm to the base 10.
fn fast_log10(x: f32) -> f32 {
  return log2(x) * 0.30102999566f;
}

// The sine.
fn fast_sin(x: f32) -> f32 {
  return sin(x);
}

// The cosine.
fn fast_cos(x: f32) -> f32 {
  return cos(x);
}

// The tangent.
fn fast_tan(x: f32) -> f32 {
  return tan(x);
}

// The angle of a sine.
fn fast_asin(x: f32) -> f32 {
  return asin(x);
}

// The angle of a cosine.
fn fast_acos(x: f32) -> f32 {
  return acos(x);
}

// The angle of a tangent.
fn fast_atan(x: f32) -> f32 {
  return atan(x);
}

// The hyperbolic sine.
fn fast_sinh(x: f32) -> f32 {
  return sinh(x);
}

// The hyperbolic cosine.
fn fast_cosh(x: f32) -> f32 {
  return cosh(x);
}

// The hyperbolic tangent, which is 1 where a quotient of exponentials would overflow.
fn fast_tanh(x: f32) -> f32 {
  return tanh(clamp(x, -20.0f, 20.0f));
}

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
