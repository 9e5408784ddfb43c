# Runs: what goes on, how it ended, and what to do about it.

state-run-begins = { $backend }: begins
state-run-runs = { $backend } runs …
state-run-done = { $backend }: done
state-run-stopped = stopped
state-run-said-stopped = Stopped.
state-run-without-result = ended without a result
state-run-said-without-result = The run ended without a result.
state-run-in-this-tab = { $backend } runs in this tab
state-run-part-here = { $backend } in this tab
state-run-part-runner = { $backend } on the runner
state-run-machine-here = this tab
state-run-machine-here-how = this tab, { $how }; { $name }
state-run-machine-runner = runner
state-run-machine-cores = { $cores ->
    [one] runner, { $cores } core
   *[other] runner, { $cores } cores
}
state-run-took = { $backend } ran in { $ms } ms.
state-run-ran-remote = { $backend } ran on the runner.
state-run-compares = the two results are compared
state-run-compared = { $cells ->
    [one] { $here } and { $backend }: { $cells } cell differs.
   *[other] { $here } and { $backend }: { $cells } cells differ.
}
state-run-asked-to-stop = The runner is asked to stop …
state-run-rate = { NUMBER($rate, minimumFractionDigits: 1, maximumFractionDigits: 1) } GB/s
state-run-rate-gpu = { $rate }, { NUMBER($part, maximumFractionDigits: 0) } % of the GPU's copying
state-run-rate-copying = { $rate }, { NUMBER($part, maximumFractionDigits: 0) } % of copying
state-run-at-cell = { $message } (at i, j, k = { $cell })

state-run-too-many-points = { $points } points are more than this page runs in a tab, which is { $most }
state-run-too-many-points-next = choose a smaller domain, or run on a runner
state-run-fell-over-drawing = the worker of this tab fell over when the result was to be drawn
state-run-fell-over-drawing-next = your source is safe; choose a smaller domain and run again
state-run-fell-over = the worker of this tab fell over: { $why }
state-run-fell-over-next-domain = your source is safe; choose a smaller domain and run again
state-run-fell-over-next-text = your source is safe; change the domain or the text and run again
state-run-not-started = the worker of this tab could not be started: { $why }
state-run-not-started-next = your source is safe; run again, or reload the page when its server is back
state-run-results-lost = The results are lost.
state-run-unexpected = an answer came that belongs to no question; this is a fault of the page

# Runs on the runner.
state-runner-none = this page is served without a runner; start one with `isobar serve`
state-runner-none-said = This page is served without a runner: start one with `isobar serve`.
state-runner-asked = the runner is asked
state-runner-fetches = `{ $field }` is fetched
state-runner-waits = waits for its turn: { $position } of { $of }
state-runner-works = the runner works
state-runner-lost = The runner stopped answering: it was ended, or cannot be reached any more.
state-runner-lost-next = start it again and open the address that it prints; everything else here goes on working
state-runner-garbled = the runner answered something that this page does not understand: { $what }
state-runner-garbled-next = page and runner may be of different versions: reload the page
state-runner-limit = { $message } ({ $name }: { $allowed } { $unit } allowed, { $asked } asked for)
state-runner-ended-limit = the job reached a limit of the runner
state-runner-ended-trap = the run stopped itself
state-runner-ended-crash = the job crashed; the runner goes on
state-runner-ended-shutdown = the runner was shut down
state-runner-ended-error = the job ended with an error

# Measuring.
state-bench-done = The back ends are measured.
state-bench-none = no back end is chosen that could be measured
state-bench-none-next = tick a back end beside the button
state-bench-rounds = rounds of the measurement

# Files that leave the page.
state-export-saved = { $name } is saved.
state-export-archive-saved = { $name } is saved: all fields of { $letter }, halo included.
state-export-refused = The browser did not take { $name }.
state-export-no-graph = A text with errors has no graph.
state-export-graph-gone = The graph was not made: { $why }
