//! The fields of a document, and their parts with names.

use std::collections::BTreeSet;

use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::entity::Handle;
use isobar_ground::space::{Axis, AxisSet};

use super::{DocumentPath, Elaboration};
use crate::document::nodes::{FieldEntry, RoleEntry, SizeEntry};
use crate::document::places::PathStep;
use crate::nodes::{Container, ContainerPart, ContainerRole};
use crate::size::AffineSize;

impl<'a> Elaboration<'a> {
    pub(super) fn field(&mut self, name: &'a str, entry: &'a FieldEntry) {
        let path = [PathStep::Name("fields"), PathStep::Name(name)];
        self.check_name(name, &path);
        let span = self.place(entry.at.as_ref(), &path);
        if entry.data_index.is_some() {
            let known = ["role", "dtype", "axes", "shape", "origin", "staggered", "like", "init", "at"];
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
        let staggered = self.property(named, |it| it.staggered.as_ref());
        let staggered =
            staggered.map_or(Some(AxisSet::of(&[])), |(owner, it)| self.staggered(it, axes, &own(owner)));
        let Some(staggered) = staggered else { return };
        if entry.init.is_some() && role != RoleEntry::State {
            let known = ["role", "dtype", "axes", "shape", "origin", "staggered", "like", "at"];
            self.tell(catalog::foreign_entry("init", "field", &known, span));
        }
        let role = match role {
            RoleEntry::Argument => ContainerRole::Argument,
            RoleEntry::Constant => ContainerRole::Constant,
            RoleEntry::Local => ContainerRole::Local,
            RoleEntry::State => ContainerRole::State(self.first_value(entry.init.as_ref(), dtype, &path)),
        };
        let container =
            Container { name: name.to_owned(), role, dtype, axes, shape, data_dims, staggered, origin, span };
        self.program.containers.push(container);
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

    /// The axes along which a field is staggered: some of I and J that it has.
    fn staggered(&mut self, text: &str, axes: AxisSet, path: &DocumentPath<'_>) -> Option<AxisSet> {
        let known: Vec<&str> =
            ["I", "J", "IJ"].into_iter().filter(|it| axes.to_string().contains(it)).collect();
        if known.contains(&text) {
            let found: Vec<Axis> = Axis::ALL.into_iter().filter(|it| text.contains(it.name())).collect();
            return Some(AxisSet::of(&found));
        }
        let span = self.span_of(path, &[PathStep::Name("staggered")]);
        self.tell(catalog::unknown("set of axes", text, known, span));
        None
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

    pub(super) fn size(&mut self, entry: &SizeEntry, span: Span) -> Option<AffineSize> {
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

    pub(super) fn check_origin(&mut self, origin: [i64; 3], path: &DocumentPath<'_>) {
        if let Some(far) = origin.into_iter().find(|it| !AffineSize::constant(*it).is_moderate()) {
            let span = self.span_of(path, &[PathStep::Name("origin")]);
            self.tell(catalog::not_affine(&far.to_string(), span));
        }
    }

    pub(super) fn view(&mut self, name: &'a str, entry: &'a FieldEntry) {
        let path = [PathStep::Name("fields"), PathStep::Name(name)];
        self.check_name(name, &path);
        let span = self.place(entry.at.as_ref(), &path);
        let FieldEntry {
            role,
            dtype,
            axes,
            shape,
            origin,
            staggered,
            like,
            init,
            view: _,
            data_index: _,
            at: _,
        } = entry;
        let others = [
            ("role", role.is_some()),
            ("dtype", dtype.is_some()),
            ("axes", axes.is_some()),
            ("shape", shape.is_some()),
            ("origin", origin.is_some()),
            ("staggered", staggered.is_some()),
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

    /// The fields that the document names as results; none where it names them not.
    pub(super) fn results(&mut self) -> Option<BTreeSet<Handle<Container>>> {
        let names = self.read.document.results.as_ref()?;
        let mut found = BTreeSet::new();
        for (at, name) in names.iter().enumerate() {
            let span = self.span(&[PathStep::Name("results"), PathStep::Index(at)]);
            let part = self.views.get(name.as_str()).cloned();
            let Some(part) = part.or_else(|| self.part_of(name, Vec::new(), span)) else { continue };
            let role = self.program.containers[part.container].role;
            if matches!(role, ContainerRole::Local | ContainerRole::Constant) {
                let name = format!("the result `{name}`");
                let why = format!("a {} has no value of its own behind a run", role.name());
                self.tell(catalog::unsupported(&name, &why, span));
            }
            found.insert(part.container);
        }
        Some(found)
    }
}
