//! The syntax tree: Python as far as GTScript needs it, everything else by name.
//!
//! It is our own tree, so that only [`parse`](super::parse) and [`tokens`](super::tokens) depend on the
//! parser library. Syntax that the language never uses is kept as `Other` with its name, so that an error can
//! name it.

use crate::diag::Span;

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    pub body: Vec<Stmt>,
    /// Lines that could not be read: what is said of them, but for their syntax, is guesswork.
    pub broken: Vec<Span>,
    /// Lines whose syntax has a slip, and which were read as they were meant.
    pub slipped: Vec<Span>,
}

/// A name where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    Function(FunctionDef),
    Class(ClassDef),
    /// `import a.b as c, d`
    Import(Vec<Alias>),
    /// `from ..a.b import c as d`; `level` counts the dots.
    ImportFrom {
        level: u32,
        module: String,
        names: Vec<Alias>,
    },
    /// `a = b = value` has two targets.
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    AugAssign {
        target: Expr,
        op: Operator,
        value: Expr,
    },
    AnnAssign {
        target: Expr,
        annotation: Expr,
        value: Option<Expr>,
    },
    /// `elif` is an `If` alone in `otherwise`.
    If {
        test: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    With {
        items: Vec<WithItem>,
        body: Vec<Stmt>,
    },
    Try {
        body: Vec<Stmt>,
        handlers: Vec<Handler>,
        otherwise: Vec<Stmt>,
        last: Vec<Stmt>,
    },
    Return(Option<Expr>),
    Expr(Expr),
    Pass,
    /// Not GTScript, but a test may go through stencils with it.
    For {
        target: Expr,
        iterable: Expr,
        body: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// A statement that GTScript does not have; `targets` are the names that it is about or binds, and `body` is what
    /// stands inside.
    Other {
        what: &'static str,
        targets: Vec<Expr>,
        body: Vec<Stmt>,
    },
}

/// `except Kind as name: body`
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    pub name: Option<Ident>,
    pub body: Vec<Stmt>,
}

impl Stmt {
    /// The blocks of statements inside of it that belong to the same scope, in order of the text.
    #[must_use]
    pub fn blocks(&self) -> Vec<&[Stmt]> {
        match &self.kind {
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::While { body, otherwise, .. } | StmtKind::For { body, otherwise, .. } => {
                vec![body, otherwise]
            }
            StmtKind::Try { body, handlers, otherwise, last } => {
                let handled = handlers.iter().map(|it| it.body.as_slice());
                std::iter::once(body.as_slice()).chain(handled).chain([&**otherwise, &**last]).collect()
            }
            StmtKind::With { body, .. } | StmtKind::Other { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match &mut self.kind {
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::While { body, otherwise, .. } | StmtKind::For { body, otherwise, .. } => {
                vec![body, otherwise]
            }
            StmtKind::Try { body, handlers, otherwise, last } => {
                let handled = handlers.iter_mut().map(|it| &mut it.body);
                std::iter::once(body).chain(handled).chain([otherwise, last]).collect()
            }
            StmtKind::With { body, .. } | StmtKind::Other { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// Calls `each` for the expressions that the statement itself computes or binds, not for those of blocks inside.
    pub fn each_own_expr<'p>(&'p self, each: &mut impl FnMut(&'p Expr)) {
        match &self.kind {
            StmtKind::Assign { targets, value } => {
                each(value);
                targets.iter().for_each(each);
            }
            StmtKind::AugAssign { target, value, .. } => {
                each(value);
                each(target);
            }
            StmtKind::AnnAssign { target, value, .. } => {
                value.iter().for_each(&mut *each);
                each(target);
            }
            StmtKind::If { test, .. } | StmtKind::While { test, .. } => each(test),
            StmtKind::For { target, iterable, .. } => {
                each(iterable);
                each(target);
            }
            StmtKind::With { items, .. } => {
                for it in items {
                    each(&it.context);
                    it.target.iter().for_each(&mut *each);
                }
            }
            StmtKind::Return(Some(value)) | StmtKind::Expr(value) => each(value),
            StmtKind::Other { targets, .. } => targets.iter().for_each(each),
            StmtKind::Function(FunctionDef { decorators, params, .. }) => {
                decorators.iter().for_each(&mut *each);
                params.iter().filter_map(|it| it.default.as_ref()).for_each(each);
            }
            StmtKind::Class(ClassDef { decorators, bases, keywords, .. }) => {
                decorators.iter().chain(bases).for_each(&mut *each);
                keywords.iter().for_each(|it| each(&it.value));
            }
            StmtKind::Import(_)
            | StmtKind::ImportFrom { .. }
            | StmtKind::Try { .. }
            | StmtKind::Return(None)
            | StmtKind::Pass => {}
        }
    }
}

/// `def name(parameters): body`
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDef {
    pub name: Ident,
    pub decorators: Vec<Expr>,
    /// Whether it is decorated as a GTScript function.
    pub is_function: bool,
    /// Whether it is decorated as a stencil, also by a misspelt decorator.
    pub is_stencil: bool,
    /// Those by position, then those behind `*`.
    pub params: Vec<Param>,
    /// `*args` and `**kwargs`.
    pub variadic: Vec<Ident>,
    /// Each `async` of it: before its own `def` and before a `with` of its body, with the space behind it.
    pub asyncs: Vec<Span>,
    pub body: Vec<Stmt>,
    /// From `def` or the first decorator to the end.
    pub span: Span,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Ident,
    pub annotation: Option<Expr>,
    pub default: Option<Expr>,
    pub is_keyword_only: bool,
}

/// `class Name(bases): body`
#[derive(Clone, Debug, PartialEq)]
pub struct ClassDef {
    pub name: Ident,
    pub decorators: Vec<Expr>,
    pub bases: Vec<Expr>,
    /// `metaclass=...`
    pub keywords: Vec<Keyword>,
    pub body: Vec<Stmt>,
}

/// `name as alias` of an import; `name` may be dotted or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    pub name: Ident,
    pub alias: Option<Ident>,
}

/// `context as target` of a `with`.
#[derive(Clone, Debug, PartialEq)]
pub struct WithItem {
    pub context: Expr,
    pub target: Option<Expr>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// Where the text has a syntax error instead.
    Missing,
    Name(String),
    Attribute(Box<Expr>, Ident),
    Subscript(Box<Expr>, Box<Expr>),
    Call {
        function: Box<Expr>,
        args: Vec<Expr>,
        keywords: Vec<Keyword>,
    },
    Int(i64),
    /// An integer beyond 64 bits, as written.
    BigInt(String),
    Float(f64),
    Bool(bool),
    None,
    Ellipsis,
    Str(String),
    Unary(Sign, Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// Two or more operands.
    Logical(Logical, Vec<Expr>),
    /// `a < b < c` has two entries in `rest`.
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    Ternary {
        test: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    /// Keys and values; `**value` has no key.
    Dict(Vec<(Option<Expr>, Expr)>),
    Slice {
        lower: Option<Box<Expr>>,
        upper: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
    },
    Starred(Box<Expr>),
    /// An expression that GTScript does not have, by its name, and as much of it as constants need.
    Other(&'static str, Option<Box<Foreign>>),
}

/// Expressions of Python that no stencil has, and that compute constants.
#[derive(Clone, Debug, PartialEq)]
pub enum Foreign {
    /// `name := value`
    Assignment { target: Expr, value: Expr },
    /// `element for ... in ...`; a dict has keys and values.
    Comprehension { element: Expr, value: Option<Expr>, loops: Vec<ComprehensionLoop> },
    /// The parts of any other expression.
    Parts(Vec<Expr>),
}

/// `for target in iterable if condition`
#[derive(Clone, Debug, PartialEq)]
pub struct ComprehensionLoop {
    pub target: Expr,
    pub iterable: Expr,
    pub conditions: Vec<Expr>,
}

impl Foreign {
    /// Each expression inside.
    fn parts(&self) -> Vec<&Expr> {
        match self {
            Foreign::Assignment { target, value } => vec![value, target],
            Foreign::Comprehension { element, value, loops } => {
                let of_loops =
                    loops.iter().flat_map(|it| [&it.iterable, &it.target].into_iter().chain(&it.conditions));
                of_loops.chain([element]).chain(value).collect()
            }
            Foreign::Parts(parts) => parts.iter().collect(),
        }
    }

    /// The same, to be changed.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Foreign::Assignment { target, value } => vec![value, target],
            Foreign::Comprehension { element, value, loops } => {
                let of_loops = loops
                    .iter_mut()
                    .flat_map(|it| [&mut it.iterable, &mut it.target].into_iter().chain(&mut it.conditions));
                of_loops.chain([element]).chain(value).collect()
            }
            Foreign::Parts(parts) => parts.iter_mut().collect(),
        }
    }
}

impl Expr {
    /// The name, if it is a bare one.
    #[must_use]
    pub fn as_name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The parts of `a.b.c`; `None` for every other expression.
    #[must_use]
    pub fn as_dotted(&self) -> Option<Vec<&str>> {
        match &self.kind {
            ExprKind::Name(name) => Some(vec![name]),
            ExprKind::Attribute(value, attribute) => {
                let mut parts = value.as_dotted()?;
                parts.push(&attribute.name);
                Some(parts)
            }
            _ => None,
        }
    }

    /// Calls `each` for this expression and every one inside it.
    pub fn walk<'p>(&'p self, each: &mut impl FnMut(&'p Expr)) {
        self.walk_into(&mut |it| {
            each(it);
            true
        });
    }

    /// Calls `each` for this expression, and for those inside an expression for which it answers true.
    pub fn walk_into<'p>(&'p self, each: &mut impl FnMut(&'p Expr) -> bool) {
        if !each(self) {
            return;
        }
        match &self.kind {
            ExprKind::Attribute(value, _) | ExprKind::Unary(_, value) | ExprKind::Starred(value) => {
                value.walk_into(each);
            }
            ExprKind::Subscript(left, right) | ExprKind::Binary(_, left, right) => {
                left.walk_into(each);
                right.walk_into(each);
            }
            ExprKind::Call { function, args, keywords } => {
                function.walk_into(each);
                args.iter().for_each(|it| it.walk_into(each));
                keywords.iter().for_each(|it| it.value.walk_into(each));
            }
            ExprKind::Logical(_, parts) | ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|it| it.walk_into(each));
            }
            ExprKind::Compare(left, rest) => {
                left.walk_into(each);
                rest.iter().for_each(|(_, right)| right.walk_into(each));
            }
            ExprKind::Ternary { test, then, otherwise } => {
                [test, then, otherwise].into_iter().for_each(|it| it.walk_into(each));
            }
            ExprKind::Slice { lower, upper, step } => {
                [lower, upper, step].into_iter().flatten().for_each(|it| it.walk_into(each));
            }
            ExprKind::Dict(entries) => {
                for (key, value) in entries {
                    key.iter().for_each(|it| it.walk_into(each));
                    value.walk_into(each);
                }
            }
            ExprKind::Missing
            | ExprKind::Name(_)
            | ExprKind::Int(_)
            | ExprKind::BigInt(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Ellipsis
            | ExprKind::Str(_) => {}
            ExprKind::Other(_, inner) => {
                inner.iter().flat_map(|it| it.parts()).for_each(|it| it.walk_into(each));
            }
        }
    }

    /// The parts of a tuple; anything else is one part.
    #[must_use]
    pub fn parts(&self) -> &[Expr] {
        match &self.kind {
            ExprKind::Tuple(parts) => parts,
            _ => std::slice::from_ref(self),
        }
    }
}

/// `name=value` in a call; without a name it is `**value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    pub name: Option<Ident>,
    pub value: Expr,
    pub span: Span,
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Plus,
    Minus,
    Not,
    Invert,
}

/// `and` or `or`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
    And,
    Or,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    MatMul,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

impl Operator {
    /// Whether the result may have parts of its operands: lists are added and repeated, and sets have operators of their own.
    #[must_use]
    pub fn may_share(self) -> bool {
        match self {
            Operator::Add
            | Operator::Sub
            | Operator::Mul
            | Operator::BitAnd
            | Operator::BitOr
            | Operator::BitXor => true,
            Operator::Div
            | Operator::FloorDiv
            | Operator::Mod
            | Operator::Pow
            | Operator::MatMul
            | Operator::ShiftLeft
            | Operator::ShiftRight => false,
        }
    }

    /// As Python writes it.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Sub => "-",
            Operator::Mul => "*",
            Operator::Div => "/",
            Operator::FloorDiv => "//",
            Operator::Mod => "%",
            Operator::Pow => "**",
            Operator::MatMul => "@",
            Operator::BitAnd => "&",
            Operator::BitOr => "|",
            Operator::BitXor => "^",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Is,
    IsNot,
    In,
    NotIn,
}

impl Comparison {
    /// As Python writes it.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Eq => "==",
            Comparison::Ne => "!=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
            Comparison::Is => "is",
            Comparison::IsNot => "is not",
            Comparison::In => "in",
            Comparison::NotIn => "not in",
        }
    }
}

/// The arguments of a call by the names of the parameters, where they have one.
pub(super) fn arguments<'a, const N: usize>(
    params: [&str; N],
    args: &'a [Expr],
    keywords: &'a [Keyword],
) -> [Option<&'a Expr>; N] {
    let mut by_position = args.iter();
    params.map(|param| {
        let is_named = |it: &&Keyword| it.name.as_ref().is_some_and(|it| it.name == param);
        by_position.next().or_else(|| keywords.iter().find(is_named).map(|it| &it.value))
    })
}
