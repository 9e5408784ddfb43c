//! The graph of what a constructor made: stencils with their ranges, objects, and the texts of methods.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use isobar_front::frontend::constants::{AxisPosition, Constant};
use isobar_front::frontend::evaluate::{Environment, expression};
use isobar_front::frontend::modules::{ClassId, FunctionId};
use isobar_front::frontend::syntax::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use isobar_ground::diag::{LineIndex, Span};
use isobar_ground::space::Axis;
use isobar_ground::types::Value;
use serde_json::{Value as Json, json};

use super::values::{BuildHelper, Built, dtype_of};
use super::{Building, ObjectBuilder};
use crate::document::Entries;
use crate::document::nodes::{GridEntry, OriginEntry, PlaceEntry, SizeEntry, StencilEntry};
use crate::from_objects::graph::{
    GraphEntry, GraphFunction, GraphHint, GraphObject, GraphParam, GraphStencil, ObjectGraph,
};
use crate::stencils::{dotted, is_named};

/// Values with their names, in order.
type Named<T> = Vec<(String, T)>;

/// The functions of a graph, as they are found.
#[derive(Default)]
struct FoundFunctions<'p> {
    keys: BTreeMap<FunctionId, String>,
    told: Vec<(String, GraphFunction)>,
    /// Those whose texts are not read yet.
    next: VecDeque<(String, &'p FunctionDef)>,
    /// Attributes that some text names.
    asked: BTreeSet<String>,
    modules: Vec<FoundModule>,
}

/// A module, a class or a namespace that texts name.
struct FoundModule {
    name: String,
    value: Constant,
    told: GraphObject,
    /// The attributes that were looked up.
    known: BTreeSet<String>,
}

impl<'p> ObjectBuilder<'p> {
    pub(super) fn graph(&mut self, class: ClassId) -> Building<ObjectGraph> {
        let at = self.names.class_name(class).1;
        let mut given = Vec::new();
        if let Some((_, def)) = self.method_of(class, "__init__") {
            for param in def.params.iter().skip(1) {
                let name = &param.name.name;
                let annotation = param.annotation.as_ref().map(|it| self.program.text(it.span));
                let value = match self.request.given.get(name) {
                    Some(json) => self.given(name, json),
                    None if param.default.is_some() => continue,
                    None => self.stand_in(name, annotation),
                };
                given.push((name.clone(), value));
            }
            let known = |it: &String| def.params.iter().any(|param| param.name.name == *it);
            if let Some(name) = self.request.given.keys().find(|it| !known(it)) {
                return Err(Self::refused(&format!("`{name}`"), "the constructor has no such parameter", at));
            }
        }
        let object = match self.instance(class, (Vec::new(), given), Some("self"), Span::default())? {
            Built::Object(it) => it,
            other => return Err(Self::refused("the class", &other.kind(), at)),
        };
        let Some((_, method)) = self.method_of(class, self.request.method) else {
            let why = format!("`{}` has no such method", self.names.class_name(class).0);
            return Err(Self::refused(&format!("`{}`", self.request.method), &why, at));
        };
        let Some(function) = self.function_of(method) else {
            return Err(Self::refused("the method", "it has no text", at));
        };
        let mut found = FoundFunctions::default();
        let entry_key = self.key(function, &mut found);
        let (keywords, hints) = self.arguments_of(method);
        let objects = self.closure(object, &mut found)?;
        Ok(ObjectGraph {
            isobar_objects: 1,
            name: self.names.class_name(class).0.to_owned(),
            files: Entries(
                self.project.files.iter().map(|(name, it)| (name.clone(), it.to_string())).collect(),
            ),
            grid: GridEntry { halo: self.request.halo, edges: None },
            fields: Entries(std::mem::take(&mut self.fields)),
            scalars: Entries::default(),
            hints: Entries(hints),
            plans: Entries::default(),
            stencils: Entries(std::mem::take(&mut self.stencils)),
            objects: Entries(objects),
            functions: Entries(found.told),
            // Its own fields cannot be asked for behind a run.
            results: Some(Vec::new()),
            entry: GraphEntry {
                function: entry_key,
                object: Some(self.objects[object].name.clone()),
                args: Vec::new(),
                keywords: Entries(keywords),
            },
        })
    }

    /// The arguments of the method that is the program. Their first uses tell what they are; annotations are hints for
    /// what no use tells. Constants stand for the defaults of conditions.
    fn arguments_of(&mut self, method: &'p FunctionDef) -> (Named<Json>, Named<GraphHint>) {
        let (mut keywords, mut hints) = (Vec::new(), Vec::new());
        for param in method.params.iter().skip(1) {
            let name = &param.name.name;
            let is_constant = matches!(
                param.default.as_ref().map(|it| &it.kind),
                Some(ExprKind::None | ExprKind::Bool(_) | ExprKind::Str(_))
            );
            if is_constant {
                continue;
            }
            let annotated = param.annotation.as_ref().and_then(|it| self.annotation(it));
            let hint = GraphHint { kind: annotated, at: self.entry_place(param.name.span) };
            hints.push((name.clone(), hint));
            keywords.push((name.clone(), json!({"free": name})));
        }
        (keywords, hints)
    }

    /// The type that an annotation means; `None` where it is none of a field or a number.
    fn annotation(&self, annotation: &Expr) -> Option<GraphParam> {
        let scope = self.names.module_scope(annotation.span.file)?;
        let environment = Environment::module(scope, u32::MAX);
        let usual = self.names.config.literal_float;
        match expression(self.names, &environment, annotation).ok()? {
            Constant::Field(it) => {
                let dtype = dtype_of(&Constant::Element(it.element.clone()), usual)?;
                let axes = it.axes.iter().map(|it| it.name()).collect();
                Some(GraphParam {
                    dtype: dtype.name().to_owned(),
                    axes: Some(axes),
                    data_dims: it.data_dims.clone(),
                })
            }
            it @ Constant::Element(_) => {
                let dtype = dtype_of(&it, usual)?.name().to_owned();
                Some(GraphParam { dtype, axes: None, data_dims: Vec::new() })
            }
            _ => None,
        }
    }

    /// Adds a stencil with its range; the same function on the same range with the same externals is one stencil.
    pub(super) fn stencil(
        &mut self,
        func: Built<'p>,
        (origin, domain): (Built<'p>, [i64; 3]),
        externals: Option<Built<'p>>,
        has_offsets: bool,
        at: Span,
    ) -> Building<Built<'p>> {
        let function = Self::function_for(&func, at)?;
        let def = self.names.function(function).def;
        let path = self.path_of(function);
        let whole = self.grid();
        let moved = |it: [i64; 3]| std::array::from_fn(|axis| it[axis] - whole.origin[axis]);
        let mut given = self.externals(externals.as_ref(), at)?;
        // Those along I and J follow from the range and the edges, and few stencils read the levels.
        if has_offsets && let Ok(first) = self.triple(&origin, at) {
            let file = self.program.files.get(usize::from(function.file.0));
            for (name, value) in [("k_start", first[2]), ("k_end", first[2] + domain[2] - 1)] {
                let is_read = file.is_some_and(|it| it.text.contains(name));
                if is_read && !given.iter().any(|it| it.0 == name) {
                    given.push((name.to_owned(), value.into()));
                }
            }
        }
        let origin = match &origin {
            Built::Table(table) => {
                let entries = self.tables[*table].clone();
                let mut each = Vec::new();
                for (name, it) in entries {
                    let Some(name) = name.as_text() else {
                        return Err(Self::unknown("the origin", &name, at));
                    };
                    each.push((name.to_owned(), moved(self.origin_of(&it, at)?)));
                }
                OriginEntry::Each(Entries(each))
            }
            other => OriginEntry::All(moved(self.triple(other, at)?)),
        };
        let size = |axis: usize| {
            SizeEntry::Text(format!("{}{:+}", ["I", "J", "K"][axis], domain[axis] - whole.domain[axis]))
        };
        let entry = StencilEntry {
            function: path,
            externals: Entries(given),
            origin: Some(origin),
            domain: Some([size(0), size(1), size(2)]),
            at: self.entry_place(at),
        };
        let is_same = |it: &&(String, GraphStencil)| {
            let known = &it.1.stencil;
            (&known.function, &known.externals, &known.origin, &known.domain)
                == (&entry.function, &entry.externals, &entry.origin, &entry.domain)
        };
        if let Some((name, _)) = self.stencils.iter().find(is_same) {
            return Ok(Built::Stencil(name.clone()));
        }
        let name = self.name(&def.name.name);
        let params = def.params.iter().map(|it| it.name.name.clone()).collect();
        let kinds = def.params.iter().map(|it| it.annotation.as_ref().and_then(|it| self.annotation(it)));
        let stencil = GraphStencil { stencil: entry, params, kinds: kinds.collect() };
        self.stencils.push((name.clone(), stencil));
        Ok(Built::Stencil(name))
    }

    /// The answer of NDSL's `axis_offsets` for a range: where the edges of the tile lie, and the levels.
    pub(super) fn axis_offsets(&self, origin: [i64; 3], domain: [i64; 3]) -> Vec<(Built<'p>, Built<'p>)> {
        let whole = self.grid();
        let mut all =
            vec![("k_start", Constant::Int(origin[2])), ("k_end", Constant::Int(origin[2] + domain[2] - 1))];
        let [west, east, south, north] = whole.edges;
        let names = [
            (Axis::I, [west, east], ["i_start", "i_end"], ["local_is", "local_ie"]),
            (Axis::J, [south, north], ["j_start", "j_end"], ["local_js", "local_je"]),
        ];
        for (axis, edges, of_tile, of_domain) in names {
            let at = axis.index();
            let first = whole.origin[at] - origin[at];
            let last = whole.origin[at] + whole.domain[at] - origin[at] - domain[at];
            for (side, (index, offset, beyond)) in
                [(0, first, -NOWHERE), (-1, last, NOWHERE)].iter().enumerate()
            {
                let position = |offset| Constant::Position(AxisPosition { axis, index: *index, offset });
                all.push((of_tile[side], position(if edges[side] { *offset } else { *beyond })));
                all.push((of_domain[side], position(*offset)));
            }
        }
        let entry = |(name, value): (&str, Constant)| {
            (Built::Constant(Constant::Str(name.into())), Built::Constant(value))
        };
        all.into_iter().map(entry).collect()
    }

    /// The first point of a field of fewer axes.
    fn origin_of(&self, value: &Built<'p>, at: Span) -> Building<[i64; 3]> {
        let all = self.elements(value, at)?;
        let numbers: Option<Vec<i64>> = all.iter().map(Built::as_int).collect();
        let whole = self.grid().origin;
        match numbers.as_deref() {
            Some([i, j, k]) => Ok([*i, *j, *k]),
            Some([i, j]) => Ok([*i, *j, whole[2]]),
            Some([k]) => Ok([whole[0], whole[1], *k]),
            _ => Err(Self::refused("the origin", "it has no integers", at)),
        }
    }

    /// A path that finds a function: the last parts of its module that no other file has, and its name.
    fn path_of(&self, function: FunctionId) -> String {
        let def = self.names.function(function).def;
        let path = self.names.module_path(function.file).unwrap_or_default();
        let others = || self.names.files().filter_map(|it| self.names.module_path(it));
        let mut parts = (0..path.len()).rev().map(|it| dotted(&path[it..]));
        let own = parts.find(|part| others().filter(|it| is_named(it, part)).count() == 1);
        format!("{}.{}", own.unwrap_or_else(|| dotted(path)), def.name.name)
    }

    fn externals(&self, told: Option<&Built<'p>>, at: Span) -> Building<Vec<(String, Json)>> {
        let entries = match told {
            None => return Ok(Vec::new()),
            Some(it) if it.is_none() => return Ok(Vec::new()),
            Some(Built::Table(it)) => &self.tables[*it],
            Some(other) => return Err(Self::unknown("the externals", other, at)),
        };
        let mut all = Vec::new();
        for (key, value) in entries {
            let Some(name) = key.as_text() else { return Err(Self::unknown("an external", key, at)) };
            match self.external(value) {
                Some(json) => all.push((name.to_owned(), json)),
                None if value.is_unknown() => {
                    return Err(Self::unknown(&format!("the external `{name}`"), value, at));
                }
                None => {
                    return Err(Self::refused(&format!("the external `{name}`"), &value.kind(), at));
                }
            }
        }
        Ok(all)
    }

    fn external(&self, value: &Built<'p>) -> Option<Json> {
        Some(match value {
            Built::Constant(Constant::Function(it)) => json!({"function": self.path_of(*it)}),
            Built::Constant(Constant::None) => Json::Null,
            Built::Constant(Constant::Position(it)) => {
                json!({"axis": it.axis.name(), "index": it.index, "offset": it.offset})
            }
            Built::Constant(Constant::Axis(axis)) => json!({"axis": axis.name()}),
            Built::Constant(Constant::Typed(it)) => {
                let number = match it {
                    Value::Bool(it) => json!(it),
                    it if it.dtype().is_float() => number(&Constant::Float(it.as_f64()))?,
                    it => json!(it.as_i64()),
                };
                json!({"dtype": it.dtype().name(), "value": number})
            }
            Built::Constant(Constant::Namespace(members)) => {
                let members = members.iter();
                let members = members.filter_map(|(name, it)| {
                    Some((name.clone(), self.external(&Built::Constant(it.clone()))?))
                });
                json!({"namespace": members.collect::<serde_json::Map<_, _>>()})
            }
            Built::Constant(it) => number(it)?,
            Built::Object(it) => {
                let members = self.objects[*it].attributes.iter();
                let members = members.filter_map(|(name, it)| Some((name.clone(), self.external(it)?)));
                json!({"namespace": members.collect::<serde_json::Map<_, _>>()})
            }
            _ => return None,
        })
    }

    /// The line and the column of a place.
    pub(super) fn entry_place(&self, at: Span) -> Option<PlaceEntry> {
        let file = self.program.files.get(usize::from(at.file.0))?;
        let found = LineIndex::new(&file.text).line_col(&file.text, at.start);
        (at != Span::default()).then(|| PlaceEntry {
            file: file.name.to_string(),
            line: found.line,
            col: found.col,
        })
    }

    /// The key of a function; its text is read later.
    fn key(&self, function: FunctionId, found: &mut FoundFunctions<'p>) -> String {
        if let Some(known) = found.keys.get(&function) {
            return known.clone();
        }
        let def = self.names.function(function).def;
        let key = format!("f{}.{}", found.keys.len() + 1, def.name.name);
        found.keys.insert(function, key.clone());
        found.next.push_back((key.clone(), def));
        key
    }

    /// All that the texts of methods ask for, beginning with those that are called first.
    fn closure(
        &mut self,
        first: usize,
        found: &mut FoundFunctions<'p>,
    ) -> Building<Vec<(String, GraphObject)>> {
        let mut graph: BTreeMap<usize, GraphObject> = BTreeMap::new();
        let mut known: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        graph.insert(first, GraphObject::default());
        found.asked.insert("__call__".to_owned());
        loop {
            let before = (graph.len(), found.asked.len(), found.told.len(), found.modules.len());
            while let Some((key, def)) = found.next.pop_front() {
                self.read(key, def, found, &mut graph);
            }
            for object in graph.keys().copied().collect::<Vec<_>>() {
                let done = known.entry(object).or_default().clone();
                for name in found.asked.difference(&done).cloned().collect::<Vec<_>>() {
                    known.entry(object).or_default().insert(name.clone());
                    let Ok(value) = self.attribute(&Built::Object(object), &name, Span::default()) else {
                        continue;
                    };
                    if let Built::Method { function, .. } = value {
                        let def = self.names.function(function).def;
                        let entry = graph.entry(object).or_default();
                        if is_callback(def) {
                            entry.attributes.0.push((name.clone(), json!({"host": name})));
                        } else {
                            let key = self.key(function, found);
                            entry.methods.0.push((name, key));
                        }
                        continue;
                    }
                    if matches!(value, Built::Outside(_)) || name.starts_with("__") {
                        continue;
                    }
                    let told = self.json(&value, found, &mut graph);
                    graph.entry(object).or_default().attributes.0.push((name, told));
                }
            }
            for at in 0..found.modules.len() {
                let it = &mut found.modules[at];
                let value = it.value.clone();
                let wanted: Vec<String> = found.asked.difference(&it.known).cloned().collect();
                it.known.extend(wanted.iter().cloned());
                for name in wanted {
                    if let Ok(value) = self.names.attribute(&value, &name, Span::default()) {
                        let told = self.json_of_constant(&value, found);
                        found.modules[at].told.attributes.0.push((name, told));
                    }
                }
            }
            let after = (graph.len(), found.asked.len(), found.told.len(), found.modules.len());
            if before == after && found.next.is_empty() {
                break;
            }
        }
        let objects = graph.into_iter().map(|(object, told)| {
            let it = &self.objects[object];
            let class = self.names.class_name(it.class).0.to_owned();
            (it.name.clone(), GraphObject { class, ..told })
        });
        let modules = std::mem::take(&mut found.modules).into_iter().map(|it| (it.name, it.told));
        Ok(objects.chain(modules).collect())
    }

    /// Reads the text of a function, with the values of the names that it takes from outside.
    fn read(
        &mut self,
        key: String,
        def: &'p FunctionDef,
        found: &mut FoundFunctions<'p>,
        graph: &mut BTreeMap<usize, GraphObject>,
    ) {
        let mut names = BTreeSet::new();
        let defaults = def.params.iter().filter_map(|it| it.default.as_ref());
        let mut take = |it: &'p Expr| match &it.kind {
            ExprKind::Name(name) => drop(names.insert(name.clone())),
            ExprKind::Attribute(_, name) => drop(found.asked.insert(name.name.clone())),
            _ => {}
        };
        defaults.for_each(|it| it.walk(&mut take));
        each_expr(&def.body, &mut take);
        for param in &def.params {
            names.remove(&param.name.name);
        }
        let file = def.name.span.file;
        let mut told = Vec::new();
        for name in names {
            let value = match self.top_name(file, &name) {
                Some(Ok(value)) => Built::Constant(value),
                Some(Err(_)) => Built::Outside(name.clone()),
                None => continue,
            };
            let json = self.json(&value, found, graph);
            told.push((name, json));
        }
        let place = self.entry_place(def.name.span);
        let (file, line) = place.map_or((String::new(), 0), |it| (it.file, it.line));
        found.told.push((key, GraphFunction { file, line, names: Entries(told) }));
    }

    /// A value in the form of the graph.
    fn json(
        &mut self,
        value: &Built<'p>,
        found: &mut FoundFunctions<'p>,
        graph: &mut BTreeMap<usize, GraphObject>,
    ) -> Json {
        match value {
            Built::Constant(it) => self.json_of_constant(it, found),
            Built::Tuple(_) | Built::List(_) => {
                let all = self.elements(value, Span::default()).unwrap_or_default();
                Json::Array(all.iter().map(|it| self.json(it, found, graph)).collect())
            }
            Built::Table(it) => {
                let pairs = self.tables[*it].clone();
                let pairs = pairs.iter().map(|(key, value)| {
                    Json::Array(vec![self.json(key, found, graph), self.json(value, found, graph)])
                });
                json!({"dict": pairs.collect::<Vec<_>>()})
            }
            Built::Object(it) => {
                graph.entry(*it).or_default();
                json!({"object": self.objects[*it].name})
            }
            Built::Stencil(name) => json!({"stencil": name}),
            Built::Field(name) | Built::Elements(name) => json!({"field": name}),
            Built::Helper(BuildHelper::Timer) => json!({"timer": true}),
            Built::Helper(BuildHelper::Grid(grid)) => {
                let name = self.name("grid");
                let mut told = GraphObject { class: "GridIndexing".to_owned(), ..GraphObject::default() };
                for it in GRID_ATTRIBUTES {
                    let value = grid.attribute(it).unwrap_or(Built::NONE);
                    let json = self.json(&value, found, graph);
                    told.attributes.0.push((it.to_owned(), json));
                }
                let known = found.asked.clone();
                found.modules.push(FoundModule { name: name.clone(), value: Constant::None, told, known });
                json!({"object": name})
            }
            Built::Helper(BuildHelper::Communicator) => json!({"communicator": true}),
            Built::Method { function, of } => {
                graph.entry(*of).or_default();
                let key = self.key(*function, found);
                json!({"function": key, "object": self.objects[*of].name})
            }
            Built::Exchange { fields, kind, width } => {
                let fields: Vec<Json> = fields.iter().map(|it| self.json(it, found, graph)).collect();
                json!({"exchange": fields, "kind": kind, "width": width})
            }
            Built::Free(path) => json!({"free": path}),
            Built::Outside(name) => match name.as_str() {
                "dace_nounroll" | "nounroll" => json!({"builtin": "identity"}),
                "log_on_rank_0" | "print" => json!({"builtin": "nothing"}),
                _ => json!({"unknown": value.kind()}),
            },
            Built::Helper(_)
            | Built::Bound { .. }
            | Built::Local { .. }
            | Built::Super { .. }
            | Built::Unknown(_) => json!({"unknown": value.kind()}),
        }
    }

    fn json_of_constant(&mut self, value: &Constant, found: &mut FoundFunctions<'p>) -> Json {
        use isobar_front::frontend::constants::ElementType;
        if let Some(number) = number(value) {
            return number;
        }
        match value {
            Constant::None => Json::Null,
            Constant::Typed(Value::Bool(it)) => json!(it),
            Constant::Typed(it) if it.dtype().is_float() => {
                number(&Constant::Float(it.as_f64())).unwrap_or(Json::Null)
            }
            Constant::Typed(it) => json!(it.as_i64()),
            Constant::Tuple(parts) | Constant::List(parts) => {
                Json::Array(parts.iter().map(|it| self.json_of_constant(it, found)).collect())
            }
            Constant::Dict(entries) => {
                let pairs = entries.iter().map(|(key, it)| {
                    let key = self.json_of_constant(key, found);
                    Json::Array(vec![key, self.json_of_constant(it, found)])
                });
                json!({"dict": pairs.collect::<Vec<_>>()})
            }
            Constant::Function(it) => {
                let info = self.names.function(*it);
                if info.is_stencil && !info.def.decorators.is_empty() {
                    let grid = self.grid();
                    let func = Built::Constant(value.clone());
                    let range = (Built::triple(grid.origin), grid.domain);
                    return match self.stencil(func, range, None, false, info.def.name.span) {
                        Ok(Built::Stencil(name)) => json!({"stencil": name}),
                        _ => json!({"unknown": "a stencil whose range is not known"}),
                    };
                }
                if is_callback(info.def) {
                    return json!({"host": info.def.name.name});
                }
                json!({"function": self.key(*it, found)})
            }
            Constant::Element(ElementType::Float) => json!({"builtin": "float"}),
            Constant::Element(ElementType::Int) => json!({"builtin": "int"}),
            Constant::Element(ElementType::Fixed(dtype)) => json!({"builtin": dtype.name()}),
            Constant::Numeric(name) => json!({"builtin": name}),
            Constant::Foreign(path) if matches!(path.first().map(String::as_str), Some("numpy" | "math")) => {
                json!({"module": "math"})
            }
            Constant::Module(_) | Constant::Class(_) | Constant::Namespace(_) | Constant::Foreign(_) => {
                let known = found.modules.iter().find(|it| it.value == *value).map(|it| it.name.clone());
                let name = known.unwrap_or_else(|| {
                    let name = self.name("module");
                    found.modules.push(FoundModule {
                        name: name.clone(),
                        value: value.clone(),
                        told: GraphObject { class: value.describe().to_owned(), ..GraphObject::default() },
                        known: BTreeSet::new(),
                    });
                    name
                });
                json!({"object": name})
            }
            other => json!({"unknown": other.describe()}),
        }
    }
}

/// An edge of the tile that is another domain's lies so far away, as NDSL says.
const NOWHERE: i64 = i16::MAX as i64;

/// The attributes of a grid that methods ask for.
const GRID_ATTRIBUTES: [&str; 20] = [
    "origin",
    "domain",
    "n_halo",
    "isc",
    "iec",
    "jsc",
    "jec",
    "isd",
    "ied",
    "jsd",
    "jed",
    "max_shape",
    "west_edge",
    "east_edge",
    "south_edge",
    "north_edge",
    "nw_corner",
    "ne_corner",
    "sw_corner",
    "se_corner",
];

/// A number, a text or nothing as JSON; an infinite one in the graph's words.
pub(super) fn number(value: &Constant) -> Option<Json> {
    Some(match value {
        Constant::Bool(it) => json!(it),
        Constant::Int(it) | Constant::Member(it) => json!(it),
        Constant::Float(it) if it.is_finite() => json!(it),
        Constant::Float(it) => json!({"float": it.to_string()}),
        Constant::Str(it) => json!(&**it),
        _ => return None,
    })
}

/// Whether NDSL keeps a function out of programs, and it does more than compute a number.
fn is_callback(def: &FunctionDef) -> bool {
    let is_inhibited =
        def.decorators.iter().any(|it| it.as_dotted().is_some_and(|it| it.last() == Some(&"dace_inhibitor")));
    let is_text = |it: &&Stmt| !matches!(&it.kind, StmtKind::Expr(Expr { kind: ExprKind::Str(_), .. }));
    let body: Vec<&Stmt> = def.body.iter().filter(is_text).collect();
    is_inhibited && !matches!(body.as_slice(), [Stmt { kind: StmtKind::Return(_), .. }])
}

/// Each expression of statements, at any depth.
fn each_expr<'p>(body: &'p [Stmt], each: &mut impl FnMut(&'p Expr)) {
    for stmt in body {
        stmt.each_own_expr(&mut |it| it.walk(each));
        stmt.blocks().into_iter().for_each(|it| each_expr(it, each));
    }
}
