//! The language server: the compiler's editor service in the words of the protocol that editors speak.
//!
//! Reading order: [`files`] holds the open files and finds their modules. [`convert`] translates the two ways
//! of counting columns. [`answers`] has one function for each question, and [`notebooks`] handles the cells
//! of notebooks. This module has the loop.

pub mod files;
pub mod convert;
mod answers;
pub mod notebooks;

use std::path::PathBuf;

use isobar_compiler::config::Config;
use isobar_compiler::session::Session;
use isobar_service::Desk;
use isobar_service::highlight::HighlightClass;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::Notification as _;
use lsp_types::request::Request as _;
use lsp_types::{
    CodeActionProviderCapability, CompletionOptions, FoldingRangeProviderCapability, HoverProviderCapability,
    InitializeParams, NotebookCellSelector, NotebookDocumentSyncOptions, NotebookSelector, OneOf,
    PositionEncodingKind, PublishDiagnosticsParams, RenameOptions, SemanticTokenModifier, SemanticTokenType,
    SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind, Uri, notification, request,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use convert::Encoding;
use files::Files;
use notebooks::Notebooks;

/// The options of the command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders with modules, beside those of the editor.
    pub modules: Vec<PathBuf>,
    pub precision: u32,
}

/// All that the server remembers.
#[derive(Debug)]
struct Server {
    files: Files,
    notebooks: Notebooks,
    encoding: Encoding,
    config: Config,
    desk: Desk,
    session: Session,
}

/// Answers an editor until it says goodbye.
///
/// # Errors
///
/// When the editor does not keep to the protocol.
pub fn serve(connection: &Connection, options: Options) -> Result<(), String> {
    let (id, params) = connection.initialize_start().map_err(|error| error.to_string())?;
    let params: InitializeParams = serde_json::from_value(params).map_err(|error| error.to_string())?;
    let encoding = encoding(&params);
    let answer = serde_json::json!({
        "capabilities": capabilities(encoding),
        "serverInfo": { "name": "isobar", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer).map_err(|error| error.to_string())?;

    let mut roots = options.modules;
    roots.extend(roots_of(&params));
    let mut server = Server {
        files: Files::new(roots),
        notebooks: Notebooks::default(),
        encoding,
        config: Config::with_precision(options.precision),
        desk: Desk::default(),
        session: Session::new(),
    };
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                    return Ok(());
                }
                let response = server.respond(request);
                // The editor is gone: so is the server, with the next message.
                let _ = connection.sender.send(response.into());
            }
            Message::Notification(note) => {
                for params in server.take(note).into_iter().flat_map(|it| server.diagnostics(&it)) {
                    let method = notification::PublishDiagnostics::METHOD.to_owned();
                    let _ = connection.sender.send(Notification::new(method, params).into());
                }
            }
            Message::Response(_) => {}
        }
    }
    Ok(())
}

fn encoding(params: &InitializeParams) -> Encoding {
    let offered = params.capabilities.general.as_ref().and_then(|it| it.position_encodings.as_ref());
    match offered {
        Some(them) if them.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
        _ => Encoding::Utf16,
    }
}

fn roots_of(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.iter().flatten();
    let folders: Vec<PathBuf> = folders.filter_map(|it| files::path_of(&it.uri)).collect();
    #[expect(deprecated, reason = "older editors know nothing else")]
    let root = params.root_uri.as_ref().and_then(files::path_of);
    if folders.is_empty() { root.into_iter().collect() } else { folders }
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let letters = |them: &[&str]| Some(them.iter().map(|it| (*it).to_owned()).collect());
    ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        notebook_document_sync: Some(OneOf::Left(NotebookDocumentSyncOptions {
            notebook_selector: vec![NotebookSelector::ByCells {
                notebook: None,
                cells: vec![NotebookCellSelector { language: "python".to_owned() }],
            }],
            save: Some(true),
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: letters(&[".", "[", "(", ",", "@", " "]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: letters(&["(", ","]),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: lsp_types::WorkDoneProgressOptions::default(),
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: HighlightClass::ALL.map(token_type).into(),
                    token_modifiers: vec![
                        SemanticTokenModifier::DECLARATION,
                        SemanticTokenModifier::MODIFICATION,
                    ],
                },
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

/// The protocol's own name where it has one that fits, so that every editor has a colour for it.
fn token_type(class: HighlightClass) -> SemanticTokenType {
    match class {
        HighlightClass::Keyword | HighlightClass::Range => SemanticTokenType::KEYWORD,
        HighlightClass::Field | HighlightClass::Scalar => SemanticTokenType::PARAMETER,
        HighlightClass::Temporary => SemanticTokenType::VARIABLE,
        HighlightClass::External => SemanticTokenType::PROPERTY,
        HighlightClass::Constant | HighlightClass::Axis => SemanticTokenType::ENUM_MEMBER,
        HighlightClass::Function => SemanticTokenType::FUNCTION,
        HighlightClass::Builtin => SemanticTokenType::MACRO,
        HighlightClass::Type => SemanticTokenType::TYPE,
        HighlightClass::Module => SemanticTokenType::NAMESPACE,
        HighlightClass::Number => SemanticTokenType::NUMBER,
        HighlightClass::Comment => SemanticTokenType::COMMENT,
        HighlightClass::String => SemanticTokenType::STRING,
    }
}

impl Server {
    /// Takes what the editor says; the files whose diagnostics are to be told anew.
    fn take(&mut self, note: Notification) -> Vec<Uri> {
        fn read<N: notification::Notification>(note: Notification) -> Option<N::Params> {
            serde_json::from_value(note.params).ok()
        }
        match note.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                let Some(it) = read::<notification::DidOpenTextDocument>(note) else { return Vec::new() };
                self.files.open(&it.text_document.uri, it.text_document.text);
                vec![it.text_document.uri]
            }
            notification::DidChangeTextDocument::METHOD => {
                let Some(it) = read::<notification::DidChangeTextDocument>(note) else { return Vec::new() };
                let uri = it.text_document.uri;
                if let Some(change) = it.content_changes.into_iter().next_back() {
                    self.files.open(&uri, change.text);
                }
                vec![uri]
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(it) = read::<notification::DidCloseTextDocument>(note) {
                    self.files.close(&it.text_document.uri);
                }
                Vec::new()
            }
            notification::DidOpenNotebookDocument::METHOD => {
                let Some(it) = read::<notification::DidOpenNotebookDocument>(note) else { return Vec::new() };
                let uri = it.notebook_document.uri.clone();
                let text = self.notebooks.open(it);
                self.files.open(&uri, text);
                vec![uri]
            }
            notification::DidChangeNotebookDocument::METHOD => {
                let Some(it) = read::<notification::DidChangeNotebookDocument>(note) else {
                    return Vec::new();
                };
                let uri = it.notebook_document.uri.clone();
                let Some((text, gone)) = self.notebooks.change(it) else { return Vec::new() };
                self.files.open(&uri, text);
                // A cell that is no more has no faults: it is no file, and has no project.
                std::iter::once(uri).chain(gone).collect()
            }
            notification::DidCloseNotebookDocument::METHOD => {
                if let Some(it) = read::<notification::DidCloseNotebookDocument>(note) {
                    self.notebooks.close(&it.notebook_document.uri);
                    self.files.close(&it.notebook_document.uri);
                }
                Vec::new()
            }
            notification::DidSaveNotebookDocument::METHOD
            | notification::DidSaveTextDocument::METHOD
            | notification::DidChangeWatchedFiles::METHOD => {
                // Other files may import the changed file.
                self.files.forget_the_disk();
                self.files.opened()
            }
            _ => Vec::new(),
        }
    }

    fn respond(&mut self, mut request: Request) -> Response {
        let Some(cell) = self.notebooks.ask(&mut request.params) else { return self.respond_to(request) };
        if request.method == request::Formatting::METHOD {
            // The text of all cells is without the commands of some.
            return Response::new_ok(request.id, serde_json::Value::Null);
        }
        let mut response = self.respond_to(request);
        if let Ok(result) = &mut response.response_result {
            self.notebooks.answer(result, &cell);
        }
        response
    }

    fn respond_to(&mut self, request: Request) -> Response {
        match request.method.as_str() {
            request::HoverRequest::METHOD => self.with(request, Self::hover),
            request::Completion::METHOD => self.with(request, Self::completion),
            request::SignatureHelpRequest::METHOD => self.with(request, Self::signature),
            request::GotoDefinition::METHOD => self.with(request, Self::definition),
            request::References::METHOD => self.with(request, Self::references),
            request::PrepareRenameRequest::METHOD => self.with(request, Self::prepare_rename),
            request::Rename::METHOD => self.with(request, Self::rename),
            request::Formatting::METHOD => self.with(request, Self::formatting),
            request::FoldingRangeRequest::METHOD => self.with(request, Self::folding),
            request::SemanticTokensFullRequest::METHOD => self.with(request, Self::tokens),
            request::CodeActionRequest::METHOD => self.with(request, Self::actions),
            other => {
                let message = format!("there is no `{other}` here");
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    fn with<P: DeserializeOwned, A: Serialize>(
        &mut self,
        request: Request,
        answer: impl FnOnce(&mut Self, P) -> Result<A, String>,
    ) -> Response {
        let params = match serde_json::from_value(request.params) {
            Ok(params) => params,
            Err(error) => {
                return Response::new_err(request.id, ErrorCode::InvalidParams as i32, error.to_string());
            }
        };
        match answer(self, params) {
            Ok(answer) => Response::new_ok(request.id, answer),
            Err(why) => Response::new_err(request.id, ErrorCode::RequestFailed as i32, why),
        }
    }

    fn diagnostics(&mut self, uri: &Uri) -> Vec<PublishDiagnosticsParams> {
        let found = self.problems(uri);
        self.notebooks.told(uri, found)
    }
}
