//! Functions that a generated file carries where it needs them.

pub(super) const UNIT: &str = "\
/* Whether neighbours along i lie side by side in every field. There is code for both; that for one kind alone, with
   -D'ISOBAR_IS_UNIT(it)=true' or false, is compiled in a part of the time. */
#ifndef ISOBAR_IS_UNIT
#define ISOBAR_IS_UNIT(it) (it)
#endif
";

pub(super) const PARTS: &str = "\
/* The file may be compiled in parts at the same time, with -DISOBAR_PARTS=n and -DISOBAR_PART=0 to n - 1, which
   are then linked: the loops of step s are in part s % n, the entry in part 0. */
#ifdef ISOBAR_PARTS
#define ISOBAR_HERE(step) ((step) % ISOBAR_PARTS == ISOBAR_PART)
#define ISOBAR_STEP __attribute__((visibility(\"hidden\")))
#else
#define ISOBAR_HERE(step) 1
#define ISOBAR_STEP static
#endif
";

pub(super) const EXTREMA: &str = "\
static inline int64_t isobar_least(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t isobar_greatest(int64_t a, int64_t b) { return a < b ? b : a; }
";

pub(super) const FETCH: &str = "\
/* Asks for the line of an element that is read soon. Nothing is read here, so the element need not exist. */
#define ISOBAR_FETCH(element) __builtin_prefetch(&(element))
";

pub(super) const RAISE: &str = "\
/* The first cell at which the run must end: of the first sweep of the text the first level, of that the
   first statement, of that the first cell in the order of k, j, i, of that what came first. */
struct isobar_raised {
  bool is_raised;
  int32_t sweep;     /* which loop over the levels it is in the text */
  int64_t turn;      /* of the level in its sweep; 0 where levels have no order */
  int32_t outermost; /* the statement that holds the one that ended the run, or that itself */
  isobar_trap first;
};

static bool isobar_is_before(const struct isobar_raised *a, const struct isobar_raised *b)
{
  if (a->sweep != b->sweep) return a->sweep < b->sweep;
  if (a->turn != b->turn) return a->turn < b->turn;
  if (a->outermost != b->outermost) return a->outermost < b->outermost;
  if (a->first.k != b->first.k) return a->first.k < b->first.k;
  if (a->first.j != b->first.j) return a->first.j < b->first.j;
  return a->first.i < b->first.i;
}

static __attribute__((noinline, cold)) void
isobar_raise(struct isobar_raised *raised, int32_t sweep, int64_t turn, int32_t outermost, int32_t statement,
             int64_t i, int64_t j, int64_t k)
{
  const struct isobar_raised now = {true, sweep, turn, outermost, {statement, i, j, k}};
#pragma omp critical(isobar_raised)
  if (!raised->is_raised || isobar_is_before(&now, raised)) {
    raised->sweep = now.sweep;
    raised->turn = now.turn;
    raised->outermost = now.outermost;
    raised->first = now.first;
#pragma omp atomic write
    raised->is_raised = true;
  }
}
";

/// For programs with a `while`.
pub(super) const BEHIND: &str = "\
/* How many iterations of a `while` count as done: none, or all where the run must end before its cell. What
   depends on it comes later still, so that nothing which could be the first to end the run is left out. */
static __attribute__((noinline, cold)) uint64_t
isobar_done_behind(const struct isobar_raised *raised, const struct isobar_raised *here, uint64_t all)
{
  uint64_t done;
#pragma omp critical(isobar_raised)
  done = isobar_is_before(raised, here) ? all : 0;
  return done;
}

static inline uint64_t isobar_done(const struct isobar_raised *raised, uint64_t all, int32_t sweep, int64_t turn,
                                   int32_t outermost, int64_t i, int64_t j, int64_t k)
{
  bool is_raised;
#pragma omp atomic read
  is_raised = raised->is_raised;
  if (__builtin_expect(!is_raised, 1)) return 0;
  const struct isobar_raised here = {true, sweep, turn, outermost, {0, i, j, k}};
  return isobar_done_behind(raised, &here, all);
}
";

pub(super) const TIMES: &str = "\
/* The product, or UINT64_MAX where it is beyond that. */
static inline uint64_t isobar_times(uint64_t a, uint64_t b)
{
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
";

pub(super) const ROW: &str = "\
/* How long a row is, in elements, where the next one starts at a line of 64 bytes too. */
static inline int64_t isobar_row(int64_t length, int64_t bytes)
{
  const int64_t line = 64 / bytes;
  return (length + line - 1) / line * line;
}
";

pub(super) const OWN: &str = "\
/* The memory of one thread of those that have an array each; it starts at a line of 64 bytes. */
static inline void *isobar_own(void *first, uint64_t own)
{
  return __builtin_assume_aligned((char *)first + own, 64);
}
";

pub(super) const RESERVE: &str = "\
/* Where a piece of l * m * n elements starts; the total becomes UINT64_MAX where it is beyond any memory. */
static uint64_t isobar_reserve(uint64_t *total, int64_t l, int64_t m, int64_t n, uint64_t bytes)
{
  const uint64_t start = *total;
  const int64_t lengths[3] = {l, m, n};
  bool fits = true;
  for (int at = 0; at < 3; ++at) {
    fits = !__builtin_mul_overflow(bytes, lengths[at] > 0 ? (uint64_t)lengths[at] : 0, &bytes) && fits;
  }
  fits = !__builtin_add_overflow(bytes, 63, &bytes) && fits;
  fits = !__builtin_add_overflow(start, bytes - bytes % 64, total) && fits;
  if (!fits || start == UINT64_MAX) *total = UINT64_MAX;
  return start;
}
";
