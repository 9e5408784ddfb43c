//! How fast a GPU copies within its own memory: a kernel that does nothing else, as those of stencils would.

use std::time::Instant;

use wgpu::{
    BindGroupDescriptor, BindGroupEntry, Buffer, BufferUsages, CommandEncoderDescriptor,
    ComputePassDescriptor, DeviceType, Features, QuerySetDescriptor, QueryType,
};

use super::device::Gpu;
use super::error::WgpuError;
use crate::copying::CopyMeasurement;
use crate::events::milliseconds;
use crate::failure::Failure;

/// Each thread moves 16 bytes.
const TEXT: &str = "
@group(0) @binding(0) var<storage, read> read_from: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> written: array<vec4<u32>>;

@compute @workgroup_size(256)
fn copy(
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(num_workgroups) blocks: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let at = (block.y * blocks.x + block.x) * 256u + thread;
    if at < arrayLength(&read_from) {
        written[at] = read_from[at];
    }
}
";

const THREADS: u64 = 256;
const BYTES_OF_THREAD: u64 = 16;

/// Copies that do not count: the first one waits for the driver's compiler.
const WARM: usize = 2;

/// Where the processor is the GPU: both arrays together are larger than common caches.
const OF_PROCESSOR: u64 = 64 << 20;

pub(super) fn measured(gpu: &Gpu) -> Result<CopyMeasurement, Failure> {
    let limits = &gpu.limits;
    let most = if gpu.kind == DeviceType::Cpu { OF_PROCESSOR } else { CopyMeasurement::MOST_BYTES };
    let mut bytes = most.min(limits.max_buffer_size).min(limits.max_storage_buffer_binding_size);
    bytes -= bytes % (THREADS * BYTES_OF_THREAD);
    let [from, to] = loop {
        match (gpu.storage(bytes), gpu.storage(bytes)) {
            (Ok(from), Ok(to)) => break [from, to],
            (Err(WgpuError::OutOfMemory), _) | (_, Err(WgpuError::OutOfMemory))
                if bytes / 2 >= CopyMeasurement::LEAST_BYTES =>
            {
                bytes /= 2;
            }
            (Err(why), _) | (_, Err(why)) => return Err(why.into()),
        }
    };
    let ms = timed(gpu, [&from, &to], bytes)?;
    let failed = || Failure::Machine(format!("the GPU {} tells no time of a copy", gpu.name));
    CopyMeasurement::of(2 * bytes, ms).ok_or_else(failed)
}

fn timed(gpu: &Gpu, [from, to]: [&Buffer; 2], bytes: u64) -> Result<Vec<f64>, Failure> {
    let module = gpu.module(TEXT, &[("copy".to_owned(), [256, 1, 1])])?;
    let layout = gpu.layout(&[true, false])?;
    let pipeline = gpu.pipeline(&module, "copy", &layout, 0)?;
    let group = gpu.guarded(|| {
        let entries = [(0, from), (1, to)]
            .map(|(binding, it)| BindGroupEntry { binding, resource: it.as_entire_binding() });
        gpu.device.create_bind_group(&BindGroupDescriptor { label: None, layout: &layout, entries: &entries })
    })?;
    let is_timed = gpu.features.contains(Features::TIMESTAMP_QUERY | Features::TIMESTAMP_QUERY_INSIDE_PASSES);
    let of_moments =
        is_timed.then_some(QuerySetDescriptor { label: None, ty: QueryType::Timestamp, count: 2 });
    let moments = of_moments.map(|of| gpu.guarded(|| gpu.device.create_query_set(&of))).transpose()?;
    let resolved = gpu.buffer(16, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC)?;
    let blocks = bytes / (THREADS * BYTES_OF_THREAD);
    let most = u64::from(gpu.limits.max_compute_workgroups_per_dimension);
    let along_x = blocks.min(most).max(1);
    let [x, y] = [along_x, blocks.div_ceil(along_x)].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    let period = f64::from(gpu.queue.get_timestamp_period());
    let mut all = Vec::new();
    let first = Instant::now();
    while CopyMeasurement::go_on(&all, WARM, first) {
        let begun = Instant::now();
        let index = gpu.guarded(|| {
            let mut encoder = gpu.device.create_command_encoder(&CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            if let Some(set) = &moments {
                pass.write_timestamp(set, 0);
            }
            pass.dispatch_workgroups(x, y, 1);
            if let Some(set) = &moments {
                pass.write_timestamp(set, 1);
            }
            drop(pass);
            if let Some(set) = &moments {
                encoder.resolve_query_set(set, 0..2, &resolved, 0);
            }
            gpu.queue.submit([encoder.finish()])
        })?;
        gpu.wait(&index)?;
        let by_clock = milliseconds(begun.elapsed());
        all.push(match &moments {
            Some(_) => {
                let words = gpu.read(&resolved, 0, 16)?;
                let tick = |at: usize| {
                    words[at..at + 8].iter().rev().fold(0_u64, |all, it| all << 8 | u64::from(*it))
                };
                #[expect(clippy::cast_precision_loss, reason = "a copy takes no years")]
                let ticks = tick(8).saturating_sub(tick(0)) as f64;
                ticks * period / 1e6
            }
            None => by_clock,
        });
    }
    Ok(all.split_off(WARM))
}
