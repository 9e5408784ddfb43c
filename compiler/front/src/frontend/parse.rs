//! Text to [`syntax`](super::syntax), by a Python parser that recovers from errors.
//!
//! Beside [`tokens`](super::tokens) the only place that knows the parser library.

use std::cell::RefCell;

use ruff_python_ast as py;
use ruff_python_ast::visitor::{Visitor, walk_pattern};
use ruff_python_parser::{
    InterpolatedStringErrorType, LexicalErrorType, Mode, ParseErrorType, ParseOptions, Parsed,
    parse_unchecked,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::decorators;
use super::limits::{self, MAX_NAME_BYTES, MAX_NESTING, MAX_SOURCE_BYTES};
use super::repair::{Fault, ParserReading, TextCopy, repair};
use super::syntax::{
    Alias, ClassDef, Comparison, ComprehensionLoop, Expr, ExprKind, Foreign, FunctionDef, Handler, Ident,
    Keyword, Logical, Module, Operator, Param, Sign, Stmt, StmtKind, WithItem,
};
use super::tokens::{TokenKind, listed};
use crate::diag::catalog::syntax::{self as catalog, SyntaxFault};
use crate::diag::{Diagnostic, Diagnostics, FileId, Span};

/// The statements of one file, as far as they could be understood.
pub fn module(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Module {
    if text.len() > MAX_SOURCE_BYTES {
        diagnostics.push(catalog::source_too_long(file, text.len(), MAX_SOURCE_BYTES));
        return Module::default();
    }
    if let Some(place) = limits::too_deep(file, text) {
        diagnostics.push(catalog::nested_too_deeply(place, MAX_NESTING));
        return Module::default();
    }
    if let Some(name) = limits::long_name(file, text) {
        diagnostics.push(catalog::name_too_long(name, MAX_NAME_BYTES));
        return Module::default();
    }
    if let Some(told) = not_text(file, text) {
        diagnostics.push(told);
        return Module::default();
    }
    let Some(parsed) = parsed(text) else { return Module::default() };
    if parsed.errors().is_empty() {
        let body = Converter::new(file, text, &parsed, None).stmts(parsed.suite());
        return marked(Module { body, ..Module::default() });
    }
    let repaired = repair(file, text, &read);
    diagnostics.extend(repaired.told);
    let (broken, slipped) = (repaired.broken, repaired.slipped);
    let copy = &repaired.copy;
    let Some(parsed) = self::parsed(&copy.text) else { return Module::default() };
    let body = Converter::new(file, &copy.text, &parsed, Some(copy)).stmts(parsed.suite());
    marked(Module { body, broken, slipped })
}

fn marked(mut module: Module) -> Module {
    decorators::mark(&mut module);
    module
}

/// How many faults the syntax of a text has.
#[must_use]
pub fn faults(text: &str) -> usize {
    if text.len() > MAX_SOURCE_BYTES || limits::too_deep(FileId(0), text).is_some() {
        return usize::MAX;
    }
    parsed(text).map_or(usize::MAX, |it| it.errors().len())
}

fn parsed(text: &str) -> Option<Parsed<py::ModModule>> {
    parse_unchecked(text, ParseOptions::from(Mode::Module)).try_into_module()
}

/// Reads a text while the causes of its faults are searched for.
fn read(text: &str) -> ParserReading {
    // A repaired text may nest more deeply than the original.
    if limits::too_deep(FileId(0), text).is_some() {
        let fault = Fault { range: 0..0, kind: SyntaxFault::Other, message: String::new() };
        return ParserReading { faults: vec![fault; usize::from(u16::MAX)], ..ParserReading::default() };
    }
    let Some(parsed) = parsed(text) else { return ParserReading::default() };
    let mut faults: Vec<Fault> = parsed
        .errors()
        .iter()
        .map(|it| Fault {
            range: it.location.start().to_u32()..it.location.end().to_u32(),
            kind: kind(&it.error),
            message: it.error.to_string(),
        })
        .collect();
    faults.sort_by_key(|it| (it.range.start, it.range.end));
    let tokens = listed(text, parsed.tokens());
    let ends = tokens.iter().filter(|it| it.kind == TokenKind::Newline).map(|it| it.start..it.end).collect();
    ParserReading { tokens, ends, faults }
}

/// The kind of a fault that the parser reports.
fn kind(error: &ParseErrorType) -> SyntaxFault {
    use InterpolatedStringErrorType::{UnterminatedString, UnterminatedTripleQuotedString};
    match error {
        ParseErrorType::UnexpectedIndentation => SyntaxFault::IndentedLine,
        ParseErrorType::Lexical(LexicalErrorType::IndentationError) => SyntaxFault::Indentation,
        // These have no kinds of their own.
        ParseErrorType::OtherError(sentence) if sentence.starts_with("Expected an indented block") => {
            SyntaxFault::Indentation
        }
        ParseErrorType::OtherError(sentence) if sentence.starts_with("Missing closing") => {
            SyntaxFault::Unclosed
        }
        ParseErrorType::Lexical(
            LexicalErrorType::UnclosedStringError
            | LexicalErrorType::FStringError(UnterminatedString | UnterminatedTripleQuotedString)
            | LexicalErrorType::TStringError(UnterminatedString | UnterminatedTripleQuotedString),
        )
        | ParseErrorType::FStringError(UnterminatedString | UnterminatedTripleQuotedString)
        | ParseErrorType::TStringError(UnterminatedString | UnterminatedTripleQuotedString) => {
            SyntaxFault::Unclosed
        }
        _ => SyntaxFault::Other,
    }
}

/// Bytes that are no UTF-8 are NULs of the text (`Project::text_of`), which Python takes nowhere.
fn not_text(file: FileId, text: &str) -> Option<Diagnostic> {
    let first = text.find('\0')?;
    let count = text.bytes().filter(|it| *it == 0).count();
    // UTF-16 has one in each second place.
    let is_binary = count * 8 > text.len();
    let at = if is_binary { 0 } else { u32::try_from(first).ok()? };
    Some(catalog::not_utf8(Span::new(file, at, at + 1), is_binary))
}

/// One expression, as a string annotation or an option holds it. Its places are all `span`.
///
/// `None` when the text is not exactly one expression.
#[must_use]
pub fn expression(text: &str, span: Span) -> Option<Expr> {
    if text.len() > MAX_SOURCE_BYTES
        || limits::too_deep(span.file, text).is_some()
        || limits::long_name(span.file, text).is_some()
    {
        return None;
    }
    let parsed = ruff_python_parser::parse_expression(text).ok()?;
    let converter = Converter {
        file: span.file,
        text,
        copy: None,
        function_names: Vec::new(),
        asyncs: RefCell::default(),
    };
    let mut expr = converter.expr(parsed.expr());
    place_at(&mut expr, span);
    Some(expr)
}

/// Gives every part of `expr` the place `span`.
fn place_at(expr: &mut Expr, span: Span) {
    expr.span = span;
    match &mut expr.kind {
        ExprKind::Attribute(value, name) => {
            place_at(value, span);
            name.span = span;
        }
        ExprKind::Subscript(value, index) => {
            place_at(value, span);
            place_at(index, span);
        }
        ExprKind::Call { function, args, keywords } => {
            place_at(function, span);
            args.iter_mut().for_each(|it| place_at(it, span));
            keywords.iter_mut().for_each(|it| place_at(&mut it.value, span));
        }
        ExprKind::Tuple(parts) | ExprKind::List(parts) | ExprKind::Logical(_, parts) => {
            parts.iter_mut().for_each(|it| place_at(it, span));
        }
        ExprKind::Unary(_, operand) | ExprKind::Starred(operand) => place_at(operand, span),
        ExprKind::Binary(_, left, right) => {
            place_at(left, span);
            place_at(right, span);
        }
        ExprKind::Other(_, Some(inner)) => inner.parts_mut().into_iter().for_each(|it| place_at(it, span)),
        _ => {}
    }
}

/// The names that the pattern of a `case` binds.
#[derive(Default)]
struct CapturedNames<'t>(Vec<&'t py::Identifier>);

impl<'t> Visitor<'t> for CapturedNames<'t> {
    fn visit_pattern(&mut self, pattern: &'t py::Pattern) {
        self.0.extend(match pattern {
            py::Pattern::MatchAs(it) => it.name.as_ref(),
            py::Pattern::MatchStar(it) => it.name.as_ref(),
            py::Pattern::MatchMapping(it) => it.rest.as_ref(),
            _ => None,
        });
        walk_pattern(self, pattern);
    }
}

/// Turns the library's tree into ours.
struct Converter<'t> {
    file: FileId,
    /// The text that was parsed.
    text: &'t str,
    /// If the parsed text is a repaired copy, that copy, which maps to the places of the text as written.
    copy: Option<&'t TextCopy<'t>>,
    /// Further names that the file gives the decorators of GTScript functions.
    function_names: Vec<&'t str>,
    /// The `async`s of the function that is being read.
    asyncs: RefCell<Vec<Span>>,
}

/// The decorators of GTScript functions.
const FUNCTION: [&str; 3] = ["function", "lazy_function", "function_collection"];

/// `from ndsl.dsl.gt4py import function as gtfunction`: the names behind `as`.
fn function_names(body: &[py::Stmt]) -> Vec<&str> {
    let aliases = body.iter().filter_map(|stmt| match stmt {
        py::Stmt::ImportFrom(it) => Some(&it.names),
        _ => None,
    });
    let functions = aliases.flatten().filter(|it| FUNCTION.contains(&it.name.as_str()));
    functions.filter_map(|it| it.asname.as_ref().map(py::Identifier::as_str)).collect()
}

impl<'t> Converter<'t> {
    fn new(
        file: FileId,
        text: &'t str,
        parsed: &'t Parsed<py::ModModule>,
        copy: Option<&'t TextCopy<'t>>,
    ) -> Self {
        let function_names = function_names(parsed.suite());
        Self { file, text, copy, function_names, asyncs: RefCell::default() }
    }

    fn span(&self, range: TextRange) -> Span {
        let (start, end) = (range.start().to_u32(), range.end().to_u32());
        match self.copy {
            Some(copy) => {
                let start = copy.start(start);
                Span::new(self.file, start, copy.end(end).max(start))
            }
            None => Span::new(self.file, start, end),
        }
    }

    /// `async` and the space behind it, between two places.
    fn found_async(&self, start: TextSize, end: TextSize) -> Option<Span> {
        let text = self.text.get(start.to_usize()..end.to_usize())?;
        let at = text.rfind("async")?;
        let behind = &text[at + "async".len()..];
        let space = behind.len() - behind.trim_start().len();
        let start = start + TextSize::try_from(at).ok()?;
        let len = TextSize::try_from("async".len() + space).ok()?;
        Some(self.span(TextRange::at(start, len)))
    }

    fn ident(&self, it: &py::Identifier) -> Ident {
        Ident { name: it.id.to_string(), span: self.span(it.range()) }
    }

    fn alias(&self, it: &py::Alias) -> Alias {
        Alias { name: self.ident(&it.name), alias: it.asname.as_ref().map(|name| self.ident(name)) }
    }

    fn stmts(&self, body: &[py::Stmt]) -> Vec<Stmt> {
        body.iter().map(|it| self.stmt(it)).collect()
    }

    fn exprs(&self, exprs: &[py::Expr]) -> Vec<Expr> {
        exprs.iter().map(|it| self.expr(it)).collect()
    }

    fn stmt(&self, stmt: &py::Stmt) -> Stmt {
        let other = |what| StmtKind::Other { what, targets: Vec::new(), body: Vec::new() };
        let about = |what, names: &[py::Identifier]| {
            let targets = names.iter().map(|it| self.name(it)).collect();
            StmtKind::Other { what, targets, body: Vec::new() }
        };
        let kind = match stmt {
            py::Stmt::FunctionDef(it) => StmtKind::Function(self.function(it)),
            py::Stmt::ClassDef(it) => StmtKind::Class(ClassDef {
                name: self.ident(&it.name),
                decorators: it.decorator_list.iter().map(|it| self.expr(&it.expression)).collect(),
                bases: it.arguments.as_ref().map_or_else(Vec::new, |them| self.exprs(&them.args)),
                keywords: it.arguments.as_ref().map_or_else(Vec::new, |them| self.keywords(&them.keywords)),
                body: self.stmts(&it.body),
            }),
            py::Stmt::Return(it) => StmtKind::Return(it.value.as_ref().map(|value| self.expr(value))),
            py::Stmt::Assign(it) => {
                StmtKind::Assign { targets: self.exprs(&it.targets), value: self.expr(&it.value) }
            }
            py::Stmt::AugAssign(it) => StmtKind::AugAssign {
                target: self.expr(&it.target),
                op: operator(it.op),
                value: self.expr(&it.value),
            },
            py::Stmt::AnnAssign(it) => StmtKind::AnnAssign {
                target: self.expr(&it.target),
                annotation: self.expr(&it.annotation),
                value: it.value.as_ref().map(|value| self.expr(value)),
            },
            py::Stmt::If(it) => {
                let otherwise = self.elif_else(&it.elif_else_clauses, it.range());
                StmtKind::If { test: self.expr(&it.test), then: self.stmts(&it.body), otherwise }
            }
            py::Stmt::While(it) => StmtKind::While {
                test: self.expr(&it.test),
                body: self.stmts(&it.body),
                otherwise: self.stmts(&it.orelse),
            },
            py::Stmt::With(it) => {
                if it.is_async {
                    let first = it.items.first().map_or(it.range().end(), |it| it.range().start());
                    self.asyncs.borrow_mut().extend(self.found_async(it.range().start(), first));
                }
                let items = it
                    .items
                    .iter()
                    .map(|item| WithItem {
                        context: self.expr(&item.context_expr),
                        target: item.optional_vars.as_ref().map(|target| self.expr(target)),
                    })
                    .collect();
                StmtKind::With { items, body: self.stmts(&it.body) }
            }
            py::Stmt::For(it) => StmtKind::For {
                target: self.expr(&it.target),
                iterable: self.expr(&it.iter),
                body: self.stmts(&it.body),
                otherwise: self.stmts(&it.orelse),
            },
            py::Stmt::Try(it) => {
                let handler = |py::ExceptHandler::ExceptHandler(it): &py::ExceptHandler| Handler {
                    name: it.name.as_ref().map(|name| self.ident(name)),
                    body: self.stmts(&it.body),
                };
                StmtKind::Try {
                    body: self.stmts(&it.body),
                    handlers: it.handlers.iter().map(handler).collect(),
                    otherwise: self.stmts(&it.orelse),
                    last: self.stmts(&it.finalbody),
                }
            }
            py::Stmt::Import(it) => StmtKind::Import(it.names.iter().map(|name| self.alias(name)).collect()),
            py::Stmt::ImportFrom(it) => StmtKind::ImportFrom {
                level: it.level,
                module: it.module.as_ref().map_or_else(String::new, |name| name.id.to_string()),
                names: it.names.iter().map(|name| self.alias(name)).collect(),
            },
            py::Stmt::Expr(it) => StmtKind::Expr(self.expr(&it.value)),
            py::Stmt::Pass(_) => StmtKind::Pass,
            py::Stmt::Delete(it) => {
                StmtKind::Other { what: "del", targets: self.exprs(&it.targets), body: Vec::new() }
            }
            py::Stmt::TypeAlias(it) => {
                StmtKind::Other { what: "type", targets: vec![self.expr(&it.name)], body: Vec::new() }
            }
            py::Stmt::Match(it) => {
                let mut captured = CapturedNames::default();
                it.cases.iter().for_each(|case| captured.visit_pattern(&case.pattern));
                let targets = captured.0.into_iter().map(|name| self.name(name)).collect();
                let body = it.cases.iter().flat_map(|case| self.stmts(&case.body)).collect();
                StmtKind::Other { what: "match", targets, body }
            }
            py::Stmt::Raise(_) => other("raise"),
            py::Stmt::Assert(_) => other("assert"),
            py::Stmt::Global(it) => about("global", &it.names),
            py::Stmt::Nonlocal(it) => about("nonlocal", &it.names),
            py::Stmt::Break(_) => other("break"),
            py::Stmt::Continue(_) => other("continue"),
            py::Stmt::IpyEscapeCommand(_) => other("escape command"),
        };
        Stmt { kind, span: self.span(stmt.range()) }
    }

    /// The branches behind the first, each `elif` an `if` in the `else` of the one before.
    fn elif_else(&self, clauses: &[py::ElifElseClause], whole: TextRange) -> Vec<Stmt> {
        let mut otherwise = Vec::new();
        for clause in clauses.iter().rev() {
            let body = self.stmts(&clause.body);
            otherwise = match &clause.test {
                None => body,
                Some(test) => {
                    let span = self.span(TextRange::new(clause.range().start(), whole.end()));
                    let kind = StmtKind::If { test: self.expr(test), then: body, otherwise };
                    vec![Stmt { kind, span }]
                }
            };
        }
        otherwise
    }

    fn function(&self, it: &py::StmtFunctionDef) -> FunctionDef {
        let param = |param: &py::ParameterWithDefault, is_keyword_only| Param {
            name: self.ident(&param.parameter.name),
            annotation: param.parameter.annotation.as_ref().map(|it| self.expr(it)),
            default: param.default.as_ref().map(|it| self.expr(it)),
            is_keyword_only,
        };
        let them = &it.parameters;
        let by_position = them.posonlyargs.iter().chain(&them.args).map(|it| param(it, false));
        let by_name = them.kwonlyargs.iter().map(|it| param(it, true));
        let decorators: Vec<Expr> = it.decorator_list.iter().map(|it| self.expr(&it.expression)).collect();
        let outer = std::mem::take(&mut *self.asyncs.borrow_mut());
        if it.is_async {
            let start = it.decorator_list.last().map_or(it.range().start(), |it| it.range().end());
            self.asyncs.borrow_mut().extend(self.found_async(start, it.name.range().start()));
        }
        let body = self.stmts(&it.body);
        let asyncs = self.asyncs.replace(outer);
        FunctionDef {
            name: self.ident(&it.name),
            is_function: decorators.iter().any(|it| self.is_of_functions(it)),
            is_stencil: false,
            decorators,
            params: by_position.chain(by_name).collect(),
            variadic: them.vararg.iter().chain(&them.kwarg).map(|it| self.ident(&it.name)).collect(),
            asyncs,
            body,
            span: self.span(it.range()),
        }
    }

    /// `@function`, `@gtscript.function`, `@lazy_function(...)`, `@function_collection("name")`, and other names
    /// of them.
    fn is_of_functions(&self, decorator: &Expr) -> bool {
        let name = match &decorator.kind {
            ExprKind::Call { function, .. } => function,
            _ => decorator,
        };
        name.as_dotted().is_some_and(|it| match it[..] {
            [name] => FUNCTION.contains(&name) || self.function_names.contains(&name),
            [.., name] => FUNCTION.contains(&name),
            [] => false,
        })
    }

    /// A name that a statement binds.
    fn name(&self, it: &py::Identifier) -> Expr {
        Expr { kind: ExprKind::Name(it.id.to_string()), span: self.span(it.range()) }
    }

    fn keywords(&self, keywords: &[py::Keyword]) -> Vec<Keyword> {
        let keyword = |it: &py::Keyword| Keyword {
            name: it.arg.as_ref().map(|name| self.ident(name)),
            value: self.expr(&it.value),
            span: self.span(it.range()),
        };
        keywords.iter().map(keyword).collect()
    }

    /// `element for target in iterable if condition`; of a dict with keys and values.
    fn comprehension(
        &self,
        what: &'static str,
        (element, value): (&py::Expr, Option<&py::Expr>),
        loops: &[py::Comprehension],
    ) -> ExprKind {
        let loops = loops.iter().map(|it| ComprehensionLoop {
            target: self.expr(&it.target),
            iterable: self.expr(&it.iter),
            conditions: self.exprs(&it.ifs),
        });
        let inner = Foreign::Comprehension {
            element: self.expr(element),
            value: value.map(|it| self.expr(it)),
            loops: loops.collect(),
        };
        ExprKind::Other(what, Some(Box::new(inner)))
    }

    fn boxed(&self, expr: &py::Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn expr(&self, expr: &py::Expr) -> Expr {
        let parts = |what, inside: Vec<Expr>| {
            let inner = (!inside.is_empty()).then(|| Box::new(Foreign::Parts(inside)));
            ExprKind::Other(what, inner)
        };
        let kind = match expr {
            py::Expr::Name(it) if it.id.is_empty() => ExprKind::Missing,
            py::Expr::Name(it) => ExprKind::Name(it.id.to_string()),
            py::Expr::Attribute(it) => ExprKind::Attribute(self.boxed(&it.value), self.ident(&it.attr)),
            py::Expr::Subscript(it) => ExprKind::Subscript(self.boxed(&it.value), self.boxed(&it.slice)),
            py::Expr::Call(it) => ExprKind::Call {
                function: self.boxed(&it.func),
                args: self.exprs(&it.arguments.args),
                keywords: self.keywords(&it.arguments.keywords),
            },
            py::Expr::NumberLiteral(it) => match &it.value {
                py::Number::Int(value) => {
                    value.as_i64().map_or_else(|| ExprKind::BigInt(value.to_string()), ExprKind::Int)
                }
                py::Number::Float(value) => ExprKind::Float(*value),
                py::Number::Complex { .. } => ExprKind::Other("complex number", None),
            },
            py::Expr::BooleanLiteral(it) => ExprKind::Bool(it.value),
            py::Expr::NoneLiteral(_) => ExprKind::None,
            py::Expr::EllipsisLiteral(_) => ExprKind::Ellipsis,
            py::Expr::StringLiteral(it) => ExprKind::Str(it.value.to_str().to_owned()),
            // Its digits alone are one more than the greatest integer.
            py::Expr::UnaryOp(it) if it.op == py::UnaryOp::USub && is_least_integer(&it.operand) => {
                ExprKind::Int(i64::MIN)
            }
            py::Expr::UnaryOp(it) => {
                let sign = match it.op {
                    py::UnaryOp::Invert => Sign::Invert,
                    py::UnaryOp::Not => Sign::Not,
                    py::UnaryOp::UAdd => Sign::Plus,
                    py::UnaryOp::USub => Sign::Minus,
                };
                ExprKind::Unary(sign, self.boxed(&it.operand))
            }
            py::Expr::BinOp(it) => {
                ExprKind::Binary(operator(it.op), self.boxed(&it.left), self.boxed(&it.right))
            }
            py::Expr::BoolOp(it) => {
                let op = match it.op {
                    py::BoolOp::And => Logical::And,
                    py::BoolOp::Or => Logical::Or,
                };
                ExprKind::Logical(op, self.exprs(&it.values))
            }
            py::Expr::Compare(it) => {
                let rest = it.ops.iter().zip(&it.comparators);
                let rest = rest.map(|(op, right)| (comparison(*op), self.expr(right))).collect();
                ExprKind::Compare(self.boxed(&it.left), rest)
            }
            py::Expr::If(it) => ExprKind::Ternary {
                test: self.boxed(&it.test),
                then: self.boxed(&it.body),
                otherwise: self.boxed(&it.orelse),
            },
            py::Expr::Tuple(it) => ExprKind::Tuple(self.exprs(&it.elts)),
            py::Expr::List(it) => ExprKind::List(self.exprs(&it.elts)),
            py::Expr::Slice(it) => {
                let side = |it: &Option<Box<py::Expr>>| it.as_ref().map(|it| self.boxed(it));
                ExprKind::Slice { lower: side(&it.lower), upper: side(&it.upper), step: side(&it.step) }
            }
            py::Expr::Starred(it) => ExprKind::Starred(self.boxed(&it.value)),
            py::Expr::Named(it) => {
                let inner =
                    Foreign::Assignment { target: self.expr(&it.target), value: self.expr(&it.value) };
                ExprKind::Other("assignment expression", Some(Box::new(inner)))
            }
            py::Expr::Lambda(it) => parts("lambda", vec![self.expr(&it.body)]),
            py::Expr::Dict(it) => ExprKind::Dict(
                it.items
                    .iter()
                    .map(|item| (item.key.as_ref().map(|key| self.expr(key)), self.expr(&item.value)))
                    .collect(),
            ),
            py::Expr::Set(it) => parts("set", self.exprs(&it.elts)),
            py::Expr::ListComp(it) => {
                self.comprehension("list comprehension", (&it.elt, None), &it.generators)
            }
            py::Expr::SetComp(it) => self.comprehension("set comprehension", (&it.elt, None), &it.generators),
            py::Expr::DictComp(it) => {
                let both = match &it.key {
                    Some(key) => (&**key, Some(&*it.value)),
                    None => (&*it.value, None),
                };
                self.comprehension("dict comprehension", both, &it.generators)
            }
            py::Expr::Generator(it) => {
                self.comprehension("generator expression", (&it.elt, None), &it.generators)
            }
            py::Expr::Await(it) => parts("await", vec![self.expr(&it.value)]),
            py::Expr::Yield(it) => parts("yield", it.value.iter().map(|it| self.expr(it)).collect()),
            py::Expr::YieldFrom(it) => parts("yield", vec![self.expr(&it.value)]),
            py::Expr::FString(it) => {
                let inside =
                    it.value.elements().filter_map(|it| Some(self.expr(&it.as_interpolation()?.expression)));
                parts("f-string", inside.collect())
            }
            py::Expr::TString(it) => {
                let inside =
                    it.value.elements().filter_map(|it| Some(self.expr(&it.as_interpolation()?.expression)));
                parts("f-string", inside.collect())
            }
            py::Expr::BytesLiteral(_) => ExprKind::Other("bytes", None),
            py::Expr::IpyEscapeCommand(_) => ExprKind::Other("escape command", None),
        };
        Expr { kind, span: self.span(expr.range()) }
    }
}

/// Whether it is 9223372036854775808.
fn is_least_integer(expr: &py::Expr) -> bool {
    match expr {
        py::Expr::NumberLiteral(py::ExprNumberLiteral { value: py::Number::Int(it), .. }) => {
            it.as_u64() == Some(i64::MIN.unsigned_abs())
        }
        _ => false,
    }
}

fn operator(op: py::Operator) -> Operator {
    match op {
        py::Operator::Add => Operator::Add,
        py::Operator::Sub => Operator::Sub,
        py::Operator::Mult => Operator::Mul,
        py::Operator::MatMult => Operator::MatMul,
        py::Operator::Div => Operator::Div,
        py::Operator::Mod => Operator::Mod,
        py::Operator::Pow => Operator::Pow,
        py::Operator::LShift => Operator::ShiftLeft,
        py::Operator::RShift => Operator::ShiftRight,
        py::Operator::BitOr => Operator::BitOr,
        py::Operator::BitXor => Operator::BitXor,
        py::Operator::BitAnd => Operator::BitAnd,
        py::Operator::FloorDiv => Operator::FloorDiv,
    }
}

fn comparison(op: py::CmpOp) -> Comparison {
    match op {
        py::CmpOp::Eq => Comparison::Eq,
        py::CmpOp::NotEq => Comparison::Ne,
        py::CmpOp::Lt => Comparison::Lt,
        py::CmpOp::LtE => Comparison::Le,
        py::CmpOp::Gt => Comparison::Gt,
        py::CmpOp::GtE => Comparison::Ge,
        py::CmpOp::Is => Comparison::Is,
        py::CmpOp::IsNot => Comparison::IsNot,
        py::CmpOp::In => Comparison::In,
        py::CmpOp::NotIn => Comparison::NotIn,
    }
}
