
/* Hands a statement to the caller, with arrays as the interface describes them. */
__attribute__((visibility("hidden"))) int32_t @NAME@_event(const void *given, const isobar_statement *it)
{
  const isobar_caller *const caller = given;
  isobar_field fields[@MOST@];
  for (int32_t at = 0; at < it->n_fields; ++at) {
    const isobar_array *const a = it->arrays[at];
    fields[at] = (isobar_field){.size = sizeof fields[at], .dtype = it->dtypes[at], .rank = a->rank, .data = a->data};
    for (int32_t along = 0; along < a->rank; ++along) {
      fields[at].shape[along] = a->shape[along];
      fields[at].stride[along] = a->stride[along];
    }
    for (int axis = 0; axis < 3; ++axis) {
      if (a->axis[axis] >= 0) fields[at].origin[a->axis[axis]] = a->origin[axis];
    }
  }
  const isobar_event event = {
      sizeof event, it->event, it->number, it->kind, it->width, it->n_fields, it->n_values, it->name, fields, it->names,
      it->written, it->values, it->value_names, it->value_dtypes, {it->domain[0], it->domain[1], it->domain[2]}};
  return caller->answer(caller->user, &event);
}
