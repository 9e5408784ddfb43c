#include <cstring>
#include <map>
#include <vector>

// Fills halos from the opposite edge, and answers the callback `limit.halve`.
static std::map<int, std::vector<double>> kept;

static std::int64_t wrapped(std::int64_t at, std::int64_t first, std::int64_t n)
{
  return ((at - first) % n + n) % n + first;
}

template <class Visit>
static void halo(const isobar_event &event, const isobar::view<double, 3> &field, const Visit &visit)
{
  const std::int64_t i0 = field.origin(0), j0 = field.origin(1), w = event.width;
  const std::int64_t n_i = event.domain[0], n_j = event.domain[1];
  const auto element = [&](std::int64_t i, std::int64_t j, std::int64_t k) -> double & {
    return field.data_handle()[i * field.stride(0) + j * field.stride(1) + k * field.stride(2)];
  };
  for (std::int64_t k = 0; k < field.extent(2); ++k) {
    for (std::int64_t j = std::max<std::int64_t>(0, j0 - w); j < std::min(field.extent(1), j0 + n_j + w); ++j) {
      for (std::int64_t i = std::max<std::int64_t>(0, i0 - w); i < std::min(field.extent(0), i0 + n_i + w); ++i) {
        if (i >= i0 && i < i0 + n_i && j >= j0 && j < j0 + n_j) continue;
        visit(element(i, j, k), element(wrapped(i, i0, n_i), wrapped(j, j0, n_j), k));
      }
    }
  }
}

static void answer(const isobar_event &event)
{
  if (event.event == ISOBAR_EVENT_CALLBACK) {
    if (std::strcmp(event.name, "limit.halve") != 0) throw std::runtime_error("another callback");
    const auto other = isobar::field<double, 3>(event, 1);
    for (std::int64_t k = 0; k < other.extent(2); ++k) {
      for (std::int64_t j = 0; j < other.extent(1); ++j) {
        for (std::int64_t i = 0; i < other.extent(0); ++i) {
          other.data_handle()[i * other.stride(0) + j * other.stride(1) + k * other.stride(2)] *= 0.5;
        }
      }
    }
    const double first = *isobar::field<const double, 3>(event, 0).data_handle();
    isobar::give(event, "c", 0.5 + first * 0x1p-10);
    isobar::give(event, "go", first < 0.0);
    return;
  }
  const auto field = isobar::field<double, 3>(event, 0);
  std::vector<double> &values = kept[event.number];
  if (event.event != ISOBAR_EVENT_WAIT) {
    values.clear();
    halo(event, field, [&](double &, const double &from) { values.push_back(from); });
  }
  if (event.event != ISOBAR_EVENT_START) {
    std::size_t at = 0;
    halo(event, field, [&](double &to, const double &) { to = values[at++]; });
  }
}
