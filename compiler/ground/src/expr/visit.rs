//! The one place that knows the shape of an expression.

use super::{Expr, ExprKind, Index, Vertical};

impl<A, T> Expr<A, T> {
    /// The operands, in the order in which they are written.
    pub fn operands(&self) -> impl Iterator<Item = &Expr<A, T>> {
        let (named, listed): ([Option<&Self>; 3], &[Self]) = match &self.kind {
            ExprKind::Literal(_) | ExprKind::Access(_) | ExprKind::Position(_) => ([None; 3], &[]),
            ExprKind::Unary(_, operand) | ExprKind::Cast(_, operand) => ([Some(operand), None, None], &[]),
            ExprKind::Binary(_, left, right) => ([Some(left), Some(right), None], &[]),
            ExprKind::Ternary { condition, then, otherwise } => {
                ([Some(then), Some(condition), Some(otherwise)], &[])
            }
            ExprKind::Call(_, arguments) => ([None; 3], arguments),
            ExprKind::Element(_, index) => ([index.vertical.expr(), None, None], &index.data),
        };
        named.into_iter().flatten().chain(listed)
    }

    /// The operands, to be changed.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr<A, T>> {
        match &mut self.kind {
            ExprKind::Literal(_) | ExprKind::Access(_) | ExprKind::Position(_) => Vec::new(),
            ExprKind::Unary(_, operand) | ExprKind::Cast(_, operand) => vec![operand],
            ExprKind::Binary(_, left, right) => vec![left, right],
            ExprKind::Ternary { condition, then, otherwise } => vec![then, condition, otherwise],
            ExprKind::Call(_, arguments) => arguments.iter_mut().collect(),
            ExprKind::Element(_, index) => index.exprs_mut().collect(),
        }
    }

    /// Whether both compute the same in the same way, wherever they are written.
    pub fn is_same(&self, other: &Self) -> bool
    where
        A: PartialEq,
        T: PartialEq,
    {
        let is_alike = match (&self.kind, &other.kind) {
            (ExprKind::Literal(one), ExprKind::Literal(other)) => one == other,
            (ExprKind::Access(one), ExprKind::Access(other)) => one == other,
            (ExprKind::Position(one), ExprKind::Position(other)) => one == other,
            (ExprKind::Unary(one, _), ExprKind::Unary(other, _)) => one == other,
            (ExprKind::Binary(one, ..), ExprKind::Binary(other, ..)) => one == other,
            (ExprKind::Ternary { .. }, ExprKind::Ternary { .. }) => true,
            (ExprKind::Call(one, _), ExprKind::Call(other, _)) => one == other,
            (ExprKind::Cast(one, _), ExprKind::Cast(other, _)) => one == other,
            (ExprKind::Element(one, at), ExprKind::Element(other, other_at)) => {
                one == other && at.vertical.is_alike(&other_at.vertical)
            }
            _ => false,
        };
        is_alike
            && self.dtype == other.dtype
            && self.operands().count() == other.operands().count()
            && self.operands().zip(other.operands()).all(|(one, other)| one.is_same(other))
    }

    /// Calls `each` for this expression and every one below it, outermost first.
    pub fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Expr<A, T>)) {
        each(self);
        // Written out: every analysis walks every expression, and the iterator took longer than what they look for.
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Access(_) | ExprKind::Position(_) => {}
            ExprKind::Unary(_, operand) | ExprKind::Cast(_, operand) => operand.walk(each),
            ExprKind::Binary(_, left, right) => {
                left.walk(each);
                right.walk(each);
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                then.walk(each);
                condition.walk(each);
                otherwise.walk(each);
            }
            ExprKind::Call(_, arguments) => arguments.iter().for_each(|it| it.walk(each)),
            ExprKind::Element(_, index) => index.exprs().for_each(|it| it.walk(each)),
        }
    }

    /// Calls `each` for every leaf that reads something, from left to right.
    pub fn accesses<'a>(&'a self, each: &mut impl FnMut(&'a A)) {
        self.walk(&mut |expr| {
            if let ExprKind::Access(leaf) | ExprKind::Element(leaf, _) = &expr.kind {
                each(leaf);
            }
        });
    }

    /// Calls `each` for every leaf, to be changed.
    pub fn accesses_mut(&mut self, each: &mut impl FnMut(&mut A)) {
        if let ExprKind::Access(leaf) | ExprKind::Element(leaf, _) = &mut self.kind {
            each(leaf);
        }
        match &mut self.kind {
            ExprKind::Literal(_) | ExprKind::Access(_) | ExprKind::Position(_) => {}
            ExprKind::Unary(_, operand) | ExprKind::Cast(_, operand) => operand.accesses_mut(each),
            ExprKind::Binary(_, left, right) => {
                left.accesses_mut(each);
                right.accesses_mut(each);
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                then.accesses_mut(each);
                condition.accesses_mut(each);
                otherwise.accesses_mut(each);
            }
            ExprKind::Call(_, arguments) => arguments.iter_mut().for_each(|it| it.accesses_mut(each)),
            ExprKind::Element(_, index) => index.exprs_mut().for_each(|it| it.accesses_mut(each)),
        }
    }

    /// The same expression with every leaf replaced, as when a level is lowered.
    pub fn map_accesses<B>(&self, leaf: &mut impl FnMut(&A) -> B) -> Expr<B, T>
    where
        T: Clone,
    {
        self.map_reads(&mut |access, index| match index {
            None => ExprKind::Access(leaf(access)),
            Some(index) => {
                let access = leaf(access);
                ExprKind::Element(access, Box::new(index.map_accesses(leaf)))
            }
        })
    }

    /// The same expression with every read replaced, that of an element together with its index.
    pub fn map_reads<B>(
        &self,
        read: &mut impl FnMut(&A, Option<&Index<A, T>>) -> ExprKind<B, T>,
    ) -> Expr<B, T>
    where
        T: Clone,
    {
        let kind = match &self.kind {
            ExprKind::Literal(value) => ExprKind::Literal(*value),
            ExprKind::Access(access) => read(access, None),
            ExprKind::Element(access, index) => read(access, Some(index)),
            ExprKind::Position(axis) => ExprKind::Position(*axis),
            ExprKind::Unary(op, operand) => ExprKind::Unary(*op, Box::new(operand.map_reads(read))),
            ExprKind::Binary(op, left, right) => {
                let left = Box::new(left.map_reads(read));
                ExprKind::Binary(*op, left, Box::new(right.map_reads(read)))
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                let then = Box::new(then.map_reads(read));
                let condition = Box::new(condition.map_reads(read));
                ExprKind::Ternary { condition, then, otherwise: Box::new(otherwise.map_reads(read)) }
            }
            ExprKind::Call(function, arguments) => {
                ExprKind::Call(*function, arguments.iter().map(|it| it.map_reads(read)).collect())
            }
            ExprKind::Cast(to, operand) => ExprKind::Cast(*to, Box::new(operand.map_reads(read))),
        };
        Expr { kind, dtype: self.dtype.clone(), span: self.span }
    }
}

impl<A, T> Vertical<A, T> {
    /// Whether both mean a level in the same way; the integers of run time aside.
    fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Vertical::Offset(one), Vertical::Offset(other)) => one == other,
            (Vertical::Above(_), Vertical::Above(_)) | (Vertical::At(_), Vertical::At(_)) => true,
            _ => false,
        }
    }

    /// The integer that tells the level at run time.
    #[must_use]
    pub fn expr(&self) -> Option<&Expr<A, T>> {
        match self {
            Vertical::Offset(_) => None,
            Vertical::Above(expr) | Vertical::At(expr) => Some(expr),
        }
    }
}

impl<A, T> Index<A, T> {
    /// The expressions that are evaluated to find the element, in the order in which they are written.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr<A, T>> {
        self.vertical.expr().into_iter().chain(&self.data)
    }

    /// The same, to be changed.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr<A, T>> {
        let vertical = match &mut self.vertical {
            Vertical::Offset(_) => None,
            Vertical::Above(expr) | Vertical::At(expr) => Some(expr),
        };
        vertical.into_iter().chain(&mut self.data)
    }

    /// The same index with every leaf replaced.
    pub fn map_accesses<B>(&self, leaf: &mut impl FnMut(&A) -> B) -> Index<B, T>
    where
        T: Clone,
    {
        self.map_exprs(&mut |it| it.map_accesses(leaf))
    }

    /// The same index with every read replaced, as [`Expr::map_reads`] does.
    pub fn map_reads<B>(
        &self,
        read: &mut impl FnMut(&A, Option<&Index<A, T>>) -> ExprKind<B, T>,
    ) -> Index<B, T>
    where
        T: Clone,
    {
        self.map_exprs(&mut |it| it.map_reads(read))
    }

    fn map_exprs<B>(&self, map: &mut impl FnMut(&Expr<A, T>) -> Expr<B, T>) -> Index<B, T> {
        Index {
            vertical: match &self.vertical {
                Vertical::Offset(by) => Vertical::Offset(*by),
                Vertical::Above(expr) => Vertical::Above(map(expr)),
                Vertical::At(expr) => Vertical::At(map(expr)),
            },
            data: self.data.iter().map(map).collect(),
        }
    }
}
