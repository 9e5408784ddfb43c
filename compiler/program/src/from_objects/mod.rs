//! An object graph to a program document: the text of a method, and of all that it calls, with the graph as constants.
//!
//! - Calls of methods and functions are put in where they stand. Calls of stencils become calls.
//! - Attributes, module constants, conditions on them and `x is None` are folded.
//! - Numbers of the caller stay numbers of run time. Loops over a range stay loops, unless their body picks something
//!   by the number of the iteration.

mod calls;
mod expressions;
mod free;
pub mod graph;
mod statements;
mod values;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use isobar_front::frontend::ParsedFiles;
use isobar_front::frontend::program::{SourceFile, for_each_function};
use isobar_front::frontend::syntax::FunctionDef;
use isobar_front::project::Project;
use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, LineIndex, Span};
use serde::Deserialize;

use self::free::FreeValue;
use self::graph::ObjectGraph;
use self::statements::BodyFlow;
use self::values::ObjectValue;
use self::whole::WholeArrays;
use crate::document::nodes::{HostEntry, PlaceEntry, ScalarText, StatementEntry};
use crate::document::{Entries, ProgramDocument};

/// The version of the form that is read here.
const VERSION: u32 = 1;

/// How deep methods may call each other.
const MOST_CALLS: usize = 64;

/// The most iterations that are written out, of all loops together.
const MOST_STEPS: usize = 1_000_000;

/// The most statements of a document.
const MOST_STATEMENTS: usize = 20_000;

/// Whether a text is an object graph.
#[must_use]
pub fn is_graph(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Version {
        #[serde(rename = "isobar_objects")]
        _version: u32,
    }
    serde_json::from_str::<Version>(text).is_ok()
}

/// Names and texts of the files of a graph; none where it is none.
#[must_use]
pub fn files(text: &str) -> Vec<(String, String)> {
    #[derive(Deserialize)]
    struct Files {
        files: Entries<String>,
    }
    serde_json::from_str::<Files>(text).map(|it| it.files.0).unwrap_or_default()
}

/// Makes the document of an object graph.
///
/// # Errors
///
/// P01 where the text is no graph, and otherwise what a method does that no program says, with the chain of calls.
pub fn document(text: &str) -> Result<ProgramDocument, Vec<Diagnostic>> {
    let unreadable = |why: &str| vec![catalog::unreadable(why, Span::default())];
    let graph: ObjectGraph = serde_json::from_str(text).map_err(|it| unreadable(&it.to_string()))?;
    if graph.isobar_objects != VERSION {
        let version = graph.isobar_objects;
        return Err(unreadable(&format!("its version is {version}, and this compiler reads {VERSION}")));
    }
    document_of(&graph)
}

/// The same for a graph that was not written down.
///
/// # Errors
///
/// As for [`document`].
pub fn document_of(graph: &ObjectGraph) -> Result<ProgramDocument, Vec<Diagnostic>> {
    let files = graph.files.0.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
    let project = Project { files, ..Project::default() };
    let parsed = ParsedFiles::default().of(&project);
    let mut reader = ObjectReader::new(graph, &parsed);
    let entry = &graph.entry;
    let args = entry.args.iter().map(ObjectValue::read).collect();
    let keywords = entry.keywords.0.iter().map(|(name, it)| (name.clone(), ObjectValue::read(it))).collect();
    let function = ObjectValue::Function { name: entry.function.clone(), object: entry.object.clone() };
    let outcome = reader.enter(&function, args, keywords, Span::default());
    outcome.map_err(|stop| vec![stop.diagnostic])?;
    let body = reader.out.pop().unwrap_or_default();
    let WholeArrays { text, fields, stencils } = std::mem::take(&mut reader.whole_arrays);
    let (free_fields, free_scalars) = reader.free_entries();
    let free = free_fields.iter().map(|it| it.0.clone());
    let results = graph.results.as_ref().map(|it| it.iter().cloned().chain(free).collect());
    let own = graph.stencils.0.iter().map(|(name, it)| (name.clone(), it.stencil.clone()));
    let own_file = (!text.is_empty()).then(|| (whole::FILE.to_owned(), text));
    Ok(ProgramDocument {
        isobar_program: 1,
        name: graph.name.clone(),
        files: Entries(graph.files.0.iter().cloned().chain(own_file).collect()),
        grid: graph.grid.clone(),
        fields: Entries(graph.fields.0.iter().cloned().chain(free_fields).chain(fields).collect()),
        scalars: Entries(graph.scalars.0.iter().cloned().chain(free_scalars).collect()),
        stencils: Entries(own.chain(stencils).collect()),
        programs: Entries::default(),
        plans: graph.plans.clone(),
        hosts: Entries(std::mem::take(&mut reader.hosts)),
        results,
        body,
    })
}

/// Why the text of a method has no document.
#[derive(Clone, Debug)]
struct ReadStop {
    diagnostic: Diagnostic,
    /// Whether the iterations of a loop around, one by one, would give what is missing.
    needs_number: bool,
}

type Reading<T> = Result<T, ReadStop>;

/// The values of locals, by name.
type Names = BTreeMap<String, ObjectValue>;

/// The names of one call of a function.
#[derive(Clone, Debug)]
struct Frame<'g> {
    function: &'g str,
    names: Names,
    /// For scalars of the program that hold its locals.
    number: usize,
    /// How many conditions and loops of run time stand around the statement, within the function.
    n_scopes: usize,
}

/// Reads methods, and writes statements.
struct ObjectReader<'g> {
    graph: &'g ObjectGraph,
    files: &'g [Arc<SourceFile>],
    lines: Vec<LineIndex>,
    frames: Vec<Frame<'g>>,
    /// The blocks that are written, the innermost last.
    out: Vec<Vec<StatementEntry>>,
    n_calls: usize,
    n_statements: usize,
    n_steps: usize,
    whole_arrays: WholeArrays,
    hosts: Vec<(String, HostEntry)>,
    /// By path.
    free: BTreeMap<String, FreeValue>,
}

impl<'g> ObjectReader<'g> {
    fn new(graph: &'g ObjectGraph, files: &'g [Arc<SourceFile>]) -> Self {
        let lines = files.iter().map(|it| LineIndex::new(&it.text)).collect();
        let (frames, out) = (Vec::new(), vec![Vec::new()]);
        Self {
            graph,
            files,
            lines,
            frames,
            out,
            n_calls: 0,
            n_statements: 0,
            n_steps: 0,
            whole_arrays: WholeArrays::default(),
            hosts: Vec::new(),
            free: BTreeMap::new(),
        }
    }

    fn refused(&self, what: &str, why: &str, at: Span) -> ReadStop {
        ReadStop { diagnostic: catalog::unsupported(what, why, at), needs_number: false }
    }

    /// A refusal that would be none if a loop around were written out.
    fn needs_number(&self, what: &str, why: &str, at: Span) -> ReadStop {
        ReadStop { needs_number: true, ..self.refused(what, why, at) }
    }

    fn place(&self, at: Span) -> Option<PlaceEntry> {
        let number = usize::from(at.file.0);
        let (file, lines) = (self.files.get(number)?, self.lines.get(number)?);
        let found = lines.line_col(&file.text, at.start);
        Some(PlaceEntry { file: file.name.to_string(), line: found.line, col: found.col })
    }

    /// Counts a step of reading, so that loops over nothing end.
    fn count(&mut self, at: Span) -> Reading<()> {
        self.n_steps += 1;
        if self.n_steps > MOST_STEPS {
            let why = format!("its loops have more than {MOST_STEPS} iterations when they are written out");
            return Err(self.refused("the program", &why, at));
        }
        Ok(())
    }

    /// Computes arguments of run time when a function is called, and not where it uses them.
    fn keep_arguments(&mut self, at: Span) -> Reading<()> {
        let names = self.frames.last().map(|it| it.names.clone()).unwrap_or_default();
        for (name, value) in names {
            let ObjectValue::Scalar(text) = &value else { continue };
            if text.chars().all(|it| it == '_' || it.is_ascii_alphanumeric()) {
                continue;
            }
            let own = self.scalar_of(&name);
            self.let_scalar(&own, ScalarText::Text(text.clone()), at)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.names.insert(name, ObjectValue::Scalar(own));
            }
        }
        Ok(())
    }

    /// Adds a statement to the innermost block.
    fn write(&mut self, entry: StatementEntry, at: Span) -> Reading<()> {
        self.n_statements += 1;
        if self.n_statements > MOST_STATEMENTS {
            let why = format!("it has more than {MOST_STATEMENTS} statements when it is written out");
            return Err(self.refused("the program", &why, at));
        }
        let entry = StatementEntry { at: self.place(at), ..entry };
        if let Some(block) = self.out.last_mut() {
            block.push(entry);
        }
        Ok(())
    }

    /// The text of a function of the graph.
    fn definition(&self, name: &str, at: Span) -> Reading<(&'g str, &'g FunctionDef)> {
        let unknown = |what: &str| {
            let told = catalog::unsupported(&format!("the function `{name}`"), what, at);
            ReadStop { diagnostic: told, needs_number: false }
        };
        let functions = &self.graph.functions.0;
        let Some((key, function)) = functions.iter().find(|it| it.0 == name) else {
            return Err(unknown("the graph has no text of it"));
        };
        let number = self.files.iter().position(|it| *it.name == function.file);
        let Some((file, lines)) = number.and_then(|it| Some((self.files.get(it)?, self.lines.get(it)?)))
        else {
            return Err(unknown("the graph lacks its file"));
        };
        let mut found = None;
        for_each_function(&file.syntax().body, &mut |it| {
            if lines.line_col(&file.text, it.name.span.start).line == function.line {
                found = Some(it);
            }
        });
        found.map(|it| (key.as_str(), it)).ok_or_else(|| unknown("its file has no `def` in its line"))
    }

    /// Runs the body of a function with these arguments; its value is that of its `return`.
    fn enter(
        &mut self,
        function: &ObjectValue,
        args: Vec<ObjectValue>,
        keywords: Vec<(String, ObjectValue)>,
        at: Span,
    ) -> Reading<ObjectValue> {
        let ObjectValue::Function { name, object } = function else {
            return Err(self.refused(&function.kind(), "it is no function with a text", at));
        };
        let (name_key, definition) = self.definition(name, at)?;
        if self.frames.len() >= MOST_CALLS {
            let names: Vec<&str> = self.frames.iter().map(|it| it.function).rev().take(4).collect();
            let why = format!("methods call each other without end: {}", names.join(", "));
            return Err(self.refused("the call", &why, at));
        }
        if let Some(other) = definition.variadic.first() {
            return Err(self.refused(&format!("`*{}`", other.name), "it takes any number of arguments", at));
        }
        let own = object.iter().map(|it| ObjectValue::Object(it.clone()));
        let mut positional = own.chain(args);
        let mut names = BTreeMap::new();
        for param in &definition.params {
            let name = &param.name.name;
            let given = if param.is_keyword_only { None } else { positional.next() };
            let by_name = keywords.iter().find(|it| it.0 == *name).map(|it| it.1.clone());
            let value = match (given, by_name, &param.default) {
                (Some(value), _, _) | (None, Some(value), _) => value,
                // A default is computed where the function is written, and sees what the function sees.
                (None, None, Some(default)) => {
                    self.frames.push(Frame {
                        function: name_key,
                        names: BTreeMap::new(),
                        number: 0,
                        n_scopes: 0,
                    });
                    let value = self.expr(default);
                    self.frames.pop();
                    value?
                }
                (None, None, None) => {
                    let what = format!("the call of `{}`", definition.name.name);
                    return Err(self.refused(&what, &format!("`{name}` is not given"), at));
                }
            };
            names.insert(name.clone(), value);
        }
        if let Some((other, _)) = keywords.iter().find(|it| !names.contains_key(&it.0)) {
            let what = format!("the call of `{}`", definition.name.name);
            return Err(self.refused(&what, &format!("it has no parameter `{other}`"), at));
        }
        if positional.next().is_some() {
            let what = format!("the call of `{}`", definition.name.name);
            return Err(self.refused(&what, "it has more arguments than parameters", at));
        }
        self.n_calls += 1;
        let number = self.n_calls;
        self.frames.push(Frame { function: name_key, names, number, n_scopes: 0 });
        self.keep_arguments(at)?;
        let flow = self.body(&definition.body);
        self.frames.pop();
        match flow {
            Ok(BodyFlow::Return(value)) => Ok(value),
            Ok(BodyFlow::Next) => Ok(ObjectValue::None),
            Err(stop) if at == Span::default() => Err(stop),
            Err(stop) => Err(ReadStop { diagnostic: stop.diagnostic.also(at, "called here"), ..stop }),
        }
    }
}
