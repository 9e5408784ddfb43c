//! The module: what it imports and defines, then the function of the stencil with its loops.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;

use super::expression::{Expressions, Names, literal};
use super::helpers::{self, FIELDS, Helper, IMPORTS};
use crate::diag::{Listing, ListingWriter, StmtId};
use crate::emit::paste;
use crate::entity::{Handle, SideTable};
use crate::oir::analysis::extents::Extents;
use crate::oir::nodes::{Field, HorizontalExecution, ParamKind, Section, Stencil, Stmt, StmtKind, Target};
use crate::python::{PythonNames, beside, bound};
use crate::space::{Axis, Extent, LoopOrder, Offset, Reach, Region, Side};
use crate::types::{DType, Value};

pub(super) fn listing(stencil: &Stencil, extents: &Extents) -> Listing {
    // The function first: it tells what the module must define.
    let mut function = Printer::new(stencil, extents);
    function.stencil();
    let helpers = function.expressions.helpers;
    let mut printer = Printer::new(stencil, extents);
    printer.module(&helpers);
    printer.stencil();
    printer.out.finish()
}

struct Printer<'a> {
    stencil: &'a Stencil,
    extents: &'a Extents,
    function: String,
    expressions: Expressions<'a>,
    out: ListingWriter,
    seen: BTreeMap<StmtId, u32>,
}

impl<'a> Printer<'a> {
    fn new(stencil: &'a Stencil, extents: &'a Extents) -> Self {
        let mut taken = PythonNames::new(&helpers::names());
        let mut names = Names {
            fields: SideTable::default(),
            before: SideTable::default(),
            scalars: SideTable::default(),
            locals: SideTable::default(),
        };
        for (field, it) in stencil.fields.iter() {
            names.fields.insert(field, taken.name(&it.name));
        }
        for (scalar, it) in stencil.scalars.iter() {
            names.scalars.insert(scalar, taken.name(&it.name));
        }
        let function = taken.name(&stencil.name);
        for (local, it) in stencil.locals.iter() {
            names.locals.insert(local, taken.name(&it.name));
        }
        for (field, it) in stencil.fields.iter() {
            names.before.insert(field, taken.name(&format!("{}_before", it.name)));
        }
        let expressions = Expressions { stencil, names, before: BTreeSet::new(), helpers: BTreeSet::new() };
        Self { stencil, extents, function, expressions, out: ListingWriter::new(), seen: BTreeMap::new() }
    }

    fn module(&mut self, used: &BTreeSet<Helper>) {
        self.out.line(format_args!(
            "\"\"\"The stencil `{}` point by point, as it is defined: plain Python, which gives the same bits.\"\"\"",
            self.function
        ));
        self.out.line("");
        IMPORTS.iter().for_each(|it| self.out.line(it));
        for text in std::iter::once(FIELDS.to_owned()).chain(helpers::texts(used)) {
            self.out.line("");
            self.out.line("");
            paste(&mut self.out, &text);
        }
        self.out.line("");
        self.out.line("");
    }

    fn in_scope(&mut self, work: impl FnOnce(&mut Self)) {
        self.out.indent();
        self.out.indent();
        work(self);
        self.out.dedent();
        self.out.dedent();
    }

    fn stencil(&mut self) {
        self.out.open("stencil", "stencil", []);
        let parameters = self.parameters();
        self.out.line(format_args!("def {}({parameters}):", self.function));
        self.in_scope(|it| {
            it.out.line("\"\"\"`domain` has the points along I, J and K; `origin` tells for each field by name, or for");
            it.out.line("`_all_`, the index of the first of them.\"\"\"");
            it.out.line("I, J, K = domain");
            it.out.line("if 0 in domain:");
            it.in_scope(|it| it.out.line("return"));
            it.declarations();
            for (at, vertical_loop) in it.stencil.vertical_loops.iter().enumerate() {
                it.out.line("");
                it.out.open(format!("v{at}"), "vertical-loop", []);
                for (section_at, section) in vertical_loop.sections.iter().enumerate() {
                    it.out.open(format!("v{at}.{section_at}"), "section", []);
                    it.section(vertical_loop.order, section);
                    it.out.close();
                }
                it.out.close();
            }
        });
        self.out.close();
    }

    fn parameters(&self) -> String {
        let names = &self.expressions.names;
        let mut found = Vec::new();
        let mut is_keyword_only = false;
        for param in &self.stencil.params {
            if param.is_keyword_only && !is_keyword_only {
                is_keyword_only = true;
                found.push("*".to_owned());
            }
            found.push(match (param.what, param.default) {
                (ParamKind::Field(field), _) if param.is_optional => format!("{}=None", names.fields[field]),
                (ParamKind::Field(field), _) => names.fields[field].clone(),
                (ParamKind::Scalar(scalar), Some(value)) => {
                    format!("{}={}", names.scalars[scalar], literal(value).text)
                }
                (ParamKind::Scalar(scalar), None) => names.scalars[scalar].clone(),
            });
        }
        if !is_keyword_only {
            found.push("*".to_owned());
        }
        found.extend(["domain".to_owned(), "origin".to_owned()]);
        found.join(", ")
    }

    /// The fields as the statements index them, and the scalars in their types.
    fn declarations(&mut self) {
        let mut used = BTreeSet::new();
        for (_, execution) in self.stencil.executions.iter() {
            execution.each_touch(&mut |it| used.extend(it.what.field()));
        }
        for param in &self.stencil.params {
            match param.what {
                ParamKind::Field(field) if used.contains(&field) => {
                    let name = &self.expressions.names.fields[field];
                    let Field { axes, dtype, name: written, .. } = &self.stencil.fields[field];
                    let kind = kind(*dtype);
                    self.out.line(format_args!(
                        "{name} = Field({name}, \"{axes}\", origin, \"{written}\", {kind})"
                    ));
                }
                ParamKind::Scalar(scalar) if self.stencil.scalars[scalar].dtype == DType::Float32 => {
                    let name = &self.expressions.names.scalars[scalar];
                    self.expressions.helpers.insert(Helper::Float32);
                    self.out.line(format_args!("{name} = float32({name})"));
                }
                ParamKind::Field(_) | ParamKind::Scalar(_) => {}
            }
        }
        for (field, it) in
            self.stencil.fields.iter().filter(|(field, it)| it.is_temporary && used.contains(field))
        {
            let extent =
                self.extents.true_fields.get(field).copied().unwrap_or(Extent::ZERO).union(Extent::ZERO);
            let mut ranges: Vec<String> =
                it.axes.iter().map(|axis| positions(extent.along(axis), axis.name())).collect();
            ranges.extend(it.data_dims.iter().map(|size| format!("range({size})")));
            let undefined = literal(Value::undefined(it.dtype)).text;
            let name = &self.expressions.names.fields[field];
            self.out.line(format_args!("{name} = Temporary([{}], {undefined})", ranges.iter().format(", ")));
        }
    }

    fn section(&mut self, order: LoopOrder, section: &Section) {
        let (start, end) = (bound(section.interval.start, "K"), bound(section.interval.end, "K"));
        let levels = match order {
            LoopOrder::Parallel | LoopOrder::Forward => format!("range({start}, {end})"),
            LoopOrder::Backward => format!("reversed(range({start}, {end}))"),
        };
        if order == LoopOrder::Parallel {
            for &execution in &section.executions {
                self.keep(execution);
                self.out.line(format_args!("for k in {levels}:"));
                self.in_scope(|it| it.plane(execution));
                self.expressions.before.clear();
            }
        } else if !section.executions.is_empty() {
            self.out.line(format_args!("for k in {levels}:"));
            self.in_scope(|it| section.executions.iter().for_each(|&execution| it.plane(execution)));
        }
    }

    /// Copies what a parallel execution reads at other points and writes: it means what was there before.
    fn keep(&mut self, execution: Handle<HorizontalExecution>) {
        let touches = self.stencil.executions[execution].touches();
        let mut written = BTreeSet::new();
        for touch in touches.iter().filter(|it| it.is_write) {
            written.extend(touch.what.field());
        }
        let elsewhere = touches.iter().filter(|it| !it.is_write && !it.is_here());
        let kept: BTreeSet<_> =
            elsewhere.filter_map(|it| it.what.field()).filter(|it| written.contains(it)).collect();
        for &field in &kept {
            let names = &self.expressions.names;
            self.out.line(format_args!("{} = {}.copy()", names.before[field], names.fields[field]));
        }
        self.expressions.before = kept;
    }

    fn plane(&mut self, execution: Handle<HorizontalExecution>) {
        let extent = self.extents.executions.get(execution).copied().unwrap_or(Extent::ZERO);
        self.out.open(execution.to_string(), "horizontal-execution", []);
        self.out.line(format_args!("for j in {}:", positions(extent.j, "J")));
        self.in_scope(|it| {
            it.out.line(format_args!("for i in {}:", positions(extent.i, "I")));
            it.in_scope(|it| it.body(&it.stencil.executions[execution].body));
        });
        self.out.close();
    }

    fn body(&mut self, body: &[Stmt]) {
        if body.is_empty() {
            self.out.line("pass");
        }
        body.iter().for_each(|it| self.stmt(it, ""));
    }

    /// `el` makes an `elif` of an `if`.
    fn stmt(&mut self, stmt: &Stmt, el: &str) {
        let name = stmt.origin.stmt;
        let times = self.seen.entry(name).or_default();
        let id = if *times == 0 { name.to_string() } else { format!("{name}.{times}") };
        *times += 1;
        let kind = match stmt.kind {
            StmtKind::Assign { .. } => "assign",
            StmtKind::If { .. } => "if",
            StmtKind::While { .. } => "while",
            StmtKind::Region { .. } => "region",
        };
        self.out.open(id, kind, [&stmt.origin]);
        match &stmt.kind {
            StmtKind::Assign { target, index, value, .. } => {
                let value = self.expressions.expr(value).text;
                let target = match *target {
                    Target::Field(field) => self.expressions.element(field, Offset::CENTRE, Some(index)),
                    Target::Local(local) => self.expressions.names.locals[local].clone(),
                };
                self.out.line(format_args!("{target} = {value}"));
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.expressions.expr(condition).text;
                self.out.line(format_args!("{el}if {condition}:"));
                self.in_scope(|it| it.body(then));
                match otherwise.as_slice() {
                    [] => {}
                    [only @ Stmt { kind: StmtKind::If { .. }, .. }] => self.stmt(only, "el"),
                    _ => {
                        self.out.line("else:");
                        self.in_scope(|it| it.body(otherwise));
                    }
                }
            }
            StmtKind::While { condition, body } => {
                let condition = self.expressions.expr(condition).text;
                self.out.line(format_args!("while {condition}:"));
                self.in_scope(|it| it.body(body));
            }
            StmtKind::Region { region, body } => {
                self.out.line(format_args!("if {}:", inside(*region)));
                self.in_scope(|it| it.body(body));
            }
        }
        self.out.close();
    }
}

/// The Python type that an element is read as.
fn kind(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        it if it.is_int() => "int",
        _ => "float",
    }
}

fn positions(reach: Reach, size: &str) -> String {
    let end = beside(size, reach.hi.into());
    if reach.lo == 0 { format!("range({end})") } else { format!("range({}, {end})", reach.lo) }
}

/// Whether the point lies in a region.
fn inside(region: Region) -> String {
    let along = |axis: Axis, side: Side| {
        let (name, size) = (axis.position_name(), axis.name());
        match (side.start, side.end) {
            (None, None) => None,
            (Some(start), None) => Some(format!("{} <= {name}", bound(start, size))),
            (None, Some(end)) => Some(format!("{name} < {}", bound(end, size))),
            (Some(start), Some(end)) => {
                Some(format!("{} <= {name} < {}", bound(start, size), bound(end, size)))
            }
        }
    };
    let both = [along(Axis::I, region.i), along(Axis::J, region.j)];
    let both: Vec<String> = both.into_iter().flatten().collect();
    if both.is_empty() { "True".to_owned() } else { both.join(" and ") }
}
