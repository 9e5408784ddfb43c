//! Completions: the texts that may be written at a place.
//!
//! Everything that may stand there is returned, best first: editors filter by what is typed already.

mod brackets;

use super::analysis::{Analysis, Type};
use super::hover;
use super::scopes::{SymbolId, SymbolKind};
use super::signature::{open_call, shown};
use super::words::{AXIS_OFFSETS, KEYWORDS, LanguageWord, MODULES, WordKind, axis_offset, word_named};
use isobar_front::frontend::builtins;
use isobar_front::frontend::constants::Constant;
use isobar_front::frontend::docstring::docstring;
use isobar_front::frontend::tokens::{Token, TokenKind};
use isobar_ground::diag::{FileId, Span};

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    Field,
    Temporary,
    Scalar,
    External,
    Constant,
    Function,
    Builtin,
    Type,
    Axis,
    Keyword,
    Range,
    Module,
    /// The index of a field.
    Offset,
    /// `name=` of a call.
    Argument,
    /// Several words at once.
    Template,
    /// A comment line that describes a run.
    Directive,
}

impl ItemKind {
    /// As protocols name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ItemKind::Field => "field",
            ItemKind::Temporary => "temporary",
            ItemKind::Scalar => "scalar",
            ItemKind::External => "external",
            ItemKind::Constant => "constant",
            ItemKind::Function => "function",
            ItemKind::Builtin => "builtin",
            ItemKind::Type => "type",
            ItemKind::Axis => "axis",
            ItemKind::Keyword => "keyword",
            ItemKind::Range => "range",
            ItemKind::Module => "module",
            ItemKind::Offset => "offset",
            ItemKind::Argument => "argument",
            ItemKind::Template => "template",
            ItemKind::Directive => "directive",
        }
    }
}

/// Something that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub label: String,
    pub kind: ItemKind,
    /// A few words beside the label: its type, its value.
    pub detail: String,
    /// Sentences.
    pub about: String,
    /// The text that replaces [`Completions::span`].
    pub insert: String,
}

/// Completions that may replace a piece of text, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    pub span: Span,
    pub items: Vec<Item>,
}

/// Returns the completions at a place; none in strings, and none in comments that are no directives.
#[must_use]
pub fn complete(analysis: &Analysis, file: FileId, offset: u32) -> Completions {
    let text = analysis.project.text(file);
    let nothing = Completions::default();
    let Some(tokens) = analysis.index.tokens.get(usize::from(file.0)) else { return nothing };
    if text.get(..offset as usize).is_none() {
        return nothing;
    }
    let before = &tokens[..tokens.partition_point(|it| it.start < offset)];
    let mut place = CompletionSite { analysis, file, text, offset, start: offset, before, items: Vec::new() };
    if let Some(last) = before.last().copied().filter(|it| offset <= it.end && it.start < it.end) {
        match last.kind {
            TokenKind::Comment => return place.directive(last),
            TokenKind::Name | TokenKind::Keyword | TokenKind::Value => {
                place.start = last.start;
                place.before = &before[..before.len() - 1];
            }
            TokenKind::Number => return nothing,
            TokenKind::String if offset < last.end || !is_closed(last.text(text)) => return nothing,
            _ => {}
        }
    }
    place.complete()
}

/// Whether a string ends with the quote that it began with.
fn is_closed(string: &str) -> bool {
    let body = string.trim_start_matches(|it: char| it.is_ascii_alphabetic());
    let Some(quote) = body.chars().next() else { return false };
    body.len() > 1 && body.ends_with(quote)
}

/// The place of a completion.
struct CompletionSite<'a> {
    analysis: &'a Analysis,
    file: FileId,
    text: &'a str,
    offset: u32,
    /// Where the word begins that is being written.
    start: u32,
    /// The tokens before that word.
    before: &'a [Token],
    items: Vec<Item>,
}

fn item(
    label: impl Into<String>,
    kind: ItemKind,
    detail: impl Into<String>,
    about: impl Into<String>,
) -> Item {
    let label = label.into();
    Item { insert: label.clone(), label, kind, detail: detail.into(), about: about.into() }
}

impl<'a> CompletionSite<'a> {
    fn complete(mut self) -> Completions {
        let line = self.line();
        if let Some(first) = line.first()
            && (first.is_word(self.text, "from") || first.is_word(self.text, "import"))
        {
            self.import(line);
            return self.done();
        }
        let last = self.before.last().copied();
        if last.is_some_and(|it| it.is(self.text, ".")) {
            self.attribute();
            return self.done();
        }
        let tokens = &self.analysis.index.tokens[usize::from(self.file.0)];
        if let Some(call) = open_call(self.text, tokens, self.start) {
            return self.inside(&call);
        }
        let is_annotation = last.is_some_and(|it| it.is(self.text, ":"))
            && matches!(line, [name, _] if name.kind == TokenKind::Name);
        if is_annotation {
            self.types();
            return self.done();
        }
        if last.is_some_and(|it| it.is_word(self.text, "def") || it.is_word(self.text, "class")) {
            return self.done();
        }
        if line.first().is_some_and(|it| it.is_word(self.text, "with")) {
            self.with_items();
        }
        if line.is_empty() {
            self.statements();
        }
        self.names();
        self.done()
    }

    fn done(self) -> Completions {
        let span = Span::new(self.file, self.start, self.offset);
        let mut items: Vec<Item> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for item in self.items {
            if seen.insert(item.label.clone()) {
                items.push(item);
            }
        }
        Completions { span, items }
    }

    /// The tokens of the statement before the word that is being written.
    fn line(&self) -> &'a [Token] {
        let ends = |it: &Token| matches!(it.kind, TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent);
        let is_plain_break = |at: usize| {
            // A line break ends no statement inside of brackets, but an empty line between two has one too.
            let earlier = self.before[..at].last();
            self.before[at].kind == TokenKind::LineBreak
                && earlier.is_none_or(|it| ends(it) || it.kind == TokenKind::LineBreak)
        };
        let mut from = self.before.len();
        while from > 0 && !ends(&self.before[from - 1]) && !is_plain_break(from - 1) {
            from -= 1;
        }
        let line = &self.before[from..];
        let skip = line.iter().take_while(|it| matches!(it.kind, TokenKind::LineBreak | TokenKind::Comment));
        &line[skip.count()..]
    }

    fn push_word(&mut self, word: &LanguageWord) {
        let kind = match word.kind {
            WordKind::Language => ItemKind::Keyword,
            WordKind::Function => ItemKind::Builtin,
            WordKind::Type => ItemKind::Type,
            WordKind::Axis => ItemKind::Axis,
            WordKind::Range => ItemKind::Range,
        };
        let detail = if word.form == word.name { "" } else { word.form };
        self.items.push(item(word.name, kind, detail, word.about));
    }

    fn push_words(&mut self, is_wanted: impl Fn(&LanguageWord) -> bool) {
        super::words::all().filter(|it| is_wanted(it)).for_each(|it| self.push_word(it));
    }

    fn is_in_scope(&self, name: &str) -> bool {
        let scope = self.analysis.index.scope_at(&self.analysis.project, self.file, self.start);
        self.analysis.index.scopes.lookup(scope, name, &self.analysis.names()).is_some()
    }

    // Behind a dot, and in imports.

    fn attribute(&mut self) {
        let scopes = &self.analysis.index.scopes;
        let Some(base) = self.before.len().checked_sub(2).map(|it| self.before[it]) else { return };
        let place = Span::new(self.file, base.start, base.end);
        let file = self.analysis.index.modules.iter().find(|(span, _)| *span == place).map(|(_, file)| *file);
        if let Some(file) = file {
            self.names_of_file(file);
            return;
        }
        let found = self.analysis.index.at(self.file, base.start).map(|it| scopes.behind(it.symbol));
        let kind = found.map(|it| scopes.symbol(it).kind);
        match (kind, found) {
            (Some(SymbolKind::Module(Some(file))), _) => self.names_of_file(file),
            (Some(SymbolKind::Class), Some(id)) => {
                if let Some(body) = scopes.scopes.iter().position(|it| it.owner == Some(id)) {
                    for (name, _) in scopes.names_in(body) {
                        self.items.push(item(name, ItemKind::Constant, "", ""));
                    }
                }
            }
            (Some(SymbolKind::Parameter | SymbolKind::Argument), Some(id)) => {
                if matches!(self.analysis.types.get(&id), Some(Type::Field { is_table: true, .. })) {
                    self.items.push(item("A", ItemKind::Keyword, "A[i]", "An element of a table."));
                } else {
                    let about = "Reads the level `k`, counted from the start of the domain.";
                    self.items.push(item("at", ItemKind::Keyword, "at(K=k)", about));
                }
            }
            _ => self.attributes_of_value(base),
        }
    }

    /// Adds the names of a module that is not among the files, or of an object that is known while compiling.
    fn attributes_of_value(&mut self, base: Token) {
        let names = self.analysis.names();
        let Some(scope) = names.module_scope(self.file) else { return };
        let name = base.text(self.text);
        let value = match self.analysis.config.externals.get(name) {
            Some(external) => Some(names.external(external, Span::new(self.file, base.start, base.end))),
            None => names.lookup(scope, base.start, name),
        };
        match value {
            Some(Ok(Constant::Namespace(members))) => {
                for (name, value) in members.iter() {
                    let detail = hover::constant(value).unwrap_or_default();
                    self.items.push(item(name, ItemKind::Constant, detail, ""));
                }
            }
            Some(Ok(Constant::Foreign(path))) => self.names_of_module(&path),
            Some(Ok(Constant::Word("gtscript"))) => self.push_words(|it| !it.name.starts_with('_')),
            _ => {}
        }
    }

    fn names_of_file(&mut self, file: FileId) {
        let all: Vec<SymbolId> =
            self.analysis.index.scopes.names_in(usize::from(file.0)).map(|(_, id)| id).collect();
        all.into_iter().for_each(|id| self.push_symbol(id));
    }

    fn names_of_module(&mut self, path: &[String]) {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        match parts.as_slice() {
            [.., "typing"] => self.push_words(|it| it.kind == WordKind::Type),
            [.., "constants"] => {
                for name in builtins::known_names(path) {
                    let value = builtins::module_attribute(path, name, &self.analysis.config);
                    let detail = value.as_ref().and_then(hover::constant).unwrap_or_default();
                    self.items.push(item(name, ItemKind::Constant, detail, ""));
                }
            }
            ["math" | "numpy" | "cupy"] => {
                for name in ["pi", "e", "tau", "inf", "nan"] {
                    if let Some(value) = builtins::module_attribute(path, name, &self.analysis.config) {
                        let detail = hover::constant(&value).unwrap_or_default();
                        self.items.push(item(name, ItemKind::Constant, detail, ""));
                    }
                }
                if parts != ["math"] {
                    for name in ["float64", "float32", "int64", "int32", "int16", "int8", "bool_"] {
                        self.items.push(item(name, ItemKind::Type, "", ""));
                    }
                }
                let known = |it: &LanguageWord| {
                    it.kind == WordKind::Function
                        && builtins::module_attribute(path, it.name, &self.analysis.config).is_some()
                };
                let known: Vec<&LanguageWord> = super::words::all().filter(|it| known(it)).collect();
                known.into_iter().for_each(|it| self.push_word(it));
            }
            ["gt4py" | "ndsl" | "pace" | "gtscript", ..] => {
                self.push_words(|it| !matches!(it.name, "True" | "False" | "None"));
            }
            _ => {}
        }
    }

    fn import(&mut self, line: &[Token]) {
        let import = line.iter().position(|it| it.is_word(self.text, "import"));
        let Some(import) = import.filter(|it| *it > 0) else {
            // The path itself: all of it is one item.
            if let Some(first) = line.get(1).filter(|it| it.end <= self.start) {
                self.start = first.start;
            }
            for file in 0..self.analysis.program.files.len() {
                let module = self.analysis.program.files[file].module.join(".");
                if file != usize::from(self.file.0) && !module.is_empty() {
                    self.items.push(item(module, ItemKind::Module, "of the files", ""));
                }
            }
            for (name, about) in MODULES {
                self.items.push(item(name, ItemKind::Module, "", about));
            }
            return;
        };
        let (Some(first), Some(last)) = (line.get(1), line[..import].last()) else { return };
        let path = self.text.get(first.start as usize..last.end as usize).unwrap_or("");
        let level = path.len() - path.trim_start_matches('.').len();
        let parts: Vec<String> =
            path.split('.').filter(|it| !it.is_empty()).map(|it| it.trim().to_owned()).collect();
        if path == "__externals__" {
            self.externals();
            return;
        }
        let names = self.analysis.names();
        match names.find_module(self.file, u32::try_from(level).unwrap_or(0), &parts) {
            Some(file) => self.names_of_file(file),
            None => self.names_of_module(&parts),
        }
    }

    fn externals(&mut self) {
        let analysis = self.analysis;
        let given =
            analysis.config.externals.keys().chain(analysis.directives.externals.iter().map(|it| &it.name));
        let known =
            given.map(String::as_str).chain(analysis.index.scopes.externals.keys().map(String::as_str));
        for name in known.chain(AXIS_OFFSETS) {
            let detail =
                analysis.external(name).map(|(value, _)| hover::external(&value)).unwrap_or_default();
            let about = axis_offset(name).map(|it| format!("NDSL: {it}.")).unwrap_or_default();
            self.items.push(item(name, ItemKind::External, detail, about));
        }
    }

    // Names and statements.

    fn types(&mut self) {
        let top = usize::from(self.file.0);
        let names = self.analysis.names();
        let own: Vec<(String, SymbolId)> =
            self.analysis.index.scopes.names_in(top).map(|(name, id)| (name.to_owned(), id)).collect();
        for (name, id) in own {
            let kind = self.analysis.index.scopes.symbol(self.analysis.index.scopes.behind(id)).kind;
            let scope = names.module_scope(self.file);
            let value = scope.and_then(|it| names.lookup(it, u32::MAX, &name));
            if kind == SymbolKind::Constant
                && let Some(Ok(value @ (Constant::Field(_) | Constant::Element(_)))) = value
            {
                let detail = hover::constant(&value).unwrap_or_default();
                self.items.push(item(name, ItemKind::Type, detail, ""));
            }
        }
        self.push_words(|it| it.kind == WordKind::Type && it.name != "set_4d_field_size");
    }

    fn with_items(&mut self) {
        for (label, about) in [
            ("computation(PARALLEL)", "a vertical loop in no order"),
            ("computation(FORWARD)", "a vertical loop from the lowest level up"),
            ("computation(BACKWARD)", "a vertical loop from the highest level down"),
            ("interval(...)", "all levels"),
            ("horizontal(region[I[0], :])", "some columns only"),
        ] {
            self.items.push(item(label, ItemKind::Template, about, ""));
        }
    }

    fn statements(&mut self) {
        let function = self.analysis.index.function_at(&self.analysis.project, self.file, self.start);
        let kind = function.map(|it| self.analysis.index.scopes.symbol(it).kind);
        let mut all: Vec<(&str, &str)> = Vec::new();
        match kind {
            Some(SymbolKind::Stencil | SymbolKind::PlainFunction) => all.extend([
                ("with computation(PARALLEL), interval(...):", "a vertical loop in no order, on all levels"),
                ("with computation(FORWARD):", "a vertical loop upward, with its intervals"),
                ("with computation(BACKWARD):", "a vertical loop downward, with its intervals"),
                ("with interval(...):", "the levels of a vertical loop"),
                ("with horizontal(region[I[0], :]):", "some columns only"),
                ("from __externals__ import ", "names of externals"),
            ]),
            Some(SymbolKind::Function) => all.extend([
                ("return ", "the result"),
                ("with horizontal(region[I[0], :]):", "some columns only"),
                ("from __externals__ import ", "names of externals"),
            ]),
            _ => all.extend([
                ("@gtscript.function", "makes a function that stencils can call"),
                ("from gt4py.cartesian.gtscript import ", "words of the language"),
                ("from ndsl.dsl.typing import ", "types of NDSL"),
            ]),
        }
        for (label, about) in all {
            self.items.push(item(label, ItemKind::Template, about, ""));
        }
    }

    /// Every name that can be seen, then the words of the language.
    fn names(&mut self) {
        let (analysis, index) = (self.analysis, &self.analysis.index);
        let scope = index.scope_at(&analysis.project, self.file, self.start);
        let function = index.function_at(&analysis.project, self.file, self.start);
        let kind = function.map(|it| index.scopes.symbol(it).kind);
        let is_body = matches!(kind, Some(SymbolKind::Stencil | SymbolKind::Function));
        for id in index.scopes.visible(scope, &analysis.names()) {
            let symbol = index.scopes.symbol(id);
            // Skips names that a body cannot use, and the words that follow below.
            let is_of_use = match index.scopes.symbol(index.scopes.behind(id)).kind {
                SymbolKind::Stencil | SymbolKind::PlainFunction => !is_body,
                SymbolKind::Foreign => word_named(&symbol.name).is_none(),
                _ => true,
            };
            if is_of_use && Some(id) != function {
                self.push_symbol(id);
            }
        }
        self.push_words(|it| it.kind == WordKind::Function);
        if !is_body {
            self.push_words(|it| it.kind != WordKind::Function && it.name != "gtscript");
        } else {
            self.push_words(|it| {
                matches!(it.name, "K" | "I" | "J" | "True" | "False" | "__INLINED" | "compile_assert")
                    || matches!(it.name, "float32" | "float64" | "int32" | "int64" | "float" | "int")
            });
        }
        for (word, about) in KEYWORDS {
            self.items.push(item(word, ItemKind::Keyword, "", about));
        }
    }

    fn push_symbol(&mut self, id: SymbolId) {
        let analysis = self.analysis;
        let scopes = &analysis.index.scopes;
        let name = scopes.symbol(id).name.clone();
        let id = scopes.behind(id);
        let kind = match scopes.symbol(id).kind {
            SymbolKind::Stencil | SymbolKind::Function | SymbolKind::PlainFunction => ItemKind::Function,
            SymbolKind::Class => ItemKind::Type,
            SymbolKind::Parameter | SymbolKind::Argument => match analysis.types.get(&id) {
                Some(Type::Scalar(_)) => ItemKind::Scalar,
                Some(Type::Field { .. }) | None => ItemKind::Field,
            },
            SymbolKind::Temporary | SymbolKind::Local => ItemKind::Temporary,
            SymbolKind::External => ItemKind::External,
            SymbolKind::Constant | SymbolKind::Member | SymbolKind::Foreign | SymbolKind::Alias(_) => {
                ItemKind::Constant
            }
            SymbolKind::Module(_) => ItemKind::Module,
        };
        let mut detail = String::new();
        let mut about = String::new();
        match kind {
            ItemKind::Function => {
                if let Some(def) = analysis.function(id) {
                    detail = shown(analysis, def);
                    about = docstring(def).unwrap_or_default();
                }
            }
            ItemKind::External => {
                detail = analysis.external(&name).map(|(it, _)| hover::external(&it)).unwrap_or_default();
            }
            ItemKind::Module | ItemKind::Type => {}
            _ => {
                let at = scopes.symbol(id).bindings.first().copied().unwrap_or_default();
                let hover = hover::of_symbol(analysis, id, at);
                let rest = hover.code.strip_prefix(name.as_str()).unwrap_or(&hover.code);
                rest.trim_start_matches([':', '=', ' ']).clone_into(&mut detail);
                about = hover.about;
            }
        }
        self.items.push(item(name, kind, detail, about));
    }

    // Comment lines that describe a run.

    fn directive(mut self, comment: Token) -> Completions {
        let typed = self.text.get(comment.start as usize..self.offset as usize).unwrap_or("");
        let Some(after) = typed.strip_prefix('#').map(str::trim_start) else { return self.done() };
        let Some(rest) = after.strip_prefix('@') else { return self.done() };
        if let Some((word, rest)) = rest.split_once(' ') {
            if rest.trim_start().contains([' ', '=']) {
                return Completions::default();
            }
            self.start = self.offset - u32::try_from(rest.trim_start().len()).unwrap_or(0);
            self.directive_names(word);
            return self.done();
        }
        self.start = self.offset - u32::try_from(rest.len()).unwrap_or(0);
        for (word, detail) in [
            ("domain", "@domain 64 64 40"),
            ("input", "@input q bell(at_i=0.5)"),
            ("scalar", "@scalar alpha = 0.5"),
            ("external", "@external flag = True"),
            ("plot", "@plot q k=10"),
            ("keep", "@keep whole"),
            ("stencil", "@stencil name"),
            ("title", "@title a few words"),
            ("about", "@about a sentence"),
        ] {
            self.items.push(item(word, ItemKind::Directive, detail, ""));
        }
        self.done()
    }

    fn directive_names(&mut self, word: &str) {
        let scopes = &self.analysis.index.scopes;
        if word == "external" {
            self.externals();
            return;
        }
        if word == "keep" {
            for (what, about) in [
                ("apart", "the loops around the statement below do not continue those before them"),
                ("whole", "the loops around the statement below are not tiled"),
                ("guarded", "regions in the loops around the statement below stay tests"),
            ] {
                self.items.push(item(what, ItemKind::Directive, what, about));
            }
            return;
        }
        let stencils = scopes.scopes.iter().filter(|it| it.file == self.file).filter_map(|it| {
            let owner = it.owner?;
            (scopes.symbol(owner).kind == SymbolKind::Stencil).then_some((owner, it))
        });
        let mut found = Vec::new();
        for (owner, scope) in stencils {
            if word == "stencil" {
                found.push(owner);
                continue;
            }
            let is_scalar = |id: &SymbolId| matches!(self.analysis.types.get(id), Some(Type::Scalar(_)));
            let is_wanted = |id: &SymbolId| match word {
                "scalar" => is_scalar(id),
                "input" | "plot" => !is_scalar(id),
                _ => false,
            };
            found.extend(scope.params.iter().copied().filter(is_wanted));
        }
        for id in found {
            let symbol = scopes.symbol(id);
            match self.analysis.stencil_name(symbol) {
                Some(path) if word == "stencil" && *path != symbol.name => {
                    self.items.push(item(path, ItemKind::Function, "stencil", ""));
                }
                _ => self.push_symbol(id),
            }
        }
    }
}
