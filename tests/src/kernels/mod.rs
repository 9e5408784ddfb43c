//! The kernels that speed is measured by, each as a stencil and in C that is written by hand.

pub mod compiled;
pub mod fields;

/// A kernel: its text, and the same by hand.
#[derive(Debug)]
pub struct Kernel {
    pub name: &'static str,
    /// From the root of the repository.
    pub text: &'static str,
    /// The flags of the hand-written version beside [`FLAGS`].
    pub flags: &'static [&'static str],
    /// How far it may be from what the stencil means.
    pub tolerance: Tolerance,
    /// Additions, multiplications and divisions for each point, as the hand-written version does them;
    /// comparisons and choices are none, an elementary function is ten.
    pub operations: f64,
    /// Back ends of gt4py beside the usual ones.
    pub peers: &'static [&'static str],
}

/// The measure by which a result is compared.
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// Bit by bit.
    Bits,
    /// The largest difference as a part of the field's largest value, for 64 and for 32 bits.
    ///
    /// The system's mathematics has other last bits. These decide over one step of Newton's method more or
    /// less, and over a threshold that is reached or not. After such a threshold a whole column differs. So
    /// one of a thousand points may differ by anything, and twenty where there are 32 bits.
    Close([f64; 2]),
}

/// The flags of every hand-written version. `hand.h` needs the interface of generated code.
pub const FLAGS: [&str; 9] = [
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-falign-loops=64",
    "-fopenmp",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-shared",
    "-fPIC",
];

/// The same arithmetic as the stencil's.
pub const EXACT: &str = "-ffp-contract=off";
/// The default of the compiler.
pub const FUSED: &str = "-ffp-contract=fast";

const fn exact(name: &'static str, text: &'static str, operations: f64) -> Kernel {
    Kernel { name, text, flags: &[], tolerance: Tolerance::Bits, operations, peers: &[] }
}

/// All of them.
pub const KERNELS: [Kernel; 9] = [
    exact("copy", "tests/kernels/copy.py", 0.0),
    exact("lap5", "tests/kernels/lap5.py", 5.0),
    exact("lap7", "tests/kernels/lap7.py", 9.0),
    exact("hdiff", "static/gallery/horizontal_diffusion.py", 20.0),
    exact("vadv", "static/gallery/vertical_advection.py", 27.0),
    exact("tridiagonal", "tests/kernels/tridiagonal.py", 8.0),
    exact("ppm", "static/gallery/ppm_transport.py", 19.0),
    Kernel { peers: &["gt:cpu_ifirst unmerged"], ..exact("chain", "tests/kernels/chain.py", 76.0) },
    Kernel {
        // Without it gcc does not call the system's vector mathematics.
        flags: &["-ffast-math"],
        tolerance: Tolerance::Close([1e-9, 1e-4]),
        ..exact("physics", "static/gallery/column_physics.py", 220.0)
    },
];
