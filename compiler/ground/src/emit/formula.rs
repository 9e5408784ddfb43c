//! Definitions of functions as formulas of a language: which values have names, and the text of each.

use crate::entity::Namer;
use crate::types::math::record::{Definition, Op, Value, ValueKind};

/// An expression, and how tightly its outermost operator binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub text: String,
    pub binding: u8,
}

impl Term {
    pub fn new(text: impl Into<String>, binding: u8) -> Self {
        Self { text: text.into(), binding }
    }

    /// In parentheses where it binds less tightly than `needed`.
    #[must_use]
    pub fn within(&self, needed: u8) -> String {
        if self.binding < needed { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// A language.
pub trait Dialect {
    /// How tightly a name binds: more tightly than any operator.
    const ATOM: u8;

    /// Words that no value may be called.
    fn reserved(&self) -> Vec<&'static str>;

    /// The text of an operation; each operand is an expression.
    fn operation(&self, op: &Op, operands: &[Term], definition: &Definition) -> Term;
}

/// A value that has a name.
#[derive(Clone, Debug)]
pub struct FormulaLine {
    pub name: String,
    pub kind: ValueKind,
    pub text: String,
}

/// The definition's values that are used more than once, or that it names, and the result.
///
/// All others stand where they are used.
pub fn formula<D: Dialect>(definition: &Definition, dialect: &D) -> (Vec<FormulaLine>, String) {
    let uses = definition.uses();
    // Both operands of a choice are computed in any case. Naming them on lines before the choice shows this.
    let mut is_chosen_from = vec![false; uses.len()];
    for (_, step) in definition.steps.iter() {
        if let Op::Choose(_, yes, no) = step.op {
            is_chosen_from[yes.index()] = true;
            is_chosen_from[no.index()] = true;
        }
    }
    let mut names = Namer::new(&dialect.reserved());
    for param in &definition.params {
        names.name(param);
    }
    let mut terms: Vec<Term> = Vec::new();
    let mut lines = Vec::new();
    for (at, step) in definition.steps.iter() {
        let mut operands = Vec::new();
        step.op.operands(|it: Value| operands.push(terms[it.index()].clone()));
        let term = dialect.operation(&step.op, &operands, definition);
        let is_leaf =
            matches!(step.op, Op::Param(_) | Op::SingleParam(_) | Op::Constant(_) | Op::BitsConstant(_));
        let is_named = step.name.is_some() || uses[at.index()] > 1 || is_chosen_from[at.index()];
        if is_leaf || !is_named || at == definition.result {
            terms.push(term);
            continue;
        }
        let name = names.name(step.name.unwrap_or_else(|| word(&step.op)));
        terms.push(Term::new(name.clone(), D::ATOM));
        lines.push(FormulaLine { name, kind: step.op.kind(), text: term.text });
    }
    (lines, terms[definition.result.index()].text.clone())
}

/// A name for the value of an operation that has no name in the definition.
fn word(op: &Op) -> &'static str {
    match op {
        Op::Neg(_) => "negative",
        Op::Abs(_) => "size",
        Op::Sqrt(_) => "root",
        Op::Floor(_) | Op::Nearest(_) => "integer",
        Op::Mul(..) => "product",
        Op::Div(..) => "quotient",
        Op::Sub(..) => "difference",
        Op::ProductError(..) => "rest",
        Op::Choose(..) => "chosen",
        Op::Pick(..) => "entry",
        Op::Narrow(_) => "single",
        op => match op.kind() {
            ValueKind::Truth => "holds",
            ValueKind::Bits => "word",
            _ => "sum",
        },
    }
}

/// `text` in lines of at most `width` characters where it has places to break: in front of an
/// operator. The first line follows `indent` spaces, the others four more.
#[must_use]
pub fn broken(text: &str, indent: usize, width: usize) -> Vec<String> {
    const OPERATORS: [&str; 15] =
        ["+", "-", "*", "/", "?", ":", "|", "&", "<", "==", "!=", "if", "else", "and", "or"];
    let mut lines: Vec<String> = Vec::new();
    let mut line = " ".repeat(indent);
    let mut part = String::new();
    let mut is_blank = true;
    for word in text.split(' ') {
        if OPERATORS.contains(&word) && !part.is_empty() {
            if line.len() + 1 + part.len() > width && !is_blank {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent + 4)));
                is_blank = true;
            }
            if !is_blank {
                line.push(' ');
            }
            line.push_str(&std::mem::take(&mut part));
            is_blank = false;
        }
        if !part.is_empty() {
            part.push(' ');
        }
        part.push_str(word);
    }
    if line.len() + 1 + part.len() > width && !is_blank {
        lines.push(std::mem::replace(&mut line, " ".repeat(indent + 4)));
        is_blank = true;
    }
    if !is_blank {
        line.push(' ');
    }
    line.push_str(&part);
    lines.push(line);
    lines
}
