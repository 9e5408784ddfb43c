# The frame of the page: views, keys, pages of the manual.

state-tab-code = Code
state-tab-stages = Stages
state-tab-result = Result
state-tab-learn = Learn

state-below-problems = Problems
state-below-inputs = Inputs
state-below-output = Output

state-key-run = run what is chosen
state-key-run-runner = run on the runner
state-key-compare = run both and compare
state-key-stop = stop
state-key-share = share a link
state-key-save = nothing: your text is kept as you type
state-key-save-said = Your text is kept in this browser as you type; Share makes a link of it.
state-key-editor = go to the editor
state-key-stages = go to the stages
state-key-result = go to the result
state-key-next-pane = next pane
state-key-previous-pane = previous pane
state-key-next-problem = next problem
state-key-previous-problem = previous problem
state-key-fix = mend the problem at the caret
state-key-remarks = what the compiler did with the line of the caret
state-key-wrap = break long lines, or let them run on
state-key-next-stage = next stage
state-key-previous-stage = previous stage
state-key-next-pass = next pass of the stage
state-key-previous-pass = previous pass of the stage
state-key-next-change = next pass that changed something
state-key-previous-change = previous pass that changed something
state-key-step = one time step
state-key-restart = back to the first time step
state-key-next-level = next level of the field
state-key-previous-level = previous level of the field
state-key-which = result A, B, or their difference
state-key-inputs = fold and unfold the inputs
state-key-help = this help

# Pages of the manual: their titles, and what they tell.
state-manual-language = The language
state-manual-about-language = What a stencil may say, and what it means
state-manual-diagnostics = Diagnostics
state-manual-about-diagnostics = Each error and warning, with an example and a remedy
state-manual-math = Elementary functions
state-manual-about-math = exp, log, sin and the others: methods, accuracy, special values
state-manual-schedule = Passes and schedules
state-manual-about-schedule = What the compiler decides, how to watch it and how to pin it
state-manual-gpu = GPUs
state-manual-about-gpu = How kernels are made and launched, and what can go wrong
state-manual-openmp = The C of openmp
state-manual-about-openmp = Building the generated C by hand
state-manual-lessons = Writing lessons
state-manual-about-lessons = Courses are data: texts, checks and drawings, for your own students
state-manual-api = The runner's interface
state-manual-about-api = HTTP addresses, events, errors and limits
state-manual-no-page = the manual has no page `{ $page }`
state-key-ctrl = Ctrl
state-key-shift = Shift
