//! Boxes of elements, copied on the device.

use wgpu::{BindGroupDescriptor, BindGroupEntry, Buffer, CommandEncoderDescriptor, ComputePassDescriptor};

use super::device::{Gpu, PipelineInputs};
use crate::boxes::BoxCopy;
use crate::failure::Failure;
use crate::wanted::ArrayPlane;

const TEXT: &str = include_str!("../../../../shaders/boxes.wgsl");
const THREADS: u64 = 256;

/// Starts a copy of elements of `size` bytes each, which are whole words, between two buffers that differ.
pub(super) fn copy(gpu: &Gpu, buffers: (&Buffer, &Buffer), size: u64, copy: &BoxCopy) -> Result<(), Failure> {
    copy.for_kernels().iter().filter(|it| it.n() > 0).try_for_each(|copy| {
        let dimensions: Vec<[i64; 3]> = copy
            .dimensions
            .iter()
            .rev()
            .map(|it| [i64::try_from(it.n).unwrap_or(i64::MAX), it.from, it.to])
            .collect();
        let [from, to] = [copy.from, copy.to].map(|it| it as u64 * (size / 4));
        put(gpu, buffers, (copy.n() as u64, size / 4), [from, to], &dimensions)
    })
}

/// The elements of a plane, of so many bytes each, which is the device's size: the array begins at a byte of the buffer.
/// They come in the order of the plane's positions.
pub(super) fn cut(
    gpu: &Gpu,
    buffer: &Buffer,
    begins: u64,
    size: u64,
    plane: &ArrayPlane,
) -> Result<Vec<u8>, Failure> {
    let words = size / 4;
    let count = |it: usize| u64::try_from(it).unwrap_or(u64::MAX);
    let (n, first) = (count(plane.n()), begins / 4 + count(plane.first) * words);
    if n == 0 {
        return Ok(Vec::new());
    }
    let mut between = 1;
    let mut dimensions = Vec::new();
    for &[points, distance] in plane.dimensions.iter().rev() {
        let [points, distance] = [points, distance].map(|it| i64::try_from(it).unwrap_or(i64::MAX));
        dimensions.push([points, distance, between]);
        between = between.saturating_mul(points);
    }
    let cut = gpu.storage(n * size)?;
    put(gpu, (buffer, &cut), (n, words), [first, 0], &dimensions)?;
    Ok(gpu.read(&cut, 0, n * size)?)
}

/// Starts the kernel on `n` elements. `firsts` are words of both buffers. A dimension has points, and the distances of
/// neighbours in elements; the first one is the fastest.
fn put(
    gpu: &Gpu,
    (from, to): (&Buffer, &Buffer),
    (n, words): (u64, u64),
    firsts: [u64; 2],
    dimensions: &[[i64; 3]],
) -> Result<(), Failure> {
    // A buffer that can be bound has fewer words than that; a distance below zero wraps around.
    #[expect(clippy::cast_possible_truncation, reason = "a word of a buffer has a number of 32 bits")]
    let low = |it: i64| it as u32;
    let own = [n, words, firsts[0], firsts[1]].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    let size = i64::try_from(words).unwrap_or(1);
    let of_dimensions =
        dimensions.iter().flat_map(|&[n, from, to]| [low(n), low(from * size), low(to * size)]);
    let told: Vec<u8> = own.into_iter().chain(of_dimensions).flat_map(u32::to_le_bytes).collect();
    let program = gpu.program(
        PipelineInputs {
            text: TEXT.to_owned(),
            entries: vec![("copy_box".to_owned(), [256, 1, 1])],
            are_read: vec![true, true, false],
            immediate_bytes: 0,
        },
        None,
    )?;
    let program = program.get()?;
    let of_box = gpu.storage(told.len() as u64)?;
    gpu.write(&of_box, 0, &told)?;
    let blocks = (n * words).div_ceil(THREADS);
    let along_x = blocks.min(u64::from(gpu.limits.max_compute_workgroups_per_dimension)).max(1);
    let [x, y] = [along_x, blocks.div_ceil(along_x)].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    gpu.guarded(|| {
        let bytes = std::num::NonZero::new(told.len() as u64);
        let of = wgpu::BufferBinding { buffer: &of_box, offset: 0, size: bytes };
        let entries = [
            BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(of) },
            BindGroupEntry { binding: 1, resource: from.as_entire_binding() },
            BindGroupEntry { binding: 2, resource: to.as_entire_binding() },
        ];
        let layout = &program.layout;
        let group =
            gpu.device.create_bind_group(&BindGroupDescriptor { label: None, layout, entries: &entries });
        let mut encoder = gpu.device.create_command_encoder(&CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        pass.set_pipeline(&program.pipelines[0]);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(x, y, 1);
        drop(pass);
        gpu.queue.submit([encoder.finish()])
    })?;
    Ok(())
}
