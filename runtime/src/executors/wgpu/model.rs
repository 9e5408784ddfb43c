//! The model that schedules are made for on a GPU that is reached through Vulkan, which tells its limits and
//! not its parts.
//!
//! Shared memory and threads of a block are what the driver allows. It does not tell the number of
//! multiprocessors, or the speed of memory. These come from the GPU's name where that is known, and else from
//! common values. Nothing is measured, so that one machine has one schedule.

use std::num::NonZero;
use std::thread::available_parallelism;

use isobar_compiler::pass::GpuModel;
use wgpu::{DeviceType, Limits};

/// Parts of names, and the models of these GPUs.
const NAMED: [(&str, GpuModel); 2] = [("H200", GpuModel::H200), ("H100", GpuModel::H100)];

/// The model of an adapter.
pub(super) fn of(name: &str, kind: DeviceType, limits: &Limits) -> GpuModel {
    let known = NAMED.iter().find(|it| name.contains(it.0)).map(|it| it.1);
    let cores = available_parallelism().map_or(1, NonZero::get);
    let base = known.unwrap_or(match kind {
        DeviceType::Cpu => {
            GpuModel { multiprocessors: u32::try_from(cores).unwrap_or(1), ..GpuModel::LAVAPIPE }
        }
        DeviceType::DiscreteGpu | DeviceType::IntegratedGpu | DeviceType::VirtualGpu | DeviceType::Other => {
            GpuModel::WEBGPU
        }
    });
    let of_block = u64::from(limits.max_compute_workgroup_storage_size);
    let threads = limits.max_compute_invocations_per_workgroup;
    GpuModel {
        shared_bytes_of_block: of_block,
        shared_bytes: base.shared_bytes.max(of_block),
        threads_of_block: threads,
        threads: base.threads.max(threads),
        ..base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_driver_allows_goes_before_what_a_name_tells() {
        let limits = Limits {
            max_compute_workgroup_storage_size: 48 << 10,
            max_compute_invocations_per_workgroup: 1024,
            ..Limits::default()
        };
        let named = of("NVIDIA H100 80GB HBM3", DeviceType::DiscreteGpu, &limits);
        assert_eq!(named, GpuModel { shared_bytes_of_block: 48 << 10, ..GpuModel::H100 });
        let other = of("some card", DeviceType::DiscreteGpu, &limits);
        assert_eq!((other.multiprocessors, other.threads_of_block), (24, 1024));
        let of_cores = of("llvmpipe", DeviceType::Cpu, &limits);
        assert_eq!(of_cores.bandwidth_gb, GpuModel::LAVAPIPE.bandwidth_gb);
        assert!(of_cores.multiprocessors >= 1);
    }
}
