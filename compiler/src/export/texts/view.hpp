// What all exported stencils have in common; several headers may bring it along.
#ifndef ISOBAR_HPP
#define ISOBAR_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace isobar {

// An array of the caller's, with strides in elements. It has what `std::mdspan` has, and an origin.
template <class T, std::size_t Rank>
class view {
public:
  using element_type = T;

  view(T *data, const std::array<std::int64_t, Rank> &shape, const std::array<std::int64_t, Rank> &stride,
       const std::array<std::int64_t, Rank> &origin = {})
      : data_(data), shape_(shape), stride_(stride), origin_(origin)
  {
  }

  static constexpr std::size_t rank() { return Rank; }
  T *data_handle() const { return data_; }
  std::int64_t extent(std::size_t r) const { return shape_[r]; }
  std::int64_t stride(std::size_t r) const { return stride_[r]; }
  // Index of the first point of the compute domain.
  std::int64_t origin(std::size_t r) const { return origin_[r]; }

private:
  T *data_;
  std::array<std::int64_t, Rank> shape_, stride_, origin_;
};

// The same array with an origin: whatever has data_handle(), extent(r), stride(r) and rank().
template <class Span, std::size_t Rank>
auto at(Span &&span, const std::int64_t (&origin)[Rank])
{
  using T = std::remove_pointer_t<std::decay_t<decltype(span.data_handle())>>;
  static_assert(std::decay_t<Span>::rank() == Rank, "an origin has an entry for each dimension");
  std::array<std::int64_t, Rank> shape{}, stride{}, start{};
  for (std::size_t r = 0; r < Rank; ++r) {
    shape[r] = static_cast<std::int64_t>(span.extent(r));
    stride[r] = static_cast<std::int64_t>(span.stride(r));
    start[r] = origin[r];
  }
  return view<T, Rank>(span.data_handle(), shape, stride, start);
}

// What went wrong.
class error : public std::runtime_error {
public:
  error(int status, const isobar_error &found)
      : std::runtime_error(std::string(found.code) + ": " + found.message), status_(status), found_(found)
  {
  }
  int status() const { return status_; }
  const isobar_error &found() const { return found_; }

private:
  int status_;
  isobar_error found_;
};

namespace detail {

template <class T> struct dtype_of;
template <> struct dtype_of<bool> { static constexpr int value = ISOBAR_BOOL; };
template <> struct dtype_of<std::int8_t> { static constexpr int value = ISOBAR_INT8; };
template <> struct dtype_of<std::int16_t> { static constexpr int value = ISOBAR_INT16; };
template <> struct dtype_of<std::int32_t> { static constexpr int value = ISOBAR_INT32; };
template <> struct dtype_of<std::int64_t> { static constexpr int value = ISOBAR_INT64; };
template <> struct dtype_of<float> { static constexpr int value = ISOBAR_FLOAT32; };
template <> struct dtype_of<double> { static constexpr int value = ISOBAR_FLOAT64; };

template <class Span, class = void> struct has_origin : std::false_type {};
template <class Span>
struct has_origin<Span, std::void_t<decltype(std::declval<const Span &>().origin(0))>> : std::true_type {};

// A field of the C interface; the types are held against what the stencil declares while compiling.
template <class T, std::size_t Rank, bool IsWritten, class Span>
isobar_field field(const Span &span)
{
  using element = std::remove_pointer_t<std::decay_t<decltype(span.data_handle())>>;
  static_assert(std::is_same_v<std::remove_cv_t<element>, T>, "the elements have another type than the stencil declares");
  static_assert(!IsWritten || !std::is_const_v<element>, "the stencil writes this field");
  static_assert(std::decay_t<Span>::rank() == Rank, "the array has another number of dimensions than the field");
  isobar_field made{};
  made.size = sizeof made;
  made.dtype = dtype_of<T>::value;
  made.rank = static_cast<std::int32_t>(Rank);
  made.data = const_cast<void *>(static_cast<const void *>(span.data_handle()));
  for (std::size_t r = 0; r < Rank; ++r) {
    made.shape[r] = static_cast<std::int64_t>(span.extent(r));
    made.stride[r] = static_cast<std::int64_t>(span.stride(r));
    if constexpr (has_origin<Span>::value) made.origin[r] = span.origin(r);
  }
  return made;
}

} // namespace detail

// How to call: as `isobar_call` of the C interface.
struct call : isobar_call {
  call() : isobar_call ISOBAR_CALL_INIT {}
  call(std::int64_t i, std::int64_t j, std::int64_t k) : call()
  {
    domain[0] = i;
    domain[1] = j;
    domain[2] = k;
  }
};

} // namespace isobar

#endif
