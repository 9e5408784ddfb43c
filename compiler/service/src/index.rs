//! Every name of the files, and everything that it stands for: trees say what is bound, tokens say where it is used.
//!
//! Uses come from the tokens. So none is missed in constructs without a tree (a dict, an f-string), or in a
//! line that does not parse.

use std::collections::BTreeMap;

use super::scopes::{ImportTarget, OccurrenceRole, Scope, Scopes, SymbolId, SymbolKind};
use isobar_front::frontend::tokens::{Token, TokenKind, tokens};
use isobar_front::frontend::{Names, Program};
use isobar_front::project::Project;
use isobar_ground::diag::{FileId, Span};

/// A name where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub span: Span,
    pub symbol: SymbolId,
    pub role: OccurrenceRole,
}

/// All names of a project.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub scopes: Scopes,
    /// Of each file.
    pub tokens: Vec<Vec<Token>>,
    /// Of each file, in order.
    pub occurrences: Vec<Vec<Occurrence>>,
    /// Names of modules, and the files they mean.
    pub modules: Vec<(Span, FileId)>,
}

impl Index {
    #[must_use]
    pub fn new(project: &Project, program: &Program, names: &Names<'_>) -> Self {
        let texts: Vec<&str> = project.files.values().map(|it| &**it).collect();
        let mut index = Self { scopes: Scopes::new(program, names), ..Self::default() };
        for text in texts.iter().take(program.files.len()) {
            index.tokens.push(tokens(text));
        }
        index.find_bodies(&texts);
        for (position, text) in texts.iter().enumerate().take(program.files.len()) {
            let file = FileId(u16::try_from(position).unwrap_or(u16::MAX));
            let mut reader = Reader { index: &index, names, file, text, at: Vec::new(), modules: Vec::new() };
            let mut found = reader.read();
            let modules = reader.modules;
            found.extend(index.directives(file, text));
            found.sort_by_key(|it| it.span.start);
            index.occurrences.push(found);
            index.modules.extend(modules);
        }
        index
    }

    /// The name at a place, or that ends there.
    #[must_use]
    pub fn at(&self, file: FileId, offset: u32) -> Option<Occurrence> {
        let all = self.occurrences.get(usize::from(file.0))?;
        let next = all.partition_point(|it| it.span.start <= offset);
        let found = all.get(next.checked_sub(1)?)?;
        (offset <= found.span.end).then_some(*found)
    }

    /// The token at a place, or that ends there; a word goes before a sign.
    #[must_use]
    pub fn token_at(&self, file: FileId, offset: u32) -> Option<Token> {
        let all = self.tokens.get(usize::from(file.0))?;
        let next = all.partition_point(|it| it.start <= offset);
        let candidates = all[next.saturating_sub(2)..next].iter().rev();
        let mut found = candidates.filter(|it| offset <= it.end && it.start < it.end);
        let first = found.next()?;
        let is_word =
            |it: &Token| matches!(it.kind, TokenKind::Name | TokenKind::Keyword | TokenKind::Number);
        Some(*if is_word(first) { first } else { found.find(|it| is_word(it)).unwrap_or(first) })
    }

    /// Everywhere that a symbol is written, in the order of files and text.
    pub fn occurrences_of(&self, symbol: SymbolId) -> impl Iterator<Item = &Occurrence> {
        self.occurrences.iter().flatten().filter(move |it| it.symbol == symbol)
    }

    /// The innermost scope around a place. An empty line that is indented below a body belongs to it.
    #[must_use]
    pub fn scope_at(&self, project: &Project, file: FileId, offset: u32) -> usize {
        let text = project.text(file);
        let before = text.get(..offset as usize).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |it| it + 1);
        let line = text.get(line_start..).and_then(|it| it.lines().next()).unwrap_or("");
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let own = indent(line).max(if line.trim().is_empty() { before.len() - line_start } else { 0 });
        let mut best = usize::from(file.0);
        for (at, scope) in self.scopes.scopes.iter().enumerate().filter(|(_, it)| it.file == file) {
            if scope.owner.is_none() || scope.body.start > offset {
                continue;
            }
            let is_inside = offset <= scope.body.end && scope.body.end > scope.body.start || {
                // Below the last statement: as long as nothing stands between, and the line is indented.
                let header = text.get(..scope.header as usize).unwrap_or("");
                let header_start = header.rfind('\n').map_or(0, |it| it + 1);
                let header_indent = indent(text.get(header_start..).unwrap_or(""));
                let between = text.get(scope.body.end as usize..line_start.max(scope.body.end as usize));
                let is_blank = between.is_some_and(|it| {
                    let is_remark = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
                    it.lines().skip(1).all(is_remark)
                });
                own > header_indent && is_blank
            };
            let is_no_wider = self.scopes.scopes[best].body.start <= scope.body.start;
            if is_inside && (is_no_wider || self.scopes.scopes[best].owner.is_none()) {
                best = at;
            }
        }
        best
    }

    /// The function around a place.
    #[must_use]
    pub fn function_at(&self, project: &Project, file: FileId, offset: u32) -> Option<SymbolId> {
        let mut next = Some(self.scope_at(project, file, offset));
        while let Some(at) = next {
            let scope = &self.scopes.scopes[at];
            if let Some(owner) = scope.owner
                && self.scopes.symbol(owner).kind != SymbolKind::Class
            {
                return Some(owner);
            }
            next = scope.parent;
        }
        None
    }

    /// A body begins behind the colon that ends its header.
    fn find_bodies(&mut self, texts: &[&str]) {
        for scope in self.scopes.scopes.iter_mut().filter(|it| it.owner.is_some()) {
            let file = usize::from(scope.file.0);
            let (Some(tokens), Some(text)) = (self.tokens.get(file), texts.get(file)) else { continue };
            let first = tokens.partition_point(|it| it.start < scope.header);
            let mut depth = 0_usize;
            for token in &tokens[first..] {
                match token.kind {
                    TokenKind::Open => depth += 1,
                    TokenKind::Close => depth = depth.saturating_sub(1),
                    TokenKind::Newline => {
                        scope.body.start = token.end;
                        break;
                    }
                    _ if depth == 0 && token.is(text, ":") => {
                        scope.body.start = token.end;
                        break;
                    }
                    _ => {}
                }
            }
            scope.body.end = scope.body.end.max(scope.body.start);
        }
    }

    /// The names that the comment lines `# @input name ...` of a file mean.
    fn directives(&self, file: FileId, text: &str) -> Vec<Occurrence> {
        let lines: Vec<(&str, &str, u32)> = self.tokens[usize::from(file.0)]
            .iter()
            .filter(|it| it.kind == TokenKind::Comment)
            .filter_map(|it| directive(it.text(text), it.start))
            .collect();
        let of_kind = |kind: SymbolKind| {
            let all = self.scopes.scopes.iter().filter(move |it| it.file == file);
            let owners = all.filter_map(|it| Some((it.owner?, it)));
            owners.filter(move |(owner, _)| self.scopes.symbol(*owner).kind == kind)
        };
        // A path goes before one that ends with it.
        let stencil = |name: &str| {
            let paths = || of_kind(SymbolKind::Stencil).map(|it| (self.path(it.1), it));
            let ends_so = |path: &str| path.strip_suffix(name).is_some_and(|it| it.ends_with('.'));
            let exact = paths().find(|(path, _)| path == name);
            exact.or_else(|| paths().find(|(path, _)| ends_so(path))).map(|(_, it)| it)
        };
        let wanted = lines.iter().find(|(word, _, _)| *word == "stencil").map(|(_, name, _)| *name);
        let wanted = wanted.map(|it| stencil(it).map(|(owner, _)| owner));
        let param = |name: &str| {
            let named = |id: &SymbolId| self.scopes.symbol(*id).name == name;
            of_kind(SymbolKind::Stencil)
                .filter(|(owner, _)| wanted.is_none_or(|it| it == Some(*owner)))
                .find_map(|(_, scope)| scope.params.iter().copied().find(named))
        };
        let mut found = Vec::new();
        for (word, name, start) in lines {
            let symbol = match word {
                "input" | "scalar" | "plot" => param(name),
                "external" => self.scopes.externals.get(name).copied(),
                "stencil" => stencil(name).map(|(owner, _)| owner),
                _ => None,
            };
            if let Some(symbol) = symbol {
                let end = start + u32::try_from(name.len()).unwrap_or(0);
                // The last name of a path.
                let start = start + name.rfind('.').map_or(0, |it| u32::try_from(it + 1).unwrap_or(0));
                found.push(Occurrence {
                    span: Span::new(file, start, end),
                    symbol,
                    role: OccurrenceRole::Directive,
                });
            }
        }
        found
    }

    /// The names of the classes and functions around a scope, and of its own, with dots between them.
    fn path(&self, scope: &Scope) -> String {
        let around =
            std::iter::successors(Some(scope), |it| it.parent.and_then(|it| self.scopes.scopes.get(it)));
        let names = around.filter_map(|it| Some(&*self.scopes.symbol(it.owner?).name));
        let mut names: Vec<&str> = names.collect();
        names.reverse();
        names.join(".")
    }
}

/// Word and name of a comment `# @word name ...`, and where the name begins.
#[must_use]
pub(super) fn directive(comment: &str, start: u32) -> Option<(&str, &str, u32)> {
    let after = comment.strip_prefix('#')?.trim_start().strip_prefix('@')?;
    let (word, rest) = after.split_once([' ', '\t'])?;
    let rest = rest.trim_start();
    let is_inside = |it: char| it.is_alphanumeric() || it == '_' || it == '.' && word == "stencil";
    let end = rest.find(|it: char| !is_inside(it)).unwrap_or(rest.len());
    let at = start + u32::try_from(comment.len() - rest.len()).ok()?;
    (end > 0).then_some((word, &rest[..end], at))
}

/// The target of a name, kept for the name behind its dot.
#[derive(Clone, Debug)]
enum NameTarget {
    Symbol(SymbolId),
    File(FileId),
    /// A package on the way to a module.
    Path(Vec<String>),
}

/// Reads the names of one file.
struct Reader<'r, 'p> {
    index: &'r Index,
    names: &'r Names<'p>,
    file: FileId,
    text: &'r str,
    /// The open brackets, each with the symbol that is called there.
    at: Vec<Option<SymbolId>>,
    modules: Vec<(Span, FileId)>,
}

impl Reader<'_, '_> {
    fn read(&mut self) -> Vec<Occurrence> {
        let tokens = &self.index.tokens[usize::from(self.file.0)];
        let scopes = &self.index.scopes;
        let mut bodies: Vec<usize> = (0..scopes.scopes.len())
            .filter(|&it| scopes.scopes[it].file == self.file && scopes.scopes[it].owner.is_some())
            .collect();
        bodies.sort_by_key(|&it| scopes.scopes[it].body.start);
        let mut bodies = bodies.into_iter().peekable();
        let mut open = vec![usize::from(self.file.0)];
        let mut led: BTreeMap<usize, NameTarget> = BTreeMap::new();
        let mut found = Vec::new();
        for (position, token) in tokens.iter().enumerate() {
            while open.len() > 1 && open.last().is_some_and(|&it| scopes.scopes[it].body.end <= token.start) {
                open.pop();
            }
            while let Some(&next) = bodies.peek()
                && scopes.scopes[next].body.start <= token.start
            {
                bodies.next();
                if token.start < scopes.scopes[next].body.end {
                    open.push(next);
                }
            }
            match token.kind {
                TokenKind::Open => {
                    let called = position.checked_sub(1).and_then(|it| match led.get(&it)? {
                        NameTarget::Symbol(id) => Some(*id),
                        NameTarget::File(_) | NameTarget::Path(_) => None,
                    });
                    self.at.push(called.filter(|_| token.is(self.text, "(")));
                }
                TokenKind::Close => {
                    self.at.pop();
                }
                TokenKind::Newline => self.at.clear(),
                TokenKind::Name => {
                    let scope = open.last().copied().unwrap_or(usize::from(self.file.0));
                    let Some((next, role)) = self.name(position, scope, &led) else { continue };
                    let span = Span::new(self.file, token.start, token.end);
                    match next {
                        NameTarget::Symbol(symbol) => {
                            found.push(Occurrence { span, symbol, role });
                            if let SymbolKind::Module(Some(file)) = scopes.symbol(symbol).kind {
                                self.modules.push((span, file));
                            }
                        }
                        NameTarget::File(file) => self.modules.push((span, file)),
                        NameTarget::Path(_) => {}
                    }
                    led.insert(position, next);
                }
                _ => {}
            }
        }
        found
    }

    /// The target of the name at a position of the tokens, and its role.
    fn name(
        &self,
        position: usize,
        scope: usize,
        led: &BTreeMap<usize, NameTarget>,
    ) -> Option<(NameTarget, OccurrenceRole)> {
        let tokens = &self.index.tokens[usize::from(self.file.0)];
        let scopes = &self.index.scopes;
        let token = tokens[position];
        if let Some(target) = scopes.imported_at(self.file, token.start, self.names) {
            return Some(match target {
                ImportTarget::Symbol(id) => (NameTarget::Symbol(id), OccurrenceRole::Import),
                ImportTarget::File(file) => (NameTarget::File(file), OccurrenceRole::Import),
            });
        }
        if let Some((id, role)) = scopes.bound_at(self.file, token.start) {
            return Some((NameTarget::Symbol(id), role));
        }
        let name = token.text(self.text);
        let before = position.checked_sub(1).map(|it| tokens[it]);
        let is_in_import = || scopes.is_in_import(self.file, token.start);
        if before.is_some_and(|it| it.is(self.text, ".")) {
            let base = position.checked_sub(2).and_then(|it| led.get(&it));
            return match base {
                Some(base) => self.attribute(base, name),
                None if is_in_import() => self.import_path(position),
                None => None,
            };
        }
        if is_in_import() {
            return self.import_path(position);
        }
        let is_keyword = !self.at.is_empty()
            && before.is_some_and(|it| it.is(self.text, "(") || it.is(self.text, ",") || is_break(it))
            && tokens.get(position + 1).is_some_and(|it| it.is(self.text, "="));
        if is_keyword {
            let called = scopes.behind((*self.at.last()?)?);
            let body = scopes.scope_of(called)?;
            let mut params = body.params.iter().copied();
            let param = params.find(|it| scopes.symbol(*it).name == name)?;
            return Some((NameTarget::Symbol(param), OccurrenceRole::Keyword));
        }
        let id = scopes.lookup(scope, name, self.names)?;
        Some((self.follow(id), OccurrenceRole::Read))
    }

    fn follow(&self, id: SymbolId) -> NameTarget {
        match self.index.scopes.symbol(id).kind {
            // `import a`, where `a` is a package: what is behind the dot may be a module.
            SymbolKind::Module(None) => NameTarget::Path(vec![self.index.scopes.symbol(id).name.clone()]),
            _ => NameTarget::Symbol(id),
        }
    }

    fn attribute(&self, base: &NameTarget, name: &str) -> Option<(NameTarget, OccurrenceRole)> {
        let scopes = &self.index.scopes;
        let of_file = |file| match scopes.export(file, name, self.names, 0)? {
            ImportTarget::Symbol(id) => Some((NameTarget::Symbol(id), OccurrenceRole::Read)),
            ImportTarget::File(file) => Some((NameTarget::File(file), OccurrenceRole::Read)),
        };
        match base {
            NameTarget::File(file) => of_file(*file),
            NameTarget::Path(path) => {
                let path = [&path[..], &[name.to_owned()]].concat();
                let file = self.names.find_module(self.file, 0, &path);
                Some((file.map_or(NameTarget::Path(path), NameTarget::File), OccurrenceRole::Read))
            }
            NameTarget::Symbol(id) => {
                let id = scopes.behind(*id);
                match scopes.symbol(id).kind {
                    SymbolKind::Module(Some(file)) => of_file(file),
                    SymbolKind::Class => {
                        let body = scopes.scopes.iter().position(|it| it.owner == Some(id))?;
                        let (_, member) = scopes.names_in(body).find(|(it, _)| *it == name)?;
                        Some((NameTarget::Symbol(member), OccurrenceRole::Read))
                    }
                    _ => None,
                }
            }
        }
    }

    /// A part of the path behind `from` or `import`: the module as far as it is written up to there.
    fn import_path(&self, position: usize) -> Option<(NameTarget, OccurrenceRole)> {
        let tokens = &self.index.tokens[usize::from(self.file.0)];
        let mut path = vec![tokens[position].text(self.text).to_owned()];
        let mut level = 0;
        let mut at = position;
        while let Some(dot) = at.checked_sub(1)
            && tokens[dot].is(self.text, ".")
        {
            at = dot;
            match dot.checked_sub(1).map(|it| (it, tokens[it])) {
                Some((name, token)) if token.kind == TokenKind::Name => {
                    path.insert(0, token.text(self.text).to_owned());
                    at = name;
                }
                _ => level += 1,
            }
        }
        self.names
            .find_module(self.file, level, &path)
            .map(|file| (NameTarget::File(file), OccurrenceRole::Import))
    }
}

fn is_break(token: Token) -> bool {
    matches!(token.kind, TokenKind::LineBreak | TokenKind::Comment)
}
