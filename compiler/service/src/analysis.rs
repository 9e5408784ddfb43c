//! All that is known about the text as it is now.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts::{Fact, Facts};
use super::index::Index;
use super::scopes::{Symbol, SymbolId, SymbolKind};
use isobar_front::config::{Config, External};
use isobar_front::frontend::constants::{Constant, ElementType};
use isobar_front::frontend::evaluate::{self, Environment};
use isobar_front::frontend::modules::ScopeId;
use isobar_front::frontend::program::for_each_function;
use isobar_front::frontend::syntax::{Expr, ExprKind, FunctionDef};
use isobar_front::frontend::{Names, Program, StencilName, parse as frontend_parse};
use isobar_front::project::Project;
pub use isobar_ground::diag::TextEdit as Edit;
use isobar_ground::diag::{Diagnostic, Diagnostics, FileId, Span};
use isobar_ground::space::AxisSet;
use isobar_reference::inputs::{self, Directives};

/// The type that an annotation gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `element` as people name it: `float64`, `float`.
    Field {
        axes: AxisSet,
        element: String,
        data_dims: Vec<u32>,
        is_table: bool,
    },
    Scalar(String),
}

/// A text, its names, and what compilations found about them.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    pub project: Project,
    pub config: Config,
    pub program: Program,
    /// Those of the main file.
    pub stencils: Vec<StencilName>,
    pub index: Index,
    /// Of the parameters whose annotations are understood.
    pub types: BTreeMap<SymbolId, Type>,
    /// The directives in comment lines of the main file.
    pub directives: Directives,
    /// By stencil, each with whether it is of this very text.
    pub facts: BTreeMap<String, (Arc<Facts>, bool)>,
    /// The stencil that the user looks at.
    pub selected: Option<String>,
    /// Of the last compilation of this text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Analysis {
    /// Reads the text; what compilations know is added by [`Desk`](super::Desk).
    #[must_use]
    pub fn new(project: &Project, config: &Config) -> Self {
        let program = frontend_parse(project, &mut Diagnostics::default());
        let names = Names::new(&program, config);
        let index = Index::new(project, &program, &names);
        let types = types(&index, &names);
        drop(names);
        let directives = match project.main_id() {
            Some(main) => inputs::directive::read(project.text(main), main).0,
            None => Directives::default(),
        };
        Self {
            project: project.clone(),
            config: config.clone(),
            stencils: program.stencils(),
            program,
            index,
            types,
            directives,
            ..Self::default()
        }
    }

    /// The values of names.
    #[must_use]
    pub fn names(&self) -> Names<'_> {
        Names::new(&self.program, &self.config)
    }

    /// Returns the facts of compilations about a name, and whether these are of this very text.
    #[must_use]
    pub fn facts_of(&self, symbol: SymbolId) -> Option<(&[Fact], bool)> {
        let symbol = self.index.scopes.symbol(symbol);
        let owner = self.index.scopes.symbol(symbol.owner?);
        let has = |it: &&(Arc<Facts>, bool)| !it.0.get(&owner.name, &symbol.name).is_empty();
        let found = if owner.kind == SymbolKind::Stencil {
            self.facts.get(self.stencil_name(owner)?).filter(has)
        } else {
            // A function is known through the stencils that call it; the one that is looked at goes first.
            let selected = self.selected.as_ref().and_then(|it| self.facts.get(it)).filter(has);
            selected.or_else(|| self.facts.values().find(has))
        };
        let (facts, is_present) = found?;
        Some((facts.get(&owner.name, &symbol.name), *is_present))
    }

    /// The name by which compilations tell a stencil of the main file from the others.
    #[must_use]
    pub fn stencil_name(&self, symbol: &Symbol) -> Option<&str> {
        let known = self.stencils.iter().find(|it| symbol.bindings.contains(&it.span));
        known.map(|it| it.name.as_str())
    }

    /// The definition of a function; of two with one name the last.
    #[must_use]
    pub fn function(&self, symbol: SymbolId) -> Option<&FunctionDef> {
        let bindings = &self.index.scopes.symbol(symbol).bindings;
        let file = bindings.first()?.file;
        let mut found = None;
        for_each_function(&self.program.files.get(usize::from(file.0))?.syntax().body, &mut |def| {
            if bindings.contains(&def.name.span) {
                found = Some(def);
            }
        });
        found
    }

    /// The text of a place.
    #[must_use]
    pub fn text_of(&self, span: Span) -> &str {
        self.project.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The line of a place, from 1.
    #[must_use]
    pub fn line_of(&self, span: Span) -> u32 {
        let before = self.project.text(span.file).get(..span.start as usize).unwrap_or("");
        u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The value that a compilation takes for an external, and who gives it.
    #[must_use]
    pub fn external(&self, name: &str) -> Option<(External, &'static str)> {
        if let Some(given) = self.config.externals.get(name) {
            return Some((given.clone(), "given beside the text"));
        }
        if let Some(of_text) = self.directives.externals.iter().find(|it| it.name == name) {
            return Some((of_text.value.clone(), "given by a comment line of the text"));
        }
        let config = self.config.clone().for_domain(self.directives.domain);
        Some((config.external_of_ndsl(name)?, "given by NDSL, where nothing else is given"))
    }
}

fn types(index: &Index, names: &Names<'_>) -> BTreeMap<SymbolId, Type> {
    let mut types = BTreeMap::new();
    for (_, info) in names.files().flat_map(|file| names.functions(file)) {
        for param in &info.def.params {
            let (Some(annotation), Some((id, _))) =
                (&param.annotation, index.scopes.bound_at(param.name.span.file, param.name.span.start))
            else {
                continue;
            };
            if let Some(it) = type_of(names, info.scope, info.def.span.start, annotation) {
                types.insert(id, it);
            }
        }
    }
    types
}

/// The type that an annotation means; none where it means no type.
fn type_of(names: &Names<'_>, scope: ScopeId, position: u32, annotation: &Expr) -> Option<Type> {
    let read;
    let expr = match &annotation.kind {
        ExprKind::Str(text) => match names.config.dtypes.get(text) {
            Some(other) => {
                read = isobar_front::frontend::parse::expression(other, annotation.span)?;
                &read
            }
            None => {
                read = isobar_front::frontend::parse::expression(text, annotation.span)?;
                &read
            }
        },
        _ => annotation,
    };
    let element = |it: &ElementType| match it {
        ElementType::Fixed(dtype) => dtype.name().to_owned(),
        ElementType::Float => "float".to_owned(),
        ElementType::Int => "int".to_owned(),
        ElementType::Named(name) => name.to_string(),
    };
    match evaluate::expression(names, &Environment::module(scope, position), expr).ok()? {
        Constant::Field(it) => Some(Type::Field {
            axes: it.axes,
            element: element(&it.element),
            data_dims: it.data_dims.clone(),
            is_table: it.is_table,
        }),
        Constant::Element(it) => Some(Type::Scalar(element(&it))),
        _ => None,
    }
}

/// The texts of a project after some edits, which do not overlap.
#[must_use]
pub fn applied(project: &Project, edits: &[Edit]) -> Project {
    let mut project = project.clone();
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|it| std::cmp::Reverse((it.span.file, it.span.start)));
    for Edit { span, text } in edits {
        let FileId(file) = span.file;
        let Some(whole) = project.files.values_mut().nth(usize::from(file)) else { continue };
        let range = span.start as usize..span.end as usize;
        if whole.get(range.clone()).is_some() {
            *whole = [&whole[..range.start], text, &whole[range.end..]].concat().into();
        }
    }
    project
}
