//! Arithmetic of whole arrays, as NumPy has it: a stencil of its own on all elements, whose result is a local.
//!
//! ```text
//! tmp = q[:, :, :] + 2.0        ─▶   call whole_1(a=q, b=2.0, out=whole_1_result)
//! ```

use std::fmt::Write as _;

use isobar_front::frontend::syntax::Operator;
use isobar_ground::diag::Span;

use super::values::ObjectValue;
use super::{ObjectReader, Reading};
use crate::document::Entries;
use crate::document::nodes::{
    ArgumentEntry, FieldEntry, OriginEntry, RoleEntry, SizeEntry, StatementEntry, StencilEntry,
};

/// The file of these stencils.
pub(super) const FILE: &str = "isobar_whole_arrays.py";

/// The fields and stencils that a program needs beside those of the graph.
#[derive(Clone, Debug, Default)]
pub(super) struct WholeArrays {
    pub(super) text: String,
    pub(super) fields: Vec<(String, FieldEntry)>,
    pub(super) stencils: Vec<(String, StencilEntry)>,
}

impl ObjectReader<'_> {
    /// The result of an operation with a field: a new local, or the left side itself where that is changed `in_place`.
    pub(super) fn whole(
        &mut self,
        op: Operator,
        (left, right): (&ObjectValue, &ObjectValue),
        in_place: bool,
        at: Span,
    ) -> Reading<ObjectValue> {
        let symbol = op.symbol();
        let refused = |this: &Self, why: &str| this.refused(&format!("`{symbol}` on whole arrays"), why, at);
        if !matches!(op, Operator::Add | Operator::Sub | Operator::Mul | Operator::Div) {
            return Err(refused(self, "only sums, differences, products and quotients are elementwise here"));
        }
        let mut of: Option<FieldEntry> = None;
        for side in [left, right] {
            let ObjectValue::Field { name, data_index } = side else { continue };
            let Some(entry) = self.field_entry(name).cloned().filter(|_| data_index.is_empty()) else {
                return Err(refused(self, &format!("{} is a part of a field", side.kind())));
            };
            let is_alike = |it: &FieldEntry| {
                (&it.dtype, &it.axes, &it.shape, &it.origin)
                    == (&entry.dtype, &entry.axes, &entry.shape, &entry.origin)
            };
            if of.as_ref().is_some_and(|it| !is_alike(it)) {
                return Err(refused(self, "the two sides differ in type or shape"));
            }
            of = Some(entry);
        }
        let Some(of) = of else { return Err(refused(self, "no side is a field")) };
        let dtype = of.dtype.clone().unwrap_or_default();
        let (axes, shape) = (of.axes.clone().unwrap_or_default(), of.shape.clone().unwrap_or_default());
        if !matches!(dtype.as_str(), "float64" | "float32")
            || shape.len() != axes.len()
            || !axes.starts_with("IJ")
        {
            return Err(refused(self, "this is for fields of floating-point numbers over I and J"));
        }
        let number = self.whole_arrays.stencils.len() + 1;
        let name = format!("whole_{number}");
        let field_type = format!("Field[{axes}, np.{dtype}]");
        let mut args = Vec::new();
        let mut params = Vec::new();
        for (param, side) in [("a", left), ("b", right)] {
            let (kind, argument) = match side {
                ObjectValue::Field { name, .. } => (field_type.clone(), ArgumentEntry::Text(name.clone())),
                other => {
                    let Some(text) = other.scalar_text() else {
                        return Err(refused(self, &format!("{} is no finite number", other.kind())));
                    };
                    (format!("np.{dtype}"), ArgumentEntry::Text(format!("{dtype}({text})")))
                }
            };
            params.push(format!("{param}: {kind}"));
            args.push((param.to_owned(), argument));
        }
        // A field without levels is written at one of them.
        let range = if axes == "IJK" { "PARALLEL), interval(...)" } else { "FORWARD), interval(0, 1)" };
        if self.whole_arrays.text.is_empty() {
            self.whole_arrays.text = "import numpy as np\n".to_owned();
        }
        let _ = write!(
            self.whole_arrays.text,
            "\ndef {name}({}, out: {field_type}):\n    with computation({range}:\n        out = a {symbol} b\n",
            params.join(", ")
        );
        let first = of.origin.clone().unwrap_or_else(|| vec![0; axes.len()]);
        let along = |letter: char| axes.find(letter);
        let origin = ['I', 'J', 'K'].map(|it| along(it).and_then(|at| first.get(at)).map_or(0, |it| -it));
        let domain = ['I', 'J', 'K']
            .map(|it| along(it).and_then(|at| shape.get(at)).cloned().unwrap_or(SizeEntry::Number(1)));
        let stencil = StencilEntry {
            function: format!("{}.{name}", FILE.trim_end_matches(".py")),
            externals: Entries::default(),
            origin: Some(OriginEntry::All(origin)),
            domain: Some(domain),
            at: self.place(at),
        };
        self.whole_arrays.stencils.push((name.clone(), stencil));
        let result = match left {
            ObjectValue::Field { name, .. } if in_place => name.clone(),
            _ if in_place => return Err(refused(self, "the left side is no field")),
            _ => {
                let result = self.unused(&format!("{name}_result"));
                let local = FieldEntry { role: Some(RoleEntry::Local), init: None, at: self.place(at), ..of };
                self.whole_arrays.fields.push((result.clone(), local));
                result
            }
        };
        args.push(("out".to_owned(), ArgumentEntry::Text(result.clone())));
        let entry =
            StatementEntry { call: Some(name), args: Some(Entries(args)), ..StatementEntry::default() };
        self.write(entry, at)?;
        Ok(ObjectValue::Field { name: result, data_index: Vec::new() })
    }

    fn field_entry(&self, name: &str) -> Option<&FieldEntry> {
        let own = self.whole_arrays.fields.iter().find(|it| it.0 == name).map(|it| &it.1);
        self.graph.fields.get(name).or(own)
    }

    /// A name that no field, scalar or stencil of the graph has.
    fn unused(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.graph.scalars.get(&name).is_some() || self.graph.fields.get(&name).is_some() {
            name.push('_');
        }
        name
    }
}
