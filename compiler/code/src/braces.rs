//! Blocks in braces: what C, CUDA and WGSL write alike.

use crate::diag::{ListingWriter, Origin};
use crate::expr::Expr;
use crate::loops::nodes::{Branch, If, Read};

/// A printer of a language with blocks in braces.
pub(crate) trait Braces: Sized {
    fn writer(&mut self) -> &mut ListingWriter;

    /// Begins a part of the listing.
    fn open<'a>(&mut self, kind: &'static str, origins: impl IntoIterator<Item = &'a Origin>);

    /// Writes a statement, broken into lines where it is long.
    fn statement(&mut self, text: &str);

    /// A condition as it stands behind `if`.
    fn asked(text: String) -> String;

    fn condition(&mut self, expr: &Expr<Read>) -> String;

    /// Writes branches, and what is done where none is taken; `body` writes that of one.
    fn branches<'a, B: 'a + ?Sized>(
        &mut self,
        arms: impl Iterator<Item = (&'a Expr<Read>, &'a Origin, &'a B)> + Clone,
        otherwise: Option<&'a B>,
        body: fn(&mut Self, &'a B),
    ) {
        self.open("branch", arms.clone().map(|it| it.1));
        for (at, (condition, _, it)) in arms.enumerate() {
            let condition = self.condition(condition);
            let keyword = if at == 0 { "if" } else { "} else if" };
            self.statement(&format!("{keyword} {} {{", Self::asked(condition)));
            self.indented(|own| body(own, it));
        }
        if let Some(it) = otherwise {
            self.writer().line("} else {");
            self.indented(|own| body(own, it));
        }
        self.writer().line("}");
        self.writer().close();
    }

    /// Writes a loop: the line that begins it, and its body.
    fn in_loop(&mut self, begins: impl FnOnce(&mut Self), body: impl FnOnce(&mut Self)) {
        self.open("loop", []);
        begins(self);
        self.indented(body);
        self.writer().line("}");
        self.writer().close();
    }

    /// Writes what is done only where all of this holds.
    fn once(&mut self, conditions: &[String], body: impl FnOnce(&mut Self)) {
        self.open("once", []);
        match conditions {
            [] => self.writer().line("{"),
            _ => self.writer().line(format_args!("if {} {{", Self::asked(conditions.join(" && ")))),
        }
        self.indented(body);
        self.writer().line("}");
        self.writer().close();
    }

    fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.writer().indent();
        body(self);
        self.writer().dedent();
    }
}

/// The branches of an `if`, as [`Braces::branches`] takes them.
pub(crate) fn arms(
    it: &If,
) -> impl Iterator<Item = (&Expr<Read>, &Origin, &[crate::loops::nodes::Item])> + Clone {
    it.branches.iter().map(|Branch { condition, origin, body }| (condition, origin, body.as_slice()))
}

/// The items for the case that no condition holds; none if there are no items.
pub(crate) fn otherwise<T>(items: &[T]) -> Option<&[T]> {
    Some(items).filter(|it| !it.is_empty())
}
