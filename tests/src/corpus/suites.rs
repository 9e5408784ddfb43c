//! The classes of gt4py's own tests that say the types of a stencil's parameters beside it.

use std::collections::BTreeMap;

use isobar_compiler::diag::Diagnostics;
use isobar_compiler::diag::Span;
use isobar_compiler::frontend;
use isobar_compiler::frontend::syntax::{ClassDef, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use isobar_compiler::project::Project;

/// The text with annotations for the parameters of each `definition` in a class that has `symbols` and `dtypes`.
#[must_use]
pub(super) fn annotated(text: &str) -> String {
    if !text.contains("StencilTestSuite") {
        return text.to_owned();
    }
    let program = frontend::parse(&Project::of_one("main.py", text), &mut Diagnostics::default());
    let Some(file) = program.files.first() else { return text.to_owned() };
    let mut insertions = BTreeMap::new();
    for stmt in &file.syntax().body {
        if let StmtKind::Class(class) = &stmt.kind {
            annotate(text, class, &mut insertions);
        }
    }
    let mut annotated = text.to_owned();
    for (&at, annotation) in insertions.iter().rev() {
        annotated.insert_str(at, annotation);
    }
    annotated
}

fn annotate(text: &str, class: &ClassDef, insertions: &mut BTreeMap<usize, String>) {
    let assigned = |name: &str| {
        class.body.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Assign { targets, value } if targets[0].as_name() == Some(name) => Some(value),
            _ => None,
        })
    };
    let (Some(symbols), Some(dtypes)) = (assigned("symbols"), assigned("dtypes")) else { return };
    let symbols = named(symbols);
    for definition in class.body.iter().filter_map(definition) {
        for param in definition.params.iter().filter(|it| it.annotation.is_none()) {
            let name = &param.name.name;
            let Some((_, symbol)) = symbols.iter().find(|(symbol, _)| *symbol == name) else { continue };
            let dtype = slice(text, dtype_of(name, dtypes).span);
            if let Some(annotation) = annotation(text, symbol, dtype) {
                insertions.insert(param.name.span.end as usize, format!(": {annotation}"));
            }
        }
    }
}

/// The entries of `dict(name=value)` or `{"name": value}`.
fn named(mapping: &Expr) -> Vec<(&String, &Expr)> {
    match &mapping.kind {
        ExprKind::Call { keywords, .. } => {
            keywords.iter().filter_map(|it| Some((&it.name.as_ref()?.name, &it.value))).collect()
        }
        ExprKind::Dict(entries) => {
            let named = entries.iter().filter_map(|(key, value)| match &key.as_ref()?.kind {
                ExprKind::Str(name) => Some((name, value)),
                _ => None,
            });
            named.collect()
        }
        _ => Vec::new(),
    }
}

fn definition(stmt: &Stmt) -> Option<&FunctionDef> {
    match &stmt.kind {
        StmtKind::Function(function) if function.name.name == "definition" => Some(function),
        _ => None,
    }
}

/// The first type that is listed for that name: `dtypes` is one list for all, or a mapping from lists of names.
fn dtype_of<'e>(name: &str, dtypes: &'e Expr) -> &'e Expr {
    let ExprKind::Dict(entries) = &dtypes.kind else { return &dtypes.parts()[0] };
    let is_for =
        |key: &Expr| key.parts().iter().any(|it| matches!(&it.kind, ExprKind::Str(it) if it == name));
    let entry = entries.iter().find(|(key, _)| key.as_ref().is_some_and(is_for));
    entry.or(entries.first()).map_or(dtypes, |(_, value)| &value.parts()[0])
}

fn annotation(text: &str, symbol: &Expr, dtype: &str) -> Option<String> {
    let ExprKind::Call { function, keywords, .. } = &symbol.kind else { return None };
    let keyword = |name: &str| {
        let found = keywords.iter().find(|it| it.name.as_ref().is_some_and(|it| it.name == name));
        found.map(|it| &it.value)
    };
    match *function.as_dotted()?.last()? {
        "parameter" => Some(dtype.to_owned()),
        "field" => {
            let axes = match keyword("axes").map(|it| &it.kind) {
                Some(ExprKind::Str(axes)) => axes.clone(),
                _ => "IJK".to_owned(),
            };
            let element = match keyword("data_dims") {
                Some(dims) => format!("({dtype}, {})", slice(text, dims.span)),
                None => dtype.to_owned(),
            };
            Some(format!("gtscript.Field[gtscript.{axes}, {element}]"))
        }
        _ => None,
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_suite_have_the_types_that_stand_beside_it() {
        let text = "
class TestScale(gt_testing.StencilTestSuite):
    dtypes = {('a',): (np.float64, np.float32), ('s',): np.int64}
    symbols = dict(
        a=gt_testing.field(in_range=(-1, 1), axes='IJ', data_dims=(3,)),
        s=gt_testing.parameter(in_range=(-1, 1)),
    )
    def definition(a, *, s):
        pass
";
        let found = annotated(text);
        let head = "def definition(a: gtscript.Field[gtscript.IJ, (np.float64, (3,))], *, s: np.int64):";
        assert!(found.contains(head), "{found}");
    }
}
