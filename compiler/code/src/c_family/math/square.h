/* x ** 2, which is defined as the product. */
ISOBAR_INLINE double isobar_square_f64(double x) { return x * x; }
ISOBAR_INLINE float isobar_square_f32(float x) { return x * x; }
