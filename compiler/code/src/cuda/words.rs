//! Names in kernels as CUDA writes them: symbols, sums, elements; and the parameters that these need.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::{Param, is_along_i, lengths, memory};
use crate::c_family::binding::{ATOM, PREFIX, TERNARY};
use crate::c_family::expression::{self, PrecedenceText, Wording, at_least};
use crate::elements::{self, Indices};
use crate::entity::{Handle, Namer, SideTable};
use crate::expr::Expr;
use crate::kernel::Kernels;
use crate::kernel::nodes::{ArrayMemory, Kernel};
use crate::loops::nodes::{Array, Element, Integer, Local, Read, Side, Strides, SymbolMeaning};
use crate::space::{Affine, Axis, Size, Symbol};
use crate::types::DType;

/// Words of C++ and of CUDA that a name of the program may be: there it is a name in all other targets.
const RESERVED: &str = "alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand bitor catch \
    char8_t char16_t char32_t class compl concept consteval constexpr constinit const_cast co_await co_return co_yield \
    decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator \
    or or_eq private protected public reflexpr reinterpret_cast requires static_assert static_cast synchronized template \
    this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq \
    threadIdx blockIdx blockDim gridDim warpSize dim3 atomicMin uint int2 int3 int4 float2 float3 float4 double2 signbit";

/// The names of the program's things, as CUDA has them.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) arrays: SideTable<Array, String>,
    pub(super) locals: SideTable<Local, String>,
    pub(super) integers: SideTable<Integer, String>,
    positions: BTreeMap<Symbol, String>,
    /// Of the thread along each axis.
    threads: [String; 3],
    /// The number of the thread in its block; of it in the launch, and of all there.
    pub(super) thread: String,
    pub(super) scratch: [String; 2],
    /// Where in the block's memory an array starts.
    at: SideTable<Array, String>,
    /// The stride of an array along i, as the call has it.
    along_i: SideTable<Array, String>,
    pub(super) slots: String,
}

impl Names {
    pub(super) fn of(kernels: &Kernels) -> Self {
        let program = &kernels.program;
        let is_reserved = |name: &str| RESERVED.split_ascii_whitespace().any(|it| it == name);
        let mut namer = program.namer.clone();
        let plain = |namer: &mut Namer, name: &str| {
            if is_reserved(name) { namer.name(name) } else { name.to_owned() }
        };
        let arrays: SideTable<Array, String> = program
            .arrays
            .iter()
            .map(|(handle, it)| {
                let name = it.name.as_deref().unwrap_or_default();
                let mut suffixes: Vec<String> = (0..it.shape.len()).map(|at| it.suffix(at)).collect();
                suffixes.extend([Side::Below, Side::Above].map(|it| format!("_{}", it.name())));
                let suffixes: Vec<&str> = suffixes.iter().map(String::as_str).collect();
                let name = if is_reserved(name) { namer.family(name, &suffixes) } else { name.to_owned() };
                (handle, name)
            })
            .collect();
        let locals =
            program.locals.iter().map(|(handle, it)| (handle, plain(&mut namer, &it.name))).collect();
        let integers =
            program.integers.iter().map(|(handle, it)| (handle, plain(&mut namer, &it.name))).collect();
        let mut positions = BTreeMap::new();
        for (symbol, meaning) in &program.symbols {
            if let SymbolMeaning::Position(name) = meaning {
                positions.insert(symbol.clone(), plain(&mut namer, name));
            }
        }
        let threads = Axis::ALL.map(|axis| namer.name(&format!("{}_thread", axis.position_name())));
        let thread = namer.name("thread");
        let scratch = ["thread_of_all", "n_of_all"].map(|it| namer.name(it));
        let at = arrays.iter().map(|(handle, it)| (handle, namer.name(&format!("{it}_at")))).collect();
        let along_i =
            arrays.iter().map(|(handle, it)| (handle, namer.name(&format!("{it}_along_i")))).collect();
        let slots = namer.name("slots");
        Self { arrays, locals, integers, positions, threads, thread, scratch, at, along_i, slots }
    }

    pub(super) fn thread_along(&self, axis: Axis) -> &str {
        &self.threads[axis.index()]
    }
}

/// The names of a kernel, and what it names so far.
#[derive(Debug)]
pub(super) struct Words<'p> {
    pub(super) kernels: &'p Kernels,
    pub(super) kernel: &'p Kernel,
    pub(super) names: &'p Names,
    used: RefCell<CudaNameUses>,
}

/// Names that the text of a kernel uses.
#[derive(Clone, Debug, Default)]
pub(super) struct CudaNameUses {
    pub(super) params: BTreeSet<Param>,
    /// Arrays in shared memory, and those of threads.
    pub(super) shared: BTreeSet<Handle<Array>>,
    pub(super) registers: BTreeSet<Handle<Array>>,
    pub(super) scratch: BTreeSet<Handle<Array>>,
    /// Whether it needs the number of the thread in its block.
    pub(super) thread: bool,
}

impl<'p> Words<'p> {
    pub(super) fn new(kernels: &'p Kernels, kernel: &'p Kernel, names: &'p Names) -> Self {
        Self { kernels, kernel, names, used: RefCell::default() }
    }

    pub(super) fn used(&self) -> CudaNameUses {
        self.used.borrow().clone()
    }

    pub(super) fn takes(&self, param: Param) {
        self.used.borrow_mut().params.insert(param);
    }

    pub(super) fn expr(&self, expr: &Expr<Read>) -> String {
        Wording::default().text(expr, &mut |read, dtype| self.read(read, dtype)).0
    }

    fn read(&self, read: &Read, dtype: DType) -> PrecedenceText {
        match read {
            Read::Local(local) => (self.names.locals[*local].clone(), ATOM),
            // An integer of the language has 64 bits, and indices may have fewer.
            Read::Sum(sum) if dtype == DType::Int64 => self.wide(sum),
            Read::Sum(sum) => {
                (format!("({}){}", expression::c_type(dtype), at_least(self.wide(sum), ATOM)), PREFIX)
            }
            // Any byte but 0 is true.
            Read::Element(element) if dtype == DType::Bool && !self.is_value(element.array) => {
                (format!("({} != 0)", self.element(element)), ATOM)
            }
            Read::Element(element) => (self.element(element), ATOM),
        }
    }

    fn wide(&self, sum: &Affine) -> PrecedenceText {
        if let Some(constant) = sum.as_constant() {
            return (constant.to_string(), if constant < 0 { PREFIX } else { ATOM });
        }
        let (text, binding) = expression::affine(sum, 0, &mut |it| format!("(int64_t){}", self.symbol(it)));
        (text, binding.min(PREFIX))
    }

    fn is_value(&self, array: Handle<Array>) -> bool {
        self.kernels.program.arrays[array].is_scalar_argument()
    }

    pub(super) fn symbol(&self, symbol: &Symbol) -> String {
        let program = &self.kernels.program;
        match program.symbols.get(symbol) {
            Some(&SymbolMeaning::Size(axis)) => {
                self.takes(Param::Size(axis));
                axis.name().to_owned()
            }
            Some(&SymbolMeaning::Levels { array, side }) => {
                self.takes(Param::Levels { array, side });
                self.param(&Param::Levels { array, side })
            }
            Some(SymbolMeaning::Position(_)) | None => {
                if self.kernel.outer.contains(symbol) {
                    self.takes(Param::Position(symbol.clone()));
                }
                match self.names.positions.get(symbol) {
                    Some(name) => name.clone(),
                    // The sizes of a domain are known by their names wherever nothing else has them.
                    None => {
                        let axis = Axis::ALL.into_iter().find(|it| it.name() == symbol.name());
                        axis.into_iter().for_each(|it| self.takes(Param::Size(it)));
                        symbol.name().to_owned()
                    }
                }
            }
        }
    }

    /// The name of a parameter.
    pub(super) fn param(&self, param: &Param) -> String {
        let names = self.names;
        match param {
            Param::Pointer(array) | Param::Value(array) => names.arrays[*array].clone(),
            Param::Size(axis) => axis.name().to_owned(),
            Param::Stride { array, dimension } => {
                format!("{}{}", names.arrays[*array], self.kernels.program.arrays[*array].suffix(*dimension))
            }
            Param::Levels { array, side } => format!("{}_{}", names.arrays[*array], side.name()),
            Param::Position(symbol) => names.positions.get(symbol).cloned().unwrap_or_default(),
            Param::SharedAt(array) => names.at[*array].clone(),
            Param::Slots => names.slots.clone(),
        }
    }

    /// The name of a stride along i in the list of parameters; none for other parameters. A module for calls
    /// in which this stride is 1 ignores the passed value.
    pub(super) fn given_along_i(&self, param: &Param) -> Option<&str> {
        match *param {
            Param::Stride { array, dimension }
                if is_along_i(&self.kernels.program.arrays[array], dimension) =>
            {
                Some(&self.names.along_i[array])
            }
            _ => None,
        }
    }

    pub(super) fn affine(&self, sum: &Affine) -> PrecedenceText {
        expression::affine(sum, 0, &mut |symbol| self.symbol(symbol))
    }

    pub(super) fn size(&self, size: &Size) -> PrecedenceText {
        expression::size(size, &mut |symbol| self.symbol(symbol))
    }

    pub(super) fn element(&self, element: &Element) -> String {
        let at = element.array;
        let array = &self.kernels.program.arrays[at];
        let name = &self.names.arrays[at];
        if self.is_value(at) {
            self.takes(Param::Value(at));
            return name.clone();
        }
        let place = memory(self.kernels, at);
        match place {
            Some(ArrayMemory::Global) | None => self.takes(Param::Pointer(at)),
            Some(ArrayMemory::Shared) => drop(self.used.borrow_mut().shared.insert(at)),
            Some(ArrayMemory::Registers) => drop(self.used.borrow_mut().registers.insert(at)),
            Some(ArrayMemory::SharedByThread) => {
                let mut used = self.used.borrow_mut();
                used.shared.insert(at);
                used.thread = true;
            }
            Some(ArrayMemory::Scratch) => {
                self.takes(Param::Pointer(at));
                let mut used = self.used.borrow_mut();
                used.scratch.insert(at);
                used.thread = true;
            }
        }
        let terms = elements::terms(&mut { self }, element, array);
        let linear = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        let of_thread = |number: &str, count: &str| match linear.as_str() {
            "0" => number.to_owned(),
            _ if terms.len() == 1 && !linear.contains(' ') => format!("{linear} * {count} + {number}"),
            _ => format!("({linear}) * {count} + {number}"),
        };
        let [of_all, n_of_all] = &self.names.scratch;
        let index = match place {
            Some(ArrayMemory::SharedByThread) => {
                of_thread(&self.names.thread, &self.kernel.n_threads().max(1).to_string())
            }
            Some(ArrayMemory::Scratch) => of_thread(of_all, n_of_all),
            Some(ArrayMemory::Global | ArrayMemory::Shared | ArrayMemory::Registers) | None => linear,
        };
        format!("{name}[{index}]")
    }
}

impl Indices for &Words<'_> {
    const ATOM: u8 = ATOM;
    const DIFFERENCE: u8 = TERNARY;
    const FACTOR: u8 = ATOM;
    const MASKED: u8 = ATOM;

    fn affine(&mut self, sum: &Affine) -> PrecedenceText {
        Words::affine(self, sum)
    }

    fn integer(&self, integer: Handle<Integer>) -> String {
        self.names.integers[integer].clone()
    }

    /// A number where that is the same for each call.
    fn stride(&mut self, at: Handle<Array>, dimension: usize) -> String {
        let array = &self.kernels.program.arrays[at];
        if array.strides == Strides::Packed {
            let before = lengths(self.kernels, at).into_iter().take(dimension);
            if let Some(stride) = before.into_iter().try_fold(1_i64, |n, it| n.checked_mul(it?.max(0))) {
                return stride.to_string();
            }
        }
        let param = Param::Stride { array: at, dimension };
        let name = self.param(&param);
        self.takes(param);
        name
    }
}
