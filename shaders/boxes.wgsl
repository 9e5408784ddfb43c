// Copies a box of elements between two buffers. Words are copied as they are.

@group(0) @binding(0) var<storage, read> box: array<u32>;
@group(0) @binding(1) var<storage, read> before: array<u32>;
@group(0) @binding(2) var<storage, read_write> after: array<u32>;

// `box` is how many elements there are, how many words one has, and the words at which the first one begins on both sides.
// Then for each dimension, the fastest first: how many points there are, and how many words lie between two of them on
// both sides. Numbers below zero wrap around.
@compute @workgroup_size(256)
fn copy_box(
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(num_workgroups) blocks: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let at = (block.y * blocks.x + block.x) * 256u + thread;
    let words = box[1];
    if at < box[0] * words {
        var rest = at / words;
        var source = box[2] + at % words;
        var place = box[3] + at % words;
        for (var n = 4u; n + 2u < arrayLength(&box); n += 3u) {
            let index = rest % box[n];
            source += index * box[n + 1u];
            place += index * box[n + 2u];
            rest /= box[n];
        }
        after[place] = before[source];
    }
}
