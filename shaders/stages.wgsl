// Threads of a block: which positions each of them has, and where a run has to end.

// The first position of a stage, from `start` on in steps of `step`, that a thread of `count` along the axis has:
// position p is on thread (p - base) / step modulo count, so that all stages of a kernel agree.
fn first_position(start: i32, base: i32, step: i32, count: i32, thread: i32) -> i32 {
  let distance = start - base;
  let number = distance / step - select(0, 1, distance % step < 0);
  let later = (thread - number) % count;
  return start + select(later, later + count, later < 0) * step;
}

// Notes the cell of a statement at which the run has to end: the least number of each slot stays. All kernels run on,
// and the host reads the slots when the last one is over. It sees to it that numbers fit.
fn end_at(slot: u32, level: i32, j: i32, i: i32, rows: i32, columns: i32) {
  atomicMin(&traps[slot], (u32(level) * u32(rows) + u32(j)) * u32(columns) + u32(i));
}
