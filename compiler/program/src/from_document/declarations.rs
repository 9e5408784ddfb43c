//! The grid, the scalars and the stencils of a document.

use isobar_ground::call::signature::{Param, ParamKind};
use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::space::Axis;
use isobar_ground::types::{DType, Value};

use super::{DocumentPath, Elaboration};
use crate::document::nodes::{
    EdgeEntry, NeighbourEntry, OriginEntry, PlanEntry, RoleEntry, ScalarEntry, StencilEntry, StripEntry,
};
use crate::document::places::PathStep;
use crate::nodes::{ProgramGrid, ProgramStencil};
use crate::plan::{ExchangePlan, HaloStrip, Neighbour, StripDimension};
use crate::scalar::ScalarVariable;
use crate::scalar::nodes::ScalarRole;
use crate::size::AffineSize;
use crate::stencils::{is_dotted_name, typed_number};

/// Names that axes and positions have.
const TAKEN: [&str; 6] = ["i", "j", "k", "I", "J", "K"];

impl<'a> Elaboration<'a> {
    pub(super) fn declarations(&mut self) {
        let document = &self.read.document;
        if !is_dotted_name(&document.name) {
            let span = self.span(&[PathStep::Name("name")]);
            self.tell(catalog::taken(&document.name, "it is no name", span));
        }
        self.grid();
        for (name, entry) in &document.fields.0 {
            if entry.view.is_none() {
                self.field(name, entry);
            }
        }
        for (name, entry) in &document.fields.0 {
            if entry.view.is_some() {
                self.view(name, entry);
            }
        }
        for (name, entry) in &document.scalars.0 {
            self.scalar(name, entry);
        }
        for (name, entry) in &document.stencils.0 {
            self.stencil(name, entry);
        }
        for (name, entry) in &document.plans.0 {
            self.plan(name, entry);
        }
        for name in document.programs.names() {
            self.check_name(name, &[PathStep::Name("programs"), PathStep::Name(name)]);
        }
    }

    fn plan(&mut self, name: &str, entry: &PlanEntry) {
        let path = [PathStep::Name("plans"), PathStep::Name(name)];
        let span = self.span(&path);
        if !self.check_name(name, &path) {
            return;
        }
        let neighbours: Option<Vec<Neighbour>> = entry.neighbours.iter().map(neighbour).collect();
        match neighbours {
            Some(neighbours) => {
                self.program.plans.push(ExchangePlan {
                    name: name.to_owned(),
                    tag: entry.tag,
                    neighbours: neighbours.into(),
                    span,
                });
            }
            None => self.tell(catalog::unsupported(
                &format!("the plan `{name}`"),
                "each dimension of a strip has a number, a first index, points, and a step of 1 or -1",
                span,
            )),
        }
    }

    fn grid(&mut self) {
        let grid = &self.read.document.grid;
        let has = |edge| grid.edges.as_ref().is_none_or(|it| it.contains(&edge));
        let edges = [EdgeEntry::West, EdgeEntry::East, EdgeEntry::South, EdgeEntry::North].map(has);
        self.program.grid = ProgramGrid { halo: grid.halo, edges };
        self.fronts.set_grid(&self.program.grid);
    }

    /// Whether something may have this name.
    pub(super) fn check_name(&mut self, name: &str, path: &DocumentPath<'_>) -> bool {
        let span = self.span(path);
        let why = if TAKEN.contains(&name) {
            "axes and positions have it"
        } else if is_dotted_name(name) {
            return true;
        } else {
            "it is no name of Python"
        };
        self.tell(catalog::taken(name, why, span));
        false
    }

    pub(super) fn dtype(&mut self, name: &str, path: &DocumentPath<'_>) -> Option<DType> {
        let found = DType::from_name(name);
        if found.is_none() {
            let span = self.span_of(path, &[PathStep::Name("dtype")]);
            self.tell(catalog::unknown("type", name, DType::ALL.map(DType::name), span));
        }
        found
    }

    /// The first value of a state; zero where the document has none.
    pub(super) fn first_value(
        &mut self,
        given: Option<&serde_json::Value>,
        dtype: DType,
        path: &DocumentPath<'_>,
    ) -> Value {
        given.map_or(Value::zero(dtype), |it| self.value_of_type(it, dtype, "init", path))
    }

    fn value_of_type(
        &mut self,
        given: &serde_json::Value,
        dtype: DType,
        entry: &str,
        path: &DocumentPath<'_>,
    ) -> Value {
        let span = self.span_of(path, &[PathStep::Name(entry)]);
        let value = typed_number(given, dtype);
        let value = value.ok_or_else(|| catalog::not_held(&given.to_string(), dtype.name(), span));
        self.or_tell(value).unwrap_or(Value::zero(dtype))
    }

    fn scalar(&mut self, name: &str, entry: &'a ScalarEntry) {
        let path = [PathStep::Name("scalars"), PathStep::Name(name)];
        let span = self.place(entry.at.as_ref(), &path);
        if !self.check_scalar_name(name, span) {
            return;
        }
        let Some(dtype) = self.dtype(&entry.dtype, &path) else { return };
        let foreign = [
            ("value", entry.value.is_some() && entry.role != RoleEntry::Constant),
            ("init", entry.init.is_some() && entry.role != RoleEntry::State),
        ];
        for (other, _) in foreign.into_iter().filter(|it| it.1) {
            self.tell(catalog::foreign_entry(other, "scalar", &["role", "dtype", "at"], span));
        }
        let role = match entry.role {
            RoleEntry::Argument => ScalarRole::Argument,
            RoleEntry::Local => ScalarRole::Local,
            RoleEntry::State => ScalarRole::State(self.first_value(entry.init.as_ref(), dtype, &path)),
            RoleEntry::Constant => {
                let missing = || catalog::missing_entry("value", "constant", span);
                let Some(value) = self.or_tell(entry.value.as_ref().ok_or_else(missing)) else { return };
                ScalarRole::Constant(self.value_of_type(value, dtype, "value", &path))
            }
        };
        let variable = ScalarVariable { name: name.to_owned(), dtype, role, span };
        let is_given = role != ScalarRole::Local;
        let variable = self.program.scalars.push(variable);
        if is_given {
            self.scope.assigned.insert(variable);
        }
    }

    /// Whether a new scalar may have this name.
    pub(super) fn check_scalar_name(&mut self, name: &str, span: Span) -> bool {
        let why = if TAKEN.contains(&name) {
            "axes and positions have it"
        } else if name.contains('.') || !is_dotted_name(name) {
            "it is no name of Python"
        } else if self.read.document.fields.get(name).is_some() {
            "a field has it"
        } else {
            return true;
        };
        self.tell(catalog::taken(name, why, span));
        false
    }

    fn stencil(&mut self, name: &'a str, entry: &'a StencilEntry) {
        let path = [PathStep::Name("stencils"), PathStep::Name(name)];
        self.check_name(name, &path);
        let span = self.place(entry.at.as_ref(), &path);
        let whole = Axis::ALL.map(AffineSize::along);
        let mut domain = whole;
        for (at, size) in entry.domain.iter().flatten().enumerate() {
            let place = self.span_of(&path, &[PathStep::Name("domain"), PathStep::Index(at)]);
            domain[at] = self.size(size, place).unwrap_or(whole[at]);
        }
        let (origin, origins) = match &entry.origin {
            None => ([0; 3], Vec::new()),
            Some(OriginEntry::All(origin)) => (*origin, Vec::new()),
            Some(OriginEntry::Each(each)) => {
                let others = each.0.iter().filter(|it| it.0 != "_all_").cloned();
                (each.get("_all_").copied().unwrap_or([0; 3]), others.collect())
            }
        };
        std::iter::once(origin)
            .chain(origins.iter().map(|it| it.1))
            .for_each(|it| self.check_origin(it, &path));
        let externals = entry.externals.0.iter().map(|(name, it)| (name.clone(), it.to_string())).collect();
        let function = entry.function.clone();
        if !is_dotted_name(&function) {
            self.tell(catalog::taken(&function, "it is no name of Python", span));
        }
        for (external, _) in entry.externals.0.iter().filter(|it| !is_dotted_name(&it.0)) {
            self.tell(catalog::taken(external, "it is no name of Python", span));
        }
        let mut stencil = ProgramStencil {
            name: name.to_owned(),
            function,
            externals,
            origin,
            origins,
            domain,
            params: Vec::new(),
            min_levels: 0,
            span,
        };
        match self.fronts.front(&stencil) {
            Ok(front) => {
                self.found.extend(front.notes.diagnostics.iter().cloned());
                if let Some(signature) = &front.signature {
                    stencil.params.clone_from(&signature.params);
                    stencil.min_levels = signature.min_levels;
                }
            }
            Err(found) => {
                self.found.extend(found);
                self.broken.insert(name);
            }
        }
        for (param, _) in &stencil.origins {
            let is_field = |it: &&Param| it.name == *param && matches!(it.kind, ParamKind::Field { .. });
            if !stencil.params.is_empty() && !stencil.params.iter().any(|it| is_field(&it)) {
                let known = stencil.params.iter().map(|it| it.name.as_str());
                let place = self.span_of(&path, &[PathStep::Name("origin"), PathStep::Name(param)]);
                let told = catalog::no_such_parameter(name, param, known, place);
                self.tell(told);
            }
        }
        self.program.stencils.push(stencil);
    }
}

/// The messages of an entry; nothing where a number is none of a strip.
fn neighbour(entry: &NeighbourEntry) -> Option<Neighbour> {
    let strips = |all: &[StripEntry]| all.iter().map(strip).collect::<Option<Vec<_>>>();
    Some(Neighbour { rank: entry.rank, sent: strips(&entry.send)?, received: strips(&entry.receive)? })
}

fn strip(entry: &StripEntry) -> Option<HaloStrip> {
    let along = entry.along.iter().map(|&[dimension, first, n, step]| {
        let [dimension, first, n] = [dimension, first, n].map(usize::try_from);
        let is_backwards = [(1, false), (-1, true)].into_iter().find(|it| it.0 == step)?.1;
        Some(StripDimension { dimension: dimension.ok()?, first: first.ok()?, n: n.ok()?, is_backwards })
    });
    let field = usize::try_from(entry.field).ok()?;
    Some(HaloStrip { field, along: along.collect::<Option<_>>()?, is_negated: entry.negated })
}
