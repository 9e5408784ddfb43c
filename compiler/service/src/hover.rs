//! The information that an editor shows about the name under the pointer.

use super::analysis::{Analysis, Type};
use super::facts::{Fact, TemporaryStorage, VariableKind};
use super::scopes::{SymbolId, SymbolKind};
use super::words::{axis_offset, word_named};
use isobar_front::config::External;
use isobar_front::frontend::constants::{Constant, ElementType};
use isobar_front::frontend::docstring::{about_parameter, docstring};
use isobar_front::frontend::tokens::TokenKind;
use isobar_ground::call::signature::AccessKind;
use isobar_ground::diag::{FileId, Span};
use isobar_ground::space::{Axis, AxisSet, Reach};

/// Information about a piece of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hover {
    pub span: Span,
    /// One line of code: `q: Field[IJK, float64]`.
    pub code: String,
    /// Pairs of a label and what is said under it.
    pub rows: Vec<(&'static str, String)>,
    /// Sentences.
    pub about: String,
}

/// Returns the information about the name at a place; none where nothing is known.
#[must_use]
pub fn hover(analysis: &Analysis, file: FileId, offset: u32) -> Option<Hover> {
    if let Some(found) = analysis.index.at(file, offset) {
        return Some(of_symbol(analysis, found.symbol, found.span));
    }
    let token = analysis.index.token_at(file, offset).filter(|it| it.kind == TokenKind::Name)?;
    let name = token.text(analysis.project.text(file));
    of_word(analysis, name, Span::new(file, token.start, token.end))
}

pub(super) fn of_symbol(analysis: &Analysis, id: SymbolId, span: Span) -> Hover {
    let scopes = &analysis.index.scopes;
    let id = scopes.behind(id);
    let symbol = scopes.symbol(id);
    let name = &symbol.name;
    let mut hover = Hover { span, code: name.clone(), ..Hover::default() };
    match symbol.kind {
        SymbolKind::Stencil | SymbolKind::Function | SymbolKind::PlainFunction => {
            of_function(analysis, id, &mut hover);
        }
        SymbolKind::Class => {
            hover.code = format!("class {name}");
            hover.rows.push(("kind", "class".to_owned()));
        }
        SymbolKind::Parameter | SymbolKind::Argument | SymbolKind::Temporary | SymbolKind::Local => {
            of_variable(analysis, id, &mut hover);
        }
        SymbolKind::External => {
            hover.rows.push(("kind", "external, given while the stencil is built".to_owned()));
            match analysis.external(name) {
                Some((value, source)) => {
                    hover.code = format!("{name} = {}", external(&value));
                    hover.rows.push(("value", source.to_owned()));
                }
                None => hover.rows.push(("value", "none yet; give it with `# @external`".to_owned())),
            }
            hover.about = axis_offset(name).map(|it| format!("NDSL: {it}.")).unwrap_or_default();
        }
        SymbolKind::Constant | SymbolKind::Member => of_constant(analysis, id, &mut hover),
        SymbolKind::Module(file) => {
            hover.code = format!("module {name}");
            let place =
                file.map_or("outside of the files".to_owned(), |it| analysis.project.name(it).to_owned());
            hover.rows.push(("kind", format!("module, {place}")));
        }
        SymbolKind::Alias(_) | SymbolKind::Foreign => {
            if let Some(word) = of_word(analysis, name, span) {
                return word;
            }
            of_constant(analysis, id, &mut hover);
            hover.rows[0].1 = "imported from outside of the files".to_owned();
        }
    }
    hover
}

fn of_function(analysis: &Analysis, id: SymbolId, hover: &mut Hover) {
    let symbol = analysis.index.scopes.symbol(id);
    let kind = match symbol.kind {
        SymbolKind::Stencil => "stencil",
        SymbolKind::Function => "function, inlined where it is called",
        _ => "plain Python function, which a stencil cannot call",
    };
    hover.rows.push(("kind", kind.to_owned()));
    if let Some(def) = analysis.function(id) {
        hover.code = super::signature::shown(analysis, def);
        hover.about = docstring(def).unwrap_or_default();
    }
    if symbol.kind == SymbolKind::Stencil
        && let Some((facts, _)) = analysis.stencil_name(symbol).and_then(|it| analysis.facts.get(it))
        && let Some(levels @ 1..) = facts.min_levels
    {
        hover.rows.push(("levels", format!("at least {levels}")));
    }
}

fn of_variable(analysis: &Analysis, id: SymbolId, hover: &mut Hover) {
    let symbol = analysis.index.scopes.symbol(id);
    let known = analysis.facts_of(id);
    let fact = known.and_then(|(facts, _)| facts.first());
    let declared = analysis.types.get(&id);
    let name = &symbol.name;
    hover.code = match (fact, declared) {
        (Some(fact), _) => match &fact.what {
            VariableKind::Parameter { axes, .. } | VariableKind::Temporary { axes, .. } => {
                format!("{name}: {}", field_type(*axes, fact.dtype.name(), &fact.data_dims))
            }
            VariableKind::Scalar { default } => {
                let default = default.map(|it| format!(" = {}", it.digits())).unwrap_or_default();
                format!("{name}: {}{default}", fact.dtype)
            }
        },
        (None, Some(Type::Field { axes, element, data_dims, .. })) => {
            format!("{name}: {}", field_type(*axes, element, data_dims))
        }
        (None, Some(Type::Scalar(element))) => format!("{name}: {element}"),
        (None, None) => name.clone(),
    };
    hover.rows.push(("kind", kind(symbol.kind, fact, declared)));
    if let Some(fact) = fact {
        rows_of(analysis, fact, known.is_some_and(|(_, is_present)| is_present), hover);
    }
    if let Some((facts @ [_, _, ..], _)) = known {
        let names: Vec<String> = facts.iter().map(|it| format!("`{}`", it.name)).collect();
        hover.rows.push(("copies", format!("{}, one for each call", names.join(", "))));
    }
    if fact.is_some() && known.is_some_and(|(_, is_present)| !is_present) {
        hover.rows.push(("as of", "the last text that compiled".to_owned()));
    }
    let about =
        symbol.owner.and_then(|owner| about_parameter(&docstring(analysis.function(owner)?)?, &symbol.name));
    hover.about = about.unwrap_or_default();
}

fn kind(kind: SymbolKind, fact: Option<&Fact>, declared: Option<&Type>) -> String {
    let is_scalar = match fact {
        Some(fact) => matches!(fact.what, VariableKind::Scalar { .. }),
        None => matches!(declared, Some(Type::Scalar(_))),
    };
    match (kind, fact.map(|it| &it.what)) {
        (_, Some(VariableKind::Parameter { access, .. })) => match access {
            AccessKind::None => "field that no statement uses",
            AccessKind::Read => "input field",
            AccessKind::Write => "output field",
            AccessKind::ReadWrite => "input and output field",
        },
        (SymbolKind::Parameter, _) if is_scalar => "scalar parameter",
        (SymbolKind::Parameter, _) => "field parameter",
        (SymbolKind::Argument, _) => "parameter of a function",
        (SymbolKind::Local, _) => "temporary of a function",
        _ => "temporary",
    }
    .to_owned()
}

fn rows_of(analysis: &Analysis, fact: &Fact, is_present: bool, hover: &mut Hover) {
    match &fact.what {
        VariableKind::Parameter { axes, boundary, halo, .. } => {
            hover.rows.push(("extent", extent(*axes, |axis| boundary[axis.index()])));
            hover.rows.push(("halo", halo_of(*axes, halo)));
        }
        VariableKind::Temporary { axes, extent: it, n_loops, kept } => {
            hover.rows.push(("extent", extent(*axes, |axis| it.along(axis))));
            let loops = match n_loops {
                0 => "no vertical loop uses it".to_owned(),
                1 => "within one vertical loop".to_owned(),
                n => format!("carried through {n} vertical loops"),
            };
            let kept = match kept {
                TemporaryStorage::Field => "; an array of its own",
                TemporaryStorage::Local => "; a value at the point after the passes, which takes no memory",
                TemporaryStorage::Pruned => "; gone after the passes",
                TemporaryStorage::Unknown => "",
            };
            hover.rows.push(("lifetime", loops + kept));
        }
        VariableKind::Scalar { .. } => {}
    }
    // Lines of another text would mislead.
    if let (true, Some(first), Some(last)) = (is_present, fact.uses.first(), fact.uses.last()) {
        let line = |(span, is_write): &(Span, bool)| {
            let what = if *is_write { "written" } else { "read" };
            format!("line {}, {what}", analysis.line_of(*span))
        };
        hover.rows.push(("first use", line(first)));
        hover.rows.push(("last use", line(last)));
    }
}

/// `I [-1, 1], J [0, 0]`: only the axes there are.
fn extent(axes: AxisSet, along: impl Fn(Axis) -> Reach) -> String {
    let each = axes.iter().map(|axis| {
        let Reach { lo, hi } = along(axis);
        match (lo, hi) {
            (0, 0) => format!("{axis} 0"),
            _ => format!("{axis} {lo:+} to {hi:+}").replace("+0", "0"),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

fn halo_of(axes: AxisSet, halo: &[(i64, i64); 3]) -> String {
    let each = axes.iter().filter_map(|axis| match halo[axis.index()] {
        (0, 0) => None,
        (before, after) if before == after => Some(format!("{before} on both sides along {axis}")),
        (before, after) => Some(format!("{before} before and {after} after along {axis}")),
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { "none".to_owned() } else { format!("points: {}", each.join(", ")) }
}

/// A field type as a signature writes it; without axes it is a table.
fn field_type(axes: AxisSet, element: &str, data_dims: &[u32]) -> String {
    let sizes: Vec<String> = data_dims.iter().map(ToString::to_string).collect();
    let element = match sizes.as_slice() {
        [] => element.to_owned(),
        [size] => format!("({element}, ({size},))"),
        sizes => format!("({element}, ({}))", sizes.join(", ")),
    };
    if axes.is_empty() { format!("GlobalTable[{element}]") } else { format!("Field[{axes}, {element}]") }
}

fn of_constant(analysis: &Analysis, id: SymbolId, hover: &mut Hover) {
    let symbol = analysis.index.scopes.symbol(id);
    let kind = if symbol.kind == SymbolKind::Member { "member of a class" } else { "constant" };
    hover.rows.push(("kind", kind.to_owned()));
    if let Some(owner) = symbol.owner {
        let owner = analysis.index.scopes.symbol(owner);
        if owner.kind == SymbolKind::Class {
            hover.code = format!("{}.{}", owner.name, symbol.name);
            return;
        }
    }
    let names = analysis.names();
    let file = symbol.bindings.first().map(|it| it.file);
    let scope = file.and_then(|it| names.module_scope(it));
    match scope.and_then(|it| names.lookup(it, u32::MAX, &symbol.name)) {
        Some(Ok(value)) => {
            if let Some(value) = constant(&value) {
                hover.code = format!("{} = {value}", symbol.name);
            }
            hover.rows.push(("value", value.describe().to_owned()));
        }
        Some(Err(why)) => hover.rows.push(("value", format!("not known while compiling: {}", why.why))),
        None => {}
    }
}

/// A compile-time value as a person writes it; none for what has no short form.
pub(super) fn constant(value: &Constant) -> Option<String> {
    Some(match value {
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::Int(it) | Constant::Member(it) => it.to_string(),
        Constant::Float(it) => format!("{it:?}"),
        Constant::Typed(it) => format!("{}({})", it.dtype(), it.digits()),
        Constant::None => "None".to_owned(),
        Constant::Str(it) => format!("{it:?}"),
        Constant::Tuple(parts) | Constant::List(parts) => {
            let shown: Option<Vec<String>> = parts.iter().take(8).map(constant).collect();
            let shown = shown?.join(", ");
            if matches!(value, Constant::List(_)) { format!("[{shown}]") } else { format!("({shown})") }
        }
        Constant::Element(it) => element(it),
        Constant::Field(it) => field_type(it.axes, &element(&it.element), &it.data_dims),
        Constant::Axes(it) => it.to_string(),
        Constant::Axis(it) => it.to_string(),
        Constant::Position(it) => position(it.axis, it.index, it.offset),
        _ => return None,
    })
}

fn element(it: &ElementType) -> String {
    match it {
        ElementType::Fixed(dtype) => dtype.name().to_owned(),
        ElementType::Float => "float".to_owned(),
        ElementType::Int => "int".to_owned(),
        ElementType::Named(name) => format!("{name:?}"),
    }
}

fn position(axis: Axis, index: i64, offset: i64) -> String {
    match offset {
        0 => format!("{axis}[{index}]"),
        1.. => format!("{axis}[{index}] + {offset}"),
        _ => format!("{axis}[{index}] - {}", offset.unsigned_abs()),
    }
}

/// An external as a person writes it.
pub(super) fn external(value: &External) -> String {
    match value {
        External::Bool(true) => "True".to_owned(),
        External::Bool(false) => "False".to_owned(),
        External::Int(it) => it.to_string(),
        External::Float(it) => format!("{it:?}"),
        External::Typed(it) => format!("{}({it})", it.dtype()),
        External::None => "None".to_owned(),
        External::Function(name) => name.clone(),
        External::Member { enumeration, member } => format!("{enumeration}.{member}"),
        External::Namespace(members) => {
            let names: Vec<&str> = members.keys().map(String::as_str).collect();
            format!("an object with {}", names.join(", "))
        }
        External::Axis { axis, index: None, .. } => axis.to_string(),
        External::Axis { axis, index: Some(index), offset } => position(*axis, *index, *offset),
        External::Unsupported(what) => what.clone(),
    }
}

fn of_word(analysis: &Analysis, name: &str, span: Span) -> Option<Hover> {
    if let Some(word) = word_named(name) {
        let code = word.form.to_owned();
        return Some(Hover { span, code, rows: Vec::new(), about: word.about.to_owned() });
    }
    super::highlight::class_of_word(analysis, name)?;
    let value = isobar_front::frontend::builtins::language_name(name, &analysis.config)?;
    let code = constant(&value).map_or(name.to_owned(), |it| format!("{name} = {it}"));
    let rows = vec![("kind", format!("{}, of the language", value.describe()))];
    Some(Hover { span, code, rows, about: String::new() })
}
