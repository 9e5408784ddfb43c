//! One function for each question of an editor.

use isobar_compiler::diag::{self, FileId, Severity, Span};
use isobar_compiler::pipeline::NoHook;
use isobar_compiler::project::Project;
use isobar_service::completion::{Completions, ItemKind, complete};
use isobar_service::folding::{FoldKind, folds};
use isobar_service::highlight::{HighlightClass, highlights};
use isobar_service::{Edit, navigate};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CompletionItem, CompletionItemKind, CompletionParams,
    CompletionTextEdit, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DocumentFormattingParams, Documentation, FoldingRange, FoldingRangeKind, FoldingRangeParams,
    GotoDefinitionParams, Hover, HoverContents, HoverParams, Location, MarkupContent, MarkupKind,
    NumberOrString, ParameterInformation, ParameterLabel, Position, PrepareRenameResponse, Range,
    ReferenceParams, RenameParams, SemanticToken, SemanticTokens, SemanticTokensParams, SignatureHelp,
    SignatureHelpParams, SignatureInformation, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use std::path::Path;

use super::Server;
use super::files::uri_of;

/// A file of a project with a place in it.
struct QueryPosition {
    project: Project,
    file: FileId,
    offset: u32,
}

fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

impl Server {
    fn asked(&mut self, uri: &Uri, at: Position) -> Option<QueryPosition> {
        let project = self.files.project(uri)?;
        let file = project.main_id()?;
        let offset = self.encoding.offset(project.text(file), at);
        Some(QueryPosition { project, file, offset })
    }

    fn asked_at(&mut self, at: &TextDocumentPositionParams) -> Option<QueryPosition> {
        self.asked(&at.text_document.uri, at.position)
    }

    fn range(&self, project: &Project, span: Span) -> Range {
        self.encoding.range(project.text(span.file), span.start, span.end)
    }

    fn location(&self, project: &Project, span: Span) -> Option<Location> {
        let uri = uri_of(Path::new(project.name(span.file)))?;
        Some(Location { uri, range: self.range(project, span) })
    }

    pub(super) fn hover(&mut self, params: HoverParams) -> Result<Option<Hover>, String> {
        let Some(QueryPosition { project, file, offset }) =
            self.asked_at(&params.text_document_position_params)
        else {
            return Ok(None);
        };
        let analysis =
            self.desk.analyse(&mut self.session.fronts, &project, &self.config, Some((file, offset)));
        let Some(found) = isobar_service::hover::hover(analysis, file, offset) else { return Ok(None) };
        let mut text = format!("```python\n{}\n```\n", found.code);
        for (label, said) in &found.rows {
            text += &format!("- **{label}**: {said}\n");
        }
        if !found.about.is_empty() {
            text += &format!("\n{}\n", found.about);
        }
        let range = Some(self.range(&project, found.span));
        Ok(Some(Hover { contents: HoverContents::Markup(markdown(text)), range }))
    }

    pub(super) fn completion(&mut self, params: CompletionParams) -> Result<Vec<CompletionItem>, String> {
        let Some(QueryPosition { project, file, offset }) = self.asked_at(&params.text_document_position)
        else {
            return Ok(Vec::new());
        };
        let analysis =
            self.desk.analyse(&mut self.session.fronts, &project, &self.config, Some((file, offset)));
        let Completions { span, items } = complete(analysis, file, offset);
        // A space asks too, for what follows `import`; elsewhere it says nothing about what is wanted.
        let context = params.context.and_then(|it| it.trigger_character);
        let line =
            project.text(file).get(..offset as usize).and_then(|it| it.lines().next_back()).unwrap_or("");
        let is_import = line.trim_start().starts_with("from ") || line.trim_start().starts_with("import ");
        if context.as_deref() == Some(" ") && !is_import {
            return Ok(Vec::new());
        }
        let range = self.range(&project, span);
        let items = items.into_iter().enumerate().map(|(rank, it)| CompletionItem {
            kind: Some(kind(it.kind)),
            detail: Some(it.detail).filter(|it| !it.is_empty()),
            documentation: Some(it.about)
                .filter(|it| !it.is_empty())
                .map(|it| Documentation::MarkupContent(markdown(it))),
            sort_text: Some(format!("{rank:05}")),
            filter_text: Some(it.label.clone()),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: it.insert })),
            label: it.label,
            ..CompletionItem::default()
        });
        Ok(items.collect())
    }

    pub(super) fn signature(&mut self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>, String> {
        let Some(QueryPosition { project, file, offset }) =
            self.asked_at(&params.text_document_position_params)
        else {
            return Ok(None);
        };
        let analysis = self.desk.read(&project, &self.config);
        let Some(found) = isobar_service::signature::signature(analysis, file, offset) else {
            return Ok(None);
        };
        // Places in a label count UTF-16 units, whatever the editor counts elsewhere.
        let units = |chars: u32| {
            let before: String = found.label.chars().take(chars as usize).collect();
            u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX)
        };
        let parameters = found.params.iter().map(|(start, end, about)| ParameterInformation {
            label: ParameterLabel::LabelOffsets([units(*start), units(*end)]),
            documentation: Some(about.clone()).filter(|it| !it.is_empty()).map(Documentation::String),
        });
        let active_parameter = found.active.and_then(|it| u32::try_from(it).ok());
        let signature = SignatureInformation {
            parameters: Some(parameters.collect()),
            documentation: Some(Documentation::String(found.about.clone())),
            active_parameter,
            label: found.label.clone(),
        };
        Ok(Some(SignatureHelp { signatures: vec![signature], active_signature: Some(0), active_parameter }))
    }

    pub(super) fn definition(&mut self, params: GotoDefinitionParams) -> Result<Vec<Location>, String> {
        let Some(QueryPosition { project, file, offset }) =
            self.asked_at(&params.text_document_position_params)
        else {
            return Ok(Vec::new());
        };
        let found = navigate::definition(self.desk.read(&project, &self.config), file, offset);
        Ok(found.into_iter().filter_map(|it| self.location(&project, it)).collect())
    }

    pub(super) fn references(&mut self, params: ReferenceParams) -> Result<Vec<Location>, String> {
        let Some(QueryPosition { project, file, offset }) = self.asked_at(&params.text_document_position)
        else {
            return Ok(Vec::new());
        };
        let found = navigate::references(self.desk.read(&project, &self.config), file, offset);
        let is_wanted = |role| {
            params.context.include_declaration || role != isobar_service::scopes::OccurrenceRole::Declaration
        };
        let found = found.into_iter().filter(|it| is_wanted(it.role));
        Ok(found.filter_map(|it| self.location(&project, it.span)).collect())
    }

    pub(super) fn prepare_rename(
        &mut self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResponse>, String> {
        let Some(QueryPosition { project, file, offset }) = self.asked_at(&params) else { return Ok(None) };
        let (span, placeholder) =
            isobar_service::rename::prepare(self.desk.read(&project, &self.config), file, offset)?;
        let range = self.range(&project, span);
        Ok(Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder }))
    }

    pub(super) fn rename(&mut self, params: RenameParams) -> Result<Option<WorkspaceEdit>, String> {
        let Some(QueryPosition { project, file, offset }) = self.asked_at(&params.text_document_position)
        else {
            return Ok(None);
        };
        let analysis = self.desk.read(&project, &self.config);
        let edits = isobar_service::rename::rename(analysis, file, offset, &params.new_name)?;
        Ok(Some(self.workspace_edit(&project, &edits)))
    }

    #[expect(clippy::mutable_key_type, reason = "the protocol's type maps addresses, which nobody changes")]
    fn workspace_edit(&self, project: &Project, edits: &[Edit]) -> WorkspaceEdit {
        let mut changes = std::collections::HashMap::<Uri, Vec<TextEdit>>::new();
        for edit in edits {
            if let Some(Location { uri, range }) = self.location(project, edit.span) {
                changes.entry(uri).or_default().push(TextEdit { range, new_text: edit.text.clone() });
            }
        }
        WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
    }

    pub(super) fn formatting(&mut self, params: DocumentFormattingParams) -> Result<Vec<TextEdit>, String> {
        let Some(QueryPosition { project, file, .. }) =
            self.asked(&params.text_document.uri, Position::default())
        else {
            return Ok(Vec::new());
        };
        let edits = isobar_service::format::format(self.desk.read(&project, &self.config), file);
        let edits =
            edits.into_iter().map(|it| TextEdit { range: self.range(&project, it.span), new_text: it.text });
        Ok(edits.collect())
    }

    pub(super) fn folding(&mut self, params: FoldingRangeParams) -> Result<Vec<FoldingRange>, String> {
        let Some(QueryPosition { project, file, .. }) =
            self.asked(&params.text_document.uri, Position::default())
        else {
            return Ok(Vec::new());
        };
        let found = folds(self.desk.read(&project, &self.config), file);
        let found = found.into_iter().map(|it| {
            let range = self.range(&project, it.span);
            FoldingRange {
                start_line: range.start.line,
                end_line: range.end.line,
                kind: match it.kind {
                    FoldKind::Code => None,
                    FoldKind::Comment => Some(FoldingRangeKind::Comment),
                    FoldKind::Imports => Some(FoldingRangeKind::Imports),
                },
                ..FoldingRange::default()
            }
        });
        Ok(found.collect())
    }

    pub(super) fn tokens(&mut self, params: SemanticTokensParams) -> Result<Option<SemanticTokens>, String> {
        let Some(QueryPosition { project, file, .. }) =
            self.asked(&params.text_document.uri, Position::default())
        else {
            return Ok(None);
        };
        let text = project.text(file);
        let mut data = Vec::new();
        let mut last = Position::default();
        for it in highlights(self.desk.read(&project, &self.config), file) {
            let class = HighlightClass::ALL.iter().position(|class| *class == it.class).unwrap_or(0);
            // A token of the protocol stands in one line.
            let whole = text.get(it.span.start as usize..it.span.end as usize).unwrap_or("");
            let mut start = it.span.start;
            for line in whole.split_inclusive('\n') {
                let shown = line.trim_end_matches(['\n', '\r']);
                if !shown.is_empty() {
                    let at = self.encoding.position(text, start);
                    let delta_line = at.line - last.line;
                    data.push(SemanticToken {
                        delta_line,
                        delta_start: at.character - if delta_line == 0 { last.character } else { 0 },
                        length: self.encoding.count(shown),
                        token_type: u32::try_from(class).unwrap_or(0),
                        token_modifiers_bitset: u32::from(it.is_declaration) + 2 * u32::from(it.is_written),
                    });
                    last = at;
                }
                start += u32::try_from(line.len()).unwrap_or(0);
            }
        }
        Ok(Some(SemanticTokens { result_id: None, data }))
    }

    pub(super) fn actions(&mut self, params: CodeActionParams) -> Result<Vec<CodeAction>, String> {
        let Some(QueryPosition { project, file, offset }) =
            self.asked(&params.text_document.uri, params.range.start)
        else {
            return Ok(Vec::new());
        };
        let end = self.encoding.offset(project.text(file), params.range.end);
        let mut actions = Vec::new();
        for found in self.found(&project) {
            let is_here = found
                .primary
                .as_ref()
                .is_some_and(|it| it.span.file == file && it.span.start <= end && offset <= it.span.end);
            for fix in found.fixes.iter().filter(|_| is_here) {
                actions.push(CodeAction {
                    title: fix.title.clone(),
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![self.problem(&project, &found)]),
                    edit: Some(self.workspace_edit(&project, &fix.edits)),
                    is_preferred: Some(found.fixes.len() == 1),
                    ..CodeAction::default()
                });
            }
        }
        Ok(actions)
    }

    /// The diagnostics of an open file, for all of its stencils.
    pub(super) fn problems(&mut self, uri: &Uri) -> Vec<Diagnostic> {
        let Some(project) = self.files.project(uri) else { return Vec::new() };
        let found = self.found(&project);
        let main = project.main_id();
        let here = found.iter().filter(|it| it.primary.as_ref().is_some_and(|it| Some(it.span.file) == main));
        here.map(|it| self.problem(&project, it)).collect()
    }

    /// The diagnostics of all stencils, each once.
    fn found(&mut self, project: &Project) -> Vec<diag::Diagnostic> {
        let whole = self.session.compile(project, &self.config, &mut NoHook);
        let mut found = Vec::new();
        let mut add = |all: &[diag::Diagnostic]| {
            for it in all {
                if !found.contains(it) {
                    found.push(it.clone());
                }
            }
        };
        // Several stencils, and none is chosen: each of them is.
        if whole.front.stencil.is_none() && whole.front.stencils.len() > 1 {
            for (name, _) in &whole.front.stencils {
                let one = Project { stencil: Some(name.clone()), ..project.clone() };
                add(&self.session.compile(&one, &self.config, &mut NoHook).notes.diagnostics);
            }
        } else {
            add(&whole.notes.diagnostics);
        }
        found
    }

    fn problem(&self, project: &Project, found: &diag::Diagnostic) -> Diagnostic {
        let range = found.primary.as_ref().map(|it| self.range(project, it.span)).unwrap_or_default();
        let mut message = found.message.clone();
        for (kind, text) in
            found.help.iter().map(|it| ("help", it)).chain(found.notes.iter().map(|it| ("note", it)))
        {
            message += &format!("\n{kind}: {text}");
        }
        let related = found.secondary.iter().filter_map(|it| {
            let location = self.location(project, it.span)?;
            Some(DiagnosticRelatedInformation { location, message: it.text.clone() })
        });
        let related: Vec<_> = related.collect();
        Diagnostic {
            range,
            severity: Some(match found.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Hint => DiagnosticSeverity::HINT,
            }),
            code: Some(NumberOrString::String(found.code.to_string())),
            source: Some("isobar".to_owned()),
            message,
            related_information: Some(related).filter(|it| !it.is_empty()),
            ..Diagnostic::default()
        }
    }
}

fn kind(kind: ItemKind) -> CompletionItemKind {
    match kind {
        ItemKind::Field | ItemKind::Temporary | ItemKind::Scalar => CompletionItemKind::VARIABLE,
        ItemKind::Argument => CompletionItemKind::FIELD,
        ItemKind::External | ItemKind::Constant => CompletionItemKind::CONSTANT,
        ItemKind::Function | ItemKind::Builtin => CompletionItemKind::FUNCTION,
        ItemKind::Type => CompletionItemKind::CLASS,
        ItemKind::Axis => CompletionItemKind::ENUM_MEMBER,
        ItemKind::Keyword | ItemKind::Range | ItemKind::Directive => CompletionItemKind::KEYWORD,
        ItemKind::Module => CompletionItemKind::MODULE,
        ItemKind::Offset => CompletionItemKind::VALUE,
        ItemKind::Template => CompletionItemKind::SNIPPET,
    }
}
