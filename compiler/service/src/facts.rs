//! Facts of a front about the names of its text, kept by name so that they outlive the next edit.

use std::collections::BTreeMap;

use super::index::Index;
use isobar_front::oir::nodes::Target;
use isobar_ground::call::signature::{AccessKind, ParamKind};
use isobar_ground::diag::Span;
use isobar_ground::space::{Axis, AxisSet, Extent, Reach};
use isobar_ground::types::{DType, Value};
use isobar_reference::front::Front;

/// Facts about one field, temporary or scalar of a stencil.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// As the levels call it: a local of a function has the call in its name.
    pub name: String,
    pub what: VariableKind,
    pub dtype: DType,
    /// The sizes of the dimensions behind the axes.
    pub data_dims: Vec<u32>,
    /// The statements that touch it, in the order in which they run: each its place, and whether it writes.
    pub uses: Vec<(Span, bool)>,
}

/// The meaning of a name in the levels.
#[derive(Clone, Debug, PartialEq)]
pub enum VariableKind {
    Parameter {
        axes: AxisSet,
        access: AccessKind,
        /// Per axis, what a call must have beyond the compute domain.
        boundary: [Reach; 3],
        /// Points before and after the domain that an array should have.
        halo: [(i64, i64); 3],
    },
    Temporary {
        axes: AxisSet,
        extent: Extent,
        /// How many vertical loops touch it.
        n_loops: usize,
        kept: TemporaryStorage,
    },
    Scalar {
        default: Option<Value>,
    },
}

/// The form of a temporary after the passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporaryStorage {
    /// It has memory of its own.
    Field,
    /// It lives within one point: it takes no memory.
    Local,
    /// Nothing reads it.
    Pruned,
    /// There was no pass yet.
    Unknown,
}

/// The facts of a front, by the function that a name stands in and the name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    known: BTreeMap<(String, String), Vec<Fact>>,
    /// The fewest levels of a domain, of the stencil itself.
    pub min_levels: Option<i64>,
}

impl Facts {
    /// `index` is that of the text that was compiled. None where it was not understood as far as its extents.
    #[must_use]
    pub fn of(front: &Front, index: &Index) -> Option<Self> {
        let signature = front.signature.as_ref()?;
        let oir = front.oir.as_ref()?;
        let extents = front.extents.as_ref()?;
        let mut facts = Self { known: BTreeMap::new(), min_levels: Some(signature.min_levels) };

        let mut uses = vec![Vec::new(); oir.fields.len()];
        let mut loops = vec![Vec::new(); uses.len()];
        let positions: BTreeMap<_, _> = oir.fields.handles().zip(0..).collect();
        let executions = oir.vertical_loops.iter().enumerate().flat_map(|(number, it)| {
            it.sections.iter().flat_map(move |it| it.executions.iter().map(move |it| (number, *it)))
        });
        for (number, execution) in executions {
            for touch in oir.executions[execution].touches() {
                let Target::Field(field) = touch.what else { continue };
                let Some(&at) = positions.get(&field) else { continue };
                uses[at].push((touch.origin.span(), touch.is_write));
                if loops[at].last() != Some(&number) {
                    loops[at].push(number);
                }
            }
        }
        for (at, (handle, field)) in oir.fields.iter().enumerate() {
            let what = match signature.param(&field.name).filter(|_| !field.is_temporary) {
                Some(param) => match &param.kind {
                    ParamKind::Field { axes, boundary, .. } => VariableKind::Parameter {
                        axes: *axes,
                        access: param.access,
                        boundary: *boundary,
                        halo: Axis::ALL.map(|axis| param.kind.halo(axis)),
                    },
                    ParamKind::Scalar { .. } => continue,
                },
                None => VariableKind::Temporary {
                    axes: field.axes,
                    extent: extents.fields.get(handle).copied().unwrap_or_default(),
                    n_loops: loops[at].len(),
                    kept: kept(front, &field.name),
                },
            };
            let uses = std::mem::take(&mut uses[at]);
            let (name, data_dims) = (field.name.clone(), field.data_dims.clone());
            let fact = Fact { name, what, dtype: field.dtype, data_dims, uses };
            facts.add(index, field.span, fact);
        }
        for param in &signature.params {
            if let ParamKind::Scalar { dtype, default } = param.kind {
                let what = VariableKind::Scalar { default };
                let (name, data_dims, uses) = (param.name.clone(), Vec::new(), Vec::new());
                let fact = Fact { name, what, dtype, data_dims, uses };
                facts.add(index, param.span, fact);
            }
        }
        Some(facts)
    }

    /// All that is known about a name of a function: several entries where calls inline it several times.
    #[must_use]
    pub fn get(&self, function: &str, name: &str) -> &[Fact] {
        self.known.get(&(function.to_owned(), name.to_owned())).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, index: &Index, declared: Span, fact: Fact) {
        // The result of a function has no name in the text.
        let Some(found) = index.at(declared.file, declared.start) else { return };
        let symbol = index.scopes.symbol(found.symbol);
        let Some(owner) = symbol.owner else { return };
        // An argument that is no bare name has a field too, which is declared where it is passed.
        let is_it = fact.name == symbol.name || fact.name.ends_with(&format!("_{}", symbol.name));
        if !is_it || found.span.start != declared.start {
            return;
        }
        let key = (index.scopes.symbol(owner).name.clone(), symbol.name.clone());
        self.known.entry(key).or_default().push(fact);
    }
}

fn kept(front: &Front, name: &str) -> TemporaryStorage {
    let Some(optimized) = &front.optimized else { return TemporaryStorage::Unknown };
    if optimized.fields.iter().any(|(_, it)| it.name == name) {
        TemporaryStorage::Field
    } else if optimized.locals.iter().any(|(_, it)| it.name == name) {
        TemporaryStorage::Local
    } else {
        TemporaryStorage::Pruned
    }
}
