//! A class of the files to an object graph, without Python.
//!
//! The constructor is evaluated: attributes, loops, lists, functions and classes of the files, and the parts of NDSL and
//! GT4Py that make stencils and fields. Its result is the same graph that a walker makes of live objects, so the methods
//! are read by `from_objects`.
//!
//! - Sizes are those of one domain. A program of another domain is made of the text again.
//! - A value from outside of the files is unknown. That is refused where a condition or a method needs it.
//! - A parameter of the constructor without a value stands for what callers give: fields and numbers of run time.

mod calls;
mod expressions;
mod finish;
mod helpers;
mod sizes;
mod statements;
mod values;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use isobar_front::config::Config;
use isobar_front::frontend::constants::Evaluation;
use isobar_front::frontend::modules::{ClassId, FunctionId};
use isobar_front::frontend::syntax::{FunctionDef, StmtKind};
use isobar_front::frontend::{Names, Program, parse};
use isobar_front::project::Project;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Diagnostics, FileId, Span};
use serde_json::{Map, Value as Json};

use self::values::{BuildHelper, Built, BuiltFrame, BuiltObject, GridIndices};
use crate::document::nodes::FieldEntry;
use crate::from_objects::graph::{GraphStencil, ObjectGraph};

/// How deep functions may call each other.
const MOST_CALLS: usize = 32;

/// The most statements and elements of one evaluation.
const MOST_STEPS: usize = 1 << 20;

/// The class that is to be a program, and what its constructor gets.
#[derive(Clone, Debug)]
pub struct ClassRequest<'a> {
    /// Its name, in the main file or as a path: `Diffusion`, `model.dynamics.Core`.
    pub class: &'a str,
    /// The method that is the program.
    pub method: &'a str,
    /// Arguments of the constructor by name. An object with names stands for an object with attributes.
    pub given: &'a Map<String, Json>,
    /// Points of the compute domain along I, J and K.
    pub domain: [u32; 3],
    /// Points around it along I and J.
    pub halo: u32,
    /// Whether each edge of the tile is the domain's own, in the order of [`EDGES`](crate::nodes::EDGES).
    pub edges: [bool; 4],
}

/// Makes the object graph of a class.
///
/// # Errors
///
/// The statement of the constructor that is not followed, with the chain of calls.
pub fn graph(
    project: &Project,
    config: &Config,
    request: &ClassRequest<'_>,
) -> Result<ObjectGraph, Vec<Diagnostic>> {
    // Another domain tells which ranges are the same on each.
    let larger = |it: usize| request.domain[it].saturating_add([7, 11, 13][it]);
    let other = ClassRequest { domain: std::array::from_fn(larger), ..request.clone() };
    let program = parse(project, &mut Diagnostics::default());
    let names = Names::new(&program, config);
    let class = named(&names, &program, request.class).map_err(|it| vec![it])?;
    let mut graph =
        ObjectBuilder::new(&names, &program, project, request).graph(class).map_err(|it| vec![*it])?;
    if let Ok(on_other) = ObjectBuilder::new(&names, &program, project, &other).graph(class) {
        sizes::keep_constant(&mut graph, request.domain, &on_other, other.domain);
    }
    Ok(graph)
}

/// The class of a name, or of a path.
fn named(names: &Names<'_>, program: &Program, wanted: &str) -> Result<ClassId, Diagnostic> {
    let (module, name) = wanted.rsplit_once('.').map_or((None, wanted), |(module, it)| (Some(module), it));
    let is_meant = |file: &FileId| match module {
        Some(module) => names.module_path(*file).is_some_and(|it| {
            let path = it.join(".");
            path == module || path.ends_with(&format!(".{module}"))
        }),
        None => program.main.is_none_or(|it| it == *file),
    };
    let mut all = Vec::new();
    for file in names.files() {
        for class in names.class_ids(file) {
            let is_named = names.class_name(class).0 == name;
            if is_named && is_meant(&file) {
                return Ok(class);
            }
            all.push(names.class_name(class).0);
        }
    }
    Err(catalog::unknown("class", wanted, all, Span::default()))
}

/// Why a constructor is not followed.
type BuildStop = Box<Diagnostic>;

type Building<T> = Result<T, BuildStop>;

/// A parsed program lives as long as its values.
struct ObjectBuilder<'p> {
    names: &'p Names<'p>,
    program: &'p Program,
    project: &'p Project,
    request: &'p ClassRequest<'p>,
    objects: Vec<BuiltObject<'p>>,
    lists: Vec<Vec<Built<'p>>>,
    tables: Vec<Vec<(Built<'p>, Built<'p>)>>,
    stencils: Vec<(String, GraphStencil)>,
    fields: Vec<(String, FieldEntry)>,
    /// The dictionaries of the request, whose entries are attributes as well.
    is_given: BTreeSet<usize>,
    frames: Vec<BuiltFrame<'p>>,
    /// Of the function that is called next: [`BuiltFrame::result_name`].
    result_name: Option<String>,
    /// Sizes of the data dimensions of a quantity factory.
    data_dims: BTreeMap<String, u32>,
    /// Names of fields, stencils and objects.
    taken: BTreeSet<String>,
    n_steps: usize,
}

impl<'p> ObjectBuilder<'p> {
    fn new(
        names: &'p Names<'p>,
        program: &'p Program,
        project: &'p Project,
        request: &'p ClassRequest<'p>,
    ) -> Self {
        // The axes are no names of a document.
        let taken = ["i", "j", "k", "I", "J", "K"].map(str::to_owned).into();
        Self {
            names,
            program,
            project,
            request,
            objects: Vec::new(),
            lists: Vec::new(),
            tables: Vec::new(),
            is_given: BTreeSet::new(),
            stencils: Vec::new(),
            fields: Vec::new(),
            result_name: None,
            frames: Vec::new(),
            data_dims: BTreeMap::new(),
            taken,
            n_steps: 0,
        }
    }

    fn refused(what: &str, why: &str, at: Span) -> BuildStop {
        Box::new(catalog::unsupported(what, why, at))
    }

    /// Refuses a value that the constructor does not tell.
    fn unknown(what: &str, value: &Built<'p>, at: Span) -> BuildStop {
        let told = catalog::unsupported(what, &format!("it depends on {}", value.kind()), at);
        Box::new(match value {
            // A line of the text gives no part of an object.
            Built::Free(path) if path.contains('.') => {
                told.help(format!("give `{path}` a value in the file of `--externals`"))
            }
            Built::Free(path) => told.help(format!(
                "give `{path}` a value: in the file of `--externals`, or by a line `# @external {path} = ...`"
            )),
            _ => told,
        })
    }

    fn count(&mut self, at: Span) -> Building<()> {
        self.n_steps += 1;
        if self.n_steps > MOST_STEPS {
            return Err(Self::refused("the constructor", "it has too many steps", at));
        }
        Ok(())
    }

    /// A name that nothing else has.
    fn name(&mut self, wanted: &str) -> String {
        let letters = wanted.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' });
        let wanted: String = letters.collect();
        let wanted = wanted.trim_start_matches('_');
        let wanted = match wanted.starts_with(|it: char| it.is_ascii_digit()) || wanted.is_empty() {
            true => format!("it_{wanted}"),
            false => wanted.to_owned(),
        };
        let (mut name, mut number) = (wanted.clone(), 1);
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }

    /// The domain of the request, in the arrays of NDSL.
    fn grid(&self) -> GridIndices {
        let [i, j, k] = self.request.domain.map(i64::from);
        let n_halo = i64::from(self.request.halo);
        let edges = self.request.edges;
        GridIndices { origin: [n_halo, n_halo, 0], domain: [i, j, k], n_halo, edges }
    }

    fn list(&mut self, values: Vec<Built<'p>>) -> Built<'p> {
        self.lists.push(values);
        Built::List(self.lists.len() - 1)
    }

    fn table(&mut self, entries: Vec<(Built<'p>, Built<'p>)>) -> Built<'p> {
        self.tables.push(entries);
        Built::Table(self.tables.len() - 1)
    }

    /// Makes the object of a class, without running its constructor.
    fn object(&mut self, class: ClassId, wanted: &str) -> usize {
        let name = self.name(&format!("object_{wanted}"));
        self.objects.push(BuiltObject { class, name, attributes: BTreeMap::new() });
        self.objects.len() - 1
    }

    /// The meaning of a name at the top of a file.
    fn top_name(&self, file: FileId, name: &str) -> Option<Evaluation> {
        self.names.lookup(self.names.module_scope(file)?, u32::MAX, name)
    }

    /// The function of a definition.
    fn function_of(&self, def: &'p FunctionDef) -> Option<FunctionId> {
        let file = def.name.span.file;
        self.names.functions(file).find(|(_, it)| std::ptr::eq(it.def, def)).map(|it| it.0)
    }

    /// The method of a class, with the class that has its text.
    fn method_of(&self, class: ClassId, name: &str) -> Option<(ClassId, &'p FunctionDef)> {
        self.names.lineage(class).find_map(|it| {
            let defs = self.names.class_def(it).body.iter().rev();
            let mut defs = defs.filter_map(|it| match &it.kind {
                StmtKind::Function(def) => Some(def),
                _ => None,
            });
            defs.find(|def| def.name.name == name).map(|def| (it, def))
        })
    }

    /// A frame of a function's names.
    fn frame(
        names: BTreeMap<String, Built<'p>>,
        around: Option<&BuiltFrame<'p>>,
        this: Option<(usize, ClassId)>,
    ) -> BuiltFrame<'p> {
        let outer = around.map(|it| {
            let mut all = vec![Rc::clone(&it.names)];
            all.extend(it.around.iter().cloned());
            all
        });
        BuiltFrame {
            names: Rc::new(RefCell::new(names)),
            around: outer.unwrap_or_default(),
            this,
            result_name: None,
        }
    }

    /// A value of the request, as an object of the constructor.
    fn given(&mut self, path: &str, json: &Json) -> Built<'p> {
        use isobar_front::frontend::constants::Constant;
        match json {
            Json::Null => Built::NONE,
            Json::Bool(it) => Built::bool(*it),
            Json::Number(it) => match (it.as_i64(), it.as_f64()) {
                (Some(it), _) => Built::int(it),
                (None, Some(it)) => Built::Constant(Constant::Float(it)),
                (None, None) => Built::Unknown(format!("the number {it} is too large")),
            },
            Json::String(it) => Built::Constant(Constant::Str(it.as_str().into())),
            Json::Array(parts) => {
                let parts = (0..).zip(parts).map(|(at, it)| self.given(&format!("{path}_{at}"), it));
                let parts: Vec<_> = parts.collect();
                self.list(parts)
            }
            Json::Object(entries) => {
                let entries = entries.iter().map(|(name, it)| {
                    (
                        Built::Constant(Constant::Str(name.as_str().into())),
                        self.given(&format!("{path}.{name}"), it),
                    )
                });
                let entries: Vec<_> = entries.collect();
                self.is_given.insert(self.tables.len());
                self.table(entries)
            }
        }
    }

    /// The value that a parameter of the constructor stands for, by its annotation and its name.
    fn stand_in(&self, name: &str, annotation: Option<&str>) -> Built<'p> {
        let told = format!("{} {name}", annotation.unwrap_or_default().to_lowercase());
        let says = |word: &str| told.replace('_', "").contains(word);
        let helper = if says("stencilfactory") {
            BuildHelper::StencilFactory(self.grid())
        } else if says("quantityfactory") {
            BuildHelper::QuantityFactory
        } else if says("gridindexing") {
            BuildHelper::Grid(self.grid())
        } else if says("communicator") || name == "comm" {
            BuildHelper::Communicator
        } else if says("timer") {
            BuildHelper::Timer
        } else if says("daceconfig") || says("stencilconfig") || name == "backend" {
            BuildHelper::Setting(name.to_owned())
        } else {
            return Built::Free(name.to_owned());
        };
        Built::Helper(helper)
    }
}
