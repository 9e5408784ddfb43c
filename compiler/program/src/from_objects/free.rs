//! Values of the caller's without a type: their first use tells it.

use isobar_ground::diag::Span;

use super::graph::GraphParam;
use super::values::ObjectValue;
use super::{ObjectReader, Reading};
use crate::document::nodes::{FieldEntry, RoleEntry, ScalarEntry, SizeEntry};

/// Entries of a document.
type NamedEntries<T> = Vec<(String, T)>;

/// A field or a scalar that a path became.
#[derive(Clone, Debug)]
pub(super) struct FreeValue {
    /// Its name in the document.
    pub(super) name: String,
    pub(super) kind: GraphParam,
}

impl ObjectReader<'_> {
    /// The field or number that a path stands for, as `kind` needs it.
    pub(super) fn free(&mut self, path: &str, kind: &GraphParam, at: Span) -> Reading<ObjectValue> {
        let value = |it: &FreeValue| match it.kind.axes {
            Some(_) => ObjectValue::Field { name: it.name.clone(), data_index: Vec::new() },
            None => ObjectValue::Scalar(it.name.clone()),
        };
        if let Some(known) = self.free.get(path) {
            if known.kind == *kind || known.kind.axes.is_none() && kind.axes.is_none() {
                return Ok(value(known));
            }
            let why = format!("it was {} before, and {} is needed here", told(&known.kind), told(kind));
            return Err(self.refused(&format!("`{path}`"), &why, at));
        }
        // A number has the type of its annotation: a stencil takes it in its own one.
        let hint = self.graph.hints.get(path).and_then(|it| it.kind.clone());
        let kind = match hint.filter(|it| it.axes.is_none() && kind.axes.is_none()) {
            Some(hint) => hint,
            None => kind.clone(),
        };
        let letters = path.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' });
        let mut name: String = letters.collect();
        while self.is_taken(&name) {
            name.push('_');
        }
        let made = FreeValue { name, kind };
        let found = value(&made);
        self.free.insert(path.to_owned(), made);
        Ok(found)
    }

    /// The same for an operand, which is a number where nothing tells that it is a field.
    pub(super) fn free_number(&mut self, value: ObjectValue, dtype: &str, at: Span) -> Reading<ObjectValue> {
        let ObjectValue::Free(path) = &value else { return Ok(value) };
        if let Some(known) = self.free.get(path) {
            let kind = known.kind.clone();
            return self.free(path, &kind, at);
        }
        // An annotation may say that it is a field.
        let hint = self.graph.hints.get(path).and_then(|it| it.kind.clone());
        let number = || GraphParam { dtype: dtype.to_owned(), axes: None, data_dims: Vec::new() };
        self.free(path, &hint.unwrap_or_else(number), at)
    }

    /// The same for a field, where nothing else is told.
    pub(super) fn free_field(&mut self, value: ObjectValue, at: Span) -> Reading<ObjectValue> {
        let ObjectValue::Free(path) = &value else { return Ok(value) };
        let known = self.free.get(path).map(|it| it.kind.clone());
        let hint = self.graph.hints.get(path).and_then(|it| it.kind.clone()).filter(|it| it.axes.is_some());
        let kind = known.or(hint).unwrap_or_else(|| GraphParam {
            dtype: "float64".to_owned(),
            axes: Some("IJK".to_owned()),
            data_dims: Vec::new(),
        });
        self.free(path, &kind, at)
    }

    fn is_taken(&self, name: &str) -> bool {
        let is_of_graph = self.graph.scalars.get(name).is_some()
            || self.graph.fields.get(name).is_some()
            || self.graph.stencils.get(name).is_some();
        is_of_graph
            || ["i", "j", "k", "I", "J", "K"].contains(&name)
            || self.free.values().any(|it| it.name == name)
    }

    /// The entries of a document for what callers give: in the order of the hints, and then of their paths.
    pub(super) fn free_entries(&self) -> (NamedEntries<FieldEntry>, NamedEntries<ScalarEntry>) {
        let (mut fields, mut scalars) = (Vec::new(), Vec::new());
        let halo = i64::from(self.graph.grid.halo);
        let hints = &self.graph.hints.0;
        let position = |path: &str| hints.iter().position(|it| it.0 == path).unwrap_or(hints.len());
        let mut all: Vec<_> = self.free.iter().collect();
        all.sort_by_key(|it| position(it.0));
        for (path, FreeValue { name, kind }) in all {
            let role = RoleEntry::Argument;
            let at = self.graph.hints.get(path).and_then(|it| it.at.clone());
            let Some(axes) = &kind.axes else {
                let dtype = kind.dtype.clone();
                scalars.push((name.clone(), ScalarEntry { role, dtype, value: None, init: None, at }));
                continue;
            };
            let sizes = axes.chars().map(|it| match it {
                'K' => SizeEntry::Text("K+1".to_owned()),
                other => SizeEntry::Text(format!("{other}+{}", 2 * halo + 1)),
            });
            let data = kind.data_dims.iter().map(|it| SizeEntry::Number((*it).into()));
            let entry = FieldEntry {
                role: Some(role),
                dtype: Some(kind.dtype.clone()),
                axes: Some(axes.clone()),
                shape: Some(sizes.chain(data).collect()),
                origin: Some(axes.chars().map(|it| if it == 'K' { 0 } else { halo }).collect()),
                at,
                ..FieldEntry::default()
            };
            fields.push((name.clone(), entry));
        }
        (fields, scalars)
    }
}

fn told(kind: &GraphParam) -> String {
    match &kind.axes {
        Some(axes) => format!("a field along {axes} of {}", kind.dtype),
        None => format!("a number of type {}", kind.dtype),
    }
}
