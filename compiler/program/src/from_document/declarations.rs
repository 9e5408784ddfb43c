//! The grid, the fields, the scalars and the stencils of a document.

use isobar_front::frontend::parse;
use isobar_ground::call::signature::{Param, ParamKind};
use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::space::{Axis, AxisSet};
use isobar_ground::types::{DType, Value};

use super::{DocumentPath, Elaboration};
use crate::document::nodes::{
    EdgeEntry, FieldEntry, OriginEntry, RoleEntry, ScalarEntry, SizeEntry, StencilEntry,
};
use crate::document::places::PathStep;
use crate::nodes::{Container, ContainerPart, ContainerRole, ProgramGrid, ProgramStencil};
use crate::scalar::ScalarVariable;
use crate::scalar::nodes::ScalarRole;
use crate::size::AffineSize;
use crate::stencils::typed_number;

/// Names that axes and positions have.
const TAKEN: [&str; 6] = ["i", "j", "k", "I", "J", "K"];

/// Whether texts can name something so: names of Python, with dots between them.
pub(super) fn is_dotted_name(text: &str) -> bool {
    let is_plain = text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'.');
    is_plain && parse::expression(text, Span::default()).is_some_and(|it| it.as_dotted().is_some())
}

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
        for name in document.programs.names() {
            self.check_name(name, &[PathStep::Name("programs"), PathStep::Name(name)]);
        }
    }

    fn grid(&mut self) {
        let grid = &self.read.document.grid;
        let has = |edge| grid.edges.as_ref().is_none_or(|it| it.contains(&edge));
        let edges = [EdgeEntry::West, EdgeEntry::East, EdgeEntry::South, EdgeEntry::North].map(has);
        self.program.grid = ProgramGrid { halo: grid.halo, edges };
        let span = self.span(&[PathStep::Name("grid")]);
        let set = self.fronts.set_grid(&self.program.grid, span);
        self.or_tell(set);
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

    /// A property of a field, and the field that has it: itself, or one that it is like.
    fn property<T>(
        &self,
        (name, entry): (&'a str, &'a FieldEntry),
        of: impl Fn(&'a FieldEntry) -> Option<&'a T>,
    ) -> Option<(&'a str, &'a T)> {
        let fields = &self.read.document.fields;
        let mut at = (name, entry);
        // A chain that is longer runs in a circle, which `field` tells.
        for _ in 0..=fields.0.len() {
            if let Some(found) = of(at.1) {
                return Some((at.0, found));
            }
            let like = at.1.like.as_deref()?;
            at = (like, fields.get(like)?);
        }
        None
    }

    fn field(&mut self, name: &'a str, entry: &'a FieldEntry) {
        let path = [PathStep::Name("fields"), PathStep::Name(name)];
        self.check_name(name, &path);
        let span = self.place(entry.at.as_ref(), &path);
        if entry.data_index.is_some() {
            let known = ["role", "dtype", "axes", "shape", "origin", "like", "init", "at"];
            self.tell(catalog::foreign_entry("data_index", "field", &known, span));
        }
        if !self.check_like(name, entry) {
            return;
        }
        let missing = |what| catalog::missing_entry(what, "field", span);
        // Faults are told where the property stands, once for all fields that have it from there.
        let own = |owner| [PathStep::Name("fields"), PathStep::Name(owner)];
        let named = (name, entry);
        let axes = self.property(named, |it| it.axes.as_ref()).ok_or_else(|| missing("axes"));
        let axes = self.or_tell(axes).and_then(|(owner, it)| self.axes(it, &own(owner)));
        let dtype = self.property(named, |it| it.dtype.as_ref()).ok_or_else(|| missing("dtype"));
        let dtype = self.or_tell(dtype).and_then(|(owner, it)| self.dtype(it, &own(owner)));
        let shape = self.property(named, |it| it.shape.as_ref()).ok_or_else(|| missing("shape"));
        let shape = self.or_tell(shape);
        let role = self.or_tell(entry.role.ok_or_else(|| missing("role")));
        let (Some(axes), Some(dtype), Some(shape), Some(role)) = (axes, dtype, shape, role) else { return };
        let Some((shape, data_dims)) = self.shape(shape.1, axes, &own(shape.0)) else { return };
        let origin = match self.property(named, |it| it.origin.as_ref()) {
            Some((owner, given)) => self.field_origin(given, axes, &own(owner)),
            None => {
                let halo = i64::from(self.program.grid.halo);
                let along = |(axis, n)| if axes.has(axis) { n } else { 0 };
                [(Axis::I, halo), (Axis::J, halo), (Axis::K, 0)].map(along)
            }
        };
        if entry.init.is_some() && role != RoleEntry::State {
            let known = ["role", "dtype", "axes", "shape", "origin", "like", "at"];
            self.tell(catalog::foreign_entry("init", "field", &known, span));
        }
        let role = match role {
            RoleEntry::Argument => ContainerRole::Argument,
            RoleEntry::Constant => ContainerRole::Constant,
            RoleEntry::Local => ContainerRole::Local,
            RoleEntry::State => ContainerRole::State(self.first_value(entry.init.as_ref(), dtype, &path)),
        };
        let container =
            Container { name: name.to_owned(), role, dtype, axes, shape, data_dims, origin, span };
        self.program.containers.push(container);
    }

    /// Whether the field that it is like is there, and is not like it in turn.
    fn check_like(&mut self, name: &str, entry: &'a FieldEntry) -> bool {
        let fields = &self.read.document.fields;
        let mut at = entry;
        for _ in 0..=fields.0.len() {
            let Some(like) = &at.like else { return true };
            let path = [PathStep::Name("fields"), PathStep::Name(name), PathStep::Name("like")];
            let Some(next) = fields.get(like).filter(|it| it.view.is_none()) else {
                let unknown = catalog::unknown("field", like, fields.names(), self.span(&path));
                self.tell(unknown);
                return false;
            };
            at = next;
        }
        let span = self.span(&[PathStep::Name("fields"), PathStep::Name(name)]);
        self.tell(catalog::field_cycle(name, span));
        false
    }

    fn axes(&mut self, text: &str, path: &DocumentPath<'_>) -> Option<AxisSet> {
        let found: Vec<Axis> = Axis::ALL.into_iter().filter(|it| text.contains(it.name())).collect();
        let axes = AxisSet::of(&found);
        if axes.to_string() == text {
            return Some(axes);
        }
        let span = self.span_of(path, &[PathStep::Name("axes")]);
        self.tell(catalog::unknown("set of axes", text, ["IJK", "IJ", "K", "IK", "JK", "I", "J"], span));
        None
    }

    pub(super) fn dtype(&mut self, name: &str, path: &DocumentPath<'_>) -> Option<DType> {
        let found = DType::from_name(name);
        if found.is_none() {
            let span = self.span_of(path, &[PathStep::Name("dtype")]);
            self.tell(catalog::unknown("type", name, DType::ALL.map(DType::name), span));
        }
        found
    }

    fn shape(
        &mut self,
        entries: &[SizeEntry],
        axes: AxisSet,
        path: &DocumentPath<'_>,
    ) -> Option<(Vec<AffineSize>, Vec<u32>)> {
        let path_of = |at| [PathStep::Name("shape"), PathStep::Index(at)];
        let Some((of_axes, of_data)) = entries.split_at_checked(axes.len()) else {
            let span = self.span_of(path, &[PathStep::Name("shape")]);
            self.tell(catalog::wrong_length("shape", &axes.to_string(), axes.len(), entries.len(), span));
            return None;
        };
        let mut shape = Vec::with_capacity(of_axes.len());
        for (at, entry) in of_axes.iter().enumerate() {
            let span = self.span_of(path, &path_of(at));
            shape.push(self.size(entry, span)?);
        }
        let mut data_dims = Vec::with_capacity(of_data.len());
        for (at, entry) in of_data.iter().enumerate() {
            let span = self.span_of(path, &path_of(axes.len() + at));
            let size = self.size(entry, span)?;
            let constant = u32::try_from(size.offset).ok().filter(|it| size.axis.is_none() && *it > 0);
            let constant = constant.ok_or_else(|| catalog::data_size(&size.to_string(), span));
            data_dims.push(self.or_tell(constant)?);
        }
        Some((shape, data_dims))
    }

    fn size(&mut self, entry: &SizeEntry, span: Span) -> Option<AffineSize> {
        let (size, text) = match entry {
            SizeEntry::Number(it) => (Some(AffineSize::constant(*it)), it.to_string()),
            SizeEntry::Text(it) => (AffineSize::parse(it), it.clone()),
        };
        let size = size.filter(|it| it.is_moderate());
        self.or_tell(size.ok_or_else(|| catalog::not_affine(&text, span)))
    }

    fn field_origin(&mut self, given: &[i64], axes: AxisSet, path: &DocumentPath<'_>) -> [i64; 3] {
        let mut origin = [0; 3];
        if given.len() != axes.len() {
            let span = self.span_of(path, &[PathStep::Name("origin")]);
            self.tell(catalog::wrong_length("origin", &axes.to_string(), axes.len(), given.len(), span));
            return origin;
        }
        axes.iter().zip(given).for_each(|(axis, &at)| origin[axis.index()] = at);
        self.check_origin(origin, path);
        origin
    }

    fn check_origin(&mut self, origin: [i64; 3], path: &DocumentPath<'_>) {
        if let Some(far) = origin.into_iter().find(|it| !AffineSize::constant(*it).is_moderate()) {
            let span = self.span_of(path, &[PathStep::Name("origin")]);
            self.tell(catalog::not_affine(&far.to_string(), span));
        }
    }

    /// The first value of a state; zero where the document has none.
    fn first_value(
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

    fn view(&mut self, name: &'a str, entry: &'a FieldEntry) {
        let path = [PathStep::Name("fields"), PathStep::Name(name)];
        self.check_name(name, &path);
        let span = self.place(entry.at.as_ref(), &path);
        let FieldEntry { role, dtype, axes, shape, origin, like, init, view: _, data_index: _, at: _ } =
            entry;
        let others = [
            ("role", role.is_some()),
            ("dtype", dtype.is_some()),
            ("axes", axes.is_some()),
            ("shape", shape.is_some()),
            ("origin", origin.is_some()),
            ("like", like.is_some()),
            ("init", init.is_some()),
        ];
        for (other, _) in others.into_iter().filter(|it| it.1) {
            self.tell(catalog::foreign_entry(other, "view", &["view", "data_index", "at"], span));
        }
        // From the innermost view outwards, as many as there are fields at most.
        let fields = &self.read.document.fields;
        let (mut index, mut at) = (Vec::new(), entry);
        let mut base = name;
        for _ in 0..=fields.0.len() {
            let Some(next) = at.view.as_deref() else { break };
            index.splice(0..0, at.data_index.iter().flatten().copied());
            base = next;
            let Some(entry) = fields.get(next) else { break };
            at = entry;
        }
        if at.view.is_some() && fields.get(base).is_some() {
            self.tell(catalog::field_cycle(name, span));
            return;
        }
        if let Some(part) = self.part_of(base, index, span) {
            self.views.insert(name, part);
        }
    }

    /// The part of a container that its name and an index mean.
    pub(super) fn part_of(&mut self, name: &str, data_index: Vec<u32>, span: Span) -> Option<ContainerPart> {
        let containers = &self.program.containers;
        let Some(container) = containers.find(|it| it.name == name) else {
            // One that was refused is told already.
            if self.read.document.fields.get(name).is_none_or(|it| it.view.is_some()) {
                let names = containers.iter().map(|(_, it)| it.name.as_str());
                let unknown = catalog::unknown("field", name, names, span);
                self.tell(unknown);
            }
            return None;
        };
        let dims = &containers[container].data_dims;
        if data_index.len() > dims.len() {
            let told = catalog::wrong_length("index", "of the data", dims.len(), data_index.len(), span);
            self.tell(told);
            return None;
        }
        if let Some((at, size)) = data_index.iter().zip(dims).find(|(at, size)| at >= size) {
            let known: Vec<String> = (0..*size).map(|it| it.to_string()).collect();
            let told = catalog::unknown("index", &at.to_string(), known.iter().map(String::as_str), span);
            self.tell(told);
            return None;
        }
        Some(ContainerPart { container, data_index })
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
