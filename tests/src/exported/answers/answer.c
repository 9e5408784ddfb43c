/* Fills halos from the opposite edge, and answers the callback `limit.halve`. */
static char *isobar_test_kept[8];

static int64_t isobar_test_wrapped(int64_t at, int64_t first, int64_t n) { return ((at - first) % n + n) % n + first; }

/* Goes over the halo of a field: takes its values, or stores those that were taken. */
static void isobar_test_halo(const isobar_event *event, const isobar_field *field, double *values, int is_taken)
{
  const int64_t i0 = field->origin[0], j0 = field->origin[1], w = event->width;
  const int64_t n_i = event->domain[0], n_j = event->domain[1];
  double *const data = (double *)field->data;
  for (int64_t k = 0; k < field->shape[2]; ++k) {
    for (int64_t j = j0 > w ? j0 - w : 0; j < j0 + n_j + w && j < field->shape[1]; ++j) {
      for (int64_t i = i0 > w ? i0 - w : 0; i < i0 + n_i + w && i < field->shape[0]; ++i) {
        if (i >= i0 && i < i0 + n_i && j >= j0 && j < j0 + n_j) continue;
        const int64_t from_i = isobar_test_wrapped(i, i0, n_i), from_j = isobar_test_wrapped(j, j0, n_j);
        if (is_taken) {
          *values++ = data[from_i * field->stride[0] + from_j * field->stride[1] + k * field->stride[2]];
        } else {
          data[i * field->stride[0] + j * field->stride[1] + k * field->stride[2]] = *values++;
        }
      }
    }
  }
}

static int32_t isobar_test_answer(void *user, const isobar_event *event)
{
  (void)user;
  if (event->event == ISOBAR_EVENT_CALLBACK) {
    if (strcmp(event->name, "limit.halve") != 0 || event->n_fields != 2 || event->n_values != 2) return 1;
    const isobar_field *const q = &event->fields[0], *const other = &event->fields[1];
    if (strcmp(event->field_names[0], "q") != 0 || event->is_written[0] || !event->is_written[1]) return 2;
    double *const to = (double *)other->data;
    for (int64_t k = 0; k < other->shape[2]; ++k) {
      for (int64_t j = 0; j < other->shape[1]; ++j) {
        for (int64_t i = 0; i < other->shape[0]; ++i) {
          to[i * other->stride[0] + j * other->stride[1] + k * other->stride[2]] *= 0.5;
        }
      }
    }
    const double first = *(const double *)q->data;
    *(double *)event->values[0] = 0.5 + first * 0x1p-10;
    *(bool *)event->values[1] = first < 0.0;
    return 0;
  }
  const isobar_field *const field = &event->fields[0];
  if (event->n_fields != 1 || event->number >= 8) return 3;
  if (event->event != ISOBAR_EVENT_WAIT) {
    static char buffer[8][1 << 16];
    isobar_test_kept[event->number] = buffer[event->number];
    isobar_test_halo(event, field, (double *)(void *)buffer[event->number], 1);
  }
  if (event->event != ISOBAR_EVENT_START) {
    isobar_test_halo(event, field, (double *)(void *)isobar_test_kept[event->number], 0);
  }
  return 0;
}
