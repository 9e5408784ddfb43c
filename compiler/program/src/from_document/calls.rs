//! The arguments of calls, and of the statements that move whole fields.

use isobar_ground::call::signature::{AccessKind, Param, ParamKind};
use isobar_ground::diag::Span;
use isobar_ground::diag::catalog::programs as catalog;

use super::{DocumentPath, Elaboration};
use crate::document::Entries;
use crate::document::nodes::{ArgumentEntry, ExchangeKindEntry, PhaseEntry, ScalarText, StatementEntry};
use crate::document::places::PathStep;
use crate::nodes::{
    CallArgument, ContainerPart, ContainerRole, ExchangeKind, ExchangePhase, HaloExchange, ProgramStmtKind,
    StencilCall,
};
use crate::stencils::is_dotted_name;

impl<'a> Elaboration<'a> {
    pub(super) fn call(
        &mut self,
        name: &'a str,
        args: Option<&'a Entries<ArgumentEntry>>,
        path: &DocumentPath<'a>,
        span: Span,
    ) -> Option<StencilCall> {
        let Some(stencil) = self.program.stencils.find(|it| it.name == name) else {
            let names = self.program.stencils.iter().map(|(_, it)| it.name.as_str());
            let told = catalog::unknown("stencil", name, names, span);
            self.tell(told);
            return None;
        };
        if self.broken.contains(name) {
            return None;
        }
        let params = self.program.stencils[stencil].params.clone();
        for (given, _) in args.iter().flat_map(|it| &it.0) {
            if !params.iter().any(|it| it.name == *given) {
                let at = self.entry((path, span), &[PathStep::Name("args"), PathStep::Name(given)]);
                let known = params.iter().map(|it| it.name.as_str());
                self.tell(catalog::no_such_parameter(name, given, known, at));
            }
        }
        let mut arguments = Vec::with_capacity(params.len());
        for param in &params {
            let given = args.and_then(|it| it.get(&param.name));
            let Some(given) = given else {
                self.check_left_out(name, param, span);
                arguments.push(None);
                continue;
            };
            let steps = [PathStep::Name("args"), PathStep::Name(&param.name)];
            let at = self.entry((path, span), &steps);
            arguments.push(match param.kind {
                ParamKind::Field { .. } => self.field_argument(param, given, at).map(CallArgument::Field),
                ParamKind::Scalar { .. } => self.scalar_argument(param, given, at),
            });
        }
        let call = StencilCall { stencil, arguments };
        self.found.extend(crate::analysis::calls::faults(&self.program, &call, span));
        Some(call)
    }

    fn check_left_out(&mut self, stencil: &str, param: &Param, span: Span) {
        let is_used = param.access.is_read() || param.access.is_written();
        let kind = match &param.kind {
            ParamKind::Field { .. } => "field",
            ParamKind::Scalar { default: None, .. } => "scalar",
            ParamKind::Scalar { default: Some(_), .. } => return,
        };
        if is_used {
            self.tell(catalog::missing_argument(stencil, &param.name, kind, span));
        }
    }

    /// A field that fits the parameter.
    fn field_argument(&mut self, param: &Param, given: &'a ArgumentEntry, at: Span) -> Option<ContainerPart> {
        if let ArgumentEntry::Text(text) = given
            && self.read.document.fields.get(text).is_none()
            && self.program.scalars.find(|it| it.name == *text).is_some()
        {
            self.tell(catalog::other_kind(&param.name, "field", "scalar", at));
            return None;
        }
        let part = self.part(given, at)?;
        let ParamKind::Field { axes, data_dims, dtype, .. } = &param.kind else { return None };
        let container = &self.program.containers[part.container];
        if param.access == AccessKind::None {
            // A field that no statement uses is as good as left out, whatever it is like.
            return None;
        }
        let left = part.data_dims(&self.program);
        let differences = [
            ("type", container.dtype != *dtype, [container.dtype.to_string(), dtype.to_string()]),
            ("axes", container.axes != *axes, [container.axes.to_string(), axes.to_string()]),
            ("data dimensions", left != data_dims, [format!("{left:?}"), format!("{data_dims:?}")]),
        ];
        let name = part.spelled(&self.program);
        for (property, _, values) in differences.into_iter().filter(|it| it.1) {
            let values = [values[0].as_str(), values[1].as_str()];
            self.tell(catalog::mismatch(&name, &param.name, property, values, at));
        }
        Some(part)
    }

    fn scalar_argument(&mut self, param: &Param, given: &'a ArgumentEntry, at: Span) -> Option<CallArgument> {
        let value = match given {
            ArgumentEntry::View(_) => {
                self.tell(catalog::other_kind(&param.name, "scalar", "field", at));
                return None;
            }
            ArgumentEntry::Text(text) if self.read.document.fields.get(text).is_some() => {
                self.tell(catalog::other_kind(&param.name, "scalar", "field", at));
                return None;
            }
            ArgumentEntry::Text(text) => self.scalar_text(text, at),
            ArgumentEntry::Bool(it) => self.scalar_text(if *it { "True" } else { "False" }, at),
            ArgumentEntry::Number(it) => self.scalar_text(&it.to_string(), at),
        }?;
        self.check_becomes(&value, param.kind.dtype(), &param.name, at);
        Some(CallArgument::Scalar(value))
    }

    /// The part of a container that an entry means.
    fn part(&mut self, given: &'a ArgumentEntry, at: Span) -> Option<ContainerPart> {
        match given {
            ArgumentEntry::Text(name) => match self.views.get(name.as_str()) {
                Some(part) => Some(part.clone()),
                None => self.part_of(name, Vec::new(), at),
            },
            ArgumentEntry::View(view) => match self.views.get(view.view.as_str()).cloned() {
                Some(part) => {
                    let index = [part.data_index, view.data_index.clone()].concat();
                    let name = self.program.containers[part.container].name.clone();
                    self.part_of(&name, index, at)
                }
                None => self.part_of(&view.view, view.data_index.clone(), at),
            },
            ArgumentEntry::Bool(_) | ArgumentEntry::Number(_) => {
                self.tell(catalog::other_kind("this entry", "field", "number", at));
                None
            }
        }
    }

    /// A part that a statement writes.
    fn written(&mut self, given: &'a ArgumentEntry, at: Span) -> Option<ContainerPart> {
        let part = self.part(given, at)?;
        if self.program.containers[part.container].role == ContainerRole::Constant {
            let name = part.spelled(&self.program);
            self.tell(catalog::read_only(&name, "constant", at));
        }
        Some(part)
    }

    pub(super) fn copy(
        &mut self,
        from: &'a ArgumentEntry,
        to: &'a ArgumentEntry,
        (path, span): (&DocumentPath<'a>, Span),
    ) -> Option<ProgramStmtKind> {
        let at = |name| self.entry((path, span), &[PathStep::Name(name)]);
        let places = [at("copy"), at("to")];
        let (from, to) = (self.part(from, places[0]), self.written(to, places[1]));
        let (from, to) = (from?, to?);
        self.check_alike(&from, &to, span);
        Some(ProgramStmtKind::Copy { from, to })
    }

    /// Whether the elements of two parts go one to one.
    fn check_alike(&mut self, one: &ContainerPart, other: &ContainerPart, span: Span) {
        let program = &self.program;
        let found = crate::analysis::calls::differences(program, one, other);
        let names = [one.spelled(program), other.spelled(program)];
        for (property, values) in found {
            let values = [values[0].as_str(), values[1].as_str()];
            self.found.push(catalog::mismatch(&names[0], &names[1], property, values, span));
        }
        if one.overlaps_in_part(other) {
            self.found.push(catalog::overlapping(&names[0], &names[1], span));
        }
    }

    pub(super) fn fill(
        &mut self,
        target: &'a ArgumentEntry,
        value: &'a ScalarText,
        (path, span): (&DocumentPath<'a>, Span),
    ) -> Option<ProgramStmtKind> {
        let at = |name| self.entry((path, span), &[PathStep::Name(name)]);
        let places = [at("fill"), at("with")];
        let (target, value) = (self.written(target, places[0]), self.scalar_expr(value, places[1]));
        let (target, value) = (target?, value?);
        let name = target.spelled(&self.program);
        self.check_becomes(&value, self.program.containers[target.container].dtype, &name, places[1]);
        Some(ProgramStmtKind::Fill { target, value })
    }

    pub(super) fn swap(
        &mut self,
        one: &'a ArgumentEntry,
        other: &'a ArgumentEntry,
        (path, span): (&DocumentPath<'a>, Span),
    ) -> Option<ProgramStmtKind> {
        let at = |index| self.entry((path, span), &[PathStep::Name("swap"), PathStep::Index(index)]);
        let places = [at(0), at(1)];
        let (one, other) = (self.written(one, places[0]), self.written(other, places[1]));
        let (one, other) = (one?, other?);
        self.check_alike(&one, &other, span);
        Some(ProgramStmtKind::Swap(one, other))
    }

    pub(super) fn exchange(
        &mut self,
        fields: &'a [ArgumentEntry],
        entry: &StatementEntry,
        (path, span): (&DocumentPath<'a>, Span),
    ) -> Option<ProgramStmtKind> {
        let each = fields.iter().enumerate().map(|(at, it)| {
            let place = self.entry((path, span), &[PathStep::Name("exchange"), PathStep::Index(at)]);
            self.written(it, place)
        });
        let fields = each.collect::<Vec<_>>();
        let fields = fields.into_iter().collect::<Option<Vec<_>>>()?;
        if fields.is_empty() {
            self.tell(catalog::missing_entry("exchange", "exchange", span));
        }
        let kind = match entry.kind {
            None | Some(ExchangeKindEntry::Scalar) => ExchangeKind::Scalar,
            Some(ExchangeKindEntry::Vector) => ExchangeKind::Vector,
            Some(ExchangeKindEntry::Interface) => ExchangeKind::Interface,
        };
        let phase = match entry.phase {
            None | Some(PhaseEntry::Update) => ExchangePhase::Update,
            Some(PhaseEntry::Start) => ExchangePhase::Start,
            Some(PhaseEntry::Wait) => ExchangePhase::Wait,
        };
        let width = entry.width.unwrap_or(self.program.grid.halo);
        let plan = match &entry.plan {
            None => None,
            Some(name) => {
                let found = self.program.plans.find(|it| it.name == *name);
                if found.is_none() {
                    // One that was refused is told already.
                    let known = self.read.document.plans.names();
                    if self.read.document.plans.get(name).is_none() {
                        self.found.push(catalog::unknown("plan", name, known, span));
                    }
                    return None;
                }
                found
            }
        };
        let exchange = HaloExchange { fields, kind, width, phase, plan };
        if plan.is_none() {
            self.found.extend(crate::analysis::exchanges::size_faults(&self.program, &exchange, span));
        }
        Some(ProgramStmtKind::Exchange(exchange))
    }

    pub(super) fn host(
        &mut self,
        name: &str,
        entry: &'a StatementEntry,
        (path, span): (&DocumentPath<'a>, Span),
    ) -> Option<ProgramStmtKind> {
        let parts = entry.reads.iter().flatten().map(|it| self.part(it, span)).collect::<Vec<_>>();
        let reads = parts.into_iter().collect::<Option<Vec<_>>>();
        let parts = entry.writes.iter().flatten().map(|it| self.written(it, span)).collect::<Vec<_>>();
        let writes = parts.into_iter().collect::<Option<Vec<_>>>();
        let mut gives = Vec::new();
        for (scalar, dtype) in entry.gives.iter().flat_map(|it| &it.0) {
            let dtype = self.dtype(dtype, path)?;
            let variable = self.local(scalar, Some(dtype), dtype, span)?;
            self.scope.assigned.insert(variable);
            gives.push(variable);
        }
        if !is_dotted_name(name) {
            self.tell(catalog::taken(name, "it is no name of Python", span));
        }
        let (name, is_exact) = (name.to_owned(), entry.exact.unwrap_or(false));
        Some(ProgramStmtKind::Host { name, reads: reads?, writes: writes?, gives, is_exact })
    }
}
