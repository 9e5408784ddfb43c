//! Computes once what several statements of an execution compute.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::PassCx;
use crate::diag::Origin;
use crate::entity::{Arena, Handle};
use crate::expr::{ExprKind, Index};
use crate::oir::analysis::versions::Versions;
use crate::oir::analysis::weight::own_weight;
use crate::oir::names::Names;
use crate::oir::nodes::{Access, Expr, HorizontalExecution, Local, Stencil, Stmt, StmtKind, Target};
use crate::space::Axis;
use crate::types::{BinaryOp, DType, Function, UnaryOp};

pub const NAME: &str = "oir/share-subexpressions";

/// A single addition is not worth a value that must be kept.
const LEAST_WEIGHT: u32 = 2;

/// Gives a local to each expression that is computed several times from the same values.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: fewer operations; new locals `shared`, each assigned right before its first use.
/// - **Legality**: [`Numbering`]: equal numbers are equal values of one type, since a target has another
///   number after an assignment. The local is assigned in the body of its first use, which stands around all
///   others. An access that finds its element at run time has a new number each time, so nothing that may
///   trap moves.
/// - **Why**: an expression that was inlined into several places is computed in each.
pub fn share_subexpressions(stencil: &mut Stencil, cx: &mut PassCx) {
    let mut counting = Counting::default();
    let counted: Vec<(Handle<HorizontalExecution>, RepeatedValues)> = stencil
        .executions
        .iter()
        .map(|(handle, execution)| (handle, counting.execution(execution)))
        .filter(|(_, found)| found.homes.iter().any(FirstUse::is_shared))
        .collect();
    if counted.is_empty() {
        return;
    }
    let mut names = Names::of(stencil);
    for (execution, RepeatedValues { homes, visits }) in counted {
        let visits = visits.into_iter();
        let mut sharing = Sharing { homes, visits, locals: &mut stencil.locals, names: &mut names, cx };
        sharing.body(&mut stencil.executions[execution].body);
    }
}

/// A first use of an expression.
#[derive(Clone, Debug)]
struct FirstUse {
    /// The statements of all uses.
    origins: SmallVec<[Origin; 1]>,
    /// The local that holds the value.
    holder: Option<Handle<Local>>,
    /// Whether that local is assigned by the statement itself, and the version of it that this makes.
    assigned: Option<u32>,
    /// Whether other uses are to read the local.
    is_wanted: bool,
}

impl FirstUse {
    fn is_shared(&self) -> bool {
        self.origins.len() > 1
    }
}

/// The action at one expression.
#[derive(Clone, Copy, Debug)]
enum Visit {
    /// Nothing, neither here nor below it.
    Leave,
    /// Look below it.
    Descend,
    /// It is the first use of this home; look below it too.
    Open(usize),
    /// It is another use of this home.
    Use(usize),
}

/// The values that an execution computes more than once.
#[derive(Default)]
struct RepeatedValues {
    homes: Vec<FirstUse>,
    /// In the order of a walk over statements and expressions.
    visits: Vec<Visit>,
}

/// The walk over the statements of an execution that finds what is used again.
#[derive(Default)]
struct Counting {
    numbering: Numbering,
    /// Homes by the number of the expression, as far as they stand around the statement at hand.
    available: Vec<Option<usize>>,
    /// The homes that the bodies around have made available, each with the entry that it replaced.
    scopes: Vec<Vec<(u32, Option<usize>)>>,
    /// The expressions of the statement at hand, in the order of a walk.
    table: Vec<NumberedExpr>,
    found: RepeatedValues,
}

/// An expression.
#[derive(Clone, Copy, Debug, Default)]
struct NumberedExpr {
    number: u32,
    /// How many expressions it is made of.
    size: usize,
    weight: u32,
}

/// The statement in which an expression stands.
struct EnclosingStmt<'a> {
    origin: &'a Origin,
    /// Whether a local may be assigned before the statement.
    may_define: bool,
}

impl Counting {
    fn execution(&mut self, execution: &HorizontalExecution) -> RepeatedValues {
        self.numbering.forget();
        self.available.clear();
        self.body(&execution.body);
        std::mem::take(&mut self.found)
    }

    fn body(&mut self, body: &[Stmt]) {
        self.scopes.push(Vec::new());
        body.iter().for_each(|it| self.stmt(it));
        for (number, before) in self.scopes.pop().into_iter().flatten().rev() {
            self.available[number as usize] = before;
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let is_loop = matches!(stmt.kind, StmtKind::While { .. });
        if is_loop {
            stmt.bodies().for_each(|it| self.numbering.versions.change_all(it));
        }
        self.table.clear();
        let mut last = 0;
        for expr in stmt.exprs() {
            last = self.table.len();
            self.numbering.number(expr, &mut self.table);
        }
        let n_numbers = self.numbering.n_numbers as usize;
        self.available.resize(n_numbers + 1, None);
        let assigned = match stmt.kind {
            StmtKind::Assign { target, .. } => Some(target),
            StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::Region { .. } => None,
        };
        let local = match assigned {
            Some(Target::Local(local)) => Some(local),
            _ => None,
        };
        // The value of a local has a home already.
        let mut holds = None;
        let place = EnclosingStmt { origin: &stmt.origin, may_define: !is_loop };
        let mut at = 0;
        for expr in stmt.exprs() {
            let is_value = at == last;
            holds = self.expr(expr, at, &place, local.filter(|_| is_value));
            at += self.table[at].size;
        }
        if let Some(target) = assigned {
            self.numbering.versions.change(target);
            if let Some(local) = local {
                let version = self.numbering.versions.of(target);
                self.numbering.held.insert(local, (version, self.table[last].number));
                if let Some(home) = holds {
                    self.found.homes[home].assigned = Some(version);
                }
            }
        }
        for body in stmt.bodies() {
            self.body(body);
            self.numbering.versions.change_all(body);
        }
    }

    /// Counts an expression, which is `at` this place of the table, and what is below it. `holder` is the local that
    /// it is assigned to as a whole; answers the home that this makes.
    fn expr(
        &mut self,
        expr: &Expr,
        mut at: usize,
        place: &EnclosingStmt<'_>,
        holder: Option<Handle<Local>>,
    ) -> Option<usize> {
        let NumberedExpr { number, weight, .. } = self.table[at];
        if weight < LEAST_WEIGHT {
            self.found.visits.push(Visit::Leave);
            return None;
        }
        if let Some(home) = self.home(number) {
            self.found.homes[home].origins.push(place.origin.clone());
            self.found.visits.push(Visit::Use(home));
            return None;
        }
        let home = (place.may_define || holder.is_some()).then(|| self.open(number, place.origin, holder));
        self.found.visits.push(home.map_or(Visit::Descend, Visit::Open));
        at += 1;
        for operand in expr.operands() {
            self.expr(operand, at, place, None);
            at += self.table[at].size;
        }
        home
    }

    /// The home of an expression that stands around the statement at hand and still holds its value.
    fn home(&self, number: u32) -> Option<usize> {
        let home = self.available[number as usize]?;
        let it = &self.found.homes[home];
        let is_current = match it.holder.zip(it.assigned) {
            Some((local, version)) => self.numbering.versions.of(Target::Local(local)) == version,
            None => true,
        };
        is_current.then_some(home)
    }

    fn open(&mut self, number: u32, origin: &Origin, holder: Option<Handle<Local>>) -> usize {
        let home = self.found.homes.len();
        let origins = SmallVec::from_iter([origin.clone()]);
        self.found.homes.push(FirstUse { origins, holder, assigned: None, is_wanted: false });
        let before = self.available[number as usize].replace(home);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((number, before));
        }
        home
    }
}

/// The walk that changes what the other one found, in the same order.
struct Sharing<'a> {
    homes: Vec<FirstUse>,
    visits: std::vec::IntoIter<Visit>,
    locals: &'a mut Arena<Local>,
    names: &'a mut Names,
    cx: &'a mut PassCx,
}

impl Sharing<'_> {
    fn body(&mut self, body: &mut Vec<Stmt>) {
        // The assignments to insert, each with the position of the statement that it comes before.
        let mut definitions: Vec<(usize, Stmt)> = Vec::new();
        for (at, stmt) in body.iter_mut().enumerate() {
            let origin = stmt.origin.clone();
            for expr in stmt.exprs_mut() {
                self.expr(expr, &origin, &mut |it| definitions.push((at, it)));
            }
            stmt.bodies_mut().for_each(|it| self.body(it));
        }
        if definitions.is_empty() {
            return;
        }
        let mut definitions = definitions.into_iter().peekable();
        let mut changed = Vec::with_capacity(body.len() + definitions.len());
        for (at, stmt) in std::mem::take(body).into_iter().enumerate() {
            while let Some((_, it)) = definitions.next_if(|it| it.0 == at) {
                changed.push(it);
            }
            changed.push(stmt);
        }
        *body = changed;
    }

    fn expr(&mut self, expr: &mut Expr, origin: &Origin, define: &mut dyn FnMut(Stmt)) {
        let home = match self.visits.next() {
            None | Some(Visit::Leave) => return,
            Some(Visit::Use(home)) => {
                if let FirstUse { is_wanted: true, holder: Some(local), .. } = self.homes[home] {
                    expr.kind = ExprKind::Access(Access::Local(local));
                }
                return;
            }
            Some(Visit::Open(home)) => Some(home),
            Some(Visit::Descend) => None,
        };
        for operand in expr.operands_mut() {
            self.expr(operand, origin, define);
        }
        let Some(at) = home else { return };
        let home = &mut self.homes[at];
        home.is_wanted = home.is_shared() && self.cx.may_change();
        if home.is_wanted {
            let message = format!("is computed once for {} uses", home.origins.len());
            self.cx.applied(message, &home.origins);
            if home.holder.is_none() {
                let (local, definition) = self.define(expr, origin);
                self.homes[at].holder = Some(local);
                define(definition);
            }
        }
    }

    /// Puts a new local in the place of an expression; answers it and the statement that assigns it.
    fn define(&mut self, expr: &mut Expr, origin: &Origin) -> (Handle<Local>, Stmt) {
        let (dtype, span) = (expr.dtype, expr.span);
        let name = self.names.unused_or_numbered("shared");
        let local = self.locals.push(Local { name, dtype, span });
        let access = Expr { kind: ExprKind::Access(Access::Local(local)), dtype, span };
        let value = std::mem::replace(expr, access);
        let target = Target::Local(local);
        let kind = StmtKind::Assign { target, index: Index::HERE, target_span: span, value };
        (local, Stmt { kind, origin: origin.clone() })
    }
}

/// Numbers expressions so that two have the same number only where they have the same type and bits.
#[derive(Default)]
struct Numbering {
    versions: Versions,
    numbers: FxHashMap<Key, u32>,
    /// The number of what a version of a local was assigned.
    held: FxHashMap<Handle<Local>, (u32, u32)>,
    n_numbers: u32,
}

/// The numbers of what an operation is done with: rarely more than three.
type Operands = SmallVec<[u32; 3]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Literal(DType, u64),
    /// A leaf, and the version of what it reads.
    Read(Access, u32),
    Position(Axis, DType),
    Operation(Operation, DType, Operands),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Ternary,
    Call(Function),
    Cast,
}

impl Numbering {
    /// Begins another execution.
    fn forget(&mut self) {
        self.numbers.clear();
        self.held.clear();
        self.n_numbers = 0;
    }

    /// Numbers an expression and all below it; `table` gets them in the order of a walk.
    fn number(&mut self, expr: &Expr, table: &mut Vec<NumberedExpr>) -> NumberedExpr {
        let at = table.len();
        table.push(NumberedExpr::default());
        let mut all = NumberedExpr { number: 0, size: 1, weight: own_weight(expr) };
        let mut operands = Operands::new();
        for operand in expr.operands() {
            let it = self.number(operand, table);
            all.size += it.size;
            all.weight = all.weight.saturating_add(it.weight);
            operands.push(it.number);
        }
        all.number = self.number_of(expr, operands);
        table[at] = all;
        all
    }

    fn number_of(&mut self, expr: &Expr, operands: Operands) -> u32 {
        let operation = match &expr.kind {
            ExprKind::Literal(value) => return self.key(Key::Literal(value.dtype(), value.bits())),
            ExprKind::Position(axis) => return self.key(Key::Position(*axis, expr.dtype)),
            ExprKind::Access(leaf) => {
                let version = leaf.target().map_or(0, |it| self.versions.of(it));
                if let Access::Local(local) = leaf
                    && let Some(&(held, number)) = self.held.get(local)
                    && held == version
                {
                    return number;
                }
                return self.key(Key::Read(*leaf, version));
            }
            ExprKind::Element(..) => return self.new_number(),
            ExprKind::Unary(op, _) => Operation::Unary(*op),
            ExprKind::Binary(op, ..) => Operation::Binary(*op),
            ExprKind::Ternary { .. } => Operation::Ternary,
            ExprKind::Call(function, _) => Operation::Call(*function),
            ExprKind::Cast(..) => Operation::Cast,
        };
        self.key(Key::Operation(operation, expr.dtype, operands))
    }

    fn key(&mut self, key: Key) -> u32 {
        let next = self.n_numbers + 1;
        let number = *self.numbers.entry(key).or_insert(next);
        self.n_numbers = self.n_numbers.max(number);
        number
    }

    fn new_number(&mut self) -> u32 {
        self.n_numbers += 1;
        self.n_numbers
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::oir::passes::tests::after;

    fn check(body: &str, expected: Expect) {
        let text = format!(
            "
stencil shares
field a: float64[IJK]
field b: float64[IJK]
field c: float32[IJK]
field n: int64[IJK]
local t: float64
parallel
  [start, end)
    x0
{body}"
        );
        let found = after(&text, share_subexpressions);
        let (_, found) = found.split_once("x0\n").expect("it has an execution");
        let found: String =
            found.lines().map(|it| format!("{}\n", it.strip_prefix("      ").unwrap_or(it))).collect();
        expected.assert_eq(&found);
    }

    #[test]
    fn what_is_computed_twice_is_computed_once() {
        check(
            "      b = (a[1,0,0] - a) * 2.0 + sqrt((a[1,0,0] - a) * 2.0)
      if b > 0.0
        b = (a[1,0,0] - a) * 2.0
      t = 1.0 / a
      b = b + 1.0 / a
",
            expect![[r#"
                shared = (a[1,0,0] - a) * 2.0
                b = shared + sqrt(shared)
                if b > 0.0
                  b = shared
                t = 1.0 / a
                b = b + t
                applied: is computed once for 3 uses
                applied: is computed once for 2 uses
            "#]],
        );
    }

    #[test]
    fn a_change_in_between_is_another_value() {
        // Directly, in a branch that may run, and in the loop around.
        check(
            "      b = sqrt(a)
      a = 2.0
      b = b + sqrt(a)
      if b > 0.0
        a = 1.0
      b = b + sqrt(a)
      while b > sqrt(a)
        b = b - sqrt(a)
        a = a + 1.0
      t = sqrt(b)
      t = t + 1.0
      b = sqrt(b)
",
            expect![[r#"
                      b = sqrt(a)
                      a = 2.0
                      b = b + sqrt(a)
                      if b > 0.0
                        a = 1.0
                      b = b + sqrt(a)
                      while b > sqrt(a)
                        b = b - sqrt(a)
                        a = a + 1.0
                      t = sqrt(b)
                      t = t + 1.0
                      b = sqrt(b)
            "#]],
        );
    }

    #[test]
    fn types_scopes_and_elements_keep_expressions_apart() {
        // Another type, another branch, and elements that are found at run time.
        check(
            "      c = sqrt(c)
      b = sqrt(float64(c))
      if a > 0.0
        b = sqrt(a)
      else
        b = sqrt(a) + 1.0
      b = a.up(n) / 3.0 + a.up(n) / 3.0
",
            expect![[r#"
                      c = sqrt(c)
                      b = sqrt(float64(c))
                      if a > 0.0
                        b = sqrt(a)
                      else
                        b = sqrt(a) + 1.0
                      b = a.up(n) / 3.0 + a.up(n) / 3.0
            "#]],
        );
    }
}
