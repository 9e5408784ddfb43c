//! Probes the arithmetic of a device: whether its quotients, roots and subnormals are those that IEEE 754
//! prescribes.
//!
//! Vulkan lets a quotient of singles err by 2.5 units in the last place, and says nothing of doubles. It also
//! lets a device take subnormals for zeros. So some hundred pairs are tried when a device is opened. Where
//! quotients or roots differ from this processor's, texts compute them by themselves. Doubles may also lose
//! subnormals, reorder operations, or round wrongly to whole numbers. Then texts use pairs of words instead.
//! No text can repair the losses of singles, and `isobar backends` reports them.

use isobar_compiler::wgsl::{Doubles, WgslOptions};
use wgpu::{BindGroupDescriptor, BindGroupEntry, CommandEncoderDescriptor, ComputePassDescriptor};

use super::device::Gpu;
use super::error::WgpuError;

/// The findings for a type of floats.
#[derive(Clone, Copy, Debug, Default)]
struct FloatFindings {
    /// Whether quotients and roots are rounded correctly.
    divides: bool,
    /// Whether products below the least normal number are not zero.
    has_subnormals: bool,
    /// Whether `(x + c) - c` is computed in this order.
    keeps_order: bool,
    /// Whether numbers are rounded to whole ones whatever their size and sign. Mesa rounds by way of 32 bits
    /// where a processor has no instruction for as many lanes.
    rounds: bool,
}

/// The findings of a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeFindings {
    single: FloatFindings,
    /// None where the device has no doubles.
    double: Option<FloatFindings>,
}

/// Pairs that are tried.
const N: usize = 640;

impl ProbeFindings {
    /// The options of texts for this device.
    pub(super) fn options(self, of: WgslOptions, is_decorated: bool) -> WgslOptions {
        let Self { single, double } = self;
        let is_native = double.is_some_and(|it| it.has_subnormals && it.keeps_order && it.rounds);
        WgslOptions {
            doubles: if is_native { of.doubles } else { Doubles::Pairs },
            keeps: !is_decorated || !single.keeps_order,
            divides: !single.divides || double.is_some_and(|it| is_native && !it.divides),
            ..of
        }
    }

    /// The difference that remains in results, for any text.
    pub(super) fn remark(self) -> Option<String> {
        let flushes = !self.single.has_subnormals;
        flushes.then(|| "it takes the smallest singles (below 1.2e-38) for zero".to_owned())
    }
}

/// Probes a device.
pub(super) fn of(gpu: &Gpu) -> Result<ProbeFindings, WgpuError> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let pairs: Vec<[u64; 2]> = (0..N).map(|_| [random(), random()]).collect();
    let double = if gpu.options.doubles == Doubles::Native { Some(doubles(gpu, &pairs)?) } else { None };
    Ok(ProbeFindings { single: singles(gpu, &pairs)?, double })
}

/// Quotient, root, a product that may be subnormal, a sum less one part, and two ways to round: of each pair.
fn text(of: &str, suffix: &str, large: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> given: array<{of}>;
@group(0) @binding(1) var<storage, read_write> found: array<{of}>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let n = id.x;
  if n < {N}u {{
    let a = given[6u * n];
    let b = given[6u * n + 1u];
    let small = given[6u * n + 2u];
    let whole = given[6u * n + 4u];
    found[6u * n] = a / b;
    found[6u * n + 1u] = sqrt(abs(a));
    found[6u * n + 2u] = small * 0.5{suffix};
    found[6u * n + 3u] = (given[6u * n + 3u] + {large}) - {large};
    found[6u * n + 4u] = trunc(whole);
    found[6u * n + 5u] = floor(whole);
  }}
}}
"
    )
}

fn run(gpu: &Gpu, text: &str, given: &[u8]) -> Result<Vec<u8>, WgpuError> {
    let module = gpu.module(text, &[("main".to_owned(), [64, 1, 1])])?;
    let layout = gpu.layout(&[true, false])?;
    let pipeline = gpu.pipeline(&module, "main", &layout, 0)?;
    let bytes = given.len() as u64;
    let (from, to) = (gpu.storage(bytes)?, gpu.storage(bytes)?);
    gpu.write(&from, 0, given)?;
    gpu.guarded(|| {
        let entries = [&from, &to];
        let entries: Vec<_> = (0..)
            .zip(entries)
            .map(|(binding, it)| BindGroupEntry { binding, resource: it.as_entire_binding() })
            .collect();
        let group = gpu.device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        let mut encoder = gpu.device.create_command_encoder(&CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(N.div_ceil(64).try_into().unwrap_or(1), 1, 1);
        }
        gpu.queue.submit([encoder.finish()]);
    })?;
    gpu.read(&to, 0, bytes)
}

/// Compares the results of a device with those of this processor, for a type of floats.
macro_rules! tried {
    ($(#[$lint:meta])? $name:ident, $float:ty, $bits:ty, $suffix:literal, $mantissa:literal, $large:literal) => {
        $(#[$lint])?
        fn $name(gpu: &Gpu, pairs: &[[u64; 2]]) -> Result<FloatFindings, WgpuError> {
            let bytes = size_of::<$float>();
            let least = <$float>::MIN_POSITIVE;
            let mut given: Vec<$float> = Vec::with_capacity(6 * N);
            for (n, &[x, y]) in pairs.iter().enumerate() {
                // Normal numbers of any mantissa whose quotient is normal as well.
                let exponent = |bits: u64| {
                    (((bits >> 3) % 64) as $bits + (<$float>::MAX_EXP as $bits - 32)) << $mantissa
                };
                let normal = |bits: u64| {
                    <$float>::from_bits(((bits as $bits) & ((1 << $mantissa) - 1)) | exponent(bits))
                };
                let [a, b] = [normal(x), normal(y)];
                let whole = [-0.0, -0.5, a, -b * 1_048_576.0][n % 4];
                given.extend([a, b, least * (1.0 + (a / 2.0).fract()), 1.0 + a.fract() / 3.0, whole, 0.0]);
            }
            let sent: Vec<u8> = given.iter().flat_map(|it| it.to_le_bytes()).collect();
            let found = run(gpu, &text(stringify!($float), $suffix, concat!($large, $suffix)), &sent)?;
            let large: $float = $large.parse().unwrap_or(1.0);
            let mut exact =
                FloatFindings { divides: true, has_subnormals: true, keeps_order: true, rounds: true };
            for (given, found) in given.chunks(6).zip(found.chunks(6 * bytes)) {
                let is = |at: usize, expected: $float| {
                    found[at * bytes..(at + 1) * bytes] == expected.to_le_bytes()
                };
                exact.divides &= is(0, given[0] / given[1]) && is(1, given[0].abs().sqrt());
                exact.has_subnormals &= is(2, given[2] * 0.5);
                exact.keeps_order &= is(3, (given[3] + large) - large);
                exact.rounds &= is(4, given[4].trunc()) && is(5, given[4].floor());
            }
            Ok(exact)
        }
    };
}

tried!(
    #[expect(clippy::cast_possible_truncation, reason = "any bits do")]
    singles,
    f32,
    u32,
    "f",
    23,
    "1048576.0"
);
tried!(doubles, f64, u64, "lf", 52, "4503599627370496.0");
