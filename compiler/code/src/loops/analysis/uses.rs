//! The names that a piece of code takes from around it.

use std::collections::BTreeSet;

use super::super::nodes::{
    Array, DimensionIndex, Element, Item, Program, Read, Side, Strides, StripPart, SymbolMeaning, Target,
};
use crate::entity::Handle;
use crate::expr::Expr;
use crate::space::{Affine, Size, Symbol};

/// The names that a piece of code takes from around it.
///
/// A generated function starts with the names that it takes from its frame. It takes none that it does not
/// use: compilers warn about these, and readers wonder.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Arrays and arguments.
    pub arrays: BTreeSet<Handle<Array>>,
    /// Sizes of the domain, by axis.
    pub sizes: BTreeSet<usize>,
    /// An array's strides along a dimension.
    pub strides: BTreeSet<(Handle<Array>, usize)>,
    /// The levels that an array has beside those of the domain.
    pub levels: BTreeSet<(Handle<Array>, Side)>,
    /// Positions of loops.
    pub positions: BTreeSet<Symbol>,
}

impl Uses {
    /// Collects the names that all the items take together.
    #[must_use]
    pub fn of_all(program: &Program, items: &[Item]) -> Self {
        let mut uses = Self::default();
        super::super::visit::walk(items, &mut |item| uses.add(program, item));
        uses
    }

    /// Adds the names that an item itself takes, without the blocks inside.
    fn add(&mut self, program: &Program, item: &Item) {
        item.each_expr(&mut |expr| self.expr(program, expr));
        item.each_size(&mut |size| self.size(program, size));
        match item {
            Item::Assign(it) => {
                if let Target::Element(element) = &it.target {
                    self.element(program, element);
                }
            }
            Item::Launch(it) => self.positions.extend(it.outer.iter().cloned()),
            Item::Checked(it) => it.trap.cell.iter().for_each(|it| self.affine(program, it)),
            Item::While(it) => it.trap.cell.iter().for_each(|it| self.affine(program, it)),
            Item::Strips(it) => it.parts.iter().for_each(|part| match part {
                StripPart::Lanes(_) | StripPart::Branch(_) => {}
                StripPart::While(it) => it.trap.cell.iter().for_each(|it| self.affine(program, it)),
            }),
            Item::Declare(_) | Item::For(_) | Item::If(_) | Item::Barrier => {}
        }
    }

    fn expr(&mut self, program: &Program, expr: &Expr<Read>) {
        expr.accesses(&mut |read| match read {
            Read::Element(it) => self.element(program, it),
            Read::Local(_) => {}
            Read::Sum(sum) => self.affine(program, sum),
        });
    }

    /// An index that is always 0 needs no stride. Neither does the first dimension of a packed array, since
    /// its elements lie side by side.
    fn element(&mut self, program: &Program, element: &Element) {
        self.arrays.insert(element.array);
        let is_packed = program.arrays[element.array].strides == Strides::Packed;
        for (dimension, at) in element.index.iter().enumerate() {
            let sum = match at {
                DimensionIndex::Known(sum) => sum,
                DimensionIndex::Found { shift, .. } => shift,
            };
            self.affine(program, sum);
            let is_start = matches!(at, DimensionIndex::Known(sum) if sum.as_constant() == Some(0));
            if !(is_start || is_packed && dimension == 0) {
                self.strides.insert((element.array, dimension));
            }
        }
    }

    fn size(&mut self, program: &Program, size: &Size) {
        match size {
            Size::Affine(sum) => self.affine(program, sum),
            Size::Min(parts) | Size::Max(parts) => parts.iter().for_each(|it| self.size(program, it)),
        }
    }

    /// Each symbol by its meaning.
    fn affine(&mut self, program: &Program, sum: &Affine) {
        for (symbol, _) in sum.terms() {
            match program.symbols.get(symbol) {
                Some(SymbolMeaning::Size(axis)) => {
                    self.sizes.insert(axis.index());
                }
                Some(&SymbolMeaning::Levels { array, side }) => {
                    self.levels.insert((array, side));
                }
                Some(SymbolMeaning::Position(_)) | None => {
                    self.positions.insert(symbol.clone());
                }
            }
        }
    }
}
