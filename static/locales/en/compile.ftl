# Why a run in this tab, or a question about its fields, has no result; and how a GPU of the browser computed.

compile-has-errors = the text has errors
compile-stopped = the run was stopped
compile-too-large = the fields of this run take { $needed } MiB, and a tab has { $most } MiB for them; choose a smaller domain
compile-scalar-is-no-number = a scalar is no number
compile-scalar-unusable = a scalar cannot be used
compile-not-callable = the stencil cannot be called so
compile-generator = the generator `{ $text }` of `{ $field }` is not understood: { $said }
compile-trap = line { $line }: { $said }
compile-trap-in-step = line { $line }: { $said } in step { $step }
compile-index-leaves = an index that is computed here leaves its field, or a `while` does not end
compile-no-webgpu = this browser has no WebGPU; its own pages tell how to turn it on, and Chrome, Edge, Firefox and Safari of today have it on most machines
compile-no-gpu = this browser has WebGPU, and finds no GPU for it on this machine
compile-gpu-lacks = the WebGPU of this browser has no `{ $name }`
compile-gpu-refused = the GPU refused: { $said }
compile-gpu-refused-name = the GPU refused `{ $name }`: { $said }
compile-gpu-lost = the GPU was lost: { $said }
compile-too-many-arrays = the stencil has { $arrays } kinds of arrays, and this GPU lets a kernel use { $most } buffers
compile-no-immediates = this stencil needs a launch for each level, which this browser cannot tell kernels apart by; its immediates are missing
compile-gpu-fast = fast: every f64 is an f32, and no bits are promised
compile-gpu-exact = exact: f64 as pairs of words, the bits of debug
compile-gpu-nameless = a GPU without a name
compile-not-shown = `{ $field }` cannot be shown: { $said }
compile-in-one-only = `{ $field }` is in one of the two results only; run both again
compile-nothing-to-compare = there are no two results to compare yet
compile-part-missing = a part of the compiler could not be loaded; it is asked for again when it is needed
