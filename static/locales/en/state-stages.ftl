# Levels, passes, and what the compiler did.

state-stage-about-program = the calls of several stencils in their order, which a class or a document has
state-stage-about-definition = what was written: names resolved, functions inlined
state-stage-about-gtir = what it means: typed, not yet ordered
state-stage-about-oir = when each statement runs
state-stage-about-npir = operations on whole arrays, conditions as masks
state-stage-about-tree = loops and scopes made explicit
state-stage-about-schedule = order, merging and placement chosen
state-stage-about-sdfg = states, maps, tasklets and what moves between them
state-stage-about-loops = loops and statements over elements, as all code generators read them
state-stage-about-kernels = what the blocks and threads of a GPU do, and what the host launches
state-stage-about-python = the loops in plain Python, which runs
state-stage-about-numpy = operations on whole arrays in NumPy, which runs
state-stage-about-c = generated C with OpenMP
state-stage-about-cuda = generated CUDA C++
state-stage-about-wgsl = generated WGSL, as WebGPU and wgpu take it

state-passes-not-started = The program that watches the passes could not be started: { $why }. Pick again to try again.
state-passes-fell-over = The compiler fell over when its passes were watched: { $why }. Your source is safe.
state-passes-none-here = No pass works on this stage. These have passes: { $stages }.

state-side-changes = what changed
state-side-whole = all lines
state-side-before = before it
state-side-after = after it
state-side-stayed = { $n ->
    [one] { $n } line stayed
   *[other] { $n } lines stayed
}

state-remarks-applied = Applied
state-remarks-missed = Not applied
state-remarks-removed = Removed
state-remarks-gone = is not there any more behind this pass
state-remarks-none-here = Nothing is said about this line.

state-problems-fix-old = The text has changed since; the fix comes again with the compiler's answer.
state-problems-which = Problem { $at } of { $of }: { $message }
state-problems-none = There are no problems.

# What a problem's help says in the words of the page.
state-remedy-external = give it a value below, under Inputs, or write a line `# @external { $name } = ...` at the head of the text
state-remedy-input = give it values below, under Inputs, or write a line for `{ $name }` at the head of the text
state-remedy-file = add the file that defines it, write its value in place (`{ $name } = 1.0`), or import it `from __externals__` and give it under Inputs
state-remedy-stencil = choose one in the list at the top, or click into one
