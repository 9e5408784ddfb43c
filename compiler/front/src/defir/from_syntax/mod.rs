//! The door in: a stencil's syntax to Definition IR.
//!
//! Names are resolved, functions inlined, externals and constants folded,
//! compile-time branches decided. Every error is reported that needs no types;
//! after one, the rest of the stencil is still built.
//!
//! Reading order: [`signature`], [`computation`] with [`region`], then
//! [`statement`] and what it is made of: [`expression`], [`index`], [`inline`].
//! [`unused`] warns of names that do nothing.
//! [`updates`] tells which arguments a function changes, [`vector`] takes assignments of whole vectors apart.
//! [`scope`] is what the names of one body mean, [`types`] what annotations mean, [`decorators`] how a stencil is
//! built, [`fixes`] how the text is mended.

mod computation;
mod decorators;
mod expression;
mod fixes;
mod index;
mod inline;
mod region;
mod scope;
mod signature;
mod statement;
mod types;
mod unused;
mod updates;
mod vector;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use itertools::Itertools;
use smallvec::SmallVec;

use self::scope::{Body, Frame, Local};
use super::nodes::{Field, Scalar, Stencil, Stmt, StmtKind};
use crate::config::Config;
use crate::diag::catalog::warnings::ChangedArgument;
use crate::diag::catalog::{
    compile_time as catalog, names as names_catalog, signature as signature_catalog, warnings,
};
use crate::diag::{Diagnostic, Diagnostics, Origin, Span, StmtId};
use crate::entity::Handle;
use crate::frontend::constants::Constant;
use crate::frontend::given::{self, StencilPick, TextDefaults};
use crate::frontend::modules::{EnumFault, FunctionId, FunctionInfo, MachineAssumption};
use crate::frontend::{Names, Program, arguments};
use crate::space::{AxisSet, LoopOrder};
use crate::types::DType;

/// The most statements of one stencil after inlining: functions that call functions twice grow without bound.
pub const MAX_STATEMENTS: u32 = 20_000;
/// The most parts of expressions of one stencil after inlining.
const MAX_PARTS: u32 = 1_000_000;
/// More errors of one stencil say nothing new.
const MAX_REPORTS: usize = 200;

/// The Definition IR of one stencil of the main file: of `stencil`, or of the only one.
///
/// A stencil with errors is returned too, as far as it was understood. Later levels take it only if
/// `diagnostics` has no error.
///
/// It is an error when the main file has no stencil, or none of that name. It is also one when the file has
/// several and no name is given. Callers that allow these cases ask [`Program::stencils`] first.
pub fn build(
    program: &Program,
    names: &Names<'_>,
    stencil: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Stencil> {
    let (chosen, function) = choose(program, names, stencil, diagnostics)?;
    let mut found = Diagnostics::default();
    let given = given::of(names, chosen);
    let config = given.complete(names.config);
    let mut builder = Builder::new(names, &config, &given, &mut found);
    builder.stencil(chosen, function);
    let stencil = builder.stencil;
    for (span, assumed) in names.assumed() {
        found.push(match assumed {
            MachineAssumption::Unset { variable } => warnings::assumed_unset(&variable, span),
            MachineAssumption::Absent { module } => warnings::assumed_absent(&module, span),
        });
    }
    // Those of the main file are known already.
    for file in names.reached().filter(|it| program.main != Some(it.id)) {
        diagnostics.extend(file.errors().iter().cloned());
    }
    for (name, defined, fault) in names.reached().flat_map(|it| names.faulty_enums(it.id)) {
        found.push(match fault {
            EnumFault::NotOfIntegers => names_catalog::not_derived_from_int_enum(name, defined),
            EnumFault::NamedTwice(first) => names_catalog::enum_defined_twice(name, defined, first),
        });
    }
    if let Some((idle, first)) = program.main.and_then(|it| arguments::idle(names, it)) {
        found.push(warnings::idle_arguments(&idle, first));
    }
    let broken_lines: Vec<Span> = diagnostics
        .iter()
        .filter(|it| it.code == crate::diag::catalog::syntax::SYNTAX)
        .filter_map(|it| it.primary.as_ref().map(|label| label.span))
        .collect();
    // Where the syntax is broken, the rest of that place is guesswork.
    let is_guesswork = |it: &Diagnostic| {
        it.primary.as_ref().is_some_and(|label| {
            broken_lines.iter().any(|broken| {
                broken.file == label.span.file
                    && label.span.start <= broken.end
                    && broken.start <= label.span.end
            })
        })
    };
    let found: Vec<Diagnostic> = found.iter().filter(|it| !is_guesswork(it)).cloned().collect();
    diagnostics.extend(program.sound(found));
    Some(stencil)
}

/// The function that is meant.
fn choose<'n, 'p>(
    program: &Program,
    names: &Names<'p>,
    wanted: Option<&'n str>,
    diagnostics: &mut Diagnostics,
) -> Option<(StencilPick<'n>, FunctionInfo<'p>)> {
    let main = program.main?;
    let all = program.stencils();
    let meant = given::meant(names, wanted);
    let listed = || all.iter().map(|it| it.name.clone()).collect::<Vec<String>>();
    match (meant.as_slice(), wanted) {
        ([(one, build)], _) => {
            let mut functions = names.functions(main);
            let found = functions.find(|(_, it)| it.def.name.span == one.span);
            return found.map(|(stencil, it)| (StencilPick { stencil, build: *build }, *it));
        }
        ([], Some(name)) => diagnostics.push(catalog::no_such_stencil(name, &listed())),
        ([], None) => {
            // A text that could not be read may well have one, and a file of functions is read by others.
            let has_functions = names.functions(main).any(|(_, it)| it.is_gtscript);
            if !diagnostics.has_errors() && !has_functions {
                diagnostics.push(catalog::no_stencil());
            }
        }
        (several, Some(name)) => {
            let paths: Vec<&str> = several.iter().map(|(it, _)| it.path.as_str()).collect();
            diagnostics.push(catalog::ambiguous_stencil(name, &paths));
        }
        (_, None) => diagnostics.push(catalog::several_stencils(&listed())),
    }
    None
}

/// Builds one stencil.
struct Builder<'b, 'p> {
    names: &'b Names<'p>,
    config: &'b Config,
    /// Externals, types and precisions that the text itself gives, in addition to the configuration.
    given: &'b TextDefaults,
    diagnostics: &'b mut Diagnostics,
    stencil: Stencil,
    /// Names of fields and scalars, so that temporaries get names of their own.
    taken: BTreeSet<String>,
    /// The stencil, then the functions that are being inlined, from outside in.
    frames: Vec<Frame<'p>>,
    /// The values of names of a file, by the place where each is written. A function that is called often
    /// looks up the same names each time.
    constants: BTreeMap<Span, Constant>,
    /// The analysed bodies of the functions that were met.
    bodies: BTreeMap<FunctionId, Rc<Body<'p>>>,
    /// The order of the computation that is being built.
    order: LoopOrder,
    /// Whether the statements are inside a horizontal region.
    is_in_region: bool,
    /// The element that is being computed in an assignment of a whole vector.
    element: Option<Vec<i64>>,
    /// The statement whose condition is being built: `if` or `while`.
    condition_of: Option<&'static str>,
    /// How often each function was inlined, by name.
    calls: BTreeMap<&'p str, u32>,
    next_stmt: u32,
    /// Parts of expressions built so far, and reports made.
    n_parts: u32,
    n_reports: usize,
    /// Externals that cannot be used and were reported.
    told_externals: BTreeSet<String>,
    /// Variables of the caller that a call changes, by the call and the name of the function that changes
    /// them.
    changes: BTreeMap<(Span, Span), Vec<ChangedArgument<'p>>>,
    /// Names of the file whose values are not known, and were reported.
    told_opaque: BTreeSet<String>,
    literal_int: DType,
    literal_float: DType,
    /// Lines of statements that failed are not reported twice: set once too large.
    is_too_large: bool,
    /// Functions that may not be entered again.
    entered: Vec<FunctionId>,
}

impl<'b, 'p> Builder<'b, 'p> {
    fn new(
        names: &'b Names<'p>,
        config: &'b Config,
        given: &'b TextDefaults,
        diagnostics: &'b mut Diagnostics,
    ) -> Self {
        let mut retyped = |key: &str, is_such: fn(DType) -> bool, otherwise: DType| {
            let Some(text) = config.dtypes.get(key) else { return otherwise };
            // NDSL's `Float` follows the precision, as literals do.
            if text.eq_ignore_ascii_case(key) {
                return otherwise;
            }
            let plain = text.strip_prefix("np.").or_else(|| text.strip_prefix("numpy.")).unwrap_or(text);
            let found = DType::from_name(plain).filter(|&it| is_such(it));
            if found.is_none() {
                diagnostics.push(signature_catalog::literal_dtype(key, text));
            }
            found.unwrap_or(otherwise)
        };
        let literal_int = retyped("int", DType::is_int, given.literal_int.unwrap_or(config.literal_int));
        let literal_float =
            retyped("float", DType::is_float, given.literal_float.unwrap_or(config.literal_float));
        Self {
            names,
            config,
            given,
            diagnostics,
            stencil: Stencil::default(),
            taken: BTreeSet::new(),
            frames: Vec::new(),
            constants: BTreeMap::new(),
            bodies: BTreeMap::new(),
            order: LoopOrder::Parallel,
            is_in_region: false,
            element: None,
            condition_of: None,
            calls: BTreeMap::new(),
            next_stmt: 0,
            n_parts: 0,
            n_reports: 0,
            told_externals: BTreeSet::new(),
            changes: BTreeMap::new(),
            told_opaque: BTreeSet::new(),
            literal_int,
            literal_float,
            is_too_large: false,
            entered: Vec::new(),
        }
    }

    fn stencil(&mut self, chosen: StencilPick<'_>, function: FunctionInfo<'p>) {
        let id = chosen.stencil;
        let def = function.def;
        self.stencil.name = def.name.name.clone();
        self.stencil.span = def.name.span;
        let body = self.body(id, function);
        let moment = given::moment(self.names, chosen);
        self.frames.push(Frame::of_body(function, moment, body, Vec::new(), None));
        for it in self.given.differing.iter().filter(|it| !it.is_external) {
            self.diagnostics.push(names_catalog::differing_builds(
                &it.name,
                false,
                &it.builds,
                def.name.span,
            ));
        }
        for (name, span, why) in &self.given.unknown_arguments {
            if self.names.config.dtypes.is_empty() || !name.starts_with("dtypes") {
                self.diagnostics.push(names_catalog::unknown_making(name, why, *span));
            }
        }
        self.check_making(id, function);
        self.signature(def);
        self.import_externals(&def.body);
        if !self.lacks_computation(function) {
            self.stencil_body(&def.body);
            self.tell_changes();
            if !self.diagnostics.has_errors() {
                self.tell_unused(function);
            }
        }
        self.leave_frame();
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.n_reports < MAX_REPORTS {
            self.diagnostics.push(diagnostic);
            self.n_reports = self.diagnostics.count();
        }
    }

    /// The same where one fault shows in several places.
    fn report_together(&mut self, diagnostic: Diagnostic) {
        if self.n_reports < MAX_REPORTS {
            self.diagnostics.push_together(diagnostic);
            self.n_reports = self.diagnostics.count();
        }
    }

    /// Counts a part of an expression: a long one in a function that is called often grows without bound.
    fn count_part(&mut self, span: Span) {
        self.n_parts += 1;
        if self.n_parts > MAX_PARTS && !self.is_too_large {
            self.is_too_large = true;
            let outermost = self.frame().calls.last().copied().unwrap_or(span);
            self.report(catalog::too_large(MAX_STATEMENTS, outermost));
        }
    }

    /// The body that is being built.
    fn frame(&self) -> &Frame<'p> {
        self.frames.last().expect("a body is being built from the first statement to the last")
    }

    fn frame_mut(&mut self) -> &mut Frame<'p> {
        self.frames.last_mut().expect("a body is being built from the first statement to the last")
    }

    /// The next statement, written at `span` in the present body.
    fn origin(&mut self, span: Span) -> Origin {
        let id = StmtId(self.next_stmt);
        self.next_stmt += 1;
        if self.next_stmt > MAX_STATEMENTS && !self.is_too_large {
            self.is_too_large = true;
            let outermost = self.frame().calls.last().copied().unwrap_or(span);
            self.report(catalog::too_large(MAX_STATEMENTS, outermost));
        }
        let spans = std::iter::once(&span).chain(&self.frame().calls).dedup();
        Origin::new(id, &spans.copied().collect::<SmallVec<[Span; 8]>>())
    }

    /// A temporary under a name that nothing else has.
    fn temporary(
        &mut self,
        wanted: String,
        axes: AxisSet,
        dtype: Option<DType>,
        span: Span,
    ) -> Handle<Field> {
        let mut name = wanted;
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        let data_dims = Vec::new();
        self.stencil.fields.push(Field { name, axes, data_dims, dtype, is_temporary: true, span })
    }

    fn scalar(&mut self, name: &str, dtype: DType, span: Span) -> Handle<Scalar> {
        self.taken.insert(name.to_owned());
        self.stencil.scalars.push(Scalar { name: name.to_owned(), dtype, span })
    }

    /// Ends the present body: what it imported in vain is told.
    fn leave_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        for unused in frame.unused_externals() {
            let removal = self.without_import(frame.body.stmts, unused.imported);
            let found =
                names_catalog::unused_external(unused.name, unused.has_value, unused.imported, removal);
            self.report(found);
        }
    }

    /// A copy of statements that were built already, as statements of their own.
    fn copy(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        body.iter()
            .map(|stmt| {
                let id = self.origin(stmt.origin.span()).stmt;
                let origin = Origin::new(id, stmt.origin.spans());
                for expr in stmt.exprs() {
                    expr.walk(&mut |it| self.count_part(it.span));
                }
                let kind = match &stmt.kind {
                    StmtKind::Assign { .. } => stmt.kind.clone(),
                    StmtKind::If { condition, then, otherwise } => StmtKind::If {
                        condition: condition.clone(),
                        then: self.copy(then),
                        otherwise: self.copy(otherwise),
                    },
                    StmtKind::While { condition, body } => {
                        StmtKind::While { condition: condition.clone(), body: self.copy(body) }
                    }
                    StmtKind::Region { region, body } => {
                        StmtKind::Region { region: *region, body: self.copy(body) }
                    }
                };
                Stmt { kind, origin }
            })
            .collect()
    }

    /// The meaning of `name` in the present body, if it is a parameter, a local or an imported external.
    fn local(&self, name: &str) -> Option<&Local> {
        self.frame().locals.get(name)
    }
}

#[cfg(test)]
mod tests;
