//! Reads and writes of statements: expressions, sums of symbols, and elements where they lie in memory.

use super::super::binding::{ATOM, PREFIX, PRODUCT, PrecedenceText, SUM, called};
use super::super::expression::Wording;
use super::super::memory::{ArrayPlacement, lengths};
use super::{Param, Printer};
use crate::elements::{self, Indices};
use crate::emit::sums::{self, Outermost};
use crate::entity::Handle;
use crate::expr::Expr;
use crate::loops::nodes::{Array, Element, Integer, Read, Strides, SymbolMeaning};
use crate::space::{Affine, Axis, Size, Symbol};
use crate::types::{DType, Value};

impl Printer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr<Read>) -> PrecedenceText {
        let mut wording = std::mem::replace(&mut self.wording, Wording::new(*self.options));
        let text = wording.of(expr, &mut |wording, read, dtype| self.read(wording, read, dtype));
        let mut needs = std::mem::take(&mut self.wording.needs);
        wording.needs.names.append(&mut needs.names);
        wording.needs.formulas.append(&mut needs.formulas);
        self.wording = wording;
        text
    }

    pub(super) fn read(&mut self, wording: &mut Wording, read: &Read, dtype: DType) -> PrecedenceText {
        match read {
            Read::Local(local) => (self.names.locals[*local].clone(), ATOM),
            Read::Sum(sum) => match sum.as_constant() {
                Some(constant) => {
                    let span = crate::diag::Span::default();
                    let kind = crate::expr::ExprKind::Literal(Value::Int64(constant).cast(dtype));
                    let literal: Expr<Read> = Expr { kind, dtype, span };
                    wording.of(&literal, &mut |_, _, _| (String::new(), ATOM))
                }
                None => {
                    let text = self.affine(sum);
                    wording.cast(text, DType::Int32, dtype)
                }
            },
            Read::Element(it) if self.kernels.program.arrays[it.array].is_scalar_argument() => {
                (self.takes(Param::Value(it.array)), ATOM)
            }
            Read::Element(it) => {
                let text = self.element(it);
                wording.loaded(text, dtype)
            }
        }
    }

    pub(super) fn symbol(&mut self, symbol: &Symbol) -> String {
        match self.kernels.program.symbols.get(symbol) {
            Some(&SymbolMeaning::Size(axis)) => self.takes(Param::Size(axis)),
            Some(&SymbolMeaning::Levels { array, side }) => self.takes(Param::Levels { array, side }),
            Some(SymbolMeaning::Position(_)) | None => {
                let kernel = self.at_hand();
                if let Some(at) = kernel.outer.iter().position(|it| it == symbol) {
                    self.used.outer.insert(at);
                }
                match self.names.position(symbol) {
                    Some(name) => name.to_owned(),
                    // The sizes of a domain are known by their names wherever nothing else has them.
                    None => match Axis::ALL.into_iter().find(|it| it.name() == symbol.name()) {
                        Some(axis) => self.takes(Param::Size(axis)),
                        None => symbol.name().to_owned(),
                    },
                }
            }
        }
    }

    pub(super) fn affine(&mut self, sum: &Affine) -> PrecedenceText {
        let (text, outermost) = sums::sum(sum, 0, &mut |it| self.symbol(it));
        let binding = match outermost {
            Outermost::None => ATOM,
            Outermost::Minus => PREFIX,
            Outermost::Times => PRODUCT,
            Outermost::Plus => SUM,
        };
        (text, binding)
    }

    pub(super) fn size(&mut self, size: &Size) -> PrecedenceText {
        let (function, parts) = match size {
            Size::Affine(sum) => return self.affine(sum),
            Size::Min(parts) => ("min", parts),
            Size::Max(parts) => ("max", parts),
        };
        let mut all: Option<PrecedenceText> = None;
        for it in parts {
            let next = self.size(it);
            all = Some(match all {
                Some(all) => called(function, [all, next]),
                None => next,
            });
        }
        all.unwrap_or_else(|| ("0".to_owned(), ATOM))
    }

    /// An element where it lies in memory.
    pub(super) fn element(&mut self, element: &Element) -> String {
        let at = element.array;
        let array = &self.kernels.program.arrays[at];
        let lives = self.lives.get(at).copied().unwrap_or(ArrayPlacement::Global);
        let mut terms = Vec::new();
        if lives.is_in_buffer() {
            terms.push(self.takes(Param::Start(at)));
        }
        let n_before = terms.len();
        terms.extend(elements::terms(self, element, array));
        let own = if terms.len() == n_before { "0".to_owned() } else { terms[n_before..].join(" + ") };
        let start = terms.first().cloned().unwrap_or_default();
        let [of_all, block] = self.names.of_all.clone();
        let text = match lives {
            ArrayPlacement::Global => {
                if terms.is_empty() {
                    "0".to_owned()
                } else {
                    terms.join(" + ")
                }
            }
            ArrayPlacement::Block(_) => own,
            ArrayPlacement::Thread(_) => {
                self.used.own.insert(at);
                own
            }
            ArrayPlacement::BlockByThread(_) => {
                self.used.thread = true;
                let n = self.at_hand().n_threads().max(1);
                format!("({own}) * {n} + {}", self.names.thread)
            }
            ArrayPlacement::OfThreads => {
                self.used.of_all[0] = true;
                format!("{start} + ({own}) * {} + {of_all}", self.names.n_of_all)
            }
            ArrayPlacement::OfBlocks => {
                self.used.of_all[1] = true;
                let size = self.takes(Param::Elements(at));
                format!("{start} + {block} * {size} + {own}")
            }
        };
        let name = self.of_array.get(at).unwrap_or(&self.names.arrays[at]);
        format!("{name}[{text}]")
    }
}

impl Indices for Printer<'_> {
    const ATOM: u8 = ATOM;
    const DIFFERENCE: u8 = SUM;
    const FACTOR: u8 = PRODUCT;
    const MASKED: u8 = PREFIX;

    fn affine(&mut self, sum: &Affine) -> PrecedenceText {
        Printer::affine(self, sum)
    }

    fn integer(&self, integer: Handle<Integer>) -> String {
        self.names.integers[integer].clone()
    }

    /// A number where that is the same for each call.
    fn stride(&mut self, at: Handle<Array>, dimension: usize) -> String {
        let array = &self.kernels.program.arrays[at];
        if array.strides == Strides::Packed {
            let before = lengths(self.kernels, at, self.options).into_iter().take(dimension);
            if let Some(stride) = before.into_iter().try_fold(1_i64, |n, it| n.checked_mul(it?.max(0))) {
                return stride.to_string();
            }
        } else if self.options.is_unit && array.axes.iter().nth(dimension) == Some(Axis::I) {
            return "1".to_owned();
        }
        self.takes(Param::Stride { array: at, dimension })
    }
}
