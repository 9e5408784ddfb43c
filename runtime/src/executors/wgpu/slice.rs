//! Planes of fields, cut on the device.

use wgpu::{BindGroupDescriptor, BindGroupEntry, Buffer, CommandEncoderDescriptor, ComputePassDescriptor};

use super::device::{Gpu, PipelineInputs};
use crate::failure::Failure;
use crate::wanted::ArrayPlane;

const TEXT: &str = include_str!("../../../../shaders/slice.wgsl");
const THREADS: u64 = 256;

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
    let mut told = vec![n, words, first];
    for &[points, between] in plane.dimensions.iter().rev() {
        told.extend([count(points), count(between) * words]);
    }
    // A buffer that can be bound has fewer words than that.
    let told: Vec<u8> =
        told.iter().flat_map(|&it| u32::try_from(it).unwrap_or(u32::MAX).to_le_bytes()).collect();
    let program = gpu.program(
        PipelineInputs {
            text: TEXT.to_owned(),
            entries: vec![("slice".to_owned(), [256, 1, 1])],
            are_read: vec![true, true, false],
            immediate_bytes: 0,
        },
        None,
    )?;
    let program = program.get()?;
    let of_plane = gpu.storage(told.len() as u64)?;
    gpu.write(&of_plane, 0, &told)?;
    let cut = gpu.storage(n * size)?;
    let blocks = (n * words).div_ceil(THREADS);
    let along_x = blocks.min(u64::from(gpu.limits.max_compute_workgroups_per_dimension)).max(1);
    let [x, y] = [along_x, blocks.div_ceil(along_x)].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    gpu.guarded(|| {
        let bytes = std::num::NonZero::new(told.len() as u64);
        let of = wgpu::BufferBinding { buffer: &of_plane, offset: 0, size: bytes };
        let entries = [
            BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(of) },
            BindGroupEntry { binding: 1, resource: buffer.as_entire_binding() },
            BindGroupEntry { binding: 2, resource: cut.as_entire_binding() },
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
    Ok(gpu.read(&cut, 0, n * size)?)
}
