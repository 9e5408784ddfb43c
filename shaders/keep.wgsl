// Numbers that no compiler may know: what is made with `zero` is a value of run time.
//
// Compilers of shaders drop a literal zero (`x + 0.0` is not `x` for -0.0), refuse a constant infinity, and may fuse
// or reorder arithmetic on floats. None of them sees through an exclusive or with a word that comes from memory.

// A word that is 0: the first one of the block of sizes.
fn zero() -> u32 {
  return sizes[0];
}

// The single with these bits.
fn f32_of_bits(bits: u32) -> f32 {
  return bitcast<f32>(bits ^ zero());
}

// The integer, as a value of run time.
fn i32_of_bits(bits: u32) -> i32 {
  return bitcast<i32>(bits ^ zero());
}

// A result of `+`, `-` or `*` as it was rounded: nothing is fused with it or moved across it.
fn keep_f32(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ zero());
}

// A zero that no compiler knows.
fn zero_f32() -> f32 {
  return bitcast<f32>(zero());
}

// The integer as a single, of which no compiler knows whether it is zero.
fn f32_of_i32(a: i32) -> f32 {
  return f32(a ^ bitcast<i32>(zero()));
}
