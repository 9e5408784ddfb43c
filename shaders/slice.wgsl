// A plane of an array, close together, so that only that is read back. Words are copied as they are.

@group(0) @binding(0) var<storage, read> plane: array<u32>;
@group(0) @binding(1) var<storage, read> whole: array<u32>;
@group(0) @binding(2) var<storage, read_write> cut: array<u32>;

// `plane` is how many elements there are, how many words one has, and the word at which the first one begins; then for
// each dimension, the fastest first, how many points there are and how many words lie between two of them.
@compute @workgroup_size(256)
fn slice(
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(num_workgroups) blocks: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let at = (block.y * blocks.x + block.x) * 256u + thread;
    let words = plane[1];
    if at < plane[0] * words {
        var rest = at / words;
        var source = plane[2] + at % words;
        for (var n = 3u; n + 1u < arrayLength(&plane); n += 2u) {
            source += rest % plane[n] * plane[n + 1u];
            rest /= plane[n];
        }
        cut[at] = whole[source];
    }
}
