//! CUDA that is written by hand: its texts, how its arrays lie, and what it is launched with.
//!
//! Rows lie as suits it, which is no part of what a stencil asks for: with a margin on both sides, beginning at whole
//! lines. Fields are copied there and back.

use anyhow::{Context, Result, bail, ensure};
use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_compiler::types::Value;

/// The text before each kernel, as before generated ones: types, and the words that `tests/emulation` defines
/// otherwise.
const PRELUDE: &str = include_str!("../../../shaders/prelude.cuh");

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub struct Hand {
    /// As measurements call the stencil.
    pub name: &'static str,
    text: &'static str,
    /// The parameters that are fields of three axes, in the order of the kernel; the last one is written.
    fields: &'static [&'static str],
    scalar: &'static str,
}

/// All of them.
pub const HAND: [Hand; 2] = [
    Hand {
        name: "hdiff",
        text: include_str!("../../gpu/hdiff.cu"),
        fields: &["q", "coeff", "q_out"],
        scalar: "alpha",
    },
    Hand {
        name: "vadv",
        text: include_str!("../../gpu/vadv.cu"),
        fields: &["u", "w", "u_tendency", "u_new"],
        scalar: "dt",
    },
];

/// Elements on both sides of each row, and rows beyond the first and the last. Kernels may read all of them.
const MARGIN: i64 = 16;
const ROWS: i64 = 2;

/// An argument of a launch: a number, or so many bytes behind the start of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    Bits(u64),
    Buffer { at: usize, byte: u64 },
}

/// A launch, and the memory that it needs.
#[derive(Clone, Debug)]
pub struct Planned {
    pub kernel: String,
    pub blocks: [u32; 3],
    pub threads: [u32; 3],
    pub shared_bytes: u32,
    pub arguments: Vec<Given>,
    pub buffers: Vec<Vec<u8>>,
    /// The one that is written, and the argument that it stands for.
    written: (usize, usize),
    lying: Lying,
}

/// How its arrays lie, in elements.
#[derive(Clone, Copy, Debug)]
struct Lying {
    domain: Domain,
    stride_j: i64,
    stride_k: i64,
    size: usize,
}

impl Lying {
    fn of(domain: Domain, size: usize) -> Self {
        let stride_j = (domain.i + 2 * MARGIN + MARGIN - 1) / MARGIN * MARGIN;
        Self { domain, stride_j, stride_k: stride_j * (domain.j + 2 * ROWS), size }
    }

    /// Where a point lies.
    fn at(&self, [i, j, k]: [i64; 3]) -> Result<usize> {
        Ok(usize::try_from(MARGIN + i + (j + ROWS) * self.stride_j + k * self.stride_k)? * self.size)
    }

    fn bytes(&self) -> Result<usize> {
        Ok(usize::try_from(self.stride_k * self.domain.k)? * self.size)
    }
}

impl Hand {
    /// The one for a stencil.
    #[must_use]
    pub fn of(name: &str) -> Option<&'static Hand> {
        HAND.iter().find(|it| it.name == name)
    }

    /// Returns the text that NVRTC compiles.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{PRELUDE}\n{}", self.text)
    }

    /// The names of its kernels, for doubles first.
    #[must_use]
    pub fn kernels(&self) -> [String; 2] {
        ["f64", "f32"].map(|it| format!("{}_{it}", self.name))
    }

    /// How it is launched in the place of the stencil.
    ///
    /// # Errors
    ///
    /// Where the launch is another stencil's, or too large for it.
    pub fn planned(&self, compilation: &Compilation, launch: &Launch, precision: u32) -> Result<Planned> {
        let signature = compilation.front.signature.as_ref().context("there is no signature")?;
        let domain = launch.domain;
        let size = if precision == 64 { 8 } else { 4 };
        let lying = Lying::of(domain, size);
        ensure!(lying.stride_k * domain.k < 1 << 31, "the domain has too many elements");
        let position = |name: &str| {
            let found = signature.params.iter().position(|it| it.name == name);
            found.with_context(|| format!("there is no `{name}`"))
        };
        let field = |name: &str| match &launch.arguments[position(name)?] {
            Argument::Field(field) => Ok(field),
            Argument::Scalar(_) | Argument::Unused => bail!("`{name}` is no field"),
        };
        let mut buffers = Vec::new();
        let mut arguments = Vec::new();
        for name in self.fields {
            arguments.push(Given::Buffer { at: buffers.len(), byte: lying.at([0, 0, 0])? as u64 });
            buffers.push(laid_out(field(name)?, lying)?);
        }
        let written = (buffers.len() - 1, position(self.fields[self.fields.len() - 1])?);
        let Argument::Scalar(scalar) = launch.arguments[position(self.scalar)?] else {
            bail!("`{}` is no scalar", self.scalar)
        };
        let scalar = Given::Bits(bits(scalar)?);
        let int = |it: i64| Ok::<Given, anyhow::Error>(Given::Bits(u64::from(u32::try_from(it)?)));
        let blocks = |n: i64, of: i64| u32::try_from((n + of - 1) / of);
        let Domain { i, j, k } = domain;
        let (shape, shared_bytes) = if self.name == "hdiff" {
            // 16 bytes for each thread of a warp; blocks of four levels.
            let along_i = 32 * 16 / size as i64;
            let rows = if i * j >= 400 * 400 { 16 } else { 8 };
            arguments.extend([scalar, int(i)?, int(j)?, int(k)?]);
            arguments.extend([int(lying.stride_j)?, int(lying.stride_k)?, int(rows)?]);
            (([blocks(i, along_i)?, blocks(j, rows)?, blocks(k, 4)?], [32, 4, 1]), 0)
        } else {
            ensure!(k >= 2, "there are two levels at least");
            let column = field("rdz")?;
            let last = arguments.pop().context("it has fields")?;
            arguments.push(Given::Buffer { at: buffers.len(), byte: 0 });
            arguments.push(last);
            buffers.push(levels(column, domain)?);
            arguments.extend([scalar, int(i)?, int(k)?, int(lying.stride_j)?, int(lying.stride_k)?]);
            (([blocks(i, 64)?, u32::try_from(j)?, 1], [64, 1, 1]), u32::try_from(k * 64 * size as i64)?)
        };
        let [kernel, of_f32] = self.kernels();
        let kernel = if precision == 64 { kernel } else { of_f32 };
        let (blocks, threads) = shape;
        Ok(Planned { kernel, blocks, threads, shared_bytes, arguments, buffers, written, lying })
    }
}

impl Planned {
    /// The buffer that the kernel writes.
    #[must_use]
    pub fn written(&self) -> usize {
        self.written.0
    }

    /// Takes what the kernel left in that buffer into the field that it stands for.
    ///
    /// # Errors
    ///
    /// Where the launch is another one.
    pub fn bring(&self, left: &[u8], launch: &mut Launch) -> Result<()> {
        let (position, lying) = (self.written.1, self.lying);
        let Argument::Field(field) = &mut launch.arguments[position] else { bail!("it is no field") };
        let mut bytes = field.array.elements.to_le_bytes();
        let n = usize::try_from(lying.domain.i)? * lying.size;
        for k in 0..lying.domain.k {
            for j in 0..lying.domain.j {
                let to = position_of(field, [0, j, k])? * lying.size;
                let from = lying.at([0, j, k])?;
                bytes[to..to + n].copy_from_slice(&left[from..from + n]);
            }
        }
        field.array.elements = Elements::from_le_bytes(field.array.dtype(), &bytes);
        Ok(())
    }
}

/// Where a point of the domain lies among the elements.
fn position_of(field: &FieldArgument, point: [i64; 3]) -> Result<usize> {
    let index = (0..3).map(|axis| usize::try_from(field.origin[axis] + point[axis]));
    Ok(field.array.position(&index.collect::<Result<Vec<_>, _>>()?))
}

/// A field as the kernel has it: the domain, and around it what there is.
fn laid_out(field: &FieldArgument, lying: Lying) -> Result<Vec<u8>> {
    let Array { shape, strides, elements, .. } = &field.array;
    let &[n_i, n_j, n_k] = &shape[..] else { bail!("the field has not three axes") };
    ensure!(strides.first() == Some(&1), "rows lie otherwise");
    ensure!(field.array.dtype().size_bytes() == lying.size, "the field has other elements");
    let (from, Domain { i, j, k }) = (elements.to_le_bytes(), lying.domain);
    let mut to = vec![0; lying.bytes()?];
    let around = |axis: usize, n: usize, domain: i64, most: i64| {
        let before = field.origin[axis].clamp(0, most);
        let behind = (n as i64 - field.origin[axis] - domain).clamp(0, most);
        -before..domain + behind
    };
    ensure!(n_k as i64 >= field.origin[2] + k, "the field has too few levels");
    let along_i = around(0, n_i, i, MARGIN);
    let n = usize::try_from(along_i.end - along_i.start)? * lying.size;
    for at_k in 0..k {
        for at_j in around(1, n_j, j, ROWS) {
            let point = [along_i.start, at_j, at_k];
            let (first, target) = (position_of(field, point)? * lying.size, lying.at(point)?);
            to[target..target + n].copy_from_slice(&from[first..first + n]);
        }
    }
    Ok(to)
}

/// A field of levels alone.
fn levels(field: &FieldArgument, domain: Domain) -> Result<Vec<u8>> {
    let (bytes, size) = (field.array.elements.to_le_bytes(), field.array.dtype().size_bytes());
    let mut made = Vec::new();
    for k in 0..domain.k {
        let at = field.array.position(&[usize::try_from(field.origin[2] + k)?]) * size;
        made.extend_from_slice(&bytes[at..at + size]);
    }
    Ok(made)
}

fn bits(value: Value) -> Result<u64> {
    match value {
        Value::Float64(it) => Ok(it.to_bits()),
        Value::Float32(it) => Ok(u64::from(it.to_bits())),
        other => bail!("{other} is no float"),
    }
}
