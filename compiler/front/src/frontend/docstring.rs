//! Docstrings of functions, and their texts about parameters.

use super::syntax::{Expr, ExprKind, FunctionDef, StmtKind};

/// The docstring of a function, without its indent.
#[must_use]
pub fn docstring(def: &FunctionDef) -> Option<String> {
    let StmtKind::Expr(Expr { kind: ExprKind::Str(text), .. }) = &def.body.first()?.kind else { return None };
    let rest = text.lines().skip(1).filter(|it| !it.trim().is_empty());
    let indent = rest.map(|it| it.len() - it.trim_start().len()).min().unwrap_or(0);
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or("").trim().to_owned();
    for line in lines {
        out.push('\n');
        out.push_str(line.get(indent..).unwrap_or("").trim_end());
    }
    Some(out.trim().to_owned()).filter(|it| !it.is_empty())
}

/// The text of a docstring about a parameter: `name: text` or `name (type): text` in a line of its own.
#[must_use]
pub fn about_parameter(docstring: &str, name: &str) -> Option<String> {
    let mut lines = docstring.lines().skip(1);
    let (indent, first) = lines.by_ref().find_map(|line| {
        let rest = line.trim_start().strip_prefix(name)?.trim_start();
        let rest = match rest.strip_prefix('(') {
            Some(inside) => inside.split_once(')')?.1.trim_start(),
            None => rest,
        };
        Some((line.len() - line.trim_start().len(), rest.strip_prefix(':')?.trim()))
    })?;
    let mut about = first.to_owned();
    for line in lines.take_while(|it| it.len() - it.trim_start().len() > indent && !it.trim().is_empty()) {
        about.push(' ');
        about.push_str(line.trim());
    }
    Some(about).filter(|it| !it.is_empty())
}
