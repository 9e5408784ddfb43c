/* The first position of a stage, from `start` on in steps of `step`, that a thread of `count` along the axis has:
 * position p is on thread (p - base) / step modulo count, so that all stages of a kernel agree. */
ISOBAR_INLINE isobar_index isobar_first(isobar_index start, isobar_index base, isobar_index step, isobar_index count,
                                        isobar_index thread)
{
    isobar_index distance = start - base;
    isobar_index number = distance / step - (distance % step < 0);
    isobar_index later = (thread - number) % count;
    return start + (later < 0 ? later + count : later) * step;
}
