/* Where a run must end. Each statement that may end it has a slot, which keeps the least number of its cells: in the
 * order in which the statement comes to them. All kernels run on, and the host reads the slots when the last one is
 * over. The host sees to it that no number is beyond 32 bits.
 */
ISOBAR_INLINE void isobar_raise(uint32_t *slot, isobar_index level, isobar_index j, isobar_index i, isobar_index rows,
                                isobar_index columns)
{
    atomicMin(slot, ((uint32_t)level * (uint32_t)rows + (uint32_t)j) * (uint32_t)columns + (uint32_t)i);
}
