bench = Benchmark
bench-about = The back ends of the runner are called in turn, and as much memory is copied as a call has to move: medians stand here, and what part of copying they reach.
bench-what = What is measured
bench-button-about = Calls each of these back ends so often, on this machine's runner
bench-button = Measure on this runner
bench-rounds = rounds
bench-of = { $threads ->
    [one] { $stencil } on { $i } × { $j } × { $k } points, fp{ $precision }, 1 thread, { $mode }, { $rounds } rounds; a call moves { $bytes } at least.
   *[other] { $stencil } on { $i } × { $j } × { $k } points, fp{ $precision }, { $threads } threads, { $mode }, { $rounds } rounds; a call moves { $bytes } at least.
}
bench-stale = The text has changed since.
bench-backend = back end
bench-interval-about = where the median lies with 95 % confidence
bench-noisy = noisy
bench-noisy-about = The interval is wider than a tenth of the median: measure again with more rounds, or while the machine rests
bench-copy-about = the time of copying as a part of that of a call
bench-copy = copy
bench-first-about = the call before the rounds, in milliseconds
bench-first = first
bench-copying = copying
bench-agree = All back ends wrote the same bits.
bench-differ-fast = The back ends did not write the same bits, as `fast` allows.
bench-differ = The back ends did not write the same bits.
clock-step-each = step { $step }, { $time } each
clock-step = step { $step }
clock-about = Each step begins with what the one before wrote.
clock-steps = Time steps
clock-pause = Pause
clock-play-about = Play: take step after step
clock-play = Play
clock-one = One step
clock-one-about = One step (.)
clock-restart = Back to the first step
clock-restart-about = Back to the first step (,)
compare = Comparison
compare-field = field
compare-cells = cells
compare-differ = differ
compare-largest = largest
compare-where = where, A and B
compare-same = 0 cells differ: all { $cells } values have the same bits.
compare-differs = { $differing ->
    [one] { $differing } of { $cells } cell differs, by { $largest } at most.
   *[other] { $differing } of { $cells } cells differ, by { $largest } at most.
}
compare-nan = NaN on one side
compare-place = ({ $i },{ $j },{ $k }): { $a } and { $b }
decisions = Decisions of the compiler: { $count }
decisions-which = Which decisions
decisions-none = There are none of this kind.
decisions-lines = { $count ->
    [one] line
   *[other] lines
}
decisions-more = and { $count } more
result-run = Run
result-long = This takes long in this tab. It goes on, and Stop ends it.
result-instead-numpy = Run numpy instead
result-instead-runner = Run on the runner instead
timings = Timings
timings-none = A run's times stand here, step by step.
timings-graph = Where the call spent its time, step by step of the graph
timings-step = step
timings-writes = writes
timings-lines = lines
timings-time = time
timings-part = part
timings-calls = Where the program spent its time, call by call
timings-statement = statement
timings-times = times
timings-traffic = traffic
timings-line = line
timings-open = Open the stencil
timings-left-out = { $count ->
    [one] A statement that took less is left out.
   *[other] { $count } statements that took less are left out.
}
timings-compilation = Compilation in this tab: { $time }
timings-tuned = A schedule was taken that `isobar tune` kept ({ $what }): { $time } for { $own } when it was measured.
timings-memory = Memory: { $fields } of fields
timings-temporaries = , { $bytes } of temporaries
timings-threads = , { $bytes } of threads
