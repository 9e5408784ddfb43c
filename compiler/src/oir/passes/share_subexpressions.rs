//! Computes once what several statements of an execution compute.

use std::collections::BTreeMap;

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
/// - **Legality**: [`Numbering`]: equal numbers are equal values of one type, since what an assignment changes is
///   another value after it. The local is assigned in the body of its first use, which stands around all others.
///   What finds its element at run time has a number of its own each time, so nothing that may trap moves.
/// - **Why**: what was inlined into several places computes the same in each.
pub fn share_subexpressions(stencil: &mut Stencil, cx: &mut PassCx) {
    let mut names = Names::of(stencil);
    let locals = &mut stencil.locals;
    for (_, execution) in stencil.executions.iter_mut() {
        // Once to count, and once more in the same way to change what is used more than once.
        let mut counting = Sharing::default();
        counting.execution(execution, None);
        if counting.homes.iter().any(Home::is_shared) {
            let mut sharing = Sharing { counted: counting.homes, ..Sharing::default() };
            sharing.execution(execution, Some(&mut Changing { locals, names: &mut names, cx }));
        }
    }
}

/// A first use of an expression.
#[derive(Clone, Debug)]
struct Home {
    origins: Vec<Origin>,
    /// The local that holds the value, and the version of it that does.
    holder: Option<(Handle<Local>, u32)>,
    /// Whether that local was there before.
    is_assigned: bool,
    /// Whether other uses are to read the local.
    is_wanted: bool,
}

impl Home {
    fn is_shared(&self) -> bool {
        self.origins.len() > 1
    }
}

/// A walk over the statements of an execution.
#[derive(Default)]
struct Sharing {
    numbering: Numbering,
    /// Homes by the number of the expression, as far as they stand around the statement at hand.
    available: BTreeMap<u32, usize>,
    /// What the bodies around have made available, with what was before.
    scopes: Vec<Vec<(u32, Option<usize>)>>,
    homes: Vec<Home>,
    /// The homes of the first walk, in the same order.
    counted: Vec<Home>,
}

/// What it takes to change statements.
struct Changing<'a> {
    locals: &'a mut Arena<Local>,
    names: &'a mut Names,
    cx: &'a mut PassCx,
}

/// An expression of a statement, as it was before the statement was changed.
#[derive(Clone, Copy, Debug, Default)]
struct Numbered {
    number: u32,
    /// How many expressions it is made of.
    size: usize,
    weight: u32,
}

/// Where in a statement an expression stands.
struct Place<'a> {
    table: &'a [Numbered],
    /// The position in the table, which is in the order of a walk.
    at: usize,
    origin: &'a Origin,
    /// Whether a local may be assigned before the statement.
    may_define: bool,
    definitions: Vec<Stmt>,
}

impl Sharing {
    fn execution(&mut self, execution: &mut HorizontalExecution, mut change: Option<&mut Changing<'_>>) {
        self.body(&mut execution.body, &mut change);
    }

    fn body(&mut self, body: &mut Vec<Stmt>, change: &mut Option<&mut Changing<'_>>) {
        self.scopes.push(Vec::new());
        let mut changed = Vec::with_capacity(body.len());
        for mut stmt in std::mem::take(body) {
            let definitions = self.stmt(&mut stmt, change);
            changed.extend(definitions);
            changed.push(stmt);
        }
        *body = changed;
        for (number, before) in self.scopes.pop().into_iter().flatten().rev() {
            match before {
                Some(home) => self.available.insert(number, home),
                None => self.available.remove(&number),
            };
        }
    }

    /// Answers what must be assigned before the statement.
    fn stmt(&mut self, stmt: &mut Stmt, change: &mut Option<&mut Changing<'_>>) -> Vec<Stmt> {
        let is_loop = matches!(stmt.kind, StmtKind::While { .. });
        if is_loop {
            stmt.bodies().for_each(|it| self.numbering.versions.change_all(it));
        }
        let origin = stmt.origin.clone();
        let mut table = Vec::new();
        let mut last = 0;
        for expr in stmt.exprs() {
            last = table.len();
            self.numbering.number(expr, &mut table);
        }
        let mut place =
            Place { table: &table, at: 0, origin: &origin, may_define: !is_loop, definitions: Vec::new() };
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
        for expr in stmt.exprs_mut() {
            let is_value = place.at == last;
            holds = self.expr(expr, &mut place, change, local.filter(|_| is_value));
        }
        let definitions = place.definitions;
        if let Some(target) = assigned {
            self.numbering.versions.change(target);
            if let Some(local) = local {
                let version = self.numbering.versions.of(target);
                let number = table[last].number;
                self.numbering.held.insert(local, (version, number));
                if let Some(home) = holds.filter(|&it| self.homes[it].is_assigned) {
                    self.homes[home].holder = Some((local, version));
                }
            }
        }
        for body in stmt.bodies_mut() {
            self.body(body, change);
            self.numbering.versions.change_all(body);
        }
        definitions
    }

    /// Shares an expression and what is below it. `holder` is the local that it is assigned to as a whole; answers
    /// the home that this makes.
    fn expr(
        &mut self,
        expr: &mut Expr,
        place: &mut Place<'_>,
        change: &mut Option<&mut Changing<'_>>,
        holder: Option<Handle<Local>>,
    ) -> Option<usize> {
        let Numbered { number, size, weight } = place.table[place.at];
        if weight < LEAST_WEIGHT {
            place.at += size;
            return None;
        }
        if let Some(home) = self.home(number) {
            self.homes[home].origins.push(place.origin.clone());
            if let Home { is_wanted: true, holder: Some((local, _)), .. } = self.homes[home] {
                expr.kind = ExprKind::Access(Access::Local(local));
            }
            place.at += size;
            return None;
        }
        let home =
            (place.may_define || holder.is_some()).then(|| self.open(number, place.origin, holder.is_some()));
        place.at += 1;
        for operand in expr.operands_mut() {
            self.expr(operand, place, change, None);
        }
        let home = home?;
        let Some(change) = change else { return Some(home) };
        let counted = &self.counted[home];
        self.homes[home].is_wanted = counted.is_shared() && change.cx.may_change();
        if self.homes[home].is_wanted {
            let message = format!("is computed once for {} uses", counted.origins.len());
            change.cx.applied(message, &counted.origins);
            if holder.is_none() {
                let (local, definition) = change.define(expr, place.origin);
                place.definitions.push(definition);
                self.homes[home].holder = Some((local, 0));
            }
        }
        Some(home)
    }

    /// The home of an expression that stands around the statement at hand and still holds its value.
    fn home(&self, number: u32) -> Option<usize> {
        let home = *self.available.get(&number)?;
        let it = &self.homes[home];
        let is_current = match it.holder {
            Some((local, version)) if it.is_assigned => {
                self.numbering.versions.of(Target::Local(local)) == version
            }
            _ => true,
        };
        is_current.then_some(home)
    }

    fn open(&mut self, number: u32, origin: &Origin, is_assigned: bool) -> usize {
        let home = self.homes.len();
        self.homes.push(Home { origins: vec![origin.clone()], holder: None, is_assigned, is_wanted: false });
        let before = self.available.insert(number, home);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((number, before));
        }
        home
    }
}

impl Changing<'_> {
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
    numbers: BTreeMap<Key, u32>,
    /// The number of what a version of a local was assigned.
    held: BTreeMap<Handle<Local>, (u32, u32)>,
    n_numbers: u32,
}

/// The numbers of what an operation is done with: rarely more than three.
type Operands = SmallVec<[u32; 3]>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Literal(DType, u64),
    /// A leaf, and the version of what it reads.
    Read(Access, u32),
    Position(Axis, DType),
    Operation(Operation, DType, Operands),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operation {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Ternary,
    Call(Function),
    Cast,
}

impl Numbering {
    /// Numbers an expression and all below it; `table` gets them in the order of a walk.
    fn number(&mut self, expr: &Expr, table: &mut Vec<Numbered>) -> Numbered {
        let at = table.len();
        table.push(Numbered::default());
        let mut all = Numbered { number: 0, size: 1, weight: own_weight(expr) };
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
