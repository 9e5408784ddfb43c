/* Lets a pointer of Fortran point to a field of an event; to nothing where type or rank are others. */
static void isobar_point(const isobar_event *event, int32_t at, int32_t dtype, int32_t rank, CFI_cdesc_t *p)
{
  p->base_addr = NULL;
  if (at < 1 || at > event->n_fields || p->rank != rank) return;
  const isobar_field *const field = &event->fields[at - 1];
  if (field->dtype != dtype || field->rank != rank) return;
  p->base_addr = field->data;
  for (int32_t along = 0; along < rank; ++along) {
    p->dim[along].lower_bound = 1;
    p->dim[along].extent = field->shape[along];
    p->dim[along].sm = field->stride[along] * (CFI_index_t)p->elem_len;
  }
}

