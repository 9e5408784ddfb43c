/* Where a run must end. Each statement that may end it has a slot, which keeps the first of its cells in the order in
 * which the statement comes to them. All kernels run on, and the host reads the slots when the last one is over. */
ISOBAR_INLINE void isobar_raise(unsigned long long *slot, unsigned long long cell) { atomicMin(slot, cell); }
