//! The stencils of a program, compiled once for each function, its externals and its aliases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use isobar_front::config::{Config, External, Tile};
use isobar_front::frontend::program::SourceFile;
use isobar_front::frontend::{ParsedFiles, parse};
use isobar_front::project::Project;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::pass::{NoHook, PassOptions};
use isobar_ground::space::Axis;
use isobar_ground::types::{DType, Value};
use isobar_reference::front::{Front, front_of_files};

use crate::nodes::{ProgramGrid, ProgramStencil};

/// Stencils that programs of a process share where texts and options are the same, as those of ranks that are threads.
/// They live as long as a program has them.
#[derive(Clone, Debug, Default)]
pub struct SharedStencils(Arc<Mutex<Vec<Weak<StencilTexts>>>>);

impl SharedStencils {
    /// The texts of a program, which another one may have read already.
    fn texts(&self, project: Project, config: Config) -> Arc<StencilTexts> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|it| it.strong_count() > 0);
        let same = known.iter().filter_map(Weak::upgrade);
        let mut same = same.filter(|it| it.config == config && it.project.files == project.files);
        if let Some(known) = same.next() {
            return known;
        }
        let files = ParsedFiles::default().of(&project);
        let made = Arc::new(StencilTexts { project, files, config, fronts: Mutex::default() });
        known.push(Arc::downgrade(&made));
        made
    }
}

/// Texts with their options, and the stencils that were compiled of them.
#[derive(Debug)]
struct StencilTexts {
    project: Project,
    files: Vec<Arc<SourceFile>>,
    config: Config,
    fronts: Mutex<BTreeMap<SharedKey, FrontCell>>,
}

/// A stencil that one thread compiles, and others wait for; none where it has faults, which each program tells itself.
type FrontCell = Arc<OnceLock<Option<Arc<Front>>>>;

/// A stencil, and the pairs of its parameters that are one field.
type SharedKey = (FrontKey, Vec<[usize; 2]>);

impl StencilTexts {
    /// A stencil that some program has compiled, or that `make` compiles.
    fn front(&self, key: SharedKey, make: impl FnOnce() -> Option<Arc<Front>>) -> Option<Arc<Front>> {
        let cell = {
            let mut fronts = self.fronts.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(fronts.entry(key).or_default())
        };
        cell.get_or_init(make).clone()
    }

    /// A stencil that some program has compiled.
    fn known(&self, key: &SharedKey) -> Option<Arc<Front>> {
        let fronts = self.fronts.lock().unwrap_or_else(PoisonError::into_inner);
        fronts.get(key)?.get()?.clone()
    }
}

/// The compiled stencils of one program.
#[derive(Debug)]
pub struct ProgramFronts {
    texts: Arc<StencilTexts>,
    /// Whether each edge of the tile is the domain's own, in the order of [`EDGES`](crate::nodes::EDGES).
    edges: [bool; 4],
    /// By function and externals, and by the edges where the function reads some.
    fronts: BTreeMap<FrontKey, Arc<Front>>,
    /// Those in which pairs of parameters are one field.
    unified: BTreeMap<SharedKey, Arc<Front>>,
}

/// A function, its externals, and the externals that tell edges.
type FrontKey = (String, Vec<(String, String)>, Vec<String>);

impl ProgramFronts {
    /// Reads the files of a program. `config` has the options of all its stencils, but for their levels. Each range
    /// has its own, so NDSL's `k_end` has no value here.
    #[must_use]
    pub fn new(
        files: impl IntoIterator<Item = (String, String)>,
        config: Config,
        shared: &SharedStencils,
    ) -> Self {
        let config = Config { levels: None, ..config };
        let files = files.into_iter().map(|(name, text)| (name, text.into())).collect();
        let texts = shared.texts(Project { files, ..Project::default() }, config);
        Self { texts, edges: [true; 4], fronts: BTreeMap::new(), unified: BTreeMap::new() }
    }

    /// The files, whose order gives the numbers of places.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.texts.project
    }

    /// Takes the edges of the tile, for the externals by which NDSL tells them.
    pub fn set_grid(&mut self, grid: &ProgramGrid) {
        self.edges = grid.edges;
    }

    /// Compiles a stencil; the same function with the same externals is compiled once.
    ///
    /// # Errors
    ///
    /// P02 where no file has it, P17 for an external that has no value, and the faults of its text.
    pub fn front(&mut self, stencil: &ProgramStencil) -> Result<Arc<Front>, Vec<Diagnostic>> {
        let edges = self.edge_externals(stencil);
        let [plain, own] = keys(stencil, &edges);
        if let Some(known) = self.fronts.get(&plain).or_else(|| self.fronts.get(&own)) {
            return Ok(Arc::clone(known));
        }
        let is_right = |it: &Arc<Front>| !it.has_errors() && it.contract().is_some();
        let make = || self.compiled(stencil, &edges).ok().map(Arc::new).filter(is_right);
        let [shared, own_shared] = [&plain, &own].map(|it| (it.clone(), Vec::new()));
        let known = self.texts.known(&shared);
        let front = match known.or_else(|| self.texts.front(own_shared, make)) {
            Some(front) => front,
            None => Arc::new(self.compiled(stencil, &edges)?),
        };
        if front.has_errors() || front.contract().is_none() {
            return Err(front.notes.diagnostics.clone());
        }
        let is_read = |name: &str| front.externals.iter().any(|it| it.name == name);
        let is_given = |name: &str| stencil.externals.iter().any(|it| it.0 == name);
        for (name, is_unknown) in [("k_end", true), ("k_start", stencil.origin[Axis::K.index()] != 0)] {
            if is_unknown && is_read(name) && !is_given(name) {
                let why = "ranges have levels of their own; give it in `externals`";
                let told = catalog::unsupported(&format!("the external `{name}`"), why, stencil.span);
                return Err(vec![told]);
            }
        }
        let key = if edges.iter().any(|it| is_read(it.0)) {
            own
        } else {
            // Programs with other edges have the same stencil.
            self.texts.front(shared, || Some(Arc::clone(&front)));
            plain
        };
        self.fronts.insert(key, Arc::clone(&front));
        Ok(front)
    }

    /// The stencil in which pairs of parameters are one field; see decision 8, "One array is one field".
    ///
    /// # Errors
    ///
    /// As for [`front`](Self::front), and C08 where a neighbour is found at run time.
    pub fn unified(
        &mut self,
        stencil: &ProgramStencil,
        pairs: &[[usize; 2]],
    ) -> Result<Arc<Front>, Vec<Diagnostic>> {
        let front = self.front(stencil)?;
        if pairs.is_empty() {
            return Ok(front);
        }
        let [plain, own] = keys(stencil, &self.edge_externals(stencil));
        let key = (if self.fronts.contains_key(&plain) { plain } else { own }, pairs.to_vec());
        if let Some(known) = self.unified.get(&key) {
            return Ok(Arc::clone(known));
        }
        let make = || front.unified(pairs, &PassOptions::default(), &mut NoHook);
        let unified = match self.texts.front(key.clone(), || make().ok().map(Arc::new)) {
            Some(unified) => unified,
            None => Arc::new(make()?),
        };
        self.unified.insert(key, Arc::clone(&unified));
        Ok(unified)
    }

    fn compiled(
        &self,
        stencil: &ProgramStencil,
        edges: &[(&'static str, External)],
    ) -> Result<Front, Vec<Diagnostic>> {
        let (main, name) = self.found(&stencil.function, stencil.span).map_err(|it| vec![it])?;
        let mut config = self.texts.config.clone();
        config.externals.extend(edges.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        for (name, value) in &stencil.externals {
            let read = serde_json::from_str(value).ok().and_then(|it| external(&it));
            let Some(read) = read else {
                let why = "its form is not known";
                return Err(vec![catalog::unsupported(&format!("the external `{name}`"), why, stencil.span)]);
            };
            config.externals.insert(name.clone(), read);
        }
        let project = Project { main, stencil: Some(name), ..self.texts.project.clone() };
        Ok(front_of_files(&project, self.texts.files.clone(), &config, &mut NoHook))
    }

    /// The externals of NDSL that tell edges, seen from the range of a stencil. `i_start` is the first point of the
    /// compute domain. Where that edge is another domain's, it is far away.
    fn edge_externals(&self, stencil: &ProgramStencil) -> Vec<(&'static str, External)> {
        let value = |(name, axis, is_end, edge): EdgeExternal| {
            let at = Axis::index(axis);
            let (origin, size) = (stencil.origin[at], stencil.domain[at]);
            let is_own = edge.is_none_or(|it: usize| self.edges[it]);
            let value = match Tile::Interior.offset(name) {
                Some(far) if !is_own => far,
                _ if !is_end => External::Axis { axis, index: Some(0), offset: -origin },
                _ if size.axis == Some(axis) => {
                    External::Axis { axis, index: Some(-1), offset: -origin - size.offset }
                }
                _ => External::Unsupported(
                    "the end of the grid, as far away as the domain is large".to_owned(),
                ),
            };
            (name, value)
        };
        EDGE_EXTERNALS.into_iter().map(value).collect()
    }

    /// The file and the stencil in it that a dotted name means. The longest module wins.
    fn found(&self, function: &str, at: Span) -> Result<(String, String), Diagnostic> {
        let mut known = Vec::new();
        let dots: Vec<usize> = function.match_indices('.').map(|it| it.0).collect();
        for dot in dots.into_iter().rev() {
            let (module, name) = (&function[..dot], &function[dot + 1..]);
            let named = |is: fn(&[String], &str) -> bool| -> Vec<&Arc<SourceFile>> {
                self.texts.files.iter().filter(|it| is(&it.module, module)).collect()
            };
            let mut files = named(|path, module| dotted(path) == module);
            if files.is_empty() {
                files = named(is_named);
            }
            let Some(file) = files.first() else { continue };
            let stencils = file.stencils();
            if stencils.iter().any(|it| it.path == name || it.name == name) {
                if files.len() > 1 {
                    let names: Vec<&str> = files.iter().map(|it| &*it.name).collect();
                    return Err(catalog::ambiguous(function, &names, at));
                }
                return Ok((file.name.to_string(), name.to_owned()));
            }
            known.extend(stencils.into_iter().map(|it| format!("{module}.{}", it.name)));
        }
        if known.is_empty() {
            let all = self.texts.files.iter().flat_map(|file| {
                file.stencils().into_iter().map(|it| format!("{}.{}", dotted(&file.module), it.name))
            });
            known.extend(all);
        }
        Err(catalog::unknown("stencil function", function, known.iter().map(String::as_str), at))
    }
}

/// The dotted name of a module. Folders and files may have names that Python does not: `my-models/step.py` is
/// `my_models.step`.
pub(crate) fn dotted(module: &[String]) -> String {
    let part = |it: &String| {
        let plain: String =
            it.chars().map(|it| if it.is_ascii_alphanumeric() || it == '_' { it } else { '_' }).collect();
        if is_dotted_name(&plain) { plain } else { format!("_{plain}") }
    };
    module.iter().map(part).collect::<Vec<_>>().join(".")
}

/// Whether a name means a module: all of its path, or the last parts of it.
pub(crate) fn is_named(path: &[String], module: &str) -> bool {
    let whole = dotted(path);
    whole == module || whole.strip_suffix(module).is_some_and(|before| before.ends_with('.'))
}

/// Whether texts can name something so: names of Python, with dots between them.
pub(crate) fn is_dotted_name(text: &str) -> bool {
    let is_plain = text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'.');
    is_plain && parse::expression(text, Span::default()).is_some_and(|it| it.as_dotted().is_some())
}

/// A name, its axis, whether it means the last point, and the edge that it needs.
type EdgeExternal = (&'static str, Axis, bool, Option<usize>);

const EDGE_EXTERNALS: [EdgeExternal; 8] = [
    ("i_start", Axis::I, false, Some(0)),
    ("i_end", Axis::I, true, Some(1)),
    ("j_start", Axis::J, false, Some(2)),
    ("j_end", Axis::J, true, Some(3)),
    ("local_is", Axis::I, false, None),
    ("local_ie", Axis::I, true, None),
    ("local_js", Axis::J, false, None),
    ("local_je", Axis::J, true, None),
];

/// The keys of a stencil whose function reads no edge, and of one that does.
fn keys(stencil: &ProgramStencil, edges: &[(&'static str, External)]) -> [FrontKey; 2] {
    let (function, externals) = (stencil.function.clone(), stencil.externals.clone());
    let told = edges.iter().map(|it| format!("{it:?}")).collect();
    [(function.clone(), externals.clone(), Vec::new()), (function, externals, told)]
}

/// A number, or one of the words for numbers that JSON lacks.
#[must_use]
pub fn number(value: &serde_json::Value) -> Option<Value> {
    match value {
        serde_json::Value::Bool(it) => Some(Value::Bool(*it)),
        serde_json::Value::Number(it) => it
            .as_i64()
            .map(Value::Int64)
            .or_else(|| if it.is_f64() { it.as_f64().map(Value::Float64) } else { None }),
        serde_json::Value::String(it) => match it.as_str() {
            "nan" => Some(Value::Float64(f64::NAN)),
            "inf" => Some(Value::Float64(f64::INFINITY)),
            "-inf" => Some(Value::Float64(f64::NEG_INFINITY)),
            _ => None,
        },
        serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
    }
}

/// A value of a document in a type that holds it.
#[must_use]
pub fn typed_number(value: &serde_json::Value, dtype: DType) -> Option<Value> {
    let value = number(value)?;
    let typed = value.cast(dtype);
    let is_held = match (value, dtype) {
        (Value::Bool(_), _) => dtype == DType::Bool,
        (Value::Int64(it), _) if dtype.is_int() => typed.as_i64() == it,
        (Value::Int64(_), _) => dtype.is_float(),
        (other, _) => dtype.is_float() && other.as_f64().is_finite() == typed.as_f64().is_finite(),
    };
    is_held.then_some(typed)
}

/// An external as requests write it.
fn external(value: &serde_json::Value) -> Option<External> {
    match value {
        serde_json::Value::Null => return Some(External::None),
        serde_json::Value::Object(object) => return described(object),
        _ => {}
    }
    match number(value)? {
        Value::Bool(it) => Some(External::Bool(it)),
        Value::Int64(it) => Some(External::Int(it)),
        other => Some(External::Float(other.as_f64())),
    }
}

fn described(object: &serde_json::Map<String, serde_json::Value>) -> Option<External> {
    let text = |key: &str| object.get(key)?.as_str();
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    let has_only = |all: &[&str]| keys.iter().all(|it| all.contains(it));
    if has_only(&["function"]) {
        return Some(External::Function(text("function")?.to_owned()));
    }
    if has_only(&["dtype", "value"]) {
        let dtype = DType::from_name(text("dtype")?)?;
        return typed_number(object.get("value")?, dtype).map(External::Typed);
    }
    if has_only(&["namespace"]) {
        let members = object.get("namespace")?.as_object()?.iter();
        let members = members.map(|(name, it)| Some((name.clone(), external(it)?)));
        return members.collect::<Option<_>>().map(External::Namespace);
    }
    if has_only(&["axis", "index", "offset"]) {
        let axis = text("axis")?;
        let axis = Axis::ALL.into_iter().find(|it| it.name() == axis)?;
        let whole = |key: &str| object.get(key).map_or(Some(None), |it| it.as_i64().map(Some));
        return Some(External::Axis { axis, index: whole("index")?, offset: whole("offset")?.unwrap_or(0) });
    }
    None
}
