
// What programs leave to their caller; several headers may bring it along.
#ifndef ISOBAR_CALLER_HPP
#define ISOBAR_CALLER_HPP

#include <exception>
#include <functional>

namespace isobar {

// Carries out a statement of a program. What it throws ends the run, and comes out of the call.
using answer = std::function<void(const isobar_event &)>;

// A field of an event, which has these elements: its origin is the first point of the compute domain.
template <class T, std::size_t Rank>
view<T, Rank> field(const isobar_event &event, std::int32_t at)
{
  if (at < 0 || at >= event.n_fields) throw std::out_of_range("the event has no such field");
  const isobar_field &found = event.fields[at];
  if (found.rank != static_cast<std::int32_t>(Rank) || found.dtype != detail::dtype_of<std::remove_const_t<T>>::value) {
    throw std::invalid_argument(std::string("the field ") + event.field_names[at] + " has another type or rank");
  }
  if (!std::is_const_v<T> && !event.is_written[at]) {
    throw std::invalid_argument(std::string("the field ") + event.field_names[at] + " is only read");
  }
  std::array<std::int64_t, Rank> shape{}, stride{}, origin{};
  for (std::size_t r = 0; r < Rank; ++r) {
    shape[r] = found.shape[r];
    stride[r] = found.stride[r];
    origin[r] = found.origin[r];
  }
  return view<T, Rank>(static_cast<T *>(found.data), shape, stride, origin);
}

// Gives a number that a callback has to give.
template <class T>
void give(const isobar_event &event, const std::string &name, T value)
{
  for (std::int32_t at = 0; at < event.n_values; ++at) {
    if (name == event.value_names[at] && event.value_dtypes[at] == detail::dtype_of<T>::value) {
      *static_cast<T *>(event.values[at]) = value;
      return;
    }
  }
  throw std::invalid_argument("the event gives no number of this name and type: " + name);
}

namespace detail {

// An answer with what it threw: nothing may be thrown through C.
struct answering {
  const answer &given;
  std::exception_ptr thrown;

  static std::int32_t of(void *user, const isobar_event *event)
  {
    auto *const own = static_cast<answering *>(user);
    try {
      own->given(*event);
      return 0;
    } catch (...) {
      own->thrown = std::current_exception();
      return 1;
    }
  }
};

} // namespace detail
} // namespace isobar

#endif
