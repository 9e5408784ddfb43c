//! The limits of the machine: how fast it copies, and how fast it computes.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow};
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::call::signature::Signature;
use isobar_compiler::space::Domain;
use isobar_compiler::types::{DType, Value};
use isobar_runner::backends::foreign::ForeignLibrary;
use isobar_tests::kernels::compiled::{Compiled, by_hand};
use isobar_tests::kernels::{EXACT, FUSED};

/// Elements of a row that is copied.
const ROW: i64 = 4096;

/// Operations of one turn of `peak.c` for each element of a cache line.
const TURN: f64 = 2.0 * 16.0 * 1000.0;
const TURNS: i64 = 100;

/// Copies, and computes.
#[derive(Debug)]
pub(crate) struct Baseline {
    signature: Signature,
    copies: [ForeignLibrary; 2],
    peaks: [ForeignLibrary; 2],
    precision: u32,
}

/// How data is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copy {
    /// Through the caches.
    Plain,
    /// Past them.
    Streamed,
}

impl Baseline {
    /// `copy` is the kernel of that name, of the type that is meant.
    pub(crate) fn new(copy: &Compiled, folder: &Path) -> Result<Self> {
        let precision = copy.precision;
        let copies = ["-DSTREAM_FROM=UINT64_MAX", "-DSTREAM_FROM=0"];
        let copies = copies.map(|flag| by_hand("copy", precision, &[EXACT, flag], folder));
        let peaks = [EXACT, FUSED].map(|flag| by_hand("peak", precision, &[flag], folder));
        let [plain, streamed] = copies;
        let [exact, fused] = peaks;
        let signature = copy.signature.clone();
        Ok(Self { signature, copies: [plain?, streamed?], peaks: [exact?, fused?], precision })
    }

    fn launch(&self, domain: Domain) -> Launch {
        let dtype = if self.precision == 32 { DType::Float32 } else { DType::Float64 };
        let shape = [domain.i, domain.j, domain.k].map(|it| usize::try_from(it).unwrap_or(1));
        let mut array = Array::zeros(dtype, &shape);
        // Pages that were never written are all the same page.
        for at in (0..array.elements.len()).step_by(256) {
            array.elements.set(at, Value::Float64(1.0).cast(dtype));
        }
        let field = || Argument::Field(FieldArgument { array: array.clone(), origin: [0; 3] });
        Launch { domain, arguments: vec![field(), field()] }
    }

    /// Two arrays that have so many bytes together.
    pub(crate) fn to_copy(&self, bytes: u64) -> Launch {
        let row = u64::try_from(ROW).unwrap_or(1) * if self.precision == 32 { 4 } else { 8 };
        let rows = i64::try_from((bytes / 2).div_ceil(row).max(1)).unwrap_or(1);
        self.launch(Domain::new(ROW, rows, 1))
    }

    /// Copies one array of `launch` to the other.
    pub(crate) fn copy(&self, how: Copy, launch: &mut Launch, threads: u32) -> Result<(), String> {
        let code = match how {
            Copy::Plain => self.copies[0],
            Copy::Streamed => self.copies[1],
        };
        code.call(&self.signature, &[0, 1], launch, threads)
    }

    /// Operations per second, in billions: without contraction, and with it.
    pub(crate) fn peak(&self, threads: u32) -> Result<[f64; 2]> {
        let mut launch = self.launch(Domain::new(8, 1, 1));
        let in_line = if self.precision == 32 { 16.0 } else { 8.0 };
        let mut best = [0.0_f64; 2];
        for _ in 0..15 {
            for (code, best) in self.peaks.iter().zip(&mut best) {
                launch.domain = Domain::new(8, 1, TURNS);
                let begun = Instant::now();
                code.call(&self.signature, &[0, 1], &mut launch, threads).map_err(|why| anyhow!(why))?;
                #[expect(clippy::cast_precision_loss, reason = "they are few")]
                let operations = TURN * TURNS as f64 * in_line * f64::from(threads);
                *best = best.max(operations / begun.elapsed().as_secs_f64() / 1e9);
            }
        }
        Ok(best)
    }
}
