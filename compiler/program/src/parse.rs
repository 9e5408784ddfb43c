//! The Program IR read back from its text.

use std::str::FromStr;

use isobar_front::frontend::parse as python;
use isobar_front::frontend::syntax::{Expr, ExprKind};
use isobar_ground::call::signature::{AccessKind, Param, ParamKind};
use isobar_ground::diag::outline::{LineResult, ListingFault, OutlineLine, outline};
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::entity::Handle;
use isobar_ground::space::{Axis, AxisSet, Reach};
use isobar_ground::types::{DType, Value};

use crate::nodes::{
    CallArgument, Container, ContainerPart, ContainerRole, EDGES, ExchangeKind, ExchangePhase, HaloExchange,
    ProgramIr, ProgramStencil, ProgramStmt, ProgramStmtKind, StencilCall,
};
use crate::plan::{ExchangePlan, HaloStrip, Neighbour, StripDimension};
use crate::scalar::from_python::ScalarReader;
use crate::scalar::nodes::ScalarRole;
use crate::scalar::{ScalarExpr, ScalarVariable};
use crate::size::AffineSize;

/// Reads a program that [`listing`](super::print::listing) wrote. The place of a statement is its line in `text`.
///
/// # Errors
///
/// The first line that can't be read.
pub fn parse(text: &str) -> Result<ProgramIr, ListingFault> {
    let mut reader = ProgramReader { program: ProgramIr::default() };
    let lines = outline(text);
    let n_declared = lines.iter().take_while(|it| is_declaration(it.text)).count();
    let read = (|| {
        lines[..n_declared].iter().try_for_each(|it| reader.declaration(it))?;
        reader.body(&lines[n_declared..])
    })();
    reader.program.body = read.map_err(|wrong| ListingFault::at(text, wrong))?;
    Ok(reader.program)
}

const DECLARATIONS: [&str; 9] =
    ["program", "grid", "argument", "constant", "state", "local", "scalar", "stencil", "plan"];

fn is_declaration(line: &str) -> bool {
    line.split_once(' ').is_some_and(|it| DECLARATIONS.contains(&it.0))
}

struct ProgramReader {
    program: ProgramIr,
}

/// The items of `[1, 2]`.
fn list<T: FromStr>(text: &str) -> Option<Vec<T>> {
    items(text)?.into_iter().map(|it| it.parse().ok()).collect()
}

fn items(text: &str) -> Option<Vec<&str>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(if inner.is_empty() { Vec::new() } else { inner.split(", ").collect() })
}

fn three<T: FromStr>(text: &str) -> Option<[T; 3]> {
    list(text)?.try_into().ok()
}

fn axes(text: &str) -> Option<AxisSet> {
    let of: Vec<Axis> = Axis::ALL.into_iter().filter(|it| text.contains(it.name())).collect();
    let axes = AxisSet::of(&of);
    (text == "-" && axes.is_empty() || text == axes.to_string()).then_some(axes)
}

/// `text data [1, 2]`, or `text` alone.
fn with_data(text: &str) -> Option<(&str, Vec<u32>)> {
    match text.split_once(" data ") {
        Some((before, dims)) => Some((before, list(dims)?)),
        None => Some((text, Vec::new())),
    }
}

/// `name: dtype rest`, where there may be no rest.
fn declared(text: &str) -> Option<(&str, DType, &str)> {
    let (name, rest) = text.split_once(": ")?;
    let (dtype, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((name, DType::from_name(dtype)?, rest))
}

fn reaches(text: &str) -> Option<[Reach; 3]> {
    let reach = |it: &str| {
        let (lo, hi) = it.split_once(':')?;
        Some(Reach::new(lo.parse().ok()?, hi.parse().ok()?))
    };
    items(text)?.into_iter().map(reach).collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// `0 [0 3 12 +, 1 12 3 -] negated`, as a strip of a plan.
fn strip_of(text: &str) -> Option<HaloStrip> {
    let (text, is_negated) = text.strip_suffix(" negated").map_or((text, false), |it| (it, true));
    let (field, along) = text.split_once(' ')?;
    let dimension = |it: &str| {
        let [dimension, first, n, direction] = it.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let is_backwards = [("+", false), ("-", true)].into_iter().find(|it| it.0 == direction)?.1;
        let [dimension, first, n] = [dimension, first, n].map(str::parse);
        Some(StripDimension { dimension: dimension.ok()?, first: first.ok()?, n: n.ok()?, is_backwards })
    };
    let along = items(along)?.into_iter().map(dimension).collect::<Option<_>>()?;
    Some(HaloStrip { field: field.parse().ok()?, along, is_negated })
}

fn quoted(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

fn access(word: &str) -> Option<AccessKind> {
    [AccessKind::None, AccessKind::Read, AccessKind::Write, AccessKind::ReadWrite]
        .into_iter()
        .find(|it| it.to_string() == word)
}

/// A parameter of a stencil, as its line has it.
fn param(line: &str, span: Span) -> Option<Param> {
    let (kind, rest) = line.split_once(' ')?;
    let (name, dtype, rest) = declared(rest)?;
    let name = name.to_owned();
    if kind == "scalar" {
        let (uses, default) = rest.split_once(" = ").map_or((rest, None), |(uses, it)| (uses, Some(it)));
        let default = match default {
            Some(digits) => Some(Value::from_digits(digits, dtype)?),
            None => None,
        };
        let (uses, is_keyword_only) = uses.strip_suffix(" keyword").map_or((uses, false), |it| (it, true));
        let kind = ParamKind::Scalar { dtype, default };
        return Some(Param { name, kind, access: access(uses)?, is_keyword_only, span });
    }
    let (rest, touches) = rest.split_once(" touches ").filter(|_| kind == "field")?;
    let (rest, needs) = rest.split_once(" needs ")?;
    let (rest, is_keyword_only) = rest.strip_suffix(" keyword").map_or((rest, false), |it| (it, true));
    let (rest, uses) = rest.rsplit_once(' ')?;
    let (of, data_dims) = with_data(rest)?;
    let (boundary, reach) = (reaches(needs)?, reaches(touches)?);
    let kind = ParamKind::Field { axes: axes(of)?, data_dims, dtype, boundary, reach };
    Some(Param { name, kind, access: access(uses)?, is_keyword_only, span })
}

impl ProgramReader {
    fn declaration(&mut self, line: &OutlineLine<'_>) -> LineResult<()> {
        let fail = || (line.span, "this declaration cannot be read".to_owned());
        let (word, rest) = line.text.split_once(' ').ok_or_else(fail)?;
        let read = match word {
            "program" => {
                rest.clone_into(&mut self.program.name);
                Some(())
            }
            "grid" => self.grid(rest),
            "scalar" => self.scalar(rest, line.span),
            "stencil" => self.stencil(rest, line)?,
            "plan" => self.plan(rest, line),
            role => self.container(role, rest, line.span),
        };
        read.ok_or_else(fail)
    }

    fn grid(&mut self, text: &str) -> Option<()> {
        let mut words = text.split(' ');
        self.program.grid.halo = words.next()?.parse().ok()?;
        for word in words {
            self.program.grid.edges[EDGES.iter().position(|it| *it == word)?] = true;
        }
        Some(())
    }

    fn container(&mut self, role: &str, text: &str, span: Span) -> Option<()> {
        let (name, dtype, rest) = declared(text)?;
        let (rest, first) = rest.split_once(" = ").map_or((rest, None), |(rest, it)| (rest, Some(it)));
        let (rest, origin) = rest.split_once(" at ")?;
        let (rest, staggered) = rest.split_once(" staggered ").map_or((rest, "-"), |(rest, it)| (rest, it));
        let (rest, data_dims) = with_data(rest)?;
        let (of, shape) = rest.split_once(' ')?;
        let shape = items(shape)?.into_iter().map(AffineSize::parse).collect::<Option<_>>()?;
        let role = match role {
            "argument" => ContainerRole::Argument,
            "constant" => ContainerRole::Constant,
            "state" => ContainerRole::State(Value::from_digits(first?, dtype)?),
            _ => ContainerRole::Local,
        };
        let (name, axes, staggered, origin) = (name.to_owned(), axes(of)?, axes(staggered)?, three(origin)?);
        let container = Container { name, role, dtype, axes, shape, data_dims, staggered, origin, span };
        self.program.containers.push(container);
        Some(())
    }

    fn scalar(&mut self, text: &str, span: Span) -> Option<()> {
        let (role, rest) = text.split_once(' ')?;
        let (rest, value) = rest.split_once(" = ").map_or((rest, None), |(rest, it)| (rest, Some(it)));
        let (name, dtype, _) = declared(rest)?;
        let value = || Value::from_digits(value?, dtype);
        let role = match role {
            "argument" => ScalarRole::Argument,
            "local" => ScalarRole::Local,
            "constant" => ScalarRole::Constant(value()?),
            "state" => ScalarRole::State(value()?),
            _ => return None,
        };
        self.program.scalars.push(ScalarVariable { name: name.to_owned(), dtype, role, span });
        Some(())
    }

    fn stencil(&mut self, text: &str, line: &OutlineLine<'_>) -> LineResult<Option<()>> {
        let Some(mut stencil) = stencil_line(text, line.span) else { return Ok(None) };
        for child in &line.children {
            let read = (|| {
                let (word, rest) = child.text.split_once(' ')?;
                match word {
                    "levels" => stencil.min_levels = rest.parse().ok()?,
                    "external" => {
                        let (name, value) = rest.split_once(" = ")?;
                        stencil.externals.push((name.to_owned(), value.to_owned()));
                    }
                    "origin" => {
                        let (name, at) = rest.split_once(' ')?;
                        stencil.origins.push((name.to_owned(), three(at)?));
                    }
                    _ => stencil.params.push(param(child.text, child.span)?),
                }
                Some(())
            })();
            read.ok_or_else(|| (child.span, "this line of a stencil cannot be read".to_owned()))?;
        }
        self.program.stencils.push(stencil);
        Ok(Some(()))
    }

    fn plan(&mut self, text: &str, line: &OutlineLine<'_>) -> Option<()> {
        let (name, tag) = text.split_once(" tag ")?;
        let mut neighbours = Vec::with_capacity(line.children.len());
        for it in &line.children {
            let rank = it.text.strip_prefix("rank ")?.parse().ok()?;
            let (mut sent, mut received) = (Vec::new(), Vec::new());
            for strip in &it.children {
                let (word, rest) = strip.text.split_once(' ')?;
                match word {
                    "send" => sent.push(strip_of(rest)?),
                    "receive" => received.push(strip_of(rest)?),
                    _ => return None,
                }
            }
            neighbours.push(Neighbour { rank, sent, received });
        }
        let (name, tag, neighbours) = (name.to_owned(), tag.parse().ok()?, neighbours.into());
        self.program.plans.push(ExchangePlan { name, tag, neighbours, span: line.span });
        Some(())
    }

    fn body(&self, lines: &[OutlineLine<'_>]) -> LineResult<Vec<ProgramStmt>> {
        let mut made: Vec<ProgramStmt> = Vec::with_capacity(lines.len());
        for line in lines {
            if line.text == "else" {
                let last = made.last_mut().map(|it| &mut it.kind);
                let Some(ProgramStmtKind::If { otherwise, .. }) = last else {
                    return Err((line.span, "there is no `if` before this `else`".to_owned()));
                };
                *otherwise = self.body(&line.children)?;
                continue;
            }
            let inner = self.body(&line.children)?;
            let kind = self.statement(line.text, line.span, inner);
            let kind = kind.map_err(|message| (line.span, message))?;
            made.push(ProgramStmt { kind, span: line.span });
        }
        Ok(made)
    }

    fn statement(&self, text: &str, span: Span, inner: Vec<ProgramStmt>) -> Result<ProgramStmtKind, String> {
        let unknown = || format!("`{text}` is no statement");
        let (word, rest) = text.split_once(' ').ok_or_else(unknown)?;
        let halves = |by: &str| rest.split_once(by).ok_or_else(unknown);
        Ok(match word {
            "call" => ProgramStmtKind::Call(self.call(rest, span)?),
            "for" => {
                let (name, range) = halves(" in ")?;
                let variable = self.variable(name)?;
                let (function, args, _) = called(range, span)?;
                let bounds =
                    args.iter().map(|it| self.typed(it, range, span)).collect::<Result<Vec<_>, _>>()?;
                let range = bounds.try_into().ok().filter(|_| function == "range").ok_or_else(unknown)?;
                ProgramStmtKind::For { variable, range, body: inner }
            }
            "while" => {
                let (limit, condition) = halves(": ")?;
                let limit =
                    limit.strip_prefix("at most ").and_then(|it| it.parse().ok()).ok_or_else(unknown)?;
                ProgramStmtKind::While { condition: self.expr(condition, span)?, limit, body: inner }
            }
            "if" => {
                let condition = self.expr(rest, span)?;
                ProgramStmtKind::If { condition, then: inner, otherwise: Vec::new() }
            }
            "let" => {
                let (name, value) = halves(" = ")?;
                ProgramStmtKind::Let { variable: self.variable(name)?, value: self.expr(value, span)? }
            }
            "copy" => {
                let (from, to) = halves(" to ")?;
                ProgramStmtKind::Copy { from: self.part_text(from, span)?, to: self.part_text(to, span)? }
            }
            "fill" => {
                let (target, value) = halves(" with ")?;
                ProgramStmtKind::Fill {
                    target: self.part_text(target, span)?,
                    value: self.expr(value, span)?,
                }
            }
            "swap" => {
                let (one, other) = halves(" and ")?;
                ProgramStmtKind::Swap(self.part_text(one, span)?, self.part_text(other, span)?)
            }
            "exchange" => ProgramStmtKind::Exchange(self.exchange(rest, span)?),
            "host" => self.host(rest, false, span)?,
            "exact" => self.host(rest.strip_prefix("host ").ok_or_else(unknown)?, true, span)?,
            "group" => ProgramStmtKind::Group { number: rest.parse().map_err(|_| unknown())?, body: inner },
            "mark" => ProgramStmtKind::Mark(quoted(rest).ok_or_else(unknown)?),
            "trap" => ProgramStmtKind::Trap(quoted(rest).ok_or_else(unknown)?),
            _ => return Err(unknown()),
        })
    }

    fn variable(&self, name: &str) -> Result<Handle<ScalarVariable>, String> {
        self.program.scalars.find(|it| it.name == name).ok_or_else(|| format!("there is no scalar `{name}`"))
    }

    fn expr(&self, text: &str, span: Span) -> Result<ScalarExpr, String> {
        let reader = ScalarReader { scalars: &self.program.scalars, text, span };
        reader.read().map_err(message)
    }

    fn typed(&self, expr: &Expr, text: &str, span: Span) -> Result<ScalarExpr, String> {
        let reader = ScalarReader { scalars: &self.program.scalars, text, span };
        reader.typed(expr).map_err(message)
    }

    fn part_text(&self, text: &str, span: Span) -> Result<ContainerPart, String> {
        let expr = python::expression(text, span).ok_or_else(|| format!("`{text}` is no field"))?;
        self.part(&expr)
    }

    fn part(&self, expr: &Expr) -> Result<ContainerPart, String> {
        let wrong = || "a field was expected".to_owned();
        let (name, index) = match &expr.kind {
            ExprKind::Subscript(name, index) => (&**name, index.parts()),
            _ => (expr, &[][..]),
        };
        let name = name.as_dotted().ok_or_else(wrong)?.join(".");
        let found = self.program.containers.find(|it| it.name == name);
        let container = found.ok_or_else(|| format!("there is no field `{name}`"))?;
        let number = |it: &Expr| match it.kind {
            ExprKind::Int(at) => u32::try_from(at).map_err(|_| wrong()),
            _ => Err(wrong()),
        };
        Ok(ContainerPart { container, data_index: index.iter().map(number).collect::<Result<_, _>>()? })
    }

    fn parts(&self, exprs: &[Expr]) -> Result<Vec<ContainerPart>, String> {
        exprs.iter().map(|it| self.part(it)).collect()
    }

    fn call(&self, text: &str, span: Span) -> Result<StencilCall, String> {
        let (name, _, keywords) = called(text, span)?;
        let found = self.program.stencils.find(|it| it.name == name);
        let stencil = found.ok_or_else(|| format!("there is no stencil `{name}`"))?;
        let params = &self.program.stencils[stencil].params;
        let known = |it: &str| params.iter().any(|param| param.name == it);
        if let Some((other, _)) = keywords.iter().find(|it| !known(&it.0)) {
            return Err(format!("`{name}` has no parameter `{other}`"));
        }
        let argument = |param: &Param| {
            let Some((_, given)) = keywords.iter().find(|it| it.0 == param.name) else { return Ok(None) };
            Ok(Some(match param.kind {
                ParamKind::Field { .. } => CallArgument::Field(self.part(given)?),
                ParamKind::Scalar { .. } => CallArgument::Scalar(self.typed(given, text, span)?),
            }))
        };
        let arguments = params.iter().map(argument).collect::<Result<_, String>>()?;
        Ok(StencilCall { stencil, arguments })
    }

    fn exchange(&self, text: &str, span: Span) -> Result<HaloExchange, String> {
        let wrong = || format!("`{text}` is no exchange");
        let (text, plan) = text.rsplit_once(" by ").map_or((text, None), |(text, name)| (text, Some(name)));
        let plan = match plan {
            Some(name) => Some(self.program.plans.find(|it| it.name == name).ok_or_else(wrong)?),
            None => None,
        };
        let (how, fields) = text.split_once(" of ").ok_or_else(wrong)?;
        let words: Vec<&str> = how.split(' ').collect();
        let [phase, kind, width] = words.as_slice() else { return Err(wrong()) };
        let phase = ExchangePhase::ALL.into_iter().find(|it| it.1 == *phase).ok_or_else(wrong)?.0;
        let kind = ExchangeKind::ALL.into_iter().find(|it| it.1 == *kind).ok_or_else(wrong)?.0;
        let width = width.parse().map_err(|_| wrong())?;
        let fields = python::expression(&format!("({fields},)"), span).ok_or_else(wrong)?;
        Ok(HaloExchange { fields: self.parts(fields.parts())?, kind, width, phase, plan })
    }

    fn host(&self, text: &str, is_exact: bool, span: Span) -> Result<ProgramStmtKind, String> {
        let wrong = || format!("`{text}` is no callback");
        let (name, args, _) = called(text, span)?;
        let [reads, writes, gives] = args.as_slice() else { return Err(wrong()) };
        let inner = |it: &Expr| match &it.kind {
            ExprKind::Call { args, .. } => Ok(args.clone()),
            _ => Err(wrong()),
        };
        let scalar = |it: &Expr| self.variable(it.as_name().ok_or_else(wrong)?);
        let gives = inner(gives)?.iter().map(scalar).collect::<Result<_, _>>()?;
        let (reads, writes) = (self.parts(&inner(reads)?)?, self.parts(&inner(writes)?)?);
        Ok(ProgramStmtKind::Host { name, reads, writes, gives, is_exact })
    }
}

fn message(diagnostic: Diagnostic) -> String {
    diagnostic.message
}

/// The name, the arguments and the keywords of a call.
type CalledParts = (String, Vec<Expr>, Vec<(String, Expr)>);

fn called(text: &str, span: Span) -> Result<CalledParts, String> {
    let wrong = || format!("`{text}` is no call");
    let Some(Expr { kind: ExprKind::Call { function, args, keywords }, .. }) = python::expression(text, span)
    else {
        return Err(wrong());
    };
    let name = function.as_dotted().ok_or_else(wrong)?.join(".");
    let keywords = keywords.into_iter().map(|it| Some((it.name?.name, it.value)));
    Ok((name, args, keywords.collect::<Option<_>>().ok_or_else(wrong)?))
}

fn stencil_line(text: &str, span: Span) -> Option<ProgramStencil> {
    let (name, rest) = text.split_once(" = ")?;
    let (function, rest) = rest.split_once(" on ")?;
    let (domain, origin) = rest.split_once(" at ")?;
    let domain: Option<Vec<AffineSize>> = items(domain)?.into_iter().map(AffineSize::parse).collect();
    Some(ProgramStencil {
        name: name.to_owned(),
        function: function.to_owned(),
        externals: Vec::new(),
        origin: three(origin)?,
        origins: Vec::new(),
        domain: domain?.try_into().ok()?,
        params: Vec::new(),
        min_levels: 0,
        span,
    })
}
