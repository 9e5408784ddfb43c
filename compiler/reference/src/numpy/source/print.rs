//! The module: what it imports and defines, then the function of the stencil.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;

use super::expression::{Expressions, Names, literal, type_name};
use super::helpers::{self, FIELDS, Helper};
use super::locals::Locals;
use crate::diag::{Listing, ListingWriter, StmtId};
use crate::emit::paste;
use crate::entity::{Handle, SideTable};
use crate::expr::ExprKind;
use crate::npir::nodes::{
    Access, Block, Expr, Field, Index, Local, ParamKind, Scalar, Stencil, Stmt, StmtKind, Target,
    VerticalPass,
};
use crate::python::{ATOM, BIT_AND, PythonNames, Text, beside, bound};
use crate::space::{Axis, AxisSet, Extent, LoopOrder, Offset, Reach, Side};
use crate::types::Value;

pub(super) fn listing(stencil: &Stencil) -> Listing {
    // The function first: it tells what the module must define.
    let mut function = Printer::new(stencil);
    function.stencil();
    let helpers = function.expressions.helpers;
    let mut printer = Printer::new(stencil);
    printer.module(&helpers);
    printer.stencil();
    printer.out.finish()
}

struct Printer<'a> {
    stencil: &'a Stencil,
    function: String,
    expressions: Expressions<'a>,
    out: ListingWriter,
    seen: BTreeMap<StmtId, u32>,
    /// The locals that have a value, of the block at hand.
    bound: BTreeSet<Handle<Local>>,
    is_in_loop: bool,
    /// The extent that `i` and `j` cover at this line; none where they are not set.
    columns: Option<Extent>,
}

impl<'a> Printer<'a> {
    fn new(stencil: &'a Stencil) -> Self {
        let mut taken = PythonNames::new(&helpers::names());
        let mut names = Names {
            fields: SideTable::default(),
            kept: SideTable::default(),
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
            if let Some(name) = &it.kept_as {
                names.kept.insert(field, taken.name(name));
            }
        }
        let expressions = Expressions {
            stencil,
            names,
            locals: Locals::default(),
            helpers: BTreeSet::new(),
            is_in_region: false,
            mask: None,
        };
        Self {
            stencil,
            function,
            expressions,
            out: ListingWriter::new(),
            seen: BTreeMap::new(),
            bound: BTreeSet::new(),
            is_in_loop: false,
            columns: None,
        }
    }

    fn module(&mut self, used: &BTreeSet<Helper>) {
        self.out.line(format_args!(
            "\"\"\"The stencil `{}` as operations on whole arrays, with the bits that it is defined to give.\"\"\"",
            self.function
        ));
        self.out.line("");
        self.out.line("import numpy as np");
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
            it.arguments();
            it.temporaries();
            it.out.line("");
            it.out.line("with np.errstate(all=\"ignore\"):");
            it.in_scope(|it| {
                for (at, pass) in it.stencil.passes.iter().enumerate() {
                    if at > 0 {
                        it.out.line("");
                    }
                    it.pass(pass, at);
                }
                if it.stencil.passes.is_empty() {
                    it.out.line("pass");
                }
            });
        });
        self.out.close();
    }

    fn parameters(&self) -> String {
        let mut found = Vec::new();
        let mut is_keyword_only = false;
        for param in &self.stencil.params {
            if param.is_keyword_only && !is_keyword_only {
                is_keyword_only = true;
                found.push("*".to_owned());
            }
            found.push(match (param.what, param.default) {
                (ParamKind::Field(field), _) if param.is_optional => {
                    format!("{}=None", self.expressions.names.fields[field])
                }
                (ParamKind::Field(field), _) => self.expressions.names.fields[field].clone(),
                (ParamKind::Scalar(scalar), Some(value)) => {
                    format!("{}={}", self.expressions.names.scalars[scalar], literal(value).text)
                }
                (ParamKind::Scalar(scalar), None) => self.expressions.names.scalars[scalar].clone(),
            });
        }
        if !is_keyword_only {
            found.push("*".to_owned());
        }
        found.extend(["domain".to_owned(), "origin".to_owned()]);
        found.join(", ")
    }

    /// Prepares the used arguments: fields as seen from the compute domain, scalars in the types of the
    /// stencil.
    fn arguments(&mut self) {
        let (fields, scalars) = self.used();
        for param in &self.stencil.params {
            match param.what {
                ParamKind::Field(field) if fields.contains(&field) => {
                    let name = &self.expressions.names.fields[field];
                    let Field { axes, name: written, .. } = &self.stencil.fields[field];
                    self.out.line(format_args!(
                        "{name} = Field.given({name}, \"{axes}\", origin, \"{written}\")"
                    ));
                }
                ParamKind::Scalar(scalar) if scalars.contains(&scalar) => {
                    let name = &self.expressions.names.scalars[scalar];
                    let dtype = type_name(self.stencil.scalars[scalar].dtype);
                    self.out.line(format_args!("{name} = np.{dtype}({name})"));
                }
                ParamKind::Field(_) | ParamKind::Scalar(_) => {}
            }
        }
    }

    fn used(&self) -> (BTreeSet<Handle<Field>>, BTreeSet<Handle<Scalar>>) {
        let (mut fields, mut scalars) = (BTreeSet::new(), BTreeSet::new());
        let mut look = |stmt: &Stmt| {
            if let StmtKind::Assign { target: Target::Field(field), .. } = stmt.kind {
                fields.insert(field);
            }
            stmt.reads(&mut |access, _| match *access {
                Access::Field { field, .. } | Access::Kept { field, .. } => {
                    fields.insert(field);
                }
                Access::Scalar(scalar) => {
                    scalars.insert(scalar);
                }
                Access::Local(_) => {}
            });
        };
        let blocks = self.stencil.passes.iter().flat_map(|it| &it.blocks);
        blocks.flat_map(|it| &it.body).for_each(|it| it.walk(&mut |it| look(it)));
        (fields, scalars)
    }

    fn temporaries(&mut self) {
        let (used, _) = self.used();
        for (field, it) in self.stencil.fields.iter() {
            if !it.is_temporary || !used.contains(&field) {
                continue;
            }
            let range = |axis: Axis| along(it.extent.along(axis), axis.name());
            let ranges: Vec<String> = it.axes.iter().map(range).collect();
            let ranges = if ranges.len() == 1 { format!("{},", ranges[0]) } else { ranges.join(", ") };
            let value = literal(Value::undefined(it.dtype)).text;
            let mut line = format!(
                "{} = Field.full(({ranges}), {value}, np.{}",
                self.expressions.names.fields[field],
                type_name(it.dtype)
            );
            if !it.data_dims.is_empty() {
                line += &format!(", sizes=({},)", it.data_dims.iter().format(", "));
            }
            if it.axes != AxisSet::IJK {
                line += &format!(", axes=\"{}\"", it.axes);
            }
            self.out.line(line + ")");
        }
    }

    fn pass(&mut self, pass: &VerticalPass, at: usize) {
        self.out.open(format!("v{at}"), "vertical-pass", []);
        let (start, end) = (bound(pass.interval.start, "K"), bound(pass.interval.end, "K"));
        let levels = format!("Along({start}, {end})");
        let first = pass.blocks.first().map_or(Extent::ZERO, |it| it.extent);
        let is_one_extent = pass.blocks.iter().all(|it| it.extent == first);
        match pass.order {
            LoopOrder::Parallel => {
                self.out.line(format_args!("k = {levels}"));
                self.blocks(pass, at);
            }
            LoopOrder::Forward | LoopOrder::Backward => {
                let way = if pass.order == LoopOrder::Forward { "upward" } else { "downward" };
                if is_one_extent {
                    self.name_columns(first);
                } else {
                    self.columns = None;
                }
                self.out.line(format_args!("for k in {levels}.{way}():"));
                self.in_scope(|it| it.blocks(pass, at));
            }
        }
        self.out.close();
    }

    fn name_columns(&mut self, extent: Extent) {
        if self.columns != Some(extent) {
            let (i, j) = (along(extent.i, "I"), along(extent.j, "J"));
            self.out.line(format_args!("i, j = {i}, {j}"));
            self.columns = Some(extent);
        }
    }

    fn blocks(&mut self, pass: &VerticalPass, at: usize) {
        for (block_at, block) in pass.blocks.iter().enumerate() {
            self.out.open(format!("v{at}.{block_at}"), "block", []);
            self.name_columns(block.extent);
            self.block(block);
            self.out.close();
        }
    }

    fn block(&mut self, block: &Block) {
        self.expressions.locals = Locals::of(block);
        self.bound.clear();
        for &field in &block.kept {
            let names = &self.expressions.names;
            self.out.line(format_args!("{} = {}.copy()", names.kept[field], names.fields[field]));
        }
        for local in self.expressions.locals.all().collect::<Vec<_>>() {
            if self.expressions.locals.is_indexed(local) {
                let dtype = self.stencil.locals[local].dtype;
                let value = literal(Value::undefined(dtype)).text;
                let name = &self.expressions.names.locals[local];
                self.out
                    .line(format_args!("{name} = Field.full((i, j, k), {value}, np.{})", type_name(dtype)));
            }
        }
        if block.body.is_empty() {
            self.out.line("pass");
        }
        block.body.iter().for_each(|it| self.stmt(it));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let (StmtKind::While { .. }, false) = (&stmt.kind, self.is_in_loop) {
            self.bind_before(stmt);
        }
        let name = stmt.origin.stmt;
        let times = self.seen.entry(name).or_default();
        let id = if *times == 0 { name.to_string() } else { format!("{name}.{times}") };
        *times += 1;
        let kind = match stmt.kind {
            StmtKind::Assign { .. } => "assign",
            StmtKind::Mask { .. } | StmtKind::Rest { .. } => "mask",
            StmtKind::While { .. } => "while",
            StmtKind::Region { .. } => "region",
        };
        self.out.open(id, kind, [&stmt.origin]);
        self.expressions.mask = stmt.limiting_mask();
        match &stmt.kind {
            StmtKind::Assign { target, index, value, mask } => match *target {
                Target::Field(field) => self.assign_field(field, index, value, *mask),
                Target::Local(local) => self.assign_local(local, value, *mask),
            },
            StmtKind::Mask { mask, within, condition } => {
                let condition = self.condition(condition, *within);
                self.out.line(format_args!("{} = {condition}", self.expressions.local(*mask)));
            }
            StmtKind::Rest { mask, within, of } => {
                let [mask, of] = [mask, of].map(|it| self.expressions.local(*it));
                let within = within.map_or(String::new(), |it| format!("{} & ", self.expressions.local(it)));
                self.out.line(format_args!("{mask} = {within}~{of}"));
            }
            StmtKind::While { active, within, condition, body } => {
                let first = self.condition(condition, *within);
                let name = self.expressions.local(*active);
                self.out.line(format_args!("{name} = {first}"));
                self.out.line(format_args!("while np.any({name}):"));
                let was_in_loop = std::mem::replace(&mut self.is_in_loop, true);
                self.in_scope(|it| {
                    body.iter().for_each(|stmt| it.stmt(stmt));
                    it.expressions.mask = Some(*active);
                    let next = it.condition(condition, Some(*active));
                    it.out.line(format_args!("{name} = {next}"));
                });
                self.is_in_loop = was_in_loop;
            }
            StmtKind::Region { region, body } => {
                self.out.line(format_args!(
                    "ri, rj = {}, {}",
                    clipped("i", region.i, "I"),
                    clipped("j", region.j, "J")
                ));
                self.expressions.is_in_region = true;
                body.iter().for_each(|it| self.stmt(it));
                self.expressions.is_in_region = false;
            }
        }
        self.out.close();
    }

    /// A condition at the points of a mask.
    fn condition(&mut self, condition: &Expr, within: Option<Handle<Local>>) -> String {
        let text = self.expressions.expr(condition);
        match within {
            Some(within) => {
                let within = Text::atom(self.expressions.local(within));
                Text::infix(within, "&", text, BIT_AND).text
            }
            None => owned(text),
        }
    }

    fn assign_field(
        &mut self,
        field: Handle<Field>,
        index: &Index,
        value: &Expr,
        mask: Option<Handle<Local>>,
    ) {
        let value = self.expressions.expr(value).text;
        let name = self.expressions.names.fields[field].clone();
        let Some(place) = self.expressions.regular(field, Offset::CENTRE, Some(index)) else {
            let place = self.expressions.found(field, Offset::CENTRE, index);
            self.out.line(format_args!("{name}.put({value}, {place})"));
            return;
        };
        match mask.map(|it| self.expressions.local(it)) {
            None => self.out.line(format_args!("{name}[{place}] = {value}")),
            Some(mask) => {
                self.out.line(format_args!("{name}[{place}] = np.where({mask}, {value}, {name}[{place}])"));
            }
        }
    }

    fn assign_local(&mut self, local: Handle<Local>, value: &Expr, mask: Option<Handle<Local>>) {
        let is_indexed = self.expressions.locals.is_indexed(local);
        let place = self.expressions.local(local);
        let mask = mask.filter(|&it| is_indexed || !self.expressions.locals.is_unseen_outside(local, it));
        let is_bare = matches!(value.kind, ExprKind::Literal(_) | ExprKind::Unary(..));
        let text =
            if is_bare && !is_indexed { self.expressions.typed(value) } else { self.expressions.expr(value) };
        let text = if mask.is_none() && !is_indexed { owned(text) } else { text.text };
        match mask.map(|it| self.expressions.local(it)) {
            None => self.out.line(format_args!("{place} = {text}")),
            Some(mask) => {
                let before = if is_indexed || self.bound.contains(&local) {
                    place.clone()
                } else {
                    literal(Value::undefined(self.stencil.locals[local].dtype)).text
                };
                self.out.line(format_args!("{place} = np.where({mask}, {text}, {before})"));
            }
        }
        self.bound.insert(local);
    }

    /// Gives a value to what a loop changes in part before anything else does.
    fn bind_before(&mut self, stmt: &Stmt) {
        let mut targets = Vec::new();
        stmt.walk(&mut |it| {
            if let StmtKind::Assign { target: Target::Local(local), mask: Some(mask), .. } = it.kind {
                targets.push((local, mask));
            }
        });
        for (local, mask) in targets {
            let locals = &self.expressions.locals;
            if locals.is_indexed(local) || locals.is_unseen_outside(local, mask) || !self.bound.insert(local)
            {
                continue;
            }
            let dtype = self.stencil.locals[local].dtype;
            let value = literal(Value::undefined(dtype)).text;
            let name = &self.expressions.names.locals[local];
            self.out.line(format_args!("{name} = np.{}({value})", type_name(dtype)));
        }
    }
}

/// An array of its own: a slice alone would change with what it was taken from.
fn owned(text: Text) -> String {
    let is_slice = text.binding == ATOM && text.text.ends_with(']');
    if is_slice { format!("{}.copy()", text.text) } else { text.text }
}

/// Positions from one reach beyond the compute domain to the other.
fn along(reach: Reach, size: &str) -> String {
    let end = beside(size, reach.hi.into());
    format!("Along({}, {end})", reach.lo)
}

/// The part of a slice that lies in a region.
fn clipped(slice: &str, side: Side, size: &str) -> String {
    match (side.start, side.end) {
        (None, None) => slice.to_owned(),
        (start, end) => {
            let start = start.map_or_else(|| format!("{slice}.start"), |it| bound(it, size));
            let end = end.map_or_else(|| format!("{slice}.stop"), |it| bound(it, size));
            format!("{slice}.within({start}, {end})")
        }
    }
}
